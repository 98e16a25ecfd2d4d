"""Questions about steps whose closed form was far from their walk, by cause. The walk is the independent one of the two."""
import csv
import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

from checks import expect, finish, run

PACELINE, SOURCE = os.environ["PACELINE"], os.environ["PACELINE_SOURCE"]
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
    ("an update follows what is copied back from buckets", "vit_large_32", "dgx-h200*2", {"dp": 8, "precision": "amp_bf16", "optimizer": "adamw", "update": "foreach",
        "micro_batch": 64, "global_batch": 512}),
    ("copies of input hide behind a slower stage", "vit_tiny_16", "dgx-1-v100*2", {"dp": 1, "pp": 8, "precision": "amp", "execution": "compiled", "optimizer": "sgd",
        "micro_batch": 4, "global_batch": 128}),
    ("tables are not gathered", "dlrm_mlperf", "hgx-a100-80*4", {"dp": 8, "zero_stage": 3, "precision": "amp", "optimizer": "adam", "update": "foreach", "micro_batch": 1,
        "global_batch": 16}),
    ("buckets are issued behind what is compiled", "vit_tiny_16", "dgx-h100*2", {"dp": 8, "pp": 2, "schedule": "zero-bubble", "precision": "amp", "execution": "compiled",
        "optimizer": "adam", "update": "foreach", "global_batch": 64}),
    ("one operator issues what a compiled pass gathers", "vit_small_16", "dgx-h200*2", {"dp": 4, "zero_stage": 3, "precision": "fp16", "execution": "compiled", "optimizer": "adam",
        "micro_batch": 1, "global_batch": 8}),
    ("the next pass waits for a chunk's last copy", "opt_125m", "dgx-h200*2", {"pp": 4, "dp": 4, "precision": "amp", "execution": "compiled", "optimizer": "adamw", "micro_batch": 2,
        "global_batch": 32, "offload": "activations", "schedule": "gpipe"}),
    ("what a compiled pass returns is cast and added by kernels of their own", "qwen3-30b-a3b", "h100-80-sxm", {"precision": "amp", "execution": "compiled",
        "recompute": "none", "optimizer": "adamw", "micro_batch": 1, "global_batch": 8}),
    ("gradients put into buckets are not added twice", "deepseek-v3", "dgx-h100*2", {"pp": 8, "dp": 2, "zero_stage": 2, "precision": "amp", "recompute": "none",
        "optimizer": "adamw", "micro_batch": 4, "global_batch": 16}),
    ("small tensors are added one by one", "whisper-tiny", "dgx-h200", {"pp": 4, "precision": "fp16", "execution": "compiled", "optimizer": "adam", "update": "foreach",
        "global_batch": 16}),
    ("blocks of unlike sizes are gathered each in its own time", "convnext_tiny", "dgx-b200*2", {"dp": 16, "zero_stage": 3, "precision": "amp", "execution": "compiled",
        "optimizer": "adam", "update": "foreach", "micro_batch": 1, "global_batch": 64}),
    ("activations come back while a stage waits for its gradient", "internlm2-7b", "dgx-b200*4", {"dp": 1, "tp": 2, "pp": 8, "recompute": "selective", "precision": "bf16",
        "optimizer": "sgd", "micro_batch": 4, "global_batch": 4, "offload": "activations"}),
    ("activations come back beside those that leave", "convnext_tiny", "dgx-1-v100*2", {"dp": 4, "pp": 4, "recompute": "none", "precision": "fp16", "execution": "compiled",
        "micro_batch": 4, "global_batch": 128, "offload": "activations"}),
    ("what a compiled block ends with waits for no copy", "internlm2-7b", "dgx-b200*4", {"dp": 1, "tp": 2, "pp": 8, "recompute": "selective", "precision": "bf16",
        "execution": "compiled", "optimizer": "sgd", "micro_batch": 4, "global_batch": 4, "offload": "activations"}),
    ("copies lie beside what runs again", "opt_30b", "dgx-b200*4", {"dp": 1, "recompute": "selective", "precision": "fp16", "optimizer": "sgd", "micro_batch": 4, "global_batch": 4,
        "offload": "activations"}),
    ("a tail waits for the last copy", "whisper-tiny", "hgx-a100-80*4", {"dp": 1, "pp": 2, "precision": "bf16", "execution": "compiled", "optimizer": "adamw", "update": "foreach",
        "global_batch": 2, "offload": "activations"}),
    ("blocks that keep nothing are not copied", "wav2vec2_large", "dgx-h100*2", {"pp": 8, "dp": 2, "recompute": "full", "precision": "fp16", "execution": "compiled",
        "optimizer": "adam", "micro_batch": 4, "global_batch": 32, "offload": "activations"}),
    ("kernels that fill buckets stand in the queue", "whisper-medium", "dgx-b200*4", {"pp": 2, "dp": 2, "recompute": "full", "precision": "amp_bf16", "optimizer": "sgd",
        "update": "foreach", "global_batch": 4}),
    ("kernels that fill buckets have gaps between them", "wav2vec2_large", "dgx-b200*2", {"pp": 8, "dp": 2, "precision": "amp", "execution": "compiled", "optimizer": "sgd",
        "micro_batch": 1, "global_batch": 2}),
    ("each tensor comes back from its bucket", "swin_large", "dgx-b200*4", {"pp": 2, "dp": 2, "precision": "bf16", "execution": "compiled", "optimizer": "sgd",
        "update": "foreach", "global_batch": 4}),
    ("no gap around an exchange", "t5-large", "dgx-h100*4", {"dp": 1, "tp": 8, "precision": "bf16", "execution": "compiled", "optimizer": "adamw", "micro_batch": 4, "global_batch": 4}),
    ("experts fill the buckets of all others", "gpt-oss-120b", "dgx-b200*2", {"tp": 4, "dp": 4, "precision": "amp", "execution": "compiled", "optimizer": "adamw",
        "update": "foreach", "micro_batch": 1, "global_batch": 4}),
    ("a graph is launched behind its input", "mlp", "hgx-a100-80*4", {"dp": 1, "precision": "bf16", "execution": "graph", "optimizer": "sgd", "update": "foreach", "global_batch": 2}),
    ("a compiled pass is issued once", "mlp", "hgx-a100-80*4", {"dp": 1, "precision": "bf16", "execution": "compiled", "optimizer": "sgd", "update": "foreach", "global_batch": 32}),
    ("what was updated is copied out of its buffers once", "mlp", "dgx-b200*2", {"dp": 2, "zero_stage": 2, "precision": "amp", "execution": "compiled", "optimizer": "adamw",
        "micro_batch": 4, "global_batch": 8}),
    ("a gradient fills its bucket before that goes", "vgg19", "dgx-h100*2", {"dp": 4, "precision": "amp_bf16", "execution": "graph", "optimizer": "adam", "global_batch": 16}),
    ("stages differ in how many layers have a window", "gemma3-12b", "hgx-h200*2", {"tp": 2, "pp": 4, "dp": 2, "precision": "bf16", "execution": "compiled", "optimizer": "adamw",
        "sequence": 16384, "micro_batch": 1, "global_batch": 16}),
    ("every other layer has a window", "gpt-oss-20b", "hgx-h200*2", {"cp": 2, "ep": 4, "dp": 8, "precision": "bf16", "optimizer": "adamw", "sequence": 8192, "micro_batch": 1,
        "global_batch": 16}),
    ("a host that is late hides the copies of a forward pass", "bert_medium", "hgx-a100-80*4", {"dp": 1, "tp": 2, "pp": 4, "precision": "fp16", "optimizer": "adam", "update": "foreach",
        "global_batch": 2, "offload": "activations"}),
    ("gradients that are added hide what would have come ahead", "dit-s", "dgx-b200*4", {"dp": 4, "pp": 8, "precision": "fp16", "execution": "compiled", "optimizer": "sgd",
        "update": "foreach", "recompute": "selective", "zero_stage": 1, "global_batch": 64, "offload": "activations"}),
    ("kernels of gradients behind the last copy hide none", "bert_base", "dgx-h100*4", {"dp": 4, "pp": 4, "precision": "amp", "execution": "compiled", "optimizer": "adamw",
        "update": "foreach", "recompute": "selective", "micro_batch": 4, "global_batch": 32, "offload": "activations"}),
    ("activations come behind the parameters of their layer", "bert_base_pretraining", "hgx-a100-80*4", {"dp": 4, "pp": 4, "precision": "amp_bf16", "optimizer": "adam",
        "schedule": "gpipe", "zero_stage": 3, "global_batch": 8, "offload": "activations"}),
    ("parameters are gathered while copies are waited for", "bert_base", "dgx-h100*4", {"dp": 4, "pp": 8, "precision": "amp", "execution": "compiled", "optimizer": "adamw",
        "update": "foreach", "recompute": "selective", "zero_stage": 3, "micro_batch": 4, "global_batch": 128, "offload": "activations"}),
    ("tokens of an image between stages", "dit-b", "dgx-1-v100*2", {"dp": 2, "pp": 8, "precision": "fp16", "execution": "compiled", "optimizer": "adamw", "update": "foreach",
        "recompute": "selective", "micro_batch": 16, "global_batch": 32}),
    ("stages of a network that gets narrower", "convnext_tiny", "dgx-1-v100*2", {"dp": 1, "pp": 8, "precision": "amp", "execution": "compiled", "optimizer": "adam",
        "micro_batch": 16, "global_batch": 32}),
    ("buckets fill in a pass that waits for its host", "swin_large", "dgx-1-v100", {"dp": 2, "pp": 4, "precision": "amp", "optimizer": "adam", "update": "foreach", "micro_batch": 1,
        "global_batch": 8}),
    ("most gradients come first where a network gets wider", "convnext_large", "dgx-1-v100", {"dp": 2, "pp": 4, "precision": "amp", "optimizer": "adam", "update": "foreach", "micro_batch": 1,
        "global_batch": 2}),
    ("copies of experts that are divided", "qwen3-30b-a3b", "dgx-h100*2", {"dp": 16, "ep": 4, "zero_stage": 3, "zero_group": 8, "precision": "bf16", "optimizer": "adamw",
        "micro_batch": 1, "global_batch": 32}),
    ("copies of experts that are not", "qwen3-30b-a3b", "dgx-h100*4", {"dp": 32, "ep": 8, "zero_stage": 2, "zero_group": 8, "precision": "bf16", "optimizer": "adamw",
        "micro_batch": 1, "global_batch": 32}),
    ("a part of a model may be its head alone, or its tail", "bert_tiny", "hgx-a100-80", {"pp": 2, "vpp": 2, "dp": 2, "zero_stage": 3, "micro_batch": 1, "precision": "fp16",
        "execution": "compiled", "global_batch": 8}),
    ("each stage's host issues an update over lists whole, and messages", "bert_tiny", "dgx-h100", {"pp": 2, "dp": 2, "graphs": "blocks", "precision": "amp", "optimizer": "adamw",
        "update": "foreach", "micro_batch": 1, "global_batch": 2}),
    ("nothing waits for a table's gradient where nothing is updated", "whisper-tiny", "dgx-1-v100", {"pp": 2, "dp": 1, "graphs": "passes", "precision": "amp", "optimizer": "none",
        "micro_batch": 1, "global_batch": 1}),
    ("a table's gradient goes before gradients of weights that are put off", "bert_mini", "dgx-1-v100", {"pp": 2, "dp": 4, "graphs": "blocks", "precision": "amp",
        "optimizer": "none", "schedule": "zero-bubble", "micro_batch": 1, "global_batch": 4}),
    ("gradients are added while a graph runs", "swin_tiny", "dgx-h100*2", {"pp": 4, "dp": 2, "recompute": "full", "precision": "fp32", "graphs": "blocks", "optimizer": "sgd",
        "global_batch": 32}),
    ("one operator issues parts that are gathered in between", "dit-s", "dgx-b200*2", {"dp": 8, "recompute": "full", "precision": "fp16", "execution": "compiled", "optimizer": "adamw",
        "update": "loop", "micro_batch": 1, "global_batch": 64, "zero_stage": 3, "input": "synthetic"}),
    ("kernels behind a graph that fills the queue wait for room", "efficientnet_b5", "dgx-b200*4", {"pp": 2, "dp": 8, "recompute": "full", "precision": "amp", "optimizer": "adamw",
        "update": "foreach", "micro_batch": 4, "graphs": "passes", "schedule": "gpipe", "global_batch": 64}),
    ("two layers of a chunk wait for no copy", "gpt3_2.7b", "dgx-h100*2", {"dp": 2, "pp": 8, "precision": "fp16", "optimizer": "adam", "offload": "activations", "global_batch": 64}),
]
# Stages whose hosts and devices take turns to be the slower, which the closed form adds up; its stated gap is 8 %.
WIDER = {"gradients are added while a graph runs": 0.08}

