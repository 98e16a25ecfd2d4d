"""What `paceline fleet` tells of the records of schedulers and of GPUs' counters: figures counted here from the same files, odd
input in one line, and public traces where they are at hand. Long because each source is read here a second time."""
import collections
import csv
import datetime
import gzip
import json
import math
import os
import random
import re
import shutil
import statistics
import tempfile

import jsonschema
import yaml

import checks
from checks import SHARED, SOURCE, expect, finish

DATA = os.path.join(SOURCE, "tests", "data", "clusters")
FOLDER = tempfile.mkdtemp(prefix="paceline-usage-")
SCHEMA = json.load(open(os.path.join(SOURCE, "docs", "schemas", "usage.json")))


def run(*words):
    return checks.run("fleet", *words)


def usage(*words):
    code, out, err = run(*words, "--format", "json")
    expect(code == 0, "json", words, err)
    answer = json.loads(out) if code == 0 else collections.defaultdict(list)
    try:
        jsonschema.validate(answer, SCHEMA)
        expect(list(answer) == list(SCHEMA["properties"]), "order", words)
        expect(all(w["text"].isprintable() for w in answer["warnings"]), "no marks of the program's own", words, answer["warnings"])
    except jsonschema.ValidationError as fault:
        expect(False, "schema", words, fault.message, list(fault.path))
    return answer


def sample(name):
    return os.path.join(DATA, name)


def put(name, text):
    path = os.path.join(FOLDER, name)
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    return path


def near(a, b, tolerance=1e-9):
    if a is None or b is None:
        return a is None and b is None
    return abs(a - b) <= tolerance * max(1, abs(a), abs(b))


def seconds(text, zone=datetime.timezone.utc):
    if text in ("", "Unknown", "None", None):
        return math.nan
    at = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return (at if at.tzinfo else at.replace(tzinfo=zone)).timestamp()


def nearest_rank(values, share):
    values = sorted(values)
    return values[max(0, math.ceil(share * len(values)) - 1)]


class Run:
    """A run as this test reads it."""

    def __init__(self, job, gpus, hours, state, submit=math.nan, start=math.nan, **names):
        self.job, self.gpus, self.hours, self.state, self.submit, self.start, self.names = job, gpus, hours, state, submit, start, names


LOST = {"failed", "timeout", "node_failed", "preempted"}


def hold(answer, runs, by, what):
    """The totals and the groups of an answer are those of the runs."""
    total = sum(r.hours for r in runs)
    expect(near(answer["gpu_hours"], total), what, "gpu_hours", answer["gpu_hours"], total)
    expect(answer["jobs"] == len({r.job for r in runs}), what, "jobs", answer["jobs"])
    expect(near(answer["lost_gpu_hours"], sum(r.hours for r in runs if r.state in LOST)), what, "lost")
    for table, key in by.items():
        hours, jobs, lost = collections.Counter(), collections.defaultdict(set), collections.Counter()
        for r in runs:
            name = r.state if key == "state" else r.names.get(key) or "(not said)"
            hours[name] += r.hours
            jobs[name].add(r.job)
            lost[name] += r.hours * (r.state in LOST)
        rows = {row["name"]: row for row in answer[table]}
        expect(set(rows) == set(hours) or (not rows and set(hours) == {"(not said)"}), what, table, set(rows) ^ set(hours))
        for name in set(rows) & set(hours):
            expect(near(rows[name]["gpu_hours"], hours[name]), what, table, name, rows[name]["gpu_hours"], hours[name])
            expect(rows[name]["jobs"] == len(jobs[name]), what, table, name, "jobs", rows[name]["jobs"])
            if hours[name]:
                expect(near(rows[name]["lost_share"], lost[name] / hours[name]), what, table, name, "lost")
        ordered = [row["gpu_hours"] for row in answer[table]]
        expect(ordered == sorted(ordered, reverse=True), what, table, "order")
    waits = {}
    for r in runs:
        if not math.isnan(r.submit) and not math.isnan(r.start):
            key = (r.job, r.submit)
            waits[key] = min(waits.get(key, math.inf), r.start)
    waits = [start - submit for (_, submit), start in waits.items()]
    expect(answer["waits"] == len(waits), what, "waits", answer["waits"], len(waits))
    if waits:
        expect(near(answer["wait_mean_s"], statistics.fmean(waits)), what, "mean wait", answer["wait_mean_s"])
        expect(near(answer["wait_median_s"], nearest_rank(waits, 0.5)), what, "median wait", answer["wait_median_s"])
        expect(near(answer["wait_p90_s"], nearest_rank(waits, 0.9)), what, "p90", answer["wait_p90_s"])


# --- Slurm ------------------------------------------------------------------------------------------------------------

STATES = {"COMPLETED": "completed", "FAILED": "failed", "TIMEOUT": "timeout", "NODE_FAIL": "node_failed", "CANCELLED": "cancelled",
          "RUNNING": "running", "PENDING": "pending"}


def elapsed(text):
    days, _, clock = text.rpartition("-")
    hours, minutes, whole = clock.split(":")
    return int(days or 0) * 86400 + int(hours) * 3600 + int(minutes) * 60 + float(whole)


def slurm_runs(path):
    lines = open(path).read().splitlines()
    header, runs = lines[0].split("|"), []
    for line in lines[1:]:
        cells = line.split("|")
        if len(cells) != len(header):
            continue
        row = dict(zip(header, cells))
        gpus = {k: int(v) for k, v in re.findall(r"gres/gpu:([^=,]+)=(\d+)", row["AllocTRES"])}
        total = re.search(r"gres/gpu=(\d+)", row["AllocTRES"])
        if total and int(total[1]) > sum(gpus.values()):
            gpus[""] = int(total[1]) - sum(gpus.values())
        if "." in row["JobID"] or (not gpus and "gres/gpu" not in row["ReqTRES"]):
            continue
        state = STATES.get(row["State"].split()[0], "other")
        for model, count in (gpus or {"": 0}).items():
            start = seconds(row["Start"]) if count else math.nan
            runs.append(Run(row["JobID"], count, count * elapsed(row["Elapsed"]) / 3600, state, seconds(row["Submit"]), start,
                            user=row["User"], account=row["Account"], queue=row["Partition"], gpu=model))
    return runs


def test_slurm():
    path = sample("sacct.txt")
    answer = usage(path)
    hold(answer, slurm_runs(path), {"users": "user", "accounts": "account", "queues": "queue", "gpus": "gpu", "states": "state"}, "slurm")
    expect(answer["files"] == [{"source": "Slurm sacct", "mapping": "slurm", "rows": 14, "taken": 11, "skipped": 2, "refused": 1}],
           "steps and a name with a bar", answer["files"])
    codes = sorted(w["code"] for w in answer["warnings"])
    expect(codes == ["jobs_left_out", "rows_left_out"], "warnings", answer["warnings"])
    expect(answer["runs"] == 10 and answer["jobs"] == 9, "a requeued job has two runs", answer["runs"], answer["jobs"])
    expect(answer["judged_share"] == 0 and answer["idle_gpu_hours"] is None, "nothing is judged without counters")
    expect(answer["runs_pending"] == 8, "tasks 3 to 10 of an array", answer["runs_pending"])
    for ids, count in (("9_[1]", 1), ("9_[1,3-5%1]", 4), ("9_[0-8:4]", 3), ("9", 1)):
        again = usage(put("array.txt", open(path).read().replace("1002_[3-10%2]", ids)))
        expect(again["runs_pending"] == count, ids, again["runs_pending"])
    # counts behind a colon, slices of GPUs (3 and 1 of 7, 2 of an A30's 4), and both components of a heterogeneous job
    odd = ["JobID|User|Partition|State|Submit|Start|End|Elapsed|AllocTRES|ReqTRES"]
    for job, tres in (("1", "gres/gpu:a100:8,mem=1.50T"), ("2", "gres/gpu=2,gres/gpu:a100_3g.20gb=2"), ("3", "gres/gpu:a30_2g.12gb=1,gres/gpu=1"),
                      ("4+0", "gres/gpu:h100=2,gres/gpu=2"), ("4+1", "gres/gpu:h100=2,gres/gpu=2"), ("4+2", "cpu=4"),
                      ("5_7", "gres/gpu:nvidia_a100_1g.10gb(S:0-1)=1,gres/gpumem=10G"), ("4+0", "gres/gpu:h100=2,gres/gpu=2")):
        odd.append(f"{job}|u|q|COMPLETED|2026-03-29T01:30:00|2026-03-29T03:30:00|2026-03-29T05:30:00|02:00:00|cpu=8,{tres}|")
    strange = usage(put("odd.txt", "\n".join(odd) + "\n"), "--price", "7")
    expect(near(strange["gpu_hours"], 2 * (8 + 2 * 3 / 7 + 0.5 + 2 + 2 + 1 / 7)) and near(strange["cost"], 7 * strange["gpu_hours"]), "odd lists",
           strange["gpu_hours"], strange["warnings"])
    expect(strange["jobs"] == 5 and strange["runs"] == 6 and strange["waits"] == 5 and strange["runs_repeated"] == 1, "heterogeneous",
           strange["jobs"], strange["runs"], strange["waits"], strange["runs_repeated"])
    prices = usage(path, "--price", "a100=2", "--price", "0.5")
    hours = collections.Counter()
    for r in slurm_runs(path):
        hours[r.names["gpu"]] += r.hours
    cost = 2 * hours["a100"] + 0.5 * (hours["v100"] + hours[""])
    expect(near(prices["cost"], cost) and prices["priced_share"] == 1, "price", prices["cost"], cost)
    lost = sum(r.hours * (2 if r.names["gpu"] == "a100" else 0.5) for r in slurm_runs(path) if r.state in LOST)
    expect(near(prices["lost_cost"], lost) and near(sum(row["lost_cost"] for row in prices["users"]), lost), "lost", prices["lost_cost"], lost)
    listed = {tuple(p["devices"])[0]: p["usd_per_hour"] for p in yaml.safe_load(open(os.path.join(SOURCE, "catalog", "prices.yaml")))["prices"]}
    cost = hours["a100"] * listed["a100-40-sxm"] + hours["v100"] * listed["v100-sxm2-16"]
    expect(near(answer["cost"], cost), "list price", answer["cost"], cost)
    # the same with a bar at the ends of lines (--parsable), carriage returns, a byte order mark; compressed; in two files
    text = open(path).read()
    for name, other in (("parsable", text.replace("\n", "|\n")), ("crlf", text.replace("\n", "\r\n")), ("bom", "\ufeff" + text)):
        again = usage(put(name + ".txt", other))
        expect(near(again["gpu_hours"], answer["gpu_hours"]) and again["users"] == answer["users"], name)
    again = usage(put("sacct.gz", gzip.compress(text.encode())))
    expect(again["users"] == answer["users"], "gzip")
    twice = usage(path, path)
    expect(twice["users"] == answer["users"] and twice["runs_repeated"] == 10, "the same file twice", twice["runs_repeated"])
    joined = usage(put("joined.txt", text + text.splitlines()[0] + "\n"))
    expect(joined["files"][0]["refused"] == 1, "a header again further down is no row")


