"""What real traces say waits for what, and which operator a backward operator differentiates, against other people's answers.

Oracles: the critical path that HolisticTraceAnalysis drew into one of its traces; the forward-backward arrows that
PyTorch's profiler drew; and the rule of each applied to the raw events here, by search through all of them. The traces
are not shipped: without them the test is skipped.
"""
import collections
import glob
import gzip
import json
import os
import subprocess
import sys
import tempfile
from decimal import Decimal  # a time stamp in microseconds is more than a double holds

from checks import PACELINE, expect, finish

SHARED = os.path.join(os.environ.get("PACELINE_SHARED", ""), "kineto")
DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")


def trace(name):
    with gzip.open(os.path.join(SHARED, name + ".json.gz"), "rt", encoding="utf-8", errors="replace") as file:
        return json.load(file, parse_float=Decimal)["traceEvents"]


def analyze(path, format, raw=False):
    run = subprocess.run([PACELINE, "analyze", "--check", "--format", format, path], capture_output=True, text=True)
    expect(run.returncode == 0, path, run.stderr)
    return run.stdout if raw else json.loads(run.stdout, parse_float=Decimal)


def redrawn(name):
    """The links as they are understood: what comes through a pipe cannot be copied, so its events are drawn anew."""
    with open(os.path.join(SHARED, name + ".json.gz"), "rb") as file:
        run = subprocess.run([PACELINE, "analyze", "--check", "--format", "perfetto", "-"], stdin=file, capture_output=True, text=True)
    expect(run.returncode == 0, name, run.stderr)
    return json.loads(run.stdout, parse_float=Decimal)["traceEvents"]


def ns(us):
    return int(us * 1000)


def args(event, key):
    return event.get("args", {}).get(key)


def waits_drawn(events):
    """(end of what is waited for, where the waiting task goes on), in nanoseconds."""
    ends = collections.defaultdict(dict)
    for e in events:
        if e.get("cat") == "paceline_wait":
            ends[e["id"]][e["ph"]] = ns(e["ts"])
    return {(pair["s"], pair["f"]) for pair in ends.values()}


def waits_by_search(events):
    """The same from the raw records: the last work of smaller correlation, the first of larger; queries do not wait."""
    work = [e for e in events if e.get("cat") in DEVICE]
    calls = {args(e, "correlation"): e for e in events if e.get("cat") == "cuda_runtime"}
    found = set()

    def last(stream, bound):
        return max((e for e in work if args(e, "correlation") < bound and stream in (None, args(e, "stream"))),
                   key=lambda e: args(e, "correlation"), default=None)

    def add(on, end):
        if on and ns(on["ts"] + on["dur"]) <= end:
            found.add((ns(on["ts"] + on["dur"]), end))

    for e in events:
        if e.get("cat") != "cuda_sync":
            continue
        asked = args(e, "correlation")
        call = calls[asked]
        returns = ns(call["ts"] + call["dur"])
        recorded = args(e, "wait_on_cuda_event_record_corr_id") or asked
        if e["name"] == "Stream Wait Event":
            after = [w for w in work if args(w, "stream") == args(e, "stream") and args(w, "correlation") > asked]
            if after:
                first = min(after, key=lambda w: args(w, "correlation"))
                add(last(args(e, "wait_on_stream"), recorded), ns(first["ts"]))
        elif e["name"] == "Event Sync" and "Query" not in call["name"]:
            add(last(args(e, "wait_on_stream"), recorded), returns)
        elif e["name"] == "Stream Sync":
            add(last(args(e, "stream"), asked), returns)
        elif e["name"] == "Context Sync":
            for stream in {args(w, "stream") for w in work}:
                add(last(stream, asked), returns)
    return found


def check_waits():
    for name in ("hta_alexnet_1xA100_cudasync", "hta_simple_add_1xA100_cudasync", "hta_event_sync_1xA100",
                 "hta_event_sync_multistream_1xA100"):
        drawn, searched = waits_drawn(redrawn(name)), waits_by_search(trace(name))
        expect(len(drawn) > 0 and drawn == searched, name, "waits", sorted(drawn ^ searched))
    # Read by eye: the memset on stream 24 waits for the matrix product on stream 20; the event for the kernel before it.
    expect((1712867402348823000, 1712867402368034000) in waits_drawn(redrawn("hta_event_sync_multistream_1xA100")),
           "the stream that waits for an event")
    expect((1707417525512408000, 1707417525512416000) in waits_drawn(redrawn("hta_event_sync_1xA100")),
           "the host that waits for an event")


