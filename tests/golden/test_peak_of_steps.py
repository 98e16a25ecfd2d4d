"""No interval begins below what published peaks allow: steps, kernels, exchanges.

Products of steps are counted here from sizes alone (Kaplan et al. 2020, table 1): two operations a weight and token, three passes.
"""
import csv
import io
import os
import subprocess
import tempfile

from checks import expect, finish

PACELINE = os.environ["PACELINE"]
# Clocks go up to a tenth beyond those of the data sheet's rates (H100: 1,980 and 1,830 MHz).
CLOCK = 1.1
LINK = 1.02 # what clouds sell as 25 Gb/s was measured to carry 25.2
# Dense BF16 TFLOP/s as makers publish them; of boards for games the rate of FP16 that is summed in FP16.
PEAKS = {"A100-80GB-SXM": 312, "H100-80GB-SXM": 989.4, "H200": 989.4, "B200": 2250, "L4": 121, "RTX 4090": 330.3, "MI300X": 1307.4,
         "TPU v4": 275, "TPU v5e": 197, "TPU v5p": 459, "TPU v6e": 918}
# hidden, layers, heads, words of the vocabulary
SIZES = ((2048, 16, 16, 32000), (4096, 32, 32, 32000), (8192, 64, 64, 128256), (12288, 96, 96, 51200))
FRAMEWORKS = ("PyTorch", "Megatron-LM", "MaxText")
SEQ = 2048


def answers_to(kind, rows):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.csv")
        with open(path, "w", encoding="utf-8", newline="") as table:
            writer = csv.DictWriter(table, rows[0])
            writer.writeheader()
            writer.writerows(rows)
        done = subprocess.run([PACELINE, "predict", "--kind", kind, "--rows", path, "-q"], capture_output=True, text=True)
    answers = list(csv.DictReader(io.StringIO(done.stdout)))
    expect(len(answers) == len(rows), f"{len(answers)} answers to {len(rows)} rows: {done.stderr}")
    return answers


def hold(kind, rows, bounds):
    """Every interval begins at its bound or above, some at it."""
    told = at_bound = 0
    for row, answer, bound in zip(rows, answers_to(kind, rows), bounds):
        if not answer["predicted"]:
            continue
        told += 1
        low, middle = (float(answer[end]) for end in ("low", "predicted"))
        at_bound += abs(low / bound - 1) < 0.02
        expect(low >= 0.999 * bound, f"{kind} {row}: {low:.4g} s is less than {bound:.4g} s at the peaks")
        expect(middle >= 0.999 * bound, f"{kind} {row}: {middle:.4g} s in the middle is less than {bound:.4g} s at the peaks")
    expect(told > 0.8 * len(rows), f"{kind}: {told} of {len(rows)} rows were answered")
    expect(at_bound > 0, f"{kind}: no interval begins at the peaks: the test asks nothing")


def steps():
    rows, bounds = [], []
    for device, tera in PEAKS.items():
        for hidden, layers, heads, vocab in SIZES:
            for framework in FRAMEWORKS:
                for devices, batch in ((8, 8), (64, 512)):
                    for recompute in ("none", "full"):
                        rows.append({"model": "gpt", "hidden": hidden, "layers": layers, "heads": heads, "ffn": 4 * hidden, "vocab": vocab, "seq": SEQ, "device": device,
                                     "n_gpu": devices, "framework": framework, "precision": "bf16", "micro_batch": 1, "global_batch": batch, "recompute": recompute})
                        weights = layers * 12 * hidden * hidden + hidden * vocab
                        bounds.append(6 * weights * batch * SEQ / devices / (tera * 1e12 * CLOCK))
    hold("step", rows, bounds)


def kernels():
    """Products by their arithmetic, additions by their bytes beyond what an L2 holds twice."""
    rows, bounds = [], []
    for device, tera, memory, cache in (("A100-SXM4-80GB", 312, 2.039e12, 40), ("H100 SXM5", 989.4, 3.35e12, 50), ("V100-SXM2-16GB", 125, 9e11, 6)):
        for n in (512, 1024, 2048, 4096, 8192, 16384):
            rows.append({"device": device, "op": "gemm", "dtype": "fp16", "b": 1, "m": n, "n": n, "k": n, "elements": "", "inputs": "", "outputs": ""})
            bounds.append(2 * n ** 3 / (tera * 1e12 * CLOCK))
        for elements in (2 ** 26, 2 ** 28, 2 ** 30):
            rows.append({"device": device, "op": "elementwise", "dtype": "fp16", "b": "", "m": "", "n": "", "k": "", "elements": elements, "inputs": 2, "outputs": 1})
            bounds.append((6 * elements - 2 * cache * 2 ** 20) / memory)
    hold("kernel", rows, bounds)


def exchanges():
    """Between two nodes each NIC carries its part of the vector once; inside one a device sends and takes all of it by NVLink once."""
    rows, bounds = [], []
    for machine, nic, nics, nvlink in (("dgx-h100", 400e9 / 8, 8, 450e9), ("dgx-a100", 200e9 / 8, 8, 300e9), ("dgx-2", 100e9 / 8, 8, 150e9)):
        for nodes in (1, 2, 4, 16):
            for collective in ("allreduce", "allgather", "reducescatter", "alltoall", "broadcast", "sendrecv"):
                for mib in (64, 256, 1024, 4096):
                    ranks = nodes * (16 if machine == "dgx-2" else 8)
                    vectors = ranks / nodes if collective == "alltoall" else 1
                    parts = nodes if nodes > 1 else ranks
                    left = (parts - 1) / parts if collective in ("allgather", "reducescatter", "alltoall") else 1
                    rows.append({"system": machine, "collective": collective, "gpus": ranks, "nodes": nodes, "bytes": mib << 20})
                    bounds.append((mib << 20) / LINK * left * (vectors / (nic * nics) if nodes > 1 else 1 / nvlink))
    hold("exchange", rows, bounds)


steps()
kernels()
exchanges()
finish()
