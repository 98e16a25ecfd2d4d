"""Simulation of exchanges: messages a second, seconds a case, and SimGrid's SMPI on the same all-reduce in the same run.

Usage: bench_exchange.py [CASE]. SMPI runs where Debian's libsimgrid-dev is installed. Figures of other simulators are
of the same kind of machine, but not of this run: 1 GiB by a ring over 2,048 ranks took LogGOPSim 6.2 s and 709 MB,
ASTRA-sim 14.7 s and 1.4 GB, SimGrid's S4U 57 to 75 s and 63 MB.
"""
import os
import subprocess
import sys
import time

import smpi

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("PACELINE_BUILD", os.path.join(HERE, os.pardir, "build", "release"))
BENCH = os.path.join(BUILD, "tests", "bench_exchange")


def beside_smpi():
    """An all-reduce of 1 MiB by a ring at growing rank counts, every rank simulated."""
    print("\nall-reduce of 1 MiB by a ring: wall clock, starting the program included")
    with smpi.Smpi() as other:
        for ranks in (16, 64, 256, 512):
            begin = time.monotonic()
            subprocess.run([BENCH, "allreduce", "ring", str(ranks), "1048576", "switch"], check=True, capture_output=True)
            ours = time.monotonic() - begin
            begin = time.monotonic()
            other.seconds("allreduce", "lr", ranks, 1 << 20)
            theirs = time.monotonic() - begin
            print(f"  {ranks:4} ranks  paceline, shared links {ours:7.3f} s   SMPI {theirs:7.3f} s   {theirs / ours:6.0f} x")


status = subprocess.run([BENCH, *sys.argv[1:]], check=False).returncode
if len(sys.argv) == 1:
    if smpi.here():
        beside_smpi()
    else:
        print("\nSMPI: not here (libsimgrid-dev)")
sys.exit(status)
