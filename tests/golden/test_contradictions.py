"""What is said twice or against itself is refused, not decided in silence; and what a shell makes of pipes is read like a file."""
import csv
import gzip
import json
import os
import subprocess
import tempfile
import threading

from checks import PACELINE, SOURCE, expect, expect_line, finish, run  # noqa: E402

DEMO = os.path.join(SOURCE, "tests", "data", "demo.json.gz")
JOBS = os.path.join(SOURCE, "tests", "data", "jobs_synthetic.csv.gz")
MODEL = ("predict", "resnet50", "--on", "v100")


def refused(words, *said):
    code, _, err = run(*words)
    expect_line(code, err, 2, *said)


def test_twice(folder):
    refused((*MODEL, "--set", "micro_batch=8", "--set", "micro_batch=16"), "micro_batch is set twice")
    refused(("predict", "--kind", "exchange", "--on", "dgx-h100", "--collective", "allreduce", "--collective", "allgather"), "given twice")
    refused(("analyze", DEMO, "-o", os.path.join(folder, "a.html"), "-o", os.path.join(folder, "b.html")), "--output: given twice")
    refused(("predict", "resnet50", "--on", "dgx-1-v100", "--workers", "8", "--batch", "4", "--set", "micro_batch=16"), "expected the batch once")
    expect(not os.listdir(folder), "nothing is written", os.listdir(folder))
    expect(run("analyze", DEMO, "-f", "json", "-f", "json", "-q")[0] == 0, "the same again says nothing else")


def test_machine_twice():
    """A figure of a machine that is given twice was decided by the last, a factor was taken twice."""
    for on in ("dgx-a100*2 net=10GB/s net=20GB/s", "a100*4 nvlink=300GB/s nvlink=300GB/s", "a100*4 nvlink=300GB/s pcie=10GB/s", "dgx-a100*2 nodes=4", "p4d.24xlarge*2 nodes=3"):
        refused(("predict", "resnet50", "--on", on), "given twice")
    job = "architecture=ps_worker,cnodes=8,batch_size=512,flop=1T,memory_access_bytes=10GB,input_bytes=1MB,weight_traffic_bytes=100MB"
    for on in ("pai-2018 memory=2x memory=3x", "pai-2018 net=1Gb/s network=2Gb/s"):
        refused(("predict", "--job", job, "--on", on), "given twice")
    refused(("predict", "--job", job.replace("100MB", "1e30")), "weight_traffic_bytes", "expected at most")
    expect(run("predict", "resnet50", "--on", "a100*8 nvlink=300GB/s nodes=2 net=25GB/s net=fat-tree:2:1", "-q")[0] == 0, "a rate and a shape are two figures")
    for on in ("a100*4 nvlink=3B/s", "a100*4 nvlink=1e30GB/s", "a100*4 nvlink=300GB/s nodes=2 net=25GB/s net-stream=1B/s"):
        refused(("predict", "resnet50", "--on", on), "beyond any link")


def test_units_of_jobs():
    """A column of a job has its own unit, or none; a key that names one ("mem_access_gb") is followed by a number."""
    words = {"flop": "1T", "memory_access_bytes": "10GB", "input_bytes": "1MiB", "weight_traffic_bytes": "100MB", "cnodes": "8", "batch_size": "512"}

    def job(**changed):
        return ("predict", "--job", "architecture=ps_worker," + ",".join(f"{key}={value}" for key, value in {**words, **changed}.items()))
    for key, value in (("flop", "1TB"), ("flop", "1TFLOP/s"), ("memory_access_bytes", "1TFLOP"), ("weight_traffic_bytes", "10Gb/s"), ("cnodes", "8GB")):
        refused(job(**{key: value}), key, f'found "{value}"')
    answers = [run(*job(**changed), "-f", "csv", "-q")[1] for changed in ({}, {"flop": "1000GFLOPs"}, {"memory_access_bytes": "10000000kB"})]
    expect(answers[0] and len(set(answers)) == 1, answers)


