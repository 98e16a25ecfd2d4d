"""Fits of exchanges and of kernels price a step, several workers and a plan alike: exchanges in the timeline take the measured times, every
engine asks the same curves, and what a fit does not tell is said or refused."""
import csv
import gzip
import json
import os
import subprocess
import tempfile

from checks import expect, finish

PROGRAM = os.environ["PACELINE"]
SIZES = [2**k for k in range(10, 31)]
TENSOR = ("llama2-7b", "--on", "dgx-h100*2", "--set", "tp=8", "--set", "dp=2", "--set", "micro_batch=1")


def run(*arguments):
    done = subprocess.run([PROGRAM, *arguments, "-q"], capture_output=True)
    return done.returncode, done.stdout, done.stderr.decode()


def ask(*arguments):
    code, out, err = run(*arguments, "-f", "json")
    expect(code == 0, arguments, err)
    return json.loads(out)


def step_s(*arguments):
    return ask("predict", *arguments)["values"]["step.median_s"]


def fit_of(folder, name, time_us, system="dgx-h100"):
    """Curves of all-reduces and of what ZeRO and pipelines exchange, inside a node and over two, by a function of the size."""
    table, fit = os.path.join(folder, name + ".csv"), os.path.join(folder, name + ".json")
    with open(table, "w") as out:
        out.write("system,collective,ranks,nodes,bytes,time_us\n")
        for collective in ("all_reduce", "all_gather", "reduce_scatter", "sendrecv"):
            for ranks, nodes in ((2, 2), (8, 1), (16, 2)):
                out.writelines(f"{system},{collective},{ranks},{nodes},{size},{time_us(size)}\n" for size in SIZES)
    code, _, err = run("fit", "--kind", "exchange", table, "-o", fit)
    expect(code == 0, name, err)
    return fit


def kernels(*arguments):
    """Durations, in ms, of the exchanges of the predicted timeline, by name."""
    code, out, err = run("predict", *arguments, "-f", "perfetto")
    expect(code == 0, arguments, err)
    events = json.loads(gzip.decompress(out) if out[:2] == b"\x1f\x8b" else out)["traceEvents"]
    found = {}
    for event in events:
        if event.get("ph") == "X" and event.get("cat") == "kernel" and "nccl" in event["name"]:
            found.setdefault(event["name"], []).append(event["dur"] / 1e3)
    return found


def check_timeline(folder):
    """Each exchange of 8 ranks takes 3 ms in the table, whatever its size."""
    fit = fit_of(folder, "flat", lambda size: 3000)
    found = kernels(*TENSOR, "--fit", fit)
    times = [time for name in found for time in found[name]]
    expect(len(times) > 64 and all(abs(time / 3 - 1) < 0.02 for time in times), "measured times", sorted(times)[:3], sorted(times)[-3:])
    answer = ask("predict", *TENSOR, "--fit", fit)
    expect(any("measured curves of dgx-h100" in note for note in answer["notes"]), "said", answer["notes"])
    expect("curve_probes" in [one["doubt"] for one in answer["assumptions"]], "its doubt", answer["assumptions"])


def check_every_engine(folder):
    """Bandwidth curves, and the same ten times slower: a walked step, a framework's closed form, an approach over MPI, a pipeline and a plan."""
    fast, slow, crawling = (fit_of(folder, name, lambda size, rate=rate: 20 + size / rate)
                            for name, rate in (("fast", 2e5), ("slow", 2e4), ("crawling", 2e2)))
    for question in (TENSOR, (*TENSOR, "--set", "framework=megatron-core"), ("vgg16", "--on", "dgx-h100*2", "--set", "dp=16", "--set", "micro_batch=8"),
                     ("vgg16", "--on", "dgx-h100*2", "--set", "dp=16", "--set", "micro_batch=8", "--approach", "horovod-mpi"),
                     ("llama2-7b", "--on", "dgx-h100*2", "--set", "tp=8", "--set", "pp=2", "--set", "micro_batch=1"),
                     ("llama2-7b", "--on", "dgx-h100*2", "--set", "dp=16", "--set", "zero_stage=3", "--set", "micro_batch=1")):
        least, most = step_s(*question, "--fit", fast), step_s(*question, "--fit", slow)
        expect(most > 1.1 * least, "slower exchanges", question, least, most)
    # what nothing hides is as much longer as the table says: one layer's gradients, all ready at the end of a step of next to nothing
    for approach in (), ("--approach", "horovod-mpi:cycle_s=0:control_s=0:negotiate_s=0"):
        question = ("mlp", "--on", "dgx-h100*2", "--set", "dp=16", "--set", "micro_batch=1", "--set", "precision=fp32", *approach)
        more = step_s(*question, "--fit", crawling) - step_s(*question, "--fit", fast)
        table = 4 * (785 * 800 + 801 * 10) * (1 / 2e2 - 1 / 2e5) * 1e-6
        expect(0.9 * table < more < 1.1 * table, "as much longer", approach, more, table)
    workers = [ask("predict", "vgg16", "--on", "dgx-h100*2", "--workers", "16", "--batch", "8", "--fit", fit)["points"][0]["step_ns"]
               for fit in (fast, slow)]
    alone = [1e9 * step_s("vgg16", "--on", "dgx-h100*2", "--set", "dp=16", "--set", "micro_batch=8", "--fit", fit) for fit in (fast, slow)]
    expect(all(abs(a / b - 1) < 1e-6 for a, b in zip(workers, alone)), "workers, and one step", workers, alone)
    plan = ask("plan", "llama2-7b", "--on", "dgx-h100*2", "--set", "global_batch=64", "--fit", slow, "--top", "1")
    best = plan["configurations"][0]
    sets = [word for key in ("tp", "pp", "dp", "micro_batch", "zero_stage") for word in ("--set", f"{key}={best[key]}")]
    expect(best["step_ns"] > ask("plan", "llama2-7b", "--on", "dgx-h100*2", "--set", "global_batch=64", "--fit", fast, "--top", "1")
           ["configurations"][0]["step_ns"], "a plan over slow links", best, sets)


