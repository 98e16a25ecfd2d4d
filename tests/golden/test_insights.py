"""Identities of the critical path, the replay and the collectives, on real traces.

The reference traces are other people's and not shipped: those parts are skipped when they are not at hand.
"""
import glob
import os
import sys

from checks import SHARED, SOURCE, expect, finish, json_of

def analyze(*paths):
    return json_of("analyze", "--check", *paths)


def check_identities(name, document):
    path = document.get("critical_path")
    if not path:
        return
    expect(path["replay_error_ns"] == 0, name, "replayed starts are off by", path["replay_error_ns"])
    expect(sum(path["by_resource"].values()) == path["length_ns"], name, "the path does not tile the step", path["by_resource"])
    expect(sum(row["time_ns"] for row in path["top"]) == path["length_ns"], name, "the top items do not add up")
    for row in document["advice"]:
        expect(0 <= row["elasticity"] <= 1 and -1e-9 <= row["at_most"] <= 1, name, "advice out of range", row)
        expect(0 <= row["step_if_free_ns"] <= path["length_ns"], name, "a free resource made the step longer", row)


def main():
    traces = sorted(glob.glob(os.path.join(SHARED, "kineto", "*.json.gz")) +
                    glob.glob(os.path.join(SHARED, "chakra", "*kineto*.json.gz")) +
                    glob.glob(os.path.join(SHARED, "chakra", "*kineto", "*.json.gz")) +
                    glob.glob(os.path.join(SOURCE, "tests", "data", "*.json.gz")))
    for trace in traces:
        check_identities(os.path.basename(trace), analyze(trace))
    ranks = os.path.join(SHARED, "chakra", "dlrm_8xV100_kineto")
    if os.path.isdir(ranks):
        document = analyze(ranks)
        check_identities("8 ranks", document)
        # The data's own notes: clocks are aligned, each collective ends within 1 to 7 us on all ranks, and the last
        # rank to start is 7,7,7,7,7,5,5,4.
        last = [row["last_rank"] for row in document["collectives"]]
        expect(last == [7, 7, 7, 7, 7, 5, 5, 4], "8 ranks: last to start", last)
        shifts = [abs(rank["clock_shift_ns"]) for rank in document["ranks"]]
        expect(max(shifts) <= 7000, "8 ranks: clock shifts", shifts)
    if not traces:
        print("skipped: no traces at hand")
        return 77
    print(f"{len(traces)} traces")
    return finish()


sys.exit(main())
