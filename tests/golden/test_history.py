"""`paceline history`: what --store keeps, and whether planted regressions are found, and noise is not."""
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

import strict_schema
from checks import PACELINE, SOURCE, expect, expect_line, finish, json_of, run

DEMO = os.path.join(SOURCE, "tests", "data", "demo.json.gz")


def history(*words, wanted=0):
    code, out, err = run("history", *words, "--format", "json")
    expect(code == wanted, words, code, err)
    answer = json.loads(out) if out else {}
    strict_schema.hold(answer, "history")
    return answer


def fill(path, values, series="analyze", at_s=0):
    """Runs as --store writes them; each of a step time and of a value that never changes."""
    with sqlite3.connect(path) as database:
        for value in values:
            run_id = database.execute("INSERT INTO paceline_runs (at_s, verb, series, label, command) VALUES (?, 'analyze', ?, 'made', '')",
                                      (at_s, series)).lastrowid
            for name, figure in (("step_spread.median_ns", value), ("window.kernels", 100), ("throughput.steps_per_s", 1e9 / value)):
                database.execute("INSERT INTO paceline_figures VALUES (?, ?, ?)", (run_id, name, figure))


def empty(folder, name="made.sqlite"):
    """A file with the tables and no run."""
    path = os.path.join(folder, name)
    expect(run("analyze", DEMO, "--store", path)[0] == 0, "store")
    with sqlite3.connect(path) as database:
        database.execute("DELETE FROM paceline_runs")
        database.execute("DELETE FROM paceline_figures")
    return path


def noisy(chance, count, around):
    return [around * (1 + chance.gauss(0, 0.01)) for _ in range(count)]


def test_stored(folder):
    """Every number of an answer is kept; other tables of the file stay."""
    path = os.path.join(folder, "kept.sqlite")
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE mine (a)")
        database.execute("INSERT INTO mine VALUES (7)")
    answer = json_of("analyze", DEMO, "--store", path, "--label", "abc'; DROP TABLE mine")
    expect(run("compare", DEMO, DEMO, "--store", path)[0] == 0, "compare stores")
    expect(run("predict", "resnet50", "--on", "a100-40-sxm", "--store", path, "--series", "nightly")[0] == 0, "predict stores")
    with sqlite3.connect(path) as database:
        expect(database.execute("SELECT a FROM mine").fetchall() == [(7,)], "the other table")
        rows = database.execute("SELECT verb, series, label FROM paceline_runs ORDER BY id").fetchall()
        expect(rows == [("analyze", "analyze", "abc'; DROP TABLE mine"), ("compare", "compare", ""), ("predict", "nightly", "")], rows)
        kept = dict(database.execute("SELECT path, value FROM paceline_figures WHERE run = 1"))
    expect(kept["window.span_ns"] == answer["window"]["span_ns"] and kept["step_spread.median_ns"] == answer["step_spread"]["median_ns"], len(kept))
    expect(len(kept) > 30, len(kept))
    found = history(path, "--series", "nightly")
    expect(found["value"] == "step.median_s" and len(found["runs"]) == 1 and found["verdict"] == "nothing to compare", found)
    everything = history(path)
    expect({row["series"] for row in everything["all_series"]} == {"analyze", "compare", "nightly"}, everything["all_series"])
    code, _, err = run("history", path, "--series", "nigthly")
    expect_line(code, err, 2, "--series", "nightly")


def test_regression(folder):
    chance = random.Random(5)
    path = empty(folder)
    fill(path, noisy(chance, 20, 1e8) + noisy(chance, 4, 1.08e8))
    answer = history(path, "--last", "4", "--fail-on", "+5%", wanted=1)
    expect(answer["verdict"] == "significant" and answer["p_value"] < 0.01 and abs(answer["ratio"] - 1.08) < 0.02, answer["ratio"])
    expect((answer["runs_before"], answer["runs_last"]) == (20, 4) and answer["ratio_low"] < 1.08 < answer["ratio_high"], answer["ratio_low"])
    expect("a regression" in answer["summary"][0] and answer["checks"][0]["holds"] == "no", answer["summary"])
    expect({row["path"] for row in answer["changes"]} == {"step_spread.median_ns", "throughput.steps_per_s"}, answer["changes"])
    expect(history(path, "--last", "4", "--fail-on", "10 %")["checks"][0]["holds"] == "yes", "a wider limit")
    rate = history(path, "--last", "4", "--value", "throughput.steps_per_s", "--fail-on", "+5%", wanted=1)
    expect("a regression" in rate["summary"][0], "less of a rate is worse", rate["summary"])
    suite = xml.fromstring(run("history", path, "--last", "4", "--fail-on", "+5%", "--format", "junit")[1]).find("testsuite")
    expect(suite.get("failures") == "1", suite.attrib)
    expect("<svg" in run("history", path, "--format", "html")[1], "a chart")


