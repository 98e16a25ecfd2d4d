"""Any figure of the catalogue that changes moves every door to the same new number: options, rows, a number of workers,
plan, Python, C. Each is changed alone, in a copy of its file that PACELINE_CATALOG names: a default, rates and prices, and with
CATALOG_MUTATIONS=all figures that are drawn at random.

Four times MUTATIONS are drawn, by SEED; those that move an answer, and some others, are asked by every door."""
import csv
import io
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from outside import BUILD, SOURCE, expect, finish, output

PACELINE = os.environ["PACELINE"]
CATALOG = Path(SOURCE) / "catalog"
MUTATIONS, SEED = int(os.environ.get("MUTATIONS", 40)), int(os.environ.get("SEED", 11))
# Figures of these entries alone are drawn where a file has many that no question below asks for.
ENTRIES = {"devices.yaml": ("v100-sxm2-16", "a100-80-sxm", "h100-80-sxm"), "machines.yaml": ("dgx-1-v100", "hgx-a100-80", "dgx-h100")}
FILES = ["algorithms", "approaches", "costs", "devices", "doubts", "frameworks", "jobs", "machines", "nccl", "steps", "models/resnet",
         "models/bert", "models/dlrm", "models/llama"]
CHANGES = [  # file, text, its replacement: a default, a rate or a price; each text stands there once or means the same wherever it stands
    ("approaches.yaml", "jitter: 0.05", "jitter: 0.02"),
    ("approaches.yaml", "library: nccl, fuses_bytes: 26214400, waits: 1}", "library: nccl, fuses_bytes: 26214400, waits: 1, skew: 0.2}"),
    ("steps.yaml", "recompute: none, precision: fp32, layout: nchw, pixels_as_laid: 1, launch_us: 0", "recompute: none, precision: fp16, layout: nchw, pixels_as_laid: 1, launch_us: 0"),
    ("devices.yaml", "memory_bytes_per_s: 9e11\n    achievable_bytes_per_s: {value: 8.17e11", "memory_bytes_per_s: 9e11\n    achievable_bytes_per_s: {value: 4.0e11"),
    ("frameworks.yaml", "{mode: eager, type: t1, mean_us: 7.7,", "{mode: eager, type: t1, mean_us: 17.7,"),
    ("costs.yaml", "compute: 0.88, memory: 0.80, fixed_s: 4e-6", "compute: 0.44, memory: 0.40, fixed_s: 4e-5"),
]
NUMBER = re.compile(r"(?<=[\s\[{,])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?=[\s,\]}]|$)")

STEPS = [("resnet50", "dgx-1-v100", {"dp": 8, "micro_batch": 16}),
         ("bert_large", "hgx-a100-80", {"dp": 8, "micro_batch": 8, "zero_stage": 1}),
         ("dlrm_default", "dgx-h100", {"dp": 4, "ep": 4, "micro_batch": 512}),
         ("llama3_8b", "dgx-h100", {"dp": 2, "tp": 2, "pp": 2, "vpp": 1, "precision": "bf16", "micro_batch": 1, "global_batch": 8, "framework": "megatron"})]
EXCHANGES = [("dgx-1-v100", 1, 8, "allreduce", 1 << 20), ("dgx-h100", 2, 16, "allreduce", 1 << 28),
             ("hgx-a100-80", 2, 16, "alltoall", 65536)]
JOBS = [("pai-2018", {"architecture": "ps_worker", "cnodes": 8, "flop": 330.7e9, "memory_access_bytes": 25.79e9, "input_bytes": 1.2e6,
                      "weight_traffic_bytes": 3e9}),
        ("pai-v100", {"architecture": "allreduce_local", "cnodes": 8, "flop": 1.56e12, "memory_access_bytes": 31.9e9,
                      "input_bytes": 38e6, "weight_traffic_bytes": 357e6})]


# --- figures of the catalogue -----------------------------------------------------------------------------------------------

def entry_of(lines, number):
    """The name in the list item that a line belongs to, of a file that is one list of entries."""
    for line in reversed(lines[:number + 1]):
        if found := re.match(r"  - (?:\{)?name: ([\w.+-]+)", line):
            return found.group(1)
    return None


