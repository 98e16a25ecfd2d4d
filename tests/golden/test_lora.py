"""Low-rank adapters: what is trained and exchanged (counts that PEFT prints), what is not computed, by options, a row and the timeline."""
import csv
import io
import json
import tempfile
from pathlib import Path

from checks import expect, finish, run

BASE = ("precision=bf16", "micro_batch=1", "optimizer=adam", "update=fused")


def words(settings):
    return [word for setting in settings for word in ("--set", setting)]


def answer(model, *settings, on="dgx-h100"):
    code, out, err = run("predict", model, "--on", on, *words((*BASE, *settings)), "-q", "-f", "json")
    expect(code in (0, 1), model, settings, err)
    return json.loads(out)


def trace_of(model, *settings):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "step.json"
        run("predict", model, "--on", "dgx-h100", *words((*BASE, *settings)), "-q", "-f", "perfetto", "-o", str(path))
        return json.loads(path.read_text())["traceEvents"]


def check_counts():
    """PEFT's print_trainable_parameters() of Llama 2 7B: 4,194,304 with r=8 on two products of each of 32 blocks, so twice that on the four
    around attention; 39,976,960 with r=16 on all seven."""
    for settings, trained in ((("lora=8",), 8_388_608), (("lora=16", "lora_layers=all"), 39_976_960)):
        exchanged = [int(event["args"]["In msg nelems"]) for event in trace_of("llama-2-7b", "dp=2", *settings)
                     if event.get("cat") == "kernel" and event["args"].get("Collective name") == "allreduce"]
        expect(sum(exchanged) % trained == 0 and exchanged, "gradients of adapters alone are exchanged", sum(exchanged), trained)
    # LitGPT's resource tables, trainable parameters: rank 8 beside queries and values. GPT-2 has them, and keys, of one product.
    for model, trained in (("phi-1.5", 1_572_864), ("llama2-7b", 4_194_304), ("llama2-13b", 6_553_600), ("gpt2", 12 * 8 * (768 + 3 * 768))):
        code, out, err = run("predict", model, "--on", "a100-40-sxm", *words(("lora=8", "lora_layers=query-value", "micro_batch=1", "sequence=128")))
        expect(code == 0 and f"products of queries and values: {trained:,} of" in " ".join(out.split()), model, trained, err)


def check_products():
    """Of a frozen product backward has one product, of an adapter four beside two forward: 224 products of 32 blocks and the output layer."""
    backward = {}
    for name, settings in (("whole", ("dp=1",)), ("lora", ("dp=1", "lora=8", "lora_layers=all"))):
        events = trace_of("llama-2-7b", *settings)
        backward[name] = sum(event.get("name") == "autograd::engine::evaluate_function: MmBackward0" for event in events)
        kept = sum(event.get("name") == "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad" for event in events)
        steps = backward[name] / (225 if name == "whole" else 225 + 448)
        expect(steps == int(steps) > 0, "products of backward", name, backward)
        expect(kept == steps * (291 if name == "whole" else 448), "tensors that get a gradient", name, kept, steps)


def check_memory():
    """Adam's states and, where micro-batches add to them, gradients of what is trained; the inputs of frozen products are not kept."""
    whole, lora = (answer("gpt2", "dp=1", "keep_gradients=1", *more)["closed_form"]["memory_bytes"] for more in ((), ("lora=8",)))
    states = (2 + 2 * 2) * 124_439_808
    expect(whole - lora > 0.99 * states, "gradients and states", whole, lora, states)


def check_published():
    """LitGPT's resource tables (A100-40GB, bf16, LoRA of rank 8, 1304 tokens): peaks of 21.30, 29.07 and 38.12 GB; two samples of 13 billion do not
    fit. NeMo's summary of 24.12 (8 H100, FP8): with adapters 24,824 tokens/s a device, all trained 16,891; Megatron's host takes long for modules of its own."""
    for model, batch, peak_gb in (("llama2-7b", 1, 21.30), ("llama2-7b", 2, 29.07), ("llama2-13b", 1, 38.12)):
        code, out, err = run("predict", model, "--on", "a100-40-sxm", *words(("framework=litgpt", "lora=8", "precision=bf16", "recompute=none", "sequence=1304", f"micro_batch={batch}")), "-q", "-f", "json")
        all_bytes = next(row["held_bytes"] for row in json.loads(out)["memory"] if row["kind"] == "all")
        expect(abs(all_bytes / 1e9 / peak_gb - 1) < 0.1, "peak of memory", model, batch, all_bytes, peak_gb)
    nemo = ("framework=nemo", "precision=fp8", "micro_batch=1", "global_batch=32", "sequence=4096")
    rates = [json.loads(run("predict", "llama2-7b", "--on", "dgx-h100", *words((*nemo, *more)), "-q", "-f", "json")[1])["step"]["device_tokens_per_s"]
             for more in ((), ("lora=8",), ("lora=8", "lora_layers=all"))]
    expect(rates[1] > rates[2] > rates[0], "adapters make a step shorter", rates)


