"""`plan`: the space is counted again here, every time is `predict`'s, and the first is the fastest of all when all are asked."""
import itertools
import json
import re
import shlex
import sys
import tempfile

from checks import expect, finish, run as run_program

DEVICES, BATCH = 8, 32
SETTINGS = ["--set", f"global_batch={BATCH}", "--set", "framework=megatron-core", "--set", "precision=bf16"]


def run(*words):
    code, out, err = run_program(*words)
    return code, out, err


def plan(*words):
    code, out, err = run("plan", *words, "-f", "json", "-q")
    return code, json.loads(out) if out else None, err


def cuts(most):
    """What machines are cut by: 2^a and 3 x 2^a."""
    return {v for a in range(12) for v in (2 ** a, 3 * 2 ** a) if v <= most}


def replicas(shared, micro):
    """The most that share the batch, on one node: the rest is idle."""
    return next((dp for dp in range(DEVICES // shared, 0, -1) if BATCH % (micro * dp) == 0), 0)


def space(layers, heads):
    """Every configuration of docs/plan.md for a model of short sequences on one node, and which of them the model refuses."""
    tried = refused = 0
    tps = [v for v in cuts(DEVICES) if DEVICES % v == 0]
    pps = [v for v in range(1, min(DEVICES, layers) + 1) if v in cuts(DEVICES) or layers % v == 0]
    for tp, pp, vpp, zero, micro, _ in itertools.product(tps, pps, range(1, 9), (0, 1), (1, 2, 4, 8, 16, 32), range(3)):
        dp = replicas(tp * pp, micro)
        if not dp or (zero and dp < 2):
            continue
        even = [layers % (pp * v) == 0 or ((layers + 2) % (pp * v) == 0 and layers + 2 >= pp * v) for v in (2, vpp)]  # both ends count as a layer
        uneven = not even[0] and pp * vpp <= layers and vpp in (2, 4, 8)
        if vpp > 1 and (pp < 2 or BATCH // (micro * dp) % pp or not (even[1] or uneven)):
            continue
        tried += 1
        refused += heads % tp != 0
    return tried, refused


def settings_of(row):
    words = []
    for key in ("tp", "pp", "vpp", "dp", "micro_batch", "zero_stage", "zero_group", "recompute", "schedule", "offload"):
        words += ["--set", f"{key}={row[key]}"] if not (key in ("zero_stage", "zero_group") and row["dp"] == 1) else []
    words += ["--set", f"recompute_modules={row['recompute_modules']}"] if row["recompute_modules"] else []
    return words


def test_space_and_times():
    code, answer, err = plan("gpt2", "--on", "dgx-h100", *SETTINGS, "--top", "5")
    expect(code == 0, "plan", err)
    machine, rows = answer["machines"][0], answer["configurations"]
    tried, refused = space(layers=12, heads=12)
    expect(machine["tried"] == tried, "tried", machine, tried)
    expect(sum(row["configurations"] for row in answer["refused"]) == machine["refused"] == refused, "refused", machine, refused)
    steps = [row["step_s"] for row in rows]
    expect(len(rows) == 5 and steps == sorted(steps), "in order", steps)
    for row, parts in zip(rows, answer["parts"]):
        total = sum(value for key, value in parts.items() if key.endswith("_ns"))
        expect(abs(total - row["step_ns"]) <= 10, "parts add up to the step in closed form", parts, row)
    for row in rows:
        code, out, err = run("predict", "gpt2", "--on", "dgx-h100", *SETTINGS, *settings_of(row), "-f", "json", "-q")
        expect(code == 0 and json.loads(out)["values"]["step.median_s"] == row["step_s"], "predict's time", row, err)
        expect(row["low_ns"] < row["step_ns"] < row["high_ns"] and row["memory_bytes"] < 80 * 2 ** 30, "interval, memory", row)


def test_fastest_of_all():
    """With tp, pp, ZeRO and recomputation fixed few are left: all are asked of predict."""
    fixed = [*SETTINGS, "--set", "pp=1", "--set", "zero_stage=1", "--set", "recompute=none"]
    _, answer, err = plan("gpt2", "--on", "dgx-h100", *fixed, "--top", "1")
    code, every, err = plan("gpt2", "--on", "dgx-h100", *fixed, "--top", "1e9")  # all there are
    expect(code == 0 and len(every["configurations"]) > len(answer["configurations"]) == 1, code, err)
    times = {}
    for tp, micro in itertools.product((1, 2, 4), (1, 2, 4, 8, 16, 32)):
        dp = DEVICES // tp
        if BATCH % (micro * dp):
            continue
        code, out, _ = run("predict", "gpt2", "--on", "dgx-h100", *fixed, "--set", f"tp={tp}", "--set", f"dp={dp}", "--set",
                           f"micro_batch={micro}", "-f", "json", "-q")
        if code == 0:
            times[tp, micro] = json.loads(out)["values"]["step.median_s"]
    best = answer["configurations"][0]
    expect(best["step_s"] <= min(times.values()) * 1.001, "fastest", best, times)
    expect((best["pp"], best["zero_stage"], best["recompute"]) == (1, 1, "none"), "fixed", best)
    for fixed in ({"dp": 4}, {"tp": 2, "dp": 2}, {"pp": 2, "schedule": "gpipe"}):
        _, answer, err = plan("gpt2", "--on", "dgx-h100", *SETTINGS, *(w for k, v in fixed.items() for w in ("--set", f"{k}={v}")))
        expect(answer and all(row[key] == value for row in answer["configurations"] for key, value in fixed.items() if key in row)
               and answer["configurations"], "what is set stays", fixed, err)


def test_stages_without_sequences():
    """Of models without sequences stages are searched where blocks repeat: the first is the fastest of all that predict answers, FLUX's has stages."""
    fixed = "global_batch=64,micro_batch=4,precision=amp_bf16,recompute=none,offload=none,zero_group=0,zero_stage=0,vpp=1"
    for model, schedule, most in (("swin_base", "zero-bubble", 8), ("dit-l", "1f1b", 8), ("resnet50", "1f1b", 1)):
        setting = f"{fixed},schedule={schedule}"
        times = {}
        for pp in sorted(cuts(most)):
            if DEVICES % pp == 0:
                code, out, _ = run("predict", model, "--on", "dgx-a100", "--set", f"{setting},pp={pp},dp={DEVICES // pp}", "-f", "json", "-q")
                if code == 0:
                    times[pp] = round(json.loads(out)["values"]["step.median_s"] * 1e9)
        _, answer, _ = plan(model, "--on", "dgx-a100", "--set", setting, "--top", "8")
        found = {row["pp"]: row["step_ns"] for row in answer["configurations"] if not row["idle_devices"]}
        expect(len(times) > (most > 1) and found.items() >= times.items(), model, found, times)
        expect(answer["configurations"][0]["step_ns"] <= 1.01 * min(times.values()), model, answer["configurations"][0], times)
    _, answer, _ = plan("flux.1-dev", "--on", "dgx-h100*2", "--set", "global_batch=64")
    expect(answer["configurations"][0]["pp"] > 1, "stages of FLUX", answer["configurations"][0])


def test_tokens_and_price():
    _, answer, err = plan("gpt2", "--on", "dgx-h100", *SETTINGS, "--tokens", "3G", "--price", "2.5", "--top", "1")
    row = answer["configurations"][0]
    days = 3e9 / 1024 / (BATCH / row["step_s"]) / 86400
    expect(abs(row["days"] / days - 1) < 1e-9 and abs(row["price"] / (days * 24 * DEVICES * 2.5) - 1) < 1e-9, "days", row, days)
    _, answer, err = plan("gpt2", "--on", "dgx-h100*4", *SETTINGS, "--tokens", "1T", "--within", "400d")
    names = [machine["machine"] for machine in answer["machines"]]
    expect(names == ["dgx-h100*1", "dgx-h100*2", "dgx-h100*4"], "parts", names)
    done = [m["machine"] for m in answer["machines"] if m["days"] and m["days"] <= 400]
    said = [s for s in answer["summary"] if s.startswith("The smallest part")]
    expect(bool(done) == bool(said) and (not done or done[0] in said[0]), "smallest", done, answer["summary"])


def test_launch():
    _, answer, _ = plan("gpt2", "--on", "dgx-h100*2", *SETTINGS, "--set", "tp=4", "--set", "pp=2")
    lines = [row["line"] for row in answer["launch"]]
    for wanted in ("torchrun --nnodes 2 --nproc-per-node 8 pretrain_gpt.py", "--tensor-model-parallel-size 4",
                   "--pipeline-model-parallel-size 2", f"--global-batch-size {BATCH}", "--seq-length 1024", "--bf16"):
        expect(wanted in lines, "line", wanted, lines)
    expect(not any("{" in line for line in lines), "filled in", lines)


def test_deepspeed():
    """The lines are JSON, whose batches agree as DeepSpeed demands: of a device x accumulation x devices of data parallelism."""
    for offload, zero in (("none", {"stage": 2}), ("optimizer", {"stage": 2, "offload_optimizer": {"device": "cpu"}})):
        _, answer, _ = plan("gpt2", "--on", "dgx-h100", "--set", "global_batch=64", "--set", "precision=bf16", "--set", "pp=1",
                            "--set", "micro_batch=2", "--set", "zero_stage=2", "--set", "zero_group=8", "--set", "dp=8",
                            "--set", f"offload={offload}", "--top", "1")
        lines = [row["line"] for row in answer["launch"]]
        config = json.loads("".join(lines[next(i for i, line in enumerate(lines) if line.startswith("{")):]))
        wanted = {"train_batch_size": 64, "train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 4,
                  "bf16": {"enabled": True}, "zero_optimization": zero}
        expect(config == wanted, "DeepSpeed", config)


def test_told_to_its_own():
    """A configuration is told to the program that has it: Megatron-LM's flags whatever its release, nothing to a program whose words
    nobody knows. DeepSpeed's JSON means what PyTorch's autocast does (docs.deepspeed.ai, torch_autocast), which asking of it shows."""
    for framework, first in (("megatron-core", "torchrun"), ("megatron-lm", "torchrun"), ("maxtext", None), ("composer", None)):
        _, answer, err = plan("gpt2", "--on", "dgx-h100", "--set", "global_batch=64", "--set", f"framework={framework}", "--top", "1")
        lines = [row["line"] for row in answer.get("launch", [])]
        expect([line.split()[0] for line in lines[:1]] == [first] * bool(first), framework, lines, err)
        expect(bool(lines) != any("is told is not known" in note for note in answer["notes"]), framework, answer["notes"])
        expect(not lines or "pretrain_gpt.py" in lines[0], framework, lines)
    asked = ("gpt2", "--on", "dgx-h100", "--top", "1", "--set", "framework=pytorch")
    _, answer, _ = plan(*asked, "--set", "global_batch=64", "--set", "pp=1", "--set", "tp=1", "--set", "cp=1")
    lines = [row["line"] for row in answer["launch"]]
    text = "".join(lines[next(i for i, line in enumerate(lines) if line.startswith("{")):])
    expect(json.loads(text)["torch_autocast"] == {"enabled": True, "dtype": "bfloat16"}, text)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(text)
        file.flush()
        _, again, err = plan(*asked, "--from", file.name)
    expect(again["values"]["yours.step_s"] == answer["values"]["best.step_s"], "as told", err)


def test_what_frameworks_have():
    """DeepSpeed's pipelines have no chunks, and refuse ZeRO 2 and 3 (PipelineEngine); Hugging Face's trainers have none."""
    def asked(framework, *fixed):
        _, answer, err = plan("llama3-8b", "--on", "dgx-a100*2", "--set", "global_batch=64", "--set", f"framework={framework}",
                              *[word for one in fixed for word in ("--set", one)], "--top", "2000")
        expect(answer["configurations"], framework, fixed, err)
        return answer["configurations"]
    rows = asked("deepspeed", "cp=2", "tp=1")
    expect(any(row["pp"] > 1 for row in rows) and all(row["vpp"] == 1 and row["zero_group"] == 0 for row in rows), "DeepSpeed")
    expect(all(row["zero_stage"] < 2 for row in rows if row["pp"] > 1), "DeepSpeed's pipelines")
    expect(all(row["pp"] == 1 for row in asked("deepspeed", "cp=2", "zero_stage=3")), "fixed")
    expect(all(row["zero_stage"] == 3 for row in asked("deepspeed", "cp=2", "zero_stage=3", "pp=2")), "both fixed")
    expect(all(row["pp"] == 1 for row in asked("trl", "cp=2", "zero_stage=3")), "trl")
    expect(any(row["vpp"] > 1 for row in asked("megatron-core", "cp=2", "zero_stage=1", "pp=2")), "Megatron")
    for fields, lacks in ((("pp=2", "vpp=4"), "chunks"), (("pp=2", "zero_stage=3"), "beside a pipeline"), (("zero_stage=3", "zero_group=4"), "zero_group"),
                          (("pp=2", "zero_stage=1"), None), (("zero_stage=3",), None)):
        words = [word for field in ("framework=deepspeed", "global_batch=64", *fields) for word in ("--set", field)]
        said = [line for line in json.loads(run("predict", "llama2-7b", "--on", "dgx-a100-80*2", *words, "-f", "json", "-q")[1])["summary"] if "the catalogue knows" in line]
        expect(len(said) == (lacks is not None) and all(lacks in line for line in said), "predict", fields, said)
    for framework, lacks in (("deepspeed", True), ("megatron-core", False)):  # a plan and a row say the same as predict
        fixed = ("llama2-7b", "--on", "dgx-a100-80*2", "--set", f"framework={framework}", "--set", "global_batch=64", "--set", "pp=2", "--set", "vpp=4")
        said = [line for line in plan(*fixed, "--set", "zero_stage=1")[1]["summary"] if "the catalogue knows" in line]
        expect(len(said) == lacks and all("chunks" in line for line in said), "plan", framework, said)
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
            file.write(f"model,system,n_gpu,framework,pp,vpp,global_batch\nllama2-7b,dgx-a100-80,16,{framework},2,4,64\n")
            file.flush()
            said = run("predict", "--kind", "step", "--rows", file.name, "-q")[1]
        expect((f"as if {framework} had chunks" in said) == lacks, "row", framework, said)


def test_uneven_chunks():
    """Llama 3's 126 layers count as 128 with embedding and loss (arXiv 2407.21783, section 3.3.2): its pipelines interleave, and
    16,384 H100 train as fast as published (400 TFLOP/s of a device, without attention 6 x 405e9 for each token) within a tenth, with nothing recomputed, as theirs."""
    fixed = ("llama3-405b", "--on", "dgx-h100*2048", "--set", "framework=megatron-core", "--set", "global_batch=2048", "--set", "precision=bf16")
    _, answer, err = plan(*fixed, "--set", "cp=1", "--set", "recompute=none", "--top", "1")  # as its run of 8,192 tokens (table 4)
    row, lines = answer["configurations"][0], [row["line"] for row in answer["launch"]]
    tokens = row["samples_per_s"] * 8192 / 16384
    attention = 12 * 126 * 16384 * 8192 / 2
    expect(abs(tokens * (6 * 405e9 + attention) / 400e12 - 1) < 0.1, "as published", tokens, row, err)
    chunk = 128 // (row["pp"] * row["vpp"])
    expect(row["vpp"] > 1 and f"--num-layers-per-virtual-pipeline-stage {chunk}" in lines
           and any("--account-for-embedding-in-pipeline-split" in line for line in lines), "told", lines)
    mine = ["--set", "tp=8", "--set", "pp=16", "--set", "dp=128", "--set", "micro_batch=1", "--set", "recompute=none"]
    answers = [json.loads(run("predict", *fixed, *mine, "--set", f"vpp={vpp}", "-f", "json", "-q")[1]) for vpp in (1, 4)]
    plain, chunks = (answer["values"]["step.median_s"] for answer in answers)
    gradients = next(row["time_ns"] for row in answers[0]["parts"] if row["part"] == "data exchange") / 1e9
    # 16 micro-batches on 16 stages: (16 + 15) / (16 + 15 / 4) = 1.57 times, less what no stage waits for; and gradients that one chunk
    # leaves in sight hide behind others
    expect(1.3 < plain / chunks < 31 / 19.75 + gradients / chunks, "interleaved", plain, chunks, gradients)


def test_no_setting_is_faster():
    """What a plan chooses freely is as fast as with any field fixed, to what counts as the same. NVIDIA's recipes cut sequences of 8,192 in two
    (Llama 3 70B: cp 2, vpp 5; 405B: cp 2, vpp 8), and GPT-3's 96 layers into six chunks on each of 16 stages."""
    for model, machine, batch, fields in (("llama3-70b", "dgx-h100*8", 128, ("cp=2", "cp=4", "vpp=5", "vpp=2")), ("llama3.1-405b", "dgx-h100*64", 512, ("cp=2", "cp=4", "vpp=8")),
                                          ("gpt3_175b", "dgx-a100*64", 1536, ("vpp=6", "vpp=3", "pp=16"))):
        words = ("plan", model, "--on", machine, "--set", "framework=megatron-core", "--set", f"global_batch={batch}", "--top", "1")
        times = [json.loads(run(*words, *(("--set", field) if field else ()), "-f", "json", "-q")[1])["values"]["best.step_s"] for field in (None, *fields)]
        expect(all(times[0] <= 1.01 * one for one in times[1:]), model, dict(zip(("free", *fields), times)))


def test_adapted_on_one_card():
    """LoRA of 7 billion parameters fits a card of 24 GB in bf16 (13.5 GB of frozen weights), though 27 GB of fp32 do not."""
    code, answer, err = plan("llama2-7b", "--on", "rtx-4090", "--set", "lora=16", "--set", "global_batch=16", "--top", "1")
    row = answer["configurations"][0] if answer and answer["configurations"] else {}
    expect(code == 0 and row["precision"] == "bf16" and 13.4e9 < row["memory_bytes"] < 25.8e9, row, err)


def test_no():
    code, answer, _ = plan("llama3-70b", "--on", "dgx-1-v100", "--set", "precision=fp16", "--set", "global_batch=8")
    expect(code == 1 and answer["configurations"] == [] and answer["warnings"][0]["code"] == "does_not_fit", "does not fit", answer)
    for words, reason in ((("gpt2",), "expected a machine"), (("gpt2", "--on", "dgx-h100", "--within", "3d"), "no effect without"),
                          (("gpt2", "--on", "dgx-h100", "--tokens", "1T", "--within", "6m"), "minutes or months"),
                          (("gpt2", "--on", "dgx-h100", "--tokens", "1T", "--within", "1e300y"), "expected days, hours or years"),
                          (("gpt2", "--on", "dgx-h100", "--tokens", "many"), "expected how many"),
                          (("gpt2", "--on", "dgx-h100", "--price", "-1"), "price"),
                          (("gpt2", "--on", "dgx-h100", "--price", "1", "--price", "2"), "one for each"),
                          (("gpt2", "--on", "dgx-h100", "--set", "mode=inference"), "of training"),
                          (("gpt2", "--on", "nowhere"), "nowhere")):
        code, out, err = run("plan", *words)
        expect(code in (2, 4) and reason in err and not out, "refused", words, code, err)


def test_published_pipeline():
    """MT-NLG 530B was trained with tp 8, pp 35, dp 8 on 280 nodes of 8 A100 (Smith et al. 2022): that way is within 3 %."""
    fixed = ["--set", "framework=megatron-core", "--set", "global_batch=1920"]
    _, answer, err = plan("mt-nlg-530b", "--on", "hgx-a100-80*280", *fixed, "--top", "20")
    theirs = [row for row in answer["configurations"] if (row["tp"], row["pp"], row["dp"]) == (8, 35, 8)]
    expect(theirs and theirs[0]["slower_share"] <= 0.03, "tp 8, pp 35, dp 8 is near the best", answer["configurations"][:3], err)


def test_single_changes():
    """Where nothing fits, each change that is named makes it fit when it is made."""
    fixed = {"framework": "megatron-core", "global_batch": 64, "tp": 1, "pp": 1, "zero_stage": 1}
    words = lambda fields: [w for key, value in fields.items() for w in ("--set", f"{key}={value}")]
    code, answer, _ = plan("llama3-70b", "--on", "dgx-h100*4", *words(fixed))
    said = [s for s in answer["summary"] if " fits" in s]
    expect(code == 1 and said, "changes", answer["summary"])
    for key in ("tp", "pp", "zero_stage"):
        without = {k: v for k, v in fixed.items() if k != key}
        code, answer, _ = plan("llama3-70b", "--on", "dgx-h100*4", *words(without), "--top", "1")
        expect((code == 0) == any(s.startswith(f"Without {key}={fixed[key]} ") for s in said), "as said", key, said, code)
    code, answer, _ = plan("gpt2", "--on", "dgx-h100", *SETTINGS, "--set", "tp=2", "--set", "dp=3")
    expect(code == 1 and any(s.startswith("Without dp=3 ") for s in answer["summary"]), "contradiction", answer["summary"])


def test_failures_and_energy():
    """Days, money and energy by hand; Young's interval, and the front of machines that no other beats."""
    asked = ["--tokens", "1G", "--price", "2.5", "--price", "2", "--price", "1", "--top", "1"]
    machines = ["--on", "dgx-h100", "--on", "dgx-h100*2", "--on", "hgx-a100-80"]
    _, plain, _ = plan("gpt2", *machines, *SETTINGS, *asked)
    _, answer, err = plan("gpt2", *machines, *SETTINGS, *asked, "--failures", "50000h:60s:10m")
    for before, row in zip(plain["machines"], answer["machines"]):
        mean = 50000 * 3600 / row["devices"]
        young = (2 * 60 * mean) ** 0.5
        expect(abs(row["failures_s"] / mean - 1) < 1e-12 and 0 < young - row["checkpoint_s"] < 60, "interval", row, young)
        lost = 60 / row["checkpoint_s"] + (row["checkpoint_s"] / 2 + 600) / mean  # to first order
        expect(abs((1 - row["goodput_share"]) / lost - 1) < 0.1, "lost", row, lost)
        expect(abs(row["days"] * row["goodput_share"] / before["days"] - 1) < 1e-9, "days", row, before)
        watts = 700 if "h100" in row["machine"] else 400
        expect(abs(row["energy_kwh"] / (row["days"] * 24 * row["devices"] * watts / 1000) - 1) < 1e-9, "energy", row)
        expect((row["front"] == "yes") == (not any(
            other["days"] <= row["days"] and other["price"] <= row["price"] and other is not row for other in answer["machines"])), "front", row)
    for words, reason in ((("--failures", "5h:1s"), "no effect without"), (("--tokens", "1G", "--failures", "5h"), "between failures"),
                          (("--tokens", "1G", "--failures", "5h:0s"), "between failures"), (("--tokens", "1G", "--failures", "x:1s:1s"), "50000h")):
        code, _, err = run("plan", "gpt2", "--on", "dgx-h100", *words)
        expect(code == 2 and reason in err, "refused", words, err)


def test_idle():
    """Seven nodes do not share 64 samples: the times of parts of them are predict's, and the rest is paid for."""
    fixed = ["--set", "framework=megatron-core", "--set", "global_batch=64"]
    _, answer, err = plan("gpt2", "--on", "dgx-h100*7", *fixed, "--tokens", "1G", "--price", "1", "--top", "4")
    rows = answer["configurations"]
    expect(rows and all(row["idle_devices"] == 56 - row["tp"] * row["pp"] * row["cp"] * row["dp"] for row in rows), "idle", rows, err)
    for row in rows:
        used = 56 - row["idle_devices"]
        expect(64 % (row["dp"] * row["micro_batch"]) == 0 and (used <= 8 or used % 8 == 0), "shared, on whole nodes", row)
        _, out, err = run("predict", "gpt2", "--on", "dgx-h100*7", *fixed, *settings_of(row), "-f", "json", "-q")
        expect(json.loads(out)["values"]["step.median_s"] == row["step_s"], "predict's time", row, err)
        expect(abs(row["price"] / (row["days"] * 24 * 56) - 1) < 1e-12, "all are paid for", row)
    expect(any(s.startswith(f"It leaves {rows[0]['idle_devices']} of 56 devices idle") for s in answer["summary"]), "said", answer["summary"])


def test_offloaded():
    """The optimizer's states lie on the host where nothing fits without, nowhere where all fit, and every time is predict's."""
    words = ("gpt3_2.7b", "--on", "v100-sxm2-32", "--set", "global_batch=16", "--set", "framework=deepspeed")
    code, answer, err = plan(*words, "--set", "offload=none")
    expect(code == 1, answer["summary"], err)
    code, answer, err = plan(*words, "--top", "2")
    expect(code == 0 and all(row["offload"] == "optimizer" for row in answer["configurations"]), answer["summary"], err)
    for row in answer["configurations"]:
        _, out, err = run("predict", *words, *settings_of(row), "-f", "json", "-q")
        expect(json.loads(out)["values"]["step.median_s"] == row["step_s"], "predict's time", row, err)
    _, answer, err = plan("gpt2", "--on", "dgx-h100", "--set", "global_batch=64", "--set", "framework=megatron-core")
    expect(all(row["offload"] == "none" for row in answer["configurations"]), "all fit", answer["configurations"], err)


def test_batch_of_tables():
    """A recommender's step has MLPerf's 65,536 samples unless given: all devices have some."""
    code, answer, err = plan("dlrm_dcnv2", "--on", "dgx-a100*2", "--top", "1")
    expect(code == 0 and "65536 samples were assumed" in json.dumps(answer) and answer["configurations"][0]["idle_devices"] == 0,
           answer and answer["summary"], err)


def test_routed():
    """How many nodes the experts are on is the search's to choose: a limit of them is none of a plan's mistakes."""
    code, answer, err = plan("mixtral-8x7b", "--on", "dgx-h100*4", "--set", "expert_nodes=2", "--set", "global_batch=64", "--set", "precision=bf16")
    expect(code == 0 and answer["configurations"][0]["ep"] > 1, answer and answer["summary"], err)
    expect("expert_nodes=4" not in json.dumps(answer), "said already", answer["summary"])
    for framework, alone in (("megatron-lm", True), ("megatron-core", False)):
        _, answer, err = plan("mixtral-8x7b", "--on", "dgx-h100*2", "--set", f"framework={framework}", "--set", "global_batch=64", "--top", "1")
        expect(("--set expert_nodes=4" in json.dumps(answer)) == alone, "a router's limit is named where copies go alone", framework, err)


def test_simpler():
    """A network whose time ZeRO changes by a hair runs without; and it repeats no block that could be recomputed."""
    _, answer, err = plan("resnet50", "--on", "dgx-h100", "--set", "global_batch=2048", "--set", "framework=megatron-core",
                          "--set", "micro_batch=256", "--set", "dp=8")
    times = {}
    for zero in (0, 1):
        _, out, _ = run("predict", "resnet50", "--on", "dgx-h100", "--set", "global_batch=2048", "--set", "framework=megatron-core", "--set",
                        "micro_batch=256", "--set", "dp=8", "--set", f"zero_stage={zero}", "-f", "json", "-q")
        times[zero] = json.loads(out)["values"]["step.median_s"]
    first, fastest = answer["configurations"][0], min(times.values())
    simplest = next(key for key in sorted(times) if times[key] <= 1.01 * fastest)
    expect((first["zero_stage"], first["recompute"]) == (simplest, "none"), "the simplest within the tie", first, times, err)


def test_settle():
    """Chances add up; timing costs an hour of the machine and saves a share of days."""
    _, answer, err = plan("gpt2", "--on", "dgx-h100*2", *SETTINGS, "--tokens", "100G", "--price", "3")
    rows = answer["configurations"]
    chances = [row["fastest_share"] for row in rows]
    expect(abs(sum(chances) - 1) < 1e-9 and chances == sorted(chances, reverse=True), "chances", chances, err)
    names = [row["what"] for row in answer["sensitivity"]]
    expect(len(set(names)) == 6 and all(row["lost_share"] >= 0 for row in answer["sensitivity"]), "sensitivity", answer["sensitivity"])
    said = [s for s in answer["summary"] if s.startswith("To settle it, time the first 3")]
    expect(said and "(16 device-hours, 48.00 at this price)" in said[0], "cost", answer["summary"])
    for tokens, unit, seconds, timed in (("4G", "days", 86400, True), ("100M", "h", 3600, False), ("10M", "min", 60, False), ("100k", "s", 1, False)):
        _, answer, err = plan("resnet50", "--on", "dgx-a100", "--set", "global_batch=256", "--set", "precision=amp", "--tokens", tokens)
        took = re.search(rf"samples take ([\d.]+) {unit}\b", " ".join(answer["summary"]))
        expect(took and abs(float(took[1]) * seconds / 86400 / answer["configurations"][0]["days"] - 1) < 1e-3, "in the unit that has digits", tokens, answer["summary"], err)
        expect(any("To settle it" in s for s in answer["summary"]) == timed, "an hour of timing is not advised to save seconds", tokens, answer["summary"])


def test_command():
    """The command that is printed gives the same step, also of one replica: it has ZeRO where sequences are cut, no jitter where nobody waits."""
    for words in (("gpt2", "--on", "gb200-nvl72", "--set", "global_batch=64", "--set", "framework=maxtext", "--set", "cp=2", "--set", "dp=1"),
                  ("resnet50", "--on", "mi300x-node", "--set", "global_batch=256", "--set", "framework=nemo", "--set", "dp=1", "--jitter", "3%")):
        _, answer, err = plan(*words, "--top", "1")
        command = next(note for note in answer["notes"] if "asked of predict" in note).split(": paceline ")[1]
        code, out, err = run(*shlex.split(command), "-f", "json", "-q")
        expect(code == 0 and json.loads(out)["values"]["step.median_s"] == answer["values"]["best.step_s"], command, err)


def test_idle_settings():
    """What --set fixes and the fastest does not heed is said, changes no time, and is left out of the command: predict refuses it."""
    for setting, others in (("zero_stage=3", ("pp=8",)), ("sequence_parallel=1", ("tp=1", "framework=megatron-core"))):
        words = ("gpt2_xl", "--on", "dgx-h100", "--set", ",".join(("global_batch=16", *others)), "--top", "1")
        _, free, _ = plan(*words, *(("--set", "zero_stage=0") if setting == "zero_stage=3" else ()))
        code, answer, err = plan(*words, "--set", setting)
        expect(code == 0 and answer["values"] == free["values"], setting, answer["values"], free["values"], err)
        expect(any(f"ignores {setting}" in note for note in answer["notes"]), setting, "is said to have no effect", answer["notes"])
        command = next(note for note in answer["notes"] if "asked of predict" in note).split(": paceline ")[1]
        code, out, err = run(*shlex.split(command), "-f", "json", "-q")
        expect(code == 0 and json.loads(out)["values"]["step.median_s"] == answer["values"]["best.step_s"], command, err)
    _, answer, _ = plan("gpt2_xl", "--on", "dgx-h100", "--set", "global_batch=16,zero_stage=1", "--top", "1")
    expect(answer["configurations"][0]["zero_stage"] == 1 and not any("ignores" in note for note in answer["notes"]), "replicas heed it", answer["notes"])


def test_recurrence():
    """GNMT's layers go through the sequence token by token, and none of them is split: more ranks would do the same work."""
    for field in ("tp=2", "cp=2"):
        code, out, err = run("predict", "gnmt", "--on", "dgx-a100", "--set", field)
        expect(code == 2 and field[:2] in err, field, code, err)
    code, answer, err = plan("gnmt", "--on", "dgx-a100", "--set", "global_batch=64")
    expect(code == 0 and all(row["tp"] == row["cp"] == 1 for row in answer["configurations"]), "no ranks beside replicas and stages", err)


def test_recommender_lines():
    """Of a recommender tables are shared, which DistributedDataParallel and DeepSpeed's ZeRO would copy to every device."""
    for model, wanted, refused in (("dlrm_dcnv2", "embedding tables spread over 16 devices", ("experts", "DistributedDataParallel", "DeepSpeed", "zero_")),
                                   ("gpt2", "torch.nn.parallel.DistributedDataParallel(model)", ("tables", "experts"))):
        _, answer, err = plan(model, "--on", "dgx-h100*2", "--set", "global_batch=65536", "--set", "dp=16", "--set", "zero_stage=0", "--top", "1")
        lines = "\n".join(row["line"] for row in answer["launch"])
        expect(wanted in lines and not any(word in lines for word in refused), model, lines, err)


def test_learning_and_jitter():
    """Samples to the same loss are 1 + B/B_crit times as many; the batch that is chosen beats its neighbours; the slowest of N."""
    base = ["--on", "dgx-h100", "--set", "framework=megatron-core", "--tokens", "10G", "--top", "1"]
    days = {}
    for batch in (8, 16, 32, 64, 128, 256):
        _, plain, _ = plan("gpt2", *base, "--set", f"global_batch={batch}")
        _, answer, err = plan("gpt2", *base, "--set", f"global_batch={batch}", "--critical-batch", "64k")
        days[batch] = answer["configurations"][0]["days"]
        expect(abs(days[batch] / plain["configurations"][0]["days"] / (1 + batch * 1024 / 64e3) - 1) < 1e-9, "learning", days, err)
    _, answer, err = plan("gpt2", *base, "--critical-batch", "64k")
    batch = answer["machines"][0]["global_batch"]
    expect(answer["configurations"][0]["days"] <= min(days.values()) * 1.001, "chosen batch", batch, days, err)
    most = 1.4236  # the mean of the largest of eight normal draws (Teichroew 1956)
    for framework in ("megatron-core", "pytorch"):
        one = ["gpt2", "--on", "dgx-h100", "--set", "global_batch=64", "--set", "tp=1", "--set", "pp=1", "--set", "zero_stage=0", "--set", "micro_batch=8",
               "--set", "recompute=none", "--set", "precision=bf16", "--set", f"framework={framework}", "--top", "1"]
        step = {}
        for jitter in ("0", "4%"):
            _, answer, err = plan(*one, "--jitter", jitter)
            _, out, _ = run("predict", "gpt2", "--on", "dgx-h100", *one[3:-2], "--set", "dp=8", "--jitter", jitter, "-f", "json", "-q")
            step[jitter] = answer["configurations"][0]["step_s"]
            expect(step[jitter] == json.loads(out)["values"]["step.median_s"], "the wait is in the step", framework, err)
        # What each of four micro-batches draws anew, half of the variance, evens out; what is said of steps does not.
        for words, share in (((), 0.02 * (0.5 + 0.5 / 4) ** 0.5), (("--jitter", "4%"), 0.04)):
            if framework == "pytorch":
                _, out, err = run("predict", "gpt2", "--on", "dgx-h100", "--set", "dp=8", "--set", "micro_batch=8", "--set", "global_batch=256", *words, "-f", "json", "-q")
                expect(abs(json.loads(out)["exchange"]["jitter_share"] - share) < 1e-12, "micro-batches", words, share, err)
        # What of exchanges is exposed is no worker's own: 0 to 5 % of these steps.
        expect(0.95 < (step["4%"] / step["0"] - 1) / (0.04 * most) < 1.01, "the slowest of eight", framework, step)
    for words, reason in ((("--critical-batch", "x"), "expected the tokens"), (("--jitter", "2"), "share of the step"),
                          (("--critical-batch", "1M", "--set", "global_batch=8"), "no effect where the global batch is set")):
        code, out, err = run("plan", "gpt2", "--on", "dgx-h100", *words)
        expect(code == 2 and reason in err and not out, "refused", words, code, err)


def test_sensitivity():
    """By hand, from the parts: what is lost if the update takes half as long again."""
    fixed = ["--set", "framework=megatron-core", "--set", "global_batch=256", "--set", "recompute=none"]
    _, answer, err = plan("gpt3_13b", "--on", "hgx-a100-80*8", *fixed, "--top", "8")
    rows = {(row["tp"], row["pp"], row["dp"], row["micro_batch"]): row for row in answer["configurations"]}
    expect(len(rows) > 3, "rows", err)
    for row in answer["sensitivity"]:
        expect((row["lost_share"] == 0) == (row["configuration"] == answer["parts"][0]["configuration"]), "who leads loses nothing", row)
    update = next(row for row in answer["sensitivity"] if row["what"] == "the update")
    times = []  # the wait for the slowest is a share of the rest
    for row, parts in zip(answer["configurations"], answer["parts"]):
        rest = sum(value for key, value in parts.items() if key.endswith("_ns") and key != "skew_ns")
        times.append(row["step_s"] * (1 + 0.5 * parts["update_ns"] / rest))
    expect(abs(update["lost_share"] - (times[0] / min(times) - 1)) < 1e-6, "the update half as long again", update, times)


def test_sure():
    """Where the fastest all fit closely, one more is answered: the fastest of all that surely fit."""
    fixed = ["llama3-70b", "--on", "hgx-b200*8", "--set", "framework=megatron-core", "--set", "global_batch=512"]
    _, answer, err = plan(*fixed, "--top", "2")
    rows = answer["configurations"]
    expect([row["fits"] for row in rows] == ["closely", "closely", "yes"], "one more", rows, err)
    _, answer, err = plan(*fixed, "--top", "200")
    sure = [row["step_s"] for row in answer["configurations"] if row["fits"] == "yes"]
    expect(sure and rows[2]["step_s"] == sure[0], "the fastest that surely fits", rows[2], sure[:2], err)


def test_smallest():
    """The smallest number of nodes that is done in time: one less is not."""
    words = ["gpt2", "--on", "dgx-h100*16", "--set", "framework=megatron-core", "--set", "global_batch=512", "--tokens", "300G"]
    code, answer, err = plan(*words, "--within", "3.2d")
    done = [m for m in answer["machines"] if m["days"] and m["days"] <= 3.2]
    devices = [m["devices"] for m in answer["machines"]]
    expect(code == 0 and devices == sorted(devices) and done, "parts", devices, err)
    fewest = done[0]["devices"] // 8
    expect(any(f"dgx-h100*{fewest}, {8 * fewest} devices" in s for s in answer["summary"]), "said", answer["summary"])
    if fewest > 1:
        less = next(m for m in answer["machines"] if m["devices"] == 8 * (fewest - 1))
        expect(less["days"] > 3.2, "one less is not", less)
    expect(answer["launch"][0]["line"].startswith(f"torchrun --nnodes {fewest} "), "told to the smallest", answer["launch"][0])
    step = next(row for row in answer["configurations"] if row["machine"] == f"dgx-h100*{fewest}")
    worst = step["days"] * step["high_ns"] / step["step_ns"]
    expect(any(f"to {worst:.4g} days)" in s for s in answer["summary"]), "days with an interval", worst, answer["summary"])


def test_safe_leads():
    """What surely fits leads what needs nearly all memory, if that is not a hundredth faster, and of such the shortest pipeline."""
    for model, batch in (("llama3-70b", 256), ("qwen2.5-72b", 1024)):
        _, answer, err = plan(model, "--on", "dgx-h100*8", "--set", "framework=megatron-core", "--set", f"global_batch={batch}", "--top", "20")
        rows = answer["configurations"]
        least = min(row["step_s"] for row in rows)
        sure = [row for row in rows if row["fits"] == "yes" and row["offload"] == "none" and row["step_s"] <= 1.01 * least]
        expect(sure and rows[0] == min(sure, key=lambda row: (row["pp"] * row["vpp"], row["step_s"])), "the simplest of those", rows[:3], err)
    expect(rows[0]["step_s"] == least or any("too little to tell apart" in line for line in answer["summary"]), "said", answer["summary"])


test_idle()
test_offloaded()
test_batch_of_tables()
test_routed()
test_simpler()
test_settle()
test_recommender_lines()
test_command()
test_idle_settings()
test_recurrence()
test_learning_and_jitter()
test_sensitivity()
test_sure()
test_smallest()
test_published_pipeline()
test_single_changes()
test_failures_and_energy()
test_space_and_times()
test_fastest_of_all()
test_stages_without_sequences()
test_tokens_and_price()
test_launch()
test_told_to_its_own()
test_what_frameworks_have()
test_deepspeed()
test_uneven_chunks()
test_no_setting_is_faster()
test_adapted_on_one_card()
test_safe_leads()
test_no()
sys.exit(finish())
