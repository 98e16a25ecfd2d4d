"""Recomputes the exchange rows of accuracy/ledger.csv from published measurements and compares; --update rewrites them.

The measurements are other people's and not shipped: skipped when they are not at hand.
"""
import csv
import gzip
import io
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

import ledger

PACELINE = os.environ["PACELINE"]
SHARED = os.environ.get("PACELINE_SHARED", "")
FOLDER = tempfile.mkdtemp(prefix="paceline-exchange-ledger-")
NCCL = "comm/aiconfigurator_nccl.csv"
LOGS = "comm/nccl_tests_logs.csv"
EFA = "kernels/aws_nccl_allreduce_2node_p4de.csv"
VTRAIN = "kernels/vtrain_allreduce_A100_2to8.csv.gz"
DEEPBENCH = "kernels/deepbench_allreduce.csv.gz"
DLRM = "dlrm/collectives_4xV100_dgx1_digitized.csv"
rows = []


def at(path):
    return os.path.join(SHARED, path)


def run(*words):
    done = subprocess.run([PACELINE, *words], capture_output=True)
    if done.returncode:
        raise SystemExit(f"{words}: {done.stderr.decode()}")
    return done.stdout.decode()


def table(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(at(path), "rt") as file:
        return list(csv.DictReader(file))


def put(name, lines):
    path = os.path.join(FOLDER, name)
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, lines[0].keys())
        writer.writeheader()
        writer.writerows(lines)
    return path


def row(case, source, metric, n, value, bar, note="", split="test"):
    value = float(f"{value:.4f}")
    holds = value <= float(bar[2:]) if bar[:2] == "<=" else value >= float(bar[2:])
    rows.append(dict(zip(ledger.FIELDS, [case, source, split, metric, "share", str(n), f"{value:.4f}", bar, "yes" if holds else "no", note])))


def curves(paths, probes, *how):
    out = json.loads(run("fit", "--kind", "exchange", *map(at, paths), "--probes", str(probes), *how, "--format", "json"))
    return [c for c in out["curves"] if c["held_out"]]


def decile(values):
    return sorted(values)[min(len(values) - 1, int(0.9 * len(values)))]


def answers(questions, fit=None, *how):
    """Rows with their answers; every one must be answered."""
    words = ["predict", "--kind", "exchange", "--rows", put("ask.csv", questions), "--format", "csv", *how]
    out = list(csv.DictReader(io.StringIO(run(*words, *(["--fit", fit] if fit else [])))))
    for a in out:
        if a["status"] != "ok":
            raise SystemExit(a)
    return out


def measured(a):
    return float(a["time_us"] if "time_us" in a else a["latency_us"])


def errors(questions, fit=None, *how):
    return [abs(float(a["predicted"]) / measured(a) - 1) for a in answers(questions, fit, *how)]


def pool(case, source, found, bar, note, split="test"):
    """Error and coverage of a pool of at least 100 rows."""
    e = [abs(float(a["predicted"]) / measured(a) - 1) for a in found]
    inside = sum(float(a["low"]) <= measured(a) <= float(a["high"]) for a in found)
    row(case, source, "mape", len(e), statistics.mean(e), bar, note, split)
    row(case, source, "coverage", len(e), inside / len(e), ">=0.85", "measured within the 90 % interval", split)


def fit_of(name, lines):
    path = os.path.join(FOLDER, name + ".json")
    run("fit", "--kind", "exchange", put(name + ".csv", lines), "-o", path)
    return path


def sizes():
    note = "curves of all systems but the A100 table, on whose curves form and probe sizes were chosen; mean error per curve on sizes held out"
    for probes, bars in ((6, ("<=0.065", "<=0.11")), (10, ("<=0.045", None))):
        found = curves([NCCL, LOGS, EFA], probes)
        test = [c["mape"] for c in found if c["system"] != "a100_sxm"]
        row(f"exchange/curves-{probes}-sizes", f"{NCCL}, {LOGS}, {EFA}", "median_mape", len(test), statistics.median(test), bars[0], note)
        if bars[1]:
            row(f"exchange/curves-{probes}-sizes", f"{NCCL}, {LOGS}, {EFA}", "p90_mape", len(test), decile(test), bars[1], note)
            held = sum(c["held_out"] for c in found if c["system"] != "a100_sxm")
            inside = sum(c["held_out"] * c["coverage"] for c in found if c["system"] != "a100_sxm")
            row(f"exchange/curves-{probes}-sizes", f"{NCCL}, {LOGS}, {EFA}", "coverage", held, inside / held, ">=0.85", "measured within the 90 % interval")
            train = [c["mape"] for c in found if c["system"] == "a100_sxm"]
            row(f"exchange/curves-{probes}-sizes-a100", NCCL, "median_mape", len(train), statistics.median(train), bars[0],
                "the curves on which form and probe sizes were chosen", "train")
    found = [c["mape"] for c in curves([VTRAIN], 6)]
    row("exchange/vtrain-6-sizes", VTRAIN, "max_mape", len(found), max(found), "<=0.015", "2 to 8 GPUs, 1 MiB to 1 GiB in steps of 1 MiB: the worst of seven curves")
    found = [c["mape"] for c in curves([DLRM], 6, "--on", "v100-sxm2-16*4 nvlink=100GB/s")]
    row("exchange/dlrm-4xV100", DLRM, "mean_mape", len(found), statistics.mean(found), "<=0.05",
        "linear between 6 sizes, five collectives; not the authors' curve of eight parameters")


