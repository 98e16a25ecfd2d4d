"""One process that drives several devices: each has its own window, steps and matrix; the trace's window is their union.

The figures of the hand-made trace follow from the intervals written down here; the synthetic ones are identities.
"""
import json
import os
import subprocess
import sys
import tempfile

from checks import PACELINE, expect, finish

MAKE_TRACE = os.environ["MAKE_TRACE"]
def analyze(*words, stdin=b""):
    done = subprocess.run([PACELINE, "analyze", "--check", *words], input=stdin, capture_output=True)
    expect(done.returncode == 0, words, done.stderr.decode())
    return done.stdout


def document(trace, *words):
    return json.loads(analyze("--format", "json", *words, "-", stdin=trace))


GEMM, REDUCE = "ampere_sgemm_128x64_nn", "ncclDevKernel_AllReduce_Sum_f32"


def hand_made(numbered=True):
    """Two steps of 100 us on one host thread. Device 0 computes 20 to 50 of each and waits for device 1, which computes
    30 to 80, in an all-reduce that ends at 90 on both. A third device is listed and does nothing."""
    events, correlation = [], 0
    for k in range(2):
        t = 100 * k
        events.append({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#%d" % k, "pid": 9, "tid": 9, "ts": t, "dur": 100})
        work = [(0, 7, GEMM, 20, 50), (1, 7, GEMM, 30, 80), (0, 20, REDUCE, 50, 90), (1, 20, REDUCE, 80, 90)]
        for i, (device, stream, name, start, end) in enumerate(work):
            correlation += 1
            events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9,
                           "ts": t + 10 + 2 * i, "dur": 1, "args": {"correlation": correlation}})
            args = {"device": device, "stream": stream} if numbered else {}
            events.append({"ph": "X", "cat": "kernel", "name": name, "pid": device, "tid": stream, "ts": t + start,
                           "dur": end - start, "args": {"correlation": correlation, **args}})
    return {"deviceProperties": [{"id": 2, "name": "Tesla T4"}, {"id": 0, "name": "NVIDIA A100-SXM4-40GB"},
                                 {"id": 1, "name": "Tesla V100-SXM2-16GB"}], "traceEvents": events}


def us(**figures):
    return {key + "_ns": value * 1000 for key, value in figures.items()}


def sums(matrix):
    """What is not zero, by resource, in us."""
    found = {}
    for row in matrix.values():
        for key, value in row.items():
            if value:
                found[key[:-3]] = found.get(key[:-3], 0) + value / 1000
    return found