for why, model, machine, settings in QUESTIONS:
    words = [word for key, value in {**COMMON, **settings}.items() for word in ("--set", f"{key}={value}")]
    code, out, err = run("predict", model, "--on", machine, *words, "-q", "-f", "json")
    gap = json.loads(out)["closed_form"]["ratio"] - 1 if code in (0, 1) else err
    expect(isinstance(gap, float) and abs(gap) < WIDER.get(why, 0.05), why, model, settings, gap)


# One way more to share a step changes it as much by the walk as by the closed form, so that no change of the engine makes a jump.
def both(model, machine, **settings):
    words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    found = json.loads(run("predict", model, "--on", machine, *words, "-q", "-f", "json")[1])
    return found["values"]["step.median_s"], (found.get("closed_form") or {}).get("ratio")


for model, machine, key, first, settings in (("gpt2", "dgx-h100", "zero_stage", 0, {"dp": 8, "micro_batch": 2}),
                                             ("swin_large", "dgx-1-v100", "zero_stage", 0, {"dp": 8, "micro_batch": 2, "precision": "amp"}),
                                             ("mixtral-8x7b", "dgx-h100*4", "ep", 1, {"dp": 8, "tp": 4, "micro_batch": 1, "precision": "bf16"}),
                                             ("gpt2", "dgx-h100", "pp", 1, {"dp": 4, "micro_batch": 1, "global_batch": 16}),
                                             ("swin_large", "dgx-1-v100", "pp", 1, {"dp": 2, "micro_batch": 1, "global_batch": 8, "precision": "amp"})):
    (less_s, less), (more_s, more) = (both(model, machine, **settings, **{key: first + i}) for i in range(2))
    expect(less and more and less_s != more_s and abs(more / less - 1) < 0.02, "both engines jump alike", model, key, less_s, less, more_s, more)

