"""`plan --from`: files of Megatron-LM, torchtitan, DeepSpeed, Hugging Face and NeMo; yours and each change take what `predict` says, and no value of a field is better."""
import csv
import io
import itertools
import json
import math
import re
import sys
import tempfile
from pathlib import Path
from statistics import NormalDist

from checks import SHARED, expect, finish, run

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


# Errors of configurations against each other have a standard deviation of 0.10 (plan_spread).
APART = NormalDist(0, 0.10 * math.sqrt(2))


def come_true():
    """Of pairs of measured configurations of one model, batch and number of devices, chances come true: they are as often right as said, or a little more often."""
    tables = {"vtrain_a100_single_node": ("hidden layers n_gpu global_batch", "iter_ms"), "vtrain_a100_multi_node": ("params_b n_gpu global_batch", "iter_ms"),
              "bloom176b_a100_384gpu_search": ("date n_gpu global_batch hidden layers", "step_time_s")}
    claims = []
    for name, (keys, measured) in tables.items():
        path = Path(SHARED, "llm", name + ".csv")
        if not path.exists():
            return
        code, out, err = run("predict", "--rows", str(path), *(("--on", "jean-zay-a100") if "bloom" in name else ()), "-f", "csv", "-q")
        rows = list(csv.DictReader(io.StringIO(out)))
        full = [row for row in rows if row["fits"] == "no"]
        expect(code == (1 if full else 0) and not any(row[measured] for row in full), name, err)  # what ran out of memory was not timed
        groups = {}
        for row in rows:
            if row[measured] and row["predicted"]:
                groups.setdefault(tuple(row[key] for key in keys.split()), []).append((float(row["predicted"]), float(row[measured])))
        for group in groups.values():
            for first, other in itertools.combinations(sorted(group), 2):
                claims.append((APART.cdf(math.log(other[0] / first[0])), first[1] < other[1]))
    for low, high in ((0.5, 0.7), (0.7, 0.9), (0.9, 0.99), (0.99, 1.01)):
        some = [(said, right) for said, right in claims if low <= said < high]
        said, right = (sum(column) / len(some) for column in zip(*some))
        expect(len(some) > 1000 and said - 0.02 < right < said + 0.1, "chances come true", low, len(some), said, right)


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
        expect(abs(row["chance_share"] - APART.cdf(math.log(mine / row["step_s"]))) < 1e-9, "chance", row)
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
    _, first, _ = plan("--from", str(toml))
    for text in (TITAN.replace("1024", "1_024"), "\ufeff" + TITAN, TITAN.replace("[training]", "parallelism = { tensor_parallel_degree = 2, data_parallel_shard_degree = -1 }\n[training]")
                 .split("[parallelism]")[0] + '[activation_checkpoint]\nmode = "full"\n'):
        toml.write_text(text, encoding="utf-8")
        code, answer, err = plan("--from", str(toml))
        expect(code == 0 and answer["values"] == first["values"], "TOML in other words", text, err, answer and answer["values"])
    for value in ("-2", '"two"', "2.5"):
        toml.write_text(TITAN.replace("tensor_parallel_degree = 2", f"tensor_parallel_degree = {value}"))
        code, _, err = plan("--from", str(toml))
        expect(code in (2, 3) and err.count("\n") == 1 and value.strip('"') in err, "no degree", value, code, err)
    toml.write_text(TITAN.replace("data_parallel_shard_degree = -1", "data_parallel_shard_degree = 8"))
    _, answer, _ = plan("--from", str(toml))
    expect("runs on 16 devices" in answer["summary"][0], "8 ranks that share parameters, times tp 2", answer["summary"])
    _, answer, _ = plan("--from", str(script), "--set", "global_batch=64")
    expect("step of 64 samples" in answer["summary"][0], "what is said counts", answer["summary"])


def test_cannot_run(folder):
    script = folder / "run.sh"
    script.write_text("--tensor-model-parallel-size 5 --micro-batch-size 1 --global-batch-size 32")
    code, answer, _ = plan("--from", str(script))
    expect(code == 0 and any("cannot run" in s for s in answer["summary"]) and answer["changes"], "changes that make it run", answer)
    expect(any(row["setting"] == "tp" and row["faster_share"] is None for row in answer["changes"]), "tp", answer["changes"])


