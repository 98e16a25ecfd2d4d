#!/usr/bin/env python3
"""Rows about networks for images: how images lie in memory, which size stands in a model's name, whose software trains."""
import csv
import json
import os
import tempfile
from pathlib import Path

from checks import expect, finish, run

HEAD = "model,device,micro_batch,precision,framework,optimizer,input,layout,image_size,notes"
# huggingface/pytorch-image-models (5e7d47c), results/benchmark-train-amp-{nhwc,nchw}-pt112-cu113-rtx3090.csv: images a second.
TIMM = {"resnet18": (512, 3481.78, 2764.22), "resnet50": (512, 1218.01, 826.06), "vgg11": (512, 954.03, 825.98), "densenet121": (256, 913.65, 730.11)}


def ask(*rows, head=HEAD):
    """The answers to rows of cells, in seconds."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.csv")
        Path(path).write_text("\n".join([head, *(",".join(row) for row in rows)]) + "\n")
        code, out, err = run("predict", "--kind", "step", "--rows", path, "--format", "csv", "--quiet")
    expect(code == 0, "rows are answered", err)
    return list(csv.DictReader(out.splitlines()))


def timm(model, layout, batch, device="RTX 3090", notes=""):
    return (model, device, str(batch), "amp", "PyTorch 1.12", "momentum", "synthetic", layout, "", notes)


def layouts():
    """Copies for convolutions on matrix units make a step as much longer as it was measured to be, within a fifth of the difference's own error."""
    for model, (batch, last, first) in TIMM.items():
        rows = ask(*((*timm(model, *of), "0.1") for of in (("nhwc", batch), ("nchw", batch), ("", batch))), (*timm(model, "", batch, notes="channels last"), "0.1"), head=HEAD + ",s_per_step")
        seconds = [float(row["predicted"]) for row in rows]
        expect(abs(seconds[1] / seconds[0] / (last / first) - 1) < 0.2, "as much longer as measured", model, seconds[1] / seconds[0], last / first)
        expect(seconds[2] == seconds[1] and seconds[3] == seconds[0], "PyTorch's layout is nchw unless told otherwise", seconds)
        expect("assumed layout nchw" in rows[2]["status"] and "layout" not in rows[1]["status"], "the layout is assumed", rows[2]["status"])
        expect(float(rows[2]["high"]) / float(rows[2]["low"]) > float(rows[1]["high"]) / float(rows[1]["low"]), "and the interval wider", rows[2])
    old = ask(*(timm("resnet50", layout, 32, "P100-16GB-SXM2") for layout in ("nhwc", "nchw")))
    expect(old[0]["predicted"] == old[1]["predicted"], "Pascal has no matrix units", old)
    last, first = ask(("resnet50", "RTX 3090", "64", "fp16", "TensorFlow", "momentum", "", "", "", ""), ("resnet50", "RTX 3090", "64", "fp16", "TensorFlow", "momentum", "", "nchw", "", ""))
    expect(float(first["predicted"]) > float(last["predicted"]), "on Ampere TensorFlow lays images out for matrix units", first, last)


def copied():
    """What a forward pass takes longer with images in nchw than in nhwc: from PyTorch 2 on most filters of one pixel copy none, and ConvNeXt, whose blocks
    add to views of tokens, next to none. Microseconds an image in timm's benchmark-infer-amp-{nhwc,nchw}-pt{112,240}-...csv, RTX 3090 and RTX 4090."""
    head = "model,device,micro_batch,precision,framework,input,layout,image_size,mode"
    for model, size, device, release, more in (("mobilenetv2_100", "224", "RTX 3090", "2.4", 15), ("resnet50", "160", "RTX 3090", "2.4", 27), ("resnet50", "160", "RTX 4090", "2.4", 24),
                                               ("resnet50", "224", "RTX 3090", "1.12", 94), ("convnext_tiny", "288", "RTX 4090", "2.4", 3.5)):
        rows = ask(*((model, device, "256", "amp", "PyTorch " + release, "synthetic", layout, size, "inference") for layout in ("nhwc", "nchw")), head=head)
        told = (float(rows[1]["predicted"]) - float(rows[0]["predicted"])) / 256e-6
        expect(0.5 < told / more < 2, model, device, release, told, more)


def sizes():
    """vit_large_patch32_384 was priced with images of 224. 384 / 32 = 12: 145 tokens instead of 50."""
    rows = ask(timm("vit_large_patch32_384", "", 96), timm("vit_large_patch32_224", "", 96), ("vit_large_patch32_224", "RTX 3090", "96", "amp", "PyTorch 1.12", "momentum", "synthetic", "", "384", ""))
    seconds = [float(row["predicted"]) for row in rows]
    expect(seconds[0] > 2 * seconds[1], "more tokens", seconds)
    expect(seconds[2] == seconds[0], "a column says the same", seconds)
    code, out, err = run("models", "vit_base_patch16_384", "--format", "csv")
    code_224, out_224, err = run("models", "vit_base_patch16_224", "--format", "csv")
    expect(code == code_224 == 0 and out != out_224, "options read the size, too", err)


