"""`mpirun -n N paceline fleet` gives the bytes that one process gives, whatever N, and one clear line where it cannot.

FLEET_MPI=all in the environment takes every number of processes up to 5, else a few."""
import os
import shutil
import subprocess
import sys
import tempfile

from checks import PACELINE, expect, finish

MODULE = os.path.join(os.path.dirname(PACELINE), "modules", "paceline-mpi.so")
FOLDER = tempfile.mkdtemp(prefix="paceline-mpi-")
# MPI's libraries keep what they allocate until the end.
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMP_NUM_THREADS="2",
           OMPI_MCA_btl_vader_single_copy_mechanism="none",
           ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0")

COUNTS = (1, 2, 3, 4) if os.environ.get("FLEET_MPI") == "all" else (1, 3)  # of processes

if not shutil.which("mpirun") or not os.path.exists(MODULE):
    print("no mpirun, or no module for it")
    sys.exit(77)


def run(processes, *words):
    start = ["mpirun", "--oversubscribe", "-n", str(processes)] if processes > 1 else []
    done = subprocess.run([*start, PACELINE, "fleet", *words], capture_output=True, timeout=300, env=ENV, cwd=FOLDER)
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")


expect(run(1, "--synthesize", "30000", "--seed", "2", "-o", "all.csv")[0] == 0, "made")
lines = open(os.path.join(FOLDER, "all.csv")).read().split("\n")
parts = []
for k in range(4):
    parts.append(f"part-{k}.csv")
    rows = lines[2 + k * 7500 : 2 + (k + 1) * 7500]
    if k == 2:
        rows[10:10] = ["cut,ps_worker,4", "odd,ps_worker,-1,1,1,1,1,1,1,1,1"]
    with open(os.path.join(FOLDER, parts[-1]), "w") as file:
        file.write("\n".join([lines[1]] + rows) + "\n")

for extra in ((), ("--exact",)):
    code, alone, err = run(1, "--format", "json", "--rejects", "refused.csv", *extra, *parts)
    expect(code == 0 and len(alone) > 10000, "one process", code, err)
    for processes in (*COUNTS[1:], 5):
        code, out, err = run(processes, "--format", "json", "--rejects", "refused.csv", *extra, *parts)
        expect(code == 0 and out == alone, "other bytes", processes, extra, code, err[-300:])


# A terminal that mpirun gives a process is nobody's: what people read is the same, too, without colours.
ENV_TERM = dict(ENV, TERM="xterm")
read_alone = run(1, *parts)[1]
for processes in (2, 3):
    start = ["mpirun", "--oversubscribe", "-n", str(processes)]
    out = subprocess.run([*start, PACELINE, "fleet", *parts], capture_output=True, timeout=300, env=ENV_TERM, cwd=FOLDER).stdout
    expect(out == read_alone and b"\x1b" not in out, "what people read", processes, out[:200])


def same_as_one(name, *words):
    """Report, list of refused rows, messages and exit status, whatever the number of processes."""
    known = None
    for processes in COUNTS:
        code, out, err = run(processes, "--format", "json", "--rejects", "listed.csv", *words)
        path = os.path.join(FOLDER, "listed.csv")
        listed = b"no list"
        if os.path.exists(path):
            with open(path, "rb") as file:
                listed = file.read()
            os.remove(path)
        seen = (code, out, listed, [line for line in err.split("\n") if line.startswith("paceline")])
        known = known or seen
        expect(seen == known, name, processes, *[(a[-300:], b[-300:]) if isinstance(a, bytes) else (a, b)
                                                 for a, b in zip(seen, known) if a != b])
    return known


def put(name, text):
    with open(os.path.join(FOLDER, name), "w") as file:
        file.write(text)
    return name


# One file, cut at rows: with comments, empty lines, an odd column, rows that are no jobs, other line ends, no last line end.
rows = lines[2:30002]
rows[7:7] = ["", "cut,ps_worker,4"]
rows[15000:15000] = ["odd,ps_worker,-1,1,1,1,1,1,1,1,1", ""]
rows[29990:29990] = ["late,ps_worker,4"]
header = "# a comment\n\n" + lines[1].replace("user", "usr")
code, out, listed, _ = same_as_one("one file", put("one.csv", header + "\n" + "\n".join(rows)))
expect(code == 0 and listed.count(b"\n") == 4 and b'"one.csv",12,' in listed and b'"one.csv",29994,' in listed, "lines", listed)
expect(b'"bytes": %d' % os.path.getsize(os.path.join(FOLDER, "one.csv")) in out or
       b'"bytes":%d' % os.path.getsize(os.path.join(FOLDER, "one.csv")) in out, "size", out[:400])
