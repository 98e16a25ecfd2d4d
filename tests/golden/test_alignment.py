"""Ranks that do not align: other steps, other runs, nobody late, and one late among many."""
import gzip
import json
import os
import subprocess
import sys
import tempfile

import planted_traces
from checks import PACELINE, expect, finish, json_of
from leads import analyze


def job(folder, world, slow=(), count=4):
    """Ranks that meet in an all-reduce each step; some may be slow."""
    def body(ranks, _):
        for rank in ranks:
            planted_traces.layers(rank, 4, 640 if rank.rank in slow else 400)
        planted_traces.collective(ranks, 300)
        for rank in ranks:
            rank.free[7] = max(rank.free[7], rank.free[20])
            planted_traces.update(rank)
            rank.item()
    return planted_traces.run_ranks(os.path.join(folder, "job.json.gz"), world, count, body)


def without_first_step(rank):
    """What the same rank would have recorded one step later."""
    starts = [e["ts"] for e in rank.events if e["name"] == "ProfilerStep#2"]
    rank.events = [e for e in rank.events if e["ts"] >= starts[0]]
    return rank


def test_a_step_less(folder):
    ranks = [planted_traces.Rank(r, 2) for r in range(2)]
    for number in range(1, 5):
        spans = [rank.annotate(f"ProfilerStep#{number}") for rank in ranks]
        for span in spans:
            span.__enter__()
        for rank in ranks:
            planted_traces.layers(rank, 4, 400)
        planted_traces.collective(ranks, 300)
        for rank in ranks:
            rank.free[7] = max(rank.free[7], rank.free[20])
            planted_traces.update(rank)
            rank.item()
        for span in spans:
            span.__exit__()
    without_first_step(ranks[1])
    document = analyze([rank.write(os.path.join(folder, f"less{rank.rank}.json")) for rank in ranks])
    expect(len(document["collectives"]) == 3, "matched", len(document["collectives"]))
    expect(all(abs(r["clock_shift_ns"]) < 1000 for r in document["ranks"]), "clocks", document["ranks"])
    expect(all(row["wait_ns"] < 1000 for row in document["collectives"]), "waits", document["collectives"])
    expect(any("other steps" in w["text"] for w in document["warnings"]), "warned", document["warnings"])


