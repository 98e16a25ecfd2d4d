"""Timelines of production jobs that others published, written as recordings: the report names the rank they name.

straggler_ST: 2 data-parallel replicas of 4 pipeline stages; its authors find the last stage slow: with that stage as fast as
the others most of the slowdown of 1.18 is gone. primus_pp8: 8 stages, of which the last also computes the loss.
"""
import collections
import csv
import gzip
import json
import os
import statistics
import sys
import tempfile

from checks import SHARED, expect, finish, run
from raw_trace import analyze

FOLDER = os.path.join(SHARED, "kineto")


class Recording:
    """One rank: the host launches a step's work at its begin, far ahead of the device."""

    def __init__(self, rank, world):
        self.rank, self.world, self.events, self.correlation = rank, world, [], 0

    def step(self, number, begin, end):
        self.events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{number}", "pid": 1, "tid": 1, "ts": round(begin - 50, 3),
                            "dur": round(end - begin + 40, 3)})
        self.now = begin - 40

    def kernel(self, name, stream, start, duration, **metadata):
        self.correlation += 1
        self.now = min(self.now + 0.2, start - 1)
        self.events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": round(self.now, 3), "dur": 0.1,
                            "args": {"correlation": self.correlation}})
        self.events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": stream, "ts": round(start, 3), "dur": round(duration, 3),
                            "args": {"device": 0, "stream": stream, "correlation": self.correlation, **metadata}})

    def exchange(self, what, stream, start, duration, group, name, source=None, target=None):
        kernel = {"allreduce": "AllReduce_Sum", "allgather": "AllGather", "reduce_scatter": "ReduceScatter_Sum"}.get(what, "SendRecv")
        ends = {"Src Rank": source, "Dst Rank": target} if source is not None else {"Process Group Ranks": str(group)}
        self.kernel("ncclDevKernel_" + kernel, stream, start, duration, **{"Collective name": what, "Group size": len(group), "Process Group Name": name,
                    "In msg nelems": 1 << 20, "Out msg nelems": 1 << 20, "dtype": "Float", **ends})

    def write(self, folder):
        path = os.path.join(folder, f"rank{self.rank}.json")
        with open(path, "w") as file:
            json.dump({"traceEvents": self.events, "distributedInfo": {"rank": self.rank, "world_size": self.world},
                       "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB"}]}, file)
        return path


COLLECTIVES = {"grads-reduce-scatter": "reduce_scatter", "params-all-gather": "allgather", "embedding-grads-all-reduce": "allreduce",
               "layernorm-grads-all-reduce": "allreduce", "optimizer-clip-main-grad": "allreduce"}


def straggler_job(folder, count=6):
    """Rank = stage * 2 + replica. Steps stand one behind the other: the recording samples them."""
    with gzip.open(os.path.join(FOLDER, "straggler_ST", "trace-ST.csv.gz"), "rt") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row.update(start=1e6 * float(row["start_ts"]), long=1e6 * float(row["duration"]), stage=int(row["stage"]), replica=int(row["dp_rank"]), step=int(row["step"]))
    at, place = 1e6, {}
    for step in sorted({row["step"] for row in rows})[:count]:
        own = [row for row in rows if row["step"] == step]
        first, last = min(r["start"] for r in own), max(r["start"] + r["long"] for r in own)
        place[step], at = at - first, at + last - first + 1000
    ranks = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in rows:
        if row["step"] in place and row["optype"] != "gc":
            ranks[row["stage"], row["replica"]][row["step"]].append(row)
    paths = []
    for (stage, replica), steps in ranks.items():
        out, me = Recording(stage * 2 + replica, 8), stage * 2 + replica
        for step, own in steps.items():
            own.sort(key=lambda r: r["start"])
            out.step(step, place[step] + own[0]["start"], place[step] + max(r["start"] + r["long"] for r in own))
            for row in own:
                kind, start = row["optype"], place[step] + row["start"]
                if kind.endswith("compute"):
                    out.kernel("ampere_gemm_" + kind, 7, start, row["long"])
                elif kind == "optimizer":
                    out.kernel("multi_tensor_optimizer", 7, start, row["long"])
                elif kind in COLLECTIVES:
                    group = [me - replica, me - replica + 1]
                    if kind.startswith("embedding"):
                        group = [replica, 6 + replica]
                    elif kind.startswith("optimizer"):
                        group = list(range(8))
                    out.exchange(COLLECTIVES[kind], 22, start, row["long"], group, kind + str(group))
                else:
                    forward, sends = kind.startswith("forward"), kind.endswith("send")
                    peer = me + (2 if forward == sends else -2)
                    ends = (me, peer) if sends else (peer, me)
                    out.exchange("send" if sends else "recv", 20 if forward else 21, start, row["long"], sorted(ends), f"{kind[0]}{sorted(ends)}", *ends)
        paths.append(out.write(folder))
    return paths


