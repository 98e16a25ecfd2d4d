"""The critical path over all ranks: it goes on where a rank waited for another, on the one that was late."""
import glob
import json
import os
import subprocess
import sys
import tempfile

from checks import SHARED, expect, finish, json_of
import pipeline_trace as pipeline

MAKE_TRACE = os.environ["MAKE_TRACE"]
REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"


def analyze(*paths):
    return json_of("analyze", "--check", *paths)


def by_rank(document):
    return [row["time_ns"] for row in document["critical_path"]["by_rank"]]


def step_if_free(document, resource):
    return [row["step_if_free_ns"] for row in document["advice"] if row["resource"] == resource]


def check_identities(name, document, scope="all_ranks"):
    path = document["critical_path"]
    expect(path["scope"] == scope, name, "scope", path["scope"])
    expect(path["replay_error_ns"] == 0, name, "replayed starts are off by", path["replay_error_ns"])
    for key in ("by_resource",):
        expect(sum(path[key].values()) == path["length_ns"], name, key, "does not tile the step", path[key])
    expect(sum(by_rank(document)) == path["length_ns"], name, "the ranks' parts do not tile the step", path["by_rank"])
    expect(sum(row["time_ns"] for row in path["top"]) == path["length_ns"], name, "the top items do not add up")
    for row in document["advice"]:
        expect(0 <= row["step_if_free_ns"] <= path["length_ns"], name, "a free resource made the step longer", row)


def write_late(folder, late_us, skew_us):
    """Two ranks: compute, all-reduce, compute; the second one's first compute takes `late_us` longer."""
    first = [1000, 1000 + late_us]
    meet = 100 + max(first)
    for rank in range(2):
        kernels = [("ampere_sgemm_first", 7, 100, first[rank]), (REDUCE, 20, 100 + first[rank], meet + 200 - 100 - first[rank]),
                   ("ampere_sgemm_second", 7, meet + 200, 500)]
        events = []
        for i, (name, stream, start, took) in enumerate(kernels):
            events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
                           "ts": skew_us * rank + 10 * i, "dur": 5, "args": {"correlation": i + 1}})
            events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": stream, "ts": skew_us * rank + start,
                           "dur": took, "args": {"device": rank, "stream": stream, "correlation": i + 1}})
        events.append({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1,
                       "ts": skew_us * rank, "dur": meet + 800, "args": {}})
        pipeline.write(folder, rank, 2, events)
    return meet + 700


def check_late(folder):
    for late_us, skew_us in ((0, 0), (300, 0), (300, 77), (2500, -40)):
        name = f"late by {late_us} us"
        place = os.path.join(folder, f"late{late_us}_{skew_us}")
        length = write_late(place, late_us, skew_us) * 1000
        document = analyze(place, "--rank", "0")
        check_identities(name, document)
        expect(document["critical_path"]["length_ns"] == length, name, "length", document["critical_path"]["length_ns"], length)
        if late_us == 0:
            continue
        # The late rank from the step's begin to its arrival; then the transfer and the last compute of the slowest.
        expect(by_rank(document) == [700000, (1100 + late_us) * 1000], name, "by rank", by_rank(document))
        expect(document["critical_path"]["by_resource"]["balance_ns"] == 0, name, "still waits", document["critical_path"])
        expect(step_if_free(document, "balance") == [length - late_us * 1000], name, "balance", document["advice"])
        # Without compute the late rank is late no more: launch, gap and transfer are left.
        expect(step_if_free(document, "compute") == [length - (1500 + late_us) * 1000], name, "compute", document["advice"])
        # The rank alone still shows what it waited as communication.
        alone = analyze(os.path.join(place, "rank0.json"))
        expect(alone["critical_path"]["scope"] == "one_rank", name, "alone", alone["critical_path"]["scope"])


def write_barrier(folder, early_us, late_us):
    """Two ranks whose hosts work, meet in a barrier and then launch together: a product, an all-reduce."""
    meet = max(early_us, late_us) + 100
    for rank, own in enumerate((early_us, late_us)):
        events = []
        for step in range(3):
            at = step * (meet + 25000)
            kernels = [("ampere_sgemm_128x64", 7, 500, 15000), (REDUCE, 20, 15500, 8000)]
            host = [("user_annotation", f"ProfilerStep#{step}", 0, meet + 24900), ("cpu_op", "aten::work", 0, own),
                    ("cpu_op", "c10d::barrier", own, meet - own)]
            events += [{"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "ts": at + ts, "dur": took, "args": {}} for cat, name, ts, took in host]
            for i, (name, stream, start, took) in enumerate(kernels):
                number = 2 * step + i + 1
                events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
                               "ts": at + meet + 10 * i, "dur": 5, "args": {"correlation": number}})
                events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": stream, "ts": at + meet + start,
                               "dur": took, "args": {"device": rank, "stream": stream, "correlation": number}})
        pipeline.write(folder, rank, 2, events)


