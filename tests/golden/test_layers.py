#!/usr/bin/env python3
"""The lint of layers on small trees of its own: what it must refuse, and what it must let pass."""
import subprocess
import sys
import tempfile
from pathlib import Path

from checks import SOURCE, expect, finish

LINT = Path(SOURCE) / "tools" / "lint_layers.py"


def lint(files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder) / "src" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, "-B", str(LINT), folder], capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout


def refuse(what, files):
    code, out = lint(files)
    expect(code == 1 and what in out, "expected", what, "found", code, out)


def accept(files):
    code, out = lint(files)
    expect(code == 0, "expected no fault", out)


def main():
    accept({"base/a.h": "", "base/a.c": '#include "base/a.h"\n', "step/b.c": '#include "base/a.h"\n'})
    refuse("comes after it", {"base/a.c": '#include "step/b.h"\n', "step/b.h": ""})
    refuse(
        "base/a includes base/b; base/b includes base/a",
        {"base/a.h": '#include "base/b.h"\n', "base/b.h": "", "base/b.c": '#include "base/b.h"\n#include "base/a.h"\n'},
    )
    # A library's header that is called as one of ours.
    accept({"base/a.h": '#include "base/b.h"\n', "base/b.h": "", "base/b.c": '#include "base/b.h"\n#include <a.h>\n'})
    # Calls through a header that both include.
    parts = {"base/parts.h": "int pace_one(int);\nint pace_two(int);\n"}
    one = '#include "base/parts.h"\nint pace_one(int x) {\n    return x ? pace_two(x - 1) : 0;\n}\n'
    two = '#include "base/parts.h"\nint pace_two(int x) {\n    return x ? pace_one(x - 1) : 0;\n}\n'
    refuse("base/one calls base/two; base/two calls base/one", {**parts, "base/one.c": one, "base/two.c": two})
    accept({**parts, "base/one.c": one, "base/two.c": two.replace("pace_one(x - 1)", "x /* pace_one() */")})
    accept({"base/a.c": "/* " + 114 * "x" + " */\n", "base/b.h": "/* base/a.c, base/*.c, src/base/a.c */\n"})
    refuse("a comment of 121 columns", {"base/a.c": "/* " + 115 * "x" + " */\n"})
    refuse("src/base/a.c:2: a comment of 130", {"base/a.c": "/*\n *" + 128 * "x" + " */\n".replace(" */", "\n */")})
    accept({"base/a.c": 'const char *pace_a = "' + 120 * "x" + '";\n'})
    refuse("names 'base/c.h'", {"base/a.c": "/* base/c.h */\n"})
    # What documents name: files of src/ with and without their ending, functions, and calls that an arrow stands for.
    named = {"base/a.c": "void pace_a(void) {\n    pace_b();\n}\n", "base/b.c": "void pace_b(void) {\n}\n"}
    page = "../docs/architecture.md"
    accept({**named, page: "src/base, src/base/a, `src/base/a.[hc]`, `src/base/*.c`, `pace_a()`, `b.c`, `base/a.c` → `b.c`\n"})
    refuse("names 'src/base/c'", {**named, page: "src/base/c\n"})
    refuse("names 'src/base/c.*'", {**named, page: "`src/base/c.*`\n"})
    refuse("names 'pace_c'", {**named, page: "`pace_c()`\n"})
    refuse("names 'c.c'", {**named, page: "`c.c`\n"})
    tested = {"../tests/unit/base/test_a.c": "", "../tests/golden/test_b.py": ""}
    accept({**named, **tested, page: "`unit/base/a`, `golden/b`\n"})
    refuse("names '`golden/a`'", {**named, **tested, page: "`golden/a`\n"})
    refuse("base/b.c calls nothing of a.c", {**named, page: "`base/b.c` → `a.c`\n"})
    # Builders of reports read: what works something out is called by ask/; render/ has logarithmic axes.
    engine = {"plan/a.c": "pace_status pace_a(int *out) {\n}\nint pace_b(void) {\n}\n"}
    accept({**engine, "report/b.c": "void b(void) {\n    pace_b();\n}\n", "report/ask_b.c": "void c(int *x) {\n    pace_a(x);\n}\n"})
    accept({"report/render/b.c": "double b(double x) {\n    return log10(x);\n}\n"})
    refuse("report/b.c:2: report/ reads answers: pace_a()", {**engine, "report/b.c": "void b(int *x) {\n    pace_a(x);\n}\n"})
    refuse("report/b.c:2: report/ reads answers: log10()", {"report/b.c": "double b(double x) {\n    return log10(x);\n}\n"})
    return finish()


if __name__ == "__main__":
    sys.exit(main())
