"""`plan` of a recording: the layers that it repeats are those of the published model, and times are `predict`'s."""
import json
import os
import sys

from checks import SHARED, SOURCE, expect, expect_line, finish, run


def plan(path, *words):
    code, out, err = run("plan", path, "--on", "dgx-h100", "--set", "global_batch=512", *words, "-f", "json", "-q")
    return code, json.loads(out) if out else None, err


def said(answer, *texts):
    whole = " ".join(answer["summary"])
    for text in texts:
        expect(text in whole, text, "in", whole)


def equals_predict(path, answer):
    """The first configuration and one that shares layers, asked again as a step, to the last bit."""
    for one in (answer["configurations"][0], answer["configurations"][-1]):
        keys = ("tp", "pp", "vpp", "dp", "micro_batch", "recompute", "schedule", "zero_stage")
        words = ["global_batch=512"] + [f"{key}={one[key]}" for key in keys if key != "zero_stage" or one["dp"] > 1]
        code, out, err = run("predict", path, "--on", "dgx-h100", *[w for s in words for w in ("--set", s)], "-f", "json", "-q")
        expect(code == 0, "predict", words, err)
        if code == 0:
            expect(json.loads(out)["values"]["step.median_s"] == one["step_s"], "equal", words, one["step_s"])


def test_demo():
    """The README's own recording: four layers of width 256."""
    path = os.path.join(SOURCE, "tests/data/demo.json.gz")
    code, answer, err = plan(path)
    expect(code == 0, "demo", err)
    said(answer, "4 layers of width 256", "8 heads", "feed-forward width 1024", "fp32")
    equals_predict(path, answer)
    code, answer, err = plan(path, "--set", "layers=8", "--set", "tp=4")
    expect(code == 0 and answer["configurations"][0]["tp"] == 4, "its sizes may be set, and its layers split", err)


def test_published():
    """Sizes as the models were published (prajjwal1/bert-small; Qwen1.5-0.5B; ViT-B/16), recorded on two makers' devices."""
    models = {
        "bert_small_infer": ["4 layers of width 512", "8 heads", "feed-forward width 2048", "vocabulary of 30522", "bf16"],
        "qwen05b_generate": ["24 layers of width 1024", "16 heads", "feed-forward width 2816 (gated)", "vocabulary of 151936"],
        "vit_infer": ["12 layers of width 768", "12 heads", "feed-forward width 3072", "sequences of 197"],
    }
    for name, texts in models.items():
        for device in ("h100", "mi300"):
            path = os.path.join(SHARED, f"kineto/tl_{name}_1x{device}.json.gz")
            if not os.path.exists(path):
                print("not here:", path)
                continue
            code, answer, err = plan(path)
            expect(code == 0, name, err)
            said(answer, *texts)


def test_no_layers():
    """What repeats no attention is refused in one line that says what to ask instead."""
    code, _, err = run("plan", os.path.join(SOURCE, "tests/data/memory/convolutions.json.gz"), "--on", "dgx-h100")
    expect_line(code, err, 3, "no layers that repeat", "--workers")


test_demo()
test_published()
test_no_layers()
sys.exit(finish())
