"""Nsight Systems exports: the same step written as Kineto's JSON and as an export must give the same answers.

No export may be shipped, so nsys_export.py writes them from events in Kineto's form: made up ones with known figures, and
published traces where they are at hand. Then what is missing, damaged or absurd.
"""
import gzip
import json
import os
import random
import shutil
import sqlite3
import sys
import tempfile
from decimal import Decimal

import nsys_export
from checks import SHARED, expect, expect_line, finish, json_of, run
from nsys_export import OFFSET, ORDER, SCHEMAS, WALL_NS, global_id

KINETO = os.path.join(SHARED, "kineto")
FOLDER = tempfile.mkdtemp(prefix="paceline-nsys-")
probe = os.path.join(FOLDER, "probe.sqlite")
sqlite3.connect(probe).executescript("CREATE TABLE a (b INTEGER)").connection.close()
if "without SQLite" in run("analyze", probe)[2]:
    code, _, err = run("analyze", probe)
    expect(code == 4 and "libsqlite3-dev" in err, "the package is named", code, err)
    print("built without SQLite")
    sys.exit(finish() or 77)


def export(name, version, events, devices, host_pid, **more):
    return nsys_export.export(os.path.join(FOLDER, name), version, events, devices, host_pid, **more)


def kineto(name, events, devices):
    path = os.path.join(FOLDER, name)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"baseTimeNanoseconds": WALL_NS, "deviceProperties": devices, "traceEvents": events}, file,
                  default=float)
    return path


# --- comparing ------------------------------------------------------------------------------------------------------------

def document(path, *options):
    return json_of("analyze", "--check", path, *options)


def drawn(path):
    """Tasks, and what they wait for, differentiate and are launched by, with lanes by their names."""
    words, piped = [path], b""
    if not path.endswith(".sqlite"):  # what comes through a pipe is drawn anew, as what comes from a database
        with open(path, "rb") as file:
            words, piped = ["-"], file.read()
    code, out, err = run("analyze", "--check", "--format", "perfetto", *words, stdin=piped)
    expect(code == 0, "expected success", path, code, err)
    events = json.loads(out)["traceEvents"] if code == 0 else []
    lane = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    ids = {}
    for e in events:  # arrows are numbered in the order of tasks: name them by where they begin
        if e["ph"] == "s":
            ids[e.get("cat"), e["id"]] = "%s %s %s" % (e.get("cat"), lane[e["pid"], e["tid"]], e["ts"])
    kept = []
    for e in events:
        if e["ph"] == "M":
            continue
        e = {**e, "lane": lane.get((e["pid"], e["tid"]))}
        if "id" in e:
            e["id"] = ids.get((e.get("cat"), e["id"]))
        del e["pid"], e["tid"]
        kept.append(json.dumps(e, sort_keys=True))
    return sorted(kept)


def same_answers(what, one, other):
    a, b = document(one), document(other)
    for side in (a, b):
        for key in ("inputs", "command"):
            side.pop(key, None)
    text_a, text_b = (json.dumps(x).replace(one, "FILE").replace(other, "FILE") for x in (a, b))
    a, b = json.loads(text_a), json.loads(text_b)
    for key in sorted(set(a) | set(b)):
        expect(a.get(key) == b.get(key), what, key, a.get(key), b.get(key))
    a, b = drawn(one), drawn(other)
    expect(len(a) > 0 and a == b, what, "tasks and links", sorted(set(a) - set(b))[:3], sorted(set(b) - set(a))[:3])
    return text_a


# --- a step of known figures -----------------------------------------------------------------------------------------------

DEVICES = [{"id": 0, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85_000_000_000}]
HOST, MAIN, AUTOGRAD = 4242, 4242, 4243


