"""By how much exchanges slow the kernels beside them: the same kernel beside and alone, in recordings whose figures are known."""
import os
import sys
import tempfile

import planted_traces
from checks import expect, finish
from leads import analyze

ALONE, BESIDE = 100, 150


def record(path, alone=6, beside=4, noise=0, us=ALONE):
    rank = planted_traces.Rank(rank=0, world=2)

    def body(rank, _):
        for i in range(alone):
            rank.kernel("aten::mm", us + noise * i, name="gemm")
        rank.wait()
        planted_traces.collective([rank], 4000)
        for _ in range(beside):
            rank.kernel("aten::mm", us * BESIDE / ALONE, name="gemm")
            rank.kernel("aten::relu", 20, name="only_beside")
        rank.wait(stream=20)
    planted_traces.steps(rank, 4, body)
    return analyze([rank.write(path)])


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "beside.json.gz")
    found, said = record(path), ""
    b = found["beside_exchanges"]
    expect((b["kernels"], b["name"]) == (4 * 4, "gemm"), "compared", b)
    expect(abs(b["slowdown"] - 1.5) < 1e-9 and b["time_ns"] == 16 * 150000 and b["alone_ns"] == 16 * 100000, "slowdown", b)
    expect(b["unmatched_ns"] == 16 * 20000, "what only runs beside", b)
    said = " ".join(found["summary"])
    expect("16 kernels (2.400 ms in all steps) take 1.50 times as long" in said, "said", said)
    b = record(path, noise=60)["beside_exchanges"]
    expect(b["kernels"] == 0 and b["slowdown"] is None, "kernels that differ alone say nothing", b)
    b = record(path, us=4)["beside_exchanges"]
    expect(b["kernels"] == 0, "nor do those of a few microseconds", b)
    expect("beside_exchanges" not in record(path, beside=0), "without overlap nothing is said")
sys.exit(finish())