def figures(name):
    """Where a file has numbers: line, first and last character. What stands in quotes or behind '#' is none."""
    lines = (CATALOG / name).read_text().split("\n")
    for number, line in enumerate(lines):
        plain = re.sub(r'"[^"]*"', lambda quoted: '"' * len(quoted.group()), line)
        plain = re.sub(r"(^|\s)#.*", "", plain)
        if name in ENTRIES and entry_of(lines, number) not in ENTRIES[name]:
            continue
        for found in NUMBER.finditer(plain):
            yield number, found.start(), found.end()


def other_number(text, dice):
    if re.fullmatch(r"-?\d+", text):
        value = int(text)
        return str(dice.choice([value + 1, max(value - 1, 0), 2 * value]))
    return repr(float(text) * dice.choice([0.5, 0.8, 0.97, 1.1, 1.5]))


def mutate(folder, name, place, dice):
    """Writes the file with one other figure; says what has changed."""
    lines = (CATALOG / name).read_text().split("\n")
    number, start, end = place
    old, new = lines[number][start:end], other_number(lines[number][start:end], dice)
    lines[number] = lines[number][:start] + new + lines[number][end:]
    (Path(folder) / name).parent.mkdir(exist_ok=True)
    (Path(folder) / name).write_text("\n".join(lines))
    return f"{name}:{number + 1}: {old} -> {new}, {lines[number].strip()[:90]}"


# --- doors: each gives a list of (median, low, high) in seconds, or a text where it refuses ----------------------------------

def run(folder, *words):
    environment = dict(os.environ, **({"PACELINE_CATALOG": folder} if folder else {}))
    done = subprocess.run([PACELINE, *words, "-q"], capture_output=True, text=True, env=environment)
    expect(done.returncode in (0, 1, 2, 3), "crashed", words, folder, done.returncode, done.stderr)
    return done.stdout if done.returncode in (0, 1) and done.stdout else None, done.stderr


def words_of(settings):
    return [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]


def step_of_options(folder, model, machine, settings):
    out, err = run(folder, "predict", model, "--on", machine, "-f", "json", *words_of(settings))
    values = json.loads(out)["values"] if out else {}
    return tuple(values[f"step.{part}_s"] for part in ("median", "low", "high")) if values else err


def exchange_of_options(folder, machine, nodes, _, collective, size):
    out, err = run(folder, "predict", "--kind", "exchange", "--on", f"{machine}*{nodes}", "--collective", collective, "--bytes",
                   str(size), "-f", "json")
    point = json.loads(out)["sizes"][0] if out else {}
    return tuple(point[key] / 1e6 for key in ("time_us", "low_us", "high_us")) if point else err


def job_of_options(folder, machine, job):
    out, err = run(folder, "predict", "--job", ",".join(f"{key}={value}" for key, value in job.items()), "--on", machine, "-f", "json")
    return tuple(json.loads(out)[key] for key in ("step_s", "low_s", "high_s")) if out else err


def by_options(folder):
    asked = [(step_of_options, *one) for one in STEPS] + [(exchange_of_options, *one) for one in EXCHANGES]
    asked += [(job_of_options, *one) for one in JOBS]
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda one: one[0](folder, *one[1:]), asked))


def write_table(path, rows):
    with open(path, "w", newline="") as file:
        table = csv.DictWriter(file, list(dict.fromkeys(key for row in rows for key in row)))
        table.writeheader()
        table.writerows(rows)
    return path


def write_tables(folder):
    """The same questions as rows: a table for each kind, of jobs one for each machine."""
    steps = [{"model": model, "machine": machine, "framework": "pytorch",
              "n_gpu": settings["dp"] * settings.get("tp", 1) * settings.get("pp", 1),
              "global_batch": settings["dp"] * settings["micro_batch"], **settings} for model, machine, settings in STEPS]
    exchanges = [dict(zip(("system", "nodes", "gpus", "collective", "bytes"), one)) for one in EXCHANGES]
    tables = [("step", write_table(os.path.join(folder, "steps.csv"), steps), ()),
              ("exchange", write_table(os.path.join(folder, "exchanges.csv"), exchanges), ())]
    for i, (machine, job) in enumerate(JOBS):
        tables.append(("job", write_table(os.path.join(folder, f"jobs{i}.csv"), [{"job": "one", **job}]), ("--on", machine)))
    return tables


