"""`mpirun -n N paceline analyze` gives the bytes that one process gives, whatever N: answers, warnings and refusals."""
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile

from checks import PACELINE, expect, finish

MODULE = os.path.join(os.path.dirname(PACELINE), "modules", "paceline-mpi.so")
FOLDER = tempfile.mkdtemp(prefix="paceline-mpi-")
# MPI's libraries keep what they allocate until the end.
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMP_NUM_THREADS="2", NO_COLOR="1",  # Open MPI gives process 0 a terminal
           OMPI_MCA_btl_vader_single_copy_mechanism="none",
           ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0")
RANKS = 5

if not shutil.which("mpirun") or not os.path.exists(MODULE):
    print("no mpirun, or no module for it")
    sys.exit(77)


def event(cat, name, pid, tid, ts, dur, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}


def write_rank(rank):
    """Three steps of a product and an all-reduce, on a rank that is the later the higher its number is."""
    events = []
    for step in range(3):
        at, number = step * 1000 + 7 * rank, step * 10
        events += [event("user_annotation", f"ProfilerStep#{step}", 1, 1, at, 900),
                   event("cpu_op", "aten::mm", 1, 1, at + 10, 50, **{"Input Dims": [[64, 64], [64, 64]],
                                                                     "Input type": ["float", "float"]}),
                   event("cuda_runtime", "cudaLaunchKernel", 1, 1, at + 20, 5, correlation=number + 1),
                   event("kernel", "sgemm", 0, 7, at + 40, 300, device=0, stream=7, correlation=number + 1),
                   event("cuda_runtime", "cudaLaunchKernel", 1, 1, at + 70, 5, correlation=number + 2),
                   event("kernel", "ncclDevKernel_AllReduce_Sum_f32", 0, 9, at + 350, 700 - 7 * rank - at % 1000, device=0,
                         stream=9, correlation=number + 2, **{"Collective name": "allreduce", "In msg nelems": 1000,
                                                              "Out msg nelems": 1000, "Group size": RANKS, "dtype": "Float",
                                                              "Process Group Name": "0"})]
    document = {"distributedInfo": {"rank": rank, "world_size": RANKS},
                "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-40GB", "totalGlobalMem": 42298834944}],
                "traceEvents": events}
    path = f"rank{rank}.json.gz"
    with gzip.open(os.path.join(FOLDER, path), "wt") as out:
        out.write(json.dumps(document))
    return path


def run(processes, *words, stdin=b""):
    start = ["mpirun", "--oversubscribe", "-n", str(processes)] if processes > 1 else []
    done = subprocess.run([*start, PACELINE, "analyze", *words], capture_output=True, timeout=300, env=ENV, cwd=FOLDER,
                          input=stdin)
    lines = done.stderr.decode("utf-8", "replace").splitlines()
    return done.returncode, done.stdout, [line for line in lines if line.startswith("paceline")]


def same_as_one(name, wanted, *words, stdin=b"", numbers=(2, 3, 7)):
    code, alone, said = run(1, *words, stdin=stdin)
    expect(code == wanted, name, "one process exits with", code, said)
    for processes in numbers:
        found = run(processes, *words, stdin=stdin)
        expect(found == (code, alone, said), name, processes, "processes", found[0], found[2], said, len(found[1]))
    return alone


paths = [write_rank(rank) for rank in range(RANKS)]
with open(os.path.join(FOLDER, "broken.json"), "w") as file:
    file.write('{"traceEvents": [')
whole = json.loads(same_as_one("all ranks", 0, "--format", "json", *paths))
expect([rank["rank"] for rank in whole["ranks"]] == list(range(RANKS)), "all ranks are there")
same_as_one("a table", 0, "--check", *reversed(paths), numbers=(4,))
left_out = json.loads(same_as_one("one is broken", 0, "--format", "json", *paths[:3], "broken.json", numbers=(2,)))
expect(any("broken.json" in str(warning) for warning in left_out["warnings"]), "what is left out is said", left_out["warnings"])
same_as_one("none is good", 3, "broken.json", numbers=(3,))
same_as_one("one is not there", 3, paths[0], "nowhere.json", numbers=(2,))
with open(os.path.join(FOLDER, paths[1]), "rb") as file:
    same_as_one("standard input", 0, "--format", "json", paths[0], "-", stdin=file.read(), numbers=(2,))

plan = [PACELINE, "plan", "gpt2", "--on", "dgx-h100", "--set", "global_batch=32", "--set", "tp=1", "--format", "json"]
alone = subprocess.run(plan, capture_output=True, env=ENV, cwd=FOLDER, timeout=120)
both = subprocess.run(["mpirun", "--oversubscribe", "-n", "2", *plan], capture_output=True, env=ENV, cwd=FOLDER, timeout=120)
expect(alone.returncode == both.returncode == 0 and alone.stdout == both.stdout, "plan", both.stderr[-400:])
shutil.rmtree(FOLDER)
sys.exit(finish())
