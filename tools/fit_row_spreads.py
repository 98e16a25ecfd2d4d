#!/usr/bin/env python3
"""Fits two doubts: `row_recipe` of catalog/doubts.yaml, how far off rows about scaling are that do not say what ran, and
`nccl_device`, the spread of generations of catalog/nccl.yaml before those that were fitted.

    PACELINE=build/release/paceline python3 tools/fit_row_spreads.py DATA

DATA is the folder of `paceline validate --data`. The tables are those of the cases scaling/gavel-models-formula and
scaling/pollux-models-formula, with the machines assumed there. What the rows' intervals hold already is left as it is; the spread is
the least that, added in quadrature, has nine of ten rows in their interval in the mean over the tables, and no table below 85 %. It prints the spread, each table's coverage, and
the coverage of each table by the others' spread. For nccl_device the tables are DeepBench's of P100 and the DLRM study's of
4 V100, from 16 MiB on, where the host's share, which has a doubt of its own, does not count.
"""
import csv
import gzip
import math
import os
import subprocess
import sys
import tempfile

PACELINE = os.environ.get("PACELINE", "paceline")
RECIPE_NOW, DEVICE_NOW = 0.29, 0.1  # in the catalogue: taken out again of the intervals
TABLES = {  # file: (column of the model, its words, measured column, +1 seconds or -1 rate, machine, every)
    "gavel": ("llm/gavel_throughput.csv", "model", {"ResNet-18": "resnet18_cifar", "ResNet-50": "resnet50"}, "steps_per_s",
              "v100*8 pcie=12GB/s net=10Gb/s net-kind=tcp", 1),
    "pollux": ("llm/pollux_t4_cluster_step_times.csv.gz", "app",
               {"bert": "bert_base", "cifar10": "resnet18_cifar", "imagenet": "resnet50"}, "step_time_s",
               "t4*4 pcie=12GB/s net=50Gb/s net-kind=tcp net-stream=10Gb/s", 5),
}
SETTINGS = {"bert_base": "seq=384"}


def answered(rows, folder, measured, kind, now, *options):
    """[(ln measured/predicted, spread without what the catalogue adds now)] of rows."""
    table = os.path.join(folder, "rows.csv")
    with open(table, "w") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    done = subprocess.run([PACELINE, "predict", "--kind", kind, "--rows", table, "--format", "csv", *options],
                          capture_output=True, text=True, check=True)
    out = []
    for row in csv.DictReader(done.stdout.splitlines()):
        spread = abs(math.log(float(row["high"]) / float(row["low"]))) / (2 * 1.645)
        out.append((math.log(float(row[measured]) / float(row["predicted"])), math.sqrt(max(0, spread**2 - now**2))))
    return out


def exchanges(data, folder):
    """The tables of nccl_device."""
    with gzip.open(os.path.join(data, "kernels/deepbench_allreduce.csv.gz"), "rt") as file:
        p100 = [{"system": "NV_P100", "collective": "all_reduce", "gpus": row["ranks"], "bytes": 4 * int(row["floats"]), "time_us": row["time_us"]}
                for row in csv.DictReader(file) if row["device"] == "NV_P100" and not row["extra"]]
    with open(os.path.join(data, "dlrm/collectives_4xV100_dgx1_digitized.csv")) as file:
        v100 = [{"system": "dgx-1-v100", "collective": row["collective"], "gpus": 4, "bytes": row["bytes_per_rank"], "time_us": row["latency_us"]}
                for row in csv.DictReader(file)]
    large = {name: [row for row in rows if float(row["bytes"]) >= 2**24] for name, rows in (("p100", p100), ("v100", v100))}
    return {name: answered(rows, folder, "time_us", "exchange", DEVICE_NOW, *(["--on", "dgx-1-v100"] if name == "v100" else []))
            for name, rows in large.items()}


def rows_of(data, folder, name):
    path, column, words, measured, machine, every = TABLES[name]
    opened = gzip.open if path.endswith(".gz") else open
    with opened(os.path.join(data, path), "rt") as file:
        rows = [row for row in csv.DictReader(file) if row[column] in words and float(row[measured] or 0) > 0][::every]
    for row in rows:
        row[column] = words[row[column]]
        row["settings"] = SETTINGS.get(row[column], "")
    return answered(rows, folder, measured, "scaling", RECIPE_NOW, "--on", machine)


def covered(rows, spread):
    return sum(abs(error) <= 1.645 * math.hypot(own, spread) for error, own in rows) / len(rows)


def fit(tables):
    for i in range(201):
        shares = [covered(rows, i / 100) for rows in tables]
        if sum(shares) >= 0.9 * len(tables) and min(shares) >= 0.85:
            return i / 100
    return 2


def crosswise(tables):
    """{table: (the spread that the other tables say, the share of its rows that this covers)}."""
    said = {key: fit([other for k, other in tables.items() if k != key]) for key in tables}
    return {key: (said[key], covered(rows, said[key])) for key, rows in tables.items()}


def put(name, tables):
    spread, other = fit(list(tables.values())), crosswise(tables)
    print(f"{name}: {spread:.2f}")
    for key, rows in tables.items():
        print(f"  {key:10s} {len(rows):4d} rows  covered {covered(rows, spread):.2f}, by the others' {other[key][0]:.2f} {other[key][1]:.2f}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        put("nccl_device", exchanges(sys.argv[1], folder))
        put("row_recipe", {name: rows_of(sys.argv[1], folder, name) for name in TABLES})


if __name__ == "__main__":
    main()
