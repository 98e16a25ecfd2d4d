#!/usr/bin/env python3
"""How fast `paceline analyze` reads a trace, how much memory it takes, and how it compares with a peer.

Part 1: a synthetic trace (--size, default 256M), analyzed --runs times; the best and the median are printed, next to
what reading the same file with `cat` costs in the same run.
Part 2: the same trace read and asked about apart (bench_parts.c), next to what read(2) alone costs in the same run.
Part 3: the same question to HolisticTraceAnalysis (TraceAnalysis and get_temporal_breakdown) on one trace of
--peer-size (default 64M); both programs start cold, as a user would start them. Skipped, and said so, when the peer
cannot be installed. No figure here decides a test.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ["HolisticTraceAnalysis", "pandas<3"]  # its trace reader assigns across dtypes, which pandas 3 refuses
PEER = """
import sys
from hta.trace_analysis import TraceAnalysis
analysis = TraceAnalysis(trace_files={0: sys.argv[1]}, trace_dir=sys.argv[2])
print(analysis.get_temporal_breakdown(visualize=False).to_string(), file=sys.stderr)
"""


def measure(command):
    """Runs a command; returns wall and processor seconds, peak resident bytes and the exit status."""
    with tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        text = errors.read().decode(errors="replace")
    return {"wall": wall, "cpu": usage.ru_utime + usage.ru_stime, "rss": usage.ru_maxrss * 1024,
            "rc": child.returncode, "stderr": text}


def run_all(command, runs):
    results = []
    for _ in range(runs):
        result = measure(command)
        if result["rc"] != 0:
            sys.exit(f"bench: {' '.join(map(str, command))}: exit {result['rc']}\n{result['stderr'][-2000:]}")
        results.append(result)
    return results


def make_trace(tool, path, size):
    with open(path, "wb") as file:
        start = time.perf_counter()
        said = subprocess.run([tool, "--bytes", size, "--ranks", "8"], stdout=file, stderr=subprocess.PIPE,
                              check=True, text=True).stderr
    seconds = time.perf_counter() - start
    count, events = map(int, re.findall(r"\d+", said)[:2])
    print(f"trace: {count / 1e6:.0f} MB, {events / 1e6:.2f} M events, written at {count / 1e6 / seconds:.0f} MB/s")
    return count, events


def measure_parts(program, trace, runs):
    """Medians of processor seconds: loading, insight, and read(2) alone."""
    said = subprocess.run([program, str(trace), str(runs)], capture_output=True, text=True, check=True).stdout
    rows = [json.loads(line) for line in said.splitlines()]
    parts = {key: statistics.median(row[key] for row in rows) for key in ("read_s", "load_cpu_s", "insight_cpu_s")}
    size, events = rows[0]["bytes"], rows[0]["events"]
    print(f"loading alone: median {size / 1e6 / parts['load_cpu_s']:.0f} MB/s per processor second, "
          f"{parts['load_cpu_s'] / parts['read_s']:.0f} times as long as read(2) of the same file")
    print(f"insight alone: median {events / 1e6 / parts['insight_cpu_s']:.1f} M events/s")
    return parts


def peer_python(folder):
    """A private environment with the peer in it, or None and why not."""
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        print(f"installing HolisticTraceAnalysis into {folder.relative_to(ROOT)}", flush=True)
        for command in ([sys.executable, "-m", "venv", "--clear", str(folder)],
                        [str(python), "-m", "pip", "install", "--quiet", *PACKAGES]):
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                return None, (done.stderr or done.stdout).strip().splitlines()[-1:]
        done = subprocess.run([str(python), "-c", "import hta.trace_analysis"], capture_output=True, text=True)
        if done.returncode != 0:
            return None, done.stderr.strip().splitlines()[-1:]
        (folder / "ready").touch()
    return python, None


def finish(figures, path):
    if path:
        Path(path).write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", default="256M", help="size of the trace, with K, M or G (default 256M)")
    parser.add_argument("--peer-size", default="64M", help="size of the trace for the peer (default 64M)")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--no-peer", action="store_true", help="leave the peer out")
    parser.add_argument("--build", default=str(ROOT / "build" / "release"), help="the build to measure")
    parser.add_argument("--json", metavar="FILE", help="write the figures to FILE too")
    args = parser.parse_args()
    paceline = Path(args.build) / "paceline"
    tool = Path(args.build) / "tests" / "make_trace"
    parts = Path(args.build) / "tests" / "bench_parts"
    for path in (paceline, tool, parts):
        if not path.exists():
            sys.exit(f"bench: {path} is not built; run ./run bench analyze")
    figures = {}
    with tempfile.TemporaryDirectory(prefix="paceline-bench-") as folder:
        trace = Path(folder) / "trace.json"
        size, events = make_trace(tool, trace, args.size)
        limit = min(r["wall"] for r in run_all(["cat", str(trace)], args.runs))
        results = run_all([paceline, "analyze", "--quiet", "--format", "json", str(trace)], args.runs)
        best = min(r["wall"] for r in results)
        median = statistics.median(r["wall"] for r in results)
        cpu = min(r["cpu"] for r in results)
        rss = max(r["rss"] for r in results)
        figures["analyze"] = {"bytes": size, "events": events, "best_s": best, "median_s": median, "cpu_s": cpu,
                              "peak_bytes": rss, "cat_s": limit}
        print(f"paceline analyze: best {best:.3f} s, median {median:.3f} s wall; {cpu:.3f} s processor")
        print(f"  {size / 1e6 / best:.0f} MB/s, {events / 1e6 / best:.2f} M events/s "
              f"({size / 1e6 / cpu:.0f} MB/s per processor second)")
        print(f"  peak memory {rss / 1e6:.0f} MB = {rss / size:.3f} of the file")
        print(f"  {best / limit:.1f} times as long as `cat` of the same file")
        figures["parts"] = measure_parts(parts, trace, args.runs)
        if not args.no_peer:
            python, why = peer_python(ROOT / "build" / "hta-venv")
            if python is None:
                print(f"HolisticTraceAnalysis: skipped, it could not be installed: {' '.join(why)}")
            else:
                trace.unlink()
                peer_folder = Path(folder) / "peer"
                peer_folder.mkdir()
                trace = peer_folder / "trace.json"
                size, events = make_trace(tool, trace, args.peer_size)
                ours = run_all([paceline, "analyze", "--quiet", "--format", "json", str(trace)], args.runs)
                theirs = measure([python, "-c", PEER, str(trace), str(peer_folder)])
                if theirs["rc"] != 0:
                    print(f"HolisticTraceAnalysis: skipped, it failed: {theirs['stderr'].strip().splitlines()[-1:]}")
                    return finish(figures, args.json)
                mine, its = min(r["wall"] for r in ours), theirs["wall"]
                my_rss, its_rss = max(r["rss"] for r in ours), theirs["rss"]
                figures["peer"] = {"bytes": size, "events": events, "paceline_s": mine, "hta_s": its,
                                   "paceline_peak_bytes": my_rss, "hta_peak_bytes": its_rss}
                print(f"HolisticTraceAnalysis on this trace: {its:.2f} s, {its_rss / 1e6:.0f} MB; "
                      f"paceline: {mine:.3f} s, {my_rss / 1e6:.0f} MB")
                print(f"  ratio: {its / mine:.0f} times as fast, {its_rss / my_rss:.1f} times less memory")
    return finish(figures, args.json)


if __name__ == "__main__":
    sys.exit(main())
