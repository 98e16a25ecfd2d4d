"""What `compare` finds behind a change: collectives by group and size, the host operator that is waited for, and the fused kernels that
operators became."""
import json
import os
import sys
import tempfile

import planted_runs
import strict_schema
from checks import SOURCE, expect, finish, json_of
from planted_traces import Rank, steps, update


def compare(a, b, *words):
    answer = json_of("compare", a, b, *words)
    strict_schema.hold(answer, "compare")
    return answer


def test_collectives(folder):
    """Two groups' all-reduces of two sizes: one takes longer in B, and ranks wait as long as the late one is late."""
    sides = {}
    for side, us in (("a", 300), ("b", 900)):
        work = planted_runs.Run(2)
        for rank in work.ranks:
            rank.noise = None

        def body(_):
            work.each(lambda rank: rank.kernel("aten::mm", 500 + 200 * rank.rank, name="ampere_sgemm"))
            work.reduce(us, **{"Process Group Name": "1", "In msg nelems": 1 << 22, "Out msg nelems": 1 << 22})
            work.reduce(100, stream=21, **{"Process Group Name": "2"})
            work.each(lambda rank: update(rank, 50))
        work.steps(5, body)
        sides[side] = work.write(os.path.join(folder, side + ".json"))
    answer = compare(os.path.dirname(sides["a"][0]), os.path.dirname(sides["b"][0]), "--rank", "0", "--with-rank", "0")
    rows = {row["group"]: row for row in answer["exchanges"]}
    expect(set(rows) == {"1", "2"} and answer["exchanges"][0]["group"] == "1", rows)
    slow = rows["1"]
    expect((slow["ranks"], slow["bytes"], slow["a_calls"], slow["b_calls"]) == (2, 4 << 22, 1, 1), slow)
    expect(slow["a_ns"] == 500000 and slow["b_ns"] == 1100000 and slow["change_ns"] == 600000, slow)  # 200 us wait for rank 1
    expect(slow["a_waiting_ns"] == slow["b_waiting_ns"] == 200000, slow)
    expect(abs(slow["b_busbw_bytes_per_s"] - (4 << 22) / 1100e-6) < 1e3, slow)  # two ranks: bus factor 1
    expect(rows["2"]["change_ns"] == 0 and answer["cause"]["resource"] == "exposed_communication", rows["2"], answer["cause"])


def test_without_metadata(folder):
    """Kernels that say nothing of what they exchange go by their names."""
    paths = []
    for side, us in (("x", 300), ("y", 500)):
        rank = Rank()

        def body(rank, _):
            rank.kernel("aten::mm", 400, name="ampere_sgemm")
            rank.issue("cudaLaunchKernel", "kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", us, 7)
            update(rank, 50)
        steps(rank, 4, body)
        paths.append(rank.write(os.path.join(folder, side + ".json")))
    rows = compare(*paths)["exchanges"]
    expect(len(rows) == 1 and rows[0]["collective"] == "ncclDevKernel_AllReduce_Sum_f32_RING_LL" and rows[0]["bytes"] is None, rows)
    expect(rows[0]["change_ns"] == 200000 and rows[0]["b_waiting_ns"] is None, rows)


def test_host_operator(folder):
    """The host spends more in one operator before it launches the next kernel: the operator is named, not the launch."""
    paths = []
    for side, us in (("before", 100), ("after", 900)):
        rank = Rank()

        def body(rank, _):
            for _ in range(4):
                rank.kernel("aten::mm", 20, name="ampere_sgemm")
                rank.run("my::tokenize", us)
                rank.kernel("aten::add", 5, name="vectorized_elementwise_kernel")
            rank.item()
        steps(rank, 5, body)
        paths.append(rank.write(os.path.join(folder, side + ".json")))
    answer = compare(*paths)
    cause = answer["cause"]
    expect((cause["resource"], cause["host_operator"]) == ("idle_host", "my::tokenize"), cause)
    expect(abs(cause["host_operator_change_ns"] - 3200000) < 200000, cause)
    expect(any("waits for 'my::tokenize'" in s for s in answer["summary"]), answer["summary"])


def test_missing_ranks(folder):
    """B has fewer ranks than A: what a rank waits for the missing ones is no change, and chance has no cause."""
    paths = {}
    for side, us in (("whole", 300), ("slower", 360)):
        work = planted_runs.Run(4)
        planted_runs.train(work, pass_us=lambda rank, _, us=us: 2 * us if rank.rank == 1 else us)
        paths[side] = work.write(os.path.join(folder, side + ".json"))
    whole = os.path.dirname(paths["whole"][0])
    same = compare(whole, paths["whole"][3], "--rank", "3", "--with-rank", "3")
    expect(same["verdict"] == "within the spread", same["verdict"])
    expect(not any("What changed most" in s or "cause" in s for s in same["summary"]), same["summary"])
    expect(any("A has traces of 4 ranks and B of 1" in s for s in same["summary"]), same["summary"])
    other = compare(whole, paths["slower"][1])  # of the rank that is late in both
    expect((other["verdict"], other["cause"]["resource"]) == ("significant", "compute_bound"), other["cause"])
    waiting = compare(whole, paths["slower"][3], "--rank", "3", "--with-rank", "3")  # 18 * 60 us more of waiting, 18 * 60 of work
    expect(waiting["cause"]["change_ns"] < 1500000, waiting["cause"])


