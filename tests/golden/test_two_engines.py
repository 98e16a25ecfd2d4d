"""The walk and the closed form answer the same question alike: over models, machines, shares, batches and ways to run.

Pipelines, ZeRO, context and expert parallelism are lowered by no walk; tests/unit/plan holds the pipeline against one."""
import itertools
import json
import os
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

PACELINE = os.environ["PACELINE"]
MODELS = ["gpt3_6.7b", "llama3-8b", "bert_large", "gpt2", "qwen3-30b-a3b", "resnet50"]
MACHINES = {"dgx-h100": "bf16", "hgx-a100-80*2": "fp32", "dgx-1-v100": "fp16"}
SHARES = [(1, 1), (8, 1), (2, 4)]  # dp, tp
BATCHES = [(1, 1, "eager", "none"), (2, 3, "eager", "full"), (1, 4, "compiled", "none")]  # micro-batch, how many, execution, recomputation
MEDIAN, NEARLY_ALL, WORST = 0.01, 0.05, 0.08


def ask(question):
    model, (machine, precision), (dp, tp), (micro, count, execution, recompute) = question
    settings = {"dp": dp, "tp": tp, "micro_batch": micro, "global_batch": micro * count * dp, "execution": execution,
                "recompute": recompute, "precision": precision}
    words = [word for setting in settings.items() for word in ("--set", "=".join(map(str, setting)))]
    done = subprocess.run([PACELINE, "predict", model, "--on", machine, "-q", "-f", "json", *words], capture_output=True)
    assert done.returncode == 0, (question, done.stderr.decode())
    answer = json.loads(done.stdout)
    ratio = answer["closed_form"]["step_ns"] / answer["step"]["walked_ns"]
    assert abs(ratio / answer["closed_form"]["ratio"] - 1) < 1e-6
    return ratio - 1


def main():
    questions = list(itertools.product(MODELS, MACHINES.items(), SHARES, BATCHES))
    questions = [question for number, question in enumerate(questions) if number % 5 in (0, 2)]  # shares of no factor: all values stay
    questions += [("vgg16", ("dgx-h100", "bf16"), (8, 1), batch) for batch in BATCHES]
    with ThreadPoolExecutor(2) as pool:
        gaps = list(pool.map(ask, questions))
    usual = sorted(map(abs, gaps))
    for gap, question in sorted(zip(gaps, questions), key=lambda pair: -abs(pair[0]))[:5]:
        print(f"{100 * gap:+.1f} %", question)
    print(f"{len(usual)} questions: median {statistics.median(usual):.4f}, 95 % {usual[int(0.95 * len(usual))]:.4f}, worst {usual[-1]:.4f}")
    assert statistics.median(usual) < MEDIAN and usual[int(0.95 * len(usual))] < NEARLY_ALL and usual[-1] < WORST


if __name__ == "__main__":
    sys.exit(main())
