"""Modules that run again by name (Megatron Core's --recompute-modules): what is kept and what runs follow from the layers' sizes."""
import csv
import io
import json
import os
import subprocess
import tempfile
from pathlib import Path

from checks import expect, finish

PACELINE = os.environ["PACELINE"]
LAYERS, WIDTH, TOKENS = 24, 2048, 4 * 2048  # GPT-3 XL (Brown et al. 2020, table 2.1), four samples
OUTPUT = LAYERS * TOKENS * WIDTH * 2  # bytes in half precision of what one layer of that width gives in all blocks
PEAK = 989e12  # H100's, bf16


def run(*words):
    done = subprocess.run([PACELINE, *words], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def predict(model, on, *settings):
    words = [word for setting in (*(() if "precision=fp8" in settings else ("precision=bf16",)), *settings) for word in ("--set", setting)]
    code, out, err = run("predict", model, "--on", on, *words, "-q", "-f", "json")
    expect(code in (0, 1), model, settings, err)
    return json.loads(out)


def of_gpt(modules):
    found = predict("gpt3_1.3b", "h100-sxm", "micro_batch=4", "recompute=selective", *([f"recompute_modules={modules}"] if modules else []))
    gap = found["closed_form"]["step_ns"] / 1e9 / found["values"]["step.median_s"] - 1
    expect(abs(gap) < 0.01, "closed form and walk", modules, gap)
    return found["values"]["step.median_s"], found["closed_form"]["memory_bytes"]


def check_sizes():
    """Norms: two outputs of a block. What follows attention: a product's output, which its activation keeps, and the activation's, each four wide, and a byte a place of
    dropout's mask. Attention in one kernel keeps its output for the product behind it, and runs again."""
    plain = of_gpt("")
    saved = {"layernorm": 2, "mlp": 8.5, "mlp+layernorm": 10.5, "core_attn": 0}
    flop = {"layernorm": 0, "mlp": 16 * WIDTH**2 * TOKENS, "mlp+layernorm": 16 * WIDTH**2 * TOKENS, "core_attn": 2 * 2048 * WIDTH * TOKENS}
    for modules, outputs in saved.items():
        step_s, held = of_gpt(modules)
        expect(abs((plain[1] - held) / OUTPUT - outputs) < 0.05, "what is not kept", modules, (plain[1] - held) / OUTPUT)
        least_s = LAYERS * flop[modules] / PEAK
        expect(least_s < step_s - plain[0] < 2.5 * least_s + 4e-3, "what runs again", modules, step_s - plain[0], least_s)
    (alone, both, attention), every = [of_gpt(modules)[0] for modules in ("mlp", "mlp+layernorm", "core_attn")], of_gpt("core_attn,mlp layernorm")[0]
    expect(abs(every - (both + attention - plain[0])) < 2e-4 and alone < both, "each by itself", alone, both, attention, every)


def of_experts(modules, *more):
    settings = ("framework=megatron-core", "pp=8", "ep=32", "tp=2", "global_batch=2048", "micro_batch=1", *more)
    return predict("qwen3-235b-a22b", "dgx-h100*32", *settings, "recompute=selective", *([f"recompute_modules={modules}"] if modules else []))


def activations(found):
    return next(kind["held_bytes"] for kind in found["memory"] if kind["kind"] == "activations")


def check_experts():
    """Of experts the activation is small work whose output, a token's eight times 1536 wide, is not kept; the mixture is most of a layer, exchanges with it."""
    usual, activation, mixture, norms, none = (of_experts(modules) for modules in ("core_attn", "moe_act", "moe", "layernorm", ""))
    expect(none["values"] == usual["values"], "attention is what Megatron Core has unless told", none["values"], usual["values"])
    of_token = 8 * 1536 * 2 / (4096 * 2)  # bytes of the activation's output over those of a norm's
    saved = [activations(usual) - activations(found) for found in (activation, norms)]
    expect(abs(saved[0] / saved[1] - of_token / 2) < 0.05 and saved[1] > 0, "activations and norms", saved, of_token)
    step = [found["values"]["step.median_s"] for found in (activation, norms, usual, mixture)]
    expect(step[0] < step[2] and step[1] < step[2] and step[3] > 1.2 * step[0], "what runs again", step)
    exchange = [next(part["time_ns"] for part in found["parts"] if part["part"] == "expert exchange") for found in (activation, mixture)]
    expect(1.3 < exchange[1] / exchange[0] < 1.8, "two of six exchanges a layer are of what runs again", exchange)


def check_scores():
    """Where scores go through memory attention runs again whether it is named or not, that of a module that predicts further ahead, too."""
    for framework in ("megatron-core", "deepspeed"):
        settings = (f"framework={framework}", "attention=math", "mtp=1", "micro_batch=1", "recompute=selective")
        same = [predict("deepseek-v2-lite", "h100-sxm", *settings, *more) for more in ((), ("recompute_modules=core_attn",))]
        expect(same[0]["values"] == same[1]["values"] and needs(same[0]) == needs(same[1]), "scores", framework, same[0]["values"], same[1]["values"])


def check_latent():
    """Of latent attention the products up give 192 numbers a query and 256 a key and value, of each of 128 heads."""
    settings = ("framework=megatron-core", "pp=16", "ep=16", "global_batch=2048", "micro_batch=1", "recompute=selective")
    up, norms = (activations(predict("deepseek-v3", "dgx-h100*32", *settings, f"recompute_modules={modules}")) for modules in ("mla_up_proj", "layernorm"))
    usual = activations(predict("deepseek-v3", "dgx-h100*32", *settings))
    ratio = (usual - up) / (usual - norms)
    expect(abs(ratio / (128 * (192 + 256) / (2 * 7168)) - 1) < 0.1, "what the products give", ratio)


def check_doors():
    """A cell, a column, a script and a setting say the same."""
    said = {"model": "qwen3-235b-a22b", "system": "dgx-h100", "n_gpu": 256, "framework": "megatron-core", "precision": "bf16", "pp": 8, "ep": 32, "tp": 2, "micro_batch": 1, "global_batch": 2048}
    answer = of_experts("layernorm+moe_act")["values"]["step.median_s"]
    with tempfile.TemporaryDirectory() as folder:
        table, script = Path(folder) / "rows.csv", Path(folder) / "run.sh"
        with open(table, "w", newline="") as file:
            out = csv.writer(file)
            out.writerow([*said, "recompute", "recompute_modules"])
            out.writerows([[*said.values(), *cells] for cells in (("selective (moe_act, layernorm)", ""), ("selective", "moe_act layernorm"), ("moe_act+layernorm", ""))])
        _, rows, err = run("predict", "--rows", str(table), "--kind", "step", "-f", "csv")
        found = [float(row["predicted"]) for row in csv.DictReader(io.StringIO(rows))]
        expect(found == [answer] * 3, "rows", found, answer, err)
        script.write_text("torchrun --nnodes 32 --nproc-per-node 8 pretrain_gpt.py --tensor-model-parallel-size 2 --pipeline-model-parallel-size 8 --expert-model-parallel-size 32 --bf16 "
                          "--micro-batch-size 1 --global-batch-size 2048 --use-distributed-optimizer --sequence-parallel --recompute-granularity selective --recompute-modules moe_act layernorm mhc --seq-length 4096\n")
        code, out, err = run("plan", "qwen3-235b-a22b", "--on", "dgx-h100*32", "--from", str(script), "-q", "-f", "json")
        plan = json.loads(out)
        expect(code == 0 and plan["values"]["yours.step_s"] == answer, "a script", code, err, plan["values"])
        expect("--recompute-modules moe_act layernorm mhc" in out, "a module that is not known is named", err)
    code, out, err = run("plan", "qwen3-235b-a22b", "--on", "dgx-h100*32", *(w for s in ("framework=megatron-core", "recompute=selective", "recompute_modules=moe_act+layernorm", "global_batch=2048", "precision=bf16") for w in ("--set", s)), "-q")
    expect(code == 0 and "--recompute-modules moe_act layernorm" in out and "recompute_modules=moe_act+layernorm" in out, "what plan writes", code, err)


def of_layers(*settings, on="dgx-a100-80*3"):
    return predict("llama3-70b", on, "framework=megatron-core", "global_batch=96", "tp=8", "pp=3", *settings)


def needs(found):
    return next(kind["held_bytes"] for kind in found["memory"] if kind["kind"] == "all")


def check_layers():
    """Megatron's method "block": of a stage's 80 / 3 layers the first so many run again. Time and memory are that share of the way from none to all of them."""
    none, full = (of_layers(f"recompute={kind}") for kind in ("none", "full"))
    step_s, of_chunk = lambda found: found["values"]["step.median_s"], 80 / 3
    one = of_layers("recompute=full", "recompute_layers=1")  # beside which a layer forms anew what it does not keep
    for layers in (1, 10, 26):
        some = of_layers("recompute=full", f"recompute_layers={layers}")
        expect(abs(step_s(some) / (step_s(none) + layers / of_chunk * (step_s(full) - step_s(none))) - 1) < 1e-4, "a share of the time", layers, step_s(some))
        wanted = needs(one) + (layers - 1) / (of_chunk - 1) * (needs(full) - needs(one))
        expect(abs(needs(some) / wanted - 1) < 1e-4 and needs(one) < needs(none), "a share of the memory", layers, needs(some), wanted)
    expect(of_layers("recompute=full", "recompute_layers=27")["values"] == full["values"], "all of them")
    fixed = [word for setting in ("framework=megatron-core", "global_batch=96", "precision=bf16", "offload=none") for word in ("--set", setting)]
    code, out, err = run("plan", "llama3-70b", "--on", "dgx-a100-80*3", *fixed, "-q", "-f", "json")
    sure = json.loads(out)["configurations"][-1]
    expect(code == 0 and sure["fits"] == "yes" and sure["recompute"] == "full" and sure["recompute_layers"] > 0, "what surely fits", sure, err)
    keys = ("dp", "tp", "pp", "vpp", "cp", "micro_batch", "zero_stage", "recompute")
    settings = [f"{key}={sure[key]}" for key in keys if key != "zero_stage" or sure["dp"] > 1]
    def asked(layers):
        words = [word for setting in ("framework=megatron-core", "global_batch=96", "precision=bf16", *settings, f"recompute_layers={layers}") for word in ("--set", setting)]
        code, out, err = run("predict", "llama3-70b", "--on", "dgx-a100-80*3", *words, "-q", "-f", "json")
        found = json.loads(out)
        return found["values"]["step.median_s"], any("fits closely" in line for line in found["summary"])
    expect(asked(sure["recompute_layers"]) == (sure["step_s"], False) and asked(sure["recompute_layers"] - 1)[1], "the fewest that surely fit", sure)
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "run.sh"
        for method, layers, note in (("block", 10, None), ("uniform", 1, None), ("uniform", 4, "groups of layers, 4")):
            script.write_text("torchrun --nnodes 3 --nproc-per-node 8 pretrain_gpt.py --tensor-model-parallel-size 8 --pipeline-model-parallel-size 3 --bf16 --micro-batch-size 1 --global-batch-size 96 "
                              f"--use-distributed-optimizer --sequence-parallel --recompute-granularity full --recompute-method {method} --recompute-num-layers {layers} --seq-length 8192\n")
            code, out, err = run("plan", "llama3-70b", "--on", "dgx-a100-80*3", "--from", str(script), "-q", "-f", "json")
            plan = json.loads(out)
            wanted = of_layers("sequence=8192", "recompute=full", *([f"recompute_layers={layers}"] if method == "block" else []))
            expect(plan["values"]["yours.step_s"] == wanted["values"]["step.median_s"], method, layers, plan["values"], wanted["values"], err)
            expect(not note or note in out, "groups are not counted", plan["warnings"])
        table = Path(folder) / "rows.csv"  # Megatron-LM's functional tests say both
        table.write_text("model,system,n_gpu,framework,precision,tp,pp,micro_batch,global_batch,recompute,recompute_method,recompute_layers\n" +
                         "".join(f"llama3-70b,dgx-a100-80,24,megatron-core,bf16,8,3,1,96,full,{method},{layers}\n" for method, layers in (("uniform", 1), ("uniform", 4), ("block", 10), ("", 10))))
        _, rows, err = run("predict", "--rows", str(table), "--kind", "step", "-f", "csv")
        found = list(csv.DictReader(io.StringIO(rows)))
        block = step_s(of_layers("recompute=full", "recompute_layers=10"))
        expect([float(row["predicted"]) for row in found] == [step_s(full), step_s(full), block, block] and "groups of 4 layers" in found[1]["status"], "rows", found, err)
    code, out, err = run("plan", "llama3-70b", "--on", "dgx-a100-80*3", *fixed, "--set", "recompute=full", "--set", "recompute_layers=10", "-q")
    expect(code == 0 and "--recompute-method block --recompute-num-layers 10" in out, "Megatron's flags", code, err)


def check_refusals():
    for settings, words in ((["recompute_modules=mlp"], "without recompute=selective"), (["recompute=full", "recompute_modules=mlp"], "without recompute=selective"),
                            (["recompute=selective", "recompute_modules=moe"], "no layers of"), (["recompute=selective", "recompute_modules=mlp+moe_acts"], "moe_acts"),
                            (["recompute=selective", "recompute_modules=+"], "core_attn"), (["recompute_layers=2"], "without recompute=full"),
                            (["recompute=full", "recompute_layers=2"], "operators are walked"), (["recompute=full", "recompute_layers=1.5"], "whole number"),
                            (["framework=megatron-core", "recompute=full", "recompute_layers=2", "offload=activations"], "recompute_layers 0")):
        code, _, err = run("predict", "gpt3_1.3b", "--on", "h100-sxm", *(word for setting in settings for word in ("--set", setting)), "-q")
        expect(code == 2 and words in err, settings, code, err)


def check_choice():
    """A plan for Megatron Core looks at modules that cost little, not at attention in one kernel, which saves nothing: DeepSeek-V3 on 256 H100 is faster so than with all or
    nothing recomputed, as NVIDIA's recipe for it has it (Megatron-MoE-ModelZoo: mlp, mla_up_proj, moe_act, layernorm). What it writes and asks of predict says which."""
    fixed = ("framework=megatron-core", "precision=fp8", "global_batch=2048", "pp=16", "ep=16")
    def best(*more):
        code, out, err = run("plan", "deepseek-v3", "--on", "dgx-h100*32", *(word for setting in (*fixed, *more) for word in ("--set", setting)), "--top", "1", "-q", "-f", "json")
        expect(code == 0, more, err)
        return json.loads(out)
    chosen = best()
    row = chosen["configurations"][0]
    expect(row["recompute"] == "selective" and row["recompute_modules"] == "moe_act+layernorm+mla_up_proj", "the fastest", row)
    for other in ("none", "full"):
        found = best(f"recompute={other}")["configurations"]
        expect(not found or found[0]["step_s"] > row["step_s"], "the others", other, found)
    lines = [line["line"] for line in chosen["launch"]]
    expect("--recompute-modules moe_act layernorm mla_up_proj" in lines, "Megatron's flag", lines)
    keys = ("dp", "tp", "vpp", "cp", "micro_batch", "zero_stage", "recompute", "recompute_modules")
    again = predict("deepseek-v3", "dgx-h100*32", *fixed, *(f"{key}={row[key]}" for key in keys))
    expect(again["values"]["step.median_s"] == row["step_s"] and any("recompute_modules=moe_act" in note for note in chosen["notes"]), "predict's", again["values"], row, chosen["notes"])
    attention = best("recompute=selective", "recompute_modules=core_attn")["configurations"]
    expect(not attention or attention[0]["recompute_modules"] == "", "as the framework has it", attention)
    told = best("recompute=selective", "recompute_modules=moe+mla_up_proj")["configurations"][0]
    expect(told["recompute_modules"] == "mla_up_proj+moe+shared_experts", "what the question told", told)


for check in (check_choice, check_sizes, check_experts, check_scores, check_latent, check_layers, check_doors, check_refusals):
    check()
finish()
