"""Random configurations of every model of the catalogue: how far the closed form is from the walk, which is the independent one.

What a model cannot follow is taken out of a question until it is answered, so that each asks as much as the model can do.
With RANDOM_CONFIGURATIONS=all in the environment twice as many are asked.
"""
import json
import os
import random
import subprocess
from concurrent.futures import ThreadPoolExecutor

from checks import expect, finish

PACELINE = os.environ["PACELINE"]
MACHINES = ("dgx-1-v100*2", "hgx-a100-80*4", "dgx-h100*2", "dgx-h100*4", "dgx-b200*2", "dgx-h200*4", "dgx-b200*4")
ASKED, SEED = 900 if os.environ.get("RANDOM_CONFIGURATIONS") == "all" else 450, 20
MAY_GO = ("ep", "tp", "cp", "pp", "zero_stage", "schedule", "recompute", "offload", "execution", "optimizer", "precision")
random.seed(SEED)
listed = subprocess.run([PACELINE, "models", "-f", "json"], capture_output=True, text=True, check=True).stdout
models = [model["name"] for model in json.loads(listed)["models"]]


def question(number):
    one = random.choice
    settings = {"tp": one((1, 1, 2, 4, 8)), "pp": one((1, 1, 2, 4, 8)), "cp": one((1, 1, 1, 2)), "dp": one((1, 2, 4, 8, 16)), "ep": one((1, 1, 2, 4, 8)),
                "recompute": one(("none", "none", "full", "selective")), "precision": one(("fp16", "bf16", "amp", "amp_bf16")),
                "execution": one(("eager", "compiled", "compiled", "graph")), "optimizer": one(("sgd", "adam", "adamw")), "update": one(("fused", "foreach")),
                "micro_batch": one((1, 2, 4, 16))}
    settings["global_batch"] = settings["micro_batch"] * settings["dp"] * one((1, 1, 2, 4, 8))
    if settings["pp"] > 1:
        settings["schedule"] = one(("1f1b", "gpipe", "zero-bubble", "zb-v", "interleaved", "dualpipe-v"))
    if random.random() < 0.4:
        settings["zero_stage"] = one((1, 2, 3))
    if random.random() < 0.15:
        settings["offload"] = "activations"
    return models[number % len(models)], one(MACHINES), settings


def ask(model, machine, settings):
    words = [word for setting in settings.items() for word in ("--set", "%s=%s" % setting)]
    done = subprocess.run([PACELINE, "predict", model, "--on", machine, *words, "-q", "-f", "json"], capture_output=True, text=True)
    if done.returncode > 1:
        return None, done.stderr
    return (json.loads(done.stdout).get("closed_form") or {}).get("ratio"), ""


def answer(of):
    model, machine, settings = of
    for _ in MAY_GO:
        ratio, said = ask(model, machine, settings)
        refused = [key for key in MAY_GO if key in settings and (f"{key} " in said or f"{key}=" in said or f"--{key}" in said)]
        if not refused:
            return ratio, said, (model, machine, settings)
        settings = {key: value for key, value in settings.items() if key not in refused[:1] and (key != "schedule" or refused[0] != "pp")}
    return None, said, (model, machine, settings)


with ThreadPoolExecutor(os.cpu_count()) as pool:
    answers = list(pool.map(answer, [question(number) for number in range(ASKED)]))
gaps = sorted((abs(ratio - 1), asked) for ratio, _, asked in answers if ratio)
for ratio, said, asked in answers:
    expect(ratio or "too many" in said or "expected" in said or "does not" in said or "no " in said, "a refusal says why", said, asked)
    expect("internal" not in said and "please report" not in said, said, asked)
for gap, asked in gaps[-5:]:
    print(f"{100 * gap:.1f} %", *asked)
median = gaps[len(gaps) // 2][0]
print(f"{len(gaps)} of {ASKED} have a closed form beside their walk: {100 * median:.2f} % apart in the median, at most {100 * gaps[-1][0]:.1f} %")
expect(len(gaps) > 0.8 * ASKED and {asked[0] for _, asked in gaps} >= set(models) - {asked[0] for ratio, _, asked in answers if not ratio}, "all models", len(gaps))
expect(median < 0.004, "median gap", median)
for gap, asked in gaps:
    expect(gap < 0.08, "closed form and walk", gap, asked)
finish()
