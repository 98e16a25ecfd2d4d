"""`paceline fleet` from outside: every figure against the same equations written here, in Python, job by job; any split of the
table gives the same report; the report is what docs/schemas/fleet.json says."""
import csv
import gzip
import json
import math
import os
import random
import re
import sys
import tempfile

import jsonschema

from checks import SOURCE, expect, expect_line, finish, run as program

FOLDER = tempfile.mkdtemp(prefix="paceline-fleet-")
COLUMNS = ["job", "architecture", "cnodes", "batch_size", "flop", "memory_access_bytes", "input_bytes", "weight_traffic_bytes",
           "dense_weight_bytes", "embedding_weight_bytes", "gpu_hours", "user"]
RATE = {"compute": 11e12, "memory": 1e12, "pcie": 1e10, "network": 3.125e9, "nvlink": 5e10}
LINKS = {"1w1g": [], "1wng": ["pcie"], "ps_worker": ["network", "pcie"], "allreduce_local": ["nvlink"],
         "allreduce_cluster": ["network", "nvlink"], "pearl": ["nvlink"]}
TARGETS = ["allreduce_local", "allreduce_cluster", "pearl"]
PARTS = ["input_share", "compute_bound_share", "memory_bound_share", "weights_share"]


def close(a, b, error=1e-9):
    return a is not None and b is not None and abs(a - b) <= error * max(1, abs(b))


def run(*words):
    return program("fleet", *words)


def report(*words):
    code, out, err = run(*words, "--format", "json")
    expect(code == 0, words, err)
    return json.loads(out)


def population(count, seed):
    random.seed(seed)
    jobs = []
    for i in range(count):
        a = random.choices(list(LINKS), [50, 12, 30, 3, 3, 2])[0]
        cnodes = {"1w1g": 1, "1wng": random.choice([2, 4, 8]), "allreduce_local": random.choice([2, 8]),
                  "pearl": 8}.get(a) or max(1, int(random.lognormvariate(2.3, 1.2)))
        draw = random.lognormvariate
        jobs.append(dict(zip(COLUMNS, [f"job-{i}", a, cnodes, 64, draw(26, 1.5), draw(23.5, 1.3), draw(16, 1.5), draw(19.5, 1.6),
                                       draw(18, 2), draw(20, 3) if a == "ps_worker" else 0, cnodes * draw(1, 1), f"user{i % 7}"])))
    return jobs


def write(name, jobs):
    path = os.path.join(FOLDER, name)
    with (gzip.open(path, "wt") if name.endswith(".gz") else open(path, "w")) as file:
        out = csv.DictWriter(file, COLUMNS)
        out.writeheader()
        out.writerows({k: repr(v) if isinstance(v, float) else v for k, v in job.items()} for job in jobs)
    return path


# --- the model, once more ------------------------------------------------------------------------------------------------

def parts(job, architecture=None, shared=False, rate=RATE):
    e = 0.7
    links = LINKS[architecture or job["architecture"]]
    k = min(job["cnodes"], 8) if shared and architecture in TARGETS else 1
    return {"input": job["input_bytes"] * k / (e * rate["pcie"]), "compute": job["flop"] / (e * rate["compute"]),
            "memory": job["memory_access_bytes"] / (e * rate["memory"]),
            "weights": sum(job["weight_traffic_bytes"] / (e * rate[link]) for link in links)}


def total(part):
    return sum(part.values())


def moved(job, target):
    after = parts(job, target, True)
    left = job["cnodes"] if target == "allreduce_cluster" else min(job["cnodes"], 8)
    single = total(parts(job)) / total(after)
    throughput = single * left / job["cnodes"]
    unshared = total(parts(job)) / total(parts(job, target)) * left / job["cnodes"]
    embedding = job["embedding_weight_bytes"] / (left if target == "pearl" else 1)
    if job["dense_weight_bytes"] + embedding > 16e9:
        verdict = "too_large"
    elif throughput > 1:
        verdict = "gains"
    else:
        verdict = "fewer_replicas" if single > 1 else "shared_pcie" if unshared > 1 else "slower"
    return verdict, single, throughput, after


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else None


def weighted(jobs, level, value):
    weights = [1 if level == "job" else job["cnodes"] for job in jobs]
    return sum(value(job) * w for job, w in zip(jobs, weights)) / sum(weights)