def test_outputs(folder):
    refused(("analyze", DEMO, "-f", "html", "-o", os.path.join(folder, "x.json")), "is a name of json")
    expect(run("analyze", DEMO, "-f", "perfetto", "-o", os.path.join(folder, "x.json"), "-q")[0] == 0, "Perfetto's traces are JSON")
    for name in ("x.html", "x.csv"):
        refused(("fit", os.path.join(SOURCE, "catalog", "calibrations", "epyc-zen5-1t.csv"), "-f", "html", "-o", os.path.join(folder, name)), "holds the fit", name)
    os.mkdir(os.path.join(folder, "d"))
    os.symlink(folder, os.path.join(folder, "link"))
    for other in ("d/../o.json", "link/o.json", "./o.json"):
        refused(("analyze", DEMO, "--overheads", os.path.join(folder, other), "-o", os.path.join(folder, "o.json")), "found one for two outputs")
    expect(not os.path.exists(os.path.join(folder, "o.json")), "one of two outputs was written")


def test_no_effect():
    for setting in ("optimizer=adam", "recompute=full", "update=loop", "zero_stage=1"):
        refused((*MODEL, "--set", "mode=inference", "--set", setting), "no effect on inference")
    for setting, why in (("attention=math", "without attention layers"), ("indices=int32", "looks nothing up"),
                         ("recompute=selective", "without attention layers"), ("recompute=full", "repeats no block"),
                         ("bucket_bytes=1000000", "no gradients are exchanged"), ("allow_tf32=none,precision=amp", "precision=fp32")):
        refused((*MODEL, "--set", setting), "set: " + setting.split("=")[0], why)
    for setting in ("update=fused", "input=pinned", "indices=int32", "bucket_bytes=1000000", "execution=graph"):
        for verb in ("predict", "plan"):
            refused((verb, "gpt2", "--on", "dgx-h100", "--set", "framework=megatron", "--set", setting), "set: " + setting.split("=")[0] + " has no effect", "framework=pytorch")
    refused(("predict", "gpt2", "--on", "dgx-h100", "--set", "cross_entropy=native"), "cross_entropy has no effect with framework=pytorch")
    refused(("predict", "gpt2", "--on", "dgx-h100", "--set", "zero_stage=3", "--set", "bucket_bytes=25MiB"), "bucket_bytes has no effect with zero_stage 3")
    for verb in ("predict", "plan"):
        refused((verb, "lenet", "--on", "dgx-h100", "--set", "sequence=128"), "sequence has no effect on a model without a sequence")
    for setting in ("micro_batch=8", "dp=4", "optimizer=sgd", "mode=inference", "offload=optimizer", "frozen=1"):
        refused(("models", "gpt2", "--set", setting), f"set: {setting.split('=')[0]} has no effect on a model's layers")
    expect(run("models", "gpt2", "--set", "recompute=full", "--set", "tp=2", "-q")[0] == 0, "settings that layers have")
    refused(("predict", "mixtral-8x7b", "--on", "dgx-h100*2", "--set", "micro_batch=1,dp=8,ep=8,expert_nodes=1"), "expert_nodes has no effect", "on 1 node")
    code, out, err = run("predict", "gpt2", "--on", "v100", "--set", "sequence=100000", "--set", "micro_batch=1", "-q")
    expect(code == 1 and "one sample's activations" in " ".join(out.split()), out[:300])


def test_range():
    """A flag that is neither 0 nor 1, and 0 where it would stand for "not said"."""
    for setting in ("frozen=3", "keep_gradients=2", "sequence_parallel=2", "zero_stage=4"):
        refused(("predict", "gpt2", "--on", "dgx-h100", "--set", setting), setting.split("=")[0], "expected a whole number from 0 to")
    for words in (("plan", "gpt2", "--on", "dgx-h100", "--top", "0"), ("analyze", DEMO, "--samples", "0"), ("calibrate", "--list", "--threads", "0")):
        refused(words, words[-2], "found 0")
    refused(("compare", DEMO, DEMO, "--with-rank", "3"), "--with-rank: expected one that the traces name")
    with_unit, plain = (step_s("gpt2", "--on", "dgx-h100", "--set", "micro_batch=1", "--set", f"bucket_bytes={size}") for size in ("2MiB", 2 << 20))
    expect(with_unit == plain, "a size and its bytes", with_unit, plain)


