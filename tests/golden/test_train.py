"""`paceline train` from outside: LeNet learns generated digits, its trace is one that analyze reads to the same stages, its
answers hold to the schema, and what cannot be is refused in one line. Skipped where the module of layers is not built."""
import csv
import gzip
import json
import os
import re
import pty
import resource
import signal
import subprocess
import sys
import tempfile
import time

import strict_schema
from checks import PACELINE, expect, expect_line, finish, json_of, run

MODULES = os.environ.get("PACELINE_MODULES") or os.path.join(os.path.dirname(os.environ["PACELINE"]), "modules")
if not os.path.exists(os.path.join(MODULES, "paceline-train-onednn.so")):
    print("skipped: there is no module of layers (libdnnl-dev)")
    sys.exit(77)


def train(*words):
    answer = json_of("train", *words, "--threads", "1")
    strict_schema.hold(answer, "train")
    return answer


def test_learns():
    answer = train("lenet", "--data", "digits", "--batch", "32", "--steps", "150", "--warm-up", "0")
    expect(answer["first_loss"] > 2, answer["first_loss"])
    expect(answer["last_loss"] < 0.5 * answer["first_loss"], answer["last_loss"])
    expect(answer["accuracy"] > 0.9, answer["accuracy"])
    expect(answer["parameters"] == 431080, "the parameters of Caffe's LeNet", answer["parameters"])


def test_optimizers():
    for optimizer in ("sgd", "adam"):
        answer = train("lenet", "--batch", "8", "--steps", "20", "--warm-up", "0", "--set", f"optimizer={optimizer}")
        expect(answer["optimizer"] == optimizer, answer["optimizer"])
        expect(answer["last_loss"] < answer["first_loss"], optimizer, answer["first_loss"], answer["last_loss"])


def test_same_seed():
    first, second, third = (train("lenet", "--batch", "4", "--steps", "3", "--seed", seed)["last_loss"] for seed in "112")
    expect(first == second, first, second)
    expect(first != third, first, third)


def test_trace(folder):
    path = os.path.join(folder, "trace.json")
    answer = train("lenet", "--batch", "16", "--steps", "9", "--trace", path)
    read = json_of("analyze", path, "--check")
    expect(read["step_spread"]["steps"] + read["step_spread"]["left_out"] == 9, read["step_spread"])
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    for stage, name in (("forward", "## forward ##"), ("backward", "## backward ##"), ("update", "Optimizer.step#SGD.step")):
        times = sorted(1000 * e["dur"] for e in events if e["name"] == name)
        part = next(row for row in answer["stages"] if row["stage"] == stage)
        expect(abs(times[4] - part["median_ns"]) < 2, stage, times[4], part)
    matrix = read["matrix"]
    expect({"forward", "backward", "update"} <= {row for row, cells in matrix.items() if sum(cells.values()) > 0}, matrix)


def test_study():
    """The first sentence counts the runs whose intervals reach that of the first: noise may decide among these."""
    answer = json_of("train", "lenet", "--study", "batch", "--batch", "4", "--steps", "20", "--threads", "1")
    strict_schema.hold(answer, "study")
    best = max(answer["runs"], key=lambda row: row["samples_per_s"])
    alike = sum(row is not best and row["samples_high_per_s"] >= best["samples_low_per_s"] for row in answer["runs"])
    said = re.search(r"; (\d) others? may be as fast", answer["summary"][0])
    expect((int(said.group(1)) if said else 0) == alike, answer["summary"][0], alike)


def test_models(folder):
    path = os.path.join(folder, "mlp.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write("family: mlp\nabout: a\nsource: b\ninputs: {x: {features: 20}}\nloss: cross_entropy\n"
                   "layers:\n  - linear: 64\n  - relu\n  - linear: 10\n")
    answer = train(path, "--batch", "8", "--steps", "3")
    expect([row["kind"] for row in answer["layers"]] == ["linear", "relu", "linear", "cross_entropy"], answer["layers"])


