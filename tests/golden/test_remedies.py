"""Remedies of analyze: one road with predict, the algebra that every one obeys, and planted causes whose remedy is known."""
import glob
import gzip
import json
import os
import re
import shlex
import sys
import tempfile

import planted_jobs
import planted_runs
import planted_traces
from checks import SHARED, SOURCE, expect, finish, run

CATALOG = os.path.join(SOURCE, "catalog", "remedies.yaml")
KEEPS_KERNELS = {"loader", "drop-sync", "graph"}  # what-ifs that leave every kernel as it was


def answer(verb, path, *options):
    code, out, err = run(verb, path, "--quiet", "--format", "json", *options)
    expect(code == 0, verb, path, options, err)
    return json.loads(out) if code == 0 else None


def catalogue(key):
    """A figure of the file's head."""
    with open(CATALOG, encoding="utf-8") as file:
        return next(float(line.split(":")[1]) for line in file if line.startswith(key + ":"))


def acts_on(remedy):
    """The resources of a row."""
    with open(CATALOG, encoding="utf-8") as file:
        row = file.read().split(f"- id: {remedy}\n")[1]
    return re.search(r"resources: \[([a-z, ]+)\]", row)[1].split(", ")


def check_road(path, remedy):
    """The same what-if asked by hand gives the same step, to the last bit of the ratio."""
    document = answer("predict", path, *shlex.split(remedy["ask"]))
    now, asked = document["scenarios"][0], document["scenarios"][1]
    bounded = [one for one in document["warnings"] if one["code"] == "saving_bounded"]
    if not (bounded and "--steps" in remedy["ask"]):  # of some steps another one is the typical one, and has its own bound
        expect(asked["step_ns"] == remedy["step_ns"], path, "another step", remedy["ask"], asked["step_ns"], remedy["step_ns"])
        expect(asked["speedup"] == remedy["speedup"], path, "other bits", remedy["ask"], asked["speedup"], remedy["speedup"])
    expect(bool(bounded) == (asked["step_ns"] > remedy["walked_ns"]), path, "a bound that is not said", asked, remedy)
    expect(remedy["low_ns"] <= asked["low_ns"] and asked["high_ns"] <= remedy["high_ns"], path, "narrower than predict's", remedy, asked)
    return now


def check_algebra(path, document):
    tried, remedies = document["remedies_tried"], document["remedies"]
    lead = document["lead"]
    on_lead = [r["id"] for r in remedies if lead["matters"] and not lead["of_long_steps"] and lead["resource"] in acts_on(r["id"])]
    first = on_lead[0] if on_lead else remedies[0]["id"] if remedies else None
    expect(lead["next"] == first, path, "the lead and the best remedy that acts on it", lead, remedies)
    expect(tried["outcome"] == "tried" or not remedies, path, "remedies though none was tried", tried)
    expect((lead["evidence"] == "whole") == (tried["outcome"] != "unknown"), path, "evidence", lead, tried)
    gains = [remedy["saved_share"] for remedy in remedies]
    expect(gains == sorted(gains, reverse=True), path, "order", gains)
    for remedy in remedies:
        each = remedy["step_ns"] / remedy["samples"]
        expect(each <= tried["replayed_ns"], path, "longer than the step", remedy, tried)
        expect(remedy["saved_share"] >= tried["threshold_share"] == catalogue("threshold"), path, "below the threshold", remedy)
        expect(abs(1 - each / tried["replayed_ns"] - remedy["saved_share"]) < 1e-6, path, "saved", remedy, tried)
        expect(remedy["saved_share"] <= remedy["at_most_saved_share"] + 1e-9, path, "more than its resources take", remedy)
        bounded = remedy["saved_share"] > remedy["at_most_saved_share"] - 1e-9
        expect(bounded or remedy["step_ns"] == remedy["walked_ns"], path, "neither walked nor bounded", remedy)
        single = [row["at_most"] for row in document["advice"] if row["resource"] in acts_on(remedy["id"])]
        expect(remedy["at_most_saved_share"] >= max(single, default=0) - 1e-3, path, "bound below that of one resource", remedy, single)
        expect(remedy["step_ns"] >= remedy["busiest_stream_ns"] > 0, path, "shorter than its busiest stream", remedy)
        expect(remedy["low_ns"] <= remedy["step_ns"] <= remedy["high_ns"], path, "interval", remedy)


