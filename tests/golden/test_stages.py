"""Stages where order does not tell: micro-batches that take turns, recomputation, inference, and what stays unknown."""
import os
import sys
import tempfile

import planted_traces
from checks import expect, finish
from leads import analyze


def times(document):
    """Milliseconds of busy device time by stage."""
    busy = ("compute_bound_ns", "memory_bound_ns", "copy_ns")
    return {stage: sum(row[b] for b in busy) / 1e6 for stage, row in document["matrix"].items() if any(row.values())}


def near(found, expected, what):
    expect(set(found) == set(expected) and all(abs(found[s] - expected[s]) < 0.02 for s in expected), what, found, expected)


def turns(rank, annotated):
    """1F1B in one thread: two forward passes, then backward and forward in turn; exchanges in between have no name."""
    def forward(batch):
        words = rank.annotate(f"mb{batch} (F)") if annotated else rank.annotate("## a block ##")
        with words:
            rank.kernel("aten::mm", 1000, name="gemm", **({} if annotated else {"Sequence number": 10 * batch, "Fwd thread id": 0}))

    def backward(batch):
        words = rank.annotate(f"mb{batch} (B)") if annotated else rank.annotate("## a block ##")
        with words:
            if not annotated:
                with rank.operator("MmBackward0", **{"Sequence number": 10 * batch, "Fwd thread id": 1}):
                    rank.kernel("aten::mm", 2000, name="gemm")
            else:
                rank.kernel("aten::mm", 2000, name="gemm")

    def body(_, number):
        base = 100 * number
        forward(base + 1)
        forward(base + 2)
        for batch in range(1, 5):
            backward(base + batch)
            rank.kernel("aten::copy_", 100, name="elementwise_kernel")
            if batch < 3:
                forward(base + batch + 2)
        with rank.annotate("Optimizer.step#SGD.step"):
            rank.kernel("aten::add_", 300, name="elementwise_kernel")
        rank.item()
    planted_traces.steps(rank, 3, body)


def test_turns(folder):
    for annotated in (True, False):
        rank = planted_traces.Rank()
        turns(rank, annotated)
        found = times(analyze([rank.write(os.path.join(folder, "turns.json"))]))
        inside = 0 if annotated else 0.1  # the exchange between the last two backward passes, which nothing parts
        near(found, {"forward": 4, "backward": 8 + inside, "update": 0.402, "other": 0.3 - inside},
             f"turns, annotated {annotated}")


def test_recomputation(folder):
    rank = planted_traces.Rank()

    def body(_, number):
        with rank.operator("CheckpointFunction", **{"Sequence number": 2 * number, "Fwd thread id": 0}):
            rank.kernel("aten::mm", 1000, name="gemm")
        with rank.operator("CheckpointFunctionBackward", **{"Sequence number": 2 * number, "Fwd thread id": 1}):
            rank.kernel("aten::mm", 1000, name="gemm", **{"Sequence number": 1000 + number, "Fwd thread id": 0})
            with rank.operator("MmBackward0", **{"Sequence number": 1000 + number, "Fwd thread id": 1}):
                rank.kernel("aten::mm", 2000, name="gemm")
    planted_traces.steps(rank, 3, body)
    near(times(analyze([rank.write(os.path.join(folder, "again.json"))])), {"forward": 1, "recompute": 1, "backward": 2},
         "recomputation")


def test_inference(folder):
    document = analyze(planted_traces.generation(os.path.join(folder, "generation.json.gz")))
    found = times(document)
    prefill, decode = 900 / 9 + 2 * 1200, 4 * (90 / 9 + 2 * 120)
    near(found, {"prefill": prefill / 1000, "decode": decode / 1000 + 0.006}, "inference") if len(found) == 2 else expect(
        False, "inference", found)
    expect(any("inference" in note for note in document["notes"]), "inference is said", document["notes"])


with tempfile.TemporaryDirectory() as work:
    test_turns(work)
    test_recomputation(work)
    test_inference(work)
sys.exit(finish())
