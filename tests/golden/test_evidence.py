"""What a trace lacks is said, and nothing confident is made of the rest."""
import json
import os
import sys
import tempfile

import planted_traces
from checks import expect, expect_line, finish, run
from leads import analyze, found, planted


def graph(rank, kernels, us, keep=lambda k: True):
    """One launch of a graph of kernels that follow one another; some may not have been recorded."""
    rank.correlation += 1
    rank.host("cuda_runtime", "cudaGraphLaunch", rank.now, 10, correlation=rank.correlation)
    at = max(rank.now + 8, rank.free.get(7, 0.0))
    rank.now += 10
    for k in range(kernels):
        if keep(k):
            rank.event("kernel", "ampere_sgemm_128x128_tn", at, us, 0, 7, device=0, stream=7, correlation=rank.correlation)
        at += us + 1
    rank.free[7] = at


def captured(folder, name, keep):
    def body(rank, _):
        graph(rank, 40, 100, keep)
        rank.wait()
    rank = planted_traces.Rank()
    planted_traces.steps(rank, 4, body)
    return analyze([rank.write(os.path.join(folder, name + ".json"))])


def test_graphs(folder):
    whole = captured(folder, "whole", lambda k: True)
    expect(found(whole) == "compute", "a whole graph", found(whole), whole["summary"])
    holes = captured(folder, "holes", lambda k: k % 8 == 0)
    expect(found(holes) == "unknown", "kernels of the graph are missing", found(holes))
    expect(any("CUDA graphs may be missing" in s for s in holes["summary"]), "said", holes["summary"])


def test_launches_alone(folder):
    rank = planted_traces.Rank()
    planted_traces.steps(rank, 3, lambda rank, _: planted_traces.layers(rank, 4))
    rank.events = [e for e in rank.events if e["cat"] != "kernel"]
    document = analyze([rank.write(os.path.join(folder, "launches.json"))])
    expect(found(document) == "unknown" and document["lead"]["evidence"] == "no_kernels", "launches alone", document["lead"])
    expect(not any("shorter" in s for s in document["summary"]), "no percentage", document["summary"])


def test_broken_off_before_all_calls(folder):
    """A file that breaks off before the calls and the device's work, as of a profiler that writes operators first: a device is named, so the
    host is not taken for it; nor in a slice of the whole steps."""
    rank = planted_traces.Rank()
    planted_traces.steps(rank, 3, lambda rank, _: planted_traces.layers(rank, 4))
    rank.events = [e for e in rank.events if e["cat"] in ("cpu_op", "user_annotation")]
    document = rank.document()
    text = json.dumps({"deviceProperties": document["deviceProperties"], "traceEvents": document["traceEvents"]})
    path, kept = os.path.join(folder, "broken.json"), os.path.join(folder, "kept.json")
    with open(path, "w") as file:
        file.write(text[:-40])
    expect(run("slice", path, "--steps", "1:2", "-o", kept)[0] == 0, "sliced")
    for name in (path, kept):
        answer = json.loads(run("analyze", name, "--format", "json")[1])
        expect(found(answer) == "unknown" and answer["lead"]["evidence"] == "no_kernels", name, answer["lead"])
        expect(any("breaks off before the work of the device" in s for s in answer["summary"]), name, answer["summary"])


def test_some_kernels_missing(folder):
    rank = planted_traces.Rank()
    planted_traces.steps(rank, 3, lambda rank, _: planted_traces.layers(rank, 8))
    kernels = [e for e in rank.events if e["cat"] == "kernel"]
    dropped = {id(e) for e in kernels[::4]}
    rank.events = [e for e in rank.events if id(e) not in dropped]
    document = analyze([rank.write(os.path.join(folder, "some.json"))])
    expect(found(document) == "unknown" and document["lead"]["evidence"] == "few_kernels", "some missing", document["lead"])


def test_predictions(folder):
    """What no kernel was recorded of is not predicted; what some were missing of says so first, and is known less well."""
    bare, some, whole = (os.path.join(folder, name + ".json") for name in ("launches", "some", "all"))
    rank = planted_traces.Rank()
    planted_traces.steps(rank, 3, lambda rank, _: planted_traces.layers(rank, 8))
    rank.write(whole)
    code, _, err = run("predict", bare)
    expect_line(code, err, 3, "launches and no work of the device", "no step to predict")
    code, out, _ = run("predict", some, "--format", "json")
    answer, sure = json.loads(out), json.loads(run("predict", whole, "--format", "json")[1])
    expect(answer["summary"][0].startswith("Not sure: 12 of 48 launches have no kernel"), answer["summary"])
    expect([one["code"] for one in answer["warnings"]].count("kernels_missing") >= 1 and run("predict", some, "--strict")[0] == 3, answer["warnings"])

    def width(found):
        return found["values"]["step.high_s"] / found["values"]["step.median_s"]
    expect(width(answer) > width(sure) * 4 / 3, "a quarter is missing", width(answer), width(sure))
    for words in (("predict", whole, "resnet50"), ("predict", "resnet50", whole, "--on", "h100")):
        code, _, err = run(*words)
        expect_line(code, err, 2, "'resnet50' is read as a model", "all.json' as a trace")
    code, _, err = run("analyze", whole, "--filter", "nosuch")
    expect_line(code, err, 2, "nosuch", "there are: ", "aten::addmm")
    code, out, err = run("predict", whole, "--scale", "nosuch:2", "--format", "json")
    idle = [one for one in json.loads(out)["warnings"] if one["code"] == "what_if_idle"]
    expect(code == 0 and len(idle) == 1 and "there are: ampere_sgemm_128x128_tn" in idle[0]["text"], idle)


