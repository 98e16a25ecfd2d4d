#!/usr/bin/env python3
"""Fits `spreads` of catalog/steps.yaml: how far off the closed form of a step is, by what its time consists of.

    PACELINE=build/release/paceline python3 tools/fit_step_spreads.py DATA

DATA is the folder of `paceline validate --data`. For every row of the tables of measured steps that the closed form answers
without a fit, the elasticity of the prediction to each factor of the closed form is taken from two predictions (a fit's file
with one factor changed by 1 %). The spread of a row is the root of sum of (elasticity * spread of the factor)^2 and of what
is left, times the row's own doubts. The spreads are those of the greatest likelihood, each table counting as much as any
other, rows beyond three spreads as if at three, and are then scaled so that nine of ten of all rows lie in their interval.
It prints them, and for every table the coverage by the spreads that the other tables give.
"""
import csv
import json
import math
import os
import subprocess
import sys
import tempfile

PACELINE = os.environ.get("PACELINE", "paceline")
FACTORS = ["matrix", "attention", "stream", "inside", "between", "launch", "update", "hidden", "step"]
FITTED = ["matrix", "attention", "stream", "inside", "between", "launch", "step"]  # the others hardly matter in any table
USUAL, ENOUGH = 0.2, 40
TABLES = {  # file: (measured column, seconds of its unit, options, (column, words that a row's cell begins with))
    "mosaicml": ("llm/mosaicml_llm_foundry.csv", "step_time_s", "s", [], None),
    "torchtitan": ("llm/torchtitan_fsdp.csv", "step_time_s", "s", [], None),
    "nvidia-dgxc": ("llm/nvidia_dgxc_h100_scaling.csv", "step_time_s", "s", [], None),
    "megatron-bridge": ("llm/megatron_bridge.csv", "step_time_s", "s", [], None),
    "bloom": ("llm/bloom176b_a100_384gpu_search.csv", "step_time_s", "s", ["--on", "hgx-a100-80"], None),
    "vtrain-single-node": ("llm/vtrain_a100_single_node.csv", "iter_ms", "ms", [], None),
    "vtrain-multi-node": ("llm/vtrain_a100_multi_node.csv", "iter_ms", "ms", [], None),
    "literature": ("llm/literature_megatron.csv", "step_time_s", "s", [], None),
    "mlperf-gpt3": ("llm/mlperf_gpt3_175b_scaling.csv", "step_time_s", "s", [], None),
    "megatron-lm-tests": ("llm/megatron_lm_ci_golden.csv", "iter_s_median", "s", [], ("deterministic", "0")),
}


def fit_file(folder, unit, factor):
    factors = {name: 1.01 if name == factor else 1.0 for name in FACTORS}
    path = os.path.join(folder, f"{factor}.fit")
    with open(path, "w") as file:
        json.dump({"schema": "paceline.step-fit/1", "unit": unit, "unit_s": {"s": 1, "ms": 1e-3}[unit], "on": "", "spread": 0.1,
                   "factors": factors, "groups": []}, file)
    return path


def predict(table, options):
    done = subprocess.run([PACELINE, "predict", "--kind", "step", "--rows", table, "--format", "csv", *options],
                          capture_output=True, text=True)
    if done.returncode not in (0, 1):  # 1: some step does not fit
        sys.exit(done.stderr)
    return list(csv.DictReader(done.stdout.splitlines()))


def rows_of(data, name, folder):
    """[(ln predicted/measured, doubts, elasticities)] of a table."""
    path, measured, unit, options, keep = TABLES[name]
    table = os.path.join(data, path)
    plain = predict(table, [*options, "--fit", fit_file(folder, unit, "none")])
    moved = [predict(table, [*options, "--fit", fit_file(folder, unit, factor)]) for factor in FITTED]
    rows = []
    for i, row in enumerate(plain):
        if not row["predicted"] or not row[measured] or (keep and not row[keep[0]].startswith(keep[1])):
            continue
        at = float(row["predicted"])
        doubts = math.log(float(row["high"]) / float(row["low"])) / (2 * 1.645 * 0.1)
        rows.append((math.log(at / float(row[measured])), doubts, [(float(m[i]["predicted"]) / at - 1) / 0.01 for m in moved]))
    return rows


def sigma(row, spreads):
    return row[1] * math.sqrt(spreads[-1] ** 2 + sum((e * s) ** 2 for e, s in zip(row[2], spreads)))


def loss(tables, spreads):
    """- ln likelihood, each table counting as one row; a spread is 0.2, give or take a factor of e, where no table says."""
    total = sum(math.log(spread / USUAL) ** 2 for spread in spreads) / 2
    for rows in tables:
        total += sum(math.log(s) + min((row[0] / s) ** 2, 9) / 2 for row in rows for s in [sigma(row, spreads)]) / len(rows)
    return total


def covered(rows, spreads):
    return sum(abs(row[0]) <= 1.645 * sigma(row, spreads) for row in rows) / len(rows)


def fit(tables):
    """Coordinate by coordinate on a grid of ratios, then one scale for all rows of all tables."""
    thin = [rows[::max(1, len(rows) // ENOUGH)] for rows in tables]
    spreads = [USUAL] * (len(FITTED) + 1)
    for ratio in (1.5, 1.2, 1.08):
        moved = True
        while moved:
            moved = False
            for i in range(len(spreads)):
                for times in (ratio, 1 / ratio):
                    other = list(spreads)
                    other[i] *= times
                    if loss(thin, other) < loss(thin, spreads) - 1e-6:
                        spreads, moved = other, True
    every = [row for rows in tables for row in rows]
    scale = min((i / 100 for i in range(50, 251)), key=lambda x: abs(covered(every, [s * x for s in spreads]) - 0.9))
    return [s * scale for s in spreads]


def main():
    data = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        tables = {name: rows_of(data, name, folder) for name in TABLES}
    names = [*FITTED, "rest"]
    for name, rows in tables.items():
        spreads = fit([other for key, other in tables.items() if key != name])
        widths = sorted(math.exp(2 * 1.645 * sigma(row, spreads)) for row in rows)
        print(f"{name:20s} {len(rows):4d} rows  covered {covered(rows, spreads):.2f}  high/low {widths[len(widths) // 2]:.2f}")
    spreads = fit(list(tables.values()))
    print("spreads: {" + ", ".join(f"{n}: {s:.2f}" for n, s in zip(names, spreads)) + "}")


main()
