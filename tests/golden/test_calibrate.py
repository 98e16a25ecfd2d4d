"""`paceline calibrate` from outside: a tiny family, resumed; the table is one that fit and predict --rows read."""
import csv
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PACELINE = os.environ["PACELINE"]


def run(*words, expect=0):
    done = subprocess.run([PACELINE, *map(str, words)], capture_output=True, text=True, timeout=240)
    assert done.returncode == expect, (words, done.returncode, done.stderr)
    return done


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_list():
    small = json.loads(run("calibrate", "--list", "--quick", "--format", "json").stdout)
    with tempfile.TemporaryDirectory() as folder:
        run("calibrate", "--list", "--quick", "-o", folder + "/list.json")
        with open(folder + "/list.json", encoding="utf-8") as file:
            assert json.load(file)["families"] == small["families"]
    full = json.loads(run("calibrate", "--list", "--full", "--format", "json", "cuda").stdout)
    assert small["schema"] == "paceline.calibrate/1"
    assert 20 < small["points"] < full["points"]
    assert sum(row["expected_ns"] for row in small["families"]) < 60e9  # under a minute
    assert {"gemm", "embedding", "convolution"} <= {row["family"] for row in full["families"]}


def test_kernels_of_a_model(folder):
    """LeNet has two convolutions (of the first no gradient of data), two poolings, two linear layers."""
    words = ["calibrate", "--list", "--model", "lenet", "--set", "micro_batch=4", "--format", "json"]
    listed = {row["family"]: row["points"] for row in json.loads(run(*words).stdout)["families"]}
    assert (listed["convolution"], listed["pooling"], listed["packed_linear"], listed["gemm"]) == (5, 4, 6, 6), listed
    with_grid = json.loads(run(*words, "--family", "reduction", "--quick").stdout)
    assert with_grid["points"] == sum(listed.values()) + 3  # of the grid, none of which is LeNet's
    assert "micro-batch of 1" in run("calibrate", "--list", "--model", "lenet").stdout
    assert "--model" in run("calibrate", "--list", "--set", "micro_batch=4", expect=2).stderr
    assert "lenett" in run("calibrate", "--list", "--model", "lenett", expect=4).stderr
    table = folder / "kernels.csv"
    small = ["--model", "mlp", "--set", "features=32", "--set", "micro_batch=2"]
    run("calibrate", "--quick", "--threads", "1", *small, "-o", table)
    linear = {(row["pass"], row["m"], row["n"], row["k"]) for row in rows_of(table) if row["op"] == "packed_linear"}
    assert {("forward", "2", "800", "32"), ("backward_data", "2", "10", "800")} <= linear, linear


def test_rows_and_resume(folder):
    table = folder / "rows.csv"
    words = ["calibrate", "--quick", "--family", "reduction", "--threads", "1", "-o", table, "--format", "json"]
    first = json.loads(run(*words).stdout)
    rows = rows_of(table)
    assert len(rows) == first["points"] == sum(f["measured"] for f in first["families"]) == 3
    for row in rows:
        assert row["op"] == "sum" and row["dtype"] == "fp32" and row["threads"] == "1"
        assert 0 < float(row["best_us"]) <= float(row["latency_us"]) and float(row["spread"]) >= 0
    before = table.read_bytes()
    again = json.loads(run(*words).stdout)
    assert sum(f["kept"] for f in again["families"]) == 3 and sum(f["measured"] for f in again["families"]) == 0
    assert table.read_bytes() == before
    table.write_bytes(before[:-9])  # killed while it wrote
    once = json.loads(run(*words).stdout)
    assert sum(f["kept"] for f in once["families"]) == 2 and sum(f["measured"] for f in once["families"]) == 1
    assert table.read_bytes().startswith(before[: before[:-1].rindex(b"\n") + 1])