def by_rows(folder, tables):
    answers = []
    for kind, path, how in tables:
        out, err = run(folder, "predict", "--rows", path, "--kind", kind, "-f", "csv", *how)
        with open(path) as file:
            asked = len(list(csv.DictReader(file)))
        rows = list(csv.DictReader(io.StringIO(out))) if out else [{"predicted": "", "status": err}] * asked
        answers += [tuple(float(row[key]) for key in ("predicted", "low", "high")) if row["predicted"] else row["status"] for row in rows]
    return answers


def by_workers(folder):
    """Steps that a number of workers words, in whole nanoseconds; None for the others."""
    answers = []
    for model, machine, settings in STEPS:
        if settings.keys() != {"dp", "micro_batch"}:
            answers.append(None)
            continue
        out, err = run(folder, "predict", model, "--on", machine, "--workers", str(settings["dp"]), "--batch",
                       str(settings["micro_batch"]), "-f", "json")
        answers.append(tuple(json.loads(out)["points"][0][f"{part}_ns"] for part in ("step", "low", "high")) if out else err)
    return answers


def by_plan(folder):
    """Steps of models with sequences, every setting fixed; None for the others. A plan may refuse what does not fit."""
    for model, machine, settings in STEPS:
        if model not in ("bert_large", "llama3_8b"):
            yield None
            continue
        full = {"tp": 1, "pp": 1, "cp": 1, "zero_stage": 0, "recompute": "none", "vpp": 1, "sequence_parallel": 0, "precision": "fp32", "offload": "none",
                "global_batch": settings["dp"] * settings["micro_batch"], **settings}
        out, err = run(folder, "plan", model, "--on", machine, "-f", "json", *words_of(full))
        told, said = run(folder, "predict", model, "--on", machine, "-f", "json", *words_of(full))
        found = json.loads(out)["configurations"] if out else []
        values = json.loads(told)["values"] if told else {}
        yield ((found[0]["step_s"], found[0]["low_ns"], found[0]["high_ns"]) if found else err,
               tuple(values[f"step.{part}_s"] for part in ("median", "low", "high")) if values else said)


def by_python(folder):
    sys.path.insert(0, str(Path(SOURCE) / "python"))
    os.environ["PACELINE_LIBRARY"] = str(Path(BUILD) / "libpaceline.so")
    if folder:
        os.environ["PACELINE_CATALOG"] = folder
    import paceline
    try:
        context = paceline.Context()
        for model, machine, settings in STEPS:
            yield ask_python(lambda: context.predict(model, on=machine, set=settings),
                             lambda a: tuple(a[f"step.{part}_s"] for part in ("median", "low", "high")))
        for machine, nodes, _, collective, size in EXCHANGES:
            yield ask_python(lambda: context.predict(kind="exchange", on=f"{machine}*{nodes}", collective=collective, bytes=str(size)),
                             lambda a: tuple(a.tables["sizes"][key][0] / 1e6 for key in ("time_us", "low_us", "high_us")))
        for machine, job in JOBS:
            yield ask_python(lambda: context.predict(job=",".join(f"{key}={value}" for key, value in job.items()), on=machine),
                             lambda a: tuple(a[key] for key in ("step_s", "low_s", "high_s")))
    finally:
        os.environ.pop("PACELINE_CATALOG", None)


def ask_python(ask, read):
    import paceline
    try:
        return read(ask())
    except paceline.PacelineError as error:
        return str(error)


def by_c(folder, program):
    lines = []
    for model, machine, settings in STEPS:
        lines.append(["predict", "step.median_s", "step.low_s", "step.high_s", model, f"on={machine}",
                      *(f"set={key}={value}" for key, value in settings.items())])
    for machine, nodes, _, collective, size in EXCHANGES:
        lines.append(["predict", "@time_us", "@low_us", "@high_us", "kind=exchange", f"on={machine}*{nodes}", f"collective={collective}",
                      f"bytes={size}"])
    for machine, job in JOBS:
        lines.append(["predict", "step_s", "low_s", "high_s", "job=" + ",".join(f"{key}={value}" for key, value in job.items()),
                      f"on={machine}"])
    environment = dict(os.environ, LD_LIBRARY_PATH=BUILD, **({"PACELINE_CATALOG": folder} if folder else {}))
    done = subprocess.run([program], input="".join("\t".join(line) + "\n" for line in lines), capture_output=True, text=True,
                          env=environment)
    if done.returncode:
        return [done.stderr] * len(lines)
    answers = [line if line.startswith("error") else tuple(float(word) for word in line.split()) for line in done.stdout.splitlines()]
    first = len(STEPS)
    return [tuple(x / 1e6 for x in one) if first <= i < first + len(EXCHANGES) and isinstance(one, tuple) else one
            for i, one in enumerate(answers)]