# Beyond so many micro-batches the closed form alone answers: each then takes what it took before.
(walked_s, ratio), (closed_s, none) = (both("gpt2", "dgx-h100", pp=2, dp=1, micro_batch=1, global_batch=n, precision="bf16") for n in (2048, 3072))
expect(ratio and none is None and abs(closed_s / 3072 / (walked_s / 2048) - 1) < 0.03, "where the walk ends", walked_s, closed_s, ratio)

# A window that hides nothing is none, to the last bit; a narrower one takes less, and more layers that see all tokens more.
def windowed(verb, *settings):
    words = [word for setting in ("sequence=8192", *settings) for word in ("--set", setting)]
    return json.loads(run(verb, "gemma3-4b", "--on", "hgx-h200", *words, "-q", "-f", "json")[1])["values"]


for verb, *sharing in (["predict", "micro_batch=1", "dp=4", "cp=2"], ["predict", "framework=megatron-core", "tp=2", "pp=2", "dp=2", "micro_batch=1", "global_batch=8"],
                       ["plan", "global_batch=32"]):
    none, all_of_it, wide = (windowed(verb, *sharing, setting) for setting in ("sliding=0", "sliding=8192", "sliding=100000"))
    expect(none == all_of_it == wide and none, "a window that hides nothing", verb, sharing)
    if verb == "predict":
        steps = [windowed(verb, *sharing, f"sliding={tokens}", f"global_every={every}")["step.median_s"]
                 for tokens, every in ((512, 100), (2048, 100), (2048, 6), (2048, 2), (2048, 1))]
        expect(steps == sorted(steps) and len(set(steps)) == 5 and steps[4] == none["step.median_s"], "narrower windows take less", sharing, steps)

