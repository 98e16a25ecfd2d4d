"""Messages between pipeline stages: the waits that traces hold by construction, and those of a measured pipeline."""
import csv
import gzip
import os
import subprocess
import sys
import tempfile

import pipeline_trace as pipeline
from checks import PACELINE, SHARED, expect, finish, json_of


def analyze(*paths):
    return json_of("analyze", "--check", *paths)


def waits_by_pair(kernels):
    """(source, destination) -> what its sender and its receiver wait, from the kernels themselves."""
    waits, sends, receives = {}, {}, {}
    for own in kernels:
        for kernel in own:
            if kernel.message:
                side = sends if kernel.name == "send" else receives
                side.setdefault(kernel.message, []).append((kernel.start, kernel.end))
    for pair in sends:
        rows = list(zip(sends[pair], receives[pair]))
        waits[pair] = (sum(max(0, r[0] - s[0]) for s, r in rows), sum(max(0, s[0] - r[0]) for s, r in rows))
    return waits


def check_pairs(name, document, expected):
    found = {(row["source"], row["destination"]): (row["source_wait_ns"], row["destination_wait_ns"])
             for row in document["point_to_point"]}
    expect(found == expected, name, "waits by pair", found, expected)


def check_styles(folder):
    stages, batches = 4, 8
    kernels = pipeline.simulate(stages, batches, lambda s, b: 1000000 + 1000 * s, lambda s, b: 2000000, 10000, 400000)
    expected = waits_by_pair(kernels)
    for style in ("kernel", "record", "title", "batch"):
        for rank in range(stages):
            events = pipeline.events_of(kernels[rank], rank, stages, style, 12345 * rank)
            pipeline.write(os.path.join(folder, style), rank, stages, events)
        document = analyze(os.path.join(folder, style))
        shifts = [rank["clock_shift_ns"] for rank in document["ranks"]]
        expect(shifts == [-12345 * rank for rank in range(stages)], style, "clocks", shifts)
        check_pairs(style, document, expected)
        for rank, row in enumerate(document["bubbles"]):
            everything = pipeline.length(pipeline.union([(k.start, k.end) for k in kernels[rank]]))
            compute = pipeline.length(pipeline.union([(k.start, k.end) for k in kernels[rank] if not k.message]))
            last = max(k.end for k in kernels[rank] if not k.message)
            after = pipeline.length(pipeline.union([(max(k.start, last), k.end) for k in kernels[rank] if k.end > last]))
            expect(row["waiting_ns"] + row["exposed_ns"] == everything - compute - after, style, "bubbles", rank, row)
        matrix = document["matrix"]
        idle = sum(row["idle_rank_ns"] for row in matrix.values())
        slowest = document["slowest_rank"]
        expect(idle == document["bubbles"][slowest]["waiting_ns"], style, "matrix and bubbles disagree", idle)
    # A rank alone: nothing can be matched, and all of it is exposed.
    alone = analyze(os.path.join(folder, "record", "rank1.json"))
    expect(all(row["transfer_ns"] is None for row in alone["point_to_point"]), "alone", alone["point_to_point"])
    expect(len(alone["point_to_point"]) == 4, "alone", "pairs", len(alone["point_to_point"]))
    expect(sum(row["idle_rank_ns"] for row in alone["matrix"].values()) == 0, "alone", "waiting without the others")
    expect(alone["bubbles"][0]["exposed_ns"] > 0, "alone", "exposed", alone["bubbles"])


def check_round_trip(folder):
    """The trace that analyze writes for Perfetto holds the messages as the one it read."""
    for style in ("kernel", "record", "title", "batch"):
        path = os.path.join(folder, style, "rank1.json")
        run = subprocess.run([PACELINE, "analyze", "--format", "perfetto", path], capture_output=True, text=True)
        again = os.path.join(folder, "again.json")
        with open(again, "w") as file:
            file.write(run.stdout)
        before, after = analyze(path), analyze(again)
        for key in ("point_to_point", "bubbles"):
            expect(before[key] == after[key] and before[key], "round trip", style, key, before[key], after[key])