def test_sampled_recordings(folder):
    """Each rank lacks another all-reduce of every step: those that run together are matched, and every remedy can be tried."""
    def body(ranks, _):
        for layer in range(8):
            for rank in ranks:
                planted_traces.layers(rank, 2, 300)
                rank.work(150 * rank.rank)
            planted_traces.collective(ranks, 100 + 10 * layer)
        for rank in ranks:
            rank.free[7] = max(rank.free[7], rank.free[20])
            planted_traces.update(rank)
    whole = planted_traces.run_ranks(os.path.join(folder, "whole.json.gz"), 2, 4, body)
    paths, kept = [], []
    for rank in range(2):
        with gzip.open(whole[rank], "rt") as file:
            document = json.load(file)
        reduces = [e for e in document["traceEvents"] if e["cat"] == "kernel" and "AllReduce" in e["name"]]
        gone = {id(e) for i, e in enumerate(reduces) if i % 8 == (2, 4)[rank]}
        for event in reduces:  # recorded without metadata
            event["args"] = {key: event["args"][key] for key in ("device", "stream", "correlation")}
        kept.append({i for i in range(len(reduces)) if i % 8 != (2, 4)[rank]})
        document["traceEvents"] = [e for e in document["traceEvents"] if id(e) not in gone]
        paths.append(os.path.join(folder, f"sampled{rank}.json"))
        with open(paths[-1], "w", encoding="utf-8") as file:
            file.write(json.dumps(document))
    document = analyze(paths)
    expect(len(document["collectives"]) == len(kept[0] & kept[1]) == 24, "matched", len(document["collectives"]), kept)
    lengths = [(row["transfer_ns"] + 500) // 1000 for row in document["collectives"]]
    expect(lengths == [100, 110, 130, 150, 160, 170] * 4, "all but the third and the fifth of each step", lengths)
    expect(document["remedies_tried"]["outcome"] == "tried", "replayed", document["remedies_tried"])


def test_steps_of_some_ranks(folder):
    """Rank 1 of three recorded none of the chosen steps: it is left out, and the others are matched."""
    paths = []
    for number in range(3):
        rank = planted_traces.Rank(number, 3)

        def body(rank, _):
            planted_traces.layers(rank, 3, 400)
            planted_traces.collective([rank], 300)
            planted_traces.update(rank)
        planted_traces.steps(rank, 3, body, first=1 if number != 1 else 7)
        paths.append(rank.write(os.path.join(folder, f"some{number}.json")))
    document = analyze(paths, "--steps", "2:3")
    expect([len(rank["steps"]) for rank in document["ranks"]] == [2, 3, 2], "steps", document["ranks"])
    expect(any("rank 1" in w["text"] and "left out" in w["text"] for w in document["warnings"]), "warned", document["warnings"])
    expect({row["rank"] for row in document["critical_path"]["by_rank"]} == {0, 2}, "ranks", document["critical_path"]["by_rank"])
    done = subprocess.run([PACELINE, "analyze", *paths, "--steps", "5"], capture_output=True, text=True)
    expect(done.returncode == 2 and "1 to 3" in done.stderr, "nobody has it", done.returncode, done.stderr)
    done = subprocess.run([PACELINE, "analyze", paths[0], "--steps", "2", "--format", "perfetto"], capture_output=True, text=True)
    expect(done.returncode == 2 and "slice" in done.stderr, "perfetto", done.returncode, done.stderr)


def test_cycles(folder):
    """Files of each rank, recorded one after the other: the cycle of the median step is analysed, on all ranks, or the one that has the
    chosen steps. Where no rank is named, the process tells."""
    def written(name, number, cycle, work, world):
        rank = planted_traces.Rank(number, world, start=1000.0 + 1e6 * cycle)

        def body(rank, _):
            planted_traces.layers(rank, 3, work)
            planted_traces.update(rank)
        planted_traces.steps(rank, 3, body, first=1 + 6 * cycle)
        return rank.write(os.path.join(folder, f"{name}{number}.{cycle}.json"))

    paths = [written("cycle", number, cycle, (400, 800, 600)[cycle], 2) for number in range(2) for cycle in range(3)]
    for words, labels in (([], ["ProfilerStep#13", "ProfilerStep#14", "ProfilerStep#15"]), (["--steps", "7:8"], ["ProfilerStep#7", "ProfilerStep#8"])):
        document = analyze(paths, *words)
        expect([row["label"] for row in document["step_table"]] == labels, "steps", document["step_table"])
        expect(len(document["critical_path"]["by_rank"]) == 2, "ranks", document["critical_path"]["by_rank"])
    document = analyze(paths)
    rows = document["cycles"]
    expect([(row["rank"], row["cycle"], row["after_ns"], row["steps"]) for row in rows] ==
           [(str(number), cycle + 1, cycle * 10 ** 9, 3) for number in range(2) for cycle in range(3)], "cycles", rows)
    expect([row["verdict"] for row in rows] == ["", "", "analysed"] * 2, "the median", rows)
    expect(rows[0]["step_ns"] < rows[2]["step_ns"] < rows[1]["step_ns"], "their steps", rows)
    expect([w["code"] for w in document["warnings"] if "cycle" in w["text"]] == ["cycles"], "warned once", document["warnings"])
    expect(document["remedies_tried"]["outcome"] == "tried", "remedies", document["remedies_tried"])
    walked = json_of("predict", *paths)
    expect([row["rank"] for row in walked["ranks"]] == [0, 1], "predict walks one cycle of each rank", walked["ranks"])
    alone = json_of("predict", *paths[2::3])
    expect(walked["step"] == alone["step"], "as if it had no others", walked["step"], alone["step"])
    expect(any(w["code"] == "ranks_missing" for w in analyze(paths[:3])["warnings"]), "two cycles are no two ranks")

    unnamed = []
    for cycle in range(2):
        with open(written("one", 0, cycle, 400 + 200 * cycle, 1)) as file:
            trace = json.load(file)
        trace.pop("distributedInfo", None)
        unnamed.append(os.path.join(folder, f"unnamed.{cycle}.json"))
        with open(unnamed[-1], "w") as file:
            file.write(json.dumps(trace))
    document = analyze(unnamed)
    expect([row["verdict"] for row in document["cycles"]] == ["analysed", ""] and len(document["step_table"]) == 3, "one process", document["cycles"])
    for event in trace["traceEvents"]:  # another process, which ran later
        if event.get("cat") not in ("kernel", "gpu_memcpy", "gpu_memset"):
            event["pid"] = 99
    with open(unnamed[1], "w") as file:
        file.write(json.dumps(trace))
    expect("cycles" not in analyze(unnamed), "another process")


def test_no_common_step(folder):
    paths = []
    for number in range(3):
        rank = planted_traces.Rank(number, 3)

        def body(rank, _):
            planted_traces.layers(rank, 4, 400)
            planted_traces.collective([rank], 300)
            planted_traces.update(rank)
        planted_traces.steps(rank, 1, body, first=10 + number)
        paths.append(rank.write(os.path.join(folder, f"apart{number}.json")))
    document = analyze(paths)
    expect(document["collectives"] == [], "nothing is matched", document["collectives"])
    expect(any("none of the steps" in w["text"] for w in document["warnings"]), "warned", document["warnings"])


def test_nobody_late(folder):
    document = analyze(job(os.path.join(folder, "alike"), 3))
    expect(all(row["times_last"] == row["late_ns"] == 0 for row in document["balance"]), "late", document["balance"])
    expect(any("No rank makes the others wait" in s for s in document["summary"]), "said", document["summary"])


def test_groups_that_never_meet(folder):
    """Four pairs of ranks, each with all-reduces of its own: what is said of lateness holds within a pair alone."""
    def body(ranks, _):
        for rank in ranks:
            planted_traces.layers(rank, 4)
        for first in range(0, len(ranks), 2):
            planted_traces.collective(ranks[first:first + 2], 300, **{"Process Group Ranks": str([first, first + 1])})
    apart = analyze(planted_traces.run_ranks(os.path.join(folder, "apart.json.gz"), 8, 4, body))["summary"]
    expect(any("4 groups of ranks never meet" in s for s in apart), "said", apart)
    expect(not any("all reach collectives together" in s for s in apart), "not all together", apart)


def test_late_among_many(folder):
    """The slow rank of 20 is reported, leads the table, and its others' waiting is what it took longer."""
    paths = job(os.path.join(folder, "many"), 20, slow=[17])
    document = analyze(paths)
    first = document["balance"][0]
    expect(document["critical_path"]["by_rank"][0]["rank"] == 17, "path", document["critical_path"]["by_rank"][0])
    table = subprocess.run([PACELINE, "analyze", *paths], capture_output=True, text=True, check=True).stdout
    expect(table.split("The whole trace")[1].split("\n")[2].startswith("17 "), "windows", table.split("The whole trace")[1][:400])
    longer = 4 * 3 * 240000  # four layers, forward and twice as long backward
    expect(document["slowest_rank"] == 17, "reported", document["slowest_rank"])
    expect(first["rank"] == 17 and first["times_last"] == 4, "first row", first)
    expect(abs(first["late_ns"] - 4 * longer) < 4 * 5000, "late by", first["late_ns"], 4 * longer)
    expect(any("waits longest for others" in s for s in document["summary"]), "who waits", document["summary"])
    expect(any("others wait for rank 17" in s for s in document["summary"]), "said", document["summary"])


def test_two_late(folder):
    """Two of eight are as slow as each other: neither alone makes the others wait, both together do."""
    document = analyze(job(os.path.join(folder, "pair"), 8, slow=[3, 6]))
    late = [row["rank"] for row in document["balance"] if row["late_ns"] > 1000000]
    expect(late == [3, 6], "late", document["balance"])
    expect(document["slowest_rank"] in (3, 6), "reported", document["slowest_rank"])
    expect(any("others wait for rank" in s and "and 1 more" in s for s in document["summary"]), "said", document["summary"])


def test_other_run(folder):
    paths = []
    for number, world in ((0, 4), (1, 8)):
        rank = planted_traces.Rank(number, world)
        planted_traces.steps(rank, 1, lambda rank, _: planted_traces.layers(rank, 2))
        paths.append(rank.write(os.path.join(folder, f"world{number}.json")))
    done = subprocess.run([PACELINE, "analyze", *paths], capture_output=True, text=True)
    expect(done.returncode == 3 and "different runs" in done.stderr, "refused", done.returncode, done.stderr)


def test_run_of_another_hour(folder):
    """Ranks of equal worlds whose recordings are two hours apart; two seconds, as clocks may be, are none."""
    for shift_us, code in ((2e6, 0), (7.2e9, 3)):
        paths = []
        for number in range(2):
            rank = planted_traces.Rank(number, 2)
            planted_traces.steps(rank, 2, lambda rank, _: planted_traces.layers(rank, 2))
            paths.append(rank.write(os.path.join(folder, f"hour{number}.json")))
        with open(paths[1], encoding="utf-8") as file:
            document = json.load(file)
        for event in document["traceEvents"]:
            if "ts" in event:
                event["ts"] += shift_us
        with open(paths[1], "w", encoding="utf-8") as file:
            file.write(json.dumps(document))
        done = subprocess.run([PACELINE, "analyze", *paths], capture_output=True, text=True)
        expect(done.returncode == code and ("different runs" in done.stderr) == (code == 3), "shifted", shift_us, done.returncode, done.stderr)


def test_files_without_ranks(folder):
    """Two traces that do not say which rank they are of go by the names of their files."""
    paths = []
    for name in ("first.json", "second.json"):
        rank = planted_traces.Rank()
        planted_traces.steps(rank, 2, lambda rank, _: planted_traces.layers(rank, 2))
        paths.append(rank.write(os.path.join(folder, name)))
    table = subprocess.run([PACELINE, "analyze", *paths], capture_output=True, text=True, check=True).stdout
    expect("\nfirst.json " in table and "\nsecond.json " in table and "for the slowest, first.json" in table, "names", table)


def test_before_the_trace(folder):
    """Rank 1's trace begins after its step did: what it did before is not the host's."""
    paths = job(os.path.join(folder, "late_start"), 2, slow=[1], count=1)
    import gzip
    import json
    with gzip.open(paths[1], "rt") as file:
        document = json.load(file)
    begins = sorted(e["ts"] for e in document["traceEvents"] if e["cat"] == "kernel")[3]
    document["traceEvents"] = [e for e in document["traceEvents"] if e["ts"] >= begins and "Profiler" not in e["name"]]
    with gzip.open(paths[1], "wt") as file:
        file.write(json.dumps(document))
    path = analyze(paths, "--rank", "0")["critical_path"]
    expect(path["before_trace_ns"] > 1000000, "before the trace", path)
    expect(path["by_resource"]["gap_ns"] >= path["before_trace_ns"], "as a gap", path["by_resource"])
    expect(path["by_resource"]["host_ns"] < 100000, "not as the host's", path["by_resource"])


with tempfile.TemporaryDirectory() as work:
    test_a_step_less(work)
    test_sampled_recordings(work)
    test_steps_of_some_ranks(work)
    test_cycles(work)
    test_no_common_step(work)
    test_nobody_late(work)
    test_groups_that_never_meet(work)
    test_late_among_many(work)
    test_two_late(work)
    test_other_run(work)
    test_run_of_another_hour(work)
    test_files_without_ranks(work)
    test_before_the_trace(work)
sys.exit(finish())
