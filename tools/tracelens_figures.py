#!/usr/bin/env python3
"""Writes accuracy/tracelens_figures.csv: what `paceline analyze` should find of six traces, by the tables that AMD's
TraceLens printed for them.

    tools/tracelens_figures.py DATA > accuracy/tracelens_figures.csv      (DATA/kineto/reference_tracelens)

Where both define a figure alike it must be equal to the rounding of theirs (they keep time stamps as doubles of
microseconds, which near 1e12 are 1/1024 us apart or more). Where they do not, the difference is known exactly and taken
out here, each with its reason:
  * TraceLens counts the addition of a bias as one operation per output of addmm.
  * It gives the work of a convolution to the aten::convolution outside, and of attention to the outer
    _scaled_dot_product_* call. Times of convolutions are left out: theirs include the bias that another operator adds.
  * It leaves out device work whose launch is not in the trace: kernels of such traces are left out.
"""
import ast
import csv
import json
import os
import sys

TRACES = {"bert_small_h100": "bert_small_infer_1xh100", "bert_small_mi300": "bert_small_infer_1xmi300",
          "qwen05b_h100": "qwen05b_generate_1xh100", "qwen05b_mi300": "qwen05b_generate_1xmi300",
          "vit_h100": "vit_infer_1xh100", "vit_mi300": "vit_infer_1xmi300"}
WITHOUT_LAUNCH = ("qwen05b_h100", "qwen05b_mi300")
MIB = 1048576
TICK_US = 4 / 1024


def table(name, file):
    path = os.path.join(sys.argv[1], "kineto", "reference_tracelens", name, file)
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as opened:
        return list(csv.DictReader(opened))


def sizes(dims):
    """Their list of sizes as we write it: without the arguments at the end that have none."""
    while dims and not dims[-1]:
        dims = dims[:-1]
    return " ".join(json.dumps(one, separators=(",", ":")) for one in dims)


def operators(name):
    for line in table(name, "ops_summary.csv"):
        calls = int(line["Count"])
        at = f"operators[name='{line['name']}']"
        yield f"{at}.calls", calls, 0
        yield f"{at}.time_ns / 1000", float(line["total_direct_kernel_time_sum"]), calls * TICK_US


def kernels(name):
    """They are sums over operators, here and there; rounded to a nanosecond each."""
    sums = {}
    for line in table(name, "kernel_summary.csv"):
        calls, time_us = sums.get(line["Kernel name"], (0, 0.0))
        sums[line["Kernel name"]] = calls + int(line["Kernel duration (µs)_count"]), time_us + float(line["Kernel duration (µs)_sum"])
    for kernel, (calls, time_us) in sums.items():
        yield f"kernels[name='{kernel}'].calls", calls, 0
        yield f"kernels[name='{kernel}'].time_ns / 1000", round(time_us, 6), round(0.0006 * calls, 6)


def shape(operator, dims):
    return f"operator_shapes[name='{operator}',shapes='{sizes(dims)}']"


def calls_and_time(at, line, fills_us=0.0):
    calls = int(line["name_count"])
    yield f"{at}.calls", calls, 0
    yield f"{at}.time_ns / 1000", float(line["Kernel Time (µs)_sum"]) - fills_us, calls * TICK_US


def gemms(name):
    for line in table(name, "GEMM.csv"):
        at = shape(line["name"], ast.literal_eval(line["Input Dims_first"]))
        bias = int(line["param: M"]) * int(line["param: N"]) if line["param: bias"] == "True" else 0
        theirs = float(line["GFLOPS_first"]) * 1e9
        yield from calls_and_time(at, line)
        yield f"{at}.flop_per_call", round(theirs - bias, 3), 0.5
        yield f"{at}.bytes_per_call", float(line["Data Moved (MB)_first"]) * MIB, 0.5
        if int(line["name_count"]) == 1:  # theirs is the mean of the calls' rates, ours all work over all time
            rate = float(line["TFLOPS/s_mean"]) * 1e12 * (theirs - bias) / theirs
            yield f"{at}.flop_per_s", rate, rate * 1e-3


def attention(name):
    """The call within has rows before heads; on ROCm a causal attention fills a buffer first, an operator of its own to us."""
    for line in table(name, "SDPA_fwd.csv"):
        dims = [[d[0], d[2], d[1], d[3]] for d in ast.literal_eval(line["Input Dims_first"])[:3]]
        at = shape("aten::_flash_attention_forward", dims)
        fills = sum(float(other["total_direct_kernel_time_sum"]) for other in table(name, "ops_summary.csv")
                    if other["name"] == "aten::fill_" and other["Count"] == line["name_count"])
        yield from calls_and_time(at, line, fills)
        yield f"{at}.flop_per_call", float(line["GFLOPS_first"]) * 1e9, 0.5
        yield f"{at}.bytes_per_call", float(line["Data Moved (MB)_first"]) * MIB, 0.5


def convolutions(name):
    """The library's call within takes input and weight, on ROCm the bias too."""
    for line in table(name, "CONV_fwd.csv"):
        dims = ast.literal_eval(line["Input Dims_first"])
        rocm = "mi300" in name
        at = shape("aten::miopen_convolution" if rocm else "aten::cudnn_convolution", dims[:3] if rocm else dims[:2])
        bias_bytes = 2 * dims[1][0] if rocm else 0
        yield f"{at}.flop_per_call", float(line["GFLOPS_first"]) * 1e9, 0.5
        yield f"{at}.bytes_per_call", float(line["Data Moved (MB)_first"]) * MIB + bias_bytes, 0.5


def main():
    out = csv.writer(sys.stdout, lineterminator="\n")
    print("# Made by tools/tracelens_figures.py of the tables that AMD's TraceLens printed, which says what was taken out.")
    out.writerow(["trace", "figure", "expected", "within"])
    for name, trace in TRACES.items():
        for part in (operators, *([] if name in WITHOUT_LAUNCH else [kernels]), gemms, attention, convolutions):
            for figure, expected, within in part(name):
                out.writerow([trace, figure, repr(expected), repr(within)])


main()