def test_cut_rank(folder):
    """One of three ranks broke off before its kernels: it is left out, the other two are matched."""
    paths = planted_traces.slow_rank(os.path.join(folder, "cut.json.gz"), world=3, slow=1)
    import gzip
    import json
    with gzip.open(paths[2], "rt") as file:
        document = json.load(file)
    document["traceEvents"] = [e for e in document["traceEvents"] if e["cat"] not in ("kernel", "gpu_memcpy")]
    for event in document["traceEvents"]:
        event["args"].pop("correlation", None)
    with gzip.open(paths[2], "wt") as file:
        file.write(json.dumps(document))
    answer = analyze(paths)
    expect(any(w["code"] == "rank_left_out" and "rank2" in w["place"] for w in answer["warnings"]), "said", answer["warnings"])
    expect(len(answer["balance"]) == 2 and answer["slowest_rank"] == 1, "the others are joined", answer["balance"])


def test_polling_host(folder):
    """The host polls for the device without a call, silent or inside an operator: its silence is the device's time."""
    for inside in (False, True):
        check_polling(folder, inside)


def check_polling(folder, inside):
    def body(rank, _):
        for _ in range(6):
            rank.kernel("aten::addmm", 1000, name="ampere_sgemm_128x128_tn")
        if inside:
            with rank.operator("deep_ep::dispatch"):
                rank.issue("cudaLaunchKernel", "kernel", "notify_dispatch", 5, 7)
                rank.now = rank.free[7] + 5
        rank.now = rank.free[7] + 5
    rank = planted_traces.Rank()
    planted_traces.steps(rank, 4, body)
    document = analyze([rank.write(os.path.join(folder, "polls.json"))])
    path = document["critical_path"]
    expect(found(document) == "compute", "a polling host leads with", found(document), document["summary"])
    expect(path["by_resource"]["compute_ns"] > 0.98 * path["length_ns"], "on the path", path["by_resource"])


def test_broken_off_exports(folder):
    """An export of Nsight Systems that was cut short says so, and blames no other process for what it lacks."""
    path = planted("norm_chain*1@nsys", folder)[0]
    with open(path, "rb") as file:
        whole = file.read()
    for share, code, said in ((0.5, 0, "the file breaks off"), (0.005, 3, "in a file that breaks off"), (50 / len(whole), 3, "breaks off before its tables")):
        with open(path, "wb") as file:
            file.write(whole[:round(share * len(whole))])
        status, out, err = run("analyze", path)
        if code:
            expect_line(status, err, code, said)
        else:
            expect(status == 0 and said in out and "unknown" in out and "another process" not in out, share, out[:600])


def test_late_ranks_alone(folder):
    """One rank of eight that exchanges: what its calls take beyond what links may take at most is said to wait for late ranks; what is within the doubt of the links is not."""
    def asked(calls_us):
        event = {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "pid": 0, "tid": 7}
        said = {"device": 0, "stream": 7, "Collective name": "allreduce", "In msg nelems": 1 << 22, "Out msg nelems": 1 << 22, "dtype": "Float",
                "Group size": 8, "Process Group Name": "0"}
        events = [event | {"ts": 100000 * i, "dur": us, "args": said} for i, us in enumerate(calls_us)]
        path = os.path.join(folder, "alone.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB"}], "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 8},
                       "traceEvents": events}, file)
        document = analyze([path])
        row, = document["exchanges"]
        return row, any("is waiting for late ranks" in s for s in document["summary"])
    row, _ = asked([1000] * 4)
    usual, most = row["expected_ns"] / 1000, row["expected_high_ns"] / 1000
    expect(most > 1.2 * usual, "the links are known to a fifth at best", row)
    row, said = asked([usual * (0.8 + 0.05 * i) for i in range(9)] + [most])
    expect((row["late_ns"] or 0) < 1000 and not said, "within the doubt", row)
    row, said = asked([usual] * 3 + [4 * most])
    expect(said and abs(row["late_ns"] - 3000 * most) < 5000, "one call waits", row)


def test_merged_ranks(folder):
    """One file of several processes, which all count their launches from one: none is taken for another's. With numbers of their own they
    are told apart."""
    for own, wanted in ((0, "unknown"), (1000000, "host")):
        events = []
        for rank, path in enumerate(planted("slow_host_rank*2", folder)):
            with open(path) as file:
                recorded = json.load(file)
            for event in recorded["traceEvents"]:
                if event["pid"] == 1:
                    event["pid"] = 4000 + rank
                else:
                    event["pid"] = event["args"]["device"] = rank
                if "correlation" in event["args"]:
                    event["args"]["correlation"] += own * rank
                events.append(event)
        merged = os.path.join(folder, "merged.json")
        with open(merged, "w") as file:
            file.write(json.dumps({"traceEvents": events}))
        document = analyze([merged])
        said = " ".join(document["summary"])
        expect(found(document) == wanted and ("give the file of each rank" in said) == (own == 0), own, said)


with tempfile.TemporaryDirectory() as work:
    test_graphs(work)
    test_launches_alone(work)
    test_broken_off_before_all_calls(work)
    test_some_kernels_missing(work)
    test_predictions(work)
    test_cut_rank(work)
    test_polling_host(work)
    test_broken_off_exports(work)
    test_merged_ranks(work)
    test_late_ranks_alone(work)
sys.exit(finish())