def test_rows():
    """Cells that a row is answered without stand in its status; nodes say how many devices each has."""
    base = {"device": "a100-80-sxm", "n_gpu": "8", "model": "gpt2", "seq": "1024", "micro_batch": "4", "global_batch": "64", "precision": "bf16"}

    def row(**more):
        cells = {**base, **more}
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
            file.write(",".join(cells) + "\n" + ",".join(cells.values()) + "\n")
            file.flush()
            code, out, err = run("predict", "--kind", "step", "--rows", file.name, "-f", "csv", "-q")
        answer = next(csv.DictReader(out.splitlines()))
        expect(code == (0 if answer["predicted"] else 1), "a table of which no row has an answer is a no", more, err)
        return answer
    plain = row()
    for key in ("mode", "schedule", "execution", "flash", "machine", "inter_node_gbit_per_s", "frozen"):
        answer = row(**{key: "abc"})
        expect(f'unknown {key} "abc"' in answer["status"] and answer["predicted"] == plain["predicted"], key, answer)
    expect("takes 2 micro-batches, not 3" in row(grad_accum="3")["status"] and row(grad_accum="2")["status"] == plain["status"], "grad_accum")
    answer, others = (row(framework="megatron", **more) for more in ({"execution": "graph"}, {}))
    expect("no effect unless framework=pytorch: execution graph" in answer["status"] and answer["predicted"] == others["predicted"], "graphs of others' steps", answer)
    for key, value in (("input", "pinned"), ("bucket_bytes", "1MiB"), ("update", "fused")):
        expect(f"{key} has no effect unless framework=pytorch" in row(framework="megatron", **{key: value})["status"], key)
    for cells, said in (({"strategy": "tensor parallel 8"}, "no effect: sharding tensor parallel 8"), ({"head_dim": "128", "heads": "12"}, "no effect on gpt2: head_dim 128"),
                        ({"experts": "8"}, "no effect on gpt2: experts 8")):
        answer = row(**cells)
        expect(said in answer["status"] and answer["predicted"] == plain["predicted"], cells, answer)
    for cells in ({"strategy": "TP1 PP1"}, {"head_dim": "64", "heads": "12", "hidden": "768"}, {"kv_heads": "12", "heads": "12"}, {"experts": "1"}):
        expect("no effect" not in row(**cells)["status"], cells)
    expect("recomputation" not in row(mode="inference", hidden="768", layers="12", heads="12", model="")["status"], "a forward pass alone recomputes nothing")
    shaped = {"model": "", "hidden": "768", "layers": "12", "heads": "12"}
    expect(row(**shaped, vocab="30k")["predicted"] == row(**shaped, vocab="30000")["predicted"] != row(**shaped, vocab="90k")["predicted"], "thousands of words")
    placed = {"device": "", "n_gpu": "", "machine": "dgx-a100*2", "global_batch": ""}
    expect("has 2 nodes of 8 devices, the row takes more" in row(**placed, nodes="4")["status"], row(**placed, nodes="4"))
    expect("the row takes more" not in row(**placed, nodes="2")["status"] and row(**placed, nodes="2")["predicted"], row(**placed, nodes="2"))
    two, four = row(nodes="2"), row(gpus_per_node="4")
    expect(two["predicted"] == four["predicted"] != plain["predicted"], "8 devices on 2 nodes", two, four)


