"""The recordings whose cause is known (accuracy/leads.csv), and whether the report leads with that cause."""
import csv
import json
import os
import subprocess
import tempfile

import planted_devices
import planted_jobs
import planted_runs
import planted_traces
import planted_writers

SOURCE = os.environ.get("PACELINE_SOURCE", ".")
SHARED = os.environ.get("PACELINE_SHARED", "")


def table(split):
    with open(os.path.join(SOURCE, "accuracy", "leads.csv"), encoding="utf-8") as file:
        return [line for line in csv.DictReader(file) if line["split"] == split]


def analyze(paths, *options):
    run = subprocess.run([os.environ["PACELINE"], "analyze", "--check", "--format", "json", *options, *paths],
                         capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(f"{paths}: {run.stderr}")
    return json.loads(run.stdout)


def planted(recording, folder):
    """Makes the recordings of a program, or with "name*8" of a run of so many ranks, with "@amd" as of another device, with "@nsys" as of
    another profiler; returns their paths."""
    program, _, device = recording.partition("@")
    name, _, world = program.partition("*")
    if world:
        module = planted_jobs if name in vars(planted_jobs) and name not in vars(planted_runs) else planted_runs
        paths = module.write(name, int(world), os.path.join(folder, f"{name}.json"))
    else:
        paths = getattr(planted_traces, name)(os.path.join(folder, name + ".json.gz"))
    if not device:
        return paths
    return (planted_writers if device in planted_writers.SHAPES else planted_devices).rewrite(paths, device)


def document_of(line):
    """The report on a recording; None when it is not at hand."""
    if line["split"] == "planted":
        with tempfile.TemporaryDirectory() as folder:
            return analyze(planted(line["recording"], folder))
    folder = os.path.join(SOURCE, "tests", "data") if line["split"].startswith("recorded") else SHARED
    name, _, ranks = line["recording"].partition("*")
    path = os.path.join(folder, name)
    paths = [f"{path}-rank{rank}.json.gz" for rank in range(int(ranks))] if ranks else [path]
    return analyze(paths) if all(map(os.path.exists, paths)) else None


def found(document):
    """What the report leads with: a resource, "none" where nothing is worth it, "unknown" where the trace cannot tell."""
    lead = document.get("lead")
    if not lead or lead["evidence"] != "whole":
        return "unknown"
    return lead["resource"] if lead["matters"] else "none"


def is_right(line, document):
    """The resource leads, and the sentences name what stands behind it."""
    said = " ".join(document["summary"])
    return found(document) == line["resource"] and line["names"] in said
