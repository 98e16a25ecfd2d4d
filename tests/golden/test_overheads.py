#!/usr/bin/env python3
"""Host overheads as files: one trace's own give its step back, several are pooled, bad ones are refused."""
import json
import os
import subprocess
import tempfile

import test_predict

PACELINE, SHARED, MAKE_TRACE = test_predict.PACELINE, test_predict.SHARED, os.environ["MAKE_TRACE"]
FOLDER = tempfile.mkdtemp(prefix="paceline-overheads-")


def measure(name, *traces):
    path = os.path.join(FOLDER, name)
    subprocess.run([PACELINE, "analyze", *traces, "--overheads", path, "--format", "json"], stdout=subprocess.DEVNULL,
                   check=True)
    return path


def trace():
    """A generated trace with device work."""
    path = os.path.join(FOLDER, "trace.json")
    with open(path, "wb") as file:
        subprocess.run([MAKE_TRACE, "--steps", "3", "--layers", "12", "--compact"], stdout=file, check=True)
    return path


def check_shared(of):
    """A trace's own overheads, read back: every operator has its own figure and the step stays."""
    path = measure("own.json", of)
    rows = json.load(open(path))["rows"]
    assert rows and all(row["workload"] == of for row in rows), rows[0]
    own, doc = test_predict.predict(of), test_predict.predict(of, "--overheads", path)
    assert own["host_costs"]["source"] == "measured", own["host_costs"]
    costs = doc["host_costs"]
    assert costs["source"] == "shared" and costs["own"] > 0, costs
    assert costs["alike"] == costs["class"] == costs["typical"] == costs["nothing"] == 0, costs
    assert abs(doc["step"]["walk_error"]) <= 0.1, doc["step"]
    twice = test_predict.predict(of, "--overheads", path, "--overheads", path)
    assert abs(twice["step"]["walked_ns"] - doc["step"]["walked_ns"]) <= 0.001 * doc["step"]["walked_ns"], twice["step"]
    model = test_predict.predict("resnet50", "--on", "v100-sxm2-16", "--overheads", path)["host_costs"]
    assert model["source"] == "shared" and model["own"] < sum(v for v in model.values() if isinstance(v, int)), model
    assert test_predict.predict("resnet50", "--on", "v100-sxm2-16")["host_costs"]["source"] == "catalogue"
    return path


def check_refused(of, good):
    bad = os.path.join(FOLDER, "bad.json")
    for text in ("", "[]", "{}", '{"rows": [{"type": "t7"}]}', '{"rows": [', "\0\0"):
        with open(bad, "w") as file:
            file.write(text)
        done = subprocess.run([PACELINE, "predict", of, "--overheads", good, "--overheads", bad],
                              capture_output=True, text=True)
        assert done.returncode == 3 and not done.stdout, (text, done)
        assert len(done.stderr.strip().splitlines()) == 1 and "bad.json" in done.stderr, (text, done.stderr)
    for words in ((of, "--overheads", os.path.join(FOLDER, "nosuch")), (test_predict.DEMO, "--overheads", good)):
        done = subprocess.run([PACELINE, "predict", *words], capture_output=True, text=True)
        assert done.returncode == 3 and not done.stdout and len(done.stderr.strip().splitlines()) == 1, done


def check_all_ranks():
    """Every rank's samples are in the file, each under its trace."""
    folder = os.path.join(SHARED, "chakra", "dlrm_8xV100_kineto")
    rows = json.load(open(measure("ranks.json", folder)))["rows"]
    workloads = {row["workload"] for row in rows}
    assert len(workloads) == 8, workloads
    linear = [row for row in rows if row["type"] == "t2" and row["name"] == "aten::addmm"]
    for row in linear:
        assert row["count"] == len(row["samples_ns"]) >= row["kept"], row


def main():
    of = trace()
    check_refused(of, check_shared(of))
    if os.path.isdir(os.path.join(SHARED, "chakra")):
        check_all_ranks()


if __name__ == "__main__":
    main()