def check_barrier(folder):
    """Who waits in a host's barrier has not the time to save: the one who comes last has."""
    for early_us, late_us in ((5000, 25000), (20000, 20000)):
        place = os.path.join(folder, f"barrier{late_us - early_us}")
        write_barrier(place, early_us, late_us)
        document = analyze(place)
        said = " ".join(document["summary"])
        check_identities(place, document)
        expect("aten::work" in said and "c10d::barrier" not in said, place, said)
        if late_us > early_us:  # all of the host's time on the path is the late rank's
            expect("on rank 1" in said and step_if_free(document, "balance")[0] < document["critical_path"]["length_ns"] - 1000 * (late_us - early_us) + 1000000, place, said)


def check_pipeline(folder):
    stages, batches = 4, 8
    kernels = pipeline.simulate(stages, batches, lambda s, b: 1000000, lambda s, b: 2000000, 10000, 500000)
    for rank in range(stages):
        pipeline.write(folder, rank, stages, pipeline.events_of(kernels[rank], rank, stages, "kernel", 999 * rank))
    document = analyze(folder)
    check_identities("pipeline", document)
    path = document["critical_path"]["by_resource"]
    # A stage is idle (p-1)(t_f+t_b) of the step, and the path through all stages computes all the time.
    expect(path["compute_ns"] == (batches + stages - 1) * 3000000, "pipeline", "compute on the path", path)
    expect(path["balance_ns"] == 0 and path["network_ns"] % 10000 == 0, "pipeline", path)


def check_devices(folder):
    """One process, two devices: the host waits for the second before it gives the first its last kernel."""
    events = [{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 0, "dur": 1600, "args": {}}]
    rows = [("cudaLaunchKernel", 0, 4, 1, 20, 1000), ("cudaLaunchKernel", 5, 4, 0, 15, 50), ("cudaDeviceSynchronize", 30, 995, None, 0, 0),
            ("cudaLaunchKernel", 1030, 4, 0, 1040, 500)]
    for i, (name, start, took, device, begin, length) in enumerate(rows):
        events.append({"ph": "X", "cat": "cuda_runtime", "name": name, "pid": 1, "tid": 1, "ts": start, "dur": took,
                       "args": {"correlation": i + 1}})
        if device is not None:
            events.append({"ph": "X", "cat": "kernel", "name": "ampere_sgemm", "pid": device, "tid": 7, "ts": begin, "dur": length,
                           "args": {"device": device, "stream": 7, "correlation": i + 1}})
    document = analyze(pipeline.write(folder, 0, 1, events))
    check_identities("devices", document)
    on = {row["device_id"]: row["time_ns"] for row in document["critical_path"]["by_rank"]}
    expect(document["critical_path"]["by_resource"]["compute_ns"] == 1500000, "devices", document["critical_path"])
    # The second device's kernel and the launch before it; then the host, which counts with the first, and its kernel.
    expect(on == {0: 520000, 1: 1020000}, "devices", "the host's wait is not followed", on)


def check_knot(folder):
    """Two exchanges that each rank enters in the other order, at the same instants: no replay of both can be."""
    names = [[REDUCE + "_X", REDUCE + "_Y"], [REDUCE + "_Y", REDUCE + "_X"]]
    for rank in range(2):
        rows = [(REDUCE, 10 * i, 5) for i in range(5)] + [(names[rank][0], 100, 10), (names[rank][1], 110, 10)]
        events = [{"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": start, "dur": took,
                   "args": {"device": rank, "stream": 7}} for name, start, took in rows]
        pipeline.write(folder, rank, 2, events)
    document = analyze(folder)
    check_identities("knot", document, "knotted")


def check_generated(folder):
    """Data-parallel training of many events: every fourth rank is 4 % slower, and the path goes through one of those."""
    paths = []
    for rank in range(4):
        paths.append(os.path.join(folder, f"generated{rank}.json"))
        with open(paths[-1], "wb") as file:
            subprocess.run([MAKE_TRACE, "--ranks", "4", "--rank", str(rank), "--steps", "3", "--layers", "12", "--compact"],
                           stdout=file, stderr=subprocess.DEVNULL, check=True)
    document = analyze(*paths)
    check_identities("generated", document)
    expect(by_rank(document)[1] == max(by_rank(document)), "generated", "the slow rank is not on the path", by_rank(document))


BEGIN_NS = 1000000  # by then the host has launched all of it


