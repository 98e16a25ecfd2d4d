"""JSON documents against docs/schemas/: no member beside those named, in the order in which they are named, each number with its
unit in its key.
"""
import functools
import json
import os

import jsonschema

SOURCE = os.environ.get("PACELINE_SOURCE", ".")
UNITS = ("_flop", "_ns", "_us", "_s", "_bytes", "_per_s", "_per_call", "_per_step", "_share", "_id")
UNITLESS = {"matters", "before", "steps", "left_out", "host_nodes", "device_nodes", "exchanges", "timed_nodes", "workers", "height", "slope", "base", "parameter_tensors", "sequence", "multiply_adds", "activations", "parameters", "variants", "layers", "missed", "worse", "failed", "not_recomputed", "n", "bytes", "calls", "a_calls",
            "b_calls", "count", "kernels", "kernels_linked", "events", "complete_events", "operators",
            "runtime_calls", "copies", "memsets", "pieces", "handovers", "recorded_handovers", "times_last", "times_first",
            "messages", "share", "elasticity", "at_most", "certainty", "compute_over_mean",
            "robust_relative_spread", "hfu", "ratio", "walk_error", "speedup", "samples", "batch", "launches",
            "unknown", "scaled_kernels", "fused_kernels", "fused_lookups", "beyond_roofline", "spread", "measured", "calibrated",
            "learned", "formula", "roofline", "own", "alike", "class", "typical", "nothing", "rows",
            "rows_left_out", "workloads", "held_out", "gmae", "mape", "median", "signed_mean", "largest",
            "coverage", "pairs", "pooled", "others", "scaled", "of_one_model", "of_one_model_from_class",
            "log_spread", "mean_error", "uncorrected_error", "curves_fitted", "ranks", "nodes", "sizes", "probes",
            "answered", "asked", "threads", "processors", "points", "kept", "skipped", "median_spread", "added_spread", "rank", "last_rank",
            "slowest_rank", "last_device", "slowest_device", "source", "destination", "fixed_mape", "formula_mape",
            "factor", "assumed", "efficiency", "value", "least", "most"}
UNITLESS |= {"runs", "since_run", "level_change", "run", "runs_before", "runs_last", "median_before", "median_last", "before", "last", "change", "value"}  # of histories
UNITLESS |= {"of_long_steps", "long_steps", "shift_ratio"}  # of leads
UNITLESS |= {"trace_events", "steps"}  # of slices
UNITLESS |= {"slowdown"}  # of kernels beside exchanges
UNITLESS |= {"tried", "refused"}  # of remedies
UNITLESS |= {"ratio_low", "ratio_high", "p_value", "step_correlation", "a_samples", "b_samples", "a_launches", "b_launches", "left_out", "depth"}  # of comparisons
UNITLESS |= {"flop", "flop_per_byte"}  # of kinds of work
UNITLESS |= {"times"}  # of memory
UNITLESS |= {"instances"}  # of modules
UNITLESS |= {"stage", "stands_for", "fit_factor"}  # of pipelines
UNITLESS |= {"long_calls", "work", "long_delays", "short_work", "below_call", "median_length", "most"}  # of launches and queues
UNITLESS |= {"least_calls", "most_calls", "occupancy", "occupancy_known", "blocks_per_sm"}  # of kernels
UNITLESS |= {"tp", "pp", "vpp", "cp", "ep", "dp", "zero_stage", "zero_group", "recompute_layers", "micro_batch", "devices", "tried", "fitting", "too_large", "may_fit",
             "refused", "configurations", "days", "price", "energy_kwh", "idle_devices", "global_batch", "learning"}  # of plans
UNITLESS |= {"machines", "servers", "replicas", "per_machine", "best.speedup"}  # of partitions
UNITLESS |= {"channels"}  # of choices
UNITLESS |= {"calibrated_now", "stopped", "oversubscribed", "warm_up", "first_loss", "last_loss", "accuracy"}  # of trainings
IN_A_COLUMN = {"predicted", "low", "high", "value", "ledger_value"}  # the unit is the row's own


@functools.cache
def schema_of(verb):
    with open(os.path.join(SOURCE, "docs", "schemas", verb + ".json")) as file:
        schema = json.load(file)
    jsonschema.Draft7Validator.check_schema(schema)
    check_strict(schema, schema)
    return schema


def resolve(node, schema):
    while "$ref" in node:
        node = schema["definitions"][node["$ref"].rsplit("/", 1)[1]]
    return node


def check_strict(node, schema, where=""):
    """Every object of the schema says all its members."""
    node = resolve(node, schema)
    if node.get("type") == "object":
        open_to_text = node.get("additionalProperties") == {"type": "string"} and where == ".rows[]"  # a table's own columns
        assert node.get("additionalProperties") is False or open_to_text, (where, "lets members pass that it does not name")
        for key, value in node["properties"].items():
            check_strict(value, schema, where + "." + key)
    elif node.get("type") == "array" and node.get("maxItems") != 0:
        check_strict(node["items"], schema, where + "[]")


def check_members(value, node, schema, where=""):
    """The document's members stand in the schema's order, and numbers say their unit."""
    node = resolve(node, schema)
    if isinstance(value, dict):
        named = [key for key in value if key not in node["properties"]] + [key for key in node["properties"] if key in value]
        assert list(value) == named, (where, list(value), named)
        for key, member in value.items():
            if isinstance(member, (int, float)):
                assert key.endswith(UNITS) or key in UNITLESS or key in IN_A_COLUMN, (where, key, "a number without a unit")
            check_members(member, node["properties"].get(key, {}), schema, where + "." + key)
    elif isinstance(value, list):
        for item in value:
            check_members(item, node["items"], schema, where + "[]")


def hold(document, verb):
    """The document is what the schema says, to the letter."""
    schema = schema_of(verb)
    jsonschema.validate(document, schema)
    check_members(document, schema, schema)
