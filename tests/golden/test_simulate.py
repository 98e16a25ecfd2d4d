"""Simulated exchanges from outside: `predict --kind exchange --simulate` on catalogued machines and networks."""
import json
import math
import os
import subprocess

import jsonschema

from checks import PACELINE, SOURCE, expect, finish, run as program


def run(*words):
    return program("predict", "--kind", "exchange", "--simulate", *words)


def document(*words):
    code, out, err = run(*words, "--format", "json")
    expect(code == 0, words, err)
    return json.loads(out) if code == 0 else None


def row(*words):
    found = document(*words)
    return found["sizes"][-1] if found else {}


def near(found, expected, *what):
    expect(abs(found / expected - 1) < 1e-9, found, expected, *what)


S = 1 << 30

# Every machine of the catalogue is a fabric; no link carries more than it can.
listed = subprocess.run([PACELINE, "machines", "--format", "json"], capture_output=True).stdout
for machine in [m for m in json.loads(listed)["machines"] if m["devices_of_node"] <= 256]:
    name = machine["name"]
    several = [[name + "*4"], [name + "*4", "--algorithm", "ring"]] if machine["nic_bytes_per_s"] else []  # else nothing joins nodes
    for words in ([name], *several):
        one = document("--on", *words, "--bytes", "1K,64M")
        for size in one["sizes"] if one else []:
            expect(size["utilisation_share"] <= 1 + 1e-9 and size["low_us"] <= size["time_us"] <= size["high_us"], words, size)

# On a switch the simulation is the closed form.
for collective, algorithm in [("allreduce", "ring"), ("allreduce", "rabenseifner"), ("allgather", "bruck"), ("alltoall", "direct"),
                              ("reducescatter", "multicast"), ("allreduce", "multicast"), ("broadcast", "scatter_allgather")]:
    size = row("--on", "dgx-h100", "--collective", collective, "--algorithm", algorithm, "--bytes", "64M")
    near(size["time_us"], size["closed_form_us"], collective, algorithm)

# In-network reduction: (n + 1)/n of the vector through a port, once.
size = row("--on", "dgx-h100", "--algorithm", "multicast", "--bytes", "1G")
near(size["time_us"], 5 + 3 * 0.8 + 9 / 8 * S / (450e9 * 0.82) * 1e6)

# Rails: what leaves a node is shared by its NICs; above a switch of rails nothing is lost at 1:1.
plain = row("--on", "dgx-h100*64", "--algorithm", "rails", "--bytes", "1G")
rails = row("--on", "dgx-h100*64 net=rails:16", "--algorithm", "rails", "--bytes", "1G")
near(plain["time_us"], plain["closed_form_us"])
# but the switches of the spine, where a chunk goes from group to group: in each half on 3 or 4 of its 63 steps
expect(plain["time_us"] < rails["time_us"] < plain["time_us"] + 2 * 4 * 0.3 + 1e-6, plain, rails)

# An all-to-all crosses a fat tree: of 64 nodes in leaves of 4, 60/64 of what a leaf sends goes up, at half the width.
words = ["--collective", "alltoall", "--algorithm", "pairwise", "--bytes", "1G"]
flat = row("--on", "dgx-a100*64", *words)
tree = row("--on", "dgx-a100*64 net=fat-tree:4:2:1", *words)
least = 32 * 480 / 512 * S / (4 * 8 * 25e9 * 0.92 / 2) * 1e6
expect(least < tree["time_us"] < 1.2 * least and "leaf" in tree["bottleneck"], least, flat, tree)
expect(504 / 512 * S / (25e9 * 0.92) * 1e6 < flat["time_us"] < 0.7 * tree["time_us"], flat, tree)

# What NCCL sends to all goes from whole nodes to whole nodes, of any number and size: nothing meets that its closed form takes to be free.
for on in ("dgx-h100*3", "dgx-a100*5", "dgx-h100*12", "gb200-nvl72*2", "gb200-nvl72*3"):
    size = row("--on", on, "--collective", "alltoall", "--bytes", "1G")
    near(size["time_us"], size["closed_form_us"], on)
