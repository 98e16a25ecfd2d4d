"""What tests of this folder share: the program run from outside, checks that are counted, and their sum as an exit status."""
import json
import os
import re
import subprocess
import sys

PACELINE = os.environ["PACELINE"]
SHARED = os.environ.get("PACELINE_SHARED", "")
SOURCE = os.environ.get("PACELINE_SOURCE", ".")
wrong = []
count = 0


def expect(good, *what):
    """Counts a check; one that fails is said at once and does not end the test."""
    global count
    count += 1
    if not good:
        wrong.append(what)
        print("wrong:", *(str(w)[:1500] for w in what))


def run(*words, stdin=b"", stdout=subprocess.PIPE):
    """Exit status, output and errors; a signal or a sanitizer's report is wrong wherever it happens."""
    done = subprocess.run([PACELINE, *words], input=stdin, stdout=stdout, stderr=subprocess.PIPE, timeout=300)
    out = (done.stdout or b"").decode("utf-8", "replace")
    err = done.stderr.decode("utf-8", "replace")
    expect(0 <= done.returncode <= 5 or done.returncode == 141, "crashed", words, done.returncode, err[-400:])
    expect("Sanitizer" not in err and "runtime error" not in err, "sanitizer", words, err[-800:])
    return done.returncode, out, err


def says_no(err):
    """An answer with status 1: a step that does not fit into memory, or a table of which no row has an answer."""
    return "Does not fit: " in err or bool(re.search(r"\b(\d+) of \1 rows cannot be answered", err))


def json_of(*words, stdin=b""):
    """The JSON document of an answer that is a yes; {} where it is none."""
    code, out, err = run(*words, "--format", "json", stdin=stdin)
    expect(code == 0, "expected an answer", words, code, err)
    return json.loads(out) if code == 0 else {}


def expect_line(code, err, wanted_code, *wanted):
    """One line on standard error that says what is wanted."""
    expect(code == wanted_code, "exit status", code, "instead of", wanted_code, err)
    expect(len(err.strip().splitlines()) == 1, "expected one line", err)
    for text in wanted:
        expect(text in err, "expected", text, "in", err)


def finish():
    """Ends the test: a script that calls it cannot forget to fail."""
    print(f"{count} checks, {len(wrong)} wrong")
    sys.exit(1 if wrong else 0)
