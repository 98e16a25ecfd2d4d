"""Where the first step begins, which step the headline is of, and that a choice of steps changes no step's times."""
import os
import sys
import tempfile

import planted_traces
from checks import expect, finish, json_of
from leads import analyze


def train(rank, lengths_us, first=1):
    """Steps of matrix kernels as long as given; nothing waits for the device before the end."""
    for number, us in enumerate(lengths_us, first):
        with rank.annotate(f"ProfilerStep#{number}"):
            for _ in range(4):
                rank.kernel("aten::addmm", us / 4, name="ampere_sgemm_128x128_tn")
    rank.wait(call="cudaDeviceSynchronize")


def us(ns):
    return ns / 1000


def queued(folder, linked):
    """9 ms of kernels are in line when the first step begins; without their launches they stand before the trace."""
    rank = planted_traces.Rank()
    for _ in range(3):
        rank.kernel("aten::mul", 3000, name="vectorized_elementwise_kernel")
    before = rank.free[7]
    if not linked:
        rank.events = [e for e in rank.events if e["cat"] == "kernel"]
    train(rank, [4000, 4000, 4000, 4000])
    return analyze([rank.write(os.path.join(folder, "queued.json.gz"))]), before


def test_queued(folder):
    for linked in (True, False):
        document, before = queued(folder, linked)
        step = document["ranks"][0]["steps"][0]
        expect(abs(us(step["device_start_ns"]) - before) < 0.01, "the first step begins", step, "not at", before)
        lengths = [us(s["device_end_ns"] - s["device_start_ns"]) for s in document["ranks"][0]["steps"]]
        expect(all(abs(length - 4000) < 0.01 for length in lengths), "steps of 4 ms take", lengths)


def test_choice(folder):
    """Kernels of step 3 still run while step 4 is issued: alone or with the others, its times are the same."""
    rank = planted_traces.Rank()
    train(rank, [4000, 3000, 5000, 3500, 4500, 4100])
    path = rank.write(os.path.join(folder, "choice.json.gz"))
    whole = analyze([path])
    for number in range(1, 7):
        one = analyze([path], "--step-regex", f"ProfilerStep#{number}$")
        steps = one["ranks"][0]["steps"]
        expect(len(steps) == 1, "chosen", [s["label"] for s in steps])
        expect(steps[0] == whole["ranks"][0]["steps"][number - 1], "step", number, "alone", steps[0])
        expect(one["step_matrices"][0] == whole["step_matrices"][number - 1], "matrix of step", number)
        expect(one["critical_path"]["step"] == f"ProfilerStep#{number}", "the path is of", one["critical_path"]["step"])
    some = analyze([path], "--step-regex", "ProfilerStep#[246]")
    expect([s["label"] for s in some["step_matrices"]] == [f"ProfilerStep#{n}" for n in (2, 4, 6)], "three of six")


def test_left_out(folder):
    """A long first step and one long step among eight: the headline is of the median of the other six."""
    rank = planted_traces.Rank()
    train(rank, [9000, 4000, 4100, 3900, 8000, 4050, 3950, 4020])
    document = analyze([rank.write(os.path.join(folder, "left_out.json.gz"))])
    spread, said = document["step_spread"], " ".join(document["summary"])
    expect((spread["steps"], spread["left_out"]) == (6, 2), "usual steps and others", spread)
    expect(spread["typical"] == document["critical_path"]["step"] == "ProfilerStep#8", "typical step", spread)
    expect("4.020 ms (upper median of 6)" in said, "headline", said)
    expect("ProfilerStep#1 (warm-up, 9.009 ms)" in said and "ProfilerStep#5 (outlier, 8.000 ms)" in said, "left out", said)
    total = sum(sum(row.values()) for row in document["matrix"].values())
    expect(us(total) == 4020, "the matrix is of the typical step", total)
    for row in document["step_table"]:
        expect(0 <= row["device_ns"] - row["busy_ns"] <= 9000, "a step's figures are of its device interval", row)


def predict(path, *words):
    document = json_of("predict", path, "--scale", "sgemm:0.5", *words)
    return document["step"], [us(row["step_ns"]) for row in document["scenarios"]], " ".join(document["notes"])


