"""Window and step figures against the reference tables made by interval arithmetic outside this project.

The reference traces are other people's and not shipped: skipped when they are not at hand.
"""
import csv
import json
import os
import subprocess
import sys

PACELINE = os.environ["PACELINE"]
SHARED = os.environ.get("PACELINE_SHARED", "")
FOLDERS = [("kineto", "golden_trace.csv", "golden_step.csv", ""),
           ("chakra", "dlrm_8xV100_golden_trace.csv", "dlrm_8xV100_golden_step.csv", "dlrm_8xV100_kineto")]
WINDOW = {"span_us": "span_ns", "gpu_busy_us": "busy_ns", "compute_busy_us": "compute_ns",
          "comm_busy_us": "communication_ns", "comm_overlapped_us": "overlapped_ns",
          "comm_exposed_us": "exposed_ns", "idle_us": "idle_ns", "memory_busy_us": "memory_ns"}
STEP = {"start_us": "start_ns", "dur_us": "duration_ns", "gpu_busy_in_step_us": "busy_ns",
        "compute_in_step_us": "compute_ns", "comm_in_step_us": "communication_ns",
        "comm_overlapped_in_step_us": "overlapped_ns"}
COUNTS = {"events": "events", "complete_events": "complete_events", "kernels": "kernels", "memcpys": "copies",
          "memsets": "memsets", "cpu_ops": "operators", "runtime_calls": "runtime_calls",
          "kernels_linked_by_correlation": "kernels_linked"}


def ns(us):
    """Microseconds with three decimals, exactly."""
    whole, _, part = us.partition(".")
    sign = -1 if whole.startswith("-") else 1
    return int(whole) * 1000 + sign * int((part + "000")[:3])


def analyze(path):
    run = subprocess.run([PACELINE, "analyze", "--check", "--format", "json", path], capture_output=True, text=True)
    assert run.returncode == 0, (path, run.stderr)
    return json.loads(run.stdout)


def check_sums(document, wrong, name):
    """The matrix's cells are the step, and its margins the golden window."""
    def total(matrix):
        return sum(value for row in matrix.values() for value in row.values())
    for step in document["step_matrices"]:
        if total(step["matrix"]) != step["device_ns"]:
            wrong.append((name, step["label"], "matrix", total(step["matrix"]), step["device_ns"]))
    window, matrix = document["window"], document["window_matrix"]
    if total(matrix) != window["span_ns"]:
        wrong.append((name, "window matrix", total(matrix), window["span_ns"]))
    columns = {}
    for row in matrix.values():
        for key, value in row.items():
            columns[key] = columns.get(key, 0) + value
    margins = {"compute": (columns["compute_bound_ns"] + columns["memory_bound_ns"], window["compute_ns"]),
               "exposed": (columns["exposed_communication_ns"] + columns["idle_rank_ns"], window["exposed_ns"]),
               "copy": (columns["copy_ns"], window["busy_ns"] - window["compute_ns"] - window["exposed_ns"])}
    for key, (found, expected) in margins.items():
        if found != expected:
            wrong.append((name, "margin", key, found, expected))


def main():
    figures, wrong = 0, []
    for folder, trace_csv, step_csv, inner in FOLDERS:
        base = os.path.join(SHARED, folder)
        if not os.path.exists(os.path.join(base, trace_csv)):
            print("skipped: the reference traces are not at hand")
            return 77
        documents = {}
        with open(os.path.join(base, trace_csv)) as file:
            for row in csv.DictReader(file):
                name = row["file"]
                document = documents[name] = analyze(os.path.join(base, inner, name))
                for column, key in COUNTS.items():
                    figures += 1
                    found = document["ranks"][0]["counts"][key]
                    if int(row[column] or 0) != found:
                        wrong.append((name, column, row[column], found))
                if not row["span_us"]:
                    continue
                for column, key in WINDOW.items():
                    figures += 1
                    if ns(row[column]) != document["window"][key]:
                        wrong.append((name, column, row[column], document["window"][key]))
                check_sums(document, wrong, name)
        with open(os.path.join(base, step_csv)) as file:
            for row in csv.DictReader(file):
                steps = {step["label"]: step for step in documents[row["file"]]["ranks"][0]["steps"]}
                step = steps[row["step"]]
                for column, key in STEP.items():
                    figures += 1
                    if ns(row[column]) != step[key]:
                        wrong.append((row["file"], row["step"], column, row[column], step[key]))
    for line in wrong:
        print("differs:", *line)
    print(f"{figures} figures, {len(wrong)} differ")
    return 1 if wrong else 0


sys.exit(main())