def test_rows_of_exchanges():
    """A machine whose name says how many nodes it has is asked of no more, and a library is one by whatever door it is named."""
    def rows(text, *words):
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
            file.write(text)
            file.flush()
            return list(csv.DictReader(run("predict", "--kind", "exchange", "--collective", "allreduce", "--rows", file.name, "-f", "csv", "-q", *words)[1].splitlines()))
    table = "system,nodes,gpus,library,algorithm,bytes\n" + "".join(f"{row}\n" for row in (
        "dgx-a100*2,4,32,,,1e6", "dgx-a100*2,2,16,,,1e6", "dgx-a100,4,32,,,1e6", "dgx-a100,2,16,textbook,,1e6", "dgx-a100,2,16,textbook,ring,1e6", "dgx-a100,2,16,,ring,1e6"))
    found = rows(table)
    expect(found[0]["predicted"] == "" and "has 2 nodes, the row takes 4" in found[0]["status"], found[0])
    expect(all(row["status"] == "ok" for row in found[1:]) and float(found[2]["predicted"]) > float(found[1]["predicted"]), found)
    for row, words in ((3, ()), (4, ("--algorithm", "ring"))):
        code, out, err = run("predict", "--kind", "exchange", "--on", "dgx-a100*2", "--bytes", "1MB", "--library", "textbook", *words, "-f", "json", "-q")
        said = json.loads(out)["sizes"][0]["time_us"] * 1e-6
        expect(abs(float(found[row]["predicted"]) / said - 1) < 1e-12, "one library, two doors", found[row], out[:2000], err)
    expect(len({row["predicted"] for row in (found[1], *found[3:])}) == 4, "who chooses decides", found)
    on = rows("nodes,gpus,bytes\n4,32,1e6\n2,16,1e6\n", "--on", "dgx-a100*2")
    expect("more than --on has" in on[0]["status"] and on[1]["status"] == "ok" and on[0]["predicted"] == found[2]["predicted"], on, found[2])


def test_shapes_of_products():
    """A cell of a shape beside columns of its sizes has an effect on nothing: one that says other work is named."""
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        file.write("device,m,n,k,shape,dtype\na100,64,128,256,64x128x256,fp16\na100,64,128,256,512x128x256,fp16\na100,64,128,256,,fp16\n")
        file.flush()
        found = list(csv.DictReader(run("predict", "--kind", "kernel", "--rows", file.name, "-f", "csv", "-q")[1].splitlines()))
    expect([row["status"] for row in found] == ["ok", "ok; no effect: shape", "ok"] and len({row["predicted"] for row in found}) == 1, found)


def test_stages():
    """A network of fifty layers has no single layer: what cannot be divided into stages says why."""
    refused(("predict", "resnet50", "--on", "dgx-h100", "--set", "pp=4"), "pp 4", "repeats no block")
    refused(("predict", "bert_base", "--on", "dgx-h100*4", "--set", "pp=24"), "the model's 12 layers")


def test_words_of_devices():
    """A device's cell is searched for a name; where words of it have no part in the name, the answer says which device was taken."""
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        file.write("model,device,n_gpu,micro_batch,inter_node_gbit_per_s\n" + "".join(f"gpt2,{row}\n" for row in (
            "NVIDIA H100 80GB HBM3,1,4,", "8x A100_80GB,1,4,", "h100 foo,1,4,", "h100-80-sxm,8,4,200", "h100-80-sxm,16,4,200")))
        file.flush()
        said = [row["status"] for row in csv.DictReader(run("predict", "--rows", file.name, "-f", "csv", "-q")[1].splitlines())]
    expect([status.startswith('took h100-80-sxm for "h100 foo"') for status in said] == [False, False, True, False, False], said)
    expect(["no effect within one node: inter_node_gbit_per_s 200" in status for status in said] == [False] * 3 + [True, False], said)


