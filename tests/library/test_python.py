"""The Python module: structs as the compiler lays them out, the same answers as the command line, values and columns as JSON has
them, threads, errors, memory, and the examples of docs/python.md and README.md."""
import array
import doctest
import gc
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import threading

SOURCE, BUILD, PACELINE = (os.environ[name] for name in ("PACELINE_SOURCE", "PACELINE_BUILD", "PACELINE"))
os.environ["PACELINE_LIBRARY"] = os.path.join(BUILD, "libpaceline.so.1")
sys.path[:0] = [os.path.join(SOURCE, "python"), os.path.join(SOURCE, "tests", "golden")]
import paceline as pl  # noqa: E402
from checks import expect, finish  # noqa: E402
from paceline._library import header  # noqa: E402

DEMO = os.path.join("tests", "data", "demo.json.gz")
JOBS = os.path.join("tests", "data", "jobs_resnet50.csv")
ROWS = os.path.join("catalog", "calibrations", "epyc-zen5-1t.csv")


def refused(error, wanted, ask):
    """That `ask` raises this error, with a message that has the wanted words."""
    try:
        ask()
        expect(False, error.__name__, "was not raised:", wanted)
    except error as raised:
        expect(wanted in str(raised), "expected", wanted, "in", raised)


# --- structs

def test_layouts():
    """Every struct has the compiler's size and offsets."""
    names = [name for name in header.structs if name != "pace_processes"]
    lines = [f'printf("{name} %zu", sizeof({name}));' + "".join(
        f'printf(" %zu", offsetof({name}, {field.name}));' for field in header.structs[name]) + 'puts("");' for name in names]
    program = ('#include <stdio.h>\n#include "paceline/paceline.h"\n#include "paceline/calibrate.h"\n#include "paceline/train.h"\nint main(void) {\n'
               + "\n".join(lines) + "\nreturn 0;\n}\n")
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, "layouts")
        subprocess.run(["cc", "-I", os.path.join(SOURCE, "include"), "-x", "c", "-", "-o", made], input=program, text=True, check=True)
        compiled = subprocess.run([made], capture_output=True, text=True, check=True).stdout.splitlines()
    import ctypes
    for line, name in zip(compiled, names):
        struct = header.type(name)
        mine = [ctypes.sizeof(struct), *(getattr(struct, field.name).offset for field in header.structs[name])]
        expect(line.split() == [name, *map(str, mine)], name, "is laid out as", line, "and not", mine)
    expect(len(compiled) == len(names) > 10, len(compiled), "structs")


def test_sizes():
    """A struct that a caller makes and hands over says its size first, so that later versions may add members at its end."""
    taken = {parameter.type.replace("const ", "").rstrip(" *") for _, parameters in header.functions.values() for parameter in parameters}
    made = sorted(taken & set(header.structs))
    for name in made:
        expect(header.structs[name][0].name == "size", name, "begins with", header.structs[name][0].name)
    expect("pace_write_options" in made, made)


# --- the same answer as the command line's

