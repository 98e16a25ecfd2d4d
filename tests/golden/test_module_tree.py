"""Device time by module, Python's own time, and both by call stack, against the same events read by Python."""
import collections
import os
import random
import re
import sys
import tempfile

from checks import expect, finish, run
from planted_traces import Rank
from raw_trace import Events, all_of, analyze, arguments, length, nest, recordings

def part(node):
    name, category = node.event["name"], node.event["cat"]
    if category == "python_function" and name.startswith("nn.Module: "):
        return re.sub(r"_\d+$", "", name[len("nn.Module: "):])
    return name if category == "user_annotation" and not name.startswith("ProfilerStep#") else None


def path_of(node):
    parts = []
    while node:
        if part(node):
            parts.insert(0, part(node))
        node = node.parent
    return tuple(parts)


def check_tree(path, name, forward_of=None):
    """forward_of: a host node of the backward pass -> that of its forward operator; None = not linked."""
    events, answer = Events(path), analyze(path)
    nodes = list(all_of(nest(events)))
    calls = {arguments(node.event).get("correlation"): node for node in nodes if node.event["cat"].startswith("cuda_")}
    by_name = {node.event["name"]: node for node in nodes}
    wanted = collections.defaultdict(lambda: [0, 0])
    for work in events.device:
        launch = calls.get(arguments(work).get("correlation"))
        linked = forward_of(launch, by_name) if forward_of and launch else None
        where = path_of(linked or launch)
        for depth in range(1, len(where) + 1):
            wanted[where[:depth]][linked is not None] += length(work)
    instances = collections.defaultdict(set)
    frames = collections.Counter()
    for node in nodes:
        if part(node):
            instances[path_of(node)].add(node.event["name"])
            frames[path_of(node)] += 1
    rows = {tuple(row["path"].split(" > ")): row for row in answer["module_tree"]}
    expect(set(rows) == set(instances), name, "paths", set(rows) ^ set(instances))
    for where, row in rows.items():
        forward, backward = wanted[where]
        expect(row["time_ns"] == forward + backward, name, where, row, forward, backward)
        if forward_of:
            expect((row["forward_ns"] + row["other_ns"], row["backward_ns"]) == (forward, backward), name, where, row, forward, backward)
        expect((row["instances"], row["calls"]) == (len(instances[where]), frames[where]), name, where, row)
        below = sum(r["time_ns"] for w, r in rows.items() if len(w) == len(where) + 1 and w[:-1] == where)
        expect(row["own_ns"] == row["time_ns"] - below, name, where, "own", row)
    for row in answer["module_classes"]:
        of = [w for w, r in rows.items() if r["kind"] == "module" and w[-1] == row["name"]]
        outer = [w for w in of if row["name"] not in w[:-1]]
        expect(row["own_ns"] == sum(rows[w]["own_ns"] for w in of) and row["time_ns"] == sum(rows[w]["time_ns"] for w in outer), name, row)
    return answer, nodes, events, calls


def check_frames(answer, nodes, events, calls, name):
    own = collections.defaultdict(lambda: [0, 0, 0, 0])

    def key(node):
        text = re.sub(r" at 0x\w+", "", node.event["name"])
        return re.sub(r"_\d+$", "", text) if text.startswith("nn.Module: ") else text
    for node in nodes:
        if node.event["cat"] == "python_function":
            row = own[key(node)]
            row[0] += 1
            row[1] += length(node.event) - sum(length(c.event) for c in node.children)
            row[2] += sum(length(c.event) for c in node.children if c.event["cat"] != "python_function")
    for work in events.device:
        at = calls.get(arguments(work).get("correlation"))
        while at and at.event["cat"] != "python_function":
            at = at.parent
        if at:
            own[key(at)][3] += length(work)
    rows = {row["name"]: row for row in answer["python_frames"]}
    expect(set(rows) == set(own), name, "functions", set(rows) ^ set(own))
    for function, row in rows.items():
        calls_made, alone, operators, device = own[function]
        expect((row["calls"], row["self_ns"], row["operators_ns"], row["device_ns"]) == (calls_made, max(0, alone), operators, device), name, row, own[function])