def eager(rank, _):
    with rank.annotate("nn.Module: Block_0", "python_function"):
        for number in range(2):
            with rank.annotate(f"nn.Module: Linear_{number}", "python_function"):
                rank.kernel("aten::addmm", 300, name="ampere_sgemm")
            with rank.annotate(f"nn.Module: Norm_{number}", "python_function"):
                rank.kernel("aten::native_layer_norm", 100, name="vectorized_layer_norm_kernel")
            rank.kernel("aten::add_", 60, name="vectorized_elementwise_kernel")
            rank.kernel("aten::_softmax", 50, name="softmax_warp_forward")
        rank.kernel("aten::cumsum", 30, name="tensor_kernel_scan")
    rank.item()


def compiled(rank, _):
    with rank.annotate("nn.Module: OptimizedModule_0", "python_function"), rank.annotate("nn.Module: Block_0", "python_function"):
        with rank.operator("Torch-Compiled Region: 0/0"), rank.operator("CompiledFunction"):
            for number in range(2):
                rank.kernel("aten::addmm", 300, name="ampere_sgemm")
                rank.kernel(f"triton_per_fused_add_native_layer_norm_{number}", 70, name=f"triton_per_fused_add_native_layer_norm_{number}")
                rank.issue("cuLaunchKernel", "kernel", "triton_per_fused__softmax_7", 40, 7)
            rank.kernel("triton_poi_fused_zeros_like_9", 11, name="triton_poi_fused_zeros_like_9")
    rank.item()


def test_eager_against_compiled(folder):
    paths = []
    for program in (eager, compiled):
        rank = Rank()
        steps(rank, 4, program)
        paths.append(rank.write(os.path.join(folder, program.__name__ + ".json")))
    answer = compare(*paths)
    rows = {(row["match"], row["operators"]): row for row in answer["fused"]}
    both = rows["by fusion", "native_layer_norm, add"]
    expect((both["a_ns"], both["b_ns"], both["change_ns"]) == (320000, 140000, -180000), both)
    expect(both["kernels"] == "triton_per_fused_add_native_layer_norm_0, triton_per_fused_add_native_layer_norm_1", both)
    expect(set(both["modules"].split(", ")) == {"Norm_0", "Norm_1", "Block_0"}, both)
    softmax = rows["by fusion", "_softmax"]
    expect((softmax["a_ns"], softmax["b_ns"]) == (100000, 80000), softmax)
    expect(rows["only in A", "cumsum"]["a_ns"] == 30000 and rows["only in A", "cumsum"]["modules"] == "Block_0", rows)
    alone = [row for row in answer["fused"] if row["match"] == "only in B"]
    expect([(row["kernels"], row["b_ns"]) for row in alone] == [("triton_poi_fused_zeros_like_9", 11000)], alone)
    fusion = answer["fusion"]
    whole = 600 + 200 + 120 + 100 + 30 + 1.5  # and the copy of .item(), which ends the last step of four
    expect(fusion["compiled"] == "b" and abs(fusion["by_name_share"] - 601.5 / whole) < 1e-6, fusion)
    expect(abs(fusion["by_fusion_share"] - 420 / whole) < 1e-6 and abs(fusion["unmatched_share"] - 30 / whole) < 1e-6, fusion)
    paths_of = {row["path"]: row for row in answer["call_paths"]}
    expect(paths_of["Block_0"]["a_ns"] == 1050000 and paths_of["Block_0"]["b_ns"] == 600000 + 140000 + 80000 + 11000, list(paths_of))
    expect(not any("Compiled" in path for path in paths_of), list(paths_of))
    other = compare(*reversed(paths))
    expect(other["fusion"]["compiled"] == "a" and len(other["fused"]) == len(answer["fused"]), other["fusion"])


def test_host_alone(_):
    """Recordings of a CPU: its operators are its kernels, and each is named once."""
    folder = os.path.join(SOURCE, "tests", "data", "remedies", "unfused_chain-")
    said = " ".join(compare(folder + "before.json.gz", folder + "after.json.gz")["summary"])
    expect(said.count("aten::tanh") == 1 and said.count("against CompiledFunction,") == 1, "each is named once", said)