def command_line(*words):
    done = subprocess.run([PACELINE, *words, "--format", "json", "--quiet"], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode in (0, 1) else sys.exit(f"{words}: {done.stderr}")


def flattened(value, path, values, tables):
    """JSON as paths: an array of objects without members of their own is a table."""
    if isinstance(value, dict):
        for key, member in value.items():
            flattened(member, f"{path}.{key}" if path else key, values, tables)
    elif isinstance(value, list):
        tables[path] = value
    else:
        values[path] = value


def same(a, b):
    return a == b or (a is None and isinstance(b, float) and math.isnan(b))


def check_holds(answer, document):
    """Every value and every cell of the document is in the answer."""
    values, tables = {}, {}
    own = ("schema", "paceline", "command", "inputs", "summary", "notes", "warnings")
    flattened({key: value for key, value in document.items() if key not in own}, "", values, tables)
    for path, value in values.items():
        expect(path in answer and same(value, answer[path]), path, "is", value, "and not", answer.values.get(path))
    cells = 0
    for path, rows in tables.items():
        table = answer.tables.get(path)
        if table is None:  # a list: its items are values of their own
            expect(not rows or any(name.startswith(path + ".") for name in [*answer.values, *answer.tables]), "no table", path)
            continue
        expect(table.row_count == len(rows), path, "has", len(rows), "rows and not", table.row_count)
        for number, row in enumerate(rows):
            for name, cell in row.items():
                expect(same(cell, table[name][number]), path, number, name, cell, table[name][number])
                cells += 1
    return len(values), cells


def without_command(document):
    return {key: value for key, value in document.items() if key != "command"}


def words_of(inputs, options):
    """The command line that says the same."""
    said = list(inputs)
    for name, value in options.items():
        items = [f"{key}={one}" for key, one in value.items()] if isinstance(value, dict) else value if isinstance(value, list) else [value]
        for item in items:
            said += [f"--{name.replace('_', '-')}"] + ([] if item is True else [str(item)])
    return said


def test_verbs():
    """Every verb, beside the command line."""
    exchange = dict(kind="exchange", on="dgx-h100", collective="allreduce", bytes="1M,16M")
    job = "architecture=ps_worker,cnodes=16,flop=106G,weight_traffic_bytes=122MB"
    questions = [
        ("analyze", [DEMO], {}),
        ("compare", [DEMO, DEMO], {}),
        ("predict", [DEMO], {"on": ["a100-40-sxm", "h100-80-sxm"]}),
        ("predict", [DEMO], {"on": "h100-80-sxm", "graph": True, "drop_overhead": ["t1", "t4"]}),
        ("predict", ["gpt2"], {"on": "dgx-h100*2", "set": {"dp": 16, "precision": "bf16"}}),
        ("predict", ["resnet50"], {"on": "dgx-1-v100", "workers": "1..8", "batch": 64, "strong": True}),
        ("plan", ["gpt2"], {"on": "dgx-h100", "set": {"global_batch": 64}, "tokens": "1G", "price": 2}),
        ("predict", [], {"rows": ROWS}),
        ("predict", [], {"job": job}),
        ("predict", [], exchange),
        ("predict", [], {"simulate": True, **exchange}),
        ("fleet", [JOBS], {"overlap": "ideal"}),
        ("fit", [ROWS], {}),
        ("calibrate", [], {"list": True}),
        ("machines", [], {}),
        ("tune", [], {"on": "dgx-h100*2", "collective": "allreduce,allgather", "bytes": "1K..64M"}),
        ("machines", ["h100-80-sxm"], {}),
        ("models", [], {}),
        ("models", ["bert_large"], {"set": {"sequence": 512}}),
    ]
    values = cells = 0
    for verb, inputs, options in questions:
        document = json.loads(getattr(pl, verb)(*inputs, **options).json())
        words = [verb, *words_of(inputs, options)]
        if verb != "calibrate":  # its list depends on the memory that is free
            expect(without_command(document) == without_command(command_line(*words)), words, "answers otherwise")
        more_values, more_cells = check_holds(getattr(pl, verb)(*inputs, **options), document)
        values, cells = values + more_values, cells + more_cells
    expect(values > 500 and cells > 10000, values, "values", cells, "cells")
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "lenet.et")
        document = json.loads(pl.convert("lenet", output=trace).json())
        expect(without_command(document) == without_command(command_line("convert", "lenet", "-o", trace)), "convert answers otherwise")
        small = os.path.join(folder, "small.json")
        document = json.loads(pl.slice(DEMO, steps="7", output=small).json())
        expect(without_command(document) == without_command(command_line("slice", DEMO, "--steps", "7", "-o", small)), "slice answers otherwise")
        results = os.path.join(folder, "results.sqlite")
        pl.analyze(DEMO, store=results, label="first")
        document = json.loads(pl.history(results).json())
        expect(without_command(document) == without_command(command_line("history", results)), "history answers otherwise")
    refused(pl.FileError, "nowhere", lambda: pl.validate(data="/nowhere", cases="/nowhere/cases.yaml"))
    refused(pl.MissingError, "nosuch", lambda: pl.train("nosuch"))
    refused(pl.UsageError, "no field of a question", lambda: pl.predict("gpt2", on="t4", format="json"))
    refused(pl.UsageError, 'mean "from"', lambda: pl.predict("gpt2", frum=1))
    asked = {"convert", "history", "slice", "train", "validate", *(verb for verb, _, _ in questions)}
    expect(set(pl._question.VERBS) == asked, "not asked here:", set(pl._question.VERBS) - asked)


