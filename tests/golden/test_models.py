"""`paceline models`: the list, one model, a model of the user's own, a catalogue of the user's own, and what is refused."""
import csv
import io
import json
import os
import subprocess
import tempfile

import strict_schema

PACELINE = os.environ["PACELINE"]
SOURCE = os.environ.get("PACELINE_SOURCE", ".")

OWN = """family: mine
about: a test
source: nobody
parameters: {width: 16}
variants: {small: {}, large: {width: 64}}
inputs: {image: {image: [3, 8, 8]}}
loss: cross_entropy
layers: [conv: {out: width, kernel: 3}, relu, flatten, linear: 10]
"""


def run(*words, status=0, **environment):
    done = subprocess.run([PACELINE, "models", *words], capture_output=True, text=True,
                          env={**os.environ, **environment})
    assert done.returncode == status, (words, done.returncode, done.stderr)
    if status:
        assert done.stdout == "" and done.stderr.count("\n") == 1, (words, done.stderr)
        return done.stderr
    assert done.stderr == "", (words, done.stderr)
    return done.stdout


def parameters(*words, **environment):
    return json.loads(run(*words, "--format", "json", **environment))["model"]["parameters"]


catalogue = json.loads(run("--format", "json"))
strict_schema.hold(catalogue, "models")
known = {row["name"]: row for row in catalogue["models"]}
assert len(known) == len(catalogue["models"]) >= 50
assert known["resnet50"]["parameters"] == 25557032  # torchvision
released = {"granite3-8b": 8170848256, "ministral-8b": 8019808256, "solar-10.7b": 10731524096, "smollm2-135m": 134515008, "smollm2-360m": 361821120,
            "phi-4-mini": 3836021760, "yi-9b": 8829407232, "baichuan-7b": 7000559616, "baichuan-13b": 13264901120}  # their checkpoints
assert all(known[name]["parameters"] == count for name, count in released.items()), [known[name]["parameters"] for name in released]
billions = {"qwen-1.8b": 1.84, "qwen1.5-0.5b": 0.464, "qwen1.5-4b": 3.95, "deepseek-coder-1.3b": 1.35, "deepseek-coder-33b": 33.3, "codestral-22b": 22.2,
            "openllama-3b": 3.43, "internlm3-8b": 8.80, "minicpm-2b": 2.72, "exaone3.5-2.4b": 2.41, "exaone3.5-7.8b": 7.82, "exaone3.5-32b": 32.0,
            "falcon3-1b": 1.67, "falcon3-3b": 3.23, "falcon3-7b": 7.46, "falcon3-10b": 10.3, "seed-oss-36b": 36.2, "stablelm-alpha-3b": 3.64,
            "stablelm-alpha-7b": 7.88, "stablelm-2-1.6b": 1.64, "redpajama-3b": 2.78, "redpajama-7b": 6.86, "polyglot-ko-5.8b": 5.89, "polyglot-ko-12.8b": 12.9,
            "starcoder-1b": 1.14, "starcoder-3b": 3.04, "starcoder-7b": 7.33, "xlm_roberta_base": 0.278, "xlm_roberta_large": 0.56, "bert_tiny": 0.00439,
            "byt5-small": 0.3, "byt5-base": 0.582, "byt5-large": 1.23, "byt5-xl": 3.74, "byt5-xxl": 12.9, "ul2-20b": 19.6,
            "bert_mini": 0.0112, "bert_small": 0.0288, "bert_medium": 0.0414, "minilm_l6": 0.0227, "minilm_l12": 0.0334}  # three digits of their model cards
off = {name: known[name]["parameters"] for name, count in billions.items() if abs(known[name]["parameters"] / 1e9 / count - 1) > 0.006}
assert round(known["t5-23b"]["parameters"] / 1e9) in (23, 24)  # the 23B of NeMo's predefined configurations
assert not off, off
# Names of the hub, and those of runs that began from a released model, mean its layers.
for name, layers in {"Qwen/Qwen-1_8B-Chat": "qwen-1.8b", "Qwen/Qwen2.5-Coder-7B-Instruct": "qwen2.5-7b", "HuggingFaceH4/zephyr-7b-beta": "mistral-7b",
                     "deepseek-ai/DeepSeek-R1-Distill-Llama-8B": "llama3.1-8b", "sentence-transformers/all-MiniLM-L6-v2": "minilm_l6",
                     "openlm-research/open_llama_7b": "llama-7b", "01-ai/Yi-1.5-9B": "yi-9b", "bigscience/bloomz-7b1": "bloom-7.1b",
                     "google/byt5-base": "byt5-base", "google/flan-ul2": "ul2-20b", "T0pp": "t5-v1.1-xxl"}.items():
    assert parameters(name) == known[layers]["parameters"], (name, layers)

one = json.loads(run("resnet50", "--format", "json"))
strict_schema.hold(one, "models")
assert one["model"]["parameters"] == sum(row["parameters"] or 0 for row in one["layers"]) == 25557032
assert one["model"]["multiply_adds"] == sum(row["multiply_adds"] or 0 for row in one["layers"])
rows = list(csv.DictReader(io.StringIO(run("resnet50", "--format", "csv"))))
assert [row["name"] for row in rows] == [row["name"] for row in one["layers"]]
assert all(len(line) <= 100 for line in run("resnet50").splitlines())

