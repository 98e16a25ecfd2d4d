"""One question has one answer, to the last bit, by whatever door it is asked: options, a row of a table, a number of
workers, Python (and so C). Every model of the catalogue, each on one of three machines with some way to share its work and,
one in three, with each other field of a configuration; and questions that say as little as they can."""
import csv
import io
import json
import os
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from checks import expect, finish

PACELINE = os.environ["PACELINE"]
MACHINES = {"dgx-1-v100": 8, "hgx-a100-80": 8, "dgx-h100": 8}
HALF_OF = {"dgx-1-v100": ["tf32", "bf16", "amp_bf16", "fp8"], "hgx-a100-80": ["fp8"], "dgx-h100": []}  # what devices lack
LIBRARY = Path(os.environ["PACELINE_BUILD"]) / "libpaceline.so"
FIELDS = {
    "mode": ["inference", "training"], "precision": ["fp32", "tf32", "fp16", "bf16", "amp", "amp_bf16", "fp8"],
    "optimizer": ["sgd", "momentum", "adam", "adamw", "lamb", "none", "adamw_8bit", "adafactor", "lion"], "update": ["foreach", "fused", "loop"],
    "execution": ["eager", "compiled", "graph"], "attention": ["fused", "math", "usual"], "input": ["synthetic", "pinned", "pageable"],
    "recompute": ["none", "selective", "full"], "keep_gradients": [0, 1], "read_loss": [0, 1], "frozen": [0, 1],
    "bucket_bytes": [1000000]}
OF_TRAINING = {"optimizer", "update", "recompute", "keep_gradients", "read_loss", "frozen", "lora", "bucket_bytes", "zero_stage", "zero_group", "offload"}
EVERY = 12 if "ASAN_OPTIONS" in os.environ else 1  # so many models are asked about under the sanitizers


def run(*words):
    done = subprocess.run([PACELINE, *words], capture_output=True)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def models():
    return json.loads(run("models", "-f", "json")[1])["models"]


def question(model, dice):
    """What a model can follow: sequences can be split by tp and pp, others by data alone."""
    ways = [{"dp": 1}, {"dp": 8}]
    if model["sequence"]:
        ways += [{"dp": 4, "tp": 2}, {"dp": 2, "pp": 2}, {"dp": 8, "zero_stage": dice.choice([1, 2, 3])}, {"dp": 2, "cp": 2},
                 {"dp": 2, "pp": 2, "vpp": 2}, {"dp": 2, "pp": 2, "schedule": dice.choice(["gpipe", "zero-bubble"])},
                 {"dp": 2, "tp": 2, "pp": 2, "zero_stage": 1}, {"dp": 8, "zero_stage": 3, "zero_group": 4}]
    machine = dice.choice(sorted(MACHINES))
    settings = {"micro_batch": dice.choice([1, 2, 8]), **dice.choice(ways)}
    settings |= {key: dice.choice(values) for key, values in FIELDS.items() if dice.random() < 1 / 3}
    if settings.get("mode") == "inference":  # options refuse what only training has
        settings = {key: value for key, value in settings.items() if key not in OF_TRAINING}
    idle = set() if model["sequence"] else {"attention", "recompute"}  # options refuse what can change nothing
    idle |= {"bucket_bytes"} if settings["dp"] * settings.get("cp", 1) == 1 else set()
    settings = {key: value for key, value in settings.items() if key not in idle}
    trains = settings.get("mode") != "inference" and not settings.get("frozen") and settings.get("optimizer") in ("adam", "adamw", "lamb", "adamw_8bit", "adafactor", "lion")
    if trains and settings.get("execution") != "graph":
        settings["offload"] = "optimizer"
    if trains and model["sequence"] and settings.get("schedule") != "zero-bubble" and dice.random() < 1 / 4:
        settings["lora"] = dice.choice([4, 64])
    if settings.get("precision") in HALF_OF[machine]:
        settings["precision"] = "fp16"
    if "pp" in settings:
        settings["global_batch"] = settings["micro_batch"] * settings["dp"] * dice.choice([1, 4])
    return model["name"], machine, settings


