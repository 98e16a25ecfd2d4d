#!/usr/bin/env python3
"""Every verb writes the same bytes under a locale with decimal commas and one whose small I has no dot. The test makes the locales
itself; it is skipped where localedef or its sources (Debian package locales) are not there."""
import os
import shutil
import subprocess
import sys
import tempfile

from checks import PACELINE, SOURCE, expect, finish

DEMO = os.path.join(SOURCE, "tests", "data", "demo.json.gz")
JOBS = os.path.join(SOURCE, "tests", "data", "jobs_synthetic.csv.gz")
COMMANDS = (
    ["analyze", DEMO],
    ["analyze", DEMO, "--format", "json"],
    ["analyze", DEMO, "--format", "csv", "--table", "operators"],
    ["analyze", DEMO, "--format", "html"],
    ["compare", DEMO, DEMO],
    ["predict", DEMO, "--on", "H100 memory=1.5TB/s"],
    ["predict", "RESNET50", "--on", "TITAN-XP", "--set", "micro_batch=3", "--format", "json"],
    ["predict", "--kind", "exchange", "--on", "dgx-h100*2", "--bytes", "1MiB", "--format", "csv"],
    ["plan", "resnet50", "--on", "dgx-1-v100", "--top", "3"],
    ["tune", "--on", "dgx-h100*2", "--collective", "allreduce", "--bytes", "1KB"],
    ["fleet", JOBS, "--format", "json"],
    ["fleet", "--synthesize", "50"],
    ["slice", DEMO, "--steps", "6", "--anonymize", "-o", "slice.json"],
    ["machines", "--format", "csv"],
    ["models", "bert"],
    ["history", "none.sqlite"],
    ["fit", "none.csv"],
    ["calibrate", "--list"],
    ["analyze", "--step-regex", "[P]rofiler[S]tep", DEMO],
    ["man", "predict"],
    ["completion", "zsh"],
)


def make(folder, name):
    made = subprocess.run(["localedef", "-i", name, "-f", "UTF-8", os.path.join(folder, name + ".UTF-8")], capture_output=True)
    return made.returncode == 0


def answers(folder, locale):
    """The answer to each command, and the slice that was written."""
    env = {**os.environ, "LOCPATH": folder, "LC_ALL": locale, "LANGUAGE": locale[:2]}
    said = [subprocess.run([PACELINE, *words], capture_output=True, env=env, cwd=folder) for words in COMMANDS]
    with open(os.path.join(folder, "slice.json"), "rb") as file:
        return [(one.returncode, one.stdout, one.stderr) for one in said], file.read()


# The module of Python, whose interpreter takes the locale: words in other letters must be known all the same.
ASK = """import locale, sys
sys.path.insert(0, sys.argv[1])
import paceline
assert locale.setlocale(locale.LC_CTYPE).startswith(sys.argv[2][:5]), locale.setlocale(locale.LC_CTYPE)
answer = paceline.predict(kind="exchange", on="DGX-1-V100", bytes="1MiB", algorithm="RING", library="NCCL")
print(answer.json())
"""


LIBRARY = os.path.join(os.environ["PACELINE_BUILD"], "libpaceline.so.1")  # which builds with sanitizers do not have


def ask_python(folder, locale):
    env = {**os.environ, "LOCPATH": folder, "LC_ALL": locale, "PACELINE_LIBRARY": LIBRARY}
    words = [sys.executable, "-c", ASK, os.path.join(SOURCE, "python"), locale]
    return subprocess.run(words, capture_output=True, env=env, text=True)


def main():
    with tempfile.TemporaryDirectory(prefix="paceline-locales-") as folder:
        if not shutil.which("localedef") or not all(make(folder, name) for name in ("de_DE", "tr_TR")):
            print("skipped: localedef cannot make de_DE and tr_TR (Debian package locales)")
            return 77
        plain, plain_slice = answers(folder, "C.UTF-8")
        expect(sum(code == 0 for code, _, _ in plain) >= 17, [(words, said[2]) for words, said in zip(COMMANDS, plain) if said[0]])
        for locale in ("de_DE.UTF-8", "tr_TR.UTF-8"):
            told = subprocess.run(["locale", "decimal_point"], capture_output=True, env={**os.environ, "LOCPATH": folder, "LC_ALL": locale})
            expect(told.stdout == b",\n", locale, "is not in force", told)
            there, there_slice = answers(folder, locale)
            for words, one, other in zip(COMMANDS, plain, there):
                expect(one == other, locale, words, one[2][:200], other[2][:200])
            expect(plain_slice == there_slice, locale, "slice")
            if not os.path.exists(LIBRARY):
                continue
            one, other = ask_python(folder, "C.UTF-8"), ask_python(folder, locale)
            expect(one.returncode == 0 and one.stdout == other.stdout, locale, one.stderr[-300:], other.stderr[-300:])
    return finish()


sys.exit(main())