def check_nics(folder):
    """Curves of full nodes are carried to one rank a node, whose one NIC of 100 Gb/s carries a vector once: 80 ms of 1 GB. By hops and bytes it was 30 ms."""
    fit, table = fit_of(folder, "p4de", lambda size: 60 + size / 4.5e4, "p4de"), os.path.join(folder, "ask.csv")
    with open(fit) as file:
        curves = json.load(file)
    curves["curves"] = [curve for curve in curves["curves"] if curve["ranks_per_node"] == 8 and curve["nodes"] == 2]
    expect(len(curves["curves"]) > 1, "curves of two full nodes", len(curves["curves"]))
    with open(fit, "w") as file:
        json.dump(curves, file)
    with open(table, "w") as out:
        out.write("system,collective,ranks,nodes,bytes\np4de,all_reduce,2,2,1000000000\np4de,all_reduce,16,2,1000000000\n")
    code, out, err = run("predict", "--kind", "exchange", "--rows", table, "--fit", fit, "-f", "csv")
    one, full = (float(row["predicted"]) for row in csv.DictReader(out.decode().splitlines()))
    expect(code == 0 and one > 0.9 * 1e9 / 12.5e9 * 1e6 and abs(full / (60 + 1e9 / 4.5e4) - 1) < 0.1, "one rank a node", one, full, err)


def check_interval(folder):
    """A measured network is better known than the catalogue's."""
    fit = fit_of(folder, "own", lambda size: 30 + size / 1e5)
    question = ("vgg16", "--on", "dgx-h100*2", "--set", "dp=16", "--set", "micro_batch=2")
    wide, narrow = (ask("predict", *question, *more)["values"] for more in ((), ("--fit", fit)))
    ratios = [one["step.high_s"] / one["step.low_s"] for one in (wide, narrow)]
    expect(ratios[1] < 0.8 * ratios[0], "intervals", ratios)


def check_kernels(folder):
    """A fit of kernels prices a plan, several workers and one step alike; one of another kind of kernels has no effect."""
    table, fit = os.path.join(folder, "gemm.csv"), os.path.join(folder, "gemm.fit")
    with open(table, "w") as out:
        out.write("device,dtype,m,n,k,latency_us\n")
        out.writelines(f"h100-80-sxm,bfloat16,{m},{n},{k},{20 + 2 * m * n * k / 2e8}\n" for m in (512, 1024, 2048, 4096, 8192)
                       for n in (1024, 4096, 12288) for k in (1024, 4096, 12288))
    code, _, err = run("fit", table, "-o", fit)
    expect(code == 0, "fit", err)
    sets = ("--set", "tp=8", "--set", "dp=2", "--set", "pp=1", "--set", "micro_batch=1", "--set", "zero_stage=0", "--set", "recompute=none", "--set",
            "precision=bf16", "--set", "global_batch=2")
    slow, plain = (step_s("llama2-7b", "--on", "dgx-h100*2", *sets, *more) for more in (("--fit", fit), ()))
    expect(slow > 1.2 * plain, "slower kernels", slow, plain)
    best = ask("plan", "llama2-7b", "--on", "dgx-h100*2", *sets, "--fit", fit)["values"]["best.step_s"]
    expect(abs(best / slow - 1) < 1e-6, "a plan", best, slow)
    workers, alone = (ask("predict", "gpt2", "--on", "h100", "--workers", "1", "--batch", "4", "--set", "precision=bf16", "--fit", fit)["points"][0]["step_ns"],
                      1e9 * step_s("gpt2", "--on", "h100", "--set", "micro_batch=4", "--set", "precision=bf16", "--fit", fit))
    expect(abs(workers / alone - 1) < 1e-6, "one worker", workers, alone)
    other, of_pools = os.path.join(folder, "pool.csv"), os.path.join(folder, "pool.fit")
    with open(other, "w") as out:
        out.write("op,device,dtype,batch,channels,height,width,kernel,stride,latency_us\n")
        out.writelines(f"max_pool2d,h100-80-sxm,float32,{n},{c},{h},{h},2,2,{10 + n * c * h * h / 1e6}\n" for n in (8, 16, 32) for c in (16, 32, 64)
                       for h in (28, 56, 112))
    code, _, err = run("fit", other, "-o", of_pools)
    if code == 0:
        for words in (("predict", "gpt2", "--on", "h100"), ("plan", "gpt2", "--on", "dgx-h100"), ("predict", "gpt2", "--on", "h100", "--workers", "1"),
                      ("predict", "gpt2", "--on", "dgx-h100", "--set", "framework=megatron-core", "--set", "dp=8")):
            code, _, err = run(*words, "--fit", of_pools)
            expect(code == 2 and "knows no kernel of this step" in err, "kernels of others", words, code, err)
    else:
        expect(False, "a fit of pooling", err)