def test_slurm_many():
    """Many jobs at random: requeued, in arrays, on several models, cut off in the middle."""
    draw = random.Random(7)
    lines = [open(sample("sacct.txt")).readline().rstrip("\n")]
    start = datetime.datetime(2026, 1, 1)
    for i in range(3000):
        submit = start + datetime.timedelta(seconds=draw.randrange(10**6))
        begin = submit + datetime.timedelta(seconds=int(draw.expovariate(1 / 600)))
        length = int(draw.lognormvariate(7, 2))
        state = draw.choice(["COMPLETED"] * 5 + ["FAILED", "TIMEOUT", "NODE_FAIL", "CANCELLED by 77"])
        count, other = draw.choice([1, 1, 2, 4, 8]), draw.choice([0, 0, 0, 2])
        tres = f"cpu=4,gres/gpu:a100={count}," + (f"gres/gpu:v100={other}," if other else "") + f"gres/gpu={count + other},node=1"
        job = f"{i // 3}_{i % 3}" if i % 2 else str(100000 + i // 4)
        clock = f"{length // 86400}-" * (length >= 86400) + f"{length % 86400 // 3600:02}:{length % 3600 // 60:02}:{length % 60:02}"
        lines.append(f"{job}|n|u{draw.randrange(20)}|a{draw.randrange(4)}|q{draw.randrange(3)}|x|{state}|{submit.isoformat()}|"
                     f"{begin.isoformat()}|{(begin + datetime.timedelta(seconds=length)).isoformat()}|{clock}|{tres}|{tres}|n|0:0")
    path = put("many.txt", "\n".join(lines) + "\n")
    hold(usage(path), slurm_runs(path), {"users": "user", "accounts": "account", "queues": "queue", "gpus": "gpu", "states": "state"}, "many")
    cut = put("cut.txt", "\n".join(lines)[:150000])
    hold(usage(cut), slurm_runs(cut), {"users": "user"}, "cut off")
    packed = gzip.compress(("\n".join(lines) + "\n").encode())
    answer = usage(put("cut.txt.gz", packed[:len(packed) // 2]))
    expect("file_cut_off" in [w["code"] for w in answer["warnings"]], "a compressed file that breaks off", answer["warnings"])


def sacct_json(path, version):
    """The rows of a table of sacct as `sacct --json` has them: Slurm's REST API, slurmdb schemas of data_parser v0.0.39 and v0.0.41."""
    lines = open(path).read().splitlines()
    header, jobs, raw = lines[0].split("|"), [], {}
    for line in lines[1:]:
        cells = line.split("|")
        row = dict(zip(header, cells))
        if len(cells) != len(header) or "." in row["JobID"]:
            continue
        number = raw.setdefault(row["JobID"], 9000 + len(raw)) if "_" in row["JobID"] else int(row["JobID"])
        tasks = re.search(r"\[(.*)\]", row["JobID"])

        def when(name):
            return 0 if row[name] == "Unknown" else int(seconds(row[name]))

        def tres(name):
            listed = []
            for i, (key, count) in enumerate(part.split("=") for part in row[name].split(",") if part):
                kind, _, rest = key.partition("/")
                listed.append({"type": kind, "name": rest, "id": i + 1, "count": int(re.sub("[A-Z]", "", count))})
            return listed

        state = row["State"].split()[0]
        jobs.append({
            "account": row["Account"], "allocation_nodes": 1, "array": {"job_id": 1002 if "_" in row["JobID"] else 0, "task": tasks[1] if tasks else ""},
            "association": {"account": row["Account"], "cluster": "c", "user": row["User"]},
            "het": {"job_id": 0, "job_offset": {"set": False, "infinite": False, "number": 0}}, "job_id": number, "name": row["JobName"],
            "nodes": row["NodeList"], "partition": row["Partition"], "state": {"current": state if version < 40 else [state], "reason": "None"},
            "steps": [{"state": "COMPLETED", "time": {"elapsed": 7}, "tres": {"allocated": [{"type": "gres", "name": "gpu", "count": 8}]}}],
            "time": {"elapsed": int(elapsed(row["Elapsed"])), "eligible": when("Submit"), "end": when("End"), "start": when("Start"),
                     "submission": when("Submit"), "limit": {"set": True, "number": 60}},
            "tres": {"allocated": tres("AllocTRES"), "requested": tres("ReqTRES")}, "user": row["User"]})
    return json.dumps({"jobs": jobs, "meta": {"slurm": {"release": "24.05"}}, "errors": [], "warnings": []}, indent=2)


def test_sacct_json():
    table = usage(sample("sacct.txt"))
    tables = ("users", "accounts", "queues", "gpus", "states")
    for version in (39, 41):
        path = put(f"sacct{version}.json", sacct_json(sample("sacct.txt"), version))
        answer = usage(path)
        hold(answer, slurm_runs(sample("sacct.txt")), {}, "sacct --json")
        expect(answer["files"][0]["mapping"] == "sacct-json" and answer["files"][0]["refused"] == 0, "mapping", answer["files"])
        for name in (*tables, "gpu_hours", "runs", "runs_pending", "jobs", "waits", "wait_mean_s", "cost"):
            expect(answer[name] == table[name], "as the table", version, name, answer[name], table[name])
    # components of a heterogeneous job are parts of one; a user known by the association alone; odd entries are left out
    job = {"association": {"user": "eve", "account": "x"}, "het": {"job_id": 70}, "job_id": 71, "partition": "q", "state": {"current": ["COMPLETED"]},
           "time": {"elapsed": 3600, "start": 1774778400, "end": 1774782000, "submission": 1774778000},
           "tres": {"allocated": [{"type": "gres", "name": "gpu:a30_2g.12gb", "count": 2}, {"type": "gres", "name": "gpu", "count": 2},
                                  {"type": "gres", "name": "gpu,gpu=9", "count": 3}, {"type": "cpu", "count": 4}, [1], "x", {"name": "gpu"}]}}
    other = dict(job, job_id=70)
    answer = usage(put("het.json", json.dumps({"jobs": [job, other]})))
    expect(answer["jobs"] == 1 and answer["runs"] == 2 and near(answer["gpu_hours"], 2), "heterogeneous", answer["jobs"], answer["runs"], answer["gpu_hours"])
    expect([row["name"] for row in answer["users"]] == ["eve"], "user of the association", answer["users"])


# --- Alibaba PAI -------------------------------------------------------------------------------------------------------

def pai(name):
    return list(csv.reader(open(sample(f"pai_{name}_table.csv"))))


def test_pai():
    paths = [sample(f"pai_{name}_table.csv") for name in ("sensor", "task", "group_tag", "job")]
    answer = usage(*paths)
    jobs = {row[0]: row for row in pai("job")}
    kinds = {row[0]: row[4] for row in pai("group_tag")}
    busy = collections.defaultdict(list)
    for row in pai("sensor"):
        if row[7]:
            busy[row[0], row[1]].append(float(row[7]) / 100)
    last = max(float(x) for row in pai("task") + pai("job") for x in row[4:6] if x)
    first = {}
    runs, judged, idle = [], 0, 0
    for job, task, count, state, start, end, _, _, gpu, model in pai("task"):
        if start:
            first[job] = min(first.get(job, math.inf), float(start))
        if not gpu or float(gpu) == 0:
            continue
        gpus = int(count) * float(gpu) / 100
        length = float(end) - float(start) if end else last - float(start) if start and state == "Running" else 0
        hours = gpus * length / 3600
        runs.append(Run(job, gpus, hours, {"Terminated": "completed", "Failed": "failed", "Running": "running", "Waiting": "pending"}[state],
                        float(jobs[job][4]), float(start) if start else math.nan, user=jobs[job][2],
                        type=kinds.get(jobs[job][1], ""), gpu=model))
        seen = busy[job, task]
        if seen and hours:
            covered = hours * min(1, len(seen) / int(count))
            judged += covered
            idle += covered * (1 - min(1, statistics.fmean(seen) / (float(gpu) / 100)))
    for r in runs:
        if not math.isnan(r.start):
            r.start = first[r.job]
    hold(answer, runs, {"users": "user", "types": "type", "gpus": "gpu", "states": "state"}, "pai")
    expect(near(answer["idle_gpu_hours"], idle), "idle", answer["idle_gpu_hours"], idle)
    expect(near(answer["judged_share"], judged / sum(r.hours for r in runs)), "judged", answer["judged_share"])
    expect(answer["runs_without_time"] == 1, "a task that failed without times is said", answer["runs_without_time"])
    expect(answer["runs_pending"] == 1 and answer["runs_open"] == 1, "pending and open", answer["runs_pending"], answer["runs_open"])
    expect([c["change"] for c in answer["changes"]] == ["feed", "end_idle"], "changes", answer["changes"])
    expect(usage(*reversed(paths))["users"] == answer["users"], "files in another order")
    specs = put("pai_machine_spec.csv", "m1,V100,96,512,8\nm2,MISC,64,512,2\nm3,CPU,96,512,0\n")
    instances = put("pai_instance_table.csv", "j1,worker,n1,w1,i1,Terminated,1150.0,8350.0,m1\nj2,tensorflow,n2,w5,i2,Failed,2000.0,,m3\n")
    more = usage(*paths, specs, instances)
    expect(more["users"] == answer["users"] and [f["mapping"] for f in more["files"][-2:]] == ["pai-2020-machine-spec", "pai-2020-instance"],
           "tables that tell nothing", more["files"])
    expect(sum("was not read" in w["text"] for w in more["warnings"]) == 2, "are said", more["warnings"])
    code, _, err = run(sample("pai_job_table.csv"))
    expect(code == 3 and "expected jobs that hold GPUs" in err, "facts alone", code, err)


def test_models_named():
    """Weights of the models that types of work name: those that torchvision and the papers publish; others have none."""
    table = "j{0},t,1,Terminated,0.0,3600.0,600.0,29.3,100.0,V100\n"
    kinds = ["resnet", "resnet50", "vgg", "ctr", "graphlearn", ""]
    answer = usage(put("m.csv", "".join(table.format(i) for i in range(len(kinds)))),
                   put("j.csv", "".join(f"j{i},i{i},u,Terminated,0.0,3600.0\n" for i in range(len(kinds)))),
                   put("g.csv", "".join(f"i{i},u,,g,{kind}\n" for i, kind in enumerate(kinds))))
    models = {m["type"]: m for m in answer["models"]}
    expect(set(models) == {"resnet", "resnet50", "vgg"}, "models named", set(models))
    expect(near(models["resnet50"]["low_weight_bytes"], 4 * 25557032) and models["resnet50"]["variants"] == 1, "ResNet-50", models["resnet50"])
    expect(near(models["resnet50"]["high_gflop_per_sample"], 6 * 4.089, 1e-3), "4.09 G multiply-adds",
           models["resnet50"])
    expect(models["resnet"]["low_weight_bytes"] <= 4 * 11689512 and models["resnet"]["high_weight_bytes"] >= 4 * 60192808, "ResNet-18 to 152")
    expect(near(models["vgg"]["high_weight_traffic_bytes"], 8 * 143667240, 1e-3), "VGG-19", models["vgg"])
    expect("50.0 % of the GPU-hours" in " ".join(answer["summary"]), "how much is known is said", answer["summary"])


def test_estimate():
    """The idle part of jobs without counters: that of judged jobs of the type, with a range that holds what was hidden."""
    draw = random.Random(3)
    held = 0
    for trial in range(20):
        tasks, sensors, hidden = [], [], 0
        for i in range(200):
            hours, share = draw.lognormvariate(1, 1), min(1, draw.betavariate(2, 3))
            tasks.append(f"j{i},t,1,Terminated,0.0,{3600 * hours},600.0,29.3,100.0,V100")
            if draw.random() < 0.5:
                sensors.append(f"j{i},t,w{i},i{i},m,g,1,{100 * share},1,1,1,1,1,1,1,1")
            else:
                hidden += hours * (1 - share)
        answer = usage(put("t.csv", "\n".join(tasks) + "\n"), put("s.csv", "\n".join(sensors) + "\n"))
        held += answer["estimated_idle_gpu_hours_low"] <= hidden <= answer["estimated_idle_gpu_hours_high"]
    expect(15 <= held <= 20, "90 % of the ranges hold what was hidden", held)
    held = 0
    for trial in range(20):  # six judged jobs, some of which have most of the hours
        tasks, sensors, hidden = [], [], 0
        for i in range(40):
            hours, share = draw.lognormvariate(1, 1.5), min(1, draw.betavariate(0.6, 0.4))
            tasks.append(f"j{i},t,1,Terminated,0.0,{3600 * hours},600.0,29.3,100.0,V100")
            if i < 6:
                sensors.append(f"j{i},t,w{i},i{i},m,g,1,{100 * share},1,1,1,1,1,1,1,1")
            else:
                hidden += hours * (1 - share)
        answer = usage(put("t.csv", "\n".join(tasks) + "\n"), put("s.csv", "\n".join(sensors) + "\n"))
        held += answer["estimated_idle_gpu_hours_low"] <= hidden <= answer["estimated_idle_gpu_hours_high"]
    expect(held >= 17, "ranges of few jobs hold what was hidden as often", held)


# --- counters ----------------------------------------------------------------------------------------------------------

def test_prometheus():
    path = sample("prometheus.json")
    answer = usage(path)
    held, busy, free = collections.Counter(), collections.Counter(), 0
    for series in json.load(open(path))["data"]["result"]:
        name, job = series["metric"]["__name__"], series["metric"].get("hpc_job")
        if name not in ("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "DCGM_FI_DEV_GPU_UTIL"):
            continue
        values = [(t, float(v) / (100 if "UTIL" in name else 1)) for t, v in series["values"]]
        values = [(t, v) for t, v in values if 0 <= v <= 1]
        for (t0, _), (t1, v) in zip(values, values[1:]):
            if not job:
                free += t1 - t0
            elif t1 - t0 <= 600:
                held[job] += t1 - t0
                busy[job] += (t1 - t0) * v
    total = sum(held.values()) / 3600
    expect(near(answer["gpu_hours"], total), "hours", answer["gpu_hours"], total)
    expect(near(answer["idle_gpu_hours"], total - sum(busy.values()) / 3600, 1e-6), "idle", answer["idle_gpu_hours"])
    expect(near(answer["unheld_gpu_hours"], free / 3600), "free", answer["unheld_gpu_hours"])
    expect(answer["jobs"] == 2 and answer["judged_share"] == 1 and answer["waits"] == 0, "jobs")
    a100 = next(d for d in yaml.safe_load(open(os.path.join(SOURCE, "catalog", "devices.yaml")))["devices"] if d["name"] == "a100-80-sxm")
    peak, memory = {key: float(rate) for key, rate in a100["flop_per_s"].items()}, float(a100["memory_bytes_per_s"])
    row = next(r for r in answer["counters"] if r["by"] == "GPU")
    tensor, dram = statistics.fmean([0.4, 0.35, 0.3, 0.25]), statistics.fmean([0.3, 0.2, 0.3, 0.4])
    expect(near(row["estimated_low_flop_per_s"], tensor * peak["tf32"], 1e-6), "tf32", row["estimated_low_flop_per_s"])
    expect(near(row["estimated_high_flop_per_s"], tensor * peak["bf16"], 1e-6), "bf16", row["estimated_high_flop_per_s"])
    expect(near(row["estimated_memory_bytes_per_s"], dram * memory, 1e-6), "memory", row)
    expect(row["limit"] == "waiting", "limit", row["limit"])
    both = usage(sample("sacct.txt"), path)
    hours = collections.Counter()
    for r in slurm_runs(sample("sacct.txt")):
        hours[r.job] += r.hours
    expect(near(both["gpu_hours"], sum(hours.values())), "jobs come from the table")
    expect(near(both["judged_share"], total / sum(hours.values()), 1e-6), "counters judge what they cover", both["judged_share"])
    unnamed = usage(sample("sacct.txt"), put("unnamed.json", open(path).read().replace("hpc_job", "nobody")))
    expect(near(unnamed["unnamed_gpu_hours"], (sum(held.values()) + free) / 3600) and unnamed["unheld_gpu_hours"] == 0,
           "counters without jobs are of nobody", unnamed["unnamed_gpu_hours"])
    other = usage(put("other.txt", open(sample("sacct.txt")).read().replace("1006|", "2006|")), path)
    expect(near(other["unmatched_gpu_hours"], held["1006"] / 3600), "counters of a job that no table has", other["unmatched_gpu_hours"])


def test_unpriced_hours():
    """The worth of a few GPU-hours with a price is not told as that of all."""
    rows = "JobID|User|State|Submit|Start|End|Elapsed|AllocTRES\n" + "".join(
        f"{job}|u|COMPLETED|2026-03-01T09:00:00|2026-03-01T09:00:00|2026-03-01T10:00:00|01:00:00|{tres}\n"
        for job, tres in (("1", "gres/gpu:a100=1"), ("2", "gres/gpu=100")))
    path = put("unpriced.txt", rows)
    code, out, err = run(path, "--price", "a100=2")
    expect(code == 0 and "worth 2.00 as far as they have a price" in " ".join(out.split()), "partly priced", out[:300], err)
    code, out, err = run(path, "--price", "2")
    expect(code == 0 and "worth 202." in " ".join(out.split()) and "have a price" not in out, "all priced", out[:300], err)


def test_gres_of_old_slurm():
    """Until Slurm 20.02 accounting had AllocGRES, with the count behind a colon."""
    rows = "".join(f"{job}|u|COMPLETED|2019-03-01T09:00:00|2019-03-01T09:00:00|2019-03-01T10:00:00|01:00:00|{gres}|{gres}\n"
                   for job, gres in (("1", "gpu:4"), ("2", "gpu:v100:2"), ("3", "")))
    answer = usage(put("gres.txt", "JobID|User|State|Submit|Start|End|Elapsed|AllocGRES|ReqGRES\n" + rows))
    expect(near(answer["gpu_hours"], 6), answer["gpu_hours"])


def test_slices_of_dcgm():
    """Counters of parts of GPUs: a part counts as its share, the whole GPU's series beside them count no hours of their own."""
    def series(metric, values, job=None, model="NVIDIA A100-SXM4-80GB", gpu="0", **labels):
        labels = {"__name__": metric, "gpu": gpu, "UUID": "GPU-" + gpu, "modelName": model, "Hostname": "n1", **labels}
        if job:
            labels["hpc_job"] = job
        return {"metric": labels, "values": [[1772355600 + 60 * i, str(v)] for i, v in enumerate(values)]}

    def part(number, profile, **more):
        return {"GPU_I_ID": str(number), "GPU_I_PROFILE": profile, **more}

    active, power = "DCGM_FI_PROF_GR_ENGINE_ACTIVE", "DCGM_FI_DEV_POWER_USAGE"
    minutes = 60
    times = [0.5] * (minutes + 1)
    result = [series(active, times, "7", **part(13, "1g.10gb")), series(active, [0.2] * (minutes + 1), "7", **part(14, "1g.10gb")),
              series(active, times, "8", **part(5, "2g.20gb")), series(active, [0.0] * (minutes + 1), "9", **part(1, "3g.40gb")),
              series(power, [280] * (minutes + 1)),
              series(active, times, "10", model="NVIDIA A30", gpu="1", **part(3, "1g.6gb")),
              series(active, times, "11", gpu="2", **part(0, "7g.79gb")), series(power, [300] * (minutes + 1), gpu="2"),
              series(active, times, "12", gpu="3")]
    path = put("mig.json", json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}}))
    answer = usage(path)
    shares = {"7": 2 / 7, "8": 2 / 7, "9": 3 / 7, "10": 1 / 4, "11": 1, "12": 1}
    busy = {"7": 0.7 / 7, "8": 1 / 7, "9": 0, "10": 0.125, "11": 0.5, "12": 0.5}
    expect(answer["jobs"] == 6, "jobs of parts", answer["jobs"])
    expect(near(answer["gpu_hours"], sum(shares.values()), 1e-6), "parts count as their shares", answer["gpu_hours"])
    expect(near(answer["idle_gpu_hours"], sum(shares.values()) - sum(busy.values()), 1e-6), "idle parts", answer["idle_gpu_hours"])
    expect(answer["unheld_gpu_hours"] == 0, "the whole GPU's series hold no hours beside its parts", answer["unheld_gpu_hours"])
    jobs = put("mig.txt", "JobID|User|Account|Partition|State|Submit|Start|End|Elapsed|AllocTRES|ReqTRES\n" + "".join(
        f"{job}|u|a|p|COMPLETED|2026-03-01T09:00:00|2026-03-01T09:00:00|2026-03-01T10:00:00|01:00:00|{tres}|\n"
        for job, tres in (("7", "gres/gpu:1g.10gb=2"), ("8", "gres/gpu:2g.20gb=1"), ("9", "gres/gpu:3g.40gb=1"))))
    both = usage(jobs, path)
    expect(near(both["gpu_hours"], 1, 1e-6) and near(both["judged_share"], 1, 1e-6), "jobs on parts are judged whole", both["judged_share"])
    expect(near(both["idle_gpu_hours"], 1 - 1.7 / 7, 1e-6), "idle time of jobs on parts", both["idle_gpu_hours"])


def test_nodes():
    """Counters that name no job are of the one job that held the node, when zones and GPUs leave no doubt."""
    header = open(sample("sacct.txt")).readline()
    row = "{}|n|{}|a|q|x|COMPLETED|2026-03-01T08:00:00|2026-03-01T{}|2026-03-01T{}|{}|gres/gpu={}|gres/gpu={}|{}|0:0\n"
    jobs = put("nodes.txt", header + row.format(1, "ann", "09:00:00", "10:00:00", "01:00:00", 4, 4, "n[01-02]") +
               row.format(2, "bob", "09:30:00", "10:30:00", "01:00:00", 1, 1, "n03") +
               row.format(3, "cid", "09:00:00", "10:00:00", "01:00:00", 1, 1, "n04,n05") +
               row.format(4, "dee", "09:00:00", "10:00:00", "01:00:00", 1, 1, "n04"))
    start = seconds("2026-03-01T08:55:00+01:00")

    def counters(node, gpu, value):
        return {"metric": {"__name__": "DCGM_FI_DEV_GPU_UTIL", "Hostname": node, "gpu": str(gpu), "UUID": f"{node}-{gpu}"},
                "values": [[start + 60 * i, str(value)] for i in range(80)]}

    result = [counters("n01.example.org", 0, 80), counters("n01.example.org", 1, 60), counters("n02", 0, 40), counters("n02:9400", 1, 20),
              counters("n03", 0, 90), counters("n03", 1, 0), counters("n04", 0, 50)]
    watched = put("nodes.json", json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}}))
    answer = usage(jobs, watched)
    expect(answer["judged_share"] == 0 and "--zone" in " ".join(w["text"] for w in answer["warnings"]), "zone not said", answer["warnings"])
    answer = usage(watched, jobs, "--zone", "+01:00")
    users = {u["name"]: u for u in answer["users"]}
    expect(near(users["ann"]["idle_share"], 0.5) and near(users["ann"]["judged_share"], 59 / 60), "four GPUs on two nodes", users["ann"])
    expect(users["bob"]["judged_share"] == 0, "one of two GPUs of a node: which is not known", users["bob"])
    expect(users["cid"]["judged_share"] == 0 and users["dee"]["judged_share"] == 0, "two jobs on a node", users["cid"])
    expect(near(answer["shared_gpu_hours"], (2 * 43 + 59) / 60), "not clear", answer["shared_gpu_hours"])
    code, _, err = run(jobs, "--zone", "CET")
    expect(code == 2 and "+08:00" in err, "a zone that is none", code, err)


