"""What the allocator held: peaks by device and who holds memory at the peak, against the same events read by Python."""
import bisect
import collections
import json
import os
import random
import sys
import tempfile

from checks import SOURCE, expect, finish
from planted_traces import Rank
from raw_trace import Events, analyze, end, length, recordings, start


def operators_of(events):
    """By thread, the operators by start: the innermost around an instant is the last begun that has not ended."""
    threads = collections.defaultdict(list)
    for event in events.of("cpu_op", "operator"):
        if not event["name"].startswith("ProfilerStep#"):
            threads[str(event["pid"]), str(event["tid"])].append(event)
    for thread in threads.values():
        thread.sort(key=lambda e: (start(e), -length(e)))
    return {key: ([start(e) for e in thread], thread) for key, thread in threads.items()}


def asker(threads, event):
    starts, operators = threads.get((str(event["pid"]), str(event["tid"])), ([], []))
    at, around = start(event), []
    for place in range(bisect.bisect_right(starts, at) - 1, -1, -1):
        if end(operators[place]) >= at:
            around.append(operators[place]["name"])
            if not around[-1].startswith("aten::empty"):
                return around[-1]
        if at - starts[place] > 100_000_000:
            break
    return around[-1] if around else "(outside all operators)"


def check(path, name):
    events, answer = Events(path), analyze(path)
    memory = sorted((e for e in events.all if e.get("name") == "[memory]"), key=start)
    devices = collections.defaultdict(list)
    for event in memory:
        given = event["args"]
        devices["host" if given["Device Type"] == 0 else f"device {given['Device Id']}"].append(event)
    expect({row["device"] for row in answer["memory_devices"]} == set(devices), name, "devices")
    threads = operators_of(events)
    for row in answer["memory_devices"]:
        of = devices[row["device"]]
        totals = "Total Allocated" in of[0]["args"]
        held, now = [], 0
        for event in of:
            now = event["args"]["Total Allocated"] if totals else now + event["args"]["Bytes"]
            held.append(now)
        peak = held.index(max(held))
        expect(row["peak_bytes"] == max(held) and row["last_bytes"] == held[-1] and row["events"] == len(of), name, row, max(held))
        expect(row["first_bytes"] == (held[0] - of[0]["args"]["Bytes"] if totals else None), name, row)
        expect(row["peak_reserved_bytes"] == (max(e["args"]["Total Reserved"] for e in of) if totals else None), name, row)
        expect(row["taken_bytes"] == sum(max(0, e["args"]["Bytes"]) for e in of), name, row)
        live, addresses = {}, "Addr" in of[0]["args"]
        for event in of[:peak + 1]:
            if event["args"]["Bytes"] > 0:
                live[event["args"].get("Addr")] = event
            else:
                live.pop(event["args"].get("Addr"), None)
        wanted = collections.defaultdict(lambda: [0, 0, 0, 0])
        for event in of:
            size = event["args"]["Bytes"]
            if size > 0:
                own = wanted[asker(threads, event)]
                own[0], own[1], own[2] = own[0] + 1, own[1] + size, max(own[2], size)
        for event in live.values() if addresses else ():
            wanted[asker(threads, event)][3] += event["args"]["Bytes"]
        rows = {r["name"]: r for r in answer["memory_operators"] if r["device"] == row["device"]}
        expect(set(rows) == set(wanted), name, "operators", set(rows) ^ set(wanted))
        for operator, found in rows.items():
            own = wanted[operator]
            expect([found["times"], found["taken_bytes"], found["largest_bytes"]] == own[:3], name, operator, found, own)
            expect(found["at_peak_bytes"] == (own[3] if addresses else None), name, operator, found, own)
        if totals and addresses and row["first_bytes"] == 0:
            expect(sum(own[3] for own in wanted.values()) == row["peak_bytes"], name, "what holds the peak", row)


def test_random(folder):
    """Blocks taken and given back at random on two devices; the file is not in order of time."""
    draw, rank, held, blocks = random.Random(11), Rank(), collections.Counter(), {}
    for number in range(600):
        device = draw.choice([0, 1])
        with rank.operator(draw.choice(["aten::mm", "aten::add", "aten::empty"])):
            rank.work(2)
            if number % 5 == 0:
                with rank.operator("aten::empty"):
                    rank.work(1)
            free = [key for key in blocks if key[0] == device]
            if free and draw.random() < 0.45:
                key = draw.choice(free)
                size = -blocks.pop(key)
            else:
                key, size = (device, 4096 * (number + 1)), draw.randrange(1, 1 << 20)
                blocks[key] = size
            held[device] += size
            rank.events.append({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1, "tid": rank.thread, "ts": round(rank.now, 3),
                                "args": {"Total Reserved": 1 << 30, "Total Allocated": held[device], "Bytes": size, "Addr": key[1], "Device Id": device, "Device Type": 1}})
            rank.work(2)
    document = rank.document() if all("dur" in e for e in rank.events) else {"traceEvents": rank.events}
    draw.shuffle(document["traceEvents"])
    path = os.path.join(folder, "random.json")
    with open(path, "w") as file:
        file.write(json.dumps(document))
    check(path, "random")