def test_rows_are_questions(folder):
    table, entry = folder / "rows.csv", folder / "device.yaml"
    entry.write_text(
        "devices:\n  - {name: box, vendor: v, flop_per_s: {fp32: 1e11}, memory_bytes_per_s: 2e10, source: test}\n"
    )
    run("calibrate", "--quick", "--family", "reduction,softmax", "--threads", "1", "--name", "box", "-o", table, "-q")
    done = run("predict", "--rows", table, "--on", entry, "--format", "csv")
    assert "not read" not in done.stderr, done.stderr  # how it was measured stands there in each such table
    lines = table.read_text().replace(",spread,best_us,", ",spread_of_mine,best_us,")
    (folder / "mine.csv").write_text(lines)
    mine = run("predict", "--rows", folder / "mine.csv", "--on", entry, "--format", "csv").stderr
    assert "columns spread_of_mine" in mine and "threads" in mine, mine
    answer = done.stdout
    answers = list(csv.DictReader(answer.splitlines()))
    assert len(answers) == 5
    assert all(float(row["predicted"]) > 0 for row in answers), answer


def test_every_operation_is_a_question(folder):
    """The words of calibrate and those of the tables that fit reads are two lists: every one must be known there."""
    table, entry, words = folder / "all.csv", folder / "device.yaml", set()
    entry.write_text(
        "devices:\n  - {name: box, vendor: v, flop_per_s: {fp32: 1e11}, memory_bytes_per_s: 2e10,\n"
        "     pcie_bytes_per_s: 1e10, source: test}\n"
    )
    sweeps = (Path(os.environ["PACELINE_SOURCE"]) / "catalog" / "sweeps.yaml").read_text()
    for found in re.findall(r"\bop: \[([^]]*)\]", sweeps):
        words.update(word.strip() for word in found.split(","))
    assert len(words) > 20
    run("calibrate", "--quick", "--family", "reduction", "--threads", "1", "-o", table, "-q")
    with open(table, newline="") as file:
        header = next(csv.reader(file))
    first, last = header.index("b"), header.index("latency_us")
    with open(table, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        for word in sorted(words):
            row = ["box", "x", word, "fp32", "forward"] + ["4"] * (last - first) + ["1"] * (len(header) - last)
            for name in ("groups", "dilation", "inputs", "outputs"):
                row[header.index(name)] = "1"
            writer.writerow(row)
    answers = list(csv.DictReader(run("predict", "--rows", table, "--on", entry, "--format", "csv").stdout.splitlines()))
    bad = {row["op"]: row["status"] for row in answers if not row["predicted"]}
    assert len(answers) == len(words) and not bad, bad


def test_entry_takes_its_place(folder):
    """The entry replaces the old one, with its mode, and no neighbour of a likely name."""
    if not any((Path(os.environ["PACELINE_BUILD"]) / "modules").glob("paceline-o*.so")):
        return  # no module multiplies matrices here
    entry, neighbour, victim = folder / "box.yaml", folder / "box.yaml.new", folder / "victim"
    entry.write_text("old")
    entry.chmod(0o600)
    victim.write_text("mine")
    neighbour.symlink_to(victim)
    run("calibrate", "--quick", "--family", "gemm,memory", "--threads", "1", "-o", folder / "rows.csv", "-e", entry, "-q")
    assert entry.read_text().count("name:") == 1 and entry.stat().st_mode & 0o777 == 0o600, entry.read_text()
    assert victim.read_text() == "mine" and neighbour.is_symlink(), victim.read_text()


def test_interrupted(folder):
    """What was measured is kept; without the entry that was asked for, the answer is no."""
    interrupt(folder / "rows.csv", "elementwise", [], 0)
    interrupt(folder / "others.csv", "memory,gemm", ["-e", folder / "box.yaml"], 1)
    assert not (folder / "box.yaml").exists()


def interrupt(table, family, more, status):
    process = subprocess.Popen(
        [PACELINE, "calibrate", "--family", family, "--threads", "1", "-o", table, "--format", "json"]
        + more,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.time() + 100
    while time.time() < deadline and (not table.exists() or table.read_bytes().count(b"\n") < 3):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=200)
    assert process.returncode == status, err
    report = json.loads(out)
    measured = sum(f["measured"] for f in report["families"])
    assert measured == len(rows_of(table)) >= 2
    assert [warning["code"] for warning in report["warnings"]] == ["stopped_early"], report["warnings"]
    assert report["warnings"][0]["text"].startswith("Stopped after"), report["warnings"]


def test_refused(folder):
    other = folder / "other.csv"
    other.write_text("a,b\n1,2\n")
    cases = [
        (2, "family", ["--family", "gemms"]),
        (2, "cpu or cuda", ["tpu"]),
        (2, "either --quick or --full", ["--quick", "--full"]),
        (2, "keep nothing: expected --output or --entry", []),  # minutes of measuring are not begun for a report alone
        (2, ".csv", ["-o", folder / "rows.txt"]),
        (2, "--name", ["--quick", "--name", "a b"]),
        (3, "no table of calibrate", ["--quick", "--family", "reduction", "-o", other]),
        (3, "cannot be opened", ["--quick", "--family", "reduction", "-o", folder / "no" / "rows.csv"]),
        (2, "gemm", ["--quick", "--family", "reduction", "-e", folder / "device.yaml"]),
    ]
    for code, word, words in cases:
        done = run("calibrate", *words, expect=code)
        assert word in done.stderr and done.stderr.count("\n") == 1, (words, done.stderr)
    assert other.read_text() == "a,b\n1,2\n" and not (folder / "device.yaml").exists()


def test_said_before(folder):
    """An entry that cannot be written is refused before anything is measured; rows of other threads in one table are named."""
    table = os.path.join(folder, "threads.csv")
    for wanted in (("--family", "softmax"), ("--family", "softmax,memory"), ("--family", "gemm")):
        done = run("calibrate", "--quick", *wanted, "-o", table, "-e", os.path.join(folder, "never.yaml"), expect=2)
        assert "needs rows of the families gemm and memory" in done.stderr and not os.path.exists(table), done.stderr
    said = [run("calibrate", "--quick", "--family", "softmax", "-o", table, "--name", "box", "--threads", n, "-f", "json").stdout for n in (1, 2)]
    notes = [" ".join(json.loads(one)["notes"]) for one in said]
    assert "other numbers of threads" not in notes[0] and f"{len(rows_of(table)) // 2} rows of box" in notes[1], notes


def test_without_modules(folder):
    """A machine without the libraries still measures, and is told what brings the rest."""
    environment = dict(os.environ, PACELINE_MODULES=str(folder))
    words = [PACELINE, "calibrate", "--list", "--quick"]
    text = subprocess.run(words, capture_output=True, text=True, env=environment, check=True).stdout
    text = " ".join(text.split())
    assert "libopenblas-dev" in text and "libdnnl-dev" in text, text
    done = subprocess.run([PACELINE, "calibrate", "cuda"], capture_output=True, text=True, env=environment)
    assert done.returncode == 4 and "CUDA toolkit" in done.stderr and "PACELINE_MODULES" in done.stderr, done.stderr
    words = [PACELINE, "calibrate", "--quick", "--family", "convolution", "-o", str(folder / "none.csv")]
    done = subprocess.run(words, capture_output=True, text=True, env=environment)
    assert done.returncode == 4 and "libdnnl-dev" in done.stderr and not (folder / "none.csv").exists(), done


def main():
    test_list()
    tests = (test_kernels_of_a_model, test_rows_and_resume, test_rows_are_questions, test_every_operation_is_a_question,
             test_entry_takes_its_place, test_interrupted)
    for test in (*tests, test_refused, test_said_before, test_without_modules):
        with tempfile.TemporaryDirectory() as folder:
            test(Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
