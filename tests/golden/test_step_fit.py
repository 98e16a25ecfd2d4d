"""A fit of steps answers a model by options as it answers a row, and brings back a factor that was planted."""
import csv
import json
import sys
import os
import subprocess
import tempfile

from checks import expect, finish

PROGRAM = os.environ["PACELINE"]
SLOWER = 1.3
MODELS = ("gpt2", "bert_large", "resnet50", "vgg16", "dlrm_default")
def run(*arguments):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def rows(path, fit=None):
    code, out, err = run("predict", "--kind", "step", "--rows", path, "-q", "-f", "csv", *(["--fit", fit] if fit else []))
    expect(code == 0, "rows", code, err)
    return list(csv.DictReader(out.splitlines()))


def main(folder):
    table, fit = os.path.join(folder, "rows.csv"), os.path.join(folder, "fit.json")
    asked = [(model, batch) for model in MODELS for batch in (16, 64)]
    with open(table, "w") as out:
        out.write("model,device,micro_batch,precision\n" + "".join(f"{m},a100-80-sxm,{b},fp16\n" for m, b in asked))
    plain = rows(table)
    measured = os.path.join(folder, "measured.csv")
    with open(measured, "w") as out:
        out.write("model,device,micro_batch,precision,step_time_s\n" + "".join(
            f"{m},a100-80-sxm,{b},fp16,{SLOWER * float(row['predicted'])!r}\n" for (m, b), row in zip(asked, plain)))
    code, _, err = run("fit", "--kind", "step", measured, "-o", fit, "-q")
    expect(code == 0, "fit", err)
    for (model, batch), row, before in zip(asked, rows(table, fit), plain):
        code, out, err = run("predict", model, "--on", "a100-80-sxm", "--set", f"micro_batch={batch}", "--set", "precision=fp16",
                             "--fit", fit, "-f", "json", "-q")
        answer = json.loads(out)
        expect(answer["values"]["step.median_s"] == float(row["predicted"]), "two doors", model, batch, row["predicted"])
        expect(answer["values"]["step.low_s"] == float(row["low"]), "two intervals", model, batch)
        expect(abs(float(row["predicted"]) / float(before["predicted"]) / SLOWER - 1) < 0.1, "planted", model, batch, row)
    for words, reason in ((("predict", os.path.join(os.environ["PACELINE_SOURCE"], "tests/data/demo.json.gz"), "--on", "h100"),
                           "is a fit of models' steps"),
                          (("predict", "gpt2", "--on", "h100", "--fit", fit), "expected one fit of steps")):
        code, _, err = run(*words, "--fit", fit)
        expect(code == 2 and reason in err and err.count("\n") == 1, "refused", words, code, err)
    other = os.path.join(folder, "jobs.json")
    with open(other, "w") as out:
        out.write('{"schema": "paceline.job-fit/1"}')
    code, _, err = run("predict", "gpt2", "--on", "h100", "--fit", other)
    expect(code == 2 and "belongs to fleet" in err, "another question's", code, err)


with tempfile.TemporaryDirectory() as folder:
    main(folder)
sys.exit(finish())
