"""Kernels by name: calls, times, occupancy and launches, against the same events read by Python."""
import collections
import os
import random
import statistics
import sys
import tempfile

from checks import SHARED, expect, finish
from planted_traces import Rank
from raw_trace import Events, analyze, arguments, length, near, recordings


def occupancy_of(event):
    """None where the estimate contradicts itself: no occupancy, yet a warp on every multiprocessor."""
    given = arguments(event)
    if "est. achieved occupancy %" not in given:
        return None
    occupancy, block = float(given["est. achieved occupancy %"]), given["block"]
    threads = block[0] * block[1] * block[2] * float(given.get("blocks per sm", 0))
    return None if occupancy == 0 and threads >= 32 else occupancy / 100


def launch_of(event):
    given = arguments(event)
    return (tuple(given["grid"]), tuple(given["block"]), str(given.get("est. achieved occupancy %")), str(given.get("blocks per sm"))) if "grid" in given else None


def written(three):
    three = [int(part) for part in three]
    while len(three) > 1 and three[-1] == 1:
        three.pop()
    return " x ".join(map(str, three))


def check(path, name):
    events = collections.defaultdict(list)
    for event in Events(path).device:
        events[event["name"]].append(event)
    rows = {row["name"]: row for row in analyze(path)["kernels"]}
    total = sum(length(e) for group in events.values() for e in group)
    expect(set(rows) == set(events), name, "names", set(rows) ^ set(events))
    for kernel, row in rows.items():
        group = events[kernel]
        times = [length(e) for e in group]
        expect((row["calls"], row["time_ns"], row["least_ns"], row["most_ns"]) == (len(times), sum(times), min(times), max(times)), name, kernel, row)
        expect(near(row["median_ns"], statistics.median(times)) and near(row["mean_ns"], statistics.mean(times)), name, kernel, row)
        expect(near(row["std_ns"], statistics.stdev(times) if len(times) > 1 else None, absolute=0.51), name, kernel, row)
        expect(near(row["share"], sum(times) / total, absolute=1e-9), name, kernel, row)
        known = [(occupancy_of(e), length(e)) for e in group if launch_of(e)]
        time = sum(t for o, t in known if o is not None)
        wanted = sum(o * t for o, t in known if o is not None) / time if time else None
        expect(near(row["occupancy"], wanted, absolute=1e-6), name, kernel, row["occupancy"], wanted)
        launches = collections.Counter()
        for event in group:
            if launch_of(event):
                launches[launch_of(event)] += length(event)
        expect(row["launches"] == len(launches), name, kernel, "shapes", row["launches"], len(launches))
        if launches:
            most = max(launches.values())
            best = {(written(l[0]), written(l[1])) for l, t in launches.items() if t >= most - len(group)}
            expect((row["grid"], row["block"]) in best, name, kernel, row, best)


def check_durations(path, name):
    times = [length(e) for e in Events(path).device if e["cat"].lower() == "kernel"]
    rows = analyze(path)["kernel_durations"]
    expect(bool(rows) == bool(times), name, "durations")
    for row, after in zip(rows, rows[1:] + [None]):
        own = [t for t in times if row["from_ns"] <= t and (row["to_ns"] is None or t < row["to_ns"])]
        expect((row["kernels"], row["time_ns"]) == (len(own), sum(own)), name, row, len(own), sum(own))
        expect(after is None or after["from_ns"] == row["to_ns"], name, "bins without gaps", row)
    expect(sum(row["kernels"] for row in rows) == len(times), name, "every kernel is in a bin")


def test_random(folder):
    """Kernels of random times and launches, some of them without."""
    draw, rank = random.Random(7), Rank()
    for number in range(400):
        shape = {} if number % 9 == 0 else {"grid": [draw.choice([1, 7, 400]), draw.choice([1, 3]), 1], "block": [draw.choice([32, 256]), 1, 1],
                 "est. achieved occupancy %": draw.choice([0, 12, 50, 100]), "blocks per SM": draw.choice([0.009259, 0.5, 3.7])}
        with rank.operator("aten::add"):
            rank.work(3)
            rank.issue("cudaLaunchKernel", "kernel", draw.choice(["one_kernel", "another<int>", "third"]), round(draw.expovariate(0.1), 3), 7, **shape)
    path = rank.write(os.path.join(folder, "random.json"))
    check(path, "random")
    check_durations(path, "random")


def test_ranks(paths):
    """The same events on two ranks: who spends least and most in each kernel."""
    sums = []
    for path in paths:
        sums.append(collections.defaultdict(list))
        for event in Events(path).device:
            sums[-1][event["name"]].append(length(event))
    rows = {row["name"]: row for row in analyze(*paths)["kernels_by_rank"]}
    expect(set(rows) == set(sums[0]) | set(sums[1]), "names")
    for kernel, row in rows.items():
        times = {f"rank {rank}": sum(own[kernel]) for rank, own in enumerate(sums) if kernel in own}
        calls = [len(own[kernel]) for own in sums if kernel in own]
        expect((row["ranks"], row["least_calls"], row["most_calls"]) == (len(times), min(calls), max(calls)), kernel, row)
        expect((row["least_ns"], row["most_ns"]) == (min(times.values()), max(times.values())), kernel, row)
        expect(times[row["least_rank"]] == row["least_ns"] and times[row["most_rank"]] == row["most_ns"], kernel, row)
        expect(near(row["median_ns"], statistics.median(times.values())), kernel, row)


with tempfile.TemporaryDirectory() as folder:
    test_random(folder)
for name, path in recordings().items():
    check(path, name)
    if name.startswith(("tl_qwen", "hta_resnet")):
        check_durations(path, name)
pair = [os.path.join(SHARED, "kineto", f"hta_sampled_128ranks_rank{rank}.json.gz") for rank in (0, 1)]
if all(map(os.path.exists, pair)):
    test_ranks(pair)
sys.exit(finish())
