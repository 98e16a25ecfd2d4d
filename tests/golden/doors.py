"""The doors by which one training step is asked: options, a row of a table, a number of workers, a program in C, Python. A question
is (model, machine, settings); each door answers seconds, or the words of its refusal."""
import csv
import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PACELINE, SOURCE = os.environ["PACELINE"], Path(os.environ["PACELINE_SOURCE"])
LIBRARY = Path(os.environ["PACELINE_BUILD"]) / "libpaceline.so"
COLUMNS = ["micro_batch", "global_batch", "dp", "tp", "pp", "cp", "vpp", "schedule", "zero_stage", "zero_group", "offload", "lora", "mode",
           "precision", "optimizer", "update", "execution", "attention", "input", "recompute", "keep_gradients", "read_loss", "frozen",
           "bucket_bytes"]


def run(*words):
    done = subprocess.run([PACELINE, *words], capture_output=True)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def models():
    return json.loads(run("models", "-f", "json")[1])["models"]


def words_of(settings):
    return [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]


def by_options(asked):
    model, machine, settings = asked
    code, out, err = run("predict", model, "--on", machine, "-q", "-f", "json", *words_of(settings))
    return json.loads(out)["values"]["step.median_s"] if code in (0, 1) else err  # 1: it does not fit into memory


def ask_rows(rows, columns):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "questions.csv"
        with open(path, "w", newline="") as file:
            table = csv.DictWriter(file, columns)
            table.writeheader()
            table.writerows(rows)
        code, out, err = run("predict", "--rows", str(path), "--kind", "step", "-f", "csv")
    answers = [(float(row["predicted"]) if row["predicted"] else None, row["status"]) for row in csv.DictReader(io.StringIO(out))]
    return code, answers or [(None, err)], err


def by_rows(questions):
    """All of them in one table, which says what each leaves open; an empty cell says nothing. Gives (seconds or None, status)."""
    rows = []
    for model, machine, settings in questions:
        full = {"dp": 1, "tp": 1, "pp": 1, "cp": 1, "zero_stage": 0, "zero_group": 0, **settings}
        rows.append({"model": model, "machine": machine, "framework": "pytorch", "n_gpu": full["dp"] * full["tp"] * full["pp"] * full["cp"],
                     "global_batch": full["micro_batch"] * full["dp"], **full})
    code, answers, err = ask_rows(rows, ["model", "machine", "n_gpu", "framework", *COLUMNS])
    assert code == (1 if "Does not fit: " in err else 0), err
    return answers


def by_own_row(asked):
    """In a table that has a column for what is said and no other, so that both doors' defaults count."""
    model, machine, settings = asked
    return ask_rows([{"model": model, "machine": machine, **settings}], ["model", "machine", *settings])[1][0]


def by_workers(asked):
    """A number of workers words dp; its table has nanoseconds."""
    model, machine, settings = asked
    others = {key: value for key, value in settings.items() if key not in ("dp", "micro_batch")}
    code, out, err = run("predict", model, "--on", machine, "-q", "-f", "json", "--workers", str(settings.get("dp", 1)), "--batch",
                         str(settings["micro_batch"]), *words_of(others))
    return json.loads(out)["points"][0]["step_ns"] if code in (0, 1) else err


def can_be_workers(settings):
    """Workers hold the whole model each, and train."""
    return not {"tp", "pp", "cp", "zero_stage"} & set(settings) and settings.get("mode") != "inference"


def by_python(questions):
    os.environ["PACELINE_LIBRARY"] = str(LIBRARY)
    sys.path.insert(0, str(SOURCE / "python"))
    import paceline

    context = paceline.Context()
    for model, machine, settings in questions:
        try:
            yield context.predict(model, on=machine, set=settings)["step.median_s"]
        except paceline.PacelineError as error:
            yield str(error)


def by_c(questions):
    """By the program tests/library/doors/ask.c, which reads questions from a file."""
    lines = ["\t".join(["predict", *["step.median_s"] * 3, model, f"on={machine}", *(f"set={key}={value}" for key, value in settings.items())])
             for model, machine, settings in questions]
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "ask")
        subprocess.run(["cc", "-std=gnu11", "-I", SOURCE / "include", SOURCE / "tests/library/doors/ask.c", "-o", program, LIBRARY], check=True)
        environment = dict(os.environ, LD_LIBRARY_PATH=str(LIBRARY.parent))
        out = subprocess.run([program], input="\n".join(lines) + "\n", capture_output=True, text=True, env=environment, check=True).stdout
    return [line if line.startswith("error") else float(line.split()[0]) for line in out.splitlines()]


def same(one, other):
    """To the last bit; or both refuse."""
    return one == other or (isinstance(one, str) and isinstance(other, str))


def same_ns(seconds, ns):
    return isinstance(ns, str) if isinstance(seconds, str) else ns == round(seconds * 1e9)
