#!/usr/bin/env python3
"""Records training loops on a CPU with one planted cause of slowness each: what leads the report of `paceline analyze` is held
against the cause (accuracy/leads.csv). It needs PyTorch with Kineto and nothing else. No build or test runs it;
tests/data/causes/README.md says when and where the recordings there were made.

    python3 tools/record_causes.py python_augment --out build/traces
    python3 tools/record_causes.py all --out build/traces

writes CAUSE.json.gz: shapes (unless the cause is recorded without), ProfilerStep#N annotations, no Python stacks, cleaned as
tools/record_traces.py cleans its own; of causes of two ranks, CAUSE-rank0.json.gz and CAUSE-rank1.json.gz.
"""
import argparse
import os
import tempfile
import time
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F
from torch.profiler import ProfilerActivity, profile, record_function, schedule
from torch.utils.data import DataLoader, Dataset

from record_traces import write_clean

WAIT, WARMUP, STEPS = 3, 1, 4


def mlp(width, layers, classes=10):
    body = []
    for _ in range(layers):
        body += [nn.Linear(width, width), nn.ReLU()]
    return nn.Sequential(*body, nn.Linear(width, classes))


def train(model, features, labels, before=None, after=None, **updating):
    """One step of an ordinary loop, with what a cause puts before and behind it."""
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, **{"foreach": True, **updating})

    def step(number):
        if before:
            before()
        loss = F.cross_entropy(model(features), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if after:
            after(model, loss, number)
    return step


def batch(rows, width, classes=10):
    return torch.randn(rows, width), torch.randint(classes, (rows,))


def python_augment():
    """A Python loop over the samples, within an annotation."""
    values = list(range(60000))

    def augment():
        with record_function("augment"):
            sum(value * value % 7 for value in values)
    return train(mlp(128, 3), *batch(32, 128), before=augment)


def big_products():
    """Matrix products of 1024 x 1024 fill the step."""
    return train(mlp(1024, 2), *batch(512, 1024))


def convolutions():
    """3 x 3 convolutions of 64 channels fill the step."""
    model = nn.Sequential(nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(),
                          nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))
    return train(model, torch.randn(8, 64, 28, 28), torch.randint(10, (8,)))


class Normalised(nn.Module):
    """Layer norms and activations of 4 MB between two small products."""

    def __init__(self):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(512) for _ in range(4))
        self.head = nn.Linear(512, 10)

    def forward(self, x):
        for norm in self.norms:
            x = x + F.gelu(norm(x))
        return self.head(x)


def norms():
    return train(Normalised(), *batch(2048, 512))


class Lookups(nn.Module):
    """Rows gathered from a table of 128 MB."""

    def __init__(self):
        super().__init__()
        self.table = nn.EmbeddingBag(500000, 64, mode="sum", sparse=True)
        self.head = nn.Linear(64, 10)

    def forward(self, x):
        return self.head(self.table(x))


def lookups():
    return train(Lookups(), torch.randint(500000, (2048, 50)), torch.randint(10, (2048,)), foreach=False)


class Cells(nn.Module):
    """A recurrent network, cell by cell, of eight samples."""

    def __init__(self):
        super().__init__()
        self.cell, self.head = nn.GRUCell(24, 24), nn.Linear(24, 10)

    def forward(self, x):
        hidden = x.new_zeros(x.shape[1], 24)
        for part in x:
            hidden = self.cell(part, hidden)
        return self.head(hidden)


def small_cells():
    return train(Cells(), torch.randn(12, 8, 24), torch.randint(10, (8,)))


def many_parameters():
    """50 parameters of 32 x 32, each updated by operators of its own."""
    model = mlp(32, 24)
    return train(model, *batch(16, 32), foreach=False, momentum=0.9, nesterov=True)


class Decoded(Dataset):
    """Samples that Python decodes, on the thread that trains."""

    def __len__(self):
        return 4096

    def __getitem__(self, index):
        text = "".join(chr(97 + (index * k) % 26) for k in range(3000))
        return torch.tensor([ord(c) for c in text[:64]], dtype=torch.float32), index % 10


