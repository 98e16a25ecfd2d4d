"""Random calls under libpaceline_mpi leave the bits that MPI leaves (tests/mpi/check_random.c): all types, operations, communicators,
counts and places; also over hosts, and with each way of exchanging."""
import os

from under_mpirun import BUILD, EVERYTHING, expect, finish, mpirun, on_hosts, program

SHIM = os.path.join(BUILD, "collective", "libpaceline_mpi.so")
SETTINGS = ("", "check", "nocopy", "shm=posix", "allreduce=ring;reduce=chain;broadcast=binomial;all_gather=bruck", "allreduce=copy;broadcast=copy;all_gather=copy",
            "allreduce=staged;reduce_scatter=direct", "allreduce=flat;broadcast=flat;reduce_scatter=flat;all_gather=flat;reduce=flat")
SEEDS, CALLS = (40, 3000) if EVERYTHING else (1, 500)


def right(code, out):
    return code == 0 and f"\n0 failures by {SHIM}" in "\n" + out and "MPI does this communicator" not in out


for seed in range(SEEDS):
    for number, setting in enumerate(SETTINGS if EVERYTHING else SETTINGS[:1]):
        ranks = 2 + (seed + number) % (4 if EVERYTHING else 2)
        words = ("-x", "LD_PRELOAD=" + SHIM, program("check_random"), str(100 * seed + number), str(CALLS))
        code, out = mpirun(ranks, *words, PACELINE_COLLECTIVE=setting)
        expect(right(code, out), ranks, setting, *words[2:], code, out[-2000:])
    code, out = on_hosts((1, 2), "-x", "LD_PRELOAD=" + SHIM, program("check_random"), str(seed), str(CALLS))
    expect(right(code, out), "hosts", seed, code, out[-2000:])
finish()
