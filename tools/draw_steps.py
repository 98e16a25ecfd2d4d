#!/usr/bin/env python3
"""Draws questions about steps at random and asks both engines, the walk and the closed form: how far are they apart?

    tools/draw_steps.py PACELINE SEED [QUESTIONS] [--jobs N] > gaps.csv

Prints a question a line, the furthest apart first, and on stderr how many had an answer, the median, the worst, and how many closed forms
lie outside of the walk's interval. Questions that a model cannot follow are drawn again.
"""
import argparse
import concurrent.futures
import csv
import json
import random
import statistics
import subprocess
import sys

MACHINES = {"dgx-1-v100": 8, "hgx-a100-80*2": 16, "dgx-h100*2": 16, "dgx-1-v100*2": 16, "dgx-h200*2": 16, "hgx-a100-80*4": 32}
COLUMNS = ["gap", "inside", "walk_ms", "form_ms", "model", "machine", "settings"]


def divisors(number):
    return [i for i in range(1, number + 1) if number % i == 0]


def draw(chance, models):
    machine = chance.choice(list(MACHINES))
    ranks = MACHINES[machine] // chance.choice([1, 1, 2, 4])
    settings = {"precision": chance.choice(["fp32", "fp16", "bf16", "amp", "amp_bf16"]), "execution": chance.choice(["eager", "eager", "compiled", "compiled", "graph"]),
                "recompute": chance.choice(["none", "none", "full", "selective"]), "optimizer": chance.choice(["sgd", "adam", "adamw"])}
    kind = chance.choice(["data", "zero", "zero", "pipeline", "pipeline"])
    if kind == "pipeline":
        settings["pp"] = chance.choice([i for i in divisors(ranks) if 1 < i <= 8])
        settings["schedule"] = chance.choice(["1f1b", "1f1b", "gpipe", "zero-bubble", "zb-v", "dualpipe-v", "dualpipe"])
        if settings["schedule"] == "1f1b" and chance.random() < 0.3:
            settings["vpp"] = 2
    left = ranks // settings.get("pp", 1)
    for name, most in (("tp", 8), ("cp", 2)):
        if chance.random() < 0.25:
            settings[name] = chance.choice([i for i in divisors(left) if i <= most])
            left //= settings[name]
    settings["dp"] = left
    if kind != "data" and chance.random() < (1 if kind == "zero" else 0.5):
        settings["zero_stage"] = chance.choice([1, 2, 3])
    if chance.random() < 0.2 and settings["execution"] != "graph":
        settings["graphs"] = chance.choice(["attention", "blocks", "passes"])
    if chance.random() < 0.2:
        settings["offload"] = chance.choice(["optimizer", "activations"])
    settings["micro_batch"] = chance.choice([1, 1, 2, 4, 16])
    times = chance.choice([1, 1, 2, 4]) if kind != "pipeline" else settings["pp"] * chance.choice([1, 2, 4])
    settings["global_batch"] = settings["micro_batch"] * settings["dp"] * times
    return chance.choice(models), machine, settings


def ask(program, question):
    model, machine, settings = question
    words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    done = subprocess.run([program, "predict", model, "--on", machine, *words, "-q", "-f", "json"], capture_output=True, text=True, check=False)
    said = " ".join(f"{key}={value}" for key, value in settings.items())
    if done.returncode == 1 and "self-check" in done.stderr and not done.stdout:
        return {"gap": "failed", "inside": done.stderr.strip(), "model": model, "machine": machine, "settings": said}
    if done.returncode != 0:
        return None
    answer = json.loads(done.stdout)
    step, form = answer["scenarios"][0], answer.get("closed_form")
    if not form or not form.get("ratio"):
        return None
    inside = step["low_ns"] <= form["step_ns"] <= step["high_ns"]
    return {"gap": f"{form['ratio'] - 1:.4f}", "inside": "yes" if inside else "no", "walk_ms": step["step_ns"] / 1e6, "form_ms": form["step_ns"] / 1e6,
            "model": model, "machine": machine, "settings": said}


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("program")
    words.add_argument("seed", type=int)
    words.add_argument("questions", type=int, nargs="?", default=500)
    words.add_argument("--jobs", type=int, default=2)
    words.add_argument("--models", default="", help="only these, with commas between")
    asked = words.parse_args()
    chance = random.Random(asked.seed)
    listed = json.loads(subprocess.run([asked.program, "models", "-f", "json"], capture_output=True, text=True, check=True).stdout)["models"]
    models = asked.models.split(",") if asked.models else [model["name"] for model in listed]
    questions = [draw(chance, models) for _ in range(asked.questions)]
    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as threads:
        rows = [row for row in threads.map(lambda question: ask(asked.program, question), questions) if row]
    rows.sort(key=lambda row: -abs(float(row["gap"])) if row["gap"] != "failed" else -1e9)
    table = csv.DictWriter(sys.stdout, COLUMNS)
    table.writeheader()
    table.writerows(rows)
    gaps = [abs(float(row["gap"])) for row in rows if row["gap"] != "failed"]
    print(f"{len(rows)} of {len(questions)} answered, median {100 * statistics.median(gaps):.2f} %, worst {100 * max(gaps):.1f} %, over 8 %: "
          f"{sum(gap > 0.08 for gap in gaps)}, outside of the interval: {sum(row['inside'] == 'no' for row in rows)}, failed: {len(rows) - len(gaps)}", file=sys.stderr)


main()
