"""Every column that tables may have, in a row of each kind: a cell changes the answer, or the status says that it does not. The
columns are those of the catalogue, so that a new one is tried without being named here."""
import csv
import functools
import io
import os
import sys
import tempfile

import yaml
from checks import SOURCE, expect, finish, run

# A question of each kind, asked in words that other cells contradict, refine or leave alone.
STEP = {"model": "gpt2", "device": "h100-80-sxm", "n_gpu": "8", "dp": "4", "tp": "2", "micro_batch": "4", "global_batch": "32", "precision": "bf16", "framework": "pytorch"}
SHAPED = {"hidden": "1024", "layers": "12", "heads": "16", "seq": "1024", "vocab": "50000", "device": "a100-80-sxm", "n_gpu": "16", "tp": "2", "pp": "2", "dp": "4",
          "micro_batch": "2", "global_batch": "64", "precision": "bf16"}
IMAGES = {"model": "resnet50", "device": "v100-sxm2-16", "n_gpu": "4", "micro_batch": "32"}
EXCHANGE = {"system": "dgx-a100", "collective": "allreduce", "nodes": "2", "gpus": "16", "bytes": "1000000"}
SCALING = {"machine": "dgx-1-v100", "model": "resnet50", "approach": "ddp", "workers": "4", "batch": "32"}
GEMM = {"device": "a100-40-sxm", "op": "gemm", "m": "512", "n": "256", "k": "128", "dtype": "fp16"}
ATTENTION = {"device": "a100-40-sxm", "op": "attention", "b": "2", "heads": "8", "seq": "1024", "head_dim": "64", "dtype": "fp16"}
JOB = {"job": "j", "architecture": "ps_worker", "cnodes": "8", "batch_size": "512", "flop": "1e12", "memory_access_bytes": "1e10", "input_bytes": "1e6",
       "weight_traffic_bytes": "1e8", "dense_weight_bytes": "1e8", "embedding_weight_bytes": "0"}

# Values that mean something, other than what is assumed without; none: a number and a word.
VALUES = {
    "device": ["t4"], "machine": ["dgx-1-p100", "dgx-h100"], "system": ["dgx-h100"], "model": ["bert_large", "lenet"], "family": ["llama"], "framework": ["megatron"], "task": ["lora"],
    "mode": ["inference"], "precision": ["fp32", "fp16"], "dtype": ["fp64"], "recompute": ["full"], "sharding": ["zero3"], "execution": ["compiled", "eager"], "compile": ["0", "1"], "layout": ["nhwc", "tn"],
    "notes": ["torch.compile, full activation checkpointing"], "image": ["128"], "params_b": ["70"], "schedule": ["gpipe"], "suite": ["mlperf"], "collective": ["allgather"],
    "algorithm": ["ring"], "protocol": ["ll"], "approach": ["grpc"], "variant": ["textbook"], "settings": ["aux=0"], "placement": ["spread"], "op": ["softmax"],
    "pass": ["backward"], "shape": ["64x64x64"], "in_place": ["1"], "architecture": ["1w1g"], "power": ["200"], "flash": ["math", "flash"],
}
NONSENSE = "zzz"
# Names, free words, and what others counted or measured: they tell rows apart, say what ran, or are held against the answer. Of a job what moves ask.
LABELS = {"kernel": {"source", "op_hint", "unit"}, "exchange": {"wrong"}, "step": {"family", "suite", "notes"}, "scaling": set(),
          "job": {"job", "user", "start", "gpu_hours", "cnodes", "batch_size", "dense_weight_bytes", "embedding_weight_bytes"}}
# Figures that move nothing in this question: a limit of power beside a host that is slower, a name beside sizes.
STILL = {("step", "power_limit")}
NAMES = {("step", "model"), ("job", "job")}
MEASURED = ("measured", "rate", "bus_rate", "steps_per_s", "step_s", "step_ms", "step_us", "times", "s_per_step", "ms_per_step", "min_per_step")


@functools.cache
def names_of(kind):
    """Each column's key and the first name that it goes by."""
    return list(listed(kind))


def listed(kind):
    with open(os.path.join(SOURCE, "catalog", "job_columns.yaml" if kind == "job" else "columns.yaml")) as file:
        section = yaml.safe_load(file)
    section = section["names"] if kind == "job" else section[kind]
    for key, names in section.items():
        if kind == "job":
            yield key, key
        elif isinstance(names, list) and names and all(isinstance(name, str) for name in names) and key not in ("idle_words", "spread_words", "bookkeeping", "dtype_prefixes", "op_prefixes", "packed_words", "other_libraries"):
            yield key, str(names[0])


def is_measured(kind, key):
    """Columns behind the measured ones are theirs."""
    order = [one for one, _ in names_of(kind)]
    first = {"step": "suite"}.get(kind)
    return key in MEASURED or (first in order and order.index(key) > order.index(first))


def answers(kind, *rows):
    with tempfile.NamedTemporaryFile("w", suffix=".csv", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
        file.flush()
        code, out, err = run("predict", "--kind", kind, "--rows", file.name, "-f", "csv", "-q")
    if not out:
        return code, err
    asked = set(rows[0])
    return [tuple(value for name, value in row.items() if name not in asked) for row in csv.DictReader(io.StringIO(out))]


def effects(kind, base, name, values):
    """Whether each value of the cell changes a figure or the status, or is refused; asked together unless that is refused."""
    found = answers(kind, {**base, name: base.get(name, "")}, *({**base, name: value} for value in values))
    if isinstance(found, list):
        return [found[0] != other for other in found[1:]]
    return [True] if len(values) == 1 else [effects(kind, base, name, [value])[0] for value in values]


def main():
    tried = 0
    for kind, base in (("step", STEP), ("step", SHAPED), ("step", IMAGES), ("exchange", EXCHANGE), ("scaling", SCALING), ("kernel", GEMM), ("kernel", ATTENTION), ("job", JOB)):
        plain, about = answers(kind, base), base.get("model", base.get("op", ""))
        expect(isinstance(plain, list), kind, "is answered", base, plain)
        own = set(base)
        for key, name in names_of(kind):
            if key in LABELS[kind] or is_measured(kind, key):
                continue
            own.discard(name)
            values = [value for value in VALUES.get(key, ["3"]) if value != base.get(name)]
            *said, nonsense = effects(kind, base, name, [*values, NONSENSE])
            expect(any(said) or not said or (kind, name) in STILL, kind, about, f"{name}={values}", "no effect and no word")
            expect((kind, name) in NAMES or nonsense, kind, about, f"{name}={NONSENSE}", "nonsense without a word")
            tried += len(values) + 1
        for name in sorted(own):
            expect((kind, name) in NAMES or effects(kind, base, name, [NONSENSE])[0], kind, f"{name}={NONSENSE} in the question's own column", "nonsense without a word")
    print(f"{tried} cells")
    return finish()


sys.exit(main())
