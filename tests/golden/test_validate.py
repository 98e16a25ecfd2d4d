"""`paceline validate`: figures that need no data but this project's own are as in the ledger; cases that ask a question of any verb;
what is worse than its ledger, could not be computed or did not run is said and fails."""
import csv
import json
import os
import subprocess
import tempfile

from checks import PACELINE, SOURCE, expect, finish
import strict_schema

FOLDER = tempfile.mkdtemp(prefix="paceline-validate-")
BUNDLED = ["predict/c*", "scaling/claim*", "fleet/synthetic*", "*/job-resnet50*"]
if os.environ.get("VALIDATE") == "all":  # 3,000 questions asked of two engines
    BUNDLED.append("step/walk-and-closed-form")


def put(name, text):
    path = os.path.join(FOLDER, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def validate(*words):
    done = subprocess.run([PACELINE, "validate", "--data", FOLDER, "-f", "json", *words], cwd=SOURCE, capture_output=True, text=True)
    document = json.loads(done.stdout) if done.stdout else None
    if document:
        strict_schema.hold(document, "validate")
    return done.returncode, document, done.stderr


def test_bundled():
    for glob in BUNDLED:
        code, document, err = validate(glob)
        missed = sum(figure["holds"] == "no" for figure in document["figures"])
        expect(document["failed"] == document["worse"] == 0 and document["missed"] == missed, glob, document["summary"], err)
        expect(code == (1 if missed else 0) and document["figures"], glob, code)
        expect(all(figure["ledger_value"] is not None for figure in document["figures"]), glob, "every figure is in the ledger")


def test_every_model_is_asked_of_both_engines():
    listed = subprocess.run([PACELINE, "models", "-f", "json"], capture_output=True, check=True).stdout
    with open(os.path.join(SOURCE, "accuracy", "two_engines.csv")) as file:
        asked = {line["model"] for line in csv.DictReader(line for line in file if not line.startswith("#"))}
    models = {model["name"] for model in json.loads(listed)["models"]}
    expect(models == asked, "accuracy/two_engines.csv", models ^ asked)


CASES = """tables:
  exchange:
    over: {bytes: [1000000, 2000000, ""]}
    ask: {verb: predict, kind: exchange, on: dgx-h100, bytes: "{bytes}"}
cases:
  - {case: one/own-time, table: exchange, where: {bytes: ["1.."]}, values: {"sizes[0].time_us * 2": "sizes[0].time_us + sizes[-1].time_us"},
     bars: {mape: "<=0", differing: "<=0", max_distance: "<=0", coverage: ">=1"}}
  - {case: one/own-bytes, table: exchange, where: {bytes: ["1.."]}, values: {"sizes[bytes={bytes}].bytes / 1e6 - 1": "0"}, optional: true,
     unit: MB, bars: {mean_value: "0.5..0.5", max_distance: "1..1"}}
  - {case: one/against, table: exchange, where: {bytes: ["1.."]}, against: {verb: predict, kind: exchange, on: dgx-h100, bytes: 500000},
     values: {"sizes[0].bytes": "sizes[0].bytes"}, bars: {share_at_most: ">=1", geometric_ratio: "2.82..2.83"}}
  - {case: one/single, ask: {verb: predict, inputs: [lenet], on: v100-sxm2-16}, values: {step.median_s: step.median_s}, within: "0", low: step.low_s, high: step.high_s, bars: {coverage: ">=1"}}
  - {case: one/before, before: {verb: fleet, synthesize: 100, seed: 1}, ask: {verb: fleet, inputs: ["{before}"]}, values: {jobs: "100"}, bars: {max: "<=0"}}
"""


def figures(document):
    return {(figure["case"], figure["metric"]): figure for figure in document["figures"]}


def test_questions():
    cases = put("cases.yaml", CASES)
    code, document, err = validate("--cases", cases, "one/o*")
    found = figures(document)
    expect(code == 0 and not err, code, err, document["summary"])
    expect(found["one/own-time", "mape"]["n"] == 2 and found["one/own-time", "coverage"]["value"] == 1, found)
    code, document, err = validate("--cases", cases, "one/[asb]*")
    found = figures(document)
    expect(code == 1 and found["one/against", "share_at_most"]["value"] == 0, found, err)
    expect(abs(found["one/against", "geometric_ratio"]["value"] - 8 ** 0.5) < 1e-12, found)
    expect(found["one/single", "coverage"]["value"] == 1 and found["one/before", "max"]["value"] == 0, found, err)


def test_metrics():
    put("errors.csv", "name,error_pct\na,10\nb,-4\nc,\nd,0\n")
    put("ran.csv", "model,device,n_gpu,micro_batch,precision,step_time_s\ngpt2,a100-80-sxm,1,1,bf16,0.1\ngpt3_175b,a100-80-sxm,1,1,bf16,1\n")
    cases = put("cases.yaml", """cases:
  - {case: m/ran, files: [ran.csv], kind: step, fit: none, bars: {share_told_unfit: "0.5..0.5"}}
  - {case: m/groups, over: {group: [1, 2, 4], n: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}, rows: {group: ["=1", "=2"]}, orders: group, ask: {verb: models},
     values: {"{n} * {group}": "{n}"}, bars: {medians_apart: "1..1", median_ratio: "1.5..1.5", mean_distance: "0.41..0.42"}}
  - {case: m/few, over: {group: [1, 2], n: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]}, where: {n: ["=11", "..10"]}, every: 2, orders: group, ask: {verb: models},
     values: {"{n} + {group}": "{n}"}, bars: {medians_apart: "<=0"}}
  - {case: m/sum, files: [errors.csv], errors: error_pct, bars: {sum: "5.9999..6.0001"}}
  - {case: m/regret, over: {group: [1, 2], n: [1, 2, 3]}, orders: group, order_gap: 0.4, ask: {verb: models}, values: {"{n}": "5 - {n}"},
     bars: {most_regret: "0.999..1.001", drift: "3.333..3.334", p95_error: "0.749..0.751", share_right: "<=0"}}
  - {case: m/alike, over: {group: [1], n: [1, 2, 3, 4]}, orders: group, ask: {verb: models}, columns: {told: {of: n, words: {3: 1, 4: 1}, else: 2}},
     values: {"{told}": "{n}"}, bars: {most_regret: "1.3332..1.3334"}}
""")
    code, document, err = validate("--cases", cases, "m/[gsra]*")  # of two steps the one of 175 billion parameters cannot have run
    found = figures(document)
    expect(found["m/regret", "most_regret"]["n"] == 2 and found["m/regret", "drift"]["n"] == 4 and found["m/regret", "share_right"]["n"] == 4, found)
    # 1 and 2 are told alike and took 1.5 in the mean, 3 and 4, told to be the fastest, 3.5
    expect(found["m/alike", "most_regret"]["n"] == 1, found)
    expect(code == 0 and found["m/groups", "medians_apart"]["n"] == 20 and found["m/sum", "sum"]["n"] == 3, found, err)
    code, document, err = validate("--cases", cases, "m/few")
    expect(code == 3 and document is None, "groups of fewer than ten rows have no median", code, err)


POOLED = """cases:
  - {case: p/few, over: {n: [1, 2, 3]}, ask: {verb: models}, values: {"{n}": "2"}, within: "0.5", bars: {max: "<=9"}}
  - {case: p/many, over: {n: [1, 2, 3, 4, 5], k: [1, 2, 3, 4, 5, 6]}, ask: {verb: models}, values: {"{n}": "2"}, within: "1", bars: {max: "<=9"}}
  - {case: p/more, over: {n: [1, 2, 3, 4], k: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}, ask: {verb: models}, values: {"{n}": "4"}, within: "1", bars: {max: "<=9"}}
  - {case: p/all, pools: [p/few, p/m*], bars: {coverage: "0.5342..0.5343", lowest_coverage: "0.5..0.5", highest_coverage: "0.6..0.6"}}
  - {case: q/none, pools: [p/nothing], bars: {coverage: ">=0"}}
  - {case: r/gone, files: [gone.csv], bars: {mape: "<=1"}}
  - {case: r/all, pools: [r/gone, p/few], bars: {coverage: ">=0"}}
"""


def test_pools():
    """A case that pools others has their rows, whether or not these are asked for: of 3, 30 and 40 rows 1, 18 and 20 are within, 39 of 73; least
    and most are of the 30 and the 40."""
    cases = put("cases.yaml", POOLED)
    code, document, err = validate("--cases", cases, "p/all")
    found = figures(document)
    expect(code == 0 and set(found) == {("p/all", metric) for metric in ("coverage", "lowest_coverage", "highest_coverage")}, code, found, err)
    expect(found["p/all", "coverage"]["n"] == 73 and found["p/all", "lowest_coverage"]["n"] == 2, found)
    code, document, err = validate("--cases", cases, "p/*")
    expect(code == 0 and len(document["figures"]) == 6, document["figures"])
    code, document, err = validate("--cases", cases, "q/none")
    expect(code == 3 and "expected names of cases" in err and "cases.yaml:" in err, "a pattern that no case has", code, err)
    code, document, err = validate("--cases", cases, "r/all")
    expect(code == 3 and "gone.csv" in err, "a pool without one of its cases is another figure", code, err)


def test_ledger():
    cases = put("cases.yaml", """cases:
  - {case: a/same, ask: {verb: models}, values: {"3": "4"}, bars: {mape: "<=0.1"}}
  - {case: a/worse, ask: {verb: models}, values: {"3": "4"}, bars: {mape: "<=0.3"}}
  - {case: a/broke, ask: {verb: models}, values: {"3": "4"}, bars: {mape: "<=0.2499"}}
  - {case: a/better, ask: {verb: models}, values: {"3": "4"}, bars: {mape: "<=0.3"}}
  - {case: a/range, ask: {verb: models}, values: {"3": "4"}, bars: {mape: "0.1..0.3"}}
""")
    ledger = "case,source,split,metric,unit,n,value,bar,holds,note\n"
    for name, value in (("same", 0.25), ("worse", 0.2), ("broke", 0.2490), ("better", 0.3), ("range", 0.15)):
        ledger += f"a/{name},,test,mape,share,1,{value},,yes,\n"
    put("ledger.csv", ledger + "a/live,x,live,speed,MB/s,1,5,>=4,yes,a day\na/held,x,held,gap,share,1,5,<=5,yes,\n")
    code, document, err = validate("--cases", cases)
    verdicts = {figure["case"]: figure["verdict"] for figure in document["figures"]}
    expect(verdicts == {"a/same": "missed", "a/worse": "worse", "a/broke": "worse", "a/better": "holds, better", "a/range": "holds, moved"}, verdicts)
    expect(code == 1 and document["worse"] == 2 and document["not_recomputed"] == 2, document)
    expect("a/worse, a/broke." in " ".join(document["summary"]) and "notes name: 1; bounds" in " ".join(document["summary"]), document["summary"])
    expect(validate("--cases", cases, "a/worse")[0] == 1 and validate("--cases", cases, "a/better")[0] == 0, "worse than the ledger is exit 1")


def test_ledger_to_write():
    """A ledger that is not there begins with what was computed; one that cannot be written, or is none, is refused before that."""
    cases = put("cases.yaml", """cases:
  - {case: a/same, ask: {verb: models}, values: {"3": "4"}, bars: {mape: "<=0.3"}}
""")
    fresh = os.path.join(FOLDER, "fresh.csv")
    expect(validate("--cases", cases, "--ledger", fresh)[0] == 0, "a new ledger")
    lines = open(fresh).read().splitlines()
    expect(len(lines) == 2 and lines[0].startswith("case,source,split") and lines[1].startswith("a/same,"), lines)
    for path, words in ((os.path.join(FOLDER, "none", "x.csv"), "No such file"), (put("other.csv", "a,b\n1,2\n"), "expected a ledger")):
        code, document, err = validate("--cases", cases, "--ledger", path)
        expect(code == 3 and document is None and words in err, path, code, err)


def test_members():
    """A member that nothing reads is refused where it stands, and so is one that says what nothing follows."""
    put("errors.csv", "name,error_pct\na,10\nb,-4\n")
    whole = "case: a, files: [errors.csv], errors: error_pct, bars: {mape: '<=1'}"
    for text, place, why in ((f"cases:\n  - {{{whole}, fitt: none}}\n", ":2:", 'unknown member "fitt" of a case'),
                             (f"cases:\n  - {{{whole},\n     split: {{fold: 2}}}}\n", ":3:", 'unknown member "fold" of a split: expected by, test, folds'),
                             (f"cases:\n  - {{{whole}, fit: nothing}}\n", ":2:", "expected none"),
                             (f"cases:\n  - {{{whole}, split: {{folds: 2.5}}}}\n", ":2:", "expected a whole number, found 2.5"),
                             (f"cases:\n  - {{{whole}, where: name}}\n", ":2:", "expected a map"),
                             (f"cases:\n  - {{{whole}, kind: [step]}}\n", ":2:", "expected a text"),
                             (f"cases:\n  - {{{whole}, only_columns: yes}}\n", ":2:", "expected true or false"),
                             (f"cases:\n  - {{{whole}, columns: {{x: {{of: name, word: {{a: b}}}}}}}}\n", ":2:", 'unknown member "word" of a column: expected of, words or else'),
                             (f"tables:\n  t: {{split: {{folds: 2}}}}\ncases:\n  - {{{whole}}}\n", ":2:", 'unknown member "split" of a table'),
                             (f"case: []\ncases:\n  - {{{whole}}}\n", ":1:", 'unknown member "case" of a file of cases: expected live, tables or cases'),
                             (f"live:\n  - {{figure: f, runer: torch}}\ncases:\n  - {{{whole}}}\n", ":2:", 'unknown member "runer" of a live figure')):
        code, _, err = validate("--cases", put("cases.yaml", text))
        expect(code == 3 and place in err and why in err and len(err.strip().splitlines()) == 1, text, code, err)
    code, _, err = validate("--cases", put("cases.yaml", f"cases:\n  - {{{whole}, needs: [errors.csv, gone.csv]}}\n"))
    expect(code == 3 and "gone.csv is not in" in err, "a list of files that a case needs", code, err)
    code, _, err = validate("--cases", put("cases.yaml", f"cases:\n  - {{{whole}, needs: [errors.csv]}}\n"))
    expect(code == 0, "which are there", code, err)


def test_failures():
    cases = put("cases.yaml", """cases:
  - {case: b/good, ask: {verb: models}, values: {"1": "1"}, bars: {max: "<=0"}}
  - {case: b/path, ask: {verb: predict, inputs: [lenet], on: v100-sxm2-16}, values: {"nosuch.value": "1"}, bars: {max: "<=0"}}
  - {case: b/row, ask: {verb: models}, values: {"models[name=nosuch].parameters": "1"}, bars: {max: "<=0"}}
  - {case: b/word, ask: {verb: models}, values: {"{nosuch}": "1"}, bars: {max: "<=0"}}
  - {case: b/sign, ask: {verb: models}, values: {"1 ^ 2": "1"}, bars: {max: "<=0"}}
  - {case: b/model, ask: {verb: predict, inputs: [nosuch], on: v100-sxm2-16}, values: {"1": "1"}, bars: {max: "<=0"}}
  - {case: c/absent, files: [absent.csv], ask: {verb: models}, values: {"1": "1"}, bars: {max: "<=0"}}
  - {case: c/needs, needs: absent, ask: {verb: models}, values: {"1": "1"}, bars: {max: "<=0"}}
""")
    code, document, err = validate("--cases", cases)
    expect(code == 1 and document["failed"] == 5 and len(document["figures"]) == 1, code, document["warnings"])
    for word in ("nosuch.value", "no such row", "{nosuch}", "between blanks", "inputs=nosuch"):
        expect(word in err, word, err)
    code, document, err = validate("--cases", cases, "c/*")
    expect(code == 3 and document is None and "absent" in err, "what ran nothing fails", code, err)
    expect(validate("--cases", cases, "b/path")[0] == 4, "one case that fails gives its own reason")
    expect(validate("--cases", cases, "nosuch")[0] == 2, "no such case")


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
finish()
