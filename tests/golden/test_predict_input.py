"""What is no trace, no model and no table: one line on stderr, the status it deserves, and nothing good lost."""
import gzip
import json
import os
import re
import subprocess
import tempfile

PACELINE = os.environ["PACELINE"]
SHARED = os.environ.get("PACELINE_SHARED", "")
SOURCE = os.environ.get("PACELINE_SOURCE", ".")
DEMO = os.path.join(SOURCE, "tests", "data", "demo.json.gz")
ROWS = "device,m,n,k,latency_us\n" + "".join(f"a100-40-sxm,{64 << i % 5},{64 << i % 3},{64 + i},{5 + i % 5 * 3}\n" for i in range(30))


def run(*words, **more):
    return subprocess.run([PACELINE, *words], capture_output=True, text=True, **more)


def refuse(status, said, *words, **more):
    done = run(*words, **more)
    assert done.returncode == status, (words, done.returncode, done.stderr)
    lines = [line for line in done.stderr.splitlines() if "warning:" not in line]
    assert len(lines) == 1 and said in lines[0] and not done.stdout, (words, done.stderr)


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    return path


def event(**more):
    return dict({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 5, "dur": 0, "args": {"device": 0, "stream": 7}}, **more)


def node(number, parent):
    return {"id": number, "name": "aten::mm", "ctrl_deps": parent, "inputs": {"values": [], "shapes": [], "types": []},
            "outputs": {"values": [], "shapes": [], "types": []}, "attrs": []}


def graph(*nodes, schema="1.0.2-chakra.0.0.4"):
    return json.dumps({"schema": schema, "nodes": nodes})


def check_files(folder):
    with open(DEMO, "rb") as file:
        demo = file.read()
    cases = (("empty.json", "", "is empty"), ("cut.json.gz", demo[:5], "breaks off"),
             ("null.json", "null", "traceEvents"), ("none.json", '{"traceEvents":[]}', "empty list"),
             ("still.json", json.dumps({"traceEvents": [event()]}), "expected a step that takes time"),
             ("cycle.json", graph(node(2, 3), node(3, 2)), "node 2"), ("twice.json", graph(node(2, 1), node(2, 1)), "id 2"),
             ("future.json", graph(node(2, 1), schema="9.9.9"), '"9.9.9"'), ("hollow.json", graph(), "empty list"),
             ("list.yaml", "- a\n", "list.yaml:1:1: expected a map"), ("other.yaml", "a: b\n", '"a" of a model: expected family'),
             ("nameless.yaml", "about: b\n", '"family" or "variants"'),
             ("broken.yaml", "a: [1,\n", "not valid YAML"), ("empty.onnx", "", "the file is empty"),
             ("empty.et", "", "is empty"))
    for name, text, said in cases:
        path = write(folder, name, text)
        refuse(3, said, "predict", path, *([] if name == "still.json" else ["--on", "a100-40-sxm"]))
    refuse(3, "is a directory".capitalize(), "fit", folder)
    refuse(3, "No such file", "predict", os.path.join(folder, "nosuch.json"))


def check_kinds(folder):
    """Inputs of several kinds are not mixed."""
    trace = write(folder, "graph.json", graph(node(2, 1)))
    refuse(2, "paceline predict: expected traces or one model", "predict", "lenet", DEMO, "--on", "a100-40-sxm")
    refuse(2, "name the device", "predict", trace)
    refuse(2, "'resnet18' is read as a model", "predict", DEMO, "resnet18")
    refuse(2, "model found in it", "predict", DEMO, "--set", "micro_batch=2")
    refuse(2, "--rows: expected no other input", "predict", "--rows", "-", DEMO, input="")


def check_sizes():
    """What no machine could hold or finish is refused, soon and by name."""
    on = ["--on", "a100-40-sxm", "--set"]
    refuse(2, "from 1 to 2147483648", "predict", "lenet", *on, "micro_batch=1e12")
    refuse(2, "from 1 to 2147483648", "predict", "lenet", *on, "micro_batch=0")
    refuse(3, "at most 1048576 micro-batches", "predict", "resnet18", *on, "global_batch=2147483648")
    refuse(3, "expected less than", "predict", "gpt2", *on, "sequence=2147483648")
    refuse(3, "multiply-adds", "models", "gpt2", "--set", "sequence=1e9")


def check_words():
    """A name that is nearly right is understood; no line is wider than a page, whatever is asked."""
    for name in ("GPT2", "gpt-2"):
        understood = run("models", name)
        assert understood.returncode == 0 and understood.stdout == run("models", "gpt2").stdout, understood
    # A name of the same family is nearer than one that shares a longer part ("t5-small").
    refuse(4, 'the closest name is "dlrm_', "models", "dlrm_small")
    for name in ("GPT2zz", "gpt-2-zz"):
        refuse(4, 'the closest name is "gpt2"', "models", name)
    done = run("predict", "lenet", "--on", "v100-sxm2-16", "--scale", "x" * 1000 + ":2")
    helped = run("predict", "--help").stdout
    assert done.returncode == 0 and helped, done
    assert max(map(len, (done.stdout + helped).splitlines())) <= 100, done.stdout


