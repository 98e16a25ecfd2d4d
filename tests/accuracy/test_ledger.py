"""Recomputes the analyze, walk and model rows of accuracy/ledger.csv from the reference data and compares; --update rewrites them.

The reference data are other people's and not shipped: skipped when they are not at hand.
"""
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "golden"))
import ledger
import test_edges
import test_model_steps
import test_predict
import test_tracelens
import test_twins

PACELINE = os.environ["PACELINE"]
SHARED = os.environ.get("PACELINE_SHARED", "")
WINDOW = {"span_us": "span_ns", "gpu_busy_us": "busy_ns", "compute_busy_us": "compute_ns", "comm_busy_us": "communication_ns",
          "comm_overlapped_us": "overlapped_ns", "comm_exposed_us": "exposed_ns", "idle_us": "idle_ns",
          "memory_busy_us": "memory_ns"}
STEP = {"dur_us": "duration_ns", "gpu_busy_in_step_us": "busy_ns", "compute_in_step_us": "compute_ns",
        "comm_in_step_us": "communication_ns", "comm_overlapped_in_step_us": "overlapped_ns"}
cache = {}


def analyze(path):
    if path not in cache:
        cache[path] = json.loads(subprocess.run([PACELINE, "analyze", "--format", "json", path], capture_output=True,
                                                check=True).stdout)
    return cache[path]


def ns(us):
    whole, _, part = us.partition(".")
    return int(whole) * 1000 + int((part + "000")[:3])


def row(case, source, metric, unit, n, value, bar, note=""):
    limit = float(bar[2:])
    holds = value <= limit if bar.startswith("<=") else value >= limit if bar.startswith(">=") else value == limit
    text = f"{value:.6g}"
    return dict(zip(ledger.FIELDS, [case, source, "test", metric, unit, str(n), text, bar, "yes" if holds else "no", note]))


def window_rows(case, folder, inner, table):
    worst = n = 0
    with open(os.path.join(SHARED, folder, table)) as file:
        for line in csv.DictReader(file):
            if not line["span_us"]:
                continue
            window = analyze(os.path.join(SHARED, folder, inner, line["file"]))["window"]
            for column, key in WINDOW.items():
                worst, n = max(worst, abs(window[key] - ns(line[column]))), n + 1
    return row(case, f"{folder}/{table}", "max_abs_error", "ns", n, worst, "<=0")


def step_rows(case, folder, inner, table):
    worst = n = 0
    with open(os.path.join(SHARED, folder, table)) as file:
        for line in csv.DictReader(file):
            steps = analyze(os.path.join(SHARED, folder, inner, line["file"]))["ranks"][0]["steps"]
            step = next(s for s in steps if s["label"] == line["step"])
            for column, key in STEP.items():
                worst, n = max(worst, abs(step[key] - ns(line[column]))), n + 1
    return row(case, f"{folder}/{table}", "max_abs_error", "ns", n, worst, "<=0")


def tracelens_row():
    """Busy and idle of the timelines that are not known to contradict themselves; ms printed with float32 rounding."""
    worst = n = 0
    for name, trace in (("bert_small_h100", "tl_bert_small_infer_1xh100"), ("bert_small_mi300", "tl_bert_small_infer_1xmi300"),
                        ("vit_h100", "tl_vit_infer_1xh100"), ("vit_mi300", "tl_vit_infer_1xmi300")):
        window = analyze(os.path.join(SHARED, "kineto", trace + ".json.gz"))["window"]
        with open(os.path.join(SHARED, "kineto", "reference_tracelens", name, "gpu_timeline.csv")) as file:
            times = {line["type"]: float(line["time ms"]) * 1e6 for line in csv.DictReader(file)}
        for key, ours in (("busy_time", "busy_ns"), ("idle_time", "idle_ns"), ("total_time", "span_ns")):
            worst, n = max(worst, abs(times[key] - window[ours])), n + 1
    return row("analyze/tracelens-timeline", "kineto/reference_tracelens", "max_abs_error", "ns", n, worst, "<=5",
               "TraceLens counts memsets as computation, this project as memory")