def test_known_figures():
    text = json.dumps(hand_made()).replace("A100", "\\u0041100").encode()
    doc = document(text)
    union = {**us(span=170, busy=140, compute=120, communication=80, overlapped=60, exposed=20, idle=30, memory=0), "kernels": 8}
    expect(doc["window"] == union and doc["ranks"][0]["window"] == union, "the union", doc["window"])
    expect(doc["slowest_device"] == 1 and doc["slowest_rank"] is None, "the slowest", doc["slowest_device"])
    expect(doc["spread"] == {"least_span_ns": 160000, "most_span_ns": 170000}, "the spread", doc["spread"])
    expect(len(doc["ranks"]) == 1 and len(doc["inputs"]) == 1, "one trace is one rank and one input")
    first, second = doc["ranks"][0]["devices"]
    expect([first["device_id"], second["device_id"]] == [0, 1], "devices that worked")
    expect([first["device"], second["device"]] == ["NVIDIA A100-SXM4-40GB", "Tesla V100-SXM2-16GB"], "names by id", first["device"])
    expect(first["window"] == {**us(span=170, busy=140, compute=60, communication=80, overlapped=0, exposed=80, idle=30,
                                    memory=0), "kernels": 4}, "device 0", first["window"])
    expect(second["window"] == {**us(span=160, busy=120, compute=100, communication=20, overlapped=0, exposed=20, idle=40,
                                     memory=0), "kernels": 4}, "device 1", second["window"])
    bounds = [[(step["device_start_ns"] // 1000, step["device_end_ns"] // 1000) for step in one["steps"]] for one in (first, second)]
    expect(bounds == [[(0, 50), (50, 150)], [(0, 80), (80, 180)]], "each device's own steps", bounds)
    found = [[sums(step["matrix"]) for step in one["step_matrices"]] for one in (first, second)]
    expect(found[0] == [{"compute_bound": 30, "idle_host": 20},
                        {"compute_bound": 30, "idle_host": 30, "idle_rank": 30, "exposed_communication": 10}], "device 0", found[0])
    expect(found[1] == [{"compute_bound": 50, "idle_host": 30},
                        {"compute_bound": 50, "idle_host": 40, "exposed_communication": 10}], "device 1", found[1])
    expect(doc["matrix"] == second["matrix"] and doc["step_matrices"] == second["step_matrices"], "the one that others wait for leads")
    expect([row["transfer_ns"] for row in doc["collectives"]] == [10000, 10000], "exchanges between devices", doc["collectives"])
    expect([row["last_device"] for row in doc["collectives"]] == [1, 1], "the last device", doc["collectives"])
    expect([(row["device_id"], row["times_last"], row["waiting_ns"]) for row in doc["balance"]] ==
           [(0, 0, 60000), (1, 2, 0)], "who waits", doc["balance"])
    expect("device 1 was last to reach 2 of 2 collectives." in doc["summary"], doc["summary"])
    expect(document(json.dumps(hand_made(numbered=False)).encode())["ranks"][0]["devices"][1]["window"] == second["window"],
           "the process of a device event is its device")


def test_silent_device():
    """A device that only copies takes no part in an exchange, and one clock is one clock: the last collective's end
    differs between the devices by far, which no shift makes up for."""
    made = hand_made()
    made["traceEvents"].append({"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy DtoH", "pid": 2, "tid": 7, "ts": 20, "dur": 5,
                                "args": {"device": 2, "stream": 7}})
    for one in made["traceEvents"]:
        if one["name"] == REDUCE and one["pid"] == 1:
            one["dur"] += 7
    doc = document(json.dumps(made).encode())
    expect(len(doc["ranks"][0]["devices"]) == 3 and len(doc["collectives"]) == 2, "three devices, two of them exchange")
    expect([row["last_device"] for row in doc["collectives"]] == [1, 1], "the last device", doc["collectives"])
    expect(doc["ranks"][0]["clock_shift_ns"] == 0 and [row["transfer_ns"] for row in doc["collectives"]] == [17000, 17000],
           "one clock", doc["collectives"])
    check_identities("silent", doc)


def test_too_many():
    events = [{"ph": "X", "cat": "kernel", "name": "k", "pid": i, "tid": 1, "ts": i, "dur": 2} for i in range(300)]
    doc = document(json.dumps({"traceEvents": events}).encode())
    expect("devices" not in doc["ranks"][0] and doc["window"]["busy_ns"] == 301000 and
           any("300 devices" in one["text"] for one in doc["warnings"]), "300 devices")


def test_path_across():
    """The host waits 48 us for device 1 (5 to 50), then gives device 0 its work (57 to 60, 70 to 100): the path of device
    0's step is both kernels, 75 us, and what the host did around them."""
    def call(name, ts, dur, correlation):
        return {"ph": "X", "cat": "cuda_runtime", "name": name, "pid": 9, "tid": 9, "ts": ts, "dur": dur,
                "args": {"correlation": correlation}}

    def kernel(name, device, ts, dur, correlation):
        return {"ph": "X", "cat": "kernel", "name": name, "pid": device, "tid": 7, "ts": ts, "dur": dur,
                "args": {"device": device, "stream": 7, "correlation": correlation}}

    events = [{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#0", "pid": 9, "tid": 9, "ts": 0, "dur": 100},
              call("cudaLaunchKernel", 2, 1, 1), kernel("ampere_sgemm_a", 1, 5, 45, 1),
              call("cudaStreamSynchronize", 4, 48, 2),
              call("cudaLaunchKernel", 54, 1, 3), kernel("ampere_sgemm_b", 0, 57, 3, 3),
              call("cudaLaunchKernel", 58, 1, 4), kernel("ampere_sgemm_c", 0, 70, 30, 4)]
    doc = document(json.dumps({"traceEvents": events}).encode())
    path = doc["critical_path"]
    expect(doc["slowest_device"] == 0 and path["length_ns"] == 100000, "the step", path["length_ns"])
    expect(path["by_resource"]["compute_ns"] == 75000 and path["replay_error_ns"] == 0, "the path", path["by_resource"])
    expect([(row["device_id"], row["rank"], row["time_ns"]) for row in path["by_rank"]] == [(0, None, 52000), (1, None, 48000)],
           "through the devices", path["by_rank"])
    free = [row["step_if_free_ns"] for row in doc["advice"] if row["resource"] == "compute"]
    expect(free == [25000], "without compute", free)


def test_read_back():
    text = json.dumps(hand_made()).encode()
    first, back = document(text), document(analyze("--format", "perfetto", "-", stdin=text))
    for key in ("window", "spread", "matrix", "slowest_device"):
        expect(first[key] == back[key], "read back", key)
    for a, b in zip(first["ranks"][0]["devices"], back["ranks"][0]["devices"]):
        expect(a == b, "device read back", a["device_id"])


def test_words():
    text = json.dumps(hand_made()).encode()
    table = analyze("-", stdin=text).decode()
    expect("2 devices; the figures below are for device 1." in table, "table", table)
    rows = analyze("--format", "csv", "-", stdin=text).decode().splitlines()
    expect([row.split(",", 1)[0] for row in rows] == ["device_id", "0", "1"], "csv", rows)
    rows = analyze("--format", "csv", "--table", "ranks.0.devices.1.steps", "-", stdin=text).decode().splitlines()
    expect(len(rows) == 3 and rows[1].startswith("ProfilerStep#0,0,100000"), "csv", rows)


def total(matrix):
    return sum(value for row in matrix.values() for value in row.values())


def check_identities(name, doc):
    for rank in doc["ranks"]:
        for device in rank.get("devices", []):
            what = (name, device["device_id"])
            for step, matrix in zip(device["steps"], device["step_matrices"]):
                expect(total(matrix["matrix"]) == matrix["device_ns"] == step["device_end_ns"] - step["device_start_ns"], what,
                       "a step's cells", total(matrix["matrix"]), matrix["device_ns"])
            for a, b in zip(device["steps"], device["steps"][1:]):
                expect(a["device_end_ns"] == b["device_start_ns"], what, "steps follow each other")
            window, cells = device["window"], sums(device["window_matrix"])
            expect(total(device["window_matrix"]) == window["span_ns"], what, "the window's cells")
            share = lambda *keys: round(sum(cells.get(key, 0) for key in keys) * 1000)
            expect(share("compute_bound", "memory_bound") == window["compute_ns"], what, "compute")
            expect(share("exposed_communication", "idle_rank") == window["exposed_ns"], what, "exposed")
            expect(share("copy") == window["busy_ns"] - window["compute_ns"] - window["exposed_ns"], what, "copies")
        if "devices" in rank:
            for key in ("busy_ns", "compute_ns", "communication_ns"):
                parts = [device["window"][key] for device in rank["devices"]]
                expect(max(parts) <= rank["window"][key] <= sum(parts), name, "a union", key)
            expect(sum(device["window"]["kernels"] for device in rank["devices"]) == rank["window"]["kernels"], name, "kernels")


def make(*words):
    return subprocess.run([MAKE_TRACE, "--compact", *words], capture_output=True, check=True).stdout


def test_synthetic():
    check_identities("hand-made", document(json.dumps(hand_made()).encode()))
    for devices in (2, 5):
        doc = document(make("--devices", str(devices), "--steps", "3", "--layers", "8", "--streams", "3"))
        expect(len(doc["ranks"][0]["devices"]) == devices, "number of devices", devices)
        expect(len(doc["collectives"]) > 0 and all(row["transfer_ns"] > 0 for row in doc["collectives"]), "exchanges")
        check_identities("%d devices" % devices, doc)
        expect(doc["critical_path"]["replay_error_ns"] == 0, "replay")
    expect("devices" not in document(make("--steps", "2", "--layers", "2"))["ranks"][0], "one device is the rank itself")


def test_compare():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "two.json")
        with open(path, "w") as file:
            file.write(json.dumps(hand_made()))
        doc = json.loads(subprocess.run([PACELINE, "compare", "--format", "json", path, path], capture_output=True, check=True).stdout)
    for side in "AB":
        expect(f"{side} is of device 1, for which the others of 2 wait." in doc["summary"], "compared", doc["summary"])
    expect(doc["a_step_ns"] == doc["b_step_ns"] == 100000, "the longer of device 1's two steps, 80 and 100 us", doc["a_step_ns"])


def test_several_ranks():
    with tempfile.TemporaryDirectory() as folder:
        for rank in range(2):
            made = hand_made()
            made["distributedInfo"] = {"rank": rank, "world_size": 2}
            with open(os.path.join(folder, "rank%d.json" % rank), "w") as file:
                file.write(json.dumps(made))
        doc = json.loads(analyze("--format", "json", folder))
        expect([len(rank["devices"]) for rank in doc["ranks"]] == [2, 2] and len(doc["inputs"]) == 2, "two ranks of two devices")
        check_identities("two ranks", doc)
        expect("4 devices of 2 ranks; the figures below are for rank 0 device 1." in doc["summary"], doc["summary"])


for test in [value for key, value in sorted(globals().items()) if key.startswith("test_")]:
    test()
sys.exit(finish())