# --- columns

def test_columns():
    answer = pl.predict(DEMO, on=["a100-40-sxm", "h100-80-sxm"])
    table = answer.tables["scenarios"]
    steps, speedups, names = table["step_ns"], table["speedup"], table["scenario"]
    expect(steps.data.format == "q" and steps.data.tolist() == list(steps), "integers", steps)
    expect(speedups.data.format == "d" and array.array("d", speedups.data).tolist() == list(speedups), "reals", speedups)
    expect(names.data is None and names[2] == "on h100-80-sxm" and len(names) == 3, "text", names)
    expect(table.rows()[1]["step_ns"] == steps[1] == answer.tables["scenarios"]["step_ns"][1], "rows")
    expect(isinstance(answer["matrix.forward.compute_bound_ns"], int), "cells of a matrix are values")
    refused(KeyError, "step_ns", lambda: table["step"])
    refused(KeyError, "step.walked_ns", lambda: answer["step.walked"])
    refused(KeyError, "scenarios", lambda: answer.to_frame("scenario"))
    test_arrays(answer, steps, names)


def test_arrays(answer, steps, names):
    """NumPy and pandas, where they are installed; what they are given is tested without them above."""
    try:
        import numpy
        made = numpy.asarray(steps)
        expect(made.dtype == numpy.int64 and made.tolist() == list(steps), "NumPy", made)
        expect(numpy.shares_memory(made, numpy.asarray(steps)), "NumPy copies")
        expect(numpy.asarray(names).tolist() == list(names), "NumPy text")
        import pandas
        frame = answer.to_frame("scenarios")
        expect(isinstance(frame, pandas.DataFrame) and frame["step_ns"].tolist() == list(steps), "pandas", frame)
        expect(list(frame.columns) == list(answer.tables["scenarios"]), "pandas columns")
    except ImportError as missing:
        print("not tested:", missing)


# --- errors, threads, memory, documents

def test_errors():
    refused(pl.UsageError, "precision", lambda: pl.predict("gpt2", on="h100-80-sxm", precison="bf16"))
    refused(TypeError, "true or false", lambda: pl.predict("gpt2", graph="yes"))
    refused(pl.UsageError, "expected a number", lambda: pl.predict("gpt2", on="h100-80-sxm", samples="many"))
    refused(pl.UsageError, "NUL", lambda: pl.predict("gpt2\0x", on="h100-80-sxm"))
    refused(pl.UsageError, "NUL", lambda: pl.predict("gpt2", on="h100-80-sxm\0"))
    refused(pl.MissingError, "model", lambda: pl.predict("\udcff", on="h100-80-sxm"))  # as os.listdir() gives a name of bytes
    refused(pl.UsageError, "from 0 to 1e18", lambda: pl.predict("gpt2", on="h100-80-sxm", samples=10**400))
    refused(pl.UsageError, "two traces", lambda: pl.compare(DEMO))
    refused(pl.MissingError, "nonsense", lambda: pl.predict("nonsense", on="h100-80-sxm"))
    refused(pl.MissingError, "h101", lambda: pl.predict("gpt2", on="h101-80-sxm"))
    refused(pl.FileError, "/nowhere", lambda: pl.analyze("/nowhere"))
    refused(pl.InputError, "", lambda: pl.fit(JOBS, kind="kernel"))
    refused(pl.UsageError, "scenarios", lambda: pl.predict("gpt2", on="h100-80-sxm").csv("nothing"))
    refused(pl.UsageError, "suffix", lambda: pl.machines().save("answer.doc"))
    refused(pl.FileError, "nowhere", lambda: pl.machines().save("/nowhere/answer.json"))


