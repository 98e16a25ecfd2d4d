"""Choices for a communication library: against predict, asked way by way; ranges and dialects; measured curves made here."""
import csv
import io
import itertools
import math
import os
import random
import tempfile

import strict_schema
from checks import SOURCE, expect, expect_line, finish, json_of, run

FOLDER = tempfile.mkdtemp(prefix="paceline-tune-")
ALGORITHMS, PROTOCOLS = ["tree", "ring", "nvls", "nvls_tree", "pat"], ["ll", "ll128", "simple"]


def table(key, *words):
    code, out, err = run("tune", "-f", "csv", "-t", key, *words)
    expect(code == 0, words, err)
    return list(csv.DictReader(io.StringIO(out)))


def predicted(machine, collective, size, *way):
    words = [word for pair in zip(("--algorithm", "--protocol"), way) for word in pair]
    code, out, _ = run("predict", "--kind", "exchange", "--on", machine, "--collective", collective, "--bytes", str(size), "-f", "csv", *words)
    return next(csv.DictReader(io.StringIO(out))) if code == 0 else None


def test_one_road():
    """Times, the own choice and the fastest way are those that predict gives for each way."""
    for machine, size in itertools.product(("dgx-h100", "dgx-h100*4", "hgx-a100-80"), (4096, 1 << 20, 1 << 27)):
        for collective in ("allreduce", "allgather"):
            nodes = machine.partition("*")[2] or "1"
            row, = table("sizes", "--on", machine, "--nodes", nodes, "--collective", collective, "--bytes", str(size))
            own = predicted(machine, collective, size)
            expect((row["own_us"], row["own_algorithm"], row["own_protocol"]) == (own["time_us"], own["algorithm"], own["protocol"]), machine, row, own)
            ways = {way: predicted(machine, collective, size, *way) for way in itertools.product(ALGORITHMS, PROTOCOLS)}
            times = {way: float(answer["time_us"]) for way, answer in ways.items() if answer}
            best = (row["best_algorithm"], row["best_protocol"])
            expect(float(row["best_us"]) == times[best], machine, row, times[best])
            if float(row["saved_low_share"]) <= 0:
                expect(times[best] == min(times.values()), machine, row, min(times, key=times.get))


def test_ranges():
    """Rows of a place follow one another without a gap; at their ends the own choice is what the row says, and beyond it something else is."""
    machine = "dgx-h100*2"
    rows = table("choices", "--on", machine, "--nodes", "2", "--collective", "allreduce", "--bytes", "8..1G")
    expect([row["from_bytes"] for row in rows] == ["8"] + [str(int(row["to_bytes"]) + 1) for row in rows[:-1]] and rows[-1]["to_bytes"] == str(1 << 30), rows)
    expect(len(rows) > 2 and {row["ranks"] for row in rows} == {"16"}, rows)
    for row in rows:
        for size in (row["from_bytes"], row["to_bytes"]):
            own = predicted(machine, "allreduce", size)
            said = (row["algorithm"], row["protocol"]) if row["choice"] == "own" else (row["against_algorithm"], row["against_protocol"])
            expect((own["algorithm"], own["protocol"]) == (said[0], said[1]), row, size, own)
    every = table("sizes", "--on", "dgx-h100*8")
    expect({row["nodes"] for row in every} == {"1", "2", "4", "8"} and len(every) == 4 * 5 * 28, len(every))
    mixed = table("sizes", "--on", machine, "--nodes", "2", "--collective", "reduce", "--bytes", "1M,8,1M,64K")
    expect([row["bytes"] for row in mixed] == ["8", "65536", "1048576"], mixed)


# --- measured curves

SIZES = [1 << i for i in range(10, 29)]
LAWS = {("", ""): (40, 100), ("ring", "ll"): (8, 20), ("ring", "ll128"): (12, 90), ("ring", "simple"): (30, 180), ("tree", "ll"): (8.2, 20),
        ("nvls", "simple"): (60, 100)}


def law(way, size):
    floor_us, gb_per_s = LAWS[way]
    return floor_us + size / gb_per_s / 1e3