def test_named_within_the_cell(folder):
    """Four memory-bound kernels of the forward pass take 300 us more each, one product of the backward pass 900 us, and B's first step
    tries convolutions for 50 ms. The forward pass lost most, so one of its kernels is named, and by what it lost in a usual step.
    """
    paths = []
    for side, more in (("before", 0), ("after", 1)):
        rank = Rank()

        def body(rank, number):
            if more and number == 1:
                with rank.operator("aten::cudnn_convolution"):
                    for _ in range(5):
                        rank.issue("cudaLaunchKernel", "kernel", "vectorized_elementwise_kernel<Tried>", 10000, 7)
            for name in ("add", "mul", "sub", "div"):
                rank.kernel("aten::" + name, 500 + 300 * more, name=f"vectorized_elementwise_kernel<{name}>")
            with rank.annotate("## backward ##"):
                rank.kernel("aten::mm", 2000 + 900 * more, name="ampere_sgemm_128x128_nt")
            update(rank, 50)
        steps(rank, 8, body)
        paths.append(rank.write(os.path.join(folder, side + ".json")))
    answer = compare(*paths)
    cause, said = answer["cause"], " ".join(answer["summary"])
    expect((cause["stage"], cause["resource"], cause["change_ns"]) == ("forward", "memory_bound", 1200000), cause)
    expect(cause["operator"] == "aten::add" and cause["kernel"] == "vectorized_elementwise_kernel<add>", cause)
    expect("most of all operators aten::add (+300.0 \u00b5s a step)" in said and "(+300.0 \u00b5s)" in said, said)


def test_level_within_a_side(folder):
    """The clocks of B sink in the middle of it: the steps of both do not differ more than by chance, for half of B is as A, and B says why."""
    paths = []
    for side, count, later in (("steady", 6, 400), ("sinks", 8, 560)):
        rank = Rank()
        steps(rank, count, lambda rank, number, later=later: [rank.kernel("aten::mm", later if number > 4 else 400, name="ampere_sgemm") for _ in range(20)])
        paths.append(rank.write(os.path.join(folder, side + ".json")))
    answer = compare(*paths)
    expect(answer["verdict"] == "within the spread", answer["verdict"])
    levels = [line for line in answer["summary"] if "on a step takes" in line]
    expect(len(levels) == 1 and levels[0].startswith("B: From ProfilerStep#5 on a step takes 11.20 ms, before 8.0") and "throttled" in levels[0], levels)


def said_of(name, words=()):
    folder = os.path.join(SOURCE, "tests", "data", "remedies", name + "-")
    return " ".join(compare(folder + "before.json.gz", folder + "after.json.gz", *words)["summary"])


def test_unlike_sides(folder):
    """Twice the samples (README of the recordings), another loader, another device, and a recording without half its kernels."""
    expect("a step of A has 16 samples and of B 32: for each sample B takes -36.5 %" in said_of("small_batch"), said_of("small_batch"))
    expect("in 'enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__'" in said_of("slow_loader"), said_of("slow_loader"))
    expect("kernels and copies" not in said_of("slow_updates"), "a CPU launches none", said_of("slow_updates"))
    paths = []
    for side, device in (("p", "NVIDIA A100-SXM4-80GB"), ("q", "NVIDIA H100 80GB HBM3"), ("r", "NVIDIA A100-SXM4-80GB")):
        rank = Rank()
        steps(rank, 4, lambda rank, _: [rank.kernel("aten::mm", 400, name="ampere_sgemm") for _ in range(20)])
        path = rank.write(os.path.join(folder, side + ".json"))
        document = rank.document()
        document["deviceProperties"][0]["name"] = device
        kernels = [e for e in document["traceEvents"] if e["cat"] == "kernel"]
        lost = kernels[::2] if side == "r" else []
        document["traceEvents"] = [e for e in document["traceEvents"] if e not in lost]
        with open(path, "w") as file:
            json.dump(document, file)
        paths.append(path)
    expect("A ran on NVIDIA A100-SXM4-80GB, B on NVIDIA H100 80GB HBM3." in compare(paths[0], paths[1])["summary"], "devices")
    jobs = []
    for rank, world in ((1, 2), (3, 8)):
        own = Rank(rank, world)
        steps(own, 4, lambda rank, _: rank.kernel("aten::mm", 400, name="ampere_sgemm"))
        jobs.append(own.write(os.path.join(folder, f"of{world}.json")))
    said = " ".join(compare(*jobs)["summary"])
    expect("A is rank 1 and B rank 3, whose work may differ." in said and "of one run" not in said, "jobs of 2 and 8 ranks", said)
    answer = compare(paths[0], paths[2])
    expect("B: 40 of 80 launches have no kernel in the trace." in answer["summary"], answer["summary"])
    expect(answer["cause"]["resource"] is None and not any("changed most" in line for line in answer["summary"]), answer["cause"])


for test in (test_collectives, test_without_metadata, test_host_operator, test_missing_ranks, test_eager_against_compiled, test_host_alone,
             test_named_within_the_cell, test_level_within_a_side, test_unlike_sides):
    with tempfile.TemporaryDirectory() as scratch:
        test(scratch)
sys.exit(finish())
