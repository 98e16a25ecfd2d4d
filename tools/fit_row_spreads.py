#!/usr/bin/env python3
"""Fits `row_recipe` of catalog/doubts.yaml: how far off rows about scaling are that do not say what ran.

    PACELINE=build/release/paceline python3 tools/fit_row_spreads.py DATA

DATA is the folder of `paceline validate --data`. The tables are those of the cases scaling/gavel-models-formula and
scaling/pollux-models-formula, with the machines assumed there. What the rows' intervals hold already is left as it is; the spread is
the least that, added in quadrature, has nine of ten rows in their interval in the mean over the tables, and no table below 85 %. It prints the spread, each table's coverage, and
the coverage of each table by the others' spread.
"""
import csv
import gzip
import math
import os
import subprocess
import sys
import tempfile

PACELINE = os.environ.get("PACELINE", "paceline")
SPREAD_NOW = 0.29  # in the catalogue: taken out again of the intervals
TABLES = {  # file: (column of the model, its words, measured column, +1 seconds or -1 rate, machine, every)
    "gavel": ("llm/gavel_throughput.csv", "model", {"ResNet-18": "resnet18_cifar", "ResNet-50": "resnet50"}, "steps_per_s",
              "v100*8 pcie=12GB/s net=10Gb/s net-kind=tcp", 1),
    "pollux": ("llm/pollux_t4_cluster_step_times.csv.gz", "app",
               {"bert": "bert_base", "cifar10": "resnet18_cifar", "imagenet": "resnet50"}, "step_time_s",
               "t4*4 pcie=12GB/s net=50Gb/s net-kind=tcp net-stream=10Gb/s", 5),
}
SETTINGS = {"bert_base": "seq=384"}


def rows_of(data, folder, name):
    """[(ln measured/predicted, spread without row_recipe)] of a table."""
    path, column, words, measured, machine, every = TABLES[name]
    opened = gzip.open if path.endswith(".gz") else open
    with opened(os.path.join(data, path), "rt") as file:
        rows = [row for row in csv.DictReader(file) if row[column] in words and float(row[measured] or 0) > 0][::every]
    for row in rows:
        row[column] = words[row[column]]
        row["settings"] = SETTINGS.get(row[column], "")
    table = os.path.join(folder, name + ".csv")
    with open(table, "w") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    done = subprocess.run([PACELINE, "predict", "--kind", "scaling", "--rows", table, "--on", machine, "--format", "csv"],
                          capture_output=True, text=True, check=True)
    out = []
    for row in csv.DictReader(done.stdout.splitlines()):
        spread = abs(math.log(float(row["high"]) / float(row["low"]))) / (2 * 1.645)
        out.append((math.log(float(row[measured]) / float(row["predicted"])), math.sqrt(max(0, spread**2 - SPREAD_NOW**2))))
    return out


def covered(rows, spread):
    return sum(abs(error) <= 1.645 * math.hypot(own, spread) for error, own in rows) / len(rows)


def fit(tables):
    for i in range(201):
        shares = [covered(rows, i / 100) for rows in tables]
        if sum(shares) >= 0.9 * len(tables) and min(shares) >= 0.85:
            return i / 100
    return 2


def main():
    with tempfile.TemporaryDirectory() as folder:
        tables = {name: rows_of(sys.argv[1], folder, name) for name in TABLES}
    spread = fit(list(tables.values()))
    print(f"row_recipe: {spread:.2f}")
    for name, rows in tables.items():
        others = fit([other for key, other in tables.items() if key != name])
        print(f"{name:10s} {len(rows):4d} rows  covered {covered(rows, spread):.2f}, by the others' {others:.2f} {covered(rows, others):.2f}")


main()
