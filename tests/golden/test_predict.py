"""`paceline predict` against what must hold whatever the numbers are; how near it comes to measured steps, accuracy/cases.yaml says.
The reference traces are other people's and not shipped.
"""
import gzip
import json
import os
import subprocess
import tempfile

PACELINE = os.environ["PACELINE"]
SHARED = os.environ.get("PACELINE_SHARED", "")
SOURCE = os.environ.get("PACELINE_SOURCE", ".")
DEMO = os.path.join(SOURCE, "tests", "data", "demo.json.gz")


def predict(*words):
    done = subprocess.run([PACELINE, "predict", "-f", "json", *words], capture_output=True)
    assert done.returncode == 0, (words, done.stderr.decode())
    return json.loads(done.stdout)


def scenarios(*words):
    return {s["scenario"]: s for s in predict(*words)["scenarios"]}


def check_scenarios(trace):
    """What no numbers can change: leaving a thing out never slows a step down, a factor of one changes nothing."""
    plain = scenarios(trace, "--scale", ".:1", "--drop-overhead", "all", "--graph")
    as_it_is = plain["as it is"]
    assert plain["scale .:1"]["step_ns"] == as_it_is["step_ns"], plain
    assert plain["without overhead all"]["step_ns"] <= as_it_is["step_ns"], plain
    assert plain["as one device graph"]["step_ns"] <= as_it_is["step_ns"], plain
    for s in plain.values():
        assert s["low_ns"] < s["step_ns"] < s["high_ns"], s
    # what the host no longer does, or does once, makes no kernel another one
    bound = {name: s["compute_ns"] / (s["compute_ns"] + s["memory_ns"]) for name, s in plain.items()}
    assert max(bound.values()) - min(bound.values()) <= 0.01, bound


def operators_around(trace, kernel):
    """Names of all recorded host ranges around the calls that launch a kernel, found by correlation and by time."""
    with gzip.open(trace) as file:
        events = [e for e in json.load(file)["traceEvents"] if e.get("ph") == "X"]
    calls = {e["args"]["correlation"]: e for e in events if e["cat"].lower() in ("runtime", "cuda_runtime")}
    launches = [calls[e["args"]["correlation"]] for e in events if e["name"] == kernel]
    assert launches, kernel
    return {e["name"] for e in events if e["cat"].lower() in ("operator", "cpu_op")
            for call in launches if e["tid"] == call["tid"] and e["ts"] <= call["ts"] <= e["ts"] + e["dur"]}


def check_operators(trace):
    """What the host no longer does, or does once for all kernels, makes a kernel no other operator's."""
    for words in (["--drop-overhead", "all"], ["--graph"]):
        lead = predict(trace, *words)["lead"]
        assert lead["around"] in operators_around(trace, lead["name"]), (words, lead)


def check_precision_of_others(trace):
    """A precision that the recording's device lacks (a V100 has no bfloat16) is asked about on the device that has it alone."""
    answer = predict(trace, "--on", "h100-80-sxm", "--precision", "bf16")
    assert [s["scenario"] for s in answer["scenarios"]] == ["as it is", "on h100-80-sxm", "all together"], answer["scenarios"]
    assert answer["scenarios"][2]["step_ns"] <= answer["scenarios"][1]["step_ns"], answer["scenarios"]
    assert any(w["code"] == "what_if_joined" and "v100" in w["text"] for w in answer["warnings"]), answer["warnings"]
    for words in (["--precision", "bf16"], ["--on", "p100-pcie-16", "--precision", "bf16"]):
        done = subprocess.run([PACELINE, "predict", trace, *words], capture_output=True, text=True)
        assert done.returncode == 2 and "no rate for bf16" in done.stderr, (words, done)


def check_devices(trace):
    """A device that is better at everything is not slower; the same device changes nothing."""
    moved = scenarios(trace, "--on", "a100-40-sxm", "--on", "h100-80-sxm", "--from", "a100-40-sxm")
    assert moved["on a100-40-sxm"]["step_ns"] == moved["as it is"]["step_ns"], moved
    assert moved["on h100-80-sxm"]["step_ns"] <= moved["as it is"]["step_ns"], moved