def measured_pipeline(iteration):
    """Per stage its computes in order, as (start, end, kind, micro-batch) in ns: one iteration of a measured 1F1B of 8 stages."""
    stages = []
    for rank in range(8):
        with open(os.path.join(SHARED, "kineto", "primus_pp8", f"pp_rank_{rank}.json")) as file:
            row = json.load(file)[iteration]
        own = []
        for kind, key in (("F", "fwd"), ("B", "bwd")):
            for batch, (start, end) in enumerate(zip(row[key + "_start"], row[key + "_end"])):
                own.append((BEGIN_NS + round(start * 1e6), BEGIN_NS + round(end * 1e6), kind, batch))
        stages.append(sorted(own))
    return stages


def check_measured(folder):
    """The data hold computes only. A receive is taken to be posted when the compute before it ended, a send when its own did, and
    both to end when the compute that waits for them starts."""
    if not os.path.isdir(os.path.join(SHARED, "kineto", "primus_pp8")):
        print("skipped: the measured pipeline is not at hand")
        return
    for iteration in ("5", "12"):
        stages = measured_pipeline(iteration)
        kernels, binding = [[] for _ in stages], {}
        ended = {(s, kind, batch): end for s, own in enumerate(stages) for start, end, kind, batch in own}
        bubble = [0] * len(stages)
        for s, own in enumerate(stages):
            for i, (start, end, kind, batch) in enumerate(own):
                kernels[s].append(pipeline.Kernel("ampere_sgemm_" + kind, pipeline.COMPUTE, start, end))
                source = s - 1 if kind == "F" else s + 1
                before = own[i - 1][1] if i else BEGIN_NS
                binding[s, i] = (s, i - 1, before)
                if not 0 <= source < len(stages):
                    continue
                sent = ended[source, kind, batch]
                out, into = (pipeline.FORWARD_OUT, pipeline.FORWARD_IN) if kind == "F" else (pipeline.BACKWARD_OUT, pipeline.BACKWARD_IN)
                kernels[source].append(pipeline.Kernel("send", out, sent, start, (source, s)))
                kernels[s].append(pipeline.Kernel("recv", into, before, start, (source, s)))
                bubble[s] += max(0, sent - before)
                if sent > before:
                    binding[s, i] = (source, [row[2:] for row in stages[source]].index((kind, batch)), sent)
        place = os.path.join(folder, "measured" + iteration)
        for s, own in enumerate(kernels):
            own.sort(key=lambda k: k.start)
            # Sends on one stream follow each other; where a measured one begins before the last has ended it gets its own.
            free = {}
            for k in own:
                while k.message and free.get(k.stream, 0) > k.start:
                    k.stream += 100
                free[k.stream] = k.end
            pipeline.write(place, s, 8, pipeline.events_of(own, s, 8, "kernel", 0))
        document = analyze(place, "--rank", "0")
        name = "measured pipeline " + iteration
        check_identities(name, document)
        rank, own = 0, [0] * len(stages)
        i, compute = len(stages[0]) - 1, 0
        while i >= 0:
            start, end = stages[rank][i][:2]
            compute += end - start
            own[rank] += 1
            rank, i, _ = binding[rank, i]
        path = document["critical_path"]["by_resource"]
        expect(path["compute_ns"] == compute, name, "compute on the path", path, compute)
        expect([row["count"] > 0 for row in document["critical_path"]["by_rank"]] == [n > 0 for n in own], name, own)
        found = [row["waiting_ns"] for row in document["bubbles"]]
        expect(found[1:] == bubble[1:], name, "bubbles", found, bubble)
        length = document["critical_path"]["length_ns"]
        print(f"{name}: {compute / length:.1%} of the path computes, bubbles {min(found) / length:.1%} to {max(found) / length:.1%}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_late(folder)
        check_pipeline(os.path.join(folder, "pipeline"))
        check_devices(os.path.join(folder, "devices"))
        check_knot(os.path.join(folder, "knot"))
        check_barrier(folder)
        check_generated(folder)
        check_measured(folder)
    for place in ("chakra/dlrm_8xV100_kineto", ):
        if glob.glob(os.path.join(SHARED, place, "*.json.gz")):
            document = analyze(os.path.join(SHARED, place))
            check_identities(place, document)
            # Ranks 7, 5 and 4 were last (the data's own notes); their host decides when the collectives begin.
            balance = document["critical_path"]["by_resource"]["balance_ns"]
            expect(balance == 0, place, "still waits", balance)
            expect(any("wait for rank 7" in sentence for sentence in document["summary"]), place, "rank 7 was last", document["summary"])
    return finish()


sys.exit(main())
