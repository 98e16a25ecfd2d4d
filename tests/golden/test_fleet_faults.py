"""What a new user gets wrong with `paceline fleet`: one clear line each, the right exit code, and nothing lost that was good."""
import gzip
import os
import subprocess
import sys
import tempfile

PACELINE = os.environ["PACELINE"]
FOLDER = tempfile.mkdtemp(prefix="paceline-fleet-faults-")
HEAD = ("job,architecture,cnodes,batch_size,flop,memory_access_bytes,input_bytes,weight_traffic_bytes,dense_weight_bytes,"
        "embedding_weight_bytes\n")
GOOD = "a,ps_worker,4,64,1e12,1e10,1e6,1e8,1e8,0\n"
wrong = []


def put(name, data):
    path = os.path.join(FOLDER, name)
    with open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())
    return path


def run(*words):
    done = subprocess.run([PACELINE, "fleet", *words], capture_output=True, timeout=120)
    err = done.stderr.decode("utf-8", "replace")
    if "Sanitizer" in err or "runtime error" in err or done.returncode < 0:
        wrong.append((words, err[:600]))
    return done.returncode, done.stdout.decode("utf-8", "replace"), err


def refused(code, said, *words):
    """One line on stderr that says all of `said`, nothing on stdout."""
    found, out, err = run(*words)
    if found != code or out or err.count("\n") != 1 or any(s not in err for s in said):
        wrong.append((words, "expected", code, said, "found", found, err[:400], out[:100]))


def warned(said, *words):
    found, out, err = run(*words)
    if found != 0 or not out or any(s not in err for s in said):
        wrong.append((words, "expected a report and", said, "found", found, err[:600]))


def row(**changes):
    names = HEAD.strip().split(",")
    cells = dict(zip(names, GOOD.strip().split(",")), job="b", **changes)
    return ",".join(cells[name] for name in names) + "\n"


def tables():
    good = put("good.csv", HEAD + GOOD + row(architecture="1w1g", cnodes="1"))
    refused(3, ("nowhere.csv", "No such file"), os.path.join(FOLDER, "nowhere.csv"))
    refused(3, (FOLDER, "directory"), FOLDER)
    refused(3, ("empty.csv", "is empty"), put("empty.csv", b""))
    refused(3, ("head.csv", "found none"), put("head.csv", HEAD))
    refused(3, ("program", "is a program"), put("program", b"\x7fELF\x02\x01\x01\x00\x00" + bytes(range(256))))
    refused(3, ("x.csv:1", "cnodes", "--columns"), put("x.csv", "a,b,c\n1,2,3\n"))
    for between, called in ((";", "semicolons"), ("~", "'~'"), ("|", "'|'")):
        refused(3, ("between.csv:1", f"separated by {called}", "expected commas"), put("between.csv", (HEAD + GOOD).replace(",", between)))
    refused(3, ("typo.csv:1", "weight_traffic_bytes", "wieght_traffic_bytes"), put("typo.csv", HEAD.replace("weight_t", "wieght_t") + GOOD))
    refused(3, ("two.csv:1", "flop", "--columns"), put("two.csv", HEAD.strip() + ",flop\n" + GOOD.strip() + ",1\n"))
    for name, cells, said in (("negative", {"flop": "-1e12"}, ("flop", "at least 0")), ("nan", {"flop": "many"}, ("flop", "many")),
                              ("zero", {"cnodes": "0"}, ("cnodes",)), ("half", {"cnodes": "2.5"}, ("cnodes", "whole")),
                              ("ring", {"architecture": "ring"}, ("ring", "1w1g", "pearl")),
                              ("alone", {"architecture": "1w1g", "cnodes": "4"}, ("cnodes", "1w1g")),
                              ("gb", {"embedding_weight_bytes": "0.5"}, ("embedding_weight_bytes", "in GB?")),
                              ("huge", {"flop": "1e30"}, ("flop", "at most")), ("twice", {}, ("before", "--repeats"))):
        bad = GOOD if name == "twice" else row(**cells)
        path = put(name + ".csv", HEAD + GOOD + bad)
        refused(3, (f"{name}.csv:3", "1 of 2", "--most-rejected", *said), path)
        # What was good is not lost where as many may be refused; the row is listed.
        rejects = os.path.join(FOLDER, name + ".rejects")
        warned((f"{name}.csv:3", "1 of 2 rows"), path, "--most-rejected", "0.5", "--rejects", rejects)
        with open(rejects) as file:
            listed = file.read().splitlines()
        if len(listed) != 2 or not listed[1].startswith(f'"{path}",3,') and f"{name}.csv" not in listed[1]:
            wrong.append((name, listed))
    refused(3, ("short.csv:3", "cut short"), put("short.csv", HEAD + GOOD + "b,ps_worker,4\n"))
    warned(("largest flop", "GFLOP", "flop*1e+09=flop"), put("units.csv", HEAD + row(flop="1000", memory_access_bytes="20")))
    refused(3, ("before", "--repeats"), good, good)
    warned((), put("twice.csv", HEAD + GOOD + GOOD), "--repeats")
    # Rows that differ, so that the compressed bytes are many.
    whole = gzip.compress((HEAD + "".join(GOOD.replace("a,", f"j{i},", 1).replace("1e12", str(10**9 + i * i * 7919)) for i in range(20000))).encode())
    warned(("cut.csv.gz", "breaks off"), put("cut.csv.gz", whole[:len(whole) // 2]))
    refused(3, ("head.csv.gz",), put("head.csv.gz", whole[:12]))
    return good


def options(good):
    for code, said, words in (
            (2, ("table of jobs",), ()), (4, ("pai-2019", "pai-2018"), (good, "--on", "pai-2019")),
            (4, ("dgx-h10", "dgx-h100"), (good, "--on", "dgx-h10")), (2, ("netz",), (good, "--on", "dgx-h100 netz=1GB/s")),
            (2, ("--sweep", "network="), (good, "--sweep", "network")), (2, ("--sweep", "fast"), (good, "--sweep", "network=fast")),
            (2, ("--sweep", "disk"), (good, "--sweep", "disk=1GB/s")), (2, ("--sweep",), (good, "--sweep", "network=0")),
            (2, ("--sweep",), (good, "--sweep", "network=-1GB/s")), (2, ("--price",), (good, "--price", "network=100Gb/s")),
            (2, ("--price", "cheap"), (good, "--price", "network=100Gb/s:cheap")),
            (2, ("--price", "--sweep"), (good, "--price", "network=33Gb/s:5")),
            (2, ("--most-rejected",), (good, "--most-rejected")), (2, ("--most-rejected", "'x'"), (good, "--most-rejected", "x")),
            (2, ("--most-rejected", "2"), (good, "--most-rejected", "2")), (2, ("--most-rejected", "0"), (good, "--most-rejected", "0")),
            (3, ("/nowhere/x",), (good, "--rejects", "/nowhere/x")), (2, ("--columns", "foo"), (good, "--columns", "foo=flop")),
            (2, ("--columns", "THEIRS=OURS"), (good, "--columns", "flop")), (2, ("--columns", "flopp"), (good, "--columns", "job=flopp")),
            (2, ("--overlap", "much"), (good, "--overlap", "much")), (2, ("efficiency", "2"), (good, "--efficiency", "2")),
            (3, ("(table) than --fit takes",), (good, "--fit", good)), (2, ("--format", "xml"), (good, "--format", "xml"))):
        refused(code, said, *words)


options(tables())
for what in wrong:
    print("wrong:", *what)
sys.exit(bool(wrong))
