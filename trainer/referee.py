#!/usr/bin/env python3
"""Trains a network as a framework does that people run, to be held beside Paceline's own trainer.

    referee.py --runner torch|horovod|tensorflow --network FILE.json --result FILE [--ranks N] [--batch N] ...

The network is what `paceline train` would train: layers with kinds, inputs and options. The result has a line for each thing that was
measured: its name, then numbers or text. Exit status 4: a package is missing, 2: a layer that this script does not know.
"""
import argparse
import json
import os
import socket
import subprocess
import sys
import threading
import time
import traceback

sys.dont_write_bytecode = True  # the folder of modules may be anybody's
RUNNERS = ("torch", "horovod", "tensorflow")


def fail(status, text):
    print(f"paceline train: runner: {text}", file=sys.stderr)
    sys.exit(status)


def asked():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runner", required=True)
    parser.add_argument("--network", required=True)
    parser.add_argument("--result", required=True)
    for name, usual in (("ranks", 1), ("batch", 32), ("steps", 20), ("warm-up", 5), ("threads", 1), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    parser.add_argument("--rate", type=float, default=0.01)
    parser.add_argument("--optimizer", default="momentum")
    return parser.parse_args()


def import_torch():
    try:
        import torch
        return torch
    except ImportError:
        fail(4, f"PyTorch is not in {sys.executable} (the package torch); PACELINE_PYTHON names another interpreter")


def build(torch, layers):
    """The network as a module whose forward pass walks the layers; its output are the scores that the loss is of."""
    nn = torch.nn
    functional = nn.functional

    def pair(layer, name):
        return int(layer["options"][name]), int(layer["options"][name + "_width"])

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = nn.ModuleList([self.part(layer) or nn.Identity() for layer in layers])

        @staticmethod
        def part(layer):
            kind, word, options = layer["kind"], layer["word"], layer["options"]
            source = layers[layer["inputs"][0]] if layer["inputs"] else None
            wide = int(source["channels"]) if source else 0
            if kind == "conv":
                return nn.Conv2d(wide, int(options["out"]), pair(layer, "kernel"), pair(layer, "stride"), pair(layer, "pad"),
                                 int(options["dilation"]), int(options["groups"]), options["bias"] > 0)
            if kind == "linear" and not options.get("tied"):
                return nn.Linear(wide, int(options["out"]), options["bias"] > 0)
            if kind == "batch_norm":
                return nn.BatchNorm2d(wide)
            if kind == "layer_norm":
                return nn.LayerNorm(wide)
            if kind == "lrn":
                return nn.LocalResponseNorm(int(options["kernel"]))
            if kind == "dropout":
                return nn.Dropout(options["p"])
            if kind == "max_pool":
                return nn.MaxPool2d(pair(layer, "kernel"), pair(layer, "stride"), pair(layer, "pad"), ceil_mode=options.get("ceil", 0) > 0)
            if kind == "avg_pool":
                return nn.AvgPool2d(pair(layer, "kernel"), pair(layer, "stride"), pair(layer, "pad"), ceil_mode=options.get("ceil", 0) > 0)
            if kind == "adaptive_pool":
                return nn.AdaptiveAvgPool2d((int(layer["height"]), int(layer["width"])))
            activations = {"relu": nn.ReLU, "relu6": nn.ReLU6, "gelu": nn.GELU, "silu": nn.SiLU, "tanh": nn.Tanh, "sigmoid": nn.Sigmoid}
            if kind == "activation" and word in activations:
                return activations[word]()
            if kind in ("image", "features", "input", "flatten", "add", "multiply", "concat", "loss"):
                return None
            return fail(2, f"{layer['name']}: layers of the kind {word} are not known to it")

        def forward(self, data):
            values, last = [], None
            for part, layer in zip(self.parts, layers):
                inputs = [values[i] for i in layer["inputs"]]
                kind = layer["kind"]
                if not inputs:
                    value = data
                elif kind == "flatten":
                    value = inputs[0].flatten(1)
                elif kind == "add":
                    value = sum(inputs[1:], inputs[0])
                elif kind == "multiply":
                    value = inputs[0] * inputs[1]
                elif kind == "concat":
                    value = torch.cat(inputs, 1)
                elif kind == "loss":
                    value = inputs[0]
                    last = value
                else:
                    value = part(inputs[0])
                values.append(value)
            return last

    return Network(), functional


def read_layers(arguments):
    """The layers, and the shape of a sample; refused without one input and the loss that all runners know."""
    with open(arguments.network, encoding="utf-8") as file:
        layers = json.load(file)["layers"]
    losses = [layer["word"] for layer in layers if layer["kind"] == "loss"]
    sources = [layer for layer in layers if not layer["inputs"]]
    if len(sources) != 1 or losses != ["cross_entropy"]:
        fail(2, "expected a network with one input and one loss, cross_entropy")
    names = ("channels", "height", "width") if sources[0]["word"] == "image" else ("channels",)
    return layers, [int(sources[0][name]) for name in names]


def classes_of(layers):
    return int(next(layer for layer in layers if layer["word"] == "cross_entropy")["channels"])


def write_result(arguments, software, approach, parameters, measured):
    """`measured`: for each name its numbers, the steps' own first."""
    with open(arguments.result, "w", encoding="utf-8") as file:
        for name, text in (("software", software), ("approach", approach), ("parameters", parameters)):
            print(name, text, file=file)
        for name, values in measured.items():
            print(name, *(repr(value) for value in values), file=file)


def end_with_parent():
    """Nobody waits for a process whose parent has gone."""
    parent = os.getppid()

    def watch():
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def make_optimizer(torch, arguments, parameters):
    if arguments.optimizer == "adam":
        return torch.optim.Adam(parameters, lr=arguments.rate)
    return torch.optim.SGD(parameters, lr=arguments.rate, momentum=0.9 if arguments.optimizer == "momentum" else 0)


def join(torch, arguments, model, optimizer):
    """The model and optimizer as ranks share them, what that is called, and this rank."""
    rank = int(os.environ.get("PACELINE_RANK", "0"))
    if arguments.runner == "horovod" and arguments.ranks > 1:
        import horovod.torch as hvd
        hvd.init()
        hvd.broadcast_parameters(model.state_dict(), root_rank=0)
        return model, hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters()), "horovod over mpi", hvd.rank()
    if arguments.ranks > 1:
        torch.distributed.init_process_group("gloo", rank=rank, world_size=arguments.ranks)
        return torch.nn.parallel.DistributedDataParallel(model), optimizer, "ddp over gloo", rank
    return model, optimizer, "", 0


