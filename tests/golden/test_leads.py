"""The report leads with the planted cause, matrix, path and advice agree on input, and no saving is impossible."""
import sys

from checks import expect, finish
from leads import document_of, found, is_right, table


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


def main():
    for line in table("planted"):
        document = document_of(line)
        name = line["recording"]
        expect(is_right(line, document), name, "led by", found(document), "instead of", line["resource"], line["names"],
               document["summary"])
        expect(document["critical_path"]["replay_error_ns"] == 0, name, "replay error")
        if line["resource"] == "input":
            check_input(name, document)
        if name in ("slow_loader", "small_kernels", "large_kernels", "inside_blocking_copy"):
            check_bounds(name, document)
    return finish()


sys.exit(main())
