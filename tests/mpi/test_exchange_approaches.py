"""Approaches to exchange gradients on made-up tensors: means, or weights updated by servers, as computed one after another; a rank
that stops or is killed ends the others in time, with a message, and leaves no process behind."""
import os
import subprocess
import sys
import time

from under_mpirun import BUILD, EVERYTHING, expect, finish, mpirun, program

# grpc+mpi is slow to try: MPI starts its servers anew each time.
MODULES = (("mpi", "all"), ("collective", "all"), ("grpc", "grpc"), ("ucx", "all"), ("grpc", "grpc+mpi"))


def module(name):
    return os.path.join(BUILD, "modules", f"paceline-train-{name}.so")


def run(ranks, name, approach, what):
    return mpirun(ranks, program("check_exchange"), module(name), approach, what, timeout=150)


def run_right(ranks, name, approach, what):
    """Once more where Open MPI's mpirun did not answer a server that it had started (docs/approaches.md)."""
    code, out = run(ranks, name, approach, what)
    unanswered = approach == "grpc+mpi" and "nothing came from the others for 60 s before step 1" in out
    return run(ranks, name, approach, what) if unanswered else (code, out)


def left():
    """Processes that run a program of this test."""
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, check=False).stdout.decode("utf-8", "replace")
    return [line for line in listed.splitlines() if line.startswith((program("check_exchange"), os.path.join(BUILD, "modules")))]


here = [one for one in MODULES if os.path.exists(module(one[0]))]
if not here:
    print("no module of approaches was built")
    sys.exit(77)
for name, which in here if EVERYTHING else here[:4]:
    if name in ("grpc", "ucx") and EVERYTHING:
        code, out = run(2, name, which, "async")
        expect(code == 0, "async", name, code, out[-1500:])
    for ranks in (1, 2, 3, 4) if EVERYTHING else (3,):
        code, out = run_right(ranks, name, which, "right" if EVERYTHING else "few")
        expect(code == 0 and "transport: " in out, ranks, name, code, out[-1500:])
FAIL = (("mpi", "horovod-mpi"), ("mpi", "baidu-mpi"), ("mpi", "p2p"), ("collective", "mpi-opt"), ("grpc", "grpc"), ("grpc", "grpc+mpi"),
        ("ucx", "grpc+ucx"))
for name, approach in [one for one in FAIL if os.path.exists(module(one[0]))][: None if EVERYTHING else 1]:
    for what in ("stall", "kill", "server" if "grpc" in approach else "stall") if EVERYTHING else ("stall",):
        if what == "server" and approach == "grpc+mpi":
            continue # its servers are no children of a rank
        begin = time.monotonic()
        code, out = run(3, name, approach, what)
        said = "nothing came from the others" in out or "ended during an exchange" in out or "does not answer" in out
        expect(code != 0 and (said or what == "kill" and "signal 9" in out), what, approach, code, out[-1500:])
        expect(time.monotonic() - begin < 30, what, approach, "took", time.monotonic() - begin)
        end = time.monotonic() + 5
        while left() and time.monotonic() < end:
            time.sleep(0.1)
        expect(not left(), what, approach, "left behind:", left())
finish()
