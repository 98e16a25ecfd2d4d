#!/usr/bin/env python3
"""Files that are written: whole or not at all, under a name of their own meanwhile, and never in the place of an input."""
import ctypes
import gzip
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from checks import PACELINE, expect, expect_line, finish, run

MAKE_TRACE = os.environ["MAKE_TRACE"]
JOBS = Path(__file__).resolve().parents[1] / "data" / "jobs_synthetic.csv.gz"


def trace(path, *words):
    with open(path, "wb") as file:
        subprocess.run([MAKE_TRACE, "--steps", "3", "--layers", "12", "--compact", *words], stdout=file, check=True)
    return path


def unpack_zstd(path):
    zstd = ctypes.CDLL("libzstd.so.1")
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    zstd.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    content, out = Path(path).read_bytes(), ctypes.create_string_buffer(1 << 26)
    size = zstd.ZSTD_decompress(out, len(out), content, len(content))
    expect(size <= len(out), path, "is no zstd", content[:4])
    return out.raw[:size] if size <= len(out) else b"{}"


def test_suffixes(folder, one):
    for name in ("x.md", "x.pdf", "x.parquet", "x.json.xz", "x.jsn"):
        code, _, err = run("analyze", one, "-o", folder + "/" + name)
        expect_line(code, err, 2, name, ".html")
        expect(not os.path.exists(folder + "/" + name), name)
    for name, begins in (("x.HTML", b"<!doctype"), ("x.htm", b"<!doctype"), ("x.JSON", b"{"), ("plain", b"Where"), ("x.txt", b"")):
        code, _, err = run("analyze", one, "-o", folder + "/" + name)
        content = Path(folder, name).read_bytes()
        expect(code == 0 and (begins.lower() == content[:len(begins)].lower() or name == "plain"), name, code, err, content[:40])
    code, _, err = run("analyze", one, "-o", folder + "/x.Json.GZ")
    expect(code == 0 and json.loads(gzip.open(folder + "/x.Json.GZ").read())["schema"], code, err)
    code, _, err = run("analyze", one, "-o", folder + "/x.json.zst")
    expect(code == 0 and json.loads(unpack_zstd(folder + "/x.json.zst"))["schema"], code, err)
    code, _, err = run("slice", one, "-o", folder + "/slice.json.zst")
    expect(code == 0 and run("slice", one, "-o", folder + "/slice.json")[0] == 0, code, err)
    expect(run("slice", one, "-o", folder + "/SLICE.JSON.GZ")[0] == 0 and run("convert", one, "-o", folder + "/X.ET")[0] == 0, "case")
    expect(gzip.open(folder + "/SLICE.JSON.GZ").read() == Path(folder, "slice.json").read_bytes(), "one slice, whatever the case of its name")
    expect(unpack_zstd(folder + "/slice.json.zst") == Path(folder, "slice.json").read_bytes(), "one slice, packed and plain")
    expect(run("analyze", folder + "/slice.json.zst")[0] == 0, "what was packed is read")
    for packed, plain in (("o.json.gz", "o.json"), ("o.json.zst", "o.json")):  # whoever writes, the suffix compresses
        for name in (packed, plain):
            expect(run("analyze", one, "-q", "--overheads", f"{folder}/{name}")[0] == 0, name)
        unpacked = unpack_zstd(f"{folder}/{packed}") if packed.endswith("zst") else gzip.open(f"{folder}/{packed}").read()
        expect(unpacked == Path(folder, plain).read_bytes(), packed)


def test_places(folder, one):
    """Mode and link of the old file stay; a neighbour with a likely name stays what it is."""
    old, note, link, real = (folder + "/" + name for name in ("old.json", "old.json.part", "link.json", "real.json"))
    Path(old).write_text("old")
    os.chmod(old, 0o600)
    Path(note).write_text("my notes")
    Path(real).write_text("old")
    os.symlink("real.json", link)
    for path in (old, link):
        code, _, err = run("analyze", one, "-o", path)
        expect(code == 0, path, err)
    expect(os.stat(old).st_mode & 0o777 == 0o600, "mode", oct(os.stat(old).st_mode))
    expect(Path(note).read_text() == "my notes", "a neighbour was overwritten")
    expect(os.path.islink(link) and json.loads(Path(real).read_text())["schema"], "a link was replaced")
    code, _, err = run("analyze", one, "--overheads", folder + "/same.json", "-o", folder + "/same.json")
    expect_line(code, err, 2, "two files")
    jobs, mine, victim = (folder + "/" + name for name in ("jobs.csv", "refused.csv", "victim"))
    Path(jobs).write_text("".join(gzip.open(JOBS, "rt").readlines()[:20] * 2))
    Path(victim).write_text("my notes")
    os.symlink("victim", mine + ".part")
    code, _, err = run("fleet", jobs, "--rejects", mine, "--most-rejected", "0.9")
    expect(code == 0 and Path(mine).read_text().startswith("file,line") and not os.path.islink(mine), "refused rows", err)
    expect(Path(victim).read_text() == "my notes", "a neighbour's target was overwritten")
    part = trace(folder + "/z.json.part")
    code, _, err = run("analyze", part, "-o", folder + "/z.json")
    expect(code == 0 and os.path.exists(part), "an input was removed", err)


