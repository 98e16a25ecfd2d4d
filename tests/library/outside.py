"""What tests of this folder share: commands that must succeed, and the checks of tests/golden."""
import os
import re
import shlex
import subprocess
import sys

SOURCE, BUILD = os.environ["PACELINE_SOURCE"], os.environ["PACELINE_BUILD"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "golden"))
from checks import expect, finish  # noqa: E402,F401

DEMO = os.path.join(SOURCE, "tests", "data", "demo.json.gz")


def verbs(program):
    """The verbs that help lists."""
    return re.findall(r"(?m)^  ([a-z]+) ", output(program, "--help").partition("exit status")[0])


def output(*words, **options):
    """What a command prints; ends the test when it fails."""
    done = subprocess.run(words, capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(words)}: exit status {done.returncode}\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
    return done.stdout