VARIABLES = """#!/bin/bash
export TP=4 # of a node
PP=${PP:-2}
MICRO="1"
ARGS="--tensor-model-parallel-size ${TP} --sequence-parallel --pipeline-model-parallel-size $PP"
torchrun --nproc_per_node 8 pretrain_gpt.py $ARGS --micro_batch_size $MICRO --bf16 --use-distributed-optimizer \\
  --global-batch-size=$GLOBAL --recompute-granularity full
"""
NEMO = """trainer: {devices: 8, num_nodes: 1, precision: bf16}
model:
  micro_batch_size: 1
  global_batch_size: 32
  tensor_model_parallel_size: 4
  pipeline_model_parallel_size: 2
  sequence_parallel: true
  activations_checkpoint_granularity: full
  optim: {name: distributed_fused_adam}
"""
DEEPSPEED = {"train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 4, "bf16": {"enabled": True}, "fp16": {"enabled": False},
             "zero_optimization": {"stage": 3, "offload_param": {"device": "none"}}, "optimizer": {"type": "AdamW"}}
TRAINER = """torchrun --nproc_per_node 8 run_clm.py --model_name_or_path openai-community/gpt2 --per_device_train_batch_size 2 \\
  --gradient_accumulation_steps 4 --bf16 True --gradient_checkpointing True --fsdp "full_shard auto_wrap" --block_size 1024 --optim adamw_torch_fused"""


def test_forms(folder):
    """The same configuration in other programs' words; steps that files leave out are micro-batch x passes x replicas."""
    megatron = {"framework": "megatron-core", "precision": "bf16", "global_batch": 32, "tp": 4, "pp": 2, "dp": 1, "micro_batch": 1,
                "recompute": "full", "sequence_parallel": 1}  # ZeRO has nobody to share with
    sharded = {"framework": "pytorch", "dp": 8, "zero_stage": 3, "micro_batch": 2, "global_batch": 64}
    cases = ((VARIABLES.replace("$GLOBAL", "32"), "run.sh", megatron), (NEMO, "nemo.yaml", megatron),
             ("\ufeff" + json.dumps(DEEPSPEED), "ds.json", {**sharded, "framework": "deepspeed", "precision": "bf16", "optimizer": "adamw"}),
             (TRAINER, "hf.sh", {**sharded, "precision": "amp_bf16", "optimizer": "adamw", "update": "fused", "recompute": "full", "sequence": 1024}),
             (TITAN.replace("global_batch_size = 32\n", ""), "t.toml",
              {"framework": "fsdp", "global_batch": 4, "sequence": 1024, "tp": 2, "dp": 4, "micro_batch": 1, "zero_stage": 3, "recompute": "full"}))
    for text, name, yours in cases:
        (folder / name).write_text(text)
        code, answer, err = plan("--from", str(folder / name))
        expect(code == 0 and answer["values"]["yours.step_s"] == predicted(**yours), name, err, answer and answer["values"], predicted(**yours))
        expect(answer and not answer["warnings"], "nothing is left out", name, answer and answer["warnings"])


ACCELERATE = """distributed_type: {}
fsdp_config:
{}
mixed_precision: bf16
num_machines: 2
num_processes: 16
"""


def test_sharding(folder):
    """What PyTorch's FSDP is told to shard, and among whom: a hybrid has a copy on each node (ShardingStrategy of torch.distributed.fsdp)."""
    same = {"framework": "pytorch", "precision": "amp_bf16", "global_batch": 32, "micro_batch": 1, "dp": 16}
    file = folder / "accelerate.yaml"
    for kind, strategy, yours in (("FSDP", "fsdp_sharding_strategy: HYBRID_SHARD", {"zero_stage": 3, "zero_group": 8}), ("FSDP", "fsdp_sharding_strategy: 5", {"zero_stage": 2, "zero_group": 8}),
                                  ("FSDP", "fsdp_version: 2", {"zero_stage": 3}), ("FSDP", "fsdp_reshard_after_forward: false", {"zero_stage": 2}), ("MULTI_GPU", "fsdp_state: x", {"zero_stage": 0})):
        file.write_text(ACCELERATE.format(kind, "  " + strategy))
        code, out, err = run("plan", "gpt2", "--on", "dgx-h100*2", "--from", str(file), "--set", "global_batch=32", "-f", "json", "-q")
        answer = json.loads(out)
        _, out, _ = run("predict", "gpt2", "--on", "dgx-h100*2", *(w for k, v in {**same, **yours}.items() for w in ("--set", f"{k}={v}")), "-f", "json", "-q")
        expect(code == 0 and answer["values"]["yours.step_s"] == json.loads(out)["values"]["step.median_s"], strategy, err, answer["values"])
        expect(not answer["warnings"], "all is counted", strategy, answer["warnings"])


