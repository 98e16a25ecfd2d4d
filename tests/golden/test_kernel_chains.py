"""Chains of simple kernels: planted ones are found with their counts, times and gaps; sums hold on open recordings."""
import os
import sys
import tempfile

from checks import expect, finish
from planted_traces import Rank
from raw_trace import analyze, recordings


def test_planted(folder):
    """Thirty times mul, add, gelu between two matrix products; a copy engine's copy breaks a chain once."""
    rank, gap, time = Rank(), 0.0, 0.0
    for layer in range(30):
        rank.kernel("aten::mm", 40, name="ampere_sgemm_128x128_tn", host_us=2)
        ends = []
        for op, us in (("aten::mul", 5), ("aten::add", 7), ("aten::gelu", 9)):
            rank.kernel(op, us, name=f"vectorized_elementwise_kernel<{op[6:]}>", host_us=2)
            work = rank.events[-2]  # the kernel; behind it stands its operator
            ends.append((work["ts"], work["ts"] + us))
        gap += sum(b[0] - a[1] for a, b in zip(ends, ends[1:]))
        time += 21
    rank.kernel("aten::mm", 40, name="ampere_sgemm_128x128_tn")
    for copied in (False, True):
        rank.kernel("aten::relu", 6, name="vectorized_elementwise_kernel<relu>")
        if copied:
            rank.copy(4)
        rank.kernel("aten::relu", 6, name="vectorized_elementwise_kernel<relu>")
        rank.kernel("aten::mm", 40, name="ampere_sgemm_128x128_tn")
    rows = analyze(rank.write(os.path.join(folder, "chains.json")))["kernel_chains"]
    expect(len(rows) == 1, "one chain occurs more than once", rows)
    row = rows[0] if rows else {}
    expect((row.get("text"), row.get("kernels"), row.get("times"), row.get("time_ns")) == ("mul + add + gelu", 3, 30, round(1e3 * time)), row)
    expect(abs(row.get("gap_ns", -1) - 1e3 * gap) < 60, row, gap)


with tempfile.TemporaryDirectory() as folder:
    test_planted(folder)
for name, path in recordings().items():
    answer = analyze(path)
    total = sum(row["time_ns"] for row in answer["kernels"])
    calls = sum(row["calls"] for row in answer["kernels"])
    for row in answer["kernel_chains"]:
        expect(2 <= row["kernels"] <= 16 and row["times"] >= 2, name, row)
    expect(sum(row["time_ns"] for row in answer["kernel_chains"]) <= total, name, "times")
    expect(sum(row["times"] * row["kernels"] for row in answer["kernel_chains"]) <= calls, name, "each kernel in one chain")
sys.exit(finish())