def train(arguments):
    torch = import_torch()
    layers, shape = read_layers(arguments)
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(arguments.seed)
    model, functional = build(torch, layers)
    parameters = sum(p.numel() for p in model.parameters())
    model, optimizer, approach, rank = join(torch, arguments, model, make_optimizer(torch, arguments, model.parameters()))
    torch.manual_seed(arguments.seed + 1000 * rank)
    data = torch.randn(arguments.batch, *shape)
    labels = torch.randint(classes_of(layers), (arguments.batch,))
    times = {"step": [], "forward": [], "backward": [], "update": []}
    losses = []
    for step in range(arguments.warm_up + arguments.steps):
        at = [time.perf_counter()]
        loss = functional.cross_entropy(model(data), labels)
        at.append(time.perf_counter())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        at.append(time.perf_counter())
        optimizer.step()
        at.append(time.perf_counter())
        if step < arguments.warm_up:
            continue
        for name, begin, end in (("step", 0, 3), ("forward", 0, 1), ("backward", 1, 2), ("update", 2, 3)):
            times[name].append(at[end] - at[begin])
        losses.append(loss.item())
    if rank == 0:
        write_result(arguments, f"PyTorch {torch.__version__}", approach, parameters, {**times, "loss": losses})
    if approach == "ddp over gloo":
        torch.distributed.destroy_process_group()


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def start_ranks(arguments):
    """Every rank is this script again; when one fails, the others end."""
    environment = dict(os.environ, PACELINE_REFEREE_RANK="1", MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free_port()))
    words = [sys.executable, *sys.argv]
    if arguments.runner == "horovod":
        environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        return subprocess.call(["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(arguments.ranks), *words], env=environment)
    ranks = [subprocess.Popen(words, env=dict(environment, PACELINE_RANK=str(rank))) for rank in range(arguments.ranks)]
    status = 0
    while any(one.poll() is None for one in ranks):
        status = status or max((one.returncode or 0 for one in ranks if one.poll() is not None), key=abs, default=0)
        for one in ranks:
            if status and one.poll() is None:
                one.kill()
        time.sleep(0.02)
    return status or max((one.returncode for one in ranks), key=abs)


def import_tensorflow():
    try:
        import tensorflow
        return tensorflow
    except ImportError:
        fail(4, f"TensorFlow is not in {sys.executable} (the package tensorflow-cpu); PACELINE_PYTHON names another interpreter")


def check_packages(arguments):
    import_torch()
    if arguments.runner == "horovod" and arguments.ranks > 1:
        try:
            import horovod.torch  # noqa: F401
        except ImportError:
            fail(4, f"Horovod is not in {sys.executable} (the package horovod, built with MPI)")


def main():
    arguments = asked()
    if arguments.runner not in RUNNERS:
        fail(2, f"expected one of {', '.join(RUNNERS)}, found {arguments.runner}")
    end_with_parent()
    if arguments.runner == "tensorflow":
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
        os.environ["CUDA_VISIBLE_DEVICES"] = "-1"  # the processors alone, as all runners
        tensorflow = import_tensorflow()
        import paceline_referee_tensorflow
        paceline_referee_tensorflow.train(tensorflow, arguments, sys.modules[__name__])
        return
    if not os.environ.get("PACELINE_REFEREE_RANK"):
        check_packages(arguments)
    if arguments.ranks > 1 and not os.environ.get("PACELINE_REFEREE_RANK"):
        status = start_ranks(arguments)
        if status and status not in (2, 4):
            fail(3, "a rank of it failed")
        sys.exit(status)
    train(arguments)


if __name__ == "__main__":
    try:
        main()
    except Exception as fault:  # whatever a framework says: one line of it is told
        traceback.print_exc()
        said = [line.strip() for line in str(fault).splitlines() if line.strip()] or ["no reason"]
        fail(3, f"{type(fault).__name__}: {(said[-1] if said[0].endswith(':') else said[0])[:150]}")
