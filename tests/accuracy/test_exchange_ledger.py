"""Recomputes the two rows of accuracy/ledger.csv about bus bandwidths of Galvatron's groups, averages over sizes that no table
of questions asks for; --update rewrites them. All other rows about exchanges are cases of `paceline validate`.

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


def fit_of(name, lines):
    path = os.path.join(FOLDER, name + ".json")
    run("fit", "--kind", "exchange", put(name + ".csv", lines), "-o", path)
    return path


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


def main():
    if not os.path.isdir(os.path.join(SHARED, "comm")):
        print("skipped: the reference data are not at hand")
        return 77
    galvatron()
    return ledger.settle(rows)


sys.exit(main())