# Parts of a step as device graphs: the more is captured the less the host launches, and in both engines alike.
def captured(model, machine, *settings, catalog=None):
    words = [word for setting in ("precision=bf16", "micro_batch=1", *settings) for word in ("--set", setting)]
    done = subprocess.run([PACELINE, "predict", model, "--on", machine, *words, "-q", "-f", "json"], capture_output=True, text=True,
                          env={**os.environ, "PACELINE_CATALOG": catalog} if catalog else None)
    if done.returncode > 1:
        return None, done.stderr
    answer = json.loads(done.stdout)
    return answer["values"]["step.median_s"], answer["closed_form"]["ratio"]


PARTS = [[f"graphs={part}"] for part in ("none", "attention", "blocks", "passes")] + [["execution=graph"]]
for machine, *sharing in (["h100-80-sxm"], ["h100-80-sxm", "mode=inference"], ["dgx-h100", "dp=8", "global_batch=32"], ["dgx-h100", "pp=2", "dp=1", "global_batch=8"]):
    asked = [captured("gpt2", machine, *sharing, *part) for part in PARTS]
    expect(all(isinstance(ratio, float) and abs(ratio - 1) < 0.08 for _, ratio in asked), "graphs in both engines", machine, sharing, asked)
    steps = [step for step, _ in asked]
    expect(all(more <= less * 1.001 for less, more in zip(steps, steps[1:])) and steps[3] < 0.5 * steps[0], "captured more and more", machine, sharing, steps)
    expect(captured("gpt2", machine, *sharing)[0] == steps[0], "nothing captured is eager", machine, sharing)