def test_nodes_on_a_bus():
    """Of a board that no machine of the catalogue holds the answer names what it assumed of nodes, and nothing that the row says itself."""
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        file.write("model,device,n_gpu,micro_batch,gpus_per_node,inter_node_gbit_per_s\n" + "".join(f"resnet50,GTX 1080 Ti,{row}\n" for row in (
            "2,32,2,", "4,32,2,1", "16,32,,", "16,32,4,")))
        file.flush()
        said = [row["status"] for row in csv.DictReader(run("predict", "--rows", file.name, "-f", "csv", "-q")[1].splitlines())]
    expect(["200 Gb/s between" in status for status in said] == [False, False, True, True], said)
    expect(["nodes of 8" in status for status in said] == [False, False, True, False], said)


def test_on_of_step_rows():
    """Rows about steps that name no device run on that of --on, with its figures, as `predict MODEL --on` does; words that it does not have are refused."""
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        file.write("model,n_gpu,micro_batch,precision\ngpt2,1,4,bf16\n")
        file.flush()
        ask = ("predict", "--rows", file.name, "-f", "csv", "-q", "--on")
        times = [float(next(csv.DictReader(run(*ask, on)[1].splitlines()))["predicted"]) for on in ("a100", "a100 memory=1TB/s", "a100 clock=0.5x")]
        expect(times[1] > 1.2 * times[0] and times[2] > 1.1 * times[0], times)
        for on, code in (("a100 foo", 4), ("nosuch", 4), ("dgx-a100 memory=1TB/s", 2), ("a100 memory=1", 2)):
            found, out, err = run(*ask, on)
            expect(found == code and "--on: " in err and not out, on, found, out, err)


def step_s(*words):
    code, out, err = run("predict", *words, "-f", "json", "-q")
    return json.loads(out)["values"]["step.median_s"] if code == 0 else expect(False, words, err)


def test_tf32():
    """PyTorch lets cuDNN convolve fp32 in TF32 (torch.backends.cudnn.allow_tf32), which devices have since compute capability 8.0."""
    same, other = ("rtx-3090", "v100-sxm2-16", "mi300x"), ("a100-80-sxm", "h100-80-sxm")
    for device in same + other:
        question = ("resnet50", "--on", device, "--set", "micro_batch=64")
        usual, strict = step_s(*question), step_s(*question, "--set", "allow_tf32=none")
        # A 3090 multiplies TF32 at the rate of its FP32, beside which addresses cost less, and FP32's kernels stay there to be chosen; cuDNN is NVIDIA's.
        expect(0.88 * strict < usual <= strict if device in same else usual < 0.8 * strict, device, usual, strict)
    code, out, _ = run("predict", "resnet50", "--on", "a100-80-sxm", "--set", "micro_batch=64", "-q")
    expect("fp32 with convolutions in TF32" in " ".join(out.split()), out[:400])


def idle_figures(*words, verb="predict"):
    code, out, err = run(verb, *words, "-f", "json")
    expect(code == 0, words, err)
    return [one["text"].split()[0] for one in json.loads(out)["warnings"] if one["code"] == "figure_idle"]


def test_idle_figures():
    """A figure of the machine that moves nothing is named; one that does is not, nor a word that says what a network is."""
    for words, idle in ((("resnet50", "--on", "v100 fp16=200TFLOP/s"), ["fp16=200TFLOP/s"]),
                        (("resnet50", "--on", "v100 memory=2TB/s fp16=2x"), ["fp16=2x"]),
                        (("resnet50", "--set", "precision=amp", "--on", "v100 memory=2TB/s fp16=2x"), []),
                        (("--kind", "exchange", "--on", "dgx-h100 net=100GB/s"), ["net=100GB/s"]),
                        (("--kind", "exchange", "--on", "dgx-h100*2 latency=1ms"), ["latency=1ms"]),
                        (("--kind", "exchange", "--on", "dgx-h100*2 net=10GB/s net-kind=tcp"), []),
                        ((DEMO, "--on", "a100 memory=2x memory_size=1TB"), ["memory_size=1TB"])):
        expect(idle_figures(*words) == idle, words, idle_figures(*words))
    plan = ("gpt2", "--set", "global_batch=64", "--on")
    expect(idle_figures(*plan, "dgx-a100 net=10GB/s nvlink=100GB/s", verb="plan") == ["net=10GB/s"], "of two figures a plan names the one that moves nothing")