def test_philly_counters():
    answer = usage(sample("philly_gpu_util.csv"), sample("philly.json"))
    rows = [r for r in csv.DictReader(open(sample("philly_gpu_util.csv"))) if r["machineId"] == "m4"]
    inside = [r for r in rows if "2017-10-08 00:00:00" < r["time"] <= "2017-10-08 00:30:00 PDT"]
    busy = [float(r[f"gpu{g}_util"]) / 100 for r in inside[1 if inside[0]["time"].startswith("2017-10-08 00:00") else 0:] for g in (0, 3, 4, 5)]
    user = next(u for u in answer["users"] if u["name"] == "u3")
    expect(near(user["idle_share"], 1 - statistics.fmean(busy), 2e-3), "utilisation by server and time", user, statistics.fmean(busy))
    alone = usage(sample("philly_gpu_util.csv"))
    expect(alone["jobs"] == 6 and near(alone["gpu_hours"], (4 * 59 + 2 * 50) / 60), "servers alone", alone["jobs"], alone["gpu_hours"])
    expect("6 GPUs were watched" in alone["summary"][0], "GPUs, no jobs", alone["summary"][0])


def test_counter_tables():
    wide = usage(sample("dcgm_wide.csv"))
    rows = [r for r in csv.DictReader(open(sample("dcgm_wide.csv"))) if r["hpc_job"]]
    active = [float(r["DCGM_FI_PROF_GR_ENGINE_ACTIVE"]) for r in rows[1:]]
    expect(near(wide["gpu_hours"], 300 / 3600) and near(wide["unheld_gpu_hours"], 300 / 3600), "wide", wide["gpu_hours"])
    expect(near(wide["idle_share"], 1 - statistics.fmean(active), 1e-6), "wide", wide["idle_share"])
    expect(near(wide["counters"][0]["tensor_share"], 0.1, 1e-6), "matrix units", wide["counters"])
    long = usage(sample("dcgm_long.csv"))
    expect(near(long["idle_share"], 1 - (50 + 60 + 70) / 300, 1e-6) and near(long["gpu_hours"], 90 / 3600), "long", long["idle_share"])
    expect([u["name"] for u in long["users"]] == ["team-a"], "namespace", long["users"])


