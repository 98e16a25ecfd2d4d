#!/usr/bin/env python3
"""`paceline fit --kind overhead`: the pooled baseline against an independent sum, files back and forth, bad tables."""
import csv
import json
import os
import random
import subprocess
import tempfile

PACELINE, SHARED = os.environ["PACELINE"], os.environ["PACELINE_SHARED"]
TABLE = os.path.join(SHARED, "dlrm", "overheads_t1_t2_37workloads_202202.csv")
FOLDER = tempfile.mkdtemp(prefix="paceline-transfer-")


def fit(*words):
    return json.loads(subprocess.run([PACELINE, "fit", "--kind", "overhead", "--format", "json", *words],
                                     capture_output=True, check=True).stdout)


def dlrm_alone():
    """The rows of the three DLRMs."""
    path = os.path.join(FOLDER, "dlrm.csv")
    with open(TABLE) as whole, open(path, "w") as part:
        part.writelines(line for number, line in enumerate(whole) if number == 0 or ",DLRM_" in line)
    return path


def baseline(path, kind):
    """Lin et al.'s sharing: the mean over all samples of the other models."""
    with open(path) as file:
        rows = [line for line in csv.DictReader(file) if line["type"] == kind]
    errors = []
    for line in rows:
        others = [(float(r["mean_us"]), float(r["count"])) for r in rows if r["op"] == line["op"] and r["model"] != line["model"]]
        if others:
            mean = sum(m * n for m, n in others) / sum(n for _, n in others)
            errors.append(abs(mean / float(line["mean_us"]) - 1))
    return len(errors), sum(errors) / len(errors)


def made_up():
    generator = random.Random(7)
    path = os.path.join(FOLDER, "made_up.csv")
    with open(path, "w") as file:
        file.write("type,op,model,batch_size,mean_us,std_us,count\n")
        for model in ("a", "b", "c", "d"):
            for batch in (16, 64, 256):
                file.write(f"t1,,{model},{batch},{7 + generator.random()},1,100\n")
                for op in ("aten::linear", "aten::relu", "AddmmBackward0", "Optimizer.step#SGD.step"):
                    file.write(f"t2,{op},{model},{batch},{30 + 10 * generator.random()},2,{generator.randint(50, 99)}\n")
    return path


def check(path):
    document = fit(path)
    for kind in ("t1", "t2"):
        pairs, mean = baseline(path, kind)
        got = document["by_type"][kind]
        assert got["pairs"] == pairs and abs(got["pooled"] - mean) < 1e-9, (path, kind, got, pairs, mean)
    return document


def check_written(path):
    """What -o writes is read back as the same samples, each workload a model of its own."""
    database = os.path.join(FOLDER, "database.json")
    first = fit(path, "-o", database)
    again = fit(database)
    assert (first["rows"], first["workloads"]) == (again["rows"], again["workloads"]), (first["rows"], again["rows"])
    twice = fit(path, path)
    assert twice["by_type"]["t2"]["pooled"] == first["by_type"]["t2"]["pooled"], "the same samples twice"


def check_refused():
    head = "type,op,model,mean_us\n"
    for text, words in ((head + "t6,a,m,1\n", ("line 2", "t1 to t5")), (head + "t1,a,m,x\n", ("line 2", "mean_us", '"x"')),
                        (head + "t1,a,m,-1\n", ("line 2", "mean_us")), (head, ("two models",)), ("op,model\n", ('"type"',)),
                        (head + "t2,a,m,1\nt2,a,m,2\n", ("two models",)), ("", ("empty",)),
                        ("type,op,model,mean\nt1,a,m,1\n", ('"mean_us"',))):
        path = os.path.join(FOLDER, "bad.csv")
        with open(path, "w") as file:
            file.write(text)
        done = subprocess.run([PACELINE, "fit", "--kind", "overhead", path], capture_output=True, text=True)
        assert done.returncode == 3 and not done.stdout, (text, done)
        assert len(done.stderr.strip().splitlines()) == 1 and all(word in done.stderr for word in words), (text, done.stderr)
    done = subprocess.run([PACELINE, "fit", "--kind", "nonsense", path], capture_output=True, text=True)
    assert done.returncode == 2 and "overhead" in done.stderr, done


def main():
    path = made_up()
    check(path)
    check_written(path)
    check_refused()
    if not os.path.exists(TABLE):
        print("the published overheads are not here: made-up ones alone were tried")
        return
    for path, bar in ((TABLE, 0.15), (dlrm_alone(), 0.075)):
        assert check(path)["by_type"]["t2"]["others"] <= bar, path


if __name__ == "__main__":
    main()