def folded(path, form):
    code, out, err = run("analyze", path, "--format", form)
    expect(code == 0, path, form, err)
    stacks = [line.rsplit(" ", 1) for line in out.splitlines()]
    expect(len({stack for stack, _ in stacks}) == len(stacks), path, form, "each stack once")
    return {tuple(stack.split(";")): int(ns) for stack, ns in stacks}


def stack_of(node):
    names = []
    while node:
        name = node.event["name"]
        if node.event["cat"] == "python_function":
            name = re.sub(r"_\d+$", "", name) if name.startswith("nn.Module: ") else re.sub(r" at 0x\w+", "", name)
        names.insert(0, name.replace(";", ","))
        node = node.parent
    return tuple(names)


def check_stacks(path, nodes, events, calls, name, forward_of=None):
    """The folded formats: host time and device time by stack, threads apart. A backward launch stands below its forward operator."""
    host, device = collections.Counter(), collections.Counter()
    by_name = {node.event["name"]: node for node in nodes}
    for node in nodes:
        host[stack_of(node)] += length(node.event) - sum(length(c.event) for c in node.children)
    for work in events.device:
        launch = calls.get(arguments(work).get("correlation"))
        forward = forward_of(launch, by_name) if forward_of and launch else None
        stack = stack_of(launch) if launch else ("(no launch recorded)",)
        if forward:
            stack = stack_of(forward) + ("(backward)",) + stack
        device[stack + (work["name"].replace(";", ","),)] += length(work)
    found = collections.Counter()
    for stack, ns in folded(path, "folded").items():
        expect("hread " in stack[0], name, "the thread heads a stack", stack[0])
        found[stack[1:]] += ns
    expect(found == +host, name, "host stacks", (found - +host).most_common(3), (+host - found).most_common(3))
    found = collections.Counter()
    for stack, ns in folded(path, "folded_device").items():
        found[stack[1:] if "hread " in stack[0] else stack] += ns
    expect(found == +device, name, "device stacks", (found - device).most_common(3), (device - found).most_common(3))


def test_backward(folder):
    """A backward pass on another thread, linked by sequence numbers: its time belongs to the forward modules."""
    draw, rank, made = random.Random(5), Rank(), []
    with rank.annotate("ProfilerStep#1"):
        with rank.function("nn.Module: Net_0"):
            for layer in range(8):
                with rank.function(f"nn.Module: {draw.choice(['Linear', 'Norm'])}_{layer}"):
                    rank.work(3)
                    with rank.operator("aten::forward", **{"Sequence number": 100 + layer}):
                        rank.work(2)
                        rank.issue("cudaLaunchKernel", "kernel", "forward_kernel", draw.randrange(5, 90), 7)
                    made.append(layer)
        main, rank.thread = rank.thread, 300
        for layer in reversed(made):
            with rank.operator(f"backward_of_{layer}", **{"Sequence number": 100 + layer, "Fwd thread id": 1}):
                rank.work(3)
                with rank.operator("aten::inner"):
                    rank.issue("cudaLaunchKernel", "kernel", "backward_kernel", draw.randrange(9, 200), 7)
        rank.thread = main
        with rank.annotate("Optimizer.step#SGD.step"):
            rank.kernel("aten::_foreach_add_", 33)
    forwards = {}

    def forward_of(launch, by_name):
        if not forwards:
            node = by_name["nn.Module: Net_0"]
            for child in all_of([node]):
                if child.event["name"] == "aten::forward":
                    forwards[child.event["args"]["Sequence number"]] = child
        while launch:
            if launch.event["name"].startswith("backward_of_"):
                return forwards[launch.event["args"]["Sequence number"]]
            launch = launch.parent
        return None
    path = rank.write(os.path.join(folder, "backward.json"))
    answer, *rest = check_tree(path, "backward", forward_of)
    check_frames(answer, *rest, "backward")
    check_stacks(path, *rest, "backward", forward_of)
    expect(any(row["backward_ns"] > 0 and row["name"].strip() == "Linear" for row in answer["module_tree"]), "backward in a module")


with tempfile.TemporaryDirectory() as folder:
    test_backward(folder)
for name, path in recordings().items():
    if name.startswith("tl_"):
        answer, *rest = check_tree(path, name)
        check_frames(answer, *rest, name)
        check_stacks(path, *rest, name)
sys.exit(finish())
