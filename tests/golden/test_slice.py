"""`paceline slice`: the part of a trace analyzes to the figures of the whole, its events are the original's bytes, and without names
nothing of the user's is left."""
import gzip
import json
import os
import re
import sys
import tempfile

import strict_schema
from checks import SHARED, SOURCE, expect, expect_line, finish, json_of, run

DEMO = os.path.join(SOURCE, "tests", "data", "demo.json.gz")
KINETO = os.path.join(SHARED, "kineto")
FEW = 2 if "ASAN_OPTIONS" in os.environ else None  # so many recordings are cut under the sanitizers
RECORDINGS = [
    ("kineto_resnet50_1xV100_workers4", "7:8"),
    ("kineto_resnet50_1xV100_workers0", "6"),
    ("hta_dlrm_2xV100_rank1_stacks", "1010:1012"),
    ("hta_dlrm_8xA100_rank3_stacks", "1014"),
    ("hta_minitoy_train_1xMI250", "2"),
    ("hta_resnet_ddp_2xA100_rank0_ncclmeta", "5:6"),
    ("hta_sampled_128ranks_rank0", "552"),
    ("edge_cpu_only_rank34_of300", "551"),
]


def load(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        text = file.read().decode()
    return text, json.loads(text, strict=False)


def document(verb, *words):
    code, out, err = run(verb, *words, "--format", "json")
    expect(code == 0, words, err)
    answer = json.loads(out) if code == 0 else {}
    if code == 0:
        strict_schema.hold(answer, verb)
    return answer


def slice_of(folder, trace, *words, name="slice.json.gz"):
    output = os.path.join(folder, name)
    return output, document("slice", trace, *words, "-o", output)["files"]


def figures(answer):
    """Each step's times, and its matrix."""
    steps = answer["ranks"][0]["steps"]
    return [{key: value for key, value in step.items() if key != "label"} for step in steps], [step["matrix"] for step in answer["step_matrices"]]


def same_figures(folder, trace, steps):
    whole = figures(document("analyze", trace, "--steps", steps))
    expect(len(whole[0]) > 0, "steps", trace)
    for words in ([], ["--anonymize"]):
        output, files = slice_of(folder, trace, "--steps", steps, *words)
        expect(files[0]["steps"] == len(whole[0]), files, trace)
        part = figures(document("analyze", output, "--check"))
        differ = [(key, a[key], b[key]) for ours, theirs in zip(whole, part) for a, b in zip(ours, theirs) for key in a if a[key] != b.get(key)]
        expect(whole == part, trace, steps, words, differ)
        again, _ = slice_of(folder, output, "--steps", steps, name="again.json")
        expect(figures(document("analyze", again)) == whole, "a slice of the slice", trace)


def test_same_figures(folder):
    same_figures(folder, DEMO, "6:7")
    same_figures(folder, DEMO, "5")
    same_figures(folder, DEMO, "9")
    for name, steps in RECORDINGS[:FEW]:
        path = os.path.join(KINETO, name + ".json.gz")
        if os.path.exists(path):
            same_figures(folder, path, steps)
        else:
            print("left out, not there:", path)


def key_of(event):
    return json.dumps(event, sort_keys=True)


def test_events_are_the_original(folder):
    text, whole = load(DEMO)
    output, files = slice_of(folder, DEMO, "--steps", "7", name="slice.json")
    cut_text, cut = load(output)
    known = {key_of(event) for event in whole["traceEvents"]}
    expect(all(key_of(event) in known for event in cut["traceEvents"]), "an event that the trace does not have")
    lines = cut_text.split("\n")
    expect(all(line in text for line in lines[lines.index('"traceEvents": [') + 1:][:2000]), "bytes differ")
    expect(0 < len(cut["traceEvents"]) == files[0]["events"] < len(whole["traceEvents"]) == files[0]["trace_events"], files)
    expect(len(cut_text) == files[0]["bytes"] and len(text.encode()) == files[0]["trace_bytes"], files)
    expect({k: v for k, v in cut.items() if k not in ("traceEvents", "pacelineSlice")} ==
           {k: v for k, v in whole.items() if k != "traceEvents"}, "members of the document")
    names = [event for event in whole["traceEvents"] if event["ph"] == "M"]
    expect([event for event in cut["traceEvents"] if event["ph"] == "M"] == names, "names of processes and threads")
    marks = [event["name"] for event in cut["traceEvents"] if event["name"].startswith("ProfilerStep#")]
    expect(set(marks) == {"ProfilerStep#7"}, marks)


def test_links(folder):
    """Every kernel that a call of the step launched is there, with both ends of its arrow, and nothing launched later."""
    host, device = {"ph": "X", "pid": 1, "tid": 1}, {"ph": "X", "pid": 0, "tid": 7, "cat": "kernel"}
    events, number = [], 0
    for step in range(4):  # each step's kernels run while the host is in the next step
        at = 1000 * step + 1000
        events.append({**host, "cat": "user_annotation", "name": f"ProfilerStep#{step + 20}", "ts": at, "dur": 990})
        for k in range(3):
            number += 1
            start, arrow = at + 100 * k + 10, {"cat": "ac2g", "name": "ac2g", "id": number}
            events += [
                {**host, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": start, "dur": 5, "args": {"correlation": number}},
                {**device, "name": f"gemm_{number}", "ts": start + 1300, "dur": 90, "args": {"device": 0, "stream": 7, "correlation": number}},
                {"ph": "s", "pid": 1, "tid": 1, "ts": start, **arrow},
                {"ph": "f", "pid": 0, "tid": 7, "ts": start + 1300, "bp": "e", **arrow},
            ]
    path = os.path.join(folder, "lag.json")
    with open(path, "w") as file:
        file.write(json.dumps(events))  # the bare list is a trace too
    _, cut = load(slice_of(folder, path, "--steps", "22")[0])
    kernels = {event["name"] for event in cut["traceEvents"] if event.get("cat") == "kernel"}
    expect({"gemm_7", "gemm_8", "gemm_9"} <= kernels, "its own kernels, though all run after it", kernels)
    expect("gemm_6" in kernels and "gemm_3" not in kernels, "the last kernel before, not earlier ones", kernels)
    numbers = {int(name[5:]) for name in kernels}
    for phase, category in (("X", "cuda_runtime"), ("s", "ac2g"), ("f", "ac2g")):
        found = {event.get("id", event.get("args", {}).get("correlation")) for event in cut["traceEvents"]
                 if event.get("cat") == category and event["ph"] == phase}
        expect(found == numbers, phase, category, found, numbers)
    same_figures(folder, path, "22")
    same_figures(folder, path, "21:22")
    same_figures(folder, path, ":20")


SECRETS = ["acme forward-step", "acme.models.SecretNet", "/home/alice/acme/train.py(12): run", "acme_attention_kernel", "acme-node-7",
           "acme::rotate", "AcmeFunctionBackward", "acme arguments", "/home/alice/acme"]


def secret_trace():
    """A step with names of every kind."""
    host = {"ph": "X", "pid": 1, "tid": "acme-node-7"}
    events = [
        {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "ts": 0, "args": {"name": "acme-node-7"}},
        {**host, "cat": "user_annotation", "name": "ProfilerStep#3", "ts": 100, "dur": 100},
        {**host, "cat": "user_annotation", "name": "acme forward-step", "ts": 101, "dur": 90, "args": {"note": "acme arguments"}},
        {**host, "cat": "python_function", "name": "/home/alice/acme/train.py(12): run", "ts": 102, "dur": 80},
        {**host, "cat": "python_function", "name": "nn.Module: acme.models.SecretNet", "ts": 103, "dur": 70},
        {**host, "cat": "cpu_op", "name": "aten::mm", "ts": 104, "dur": 9, "args": {"Input Dims": [[4, 4], [4, 4]], "External id": 1}},
        {**host, "cat": "cpu_op", "name": "acme::rotate", "ts": 120, "dur": 9, "args": {"External id": 2, "Call stack": "/home/alice/acme"}},
        {**host, "cat": "cpu_op", "name": "autograd::engine::evaluate_function: AcmeFunctionBackward", "ts": 140, "dur": 9},
        {**host, "cat": "cpu_op", "name": "autograd::engine::evaluate_function: AddmmBackward0", "ts": 150, "dur": 9},
        {**host, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 106, "dur": 2, "args": {"correlation": 7}},
        {**host, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 122, "dur": 2, "args": {"correlation": 8}},
        {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32", "pid": 0, "tid": 7, "ts": 110, "dur": 5,
         "args": {"device": 0, "stream": 7, "correlation": 7, "Collective name": "allreduce", "Group size": 2}},
        {"ph": "X", "cat": "kernel", "name": "acme_attention_kernel", "pid": 0, "tid": 7, "ts": 125, "dur": 40,
         "args": {"device": 0, "stream": 7, "correlation": 8}},
    ]
    return {"schemaVersion": 1, "traceName": "/home/alice/acme", "hostname": "acme-node-7", "deviceProperties": [{"id": 0, "name": "NVIDIA A100"}],
            "distributedInfo": {"rank": 3, "world_size": 8, "backend": "nccl"}, "traceEvents": events}


def test_names(folder):
    path = os.path.join(folder, "secret.json")
    with open(path, "w") as file:
        file.write(json.dumps(secret_trace()))
    output, files = slice_of(folder, path, "--anonymize", name="open.json")
    text, cut = load(output)
    expect(not [word for word in SECRETS + ["acme", "alice", "Acme"] if word in text], "left", text)
    names = [event["name"] for event in cut["traceEvents"]]
    expect(len(names) == len(secret_trace()["traceEvents"]), names)
    for kept in ("ProfilerStep#3", "aten::mm", "cudaLaunchKernel", "ncclDevKernel_AllReduce_Sum_f32", "process_name",
                 "autograd::engine::evaluate_function: AddmmBackward0"):
        expect(kept in names, kept, names)
    expect(any(re.fullmatch(r"attention_[0-9a-f]{10}", name) for name in names), "a kernel keeps its kind", names)
    expect(any(re.fullmatch(r"name_[0-9a-f]{10} forward-step", name) for name in names), "an annotation keeps its stage", names)
    for member in ("distributedInfo", "deviceProperties", "schemaVersion"):
        expect(cut[member] == secret_trace()[member], member)
    expect("traceName" not in cut and "hostname" not in cut, list(cut))
    expect(cut["traceEvents"][11]["args"] == secret_trace()["traceEvents"][11]["args"], "the collective's description")
    expect(files[0]["rank"] == 3 and files[0]["steps"] is None, files)


def test_names_inside_names(folder):
    """Private words inside names and arguments that are public otherwise."""
    trace = secret_trace()
    host = {"ph": "X", "pid": 1, "tid": 2, "dur": 1}
    told = {"Process Group Name": "acme_dp", "Process Group Description": "acme group", "Concrete Inputs": ["/home/alice/w.pt", "[2, 3]", "True"],
            "Input type": ["Acme::Tensor", "float"], "Process Group Ranks": "[0, 1]"}
    for at, (category, name) in enumerate((("cpu_op", "torch::autograd::CppNode<AcmeAttention>"), ("user_annotation", "Optimizer.step#AcmeAdam.step"),
                                           ("cpu_op", "torch::autograd::CppNode<fbgemm_gpu::Lookup>"))):
        trace["traceEvents"].append({**host, "cat": category, "name": name, "ts": 300 + 2 * at, "args": told})
    for at, name in enumerate(("void at::native::elementwise_kernel<128, 4, acme::Swish>(int)", "void at::native::elementwise_kernel<128, 4, at::Relu>(int)")):
        trace["traceEvents"].append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 400 + 9 * at, "dur": 5,
                                     "args": {"device": 0, "stream": 7, "correlation": 8}})
    trace["distributedInfo"]["pg_config"] = [{"pg_name": "acme_dp", "pg_desc": "default_pg", "ranks": [0, 1]}]
    path = os.path.join(folder, "inside.json")
    with open(path, "w") as file:
        file.write(json.dumps(trace))
    text, cut = load(slice_of(folder, path, "--anonymize", name="hidden.json")[0])
    expect(not [word for word in ("acme", "alice", "Acme") if word in text], "left", [line for line in text.split("\n") if "cme" in line])
    names = [event["name"] for event in cut["traceEvents"]]
    for kept in ("void at::native::elementwise_kernel<128, 4, at::Relu>(int)", "torch::autograd::CppNode<fbgemm_gpu::Lookup>"):
        expect(kept in names, kept, names)
    args = next(event["args"] for event in cut["traceEvents"] if event["name"].startswith("Optimizer.step#"))
    expect(args["Concrete Inputs"][1:] == ["[2, 3]", "True"] and args["Input type"][1] == "float" and args["Process Group Ranks"] == "[0, 1]", args)
    expect(cut["distributedInfo"]["pg_config"][0]["pg_desc"] == "default_pg" and cut["distributedInfo"]["backend"] == "nccl", cut["distributedInfo"])


