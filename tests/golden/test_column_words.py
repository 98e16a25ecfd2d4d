"""A table of steps may call its columns by any words of the field: the answer is that of the catalogue's own names."""
import csv
import os
import subprocess
import tempfile

PACELINE = os.environ["PACELINE"]
OWN = {"model": "llama3-8b", "device": "h100-80-sxm", "n_gpu": "16", "precision": "bf16", "seq": "4096", "micro_batch": "1", "global_batch": "64",
       "tp": "2", "gpus_per_node": "8"}
CALLED = {
    "seq": ("max_seq_length", "Max sequence length", "Seq. len", "Tokens per sample"),
    "n_gpu": ("GPUs used", "# of GPUs", "Num Devices", "Number of chips", "Total accelerators"),
    "device": ("Accelerator", "GPU model", "Device type"),
    "micro_batch": ("Microbatch size", "Batch size / GPU", "BS per GPU", "batch size per accelerator", "bs/gpu"),
    "global_batch": ("Global BS", "Total batch size", "Global train batch size"),
    "tp": ("Tensor parallelism", "TP degree", "tensor parallel ways"),
    "gpus_per_node": ("GPUs/node", "Accelerators per node"),
}
MEASURED = {
    "ms": ("Avg. time per iteration (ms)", "ms per training step", "Mean step time [ms]", "ms / it"),
    "s": ("avg sec / iteration", "Training step time (s)"),
    "tokens_per_s_per_gpu": ("Training throughput (tokens/sec/device)", "avg tok/s/GPU", "Tokens / second / accelerator"),
    "tokens_per_s": ("Training speed (tokens/s)", "Overall tokens/sec"),
    "samples_per_s": ("Avg images/sec", "Training throughput [img/sec]", "examples / second"),
    "samples_per_s_per_gpu": ("Images/sec per device", "img/s per GPU"),
}


def ask(row, *words):
    with tempfile.NamedTemporaryFile("w", suffix=".csv", newline="") as file:
        table = csv.DictWriter(file, row)
        table.writeheader()
        table.writerow(row)
        file.flush()
        done = subprocess.run([PACELINE, "predict", "--rows", file.name, *words], capture_output=True, text=True)
    assert done.returncode == 0, (row, done.stderr)
    assert "not read" not in done.stderr, (row, done.stderr)
    return next(csv.DictReader(done.stdout.splitlines()))


def renamed(key, name):
    return {name if one == key else one: value for one, value in OWN.items()}


def test_settings():
    wanted = ask({**OWN, "step_time_s": "5"}, "--kind", "step")
    for key, names in CALLED.items():
        for name in names:
            row = ask({**renamed(key, name), "step_time_s": "5"}, "--kind", "step")
            assert row["predicted"] == wanted["predicted"], (key, name, row, wanted)


def test_measured():
    for unit, names in MEASURED.items():
        for name in names:
            row = ask({**OWN, name: "400"}, "--kind", "step")
            assert row["unit"] == unit, (name, row)


def test_units_in_cells():
    """NVIDIA's tables have "Throughput" above "2915 images/sec"; a cell in another unit is no such rate, and is named."""
    plain = {"model": "resnet50", "device": "a100-80-sxm", "precision": "amp", "framework": "pytorch", "micro_batch": "256"}
    wanted = ask({**plain, "images/sec": "2915"}, "--kind", "step")
    for name, cell in (("Throughput", "2915 images/sec"), ("Training throughput", "2,915 img/s"), ("images/sec", "2915 img/s")):
        found = ask({**plain, name: cell}, "--kind", "step")
        assert (found["unit"], found["predicted"], found["status"]) == (wanted["unit"], wanted["predicted"], wanted["status"]), (name, found, wanted)
    assert 'unknown unit "epochs/day"' in ask({**plain, "images/sec": "12 epochs/day"}, "--kind", "step")["status"]
    assert 'images/sec: expected a rate above 0, found "12,5 images/sec"' in ask({**plain, "images/sec": "12,5 images/sec"}, "--kind", "step")["status"]
    gpt = {**plain, "model": "gpt2-medium", "micro_batch": "8"}
    assert ask({**gpt, "Throughput": "1.4k tok/s"}, "--kind", "step")["unit"] == "tokens_per_s"
    assert "not a time" not in ask({**gpt, "Step time": "13.1s"}, "--kind", "step")["status"]
    assert "expected a time above 0" in ask({**gpt, "Step time": "13.1 parsecs"}, "--kind", "step")["status"]


def test_systems_by_their_names():
    """A system is found by what tables call it, for steps as for exchanges."""
    row = {"model": "resnet50", "n_gpu": "8", "precision": "fp32", "framework": "pytorch", "micro_batch": "64", "step_time_s": "0.2"}
    named = ask({"system": "DGX-1V", **row}, "--kind", "step")
    assert named["predicted"] == ask({"system": "dgx-1-v100", **row}, "--kind", "step")["predicted"], named


