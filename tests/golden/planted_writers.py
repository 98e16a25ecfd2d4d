"""The planted recordings in other shapes: as an export of Nsight Systems, without what links work to its call, without marks of steps, in
pairs of begin and end, of ranks that recorded other numbers of steps, and of one rank alone.
"""
import os
import sqlite3

import nsys_export
from trace_files import read, write


def as_export(path, _):
    """Python's frames are no part of an export; a driver's calls stand among the runtime's."""
    document = read(path)
    events = [{**e, "cat": e["cat"].replace("driver", "runtime")} for e in document["traceEvents"] if e["cat"] != "python_function"]
    return nsys_export.export(path.split(".json")[0] + ".sqlite", "2026", events, document["deviceProperties"], 1)


def apart(path, number):
    """An export of one of two nodes of 8 ranks, whose clocks are 3.7 ms apart."""
    written = as_export(path, number)
    with sqlite3.connect(written) as db:
        db.execute("UPDATE TARGET_INFO_SESSION_START_TIME SET utcEpochNs = utcEpochNs + ?", [number // 8 * 3_700_000])
    return written


def as_plain_export(path, number):
    """An export without PyTorch's ranges: of exchanges it has those that NCCL opens around ncclSend() and ncclRecv()."""
    document, own = read(path), {"nccl:send": "ncclSend", "nccl:recv": "ncclRecv"}
    for event in document["traceEvents"]:
        event["name"] = own.get(event["name"].split(" ")[0], event["name"])
    document["traceEvents"] = [e for e in document["traceEvents"] if e["cat"] != "cpu_op" and not e["name"].startswith("nccl:")]
    write(path, document)
    return as_export(path, number)


def edited(edit):
    def rewrite(path, number):
        document = read(path)
        document["traceEvents"] = edit(document["traceEvents"], number)
        write(path, document)
        return path
    return rewrite


@edited
def unlinked(events, _):
    """No correlations."""
    for event in events:
        event["args"].pop("correlation", None)
    return events


@edited
def drifting(events, number):
    """Ranks in containers whose clocks began seconds apart and run 200 parts in a million apart from one to the next."""
    for event in events:
        event["ts"] = round(event["ts"] * (1 + 2e-4 * number) + 1.7e6 * number, 3)
        event["dur"] = round(event["dur"] * (1 + 2e-4 * number), 3)
    return events


def nodes(path, number):
    """Two nodes: the clock of the second is 12.4 s ahead and 30 parts in a million too fast."""
    document = read(path)
    if 2 * number >= document["distributedInfo"]["world_size"]:
        for event in document["traceEvents"]:
            event["ts"] = round(event["ts"] * (1 + 3e-5) + 12.4e6, 3)
    write(path, document)
    return path


def first_two(path, number):
    """Of all ranks two were recorded."""
    return path if number < 2 else None


@edited
def unmarked(events, _):
    return [e for e in events if not e["name"].startswith("ProfilerStep#")]


@edited
def in_pairs(events, _):
    """Host events as begin and end."""
    host = [e for e in events if e["pid"] == 1]
    begins = [{**e, "ph": "B"} for e in host]
    ends = [{"ph": "E", "pid": e["pid"], "tid": e["tid"], "ts": round(e["ts"] + e["dur"], 3)} for e in host]
    for event in begins:
        del event["dur"]
    order = {"E": 0, "B": 1}
    pairs = sorted(begins + ends[::-1], key=lambda e: (e["ts"], order[e["ph"]]))
    return pairs + [e for e in events if e["pid"] != 1]


@edited
def uneven(events, number):
    """The k-th rank began to record one or two steps late: of its first steps nothing is there."""
    marks = sorted(e["ts"] for e in events if e["name"].startswith("ProfilerStep#"))
    begin = marks[number % 3]
    kept = {e["args"].get("correlation") for e in events if e["pid"] == 1 and e["ts"] >= begin}
    return [e for e in events if (e["ts"] >= begin if e["pid"] == 1 else e["args"]["correlation"] in kept)]


def arrow_of(event, phase):
    return {"ph": phase, "id": event["args"]["correlation"], "pid": event["pid"], "tid": event["tid"], "ts": event["ts"], "cat": "ac2g", "name": "ac2g", "bp": "e"}


def on_device(mark, calls, work):
    """The annotation around what a range of the host launched, stream by stream."""
    own = [e for e in work if mark["ts"] <= calls.get(e["args"].get("correlation"), -1) < mark["ts"] + mark["dur"]]
    for stream in sorted({e["tid"] for e in own}):
        begin = min(e["ts"] for e in own if e["tid"] == stream)
        end = max(e["ts"] + e["dur"] for e in own if e["tid"] == stream)
        yield {**mark, "cat": "gpu_user_annotation", "pid": 0, "tid": stream, "ts": begin, "dur": round(end - begin, 3)}


@edited
def dressed(events, number):
    """With all that PyTorch's profiler writes beside: process numbers, times since 1970, external ids, arrows, annotations of the device."""
    for place, event in enumerate(events):
        event["ts"] = round(event["ts"] + 5.8e12, 3)
        event["args"]["External id"] = place + 1
        if event["pid"] == 1:
            event["pid"], event["tid"] = 4711 + number, 4711 + number + event["tid"] - 100
    launches = [e for e in events if e["cat"] == "cuda_runtime" and "correlation" in e["args"]]
    work = [e for e in events if e["pid"] == 0 and "correlation" in e["args"]]
    calls = {e["args"]["correlation"]: e["ts"] for e in launches}
    marks = [mark for e in events if e["cat"] == "user_annotation" for mark in on_device(e, calls, work)]
    span = {"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch Profiler", "ts": events[0]["ts"], "dur": 1e6, "args": {}}
    return events + [arrow_of(e, "s") for e in launches] + [arrow_of(e, "f") for e in work] + marks + [span]


def alone(path, number):
    """The first rank's recording alone."""
    return None if number else path


SHAPES = {"alone": alone, "apart": apart, "dressed": dressed, "drifting": drifting, "first_two": first_two, "nodes": nodes, "nsys": as_export, "plain_nsys": as_plain_export, "unlinked": unlinked, "unmarked": unmarked, "pairs": in_pairs, "uneven": uneven}


def rewrite(paths, shape):
    """Writes the recordings in another shape; returns their paths."""
    written = list(filter(None, (SHAPES[shape](path, number) for number, path in enumerate(paths))))
    for path in set(paths) - set(written):
        os.remove(path)
    return written
