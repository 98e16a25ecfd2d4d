"""The report leads with the cause that was planted or read in the trace (accuracy/leads.csv, rows analyze/lead of the ledger);
matrix, path and advice agree on input; no saving is impossible."""
import csv
import os
import sys

from checks import SOURCE, expect, finish
from leads import document_of, found, is_right, table

EVERY = 4 if "ASAN_OPTIONS" in os.environ else 1  # so many planted causes are looked at under the sanitizers


def column(matrix, resource):
    return sum(row[resource + "_ns"] for row in matrix.values())


def check_input(name, document):
    """The path of a step whose device idles for input runs through as much input as the matrix holds."""
    path = document["critical_path"]
    matrix = [m["matrix"] for m in document["step_matrices"] if m["label"] == path["step"]]
    idle = column(matrix[0], "idle_input")
    expect(abs(path["by_resource"]["input_ns"] - idle) <= idle // 50, name, "input on the path", path["by_resource"], idle)
    saved = [row["at_most"] for row in document["advice"] if row["resource"] == "input"]
    expect(abs(saved[0] * path["length_ns"] - idle) <= idle // 50, name, "input saved", saved, idle)


def check_bounds(name, document):
    """Without a resource the step is no shorter than the busiest stream with the rest: host and input leave all of it."""
    path = document["critical_path"]
    matrix = [m["matrix"] for m in document["step_matrices"] if m["label"] == path["step"]]
    busy = sum(column(matrix[0], r) for r in ("compute_bound", "memory_bound")) if matrix else 0
    for row in document["advice"]:
        if row["resource"] in ("host", "input"):
            expect(row["step_if_free_ns"] >= busy, name, "shorter than its kernels", row, busy)


def check_planted(line, document):
    name = line["recording"]
    expect(document["critical_path"]["replay_error_ns"] == 0, name, "replay error")
    if line["resource"] == "input" and len(document["ranks"]) == 1:  # of several the path may run on another
        check_input(name, document)
    if name in ("slow_loader", "small_kernels", "large_kernels", "inside_blocking_copy"):
        check_bounds(name, document)


def check_ledger(case, right, count):
    with open(os.path.join(SOURCE, "accuracy", "ledger.csv"), encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["case"] == case]
    share = right / count
    bar = float(rows[0]["bar"].removeprefix(">="))
    expect(int(rows[0]["n"]) == count and abs(float(rows[0]["value"]) - share) < 1e-4, case, "ledger", rows, "found", right, count)
    expect((share >= bar) == (rows[0]["holds"] == "yes"), case, "share right", share)


def count_right(splits, every=1):
    right = []
    for split in splits:
        for line in table(split)[::every]:
            document = document_of(line)
            if document is None:
                continue
            right.append(is_right(line, document))
            if not right[-1]:
                print(line["recording"], "led by", found(document), "instead of", line["resource"], line["names"], document["summary"])
            if split == "planted":
                check_planted(line, document)
    return sum(right), len(right)


def main():
    right, count = count_right(["planted"], EVERY)
    expect(right == count, "planted causes that lead", right, count)
    made, more = count_right(["made"])
    if more == len(table("made")) and EVERY == 1:
        check_ledger("analyze/lead-planted", right + made, count + more)
    check_ledger("analyze/lead-recorded", *count_right(["recorded"]))
    check_ledger("analyze/lead-recorded-later", *count_right(["recorded_later"]))
    right, count = count_right(["open"])
    if count == len(table("open")):
        check_ledger("analyze/lead", right, count)
    return finish()


sys.exit(main())
