"""Tables that timed calls of a framework: the host's way to the device is in their times, and no kernel and no curve takes it on."""
import csv
import io
import os
import sys
import tempfile

from checks import expect, finish, json_of, run, says_no

FOLDER = tempfile.mkdtemp(prefix="paceline-timed-calls-")
BMM_US, LINEAR_US = 28.5 + 6.5, 33 + 6.5  # T2 of the operator and a launch's way on NVIDIA's devices (catalog/frameworks.yaml)
EXCHANGE_US, COPY_US = 38, 10


def put(name, header, rows):
    path = os.path.join(FOLDER, name)
    with open(path, "w") as file:
        file.write(header + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    return path


def ask(path, *more):
    code, out, err = run("predict", "--rows", path, "-f", "csv", *more)
    expect(code == says_no(err), "refused", path, err)
    return list(csv.DictReader(io.StringIO(out)))


def test_kernels():
    """A call takes as much at every size, and nothing where the kernel alone was timed."""
    for op, call_us in (("bmm", BMM_US), ("linear", LINEAR_US), ("aten::bmm", BMM_US)):
        for size in (16, 512, 4096):
            words = ("", "kernel", "call", "Calls", "backwards")
            table = put("products.csv", "op,b,m,n,k,dtype,timed,us", [(op, 2, size, size, size, "fp32", word, 1) for word in words])
            unsaid, kernel, call, calls, unknown = ask(table, "--kind", "kernel", "--on", "v100-sxm2-16")
            alone, called = float(unsaid["predicted"]), float(call["predicted"])
            expect(abs(called - alone - call_us) < 1e-4, op, size, alone, called)
            expect(kernel["predicted"] == unknown["predicted"] == unsaid["predicted"] and calls["predicted"] == call["predicted"], op, size)
            expect([row["status"] for row in (unsaid, call, unknown)] == ["ok", "ok", "ok; no effect: timed"], unknown)
            expect(float(call["low"]) < called < float(call["high"]), "an interval around both", call)


def test_kernels_fitted():
    """No kernel is learned from calls: a fit of both has what the kernels alone say."""
    shapes = [(m, n, k) for m in (64, 256, 1024) for n in (256, 1024) for k in (128, 512, 1024, 2048)]
    header = "op,m,n,k,dtype,timed,us"
    kernels = [("gemm", m, n, k, "fp16", "kernel", 3 + 2 * m * n * k / 1e8) for m, n, k in shapes]
    called = [(*row[:5], "call", row[6] + 500) for row in kernels]
    answers = []
    for name, rows in (("kernels", kernels), ("both", kernels + called)):
        fit = os.path.join(FOLDER, name + ".fit")
        found = json_of("fit", put(name + ".csv", header, rows), "-o", fit, "--on", "a100")
        expect((found["rows"], found["rows_left_out"]) == (len(kernels), len(rows) - len(kernels)), name, found["rows"])
        asked = put("asked.csv", header, [("gemm", 192, 384, 768, "fp16", "", 1)])
        answers.append(ask(asked, "--fit", fit)[0]["predicted"])
    expect(answers[0] == answers[1], answers)


def test_exchanges():
    """Every call takes as much, and one of lists a copy for each rank besides."""
    sizes, names = (1024, 1 << 20, 1 << 28), ("all_reduce", "all_gather_base", "all_gather", "reduce_scatter")
    rows = [(name, 4, size, word) for name in names for size in sizes for word in ("", "collective", "call", "backwards")]
    told = ask(put("exchanges.csv", "collective,gpus,bytes,timed", rows), "--kind", "exchange", "--on", "dgx-1-v100")
    for at in range(0, len(told), 4):
        unsaid, alone, call, unknown = told[at:at + 4]
        extra_us = (float(call["predicted"]) - float(unsaid["predicted"])) * 1e6
        lists = unsaid["collective"] in ("all_gather", "reduce_scatter")
        expect(abs(extra_us - EXCHANGE_US - 4 * COPY_US * lists) < 1e-3, unsaid["collective"], unsaid["bytes"], extra_us)
        expect(alone["predicted"] == unsaid["predicted"] == unknown["predicted"], unsaid, unknown)
        expect(unknown["status"] == "ok; no effect: timed", unknown["status"])


def test_exchanges_fitted():
    """A curve is the exchange's without its call; a size that was measured so is answered so, and less where no call is asked about."""
    measured = [("lab", "all_reduce", 8, 1 << i, "call", 60 + (1 << i) / 1e4) for i in range(10, 28, 2)]
    table = put("curve.csv", "system,collective,gpus,bytes,timed,time_us", measured)
    fit = os.path.join(FOLDER, "curve.fit")
    code, _, err = run("fit", "--kind", "exchange", table, "-o", fit, "-q")
    expect(code == 0, "fit", err)
    for row in ask(table, "--kind", "exchange", "--fit", fit):
        expect(abs(float(row["predicted"]) / float(row["time_us"]) - 1) < 1e-6, row)
    alone = put("alone.csv", "system,collective,gpus,bytes,time_us", [(*row[:4], row[5]) for row in measured])
    for row in ask(alone, "--kind", "exchange", "--fit", fit):
        expect(abs(float(row["time_us"]) - float(row["predicted"]) - EXCHANGE_US) < 1e-3, row)


test_kernels()
test_kernels_fitted()
test_exchanges()
test_exchanges_fitted()
sys.exit(finish())