def test_predicted(folder):
    """A compiler runs for 3 s in the first of seven steps of 4 ms: a step whose kernels are twice as fast takes 2 ms, not a quarter of a second."""
    rank = planted_traces.Rank()
    with rank.annotate("ProfilerStep#1"):
        rank.run("aten::addmm", 3e6)
        rank.kernel("aten::addmm", 4000, name="ampere_sgemm_128x128_tn")
    train(rank, [4000] * 6, first=2)
    path = rank.write(os.path.join(folder, "compiles.json.gz"))
    step, scenarios, notes = predict(path)
    expect(step["steps"] == "2:7" and us(step["measured_ns"]) == 4000, "measured", step)
    expect(abs(scenarios[0] - 4000) < 80 and abs(scenarios[1] - 2000) < 40, "as it is, and with kernels twice as fast", scenarios)
    expect("steps 2:7" in notes, "the steps are named", notes)
    step, scenarios, _ = predict(path, "--steps", "1:7")
    expect(step["steps"] is None and us(step["measured_ns"]) > 3e6 / 7, "all that are asked for", step)
    rank = planted_traces.Rank()  # gradients of four micro-batches, each a step of the profiler's; the last update ends behind the last step
    for number in range(1, 17):
        train(rank, [4000], first=number)
        if number % 4 == 0:
            planted_traces.update(rank, 2000)
    step, _, notes = predict(rank.write(os.path.join(folder, "accumulates.json.gz")))
    expect(step["steps"] is None and abs(us(step["measured_ns"]) - 4375) < 45 and "takes 4.0" in notes, "with the updates", step, notes)
    rank = planted_traces.Rank()
    for number in range(1, 9):
        rank.work(50000 if number == 5 else 0)
        train(rank, [4000], first=number)
    step, _, _ = predict(rank.write(os.path.join(folder, "pauses.json.gz")))
    expect(step["steps"] in ("1:4", "6:8") and abs(us(step["measured_ns"]) - 4000) < 40, "without the only pause", step)
    rank = planted_traces.Rank()
    train(rank, [4000, 4000, 4000, 4300, 4000, 4000])
    step, _, _ = predict(rank.write(os.path.join(folder, "alike.json.gz")))
    expect(step["steps"] is None and abs(us(step["measured_ns"]) - 4051.5) < 0.01, "one longer step that moves the mean by 1 %", step)


def test_queued_before(folder):
    """The host is steps ahead of the device: of whichever steps, replayed they take as long as they took, though work of others is in line first."""
    rank = planted_traces.Rank()
    train(rank, [4000] * 7)
    path = rank.write(os.path.join(folder, "ahead.json.gz"))
    for steps in ("1:7", "2:7", "3:4", "7"):
        step, _, _ = predict(path, "--steps", steps)
        expect(abs(step["walked_ns"] / step["measured_ns"] - 1) < 0.01, "steps", steps, step)


def test_rounded_ends(folder):
    """Annotations follow each other at once, and rounding or the trainer lets each end behind the next one's start: no step takes the
    next one's host time for its own."""
    for behind in (0.001, 1.0, 30.0, 900.0):
        rank = planted_traces.Rank()
        for number in range(1, 6):
            with rank.annotate(f"ProfilerStep#{number}"):
                for _ in range(4):
                    rank.kernel("aten::addmm", 1000, name="ampere_sgemm_128x128_tn")
                rank.item()
        for event in rank.events:
            event["dur"] += behind if event["name"].startswith("ProfilerStep") else 0
        path = rank.write(os.path.join(folder, "rounded.json.gz"))
        for steps in ("1", "2:3", "4", "5"):
            step, _, _ = predict(path, "--steps", steps)
            expect(abs(step["walked_ns"] / step["measured_ns"] - 1) < 0.01, "steps that end", behind, "late", steps, step)


def launch_graph(rank, kernels, us, call_us, gap_us):
    """One call launches them all; the first begins when it returns."""
    rank.correlation += 1
    rank.host("cuda_runtime", "cudaGraphLaunch", rank.now, call_us, correlation=rank.correlation)
    rank.now += call_us
    start = max(rank.now, rank.free.get(7, 0.0))
    for number in range(kernels):
        rank.event("kernel", f"triton_poi_fused_{number % 3}", start, us, 0, 7, device=0, stream=7, correlation=rank.correlation)
        start += us + gap_us
    rank.free[7] = start - gap_us


