"""A prediction whose alike micro-batches were left out is, in every table, that of the whole walk. A what-if that changes nothing
has the whole step walked: what is said of the step as it is must then be the same to the last bit, for steps drawn at random."""
import json
import os
import random
import sys
import tempfile

from checks import PACELINE, expect, finish

MODELS = {"gpt2": 12, "gpt2_medium": 24, "gpt3_350m": 24, "distilbert": 6, "bert_base": 12, "opt_125m": 12, "vit_base": 12}
MACHINES = ["dgx-a100", "dgx-h100", "dgx-1-v100", "hgx-a100-80"]
OTHER = {"command", "edits", "notes", "scenarios", "summary"}  # what was asked, and of whom each line speaks
# Without a resource some stages or hosts still catch up with the slowest when the rounds that are left out begin.
CATCHES_UP = [["gpt3-175b", "--on", "dgx-a100*128", "--set", "tp=8", "--set", "pp=16", "--set", "dp=8", "--set", "global_batch=512"],
              ["gpt2", "--on", "dgx-1-v100", "--set", "pp=2", "--set", "dp=1", "--set", "micro_batch=1", "--set", "precision=fp32",
               "--set", "recompute=full", "--set", "optimizer=sgd", "--set", "global_batch=64"]]
ASKED = 8


def drawn(dice):
    model = dice.choice(list(MODELS))
    stages = dice.choice([s for s in (2, 3, 4, 6) if MODELS[model] % s == 0])
    settings = {"pp": stages, "dp": dice.choice([1, 1, 2]) if stages < 6 else 1, "micro_batch": dice.choice([1, 2, 4]),
                "precision": dice.choice(["fp32", "fp16", "amp"]), "execution": dice.choice(["eager", "eager", "compiled"]),
                "recompute": dice.choice(["none", "full"]), "optimizer": dice.choice(["adam", "sgd"])}
    if MODELS[model] % (2 * stages) == 0 and dice.random() < 0.4:
        settings["vpp"] = 2
    else:
        settings["schedule"] = dice.choice(["1f1b", "zero-bubble"])
    if settings["dp"] > 1:
        settings["zero_stage"] = dice.choice([0, 1, 2, 3])
    settings["global_batch"] = settings["micro_batch"] * settings["dp"] * stages * dice.randrange(24, 40)
    return [model, "--on", dice.choice(MACHINES), *(word for item in settings.items() for word in ("--set", "%s=%s" % item))]


def ask(*words):
    """The document, and the most memory that the answer took."""
    with tempfile.TemporaryFile() as out:
        child = os.posix_spawn(PACELINE, [PACELINE, "predict", *words, "-q", "-f", "json"], os.environ,
                               file_actions=[(os.POSIX_SPAWN_DUP2, out.fileno(), 1)])
        status, usage = os.wait4(child, 0)[1:]
        out.seek(0)
        code = os.waitstatus_to_exitcode(status)
        expect(code in (0, 1), "an answer", words, code)
        return (json.loads(out.read()) if code in (0, 1) else {}), usage.ru_maxrss


dice, smaller = random.Random(int(sys.argv[1]) if len(sys.argv) > 1 else 2), 0
questions = [drawn(dice) for _ in range(ASKED)] + CATCHES_UP
for question in questions:
    (few, few_bytes), (whole, whole_bytes) = ask(*question), ask(*question, "--scale", ".*:1")
    for key in sorted((set(few) | set(whole)) - OTHER):
        expect(few.get(key) == whole.get(key), question, key, few.get(key), whole.get(key))
    expect(few["scenarios"][0] == whole["scenarios"][0], question, few["scenarios"][0], whole["scenarios"][0])
    smaller += few_bytes < 0.8 * whole_bytes
expect(smaller * 3 > ASKED, "most steps were walked whole: nothing was compared", smaller)
finish()
