"""Steps that the user annotated with words of his own are found as those of the profiler; parts of a step are not taken for steps."""
import copy
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile

import planted_traces
from checks import PACELINE, SHARED, expect, finish
from leads import analyze

WORDS = ["train_step {}", "TrainStep_{}", "loop[{}]", "Iteration {}: fwd and bwd", "train_step"]


def train(rank, label, count=6, body=lambda rank, number: planted_traces.layers(rank)):
    for number in range(3, 3 + count):
        with rank.annotate(label.format(number)):
            body(rank, number)
    rank.wait(call="cudaDeviceSynchronize")


def figures(document):
    """All that is no name: what a report says of the steps."""
    kept = copy.deepcopy({key: document[key] for key in ("headline", "matrix", "step_matrices", "lead", "advice", "step_table")
                          if key in document})
    return re.sub(r'"(ProfilerStep#|[^"]*tep|[^"]*oop|[^"]*teration)[^"]*"', '"?"', json.dumps(kept))


def write(folder, label, **options):
    rank = planted_traces.Rank()
    train(rank, label, **options)
    return rank.write(os.path.join(folder, "t.json.gz"))


def test_words(folder):
    own = analyze([write(folder, "ProfilerStep#{}")])
    expect(len(own["ranks"][0]["steps"]) == 6, "six steps")
    for label in WORDS:
        document = analyze([write(folder, label)])
        steps = [step["label"] for step in document["ranks"][0]["steps"]]
        wanted = [f"{label} #{n}" if label == "train_step" else label.format(n + 2) for n in range(1, 7)]
        expect(steps == wanted, "steps of", label, steps)
        expect(figures(document) == figures(own), "figures of", label)
        expect(document["step_marks"]["origin"] == "annotated" and document["step_marks"]["basis"] == label.format(3),
               "basis", document["step_marks"])
        said = subprocess.run([PACELINE, "analyze", os.path.join(folder, "t.json.gz")], capture_output=True, text=True).stdout
        expect(f"'{label.format(3)}', for they recur" in " ".join(said.split()), "the choice is named", said[:900])


def test_slice(folder):
    path, cut = write(folder, "train_step {}"), os.path.join(folder, "cut.json.gz")
    subprocess.run([PACELINE, "slice", path, "--steps", "5:6", "-o", cut], check=True, capture_output=True)
    whole, part = analyze([path]), analyze([cut])
    expect([step["label"] for step in part["ranks"][0]["steps"]] == ["train_step 5", "train_step 6"], "the slice's steps")
    expect(part["step_matrices"] == whole["step_matrices"][2:4], "matrices of a slice")


def test_anonymous_slice(folder):
    """The names of steps are the user's too."""
    path, cut = write(folder, "acme step {}"), os.path.join(folder, "cut.json")
    subprocess.run([PACELINE, "slice", path, "--steps", "5:6", "--anonymize", "-o", cut], check=True, capture_output=True)
    with open(cut, encoding="utf-8") as file:
        expect("acme" not in file.read(), "a step's name stands in the slice")
    steps = analyze([cut])["ranks"][0]["steps"]
    expect([step["label"] for step in steps] == ["step 5", "step 6"], "steps without names", steps)


def count(folder, body):
    rank = planted_traces.Rank()
    body(rank)
    document = analyze([rank.write(os.path.join(folder, "p.json.gz"))])
    return len(document["ranks"][0]["steps"]), document["step_marks"]["basis"]


def parts(word, backward):
    """One step of twelve annotated parts, and as much work that stands in none."""
    def body(rank):
        for number in range(12):
            with rank.annotate(word.format(number)):
                planted_traces.layers(rank, 2)
        for _ in range(backward):
            rank.kernel("MmBackward0", 300)
    return body


def nested(rank):
    """Parts of each step, whose numbers begin again."""
    for step in range(4):
        with rank.annotate(f"my iteration {step}"):
            for part in range(6):
                with rank.annotate(f"part {part}"):
                    planted_traces.layers(rank, 2)


def test_parts(folder):
    for word in ("layer {}", "encoder.layer_{}", "micro-batch {}", "MicroBatch{}", "transformer block {}"):
        expect(count(folder, parts(word, 0))[0] == 0, word, "is a part")
    expect(count(folder, parts("piece {}", 100))[0] == 0, "half of the work stands in none of them")
    expect(count(folder, nested) == (4, "my iteration 0"), "the outer ones", count(folder, nested))


def test_recorded(folder):
    """A real recording whose steps are renamed tells the same."""
    source = os.path.join(SHARED, "kineto", "hta_resnet_ddp_2xA100_rank0_ncclmeta.json.gz")
    if not SHARED or not os.path.exists(source):
        print("no recordings are at hand")
        return
    with gzip.open(source, "rt") as file:
        text = re.sub(r'"ProfilerStep#(\d+)"', r'"train_step \1"', file.read())
    renamed = os.path.join(folder, "renamed.json.gz")
    with gzip.open(renamed, "wt", compresslevel=1) as file:
        file.write(text)
    own, other = analyze([source]), analyze([renamed])
    expect(figures(own) == figures(other), "a recording under other names")


with tempfile.TemporaryDirectory() as work:
    test_words(work)
    test_slice(work)
    test_anonymous_slice(work)
    test_parts(work)
    test_recorded(work)
sys.exit(finish())