times = [row("--on", f"dgx-h100*{nodes}", "--collective", "alltoall", "--bytes", "1G")["time_us"] for nodes in range(2, 9)]
expect(times == sorted(times), "more nodes, no less time", times)

# Larger messages that take less time than smaller ones are said, and only those.
words = ["--on", "dgx-h100*2", "--bytes", "128K,256K,512K"]
times = [size["time_us"] for size in document(*words)["sizes"]]
said = " ".join(run(*words)[1].split())
expect((times[2] < times[1]) == ("1 of 3 sizes takes less time than a smaller one: 524.3 kB by tree/ll128" in said), times, said)
expect("than a smaller one" not in run("--on", "dgx-h100*2", "--bytes", "1M,64M,1G")[1], "sizes in order")

# A slow rank slows all; a full network leaves what others do not take.
ring = row("--on", "ethernet-10g*16", "--algorithm", "ring", "--bytes", "64M")
slow = row("--on", "ethernet-10g*16", "--algorithm", "ring", "--bytes", "64M", "--straggler", "3:0.5")
busy = row("--on", "ethernet-10g*16", "--algorithm", "ring", "--bytes", "64M", "--background", "50%")
launch, latency = 15, 30 * 40  # us
near(busy["time_us"] - launch - latency, 2 * (ring["time_us"] - launch - latency))
expect(slow["time_us"] > 1.8 * ring["time_us"], slow, ring)

# A slow rank has slow ports, and what it shares with others is as fast as ever: behind links at a quarter of a NIC half a
# NIC costs nothing, and a fifth as much as it is less than that. It is named, and what it costs is said.
TREE = ["--on", "ethernet-10g*4 net=fat-tree:1:4:1", "--algorithm", "ring", "--bytes", "64M"]
even = row(*TREE)
for rate in (0.5, 0.25):
    slow = row(*TREE, "--straggler", "0:%g" % rate)
    near(slow["time_us"], even["time_us"], rate)
    expect(slow["stragglers_us"] == 0 and even["stragglers_us"] is None, rate, slow)
found = document(*TREE, "--straggler", "2:0.2")
slow = found["sizes"][-1]
expected = 6 * (64 << 20) / 4 * (1 / 0.2 - 1 / 0.25) / 1e3  # us; a NIC reaches 1 GB/s
expect(abs(slow["stragglers_us"] / expected - 1) < 0.01, slow, expected)
near(slow["stragglers_us"], slow["time_us"] - even["time_us"])
expect("slow device 0" in slow["bottleneck"] and "of node 2" in slow["bottleneck"], slow)
expect(any("Rank 2 of 4 is slow, at 20 %" in line for line in found["summary"]), found["summary"])
# All its messages together have its port's rate, not each: everybody sends to everybody at once.
slow = row("--on", "dgx-h100", "--algorithm", "direct", "--bytes", "64M", "--straggler", "5:0.1")
port = 5 + 2 * (0.8 + 7 / 8 * (64 << 20) / (0.1 * 450e9 * 0.82) * 1e6)
expect(port * (1 - 1e-9) <= slow["time_us"] < 1.01 * port, slow, port)
expect(slow["bottleneck"].startswith("slow port of device 5"), slow)
# Of 1024 ranks one in a hundred is slow: ten, and the first stands for them.
# Some slow ranks cost no more than if all are as slow: the others can keep their pace.
for words in (["--on", "dgx-h100*2"], ["--on", "dgx-a100*4", "--algorithm", "double_tree"], ["--on", "dgx-h100*2", "--algorithm", "rails"]):
    for share in ("7:0.5", "25%:0.25"):
        rate = share.split(":")[1]
        some, every = (row(*words, "--bytes", "64M", "--straggler", who)["time_us"] for who in (share, "100%:" + rate))
        expect(some <= every * (1 + 1e-9), words, share, some, every)
