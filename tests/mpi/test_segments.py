"""Layers over workers: the losses are those of a network trained one sample after another in Python, however its layers are cut;
replicas learn through a parameter server; what cannot be is refused in one line."""
import json
import math
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["PACELINE_SOURCE"], "tests", "golden"))
import strict_schema
from under_mpirun import BUILD, ENV, EVERYTHING

if not os.path.exists(os.path.join(BUILD, "modules", "paceline-train-segments.so")):
    print("skipped: there is no module of segments (libopenmpi-dev)")
    sys.exit(77)
NETWORK = """family: net
about: a
source: b
inputs: {x: {features: 6}}
loss: cross_entropy
layers:
  - linear: 5
  - relu
  - linear: 4
  - tanh
  - linear: 3
"""
SIZES, BATCH, RATE, SEED = (6, 5, 4, 3), 4, 0.5, 1
MASK = (1 << 64) - 1
wrong = []


def expect(good, *what):
    if not good:
        wrong.append(what)


def mix(z):
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


def uniform_numbers(seed, number):
    """splitmix64, the stream of the number-th thing under a seed."""
    word = mix(mix(seed + 0x9E3779B97F4A7C15 & MASK) ^ number * 0xD1342543DE82EF95 & MASK)
    while True:
        word = word + 0x9E3779B97F4A7C15 & MASK
        yield (mix(word) >> 11) * 2.0 ** -53


def reference_losses(steps):
    """Plain stochastic gradient descent, a sample at a time."""
    weights = []
    for layer, (inputs, neurons) in enumerate(zip(SIZES, SIZES[1:])):
        rows = []
        for row in range(neurons):
            draw = uniform_numbers(SEED, layer << 32 | row)
            rows.append([inputs ** -0.5 * (2 * next(draw) - 1) for _ in range(inputs)] + [0.0])
        weights.append(rows)
    samples = []
    for i in range(BATCH):
        draw = uniform_numbers(~SEED & MASK, i)
        label = int(next(draw) * SIZES[-1])
        samples.append((label, [2 * next(draw) - 1 for _ in range(SIZES[0])]))
    active = (lambda x: max(x, 0.0), math.tanh, lambda x: x)
    slope = (lambda y: float(y > 0), lambda y: 1 - y * y)
    losses = []
    for _ in range(steps):
        total = 0.0
        for label, sample in samples:
            values = [sample]
            for layer, rows in enumerate(weights):
                values.append([active[layer](sum(w * v for w, v in zip(row, values[-1])) + row[-1]) for row in rows])
            powers = [math.exp(score) for score in values[-1]]
            total -= math.log(powers[label] / sum(powers))
            errors = [power / sum(powers) - (i == label) for i, power in enumerate(powers)]
            for layer in reversed(range(len(weights))):
                below = [sum(row[i] * error for row, error in zip(weights[layer], errors)) for i in range(SIZES[layer])]
                for row, error in zip(weights[layer], errors):
                    for i, value in enumerate([*values[layer], 1.0]):
                        row[i] -= RATE * error * value
                if layer:
                    errors = [error * slope[layer - 1](value) for error, value in zip(below, values[layer])]
        losses.append(total / BATCH)
    return losses


def run(*words):
    done = subprocess.run([os.environ["PACELINE"], "train", *words, "--approach", "segments", "--format", "json"], capture_output=True,
                          env=ENV, timeout=120, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "net.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(NETWORK)
    common = (path, "--batch", str(BATCH), "--rate", str(RATE), "--steps", "6", "--warm-up", "0", "--threads", "1")
    wanted = reference_losses(6)
    cuts = [(), ("--ranks", "2"), ("--ranks", "2", "--servers", "1")] + [("--ranks", "3"), ("--ranks", "4", "--set", "tp=3", "--servers", "1")] * EVERYTHING
    for words in cuts:
        code, out, err = run(*common, *words)
        expect(code == 0, words, err[-600:])
        if code:
            continue
        answer = json.loads(out)
        strict_schema.hold(answer, "train")
        for name, loss in (("first_loss", wanted[0]), ("last_loss", wanted[-1])):
            expect(abs(answer[name] - loss) < 2e-5 * loss, words, name, answer[name], loss)
        expect(answer["replicas"] * answer["workers"] + answer["servers"] == answer["ranks"], words, answer["workers"])
    code, out, err = run(*common, "--ranks", "3", "--set", "dp=2", "--servers", "1")  # its replicas never wait for each other
    expect(code == 0 and json.loads(out)["last_loss"] < json.loads(out)["first_loss"], code, (out + err)[-600:])
    code, out, err = run(*common[:-2], "--ranks", "2", "--threads", "3")  # HOGWILD
    expect(code == 0 and json.loads(out)["last_loss"] < json.loads(out)["first_loss"], code, (out + err)[-600:])
    for words, status, text in (((*common, "--ranks", "3", "--set", "dp=2"), 2, "replicas of 1 worker"), ((*common, "--ranks", "4"), 2, "no segment for each worker"),
                                (("lenet", "--ranks", "2"), 2, "fully connected"), ((*common, "--ranks", "2", "--overlap", "off"), 2, "--overlap"),
                                ((*common, "--ranks", "2", "--memory", "100"), 2, "expected more workers"),
                                ((*common, "--ranks", "2", "--set", "optimizer=adam"), 2, "plain SGD")):
        code, out, err = run(*words)
        expect(code != 0 and text in err and len(err.strip().splitlines()) == 1, words, code, (out + err)[-600:])
for what in wrong:
    print(*what)
sys.exit(bool(wrong))
