"""What `plan` says beside what was asked: the other precision, how many nodes would be enough, and what a fit of one's own runs says."""
import itertools
import json
import os
import re
import shlex
import sys
import tempfile

from checks import expect, expect_line, finish, run


def plan(*words):
    code, out, err = run("plan", *words, "-f", "json", "-q")
    return code, json.loads(out) if out else None, err


def test_precision():
    """Unless a precision is given, the faster of fp32 and autocast is chosen, and each is what plan gives when it is asked."""
    words = ["gpt2", "--on", "v100", "--set", "global_batch=64"]
    code, answer, err = plan(*words)
    said = next((s for s in answer["summary"] if "No precision was given" in s), "")
    times = re.search(r"([\d.]+) times as long", said)
    each = {word: plan(*words, "--set", f"precision={word}", "--top", "1")[1]["configurations"][0] for word in ("fp32", "amp")}
    ratio = each["fp32"]["step_s"] / each["amp"]["step_s"]
    expect(code == 0 and ratio > 1 and answer["configurations"][0] == {**each["amp"], "fastest_share": answer["configurations"][0]["fastest_share"]},
           "the faster", answer["configurations"][0], each, err)
    expect(times and abs(float(times[1]) - ratio) < 0.006 and "precision=fp32)" in said, said, ratio)
    _, said_so, _ = plan(*words, "--set", "precision=fp32")
    expect(not any("was given: " in s for s in said_so["summary"]), "said", said_so["summary"])


def test_utilization():
    """MFU is that of Chowdhery et al. 2022, appendix B: tokens/s times (6 N + 12 L h s) over the peak; Llama 2 7B has 32 layers 4096 wide, and A100s
    312 TFLOP/s. `predict` says the same of the same step. A LoRA's backward has half the arithmetic."""
    fixed = ["--set", "framework=megatron-core", "--set", "global_batch=64"]
    _, answer, err = plan("llama2_7b", "--on", "dgx-a100", *fixed, "--top", "1")
    one = answer["configurations"][0]
    tokens_per_s = one["samples_per_s"] * 4096 / 8
    mfu = tokens_per_s * (6 * (6738415616 - 32000 * 4096) + 12 * 32 * 4096 * 4096) / 312e12
    expect(abs(one["mfu_share"] / mfu - 1) < 0.002, "mfu", one, mfu, err)
    expect(f"(MFU {100 * one['mfu_share']:.1f} % of the bf16 peak)" in answer["summary"][0], answer["summary"][0])
    keys = ("dp", "tp", "pp", "vpp", "zero_stage", "micro_batch", "recompute", "precision", "offload")
    settings = ",".join(f"{key}={one[key]}" for key in keys if key != "vpp" or one["pp"] > 1)
    _, out, err = run("predict", "llama2_7b", "--on", "dgx-a100", *fixed, "--set", settings, "-f", "json", "-q")
    expect(json.loads(out)["step"]["mfu_share"] == one["mfu_share"], "predict", out[:300], err)
    _, out, _ = run("predict", "llama2_7b", "--on", "dgx-a100", *fixed, "--set", f"lora=16,precision=bf16,dp=8,micro_batch=1", "-f", "json", "-q")
    lora = json.loads(out)["step"]
    settings = "zero_stage=3,dp=8,micro_batch=4,global_batch=32,precision=amp_bf16"  # a step that is walked
    _, out, err = run("predict", "gpt2", "--on", "dgx-a100", "--set", settings, "-f", "json", "-q")
    walked = json.loads(out)
    mfu_of_walk = 4 * 1024 / walked["values"]["step.median_s"] * (6 * 85056000 + 6 * 50257 * 768 + 12 * 12 * 768 * 1024) / 312e12
    expect(abs(walked["step"]["mfu_share"] / mfu_of_walk - 1) < 0.01, "walked", walked["step"], mfu_of_walk)
    expect(0.66 < lora["mfu_share"] / (lora["device_tokens_per_s"] / tokens_per_s * mfu) < 0.68, "lora", lora, mfu)


