"""Puts the program's present output into README.md, between <!-- output COMMAND --> and <!-- /output -->.

Usage: refresh_readme.py PACELINE [--check]; with --check nothing is written and a difference is an error.
"""
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir)
README = os.path.join(ROOT, "README.md")


def output_of(paceline, command):
    words = command.split()
    keep = int(words.pop()[6:]) if words[-1].startswith("lines=") else None
    lines = subprocess.run([paceline, *words[1:]], capture_output=True, text=True, check=True, cwd=ROOT).stdout.rstrip().splitlines()
    return "\n".join(lines[:keep] + ["…"] if keep and keep < len(lines) else lines)


def main():
    paceline = os.path.abspath(sys.argv[1])
    with open(README) as file:
        text = file.read()
    fresh = re.sub(r"(<!-- output (.*?) -->\n)```\n.*?\n```\n(<!-- /output -->)",
                   lambda m: f"{m[1]}```\n{output_of(paceline, m[2])}\n```\n{m[3]}", text, flags=re.S)
    if "--check" in sys.argv:
        return fresh != text and "README.md: the output shown is not what the program prints: tools/refresh_readme.py"
    with open(README, "w") as file:
        file.write(fresh)


if __name__ == "__main__":
    sys.exit(main())
