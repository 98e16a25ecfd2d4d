"""`paceline convert`: what it writes is a Chakra trace that reads back to itself and replays; a failure leaves files alone."""
import csv
import io
import json
import os
import subprocess
import sys
import tempfile

import strict_schema
from checks import PACELINE, SOURCE, expect, expect_line, finish, json_of, run

DEMO = os.path.join(SOURCE, "tests", "data", "demo.json.gz")


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 0x80:
            return value, at


def messages(data):
    """The fields of each message, by number: of protocol buffers the wire format and nothing else."""
    at = 0
    while at < len(data):
        length, at = varint(data, at)
        end, fields = at + length, {}
        while at < end:
            key, at = varint(data, at)
            if key & 7 == 2:
                size, at = varint(data, at)
                value, at = data[at : at + size], at + size
            else:
                expect(key & 7 == 0, "wire type", key & 7)
                value, at = varint(data, at)
            fields.setdefault(key >> 3, []).append(value)
        yield fields


def nodes(path):
    with open(path, "rb") as file:
        first, *rest = messages(file.read())
    expect(list(first) == [1], "the first message is the metadata", first)
    return rest


def document(*words):
    answer = json_of("convert", *words)
    strict_schema.hold(answer, "convert")
    return answer


def test_model(folder):
    first, second = os.path.join(folder, "first.et"), os.path.join(folder, "second.et")
    row = document("gpt2", "--set", "tp=4", "--set", "dp=2", "-o", first)["files"][0]
    found = nodes(first)
    expect(len(found) == row["host_nodes"] + row["device_nodes"] > 1000, len(found), row)
    expect(sum(node[3] == [7] for node in found) == row["exchanges"] > 0, "collectives", row)
    expect(row["timed_nodes"] == 0 and not any(7 in node for node in found), "a model has no times", row)
    ids = {node[1][0] if 1 in node else 0 for node in found}
    expect(len(ids) == len(found) and all(on in ids for node in found for on in node.get(5, [])), "dependencies")
    again = document(first, "-o", second)["files"][0]
    expect(again["device_nodes"] == row["device_nodes"] and again["exchanges"] == row["exchanges"], row, again)
    code, out, err = run("predict", first, "--on", "dgx-h100", "--format", "json")
    expect(code == 0 and json.loads(out)["schema"] == "paceline.predict/1", "predict reads it", err)
    _, out, err = run("convert", "resnet50", "-o", first, "--format", "csv")
    expect("a micro-batch of 1 was taken" in err, "predict takes another batch: it is said", err)
    expect("micro-batch" not in run("convert", "resnet50", "--set", "micro_batch=2", "-o", first.replace(".et", "-2.et"))[2], "a batch that was said")
    expect([line["path"] for line in csv.DictReader(io.StringIO(out))] == [first], out)


def test_settles(folder):
    """What was read back is written as it was: waits do not become nodes of their own, round by round."""
    for name, *words in (("lenet",), ("resnet50", "--set", "read_loss=before_backward"), ("dlrm_default",), ("gpt2", "--set", "tp=2", "--set", "dp=2")):
        first, second, third = (os.path.join(folder, f"{name}.{i}.et") for i in (1, 2, 3))
        row, again = document(name, *words, "-o", first)["files"][0], document(first, "-o", second)["files"][0]
        expect(again["host_nodes"] == row["host_nodes"], name, "host nodes", row["host_nodes"], again["host_nodes"])
        document(second, "-o", third)
        expect(open(second, "rb").read() == open(third, "rb").read(), name, "the second round changes nothing")


def test_pipeline(folder):
    """A rank of each stage: together they hold the operators of the whole model, and every message has two ends."""
    whole, staged = os.path.join(folder, "whole.et"), os.path.join(folder, "staged.et")
    alone = document("gpt2", "-o", whole)["files"]
    stages = document("gpt2", "--set", "pp=4", "--set", "global_batch=1", "-o", staged)["files"]
    expect([row["rank"] for row in stages] == [0, 1, 2, 3], "a file of each stage", stages)
    expect(sum(row["device_nodes"] - row["exchanges"] for row in stages) >= alone[0]["device_nodes"], "all work", stages, alone)
    expect(sum(row["exchanges"] for row in stages) % 2 == 0, "both ends", stages)
    apart = document("gpt2", "--set", "tp=2", "--set", "pp=2", "--set", "global_batch=2", "-o", staged)["files"]
    expect([row["rank"] for row in apart] == [0, 2], "the first rank of each stage", apart)
    code, out, err = run("predict", *(row["path"] for row in apart), "--on", "dgx-h100", "--format", "json")
    expect(code == 0, "messages reach the file of their stage", err)


def test_trace(folder):
    path = os.path.join(folder, "demo.et")
    row = document(DEMO, "-o", path)["files"][0]
    timed = [node for node in nodes(path) if 7 in node]
    expect(0 < len(timed) <= row["timed_nodes"] == row["device_nodes"], len(timed), row)