def check_intervals(folder):
    """Also around a step of a few nanoseconds, and of a what-if that leaves nothing."""
    short = write(folder, "short.json", json.dumps({"traceEvents": [event(dur=0.003)]}))
    for scenario in json.loads(run("predict", short, "-f", "json").stdout)["scenarios"]:
        assert scenario["low_ns"] < scenario["step_ns"] < scenario["high_ns"], scenario
    done = run("predict", short, "--scale", ".:0")
    assert done.returncode == 0 and "inf" not in done.stdout and "nan" not in done.stdout, done.stdout


def check_inputs_stay(folder):
    """Nothing that is read is written over."""
    rows = write(folder, "rows.csv", ROWS)
    refuse(2, "is an input", "fit", rows, "-o", rows)
    refuse(2, "is an input", "predict", "--rows", rows, "-o", rows)
    trace = write(folder, "trace.json", gzip.decompress(open(DEMO, "rb").read()))
    refuse(2, "is an input", "predict", trace, "-o", trace)
    fit = os.path.join(folder, "fit.json")
    assert run("fit", rows, "-o", fit).returncode == 0
    refuse(2, "is an input", "predict", "--rows", rows, "--fit", fit, "-o", fit)
    assert open(rows).read() == ROWS and run("predict", "--rows", rows, "--fit", fit).returncode == 0
    refuse(2, "--split: expected", "fit", rows, "--split", "")
    refuse(2, "--split: no column", "fit", rows, "--split", ",")
    for words in (["fit", rows, "-o"], ["predict", "lenet", "--on", "v100-sxm2-16", "-o"]):
        before = sorted(os.listdir(folder))
        refuse(3, "cannot be created", *words, os.path.join(folder, "nosuch", "x.json"))
        assert sorted(os.listdir(folder)) == before


def check_unknown_groups():
    """An older execution trace does not say how many ranks exchange: all of a machine do, and a lone device cannot."""
    trace = os.path.join(SHARED, "chakra", "small.et_schema1.0.2.json.gz")
    if not os.path.exists(trace):
        return
    refuse(4, "name a machine", "predict", trace, "--on", "a100-40-sxm")
    for scenario in json.loads(run("predict", trace, "--on", "dgx-h100", "-f", "json").stdout)["scenarios"]:
        assert scenario["low_ns"] < scenario["step_ns"] < scenario["high_ns"], scenario


def working(number, name, shapes):
    """An operator on device tensors of single precision, in the layout of schema 1.0.2."""
    tensors = [[10 * number + i, 10 * number + i, 0, len(shape) and shape[0] * shape[-1], 4, "cuda:0"] for i, shape in enumerate(shapes)]
    return {"id": number, "name": name, "ctrl_deps": 1, "outputs": {"values": [], "shapes": [], "types": []},
            "inputs": {"values": tensors, "shapes": shapes, "types": ["Tensor(float)"] * len(shapes)},
            "attrs": [{"name": "op_schema", "type": "string", "value": name + "(Tensor a) -> Tensor"}]}


def check_unknown_operators(folder):
    """What nothing but tensors is known of takes their bytes at 0.6 of the memory's rate and a small kernel's time (90 % within a
    factor of e^1.645); of what not even that is known the usual kernel. Both are said."""
    tensors_s, usual_s = 4e-6 + 2 * 4096 * 4096 * 4 / (0.6 * 1555e9), 9e-6
    chakra = {"workload_graph": [{"Id": 1, "Name": "riddle", "NodeType": 4, "ctrlDeps": [], "data_deps": [], "is_cpu_op": False}]}
    for name, text, seconds, spread, of_tensors in (
            ("aten::frobnicate", graph(working(2, "aten::frobnicate", [[4096, 4096], [4096, 4096]])), tensors_s, 1, 1),
            ("riddle", json.dumps(chakra), usual_s, 1.8, 0)):
        done = run("predict", write(folder, "unknown.json", text), "--on", "a100-40-sxm", "-f", "json")
        assert done.returncode == 0, done.stderr
        document = json.loads(done.stdout)
        (family,) = [f for f in document["families"] if f["launches"]]
        assert (family["family"], family["launches"], family["unknown"], family["roofline"]) == ("unknown", 1, 1, 1), family
        assert abs(family["kernel_ns"] / 1e9 / seconds - 1) < 1e-3 and abs(family["spread"] - spread) < 1e-6, (family, seconds)
        assert document["unknown_operators"] == [{"operator": name, "calls": 1}], document["unknown_operators"]
        said = f"1 kernels, 100.0 % of the kernel time, belong to operators of unknown work (most often {name}): {of_tensors} are"
        assert any(said in note for note in document["notes"]), document["notes"]


