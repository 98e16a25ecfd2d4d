"""Exchanges from outside: `predict --kind exchange`, and logs made here through `fit --kind exchange` and back."""
import csv
import io
import json
import math
import os
import random
import sys
import tempfile

import strict_schema
from checks import SOURCE, expect, finish, json_of, run, says_no
from exchange_logs import FOLDER, SIZES, fits_and_answers, law, nccl_text, put

def osu(ranks):
    return "\n# OSU MPI Allreduce Latency Test v7.0\n# Size       Avg Latency(us)\n" + "".join(
        f"{size:<10} {law(ranks, size):12.2f}\n" for size in SIZES)


def deepspeed(ranks, raw):
    """As its benchmarks/communication prints: of an all-gather the size of one rank, with or without units."""
    lines = []
    for collective, parts in (("all_gather", ranks), ("all_reduce", 1)):
        lines.append(f"\n---- Performance of {collective} on {ranks} devices ---------------------------------------------------------")
        lines.append(f"{'Size (Bytes)':20s} {'Description':25s} {'Duration':20s} {'Throughput (Gbps)':20s} {'BusBW (Gbps)':20s}")
        lines.append("-" * 100)
        for size in SIZES[1:]:
            own, t = size // parts, law(ranks, size)
            took = f"{t:.3f}" if raw else f"{t:.3f} us" if t < 1e3 else f"{t / 1e3:.3f} ms"
            shown = own if raw else f"{own / 1024:.1f} KB"
            lines.append(f"{shown:<20} {f'{own // 2}x2':25s} {took:20s} {f'{8e-3 * size / t:.3f}':20s} {'1.000':20s}")
    return "\n".join(lines) + "\n"


