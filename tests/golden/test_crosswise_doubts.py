"""Doubts that are fitted on tables which the ledger reports: how much of each table the spread of the others covers.

The ledger's lines "…-crosswise" hold these figures; the coverage of the same tables by the catalogue's spread is no figure held out."""
import csv
import os
import sys
import tempfile

from checks import SHARED, SOURCE, expect, finish

sys.path.insert(0, os.path.join(SOURCE, "tools"))
import fit_row_spreads as spreads

if not os.path.exists(os.path.join(SHARED, "llm", "gavel_throughput.csv")):
    print("left out: no tables of others (PACELINE_SHARED)")
    sys.exit(77)

with tempfile.TemporaryDirectory() as folder:
    recipe = spreads.crosswise({name: spreads.rows_of(SHARED, folder, name) for name in spreads.TABLES})
    device = spreads.crosswise(spreads.exchanges(SHARED, folder))
found = {"scaling/gavel-recipe-crosswise": recipe["gavel"], "scaling/pollux-recipe-crosswise": recipe["pollux"],
         "exchange/nccl-device-p100-crosswise": device["p100"], "exchange/nccl-device-v100-crosswise": device["v100"]}
with open(os.path.join(SOURCE, "accuracy", "ledger.csv")) as file:
    ledger = {row["case"]: row for row in csv.DictReader(file)}
for case, (spread, share) in found.items():
    row = ledger.get(case, {"value": "nan", "bar": ">=2", "holds": ""})
    expect(abs(share - float(row["value"])) < 0.006, case, share, spread, row)
    expect((share >= float(row["bar"].removeprefix(">="))) == (row["holds"] == "yes"), "verdict", case, share, row)
sys.exit(finish())
