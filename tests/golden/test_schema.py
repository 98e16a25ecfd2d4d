"""JSON documents against docs/schemas/: no member beside those named, in the order in which they are named, each number
with its unit in its key; and the other formats are whole.

The reference traces are other people's and not shipped: without them the bundled and synthetic ones are checked.
"""
import csv
import glob
import io
import json
import os
import subprocess
import sys
import tempfile

import pipeline_trace as pipeline
import strict_schema

PACELINE = os.environ["PACELINE"]
MAKE_TRACE = os.environ["MAKE_TRACE"]
SHARED = os.environ.get("PACELINE_SHARED", "")
SOURCE = os.environ.get("PACELINE_SOURCE", ".")
TRACE = os.path.join(SOURCE, "tests", "data", "demo.json.gz")

def run(*words, stdin=b""):
    done = subprocess.run([PACELINE, *words], input=stdin, capture_output=True)
    assert done.returncode == 0, (words, done.stderr.decode())
    return done.stdout.decode()


def no_constant(text):
    raise AssertionError(text + " is no JSON")


def analyze(*words, stdin=b""):
    document = json.loads(run("analyze", "--check", "--samples", "8", "--format", "json", *words, stdin=stdin), parse_constant=no_constant)
    strict_schema.hold(document, "analyze")
    return document


document = analyze(TRACE)
assert document["advice"], "the report gives no advice"
assert document["window"]["busy_ns"] > 0, "the demo trace holds no work"
try:
    strict_schema.hold({**document, "more": 1}, "analyze")
    sys.exit("an unnamed member passes")
except strict_schema.jsonschema.ValidationError:
    pass

synthetic = subprocess.run([MAKE_TRACE, "--compact", "--devices", "2", "--steps", "4", "--layers", "4"], capture_output=True, check=True)
several = analyze("-", stdin=synthetic.stdout)
assert len(several["ranks"][0]["devices"]) == 2
with tempfile.TemporaryDirectory() as folder:
    stages = pipeline.simulate(2, 4, lambda stage, batch: 100000, lambda stage, batch: 200000, 1000, 40000)
    paths = [pipeline.write(folder, rank, 2, pipeline.events_of(kernels, rank, 2, "record", 0)) for rank, kernels in enumerate(stages)]
    assert analyze(folder)["messages"], "the pipeline holds no messages"
    assert analyze(paths[0])["point_to_point"][0]["transfer_ns"] is None
traces = sorted(glob.glob(os.path.join(SHARED, "kineto", "*.json.gz")) + glob.glob(os.path.join(SHARED, "chakra", "*kineto*.json.gz")))
for trace in traces + [path for path in [os.path.join(SHARED, "chakra", "dlrm_8xV100_kineto")] if os.path.isdir(path)]:
    analyze(trace)

rows = list(csv.DictReader(io.StringIO(run("analyze", "--format", "csv", "--table", "operators", TRACE))))
assert sum(int(row["time_ns"]) for row in rows) == sum(row["time_ns"] for row in document["operators"])

by_name = {}
for row in document["operator_shapes"]:
    calls, time_ns = by_name.get(row["name"], (0, 0))
    by_name[row["name"]] = calls + row["calls"], time_ns + row["time_ns"]
assert by_name == {row["name"]: (row["calls"], row["time_ns"]) for row in document["operators"]}
assert any(row["shapes"] for row in document["operator_shapes"]), "the demo trace records shapes"

html = run("analyze", "--format", "html", TRACE)
assert html.count("<html") == 1 and html.rstrip().endswith("</html>")
assert "http://" not in html.replace("http://www.w3.org", "") and "https://" not in html, "the page must stand alone"

same = json.loads(run("compare", "--format", "json", TRACE, TRACE))
strict_schema.hold(same, "compare")
assert same["a_step_ns"] == same["b_step_ns"]
assert all(value == 0 for row in same["change_matrix"].values() for value in row.values())
assert all(row["change_ns"] == 0 for row in same["operators"])
for words in [[TRACE], [TRACE, "--on", "a100-40-sxm"], ["bert_base", "--on", "a100-40-sxm", "--graph"]] + [
        [trace, "--scale", ".:0.5", "--graph"] for trace in traces if "_train_" in trace or "dlrm" in trace] + [
        [trace, "--batch", "8", "--fuse", ".", "--precision", "bf16", "--on", "a100-40-sxm"] for trace in traces if "tl_vit" in trace]:
    strict_schema.hold(json.loads(run("predict", "--format", "json", *words), parse_constant=no_constant), "predict")
for other in traces[:3]:
    strict_schema.hold(json.loads(run("compare", "--format", "json", TRACE, other)), "compare")

with open(os.path.join(SOURCE, "tests", "data", "profiler_cost_cpu.csv")) as file:
    profiler = file.read()
