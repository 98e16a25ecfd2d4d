"""Fused exchanges give what single ones give (tests/mpi/check_fusion.c)."""
from under_mpirun import EVERYTHING, expect, finish, mpirun, program

for ranks in (1, 2, 3, 5) if EVERYTHING else (2, 3):
    code, out = mpirun(ranks, program("check_fusion"))
    expect(code == 0 and "0 failures" in out, ranks, code, out[-2000:])
finish()