def frameworks():
    """Each is known by name; a word that none has widens the interval."""
    cells = ("resnet50", "V100-16GB-SXM2", "64", "fp32", "", "momentum", "synthetic", "", "", "")
    words = ("TensorFlow 1.12", "MXNet", "PaddlePaddle", "TensorFlow XLA", "Keras", "Zzz")
    rows = ask(*(cells[:4] + (word,) + cells[5:] for word in words))
    for word, row in zip(words, rows):
        expect(("unknown framework" in row["status"]) == (word == "Zzz"), word, row["status"])
    plain = ask(cells[:4] + ("PyTorch",) + cells[5:])[0]
    expect(float(rows[-1]["high"]) / float(rows[-1]["low"]) > float(plain["high"]) / float(plain["low"]), "an unknown framework is less sure", rows[-1], plain)


def records():
    """Of steps that were run nobody knows what their table does not say; a question asks as options do."""
    cells = ("resnet50", "RTX 3090", "64", "amp", "PyTorch", "momentum", "synthetic")
    head = "model,device,micro_batch,precision,framework,optimizer,input"
    asked, measured = ask(cells, head=head)[0], ask((*cells, "0.1"), head=head + ",s_per_step")[0]
    expect("layout" not in asked["status"] and "assumed layout nchw" in measured["status"], asked["status"], measured["status"])
    expect(float(asked["predicted"]) == float(measured["predicted"]) and float(asked["high"]) < float(measured["high"]), asked, measured)
    code, out, err = run("predict", "resnet50", "--on", "rtx-3090", "-f", "json", *(word for text in ("micro_batch=64", "precision=amp", "optimizer=momentum", "input=synthetic", "framework=pytorch") for word in ("--set", text)))
    expect(code == 0 and abs(json.loads(out)["values"]["step.high_s"] / float(asked["high"]) - 1) < 1e-9, "options and rows", asked, err)


def inference():
    """Inference knows a batch norm's statistics: its tensor is read once, not twice. Images a second of timm on an RTX 4090
    (7479d45, results/benchmark-infer-amp-nhwc-pt240-cu124-rtx4090.csv)."""
    head = "model,device,micro_batch,precision,framework,input,layout,mode"
    for model, rate in {"resnet50": 5088.39, "densenet121": 3896.08, "efficientnet_b0": 9831.68, "vgg16": 2904.86}.items():
        row = ask((model, "RTX 4090", "512", "amp", "PyTorch", "synthetic", "nhwc", "inference"), head=head)[0]
        expect(abs(512 / float(row["predicted"]) / rate - 1) < 0.15, model, row["predicted"], rate)


def few_images():
    """A few images keep the device less busy than their host: images a second of MXNet 1.2 (its docs/faq/perf.md, 054aeee) and of DeepLearningExamples
    (TensorFlow 20.06, MXNet 20.12). A step of MXNet's that trains issues each tensor's update when backward has ended."""
    head = "model,device,micro_batch,precision,framework,optimizer,input,mode"
    rates = {("V100-16GB-SXM2", "fp32", "MXNet", "training"): {1: 34.54, 2: 65.01, 4: 113.49, 8: 174.81},
             ("V100-16GB-SXM2", "fp32", "MXNet", "inference"): {1: 162.15, 4: 479.14},
             ("A100-40GB-SXM", "amp", "TensorFlow", "inference"): {1: 223.35, 2: 435.51, 4: 882},
             ("A100-40GB-SXM", "amp", "TensorFlow XLA", "inference"): {1: 174.68, 2: 323.9, 4: 639.75},
             ("A100-80GB-SXM", "amp", "MXNet", "inference"): {1: 463, 2: 880, 4: 1668}}
    for (device, precision, framework, mode), of in rates.items():
        for batch, rate in of.items():
            row = ask(("resnet50", device, str(batch), precision, framework, "momentum", "synthetic", mode), head=head)[0]
            expect(1 / 1.5 < batch / float(row["predicted"]) / rate < 1.5, framework, mode, batch, row["predicted"], rate)
    rows = [ask(("resnet50", device, "1", "amp", "MXNet", "momentum", "synthetic", "inference"), head=head)[0] for device in ("A100-40GB-SXM", "V100-16GB-SXM2")]
    expect(float(rows[0]["predicted"]) < 0.5 * float(rows[1]["predicted"]), "Ampere has a newer MXNet", rows)
    newer = ask(("resnet50", "V100-16GB-SXM2", "1", "amp", "MXNet 1.6", "momentum", "synthetic", "inference"), head=head)[0]
    expect(1 / 1.35 < 286 * float(newer["predicted"]) < 1.35, "a release that is named (MXNet 20.12 on V100)", newer)


layouts()
records()
few_images()
inference()
copied()
sizes()
frameworks()
finish()
