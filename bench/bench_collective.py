"""Allreduce of floats on pinned ranks: libpaceline_collective against Open MPI and MPICH, as ratios of times in the same run.

Each round starts every MPI in turn (Open MPI by default, over UCX, with coll/sm; MPICH where it is, for which the library is built once
more); inside each process MPI and Paceline take turns too. With --link each rank is on a host of its own, a network namespace behind a link
of that rate (as root; with --delay a packet takes so many seconds more), and Open MPI over TCP is the peer. A figure is the least of all
rounds' 10th percentiles, a ratio how many times as long the best MPI takes. 'dirty': each rank writes its input and reads its output
between calls. Run it on an idle machine: on a busy one only ratios say something, those of large vectors little.
"""
import argparse
import collections
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("PACELINE_BUILD", os.path.join(HERE, os.pardir, "build", "release"))
BENCH = os.path.join(BUILD, "tests", "bench_collective")
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
KINDS = {
    "default": [],
    "ucx": ["--mca", "pml", "ucx", "--mca", "pml_ucx_tls", "any", "--mca", "pml_ucx_devices", "any"],
    "coll/sm": ["--mca", "coll_sm_priority", "100"],
}
# From so many bytes on: how many times as fast it should be; in buffers of the runtime, dirty. With a processor for each rank, and without.
TARGETS = [(0, 2.0, None), (4097, 1.3, None), ((128 << 10) + 1, 1.1, 3.0), ((8 << 20) + 1, 2.0, 3.0)]
TARGETS_CROWDED = [(0, 1.0, None)]


def built_with_mpich():
    """The benchmark built with MPICH, or None."""
    folder = os.path.join(BUILD, "mpich")
    if not shutil.which("mpicc.mpich") or not shutil.which("mpirun.mpich"):
        return None
    for words in (("-S", os.path.join(HERE, os.pardir), "-B", folder, "-DCMAKE_BUILD_TYPE=Release", "-DPACE_CUDA=OFF",
                   "-DMPI_C_COMPILER=" + shutil.which("mpicc.mpich")), ("--build", folder, "--target", "bench_collective")):
        if subprocess.run(["cmake", *words], stdout=subprocess.DEVNULL, check=False).returncode:
            return None
    return os.path.join(folder, "tests", "bench_collective")


def measure(command, largest, repeats):
    done = subprocess.run([*command, str(repeats), "pin", str(largest)], capture_output=True, text=True, env=ENV, check=False)
    rows = [line.split(",") for line in done.stdout.splitlines() if line[:1].isdigit()]
    return {(int(row[0]), int(row[1])): [float(x) for x in row[3:6]] for row in rows}


def share_of_link(question, size, taken_us):
    """Of what the link allows: each rank must send 2 (ranks - 1) / ranks of the vector, and wait for the other ranks' bytes once."""
    return (2 * (question.ranks - 1) / question.ranks * size / question.link + question.delay) / (taken_us * 1e-6)


def asked():
    parser = argparse.ArgumentParser(description="libpaceline_collective against other MPIs")
    parser.add_argument("rounds", type=int, nargs="?", default=5)
    parser.add_argument("--largest", type=int, default=64 << 20, metavar="BYTES")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--link", type=float, metavar="BYTES_PER_S")
    parser.add_argument("--delay", type=float, default=0, metavar="SECONDS")
    question = parser.parse_args()
    if question.delay and not question.link:
        parser.error("--delay is of a link: expected --link beside it")
    if question.delay < 0:
        parser.error("--delay: expected seconds from 0 on")
    return question


def commands_of(question):
    if question.link:
        link = f"{question.link:.0f}" + (f",{question.delay:.9f}" if question.delay else "")
        return {"tcp": [os.path.join(BUILD, "modules", "paceline-hosts.sh"), str(question.ranks), link, BENCH]}
    ranks = str(question.ranks)
    commands = {kind: ["mpirun", "--bind-to", "none", "--oversubscribe", "-n", ranks, *words, BENCH] for kind, words in KINDS.items()}
    mpich = built_with_mpich()
    return {**commands, "mpich": ["mpirun.mpich", "-bind-to", "none", "-n", ranks, mpich]} if mpich else commands


def main():
    question = asked()
    if not os.path.exists(BENCH):
        print("no MPI: libpaceline_collective was not built")
        return 0
    commands = commands_of(question)
    crowded = question.ranks > os.cpu_count()  # then an MPI that spins takes tens of milliseconds a call
    targets = TARGETS_CROWDED if question.link or crowded else TARGETS
    least = collections.defaultdict(lambda: [float("inf")] * 3)
    print(f"load of this machine at the start: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    for _ in range(question.rounds):
        for kind, command in commands.items():
            for key, row in measure(command, question.largest, 3 if crowded else 10).items():
                least[kind, *key] = [min(a, b) for a, b in zip(least[kind, *key], row)]
    print(f"{'bytes':>9} {'buffers':8} {'best MPI':8} {'us':>10} {'private us':>10} {'ratio':>6} {'target':>6}   {'owned us':>9} {'ratio':>6} {'target':>6}" + ("  of the link" if question.link else ""))
    missed = 0
    for size, dirty in sorted({key[1:] for key in least}):
        rows = {kind: least[kind, size, dirty] for kind in commands if (kind, size, dirty) in least}
        best = min(rows, key=lambda kind: rows[kind][0])
        mpi, private, owned = rows[best][0], min(r[1] for r in rows.values()), min(r[2] for r in rows.values())
        _, want, want_owned = [t for t in targets if size >= t[0]][-1]
        want_owned = want_owned if dirty else None
        missed += mpi / private < want or (want_owned is not None and mpi / owned < want_owned)
        print(f"{size:9} {'dirty' if dirty else 'warm':8} {best:8} {mpi:10.3f} {private:10.3f} {mpi / private:6.2f} {want:6.1f}   "
              f"{owned:9.3f} {mpi / owned:6.2f} {want_owned or '':>6}" +
              (f" {share_of_link(question, size, private):12.2f}" if question.link else ""))
    print(f"{missed} rows below their target; load at the end {os.getloadavg()[0]:.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
