#!/usr/bin/env python3
"""Completions offer every verb, option and word, and no word that the program refuses."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from checks import PACELINE, SOURCE, expect, finish, run

DEMO = os.path.join(SOURCE, "tests", "data", "demo.json.gz")
JOBS = os.path.join(SOURCE, "tests", "data", "jobs_synthetic.csv.gz")
EXCHANGE = ("predict", "--kind", "exchange", "--on", "dgx-h100", "--bytes", "1M")
# Each with a word that is none: the message lists those that are.
ASKED = (
    (("analyze", DEMO), "stage"), (("predict", DEMO, "--on", "h100"), "precision"), (("fit", "x.csv"), "kind"),
    (("fleet", JOBS), "overlap"), (("fleet", JOBS), "contention"), (("fleet", JOBS), "nvlink"),
    (("tune", "--on", "dgx-h100"), "collective"), (("tune", "--on", "dgx-h100"), "library"), (("tune", "--on", "dgx-h100"), "dialect"),
    (EXCHANGE, "algorithm"), (EXCHANGE, "protocol"), (EXCHANGE, "library"), (EXCHANGE, "collective"),
    (("predict", "resnet50", "--on", "dgx-h100"), "approach"), (("train", "lenet"), "clock"), (("train", "lenet"), "runner"),
    (("train", "lenet"), "study"), (("train", "lenet"), "data"), (("train", "lenet"), "approach"), (("validate", "--live"), "runner"),
    (("train", "lenet", "--ranks", "2"), "overlap"), (("validate", "--live", "--ranks", "2"), "approach"),
)


def offered():
    """verb, option -> words, as fish is told, and the help of those with few words, which lists them."""
    words = {}
    for verb, option, listed, told in re.findall(r"seen_subcommand_from (\w+)' -l ([\w-]+)(?: -s \w)? -x -a '([^']*)'.* -d '(.*)'",
                                                 run("completion", "fish")[1]):
        words[verb, option] = listed.split()
        missing = set(words[verb, option]) - set(re.findall(r"[\w+-]+", told))
        expect(not missing or "..." in told or len(words[verb, option]) > 5, verb, option, "help", missing)
    return words


def test_words(words):
    verbs = re.findall(r"use_subcommand -f -a (\w+)", run("completion", "fish")[1])
    formats = {verb for verb, option in words if option == "format"}
    expect(len(verbs) == 15 and formats == set(verbs), "formats", set(verbs) ^ formats)
    for (verb, option), all_words in words.items():
        expect(len(all_words) == len(set(all_words)) > 1, verb, option, all_words)
    for command, option in ASKED:
        code, _, err = run(*command, "--" + option, "zz")
        told = set(re.findall(r"[\w+-]+", err.split("expected", 1)[-1].split("found", 1)[0].split("(predict", 1)[0])) if code else set()
        if "has no effect" in err or code == 4:  # a build without what trains
            continue
        missing = set(words[command[0], option]) - told
        expect(code == 2 and not missing, command, option, missing, err)
        others = told - set(words[command[0], option]) - {"one", "of", "or", "a", "number", "from", "0", "to", "1", "version", "such", "as", "and", "folder", "IDX", "files"}
        expect(not {word for word in others if not re.match(r"nccl-|\d", word)}, command, option, "not offered", others)


BASH = """source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _paceline paceline "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


def test_bash(folder):
    if not shutil.which("bash"):
        return
    script = os.path.join(folder, "paceline.bash")
    with open(script, "w") as file:
        file.write(run("completion", "bash")[1])
    open(os.path.join(folder, "a b.json"), "w").close()
    env = {**os.environ, "PATH": os.path.dirname(PACELINE) + ":" + os.environ["PATH"]}
    for words, wanted in (
        (("pred",), {"predict"}), (("predict", "resnet3"), {"resnet34"}), (("train", "alexn"), {"alexnet"}), (("analyze", "a"), {"a b.json"}),
        (("analyze", "--format", "js"), {"json"}), (("analyze", "-f", "perf"), {"perfetto"}), (("man", "sl"), {"slice"}),
        (("completion", ""), {"bash", "zsh", "fish"}), (("calibrate", "n"), {"neurons"}), (("machines", "dgx-h1"), {"dgx-h100"}),
        (("predict", "lenet", "--on", "dgx-h1"), {"dgx-h100"}), (("slice", "--anon"), {"--anonymize"}), (("tune", "--dialect", "t"), {"torchcomms"}),
    ):
        done = subprocess.run(["bash", "-c", BASH, "bash", script, "paceline", *words], capture_output=True, text=True, env=env, cwd=folder)
        expect(wanted == set(done.stdout.split("\n")) - {""}, words, done.stdout, done.stderr)


def main():
    test_words(offered())
    with tempfile.TemporaryDirectory(prefix="paceline-completions-") as folder:
        test_bash(folder)
    return finish()


sys.exit(main())
