"""Tables in, answers out: `paceline fit` and `paceline predict --rows` as a user meets them, with tables made here."""
import csv
import gzip
import io
import json
import math
import os
import random
import stat
import subprocess
import tempfile

from checks import expect, finish, json_of, run
import strict_schema

FOLDER = tempfile.mkdtemp(prefix="paceline-rows-")


def put(name, text):
    path = os.path.join(FOLDER, name)
    with open(path, "w" if isinstance(text, str) else "wb") as file:
        file.write(text)
    return path


def rows_of(out):
    return list(csv.DictReader(io.StringIO(out)))


def law(m, n, k, slow):
    """A device as simple as one can be: 8 us, and 12 or 6 TFLOP/s, tiles of 64."""
    up = lambda x: 64 * math.ceil(x / 64)
    return 8 + slow * 2 * up(m) * up(n) * k / 12e6


def table(count, seed, devices=(("V100-SXM2-16GB", 1.0),), measured="latency_us", scale=1.0):
    draw = random.Random(seed)
    lines = [f"device,dtype,m,n,k,note,{measured}"]
    for _ in range(count):
        m, n, k = (int(2 ** draw.uniform(4, 11)) for _ in range(3))
        for device, slow in devices:
            lines.append(f'{device},fp32,{m},{n},{k},"a, ""b""",{law(m, n, k, slow) * scale:.4f}')
    return "\n".join(lines) + "\n"


def test_fit_and_predict():
    train, test = put("train.csv", table(1000, 1)), put("test.csv", table(300, 2))
    fit = os.path.join(FOLDER, "v100.fit")
    report = json_of("fit", train, "-o", fit)
    family = report["families"][0]
    expect(family["family"] == "gemm" and family["rows"] == 1000, family)
    expect(family["held_out"] > 80 and family["gmae"] < 0.03, family)
    code, out, err = run("predict", "--rows", test, "--fit", fit)
    answers = rows_of(out)
    expect(code == 0 and len(answers) == 300, "predict", err)
    errors = [abs(float(a["predicted"]) / float(a["latency_us"]) - 1) for a in answers]
    expect(sorted(errors)[150] < 0.03, "median error", sorted(errors)[150])
    expect(all(a["rung"] == "learned" and a["unit"] == "us" and a["status"] == "ok" for a in answers), answers[0])
    expect(all(float(a["low"]) < float(a["predicted"]) < float(a["high"]) for a in answers), answers[0])
    inside = sum(float(a["low"]) <= float(a["latency_us"]) <= float(a["high"]) for a in answers)
    expect(240 <= inside <= 300, "coverage", inside)
    expect(answers[0]["note"] == 'a, "b"', "unknown columns pass through", answers[0])
    packed = put("test.csv.gz", gzip.compress(open(test, "rb").read()))
    expect(run("predict", "--rows", packed, "--fit", fit)[1] == out, "gzip")
    expect(run("predict", "--rows", "-", "--fit", fit, stdin=open(test, "rb").read())[1] == out, "standard input")
    file = os.path.join(FOLDER, "answers.csv")
    expect(run("predict", "--rows", test, "--fit", fit, "-o", file)[0] == 0, "output file")
    expect(open(file, newline="").read() == out, "output file")


def noisy(count, seed):
    """The law's rows, with a noise of 10 % that no two rows share."""
    draw = random.Random(1000 + seed)
    head, *lines = table(count, seed).splitlines()
    timed = (line.rsplit(",", 1) for line in lines)
    return "\n".join([head] + [f"{sizes},{float(us) * math.exp(draw.gauss(0, 0.1)):.4f}" for sizes, us in timed]) + "\n"


