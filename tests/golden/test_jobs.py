"""The job model from outside: the closed forms and case studies of Wang et al. (IISWC 2019), ResNet-50 as others measured it.

Figures are computed here from the published equations, or are the table derived from them by hand (0.01 ms); none is the
program's own."""
import csv
import io
import json
import os
import subprocess
import sys
import tempfile

import jsonschema

from checks import PACELINE, SOURCE, expect, finish, json_of, run

MEASURED = os.path.join(SOURCE, "tests", "data", "jobs_resnet50.csv")
FOLDER = tempfile.mkdtemp(prefix="paceline-jobs-")


def put(name, text):
    path = os.path.join(FOLDER, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def rows(path, *how):
    code, out, err = run("predict", "--rows", path, "--kind", "job", "--format", "csv", *how)
    expect(code == 0, path, err)
    return list(csv.DictReader(io.StringIO(out)))


def job(text, *how):
    return json_of("predict", "--job", text, *how)


def near(a, b, digits=2):
    return abs(float(a) - b) <= 0.5000001 * 10 ** -digits


# batch, FLOP, memory access, input, traffic; architecture; dense and embedding weights. Then the parts in ms and shares in %
# at 11 TFLOP/s and 1 TB/s, and on the V100 of 15 TFLOP/s and 0.9 TB/s.
MODELS = {
    "Multi-Interests": ((2048, 105.8e9, 100.4e9, 261e6, 122e6), "ps_worker", 1.19e6, 239.45e9,
                        (37.29, 13.74, 143.43, 73.20, 267.65, 13.9, 5.1, 53.6, 27.3),
                        (37.29, 10.08, 159.37, 73.20, 279.93, 13.3, 3.6, 56.9, 26.1)),
    "ResNet50": ((64, 1.56e12, 31.9e9, 38e6, 357e6), "allreduce_local", 204e6, 0,
                 (5.43, 202.60, 45.57, 10.20, 263.80, 2.1, 76.8, 17.3, 3.9),
                 (5.43, 148.57, 50.63, 10.20, 214.83, 2.5, 69.2, 23.6, 4.7)),
    "NMT": ((6144, 2.5e12, 101.6e9, 22e3, 1.33e9), "allreduce_local", 706e6, 819e6,
            (0.00, 324.68, 145.14, 38.00, 507.82, 0, 63.9, 28.6, 7.5),
            (0.00, 238.10, 161.27, 38.00, 437.37, 0, 54.4, 36.9, 8.7)),
    "BERT": ((12, 2.1e12, 107.3e9, 46e3, 1.5e9), "allreduce_local", 1e9, 284e6,
             (0.01, 272.73, 153.29, 42.86, 468.88, 0, 58.2, 32.7, 9.1),
             (0.01, 200.00, 170.32, 42.86, 413.18, 0, 48.4, 41.2, 10.4)),
    "Speech": ((32, 7.9e12, 20.4e9, 804e6, 728e6), "1w1g", 416e6, 0,
               (114.86, 1025.97, 29.14, 0, 1169.97, 9.8, 87.7, 2.5, 0),
               (114.86, 752.38, 32.38, 0, 899.62, 12.8, 83.6, 3.6, 0)),
    "GCN": ((512, 330.7e9, 25.79e9, 1.2e6, 3e9), "pearl", 207e6, 54e9,
            (0.17, 42.95, 36.84, 85.71, 165.68, 0.1, 25.9, 22.2, 51.7),
            (0.17, 31.50, 40.94, 85.71, 158.32, 0.1, 19.9, 25.9, 54.1)),
}
HEAD = ("job,architecture,cnodes,batch_size,flop,memory_access_bytes,input_bytes,weight_traffic_bytes,dense_weight_bytes,"
        "embedding_weight_bytes\n")
PARTS = ("input_s", "compute_bound_s", "memory_bound_s", "weight_s")


def table():
    lines = [HEAD]
    for name, (work, architecture, dense, embedding, _, _) in MODELS.items():
        cnodes = 1 if architecture == "1w1g" else 8
        lines.append(f"{name},{architecture},{cnodes}," + ",".join(f"{x:.6g}" for x in (*work, dense, embedding)) + "\n")
    return put("models.csv", "".join(lines))


def the_case_studies():
    for machine, which in (("pai-2018", 4), ("pai-v100", 5)):
        for row in rows(table(), "--on", machine):
            known = MODELS[row["job"]][which]
            parts = [1e3 * float(row[key]) for key in PARTS]
            expect(row["status"].split(";")[0] == "ok" and row["unit"] == "s" and row["rung"] == "formula", row)
            expect(all(near(p, k) for p, k in zip(parts, known)), machine, row["job"], parts, known)
            expect(near(1e3 * float(row["predicted"]), known[4]), machine, row["job"], row["predicted"], known[4])
            shares = [100 * p / sum(parts) for p in parts]
            expect(all(near(s, k, 1) for s, k in zip(shares, known[5:])), machine, row["job"], shares)
            expect(float(row["low"]) < float(row["predicted"]) < float(row["high"]), row)
    as_ps = job("architecture=ps_worker,cnodes=8,flop=330.7G,memory_access_bytes=25.79GB,input_bytes=1.2MB,"
                "weight_traffic_bytes=3GB", "--on", "pai-v100")
    expect(near(1e3 * as_ps["step_s"], 1872.6, 1), as_ps["step_s"])
    weights = sum(part["time_s"] for part in as_ps["parts"] if part["part"].startswith("weights"))
    expect(near(1e3 * weights, 1800) and near(100 * weights / as_ps["step_s"], 96.1, 1), weights)


def closed_forms():
    """Weights alone: what each port buys, and from how many cNodes it no longer does."""
    def ports(text, *how):
        return {p["architecture"]: p for p in job(text, *how)["projections"]}
    moved = ports("architecture=ps_worker,cnodes=8,weight_traffic_bytes=1GB")
    expect(abs(moved["allreduce_local"]["single_speedup"] - 21) < 1e-9, moved)
    expect(abs(moved["allreduce_local"]["throughput_speedup"] - 21) < 1e-9, moved)
    expect(near(moved["allreduce_cluster"]["single_speedup"], 1.235, 3), moved)
    expect(abs(moved["allreduce_cluster"]["single_speedup"] - 0.42 / 0.34) < 1e-9, moved)
    # Weight share s of a PS job whose other time is computation, without contention: gains when s exceeds the break-even.
    for cnodes, even in ((16, 0.525), (32, 0.7875), (64, 0.9188), (128, 0.9844)):
        for share in (even - 0.0006, even + 0.0006):
            traffic = share / 0.42 * 0.7 * 1e9
            work = (1 - share) * 11e12 * 0.7
            moved = ports(f"architecture=ps_worker,cnodes={cnodes},weight_traffic_bytes={traffic:.12g},flop={work:.12g}")
            expect((moved["allreduce_local"]["verdict"] == "gains") == (share > even), cnodes, share, moved)
    for cnodes, gains in ((167, True), (168, False), (1000, False)):
        moved = ports(f"architecture=ps_worker,cnodes={cnodes},weight_traffic_bytes=1GB")
        expect((moved["allreduce_local"]["verdict"] == "gains") == gains, cnodes, moved)
    # AllReduce-Cluster against the input of 8 replicas: gains when the weight share exceeds 36.75 times that of the input.
    for ratio in (36.7, 36.8):
        traffic, bytes_in = ratio / 0.42 * 1e6, 1e7
        moved = ports(f"architecture=ps_worker,cnodes=64,weight_traffic_bytes={traffic * 1e3:.12g},input_bytes={bytes_in * 1e3:.12g}")
        expect((moved["allreduce_cluster"]["verdict"] == "gains") == (ratio > 36.75), ratio, moved)
        expect(ratio > 36.75 or moved["allreduce_cluster"]["verdict"] == "shared_pcie", ratio, moved)
    fast = job("architecture=ps_worker,cnodes=8,weight_traffic_bytes=1GB", "--on", "pai-2018 network=100Gb/s")
    slow = job("architecture=ps_worker,cnodes=8,weight_traffic_bytes=1GB")
    expect(near(slow["step_s"] / fast["step_s"], 2.333, 3), slow["step_s"], fast["step_s"])


def links_are_shared_before_and_after():
    """PAI's ResNet-50, 8 replicas of a server with V100: 38 MB of input share the host link (10 GB/s, 0.7 of it) as AllReduce-Local and as PEARL
    alike, 43.4 ms each; as PS/Worker, a replica a server, 5.4 ms. By hand, in s."""
    text = ("architecture={},cnodes=8,flop=1.56T,memory_access_bytes=31.9GB,input_bytes=38MB,weight_traffic_bytes=357MB")
    work, alone = 1.56e12 / 10.5e12 + 31.9e9 / 0.63e12, 38e6 / 7e9
    servers, nvlink = 357e6 / (0.7 * 3.125e9) + 357e6 / 7e9, 357e6 / 35e9
    local = work + 8 * alone + nvlink
    def moved(architecture, contention="projected"):
        answer = job(text.format(architecture), "--on", "pai-v100", "--contention", contention)
        return {p["architecture"]: p["single_speedup"] for p in answer["projections"]}
    for contention in ("projected", "all"):
        from_local, from_servers = moved("allreduce_local", contention), moved("ps_worker", contention)
        expect(abs(from_local["pearl"] - 1) < 1e-9, contention, from_local)
        expect(abs(from_local["ps_worker"] / (local / (work + alone + servers)) - 1) < 1e-9, contention, from_local)
        expect(abs(from_servers["allreduce_local"] / ((work + alone + servers) / local) - 1) < 1e-9, contention, from_servers)
        expect(abs(from_local["ps_worker"] * from_servers["allreduce_local"] - 1) < 1e-9, "there and back", contention)
    expect(abs(moved("allreduce_local", "none")["pearl"] - 1) < 1e-9, "nothing is shared")


def one_resource_scaled():
    """1 / (1 - s + s / k), for each resource and k, with the shares of a mixed job."""
    text = ("architecture=ps_worker,cnodes=4,flop=1T,memory_access_bytes=60GB,input_bytes=100MB,weight_traffic_bytes=200MB")
    base = job(text)
    for resource in ("compute", "memory", "pcie", "network"):
        share = sum(part["time_s"] for part in base["parts"] if part["resource"] == resource) / base["step_s"]
        for k in (2, 4, 10):
            scaled = job(text, "--on", f"pai-2018 {resource}={k}x")
            expect(abs(base["step_s"] / scaled["step_s"] * (1 - share + share / k) - 1) < 1e-9, resource, k)


def in_fleet(words):
    """What each change of software gains for a fleet that is this job alone."""
    cells = dict(word.split("=") for word in words.split(","))
    scale = {"G": 1e9, "GB": 1e9, "MB": 1e6}
    for name, text in cells.items():
        for unit, factor in scale.items():
            if text.rstrip(unit) + unit == text and text[:1].isdigit():
                cells[name] = repr(float(text[:-len(unit)]) * factor)
    table = put("alone.csv", "job," + ",".join(cells) + "\nalone," + ",".join(cells.values()) + "\n")
    _, out, _ = run("fleet", table, "--on", "pai-v100", "--format", "json")
    return {row["change"]: row[cells["architecture"] + "_speedup"] for row in json.loads(out)["software"]}


def rows_of_embeddings_grow_with_the_batch():
    """PAI's GCN by PEARL, all in s: of 3 GB a step 1.75 x 207 MB are dense weights', the rest rows. Twice the batch doubles
    all but the dense traffic."""
    gcn = ("architecture=pearl,cnodes=8,batch_size=512,flop=330.7G,memory_access_bytes=25.79GB,input_bytes=1.2MB,"
           "weight_traffic_bytes=3GB,dense_weight_bytes=207MB,embedding_weight_bytes=54GB")
    dense, rows_ = 1.75 * 207e6 / 35e9, (3e9 - 1.75 * 207e6) / 35e9
    work = 330.7e9 / 10.5e12 + 25.79e9 / 0.63e12 + 1.2e6 / 7e9
    gains = {gain["change"]: gain["speedup"] for gain in job(gcn, "--on", "pai-v100")["changes"]}
    for times, name in ((2, "twice the batch"), (4, "four times the batch")):
        by_hand = times * (work + dense + rows_) / (times * (work + rows_) + dense)
        expect(abs(gains[name] / by_hand - 1) < 1e-6, name, gains[name], by_hand)
        expect(abs(in_fleet(gcn)[name] / by_hand - 1) < 1e-6, "of a fleet of one", name, in_fleet(gcn)[name], by_hand)
    # without embeddings all of the traffic is dense weights', whatever the batch
    plain = {gain["change"]: gain["speedup"] for gain in job(gcn.replace("54GB", "0"), "--on", "pai-v100")["changes"]}
    expect(abs(plain["twice the batch"] / (2 * (work + dense + rows_) / (2 * work + dense + rows_)) - 1) < 1e-6, plain)


def assumptions():
    text = "architecture=allreduce_local,cnodes=8,flop=1.56T,memory_access_bytes=31.9GB,input_bytes=38MB,weight_traffic_bytes=357MB"
    parts = {p["part"]: p["time_s"] for p in job(text)["parts"]}
    work = parts["compute_bound"] + parts["memory_bound"]
    total = sum(parts.values())
    expect(abs(job(text, "--overlap", "ideal")["step_s"] - work) < 1e-12, parts)
    expect(abs(job(text, "--overlap", "0.25")["step_s"] - (0.75 * total + 0.25 * work)) < 1e-12, parts)
    shared = {p["part"]: p["time_s"] for p in job(text, "--contention", "all")["parts"]}
    expect(abs(shared["input"] - 8 * parts["input"]) < 1e-12, shared)
    together = {p["part"]: p["time_s"] for p in job(text, "--nvlink", "aggregate")["parts"]}
    expect(abs(together["weights_nvlink"] * 3 - parts["weights_nvlink"]) < 1e-12, together)
    half = {p["part"]: p["time_s"] for p in job(text, "--efficiency", "compute=0.35,nvlink=0.14")["parts"]}
    expect(abs(half["compute_bound"] - 2 * parts["compute_bound"]) < 1e-12, half)
    expect(abs(half["weights_nvlink"] - 5 * parts["weights_nvlink"]) < 1e-12, half)
    # GCN under PEARL: 54 % communication by one link, about 28 % by the aggregate.
    gcn = "architecture=pearl,cnodes=8,flop=330.7G,memory_access_bytes=25.79GB,input_bytes=1.2MB,weight_traffic_bytes=3GB"
    share = {p["part"]: p["share"] for p in job(gcn, "--on", "pai-v100", "--nvlink", "aggregate")["parts"]}
    expect(near(100 * share["weights_nvlink"], 28, 0), share)
    # The Speech row with the measured 3.1 % of the memory's peak: the row's own efficiency and the option agree.
    path = put("speech.csv", HEAD.strip() + ",memory_efficiency\nSpeech,1w1g,1,32,7.9e12,20.4e9,804e6,728e6,416e6,0,0.031\n")
    own, given = rows(path)[0], rows(table(), "--efficiency", "memory=0.031")[4]
    expect(near(1e3 * float(own["memory_bound_s"]), 20.4e9 / (0.031 * 1e12) * 1e3), own)
    expect(abs(float(own["predicted"]) - float(given["predicted"])) < 1e-12, own, given)
    # At 3.1 % memory takes 658 ms against 1026 of computation; at 1 % it takes longest.
    expect(own["bottleneck"] == "compute_bound" and rows(table(), "--efficiency", "memory=0.01")[4]["bottleneck"] == "memory_bound", own)
    path = put("job.yaml", "architecture: allreduce_local\ncnodes: 8\nflop: 1.56e12\nmemory_access_bytes: 31.9GB\n"
                           "input_bytes: 38MB\nweight_traffic_bytes: 357e6\n")
    expect(abs(job(path)["step_s"] - total) < 1e-12, path)


def measured_resnet50():
    """Predicted with 70 % of the peaks: the errors that were computed by hand; then each machine from the others."""
    known = {"p100-64": 272.5, "p100-32": 136.3, "p100-64x8": 301.6, "k80-64": 985.8}
    for row in rows(MEASURED):
        if row["job"] in known:
            expect(abs(float(row["predicted"]) - known[row["job"]]) < 0.06 and row["unit"] == "ms", row)
        inside = float(row["low"]) <= float(row["step_ms"]) <= float(row["high"])
        expect(inside, "outside its interval", row)
    with open(MEASURED) as file:
        unfused = put("unfused.csv", file.read().replace(",fusion,", ",,"))
    plain = {row["job"]: float(row["predicted"]) for row in rows(unfused)}
    expect(near(plain["v100-128"], 396.0, 1) and near(plain["v100-128x8"], 406.2, 1), plain)
    fit = os.path.join(FOLDER, "fit.json")
    held = {m["machine"]: m for m in json_of("fit", "--kind", "job", MEASURED, "-o", fit)["machines"]}
    expect(len(held) == 4 and held["all"]["mape"] <= 0.15, held)
    fitted = rows(MEASURED, "--fit", fit)
    errors = [abs(float(r["predicted"]) / float(r["step_ms"]) - 1) for r in fitted]
    expect(sum(errors) / len(errors) < 0.12 and all(r["rung"] == "learned" for r in fitted), errors)


def efficiencies_are_found():
    """Jobs whose times were made with known efficiencies give them back, as far as the rows tell."""
    truth = {"compute": 0.5, "memory": 0.31, "pcie": 0.8, "network": 0.42, "nvlink": 0.6}
    lines = [HEAD.strip() + ",machine,step_s\n"]
    work = [(a, f, m, i, w) for a in ("ps_worker", "allreduce_local", "1w1g") for f, m, i, w in
            ((5e12, 1e9, 1e6, 1e6), (1e9, 2e11, 1e6, 1e6), (1e9, 1e9, 5e9, 1e6), (1e9, 1e9, 1e6, 6e9), (1e12, 1e11, 1e9, 1e9))]
    for machine, factor in (("pai-2018", 1), ("pai-2018 compute=2x", 2)):
        for repeat in range(4):
            for a, f, m, i, w in work:
                links = {"ps_worker": (("network", 3.125e9), ("pcie", 1e10)), "allreduce_local": (("nvlink", 5e10),), "1w1g": ()}[a]
                step = (f / (11e12 * factor * truth["compute"]) + m / (1e12 * truth["memory"]) + i / (1e10 * truth["pcie"]) +
                        sum(w / (rate * truth[r]) for r, rate in links))
                lines.append(f"x,{a},1,1,{f},{m},{i},{w},0,0,{machine},{step!r}\n")
    found = {e["resource"]: e["efficiency"] for e in json_of("fit", "--kind", "job", put("made.csv", "".join(lines)))["efficiencies"]}
    for resource, efficiency in truth.items():
        expect(abs(found[resource] / efficiency - 1) < 0.03, resource, found)


def machines_of_the_catalogue():
    """A job on any machine: its parts follow from the datasheet figures that are written here once more."""
    text = ("architecture=allreduce_cluster,cnodes=16,flop=1T,memory_access_bytes=100GB,input_bytes=100MB,"
            "weight_traffic_bytes=1GB")
    cases = {
        "dgx-h100": (494.7e12, 3.35e12, 63e9, 50e9, 450e9), "dgx-h100*4": (494.7e12, 3.35e12, 63e9, 50e9, 450e9),
        "dgx-1-v100": (15.7e12, 900e9, 10e9, 12.5e9, 50e9),  # two NVLinks between the closest pairs
        "a100*8 nvlink=300GB/s net=200Gb/s": (156e12, 2.039e12, 31.5e9, 25e9, 300e9),
        "a100*8 pcie=20GB/s net=100Gb/s": (156e12, 2.039e12, 20e9, 12.5e9, 20e9),
        "dgx-h100 compute=2x pcie=10GB/s nvlink=0.5x": (989.4e12, 3.35e12, 10e9, 50e9, 225e9),
        "pai-2018 net=100Gb/s": (11e12, 1e12, 1e10, 12.5e9, 5e10),
    }
    for machine, (flop, memory, pcie, network, nvlink) in cases.items():
        document = job(text, "--on", machine, "--efficiency", "0.7")
        found = {p["part"]: p["time_s"] for p in document["parts"]}
        known = {"input": 1e8 / pcie, "compute_bound": 1e12 / flop, "memory_bound": 1e11 / memory,
                 "weights_network": 1e9 / network, "weights_nvlink": 1e9 / nvlink}
        for part, time in known.items():
            expect(abs(found[part] * 0.7 / time - 1) < 1e-3, machine, part, found[part], time / 0.7)
        figures = {f["figure"]: f for f in document["assumed"]["figures"]}
        expect(all(f["source"] and f["confidence"] for f in figures.values()), machine, figures)
    expect(job(text, "--on", "dgx-2")["assumed"]["figures"][-1]["value"] == 16, "devices of a server")
    # Shares of peaks that were measured: DeepBench's best FP32 product, the DLRM paper's stream and copies on V100; NCCL's bus
    # bandwidth of 120 to 132 GB/s of 150. TF32 products of H100 are not known: there PAI's share stays.
    v100 = job(text, "--on", "dgx-1-v100")
    shares = {f["figure"]: (f["value"], f["confidence"]) for f in v100["assumed"]["figures"]}
    for figure, share in (("compute", 14.78 / 15.7), ("memory", 817 / 900), ("pcie", 12.4 / 15.75), ("nvlink", 0.83), ("network", 0.85)):
        expect(near(shares[figure + "_efficiency"][0], share, 3), figure, shares)
    expect(shares["compute_efficiency"][1] == "high" and shares["network_efficiency"][1] in ("medium", "low"), shares)
    found = {p["part"]: p["time_s"] for p in v100["parts"]}
    expect(abs(found["memory_bound"] * 817e9 / 1e11 - 1) < 1e-9, "a stream through memory", found)
    h100 = {f["figure"]: f for f in job(text, "--on", "dgx-h100")["assumed"]["figures"]}
    expect(h100["compute_efficiency"]["value"] == 0.7 and "PAI" in h100["compute_efficiency"]["source"], h100)
    lines = [HEAD.strip() + ",machine\n"] + [f"j{i},1w1g,1,1,1e12,1e9,1e6,1e6,0,0,{m}\n" for i, m in
                                              enumerate(["dgx-h100", "", "nowhere", "v100", "pai-v100"])]
    answers = rows(put("placed.csv", "".join(lines)))
    expect(near(1e3 * float(answers[0]["compute_bound_s"]), 1e15 / 494.7e12 / 0.7, 6), answers[0])
    expect(near(1e3 * float(answers[1]["compute_bound_s"]), 1e15 / 11e12 / 0.7, 6), answers[1])
    expect("nowhere" in answers[2]["status"] and not answers[2]["predicted"], answers[2])
    expect(near(1e3 * float(answers[3]["compute_bound_s"]), 1e15 / 15.7e12 / 0.7, 6), answers[3])


def names_of_others():
    """The same jobs under the names and units that other tables have give the same answers; measured columns are let pass."""
    ours = rows(table())
    heads = ["job_id,arch,n_cnode,bs,FLOPs,mem_access,s_d,S_w,dense weight,embedding_size",
             "id,Job Type,num_workers,batch,gflop,mem_access (GB),input_mb,network_traffic[MB],weight_size_gb,embedding_weights(GiB)",
             "Job,Architecture,cNodes,Batch-Size,flop (TFLOP),memory_access_GB,input_bytes (KB),comm_kb,model_size_MB,embedding_kib"]
    scales = [(1, 1, 1, 1, 1, 1), (1e9, 1e9, 1e6, 1e6, 1e9, 2**30), (1e12, 1e9, 1e3, 1e3, 1e6, 1024)]
    words = {"ps_worker": "PS/Worker", "allreduce_local": "AllReduce-Local", "1w1g": "1W1G", "pearl": "PEARL"}
    for head, scale in zip(heads, scales):
        lines = [head + ",throughput,samples_per_s,compute_time_s\n"]
        for name, (work, architecture, dense, embedding, _, _) in MODELS.items():
            numbers = [x / s for x, s in zip((*work[1:], dense, embedding), scale)]
            lines.append(f"{name},{words[architecture]},{1 if architecture == '1w1g' else 8},{work[0]}," +
                         ",".join(f"{x:.17g}" for x in numbers) + ",12,34,56\n")
        theirs = rows(put("theirs.csv", "".join(lines)))
        for a, b in zip(ours, theirs):
            expect(b["status"] == ("ok; weight_traffic_bytes has no effect on 1w1g" if a["architecture"] == "1w1g" else "ok") == a["status"] and abs(float(a["predicted"]) / float(b["predicted"]) - 1) < 1e-12, head, a, b)
            expect(b["throughput"] == "12", b)
        done = subprocess.run([PACELINE, "fleet", os.path.join(FOLDER, "theirs.csv"), "--format", "json"], capture_output=True)
        expect(done.returncode == 0, done.stderr)
        report = json.loads(done.stdout or "{\"jobs\": 0, \"warnings\": []}")
        expect(report["jobs"] == len(MODELS) and any("as flop" in w["text"] or "FLOPs" in head for w in report["warnings"]), report["warnings"])
    timed = put("timed.csv", HEAD.strip() + ",iter_ms\na,1w1g,1,1,1e12,1e9,1e6,1e6,0,0,130\n")
    expect(rows(timed)[0]["unit"] == "ms", rows(timed)[0])
    spare = put("spare.csv", HEAD.strip() + ",user_id,owner\na,ps,4,1,1e12,1e9,1e6,1e6,0,0,x,y\n")
    done = subprocess.run([PACELINE, "fleet", spare, "--format", "json"], capture_output=True, text=True)
    expect(done.returncode == 0 and json.loads(done.stdout)["worst_jobs"][0]["user"] == "x", done.stderr)
    both = put("both.csv", HEAD.replace("cnodes", "workers").strip() + ",gpus\na,ps,4,1,1e12,1e9,1e6,1e6,0,0,4\n")
    done = subprocess.run([PACELINE, "fleet", both], capture_output=True, text=True)
    expect(done.returncode == 3 and "both" in done.stderr and "--columns" in done.stderr, done.stderr)


def stated_efficiencies_are_not_fitted():
    """A row that states what it reaches of a peak says nothing of the others' and is predicted with its own."""
    lines = [HEAD.strip() + ",machine,memory_efficiency,step_s\n"]
    for machine, factor in (("pai-2018", 1), ("pai-2018 compute=2x", 2)):
        for k in range(1, 9):
            flop, memory = k * 1e12, 5e10 * (9 - k)
            lines.append(f"a{k},1w1g,1,1,{flop},{memory},0,0,0,0,{machine},,{flop / 11e12 / factor / 0.5 + memory / 1e12 / 0.6!r}\n")
            lines.append(f"b{k},1w1g,1,1,{flop},{memory},0,0,0,0,{machine},0.03,{flop / 11e12 / factor / 0.5 + memory / 1e12 / 0.03!r}\n")
    fit, path = os.path.join(FOLDER, "stated.json"), put("stated.csv", "".join(lines))
    found = {e["resource"]: e["efficiency"] for e in json_of("fit", "--kind", "job", path, "-o", fit, "--on", "pai-v100")["efficiencies"]}
    expect(abs(found["compute"] / 0.5 - 1) < 0.01 and abs(found["memory"] / 0.6 - 1) < 0.02, found)
    for row in rows(path, "--fit", fit):
        expect(abs(float(row["predicted"]) / float(row["step_s"]) - 1) < 0.02, row)
    # The fit remembers the machine of rows that name none.
    plain = put("plain.csv", HEAD + "a,1w1g,1,1,1.5e13,0,0,0,0,0\n")
    expect(abs(float(rows(plain, "--fit", fit)[0]["predicted"]) * found["compute"] - 1) < 1e-9, rows(plain, "--fit", fit))
    code, _, err = run("predict", "--kind", "job", "--rows", plain, "--fit", fit, "--efficiency", "0.5")
    expect(code == 2 and "--efficiency" in err, code, err)


def faults():
    good = "a,ps_worker,4,1,1e12,1e9,1e6,1e6,0,0\n"
    bad = [("a,ps_worker,0,1,1e12,1e9,1e6,1e6,0,0", "cnodes"), ("a,ring,4,1,1e12,1e9,1e6,1e6,0,0", "architecture"),
           ("a,1w1g,4,1,1e12,1e9,1e6,1e6,0,0", "cnodes"), ("a,ps_worker,4,1,-1,1e9,1e6,1e6,0,0", "flop"),
           ("a,ps_worker,4,1,many,1e9,1e6,1e6,0,0", "flop"), ("a,1w1g,1,1,0,0,0,1e6,0,0", "nothing"),
           ("a,ps_worker,2.5,1,1e12,1e9,1e6,1e6,0,0", "cnodes"), ("a,ps_worker,4,1,,1e9,1e6,1e6,0,0", "flop")]
    answers = rows(put("faults.csv", HEAD + good + "".join(row + "\n" for row, _ in bad)))
    expect(answers[0]["status"] == "ok", answers[0])
    for answer, (row, word) in zip(answers[1:], bad):
        expect(word in answer["status"] and not answer["predicted"] and not answer["weight_s"] and not answer["bottleneck"], row, answer)
    code, _, err = run("predict", "--kind", "job", "--rows", put("missing.csv", HEAD.replace("weight_traffic", "wieght_traffic") + good))
    expect(code == 3 and "weight_traffic_bytes" in err and "wieght_traffic_bytes" in err, err)
    for words, said in ((("architecture=ring",), "architecture"), (("architecture=1w1g,flop=1T,flops=2",), "flops"),
                        (("architecture=1w1g,flop=a lot",), "flop"), (("flop=1T",), "architecture"),
                        (("architecture=1w1g,flop=1T", "--on", "pai-2019"), "pai-2018"),
                        (("architecture=1w1g,flop=1T", "--on", "pai-2018 compute=0"), "compute"),
                        (("architecture=1w1g,flop=1T", "--overlap", "2"), "overlap"),
                        (("architecture=1w1g,flop=1T", "--efficiency", "1.5"), "efficiency"),
                        (("architecture=1w1g,flop=1T", "--contention", "some"), "contention"),
                        (("nowhere.yaml",), "nowhere.yaml")):
        code, _, err = run("predict", "--job", *words)
        expect(code in (2, 3, 4) and said in err and err.count("\n") == 1, words, code, err)


def features(text, *words):
    return {row["feature"]: row["amount"] for row in job(text, *words)["features"]}


def features_of_models():
    """A model says what its step does: by hand for a ResNet-50, whose first layer has no gradient of its input, and for the embeddings
    of BERT; what the words say themselves stays; servers move both ways what rings move 4 (n - 1)/n times."""
    text = "model=resnet50,architecture=allreduce_local,cnodes=8,batch_size=64"
    found = features(text, "--set", "optimizer=momentum")
    weights = 25557032 * 4
    expect(found["flop"] == 64 * 2 * (3 * 4089184256 - 118013952), found)
    expect(found["dense_weight_bytes"] == 2 * weights and found["embedding_weight_bytes"] == 0, found)
    expect(abs(found["weight_traffic_bytes"] - 3.5 * weights) < 1, found)
    expect(0 <= found["input_bytes"] - 64 * 3 * 224 * 224 * 4 < 64 * 9, found)
    expect(features(text)["dense_weight_bytes"] == weights, "plain SGD keeps nothing")
    expect(features(text.replace("allreduce_local", "ps_worker"))["weight_traffic_bytes"] == 2 * weights, "both ways")
    expect(features(text.replace("allreduce_local", "1w1g").replace("cnodes=8", "cnodes=1"))["weight_traffic_bytes"] == 0, "alone")
    expect(features(text + ",flop=1T")["flop"] == 1e12 and features(text + ",flop=1T")["input_bytes"] == found["input_bytes"], "said")
    bert = features("model=bert_base,architecture=allreduce_local,cnodes=8,batch_size=12", "--set", "optimizer=adam")
    expect(bert["embedding_weight_bytes"] == 3 * 4 * 768 * (30522 + 512 + 2), bert)
    # Of a recommender's tables a step exchanges the rows that it looks up.
    dlrm = features("model=dlrm_default,architecture=ps_worker,cnodes=8,batch_size=64")
    double = features("model=dlrm_default,architecture=ps_worker,cnodes=8,batch_size=128")
    dense = 2 * dlrm["dense_weight_bytes"]
    expect(abs((double["weight_traffic_bytes"] - dense) / (dlrm["weight_traffic_bytes"] - dense) - 2) < 1e-9, dlrm, double)
    for words, part in (((text.replace(",batch_size=64", ""),), "batch_size"), ((text.replace("resnet50", "resnot"),), "resnot"),
                        (("architecture=1w1g,flop=1T", "--set", "optimizer=adam"), "model=NAME")):
        code, out, err = run("predict", "--job", *words)
        expect(code in (2, 4) and part in err, words, code, err)


def features_of_traces():
    """A trace says what its step does: by hand from the shapes of a perceptron's products (two of 512 x 1024 x 1024 forward, three
    backward, and three with 10 classes) and from its parameters; measured parts add up to the measured step."""
    trace = os.path.join(SOURCE, "tests", "data", "causes", "big_products.json.gz")
    document = job("trace=%s,architecture=allreduce_local,cnodes=8" % trace)
    found = {row["feature"]: row["amount"] for row in document["features"]}
    gradients = 4 * (2 * (1024 * 1024 + 1024) + 10 * 1024 + 10)
    expect(found["batch_size"] == 512 and found["flop"] == 2 * 512 * 1024 * (5 * 1024 + 3 * 10), found)
    expect(found["dense_weight_bytes"] == gradients and abs(found["weight_traffic_bytes"] - 3.5 * gradients) < 1, found)
    parts = {row["part"]: row for row in document["measured"]}
    expect(abs(sum(row["measured_s"] for row in parts.values()) / document["measured_step_s"] - 1) < 1e-9, parts)
    expect(abs(sum(row["estimated_s"] for row in parts.values()) / document["step_s"] - 1) < 1e-9, parts)
    expect(any("The recorded steps took" in said and " on a CPU: " in said for said in document["summary"]), document["summary"])
    with_words = job("trace=%s,architecture=1w1g,flop=1T" % trace)
    expect({row["feature"]: row["amount"] for row in with_words["features"]}["flop"] == 1e12, "said")
    said = job("architecture=1w1g,flop=1T,step_s=0.21")
    expect(said["measured_step_s"] == 0.21 and "measured" not in said, said["summary"])
    expect(any("210" in line and "estimate" in line for line in said["summary"]), said["summary"])
    for words, part in (("trace=%s,architecture=1w1g,batch_size=64" % trace, "512"),
                        ("trace=%s,architecture=1w1g,model=lenet" % trace, "one model or one trace"),
                        ("trace=%s,architecture=1w1g" % trace.replace("big_products", "long_sequences"), "say flop=")):
        code, out, err = run("predict", "--job", words)
        expect(code in (2, 3) and part in err, words, code, err)
    fleet = put("timed.csv", "job,architecture,cnodes,batch_size,flop,memory_access_bytes,input_bytes,weight_traffic_bytes,"
                "dense_weight_bytes,embedding_weight_bytes,step_s\na,1w1g,1,32,1e12,1e9,1e6,0,1e6,0,0.3\n")
    code, out, err = run("fleet", fleet)
    expect(code == 0 and "--kind job" in out, "a fleet says what it does not use", err)


def schema():
    """The report of one job is what docs/schemas/job.json says, member by member and in that order."""
    with open(os.path.join(SOURCE, "docs", "schemas", "job.json")) as file:
        described = json.load(file)

    def ordered(value, node, where):
        if isinstance(value, dict):
            expect(node.get("additionalProperties") is False, where, "lets members pass that it does not name")
            expect(list(value) == [key for key in node["properties"] if key in value], where, list(value))
            for key, member in value.items():
                ordered(member, node["properties"][key], where + "." + key)
        elif isinstance(value, list):
            for item in value:
                ordered(item, node["items"], where + "[]")
    for text in ("architecture=ps_worker,cnodes=9,flop=1T,weight_traffic_bytes=1GB", "architecture=1w1g,input_bytes=5MB",
                 "architecture=1w1g,trace=%s" % os.path.join(SOURCE, "tests", "data", "causes", "big_products.json.gz")):
        document = job(text)
        jsonschema.validate(document, described)
        ordered(document, described, "")


def main():
    for check in (the_case_studies, closed_forms, links_are_shared_before_and_after, one_resource_scaled,
                  rows_of_embeddings_grow_with_the_batch, assumptions, measured_resnet50, efficiencies_are_found,
                  machines_of_the_catalogue, names_of_others, stated_efficiencies_are_not_fitted, features_of_models, features_of_traces, faults,
                  schema):
        check()
    return finish()


if __name__ == "__main__":
    sys.exit(main())