def test_eight_bits(folder):
    """FP8 is a format of products within a run in bf16: it counts wherever the file says it."""
    for text, name in ((MEGATRON.replace("--bf16", "--fp8-format hybrid --bf16"), "run.sh"), (MEGATRON.replace("--bf16", "--bf16 --fp8-format hybrid"), "run.sh"),
                       ("model:\n  fp8: true\n" + NEMO.replace("model:\n", "", 1).split("trainer")[0] + NEMO.split("model:\n")[1] + "trainer: {devices: 8, num_nodes: 1, precision: bf16}\n", "nemo.yaml")):
        (folder / name).write_text(text)
        code, answer, err = plan("--from", str(folder / name))
        expect(code == 0 and not answer["warnings"] and all(row["precision"] == "fp8" for row in answer["configurations"]), text, err, answer and answer["warnings"])
    (folder / "op.toml").write_text(TITAN.replace("pipeline_parallel_degree = 1", 'pipeline_parallel_degree = 2\npipeline_parallel_schedule = "1F1B"')
                                    .replace('mode = "full"', 'mode = "selective"\nselective_ac_option = "op"'))
    code, answer, err = plan("--from", str(folder / "op.toml"))
    expect(code == 0 and not answer["warnings"], "operators are what selective recomputation chooses, and one schedule is no interleaved one", err, answer and answer["warnings"])


def test_own_lines(folder):
    """What a plan tells a program, given back, is the fastest configuration."""
    for model, framework, fixed in (("gpt3_1.3b", "megatron-core", ("tp=2", "pp=2", "vpp=4", "precision=bf16")), ("gpt3_1.3b", "megatron-core", ("recompute=full", "precision=bf16")),
                                    ("gpt3_1.3b", "fsdp", ("tp=2", "zero_stage=3")), ("gpt3_1.3b", "fsdp", ("micro_batch=2",)), ("gpt3_1.3b", "fsdp", ("pp=2", "schedule=zb-v")),
                                    ("gpt3_1.3b", "deepspeed", ("precision=bf16", "tp=1", "pp=1", "recompute=none")), ("gpt3_1.3b", "deepspeed", ("precision=bf16", "tp=2", "pp=1", "recompute=none"))):
        words = ("plan", model, "--on", "dgx-h100", "--set", "global_batch=64", *(w for f in (f"framework={framework}", *fixed) for w in ("--set", f)))
        _, out, _ = run(*words, "-f", "json", "-q")
        answer = json.loads(out)
        expect("launch" in answer, "a plan", framework, fixed, answer["summary"])
        lines = [row["line"] for row in answer.get("launch", [])]
        if framework == "deepspeed":
            lines = lines[next((i for i, line in enumerate(lines) if line.startswith("{")), 0):]
            lines[-1] += "}" * (sum(line.count("{") for line in lines) - sum(line.count("}") for line in lines))
        file = folder / ("own.json" if framework == "deepspeed" else "own.toml" if framework == "fsdp" else "own.sh")
        file.write_text("\n".join(lines))
        code, out, err = run("plan", model, "--on", "dgx-h100", "--from", str(file), "-f", "json", "-q")
        expect(code == 0 and json.loads(out)["values"]["yours.step_s"] == answer["values"]["best.step_s"], "own lines", framework, fixed, lines, err,
               out and json.loads(out)["summary"])


FOUNDRY = """variables: {batch: 64}
max_seq_len: 1024
model: {name: mpt_causal_lm, max_seq_len: "${max_seq_len}"}
global_train_batch_size: ${variables.batch}
device_train_microbatch_size: 4
precision: amp_bf16
fsdp_config: {sharding_strategy: FULL_SHARD, activation_checkpointing: true}
"""
NANOTRON = """parallelism: {dp: 4, tp: 2, pp: 1, pp_engine: 1f1b, tp_mode: REDUCE_SCATTER}
tokens: {batch_accumulation_per_replica: 2, micro_batch_size: 2, sequence_length: 1024}
optimizer: {zero_stage: 1}
model: {dtype: bfloat16}
"""
TUNE = """model: {_component_: torchtune.models.llama3_1.llama3_1_8b}
tokenizer: {_component_: torchtune.models.llama3.llama3_tokenizer, max_seq_len: 1024}
batch_size: 2
gradient_accumulation_steps: 4
enable_activation_checkpointing: True
dtype: bf16
compile: False
"""
LITGPT = """precision: bf16-true
devices: 8
train: {global_batch_size: 64, micro_batch_size: 4, lr_warmup_steps: 10, max_seq_length: 1024}
quantize: null
"""
AXOLOTL = """base_model: openai-community/gpt2
fsdp:
  - {}
  - {}
micro_batch_size: 2
gradient_accumulation_steps: 4
bf16: true
sequence_len: 1024
"""