def test_peak():
    """PyTorch's fp32 takes TF32 for convolutions and not for products of matrices (its documentation, "CUDA semantics"): an H100's products then
    have 66.9 TFLOP/s. A vision transformer cuts its patches by a convolution, and has its arithmetic elsewhere."""
    for model, peak in (("gpt2", "fp32"), ("dlrm_default", "fp32"), ("vit_base_16", "fp32"), ("resnet50", "tf32")):
        _, out, err = run("predict", model, "--on", "h100-80-sxm", "-f", "json", "-q")
        expect(f"% of the {peak} peak)" in " ".join(json.loads(out)["summary"]), model, peak, out[:300], err)


def test_enough():
    """Where no part is done in time: so many nodes are, and one less is not."""
    words = ["--set", "framework=megatron-core", "--set", "global_batch=256", "--tokens", "2T", "--within", "10d"]
    code, answer, err = plan("gpt3_1.3b", "--on", "dgx-h100*1", *words)
    said = answer["summary"][0]
    found = re.search(r"dgx-h100\*(\d+), (\d+) devices", said)
    expect(code == 1 and found and int(found[2]) == 8 * int(found[1]), answer["summary"], err)
    if found:
        code, one, _ = plan("gpt3_1.3b", "--on", f"dgx-h100*{found[1]}", *words)
        expect(code == 0 and any(f"dgx-h100*{found[1]}," in s for s in one["summary"]), "enough", one["summary"])
        code, less, _ = plan("gpt3_1.3b", "--on", f"dgx-h100*{int(found[1]) - 1}", *words)
        expect(code == 1, "one less is not", less["summary"])


def test_not_enough():
    """Where even the most nodes that are tried are not enough, the first sentence says how long they take."""
    words = ["gpt3_1.3b", "--set", "framework=megatron-core", "--set", "global_batch=256", "--tokens", "2T"]
    code, answer, err = plan(*words, "--on", "dgx-h100*1", "--within", "2h")
    found = re.search(r"the fastest of these, dgx-h100\*(\d+), .* takes ([\d.,]+) days", answer["summary"][0])
    expect(code == 1 and found, answer["summary"], err)
    days = {nodes: plan(*words, "--on", f"dgx-h100*{nodes}", "--top", "1")[1]["configurations"][0]["days"] for nodes in (2, 4, 8, 16, 32, 64)}
    expect(int(found[1]) == min(days, key=days.get) and abs(float(found[2].replace(",", "")) / min(days.values()) - 1) < 1e-3, found[0], days)


def test_enough_of_any():
    """Of several machines the cheapest number of nodes counts, or without prices the fewest devices, whichever is named last."""
    words = ["gpt3_1.3b", "--set", "framework=megatron-core", "--set", "global_batch=256", "--tokens", "2T", "--within", "10d"]
    for prices in ([], ["--price", "2", "--price", "2"], ["--price", "20", "--price", "1"]):
        alone = []
        for i, on in enumerate(("dgx-h100*1", "dgx-a100*1")):
            _, answer, _ = plan(*words, "--on", on, *(prices[2 * i:2 * i + 2]))
            said = re.search(r"that would be: (\S+)\*(\d+), (\d+) devices .* days(?: for ([\d,]+))?", answer["summary"][0])
            alone.append((float((said[4] or said[3]).replace(",", "")), f"{said[1]}*{said[2]}"))
        _, answer, err = plan(*words, "--on", "dgx-h100*1", "--on", "dgx-a100*1", *prices)
        expect(f"be: {min(alone)[1]}, " in answer["summary"][0], alone, answer["summary"], err)


