#!/usr/bin/env python3
"""The lint of constants on small trees of its own, and on the source: what it must refuse, and what it must let pass."""
import subprocess
import sys
import tempfile
from pathlib import Path

from checks import SOURCE, expect, finish

LINT = Path(SOURCE) / "tools" / "lint_constants.py"


def lint(code, room="cost", name="x.c"):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "src" / room / name
        path.parent.mkdir(parents=True)
        path.write_text(code)
        done = subprocess.run([sys.executable, "-B", str(LINT), folder], capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout


def refuse(code, *what):
    status, out = lint(code)
    expect(status == 1 and all(w in out for w in what), "expected", what, "for", code, "found", status, out)


def accept(code, **where):
    status, out = lint(code, **where)
    expect(status == 0, "expected no fault for", code, "found", out)


def main():
    refuse("static const double far_spread = 0.3;", "x.c:1: far_spread = 0.3", "catalog/doubts.yaml")
    refuse("int a;\nstatic const double a = x, guess_spread = .25;", "x.c:2: guess_spread", "source, confidence")
    refuse("e = (series){.spread = 0.3f};", ".spread"[1:], "catalog/doubts.yaml")
    refuse("void f(void) {\n    double own_spread = 0.2;\n}", "x.c:2: own_spread")
    refuse("static const double share = 0.6;", "constant share", "catalog/", "tools/lint_constants.py")
    refuse("void f(void) {\n    static const double reach[] = {1, 2.5};\n}", "x.c:2: constant reach")
    refuse("const double pace_usual = 0.87;", "constant pace_usual")
    refuse("r = 3e11;", "3e11", "devices.yaml")
    refuse("r = d->pcie > 0 ? d->pcie : 1e10;", "1e10 where something is unknown", "doubts.yaml")
    refuse("r = node_rate * 0.96;", "x.c:1: 0.96", "a factor")
    refuse("r = hops / 3.5 + 2.8e-6 * ranks;", "3.5", "2.8e-6")
    refuse("most = said ? number : 0.01;", "0.01", "a default")
    refuse("void f(void) {\n    const double z90 = 1.645;\n}", "x.c:2: 1.645", "PACE_NORMAL_90")
    refuse("s = 1.4826 * median;", "PACE_NORMAL_MAD")
    accept("if (other < 0.99 * best) r = x * 0.5 + y * 1e-6 / 1024.0;")
    accept("/* a spread = 0.3 */ const char *s = \"x_spread = 0.3\"; double spread = 0, t = ns / 1e9;")
    accept("static const double rounding = 1e-9;", name="self_check.c")
    accept("static const double any = 3e11;", room="base")
    done = subprocess.run([sys.executable, "-B", str(LINT)], capture_output=True, text=True, timeout=60)
    expect(done.returncode == 0, done.stdout)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