def check_what_ifs(trace):
    """As many samples as there are, and the precision there is, change nothing; what is fused saves time."""
    samples = next(e["samples"] for e in predict(trace, "--batch", "1")["edits"] if e["samples"])
    few, many = f"batch {3 * samples}", f"batch {6 * samples}"
    plain = scenarios(trace, "--batch", str(3 * samples), "--batch", str(6 * samples), "--fuse", ".")
    same = scenarios(trace, "--batch", str(samples), "--precision", "fp16")
    for s in same.values():
        assert s["step_ns"] == plain["as it is"]["step_ns"], same
    assert busy(plain["as it is"]) < busy(plain[few]) < busy(plain[many]), plain
    assert busy(plain["fuse ."]) < busy(plain["as it is"]), plain
    assert width(plain[many]) > width(plain["as it is"]), plain
    both = scenarios(trace, "--batch", "8", "--precision", "bf16", "--graph")["all together"]
    turned = scenarios(trace, "--graph", "--precision", "bf16", "--batch", "8")["all together"]
    assert both == turned, (both, turned)


def width(scenario):
    return scenario["high_ns"] / scenario["low_ns"]


def busy(scenario):
    return scenario["compute_ns"] + scenario["memory_ns"] + scenario["exposed_ns"]


def check_moved_host():
    """A step of the host alone runs on a device with its operators as kernels: the faster one is not slower."""
    moved = scenarios(DEMO, "--on", "v100-sxm2-16", "--on", "h100-80-sxm")
    assert busy(moved["on h100-80-sxm"]) < busy(moved["on v100-sxm2-16"]), moved
    for s in moved.values():
        assert s["low_ns"] < s["step_ns"] < s["high_ns"], s


def check_refusals():
    for words, status in (([DEMO, "--graph"], 3), ([DEMO, "--batch", "0"], 2), ([DEMO, "--batch", "two"], 2), ([DEMO, "--batch", "1.5"], 2),
                          ([DEMO, "--samples", "-1"], 2), ([DEMO, "--precision", "fp4"], 2), ([DEMO, "--fuse", "("], 2),
                          ([DEMO, "--fuse-tables"], 3), ([DEMO, "--balance-tables"], 3), ([DEMO, "--scale", "gemm"], 2), ([DEMO, "--scale", "(:2"], 2),
                          ([DEMO, "--scale", "a:-1"], 2), ([DEMO, "--drop-overhead", "T9"], 2), ([], 2),
                          ([os.path.join(SOURCE, "README.md")], 3), (["resnet50"], 2),
                          (["resnet5O", "--on", "a100"], 4), (["resnet50", "--on", "a100", "--set", "micro_batch"], 2),
                          (["resnet50", "--on", "a100", "--set", "nosuch=3"], 2),
                          (["resnet50", "vgg16", "--on", "a100"], 2)):
        done = subprocess.run([PACELINE, "predict", *words], capture_output=True, text=True)
        assert done.returncode == status, (words, done.returncode, done.stderr)
        assert len(done.stderr.strip().splitlines()) == 1 and not done.stdout, (words, done.stderr)


def check_models():
    """Steps without times: more samples or a slower device take no less, a captured graph no more."""
    one = scenarios("resnet50", "--on", "v100-sxm2-16", "--on", "h100-80-sxm", "--graph", "--set", "micro_batch=32")
    two = scenarios("resnet50", "--on", "v100-sxm2-16", "--set", "micro_batch=64")
    name = "on v100-sxm2-16"
    assert one[name]["step_ns"] < two[name]["step_ns"] <= 2.2 * one[name]["step_ns"], (one, two)
    assert one["on h100-80-sxm"]["step_ns"] < one[name]["step_ns"], one
    assert one["as one device graph"]["step_ns"] <= one[name]["step_ns"], one
    small = scenarios("lenet", "--on", "v100-sxm2-16", "--graph", "--set", "micro_batch=1")
    assert small["as one device graph"]["step_ns"] < small[name]["step_ns"], small
    # Lowered as captured, its steps end where its work does: the closed form, which the answer is checked with, says so too.
    captured = scenarios("lenet", "--on", "v100-sxm2-16", "--set", "execution=graph", "--set", "micro_batch=1")
    assert captured[name]["step_ns"] < small[name]["step_ns"], (captured, small)


