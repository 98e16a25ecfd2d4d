"""Rows that a fit leaves out are said in one way: how many, and of the first its file, line and reason; one of anything is "1 row", not "1 rows"."""
import os
import re
import tempfile

from checks import SOURCE, expect, finish, run  # noqa: E402

FOLDER = tempfile.mkdtemp()


def put(name, *lines):
    path = os.path.join(FOLDER, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return path


def said_by_fit(kind, path, *words):
    code, out, err = run("fit", "--kind", kind, path, *words)
    expect(code == 0, kind, code, err)
    found = re.findall(r"1 (?:row|curve|size|measurement|job|machine|workload)s\b|1 rows? were", out + err)
    expect(not found, "one of a thing", kind, found, out)
    return next((line.split("warning: ", 1)[1] for line in err.splitlines() if "left out" in line), ""), out


def check(kind, header, good, bad, why, *words):
    """One row left out, then two: `bad` lies behind the header and the good rows."""
    line = len(good) + 2
    path = put(f"{kind}.csv", header, *good, bad)
    one, _ = said_by_fit(kind, path, *words)
    expect(one.startswith(f"1 row was left out: {path}:{line}: ") and why in one, kind, one)
    path = put(f"{kind}.csv", header, *good, bad, bad)
    two, _ = said_by_fit(kind, path, *words)
    expect(two.startswith(f"2 rows were left out; the first: {path}:{line}: ") and why in two, kind, two)


def job_rows():
    with open(os.path.join(SOURCE, "tests/data/jobs_resnet50.csv"), encoding="utf-8") as file:
        lines = [line for line in file.read().splitlines() if not line.startswith("#")]
    return lines[0] + ",step_s", [f"{line},{0.3 + i / 100}" for i, line in enumerate(lines[1:9])]


SIZES = [2**k for k in range(10, 26, 2)]
check("kernel", "device,op,m,n,k,dtype,time_us", [f"A100,gemm,{64 * i},512,512,fp16,{10 + i}" for i in range(1, 40)], "A100,gemm,64,512,512,fp16,bad", "bad")
check("exchange", "system,collective,gpus,bytes,time_us", [f"A,allreduce,8,{b},{20 + b / 1e5}" for b in SIZES], "A,allreduce,8,64,bad", "bad")
check("exchange", "system,collective,gpus,bytes,time_us", [f"A,allreduce,8,{b},{20 + b / 1e5}" for b in SIZES], "A,allreduce,1,64,12", "one rank")
check("step", "model,device,n_gpu,micro_batch,step_time_s", [f"gpt2,A100,{2**i},4,{0.1 + i / 100}" for i in range(1, 5)], "gpt2,A100,4,4,", "no step time was measured")
check("scaling", "model,machine,workers,batch,samples_per_s", [f"resnet50,dgx-a100,{n},64,{n * 700}" for n in (1, 2, 3, 4, 5, 6, 7, 8)], "resnet50,dgx-a100,8,64,", "it was not measured")
header, good = job_rows()
check("job", header, good, good[0].rsplit(",", 1)[0] + ",", "no step time was measured", "--on", "v100")

_, text = said_by_fit("exchange", put("one.csv", "system,collective,gpus,bytes,time_us", "A,allreduce,8,1024,20"))
expect(text.startswith("Fitted 1 curve of 1 size."), "one of all", text[:200])
finish()
