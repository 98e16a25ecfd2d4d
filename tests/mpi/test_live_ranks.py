"""Hosts that are network namespaces, and the closed loop with several ranks: what a link carries, that all is removed, that rows hold to
the schema. Skipped where namespaces are not permitted."""
import json
import os
import re
import subprocess
import sys

from under_mpirun import BUILD, ENV, EVERYTHING, expect, finish  # before what it finds
import strict_schema

SCRIPT = os.path.join(BUILD, "modules", "paceline-hosts.sh")


def run(*words):
    done = subprocess.run(words, capture_output=True, env=ENV, timeout=300, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def namespaces():
    return set(os.listdir("/var/run/netns")) if os.path.isdir("/var/run/netns") else set()


before = namespaces()
code, out, err = run(SCRIPT, "2", "125000000", "sh", "-c", "echo $(hostname) $OMPI_COMM_WORLD_SIZE; grep -c pl /etc/hosts")
if code == 4:
    print("skipped:", err.strip())
    sys.exit(77)
names = re.findall(r"(pl\d+-\d) 2", out)
expect(code == 0 and len(set(names)) == 2, "two ranks, each on a host of its own", code, out, err)
expect(out.split().count("2") == 4, "two ranks that each know two hosts", out)
expect(not any(one in namespaces() - before for one in names), "namespaces are left behind", names)
code, out, err = run(SCRIPT, "2", "125000000", "sh", "-c", "exit 3")
expect(code == 3, "the exit status is the command's", code, err)
DELAYED = '''
import os, socket, time
if os.environ["OMPI_COMM_WORLD_RANK"] == "0":
    with socket.create_server(("", 5000)) as server:
        server.accept()[0].sendall(b"x")
else:
    while True:
        try:
            began = time.monotonic()
            with socket.create_connection((socket.gethostname()[:-1] + "0", 5000)) as end:
                taken = time.monotonic() - began
                end.recv(1)
            break
        except ConnectionRefusedError:
            time.sleep(0.01)
    print("taken", taken)
'''
code, out, err = run(SCRIPT, "2", "125000000,0.02", sys.executable, "-c", DELAYED)
taken = re.search(r"taken ([0-9.]+)", out)
expect(code == 0 and taken and float(taken[1]) >= 0.04, "a connection takes a round trip of twice the delay", code, out, err)
code, out, err = run(SCRIPT, "2", "125000000,1ms", "true")
expect(code == 4 and "expected seconds" in err, "a delay that is no number", code, err)
code, out, err = run(SCRIPT, "2")
expect(code == 4 and "expected COUNT" in err, "too few words", code, err)
layers = os.path.exists(os.path.join(BUILD, "modules", "paceline-train-onednn.so"))
collective = os.path.exists(os.path.join(BUILD, "modules", "paceline-train-collective.so"))
if EVERYTHING and layers and collective:
    entry = os.path.join(BUILD, "tests", "live_ranks_box.yaml")
    with open(entry, "w", encoding="utf-8") as file:
        file.write("sources: {here: made up}\ndevices:\n  - {name: box, vendor: AMD, kind: cpu, flop_per_s: {fp32: {value: 1e11, source: here, "
                   "confidence: low}}, memory_bytes: {value: 2.5e10, source: here, confidence: low}, memory_bytes_per_s: {value: 2.4e10, "
                   "source: here, confidence: low}, source: made up, confidence: low}\n")
    slow = 2.5e6  # bytes/s: LeNet's 1.7 MB go once each way
    code, out, err = run(os.environ["PACELINE"], "validate", "--live", "--on", entry, "--model", "lenet", "--batch", "2", "--ranks", "1", "--ranks",
                         "2", "--approach", "mpi-opt", "--link", "memory", "--link", "20Mb/s", "--runs", "1", "--steps", "2", "--format", "json")
    expect(code == 0, err[-1000:])
    answer = json.loads(out) if code == 0 else {"steps": []}
    if code == 0:
        strict_schema.hold(answer, "live")
    expect([(row["ranks"], row["link"]) for row in answer["steps"]] == [(1, None), (2, None), (2, "20Mb/s")], answer["steps"])
    far = answer["steps"][2] if len(answer["steps"]) == 3 else {"measured_ns": 0, "predicted_ns": 0}
    carried = 431080 * 4 / slow * 1e9
    expect(far["measured_ns"] > 0.8 * carried, "no faster than the link", far, carried)
    expect(far["predicted_ns"] > 0.8 * carried, "nor is it predicted to be", far, carried)
finish()
