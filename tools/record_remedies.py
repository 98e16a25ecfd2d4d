#!/usr/bin/env python3
"""Records small training loops with one known cause of slowness each, and again with its remedy carried out, on a CPU.

What `paceline analyze` predicts for a remedy of the first recording can so be held against the second. It needs PyTorch with
Kineto and nothing else. No build or test runs it; tests/data/remedies/README.md says when and where the recordings there were made.

    python3 tools/record_remedies.py slow_loader --out build/traces
    python3 tools/record_remedies.py slow_loader --remedied --workers 3 --out build/traces

writes CAUSE-before.json.gz or CAUSE-after.json.gz: shapes, ProfilerStep#N annotations, no Python stacks, cleaned as
tools/record_traces.py cleans its own.
"""
import argparse
import os
import tempfile
import time
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F
from torch.profiler import ProfilerActivity, profile, schedule
from torch.utils.data import DataLoader, Dataset

from record_traces import write_clean

WAIT, WARMUP, STEPS = 4, 1, 5
FETCH_S = 0.002  # a sample comes from a store that takes so long to answer


class Samples(Dataset):
    """Random features and labels, each after a delay, as from a disk or over a network."""

    def __init__(self, count, width):
        self.count, self.width = count, width

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        time.sleep(FETCH_S)
        return torch.randn(self.width), torch.randint(10, ())


class Batches(Dataset):
    """Random batches, drawn whole."""

    def __init__(self, batch, width):
        self.batch, self.width = batch, width

    def __len__(self):
        return 64

    def __getitem__(self, index):
        return torch.randn(self.batch, self.width), torch.randint(10, (self.batch,))


def mlp(width, layers):
    body = []
    for _ in range(layers):
        body += [nn.Linear(width, width), nn.ReLU()]
    return nn.Sequential(*body, nn.Linear(width, 10))


class Gated(nn.Module):
    """Layers whose work is small next to what issuing it costs."""

    def __init__(self, width, layers):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(layers))
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        for layer in self.layers:
            x = x + torch.sigmoid(layer(x)) * torch.tanh(x)
        return self.head(x)


class Pointwise(nn.Module):
    """A long chain of element-wise operators on large tensors between two products."""

    def __init__(self, width):
        super().__init__()
        self.first, self.head = nn.Linear(width, width), nn.Linear(width, 10)

    def forward(self, x):
        x = self.first(x)
        for _ in range(6):
            x = torch.tanh(x * 1.5 + 0.5) * 0.7 - x
        return self.head(x)


def of_slow_loader(o):
    """Fetching dominates; remedied by worker processes."""
    workers = o.workers if o.remedied else 0
    extra = {"prefetch_factor": 4, "persistent_workers": True} if workers else {}
    return mlp(512, 8), Samples(16 * 64, 512), {"batch_size": 16, "num_workers": workers, **extra}, {"foreach": False}


def of_slow_updates(o):
    """One update for each of many small parameters; remedied by the fused optimizer."""
    return mlp(64, 12), Batches(64, 64), {}, {"fused": True} if o.remedied else {"foreach": False}


def of_small_batch(o):
    """Operators so small that issuing them dominates; remedied by twice the samples."""
    return Gated(96, 8), Batches(32 if o.remedied else 16, 96), {}, {"fused": True}


def of_unfused_chain(o):
    """Element-wise operators one by one; remedied by compiling."""
    model = Pointwise(1024)
    return (torch.compile(model) if o.remedied else model), Batches(512, 1024), {}, {"fused": True}


def of_item_in_loop(_):
    """The loss of each sample is asked for one by one."""
    return mlp(64, 4), Batches(64, 64), {}, {"fused": True}


def of_small_kernels(_):
    """Many small operators, no large one."""
    return Gated(16, 24), Batches(8, 16), {}, {"fused": True}


CAUSES = {"slow_loader": of_slow_loader, "slow_updates": of_slow_updates, "small_batch": of_small_batch,
          "unfused_chain": of_unfused_chain, "item_in_loop": of_item_in_loop, "small_kernels": of_small_kernels}


def record(options, path):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model, samples, loading, updating = CAUSES[options.cause](options)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, **updating)
    each = options.cause == "item_in_loop"
    if options.realtime:  # while it records, and no longer: the kernel stops such a process after 0.95 s of a second
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True,
                 schedule=schedule(wait=WAIT, warmup=WARMUP, active=STEPS, repeat=1),
                 on_trace_ready=lambda profiler: profiler.export_chrome_trace(str(path))) as profiler:
        for number, (features, labels) in enumerate(DataLoader(samples, **{"batch_size": None, **loading})):
            losses = F.cross_entropy(model(features), labels, reduction="none")
            if each:
                worst = max(loss.item() for loss in losses)
                assert worst > 0
            losses.mean().backward()
            optimizer.step()
            optimizer.zero_grad()
            profiler.step()
            if number == WAIT + WARMUP + STEPS:
                break


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("cause", choices=CAUSES)
    parser.add_argument("--remedied", action="store_true", help="carry the remedy out")
    parser.add_argument("--workers", type=int, default=2, help="of the loader, remedied")
    parser.add_argument("--realtime", action="store_true", help="before other processes of the machine (root)")
    parser.add_argument("--out", type=Path, default=Path("build/traces"), metavar="DIR")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kineto.json"
        record(options, path)
        write_clean(path, options.out / f"{options.cause}-{'after' if options.remedied else 'before'}.json.gz")


if __name__ == "__main__":
    main()
