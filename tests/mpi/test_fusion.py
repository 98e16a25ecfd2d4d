"""Fused exchanges give what single ones give (tests/mpi/check_fusion.c)."""
import sys

from under_mpirun import EVERYTHING, mpirun, program

wrong = 0
for ranks in (1, 2, 3, 5) if EVERYTHING else (2, 3):
    code, out = mpirun(ranks, program("check_fusion"))
    if code != 0 or "0 failures" not in out:
        print(ranks, code, out[-2000:])
        wrong += 1
sys.exit(wrong != 0)