def busiest_stream_us(path):
    """By the trace itself: device work of the stream that works most, and the number of its annotated steps."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        events = [e for e in json.load(file)["traceEvents"] if e.get("ph") == "X"]
    streams = {}
    for event in events:
        if event.get("cat", "").lower() in ("kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset"):
            key = (event.get("pid"), event.get("tid"))
            streams[key] = streams.get(key, 0) + event["dur"]
    return max(streams.values(), default=0), sum(e["name"].startswith("ProfilerStep#") for e in events)


def events_of(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [e for e in json.load(file)["traceEvents"] if e.get("ph") == "X" and "ts" in e]


def check_graph(path, document):
    """A graph takes no less than the time in which the recording's device works at all: by the trace itself."""
    steps = document["steps"] if "steps" in document else []
    graph = [r for r in document["remedies"] if r["id"] == "device_graph"]
    if not graph or len(steps) < 1 or document["remedies_tried"]["steps"]:
        return
    busy, until = 0, 0
    for event in sorted((e for e in events_of(path) if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")), key=lambda e: e["ts"]):
        end = event["ts"] + event.get("dur", 0)
        busy += max(0, end - max(until, event["ts"]))
        until = max(until, end)
    expect(graph[0]["step_ns"] >= 0.93e3 * busy / len(steps), path, "a graph shorter than its device works", graph, busy / len(steps))


def check_done(path, document):
    """What the recording shows to be carried out is no remedy."""
    events, ids = events_of(path), {r["id"] for r in document["remedies"]}
    products = [e["args"]["Input type"][0] for e in events if e["name"] in ("aten::mm", "aten::addmm", "aten::bmm") and e.get("args", {}).get("Input type")]
    if products and all(kind in ("c10::BFloat16", "c10::Half") for kind in products):
        expect("mixed_precision" not in ids and "tf32" not in ids, path, "products are narrow already", ids)
    names = {e["name"] for e in events}
    expect(not ("compile" in ids and any(n.startswith(("triton_", "CompiledFunction")) for n in names)), path, "compiled already", ids)
    expect(not ("fused_update" in ids and "aten::_fused_adamw_" in names), path, "fused already", ids)


def check_words(path, document):
    """A recording without a backward pass is told nothing about training."""
    trains = any("evaluate_function" in e["name"] or e["name"].startswith("Optimizer.") for e in events_of(path))
    for remedy in document["remedies"]:
        said = remedy["how"] + remedy["rests_on"]
        if not trains and "No backward pass" in json.dumps(document["notes"]):
            expect("learning rate" not in said and "training" not in said and "loss" not in said, path, "about training", remedy)


def check_trace(path):
    document = answer("analyze", path)
    if not document or "remedies" not in document:
        return []
    check_algebra(path, document)
    check_graph(path, document)
    check_done(path, document)
    check_words(path, document)
    for remedy in document["remedies"]:
        now = check_road(path, remedy)
        expect(now["step_ns"] == document["remedies_tried"]["replayed_ns"], path, "another replay", now)
    kept = [remedy for remedy in document["remedies"] if remedy["what_if"] in KEEPS_KERNELS]
    if kept and path.endswith(".gz") and not document["remedies_tried"]["steps"]:
        busy_us, steps = busiest_stream_us(path)
        for remedy in kept if steps else []:
            expect(remedy["step_ns"] * steps >= busy_us * 1000 * 0.98, path, "shorter than its kernels", remedy, busy_us, steps)
    return document["remedies"]


def check_planted(folder):
    """The cause is written in the program, and so is what the step takes without it."""
    known = {
        # what is left of a step without 30 ms of loading: 15 ms of layers, copy and update
        "slow_loader": ("loader_workers", "enumerate(DataLoader)", 13.5e6, 15.5e6),
        "loader_on_another_thread": ("loader_workers", "enumerate(DataLoader)", 13.5e6, 15.5e6),
        # 40 kernels of 60 us; without waiting the host's 40 x 88 us stand alone
        "item_in_loop": ("no_item", "aten::item", 2.4e6, 3.7e6),
        # 300 kernels of 2 us, with as much between as in recordings of device graphs: 1.3 us
        "small_kernels": ("device_graph", "aten::", 0.98e6, 1.04e6),
        # 22 of 25 ms are the exchange, of which the closed form explains all but a few microseconds
        "network_alone": ("faster_links", "AllReduce", 14.0e6, 14.5e6),
    }
    for program, (remedy_id, name, least, most) in known.items():
        path = getattr(planted_traces, program)(os.path.join(folder, program + ".json.gz"))[0]
        remedies = check_trace(path)
        best = remedies[0] if remedies else {"id": None}
        expect(best["id"] == remedy_id, program, "best", best, remedy_id)
        if best["id"] == remedy_id:
            expect(least <= best["step_ns"] <= most, program, "step", best["step_ns"], least, most)
            expect(name in (best["name"] or "") or program == "small_kernels", program, "culprit", best["name"])
    for program in ("large_kernels", "evenly_spread", "slow_rank_alone"):
        path = getattr(planted_traces, program)(os.path.join(folder, program + ".json.gz"))[0]
        document = answer("analyze", path)
        expect(document["remedies"] == [] and document["lead"]["next"] is None, program, document["remedies"])
        expect(any("none saves 3 %" in line for line in document["summary"]), program, "not said", document["summary"])


def check_hinted(path, program, hint, never):
    document = answer("analyze", path)
    expect(document["lead"]["hint"] == hint, program, "hint", document["lead"])
    expect(never not in [r["id"] for r in document["remedies"]], program, never, document["remedies"])


def check_ruled_out(folder):
    """What would not help is not advised: workers where one thread pins, so many workers where there are some already, a graph where
    the allocator asks the device, or over breaks."""
    for program, hint, never in (("busy_pin_thread", "pinned_bytes", "loader_workers"), ("allocator_retries", "allocator", "device_graph"),
                                 ("graph_breaks", None, "device_graph"), ("odd_sizes", "aligned_products", "tf32")):
        check_hinted(getattr(planted_traces, program)(os.path.join(folder, program + ".json.gz"))[0], program, hint, never)
    for program, hint, never in (("workers_fall_behind", "more_workers", "loader_workers"), ("pins_in_loop", "pinned_once", None),
                                 ("weights_copied_out", "copies_out", None), ("annotated_evaluation", "evaluation", None)):
        check_hinted(planted_jobs.write(program, 1, os.path.join(folder, program + ".json"))[0], program, hint, never)


def check_beside(folder):
    """Products lead, about which little can be done; the batch, which takes two fifths of the step, is not passed over in silence."""
    rank = planted_traces.Rank()
    for number in range(1, 7):
        with rank.annotate(f"ProfilerStep#{number}"):
            with rank.annotate("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"):
                rank.work(8000)
            for _ in range(12):
                rank.kernel("aten::mm", 1000, name="ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn")
            rank.item()
    document = answer("analyze", rank.write(os.path.join(folder, "beside.json.gz")))
    lead = document["lead"]
    expect((lead["resource"], lead["hint_beside"]) == ("compute", "more_workers"), "beside products", lead)
    expect(any(s.startswith("To save input time, 40 % of the step: ") for s in document["summary"]), "said", document["summary"])
    alone = answer("analyze", planted_traces.large_products(os.path.join(folder, "alone.json.gz"))[0])
    expect(alone["lead"]["hint_beside"] is None, "nothing beside", alone["lead"])


def check_unnumbered_regions(folder):
    """Compiled regions had no numbers once: where several run in a step, the breaks between them go first; one alone has none."""
    path = planted_traces.graph_breaks(os.path.join(folder, "regions.json.gz"))[0]
    for several in (True, False):
        with gzip.open(path, "rt") as file:
            trace = json.load(file)
        kept = [e for e in trace["traceEvents"] if several or not e["name"].startswith("Torch-Compiled Region: ") or e["name"].endswith(": 5/0")]
        for event in kept:
            if event["name"].startswith("Torch-Compiled Region: "):
                event["name"] = "Torch-Compiled Region"
        trace["traceEvents"] = kept
        made = os.path.join(folder, f"unnumbered_{several}.json")
        with open(made, "w") as file:
            file.write(json.dumps(trace))
        ids = [remedy["id"] for remedy in answer("analyze", made)["remedies"]]
        expect(("whole_graph" in ids, "device_graph" in ids) == (several, not several), "regions without numbers", several, ids)


def check_signs(folder):
    """What ranks and steps show has advice of its own, and none where a remedy with a figure is better."""
    for program, world, hint in (("slow_rank", 4, "late_device"), ("throttled", 1, "throttled"), ("slow_stage", 4, "late_stage"),
                                 ("pipeline_bubble", 4, "pipeline_bubbles"), ("imbalanced_experts", 4, None), ("norm_chain", 1, "fused_chains"),
                                 ("missing_graph_kernels", 1, None)):
        paths = planted_runs.write(program, world, os.path.join(folder, f"{program}_{world}.json"))
        lead = answer("analyze", paths[0] if world == 1 else os.path.dirname(paths[0]))["lead"]
        expect(lead["hint"] == hint, program, "hint", lead)
    alone = answer("analyze", planted_traces.slow_rank_alone(os.path.join(folder, "alone.json.gz"))[0])
    expect(alone["lead"]["hint"] == "record_all_ranks", "one rank alone", alone["lead"])
    turns = planted_jobs.write("uneven_batches", 4, os.path.join(folder, "turns.json"))
    document = answer("analyze", os.path.dirname(turns[0]))
    expect(document["lead"]["hint"] == "late_by_turns", "by turns")
    expect(any(s.startswith("All ranks wait for each other by turns") for s in document["summary"]), "nobody is left to be the others", document["summary"])


def check_large_saving(folder):
    """However much a remedy saves, the doubt of its saving does not reach beyond the step as it is; a little is the walk's."""
    document = answer("analyze", planted_traces.large_products(os.path.join(folder, "large_products.json.gz"))[0])
    best = document["remedies"][0]
    expect(best["saved_share"] > 0.9 and best["high_ns"] < 1.2 * document["remedies_tried"]["replayed_ns"], best, document["remedies_tried"])


def check_slow_links(folder):
    """Four ranks reach an all-reduce of 4 MB together, and it takes 9 ms: nobody is late, and the links of no machine explain it."""
    planted = planted_runs.Run(4)
    planted_runs.late_all_reduce(planted)
    paths = planted.write(os.path.join(folder, "slow_links.json"))
    document = answer("analyze", os.path.dirname(paths[0]))
    expect(any("neither waiting for late ranks nor what the links" in s for s in document["summary"]), document["summary"])
    path = planted_runs.write("slow_rank", 4, os.path.join(folder, "late.json"))[0]
    document = answer("analyze", os.path.dirname(path))
    expect(not any("neither waiting for late ranks" in s for s in document["summary"]), document["summary"])


def check_forms(folder):
    """Table, CSV and HTML show what JSON has."""
    (path,) = planted_traces.slow_loader(os.path.join(folder, "forms.json.gz"))
    (remedy,) = answer("analyze", path)["remedies"]
    for form, wanted in (("table", [remedy["remedy"], "num_workers=" + remedy["value"], "Next: "]), ("csv", ["loader_workers", remedy["how"].split('"')[0][:20]]),
                         ("html", [remedy["remedy"], "persistent_workers"])):
        words = ["--table", "remedies"] if form == "csv" else []
        code, out, err = run("analyze", path, "--format", form, *words)
        flat = " ".join(out.split())
        expect(code == 0 and all(text in flat for text in wanted), form, wanted, err, out[:600])


def check_refusals():
    """A what-if without effect is refused: the demo waits for no device and copies nothing; a model fetches nothing."""
    demo = os.path.join(SOURCE, "tests", "data", "demo.json.gz")
    for words, said in ((["resnet50", "--on", "a100-80-sxm", "--loader", "4"], "--loader"),
                        ([demo, "--pinned"], "device work"),
                        ([demo, "--on", "a100-80-sxm", "--pinned"], "--pinned"),
                        ([demo, "--on", "a100-80-sxm", "--drop-sync", "nothing_so_named"], "--drop-sync"),
                        ([demo, "--loader", "0"], "--loader"), ([demo, "--loader", "1.5"], "--loader"),
                        ([demo, "--on", "a100-80-sxm", "--drop-sync", "("], "--drop-sync: expression"),
                        (["resnet50", "--on", "a100-80-sxm", "--steps", "3"], "--steps"), ([demo, "--steps", "99"], "--steps")):
        code, _, err = run("predict", *words)
        expect(code in (2, 3) and said in err, words, code, err)


def check_links(folder):
    """Exchanges that links explain take half as long over links twice as fast, or with half the bytes; of one that waits for late
    ranks next to nothing changes; more links than needed never lengthen a step."""
    def steps(program, *words):
        path = getattr(planted_traces, program)(os.path.join(folder, program + ".json.gz"))[0]
        return [scenario["step_ns"] for scenario in answer("predict", path, *words)["scenarios"]]
    now, fast = steps("network_alone", "--links", "2")[:2]
    halved = steps("network_alone", "--exchange-bytes", "0.5")[1]
    quarter = steps("network_alone", "--links", "4")[1]
    expect(abs((now - fast) - 11e6) < 0.3e6, "22 ms of exchange", now, fast)
    expect(abs(fast - halved) < 0.05e6, "half the bytes or twice the rate", fast, halved)
    expect(abs((now - quarter) - 16.5e6) < 0.4e6, "a quarter", now, quarter)
    late, still = steps("slow_rank_alone", "--links", "2")[:2]
    expect(0 <= late - still < 0.06e6, "waiting stays: links explain 50 us of 29 ms", late, still)
    tree, ring = (steps("network_alone", "--exchange-algorithm", name)[1] for name in ("^tree$", "^ring$"))
    expect(min(tree, ring) >= now - 0.05e6, "the library's own choice is the best of its algorithms", now, tree, ring)


def check_slower_links(folder):
    """Both ranks are traced, and their exchange takes 20 ms where the catalogue's links explain 50 us: it is the links' time, nearly all of
    it a matter of bytes, and halves with twice their rate."""
    ranks = [planted_traces.Rank(rank, 2) for rank in range(2)]
    for number in range(1, 6):
        begun = [rank.now for rank in ranks]
        for rank in ranks:
            rank.kernel("aten::mm", 3000, name="ampere_sgemm_128x128_tn")
        planted_traces.collective(ranks, 20000)
        for rank, start in zip(ranks, begun):
            rank.wait(stream=20)
            rank.host("user_annotation", f"ProfilerStep#{number}", start, rank.now - start)
    paths = [rank.write(os.path.join(folder, f"slower_{at}.json")) for at, rank in enumerate(ranks)]
    for factor, left in (("2", 10e6), ("0.5", 40e6)):
        code, out, err = run("predict", *paths, "--links", factor, "-q", "-f", "json")
        now, then = [one["step_ns"] for one in json.loads(out)["scenarios"]]
        expect(abs(then - now - (left - 20e6) * 4 / 5) < 0.02 * left, "links", factor, now, then, err)  # a step's sum counts in the next


def data_parallel(path, buckets, layers=12, gradient=(8192, 8192), sum_us=1832.0):
    """One rank of eight: every layer's gradient of 256 MiB takes 1.8 ms over its links; `buckets`: how many sums, of equally many layers."""
    rank = planted_traces.Rank(0, 8)
    each = layers // buckets

    def body(rank, _):
        for _ in range(layers):
            rank.kernel("aten::mm", 1000, name="ampere_sgemm_128x128_nn")
        for layer in range(layers):
            with rank.operator("autograd::engine::evaluate_function: MmBackward0"):
                rank.kernel("aten::mm", 2000, name="ampere_sgemm_128x128_nt")
            with rank.operator("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"):
                with rank.operator("torch::autograd::AccumulateGrad", **{"Input Dims": [list(gradient)], "Input type": ["float"]}):
                    rank.work(3)
                if (layer + 1) % each == 0:
                    elements = each * gradient[0] * gradient[1]
                    with rank.operator("c10d::allreduce_"):
                        planted_traces.collective([rank], each * sum_us, **{"In msg nelems": elements, "Out msg nelems": elements, "Group size": 8, "Process Group Ranks": str(list(range(8)))})
        rank.free[7] = max(rank.free[7], rank.free[20])
        with rank.annotate("Optimizer.step#SGD.step"):
            rank.kernel("aten::add_", 500, name="vectorized_elementwise_kernel")
    planted_traces.steps(rank, 4, body)
    return rank.write(path)


def check_buckets(folder):
    """The same program recorded with gradients summed at once and layer by layer: each recording predicts the other's step, and
    analyze tells the first to use buckets."""
    once, often = (data_parallel(os.path.join(folder, f"buckets{count}.json"), count) for count in (1, 12))
    measured = {path: answer("predict", path)["scenarios"][0]["step_ns"] for path in (once, often)}
    expect(measured[once] - measured[often] > 17e6, "recorded", measured)
    found = answer("predict", once, "--bucket-cap", "25")["scenarios"][1]["step_ns"]
    expect(abs(found / measured[often] - 1) < 0.02, "the other recording", found, measured)
    # back: the first gradient goes alone, as in DistributedDataParallel; large sums reach a little more of the links
    found = answer("predict", often, "--bucket-cap", "100000")["scenarios"][1]["step_ns"]
    late = measured[often] + 10 * 1.832e6
    expect(0.9 < (found - measured[often]) / (late - measured[often]) <= 1.001, "the first recording but for a bucket", found, measured)
    remedies = answer("analyze", once)["remedies"]
    expect(remedies and remedies[0]["id"] == "gradient_buckets" and abs(remedies[0]["step_ns"] / measured[often] - 1) < 0.02, "advised", remedies[:1], measured)
    expect(remedies[0]["value"] in ("5", "25", "100") and sum(r["id"] == "gradient_buckets" for r in remedies) == 1, "one of them", remedies)
    expect(all(r["id"] != "gradient_buckets" for r in answer("analyze", often)["remedies"]), "done already")
    code, _, err = run("predict", getattr(planted_traces, "slow_rank_alone")(os.path.join(folder, "none.json.gz"))[0], "--bucket-cap", "25")
    expect(code == 3 and "AccumulateGrad" in err, "nothing to bucket", code, err)


def check_experts(folder):
    """One rank's experts take 1.5 ms a layer, the others' 0.5 ms: evenly spread, three layers save three times what lies above the mean."""
    for world in (2, 8):
        paths = planted_runs.write("imbalanced_experts", world, os.path.join(folder, f"experts{world}.json"))
        code, out, err = run("analyze", *paths, "--quiet", "--format", "json")
        document = json.loads(out) if code == 0 else {"remedies": []}
        remedy = next((r for r in document["remedies"] if r["id"] == "balanced_experts"), None)
        expect(remedy, world, "advised", err, document["remedies"])
        if not remedy:
            continue
        mean = (1.5 + 0.5 * (world - 1)) / world
        expected = document["remedies_tried"]["replayed_ns"] - 3e6 * (1.5 - mean)
        expect(abs(remedy["step_ns"] / expected - 1) < 0.03, world, "the mean of the ranks", remedy["step_ns"], expected)
        expect(document["lead"]["next"] == "balanced_experts", world, "next", document["lead"])
    code, _, err = run("predict", paths[0], "--balance-experts", "gemm")
    expect(code == 3 and "two ranks" in err, "one rank", code, err)
    code, _, err = run("predict", *paths, "--balance-experts", "nothing_so_named")
    expect(code == 3 and "no kernel" in err, "no such work", code, err)


def check_layout():
    """Without the kernels that turn images a step whose device never idles is shorter by their time, as the trace has it."""
    path = os.path.join(SHARED, "chakra", "pair_vgg13_1xH100.kineto.json.gz")
    if not os.path.exists(path):
        return
    kernels = [(e["name"], float(e["dur"])) for e in events_of(path) if e.get("cat") == "kernel"]
    share = sum(us for name, us in kernels if "nchwToNhwc" in name or "nhwcToNchw" in name) / sum(us for _, us in kernels)
    found = [r["saved_share"] for r in answer("analyze", path)["remedies"] if r["id"] == "channels_last"]
    expect(len(found) == 1 and abs(found[0] - share) < 0.005 and share > 0.19, path, "turned images", found, share)


def check_moved_exchanges(folder):
    """Four ranks on A100s sum 1 GiB in 8 ms over NVLink of 300 GB/s in each direction; H100s have 450 (NVIDIA's data sheets): 5.3 ms. Exchanges
    take the links of a machine that is named with its links, while what a rank copies for itself takes as long over slow ones; of a device alone they
    keep their time, and the answer says so.
    """
    run = planted_runs.Run(4)
    for rank in run.ranks:
        rank.noise = None

    def body(_):
        run.each(lambda rank: rank.kernel("aten::mm", 1000, name="ampere_sgemm_128x128_tn"))
        run.reduce(8000, **{"In msg nelems": 1 << 28, "Out msg nelems": 1 << 28})
        run.each(planted_traces.finish)
    run.steps(5, body)
    paths = run.write(os.path.join(folder, "moved.json"))
    machines = ["dgx-a100-80", "h100-80-sxm", "h100-80-sxm*4 nvlink=150GB/s", "h100-80-sxm*4 nvlink=300GB/s", "dgx-h100"]
    found = answer("predict", *paths, *[word for machine in machines for word in ("--on", machine)])
    exposed = [row["exposed_ns"] / 1e6 for row in found["scenarios"][:len(machines) + 1]]
    for machine, ms, wanted in zip(["as it is", *machines], exposed, (8, 8, 8, 16, 8, 8 * 300 / 450)):
        expect(abs(ms / wanted - 1) < 0.08, machine, "exposed", ms, wanted)
    said = [note for note in found["notes"] if "keep the time" in note]
    expect(len(said) == 1 and said[0].startswith('"on h100-80-sxm": exchanges'), "the device alone", said)


def check_old_marks(folder):
    """PyTorch 1.8 to 1.10 write the optimizer's step as an operator. Of 100 parameters' updates of 3 us behind operators of 30 us one kernel
    in one operator is left: a step is shorter by the others, and as long as one that was recorded so, whatever the mark's category.
    """
    def recording(name, category, operators, us):
        rank = planted_traces.Rank()

        def body(rank, _):
            for _ in range(4):
                rank.kernel("aten::mm", 200, host_us=20, name="ampere_sgemm_128x128_tn")
            rank.wait()
            with rank.annotate("Optimizer.step#SGD.step", category):
                for _ in range(operators):
                    rank.kernel("aten::add_", us, host_us=26, name="vectorized_elementwise_kernel", **{"Input Dims": [[4096], [4096]],
                                "Input type": ["float", "float"]})
            rank.wait()
        planted_traces.steps(rank, 5, body)
        return rank.write(os.path.join(folder, name + ".json"))
    after = answer("analyze", recording("one", "cpu_op", 1, 3))["step_spread"]["median_ns"]
    for category in ("cpu_op", "user_annotation"):
        path = recording(category, category, 100, 3)
        found = answer("predict", path, "--fuse-update")["scenarios"][1]["step_ns"]
        expect(abs(found / after - 1) < 0.05, category, "fused update", found, after)
        expect("fused_update" in [r["id"] for r in answer("analyze", path)["remedies"]], category, "is advised")


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_planted(folder)
        check_beside(folder)
        check_ruled_out(folder)
        check_signs(folder)
        check_unnumbered_regions(folder)
        check_large_saving(folder)
        check_slow_links(folder)
        check_forms(folder)
        check_links(folder)
        check_slower_links(folder)
        check_buckets(folder)
        check_experts(folder)
        check_moved_exchanges(folder)
        check_old_marks(folder)
    check_refusals()
    check_layout()
    paths = sorted(glob.glob(os.path.join(SOURCE, "tests", "data", "*.json.gz")) + glob.glob(os.path.join(SOURCE, "tests", "data", "remedies", "*.json.gz")))
    paths += sorted(glob.glob(os.path.join(SHARED, "kineto", "*.json.gz")))
    for path in paths:
        check_trace(path)
    return finish()


sys.exit(main())
