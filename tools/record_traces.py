#!/usr/bin/env python3
"""Trains a small network on random data for a few steps and records what the PyTorch profiler says about it.

Used to make traces whose origin is known: for tests/data/, and to see what a new version of PyTorch writes. It needs
PyTorch built with Kineto and nothing else; the models are built here, nothing is downloaded. No build or test runs it.

    python3 tools/record_traces.py --model gpt2 --steps 5 --out build/traces
    python3 tools/record_traces.py --model resnet50 --device cuda --batch 32 --out build/traces

writes two files per run:

    MODEL-DEVICE.json.gz      the Kineto trace: shapes, ProfilerStep#N annotations, no Python stacks
    MODEL-DEVICE.et.json.gz   the execution trace of ExecutionTraceObserver, of the same recorded steps

Both are cleaned so that they can be shared: file paths become their last part, and the host's name is left out. What
still looks like a path afterwards is an error, and that file is not written. Nothing else is changed.
"""
import argparse
import gzip
import json
import re
import socket
import sys
import tempfile
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F
from torch.profiler import ExecutionTraceObserver, ProfilerActivity, profile, schedule
from torch.utils.data import DataLoader, Dataset

# Small enough for two cores and a trace below a megabyte; large enough that every kind of operator is there.
GPT2_SIZE = {"layers": 4, "width": 256, "heads": 8, "tokens": 128, "vocabulary": 2048}
DLRM_SIZE = {"dense": 13, "tables": 8, "rows": 20000, "width": 32, "per_bag": 4}
RESNET_SIZE = {"pixels": 64, "classes": 100}
BATCH = {"gpt2": 4, "dlrm": 256, "resnet50": 4}


# ---- models: each takes one batch of its data set and returns the loss ----

class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        outputs = 4 * width
        self.body = nn.Sequential(
            nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
            nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
            nn.Conv2d(width, outputs, 1, bias=False), nn.BatchNorm2d(outputs))
        self.shortcut = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        return F.relu(self.body(x) + self.shortcut(x))