def fitted(name, rows, header="system,collective,ranks,algorithm,protocol,bytes,time_us"):
    path, fit = os.path.join(FOLDER, name + ".csv"), os.path.join(FOLDER, name + ".json")
    with open(path, "w") as file:
        file.write("\n".join([header, *rows]) + "\n")
    code, _, err = run("fit", "--kind", "exchange", path, "-o", fit)
    expect(code == 0, name, err)
    return fit


def test_measured():
    """Every way was measured: the fastest is chosen where it gains more than measurements differ, and nowhere else."""
    fit = fitted("ways", [f"box,allreduce,8,{a},{p},{size},{law((a, p), size)}" for (a, p) in LAWS for size in SIZES])
    words = ["--on", "dgx-h100", "--fit", fit, "--collective", "allreduce", "--bytes", "1K..256M"]
    sizes = table("sizes", *words)
    expect(len(sizes) == len(SIZES), len(sizes))
    for row in sizes:
        size, best = int(row["bytes"]), (row["best_algorithm"], row["best_protocol"])
        fastest = min((way for way in LAWS if way[0]), key=lambda way: law(way, size))
        expect(best == fastest, row, fastest)
        expect(math.isclose(float(row["own_us"]), law(("", ""), size), rel_tol=1e-9) and math.isclose(float(row["best_us"]), law(best, size), rel_tol=1e-9), row)
        expect(row["rung"] == "measured" and float(row["saved_low_share"]) > 0, row)
    code, out, err = run("tune", "-f", "csv", *words)
    lines = [line.split(",") for line in out.splitlines() if not line.startswith("#")]
    expect(code == 0 and [line[3:5] for line in lines] == [["ring", "ll"], ["ring", "ll128"], ["ring", "simple"]], out, err)
    for (low, high), end in zip(((("ring", "ll"), ("ring", "ll128")), (("ring", "ll128"), ("ring", "simple"))), (int(line[2]) for line in lines)):
        (a, b), (c, d) = LAWS[low], LAWS[high]
        crossing = (c - a) / (1 / b - 1 / d) * 1e3
        expect(abs(end / crossing - 1) < 1e-3, low, high, end, crossing)


def test_channels():
    """A way measured with several numbers of channels: each size takes the fastest, and the file says the number; what was not measured keeps the library's."""
    laws = {4: (6, 40), 16: (10, 120), 32: (25, 200)}
    rows = [f"box,allreduce,8,,,,{size},{60 + size / 60e3}" for size in SIZES]
    rows += [f"box,allreduce,8,ring,simple,{n},{size},{floor + size / rate / 1e3}" for n, (floor, rate) in laws.items() for size in SIZES]
    fit = fitted("channels", rows, "system,collective,ranks,algorithm,protocol,nchannels,bytes,time_us")
    words = ["--on", "dgx-h100", "--fit", fit, "--collective", "allreduce", "--bytes", "1K..256M"]
    chosen_rows = [row for row in table("choices", *words) if row["choice"] == "changed"]
    expect([row["channels"] for row in chosen_rows] == ["4", "16", "32"], chosen_rows)
    for low, high in zip((4, 16), (16, 32)):
        (a, b), (c, d) = laws[low], laws[high]
        end = next(int(row["to_bytes"]) for row in chosen_rows if row["channels"] == str(low))
        expect(abs(end / ((c - a) / (1 / b - 1 / d) * 1e3) - 1) < 1e-3, low, high, end)
    for dialect in ("nccl", "torchcomms"):
        code, out, err = run("tune", "--dialect", dialect, "-f", "csv", *words)
        lines = [line.split(",") for line in out.splitlines() if not line.startswith("#")]
        expect([line[-3] for line in lines] == ["4", "16", "32"], dialect, lines, err)
    expect("ring simple with 4 channels instead of" in " ".join(run("tune", *words)[1].split()), "the first sentences, of the largest gain")
    kept = table("choices", "--on", "dgx-h100", "--collective", "allreduce", "--bytes", "1K..256M")
    expect({row["channels"] for row in kept} == {"-1"}, kept)


