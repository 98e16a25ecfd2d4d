"""What sharded parameters cost the host: FSDP a view of each tensor around every gather and scatter (PyTorch, _fsdp_collectives.py), DeepSpeed's
ZeRO 3 hooks around each module."""
import json
import os
import tempfile

from checks import expect, finish, json_of, run

RESNET_TENSORS = 161  # torchvision's resnet50: parameters()


def views(zero_stage):
    """Calls of aten::view in a step of one micro-batch."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "step.json")
        code, _, err = run("predict", "resnet50", "--on", "dgx-h100", "--set", "dp=8", "--set", "micro_batch=32", "--set",
                           f"zero_stage={zero_stage}", "-q", "-f", "perfetto", "-o", path)
        expect(code == 0, err)
        with open(path) as file:
            events = json.load(file)["traceEvents"]
    steps = sum(e.get("name", "").startswith("ProfilerStep") for e in events if e.get("ph") == "X")
    return sum(e.get("name") == "aten::view" for e in events if e.get("cat") == "cpu_op") / steps


def test_views():
    # Stage 3 gathers before forward and before backward, and scatters behind backward; 2 gathers before forward alone.
    found = [views(stage) for stage in (1, 2, 3)]
    expect([found[1] - found[0], found[2] - found[0]] == [RESNET_TENSORS, 3 * RESNET_TENSORS], "views", found)


def test_hooks_of_modules():
    """Llama 3 8B by ZeRO 3 with all recomputed takes 0.70 s with a sample of 512 words on each A100, of four as of eight, and 1.57 s with eight samples
    (gpjt/liger-kernels-batch-size-memory-testing): hooks around each product's module, not arithmetic or links, say how long one sample takes."""
    def seconds(devices, samples):
        return json_of("predict", "llama3-8b", "--on", "dgx-a100-80", "--set", "framework=deepspeed", "--set", f"dp={devices}", "--set", "zero_stage=3", "--set", "seq=512",
                       "--set", "recompute=full", "--set", "precision=fp16", "--set", f"micro_batch={samples}", "-q")["step"]["step_ns"] / 1e9
    four, eight, eights = seconds(4, 1), seconds(8, 1), seconds(8, 8)
    expect(abs(four / eight - 1) < 0.05, "more devices", four, eight)
    expect(abs(eights / eight / (1.575 / 0.704) - 1) < 0.2, "more samples", eight, eights)


def test_plan():
    """A model whose states are nothing beside the device's memory is not sharded at the price of a slower host."""
    best = json_of("plan", "resnet50", "--on", "dgx-h100", "-q")["configurations"][0]
    expect(best["zero_stage"] < 3, "ZeRO 3 leads", best)


test_views()
test_hooks_of_modules()
test_plan()
finish()