def known_step():
    """Three steps of 1 ms: a copy, three layers forward and backward on stream 7, an all-reduce on stream 20 that stream 7
    waits for, an update, and a wait for the device. Times in microseconds; every kernel 40.125."""
    events, corr = [], [100]

    def add(cat, name, tid, ts, dur, **args):
        events.append({"ph": "X", "cat": cat, "name": name, "pid": HOST, "tid": tid, "ts": ts, "dur": dur, "args": args})

    def launch(call, tid, ts, cat, name, stream, at, dur, **args):
        corr[0] += 1
        add("cuda_runtime", call, tid, ts, 4, correlation=corr[0])
        add(cat, name, stream, at, dur, device=0, stream=stream, correlation=corr[0], **args)

    for k in range(3):
        t, sequence = 1000 * k, 10 * k
        add("user_annotation", "ProfilerStep#%d" % k, MAIN, t, 1000)
        launch("cudaMemcpyAsync", MAIN, t + 10, "gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 7, t + 20, 20, bytes=65536)
        launch("cudaMemsetAsync", MAIN, t + 30, "gpu_memset", "Memset (Device)", 7, t + 45, 2, bytes=256)
        for i in range(3):
            at = t + 50 + 60 * i
            add("cpu_op", "aten::addmm", MAIN, at, 30, **{"Sequence number": sequence + i, "Fwd thread id": 0, "External id":
                sequence + i + 1, "Input Dims": [[64], [32, 128], [128, 64], [], []]})
            launch("cudaLaunchKernel", MAIN, at + 10, "kernel", "ampere_sgemm_128x64_tn<float, %d>" % i, 7, at + 25, 40.125)
        for i in reversed(range(3)):
            at = t + 300 + 60 * (2 - i)
            add("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", AUTOGRAD, at, 40,
                **{"Sequence number": sequence + i, "Fwd thread id": 1, "External id": 50 + i})
            add("cpu_op", "AddmmBackward0", AUTOGRAD, at + 2, 36,
                **{"Sequence number": sequence + i, "Fwd thread id": 1, "External id": 60 + i})
            add("cpu_op", "aten::mm", AUTOGRAD, at + 4, 30, **{"External id": 70 + i, "Input Dims": [[32, 64], [64, 128]]})
            launch("cudaLaunchKernel", AUTOGRAD, at + 10, "kernel", "ampere_sgemm_64x64_nn", 7, at + 20, 40.125)
        launch("cudaLaunchKernelExC", AUTOGRAD, t + 480, "kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL()", 20, t + 500,
               100)
        corr[0] += 1
        add("cuda_runtime", "cudaEventRecord", AUTOGRAD, t + 490, 2, correlation=corr[0])
        recorded = corr[0]
        corr[0] += 1
        add("cuda_runtime", "cudaStreamWaitEvent", MAIN, t + 500, 2, correlation=corr[0])
        add("cuda_sync", "Stream Wait Event", 7, t + 501, 0, device=0, stream=7, correlation=corr[0], wait_on_stream=20,
            wait_on_cuda_event_record_corr_id=recorded)
        add("user_annotation", "Optimizer.step#SGD.step", MAIN, t + 510, 60)
        add("cpu_op", "aten::_foreach_add_", MAIN, t + 515, 40, **{"External id": 90})
        launch("cudaLaunchKernel", MAIN, t + 520, "kernel", "void at::native::multi_tensor_apply_kernel<float>()", 7,
               t + 600, 40.125)
        corr[0] += 1
        add("cuda_runtime", "cudaEventSynchronize", MAIN, t + 580, 30, correlation=corr[0])
        add("cuda_sync", "Event Sync", 7, t + 581, 28, device=0, stream=4294967295, correlation=corr[0], wait_on_stream=20,
            wait_on_cuda_event_record_corr_id=recorded)
        corr[0] += 1
        add("cuda_runtime", "cudaDeviceSynchronize", MAIN, t + 620, 40, correlation=corr[0])
        add("cuda_sync", "Context Sync", 7, t + 621, 38, device=0, stream=4294967295, correlation=corr[0])
    return in_order(events)


def in_order(events):
    """As the reader comes upon them in an export: host calls, ranges, then the device's tables. Equals keep their order."""
    place = {c: min(i, 2) if i < 3 else i for i, c in enumerate(ORDER)}
    place["cpu_op"] = place["user_annotation"]
    return sorted(events, key=lambda e: place[e["cat"]])


def test_known_figures():
    events = known_step()
    one = kineto("known.json", events, DEVICES)
    for version in SCHEMAS:
        other = export("known-%s.sqlite" % version, version, events, DEVICES, HOST)
        same_answers("known " + version, one, other)
        doc = document(other)
        window = doc["window"]
        expect(window["kernels"] == 3 * 8, "kernels", window)
        expect(window["communication_ns"] == 3 * 100_000, "communication", window)
        expect(window["compute_ns"] == 3 * 7 * 40_125, "compute", window)
        expect(window["memory_ns"] == 3 * 22_000, "memory", window)
        steps = doc["ranks"][0]["steps"]
        expect([s["start_ns"] for s in steps] == [1_000_000 * k for k in range(3)], "starts", steps)
        expect([s["label"] for s in steps] == ["ProfilerStep#0", "ProfilerStep#1", "ProfilerStep#2"], "labels", steps)
        links = drawn(other)
        count = lambda what: sum(what in text and '"ph": "s"' in text for text in links)
        expect(count('"cat": "paceline_wait"') >= 3 * 3, "waits", count('"cat": "paceline_wait"'))
        code, a, err = run("predict", "--format", "json", one, "--on", "h100-80-sxm")
        code_b, b, err_b = run("predict", "--format", "json", other, "--on", "h100-80-sxm")
        expect(code == 0 and code_b == 0, "predict", code, err, code_b, err_b)
        a, b = json.loads(a), json.loads(b)
        for side in (a, b):
            side.pop("inputs"), side.pop("command")
        expect(json.dumps(a).replace(one, "F") == json.dumps(b).replace(other, "F"), "predictions", a, b)


# --- published traces -----------------------------------------------------------------------------------------------------

def reduced(path):
    """The events of a published trace that an export can hold, with the arguments that it can hold."""
    with gzip.open(path, "rt", encoding="utf-8", errors="replace") as file:
        trace = json.load(file, parse_float=Decimal)
    kept, devices = [], trace.get("deviceProperties", [])
    whole = [e for e in trace["traceEvents"] if e.get("ph") == "X" and str(e.get("cat")).lower() in CATEGORIES]
    host = next((e["pid"] for e in whole if CATEGORIES[e["cat"].lower()] == "cuda_runtime"), 1)
    first = min(Decimal(str(e["ts"])) for e in whole)
    for e in whole:
        args = e.get("args", {})
        e["cat"] = CATEGORIES[e["cat"].lower()]
        names = {"device", "stream", "correlation", "bytes", "wait_on_stream", "wait_on_cuda_event_record_corr_id"}
        keep = {k: v for k, v in args.items() if k in names}
        if keep.get("stream") == -1:  # none, which CUPTI writes as the largest
            keep["stream"] = 4294967295
        if e["cat"] in ("gpu_memcpy", "gpu_memset"):
            keep.setdefault("bytes", args.get("Bytes", 0))
        if e["cat"] == "cuda_sync" and keep.get("wait_on_cuda_event_record_corr_id", -1) <= 0:
            keep.pop("wait_on_stream", None), keep.pop("wait_on_cuda_event_record_corr_id", None)
        if e["cat"] == "cpu_op":
            keep = {k: v for k, v in args.items() if k in ("Sequence number", "Input Dims")}
            if args.get("Sequence number", -1) >= 0:
                keep["Fwd thread id"] = int(args.get("Fwd thread id", 0) != 0)
            operator = "::" in e["name"] or "Sequence number" in keep
            e["cat"] = "cpu_op" if operator else "user_annotation"
        kept.append({"ph": "X", "cat": e["cat"], "name": e["name"], "pid": e["pid"], "tid": narrow(e["tid"]),
                     "ts": Decimal(str(e["ts"])) - first, "dur": Decimal(str(e["dur"])), "args": keep})
    devices = [{"id": d["id"], "name": d["name"], "totalGlobalMem": d["totalGlobalMem"]} for d in devices]
    return in_order(kept), devices, host


def narrow(tid):
    """Kineto writes some threads by a negative number; an export has 24 bits."""
    return tid & 0xFFFFFF if isinstance(tid, int) else tid


CATEGORIES = {c: c for c in ORDER} | {"operator": "cpu_op", "runtime": "cuda_runtime", "cuda_driver": "cuda_runtime",
                                      "memcpy": "gpu_memcpy", "memset": "gpu_memset"}


def test_published_traces():
    for name in ("hta_alexnet_1xA100_cudasync", "hta_event_sync_1xA100", "hta_event_sync_multistream_1xA100",
                 "hta_simple_add_1xA100_cudasync", "tl_bert_small_infer_1xh100", "hta_resnet_ddp_2xA100_rank0_ncclmeta"):
        path = os.path.join(KINETO, name + ".json.gz")
        if not os.path.exists(path):
            print("not at hand:", name)
            continue
        events, devices, host = reduced(path)
        one = kineto(name + ".json", events, devices)
        other = export(name + ".sqlite", "2026", events, devices, host)
        same_answers(name, one, other)


# --- versions, processes, things that are missing ----------------------------------------------------------------------

def made(name, statements, version="2026"):
    """An export of the known step, changed."""
    path = export(name, version, known_step(), DEVICES, HOST)
    db = sqlite3.connect(path)
    db.executescript(statements)
    db.commit()
    db.close()
    return path


def columns_but(table, *left_out, version="2026"):
    kept = [c.split()[0] for c in SCHEMAS[version][table].split(",") if c.split()[0] not in left_out]
    return f"CREATE TABLE other AS SELECT {','.join(kept)} FROM {table}; DROP TABLE {table}; ALTER TABLE other RENAME TO {table};"


def test_missing_tables_and_columns():
    whole = document(export("whole.sqlite", "2026", known_step(), DEVICES, HOST))
    for name, statements in [
            ("no-process", columns_but("CUPTI_ACTIVITY_KIND_KERNEL", "globalPid") +
             columns_but("CUPTI_ACTIVITY_KIND_MEMCPY", "globalPid") + columns_but("CUPTI_ACTIVITY_KIND_MEMSET", "globalPid") +
             columns_but("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "globalPid") +
             columns_but("CUPTI_ACTIVITY_KIND_CUDA_EVENT", "globalPid")),
            ("no-types", columns_but("NVTX_EVENTS", "eventType")),
            ("short-names", columns_but("CUPTI_ACTIVITY_KIND_KERNEL", "demangledName")),
            ("no-extras", "DROP TABLE TARGET_INFO_CUDA_DEVICE; DROP TABLE PROCESSES; DROP TABLE ThreadNames;"
                          "DROP TABLE TARGET_INFO_SESSION_START_TIME;")]:
        doc = document(made(name + ".sqlite", statements))
        expect(doc.get("matrix") == whole["matrix"] and doc["window"] == whole["window"], name, doc.get("window"))
    for name, change in (("backwards", "start = end, end = start"), ("words", "start = 'soon'")):
        doc = document(made(name + ".sqlite", f"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET {change} WHERE rowid = 5;"))
        expect(any("1 events without a usable time" in w["text"] for w in doc["warnings"]), name, doc["warnings"])
        expect(doc["window"]["kernels"] == whole["window"]["kernels"] - 1, name, doc["window"])
    doc = document(made("no-calls.sqlite", "DROP TABLE CUPTI_ACTIVITY_KIND_RUNTIME;"))
    expect(doc["window"]["compute_ns"] == whole["window"]["compute_ns"], "without calls", doc["window"])
    doc = document(made("only-ranges.sqlite", "".join(f"DROP TABLE {t};" for t in SCHEMAS["2026"] if "CUPTI" in t)))
    expect(len(doc["ranks"][0]["steps"]) == 3 and doc["window"]["communication_ns"] == 0, "only ranges", doc["window"])
    for name, statements, wanted in [
            ("no-strings", "DROP TABLE StringIds;", ["StringIds"]),
            ("no-names", columns_but("CUPTI_ACTIVITY_KIND_KERNEL", "demangledName", "shortName", "mangledName"),
             ["CUPTI_ACTIVITY_KIND_KERNEL", "demangledName"]),
            ("no-ends", columns_but("CUPTI_ACTIVITY_KIND_RUNTIME", "end"), ["CUPTI_ACTIVITY_KIND_RUNTIME", '"end"']),
            ("nothing", "".join(f"DROP TABLE {t};" for t in SCHEMAS["2026"]), ["Nsight Systems", "NVTX_EVENTS"]),
            ("views", "".join(f"ALTER TABLE {t} RENAME TO x_{t}; CREATE VIEW {t} AS SELECT * FROM x_{t};"
                              for t in SCHEMAS["2026"] if "KIND" in t or "NVTX" in t), ["Nsight Systems"]),
            ("empty", "".join(f"DELETE FROM {t};" for t in SCHEMAS["2026"]), ["empty"])]:
        path = made(name + ".sqlite", statements)
        expect_line(*(run("analyze", path)[::2]), 3, path, *wanted)


def test_several_processes():
    """Two processes with the same correlations, each calling another GPU device 0: the busier one is read, as if alone."""
    path = made("two.sqlite", "INSERT INTO TARGET_INFO_GPU VALUES (0, 1, 'NVIDIA A100-SXM4-80GB', 85000000000, 108);"
                "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (1, 0, 5555, '');")
    db = sqlite3.connect(path)
    for table, columns in SCHEMAS["2026"].items():
        names = [c.split()[0] for c in columns.split(",")]
        if "globalPid" in names or "globalTid" in names:
            moved = [f"{n} + {(5555 - HOST) << 24}" if n in ("globalPid", "globalTid") else n for n in names]
            db.execute(f"INSERT INTO {table} SELECT {','.join(moved)} FROM {table}")
    db.execute("DELETE FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE rowid = 1")  # of the first process
    db.commit()
    db.close()
    alone, doc = document(export("one.sqlite", "2026", known_step(), DEVICES, HOST)), document(path)
    expect(doc["ranks"][0]["steps"] == alone["ranks"][0]["steps"], "steps", doc["ranks"])
    expect(doc["matrix"] == alone["matrix"] and doc["window"] == alone["window"], "matrix", doc["window"])
    expect(any("2 processes" in w["text"] and "5555" in w["text"] for w in doc["warnings"]), "the other is told of", doc["warnings"])
    expect(any("device 1 stream 7" in x for x in drawn(path)), "the GPU behind the process's device 0")


def test_graphs_and_migrations():
    pid = global_id(HOST)
    path = made("graphs.sqlite", f"""CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER NOT NULL, end INTEGER NOT NULL,
        deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid
        INTEGER, graphId INTEGER);
        INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES ({OFFSET + 3_100_000}, {OFFSET + 3_150_000}, 0, 1, 9, 5000, {pid}, 3);
        INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES ({OFFSET + 3_000_000}, {OFFSET + 3_010_000}, 0, 1, NULL, 0, NULL, {pid},
        4096, 11, 4, 4, NULL);""")
    window = document(path)["window"]
    expect(window["compute_ns"] == 3 * 7 * 40_125 + 50_000 and window["kernels"] == 25, "graph", window)
    expect(window["memory_ns"] == 3 * 22_000 + 10_000, "migration", window)


# --- damage ------------------------------------------------------------------------------------------------------------

def test_absurd_values():
    values = ["NULL", "-1", "9223372036854775807", "-9223372036854775808", "4294967295", "'text'", "''", "x'00ff'", "1e300",
              "3.5", "7205759403792793600"]
    tables = [t for t in SCHEMAS["2026"] if t not in ("META_DATA_EXPORT", "PROCESSES", "ThreadNames")]
    nullable = {t: c.replace("NOT NULL", "").replace("PRIMARY KEY", "") for t, c in SCHEMAS["2026"].items()}
    rebuilt = "".join(f"ALTER TABLE {t} RENAME TO old; CREATE TABLE {t} ({nullable[t]}); INSERT INTO {t} SELECT * FROM old;"
                      "DROP TABLE old;" for t in tables)
    source = made("loose.sqlite", rebuilt)
    compute = document(source)["window"]["compute_ns"]
    columns = sorted({c.split()[0] for t in tables for c in nullable[t].split(",")})
    for trial in range(len(values) + len(columns)):
        path = os.path.join(FOLDER, "absurd.sqlite")
        shutil.copy(source, path)
        db = sqlite3.connect(path)
        every, column = trial < len(values), columns[trial - len(values)]
        for table in tables:  # one value in every column, each in rows of its own; or one column with every value
            for at, name in enumerate(c.split()[0] for c in nullable[table].split(",")):
                for other, value in enumerate(values):
                    if (every and value == values[trial]) or (not every and name == column):
                        rows = f"rowid % 17 = {at}" if every else f"rowid % 12 = {other}"
                        db.execute(f"UPDATE {table} SET {name} = {value} WHERE {rows}")
        db.commit()
        db.close()
        if not every and column in ("returnValue", "rangeId", "graphId", "uuid"):
            expect(json_of("analyze", "--check", path)["window"]["compute_ns"] == compute, "what is not read changes nothing", column)


def test_damage():
    whole = open(export("damage.sqlite", "2026", known_step() * 20, DEVICES, HOST), "rb").read()
    path = os.path.join(FOLDER, "cut.sqlite")
    kept = 0
    for cut in [16, 99, 100, 512, 4095] + list(range(4096, len(whole), len(whole) // 11)):
        with open(path, "wb") as file:
            file.write(whole[:cut])
        code, out, err = run("analyze", "--check", "--format", "json", path)
        if code:
            expect_line(code, err, 3, path)
            continue
        kept += 1
        expect(any("cut.sqlite" in w["text"] and w["code"] == "file_cut_off" for w in json.loads(out)["warnings"]), "a cut is told", cut, json.loads(out)["warnings"])
    expect(kept > 0, "most of a file is read")
    chance = random.Random(17)
    for trial in range(24):
        spoilt = bytearray(whole)
        for _ in range(chance.choice([1, 8, 200])):
            spoilt[chance.randrange(100 if trial % 4 else 0, len(spoilt))] = chance.randrange(256)
        with open(path, "wb") as file:
            file.write(spoilt)
        code, _, err = run("analyze", "--check", path)
        if code:
            expect_line(code, err, code, path)
            expect(code == 3, "a damaged file is bad input", code, err)
    for tail in (bytes(4096), b"\xff" * 4096, chance.randbytes(20000)):
        with open(path, "wb") as file:
            file.write(b"SQLite format 3\0" + tail)
        expect_line(*(run("analyze", path)[::2]), 3, path, "SQLite")
        expect_line(*(run("predict", path, "--on", "h100-80-sxm")[::2]), 3, path, "SQLite")


def test_directory():
    folder = os.path.join(FOLDER, "ranks")
    os.mkdir(folder)
    for name in ("a.sqlite", "b.sqlite"):
        shutil.copy(export("copy.sqlite", "2021", known_step(), DEVICES, HOST), os.path.join(folder, name))
    expect(len(document(folder)["ranks"]) == 2, "a directory's exports are found")


tests = [value for name, value in sorted(globals().items()) if name.startswith("test_")]
for test in tests:
    test()
sys.exit(finish())
