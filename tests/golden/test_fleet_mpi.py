"""`mpirun -n N paceline fleet` gives the bytes that one process gives, whatever N, and one clear line where it cannot."""
import os
import shutil
import subprocess
import sys
import tempfile

PACELINE = os.environ["PACELINE"]
MODULE = os.path.join(os.path.dirname(PACELINE), "modules", "paceline-mpi.so")
FOLDER = tempfile.mkdtemp(prefix="paceline-mpi-")
# MPI's libraries keep what they allocate until the end.
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMP_NUM_THREADS="2",
           OMPI_MCA_btl_vader_single_copy_mechanism="none",
           ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0")
wrong = []
checks = 0

if not shutil.which("mpirun") or not os.path.exists(MODULE):
    print("no mpirun, or no module for it")
    sys.exit(77)


def expect(good, *what):
    global checks
    checks += 1
    if not good:
        wrong.append(what)


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
    for processes in (2, 3, 5):
        code, out, err = run(processes, "--format", "json", "--rejects", "refused.csv", *extra, *parts)
        expect(code == 0 and out == alone, "other bytes", processes, extra, code, err[-300:])
code, out, err = run(2, parts[0], parts[0])
expect(code == 3 and "7500 job ids are in files of several processes" in err and not out, "ids", code, err)
code, out, err = run(2, parts[0], "absent.csv")
expect(code == 3 and "absent.csv: No such file" in err and not out, "absent", code, err)
code, out, err = run(2, "--most-rejected", "0.00001", *parts)
expect(code == 3 and "2 of 30002 rows are no jobs" in err and "part-2.csv:12: expected 11 cells" in err, "share", code, err)
ENV["PACELINE_MODULES"] = FOLDER
code, out, err = run(2, *parts)
expect(code == 4 and "libopenmpi-dev" in err, "no module", code, err)

shutil.rmtree(FOLDER)
for fault in wrong:
    print("WRONG:", *fault)
print(f"{checks} checks, {len(wrong)} wrong")
sys.exit(1 if wrong else 0)
