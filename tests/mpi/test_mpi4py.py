"""libpaceline_mpi before a program of mpi4py: the sums are right, and it was the shim that made them."""
import os
import subprocess
import sys

from under_mpirun import BUILD, EVERYTHING, expect, finish, mpirun

SHIM = os.path.join(BUILD, "collective", "libpaceline_mpi.so")
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mpi4py_program.py")


def python():
    """One that has mpi4py: Debian's package serves /usr/bin/python3 alone."""
    for each in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([each, "-c", "import mpi4py"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            return each
    print("no mpi4py (python3-mpi4py)")
    sys.exit(77)


def sanitizer():
    """The run-time library that an instrumented shim wants loaded before everything, with a colon; or nothing."""
    needs = subprocess.run(["ldd", SHIM], stdout=subprocess.PIPE, check=True).stdout.decode().split()
    return "".join(each + ":" for each in needs if each.startswith("/") and "libasan" in each)


for ranks in (1, 2, 3, 4, 5, 8) if EVERYTHING else (2, 3):
    trace = os.path.join(BUILD, "mpi4py.json")
    code, out = mpirun(ranks, "-x", "LD_PRELOAD=" + sanitizer() + SHIM, python(), PROGRAM, PACELINE_TRACE=trace)
    traced = [trace.replace(".json", f".rank{rank}.json") for rank in range(ranks)]
    taken = [os.path.exists(each) and open(each).read().count('"allreduce"') for each in traced]
    expect(code == 0 and "0 failures with Open MPI" in out and (ranks == 1 or all(taken)), ranks, code, taken, out[-2000:])
    for each in traced:
        if os.path.exists(each):
            os.remove(each)
finish()