def as_it_is(jobs, seen):
    expect(seen["jobs"] == len(jobs) and seen["cnodes"] == sum(j["cnodes"] for j in jobs), seen["jobs"])
    expect(close(seen["gpu_hours"], sum(j["gpu_hours"] for j in jobs)), seen["gpu_hours"])
    for level in ("job", "cnode"):
        composition = {row["architecture"]: row for row in seen["levels"][level]["composition"]}
        for a in LINKS:
            count = sum(1 if level == "job" else j["cnodes"] for j in jobs if j["architecture"] == a)
            expect(composition[a]["count"] == count, level, a, count, composition[a])
        for row in seen["levels"][level]["shares"]:
            group = [j for j in jobs if row["architecture"] in (j["architecture"], "all")]
            for key, part in zip(PARTS, ("input", "compute", "memory", "weights")):
                expect(close(row[key], weighted(group, level, lambda j: parts(j)[part] / total(parts(j)))), level, row, key)
            if row["architecture"] != "all":
                over = weighted(group, level, lambda j: parts(j)["weights"] / total(parts(j)) >= 0.8)
                expect(abs(row["weights_over_80_share"] - over) < 0.02, level, row, over)
    cells = {"input": ("input", "copy_ns"), "compute": ("forward_backward_update", "compute_bound_ns"),
             "memory": ("forward_backward_update", "memory_bound_ns"), "weights": ("forward_backward_update", "exposed_communication_ns")}
    for part, (stage, resource) in cells.items():
        known = mean(parts(j)[part] for j in jobs)
        expect(abs(seen["matrix"][stage][resource] - known * 1e9) <= 1, "matrix", part, known)
    expect(sum(ns for row in seen["matrix"].values() for ns in row.values()) - mean(total(parts(j)) for j in jobs) * 1e9 < 4, "sum")
    lost = dict.fromkeys(("input", "compute", "memory", "weights"), 0)
    largest = dict.fromkeys(lost, 0)
    for j in jobs:
        part = parts(j)
        largest[max(part, key=part.get)] += 1
        for key in part:
            lost[key] += j["gpu_hours"] * part[key] / total(part)
    for row, key in zip(seen["bottlenecks"], lost):
        expect(row["jobs"] == largest[key] and close(row["lost_gpu_hours"], lost[key]), row, largest[key], lost[key])


def projections(jobs, seen):
    ps = [j for j in jobs if j["architecture"] == "ps_worker"]
    for row in seen["projections"]:
        answers = [(j, *moved(j, row["architecture"])) for j in ps]
        for verdict in ("gains", "fewer_replicas", "shared_pcie", "slower", "too_large"):
            expect(close(row[verdict + "_share"], mean(a[1] == verdict for a in answers)), row["architecture"], verdict)
        fits = [a for a in answers if a[1] != "too_large"]
        expect(close(row["single_speedup_mean"], mean(a[2] for a in fits)), row["architecture"], "single")
        expect(close(row["throughput_speedup_mean"], mean(a[3] for a in fits)), row["architecture"], "throughput")
        ordered = sorted(a[3] for a in fits)
        for key, q in (("throughput_speedup_p10", 0.1), ("throughput_speedup_median", 0.5), ("throughput_speedup_p90", 0.9)):
            exact = ordered[max(0, math.ceil(q * len(ordered) - 1e-9) - 1)]
            expect(abs(row[key] / exact - 1) <= 1 / 256, row["architecture"], key, row[key], exact)
        saved = sum(a[0]["gpu_hours"] * (1 - 1 / a[2]) for a in answers if a[1] == "gains")
        expect(close(row["saved_gpu_hours"], saved), row["architecture"], row["saved_gpu_hours"], saved)
        expect(close(row["weights_after_share"], mean(a[4]["weights"] / total(a[4]) for a in fits)), row["architecture"], "after")


def speedups(group, rate):
    return [total(parts(j)) / total(parts(j, rate=rate)) for j in group]


