"""A step on many workers, from outside: tables, identities between their columns, and questions that make no sense."""
import csv
import io
import json
import math
import random
import os
import subprocess
import tempfile

from checks import PACELINE, SHARED, SOURCE, expect, finish, run as program
import planted_traces
import strict_schema

DEMO = os.path.join(SOURCE, "tests", "data", "demo.json.gz")
TRAINING = os.path.join(SHARED, "kineto", "kineto_resnet50_1xV100_workers0.json.gz")


def run(*words):
    return program("predict", *words)


def too_many_nodes():
    """Workers that fit on the machine, and nodes that it does not have: the nodes are named, not the devices."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "nodes.csv")
        with open(path, "w", encoding="utf-8") as file:
            file.write("model,machine,workers,batch,approach,nodes\n" + "".join(f"resnet50,dgx-a100*2,8,64,horovod-nccl,{n}\n" for n in (2, 3, 8)))
        code, out, err = run("--rows", path, "--kind", "scaling", "-q")
        said = [row["status"] for row in csv.DictReader(io.StringIO(out))]
        expect(code == 0 and said == ["ok"] + [f"dgx-a100*2: has 2 nodes: expected at most as many, found {n}" for n in (3, 8)], code, said, err)


def points(*words):
    code, out, err = run(*words, "--format", "json")
    expect(code == (1 if "Does not fit" in err else 0), words, err)
    document = json.loads(out)
    check(document)
    return document["points"]


def check(document):
    strict_schema.hold(document, "scaling")


def identities(found):
    for p in found:
        expect(abs(p["fp_bp_ns"] + p["wu_ns"] - p["step_ns"]) <= 2, "FP+BP and WU are the step", p)
        expect(p["low_ns"] <= p["step_ns"] <= p["high_ns"], "the interval holds the step", p)
        # PyTorch copies gradients into buckets and back, which lengthens the step beside the exchange itself.
        copies = 4 * 102e6 / 700e9 * 1e9 if p["approach"] == "ddp" else 0
        expect(p["exposed_ns"] <= p["exchange_ns"] + 1 + copies and p["exposed_ns"] + p["skew_ns"] <= p["wu_ns"] + 2, "exposed", p)
        expect(p["workers"] > 1 or (p["exposed_ns"] == 0 and abs(p["efficiency_share"] - 1) < 1e-6), "one worker", p)


def weak_and_strong():
    names = "grpc,grpc+verbs,grpc+mpi,grpc+gdr,baidu-mpi,horovod-mpi,horovod-cpu,mpi-opt,horovod-nccl,ps,byteps,pearl,ddp,nccl"
    found = points("resnet50", "--on", "dgx-1-v100", "--workers", "1..32", "--approach", names, "--batch", "32")
    expect(len(found) == 14 * 6, len(found))
    identities(found)
    for p in found:
        expect(abs(p["samples_per_s"] * p["step_ns"] / 1e9 / (32 * p["workers"]) - 1) < 1e-6, p)
    found = points("resnet50", "--on", "dgx-1-v100", "--workers", "1,2,8", "--approach", "nccl,p2p", "--batch", "256", "--strong")
    identities(found)
    for p in found:
        expect(abs(p["samples_per_s"] * p["step_ns"] / 1e9 / 256 - 1) < 1e-6, p)


def ranges():
    """The end of a range is asked about, too, and most workers lead, in whichever order they stand."""
    on = ("resnet50", "--on", "dgx-1-v100", "--batch", "32", "--workers")
    for words, workers in (("1..6", [1, 2, 4, 6]), ("1..8", [1, 2, 4, 8]), ("8..48", [8, 16, 32, 48]), ("3..3", [3])):
        found = points(*on, words)
        expect([p["workers"] for p in found] == workers, words, [p["workers"] for p in found])
    text = run(*on, "8,2")[1]
    expect(text.startswith("ddp: 8 workers on"), text[:80])
    _, out, _ = run("resnet50", "--on", "dgx-1-v100", "--workers", "1,2", "--batch", "256", "--strong")
    expect("one alone, with all of the batch, must recompute" in " ".join(out.split()), "strong", out[:600])


def batches():
    """A larger batch hides more of the same exchange."""
    found = points("resnet50", "--on", "ethernet-10g", "--workers", "16", "--approach", "ddp", "--batch", "8", "--batch", "32", "--batch", "128")
    shares = [p["efficiency_share"] for p in found]
    expect(shares == sorted(shares) and shares[0] < shares[2], shares)
    measured = points("resnet50", "--on", "ethernet-10g", "--workers", "1,4", "--batch", "32", "--one-worker", "300")
    expect(abs(measured[0]["samples_per_s"] - 300) < 1e-6 * 300, measured[0])


APPROACHES = ("grpc", "grpc+verbs", "grpc+mpi", "grpc+gdr", "baidu-mpi", "horovod-mpi", "horovod-cpu", "mpi-opt", "horovod-nccl", "p2p",
              "nccl", "ps", "byteps", "pearl")


def walk(model, machine, ranks, approach, batch, *more):
    code, out, err = run(model, "--on", machine, "--approach", approach, "--set", f"dp={ranks}", "--set", f"micro_batch={batch}", "--format",
                         "json", *more)
    expect(code == 0, model, machine, approach, err)
    document = json.loads(out)
    strict_schema.hold(document, "predict")
    return document


def walked():
    """The lanes are a shortcut for the walk of the whole step. Both hand the same gradients to the same lanes, so that steps agree to 1 %:
    the walk has besides a gap of the device between two exchanges, and the host's time to launch them. Exposed times agree to that and
    to the input's copy (at most 5 ms of PCIe here), which runs beside a pull and whose time the walk then gives to communication."""
    for model, batch in (("resnet50", 32), ("alexnet", 16)):
        for machine in ("dgx-1-v100", "ethernet-10g*8"):
            for approach in APPROACHES:
                if approach == "p2p" and machine != "dgx-1-v100":
                    continue
                if approach in ("grpc+verbs", "grpc+gdr") and machine != "dgx-1-v100":  # TCP has neither
                    code, out, err = run(model, "--on", machine, "--approach", approach, "--set", "dp=8", "--set", f"micro_batch={batch}")
                    expect(code == 2 and "tcp" in err, model, machine, approach, code, err)
                    continue
                found = walk(model, machine, 8, approach, batch, "--jitter", "0")
                lanes = points(model, "--on", machine, "--approach", approach, "--workers", "8", "--batch", str(batch), "--jitter", "0")[0]
                step, exchange = found["step"]["walked_ns"], found["exchange"]
                expect(abs(lanes["step_ns"] / step - 1) < 0.01, model, machine, approach, lanes, step)
                expect(exchange["approach"] == approach and exchange["ranks"] == 8 and exchange["skew_ns"] == 0, exchange)
                pulls = exchange["family"] in ("server", "pearl")
                expect(abs(lanes["exposed_ns"] - exchange["exposed_ns"]) < 0.01 * step + 5e6 * pulls, model, machine, approach, lanes, exchange)
                expect(abs(lanes["exchange_ns"] / exchange["exchange_ns"] - 1) < 0.05, model, machine, approach, lanes, exchange)