# One layer of GPT-2 small has 7,087,872 parameters, whatever its precision; half of the bytes do for half precision.
assert parameters("gpt2") - parameters("gpt2", "--set", "layers=11") == 7087872
held = [json.loads(run("gpt2", "--format", "json", "--set", "precision=" + precision))["model"]["weight_bytes"]
        for precision in ("fp32", "bf16")]
assert held[0] == 2 * held[1] == 4 * 124439808

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "mine.yaml")
    with open(path, "w") as file:
        file.write(OWN)
    assert parameters(path) == (27 + 1) * 16 + (36 * 16 + 1) * 10
    assert parameters(path + ":large") == (27 + 1) * 64 + (36 * 64 + 1) * 10
    assert parameters(path, "--set", "width=1") == 28 + 37 * 10
    assert "mine.yaml:1:1: it describes no model \"huge\"" in run(path + ":huge", status=4)
    with open(path, "a") as file:
        file.write("blocks: {b: {layers: [relu], speed: 3}, relu: {layers: []}}\n")
    assert "mine.yaml:9:47: \"relu\" is a kind of layer" in run(path, status=3)
    os.makedirs(os.path.join(folder, "models"))
    with open(os.path.join(folder, "models", "mine.yaml"), "w") as file:
        file.write(OWN)
    assert parameters("large", PACELINE_CATALOG=folder) == (27 + 1) * 64 + (36 * 64 + 1) * 10
    assert "resnet50" in run(PACELINE_CATALOG=folder) and "small" in run(PACELINE_CATALOG=folder)
    os.rename(os.path.join(folder, "models", "mine.yaml"), os.path.join(folder, "models", "resnet.yaml"))
    assert "resnet18" not in run(PACELINE_CATALOG=folder)  # a file of the same name replaces the built-in one

WINDOWS = """family: windows
about: a test
source: nobody
parameters: {seq: 1000, sliding: 0, part: 0}
inputs: {tokens: {tokens: seq}}
layers:
  - embedding: {rows: 10, width: 64}
  - {attention: {heads: 2, kv_heads: 1, head_dim: 16, causal: 1, sliding: sliding, window: part}, repeat: 3}
"""


def attention(path, *words):
    return [row["multiply_adds"] for row in json.loads(run(path, "--format", "json", *words))["layers"] if row["kind"] == "attention"]


# Two products of 2 heads of 16; each token with all, with those of a window, or with those of its part, of which the last is shorter.
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "windows.yaml")
    with open(path, "w") as file:
        file.write(WINDOWS)
    for tokens in (1, 299, 300, 1000):
        sequence = ("--set", f"sequence={tokens}")
        assert attention(path, *sequence) == [64 * tokens ** 2] * 3
        assert attention(path, *sequence, "--set", "sliding=300") == [64 * tokens * min(tokens, 300)] * 3
        parts = [min(300, tokens - first) for first in range(0, tokens, 300)]
        assert attention(path, *sequence, "--set", "part=300") == [64 * sum(part ** 2 for part in parts)] * 3
    assert "without \"window\"" in run(path, "--set", "sliding=300", "--set", "part=300", status=2)
local = dict.fromkeys((1, 2, 4, 5), 1024)  # of six layers: Gemma 3 sees all tokens in every sixth, and the first here
found = attention("gemma3-12b", "--set", "sequence=8192", "--set", "layers=6", "--set", "global_every=4", "--set", "global_first=1")
assert found == [2 * 16 * 256 * 8192 * local.get(i, 8192) for i in range(6)], found

assert "resnet50" in run("resnet5", status=4)
assert "no parameter \"hidden\"" in run("resnet50", "--set", "hidden=3", status=2)
assert "expected KEY=VALUE" in run("gpt", "--set", "hidden", status=2)
assert "fp32, tf32" in run("gpt", "--set", "precision=fp12", status=2)
assert "expected a number" in run("gpt", "--set", "hidden=wide", status=2)
assert "needs a model's name" in run("--set", "hidden=3", status=2)
assert "do not fit" in run("gpt", "--set", "hidden=100", "--set", "heads=7", status=2)
assert "built with layers=-1: " in run("gpt2", "--set", "layers=-1", status=2)
for model, setting, word in (("resnet50", "tp=2", "no layer of the model"), ("gnmt", "tp=2", "no layer of the model"), ("gnmt", "cp=2", "token by token")):
    assert word in run(model, "--set", setting, status=2), (model, setting)
assert "does not divide the 12 heads" in run("gpt2", "--set", "tp=1000", status=2)
assert "cp 3 does not divide the 1024 tokens" in run("gpt2", "--set", "cp=3", status=2)
assert "from 1 to" in run("gpt2", "--set", "sequence=0", status=2)
assert "No such file" in run("no/such.yaml", status=3)
print("1 passed, 0 failed")
