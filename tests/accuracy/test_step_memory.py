"""Memory of distributed steps against the allocator's peak in Megatron-LM's functional tests (shared data, not shipped).

Megatron's writer of metrics lives on the last rank (megatron/training/global_vars.py: rank == world_size - 1), so that the
peak is that of the last pipeline stage: one micro-batch in flight, and the loss. The table's "vpp" is the recipes'
--num-layers-per-virtual-pipeline-stage. Recipes that do not name Transformer Engine use Megatron's own layers, whose attention is
products and a softmax; other recipes and the software's long-term release do so too for the sake of determinism, which
nothing in the table says. Left out: rows that do not say how many devices they had, models with images (the table
has their decoder alone) and pipelines that are cut by hand.
"""
import collections
import csv
import math
import os
import statistics
import subprocess
import sys
import tempfile

import ledger

PACELINE = os.environ["PACELINE"]
SHARED = os.environ.get("PACELINE_SHARED", "")
TABLE = "llm/megatron_lm_ci_golden.csv"
MACHINES = {"dgx_a100": "hgx-a100-80", "dgx_h100": "dgx-h100"}
IMAGES = {"mimo", "multimodal-llava"}
NOTE = "peak of the allocator on the last rank in Megatron-LM's functional tests, most of them 512 wide; rows that say their devices"


def rows():
    with open(os.path.join(SHARED, TABLE)) as file:
        for row in csv.DictReader(file):
            if not row["n_gpu"] or not row["mem_max_alloc_bytes"] or row["platform"] not in MACHINES:
                continue
            if row["family"] in IMAGES or "account_for_embedding" in row["test"]:
                continue
            if row["vpp"]:
                row["vpp"] = str(int(row["layers"]) // (int(row["pp"]) * int(row["vpp"])))
            kernel = "fused" if "_te_" in row["test"] else "math"
            yield {"framework": "megatron", "machine": MACHINES[row["platform"]], "attention_kernel": kernel, **row}


def ask(asked):
    with tempfile.NamedTemporaryFile("w", suffix=".csv", newline="") as file:
        writer = csv.DictWriter(file, asked[0].keys())
        writer.writeheader()
        writer.writerows(asked)
        file.flush()
        done = subprocess.run([PACELINE, "predict", "--kind", "step", "--rows", file.name, "--format", "csv"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    return list(csv.DictReader(done.stdout.splitlines()))


def line(metric, count, value, bar):
    return dict(zip(ledger.FIELDS, ["step/memory", TABLE, "test", metric, "ratio", str(count), f"{value:.4f}", bar,
                                    "yes" if (value <= float(bar[2:]) if bar.startswith("<=") else value >= float(bar[2:])) else "no", NOTE]))


def main():
    if not os.path.exists(os.path.join(SHARED, TABLE)):
        return 77
    asked = list(rows())
    by_stages = collections.defaultdict(list)
    for row, answer in zip(asked, ask(asked)):
        if answer["last_rank_bytes"]:
            by_stages[int(row["pp"])].append(float(answer["last_rank_bytes"]) / float(row["mem_max_alloc_bytes"]))
    every = [ratio for ratios in by_stages.values() for ratio in ratios]
    for stages, ratios in sorted(by_stages.items()):
        print(f"pp {stages}: {len(ratios)} runs, median {statistics.median(ratios):.3f}")
    medians = [statistics.median(ratios) for ratios in by_stages.values() if len(ratios) >= 10]
    distance = math.exp(statistics.fmean(abs(math.log(ratio)) for ratio in every)) - 1
    return ledger.settle([line("median_ratio", len(every), statistics.median(every), ">=0.9"),
                          line("mean_distance", len(every), distance, "<=0.25"),
                          line("medians_apart_by_stages", len(every), max(medians) / min(medians) - 1, "<=0.15")])


if __name__ == "__main__":
    sys.exit(main())
