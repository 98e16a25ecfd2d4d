#!/usr/bin/env python3
"""An answer names what it takes for granted, and a catalogue with another figure for one doubt moves its interval only."""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from checks import SOURCE, expect, finish, json_of, run

DOUBTS = Path(SOURCE) / "catalog" / "doubts.yaml"
TRACE = str(Path(tempfile.mkdtemp()) / "trace.json")
DLRM = ["predict", "dlrm", "--on", "dgx-1-v100", "--set", "dp=8", "--set", "micro_batch=512"]
GPT2 = ["predict", "gpt2", "--on", "dgx-h100", "--set", "dp=8", "--set", "micro_batch=1"]
PART = ["predict", "gpt2", "--on", "a100 mig=3g.20gb", "--set", "micro_batch=8"]
SHARED = ["predict", "llama3-8b", "--on", "dgx-h100", "--set", "tp=8", "--set", "micro_batch=1", "--set", "precision=bf16"]
# A doubt, and questions that rest on it: what they print and where their interval stands.
RESTS_ON = [
    ("host_catalog", GPT2),
    ("walk", GPT2),
    ("nccl", GPT2),
    ("walk", ["predict", TRACE]),
    ("kernel_repeated", ["predict", TRACE]),
    ("scaling_exchange", ["predict", "resnet50", "--on", "dgx-1-v100", "--set", "dp=8", "--approach", "ddp"]),
    ("scaling_step", ["predict", "resnet50", "--on", "dgx-1-v100", "--set", "dp=8", "--approach", "ddp"]),
    ("kernel_repeated", ["predict", TRACE, "--batch", "256", "--samples", "32"]),
    ("host_moved", ["predict", TRACE, "--from", "a100-40-sxm", "--on", "h100-80-sxm"]),
    ("nccl", ["predict", "--on", "dgx-h100", "--collective", "allreduce"]),
    ("network_infiniband", ["predict", "--on", "dgx-h100*2", "--collective", "allreduce"]),
    ("textbook", ["predict", "--on", "dgx-h100", "--collective", "allreduce", "--library", "textbook"]),
    ("spread_tables", DLRM),
    ("device_part", PART),
    ("step_maker", ["predict", "gpt2", "--on", "mi300x", "--set", "micro_batch=8"]),
    ("step_maker", ["predict", "llama3-8b", "--on", "mi300x", "--set", "framework=megatron", "--set", "micro_batch=1"]),
    ("step_half", ["predict", "resnet50", "--on", "p40", "--set", "precision=amp", "--set", "micro_batch=16"]),
    ("step_offload", ["predict", "llama2-7b", "--on", "hgx-a800", "--set", "framework=deepspeed", "--set", "offload=optimizer", "--set", "micro_batch=1"]),
    ("step_attention", ["predict", "bert_large", "--on", "a100-80-sxm", "--set", "micro_batch=8"]),
]


def of_kernels():
    """What kernels add is their spread times what they take of the path, however long exchanges are. Families count by their
    part of all kernels' time, each with the same share of its own spread; exchanges are none of them."""
    answer = json_of(*SHARED, "--quiet")
    path = answer["critical_path"]["by_resource"]
    device = (path["compute_ns"] + path["memory_ns"] + path["copy_ns"]) / answer["critical_path"]["length_ns"]
    families = [f for f in answer["families"] if f["family"] != "communication"]
    expect(len(families) < len(answer["families"]), "exchanges", answer["families"])
    kernels = sum(f["kernel_ns"] for f in families)
    variance = sum((device * f["spread"] * f["kernel_ns"] / kernels) ** 2 for f in families)
    added = {one["doubt"]: one["added_spread"] for one in answer["assumptions"]}
    expect(abs(added["kernel_formula"] ** 2 / variance - 1) < 0.01, added, variance ** 0.5)


def of_parts():
    """A part of a GPU is less known than the whole, in either engine; one with all of it is as well known."""
    for framework in ("pytorch", "megatron"):
        words = ["predict", "gpt2", "--set", "micro_batch=8", "--set", "precision=bf16", "--set", f"framework={framework}", "--quiet", "-f", "json", "--on"]
        added = {}
        for part in ("3g.20gb", "7g.40gb"):
            code, out, err = run(*words, f"a100 mig={part}")
            expect(code == 0, err)
            added[part] = {one["doubt"]: one["added_spread"] for one in json.loads(out)["assumptions"]}
        expect(added["3g.20gb"].get("device_part", 0) > 0.02 and "device_part" not in added["7g.40gb"], framework, added)


def changed(name):
    """doubts.yaml with one doubt's spread or growth half as large again."""
    text = DOUBTS.read_text()
    entry = re.compile(r"(- name: %s\n    (?:spread|growth|times): )([0-9.e+-]+)" % name)
    expect(len(entry.findall(text)) == 1, "one entry", name)
    return entry.sub(lambda m: m.group(1) + repr(1.5 * float(m.group(2))), text)


def ask(words, catalog=None):
    if catalog:
        os.environ["PACELINE_CATALOG"] = catalog
    code, out, err = run(*words, "--quiet", "-f", "json")
    os.environ.pop("PACELINE_CATALOG", None)
    expect(code == 0, words, err)
    answer = json.loads(out)
    rows = answer.get("scenarios") or answer.get("sizes") or [answer["step"]]
    last = rows[-1]
    middle, high = ("step_ns", "high_ns") if "step_ns" in last else ("time_us", "high_us") # the low end may be the device's peak
    return last[middle], last[high], answer["assumptions"]


def main():
    with open(TRACE, "w") as file:
        subprocess.run([os.environ["MAKE_TRACE"], "--steps", "3", "--layers", "12", "--compact"], stdout=file, check=True)
    of_kernels()
    of_parts()
    for name, words in RESTS_ON:
        middle, high, used = ask(words)
        added = [u["added_spread"] for u in used]
        expect(added == sorted(added, reverse=True), "largest first", words, added)
        mine = [u for u in used if u["doubt"] == name]
        expect(len(mine) == 1 and mine[0]["says"] and mine[0]["removed_by"], name, "is named by", words, used)
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "doubts.yaml").write_text(changed(name))
            middle2, high2, used2 = ask(words, folder)
        expect(middle2 == middle, "the answer stays", name, words, middle, middle2)
        expect(high2 > high, "the interval widens", name, words, high, high2)
        mine2 = [u for u in used2 if u["doubt"] == name]
        expect(mine and mine2 and mine2[0]["added_spread"] > mine[0]["added_spread"], "adds more", name, mine, mine2)
    # The spreads of an answer without what-ifs add up to that of its interval.
    code, out, err = run(*GPT2, "--quiet", "-f", "json")
    answer = json.loads(out)
    step = answer["scenarios"][0]
    sum_of = sum(u["added_spread"] ** 2 for u in answer["assumptions"]) ** 0.5
    from math import log

    spread = log(step["high_ns"] / step["low_ns"]) / 2 / 1.6448536269514722
    expect(abs(sum_of / spread - 1) < 1e-3, "added in quadrature", sum_of, spread)
    # A closed form, too, says what it rests on.
    code, out, err = run("predict", "gpt2", "--on", "dgx-h100*2", "--set", "dp=8", "--set", "pp=2", "--quiet", "-f", "json")
    expect(code == 0 and json.loads(out)["assumptions"], "closed form", err)
    os.unlink(TRACE)
    os.rmdir(os.path.dirname(TRACE))
    return finish()


if __name__ == "__main__":
    sys.exit(main())
