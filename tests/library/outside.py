"""What tests of this folder share: commands that must succeed, and the checks of tests/golden."""
import os
import shlex
import subprocess
import sys

SOURCE, BUILD = os.environ["PACELINE_SOURCE"], os.environ["PACELINE_BUILD"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "golden"))
from checks import expect, finish  # noqa: E402,F401

VERBS = ("analyze", "predict", "plan", "compare", "convert", "slice", "history", "fleet", "fit", "calibrate", "validate", "machines", "models")
DEMO = os.path.join(SOURCE, "tests", "data", "demo.json.gz")


def output(*words, **options):
    """What a command prints; ends the test when it fails."""
    done = subprocess.run(words, capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(words)}: exit status {done.returncode}\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
    return done.stdout
