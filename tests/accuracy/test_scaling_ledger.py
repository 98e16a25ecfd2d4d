"""Recomputes the scaling rows of accuracy/ledger.csv and compares; --update rewrites them, --show prints every answer.

Published throughputs of TensorFlow on many workers are other people's and not shipped: skipped when they are not at hand.
Four figures of the catalogue were fitted, each on the rows that setup() marks; all other rows are test.
"""
import csv
import gzip
import io
import json
import os
import statistics
import subprocess
import sys
import tempfile

import ledger

PACELINE = os.environ["PACELINE"]
SHARED = os.environ.get("PACELINE_SHARED", "")
TABLE = "comm/tf_distributed_scaling.csv"
rows = []

# Servers of the best run, as the report of the Piz Daint and EC2 measurements lists them (Bugliarello 2017, tables 1 to 3).
SERVERS = {"Piz": {2: 1, 4: 3, 8: 2, 16: 4, 32: 12, 64: 40, 128: 116},
           "p2.xlarge": {2: 2, 4: 4, 8: 8, 16: 12, 32: 32, 64: 64, 128: 128},
           "p2.8xlarge": {2: 1, 4: 1, 8: 1, 16: 1, 32: 3, 64: 8, 128: 16}}


def at(path):
    return os.path.join(SHARED, path)