def sweeps(jobs, seen):
    for row in seen["sweeps"]:
        rate = {**RATE, row["resource"]: row["rate"]}
        for a in LINKS:
            expect(close(row[a + "_speedup"], mean(speedups([j for j in jobs if j["architecture"] == a], rate))), row, a)
        saved = sum(j["gpu_hours"] * (1 - 1 / s) for j, s in zip(jobs, speedups(jobs, rate)))
        expect(close(row["saved_gpu_hours"], saved), row, saved)
        local = [j for j in jobs if j["architecture"] == "ps_worker" and moved(j, "allreduce_local")[0] != "too_large"]
        after = mean(total(parts(j, "allreduce_local", True)) / total(parts(j, "allreduce_local", True, rate)) for j in local)
        expect(close(row["ps_worker_as_allreduce_local_speedup"], after), row, after)
    asked = {(row["resource"], row["rate"]) for row in seen["sweeps"]}
    expect({("network", 1.25e10), ("pcie", 5e10), ("compute", 6.4e13), ("memory", 4e12)} <= asked, asked)
    fused = {row["resource"]: row for row in seen["software"]}["fusion"]
    for a in LINKS:
        group = [j for j in jobs if j["architecture"] == a]
        known = mean(total(parts(j)) / (total(parts(j)) - parts(j)["memory"] * (1 - 1 / 3.43)) for j in group)
        expect(close(fused[a + "_speedup"], known), a, fused, known)
    both = [row for row in seen["pairs"] if row["change"] == "pcie 50 GB/s, network 100 Gb/s"][0]
    ps = [j for j in jobs if j["architecture"] == "ps_worker"]
    expect(close(both["ps_worker_speedup"], mean(speedups(ps, {**RATE, "pcie": 5e10, "network": 1.25e10}))), both)


# --- what bounds the figures, once more: elasticities by resource, errors of jobs added up ---------------------------------

SIGMA, NORMAL = 0.18, 1.6448536269514722
OF_PART = {"input": "pcie", "compute": "compute", "memory": "memory"}


def on_resources(job, target=None, rate=RATE, factor=None):
    """Each resource's share of a step without overlap."""
    factor = factor or {}
    step = parts(job, target, target is not None, rate)
    times = dict.fromkeys(RATE, 0)
    for part, resource in OF_PART.items():
        times[resource] += step[part] * factor.get(part, 1)
    for link in LINKS[target or job["architecture"]]:
        times[link] += job["weight_traffic_bytes"] / (0.7 * rate[link]) * factor.get("weights", 1)
    return {r: t / sum(times.values()) for r, t in times.items()}


def spread(before, after, changed=0):
    return math.sqrt(SIGMA ** 2 * sum((before[r] - after[r]) ** 2 for r in RATE) + changed ** 2)


def bounded(row, key, values, errors, whole=None):
    """A mean or sum of factors: the standard deviations of its terms add up."""
    middle = sum(values) / (whole or len(values))
    factor = math.exp(NORMAL * sum(errors) / sum(values))
    return close(row[key], middle) and close(row[key + "_low"], middle / factor) and close(row[key + "_high"], middle * factor)


def saves(row, hours, after, errors):
    factor = math.exp(NORMAL * sum(errors) / sum(after))
    return close(row["saved_share_low"], 1 - sum(after) * factor / sum(hours)) and \
        close(row["saved_share_high"], 1 - sum(after) / factor / sum(hours))


