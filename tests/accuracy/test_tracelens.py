"""Operators, kernels and work per shape against the tables AMD's TraceLens printed for the same traces.

Where both define a figure alike it must be equal to the rounding of theirs (they keep time stamps as
doubles of microseconds, which near 1e12 are 1/1024 us apart or more). Where they do not, the difference is known exactly and taken out here, each with its reason:
  * TraceLens counts the addition of a bias as one operation per output of addmm.
  * It gives the work of a convolution to the aten::convolution outside, and of attention to the outer
    _scaled_dot_product_* call.
  * It leaves out device work whose launch is not in the trace, and counts memsets beside it.
The reference data are other people's and not shipped: skipped when they are not at hand.
"""
import ast
import csv
import json
import os
import subprocess
import sys
from collections import Counter

PACELINE = os.environ["PACELINE"]
SHARED = os.environ.get("PACELINE_SHARED", "")
TRACES = {"bert_small_h100": "tl_bert_small_infer_1xh100", "bert_small_mi300": "tl_bert_small_infer_1xmi300",
          "qwen05b_h100": "tl_qwen05b_generate_1xh100", "qwen05b_mi300": "tl_qwen05b_generate_1xmi300",
          "vit_h100": "tl_vit_infer_1xh100", "vit_mi300": "tl_vit_infer_1xmi300"}
MIB = 1048576
wrong, figures = [], Counter()


def analyze(name):
    path = os.path.join(SHARED, "kineto", TRACES[name] + ".json.gz")
    return json.loads(subprocess.run([PACELINE, "analyze", "--format", "json", path], capture_output=True,
                                     check=True).stdout)


def table(name, file):
    path = os.path.join(SHARED, "kineto", "reference_tracelens", name, file)
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as opened:
        return list(csv.DictReader(opened))


def agree(what, found, expected, within):
    figures[what[1]] += 1
    if not abs(found - expected) <= within:
        wrong.append((*what, found, expected))


def check_operators(name, document):
    """ops_summary.csv: calls and direct kernel time of every operator."""
    ours = {row["name"]: row for row in document["operators"]}
    for line in table(name, "ops_summary.csv"):
        operator = line["name"]
        row, count = ours[operator], int(line["Count"])
        agree((name, "operator calls", operator), row["calls"], count, 0)
        agree((name, "operator time", operator), row["time_ns"] / 1e3, float(line["total_direct_kernel_time_sum"]),
              count * 4 / 1024)


def check_kernels(name, document):
    """kernel_summary.csv: no kernel takes less here, and all of them together no less than there. Kernels without a launch
    are in our sums only."""
    theirs = Counter()
    calls = Counter()
    for line in table(name, "kernel_summary.csv"):
        theirs[line["Kernel name"]] += float(line["Kernel duration (µs)_sum"])
        calls[line["Kernel name"]] += int(line["Kernel duration (µs)_count"])
    ours = {row["name"]: row for row in document["kernels"]}
    all_linked = not any(row["name"] == "(no operator recorded)" for row in document["operators"])
    for kernel, time_us in theirs.items():
        row = ours[kernel]
        if all_linked:
            agree((name, "kernel calls", kernel[:60]), row["calls"], calls[kernel], 0)
            agree((name, "kernel time", kernel[:60]), row["time_ns"] / 1e3, time_us, 0.0006 * calls[kernel])
        elif row["calls"] < calls[kernel] or row["time_ns"] / 1e3 < time_us - 0.0006 * calls[kernel]:
            wrong.append((name, "kernel", kernel[:60], row, time_us))


def sizes(dims):
    """Their list of sizes as we write it: without the arguments at the end that have none."""
    while dims and not dims[-1]:
        dims = dims[:-1]
    return " ".join(json.dumps(one, separators=(",", ":")) for one in dims)


