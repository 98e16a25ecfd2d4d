#!/usr/bin/env python3
"""Checks in the built objects that each part of the answer for a model's step exists once and is reached by its road alone.

    lint_roads.py ARCHIVE

ROADS names, for each part, the function, the object that defines it, and the objects that may refer to it. A second definition,
a caller that is not named here, and a function that nobody calls any more are faults; so is a function of another object whose
name says that it does the same (ALONE), and whoever knows one kind of rows by its name. Whoever adds a caller adds it here, with
the reason why the road has a fork. Prints what is wrong; exits 1 then.
"""
import re
import subprocess
import sys

ROADS = {
    "one default configuration": {
        "pace_step_defaults_of": ("step_ask", "step_row_config"),  # of words; of a table's row, before its columns
        "pace_step_spreads_tables": ("step_ask", "step_row_config"),
        "pace_step_usual_approach": ("step_engine", "prediction step_ask step_rows_read"),
    },
    "one case of words": {
        "pace_step_asked_open": ("step_ask", "prediction scaling_solve"),  # scaling_solve: which batch too, unless given
        "pace_step_model_open": ("step_ask", "graph_inputs job_features report_models model_points"),  # converted; counted: never timed
    },
    "one lowering": {
        "pace_lower_forward": ("lower_forward", "lower lower_part"),
        "pace_lower_backward": ("lower_backward", "lower lower_part"),
        "pace_model_lower": ("lower", "step_engine graph_inputs gradient_profile job_features model_points"),  # walked; written; curves of a fit; counted
        "pace_model_lower_part": ("lower_part", "step_slots"),
        "pace_model_lower_rest": ("lower", "step_slots"),
    },
    "one emission of gradients": {
        "pace_lower_gradient": ("lower_gradients", "lower lower_backward lower_region"),
        "pace_emit_gradients": ("emit", "lower_gradients"),
        "pace_lower_last_bucket": ("lower_gradients", "lower"),
        "pace_model_lower_gradients": ("lower", "step_slots"),
    },
    "one filling of buckets": {
        "pace_slot_buckets_add": ("slot_buckets", "step_slots"),  # both ask pace_bucket_is_full(), model/buckets.h
    },
    "one placement of groups on nodes": {
        "pace_group_place_find": ("exchange", "forecast_gradients forecast_price gradients step_slots token_routes"),
    },
    "one overlap": {
        "pace_walk_extents_of": ("walk_timeline", "walk"),
        "pace_gradient_hull_make": ("gradient_hull", "step_slots"),  # the closed form's stand-in for it
        "pace_gradient_hull_behind_s": ("gradient_hull", "step_time gather_lanes"),
        "pace_gradients_ends": ("gradients", "forecast_gradients"),  # approaches whose exchanges occupy lanes
    },
    "one walk": {
        "pace_walk": ("walk", "forecast step_picture"),  # a closed form's own schedule, drawn
        "pace_walk_ends_of": ("walk", "step_host"),  # what a part's host takes
        "pace_step_forecast": ("step_engine", "prediction_model"),
    },
    "one closed form": {
        "pace_step_slots_get": ("step_slot_cache", "step_engine"),
        "pace_step_plan_make": ("step_plan", "step_engine"),
        "pace_step_plan_outline": ("step_plan", "step_engine"),
        "pace_step_plan_finish": ("step_plan", "step_engine"),
        "pace_step_settle": ("step_engine", "step_ask step_answer step_memory what_if_memory plan_asked"),  # answer: what unsaid chunks would make of it; memory: which change would fit, which what-if does; plan_asked: draws the fastest
        "pace_step_screen": ("step_engine", "plan_search"),
        "pace_step_check_walk": ("step_engine", "prediction_settle"),
    },
    "one answer": {
        "pace_step_solve": ("step_engine", "step_answer plan_place"),
    },
}

# What a name says a function does, and the objects where it may stand.
ALONE = {
    r"bucket\w*full|fills?_bucket|bucket\w*fill": {"lower_gradients", "step_slots", "what_if_buckets"},  # where buckets.h is inlined; the last: of recorded steps
    r"group_place|place_group": {"exchange"},
    r"gradient_hull|overlap_gradients|hide_gradients": {"gradient_hull"},
    r"step_defaults|defaults_of_step|usual_config": {"step_ask"},
    r"closed_form_s|step_closed": {"step_engine", "step_time"},
}

LIST_OF_KINDS = "row_kinds"


def symbols(archive):
    """Which objects define each function or table, and which refer to it: {name: {object, ...}} twice."""
    listed = subprocess.run(["nm", "-A", archive], check=True, capture_output=True, text=True).stdout
    defined, used = {}, {}
    for one in re.finditer(r"^[^:]*:([^:]+):\S* +([A-Za-z]) (\S+)$", listed, re.M):
        kind, name = one.group(2), one.group(3)
        where = defined if kind in "TtDdRrBb" else used if kind == "U" else None
        if where is not None:
            where.setdefault(name, set()).add(re.sub(r"(\.c)?\.o$", "", one.group(1)))
    return defined, used


def faults_of(defined, used):
    for road, functions in ROADS.items():
        for name, (home, callers) in functions.items():
            at, by, may = defined.get(name, set()), used.get(name, set()), set(callers.split())
            if at != {home}:
                yield f"{road}: {name}() stands in {', '.join(sorted(at)) or 'no object'}, expected {home}"
            for other in sorted(by - may):
                yield f"{road}: {other} calls {name}(), expected {', '.join(sorted(may))} alone"
            for gone in sorted(may - by):
                yield f"{road}: {gone} no longer calls {name}(): take it out of tools/lint_roads.py"
    for name, by in sorted(used.items()):  # a kind of rows is its file and its place in the list
        if LIST_OF_KINDS in by and re.fullmatch(r"pace_\w+_kind", name):
            for other in sorted(by - {LIST_OF_KINDS}):
                yield f"{other} knows {name}, expected {LIST_OF_KINDS} alone"
    for pattern, homes in ALONE.items():
        for name, at in sorted(defined.items()):
            if re.search(pattern, name):
                for other in sorted(at - homes):
                    yield f"{name}() in {other}: {', '.join(sorted(homes))} does this"


def main():
    faults = list(faults_of(*symbols(sys.argv[1])))
    for fault in faults:
        print(fault)
    if not faults:
        print(f"roads: {sum(map(len, ROADS.values()))} functions, each with one definition and its own callers")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
