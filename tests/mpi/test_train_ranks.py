"""Several ranks that train LeNet: with every approach the loss is that of one rank with the whole batch, the answer holds to the
schema, and what cannot be is refused in one line. Skipped where the module of layers is not built."""
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile

from under_mpirun import BUILD, ENV, EVERYTHING, expect, finish  # before what it finds
import strict_schema
from ranks_under_attack import await_ranks, await_switches

APPROACHES = {"mpi-opt": "collective", "grpc": "grpc", "horovod-mpi": "mpi", "baidu-mpi": "mpi", "p2p": "mpi", "grpc+ucx": "ucx",
              "grpc+mpi": "grpc"}  # of dense gradients; pearl is below


def module(name):
    return os.path.exists(os.path.join(BUILD, "modules", f"paceline-train-{name}.so"))


if not module("onednn"):
    print("skipped: there is no module of layers (libdnnl-dev)")
    sys.exit(77)


def run(*words, model="lenet"):
    done = subprocess.run([os.environ["PACELINE"], "train", model, "--threads", "1", *words], capture_output=True, env=ENV, timeout=120,
                          check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def train(*words, model="lenet"):
    code, out, err = run("--steps", "3", "--warm-up", "1", "--format", "json", *words, model=model)
    expect(code == 0, words, err[-1000:])
    if code:
        return None
    answer = json.loads(out)
    strict_schema.hold(answer, "train")
    return answer


def close(a, b):
    return abs(a - b) <= 2e-5 * abs(b)


here = [one for one in APPROACHES if module(APPROACHES[one])]
for ranks, batch in ((2, 6), (3, 4)) if EVERYTHING else ((2, 6),):
    for optimizer in ("momentum", "adam") if EVERYTHING else ("momentum",):
        settings = ("--set", f"optimizer={optimizer}")
        whole = train("--batch", "12", *settings)
        for approach in here if EVERYTHING else here[:2]:
            for overlap in ("on", "off") if EVERYTHING else ("on",):
                words = ("--ranks", str(ranks), "--batch", str(batch), "--approach", approach, "--overlap", overlap, *settings)
                parts = train(*words)
                if not parts:
                    continue
                expect(close(parts["first_loss"], whole["first_loss"]), words, parts["first_loss"], whole["first_loss"])
                expect(close(parts["last_loss"], whole["last_loss"]), words, parts["last_loss"], whole["last_loss"])
                expect(parts["approach"] == approach and parts["ranks"] == ranks, words, parts["approach"], parts["ranks"])
                expect(parts["exchanged_bytes"] > 0 and parts["transport"], words, parts["transport"])
RECOMMENDER = """family: net
about: a
source: b
inputs:
  dense: {features: 6}
  sparse: {indices: 6}
loss: binary_cross_entropy
layers:
  - {linear: 4, from: dense, as: vector}
  - {embedding_bag: {rows: 50, width: 4, tables: 3, lookups: 2}, from: sparse, as: vectors}
  - {interaction: , from: [vector, vectors]}
  - linear: 1
  - sigmoid
"""
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "net.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(RECOMMENDER)
    settings = ("--rate", "5", "--set", "optimizer=sgd")
    whole = train("--batch", "12", *settings, model=path)
    for approach in here if EVERYTHING else here[1:2]:
        parts = train("--ranks", "2", "--batch", "6", "--approach", approach, *settings, model=path)
        expect(parts and close(parts["last_loss"], whole["last_loss"]), "tables of all ranks", approach, parts, whole["last_loss"])
    if module("collective"):
        for ranks, batch in ((2, 6), (3, 4)) if EVERYTHING else ((3, 4),):
            parts = train("--ranks", str(ranks), "--batch", str(batch), "--approach", "pearl", *settings, model=path)
            expect(parts and close(parts["last_loss"], whole["last_loss"]), "split tables", ranks, parts, whole["last_loss"])
            # rows, their gradients (4 floats each) and who is asked for them (2 integers): at least the lookups in tables of others
            expect(parts and parts["exchanged_bytes"] > 3 * batch * 6 * (2 * 4 + 2) * 4 / 4, parts["exchanged_bytes"])
            replicated = train("--ranks", str(ranks), "--batch", str(batch), "--approach", "mpi-opt", *settings, model=path)
            expect(parts["memory_bytes"] < replicated["memory_bytes"], parts["memory_bytes"], replicated["memory_bytes"])
        code, out, err = run("--ranks", "2", "--approach", "pearl", "--steps", "1")
        expect(code == 2 and "pearl splits tables" in err and len(err.strip().splitlines()) == 1, code, err)
    expect(abs(whole["last_loss"] - whole["first_loss"]) > 0.01, "tables move", whole["first_loss"], whole["last_loss"])
    code, out, err = run("--ranks", "2", "--approach", "grpc", "--asynchronous", "--steps", "1", model=path)
    expect(code == 2 and "asynchronous" in out + err, code, err[-500:])
with tempfile.TemporaryDirectory() as folder:
    train("--ranks", "2", "--batch", "4", "--trace", os.path.join(folder, "run.json"))
    done = subprocess.run([os.environ["PACELINE"], "analyze", folder, "--format", "json"], capture_output=True, env=ENV, check=False)
    read = json.loads(done.stdout) if done.returncode == 0 else {}
    expect(len(read.get("ranks", ())) == 2 and read.get("collectives"), "the traces of two ranks", os.listdir(folder), done.stderr[-500:])
kinds = (("approaches", "2", 8), ("batch", "2", 2), ("scaling", "2", 5), ("stages", "2", 5), ("partition", "2", 8)) if EVERYTHING else (("batch", "2", 2),)
for study, batch, count in kinds:
    code, out, err = run("--study", study, "--batch", batch, "--steps", "1", "--warm-up", "0", "--format", "json",
                         model="mlp" if study == "partition" else "lenet")
    expect(code == 0, study, err[-1000:])
    answer = json.loads(out) if code == 0 else {"runs": []}
    if code == 0:
        strict_schema.hold(answer, "study")
    expect(len(answer["runs"]) == count or study != "batch", study, len(answer["runs"]))
    expect(all(one["samples_per_s"] > 0 for one in answer["runs"] if one["approach"] in (None, *here)), study, answer["runs"])
# Ranks begin a step together: it is as long as that of the slowest, as the traces of all ranks have it. The large tensor lies on
# one server, beside one of the ranks: the other takes longer.
with tempfile.TemporaryDirectory() as folder:
    path, trace = os.path.join(folder, "net.yaml"), os.path.join(folder, "t.json")
    with open(path, "w", encoding="utf-8") as file:
        file.write("family: net\nabout: a\nsource: b\ninputs: {x: {features: 1500}}\nloss: cross_entropy\nlayers:\n  - linear: 1500\n  - linear: 2\n")
    for approach in here if EVERYTHING else [one for one in here if one == "grpc"] or here[:1]:
        answer = train("--ranks", "2", "--batch", "1", "--approach", approach, "--trace", trace, model=path)
        steps = []
        for rank in range(2):
            with open(os.path.join(folder, f"t.rank{rank}.json"), encoding="utf-8") as file:
                events = [event for event in json.load(file)["traceEvents"] if event.get("name", "").startswith("ProfilerStep#")]
            steps.append([event["dur"] for event in sorted(events, key=lambda event: event["ts"])])
        slowest = [max(pair) for pair in zip(*steps)]
        expect(len(slowest) == 3 and answer, approach, steps)
        expect(abs(answer["step_ns"] / 1e3 - statistics.median(slowest)) < 1e-2, approach, answer["step_ns"], steps)
        parts = sum(stage["median_ns"] for stage in answer["stages"])
        expect(0.5 * answer["step_ns"] < parts < 1.5 * answer["step_ns"], "the parts are that rank's", approach, answer["stages"])
# The study of partitions: what it says of each run is what the same run says alone, and what predict says of it.
code, out, err = run("--study", "partition", "--ranks", "2", "--batch", "4", "--steps", "2", "--on", "epyc-zen5-2t*4 net=10Gb/s", "--format", "json", model="mlp")
expect(code == 0, err[-1000:])
if code == 0:
    answer = json.loads(out)
    strict_schema.hold(answer, "study")
    rows = {(row["replicas"], row["workers"]): row for row in answer["runs"]}
    expect(list(rows) == [(1, 1), (1, 2)], list(rows))
    one, two = rows[1, 1], rows[1, 2]
    expect(one["worker_weight_bytes"] == 4 * (785 * 800 + 801 * 10) and two["worker_weight_bytes"] * 2 == one["worker_weight_bytes"], one, two)
    told = subprocess.run([os.environ["PACELINE"], "predict", "mlp", "--on", "epyc-zen5-2t*4 net=10Gb/s", "--set", "dp=1", "--set", "tp=2", "--set",
                           "threads=1", "--set", "servers=0", "--set", "global_batch=4", "--format", "json"], capture_output=True, env=ENV, check=False)
    sample_s = json.loads(told.stdout)["values"]["best.sample_s"]
    expect(abs(two["predicted_samples_per_s"] * sample_s - 1) < 1e-9, two["predicted_samples_per_s"], sample_s)
for status, words, wanted in ((2, ("--ranks", "2", "--approach", "verbs"), "expected baidu-mpi, "), (2, ("--overlap", "on"), "no effect"),
                              (2, ("--ranks", "2", "--overlap", "half"), "expected on or off"), (2, ("--study", "sleep"), "expected approaches, batch")):
    code, out, err = run("--steps", "1", *words)
    expect(code == status and wanted in err and len(err.strip().splitlines()) == 1, words, code, (out + err)[-600:])


# Told to stop, all ranks do so after the same step, and what they measured is reported; a rank that is killed is said.
for number, status, wanted in ((signal.SIGINT, 0, "Stopped after"), (signal.SIGKILL, 128 + signal.SIGKILL, "ended by signal 9")):
    run_of = subprocess.Popen([os.environ["PACELINE"], "train", "lenet", "--ranks", "2", "--batch", "2", "--threads", "1", "--steps",
                               "100000", "--warm-up", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV)
    ranks_of = await_ranks(run_of, "train lenet --ranks 2 --batch 2".split(), "collective")
    await_switches(ranks_of, 300)  # steps are being made
    os.kill(run_of.pid if number == signal.SIGINT else ranks_of[-1], number)
    out, err = run_of.communicate(timeout=120)
    expect(run_of.returncode == status and wanted in err.decode(), number, run_of.returncode, (out + err)[-800:])
finish()
