"""One question has one answer, to the last bit, by whatever door it is asked: options, a row of a table, a number of
workers, a program in C, Python. A slice of all that tests/all/test_one_road.py asks: every model of the catalogue, each on one
of three machines with one way to share its work, so that all machines and ways come (SLICE draws another), and, one in three,
with each other field of a configuration; and questions that say as little as they can."""
import csv
import io
import os
import random
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from checks import expect, finish
from doors import LIBRARY, by_c, by_options, by_own_row, by_python, by_rows, by_workers, can_be_workers, models, run, same, same_ns

SLICE = int(os.environ.get("SLICE", 11))
MACHINES = ["dgx-1-v100", "hgx-a100-80", "dgx-h100"]
HALF_OF = {"dgx-1-v100": ["tf32", "bf16", "amp_bf16", "fp8"], "hgx-a100-80": ["fp8"], "dgx-h100": []}  # what devices lack
FIELDS = {
    "mode": ["inference", "training"], "precision": ["fp32", "tf32", "fp16", "bf16", "amp", "amp_bf16", "fp8"],
    "optimizer": ["sgd", "momentum", "adam", "adamw", "lamb", "none", "adamw_8bit", "adafactor", "lion"], "update": ["foreach", "fused", "loop"],
    "execution": ["eager", "compiled", "graph"], "attention": ["fused", "math", "usual"], "input": ["synthetic", "pinned", "pageable"],
    "recompute": ["none", "selective", "full"], "keep_gradients": [0, 1], "read_loss": [0, 1], "frozen": [0, 1],
    "bucket_bytes": [1000000]}
OF_TRAINING = {"optimizer", "update", "recompute", "keep_gradients", "read_loss", "frozen", "lora", "bucket_bytes", "zero_stage", "zero_group", "offload"}
EVERY = 12 if "ASAN_OPTIONS" in os.environ else 1  # so many models are asked about under the sanitizers


def ways_of(model, dice):
    """What a model can follow: sequences can be split by tp and pp, others by data and stages."""
    ways = [{"dp": 1}, {"dp": 8}, {"dp": 2, "pp": 2}]
    if model["sequence"]:
        ways += [{"dp": 4, "tp": 2}, {"dp": 8, "zero_stage": dice.choice([1, 2, 3])}, {"dp": 2, "cp": 2},
                 {"dp": 2, "pp": 2, "vpp": 2}, {"dp": 2, "pp": 2, "schedule": dice.choice(["gpipe", "zero-bubble"])},
                 {"dp": 2, "tp": 2, "pp": 2, "zero_stage": 1}, {"dp": 8, "zero_stage": 3, "zero_group": 4}]
    return ways