def test_budget():
    """The cheapest of what is done in time, the fastest that money buys, and what is bought where nothing is done for it. All by the table."""
    words = ["llama3-70b", "--on", "dgx-h100*64", "--set", "framework=megatron-core", "--set", "global_batch=512", "--tokens", "1T", "--price", "3"]
    code, answer, err = plan(*words, "--within", "60d", "--budget", "900k")
    done = [m for m in answer["machines"] if m["days"] and m["days"] <= 60 and m["price"] <= 900e3]
    smallest, cheapest = min(done, key=lambda m: m["devices"])["machine"], min(done, key=lambda m: m["price"])["machine"]
    says = [s for s in answer["summary"] if s.startswith("The cheapest that is done within 60d for at most 900k: ")]
    expect(code == 0 and answer["summary"][0].startswith(f"The smallest part that is done within 60d for at most 900k: {smallest}, "), answer["summary"], err)
    expect(smallest == cheapest or (says and cheapest + " (" in says[0]), cheapest, answer["summary"])
    code, answer, err = plan(*words, "--within", "60d")
    cheapest = min((m for m in answer["machines"] if m["days"] and m["days"] <= 60), key=lambda m: m["price"])["machine"]
    expect(code == 0 and any(s.startswith("The cheapest that is done within 60d: " + cheapest) for s in answer["summary"]), cheapest, answer["summary"])
    code, answer, err = plan(*words, "--budget", "760k")
    done = [m for m in answer["machines"] if m["days"] and m["price"] <= 760e3]
    expect(code == 0 and f"for at most 760k: {min(done, key=lambda m: m['days'])['machine']}, " in answer["summary"][0], done, answer["summary"])
    code, answer, err = plan(*words, "--budget", "300k")
    least = min((m for m in answer["machines"] if m["price"]), key=lambda m: m["price"])
    bought = re.search(r"The cheapest, (\S+), .* the budget pays for ([\d.]+)G tokens", answer["summary"][0])
    expect(code == 1 and bought and bought[1] == least["machine"] and abs(float(bought[2]) / (1000 * 300e3 / least["price"]) - 1) < 1e-3, answer["summary"], least)
    for less in (words[:-2], [*words[:-4], "--price", "3"]):
        code, _, err = run("plan", *less, "--budget", "1M", "-q")
        expect_line(code, err, 2, "budget: has no effect without")


def test_one_batch():
    """Unless a batch is given, all machines are compared at one."""
    _, answer, err = plan("gpt3_1.3b", "--on", "dgx-a100", "--on", "dgx-a100*300", "--set", "framework=megatron-core", "--top", "1")
    _, images, _ = plan("resnet50", "--on", "dgx-a100", "--on", "dgx-a100*2", "--top", "1")
    expect(len({m["global_batch"] for m in answer["machines"]}) == len({m["global_batch"] for m in images["machines"]}) == 1, answer["machines"], images["machines"], err)


def test_framework():
    """Where nobody names a framework and another one's fastest is much faster, the answer says what that one gives when it is asked."""
    words = ["llama3-405b", "--on", "dgx-h100*128", "--set", "precision=bf16", "--top", "1"]
    _, answer, err = plan(*words)
    said = re.search(r"--set framework=(\S+) the fastest is ([\d.]+) times as fast", " ".join(answer["summary"][:3]))
    _, other, _ = plan(*words, "--set", f"framework={said[1]}")
    expect(abs(answer["configurations"][0]["step_s"] / other["configurations"][0]["step_s"] - float(said[2])) < 0.01, said[0], err)
    _, named, _ = plan(*words, "--set", "framework=pytorch")
    expect(not any("No framework was given" in s for s in named["summary"]), named["summary"])


def test_command():
    """The command that is printed gives the very number."""
    for words in (["mixtral_8x7b", "--on", "dgx-h100*4", "--set", "framework=megatron-core"], ["dlrm_dcnv2", "--on", "dgx-a100"],
                  ["resnet50", "--on", "v100*4 nvlink=100GB/s"], ["gpt2", "--on", "dgx-a100*2", "--set", "sequence=512", "--set", "bucket_bytes=50000000"]):
        code, answer, err = plan(*words, "--top", "1")
        command = next((note for note in answer["notes"] if "asked of predict" in note), "")
        again, out, err = run(*shlex.split(command.partition("paceline ")[2]), "-f", "json", "-q")
        leads = answer["configurations"][0]["step_s"]
        expect(code == again == 0 and json.loads(out)["values"]["step.median_s"] == leads, command, leads, err)


def test_parts():
    """A part of a machine has the name that asks for it: its nodes, and what was changed of it."""
    for on, part in (("a100*2 nvlink=300GB/s nodes=2 net=25GB/s", "a100*2 nvlink=300GB/s nodes=1 net=25GB/s"),):
        _, answer, err = plan("gpt2", "--on", on, "--tokens", "1e9", "--within", "10d", "--set", "global_batch=8", "--set", "precision=fp32")
        expect(f"10d: {part}, " in answer["summary"][0], part, answer["summary"], err)


