"""States of the optimizer in the host's memory: what it saves and costs, in the answer, a row and the timeline."""
import csv
import io
import json
import os
import subprocess
import tempfile
from pathlib import Path

import strict_schema
from checks import expect, finish, json_of

PACELINE = os.environ["PACELINE"]
GPT2 = 124_439_808  # parameters (Hugging Face's "gpt2")


def ask(*words):
    done = subprocess.run([PACELINE, "predict", *words], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def answer(*settings, on="dgx-h100"):
    words = [word for setting in ("optimizer=adam", "micro_batch=4", *settings) for word in ("--set", setting)]
    code, out, err = ask("gpt2", "--on", on, *words, "-q", "-f", "json")
    assert code == 0, err
    return json.loads(out)


def check_memory():
    """Adam keeps two numbers of 4 bytes of each parameter; ZeRO divides them already."""
    for shares in (1, 8):
        sharing = [f"dp={shares}"] + (["zero_stage=1"] if shares > 1 else [])
        held = [answer(*sharing, f"offload={where}")["closed_form"]["memory_bytes"] for where in ("none", "optimizer")]
        expect(abs((held[0] - held[1]) * shares / (8 * GPT2) - 1) < 0.01, "the device is rid of the states", shares, held)


def check_time():
    """At least both copies over the host link (PCIe 5.0 x16: 63 GB/s), and the update at 0.24 s for a billion parameters."""
    host_s, link_s = 0.24e-9 * GPT2, 2 * 4 * GPT2 / 63e9
    times = [answer(f"offload={where}", "dp=1")["values"]["step.median_s"] for where in ("none", "optimizer")]
    expect(host_s + link_s - 0.01 < times[1] - times[0] < 1.5 * (host_s + 2 * link_s), "a step with offload", times, host_s, link_s)
    alone, shared = (answer("offload=optimizer", "dp=8", f"zero_stage={stage}")["values"]["step.median_s"] for stage in (1, 0))
    expect(shared - alone > 6 * host_s, "eight ranks that update everything share one host", alone, shared)


def check_read_loss():
    """A host that updates and reads the loss takes the update once."""
    for settings in (("dp=1", "read_loss=1"), ("dp=8", "read_loss=1", "zero_stage=1"), ("dp=8", "read_loss=1", "global_batch=64")):
        asked = answer("offload=optimizer", *settings)
        gap = asked["closed_form"]["step_ns"] / 1e9 / asked["values"]["step.median_s"] - 1
        expect(abs(gap) < 0.05, "closed form and walk", settings, gap)


def check_roads():
    said = {"framework": "pytorch", "precision": "fp32", "recompute": "none", "dp": 2, "micro_batch": 2, "offload": "optimizer"}
    words = [word for key, value in said.items() for word in ("--set", f"{key}={value}")]
    _, out, _ = ask("gpt2", "--on", "dgx-a100", *words, "-q", "-f", "json")
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "rows.csv"
        with open(table, "w", newline="") as file:
            csv.writer(file).writerows([["model", "system", *said], ["gpt2", "dgx-a100", *said.values()]])
        _, rows, _ = ask("--rows", str(table), "--kind", "step", "-f", "csv")
        trace = Path(folder) / "step.json"
        ask("gpt2", "--on", "dgx-a100", *words, "-q", "-f", "perfetto", "-o", str(trace))
        names = {event.get("name", "") for event in json.loads(trace.read_text())["traceEvents"]}
    row = next(csv.DictReader(io.StringIO(rows)))
    expect(float(row["predicted"]) == json.loads(out)["values"]["step.median_s"], "row and options differ", row)
    for name in ("offload::gradients", "offload::host_update", "offload::parameters"):
        expect(name in names, "the timeline shows", name)


def check_refusals():
    for on, settings in (("a100", ["mode=inference"]), ("a100", ["optimizer=none"]), ("a100", ["execution=graph"]), ("a100", ["frozen=1"])):
        words = [word for setting in ["offload=optimizer", *settings] for word in ("--set", setting)]
        code, _, err = ask("gpt2", "--on", on, *words, "-q")
        expect(code == 2 and "offload" in err, "refused", settings, code, err)


LAYERS, WIDTH, SEQUENCE = 24, 2048, 2048  # GPT-3 XL (Brown et al. 2020, table 2.1)


def activations(*settings, where="activations"):
    words = [word for setting in ("micro_batch=8", "precision=bf16", f"offload={where}", *settings) for word in ("--set", setting)]
    code, out, err = ask("gpt3_1.3b", "--on", "h100-sxm", *words, "-q", "-f", "json")
    assert code == 0, err
    return json.loads(out)


def check_activations():
    """With full recomputation a layer keeps its input: all but two of these leave the device, one that stays and one under way."""
    layer_bytes = 2 * 8 * SEQUENCE * WIDTH
    whole, moved = (activations("recompute=full", where=where) for where in ("none", "activations"))
    freed = whole["closed_form"]["memory_bytes"] - moved["closed_form"]["memory_bytes"]
    expect(abs(freed / ((LAYERS - 2) * layer_bytes) - 1) < 0.02, "inputs of layers lie on the host", freed)
    times = [one["values"]["step.median_s"] for one in (whole, moved)]
    expect(abs(times[1] / times[0] - 1) < 0.01, "copies of inputs hide behind computation", times)


def check_link():
    """What layers keep whole is more than PCIe 5.0 x16 (63 GB/s) takes meanwhile: the step is as long as both ways of it."""
    whole, moved = (activations(where=where) for where in ("none", "activations"))
    freed = whole["closed_form"]["memory_bytes"] - moved["closed_form"]["memory_bytes"]
    least_s = 2 * freed / 63e9
    step_s = moved["values"]["step.median_s"]
    expect(least_s < step_s < 1.5 * least_s + whole["values"]["step.median_s"] / LAYERS, "the link is the limit", step_s, least_s)
    gap = moved["closed_form"]["step_ns"] / 1e9 / step_s - 1
    expect(abs(gap) < 0.02, "closed form and walk", gap)


def check_launches():
    """Where a framework's launches take longer than its copies, these hide: each layer takes the longer of both, not their sum."""
    settings = ("framework=megatron-core", "dp=8", "micro_batch=1", "global_batch=64", "precision=bf16")
    words = [word for setting in settings for word in ("--set", setting)]
    times = []
    for where in ("none", "activations"):
        code, out, err = ask("gpt3_126m", "--on", "dgx-h100", *words, "--set", f"offload={where}", "-q", "-f", "json")
        times.append(json.loads(out)["values"]["step.median_s"] if code == 0 else err)
    expect(times[0] <= times[1] < 1.1 * times[0], "copies hide behind launches", times)


def check_plan():
    """A plan that is told to offload activations says so, and its time is predict's."""
    words = ["--set", "offload=activations", "--set", "global_batch=256", "--set", "precision=bf16"]
    document = json_of("plan", "gpt3_1.3b", "--on", "dgx-h100", *words, "--top", "1", "-q")
    strict_schema.hold(document, "plan")
    best = document["configurations"][0]
    fields = ("dp", "micro_batch", "tp", "pp", "vpp", "cp", "zero_stage", "recompute", "offload", "precision")
    settings = [w for key in fields for w in ("--set", f"{key}={best[key]}")]
    code, out, err = ask("gpt3_1.3b", "--on", "dgx-h100", *settings, "--set", "global_batch=256", "-q", "-f", "json")
    expect(code == 0 and best["offload"] == "activations" and json.loads(out)["values"]["step.median_s"] == best["step_s"], best, err)


def check_activation_refusals():
    for settings, word in ((["mode=inference"], "offload"), (["pp=2", "schedule=zero-bubble", "global_batch=16"], "zero-bubble"),
                           (["pp=2", "schedule=dualpipe-v", "global_batch=16"], "dualpipe-v")):
        words = [w for setting in ["offload=activations", *settings] for w in ("--set", setting)]
        code, _, err = ask("gpt2", "--on", "dgx-h100", *words, "-q")
        expect(code == 2 and word in err, "refused", settings, code, err)
    code, _, err = ask("lenet", "--on", "a100", "--set", "offload=activations", "-q")
    expect(code == 2 and "repeats" in err, "a model whose layers differ", code, err)


def check_host_memory():
    """Adam of fp32 keeps two numbers beside parameters and gradients on the host: 16 bytes of each parameter, of every rank of
    a node; with ZeRO once (Rajbhandari et al. 2020, table 1, with 4-byte parameters)."""
    def asked(has, *settings, on="a100*8 nvlink=300GB/s"):
        words = [word for setting in ("optimizer=adam", "precision=fp32", *settings) for word in ("--set", setting)]
        return ask("gpt2", "--on", f"{on} host-memory={has:.0f}B", *words, "-q")
    for settings, copies in (((), 8), (("zero_stage=1",), 1), (("dp=1",), 1)):
        need = 16 * GPT2 * copies
        code, out, err = asked(0.97 * need, "offload=optimizer", *settings)
        said = " ".join(out.split())
        expect(code == 1 and "Does not fit: the ranks of a node need" in said and "their host has" in said and "host-memory=4TB" in said,
               "more than the host has", settings, code, said[:500], err)
        code, out, err = asked(1.03 * need, "offload=optimizer", *settings)
        expect(code == 0 and "The host of a node holds" in out, "the host has it", settings, code, err)
    code, out, _ = ask("gpt2", "--on", "a100*8 nvlink=300GB/s", "--set", "offload=optimizer", "-q")
    expect(code == 0 and "The memory of a node's host was not given" in out, "an unknown host is said", code, out[:400])
    code, _, err = ask("gpt2", "--on", "a100*8 nvlink=300GB/s host-memory=much", "-q")
    expect(code == 2 and "size" in err, "a size is expected", code, err)
    layer_bytes = 2 * 8 * SEQUENCE * WIDTH  # an input of a layer, which full recomputation keeps
    for has, fits in ((0.95, False), (1.05, True)):
        words = [w for s in ("micro_batch=8", "precision=bf16", "recompute=full", "offload=activations") for w in ("--set", s)]
        code, _, err = ask("gpt3_1.3b", "--on", f"h100-sxm host-memory={has * (LAYERS - 1) * layer_bytes:.0f}B", *words, "-q")
        expect((code == 0) == fits, "inputs of all layers but the last", has, code, err)
    code, out, err = ask("gpt2", "--on", f"a100*8 nvlink=300GB/s host-memory={8 * 16 * GPT2}B", "--workers", "1,8", "--batch", "2", "-q",
                         *(w for s in ("optimizer=adam", "precision=fp32", "offload=optimizer") for w in ("--set", s)))
    expect(code == 0, "workers whose host has it", code, err)
    code, out, err = ask("gpt2", "--on", f"a100*8 nvlink=300GB/s host-memory={4 * 16 * GPT2}B", "--workers", "1,8", "--batch", "2", "-q",
                         *(w for s in ("optimizer=adam", "precision=fp32", "offload=optimizer") for w in ("--set", s)))
    expect(code == 1 and "for those of a node, their host has" in " ".join(out.split()), "workers whose host has less", code, out[:600], err)
    with tempfile.TemporaryDirectory() as folder:
        rows = os.path.join(folder, "rows.csv")
        Path(rows).write_text("model,micro_batch,offload,n_gpu\ngpt2,4,optimizer,8\ngpt2,4,none,8\n")
        code, out, err = ask("--kind", "step", "--rows", rows, "-f", "csv", "--on", "a100*8 nvlink=300GB/s host-memory=4GB")
        said = [row["status"] for row in csv.DictReader(io.StringIO(out))]
        expect(code == 1 and "does not fit into its host's memory" in said[0] and "fit" not in said[1] and "their host has" in err, "rows whose host has less", code, said, err)
        Path(rows).write_text("model,device,micro_batch,offload\ngpt2,a100-80-sxm,4,optimizer\ngpt2,a100-80-sxm,4,none\n")
        code, out, err = ask("--kind", "step", "--rows", rows, "-f", "csv", "-q")
        said = [row["status"] for row in csv.DictReader(io.StringIO(out))]
        expect("host memory unknown" in said[0] and "host memory" not in said[1], "rows say it, too", said, err)


def check_gradients():
    """DeepSpeed copies gradients to the host as they are formed: 13 billion parameters train on one GPU of 32 GB (DeepSpeed, "10x bigger model training on a single GPU with
    ZeRO-Offload", 2020), of which half-precision weights alone are 26 GB. PyTorch has gradients as wide as the weights until the update."""
    words = [word for setting in ("precision=fp16", "recompute=full", "micro_batch=1", "sequence=1024") for word in ("--set", setting)]
    for framework, offload, fits in (("deepspeed", "optimizer", True), ("deepspeed", "none", False), ("pytorch", "optimizer", False)):
        code, out, err = ask("gpt3_13b", "--on", "v100-sxm2-32", *words, "--set", f"framework={framework}", "--set", f"offload={offload}", "-q", "-f", "json")
        kinds = json.loads(out)["memory"]
        held = next(kind["held_bytes"] for kind in kinds if kind["kind"] == "all")
        expect((code == 0) == fits == (held < 34e9) and held > 2 * 12.8e9, "13 billion parameters on one V100", framework, offload, code, held, err)


for check in (check_gradients, check_memory, check_time, check_read_loss, check_roads, check_refusals, check_activations, check_link, check_launches,
              check_plan, check_activation_refusals, check_host_memory):
    check()
finish()