def test_threads():
    """Four threads ask one context the same questions at a time; every answer is the same."""
    context = pl.Context()
    questions = [lambda: context.predict("gpt2", on="dgx-h100*2", set={"dp": 16}), lambda: context.models("resnet50"),
                 lambda: context.predict("resnet50", on=["v100-sxm2-16", "h100-80-sxm"], graph=True),
                 lambda: context.machines("a100-40-sxm")]
    single, answers = [json.loads(ask().json()) for ask in questions], [[] for _ in range(4)]

    def ask_all(place):
        for turn in range(len(questions) * 2):
            number = (place + turn) % len(questions)
            answers[place].append((number, json.loads(questions[number]().json())))
            refused(pl.MissingError, f"thread{place}", lambda: context.machines(f"thread{place}"))

    threads = [threading.Thread(target=ask_all, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expect(sum(map(len, answers)) == 4 * 2 * len(questions), "a thread ended early", [len(given) for given in answers])
    for given in answers:
        for number, document in given:
            expect(document == single[number], "threads disagree", number)


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def test_memory():
    """Answers are given back when Python drops them, not before their columns."""
    column = pl.predict("gpt2", on="h100-80-sxm").tables["scenarios"]["step_ns"]
    kept = column.data, column[0]
    del column
    gc.collect()
    for _ in range(20):
        pl.models("gpt2")
    gc.collect()
    before = resident()
    for _ in range(300):
        pl.models("gpt2").tables
    gc.collect()
    expect(kept[0][0] == kept[1], "a column outlives its answer", kept[0][0], kept[1])
    expect(resident() - before < 8e6, "300 answers leave", resident() - before, "bytes")


def test_documents():
    answer = pl.predict("gpt2", on="h100-80-sxm")
    with tempfile.TemporaryDirectory() as folder:
        for name, head in (("a.json", '{\n  "schema": "paceline.predict/1"'), ("a.html", "<!doctype html>"), ("a.csv", "scenario,"),
                           ("a.txt", answer.summary[0][:20])):
            path = os.path.join(folder, name)
            answer.save(path)
            with open(path, encoding="utf-8", newline="") as file:
                text = file.read()
            expect(text.startswith(head), name, text[:60])
        expect(answer.text(width=60) != answer.text() == str(answer), "width")
        expect(answer.html().rstrip().endswith("</html>"), "html")
    calls = []
    pl.analyze(DEMO, progress=lambda what, done, total: calls.append((what, done, total)))
    expect(calls and calls[-1][1] <= calls[-1][2], "progress", calls[-1:])
    expect("on" in pl.predict.__doc__ and "on" in str(__import__("inspect").signature(pl.predict)), "signature")


def test_examples():
    """What docs/python.md and README.md show."""
    for name in (os.path.join("docs", "python.md"), "README.md"):
        with open(name, encoding="utf-8") as file:
            blocks = "\n".join(re.findall(r"```python\n(>>>.*?)```", file.read(), flags=re.S))
        examples = doctest.DocTestParser().get_doctest(blocks, {}, name, name, 0)
        result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).run(examples)
        expect(result.failed == 0 and result.attempted > 1, name, result)


def main():
    os.chdir(SOURCE)
    for name, test in list(globals().items()):
        if name.startswith("test_") and name != "test_arrays":
            test()
    finish()


main()
