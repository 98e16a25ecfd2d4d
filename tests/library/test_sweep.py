"""Every option on every question: it changes the answer, or it is an error. The options are those of the library's own table, so
that a new one is tried without being named here; SWEEP=all in the environment tries every question and value, else a part."""
import json
import os
import random
import re
import sys
import tempfile
import time

SOURCE, BUILD = os.environ["PACELINE_SOURCE"], os.environ["PACELINE_BUILD"]
os.environ["PACELINE_LIBRARY"] = os.path.join(BUILD, "libpaceline.so.1")
sys.path[:0] = [os.path.join(SOURCE, "python"), os.path.join(SOURCE, "tests", "golden")]
import paceline as pl  # noqa: E402
import planted_traces  # noqa: E402
from paceline._library import lib, table as listed, text  # noqa: E402

ALL = os.environ.get("SWEEP") == "all"
FOLDER = tempfile.mkdtemp(prefix="paceline-sweep-")
DEMO = os.path.join(SOURCE, "tests", "data", "demo.json.gz")
JOBS = os.path.join(SOURCE, "tests", "data", "jobs_synthetic.csv.gz")
ASKS, WRITES, RENDERS = range(3)
FLAG, TEXT, NUMBER, LIST = range(4)
tried, wrong = 0, []


def put(name, content):
    path = os.path.join(FOLDER, name)
    with open(path, "w") as file:
        file.write(content)
    return path


# --- what is asked

def recording(name, rank=None, world=None, slow=1.0):
    made = planted_traces.Rank(rank, world)
    planted_traces.steps(made, 4, lambda rank, _: planted_traces.layers(rank, 6, **({} if slow == 1 else {"us": 100 * slow})))
    return made.write(os.path.join(FOLDER, name + ".json"))


def rows_of(header, *rows):
    return header + "\n" + "".join(row + "\n" for row in rows)