def check_quantized():
    """QLoRA (Dettmers et al. 2023): a weight of frozen blocks takes 4 bits and its share of a scale, 4.5 or 4.127 bits. fms-acceleration's benchmark
    (A100-80, 4 x 4096 words, r=16, all recomputed; bitsandbytes): Mistral 7B 4.779 s and 15.86 GB in nf4, 4.554 s and 26.11 GB in 16 bits; Mixtral's
    experts are kept so too, 36.22 GB."""
    def asked(model, kept, *more):
        said = ("framework=transformers", "lora=16", f"quantized={kept}", "precision=bf16", "micro_batch=4", "sequence=4096", "recompute=full", *more)
        code, out, err = run("predict", model, "--on", "a100-80-sxm", *words(said), "-q", "-f", "json")
        expect(code == 0, kept, err)
        return json.loads(out)
    held = {kept: {row["kind"]: row["held_bytes"] for row in asked("mistral-7b", kept)["memory"]} for kept in ("none", "int8", "nf4", "nf4-dq")}
    blocks = 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336)
    for kept, each in (("int8", 1), ("nf4", 4.5 / 8), ("nf4-dq", (4 + 8 / 64 + 32 / (64 * 256)) / 8)):
        less = held["none"]["parameters"] - held[kept]["parameters"]
        expect(abs(less / ((2 - each) * blocks) - 1) < 1e-6, "bytes of frozen blocks", kept, less)
    expect(abs(held["nf4"]["all"] / 15.86e9 - 1) < 0.1, "peak", held["nf4"])
    experts = {row["kind"]: row["held_bytes"] for row in asked("mixtral-8x7b", "nf4")["memory"]}["all"]
    expect(abs(experts / 36.22e9 - 1) < 0.1, "peak of experts", experts)
    steps = [asked("mistral-7b", kept)["values"]["step.median_s"] for kept in ("none", "nf4")]
    expect(1 < steps[1] / steps[0] < 1.1, "4.779 / 4.554 s", steps)


def check_compiled():
    """torchtune README: LoRA of Llama 3.1 8B on a 4090, compiled, two samples of 2048: 3,083 tokens/s. A graph is no other framework's."""
    torchtune = ("framework=torchtune", "lora=8", "sequence=2048", "micro_batch=2", "recompute=full")
    rates = []
    for execution in ("eager", "compiled"):
        code, out, err = run("predict", "llama3.1-8b", "--on", "rtx-4090", *words((*torchtune, f"execution={execution}")), "-q", "-f", "json")
        expect(code == 0, execution, err)
        rates.append(json.loads(out)["values"])
    expect(rates[0]["step.median_s"] > rates[1]["step.median_s"], "compiled is faster", rates)
    expect(rates[1]["step.low_s"] < 2 * 2048 / 3083 < rates[1]["step.high_s"], "published rate", rates[1])
    titan = ("framework=torchtitan", *torchtune[1:], "execution=graph")
    code, _, err = run("predict", "llama3.1-8b", "--on", "rtx-4090", *words(titan), "-q")
    expect(code == 2 and "execution" in err, "a graph", code, err)


