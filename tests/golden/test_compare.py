"""`paceline compare`: what was planted is found: how much, whether it is chance, why, and in which call path; limits say so to a
pipeline."""
import json
import os
import random
import re
import sys
import tempfile
import xml.etree.ElementTree as xml

import planted_traces
import strict_schema
from checks import SOURCE, expect, expect_line, finish, run

DEMO = os.path.join(SOURCE, "tests", "data", "demo.json.gz")


def trace(folder, name, steps, work=None, rank=None, jitter=0.0, gap=0, compiled=False, seed=1, world=2, later=None):
    """Steps of two modules. `work` = microseconds of the gemm, the norm and the backward gemm, `later` those of the second half; the device never
    waits but for `gap`."""
    chance = random.Random(seed)
    first = {"gemm": 1000, "norm": 500, "backward": 2000, **(work or {})}
    host, device = {"ph": "X", "pid": 1, "tid": 1}, {"ph": "X", "pid": 0, "tid": 7, "cat": "kernel"}
    events, at, number, sequence = [], 1000.0, 0, 0
    for step in range(steps):
        begin, parts = at, []
        work = {**first, **(later or {})} if 2 * step >= steps else first
        for module, operator, kernel, length in (("Net_0/Linear_0", "aten::mm", "ampere_sgemm_64x64", work["gemm"]),
                                                 ("Net_0/Norm_0", "aten::native_layer_norm", "layer_norm_kernel", work["norm"]),
                                                 (None, "aten::mm", "ampere_sgemm_64x64", work["backward"])):
            number += 1
            length *= 1 + jitter * chance.uniform(-1, 1)
            start = at + (gap if module is None else 0)
            end = start + length
            if module:
                net, leaf = module.split("/")
                parts.append((start, net, leaf))
                frames = [] if compiled else [(f"nn.Module: {leaf}", "python_function")]
                for depth, (frame, category) in enumerate([(f"nn.Module: {net}", "python_function"), *frames, (operator, "cpu_op")]):
                    events.append({**host, "cat": category, "name": frame, "ts": start + depth / 10, "dur": length - depth / 5})
            else:
                events.append({**host, "cat": "cpu_op", "name": "MmBackward0", "ts": start, "dur": length})
                events.append({**host, "cat": "cpu_op", "name": operator, "ts": start + 0.1, "dur": length - 0.2})
            events.append({**host, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": start + 1, "dur": 1, "args": {"correlation": number}})
            events.append({**device, "name": kernel, "ts": start + 3, "dur": end - start - 3, "args": {"device": 0, "stream": 7, "correlation": number}})
            at = end
        events.append({**host, "cat": "user_annotation", "name": f"ProfilerStep#{step}", "ts": begin, "dur": at - begin})
        at += 1
    document = {"traceEvents": events, "distributedInfo": {"rank": rank, "world_size": world}} if rank is not None else {"traceEvents": events}
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(json.dumps(document))
    return path


def compare(*words, wanted=0):
    code, out, err = run("compare", *words, "--format", "json")
    expect(code == wanted, words, code, err)
    answer = json.loads(out)
    strict_schema.hold(answer, "compare")
    expect(sum(row["change_ns"] for row in answer["resources"]) == answer["b_step_ns"] - answer["a_step_ns"], words)
    return answer


def test_outlier(folder):
    """Kernels and operators are compared in the steps whose lengths are: what a warm-up did first is in none of them."""
    before = trace(folder, "usual.json", 8, jitter=0.01, seed=1)
    with open(before) as file, open(trace(folder, "first.json", 1, {"gemm": 40000})) as first:
        rest, warm = json.load(file)["traceEvents"], json.load(first)["traceEvents"]
    for event in rest:
        event["ts"] += 1e5
        if "ProfilerStep" in event["name"]:
            event["name"] = f"ProfilerStep#{int(event['name'].split('#')[1]) + 1}"
        if "args" in event:
            event["args"]["correlation"] += 100
    path = os.path.join(folder, "warm.json")
    with open(path, "w") as file:
        json.dump({"traceEvents": warm + rest}, file)
    answer = compare(before, path)
    for table in ("operators", "kernels"):
        expect(all(abs(row["b_ns"] / row["a_ns"] - 1) < 0.01 and row["a_calls"] == row["b_calls"] for row in answer[table]), table, answer[table])


def test_found(folder):
    before = trace(folder, "before.json", 8, jitter=0.01, seed=1)
    after = trace(folder, "after.json", 8, {"norm": 900}, jitter=0.01, seed=2)
    answer = compare(before, after)
    expect(answer["verdict"] == "significant" and answer["p_value"] < 0.05, answer["p_value"])
    expect(answer["ratio_low"] < 3903 / 3503 < answer["ratio_high"] and abs(answer["ratio"] - 3903 / 3503) < 0.01, answer["ratio"])
    cause = answer["cause"]
    expect((cause["stage"], cause["resource"], cause["kernel"]) == ("forward", "memory_bound", "layer_norm_kernel"), cause)
    expect(cause["operator"] == "aten::native_layer_norm" and abs(cause["change_ns"] - 400e3) < 40e3, cause)
    expect(answer["operators"][0]["name"] == "aten::native_layer_norm", answer["operators"])
    expect("layer_norm_kernel" in " ".join(answer["summary"]), answer["summary"])
    path = next(row for row in answer["call_paths"] if row["path"].endswith("aten::native_layer_norm"))
    expect(path["path"] == "Net_0 > Norm_0 > aten::native_layer_norm" and abs(path["change_ns"] - 400e3) < 40e3, path)
    other_way = compare(after, before)
    expect(abs(other_way["ratio"] * answer["ratio"] - 1) < 1e-9 and other_way["cause"]["kernel"] == "layer_norm_kernel", other_way["cause"])


def test_largest_per_step_first(folder):
    """An operator that two short steps changed more, per step, than ten long steps another."""
    before = trace(folder, "two.json", 2, {"gemm": 1000, "backward": 2000})
    after = trace(folder, "ten.json", 10, {"gemm": 1400, "norm": 600, "backward": 2000})
    rows = compare(before, after)["operators"]
    changes = [abs(row["change_ns"]) for row in rows]
    expect(changes == sorted(changes, reverse=True) and rows[0]["name"] == "aten::mm", rows)
    expect(abs(rows[0]["change_ns"] - 400e3) < 10e3 and abs(rows[0]["a_calls"] - 2) < 1e-9, rows[0])


def test_chance(folder):
    one, other = (trace(folder, f"{seed}.json", 8, jitter=0.05, seed=seed) for seed in (11, 12))
    answer = compare(one, other, "--fail-on", "+0%")
    expect(answer["verdict"] == "within the spread" and answer["checks"][0]["holds"] == "yes", answer["verdict"], answer["p_value"])
    expect(answer["summary"][0].startswith("No significant change"), answer["summary"])
    answer = compare(DEMO, DEMO)
    expect(answer["ratio"] == 1 and answer["p_value"] == 1 and all(row["change_ns"] == 0 for row in answer["call_paths"]), answer["p_value"])
    answer = compare(one, other, "--steps", "3")
    expect(answer["verdict"] == "spread not known" and any("One step each" in note for note in answer["notes"]), answer["notes"])
    answer = compare(one, other, "--steps", "3:4")
    expect(answer["verdict"] == "too few" and answer["ratio_low"] is None, answer["verdict"])


def test_limit(folder):
    before, after = trace(folder, "b.json", 6, jitter=0.01, seed=3), trace(folder, "a.json", 6, {"gemm": 1400}, jitter=0.01, seed=4)
    for limit, code in (("+5%", 1), ("5 %", 1), ("+20%", 0), ("11%", 1), ("12%", 0)):
        answer = compare(before, after, "--fail-on", limit, wanted=code)
        expect(answer["checks"][0]["holds"] == ("no" if code else "yes"), limit, answer["checks"])
    expect(compare(after, before, "--fail-on", "+5%")["checks"][0]["holds"] == "yes", "faster is no regression")
    for out in (os.path.join(folder, "x.xml"), os.path.join(folder, "y.xml.gz")):
        expect(run("compare", before, after, "--fail-on", "+5%", "-o", out)[0] == 1, out)
    suite = xml.parse(os.path.join(folder, "x.xml")).getroot().find("testsuite")
    expect((suite.get("tests"), suite.get("failures")) == ("1", "1"), suite.attrib)
    expect("significant" in suite.find("testcase/failure").get("message"), xml.tostring(suite))
    suite = xml.fromstring(run("compare", before, after, "--fail-on", "+50%", "--format", "junit")[1]).find("testsuite")
    expect(suite.get("failures") == "0" and suite.find("testcase/failure") is None, suite.attrib)


def test_levels(folder):
    """Steps that take longer from one on miss a limit, though half of them are as before; a change that both sides have alike does not."""
    even = trace(folder, "even.json", 21, jitter=0.01, seed=5)
    slows, again = (trace(folder, f"slows{seed}.json", 21, jitter=0.01, seed=seed, later={"backward": 3000}) for seed in (6, 7))
    answer = compare(even, slows, "--fail-on", "+20%", wanted=1)
    expect(answer["checks"][0]["holds"] == "no", answer["checks"])
    expect(any("change within B" in line and "+28" in line for line in answer["summary"]), answer["summary"])
    compare(even, slows, "--fail-on", "+35%")
    compare(slows, slows, "--fail-on", "+0%")
    compare(slows, again, "--fail-on", "+5%")
    answer = compare(slows, trace(folder, "slow.json", 21, {"backward": 3000}, jitter=0.01, seed=8), "--fail-on", "+5%", wanted=1)
    compare(slows, even, "--fail-on", "+5%")


def test_ranks(folder):
    run_folder = os.path.join(folder, "run")
    os.mkdir(run_folder)
    for rank in (0, 1):
        trace(run_folder, f"r{rank}.json", 5, {"backward": 2000 + 300 * rank}, rank=rank, jitter=0.005, seed=rank)
    answer = compare(run_folder, "--rank", "0", "--with-rank", "1")
    expect([side["rank"] for side in answer["sides"]] == ["rank 0", "rank 1"], answer["sides"])
    expect(answer["cause"]["stage"] == "backward" and answer["verdict"] == "significant", answer["cause"], answer["verdict"])
    code, _, err = run("compare", run_folder, "--rank", "0", "--with-rank", "7")
    expect_line(code, err, 2, "--with-rank", "(0, 1)")
    swapped = compare(run_folder, run_folder, "--rank", "1", "--with-rank", "0")
    expect(swapped["a_step_ns"] == answer["b_step_ns"] and swapped["b_step_ns"] == answer["a_step_ns"], "ranks of two inputs")


def test_ranks_that_meet(folder):
    """Ranks that meet end their steps together: what each does itself is compared, and the limit holds for that."""
    slow = os.path.dirname(planted_traces.slow_rank(os.path.join(folder, "slow.json.gz"))[0])
    answer = compare(slow, "--rank", "0", "--with-rank", "2", "--fail-on", "+5%", wanted=1)
    longer = 8 * 3 * 240e3  # eight layers, forward and twice as long backward: 640 instead of 400 us
    expect(abs(answer["b_step_ns"] - answer["a_step_ns"]) < 1e5, "steps end together", answer["a_step_ns"], answer["b_step_ns"])
    expect(abs(answer["b_compared_ns"] - answer["a_compared_ns"] - longer) < 2e5, "own time", answer["a_compared_ns"], answer["b_compared_ns"])
    expect((answer["verdict"], answer["cause"]["resource"]) == ("significant", "compute_bound"), answer["verdict"], answer["cause"])
    expect(answer["cause"]["kernel"].startswith("ampere_sgemm") and answer["cause"]["change_ns"] > 0, answer["cause"])
    expect(any("Apart from waiting for late ranks" in s for s in answer["summary"]), answer["summary"])
    files = compare(*(os.path.join(slow, f"rank{rank}.json.gz") for rank in (0, 2)))
    expect(any("--rank 0 --with-rank 2" in s for s in files["summary"]), files["summary"])
    alike = compare(slow, "--rank", "0", "--with-rank", "1", "--fail-on", "+5%")
    expect(abs(alike["ratio"] - 1) < 0.01, alike["ratio"])


def test_said_once(folder):
    """What is true of both sides in the same words is said once."""
    paths = [trace(folder, f"of_many_{rank}.json", 5, {"backward": 2000 + 300 * rank}, rank=rank, seed=rank) for rank in (0, 1)]
    missing = [warning for warning in compare(*paths)["warnings"] if warning["code"] == "ranks_missing"]
    expect(len(missing) == 1 and missing[0]["text"].startswith("the job"), missing)
    other = trace(folder, "of_more.json", 5, rank=0, seed=0, world=4)
    missing = [warning["text"] for warning in compare(paths[0], other)["warnings"] if warning["code"] == "ranks_missing"]
    expect(len(missing) == 2 and missing[0].startswith("A: the job has 2 ranks") and missing[1].startswith("B: the job has 4"), missing)


def test_eager_against_compiled(folder):
    """Modules that one side lacks match at the last node that both have."""
    eager, compiled = trace(folder, "eager.json", 4), trace(folder, "compiled.json", 4, {"norm": 100}, compiled=True)
    rows = {row["path"]: row for row in compare(eager, compiled)["call_paths"]}
    expect(abs(rows["Net_0"]["change_ns"] + 400e3) < 1e3, rows["Net_0"])
    expect(rows["Net_0 > Norm_0"]["b_ns"] == 0 and rows["Net_0 > aten::native_layer_norm"]["a_ns"] == 0, list(rows))


def test_host(folder):
    slow = compare(trace(folder, "fast.json", 5), trace(folder, "slow.json", 5, gap=800))
    expect(slow["cause"]["resource"] == "idle_host" and "launches 3 kernels" in " ".join(slow["summary"]), slow["cause"], slow["summary"])


def test_page(folder):
    """Bars of both sides are to one scale."""
    one, two = trace(folder, "1.json", 4), trace(folder, "2.json", 4, {"gemm": 2000, "norm": 1000, "backward": 4000})
    page = run("compare", one, two, "--format", "html")[1]
    sides = [re.split(r"class=\"total\"", part)[0] for part in page.split('class="bars"')[1:3]]
    reach = [max(sum(float(w) for w in re.findall(r'width="([0-9.]+)%"', bar)) for bar in side.split("</svg>")) for side in sides]
    expect(1.9 < reach[1] / reach[0] < 2.1, reach)


def test_refused(folder):
    path = trace(folder, "p.json", 2)
    for words, word in (([path], "two traces"), ([path, path, path], "two traces"), ([path, "--rank", "0"], "two traces"),
                        ([path, path, "--fail-on", "5"], "--fail-on"), ([path, path, "--fail-on", "-5%"], "--fail-on"),
                        ([path, path, "--fail-on", "x%"], "--fail-on"), ([path, path, "--format", "perfetto"], "no timeline"),
                        ([path, path, "--format", "junit"], "--fail-on"), ([path, "--rank", "3", "--with-rank", "3"], "another than --rank"), ([path, path, "--stage", "forward"], "--stage")):
        code, _, err = run("compare", *words)
        expect_line(code, err, 2, word)


def test_breaks_off(folder):
    """A file that breaks off before its first step ends has nothing to compare, and no limit holds."""
    whole = trace(folder, "whole.json", 3)
    with open(whole) as file:
        text = file.read()
    short = os.path.join(folder, "short.json")
    with open(short, "w") as file:
        file.write(text[: len(text) // 6])
    for words, letter in (((whole, short), "B"), ((short, whole), "A")):
        answer = compare(*words, "--fail-on", "+5%", wanted=1)
        expect(answer["summary"][0] == f"Nothing to compare: {letter} breaks off before its first step ends.", answer["summary"])
        expect(answer["ratio"] is None and answer["verdict"] == "nothing to compare" and answer["checks"][0]["holds"] == "no", answer["verdict"])


def test_without_steps(folder):
    """What marks no steps is compared whole, and the answer calls it so."""
    marked = trace(folder, "marked.json", 3)
    with open(marked) as file:
        document = json.load(file)
    document["traceEvents"] = [event for event in document["traceEvents"] if event["ts"] < 4000 and not event["name"].startswith("ProfilerStep")]
    bare = os.path.join(folder, "bare.json")
    with open(bare, "w") as file:
        json.dump(document, file)
    expect(compare(marked, bare)["summary"][0].startswith("A typical step of A takes"), "whole B")
    expect(compare(bare, bare)["summary"][0].startswith("All of A takes"), "both whole")


def test_names_of_files(folder):
    """The end of a long path tells two traces apart; without a rank there is no column of ranks."""
    deep = os.path.join(folder, "a_rather_long_name_of_a_folder", "in_another_folder_with_a_long_name", "runs")
    os.makedirs(deep)
    paths = [trace(deep, f"step_{name}.json", 4) for name in ("before", "after")]
    out = run("compare", *paths)[1]
    expect(all(f"/step_{name}.json " in out for name in ("before", "after")), out[:1500])
    expect([row["rank"] for row in compare(*paths)["sides"]] == [None, None], "no rank")
    cells = re.findall(r'<td class="t"[^>]*>([^<]*)</td>', run("compare", *paths, "--format", "html")[1])
    expect(any(cell.startswith("  ") for cell in cells), "call paths are indented", cells[:20])


for test in (test_breaks_off, test_without_steps, test_names_of_files, test_outlier, test_found, test_largest_per_step_first, test_chance, test_limit, test_levels, test_ranks, test_ranks_that_meet, test_said_once, test_eager_against_compiled, test_host, test_page, test_refused):
    with tempfile.TemporaryDirectory() as scratch:
        test(scratch)
sys.exit(finish())
