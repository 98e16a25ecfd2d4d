"""Hardware counters of kernels, against the same events read by Python."""
import collections
import json
import os
import sys
import tempfile

from checks import SHARED, expect, finish
from raw_trace import CALLS, Events, analyze, near, start

WEIGHT = {"fadd": ("single", 1), "fmul": ("single", 1), "ffma": ("single", 2), "hadd": ("half", 1), "hmul": ("half", 1), "hfma": ("half", 2),
          "dadd": ("double", 1), "dmul": ("double", 1), "dfma": ("double", 2)}


def check(path, name):
    events, answer = Events(path), analyze(path)
    ranges = events.of("cuda_profiler_range")
    values, flop, times = collections.defaultdict(list), collections.defaultdict(lambda: {"half": 0, "single": 0, "double": 0}), collections.Counter()
    for event in ranges:
        times[event["name"]] += 1
        for counter, value in event["args"].items():
            values[event["name"], counter].append(float(value))
            for what, (precision, weight) in WEIGHT.items():
                if f"_op_{what}_pred_on" in counter:
                    flop[event["name"]][precision] += weight * float(value)
    rows = {(row["name"], row["counter"]): row for row in answer["counters"]}
    expect(set(rows) == set(values), name, "rows", set(rows) ^ set(values))
    for key, of in values.items():
        row, sums = rows[key], key[1].endswith(".sum")
        expect(row["is"] == ("sum" if sums else "mean") and row["times"] == len(of) and row["least"] == min(of) and row["most"] == max(of), name, row)
        expect(near(row["value"], sum(of) if sums else sum(of) / len(of)), name, row, of[:3])
    for row in answer.get("kernel_counters", []):
        wanted = flop[row["name"]]
        expect(row["times"] == times[row["name"]] and all(near(row[p + "_flop"], wanted[p]) for p in wanted), name, row, wanted)
    return events, answer, ranges


def check_operators(events, answer, ranges, name):
    """As many launches as ranges: the k-th is the k-th."""
    launches = sorted((e for e in events.of(*CALLS) if "LaunchKernel" in e["name"]), key=start)
    expect(len(launches) == len(ranges), name, "launches", len(launches), len(ranges))
    operators = sorted(events.of("cpu_op"), key=start)
    found = collections.defaultdict(set)
    for event, launch in zip(ranges, launches):
        around = [o for o in operators if o["tid"] == launch["tid"] and start(o) <= start(launch) <= start(o) + round(float(o["dur"]) * 1000)]
        found[event["name"]].add(around[-1]["name"] if around else None)
    for row in answer["kernel_counters"]:
        of = found[row["name"]]
        expect(row["operator"] == (next(iter(of)) if len(of) == 1 else None), name, row["name"][:60], row["operator"], of)


def test_other_counters(folder):
    """Counters that are no arithmetic, in ranges that match no launch; what is no number is passed over."""
    events = [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 50}]
    for number in range(5):
        events.append({"ph": "X", "cat": "cuda_profiler_range", "name": f"kernel{number % 2}", "pid": 0, "tid": 0, "ts": 2 + number, "dur": 1,
                       "args": {"dram__bytes_read.sum": 1000 + number, "sm__throughput.avg.pct_of_peak_sustained_elapsed": 10.5 * number, "note": "x", "nested": {"a": 1}}})
    path = os.path.join(folder, "other.json")
    with open(path, "w") as file:
        file.write(json.dumps({"traceEvents": events}))
    for event in events[1:]:
        event["args"] = {k: v for k, v in event["args"].items() if isinstance(v, (int, float))}
    plain = os.path.join(folder, "plain.json")
    with open(plain, "w") as file:
        file.write(json.dumps({"traceEvents": events}))
    _, answer, _ = check(plain, "other")
    expect(not answer.get("kernel_counters"), "no arithmetic was counted")
    expect(analyze(path)["counters"] == answer["counters"], "what is no number")


with tempfile.TemporaryDirectory() as folder:
    test_other_counters(folder)
recorded = os.path.join(SHARED, "kineto", "edge_cupti_range_profiler_A100.json.gz")
if os.path.exists(recorded):
    check_operators(*check(recorded, "A100"), "A100")
sys.exit(finish())
