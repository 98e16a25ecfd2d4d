"""Chakra's execution traces replayed on a machine: ASTRA-sim's microbenchmarks against what rings of them take."""
import gzip
import json
import os
import tempfile

import jsonschema

from checks import SHARED, SOURCE, expect, finish, run as program


def run(*words):
    return program("predict", "--simulate", *words)


ON = ["--on", "a100*8 nvlink=50GB/s latency=500ns"]
PATH = os.path.join(SHARED, "chakra", "astra_microbench")
RATE, LATENCY, MB = 0.8 * 50e9, 0.5, 1 << 20
if os.path.isdir(PATH):
    code, out, err = run(PATH, *ON, "--format", "json")
    expect(code == 0, err)
    document = json.loads(out) if code == 0 else {"workloads": []}
    found = {w["workload"]: w for w in document["workloads"]}
    # us: rings of four: 3 or 6 steps; an all-to-all of parts of a quarter; an all-gather of a MB from everyone
    for name, steps, part in [("all_reduce", 6, MB / 4), ("reduce_scatter", 3, MB / 4), ("all_to_all", 3, MB / 4), ("all_gather", 3, MB)]:
        w = found["4npus_1MB_" + name]
        expected = steps * (LATENCY + part / RATE * 1e6)
        expect(abs(w["time_us"] / expected - 1) < 1e-9 and w["ranks"] == 4 and w["messages"] == 4 * steps, name, w, expected)
        expect(w["sent_bytes"] == 4 * steps * part, name, w)
    # A ring of eight written out as sends and receives: 14 steps of an eighth of a MB, and the work between them.
    w = found["custom_ring_allreduce_8npus"]
    expected = 14 * (LATENCY + MB / 8 / RATE * 1e6) + w["work_us"]
    expect(abs(w["time_us"] / expected - 1) < 1e-6 and w["messages"] == 14 * 8 and w["ranks"] == 8, w, expected)
    # As fast as its ports, no faster; the same collective by another algorithm moves as much.
    for w in found.values():
        expect(w["utilisation_share"] <= 1 + 1e-9, w)
    code, out, err = run(os.path.join(PATH, "4npus_1MB_all_reduce.*.et"), *ON, "--algorithm", "direct", "--format", "json")
    direct = json.loads(out)["workloads"][0] if code == 0 else {}
    expect(abs(direct["time_us"] / (2 * (LATENCY + 3 / 4 * MB / RATE * 1e6)) - 1) < 1e-9, direct)
    # A workload on several nodes crosses the network.
    code, out, err = run(os.path.join(PATH, "4npus_1MB_all_reduce.*.et"), "--on", "ethernet-10g*4", "--format", "json")
    slow = json.loads(out)["workloads"][0] if code == 0 else {}
    expect(slow and slow["time_us"] > 6 * MB / 4 / 1e9 * 1e6 and "NIC" in slow["bottleneck"], slow)
    # Fewer devices than ranks.
    code, out, err = run(os.path.join(PATH, "4npus_1MB_all_reduce.*.et"), "--on", "a100*2 nvlink=50GB/s")
    expect(code == 2 and "4 ranks" in err and len(err.strip().splitlines()) == 1, code, err)
    with open(os.path.join(SOURCE, "docs", "schemas", "replay.json")) as file:
        schema = json.load(file)
    jsonschema.validate(document, schema)
    expect(list(document) == list(schema["properties"]), list(document))

# DLRM on eight devices: files rank0 to rank7 are ranks of one run, by what they exchange, whatever they are called; a
# rank alone, or one whose partner's trace is missing, has nobody to exchange with. Bytes: five all-to-alls, of which 7/8
# leaves a rank, and three all-reduces of rings.
DLRM = os.path.join(SHARED, "chakra", "dlrm_8xV100_et")


def exchanged(path):
    """Bytes that one rank puts into every collective, as its trace lists them: (collective, bytes)."""
    with gzip.open(path) as file:
        nodes = json.load(file)["nodes"]
    sizes = {"float": 4, "long int": 8, "int": 4}
    out = []
    for n in nodes:
        if n["name"] in ("nccl:all_to_all", "nccl:all_reduce"):
            count, kind = n["inputs"][0][3], n["input_types"][0]
            out.append((n["name"], count * sizes[kind[len("Tensor("):-1]]))
    return out