def test_idle_options(folder):
    """What is assumed of jobs that nothing hangs on, and what a what-if leaves to another, is named; what has an effect is not."""
    jobs = os.path.join(folder, "jobs.csv")
    with open(jobs, "w") as file:
        file.write("job,architecture,cnodes,batch_size,flop,memory_access_bytes,input_bytes,weight_traffic_bytes\na,allreduce_local,8,64,1e12,1e10,1e8,1e8\n")
    simulated = ("--kind", "exchange", "--simulate", "--on", "dgx-h100*2", "--bytes", "1K", "--unfolded")
    for words, idle in ((("--rows", jobs, "--contention", "all"), []), (("--rows", jobs, "--contention", "all", "--on", "t4"), ["--contention"]),
                        (("--rows", jobs, "--nvlink", "aggregate"), []), (("--rows", jobs, "--nvlink", "aggregate", "--on", "dgx-a100"), ["--nvlink"]),
                        (("--rows", jobs, "--nvlink", "link", "--contention", "projected"), []), (simulated, []), ((*simulated, "--collective", "broadcast"), ["--unfolded"]),
                        ((DEMO, "--on", "h100-80-sxm", "--drop-overhead", "t2"), []), ((DEMO, "--on", "h100-80-sxm", "--graph", "--drop-overhead", "t2"), ["--drop-overhead"])):
        expect(idle_figures(*words) == idle, words, idle_figures(*words))


def test_remarks_on_jobs(folder):
    """Traffic of one GPU's weights goes nowhere, and a server holds as many cNodes of AllReduce-Local as it has GPUs: both are said."""
    work = "batch_size=8,flop=1T,memory_access_bytes=1GB,input_bytes=1GB,weight_traffic_bytes=1GB"
    jobs = os.path.join(folder, "jobs.csv")
    for words, on, said in (("architecture=1w1g", "dgx-a100", "weight_traffic_bytes has no effect on 1w1g"), ("architecture=allreduce_local,cnodes=8", "dgx-a100", None),
                            ("architecture=allreduce_local,cnodes=8", "t4", "a server of t4 has 1 device"), ("architecture=allreduce_local,cnodes=9", "pai-2018", "a server of pai-2018 has 8 devices")):
        out = " ".join(run("predict", "--job", f"{words},{work}", "--on", on, "-q")[1].split())
        expect(f"{said}. " in out if said else "Mind" not in out, words, on, out[:400])
        names, values = zip(*(word.split("=") for word in f"job=a,{words},{work}".replace("1T", "1e12").replace("1GB", "1e9").split(",")))
        with open(jobs, "w") as file:
            file.write(",".join(names) + "\n" + ",".join(values) + "\n")
        row = next(csv.DictReader(run("predict", "--kind", "job", "--rows", jobs, "--on", on, "-f", "csv", "-q")[1].splitlines()))
        expect(row["status"].endswith(said) if said else row["status"] == "ok", row)
    refused(("fleet", JOBS, "--efficiency", "compute=0.5,compute=0.6"), "compute is given twice")


def test_fit_is_written_once(folder):
    """A fit with a figure of the device is the fit that is kept: to ask again without the figure, whether it matters, wrote that answer over it."""
    table, kept = (os.path.join(folder, name) for name in ("rows.csv", "a.fit"))
    with open(table, "w") as file:
        file.write("m,n,k,dtype,latency_us\n" + "".join(f"{m},{n},{k},fp16,{5 + m * n * k / 75e6:.3f}\n" for m in (256, 512, 1024, 2048) for n in (256, 1024, 4096) for k in (512, 2048)))
    fits = []
    for device in ("a100", "a100 fp16=100TFLOP/s"):
        code, _, err = run("fit", "--kind", "kernel", table, "--on", device, "-o", kept, "-q")
        with open(kept, "rb") as file:
            fits.append(file.read())
        expect(code == 0, err)
    expect(fits[0] != fits[1], "one fit for two devices")


