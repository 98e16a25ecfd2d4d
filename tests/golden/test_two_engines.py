"""The walk and its shortcut, the closed form, answer the same question alike: every model of the catalogue, on three
machines, alone and with each way to share the work that both know.

Half of all questions agree within 1 %, all within 8 %; the worst found are vision transformers that are compiled and split over
context."""
import json
import os
import random
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

PACELINE = os.environ["PACELINE"]
MACHINES = {"dgx-h100*2": 16, "hgx-a100-80*2": 16, "dgx-1-v100": 8}
MEDIAN, WORST = 0.01, 0.08
EACH = 1 if "ASAN_OPTIONS" in os.environ else 3  # questions a model


def models():
    listed = json.loads(subprocess.run([PACELINE, "models", "-f", "json"], capture_output=True, check=True).stdout)
    return listed["models"]


def sharings(model, devices):
    """dp, tp, cp, ep that a model can follow, by what the catalogue says of it."""
    yield {}
    yield {"dp": 4}
    yield {"dp": devices}
    if model["sequence"]:
        yield {"dp": 2, "tp": 2}
        yield {"dp": 4, "cp": 2}


def question(model, dice):
    machine, devices = dice.choice(sorted(MACHINES.items()))
    precisions = ["fp32", "fp16", "amp"] + ([] if "v100" in machine else ["bf16"])
    shared = dice.choice(list(sharings(model, devices)))
    micro, count = dice.choice([(1, 1), (1, 3), (4, 1), (16, 1)])
    settings = {"precision": dice.choice(precisions), "execution": dice.choice(["eager", "compiled"]),
                "recompute": dice.choice(["none", "none", "full"]), "micro_batch": micro,
                "global_batch": micro * count * shared.get("dp", 1), **shared}
    return model["name"], machine, settings


def ask(asked):
    model, machine, settings = asked
    words = [word for setting in settings.items() for word in ("--set", "=".join(map(str, setting)))]
    done = subprocess.run([PACELINE, "predict", model, "--on", machine, "-q", "-f", "json", *words], capture_output=True)
    message = done.stderr.decode()
    if done.returncode == 2 and "does not divide" in message:  # heads, widths: this model cannot be split so
        return None
    assert done.returncode == 0, (asked, message)
    answer = json.loads(done.stdout)
    assert "closed_form" in answer, asked
    ratio = answer["closed_form"]["step_ns"] / answer["scenarios"][0]["step_ns"]
    assert abs(ratio / answer["closed_form"]["ratio"] - 1) < 1e-5
    return ratio - 1


def main():
    dice = random.Random(20)
    questions = [question(model, dice) for model in models() for _ in range(EACH)]
    with ThreadPoolExecutor(2) as pool:
        answers = [pair for pair in zip(pool.map(ask, questions), questions) if pair[0] is not None]
    answers.sort(key=lambda pair: -abs(pair[0]))
    for gap, asked in answers[:5]:
        print(f"{100 * gap:+.1f} %", asked)
    gaps = [abs(gap) for gap, _ in answers]
    print(f"{len(gaps)} of {len(questions)} questions: median {statistics.median(gaps):.4f}, worst {gaps[0]:.4f}")
    assert len(gaps) > 0.8 * len(questions)
    assert statistics.median(gaps) < MEDIAN and gaps[0] < WORST


if __name__ == "__main__":
    sys.exit(main())