def nccl_json(ranks, listed=None):
    """As nccl-tests write with -J; a process of several devices lists its first alone."""
    rate = lambda s: {"alg_bw": s / law(ranks, s) / 1e3, "bus_bw": s / law(ranks, s) / 1e3 * 2 * (ranks - 1) / ranks, "nwrong": 0.0}
    return json.dumps({"nccl_version": 22807, "config": {"nthreads": 1, "ngpus": ranks // (listed or ranks), "devices": [
        {"rank": i * (ranks // (listed or ranks)), "hostname": "a", "device": i, "device_info": "a device"} for i in range(listed or ranks)]}, "results": [
        {"size": s, "count": s // 4, "type": "float", "out_of_place": {"time": law(ranks, s), **rate(s)},
         "in_place": {"time": 1.0, "alg_bw": 1, "bus_bw": 1}} for s in SIZES]})


def test_page():
    """The page draws time and bus bandwidth, every measured size as a dot, and a line where the library changes its way, which is where predict says."""
    logs = put("page.log", nccl_text(8))
    fit = os.path.join(FOLDER, "page.json")
    expect(run("fit", "--kind", "exchange", logs, "--on", "dgx-h100", "--collective", "allreduce", "-o", fit)[0] == 0, "fit")
    words = ["predict", "--kind", "exchange", "--on", "dgx-h100", "--bytes", "64K..64M"]
    document = json.loads(run(*words, "-f", "json")[1])
    changes = document["changes"]
    expect([c["from_bytes"] for c in changes[:1]] == [65536] and len(changes) > 1, changes)
    for before, here in zip(changes, changes[1:]):
        for size, way in ((here["from_bytes"] - 1, before), (here["from_bytes"], here)):
            row, = json.loads(run("predict", "--kind", "exchange", "--on", "dgx-h100", "--bytes", str(size), "-f", "json")[1])["sizes"]
            expect((row["algorithm"], row["protocol"]) == (way["algorithm"], way["protocol"]), size, row, way)
    for more, dots in (([], 0), (["--fit", fit], 11)):
        page = run(*words, *more, "-f", "html")[1]
        charts = page.split('<svg class="chart"')[1:]
        expect(len(charts) == 2, len(charts), more)
        expect(page.index('<svg class="chart"') < page.index("<table"), "the page leads with its curves", more)
        for chart in charts:
            chart = chart.split("</svg>")[0]
            expect(chart.count("<polyline") == 3 and chart.count("<circle") == dots and chart.count('class="band"') == len(changes) - 1, more, chart[:300])
    expect(run("predict", "--kind", "exchange", "--on", "dgx-h100", "--bytes", "1M", "-f", "html")[1].count('<svg class="chart"') == 0, "one size is no curve")


def table(ranks, sizes, system="lab", nodes=1):
    return "system,collective,nodes,gpus,bytes,time_us,note\n" + "".join(
        f"{system},all_reduce,{nodes},{ranks},{s},{law(ranks, s):.4f},kept\n" for s in sizes)




fits_and_answers(put("all_reduce_8.log", nccl_text(8)))
for listed in (None, 1, 2):
    fits_and_answers(put("all_reduce_8.json", nccl_json(8, listed)))
fits_and_answers(put("osu.txt", osu(8)), "--on", "dgx-a100")
for raw in (False, True):
    fits_and_answers(put("deepspeed.txt", deepspeed(8, raw)), "--on", "dgx-a100")
    code, out, err = run("fit", "--kind", "exchange", put("deepspeed.txt", deepspeed(8, raw)), "--format", "json")
    expect([(c["collective"], c["ranks"], c["sizes"]) for c in json.loads(out)["curves"]] ==
           [("allreduce", 8, len(SIZES) - 1), ("allgather", 8, len(SIZES) - 1)], out)
code, out, err = run("fit", "--kind", "exchange", put("messages.txt", osu(8).replace("MPI Allreduce Latency", "MPI-CUDA Latency")), "--format", "json")
expect(code == 0 and [(c["collective"], c["ranks"]) for c in json.loads(out)["curves"]] == [("sendrecv", 2)], out, err)
code, out, err = run("fit", "--kind", "exchange", put("rates.txt", osu(8).replace("Allreduce Latency", "Bandwidth")), "--on", "dgx-a100", "--collective", "sendrecv")
expect(code and "many messages under way" in err, out, err)

# Two logs, another number of ranks; columns come back.
fit = os.path.join(FOLDER, "ranks.json")
code, out, err = run("fit", "--kind", "exchange", put("two.csv", table(2, SIZES)), put("eight.csv", table(8, SIZES)),
                     "-o", fit)
expect(code == 0 and "Fitted 2 curves" in out, out, err)
code, out, err = run("predict", "--rows", put("four.csv", table(4, SIZES)), "--kind", "exchange", "--fit", fit)
rows = list(csv.DictReader(io.StringIO(out)))
expect(code == 0 and len(rows) == len(SIZES), err)
for row in rows:
    expect(row["status"] == "ok" and row["unit"] == "us" and row["note"] == "kept", row)
    expect(abs(float(row["predicted"]) / float(row["time_us"]) - 1) < 0.05, row)
    expect(float(row["low"]) < float(row["predicted"]) < float(row["high"]), row)
code, out, err = run("predict", "--rows", put("other.csv", table(4, SIZES, "elsewhere")), "--kind", "exchange", "--fit", fit)
expect(code == 1 and all("nothing like it" in r["status"] for r in csv.DictReader(io.StringIO(out))), out[:300])

# Cells that change nothing in an answer are named in its status; cells that agree with the others say nothing.
idle = put("idle.csv", """system,device,collective,nodes,gpus,gpus_per_node,bytes,elements,channels,inplace
dgx-h100,a100,allreduce,1,8,4,1048576,5,8,1
dgx-h100,H100 SXM,allreduce,1,8,8,1048576,262144,,0
""")
code, out, err = run("predict", "--kind", "exchange", "--rows", idle)
said = [row["status"] for row in csv.DictReader(io.StringIO(out))]
expect(said == ["ok; no effect: device, elements, gpus_per_node, inplace, channels", "ok"], said, err)
others = put("others.csv", """system,collective,nodes,gpus,bytes,backend,channels
dgx-h100,allreduce,1,8,1048576,fancy,
dgx-h100,allreduce,1,8,1048576,NCCL 2.18.3,auto
dgx-h100,allreduce,1,8,1 MiB,,
dgx-h100,allreduce,1,8,1048576,,many
dgx-h100,allreduce,1,8,1048576,gloo,
dgx-h100,allreduce,1,8,1048576,Open MPI 4.1,
""")
said = [row["status"] for row in csv.DictReader(io.StringIO(run("predict", "--kind", "exchange", "--rows", others)[1]))]
refused = [f"library {library}: closed forms are of nccl, rccl and textbook: expected --fit with curves of it" for library in ("gloo", "openmpi")]
expect(said == ["ok; no effect: backend fancy", "ok", "ok", 'channels: expected a whole number from 1, found "many"', *refused], said)
document = json.loads(run("predict", "--kind", "exchange", "--rows", others, "-f", "json")[1])
expect([w["text"].split(":")[0] for w in document["warnings"] if w["code"] == "cell_idle"] == ["1 of 6 rows (1) have cells without effect"], document["warnings"])
expect(run("predict", "--kind", "exchange", "--rows", idle, "--strict")[0] == 3, "a cell without effect is a doubt")

# Ways by name: a row is answered as the options are, or both are refused with the same words.
ways = [(system, nodes, collective, algorithm, protocol, library) for system, nodes in (("dgx-h100", 1), ("dgx-a100*2", 2)) for collective in ("allreduce", "alltoall")
        for algorithm, protocol, library in (("ring", "", ""), ("Tree", "LL", ""), ("nvls", "", ""), ("", "ll128", "nccl-2.7"), ("rabenseifner", "", "textbook"), ("rabenseifner", "", ""),
                                             ("ring", "ll", "textbook"), ("", "", "rccl"), ("bogus", "", ""), ("", "bogus", ""), ("ring", "simple", "nccl"))]
rows = csv.DictReader(io.StringIO(run("predict", "--kind", "exchange", "--rows", put("ways.csv", "system,collective,nodes,gpus,bytes,algorithm,protocol,library\n" + "".join(
    f"{system},{collective},{nodes},{8 * nodes},1048576,{algorithm},{protocol},{library}\n" for system, nodes, collective, algorithm, protocol, library in ways)), "-f", "csv", "-q")[1]))
for (system, _, collective, *chosen), row in zip(ways, rows, strict=True):
    words = [word for option, value in zip(("--algorithm", "--protocol", "--library"), chosen) if value for word in (option, value)]
    code, out, err = run("predict", "--kind", "exchange", "--on", system, "--collective", collective, "--bytes", "1M", "-f", "json", "-q", *words)
    if code:
        expect(row["predicted"] == "" and row["status"] in err, system, words, row, err)
    else:
        expect(abs(float(row["predicted"]) * 1e6 / json.loads(out)["sizes"][0]["time_us"] - 1) < 1e-9 and row["status"] == "ok", system, words, row, out[:200])
counted = put("counted.csv", "system,collective,gpus,count\ndgx-h100,allreduce,8,1000\n")
said = next(csv.DictReader(io.StringIO(run("predict", "--kind", "exchange", "--rows", counted)[1])))["status"]
expect("assumed 4 bytes an element" in said, said)

# Words of an option count whatever their case, as NCCL's variables and papers write them.
for words in (("--algorithm", "Ring", "--protocol", "LL128"), ("--library", "NCCL-2.18"), ("--library", "TextBook", "--algorithm", "RING")):
    ask = ("predict", "--kind", "exchange", "--on", "dgx-h100*2", "--bytes", "1M", "-f", "csv", "-q")
    expect(run(*ask, *words) == run(*ask, *(word.lower() for word in words)) and run(*ask, *words)[0] == 0, words)
code, _, err = run(*ask, "--library", "nccl-2.7")
expect(code != 0 and "does not know the devices of dgx-h100: expected 2.15 or newer" in err.replace("*2", ""), "a version older than the device", err)


# Columns by other names, units, separators and spellings: each table fits and answers itself, in its own unit.
def self_answer(name, text, unit, scale, *how):
    path = put(name, text)
    fit = os.path.join(FOLDER, name + ".json")
    code, out, err = run("fit", "--kind", "exchange", path, "-o", fit, *how)
    expect(code == 0 and all("not read" in line for line in err.splitlines()), name, err)
    code, out, err = run("predict", "--kind", "exchange", "--rows", path, "--fit", fit, *how)
    rows = list(csv.DictReader(io.StringIO(out)))
    expect(code == 0 and len(rows) == len(SIZES), name, err)
    for row, size in zip(rows, SIZES):
        expect(row["status"] == "ok" and row["unit"] == unit and row["rung"] == "calibrated", name, row)
        expect(row["predicted"] and abs(float(row["predicted"]) * scale / law(8, size) - 1) < 1e-3, name, row)


def lines(header, each):
    return header + "\n" + "".join(each(size, law(8, size)) + "\n" for size in SIZES)


self_answer("gpu.csv", lines("GPU Type,Op,World Size,Message Size (KB),dtype,Latency (ms)",
                             lambda b, t: f"H100,AllReduce,8,{b / 1e3},bf16,{t / 1e3}"), "ms", 1e3)
self_answer("semicolon.csv", lines("device;collective;nranks;size;algorithm;time", lambda b, t: f"A100;all-reduce;8;{b};ring;{t}"), "us", 1)
self_answer("tab.csv", lines("machine\tcoll\tnodes\tgpus_per_node\tbytes\tduration_s", lambda b, t: f"x\tallreduce\t2\t4\t{b}\t{t / 1e6}"), "s", 1e6)
self_answer("text.csv", lines("size,count,type,redop,root,time,algbw,busbw,#wrong", lambda b, t: f"{b},{b // 4},float,sum,-1,{t},1,1,0"),
            "us", 1, "--on", "dgx-a100", "--collective", "allreduce")
self_answer("elements.csv", lines("system,op,gpus,count,dtype,p50_us", lambda b, t: f"x,all_reduce,8,{b // 2},torch.float16,{t}"), "us", 1)
self_answer("rate.csv", lines("system,op,gpus,bytes,algbw_GBs,busbw_GBs", lambda b, t: f"x,all_reduce,8,{b},{b / t / 1e3:.9g},1"), "s", 1e6)
self_answer("bus.csv", lines("system,op,gpus,bytes,busbw(GB/s)", lambda b, t: f"x,all_reduce,8,{b},{b * 1.75 / t / 1e3:.9g}"), "s", 1e6)
# Libraries, in-place rows and the width of summed elements are curves of their own.
apart = "system,op,gpus,bytes,dtype,library,inplace,time_us\n" + "".join(
    f"x,all_reduce,8,{b},{d},{v},{i},{law(8, b) * k:.6f}\n" for b in SIZES
    for d, v, i, k in (("half", "a", 0, 1), ("int8", "a", 0, 2), ("half", "b", 0, 4), ("half", "a", 1, 8)))
run("fit", "--kind", "exchange", put("apart.csv", apart), "-o", fit)
code, out, err = run("predict", "--kind", "exchange", "--rows", put("apart.csv", apart), "--fit", fit)
for row in csv.DictReader(io.StringIO(out)):
    expect(row["status"] == "ok" and abs(float(row["predicted"]) / float(row["time_us"]) - 1) < 1e-3, row)
# A measured rate is no input: rows that carry one are answered as those that do not.
asked = [put("with.csv", "system,op,gpus,bytes,algbw_GBs\ndgx-h100,all_reduce,8,1000000,1e-3\n"),
         put("without.csv", "system,op,gpus,bytes\ndgx-h100,all_reduce,8,1000000\n")]
told = [next(csv.DictReader(io.StringIO(run("predict", "--kind", "exchange", "--rows", path)[1])))["predicted"] for path in asked]
expect(told[0] == told[1], told)

# One node tells of two where --on says what joins them; without, it does not.
run("fit", "--kind", "exchange", put("one_node.csv", table(8, SIZES)), "-o", fit)
two = put("two_nodes.csv", "system,collective,gpus,bytes\n" + "".join(f"lab,all_reduce,16,{b}\n" for b in SIZES))
for how, word in ((["--on", "dgx-a100"], "ok"), (["--on", "a100*8 nvlink=300GB/s"], "nothing like it")):
    code, out, err = run("predict", "--kind", "exchange", "--rows", two, "--fit", fit, *how)
    rows = list(csv.DictReader(io.StringIO(out)))
    expect(code == says_no(err) and len(rows) == len(SIZES) and all(word in r["status"] for r in rows), how, rows[:1], err)
    for row, size in zip(rows, SIZES):
        expect(word != "ok" or (row["rung"] == "calibrated" and float(row["predicted"]) > law(8, size)), row)

# Rows that name no system are answered from the curves of their machine, as options are, whatever the curves call it;
# curves of another machine are refused, or the row says that they are not used.
run("fit", "--kind", "exchange", put("named_node.csv", table(8, SIZES, "NVIDIA A100-SXM4-40GB")), "-o", fit)
bare = put("bare.csv", "collective,gpus,bytes,algorithm\nall_reduce,8,3000000,\nall_reduce,8,3000000,ring\n")
code, out, err = run("predict", "--kind", "exchange", "--rows", bare, "--fit", fit, "--on", "dgx-a100")
first, by_name = csv.DictReader(io.StringIO(out))
asked = next(csv.DictReader(io.StringIO(run("predict", "--kind", "exchange", "--on", "dgx-a100", "--fit", fit, "--bytes", "3000000", "--format", "csv")[1])))
expect(first["rung"] == "calibrated" and abs(float(first["predicted"]) / law(8, 3000000) - 1) < 0.01, first)
expect(first["status"] == "ok" and abs(float(first["predicted"]) / float(asked["time_us"]) - 1) < 1e-12, first, asked)
expect(by_name["rung"] == "formula" and "fit is not used" in by_name["status"] and "ring" in by_name["status"], by_name)
other = next(csv.DictReader(io.StringIO(run("predict", "--kind", "exchange", "--rows", bare, "--fit", fit, "--on", "dgx-h100")[1])))
expect(other["rung"] == "formula" and "fit is not used" in other["status"], other)
for words, word in ((["--on", "dgx-h100"], "A100-SXM4-40GB"), (["--on", "dgx-a100", "--algorithm", "ring"], "ring")):
    code, out, err = run("predict", "--kind", "exchange", "--fit", fit, "--bytes", "1M", *words)
    expect(code == 2 and word in err and "has no effect" in err, words, code, err)

# What the machine's curves do not tell is answered in closed form, and the first lines say so.
run("fit", "--kind", "exchange", put("pair.csv", table(4, SIZES, "pairs", 2)), "-o", fit)
code, out, err = run("predict", "--kind", "exchange", "--fit", fit, "--bytes", "1M", "--on", "a100*1 nvlink=300GB/s nodes=8 nics=1 net=25GB/s", "--collective", "sendrecv", "--format", "json")
told = json.loads(out) if code == 0 else {"sizes": [{}], "warnings": []}
expect(told["sizes"][0].get("rung") != "formula" or any("fit is not used" in w["text"] for w in told["warnings"]), told)

# One size, with a machine: it is answered as measured, and others by the machine's closed form, the more the further
# they are. Without a machine it says nothing of others.
run("fit", "--kind", "exchange", put("one_size.csv", "system,collective,gpus,bytes,time_us\nhgx-h100,all_reduce,8,1048576,100\nlab,all_reduce,8,1048576,100\n"), "-o", fit)
asked = put("of_one.csv", "system,collective,gpus,bytes\n" + "".join(f"{s},all_reduce,8,{b}\n" for s in ("hgx-h100", "lab") for b in (1048576, 2097152, 1 << 30)))
with_fit = list(csv.DictReader(io.StringIO(run("predict", "--kind", "exchange", "--rows", asked, "--fit", fit)[1])))
without = list(csv.DictReader(io.StringIO(run("predict", "--kind", "exchange", "--rows", asked)[1])))
off = [float(a["predicted"]) * 1e-6 / float(b["predicted"]) for a, b in zip(with_fit[:3], without[:3])]
expect(abs(float(with_fit[0]["predicted"]) - 100) < 1e-6, with_fit[0])
expect(off[0] > off[1] > off[2] > 1, off)
expect(abs(float(with_fit[3]["predicted"]) - 100) < 1e-6 and with_fit[4]["status"] != "ok", with_fit[3:5])

# Nothing is known no better than one byte.
none, byte = csv.DictReader(io.StringIO(run("predict", "--kind", "exchange", "--on", "hgx-h100", "--fit", fit, "--bytes", "0,1", "--format", "csv")[1]))
expect(abs(float(none["high_us"]) / float(none["low_us"]) / (float(byte["high_us"]) / float(byte["low_us"])) - 1) < 0.02, none, byte)

# A machine of a file has the NCCL of its device's generation, said or not.
box = "machines:\n  - {name: box, device: a100-40-sxm, devices: 4, inside: {kind: nvlink, bytes_per_s: 3e11, efficiency: 0.8, latency_s: 3e-6}, launch_s: 8e-6, %s source: t, confidence: low}\n"
answers = [run("predict", "--kind", "exchange", "--on", put("box.yaml", box % more), "--bytes", "1M", "--format", "csv")[1] for more in ("", "generation: 80,", "generation: 0,")]
expect(answers[0] == answers[1] != answers[2] and list(csv.DictReader(io.StringIO(answers[0])))[0]["protocol"], answers)

# Machines as people name them.
named = [("8xH100 SXM5 NDR400", 16, 2), ("8xH100 SXM5 NDR400", 8, 1), ("p4d.24xlarge", 16, 2), ("ND96asr_v4", 16, 2), ("a3-highgpu-8g", 16, 2),
         ("MI300X", 8, 1), ("p5.48xlarge", 16, 2), ("Standard_ND96isr_H100_v5", 16, 2), ("H800-SXM5", 8, 1), ("DGX-1", 8, 1), ("l40s", 8, 1)]
code, out, err = run("predict", "--kind", "exchange", "--rows", put("named.csv", "system,collective,gpus,nodes,bytes\n" + "".join(
    f"{s},all_reduce,{g},{n},1048576\n" for s, g, n in named)))
for row in csv.DictReader(io.StringIO(out)):
    expect(row["status"] == "ok" and row["rung"] == "formula", row)
# A collective in place of an input is told how it is asked.
for word in ("all_reduce", "ncclAllGather"):
    code, _, err = run("predict", word, "--on", "p4d*4", "--bytes", "100MB")
    expect(code == 2 and f"--collective {word}" in err and "--bytes" in err, word, code, err)
code, _, err = run("predict", "all_reduce.*.et", "--on", "p4d*4", "--simulate")
expect(code != 0 and "is a collective" not in err, "files may be called so", code, err)

# A device of which no network is known is refused on two nodes, and answered on one behind it.
code, out, err = run("predict", "--kind", "exchange", "--rows", put("behind.csv", "system,collective,gpus,nodes,bytes\nh200,all_reduce,16,2,1024\nh200,all_reduce,8,1,1024\n"))
expect([r["status"] == "ok" for r in csv.DictReader(io.StringIO(out))] == [False, True], out)

# Logs as launchers and older versions leave them.
fits_and_answers(put("all_reduce_tagged.log", "".join("[1,0]<stdout>:" + line + "\n" for line in nccl_text(8).splitlines())))
fits_and_answers(put("all_reduce_srun.log", "".join("0: " + line + "\n" for line in nccl_text(8).splitlines())))
fits_and_answers(put("all_reduce_pod.log", "".join("nccl-worker-0 2026-03-01T10:00:00.123456789Z " + line + "\n" for line in nccl_text(8).splitlines())))
# Tests of one buffer have half of the columns, tests without sums no operation; terminals wrap what does not fit.
def one_buffer(line):
    words = line.split()
    return " ".join(words[:9]) if words and words[0].isdigit() else line.replace("#wrong     time   algbw   busbw #wrong", "#wrong")

plain = nccl_text(8)
folded = "\n".join(line[at:at + 80] for line in plain.splitlines() for at in range(0, max(len(line), 1), 80))
expect(folded.count("\n") > plain.count("\n"), "lines are wrapped")
for name, text in (("half", "\n".join(map(one_buffer, plain.splitlines()))), ("wrapped", folded),
                   ("half_no_root", "\n".join(map(one_buffer, plain.replace("redop    root", "redop").replace(" sum -1 ", " sum ").splitlines())).replace(" 0\n", "\n")),
                   ("no_redop", plain.replace(" sum -1 ", "     -1 "))):
    fits_and_answers(put(f"all_reduce_{name}.log", text + "\n"))
# Several runs in one file: each has its own ranks and collective. More than 64 hosts.
loop = nccl_text(4).replace("# nThread", "+ ./all_reduce_perf -b 8 -e 1G -f 2\n# nThread") + "# Collective test starting: all_gather_perf\n" + nccl_text(8, 2, 1)
code, out, err = run("fit", "--kind", "exchange", put("loop.log", loop + loop), "--format", "json")
expect(code == 0 and [(c["collective"], c["ranks"], c["nodes"], c["sizes"]) for c in json.loads(out)["curves"]] ==
       [("allreduce", 4, 1, len(SIZES)), ("allgather", 8, 2, len(SIZES))], "two runs in a file", out, err)
code, out, err = run("fit", "--kind", "exchange", put("all_reduce_large.log", nccl_text(1024, 128)), "--format", "json")
expect(code == 0 and [(c["ranks"], c["nodes"]) for c in json.loads(out)["curves"]] == [(1024, 128)], "128 hosts", out, err)
# A log says the element's type and NCCL's version, of each run its own: as the tests' head has it, or as NCCL prints it.
typed = nccl_text(8).replace(" float ", " half ")
logs = ("# nccl-tests version 2.13.8 nccl-headers=22203 nccl-library=22203\n" + typed
        + typed.replace("#       size", "NCCL version 2.18.3+cuda12.2\n#       size") + nccl_text(8))
code, out, err = run("fit", "--kind", "exchange", put("all_reduce_typed.log", logs), "--format", "json")
expect(code == 0 and sorted((c["variant"] or "", c["element_bytes"]) for c in json.loads(out)["curves"]) ==
       [("", 4), ("nccl 2.18.3", 2), ("nccl 2.22.3", 2)], "type and version", out, err)
# Which collective ran on how many ranks follows from the two bandwidths (nccl-tests, PERFORMANCE.md); runs that knew nothing of each other.
for text, word in ((nccl_text(8, 1, 1), "times algbw; for allreduce on 8 ranks it would be 1.75"),
                   ("#  Rank  0 Group  0 Pid 1 on n1 device  0 [0x1b] A GPU\n" * 8 + nccl_text(8).split("GPU\n")[-1], "without MPI")):
    code, out, err = run("fit", "--kind", "exchange", put("all_reduce_odd.log", text))
    expect(code == 3 and word in err, word, code, err)
# A log says on which device it ran: its curves answer for machines of that device, however these are joined, and for no other.
h100 = put("all_reduce_h100.log", nccl_text(16, 2).replace("A GPU", "NVIDIA H100 80GB HBM3"))
fit = os.path.join(FOLDER, "h100.json")
code, out, err = run("fit", "--kind", "exchange", h100, "-o", fit, "--format", "json")
expect(code == 0 and [c["system"] for c in json.loads(out)["curves"]] == ["h100-80-sxm"], out, err)
for machine, answers in (("dgx-h100*2", True), ("p5*2", True), ("h100*8 nvlink=300GB/s nodes=2 net=200Gb/s", True), ("dgx-a100*2", False), ("hgx-b200*2", False)):
    code, out, err = run("predict", "--kind", "exchange", "--on", machine, "--fit", fit, "--bytes", "1M", "--format", "csv")
    if answers: expect(code == 0 and abs(float(next(csv.DictReader(io.StringIO(out)))["time_us"]) / law(16, 1 << 20) - 1) < 0.02, machine, out, err)
    else: expect(code == 2 and "its curves are of h100-80-sxm" in err, machine, code, err)
code, out, err = run("fit", "--kind", "exchange", h100, "--on", "dgx-a100*2")
expect(code == 3 and "ran on h100-80-sxm" in err, code, err)
fits_and_answers(put("all_reduce_unlisted.log", "# nThread 1 nGpus 8 minBytes 8 maxBytes 1073741824 step: 2(factor)\n"
                     + "\n".join(line for line in nccl_text(8).splitlines() if "Rank" not in line and "nThread" not in line) + "\n"))

# Every row that cannot be answered says why; the others are answered.
code, out, err = run("predict", "--kind", "exchange", "--rows", put("bad.csv", """system,collective,nodes,gpus,bytes,algorithm,dtype
dgx-h100,all_reduce,1,8,1048576,ring,half
dgx-h100,all_reduce,1,8,1048576,pigeon,half
dgx-h100,gossip,1,8,1048576,,half
dgx-h100*3,all_reduce,3,16,1048576,,half
dgx-h100,all_reduce,1,16,1048576,,half
dgx-h100,all_reduce,1,none,1048576,,half
dgx-h100,all_reduce,1,8,-3,,half
dgx-h100,all_reduce,1,8,,,half
nowhere,all_reduce,1,8,8,,half
2x8 H100,all_reduce,2,16,8,,half
A100-PCIE-40GB,all_reduce,1,8,8,,half
dgx-h100,all_gather,1,8,8,tree,half
"""))
words = ["ok", "algorithm: expected tree, ", "unknown collective", "do not divide", "has 8 devices", "ranks: expected", "size of 0 or more",
         "size of 0 or more", "no machine", "network is known", "no machine", "cannot do"]
rows = list(csv.DictReader(io.StringIO(out)))
expect(len(rows) == len(words), out)
for row, word in zip(rows, words):
    expect(word in row["status"] and (word == "ok") == bool(row["predicted"]), word, row)
for name, machine in (("a100_sxm", "hgx-a100-80"), ("8x H100-SXM5 1 node", "hgx-h100"), ("NVIDIA H200", "hgx-h200"),
                      ("b200_sxm", "hgx-b200"), ("gb200", "gb200-nvl72"), ("2x p3dn.24xlarge: 2x8 V100", "p3dn")):
    told = [next(csv.DictReader(io.StringIO(run("predict", "--kind", "exchange", "--rows", put("named.csv",
            f"system,collective,gpus,bytes\n{system},all_reduce,4,1000000\n"))[1])))["predicted"] for system in (name, machine)]
    expect(told[0] and told[0] == told[1], name, told)

# An exchange of nothing takes what it takes without a table, too.
for machine, ranks, nodes in (("dgx-h100", 8, 1), ("dgx-h100*2", 16, 2)):
    code, out, _ = run("predict", "--kind", "exchange", "--rows", put("nothing.csv", f"system,collective,gpus,nodes,bytes\n{machine},allreduce,{ranks},{nodes},0\n"))
    row = next(csv.DictReader(io.StringIO(out)))
    asked = next(csv.DictReader(io.StringIO(run("predict", "--kind", "exchange", "--on", machine, "--bytes", "0", "--format", "csv")[1])))
    expect(row["status"] == "ok" and abs(float(row["predicted"]) * 1e6 / float(asked["time_us"]) - 1) < 1e-6, row, asked)

# AWS's plug-in for NCCL sets NCCL_PROTO=simple on p4d and p4de and leaves p5 alone (aws-ofi-nccl, platform-aws.c): between nodes, not inside one.
for on, library, wanted in (("p4d*2", "nccl-2.30", {"simple"}), ("p4de*4", "nccl-2.7", {"simple"}), ("p5*2", "nccl-2.30", {"ll", "ll128", "simple"}),
                            ("p4d", "nccl-2.30", {"ll", "ll128", "simple"})):
    code, out, err = run("predict", "--kind", "exchange", "--on", on, "--library", library, "--collective", "allreduce", "--bytes", "8..1G", "--format", "csv")
    told = {row["protocol"] for row in csv.DictReader(io.StringIO(out))}
    expect(code == 0 and told == wanted, on, told, err)

# One algorithm with two spellings: ncclAlgoStr and logs have NVLSTree, tuner plug-ins nvls_tree.
told = [run("predict", "--kind", "exchange", "--on", "dgx-h100*2", "--library", "nccl-2.30", "--collective", "allreduce", "--bytes", "1G",
            "--algorithm", word, "--format", "csv")[1] for word in ("nvls_tree", "nvlstree", "NVLSTree")]
expect("nvls_tree" in told[0] and told[0] == told[1] == told[2], told)
told = run("predict", "--kind", "exchange", "--rows", put("spelled.csv", "system,collective,nodes,gpus,bytes,algorithm\n" + "".join(
    f"dgx-h100,all_reduce,2,16,1073741824,{word}\n" for word in ("nvls_tree", "nvlstree", "NVLSTree"))))[1]
expect(len({row["predicted"] for row in csv.DictReader(io.StringIO(told))}) == 1 and "ok" in told, told)

# Two nodes by their clouds' names, of which the network is known.
for name, machine in (("a3-ultragpu-8g", "a3-ultra"), ("a4-highgpu-8g", "a4"), ("p6-b200.48xlarge", "p6-b200"), ("g5.8xlarge", "g5"), ("dgx-a100-80", "hgx-a100-80")):
    code, out, err = run("predict", "--kind", "exchange", "--on", name + "*2", "--bytes", "1M", "--format", "json")
    expect(code == 0 and json.loads(out)["machine"].startswith(machine), name, err, out[:300])

# A row's machine is read as --on reads it: a cloud's name, nodes and network.
system = "p4d.24xlarge*16 net=fat-tree:2:8:1"
rows = [next(csv.DictReader(io.StringIO(run("predict", "--kind", "exchange", "--rows", put("network.csv",
        f"system,collective,nodes,gpus,bytes\n{name},all_reduce,16,128,1073741824\n"))[1]))) for name in (system, "p4d.24xlarge")]
asked = [json.loads(run("predict", "--kind", "exchange", "--on", on, "--collective", "allreduce", "--bytes", "1G", "--format", "json")[1])["sizes"][0]["time_us"]
         for on in (system, "p4d*16")]
expect(all(math.isclose(1e6 * float(row["predicted"]), time_us, rel_tol=1e-6) for row, time_us in zip(rows, asked)), rows, asked)
expect(asked[0] > 1.5 * asked[1], "leaves of two nodes share what leaves them", asked)

# Machines by name answer rows without a fit.
code, out, err = run("predict", "--kind", "exchange", "--rows", put("machine.csv", table(8, [8, 1 << 20], "dgx-h100")))
expect(code == 0 and all(r["status"] == "ok" and r["rung"] == "formula" for r in csv.DictReader(io.StringIO(out))), out, err)

# What an exchange takes that ends with a wrong result is no measurement of it, in the text and in the JSON of nccl-tests.
def with_errors(every):
    text, count = [], 0
    for line in nccl_text(8).splitlines():
        words = line.split()
        if words and words[0].isdigit():
            count += 1
            words[8] = "12" if count % every == 0 else "0"
        text.append(" ".join(words))
    return "\n".join(text) + "\n"


def json_with_errors(every):
    document = json.loads(nccl_json(8))
    for i, result in enumerate(document["results"], 1):
        result["out_of_place"]["nwrong"] = 12 if i % every == 0 else None if i % 3 == 0 else 0
    return json.dumps(document)


for name, errors in (("all_reduce_wrong.log", with_errors), ("all_reduce_wrong.json", json_with_errors)):
    fitted = os.path.join(FOLDER, "wrong.fit")
    code, out, err = run("fit", "--kind", "exchange", put(name, errors(4)), "-o", fitted, "--collective", "allreduce", "-f", "json")
    expect(code == 0 and "7 rows were left out" in err and "wrong in 12 elements" in err, name, code, err)
    expect(code == 0 and json.loads(out)["curves"][0]["sizes"] == 21, name, out[:500])
    code, _, err = run("fit", "--kind", "exchange", put(name, errors(1)), "-o", fitted, "--collective", "allreduce")
    expect(code == 3, "nothing that is right", code, err)

# The nccl-tests table adds up.
code, out, err = run("predict", "--kind", "exchange", "--on", "dgx-h100*4", "--collective", "allgather", "--bytes",
                     "1M..1G", "--format", "json")
document = json.loads(out)
expect(document["ranks"] == 32 and len(document["sizes"]) == 11, document["ranks"])
for row in document["sizes"]:
    expect(abs(row["algbw_GB_per_s"] - row["bytes"] / row["time_us"] / 1e3) < 1e-6 * row["algbw_GB_per_s"], row)
    expect(abs(row["busbw_GB_per_s"] / row["algbw_GB_per_s"] - 31 / 32) < 1e-9, row)
    expect(row["low_us"] < row["time_us"] < row["high_us"], row)

strict_schema.hold(document, "exchange")

# Racks of 72, one, two and twenty (NCCL 2.26.2; README of coreweave/nccl-tests, all-reduce of floats): each time is within its interval.
for racks, times in ((1, (1806.7, 3108.8, 5589.1, 10094, 20299)), (2, (2156.8, 3574.4, 6264.0, 11469, 21493, 42067)),
                     (20, (7108.4, 9805.7, 14980, 24782, 45004, 84625))):
    code, out, err = run("predict", "--kind", "exchange", "--on", f"gb200-nvl72*{racks}", "--collective", "allreduce", "--bytes",
                         "512M..8G" if racks == 1 else "512M..16G", "--format", "json")
    sizes = json.loads(out)["sizes"]
    expect(len(sizes) == len(times), racks, len(sizes))
    for row, time_us in zip(sizes, times):
        expect(row["low_us"] < time_us < row["high_us"], racks, row, time_us)

# The catalogue's machines are listed, and each can be asked.
code, out, err = run("machines", "--format", "json")
names = {m["name"]: m["nics"] for m in json.loads(out)["machines"]}
expect(len(names) >= 17 and "dgx-1-v100" in names and "gb200-nvl72" in names, names)
for name in names:
    code, out, err = run("predict", "--kind", "exchange", "--on", name + "*2", "--bytes", "1K,64M", "--format", "json")
    if names[name]: expect(code == 0 and json.loads(out)["nodes"] == 2, name, err)
    else: expect(code == 2 and "not connected" in err, name, code, err)
    code, out, err = run("machines", name, "--format", "json")
    expect(code == 0 and json.loads(out)["name"] == name, name, err)

for text, wanted in (("1MB..9MB", [1e6, 2e6, 4e6, 8e6, 9e6]), ("8..8", [8]), ("1K..1M", [1024 << i for i in range(11)])):
    code, out, err = run("predict", "--kind", "exchange", "--on", "dgx-a100", "--bytes", text, "--format", "csv")
    expect([float(row["bytes"]) for row in csv.DictReader(io.StringIO(out))] == wanted, "a range ends where it says", text, out)

# A device by the name that nvidia-smi prints, of several words, is the one of the catalogue.
plain, spaced = (run("predict", "--kind", "exchange", "--on", f"{name}*8 nvlink=300GB/s net=400Gb/s nodes=2", "--bytes", "64M", "--format", "csv") for name in ("h100-80-sxm", "NVIDIA H100 80GB HBM3"))
expect(spaced[0] == 0 and spaced[1] == plain[1], "names of several words", spaced)

for words, code_wanted, word in [
        (["--on", "a100*4"], 2, "not connected"),
        (["--on", put("no_nics.yaml", open(os.path.join(SOURCE, "docs", "examples", "my_box.yaml")).read().replace("    nics: 1\n", "")) + "*2"], 2, "nics"),
        (["--on", "NVIDIA A100-SXM4-80GB*8"], 2, "machines that hold them: hgx-a100-80"),
        (["--on", "a100*4 nvlink=0"], 2, "above 0"),
        (["--on", "dgx-a100", "--algorithm", "pigeon"], 2, "ring"),
        (["--on", "dgx-a100", "--collective", "gossip"], 2, "allreduce"),
        (["--on", "dgx-a100", "--bytes", "big"], 2, "8..1G"),
        (["--on", "dgx-a100", "--bytes", "8..big,1M"], 2, "8..1G"),
        (["--on", "dgx-a100", "--on", "dgx-h100"], 2, "--on: expected one"),
        (["--on", "a100*8 nvlink=300"], 2, "no unit"),
        (["--on", "dgx-a100", "--library", "mpi"], 2, "textbook"),
        (["--on", "nowhere"], 4, "neither"),
        ([], 2, "--on")]:
    code, out, err = run("predict", "--kind", "exchange", *words)
    expect(code == code_wanted and word in err and len(err.strip().splitlines()) == 1, words, code, err)
for name, text, word in [
        ("no_bytes.csv", "system,collective,gpus,time_us\na,all_reduce,8,3\n", "bytes"),
        ("no_ranks.csv", "system,collective,bytes,time_us\na,all_reduce,8,3\n", "gpus"),
        ("no_collective.csv", "system,gpus,bytes,time_us\na,8,8,3\n", "collective"),
        ("no_time.csv", "system,collective,gpus,bytes\na,all_reduce,8,8\n", "measured"),
        ("nameless.log", nccl_text(2), "collective"),
        ("all_reduce_cut.log", nccl_text(8).split("#       size")[0] + "# size time algbw\n", "rows"),
        ("all_reduce_uneven.log", nccl_text(9, 2), "divide"),
        ("empty.csv", "", "")]:
    code, out, err = run("fit", "--kind", "exchange", put(name, text))
    expect(code == 3 and word in err and len(err.strip().splitlines()) == 1, name, code, err)

def test_ranks():
    """The first devices: as a machine of so many nodes, as the row of a table says them, and as the simulated library counts them."""
    def asked(*words):
        return json_of("predict", "--kind", "exchange", "--bytes", "1K,4M", *words)
    for collective in ("allreduce", "allgather", "alltoall"):
        whole = asked("--on", "dgx-h100*2", "--collective", collective)
        expect(asked("--on", "dgx-h100*4", "--collective", collective, "--ranks", "16")["sizes"] == whole["sizes"], collective)
        some = asked("--on", "dgx-h100*4", "--collective", collective, "--ranks", "5")
        expect((some["ranks"], some["nodes"]) == (5, 1), some["ranks"])
        rows = put("five.csv", "collective,gpus,nodes,bytes\n" + "".join(f"{collective},5,1,{s}\n" for s in (1024, 4 << 20)))
        told = list(csv.DictReader(io.StringIO(run("predict", "--rows", rows, "--kind", "exchange", "--on", "dgx-h100", "-f", "csv")[1])))
        for mine, row in zip(some["sizes"], told):
            expect(abs(mine["time_us"] / float(row["predicted"]) * 1e-6 - 1) < 1e-4, collective, mine, row)
    simulated = asked("--on", "dgx-h100", "--ranks", "4", "--simulate")["sizes"]
    for size, closed in zip(simulated, asked("--on", "dgx-h100", "--ranks", "4")["sizes"]):
        expect(abs(size["closed_form_us"] / closed["time_us"] - 1) < 1e-4, size, closed)
    for ranks, word in (("12", "divide"), ("1", "from 2 to 16"), ("17", "from 2 to 16"), ("4.5", "whole")):
        code, out, err = run("predict", "--kind", "exchange", "--on", "dgx-h100*2", "--bytes", "1M", "--ranks", ranks)
        expect(code == 2 and word in err and len(err.strip().splitlines()) == 1, ranks, code, err)


def test_curves_apart():
    """Curves of one system, collective and group differ in what the table shows of them; a table given twice counts once."""
    rows = [f"box,8,all_reduce,{dtype},nccl 2.{version},{inplace},{1 << power},{law(8, 1 << power)}" for dtype in ("half", "float") for version in (19, 21)
            for inplace in (0, 1) for power in range(10, 24, 2)]
    table = put("apart.csv", "\n".join(["system,gpus,collective,dtype,library,inplace,bytes,time_us", *rows, ""]))
    answer = json_of("fit", table, "--kind", "exchange")
    strict_schema.hold(answer, "fit")
    told = {(row["variant"], row["element_bytes"]) for row in answer["curves"]}
    expect(len(answer["curves"]) == len(told) == 8, "each has a row of its own", answer["curves"])
    twice = json_of("fit", table, table, "--kind", "exchange")
    expect(twice["curves"] == answer["curves"] and "input_repeated" in [one["code"] for one in twice["warnings"]], "given twice", twice["warnings"])
    bare = put("bare.csv", "\n".join(["gpus,collective,bytes,time_us", *(f"8,all_reduce,{1 << power},{law(8, 1 << power)}" for power in range(10, 24, 2)), ""]))
    strict_schema.hold(json_of("fit", bare, "--kind", "exchange"), "fit")
    expect("System" not in run("fit", bare, "--kind", "exchange")[1], "no column of nothing")


def rerun(name, sizes, times, noise, seed):
    """Measured `times` times at each size, errors normal in the logarithm; three times more what the fit is to hold."""
    rng, rows = random.Random(seed), "system,collective,gpus,bytes,time_us\n"
    once = lambda size: f"lab,all_reduce,8,{size},{law(8, size) * math.exp(rng.gauss(0, noise)):.6f}\n"
    fit = os.path.join(FOLDER, "noise.json")
    answer = json_of("fit", "--kind", "exchange", put(f"{name}.csv", rows + "".join(once(size) for size in sizes for _ in range(times))), "-o", fit)
    again = put(f"{name}-again.csv", rows + "".join(once(size) for size in sizes for _ in range(3)))
    told = list(csv.DictReader(io.StringIO(run("predict", "--kind", "exchange", "--rows", again, "--fit", fit, "-f", "csv")[1])))
    held = [float(row["low"]) <= float(row["time_us"]) <= float(row["high"]) for row in told]
    expect(len(held) == 3 * len(sizes), name, len(held))
    return answer["curves"][0]["noise_share"], "curves_noisy" in [one["code"] for one in answer["warnings"]], sum(held) / len(held)


def test_noise():
    """A curve that errs says so: the intervals hold what is measured the next time, of sizes that were measured too."""
    for name, sizes, times in (("dense", SIZES, 1), ("repeated", SIZES[::6], 5)):
        for noise in (0.15, 0.3):
            told = [rerun(f"{name}-{noise}-{seed}", sizes, times, noise, seed) for seed in range(6)]
            expect(all(warned for _, warned, _ in told), name, noise, told)
            expect(0.7 < sum(own for own, _, _ in told) / 6 / noise < 1.3, name, noise, told)
            expect(0.82 < sum(share for _, _, share in told) / 6 <= 0.98, name, noise, told)
        own, warned, share = rerun(f"{name}-quiet", sizes, times, 0.01, 9)
        expect(own < 0.025 and not warned and share > 0.95, name, own, warned, share)


test_page()
test_ranks()
test_curves_apart()
test_noise()
sys.exit(finish())
