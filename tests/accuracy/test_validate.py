"""Recomputes the cases of accuracy/cases.yaml and holds them against the ledger; run `paceline validate --ledger` to update it.

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
done = subprocess.run([PACELINE, "validate", "--data", SHARED, "--format", "json"], cwd=SOURCE, capture_output=True)
if done.returncode not in (0, 1):
    print(done.returncode, done.stderr.decode())
    sys.exit(1)
report = json.loads(done.stdout)
with open(os.path.join(SOURCE, "accuracy", "ledger.csv")) as file:
    ledger = {(line["case"], line["metric"]): line for line in csv.DictReader(file)}
wrong = []
for figure in report["figures"]:
    kept = ledger.get((figure["case"], figure["metric"]))
    # Another compiler rounds otherwise, and a tree may split elsewhere: the figures may differ a little, not the verdicts.
    if not kept or kept["bar"] != figure["bar"] or abs(float(kept["value"]) - float(figure["value"])) > 0.004:
        wrong.append((figure, kept))
for figure, kept in wrong:
    print("differs: computed", figure, "ledger", kept)
missed = sum(figure["holds"] == "no" for figure in report["figures"])
print(f"{len(report['figures'])} figures, {len(wrong)} changed, {missed} bars missed")
expected = done.returncode == (1 if missed else 0)
sys.exit(1 if wrong or not expected else 0)
