"""`paceline machines`: every figure has a source, and the measured matrix rates are those of the cited table."""
import csv
import json
import os
import subprocess
import tempfile

PACELINE = os.environ["PACELINE"]
TABLE = os.path.join(os.environ.get("PACELINE_SHARED", ""), "kernels", "mamf_achievable_matmul.csv")


def machines(*words):
    done = subprocess.run([PACELINE, "machines", *words, "--format", "json"], capture_output=True, text=True)
    assert done.returncode == 0, (words, done.stderr)
    return json.loads(done.stdout)


devices = machines()["devices"]
assert len(devices) >= 60 and len({row["name"] for row in devices}) == len(devices)
for row in devices:
    one = machines(row["name"])
    sources = {source["figure"]: source for source in one["sources"]}
    known = {key for key, value in one["device"].items() if isinstance(value, (int, float)) and key != "sm_count"}
    assert known == set(sources), (row["name"], known ^ set(sources))
    assert all(source["source"] and source["confidence"] in ("high", "medium", "low") for source in sources.values())

people = subprocess.run([PACELINE, "machines", "A100-SXM4-80GB"], capture_output=True, text=True).stdout
for text in ("271.2 T/s", "2039 GB/s", "1759 GB/s", "Source 2: ml-engineering"):
    assert text in people, text

compared = 0
if os.path.exists(TABLE):
    with open(TABLE) as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        one = machines(row["accelerator"])
        key = "achievable_" + ("fp8" if row["dtype"].startswith("fp8") else "bf16") + "_flop_per_s"
        cited = {source["figure"]: source["source"] for source in one["sources"]}.get(key, "")
        if "maximum achievable matmul, best shape" in cited:
            assert abs(one["device"][key] / (float(row["achieved_tflops"]) * 1e12) - 1) < 1e-9, (row, one["device"][key])
            compared += 1
    assert compared >= 18, compared
# Files of one's own: a figure may say its unit; what no device or machine has is refused at its place, not passed over.
EXAMPLES = os.path.join(os.environ["PACELINE_SOURCE"], "docs", "examples")


def edited(name, old, new, *words):
    """What is asked of an example in which `old` is `new`: the answer's first line, or the error."""
    with open(os.path.join(EXAMPLES, name)) as file, tempfile.NamedTemporaryFile("w", suffix=".yaml") as mine:
        text = file.read()
        assert old in text, (name, old)
        mine.write(text.replace(old, new, 1))
        mine.flush()
        done = subprocess.run([PACELINE, "predict", *words, "--on", mine.name, "-q"], capture_output=True, text=True)
    return done.stdout.split("\n")[0] if done.returncode == 0 else done.stderr


GPU = ("my_gpu.yaml", ("resnet50", "--set", "micro_batch=32,precision=bf16"), {
    "same": [("memory_bytes: 68719476736", "memory_bytes: 64 GiB"), ("memory_bytes_per_s: 2.4e12", "memory_bytes_per_s: 2.4TB/s"),
             ("bf16: 600e12", "bf16: 600 TFLOP/s"), ("{value: 2.1e12,", '{value: "2.1 TB/s",')],
    "refused": [("memory_bytes: 68719476736", "memory_bytes: 64"), ("memory_bytes: 68719476736", "memory_bytes: 64GB/s"), ("generation: 90", "generation: 9.0"),
                ("generation: 90", "generation: 90\n    boost_hz: 1.9"), ("generation: 90", "generation: 90\n    launch_s: 5")]})
BOX = ("my_box.yaml", ("--kind", "exchange", "--bytes", "64M"), {
    "same": [("bytes_per_s: 300e9", "bytes_per_s: 300GB/s"), ("bytes_per_s: 300e9", "bytes_per_s: 2400Gb/s"), ("latency_s: 4e-6", "latency_s: 4us")],
    "refused": [("kind: nvlink,", "kind: nvlink, bandwidth: 5,"), ("efficiency: 0.8,", "efficiency: {value: 0.8, source: x, confidence: low, unit: y},"),
                ("generation: 90", "generation: 9"), ("switched: 1", "switched: 7"), ("switched: 1", "switched: 1\n    pcie_bytes_per_s: 32"),
                ("device: h100-80-sxm", "device: h100-80-sxmm"), ("bytes_per_s: 300e9", "bytes_per_s: 300us")]})
for name, words, edits in (GPU, BOX):
    plain = edited(name, "my-", "my-", *words)
    for old, new in edits["same"]:
        assert edited(name, old, new, *words) == plain, (new, edited(name, old, new, *words))
    for old, new in edits["refused"]:
        assert ".yaml:" in edited(name, old, new, *words), (new, edited(name, old, new, *words))

print(f"{len(devices)} devices, {compared} rates compared with the table")
print("1 passed, 0 failed")