def test_memory(folder):
    """Rows of tables have no gradient and no states: Adam needs two more numbers for each other parameter alone. What no batch makes fit says so."""
    path = os.path.join(folder, "tables.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write("family: net\nabout: a\nsource: b\ninputs: {sparse: {indices: 2}}\nloss: binary_cross_entropy\n"
                   "layers:\n  - {embedding_bag: {rows: 500000, width: 4, tables: 1, lookups: 2}, from: sparse}\n  - linear: 1\n  - sigmoid\n")
    sgd, adam = (train(path, "--batch", "2", "--steps", "1", "--warm-up", "0", "--set", f"optimizer={word}")["memory_bytes"] for word in ("sgd", "adam"))
    expect(8e6 < sgd < 8.1e6 and 0 < adam - sgd < 1000, sgd, adam)
    for words, wanted in ((("mlp", "--memory", "2MB"), "smaller model"), (("lenet", "--batch", "4096", "--memory", "20MB"), "smaller batch")):
        status, _, err = run("train", *words, "--threads", "1")
        expect_line(status, err, 1, "memory", wanted)
    status, _, err = run("train", "mlp", "--batch", "1", "--steps", "1", "--threads", str(32 * os.cpu_count()))
    expect_line(status, err, 2, "--threads", "wait for each other", str(16 * os.cpu_count()))


ENTRY = """sources: {here: "made up"}
devices:
  - name: box
    vendor: AMD
    kind: cpu
    flop_per_s: {fp32: {value: 1.0e+11, source: here, confidence: low}}
    achievable_flop_per_s: {fp32: {value: 1.0e+11, source: here, confidence: low}}
    memory_bytes: {value: 2.5e+10, source: here, confidence: low}
    memory_bytes_per_s: {value: 2.4e+10, source: here, confidence: low}
    achievable_bytes_per_s: {value: 2.4e+10, source: here, confidence: low}
    l2_bytes: {value: 3.3e+07, source: here, confidence: low}
    l2_bytes_per_s: {value: 8.0e+10, source: here, confidence: low}
    launch_s: {value: 1.3e-09, source: here, confidence: low}
    source: "made up"
    confidence: low
"""


def test_live(folder):
    """The loop closes: what is printed is what predict says, beside a measurement, and history finds it again."""
    entry, store = os.path.join(folder, "box.yaml"), os.path.join(folder, "live.sqlite")
    with open(entry, "w", encoding="utf-8") as file:
        file.write(ENTRY)
    words = ("validate", "--live", "--on", entry, "--model", "lenet", "--batch", "4", "--batch", "2", "--runs", "2", "--steps", "2")
    ledger = os.path.join(folder, "live.csv")
    with open(ledger, "w", encoding="utf-8") as file:
        file.write("case,source,split,metric,unit,n,value,bar,holds,note\n")
    answer = json_of(*words, "--store", store, "--ledger", ledger)
    strict_schema.hold(answer, "live")
    with open(ledger, encoding="utf-8") as file:
        kept = {(line["case"], line["metric"]): float(line["value"]) for line in csv.DictReader(file)}
    expect(abs(kept["train/live-one-rank", "mape"] - answer["mape"]) < 1e-3, kept, answer["mape"])
    expect([row["batch"] for row in answer["steps"]] == [4, 2], answer["steps"])
    for row in answer["steps"]:
        code, out, err = run("predict", "lenet", "--on", entry, "--set", f"micro_batch={row['batch']}", "--set", "optimizer=momentum",
                             "--set", "input=synthetic", "--set", "update=fused", "--format", "json")
        alone = json.loads(out)
        kernels = sum(family["kernel_ns"] for family in alone["families"])
        whole = alone["values"]["step.median_s"] * 1e9  # with the catalogue's host, which does more between kernels than ours
        expect(kernels <= row["predicted_ns"] <= whole, row, kernels, whole)
        expect(row["least_ns"] <= row["measured_ns"] <= row["most_ns"], row)
        expect(abs(row["predicted_ns"] / row["measured_ns"] - 1 - row["error_share"]) < 1e-4, row)
    expect(not answer["learned"] and any("Nothing was learned" in text for text in answer["summary"]), answer["summary"])
    figures = {(row["case"], row["metric"]): row for row in answer["figures"]}
    expect(abs(figures["train/live-one-rank", "mape"]["value"] - answer["mape"]) < 1e-9, figures)
    expect(figures["train/live-one-rank", "coverage"]["n"] == 2, figures)
    expect(("train/live-links", "mape") not in figures, "there is no link")
    errors = [abs(row["error_share"]) for row in answer["steps"]]
    expect(abs(sum(errors) / 2 - answer["mape"]) < 1e-9, answer["mape"])
    code, out, err = run("history", store, "--value", "live.lenet-4.measured_s", "--format", "json")
    expect(code == 0 and "live.lenet-4.measured_s" in out, err)
    status, _, err = run("validate", "--live", "--on", entry, "--model", "lenet", "--cases", "/nowhere/cases.yaml")
    expect(status != 0 and "/nowhere/cases.yaml" in err, "bars that cannot be read are refused before anything is trained", status, err)
    for more, *wanted in ((("--batch", "x"), "--batch"), (("--runs", "0"), "--runs"), (("--ranks", "0"), "--ranks"), (("--link", "1Gb/s"), "--link", "one rank"),
                          (("--approach", "grpc"), "--approach", "one rank"), (("--ranks", "2", "--link", "fast"), "--link"), (("--quick",), "--quick"), (("--data", folder), "--data", "--live"), (("lenet",), "--live")):
        status, _, err = run("validate", "--live", "--on", entry, *more)
        expect_line(status, err, 2, *wanted)


