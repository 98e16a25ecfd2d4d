"""Layers over workers: the losses are those of a network trained one sample after another in Python, however its layers are cut, also
where each worker moves filters of its own until the end of a batch; replicas learn through a parameter server; what cannot be is
refused in one line."""
import json
import math
import os
import subprocess
import sys
import tempfile

from under_mpirun import BUILD, ENV, EVERYTHING, expect, finish  # before what it finds
import strict_schema

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
IMAGES = """family: net
about: a
source: b
inputs: {x: {image: [2, 9, 7]}}
loss: cross_entropy
layers:
  - conv: {out: 3, kernel: 3, pad: 1}
  - tanh
  - max_pool: {kernel: 3, stride: 2}
  - conv: {out: 4, kernel: [2, 3], pad: [0, 1]}
  - relu
  - conv: {out: 3, kernel: 3, pad: 1}
  - sigmoid
  - avg_pool: {kernel: [1, 2], stride: 1}
  - flatten
  - linear: 3
"""
BATCH, RATE, SEED = 4, 0.5, 1
MASK = (1 << 64) - 1


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


class Convolution:
    """A convolution, its activation and its pool, written window by window. `side` of each is (kernel, stride, pad)."""

    def __init__(self, number, shape, filters, kernels, active, pool=((1, 1, 0), (1, 1, 0)), mean=False):
        self.shape, self.kernels, self.pool, self.mean = shape, kernels, pool, mean
        self.active, self.slope = active
        self.map = [self.outputs(n, side) for n, side in zip(shape, kernels)]
        self.out = [self.outputs(n, side) for n, side in zip(self.map, pool)]
        self.filters = filters
        window = kernels[0][0] * kernels[1][0] * shape[2]
        self.weights = []
        for f in range(filters):
            draw = uniform_numbers(SEED, number << 32 | f)
            self.weights.append([window ** -0.5 * (2 * next(draw) - 1) for _ in range(window)] + [0.0])

    @staticmethod
    def outputs(there, side):
        return (there + 2 * side[2] - side[0]) // side[1] + 1

    @staticmethod
    def reads(at, side, there):
        return [(k, at * side[1] + k - side[2]) for k in range(side[0]) if 0 <= at * side[1] + k - side[2] < there]

    def begin(self, workers):
        self.copies = [[row[:] for row in self.weights] for _ in range(workers)]

    def end(self):
        for f, row in enumerate(self.weights):
            self.weights[f] = [w + sum(copy[f][i] - w for copy in self.copies) for i, w in enumerate(row)]

    def inputs(self, y, x):
        """Pairs of a weight's number and an input's."""
        return [((ky * self.kernels[1][0] + kx) * self.shape[2] + c, (row * self.shape[1] + column) * self.shape[2] + c)
                for ky, row in self.reads(y, self.kernels[0], self.shape[0]) for kx, column in self.reads(x, self.kernels[1], self.shape[1])
                for c in range(self.shape[2])]

    def forward(self, values):
        """Values behind the pool; notes for each the places of the map, their share, and whose filters made them."""
        workers, result, self.notes = len(self.copies), [], []
        for y in range(self.out[0]):
            owner = next(k for k in range(workers) if y < self.out[0] * (k + 1) // workers)
            for x in range(self.out[1]):
                window = [self.inputs(row, column) for _, row in self.reads(y, self.pool[0], self.map[0])
                          for _, column in self.reads(x, self.pool[1], self.map[1])]
                for f in range(self.filters):
                    made = [self.active(sum(self.copies[owner][f][w] * values[i] for w, i in one) + self.copies[owner][f][-1]) for one in window]
                    places = range(len(made)) if self.mean else [made.index(max(made))]
                    result.append(sum(made[p] for p in places) / len(places))
                    self.notes.append((owner, f, [(window[p], made[p], 1 / len(places)) for p in places]))
        return result

    def backward(self, values, errors):
        below, moves = [0.0] * len(values), []
        for error, (owner, f, places) in zip(errors, self.notes):
            for inputs, made, share in places:
                by = error * share * self.slope(made)
                for w, i in inputs:
                    below[i] += self.copies[owner][f][w] * by
                    moves.append((owner, f, w, RATE * by * values[i]))
                moves.append((owner, f, -1, RATE * by))
        for owner, f, w, by in moves:
            self.copies[owner][f][w] -= by
        return below


class Linear:
    def __init__(self, number, inputs, neurons, active):
        self.active, self.slope = active
        self.weights = []
        for row in range(neurons):
            draw = uniform_numbers(SEED, number << 32 | row)
            self.weights.append([inputs ** -0.5 * (2 * next(draw) - 1) for _ in range(inputs)] + [0.0])

    def begin(self, workers):
        pass

    def end(self):
        pass

    def forward(self, values):
        self.made = [self.active(sum(w * v for w, v in zip(row, values)) + row[-1]) for row in self.weights]
        return self.made

    def backward(self, values, errors):
        errors = [error * self.slope(value) for error, value in zip(errors, self.made)]
        below = [sum(row[i] * error for row, error in zip(self.weights, errors)) for i in range(len(values))]
        for row, error in zip(self.weights, errors):
            for i, value in enumerate([*values, 1.0]):
                row[i] -= RATE * error * value
        return below


RELU, TANH, NONE = ((lambda x: max(x, 0.0), lambda y: float(y > 0)), (math.tanh, lambda y: 1 - y * y), (lambda x: x, lambda y: 1.0))
SIGMOID = (lambda x: 1 / (1 + math.exp(-x)), lambda y: y * (1 - y))


def reference_losses(network, inputs, classes, batch, steps, workers=1):
    """Plain stochastic gradient descent, a sample at a time."""
    samples = []
    for i in range(batch):
        draw = uniform_numbers(~SEED & MASK, i)
        label = int(next(draw) * classes)
        samples.append((label, [2 * next(draw) - 1 for _ in range(inputs)]))
    losses = []
    for _ in range(steps):
        total = 0.0
        for layer in network:
            layer.begin(workers)
        for label, sample in samples:
            values = [sample]
            for layer in network:
                values.append(layer.forward(values[-1]))
            powers = [math.exp(score) for score in values[-1]]
            total -= math.log(powers[label] / sum(powers))
            errors = [power / sum(powers) - (i == label) for i, power in enumerate(powers)]
            for layer, read in zip(reversed(network), reversed(values[:-1])):
                errors = layer.backward(read, errors)
        for layer in network:
            layer.end()
        losses.append(total / batch)
    return losses


def neurons():
    return [Linear(0, 6, 5, RELU), Linear(1, 5, 4, TANH), Linear(2, 4, 3, NONE)]


def images():
    """Windows that overlap, hang over edges, leave rows unread, and are not square."""
    first = Convolution(0, (9, 7, 2), 3, ((3, 1, 1), (3, 1, 1)), TANH, ((3, 2, 0), (3, 2, 0)))
    second = Convolution(1, (4, 3, 3), 4, ((2, 1, 0), (3, 1, 1)), RELU)
    third = Convolution(2, (3, 3, 4), 3, ((3, 1, 1), (3, 1, 1)), SIGMOID, ((1, 1, 0), (2, 1, 0)), mean=True)
    return [first, second, third, Linear(3, 18, 3, NONE)]


def run(*words):
    done = subprocess.run([os.environ["PACELINE"], "train", *words, "--approach", "segments", "--format", "json"], capture_output=True,
                          env=ENV, timeout=120, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


with tempfile.TemporaryDirectory() as folder:
    path, image_path = os.path.join(folder, "net.yaml"), os.path.join(folder, "images.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(NETWORK)
    common = (path, "--batch", str(BATCH), "--rate", str(RATE), "--steps", "6", "--warm-up", "0", "--threads", "1")
    with open(image_path, "w", encoding="utf-8") as file:
        file.write(IMAGES)
    filters = (image_path, *common[1:])
    one_each = (image_path, "--batch", "1", *common[3:])
    cuts = [(), ("--ranks", "2"), ("--ranks", "2", "--servers", "1")] + [("--ranks", "3"), ("--ranks", "4", "--set", "tp=3", "--servers", "1")] * EVERYTHING
    asked = [(common, words, reference_losses(neurons(), 6, 3, BATCH, 6)) for words in cuts]
    for words, workers in [((), 1), (("--ranks", "2"), 2), (("--ranks", "3", "--servers", "1"), 2)] + [(("--ranks", "3"), 3), (("--ranks", "5", "--servers", "2"), 3)] * EVERYTHING:
        asked.append((filters, words, reference_losses(images(), 126, 3, BATCH, 6, workers)))
        asked.append((one_each, words, reference_losses(images(), 126, 3, 1, 6)))  # filters are alike after each sample
    for network, words, wanted in asked:
        code, out, err = run(*network, *words)
        expect(code == 0, words, err[-600:])
        if code:
            continue
        answer = json.loads(out)
        strict_schema.hold(answer, "train")
        for name, loss in (("first_loss", wanted[0]), ("last_loss", wanted[-1])):
            expect(abs(answer[name] - loss) < 2e-5 * loss, network, words, name, answer[name], loss)
        expect(answer["replicas"] * answer["workers"] + answer["servers"] == answer["ranks"], words, answer["workers"])
    # Replicas that never wait for each other, and HOGWILD: a few steps on old weights may lead away, and large ones never come back.
    for words in (("--ranks", "3", "--set", "dp=2", "--servers", "1", "--threads", "1"), ("--ranks", "2", "--threads", "3")):
        code, out, err = run(path, "--batch", str(BATCH), "--rate", "0.1", "--steps", "100", "--warm-up", "0", *words)
        expect(code == 0 and json.loads(out)["last_loss"] < 0.5 * json.loads(out)["first_loss"], words, code, (out + err)[-600:])
    for words, status, text in (((*common, "--ranks", "3", "--set", "dp=2"), 2, "replicas of 1 worker"), ((*common, "--ranks", "4"), 2, "no segment for each worker"),
                                (("alexnet", "--ranks", "2"), 2, "one pool behind"), ((*filters, "--ranks", "4"), 2, "3 rows has no segment"), ((*common, "--ranks", "2", "--overlap", "off"), 2, "--overlap"),
                                ((*common, "--ranks", "2", "--memory", "100"), 2, "expected more workers"),
                                ((*common, "--ranks", "2", "--set", "optimizer=adam"), 2, "plain SGD")):
        code, out, err = run(*words)
        expect(code != 0 and text in err and len(err.strip().splitlines()) == 1, words, code, (out + err)[-600:])
finish()