def by_options(asked):
    model, machine, settings = asked
    words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    code, out, err = run("predict", model, "--on", machine, "-q", "-f", "json", *words)
    return json.loads(out)["values"]["step.median_s"] if code in (0, 1) else err  # 1: it does not fit into memory


def by_rows(questions):
    """All of them in one table; a row's ranks are its product. An empty cell says nothing."""
    keys = ["micro_batch", "global_batch", "dp", "tp", "pp", "cp", "vpp", "schedule", "zero_stage", "zero_group", "offload", "lora", *FIELDS]
    text = io.StringIO()
    table = csv.DictWriter(text, ["model", "machine", "n_gpu", "framework", *keys])
    table.writeheader()
    for model, machine, settings in questions:
        full = {"dp": 1, "tp": 1, "pp": 1, "cp": 1, "zero_stage": 0, "zero_group": 0, **settings}
        table.writerow({"model": model, "machine": machine, "framework": "pytorch",
                        "n_gpu": full["dp"] * full["tp"] * full["pp"] * full["cp"],
                        "global_batch": full["micro_batch"] * full["dp"], **full})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "questions.csv"
        path.write_text(text.getvalue())
        code, out, err = run("predict", "--rows", str(path), "--kind", "step", "-f", "csv")
    assert code == (1 if "Does not fit: " in err else 0), err
    return [(row["predicted"], row["status"]) for row in csv.DictReader(io.StringIO(out))]


def by_own_row(asked):
    """In a table that has a column for what is said and no other, so that both doors' defaults count."""
    model, machine, settings = asked
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "question.csv"
        with open(path, "w", newline="") as file:
            csv.writer(file).writerows([["model", "machine", *settings], [model, machine, *settings.values()]])
        _, out, err = run("predict", "--rows", str(path), "--kind", "step", "-f", "csv")
    row = next(csv.DictReader(io.StringIO(out)), {"predicted": "", "status": err})
    return row["predicted"], row["status"]