def check_closed_form(folder):
    """The first stage of 1F1B over p stages is idle (p-1)(t_f + t_b) a step (Narayanan et al., SC'21, section 2.2)."""
    for stages, batches in ((2, 3), (4, 8), (8, 16)):
        kernels = pipeline.simulate(stages, batches, lambda s, b: 1000000, lambda s, b: 2000000, 10, 1000000)
        place = os.path.join(folder, f"closed{stages}")
        for rank in range(stages):
            pipeline.write(place, rank, stages, pipeline.events_of(kernels[rank], rank, stages, "kernel", 0))
        row = analyze(place)["bubbles"][0]
        off = row["waiting_ns"] - (stages - 1) * 3000000
        expect(abs(off) < 10 * 4 * (batches + stages), "closed form", stages, batches, row, off)


def kernel(rank, stream, start, end, name, correlation, **args):
    return {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": stream, "ts": start, "dur": end - start,
            "args": {"device": rank, "stream": stream, "correlation": correlation, **args}}


def host(cat, name, start, duration, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "ts": start, "dur": duration, "args": args}


SENDRECV = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"


def batched(rank, start, end, messages):
    """One kernel for several messages: their records, then the launch."""
    events = []
    for i, (what, peer) in enumerate(messages):
        args = {"Collective name": what, "In msg nelems": 8, "dtype": "Float", "Process Group Name": "0",
                "Process Group Ranks": "[0, 1, 2]", "Dst Rank" if what == "send" else "Src Rank": peer}
        events.append(host("cpu_op", "record_param_comms", 10 + 2 * i, 1, **args))
    events.append(host("user_annotation", "nccl:coalesced", 30, 5))
    events.append(host("cuda_runtime", "cudaLaunchKernel", 31, 1, correlation=1))
    events.append(kernel(rank, 9, start, end, SENDRECV, 1))
    return events


def check_batches(folder):
    """Three ranks, each with one kernel; the middle one sends to and receives from both others."""
    place = os.path.join(folder, "batches")
    pipeline.write(place, 0, 3, batched(0, 100, 200, [("send", 1), ("recv", 1)]))
    pipeline.write(place, 1, 3, batched(1, 120, 200, [("recv", 0), ("send", 0), ("send", 2), ("recv", 2)]))
    pipeline.write(place, 2, 3, batched(2, 160, 200, [("recv", 1), ("send", 1)]))
    document = analyze(place)
    check_pairs("batch", document, {(0, 1): (20000, 0), (1, 0): (0, 20000), (1, 2): (40000, 0), (2, 1): (0, 40000)})
    waiting = [row["waiting_ns"] for row in document["bubbles"]]
    expect(waiting == [20000, 40000, 0], "batch", "waits until its last peer came", waiting)
    expect([row["bytes"] for row in document["point_to_point"]] == [32] * 4, "batch", "bytes")


def check_buffered(folder):
    """A send that was over before its receive began waited for nobody; nor did the receive."""
    place = os.path.join(folder, "buffered")
    for rank, start, end, args in ((0, 100, 110, {"Collective name": "send", "Dst Rank": 1}),
                                   (1, 500, 510, {"Collective name": "recv", "Src Rank": 0})):
        both = {"Collective name": "allreduce", "Group size": 2}
        pipeline.write(place, rank, 2, [kernel(rank, 9, start, end, SENDRECV, 0, **args),
                                        kernel(rank, 9, 1000, 1100, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, **both)])
    document = analyze(place)
    check_pairs("buffered", document, {(0, 1): (0, 0)})
    expect(document["ranks"][1]["clock_shift_ns"] == 0, "buffered", "clock")


