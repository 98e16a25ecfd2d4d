"""Logs of exchanges that follow a known law, and what is held of their fits."""
import csv
import io
import json
import os
import tempfile

from checks import expect, run

FOLDER = tempfile.mkdtemp(prefix="paceline-exchange-")


def put(name, text):
    path = os.path.join(FOLDER, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def law(ranks, size):
    """us: a call, hops, and 200 GB/s."""
    return 8 + 2 * (ranks - 1) + size * 2 * (ranks - 1) / ranks / 200e3


SIZES = [8 << i for i in range(28)]


def nccl_text(ranks, hosts=1, passes=2):
    """`passes`: of the vector past each rank, 2 of an all-reduce, 1 of an all-gather."""
    lines = [f"# nThread 1 nGpus 1 minBytes {SIZES[0]} maxBytes {SIZES[-1]} step: 2(factor)"]
    lines += [f"#  Rank {i:2} Group  0 Pid   {100 + i} on node{i * hosts // ranks} device {i:2} [0x00] A GPU" for i in range(ranks)]
    lines.append("#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong")
    lines.append("#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)       ")
    for size in SIZES:
        t = law(ranks, size)
        algbw, bus = size / t / 1e3, passes * (ranks - 1) / ranks
        lines.append(f"{size:12} {size // 4:12} float sum -1 {t:8.3f} {algbw:.2f} {algbw * bus:.2f} 0 {2 * t:8.3f} {algbw / 2:.2f} {algbw / 2 * bus:.2f} 0")
    return "\n".join(lines + ["# Out of bounds values : 0 OK", "# Avg bus bandwidth    : 1"]) + "\n"


def fits_and_answers(log, *how):
    fit = os.path.join(FOLDER, "fit.json")
    code, out, err = run("fit", "--kind", "exchange", log, "-o", fit, *how, "--format", "json")
    expect(code == 0, log, err)
    if code:
        return
    curve = json.loads(out)["curves"][0]
    expect(curve["ranks"] == 8 and curve["mape"] < 0.01 and curve["probes"] == 6, log, curve)
    code, out, err = run("predict", "--kind", "exchange", "--on", "dgx-a100", "--fit", fit, "--bytes", "1K,3000000",
                         "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    expect(code == 0 and len(rows) == 2, log, err)
    for row in rows:
        expected = law(8, float(row["bytes"]))
        expect(abs(float(row["time_us"]) / expected - 1) < 0.01 and row["rung"] == "calibrated", log, row, expected)