def check_shapes(name, document, file, rename, flop_of, bytes_of):
    """One line per operator and shapes: calls, time, work per call and mean rate."""
    ours = {(row["name"], row["shapes"]): row for row in document["operator_shapes"]}
    for line in table(name, file):
        dims = ast.literal_eval(line["Input Dims_first"])
        key = rename(line["name"], dims, document)
        if key is None:
            continue
        row, count = ours[key], int(line["name_count"])
        flop, size = flop_of(line, row), bytes_of(line, row)
        time_us = float(line["Kernel Time (µs)_sum"]) - fills_within(name, file, count)
        agree((name, file + " calls", *key), row["calls"], count, 0)
        agree((name, file + " time", *key), row["time_ns"] / 1e3, time_us, count * 4 / 1024)
        agree((name, file + " flop", *key), row["flop_per_call"], flop, 0.5)
        agree((name, file + " bytes", *key), row["bytes_per_call"], size, 0.5)
        # theirs is the mean of the calls' rates, ours all work over all time: equal where there is one call
        if count == 1 and file == "GEMM.csv":
            theirs = float(line["TFLOPS/s_mean"]) * 1e12
            agree((name, file + " rate", *key), row["flop_per_s"] * float(line["GFLOPS_first"]) * 1e9 / flop, theirs, theirs * 1e-3)


def fills_within(name, file, calls):
    """On ROCm a causal attention fills a buffer first, an operator of its own to us."""
    if file != "SDPA_fwd.csv":
        return 0
    return sum(float(line["total_direct_kernel_time_sum"]) for line in table(name, "ops_summary.csv")
               if line["name"] == "aten::fill_" and int(line["Count"]) == calls)


def gemm(line, _):
    bias = int(line["param: M"]) * int(line["param: N"]) if line["param: bias"] == "True" else 0
    return float(line["GFLOPS_first"]) * 1e9 - bias


def flop(line, _):
    return float(line["GFLOPS_first"]) * 1e9


def moved(line, _):
    return float(line["Data Moved (MB)_first"]) * MIB


def as_it_is(operator, dims, _):
    return operator, sizes(dims)


def flash(operator, dims, _):
    """The call within has rows before heads."""
    return "aten::_flash_attention_forward", sizes([[d[0], d[2], d[1], d[3]] for d in dims[:3]])


def convolution(operator, dims, document):
    """The library's call within takes the input and the weight; it is told apart by its first two arguments."""
    found = [(row["name"], row["shapes"]) for row in document["operator_shapes"]
             if row["name"] in ("aten::cudnn_convolution", "aten::miopen_convolution")
             and row["shapes"].startswith(sizes(dims[:2]))]
    return found[0] if len(found) == 1 else None


def check_convolutions(name, document):
    """Work is theirs; time is not compared: theirs includes the bias added after by another operator."""
    for line in table(name, "CONV_fwd.csv"):
        key = convolution(line["name"], ast.literal_eval(line["Input Dims_first"]), document)
        row = next(r for r in document["operator_shapes"] if (r["name"], r["shapes"]) == key)
        agree((name, "CONV_fwd.csv flop", *key), row["flop_per_call"], flop(line, row), 0.5)
        bias = 2 * int(ast.literal_eval(line["param: filter_shape"])[0]) if row["shapes"].count(" ") > 1 else 0
        agree((name, "CONV_fwd.csv bytes", *key), row["bytes_per_call"] - bias, moved(line, row), 0.5)


def compare():
    """All tables of all traces; returns how many figures were compared and how many differ."""
    for name in TRACES:
        document = analyze(name)
        check_operators(name, document)
        check_kernels(name, document)
        check_shapes(name, document, "GEMM.csv", as_it_is, gemm, moved)
        check_shapes(name, document, "SDPA_fwd.csv", flash, flop, moved)
        check_convolutions(name, document)
    return sum(figures.values()), len(wrong)


def main():
    if not os.path.isdir(os.path.join(SHARED, "kineto", "reference_tracelens")):
        print("skipped: the reference data are not at hand")
        return 77
    compared, differ = compare()
    for line in wrong:
        print("differs:", *line)
    for what, count in sorted(figures.items()):
        print(f"{count:5} {what}")
    print(f"{compared} figures, {differ} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
