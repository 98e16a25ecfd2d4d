"""A trace four times as large as the memory must work: 1 GB read and explained in a quarter of that.

The program runs in a memory control group of a quarter of the trace where this user may make one (versions 1 and 2 are
tried); there the kernel ends a program that takes more. Its peak of resident memory is checked everywhere. Skipped without
room for the trace on disk.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

PACELINE = os.environ["PACELINE"]
MAKE_TRACE = os.environ["MAKE_TRACE"]
BYTES = 1 << 30


def make_group(limit):
    """A control group that holds a process to `limit` bytes, as (folder, file that takes process ids), or None."""
    for root, file in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
        folder = os.path.join(root, f"paceline-test-{os.getpid()}")
        try:
            os.mkdir(folder)
        except OSError:
            continue
        try:
            with open(os.path.join(folder, file), "w") as opened:
                opened.write(str(limit))
            swap = os.path.join(folder, "memory.swap.max")
            if os.path.exists(swap):
                with open(swap, "w") as opened:
                    opened.write("0")
            return folder
        except OSError:
            os.rmdir(folder)
    return None


def analyze(trace, folder):
    """Exit status, peak resident bytes, what it printed."""
    def enter():
        if folder:
            with open(os.path.join(folder, "cgroup.procs"), "w") as opened:
                opened.write(str(os.getpid()))
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen([PACELINE, "analyze", "--quiet", "--format", "json", trace], stdout=out, preexec_fn=enter)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        return child.returncode, usage.ru_maxrss * 1024, out.read()


def main():
    with tempfile.TemporaryDirectory(prefix="paceline-memory-") as scratch:
        if shutil.disk_usage(scratch).free < 2 * BYTES:
            print("skipped: no room on disk for a trace of 1 GB")
            return 77
        trace = os.path.join(scratch, "trace.json")
        with open(trace, "wb") as file:
            subprocess.run([MAKE_TRACE, "--bytes", str(BYTES), "--ranks", "8"], stdout=file, stderr=subprocess.DEVNULL,
                           check=True)
        size = os.path.getsize(trace)
        folder = make_group(size // 4)
        try:
            code, peak, out = analyze(trace, folder)
        finally:
            if folder:
                os.rmdir(folder)
        where = "in a control group" if folder else "no control group could be made"
        print(f"{size} bytes of trace, {peak} of memory at most ({peak / size:.3f} of it), {where}, exit {code}")
        assert code == 0, "the program did not get through"
        assert peak <= size / 4, "the program took more than a quarter of the trace"
        document = json.loads(out)
        assert document["ranks"][0]["counts"]["events"] > 1e6 and document["critical_path"]["replay_error_ns"] == 0
    return 0


sys.exit(main())
