#!/usr/bin/env python3
"""Devices, machines, models, frameworks, approaches, words for stages, types of the hub, flags of launchers, remedies and hints are added
from outside, by a folder of PACELINE_CATALOG.

Each addition is a copy of an entry under a name that nothing in the program can know: it must answer as the original
does, and as another device where a figure of the copy is changed.
"""
import csv
import io
import json
import os
import re
import sys
import tempfile
from pathlib import Path

from checks import SOURCE, expect, finish, run

CATALOG = Path(SOURCE) / "catalog"


def entry(text, name):
    """The lines of a list's entry, from "  - name: NAME" to the next one."""
    start = text.index(f"  - name: {name}\n")
    end = text.find("\n  - name: ", start)
    return text[start : end + 1 if end >= 0 else len(text)].rstrip() + "\n"


def line_of(text, name):
    return next(line for line in text.splitlines() if re.match(rf"\s+- \{{name: {re.escape(name)}, ", line)) + "\n"


def add(folder, file, copied):
    (Path(folder) / file).write_text((CATALOG / file).read_text().rstrip() + "\n" + copied)


def add_line(folder, file, name, new):
    text = (CATALOG / file).read_text()
    line = line_of(text, name)
    (Path(folder) / file).write_text(text.replace(line, line + line.replace(f"name: {name},", f"name: {new},"), 1))


def rows(*words, table=None):
    code, out, err = run("predict", *words, "--format", "csv", *(["--table", table] if table else []))
    expect(code == 0, words, code, err)
    return list(csv.DictReader(io.StringIO(out)))


def same(original, copied, table=None):
    a, b = rows(*original, table=table), rows(*copied, table=table)
    numbers = [[v for k, v in row.items() if k.endswith(("_ns", "_us", "_s", "time", "busbw"))] for row in a]
    others = [[v for k, v in row.items() if k.endswith(("_ns", "_us", "_s", "time", "busbw"))] for row in b]
    expect(numbers and any(numbers) and numbers == others, "a copy differs", copied, numbers[:2], others[:2])
    return numbers


def behind(folder, file, line, new):
    """Writes a file of the catalogue that has one line more."""
    text = (CATALOG / file).read_text()
    expect(text.count(line) == 1, file, line)
    (Path(folder) / file).write_text(text.replace(line, line + new, 1))


def put(folder, name, text):
    (Path(folder) / name).write_text(text)
    return str(Path(folder) / name)


def answer(*words):
    code, out, err = run(*words, "-q", "-f", "json")
    expect(code == 0, words, code, err)
    return json.loads(out)


def annotated(word, host_us=50):
    """A step whose one kernel was launched within a range of this name, at the end of an operator that takes the host so long."""
    def event(category, name, start, duration, **more):
        return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1, "ts": start, "dur": duration, **more}
    events = []
    for step in range(2):
        at, launch = 1000 * step, {"correlation": step + 1}
        events += [event("user_annotation", f"ProfilerStep#{step}", at, 1000), event("user_annotation", word, at + 1, max(500, host_us + 50)),
                   event("cpu_op", "aten::relu", at + 10, host_us), event("cuda_runtime", "cudaLaunchKernel", at + host_us - 30, 5, args=launch),
                   {**event("kernel", "elementwise_kernel", at + 50 + host_us, 300, args={"device": 0, "stream": 7, **launch}), "pid": 0, "tid": 7}]
    return json.dumps({"deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-40GB"}], "traceEvents": events})


def words_of_others(folder):
    """Names of traces, of the hub and of launchers."""
    behind(folder, "stages.yaml", "\nstages:\n", "  - {stage: update, of: annotation, equals: [zzword]}\n")
    matrix = answer("analyze", put(folder, "trace.json", annotated("zzword")))["matrix"]
    expect(matrix["update"]["memory_bound_ns"] == 300000 and matrix["forward"]["memory_bound_ns"] == 0, "a word for a stage", matrix)
    behind(folder, "hub_configs.yaml", "\ntypes:\n", "  zztype: {like: gpt2}\n")
    config = '{"model_type": "%s", "n_embd": 768, "n_layer": 12, "n_head": 12, "vocab_size": 50257, "n_positions": 1024}'
    of_hub = [answer("models", put(folder, f"{name}.json", config % name))["model"]["parameters"] for name in ("gpt2", "zztype")]
    expect(of_hub[0] == of_hub[1] > 1e8, "a type of the hub", of_hub)
    flag = "      --tensor-model-parallel-size: {tp: number}\n"
    text = (CATALOG / "launchers.yaml").read_text()
    (Path(folder) / "launchers.yaml").write_text(text.replace(flag, flag + "      --zz-parallel: {tp: number}\n", 1))
    script = "torchrun pretrain_gpt.py --%s 2 --num-layers 12 --micro-batch-size 1 --global-batch-size 8 --bf16\n"
    plans = [answer("plan", "gpt2", "--on", "dgx-h100", "--from", put(folder, f"{name}.sh", script % name))
             for name in ("tensor-model-parallel-size", "zz-parallel")]
    expect(plans[0]["changes"] == plans[1]["changes"] and plans[0]["changes"], "a flag of a launcher", plans[1]["changes"])