def test_noise(folder):
    """Of 40 series without a change few are called significant: at most one in twenty, and chance."""
    chance, called = random.Random(6), 0
    path = empty(folder)
    for series in range(40):
        fill(path, noisy(chance, 12, 1e8), f"s{series}")
    for series in range(40):
        code, out, _ = run("history", path, "--series", f"s{series}", "--format", "json", "--fail-on", "+0%")
        called += json.loads(out)["verdict"] == "significant"
    expect(called <= 6, "called significant:", called)


def test_long_ago(folder):
    """A regression of ten runs ago, which the last three against all before do not show, is found by its level, and where it began."""
    chance = random.Random(8)
    path = empty(folder)
    fill(path, noisy(chance, 20, 1e8) + noisy(chance, 25, 1.04e8))
    answer = history(path, "--fail-on", "+3%", wanted=1)
    expect(abs(answer["level"]["since_run"] - 21) <= 1 and answer["level"]["since_label"] == "made", answer["level"])
    expect(answer["verdict"] == "significant" or "a regression since run" in answer["summary"][0], "the first line", answer["summary"])
    expect("no significant change" not in answer["summary"][0], "against the check", answer["summary"][0])
    expect(abs(answer["level"]["ratio"] - 1.04) < 0.01 and "Since run" in " ".join(answer["summary"]), answer["level"], answer["summary"])
    expect(answer["ratio"] < 1.03, "the last three alone do not say it", answer["ratio"])
    later = history(path, "--fail-on", "+3%", "--window", "20")
    expect(later["level"]["since_run"] is None, "out of the window", later["level"])
    back = empty(folder, "back.sqlite")
    fill(back, noisy(chance, 12, 1e8) + noisy(chance, 8, 1.2e8) + noisy(chance, 12, 1e8))
    answer = history(back, "--fail-on", "+5%")
    expect(abs(answer["level"]["since_run"] - 21) <= 1 and abs(answer["level"]["ratio"] - 1 / 1.2) < 0.02, "mended", answer["level"])


def test_several_series(folder):
    """Machines and branches in one file: each has a row and a check; the worst is shown."""
    chance = random.Random(9)
    path = empty(folder)
    for series, factor in (("main-h100", 1), ("main-a100", 1.15), ("branch-h100", 1.02)):
        fill(path, noisy(chance, 14, 1e8) + noisy(chance, 4, factor * 1e8), series)
    answer = history(path, "--last", "4", "--fail-on", "+5%", wanted=1)
    expect(answer["series"] == "main-a100" and len(answer["all_series"]) == 3, answer["series"])
    expect([row["holds"] for row in answer["checks"]] == ["yes", "no", "yes"], answer["checks"])
    suite = xml.fromstring(run("history", path, "--last", "4", "--fail-on", "+5%", "--format", "junit")[1]).find("testsuite")
    expect((suite.get("tests"), suite.get("failures")) == ("3", "1"), suite.attrib)
    expect(history(path, "--series", "main-h100", "--fail-on", "+5%")["checks"][0]["holds"] == "yes", "one alone")


def test_several_files(folder):
    """A series kept in two files by turns says what it says in one file; a file given twice is read once."""
    chance = random.Random(10)
    values = noisy(chance, 16, 1e8) + noisy(chance, 4, 1.1e8)
    whole, odd, even = (empty(folder, name + ".sqlite") for name in ("whole", "odd", "even"))
    for at_s, value in enumerate(values):
        fill(whole, [value], at_s=at_s)
        fill(odd if at_s % 2 else even, [value], at_s=at_s)
    one = history(whole, "--last", "4", "--fail-on", "+5%", wanted=1)
    two = history(odd, even, "--last", "4", "--fail-on", "+5%", wanted=1)
    for answer in (one, two):
        del answer["command"], answer["inputs"]
    expect(one == two and len(two["runs"]) == 20, "two files", one["summary"], two["summary"])
    once, twice = (json_of("history", *files) for files in ((odd,), (odd, odd)))
    expect([one["code"] for one in twice["warnings"]] == ["input_repeated"] and twice["runs"] == once["runs"], "given twice", twice["warnings"])