def questions():
    """(verb, inputs, options): one of each kind."""
    gpu, other = recording("gpu"), recording("other", slow=1.3)
    kernels = put("kernels.csv", rows_of("device,m,n,k,latency_us", *(f"a100-40-sxm,{64 << i % 5},{64 << i % 3},{64 + i},{5 + i % 5 * 3}" for i in range(40))))
    exchanges = put("exchanges.csv", rows_of("system,collective,nodes,gpus,bytes,time_us", *(f"dgx-a100,allreduce,1,8,{1 << i},{20 + 2 ** i / 1e5}" for i in range(10, 30))))
    steps = put("steps.csv", rows_of("device,n_gpu,hidden,layers,heads,seq,vocab,tp,pp,dp,micro_batch,global_batch,precision,step_time_s",
                                     *(f"a100-80-sxm,8,{1024 * n},12,16,1024,50000,{t},1,{8 // t},2,{16 * n},bf16,{0.5 * n}" for n in (1, 2, 3) for t in (1, 2, 4))))
    scaling = put("scaling.csv", rows_of("machine,model,approach,workers,batch,images_per_sec", *(f"dgx-1-v100,resnet50,ddp,{n},{b},{n * 300}" for n in (1, 2, 4, 8) for b in (32, 64))))
    jobs = put("jobs.csv", rows_of("job,architecture,cnodes,batch_size,flop,memory_access_bytes,input_bytes,weight_traffic_bytes,dense_weight_bytes,embedding_weight_bytes",
                                   *(f"j{i},ps_worker,{1 + i % 8},512,{1e12 + i},1e10,1e6,1e8,1e8,0" for i in range(20))))
    yield "analyze", [gpu], {}
    yield "predict", ["resnet50"], {"on": "v100-sxm2-16", "set": ["micro_batch=32"]}
    yield "predict", [gpu], {"on": "h100-80-sxm"}
    yield "predict", [gpu], {}
    yield "predict", [], {"kind": "exchange", "on": "dgx-h100*2", "bytes": "1K,1G"}
    yield "predict", ["lenet"], {"on": "dgx-1-v100", "workers": "1,2", "batch": ["32"]}
    yield "compare", [gpu, other], {}
    yield "fleet", [put("twice.csv", open(jobs).read() + open(jobs).read().splitlines()[-1] + "\n")], {"most_rejected": 0.5}
    yield "predict", [], {"job": "architecture=ps_worker,cnodes=8,batch_size=512,flop=1T,memory_access_bytes=10GB,input_bytes=1MB,weight_traffic_bytes=100MB"}
    yield "models", ["resnet50"], {}
    yield "machines", ["a100"], {}
    yield "predict", [], {"rows": steps}
    runs = os.path.join(FOLDER, "runs.sqlite")
    for series in ("nightly",) * 5 + ("weekly",):
        pl.analyze(other if series == "weekly" else gpu, store=runs, series=series)
    yield "history", [runs], {}
    yield "tune", [], {"on": "dgx-a100*2", "collective": "allreduce", "bytes": "1M"}
    yield "calibrate", [], {"list": True}
    yield "train", ["lenet"], {"batch": 2, "steps": 3, "warm_up": 1, "threads": 1}
    cases = put("cases.yaml", 'cases:\n  - {case: a/b, ask: {verb: models}, values: {"3": "4"}, bars: {mape: "<=0.3"}}\n')
    yield "validate", [], {"cases": cases, "data": FOLDER}
    if not ALL:
        return
    yield "calibrate", [], {"quick": True, "family": "reduction", "threads": 1}
    yield "machines", ["dgx-h100"], {}
    yield "models", ["gpt2"], {"set": ["layers=2"]}
    yield "plan", ["gpt2"], {"on": "dgx-a100", "set": ["precision=bf16"]}
    yield "analyze", [DEMO], {}
    yield "analyze", [recording("r0", 0, 2), recording("r1", 1, 2, 1.2)], {}
    yield "predict", [DEMO], {"on": "h100-80-sxm"}
    yield "predict", [DEMO], {}
    yield "predict", ["gpt2"], {"on": "dgx-h100", "set": ["dp=8", "micro_batch=4", "precision=bf16"]}
    yield "predict", ["gpt2"], {"on": "dgx-h100", "set": ["dp=2", "pp=4", "micro_batch=1", "global_batch=16", "precision=bf16"]}
    yield "predict", ["dlrm_default"], {"on": "dgx-1-v100", "set": ["dp=8", "micro_batch=512"]}
    yield "predict", ["lenet"], {"on": "epyc-zen5-1t", "set": ["micro_batch=8"]}
    yield "predict", [], {"kind": "exchange", "simulate": True, "on": "dgx-h100*2", "bytes": "1K"}
    ranks = os.path.join(FOLDER, "ranks")
    os.mkdir(ranks)
    for rank in (0, 1):
        os.link(os.path.join(FOLDER, f"r{rank}.json"), os.path.join(ranks, f"r{rank}.json"))
    yield "compare", [ranks], {"rank": 0, "with_rank": 1}
    silent = put("silent.csv", rows_of("m,n,k,latency_us", *(f"{64 << i % 5},{64 << i % 3},{64 + i},{5 + i % 5 * 3}" for i in range(40))))
    yield "predict", [], {"rows": silent, "on": "h100-80-sxm"}
    yield "predict", [], {"rows": put("bare.csv", rows_of("nodes,gpus,bytes,time_us", "1,8,1024,20", "1,8,1048576,50")), "kind": "exchange", "on": "dgx-a100", "collective": "allreduce"}
    yield "predict", [], {"rows": put("local.csv", rows_of("job,architecture,cnodes,batch_size,flop,memory_access_bytes,input_bytes,weight_traffic_bytes",
                                                           "a,allreduce_local,8,64,1e12,1e10,1e8,1e8"))}
    for name in (kernels, exchanges, scaling, jobs):
        yield "predict", [], {"rows": name, **({"kind": "scaling"} if name == scaling else {})}
    for name in (kernels, exchanges, scaling, steps, os.path.join(SOURCE, "tests", "data", "jobs_resnet50.csv")):
        kind = {scaling: "scaling", kernels: "kernel", exchanges: "exchange", steps: "step"}.get(name, "job")
        yield "fit", [name], {"kind": kind, "output": os.path.join(FOLDER, "base.fit")}
    yield "convert", [gpu], {"output": os.path.join(FOLDER, "base.et")}
    yield "convert", ["lenet"], {"output": os.path.join(FOLDER, "base.et")}
    yield "slice", [gpu], {"output": os.path.join(FOLDER, "base.json")}
    yield "fleet", [JOBS], {}
    times = put("times.csv", rows_of("iteration,worker,time_s", *(f"{i},{w},{0.1 + 0.01 * (w == 3) + i % 5 * 0.001}" for i in range(20) for w in range(4))))
    yield "fleet", [times], {"iterations": True}
    nodes = put("nodes.csv", rows_of("sn,cpu_milli,memory_mib,gpu,model", "n0,64000,262144,8,G2", "n1,32000,65536,2,T4"))
    pods = put("pods.csv", rows_of("name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,creation_time,deletion_time,scheduled_time",
                                   "a,1000,1024,1,500,,0,100,1", "b,2000,1024,2,1000,G2,5,60,7"))
    yield "fleet", [], {"pods": pods, "nodes": nodes}
    yield "fleet", [], {"synthesize": 3}
    yield "models", [], {}
    yield "machines", [], {}