def walked_lead():
    """Where the exchange is most of a step, no other resource leads, whatever way it goes; and what a device store merges is counted by both doors."""
    for model, machine, ranks, approach in (("alexnet", "dgx-1-v100", 8, "p2p"), ("vgg16", "dgx-1-v100*4", 32, "grpc"), ("vgg16", "ethernet-10g*8", 8, "ps"),
                                            ("alexnet", "dgx-1-v100", 8, "nccl")):
        found = walk(model, machine, ranks, approach, 16)
        step, exposed = found["step"]["walked_ns"], found["exchange"]["exposed_ns"]
        best = found["advice"][0]
        expect(exposed > 0.2 * step and best["resource"] == "network", approach, best)
        expect(best["at_most"] > 0.9 * exposed / step, approach, best, exposed / step)
        expect(found["critical_path"]["unexplained_share"] < 0.02, approach, found["critical_path"])
        held = next(row["held_bytes"] for row in found["memory"] if row["kind"] == "all")
        lanes = points(model, "--on", machine, "--approach", approach, "--workers", str(ranks), "--batch", "16")[0]
        expect(abs(held - lanes["memory_bytes"]) <= 1, approach, held, lanes["memory_bytes"])


def walked_buckets():
    """PyTorch's buckets are not the lanes': their first is of 1 MiB, and the step has the copies into and out of them, two of each byte,
    which the lanes have not. What it takes longer is at most these copies, and the exchange is shorter by the first bucket's lead."""
    for machine in ("dgx-1-v100", "ethernet-10g*8"):
        found = walk("resnet50", machine, 8, "ddp", 32, "--jitter", "0")
        lanes = points("resnet50", "--on", machine, "--approach", "ddp", "--workers", "8", "--batch", "32", "--jitter", "0")[0]
        expect(abs(lanes["step_ns"] / found["step"]["walked_ns"] - 1) < 0.03, machine, lanes, found["step"])