# Stands for an interpreter with a framework: keeps the network that it is given, and tells times.
STUB = """#!/bin/sh
while [ $# -gt 0 ]; do
    case $1 in --network) cp "$2" "%s" ;; --result) result=$2 ;; esac
    shift
done
printf 'software Stub 1\\napproach ddp over gloo\\nparameters 431080\\nstep 0.004 0.002 0.003\\nforward 0.001 0.001 0.001\\n' >"$result"
printf 'backward 0.002 0.002 0.002\\nupdate 0.0005 0.0005 0.0005\\nloss 2.5 2 1.5\\n' >>"$result"
"""


def write_idx(path, sizes, data):
    with gzip.open(path + ".gz", "wb") if path.endswith("labels-idx1-ubyte") else open(path, "wb") as file:
        file.write(bytes([0, 0, 8, len(sizes)]) + b"".join(size.to_bytes(4, "big") for size in sizes) + data)


def test_files(folder):
    """Images of files are learned; a batch is of the files' own numbers; what cannot be read is refused by what it is."""
    labels = bytes(i % 10 for i in range(40))
    pixels = b"".join(bytes(255 if row // 3 == label else 0 for row in range(28) for _ in range(28)) for label in labels)
    write_idx(os.path.join(folder, "train-images-idx3-ubyte"), (40, 28, 28), pixels)
    write_idx(os.path.join(folder, "train-labels-idx1-ubyte"), (40,), labels)
    answer = train("lenet", "--data", folder, "--batch", "20", "--steps", "60", "--warm-up", "0")
    expect(answer["accuracy"] > 0.8 and answer["last_loss"] < 0.5 * answer["first_loss"], "ten kinds of bars", answer["accuracy"], answer["last_loss"])
    slow = train("mlp", "--batch", "2", "--steps", "3", "--loader", "0.02")
    part = next(row for row in slow["stages"] if row["stage"] == "input")
    expect(part["median_ns"] >= 20e6, "the loader's time", part)
    write_idx(os.path.join(folder, "train-images-idx3-ubyte"), (41, 28, 28), pixels)
    for words, code, *wanted in ((("lenet", "--data", folder), 3, "train-images-idx3-ubyte", "32144", "31360"),
                                 (("lenet", "--data", "cats"), 2, "--data", "digits"), (("lenet", "--data", folder + "/no"), 3, "no/train-images"),
                                 (("lenet", "--loader", "-1"), 2, "--loader")):
        status, _, err = run("train", *words, "--threads", "1")
        expect_line(status, err, code, *wanted)
    write_idx(os.path.join(folder, "train-images-idx3-ubyte"), (40, 28, 28), pixels)
    status, _, err = run("train", "vgg16", "--data", folder, "--batch", "1", "--threads", "1")
    expect_line(status, err, 2, "--data", "28 x 28")


def test_referee(folder):
    """Another framework gets the network that we would train, and its times become an answer like ours."""
    stub, network = os.path.join(folder, "python"), os.path.join(folder, "network.json")
    with open(stub, "w", encoding="utf-8") as file:
        file.write(STUB % network)
    os.chmod(stub, 0o755)
    os.environ["PACELINE_PYTHON"] = stub
    answer = train("lenet", "--runner", "torch", "--ranks", "2", "--batch", "6", "--steps", "3")
    expect(answer["runner"] == "torch" and answer["software"] == "Stub 1", answer["runner"], answer["software"])
    expect(abs(answer["samples_per_s"] - 12 / 0.003) < 1e-6 and answer["step_ns"] == 3000000, answer["samples_per_s"], answer["step_ns"])
    expect([row["stage"] for row in answer["stages"]] == ["forward", "backward", "update"], answer["stages"])
    expect(answer["last_loss"] == 1.5 and answer["approach"] == "ddp over gloo", answer["last_loss"], answer["approach"])
    with open(network, encoding="utf-8") as file:
        layers = json.load(file)["layers"]
    first = next(layer for layer in layers if layer["kind"] == "conv")
    expect(first["options"]["out"] == 20 and first["options"]["kernel"] == first["options"]["kernel_width"] == 5, first)
    total = 0  # of what a framework makes of these options
    for layer in layers:
        wide = layers[layer["inputs"][0]]["channels"] if layer["inputs"] else 0
        options = layer["options"]
        if layer["kind"] == "conv":
            total += options["out"] * (wide * options["kernel"] * options["kernel_width"] + 1)
        if layer["kind"] == "linear":
            total += options["out"] * (wide + 1)
    expect(total == 431080, "Caffe's LeNet", total)
    for words, code, *wanted in ((("--runner", "caffe"), 2, "--runner", "torch"), (("--runner", "torch", "--approach", "grpc"), 2, "--approach", "torch")):
        status, _, err = run("train", "lenet", *words)
        expect_line(status, err, code, *wanted)
    entry = os.path.join(folder, "box.yaml")
    with open(entry, "w", encoding="utf-8") as file:
        file.write(ENTRY)
    live = ("validate", "--live", "--on", entry, "--runner")
    answer = json_of(*live, "torch", "--model", "lenet", "--batch", "4", "--runs", "2", "--steps", "3", "--ranks", "1", "--ranks", "2")
    strict_schema.hold(answer, "live")
    expect(answer["runner"] == "torch" and [row["measured_ns"] for row in answer["steps"]] == [3000000] * 2, answer["steps"])
    expect([row["approach"] for row in answer["steps"]] == [None, "ddp"], answer["steps"])
    expect(all(row["case"].startswith("train/live-torch-") for row in answer["figures"]), answer["figures"])
    for more, *wanted in ((("torch", "--ranks", "2", "--approach", "grpc"), "--approach", "torch"), (("caffe",), "--runner", "torch")):
        status, _, err = run(*live, *more)
        expect_line(status, err, 2, *wanted)
    with open(stub, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\necho paceline train: runner: PyTorch is not in here >&2\nexit 4\n")
    status, _, err = run("train", "lenet", "--runner", "torch")
    expect_line(status, err, 4, "PyTorch is not in here")
    with open(stub, "w", encoding="utf-8") as file:  # an interpreter without packages
        file.write(f"#!/bin/sh\nexec {sys.executable} -I -S \"$@\"\n")
    for runner, package in (("torch", "torch"), ("horovod", "torch"), ("tensorflow", "tensorflow-cpu")):
        status, _, err = run("train", "lenet", "--runner", runner)
        expect_line(status, err, 4, f"the package {package}", "PACELINE_PYTHON")
    del os.environ["PACELINE_PYTHON"]


def test_interrupted():
    """Ctrl-C ends a run after the present step: what was measured stays, and says so."""
    words = [PACELINE, "train", "mlp", "--batch", "4", "--steps", "1000000", "--warm-up", "1", "--threads", "1", "--format", "json"]
    ours, terminal = pty.openpty()
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=terminal, text=True) as running:
        os.close(terminal)
        said = b""
        while said.count(b"steps") < 4:  # each step that begins is told to a terminal
            said += os.read(ours, 4096)
        running.send_signal(signal.SIGINT)
        out, _ = running.communicate(timeout=120)
    os.close(ours)
    expect(running.returncode == 0, running.returncode, said)
    answer = json.loads(out)
    strict_schema.hold(answer, "train")
    expect(answer["stopped"] and 0 < answer["steps"] < 1000000, answer["steps"])
    expect([warning["code"] for warning in answer["warnings"]] == ["stopped_early"], answer["warnings"])
    words[words.index("--warm-up") + 1] = "1000000"  # stopped before a step counts: nothing was found, which is no wrong question
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        time.sleep(3)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=120)
    expect(running.returncode == 1 and not out and "stopped before the first step" in err, running.returncode, err)


def test_interrupted_anywhere():
    """A signal that comes while a kernel has moved the stack pointer harms nothing: it comes within a kernel in most runs."""
    words = [PACELINE, "train", "mlp", "--batch", "4", "--steps", "1000000", "--warm-up", "0", "--threads", "1", "--format", "json"]
    for attempt in range(24):
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
            time.sleep(0.2 + 0.01 * attempt)
            running.send_signal(signal.SIGINT)
            out, err = running.communicate(timeout=120)
        unbegun = running.returncode == -signal.SIGINT or (running.returncode == 1 and "stopped before" in err)
        expect(unbegun or (running.returncode == 0 and json.loads(out)["stopped"]), attempt, running.returncode, err)


def limited():
    """No further process, of a user whom that binds."""
    if os.geteuid() == 0:
        os.setuid(65534)
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))