def test_more_programs(folder):
    """LLM Foundry, nanotron and torchtune in their own words; axolotl's list of FSDP's words in either order."""
    sharded = {"framework": "pytorch", "dp": 8, "zero_stage": 3, "micro_batch": 2, "global_batch": 64, "precision": "amp_bf16", "sequence": 1024}
    for text, yours in ((FOUNDRY, {"framework": "composer", "dp": 8, "zero_stage": 3, "micro_batch": 4, "global_batch": 64, "precision": "bf16", "recompute": "full", "sequence": 1024}),
                        (NANOTRON, {"framework": "nanotron", "tp": 2, "dp": 4, "zero_stage": 1, "micro_batch": 2, "global_batch": 16, "precision": "bf16", "sequence_parallel": 1, "sequence": 1024}),
                        (TUNE, {"framework": "litgpt", "dp": 8, "zero_stage": 3, "micro_batch": 2, "global_batch": 64, "precision": "bf16", "recompute": "full", "sequence": 1024}),
                        (LITGPT, {"framework": "litgpt", "dp": 8, "zero_stage": 3, "micro_batch": 4, "global_batch": 64, "precision": "bf16", "sequence": 1024}),
                        (AXOLOTL.format("full_shard", "auto_wrap"), sharded), (AXOLOTL.format("auto_wrap", "full_shard"), sharded)):
        (folder / "more.yaml").write_text(text)
        code, answer, err = plan("--from", str(folder / "more.yaml"))
        expect(code == 0 and answer["values"]["yours.step_s"] == predicted(**yours) and not answer["warnings"], text, err, answer and (answer["values"], answer["warnings"]), predicted(**yours))


RLHF = """read -r -d '' training_commands <<EOF
openrlhf.cli.train_sft --max_len 1024 --train_batch_size 64 --micro_train_batch_size 2 --pretrain openai-community/gpt2 --bf16 --zero_stage 3 --gradient_checkpointing
EOF
torchrun --nproc_per_node=8 -m $training_commands
"""
BRANCHES = """TP=4 # of a node
PR=bf16
AC={}
if [ -z ${{MP_VP}} ]; then
    vp=""
else
    vp=" --num-layers-per-virtual-pipeline-stage ${{MP_VP}}"
fi
if [ "$PR" = "fp16" ]; then
  pr="--fp16"
elif [[ $PR == bf16 ]]
then
  pr="--bf16"
else
  pr="--fp8-format hybrid"
fi
if [ $AC = full ]; then ac=" --recompute-granularity full"
elif [ $AC = finetune ]; then
    if [ $TP -gt 8 ]; then
        ac=" --recompute-granularity selective"
    fi
fi
if [ $TP -gt 1 ] && [ $PR != fp32 ]; then
  sp="--sequence-parallel"
fi
OVERLAP=$(( ($TP > 4) ? 1 : 0 ))
if [ $OVERLAP -eq 1 ] || [ $TP -lt 2 ]; then
  o="--tp-comm-overlap"
fi
torchrun --nproc-per-node 8 pretrain_gpt.py --tensor-model-parallel-size $TP --pipeline-model-parallel-size 2 --micro-batch-size 1 --global-batch-size 32 --use-distributed-optimizer
"""


RECIPE = """from nemo.collections import llm

def configure(nodes: int = 1):
    recipe = llm.gpt2.pretrain_recipe(
        dir="/checkpoints",
        num_nodes=nodes,
    )
    recipe.data.global_batch_size = 32
    recipe.data.micro_batch_size = 1
    return recipe
strategy = MegatronStrategy(
    tensor_model_parallel_size=4,
    pipeline_model_parallel_size=2,
    sequence_parallel=True,
)
"""


def test_recipe(folder):
    """NeMo 2's recipes in Python: arguments of calls and assignments of members, one a line."""
    (folder / "recipe.py").write_text(RECIPE)
    code, answer, err = plan("--from", str(folder / "recipe.py"))
    yours = {"framework": "megatron-core", "global_batch": 32, "tp": 4, "pp": 2, "dp": 1, "micro_batch": 1, "sequence_parallel": 1}
    expect(code == 0 and answer["values"]["yours.step_s"] == predicted(**yours) and not answer["warnings"], "recipe", err, answer and (answer["values"], answer["warnings"]))