def test_recorded_times(folder):
    """Times of a Chakra trace are of the device that recorded them, which no trace names: on another they change."""
    path = os.path.join(folder, "demo.et")
    run("convert", DEMO, "-o", path)
    asked = ("predict", path, "--on", "h100-80-sxm")
    kernels = lambda answer: sum(row["kernel_ns"] for row in answer["families"])
    code_of = lambda answer: [warning["code"] for warning in answer["warnings"]]
    assumed, here, moved = json_of(*asked), json_of(*asked, "--from", "h100-80-sxm"), json_of(*asked, "--from", "v100-sxm2-16")
    expect("device_assumed" in code_of(assumed) and "--from" in str(assumed["warnings"]), assumed["warnings"])
    expect("device_assumed" not in code_of(here) + code_of(moved), here["warnings"])
    expect(kernels(assumed) == kernels(here) > 0, "the same device", kernels(assumed), kernels(here))
    expect(0.1 < kernels(moved) / kernels(here) < 0.5, "its memory is 3.7 times as fast", kernels(moved), kernels(here))
    code, _, err = run(*asked, "--from", "gtx-none")
    expect_line(code, err, 4, "gtx-none")
    run("convert", "lenet", "-o", path)
    expect("device_assumed" not in code_of(json_of(*asked)), "no times, nothing assumed")
    code, _, err = run(*asked, "--from", "v100-sxm2-16")
    expect_line(code, err, 2, "--from: has no effect", "no times")


def test_steps(folder):
    """One step of a recording, converted, takes as long as it took; all of them together are said to be several."""
    path = os.path.join(folder, "steps.et")
    device = "h100-80-sxm"
    whole = document(DEMO, "-o", path)
    expect("all 5 of a rank follow each other" in " ".join(whole["notes"]), "several steps", whole["notes"])
    of_all = sum(row["kernel_ns"] for row in json_of("predict", path, "--on", device, "--from", device)["families"])
    of_each = []
    for number in range(5, 10):
        one = document(DEMO, "--steps", str(number), "-o", path)
        expect("follow each other" not in " ".join(one["notes"]), "one step", one["notes"])
        of_each.append(sum(row["kernel_ns"] for row in json_of("predict", path, "--on", device, "--from", device)["families"]))
    expect(abs(sum(of_each) / of_all - 1) < 0.01, "the steps are the whole", of_each, of_all)
    for asked in (("--steps", "1"), ("--skip", "1"), ("--step-regex", "x")):
        for given, what in (("lenet", "a model"), (path, "an execution trace")):
            code, _, err = run("convert", given, *asked, "-o", os.path.join(folder, "none.et"))
            expect_line(code, err, 2, asked[0] + ": has no effect", what)


def test_ranks(folder):
    for rank in range(2):
        expect(run("convert", "resnet50", "-o", os.path.join(folder, f"job.{rank}.et"))[0] == 0, rank)
    answer = document(os.path.join(folder, "job.*.et"), "-o", os.path.join(folder, "all.et"))
    wanted = [os.path.join(folder, f"all.{rank}.et") for rank in range(2)]
    expect([row["path"] for row in answer["files"]] == wanted and all(map(os.path.isfile, wanted)), answer["files"])
    expect(len(answer["inputs"]) == 2, answer["inputs"])
    for rank in range(2, 9):
        run("convert", "resnet50", "--set", "dp=2", "-o", os.path.join(folder, f"job.{rank}.et"))
    code, _, err = run("predict", folder, "--on", "dgx-h100")
    expect_line(code, err, 2, "files are so many ranks, dgx-h100 has 8 devices", "--simulate")


def test_refused(folder):
    path = os.path.join(folder, "kept.et")
    with open(path, "w") as file:
        file.write("kept")
    bad = os.path.join(folder, "bad.json")
    with open(bad, "w") as file:
        file.write("{}")
    for code, word, words in (
        (2, "trace or a model", ["-o", path]),
        (2, ".et", ["gpt2"]),
        (2, ".et", ["gpt2", "-o", os.path.join(folder, "x.json")]),
        (2, "--set is for models", [DEMO, "--set", "dp=2", "-o", path]),
        (2, "one model", ["gpt2", "resnet50", "-o", path]),
        (3, "bad.json", [bad, "-o", path]),
        (3, "cannot be created", ["lenet", "-o", os.path.join(folder, "no", "x.et")]),
        (2, "is an input", [path, "-o", path]),
    ):
        done, _, err = run("convert", *words)
        expect_line(done, err, code, word)
    with open(path) as file:
        expect(file.read() == "kept", "a failure leaves the file as it was")
    left = [name for name in os.listdir(folder) if name.endswith(".part")]
    expect(not left, "left behind", left)
    if os.path.exists("/dev/full"):
        link = os.path.join(folder, "full.et")
        os.symlink("/dev/full", link)
        done = subprocess.run([PACELINE, "convert", "lenet", "-o", link], capture_output=True, text=True)
        expect(done.returncode == 3 and "No space left" in done.stderr, "/dev/full", done.returncode, done.stderr)


for test in (test_model, test_steps, test_settles, test_pipeline, test_trace, test_recorded_times, test_ranks, test_refused):
    with tempfile.TemporaryDirectory() as scratch:
        test(scratch)
sys.exit(finish())
