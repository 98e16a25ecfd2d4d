"""JSON documents against docs/schemas/: no member beside those named, in the order in which they are named, each number
with its unit in its key; and the other formats are whole.

The reference traces are other people's and not shipped: without them the bundled and synthetic ones are checked.
"""
import csv
import glob
import io
import json
import os
import subprocess
import sys
import tempfile

import pipeline_trace as pipeline

try:
    import jsonschema
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(77)

PACELINE = os.environ["PACELINE"]
MAKE_TRACE = os.environ["MAKE_TRACE"]
SHARED = os.environ.get("PACELINE_SHARED", "")
SOURCE = os.environ.get("PACELINE_SOURCE", ".")
TRACE = os.path.join(SOURCE, "tests", "data", "demo.json.gz")

UNITS = ("_ns", "_s", "_bytes", "_per_s", "_per_call", "_per_step", "_share", "_id")
UNITLESS = {"bytes", "calls", "a_calls", "b_calls", "count", "kernels", "kernels_linked", "events", "complete_events", "operators",
            "runtime_calls", "copies", "memsets", "pieces", "handovers", "recorded_handovers", "times_last", "messages",
            "share", "elasticity", "at_most", "certainty", "compute_over_mean", "robust_relative_spread", "hfu", "ratio",
            "walk_error", "speedup", "samples", "batch", "launches", "unknown", "fused_kernels", "fused_lookups", "beyond_roofline",
            "spread", "measured", "calibrated", "learned", "formula", "roofline", "own", "alike", "class", "typical", "nothing",
            "rank", "last_rank", "slowest_rank", "last_device", "slowest_device", "source", "destination"}


def run(*words, stdin=b""):
    done = subprocess.run([PACELINE, *words], input=stdin, capture_output=True)
    assert done.returncode == 0, (words, done.stderr.decode())
    return done.stdout.decode()


def schema_of(verb):
    with open(os.path.join(SOURCE, "docs", "schemas", verb + ".json")) as file:
        schema = json.load(file)
    jsonschema.Draft7Validator.check_schema(schema)
    return schema


def resolve(node, schema):
    while "$ref" in node:
        node = schema["definitions"][node["$ref"].rsplit("/", 1)[1]]
    return node


def check_strict(node, schema, where=""):
    """Every object of the schema says all its members."""
    node = resolve(node, schema)
    if node.get("type") == "object":
        assert node.get("additionalProperties") is False, (where, "lets members pass that it does not name")
        for key, value in node["properties"].items():
            check_strict(value, schema, where + "." + key)
    elif node.get("type") == "array":
        check_strict(node["items"], schema, where + "[]")


def check_members(value, node, schema, where=""):
    """The document's members stand in the schema's order, and numbers say their unit."""
    node = resolve(node, schema)
    if isinstance(value, dict):
        named = [key for key in node["properties"] if key in value]
        assert list(value) == named, (where, list(value), named)
        for key, member in value.items():
            if isinstance(member, (int, float)):
                assert key.endswith(UNITS) or key in UNITLESS, (where, key, "a number without a unit")
            check_members(member, node["properties"][key], schema, where + "." + key)
    elif isinstance(value, list):
        for item in value:
            check_members(item, node["items"], schema, where + "[]")


def validate(document, schema):
    jsonschema.validate(document, schema)
    check_members(document, schema, schema)


def no_constant(text):
    raise AssertionError(text + " is no JSON")


def analyze(schema, *words, stdin=b""):
    document = json.loads(run("analyze", "--check", "--samples", "8", "--format", "json", *words, stdin=stdin), parse_constant=no_constant)
    validate(document, schema)
    return document


analyze_schema, compare_schema = schema_of("analyze"), schema_of("compare")
check_strict(analyze_schema, analyze_schema)
check_strict(compare_schema, compare_schema)

document = analyze(analyze_schema, TRACE)
assert document["advice"], "the report gives no advice"
assert document["window"]["busy_ns"] > 0, "the demo trace holds no work"
try:
    validate({**document, "more": 1}, analyze_schema)
    sys.exit("an unnamed member passes")
except jsonschema.ValidationError:
    pass

synthetic = subprocess.run([MAKE_TRACE, "--compact", "--devices", "2", "--steps", "4", "--layers", "4"], capture_output=True, check=True)
several = analyze(analyze_schema, "-", stdin=synthetic.stdout)
assert len(several["ranks"][0]["devices"]) == 2
with tempfile.TemporaryDirectory() as folder:
    stages = pipeline.simulate(2, 4, lambda stage, batch: 100000, lambda stage, batch: 200000, 1000, 40000)
    paths = [pipeline.write(folder, rank, 2, pipeline.events_of(kernels, rank, 2, "record", 0)) for rank, kernels in enumerate(stages)]
    assert analyze(analyze_schema, folder)["messages"], "the pipeline holds no messages"
    assert analyze(analyze_schema, paths[0])["point_to_point"][0]["transfer_ns"] is None
traces = sorted(glob.glob(os.path.join(SHARED, "kineto", "*.json.gz")) + glob.glob(os.path.join(SHARED, "chakra", "*kineto*.json.gz")))
for trace in traces + [path for path in [os.path.join(SHARED, "chakra", "dlrm_8xV100_kineto")] if os.path.isdir(path)]:
    analyze(analyze_schema, trace)

rows = list(csv.DictReader(io.StringIO(run("analyze", "--format", "csv", "--table", "operators", TRACE))))
assert sum(int(row["time_ns"]) for row in rows) == sum(row["time_ns"] for row in document["operators"])

by_name = {}
for row in document["operator_shapes"]:
    calls, time_ns = by_name.get(row["name"], (0, 0))
    by_name[row["name"]] = calls + row["calls"], time_ns + row["time_ns"]
assert by_name == {row["name"]: (row["calls"], row["time_ns"]) for row in document["operators"]}
assert any(row["shapes"] for row in document["operator_shapes"]), "the demo trace records shapes"

html = run("analyze", "--format", "html", TRACE)
assert html.count("<html") == 1 and html.rstrip().endswith("</html>")
assert "http://" not in html.replace("http://www.w3.org", "") and "https://" not in html, "the page must stand alone"

same = json.loads(run("compare", "--format", "json", TRACE, TRACE))
validate(same, compare_schema)
assert same["a_step_ns"] == same["b_step_ns"]
assert all(value == 0 for row in same["change_matrix"].values() for value in row.values())
assert all(row["change_ns"] == 0 for row in same["operators"])
predict_schema = schema_of("predict")
check_strict(predict_schema, predict_schema)
for words in [[TRACE], [TRACE, "--on", "a100-40-sxm"], ["bert_base", "--on", "a100-40-sxm", "--graph"]] + [
        [trace, "--scale", ".:0.5", "--graph"] for trace in traces if "_train_" in trace or "dlrm" in trace] + [
        [trace, "--batch", "8", "--fuse", ".", "--precision", "bf16", "--on", "a100-40-sxm"] for trace in traces if "tl_vit" in trace]:
    validate(json.loads(run("predict", "--format", "json", *words), parse_constant=no_constant), predict_schema)
for other in traces[:3]:
    validate(json.loads(run("compare", "--format", "json", TRACE, other)), compare_schema)
print("%d traces validated" % (len(traces) + 4))