def test_branches(folder):
    """Of "if" what a script's own variables decide is taken alone; what stands in a branch that nobody can decide is said."""
    file, wanted = folder / "run.sh", {"framework": "megatron-core", "precision": "bf16", "global_batch": 32, "tp": 4, "pp": 2, "dp": 1, "micro_batch": 1, "sequence_parallel": 1}
    for choice, more in (("full", {"recompute": "full"}), ("finetune", {}), ("none", {})):
        file.write_text(BRANCHES.format(choice))
        code, answer, err = plan("--from", str(file))
        expect(code == 0 and answer["values"]["yours.step_s"] == predicted(**wanted, **more) and not answer["warnings"], choice, err, answer and answer["warnings"])
    for before in ('if [ "$1" = "slow" ]; then', "if [ -f /etc/slow ]; then", "if some_program; then", "case $1 in\nslow)"):
        file.write_text(f"{before}\n  x=--recompute-granularity\\ full\n  y=\"--recompute-granularity full\"\n{'esac' if 'case' in before else 'fi'}\n" + BRANCHES.format("none"))
        code, answer, err = plan("--from", str(file))
        texts = " ".join(w["text"] for w in answer["warnings"]) if answer else ""
        expect(code == 0 and "branch that may not be taken" in texts and "--recompute-granularity" in texts, before, err, texts)
    file.write_text(RLHF)
    code, answer, err = plan("--from", str(file))
    yours = {"framework": "deepspeed", "dp": 8, "zero_stage": 3, "micro_batch": 2, "global_batch": 64, "precision": "bf16", "recompute": "full", "sequence": 1024}
    expect(code == 0 and answer["values"]["yours.step_s"] == predicted(**yours) and not answer["warnings"], "OpenRLHF", err, answer and answer["warnings"])


def test_other_programs(folder):
    """Keys that change a step and that no launcher reads are said, whatever program's they are."""
    (folder / "other.yaml").write_text("trainer: {micro_batch_size: 2, tensor_parallel_size: 4, pp: 2, lr: 1e-4, gradient_checkpointing: false, cp: 1}\nglobal_batch_size: 64\n")
    code, answer, err = plan("--from", str(folder / "other.yaml"))
    texts = " ".join(w["text"] for w in answer["warnings"] if w["code"] == "file_differs") if answer else ""
    expect(code == 0 and "trainer.tensor_parallel_size 4" in texts and "trainer.pp 2" in texts and ".lr" not in texts and ".cp" not in texts, "what is not read", err, texts)
    (folder / "run.sh").write_text("tp=2\npp=1\n" + MEGATRON.replace("size 4", "size $tp"))  # names of a shell mean nothing
    code, answer, err = plan("--from", str(folder / "run.sh"))
    expect(code == 0 and not answer["warnings"], "variables", err, answer and answer["warnings"])


def test_arithmetic(folder):
    """Figures that a script works out: POSIX's arithmetic expansion, in assignments and in flags."""
    wanted = {"framework": "megatron-core", "precision": "bf16", "global_batch": 32, "tp": 4, "pp": 2, "dp": 1, "micro_batch": 1, "recompute": "full", "sequence_parallel": 1}
    for before, batch in (("MBS=1\nGBS=$((MBS * 32))\n", "$GBS"), ("N=2\nGBS=$(( ($N + 6) * ${N} * 4 / 2 ))\n", "$GBS"), ("GPUS=8\n", "$((GPUS*4))"), ("A=100\n", "$(( A % 34 ))"), ("A=3\nGBS=$(( A >= 3 ? 16 * 2 : 1 ))\n", "$GBS"), ("A=3\n", "$((A == 3 ? 32 : 4))")):
        (folder / "run.sh").write_text(before + MEGATRON.replace("--global-batch-size 32", f"--global-batch-size {batch}"))
        code, answer, err = plan("--from", str(folder / "run.sh"))
        expect(code == 0 and answer["values"]["yours.step_s"] == predicted(**wanted), before, batch, err, answer and answer["summary"])
    for batch in ("$((UNKNOWN * 4))", "$((4 / 0))", "$((4 +))", "$((1000000000000 * 1000000000000))", "$((" + "1?:" * 200000 + "1))", "$((" + "1?1:" * 200000 + "1))", "$((" + "(" * 200000 + "1))"):
        (folder / "run.sh").write_text(f"GBS={batch}\n" + MEGATRON.replace("--global-batch-size 32", "--global-batch-size $GBS"))
        code, _, err = plan("--from", str(folder / "run.sh"))
        expect(code == 3 and "expected a value" in err, batch, code, err)


