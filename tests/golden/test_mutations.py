"""A catalogue that changes one default, rate or price moves every door to the same new number: options, a row of a table, a
number of workers."""
import csv
import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from checks import expect, finish

PACELINE = os.environ["PACELINE"]
CATALOG = Path(os.environ["PACELINE_SOURCE"]) / "catalog"
MODELS = ["resnet50", "bert_large", "dlrm_default"]
CHANGES = [  # file, text, its replacement; each text stands there once or means the same wherever it stands
    ("approaches.yaml", "jitter: 0.05", "jitter: 0.02"),
    ("approaches.yaml", "library: nccl, fuses_bytes: 26214400, waits: 1}", "library: nccl, fuses_bytes: 26214400, waits: 1, skew: 0.2}"),
    ("steps.yaml", "recompute: none, precision: fp32, layout: nchw, launch_us: 0", "recompute: none, precision: fp16, layout: nchw, launch_us: 0"),
    ("devices.yaml", "memory_bytes_per_s: 9e11\n    achievable_bytes_per_s: {value: 8.17e11", "memory_bytes_per_s: 9e11\n    achievable_bytes_per_s: {value: 4.0e11"),
    ("frameworks.yaml", "{mode: eager, type: t1, mean_us: 7.7,", "{mode: eager, type: t1, mean_us: 17.7,"),
    ("costs.yaml", "compute: 0.88, memory: 0.80, fixed_s: 4e-6", "compute: 0.44, memory: 0.40, fixed_s: 4e-5"),
]


def run(folder, *words):
    environment = dict(os.environ, **({"PACELINE_CATALOG": folder} if folder else {}))
    done = subprocess.run([PACELINE, *words], capture_output=True, env=environment)
    assert done.returncode in (0, 1), (folder, words, done.stderr.decode())
    return done.stdout.decode()


def doors(model, folder):
    """Seconds by options, by a row, and nanoseconds by a number of workers, of one question that says as little as it can."""
    on = ("--on", "dgx-1-v100")
    options = json.loads(run(folder, "predict", model, *on, "-q", "-f", "json", "--set", "dp=8", "--set", "micro_batch=16"))
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "row.csv"
        path.write_text(f"model,machine,framework,n_gpu,dp,micro_batch,global_batch\n{model},dgx-1-v100,pytorch,8,8,16,128\n")
        rows = list(csv.DictReader(io.StringIO(run(folder, "predict", "--rows", str(path), "--kind", "step", "-f", "csv"))))
    workers = json.loads(run(folder, "predict", model, *on, "-q", "-f", "json", "--workers", "8", "--batch", "16"))
    return options["values"]["step.median_s"], float(rows[0]["predicted"]), workers["points"][0]["step_ns"]


def check(model, folder, what):
    options, row, workers = doors(model, folder)
    expect(options == row, "options and rows differ", model, what, options, row)
    expect(workers == round(options * 1e9), "options and workers differ", model, what, options, workers)
    return options


def main():
    plain = {model: check(model, None, "as it is") for model in MODELS}
    for name, text, other in CHANGES:
        original = (CATALOG / name).read_text()
        expect(text in original, "the catalogue has what is changed", name, text)
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / name).write_text(original.replace(text, other))
            moved = [check(model, folder, (name, other)) != plain[model] for model in MODELS]
        expect(any(moved), "a change moves an answer", name, other, moved)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
