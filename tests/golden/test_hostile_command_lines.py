"""Every verb, every option, wrong in every way: one clear line and a status, never a crash, never half an answer.

The options are those that --help lists, so that a new one is tried without being named here. Each is given empty, huge,
negative, not finite, not text, twice and without a value; each input is a file of every kind of damage. By default a
part of all combinations runs, spread evenly; with HOSTILE=all in the environment all do.
"""
import gzip
import itertools
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from checks import PACELINE, SOURCE, expect, finish

FOLDER = tempfile.mkdtemp(prefix="paceline-hostile-")
EVERYTHING = os.environ.get("HOSTILE") == "all"
HELP = subprocess.run([PACELINE, "--help"], capture_output=True, text=True, check=True).stdout
VERBS = re.findall(r"^  (\w+) ", HELP[HELP.index("verbs:"):HELP.index("exit status:")], re.M)
ENVIRONMENT = dict(os.environ, OMP_NUM_THREADS="1")


def put(name, content):
    path = os.path.join(os.fsencode(FOLDER), os.fsencode(name))
    with open(path, "wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
    return os.fsdecode(path)


def event(cat, name, ts, dur, tid=9, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": 9 if tid == 9 else 0, "tid": tid, "ts": ts, "dur": dur, "args": args}


def trace():
    made = []
    for k in range(2):
        t = 1000 + 500 * k
        made += [event("user_annotation", f"ProfilerStep#{k}", t, 500),
                 event("cpu_op", "aten::mm", t + 10, 40, **{"External id": k, "Input Dims": [[64, 64], [64, 64]],
                                                            "Input type": ["float", "float"]}),
                 event("cuda_runtime", "cudaLaunchKernel", t + 20, 5, correlation=k + 1),
                 event("kernel", "ampere_sgemm_128x64", t + 40, 100, 7, device=0, stream=7, correlation=k + 1)]
    return json.dumps({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-40GB"}], "traceEvents": made})


def table(header, *rows):
    return header + "\n" + "".join(row + "\n" for row in rows)


TRACE = put("trace.json", trace())
KERNELS = put("kernels.csv", table("device,m,n,k,latency_us", *(f"a100-40-sxm,{64 << i % 5},{64 << i % 3},{64 + i},{5 + i % 5 * 3}" for i in range(40))))
EXCHANGES = put("exchanges.csv", table("system,collective,nodes,gpus,bytes,time_us",
                                       *(f"dgx-a100,allreduce,1,8,{1 << i},{20 + 2 ** i / 1e5}" for i in range(10, 30))))
STEPS = put("steps.csv", table("device,n_gpu,hidden,layers,heads,seq,vocab,tp,pp,dp,micro_batch,global_batch,precision,step_time_s",
                               *(f"a100-80-sxm,8,{1024 * n},12,16,1024,50000,{t},1,{8 // t},2,{16 * n},bf16,{0.5 * n}" for n in (1, 2, 3) for t in (1, 2, 4))))
SCALING = put("scaling.csv", table("model,workers,batch,images_per_sec", *(f"resnet50,{n},32,{n * 300}" for n in (1, 2, 4, 8))))
with open(os.path.join(SOURCE, "tests", "data", "jobs_resnet50.csv"), encoding="utf-8") as file:
    JOB_ROWS = put("job_rows.csv", file.read())
JOBS = put("jobs.csv", table("job,architecture,cnodes,batch_size,flop,memory_access_bytes,input_bytes,weight_traffic_bytes,dense_weight_bytes,"
                             "embedding_weight_bytes", *(f"j{i},ps_worker,{1 + i % 8},512,{1e12 + i},1e10,1e6,1e8,1e8,0" for i in range(20))))
TIMES = put("times.csv", table("iteration,worker,time_s", *(f"{i},{w},{0.1 + 0.01 * (w == 3) + i % 5 * 0.001}" for i in range(20) for w in range(4))))
NODES = put("nodes.csv", table("sn,cpu_milli,memory_mib,gpu,model", "n0,64000,262144,8,G2", "n1,32000,65536,2,T4"))
PODS = put("pods.csv", table("name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,creation_time,deletion_time,scheduled_time",
                             "a,1000,1024,1,500,,0,100,1", "b,2000,1024,2,1000,G2,5,60,7"))
PROFILER = put("profiler.csv", table("events,profiled_us,unprofiled_us", "100,300,200", "200,420,210", "50,120,60", "10,12,11"))
OVERHEADS = put("overheads.csv", table("type,op,model,batch_size,mean_us,std_us,count",
                                       *(f"{t},{o},{m},{b},{5 + b / 1000},1,10" for t, o in (("t1", ""), ("t2", "aten::mm"), ("t3", "aten::mm"), ("t5", "aten::mm"))
                                         for m in "ab" for b in (128, 512))))
CASES = put("cases.yaml", "cases:\n  - {case: one, files: [kernels.csv], split: {by: k, folds: 10}, bars: {mape: \"<=9\"}}\n")
TOPOLOGY = put("node.xml", '<system version="1"><cpu numaid="0" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="85">' + "".join(
    f'<pci busid="0000:0{d}:00.0" class="0x030200" link_speed="8 GT/s" link_width="16"><gpu dev="{d}" sm="70" rank="{d}"/></pci>' for d in range(2)) + "</cpu></system>")
DEVICE = put("box.yaml", "devices:\n  - {name: box, vendor: v, flop_per_s: {fp32: 1e13}, memory_bytes_per_s: 1e12, source: t}\n")
MODEL = put("net.yaml", open(os.path.join(SOURCE, "catalog", "models", "lenet.yaml"), encoding="utf-8").read())
LENET = ["predict", "lenet", "--on", "a100-40-sxm"]

# What each verb can be asked in good order; each input is one of these words.
BASES = [["analyze", TRACE], ["compare", TRACE, TRACE], ["predict", TRACE, "--on", "h100-80-sxm"], LENET, ["predict", MODEL, "--on", DEVICE],
         ["predict", "--rows", KERNELS], ["predict", "--rows", EXCHANGES], ["predict", "--rows", STEPS], ["predict", "--rows", JOB_ROWS],
         ["predict", "--rows", SCALING, "--kind", "scaling", "--on", "dgx-1-v100"],
         ["predict", "--job", "architecture=ps_worker,cnodes=8,batch_size=512,flop=1T,memory_access_bytes=10GB,input_bytes=1MB,weight_traffic_bytes=100MB"],
         ["predict", "--kind", "exchange", "--on", "dgx-h100*2", "--bytes", "8..1K"], ["predict", "--kind", "exchange", "--on", TOPOLOGY, "--bytes", "1K"],
         ["predict", "--kind", "exchange", "--simulate", "--on", "dgx-1-v100", "--bytes", "1K"],
         ["predict", "lenet", "--on", "dgx-1-v100", "--workers", "1..2"],
         ["fleet", JOBS], ["fleet", "--iterations", TIMES], ["fleet", "--pods", PODS, "--nodes", NODES], ["fleet", "--synthesize", "3"],
         ["fit", KERNELS], ["fit", EXCHANGES], ["fit", STEPS], ["fit", "--kind", "job", JOB_ROWS], ["fit", "--kind", "overhead", OVERHEADS], ["fit", "--kind", "profiler", PROFILER],
         ["validate", "--cases", CASES, "--data", FOLDER], ["machines"], ["machines", "a100"], ["models"], ["models", "lenet"], ["calibrate", "--list"]]

LONG = "9" * 4000
VALUES = ["", " ", "-1", "0", "nan", "inf", "-inf", "1e308", "1e-308", "1e999", "0x10", "18446744073709551616", LONG, "x" * 5000, "=", "=,=", ",", ":", "..", "1..", "0..0",
          "1e-300..1e300", "a=b", "a=b=c", "=1", "%", "%s%n", "100%", "-1%:0.5", "\udcff\udcfe", "é", "\x01", "\n", "--", "-", "/", ".", "/dev/null", FOLDER,
          os.path.join(FOLDER, "nosuch"), "*", "[", "(", "\\", "a100*0", "a100*-1", "a100*99999999999", "a100*4 nvlink=nan", "a100 memory=0", "dgx-h100*2147483648",
          "dgx-h100*1000000", "dgx-h100*2 net=torus:0x0", "dgx-h100*4 net=fat-tree:1:1:1:1", "1,1,1,1", "t1", "all", "allreduce", "fp16", "1", "2.5", "8..1K"]

# What an input may be instead of what it should.
whole = open(TRACE, "rb").read()
FILES = {name: put(name, content) for name, content in {
    "empty": b"", "nul": bytes(5000), "newlines": b"\n" * 5000, "spaces": b" " * 5000, "commas": b"," * 5000, "quotes": b'"' * 5001, "braces": b"{" * 5000,
    "text": "hello there\n", "binary": bytes(range(256)) * 20, "utf16.json": whole.decode().encode("utf-16"), "latin.csv": "d\xe9vice,m\n1,2\n".encode("latin-1"),
    "long_line": b"m,n,k\n1,2," + b"7" * (1 << 20) + b"\n", "long_header": b"x" * (1 << 20) + b"\n1\n", "many_columns": b"a," * 6000 + b"\n", "header_only": b"device,m,n,k,latency_us\n",
    "yaml_list": b"- a\n", "yaml_anchor": b"a: &a [1]\nb: *a\n", "yaml_deep": b"[" * 3000, "yaml_twice": b"a: 1\na: 2\n", "json_number": b"17", "json_deep": b'{"traceEvents":' + b"[" * 9000,
    "xml": b"<system><cpu></system>", "fit": b"PACEFIT", "fit_next": b"PACEFIT\xff" + bytes(64), "sqlite": b"SQLite format 3\0" + bytes(84), "gzip": gzip.compress(b"hello")[:-6], "gzip_head": b"\x1f\x8b\x08",
    "zstd_head": b"\x28\xb5\x2f\xfd", "nan.csv": b"device,m,n,k,latency_us\n" + b"a100-40-sxm,nan,inf,-1,1e999\n" * 30, "\udcff\udcfe.json": whole, " .json": whole, "-x.json": whole}.items()}
FILES["folder"] = os.path.join(FOLDER, "folder")
os.mkdir(FILES["folder"])
FILES["missing"] = os.path.join(FOLDER, "missing")
FILES["loop"] = os.path.join(FOLDER, "loop")
os.symlink("loop", FILES["loop"])
FILES["null"] = "/dev/null"
FILES["long_name"] = "a" * 5000
FILES["closed"] = "-"
DAMAGED_COPIES = (("bom", lambda b: b"\xef\xbb\xbf" + b), ("crlf", lambda b: b.replace(b"\n", b"\r\n")), ("cut", lambda b: b[:len(b) * 2 // 3]), ("nul_inside", lambda b: b[:len(b) // 2] + b"\0" + b[len(b) // 2:]),
                  ("twice", lambda b: b + b), ("high_bytes", lambda b: b[:len(b) // 2] + b"\xff\xfe" + b[len(b) // 2:]), ("minus", lambda b: re.sub(rb"\b\d+", rb"-\g<0>", b)),
                  ("huge", lambda b: re.sub(rb"\b\d+", b"9" * 30, b)), ("zero", lambda b: re.sub(rb"\b\d+", b"0", b)), ("not_finite", lambda b: re.sub(rb"\b\d+", b"nan", b)))


def run(words, **more):
    words = [os.fsencode(word) for word in words]
    try:
        return subprocess.run([PACELINE, *words], stdin=subprocess.DEVNULL, capture_output=True, env=ENVIRONMENT, cwd=FOLDER, timeout=60, **more)
    except subprocess.TimeoutExpired:
        expect(False, "does not end", words)
        return None


def refuse_constant(word):
    raise ValueError("JSON with " + word)


def check(words, done, wanted=range(5)):
    """Whatever was asked: an exit status, an answer or one line, and nothing between the two."""
    if done is None:
        return
    err, show = done.stderr.decode("utf-8", "replace"), [word[:80] for word in words]
    expect(done.returncode in wanted, "exit status", done.returncode, show, err[-600:])
    expect("Sanitizer" not in err and "runtime error" not in err, "sanitizer", show, err[:3000])
    said = [line for line in err.splitlines() if "warning:" not in line and "as rows about" not in line and "note:" not in line]
    if done.returncode >= 2:
        expect(len(said) == 1 and said[0].startswith("paceline") and len(said[0]) > len("paceline fit: "), "expected one line", show, err[:900])
        expect(done.returncode != 4 or "out of memory" not in err, "out of memory", show, err[:300])
        expect(not done.stdout, "output in spite of the failure", show, done.stdout[:200])
        expect(len(err) < 2200, "a message of", len(err), "bytes", show)
    else:
        expect(not said, "expected nothing but warnings", show, err[:900])
        expect(re.search(rb"(?<![\w./])-?(nan|inf)(?![\w-])", done.stdout) is None or any(re.search(b"nan|inf|finite", os.fsencode(w)) for w in words), "a number that is none", show, done.stdout[:3000])
    if done.returncode == 0 and "json" in words:
        try:
            json.loads(done.stdout, parse_constant=refuse_constant)
        except ValueError as fault:
            expect(False, "no JSON", show, fault)


def survive(words):
    check(words, run(words))


def options_of(verb):
    """Name and whether it takes a value, from --help."""
    out = run([verb, "--help"]).stdout.decode()
    return re.findall(r"^  (?:-\w,|   ) (--[\w-]+)( [^ ]\S*)?", out, re.M)


def spread(cases, most):
    """All, or so many of them at even distances."""
    cases = list(cases)
    step = 1 if EVERYTHING else max(1, len(cases) // most)
    return cases[::step]


def option_cases():
    for base in BASES:
        for name, takes in options_of(base[0]):
            if base[0] == "calibrate" and name in ("--quick", "--full"):
                continue
            if not takes:
                yield base + [name]
                yield base + [name + "=1"]
                continue
            yield base + [name]
            for value in VALUES:
                if name in ("--output", "--overheads", "--rejects", "--entry", "--ledger") and not value.startswith("/") or base == ["fleet", "--synthesize", "3"] and name == "--synthesize":
                    continue  # would be created where the test runs; would be made
                yield base + [name, value]
                if value in ("1", "nan", "", "a100*4"):
                    yield base + ["-f", "json", name, value]
            yield base + [name, "1", name, "2"]  # of a file to write: made in FOLDER


def input_cases():
    for base in BASES:
        for at, word in enumerate(base):
            if not word.startswith(FOLDER) or word == FOLDER:
                continue
            for other in FILES.values():
                yield base[:at] + [other] + base[at + 1:]
    for option, kind in (("--fit", ["predict", "--rows", KERNELS]), ("--fit", ["predict", "--rows", EXCHANGES]), ("--fit", ["predict", "--rows", STEPS]), ("--fit", ["predict", "--rows", JOB_ROWS]),
                         ("--fit", LENET), ("--fit", ["fleet", JOBS]), ("--overheads", LENET), ("--on", ["predict", "lenet"]), ("--on", ["predict", "--kind", "exchange"]), ("--job", ["predict"]),
                         ("--on", ["fleet", JOBS]), ("--calibrate", LENET)):
        for other in FILES.values():
            yield kind + [option, other]


def copy_cases():
    for base in BASES:
        for at, word in enumerate(base):
            if not word.startswith(FOLDER) or word == FOLDER:
                continue
            for name, damage in DAMAGED_COPIES:
                copy = put(f"{name}-{os.path.basename(word)}", damage(open(word, "rb").read()))
                yield base[:at] + [copy] + base[at + 1:] + ["-f", "json"]


def all_cases():
    return itertools.chain(spread(option_cases(), 80), spread(input_cases(), 40), spread(copy_cases(), 16))


def test_bases():
    for base in BASES:
        done = run(base)
        expect(done.returncode == 0, "a good question", base, done.stderr)
        check(base, done)
        small = run(base, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (1 << 16, 1 << 16)))
        expect(small.returncode == 0 and small.stderr == done.stderr, "a stack of 64 KiB", base, small.returncode, small.stderr)


def test_no_words():
    for words in ([], [""], ["-"], ["--"], ["analyse"], ["\udcff"], ["x" * 100000], *([verb, "--nosuch"] for verb in VERBS), *([verb, "-"] for verb in ("machines", "models")),
                  *([verb, "--help=1"] for verb in VERBS)):
        done = run(words)
        expect(done.returncode in (2, 3, 4) and b"Sanitizer" not in done.stderr, "words", words[:1], done)


def no_more_than(bytes):
    """As on a disk that is full: a file past this size cannot be written."""
    def before():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (bytes, bytes))
    return before


def one_line(done, words, wanted=3):
    said = [line for line in done.stderr.splitlines() if b"warning:" not in line]
    expect(done.returncode == wanted and len(said) == 1 and b"Sanitizer" not in done.stderr, "expected one line", words, done.returncode, done.stderr)


WRITERS = [base + ["-o"] for base in BASES if base[0] != "calibrate" and "profiler" not in base] + [
    ["analyze", TRACE, "--overheads"], ["fleet", JOBS, "--rejects"], ["validate", "--cases", CASES, "--data", FOLDER, "--ledger"]]


def test_disk_full():
    """What was good stays, and nothing is left beside it."""
    folder = os.path.join(FOLDER, "outputs")
    os.mkdir(folder)
    for words in spread(WRITERS, 6):
        name = "out.fit" if words[0] == "fit" else "out.csv"
        path = os.path.join(folder, name)
        put("outputs/" + name, "what was good\n")
        one_line(run(words + [path], preexec_fn=no_more_than(10)), words)
        expect(open(path).read() == "what was good\n" and os.listdir(folder) == [name], "a good file was lost", words, os.listdir(folder))
        os.remove(path)
        for other in spread((folder, os.path.join(folder, "no", name), "/proc/" + name, "/dev/full"), 1):
            one_line(run(words + [other]), words + [other])


def test_streams():
    """Standard output full, its reader gone, or streams that the caller closed."""
    for words in [["--help"], ["fit", "--help"], *spread(BASES, 5)]:
        with open("/dev/full", "wb") as full:
            one_line(subprocess.run([PACELINE, *words], stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE), words)
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run([PACELINE, *words], stdin=subprocess.DEVNULL, stdout=write, stderr=subprocess.PIPE)
        os.close(write)
        expect(done.returncode == 141 and b"written" not in done.stderr and b"Sanitizer" not in done.stderr, "a reader that left", words, done)
    for words in spread([base for base in BASES if base[0] not in ("fit", "calibrate")], 4):
        path = os.path.join(FOLDER, "closed.csv" if "--synthesize" in words else "closed.json")
        done = subprocess.run([PACELINE, *words, *(["--batch", "8"] if "--workers" in words else []), "-o", path, *([] if "--synthesize" in words else ["-f", "json"])],
                              preexec_fn=lambda: [os.close(stream) for stream in range(3)])
        expect(done.returncode == 0 and open(path).read(1) in "{#j", "closed streams", words, done.returncode)


def test_inputs_stay():
    """Whatever word names a file that is read, the answer does not go there."""
    folder = os.path.join(FOLDER, "inputs")
    os.mkdir(folder)
    for name in ("trace.json", "net.yaml", "box.yaml", "node.xml", "jobs.csv"):
        shutil.copy(os.path.join(FOLDER, name), folder)
    at = {name: os.path.join(folder, name) for name in os.listdir(folder)}
    for path, *words in ((at["trace.json"], "analyze", folder, "-o"), (at["trace.json"], "analyze", folder + "/", "--overheads"), (at["net.yaml"], "predict", at["net.yaml"] + ":lenet", "--on", "a100", "-o"),
                         (at["box.yaml"], "predict", "lenet", "--on", at["box.yaml"] + " memory=2TB/s", "-o"), (at["node.xml"], "predict", "--kind", "exchange", "--on", at["node.xml"] + "*2", "-o"),
                         (at["trace.json"], "predict", "lenet", "--on", "a100", "--calibrate", f"{TRACE}={at['trace.json']}", "-o"), (at["jobs.csv"], "fleet", at["jobs.csv"], "--rejects"),
                         (at["jobs.csv"], "calibrate", "--list", "--name", at["jobs.csv"], "-e")):
        before = open(path, "rb").read()
        one_line(run(words + [path]), words, 2)
        expect(open(path, "rb").read() == before, "an input was written over", words)
    rejects = put("inputs/rejects.csv", "of the last run")
    one_line(run(["fleet", os.path.join(folder, "nosuch"), "--rejects", rejects]), "rejects")
    expect(open(rejects).read() == "of the last run", "the list of a run that read nothing")
    one_line(run(["fleet", put("inputs/bad.csv", open(JOBS).read().replace("512", "x")), "--rejects", rejects]), "rejects")
    expect(open(rejects).read().count("\n") == 21, "the list of a run that refused rows", open(rejects).read())
    expect(not [name for name in os.listdir(folder) if name.endswith(".part")], "left behind", os.listdir(folder))


def main():
    test_bases()
    test_no_words()
    test_disk_full()
    test_streams()
    test_inputs_stay()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(survive, all_cases()))
    return finish()


if __name__ == "__main__":
    sys.exit(main())
