"""`mpirun -n N paceline plan` gives the bytes and the exit status that one process gives, whatever N: an answer, a no, a refusal."""
import os
import shutil
import subprocess
import sys

from checks import PACELINE, expect, finish

MODULE = os.path.join(os.path.dirname(PACELINE), "modules", "paceline-mpi.so")
# MPI's libraries keep what they allocate until the end; Open MPI gives process 0 a terminal.
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", NO_COLOR="1",
           OMPI_MCA_btl_vader_single_copy_mechanism="none",
           ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0")

if not shutil.which("mpirun") or not os.path.exists(MODULE):
    print("no mpirun, or no module for it")
    sys.exit(77)


def plan(processes, *words):
    start = ["mpirun", "--oversubscribe", "-n", str(processes)] if processes > 1 else []
    done = subprocess.run([*start, PACELINE, "plan", *words], capture_output=True, timeout=200, env=ENV)
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")


FIXED = ("--set", "framework=megatron-core", "--set", "precision=bf16")
for words, status, said in ((("gpt2", "--on", "dgx-h100*2", "--set", "global_batch=64"), 0, ""),
                            (("gpt2", "--on", "dgx-h100*4", "--set", "global_batch=64", "--tokens", "1T", "--within", "400d", "-f", "json"), 0, ""),
                            (("gpt3_175b", "--on", "dgx-a100", "--set", "global_batch=8", "--set", "offload=none", "--set", "recompute=none"), 1,
                             "No configuration"),
                            (("gpt2", "--on", "dgx-h100", "--set", "pp=0"), 2, "pp")):
    alone = plan(1, *words, *FIXED)
    expect(alone[0] == status and bool(alone[1]) == (status < 2) and said in alone[2], "one process", words, alone)
    for processes in (2, 3):
        code, out, err = plan(processes, *words, *FIXED)
        expect(code == status and out == alone[1], "the same", processes, words, code, out, err)
        told = [line for line in err.splitlines() if line.startswith("paceline")]
        expect(told == [line for line in alone[2].splitlines() if line.startswith("paceline")], "said once", processes, told)
sys.exit(finish())
