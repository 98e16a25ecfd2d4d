"""SQLite files made to mislead: views in the place of tables, schemas that lie, names with quotes, rows that take forever or
memory without end. Each is answered or refused with one line, after a bounded amount of work."""
import atexit
import os
import shutil
import sqlite3
import sys
import tempfile

from checks import SOURCE, expect, expect_line, finish, run

FOLDER = tempfile.mkdtemp(prefix="paceline-databases-")
atexit.register(shutil.rmtree, FOLDER)
KERNELS = "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId" \
          " INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER)"
STRINGS = "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT"


def database(name, *statements):
    path = os.path.join(FOLDER, name)
    base = sqlite3.connect(path)
    for statement in statements:
        if isinstance(statement, tuple):
            base.executemany(*statement)
        else:
            base.execute(statement)
    base.commit()
    base.close()
    return path


def kernels(count, name=lambda i: 1, process=lambda i: 1 << 24):
    return ("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 7, ?, ?, ?, ?)",
            [(i * 10, i * 10 + 5, i + 1, process(i), name(i), name(i)) for i in range(count)])


def analyze(path, *wanted, code=3):
    status, out, err = run("analyze", "-q", path)
    if code:
        expect_line(status, err, code, *wanted)
    else:
        expect(status == 0 and all(text in out for text in wanted), status, err, out[:400])


def views():
    """A view is no table, also where the schema calls it one; what it would compute without end is never begun."""
    view = f"VIEW StringIds AS {ENDLESS} i AS id, 'x' AS value FROM n"
    analyze(database("view.sqlite", KERNELS, kernels(10), "CREATE " + view), "expected a table StringIds")
    columns = "i AS start, i AS end, 0 AS deviceId, 0 AS streamId, 0 AS demangledName"
    analyze(database("only.sqlite", STRINGS, f"CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS {ENDLESS} {columns} FROM n"),
            "expected an Nsight Systems export")
    for name, entry in (("lie", ("table", "StringIds", 0, "CREATE " + view)), ("twice", ("table", "StringIds", 2, STRINGS)),
                        ("virtual", ("table", "StringIds", 0, "CREATE /**/ VIRTUAL TABLE StringIds USING fts5(id, value)"))):
        extra = [STRINGS] if name == "twice" else []
        path = database(name + ".sqlite", KERNELS, *extra, kernels(10), "PRAGMA writable_schema = ON",
                        ("INSERT INTO sqlite_master VALUES (?, ?, 'StringIds', ?, ?)", [entry]))
        status, out, err = run("analyze", "-q", path)
        expect(status == 3 and len(err.strip().splitlines()) == 1, name, status, out[:300], err)


def work():
    """Each name searched in a table without an index; as many processes as kernels; generated columns."""
    strings = ("INSERT INTO StringIds VALUES (?, ?)", [(i, f"kernel {i}") for i in range(20000)])
    analyze(database("unindexed.sqlite", KERNELS, "CREATE TABLE StringIds (id INTEGER, value TEXT)", strings,
                     kernels(20000, name=lambda i: 19999 - i)), "steps", "no index")
    analyze(database("indexed.sqlite", KERNELS, STRINGS, strings, kernels(20000, name=lambda i: 19999 - i)), "The trace spans", code=0)
    path = database("processes.sqlite", KERNELS, STRINGS, strings, kernels(30000, process=lambda i: i + 1 << 24))
    status, _, err = run("analyze", path)
    expect(status == 0 and "30000 processes used devices" in err, status, err)
    made = "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (i INTEGER, deviceId INTEGER, streamId INTEGER, demangledName INTEGER, " \
           "start INTEGER AS (length(replace(hex(zeroblob(10000000)), '0', 'xx'))), end INTEGER AS (start))"
    analyze(database("generated.sqlite", made, STRINGS, "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 0, 0, 1)"), 'expected a column "start"')


def size():
    """A huge text is cut short by its use as a name, a blob is no number."""
    path = database("blob.sqlite", KERNELS, STRINGS, ("INSERT INTO StringIds VALUES (1, ?)", [("x" * 4_000_000,)]), kernels(10),
                    "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = zeroblob(8000000) WHERE correlationId = 3")
    status, out, err = run("analyze", "-q", path)
    expect(status in (0, 3) and len(out) < 200_000 and len(err) < 4000, status, len(out), len(err))


def harmless():
    """Triggers do not fire when a table is read, and names may hold quotes."""
    path = database("trigger.sqlite", KERNELS, STRINGS, "INSERT INTO StringIds VALUES (1, 'gemm')", kernels(10),
                    "CREATE TRIGGER t AFTER INSERT ON StringIds BEGIN SELECT load_extension('/nonexistent'); END",
                    "CREATE TRIGGER u AFTER DELETE ON StringIds BEGIN DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL; END")
    before = open(path, "rb").read()
    analyze(path, "gemm", code=0)
    expect(open(path, "rb").read() == before, "the file was changed")
    table = 'jobs"; DROP TABLE other; --'
    plain = os.path.join(SOURCE, "tests", "data", "jobs_resnet50.csv")
    with open(plain) as file:
        header, *rows = [line.rstrip("\n").split(",") for line in file if not line.startswith("#")]
    quoted = table.replace('"', '""')
    path = database("quotes.sqlite", f'CREATE TABLE "{quoted}" ({", ".join(chr(34) + name + chr(34) for name in header)}, "odd""one")',
                    "CREATE TABLE other (a)", (f'INSERT INTO "{quoted}" VALUES ({", ".join("?" * len(header))}, 1)', rows))
    expected = run("fleet", plain, "-f", "csv")
    status, out, err = run("fleet", path, "--database-table", table, "-f", "csv")
    expect(status == 0 and out == expected[1], status, err, out[:300], expected[1][:300])


def main():
    code, _, err = run("analyze", database("probe.sqlite", "CREATE TABLE a (b)"))
    if "without SQLite" in err:
        print("built without SQLite")
        return 77
    views()
    work()
    size()
    harmless()
    return finish()


sys.exit(main())
