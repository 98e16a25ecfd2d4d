"""What the tests that recompute accuracy/ledger.csv share: its fields, and holding computed rows against it."""
import csv
import os
import sys

LEDGER = os.path.join(os.environ.get("PACELINE_SOURCE", "."), "accuracy", "ledger.csv")
FIELDS = ["case", "source", "split", "metric", "unit", "n", "value", "bar", "holds", "note"]


def key(line):
    return line["case"], line["metric"]


def settle(rows):
    """Compares computed rows with the ledger's; with --update puts them there first, each in its place, new ones at the end.
    Rows of others are kept as they are. Exit status: 1 when a row differs."""
    with open(LEDGER) as file:
        lines = list(csv.DictReader(file))
    if "--update" in sys.argv:
        computed, known = {key(r): r for r in rows}, {key(line) for line in lines}
        lines = [computed.get(key(line), line) for line in lines] + [r for r in rows if key(r) not in known]
        with open(LEDGER, "w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(lines)
    ledger = {key(line): line for line in lines}
    changed = [r for r in rows if ledger.get(key(r)) != r]
    for r in changed:
        print("differs: computed", r, "ledger", ledger.get(key(r)))
    missed = [r["case"] for r in rows if r["holds"] == "no"]
    print(f"{len(rows)} ledger rows, {len(changed)} changed, bars missed: {', '.join(missed) or 'none'}")
    return 1 if changed else 0