def ranges(jobs, seen):
    hours = [j["gpu_hours"] for j in jobs]
    for row in seen["sweeps"]:
        rate = {**RATE, row["resource"]: row["rate"]}
        of = [(j, total(parts(j)) / total(parts(j, rate=rate)), spread(on_resources(j), on_resources(j, rate=rate))) for j in jobs]
        for a in LINKS:
            mine = [(s, s * d) for j, s, d in of if j["architecture"] == a]
            expect(bounded(row, a + "_speedup", *map(list, zip(*mine))), "bounds", row["change"], a)
        by_cnode = [(s * j["cnodes"], s * j["cnodes"] * d) for j, s, d in of]
        expect(bounded(row, "cnode_speedup", *map(list, zip(*by_cnode)), whole=seen["cnodes"]), "bounds", row["change"], "cnode")
        expect(saves(row, hours, [j["gpu_hours"] / s for j, s, d in of], [j["gpu_hours"] / s * d for j, s, d in of]), "saves", row)
    fused = {row["resource"]: row for row in seen["software"]}["fusion"]
    factor, own, of = {"memory": 1 / 3.43}, 0.4, []
    for j in jobs:
        before, after = on_resources(j), on_resources(j, factor=factor)
        speed = 1 / (1 - before["memory"] * (1 - 1 / 3.43))
        of.append((speed, spread(before, after, own * after["memory"])))
    expect(saves(fused, hours, [h / s for h, (s, d) in zip(hours, of)], [h / s * d for h, (s, d) in zip(hours, of)]), "fusion", fused)
    for row in seen["projections"]:
        gains = {"low": 0, "high": 0}
        single, errors, all_together, after = [], [], [], []
        ps = [j for j in jobs if j["architecture"] == "ps_worker"]
        for j in ps:
            verdict, s, throughput, _ = moved(j, row["architecture"])
            if verdict == "too_large":
                after.append((j["gpu_hours"], 0))
                continue
            d = spread(on_resources(j), on_resources(j, row["architecture"]))
            gains["low"] += throughput > math.exp(NORMAL * d)
            gains["high"] += throughput * math.exp(NORMAL * d) > 1
            single.append(s)
            errors.append(s * d)
            all_together.append((throughput, throughput * d))
            after.append((j["gpu_hours"] / s, j["gpu_hours"] / s * d) if verdict == "gains" else (j["gpu_hours"], 0))
        expect(bounded(row, "single_speedup_mean", single, errors), "bounds", row["architecture"])
        expect(bounded(row, "throughput_speedup_mean", *map(list, zip(*all_together))), "bounds", row["architecture"], "throughput")
        expect(saves(row, [j["gpu_hours"] for j in ps], *map(list, zip(*after))), "saves", row)
        for side, count in gains.items():
            expect(close(row["gains_share_" + side], count / len(ps)), "gains", side, row)
    share_ranges(jobs, seen)
    by_share(jobs, seen)


def share_error(j, part):
    """Of a share, by differences: each resource's time a little longer, all else as it is."""
    moves, step, now = [], 1e-6, parts(j)
    for r in RATE:
        slower = parts(j, rate={**RATE, r: RATE[r] / (1 + step)})
        moves.append((slower[part] / total(slower) - now[part] / total(now)) / step)
    return SIGMA * math.sqrt(sum(m * m for m in moves))


def within_whole(row, key, error, whole=1):
    low, high = max(row[key] - NORMAL * error, 0), min(row[key] + NORMAL * error, whole)
    return close(row[key + "_low"], low, 1e-5) and close(row[key + "_high"], high, 1e-5)


def share_ranges(jobs, seen):
    names = {"compute": "compute_bound", "memory": "memory_bound"}
    errors = {part: [share_error(j, part) for j in jobs] for part in ("input", "compute", "memory", "weights")}
    for row in seen["levels"]["cnode"]["shares"]:
        for part, of in errors.items():
            group = [(e, j["cnodes"]) for e, j in zip(of, jobs) if row["architecture"] in (j["architecture"], "all")]
            error = sum(e * n for e, n in group) / sum(n for _, n in group)
            expect(within_whole(row, names.get(part, part) + "_share", error), row, part)
    for row, (part, of) in zip(seen["bottlenecks"], errors.items()):
        expect(row["bottleneck"] == names.get(part, part), row, part)
        error = sum(e * j["gpu_hours"] for e, j in zip(of, jobs)) / seen["gpu_hours"]
        expect(within_whole(row, "lost_share", error), row, part)
    by_name = {j["job"]: j for j in jobs}
    for row in seen["worst_jobs"]:
        j = by_name[row["job"]]
        error = share_error(j, {v: k for k, v in names.items()}.get(row["bottleneck"], row["bottleneck"]))
        expect(within_whole(row, "lost_gpu_hours", error * j["gpu_hours"], j["gpu_hours"]), row)


def by_share(jobs, seen):
    """What a faster resource gives jobs by the tenth of their step that it takes."""
    for row in seen["speedup_by_share"]:
        rate, found = {**RATE, row["resource"]: row["rate"]}, []
        for j in jobs:
            share = on_resources(j)[row["resource"]]
            if row["from_share"] <= share < row["to_share"] or share == row["to_share"] == 1:
                s = total(parts(j)) / total(parts(j, rate=rate))
                found.append((s, s * spread(on_resources(j), on_resources(j, rate=rate))))
        expect(row["jobs"] == len(found) and bounded(row, "speedup", *map(list, zip(*found))), row, len(found))
    for change in {row["change"] for row in seen["speedup_by_share"]}:
        expect(sum(row["jobs"] for row in seen["speedup_by_share"] if row["change"] == change) == len(jobs), change)
    expect({row["change"] for row in seen["speedup_by_share"]} == {row["change"] for row in seen["sweeps"]}, "changes")


