"""What a row leaves out and its status says was assumed, stated in the row: the same step to the last bit, and an interval that is not wider.
Rows are drawn at random; each leaves out some of its columns."""
import csv
import io
import math
import random
import re
import sys

from checks import expect, finish, run

ROWS, SEED, LEAST_ASKED = 160, 11, 60
MODELS = ("gpt2", "gpt2_xl", "gpt3_1.3b", "llama2-7b", "llama3-8b", "llama3-70b", "bert_large", "resnet50", "deepseek-v2-lite")
NUMBERS = r"(seq|vpp|dp|micro_batch|global_batch) (\d+)"
NEVER_LEFT = {"device", "model", "hidden", "layers", "heads"}
one = random.Random(SEED).choice


def draw():
    row = {"device": one(("a100-80-sxm", "h100-80-sxm", "b200", "h200-141-sxm")), "framework": one(("pytorch", "megatron-core", "deepspeed", "torchtitan", "")),
           "precision": one(("bf16", "fp32", ""))}
    if one((True, False)):
        row["model"] = one(MODELS)
    else:
        hidden = one((1024, 2048, 4096))
        row |= {"hidden": hidden, "heads": hidden // 128, "layers": one((8, 16, 24)), "vocab": one((32000, 50304))}
    row |= {"seq": one((512, 1024, 2048)), "tp": one((1, 1, 2, 4)), "pp": one((1, 1, 2, 4)), "dp": one((1, 2, 4)), "micro_batch": one((1, 2, 4))}
    row |= {"global_batch": row["micro_batch"] * row["dp"] * one((1, 4, 16)), "zero_stage": one((0, 1, 3)), "recompute": one(("none", "selective", "full"))}
    return {key: value for key, value in row.items() if key in NEVER_LEFT or one((True, True, False))}


def ask(rows):
    text = io.StringIO()
    writer = csv.DictWriter(text, list(dict.fromkeys(key for row in rows for key in row)))
    writer.writeheader()
    writer.writerows(rows)
    code, out, err = run("predict", "--rows", "-", "--kind", "step", "-f", "csv", "-q", stdin=text.getvalue().encode())
    answers = list(csv.DictReader(io.StringIO(out)))
    expect(len(answers) == len(rows), "as many answers as rows", code, err)
    return answers


def stated(row, status):
    """The row with what its status says was assumed."""
    told = dict(row)
    for said in status.split("; "):
        words = said.removeprefix("assumed ") if said.startswith("assumed ") else ""
        told |= {key: value for key, value in re.findall(NUMBERS, words)}
        if words in ("fp32", "bf16", "fp16", "amp", "amp_bf16"):
            told["precision"] = words
        elif words == "full recomputation":
            told["recompute"] = "full"
        elif words.startswith("framework "):
            told["framework"] = words.split()[1]
    return told


def width(answer):
    return math.log(float(answer["high"]) / float(answer["low"]))


rows = [draw() for _ in range(ROWS)]
asked = [(row, stated(row, answer["status"]), answer) for row, answer in zip(rows, ask(rows)) if answer["predicted"]]
asked = [(row, told, answer) for row, told, answer in asked if told != row]
expect(len(asked) >= LEAST_ASKED, "enough rows leave something out", len(asked))
for (row, told, answer), known in zip(asked, ask([told for _, told, _ in asked])):
    expect(known["predicted"] == answer["predicted"], row, told, answer["predicted"], known["predicted"], answer["status"], known["status"])
    if known["predicted"] and answer["predicted"]:
        expect(width(known) <= width(answer) * (1 + 1e-9), "told more, known no less", row, told, width(answer), width(known))
sys.exit(finish())
