"""Traces of shapes that no program makes: deep, wide, overlapping, all at once. Each is read to its end, and its figures
are those that its generator knows. What takes more than a few seconds here is no longer n log n."""
import gzip
import json
import os
import sys
import tempfile

from checks import expect, expect_line, finish, run


def event(name, ts, dur, tid=1, pid=1, cat="cpu_op", args="{}"):
    return (f'{{"ph":"X","cat":"{cat}","name":"{name}","pid":{pid},"tid":{tid},"ts":{ts},"dur":{dur},"args":{args}}}')


def launch(ts, number, tid=1):
    return event("cudaLaunchKernel", ts, 2, tid, cat="cuda_runtime", args=f'{{"correlation":{number}}}')


def kernel(ts, dur, number, stream=7):
    args = f'{{"device":0,"stream":{stream},"correlation":{number}}}'
    return event("k", ts, dur, stream, 0, "kernel", args)


def arrow(phase, number, pid, tid, ts):
    return f'{{"ph":"{phase}","bp":"e","cat":"ac2g","name":"ac2g","id":{number},"pid":{pid},"tid":{tid},"ts":{ts}}}'


def ask(folder, name, events, *options):
    path = os.path.join(folder, name + ".json")
    with open(path, "w") as out:
        out.write('{"schemaVersion":1,"traceEvents":[\n' + ",\n".join(events) + "\n]}")
    return run("analyze", path, "--format", "json", *options)


def analyze(folder, name, events, *options):
    code, out, err = ask(folder, name, events, *options)
    expect(code == 0, name, "exit status", code, err)
    return (json.loads(out) if code == 0 else None), err


def total_ns(matrix):
    return sum(ns for row in matrix.values() for ns in row.values())


def check(name, document, span_us, **counts):
    """All of the window is in the matrix, and nothing is lost or counted twice."""
    if not document:
        return
    window, rank = document["window"], document["ranks"][0]
    expect(abs(window["span_ns"] - span_us * 1000) < 1, name, "spans", window["span_ns"], "not", span_us)
    expect(total_ns(document["window_matrix"]) == window["span_ns"], name, "matrix", total_ns(document["window_matrix"]))
    for what, wanted in counts.items():
        expect(rank["counts"][what] == wanted, name, what, rank["counts"][what], "not", wanted)


def test_nested(folder):
    n = 200000
    document, err = analyze(folder, "nested", [event("aten::op", i, 2 * n - 2 * i) for i in range(n)])
    check("nested", document, 2 * n, operators=n)
    expect("nested deeper than 256 levels" in err, "nesting that is cut is said", err)
    shallow, err = analyze(folder, "shallow", [event("aten::op", i, 1000 - 2 * i) for i in range(250)])
    check("shallow", shallow, 1000, operators=250)
    expect("deeper" not in err, "250 levels are all kept", err)


def test_deep_launches(folder):
    n = 20000
    events = [event("aten::op", i, 4 * n - 2 * i) for i in range(n)]
    for i in range(n):
        events += [launch(n + i + 0.1, i + 1), kernel(n + i + 0.4, 0.6, i + 1)]
    document, _ = analyze(folder, "deep_launches", events)
    check("deep_launches", document, n - 0.4, kernels=n, kernels_linked=n)


def test_overlapping(folder):
    n = 100000
    document, _ = analyze(folder, "overlapping", [event("aten::op", i, n) for i in range(n)])
    check("overlapping", document, 2 * n - 1, operators=n)
    events = [part for i in range(n) for part in (launch(i - 3, i + 1), kernel(i, n, i + 1, i % 64))]
    document, _ = analyze(folder, "overlapping_kernels", events)
    check("overlapping_kernels", document, 2 * n - 1, kernels=n)
    expect(document["window"]["busy_ns"] == document["window"]["span_ns"], "always busy", document["window"])


def test_lanes(folder):
    n = 60000
    document, _ = analyze(folder, "threads", [event("aten::op", i * 20, 10, tid=i + 1) for i in range(n)])
    check("threads", document, 20 * n - 10, operators=n)
    document, _ = analyze(folder, "processes", [event("aten::op", i * 20, 10, pid=i + 1) for i in range(n)])
    check("processes", document, 20 * n - 10, operators=n)
    events = [part for i in range(n) for part in (launch(i * 20, i + 1), kernel(i * 20 + 3, 15, i + 1, i + 1))]
    document, _ = analyze(folder, "streams", events)
    check("streams", document, 20 * n - 5, kernels=n)
    expect(abs(document["window"]["busy_ns"] - 15000 * n) < 1, "busy", document["window"]["busy_ns"])


