"""Traces of several ranks with waits that are known by construction, as the PyTorch profiler would write them.

A pipeline runs 1F1B: each stage warms up with forwards, then alternates, then drains. A receive is posted when the compute
before it has ended, a send when its own compute has; both kernels end together, `transfer` after the later began. Times
are integer nanoseconds.
"""
import os

import trace_files

COMPUTE, FORWARD_IN, FORWARD_OUT, BACKWARD_IN, BACKWARD_OUT = 7, 13, 17, 21, 25
LAUNCH_NS = 4000


class Kernel:
    def __init__(self, name, stream, start, end, message=None):
        self.name, self.stream, self.start, self.end, self.message = name, stream, start, end, message


def order_of(stage, stages, batches):
    warm = min(stages - stage - 1, batches)
    order = [("F", i) for i in range(warm)]
    for i in range(batches - warm):
        order += [("F", warm + i), ("B", i)]
    return order + [("B", i) for i in range(batches - warm, batches)]


def simulate(stages, batches, forward, backward, transfer, begin):
    """forward(stage, batch), backward(stage, batch): durations. Returns each stage's kernels, by start."""
    kernels = [[] for _ in range(stages)]
    orders = [order_of(s, stages, batches) for s in range(stages)]
    done = [0] * stages  # compute ops of each stage that are placed
    at = [begin] * stages  # end of the last of them
    posted = {}  # (kind, batch, receiver): when its receive was posted
    sent = {}  # (kind, batch, receiver): (sender, when)
    arrived = {}
    stream_free = {}
    more = True
    while more:
        more = False
        for s in range(stages):
            if done[s] == len(orders[s]):
                continue
            kind, batch = orders[s][done[s]]
            source = s - 1 if kind == "F" else s + 1
            key = (kind, batch, s)
            if 0 <= source < stages:
                posted.setdefault(key, at[s])
                if key not in sent:
                    continue
                if key not in arrived:
                    ready = sent[key]
                    out = (source, FORWARD_OUT if kind == "F" else BACKWARD_OUT)
                    ready = max(ready, stream_free.get(out, 0))
                    end = max(posted[key], ready) + transfer
                    stream_free[out] = arrived[key] = end
                    streams = (FORWARD_OUT, FORWARD_IN) if kind == "F" else (BACKWARD_OUT, BACKWARD_IN)
                    kernels[source].append(Kernel("send", streams[0], ready, end, (source, s)))
                    kernels[s].append(Kernel("recv", streams[1], posted[key], end, (source, s)))
            start = max(at[s], arrived.get(key, 0))
            took = forward(s, batch) if kind == "F" else backward(s, batch)
            name = "ampere_sgemm_forward" if kind == "F" else "ampere_sgemm_backward"
            kernels[s].append(Kernel(name, COMPUTE, start, start + took))
            at[s] = start + took
            to = s + 1 if kind == "F" else s - 1
            if 0 <= to < stages:
                sent[(kind, batch, to)] = at[s]
            done[s] += 1
            more = True
    assert done == [len(order) for order in orders], "the pipeline does not finish"
    return [sorted(own, key=lambda k: k.start) for own in kernels]


def union(intervals):
    merged = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        elif end > start:
            merged.append([start, end])
    return merged


def length(intervals):
    return sum(end - start for start, end in intervals)


def args_of_message(kernel, rank, ranks, elements):
    sends = kernel.name == "send"
    args = {"Collective name": "send" if sends else "recv", "In msg nelems": elements, "Out msg nelems": elements,
            "Group size": ranks, "dtype": "BFloat16", "Process Group Name": "7",
            "Process Group Ranks": "[" + ", ".join(str(r) for r in range(ranks)) + "]"}
    args["Dst Rank" if sends else "Src Rank"] = kernel.message[1 if sends else 0]
    return args


def title_of_message(kernel):
    source, destination = kernel.message
    return f"nccl:send {source}->{destination}" if kernel.name == "send" else f"nccl:recv {destination}<-{source}"


def events_of(kernels, rank, ranks, style, skew, elements=1 << 20):
    """style: where the messages are told: 'kernel', 'record' (record_param_comms), 'title' (the range around a launch), or
    'batch' (kernels that start and end as one are one kernel, launched after the records of all its messages)."""
    events, correlation, host = [], [0], [0]

    def add(cat, name, tid, start, duration, pid=100, **args):
        events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": (start + skew) / 1000,
                       "dur": duration / 1000, "args": args})

    def launch(name, kernel, args):
        correlation[0] += 1
        add("cuda_runtime", "cudaLaunchKernel", 1, host[0], 1000, correlation=correlation[0])
        add("kernel", name, kernel.stream, kernel.start, kernel.end - kernel.start, pid=0, device=rank,
            stream=kernel.stream, correlation=correlation[0], **args)

    for kernel in kernels:
        if kernel.message is None:
            add("cpu_op", "aten::mm" if "forward" in kernel.name else "MmBackward0", 1, host[0], 1500)
            launch(kernel.name, kernel, {})
            host[0] += LAUNCH_NS
            continue
        told = args_of_message(kernel, rank, ranks, elements)
        name = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"
        if style == "record":
            add("cpu_op", "record_param_comms", 1, host[0], 3000, **told)
        if style in ("record", "title"):
            add("user_annotation", title_of_message(kernel), 1, host[0], 2500)
        if style == "batch":
            add("cpu_op", "record_param_comms", 1, host[0], 500, **told)
            add("user_annotation", "nccl:coalesced", 1, host[0] + 700, 2500)
            host[0] += 800
        launch(name, kernel, told if style == "kernel" else {})
        host[0] += LAUNCH_NS
    end = max(k.end for k in kernels)
    add("user_annotation", "ProfilerStep#1", 1, 0, end + 1000)
    return events


def write(folder, rank, ranks, events):
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"rank{rank}.json")
    devices = [{"id": i, "name": "NVIDIA A100-SXM4-40GB", "totalGlobalMem": 42298834944} for i in range(8)]
    return trace_files.write(path, {"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": ranks},
                                    "deviceProperties": devices, "traceEvents": events})
