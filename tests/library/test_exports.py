"""libpaceline.so shows the functions that the public headers declare, all of them and nothing else, under its soname; and the
headers name no file that is not installed."""
import glob
import os
import re
import subprocess
import sys

SOURCE, BUILD = os.environ["PACELINE_SOURCE"], os.environ["PACELINE_BUILD"]
LIBRARY = os.path.join(BUILD, "libpaceline.so")


def output(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def declarations(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*|^#[^\n]*", " ", text, flags=re.S | re.M)


def main():
    declared, private = set(), []
    headers = glob.glob(os.path.join(SOURCE, "include", "paceline", "*.h"))
    for path in headers:
        with open(path) as file:
            text = file.read()
        declared |= set(re.findall(r"\bPACE_API\b[^;{]*?\b(\w+)\s*\(", declarations(text)))
        private += re.findall(r"\b(?:src|cli|calibrate)/\w[\w./]*", text)
        private += [name for name in re.findall(r'#include "([^"]*)"', text) if not name.startswith("paceline/")]
    shown = set()
    for line in output("nm", "-D", "--defined-only", LIBRARY).splitlines():
        kind, name = line.split()[-2:]
        if kind != "A":  # the name of the version itself
            shown.add(name.split("@")[0])
    soname = re.search(r"SONAME.*\[(.*)\]", output("readelf", "-d", LIBRARY)).group(1)
    faults = [f"{name} is declared and not exported" for name in sorted(declared - shown)]
    faults += [f"{name} is exported and not declared" for name in sorted(shown - declared)]
    faults += [f"a public header names {name}, which is not installed" for name in private]
    if soname != "libpaceline.so.1":
        faults.append(f"soname is {soname}")
    if len(declared) < 10:
        faults.append(f"found {len(declared)} declarations in {len(headers)} headers")
    for fault in faults:
        print("wrong:", fault)
    print(len(shown), "functions")
    return 1 if faults else 0


sys.exit(main())
