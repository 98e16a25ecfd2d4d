#!/usr/bin/env python3
"""Checks that every test that is written is also run.

    lint_tests.py [FOLDER]

A Python test is a function test_... that its file calls by name, or finds in its globals() with the others. (Of the C tests the
compiler says which function is not used.) Prints what nobody calls; exits 1 then.
"""
import ast
import pathlib
import sys


def uncalled(path):
    """The functions test_... of a file that nothing in it mentions."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    nodes = list(ast.walk(tree))
    mentioned = {node.id for node in nodes if isinstance(node, ast.Name)}
    if "globals" in mentioned:
        return []
    return [
        node
        for node in nodes
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and node.name not in mentioned
    ]


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "tests")
    files = sorted(folder.rglob("test_*.py"))
    if not files:
        print(f"no file test_*.py in {folder}")
        return 1
    faults = [f"{path}:{node.lineno}: nobody calls {node.name}" for path in files for node in uncalled(path)]
    print("\n".join(faults) or f"{len(files)} files of tests, every test is called")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