def test_faster(folder):
    chance = random.Random(7)
    path = empty(folder)
    fill(path, noisy(chance, 10, 1e8) + noisy(chance, 3, 0.8e8))
    answer = history(path, "--fail-on", "+5%")
    expect("an improvement" in answer["summary"][0] and answer["checks"][0]["holds"] == "yes", answer["summary"])
    same = history(path, "--value", "window.kernels")
    expect(same["ratio"] == 1 and same["p_value"] == 1 and same["verdict"] == "within the spread", same)


def fill_path(path, name, values):
    """Runs with the step time and one more value; None = the run lacks it."""
    with sqlite3.connect(path) as database:
        for at_s, value in enumerate(values):
            run_id = database.execute("INSERT INTO paceline_runs (at_s, verb, series, label, command) VALUES (?, 'analyze', 'analyze', 'made', '')",
                                      (at_s,)).lastrowid
            for figure in (("step_spread.median_ns", 1e8 + at_s % 3), (name, value)):
                if figure[1] is not None:
                    database.execute("INSERT INTO paceline_figures VALUES (?, ?, ?)", (run_id, *figure))


def test_zero_and_below(folder):
    """What was nothing and is something is worse than by any limit; a value below zero is worse when it is more."""
    for before, last, worse in ((0, 5e6, True), (5e6, 0, False), (-4, -9, False), (-9, -4, True), (-1, 1, True)):
        path = empty(folder, f"{before}_{last}.sqlite")
        fill_path(path, "waiting_ns", [before] * 9 + [last] * 3)
        answer = history(path, "--value", "waiting_ns", "--fail-on", "+5%", wanted=int(worse))
        expect(("a regression" if worse else "an improvement") in answer["summary"][0], before, last, answer["summary"])
        expect("nan" not in run("history", path, "--value", "waiting_ns")[1] + str(answer), before, last)
        expect("waiting_ns" in [row["path"] for row in answer["changes"]], "listed", before, last, answer["changes"])
        expect(before == 0 or answer["changes"][0]["change"] == (last - before) / abs(before), answer["changes"])


def test_more_is_better(folder):
    path = empty(folder)
    fill_path(path, "throughput.mfu", [0.4] * 9 + [0.3] * 3)
    expect("a regression" in history(path, "--value", "throughput.mfu", "--fail-on", "+5%", wanted=1)["summary"][0], "less of the peak is worse")


def test_lacking(folder):
    """Runs without the value are named; what only old runs had is no change of the last ones."""
    path = empty(folder)
    fill_path(path, "gone_ns", [1e6] * 5 + [2e6] * 4 + [None] * 3)
    expect("3 of 12 runs have no gone_ns" in " ".join(history(path, "--value", "gone_ns")["summary"]), "said")
    expect(not history(path)["changes"], "no change of the last runs")


def test_too_few(folder):
    """So many runs as the answer asks for are enough, one less is not."""
    for last, before in ((3, 5), (4, 4), (1, 39)):
        for count in (before - 1, before):
            path = empty(folder, f"{last}_{count}.sqlite")
            fill(path, [1e8 + i for i in range(count)] + [2e8 + i for i in range(last)])
            answer = history(path, "--last", str(last))
            few = count < before
            expect((answer["verdict"] == "too few") == few, last, count, answer["verdict"])
            if few:
                expect("level" in answer and answer["level"]["since_run"] or "too few runs" in answer["summary"][0], answer["summary"])
                need = f"last {last} need at least {before} before them" if last > 1 else f"last one needs at least {before} before it"
                expect(need in str(answer["notes"]), last, count, answer["notes"])
    path = empty(folder, "two.sqlite")  # fewer than the three last ones: they are what will be compared once there are more
    fill(path, [1e8, 2e8])
    answer = history(path)
    expect("the last 3 need at least 5 before them" in str(answer["notes"]), answer["notes"])
    expect("The last run has 200.0 ms, the one before 100.0 ms (+100.0 %)" in answer["summary"][0], answer["summary"])