# --- other sources -----------------------------------------------------------------------------------------------------

def test_philly():
    path = sample("philly.json")
    runs = []
    for job in json.load(open(path)):
        for attempt in job["attempts"]:
            gpus = sum(len(d["gpus"]) for d in attempt["detail"])
            start, end = seconds(attempt["start_time"]), seconds(attempt["end_time"])
            if gpus:
                runs.append(Run(job["jobid"], gpus, 0 if math.isnan(end) else gpus * (end - start) / 3600,
                                {"Pass": "completed", "Killed": "cancelled", "Failed": "failed"}[job["status"]],
                                seconds(job["submitted_time"]), start, user=job["user"], queue=job["vc"]))
    answer = usage(path)
    hold(answer, runs, {"users": "user", "queues": "queue", "states": "state"}, "philly")
    expect(answer["runs_without_time"] == 1, "an attempt without an end", answer["runs_without_time"])


def test_overlapping_attempts():
    """Attempts of a job follow one another: where one begins before the other ends, both count, and a warning says how much that is."""
    def job(number, *times):
        return {"status": "Pass", "vc": "a", "jobid": f"j{number}", "user": "u", "submitted_time": "2017-10-09 07:00:00", "attempts": [
            {"start_time": f"2017-10-09 {start}", "end_time": f"2017-10-09 {end}", "detail": [{"ip": f"m{i}", "gpus": ["gpu0", "gpu1"][:2 - i]}]}
            for i, (start, end) in enumerate(times)]}
    apart = job(1, ("07:00:00", "09:00:00"), ("09:00:00", "10:00:00"))
    expect(not usage(put("apart.json", json.dumps([apart])))["warnings"], "one after the other")
    answer = usage(put("overlap.json", json.dumps([apart, job(2, ("07:00:00", "09:00:00"), ("08:30:00", "10:00:00"))])))
    said = [w["text"] for w in answer["warnings"]]
    expect(len(said) == 1 and "ends: 1; 0.5 GPU-hours count in both" in said[0], "half an hour of one GPU", said)


def test_helios_and_acme():
    for name, kind in (("helios.csv", "queue"), ("acme_kalos.csv", "type")):
        runs = []
        for row in csv.DictReader(open(sample(name))):
            gpus = int(row["gpu_num"])
            if gpus == 0 or not row["duration"]:
                continue
            state = {"NODE_FAIL": "node_failed"}.get(row["state"], row["state"].lower())
            runs.append(Run(row["job_id"], gpus, gpus * float(row["duration"]) / 3600, state, seconds(row["submit_time"]),
                            seconds(row["start_time"]), user=row["user"], queue=row.get("vc"), type=row.get("type")))
        hold(usage(sample(name)), runs, {"users": "user", kind + "s": kind, "states": "state"}, name)


def test_kubernetes():
    path = sample("kubectl_pods.json")
    pods = json.load(open(path))["items"]
    times = []

    def walk(value):
        if isinstance(value, dict):
            for key, member in value.items():
                if key in ("creationTimestamp", "startTime", "finishedAt"):
                    times.append(seconds(member))
                walk(member)
        elif isinstance(value, list):
            for member in value:
                walk(member)

    walk([p for p in pods])
    runs = []
    for pod in pods:
        gpus = sum(int(c["resources"]["limits"].get("nvidia.com/gpu", 0)) for c in pod["spec"]["containers"])
        if gpus == 0:
            continue
        ends = [c["state"]["terminated"]["finishedAt"] for c in pod["status"]["containerStatuses"] if "terminated" in c["state"]]
        start = seconds(pod["status"].get("startTime"))
        end = max(map(seconds, ends)) if ends else max(times)
        state = {"Succeeded": "completed"}.get(pod["status"]["phase"], pod["status"]["phase"].lower())
        runs.append(Run(pod["metadata"]["name"], gpus, 0 if math.isnan(start) else gpus * (end - start) / 3600, state,
                        seconds(pod["metadata"]["creationTimestamp"]), start, user=pod["metadata"]["namespace"],
                        type=pod["metadata"]["labels"]["training.kubeflow.org/replica-type"],
                        gpu=pod["spec"]["nodeSelector"]["nvidia.com/gpu.product"]))
    hold(usage(path), runs, {"users": "user", "types": "type", "gpus": "gpu", "states": "state"}, "kubernetes")


def test_other_separators():
    """Other characters between the cells are found out; where cells hold them (commas of AllocTRES), the file is refused."""
    text = open(sample("sacct.txt")).read()
    for other in ";\t~^!":
        one, two = usage(put("other.txt", text.replace("|", other))), usage(sample("sacct.txt"))
        expect(all(one[key] == two[key] for key in ("gpu_hours", "users", "states", "wait_mean_s")), "separator", other)
    code, out, err = run(put("other.txt", text.replace("|", ",")))
    expect(code == 3 and not out and 'Slurm sacct' in err and 'expected "|"' in err, "separator in cells", code, err)
    quoted = "\n".join(",".join(f'"{cell}"' for cell in line.split("|")) for line in text.splitlines())
    expect(near(usage(put("quoted.csv", quoted))["gpu_hours"], usage(sample("sacct.txt"))["gpu_hours"]), "quoted cells")


TABLES = {
    # header, two rows: 8 GPUs for two hours that completed, 16 for half an hour that failed; waits of 10 minutes, both
    "pandas of sacct": "job_id,user,partition,state,submit_time,start_time,end_time,num_gpus,gpu_type\n"
                       "1,ann,q,COMPLETED,2025-03-01T08:00:00,2025-03-01T08:10:00,2025-03-01T10:10:00,8,a100\n"
                       "2,bob,q,FAILED,2025-03-01T08:00:00,2025-03-01T08:10:00,2025-03-01T08:40:00,16,a100\n",
    "LSF": "JOBID,USER,STAT,QUEUE,SUBMIT_TIME,START_TIME,FINISH_TIME,NGPUS,GPU MODEL\n"
           "1,ann,DONE,q,2025/03/01 08:00:00,2025/03/01 08:10:00,2025/03/01 10:10:00,8,a100\n"
           "2,bob,EXIT,q,2025/03/01 08:00:00,2025/03/01 08:10:00,2025/03/01 08:40:00,16,a100\n",
    "hours": "Run;Owner;Status;Created;Started;GPU Count;Runtime (h);GPU Type\n"
             "1;ann;finished;2025-03-01T08:00:00.000Z;2025-03-01T08:10:00.000Z;8;2;a100\n"
             "2;bob;crashed;2025-03-01T08:00:00.000Z;2025-03-01T08:10:00.000Z;16;0.5;a100\n",
    "pods": "namespace,pod,node,gpu_product,gpu_count,phase,created_at,started_at,finished_at\n"
            "ann,1,n1,a100,8,Succeeded,1740816000000,1740816600000,1740823800000\n"
            "bob,2,n2,a100,16,Failed,1740816000000,1740816600000,1740818400000\n",
    "timedelta": "id\tsubmitter\tresult\tsubmitted\tbegin\trequested_gpus\twalltime\tgpu_name\n"
                 "1\tann\tSuccess\t2025-03-01 08:00:00\t2025-03-01 08:10:00\t8\t0 days 02:00:00\ta100\n"
                 "2\tbob\tOut of memory\t2025-03-01 08:00:00\t2025-03-01 08:10:00\t16\t0 days 00:30:00\ta100\n",
    # an export whose duration is in minutes, which it does not say: start and end do
    "minutes": "Job ID,User,State,Submit,Start,End,Duration,GPUs,GPU model,Energy\n"
               "1,ann,completed,2025-03-01 08:00,2025-03-01 08:10,2025-03-01 10:10,120,8,a100,7\n"
               "2,bob,error,2025-03-01 08:00,2025-03-01 08:10,2025-03-01 08:40,30,16,a100,9\n",
}


def test_tables_of_any_scheduler():
    for name, text in TABLES.items():
        answer = usage(put("any.csv", text))
        expect(near(answer["gpu_hours"], 24), name, "GPU-hours", answer["gpu_hours"])
        expect({u["name"]: u["gpu_hours"] for u in answer["users"]} == {"ann": 16, "bob": 8}, name, "users", answer["users"])
        expect({s["name"]: s["gpu_hours"] for s in answer["states"]} == {"completed": 16, "failed": 8}, name, "states", answer["states"])
        expect(answer["wait_mean_s"] == 600, name, "waits", answer["wait_mean_s"])
        expect([g["name"] for g in answer["gpus"]] == ["a100"], name, "GPUs", answer["gpus"])
        expect(any("gpus = " in note for note in answer["notes"]), name, "which columns were taken for what", answer["notes"])
    expect(any(note.count("not read: Duration, Energy.") for note in usage(put("any.csv", TABLES["minutes"]))["notes"]), "unread columns")
    code, out, _ = checks.run("fleet", os.path.join(SOURCE, "tests", "data", "jobs_resnet50.csv"))
    expect(code == 0 and "GPU-hours" not in out.splitlines()[0], "a table of jobs with features is asked as one")


def test_clocks_beside_units():
    """A clock says its own units, whatever the header of its column says."""
    for unit, one, two in (("h", "13:00:00", "1.5"), ("hours", "13:00", "01:30"), ("min", "13:00:00", "90"), ("s", "0-13:00:00", "5400")):
        answer = usage(put("clock.csv", f"job_id,user,gpus,Runtime ({unit})\n1,ann,8,{one}\n2,bob,4,{two}\n"))
        expect(near(answer["gpu_hours"], 8 * 13 + 4 * 1.5), unit, answer["gpu_hours"])