def check_reference_path():
    """HTA's path over the whole trace; ours begins with the first device work and ends with the last."""
    name = "hta_simple_add_1xA100_criticalpath_overlay"
    raw, ours = trace(name), redrawn(name)
    path = [e for e in ours if e.get("cat") == "paceline_critical_path"]
    on_path = {(ns(e["ts"]), e["name"]) for e in path if not e["args"]["waiting"] and e["dur"] > 0}
    begin, end = ns(path[0]["ts"]), ns(path[-1]["ts"] + path[-1]["dur"])
    device = {(ns(e["ts"]), e["name"]) for e in raw if e.get("cat") in DEVICE}
    theirs = {(ns(e["ts"]), e["name"]) for e in raw if e.get("cat") in DEVICE and args(e, "critical")}
    expect(len(theirs) == 22, "device work on their path", len(theirs))
    for task in (on_path & device) | theirs:
        expect(task in on_path and task in theirs, "device work on the path", task)
    # Calls that launch work on the path are shown as what stands before that work; HTA gives no time to calls of 0 us.
    launching = {args(e, "correlation") for e in raw if e.get("cat") in DEVICE and args(e, "critical")}
    for call in raw:
        if call.get("cat") != "cuda_runtime" or call["dur"] == 0 or not begin <= ns(call["ts"]) < end:
            continue
        from_ns, to_ns = ns(call["ts"]), ns(call["ts"] + call["dur"])
        shown = any(text == call["name"] and from_ns <= at <= to_ns for at, text in on_path)
        expected = bool(args(call, "critical")) and args(call, "correlation") not in launching
        expect(shown == expected, "call on the path", call["name"], call["ts"], "theirs", expected)
    # Their edges of waiting are ours; HTA draws them from the last microsecond of the work that is waited for.
    ends = collections.defaultdict(dict)
    for e in raw:
        if e.get("cat") == "critical_path" and args(e, "type") == "critical_path_sync_dependency":
            ends[e["id"]][e["ph"]] = ns(e["ts"])
    theirs = {(pair["s"] + 1000, pair["f"]) for pair in ends.values()}
    drawn = waits_drawn(ours)
    expect(len(theirs) == 17, "their edges of waiting", len(theirs))
    for edge in theirs:
        expect(edge in drawn, "edge of waiting", edge)
    figures = analyze(os.path.join(SHARED, name + ".json.gz"), "json")["critical_path"]
    expect(figures["recorded_handovers"] == figures["handovers"] == 17, "hand-overs", figures["handovers"])


def gradients_drawn(events):
    """(start of the forward operator, start of the backward one); the outer of two nested ones stands for both."""
    forward = {args(e, "Sequence number"): ns(e["ts"]) for e in events
               if args(e, "Sequence number") and args(e, "Fwd thread id") == 0}
    return {(forward[args(e, "Sequence number")], ns(e["ts"])) for e in events
            if args(e, "Fwd thread id") and args(e, "Sequence number")}


def outer_starts(noted):
    """Start of a backward operator with a number -> of the one of the same number around it, or its own."""
    outer, found = {}, {}
    for e in sorted((e for e in noted if args(e, "Fwd thread id")), key=lambda e: (e["ts"], -e["dur"])):
        around = outer.get((e["tid"], args(e, "Sequence number")))
        if not around or e["ts"] + e["dur"] > around["ts"] + around["dur"]:
            around = outer[e["tid"], args(e, "Sequence number")] = e
        found[ns(e["ts"])] = ns(around["ts"])
    return found


def check_arrows():
    """PyTorch's own arrows: every one is a link of ours."""
    for name, count in (("hta_resnet_ddp_2xA100_rank0_ncclmeta", 543), ("hta_minitoy_train_1xMI250", 4)):
        ends = collections.defaultdict(dict)
        events = trace(name)
        for e in events:
            if e.get("cat") == "fwdbwd":
                ends[e["id"]][e["ph"]] = ns(e["ts"])
        starts = outer_starts([e for e in events if args(e, "Sequence number") is not None])
        arrows = {(pair["s"], starts[pair["f"]]) for pair in ends.values()}
        drawn = gradients_drawn(redrawn(name))
        expect(len(arrows) == count, name, "arrows", len(arrows))
        for arrow in arrows:
            expect(arrow in drawn, name, "arrow", arrow)


def check_numbers():
    """Where there are no arrows: the last operator of the forward thread to note the number."""
    for name in ("hta_dlrm_8xA100_rank3_stacks", "hta_dlrm_2xV100_rank1_stacks", "kineto_resnet50_1xV100_workers0",
                 "hta_sampled_128ranks_rank0"):
        last, expected = {}, set()
        noted = [e for e in trace(name) if args(e, "Sequence number") is not None and e.get("ph") == "X"]
        for e in noted:
            if not args(e, "Fwd thread id"):
                kept = last.setdefault(args(e, "Sequence number"), e)
                if (e["ts"], -e["dur"]) >= (kept["ts"], -kept["dur"]):
                    last[args(e, "Sequence number")] = e
        starts = outer_starts(noted)
        for e in noted:
            maker = last.get(args(e, "Sequence number"))
            if args(e, "Fwd thread id") and maker and maker["ts"] < e["ts"]:
                expected.add((ns(maker["ts"]), starts[ns(e["ts"])]))
        drawn = gradients_drawn(redrawn(name))
        expect(len(expected) > 90 and drawn == expected, name, "links", len(drawn), len(expected), len(drawn ^ expected))


def check_read_back():
    """The perfetto format carries the links: what is read back has the same figures."""
    for path in sorted(glob.glob(os.path.join(SHARED, "hta_*.json.gz"))):
        first = analyze(path, "json")
        idle = sum(row[column] for row in first["window_matrix"].values()
                   for column in ("idle_host_ns", "idle_input_ns", "idle_other_ns"))
        causes = sum(row["time_ns"] for row in first["idle_causes"])
        expect(causes == idle, "idle causes", os.path.basename(path), causes, idle)
        with open(path, "rb") as packed:
            drawn = subprocess.run([PACELINE, "analyze", "--format", "perfetto", "-"], stdin=packed, capture_output=True, text=True).stdout
        for text in (analyze(path, "perfetto", raw=True), drawn):
            with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
                file.write(text)
                file.flush()
                second = analyze(file.name, "json")
            for key in ("window_matrix", "critical_path"):
                for part in ("recorded_handovers", "handovers", "by_resource") if key == "critical_path" else (None,):
                    a, b = (d[key] if part is None else d[key][part] for d in (first, second))
                    expect(a == b, "read back", os.path.basename(path), key, part, a, b)


def main():
    if not os.path.isdir(SHARED):
        print("skipped: the reference traces are not at hand")
        return 77
    check_waits()
    check_reference_path()
    check_arrows()
    check_numbers()
    check_read_back()
    return finish()


if __name__ == "__main__":
    sys.exit(main())
