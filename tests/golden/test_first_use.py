"""What somebody types who does not know the program yet: slips, other words for the same, and what was taken for granted."""
import contextlib
import csv
import gzip
import io
import json
import os
import re
import sqlite3
import sys
import tempfile

from checks import SOURCE, expect, expect_line, finish, json_of, run, says_no

TRACE = os.path.join(SOURCE, "tests", "data", "demo.json.gz")

with tempfile.TemporaryDirectory() as folder:
    def table(name, text):
        path = os.path.join(folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def rows(*words):
        code, out, err = run("predict", "--rows", *words)
        expect(code == says_no(err), words, err)
        return list(csv.DictReader(io.StringIO(out)))

    def document(*words):
        return json_of(*words)

    # Only a slip is guessed at.
    code, _, err = run("analyse")
    expect_line(code, err, 2, "did you mean analyze?")
    code, _, err = run("serve")
    expect_line(code, err, 2, "unknown verb")
    expect("did you mean" not in err, err)
    code, _, err = run("predict", "--precison", "fp16")
    expect_line(code, err, 2, "did you mean --precision?")
    code, _, err = run("exchange", "--on", "dgx-h100", "--bytes", "1M")
    expect_line(code, err, 2, "expected 'paceline predict --kind exchange'")
    code, _, err = run("analyze", "--jsn")
    expect_line(code, err, 2, "unknown option '--jsn'")
    expect("did you mean" not in err, err)
    expect(run("help", "fit")[1] == run("fit", "--help")[1] != "", "help VERB")
    expect(run("version")[:2] == run("--version")[:2], "version")
    expect_line(*[run("help", "fitt")[i] for i in (0, 2)], 2, "did you mean fit?")

    # Machines count among the closest names, and so does the beginning of one.
    for wrong, right in (("v101", "v100-sxm2-16"), ("dgx-h10", "dgx-h100"), ("hgx-b20", "hgx-b200"), ("h100pcie", "h100-80-pcie"),
                         ("dgx-h800", "hgx-h800")):
        code, _, err = run("predict", "resnet50", "--on", wrong)
        expect_line(code, err, 4, f'the closest name is "{right}"')
    code, _, err = run("predict", "resnet50", "--on", "v100", "--set", "batch=64")
    expect_line(code, err, 2, "did you mean micro_batch=")

    code, _, err = run("predict", "resnet50", "--on", "v100", "--set", "framework=tensorflw")
    expect_line(code, err, 2, "expected one of pytorch, ", "the closest is 'tensorflow'")
    code, _, err = run("validate", "--data", "/nowhere")
    expect_line(code, err, 3, "/nowhere: No such file")

    # A short name is somebody's model, and that is said, with its size.
    for words in (("predict", "bert", "--on", "v100"), ("predict", "bert", "--on", "dgx-1-v100", "--workers", "1,2"), ("plan", "bert", "--on", "dgx-1-v100")):
        expect("bert_large: 335.1 million parameters." in " ".join(run(*words)[1].split()), words)

    # A larger batch takes longer; what counts is the time of a sample.
    out = " ".join(run("predict", TRACE, "--batch", "64", "-q")[1].split())
    longer, more, faster = map(float, re.search(r"([\d.]+) times as long for ([\d.]+) times as many samples, each ([\d.]+) times as fast", out).groups())
    expect(more == 16 and abs(more / longer / faster - 1) < 0.01, out[:300])

    # The batch of a model is known, and said.
    code, out, _ = run("predict", "resnet50", "--on", "v100")
    expect("No batch was given: micro-batch 128 is assumed, the largest power of two that fits, at most 512;" in " ".join(out.split()), out[:600])
    for batch, fits in ((128, True), (256, False)):
        code, out, err = run("predict", "resnet50", "--on", "v100", "--set", f"micro_batch={batch}")
        expect(code == (0 if fits else 1) and out.startswith("Does not fit: each rank needs") == (not fits), batch, code, out[:200])
        expect(("Does not fit" in err) == (not fits), batch, err)
    expect("It would fit with --set micro_batch=128." in " ".join(out.split()), out[:300])
    code, out, _ = run("predict", "resnet50", "--on", "dgx-1-v100", "--set", "micro_batch=32")
    expect("on 8 v100-sxm2-16, data parallel:" in " ".join(out.split()) and "Assumed: all 8 devices" in out, out[:800])
    code, out, _ = run("predict", "resnet50", "--on", "dgx-1-v100", "--workers", "1,8", "--batch", "100000", "-q")
    expect(code == 1 and out.startswith("Does not fit: resnet50 with a batch of 100000 on 1 worker needs"), code, out[:200])
    # Frameworks answered in closed form speak alike; TF32 is half of bf16's rate, fp32 a fifteenth (989.4, 494.7 and 66.9 TFLOP/s).
    for on, where in (("h100-80-sxm", "on h100-80-sxm:"), ("dgx-h100*2", "on 16 h100-80-sxm, data parallel:")):
        for words in ((), ("--set", "framework=tensorflow")):
            expect(where in " ".join(run("predict", "resnet50", "--on", on, *words)[1].split()), on, words)
    for model, times in (("resnet50", "fp32 is assumed, the default of pytorch, most of it in TF32. By the device's peaks products are 2 times"), ("bert_large", "the default of pytorch. By the device's peaks products are 14.8 times")):
        expect(times in " ".join(run("predict", model, "--on", "h100-80-sxm", "--set", "micro_batch=8")[1].split()), model)

    # Every word of a device's name counts, and only one device may be meant.
    for text, right in (("a100", "a100-80-sxm"), ("nvidia a100", "a100-80-sxm"), ("a100 40 pcie", "a100-40-pcie"), ("rtx4090", "rtx-4090"),
                        ("4090", "rtx-4090"), ("3080", "rtx-3080"), ("rtx pro 6000", "rtx-pro-6000"), ("Tesla V100-SXM2-32GB", "v100-sxm2-32")):
        code, out, err = run("machines", text)
        expect(code == 0 and out.startswith(right + " "), text, out[:80], err)
    for text, status, said in (("a100-40", 2, "a100-40-sxm, a100-40-pcie"), ("v100-32gb", 2, "v100-sxm2-32"), ("gh200-480", 4, "no device"),
                               ("h100-foo", 4, "no device"), ("8xH100", 4, "NAME*COUNT"), ("2 x dgx-a100", 4, "NAME*COUNT"), ("8 x h100", 4, "dgx-h100"), ("64xH100", 4, "dgx-h100*8"), ("H100:16", 4, "dgx-h100*2"), ("3xV100", 4, "v100-sxm2-16*3 nvlink=300GB/s"), ("not a a100", 4, "no device"), ("mi300", 4, 'the closest name is "mi300x"')):
        for words in (("machines", text), ("predict", "resnet50", "--on", text)):
            code, _, err = run(*words)
            expect_line(code, err, status, said)
    for text in ("8xH100", "2 x dgx-a100", "8 x h100"):
        code, _, err = run("plan", "gpt2", "--on", text)
        expect_line(code, err, 4, text, "NAME*COUNT")

    # A folder that holds nothing of the catalogue is not passed over.
    with tempfile.TemporaryDirectory() as nothing:
        os.environ["PACELINE_CATALOG"] = nothing
        code, _, err = run("machines")
        del os.environ["PACELINE_CATALOG"]
        expect_line(code, err, 4, nothing, "PACELINE_CATALOG")

    # What has no effect, or cannot be, is refused and says what would do.
    for words, status, *said in ((("predict", "resnet50", "--on", "h100", "--from", "v100"), 2, "--from", "no effect on a model"),
                                 (("predict", "resnet50", "--on", "h100", "--samples", "5"), 2, "--samples", "no effect"),
                                 (("predict", "resnet50", "--on", "h100", "--step-regex", "foo"), 2, "--step-regex", "no effect"),
                                 (("fleet", "--synthesize", "2.5"), 2, "whole number"), (("fleet", "--synthesize", "1e18"), 2, "1e12"),
                                 (("fleet", "--synthesize", "2", "-o", "jobs.json"), 2, "--synthesize", ".csv"),
                                 (("predict", "--collective", "allreduce", "--bytes", "1e30", "--on", "dgx-h100"), 2, "--bytes", "1 PB"),
                                 (("models", "resnet50", "--set", "presicion=fp16"), 2, "precision=fp16"),
                                 (("predict", "--kind", "exchnage", "--on", "dgx-h100"), 2, "exchnage", "--rows")):
        code, _, err = run(*words)
        expect_line(code, err, status, *said)

    # Files of other tools are recognised, and what to do with them is said (magic numbers of the formats' own descriptions).
    for name, content, *said in (("a.json.xz", b"\xfd7zXZ\0aaaaaaaa", "xz -d"), ("a.bz2", b"BZh91AY&SY", "bzip2 -d"), ("a.zip", b"PK\x03\x04aaaa", "zip"),
                                 ("a.nsys-rep", b"anything", "nsys export --type sqlite"), ("a.onnx", b"\x08\x07aa", "paceline predict"),
                                 ("t.pftrace", b"\x0a\x01", "torch.profiler"), ("p.xplane.pb", b"\x0a\x01", "nsys export"),
                                 ("m.pickle", b"\x80\x04\x95\x10", "profile_memory=True"), ("r.json", b'{"rocprofiler-sdk-tool": [{}]}', "torch.profiler"),
                                 ("r.csv", b'"Kind","Agent_Id","Queue_Id"\n', "torch.profiler"),
                                 ("results.csv", b'"Index","KernelName","gpu-id"\n', "rocprof", "torch.profiler"),
                                 ("results.stats.csv", b'"Name","Calls","TotalDurationNs","AverageNs"\n', "rocprof", "torch.profiler"),
                                 ("horovod.json", b'[{"ph": "B", "pid": 3, "tid": 5, "ts": 1, "name": "QUEUE"}, {"ph": "E", "pid": 3, "tid": 5, "ts": 4}]',
                                  "another tool", "torch.profiler"),
                                 ("jax.trace.json", b'{"traceEvents": [{"ph": "X", "pid": 3, "tid": 5, "ts": 1, "dur": 2, "name": "fusion.3"}]}', "JAX", "nsys"),
                                 ("ort.json", b'[{"ph": "X", "cat": "Node", "pid": 3, "tid": 5, "ts": 1, "dur": 2, "name": "MatMul"}]', "'Node'", "torch.profiler", "docs/formats.md"),
                                 ("et.json", b'{"schema": "1.1.0", "pid": 1, "nodes": []}', "execution trace", "paceline predict"),
                                 ("s.sqlite.gz", gzip.compress(b"SQLite format 3\0" + b"\0" * 100), "decompress")):
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(content)
        code, _, err = run("analyze", path)
        expect_line(code, err, 3, name, *said)

    for name in ("rocpd_kernel_dispatch_0", "rocpd_op"):  # as rocprofv3 and the older RPD name their tables
        path = os.path.join(folder, name + ".db")
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.execute(f"create table {name} (id integer)")
            database.commit()
        code, _, err = run("analyze", path)
        expect_line(code, err, 3, name, "rocpd", "torch.profiler")

    # What a device or a model cannot do is refused: Volta has neither TF32 nor bfloat16 (NVIDIA V100 datasheet).
    for wrong, *said in (("precision=bf16", "v100-sxm2-16 has no rate for bf16", "fp16"), ("precision=tf32", "no rate for tf32"),
                         ("precision=fp8", "no rate for fp8"), ("ep=2", "has no experts"), ("tp=4", "no layer", "tensor-parallel"),
                         ("sequence_parallel=1", "no effect without tp"), ("zero_stage=2 dp=1", "no effect without dp")):
        code, _, err = run("predict", "resnet50", "--on", "dgx-1-v100", *(word for one in wrong.split() for word in ("--set", one)))
        expect_line(code, err, 2, *said)
    refused = rows(table("p.csv", "model,device,n_gpu,precision,micro_batch\nresnet50,v100-sxm2-16,1,bf16,8\nresnet50,v100-sxm2-16,1,fp16,8\n"), "--kind", "step")
    expect("no rate for bf16" in refused[0]["status"] and refused[0]["predicted"] == "" and refused[1]["predicted"], refused)
    # A framework's own precision that nobody asked for gives way: Megatron's bf16 is fp16 on Volta, a recorded step's fp16 bf16 on Gaudi.
    for model, device, framework, half in (("gpt3_1.3b", "v100-sxm2-32", "megatron", "fp16"), ("resnet50", "gaudi2", "recorded", "bf16")):
        words = (model, "--on", device, "--set", "micro_batch=1", "--set", "framework=" + framework)
        taken, same = document("predict", *words), document("predict", *words, "--set", "precision=" + half)
        expect(taken["values"] == same["values"], model, taken["values"], same["values"])
        code, _, err = run("predict", *words, "--set", "precision=" + ("bf16" if half == "fp16" else "fp16"))
        expect_line(code, err, 2, "no rate for")
    code, out, _ = run("predict", "resnet50", "--on", "dgx-1-v100", "--on", "h100", "--set", "micro_batch=32")
    expect(code == 0 and "One device of each machine is compared" in " ".join(out.split()) and "on v100-sxm2-16:" in out, out[:600])
    code, _, err = run("predict", "gpt2", "--on", "dgx-1-v100", "--set", "global_batch=4")
    expect_line(code, err, 2, "8 devices", "dp")
    grown = document("predict", "resnet50", "--on", "v100", "--batch", "64")["scenarios"]
    asked = document("predict", "resnet50", "--on", "v100", "--set", "micro_batch=64")["scenarios"]
    step = {s["scenario"]: s["step_ns"] for s in grown}
    expect(abs(step["batch 64"] / asked[0]["step_ns"] - 1) < 0.02, step, asked[0]["step_ns"])
    code, out, _ = run("predict", "llama3-70b", "--on", "dgx-h100*4", "--set", "tp=8", "--set", "pp=2", "--set", "dp=1", "--set", "global_batch=16")
    expect("micro-batch 1 of 8192 tokens, 16 a step" in out, out[:400])
    code, out, _ = run("models", "llama3-70b")
    expect("70.55 billion parameters" in out, out[:200])  # Grattafiori et al. 2024: 70B

    # What-ifs of a trace of the host alone are answered where it is moved to.
    demo = os.path.join(SOURCE, "tests", "data", "demo.json.gz")
    moved = document("predict", demo, "--on", "h100-80-sxm", "--precision", "bf16", "--graph")
    expect([s["scenario"] for s in moved["scenarios"]] == ["as it is", "on h100-80-sxm", "all together"], moved["scenarios"])
    expect(moved["scenarios"][2]["step_ns"] < moved["scenarios"][1]["step_ns"], moved["scenarios"])
    code, _, err = run("predict", demo, "--precision", "bf16")
    expect_line(code, err, 3, "--on moves them")
    code, _, err = run("predict", demo, "--on", "a100", "--precision", "bf16", "--precision", "fp16")
    expect_line(code, err, 3, "one --precision")

    # An exchange needs no --kind; a device alone has nothing to exchange; more ranks than a node has fill nodes.
    words = ("predict", "--on", "dgx-a100*2", "--collective", "allgather", "--bytes", "64M")
    expect(document(*words)["sizes"] == document(*words, "--kind", "exchange")["sizes"], "--collective alone")
    code, out, err = run("predict", "--on", "h100", "--collective", "allreduce", "--bytes", "1M")
    expect("exchanges nothing" in err, err)
    for device, given in (("h100", "nvlink=450GB/s"), ("mi300x", "pcie=64GB/s")):
        code, out, err = run("predict", "--on", device, "--collective", "allreduce", "--bytes", "1M")
        machine = err.split('"')[1]
        expect(machine.endswith(given) and run("predict", "--on", machine, "--collective", "allreduce", "--bytes", "1M", "--library", "textbook")[0] == 0, "the machine that is named is answered", err)
    said = rows(table("said.csv", "system,collective,gpus,nodes,size_mb\ndgx-a100,all_gather,16,2,64\n"))
    for system in ("dgx-a100", "2x dgx-a100"):
        silent = rows(table("silent.csv", f"System,Collective,#GPUs,Message Size (MB)\n{system},All-Gather,16,64\n"))
        expect(silent[0]["predicted"] == said[0]["predicted"] != "", silent, said)
    refused = rows(table("one.csv", "system,collective,gpus,nodes,size_mb\ndgx-a100,all_gather,16,1,64\n"))
    expect(refused[0]["predicted"] == "" and "has 8 devices" in refused[0]["status"], refused)

    # Columns of a scaling table, however written; a batch that is not said is.
    head = "machine,model,approach,workers,"
    plain = rows(table("s.csv", head + "batch\ndgx-1-v100,resnet50,ddp,8,64\n"), "--kind", "scaling")
    other = rows(table("t.csv", head + "Batch size per GPU\ndgx-1-v100,ResNet-50,ddp,8,64\n"), "--kind", "scaling")
    expect(plain[0]["predicted"] == other[0]["predicted"] != "" and other[0]["status"] == "ok", plain, other)
    none = rows(table("u.csv", head + "note\ndgx-1-v100,resnet50,ddp,8,x\n"), "--kind", "scaling")
    expect(re.fullmatch(r"assumed a batch of (\d+)", none[0]["status"]), none)
    batch = int(re.search(r"\d+", none[0]["status"])[0])
    same = rows(table("v.csv", head + f"batch\ndgx-1-v100,resnet50,ddp,8,{batch}\n"), "--kind", "scaling")
    expect(batch == 2 ** (batch.bit_length() - 1) and batch > 1 and same[0]["predicted"] == none[0]["predicted"], none, same)
    said = rows(table("w.csv", head + "settings\ndgx-1-v100,resnet50,ddp,8,micro_batch=64\n"), "--kind", "scaling")
    expect(said[0]["predicted"] == plain[0]["predicted"] and said[0]["status"] == "ok", said, plain)

    # The first layer's gradient is the last to be ready: its exchange cannot hide behind backward. What the exchange adds is all that eight
    # workers take beyond one, waiting for the slowest apart: its copies into buckets and what it takes from the kernels beside it, too.
    alone, eight = document("predict", "resnet50", "--on", "dgx-1-v100", "--workers", "1,8", "--batch", "64")["points"]
    expect(alone["exposed_ns"] == 0 < eight["exposed_ns"], alone, eight)
    expect(abs(eight["step_ns"] - eight["skew_ns"] - alone["step_ns"] - eight["exposed_ns"]) <= 2, alone, eight)
    # ZeRO shares out what one worker cannot hold: several are measured by the first of them, which recompute nothing either.
    told = json.loads(run("predict", "llama3-8b", "--on", "dgx-h100*4", "--workers", "1,8,32", "--set", "precision=amp_bf16,zero_stage=3", "--format", "json")[1])
    shared = told["points"]
    expect(shared[1]["efficiency_share"] == 1 > shared[2]["efficiency_share"] > 0.5 and all(p["fp_bp_ns"] < p["step_ns"] for p in shared), shared)
    expect("Efficiency is against 8 workers" in " ".join(told["summary"]) and not shared[0]["step_ns"] < shared[1]["step_ns"], told["summary"])
    code, out, _ = run("predict", "resnet50", "--on", "dgx-1-v100", "--workers", "64", "--batch", "64")
    expect("e+04" not in out.splitlines()[0], out[:100])

    # A job by the names that tables of jobs have.
    ours = "architecture=ps_worker,cnodes=16,flop=106G,weight_traffic_bytes=122MB"
    theirs = "arch=ps_worker,gpus=16,gflop=106,weight_traffic_mb=122"
    same = [{**document("predict", "--job", job), "command": []} for job in (ours, theirs)]
    expect(same[0] == same[1], "names of a job", *same)
    code, _, err = run("fleet", table("x.csv", "a,b\n1,2\n"))
    expect_line(code, err, 3, 'no column "cnodes"', "missing too: batch_size, flop", "--mapping FILE.yaml")

    # Three sizes of a log leave none to hold out, and that is what is said.
    log = table("all_reduce.log", "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n"
                + "".join(f"{2 ** p:12} {2 ** p // 4:12} float sum -1 {t} 1.0 1.75 0 {t} 1.0 1.75 0\n" for p, t in ((20, 38.2), (24, 126.4), (27, 560.2))))
    code, out, err = run("fit", "--kind", "exchange", "--collective", "all_reduce", "--on", "dgx-h100", log)
    expect(code == 0 and "Too few sizes to hold any out" in out, out, err)

    # Several settings behind one --set are those settings; what is no machine is told from too many devices.
    apart = document("predict", "gpt2", "--on", "dgx-h100", "--set", "tp=4", "--set", "micro_batch=4")
    expect(document("predict", "gpt2", "--on", "dgx-h100", "--set", "tp=4,micro_batch=4")["values"] == apart["values"], "--set a=1,b=2")

    # Who names a machine trains on all of it: replicas of tp x pp x cp ranks fill it, by options and rows; fewer are said.
    for said, dp in (("tp=4", 2), ("tp=2,pp=2", 2), ("tp=4,cp=2", 1), ("pp=3", 1), ("tp=4,dp=1", 1)):
        filled = document("predict", "gpt2", "--on", "dgx-h100", "--set", said + ",micro_batch=4")
        words = dict([word.split("=") for word in said.split(",")], dp=str(dp))
        told = document("predict", "gpt2", "--on", "dgx-h100", "--set", ",".join(f"{k}={v}" for k, v in words.items()) + ",micro_batch=4")
        expect(filled["values"] == told["values"], said, filled["values"], told["values"])
        used = dp * int(words.get("tp", 1)) * int(words.get("pp", 1)) * int(words.get("cp", 1))
        expect((f"That is {used} of the 8 devices of dgx-h100." in filled["summary"]) == (used < 8), said, filled["summary"])
        names = [name for name in words if name != "dp"] if "dp" not in said else list(words)
        row = rows(table("all.csv", ",".join(["machine", "model", "framework", "micro_batch", *names]) + "\n" + ",".join(["dgx-h100", "gpt2", "pytorch", "4", *[words[n] for n in names]]) + "\n"), "--kind", "step")[0]
        expect(float(row["predicted"]) == filled["values"]["step.median_s"], said, row, filled["values"]["step.median_s"])
    for words, status, said in ((["--set", "tp=8,tp=4"], 2, "tp is set twice"), (["--set", "tp=2,4"], 2, 'found "2,4"')):
        expect_line(*[run("predict", "gpt2", "--on", "dgx-h100", *words)[i] for i in (0, 2)], status, said)
    for machine, status, said in (("dgx-h800*2", 4, 'no device "dgx-h800"'), ("h800*8*2", 2, "h800*8 nvlink="),
                                  ("dgx-1", 2, "fits several, say which: dgx-1-p100, dgx-1-v100"), ("h100*8", 2, "machines that hold them: dgx-h100"),
                                  ("dgx-h100*2*3", 2, "NAME*COUNT"), ("nowhere", 4, "no device \"nowhere\" ('paceline machines'")):
        expect_line(*[run("predict", "resnet50", "--on", machine)[i] for i in (0, 2)], status, said)

    # A recorded step uses as many devices as ranks were recorded; a short name says which device it means.
    for on, line in (("dgx-h100*2", '"on dgx-h100*2" uses 1 of its 16 devices (h100-80-sxm): as many as ranks were recorded.'), ("h100", '"on h100" means h100-80-sxm.'), ("h100-80-sxm", None)):
        lines = document("predict", os.path.join(SOURCE, "tests", "data", "demo.json.gz"), "--on", on)["summary"]
        expect(line in lines if line else not any(" means " in one for one in lines), on, lines)

    # A machine's device is the one that its own file describes, also where the catalogue has one by a like name.
    examples = [open(os.path.join(SOURCE, "docs", "examples", name), encoding="utf-8").read() for name in ("my_gpu.yaml", "my_box.yaml")]
    gpu, box = examples[0].replace("generation: 90", "generation: 80"), examples[1][examples[1].index("machines:"):].replace("    generation: 90\n", "")
    own, slow = (table(f"{name}.yaml", (text + box.replace("h100-80-sxm", "my-gpu")).replace("my-gpu", "a100-40"))
                 for name, text in (("own", gpu), ("slow", gpu.replace("bf16: 600e12", "bf16: 6e12").replace("450e12", "4.5e12"))))
    words = ("predict", "resnet50", "--set", "micro_batch=64,precision=bf16", "--on")
    steps = [document(*words, machine)["values"]["step.median_s"] for machine in (own, slow, own + "*2")]
    expect(steps[1] > 2 * steps[0] and steps[2] > steps[0], "a machine with a device of its own", steps)
    code, out, _ = run(*words, own)
    expect("on 4 a100-40" in out and "a100-40-sxm" not in out, out[:300])

sys.exit(finish())