def check_standard_input(folder):
    """What comes in on standard input is told by its content, as a file is; only the name differs."""
    chakra = json.dumps({"workload_graph": [{"Id": 1, "Name": "riddle", "NodeType": 4, "ctrlDeps": [], "data_deps": [], "is_cpu_op": False}]})
    with open(DEMO, "rb") as file:
        demo = file.read()
    with open(os.path.join(SOURCE, "catalog", "models", "lenet.yaml"), "rb") as file:
        model = file.read()
    kinds = {"graph.json": graph(node(2, 1), working(3, "aten::relu", [[64, 64]])).encode(), "chakra.json": chakra.encode(), "trace.json.gz": demo,
             "lenet.yaml": model, "packed.json.gz": gzip.compress(chakra.encode())}
    protobuf = os.path.join(SHARED, "chakra", "feeder_test.chakra.0.et.gz")
    if os.path.exists(protobuf):
        with open(protobuf, "rb") as file:
            kinds["node.et.gz"] = file.read()
    for name, text in kinds.items():
        words = ["--on", "a100-40-sxm", "-f", "json"]
        of_file = json.loads(run("predict", write(folder, name, text), *words).stdout)
        piped = subprocess.run([PACELINE, "predict", "-", *words], input=text, capture_output=True)
        assert piped.returncode == 0, (name, piped.stderr)
        assert json.loads(piped.stdout)["scenarios"] == of_file["scenarios"], name
    for text, said in ((b"hello", "expected a JSON value"), (b"", "the end of the input"), (demo[:5], "breaks off"), (b"- a\n", "byte 1: expected a number"), (b"family: f\nlayers: 3\n", "a model needs the text")):
        done = subprocess.run([PACELINE, "predict", "-", "--on", "a100-40-sxm"], input=text, capture_output=True)
        assert done.returncode == 3 and done.stderr.count(b"\n") == 1 and said in done.stderr.decode(), (text[:9], done.stderr)


def check_both_recordings(folder):
    """A trace and the graph of its run, in either order: the trace is read, the graph left out with a word."""
    other = write(folder, "beside.json", graph(node(2, 1)))
    alone = json.loads(run("predict", DEMO, "-f", "json").stdout)["scenarios"]
    for words in ([DEMO, other], [other, DEMO]):
        done = run("predict", *words, "-f", "json")
        assert done.returncode == 0 and "beside.json: has no times, and is left out" in done.stderr, (words, done.stderr)
        assert json.loads(done.stdout)["scenarios"] == alone, words


def check_cut_table(folder):
    cut = gzip.compress(("m,n,k,latency_us\n" + "".join(f"{i},{i * 7919 % 1000},{i * 104729 % 1000},5\n" for i in range(1, 9999))).encode())[:20000]
    refuse(3, "byte 20000 of the compressed file: the gzip stream breaks off in line ", "fit", write(folder, "cut.csv.gz", cut))
    refuse(2, "expected REGEX:FACTOR", "predict", DEMO, "--scale", "kernel=:2")


def check_cpu(folder):
    """A CPU needs no fit, but figures; its operators do their work one after the other, and nothing is copied to it."""
    refuse(4, "paceline calibrate --quick", "predict", "lenet", "--on", "cpu")
    refuse(4, "paceline calibrate --quick", "predict", "--rows", "-", "--on", "cpu", input="m,n,k\n1,1,1\n")
    refuse(2, "two calls", "predict", "lenet", "--on", "epyc-zen5-1t", "--on", "a100-40-sxm")
    document = json.loads(run("predict", "resnet18", "--on", "epyc-zen5-1t", "--set", "micro_batch=8", "-f", "json").stdout)
    (step,), kernels = document["scenarios"], {f["family"]: f["kernel_ns"] for f in document["families"]}
    assert kernels.get("transfer", 0) == 0 and kernels["convolution"] > 8 * 3 * 2 * 1.7e9 / 2.36e11 * 1e9 * 0.4, kernels  # 1.8 G multiply-adds a picture, Winograd
    assert sum(kernels.values()) <= step["step_ns"] and step["high_ns"] > 1.5 * step["low_ns"], (kernels, step)
    own = write(folder, "box.yaml", "devices:\n  - {name: box, vendor: v, kind: cpu, flop_per_s: {fp32: 1e11}, memory_bytes_per_s: 2e10, source: t}\n")
    assert run("predict", "lenet", "--on", own).returncode == 0
    refuse(3, 'expected the kind "cpu"', "predict", "lenet", "--on", write(folder, "odd.yaml", "devices:\n  - {name: box, vendor: v, kind: toaster, source: t}\n"))