def test_close():
    """A way that is 4 % faster than what the library does, within what measurements differ, changes nothing."""
    own = {size: 40 + size / 300e3 for size in SIZES}  # so fast that no way that was not measured is expected to be faster
    rows = [f"box,allreduce,8,,,{size},{own[size]}" for size in SIZES]
    rows += [f"box,allreduce,8,ring,simple,{size},{0.96 * own[size]}" for size in SIZES]
    choices = table("choices", "--on", "dgx-h100", "--fit", fitted("close", rows), "--collective", "allreduce", "--bytes", "64M..256M")
    expect(all(row["choice"] == "own" for row in choices), choices)
    expect(any(row["against_protocol"] == "simple" and abs(float(row["saved_share"]) - 0.04) < 1e-6 for row in choices), choices)


def test_noise():
    """Ways that all take as long and differ by noise alone: few sizes change, as 90 % intervals say of the best of seven. A way that is sure to gain is found all the same."""
    def drawn(seed, gain):
        draw = random.Random(seed)
        rows = [f"box,allreduce,8,{a},{p},{size},{(30 + size / 150e3) * (gain if a == 'tree' else 1) * math.exp(draw.gauss(0, 0.05)):.5f}"
                for a, p in [("", ""), *itertools.product(("ring", "tree"), PROTOCOLS), ("nvls", "simple")] for size in SIZES]
        fit = fitted(f"noise{seed}", rows)
        return [float(row["saved_low_share"]) > 0 for row in table("sizes", "--on", "dgx-h100", "--fit", fit, "--collective", "allreduce", "--bytes", "1K..256M")]
    alike = sum((drawn(seed, 1) for seed in range(6)), [])
    expect(len(alike) == 6 * len(SIZES) and sum(alike) <= 0.1 * len(alike), sum(alike), len(alike))
    held, draw = 0, random.Random(7)
    for seed in range(6):  # of a new measurement of the library's own choice
        code, out, err = run("predict", "--kind", "exchange", "--on", "dgx-h100", "--fit", os.path.join(FOLDER, f"noise{seed}.json"), "--collective", "allreduce",
                             "--bytes", "1K..256M", "-f", "csv")
        expect(code == 0, err)
        for row in csv.DictReader(io.StringIO(out)):
            held += float(row["low_us"]) <= (30 + int(row["bytes"]) / 150e3) * math.exp(draw.gauss(0, 0.05)) <= float(row["high_us"])
    expect(held >= 0.8 * len(alike), "a new measurement lies within its interval", held, len(alike))
    faster = drawn(6, 0.6)
    expect(sum(faster) >= 0.9 * len(faster), sum(faster), len(faster))


def test_few_sizes():
    """The library's own choice at a few sizes says how far its ways are off at others: where LL took three times what the model says, another way comes sooner."""
    def own(size, factor):
        answer = predicted("dgx-h100", "allgather", size)
        return f"box,allgather,8,{size},{float(answer['time_us']) * (factor if answer['protocol'] == 'll' else 1)}"
    measured = [1 << i for i in range(16, 30, 1)]
    for factor, changes in ((1, False), (3, True)):
        fit = fitted(f"few{factor}", [own(size, factor) for size in measured], "system,collective,ranks,bytes,time_us")
        rows = table("sizes", "--on", "dgx-h100", "--fit", fit, "--collective", "allgather", "--bytes", "1M..4M")
        for row in rows:
            expect(row["own_protocol"] == "ll", row)
            expect((float(row["saved_low_share"]) > 0) == changes, factor, row)
            expect(not changes or (row["rung"] == "calibrated" and row["best_protocol"] != "ll"), factor, row)


# --- dialects

