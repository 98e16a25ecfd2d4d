"""Every table that `--format csv --table` names can be had, and no two of its columns have the same name."""
import csv
import io
import os
import sys
import tempfile

from checks import expect, finish, run

DATA = os.path.join(os.environ["PACELINE_SOURCE"], "tests", "data")
DEMO = os.path.join(DATA, "demo.json.gz")
JOBS = os.path.join(DATA, "jobs_synthetic.csv.gz")

COMMANDS = (
    ("analyze", DEMO),
    ("predict", DEMO, "--on", "dgx-h100"),
    ("predict", "--kind", "exchange", "--on", "dgx-h100*2", "--collective", "allreduce", "--bytes", "1M..1G"),
    ("fleet", JOBS),
    ("machines",),
    ("machines", "dgx-h100"),
    ("models",),
)
# Words that say neither what is counted nor in which unit, unless a column beside them does.
BARE = {"", "low", "high", "from", "to", "mean", "value", "single", "throughput"}
BESIDE = {"unit", "quantity", "figure", "what", "name", "key"}


def tables_of(words):
    _, _, err = run(*words, "--format", "csv", "--table", "no such table")
    return err.rsplit("it has: ", 1)[-1].strip().split(", ") if "it has: " in err else []


named = 0
for words in COMMANDS:
    tables = tables_of(words)
    expect(tables, words, "names no table")
    expect(len(tables) == len(set(tables)), words, "names tables twice", tables)
    for table in tables:
        if table == "none":
            continue
        code, out, err = run(*words, "--format", "csv", "--table", table.replace(".N", ".0"))
        rows = list(csv.reader(io.StringIO(out)))
        expect(code == 0 and rows, words, table, "cannot be had", err)
        if not rows:
            continue
        named += 1
        columns = rows[0]
        expect(len(columns) == len(set(columns)), words, table, "repeats columns", columns)
        bare = BARE.intersection(columns)
        expect(not bare or BESIDE.intersection(columns), words, table, "columns say no unit", bare, columns)
        expect(all(len(row) == len(columns) for row in rows), words, table, "rows of other lengths")
# A cell that a spreadsheet would run has "'" before it; numbers and words stay as they are, and all reads back.
cells = ["=1+2", "=cmd|'/C calc'!A0", "+SUM(A1)", "-x", "@A1", "\t=1", "-12.5", "+3e4", "-", "plain", "a=b", "'quoted", "1-2"]
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "rows.csv")
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([["device", "m", "n", "k", "note"], *(["a100-40-sxm", 64, 64, 64, cell] for cell in cells)])
    code, out, err = run("predict", "--rows", path, "--kind", "kernel", "--format", "csv")
    given = [row["note"] for row in csv.DictReader(io.StringIO(out, newline=""))]
    expect(code == 0 and [cell.removeprefix("'") for cell in given] == [cell.removeprefix("'") for cell in cells], err, given)
    dangerous = cells[:6]
    expect([cell for cell, back in zip(cells, given) if back == "'" + cell] == dangerous, given)

expect(named > 30, "tables", named)
sys.exit(finish())