def test_named_ways():
    """A named algorithm or protocol is held against the library's own choice."""
    ask = ("predict", "--kind", "exchange", "--on", "dgx-h100*2", "--bytes", "1K,1G", "-f", "json", "-q")
    for words, said in ((("--collective", "allgather", "--algorithm", "ring"), "the same way for all sizes"), (("--algorithm", "ring"), "another way for 2 of 2 sizes"),
                        (("--protocol", "ll"), "another way for 1 of 2 sizes"), ((), None)):
        notes = " ".join(json.loads(run(*ask, *words)[1])["notes"])
        expect(said in notes if said else "Left to choose" not in notes, words, notes)


def test_nothing_left():
    refused(("calibrate", "--quick", "--memory", "1"), "each of", "take more than 1 bytes")


def test_separators(folder):
    with gzip.open(JOBS, "rt") as file:
        lines = [line for line in file if not line.startswith("#")][:20]
    for separator, name in ((";", "semicolons"), ("\t", "tabs")):
        path = os.path.join(folder, "jobs.csv")
        with open(path, "w") as file:
            file.writelines(line.replace(",", separator) for line in lines)
        code, _, err = run("fleet", path)
        expect_line(code, err, 3, f"separated by {name}")


def test_units():
    """A rate of a cluster has a unit, of its own dimension, and a size that a machine can have."""
    for rate in ("network=200", "network=1e30Gb/s", "network=5TFLOP/s", "network=2B/s", "compute=100Gb/s", "memory=900"):
        refused(("fleet", JOBS, "--sweep", rate), "expected a rate such as")
        refused(("fleet", JOBS, "--on", "pai-v100 " + rate), "expected a figure with its unit")
    for rate in ("network=200Gb/s", "compute=100TFLOP/s", "network=2x", "compute_efficiency=0.5"):
        code, _, err = run("fleet", JOBS, "--on", "pai-v100 " + rate, "-q")
        expect(code == 0, rate, code, err)
    refused(("analyze", DEMO, "--max-size", "1"), " --max-size: expected a size")


def test_pipes(folder):
    """<(COMMAND) and named pipes come once; what looks at their first bytes must not swallow them."""
    plain, packed = "zcat %s" % DEMO, "cat %s" % DEMO
    wanted = run("analyze", DEMO, "-q")[1].splitlines()[0]
    for source in (plain, packed):
        for words in (f"analyze <({source}) -q", f"analyze /dev/stdin -q < <({source})"):
            done = subprocess.run(["bash", "-c", f"{PACELINE} {words}"], capture_output=True, text=True, timeout=60)
            expect(done.returncode == 0 and done.stdout.splitlines()[0] == wanted, words, done.returncode, done.stdout[:200], done.stderr)
    for words in (f"predict <({plain}) --on h100 -q", f"compare <({plain}) <({packed}) -q", f"predict --rows <(printf 'model,device,tp,dp,micro_batch\\ngpt2,v100,1,1,1\\n') -q"):
        done = subprocess.run(["bash", "-c", f"{PACELINE} {words}"], capture_output=True, text=True, timeout=60)
        expect(done.returncode == 0 and done.stdout, words, done.returncode, done.stderr)
    pipe = os.path.join(folder, "pipe.json")
    os.mkfifo(pipe)
    with gzip.open(DEMO, "rb") as file:
        text = file.read()

    def feed():
        with open(pipe, "wb") as end:
            end.write(text)

    writer = threading.Thread(target=feed)
    writer.start()
    done = subprocess.run([PACELINE, "analyze", pipe, "-q"], capture_output=True, text=True, timeout=60)
    writer.join()
    expect(done.returncode == 0 and done.stdout.splitlines()[0] == wanted, "a named pipe", done.returncode, done.stderr)


for name, test in list(globals().items()):
    if name.startswith("test_"):
        with tempfile.TemporaryDirectory() as scratch:
            test(*[scratch] * test.__code__.co_argcount)
finish()
