"""A step that does not fit says by how much and what would make it fit, at every door; each change that is named is asked again, and fits."""
import csv
import json
import math
import os
import re
import tempfile

from checks import expect, finish, run  # noqa: E402


def answer(*words):
    code, out, err = run("predict", *words, "-f", "json")
    expect(code in (0, 1), words, code, err)
    found = {one["code"]: one["text"] for one in json.loads(out)["warnings"]} if out else {}
    expect((code == 1) == ("does_not_fit" in found), words, code, found)
    return found


def doubt(found):
    return found.get("does_not_fit") or found.get("may_not_fit") or ""


def changes(text, words="would fit with"):
    said = re.search(rf"{words} (.*?)\.(?: |$)", text)
    return re.split(r", | or ", said[1]) if said else []


def flags(settings):
    return [word for one in settings for word in ("--set", one)]


def ask_again(model, on, settings, change):
    new = re.findall(r"--set (\S+)", change)
    keys = {one.split("=")[0] for one in new}
    kept = [one for one in settings if one.split("=")[0] not in keys]
    found = answer(model, "--on", on, *flags(kept + new))
    expect(not doubt(found), "the advice does not fit", model, on, settings, change, found)


def test_models():
    """Alone, where one change does; together, where none does."""
    several, ways = 0, set()
    for model, on, settings in (("bert_large", "dgx-1-v100", ["micro_batch=256"]), ("gpt2-large", "dgx-1-v100", ["dp=2", "micro_batch=4"]),
                                ("gpt2", "v100", ["micro_batch=48"]), ("gpt3_1.3b", "dgx-1-v100", ["micro_batch=1"]), ("gpt3_1.3b", "v100", ["micro_batch=1"]),
                                ("bert_large", "dgx-a100*2", ["micro_batch=48", "recompute=none"]), ("bert_large", "dgx-a100", ["dp=4", "micro_batch=50", "attention=fused"]), ("gpt3_13b", "dgx-a100", ["micro_batch=2"]),
                                ("gpt2", "dgx-1-v100", ["tp=2", "micro_batch=64"]), ("bert_large", "dgx-1-v100", ["pp=2", "micro_batch=512"]),
                                ("llama3-8b", "dgx-h100", ["zero_stage=3", "sequence=131072"]), ("llama3-8b", "hgx-b200", ["framework=megatron", "sequence=131072", "zero_stage=1"]),
                                ("gpt3_40b", "dgx-h100", ["zero_stage=2", "micro_batch=32", "global_batch=512", "framework=maxtext"]),
                                ("dlrm_mlperf", "v100", ["micro_batch=1048576"]), ("bert_large", "dgx-a100", ["global_batch=768", "micro_batch=768", "dp=1"])):
        text = doubt(answer(model, "--on", on, *flags(settings)))
        named = changes(text)
        expect(named or "alone fill" in text, model, on, settings, text)
        several += len(named) > 1
        ways.update(key for change in named if len(named) > 1 for key in re.findall(r"(\w+)=", change))
        for change in named:
            ask_again(model, on, settings, change)
    expect(several >= 3 and ways == {"micro_batch", "recompute", "zero_stage", "tp", "cp", "offload"}, "every single change is named somewhere", several, ways)


def test_alone():
    """Devices that states alone fill, whatever is sharded: 18 bytes a parameter in Megatron's bf16 (Megatron Core user guide, Distributed Optimizer), in 84.4 GB of an H100."""
    for model, on, parameters, has in (("llama3-70b", "dgx-h100", 70.554e9, "dgx-h100 has 8"), ("llama3-405b", "dgx-h100*8", 405.853e9, "dgx-h100*8 has 64")):
        text = answer(model, "--on", on, "--set", "framework=megatron")["does_not_fit"]
        expect(f"alone fill {math.ceil(18 * parameters / 84.4e9)} such devices; {has}." in text, model, text)


