"""A few steps that cost a large part of a run lead, though a resource would save more of all others if it took no time."""
import os
import sys
import tempfile

import planted_traces
from checks import expect, finish
from leads import analyze


def record(path, pause_us, every):
    """20 steps of kernels that keep the device busy; in every so manyth the host writes a checkpoint first, and the device runs dry."""
    rank = planted_traces.Rank()

    def body(rank, number):
        if number % every == 0:
            rank.wait()
            with rank.annotate("save"):
                rank.work(pause_us)
        planted_traces.layers(rank)
    planted_traces.steps(rank, 20, body)
    return analyze([rank.write(path)])["lead"]


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "long.json.gz")
    usual_us = 12 * 400 * 3  # forward and twice as long backward
    lead = record(path, 5 * usual_us, 6)  # 3 of 20 steps take six times as long: 15 of 35 steps' time
    expect(lead["of_long_steps"] and lead["long_steps"] == 3 and lead["resource"] == "host", "long steps lead", lead)
    expect(abs(lead["saved_share"] - 15 / 35) < 0.03, "they cost", lead["saved_share"])
    expect("save" in (lead["name"] or "") + (lead["within"] or ""), "what is done then", lead)
    lead = record(path, usual_us, 6)  # 3 of 23
    expect(not lead["of_long_steps"] and lead["resource"] == "compute", "compute leads", lead)
sys.exit(finish())
