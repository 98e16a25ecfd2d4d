"""Every way of every collective gives what MPI gives, on so many ranks (tests/mpi/check_collective.c)."""
import re
import sys

from under_mpirun import EVERYTHING, mpirun, on_hosts, program

# Ways that ranks can go: the fewest where neither powers of two nor a grid help.
WAYS = 36


def main():
    wrong = 0
    for ranks in range(1, 10) if EVERYTHING else (2, 3, 4):
        code, out = mpirun(ranks, program("check_collective"), "--full" if EVERYTHING else "--few", timeout=3000)
        found = re.search(r"(\d+) ways, (\d+) checks", out)
        if code != 0 or not found or int(found[1]) < (WAYS if ranks > 1 else 1) or int(found[2]) < 300:
            print(f"{ranks} ranks: exit {code}\n{out[-3000:]}")
            wrong += 1
    for where in ("device", "apart"):
        code, out = mpirun(3 if EVERYTHING else 2, program("check_collective"), "--few", "" if EVERYTHING else "flat", where)
        if code != 0 or " 0 failures" not in out:
            print(f"{where}: exit {code}\n{out[-3000:]}")
            wrong += 1
    code, out = on_hosts((1, 2), program("check_collective"), "--few", "ring", "", ";parcel=8K")
    if code != 0 or " 0 failures" not in out:
        print(f"parcels: exit {code}\n{out[-3000:]}")
        wrong += 1
    for layout in ((1, 1), (2, 2), (1, 2), (3, 1), (2, 1, 2), (3, 3)) if EVERYTHING else ((1, 2), (2, 2)):
        code, out = on_hosts(layout, program("check_collective"), "--few", timeout=600)
        found = re.search(r"(\d+) ways, (\d+) checks", out)
        if code != 0 or not found or int(found[1]) < 18 or int(found[2]) < 200:
            print(f"hosts of {layout} ranks: exit {code}\n{out[-3000:]}")
            wrong += 1
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