class ResNet50(nn.Module):
    """The layers of ResNet-50 (3, 4, 6, 3 bottlenecks), on small images."""

    def __init__(self):
        super().__init__()
        layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True),
                  nn.MaxPool2d(3, 2, 1)]
        inputs = 64
        for stage, blocks in enumerate((3, 4, 6, 3)):
            for block in range(blocks):
                width = 64 << stage
                layers.append(Bottleneck(inputs, width, 2 if stage and not block else 1))
                inputs = 4 * width
        layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, RESNET_SIZE["classes"])]
        self.body = nn.Sequential(*layers)

    def forward(self, images, labels):
        return F.cross_entropy(self.body(images), labels)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm_1, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.projection = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"), nn.Linear(4 * width, width))

    def forward(self, x):
        batch, tokens, width = x.shape
        q, k, v = (part.view(batch, tokens, self.heads, width // self.heads).transpose(1, 2)
                   for part in self.qkv(self.norm_1(x)).split(width, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.projection(y.transpose(1, 2).reshape(batch, tokens, width))
        return x + self.mlp(self.norm_2(x))


class GPT2(nn.Module):
    """GPT-2's blocks, with fewer and narrower layers."""

    def __init__(self):
        super().__init__()
        width = GPT2_SIZE["width"]
        self.token = nn.Embedding(GPT2_SIZE["vocabulary"], width)
        self.position = nn.Embedding(GPT2_SIZE["tokens"], width)
        self.blocks = nn.Sequential(*(Block(width, GPT2_SIZE["heads"]) for _ in range(GPT2_SIZE["layers"])))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, GPT2_SIZE["vocabulary"], bias=False)

    def forward(self, tokens, targets):
        x = self.token(tokens) + self.position(torch.arange(tokens.shape[1], device=tokens.device))
        logits = self.head(self.norm(self.blocks(x)))
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


class DLRM(nn.Module):
    """A recommendation model: embedding bags and dense features, their pairwise products, two MLPs."""

    def __init__(self):
        super().__init__()
        width, vectors = DLRM_SIZE["width"], DLRM_SIZE["tables"] + 1
        self.bags = nn.ModuleList(nn.EmbeddingBag(DLRM_SIZE["rows"], width, mode="sum")
                                  for _ in range(DLRM_SIZE["tables"]))
        self.bottom = nn.Sequential(nn.Linear(DLRM_SIZE["dense"], 128), nn.ReLU(), nn.Linear(128, width), nn.ReLU())
        self.top = nn.Sequential(nn.Linear(width + vectors * (vectors - 1) // 2, 128), nn.ReLU(), nn.Linear(128, 1))
        self.register_buffer("pairs", torch.tril_indices(vectors, vectors, -1), persistent=False)

    def forward(self, dense, sparse, clicks):
        x = self.bottom(dense)
        vectors = torch.stack([x] + [bag(sparse[:, i]) for i, bag in enumerate(self.bags)], dim=1)
        products = torch.bmm(vectors, vectors.transpose(1, 2))[:, self.pairs[0], self.pairs[1]]
        return F.binary_cross_entropy_with_logits(self.top(torch.cat([x, products], dim=1)).squeeze(1), clicks)


MODELS = {"resnet50": ResNet50, "gpt2": GPT2, "dlrm": DLRM}


class RandomData(Dataset):
    """Samples drawn when they are asked for, so that the input pipeline has work to do."""

    def __init__(self, model, samples):
        self.model, self.samples = model, samples

    def __len__(self):
        return self.samples

    def __getitem__(self, index):
        if index >= self.samples:
            raise IndexError(index)
        if self.model == "resnet50":
            pixels = RESNET_SIZE["pixels"]
            return torch.randn(3, pixels, pixels), torch.randint(RESNET_SIZE["classes"], ())
        if self.model == "gpt2":
            text = torch.randint(GPT2_SIZE["vocabulary"], (GPT2_SIZE["tokens"] + 1,))
            return text[:-1], text[1:]
        sparse = torch.randint(DLRM_SIZE["rows"], (DLRM_SIZE["tables"], DLRM_SIZE["per_bag"]))
        return torch.randn(DLRM_SIZE["dense"]), sparse, torch.rand(()).round()


# ---- what the files must not say ----

PATH = re.compile(r"(?:file://|[A-Za-z]:\\|(?<![\w.:])/)[\w.+@-]+(?:[/\\]+[\w.+@-]+)+")
NAMED = re.compile(r'[ \t]*"(?:host_?name|env|environ)"[ \t]*:[ \t]*"[^"\n]*",[ \t]*\n?')


def write_clean(source, target):
    """Works on the text, so that the layout stays the profiler's own, which is not everybody's JSON."""
    host = socket.gethostname()
    text = NAMED.sub("", source.read_text())
    text = PATH.sub(lambda match: re.split(r"[/\\]", match.group())[-1], text)
    told = PATH.search(text) or re.search(r'"(?:host_?name|env(?:iron)?)"|\b%s\b' % re.escape(host), text)
    if told:
        sys.exit(f"record_traces: {target.name} would tell where it was made: {told.group()}")
    json.loads(text)
    with open(target, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed:
        packed.write(text.encode())
    print(f"{target}: {target.stat().st_size} bytes")


# ---- the recorded loop ----

def record(options, device, folder):
    torch.manual_seed(0)
    model = MODELS[options.model]().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    total = options.warmup + options.steps
    data = DataLoader(RandomData(options.model, total * options.batch), options.batch, pin_memory=device == "cuda")
    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if device == "cuda" else [])
    kineto, execution = folder / "kineto.json", folder / "execution.json"
    # The profiler's own warm-up is the last of ours: it is not written, and what starts late does not count.
    wait, warmup = max(options.warmup - 1, 0), min(options.warmup, 1)
    with profile(activities=activities, record_shapes=True, with_stack=False,
                 schedule=schedule(wait=wait, warmup=warmup, active=options.steps, repeat=1),
                 on_trace_ready=lambda profiler: profiler.export_chrome_trace(str(kineto)),
                 execution_trace_observer=ExecutionTraceObserver().register_callback(str(execution))) as profiler:
        for batch in data:
            loss = model(*(part.to(device, non_blocking=True) for part in batch))
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            profiler.step()
    return kineto, execution


def positive(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--model", choices=MODELS, default="gpt2")
    parser.add_argument("--steps", type=positive, default=5, help="steps that are recorded")
    parser.add_argument("--warmup", type=positive, default=3, help="steps before them that are not")
    parser.add_argument("--batch", type=positive, help="samples per step (default: %s)" % BATCH)
    parser.add_argument("--out", type=Path, default=Path("build/traces"), metavar="DIR")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    options = parser.parse_args()
    options.batch = options.batch or BATCH[options.model]
    if not torch.autograd.kineto_available():
        sys.exit("record_traces: this PyTorch was built without Kineto")
    device = options.device
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        kineto, execution = record(options, device, Path(folder))
        write_clean(kineto, options.out / f"{options.model}-{device}.json.gz")
        write_clean(execution, options.out / f"{options.model}-{device}.et.json.gz")
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, batch {options.batch}")


if __name__ == "__main__":
    main()
