"""Launch calls, launch delays, queues of streams and copies, against the same events read by Python."""
import collections
import os
import random
import statistics
import sys
import tempfile

from checks import expect, finish
from planted_traces import Rank
from raw_trace import DEVICE, Events, analyze, arguments, end, length, near, recordings, start

SHORT, LONG_CALL, LONG_DELAY, FULL = 10_000, 50_000, 100_000, 1024  # catalog/launches.yaml


def percentile(values, share):
    values = sorted(values)
    place = share * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (place - low) * (values[high] - values[low])


def pairs_of(events):
    """Device work with the call of its correlation; the first call of a number keeps it."""
    calls = {}
    for call in events.calls:
        calls.setdefault(arguments(call).get("correlation"), call)
    return [(calls[c], work) for work in events.device if (c := arguments(work).get("correlation")) and c in calls]


def check_launches(rows, pairs, name):
    by = collections.defaultdict(list)
    for call, work in pairs:
        by[call["name"]].append((call, work))
        by["all launches"].append((call, work))
    expect({row["call"] for row in rows} == set(by), name, "calls", rows, set(by))
    for row in rows:
        of = by[row["call"]]
        calls = [length(call) for call in {id(call): call for call, _ in of}.values()]
        delays = [max(0, start(work) - end(call)) for call, work in of]
        short = [length(work) for _, work in of if length(work) < SHORT]
        expect((row["calls"], row["call_sum_ns"], row["call_most_ns"]) == (len(calls), sum(calls), max(calls)), name, row)
        expect(near(row["call_median_ns"], percentile(calls, 0.5)) and near(row["call_p90_ns"], percentile(calls, 0.9)), name, row)
        expect(near(row["delay_median_ns"], percentile(delays, 0.5)) and near(row["delay_p90_ns"], percentile(delays, 0.9)), name, row)
        expect((row["work"], row["delay_most_ns"]) == (len(of), max(delays)), name, row)
        expect((row["long_calls"], row["long_delays"]) == (sum(c > LONG_CALL for c in calls), sum(d > LONG_DELAY for d in delays)), name, row)
        expect((row["short_work"], row["short_work_ns"]) == (len(short), sum(short)), name, row)
        expect(row["below_call"] == sum(length(work) < length(call) for call, work in of), name, row)


def check_queues(rows, pairs, name):
    streams = collections.defaultdict(list)
    for call, work in pairs:
        given = arguments(work)
        streams[f"device {given['device']} stream {given['stream']}"] += [(start(call), 0), (start(work), 1)]
    expect({row["stream"] for row in rows} == set(streams), name, "streams")
    for row in rows:
        changes, length_now, full, seen, empty = sorted(streams[row["stream"]]), 0, 0, [], 0
        for place, (at, begins) in enumerate(changes):
            length_now += -1 if begins else 1
            empty += begins and length_now == 0
            seen.append(length_now)
            if length_now >= FULL and place + 1 < len(changes):
                full += changes[place + 1][0] - at
        expect((row["most"], row["full_ns"], row["work"]) == (max(seen), full, len(changes) // 2), name, row, max(seen), full)
        expect(row["median_length"] == statistics.median(seen), name, row, statistics.median(seen))
        expect(near(row["empty_share"], empty / (len(changes) // 2), absolute=1e-9), name, row)


def check_copies(rows, events, name):
    kinds = collections.defaultdict(list)
    for event in events.device:
        if DEVICE[event["cat"].lower()] != "kernel":
            kinds[event["name"]].append(event)
    expect({row["name"] for row in rows} == set(kinds), name, "kinds")
    for row in rows:
        of = kinds[row["name"]]
        sized = [(int(arguments(e)["bytes"]), length(e)) for e in of if "bytes" in arguments(e)]
        expect((row["calls"], row["time_ns"]) == (len(of), sum(map(length, of))), name, row)
        expect(row["total_bytes"] == (sum(b for b, _ in sized) if sized else None), name, row)
        time = sum(t for _, t in sized)
        expect(near(row["bytes_per_s"], sum(b for b, _ in sized) / time * 1e9 if time else None, relative=1e-6), name, row)


def check(path, name):
    events, answer = Events(path), analyze(path)
    pairs = pairs_of(events)
    check_launches(answer["launches"], pairs, name)
    check_queues(answer["queues"], pairs, name)
    check_copies(answer["copies"], events, name)


def test_random(folder):
    """Two streams, one of them far behind the host: more than a full queue."""
    draw, rank = random.Random(3), Rank()
    for number in range(3000):
        with rank.operator("aten::add"):
            rank.work(draw.choice([1, 2, 70]) if number > 2200 else 1)
            if number % 50 == 7:
                rank.copy(draw.uniform(5, 80), stream=9, size=draw.randrange(1, 1 << 20))
            rank.issue(draw.choice(["cudaLaunchKernel", "cudaLaunchKernelExC"]), "kernel", "k", round(draw.expovariate(0.02), 3), 7)
    path = rank.write(os.path.join(folder, "random.json"))
    check(path, "random")
    expect(any(row["full_ns"] > 0 for row in analyze(path)["queues"]), "a full queue")


with tempfile.TemporaryDirectory() as folder:
    test_random(folder)
for name, path in recordings().items():
    check(path, name)
sys.exit(finish())
