"""Every command line that README.md and docs/ show: its verb and options exist, and what needs no file of the reader's, or one
of the kind that is bundled here, runs. Advice of the catalogue names verbs and options that exist."""
import gzip
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from checks import PACELINE, SOURCE, expect, finish, run

DATA = os.path.join(SOURCE, "tests", "data")
# Options of other programs that the pages name, and of scripts beside the program.
OTHERS = {"--all", "--json", "--type", "--show", "--update", "--check", "--largest", "--link", "--delay"}
VERBS = ["analyze", "predict", "plan", "tune", "compare", "convert", "slice", "history", "fleet", "fit", "calibrate", "train", "validate", "machines", "models"]
NOT_RUN = {
    "a reader's own file, table or machine": r"TABLE|report\.sqlite|results\.sqlite|--iterations|--pods|TRACE|FILE|DIR|MODEL|MACHINE|LOG|VERB|HOST|live\.sqlite|box\.yaml\*",
    "a form, no command": r"…|\[|\.\.\. |--rows$|--job$|--kind (step|exchange)$|^paceline [a-z]+$|\\\\$",
    "minutes on this machine, or a device that it lacks": r"calibrate (cuda|neurons|-o|--quick)|--study|validate --live",
}


def pages():
    yield os.path.join(SOURCE, "README.md")
    for name in sorted(os.listdir(os.path.join(SOURCE, "docs"))):
        if name.endswith(".md"):
            yield os.path.join(SOURCE, "docs", name)


def commands(text):
    """Of lines of code that begin with the program's name, and of code within a sentence."""
    for line in text.splitlines():
        if re.match(r"\s*(mpirun .*)?paceline [a-z]", line):
            yield from line.strip().split("   ")[0].split("  #")[0].split(" && ")
        elif line.startswith("<!-- output paceline "):
            yield re.sub(r"( lines=\d+)? -->.*", "", line[len("<!-- output "):])
        else:
            yield from re.findall(r"`(paceline [a-z][^`]*)`", line)


def advised():
    """Verbs that the catalogue and messages name, with the options behind them."""
    for root, ending in (("catalog", ".yaml"), ("src", ".c"), ("cli", ".c")):
        for at, _, names in os.walk(os.path.join(SOURCE, root)):
            for name in sorted(names):
                if name.endswith(ending):
                    with open(os.path.join(at, name)) as file:
                        text = file.read()
                    texts = [text] if ending == ".yaml" else re.findall(r'"(?:\\.|[^"\\\n])*"', text)
                    for found in re.finditer(r"\bpaceline ([a-z]+)\b([^,;)'\"\n]*)", "\n".join(texts)):
                        yield os.path.join(at, name), found.group(1), re.findall(r"(?<![\w-])--[a-z][a-z-]*", found.group(2))


