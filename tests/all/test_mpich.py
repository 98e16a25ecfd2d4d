"""libpaceline_collective and libpaceline_mpi built with MPICH do what they do with Open MPI, on one and two ranks: every way
gives MPICH's own results."""
import os
import re
import shutil
import subprocess
import sys

SOURCE, BUILD = os.environ["PACELINE_SOURCE"], os.path.join(os.environ["PACELINE_BUILD"], "mpich")
PREPROCESS = ("mpicc.mpich", "-E", "-x", "c", "-include", "mpi.h", "/dev/null")  # the compiler comes without headers, too
if not shutil.which("mpicc.mpich") or not shutil.which("mpirun.mpich") or subprocess.run(PREPROCESS, capture_output=True, check=False).returncode:
    print("no MPICH (mpich, libmpich-dev)")
    sys.exit(77)


def run(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=1200)
    return done.returncode, done.stdout.decode("utf-8", "replace")


def built():
    cache = re.search(r"CMAKE_C_COMPILER_LAUNCHER:\w+=(\S+)", open(os.path.join(os.environ["PACELINE_BUILD"], "CMakeCache.txt"),
                                                                   encoding="utf-8").read())
    for words in (("-S", SOURCE, "-B", BUILD, "-DCMAKE_BUILD_TYPE=Release", "-DPACE_CUDA=OFF",
                   "-DMPI_C_COMPILER=" + shutil.which("mpicc.mpich"),
                   *(["-DCMAKE_C_COMPILER_LAUNCHER=" + cache[1]] if cache else [])),
                  ("--build", BUILD, "-j2", "--target", "libpaceline_mpi", "check_collective", "check_shim", "check_random", "check_fusion")):
        code, out = run("cmake", *words)
        if code:
            print(out[-3000:])
            return False
    return True


if not built():
    sys.exit(1)
wrong = 0
SHIM = ("-genv", "LD_PRELOAD", os.path.join(BUILD, "collective", "libpaceline_mpi.so"))
for ranks in ("1", "2"):
    for before, program, words in (((), "check_collective", ["--full"]), (SHIM, "check_shim", ["20"]), (SHIM, "check_random", ["1", "2000"]), ((), "check_fusion", [])):
        code, out = run("mpirun.mpich", *before, "-n", ranks, os.path.join(BUILD, "tests", program), *words)
        print(ranks, program, out.strip().splitlines()[-1])
        if code or not re.search(r"\b0 failures", out) or before and "libpaceline_mpi" not in out:
            wrong += 1
            print(code, out[-3000:])
sys.exit(bool(wrong))