def check_full_pipe():
    """A reader that goes away is an error, not a crash."""
    done = subprocess.Popen([PACELINE, "predict", "lenet", "--on", "v100-sxm2-16", "-f", "perfetto"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    done.stdout.close()
    said = done.stderr.read().decode()
    assert done.wait() in (141, -13) and "Sanitizer" not in said, (done.returncode, said)


def check_machine_files(folder):
    """What is wrong in a file is said of that file, whichever of its two kinds it is; devices of a file are joined as the catalogue's."""
    box = ("machines:\n  - {name: mybox, device: a100-80-sxm, devices: 8, nics: 4, launch_s: 1e-5, source: s, confidence: low,\n"
           "     inside: {kind: nvlink, bytes_per_s: 3e11, efficiency: 0.8, latency_s: 3e-6},\n"
           "     between: {kind: infiniband, bytes_per_s: 2.5e10, efficiency: 0.85, latency_s: 5e-6}}\n")
    faults = (("nics", "nicz", 'unknown key "nicz"'), ("devices: 8", "devices: eight", 'found "eight"'), ("kind: nvlink", "kind: nvlnk", 'found "nvlnk"'),
              ("machines", "machine", 'expected a list "machines" or "devices"'), ("devices: 8,", "", "expected 1 to 4096 devices"))
    for right, wrong, said in faults:
        path = write(folder, "faulty.yaml", box.replace(right, wrong))
        for words in (("predict", "lenet", "--on", path), ("machines", path), ("predict", "--kind", "exchange", "--bytes", "1M", "--on", path)):
            refuse(3, said, *words)
    refuse(2, "has no unit", "predict", "lenet", "--on", "dgx-a100 pcie=20")
    card = write(folder, "card.yaml", "devices:\n  - {name: card, vendor: NVIDIA, generation: 80, flop_per_s: {fp32: 1.95e13}, memory_bytes: 8e10,\n"
                 "     memory_bytes_per_s: 2e12, source: t}\n")
    exchange = [json.loads(run("predict", "--kind", "exchange", "--bytes", "1M,64M", "-f", "json", "--on", on + "*4 pcie=20GB/s nodes=2 net=100Gb/s").stdout)
                for on in (card, card + ":card", "a100")]
    assert exchange[0]["sizes"] == exchange[1]["sizes"] == exchange[2]["sizes"] and exchange[0]["ranks"] == 8, exchange
    assert run("predict", "lenet", "--on", card + "*2 pcie=20GB/s").returncode == 0
    refuse(2, "not connected", "predict", "lenet", "--on", card + "*2")
    huge = write(folder, "huge.yaml", "#" * 17 * 1024 * 1024)  # the reader's limit is no step of too many launches
    for words in (("predict", "lenet", "--on", huge), ("plan", "lenet", "--on", huge), ("machines", huge), ("predict", "lenet", "--on", "a100", "--from", huge)):
        refuse(3 if "--from" not in words else 2, "16 MiB" if "--from" not in words else "--from", *words)


def check_what_if_memory():
    """A model's what-ifs are held against the device's memory. At least: 16 bytes a parameter with Adam; images and the output of the first convolution."""
    for least, has, words in ((16 * 8.03e9, 16e9, ("llama3-8b", "--on", "b200", "--on", "v100-sxm2-16")),
                              (1e5 * 4 * 224 * 224 * (3 + 64), 80e9, ("vgg16", "--on", "h100", "--batch", "100000"))):
        done = run("predict", *words, "-f", "json")
        said = [w["text"] for w in json.loads(done.stdout)["warnings"] if w["code"] == "does_not_fit"]
        assert done.returncode == 1 and len(said) == 1, (words, done.returncode, said)
        need, unit = re.search(r"needs about ([\d.]+) ([GT])B", said[0]).groups()
        assert float(need) * {"G": 1e9, "T": 1e12}[unit] > least > has, (words, said)
    assert run("predict", "vgg16", "--on", "h100", "--batch", "64").returncode == 0


def main():
    with tempfile.TemporaryDirectory(prefix="paceline-predict-") as folder:
        check_files(folder)
        check_machine_files(folder)
        check_kinds(folder)
        check_sizes()
        check_intervals(folder)
        check_inputs_stay(folder)
        check_unknown_operators(folder)
        check_standard_input(folder)
        check_cpu(folder)
        check_both_recordings(folder)
        check_cut_table(folder)
    check_words()
    check_what_if_memory()
    check_unknown_groups()
    check_full_pipe()


if __name__ == "__main__":
    main()
