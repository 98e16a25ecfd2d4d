#!/usr/bin/env python3
"""`paceline fit --kind profiler`: a known cost per event comes back, whatever a few bad rows say; our own measurement."""
import csv
import json
import os
import random
import statistics
import subprocess
import tempfile

PACELINE, SOURCE = os.environ["PACELINE"], os.environ["PACELINE_SOURCE"]
MEASURED = os.path.join(SOURCE, "tests", "data", "profiler_cost_cpu.csv")
PATH = os.path.join(tempfile.mkdtemp(prefix="paceline-profiler-"), "rows.csv")


def run(*words):
    return subprocess.run([PACELINE, "fit", "--kind", "profiler", "--format", "json", *words], capture_output=True, text=True)


def fit(path):
    done = run(path)
    assert done.returncode == 0, done
    return json.loads(done.stdout)["profiler"]


def write(rows, head="events,profiled_us,unprofiled_us"):
    with open(PATH, "w") as file:
        file.write("\n".join([head, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return PATH


def check_known():
    """2 us per event; a third of the rows timed while the machine was busy."""
    generator = random.Random(3)
    rows = []
    for i in range(30):
        events, step = generator.randint(100, 9000), generator.uniform(1e4, 2e5)
        rows.append((events, step + 2 * events + (generator.uniform(1e5, 1e6) if i % 3 == 0 else 0), step))
    cost = fit(write(rows))
    assert cost["low_ns"] <= 2000 * (1 + 1e-9) and cost["high_ns"] >= 2000 * (1 - 1e-9), cost
    clean = fit(write([row for i, row in enumerate(rows) if i % 3]))
    assert abs(clean["event_ns"] - 2000) < 1e-3 and clean["mean_error"] < 1e-6 < clean["uncorrected_error"], clean
    in_ms = fit(write([(e, p / 1e3, u / 1e3) for i, (e, p, u) in enumerate(rows) if i % 3], "events,profiled_ms,unprofiled_ms"))
    assert abs(in_ms["event_ns"] - 2000) < 1e-3, in_ms


def check_measured():
    with open(MEASURED) as file:
        costs = [1e3 * (float(r["profiled_us"]) - float(r["unprofiled_us"])) / float(r["events"]) for r in csv.DictReader(file)]
    cost = fit(MEASURED)
    assert abs(cost["event_ns"] - statistics.median(costs)) < 1e-6, cost
    assert cost["mean_error"] < cost["uncorrected_error"], cost


def check_refused():
    for rows, head in (([], "events,profiled_us,unprofiled_us"), ([(1, 2, 1)] * 2, "events,profiled_us,unprofiled_us"),
                       ([(0, 2, 1)] * 3, "events,profiled_us,unprofiled_us"), ([("x", 2, 1)] * 3, "events,profiled_us,unprofiled_us"),
                       ([(1, 2, 1)] * 3, "events,profiled,unprofiled_us")):
        done = run(write(rows, head))
        assert done.returncode == 3 and not done.stdout and len(done.stderr.strip().splitlines()) == 1, (rows, head, done)


check_known()
check_measured()
check_refused()


def check_guess():
    """From a trace alone: the overheads get smaller, the note says by what, and an interval comes with it."""
    path = os.path.join(os.path.dirname(PATH), "trace.json")
    with open(path, "wb") as file:
        subprocess.run([os.environ["MAKE_TRACE"], "--steps", "3", "--layers", "12", "--compact"], stdout=file, check=True)
    sums, written = {}, os.path.join(os.path.dirname(PATH), "overheads.json")
    for cost in ("0", "auto", "1e6"):
        done = subprocess.run([PACELINE, "analyze", path, "--format", "json", "--profiler-us", cost, "--overheads", written],
                              capture_output=True, text=True, check=True)
        sums[cost] = sum(row["total_ns"] for row in json.loads(done.stdout)["overheads_by_operator"])
        if cost == "auto":
            notes = [note for note in json.loads(done.stdout)["notes"] if "estimated" in note]
            assert len(notes) == 1 and json.load(open(written))["profiler_event_ns"] > 0, notes
    assert sums["0"] > sums["auto"] >= sums["1e6"], sums
    for word in ("x", "-1", "nan", "", "2e6", "autos"):
        done = subprocess.run([PACELINE, "analyze", path, "--profiler-us", word], capture_output=True, text=True)
        assert done.returncode == 2 and len(done.stderr.strip().splitlines()) == 1 and not done.stdout, (word, done)


check_guess()
