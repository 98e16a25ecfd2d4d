"""Recomputes the rows of accuracy/ledger.csv about jobs and fleets and compares; --update rewrites them."""

import csv
import io
import json
import os
import statistics
import subprocess
import sys
import tempfile

import ledger

PACELINE = os.environ["PACELINE"]
SOURCE = os.environ.get("PACELINE_SOURCE", ".")
SHARED = os.environ.get("PACELINE_SHARED", "")
MEASURED = "tests/data/jobs_resnet50.csv"
POPULATION = "catalog/job_population.yaml"
FOLDER = tempfile.mkdtemp(prefix="paceline-fleet-ledger-")
rows = []


def put(case, source, metric, unit, n, value, bar, note):
    if ".." in bar:
        low, high = bar.split("..")
        holds = float(low) <= value <= float(high)
    else:
        limit = float(bar.lstrip("<>="))
        holds = value <= limit if bar.startswith("<") else value >= limit if bar.startswith(">") else value == limit
    rows.append(dict(zip(ledger.FIELDS, [case, source, "test", metric, unit, str(n), f"{value:.4g}", bar, "yes" if holds else "no", note])))


def answer(*words):
    return subprocess.run([PACELINE, *words], capture_output=True, text=True, check=True).stdout


def resnet50():
    """Measured by others; as it stands and with the column that tells of XLA emptied."""
    told = os.path.join(SOURCE, MEASURED)
    untold = os.path.join(FOLDER, "untold.csv")
    with open(told) as source, open(untold, "w") as file:
        file.write(source.read().replace(",fusion,", ",,"))
    held = {}
    inside = []
    for name, path in (("", told), ("-untold", untold)):
        answers = list(csv.DictReader(io.StringIO(answer("predict", "--kind", "job", "--rows", path, "--format", "csv"))))
        errors = [abs(float(r["predicted"]) / float(r["step_ms"]) - 1) for r in answers]
        inside += [float(r["low"]) <= float(r["step_ms"]) <= float(r["high"]) for r in answers]
        put("predict/job-resnet50-fixed" + name, MEASURED, "mape", "share", len(errors), statistics.mean(errors), "<=0.3",
            "the same, not told of XLA" if name else
            "70 % of every peak, nothing fitted; P100, K80, V100; the V100 rows ran with XLA, which the model is told (memory-bound time divided by 3.43)")
        held[name] = {m["machine"]: m for m in json.loads(answer("fit", "--kind", "job", path, "--format", "json"))["machines"]}
    for name, machines in held.items():
        worst = max(m["mape"] for n, m in machines.items() if n != "all")
        put("fit/job-resnet50-machine-out" + name, MEASURED, "mape", "share", machines["all"]["rows"], machines["all"]["mape"], "<=0.15",
            f"efficiencies fitted to the other two machines; worst machine {100 * worst:.3g} %; " +
            ("not told of XLA: efficiency differs by machine more than three machines can teach" if name else "told of XLA"))
    put("predict/job-resnet50-interval", MEASURED, "coverage", "ratio", len(inside), statistics.mean(inside), ">=0.9",
        "nothing fitted; six rows told of XLA and not; the spread was chosen on these rows")


# Not a test of the model: the population was tuned, and the bars were set, with these results known.
IN_VIEW = "this bar was set with the result in view"


def synthetic():
    """The abstract's figures asked of a population that has the published marginals."""
    table = os.path.join(FOLDER, "jobs.csv")
    answer("fleet", "--synthesize", "200000", "--seed", "1", "-o", table)
    fleet = json.loads(answer("fleet", table, "--format", "json"))
    weights = next(s for s in fleet["levels"]["cnode"]["shares"] if s["architecture"] == "all")["weights_share"]
    local = next(p for p in fleet["projections"] if p["architecture"] == "allreduce_local")
    network = next(s for s in fleet["sweeps"] if s["resource"] == "network" and s["rate"] == 1.25e10)
    put("fleet/synthetic-weights-share", POPULATION, "share", "share", 200000, weights, "0.60..0.64",
        "SYNTHETIC population with published marginals; by cNode; the paper: 0.62; " + IN_VIEW)
    put("fleet/synthetic-ps-gains", POPULATION, "share", "share", 200000, local["gains_share"], "0.57..0.63",
        "SYNTHETIC population; PS/Worker as AllReduce-Local with 16 GB a GPU and shared PCIe; the paper: 0.60; " + IN_VIEW)
    put("fleet/synthetic-network-speedup", POPULATION, "speedup", "ratio", 200000, network["ps_worker_speedup"], "1.6..1.8",
        "SYNTHETIC population; PS/Worker from 25 to 100 Gb/s, mean over jobs; the paper: 1.7; " + IN_VIEW)


def main():
    resnet50()
    synthetic()
    return ledger.settle(rows)


sys.exit(main())
