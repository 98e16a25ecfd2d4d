#!/usr/bin/env python3
"""Checks the rules of the house that a compiler does not.

A room of src/ includes only itself and the rooms before it; cli/ includes only the public headers and its own; calibrate/
includes base, machine, step, model and ask besides, collective/ base, machine and exchange, trainer/ base, machine, step and model; files of src/, collective/, trainer/ and calibrate/ form no circles, neither of
includes nor of calls (NAME.h and NAME.c count as one file); numbers are read and printed by base/decimal.h and
base/print.h, which no locale changes; builders of report/ read an answer: they
call no function of an engine's room that can fail, and nothing of the C library's beyond rounding; file names are unique across src/, cli/, calibrate/, collective/ and trainer/, so that a name
says which file is meant; no source file grows past 600 lines unless its opening comment says why ("Long because ...");
comments of C end within 120 columns; files of src/ that comments and docs/ name by their folder are there, as are the functions,
types and tests that docs/ names; of two files that docs/architecture.md joins by an arrow the first calls the second.
Prints FILE:LINE: what is wrong; exits 1 then.
"""
import re
import sys
from pathlib import Path

ROOMS = "base machine step model source cost exchange schedule insight forecast fleet plan ask report".split()
LINES, COLUMNS = 600, 120
NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
DEFINED = re.compile(r"^(?!extern\b|static\b|typedef\b)\w[^;{}()#=]*\b(pace_\w+)(?:\([^;{}]*\)\s*\{|(?:\[[^\]]*\])*\s*=)", re.M)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)


def sources(folder):
    return sorted(p for p in folder.rglob("*") if p.suffix in (".c", ".h", ".cu") and p.is_file())


def check_room(root, path, text, faults):
    parts = path.relative_to(root / "src").parts
    if len(parts) not in (2, 3):
        faults.append((path, 1, "a source file lies in src/ROOM/ or src/ROOM/CORNER/"))
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


def check_outside(folder, rooms):
    """Files of a folder outside src/ include these rooms, the public headers and their own."""

    def check(root, path, text, faults):
        for match in INCLUDE.finditer(text):
            quoted, target = match.group(1) == '"', match.group(2)
            line = text.count("\n", 0, match.start()) + 1
            head, slash, _ = target.partition("/")
            if (slash and head in ROOMS and head not in rooms) or (
                quoted and not slash and not (path.parent / target).is_file()
            ):
                faults.append((path, line, f"{folder}/ includes '{target}', which is none of {', '.join(rooms)}, public, its own"))

    return check


def node_of(root, folder, path):
    """NAME.h and NAME.c are one file: "ROOM/NAME" in src/, the path without its suffix elsewhere."""
    return str(path.relative_to(root / "src" if folder == "src" else root).with_suffix(""))


def target_of(node, target, texts):
    """The node that an include of another names: from the root of its folder, or beside it."""
    near = Path(node).parent
    beside = str(Path(*[part for part in (near / target).parts])).removesuffix(".h")
    while ".." in beside.split("/"):
        parts = beside.split("/")
        at = parts.index("..")
        beside = "/".join(parts[: at - 1] + parts[at + 1 :])
    return next((one for one in (target[:-2], beside) if one in texts), None)


def relations(root, folder):
    """Which files of a folder include each other's headers, and which call each other: two graphs {node: {node, ...}}."""
    texts = {}
    for path in sources(root / folder):
        texts.setdefault(node_of(root, folder, path), {})[path.suffix] = path.read_text(encoding="utf-8", errors="replace")
    code = {node: NOT_CODE.sub(" ", parts[".c"]) for node, parts in texts.items() if ".c" in parts}
    homes = {}
    for node, text in code.items():
        for name in DEFINED.findall(text):
            homes.setdefault(name, set()).add(node)
    home = {name: min(nodes) for name, nodes in homes.items() if len(nodes) == 1}  # modules may each define what one of them exports
    includes, calls = {node: set() for node in texts}, {node: set() for node in texts}
    for node, parts in texts.items():
        for text in parts.values():
            includes[node].update(filter(None, (target_of(node, target, texts) for mark, target in INCLUDE.findall(text) if mark == '"')))
    for node, text in code.items():
        calls[node].update(home[name] for name in set(re.findall(r"\bpace_\w+", text)) if name in home)
    for graph in (includes, calls):
        for node in graph:
            graph[node].discard(node)
    return {"includes": includes, "calls": calls}


def circles(graph):
    """Tarjan's strongly connected components of more than one file."""
    number, low, stack, found = {}, {}, [], []

    def visit(node):
        number[node] = low[node] = len(number)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in number:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == number[node]:
            circle = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(circle) > 1:
                found.append(set(circle))

    sys.setrecursionlimit(10000)
    for node in sorted(graph):
        if node not in number:
            visit(node)
    return found