# --- the check ---------------------------------------------------------------------------------------------------------------

def same(one, other):
    if isinstance(one, str) or isinstance(other, str):
        return isinstance(one, str) and isinstance(other, str)
    return all(abs(a / b - 1) < 1e-15 if b else a == b for a, b in zip(one, other))


def check(folder, tables, program, what):
    """Asks every door; gives what options say."""
    options = by_options(folder)
    for door, answers in (("rows", by_rows(folder, tables)), ("Python", list(by_python(folder))), ("C", by_c(folder, program))):
        expect(len(answers) == len(options), "a door answers all questions", door, what, answers)
        for asked, one, other in zip([*STEPS, *EXCHANGES, *JOBS], options, answers):
            expect(same(one, other), f"options and {door} differ", what, asked, one, other)
    for asked, one, other in zip(STEPS, options, by_workers(folder)):
        if other is not None:
            whole = one if isinstance(one, str) else (round(one[0] * 1e9), math.floor(one[1] * 1e9), math.ceil(one[2] * 1e9))
            expect(isinstance(one, str) == isinstance(other, str) and (isinstance(one, str) or whole == other),
                   "options and workers differ", what, asked, one, other)
    for asked, both in zip(STEPS, by_plan(folder)):
        if both is not None:
            plan, one = both
            expect(folder or not isinstance(plan, str), "plan answers", asked, plan)
            expect(isinstance(plan, str) or (not isinstance(one, str) and
                                             plan == (one[0], math.floor(one[1] * 1e9), math.ceil(one[2] * 1e9))),
                   "predict and plan differ", what, asked, one, plan)
    return options


def check_changes(tables, program, plain):
    """What stands for all machines moves two of them at least."""
    for name, text, other in CHANGES:
        original = (CATALOG / name).read_text()
        expect(text in original, "the catalogue has what is changed", name, text)
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / name).write_text(original.replace(text, other))
            answers = check(folder, tables, program, (name, other))
        moved = {asked[1] for asked, one, before in zip(STEPS, answers, plain) if one != before}
        expect(len(moved) > (name != "devices.yaml"), "a change moves answers", name, other, moved)


def draw(tables, program, plain):
    dice = random.Random(SEED)
    first, moved, refused, asked = by_c(None, program), 0, 0, 0
    for i in range(4 * MUTATIONS):
        name = FILES[i % len(FILES)] + ".yaml"
        with tempfile.TemporaryDirectory() as folder:
            what = mutate(folder, name, dice.choice(list(figures(name))), dice)
            if by_c(folder, program) == first and i % 8:  # one in eight of those that move nothing is asked everywhere, too
                continue
            answers = check(folder, tables, program, what)
        asked += 1
        moved += any(isinstance(one, tuple) and one != other for one, other in zip(answers, plain))
        refused += any(isinstance(one, str) for one in answers)
    print(f"{4 * MUTATIONS} figures, {asked} asked by every door: {moved} moved an answer, {refused} were refused")
    expect(moved >= MUTATIONS / 5, "changes move answers", moved, MUTATIONS)


def main():
    with tempfile.TemporaryDirectory() as place:
        program, tables = os.path.join(place, "ask"), write_tables(place)
        output("cc", "-std=gnu11", "-I", os.path.join(SOURCE, "include"), os.path.join(SOURCE, "tests", "library", "doors", "ask.c"),
               "-o", program, os.path.join(BUILD, "libpaceline.so"))
        plain = check(None, tables, program, "as it is")
        expect(all(isinstance(one, tuple) for one in plain), "every question has an answer", plain)
        check_changes(tables, program, plain)
        if os.environ.get("CATALOG_MUTATIONS") == "all":
            draw(tables, program, plain)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
