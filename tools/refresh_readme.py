"""Puts the program's present output into README.md and the pages of docs/, between <!-- output COMMAND --> and <!-- /output -->. The
command "cat FILE" puts a file there, "python3 FILE" what it prints.

Usage: refresh_readme.py PACELINE [--check]; with --check nothing is written and a difference is an error.
"""
import glob
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir)
PAGES = [os.path.join(ROOT, "README.md"), *sorted(glob.glob(os.path.join(ROOT, "docs", "*.md")))]


def output_of(paceline, command):
    words = command.split()
    if words[0] == "cat":
        with open(os.path.join(ROOT, words[1])) as file:
            return file.read().rstrip()
    if words[0] == "python3":
        return subprocess.run([sys.executable, *words[1:]], capture_output=True, text=True, check=True, cwd=ROOT).stdout.rstrip()
    keep = int(words.pop()[6:]) if words[-1].startswith("lines=") else None
    lines = subprocess.run([paceline, *words[1:]], capture_output=True, text=True, check=True, cwd=ROOT).stdout.rstrip().splitlines()
    return "\n".join(lines[:keep] + ["…"] if keep and keep < len(lines) else lines)


def refresh(paceline, page):
    """The page's text, and that text with the present output."""
    with open(page) as file:
        text = file.read()
    return text, re.sub(r"(<!-- output ([^\n]*?) -->\n)```\n(?:.*?\n)??```\n(<!-- /output -->)",
                        lambda m: f"{m[1]}```\n{output_of(paceline, m[2])}\n```\n{m[3]}", text, flags=re.S)


def main():
    paceline = os.path.abspath(sys.argv[1])
    stale = []
    for page in PAGES:
        text, fresh = refresh(paceline, page)
        if fresh == text:
            continue
        stale.append(os.path.relpath(page, ROOT))
        if "--check" not in sys.argv:
            with open(page, "w") as file:
                file.write(fresh)
    if stale and "--check" in sys.argv:
        return f"{', '.join(stale)}: the output shown is not what the program prints: tools/refresh_readme.py"
    return 0


if __name__ == "__main__":
    sys.exit(main())
