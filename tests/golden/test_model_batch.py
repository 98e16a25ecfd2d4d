"""What --batch says of a model is what the model says with so many samples: the same kernels, the same exchanges, the same interval."""
import json

from checks import expect, finish, run

# each with what does not grow: casts and buckets of parameters, products that sum over samples, experts, gradients of tied tables
ASKED = [
    ("gpt2_xl", "hgx-a100-80", {}, 2),
    ("falcon-40b", "hgx-a100-80*4", {}, 1),
    ("mixtral-8x7b", "hgx-a100-80", {"recompute": "full"}, 1),
    ("whisper-medium", "hgx-a100-80*16", {"precision": "amp_bf16", "tp": 8, "zero_stage": 1}, 16),
    ("gpt3_1.3b", "dgx-h100", {"precision": "bf16", "tp": 4, "cp": 2, "zero_stage": 1}, 2),
    ("bert_large", "dgx-1-v100", {"precision": "amp", "execution": "graph"}, 4),
    ("resnet50", "dgx-h100", {"precision": "amp"}, 16),
    ("dlrm_dcnv2", "dgx-h100", {}, 512),
    ("gnmt", "dgx-a100", {"precision": "fp32"}, 16),
    ("vit_large_16", "dgx-a100", {"precision": "amp_bf16"}, 8),
]


def predicted(model, on, settings, *words):
    said = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    code, out, err = run("predict", model, "--on", on, *said, "--jitter", "0", "-q", "-f", "json", *words)
    expect(code < 2, model, err)  # 1: it does not fit into memory, which makes no other kernels
    return json.loads(out) if code < 2 else {}


for model, on, settings, batch in ASKED:
    edited = predicted(model, on, {**settings, "micro_batch": batch}, "--batch", str(2 * batch))
    said = predicted(model, on, {**settings, "micro_batch": 2 * batch})
    if not edited or not said:
        continue
    one, other = edited["scenarios"][-1], said["scenarios"][-1]
    for figure in ("compute_ns", "memory_ns", "step_ns"):
        expect(abs(one[figure] / other[figure] - 1) < 0.005, model, figure, one[figure], other[figure])
    expect(all(row["doubt"] not in ("batch_unknown", "batch_exchange") for row in edited["assumptions"]), model, edited["assumptions"])
    wide, usual = one["high_ns"] / one["step_ns"], other["high_ns"] / other["step_ns"]
    expect(abs(wide / usual - 1) < 0.02, model, "interval", wide, usual)
finish()
