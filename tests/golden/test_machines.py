"""`paceline machines`: every figure has a source, and the measured matrix rates are those of the cited table."""
import csv
import json
import os
import subprocess

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
print(f"{len(devices)} devices, {compared} rates compared with the table")
print("1 passed, 0 failed")