def decoding_loader():
    batches = iter(DataLoader(Decoded(), batch_size=16))
    model = mlp(64, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

    def step(_):
        features, labels = next(batches)
        F.cross_entropy(model(features), labels).backward()
        optimizer.step()
        optimizer.zero_grad()
    return step


def checkpoint_every_step():
    """Parameters are written to a file after each step."""
    folder = tempfile.mkdtemp()

    def save(model, _, number):
        with record_function("checkpoint"):
            torch.save(model.state_dict(), os.path.join(folder, f"{number % 2}.pt"))
    return train(mlp(512, 4), *batch(16, 512), after=save)


def logging_pause():
    """A logger that waits for its disk."""
    def log(_, loss, __):
        with record_function("log_metrics"):
            time.sleep(0.004 + 0 * float(loss))
    return train(mlp(128, 3), *batch(64, 128), after=log)


def gradient_norms():
    """The norm of each gradient is asked for, one by one."""
    def norms_of(model, _, __):
        for parameter in model.parameters():
            for row in parameter.detach():
                row.norm().item()
    return train(mlp(32, 2), *batch(16, 32), after=norms_of)


def attention_heads():
    """Attention over 512 tokens."""
    model = nn.TransformerEncoderLayer(128, 4, 256, batch_first=True, dropout=0.0)
    head = nn.Linear(128, 10)
    both = nn.Sequential(model, head)

    def step_of(features, labels):
        optimizer = torch.optim.SGD(both.parameters(), lr=1e-3)

        def step(_):
            F.cross_entropy(both(features)[:, 0], labels).backward()
            optimizer.step()
            optimizer.zero_grad()
        return step
    return step_of(torch.randn(4, 512, 128), torch.randint(10, (4,)))


def unsized_products():
    """The same as big_products, recorded without shapes."""
    return big_products()


def unsized_cells():
    """The same as small_cells, recorded without shapes."""
    return small_cells()


# --- recorded after all of the above had been looked at ---------------------------------------------------------------


class Sorted(nn.Module):
    """A layer over the 16 largest of 4,096 values."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(16, 10)

    def forward(self, x):
        return self.head(torch.sort(x, dim=1, descending=True)[0][:, :16])


def sorted_rows():
    return train(Sorted(), torch.randn(256, 4096), torch.randint(10, (256,)))


class Turned(nn.Module):
    """Tensors of 16 MB turned over between two small products."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(2048, 10)

    def forward(self, x):
        for _ in range(4):
            x = x.t().contiguous()
        return self.head(x)


def turned_copies():
    return train(Turned(), *batch(2048, 2048))


def python_metrics():
    """Python counts characters after each step, within no annotation."""
    text = "a quick brown fox " * 3000

    def count(_, loss, __):
        counts = {}
        for letter in text:
            counts[letter] = counts.get(letter, 0) + 1
    return train(mlp(128, 3), *batch(32, 128), after=count)


def large_update():
    """Ten million parameters of which a step of two samples needs few."""
    model = nn.Sequential(nn.Embedding(160000, 64), nn.Flatten(), nn.Linear(256, 10))
    features, labels = torch.randint(160000, (2, 4)), torch.randint(10, (2,))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, foreach=True)

    def step(_):
        F.cross_entropy(model(features), labels).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
    return step


def small_images():
    """Twenty convolutions of 4 x 4 images."""
    layers = []
    for _ in range(20):
        layers += [nn.Conv2d(8, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU()]
    model = nn.Sequential(*layers, nn.Flatten(), nn.Linear(128, 10))
    return train(model, torch.randn(2, 8, 4, 4), torch.randint(10, (2,)))


def long_sequences():
    """An LSTM of 256 over 64 samples of 32 tokens."""
    class Recurrent(nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.head = nn.LSTM(256, 256, batch_first=True), nn.Linear(256, 10)

        def forward(self, x):
            return self.head(self.body(x)[0][:, -1])
    return train(Recurrent(), torch.randn(64, 32, 256), torch.randint(10, (64,)))


CAUSES = {f.__name__: f for f in (python_augment, big_products, convolutions, norms, lookups, small_cells, many_parameters,
                                  decoding_loader, checkpoint_every_step, logging_pause, gradient_norms, attention_heads,
                                  unsized_products, unsized_cells, sorted_rows, turned_copies, python_metrics, large_update,
                                  small_images, long_sequences)}


def hold_others_off(realtime):
    if realtime:  # while it records, and no longer: the kernel stops such a process after 0.95 s of a second
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))