def tracelens_tables_row():
    """Operators, kernels, work and rates per shape: test_tracelens.py says what is compared and what is taken out."""
    compared, differ = test_tracelens.compare()
    return row("analyze/tracelens-tables", "kineto/reference_tracelens", "differing", "figures", compared, differ, "<=0",
               "operators, kernels, GEMM, attention and convolution per shape; known differences of definition taken out")


def replay_row():
    worst = n = 0
    for folder, inner, table in (("kineto", "", "golden_trace.csv"), ("chakra", "dlrm_8xV100_kineto", "dlrm_8xV100_golden_trace.csv")):
        with open(os.path.join(SHARED, folder, table)) as file:
            for line in csv.DictReader(file):
                path = analyze(os.path.join(SHARED, folder, inner, line["file"])).get("critical_path")
                if path:
                    worst, n = max(worst, path["replay_error_ns"]), n + 1
    return row("analyze/replay", "kineto, chakra", "max_abs_error", "ns", n, worst, "<=0", "starts of a replayed step against measured")


def collective_row():
    document = analyze(os.path.join(SHARED, "chakra", "dlrm_8xV100_kineto"))
    last = [c["last_rank"] for c in document["collectives"]]
    right = sum(a == b for a, b in zip(last, [7, 7, 7, 7, 7, 5, 5, 4])) if len(last) == 8 else 0
    return row("analyze/last-rank", "chakra/dlrm_8xV100_kineto", "matches", "collectives", 8, right, ">=8")


def edges_row(case, source, check, unit, note):
    """What a check of the golden test compares, and how much of it differs."""
    compared, wrong = len(test_edges.compared), len(test_edges.wrong)
    check()
    return row(case, source, "differing", unit, len(test_edges.compared) - compared, len(test_edges.wrong) - wrong, "<=0", note)


def walk_rows():
    errors = [abs(e) for e in test_predict.replay_errors().values()]
    ranks = [abs(e) for e in test_predict.rank_errors()]
    source = "kineto, chakra/dlrm_8xV100_kineto"
    note = "mean step of a trace, walked with its own kernel times and one figure per operator and overhead type"
    return [row("predict/replay-median", source, "median_abs_error", "ratio", len(errors), statistics.median(errors), "<=0.03", note),
            row("predict/replay-max", source, "max_abs_error", "ratio", len(errors), max(errors), "<=0.08", note),
            row("predict/dlrm-8xV100-ranks", "chakra/dlrm_8xV100_kineto", "max_abs_error", "ratio", len(ranks), max(ranks), "<=0.05",
                "each rank's step, overheads from the step itself")]


def model_rows():
    llm, cnn = test_model_steps.llm_errors(), test_model_steps.cnn_errors()
    note = "from the model's description and the device's data sheet alone, formulas, nothing fitted"
    return [row("predict/llm-latency", "llm/neusight_model_latency", "MAPE", "ratio", len(llm), test_model_steps.mape(llm), "<=0.1", note),
            row("predict/cnn-throughput", "notes D (TensorFlow benchmarks, DeepLearningExamples)", "MAPE", "ratio", len(cnn),
                test_model_steps.mape(cnn), "<=0.1", note + "; see docs/accuracy.md"),
            row("predict/model-coverage", "both of the above", "coverage_90", "ratio", len(llm + cnn), test_model_steps.coverage(llm + cnn),
                ">=0.85", "share of measurements inside low to high; at most 0.95 is wanted too")]


