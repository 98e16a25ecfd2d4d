"""Every closed form of the textbook's against the simulation of its program: a form that is called exact takes the simulated time, and
one that is not has its gap in the interval, which then holds nine of ten simulated times of its algorithm.

With CLOSED_FORMS=all every machine of the catalogue on one, two and three nodes, else a few of each kind of node.
"""
import json
import math
import os
from collections import defaultdict

from checks import expect, finish, run

FEW = ("dgx-1-v100", "mi300x-node", "dgx-a100", "p100x4-25g")
ALGORITHMS = {
    "allreduce": "ring recursive_doubling rabenseifner binomial knomial double_tree direct multicast rails leaders torus bruck",
    "allgather": "ring recursive_doubling direct multicast rails torus bruck",
    "reducescatter": "ring halving direct multicast rails torus bruck",
    "alltoall": "direct rails pairwise bruck",
    "broadcast": "binomial scatter_allgather chain",
    "sendrecv": "message",
}
ALL = os.environ.get("CLOSED_FORMS") == "all"


def asked(on, collective, algorithm, *words):
    code, out, err = run("predict", "--kind", "exchange", "--on", on, "--collective", collective, "--algorithm", algorithm,
                         "--bytes", "8,256K,4M,64M", "--format", "json", *words)
    return json.loads(out) if code == 0 else None


# Folding in step: on one wire a rank, where nothing but latencies counts, for every number of ranks.
for ranks in (3, 5, 6, 7, 11, 13, 24, 27):
    for algorithm in ("recursive_doubling", "rabenseifner", "knomial"):
        size = asked(f"ethernet-10g*{ranks}", "allreduce", algorithm, "--simulate")["sizes"][0]
        expect(abs(size["time_us"] / size["closed_form_us"] - 1) < 2e-3, "latencies of a fold", algorithm, ranks, size)

machines = json.loads(run("machines", "--format", "json")[1])["machines"]
exact, gaps = 0, defaultdict(list)
for machine in machines:
    for nodes in (1, 2, 3) if machine["nics"] and ALL else (1, 3) if machine["nics"] else (1,):
        ranks = machine["devices_of_node"] * nodes
        if (not ALL and machine["name"] not in FEW) or not 1 < ranks <= 80:
            continue
        for collective, names in ALGORITHMS.items():
            for algorithm in names.split():
                where = (machine["name"] + "*" + str(nodes), collective, algorithm)
                simulated = asked(*where, "--simulate")
                closed = simulated and asked(*where, "--library", "textbook")
                if not closed:
                    continue
                called_exact = "algorithm_gap" not in json.dumps(closed)
                for one, other in zip(simulated["sizes"], closed["sizes"]):
                    ratio = one["time_us"] / one["closed_form_us"]
                    if called_exact:
                        exact += 1
                        expect(abs(ratio - 1) < 1e-6, *where, one["bytes"], ratio)
                    else:
                        gaps[algorithm].append((ratio, other["low_us"] <= one["time_us"] <= other["high_us"]))
expect(exact >= (3000 if ALL else 200), "closed forms called exact", exact)
for algorithm, cases in sorted(gaps.items()):
    held = sum(inside for _, inside in cases) / len(cases)
    off = math.sqrt(sum(math.log(ratio) ** 2 for ratio, _ in cases) / len(cases))
    print(f"{algorithm}: {len(cases)} not exact, {off:.3f} apart, {100 * held:.0f} % within the interval")
    expect(held >= 0.9 or not ALL, algorithm, held)
print(f"{exact} times called exact")
finish()
