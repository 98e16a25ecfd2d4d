"""Work whose call stands in a range inside of an operator, as NCCL's: a predicted step still knows who launched it."""
import os
import sys
import tempfile

import planted_traces
from checks import expect, finish, json_of


def record(path):
    """The host takes 60 us for each kernel of 8 us; each step ends with a sum that the library's range launches."""
    rank = planted_traces.Rank(rank=0, world=2)

    def body(rank, _):
        for _ in range(2):
            for _ in range(20):
                rank.work(60)
                rank.kernel("aten::mul", 8)
            with rank.operator("c10d::allreduce_"):
                with rank.annotate("nccl:all_reduce"):
                    planted_traces.collective([rank], 15)
    planted_traces.steps(rank, 4, body)
    return rank.write(path)


def host_saves(verb, path):
    return {row["resource"]: row["at_most"] for row in json_of(verb, path)["advice"]}.get("host", 0)


with tempfile.TemporaryDirectory() as folder:
    path = record(os.path.join(folder, "ranges.json.gz"))
    measured, walked = host_saves("analyze", path), host_saves("predict", path)
    # A step of 40 * 70 us and a sum; the device works 40 * 8 + 30 of them.
    expect(0.8 < measured < 0.95, "recorded", measured)
    expect(abs(walked - measured) < 0.05, "as predicted the host saves", walked, "as recorded", measured)
sys.exit(finish())