def remedies(folder):
    """A remedy over a what-if, and a hint, for an operator that takes most of the step on the host."""
    source = "    spread: 0.1\n    source: judged\n    confidence: low\n"
    behind(folder, "remedies.yaml", "\nhints:\n", "  - {id: zzhint, resource: host, names: \"^aten::relu$\", says: Zz.}\n")
    text = (Path(folder) / "remedies.yaml").read_text()
    remedy = "  - id: zzremedy\n    resources: [host]\n    what_if: scale\n    values: [\"^aten::relu$:0.1\"]\n    says: Zz\n    how: zz\n    rests_on: zz\n"
    (Path(folder) / "remedies.yaml").write_text(text.replace("\nremedies:\n", "\nremedies:\n" + remedy + source, 1))
    trace = put(folder, "host.json", annotated("step", host_us=600))
    document = answer("analyze", trace)
    expect(document["lead"]["hint"] == "zzhint", "a hint", document["lead"])
    expect([one["id"] for one in document["remedies"]] == ["zzremedy"], "a remedy", document["remedies"])
    walked = answer("predict", trace, "--scale", "^aten::relu$:0.1")["scenarios"][1]["step_ns"]
    expect([one["walked_ns"] for one in document["remedies"]] == [walked], "another step than the what-if's", walked, document["remedies"])


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PACELINE_CATALOG"] = folder
        devices = (CATALOG / "devices.yaml").read_text()
        chip = re.sub(r"    match:.*\n", "", entry(devices, "l40s"))
        slow = chip.replace("name: l40s", "name: zzslow")
        slow = re.sub(r"memory_bytes_per_s: [0-9.e]+", "memory_bytes_per_s: 1e11", slow)
        slow = re.sub(r"    achievable_bytes_per_s:.*\n", "", slow)
        old = re.sub(r"    generation:.*\n", "", chip.replace("name: l40s", "name: zzother"))
        add(folder, "devices.yaml", chip.replace("name: l40s", "name: zzchip") + "\n" + slow + "\n" + old)
        machine = entry((CATALOG / "machines.yaml").read_text(), "dgx-h100")
        add(folder, "machines.yaml", machine.replace("name: dgx-h100", "name: zznode"))
        models = Path(folder) / "models"
        models.mkdir()
        (models / "zznet.yaml").write_text(
            (CATALOG / "models" / "alexnet.yaml").read_text().replace("family: alexnet", "family: zznet")
        )
        add_line(folder, "approaches.yaml", "p2p", "zzway")
        steps = (CATALOG / "steps.yaml").read_text()
        framework = re.search(r"^frameworks:\n(?:\s*#.*\n)*((?:  - .*\n(?:    .*\n)*))", steps, re.M).group(1)
        first = re.match(r"  - (?:\{)?name: ([^,\s]+)", framework).group(1)
        one = re.match(r"  - .*\n(?:    .*\n)*", framework).group(0)
        (Path(folder) / "steps.yaml").write_text(steps.replace(one, one + one.replace(first, "zzframe", 1), 1))

        same(["resnet50", "--on", "l40s"], ["resnet50", "--on", "zzchip"])
        expect(
            int(rows("resnet50", "--on", "zzslow", "--set", "micro_batch=64")[0]["step_ns"]) > int(rows("resnet50", "--on", "zzchip", "--set", "micro_batch=64")[0]["step_ns"]),
            "a device of a tenth of the bandwidth is no slower",
        )
        joined = "*4 nvlink=100GB/s"
        reduce = ["--collective", "allreduce", "--on"]
        same([*reduce, "l40s" + joined], [*reduce, "zzchip" + joined])
        rows(*reduce, "zzother" + joined)
        code, out, _ = run("predict", *reduce, "zzother" + joined, "--library", "nccl")
        expect(code != 0, "NCCL runs on a device of no generation", out[:300])
        same([*reduce, "dgx-h100*2"], [*reduce, "zznode*2"])
        same(["alexnet", "--on", "v100-sxm2-16"], ["zznet", "--on", "v100-sxm2-16"])
        train = ["resnet50", "--on", "dgx-1-v100", "--set", "dp=8", "--set", "micro_batch=32"]
        same([*train, "--approach", "p2p"], [*train, "--approach", "zzway"])
        same([*train, "--set", f"framework={first}"], [*train, "--set", "framework=zzframe"])
        code, out, err = run("predict", *train, "--set", "framework=zznone")
        expect(code != 0, "an unknown framework is taken", out[:300], err)
        words_of_others(folder)
        remedies(folder)
        os.environ.pop("PACELINE_CATALOG")
    return finish()


if __name__ == "__main__":
    sys.exit(main())
