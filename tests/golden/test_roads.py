#!/usr/bin/env python3
"""The lint of roads on the built library, and on symbol tables of its own: what it must refuse, and what it must let pass."""
import os
import subprocess
import sys
from pathlib import Path

from checks import SOURCE, expect, finish

sys.path.insert(0, str(Path(SOURCE) / "tools"))
sys.dont_write_bytecode = True
import lint_roads

ARCHIVE = Path(os.environ["PACELINE_BUILD"]) / "libpaceline.a"


def changed(what, defined, used, table, name, *objects):
    """The faults after `name` is found in more objects."""
    tables = {"defined": dict(defined), "used": dict(used)}
    tables[table][name] = tables[table].get(name, set()) | set(objects)
    faults = list(lint_roads.faults_of(tables["defined"], tables["used"]))
    expect(len(faults) == 1 and all(w in faults[0] for w in what), "expected one fault with", what, "found", faults)


def main():
    done = subprocess.run([sys.executable, "-B", lint_roads.__file__, ARCHIVE], capture_output=True, text=True)
    expect(done.returncode == 0 and done.stdout.startswith("roads: "), done.stdout, done.stderr)
    defined, used = lint_roads.symbols(ARCHIVE)
    changed(["pace_lower_gradient", "lower_gradients, parts"], defined, used,
            "defined", "pace_lower_gradient", "parts")
    changed(["report_step calls pace_step_plan_make()", "step_engine alone"], defined, used, "used", "pace_step_plan_make",
            "report_step")
    changed(["pace_group_place_again() in forecast", "exchange does this"], defined, used, "defined",
            "pace_group_place_again", "forecast")
    changed(["step_defaults_too() in report_node"], defined, used, "defined",
            "step_defaults_too", "report_node")
    changed(["report_rows knows pace_step_kind", "row_kinds alone"], defined, used, "used", "pace_step_kind", "report_rows")
    gone = {**used, "pace_walk": used["pace_walk"] - {"forecast"}}
    faults = list(lint_roads.faults_of(defined, gone))
    expect(len(faults) == 1 and "forecast no longer calls pace_walk()" in faults[0], faults)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