def test_dialects():
    """All three say the same of every size; RCCL's takes no algorithm that it does not document."""
    rows = [f"box,allreduce,8,{a},{p},{size},{law((a, p), size)}" for (a, p) in LAWS for size in SIZES]
    rows = [row.replace("ring,simple", "x,simple").replace("nvls", "ring").replace("x,simple", "nvls,simple") for row in rows]
    words = ["--on", "dgx-h100", "--fit", fitted("dialects", rows), "--collective", "allreduce", "--bytes", "1K..256M", "-f", "csv"]
    code, nccl, _ = run("tune", *words)
    code, torch, err = run("tune", *words, "--dialect", "torchcomms")
    expect(code == 0, err)
    def at(text, size, per_rank):
        for line in text.splitlines():
            if line.startswith("#"):
                continue
            if per_rank:
                collective, rest = line.split(",", 1)
                span, way = rest[1:].split("],")
                low, high = map(int, span.split(","))
                algorithm, protocol, _, nodes, local = way.split(",")
                expect((collective, nodes, local) == ("allreduce", "1", "8"), line)
            else:
                collective, low, high, algorithm, protocol, channels, nodes, ranks = line.split(",")
                low, high = int(low), int(high)
                expect((collective, channels, nodes, ranks) == ("allreduce", "-1", "1", "8"), line)
            if low <= size <= high:
                return algorithm, protocol
        return None
    for size in range(1024, 1 << 24, 99989):
        expect(at(nccl, size, False) == at(torch, size // 8, True), size, at(nccl, size, False), at(torch, size // 8, True))
    expect("nvls" in nccl and all(len(line) < 256 for line in nccl.splitlines()), nccl)
    code, rccl, _ = run("tune", *words, "--dialect", "rccl")
    expect(code == 0 and "nvls,simple" not in rccl and ",ring," in rccl, rccl)
    code, out, _ = run("tune", "--on", "dgx-h100*2", "-f", "csv", "--collective", "allreduce")
    expect("nvls_tree" in out and "nvlstree" not in out, out)


def test_measured_alone():
    """A library without a model, RCCL on AMD's devices: every way must be measured, its own choice too."""
    rows = [f"box,allreduce,8,{a},{p},{size},{law((a, p), size)}" for (a, p) in LAWS for size in SIZES]
    words = ["--on", "mi300x-node", "--dialect", "rccl", "--collective", "allreduce", "--bytes", "1K..256M"]
    code, out, err = run("tune", *words, "--fit", fitted("amd", rows), "-f", "csv")
    lines = [line.split(",")[3:5] for line in out.splitlines() if not line.startswith("#")]
    expect(code == 0 and lines == [["ring", "ll"], ["ring", "ll128"], ["ring", "simple"]], out, err)
    code, _, err = run("tune", *words)
    expect_line(code, err, 2, "--fit")
    code, _, err = run("tune", *words, "--fit", fitted("forced", [row for row in rows if ",,," not in row]))
    expect_line(code, err, 2, "own choice")


def test_refused():
    for words, wanted in ((["--on", "dgx-h100", "--collective", "alltoall"], "allreduce"), (["--on", "dgx-h100", "--dialect", "csv"], "torchcomms"),
                          (["--on", "dgx-h100", "--nodes", "0"], "nodes"), (["--on", "dgx-h100", "--nodes", "1.5"], "nodes"), ([], "--on"),
                          (["--on", "mi300x*8 xgmi=300GB/s"], "NCCL"), (["--on", "h100-80-sxm"], "single device"), (["--on", "dgx-h100", "--library", "textbook"], "NCCL")):
        code, _, err = run("tune", *words)
        expect_line(code, err, 2, wanted)
    code, out, _ = run("tune", "--on", "dgx-h100", "-o", os.path.join(FOLDER, "page.html"))
    expect(code == 0 and os.path.getsize(os.path.join(FOLDER, "page.html")) > 1000, out)

def chosen(rows, size):
    """The way that the table takes at a size, from a fit of these rows, or from nothing."""
    words = ["--on", "hgx-b200", "--collective", "allreduce", "--bytes", str(size)]
    if rows:
        names = list(rows[0])
        path, fit = os.path.join(FOLDER, "published.csv"), os.path.join(FOLDER, "published.json")
        with open(path, "w", newline="") as file:
            writer = csv.DictWriter(file, names)
            writer.writeheader()
            writer.writerows(rows)
        code, _, err = run("fit", "--kind", "exchange", path, "--on", "hgx-b200", "-o", fit)
        expect(code == 0, err)
        words += ["--fit", fit]
    row, = table("choices", *words)
    return (row["algorithm"], row["protocol"]) if row["choice"] == "changed" else ("", "")


def test_published():
    """Published times of 8 B300 (tests/data/README.md): how often the choice is the fastest measured one, and never a slower one than NCCL's own."""
    with open(os.path.join(SOURCE, "tests", "data", "nccl_choices.csv")) as file:
        rows = list(csv.DictReader(file))
    times = {(int(row["bytes"]), row["algorithm"], row["protocol"]): float(row["time_us"]) for row in rows}
    sizes = sorted({size for size, _, _ in times})
    def fastest(size):
        return min((way for way in times if way[0] == size), key=times.get)[1:]
    ways = {"measured": [chosen(rows, size) for size in sizes], "model": [chosen(None, size) for size in sizes]}
    right = {how: sum(way == fastest(size) for way, size in zip(found, sizes)) for how, found in ways.items()}
    print("the fastest measured of", len(sizes), "sizes:", right)
    expect(len(sizes) == 7 and right["measured"] >= 5, right, ways["measured"])
    for size, way in zip(sizes, ways["measured"]):
        expect(times[(size, *way)] <= times[(size, "", "")], "slower than NCCL's own choice", size, way)
        expect(times[(size, *way)] <= 1.07 * times[(size, *fastest(size))], size, way, fastest(size))
    expect(ways["model"] == [("", "")] * 7, "nothing measured changes nothing here", ways["model"])


def test_collective_table():
    """A table of our own collectives in the same form: ranges as the library reads them, gains as the table measured them."""
    path = os.path.join(FOLDER, "collective.txt")
    text = """paceline-collective 1
machine A processor, 2 processors
ranks 2
allreduce=flat:32K,copy
# measured allreduce 8 flat 1e-06 1.5e-06
# measured allreduce 4096 flat 2e-06 4e-06
# measured allreduce 8388608 copy 1e-3 9e-4
timeout=5
# a comment
ranks 4
broadcast=binomial
"""
    with open(path, "w") as file:
        file.write(text)
    document = json_of("tune", path)
    strict_schema.hold(document, "tune")
    expect(document["machine"] == "A processor, 2 processors" and document["dialect"] == "collective", document["machine"])
    rows = [(c["collective"], c["ranks"], c["from_bytes"], c["to_bytes"], c["algorithm"], c["against_algorithm"], c["saved_low_share"]) for c in document["choices"]]
    expect(rows == [("allreduce", 2, 0, 32768, "flat", "built-in", None), ("allreduce", 2, 32769, None, "copy", "built-in", None),
                    ("broadcast", 4, 0, None, "binomial", "built-in", None)], rows)
    saved = [c["saved_share"] for c in document["choices"]]
    expect(math.isclose(saved[0], 1 - 1 / math.sqrt(1.5 * 2)) and math.isclose(saved[1], 1 - 1 / 0.9) and saved[2] is None, saved)
    expect([(z["bytes"], z["best_us"], z["own_us"]) for z in document["sizes"]] == [(8, 1, 1.5), (4096, 2, 4), (8388608, 1000, 900)], document["sizes"])
    for bad, wanted in (("paceline-collective 2\n", ":1: expected paceline-collective 1"), (text.replace("machine", "host"), ":2: expected the machine"),
                        (text.replace("flat:32K", "flat:32Q"), ":4: expected a way"), (text.replace(",copy", ":16K,copy", 1).replace("flat:32K:16K", "flat:32K,flat:16K"), ":4: expected sizes that grow"),
                        (text.replace("ranks 4", "ranks few"), ":10: expected a number of ranks"), (text.replace("1e-06 1.5", "fast 1.5"), ":5: expected a collective"),
                        (text.replace("ranks 2\n", ""), ":3: expected ranks"), ("paceline-collective 1\nmachine x\n", "a choice"), (text + "\0", "byte of 0")):
        with open(path, "w") as file:
            file.write(bad)
        code, _, err = run("tune", path)
        expect_line(code, err, 3, wanted)
    code, _, err = run("tune", path, "--on", "dgx-h100")
    expect_line(code, err, 2, "--on: has no effect")


test_one_road()
test_ranges()
test_measured()
test_channels()
test_close()
test_few_sizes()
test_dialects()
test_measured_alone()
test_refused()
test_published()
test_noise()
test_collective_table()
finish()
