"""Spin tries every order of the steps of collective/'s shared-memory protocols: no torn or overwritten note, no lost message,
no sleeper for ever. With a place too few, or without the sleeper's barrier, it finds the fault that these prevent."""
import os
import re
import shutil
import subprocess
import tempfile

from checks import expect, finish

SOURCE = os.environ["PACELINE_SOURCE"]
if not shutil.which("spin") or not shutil.which("cc"):
    print("no spin (the Debian package spin)")
    raise SystemExit(77)


def constant(file, name):
    """A whole number that a header's enum gives, or twice another one."""
    text = open(os.path.join(SOURCE, "collective", file), encoding="utf-8").read()
    words = re.search(name + r" = ([^,}]*)", text).group(1).split("*")
    product = 1
    for word in words:
        product *= int(word) if word.strip().isdigit() else constant(file, word.strip())
    return product


def errors(model, **settings):
    """How many Spin finds in all orders: it stops at the first."""
    words = [f"-D{name}={value}" for name, value in settings.items()]
    with tempfile.TemporaryDirectory() as folder:
        def run(*command):
            return subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT).stdout.decode()
        run("spin", "-a", *words, os.path.join(SOURCE, "tests", "protocols", model + ".pml"))
        run("cc", "-O2", "-w", "-DSAFETY", *words, "-o", "pan", "pan.c")
        said = run("./pan", "-m1000000")
    expect("max search depth too small" not in said and "out of memory" not in said, model, settings, said[-500:])
    return int(re.search(r"errors: (\d+)", said).group(1))


ahead, slots = constant("board.h", "PACE_BOARD_AHEAD"), constant("board.h", "PACE_BOARD_SLOTS")
expect(errors("boards", AHEAD=ahead, SLOTS=slots) == 0, "boards of three processes")
expect(errors("boards", AHEAD=ahead, SLOTS=slots, PROCESSES=2, NOTES=12) == 0, "boards of two processes")
expect(errors("boards", AHEAD=ahead, SLOTS=slots - 1) == 1, "boards with a place too few")
places = constant("rings.h", "PACE_PAIR_SLOTS")
expect(errors("rings", SLOTS=places) == 0, "rings")
expect(errors("rings", SLOTS=places, KEPT=places + 1) == 1, "rings with a place too few")
expect(errors("waking", NOTES=6) == 0, "a sleeper with a barrier")
expect(errors("waking", FENCE=1) == 0, "a publisher with a fence")
expect(errors("waking", NO_BARRIER=1) == 1, "neither")
finish()
