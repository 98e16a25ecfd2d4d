"""What a step would be if arithmetic took no time is what it is on a device that takes none: hosts are as fast as without a full queue
of launches, which they had waited for. Hosts are those of V100, slow enough to lead then."""
import json
import os
import re
import shutil
import subprocess
import tempfile

from checks import PACELINE, SOURCE, expect, finish

MUCH = "9e16"  # FLOP/s
QUESTIONS = [["gpt2", "--on", "dgx-a100", "--set", "pp=4", "--set", "global_batch=48"],
             ["gpt2", "--on", "dgx-a100", "--set", "pp=6", "--set", "schedule=zero-bubble", "--set", "global_batch=144"],
             ["t5_small", "--on", "dgx-a100", "--set", "pp=2", "--set", "global_batch=24"],
             ["bert_large", "--on", "a100-40-sxm", "--set", "micro_batch=4", "--set", "global_batch=24"],
             ["bert_large", "--on", "dgx-a100", "--set", "pp=2", "--set", "global_batch=96"]]


def ask(question, **environment):
    run = subprocess.run([PACELINE, "predict", *question, "--set", "precision=fp32", "-q", "-f", "json"], capture_output=True, text=True,
                         env={**os.environ, **environment})
    expect(run.returncode in (0, 1), question, run.returncode, run.stderr)
    return json.loads(run.stdout)


with tempfile.TemporaryDirectory() as folder:
    plain = shutil.copytree(os.path.join(SOURCE, "catalog"), os.path.join(folder, "plain"))
    path = os.path.join(plain, "frameworks.yaml")
    hosts, count = re.subn(r"factor: 0.6", "factor: 1", open(path).read())
    expect(count == 2, "no later hosts to be slowed")
    open(path, "w").write(hosts)
    catalog = shutil.copytree(plain, os.path.join(folder, "catalog"))
    path = os.path.join(catalog, "devices.yaml")
    text = open(path).read()
    device = text.index("- name: a100-40-sxm")
    faster, count = re.subn(r"fp32: [0-9.e]+", "fp32: " + MUCH, text[device:], count=1)
    expect(count == 1, "no peak of FP32 to be raised")
    open(path, "w").write(text[:device] + faster)
    for question in QUESTIONS:
        free = [a["step_if_free_ns"] for a in ask(question, PACELINE_CATALOG=plain)["advice"] if a["resource"] == "compute"][0]
        taken = ask(question, PACELINE_CATALOG=catalog)["critical_path"]["length_ns"]
        expect(0.9 < free / taken < 1.02, question, "without arithmetic", free, "on a device that takes no time for it", taken)
finish()
