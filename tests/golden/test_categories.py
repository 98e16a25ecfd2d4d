"""Device time by kind of work: against TraceLens' tables of the same recordings, and sums that must hold."""
import csv
import os
import sys

from checks import SHARED, SOURCE, expect, finish
from raw_trace import analyze

TRACES = {"bert_small_h100": "tl_bert_small_infer_1xh100", "bert_small_mi300": "tl_bert_small_infer_1xmi300", "vit_h100": "tl_vit_infer_1xh100",
          "vit_mi300": "tl_vit_infer_1xmi300"}
NAMES = {"GEMM": "gemm", "elementwise": "elementwise", "NORM_fwd": "normalization", "CONV_fwd": "convolution", "reduce": "reduction"}


def check_sums(answer, name):
    rows, kernels = answer["categories"], answer["kernels"]
    expect(sum(row["time_ns"] for row in rows) == sum(row["time_ns"] for row in kernels), name, "all work is of one kind")
    expect(abs(sum(row["share"] for row in rows) - 1) < 1e-9, name, "shares")
    operators = answer["operator_shapes"]
    for key, per_call in (("flop", "flop_per_call"), ("moved_bytes", "bytes_per_call")):
        by_kind = sum(row[key] or 0 for row in rows)
        by_operator = sum((row[per_call] or 0) * row["calls"] for row in operators)
        expect(by_kind <= by_operator * (1 + 1e-9) and by_kind >= 0.98 * by_operator, name, key, by_kind, by_operator)
    for row in rows:
        expect(row["flop"] is None or row["moved_bytes"] is None or abs(row["flop_per_byte"] / (row["flop"] / row["moved_bytes"]) - 1) < 1e-9, name, row)


check_sums(analyze(os.path.join(SOURCE, "tests", "data", "demo.json.gz")), "demo")
for folder, trace in TRACES.items():
    path = os.path.join(SHARED, "kineto", trace + ".json.gz")
    table = os.path.join(SHARED, "kineto", "reference_tracelens", folder, "ops_summary_by_category.csv")
    if not os.path.exists(path) or not os.path.exists(table):
        print("left out, not there:", path)
        continue
    answer = analyze(path)
    check_sums(answer, trace)
    rows = {row["name"]: row for row in answer["categories"]}
    with open(table) as file:
        for theirs in csv.DictReader(file):
            ours = rows.get(NAMES.get(theirs["op category"]))
            if theirs["op category"] in NAMES:
                expect(ours and abs(ours["time_ns"] - 1e6 * float(theirs["total_direct_kernel_time_ms"])) <= 100, trace, theirs, ours)
sys.exit(finish())
