"""Measurements by others of single kernels, one of each class that was once far off: within the interval, and near."""
import csv
import io
import math
import os
import tempfile

from checks import expect, finish, run, says_no

FOLDER = tempfile.mkdtemp(prefix="paceline-kernel-facts-")


def ask(text, *more):
    path = os.path.join(FOLDER, "table.csv")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    code, out, err = run("predict", "--rows", path, "--kind", "kernel", *more)
    expect(code == says_no(err), "refused", text[:200], err)
    return list(csv.DictReader(io.StringIO(out)))


def holds(what, text, measured, *more, within=0.5):
    """Each row's measured value lies in its interval, and the middle of the rows is so near."""
    rows, off = ask(text, *more), []
    for row in rows:
        value = float(row[measured])
        expect(row["predicted"] and float(row["low"]) <= value <= float(row["high"]), what, row)
        off.append(math.log(float(row["predicted"]) / value) if row["predicted"] else math.inf)
    expect(abs(sorted(off)[len(off) // 2]) < within, what, off)
    return rows


def test_emulated():
    """PyTorch's squares on devices without matrix units for the precision (zzc0721/torch-performance-test-data, issues 174, 9 and
    140; chsasank/device-benchmarks): the rate of FP32, or less, though a P100's data sheet has twice that in FP16."""
    rows = holds("half precision on Pascal", "device,m,n,k,dtype,TFLOPS\n" + "".join(
        f"{device},{n},{n},{n},fp16,{rate}\n" for device, n, rate in (
            ("Tesla P100-PCIE-16GB", 2048, 7.67), ("Tesla P100-PCIE-16GB", 4096, 8.39), ("Tesla P100-PCIE-16GB", 8192, 7.72), ("Tesla P100-PCIE-16GB", 10240, 7.72),
            ("Tesla P4", 2048, 4.16), ("Tesla P4", 4096, 4.25), ("Tesla P4", 8192, 3.47))), "TFLOPS", within=0.15)
    expect(all("in fp16 products run as in single precision here" in row["status"] for row in rows), rows[0])
    rows = holds("bf16 before Ampere", "device,m,n,k,dtype,TFLOPS\nTesla V100-SXM2-16GB,4096,4096,4096,bf16,10.53\nTesla V100-SXM2-16GB,8192,8192,8192,bf16,10.65\n"
                 "Tesla T4,4096,4096,4096,bf16,2.25\nRTX 2070 Super,4096,4096,4096,bf16,5\n", "TFLOPS", within=0.3)
    expect(all("in bf16 products run as in single precision here" in row["status"] for row in rows), rows[0])
    single, half = ask("device,m,n,k,dtype,TFLOPS\nV100,4096,4096,4096,fp32,1\nV100,4096,4096,4096,fp16,1\n")  # its own units
    expect(float(half["predicted"]) > 5 * float(single["predicted"]) and half["status"] == "ok", single, half)


test_emulated()
finish()
