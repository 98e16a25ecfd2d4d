#!/usr/bin/env python3
"""Checks the rules of the house that a compiler does not.

A room of src/ includes only itself and the rooms before it; cli/ includes only the public headers and its own; calibrate/
includes base and machine besides;
file names are unique across src/, cli/ and calibrate/, so that a name says which file is meant; no source file grows past
600 lines unless its opening comment says why ("Long because ..."). Prints FILE:LINE: what is wrong; exits 1 then.
"""
import re
import sys
from pathlib import Path

ROOMS = "base machine step model source cost exchange schedule insight forecast fleet plan ask report".split()
LINES = 600
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)


def sources(folder):
    return sorted(p for p in folder.rglob("*") if p.suffix in (".c", ".h", ".cu") and p.is_file())


def check_room(root, path, text, faults):
    parts = path.relative_to(root / "src").parts
    if len(parts) != 2:
        faults.append((path, 1, "a source file lies in src/ROOM/"))
        return
    room = parts[0]
    if room not in ROOMS:
        faults.append((path, 1, f"'{room}' is not a room; rooms: {' '.join(ROOMS)}"))
        return
    allowed = ROOMS[: ROOMS.index(room) + 1]
    for match in INCLUDE.finditer(text):
        quoted, target = match.group(1) == '"', match.group(2)
        line = text.count("\n", 0, match.start()) + 1
        head, slash, _ = target.partition("/")
        if head == "paceline" and slash:
            if not (root / "include" / target).is_file():
                faults.append((path, line, f"there is no public header '{target}'"))
        elif slash and head in ROOMS:
            if head not in allowed:
                faults.append((path, line, f"room '{room}' includes '{target}', but '{head}' comes after it"))
            elif not (root / "src" / target).is_file():
                faults.append((path, line, f"there is no header 'src/{target}'"))
        elif quoted:
            faults.append((path, line, f"'{target}': write the room too, as in \"{room}/{Path(target).name}\""))


def check_cli(root, path, text, faults):
    for match in INCLUDE.finditer(text):
        quoted, target = match.group(1) == '"', match.group(2)
        line = text.count("\n", 0, match.start()) + 1
        head, slash, rest = target.partition("/")
        own = rest if head == "cli" and slash else target
        if head == "paceline" and slash:
            continue
        if (quoted and not (root / "cli" / own).is_file()) or (slash and head in ROOMS):
            faults.append((path, line, f"cli/ includes '{target}', which is neither public nor its own"))


def check_calibrate(root, path, text, faults):
    """calibrate/ includes base, machine, the public headers and its own."""
    for match in INCLUDE.finditer(text):
        quoted, target = match.group(1) == '"', match.group(2)
        line = text.count("\n", 0, match.start()) + 1
        head, slash, _ = target.partition("/")
        if (slash and head in ROOMS and head not in ("base", "machine")) or (
            quoted and not slash and not (path.parent / target).is_file()
        ):
            faults.append((path, line, f"calibrate/ includes '{target}', which is none of base, machine, public, its own"))


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    faults, seen, files = [], {}, 0
    for folder, check in (("src", check_room), ("cli", check_cli), ("calibrate", check_calibrate)):
        for path in sources(root / folder):
            files += 1
            text = path.read_text(encoding="utf-8", errors="replace")
            check(root, path, text, faults)
            if path.name in seen:
                faults.append((path, 1, f"the name is taken by {seen[path.name].relative_to(root)}"))
            seen.setdefault(path.name, path)
    for folder in ("src", "cli", "calibrate", "include", "tests", "tools", "bench"):
        if not (root / folder).is_dir():
            continue
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".c", ".h", ".cu", ".py", ".sh") or not path.is_file():
                continue
            text = path.read_text(encoding="utf-8", errors="replace")
            lines = text.count("\n")
            if lines > LINES and "Long because" not in text[:1500]:
                faults.append((path, LINES + 1, f"{lines} lines; past {LINES} the opening comment says why: 'Long because'"))
    for path, line, what in faults:
        print(f"{path.relative_to(root)}:{line}: {what}")
    if not faults:
        print(f"layers: {files} files in order")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
