"""A rank killed in the middle of an exchange, ranks that call differently, settings and memory that are not there: one clear error
on all ranks, in time, and nothing left in /dev/shm."""
import os
import re
import subprocess
import time

from under_mpirun import BUILD, ENV, EVERYTHING, expect, finish, mpirun, on_hosts, program


def ours():
    return [name for name in os.listdir("/dev/shm") if name.startswith("paceline-")] if os.path.isdir("/dev/shm") else []


def run(ranks, what, *settings, **environment):
    words = ["--mca", "orte_abort_on_non_zero_status", "0"] if what == "kill" else []
    return mpirun(ranks, *words, program("check_failure"), what, timeout=60, PACELINE_COLLECTIVE=";".join(settings), **environment)


before = ours()
for setting in ("allreduce=flat", "allreduce=copy", "allreduce=ring;shm=posix")[: 3 if EVERYTHING else 1]:
    begin = time.monotonic()
    code, out = run(3, "kill", setting)
    # mpirun may end the survivors before they say it; then its own words stand there
    said = out.count("ended during an exchange") + out.count("has left the exchange") + out.count("cannot read")
    expect(code != 0 and (said or "signal 9" in out or "Killed" in out), setting, code, out[-1500:])
    expect(time.monotonic() - begin < 30, setting, "took", time.monotonic() - begin)
for ways in ("", "allreduce=ring", "allreduce=staged")[: 3 if EVERYTHING else 2]:
    for what, count in (("check", 10), ("none", 0)):
        for code, out in (run(2, what, "check", ways), on_hosts((1, 1), program("check_failure"), what, PACELINE_COLLECTIVE="check;" + ways)):
            expect(code == 0 and out.count("ranks call differently") == 2 and f"{count} elements" in out and "11 elements" in out, ways, what,
                   code, out[-1500:])
# An MPI program: calls that are handed on to MPI or refused on one rank alone, too.
PRELOAD = ("-x", "LD_PRELOAD=" + os.path.join(BUILD, "collective", "libpaceline_mpi.so"), program("check_differs"))
for code, out in (mpirun(3, *PRELOAD, timeout=60, PACELINE_COLLECTIVE="check"),
                  on_hosts((2, 1), *PRELOAD, timeout=60, PACELINE_COLLECTIVE="check")):
    expect(code == 0 and "19 kinds, 0 silent" in out and "refuses its own all_gather" in out and "to MPI" in out, code, out[-1500:])
for ranks in range(2, 9) if EVERYTHING else (2, 7):  # of one host: without being asked to compare
    code, out = mpirun(ranks, *PRELOAD, "unasked", timeout=60)
    expect(code == 0 and "19 kinds, 0 silent" in out and "ranks call differently" in out, ranks, code, out[-1500:])
# Three ranks, of which one is late: on one host, and on another host than the others.
for ways in ("allreduce=ring", "", "allreduce=copy")[: 3 if EVERYTHING else 1]:
    for code, out in (run(3, "late", "timeout=1", ways), on_hosts((2, 1), program("check_failure"), "late", timeout=60, PACELINE_COLLECTIVE="timeout=1;" + ways)):
        expect(len(re.findall(r"rank \d: status \d+, (?:waited 1 s|local rank \d has left)", out)) == 2 and out.count("closed it") == 2, ways, out[-1500:])
code, out = run(2, "overlap")
expect(code == 0 and out.count("input and output overlap") == 2, code, out[-1500:])
BAD = (("allreduce=fast", "found 'fast'"), ("allreduce=flat:8Q", "expected a size"), ("sideways", "expected off, check, nocopy"),
       ("allreduce=copy,flat", "sizes that grow"), ("timeout=soon", "expected a number"))
for setting, words in BAD if EVERYTHING else BAD[:1]:
    code, out = run(2, "overlap", setting)
    expect(code != 0 and out.count(words) == 2, setting, code, out[-1500:])
if EVERYTHING and subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode == 0:
    script = 'mount -t tmpfs -o size=64k none /dev/shm && exec mpirun --oversubscribe --mca btl_vader_backing_directory /tmp -n 2 "$0" overlap'
    done = subprocess.run(["unshare", "-m", "sh", "-c", script, program("check_failure")], capture_output=True, timeout=60,
                          env=dict(ENV, PACELINE_COLLECTIVE="shm=posix"), check=False)
    out = done.stdout.decode()
    expect(out.count("bytes of shared memory: No space left on device") == 2, "full /dev/shm", done.returncode, out[-1500:])
# Processes that do not know each other's numbers, as in containers that share a name, exchange as hosts do.
CONTAINER = ("unshare", "--pid", "--fork", "--mount-proc")
if subprocess.run([*CONTAINER, "true"], capture_output=True, check=False).returncode == 0:
    code, out = mpirun(2, "--mca", "pml", "ob1", "--mca", "btl", "self,tcp", *CONTAINER, program("check_failure"), "choice")
    expect(code == 0 and out.count("small two_level") == 2, "namespaces of processes", code, out[-1500:])
# Other programs of the machine may have theirs there, and come and go.
for patience in range(50):
    left = set(ours()) - set(before)
    if not left:
        break
    time.sleep(0.2)
expect(not left, "left in /dev/shm:", left)
finish()