def check_circles(root, folder, faults):
    for verb, graph in relations(root, folder).items():
        for circle in circles(graph):
            path = min((root / "src" if folder == "src" else root).glob(f"{min(circle)}.[ch]*"))
            steps = "; ".join(f"{a} {verb} {', '.join(sorted(graph[a] & circle))}" for a in sorted(circle))
            faults.append((path, 1, f"a circle of files: {steps}"))


ENGINES = "cost exchange schedule forecast fleet plan".split()
OF_TRACES = ("pace_remedies_try", "pace_side_samples")  # analyze and compare have no question in ask/ that could hold these
MATH = re.compile(r"\b(sqrt|cbrt|pow|exp2?|expm1|log(?:2|10|1p)?|hypot|erfc?)\s*\(")


def check_report(root, faults):
    """Builders read: what can fail works something out, and is asked by ask/. Axes of charts may be logarithmic."""
    works = {}
    for room in ENGINES:
        for path in sources(root / "src" / room):
            code = NOT_CODE.sub(" ", path.read_text(encoding="utf-8", errors="replace"))
            works.update({match.group(1): room for match in DEFINED.finditer(code) if match.group(0).startswith("pace_status")})
    for path in sources(root / "src" / "report"):
        code = NOT_CODE.sub(lambda match: " " + "\n" * match.group(0).count("\n"), path.read_text(encoding="utf-8", errors="replace"))
        asks, draws = path.name.startswith("ask"), path.parent.name == "render"
        for match in re.finditer(r"\bpace_\w+", code):
            if match.group(0) in works and match.group(0) not in OF_TRACES and not asks:
                faults.append((path, code.count("\n", 0, match.start()) + 1, f"report/ reads answers: {match.group(0)}() of {works[match.group(0)]}/ is asked by ask/"))
        for match in MATH.finditer(code) if not draws else ():
            faults.append((path, code.count("\n", 0, match.start()) + 1, f"report/ reads answers: {match.group(1)}() computes one"))


PRINTING = re.compile(r"(?<![\w])(v?(?:sn?|f|d|as)?printf)\s*\(")
POINT = re.compile(r"%[-+ #0']*(?:\d+|\*)?(?!\.0f)(?:\.(?:\d+|\*)?)?[lL]?[aefgAEFG]")
READING = re.compile(r"\b(strtod|strtof|strtold|atof|strtod_l|newlocale|uselocale|setlocale)\s*\(")

LETTERS = re.compile(r"\b(strn?casecmp|strcoll|to(?:low|upp)er|is(?:alpha|alnum|digit|space|upper|lower|punct|print))\s*\(")


def call_at(text, start):
    """The text of a call up to its closing parenthesis, and its literals."""
    depth, literals = 0, []
    for part in re.finditer(r'"((?:[^"\\]|\\.)*)"|[()]', text[start:]):
        if part.group(0) == "(":
            depth += 1
        elif part.group(0) == ")":
            depth -= 1
            if depth == 0:
                break
        else:
            literals.append(part.group(1))
    return literals


def check_numbers(path, text, faults, prints):
    """The decimal point and letters follow the locale in the C library's functions; "%.0f" has none. cli/ sets no locale."""
    if path.name in ("decimal.c", "print.c", "print.h"):
        return
    for match in READING.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        faults.append((path, line, f"{match.group(1)}() depends on the locale: use base/decimal.h"))
    for match in LETTERS.finditer(text) if prints else ():
        line = text.count("\n", 0, match.start()) + 1
        faults.append((path, line, f"{match.group(1)}() takes letters as the locale does: use base/text.h"))
    for match in PRINTING.finditer(text) if prints else ():
        line = text.count("\n", 0, match.start()) + 1
        literals = call_at(text, match.start())
        if match.group(1).startswith("v") or any(POINT.search(one.replace("%%", "")) for one in literals):
            faults.append((path, line, f"{match.group(1)}() prints the locale's decimal point: use base/print.h"))


NAMED = re.compile(r"(?<![\w/.])(?:src/)?((?:%s)/(?:[a-z_]+/)?[\w*]+\.[ch])\b" % "|".join(ROOMS))
IN_SRC = re.compile(r"(?<![\w/.])src/([a-z_]+(?:/[a-z_]+)*/[\w*]+)(?!\w*/)(?:\.([ch*]|\[[ch]+\]))?")
TEST = re.compile(r"`((?:unit/\w+|golden|library|mpi|tuner|browser|all)/)(\w+)`")
ALONE = re.compile(r"(?<=[`(])([a-z_*]+\.[ch])(?=`)")
ARROW = re.compile(r"`([\w/]+)\.c` (?=→ `([\w/]+)\.c`)")