def ranks():
    data = table(NCCL)
    fit = fit_of("ends", [r for r in data if r["gpus"] in ("2", "8")])
    for collective, bar in (("all_reduce", "<=0.04"), ("all_gather", "<=0.04"), ("reduce_scatter", "<=0.04"), ("alltoall", "<=0.08")):
        e = errors([r for r in data if r["gpus"] == "4" and r["collective"] == collective and float(r["bytes"]) >= 1024], fit)
        row(f"exchange/4-gpus-from-2-and-8-{collective}", NCCL, "mape", len(e), statistics.mean(e), bar, "A100 and H100; 1 KiB to 512 MiB")
        row(f"exchange/4-gpus-from-2-and-8-{collective}", NCCL, "median_error", len(e), statistics.median(e), bar, "A100 and H100; 1 KiB to 512 MiB")
    asked = [r for r in data if float(r["bytes"]) >= 1024]
    fit = fit_of("ends", [r for r in data if r["gpus"] in ("2", "8")])
    found = answers([r for r in asked if r["gpus"] == "4"], fit)
    pool("exchange/4-gpus-from-2-and-8", NCCL, found, "<=0.06", "A100 and H100, four collectives; the bar is our own")
    for have, want, bar in (("24", "8", "<=0.12"), ("48", "2", "<=0.12"), ("8", "4", "<=0.12"), ("2", "8", "<=0.3")):
        fit = fit_of("some", [r for r in data if r["gpus"] in have])
        found = answers([r for r in asked if r["gpus"] == want], fit)
        pool(f"exchange/{want}-gpus-from-{'-and-'.join(have)}", NCCL, found, bar,
             "beyond the ranks that were measured; A100 and H100, four collectives; the bar is our own")
    fit = fit_of("allreduce", [r for r in data if r["collective"] == "all_reduce"])
    for collective in ("reduce_scatter", "all_gather"):
        e = errors([r for r in data if r["collective"] == collective and float(r["bytes"]) >= 1024], fit)
        row(f"exchange/{collective}-from-all_reduce", NCCL, "mape", len(e), statistics.mean(e), "<=0.15", "A100 and H100, 2, 4 and 8 GPUs")
    names = ("all_reduce", "all_gather", "reduce_scatter", "alltoall")
    found = []
    for known in names:
        fit = fit_of("known", [r for r in data if r["collective"] == known])
        found += answers([r for r in asked if r["collective"] != known], fit)
    pool("exchange/other-collectives", NCCL, found, "<=0.15", "each of four collectives from each other; A100 and H100; the bar is our own")
    logs = [r for r in table(LOGS) if r["source"] in ("superbench-a100-8", "dgx2-v100-12")]
    fit = fit_of("logs", [r for r in logs if r["collective"] == "all_reduce"])
    found = answers([r for r in logs if r["collective"] not in ("all_reduce", "alltoall")], fit)
    pool("exchange/other-collectives-one-process", LOGS, found, "<=0.15",
         "from all_reduce, one process for all devices: broadcast, reduce, all_gather, reduce_scatter; that small ones wait for the host was seen here; the bar is our own", "validation")
    found = answers([r for r in logs if r["collective"] == "alltoall"], fit)
    row("exchange/alltoall-one-process", LOGS, "mape", len(found), statistics.mean(abs(float(a["predicted"]) / measured(a) - 1) for a in found), "<=0.15",
        "from all_reduce: one process starts a send for every pair; what a send costs was fitted on this all-to-all", "validation")


# Sizes of Galvatron's bandwidths: its scripts/profile_hardware.sh runs nccl-tests from 16 to 256 MB, doubling, and
# keeps "Avg bus bandwidth" of the first group. Keys: allreduce_size_RANKS_consec_(1 = neighbours, 0 = as far apart as
# the ranks allow).
AVERAGED = [1 << 20 << i for i in range(4, 9)]


