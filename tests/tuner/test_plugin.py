"""libnccl-tuner-paceline.so under a program that does with it what NCCL does: what it takes from tables, and what it says of bad ones."""
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden"))
from checks import PACELINE, expect, finish

PLUGIN, PLAY = os.environ["TUNER_PLUGIN"], os.environ["PLAY_NCCL"]
FOLDER = tempfile.mkdtemp(prefix="paceline-tuner-")
OWN = "tree ll 0"


def play(table, questions, version=0, ranks=16, nodes=2, impossible=(), path=None):
    """What the plug-in logged, and NCCL's choice for each question. `table` None: no file; "": nothing is set."""
    environment = {key: value for key, value in os.environ.items() if key != "NCCL_TUNER_CONFIG_FILE"}
    if path is None and table != "":
        path = os.path.join(FOLDER, "table.csv")
        if table is None:
            path = os.path.join(FOLDER, "nowhere.csv")
        else:
            with open(path, "w") as file:
                file.write(table)
    if path:
        environment["NCCL_TUNER_CONFIG_FILE"] = path
    done = subprocess.run([PLAY, PLUGIN, str(version), str(ranks), str(nodes), *(f"-{pair}" for pair in impossible)], env=environment,
                          input="\n".join(f"{c} {b} {p} {r}" for c, b, p, r in questions), capture_output=True, text=True, timeout=60)
    expect(done.returncode == 0, "play_nccl", done.returncode, done.stderr[-500:], table)
    lines = done.stdout.splitlines()
    expect(lines and lines[0] == f"paceline {version or 5}", lines[:1])
    return [line for line in lines if line.startswith("log ")], [line for line in lines[1:] if not line.startswith("log ")]


ALLREDUCE = [("allreduce", size, 1, 0) for size in (0, 4096, 4097, 1 << 40)]


def test_versions():
    for version in (3, 4, 5):
        log, said = play("allreduce,0,4096,ring,simple,8,2,16\nallreduce,4097,8192,nvls_tree,simple,-1,-1,-1,-1,-1\n", ALLREDUCE, version)
        expect(said == ["ring simple 8", "ring simple 8", "nvls_tree simple 0", OWN], version, said)
        expect(len(log) == 1 and "2 of 2 rows" in log[0] and log[0].startswith("log 3"), log)


def test_matches():
    """Against the rules, told anew: the first row of the collective whose range, place, operations and buffers fit."""
    words = {"collective": ["broadcast", "reduce", "allgather", "reducescatter", "allreduce"], "algorithm": ["tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat"],
             "protocol": ["ll", "ll128", "simple"]}
    dice = random.Random(5)
    rows = []
    for _ in range(200):
        low = dice.randrange(1 << 20)
        rows.append([dice.choice(words["collective"]), low, low + dice.randrange(1 << 18), dice.choice(words["algorithm"]), dice.choice(words["protocol"]),
                     dice.choice([-1, 1, 32]), dice.choice([-1, 2, 4]), dice.choice([-1, 16, 32]), dice.choice([-1, 1, 4]), dice.choice([-1, 0, 1])][:dice.choice([8, 9, 10])])
    questions = [(dice.choice(words["collective"]), dice.randrange(1 << 20), dice.choice([1, 2, 4]), dice.choice([0, 1])) for _ in range(2000)]
    def wanted(question):
        for row in rows:
            full = row + [-1] * (10 - len(row))
            places = ((full[6], 2), (full[7], 16), (full[8], question[2]), (full[9], question[3]))
            if full[0] == question[0] and full[1] <= question[1] <= full[2] and all(a in (-1, b) for a, b in places):
                return f"{full[3]} {full[4]} {max(full[5], 0)}"
        return OWN
    text = "# a comment\n\ncollective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks\r\n"
    _, said = play(text + "\n".join(" , ".join(map(str, row)) for row in rows), questions)
    expect(said == [wanted(question) for question in questions], "rows", [(q, s, wanted(q)) for q, s in zip(questions, said) if s != wanted(q)][:3])
    expect(len(set(said)) > 20, "too few rows fit", len(set(said)))


def test_impossible():
    """What NCCL marks as impossible stays so, and is said once."""
    log, said = play("allreduce,0,4096,nvls,simple,4,-1,-1\n", ALLREDUCE * 3, impossible=["nvls:simple"])
    expect(said == [OWN] * 12 and len(log) == 2 and "line 1" in log[1] and log[1].startswith("log 2"), log, said)


