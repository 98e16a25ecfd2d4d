#!/usr/bin/env python3
"""Exit statuses: one table for --help, the manual and docs/cli.md, and runs that end with each."""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from checks import PACELINE, SOURCE, expect, finish, run


def tables():
    help_text, manual, page = run("--help")[1], run("man", "analyze")[1], Path(SOURCE, "docs", "cli.md").read_text()
    in_help = dict(re.findall(r"^ +(\d+)  (.+)$", help_text, re.M))
    in_docs = dict(re.findall(r"^\| (\d+) \| (.+) \|$", page, re.M))
    in_manual = dict(re.findall(r"^\.TP\n(\d+)\n(.+)$", manual.replace("\\-", "-"), re.M))
    expect(len(in_help) == 7 and in_help == in_docs == in_manual, in_help, in_docs, in_manual)
    variables = dict(re.findall(r"^  ([A-Z_]+) +(.+)$", help_text, re.M))
    expect(variables and variables == dict(re.findall(r"^\| `([A-Z_]+)` \| (.+) \|$", page, re.M)), variables)


def main():
    tables()
    with tempfile.TemporaryDirectory(prefix="paceline-exit-") as folder:
        bad = os.path.join(folder, "bad.json")
        Path(bad).write_text("{")
        for status, words in ((0, ("models", "lenet")), (1, ("predict", "gpt3_175b", "--on", "v100", "-q")), (2, ("predict", "lenet")),
                              (2, ("nonsense",)), (3, ("analyze", bad)), (3, ("analyze", folder + "/none.json")),
                              (3, ("models", "-o", folder + "/none/x.json")), (4, ("predict", "lenet", "--on", "nosuch")),
                              (2, ("models", "-o", "--quiet")), (2, ("models", "-o", "-q")), (2, ("analyze", os.path.join(SOURCE, "tests", "data", "demo.json.gz"), "--step-regex", "")),
                              (4, ("models", "nosuch")), (4, ("predict", "nosuch"))):
            code, _, err = run(*words)
            expect(code == status, words, code, status, err)
        command = f"ulimit -f 4; '{PACELINE}' fleet --synthesize 20000 -o {folder}/jobs.csv"
        large = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
        expect(large.returncode == 3 and "File too large" in large.stderr and "jobs.csv" in large.stderr, "past ulimit -f", large)
        expect(os.listdir(folder) == ["bad.json"], "left behind", os.listdir(folder))
    command = f"'{PACELINE}' fleet --synthesize 200000 | head -c 1 > /dev/null; exit ${{PIPESTATUS[0]}}"
    gone = subprocess.run(["bash", "-c", command], capture_output=True)
    expect(gone.returncode == 141 and not gone.stderr, "reader", gone)
    if "ASAN_OPTIONS" not in os.environ:  # its shadow needs room
        limited = subprocess.run(["bash", "-c", f"ulimit -v 30000; '{PACELINE}' predict gpt3_175b --on dgx-h100"], capture_output=True)
        expect(limited.returncode in (5, 127), "memory", limited)  # 127: not even the loader had room
    return finish()


if __name__ == "__main__":
    sys.exit(main())