def test_ranks_that_fail():
    """Ranks that cannot be started, whose status the caller hides, or whose options come late: never a run that is done."""
    words = [PACELINE, "train", "lenet", "--steps", "1", "--ranks", "2"]
    late = words + ["-q"] * 200 + ["--approach", "by-post"]
    for words, before, code, wanted in ((words, limited, 4, "no process can be started"), (late, None, 2, "by-post"),
                                        (late, lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN), 2, "by-post")):
        try:
            done = subprocess.run(words, preexec_fn=before, capture_output=True, text=True, timeout=120)
        except PermissionError:  # the program lies where that user cannot read
            continue
        expect_line(done.returncode, done.stderr, code, wanted)


def send(words, number, wait_s, before=None):
    with subprocess.Popen(words, preexec_fn=before, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        time.sleep(wait_s)
        running.send_signal(number)
        out, err = running.communicate(timeout=60)
    return running.returncode, out, err


def test_interrupted_ranks():
    """Several ranks are ended as one: by the signal, unless the caller has it ignored; an interrupt lets them finish their step, and
    their servers answer until then. One that comes before they have begun is no failure of a rank."""
    long = [PACELINE, "train", "lenet", "--batch", "4", "--ranks", "2", "--steps", "100000", "--format", "json"]
    for number in (signal.SIGTERM, signal.SIGHUP):
        code, out, _ = send(long, number, 3)
        expect(code == -number and not out, number, code, out[:200])
    code, out, err = send(long[:-4] + ["--steps", "1", "-f", "json"], signal.SIGHUP, 0.5, lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    expect(code == 0 and json.loads(out)["steps"] == 1, "nohup", code, err)
    for words in (long, long + ["--approach", "grpc"]):
        code, out, err = send(words, signal.SIGINT, 4)
        unbegun = code == 1 and "stopped before" in err
        expect(unbegun or (code == 0 and json.loads(out)["stopped"]) or "--approach" in err, words, code, err)
    for attempt in range(3):
        code, out, err = send(long, signal.SIGINT, 0.2 + 0.2 * attempt)
        expect(code in (0, 1, -signal.SIGINT), attempt, code, err)


def test_interrupt_before_ranks(folder):
    """An interrupt that mpirun drops, as it has no rank yet, is sent again. This mpirun drops the first."""
    mpirun, ready = os.path.join(folder, "mpirun"), os.path.join(folder, "ready")
    with open(mpirun, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\ncame=0\ntrap 'came=$((came + 1))' USR1\ntouch {ready}\nfor i in $(seq 600); do [ $came -lt 2 ] || exit 0; sleep 0.1; done\nexit 7\n")
    os.chmod(mpirun, 0o755)
    environment = dict(os.environ, PATH=folder + ":" + os.environ["PATH"])
    with subprocess.Popen([PACELINE, "train", "lenet", "--ranks", "2"], env=environment) as running:
        while not os.path.exists(ready):
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
    expect(running.returncode == 0, running.returncode)


def test_live_interrupted(folder):
    """Stopped before anything was measured there is no answer, which is no wrong question."""
    entry = os.path.join(folder, "stopped.yaml")
    with open(entry, "w", encoding="utf-8") as file:
        file.write(ENTRY)
    words = [PACELINE, "validate", "--live", "--on", entry, "--model", "lenet", "--batch", "4", "--runs", "1", "--steps", "100000"]
    code, _, err = send(words, signal.SIGINT, 1.5)
    expect_line(code, err, 1, "stopped before any step was trained")


def test_refused(folder):
    path = os.path.join(folder, "gnmt.yaml")
    for words, code, *wanted in (
        ((), 2, "model"),
        (("lenet", "vgg16"), 2, "one model"),
        (("nosuch",), 4, "nosuch"),
        (("gnmt",), 2, "layer", "lstm"),
        (("lenet", "--batch", "0"), 2, "--batch"),
        (("lenet", "--batch", "2.5"), 2, "--batch"),
        (("lenet", "--steps", "0"), 2, "--steps"),
        (("lenet", "--ranks", "2.5"), 2, "--ranks", "whole number"),
        (("lenet", "--ranks", "1e9"), 2, "--ranks", "4096"),
        (("lenet", "--ranks", "1e9", "--study", "scaling"), 2, "--ranks", "4096"),
        (("lenet", "--data", "cats"), 2, "--data", "digits"),
        (("vgg16", "--batch", "1", "--data", "digits"), 2, "28 x 28"),
        (("vgg16", "--batch", "32", "--memory", "1e9"), 1, "vgg16", "memory"),
        (("vgg16", "--batch", "32", "--memory", "1GB"), 1, "1.00 GB are there"),
        (("lenet", "--memory", "1GB/s"), 2, "--memory", "unit"),
        (("lenet", "--set", "tp=2"), 2, "tp", "no effect"),
        (("lenet", "--fusion", "1MiB"), 2, "--fusion", "no effect on one rank"),
        (("lenet", "--approach", "p2p", "--asynchronous"), 2, "no effect on p2p", "grpc"),
        (("lenet", "--approach", "grpc", "--fusion", "1MiB"), 2, "no effect on grpc", "mpi-opt"),
        (("lenet", "--approach", "by-post"), 2, "expected baidu-mpi"),
        (("lenet", "--set", "precision=fp16"), 2, "precision"),
        (("lenet", "--steps", "1", "--trace", os.path.join(folder, "no", "t.json")), 3, "t.json"),
        (("lenet", "--steps", "1", "--trace", os.path.join(folder, "t.html")), 2, "ends with .json"),
    ):
        status, out, err = run("train", *words, "--threads", "1")  # GCC's leak checker falls over waiting threads of OpenMP
        expect(not out, words, out)
        expect_line(status, err, code, *wanted)
    expect(not os.path.exists(path), path)
    environment = os.environ.get("PACELINE_MODULES")
    os.environ["PACELINE_MODULES"] = folder
    status, _, err = run("train", "lenet")
    expect_line(status, err, 4, "libdnnl-dev", "the folder that PACELINE_MODULES names has no such module")
    if environment is None:
        del os.environ["PACELINE_MODULES"]
    else:
        os.environ["PACELINE_MODULES"] = environment


test_learns()
test_optimizers()
test_same_seed()
test_interrupted()
test_interrupted_anywhere()
sanitizers = os.environ.get("ASAN_OPTIONS")
os.environ["ASAN_OPTIONS"] = (sanitizers or "") + ":detect_leaks=0"  # Open MPI leaks
test_ranks_that_fail()
test_interrupted_ranks()
os.environ.pop("ASAN_OPTIONS") if sanitizers is None else os.environ.update(ASAN_OPTIONS=sanitizers)
test_study()
with tempfile.TemporaryDirectory() as scratch:
    test_trace(scratch)
    test_live_interrupted(scratch)
    test_interrupt_before_ranks(scratch)
    test_models(scratch)
    test_memory(scratch)
    test_live(scratch)
    test_referee(scratch)
    test_files(scratch)
    test_refused(scratch)
finish()