def test_names(folder, one):
    """A name as long as names may be; a link that leads nowhere yet; links in circles; a stream that appends."""
    long = folder + "/" + "n" * 250 + ".json"
    code, _, err = run("analyze", one, "-o", long)
    expect(code == 0 and json.loads(Path(long).read_text())["schema"], "a long name", err)
    inner, link, circle = (folder + "/" + name for name in ("inner", "dangling.json", "circle.json"))
    os.mkdir(inner)
    os.symlink("inner/made.json", link)
    os.symlink("circle.json", circle)
    made = subprocess.Popen([PACELINE, "analyze", "/dev/stdin", "-q", "-o", link], stdin=subprocess.PIPE)
    made.communicate(b"{")
    expect(made.returncode == 3 and os.listdir(inner) == [], "a run that fails makes no file behind a link", os.listdir(inner))
    code, _, err = run("analyze", one, "-o", link)
    expect(code == 0 and os.path.islink(link) and json.loads(Path(inner, "made.json").read_text())["schema"], err)
    code, _, err = run("analyze", one, "-o", circle)
    expect_line(code, err, 3, "circle.json")
    log = folder + "/log"
    Path(log).write_text("before\n")
    with open(log, "ab") as file:
        code = subprocess.run([PACELINE, "machines", "h100", "-f", "json", "-o", "/dev/stdout"], stdout=file).returncode
    content = Path(log).read_text()
    expect(code == 0 and content.startswith("before\n{") and json.loads(content[7:])["schema"], content[:60])


def test_two_at_once(folder, one):
    """Two runs into one file leave one whole result."""
    big = trace(folder + "/big.json", "--steps", "200")
    out = folder + "/both.json"
    for _ in range(3):
        runs = [subprocess.Popen([PACELINE, "analyze", path, "-q", "-o", out]) for path in (big, one, big)]
        codes = [one_run.wait(120) for one_run in runs]
        expect(codes == [0, 0, 0], codes)
        expect(json.loads(Path(out).read_text())["schema"], "not whole")


def test_ended(folder):
    """A signal leaves nothing behind; what a kill leaves the next run removes."""
    out = folder + "/fleet.csv"
    signals = (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGALRM, signal.SIGRTMIN)
    for number, left in [*((number, False) for number in signals), (signal.SIGKILL, True)]:
        made = subprocess.Popen([PACELINE, "fleet", "--synthesize", "20000000", "-q", "-o", out], stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while not list(Path(folder).glob(".fleet.csv.*.part")) and time.monotonic() < deadline and made.poll() is None:
            time.sleep(0.01)
        made.send_signal(number)
        expect(made.wait(60) == -number, "ended by", number, made.returncode)
        expect(bool(list(Path(folder).glob(".fleet.csv.*.part"))) == left, number, os.listdir(folder))
        expect(not os.path.exists(out), "half a file", number)
    code, _, err = run("fleet", "--synthesize", "10", "-q", "-o", out)
    expect(code == 0 and os.path.exists(out) and not list(Path(folder).glob(".fleet.csv.*.part")), err, os.listdir(folder))


CASES = """cases:
  - case: scratch
    before: {verb: fleet, synthesize: SIZE, seed: 1}
    ask: {verb: fleet, inputs: ["{before}"]}
    unit: ratio
    values: {"projections[architecture=allreduce_local].gains_share": "0.60"}
    bars: {mean_value: "0.1..1"}
"""


def gone(group):
    """Whether no process of the group is left, within a minute."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


def test_scratch(folder):
    """Files of a run lie where TMPDIR says. A signal removes them and ends what was started; the next run removes a killed one's."""
    Path(folder, "cases.yaml").write_text(CASES.replace("SIZE", "20000000"))
    Path(folder, "tmp").mkdir()
    env = {**os.environ, "TMPDIR": folder + "/tmp"}
    for words in (("validate", "--cases", folder + "/cases.yaml", "--data", folder), ("train", "lenet", "--study", "scaling", "--steps", "100000")):
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGTERM):
            made = subprocess.Popen([PACELINE, *words], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
            deadline, mine = time.monotonic() + 60, f"paceline-*-{made.pid}-*/*"
            while not list(Path(folder, "tmp").glob(mine)) and time.monotonic() < deadline and made.poll() is None:
                time.sleep(0.01)
            if words[0] == "train" and made.poll() == 4:  # a build without what trains
                break
            made.send_signal(number)
            left = os.listdir(folder + "/tmp") if made.wait(60) == -number else ["not ended by the signal"]
            expect(len(left) == (number == signal.SIGKILL), words, number, left)
            if number == signal.SIGKILL and words[0] == "train":
                os.killpg(made.pid, signal.SIGKILL)
            expect(gone(made.pid), words, number, "left a process")
    env["TMPDIR"] = "/dev/null"
    done = subprocess.run([PACELINE, "validate", "--cases", folder + "/cases.yaml", "--data", folder], env=env, capture_output=True, text=True, timeout=60)
    expect_line(done.returncode, done.stderr, 3, "/dev/null: a folder cannot be made there")


def main():
    with tempfile.TemporaryDirectory(prefix="paceline-outputs-") as folder:
        one = trace(folder + "/one.json")
        test_suffixes(folder, one)
        test_places(folder, one)
        test_names(folder, one)
        test_two_at_once(folder, one)
        test_ended(folder)
        test_scratch(folder)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
