"""Linear layers whose weights lie as a library's forward pass wants them: rows of each pass price that pass, `weights=packed` asks for them,
and without such rows it is refused. All products take 10 Gflop/s; packed, forward takes 20, the gradient of data 5."""
import csv
import gzip
import itertools
import json
import os
import subprocess
import tempfile

from checks import expect, finish

PROGRAM = os.environ["PACELINE"]
RATES = {"forward": 20e9, "backward_data": 5e9, "backward_weight": 10e9}
MODEL = """family: perceptron
about: two layers
source: made here
inputs: {x: {features: 1000}}
loss: cross_entropy
layers:
  - linear: {out: 2000, bias: 0}
  - relu
  - linear: {out: 500, bias: 0}
"""
ENTRY = "devices:\n  - {name: box, vendor: v, flop_per_s: {fp32: 4e10}, memory_bytes_per_s: 4e10, source: test}\n"


def run(*arguments):
    done = subprocess.run([PROGRAM, *arguments, "-q"], capture_output=True)
    return done.returncode, done.stdout, done.stderr.decode()


def fit_of(folder, name, packed):
    table, fit = os.path.join(folder, name + ".csv"), os.path.join(folder, name + ".fit")
    with open(table, "w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["device", "op", "dtype", "pass", "b", "m", "n", "k", "latency_us"])
        for m, n, k in itertools.product((8, 32, 64, 128), (125, 250, 500, 1000, 2000, 4000), (125, 250, 500, 1000, 2000, 4000)):
            writer.writerow(["box", "gemm", "fp32", "forward", 1, m, n, k, 2e6 * m * n * k / 10e9])
            for way, rate in RATES.items() if packed else ():
                writer.writerow(["box", "packed_linear", "fp32", way, 1, m, n, k, 2e6 * m * n * k / rate])
        for m, n, k in itertools.product((250, 500, 1000, 2000), (250, 500, 1000, 2000), (32, 64, 128)):  # gradients, as products
            writer.writerow(["box", "gemm", "fp32", "forward", 1, m, n, k, 2e6 * m * n * k / 10e9])
    code, _, err = run("fit", table, "--on", os.path.join(folder, "box.yaml"), "-o", fit)
    expect(code == 0, name, err)
    return fit


def products(*arguments):
    """Durations in us of the kernels of products in the first predicted step of the timeline, in order."""
    code, out, err = run("predict", *arguments, "-f", "perfetto")
    expect(code == 0, arguments, err)
    events = json.loads(gzip.decompress(out) if out[:2] == b"\x1f\x8b" else out)["traceEvents"]
    kernels = sorted((event["ts"], event["name"], event["dur"]) for event in events if event.get("ph") == "X" and event.get("cat") == "kernel")
    return [duration for _, name, duration in kernels if "mm" in name][:5]


def check(folder):
    for name, text in (("box.yaml", ENTRY), ("perceptron.yaml", MODEL)):
        with open(os.path.join(folder, name), "w") as out:
            out.write(text)
    asked = [os.path.join(folder, "perceptron.yaml"), "--on", os.path.join(folder, "box.yaml"), "--set", "micro_batch=64", "--set", "input=synthetic"]
    plain, packed = fit_of(folder, "plain", False), fit_of(folder, "packed", True)
    code, _, err = run("predict", *asked, "--set", "weights=packed")
    expect(code != 0 and "set: weights has no effect with the value packed without a fit" in err, err)
    code, _, err = run("predict", *asked, "--set", "weights=packed", "--fit", plain)
    expect(code != 0 and "weights=packed has no effect" in err and "packed_linear" in err, err)
    code, _, err = run("predict", "gpt2", "--on", "dgx-h100", "--set", "framework=megatron", "--set", "weights=packed")
    expect(code != 0 and "framework=pytorch" in err, err)

    before, after = products(*asked, "--fit", packed), products(*asked, "--fit", packed, "--set", "weights=packed")
    expect(len(before) == len(after) == 5, before, after)  # two forward, two of weights, one of data: the input needs none
    ratios = sorted(b / a for a, b in zip(before, after))
    for found, true in zip(ratios, (0.5, 0.5, 1, 1, 2)):
        expect(abs(found / true - 1) < 0.1, "a pass has its own rows", ratios)
    work = 2 * 64 * 2000 * 1000
    expect(abs(before[0] / (1e6 * work / 10e9) - 1) < 0.1 and abs(after[0] / (1e6 * work / 20e9) - 1) < 0.1, "by hand", before, after)


def check_rows(folder):
    """A row of a gradient is the product that the gradient is: m x k over n."""
    table = os.path.join(folder, "rows.csv")
    with open(table, "w") as out:
        out.write("device,op,dtype,pass,b,m,n,k\nv100-sxm2-16,gemm,fp32,backward_data,1,64,4096,1000\nv100-sxm2-16,gemm,fp32,forward,1,64,1000,4096\n")
        out.write("v100-sxm2-16,gemm,fp32,backward_weight,1,64,4096,1000\nv100-sxm2-16,gemm,fp32,forward,1,4096,1000,64\n")
    code, out, err = run("predict", "--rows", table, "-f", "csv")
    expect(code == 0, err)
    times = [row["predicted"] for row in csv.DictReader(out.decode().splitlines())]
    expect(len(times) == 4 and times[0] == times[1] and times[2] == times[3] and times[0] != times[2], times)


with tempfile.TemporaryDirectory() as folder:
    check(folder)
    check_rows(folder)
finish()