def jitter():
    """Workers that differ cost the same in the walk and in the lanes, whatever the approach: jitter (2 % on one node unless given) times the expected largest of 8 normal
    draws (1.4236: Harter 1961; Blom's approximation is 0.8 % more) times the step without its exchange, to which DDP's copies belong."""
    for approach in ("ddp", "grpc", "nccl", "ps"):
        for words, share in ((), 0.02), (("--jitter", "5%"), 0.05), (("--jitter", "0"), 0):
            found = walk("resnet50", "dgx-1-v100", 8, approach, 32, *words)
            exchange, step = found["exchange"], found["scenarios"][0]["step_ns"]
            expect(abs(exchange["jitter_share"] - share) < 1e-12 and step == found["step"]["walked_ns"] + exchange["skew_ns"], "its own line", exchange, step)
            expect(sum(found["matrix"][s]["idle_rank_ns"] for s in ("forward", "backward", "update")) == exchange["skew_ns"], "in the matrix")
            lanes = points("resnet50", "--on", "dgx-1-v100", "--workers", "8", "--approach", approach, "--batch", "32", *words)[0]
            own = share * 1.4236 * (lanes["step_ns"] - lanes["exposed_ns"] - lanes["skew_ns"])
            expect(lanes["skew_ns"] == exchange["skew_ns"] and own <= exchange["skew_ns"] <= 1.06 * own, own, lanes, exchange)
    # Two nodes of eight: the largest of 16 sums of a draw of the node (0.05 times the root of 1 - 0.4 squared) and one of the worker (0.02), by
    # simulation, as each alone has it where nodes have one worker.
    chance = random.Random(1)
    for machine, nodes, near in (("a100*8 nvlink=300GB/s net=100Gb/s", 2, 8), ("a100*8 nvlink=300GB/s net=100Gb/s", 16, 8), ("ethernet-10g*1", 16, 1)):
        most = [max(max(chance.gauss(0, 0.02) for _ in range(near)) + chance.gauss(0, math.sqrt(0.05 ** 2 - 0.02 ** 2)) for _ in range(nodes))
                for _ in range(20000 // nodes)]
        lanes = points("resnet50", "--on", machine, "--workers", str(nodes * near), "--approach", "ps", "--batch", "32")[0]
        share = lanes["skew_ns"] / (lanes["step_ns"] - lanes["exposed_ns"] - lanes["skew_ns"])
        expect(abs(share / (sum(most) / len(most)) - 1) < 0.06, machine, nodes, share, sum(most) / len(most))


def networks_in_words():
    """What a row's words of the approach say of the network is of the machine that it describes; --on stands as it is."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.csv")
        with open(path, "w") as out:
            out.write("system,method,model,batch_per_gpu,gpus\n")
            for system, method in (("4xP100-PCIE/node 25Gb/s", "Horovod NCCL RDMA"), ("4xP100-PCIE/node 25Gb/s RDMA", "Horovod NCCL"),
                                   ("4xP100-PCIE/node 25Gb/s", "Horovod NCCL TCP"), ("4xP100-PCIE/node 25Gb/s", "Horovod NCCL")):
                out.write(f"{system},{method},vgg16,32,16\n")
        rates = [float(row["predicted"]) for row in csv.DictReader(io.StringIO(run("--kind", "scaling", "--rows", path)[1]))]
        expect(rates[0] == rates[1] > 1.1 * rates[2] and rates[2] == rates[3], "RDMA, TCP", rates)
        on = [float(row["predicted"]) for row in csv.DictReader(io.StringIO(
            run("--kind", "scaling", "--rows", path, "--on", "p100-pcie-16*4 pcie=12GB/s net=25Gb/s net-kind=tcp")[1]))]
        expect(len(on) == 4 and on[2] == on[3], "as --on says", on)


def pulls():
    """What servers send back is before the layers that need it: with a slow network the exposed exchange lies about half in the forward
    pass and half in the backward pass, and all of it is the network's on the critical path."""
    found = walk("alexnet", "ethernet-10g*4", 4, "ps", 16, "--jitter", "0")
    forward, backward = (found["matrix"][s]["exposed_communication_ns"] for s in ("forward", "backward"))
    expect(0.8 < forward / backward < 1.25, forward, backward)
    slower = walk("alexnet", "ethernet-10g*4", 4, "ps:servers=1", 16, "--jitter", "0")
    expect(slower["exchange"]["bottleneck"] == "fullest server", slower["exchange"])
    expect(slower["exchange"]["exchange_ns"] > 2 * found["exchange"]["exchange_ns"], "one server for four", slower["exchange"])
    expect(walk("gnmt", "ethernet-10g*4", 4, "pearl", 2)["exchange"]["exchange_ns"] < walk("gnmt", "ethernet-10g*4", 4, "horovod-nccl", 2)["exchange"]["exchange_ns"], "rows of tables")


def several_models():
    """One table of many models, batches and approaches: each row is what the same question alone answers."""
    on = ("--on", "dgx-1-v100", "--approach", "p2p,nccl", "--workers", "1,8", "--batch", "16,32")
    found = points("lenet", "alexnet", "resnet50", *on)
    expect(len(found) == 3 * 2 * 2 * 2 and len({(p["model"], p["approach"], p["batch"], p["workers"]) for p in found}) == 24, len(found))
    expect([p for p in found if p["model"] == "alexnet"] == points("alexnet", *on), "alexnet alone differs")


def recorded():
    """A trace of one worker: ResNet-50's 161 gradients of 102 MB, whose exchange over a slow link is their bytes over its rate."""
    if not os.path.exists(TRAINING):
        return
    on = ("--on", "v100-sxm2-16*1 net=1Gb/s net-latency=1us launch=1us", "--approach", "ps:splits=1", "--workers", "1,64")
    found = points(TRAINING, *on)
    identities(found)
    expect(found[0]["batch"] == 32, found[0])
    push = 2 * 25.557e6 * 4 * 63 / 64 / (1e9 / 8)
    expect(0.95 < found[1]["exchange_ns"] / 1e9 / push < 1.5, found[1]["exchange_ns"] / 1e9, push)
    model = points("resnet50", *on, "--batch", "32")
    expect(abs(model[1]["exchange_ns"] / found[1]["exchange_ns"] - 1) < 0.001, model[1], found[1])
    expect(points(TRAINING, *on, "--batch", "64")[0]["step_ns"] > found[0]["step_ns"], "twice the samples")


def kept_gradients():
    """PyTorch keeps a gradient as it is where none was before: AccumulateGrad launches nothing, and its bytes are exchanged all the same. Four
    micro-batches of eight samples are 32 samples a step."""
    square = [[4096, 4096]]
    for passes in (1, 4):
        rank = planted_traces.Rank()
        for number in range(1, 6):
            with rank.annotate(f"ProfilerStep#{number}"):
                for sequence in range(passes):
                    rank.kernel("aten::addmm", 900, name="ampere_sgemm_128x128_tn", **{"Input Dims": [[4096], [8, 4096], *square], "Input type": ["float"] * 3,
                                                                                       "Sequence number": sequence, "Fwd thread id": 0})
                    with rank.operator("autograd::engine::evaluate_function: AddmmBackward0", **{"Sequence number": sequence, "Fwd thread id": 1}):
                        rank.kernel("aten::mm", 1800, name="ampere_sgemm_128x128_tn", **{"Input Dims": [[4096, 8], [8, 4096]], "Input type": ["float"] * 2})
                    with rank.operator("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"):
                        rank.run("torch::autograd::AccumulateGrad", 4, **{"Input Dims": square, "Input type": ["float"]})
                with rank.annotate("Optimizer.step#SGD.step"):
                    rank.kernel("aten::add_", 200, name="multi_tensor_apply_kernel")
                rank.item()
        with tempfile.TemporaryDirectory() as folder:
            path = rank.write(os.path.join(folder, "kept.json.gz"))
            on = ("--on", "a100-80-sxm*1 net=1Gb/s net-latency=1us launch=1us", "--approach", "ps:splits=1", "--workers", "1,64")
            one, many = points(path, *on)
        push = 2 * 4096 * 4096 * 4 * 63 / 64 / (1e9 / 8)
        expect(one["batch"] == 8 * passes, "samples of a step", passes, one)
        expect(0.95 < many["exchange_ns"] / 1e9 / push < 1.5, "bytes, once a step", passes, many, push)


def embeddings():
    """PEARL moves the rows of large tables that a batch touches, so less than a tenth of the tables."""
    on = ("gnmt", "--on", "ethernet-10g", "--workers", "16", "--batch", "2")
    pearl, ddp = points(*on, "--approach", "pearl")[0], points(*on, "--approach", "ddp")[0]
    expect(pearl["exchange_ns"] < ddp["exchange_ns"], pearl, ddp)
    same = [points("resnet50", "--on", "dgx-1-v100", "--workers", "8", "--approach", a, "--batch", "8")[0]["step_ns"] for a in ("pearl", "ddp")]
    expect(abs(same[0] / same[1] - 1) < 0.03, "without tables PEARL is an all-reduce, but for the copies into buckets", same)


def formats():
    for name in ("table", "csv", "html"):
        code, out, _ = run("lenet", "--on", "dgx-1-v100", "--workers", "1,2,4,8", "--approach", "nccl,p2p", "--batch", "16", "--format", name)
        expect(code == 0 and "p2p" in out, name)
        expect(name != "html" or out.count("<polyline") == 4, "curves of throughput and efficiency")


def rows():
    """A table's answers are those of the same questions asked alone; a row that makes no sense says why, alone."""
    path = os.path.join(tempfile.mkdtemp(prefix="paceline-scaling-"), "rows.csv")
    with open(path, "w") as file:
        file.write("machine,model,settings,approach,gpus,batch_per_gpu,servers,one_worker,images_per_sec,what\n"
                   "piz-daint,inception_v3,aux=0 input=synthetic,grpc,64,64,40,138.23,7118.31,a\n"
                   "dgx-1-v100,resnet50,,ddp,16,32,,,,b\n"
                   "dgx-1-v100,resnet50,,dpd,16,32,,,,c\n"
                   "dgx-1-v100,resnet50,,ddp,12,32,,,,d\n"
                   "nowhere,resnet50,,ddp,8,32,,,,e\n"
                   "dgx-1-v100,resnet50,,ddp,0,32,,,,f\n"
                   "dgx-1-v100,resnet50,mode=x,ddp,8,32,,,,g\n")
    code, out, err = run("--rows", path, "--kind", "scaling", "--format", "csv")
    answers = list(csv.DictReader(io.StringIO(out)))
    expect(code == 0 and len(answers) == 7 and "5 of 7" in err, code, err, out)
    alone = points("inception_v3", "--on", "piz-daint", "--workers", "64", "--approach", "grpc:servers=40", "--batch", "64",
                   "--set", "aux=0", "--set", "input=synthetic", "--one-worker", "138.23")[0]
    expect(abs(float(answers[0]["predicted"]) / alone["samples_per_s"] - 1) < 1e-6, answers[0], alone)
    alone = points("resnet50", "--on", "dgx-1-v100", "--workers", "16", "--approach", "ddp", "--batch", "32")[0]
    expect(abs(float(answers[1]["predicted"]) / alone["samples_per_s"] - 1) < 1e-6, answers[1], alone)
    expect(all(float(a["low"]) <= float(a["predicted"]) <= float(a["high"]) for a in answers[:2]), answers[:2])
    for answer, part in zip(answers[2:], ("horovod-nccl", "do not fill", "nowhere", "workers", "mode")):
        expect(part in answer["status"] and not answer["predicted"], answer)
    for text, part in (("model,gpus\nresnet50,8\n", "machine"), ("machine,gpus\na,8\n", "model"), ("machine,model\na,b\n", "workers"), ("", "empty")):
        with open(path, "w") as file:
            file.write(text)
        code, _, err = run("--rows", path, "--kind", "scaling")
        expect(code == 3 and part in err and len(err.strip().splitlines()) == 1, text, code, err)


def names_of_tables():
    """Systems, approaches and models as published tables call them get the answers of the names that they stand for."""
    path = os.path.join(tempfile.mkdtemp(prefix="paceline-scaling-"), "rows.csv")
    pairs = [("Piz Daint XC50 1xP100/node Aries,gRPC parameter server (TF 1.1.0),InceptionV3", "piz-daint,grpc,inception_v3"),
             ("AWS p2.8xlarge 8xK80die/node,gRPC PS variables on CPU,resnet50", "aws-p2-8,grpc,resnet50"),
             ("DGX-1 P100 (Google published),Horovod NCCL RDMA,vgg16", "dgx-1-p100,horovod-nccl,vgg16"),
             ("dgx-1-v100,Horovod MPI CPU allreduce TCP,resnet50", "dgx-1-v100,horovod-cpu,resnet50"),
             ("4xM40/node 10GbE (9.3 Gb/s),grpc,resnet50", "m40*4 pcie=15.75GB/s net=10Gb/s net-kind=tcp,grpc,resnet50"),
             ("our 2xP100-PCIE/node EDR InfiniBand,ddp,resnet50", "p100-pcie-16*2 pcie=15.75GB/s net=100Gb/s net-kind=infiniband,ddp,resnet50"),
             ("VM 1xV100-PCIE/node; 20 Gb/s TCP,ddp,resnet50", "v100-pcie-16*1 net=20Gb/s net-kind=tcp,ddp,resnet50")]
    with open(path, "w") as file:
        file.write("system,method,model,gpus,batch_per_gpu\n" + "".join(f"{a},8,64\n{b},8,64\n" for a, b in pairs))
    code, out, err = run("--rows", path, "--kind", "scaling", "--format", "csv")
    answers = list(csv.DictReader(io.StringIO(out)))
    expect(code == 0 and all(a["predicted"] for a in answers), code, err, answers)
    for written, meant in zip(answers[::2], answers[1::2]):
        expect(written["predicted"] == meant["predicted"], written, meant)
    # No links are made up: of devices with NVLink, of nodes without a network, of devices that nobody knows.
    with open(path, "w") as file:
        file.write("system,model,gpus,batch_per_gpu\n" + "".join(f"{a},resnet50,8,64\n" for a in ("4xV100-SXM2/node 10GbE", "4xM40/node", "4xABC/node 10GbE")))
    code, out, err = run("--rows", path, "--kind", "scaling", "--format", "csv")
    for answer in csv.DictReader(io.StringIO(out)):
        expect(not answer["predicted"] and answer["status"] != "ok", answer)


def measures():
    """One question in samples a second, in steps a second, of each worker or of all, and in seconds, ms and us: one answer."""
    folder = tempfile.mkdtemp(prefix="paceline-scaling-")
    asked = [("resnet50", n, p) for n in (1, 2, 8) for p in ("packed", "spread")]
    made = {"rate": [], "each": [], "all": [], "s": [], "ms": [], "us": []}
    on = ("--on", "a100*8 pcie=12GB/s net=10Gb/s net-kind=tcp", "--kind", "scaling", "--format", "csv")
    for name, column in (("rate", "images_per_sec"), ("each", "steps_per_s"), ("all", "steps_per_s"), ("s", "step_time_s"), ("ms", "Step Time (ms)"), ("us", "iter_us")):
        path = os.path.join(folder, name + ".csv")
        with open(path, "w") as file:
            file.write(f"gpu,placement,model,batch_per_gpu,n_gpu,{column}\n")
            for model, n, placement in asked:
                file.write(f"v100,{placement},{model},16,{n},{dict(rate=100, each=5 * n, all=5, s=0.2, ms=200, us=200000)[name]}\n")
        code, out, err = run("--rows", path, *on)
        expect(code == 0 and "6 of 6 rows" in err and "nothing of its software" in err, code, err)
        made[name] = list(csv.DictReader(io.StringIO(out)))
    for (_, n, placement), rate, each, together, s, ms, us in zip(asked, *made.values()):
        step = float(s["predicted"])
        expect(rate["unit"] == "samples/s" and each["unit"] == "steps/s" and s["unit"] == "s", rate, each, s)
        expect(abs(float(rate["predicted"]) * step / (16 * n) - 1) < 1e-6, rate, s)
        for row, unit, times in ((ms, "ms", 1e3), (us, "us", 1e6)):
            expect(row["unit"] == unit and all(abs(float(row[key]) / float(s[key]) / times - 1) < 1e-9 for key in ("predicted", "low", "high")), unit, row, s)
        expect(abs(float(each["predicted"]) * step / n - 1) < 1e-6 and abs(float(together["predicted"]) * step - 1) < 1e-6, each, s)
        expect(float(s["low"]) < step < float(s["high"]) and abs(float(s["low"]) * float(rate["high"]) / (16 * n) - 1) < 1e-6, s, rate)
    at = {(n, p): float(s["predicted"]) for (_, n, p), s in zip(asked, made["s"])}
    expect(at[1, "packed"] == at[1, "spread"] and at[8, "spread"] > 1.2 * at[8, "packed"], at)
    alone = points("resnet50", "--on", "v100*8 pcie=12GB/s", "--workers", "8", "--approach", "ddp", "--batch", "16")[0]
    expect(abs(at[8, "packed"] / alone["step_ns"] * 1e9 - 1) < 1e-6, at, alone)


def answers(text, *words):
    path = os.path.join(tempfile.mkdtemp(prefix="paceline-scaling-"), "rows.csv")
    with open(path, "w") as file:
        file.write(text)
    code, out, err = run("--rows", path, "--kind", "scaling", "--format", "csv", *words)
    expect(code == 0, err)
    return list(csv.DictReader(io.StringIO(out))), err


def doubted():
    """A row that does not say what ran is known less well than one that does, and the answer says so."""
    def width(row):
        return float(row["high"]) / float(row["low"])

    (named, silent), err = answers("machine,model,workers,batch,approach\ndgx-1-v100,resnet50,8,32,ddp\ndgx-1-v100,resnet50,8,32,\n")
    expect(named["predicted"] == silent["predicted"] and width(silent) > 1.2 * width(named), named, silent)
    expect("1 of 2 rows" in err and "nothing of its software" in err and "removed by columns approach and one_worker" in err, err)
    _, err = answers("machine,model,workers,batch,approach\ndgx-1-v100,resnet50,8,32,ddp\n")
    expect("software" not in err, err)


def hidden():
    """An exchange that the step hides may be slower than hidden: the interval reaches the step of a network half as fast."""
    for batch in (32, 64, 128):
        found, slower = (points("resnet50", "--on", f"a100*8 nvlink=300GB/s net={rate}Gb/s", "--workers", "16", "--batch", str(batch))[0]
                         for rate in (25, 12.5))
        expect(found["exposed_ns"] < 0.5 * found["exchange_ns"] or batch == 32, found)
        expect(found["high_ns"] >= slower["step_ns"], batch, found, slower)


def hidden_on_processors():
    """Gradients go while backward computes on, on processors too: AlexNet's large ones come first, so that what four times as many
    samples compute longer hides more of an exchange that takes longer than backward."""
    device = os.path.join(SOURCE, "catalog", "calibrations", "epyc-zen5-1t.yaml")
    for approach in ("mpi-opt", "ddp", "grpc"):
        short, long = (points("alexnet", "--on", f"{device}*1 nodes=2 net=1Gb/s", "--workers", "2", "--approach", approach, "--batch", str(batch))[0]
                       for batch in (8, 32))
        expect(abs(short["exchange_ns"] / long["exchange_ns"] - 1) < 0.05 and short["exposed_ns"] > 1e9, approach, short, long)
        expect(short["exposed_ns"] - long["exposed_ns"] > 2e8, approach, short, long)


def stream():
    """NCCL sends from node to node over one TCP connection, whatever the network carries besides."""
    def step(net):
        return points("vgg16", "--on", f"t4*4 pcie=12GB/s {net}", "--workers", "8", "--batch", "16")[0]["step_ns"]

    by_stream = step("net=100Gb/s net-kind=tcp net-stream=5Gb/s")
    expect(by_stream == step("net=50Gb/s net-kind=tcp net-stream=5Gb/s") == step("net=5Gb/s net-kind=tcp"), by_stream)
    usual = step("net=100Gb/s net-kind=tcp")
    expect(usual == step("net=100Gb/s net-kind=tcp net-stream=13.68Gb/s") > step("net=100Gb/s net-kind=tcp net-stream=100Gb/s"), usual)
    expect(step("net=100Gb/s net-kind=infiniband") < usual < by_stream, usual)
    code, _, err = run("vgg16", "--on", "t4*4 pcie=12GB/s net=100Gb/s net-stream=5", "--workers", "8")
    expect(code == 2 and "has no unit" in err, code, err)


def fitted():
    """Times that are all half as long again are found and answered; a fit is told from other files."""
    folder = tempfile.mkdtemp(prefix="paceline-scaling-")
    path, fit = os.path.join(folder, "rows.csv"), os.path.join(folder, "fit.json")
    asked = [(m, n, b) for m in ("resnet50", "googlenet", "alexnet") for n in (1, 2, 4, 8) for b in (16, 32)]

    def write(steps):
        with open(path, "w") as file:
            file.write("machine,model,gpus,batch,step_s\n")
            file.writelines(f"dgx-1-v100,{m},{n},{b},{s}\n" for (m, n, b), s in zip(asked, steps))

    def answers(*words):
        code, out, err = run("--rows", path, "--kind", "scaling", "--format", "csv", *words)
        expect(code == 0 and ("--fit" in words or "nothing of its software" in err), code, err)
        return list(csv.DictReader(io.StringIO(out)))

    def fit_rows(*words):
        return subprocess.run([PACELINE, "fit", "--kind", "scaling", path, *words], capture_output=True, text=True)

    write([""] * len(asked))
    expect(fit_rows().returncode == 3, "nothing was measured")
    formula = answers()
    write([1.5 * float(a["predicted"]) for a in formula])
    done = fit_rows("-o", fit, "--format", "json")
    expect(done.returncode == 0, done.stderr)
    document = json.loads(done.stdout)
    strict_schema.hold(document, "fit")
    score = document["score"][0]
    expect(abs(score["formula_mape"] - 1 / 3) < 0.01 and score["mape"] < 0.06, score)
    for a in answers("--fit", fit):
        expect(a["rung"] == "learned" and abs(float(a["predicted"]) / float(a["step_s"]) - 1) < 0.05, a)
    expect(fit_rows("--split", "colour").returncode == 2, "--split")
    code, _, err = run("--rows", path, "--kind", "scaling", "--fit", path)
    expect(code == 3 and len(err.strip().splitlines()) == 1, code, err)


def refused():
    on = ("resnet50", "--on", "dgx-1-v100", "--batch", "8")
    for words, part in (
        ((*on, "--approach", "grcp"), "horovod-nccl"),
        ((*on, "--approach", "grpc:wheels=3"), "servers"),
        ((*on, "--workers", "12"), "do not fill nodes of 8"),
        ((*on, "--workers", "8..1"), "--workers"),
        ((*on, "--workers", "0"), "--workers"),
        ((*on, "--workers", "1,x"), "--workers"),
        ((*on, "--workers", "1,,"), "--workers"),
        ((*on, "--workers", "3", "--strong"), "does not divide"),
        ((*on, "--workers", "16", "--approach", "p2p"), "one node"),
        (("resnet50", "--on", "dgx-1-v100*2", "--batch", "8", "--workers", "32"), "16 devices"),
        (("resnet50", "--on", "a100*4 nvlink=300GB/s", "--workers", "8"), "nothing that joins nodes"),
        (("resnet50", "--workers", "8"), "--on"),
        ((*on, "--workers", "8", "--one-worker", "-1"), "--one-worker"),
        ((*on, "--workers", "8", "--weak", "--strong"), "either --weak or --strong"),
        ((*on, "--workers", "8", "--set", "mode=inference"), "inference"),
        ((*on, "--workers", "8", "--set", "dp=8"), "one worker"),
        (("resnet50", "--on", "v100-sxm2-16", "--set", "dp=8", "--approach", "grpc"), "name a machine"),
        (("resnet50", "--on", "dgx-1-v100", "--set", "dp=8", "--approach", "grcp"), 'closest name is "grpc"'),
        (("resnet50", "--on", "dgx-1-v100", "--set", "dp=8", "--approach", "grpc,ps"), "several with --workers"),
        (("resnet50", "--on", "dgx-1-v100", "--set", "dp=12", "--approach", "ps"), "at most its 8 devices"),
        (("resnet50", "--on", "dgx-1-v100*2", "--set", "dp=16", "--approach", "p2p"), "one node"),
        (("resnet50", "--on", "dgx-1-v100", "--set", "dp=8", "--approach", "grpc:servers=0.5"), "whole number"),
        (("resnet50", "--on", "dgx-1-v100", "--set", "dp=4", "--set", "zero_stage=1", "--approach", "ps"), "fills buckets"),
        ((*on, "--workers", "8", "--jitter", "often"), "--jitter"),
        ((*on, "--workers", "8", "--jitter", "1.5"), "--jitter"),
        ((*on, "--batch", "16,", "--batch", "x", "--workers", "8"), "--batch"),
        (("resnet50", "lenet", "--on", "dgx-1-v100", "--workers", "8", "--one-worker", "100"), "one model"),
        (("resnet50", "no_such_net", "--on", "dgx-1-v100", "--workers", "8"), "no_such_net"),
        ((TRAINING, "--on", "dgx-1-v100", "--workers", "8", "--set", "precision=amp"), "--set"),
        ((DEMO, "--on", "dgx-1-v100", "--workers", "8"), "demo"),
        (("mi300x-node", "--on", "dgx-1-v100", "--workers", "8"), "mi300x-node"),
        (("resnet50", "--on", "mi300x-node", "--workers", "8", "--approach", "nccl"), "NVIDIA"),
    ):
        code, _, err = run(*words)
        expect(code in (2, 3, 4) and part in err and len(err.strip().splitlines()) == 1, words, code, err)


def batch_taken():
    """A model has no usual batch: which one was taken is said, where people and programs look."""
    on = ("resnet50", "--on", "dgx-1-v100", "--workers", "1,8", "--approach", "grpc,horovod-nccl")
    code, out, err = run(*on)
    expect(code == 0 and "a batch of 128 was assumed" in err and "a batch of 128 was assumed" in out, out, err)
    expect("\u2026" not in out and max(map(len, out.splitlines())) <= 100, "cut at 100 columns", out)
    _, out, _ = run("lenet", "inception_v3", *on[1:], "--batch", "16,32")
    expect("workers" in out.splitlines()[out.splitlines().index("By model, approach, batch and workers") + 2], "a heading is cut", out)
    for more in (("--batch", "32"), ("--set", "micro_batch=4")):
        code, out, err = run(*on, *more)
        expect(code == 0 and not err and "was assumed" not in out, more, err)


def modes():
    """An option of another mode is named, not passed over."""
    job = ("--job", "architecture=ps_worker,flop=106G")
    rows_ = ("--rows", "rows.csv", "--kind", "scaling")
    scaling = ("resnet50", "--on", "dgx-1-v100", "--workers", "8", "--batch", "8")
    exchange = ("--kind", "exchange", "--on", "dgx-1-v100")
    for words, part in (
        ((*job, "--set", "dp=2"), "--set"), ((*job, "--workers", "8"), "--workers"), ((*job, "--bytes", "1M"), "--bytes"),
        ((*rows_, "--one-worker", "3"), "--one-worker"),
        ((*scaling, "--bytes", "1M"), "--bytes"), ((*scaling, "--overlap", "none"), "--overlap"),
        ((*exchange, "--set", "dp=2"), "--set"), ((*exchange, "--batch", "2"), "--batch"),
        (("resnet50", "--on", "a100-40-sxm", "--strong"), "--strong"),
        (("resnet50", "--on", "a100-40-sxm", "--collective", "allreduce"), "--collective"),
        ((*scaling, "--one-worker", "0"), "--one-worker"), ((*scaling, "--batch", "0"), "--batch"),
        ((*exchange, "--simulate", "--ranks", "0"), "--ranks"), ((DEMO, "--batch", "0"), "--batch"),
    ):
        code, out, err = run(*words)
        expect(code == 2 and part in err and not out and len(err.strip().splitlines()) == 1, words, code, err)


def places():
    """The first lines name machine and device, how many nodes more workers take than --on names, and one worker that exchanges nothing."""
    for words, said, unsaid in ((("--on", "dgx-h100", "--workers", "1,24"), ("24 workers on dgx-h100 (h100-80-sxm)", "24 workers are on 3 nodes: --on names 1"), "exchanges nothing"),
                                (("--on", "dgx-h100*3", "--workers", "1,24"), ("24 workers on dgx-h100*3 (h100-80-sxm)",), "--on names"),
                                (("--on", "h100-80-sxm", "--approach", "ddp"), ("1 worker on h100-80-sxm reaches", "one worker exchanges nothing"), "--on names")):
        code, out, err = run("lenet", "--batch", "8", *words)
        head = " ".join(out.split("By model")[0].split())
        expect(code == 0 and all(one in head for one in said) and unsaid not in head, words, head, err)


def cells_without_effect():
    """Cells that change nothing are named: servers of an approach without them, words of places that nobody knows, a device that the
    machine does not have."""
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        file.write("machine,device,model,approach,workers,batch,placement,servers\ndgx-1-v100,,resnet50,ddp,8,32,somewhere,4\n"
                   "dgx-1-v100,Tesla V100,resnet50,grpc,8,32,packed,4\ndgx-1-v100,A100,resnet50,grpc,8,32,packed,4\n")
        file.flush()
        said = [row["status"] for row in csv.DictReader(io.StringIO(run("--kind", "scaling", "--rows", file.name)[1]))]
    expect(said == ["ok; no effect: placement, servers", "ok", "ok; no effect: device"], said)


def settings_of_rows():
    """A precision has a column or is a setting, never both; one that the device lacks is refused; a batch stands once."""
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        file.write("machine,model,approach,workers,batch,settings,precision\n" + "".join(f"dgx-1-v100,lenet,ddp,4,{row}\n" for row in (
            "4,,fp16", "4,precision=fp16,", "4,precision=fp32,fp16", "4,,bf16", "4,micro_batch=3,", ",micro_batch=4 precision=fp16,", "4,,")))
        file.flush()
        found = list(csv.DictReader(io.StringIO(run("--kind", "scaling", "--rows", file.name, "-f", "csv", "-q")[1])))
    expect(found[0]["predicted"] == found[1]["predicted"] == found[5]["predicted"] != found[6]["predicted"], found)
    for row, said in ((2, "precision is set twice"), (3, "no rate for bf16"), (4, "no micro_batch beside a batch")):
        expect(not found[row]["predicted"] and said in found[row]["status"], found[row])


weak_and_strong()
settings_of_rows()
places()
cells_without_effect()
batch_taken()
modes()
ranges()
batches()
walked()
walked_lead()
walked_buckets()
jitter()
networks_in_words()
pulls()
several_models()
recorded()
kept_gradients()
measures()
doubted()
hidden()
hidden_on_processors()
stream()
fitted()
embeddings()
formats()
rows()
too_many_nodes()
names_of_tables()
refused()
finish()
