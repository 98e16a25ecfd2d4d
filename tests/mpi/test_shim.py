"""libpaceline_mpi before an MPI program that knows nothing of it gives what MPI gives; and says what is wrong with settings."""
import os
import subprocess
import tempfile

from under_mpirun import BUILD, EVERYTHING, expect, finish, mpirun, program

SHIM = os.path.join(BUILD, "collective", "libpaceline_mpi.so")


def run(ranks, cycles, *more, **environment):
    words = ["-x", "LD_PRELOAD=" + SHIM] if environment.pop("shim", True) else []
    return mpirun(ranks, *words, program("check_shim"), str(cycles), *more, **environment)


for ranks in range(1, 10) if EVERYTHING else (2, 3, 7):
    code, out = run(ranks, 1000 if EVERYTHING and ranks < 4 else 5, "refuse")
    expect(code == 0 and "0 failures by " in out and "libpaceline_mpi" in out, ranks, code, out[-2000:])
settings = ("off", "allreduce=mpi;check") if not EVERYTHING else ("off", "allreduce=ring:1K,copy;broadcast=chain;check", "shm=posix",
                                                                 "shm=none", "nocopy")
for setting in settings:
    code, out = run(2, 2, PACELINE_COLLECTIVE=setting)
    expect(code == 0 and "0 failures" in out, setting, code, out[-2000:])
code, out = run(2, 2, PACELINE_COLLECTIVE="allreduce=quick")
expect(code == 0 and 1 <= out.count("found 'quick'") <= 2 and "MPI does this communicator's exchanges" in out, "bad setting", code, out[-2000:])
for setting, words in (("spin=2.5", "expected a whole number, found '2.5'"), ("allreduce=flat;timeout=5;allreduce=copy", "expected each setting once, found 'allreduce'")):
    code, out = run(2, 2, PACELINE_COLLECTIVE=setting)
    expect(code == 0 and words in out and "MPI does this communicator's exchanges" in out, setting, code, out[-2000:])
code, out = run(2, 2, PACELINE_COLLECTIVE="parcel=1K")
expect(code == 0 and "expected a size of at least 8K, found '1K'" in out, "small parcels", code, out[-2000:])
with tempfile.TemporaryDirectory() as folder:  # a program with the driver of a device keeps MPI
    driver = os.path.join(folder, "libcuda.so.1")
    subprocess.run(["cc", "-shared", "-x", "c", "/dev/null", "-o", driver], check=True)
    code, out = mpirun(2, "-x", f"LD_PRELOAD={SHIM}:{driver}", program("check_shim"), "2")
    expect(code == 0 and "0 failures" in out and "driver is loaded" in out, "driver", code, out[-2000:])
finish()
