#!/usr/bin/env python3
"""Writes what PyTorch computes of a network for tests/unit/trainer/test_torch_gradients.c:

    PACELINE=build/release/paceline python3 tools/torch_gradients.py NET.yaml OUT.csv

run by an interpreter that has PyTorch. The k-th number of tensor t is 0.2 sin(0.7 k + t), of the input sin(0.3 k), of the labels k modulo
the classes; the batch is 4. Lines: the loss; then of each tensor of parameters its number, its elements, the norm of its gradient and
the gradient at 0, 1/3, 2/3 and the end."""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile

import torch

BATCH = 4


def layers_of(model):
    """What `paceline train --runner` hands to a framework; the interpreter that it starts only keeps that."""
    with tempfile.TemporaryDirectory() as folder:
        kept, stub = os.path.join(folder, "network.json"), os.path.join(folder, "python")
        with open(stub, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nwhile [ "$1" != --network ]; do shift; done\ncp "$2" "{kept}"\nexit 1\n')
        os.chmod(stub, 0o755)
        subprocess.run([os.environ["PACELINE"], "train", model, "--runner", "torch"], env=dict(os.environ, PACELINE_PYTHON=stub),
                       capture_output=True, check=False)
        with open(kept, encoding="utf-8") as file:
            return json.load(file)["layers"]


def load_referee():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "trainer", "referee.py")
    spec = importlib.util.spec_from_file_location("referee", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main():
    layers = layers_of(sys.argv[1])
    model, functional = load_referee().build(torch, layers)
    model = model.double()
    with torch.no_grad():
        for t, tensor in enumerate(model.parameters()):
            k = torch.arange(tensor.numel(), dtype=torch.float64)
            tensor.copy_((0.2 * torch.sin(0.7 * k + t)).reshape(tensor.shape))
    shape = [int(layers[0][k]) for k in ("channels", "height", "width")]
    size = BATCH * shape[0] * shape[1] * shape[2]
    data = torch.sin(0.3 * torch.arange(size, dtype=torch.float64)).reshape(BATCH, *shape)
    labels = torch.arange(BATCH) % int(layers[-1]["channels"])
    loss = functional.cross_entropy(model(data), labels)
    loss.backward()
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        print(f"{loss.item():.12g}", file=file)
        for t, tensor in enumerate(model.parameters()):
            flat = tensor.grad.flatten()
            at = [0, len(flat) // 3, 2 * len(flat) // 3, len(flat) - 1]
            print(t, len(flat), *(f"{value:.9g}" for value in (flat.norm().item(), *(flat[k].item() for k in at))), sep=",", file=file)


main()
