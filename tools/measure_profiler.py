#!/usr/bin/env python3
"""Times the steps of record_traces.py's networks with and without the PyTorch profiler, on one CPU thread.

Used to learn what the profiler costs per recorded event: 'paceline fit --kind profiler' reads what this writes. It needs
what record_traces.py needs. No build or test runs it.

    python3 tools/measure_profiler.py --out build/profiler.csv --traces build/profiler_traces

Each row is a network and batch: events the profiler records per step, and the processor time of the thread that runs the
step, medians over steps, profiled and not. Processor time, not the clock's: what else the machine runs does not count.
Profiled and unprofiled blocks alternate, so that a slow minute meets both. With --traces one trace per row is kept.
"""
import argparse
import csv
import json
import statistics
import tempfile
import time
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile

import record_traces

CASES = [("dlrm", 16), ("dlrm", 64), ("dlrm", 256), ("gpt2", 1), ("gpt2", 2), ("resnet50", 1), ("resnet50", 2)]


class Stepper:
    def __init__(self, name, batch, depth):
        torch.manual_seed(0)
        self.model, self.depth = record_traces.MODELS[name](), depth
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4, foreach=False)
        data = record_traces.RandomData(name, batch)
        self.batch = [torch.stack(part) for part in zip(*(data[i] for i in range(batch)))]

    def step(self):
        begin = time.thread_time_ns()
        for _ in range(self.depth):
            self.model(*self.batch).backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return (time.thread_time_ns() - begin) / 1e3


def profiled_block(stepper, steps, trace):
    """Times of steps, and how many host events each recorded. The first step pays for starting and is left out."""
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiler:
        times = [stepper.step() for _ in range(steps + 1)][1:]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(path))
        events = json.loads(path.read_text())["traceEvents"]
        if trace:
            record_traces.write_clean(path, trace)
    count = sum(e.get("ph") == "X" and e.get("cat") in ("cpu_op", "user_annotation") for e in events)
    return times, count / (steps + 1)


def measure(name, batch, depth, options):
    stepper = Stepper(name, batch, depth)
    for _ in range(3):
        stepper.step()
    plain, profiled, events = [], [], 0
    for block in range(options.blocks):
        plain += [stepper.step() for _ in range(options.steps)]
        keep = options.traces and depth == 1 and block == options.blocks - 1
        times, events = profiled_block(stepper, options.steps, options.traces / f"{name}-{batch}.json.gz" if keep else None)
        profiled += times
    return {"model": name, "batch_size": batch, "passes": depth, "events": round(events, 1),
            "profiled_us": round(statistics.median(profiled), 1), "unprofiled_us": round(statistics.median(plain), 1)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--steps", type=record_traces.positive, default=8, help="steps of a block")
    parser.add_argument("--blocks", type=record_traces.positive, default=6, help="of each kind, alternating")
    parser.add_argument("--out", type=Path, default=Path("build/profiler.csv"), metavar="FILE")
    parser.add_argument("--traces", type=Path, metavar="DIR", help="keep one trace per network and batch there")
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    if options.traces:
        options.traces.mkdir(parents=True, exist_ok=True)
    with open(options.out, "w", newline="") as file:
        writer = csv.DictWriter(file, ["model", "batch_size", "passes", "events", "profiled_us", "unprofiled_us"], lineterminator="\n")
        writer.writeheader()
        for name, batch in CASES:
            for depth in (1, 2) if name != "resnet50" else (1,):
                writer.writerow(measure(name, batch, depth, options))
                file.flush()
    print(options.out.read_text())


if __name__ == "__main__":
    main()