def test_ranks(folder):
    for rank in (0, 1, 7):
        trace = secret_trace()
        trace["distributedInfo"]["rank"] = rank
        with open(os.path.join(folder, f"r{rank}.json"), "w") as file:
            file.write(json.dumps(trace))
    inputs = os.path.join(folder, "r*.json")
    files = document("slice", inputs, "--ranks", "0,7", "-o", os.path.join(folder, "few.json.gz"))["files"]
    expect([os.path.basename(row["path"]) for row in files] == ["few.0.json.gz", "few.7.json.gz"], files)
    answer = document("slice", inputs, "--ranks", "0,5,7,99", "-o", os.path.join(folder, "few.json.gz"))
    expect(len(answer["files"]) == 2 and answer["warnings"][0]["code"] == "ranks_missing", "two of four ranks", answer)
    expect(answer["warnings"][0]["text"].endswith("asked for: 5, 99"), "the absent ones are named", answer["warnings"])
    files = document("slice", inputs, "--ranks", "1", "-o", os.path.join(folder, "one.json"))["files"]
    expect([os.path.basename(row["path"]) for row in files] == ["one.json"] and files[0]["rank"] == 1, files)
    later = secret_trace()
    for event in later["traceEvents"]:
        event["name"] = event["name"].replace("ProfilerStep#3", "ProfilerStep#4")
    later["distributedInfo"]["rank"] = 7
    with open(os.path.join(folder, "r7_later.json"), "w") as file:
        file.write(json.dumps(later))
    files = document("slice", inputs, "--ranks", "7", "-o", os.path.join(folder, "cycles.json"))["files"]
    expect([os.path.basename(row["path"]) for row in files] == ["cycles.json", "cycles.1.json"], "two cycles of one rank", files)
    answer = document("slice", inputs, "--ranks", "7", "--steps", "4", "-o", os.path.join(folder, "step.json"))
    expect([row["of"] for row in answer["files"]] == [os.path.join(folder, "r7_later.json")], "the cycle that has the step", answer["files"])
    expect("Inputs that have none of the steps: 1." in answer["notes"], answer["notes"])
    code, _, err = run("slice", inputs, "--steps", "9", "-o", os.path.join(folder, "none.json"))
    expect_line(code, err, 2, "--steps", "9")
    code, _, err = run("slice", os.path.join(folder, "r[07].json"), "--ranks", "5", "-o", os.path.join(folder, "none.json"))
    expect_line(code, err, 2, "--ranks", "0, 7", "'5'")