def point(model, machine, workers, approach, batch, rate=None, *how):
    words = [PACELINE, "predict", model, "--on", machine, "--workers", str(workers), "--approach", approach, "--batch", str(batch),
             "--set", "input=synthetic", "--format", "json", *how]
    if model == "inception_v3":
        words += ["--set", "aux=0"]
    done = subprocess.run(words + (["--one-worker", str(rate)] if rate else []), capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{words}: {done.stderr}")
    return json.loads(done.stdout)["points"][0]


def setup(row):
    """Machine, approach, and whether figures were fitted on this row."""
    system, method, model, workers = row["system"], row["method"], row["model"], int(row["gpus"])
    for word, machine, how in (("Piz", "piz-daint", "grpc"), ("p2.xlarge", "aws-p2-1", "grpc"), ("p2.8xlarge", "aws-p2-8", "grpc:local_first=1")):
        if word in system:
            fitted = workers <= 16 if word == "p2.8xlarge" else workers == 64
            return machine, f"{how}:servers={SERVERS[word].get(workers, 1)}", fitted
    if "Uber" in system and "gRPC" in method:
        return "p100x4-25g-tcp", "grpc" + (":on_device=1" if "on GPU" in method else ""), model == "resnet101"
    if "Uber" in system and "Horovod" in method:
        return "p100x4-25g" + ("-tcp" if "TCP" in method else ""), "horovod-nccl" if "NCCL" in method else "horovod-cpu", False
    if "4xM40" in system:
        return "m40*4 pcie=12GB/s net=9.3Gb/s net-kind=tcp", "grpc:local_first=1", False
    return None


def answers():
    with open(at(TABLE)) as file:
        table = [r for r in csv.DictReader(file) if r["data"] == "synthetic"]
    alone = {(r["source"], r["system"], r["model"]): float(r["images_per_sec"]) for r in table if r["gpus"] == "1"}
    out = []
    for r in table:
        found = setup(r)
        if r["gpus"] == "1" or not found:
            continue
        machine, approach, fitted = found
        model = {"inception3": "inception_v3"}.get(r["model"], r["model"])
        p = point(model, machine, r["gpus"], approach, r["batch_per_gpu"], alone[r["source"], r["system"], r["model"]])
        measured = float(r["images_per_sec"])
        step = int(r["gpus"]) * int(r["batch_per_gpu"]) / measured * 1e9
        out.append({"row": r, "machine": machine, "fitted": fitted, "measured": measured, "predicted": p["samples_per_s"],
                    "error": abs(p["samples_per_s"] / measured - 1), "inside": p["low_ns"] <= step <= p["high_ns"]})
    return out


def put(case, metric, n, value, bar, note, split="test", unit="ratio"):
    value = float(f"{value:.4f}")
    low, _, high = bar.partition("..")
    holds = value <= float(bar[2:]) if bar[:2] == "<=" else value >= float(bar[2:]) if bar[:2] == ">=" else float(low) <= value <= float(high)
    source = TABLE if split != "consistency" else "assumed machines"
    rows.append(dict(zip(ledger.FIELDS, [case, source, split, metric, unit, str(n), f"{value:.4f}", bar, "yes" if holds else "no", note])))


def published(found):
    def mape(case, which, note, split="test"):
        errors = [a["error"] for a in found if which(a)]
        put(case, "MAPE", len(errors), statistics.mean(errors), "<=0.15", note, split)

    compute = "one worker's time as measured; servers as the report lists them"
    test = [("piz-daint", "scaling/piz-daint", "server rate fitted on 64 workers"),
            ("aws-p2-1", "scaling/ec2-1-a-node", "network rate fitted on 64 workers"),
            ("aws-p2-8", "scaling/ec2-8-a-node", "local aggregation; jitter of workers fitted on 2 to 16")]
    for machine, case, note in test:
        mape(case, lambda a: a["machine"] == machine and not a["fitted"], f"gRPC servers, Inception-v3, 2 to 128 GPUs; {note}; {compute}")
        mape(case + "-fitted", lambda a: a["machine"] == machine and a["fitted"], note, "train")
    knee = next(a for a in found if a["machine"] == "piz-daint" and a["row"]["gpus"] == "128")
    put("scaling/piz-daint-knee", "abs_error", 1, knee["error"], "<=0.15", "128 workers: 52 % efficient as measured, " + compute)
    hosts = [a for a in found if a["machine"].startswith("p100x4")]
    for model, name in (("inception3", "inception-v3"), ("vgg16", "vgg-16")):
        mape(f"scaling/horovod-hosts-{name}", lambda a: a in hosts and a["row"]["model"] == model,
             "gRPC servers, Horovod over MPI and NCCL, 16 and 64 GPUs; server rate fitted on ResNet-101 alone")
    mape("scaling/horovod-hosts-resnet-101", lambda a: a in hosts and a["row"]["model"] == "resnet101" and not a["fitted"],
         "Horovod over MPI and NCCL, 16 and 64 GPUs: nothing of them was fitted")
    mape("scaling/horovod-hosts-fitted", lambda a: a in hosts and a["fitted"], "gRPC servers, ResNet-101", "train")
    mape("scaling/m40-10gbe", lambda a: a["machine"].startswith("m40"), "ResNet-50, 4 and 8 GPUs; nothing fitted; distributed_replicated taken as servers with local aggregation")
    others = [a for a in found if not a["fitted"]]
    mape("scaling/all", lambda a: a in others, "all test rows; which mechanisms the model has (largest tensor, jitter, fresh memory) was decided with all rows at hand")
    fitted = [a for a in found if a["fitted"]]
    put("scaling/coverage-fitted", "coverage_90", len(fitted), statistics.mean(a["inside"] for a in fitted), "0.85..0.95", "the exchange's spread was fitted on these rows", "train")
    put("scaling/coverage", "coverage_90", len(others), statistics.mean(a["inside"] for a in others), ">=0.85", "measured step within low to high; at most 0.95 is wanted too")


def orders(found):
    """Pairs of one model and number of GPUs on the same kind of hosts, more than 5 % apart as measured."""
    kind = {"piz-daint": "daint", "aws-p2-1": "ec2", "aws-p2-8": "ec2", "p100x4-25g": "hosts", "p100x4-25g-tcp": "hosts"}
    right = []
    for i, a in enumerate(found):
        for b in found[:i]:
            same = all(a["row"][k] == b["row"][k] for k in ("model", "gpus")) and kind.get(a["machine"]) == kind.get(b["machine"])
            if same and abs(a["measured"] - b["measured"]) > 0.05 * min(a["measured"], b["measured"]):
                right.append((a["measured"] > b["measured"]) == (a["predicted"] > b["predicted"]))
    put("scaling/orderings", "share_right", len(right), statistics.mean(right), ">=1", "approaches at 16 and 64 GPUs; EC2 with and without local aggregation")


def claims():
    """What the seeds say, on machines we assume: consistent or not, no reproduction."""
    nodes = "p100-pcie-16*1 net=100Gb/s net-latency=2us"
    ratios = [point(m, nodes, n, "horovod-mpi", 64)["samples_per_s"] / point(m, nodes, n, "grpc", 64)["samples_per_s"]
              for m in ("resnet50", "mobilenet", "nasnet_large") for n in (4, 16, 64)]
    note = "Awan et al. 2019: 1 P100 a node, EDR, batch 64; ResNet-50, MobileNet, NASNet-large; 4, 16, 64 nodes; "
    put("scaling/claim-no-grpc", "share_faster", len(ratios), statistics.mean(r >= 1 for r in ratios), ">=0.5",
        note + "Horovod-MPI against gRPC, one server a node: faster in most configurations; not here at 4 and 16 nodes, where both hide all but the last tensor and Horovod's cycle of 5 ms costs 0.05 to 0.5 % more", "consistency")
    put("scaling/claim-resnet-50-at-64", "efficiency", 1, point("resnet50", nodes, 64, "mpi-opt", 64)["efficiency_share"], "0.85..0.95",
        "about 90 % (recalled); the same nodes; the workers' jitter is TensorFlow's as fitted on EC2", "consistency")
    small = [exchange("nccl-2.3", b) / exchange("textbook", b) for b in (1024, 8192, 65536)]
    put("scaling/claim-small-allreduce", "ratio", 3, statistics.geometric_mean(small), "5..17",
        "NCCL 2.3's rings against host recursive doubling, 16 nodes of one GPU, EDR, 2 us a message, 2 us to launch; 1 to 64 KiB; without the pointer queries of the older MPI", "consistency")
    wins = {}
    for model in ("lenet", "alexnet", "googlenet", "inception_v3", "resnet50"):
        for n in (2, 4, 8):
            p2p, nccl = (point(model, "dgx-1-v100", n, a, 16)["step_ns"] for a in ("p2p", "nccl"))
            wins[model, n] = p2p <= nccl, nccl <= p2p
    put("scaling/claim-dgx-1-p2p-small-nets", "share_p2p_faster", 3, statistics.mean(wins["lenet", n][0] for n in (2, 4, 8)), ">=1",
        "Mojumder et al. 2018 (recalled): LeNet, P2P no slower than NCCL on 2, 4, 8 GPUs; steps, batch 16; not on 8, where copies are staged between sockets", "consistency")
    deep = [wins[m, 8][1] for m in ("googlenet", "inception_v3", "resnet50")]
    put("scaling/claim-dgx-1-nccl-deep-nets", "share_nccl_faster", 3, statistics.mean(deep), ">=1",
        "NCCL no slower for the deep nets on 8 GPUs; not with GoogLeNet and Inception-v3 here: its last group of 16 tensors is ready with the last of them, and 0.7 ms of it stay exposed", "consistency")
    put("scaling/claim-dgx-1-alexnet", "share_p2p_faster", 3, statistics.mean(wins["alexnet", n][0] for n in (2, 4, 8)), ">=1",
        "AlexNet, P2P no slower on 2, 4, 8 GPUs: not here at 4 and 8: most of its bytes are one tensor, which one device's thread sends to each other in turn", "consistency")


def eight_parameters():
    """Lin et al.'s curve of the digitised collectives of four V100: fitted on all sizes, as the authors did."""
    source = "dlrm/collectives_4xV100_dgx1_digitized.csv"
    done = subprocess.run([PACELINE, "fit", "--kind", "exchange", at(source), "--on", "v100-sxm2-16*4 nvlink=100GB/s", "--format", "json"],
                          capture_output=True, text=True, check=True)
    errors = [c["mape"] for c in json.loads(done.stdout)["saturating_curves"]]
    put("exchange/dlrm-4xV100-eight-parameters", "mean_mape", len(errors), statistics.mean(errors), "<=0.05",
        "latency column, digitised to 3 %; the authors' curve of eight parameters fitted on all sizes of each collective", "train")
    rows[-1]["source"] = source


# Tables of clusters: what joins the devices is not in them and is assumed.
CLUSTERS = {
    "gavel": {"file": "llm/gavel_throughput.csv", "on": "v100*8 pcie=12GB/s net=10Gb/s net-kind=tcp", "model": "model", "workers": "n_gpu",
              "measured": "steps_per_s", "few": 2, "each": 1, "settings": {}, "models": {"ResNet-18": "resnet18_cifar", "ResNet-50": "resnet50"},
              "note": "K80, P100 and V100, 1 to 8 GPUs packed and spread; 8 a node with PCIe and 10 Gb/s of TCP assumed; ResNet-18 is CIFAR's"},
    "pollux": {"file": "llm/pollux_t4_cluster_step_times.csv.gz", "on": "t4*4 pcie=12GB/s net=50Gb/s net-kind=tcp", "model": "app", "workers": "n_gpu",
               "measured": "step_time_s", "few": 8, "each": 5, "settings": {"bert": "seq=384"},
               "models": {"bert": "bert_base", "cifar10": "resnet18_cifar", "imagenet": "resnet50"},
               "note": "T4, 1 to 64 on 1 to 16 nodes, every fifth row; nodes that are filled unevenly taken to be as full as the fullest; single precision assumed"},
}


def cluster_rows(c):
    """Measured rows of models that the catalogue has, under its names."""
    opened = gzip.open(at(c["file"]), "rt") if c["file"].endswith(".gz") else open(at(c["file"]))
    with opened as file:
        table = [r for r in csv.DictReader(file) if r[c["model"]] in c["models"] and float(r[c["measured"]]) > 0]
    return [dict(r, settings=c["settings"].get(r[c["model"]], ""), **{c["model"]: c["models"][r[c["model"]]]}) for r in table][::c["each"]]


def written(folder, name, some):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        writer = csv.DictWriter(file, some[0])
        writer.writeheader()
        writer.writerows(some)
    return path


def ask_rows(words):
    done = subprocess.run([PACELINE, *words], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{words}: {done.stderr}")
    return list(csv.DictReader(io.StringIO(done.stdout)))


def held_out(c, folder, seen, unseen, split="model"):
    """Rows answered by formula, and by a fit of others; [(formula's error, fit's error, formula holds it, fit holds it)]."""
    fit, on = os.path.join(folder, "fit"), ("--kind", "scaling", "--on", c["on"], "--quiet")
    ask_rows(["fit", written(folder, "seen.csv", seen), *on, "--split", split, "--output", fit, "--format", "csv"])
    asked = ["predict", "--rows", written(folder, "unseen.csv", unseen), *on, "--format", "csv"]
    out = []
    for plain, fitted in zip(ask_rows(asked), ask_rows([*asked, "--fit", fit])):
        if plain["status"] != "ok":
            continue
        measured = float(plain[c["measured"]])
        ratios = [float(a["predicted"]) / measured for a in (plain, fitted)]  # of times; of rates the other way round
        out.append([abs((r if plain["unit"] == "s" else 1 / r) - 1) for r in ratios] +
                   [float(a["low"]) <= measured <= float(a["high"]) for a in (plain, fitted)])
    return out


def put_cluster(case, c, found, note):
    for k, how, bar in ((0, "formula", "<=0.3"), (1, "fitted", "<=0.2")):
        for metric, value, limit in (("MAPE", statistics.mean(f[k] for f in found), bar), ("coverage_90", statistics.mean(f[k + 2] for f in found), ">=0.85")):
            put(f"{case}-{how}", metric, len(found), value, limit, f"of a step's time; {note}; {c['note']}; bars of our own; which factors a fit may have was decided with these tables at hand")
            rows[-1]["source"] = c["file"]


def clusters():
    for name, c in CLUSTERS.items():
        table = cluster_rows(c)
        with tempfile.TemporaryDirectory() as folder:
            models = sorted({r[c["model"]] for r in table})
            apart = [held_out(c, folder, [r for r in table if r[c["model"]] != m], [r for r in table if r[c["model"]] == m], "model" if len(models) > 2 else "device") for m in models]
            put_cluster(f"scaling/{name}-models", c, sum(apart, []), "each model answered by a fit of the others")
            few = [r for r in table if int(r[c["workers"]]) <= c["few"]]
            more = [r for r in table if int(r[c["workers"]]) > c["few"]]
            put_cluster(f"scaling/{name}-more-workers", c, held_out(c, folder, few, more, "row"), f"more than {c['few']} GPUs by a fit of those up to it")


def exchange(library, size):
    words = ["predict", "--kind", "exchange", "--on", "p100-pcie-16*1 nodes=16 net=100Gb/s net-latency=2us launch=2us", "--bytes", str(size), "--library", library]
    done = subprocess.run([PACELINE, *words, "--format", "json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["sizes"][0]["time_us"]


def main():
    if not os.path.exists(at(TABLE)):
        print("skipped: the reference data are not at hand")
        return 77
    found = answers()
    published(found)
    orders(found)
    claims()
    eight_parameters()
    clusters()
    if "--show" in sys.argv:
        for a in found:
            print(f'{a["machine"]:15.15} {a["row"]["method"]:32.32} {a["row"]["model"]:10} {a["row"]["gpus"]:>4} '
                  f'{a["measured"]:9.1f} {a["predicted"]:9.1f} {a["predicted"] / a["measured"] - 1:+6.1%} {"train" if a["fitted"] else "test"}')
        for r in rows:
            print(r["case"], r["metric"], r["n"], r["value"], r["bar"], r["holds"])
    return ledger.settle(rows)


sys.exit(main())