def put_examples(folder):
    """Files of the names that the pages use."""
    demo = os.path.join(DATA, "demo.json.gz")
    for name in ("trace.json.gz", "worker0.json.gz"):
        shutil.copy(demo, os.path.join(folder, name))
    for name in ("trace.json", "before.json", "after.json"):
        with gzip.open(demo) as packed, open(os.path.join(folder, name), "wb") as plain:
            shutil.copyfileobj(packed, plain)
    for rank in ("rank0", "rank1"):
        with gzip.open(os.path.join(DATA, "causes", f"slow_rank-{rank}.json.gz")) as packed, open(os.path.join(folder, f"run.{rank}.json"), "wb") as plain:
            shutil.copyfileobj(packed, plain)
    os.mkdir(os.path.join(folder, "traces"))
    shutil.copy(demo, os.path.join(folder, "traces", "rank0.json.gz"))
    for name in ("tests", "catalog", "accuracy", "docs"):
        os.symlink(os.path.abspath(os.path.join(SOURCE, name)), os.path.join(folder, name))
    calibrations = os.path.join(SOURCE, "catalog", "calibrations")
    for name in ("measured.csv", "box.csv"):
        shutil.copy(os.path.join(calibrations, "epyc-zen5-1t.csv"), os.path.join(folder, name))
    shutil.copy(os.path.join(calibrations, "epyc-zen5-1t.yaml"), os.path.join(folder, "box.yaml"))
    with gzip.open(os.path.join(DATA, "jobs_synthetic.csv.gz")) as packed:
        lines = packed.readlines()[:300]
    head, *jobs = [line for line in lines if not line.startswith(b"#")]
    for i in range(2):
        with open(os.path.join(folder, f"part-{i}.csv"), "wb") as plain:
            plain.write(head + b"".join(jobs[i::2]))
    with open(os.path.join(folder, "all_reduce_perf.log"), "w") as file:
        file.write("# nThread 1 nGpus 1 minBytes 1024 maxBytes 1073741824 step: 4(factor)\n#\n# Using devices\n")
        for rank in range(32):
            file.write(f"#  Rank {rank:2} Group  0 Pid {rank + 100:6} on node-{1 + rank // 8} device  {rank % 8} [0x1b] NVIDIA H100 80GB HBM3\n")
        file.write("#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n")
        for size in (4**k for k in range(5, 16)):
            time = 40 + size / 2e5
            file.write(f"{size:12} {size // 4:12} float sum -1 {time:8.2f} {size / time / 1e3:7.2f} {size / time / 1e3 * 1.94:7.2f} 0 "
                       f"{time:8.2f} {size / time / 1e3:7.2f} {size / time / 1e3 * 1.94:7.2f} 0\n")
    with open(os.path.join(folder, "questions.csv"), "w") as file:
        file.write("device,op,m,n,k,dtype\nepyc-zen5-1t,gemm,512,512,512,fp32\n")
    shutil.copy(os.path.join(DATA, "jobs_resnet50.csv"), os.path.join(folder, "jobs.csv"))
    with open(os.path.join(folder, "run.sh"), "w") as file:
        file.write("torchrun pretrain_gpt.py --tensor-model-parallel-size 8 --micro-batch-size 1 --global-batch-size 256 --bf16\n")
    with open(os.path.join(folder, "pretrain.sh"), "w") as file:
        file.write("TP=8\nBATCH='--micro-batch-size 1 --global-batch-size 256'\ntorchrun pretrain_gpt.py --tensor-model-parallel-size $TP $BATCH --bf16 "
                   "--num-layers 40 --hidden-size 5120 --num-attention-heads 40 --swiglu --ffn-hidden-size 13824 --seq-length 4096\n")
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32, "num_attention_heads": 32,
                   "vocab_size": 32000}, file)


def run_in(folder, command):
    words = [word.replace("1000000", "1000") for word in shlex.split(command)]
    starter = words[:words.index("paceline")]
    words = [file for word in words[len(starter) + 1:] for file in (["part-0.csv", "part-1.csv"] if word == "part-*.csv" else [word])]
    if words[0] == "train":
        words = [word for i, word in enumerate(words) if "--steps" not in words[max(i - 1, 0):i + 1]] + ["--steps", "2"]
    if words[:3] == ["fit", "--kind", "job"]:
        words = ["jobs.csv" if word == "measured.csv" else word for word in words]
    if starter and not shutil.which("mpirun"):
        return
    starter = ["2" if word.isdigit() else word for word in starter]
    env = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    if starter or words[0] == "train":  # MPI keeps what it allocates
        env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    done = subprocess.run([*starter, PACELINE, *words], cwd=folder, capture_output=True, text=True, timeout=300, env=env)
    lacking = done.returncode == 4 and (starter or words[0] == "train")  # a build without MPI or what trains
    expect(done.returncode == 0 or lacking, command, done.returncode, done.stderr[-400:])


def main():
    known = set(OTHERS)
    for verb in VERBS:
        code, out, _ = run(verb, "--help")
        expect(code == 0, verb)
        known |= set(re.findall(r"--[a-z][a-z-]*", out))
        widest = max(len(line) for line in out.splitlines())
        expect(widest <= 100, verb, "help is", widest, "columns wide")
    for path, verb, options in advised():
        if verb in ("was", "man", "completion", "paceline"):  # "this paceline was built without"; words of the program itself
            continue
        expect(verb in VERBS, path, "names a verb that does not exist:", verb)
        for option in options:
            expect(verb not in VERBS or option in run(verb, "--help")[1], path, verb, "has no option", option)
    ran, seen = 0, set()
    with tempfile.TemporaryDirectory() as folder:
        put_examples(folder)
        for page in pages():
            with open(page) as file:
                text = file.read()
            for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", text):
                expect(option in known, page, "names an option that no verb has:", option)
            for command in commands(text):
                verb = re.search(r"paceline ([a-z]+)", command).group(1)
                expect(verb in VERBS, page, command)
                if command in seen or any(re.search(pattern, command) for pattern in NOT_RUN.values()):
                    continue
                seen.add(command)
                run_in(folder, command)
                ran += 1
    print(ran, "commands run")
    expect(ran >= 20, "commands were found", ran)
    return finish()


sys.exit(main())