def worst(jobs, seen):
    by_part = {"compute_bound": "compute", "memory_bound": "memory", "input": "input", "weights": "weights"}
    for name, key in by_part.items():
        found = [(row["job"], row["lost_gpu_hours"]) for row in seen["worst_jobs"] if row["bottleneck"] == name]
        known = []
        for j in jobs:
            part = parts(j)
            if max(part, key=part.get) == key:
                known.append((j["job"], j["gpu_hours"] * part[key] / total(part)))
        known.sort(key=lambda pair: (-pair[1], pair[0]))
        expect([a for a, _ in found] == [a for a, _ in known[:20]], name, found[:3], known[:3])
        expect(all(close(a, b) for (_, a), (_, b) in zip(found, known)), name)


def without(document):
    return {key: value for key, value in document.items() if key not in ("command", "inputs")}


def splits(jobs, path, seen):
    random.seed(5)
    shuffled = random.sample(jobs, len(jobs))
    files = [write("a.csv", shuffled[:100]), write("b.csv.gz", shuffled[100:1700]), write("c.csv", shuffled[1700:])]
    expect(without(report(*files)) == without(seen), "a split changes the report")
    expect(without(report(*files[::-1])) == without(seen), "the order of the files changes the report")
    # More threads, and exact quantiles: the sketch's error bound is 1/256.
    exact = report(path, "--exact")
    for row, true in zip(seen["distributions"], exact["distributions"]):
        for key, value in row.items():
            if isinstance(value, (int, float)):
                expect(abs(value - true[key]) <= 1 / 256 * abs(true[key]), key, row, true)
    exact["distributions"] = seen["distributions"]
    expect(exact["bottlenecks"] == seen["bottlenecks"] and exact["sweeps"] == seen["sweeps"], "exact differs in its sums")


def options(path):
    base = report(path)
    priced = report(path, "--price", "network=100Gb/s:3000", "--sweep", "nvlink=300GB/s")
    row = [r for r in priced["sweeps"] if r["change"] == "network 100 Gb/s"][0]
    expect(row["price_per_cnode"] == 3000 and close(row["price_per_saved_gpu_hour"], 3000 * priced["cnodes"] / row["saved_gpu_hours"]), row)
    expect([r["rate"] for r in priced["sweeps"] if r["resource"] == "nvlink"] == [3e11], "the sweep that was given")
    today = report(path, "--on", "b200-800g")
    expect(all(r["rate"] > 0 for r in today["sweeps"]) and today["assumed"]["machine"] == "b200-800g", today["assumed"])
    ideal = report(path, "--overlap", "ideal")
    full = [r for r in base["assumptions"] if r["assumption"].startswith("input, computation")][0]
    expect(close(ideal["projections"][0]["gains_share"], full["ps_gains_share"]), full, ideal["projections"][0])
    for words, said in ((("--sweep", "disk=1GB/s"), "--sweep"), (("--price", "network=77Gb/s:1"), "--sweep"),
                        (("--price", "network"), "--price"), (("--on", "pai-2020"), "pai-2018")):
        code, _, err = run(path, *words)
        expect(code in (2, 4) and said in err and err.count("\n") == 1, words, code, err)
    code, _, err = run()
    expect(code == 2 and "table of jobs" in err, err)
    page = os.path.join(FOLDER, "fleet.html")
    code, _, err = run(path, "-o", page)
    with open(page) as file:
        text = file.read()
    expect(code == 0 and text.count("<html") == 1 and "https://" not in text, err)
    page_reads(text)
    code, table, _ = run(path)
    expect(code == 0 and max(len(line) for line in table.split("\n")) <= 100, "the table is wider than 100 columns")


def page_reads(text):
    """Pictures lead, no two parts of the page have one title, and a colour has one name in all legends of a kind."""
    titles = re.findall(r"<h[23]>([^<]*)", text)
    expect(len(titles) > 30 and len(set(titles)) == len(titles), "titles", [t for t in titles if titles.count(t) > 1])
    expect(0 < text.find('<svg class="chart"') < text.find("<table"), "a picture first")
    colors = {}
    for color, name in re.findall(r'<li class="c-(\w+)"><i></i>([^<]*)</li>', text):
        colors.setdefault(color, set()).add(name.split(" ")[0])
    kinds = [{"input", "pcie", "copy"}, {"compute-bound", "compute"}, {"memory-bound", "memory"},
             {"weights", "network", "exposed"}, {"nvlink"}] + [
                 {a} for a in ("1w1g", "1wng", "ps_worker", "allreduce_local", "allreduce_cluster", "pearl")]
    for color, names in colors.items():
        expect(any(names <= kind for kind in kinds), "a colour of two meanings", color, names)