found = document("--on", "dgx-h100*128", "--algorithm", "rails", "--bytes", "64M", "--straggler", "1%:0.5")
expect(any("Rank 51 and 9 others of 1024 are slow" in line for line in found["summary"]), found["summary"])
expect(found["sizes"][-1]["stragglers_us"] > 0.1 * found["sizes"][-1]["time_us"], found["sizes"])

for share in ("0%:0.5", "150%:0.5"):  # no rank's number
    code, _, err = run("--on", "dgx-h100*32", "--bytes", "64M", "--straggler", share)
    expect(code == 2 and "SHARE%:RATE" in err, share, err)

# A flow of others takes half of one port: as a rank at half its rate.
flow = row("--on", "ethernet-10g*16", "--algorithm", "ring", "--bytes", "64M", "--background", "3-9:100GB/s")
expect(1.8 * ring["time_us"] < flow["time_us"] < 2.01 * ring["time_us"] and flow["simulated_ranks"] == 16, flow)

# Two jobs on nodes dealt out in turn share the way up.
alone = row("--on", "ethernet-10g*16 net=fat-tree:4:4:1", "--algorithm", "ring", "--bytes", "64M", "--ranks", "8")
both = row("--on", "ethernet-10g*16 net=fat-tree:4:4:1", "--algorithm", "ring", "--bytes", "64M", "--jobs", "2")
expect(both["time_us"] > 1.5 * alone["time_us"], both, alone)
for jobs, said in ((1, "ms (90 %"), (2, "ms beside 1 such job (90 %"), (4, "ms beside 3 such jobs (90 %")):
    found = document("--on", "ethernet-10g*16 net=fat-tree:4:4:1", "--algorithm", "ring", "--bytes", "64M", "--jobs", str(jobs))
    expect(said in found["summary"][0] and f" on {16 // jobs} ranks " in found["summary"][0], jobs, found["summary"][0])
# A closed form that takes longer does not do so because it ignores what disturbs.
found = document("--on", "dgx-h100*2", "--bytes", "64M", "--background", "0-1:1GB/s")
expect(found["sizes"][0]["closed_form_us"] > 1.05 * found["sizes"][0]["time_us"], found["sizes"])
expect("overlap" in " ".join(found["summary"]) and "traffic of others" not in " ".join(found["summary"]), found["summary"])

# Jobs of a few devices share a node's switch without meeting, each its own sum; all wait for the job of a slow one.
for words in (["dgx-h100", "--ranks", "8", "--jobs", "2"], ["dgx-h100*4", "--ranks", "16", "--jobs", "4"], ["dgx-h100*2", "--ranks", "8", "--jobs", "2"]):
    for algorithm in ("multicast", "rabenseifner"):
        one = row("--on", "dgx-h100", "--ranks", "4", "--algorithm", algorithm, "--bytes", "64M")
        many = row("--on", *words, "--algorithm", algorithm, "--bytes", "64M")
        near(many["time_us"], one["time_us"], words, algorithm)
one = row("--on", "dgx-h100", "--ranks", "4", "--algorithm", "multicast", "--bytes", "64M")
slow = row("--on", "dgx-h100", "--jobs", "2", "--algorithm", "multicast", "--bytes", "64M", "--straggler", "5:0.5")
expect(1.9 * one["time_us"] < slow["time_us"] < 2 * one["time_us"], slow, one)

# Jobs on a number of ranks that is no power of two.
for algorithm in ("rabenseifner", "recursive_doubling", "knomial"):
    one = row("--on", "dgx-a100*6", "--algorithm", algorithm, "--bytes", "1M")
    two = row("--on", "dgx-a100*12", "--jobs", "2", "--algorithm", algorithm, "--bytes", "1M")
    near(two["time_us"], one["time_us"], algorithm)

# Folded and whole agree.
for words in (["dgx-1-v100*4"], ["dgx-h100*8 net=dragonfly:2x2"], ["mi300x-node*8 net=torus:4x2"], ["dgx-a100*8 net=rails:2:3:1"]):
    a = row("--on", *words, "--algorithm", "ring", "--bytes", "8M")
    b = row("--on", *words, "--algorithm", "ring", "--bytes", "8M", "--unfolded")
    near(a["time_us"], b["time_us"], words)