def check_all_to_all(folder):
    """All-to-all runs the same kernel as a send and a receive, and is a collective all the same."""
    place = os.path.join(folder, "a2a")
    for rank in range(2):
        events = [host("user_annotation", "nccl:all_to_all", 10, 10), host("cuda_runtime", "cudaLaunchKernel", 11, 1, correlation=1),
                  kernel(rank, 9, 100 + 50 * rank, 200, SENDRECV, 1)]
        pipeline.write(place, rank, 2, events)
    document = analyze(place)
    expect(document["point_to_point"] == [], "all-to-all", "taken for messages", document["point_to_point"])
    expect([row["last_rank"] for row in document["collectives"]] == [1], "all-to-all", document["collectives"])


def check_titles(folder):
    """The ranks of a title count inside their group: between the ranks 4 and 6 of the world these are 0 and 1. Where the group's
    members are not told, a title is believed only where the own rank stands for itself."""
    for name, told, expected in (("told", {"Collective name": "", "Process Group Ranks": "[4, 6]"}, {(4, 6): (0, 3000)}),
                                 ("not told", None, {})):
        place = os.path.join(folder, "titles " + name)
        for number, title, start in ((4, "nccl:send 0->1", 103), (6, "nccl:recv 1<-0", 100)):
            events = [host("user_annotation", title, 12, 6), host("cuda_runtime", "cudaLaunchKernel", 14, 1, correlation=1),
                      kernel(number, 9, start, 200, SENDRECV, 1)]
            if told:
                args = dict(told, **{"Collective name": title[5:9]})
                events.append(host("cpu_op", "record_param_comms", 11, 8, **args))
            pipeline.write(place, number, 8, events)
        document = analyze(place)
        found = {(row["source"], row["destination"]): (row["source_wait_ns"], row["destination_wait_ns"])
                 for row in document["point_to_point"] if row["transfer_ns"] is not None}
        expect(found == expected, "titles", name, document["point_to_point"])
        expect(sum(row["messages"] for row in document["point_to_point"]) == (1 if told else 2), "titles", name, "count")


def check_told_by_times(folder):
    """Without a word on who sends to whom, a send belongs to the receive that ends when it does, as with the ranks told; where the clocks of
    the kernels do not tell, none does."""
    for name, moved, matched in (("together", 0, 20), ("apart", 400, 0)):
        place = os.path.join(folder, "times " + name)
        for rank, title in enumerate(("nccl:send 0->1", "nccl:recv 1<-0")):
            events = []
            for number in range(20):
                at, late = 1000 * number, 300 if rank == 0 else 0
                events += [host("user_annotation", title, at + 2, 6), host("cuda_runtime", "cudaLaunchKernel", at + 4, 1, correlation=number + 1),
                           kernel(rank, 9, at + 100 + late, at + 500 + (moved if rank == 0 else 0), SENDRECV, number + 1)]
            pipeline.write(place, rank + 4, 8, events)
        told = analyze(place)["messages"]
        expect(len(told) == matched, "told by times", name, len(told))
        expect(all(row["destination_wait_ns"] == 300000 and row["source_wait_ns"] == 0 for row in told), "told by times", name, told[:2])


def check_groups(folder):
    """Two pairs of ranks reduce each among themselves: a collective joins the members of its group only."""
    place = os.path.join(folder, "groups")
    for rank in range(4):
        pair = [rank % 2, rank % 2 + 2]
        args = {"Collective name": "allreduce", "Group size": 2, "Process Group Ranks": str(pair), "dtype": "Float",
                "In msg nelems": 4}
        name, start, end = "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 100 + 10 * rank, 300 + 7 * (rank % 2)
        pipeline.write(place, rank, 4, [kernel(rank, 9, start, end, name, 0, **args)])
        pipeline.write(place + "_host", rank, 4, [host("cpu_op", "record_param_comms", 10, 10, **args),
                                                  host("cuda_runtime", "cudaLaunchKernel", 11, 1, correlation=1),
                                                  kernel(rank, 9, start, end, name, 1)])
    for told in (place, place + "_host"):
        found = [(row["last_rank"], row["wait_ns"], row["bytes"]) for row in analyze(told)["collectives"]]
        expect(found == [(2, 10000, 16), (3, 10000, 16)], "groups", told, found)


