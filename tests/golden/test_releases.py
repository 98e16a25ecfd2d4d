"""Releases of a framework whose steps are run otherwise: which rows and options mean them, and what they change."""
import csv
import json
import os
import subprocess
import tempfile

PACELINE = os.environ["PACELINE"]


def run(*words):
    return subprocess.run([PACELINE, *map(str, words)], capture_output=True, text=True, check=True).stdout


def ask(text):
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        file.write(text)
        file.flush()
        return list(csv.DictReader(run("predict", "--kind", "step", "--rows", file.name, "--format", "csv").splitlines()))


def test_releases():
    """A column beside the framework's says its release, which the row's device must be able to run; an option says both in one."""
    head = "framework,release,model,device,n_gpu,tp,pp,ep,micro_batch,global_batch,precision\n"
    line = "Megatron-Bridge,{},qwen3-30b-a3b,{},8,1,1,8,1,64,bf16\n"
    cases = [("26.04", "GB200"), ("Megatron-Bridge 26.04", "GB200"), ("Megatron-Bridge 26.08", "GB200"),
             ("Megatron-Bridge 26.04", "H100"), ("Megatron-Bridge 26.08", "H100")]
    rows = ask(head + "".join(line.format(*case) for case in cases))
    unsaid, before, after, *hopper = [float(row["predicted"]) for row in rows]
    assert unsaid == before > 1.5 * after and hopper[0] == hopper[1], rows
    assert ["one device graph" in row["status"] for row in rows] == [False, False, True, False, False], rows
    moved = ask(head.replace("release", "source") + line.format("Megatron-Bridge 26.08", "GB200"))
    assert float(moved[0]["predicted"]) == after, moved
    together = ask(head + line.format("", "GB200").replace("Megatron-Bridge", "Megatron-Bridge 26.08"))
    assert float(together[0]["predicted"]) == after, together


def test_hosts_that_wait():
    """BigScience's hosts waited for each kernel: what the host takes adds to what the device does, by as much for each micro-batch.
    Elsewhere it is hidden by long kernels."""
    head = "framework,machine,model,n_gpu,tp,micro_batch,global_batch,precision,recompute\n"
    rows = ask(head + "".join(f"{framework},hgx-a100-80,gpt3_6.7b,8,8,4,{batch},fp16,none\n"
                              for framework in ("BigScience's Megatron-DeepSpeed", "Megatron-DeepSpeed") for batch in (16, 32, 64)))
    waits, hides = ([float(row["predicted"]) for row in rows[i:i + 3]] for i in (0, 3))
    more = [a - b for a, b in zip(waits, hides)]
    assert more[0] > 0.1 * hides[0] and abs((more[2] - more[1]) / (more[1] - more[0]) - 2) < 1e-6, (waits, hides)
    alone = json.loads(run("predict", "gpt3_6.7b", "--on", "hgx-a100-80", "--set", "framework=bigscience", "--set", "tp=8", "--set", "micro_batch=4",
                           "--set", "global_batch=16", "--set", "precision=fp16", "--set", "recompute=none", "--format", "json"))
    assert alone["framework"] == "bigscience" and abs(alone["step"]["step_ns"] / 1e9 / waits[0] - 1) < 1e-6, (alone["step"], waits)


for test in [value for name, value in list(globals().items()) if name.startswith("test_")]:
    test()
print("2 passed, 0 failed")