def test_held_for():
    """Recordings on a CPU against PyTorch's own memory profiler, which follows tensors: but for scalars (128 bytes in
    all). On a CPU what was there before
    the recording is not known; PyTorch tells inputs by name, the inference counts those made outside a loader as activations."""
    folder = os.path.join(SOURCE, "tests", "data", "memory")
    with open(os.path.join(folder, "pytorch.json")) as file:
        said = json.load(file)["held_for"]
    for name, wanted in said.items():
        rows = {row["name"]: row for row in analyze(os.path.join(folder, name + ".json.gz"))["memory_kinds"]}
        for ours, theirs in (("optimizer state", ["optimizer_state"]), ("gradients", ["gradient"]), ("activations", ["activation", "input"]),
                             ("temporary", ["temporary", "autograd_detail", "unknown"])):
            expect(abs(rows[ours]["at_peak_bytes"] - sum(wanted["at_peak"][t] for t in theirs)) <= 128, name, ours, rows[ours], wanted)
            if len(theirs) == 1:
                expect(abs(rows[ours]["most_bytes"] - wanted["most"][theirs[0]]) <= 128, name, ours, rows[ours], wanted)


def test_before(folder):
    """A device that held parameters before the recording: as much as the gradients; what nobody names is said to be from before."""
    rank, held = Rank(), [1000]

    def memory(size, address):
        held[0] += size
        rank.events.append({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1, "tid": rank.thread, "ts": round(rank.now, 3),
                            "args": {"Total Reserved": 1 << 30, "Total Allocated": held[0], "Bytes": size, "Addr": address, "Device Id": 0, "Device Type": 1}})
        rank.work(1)
    for number in range(3):
        with rank.annotate("ProfilerStep#%d" % number):
            with rank.operator("aten::linear", **{"Sequence number": 10 + number}):
                rank.work(2)
                memory(64, 1)
                memory(-64, 1)
                memory(500, 2)
            with rank.operator("autograd::engine::evaluate_function: AddmmBackward0", **{"Sequence number": 10 + number, "Fwd thread id": 1}):
                memory(300, 3)
                with rank.operator("aten::mm"):
                    rank.work(2)
            with rank.operator("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"):
                memory(-500, 2)
            with rank.operator("Optimizer.step#Adam.step"):
                with rank.operator("aten::_foreach_add_"):
                    rank.work(2)
                    if number == 0:
                        memory(600, 9)
            with rank.operator("Optimizer.zero_grad#Adam.zero_grad"):
                rank.work(1)
                memory(-300, 3)
    memory(-100, 77)  # nobody took it in this recording
    path = os.path.join(folder, "before.json")
    with open(path, "w") as file:
        file.write(json.dumps({"traceEvents": rank.events}))
    answer = analyze(path)
    rows = {row["name"]: (row["at_peak_bytes"], row["most_bytes"]) for row in answer["memory_kinds"]}
    expect(rows["parameters"] == (300, 300) and rows["before the recording"] == (700, 700), rows)
    expect(rows["gradients"][1] == 300 and rows["activations"][1] == 500 and rows["optimizer state"] == (600, 600) and rows["temporary"][1] == 64, rows)
    expect(sum(row[0] for row in rows.values()) == answer["memory_devices"][0]["peak_bytes"], "sums to the peak", rows)
    last = answer["memory_timeline"][-1]
    expect((last["total_bytes"], last["before_bytes"], last["parameter_bytes"], last["optimizer_bytes"]) == (1500, 600, 300, 600), last)
    for state in answer["memory_timeline"]:
        expect(state["total_bytes"] == sum(value for key, value in state.items() if key.endswith("_bytes") and key != "total_bytes"), state)


with tempfile.TemporaryDirectory() as folder:
    test_random(folder)
    test_before(folder)
test_held_for()
for name, path in recordings().items():
    if name.startswith("tl_") or name.startswith("kineto_"):
        check(path, name)
sys.exit(finish())