def test_threads_that_fetch(folder):
    """Each would wait for every other: so many are refused with one line."""
    name = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
    for n in (2000, 5000):
        code, out, err = ask(folder, "fetch", [event(name, i * 20, 10, tid=i + 1) for i in range(n)])
        if n == 2000:
            check("fetch", json.loads(out), 20 * n - 10, operators=n)
        else:
            expect_line(code, err, 3, "at most 4096 threads that fetch input", "found 5000")


def test_equal_times(folder):
    n = 50000
    events = [part for i in range(n) for part in (event("aten::op", 5, 10), launch(5, i + 1), kernel(20, 10, i + 1))]
    document, _ = analyze(folder, "equal", events)
    check("equal", document, 10, kernels=n, operators=n)
    document, _ = analyze(folder, "instants", [event("aten::op", 5, 0) for i in range(n)] + [event("aten::op", 4, 2)])
    check("instants", document, 2, operators=n + 1)


def test_arrows_and_ids(folder):
    n = 50000
    events = [event("aten::op", 5, 10), launch(6, 1), kernel(20, 10, 1)]
    for i in range(n):
        events += [arrow("s", i, 1, 1, 6), arrow("f", i, 0, 7, 20)]
    document, _ = analyze(folder, "arrows", events)
    check("arrows", document, 10, kernels=1)
    events = [part for i in range(n) for part in (launch(i * 10, 1), kernel(i * 10 + 4, 3, 1))]
    document, _ = analyze(folder, "one_correlation", events)
    check("one_correlation", document, 10 * n - 7, kernels=n)


def test_names_and_annotations(folder):
    n = 20000
    document, _ = analyze(folder, "names", [event(f"aten::op{i}", i * 10, 5) for i in range(n)])
    check("names", document, 10 * n - 5, operators=n)
    n = 30000
    events = [event(f"part{i}", i, 2 * n - 2 * i, cat="user_annotation") for i in range(n)]
    events += [launch(n, 1), kernel(n + 3, 100, 1)]
    document, _ = analyze(folder, "annotations", events)
    check("annotations", document, 100, kernels=1)
    n = 5000
    events = [part for i in range(n) for part in (event(f"ProfilerStep#{i}", i * 10, 10, cat="user_annotation"),
                                                  launch(i * 10 + 1, i + 1), kernel(i * 10 + 4, 5, i + 1))]
    document, _ = analyze(folder, "steps", events)
    expect(len(document["ranks"][0]["steps"]) == n, "steps", len(document["ranks"][0]["steps"]))


def test_one_long_cell(folder):
    """A gigabyte of blanks, packed to one megabyte, is no table: seen before it is in memory."""
    path = os.path.join(folder, "blanks.csv.gz")
    with gzip.open(path, "wb") as out:
        for _ in range(64):
            out.write(b" " * (1 << 20))
    for words in (("fit", path), ("fit", "--kind", "kernel", path), ("predict", "--rows", path), ("fleet", "--pods", path, "--nodes", path)):
        code, _, err = run(*words)
        expect(code == 3 and "more than 1 MiB" in err, words, code, err)


def test_sizes(folder):
    """What an input may hold is the user's to say, whatever wraps it and wherever it comes from."""
    events = "[" + ",\n".join(event("aten::op", i * 10, 5) for i in range(10000)) + "]"
    path = os.path.join(folder, "size.json")
    for suffix, pack in (("", bytes), (".gz", gzip.compress)):
        content = pack(events.encode())
        with open(path + suffix, "wb") as out:
            out.write(content)
        for words, stdin in (((path + suffix,), b""), (("-",), content)):
            code, _, err = run("analyze", *words, "--max-size", "100kB", stdin=stdin)
            expect_line(code, err, 3, "at most 100000 bytes of content (--max-size)")
            code, _, err = run("analyze", *words, "--max-size", "2MiB", stdin=stdin)
            expect(code == 0, "it is smaller than that", words, err)
    for text in ("4", "4GB/s", "lots", "0GB", "-1GB"):
        code, _, err = run("analyze", path, "--max-size", text)
        expect_line(code, err, 2, "--max-size: expected a size such as 4GiB")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for name, test in sorted(globals().items()):
            if name.startswith("test_"):
                test(folder)
    sys.exit(finish())