def measured_rank(rows, rank, stages):
    """One step of a production job, operation by operation, as kernels: computes, sends and receives."""
    events = []
    for row in rows:
        kind = row["optype"]
        stage, dp = int(row["stage"]), int(row["dp_rank"])
        start = round(float(row["start_ts"]) * 1e6, 3)
        duration = round(float(row["duration"]) * 1e6, 3)
        if kind.endswith("compute"):
            name = "ampere_sgemm_forward" if kind.startswith("f") else "ampere_sgemm_backward"
            events.append(kernel(rank, 7, start, start + duration, name, 0))
            continue
        sends = kind.endswith("send")
        ahead = kind.startswith("forward") == sends
        peer = dp * stages + stage + (1 if ahead else -1)
        args = {"Collective name": "send" if sends else "recv", "Process Group Name": kind.split("-")[0],
                "Dst Rank" if sends else "Src Rank": peer}
        event = kernel(rank, 20 + len(kind), start, start + duration, SENDRECV, 0, **args)
        event["dur"] = duration
        events.append(event)
    return events


def check_measured(folder):
    path = os.path.join(SHARED, "kineto", "straggler_ST", "trace-ST.csv.gz")
    if not os.path.exists(path):
        print("skipped: the measured pipeline is not at hand")
        return
    with gzip.open(path, "rt") as file:
        rows = [row for row in csv.DictReader(file)]
    step = rows[0]["step"]
    kinds = ("forward-compute", "backward-compute", "forward-send", "forward-recv", "backward-send", "backward-recv")
    ranks = {}
    for row in rows:
        if row["step"] == step and row["optype"] in kinds:
            ranks.setdefault(int(row["dp_rank"]) * 4 + int(row["stage"]), []).append(row)
    place = os.path.join(folder, "measured")
    written = {}
    for rank, own in ranks.items():
        written[rank] = measured_rank(own, rank, 4)
        pipeline.write(place, rank, 8, written[rank])
    document = analyze(place)
    expect(len(document["ranks"]) == 8, "measured", "ranks", len(document["ranks"]))
    shift = {rank["rank"]: rank["clock_shift_ns"] for rank in document["ranks"]}
    sides = {}
    for rank, events in written.items():
        for event in sorted(events, key=lambda e: e["ts"]):
            args = event["args"]
            if "Collective name" not in args:
                continue
            sends = args["Collective name"] == "send"
            key = (rank, args["Dst Rank"]) if sends else (args["Src Rank"], rank)
            start, duration = round(event["ts"] * 1000) + shift[rank], round(event["dur"] * 1000)
            sides.setdefault((key, args["Process Group Name"]), ([], []))[0 if sends else 1].append((start, start + duration))
    expected, messages = {}, 0
    for (pair, group), (sent, received) in sides.items():
        expect(len(sent) == len(received), "measured", pair, group, len(sent), len(received))
        own = [0, 0]
        for s, r in zip(sent, received):
            messages += 1
            if s[0] < r[0] < s[1]:
                own[0] += r[0] - s[0]
            if r[0] < s[0] < r[1]:
                own[1] += s[0] - r[0]
        expected[pair + (group,)] = tuple(own)
    found = {(row["source"], row["destination"], row["group"]): (row["source_wait_ns"], row["destination_wait_ns"])
             for row in document["point_to_point"]}
    expect(found == expected, "measured", found, expected)
    expect(messages == len(document["messages"]), "measured", "messages", messages, len(document["messages"]))
    print(f"measured pipeline: {messages} messages of 8 ranks, waiting "
          f"{sum(sum(w) for w in expected.values()) / 1e6:.1f} ms in all")


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_styles(folder)
        check_round_trip(folder)
        check_closed_form(folder)
        check_batches(folder)
        check_buffered(folder)
        check_all_to_all(folder)
        check_titles(folder)
        check_told_by_times(folder)
        check_groups(folder)
        check_measured(folder)
    return finish()


sys.exit(main())