def test_slices_in_tables():
    """A GPU called after a slice is a share of one, priced as the GPU that is cut."""
    head = "job_id,gpus,gpu_type,start,end\n"
    row = "{},{},{},2026-03-01T00:00:00,2026-03-01T07:00:00\n"
    names = (("NVIDIA-A100-SXM4-40GB-MIG-1g.5gb", 1 / 7), ("a30_2g.12gb", 2 / 4), ("a100_3g.20gb", 3 / 7), ("a100", 1), ("NVIDIA A100-SXM4-40GB", 1))
    answer = usage(put("cut.csv", head + "".join(row.format(i, 2, name) for i, (name, _) in enumerate(names))))
    rows = {g["name"]: g for g in answer["gpus"]}
    for name, share in names:
        expect(near(rows[name]["gpu_hours"], 2 * 7 * share), name, rows[name]["gpu_hours"])
    price = rows["a100"]["cost"] / rows["a100"]["gpu_hours"]
    for name in ("NVIDIA-A100-SXM4-40GB-MIG-1g.5gb", "a100_3g.20gb"):
        expect(near(rows[name]["cost"], price * rows[name]["gpu_hours"]), "price of a slice", name, rows[name]["cost"], price)
    head = "JobID|State|Start|Elapsed|AllocTRES\n"
    text = "".join(f"{i}|COMPLETED|2026-03-01T00:00:00|01:00:00|cpu=4,{tres}\n" for i, tres in enumerate(("gres/shard=4", "gres/gpu=1,gres/shard=8", "node=1", "gres/mps:a100=50")))
    shares = usage(put("shards.txt", head + text))
    expect(shares["gpu_hours"] == 1 and shares["runs_without_gpus"] == 1, "shards", shares["gpu_hours"], shares["runs_without_gpus"])
    expect("share with others: 2 left out" in json.dumps(shares["warnings"]), "shards are said", shares["warnings"])


def test_spreadsheets():
    """Dates as spreadsheets write them, zones by name, thousands apart: read where they mean one thing, else refused with what to say."""
    head = "job_id,gpus,start,end\n"
    sheet = put("sheet.csv", head + '1,"1,024",03/29/2026 1:00 AM,03/29/2026 3:00 PM\n2,8,29.03.2026 01:00,29.03.2026 02:00\n'
                '3,4,2026-03-29 01:00 CET,2026-03-29 01:00 UTC\n')
    answer = usage(sheet)
    expect(near(answer["gpu_hours"], 1024 * 14 + 8 + 4) and answer["files"][0]["refused"] == 0, "read", answer["gpu_hours"], answer["files"])
    either = put("either.csv", head + "1,1,03/04/2026 01:00,03/05/2026 01:00\n")
    code, _, err = run(either)
    expect(code == 3 and "--dates month-first" in err, "either order", code, err)
    for order, hours in (("month-first", 24), ("day-first", 24 * 30)):
        expect(near(usage(either, "--dates", order)["gpu_hours"], hours), order)
    # the 14th of a month tells the order of all dates of the file, before and behind it, which a date against it does not change
    told = head + "".join(f"{day},1,{day:02}/02/2026 01:00,{day:02}/02/2026 03:00\n" for day in range(1, 15))
    answer = usage(put("told.csv", told))
    expect(near(answer["gpu_hours"], 28) and answer["files"][0]["refused"] == 0 and "are day-first" in json.dumps(answer["notes"]), "told", answer["files"])
    expect(near(answer["span_s"], 13 * 24 * 3600 + 2 * 3600), "days of one month", answer["span_s"])
    answer = usage(put("against.csv", told + "15,1,02/15/2026 01:00,02/15/2026 03:00\n"))
    expect(near(answer["gpu_hours"], 28) and answer["files"][0]["refused"] == 1 and "other rows have" in json.dumps(answer["warnings"]), "against", answer["warnings"])
    code, _, err = run(put("zone.csv", head + "1,1,2026-03-29 01:00 CST,2026-03-29 02:00 CST\n"))
    expect(code == 3 and "zone" in err, "a zone of several meanings", code, err)
    code, _, err = run(sample("sacct.txt"), "--dates", "day-first")
    expect(code == 2 and "no effect" in err, "no such dates", code, err)
    code, _, err = run(either, "--dates", "mdy")
    expect(code == 2 and "month-first or day-first" in err, "order", code, err)


def test_jobs_that_held_nothing():
    """Pending jobs and those cancelled before their start hold nothing and have not waited to an end; what is lost without a price costs nothing."""
    rows = ["1,ann,2,v100,2026-03-01T00:00,2026-03-01T01:00,2026-03-01T03:00,completed", "2,ann,4,,2026-03-01T00:00,2026-03-01T01:00,2026-03-01T02:00,failed",
            "2,ann,4,,2026-03-01T03:00,2026-03-01T05:00,2026-03-01T06:00,completed", "3,bob,8,v100,2026-03-01T00:00,2026-03-01T09:00,2026-03-01T09:00,cancelled",
            "4,bob,8,v100,2026-03-01T00:00,,,pending"]
    path = put("held.csv", "job_id,user,gpus,gpu_type,submit,start,end,state\n" + "\n".join(rows) + "\n")
    answer = usage(path)
    text = " ".join(answer["summary"])
    expect(text.startswith("2 jobs held 12 GPU-hours") and "2 more jobs held no GPU" in " ".join(run(path)[1].split()), "held", text)
    expect(answer["waits"] == 3 and answer["wait_median_s"] == 3600 and answer["wait_p90_s"] == 7200, "waits", answer["waits"])
    expect("waited of 3 submissions" in text, "submissions", text)
    expect(answer["cost"] > 0 and answer["lost_gpu_hours"] == 4 and answer["lost_cost"] is None, "lost without a price", answer["lost_cost"])
    expect("node held 4 GPU-hours (33.3 %)." in text, "no worth", text)


def test_pods_as_clusters_have_them():
    """Pods of one name in two namespaces, GPUs without a pod behind an exporter whose labels Prometheus renames, and a
    running pod of which one container has finished."""
    start = 1774742400

    def series(gpu, util, **labels):
        own = {"container": "nvidia-dcgm-exporter", "namespace": "gpu-operator", "pod": "nvidia-dcgm-exporter-x7k2"}
        metric = {"__name__": "DCGM_FI_DEV_GPU_UTIL", "UUID": f"GPU-{gpu}", "Hostname": "n1", "modelName": "NVIDIA A100-SXM4-80GB", **own, **labels}
        return {"metric": metric, "values": [[start + 60 * i, str(util)] for i in range(121)]}

    def pod(space, containers):
        at = "2026-03-29T00:00:00Z"
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "train-0", "namespace": space, "creationTimestamp": at},
                "spec": {"nodeName": "n1", "containers": [{"resources": {"limits": {"nvidia.com/gpu": "1"}}}]},
                "status": {"phase": "Running", "startTime": at, "containerStatuses": containers}}
    result = [series(0, 90, exported_namespace="a", exported_pod="train-0"), series(1, 10, exported_namespace="b", exported_pod="train-0"), series(2, 0)]
    counters = put("range.json", json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}}))
    running, done = {"state": {"running": {}}}, {"state": {"terminated": {"finishedAt": "2026-03-29T00:30:00Z"}}}
    pods = put("pods.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": [pod("a", [running]), pod("b", [done, running])]}))
    for files in ((counters,), (pods, counters), (counters, pods)):
        answer = usage(*files)
        idle = {u["name"]: u["idle_share"] for u in answer["users"]}
        expect(answer["jobs"] == 2 and near(answer["gpu_hours"], 4), "two pods of 2 h", files, answer["gpu_hours"])
        expect(2 - 1.5 / 60 < answer["unheld_gpu_hours"] <= 2, "a free GPU, perhaps but for a minute", files, answer["unheld_gpu_hours"])
        expect(near(idle["a"], 0.1, 1e-6) and near(idle["b"], 0.9, 1e-6) and len(idle) == 2, "idle", files, idle)
        expect(answer["shared_gpu_hours"] == 0 and answer["unmatched_gpu_hours"] == 0 and not answer["warnings"], "no doubt", files, answer["warnings"])


def test_long_steps_of_counters():
    """A range query of weeks has a value every 15 min or every hour: as many GPU-hours as at every minute. A gap stays one, wherever it is."""
    def day(step, gap=None):
        at = [t for t in range(0, 86401, step) if not gap or not gap[0] < t < gap[1]]
        return answered([prometheus("DCGM_FI_DEV_GPU_UTIL", gpu, [[t, "25"] for t in at]) for gpu in ("0", "1")])
    for step in (60, 900, 3600):
        files = [put("day.json", day(step)), put("jobs.csv", "job_id,gpus,start,end,state\n77,2,0,86400,done\n")]
        for words in (files[:1], files):
            answer = usage(*words)
            expect(near(answer["gpu_hours"], 48) and near(answer["judged_share"], 1) and near(answer["idle_share"], 0.75), step, words, answer["gpu_hours"])
            expect(("Counters have a value every" in " ".join(run(*words)[1].split())) == (step > 600), step, "said")
        for gap in ((0, 14400), (14400, 28800)):
            answer = usage(put("gap.json", day(step, gap)))
            expect(near(answer["gpu_hours"], 40), step, gap, answer["gpu_hours"])
            expect("silent for 8 GPU-hours" in " ".join(run(os.path.join(FOLDER, "gap.json"))[1].split()), step, gap)


def test_slices_of_kubernetes():
    """MIG: slices as resources of their own, an A30's, and a node whose GPUs are all cut alike."""
    def pod(name, limits, product=None):
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "n", "creationTimestamp": "2026-03-01T08:00:00Z"},
                "spec": {"nodeSelector": {"nvidia.com/gpu.product": product} if product else {},
                         "containers": [{"resources": {"limits": l}} for l in limits]},
                "status": {"phase": "Succeeded", "startTime": "2026-03-01T08:00:00Z",
                           "containerStatuses": [{"state": {"terminated": {"finishedAt": "2026-03-01T09:00:00Z"}}}]}}
    pods = [pod("a", [{"cpu": "4", "nvidia.com/mig-3g.20gb": "1"}, {"nvidia.com/mig-1g.5gb": "2"}]), pod("b", [{"nvidia.com/mig-2g.12gb": "1"}]),
            pod("c", [{"nvidia.com/gpu": "2"}], "NVIDIA-A100-SXM4-40GB-MIG-2g.10gb"), pod("d", [{"nvidia.com/gpu": "4"}], "NVIDIA-A100-SXM4-40GB")]
    answer = usage(put("pods.json", json.dumps({"apiVersion": "v1", "items": pods})))
    expect(near(answer["gpu_hours"], 5 / 7 + 2 / 4 + 4 / 7 + 4) and answer["jobs"] == 4, "slices", answer["gpu_hours"])
    # Time slices and memory of a GPU do not say which share they are: told apart from pods that hold none.
    pods += [pod("e", [{"nvidia.com/gpu.shared": "1"}]), pod("f", [{"aliyun.com/gpu-mem": "8"}, {"cpu": "1"}]), pod("g", [{"cpu": "1"}])]
    shared = usage(put("pods.json", json.dumps({"apiVersion": "v1", "items": pods})))
    expect(near(shared["gpu_hours"], answer["gpu_hours"]) and shared["runs_without_gpus"] == 1, "shares", shared["gpu_hours"], shared["runs_without_gpus"])
    expect("share with others: 2 left out" in json.dumps(shared["warnings"]) and not answer["warnings"], "said", shared["warnings"])


def test_public_trace():
    path = os.path.join(SHARED, "cluster", "alibaba_gpu_v2023_pods.csv.gz")
    if not SHARED or not os.path.exists(path):
        print("the public trace is not here")
        return
    runs = []
    for row in csv.DictReader(gzip.open(path, "rt")):
        gpus = int(row["num_gpu"]) * float(row["gpu_milli"] or 0) / 1000
        if gpus == 0:
            continue
        start, pending = row["scheduled_time"], row["pod_phase"] == "Pending"
        length = 0 if pending else int(row["deletion_time"]) - int(start) if start else 0
        state = {"Succeeded": "completed"}.get(row["pod_phase"], row["pod_phase"].lower())
        runs.append(Run(row["name"], gpus, gpus * length / 3600, state, float(row["creation_time"]),
                        float(start) if start else math.nan, queue=row["qos"], gpu=row["gpu_spec"]))
    answer = usage(path)
    hold(answer, runs, {"queues": "queue", "gpus": "gpu", "states": "state"}, "alibaba 2023")


