"""What of a trace is shown: steps, a rank, rows, names, stages; and files that are compressed."""
import csv
import gzip
import io
import json
import os
import re
import sys
import tempfile

import strict_schema
from checks import SHARED, SOURCE, expect, expect_line, finish, json_of, run

DEMO = os.path.join(SOURCE, "tests", "data", "demo.json.gz")


def analyze(*words):
    answer = json_of("analyze", *words)
    strict_schema.hold(answer, "analyze")
    return answer


def test_steps():
    """Choosing steps changes no step's figures."""
    whole = analyze(DEMO)
    steps, matrices = whole["ranks"][0]["steps"], whole["step_matrices"]
    for words, chosen in ((["--steps", "6:7"], slice(1, 3)), (["--steps", "8:"], slice(3, 5)), (["--skip", "2"], slice(2, 5)),
                          (["--steps", ":7", "--skip", "1"], slice(1, 3))):
        part = analyze(DEMO, *words)
        expect(part["ranks"][0]["steps"] == steps[chosen], words)
        expect(part["step_matrices"] == matrices[chosen], words)
    of_steps = analyze(DEMO, "--steps", "6:7")["operators"]
    expect(0 < sum(row["calls"] for row in of_steps) < sum(row["calls"] for row in whole["operators"]), "operators of the steps alone")


def test_rows():
    whole = analyze(DEMO)
    found = analyze(DEMO, "--filter", "^aten::.*add")
    wanted = [row for row in whole["operators"] if re.search("^aten::.*add", row["name"])]
    expect(wanted and found["operators"] == wanted, "rows that match, their shares as before", found["operators"], wanted)
    backward = analyze(DEMO, "--stage", "backward")["operators"]
    forward = analyze(DEMO, "--stage", "forward")["operators"]
    total = {row["name"]: row["time_ns"] for row in whole["operators"]}
    for rows in (forward, backward):
        expect(rows and abs(sum(row["share"] for row in rows) - 1) < 1e-9, "shares of the stage")
        expect(all(row["time_ns"] <= total[row["name"]] for row in rows), "parts of the whole")
    expect(backward != forward, "stages differ")
    for top in (1, 4):
        out = run("analyze", DEMO, "--top", str(top))[1]
        table = out.split("Device time by operator, whole trace\n")[1].split("\n\n")[0].splitlines()
        expect(len(table) == top + 2 and table[-1].startswith("…"), top, table)


def test_rank():
    paths = [os.path.join(SHARED, "kineto", f"hta_sampled_128ranks_rank{rank}.json.gz") for rank in (0, 1)]
    if not all(map(os.path.exists, paths)):
        return print("left out, not there:", paths)
    for rank in (0, 1):
        expect(analyze(*paths, "--rank", str(rank))["slowest_rank"] == rank, rank)
    code, _, err = run("analyze", *paths, "--rank", "5")
    expect_line(code, err, 2, "--rank", "(0, 1)")


def test_refused():
    for option, value, word in (("--steps", "20:30", "5 to 9"), ("--steps", "b", "--steps"), ("--skip", "1.5", "--skip"), ("--skip", "9", "--skip"),
                                ("--rank", "0", "none is named"), ("--top", "0", "--top"), ("--top", "2.5", "--top"), ("--stage", "warm-up", "forward"), ("--stage", "prefill", "did work"),
                                ("--filter", "(", "--filter"), ("--filter", "no such operator", "--filter")):
        code, _, err = run("analyze", DEMO, option, value)
        expect_line(code, err, 2, word)


def test_compressed(folder):
    for suffix, read in ((".json", json.loads), (".csv", lambda text: list(csv.reader(io.StringIO(text)))), (".html", str), (".txt", str)):
        plain, packed = os.path.join(folder, "a" + suffix), os.path.join(folder, "a" + suffix + ".gz")
        expect(run("analyze", DEMO, "-o", plain)[0] == 0 and run("analyze", DEMO, "-o", packed)[0] == 0, suffix)
        with open(plain) as file, gzip.open(packed, "rt") as other:
            left, right = file.read(), other.read()
        left, right = left.replace(plain, ""), right.replace(packed, "")  # the command is echoed
        if suffix == ".json":
            left, right = ({**read(text), "command": None} for text in (left, right))
        expect(left == right, "differs", suffix)
        expect(suffix == ".txt" or read(right if isinstance(right, str) else "{}") is not None, suffix)
    perfetto = os.path.join(folder, "a.perfetto.json.gz")
    expect(run("analyze", DEMO, "-o", perfetto)[0] == 0 and run("analyze", perfetto)[0] == 0, "a compressed trace reads back")
    with gzip.open(perfetto) as file:
        expect("traceEvents" in json.load(file), "perfetto")


for test in (test_steps, test_rows, test_rank, test_refused):
    test()
with tempfile.TemporaryDirectory() as scratch:
    test_compressed(scratch)
sys.exit(finish())