def test_cut_off_file(folder):
    text, whole = load(DEMO)
    path = os.path.join(folder, "short.json")
    with open(path, "w") as file:
        file.write(text[: len(text) * 3 // 4])
    code, out, err = run("slice", path, "--steps", "6", "-o", os.path.join(folder, "x.json"), "--format", "json")
    answer = json.loads(out)
    expect(code == 0 and any("kept the" in one["text"] for one in answer["warnings"]), code, err)
    expect(len(load(os.path.join(folder, "x.json"))[1]["traceEvents"]) == answer["files"][0]["events"] > 0, answer["files"])
    expect("broken_off" in load(os.path.join(folder, "x.json"))[1]["pacelineSlice"], "a slice of a file that breaks off says so")
    cut_off_alike(folder, path)


def cut_off_alike(folder, path):
    """A step that the file breaks off in is no step of its copies and slices either; those before it are."""
    direct = json_of("analyze", path)
    steps = [row["label"] for row in direct["step_matrices"]]
    broken = [one["text"] for one in direct["warnings"] if one["text"].endswith("the file breaks off in it")]
    expect(len(broken) == 1 and 0 < len(steps) < 5, broken, steps)
    label = re.search("ProfilerStep#[0-9]+", broken[0]).group()
    copied, files = slice_of(folder, path, name="copied.json")
    again = json_of("analyze", copied)
    expect(again["step_matrices"] == direct["step_matrices"] and again["step_spread"] == direct["step_spread"], "the copy has the same steps")
    expect(any(label in one["text"] for one in again["warnings"]), "the copy breaks off in the same step", again["warnings"])
    answer = document("slice", path, "--steps", "6:", "-o", os.path.join(folder, "rest.json"))
    expect(answer["files"][0]["last_step"] == steps[-1] and any(label in one["text"] for one in answer["warnings"]), answer)
    code, _, err = run("slice", path, "--steps", label.split("#")[1], "-o", os.path.join(folder, "none.json"))
    expect_line(code, err, 3, label, "breaks off")
    expect("pacelineSlice" not in load(slice_of(folder, DEMO, name="intact.json")[0])[1], "a copy of an intact file says nothing")
    expect("broken_off" not in load(slice_of(folder, DEMO, "--steps", "6", name="intact.json")[0])[1]["pacelineSlice"], "an intact file does not break off")


def test_given_twice(folder):
    answer = document("slice", DEMO, DEMO, "--steps", "6", "-o", os.path.join(folder, "one.json"))
    expect(len(answer["files"]) == 1 and answer["warnings"][0]["code"] == "input_repeated", answer["files"], answer["warnings"])


DAMAGED = b"""{"note": "a\tb", "path": "C:\\Users\\x", "bytes": "\xff", "C:\\Users": 1, "%s": 3, "nan": [NaN, -Infinity],
"half": {"a" 1}, "traceEvents": [%s, 17, [1], %s, %s, %s]}"""


def test_damage_is_told(folder):
    """What is no JSON is mended or left out, and said: strict readers take the slice."""
    def event(name, args=b"1", start=10):
        return b'{"ph": "X", "cat": "cpu_op", "name": "%s", "pid": 1, "tid": 1, "ts": %d, "dur": 5, "args": {"v": %s}}' % (name, start, args)

    long = b"k" * 100
    path, output = os.path.join(folder, "damaged.json"), os.path.join(folder, "sound.json")
    damaged = DAMAGED % (long, event(b"whole"), event(b"C:\\Users", b"NaN", 20), event(b"half", b"[1 2]", 30), event(b"\xc3\xa9\xe9", start=40))
    for words in ([], ["--anonymize"]):
        with open(path, "wb") as file:
            file.write(damaged)
        code, out, err = run("slice", path, "-o", output, "--format", "json", "--strict", *words)
        warnings = {one["code"]: one["text"] for one in json.loads(out)["warnings"]}
        expect(code == 3 and "events_left_out" in err and "2 elements" in warnings["events_left_out"], code, err)
        with open(output, "rb") as file:
            text = file.read().decode()
        slice_ = json.loads(text, parse_constant=lambda word: expect(False, "no JSON", word))
        if words:
            continue
        expect("7 mended, 2 left out" in warnings["trace_mended"] and '"note"' in warnings["trace_mended"], warnings)
        names = [event["name"] for event in slice_["traceEvents"]]
        expect(names == ["whole", "C:\\Users", "\u00e9\ufffd"], names)
        expect(slice_["note"] == "a\tb" and slice_["path"] == "C:\\Users\\x" and slice_["bytes"] == "\ufffd", slice_)
        expect(slice_["nan"] == [None, None] and slice_["C:\\Users"] == 1 and slice_[long.decode()] == 3 and "half" not in slice_, slice_)
        expect(event(b"whole").decode() in text, "a sound event is copied as it stands")


def test_refused(folder):
    copy = os.path.join(folder, "copy.json.gz")
    with open(DEMO, "rb") as file, open(copy, "wb") as to:
        to.write(file.read())
    output = os.path.join(folder, "out.json")
    other = os.path.join(folder, "not.json")
    with open(other, "w") as file:
        file.write('{"a": 1}')
    empty = os.path.join(folder, "empty.json")
    with open(empty, "w") as file:
        file.write("[]")
    for code, word, words in (
        (2, "is an input", [copy, "-o", copy]),
        (2, ".json", [copy, "-o", os.path.join(folder, "x.txt")]),
        (2, ".json", [copy]),
        (2, "5 to 9", [copy, "--steps", "11", "-o", output]),
        (2, "--steps", [copy, "--steps", "7:6", "-o", output]),
        (2, "--steps", [copy, "--steps", "x", "-o", output]),
        (2, "--skip", [copy, "--skip", "5", "-o", output]),
        (2, "--skip", [copy, "--skip", "0.5", "-o", output]),
        (2, "--ranks", [copy, "--ranks", "0,", "-o", output]),
        (2, "--ranks", [copy, "--ranks", "3", "-o", output]),
        (2, "step expression", [copy, "--step-regex", "(", "-o", output]),
        (2, "standard input", ["-", "-o", output]),
        (3, "Kineto", [other, "-o", output]),
        (3, "an empty list", [empty, "-o", output]),
        (3, "cannot be created", [copy, "-o", os.path.join(folder, "no", "x.json")]),
    ):
        done, _, err = run("slice", *words)
        expect_line(done, err, code, word)
    expect(sorted(os.listdir(folder)) == ["copy.json.gz", "empty.json", "not.json"], "left behind", os.listdir(folder))


for test in (test_same_figures, test_events_are_the_original, test_links, test_names, test_names_inside_names, test_ranks, test_cut_off_file, test_given_twice, test_damage_is_told, test_refused):
    with tempfile.TemporaryDirectory() as scratch:
        test(scratch)
sys.exit(finish())