# --- mappings of one's own, odd input --------------------------------------------------------------------------------

MAPPING = """schema: paceline.cluster/1
name: ours
of: jobs
form: delimited
separator: ";"
known_by: {columns: [nr, cards]}
missing: ["-"]
fields:
  job: nr
  user: who
  gpus: cards
  elapsed: {column: minutes, unit: 60}
  submit: asked
  start: began
  state: result
states: {ok: completed, bad: failed}
"""


def test_own_mapping():
    mapping = put("own.yaml", MAPPING)
    table = put("own.csv", 'nr;who;cards;minutes;asked;began;result\n1;"a;b";4;30;2026-01-01 10:00;2026-01-01 10:05;ok\n'
                           "2;c;2;60;2026-01-01T10:00:00+01:00;2026-01-01 09:10:00Z;bad\n3;-;1;-;-;-;ok\n")
    answer = usage("--mapping", mapping, table)
    expect(near(answer["gpu_hours"], 4) and answer["files"][0]["mapping"] == "ours", "own mapping", answer["gpu_hours"])
    expect({u["name"]: u["gpu_hours"] for u in answer["users"]} == {"a;b": 2, "c": 2, "(not said)": 0}, "users", answer["users"])
    expect(answer["wait_mean_s"] == 450, "zones", answer["wait_mean_s"])
    for line, fault in (("  gpus: cards", "  cards: cards"), ("of: jobs", "of: anything"), ('separator: ";"', "separator: ab"),
                        ("{ok: completed", "{ok: fine"), ("  gpus: cards\n", ""), ("unit: 60", "unit: -1"), ("unit: 60", "units: 60")):
        code, _, err = run("--mapping", put("bad.yaml", MAPPING.replace(line, fault)), table)
        expect(code == 3 and re.search(r"bad\.yaml:\d+:\d+: ", err), "a mapping with a fault names its place", fault, code, err)


def test_odd_input():
    header = open(sample("sacct.txt")).readline()
    row = "7|n|u|a|q|x|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T01:00:00|{}|{}|{}|n|0:0\n"
    good = row.format("01:00:00", "gres/gpu=2", "gres/gpu=2")
    cases = {
        "no rows": (header, 3),
        "not a duration": (header + row.format("soon", "gres/gpu=2", "") + good, 0),
        "not a count": (header + row.format("01:00:00", "gres/gpu=two", "") + good.replace("7|", "8|", 1), 0),
        "all refused": (header + row.format("soon", "gres/gpu=2", ""), 3),
        "no column of GPUs": (header.replace("AllocTRES", "Tres") + good, 3),
        "other columns": ("a,b,c\n1,2,3\n", 3),
        "a NUL": (header + good.replace("n|0:0", "\0|0:0"), 0),
        "empty": ("", 3),
        "no GPUs at all": (header + row.format("01:00:00", "cpu=2", "cpu=2"), 3),
        "huge": (header + row.format("99999999-01:00:00", "gres/gpu=99999999", "") + good, 0),
        "JSON that ends": ('{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"gpu":"0"', 3),
        "JSON of something else": ('{"apiVersion":"v1","items":{}}', 3),
        "values that are none": ('{"data":{"resultType":"matrix","result":[{"metric":{"__name__":"DCGM_FI_DEV_GPU_UTIL","gpu":"0"},'
                                 '"values":[1,"2",[],[3],[[4]],null,[5,"x"],[60,"50"],[120,"70"]]},7,[]]}}', 0),
    }
    for name, (text, wanted) in cases.items():
        code, out, err = run(put("odd", text))
        expect(code == wanted, name, code, out[:200], err[-300:])
        expect(code == 0 or len(err.strip().splitlines()) == 1, name, "one line", err)
    code, _, err = run(put("odd", good.replace("|", ",")), "--mapping", os.path.join(FOLDER, "missing.yaml"))
    expect(code == 3 and "missing.yaml" in err, "a mapping that is not there", code, err)
    code, _, err = run(sample("sacct.txt"), "--price", "h100=3")
    expect(code == 2 and "no record has a GPU" in err, "a price of a GPU that is not there", code, err)
    code, _, err = run(sample("sacct.txt"), "--price", "cheap")
    expect(code == 2, "a price that is none", code, err)
    code, _, err = run(sample("sacct.txt"), "--on", "pai-2018")
    expect(code == 2 and "no effect" in err, "an option of other questions", code, err)
    draw = random.Random(1)
    for name in sorted(os.listdir(DATA)):
        data = bytearray(open(sample(name), "rb").read())
        for _ in range(6):
            mangled = bytearray(data)
            for _ in range(draw.randrange(1, 8)):
                at = draw.randrange(len(mangled))
                mangled[at:at + draw.randrange(0, 3)] = bytes(draw.randrange(256) for _ in range(draw.randrange(0, 3)))
            run(put("mangled", bytes(mangled)))


def prometheus(metric, gpu, values):
    labels = {"__name__": metric, "gpu": str(gpu), "UUID": f"GPU-{gpu}", "modelName": "NVIDIA H100 80GB HBM3", "Hostname": "n1", "hpc_job": "77"}
    return {"metric": labels, "values": values}


def answered(result, kind="matrix"):
    return json.dumps({"status": "success", "data": {"resultType": kind, "result": result}}, separators=(",", ":"))


def test_counters_of_one_job_with_a_gap():
    """A job on two GPUs, one of them idle, whose counters are silent for an hour between values of 30 s."""
    times = [1792972800 + 30 * i for i in range(240) if not 60 <= i < 180]
    result = [prometheus("DCGM_FI_PROF_GR_ENGINE_ACTIVE", gpu, [[t, busy] for t in times]) for gpu, busy in ((0, "0.9"), (1, "0"))]
    path = put("gap.json", answered(result))
    answer = usage(path)
    seen, silent = 2 * 118 * 30 / 3600, 2 * (121 * 30) / 3600
    expect(answer["jobs"] == 1 and answer["runs"] == 1 and near(answer["gpu_hours"], seen), "one run on two GPUs", answer["runs"], answer["gpu_hours"])
    expect([(g["name"], g["jobs"]) for g in answer["sizes"]] == [("2 to 7", 1)], "its size", answer["sizes"])
    expect(not any(c["change"].startswith("share") for c in answer["changes"]), "a run on two GPUs is not advised to share one", answer["changes"])
    _, out, _ = run(path)
    expect(f"silent for {silent:.3g} GPU-hours more" in " ".join(out.split()), "the gap is said", out)


def test_no_wait():
    path = put("at_once.txt", "JobID|User|State|Submit|Start|End|Elapsed|AllocTRES\n"
               "1|ann|COMPLETED|2024-05-01T10:00:00|2024-05-01T10:00:00|2024-05-01T11:00:00|01:00:00|gres/gpu=1\n"
               "2|bob|COMPLETED|2024-05-01T10:00:00|2024-05-01T10:00:00|2024-05-01T11:00:00|01:00:00|gres/gpu=1\n")
    _, out, _ = run(path)
    expect(" 0 s " in out and "0 ns" not in out, "a wait of nothing", out)


def test_answers_without_values():
    for text, word in ((answered([], "vector"), "instant query"), (json.dumps({"status": "error", "errorType": "bad_data", "error": "x"}), "an error"),
                       (answered([]), "Prometheus"),
                       ("#Entity   GPUTL  TENSO   \nID                       \nGPU 0     97     0.310   \n", "dcgmi dmon"),
                       ("JobID|JobName|Partition|Account|AllocCPUS|State|ExitCode\n12|train|gpu|lab|64|COMPLETED|0:0\n", "--format=JobID"),
                       ("JOBID PARTITION NAME USER ST TIME NODES NODELIST(REASON)\n 12 gpu train ann R 1:00:00 1 gpu01\n", "squeue"),
                       ("id,job_num,gpu_job_num,avg_run_time_gpu,avg_que_time_gpu,avg_gpu_num\nSeren,1031550,663813,1414.335,445.984,5.68\n", "table of jobs"),
                       ("jobs:\n- account: lab\n  job_id: 1\n", "--json"), ("apiVersion: v1\nitems:\n- kind: Pod\n", "-o json"),
                       ('{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"status":{"phase":"Succeeded"}}\n', "get pods -o json"),
                       ("# gpu    pwr  gtemp     sm    mem\n# Idx      W      C      %      %\n    0    300     60     90     40\n", "--query-gpu=timestamp"),
                       ("#Date       Time        gpu     sm\n#YYYYMMDD   HH:MM:SS    Idx      %\n 20240501   10:00:00      0     80\n", "--query-gpu=timestamp"),
                       ("# gpu         pid   type     sm\n# Idx           #    C/G      %\n    0       1234     C     80\n", "--query-gpu=timestamp"),
                       ("Wed May  1 10:00:00 2024\n+------+\n| NVIDIA-SMI 550.1     Driver Version: 550.1   CUDA Version: 12.4 |\n", "shows one moment"),
                       ("index, utilization.gpu [%], memory.used [MiB]\n0, 80 %, 100 MiB\n", "without the column timestamp"),
                       ("JOBID   USER  STAT  QUEUE  FROM_HOST  EXEC_HOST  JOB_NAME  SUBMIT_TIME\n1  ann  RUN  gpu  n0  n1  train  May  1 10:00\n", "gpu_num"),
                       ('{"COMMAND":"bjobs","JOBS":1,"RECORDS":[{"JOBID":"1","STAT":"DONE"}]}', "gpu_num"),
                       ("Job Id: 12.pbs\n    Job_Name = train\n    job_state = F\n", "paragraphs"), ('{"timestamp":1,"pbs_version":"2024","Jobs":{"12.pbs":{"job_state":"F"}}}', "no list"),
                       ("<Data><Job><Job_Id>12</Job_Id><Job_Name>train</Job_Name></Job></Data>\n", "XML"),
                       ("=====\nqname        gpu.q\nhostname     n1\njobnumber    12\nru_wallclock 7200\n", "qacct"),
                       ("JobId=12 JobName=train\n   UserId=ann(1) JobState=RUNNING\n", "ask sacct -P"),
                       ('{"jobs":[{"job_id":12,"job_state":["RUNNING"],"user_name":"ann"}]}', "ask sacct --json"),
                       ("NAME      READY   STATUS    RESTARTS   AGE\ntrain-0   1/1     Running   0          3d\n", "-o json"),
                       ("PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\ngpu*  up 1-00:00:00  4  idle gpu[01-04]\n", "sinfo"),
                       ("Cluster|Login|Proper Name|Account|TRES Name|Used\nc|ann|Ann|lab|gres/gpu|1234\n", "a row of which is a user"),
                       ("Job ID: 12\nCluster: c\nCores per node: 8\nCPU Utilized: 01:00:00\nCPU Efficiency: 12.50% of 08:00:00 core-walltime\n", "seff"),
                       ("==== ROCm System Management Interface ====\nGPU  Temp  AvgPwr  GPU%\n0  35.0c  90.0W  0%\n", "rocm-smi"),
                       ('{"hostname": "n1", "query_time": "2026-01-01T10:00:00", "gpus": [{"index": 0, "utilization.gpu": 80}]}', "--query-gpu=timestamp"),
                       ("NAME  STATUS  ROLES  AGE  VERSION\nn1  Ready  <none>  3d  v1.30.1\n", "get pods -A"), ("NAME  CPU(cores)  MEMORY(bytes)\nt-0  100m  200Mi\n", "get pods -A"),
                       ("Job id            Name             User              Time Use S Queue\n----------------  ----\n123.server  train  ann  01:00:00 R gpu\n", "Resource_List.ngpus"),
                       ('[{"submission_id":"raysubmit_1","entrypoint":"python t.py","status":"SUCCEEDED"}]', "Ray"),
                       ('"Time","{gpu=""0""}"\n2024-05-01 10:00:00,50\n', "Grafana"),
                       ('{"metric":{"gpu":"0"},"values":[50],"timestamps":[1714550000000]}\n', "query_range"),
                       ("04/01/2024 11:00:00;E;123.pbs;user=ann Resource_List.ngpus=4 resources_used.walltime=01:00:00\n", "end records")):
        code, _, err = run(put("nothing.json", text))
        expect(code == 3 and word in err and "cnodes" not in err, "what was answered", word, err)