def check_defaults(dice, models):
    """Half of what a question says left away, in several frameworks: device counts, batches, precision follow by one rule."""
    questions = []
    for model in dice.sample(models, max(3, len(models) // 8)):
        name, machine, settings = question(model, dice)
        settings = {key: value for key, value in settings.items() if dice.random() < 1 / 2}
        framework = dice.choice(["pytorch", "megatron", "deepspeed", "torchtitan"])
        questions.append((name, machine, {"framework": framework, **settings}))
    with ThreadPoolExecutor(2) as pool:
        answers = list(zip(questions, pool.map(by_options, questions), pool.map(by_own_row, questions)))
    for asked, one, (predicted, status) in answers:
        if isinstance(one, float):
            expect(predicted and float(predicted) == one, "a row that says little and options differ", asked, one, predicted, status)
        elif predicted:  # tables say of all rows what means nothing in some
            expect("no effect" in status or "is no multiple" in one, "a row answers what options refuse", asked, one, status)


def check_selective():
    """What torchtitan recomputes selectively costs by every door, less than recomputing all."""
    times = []
    for kind in ("none", "selective", "full"):
        asked = ("qwen3-0.6b", "hgx-a100-80", {"framework": "torchtitan", "micro_batch": 4, "dp": 8, "recompute": kind})
        times.append(by_options(asked))
        expect(float(by_own_row(asked)[0]) == times[-1], "rows and options recompute alike", asked)
    expect(times == sorted(set(times)), "more is recomputed, and it takes longer", times)


def check_exchanges(dice):
    """A row about an exchange and options, which name the newest library or none."""
    table, asked = ["system,collective,nodes,gpus,bytes,library"], []
    for _ in range(24):
        machine, nodes = dice.choice(sorted(MACHINES)), dice.choice([1, 2])
        machine, nodes = (machine, 1) if machine == "dgx-1-v100" else (machine, nodes)
        collective, size = dice.choice(["allreduce", "allgather", "alltoall", "broadcast"]), dice.choice([8, 1000, 1 << 20, 1 << 28])
        library, words = dice.choice([("NCCL 2.30", ["--library", "nccl-2.30"]), ("nccl", ["--library", "nccl"]), ("", []), ("NCCL 2.4.8", ["--library", "nccl-2.4"]),
                                       ("2.7.8", ["--library", "nccl-2.7"]), ("NCCL 2.18.3", ["--library", "nccl-2.18"])])
        table.append(f"{machine},{collective},{nodes},{8 * nodes},{size},{library}")
        code, out, err = run("predict", "--kind", "exchange", "--on", f"{machine}*{nodes}", "--collective", collective, "--bytes", str(size),
                             *words, "-q", "-f", "csv")
        asked.append(float(next(csv.DictReader(io.StringIO(out)))["time_us"]) if code == 0 else err)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "exchanges.csv"
        path.write_text("\n".join(table) + "\n")
        _, out, err = run("predict", "--rows", str(path), "--kind", "exchange", "-f", "csv")
    for line, us, row in zip(table[1:], asked, csv.DictReader(io.StringIO(out))):
        if isinstance(us, str):  # a version older than the device
            expect("does not know the devices" in us and "does not know the devices" in row["status"] and not row["predicted"], "refused by both", line, us, row)
            continue
        expect(abs(float(row["predicted"]) * 1e6 / us - 1) < 1e-15, "rows and options differ", line, us, row)


def by_workers(asked):
    """A number of workers words dp; its table has nanoseconds."""
    model, machine, settings = asked
    words = [word for key, value in settings.items() if key not in ("dp", "micro_batch")
             for word in ("--set", f"{key}={value}")]
    code, out, err = run("predict", model, "--on", machine, "-q", "-f", "json", "--workers", str(settings.get("dp", 1)), "--batch",
                         str(settings["micro_batch"]), *words)
    return json.loads(out)["points"][0]["step_ns"] if code in (0, 1) else err


def by_python(questions):
    os.environ["PACELINE_LIBRARY"] = str(LIBRARY)
    sys.path.insert(0, str(Path(os.environ["PACELINE_SOURCE"]) / "python"))
    import paceline

    for model, machine, settings in questions:
        try:
            yield paceline.predict(model, on=machine, set=settings)["step.median_s"]
        except paceline.PacelineError as error:
            yield str(error)


def main():
    dice = random.Random(11)
    questions = [question(model, dice) for model in models()[::EVERY]]
    with ThreadPoolExecutor(2) as pool:
        options = list(pool.map(by_options, questions))
    rows = by_rows(questions)
    answered = 0
    for asked, one, (predicted, status) in zip(questions, options, rows):
        if isinstance(one, str):  # refused: by both doors
            expect("self-check" not in one, "walk and closed form contradict each other", asked, one)
            left_out = any(words in one and words in status for words in ("has no effect", "execution graph"))  # a table says it of all its rows
            expect(predicted == "" or left_out, "a row answers what options refuse", asked, one, predicted, status)
            continue
        answered += 1
        expect(predicted and float(predicted) == one, "rows and options differ", asked, one, predicted, status)
    expect(answered > 0.8 * len(questions), "most questions have an answer", answered, len(questions))
    plain = [(asked, one) for asked, one in zip(questions, options) 
             if not {"tp", "pp", "cp", "zero_stage"} & set(asked[2]) and asked[2].get("mode") != "inference"][::2]
    with ThreadPoolExecutor(2) as pool:
        for (asked, one), ns in zip(plain, pool.map(by_workers, [asked for asked, _ in plain])):
            expect(isinstance(ns, str) if isinstance(one, str) else ns == round(one * 1e9), "workers and options differ", asked, one, ns)
    if LIBRARY.exists():
        few = list(zip(questions, options))[::4]
        for (asked, one), other in zip(few, by_python([asked for asked, _ in few])):
            expect(isinstance(one, str) == isinstance(other, str) and (isinstance(one, str) or one == other),
                   "Python and options differ", asked, one, other)
    check_selective()
    check_defaults(dice, models()[::EVERY])
    check_exchanges(dice)
    print(f"{answered} of {len(questions)} questions answered; Python {'too' if LIBRARY.exists() else 'has no library here'}")
    return finish()


if __name__ == "__main__":
    sys.exit(main())