sizes = [(64 * i, 32 * j, 64) for i in range(1, 9) for j in range(1, 6)]
kernels = "device,m,n,k,latency_us\n" + "".join(f"v100-sxm2-16,{m},{n},{k},{5 + m * n * k / 1e6}\n" for m, n, k in sizes)
exchanges = "system,collective,ranks,bytes,time_us\n" + "".join(f"dgx-1-v100,allreduce,8,{1 << i},{20 + (1 << i) / 1e5}\n" for i in range(4, 28))
overheads = "type,op,model,batch_size,mean_us,std_us,count\n" + "".join(
    f"{kind},{op},{model},64,{us + i},1,100\n" for i, model in enumerate("abc") for kind, op, us in
    (("t1", "", 5), ("t2", "aten::add", 9), ("t2", "aten::mm", 12)))
steps = "device,n_gpu,hidden,layers,heads,seq,vocab,dp,micro_batch,global_batch,precision\n" + "".join(
    f"a100-80-sxm,8,{hidden},24,16,2048,51200,8,{micro},64,bf16\n" for hidden in (1024, 2048, 4096) for micro in (1, 2, 4))
measured_steps = "\n".join(row + (",step_time_s" if i == 0 else f",{i}" if row else "") for i, row in enumerate(steps.split("\n")))
with open(os.path.join(SOURCE, "tests", "data", "jobs_resnet50.csv")) as file:
    jobs = file.read()
scaling = "machine,model,approach,workers,batch\ndgx-1-v100,resnet50,ddp,8,64\ndgx-1-v100,riddle,ddp,8,64\n"
for kind, text in (("kernel", kernels), ("exchange", exchanges), ("overhead", overheads), ("profiler", profiler), ("step", measured_steps), ("job", jobs)):
    fitted = run("fit", "--kind", kind, "-", "--format", "json", stdin=text.encode())
    strict_schema.hold(json.loads(fitted, parse_constant=no_constant), "fit")
for kind, text in (("kernel", kernels), ("kernel", "op,m,n,k,fwd_us,bwd_us\ngemm,64,64,64,5,9\nriddle,1,1,1,1,1\n"), ("exchange", exchanges),
                   ("step", steps + "riddle,8,1024,24,16,2048,51200,8,1,64,bf16\n"), ("job", jobs), ("scaling", scaling)):
    on = {"exchange": ["--on", "dgx-1-v100"], "kernel": ["--on", "v100-sxm2-16"]}.get(kind, [])
    rows = run("predict", "--rows", "-", "--kind", kind, *on, "--format", "json", stdin=text.encode())
    strict_schema.hold(json.loads(rows, parse_constant=no_constant), "predict_rows")
strict_schema.hold(json.loads(run("plan", "gpt2", "--on", "dgx-h100", "--tokens", "1G", "--price", "2", "--format", "json")), "plan")
strict_schema.hold(json.loads(run("tune", "--on", "dgx-h100*2", "--format", "json")), "tune")
with tempfile.NamedTemporaryFile("w", suffix=".sh") as script:
    script.write("torchrun x.py --tensor-model-parallel-size 4 --global-batch-size 32 --micro-batch-size 1")
    script.flush()
    strict_schema.hold(json.loads(run("plan", "gpt2", "--on", "dgx-h100", "--from", script.name, "--format", "json")), "plan")
hosts = ["--on", "epyc-zen5-2t*4 net=10Gb/s"]
strict_schema.hold(json.loads(run("plan", "lenet", *hosts, "--tokens", "60000", "--price", "2", "--format", "json")), "partition")
strict_schema.hold(json.loads(run("predict", "lenet", *hosts, "--set", "tp=2", "--format", "json")), "partition")
strict_schema.hold(json.loads(run("calibrate", "neurons", "--list", "--quick", "--format", "json")), "calibrate")
strict_schema.hold(json.loads(run("calibrate", "--list", "--quick", "--format", "json")), "calibrate")
with tempfile.TemporaryDirectory() as folder:
    # What a device entry needs, other machines may not measure (OpenBLAS, a small cache): the table holds it already.
    table = os.path.join(folder, "rows.csv")
    words = ["--quick", "--family", "reduction", "--threads", "1", "-o", table, "--format", "json"]
    run("calibrate", *words)
    with open(table) as file:
        row = dict(next(csv.DictReader(file)), b="", m="", n="", k="", columns="", elements="", latency_us="9000", best_us="8000")
    with open(table, "a") as file:
        csv.DictWriter(file, row).writerows([{**row, "op": "gemm", "b": "1", "m": "512", "n": "512", "k": "512"},
                                             {**row, "op": "copy", "elements": str(1 << 34)}])
    strict_schema.hold(json.loads(run("calibrate", *words, "-e", os.path.join(folder, "box.yaml"))), "calibrate")
print("%d traces validated" % (len(traces) + 4))
