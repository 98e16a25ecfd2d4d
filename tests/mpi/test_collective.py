"""Every way of every collective gives what MPI gives, on so many ranks (tests/mpi/check_collective.c)."""
import re

from under_mpirun import EVERYTHING, expect, finish, mpirun, on_hosts, program

# Ways that ranks can go: the fewest where neither powers of two nor a grid help.
WAYS = 36
for ranks in range(1, 10) if EVERYTHING else (2, 3, 4):
    code, out = mpirun(ranks, program("check_collective"), "--full" if EVERYTHING else "--few", timeout=3000)
    found = re.search(r"(\d+) ways, (\d+) checks", out)
    expect(code == 0 and found and int(found[1]) >= (WAYS if ranks > 1 else 1) and int(found[2]) >= 300, ranks, "ranks", code, out[-1500:])
for where in ("device", "apart"):
    code, out = mpirun(3 if EVERYTHING else 2, program("check_collective"), "--few", "" if EVERYTHING else "flat", where)
    expect(code == 0 and " 0 failures" in out, where, code, out[-1500:])
code, out = on_hosts((1, 2), program("check_collective"), "--few", "ring", "", ";parcel=8K")
expect(code == 0 and " 0 failures" in out, "parcels", code, out[-1500:])
for layout in ((1, 1), (2, 2), (1, 2), (3, 1), (2, 1, 2), (3, 3)) if EVERYTHING else ((1, 2), (2, 2)):
    code, out = on_hosts(layout, program("check_collective"), "--few", timeout=600)
    found = re.search(r"(\d+) ways, (\d+) checks", out)
    expect(code == 0 and found and int(found[1]) >= 18 and int(found[2]) >= 200, "hosts of ranks", layout, code, out[-1500:])
finish()