def check_free_host():
    """No step gets slower where its host costs nothing: then it takes what its device does, as captured, but for its launch."""
    for model, *settings in (("lenet", "micro_batch=1"), ("resnet50", "micro_batch=8"), ("gpt2", "micro_batch=1", "precision=fp16"),
                             ("dlrm_default", "micro_batch=2048"), ("mobilenet", "micro_batch=4")):
        words = [model, "--on", "v100-sxm2-16", *(word for one in settings for word in ("--set", one))]
        every = [word for kind in ("all", "T1", "T2", "T3", "T4", "T5") for word in ("--drop-overhead", kind)]
        found = scenarios(*words, *every, "--graph")
        plain = found["on v100-sxm2-16"]["step_ns"]
        for name, scenario in found.items():
            assert scenario["step_ns"] <= plain, (model, name, scenario["step_ns"], plain)
        free, captured = found["without overhead all"]["step_ns"], found["as one device graph"]["step_ns"]
        assert abs(free / captured - 1) < 0.05, (model, free, captured)


def check_ranks_that_exchange():
    """Data parallel: gradients take time, less over faster links, and a device alone cannot say how much."""
    words = ["--set", "dp=8", "--set", "precision=bf16", "--set", "micro_batch=4"]
    alone = scenarios("gpt2", "--on", "h100", "--set", "precision=bf16", "--set", "micro_batch=4")
    joined = scenarios("gpt2", "--on", "dgx-h100", "--on", "h100-80-sxm*8 nvlink=10GB/s", *words)
    slow = joined["on h100-80-sxm*8 nvlink=10GB/s"]
    assert alone["on h100"]["step_ns"] < joined["on dgx-h100"]["step_ns"] < slow["step_ns"], (alone, joined)
    assert slow["exposed_ns"] >= 2 * 7 / 8 * 124e6 * 2 / 10e9 * 1e9 * 0.5, slow  # most of 2 (n - 1) / n S / B
    done = subprocess.run([PACELINE, "predict", "gpt2", "--on", "h100-80-sxm memory=3TB/s", *words], capture_output=True, text=True)
    assert done.returncode == 4 and "name a machine" in done.stderr, done


def check_matrix():
    """Where the time of a predicted step goes adds up to the step, also of a pipeline whose first step fills it."""
    for words in (["gpt2", "--on", "a100-80-sxm"], ["gpt2", "--on", "dgx-h100", "--set", "dp=8,precision=bf16"],
                  ["gpt2", "--on", "dgx-h100", "--set", "pp=4,dp=2,micro_batch=4,global_batch=64,precision=bf16"],
                  ["gpt2", "--on", "dgx-h100", "--set", "pp=2,vpp=3,tp=2,dp=2,micro_batch=4,global_batch=64,precision=bf16"]):
        answer = predict(*words)
        parts, step = sum(ns for row in answer["matrix"].values() for ns in row.values()), answer["scenarios"][0]["step_ns"]
        assert abs(parts / step - 1) <= 1e-6, (words, parts, step)


def check_timeline():
    """The predicted timeline, written as a trace and read back: the same step, stage by stage, captured or not."""
    for words in ([], ["--graph"]):
        words = ["resnet18", "--on", "v100-sxm2-16", "--set", "micro_batch=64", *words]
        matrix = predict(*words)["matrix"]
        trace = subprocess.run([PACELINE, "predict", "-f", "perfetto", *words], capture_output=True, check=True).stdout
        again = json.loads(subprocess.run([PACELINE, "analyze", "-f", "json", "-"], input=trace, capture_output=True, check=True).stdout)
        total = sum(sum(row.values()) for row in matrix.values())
        assert 0 < sum(matrix["forward"].values()) < sum(matrix["backward"].values()) < total, matrix
        steps = [step["device_ns"] for step in again["step_matrices"]]
        assert abs(steps[-1] - total) <= 1000, (matrix, steps)  # the one that has settled


def generated(folder):
    """A generated trace with device work, of three steps."""
    path = os.path.join(folder, "trace.json")
    with open(path, "wb") as file:
        subprocess.run([os.environ["MAKE_TRACE"], "--steps", "3", "--layers", "12", "--compact"], stdout=file, check=True)
    return path