def test_creeping(folder):
    """Levels that rise one after the other count together: each step is within the limit, all are not."""
    chance = random.Random(12)
    path = empty(folder)
    fill(path, [value for level in (1, 1.03, 1.06) for value in noisy(chance, 16, level * 1e8)])
    answer = history(path, "--fail-on", "+5%", wanted=1)
    expect(abs(answer["level"]["ratio"] - 1.06) < 0.012, "from the first level to the last", answer["level"])


def test_nothing_to_keep(folder):
    path = os.path.join(folder, "none.sqlite")
    code, _, err = run("predict", "resnet50", "--on", "dgx-1-v100", "--workers", "1,2", "--batch", "32", "--store", path)
    expect_line(code, err, 2, "--store: has no effect")
    expect(run("predict", "--job", "architecture=ps_worker,cnodes=16,flop=106G", "--store", path)[0] == 0, "a job's figures")
    expect(history(path)["value"] == "step_s", "the step of a job")
    for words, code, said in ((("-",), 2, "standard input"), ((folder,), 3, "Is a directory"), ((path + "x",), 3, "No such file"), ((path, "--window", "1"), 2, "at least 2")):
        expect_line(*(lambda done: (done[0], done[2]))(run("history", *words)), code, said)


def test_together(folder):
    """Several processes that store at the same time lose nothing."""
    path = os.path.join(folder, "together.sqlite")
    jobs = [subprocess.Popen([PACELINE, "analyze", DEMO, "--store", path, "--label", str(i)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            for i in range(6)]
    expect([job.wait() for job in jobs] == [0] * 6, [job.stderr.read() for job in jobs])
    expect({row["label"] for row in history(path)["runs"]} == set("012345"), "labels")


def test_refused(folder):
    path = empty(folder)
    text = os.path.join(folder, "text.sqlite")
    with open(text, "w") as file:
        file.write("this is no database, whatever it is called\n" * 50)
    other = os.path.join(folder, "other.sqlite")
    named = shutil.copy(DEMO, os.path.join(folder, "demo.sqlite"))
    sqlite3.connect(other).execute("CREATE TABLE t (a)")
    for code, word, words in (
        (3, "found none", ["history", path]),
        (3, "database", ["history", text]),
        (3, "paceline_runs", ["history", other]),
        (3, "nowhere", ["history", os.path.join(folder, "nowhere.sqlite")]),
        (2, "files of stored results", ["history"]),
        (2, "--last", ["history", path, "--last", "0"]),
        (2, "--fail-on", ["history", path, "--fail-on", "much"]),
        (2, "no effect without --store", ["analyze", DEMO, "--label", "x"]),
        (2, "no effect without --store", ["predict", "lenet", "--on", "a100-40-sxm", "--series", "x"]),
        (3, "--store", ["analyze", DEMO, "--store", os.path.join(folder, "no", "x.sqlite")]),
        (3, "--store", ["analyze", DEMO, "--store", text]),
        (2, "is an input", ["analyze", named, "--store", named]),
        (2, "ends with .sqlite", ["analyze", DEMO, "--store", DEMO]),
    ):
        done, _, err = run(*words)
        expect_line(done, err, code, word)
    fill(path, [1e8, 1.1e8])
    code, _, err = run("history", path, "--value", "step_spread.median")
    expect_line(code, err, 2, "--value", "step_spread.median_ns")


if "libsqlite3-dev" in run("history", "/dev/null")[2]:
    sys.exit(print("left out: this paceline has no SQLite"))
tests = [test_stored, test_regression, test_several_files, test_zero_and_below, test_lacking, test_nothing_to_keep, test_together, test_refused]
if "ASAN_OPTIONS" not in os.environ:  # the same code, asked many times
    tests += [test_noise, test_long_ago, test_several_series, test_faster, test_more_is_better, test_too_few, test_creeping]
for test in tests:
    with tempfile.TemporaryDirectory() as scratch:
        test(scratch)
sys.exit(finish())