def bus_bandwidth(fit, ranks, nodes, *how):
    asked = [{"system": "a100", "collective": "allreduce", "gpus": ranks, "nodes": nodes, "bytes": b, "time_us": 1} for b in AVERAGED]
    found = answers(asked, fit, *how)
    return statistics.mean(int(a["bytes"]) * 2 * (ranks - 1) / ranks / float(a["predicted"]) / 1e3 for a in found)


def galvatron():
    source = "comm/galvatron_a100.csv"
    lines = table(source)
    data = [{"system": "a100", "collective": r["key"], "gpus": r["group_size"], "bytes": r["bytes"], "time_us": r["time_us"]}
            for r in lines if r["table"].startswith("sp_time")]
    fit = fit_of("galvatron", [r for r in data if r["gpus"] != "4"])
    for collective, bar in (("allreduce", "<=0.1"), ("all2all", "<=0.1")):
        e = errors([r for r in data if r["gpus"] == "4" and r["collective"] == collective], fit, "--on", "dgx-a100")
        row(f"exchange/galvatron-4-from-2-and-8-{collective}", source, "mape", len(e), statistics.mean(e), bar,
            "groups inside a node, 1 MiB to 1 GiB" + ("; at 1 MiB four ranks measured 52 us, two 71 and eight 112" if collective == "all2all" else ""))
    fit = fit_of("galvatron", data)
    near, far = [], []
    pairs = statistics.mean(float(r["value_GBs_or_ratio"]) for r in lines if r["table"] == "p2p_bandwidth_2nodes_8gpus_per_node")
    wide = f"a100-40-sxm*8 nvlink=300GB/s nodes=2 nics=8 net={pairs:.3f}GB/s"
    for r in lines:
        if not r["table"].startswith("allreduce_bandwidth"):
            continue
        nodes = 2 if "2nodes" in r["table"] else 1
        ranks, neighbours = int(r["key"].split("_")[2]), r["key"].endswith("1")
        across = nodes == 2 and (not neighbours or ranks == 16)
        told = bus_bandwidth(fit, ranks, 2 if across else 1, "--on", wide if across else "dgx-a100")
        (far if across else near).append(abs(told / float(r["value_GBs_or_ratio"]) - 1))
    note = "bus bandwidth averaged over 16 to 256 MiB, as the profiler's published script has it"
    row("exchange/galvatron-groups-in-a-node", source, "mape", len(near), statistics.mean(near), "<=0.1", note + "; neighbours and strided groups, from times of groups of 2, 4 and 8")
    row("exchange/galvatron-groups-across", source, "mape", len(far), statistics.mean(far), "<=0.25",
        note + "; strided groups and all 16 ranks of two nodes, from the file's times in a node and its bandwidth of pairs across, one path a device")


def uncalibrated():
    data = [r for r in table(NCCL) if r["collective"] == "all_reduce" and r["dtype"] == "half" and float(r["bytes"]) >= 1024]
    for system, machine, bars in (("a100_sxm", "dgx-a100", {8: 0.215, 4: 0.235, 2: 0.315}), ("h100_sxm", "dgx-h100", {4: 0.065, 2: 0.165})):
        for gpus, bar in bars.items():
            e = errors([r for r in data if r["system"] == system and r["gpus"] == str(gpus)], None, "--on", machine)
            row(f"exchange/nccl-model-{machine}-{gpus}", NCCL, "mape", len(e), statistics.mean(e), f"<={bar}",
                "what NCCL reaches, nothing calibrated; 1 KiB to 512 MiB; bar: an earlier evaluation of its own model, in whole percents; the constants of all machines were fitted with these curves", "train")
    asked = [r for r in table(NCCL) if float(r["bytes"]) >= 1024]
    for system, bar in (("a100_sxm", "<=0.35"), ("h100_sxm", "<=0.2")):
        pool(f"exchange/nccl-model-{system}", NCCL, answers([r for r in asked if r["system"] == system]), bar,
             "nothing calibrated, the machine found by the name of the system; four collectives; the constants were fitted with these curves; the bar is our own", "train")
    names = {"galvatron-a100-8", "mleng-a100-8", "h100-8-single", "oci-a100-16", "p3dn-v100-16"}
    pool("exchange/nccl-model-logs", LOGS, answers([r for r in table(LOGS) if r["source"] in names]), "<=0.3",
         "nothing calibrated, the machine found by the name of the system; A100, H100 and V100, one and two nodes; hosts of older libraries and several nodes were fitted with two of the five; the bar is our own", "validation")
    strangers()