# Values that mean something to the option somewhere; every other option gets what its type allows.
def values():
    overheads = os.path.join(FOLDER, "overheads.json")
    pl.analyze(os.path.join(FOLDER, "gpu.json"), overheads=overheads)
    fit = os.path.join(FOLDER, "kernels.fit")
    pl.fit(os.path.join(SOURCE, "catalog", "calibrations", "epyc-zen5-1t.csv"), output=fit)
    one, two = os.path.join(FOLDER, "gpu.json"), os.path.join(FOLDER, "other.json")
    return {
        "on": ["a100-40-sxm", "dgx-a100", "t4"], "from": ["v100-sxm2-16"], "set": ["precision=fp16", "micro_batch=64", "dp=2", "hidden=64", "tp=2"], "samples": [7],
        "step_regex": ["ProfilerStep#[12]$", "nosuch"], "steps": ["1:2"], "skip": [1], "rank": [0, 3], "with_rank": [1], "fail_on": ["+5%"], "top": [1], "filter": ["mm", "nosuch"],
        "stage": ["forward"], "profiler_us": ["0.5", "auto"], "batch": ["64", "8"], "precision": ["fp16", "bf16"], "fuse": ["aten::", "nosuch"], "scale": [".:2", "nosuch:2"],
        "drop_overhead": ["t2", "all"], "overheads": [overheads], "calibrate": [f"{one}={two}"], "rows": [os.path.join(FOLDER, "kernels.csv")], "kind": ["exchange", "step"],
        "fit": [fit], "split": ["device", "row"], "collective": ["allgather", "broadcast"], "probes": [3], "job": ["architecture=1w1g,batch_size=8,flop=1G,memory_access_bytes=1GB"],
        "overlap": ["ideal"], "contention": ["all", "none"], "nvlink": ["aggregate"], "efficiency": ["0.3"], "seed": [7], "sweep": ["network=200Gb/s"], "price": ["network=100Gb/s:3000"],
        "columns": ["x=job"], "database_table": ["jobs"], "rejects": [os.path.join(FOLDER, "rejects.csv")], "most_rejected": [0.5], "pods": [os.path.join(FOLDER, "pods.csv")],
        "nodes": [os.path.join(FOLDER, "nodes.csv")], "synthesize": [2], "workers": ["1,4"], "approach": ["grpc", "ddp"], "jitter": ["20%"], "one_worker": [100], "bytes": ["2M"],
        "library": ["textbook"], "algorithm": ["ring", "tree"], "protocol": ["simple", "ll"], "ranks": [4], "jobs": [2], "straggler": ["1:0.5"], "background": ["30%"],
        "store": [os.path.join(FOLDER, "store.sqlite")], "label": ["x"], "series": ["y"], "value": ["nosuch"], "last": [1], "output": [os.path.join(FOLDER, "out.et"), os.path.join(FOLDER, "out.json")],
    }


# What is measured differs from run to run: of such an answer words count and whole numbers that are no times.
MEASURES = ("train", "calibrate")


def leaves(node, path=""):
    if isinstance(node, (dict, list)):
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            yield from leaves(value, f"{path}.{key}")
    elif not isinstance(node, float) and not path.endswith(("_ns", "_bytes")):
        yield path, re.sub(r"[\d.,]+( [nmµ]?s\b)?", "#", node) if isinstance(node, str) else node


# Options that may leave an answer as it is: checks and defaults that are said always, the others where there is nothing for
# them to do; the whole sweep holds them to changing some answer.
ALWAYS = {"check": "checks what is answered anyway", "weak": "says the default", "loader": "makes measured steps longer, by as much"}
SOMETIMES = {"most_rejected": "a limit of damage", "repeats": "a limit of damage", "on": "of rows that name none", "collective": "of rows that name none",
             "contention": "of jobs whose input shares a link", "nvlink": "of jobs on NVLink"}
