"""A cell that names a device or a machine with figures of its own ("h100 memory=6TB/s", "dgx-h100*2 net=1GB/s") is read as
--on is: the same answer to the last bit, or a refusal that names the figure. Figures are never passed over."""
import csv
import io
import json
import sys

from checks import expect, finish, run

STEP = {"model": "gpt2", "framework": "pytorch", "dp": "16", "micro_batch": "4", "precision": "bf16"}
KERNELS = ({"op": "gemm", "m": "4096", "n": "4096", "k": "4096", "dtype": "fp16"}, {"op": "add", "elements": "100000000", "dtype": "fp16"})
EXCHANGE = {"collective": "allreduce", "gpus": "16", "bytes": "100000000"}


def rows(kind, cells, *words):
    text = io.StringIO()
    writer = csv.DictWriter(text, list(dict.fromkeys(key for row in cells for key in row)))
    writer.writeheader()
    writer.writerows(cells)
    code, out, err = run("predict", "--rows", "-", "--kind", kind, "-f", "csv", "-q", *words, stdin=text.getvalue().encode())
    answers = list(csv.DictReader(io.StringIO(out)))
    expect(len(answers) == len(cells), kind, cells, words, code, err)
    return [(row["predicted"], row["status"]) for row in answers]


def test_kernels():
    for place in ("h100-80-sxm memory=6TB/s", "a100-80-sxm fp16=1.5x,memory=2x", "dgx-h100*2 net=1GB/s", "a100*8 nvlink=300GB/s"):
        plain = place.split("=")[0].split()[0].split("*")[0]
        told = rows("kernel", [{"device": place, **kernel} for kernel in KERNELS])
        if "nvlink" not in place and "net" not in place:
            expect(told == rows("kernel", list(KERNELS), "--on", place), place, "as --on")
            expect(told[1][0] != rows("kernel", [{"device": plain, **KERNELS[1]}])[0][0], place, "another memory, another time")
        else:
            expect(told == rows("kernel", [{"device": "h100-80-sxm" if plain == "dgx-h100" else "a100-80-sxm", **kernel} for kernel in KERNELS]), place, "a machine's device")


def test_steps():
    for place in ("dgx-h100*2 net=1GB/s", "dgx-h100*2 nvlink=10GB/s", "a100*8 nvlink=300GB/s nodes=2 net=25GB/s nics=8"):
        code, out, err = run("predict", "gpt2", "--on", place, *(word for key in ("dp", "micro_batch", "precision") for word in ("--set", f"{key}={STEP[key]}")), "-f", "json", "-q")
        expect(code == 0, place, err)
        seconds = json.loads(out)["values"]["step.median_s"]
        for column in ("machine", "device"):
            predicted, status = rows("step", [{column: place, **STEP}])[0]
            expect(float(predicted or 0) == seconds, column, place, predicted, seconds, status)
    alone = {**STEP, "dp": "1"}
    fast, plain = (float(rows("step", [{"device": place, **alone}])[0][0]) for place in ("h100-80-sxm memory=6TB/s", "h100-80-sxm"))
    code, out, err = run("predict", "gpt2", "--on", "h100-80-sxm memory=6TB/s", "--set", "micro_batch=4", "--set", "precision=bf16", "-f", "json", "-q")
    expect(code == 0 and fast == json.loads(out)["values"]["step.median_s"] and fast < plain, "a faster memory", fast, plain, err)


def test_refused():
    """What --on refuses a row does not answer, and says the same."""
    for place, word in (("h100-80-sxm memory=6", "memory=6"), ("h100-80-sxm speed=6TB/s", "speed"), ("dgx-h100*2 foo=3", "foo"), ("dgx-h100*2 net=100", "net=100"), ("foo=bar", "foo=bar")):
        asked = [("step", {"device": place, **STEP}), ("step", {"machine": place, **STEP}), ("kernel", {"device": place, **KERNELS[0]})]
        if place.startswith("dgx"):
            asked.append(("exchange", {"system": place, **EXCHANGE}))
        for kind, cells in asked:
            predicted, status = rows(kind, [cells])[0]
            expect(not predicted and word in status, kind, place, predicted, status)
        code, _, err = run("predict", "gpt2", "--on", place)
        expect(code != 0 and word in err, "--on", place, code, err)


def test_beside_a_machine():
    """A device with figures of its own beside a machine that decides is said to have no effect."""
    for device, said in (("h100-80-sxm", False), ("h100-80-sxm memory=6TB/s", True)):
        for kind, cells in (("scaling", {"machine": "dgx-h100", "device": device, "model": "bert_large", "approach": "ddp", "workers": "8", "batch": "8"}),
                            ("exchange", {"system": "dgx-h100", "device": device, "collective": "allreduce", "gpus": "8", "bytes": "1000000"})):
            predicted, status = rows(kind, [cells])[0]
            expect(predicted and ("no effect: device" in status) == said, kind, device, predicted, status)


def test_prose():
    """A sign of comparison gives no figure."""
    for kind, cells in (("step", STEP), ("kernel", KERNELS[0])):
        told, plain = (rows(kind, [{"device": device, **cells}])[0][0] for device in ("H100 80GB (>= 8 GPUs)", "h100-80-sxm"))
        expect(told and told == plain, kind, told, plain)


test_kernels()
test_prose()
test_steps()
test_refused()
test_beside_a_machine()
sys.exit(finish())
