"""PACELINE_TRACE: what ranks exchanged, as a trace that analyze reads: as many events as calls, in both libraries."""
import json
import os
import subprocess
import tempfile

from under_mpirun import BUILD, expect, finish, mpirun, program

PACELINE = os.environ["PACELINE"]


with tempfile.TemporaryDirectory(prefix="paceline-trace-") as folder:
    asked = os.path.join(folder, "run.json")
    shim = os.path.join(BUILD, "collective", "libpaceline_mpi.so")
    code, out = mpirun(2, "-x", "LD_PRELOAD=" + shim, program("check_shim"), "2", PACELINE_TRACE=asked)
    expect(code == 0, code, out[-1000:])
    paths = [os.path.join(folder, f"run.rank{rank}.json") for rank in range(2)]
    traces = [json.load(open(path, encoding="utf-8")) for path in paths]
    names = [[event["name"] for event in trace["traceEvents"]] for trace in traces]
    expect(names[0] == names[1] and {"paceline:allreduce", "paceline:reduce", "paceline:reduce_scatter"} <= set(names[0]), names[0][:5])
    times = [[(event["ts"], event["dur"]) for event in trace["traceEvents"]] for trace in traces]
    expect(all(a[0] + a[1] <= b[0] + 0.002 for t in times for a, b in zip(t, t[1:])), "events overlap")
    done = subprocess.run([PACELINE, "analyze", "--format", "json", *paths], capture_output=True, check=False)
    expect(done.returncode == 0, done.stderr.decode()[-1000:])
    text = done.stdout.decode()
    expect("paceline:allreduce" in text and '"communication' in text, text[:500])
    os.symlink("/dev/full", os.path.join(folder, "full.rank1.json"))
    code, out = mpirun(2, "-x", "LD_PRELOAD=" + shim, program("check_shim"), "2", PACELINE_TRACE=os.path.join(folder, "full.json"))
    expect(code == 0 and "full.rank1.json is not whole: No space left" in out and "full.rank0.json is" not in out, "full", code, out[-1000:])
finish()
