"""A rank or a parameter server is killed, or stopped so that it only does not answer: the others end with one clear reason within the
time-out, no process stays behind, and no shared memory of ours. In the seconds tier a stopped rank of two approaches, else all of them."""
import os
import signal
import subprocess
import sys
import tempfile
import time

from ranks_under_attack import await_ranks, await_that, command_lines
from under_mpirun import BUILD, ENV, EVERYTHING, expect, finish

MODULES = {"mpi-opt": "collective", "segments": "segments", "grpc": "grpc", "pearl": "collective", "horovod-mpi": "mpi", "baidu-mpi": "mpi",
           "p2p": "mpi", "grpc+mpi": "grpc", "grpc+ucx": "ucx"}
TABLES = """family: net
about: a
source: b
inputs: {sparse: {indices: 2}}
loss: binary_cross_entropy
layers:
  - {embedding_bag: {rows: 50, width: 4, tables: 1, lookups: 2}, from: sparse}
  - linear: 1
  - sigmoid
"""


def module(name):
    return os.path.exists(os.path.join(BUILD, "modules", f"paceline-train-{name}.so"))


def ours_in_shm():
    return {name for name in os.listdir("/dev/shm") if name.startswith("paceline-") and "fuzz" not in name}


def servers_of(ranks):
    """Of these ranks: their children, and what MPI started for them."""
    found = []
    for number, said in command_lines():
        if "paceline-train-server" in said[0]:
            with open(f"/proc/{number}/environ", encoding="utf-8") as file:
                if MARK in file.read():
                    found.append(number)
    return found if ranks else []


def marked():
    found = []
    for number, _ in command_lines():
        try:
            with open(f"/proc/{number}/environ", encoding="utf-8") as file:
                if MARK in file.read():
                    found.append(number)
        except OSError:
            continue
    return found


def attack(approach, number, on_server):
    model = {"pearl": TABLES_PATH, "segments": "mlp"}.get(approach, "lenet")
    words = ["train", model, "--ranks", "2", "--approach", approach]
    before = ours_in_shm()
    run = subprocess.Popen([os.environ["PACELINE"], *words, "--batch", "2", "--steps", "1000000", "--warm-up", "0", "--threads", "1", "--timeout", "2"],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**ENV, "PACELINE_ATTACKED": MARK})
    ranks = await_ranks(run, words, MODULES[approach])
    victim = await_that("a server", lambda: servers_of(ranks), run)[-1] if on_server else ranks[-1]
    os.kill(victim, number)
    begin = time.monotonic()
    try:
        out, err = run.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        for left in marked():
            os.kill(left, signal.SIGKILL)
        out, err = run.communicate()
    said, what = err.decode(), (approach, number, "server" if on_server else "rank")
    expect(run.returncode not in (0, None), *what, run.returncode, out[-300:])
    expect(time.monotonic() - begin < 55, *what, "took", time.monotonic() - begin)
    expect("answer" in said or "in time" in said or "ended" in said, *what, said[-600:])
    expect(not said.count("Traceback"), *what, said)
    await_end = time.monotonic() + 20
    while marked() and time.monotonic() < await_end:
        time.sleep(0.05)
    expect(not marked(), *what, "left behind", marked())
    expect(ours_in_shm() <= before, *what, "left in /dev/shm", ours_in_shm() - before)


MARK = f"test_train_deaths-{os.getpid()}"
with tempfile.TemporaryDirectory() as folder:
    TABLES_PATH = os.path.join(folder, "net.yaml")
    with open(TABLES_PATH, "w", encoding="utf-8") as file:
        file.write(TABLES)
    here = [one for one in MODULES if module(MODULES[one]) and module("onednn")]
    if not here:
        print("skipped: there is no module of layers and approaches (libdnnl-dev, libopenmpi-dev)")
        sys.exit(77)
    for approach in here if EVERYTHING else here[:2]:
        attack(approach, signal.SIGSTOP, False)
        if EVERYTHING:
            attack(approach, signal.SIGKILL, False)
        for number in (signal.SIGKILL, signal.SIGSTOP) if EVERYTHING and "grpc" in approach else ():
            attack(approach, number, True)
finish()