def open_loop_row():
    """The DLRM seed's open loop: the graph of another run, T1 and T2 of that model from the 2022 study, the rest from the final figure."""
    figure = {"t3": {"AddmmBackward0": 29, "torch::autograd::AccumulateGrad": 6.2, "aten::linear": 10.7, "ReluBackward0": 8.7,
                     "LookupFunctionBackward": 57, "aten::relu": 8.7, "BmmBackward0": 33.5, "LookupFunction": 27, "aten::zero_": 2.1,
                     "IndexBackward0": 13},
              "t4": {"cudaLaunchKernel": 4, "cudaMemcpyAsync": 4},
              "t5": {"AddmmBackward0": 29.5, "aten::linear": 29, "IndexBackward0": 14.5, "aten::index": 12.5, "aten::zeros": 1.5,
                     "aten::view": 4.4}}
    costs = {kind: {name: [us, 0] for name, us in table.items()} for kind, table in figure.items()}
    costs["t2"] = {}
    with open(os.path.join(SHARED, "dlrm", "overheads_t1_t2_37workloads_202202.csv")) as file:
        for line in csv.DictReader(file):
            if (line["model"], line["batch_size"]) == ("DLRM_default", "1024"):
                pair = [float(line["mean_us"]), float(line["std_us"])]
                if line["type"] == "t1":
                    costs["t1"] = pair
                else:
                    costs["t2"][line["op"]] = pair
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(costs, file)
        file.flush()
        graph = os.path.join(SHARED, "dlrm", "moderato_param", "my_dlrm_default_1024.json.gz")
        step = test_predict.predict(graph, "--on", "v100-sxm2-16", "--overheads", file.name)["step"]["walked_ns"] / 1e6
    return row("predict/dlrm-open-loop", "dlrm/moderato_param, dlrm C", "abs_error", "ratio", 1, abs(step / 5.65 - 1), "<=0.1",
               "V100, batch 1024, measured 5.65 ms (digitized); the graph's tables are half precision, the measured ones single; authors -22 %, shared -17 %")


def kernel_file_row():
    """Both DLRM runs' kernels, as profiled: the sums printed with them, us per 10 iterations."""
    worst = 0
    for name, printed in (("default_b2048_kernels_20210504", 66692), ("mlperf_b2048_kernels_20210514", 49980)):
        with open(os.path.join(SHARED, "dlrm", f"v100_dlrm_{name}.csv")) as file:
            worst = max(worst, abs(sum(float(line["total_us"]) for line in csv.DictReader(file)) - printed))
    return row("data/dlrm-kernel-sums", "dlrm/v100_dlrm_*_kernels_*.csv", "max_abs_error", "us", 2, worst, "<=0",
               "66,692 and 49,980 us of kernels in 10 steps, as printed by the authors")


def embedding_rows():
    """The surviving rows of the authors' embedding sweep, from the ladder without a fit; bar: what the published closed form errs."""
    measured, lines = [], ["op,pass,b,tables,rows,lookups,d"]
    with open(os.path.join(SHARED, "dlrm", "v100_microbench_sample_rows.csv")) as file:
        for line in csv.DictReader(file):
            if line["family"].startswith("embedding"):
                direction = "backward" if "_bwd_" in line["family"] else "forward"
                measured.append((direction, float(line["kernel_runtime"])))
                lines.append(",".join(["embedding", direction] + [line[key] for key in (
                    "batch_size", "num_tables", "num_embeddings", "bag_size", "embedding_dim")]))
    out = subprocess.run([PACELINE, "predict", "--rows", "-", "--on", "v100-sxm2-16", "--format", "csv"],
                         input="\n".join(lines) + "\n", capture_output=True, text=True, check=True).stdout
    scale = {"us": 1, "s": 1e6}
    predicted = [float(p["predicted"]) * scale[p["unit"]] for p in csv.DictReader(out.splitlines())]
    rows = []
    for direction, bar, note in (("forward", "<=0.342", "tables of 1,000 rows; the authors' hit model: 34.2 %"),
                                 ("backward", "<=0.455", "tables of 500,000 rows of 128, sustaining 435 GB/s of 804; the authors' hit model: 45.5 %")):
        errors = [abs(p / m - 1) for p, (of, m) in zip(predicted, measured) if of == direction]
        rows.append(row(f"predict/dlrm-embedding-{direction}", "dlrm/v100_microbench_sample_rows.csv", "MAPE", "ratio", len(errors),
                        statistics.mean(errors), bar, note))
    return rows