def question(model, number, dice):
    """The number-th of its kind of models: each pair of a machine and a way comes as often as the others."""
    ways = ways_of(model, dice)
    machine = MACHINES[(number + SLICE) % len(MACHINES)]
    way = ways[(number // len(MACHINES) + SLICE // len(MACHINES)) % len(ways)]
    settings = {"micro_batch": dice.choice([1, 2, 8]), **way}
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


def slice_of(models, dice):
    """A question for each model, by its place among those that are split alike."""
    kinds = {bool(model["sequence"]): 0 for model in models}
    for model in models:
        yield question(model, kinds[bool(model["sequence"])], dice)
        kinds[bool(model["sequence"])] += 1


def check_defaults(dice, models):
    """Half of what a question says left away, in several frameworks: device counts, batches, precision follow by one rule."""
    questions = []
    for model in dice.sample(models, max(3, len(models) // 8)):
        name, machine, settings = question(model, dice.randrange(99), dice)
        settings = {key: value for key, value in settings.items() if dice.random() < 1 / 2}
        framework = dice.choice(["pytorch", "megatron", "deepspeed", "torchtitan"])
        questions.append((name, machine, {"framework": framework, **settings}))
    with ThreadPoolExecutor(2) as pool:
        answers = list(zip(questions, pool.map(by_options, questions), pool.map(by_own_row, questions)))
    for asked, one, (predicted, status) in answers:
        if isinstance(one, float):
            expect(predicted == one, "a row that says little and options differ", asked, one, predicted, status)
        elif predicted:  # tables say of all rows what means nothing in some
            expect("no effect" in status or "is no multiple" in one, "a row answers what options refuse", asked, one, status)


def check_selective():
    """What torchtitan recomputes selectively costs by every door, less than recomputing all."""
    times = []
    for kind in ("none", "selective", "full"):
        asked = ("qwen3-0.6b", "hgx-a100-80", {"framework": "torchtitan", "micro_batch": 4, "dp": 8, "recompute": kind})
        times.append(by_options(asked))
        expect(by_own_row(asked)[0] == times[-1], "rows and options recompute alike", asked)
    expect(times == sorted(set(times)), "more is recomputed, and it takes longer", times)


def again_by_name():
    """Questions of modules and of layers that run again, where operators are walked and where passes are priced."""
    return [(model, machine, {"framework": framework, "micro_batch": 1, "dp": 8, **again})
            for model, machine in (("qwen3-0.6b", "hgx-a100-80"), ("deepseek-v2-lite", "dgx-h100")) for framework in ("pytorch", "megatron-core")
            for again in ({"recompute": "selective"}, {"recompute": "selective", "recompute_modules": "layernorm+core_attn"}, {"recompute": "full", "recompute_layers": 3})]


def check_again(asked, options):
    for one, seconds in zip(asked, options):
        predicted, status = by_own_row(one)
        expect(predicted == seconds if isinstance(seconds, float) else "no effect" in status, "rows and options run alike again", one, seconds, predicted, status)


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


def check_rows(questions, options):
    """Returns how many were answered."""
    answered = 0
    for asked, one, (predicted, status) in zip(questions, options, by_rows(questions)):
        if isinstance(one, str):  # refused: by both doors
            expect("self-check" not in one, "walk and closed form contradict each other", asked, one)
            left_out = any(words in one and words in status for words in ("has no effect", "execution graph"))  # a table says it of all its rows
            expect(predicted is None or left_out, "a row answers what options refuse", asked, one, predicted, status)
            continue
        answered += 1
        expect(predicted == one, "rows and options differ", asked, one, predicted, status)
    return answered


def main():
    dice = random.Random(SLICE)
    questions = list(slice_of(models()[::EVERY], dice))
    with ThreadPoolExecutor(2) as pool:
        options = list(pool.map(by_options, questions))
    answered = check_rows(questions, options)
    expect(answered > 0.8 * len(questions), "most questions have an answer", answered, len(questions))
    expect({machine for _, machine, _ in questions} == set(MACHINES), "all machines", questions)
    plain = [(asked, one) for asked, one in zip(questions, options) if can_be_workers(asked[2])]
    with ThreadPoolExecutor(2) as pool:
        for (asked, one), ns in zip(plain, pool.map(by_workers, [asked for asked, _ in plain])):
            expect(same_ns(one, ns), "workers and options differ", asked, one, ns)
    again = again_by_name()
    told = [by_options(asked) for asked in again]
    check_again(again, told)
    for door, every in ((by_c, 1), (by_python, 4)) if LIBRARY.exists() else ():
        wanted, known = questions[::every] + again, options[::every] + told
        answers = list(door(wanted))
        expect(len(answers) == len(wanted), "a door answers all questions", door.__name__, len(answers))
        for asked, one, other in zip(wanted, known, answers):
            expect(same(one, other), door.__name__, "and options differ", asked, one, other)
    check_selective()
    check_defaults(dice, models()[::EVERY])
    check_exchanges(dice)
    print(f"{answered} of {len(questions)} questions answered; C and Python {'too' if LIBRARY.exists() else 'have no library here'}")
    return finish()


if __name__ == "__main__":
    sys.exit(main())
