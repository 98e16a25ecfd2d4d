"""Over all what-ifs, models and recordings: what can only help makes no step slower, and the order in which what-ifs are said makes
no difference. WHAT_IFS=all in the environment takes the smallest model of every family and the shared recordings, else a part."""
import glob
import os
import random
import sys
import tempfile
import time

SOURCE, BUILD = os.environ["PACELINE_SOURCE"], os.environ["PACELINE_BUILD"]
os.environ["PACELINE_LIBRARY"] = os.path.join(BUILD, "libpaceline.so.1")
sys.path[:0] = [os.path.join(SOURCE, "python"), os.path.join(SOURCE, "tests", "golden")]
import paceline as pl  # noqa: E402
from checks import expect, finish  # noqa: E402
import planted_traces  # noqa: E402
from paceline._library import lib, table as listed, text  # noqa: E402

ALL = os.environ.get("WHAT_IFS") == "all"
SHARED = os.environ.get("PACELINE_SHARED", "")
FOLDER = tempfile.mkdtemp(prefix="paceline-what-ifs-")
ROUNDING_NS = 2  # times of a scenario are whole nanoseconds
# A kernel of unlike tables is priced as one of tables of their mean size, of which less stays in the cache (docs/predict.md).
PRICED = {"fuse_tables": 1e-3}

# What can only help, as physics has it. The others may do either: more samples, another host's overheads, a measured move, other
# buckets or algorithms, work that other ranks hand over.
HELPS = {"drop_overhead": ["t1", "t2", "t3", "t4", "t5", "all"], "graph": True, "fuse": ["."], "fuse_tables": True, "balance_tables": True,
         "scale": [".:0.5", "gemm|conv:0.8"], "drop_sync": True, "pinned": True, "loader": True, "fuse_update": True,
         "links": "2", "exchange_bytes": "0.5"}
EITHER = {"batch", "precision", "overheads", "calibrate", "bucket_cap", "balance_experts", "exchange_algorithm"}


def steps(inputs, options):
    """Step by label, as it is first; None where the question is refused."""
    try:
        answer = pl.predict(*inputs, **options)
    except pl.PacelineError as error:
        return str(error)
    if any(one.code == "replay_off" for one in answer.warnings):
        return "the replay of the recording is off, and says so"
    found = answer.tables["scenarios"]
    return dict(zip(found["scenario"], found["step_ns"]))


def of_one(inputs, options):
    plain = steps(inputs, options)
    if isinstance(plain, str):
        return 0
    alone, base = list(plain.values())[0], list(plain.values())[-1]  # as it is; on the device that is asked about
    together = dict(options)
    for name, value in HELPS.items():
        found = steps(inputs, {**options, name: value})
        if isinstance(found, str):
            continue
        together[name] = value
        for label, step in list(found.items())[len(plain):]:
            least = base if "together" in label else alone
            expect(step <= least * (1 + PRICED.get(name, 0)) + ROUNDING_NS, inputs, options, name, label, step, "is longer than", least)
        if isinstance(value, list) and len(value) > 1:
            turned = steps(inputs, {**options, name: value[::-1]})
            expect({k: v for k, v in found.items() if "together" not in k} == {k: v for k, v in turned.items() if "together" not in k}, inputs, name, "by order", found, turned)
    flat = {name: value[:1] if isinstance(value, list) else value for name, value in together.items() if name in HELPS}
    found, names = [], list(flat)
    for seed in range(2):
        random.Random(seed).shuffle(names)
        found.append(steps(inputs, {**options, **{name: flat[name] for name in names}}))
    expect(found[0] == found[1], inputs, names, "by order of fields")
    if isinstance(found[0], dict):
        expect(list(found[0].values())[-1] <= base * (1 + max(PRICED.values())) + ROUNDING_NS, inputs, options, "all together", found[0], base)
    return 1


def of_clock(model, device):
    """A faster clock, memory or rate makes nothing slower."""
    base = steps([model], {"on": device, "set": ["micro_batch=8"]})
    for change in ("clock=1.3x", "memory=2x", "fp32=2x"):
        faster = steps([model], {"on": f"{device} {change}", "set": ["micro_batch=8"]})
        if isinstance(base, dict) and isinstance(faster, dict):
            expect(list(faster.values())[-1] <= list(base.values())[-1] + ROUNDING_NS, model, device, change, faster, base)


def of_precision(model, device):
    """A precision with a higher rate makes no step of matrix products slower; small steps may be the host's."""
    options = {"on": device, "set": ["micro_batch=64", "precision=fp32"]}
    found = steps([model], {**options, "precision": ["fp16"]})
    if isinstance(found, dict):
        base, half = list(found.values())[0], list(found.values())[-1]
        expect(half <= base + ROUNDING_NS, model, device, "fp16", half, base)


def recordings():
    def host_bound(rank, _):
        planted_traces.layers(rank, 12, us=5.0, host_us=30.0)
    made = (("long", lambda rank, _: planted_traces.layers(rank, 6)), ("short", host_bound))
    for name, body in made:
        rank = planted_traces.Rank()
        planted_traces.steps(rank, 4, body)
        yield rank.write(os.path.join(FOLDER, name + ".json"))
    yield os.path.join(SOURCE, "tests", "data", "demo.json.gz")
    for path in sorted(glob.glob(os.path.join(SHARED, "kineto", "*.json.gz"))) if ALL and SHARED else ():
        yield path


def smallest_of_each_family():
    table = pl.models().tables["models"]
    least = {}
    for name, family, work in sorted(zip(table["name"], table["family"], table["multiply_adds"]), key=lambda row: -row[2]):
        least[family] = name
    return sorted(least.values())


begin = time.time()
what_ifs = {text(option.name) for option in listed(lambda index: lib.pace_option_at(b"predict", index)) if text(option.heading) == "what if"}
expect(what_ifs == set(HELPS) | EITHER, "a what-if whose direction is not said here", what_ifs ^ (set(HELPS) | EITHER))
asked = 0
models = smallest_of_each_family() if ALL else ["lenet", "resnet50", "gpt2", "dlrm_default"]
for number, model in enumerate(models):
    device = ("v100-sxm2-16", "h100-80-sxm")[number % 2 if ALL else 0]
    asked += of_one([model], {"on": device, "set": ["micro_batch=8"]})
    of_clock(model, device)
    of_precision(model, device)
for path in recordings():
    asked += of_one([path], {})
    asked += of_one([path], {"on": "h100-80-sxm"})
expect(asked > 5, "questions", asked)
print(f"{asked} steps, {time.time() - begin:.0f} s")
finish()
