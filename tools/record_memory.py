#!/usr/bin/env python3
"""Records small training runs on the CPU with PyTorch's profiler, and what PyTorch's own memory profiler says each byte is held for.

python3 tools/record_memory.py DIR   writes DIR/NAME.json.gz (the trace) and DIR/pytorch.json (bytes by PyTorch's categories: at the
instant that holds most, and the most of each). Frames of Python are left out of the traces, to keep them small.
"""
import gzip
import json
import os
import sys
import tempfile

import torch
from torch.profiler import ProfilerActivity, profile, record_function
from torch.profiler._memory_profiler import _CATEGORY_TO_INDEX, MemoryProfileTimeline


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.up, self.down = torch.nn.LayerNorm(width), torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm(x))))


def blocks():
    net = torch.nn.Sequential(torch.nn.Linear(64, 128), Block(128), Block(128), torch.nn.Linear(128, 10))
    return net, torch.optim.AdamW(net.parameters(), lr=1e-3), (256, 64)


def convolutions():
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 16, 3, padding=1), torch.nn.BatchNorm2d(16), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
                              torch.nn.Conv2d(16, 32, 3, padding=1), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(4),
                              torch.nn.Flatten(), torch.nn.Linear(512, 10))
    return net, torch.optim.SGD(net.parameters(), lr=1e-2, momentum=0.9), (32, 3, 32, 32)


def step(net, optimizer, shape):
    samples, labels = torch.randn(shape), torch.randint(10, (shape[0],))
    optimizer.zero_grad(set_to_none=True)
    torch.nn.functional.cross_entropy(net(samples), labels).backward()
    optimizer.step()


def record(make, path):
    torch.manual_seed(1)
    made = make()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True, record_shapes=True, with_stack=True) as profiler:
        for number in range(3):
            with record_function("ProfilerStep#%d" % number):
                step(*made)
    with tempfile.TemporaryDirectory() as folder:
        whole = os.path.join(folder, "trace.json")
        profiler.export_chrome_trace(whole)
        with open(whole) as file:
            trace = json.load(file)
    trace["traceEvents"] = [e for e in trace["traceEvents"] if e.get("cat") != "python_function"]
    trace.pop("host_name", None)
    with gzip.GzipFile(path, "wb", mtime=0) as file:
        file.write(json.dumps(trace).encode())
    _, sizes = MemoryProfileTimeline(profiler._memory_profile())._coalesce_timeline("cpu")
    names = {index + 1: category.name.lower() if category else "unknown" for category, index in _CATEGORY_TO_INDEX.items()}
    peak = max(sizes, key=sum)
    return {"at_peak": {names[i]: peak[i] for i in names}, "most": {names[i]: max(s[i] for s in sizes) for i in names}}


def main():
    torch.set_num_threads(1)
    folder = sys.argv[1]
    said = {make.__name__: record(make, os.path.join(folder, make.__name__ + ".json.gz")) for make in (blocks, convolutions)}
    with open(os.path.join(folder, "pytorch.json"), "w") as file:
        json.dump({"pytorch": torch.__version__, "held_for": said}, file, indent=1)
        file.write("\n")


main()
