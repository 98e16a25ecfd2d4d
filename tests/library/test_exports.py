"""Each shared library shows the functions that the public headers declare of it, all of them and nothing else, under its soname;
and the headers name no file that is not installed."""
import glob
import os
import re
import subprocess
import sys

SOURCE, BUILD = os.environ["PACELINE_SOURCE"], os.environ["PACELINE_BUILD"]
LIBRARIES = {"libpaceline.so": [], "collective/libpaceline_collective.so": ["collective.h"]}  # and headers of its own


def output(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def declarations(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*|^#[^\n]*", " ", text, flags=re.S | re.M)


def exported(library):
    shown = set()
    for line in output("nm", "-D", "--defined-only", library).splitlines():
        kind, name = line.split()[-2:]
        if kind != "A":  # the name of the version itself
            shown.add(name.split("@")[0])
    return shown


def faults_of(library, declared):
    shown = exported(library)
    soname = re.search(r"SONAME.*\[(.*)\]", output("readelf", "-d", library)).group(1)
    faults = [f"{name} is declared and not exported" for name in sorted(declared - shown)]
    faults += [f"{name} is exported and not declared" for name in sorted(shown - declared)]
    if soname != os.path.basename(library) + ".1":
        faults.append(f"soname is {soname}")
    if len(declared) < 10:
        faults.append(f"found {len(declared)} declarations of {library}")
    print(len(shown), "functions of", library)
    return faults


def main():
    declared, faults = {library: set() for library in LIBRARIES}, []
    for path in glob.glob(os.path.join(SOURCE, "include", "paceline", "*.h")):
        with open(path) as file:
            text = file.read()
        owner = next((library for library, own in LIBRARIES.items() if os.path.basename(path) in own), "libpaceline.so")
        declared[owner] |= set(re.findall(r"\bPACE_(?:COLLECTIVE_)?API\b[^;{]*?\b(\w+)\s*\(", declarations(text)))
        private = re.findall(r"\b(?:src|cli|calibrate)/\w[\w./]*", text)
        private += [name for name in re.findall(r'#include "([^"]*)"', text) if not name.startswith("paceline/")]
        faults += [f"a public header names {name}, which is not installed" for name in private]
    for library, own in LIBRARIES.items():
        path = os.path.join(BUILD, library)
        if not own or os.path.exists(path):  # the others are built where their needs are
            faults += faults_of(path, declared[library])
    for fault in faults:
        print("wrong:", fault)
    return 1 if faults else 0


sys.exit(main())