def said(folder, text, *words):
    (folder / "run.sh").write_text(text)
    code, out, err = run("plan", *words, "--from", str(folder / "run.sh"), "-f", "json", "-q")
    return code, json.loads(out) if out else {}, err


def test_model(folder):
    """The model is the file's where the question names none; one of another size, and other devices, are said."""
    sizes = ("--num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 --num-attention-heads 32 --num-query-groups 8 --swiglu --vocab-size 128256 "
             "--untie-embeddings-and-output-weights --seq-length 8192 --tensor-model-parallel-size 4 --micro-batch-size 1 --global-batch-size 64 --bf16 --sequence-parallel")
    _, own, _ = said(folder, sizes, "--on", "dgx-h100")
    _, named, _ = said(folder, sizes, "llama3-8b", "--on", "dgx-h100")
    expect(own["values"]["yours.step_s"] == named["values"]["yours.step_s"] and not own["warnings"] + named["warnings"], "of its sizes", own["warnings"])
    _, other, _ = said(folder, sizes + " --nnodes 2 --nproc-per-node 8 --tp-comm-overlap", "llama3-70b", "--on", "dgx-h100*4")
    texts = " ".join(w["text"] for w in other["warnings"] if w["code"] == "file_differs")
    expect(all(t in texts for t in ("--tp-comm-overlap", "8.030 billion parameters, llama3-70b has 70.55 billion", "16 devices")), "differs", other["warnings"])
    _, word, _ = said(folder, sizes + " --recompute-granularity some", "--on", "dgx-h100")
    expect([w["text"].endswith("--recompute-granularity some.") for w in word["warnings"]] == [True], "a word that means nothing here", word["warnings"])
    _, unknown, _ = said(folder, sizes + " --nnodes $SLURM_NNODES --nproc-per-node 8", "--on", "dgx-h100*2")
    expect(not unknown["warnings"], "who starts it knows how many nodes", unknown["warnings"])
    (folder / "sft.yaml").write_text(NEMO.replace("model:\n", "model:\n  num_layers: 24\n  hidden_size: 2048\n  num_attention_heads: 16\n  encoder_seq_length: 2048\n"
                                                  "  max_position_embeddings: 2048\n  data: {train_ds: {num_workers: 4}, validation_ds: {num_workers: 2}}\n"))
    code, out, err = run("plan", "--from", str(folder / "sft.yaml"), "--on", "dgx-h100", "-f", "json", "-q")
    expect(code == 0 and any("hidden=2048, layers=24" in s for s in json.loads(out)["summary"]), "keys that stand twice", err)
    for shares, untied in (("true", 0), ("False", 128256 * 4096)):  # Llama 3 8B has 8.030 billion parameters with an output of its own
        (folder / "llama.yaml").write_text(NEMO.replace("model:\n", "model:\n  num_layers: 32\n  hidden_size: 4096\n  ffn_hidden_size: 14336\n  num_attention_heads: 32\n  num_query_groups: 8\n"
                                                        f"  vocab_size: 128256\n  encoder_seq_length: 8192\n  activation: fast-swiglu\n  share_embeddings_and_output_weights: {shares}\n"))
        code, out, err = run("plan", "--from", str(folder / "llama.yaml"), "--on", "dgx-h100", "-f", "json", "-q")
        wanted = f"llama: {(8_030_261_248 - 128256 * 4096 + untied) / 1e9:.3f} billion parameters."
        expect(code == 0 and wanted in json.loads(out)["notes"], "tied weights of NeMo", shares, json.loads(out)["notes"][:2], err)
    _, titan, _ = said(folder, '[model]\nname = "llama3"\nflavor = "8B"\n[training]\nlocal_batch_size = 1\nseq_len = 8192\n[compile]\nenable = true', "--on", "dgx-h100")
    expect(any("A step of 8 samples" in s for s in titan["summary"]) and "compile.enable" in titan["warnings"][0]["text"], "torchtitan", titan["summary"])
    code, _, err = said(folder, "--tensor-model-parallel-size 4 --micro-batch-size 1", "--on", "dgx-h100")
    expect(code == 2 and "neither names" in err, "no model", code, err)
    code, _, err = said(folder, "TP=4\nif true; then TP=8; fi\n--tensor-model-parallel-size $TP", "gpt2", "--on", "dgx-h100")
    expect(code == 3 and "several values" in err, "which value?", code, err)
    code, out, err = run("plan", "--on", "dgx-h100")
    expect(code == 2 and "expected one model" in err, "nothing", err)


