"""What `paceline fleet` tells of workers, pods and made-up jobs, as a user meets it: answers against figures counted here, bad input in
one line, and the public traces where they are at hand."""
import csv
import hashlib
import io
import json
import os
import random
import re
import shutil
import tempfile

import jsonschema

from checks import SHARED, expect, finish, run as program

SCHEMAS = os.path.join(os.environ.get("PACELINE_SOURCE", "."), "docs", "schemas")
FOLDER = tempfile.mkdtemp(prefix="paceline-fleet-")


def run(*words):
    return program("fleet", *words)


def document(schema, *words):
    code, out, err = run(*words, "--format", "json")
    expect(code == 0, "json", words, err)
    answer = json.loads(out) if code == 0 else {}
    with open(os.path.join(SCHEMAS, schema + ".json")) as file:
        try:
            jsonschema.validate(answer, json.load(file))
        except jsonschema.ValidationError as fault:
            expect(False, "schema", schema, fault.message)
    return answer


def put(name, text):
    path = os.path.join(FOLDER, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def times(column="step_time_ms", slow=True):
    draw = random.Random(3)
    lines = [f"rank,iteration,{column}"]
    for i in range(100, 400):
        for rank in ("a", "b", "c", "d"):
            value = 100 * draw.lognormvariate(0, 0.03) * (1.05 if rank == "d" else 1)
            lines.append(f"{rank},{i},{value * (2 if slow and rank == 'b' and 250 <= i < 270 else 1):.3f}")
    return "\n".join(lines) + "\n"


def test_iterations():
    path = put("times.csv", times())
    answer = document("stragglers", "--iterations", path)
    spells = answer["spells"]
    expect(len(spells) == 1 and spells[0]["worker"] == "b", "spell", spells)
    expect(spells[0]["first_iteration"] == 250 and spells[0]["last_iteration"] == 269, "spell", spells)
    expect(abs(spells[0]["slowdown"] - 2) < 0.1, "spell", spells)
    table = list(csv.DictReader(io.StringIO(open(path).read())))
    steps = {}
    for row in table:
        steps.setdefault(row["iteration"], []).append(float(row["step_time_ms"]))
    mean = sum(sum(s) for s in steps.values()) / len(table)
    largest = sum(max(s) for s in steps.values()) / len(steps)
    four = [row for row in answer["slowdown"] if row["workers"] == 4][0]
    expect(abs(four["measured_slowdown"] - largest / mean) < 1e-9, "measured", four, largest / mean)
    expect(four["low_slowdown"] <= four["expected_slowdown"] <= four["high_slowdown"], "interval", four)
    lost = sum(sorted(s)[-1] - sorted(s)[-2] for s in steps.values())
    share = sum(row["lost_share"] for row in answer["workers"])
    expect(abs(share - lost / sum(max(s) for s in steps.values())) < 1e-9, "lost", share)
    expect(answer["workers"][0]["time_unit"] == "s" and abs(answer["workers"][0]["mean_time"] - 0.1) < 0.005, "unit")
    second = put("second.csv", times().replace("\n", ",7\n").replace("step_time_ms,7", "step_time_ms,step_time_s", 1))
    code, out, err = run("--iterations", second, second)
    expect(code == 0 and "column step_time_s is not read" in err and err.count("is not read") == 1, "a second time", err)
    code, out, err = run("--iterations", put("even.csv", times(slow=False)))
    expect(code == 0 and "no worker was slower than usual" in out, "even", out[:200], err)
    for form in ("html", "csv"):
        code, out, err = run("--iterations", path, "--format", form)
        expect(code == 0 and "b" in out, form, err)


def on_nodes(slow_node, column="node"):
    """16 workers on 4 nodes; those of one node take 1.25 times as long."""
    draw = random.Random(slow_node)
    lines = [f"rank,{column},iteration,step_time_s"]
    for i in range(60):
        for rank in range(16):
            node = rank // 4
            lines.append(f"{rank},n{node},{i},{0.2 * draw.lognormvariate(0, 0.03) * (1.25 if node == slow_node else 1):.5f}")
    return "\n".join(lines) + "\n"


def test_groups():
    """Half of the workers are slow: as a group they are named, and what the step would be without them is computed anew."""
    draw = random.Random(8)
    steps = [{w: 0.3 * draw.lognormvariate(0, 0.03) * (1.4 if w in "bdfh" else 1) for w in "abcdefgh"} for _ in range(200)]
    path = put("half.csv", "worker,iteration,step_time_s\n" +
               "".join(f"{w},{i},{t:.6f}\n" for i, step in enumerate(steps) for w, t in step.items()))
    answer = document("stragglers", "--iterations", path)
    expect(len(answer["groups"]) == 1, "one group", answer["groups"])
    group = answer["groups"][0]
    expect(sorted(group["workers"].split(", ")) == list("bdfh") and group["worker_count"] == 4, "who", group)
    expect(abs(group["pace"] / 1.4 - 1) < 0.01, "pace", group["pace"])
    now = sum(max(step.values()) for step in steps) / 200
    without = sum(max(t / (1.4 if w in "bdfh" else 1) for w, t in step.items()) for step in steps) / 200
    expect(abs(group["step_time_without"] / without - 1) < 0.01, "step without", group, without)
    expect(abs(group["saved_share"] - (1 - without / now)) < 0.01, "saved", group, 1 - without / now)
    expect("4 of 8 workers" in answer["summary"][0] and "without slow workers" in answer["summary"][0], "headline",
           answer["summary"])
    expect({row["worker"] for row in answer["workers"] if row["group"] == 1} == set("bdfh"), "of each worker")
    even = document("stragglers", "--iterations", put("even.csv", times(slow=False)))
    expect(all(row["group"] == (row["worker"] == "d") for row in even["workers"]), "d is slower by 5 %", even["groups"])


def test_nodes():
    """A node that is slow in one job after another is named; one that is in one of three is not."""
    paths = [put(f"job{k}.csv", on_nodes(slow, "hostname" if k == 2 else "node")) for k, slow in enumerate((2, 2, 1))]
    answer = document("stragglers", "--iterations", *paths)
    rows = {row["node"]: row for row in answer["nodes"]}
    expect({n: (r["jobs"], r["slow_jobs"]) for n, r in rows.items()} == {"n0": (3, 0), "n1": (3, 1), "n2": (3, 2), "n3": (3, 0)},
           "nodes", rows)
    expect(answer["nodes"][0]["node"] == "n2" and abs(rows["n2"]["pace"] / 1.25 ** (2 / 3) - 1) < 0.02, "worst", rows["n2"])
    expect([g["workers"] for g in answer["groups"]] == ["all of node n2"] * 2 + ["all of node n1"], "racks", answer["groups"])
    expect(any("Node n2 is slow in 2 of the 3 jobs" in s for s in answer["summary"]), "said", answer["summary"])
    expect(document("stragglers", "--iterations", put("times.csv", times()))["nodes"] == [], "ranks are no nodes")


def test_equal_workers():
    """Of equal workers, whose times vary or who pause now and then, none is named but by chance; one that is slower, or for a while, is."""
    def job(seed, pause, steady=1, spell=1):
        draw = random.Random(seed)
        return put(f"equal{seed}.csv", "worker,iteration,step_time_s\n" + "".join(
            f"{w},{i},{draw.lognormvariate(0, 0.02) * (1.4 if draw.random() < pause else 1) * (steady if w == 3 else 1) * (spell if w == 5 and 20 <= i < 30 else 1):.6f}\n"
            for i in range(60) for w in range(8)))
    alike = [job(seed, 0.03 if seed % 2 else 0) for seed in range(40)]
    answer = document("stragglers", "--iterations", *alike)
    named, chance = (sum(words in sentence for sentence in answer["summary"]) for words in ("being last outside", "as by chance"))
    expect(named + chance == 40 and named <= 5, "one of twenty is named by chance", named, chance)
    expect(len(answer["spells"]) <= 2 and not answer["groups"], "spells and groups", answer["spells"], answer["groups"])
    answer = document("stragglers", "--iterations", *(job(100 + seed, 0, steady=1.025) for seed in range(10)))
    expect(sum("worker 3 usually takes 1.0" in sentence for sentence in answer["summary"]) >= 9, "a steady one", answer["summary"])
    answer = document("stragglers", "--iterations", *(job(200 + seed, 0.03, spell=1.4) for seed in range(10)))
    expect(sum(row["worker"] == "5" and 19 <= row["first_iteration"] <= 30 for row in answer["spells"]) >= 9, "a spell", answer["spells"])
    short = [put(f"short{seed}.csv", "worker,iteration,step_time_s\n" + "".join(
        f"{w},{i},{(2 if w == 1 and 12 <= i < 15 else 1) * draw.lognormvariate(0, 0.02):.6f}\n" for draw in (random.Random(seed),) for i in range(30) for w in range(4)))
        for seed in range(10)]
    answer = document("stragglers", "--iterations", *short)
    expect([(row["worker"], row["first_iteration"], row["last_iteration"]) for row in answer["spells"]] == [("1", 12, 14)] * 10, "three in a row", answer["spells"])
    lone = [f"{w},{i},{1 + 0.01 * ((7 * i + 3 * w) % 10) + (50 if (w, i) == (2, 33) else 0)}\n" for i in range(60) for w in range(8)]
    answer = document("stragglers", "--iterations", put("lone.csv", "worker,iteration,step_time_s\n" + "".join(lone)))
    expect(any("in iteration 33 alone (worker 2)" in sentence for sentence in answer["summary"]), "one iteration", answer["summary"])


def test_nodes_by_chance():
    """Where another node is slow in each job, the one that is so twice is said to be one that chance gives; one that always is, is not."""
    by_turns = document("stragglers", "--iterations", *(put(f"turn{k}.csv", on_nodes(slow)) for k, slow in enumerate((2, 0, 1, 2, 3))))
    expect(any("Node n2 is slow in 2 of the 5 jobs" in s and "Were no node worse" in s for s in by_turns["summary"]), by_turns["summary"])
    always = document("stragglers", "--iterations", *(put(f"always{k}.csv", on_nodes(2)) for k in range(5)))
    expect(any("Node n2 is slow in 5 of the 5 jobs" in s and "Were no node worse" not in s for s in always["summary"]), always["summary"])


def test_pictures():
    """The times of all workers are drawn, the slow one stands out, and the mark is where its spell is."""
    code, page, err = run("--iterations", put("times.csv", times()), "--format", "html")
    curves = re.findall(r'<polyline class="(c-\w+(?: pale)?)" points="([^"]*)"><title>worker (\w)</title>', page)
    expect(code == 0 and sorted(name for _, _, name in curves) == ["a", "b", "c", "d"], "curves", [c[2] for c in curves], err)
    shown = {name: [tuple(map(float, xy.split(","))) for xy in points.split()] for _, points, name in curves}
    expect(all(len(points) == 300 for points in shown.values()), "points")
    expect([name for look, _, name in curves if "pale" in look] == ["a", "c"], "who stands out", [c[0] for c in curves])
    band = re.search(r'<rect class="band" x="([\d.]+)" y="\d+" width="([\d.]+)"[^>]*><title>worker b: ([\d.]+) times', page)
    left, width = float(band.group(1)), float(band.group(2))
    slow = [x for x, y in shown["b"] if left - 0.1 <= x <= left + width + 0.1]
    expect(len(slow) == 20 and abs(float(band.group(3)) - 2) < 0.1, "the mark", len(slow), band.groups())
    highest = sorted(range(300), key=lambda i: shown["b"][i][1])[:20]
    expect(sorted(highest) == list(range(150, 170)), "the slowest iterations", sorted(highest))
    # At the busiest instant the two V100 are used, and half of the T4.
    code, page, err = run("--pods", put("pods.csv", PODS), "--nodes", put("nodes.csv", NODES), "--format", "html")
    bars = dict(re.findall(r'<title>(V100, 2 GPUs · used|T4, 1 GPUs · [^:]*): ([\d.]+) ?%', page))
    expect(code == 0 and bars["V100, 2 GPUs · used"] == "100.0" and bars["T4, 1 GPUs · used"] == "50.0", "bars", bars, err)


def test_iterations_refused():
    for text, reason in (("worker,x\na,1\n", 'a column "batch_time_s"'), ("", "empty"), ("worker,batch_time_s\na,0\n", "above 0"),
                         ("worker,iteration,batch_time_s\na,1,1\na,1,2\n", "twice"),
                         ("worker,batch_time_s\na,1\na,2\n", "2 workers or more")):
        code, _, err = run("--iterations", put("bad.csv", text))
        expect(code == 3 and reason in err and err.count("\n") == 1, "refused", reason, code, err)
    code, _, err = run("--iterations")
    expect(code == 2, "no file", code, err)
    code, _, err = run("--iterations", "--synthesize", "3", put("good.csv", times()))
    expect(code == 2, "two questions", code, err)


NODES = "sn,cpu_milli,memory_mib,gpu,model\nn0,64000,262144,2,V100\nn1,32000,65536,1,T4\n"
PODS = """name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
p0,1000,1024,1,500,,LS,Running,0,3600,0
p1,1000,1024,2,1000,V100,LS,Running,100,9000,1800
p2,1000,1024,1,1000,,LS,Pending,200,300,
"""


def test_capacity():
    nodes, pods = put("nodes.csv", NODES), put("pods.csv", PODS)
    answer = document("capacity", "--pods", pods, "--nodes", nodes)
    expect(answer["gpus"] == 3 and answer["span_s"] == 9000, "cluster", answer)
    expect(abs(answer["used_share"] - (0.5 * 3600 + 2 * 7200) / 9000 / 3) < 1e-12, "used", answer["used_share"])
    expect(answer["never_scheduled"] == 1 and answer["unplaced"] == 0, "pods", answer)
    kinds = {row["request"]: row for row in answer["requests"]}
    expect(abs(kinds["2 to 3 GPUs"]["gpu_hours"] - 4) < 1e-12 and kinds["2 to 3 GPUs"]["median_wait_s"] == 1700, "requests", kinds)
    for bad, reason in ((PODS.replace("V100", "H100"), "no node has"), (PODS.replace("num_gpu", "num_cards"), "expected a column \"num_gpu\""),
                        (PODS.replace(",9000,1800", ",900,1800"), "creation_time <= scheduled_time"),
                        (PODS.replace("2,1000,V100", "2,500,V100"), "expected 1000 for 2 GPUs")):
        code, _, err = run("--pods", put("bad.csv", bad), "--nodes", nodes)
        expect(code == 3 and reason in err and err.count("\n") == 1, "refused", reason, code, err)
    code, _, err = run("--pods", pods, "--nodes", put("joined.csv", NODES + NODES.splitlines()[1] + "\n"))
    expect(code == 3 and 'joined.csv:4: name: "n0" was there before' in err, "a node twice", code, err)
    sizes = document("capacity", "--nodes", put("large.csv", NODES.replace(",2,V100", ",16,V100")), "--pods", put("many.csv", "\n".join(
        PODS.splitlines()[:1] + [f"p{n},1000,1024,{n},1000,,LS,Running,0,3600,0" for n in (2, 3, 4, 7, 8, 16)]) + "\n"))["requests"]
    expect({row["request"]: row["pods"] for row in sizes if row["pods"]} == {"2 to 3 GPUs": 2, "4 to 7 GPUs": 2, "8 GPUs and more": 2}, "sizes", sizes)
    code, _, err = run("--pods", pods)
    expect(code == 2, "no nodes", code, err)


def test_synthesize():
    one, two = os.path.join(FOLDER, "one.csv"), os.path.join(FOLDER, "two.csv")
    expect(run("--synthesize", "5000", "--seed", "4", "-o", one)[0] == 0, "made")
    code, out, _ = run("--synthesize", "5000", "--seed", "4")
    text = open(one).read()
    expect(code == 0 and out == text, "file and output differ")
    expect(text.startswith("# synthetic: 5000 made-up jobs, seed 4"), "labelled", text[:80])
    rows = list(csv.DictReader(io.StringIO(text.split("\n", 1)[1])))
    expect(len(rows) == 5000 and len({row["job"] for row in rows}) == 5000, "rows", len(rows))
    run("--synthesize", "100", "--seed", "4", "-o", two)
    expect(open(two).read().split("\n")[2:102] == text.split("\n")[2:102], "not the first of the longer one")
    run("--synthesize", "5000", "--seed", "5", "-o", two)
    expect(hashlib.sha1(open(two, "rb").read()).digest() != hashlib.sha1(text.encode()).digest(), "seeds are alike")


def test_public_traces():
    cluster = os.path.join(SHARED, "cluster")
    if not os.path.isdir(cluster):
        return
    paths = [os.path.join(cluster, f"alibaba_pai_minibatch_job{k}.csv.gz") for k in (1, 2)]
    answer = document("stragglers", "--iterations", *paths)
    # The authors' remarks: job 1, worker 6 from mid-run; job 2, a fixed spread between workers.
    expect(len(answer["spells"]) == 1, "spells", answer["spells"])
    spell = answer["spells"][0]
    expect(spell["worker"] == "6" and "job1" in spell["job"] and 0.4 <= spell["begins_at_share"] <= 0.7, "worker 6", spell)
    slow = {row["worker"] for row in answer["workers"] if "job1" in row["job"] and row["group"] == 1}
    expect(len(answer["groups"]) == 1 and slow == {"0", "1", "2"} and "job1" in answer["groups"][0]["job"], "job 1", answer["groups"])
    pace = [row["usual_pace"] for row in answer["workers"] if "job2" in row["job"]]
    expect(max(pace) / min(pace) > 1.25, "spread", pace)
    answer = document("capacity", "--pods", os.path.join(cluster, "alibaba_gpu_v2023_pods.csv.gz"), "--nodes",
                      os.path.join(cluster, "alibaba_gpu_v2023_nodes.csv.gz"))
    expect(answer["gpus"] == 6212 and answer["pods"] == 8152 and answer["nodes"] == 1213, "trace", answer["gpus"])
    expect(answer["never_scheduled"] == 897, "pods without a scheduled_time", answer["never_scheduled"])


for name, function in sorted(globals().items()):
    if name.startswith("test_"):
        function()
shutil.rmtree(FOLDER)
finish()
