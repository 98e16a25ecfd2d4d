"""The JSON of the bundled trace validates against docs/schemas/, and the other formats are whole."""
import csv
import io
import json
import os
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(77)

PACELINE = os.environ["PACELINE"]
SOURCE = os.environ.get("PACELINE_SOURCE", ".")
TRACE = os.path.join(SOURCE, "tests", "data", "demo.json.gz")


def run(*words):
    done = subprocess.run([PACELINE, *words], capture_output=True, text=True)
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout


document = json.loads(run("analyze", "--check", "--format", "json", TRACE))
with open(os.path.join(SOURCE, "docs", "schemas", "analyze.json")) as file:
    jsonschema.validate(document, json.load(file))
assert document["advice"], "the report gives no advice"
assert document["window"]["busy_ns"] > 0, "the demo trace holds no work"

rows = list(csv.DictReader(io.StringIO(run("analyze", "--format", "csv", "--table", "operators", TRACE))))
assert sum(int(row["time_ns"]) for row in rows) == sum(row["time_ns"] for row in document["operators"])

html = run("analyze", "--format", "html", TRACE)
assert html.count("<html") == 1 and html.rstrip().endswith("</html>")
assert "http://" not in html.replace("http://www.w3.org", "") and "https://" not in html, "the page must stand alone"

same = json.loads(run("compare", "--format", "json", TRACE, TRACE))
assert same["a_step_ns"] == same["b_step_ns"]
assert all(value == 0 for row in same["change_matrix"].values() for value in row.values())
assert all(row["change_ns"] == 0 for row in same["operators"])
print("1 passed, 0 failed")