# Tables that had no part in any constant of what NCCL reaches; what a row says of its machine is all that is known.
def strangers():
    logs, boundary = table(LOGS), 16 << 20
    said = lambda r, **more: {"system": r["system"], "collective": r["collective"], "nodes": r["nodes"], "gpus": r["gpus"],
                              "bytes": r["bytes"], "library": r["library"], "time_us": r["time_us"], **more}
    tables = (
        ("dgx-2-one-process", LOGS, [said(r) for r in logs if r["source"] == "dgx2-v100-12"], ["--on", "dgx-2"], "<=0.2"),
        ("tcp", LOGS, [said(r) for r in logs if r["source"] == "v100-2-tcp"], ["--on", "ethernet-10g*2"], "<=0.2"),
        ("p4de", EFA, [{"system": "p4de.24xlarge", "collective": "all_reduce", "nodes": 2, "gpus": 16, "bytes": r["bytes"],
                        "time_us": r["out_of_place_us"]} for r in table(EFA)], [], "<=0.2"),
        ("deepbench-p100", DEEPBENCH, [{"system": "NV_P100", "collective": "all_reduce", "gpus": r["ranks"], "bytes": 4 * int(r["floats"]),
                                        "library": r["library"], "time_us": r["time_us"]}
                                       for r in table(DEEPBENCH) if r["device"] == "NV_P100" and not r["extra"]], [], "<=0.2"),
        ("galvatron", "comm/galvatron_a100.csv", [{"system": "a100", "collective": r["key"], "gpus": r["group_size"], "bytes": r["bytes"],
                                                   "time_us": r["time_us"]} for r in table("comm/galvatron_a100.csv")
                                                  if r["table"].startswith("sp_time")], ["--on", "dgx-a100"], "<=0.2"),
        ("dlrm-4xV100", DLRM, [{"system": "v100", "collective": r["collective"], "gpus": 4, "bytes": r["bytes_per_rank"],
                                "time_us": r["latency_us"]} for r in table(DLRM)], ["--on", "dgx-1-v100"], "<=0.2"),
    )
    for name, source, asked, how, bar in tables:
        note = "nothing calibrated, no part in any constant; the bar is our own"
        if name == "p4de":
            note += "; that trees over two nodes have twice the NICs was seen here"
        pool(f"exchange/uncalibrated-{name}", source, answers(asked, None, *how), bar, note)
        large = [r for r in asked if float(r["bytes"]) >= boundary]
        pool(f"exchange/uncalibrated-{name}-large", source, answers(large, None, *how), "<=0.15", note + "; from 16 MiB on")


# A user's few sizes of every curve of the logs, and what they tell of the other sizes.
def few():
    machines = {"superbench-a100-8": "dgx-a100", "mleng-a100-8": "dgx-a100", "dgx2-v100-12": "dgx-2", "galvatron-a100-8": "dgx-a100"}
    logs = [r for r in table(LOGS) if r["source"] in machines and r["inplace"] == "0" and float(r["bytes"]) >= 1024]
    groups = {}
    for r in logs:
        groups.setdefault((r["source"], r["collective"]), []).append(r)
    sets = (("1-sizes", [1 << 20]), ("2-sizes", [1 << 16, 1 << 24]), ("3-sizes", [1 << 15, 1 << 20, 1 << 26]),
            ("2-small-sizes", [1 << 12, 1 << 15]), ("2-large-sizes", [1 << 25, 1 << 28]))
    for name, probes in sets:
        found, without = [], []
        for (source, _), lines in groups.items():
            near = [min(lines, key=lambda r: (abs(math.log(float(r["bytes"]) / b)), float(r["bytes"]))) for b in probes]
            lines = [{**r, "source": ""} for r in lines if r not in near]
            found += answers(lines, fit_of("few", [{**r, "source": ""} for r in near]), "--on", machines[source])
            without += errors(lines, None, "--on", machines[source])
        pool(f"exchange/logs-from-{name}", LOGS, found, "<=0.2",
             "four systems in a node, seven collectives; what sizes tell of others was set with these curves and ten tables more; "
             f"the same sizes with nothing calibrated: {statistics.mean(without):.3f}; the bar is our own", "validation")


def main():
    if not os.path.isdir(os.path.join(SHARED, "comm")):
        print("skipped: the reference data are not at hand")
        return 77
    sizes()
    ranks()
    galvatron()
    uncalibrated()
    few()
    if "--show" in sys.argv:
        for r in rows:
            print(r["case"], r["metric"], r["n"], r["value"], r["bar"], r["holds"])
    return ledger.settle(rows)


sys.exit(main())