def check_nothing_matched(trace):
    """A what-if that finds nothing to change says so, on stderr and in the report; one that does is silent."""
    for words, said in ((["--scale", "kernel=nosuch:0.5"], "no kernel or launching operator"), (["--fuse", "nosuch"], "no two matching element-wise kernels")):
        done = subprocess.run([PACELINE, "predict", trace, *words, "-f", "json"], capture_output=True, text=True, check=True)
        document = json.loads(done.stdout)
        assert done.stderr.count("warning:") == 1 and said in done.stderr and any(said in w["text"] for w in document["warnings"]), (words, done.stderr)
        steps = {s["step_ns"] for s in document["scenarios"]}
        assert len(steps) == 1, document["scenarios"]
    kernels = predict(trace, "--scale", ".:0.5")
    assert not kernels["warnings"] and kernels["edits"][1]["scaled_kernels"] == kernels["edits"][1]["launches"], kernels["edits"]
    bare = {"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 5, "dur": 3, "args": {"device": 0, "stream": 7}}]}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:  # no host, hence no overhead
        file.write(json.dumps(bare))
        file.flush()
        assert any("no overhead of that type" in w["text"] for w in predict(file.name, "--drop-overhead", "T2")["warnings"])


def check_small_gain(trace):
    """A change that is smaller than what the replay misses of the recording is said to be so; a larger one, or one of a replay that misses nothing, is not."""
    for factor, small in (("0.98", True), ("0.5", False)):
        document = predict(trace, "--scale", f".:{factor}")
        steps = [s["step_ns"] for s in document["scenarios"]]
        missed = abs(document["step"]["walk_error"])
        assert (1 - steps[1] / steps[0] < missed) == small, (factor, steps, missed)
        assert ("less than the replay is off by" in document["summary"][1]) == small, document["summary"]


def check_device_to_cpu(trace):
    """On a CPU an operator returns when its work is done: a step takes at least the sum of its kernels, but for copies to a device."""
    document = predict(trace, "--from", "a100-40-sxm", "--on", "epyc-zen5-1t")
    families = {f["family"]: f["kernel_ns"] for f in document["families"]}
    step = next(s for s in document["scenarios"] if s["scenario"] == "on epyc-zen5-1t")["step_ns"]
    assert document["host_costs"]["source"] == "measured" and families.get("transfer", 0) == 0, document["host_costs"]
    assert 3 * step >= 0.999 * sum(families.values()) > 0, (step, families)
    done = subprocess.run([PACELINE, "predict", trace, "--from", "a100-40-sxm", "--on", "epyc-zen5-1t", "--on", "h100-80-sxm"], capture_output=True, text=True)
    assert done.returncode == 2 and "two calls" in done.stderr, done


def check_no_replay():
    """A step whose replay is nowhere near it (its host works on a thread without marks; a first use counts as each use) is refused."""
    for trace in ("kineto/edge_triton_kernel", "chakra/pair_simple_add_A100.kineto"):
        done = subprocess.run([PACELINE, "predict", os.path.join(SHARED, trace + ".json.gz"), "--graph"], capture_output=True, text=True)
        assert done.returncode == 3 and not done.stdout and "what it would be otherwise cannot be said" in done.stderr, done


def check_unknown_device(trace):
    done = subprocess.run([PACELINE, "predict", trace, "--on", "nosuch"], capture_output=True, text=True)
    assert done.returncode == 4 and "nosuch" in done.stderr and not done.stdout, done


def main():
    check_refusals()
    check_models()
    check_free_host()
    check_matrix()
    check_timeline()
    check_ranks_that_exchange()
    step = predict(DEMO)["step"]
    assert abs(step["walk_error"]) <= 0.01, step
    check_moved_host()
    with tempfile.TemporaryDirectory(prefix="paceline-predict-") as folder:
        trace = generated(folder)
        check_nothing_matched(trace)
        check_device_to_cpu(trace)
    if not os.path.isdir(os.path.join(SHARED, "kineto")):
        print("reference traces are not here: the bundled trace alone was predicted")
        return
    check_scenarios(os.path.join(SHARED, "kineto", "hta_resnet_ddp_2xA100_rank0_ncclmeta.json.gz"))
    for trace in ("hta_dlrm_8xA100_rank3_stacks", "kineto_resnet50_1xV100_workers0"):
        check_scenarios(os.path.join(SHARED, "kineto", trace + ".json.gz"))
    check_operators(os.path.join(SHARED, "kineto", "kineto_resnet50_1xV100_workers0.json.gz"))
    check_no_replay()
    check_precision_of_others(os.path.join(SHARED, "kineto", "kineto_resnet50_1xV100_workers0.json.gz"))
    check_unknown_device(os.path.join(SHARED, "kineto", "tl_vit_infer_1xh100.json.gz"))
    check_devices(os.path.join(SHARED, "kineto", "hta_resnet_ddp_2xA100_rank0_ncclmeta.json.gz"))
    check_small_gain(os.path.join(SHARED, "kineto", "tl_qwen05b_generate_1xmi300.json.gz"))
    check_what_ifs(os.path.join(SHARED, "kineto", "tl_qwen05b_generate_1xmi300.json.gz"))


if __name__ == "__main__":
    main()