def test_experts_by_sizes(folder):
    """Mixtures by Megatron's flags have as many parameters as released: DeepSeek-V3 671.0 billion (arXiv 2412.19437), of which tests/golden/test_hub_configs.py has the sum, GLM-4.5-Air's
    layers, one dense and a shared expert, and Llama 4 Maverick's, whose every second layer has experts."""
    deepseek = ("--num-layers 61 --hidden-size 7168 --ffn-hidden-size 18432 --num-attention-heads 128 --vocab-size 129280 --swiglu --untie-embeddings-and-output-weights --seq-length 4096 "
                "--multi-latent-attention --q-lora-rank 1536 --kv-lora-rank 512 --qk-head-dim 128 --qk-pos-emb-head-dim 64 --v-head-dim 128 --num-experts 256 --moe-router-topk 8 "
                "--moe-ffn-hidden-size 2048 --moe-shared-expert-intermediate-size 2048 --moe-layer-freq ([0]*3+[1]*58) --moe-router-group-topk 4 ")
    how = "--tensor-model-parallel-size 2 --pipeline-model-parallel-size 16 --expert-model-parallel-size 64 --micro-batch-size 1 --global-batch-size 8192 --bf16 --sequence-parallel"
    code, own, err = said(folder, deepseek + how, "--on", "dgx-h100*256")
    _, named, _ = said(folder, how, "deepseek-v3", "--on", "dgx-h100*256", "--set", "sequence=4096")
    expect(code == 0 and own["values"]["yours.step_s"] == named["values"]["yours.step_s"], "of its sizes", err, own.get("values"), named["values"])
    expect(any("671.0 billion parameters" in note for note in own["notes"]), "parameters", own["notes"][:2])
    air = ("--num-layers 46 --hidden-size 4096 --ffn-hidden-size 10944 --num-attention-heads 96 --num-query-groups 8 --kv-channels 128 --vocab-size 151552 --swiglu "
           "--untie-embeddings-and-output-weights --seq-length 4096 --num-experts 128 --moe-router-topk 8 --moe-ffn-hidden-size 1408 --moe-shared-expert-intermediate-size 1408 ")
    per_layer = 4096 * 128 * (96 + 2 * 8) + 96 * 128 * 4096
    for pattern, dense in (("[0]*1+[1]*45", 1), ("([1]*46)*1", 0), ("[0,1]*23", 23), ("1", 0)):
        code, own, err = said(folder, air + f"--moe-layer-freq {pattern} " + how, "--on", "dgx-h100*256")
        wanted = 46 * per_layer + 2 * 151552 * 4096 + dense * 3 * 4096 * 10944 + (46 - dense) * (129 * 3 * 4096 * 1408 + 4096 * 128)
        expect(code == 0 and any(f"{wanted / 1e9:.2f}"[:4] in note for note in own["notes"][:3]), "parameters", pattern, wanted, own.get("notes", err)[:3])
    for pattern in ("[1,0]*23", "[0]*3+[1]*$N", "2"):
        code, _, err = said(folder, air + f"--moe-layer-freq {pattern} " + how, "--on", "dgx-h100*256")
        expect(code == 2 and "moe_layer_freq" in err, "an order that no model has", pattern, code, err)


def test_lists(folder):
    """Names behind a flag are its list until a flag, a file or a key of Hydra's comes."""
    flags = "torchrun --nproc-per-node 8 pretrain_gpt.py --tensor-model-parallel-size 2 --micro-batch-size 1 --global-batch-size 64 --recompute-granularity selective"
    file = folder / "list.sh"
    steps = {}
    for text in ("--recompute-modules layernorm mlp", "--recompute-modules layernorm,mlp", "--recompute-modules layernorm mlp trainer=gpu", "--recompute-modules 'layernorm' 'mlp' run.py",
                 "--recompute-modules layernorm mlp 2>&1 | tee log", "--recompute-modules layernorm mlp=1", "--recompute-modules layernorm"):
        file.write_text(f"{flags} {text}\n")
        code, answer, err = plan("--from", str(file))
        expect(code == 0, text, err)
        steps[text] = answer["values"]["yours.step_s"]
    found = list(steps.values())
    expect(len(set(found[:5])) == 1 and found[5] == found[6] != found[0], "lists", steps)