def record(cause, path, realtime):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    step = CAUSES[cause]()
    hold_others_off(realtime)
    with profile(activities=[ProfilerActivity.CPU], record_shapes=not cause.startswith("unsized"),
                 schedule=schedule(wait=WAIT, warmup=WARMUP, active=STEPS, repeat=1),
                 on_trace_ready=lambda profiler: profiler.export_chrome_trace(str(path))) as profiler:
        for number in range(WAIT + WARMUP + STEPS + 1):
            step(number)
            profiler.step()
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


# --- two ranks over gloo ----------------------------------------------------------------------------------------------


def slow_rank(rank):
    """Rank 1 computes its features with 24 layers in place of 2."""
    return (24 if rank else 2), 256, 0


def large_sums(_):
    """16 MB of statistics are summed over the ranks after each step, while nothing else is done."""
    return 2, 128, 0


def late_loader(rank):
    """Rank 1 sleeps within its loader."""
    return 2, 256, 0.02 * rank


RANKED = {f.__name__: f for f in (slow_rank, large_sums, late_loader)}


def record_rank(rank, cause, store, path, realtime):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    hold_others_off(realtime)  # and its threads: what they end is recorded when they may run
    torch.distributed.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    layers, width, pause = RANKED[cause](rank)
    model = nn.parallel.DistributedDataParallel(mlp(width, 2))
    work = mlp(width, layers)
    features, labels = batch(512, width)
    statistics = torch.zeros(1 << 22)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True,
                 schedule=schedule(wait=WAIT, warmup=WARMUP, active=STEPS, repeat=1),
                 on_trace_ready=lambda profiler: profiler.export_chrome_trace(str(path))) as profiler:
        for _ in range(WAIT + WARMUP + STEPS + 1):
            if pause:
                with record_function("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"):
                    time.sleep(pause)
            with torch.no_grad():
                if cause == "slow_rank":
                    work(features)
            F.cross_entropy(model(features), labels).backward()
            optimizer.step()
            optimizer.zero_grad()
            if cause == "large_sums":
                torch.distributed.all_reduce(statistics)
            profiler.step()
    torch.distributed.destroy_process_group()


def record_ranks(cause, out, realtime):
    with tempfile.TemporaryDirectory() as folder:
        context, paths = torch.multiprocessing.get_context("spawn"), [Path(folder) / f"{r}.json" for r in range(2)]
        jobs = [context.Process(target=record_rank, args=(r, cause, os.path.join(folder, "store"), paths[r], realtime)) for r in range(2)]
        for job in jobs:
            job.start()
        for job in jobs:
            job.join()
        for rank in range(2):
            write_clean(paths[rank], out / f"{cause}-rank{rank}.json.gz")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("cause", choices=["all", *CAUSES, *RANKED])
    parser.add_argument("--realtime", action="store_true", help="before other processes of the machine (root)")
    parser.add_argument("--out", type=Path, default=Path("build/traces"), metavar="DIR")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for cause in [*CAUSES, *RANKED] if options.cause == "all" else [options.cause]:
        if cause in RANKED:
            record_ranks(cause, options.out, options.realtime)
            continue
        with tempfile.TemporaryDirectory() as folder:
            record(cause, Path(folder) / "kineto.json", options.realtime)
            write_clean(Path(folder) / "kineto.json", options.out / f"{cause}.json.gz")


if __name__ == "__main__":
    main()
