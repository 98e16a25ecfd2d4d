"""The whole ledger, recomputed by one `paceline validate` from the data at hand: no case fails or is left out, no figure is worse,
and every line is either recomputed or says in its split that it is kept.

The tables are other people's and not shipped: skipped when they are not at hand.
"""
import csv
import json
import os
import subprocess
import sys

PACELINE = os.environ["PACELINE"]
SHARED = os.environ.get("PACELINE_SHARED", "")
SOURCE = os.environ.get("PACELINE_SOURCE", ".")

if not os.path.isdir(os.path.join(SHARED, "kernels")):
    print("skipped: the reference data are not at hand")
    sys.exit(77)
done = subprocess.run([PACELINE, "validate", "--data", SHARED, "-f", "json"], cwd=SOURCE, capture_output=True, text=True)
if done.returncode not in (0, 1):
    sys.exit(f"{done.returncode} {done.stderr}")
report = json.loads(done.stdout)
with open(os.path.join(SOURCE, "accuracy", "ledger.csv")) as file:
    ledger = {(line["case"], line["metric"]): line for line in csv.DictReader(file)}
figures = {(figure["case"], figure["metric"]): figure for figure in report["figures"]}
wrong = list(report["warnings"])
for key, figure in figures.items():
    if figure["verdict"] not in ("holds", "missed") or ledger.get(key, {}).get("bar") != figure["bar"]:
        wrong.append((figure, ledger.get(key)))
for key, line in ledger.items():
    if (key in figures) == (line["split"] in ("live", "held")):
        wrong.append(("recomputed, or live or held", line))
for line in wrong:
    print("WRONG:", line)
print(f"{len(figures)} figures recomputed, {report['missed']} bars missed, {report['not_recomputed']} lines kept, {len(wrong)} wrong")
sys.exit(1 if wrong else 0)
