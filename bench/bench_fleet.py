"""`paceline fleet` on generated jobs beside the same projection written in NumPy and pandas, in one run.

Usage: bench_fleet.py [JOBS]. 10 M jobs by default (about 0.9 GB in the temporary folder).
Both read the same CSV and answer the same core question: each job's components, the mean shares by architecture, and for PS/Worker jobs
the speed-up as AllReduce-Local. paceline answers some dozens of questions more in the same pass. Times are wall clock, memory
is the peak resident set of the process; the threads are those of the machine (OMP_NUM_THREADS for paceline).
"""
import os
import subprocess
import sys
import tempfile
import time

from peer_python import peer_python

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("PACELINE_BUILD", os.path.join(HERE, os.pardir, "build", "release"))
PACELINE = os.path.join(BUILD, "paceline")

PEER = r"""
import sys
import numpy as np
import pandas as pd
jobs = pd.read_csv(sys.argv[1], comment="#")
e, pcie, eth, nvlink, peak, memory = 0.7, 1e10, 3.125e9, 5e10, 1.1e13, 1e12
n = jobs.cnodes.to_numpy(float)
kind = jobs.architecture.to_numpy()
ps, wng = kind == "ps_worker", kind == "1wng"
d = jobs.input_bytes.to_numpy(float) / (e * pcie)
c = jobs.flop.to_numpy(float) / (e * peak)
m = jobs.memory_access_bytes.to_numpy(float) / (e * memory)
s = jobs.weight_traffic_bytes.to_numpy(float)
w = np.where(ps, s / (e * eth) + s / (e * pcie), np.where(wng, s / (e * pcie), 0))
t = d + c + m + w
shares = pd.DataFrame({"architecture": kind, "d": d / t, "c": c / t, "m": m / t, "w": w / t})
print(shares.groupby("architecture").mean().loc["ps_worker", "w"])
after = d[ps] * np.minimum(8, n[ps]) + c[ps] + m[ps] + s[ps] / (e * nvlink)
throughput = np.minimum(8, n[ps]) / n[ps] * t[ps] / after
print(np.mean(throughput > 1), np.quantile(throughput, [0.1, 0.5, 0.9]))
"""


def measured(words, env=None):
    """Wall seconds, peak bytes, output."""
    start = time.monotonic()
    child = subprocess.Popen(words, stdout=subprocess.PIPE, env=env)
    out = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.monotonic() - start
    if status != 0:
        sys.exit(f"{' '.join(words[:3])} failed")
    return wall, usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime, out


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    python = peer_python(BUILD, ["numpy", "pandas"])
    with tempfile.TemporaryDirectory(prefix="paceline-fleet-") as folder:
        path = os.path.join(folder, "jobs.csv")
        wall, _, _, _ = measured([PACELINE, "fleet", "--synthesize", str(count), "--seed", "1", "-o", path])
        size = os.path.getsize(path)
        print(f"{count} made-up jobs, {size / 1e6:.0f} MB, written in {wall:.1f} s")
        own = measured([PACELINE, "fleet", "--quiet", "--format", "json", path])
        one = measured([PACELINE, "fleet", "--quiet", "--format", "json", path], dict(os.environ, OMP_NUM_THREADS="1"))
        peer = measured([python, "-c", PEER, path])
        for name, (wall, peak, cpu, _) in (("paceline", own), ("paceline, 1 thread", one), ("NumPy and pandas", peer)):
            print(f"{name:20} {wall:7.2f} s  {cpu:7.2f} s of CPU  {count / wall / 1e6:7.2f} M jobs/s  {size / wall / 1e6:7.0f} MB/s  "
                  f"{size / cpu / 1e6:6.0f} MB/s of CPU  peak {peak / 1e6:7.0f} MB")
        sys.stdout.flush()
        reader = os.path.join(BUILD, "tests", "bench_job_reader")
        if os.path.exists(reader):
            subprocess.run([reader, path], env=dict(os.environ, OMP_NUM_THREADS="1"), check=True)
        print(f"ratio of wall time {peer[0] / own[0]:.1f}, of CPU time {peer[2] / own[2]:.1f} (one thread each: {peer[2] / one[2]:.1f}), "
              f"of memory {peer[1] / own[1]:.1f}")
        if own[3] != one[3]:
            sys.exit("the result depends on the number of threads")


if __name__ == "__main__":
    main()
