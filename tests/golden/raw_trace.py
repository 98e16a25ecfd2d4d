"""The events of a recording as the profiler wrote them, read with Python's own JSON: what tables of analyze are held against."""
import collections
import gzip
import json
import os
import re
from decimal import Decimal

from checks import SHARED, json_of
import strict_schema

DEVICE = {"kernel": "kernel", "gpu_memcpy": "copy", "memcpy": "copy", "gpu_memset": "memset", "memset": "memset"}
CALLS = {"cuda_runtime", "cuda_driver", "runtime", "hip_runtime"}
RECORDINGS = ["hta_dlrm_8xA100_rank3_stacks", "hta_resnet_ddp_2xA100_rank0_ncclmeta", "hta_alexnet_1xA100_cudasync",
              "kineto_resnet50_1xV100_workers0", "tl_qwen05b_generate_1xh100", "tl_vit_infer_1xmi300", "tl_bert_small_infer_1xh100", "hta_minitoy_train_1xMI250"]


def ns(microseconds):
    """Exact: the trace writes decimals."""
    return int((Decimal(str(microseconds)) * 1000).to_integral_value(rounding="ROUND_HALF_EVEN"))


class Events:
    def __init__(self, path):
        with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
            document = json.load(file, parse_float=str)  # exact: "12.345"
        self.all = document["traceEvents"]
        complete = [e for e in self.all if e.get("ph") == "X"]
        self.device = [e for e in complete if e.get("cat", "").lower() in DEVICE]
        self.calls = [e for e in complete if e.get("cat", "").lower() in CALLS]
        self.of = lambda *names: [e for e in complete if e.get("cat", "").lower() in names]


def start(event):
    return ns(event["ts"])


def length(event):
    return ns(event.get("dur", 0))


def end(event):
    return start(event) + length(event)


def arguments(event):
    return {key.lower(): value for key, value in event.get("args", {}).items()}


def recordings():
    """Those of the shared data that are there, by name."""
    paths = {name: os.path.join(SHARED, "kineto", name + ".json.gz") for name in RECORDINGS}
    found = {name: path for name, path in paths.items() if os.path.exists(path)}
    if len(found) < len(paths):
        print("left out, not there:", sorted(set(paths) - set(found)))
    return found


def analyze(*words):
    answer = json_of("analyze", *words)
    strict_schema.hold(answer, "analyze")
    return answer


def near(a, b, relative=1e-9, absolute=0.51):
    """Equal but for the rounding to whole nanoseconds."""
    return (a is None and b is None) or (a is not None and b is not None and abs(a - b) <= absolute + relative * abs(b))


def plain(text):
    return re.sub(r"\s+", " ", text)


NESTED = ("cpu_op", "user_annotation", "python_function", "cuda_runtime", "cuda_driver")


class Node:
    def __init__(self, event, parent):
        self.event, self.parent, self.children = event, parent, []


def nest(events):
    """Every host event below the one around it; a child may outlive its parent by rounding, 2 us."""
    threads, roots = collections.defaultdict(list), []
    for event in events.of(*NESTED):
        threads[str(event["pid"]), str(event["tid"])].append(event)
    for thread in threads.values():
        thread.sort(key=lambda e: (start(e), -length(e), e["cat"].startswith("cuda_")))
        last = None
        for event in thread:
            while last and end(last.event) <= start(event):
                last = last.parent
            parent = last
            while parent and end(parent.event) + 2000 < end(event):
                parent = parent.parent
            last = Node(event, parent)
            (parent.children if parent else roots).append(last)
    return roots


def all_of(roots):
    waiting = list(roots)
    while waiting:
        node = waiting.pop()
        yield node
        waiting += node.children