def test_other_place():
    log, said = play("allreduce,0,4096,ring,simple,8,4,32\n", ALLREDUCE)
    expect(said == [OWN] * 4 and "0 of 1 rows" in log[0], log, said)


def test_bad():
    """One line that says where and what; NCCL's own choice, also where other lines are good."""
    good = "allreduce,0,4096,ring,simple,8,-1,-1\n"
    bad = [("allreduce,0,4096,ring\n", "8 to 10 fields"), ("allreduce,0,4096,ring,simple,8,-1,-1,-1,-1,-1\n", "found '11'"), ("alltoall,0,1,ring,simple,-1,-1,-1\n", "alltoall"),
           ("allreduce,0,1,rings,simple,-1,-1,-1\n", "rings"), ("allreduce,0,1,ring,LL,-1,-1,-1\n", "'LL'"), ("allreduce,5,4,ring,ll,-1,-1,-1\n", "no fewer"),
           ("allreduce,-1,4,ring,ll,-1,-1,-1\n", "bytes"), ("allreduce,0,4x,ring,ll,-1,-1,-1\n", "4x"), ("allreduce,0,,ring,ll,-1,-1,-1\n", "bytes"),
           ("allreduce,0,99999999999999999999,ring,ll,-1,-1,-1\n", "bytes"), ("allreduce,0,4,ring,ll,0,-1,-1\n", "channels"), ("allreduce,0,4,ring,ll,-2,-1,-1\n", "channels"),
           ("allreduce,0,4,ring,ll,-1,many,-1\n", "nodes"), ("x" * 6000 + "\n", "8 to 10"), ("\0\0\0\n", "text"),
           (good[:-1] + "\0\n", "text"), ("PK\3\4\n", "found")]
    for line, wanted in bad:
        log, said = play(good + line, ALLREDUCE)
        expect(said == [OWN] * 4 and len(log) == 1 and log[0].startswith("log 2") and wanted in log[0] and "table.csv:2" in log[0], repr(line), log, said)
        expect(len(log) == 1 and "own choices stay" in log[0], repr(line), log)
    for table, path, wanted in ((None, None, "No such file"), ("", None, "NCCL_TUNER_CONFIG_FILE"), (good, FOLDER, "directory")):
        log, said = play(table, ALLREDUCE, path=path)
        expect(said == [OWN] * 4 and len(log) == 1 and log[0].startswith("log 2") and wanted in log[0], wanted, log)
    log, said = play("#" + "x" * 5000 + "\n" + good, ALLREDUCE)
    expect(said[0] == "ring simple 8", log)


def test_from_paceline():
    """What `paceline tune` writes of measured curves is what NCCL then does."""
    rows = ["system,collective,ranks,algorithm,protocol,bytes,time_us"]
    rows += [f"box,allreduce,8,{a},{p},{1 << i},{floor + (1 << i) / rate / 1e3}" for i in range(10, 29)
             for a, p, floor, rate in (("ring", "ll", 8, 20), ("ring", "simple", 30, 180), ("", "", 50, 15))]
    table, fit, out = (os.path.join(FOLDER, name) for name in ("curves.csv", "curves.json", "out.csv"))
    with open(table, "w") as file:
        file.write("\n".join(rows) + "\n")
    for words in (["fit", "--kind", "exchange", table, "-o", fit], ["tune", "--on", "dgx-h100", "--fit", fit, "--collective", "allreduce", "--bytes", "1K..256M", "-o", out]):
        done = subprocess.run([PACELINE, *words], capture_output=True, text=True)
        expect(done.returncode == 0, words, done.stderr)
    crossing = 22 / (1 / 20 - 1 / 180) * 1e3
    sizes = [1000, 1024, int(crossing * 0.99), int(crossing * 1.01), 1 << 28, (1 << 28) + 1]
    log, said = play("", [("allreduce", size, 1, 0) for size in sizes], ranks=8, nodes=1, path=out)
    expect(said == [OWN, "ring ll 0", "ring ll 0", "ring simple 0", "ring simple 0", OWN], log, said)


test_versions()
test_matches()
test_impossible()
test_other_place()
test_bad()
test_from_paceline()
finish()