def faults(jobs):
    """Refused rows are counted; jobs that cannot be asked are too."""
    path = write("faults.csv", jobs[:300])
    with open(path, "a") as file:
        file.write("late,ps_worker,4,64,1e12,1e9,1e6,1e6,1e6,1e6,-3,x\n")
    listed = os.path.join(FOLDER, "rejects.csv")
    code, out, err = run(path, "--format", "json", "--rejects", listed)
    expect(code == 0 and json.loads(out)["rejected"] == 1 and json.loads(out)["jobs"] == 300, err)
    with open(listed) as file:
        expect("302" in file.read(), "the line is not listed")
    empty = dict(jobs[0], job="empty", architecture="1w1g", cnodes=1, flop=0, memory_access_bytes=0, input_bytes=0, weight_traffic_bytes=5)
    code, out, err = run(write("empty.csv", jobs[:300] + [empty]), "--format", "json")
    seen = json.loads(out)
    expect(seen["unusable"] + seen["rejected"] == 1 and seen["jobs"] == 300 and seen["warnings"], seen["warnings"], err)
    # thousands may be apart where a comma parts nothing else: in counts, and in several groups
    whole = [dict(job, batch_size=2048, flop=1234567890123) for job in jobs[:50]]
    apart = [dict(job, batch_size="2,048", flop="1,234,567,890,123") for job in whole]
    expect(without(report(write("apart.csv", apart))) == without(report(write("whole.csv", whole))), "thousands")
    code, out, err = run(write("fraction.csv", [dict(job, flop="1,024") for job in whole]))
    expect(code == 3 and 'flop: expected a number, found "1,024"' in err, "either a fraction or thousands", err)
    for words, start in ((("--efficiency", "compute=2"), "--efficiency: compute_efficiency: expected a share"), (("--on", "pai-v100 network=abc"), "--on: network: expected a figure"),
                         (("--on", "h100-80-sxm memry=2TB/s"), '--on: "memry')):
        code, _, err = run(write("slow.csv", jobs[:300]), *words)
        expect_line(code, err, 2, f"fleet: {start}")
    # steps of centuries do not fit nanoseconds: no matrix rather than a wrong one
    seen = report(write("slow.csv", jobs[:300]), "--efficiency", "compute=1e-15")
    expect(seen["jobs"] == 300 and "matrix" not in seen, seen.get("matrix"))


def schema(document):
    with open(os.path.join(SOURCE, "docs", "schemas", "fleet.json")) as file:
        described = json.load(file)
    jsonschema.Draft7Validator.check_schema(described)

    def ordered(value, node, where):
        if isinstance(value, dict):
            expect(node.get("additionalProperties") is False, where, "lets members pass that it does not name")
            expect(list(value) == [key for key in node["properties"] if key in value], where, list(value))
            for key, member in value.items():
                ordered(member, node["properties"][key], where + "." + key)
        elif isinstance(value, list):
            for item in value:
                ordered(item, node["items"], where + "[]")
    try:
        jsonschema.validate(document, described)
        ordered(document, described, "")
    except jsonschema.ValidationError as error:
        expect(False, "schema", error.message, list(error.absolute_path))


def main():
    jobs = population(4000, 3)
    path = write("jobs.csv", jobs)
    seen = report(path)
    as_it_is(jobs, seen)
    projections(jobs, seen)
    sweeps(jobs, seen)
    ranges(jobs, seen)
    worst(jobs, seen)
    splits(jobs, path, seen)
    options(path)
    faults(jobs)
    schema(seen)
    file = os.path.join(SOURCE, "tests", "data", "jobs_synthetic.csv.gz")
    bundled = report(file)
    text = run(file)[1]
    expect(text.count("allreduce_cluster") >= 5 and not re.search("allreduc[a-z_]*…", text), "architectures are shortened")
    expect(all(len(line) <= 100 for line in text.splitlines()), "wider than 100")
    expect(bundled["jobs"] == 2000 and len(bundled["summary"]) >= 5, bundled["summary"])
    schema(bundled)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