def pipeline_job(folder, count=5):
    """Between stages a message ends when the receiver begins to compute; the receiver waits for it from its last work on."""
    stages = []
    for rank in range(8):
        with open(os.path.join(FOLDER, "primus_pp8", f"pp_rank_{rank}.json")) as file:
            stages.append(json.load(file))
    outs, at = [Recording(rank, 8) for rank in range(8)], 1e6
    for number in map(str, range(4, 4 + count)):
        own = [stage[number] for stage in stages]
        for rank, out in enumerate(outs):
            o = own[rank]
            out.step(int(number), at, at + 1e3 * max(o["bwd_end"]))
            for kind, peer in (("fwd", rank - 1), ("bwd", rank + 1)):
                for m, (begin, end) in enumerate(zip(o[kind + "_start"], o[kind + "_end"])):
                    out.kernel(f"ampere_gemm_{kind}", 7, at + 1e3 * begin, 1e3 * (end - begin))
                    for other, sends in ((peer, False), (2 * rank - peer, True)):
                        if not 0 <= other < 8:
                            continue
                        begins = own[other][kind + "_start"][m] if sends else begin
                        start = end if sends else max([e for e in o["fwd_end"] + o["bwd_end"] if e <= begin], default=0)
                        ends = (rank, other) if sends else (other, rank)
                        out.exchange("send" if sends else "recv", 20 + 2 * sends + (kind == "bwd"), at + 1e3 * start, 1e3 * max(begins - start, 0.001), sorted(ends),
                                     f"{kind}{sorted(ends)}", *ends)
        at += 1e3 * max(max(o["bwd_end"]) for o in own) + 5000
    for out in outs:
        out.events.sort(key=lambda e: e["ts"])
    return [out.write(folder) for out in outs]


def test_straggler(folder):
    with open(os.path.join(FOLDER, "straggler_ST", "result-ST.json")) as file:
        verdict = json.load(file)["blocking_decompose_by_stage"]
    slow = int(max(verdict, key=verdict.get))
    expect(slow == 3, "their verdict", verdict)
    paths = straggler_job(folder)
    answer, lead = analyze(*paths), run("analyze", *paths)[1]
    expect(answer["slowest_rank"] // 2 == slow, "reported rank", answer["slowest_rank"])
    late = lead.split("The others wait for ")[1]
    expect(late.startswith((f"rank {2 * slow} and 1 more", f"rank {2 * slow + 1} and 1 more")), "both ranks of the stage", late[:80])
    rows = sorted(answer["balance"], key=lambda r: -r["compute_ns"])
    expect({row["rank"] // 2 for row in rows[:2]} == {slow}, "most compute", rows[:2])


def test_pipeline(folder):
    work = []
    for rank in range(8):
        with open(os.path.join(FOLDER, "primus_pp8", f"pp_rank_{rank}.json")) as file:
            stage = json.load(file)
        work.append(statistics.median(sum(o["fwd_end"]) - sum(o["fwd_start"]) + sum(o["bwd_end"]) - sum(o["bwd_start"]) for o in
                                      (stage[str(n)] for n in range(4, 9))))
    slow = work.index(max(work))
    paths = pipeline_job(folder)
    answer, lead = analyze(*paths), run("analyze", *paths)[1]
    expect(slow == 7 and answer["slowest_rank"] == slow, "the stage with most work", work, answer["slowest_rank"])
    expect(f"The others wait for rank {slow}" in lead, "lead", lead[:600])
    bubbles = {row["rank"]: row for row in answer["bubbles"]}
    expect(min(bubbles, key=lambda r: bubbles[r]["share"]) == slow, "waits least", {r: b["share"] for r, b in bubbles.items()})


if not os.path.exists(os.path.join(FOLDER, "straggler_ST")):
    print("left out, not there:", FOLDER)
else:
    for test in (test_straggler, test_pipeline):
        with tempfile.TemporaryDirectory() as folder:
            test(folder)
sys.exit(finish())
