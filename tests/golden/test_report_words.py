"""Reports that people read: units and percentages spelled one way, counts whole, words of the trade explained where they stand."""
import html
import os
import re
import sys
import tempfile

from checks import SOURCE, expect, finish, run
from planted_traces import Rank, layers, steps, update
from raw_trace import recordings

DEMO = os.path.join(SOURCE, "tests", "data", "demo.json.gz")
SPELLED_WRONG = {"a percentage without a space": r"\d%", "microseconds without their letter": r"\d us\b", "whole calls with decimals": r"\d\.\d+ calls",
                 "a word nobody explains": r"\belasticity\b|\(none\)|(?m:^t[1-5]\b)|idle_[a-z]|before_trace|compute_bound|memory_bound"}
EXPLAINED = {"of the path": "critical path, the chain", "robust standard deviation": "times the median distance", "exposed": "comm without compute",
             "gap before": "nothing that is recorded ran", "occupancy": "threads a multiprocessor holds", "delay median": "to the start of",
             "roofline": "at its peak rates", "busbw": "cross a rank's link", "in operators": "calls itself", "held at peak": "not given back"}


def prose(page):
    """What a reader of the page sees: no markup, style or script."""
    body = re.sub(r"(?s)<(style|script)[^>]*>.*?</\1>", " ", page)
    return html.unescape(re.sub(r"<[^>]*>", " ", body))


def check(name, text, explains=True):
    for what, pattern in SPELLED_WRONG.items():
        found = re.search(pattern, text)
        expect(not found, name, what, text[max(0, found.start() - 60):found.end() + 40] if found else "")
    flat = re.sub(r"\s+", " ", text)
    for word, words in EXPLAINED.items():
        if explains and re.search(rf"\b{word}\b", flat):
            expect(words in flat, name, word, "is not explained")
    headings = re.findall(r"(?m)^rank +.*\bspan\b.*$", text)
    expect(all(" memory " not in line for line in headings), name, "memory means the allocator's, or what binds a kernel", headings)


def test_planted(folder):
    def body(rank, _):
        layers(rank)
        update(rank)
        rank.item()
    rank = Rank()
    steps(rank, 5, body)
    path = rank.write(os.path.join(folder, "one.json"))
    check("planted", run("analyze", path)[1])
    check("compare", run("compare", path, DEMO)[1], explains=False)


def test_what_was_asked():
    """Headings say what was asked: nothing of a model was recorded or measured, and a lone step has no change."""
    model = run("predict", "resnet50", "--on", "t4", "-q")[1]
    expect("The step as asked\n" in model and not re.search("measured here|today|are moved|Speed-up is", model), "model", model[:1500])
    same, moved = (run("predict", DEMO, *words, "-q")[1] for words in (("--fuse", "aten::"), ("--on", "t4")))
    expect("The recorded step, replayed and under each change" in same and "another device by the ratio" not in same, "no other device")
    expect("moved to another device by the ratio" in moved, "another device")


def test_forms(name, path, folder):
    check(name, run("analyze", path)[1])
    page = os.path.join(folder, "a.html")
    expect(run("analyze", path, "-o", page)[0] == 0, name)
    with open(page) as file:
        check(name + ", page", prose(file.read()))


with tempfile.TemporaryDirectory() as folder:
    test_planted(folder)
    test_what_was_asked()
    test_forms("demo", DEMO, folder)
    for name, path in recordings().items():
        if name in ("hta_resnet_ddp_2xA100_rank0_ncclmeta", "tl_qwen05b_generate_1xh100"):
            test_forms(name, path, folder)
sys.exit(finish())
