"""The search of `paceline plan` beside its closed form written in NumPy, in one run.

Usage: bench_plan.py [SEARCHES]. GPT-3 175B on 1,024 GPUs with SEARCHES global batches (2,000: 7 M configurations), Turing-NLG 530B on
5,128. Times are processor times of one thread. NumPy is given every price as an array and evaluates memory, step, bubble,
exchanges of gradients and update of as many configurations; it prices and looks up nothing. Budgets: 1 M configurations a
second, 10 s for 7 M, 0.1 s for the 5,128 GPUs.
"""
import json
import os
import subprocess
import sys

from peer_python import peer_python

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("PACELINE_BUILD", os.path.join(HERE, os.pardir, "build", "release"))
PROGRAM = os.path.join(BUILD, "tests", "bench_plan")

PEER = r"""
import sys, time
import numpy as np
n = int(sys.argv[1])
r = np.random.default_rng(1)
m, pp, vpp = r.integers(8, 512, n).astype(float), r.integers(1, 32, n).astype(float), r.integers(1, 8, n).astype(float)
layer, head, tail, kept, weights, alone, passed = (r.random(n) + 0.1 for _ in range(7))
dp, zero, layers = r.integers(1, 64, n).astype(float), r.integers(0, 4, n), 96.0
begun = time.process_time()
over = np.where(zero > 0, dp, 1)
held = weights * layers / pp
memory = held * (2 + 2 / np.where(zero > 1, dp, 1) + 12 / over) + kept * layers / pp * np.minimum(m, (2 * (pp - 1) + (vpp - 1) * pp + 1) / vpp)
first, middle, last = layers / pp * layer + head, layers / pp * layer, layers / pp * layer + tail
slowest = np.maximum(np.maximum(first, middle), last)
bubble = (layers * layer + head + tail - slowest) / vpp
gradients = alone - np.minimum(0.9 * alone, slowest)
step = m * slowest + bubble + 2 * (pp - 1) * passed + 2 * m * vpp * 0.1 * passed + gradients + held / over
best = np.argpartition(np.where(memory < 8, step, np.inf), 5)[:5]
print(time.process_time() - begun)
"""


def searched(*words):
    return json.loads(subprocess.run([PROGRAM, *words], check=True, capture_output=True, text=True).stdout)


def main():
    searches = sys.argv[1] if len(sys.argv) > 1 else "2000"
    many = searched(searches, "gpt3_175b", "dgx-h100*128", "framework=megatron-core", "global_batch=64")
    rate = many["tried"] / many["all_s"]
    print(f"gpt3_175b on 1,024 GPUs: {many['tried']:,} configurations in {many['all_s']:.2f} s, {rate / 1e6:.2f} M/s: {rate / 1e6:.2f} of the budget"
          f" ({many['untimed'] / many['tried']:.0%} too large or surely slower)")
    print(f"7 M would take {7e6 / rate:.1f} s: {10 / (7e6 / rate):.1f} times the budget's speed")
    turing = searched("1", "mt-nlg-530b", "hgx-a100-80*641", "framework=megatron-core", "global_batch=2240")
    print(f"mt-nlg-530b on 5,128 GPUs: {turing['tried']:,} configurations in {turing['first_s']:.3f} s: {0.1 / turing['first_s']:.1f} times the budget's speed")
    batch = min(many["tried"], 1000000)
    peer = float(subprocess.run([peer_python(BUILD, ["numpy"]), "-c", PEER, str(batch)], check=True, capture_output=True, text=True).stdout)
    print(f"NumPy, the same formulas over arrays of given prices: {batch / peer / 1e6:.2f} M/s; ratio {rate / (batch / peer):.2f}")


main()