def test_columns_beside_the_usual():
    """sacct's usual columns do not hide others, of which AllocTRES and Elapsed say all; a run without an end lasted as long as it says."""
    answer = usage(put("wide.txt", "JobID|JobName|Partition|Account|AllocCPUS|State|ExitCode|Elapsed|AllocTRES\n"
                       "12|train|gpu|lab|64|COMPLETED|0:0|02:00:00|cpu=64,gres/gpu=8,node=1\n"))
    expect(near(answer["gpu_hours"], 16), "8 GPUs, two hours", answer["gpu_hours"])
    answer = usage(put("open.txt", "JobID|State|Start|End|Elapsed|AllocTRES\n1|COMPLETED|2024-05-01T10:00:00|2024-05-01T11:00:00|01:00:00|gres/gpu=1\n"
                       "2|RUNNING|2024-05-01T10:00:00|Unknown|1-02:00:00|gres/gpu=2\n"))
    expect(near(answer["gpu_hours"], 53) and " in 26.0 h" in answer["summary"][0], "one hour, and twice 26", answer["summary"])


def test_times_of_lsf_and_pbs():
    for times in (("Mar  1 08:00 2025", "Mar  1 08:10 2025", "Mar  1 10:10 2025", "Mar  1 08:40 2025"),
                  ("Sat Mar  1 08:00:00 2025", "Sat Mar  1 08:10:00 2025", "Sat Mar  1 10:10:00 2025", "Sat Mar  1 08:40:00 2025")):
        answer = usage(put("lsf.csv", f"JOBID,USER,STAT,GPU_NUM,SUBMIT_TIME,START_TIME,FINISH_TIME\n1,ann,DONE,8,{times[0]},{times[1]},{times[2]}\n"
                           f"2,bob,EXIT,16,{times[0]},{times[1]},{times[3]}\n"))
        expect(near(answer["gpu_hours"], 24) and answer["wait_mean_s"] == 600, times, answer["gpu_hours"], answer["wait_mean_s"])
    answer = usage(put("lsf.csv", "JOBID,USER,STAT,GPU_NUM,RUN_TIME\n1,ann,DONE,8,7200 second(s)\n2,bob,EXIT,16,1800 second(s)\n"))
    expect(near(answer["gpu_hours"], 24), "seconds in words", answer["gpu_hours"])


def test_parts_of_jobs():
    """GPUs of each of several workers: counted where the source says so, else the answer warns; a column of ones is nobody's doubt."""
    head = "job_name,organization,gpu_model,cpu_request,gpu_request,worker_num,submit_time,duration,job_type\n"
    answer = usage(put("spot.csv", head + "1,13,A10,20,1,1,0,36000,HP\n2,57,A100,15,1,16,900,3600,Spot\n3,57,A100,15,2,94,900,7200,Spot\n"))
    expect(near(answer["gpu_hours"], 10 + 16 + 94 * 2 * 2) and not answer["warnings"], "each instance", answer["gpu_hours"], answer["warnings"])
    for numbers, warned in ((("1", "4"), True), (("1", "1"), False)):
        answer = usage(put("any.csv", "job_id,gpus,duration_s,num_workers\n" + "".join(f"{i},8,3600,{n}\n" for i, n in enumerate(numbers))))
        texts = " ".join(w["text"] for w in answer["warnings"])
        expect(near(answer["gpu_hours"], 16) and warned == ("num_workers" in texts and "in 1 rows" in texts), numbers, answer["gpu_hours"], texts)
    code, _, err = run(put("nodes.csv", "node_name,gpu_model,gpu_capacity_num,cpu_num\n0,A10,4,192\n"))
    expect(code == 3 and "a list of nodes" in err and "cnodes" not in err, "nodes", err)


def test_slurm_database():
    """The job table itself: times since 1970, states and resources as numbers, GPUs in gres_used."""
    answer = usage(put("jobs.csv", "id_job,id_user,partition,time_submit,time_start,time_end,state,tres_alloc,gres_used\n"
                       '1,77,q,1612137600,1612141200,1612148400,3,"1=40,4=1,1001=2",gpu:volta:2\n2,78,q,1612137600,1612137600,1612141200,5,"1=40,1001=1",gpu:1\n'
                       '3,78,q,1612137600,1612137600,1612141200,3,"1=40",\n'))
    expect(near(answer["gpu_hours"], 5) and {s["name"]: s["gpu_hours"] for s in answer["states"]} == {"completed": 4, "failed": 1}, "hours", answer["gpu_hours"], answer["states"])
    expect(answer["wait_mean_s"] == 1800, "an hour and none: the third, without GPUs, is no run", answer["wait_mean_s"])


def test_samples():
    """The same series as a JSON answer and in Prometheus's text forms: milliseconds, seconds, the metric among the labels."""
    series = json.load(open(sample("prometheus.json")))["data"]["result"]
    def lines(put_one):
        return "".join(put_one(s["metric"], float(t), v) for s in series for t, v in s["values"])
    def labels(metric):
        return ",".join(k + '="' + v.replace("\\", "\\\\").replace('"', '\\"') + '"' for k, v in metric.items() if k != "__name__")
    forms = (lines(lambda m, t, v: f"{m['__name__']}{{{labels(m)}}} {v} {t * 1000:.0f}\n"),
             "# TYPE up gauge\nup 1\n" + lines(lambda m, t, v: f"{m['__name__']}{{{labels(m)},}} {v} {t}\n") + "# EOF\n",
             lines(lambda m, t, v: f'{{__name__="{m["__name__"]}", {labels(m)}}} {v} {t * 1000:.0f}\n'))
    wanted = usage(sample("prometheus.json"))
    for text in forms:
        answer = usage(put("samples.prom", text))
        for key in ("gpu_hours", "idle_gpu_hours", "unheld_gpu_hours", "jobs", "runs", "counters"):
            expect(answer[key] == wanted[key], "the same figures", key, answer[key], wanted[key])
    code, out, _ = run(put("torn.prom", forms[0].replace('="', '=', 1)))
    expect(code == 3 or "refused" in out, "a torn label", code)
    code, _, err = run(put("scrape.prom", lines(lambda m, t, v: f"{m['__name__']}{{{labels(m)}}} {v}\n")))
    expect(code == 3 and ":1: expected a time behind the value" in err, "one instant", code, err)


def test_compact_json():
    """Without a space between names and values, as client libraries write."""
    pods = json.load(open(sample("kubectl_pods.json")))
    compact, loose = (usage(put("pods.json", json.dumps(pods, separators=s))) for s in ((",", ":"), (", ", ": ")))
    for answer in (compact, loose):
        answer.pop("inputs", None)
    expect(compact["jobs"] > 0 and compact["gpu_hours"] == loose["gpu_hours"], "compact JSON", compact["jobs"])


def test_clock_set_back():
    """Submitted at 02:50 of summer time, started at 02:10 of winter time, which is 20 minutes later: how long it waited is not known."""
    head = "JobID|User|Account|Partition|State|Submit|Start|End|Elapsed|AllocTRES|ReqTRES|NodeList"
    rows = ("1|a|a|q|COMPLETED|2026-10-25T02:50:00|2026-10-25T02:10:00|2026-10-25T03:10:00|01:00:00|gres/gpu=2|gres/gpu=2|n1",
            "2|a|a|q|COMPLETED|2026-10-25T01:00:00|2026-10-25T01:30:00|2026-10-25T02:30:00|02:00:00|gres/gpu=4|gres/gpu=4|n2")
    answer = usage(put("clock.txt", "\n".join((head,) + rows) + "\n"))
    expect(answer["waits"] == 1 and near(answer["wait_mean_s"], 1800) and near(answer["gpu_hours"], 10), "waits", answer["waits"], answer["wait_mean_s"])
    expect("before they were submitted" in json.dumps(answer["warnings"]), "said", answer["warnings"])


def test_clusters():
    """Two clusters number their jobs alike: 4 GPUs for 10 h that did not wait, 2 for 3 h that waited for 2 h, and a requeued job of
    the second cluster, which is one job with two runs. Counters that name no cluster are the first's, which is said."""
    head = "Cluster|JobID|User|Account|Partition|State|Submit|Start|End|Elapsed|AllocTRES|ReqTRES|NodeList"
    rows = ("a|1006|a|a|q|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T10:00:00|10:00:00|gres/gpu=4|gres/gpu=4|n1",
            "b|1006|b|b|q|FAILED|2026-01-01T00:00:00|2026-01-01T02:00:00|2026-01-01T05:00:00|03:00:00|gres/gpu=2|gres/gpu=2|m1",
            "b|7|b|b|q|NODE_FAIL|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T01:00:00|01:00:00|gres/gpu=1|gres/gpu=1|m2",
            "b|7|b|b|q|COMPLETED|2026-01-01T00:00:00|2026-01-01T02:00:00|2026-01-01T03:00:00|01:00:00|gres/gpu=1|gres/gpu=1|m3")
    path = put("clusters.txt", "\n".join((head,) + rows) + "\n")
    answer = usage(path)
    expect((answer["runs"], answer["jobs"], answer["waits"]) == (4, 3, 3), "jobs", answer["runs"], answer["jobs"], answer["waits"])
    expect(near(answer["gpu_hours"], 48) and near(answer["wait_mean_s"], 2400) and not answer["warnings"], "hours", answer["gpu_hours"])
    counted = usage(path, sample("prometheus.json"))
    expect("no cluster are taken for the first's" in json.dumps(counted["warnings"]), "said", counted["warnings"])
    # Both have a node n1, the second's held when the first's is free: counters of n1 are of the first's job, whatever the order.
    rows = ("a|1|a|a|q|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T01:00:00|01:00:00|gres/gpu=1|gres/gpu=1|n1",
            "b|1|b|b|q|COMPLETED|2026-01-01T00:00:00|2026-01-01T02:00:00|2026-01-01T05:00:00|03:00:00|gres/gpu=1|gres/gpu=1|n[1-2]")
    series = {"metric": {"__name__": "DCGM_FI_PROF_GR_ENGINE_ACTIVE", "gpu": "0", "UUID": "GPU-0", "Hostname": "n1"},
              "values": [[1767225600 + 60 * i, "1"] for i in range(301)]}
    table = put("nodes.txt", "\n".join((head,) + rows) + "\n")
    both = usage(table, put("n1.json", answered([series])), "--zone", "+00:00")
    expect(near(both["gpu_hours"], 4) and 0.95 / 4 < both["judged_share"] <= 1 / 4, "n1 of two clusters", both["gpu_hours"], both["judged_share"])
    one = usage(put("one.txt", "\n".join((head, rows[0])) + "\n"), sample("prometheus.json"))
    expect("no cluster" not in json.dumps(one["warnings"]), "of one cluster nothing is said", one["warnings"])