# What is simulated is what the library would run: its algorithm and protocol, its closed form beside it; where no
# messages meet the two are one. A reason stands where they are more than a twentieth apart, and nowhere else.
for on in ("dgx-h100", "dgx-h100*2", "dgx-a100*4", "p3dn*4", "gb200-nvl72", "dgx-1-v100"):
    for collective in ("allreduce", "allgather", "alltoall", "sendrecv"):
        words = ["--on", on, "--collective", collective, "--bytes", "8,64K,1M,64M,1G"]
        found = document(*words)
        done = subprocess.run([PACELINE, "predict", "--kind", "exchange", *words, "--format", "json"], capture_output=True)
        asked = json.loads(done.stdout)
        expect(found["library"] == asked["library"], found["library"])
        for size, closed in zip(found["sizes"], asked["sizes"]):
            expect((size["algorithm"], size["protocol"]) == (closed["algorithm"], closed["protocol"]), on, size, closed)
            near(size["closed_form_us"], closed["time_us"], on, collective)
            expect((size["why_apart"] is not None) == (abs(math.log(size["time_us"] / size["closed_form_us"])) > math.log(1.05)), on, size)
            if on == "dgx-h100" or size["program"] == "ring" and on == "dgx-1-v100":
                near(size["time_us"], size["closed_form_us"], on, collective, size)
size = row("--on", "dgx-h100*2", "--bytes", "1M")
expect((size["algorithm"], size["protocol"], size["program"]) == ("tree", "ll128", "double_tree") and 60 < size["time_us"] < 120, size)  # 93.25 us published (nccl-tests issue 309)
textbook = row("--on", "dgx-h100*2", "--bytes", "1M", "--library", "textbook")
expect(textbook["algorithm"] == textbook["program"] and textbook["time_us"] < 30 and textbook["protocol"] is None, textbook)
# An oversubscribed network slows the library's all-to-all, too, and the reason is said.
size = row("--on", "dgx-a100*8 net=fat-tree:2:4:1", "--collective", "alltoall", "--bytes", "1G")
expect("leaf" in size["bottleneck"], size)

# Topologies as NCCL dumps them: the same links as the catalogue's machines. Four devices of a quad use bricks alone.
CORPUS = os.path.join(SOURCE, "tests", "fuzz", "corpus", "topology")
for name, words in [("cube-mesh", ["--ranks", "4", "--algorithm", "direct"]), ("switched", ["--algorithm", "rabenseifner"])]:
    for nodes in ("", "*2"):
        known = {"cube-mesh": "dgx-1-v100", "switched": "dgx-h100"}[name]
        a = row("--on", os.path.join(CORPUS, name + ".xml") + nodes, "--bytes", "64M", *words)
        b = row("--on", known + nodes, "--bytes", "64M", *words)
        near(a["time_us"], b["time_us"], name, nodes)

# Virtual machines leave speeds out: PCIe 3.0 x16, as NCCL takes it, and the report says so.
a = document("--on", os.path.join(CORPUS, "no-speed.xml"), "--bytes", "64M", "--algorithm", "direct")
b = document("--on", os.path.join(CORPUS, "cube-mesh.xml"), "--bytes", "64M", "--algorithm", "direct")
if a and b:
    near(a["sizes"][0]["time_us"], b["sizes"][0]["time_us"], "no speed")
    expect("without a rate" in json.dumps(a) and "without a rate" not in json.dumps(b), a)