def check_short_samples():
    """LitGPT's resource tables (A100-40GB, bf16, LoRA of rank 8, Alpaca's samples, some hundred words each): 1,000 micro-batches of phi-1.5 take 1.62,
    1.65 and 1.70 minutes with 1, 2 and 4 samples: the host decides. Adam's states are in bf16, too: TinyLlama, all trained, on an A10G (4 x 512; eight micro-batches
    a step, config_hub/finetune/tiny-llama/full.yaml) 14.10 GB."""
    for batch, minutes in ((1, 1.62), (2, 1.65), (4, 1.70)):
        for length in (64, 128, 192):
            said = ("framework=litgpt", "lora=8", "lora_layers=query-value", f"micro_batch={batch}", f"sequence={length}", "recompute=none")
            code, out, err = run("predict", "phi-1.5", "--on", "a100-40-sxm", *words(said), "-q", "-f", "json")
            step = json.loads(out)["values"]
            expect(step["step.low_s"] < minutes * 0.06 < step["step.high_s"], "time of a micro-batch", batch, length, step)
    said = ("framework=litgpt", "micro_batch=4", "global_batch=32", "sequence=512", "recompute=none")
    code, out, err = run("predict", "tinyllama", "--on", "a10g", *words(said), "-q", "-f", "json")
    held = next(row["held_bytes"] for row in json.loads(out)["memory"] if row["kind"] == "all")
    expect(abs(held / 14.10e9 - 1) < 0.1, "peak of memory", held)


def check_roads():
    for model, said in (("qwen3-0.6b", {"lora": 16, "dp": 8, "zero_stage": 3, "recompute": "full"}),
                        ("qwen3-0.6b", {"lora": 16, "quantized": "nf4", "dp": 8, "zero_stage": 3, "recompute": "full"}),
                        ("gpt2", {"lora": 8, "lora_layers": "all", "dp": 2, "pp": 2, "global_batch": 16, "recompute": "none"})):
        said |= {"micro_batch": 2, "precision": "bf16", "framework": "pytorch"}
        code, out, err = run("predict", model, "--on", "dgx-h100", *words(f"{key}={value}" for key, value in said.items()), "-q", "-f", "json")
        one = json.loads(out)
        gap = one["closed_form"]["step_ns"] / 1e9 / one["values"]["step.median_s"] - 1
        expect(abs(gap) < 0.05, "closed form and walk", model, said, gap)
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / "rows.csv"
            with open(table, "w", newline="") as file:
                csv.writer(file).writerows([["model", "machine", *said], [model, "dgx-h100", *said.values()]])
            row = next(csv.DictReader(io.StringIO(run("predict", "--rows", str(table), "--kind", "step", "-f", "csv")[1])))
        expect(float(row["predicted"]) == one["values"]["step.median_s"], "row and options differ", model, row)


def check_usual_precision():
    """Gemma 3 1B has 999,885,952 parameters: with adapters a billion. Options counted those and said bf16, rows fp32."""
    assert 999_885_952 < 1e9 < 999_885_952 + 26 * 4 * (1152 + 1024)
    said = ["model,machine,micro_batch,sequence,dp,lora", "gemma3-1b,dgx-h100,1,512,1,4"]
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "rows.csv"
        table.write_text("\n".join(said) + "\n")
        row = next(csv.DictReader(io.StringIO(run("predict", "--rows", str(table), "--kind", "step", "-f", "csv")[1])))
    code, out, err = run("predict", "gemma3-1b", "--on", "dgx-h100", *words(("micro_batch=1", "sequence=512", "dp=1", "lora=4")), "-q", "-f", "json")
    expect(code == 0 and float(row["predicted"]) == json.loads(out)["values"]["step.median_s"], "row and options differ", row, err)


def check_refusals():
    for model, settings, says in (("resnet50", ["lora=8"], "no products"), ("gpt2", ["lora=8", "mode=inference"], "lora"),
                                  ("gpt2", ["lora=8", "frozen=1"], "frozen"), ("gpt2", ["lora_layers=all"], "lora=RANK"), ("gpt2", ["quantized=nf4"], "lora=RANK"),
                                  ("gpt2", ["lora=8", "pp=2", "schedule=zero-bubble"], "zero-bubble")):
        code, _, err = run("predict", model, "--on", "dgx-h100", *words(settings), "-q")
        expect(code == 2 and says in err, "refused", model, settings, code, err)
    code, _, err = run("models", "--set", "lora=8")
    expect(code == 2 and "lora" in err, "all models", code, err)


for check in (check_counts, check_products, check_memory, check_published, check_quantized, check_compiled, check_short_samples, check_usual_precision, check_roads, check_refusals):
    check()
finish()
