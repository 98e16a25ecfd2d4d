"""Warnings: codes as docs/warnings.md lists them, the same in every format and door, and what --strict makes of them."""
import gzip
import json
import os
import re
import sys
import tempfile

SOURCE, BUILD = os.environ["PACELINE_SOURCE"], os.environ["PACELINE_BUILD"]
os.environ["PACELINE_LIBRARY"] = os.path.join(BUILD, "libpaceline.so.1")
sys.path[:0] = [os.path.join(SOURCE, "python"), os.path.join(SOURCE, "tests", "golden")]
import paceline as pl  # noqa: E402
from checks import expect, finish, run  # noqa: E402

DEMO = os.path.join(SOURCE, "tests", "data", "demo.json.gz")
TOO_LARGE = ("gpt3_175b", "--on", "a100", "--set", "precision=bf16", "--set", "micro_batch=1")


def document(*words):
    code, out, err = run(*words, "--format", "json")
    expect(code in (0, 1, 3) and out, words, code, err)
    return code, json.loads(out), err


def test_codes():
    with open(os.path.join(SOURCE, "docs", "warnings.md")) as page:
        listed = {code: (means, strict == "yes") for code, strict, means in re.findall(r"^\| `(\w+)` \| (yes|no) \| (.*) \|$", page.read(), re.M)}
    expect(len(listed) > 25 and listed == pl.warning_kinds(), "the page and the library differ",
           set(listed.items()) ^ set(pl.warning_kinds().items()))


def test_damage(folder):
    cut = os.path.join(folder, "cut.json")
    with gzip.open(DEMO, "rt") as file:
        text = file.read()
    with open(cut, "w") as file:
        file.write(text[: len(text) * 3 // 4])
    code, found, err = document("analyze", cut, "--strict")
    codes = [(one["code"], one["place"]) for one in found["warnings"]]
    expect(code == 3 and ("file_cut_off", cut) in codes, code, codes)
    expect("--strict" in err and "file_cut_off" in err, err)
    expect(document("analyze", cut)[0] == 0 and document("analyze", DEMO, "--strict")[0] == 0, "without --strict, and without damage")
    code, table, err = run("analyze", cut, "-q")
    said = [line for line in table.split("\n\n")[0].splitlines() if line.startswith("Warning: ")]
    expect(code == 0 and not err and said and "cut.json" in said[0], "at the head of the table, and of --quiet", table[:400], err)
    page = run("analyze", cut, "-f", "html")[1]
    expect("<strong>Warning:</strong>" in page[: page.index("</aside>")] and "<table" not in page[: page.index("</aside>")], "head of the page")
    written = os.path.join(folder, "out.perfetto.json")
    run("analyze", cut, "-o", written)
    with open(written) as file:
        expect(json.load(file)["pacelineWarnings"] == found["warnings"], "Perfetto")
    again = document("analyze", written)[1]  # reads back, and is not damaged itself
    expect(not again["warnings"], again["warnings"])
    answer = pl.analyze(cut)
    expect([(w.code, w.place, str(w)) for w in answer.warnings] == [(w["code"], w["place"], w["text"]) for w in found["warnings"]]
           and answer.warnings[0].strict, "Python", answer.warnings)


def test_fit():
    """A configuration that does not fit is the answer itself: 1, also of --strict; the first line, once."""
    code, found, _ = document("predict", *TOO_LARGE, "--strict")
    codes = [one["code"] for one in found["warnings"]]
    expect("does_not_fit" in codes and not pl.warning_kinds()["does_not_fit"][1], codes)
    doubted = any(pl.warning_kinds()[one][1] for one in codes)
    expect(code == (3 if doubted else 1), code, codes)
    code, table, _ = run("predict", *TOO_LARGE)
    expect(code == 1 and table.startswith("Does not fit: ") and table.count("oes not fit: ") == 1, table)


def test_ranks(folder):
    events = [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10.0, "dur": 5.0}]
    path = os.path.join(folder, "rank.json")
    with open(path, "w") as file:
        file.write(json.dumps({"traceEvents": events, "distributedInfo": {"rank": 3, "world_size": 16}}))
    found = document("analyze", path)[1]
    expect(any(one["code"] == "ranks_missing" and "16 ranks" in one["text"] for one in found["warnings"]), found["warnings"])


def test_beyond(folder):
    """A curve of one node is asked about four."""
    rows, fit = os.path.join(folder, "curve.csv"), os.path.join(folder, "curve.fit")
    with open(rows, "w") as file:
        file.write("system,collective,nodes,gpus,bytes,time_us\n")
        file.writelines(f"dgx-a100,allreduce,1,8,{1 << i},{20 + 2 ** i / 1e5}\n" for i in range(10, 30))
    run("fit", rows, "--kind", "exchange", "-o", fit)
    for machine, wanted in (("dgx-a100", False), ("dgx-a100*4", True)):
        found = document("predict", "--kind", "exchange", "--on", machine, "--bytes", "1M", "--fit", fit)[1]
        used = {row["doubt"] for row in found["assumptions"]}
        codes = [one["code"] for one in found["warnings"]]
        beyond = bool(used & {"curve_beyond", "curve_tier", "curve_ranks", "curve_collective"})
        expect(("extrapolated" in codes) == beyond and (beyond or not wanted), machine, used, codes)


def test_width():
    """Warned exactly where the printed interval reaches beyond twice the median."""
    for words in (("resnet50", "--on", "v100", "--set", "micro_batch=64"), ("lenet", "--on", "cpu=zen4"), ("dlrm_default", "--on", "k80", "--set", "micro_batch=64"),
                  ("lenet", "--on", "k80", "--set", "micro_batch=1")):
        code, out, _ = run("predict", *words, "--format", "json")
        if not out:
            continue
        found = json.loads(out)
        wide = found["values"]["step.high_s"] > 2 * found["values"]["step.median_s"]
        expect(wide == any(one["code"] == "wide_interval" for one in found["warnings"]), words, found["values"], found["warnings"])


with tempfile.TemporaryDirectory(prefix="paceline-warnings-") as folder:
    test_codes()
    test_damage(folder)
    test_fit()
    test_ranks(folder)
    test_beyond(folder)
    test_width()
finish()