effective = set()
# Pairs whose second may leave nothing for the first to do, with that said of no value of theirs alone: both choose or show less.
CHOOSING = {"filter", "window", "top", "steps", "skip", "rank", "samples", "step_regex", "last", "stage", "table", "value", "series"}


# --- the sweep

def asked(verb, inputs, options):
    """What is answered, or that it is an error; without the words of the command, and without what depends on the file's name."""
    try:
        answer = getattr(pl, verb)(*inputs, **options)
    except pl.PacelineError as error:
        return "error", str(error)
    document = json.loads(answer.json()) if verb != "fleet" or "synthesize" not in options else answer.csv()
    if isinstance(document, dict):
        document.pop("command")
    if verb in MEASURES:
        return "answer", frozenset(leaves(document))
    kept = open(options["output"], "rb").read() if "output" in options and os.path.exists(options["output"]) else b""
    return "answer", json.dumps(document), answer.text(width=100) if isinstance(document, dict) else "", kept


def with_option(options, option, value):
    name = text(option.name)
    if option.type == LIST:
        before = options.get(name, [])
        return {**options, name: [*(before if isinstance(before, list) else [before]), value]}
    return {**options, name: value}


def written(options, option, value):
    """Whether a file that the option names has been written."""
    name = text(option.name)
    return option.role == WRITES and options.get(name) == value and os.path.exists(value)


def try_option(verb, inputs, options, option, known, moved):
    """Adds to `moved` the option's values that changed the answer."""
    global tried
    name = text(option.name)
    if name in options and option.type != LIST:
        return
    candidates = [True] if option.type == FLAG else known.get(name, [3] if option.type == NUMBER else [os.path.join(FOLDER, "written")] if option.role == WRITES else ["x"])
    same = []
    for value in candidates:
        tried += 1
        asks = with_option(options, option, value)
        if option.role == WRITES and os.path.exists(value):
            os.remove(value)
        found = asked(verb, inputs, asks)
        if found == asked_plain[verb, tuple(inputs), json.dumps(options)] and not written(asks, option, value):
            same.append(value)
        elif found[0] == "answer" and option.role == ASKS:
            moved.append((option, value, found))
    if len(same) < len(candidates):
        effective.add(name)
    if name in ALWAYS or (name in SOMETIMES and (verb == "fleet" or options.get("rows") or verb == "fit")):
        return
    if same and len(same) == len(candidates):
        wrong.append((verb, inputs, options, name, same))
        print("no effect and no error:", verb, [os.path.basename(path) for path in inputs], options, f"--{name}", same)



def try_pairs(verb, inputs, options, moved, dice):
    """Two options that each change the answer: together they change it as neither does alone, or they are refused."""
    global tried
    pairs = [(one, two) for i, one in enumerate(moved) for two in moved[:i] if one[0] is not two[0] and one[0].name != two[0].name]
    for one, two in pairs if ALL else dice.sample(pairs, min(8, len(pairs))):
        names = {text(one[0].name), text(two[0].name)}
        if names <= CHOOSING or names & set(ALWAYS):
            continue
        tried += 1
        found = asked(verb, inputs, with_option(with_option(options, one[0], one[1]), two[0], two[1]))
        if found in (one[2], two[2]):
            silent = two if found == one[2] else one
            wrong.append((verb, inputs, options, names))
            print("no effect beside the other and no error:", verb, [os.path.basename(path) for path in inputs], options,
                  *(f"--{text(option.name)} {value}" for option, value, _ in (one, two)), "silent:", text(silent[0].name))


asked_plain = {}
begin = time.time()
everything = list(questions())
known = values()
dice = random.Random(13)
for verb, inputs, options in everything:
    plain = asked(verb, inputs, options)
    asked_plain[verb, tuple(inputs), json.dumps(options)] = plain
    if plain[0] == "error":
        wrong.append((verb, inputs, options, plain))
        print("not answered:", verb, inputs, options, plain[1])
        continue
    moved = []
    for option in listed(lambda index: lib.pace_option_at(verb.encode(), index)):
        if option.role != RENDERS:
            try_option(verb, inputs, options, option, known, moved)
    if verb not in MEASURES:
        try_pairs(verb, inputs, options, moved, dice)
for name in SOMETIMES if ALL else ():
    if name not in effective:
        wrong.append(name)
        print("never has an effect:", name)
print(f"{len(everything)} questions, {tried} times another option, {len(wrong)} wrong, {time.time() - begin:.0f} s")
sys.exit(1 if wrong else 0)