def test_graphs(folder):
    """Device graphs have a way to the device and pauses between kernels of their own, and the host works on behind a step's last kernel: whichever
    steps are walked anew, they take as long."""
    for kernels, pause_us in ((400, 0), (30, 900)):
        rank = planted_traces.Rank()
        for number in range(1, 8):
            with rank.annotate(f"ProfilerStep#{number}"):
                rank.copy(3)
                launch_graph(rank, kernels, 6.0, 60.0, 1.2)
                rank.work(pause_us)
                rank.item()
        path = rank.write(os.path.join(folder, "graphs.json.gz"))
        for steps in ("1:7", "2:7", "3:4", "5"):
            step, _, _ = predict(path, "--steps", steps)
            expect(abs(step["walked_ns"] / step["measured_ns"] - 1) < 0.01, kernels, "kernels a graph, steps", steps, step)


def test_host_of_steps(folder):
    """Where the host's time stands is kept: the pause before one of three operators of a name, the gap before the thread of the backward pass
    begins, and what the host does behind a step's last kernel, which no first step of a recording waits for."""
    rank = planted_traces.Rank()
    for number in range(1, 8):
        with rank.annotate(f"ProfilerStep#{number}"):
            for layer in range(3):
                rank.work(6000 if layer == 1 else 30)
                rank.kernel("aten::addmm", 700, name="ampere_sgemm_128x128_tn")
            rank.work(400)
            rank.thread = 101
            for _ in range(3):
                rank.kernel("aten::mm", 200, name="ampere_sgemm_128x128_tn")
            rank.thread = 100
            rank.item()
            rank.work(2500)
    path = rank.write(os.path.join(folder, "host.json.gz"))
    for steps in ("1:7", "2:5", "1", "6"):
        step, _, _ = predict(path, "--steps", steps)
        expect(abs(step["walked_ns"] / step["measured_ns"] - 1) < 0.01, "steps", steps, step)


def test_bound_of_the_mean(folder):
    """Every fourth batch of sixteen is 30 ms late: the mean step is 7.5 ms longer than most, and enough workers save that, though the typical step
    waits for nothing.
    """
    rank = planted_traces.Rank()
    for number in range(1, 17):
        with rank.annotate(f"ProfilerStep#{number}"):
            with rank.annotate("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"):
                rank.work(30000 if number % 4 == 0 else 100)
            for _ in range(10):
                rank.kernel("aten::addmm", 1000, name="ampere_sgemm_128x128_tn")
            rank.item()
    document = json_of("predict", rank.write(os.path.join(folder, "turns.json.gz")), "--loader", "8")
    now, fetched = [us(row["step_ns"]) for row in document["scenarios"]]
    expect(abs(now - fetched - 29900 / 4) < 400, "as long as with batches that are there", now, fetched)


def test_tail(folder):
    """What the host does behind the last kernel is the next step's; of a trace of one step it would be lost, so that it is said."""
    for count, tail, said in ((1, 5000, True), (1, 100, False), (3, 5000, False)):
        rank = planted_traces.Rank()
        for number in range(1, count + 1):
            with rank.annotate(f"ProfilerStep#{number}"):
                for _ in range(4):
                    rank.kernel("aten::addmm", 2000, name="ampere_sgemm_128x128_tn")
                rank.item()
                rank.work(tail)
        document = analyze([rank.write(os.path.join(folder, "tail.json.gz"))])
        sentence = [s for s in document["summary"] if "count in the next step" in s]
        host = document["step_table"][0]["host_ns"]
        expect((len(sentence) == 1) == said, "the tail", count, tail, document["summary"])
        expect(not said or (f"lasts {host / 1e6:.4g}" in sentence[0] and "5.0" in sentence[0]), "as long as it is", sentence, host)


with tempfile.TemporaryDirectory() as work:
    test_tail(work)
    test_bound_of_the_mean(work)
    test_rounded_ends(work)
    test_graphs(work)
    test_host_of_steps(work)
    test_queued_before(work)
    test_predicted(work)
    test_queued(work)
    test_choice(work)
    test_left_out(work)
sys.exit(finish())