def test_small_tables():
    """Intervals of 60 rows hold nine of ten of others by the same law, and the fit knows how many of its own they hold."""
    inside, said, count, seeds = 0, 0, 300, range(10, 14 if "ASAN_OPTIONS" in os.environ else 22)
    for seed in seeds:
        train, test = put("few.csv", noisy(60, seed)), put("others.csv", noisy(count, seed + 100))
        fit = os.path.join(FOLDER, "few.fit")
        family = json_of("fit", train, "-o", fit)["families"][0]
        expect(family["held_out"] == family["rows"] == 60, "every row is held out once", family)
        answers = rows_of(run("predict", "--rows", test, "--fit", fit)[1])
        own = sum(float(a["low"]) <= float(a["latency_us"]) <= float(a["high"]) for a in answers) / count
        expect(own > 0.7, "of one table", seed, own)
        inside, said = inside + own / len(seeds), said + family["coverage"] / len(seeds)
    expect(0.86 <= inside <= 0.96, "of all tables", inside)
    expect(abs(said - inside) <= 0.05, "as said", said, inside)


def test_own_sizes():
    """A size that was measured takes what it took, whatever the law of the others is; measured twice, their geometric mean."""
    train = noisy(60, 5)
    sizes, us = train.splitlines()[1].rsplit(",", 1)
    rows, fit = put("own.csv", train + f"{sizes},{4 * float(us):.4f}\n"), os.path.join(FOLDER, "own.fit")
    json_of("fit", rows, "-o", fit)
    answers = rows_of(run("predict", "--rows", rows, "--fit", fit)[1])
    off = [float(a["predicted"]) / float(a["latency_us"]) for a in answers]
    expect(all(abs(x - 1) < 2e-4 for x in off[1:-1]), "as measured", off)
    expect(abs(off[0] / 2 - 1) < 2e-4 and abs(off[-1] * 2 - 1) < 2e-4, "measured twice", off[0], off[-1])


