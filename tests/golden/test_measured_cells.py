"""A cell of a measured column is read alike in tables of all kinds: as a time, as nothing measured, or refused with column, what was expected and what was found."""
import csv
import io
import os
import re
import tempfile

from checks import SOURCE, expect, finish, run  # noqa: E402

FOLDER = tempfile.mkdtemp()
TIMES = {"12": 12, "1.2e1": 12, "1,234.5": 1234.5, "12ms": 12, "12 ms": 12, "0.012 s": 12, "1.2e-2s": 12, "12000 us": 12, "12000 µs": 12, "12 (3)": 12}
SILENT = ["", "nan", "NaN", "n/a", "NA", "-", "null", "none", "OOM", "?"]
REFUSED = ["inf", "-3", "0", "bad", "1e400", "7 parsecs", "1,23"]


def job_lines():
    with open(os.path.join(SOURCE, "tests/data/jobs_resnet50.csv"), encoding="utf-8") as file:
        head, first = [line for line in file.read().splitlines() if not line.startswith("#")][:2]
    return head, first.rsplit(",", 1)[0] + ",@"


# kind -> header, a row with "@" for the cell, its column
OF_TIME = {"kernel": ("device,op,m,n,k,dtype,time_ms", "A100,gemm,4096,4096,4096,fp16,@", "time_ms"),
           "exchange": ("system,collective,gpus,bytes,time_ms", "dgx-a100,allreduce,8,1048576,@", "time_ms"),
           "step": ("model,device,n_gpu,micro_batch,step_time_ms", "gpt2,A100,2,4,@", "step_time_ms"),
           "scaling": ("model,machine,workers,batch,approach,step_ms", "resnet50,dgx-a100,8,64,horovod-nccl,@", "step_ms"),
           "job": (*job_lines(), "step_ms")}
OF_RATE = {"kernel": ("device,op,m,n,k,dtype,tflops", "A100,gemm,4096,4096,4096,fp16,@", "tflops"),
           "exchange": ("system,collective,gpus,bytes,algbw_GBs", "dgx-a100,allreduce,8,1048576,@", "algbw_GBs"),
           "step": ("model,device,n_gpu,micro_batch,tokens_per_s", "gpt2,A100,2,4,@", "tokens_per_s"),
           "scaling": ("model,machine,workers,batch,approach,samples_per_s", "resnet50,dgx-a100,8,64,horovod-nccl,@", "samples_per_s")}


def table(header, row, cells):
    path = os.path.join(FOLDER, "rows.csv")
    with open(path, "w", encoding="utf-8") as file:
        file.write(header + "\n" + "".join(row.replace("@", f'"{cell}"') + "\n" for cell in cells))
    return path


def statuses(kind, path):
    code, out, err = run("predict", "--rows", path, "--kind", kind, "-q")
    expect(code == 0, kind, code, err)
    return [(row["predicted"], row["status"]) for row in csv.DictReader(io.StringIO(out))]


def test_predicted():
    """A cell that is refused is said; it changes nothing in the answer."""
    for what, tables, good in (("time", OF_TIME, list(TIMES)), ("rate", OF_RATE, ["12", "1.2e1", "1,234.5", "12 (3)"])):
        for kind, (header, row, column) in tables.items():
            cells = good + SILENT + REFUSED
            found = statuses(kind, table(header, row, cells))
            expect(len(found) == len(cells) and len({one for one, _ in found}) == 1 and found[0][0], kind, found)
            for cell, (_, status) in zip(cells, found):
                refused = f'{column}: expected a {what} above 0, found "{cell}"'
                wanted = cell in REFUSED and not (what == "rate" and kind == "step" and cell in ("7 parsecs", "1e400"))  # units of their own
                expect((refused in status) == wanted and (wanted or cell in REFUSED or "expected" not in status), kind, cell, status)


def test_learned():
    """Of exchanges the fit keeps what it read: each time in its own unit."""
    for cell, ms in TIMES.items():
        path = table("system,collective,gpus,bytes,time_ms", "dgx-a100,allreduce,8,1048576,@", [cell])
        fitted = os.path.join(FOLDER, "fit.json")
        code, _, err = run("fit", "--kind", "exchange", path, "-o", fitted, "-q")
        with open(fitted, encoding="utf-8") as file:
            text = file.read()
        found = re.search(r'"points": \[\[1048576, ([0-9.e+-]+)\]', text)
        expect(code == 0 and found and abs(float(found[1]) / (ms * 1e-3) - 1) < 1e-12, cell, code, err, found and found[1])
    for cell in SILENT + REFUSED:
        path = table("system,collective,gpus,bytes,time_ms", "dgx-a100,allreduce,8,1048576,@", [cell])
        expect(run("fit", "--kind", "exchange", path)[0] == 3, "nothing to learn from", cell)


def test_column_of_units():
    """Each row's time is in the unit that the row says, and so is its answer."""
    path = os.path.join(FOLDER, "units.csv")
    rows = [("600", "us"), ("0.6", "ms"), ("0.0006", "s"), ("600us", ""), ("0.6", "cycles"), ("0.6", "")]
    with open(path, "w", encoding="utf-8") as file:
        file.write("device,op,m,n,k,dtype,time,unit\n" + "".join(f"A100,gemm,4096,4096,4096,fp16,{time},{unit}\n" for time, unit in rows))
    code, out, err = run("predict", "--rows", path, "--kind", "kernel")
    found = list(csv.DictReader(io.StringIO(out)))
    expect(code == 0 and not err, code, err)
    seconds = {"s": 1, "ms": 1e-3, "us": 1e-6}
    first = float(found[0]["predicted"]) * 1e-6
    for (_, unit), row in zip(rows, found):
        expect(row["unit"] == (unit if unit in seconds else "us") and abs(float(row["predicted"]) * seconds[row["unit"]] / first - 1) < 1e-9, row)
    expect([row["status"] for row in found[:4]] == ["ok"] * 4, found[:4])
    for row, (_, unit) in zip(found[4:], rows[4:]):
        expect(row["status"] == f'unit: expected a unit of time such as us, found "{unit}"', row)
    code, out, err = run("fit", "--kind", "kernel", path)
    expect("2 rows were left out" in err or "found 4 measured" in err, "the rows whose unit is known", err)


test_predicted()
test_learned()
test_column_of_units()
finish()
