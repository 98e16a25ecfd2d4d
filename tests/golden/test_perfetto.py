"""The perfetto format: the trace's own events, byte for byte, with Paceline's tracks beside them; several ranks apart and on one clock."""
import gzip
import json
import os
import sys
import tempfile
from decimal import Decimal

from checks import SHARED, SOURCE, expect, expect_line, finish, run

DEMO = os.path.join(SOURCE, "tests", "data", "demo.json.gz")
TRACKS = {"paceline_stage", "paceline_resource", "paceline_critical_path"}
RECORDINGS = ["hta_resnet_ddp_2xA100_rank0_ncclmeta", "hta_minitoy_train_1xMI250", "kineto_resnet50_1xV100_workers0", "edge_gpu_only_1xMI210",
              "hta_event_sync_1xA100"]


def load(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8", errors="replace") as file:
        return json.load(file, parse_float=Decimal, strict=False)


def drawn(*words):
    code, out, err = run("analyze", *words, "--format", "perfetto")
    expect(code == 0, words, err)
    return json.loads(out, parse_float=Decimal, strict=False)


def is_ours(event):
    return event.get("cat", "").startswith("paceline_") or event["pid"] == 1000000


def test_original(folder):
    for path in [DEMO] + [os.path.join(SHARED, "kineto", name + ".json.gz") for name in RECORDINGS]:
        if not os.path.exists(path):
            print("left out, not there:", path)
            continue
        before, after = load(path), drawn(path)
        theirs = [event for event in after["traceEvents"] if not is_ours(event)]
        expect(theirs == before["traceEvents"], path, "events are not the trace's own", len(theirs), len(before["traceEvents"]))
        expect({k: v for k, v in after.items() if k not in ("traceEvents", "pacelineWarnings")} == {k: v for k, v in before.items() if k != "traceEvents"}, path, "members")
        ours = [event for event in after["traceEvents"] if is_ours(event)]
        expect({event.get("cat") for event in ours} >= TRACKS or not before["traceEvents"], path, "tracks")
        for category in ("paceline_stage", "paceline_resource"):  # they tile the device's time without a gap
            tiles = [(event["ts"], event["ts"] + event["dur"]) for event in ours if event.get("cat") == category]
            expect(all(end == start for (_, end), (start, _) in zip(tiles, tiles[1:])), path, category)


def rank(number, late_us, clock_us):
    """Two steps with an all-reduce that ends at once on both ranks; the later rank makes the other wait. Its clock is off."""
    events, at = [], 1000
    host, device = {"ph": "X", "pid": 77, "tid": 77}, {"ph": "X", "pid": 0, "tid": 7, "cat": "kernel"}
    events.append({"ph": "M", "name": "process_name", "pid": 77, "tid": 0, "ts": 0, "args": {"name": "python"}})
    for step in range(2):
        begin, number_of = at, 10 * step
        for k, (name, start, length) in enumerate((("gemm_kernel", 10, 500 + late_us), ("ncclDevKernel_AllReduce_Sum_f32", 520 + late_us, 1000 - late_us))):
            arrow = {"cat": "ac2g", "name": "ac2g", "id": number_of + k + 1}
            events += [
                {**host, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": begin + 2 * k + clock_us, "dur": 1, "args": {"correlation": number_of + k + 1}},
                {**device, "name": name, "ts": begin + start + clock_us, "dur": length,
                 "args": {"device": 0, "stream": 7, "correlation": number_of + k + 1, "Collective name": "allreduce", "Group size": 2, "grid": [1, 2, 3]}},
                {"ph": "s", "pid": 77, "tid": 77, "ts": begin + 2 * k + clock_us, **arrow},
                {"ph": "f", "pid": 0, "tid": 7, "ts": begin + start + clock_us, "bp": "e", **arrow},
            ]
        events.append({**host, "cat": "user_annotation", "name": f"ProfilerStep#{step}", "ts": begin + clock_us, "dur": 1600})
        at += 1600
    return {"distributedInfo": {"rank": number, "world_size": 2}, "traceEvents": events}


def test_ranks(folder):
    for number, late, clock in ((0, 0, 0), (1, 300, 5000)):
        with open(os.path.join(folder, f"r{number}.json"), "w") as file:
            file.write(json.dumps(rank(number, late, clock)))
    document = drawn(folder)
    events = document["traceEvents"]
    kernels = [event for event in events if event.get("cat") == "kernel" and event["name"].startswith("nccl")]
    ends = sorted(event["ts"] + event["dur"] for event in kernels)
    expect(len(kernels) == 4 and ends[0] == ends[1] and ends[2] == ends[3], "one clock: exchanges end together", ends)
    expect(len({event["pid"] for event in kernels}) == 2, "two processes")
    expect(all(event["args"]["grid"] == [1, 2, 3] for event in kernels), "arguments stay")
    arrows = {}
    for event in events:
        if event.get("cat") == "ac2g":
            arrows.setdefault(event["id"], []).append(event["ph"])
    expect(len(arrows) == 8 and all(sorted(ends) == ["f", "s"] for ends in arrows.values()), "arrows of two ranks stay apart", arrows)
    names = {event["args"]["name"] for event in events if event["name"] == "process_name"}
    expect({"rank 0 python", "rank 1 python", "Paceline: rank 0", "Paceline: rank 1"} <= names, names)
    path = [event for event in events if event.get("cat") == "paceline_critical_path"]
    expect(1 in {event["args"]["rank"] for event in path}, "the path runs on the rank that is late")
    joined = os.path.join(folder, "joined.perfetto.json")
    expect(run("analyze", folder, "-o", joined)[0] == 0, "write")
    code, _, err = run("analyze", joined)
    expect_line(code, err, 3, "expected the trace of one rank")
    one = drawn(folder, "--rank", "1")
    theirs = [event for event in one["traceEvents"] if not is_ours(event)]
    expect(theirs == rank(1, 300, 5000)["traceEvents"], "one rank alone is as it was")


def test_prediction(folder):
    """What is predicted of a trace is drawn, not the trace."""
    path = os.path.join(folder, "measured.json")
    with open(path, "w") as file:
        file.write(json.dumps({**rank(0, 0, 0), "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-40GB", "totalGlobalMem": 42505273344}]}))
    code, out, err = run("predict", path, "--scale", "gemm:3", "--format", "perfetto")
    expect(code == 0, err)
    lengths = {event["dur"] for event in json.loads(out)["traceEvents"] if event.get("cat") == "kernel" and event["name"] == "gemm_kernel"}
    expect(lengths == {1500}, "three times as long", lengths)


for test in (test_original, test_ranks, test_prediction):
    with tempfile.TemporaryDirectory() as scratch:
        test(scratch)
sys.exit(finish())
