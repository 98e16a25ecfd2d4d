"""Names that other programs and tables have for a setting lead to ours, in every verb that takes settings; hubs' names of models
are models; a training whose failures outrun its checkpoints is no plan."""
import os
import re
import sys

from checks import SOURCE, expect, expect_line, finish, run

# what Hugging Face, Megatron-LM, DeepSpeed, PyTorch and tables of measurements write
MEANT = {
    "batch=16": "micro_batch=16?", "batch_size=8": "micro_batch=8?", "per_device_train_batch_size=8": "micro_batch=8?", "gbs=64": "global_batch=64?",
    "tensor_parallel=8": "tp=8?", "pipeline_model_parallel_size=2": "pp=2?", "data_parallel=8": "dp=8?", "context_parallel_size=2": "cp=2?",
    "zero=3": "zero_stage=3?", "fsdp=true": "zero_stage=3?", "bf16=true": "precision=bf16?", "fp16=1": "precision=fp16?", "dtype=bf16": "precision=bf16?",
    "bf16=false": "precision?", "gradient_checkpointing=full": "recompute=full?", "gradient_checkpointing=true": "recompute? recompute: expected one of none,",
    "compile=true": "execution=compiled?", "flash_attention=true": "attention=fused?", "seq_len=128": "sequence=128?", "num_layers=12": "layers=12?",
    "hidden_size=512": "hidden=512?", "n_head=8": "heads=8?", "precisjon=fp16": "precision=fp16?", "fremework=megatron": "framework=megatron?",
    "gpus=8": "the machine says how many", "world_size=8": "the machine says how many", "nodes=2": "the machine says how many",
    "gradient_accumulation_steps=4": "global_batch is micro_batch x dp", "task=inference": "mode=inference?", "phase=decode": "one by one are not answered",
}


def main():
    for setting, meant in MEANT.items():
        code, out, err = run("predict", "gpt2", "--on", "a100-80-sxm", "--set", setting)
        expect_line(code, err, 2, f"no setting is called {setting.split('=')[0]}:", meant)
        expect(out == "", setting, out)
        if meant.endswith("?") and "=" in meant:  # what is advised is taken, or refused for what it does, not for its name
            _, _, again = run("predict", "gpt2", "--on", "dgx-a100", "--set", meant[:-1])
            expect("no setting is called" not in again and "has no parameter" not in again, meant, again)
    for words in (("models", "gpt2"), ("models",), ("plan", "gpt2", "--on", "dgx-a100"), ("predict", "resnet50", "--on", "dgx-1-v100", "--workers", "1,2")):
        code, _, err = run(*words, "--set", "batch=16")
        expect_line(code, err, 2, "micro_batch=16")
    code, _, err = run("predict", "resnet50", "--on", "a100-80-sxm", "--set", "num_layers=5")  # a network that has none
    expect_line(code, err, 2, 'no parameter "num_layers"', "image")
    for name in re.search(r"how it is run \((.*?)\)", err)[1].split(", "):
        expect("no parameter" not in run("predict", "resnet50", "--on", "a100-80-sxm", "--set", f"{name}=-1")[2], "no such setting", name)
    code, _, err = run("predict", "gpt2", "--on", "a100-80-sxm", "--set", "foo=bar")
    expect_line(code, err, 2, "foo is no setting that takes a word", "'bar'")
    code, _, err = run("predict", "gpt2", "--on", "a100-80-sxm", "--set", "precision=fp6")  # predict has --precision, too
    expect_line(code, err, 2, "--set: precision: expected one of fp32,")
    for words, start in ((("--set", "precision=fp8"), "v100-sxm2-16 has no rate for fp8"), (("--precision", "fp8"), "--precision: v100-sxm2-16 has no rate for fp8")):
        code, _, err = run("predict", "resnet50", "--on", "v100-sxm2-16", *words)
        expect_line(code, err, 2, f"predict: {start}")
    code, _, err = run("fleet", os.path.join(SOURCE, "tests", "data", "jobs_synthetic.csv.gz"), "--price", "2.5")
    expect_line(code, err, 2, "--price: expected the price of an upgrade", "records of a cluster's scheduler")
    code, _, err = run("predict", "gpt2", "--on", "a100-80-sxm", "--tp", "8")
    expect_line(code, err, 2, "--set KEY=VALUE")

    for key, wanted in (("dropout", "probability"), ("kv_heads", "at least 1"), ("heads", "at least 1"), ("layers", "whole number of times, at most")):
        code, _, err = run("predict", "gpt3_1.3b", "--on", "dgx-h100", "--set", f"{key}=-1")
        expect_line(code, err, 2, f"{key}=-1", wanted)
    for name in ("meta-llama/Llama-3.1-8B", "ViT-L/16"):
        code, out, err = run("models", name)
        expect(code == 0 and "parameters" in out, name, code, err)
    code, _, err = run("models", "nobody/nothing-7z")
    expect_line(code, err, 4, "no such file", "no model")
    code, _, err = run("models", "no/such/file")
    expect_line(code, err, 3, "No such file")

    plan = ("plan", "gpt2", "--on", "dgx-h100*2", "--set", "precision=bf16", "--set", "global_batch=64", "--tokens", "300G", "--failures")
    code, _, err = run(*plan, "1h:1h:1h")
    expect_line(code, err, 2, "one of 16 devices fails every 3.8 minutes", "would not end")
    code, out, err = run(*plan, "50000h:60s:10m")
    expect(code == 0 and "fails every 130.2 days" in " ".join(out.split()), code, err)
    return finish()


sys.exit(main())