if os.path.isdir(DLRM):
    with tempfile.TemporaryDirectory() as folder:
        for rank in range(8):
            os.symlink(os.path.join(DLRM, f"rank{rank}.et.json.gz"), os.path.join(folder, f"host_{rank}.et.json.gz"))
        for path in (DLRM, folder):
            code, out, err = run(path, "--on", "dgx-1-v100", "--format", "json")
            found = json.loads(out)["workloads"] if code == 0 else []
            expect(len(found) == 1 and found[0]["ranks"] == 8 and found[0]["messages"] == 5 * 8 * 7 + 3 * 8 * 14, path, err, found)
            sent = sum(b * (7 / 8 if "to_all" in what else 2 * 7 / 8) for r in range(8) for what, b in exchanged(os.path.join(DLRM, f"rank{r}.et.json.gz")))
            expect(found and abs(found[0]["sent_bytes"] / sent - 1) < 0.01, found, sent)
    code, out, err = run(os.path.join(DLRM, "rank3.et.json.gz"), "--on", "dgx-1-v100")
    expect(code == 3 and "without partners" in err and len(err.strip().splitlines()) == 1, code, err)

# One rank's recording, in protobuf and in JSON: what it exchanged takes as long as it did, and the answer says so.
JSON = os.path.join(SHARED, "chakra", "workload_json.chakra.0.json.gz")
if os.path.isfile(JSON):
    with gzip.open(JSON) as file:
        nodes = [n for n in json.load(file)["workload_graph"] if not n["is_cpu_op"]]
    work = sum(n.get("runtime", 0) for n in nodes if n["NodeType"] != 7)
    exchanged_us = sum(n.get("runtime", 0) for n in nodes if n["NodeType"] == 7)
    untimed, alone = sum("runtime" not in n for n in nodes), sum(n["NodeType"] == 7 for n in nodes)
    for path in (JSON, os.path.join(SHARED, "chakra", "feeder_test.chakra.0.et.gz")):
        code, out, err = run(path, "--on", "dgx-1-v100", "--format", "json")
        document = json.loads(out) if code == 0 else {"workloads": [{"time_us": 0}], "warnings": []}
        expect(max(work, exchanged_us) <= document["workloads"][0]["time_us"] < work + exchanged_us + untimed * 10, path, err, document)
        said = [w["text"] for w in document["warnings"]]
        expect(any("%d exchanges" % alone in m for m in said) and any("%d pieces" % untimed in m for m in said), said)

# Traces of two ranks: work of so many operations and bytes without a time, then an all-reduce of a MB.
COMP, COLLECTIVE = 4, 7


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def number(field, n):
    return varint(field << 3) + varint(n)


def text(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content


def node(id, name, kind, after, duration=0, **attributes):
    out = number(1, id) + text(2, name) + number(3, kind) + b"".join(number(5, i) for i in after)
    if duration:
        out += number(7, duration)
    for key, value in {"is_cpu_op": 0, **attributes}.items():
        out += text(10, text(1, key.encode()) + number(27 if key == "is_cpu_op" else 9, value))
    return out


def write(folder, name, work):
    for rank in range(2):
        parts = [text(1, b"0.0.4"), node(1, b"gemm", COMP, [], **work),
                 node(2, b"sum", COLLECTIVE, [1], comm_type=0, comm_size=MB)]
        with open(os.path.join(folder, "%s.%d.et" % (name, rank)), "wb") as file:
            file.write(b"".join(varint(len(p)) + p for p in parts))
    return os.path.join(folder, name + ".*.et")


FLOP, BYTES = 10 ** 12, 10 ** 8
with tempfile.TemporaryDirectory() as folder:
    priced = write(folder, "priced", {"num_ops": FLOP, "tensor_size": BYTES})
    known = write(folder, "known", {"num_ops": FLOP, "tensor_size": BYTES, "duration": 7000})
    without = write(folder, "without", {})
    ring = 2 * (LATENCY + MB / 2 / RATE * 1e6)
    for words in ([], ["--unfolded"]):
        w = {}
        for path in (priced, known):
            code, out, err = run(path, *ON, "--format", "json", *words)
            expect(code == 0, err)
            w[path] = json.loads(out)["workloads"][0] if code == 0 else {"time_us": 0, "work_us": 0}
        expect(abs(w[known]["time_us"] / (7000 + ring) - 1) < 1e-9 and w[known]["work_us"] == 7000, w[known])
        # Never faster than an A100's peak of 312 Tflop/s, nor a hundredth of it; and all of it before the exchange.
        work = w[priced]["work_us"]
        expect(FLOP / 312e12 * 1e6 <= work < 100 * FLOP / 312e12 * 1e6, w[priced])
        expect(abs(w[priced]["time_us"] / (work + ring) - 1) < 1e-9, w[priced], ring)
    code, out, err = run(without, *ON)
    expect(code == 3 and "without.0.et" in err and "expected flop or bytes" in err and len(err.strip().splitlines()) == 1, code, err)

for words, code_wanted, word in [
        ([SOURCE + "/README.md", *ON], 3, "README.md"),
        (["/nowhere", *ON], 3, "nowhere"),
        ([SOURCE + "/README.md"], 2, "--on"),
        ([SOURCE + "/README.md", *ON, "--jobs", "2"], 2, "--jobs")]:
    code, out, err = run(*words)
    expect(code == code_wanted and word in err and len(err.strip().splitlines()) == 1, words, code, err)

finish()
