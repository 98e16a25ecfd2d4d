"""A predicted step is never slower on a faster device, memory or link, and never faster with more work: layers, samples.

Asked without the wait for the slowest rank (--jitter 0), which is a share of the step less its exposed exchanges: where a faster exchange
leaves the device idle instead, that share grows by up to 0.2 % of the step. NCCL chooses by its own figures: a faster link may have it choose a protocol
that takes 2 % longer on an exchange, 0.01 % of a step.
"""
import json
import os
import tempfile

from checks import expect, finish, run

DEVICE = """devices:
  - name: my-gpu
    vendor: NVIDIA
    generation: 90
    match: ["My GPU 64GB"]
    flop_per_s: {{fp32: {0:g}e12, tf32: {1:g}e12, bf16: {2:g}e12, fp16: {2:g}e12}}
    memory_bytes: 137438953472
    memory_bytes_per_s: {3:g}e12
    source: sheet
    confidence: high
machines:
  - name: my-box
    device: my-gpu
    devices: 8
    nics: 8
    generation: 90
    inside: {{kind: nvlink, bytes_per_s: {4:g}e9, efficiency: 0.8, latency_s: 4e-6}}
    between: {{kind: infiniband, bytes_per_s: {5:g}e9, efficiency: 0.85, latency_s: 5e-6}}
    switched: 1
    source: sheet
    confidence: high
"""
PLAIN = {"peak": 1, "memory": 1, "inside": 1, "between": 1}
STEPS = [
    ("resnet50", {"dp": 16, "micro_batch": 32}),
    ("bert_large", {"dp": 16, "micro_batch": 4, "precision": "bf16"}),
    ("gpt3_1.3b", {"dp": 16, "zero_stage": 3, "micro_batch": 1, "precision": "bf16", "execution": "compiled"}),
    ("llama2-7b", {"tp": 8, "pp": 2, "micro_batch": 1, "global_batch": 8, "precision": "bf16"}),
    ("gpt2_xl", {"pp": 4, "dp": 4, "micro_batch": 1, "global_batch": 32, "schedule": "zero-bubble", "precision": "amp"}),
    ("dlrm_dcnv2", {"dp": 16, "micro_batch": 512}),
    ("mixtral_8x7b", {"pp": 2, "dp": 8, "ep": 8, "micro_batch": 1, "global_batch": 32, "precision": "bf16"}),
]
MORE_WORK = [("micro_batch", (1, 2, 4, 8, 16)), ("global_batch", (16, 32, 64, 128))]


def seconds(model, machine, settings):
    words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    if settings.get("dp", 1) > 1:
        words += ["--jitter", "0"]
    code, out, err = run("predict", model, "--on", machine, *words, "-q", "-f", "json")
    expect(code == 0, model, machine, settings, err)
    return json.loads(out)["scenarios"][0]["step_ns"] / 1e9 if code == 0 else 0


def box(folder, factors):
    path = os.path.join(folder, "box-" + "-".join(f"{factor:g}" for factor in factors.values()) + ".yaml")
    p, m, i, b = factors.values()
    with open(path, "w", encoding="utf-8") as file:
        file.write(DEVICE.format(60 * p, 400 * p, 800 * p, 2.4 * m, 300 * i, 25 * b))
    return path + "*2"


with tempfile.TemporaryDirectory() as folder:
    for model, settings in STEPS:
        plain = seconds(model, box(folder, PLAIN), settings)
        for what in PLAIN:
            last = plain
            for factor in (1.1, 1.5, 3):
                now = seconds(model, box(folder, {**PLAIN, what: factor}), settings)
                chosen = 2e-4 if what in ("inside", "between") else 1e-9
                expect(now <= last * (1 + chosen), model, settings, f"{what} {factor} times as fast", now, last)
                last = now
    for change in ("nvlink={}GB/s", "net={}GB/s"):
        last = None
        for rate in (25, 40, 50, 100, 200, 400):
            now = seconds("gpt3_1.3b", "dgx-h100*2 " + change.format(rate), STEPS[2][1])
            expect(last is None or now <= last * (1 + 1e-9), change.format(rate), now, last)
            last = now
    for model, settings in STEPS[1:5]:
        for key, values in MORE_WORK:
            if key == "global_batch" and "global_batch" not in settings or key == "micro_batch" and "global_batch" in settings:
                continue
            last = 0
            for value in values:
                now = seconds(model, "dgx-h100*2", {**settings, key: value})
                expect(now >= last * (1 - 1e-9), model, settings, f"{key}={value}", now, last)
                last = now
    for family in (("gpt2", "gpt2_medium", "gpt2_large", "gpt2_xl"), ("bert_base", "bert_large"), ("resnet18", "resnet34"), ("resnet50", "resnet101", "resnet152")):
        last = 0
        for model in family:
            now = seconds(model, "dgx-h100", {"dp": 8, "micro_batch": 8, "precision": "fp32"})
            expect(now >= last, model, "is larger than the one before", now, last)
            last = now
finish()
