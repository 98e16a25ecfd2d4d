"""Prints from accuracy/ledger.csv how far off answers are, one line a kind of question; docs/accuracy.md shows it.

Usage: how_far_off.py [LEDGER]
"""
import csv
import os
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir)
# question; what is known of it; case; the metric of its error
KINDS = (
    ("kernel", "rows of the device", "fit/gemm-aiconfigurator", "mape"),
    ("kernel", "rows of other devices", "fit/gemm-no-h100-rows", "mape"),
    ("step", "a trace of it, replayed", "predict/replay", "median_error"),
    ("step, language models", "published, nothing fitted", "step/published-llm-formula", "mape"),
    ("step, language models", "Megatron Bridge, nothing fitted", "step/megatron-bridge-formula", "mape"),
    ("step, language models", "vTrain's A100s, nothing fitted", "step/vtrain-multi-node-formula", "mape"),
    ("step, language models", "vTrain's, a twentieth measured", "step/vtrain-single-node-from-a-twentieth", "mape"),
    ("step, other networks", "published, nothing fitted", "step/published-nets-formula", "mape"),
    ("step, other networks", "MLPerf's ResNet-50, nothing fitted", "step/mlperf-resnet-formula", "mape"),
    ("step, recommenders", "own host overheads", "predict/dlrm-study", "geomean"),
    ("peak memory", "tests of Megatron-LM", "step/memory", "median_error"),
    ("peak memory", "published", "step/published-peaks", "mean_distance"),
    ("exchange", "published, nothing fitted", "exchange/published-formula", "mape"),
    ("exchange", "six sizes measured", "exchange/all-curves-6-sizes", "median_mape"),
    ("scaling", "table of TensorFlow's studies", "scaling/as-written", "mape"),
)


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "accuracy", "ledger.csv")
    with open(path, newline="") as file:
        ledger = {(row["case"], row["metric"]): row for row in csv.DictReader(file)}
    print(f"{'question':<22} {'what is known':<35} {'rows':>6} {'error':>7} {'inside':>7}")
    for question, known, case, metric in KINDS:
        row, inside = ledger[case, metric], ledger.get((case, "coverage"))
        covered = f"{100 * float(inside['value']):5.0f} %" if inside else ""
        print(f"{question:<22} {known:<35} {row['n']:>6} {100 * float(row['value']):5.1f} % {covered:>7}".rstrip())


if __name__ == "__main__":
    main()