def check_ways(folder):
    """A curve that names an algorithm is of that alone: an approach that names it takes the measured time for each tensor, and what the
    library chooses is told by the other curves."""
    table = {}
    for name, ways in (("own", {"": 2}), ("both", {"": 2, "ring": 5}), ("ring", {"ring": 5}), ("slow", {"ring": 10})):
        table[name] = os.path.join(folder, name + "_ways.fit")
        with open(table[name] + ".csv", "w") as out:
            out.write("system,collective,ranks,nodes,algorithm,bytes,time_us\n")
            out.writelines(f"dgx-h100,allreduce,16,2,{way},{size},{ms * 1000}\n" for way, ms in ways.items() for size in SIZES)
        code, _, err = run("fit", "--kind", "exchange", table[name] + ".csv", "-o", table[name])
        expect(code == 0, name, err)
    vgg = ("vgg16", "--on", "dgx-h100*2", "--set", "dp=16")
    for approach in ("horovod-mpi", "mpi-opt"):
        own, both = (step_s(*vgg, "--approach", approach, "--fit", table[name]) for name in ("own", "both"))
        expect(own == both, "of what the library chose", approach, own, both)
    both, ring, slow = (step_s(*vgg, "--set", "micro_batch=1", "--approach", "baidu-mpi", "--fit", table[name]) for name in ("both", "ring", "slow"))
    expect(ring == both, "of the ring alone", ring, both)
    expect(abs(slow - ring - 32 * 0.005) < 0.1 * 32 * 0.005, "32 tensors, each 5 ms longer", ring, slow)
    workers = ask("predict", "vgg16", "--on", "dgx-h100*2", "--workers", "16", "--batch", "32", "--approach", "baidu-mpi", "--fit", table["ring"])["points"][0]["step_ns"]
    alone = 1e9 * step_s(*vgg, "--set", "micro_batch=32", "--approach", "baidu-mpi", "--fit", table["ring"])
    expect(abs(workers / alone - 1) < 0.08, "workers as the step", workers, alone)


def check_refused(folder):
    fit = fit_of(folder, "one", lambda size: 30 + size / 1e5)
    for words, reason in ((("predict", "llama2-7b", "--on", "dgx-a100*2", "--set", "dp=16"), "its curves are of dgx-h100"),
                          (("predict", "resnet50", "--on", "h100"), "no exchange is priced"),
                          (("plan", "resnet50", "--on", "h100"), "no exchange is priced"),
                          (("predict", "vgg16", "--on", "dgx-h100*2", "--set", "dp=16", "--approach", "baidu-mpi"), "by the algorithm ring: no curve of these ranks names it"),
                          (("predict", "vgg16", "--on", "dgx-h100*2", "--workers", "16", "--approach", "grpc+mpi"), "no effect on approach grpc+mpi"),
                          (("predict", "vgg16", "--on", "dgx-h100*2", "--workers", "16", "--approach", "baidu-mpi"), "names its algorithm, ring"),
                          (("predict", os.path.join(os.environ["PACELINE_SOURCE"], "tests/data/demo.json.gz"), "--on", "dgx-h100*2", "--workers",
                            "16", "--samples", "1"), "of a recording"),
                          (("predict", "gpt2", "--on", "dgx-h100*2", "--set", "dp=16", "--fit", fit), "expected one fit of exchanges")):
        code, _, err = run(*words, "--fit", fit)
        expect(code == 2 and reason in err and err.count("\n") == 1, "refused", words, code, err)


with tempfile.TemporaryDirectory() as scratch:
    for check in (check_timeline, check_every_engine, check_nics, check_interval, check_kernels, check_ways, check_refused):
        check(scratch)
finish()