same_as_one("returns", put("returns.csv", header + "\r\n" + "\r\n".join(rows) + "\r\n"))
same_as_one("few rows", put("few.csv", lines[1] + "\n" + lines[2]))
same_as_one("long comment", put("comment.csv", "#" + 3000 * "x" + "\n" + "\n".join(lines[1:12]) + "\n"))
expect(same_as_one("no rows", put("none.csv", lines[1] + "\n"))[0] == 3, "no rows")
expect(same_as_one("no columns", put("empty.csv", ""))[0] == 3, "empty")
expect(same_as_one("not a column", put("other.csv", header.replace("flop", "flip") + "\n" + "\n".join(rows)))[0] == 3, "no flop")
# Ids that come again: in the same file, in another, in a compressed one; the first counts.
subprocess.run(["gzip", "-k", parts[1]], cwd=FOLDER, check=True)
code, out, listed, _ = same_as_one("twice", "--most-rejected", "1", parts[0], parts[0])
expect(code == 0 and listed.count(b"was there before") == 7500, "repeats", code, listed[:300])
code, out, listed, _ = same_as_one("again", "--most-rejected", "1", parts[3], parts[1] + ".gz", "one.csv", parts[2])
expect(code == 0 and listed.count(b"was there before") == 22500, "repeats", code, listed.count(b"was there before"))
inside = rows[:20000] + rows[100:400] + rows[20000:] + rows[5:9]
expect(same_as_one("inside", "--most-rejected", "0.5", put("inside.csv", header + "\n" + "\n".join(inside) + "\n"))[0] == 0, "inside")
expect(same_as_one("too many", parts[0], parts[0])[0] == 3, "too many")
expect(same_as_one("let them", "--repeats", "--exact", parts[0], parts[0])[0] == 0, "let them")
code, out, err = run(2, parts[0], "absent.csv")
expect(code == 3 and "absent.csv: No such file" in err and not out, "absent", code, err)
code, out, err = run(2, "--most-rejected", "0.00001", *parts)
expect(code == 3 and "2 of 30002 rows are no jobs" in err and "part-2.csv:12: expected 11 cells" in err, "share", code, err)


def run_apart(*words):
    """Three processes, of which the second runs in a folder that has nothing in it."""
    empty = os.path.join(FOLDER, "empty")
    os.makedirs(empty, exist_ok=True)
    start = ["mpirun", "--oversubscribe"]
    for place in (FOLDER, empty, FOLDER):
        start += [":"] * (len(start) > 2) + ["-n", "1", "--wdir", place, PACELINE, "fleet", *words]
    done = subprocess.run(start, capture_output=True, timeout=60, env=ENV, cwd=FOLDER)
    said = [line for line in done.stderr.decode("utf-8", "replace").split("\n") if line.startswith("paceline")]
    return done.returncode, done.stdout, said


# What one process alone misses ends all: before they read, and before they first wait for each other.
subprocess.run([PACELINE, "fit", "--kind", "job", os.path.join(os.environ["PACELINE_SOURCE"], "tests", "data", "jobs_resnet50.csv"),
                "-o", "learned.yaml"], cwd=FOLDER, check=True, capture_output=True)
expect(run(3, "--fit", "learned.yaml", *parts)[0] == 0, "a good fit")
for words, missed in ((parts, "part-0.csv"), (["--rejects", "listed.csv", *parts], "part-0.csv"),
                      (["--fit", "learned.yaml", *parts], "learned.yaml")):
    code, out, said = run_apart(*words)
    expect(code == 3 and not out and len(said) == 1 and missed in said[0], "one process fails", words, code, said)
ENV["PACELINE_MODULES"] = FOLDER
code, out, err = run(2, *parts)
expect(code == 4 and "libopenmpi-dev" in err, "no module", code, err)

shutil.rmtree(FOLDER)
finish()
