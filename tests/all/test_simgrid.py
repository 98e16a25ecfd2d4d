"""The simulation of exchanges against SimGrid's SMPI: collectives on a switch, apart and sharing its ports.

A message of SMPI is 16 bytes longer than what it carries: one byte sent takes latency + 17 bytes / bandwidth. That much
is taken off for each message that must follow another; the rest agrees to rounding.
"""
import os
import subprocess
import sys

ROOT = os.environ["PACELINE_SOURCE"]
sys.path.insert(0, os.path.join(ROOT, "bench"))
import smpi  # noqa: E402

BENCH = os.path.join(os.environ["PACELINE_BUILD"], "tests", "bench_exchange")
BOUND = 1e-8
HEADER_S = 16 / 50e9


def lg(ranks):
    return ranks.bit_length() - 1


# collective, ours, SMPI's, messages one after the other
CASES = [
    ("allreduce", "ring", "lr", lambda n: 2 * (n - 1)),
    ("allreduce", "recursive_doubling", "rdb", lg),
    ("allreduce", "rabenseifner", "rab", lambda n: 2 * lg(n)),
    ("alltoall", "pairwise", "ring", lambda n: n - 1),
    ("alltoall", "direct", "basic_linear", lambda n: n - 1),
    ("broadcast", "binomial", "binomial_tree", lg),
]


def ours(collective, algorithm, ranks, size, sharing):
    command = [BENCH, collective, algorithm, str(ranks), str(size), sharing]
    words = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return float(words[words.index("predicted") + 1])


def main():
    if not smpi.here():
        print("smpicc is not here: libsimgrid-dev")
        return 77
    failed = 0
    with smpi.Smpi() as other:
        for collective, algorithm, name, series in CASES:
            for ranks in (2, 4, 16, 32):
                for size in (65536, 4194304):
                    expected = other.seconds(collective, name, ranks, size) - series(ranks) * HEADER_S
                    for sharing in ("apart", "switch"):
                        found = ours(collective, algorithm, ranks, size, sharing)
                        off = abs(found / expected - 1)
                        bad = off > BOUND
                        failed += bad
                        print(f"{collective:9} {algorithm:18} {ranks:3} ranks {size:8} bytes {sharing:6} "
                              f"{found:.9g} s, SMPI {expected:.9g} s, {off:.1e}{'  TOO FAR' if bad else ''}")
    return 1 if failed else 0


sys.exit(main())