def twins_rows():
    """Steps recorded on H100 and MI300X, each predicted from the other's trace: device busy time, six directions."""
    source, note = "kineto/tl_*_1xh100, tl_*_1xmi300", "BERT-small, ViT, Qwen1.5-0.5B; both directions"
    rows = []
    for name, errors, text in (
            ("same-time", test_twins.same_time_errors(), "baseline: the recorded busy time stays; " + note),
            ("ladder", test_twins.ladder_errors(), "no calibration; " + note),
            ("one-pair", test_twins.calibrated_errors(), "calibrated on one model's pair, another predicted; that the ladder counts as one "
             "pair more, and start and work apart, was decided with these models at hand; " + note),
            ("two-pairs", test_twins.two_pair_errors(), "calibrated on two models' pairs, the third predicted; " + note)):
        sizes = [abs(e) for e in errors]
        rows.append(row(f"predict/twins-{name}", source, "max_abs_error", "ratio", len(sizes), max(sizes), "<=0.15", text))
    rows.append(row("predict/twins-interval", source, "coverage", "ratio", 6, test_twins.interval_cover() / 6, ">=0.85",
                    "recorded step within the ladder's 90 % interval; " + note))
    return rows


def cpu_rows():
    """The bundled trace, of two threads of the machine of which one was calibrated, moved there as if its times were not known."""
    rows = []
    for case, machine, note in (("one-thread", "epyc-zen5-1t", "matrix products on one thread are too slow for two by as much as the rest is too fast: luck"),
                                ("two-threads", "epyc-zen5-1t fp32=472GFLOP/s", "twice the arithmetic of one thread; the bar is our own; products come out 12 % too fast, and "
                                 "the trace's fills, copies and views took 20 us and more a call on a machine that was shared")):
        document = test_predict.predict(test_predict.DEMO, "--on", machine)
        step, measured = document["scenarios"][-1], document["step"]["measured_ns"]
        inside = "inside" if step["low_ns"] <= measured <= step["high_ns"] else "outside"
        rows.append(row(f"predict/cpu-demo-{case}", "tests/data/demo.json.gz", "abs_error", "ratio", 1, abs(step["step_ns"] / measured - 1), "<=0.25",
                        f"host costs of other models on the same machine; {note}; {inside} the 90 % interval"))
    return rows


def main():
    if not os.path.isdir(os.path.join(SHARED, "kineto")):
        print("skipped: the reference data are not at hand")
        return 77
    rows = [*model_rows(), open_loop_row(), kernel_file_row(), *embedding_rows(), window_rows("analyze/golden-window", "kineto", "", "golden_trace.csv"),
            window_rows("analyze/golden-window-8-ranks", "chakra", "dlrm_8xV100_kineto", "dlrm_8xV100_golden_trace.csv"),
            step_rows("analyze/golden-step", "kineto", "", "golden_step.csv"),
            step_rows("analyze/golden-step-8-ranks", "chakra", "dlrm_8xV100_kineto", "dlrm_8xV100_golden_step.csv"),
            *walk_rows(), *cpu_rows(), *twins_rows(), tracelens_row(), tracelens_tables_row(), replay_row(), collective_row(),
            edges_row("analyze/hta-critical-path", "kineto/hta_simple_add_1xA100_criticalpath_overlay",
                      test_edges.check_reference_path, "tasks and edges",
                      "kernels, copies, calls and waits on the path Holistic Trace Analysis drew, and on ours, between first and last device work"),
            edges_row("analyze/autograd-links", "kineto/hta_resnet_ddp, hta_minitoy", test_edges.check_arrows, "links",
                      "forward-backward arrows drawn by PyTorch's profiler, against the links from sequence numbers")]
    return ledger.settle(rows)


sys.exit(main())