# Replays that cost the host nothing: passes that are graphs take what a step does that is captured whole, but for what autograd keeps
# of gradients between them.
with tempfile.TemporaryDirectory() as free:
    text = (Path(SOURCE) / "catalog/frameworks.yaml").read_text()
    for name, call in (("Graphed", "t2"), ("cudaGraphLaunch", "t4")):
        text = re.sub(rf'(mode: eager, type: {call}, name: "{name}", mean_us:) [0-9]+', r"\1 0", text)
    text = text.replace("{mode: eager, type: t1, mean_us: 7.7, std_us: 5,", "{mode: eager, type: t1, mean_us: 0,")
    text += '  - {mode: eager, type: t3, name: "Graphed", mean_us: 0, source: replay_python}\n'
    (Path(free) / "frameworks.yaml").write_text(text)
    whole, parts, none = (captured("gpt2", "h100-80-sxm", "optimizer=none", one, catalog=free)[0]
                          for one in ("execution=graph", "graphs=passes", "graphs=none"))
    expect(all((whole, parts, none)) and abs(parts / whole - 1) < 1e-2 and none > 1.5 * whole, "replays for nothing", whole, parts, none)

# What cannot be captured is refused, with the reason.
for words, why in ((["graphs=blocks", "execution=compiled"], "fuses across blocks"), (["graphs=passes", "execution=graph"], "all is one graph"),
                   (["graphs=blocks", "dp=8", "zero_stage=3"], "zero_stage 0 to 2"), (["graphs=passes", "dp=8", "zero_stage=1"], "zero_stage 0"),
                   (["graphs=blocks", "offload=activations"], "offload none or optimizer")):
    step, said = captured("gpt2", "dgx-h100", *words)
    expect(step is None and why in said, "refused", words, said)
for model, words, why, on in (("mixtral-8x7b", ["graphs=blocks", "tp=8"], "numbers of tokens", "dgx-h100"), ("resnet50", ["graphs=blocks"], "repeats no block", "dgx-h100"),
                              ("mixtral-8x7b", ["execution=graph", "tp=8"], "numbers of tokens", "dgx-h100"),
                              ("gpt2", ["execution=graph"], "host launches nothing", "epyc-zen5-1t")):
    step, said = captured(model, on, *words)
    expect(step is None and why in said, "refused", model, words, said)

# Rows: a column of graphs, as frameworks call them.
with tempfile.TemporaryDirectory() as folder:
    table = Path(folder) / "steps.csv"
    cells = ["", "attn", "true", "attn mlp", "full_iteration", "sometimes"]
    table.write_text("model,gpu,n_gpu,framework,precision,micro_batch,global_batch,seq,cuda_graph\n"
                     + "".join(f"gpt2,h100-80-sxm,1,pytorch,bf16,1,1,1024,{cell}\n" for cell in cells))
    rows = list(csv.DictReader(run("predict", "--rows", str(table), "-f", "csv")[1].splitlines()))
    alone = [captured("gpt2", "h100-80-sxm", *part)[0] for part in PARTS]
    found = [float(row["predicted"]) for row in rows]
    expect(all(abs(a / b - 1) < 1e-6 for a, b in zip(found, [alone[0], alone[1], alone[2], alone[2], alone[4], alone[0]])), "rows with graphs", found, alone)
    expect("unknown cuda_graph" in rows[5]["status"], "an unknown word is named", rows[5])
finish()
