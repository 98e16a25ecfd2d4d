"""What FSDP costs the host: a view of each parameter tensor around every gather and scatter (PyTorch, _fsdp_collectives.py)."""
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


def test_plan():
    """A model whose states are nothing beside the device's memory is not sharded at the price of a slower host."""
    best = json_of("plan", "resnet50", "--on", "dgx-h100", "-q")["configurations"][0]
    expect(best["zero_stage"] < 3, "ZeRO 3 leads", best)


test_views()
test_plan()
finish()