def test_never_worse():
    """What a fit adds to the formula must show on rows held out: of a dozen that the formula tells as well as their noise allows nothing is learned;
    a dozen that all take twice as long are."""
    draw, others = random.Random(3), table(60, 77)
    formula = {tuple(row[c] for c in "mnk"): float(row["predicted"]) for row in rows_of(run("predict", "--rows", put("ask.csv", others))[1])}
    def measured(name, slower, noise, keys):
        lines = [f"V100-SXM2-16GB,fp32,{','.join(key)},{formula[key] * slower * math.exp(draw.gauss(0, noise)):.4f}" for key in keys]
        return put(name, "\n".join(["device,dtype,m,n,k,latency_us"] + lines) + "\n")
    keys = list(formula)
    code, out, err = run("fit", measured("as_formula.csv", 1, 0.02, keys[:12]))
    expect(code == 3 and "nothing is learned" in err and len(err.splitlines()) == 1, code, err, out)
    fit = os.path.join(FOLDER, "slower.fit")
    family = json_of("fit", measured("slower.csv", 2, 0.02, keys[:12]), "-o", fit)["families"][0]
    expect(family["rows"] == 12 and family["mape"] < family["formula_mape"] and 0.45 < family["formula_mape"] < 0.55, family)
    odd = [f"V100-SXM2-16GB,fp32,{','.join(key)},{formula[key] * (0.2 if i % 8 == 7 else 2):.4f}" for i, key in enumerate(keys)]
    code, _, err = run("fit", put("odd.csv", "\n".join(["device,dtype,m,n,k,latency_us"] + odd) + "\n"))  # a few that nothing tells
    expect(code in (0, 3) and "nothing is learned" not in err, "rows far off count for a factor of 2", code, err)
    answers = []
    for _ in range(5):  # the noise of a dozen rows sets an interval: one draw says little of what it holds
        json_of("fit", measured("slower.csv", 2, 0.02, keys[:12]), "-o", fit)
        answers += rows_of(run("predict", "--rows", measured("slower_too.csv", 2, 0.02, keys[12:]), "--fit", fit)[1])
    errors = sorted(abs(float(a["predicted"]) / float(a["latency_us"]) - 1) for a in answers)
    inside = sum(float(a["low"]) <= float(a["latency_us"]) <= float(a["high"]) for a in answers) / len(answers)
    expect(errors[len(errors) // 2] < 0.05 and inside > 0.8, "others of the same", errors[len(errors) // 2], inside)


def test_one_shape():
    """Of rows of one shape none can be held out: they are learned from, nothing is scored, and the guess of the interval is said. A seed
    would decide nothing."""
    for count in (30, 700):
        draw = random.Random(count)
        lines = [f"a100-80-sxm,bf16,1024,1024,1024,{20 * (1 + 0.05 * draw.random()):.4f}" for _ in range(count)]
        rows, fit = put("one.csv", "\n".join(["device,dtype,m,n,k,time_us"] + lines) + "\n"), os.path.join(FOLDER, "one.fit")
        report = json_of("fit", rows, "-o", fit)
        answer = rows_of(run("predict", "--rows", rows, "--fit", fit)[1])[0]
        expect(report["families"][0]["held_out"] == 0 and 19 < float(answer["predicted"]) < 22, "one shape", count, report, answer)
        expect(float(answer["high"]) / float(answer["low"]) > 1.2, "an interval that nothing was held out for", answer)
        expect(any("its interval is a guess" in w["text"] for w in report["warnings"]), "said", report["warnings"])
        code, _, err = run("fit", rows, "--seed", "12")
        expect(code == 2 and "--seed: has no effect" in err, "seed", code, err)


def test_units():
    fit = os.path.join(FOLDER, "ms.fit")
    rows, again = put("ms.csv", table(400, 3, measured="time_ms", scale=1e-3)), os.path.join(FOLDER, "again.fit")
    run("fit", rows, "-o", fit)
    run("fit", rows, "-o", again)
    expect(open(fit, "rb").read() == open(again, "rb").read(), "the same rows give the same fit")
    bare = put("bare.csv", "m,n,k\n512,512,512\n")
    code, out, err = run("predict", "--rows", bare, "--fit", fit)
    answer = rows_of(out)[0]
    expect(answer["unit"] == "ms", "the fit's unit and device serve rows without", answer)
    expect(abs(float(answer["predicted"]) / (law(512, 512, 512, 1) * 1e-3) - 1) < 0.2, answer)
    answer = rows_of(run("predict", "--rows", bare, "--on", "v100-sxm2-16")[1])[0]
    expect(answer["unit"] == "s" and answer["rung"] == "formula", answer)
    expect("no device" in rows_of(run("predict", "--rows", bare)[1])[0]["status"], "no device")


def test_pipe_stays_a_pipe():
    """A fit written to a pipe goes through it: what stands there is never replaced by a file."""
    rows = put("piped.csv", table(300, 3))
    pipe, plain = os.path.join(FOLDER, "pipe"), os.path.join(FOLDER, "plain.fit")
    run("fit", rows, "-o", plain)
    os.mkfifo(pipe)
    with tempfile.TemporaryFile() as through_file:  # a fit is larger than what pipes hold
        with subprocess.Popen(["cat", pipe], stdout=through_file) as reader:
            code, _, err = run("fit", rows, "-o", pipe)
            if not stat.S_ISFIFO(os.lstat(pipe).st_mode):
                reader.kill()  # nobody will ever write to it
        through_file.seek(0)
        through = through_file.read()
    expect(code == 0 and stat.S_ISFIFO(os.lstat(pipe).st_mode), "a pipe was replaced", err)
    with open(plain, "rb") as file:
        expect(through == file.read(), "other bytes through a pipe")


def test_other_device():
    """Half as fast by its data sheet as by its rows: what was learned moves with the roofline."""
    fit = os.path.join(FOLDER, "far.fit")
    run("fit", put("far.csv", table(400, 4)), "-o", fit)
    rows = put("far-rows.csv", "device,m,n,k\n" + "".join(
        f"{device},2048,2048,{k}\n" for device in ("V100-SXM2-16GB", "A100-SXM4-40GB") for k in (1024, 2048)))
    answers = rows_of(run("predict", "--rows", rows, "--fit", fit)[1])
    expect(all(a["rung"] == "learned" for a in answers), answers)
    ratio = float(answers[0]["predicted"]) / float(answers[2]["predicted"])
    expect(0.9 < ratio < 1.7, "A100 over V100 in FP32: 19.5 / 15.7", ratio)
    width = lambda a: float(a["high"]) / float(a["low"])
    expect(width(answers[2]) > width(answers[0]), "a device without rows is less sure")


def test_several_measured():
    rows = put("conv.csv", "device,w,h,c,n,k,r,s,pad_h,pad_w,stride_v,stride_h,fwd_us,bwd_input_us,bwd_weight_us\n"
                           "NV_P100,112,112,64,8,128,3,3,1,1,1,1,900,1000,\n")
    answers = rows_of(run("predict", "--rows", rows)[1])
    expect([a["question"] for a in answers] == ["fwd_us", "bwd_input_us", "bwd_weight_us"], answers)
    flop = 2 * 8 * 128 * 112 * 112 * 64 * 4  # Winograd's F(2 x 2, 3 x 3): 16 of 36 multiplications
    for answer in answers:
        expect(float(answer["predicted"]) * 1e-6 > flop / 10.6e12, "not faster than the peak", answer)


def test_bad_input():
    good = table(100, 5)
    fit = os.path.join(FOLDER, "good.fit")
    run("fit", put("good.csv", good), "-o", fit)
    cases = [
        (("fit", put("nok.csv", "device,m,n,kk,latency_us\nT4,1,2,3,4\n")), 3, '"kk"'),
        (("fit", put("nomeasure.csv", "device,m,n,k\nT4,1,2,3\n")), 3, "latency_us"),
        (("fit", put("few.csv", "\n".join(good.split("\n")[:8]) + "\n")), 3, "too few rows"),
        (("fit", put("nan.csv", "device,m,n,k,time_us\nT4,1,2,3,nan\nT4,1,2,3,nan\n")), 3, "no row"),
        (("fit", put("absurd.csv", "device,m,n,k,time_us\nT4,1,2,3,-5\nT4,-1,2,3,5\n")), 3, "expected a time above 0"),
        (("fit", put("empty.csv", "")), 3, "empty"),
        (("fit", put("bar.csv", "|\n")), 3, "expected names of columns"),
        (("predict", "--rows", put("header.csv", "device,m,n,k\n")), 3, "found no row"),
        (("fit", os.path.join(FOLDER, "absent.csv")), 3, "absent.csv"),
        (("fit", put("ragged.csv", "device,m,n,k,time_us\nT4,1,2\n")), 3, "found 3"),
        (("fit", put("quote.csv", 'device,m\n"T4,1\n')), 3, "quote"),
        (("fit", "--split", "q", put("good2.csv", good)), 2, "--split"),
        (("fit", "--kind", "weather", put("good3.csv", good)), 2, "weather"),
        (("fit",), 2, "at least one table"),
        (("fit", "--on", "t5", put("good4.csv", good)), 4, "t5"),
        (("predict", "--rows", put("x.csv", good), "--fit", put("no.fit", "hello")), 3, "expected a fit"),
    ]
    whole = open(fit, "rb").read()
    expect(whole[:8] == b"PACEFIT\x04", "another version is written", whole[:8])
    cases.append((("predict", "--rows", put("z.csv", good), "--fit", put("cut.fit", whole[:-5])), 3, "damaged"))
    for version in (1, 2, 3):  # of the same bytes: what an older program wrote is not guessed at
        other = put(f"v{version}.fit", whole[:7] + bytes([version]) + whole[8:])
        cases.append((("predict", "--rows", put("w.csv", good), "--fit", other), 3, f"a fit of version {version}; this program reads version 4: fit again"))
    for words, expected, text in cases:
        code, out, err = run(*words)
        expect(code == expected, "exit status", words, code, err)
        expect(text in err and err.count("\n") == 1 and not out, "one clear line", words, err)
    code, out, err = run("predict", "--rows", put("mixed.csv", "device,op,m,n,k\nT4,gemm,64,64,64\nT9,gemm,64,64,64\n"
                                                               "T4,frobnicate,64,64,64\nT4,gemm,0,64,64\nT4,gemm,x,64,64\n"))
    status = [row["status"] for row in rows_of(out)]
    expect(code == 0 and status[0] == "ok", status, err)
    for text, found in zip(("unknown device", "unknown operation", "above 0", "expected a size"), status[1:]):
        expect(text in found, text, found)
    expect("4 of 5" in err, "unanswered rows are counted", err)


def test_validate():
    put("val.csv", table(600, 6))
    cases = put("cases.yaml", """cases:
  - case: fit/easy
    files: [val.csv]
    split: {by: "m,n,k", folds: 2}
    bars: {gmae: "<=0.05", coverage: "0.5..1"}
  - case: fit/hard
    files: [val.csv]
    split: {by: shape, test: 0.2}
    bars: {gmae: "<=0.000001"}
  - case: fit/absent
    files: [absent.csv]
    split: {by: shape, test: 0.2}
    bars: {gmae: "<=0.1"}
""")
    ledger = put("ledger.csv", "case,source,split,metric,unit,n,value,bar,holds,note\n"
                               "other/kept,x,test,gmae,share,1,0.5,<=1,yes,\"a, note\"\nfit/hard,x,test,gmae,share,1,9,<=1,no,\n")
    words = ("validate", "--data", FOLDER, "--cases", cases)
    code, out, err = run(*words, "fit/easy", "--format", "json")
    figures = {f["metric"]: f for f in json.loads(out)["figures"]}
    expect(code == 0 and figures["gmae"]["n"] == 600 and figures["gmae"]["holds"] == "yes", out, err)
    strict_schema.hold(json.loads(out), "validate")
    code, out, err = run(*words, "--ledger", ledger)
    expect(code == 1 and "absent.csv" in err, "a missed bar is exit 1, a missing file a warning", code, err)
    with open(ledger) as file:
        lines = list(csv.DictReader(file))
    expect([l["case"] for l in lines] == ["other/kept", "fit/hard", "fit/easy", "fit/easy"], "lines keep their place", lines)
    expect(lines[0]["note"] == "a, note" and lines[1]["holds"] == "no" and lines[1]["value"] != "9", lines)
    expect(run(*words, "nothing*")[0] == 2, "no such case")
    expect(run("validate")[0] == 2, "no data folder")
    bad = put("bad.yaml", "cases:\n  - case: x\n    files: [val.csv]\n    bars: {gmae: small}\n")
    code, out, err = run("validate", "--data", FOLDER, "--cases", bad)
    expect(code == 3 and "bad.yaml:4" in err, "a bad bar is placed", err)


def test_column_twice():
    """Of two columns of one name nobody can tell which is meant; columns without a name are no columns."""
    for kind in ("kernel", "step", "scaling", "exchange", "job"):
        path = put("twice.csv", "# two\ndevice,n_gpu,model,n_gpu\na100,1,gpt,2\n")
        code, out, err = run("predict", "--rows", path, "--kind", kind)
        expect(code == 3 and out == "", kind, code, out)
        expect("twice.csv:2" in err and '"n_gpu" as columns 2 and 4' in err and err.count("\n") == 1, kind, err)
    path = put("blank.csv", "device,dtype,m,n,k,,\na100,fp32,64,64,64,,\n")
    code, out, err = run("predict", "--rows", path)
    expect(code == 0 and rows_of(out)[0]["status"] == "ok", code, out, err)


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
finish()