def comments(text):
    """The comments of C, each with the number of its first line."""
    for match in NOT_CODE.finditer(text):
        if match.group(0).startswith("/"):
            yield text.count("\n", 0, match.start()), match.group(0)


def check_comments(path, text, faults):
    lines = text.split("\n")
    for first, comment in comments(text):
        for number in range(first, first + comment.count("\n") + 1):
            if len(lines[number]) > COLUMNS:
                faults.append((path, number + 1, f"a comment of {len(lines[number])} columns, more than {COLUMNS}"))


def check_named(root, path, text, faults):
    """Files of src/, or of tests/unit/ that mirrors it, named by a comment or a document."""
    for match in NAMED.finditer(text):
        if not any(any((root / at).glob(match.group(1))) for at in ("src", "tests/unit")):
            line = text.count("\n", 0, match.start()) + 1
            faults.append((path, line, f"names '{match.group(0)}', but there is no such file"))


def check_document(root, path, text, words, faults):
    """Files of src/ that a document names, with or without their ending, and functions, types and constants of the library."""

    def fault(match, what):
        faults.append((path, text.count("\n", 0, match.start()) + 1, f"names '{match.group(0)}', but there is no such {what}"))

    for match in IN_SRC.finditer(text):
        if not any((root / "src").glob(match.group(1) + (".*" if match.group(2) or not (root / "src" / match.group(1)).is_dir() else ""))):
            fault(match, "file")
    for match in re.finditer(r"\b(?:pace|PACE)_\w+", text):
        if match.group(0) not in words:
            fault(match, "name in the sources")
    for match in TEST.finditer(text) if (root / "tests").is_dir() else ():
        if not any((root / "tests").glob(f"{match.group(1)}test_{match.group(2)}.*")):
            fault(match, "test")


def check_walks(root, path, text, faults):
    """Files that docs/architecture.md names alone are there, and an arrow between two is a call."""
    calls = relations(root, "src")["calls"]
    node = {name.rsplit("/", 1)[-1]: name for name in calls}
    for match in ALONE.finditer(text):
        if not any(any((root / at).rglob(match.group(1))) for at in ("src", "collective", "trainer")):
            faults.append((path, text.count("\n", 0, match.start()) + 1, f"names '{match.group(1)}', but there is no such file"))
    for match in ARROW.finditer(text):
        first, second = (node.get(name.rsplit("/", 1)[-1]) for name in match.groups())
        if second not in calls.get(first, ()):
            faults.append((path, text.count("\n", 0, match.start()) + 1, f"{match.group(1)}.c calls nothing of {match.group(2)}.c"))


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    faults, seen, files, words = [], {}, 0, set()
    for folder, check in (
        ("src", check_room),
        ("cli", check_cli),
        ("calibrate", check_outside("calibrate", ("base", "machine", "step", "model", "ask"))),
        ("collective", check_outside("collective", ("base", "machine", "exchange"))),
        ("tuner", check_outside("tuner", ())),
        ("trainer", check_outside("trainer", ("base", "machine", "step", "model"))),
    ):
        for path in sources(root / folder):
            files += 1
            text = path.read_text(encoding="utf-8", errors="replace")
            check(root, path, text, faults)
            check_numbers(path, text, faults, prints=folder != "cli")
            if path.name in seen:
                faults.append((path, 1, f"the name is taken by {seen[path.name].relative_to(root)}"))
            seen.setdefault(path.name, path)
    for folder in ("src", "cli", "calibrate", "collective", "trainer", "tuner", "include", "tests", "tools", "bench"):
        if not (root / folder).is_dir():
            continue
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".c", ".h", ".cu", ".py", ".sh") or not path.is_file():
                continue
            text = path.read_text(encoding="utf-8", errors="replace")
            words.update(re.findall(r"\b(?:pace|PACE)_\w+", text))
            if path.suffix in (".c", ".h", ".cu"):
                check_comments(path, text, faults)
                check_named(root, path, text, faults)
            lines = text.count("\n")
            if lines > LINES and "Long because" not in text[:1500]:
                faults.append((path, LINES + 1, f"{lines} lines; past {LINES} the opening comment says why: 'Long because'"))
    for path in [*sorted((root / "docs").glob("*.md")), *root.glob("*.md")]:
        text = path.read_text(encoding="utf-8", errors="replace")
        check_named(root, path, text, faults)
        check_document(root, path, text, words, faults)
        if path.name == "architecture.md":
            check_walks(root, path, text, faults)
    check_report(root, faults)
    for folder in ("src", "collective", "trainer", "calibrate"):
        check_circles(root, folder, faults)
    for path, line, what in faults:
        print(f"{path.relative_to(root) if path.is_relative_to(root) else path}:{line}: {what}")
    if not faults:
        print(f"layers: {files} files in order")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