def test_counters_twice_and_in_any_order():
    """One GPU for an hour, a value a minute: given twice, in parts that overlap, newest first, by two exporters, or shuffled, no more than that hour counts."""
    rows = [f"{1772355600 + 60 * i},DCGM_FI_DEV_GPU_UTIL,n1,0,train,{40 + i % 3 * 10}" for i in range(61)]
    head = "time,name,Hostname,gpu,pod,value\n"
    busy = sum(40 + i % 3 * 10 for i in range(1, 61)) / 60 / 100
    ways = {"once": rows, "newest first": rows[::-1], "twice": rows + rows, "each row twice": [r for r in rows for _ in range(2)],
            "overlapping": rows[:41] + rows[20:], "the later part first": rows[30:] + rows[:31], "two exporters": rows + [r.replace("0,DCGM", "9,DCGM") for r in rows[:-1]],
            "shuffled": random.Random(1).sample(rows, len(rows))}
    for name, given in ways.items():
        answer = usage(put("order.csv", head + "\n".join(given) + "\n"))
        expect(near(answer["gpu_hours"], 1) and near(answer["idle_gpu_hours"], 1 - busy, 1e-3), name, answer["gpu_hours"], answer["idle_gpu_hours"], busy)
        expect(any("each hour counts once" in w["text"] for w in answer["warnings"]) == (name in ("twice", "overlapping", "two exporters")), name, answer["warnings"])
    parts = put("b.csv", head + "\n".join(rows[30:]) + "\n"), put("a.csv", head + "\n".join(rows[:31]) + "\n")
    expect(near(usage(*parts)["gpu_hours"], 1), "two files, the later first")


def test_order_of_rows():
    """The same records in another order are the same cluster: figures, tables and what is said of them."""
    def same(a, b):
        if isinstance(a, dict) and isinstance(b, dict):
            return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
        if isinstance(a, list) and isinstance(b, list):
            return len(a) == len(b) and all(map(same, a, b))
        return near(a, b, 1e-9) if isinstance(a, float) else a == b

    def mixed(name, seed):
        head, *rows = open(sample(name)).read().splitlines()
        rows = rows[::-1] if seed == 0 else random.Random(seed).sample(rows, len(rows))
        return put(f"mixed-{name}", "\n".join([head, *rows]) + "\n")

    for names in (("sacct.txt",), ("helios.csv",), ("acme_kalos.csv",), ("sacct.txt", "dcgm_long.csv"), ("sacct.txt", "dcgm_wide.csv"), ("philly_gpu_util.csv",),
                  ("pai_job_table.csv", "pai_task_table.csv", "pai_sensor_table.csv", "pai_group_tag_table.csv")):
        plain = usage(*map(sample, names))
        for seed in (0, 1, 2):
            other = usage(*(mixed(name, seed) for name in names))
            differ = [key for key in plain if key not in ("command", "inputs", "warnings") and not same(plain[key], other[key])]
            expect(not differ and len(plain["warnings"]) == len(other["warnings"]), "another order", names, seed, differ)


def test_counters_in_another_unit():
    def said(name, value):
        rows = "".join(f"{1772355600 + 60 * i},{name},n1,0,train,{value(i)}\n" for i in range(61))
        code, out, err = run(put("unit.csv", "time,name,Hostname,gpu,pod,value\n" + rows), "--format", "json")
        return [w["text"] for w in json.loads(out)["warnings"] if w["code"] == "unit_doubted"] if code == 0 else [err]

    expect("are they shares" in said("DCGM_FI_DEV_GPU_UTIL", lambda i: 0.25 + i % 2 / 2)[0], "shares in place of percents")
    expect("above 1 and count as none" in said("DCGM_FI_PROF_GR_ENGINE_ACTIVE", lambda i: i % 2 * 70)[0], "percents in place of shares")
    expect(said("DCGM_FI_DEV_GPU_UTIL", lambda i: i) == said("DCGM_FI_DEV_GPU_UTIL", lambda i: 0) == [], "percents")
    expect(said("DCGM_FI_PROF_GR_ENGINE_ACTIVE", lambda i: 0.5 if i % 2 else 9223372036854775794) == [], "a driver's blank")


def test_accelerators_of_pods():
    """Pods on devices of other vendors count; how many devices a claim holds is unknown."""
    def pod(name, limits, **spec):
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "a", "creationTimestamp": "2026-03-01T08:00:00Z"},
                "spec": {"nodeName": "n1", "containers": [{"resources": {"limits": limits}}], **spec}, "status": {
                    "phase": "Succeeded", "startTime": "2026-03-01T08:00:00Z", "containerStatuses": [{"state": {"terminated": {"finishedAt": "2026-03-01T10:00:00Z"}}}]}}

    kinds = ("nvidia.com/gpu", "amd.com/gpu", "gpu.intel.com/i915", "gpu.intel.com/xe", "habana.ai/gaudi")
    pods = [pod(kind[:3] + str(i), {kind: "2"}) for i, kind in enumerate(kinds)]
    answer = usage(put("kinds.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": pods})))
    expect(near(answer["gpu_hours"], 4 * len(kinds)) and not answer["warnings"], "kinds", answer["gpu_hours"], answer["warnings"])
    claimed = [pod("c", {"cpu": "4"}, resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "one"}]), pod("d", {"cpu": "4"})]
    answer = usage(put("claims.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": pods[:1] + claimed})))
    expect(near(answer["gpu_hours"], 4) and answer["runs_without_gpus"] == 1 and ["claim devices (resourceClaims): 1 left out" in w["text"] for w in answer["warnings"]] == [True],
           "claims", answer["gpu_hours"], answer["runs_without_gpus"], answer["warnings"])


def test_more_than_an_answer():
    """A second document in one file, and what Prometheus or Slurm says against its own answer."""
    series = prometheus("DCGM_FI_PROF_GR_ENGINE_ACTIVE", 0, [[1772355600 + 60 * i, "1"] for i in range(61)])
    whole = answered([series])
    for text, code, words in ((whole, None, ""), (whole + "\n", None, ""), (whole + whole, "file_cut_off", "each needs a file of its own"),
                              (whole[:-1] + ',"warnings":["store gateway 3 did not answer"]}', "rows_left_out", "gateway 3 did not"),
                              ('{"warnings":[],"errors":[],' + whole[1:], None, ""), ('{"errors":[{"error":"gone"}],' + whole[1:], "rows_left_out", "gone")):
        answer = usage(put("more.json", text))
        expect(near(answer["gpu_hours"], 1), "what is there counts", answer["gpu_hours"], text[-60:])
        expect([w["code"] for w in answer["warnings"]] == ([code] if code else []) and words in json.dumps(answer["warnings"]), "said", text[-60:], answer["warnings"])


def test_counters_without_their_name():
    series = prometheus("DCGM_FI_DEV_GPU_UTIL", 0, [[1772355600 + 60 * i, "50"] for i in range(61)])
    for name, wanted in (("", "avg_over_time() drop the name"), ("gpu:util:avg5m", 'called "gpu:util:avg5m"')):
        series["metric"]["__name__"] = name
        code, _, err = run(put("unnamed.json", answered([series])))
        expect(code == 3 and wanted in err and "DCGM_FI_PROF_GR_ENGINE_ACTIVE" in err and err.count("\n") == 1, name, code, err)


def test_daily_exports():
    """A job that two exports show while it runs and a third after its end, in any order of the files, beside a requeued one and one on two models."""
    head = "JobID|State|Submit|Start|End|Elapsed|AllocTRES\n"
    row = "1|{}|2026-03-01T08:00:00|2026-03-01T08:30:00|{}|{}|gres/gpu:a100=4,gres/gpu:h100=4,gres/gpu=8\n"
    other = "2|COMPLETED|2026-03-01T08:00:00|2026-03-01T0{}:30:00|2026-03-01T0{}:00:00|00:30:00|gres/gpu=2\n"
    days = [put("day1.txt", head + row.format("RUNNING", "Unknown", "01:00:00") + other.format(2, 3) + other.format(4, 5)),
            put("day2.txt", head + row.format("RUNNING", "Unknown", "1-01:00:00")), put("day3.txt", head + row.format("COMPLETED", "2026-03-02T13:30:00", "1-05:00:00"))]
    for files, hours in ((days, 8 * 29), (days[::-1], 8 * 29), (days[:2], 8 * 25), (days[1::-1], 8 * 25), (days[:1], 8)):
        answer = usage(*files)
        expect(near(answer["gpu_hours"], hours + 2), "hours", files, answer["gpu_hours"], hours + 2)
        expect({g["name"]: g["gpu_hours"] for g in answer["gpus"]}.get("h100") == hours / 2, "models", answer["gpus"])
        said = [w["text"] for w in answer["warnings"] if "shows later" in w["text"]]
        expect(len(said) == (len(files) > 1) and all(f": {len(files) - 1};" in text for text in said), "said", files, answer["warnings"])


def test_times_that_cannot_be():
    def said(*rows):
        answer = usage(put("times.csv", "\n".join(rows) + "\n"))
        return answer, [w["code"] for w in answer["warnings"]]

    header = "job_id,gpus,start_time,end_time,state"
    good = "1,8,2026-03-01 08:00:00,2026-03-01 10:00:00,completed"
    answer, codes = said(header, good)
    expect(near(answer["gpu_hours"], 16) and codes == [], "as it should be", codes)
    expect(said(header, good, "2,8,2026-03-01 08:00:00,9999-12-31 00:00:00,running")[1] == ["unit_doubted"], "an end that stands for none")
    expect(said(header, "1,8,45000.25,45000.5,completed")[1] == ["unit_doubted"], "days of a spreadsheet")
    answer, codes = said(header, "1,8,1772353800,1772361000,completed", "2,8,1772353800,0,completed")
    expect(near(answer["gpu_hours"], 16) and near(answer["span_s"], 7200) and codes == ["jobs_left_out"], "an end of 0 is none", answer["span_s"], codes)
    expect(said("job_id,gpus,runtime", "1,8,7200")[1] == ["unit_assumed"], "a duration without a unit")
    for named in ("job_id,gpus,runtime_s", "job_id,gpus,Runtime (h)"):
        expect(said(named, "1,8,7200" if "_s" in named else "1,8,2")[1] == [], named)
    expect(said("job_id,gpus,runtime", "1,8,2:00")[1] == ["unit_assumed"], "hours and minutes, or minutes and seconds")
    expect(said("job_id,gpus,runtime", "1,8,2:00:00")[1] == [], "a clock says its unit")
    mixed = "1,8,2026-03-01T08:00:00Z,2026-03-01T18:00:00,completed"
    answer, codes = said(header, mixed)
    expect(near(answer["gpu_hours"], 80) and codes == ["unit_assumed"], "a zone on one side", codes)
    answer = usage(put("times.csv", "\n".join((header, mixed)) + "\n"), "--zone", "+08:00")
    expect(near(answer["gpu_hours"], 16) and answer["warnings"] == [], "which is said", answer["gpu_hours"], answer["warnings"])
    sacct = "JobID|State|Start|End|Elapsed|AllocTRES"
    for took, codes in (("02:00:00", []), ("02:59:00", []), ("200:00:00", ["unit_doubted"])):
        expect(said(sacct, f"1|COMPLETED|2026-03-01T08:00:00|2026-03-01T10:00:00|{took}|gres/gpu=8")[1] == codes, "longer than from start to end", took)


def test_page():
    code, out, _ = run(sample("sacct.txt"), sample("prometheus.json"), "--format", "html")
    expect(code == 0 and "GPU-hours by user" in out and "What to change" in out, "page")
    code, out, _ = run(sample("sacct.txt"))
    lead = out.splitlines()[:3]
    expect("held 332 GPU-hours" in lead[0] and "idle cannot be said without their counters" in lead[1], "what could be judged leads", lead)
    titles = [line for line in out.splitlines() if line.startswith(("By ", "What ", "Who ")) and len(line) < 60]
    expect(len(titles) == len(set(titles)), "no two tables of one title", titles)


for test in [value for name, value in sorted(globals().items()) if name.startswith("test_")]:
    test()
shutil.rmtree(FOLDER)
finish()