# Devices below the two sockets of a box with PCIe alone: a message between sockets crosses 16 GB/s; behind
# it messages queue, so that the latency of the others passes meanwhile.
pcie = os.path.join(CORPUS, "pcie.xml")
size = row("--on", pcie, "--algorithm", "ring", "--bytes", "1G")
near(size["time_us"], 15 + 6 + 2 * 3 / 4 * S / 16e9 * 1e6)
expect("host link from" in size["bottleneck"], size)
for name, word in [("apart", "no other device"), ("crossed", "expected"), ("cut", "the end of"), ("empty", "no device"),
                   ("negative-count", "count="), ("speed", "GT/s"), ("one-way", "as back"), ("quotes", "quotes"),
                   ("unknown-class", "class of a switch"), ("unknown-cpu", "vendor"), ("unknown-element", "fpga"),
                   ("unknown-nic", "zz0"), ("zero-net", "speed="), ("width", "link_width=")]:
    code, out, err = run("--on", os.path.join(CORPUS, "bad-" + name + ".xml"))
    expect(code == 3 and word in err and len(err.strip().splitlines()) == 1, name, code, err)
for word in (["--jobs", "2"], ["--straggler", "1%:0.5"], ["--background", "30%"], ["--unfolded"]):
    alone = subprocess.run([PACELINE, "predict", "--kind", "exchange", "--on", "dgx-h100", *word], capture_output=True, text=True)
    expect(alone.returncode == 2 and "--simulate" in alone.stderr and not alone.stdout, word, alone.stderr)
code, out, err = run("--on", "nowhere.xml")
expect(code == 3 and "nowhere.xml" in err, code, err)

with open(os.path.join(SOURCE, "docs", "schemas", "simulation.json")) as file:
    schema = json.load(file)
found = document("--on", "dgx-h100*2", "--bytes", "1M,64M")
jsonschema.validate(found, schema)
expect(list(found) == list(schema["properties"]), list(found))

for words, code_wanted, word in [
        (["--on", "dgx-h100*2 net=moebius"], 2, "fat-tree"),
        (["--on", "dgx-h100*2 net=fat-tree:0"], 2, "fat-tree"),
        (["--on", "dgx-h100*2 net=fat-tree:1:2"], 2, "oversubscription"),
        (["--on", "dgx-h100*2 net=dragonfly"], 2, "dragonfly:"),
        (["--on", "dgx-h100*6 net=torus:2x2"], 2, "6"),
        (["--on", "ethernet-10g*4 net=rails"], 2, "several NICs"),
        (["--on", "dgx-h100", "--algorithm", "pigeon"], 2, "ring"),
        (["--on", "dgx-h100", "--algorithm", "rails"], 2, "cannot"),
        (["--on", "dgx-a100", "--algorithm", "multicast"], 3, "multicast"),
        (["--on", "dgx-h100", "--ranks", "9"], 2, "fewer"),
        (["--on", "dgx-h100", "--ranks", "8", "--jobs", "3"], 2, "divide"),
        (["--on", "dgx-h100*2", "--ranks", "12", "--algorithm", "rails"], 2, "do not divide into its nodes"),
        (["--on", "dgx-h100", "--straggler", "half"], 2, "1%:0.5"),
        (["--on", "dgx-h100", "--background", "120%"], 2, "below 100"),
        (["--on", "dgx-h100*2", "--background", "0-0:10GB/s"], 2, "0-0:10GB/s"),
        (["--on", "dgx-h100", "--background", "0-9:1GB/s"], 3, "8 ranks"),
        (["--on", "dgx-h100", "--library", "nccl", "--algorithm", "ring"], 2, "has no effect"),
        (["--on", "mi300x-node", "--library", "nccl"], 2, "NVIDIA"),
        ([], 2, "--on")]:
    code, out, err = run(*words, "--bytes", "1M")
    expect(code == code_wanted and word in err and len(err.strip().splitlines()) == 1, words, code, err)

# Ranks within a node take as long, and are known as well, whatever nodes there are besides.
few = ("--ranks", "4", "--algorithm", "ring", "--bytes", "1M")
inside, beside = row("--on", "dgx-h100", *few), row("--on", "dgx-h100*4", *few)
for key in ("time_us", "low_us", "high_us"):
    near(beside[key], inside[key], key)

finish()
