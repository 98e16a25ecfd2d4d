"""What the library does by itself is answered by curves of that, at every door: not by those of a way that it was told, nor of a framework's approach."""
import csv
import io
import json
import os
import tempfile

from checks import expect, finish, run  # noqa: E402

FOLDER = tempfile.mkdtemp()
HEAD = "system,collective,gpus,bytes,algorithm,protocol,library,approach,time_us\n"


def put(name, rows):
    path = os.path.join(FOLDER, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(HEAD + "".join(f"dgx-a100,allreduce,8,1048576,{row}\n" for row in rows))
    return path


def fit(*rows):
    fitted = os.path.join(FOLDER, "fit.json")
    code, _, err = run("fit", "--kind", "exchange", put("rows.csv", rows), "-o", fitted)
    return code, fitted, err


def by_options(fitted):
    code, out, err = run("predict", "--collective", "allreduce", "--bytes", "1048576", "--on", "dgx-a100", "--fit", fitted, "-f", "json")
    expect(code == 0, code, err)
    return json.loads(out)["sizes"][0]["time_us"]


def by_rows(fitted, *rows):
    code, out, err = run("predict", "--kind", "exchange", "--rows", put("asked.csv", rows), "--fit", fitted, "-q")
    expect(code == 0, code, err)
    return [round(float(row["predicted"]), 6) for row in csv.DictReader(io.StringIO(out))]


WAYS = ("ring,simple,,,100", "tree,simple,,,50", "tree,ll,,,70")
OWN = ",,,,60"
code, fitted, _ = fit(*WAYS, OWN)
expect(code == 0 and abs(by_options(fitted) - 60) < 1e-9 and by_rows(fitted, ",,,,") == [60], "by itself", by_options(fitted), by_rows(fitted, ",,,,"))
expect(by_rows(fitted, "ring,simple,,,", "tree,simple,,,", "tree,ll,,,") == [100, 50, 70], "told its way")

code, fitted, _ = fit(*WAYS, ",,nccl-2.18,,66", OWN)
expect(abs(by_options(fitted) - 60) < 1e-9 and by_rows(fitted, ",,,,", ",,nccl-2.18,,") == [60, 66], "a version of its own", by_options(fitted))
code, fitted, _ = fit(*WAYS, ",,nccl-2.18,,66")
expect(abs(by_options(fitted) - 66) < 1e-9 and by_rows(fitted, ",,,,") == [66], "of the only version", by_options(fitted))

code, fitted, err = fit(OWN, ",,,horovod-mpi,900")
expect(code == 0 and "1 row was left out" in err and "a framework's approach" in err, code, err)
expect(abs(by_options(fitted) - 60) < 1e-9 and by_rows(fitted, ",,,,") == [60], "beside an approach", by_options(fitted))
code, _, err = fit(",,,horovod-mpi,900")
expect(code == 3 and "no row that can be learned from; the first: " in err and "a framework's approach" in err, "approaches alone", code, err)
finish()
