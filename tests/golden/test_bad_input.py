"""Damaged, odd and hostile inputs: never a crash, one clear line or a warning, and the same figures however wrapped.

Every trace here is written by this file; others are read only where they are at hand.
"""
import ctypes
import gzip
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile

from checks import SHARED, SOURCE, expect, expect_line, finish, json_of, run

FOLDER = tempfile.mkdtemp(prefix="paceline-bad-")
def put(name, content):
    path = os.path.join(FOLDER, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if not isinstance(content, (str, bytes)):
        content = json.dumps(content)
    with open(path, "wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
    return path


def event(cat, name, pid, tid, ts, dur, **args):
    made = {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur}
    if args:
        made["args"] = args
    return made


def small_events():
    """Two steps with operators, launches, kernels, copies and a collective that overlaps."""
    made = []
    for k in range(2):
        t = 1000 + 500 * k
        made += [
            event("user_annotation", "ProfilerStep#%d" % k, 9, 9, t, 500),
            event("cpu_op", "aten::mm", 9, 9, t + 10, 40, **{"External id": 10 * k + 1, "Input Dims": [[64, 64], [64, 64]],
                                                              "Input type": ["float", "float"]}),
            event("cuda_runtime", "cudaLaunchKernel", 9, 9, t + 20, 5, correlation=10 * k + 1),
            event("kernel", "ampere_sgemm_128x64", 0, 7, t + 40, 100.125, device=0, stream=7, correlation=10 * k + 1),
            event("cpu_op", "MmBackward0", 9, 10, t + 105, 60, **{"External id": 10 * k + 2}),
            event("cuda_runtime", "cudaLaunchKernel", 9, 10, t + 112, 5, correlation=10 * k + 2),
            event("kernel", "ncclDevKernel_AllReduce_Sum_f32", 0, 20, t + 120, 90, device=0, stream=20,
                  correlation=10 * k + 2),
            event("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 0, 7, t + 220, 30, device=0, stream=7, bytes=4096,
                  correlation=10 * k + 3),
            event("gpu_memset", "Memset (Device)", 0, 7, t + 260, 4, device=0, stream=7, bytes=64,
                  correlation=10 * k + 4),
        ]
    return made


def small_trace(**more):
    return {"schemaVersion": 1, "traceEvents": small_events(), **more}


def document(*words, stdin=b""):
    return json_of("analyze", "--check", *words, stdin=stdin)


def figures(doc):
    return doc.get("window"), [rank["steps"] for rank in doc.get("ranks", [])]


def test_no_trace():
    for name, content in [("text.json", "hello there"), ("empty.json", ""), ("object.json", "{}"), ("array.json", "[]"),
                          ("number.json", "17"), ("events_null.json", '{"traceEvents": null}'),
                          ("binary.json", bytes(range(256)) * 8), ("zeros.json", bytes(4096)),
                          ("gzip_of_text.json.gz", gzip.compress(b"no json")), ("gzip_head.json.gz", b"\x1f\x8b\x08"),
                          ("zstd_head.json.zst", b"\x28\xb5\x2f\xfd"), ("gzip_of_nothing.json.gz", gzip.compress(b""))]:
        path = put(name, content)
        code, out, err = run("analyze", path)
        expect_line(code, err, 3, name)
        expect(out == "", "output in spite of the failure", name)


def test_truncation():
    plain = json.dumps(small_trace()).encode()
    for kind, content in [("plain.json", plain), ("packed.json.gz", gzip.compress(plain, 9, mtime=0))]:
        for cut in range(0, len(content), 37):
            path = put(kind, content[:cut])
            code, out, err = run("analyze", "--check", "--format", "json", path)
            if code != 0:
                expect_line(code, err, 3, kind)
                continue
            expect(all(" warning: " in line for line in err.splitlines()), "lines", kind, cut, err)
            warnings = json.loads(out)["warnings"]
            expect(any("byte " in one["text"] and kind in one["text"] and one["code"] == "file_cut_off" for one in warnings), "no offset", kind, cut, warnings)
    code, out, err = run("analyze", "--format", "json", put("half.json", plain[:len(plain) // 2]))
    expect(code == 0, "half a trace is still one", code, err)


def test_broken_step():
    """A step in which the file breaks off is not counted: steps end before the last task that the file still holds."""
    with gzip.open(os.path.join(SOURCE, "tests", "data", "demo.json.gz"), "rt", encoding="utf-8") as file:
        text = file.read()
    starts = [match.start() for match in re.finditer(r'\n  \{\n    "ph": "', text)]
    events = [event for event in json.loads(text)["traceEvents"]]
    seen = set()
    for at in range(len(starts) // 7, len(starts), len(starts) // 7):
        kept = [e for e in events[:at] if e.get("ph") == "X" and e.get("cat") in ("cpu_op", "user_annotation")]
        last = kept[-1]["ts"]
        whole = [e["name"] for e in sorted(kept, key=lambda e: e["ts"]) if e["name"].startswith("ProfilerStep#") and e["ts"] + e["dur"] <= last]
        code, out, err = run("analyze", "--format", "json", put("broken.json", text[:starts[at] + 20]))
        document = json.loads(out) if code == 0 else {}
        expect(code == 0 and [row["label"] for row in document["ranks"][0]["steps"]] == whole, "steps of a cut file", at, whole, err)
        seen.add(len(whole))
    expect(len(seen) > 2, "cuts in different steps", seen)


def test_broken_behind_events():
    """What follows the list of events is damaged: the list is whole, and so are all steps. A list that ends in it may lack work."""
    with gzip.open(os.path.join(SOURCE, "tests", "data", "demo.json.gz"), "rt", encoding="utf-8") as file:
        text = file.read()
    whole = figures(document(put("whole.json", text)))
    end = text.rindex("]")
    damaged = {"twice.json": (text + text).encode(), "member.json": (text[:end + 1] + ', "traceName": "/tmp/a').encode(),
               "behind.json.gz": gzip.compress(text.encode()) + b"garbage"}
    for name, content in damaged.items():
        code, out, err = run("analyze", "--format", "json", put(name, content))
        expect(code == 0 and figures(json.loads(out)) == whole, name, "figures", err)
        expect(any(one["code"] == "file_cut_off" for one in json.loads(out)["warnings"]), name, "no word of the damage", err)
        sliced = put("sliced.json", b"")
        code, _, err = run("slice", put(name, content), "--steps", "9", "-o", sliced)
        expect(code == 0 and len(document(sliced)["ranks"][0]["steps"]) == 1, name, "its last step as a slice", err)


def test_lengths():
    """Work without a usable duration takes no time, and the report says so; times that are all too far are refused with what they may be."""
    for dur in ("NaN", "-5", "Infinity", None):
        trace = small_trace()
        kernel = next(e for e in trace["traceEvents"] if e["cat"] == "kernel")
        kernel.pop("dur")
        text = json.dumps(trace)
        if dur:
            text = text.replace('"cat": "kernel"', f'"dur": {dur}, "cat": "kernel"', 1)
        code, out, err = run("analyze", "--check", "--format", "json", put("lengths.json", text))
        said = [one["text"] for one in json.loads(out)["warnings"]] if code == 0 else []
        expect(any(" 1 events of " in one and "no usable duration" in one for one in said), "duration", dur, code, said, err)
    for factor in (1000, 1e6):
        trace = small_trace()
        for one in trace["traceEvents"]:
            one["ts"] = (1.7e15 + one["ts"]) * factor
        code, _, err = run("analyze", put("nanoseconds.json", trace))
        expect_line(code, err, 3, "nanoseconds")


def test_repeated():
    """What is recorded twice counts once, and the report says so; a launch's two kernels at two times are two."""
    events = small_events() + [event("kernel", "long", 0, 7, 3000, 5e6, device=0, stream=7, correlation=99)]
    device = [one for one in events if "device" in one.get("args", {})]
    again = [{**one, "ts": one["ts"] + one["dur"]} for one in device[-1:]]
    path = put("repeated.json", {"traceEvents": events})
    once = json_of("analyze", "--check", path)
    put("repeated.json", {"traceEvents": events + device})
    twice = json_of("analyze", "--check", path)
    said = [one["text"] for one in twice["warnings"] if one["code"] == "events_left_out"]
    expect(len(said) == 1 and f": {len(device)} records" in said[0], "warning", twice["warnings"])
    same = ("kernels", "matrix", "window", "step_table", "critical_path", "copies", "remedies")
    for key in same:
        expect(once.get(key) == twice.get(key), key, once.get(key), twice.get(key))
    put("repeated.json", {"traceEvents": [one for one in events for _ in range(2)]})
    twice = json_of("analyze", "--check", path)
    for key in (*same, "operators", "idle", "overheads"):
        expect(once.get(key) == twice.get(key), "of the host, too", key, once.get(key), twice.get(key))
    put("repeated.json", {"traceEvents": events + again})
    kernels = json_of("analyze", "--check", path)["kernels"]
    expect([one["calls"] for one in kernels if one["name"] == "long"] == [2], "two kernels", kernels)


def test_wrong_types():
    odd = [None, True, [], {}, [1], {"a": [1]}, "text", "", 1e300, -5, -1e300, 1e-300, "1e999", 10 ** 40, "12.5"]
    events = []
    for key in ("ph", "cat", "name", "pid", "tid", "ts", "dur", "args"):
        for value in odd:
            one = event("kernel", "k", 0, 7, 5000, 3, device=0, stream=7, correlation=1)
            one[key] = value
            events.append(one)
    for key in ("device", "stream", "correlation", "External id", "Sequence number", "Input Dims", "Input type", "bytes",
                "Concrete Inputs", "Collective name", "In msg nelems", "Group size", "dtype", "wait_on_stream"):
        for value in odd:
            for cat in ("cpu_op", "kernel", "gpu_memcpy", "cuda_sync"):
                events.append(event(cat, "k", 0, 7, 5000, 3, **{"device": 0, "stream": 7, key: value}))
    events += odd
    for place, value in enumerate(odd):
        path = put("types.json", {"traceEvents": small_events() + events, "deviceProperties": value,
                                  "distributedInfo": value, "baseTimeNanoseconds": value, "schemaVersion": value})
        code, _, err = run("analyze", "--check", "--format", "json", path)
        expect(code == 0, "wrong types", place, code, err)
        path = put("members.json", {"deviceProperties": [{"name": value, "totalGlobalMem": value, "id": value}],
                                    "distributedInfo": {"rank": value, "world_size": value}, "traceEvents": small_events()})
        code, _, err = run("analyze", "--check", "--format", "json", path)
        expect(code == 0, "wrong types of members", place, code, err)
        path = put("events.json", {"traceEvents": value})
        code, _, err = run("analyze", path)
        expect_line(code, err, 3, "events.json")
    for one in events:
        if isinstance(one, dict) and one.get("cat") == "kernel":
            run("analyze", "--check", put("one.json", {"traceEvents": [one]}))
    far = [event("kernel", "far", 0, 8, ts, dur, device=0, stream=8)
           for ts in (4611686018427387, -4611686018427387, 2767011611056431, -2767011611056431, 1e15, "-1e15")
           for dur in (4611686018427387, 9007199254740, 1e18, -1, 0)]
    for format in ("table", "json", "csv", "html", "perfetto"):
        code, _, err = run("analyze", "--check", "--format", format, put("far.json", {"traceEvents": far}))
        expect(code == 0, "far times", format, code, err)


def test_exact_times():
    text = json.dumps({"traceEvents": [event("user_annotation", "ProfilerStep#0", 9, 9, "TS", 100.001),
                                       event("kernel", "k", 0, 7, "TS", 50, device=0, stream=7)]})
    for digits in ("1712345678901234.567", '"1712345678901234.567"', "1712345678901.234567e3"):
        doc = document(put("exact.json", text.replace('"TS"', digits)))
        step = doc["ranks"][0]["steps"][0] if doc else {}
        expect(step.get("start_ns") == 1712345678901234567, "start", digits, step)
        expect(step.get("duration_ns") == 100001, "duration", digits, step)


def test_nesting():
    for name, content in [("arrays.json", "[" * 100000), ("objects.json", '{"a":' * 100000),
                          ("closed.json", '{"traceEvents":' + "[" * 100000 + "]" * 100000 + "}"),
                          ("other.json", '{"x":' + "[" * 100000 + "]" * 100000 + ',"traceEvents":[]}')]:
        code, _, err = run("analyze", put(name, content))
        expect_line(code, err, 3, name, "nested")


def test_ranks():
    folder = os.path.join(FOLDER, "ranks")
    for name in ("a.json", "b.json"):
        put("ranks/" + name, small_trace(distributedInfo={"rank": 1, "world_size": 2}))
    doc = document(folder)
    expect(len(doc.get("ranks", [])) == 2, "both ranks are kept")
    expect(any("rank 1" in one["text"] and "a.json" in one["text"] and "b.json" in one["text"] for one in doc.get("warnings", [])),
           "duplicate ranks", doc.get("warnings"))
    put("ranks/c.json", "not a trace")
    doc = document(folder)
    expect(any("c.json" in one["place"] and one["code"] == "rank_left_out" for one in doc.get("warnings", []) if one["place"]), "left out", doc.get("warnings"))
    doc = document(put("late.json", json.dumps(small_trace())[:-1] + ', "distributedInfo": {"rank": 5, "world_size": 8}}'))
    expect(doc and doc["ranks"][0]["rank"] == 5, "rank behind the events")


def test_effects_before_causes():
    """A clock of the device that is 2 ms behind the host's, and one kernel whose time is damaged: figures stay, and a warning says how many."""
    def said(change):
        made = small_events()
        for one in made:
            change(one)
        return [w["text"] for w in document(put("clocks.json", {"traceEvents": made}))["warnings"] if w["code"] == "clocks_differ"]

    def late(one):
        one["ts"] -= 2000 * (one["pid"] == 0)

    def damaged(one):
        one["ts"] = 0 if one["name"].startswith("ampere") and one["args"]["correlation"] == 11 else one["ts"]

    expect(said(lambda one: None) == [], "in order")
    expect([": 4 kernels and copies" in t and "1.992 ms" in t for t in said(late)] == [True], "another clock", said(late))
    expect([": 1 kernels and copies" in t and "1.52 ms" in t for t in said(damaged)] == [True], "one", said(damaged))


def test_several_faults():
    """What is wrong with a trace is told whole, not the first of it."""
    made = small_events()
    made[2]["ph"] = "Z"
    made[1]["dur"] = -1
    made.append(event("weather", "rain", 9, 9, 1000, 5))
    said = document(put("several.json", {"traceEvents": made + [dict(made[3])]}))["warnings"]
    expect(len(said) == 1 and all(words in said[0]["text"] for words in ("1 events of an unknown phase", "('weather' first)", "no usable duration",
                                                                         "1 records stand there twice")), said)
    alien = json.dumps([{"ph": "X", "name": "fusion", "pid": 1, "tid": 1, "ts": i, "dur": 1} for i in range(50)])
    code, _, err = run("analyze", put("alien.json", alien[:len(alien) // 2]))
    expect_line(code, err, 3, "of another tool")


def test_units():
    """A timeline that somebody wrote in milliseconds, or in picoseconds, which are read as microseconds."""
    for unit, doubted in ((1, False), (1e-3, True), (1e6, True)):
        made = small_events()
        for one in made:
            one["ts"], one["dur"] = one["ts"] * unit, one["dur"] * unit
        said = [w["text"] for w in document(put("units.json", {"traceEvents": made}))["warnings"] if w["code"] == "unit_doubted"]
        expect(["in the unit of this format" in text for text in said] == [True] * doubted, unit, said)


def test_paths():
    os.makedirs(os.path.join(FOLDER, "nothing"), exist_ok=True)
    code, _, err = run("analyze", os.path.join(FOLDER, "nothing"))
    expect_line(code, err, 3, "nothing")
    code, _, err = run("analyze", os.path.join(FOLDER, "missing.json"))
    expect_line(code, err, 3, "missing.json", "No such file")
    code, _, err = run("analyze", os.path.join(FOLDER, "no*such?.json"))
    expect_line(code, err, 3, "no*such?.json")
    if os.geteuid() != 0:
        path = put("locked.json", small_trace())
        os.chmod(path, 0)
        code, _, err = run("analyze", path)
        expect_line(code, err, 3, "locked.json", "ermission")


def test_usage():
    path = put("usage.json", small_trace())
    code, _, err = run("analyze", "--fromat", "json", path)
    expect_line(code, err, 2, "--fromat", "--format")
    code, _, err = run("analyse", path)
    expect_line(code, err, 2, "analyze")
    code, _, err = run("analyze", "--format", "nonsense", path)
    expect_line(code, err, 2, "nonsense", "json")
    code, _, err = run("analyze", "--format", "csv", "--table", "nonsense", path)
    expect_line(code, err, 2, "nonsense", "steps")
    code, _, err = run("analyze", "--step-regex", "(", path)
    expect_line(code, err, 2, "(")
    code, _, err = run("analyze")
    expect_line(code, err, 2, "trace")
    code, _, err = run("analyze", path, "--format")
    expect_line(code, err, 2, "--format")


def test_odd_options():
    path = put("odd.json", small_trace())
    code, _, err = run("analyze", "--on", "nosuch", path)
    expect_line(code, err, 4, "nosuch", "machines")
    idle = put("idle.json", {"traceEvents": [*small_events(), event("user_annotation", "ProfilerStep#2", 9, 9, 2100, 40)]})
    for words, chosen in (((), False), (("--steps", "2"), True), (("--skip", "2"), True)):
        summary = document(*words, idle)["summary"]
        expect(any("No step that was chosen has work" in line for line in summary) == chosen, "an idle step", words, summary)
    devices = json_of("machines")["devices"]
    for vendor in {device["vendor"] for device in devices}:
        expect(json_of("machines", vendor.upper())["devices"] == [device for device in devices if device["vendor"] == vendor], vendor)
    for value in ("-1", "0", "nan", "1e999", "many", ""):
        code, _, err = run("analyze", "--samples", value, path)
        expect_line(code, err, 2, "--samples")
    for words in (("--on", ""), ("--on", "  "), ("--steps", "")):
        code, _, err = run("analyze", *words, path)
        expect_line(code, err, 2, words[0], f'found "{words[1]}"')
    code, _, err = run("analyze", "--step-regex", "matches nothing", path)
    expect_line(code, err, 3, "matches nothing", "there are: ProfilerStep#0")
    code, _, err = run("analyze", "--step-regex", "", path)
    expect_line(code, err, 2, "step expression ''", "matches all")
    steps = document("--step-regex", ".", path)["ranks"][0]["steps"]
    expect([step["label"] for step in steps if step["label"].startswith("Profiler")] ==
           ["ProfilerStep#0", "ProfilerStep#1"], "what matches everything", steps)
    expect(not any(step["label"] == "aten::mm" for step in steps), "a step inside a step", steps)
    one, other = document(path), document(path, os.path.join(FOLDER, ".", "odd.json"))
    expect(figures(one) == figures(other) and len(other["warnings"]) == 1, "the same file twice", other["warnings"])
    for words in (("analyze", "-o"), ("analyze", "--overheads"), ("compare", path, "-o")):
        code, _, err = run(*words, path, path)
        expect_line(code, err, 2, "odd.json", "input")
        expect(json.load(open(path)) == small_trace(), "an input was written over", words)
    code, _, err = run("compare", path)
    expect_line(code, err, 2, "two traces", "1")
    code, _, err = run("compare", path, os.path.join(FOLDER, "nosuch.json"))
    expect_line(code, err, 3, "nosuch.json")
    code, _, err = run("compare", "--format", "perfetto", path, path)
    expect_line(code, err, 2, "perfetto")


def test_host_only():
    """Operators alone: no rates against a device that did nothing, and no overhead that is the work itself."""
    host = put("host.json", {"deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-40GB"}],
                             "traceEvents": [one for one in small_events() if one["cat"] in ("user_annotation", "cpu_op")]})
    code, out, err = run("analyze", "--format", "json", "--on", "a100-40-sxm", host)
    expect_line(code, err, 2, "--on: has no effect", "no device work")
    doc = document(host)
    expect(all(row["roofline_share"] is None for row in doc["operators"]), "a roofline for the host", doc["operators"])
    expect("hfu" not in doc["throughput"] and doc["overheads"]["t5"]["count"] == 0, "host", doc["throughput"])
    path = put("odd.json", small_trace())
    for pair in ((host, host), (host, path), (path, host), (put("empty.json", {"traceEvents": [{"ph": "M"}]}), host)):
        code, out, err = run("compare", "--format", "json", *pair)
        expect(code == 0 and err == "", "compare", pair, err)
        doc = json.loads(out)
        expect(sum(row["change_ns"] for row in doc["resources"]) == doc["b_step_ns"] - doc["a_step_ns"], "compare", pair)


def test_what_is_no_file():
    """A pipe or a device that output goes to stays what it is."""
    path = put("pipe.json", small_trace())
    for option in ("-o", "--overheads"):
        pipe = os.path.join(FOLDER, "pipe")
        os.mkfifo(pipe)
        reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE)
        code, _, err = run("analyze", option, pipe, path)
        expect(code == 0 and stat.S_ISFIFO(os.stat(pipe).st_mode), "a pipe", option, code, err)
        if not stat.S_ISFIFO(os.stat(pipe).st_mode):
            reader.kill()
        expect(len(reader.communicate()[0]) > 100, "nothing came through the pipe", option)
        os.unlink(pipe)


def test_closed_output():
    path = put("closed.json", small_trace())
    for format in ("table", "json", "csv", "html", "perfetto"):
        read, write = os.pipe()
        os.close(read)
        code, _, err = run("analyze", "--format", format, path, stdout=write)
        os.close(write)
        expect(code == 141 and err == "", "a reader that left", format, code, err)


def test_full_device():
    if not os.path.exists("/dev/full"):
        return
    path = put("full.json", small_trace())
    for format in ("table", "json", "csv", "html", "perfetto"):
        with open("/dev/full", "wb") as full:
            code, _, err = run("analyze", "--format", format, path, stdout=full)
        expect(code != 0 and "No space left" in err and err.count("\n") == 1, "/dev/full", format, code, err)
        code, _, err = run("analyze", "--format", format, "-o", "/dev/full", path)
        expect(code != 0 and "No space left" in err and err.count("\n") == 1, "-o /dev/full", format, code, err)


def zstd(content):
    """Compressed by the library that the program reads it with."""
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_compressBound.restype = library.ZSTD_compress.restype = ctypes.c_size_t
    room = library.ZSTD_compressBound(ctypes.c_size_t(len(content)))
    packed = ctypes.create_string_buffer(room)
    size = library.ZSTD_compress(packed, ctypes.c_size_t(room), content, ctypes.c_size_t(len(content)), 3)
    return packed.raw[:size]


def test_wrappings():
    plain = json.dumps(small_trace()).encode()
    wanted = figures(document(put("wrap.json", plain)))
    expect(wanted[0] and wanted[0]["kernels"] == 4 and len(wanted[1][0]) == 2, "the plain trace", wanted)
    middle = len(plain) // 2
    forms = {"wrap.json.gz": gzip.compress(plain), "members.json.gz": gzip.compress(plain[:middle]) + gzip.compress(plain[middle:]),
             "misnamed.json": gzip.compress(plain), "misnamed.json.gz": plain, "mark.json": b"\xef\xbb\xbf" + plain,
             "spaced.json": b"\n\t " + json.dumps(small_trace(), indent=3).encode() + b"\n\n"}
    forms["wrap.json.zst"] = zstd(plain)
    forms["frames.json.zst"] = zstd(plain[:middle]) + zstd(plain[middle:])
    for name, content in forms.items():
        expect(figures(document(put(name, content))) == wanted, "figures of", name)
        expect(figures(document("-", stdin=content)) == wanted, "figures from standard input of", name)
    for name, content in (("utf16.json", json.dumps(small_trace()).encode("utf-16")), ("utf16be.json", b"\xfe\xff" + json.dumps(small_trace()).encode("utf-16-be")),
                          ("utf16.json.gz", gzip.compress(json.dumps(small_trace()).encode("utf-16")))):
        code, _, err = run("analyze", put(name, content))
        expect_line(code, err, 3, name, "UTF-16", "iconv")
    expect(figures(document(put("bare.json", small_events()))) == wanted, "the bare array form")
    expect(figures(document(put("reversed.json", {"traceEvents": small_events()[::-1]}))) == wanted, "any order")


def test_phases():
    wanted = figures(document(put("x.json", small_trace())))
    events = []
    for one in small_events():
        if one["cat"] in ("kernel", "gpu_memcpy", "gpu_memset"):
            events.append((one["ts"], 1, one))
            continue
        begin = {key: value for key, value in one.items() if key != "dur"}
        end = {key: one[key] for key in ("cat", "name", "pid", "tid")}
        events.append((one["ts"], 1, {**begin, "ph": "B"}))
        events.append((one["ts"] + one["dur"], 0, {**end, "ph": "E", "ts": one["ts"] + one["dur"]}))
    events.sort(key=lambda item: item[:2])
    found = figures(document(put("be.json", {"traceEvents": [one for _, _, one in events]})))
    expect(found == wanted, "B and E", found, wanted)
    bare = [{key: one[key] for key in ("ph", "pid", "tid", "ts")} if one["ph"] == "E" else one for _, _, one in events]
    found = figures(document(put("bare_e.json", {"traceEvents": bare})))
    expect(found == wanted, "E with nothing but its thread", found, wanted)
    kernels = [one for one in small_events() if one["cat"] == "kernel"]
    lone = []
    for one in kernels:
        lone += [{**one, "ph": "B"}, {"ph": "B", "name": "unknown", "pid": one["pid"], "tid": one["tid"], "ts": one["ts"] + 1},
                 {"ph": "E", "pid": one["pid"], "tid": one["tid"], "ts": one["ts"] + 2},
                 {"ph": "E", "pid": one["pid"], "tid": one["tid"], "ts": one["ts"] + one["dur"]}]
    found = document(put("kernels_be.json", {"traceEvents": sorted(lone, key=lambda one: one["ts"])}))["window"]
    expect(found == document(put("kernels_x.json", {"traceEvents": kernels}))["window"], "E on a device lane", found)


def test_spellings():
    wanted = figures(document(put("modern.json", small_trace())))
    old = {"kernel": "Kernel", "cpu_op": "Operator", "cuda_runtime": "Runtime", "gpu_memcpy": "Memcpy", "gpu_memset": "Memset",
           "user_annotation": "Operator"}
    events = []
    for one in small_events():
        one = {**one, "cat": old[one["cat"]]}
        if one["cat"] in ("Kernel", "Memcpy", "Memset"):
            one["tid"] = "stream %d" % one["tid"]
        if "External id" in one.get("args", {}):
            one["args"]["external id"] = one["args"].pop("External id")
        events.append(one)
    found = figures(document(put("old.json", {"traceEvents": events})))
    expect(found == wanted, "the spelling of 2021", found, wanted)
    for one in events:
        for key in ("device", "stream"):
            one.get("args", {}).pop(key, None)
    expect(figures(document(put("bare_old.json", {"traceEvents": events})))[0] == wanted[0], "2021 without device and stream")
    texts = [{**one, "pid": str(one["pid"]), "tid": str(one["tid"]), "ts": str(one["ts"]), "dur": str(one["dur"])}
             for one in small_events()]
    expect(figures(document(put("texts.json", {"traceEvents": texts}))) == wanted, "numbers as text")
    named = [{**one, "pid": "proc %s" % one["pid"], "tid": "thread %s" % one["tid"]} for one in small_events()]
    expect(figures(document(put("named.json", {"traceEvents": named}))) == wanted, "pids as words")


def test_backslashes():
    wanted = figures(document(put("clean.json", small_trace())))
    text = json.dumps(small_trace(traceName="PATH")).replace("PATH", r"C:\Users\x\new.json")
    expect(figures(document(put("path.json", text))) == wanted, "a raw path of Windows")
    text = json.dumps(small_trace()).replace("aten::mm", r"C:\Users\x: mm")
    expect(figures(document(put("name.json", text)))[0] == wanted[0], "a raw path in a name")
    text = json.dumps(small_trace()).replace("aten::mm", "tab\there \x01")
    expect(figures(document(put("control.json", text)))[0] == wanted[0], "control characters in a name")


def round_trip(path):
    code, out, err = run("analyze", "--format", "perfetto", path)
    expect(code == 0, "perfetto", path, err)
    if code != 0:
        return
    json.loads(out)
    first, second = figures(document(path)), figures(document(put("back.perfetto.json", out)))
    expect(first[0] == second[0], "window read back", path, first[0], second[0])
    expect(len(first[1][0]) == len(second[1][0]), "number of steps read back", path, len(first[1][0]), len(second[1][0]))
    for a, b in zip(first[1][0], second[1][0]):
        expect(a == b, "step read back", path, a, b)


def test_read_back():
    round_trip(put("there.json", small_trace(distributedInfo={"rank": 1, "world_size": 2})))
    for path in (os.path.join(SOURCE, "tests/data/demo.json.gz"),
                 os.path.join(SHARED, "kineto/hta_simple_add_1xA100_cudasync.json.gz")):
        if os.path.exists(path):
            round_trip(path)


def main():
    tests = [value for name, value in sorted(globals().items()) if name.startswith("test_")]
    try:
        for test in tests:
            try:
                test()
            except (AssertionError, KeyError, IndexError, ValueError, TypeError, subprocess.TimeoutExpired) as error:
                expect(False, test.__name__, "stopped", repr(error))
    finally:
        shutil.rmtree(FOLDER, ignore_errors=True)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