def test_batch_size_alone():
    """One column "batch size" is each device's batch; beside layers that ranks share, all samples of a step (docs/step_rows.md).
    It is not both, though "total_batch_size" without "total" is its name."""
    shared = {"model": "llama2-7b", "device": "a100-80-sxm", "n_gpu": "64", "precision": "bf16", "tp": "8", "pp": "4"}
    each = {"model": "resnet50", "device": "v100-sxm2-16", "n_gpu": "8", "precision": "fp16"}
    for row, key, batch in ((each, "micro_batch", "32"), (shared, "global_batch", "512")):
        wanted = ask({**row, key: batch}, "--kind", "step")["predicted"]
        for name in ("batch_size", "Batch size", "batch"):
            found = ask({**row, name: batch}, "--kind", "step")
            assert found["predicted"] == wanted, (name, found, wanted)
            assert f"{name} taken for " + ("that of each device" if row is each else "the global batch") in found["status"], found


def test_other_words_stay_apart():
    """A step's number is no number of steps, a loss no time, and letters of units no sizes."""
    wanted = ask({**OWN, "step_time_s": "5"}, "--kind", "step")
    for name in ("Training (s)", "avg loss", "max memory (GB)", "iteration"):
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
            file.write(",".join([*OWN, "step_time_s", name]) + "\n" + ",".join([*OWN.values(), "5", "7"]) + "\n")
            file.flush()
            done = subprocess.run([PACELINE, "predict", "--rows", file.name, "--kind", "step"], capture_output=True, text=True)
        assert f"column {name} is not read" in done.stderr, (name, done.stderr)
        assert next(csv.DictReader(done.stdout.splitlines()))["predicted"] == wanted["predicted"], name


def test_kind_is_told():
    """"n" and "bs" are sizes of products too; a model and milliseconds of steps outweigh them."""
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        file.write("network,device,n,bs,ms/step\nbert-large,a100-40-sxm,1,32,150\n")
        file.flush()
        done = subprocess.run([PACELINE, "predict", "--rows", file.name], capture_output=True, text=True)
        fit = subprocess.run([PACELINE, "fit", file.name], capture_output=True, text=True)
    assert done.returncode == 0 and "read as --kind step" in done.stderr, done
    assert fit.returncode == 3 and "read as --kind step" in fit.stderr, fit  # one row is too few


def test_gpu_is_a_device():
    """A column "GPU" was also a number of them, so that the table was one of Megatron's, with full recomputation; and without a
    number of heads it was a table of attention."""
    row = {"Model": "BERT-Large", "Batch": "8", "Sequence Length": "128", "Latency (ms)": "12"}
    gpu, device = ask({"GPU": "A100", **row}), ask({"device": "A100", **row})
    assert gpu["predicted"] == device["predicted"] and "recomputation" not in gpu["status"] and "dp" not in gpu["status"], (gpu, device)


def test_a_size_alone():
    """"7B" on 4 stages: 35 layers of 4096 were assumed, which no released model has and stages cannot share."""
    for size, layers, hidden in (("7B", 32, 4096), ("13B", 40, 5120), ("70B", 80, 8192), ("350M", 24, 1024)):
        row = {**OWN, "model": "", "Model Size": size, "tp": "8", "n_gpu": "64", "step_time_s": "5"}
        sized, said = ask(row, "--kind", "step"), "assumed "
        assert said in sized["status"] and ", from the size" in sized["status"], sized
        name = sized["status"].split("assumed ")[1].split(",")[0]
        named = ask({**row, "Model Size": "", "model": name}, "--kind", "step")
        assert named["predicted"] == sized["predicted"], (named, sized)
        listed = subprocess.run([PACELINE, "models", name], capture_output=True, text=True)
        last = f"{layers - 1}." in listed.stdout and f"{layers}.attention" not in listed.stdout
        assert last and str(hidden) in listed.stdout, (name, listed.stdout[:2000])


def test_precision_unsaid():
    """Single precision is a guess on a device that is several times faster in half: the interval says so."""
    row = {"model": "bert-large", "device": "a100-40-sxm", "micro_batch": "32", "step_time_s": "1"}
    unsaid, said = ask(row, "--kind", "step"), ask({**row, "precision": "fp32"}, "--kind", "step")
    above = [float(one["high"]) / float(one["predicted"]) for one in (unsaid, said)] # the low end may be the device's peak
    assert unsaid["predicted"] == said["predicted"] and above[0] ** 2 > 3 * above[1] ** 2, (unsaid, said)


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