def test_slips(folder):
    """A flag that is a known one but for a slip is named; one that the file states besides, and any other, is not."""
    flags = "torchrun --nproc-per-node 8 pretrain_gpt.py --micro-batch-size 1 --global-batch-size 64 --lr 1e-4 --data-path a"
    for text, slip, meant in ((f"{flags} --tensor-model-paralell-size 2\n", "tensor_model_paralell_size 2", "--tensor-model-parallel-size"),
                              (f"{flags} --use-distributed-optimiser\n", "use_distributed_optimiser", "--use-distributed-optimizer"),
                              (f"{flags} --tensor-model-paralell-size 2 --tensor-model-parallel-size 2\n", None, None), (f"{flags} --log-interval 10\n", None, None)):
        file = folder / "slip.sh"
        file.write_text(text)
        code, answer, err = plan("--from", str(file))
        said = [one["text"] for one in answer["warnings"] if one["code"] == "file_differs"] if answer else [err]
        expect(code == 0 and any(f"not counted: {slip} (is {meant} meant?)" in one for one in said) if slip else not any("meant" in one for one in said), text, said)


def test_no(folder):
    file = folder / "file"
    for text, reason in (("nothing here", "no setting of any"), ("--tensor-model-parallel-size $TP", "expected a value"),
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


def test_beside_the_fastest(folder):
    """Yours against the fastest: longer by what the times say, as fast, or against nothing where nothing can run."""
    script = folder / "run.sh"
    text = "torchrun pretrain_gpt.py --tensor-model-parallel-size {} --num-layers 12 --hidden-size 768 --num-attention-heads 12 --seq-length 1024 " \
           "--micro-batch-size 1 --global-batch-size 64 --bf16 --use-distributed-optimizer --vocab-size 50257 --max-position-embeddings 1024"
    for sharded, fixed, wanted in ((2, (), r"takes \S+ \wµ?s, [0-9.]+ % longer than the fastest"), (1, ("tp=1", "micro_batch=1", "zero_stage=1", "pp=1", "recompute=none"), "as the fastest does"),
                                   (2, ("tp=8",), r"takes [0-9.]+ \w+\.$")):
        script.write_text(text.format(sharded))
        _, out, err = run("plan", "--on", "dgx-h100", "--from", str(script), *(word for one in fixed for word in ("--set", one)), "-f", "json", "-q")
        yours = [one for one in json.loads(out)["summary"] if one.startswith("Yours")]
        expect(len(yours) == 1 and re.search(wanted, yours[0]), fixed, yours, err)


def test_taken_out(folder):
    """Flags of the file that the fastest does without are told apart from those that it has with another value."""
    script = folder / "run.sh"
    script.write_text("torchrun pretrain_gpt.py --tensor-model-parallel-size 4 --pipeline-model-parallel-size 2 --num-layers 32 --hidden-size 4096 "
                      "--num-attention-heads 32 --seq-length 4096 --micro-batch-size 2 --global-batch-size 256 --bf16 --use-distributed-optimizer "
                      "--recompute-granularity full --recompute-method uniform --recompute-num-layers 1 --vocab-size 50257 --lr 1e-4")
    for fixed in ((), ("--set", "tp=4"), ("--set", "tp=4", "--set", "recompute=full")):
        code, out, err = run("plan", "--on", "dgx-h100*4", "--from", str(script), *fixed, "-f", "json", "-q")
        answer = json.loads(out)
        said = {word for row in answer["launch"] for word in row["line"].split() if word.startswith("--")}
        note = " ".join(one for one in answer["notes"] if "take out of" in one)
        gone = set(re.findall(r"--[a-z-]+", note.split(":")[-1]))
        searched = {"--tensor-model-parallel-size", "--pipeline-model-parallel-size", "--recompute-granularity", "--use-distributed-optimizer"}
        expect(code == 0 and gone == searched - said, fixed, gone, said, err)


with tempfile.TemporaryDirectory() as name:
    test_taken_out(Path(name))
    test_beside_the_fastest(Path(name))
    test_files(Path(name))
    test_cannot_run(Path(name))
    test_forms(Path(name))
    test_sharding(Path(name))
    test_eight_bits(Path(name))
    test_own_lines(Path(name))
    test_more_programs(Path(name))
    test_other_programs(Path(name))
    test_arithmetic(Path(name))
    test_branches(Path(name))
    test_recipe(Path(name))
    test_model(Path(name))
    test_experts_by_sizes(Path(name))
    test_no(Path(name))
    test_slips(Path(name))
    test_lists(Path(name))
come_true()
sys.exit(finish())