def test_workers():
    for words, batch in ((["--batch", "256"], r"--batch \d+"), (["--batch", "2048", "--strong"], r"--batch \d+")):
        text = answer("bert_large", "--on", "dgx-1-v100", "--workers", "8", *words)["does_not_fit"]
        expect("times as much" in text, text)
        (change,) = changes(text)
        expect(re.fullmatch(batch, change), change)
        expect(not doubt(answer("bert_large", "--on", "dgx-1-v100", "--workers", "8", *change.split(), *words[2:])), change)
    text = answer("gpt3_13b", "--on", "dgx-1-v100*4", "--workers", "8", "--batch", "1")["does_not_fit"]
    shared = re.search(r"shared out, it would fit: (.*) instead of workers", text)
    expect(shared, text)
    ask_again("gpt3_13b", "dgx-1-v100*4", ["micro_batch=1"], shared[1])
    text = answer("gpt3_13b", "--on", "dgx-1-v100", "--workers", "8", "--batch", "1")["does_not_fit"]
    expect("no way to share the model over the machine was found" in text, text)
    found = answer("gpt2", "--on", "dgx-1-v100", "--workers", "8", "--batch", "16")
    expect("may not fit" in found.get("may_not_fit", ""), "a point that may not fit is said, too", found)


def test_what_if_precision():
    """Products in single precision keep single-precision inputs: the need is that of the step whose precision is fp32."""
    step = ["gpt2_xl", "--on", "rtx-4090", "--set", "micro_batch=3", "--set", "seq=1024", "--set", "recompute=none"]
    need = re.search(r"needs (\S+ GB)", answer(*step, "--set", "precision=fp32")["does_not_fit"])[1]
    half = [*step, "--set", "precision=bf16"]
    expect(f'with "precision fp32" a rank needs about {need}' in answer(*half, "--precision", "fp32")["does_not_fit"], need)
    text = answer(*half, "--precision", "fp32")["does_not_fit"]
    (change,) = changes(text)
    expect(not doubt(answer(*half[:-2], "--set", "precision=fp32", *change.split())), "the change that is named fits", text)
    expect(not doubt(answer(*half, "--precision", "fp8")), "fewer bits need no more")
    (smaller,) = [one for one in changes(answer(*half, "--batch", "64")["does_not_fit"]) if "--batch" in one]
    expect(not doubt(answer(*half, *smaller.split())), "the batch that is named fits", smaller)


def test_rows(folder):
    path = os.path.join(folder, "rows.csv")
    rows = [["bert_large", "dgx-1-v100", "nccl", 8, 256, ""]]
    for again in range(2):
        with open(path, "w", newline="") as file:
            csv.writer(file).writerows([["model", "machine", "approach", "workers", "batch", "settings"], *rows])
        text = doubt(answer("--rows", path, "--kind", "scaling"))
        if again:
            expect(not text, text)
            break
        (change,) = changes(text)
        rows[0][4] = int(re.fullmatch(r"batch=(\d+)", change)[1])
    rows[0][5] = " ".join(["precision=fp32"] * 40)
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([["model", "machine", "approach", "workers", "batch", "settings"], *rows])
    out = run("predict", "--rows", path, "--kind", "scaling")[1]
    expect("settings: expected at most" in out or "too long" in out, "settings that have no room are refused", out)


def test_stage_alone():
    """ZeRO says how states are shared, not over how many: all devices of the machine."""
    code, out, err = run("predict", "bert_large", "--on", "dgx-a100", "--set", "zero_stage=2", "--set", "micro_batch=4")
    expect(code == 0 and "on 8 a100-40-sxm, data parallel" in " ".join(out.split()), code, out[:300], err)
    expect(run("predict", "bert_large", "--on", "a100-40-sxm", "--set", "zero_stage=2")[0] == 2, "one device has nothing to share with")


with tempfile.TemporaryDirectory() as scratch:
    test_models()
    test_alone()
    test_workers()
    test_what_if_precision()
    test_rows(scratch)
    test_stage_alone()
finish()