def test_pairs():
    """Two settings that exclude each other's remedies are named together."""
    words = ["llama3_8b", "--on", "a100*1", "--set", "framework=megatron-core", "--set", "global_batch=8"]
    code, answer, err = plan(*words, "--set", "offload=none", "--set", "recompute=none")
    said = [s for s in answer["summary"] if s.startswith("Without offload=none")]
    _, alone, _ = plan(*words, "--set", "offload=none")
    expect(code == 1 and said, answer["summary"], alone["summary"], err)


def test_no_network():
    code, answer, _ = plan("llama3_70b", "--on", "a100*1")
    expect(code == 1 and any("has no network" in s for s in answer["summary"]), answer["summary"])


def test_too_long():
    """What fits, but has too many launches to be walked, is not said to fit nowhere; what is walked with fewer micro-batches is timed."""
    code, answer, err = plan("llama3-8b", "--on", "h200-141-sxm", "--set", "execution=graph", "--set", "update=fused", "--top", "1")
    text = " ".join(answer["summary"])
    expect(code == 1 and "make it fit" not in text and "could be timed" in text, answer["summary"], err)
    code, answer, err = plan("llama3-8b", "--on", "h100-sxm", "--top", "1")  # 512 micro-batches that are alike
    expect(code == 0 and any("--set framework=" in s for s in answer["summary"]), answer["summary"], err)


def test_fit():
    """A fit of one's own runs counts as in predict, to the last bit."""
    with tempfile.TemporaryDirectory() as folder:
        table, fit = os.path.join(folder, "runs.csv"), os.path.join(folder, "runs.fit")
        with open(table, "w") as out:
            out.write("model,system,n_gpu,tp,pp,dp,micro_batch,global_batch,framework,precision,step_time_s\n")
            for model, tp in itertools.product(("gpt3_1.3b", "gpt3_2.7b", "gpt3_350m", "gpt3_760m"), (1, 2, 4)):
                sets = [f"tp={tp}", f"dp={8 // tp}", "global_batch=64", "micro_batch=1", "framework=megatron-core"]
                _, said, _ = run("predict", model, "--on", "dgx-h100", "-f", "json", "-q", *[w for s in sets for w in ("--set", s)])
                seconds = 1.5 * json.loads(said)["values"]["step.median_s"]
                out.write(f"{model},dgx-h100,8,{tp},1,{8 // tp},1,64,megatron-core,bf16,{seconds}\n")
        code, _, err = run("fit", "--kind", "step", table, "-o", fit, "-q")
        expect(code == 0, "fit", err)
        sets = ["global_batch=64", "framework=megatron-core", "precision=bf16"]
        code, answer, err = plan("gpt3_1.3b", "--on", "dgx-h100", "--fit", fit, *[w for s in sets for w in ("--set", s)])
        _, plain, _ = plan("gpt3_1.3b", "--on", "dgx-h100", *[w for s in sets for w in ("--set", s)])
        expect(code == 0 and answer["configurations"][0]["step_s"] != plain["configurations"][0]["step_s"], "moves", err)
        for row in answer["configurations"]:
            keys = ("tp", "pp", "vpp", "dp", "micro_batch", "recompute", "schedule", "zero_stage")
            one = sets + [f"{key}={row[key]}" for key in keys if key != "zero_stage" or row["dp"] > 1]
            one += [f"recompute_modules={row['recompute_modules']}"] if row["recompute_modules"] else []
            code, out, err = run("predict", "gpt3_1.3b", "--on", "dgx-h100", "--fit", fit, "-f", "json", "-q",
                                 *[w for s in one for w in ("--set", s)])
            expect(code == 0 and json.loads(out)["values"]["step.median_s"] == row["step_s"], "predict's", row, err)
        code, _, err = run("plan", "gpt2", "--on", "dgx-h100", "--fit", table)
        expect_line(code, err, 3, "runs.csv", "another kind (table)")


test_precision()
test_utilization()
test_peak()
test_enough()
test_not_enough()
test_enough_of_any()
test_budget()
test_one_batch()
test_framework()
test_command()
test_parts()
test_pairs()
test_no_network()
test_too_long()
test_fit()
sys.exit(finish())
