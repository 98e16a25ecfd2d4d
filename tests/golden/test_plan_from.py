"""`plan --from`: files of Megatron-LM and torchtitan; yours and each change take what `predict` says, and no value of a field is better."""
import json
import sys
import tempfile
from pathlib import Path

from checks import expect, finish, run

MEGATRON = """#!/bin/bash
# trains
GPUS=8
torchrun --nproc-per-node $GPUS pretrain_gpt.py \\
  --tensor-model-parallel-size 4 --sequence-parallel \\
  --pipeline-model-parallel-size=2 --micro-batch-size 1 --num-layers 12 \\
  --global-batch-size 32 --bf16 --use-distributed-optimizer --recompute-granularity full
"""
TITAN = """[training]
local_batch_size = 1  # of a rank
seq_len = 1024
global_batch_size = 32
[parallelism]
tensor_parallel_degree = 2
pipeline_parallel_degree = 1
data_parallel_shard_degree = -1
[activation_checkpoint]
mode = "full"
"""


def plan(*words):
    code, out, err = run("plan", "gpt2", "--on", "dgx-h100", *words, "-f", "json", "-q")
    return code, json.loads(out) if out else None, err


def predicted(**fields):
    code, out, _ = run("predict", "gpt2", "--on", "dgx-h100", *(w for k, v in fields.items() for w in ("--set", f"{k}={v}")), "-f", "json", "-q")
    return json.loads(out)["values"]["step.median_s"] if code == 0 else None


def check(path, yours, spaces):
    code, answer, err = plan("--from", str(path))
    expect(code == 0, "plan", err)
    mine = predicted(**yours)
    expect(answer["values"]["yours.step_s"] == mine, "yours", answer["values"], mine)
    expect(answer["values"]["best.step_s"] <= mine, "the fastest", answer["values"])
    changes = {row["setting"]: row for row in answer["changes"]}
    steps = [row["step_s"] for row in answer["changes"]]
    expect(changes and steps == sorted(steps), "in order", steps)
    for field, row in changes.items():
        expect(row["from"] == str(yours.get(field, 1)) and row["step_s"] < mine, "a change", row)
        expect(abs(row["faster_share"] - (1 - row["step_s"] / mine)) < 1e-12, "shorter by", row)
    for field, values in spaces.items():
        times = {}
        for value in values:
            fields = {**yours, field: value}
            fields["dp"] = 8 // (int(fields["tp"]) * int(fields.get("pp", 1)))
            if fields["tp"] == 1:
                fields.pop("sequence_parallel", None)  # nothing to split
            times[str(value)] = predicted(**fields)
        best = min(value for value in times.values() if value)
        if field in changes:
            row = changes[field]
            expect(row["step_s"] == times[row["to"]] <= best * 1.001, "the best of a field", field, row, times)
        else:
            expect(best >= 0.998 * mine, "no better value", field, times, mine)


def test_files(folder):
    script, toml = folder / "run.sh", folder / "train.toml"
    script.write_text(MEGATRON)
    toml.write_text(TITAN)
    check(script, {"framework": "megatron-core", "precision": "bf16", "global_batch": 32, "tp": 4, "pp": 2, "dp": 1, "micro_batch": 1,
                   "recompute": "full", "sequence_parallel": 1},
          {"tp": (1, 2, 4), "recompute": ("none", "selective", "full"), "micro_batch": (1, 2, 4, 8, 16, 32)})
    check(toml, {"framework": "fsdp", "global_batch": 32, "sequence": 1024, "tp": 2, "dp": 4, "micro_batch": 1, "zero_stage": 3,
                 "recompute": "full"}, {"recompute": ("none", "selective", "full"), "micro_batch": (1, 2, 4, 8)})
    _, answer, _ = plan("--from", str(script), "--set", "global_batch=64")
    expect("step of 64 samples" in answer["summary"][0], "what is said counts", answer["summary"])


def test_cannot_run(folder):
    script = folder / "run.sh"
    script.write_text("--tensor-model-parallel-size 5 --micro-batch-size 1 --global-batch-size 32")
    code, answer, _ = plan("--from", str(script))
    expect(code == 0 and any("cannot run" in s for s in answer["summary"]) and answer["changes"], "changes that make it run", answer)
    expect(any(row["setting"] == "tp" and row["faster_share"] is None for row in answer["changes"]), "tp", answer["changes"])


def test_no(folder):
    file = folder / "file"
    for text, reason in (("nothing here", "no setting of either"), ("--tensor-model-parallel-size $TP", "expected a value"),
                         ("--tensor-model-parallel-size", "expected a value"), ("--tensor-model-parallel-size many", "expected a number"),
                         ("[parallelism]\ntensor_parallel_degree = \"two\"", "expected a number")):
        file.write_text(text)
        code, _, err = plan("--from", str(file))
        expect(code == 3 and reason in err and err.count("\n") == 1, "refused", text, code, err)
    file.write_bytes(b"--tensor-model-parallel-size 2\0")
    code, _, err = plan("--from", str(file))
    expect(code == 3 and "bytes of 0" in err, "no text", code, err)
    code, _, err = plan("--from", str(folder / "nowhere"))
    expect(code == 3 and "nowhere" in err, "no file", code, err)
    file.write_text(MEGATRON)
    code, _, err = plan("--from", str(file), "--on", "dgx-h100*2")
    expect(code == 2 and "expected one machine" in err, "two machines", err)


with tempfile.TemporaryDirectory() as name:
    test_files(Path(name))
    test_cannot_run(Path(name))
    test_no(Path(name))
sys.exit(finish())
