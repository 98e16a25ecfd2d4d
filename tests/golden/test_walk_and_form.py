"""Questions about steps whose closed form was far from their walk, by cause. The walk is the independent one of the two."""
import json

from checks import expect, finish, run

COMMON = {"micro_batch": 2, "update": "fused"}
QUESTIONS = [
    ("halves are gathered under autocast", "gpt2_xl", "dgx-1-v100*2", {"dp": 2, "zero_stage": 2, "precision": "amp", "optimizer": "adamw", "global_batch": 16}),
    ("the last stage's copy of a table", "bloom-3b", "hgx-a100-80*2", {"pp": 2, "cp": 2, "dp": 2, "zero_stage": 3, "precision": "amp_bf16", "schedule": "gpipe", "micro_batch": 1,
                                                                      "global_batch": 32, "execution": "compiled", "optimizer": "sgd"}),
    ("each of several tails is gathered by itself", "mt5-xl", "dgx-1-v100*4", {"dp": 2, "zero_stage": 3, "recompute": "full", "precision": "fp16", "optimizer": "sgd", "global_batch": 16}),
    ("gathers and scatters share a lane", "opt_13", "dgx-h200*2", {"pp": 4, "cp": 2, "dp": 2, "vpp": 2, "zero_stage": 3, "precision": "bf16", "execution": "compiled", "global_batch": 32}),
    ("gradients of weights that are put off", "qwen2.5-32b", "dgx-1-v100*2", {"pp": 2, "cp": 2, "schedule": "zb-v", "zero_stage": 3, "recompute": "selective", "attention": "math",
                                                                            "precision": "amp", "execution": "compiled", "optimizer": "adamw", "global_batch": 16}),
    ("gathers hide what a late host loses", "vit_large_16", "dgx-1-v100*2", {"dp": 16, "zero_stage": 1, "precision": "fp16", "optimizer": "sgd", "micro_batch": 1, "global_batch": 16}),
    ("a network of one block", "vgg11", "hgx-a100-80*4", {"dp": 16, "zero_stage": 2, "precision": "bf16", "optimizer": "adamw", "update": "foreach", "micro_batch": 4, "global_batch": 64}),
    ("singles are scattered, halves gathered", "lenet", "hgx-a100-80*4", {"dp": 32, "zero_stage": 3, "precision": "amp", "execution": "graph", "optimizer": "adamw", "micro_batch": 1, "global_batch": 128}),
    ("each of two copies is waited for", "mlp", "hgx-a100-80*2", {"dp": 8, "precision": "bf16", "execution": "compiled", "optimizer": "sgd", "micro_batch": 2, "global_batch": 64}),
    ("stages gather before their first passes, one after the other", "gpt3_2.7b", "dgx-b200*4", {"dp": 4, "tp": 4, "pp": 2, "schedule": "zb-v", "zero_stage": 1,
        "recompute": "selective", "precision": "bf16", "execution": "compiled", "optimizer": "adamw", "micro_batch": 1, "global_batch": 4}),
    ("what is gathered is copied out in the first pass", "internlm-7b", "dgx-b200*2", {"dp": 2, "tp": 4, "pp": 2, "schedule": "1f1b", "zero_stage": 2, "precision": "fp16",
        "optimizer": "adam", "update": "foreach", "micro_batch": 1, "global_batch": 2}),
    ("each stage exchanges from its own last pass on", "gpt3_2.7b", "dgx-b200*4", {"dp": 8, "pp": 4, "schedule": "1f1b", "precision": "fp16", "execution": "compiled",
        "optimizer": "sgd", "micro_batch": 1, "global_batch": 8}),
    ("blocks are gathered while the stage waits for the others", "opt_66b", "dgx-h200*4", {"dp": 1, "tp": 4, "pp": 4, "cp": 2, "schedule": "zb-v", "zero_stage": 3,
        "recompute": "selective", "precision": "amp", "execution": "compiled", "optimizer": "adamw", "micro_batch": 1, "global_batch": 4}),
    ("messages under autocast are as wide as what is summed", "starcoder-15b", "dgx-1-v100*4", {"dp": 1, "tp": 8, "pp": 4, "schedule": "zb-v", "precision": "amp",
        "execution": "compiled", "optimizer": "adam", "micro_batch": 4, "global_batch": 8}),
    ("copies to the host that its launches do not hide", "bert_1.3b", "dgx-h100*4", {"dp": 16, "cp": 2, "precision": "amp_bf16", "optimizer": "adamw", "offload": "activations",
        "micro_batch": 4, "global_batch": 64}),
    ("hosts take longer where a stage has many small tensors", "mobilenet", "dgx-h200*2", {"dp": 4, "pp": 4, "precision": "bf16", "optimizer": "adamw", "update": "foreach",
        "micro_batch": 1, "global_batch": 4}),
]

for why, model, machine, settings in QUESTIONS:
    words = [word for key, value in {**COMMON, **settings}.items() for word in ("--set", f"{key}={value}")]
    code, out, err = run("predict", model, "--on", machine, *words, "-q", "-f", "json")
    gap = json.loads(out)["closed_form"]["ratio"] - 1 if code in (0, 1) else err
    expect(isinstance(gap, float) and abs(gap) < 0.05, why, model, settings, gap)
finish()
