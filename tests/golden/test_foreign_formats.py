"""Files of other programs are told by their first bytes, by every verb that reads files: one line that names the format and what to do."""
import bz2
import gzip
import io
import json
import lzma
import os
import pickle
import sqlite3
import struct
import sys
import tarfile
import tempfile
import zipfile

from checks import SOURCE, expect, expect_line, finish, run

EVENTS = json.dumps({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]})


def zipped(**members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def tarred():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        about = tarfile.TarInfo("trace.json")
        about.size = len(EVENTS)
        archive.addfile(about, io.BytesIO(EVENTS.encode()))
    return out.getvalue()


def database(folder):
    path = os.path.join(folder, "made")
    with sqlite3.connect(path) as made:
        made.execute("create table t(x)")
    with open(path, "rb") as file:
        return file.read()


def weights():
    head = b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
    return struct.pack("<Q", len(head)) + head + bytes(4)


# Beginnings as the formats' own documents state them, or made by Python's writers; what is to be said of each.
def formats(folder):
    yield lzma.compress(EVENTS.encode()), "xz -d"
    yield gzip.compress(gzip.compress(EVENTS.encode())), "compressed twice: decompress it once"
    yield bz2.compress(EVENTS.encode()), "bzip2 -d"
    yield b"\x04\x22\x4d\x18" + bytes(40), "lz4 -d"
    yield b"7z\xbc\xaf\x27\x1c" + bytes(40), "7z x"
    yield zipped(**{"trace.json": EVENTS}), "unzip"
    yield zipped(**{"archive/data.pkl": b"\x80\x02}q\0.", "archive/version": b"3"}), "a checkpoint of PyTorch"
    yield zipped(**{"arr_0.npy": b"\x93NUMPY\x01\0"}), "an archive of NumPy"
    yield zipped(**{"[Content_Types].xml": b"<x/>"}), "save its table as CSV"
    yield tarred(), "tar -xf"
    yield gzip.compress(tarred()), "tar -xf"
    yield gzip.compress(database(folder)), "decompress it first"
    yield b"PAR1" + bytes(60), "a table in Parquet"
    yield b"ARROW1\0\0" + bytes(60), "Arrow"
    yield b"\x89HDF\r\n\x1a\n" + bytes(60), "HDF5"
    yield b"\x93NUMPY\x01\0" + bytes(60), "NumPy"
    for protocol in (2, 3, 4, 5):
        yield pickle.dumps({"segments": [], "device_traces": []}, protocol=protocol), "never read"
    yield weights(), "safetensors"
    yield b"GGUF\x03\0\0\0" + bytes(60), "GGUF"
    yield b"%PDF-1.7\n%\xe2\xe3\n", "PDF"
    yield b"\x89PNG\r\n\x1a\n" + bytes(40), "a picture"
    yield b"\x7fELF\x02\x01\x01" + bytes(60), "a program"
    yield b"<!DOCTYPE html>\n<html><head><title>Sign in</title>", "a page in HTML"
    yield b'\n  <HTML lang="en"><body>404', "a page in HTML"
    yield b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n", "git lfs pull"
    yield b"/annex/objects/SHA256E-s1--00.json\n", "git annex get"
    yield b"\xff\xfe" + EVENTS.encode("utf-16le"), "UTF-16"
    yield b"\xfe\xff" + EVENTS.encode("utf-16be"), "UTF-16"
    yield EVENTS.encode("utf-16le"), "UTF-16"
    yield b"\xff\xfe\0\0" + EVENTS.encode("utf-32le"), "UTF-32"


def doors(path):
    for words in (("analyze", path), ("predict", path, "--on", "t4"), ("models", path), ("predict", "--rows", path), ("fit", "--kind", "kernel", path, "-o", path + ".fit"),
                  ("fleet", path), ("history", path), ("predict", "lenet", "--on", "t4", "--fit", path), ("convert", path, "-o", path + ".et"), ("tune", path)):
        yield words


# Files that some verb reads; what is said of each where another kind is read.
TABLE, DEVICES = "a,b\n1,2\n", "devices: [{name: d}]\n"
MODEL = "family: mine\nabout: m\nsource: s\ninputs: {x: {features: 8}}\nlayers: [linear: 4]\nloss: cross_entropy\n"
LOG = "# nThread 1 nGpus 8\n#   size  count  type  redop  time  algbw  busbw  error\n  8  2  float  sum  12.3  0.00  0.00  0e+00\n"
GRAPH = json.dumps({"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": []})


def own_kinds(folder):
    """(file, the doors that read it, what it is)"""
    made = {name: os.path.join(folder, name) for name in ("t.json", "g.json", "m.txt", "log", "d.txt", "a.csv", "store", "k.fit", "answer", "costs")}
    for name, text in (("t.json", EVENTS), ("g.json", GRAPH), ("m.txt", MODEL), ("log", LOG), ("d.txt", DEVICES), ("a.csv", TABLE)):
        with open(made[name], "w") as file:
            file.write(text)
    demo = os.path.join(SOURCE, "tests", "data", "demo.json.gz")
    code, out, err = run("analyze", demo, "-f", "json", "-q", "--store", made["store"] + ".sqlite", "--overheads", made["costs"])
    os.rename(made["store"] + ".sqlite", made["store"])
    with open(made["answer"], "w") as file:
        file.write(out)
    fitted = run("fit", os.path.join(SOURCE, "catalog", "calibrations", "epyc-zen5-1t.csv"), "-o", made["k.fit"], "-q")[0]
    expect(code == fitted == 0, code, err, fitted)
    return ((made["t.json"], "analyze predict convert", "trace"), (made["g.json"], "predict convert", "step without times"), (made["m.txt"], "predict convert", "model's description"),
            (made["log"], "rows learn", "log of exchanges"), (made["d.txt"], "", "description of devices"), (made["a.csv"], "rows learn fleet iterations", "table"),
            (made["store"], "history", "store of results"), (made["k.fit"], "fit", "fit"), (made["answer"], "learn", "answer of this program"), (made["costs"], "overheads learn", "host overheads"))


def check_fits_of_other_kinds(folder):
    """A fit of another kind than the question's is named by its kind; what is no fit is named by what it is."""
    kernels, curves, table = (os.path.join(folder, name) for name in ("k.fit", "x.fit", "x.csv"))
    with open(table, "w") as file:
        file.write("gpus,collective,bytes,time_us\n" + "".join(f"8,all_reduce,{1 << power},{20 + (1 << power) / 1e5}\n" for power in range(10, 24, 2)))
    expect(run("fit", table, "--kind", "exchange", "-o", curves, "-q")[0] == 0, "fit")
    jobs = os.path.join(SOURCE, "tests", "data", "jobs_synthetic.csv.gz")
    exchange = ("predict", "--kind", "exchange", "--on", "dgx-h100", "--bytes", "1M")
    for words, path, found, wanted in ((exchange, kernels, "kernel", "exchange"), (("tune", "--on", "dgx-h100"), kernels, "kernel", "exchange"),
                                       (("fleet", jobs), kernels, "kernel", "job"), (("fleet", jobs), curves, "exchange", "job"),
                                       (("predict", "--rows", table, "--kind", "exchange"), kernels, "kernel", "exchange")):
        code, _, err = run(*words, "--fit", path)
        expect_line(code, err, 2, "--fit", path, f"of kind {found}", f"one of kind {wanted}")
    trace = os.path.join(SOURCE, "tests", "data", "demo.json.gz")
    for words in (("plan", "gpt2", "--on", "dgx-h100", "--fit", trace), ("predict", "gpt2", "--on", "dgx-h100", "--fit", trace), ("tune", trace)):
        code, _, err = run(*words)
        expect_line(code, err, 3, "another kind (trace of a profiler)")


def check_own_kinds(folder):
    demo = os.path.join(SOURCE, "tests", "data", "demo.json.gz")
    for path, read_by, what in own_kinds(folder):
        doors = {"analyze": (path,), "predict": (path, "--on", "t4"), "fleet": (path,), "iterations": (path,), "history": (path,), "rows": ("--rows", path), "convert": (path, "-o", path + ".et"),
                 "fit": ("lenet", "--on", "t4", "--fit", path), "overheads": (demo, "--on", "t4", "--overheads", path), "learn": (path, "-o", path + ".fit"),
                 "machines": (path,), "on": ("lenet", "--on", path), "nodes": ("gpt2", "--on", path + "*2"), "joined": ("--kind", "exchange", "--on", path), "train": (path,)}
        for door, words in doors.items():
            verb = {"iterations": "fleet", "rows": "predict", "fit": "predict", "overheads": "predict", "learn": "fit", "on": "predict", "nodes": "plan", "joined": "predict"}.get(door, door)
            more = ("--iterations",) if door == "iterations" else ()
            code, out, err = run(verb, *words, *more, "-q")
            if door in read_by.split():
                expect("another kind" not in err, "is read there", door, path, err)
                continue
            at_hand = {"train": "description of a model", **dict.fromkeys(("machines", "on", "nodes", "joined"), "description of" if path.endswith("d.txt") else what)}
            expect_line(code, err, 3, path, at_hand[door] if door in at_hand else what if "not say when" not in err and ": is a table" not in err else ": ")
            expect(out == "", door, path, out[:200])
    check_fits_of_other_kinds(folder)
    empty = os.path.join(folder, "nothing")
    open(empty, "w").close()
    for words in (("analyze", empty), ("fleet", empty), ("predict", "--rows", empty)):
        code, _, err = run(*words)
        expect_line(code, err, 3, "is empty")


# What tools print, as their documentation shows it, and what is said of each; read by no verb.
HEADED = "Time (%),Total Time (ns),{},Avg (ns),Name\n60.0,1200,2,600,gemm\n40.0,800,4,200,add\n"
TEXTS = (
    ("k.csv", HEADED.format("Instances"), "statistics of Nsight Systems"), ("a.csv", HEADED.format("Num Calls"), "statistics of Nsight Systems"),
    ("p.csv", "Processing [r.sqlite] with [cuda_gpu_kern_sum.py]...\n" + HEADED.format("Instances"), "--type sqlite"),
    ("s.txt", " ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):\n\n Time (%)  Total Time (ns)  Name\n --------  ---\n    60.0  4520000  gemm\n", "--type sqlite"),
    ("o.txt", "CUDA Kernel Statistics (nanoseconds)\n\nTime(%)  Total Time  Instances  Average  Name\n-------\n  100.0  3360  2  1680.0  gemm\n", "--type sqlite"),
    ("t.csv", "Start (ns),Duration (ns),CorrId,Device,Strm,Name\n1000,5000,101,NVIDIA A10G (0),7,gemm\n", "a list of Nsight Systems"),
    ("n.txt", "==92== Profiling application: a.out\n==92== Profiling result:\n  Type  Time(%)  Time  Calls  Avg  Name\n GPU activities:  50.27%  2.1ms  4  533us  gemm\n", "nvprof"),
    ("n.csv", '"Type","Time(%)","Time","Calls","Avg","Min","Max","Name"\n,%,ms,,us,us,us,\n"GPU activities",50.27,2.1,4,533.6,2.1,2127.8,"gemm"\n', "nvprof"),
    ("r.csv", "Index,KernelName,gpu-id,BeginNs,EndNs,DurationNs\n0,gemm.kd,1,200,300,100\n", "a table of rocprof"),
    ("h.csv", '"Domain","Function","Process_Id","Correlation_Id","Start_Timestamp","End_Timestamp"\n"HIP","hipMalloc",1,1,10,20\n', "a table of rocprofv3"),
    ("c.csv", '"ID","Kernel Name","Metric Name","Metric Value"\n"0","gemm","sm__cycles","9"\n', "Nsight Compute"),
    ("e.txt", "-----------  ----------  ----------\n Name    Self CPU %    # of Calls\n-----------  ----------  ----------\n aten::mm  0.10%  20\n", "export_chrome_trace"),
    ("d.txt", "------ DeepSpeed Flops Profiler ------\nProfile Summary at step 10:\n", "flops profiler"),
    ("py.txt", "   197 function calls in 0.002 seconds\n\n   ncalls  tottime  percall  cumtime filename\n", "Python's own profiler"),
    ("nccl.log", "n1:12:12 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>\n", "NCCL_TOPO_DUMP_FILE"),
    ("fr.json", json.dumps({"version": "2.4", "pg_config": {}, "entries": [{"collective_seq_id": 1, "profiling_name": "nccl:all_reduce"}]}), "flight recorder"),
    ("tb.csv", "Wall time,Step,Value\n1700000000.1,0,0.25\n", "TensorBoard"), ("w.csv", '"Step","a - t","a - t__MIN","a - t__MAX"\n"0","1","1","1"\n', "Weights & Biases"),
    ("tab.html.txt", "<table><tr><th>M</th></tr></table>", "a table in HTML"))
# A line of what trainers print at each step.
LOGS = (" [2025-04-13 23:41:12] iteration  10/ 1000 | consumed samples:  160 | elapsed time per iteration (ms): 1147.6 | lm loss: 7.4 |", "{'loss': 0.4, 'learning_rate': 3e-06, 'epoch': 4.5}",
        "[rank0]:INFO - step:  1  loss: 12.27  memory: 34.72GiB(36.6%)  tps: 325  mfu: 2.3%", "iter 10: loss 9.98, time 250.20ms, mfu 38.20%",
        "step    1/19560 | loss 11.0 (+nanz)| norm 15.4 (+nanz)| lr 2.57e-06 | 3074.23 ms | 170543 tok/s", ':::MLLOG {"namespace": "", "time_ms": 1, "key": "init_start"}',
        "1875/1875 [=====] - 3s 2ms/step - loss: 0.29 - accuracy: 0.9", "INFO:root:Epoch[0] Batch [20]\tSpeed: 1910.41 samples/sec\taccuracy=0.1",
        "INFO:tensorflow:global_step/sec: 3.84", "1\timages/sec: 338.1 +/- 0.0 (jitter = 0.0)\t7.8", "Img/sec per GPU: 331.2 +-1.2",
        "[timer.py:197:stop] 0/10, RunningAvgSamplesPerSec=6.03, CurrSamplesPerSec=6.05", "\t Train throughput/samples_per_sec: 12.2", "Epoch 0:  10%|#  | 10/100 [00:05<00:45,  2.00it/s]",
        "completed step: 5, seconds: 2.3, TFLOP/s/device: 180.2, loss: 10.2", '{"epoch": 1.0, "global_step": 100, "log_history": [{"loss": 2.1, "step": 10}]}')


def check_texts(folder):
    for name, text, said in TEXTS + tuple(("train.log", line + "\n", "a log of training") for line in LOGS):
        path = os.path.join(folder, name)
        with open(path, "w") as file:
            file.write(text)
        for words in (("analyze", path), ("compare", path, path), ("fleet", path), ("convert", path, "-o", path + ".et")):
            code, out, err = run(*words)
            expect_line(code, err, 3, said, path)
    with open(os.path.join(folder, "long.log"), "w") as file:  # trainers print their arguments first
        file.write("".join(f"  argument_{i} {'.' * 30} {i}\n" for i in range(600)) + LOGS[0] + "\n")
    code, out, err = run("analyze", os.path.join(folder, "long.log"))
    expect_line(code, err, 3, "a log of training")


# Configurations of trainings, which plan --from reads.
TRAININGS = (("run.sh", "#!/bin/bash\ntorchrun train.py --lr 1e-4\n"), ("t.toml", "[model]\nname = \"llama3\"\n[parallelism]\ntensor_parallel_degree = 2\n"),
             ("ds.json", '{"zero_optimization": {"stage": 3}}'), ("a.yml", "base_model: a/b\nmodel_type: LlamaForCausalLM\n"), ("n.yaml", "trainer:\n  devices: 8\nmodel:\n  tensor_model_parallel_size: 2\n"))


def check_trainings(folder):
    for name, text in TRAININGS:
        path = os.path.join(folder, name)
        with open(path, "w") as file:
            file.write(text)
        for words in (("analyze", path), ("predict", path, "--on", "t4"), ("models", path), ("fleet", path)):
            code, out, err = run(*words)
            expect_line(code, err, 3, path, "configuration of a training", "--from")
        code, _, err = run("plan", "gpt2", "--on", "dgx-h100", "--from", path)
        expect("another kind" not in err, "is read there", name, err)


def check_topologies(folder):
    """What is no topology of NCCL, or one that lacks devices, says where one comes from; one that names no devices, what to ask."""
    gpu = '<pci busid="0000:1{0}:00.0" class="0x030200" link_speed="8.0 GT/s PCIe" link_width="16"><gpu dev="{0}" sm="70" rank="{0}"><nvlink target="0000:1{1}:00.0" count="2" tclass="0x030200"/></gpu></pci>'
    cpu = '<system version="1"><cpu numaid="0" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="85">{}</cpu></system>'
    path = os.path.join(folder, "topo.xml")
    for text, said in (('<graphs version="1"><graph id="0"/></graphs>', "NCCL_TOPO_DUMP_FILE"), ("<nvidia_smi_log><gpu/></nvidia_smi_log>", "NCCL_TOPO_DUMP_FILE"),
                       (cpu.format('<pci busid="0000:17:00.0" class="0x030200" link_speed="8.0 GT/s PCIe" link_width="16"/>'), "NCCL_TOPO_DUMP_FILE")):
        with open(path, "w") as file:
            file.write(text)
        code, _, err = run("predict", "--collective", "allreduce", "--bytes", "64MB", "--on", path)
        expect_line(code, err, 3, path, said)
    with open(path, "w") as file:
        file.write(cpu.format(gpu.format(0, 1) + gpu.format(1, 0)))
    expect(run("predict", "--collective", "allreduce", "--bytes", "64MB", "--on", path)[0] == 0, "two devices")
    for words in (("plan", "gpt2"), ("predict", "gpt2"), ("fleet", os.path.join(SOURCE, "tests", "data", "jobs_resnet50.csv"))):
        code, _, err = run(*words, "--on", path)
        expect_line(code, err, 2, "does not name its devices", "exchange")
    path = os.path.join(folder, "topo.txt")
    with open(path, "w") as file:
        file.write("\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV12\t0-47\nGPU1\tNV12\t X \t0-47\n")
    code, _, err = run("plan", "gpt2", "--on", path)
    expect_line(code, err, 3, path, "NCCL_TOPO_DUMP_FILE")


def check_half_foreign(folder):
    """Tools that call some of their categories as the profiler does: what is read alone would mislead."""
    def events(*kinds):
        return [{"ph": "X", "cat": kind, "name": f"k{i % 3}", "pid": 0, "tid": 7, "ts": 10 * i, "dur": 6, "args": {"device": 0, "stream": 7, "correlation id": i}}
                for i, kind in enumerate(kinds * 9)]
    path = os.path.join(folder, "half.json")
    for kinds, named in ((("Session", "Node", "Kernel"), "Session"), (("cpu_op", "gpu_op"), "gpu_op"), (("ProfileStep", "Operator", "CudaRuntime", "Kernel"), "ProfileStep")):
        with open(path, "w") as file:
            file.write(json.dumps({"traceEvents": events(*kinds)}))
        code, _, err = run("analyze", path)
        expect_line(code, err, 3, f"(category '{named}')", "would mislead")
    # some beside a whole trace are left out, which is said; what the profiler writes for itself is not worth a word
    kernels = events("cuda_runtime", "kernel")
    for extra, said in (("mine", "('mine' first)"), ("overhead", None), ("gpu_user_annotation", None)):
        with open(path, "w") as file:
            file.write(json.dumps({"traceEvents": kernels + events(extra)[:3]}))
        code, out, err = run("analyze", path)
        expect(code == 0 and (said in err if said else "left out" not in err), extra, code, err)


def check_other_devices(folder):
    """Kineto for other devices names categories after them; their calls launch and wait as CUDA's do."""
    wanted = None
    for runtime, kernel, copy in (("cuda_runtime", "kernel", "gpu_memcpy"), ("musa_runtime", "kernel", "gpu_memcpy"), ("musa_driver", "kernel", "gpu_memcpy"),
                                  ("privateuse1_runtime", "privateuse1_kernel", "privateuse1_memcpy"), ("hip_runtime", "kernel", "gpu_memcpy")):
        events = []
        for i in range(12):
            for cat, name, pid, tid, at, dur, args in ((runtime, "cudaLaunchKernel", 1, 1, 0, 4, {}), (kernel, "gemm", 0, 7, 20, 40, {"device": 0, "stream": 7}),
                                                       (runtime, "cudaMemcpyAsync", 1, 1, 5, 3, {}), (copy, "Memcpy HtoD (Pinned -> Device)", 0, 7, 62, 9, {"device": 0, "stream": 7, "bytes": 64})):
                events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": 100 * i + at, "dur": dur, "args": {**args, "correlation": 2 * i + 1 + ("emcpy" in name)}})
        path = os.path.join(folder, "device.json")
        with open(path, "w") as file:
            file.write(json.dumps({"traceEvents": events}))
        code, out, err = run("analyze", path, "-f", "json", "-q")
        window = json.loads(out)["window"] if code == 0 else err
        wanted = wanted or window
        expect(window == wanted and window["busy_ns"] == 12 * 49000, runtime, window, wanted)


def main():
    with tempfile.TemporaryDirectory(prefix="paceline-texts-") as folder:
        check_texts(folder)
        check_trainings(folder)
        check_topologies(folder)
        check_half_foreign(folder)
        check_other_devices(folder)
    with tempfile.TemporaryDirectory(prefix="paceline-kinds-") as folder:
        check_own_kinds(folder)
    with tempfile.TemporaryDirectory(prefix="paceline-foreign-") as folder:
        path = os.path.join(folder, "given")
        for content, said in formats(folder):
            with open(path, "wb") as file:
                file.write(content)
            for words in doors(path):
                code, out, err = run(*words)
                expect_line(code, err, 3, said)
                expect(out == "" and err.count(path) >= 1, words, out, err)
            code, _, err = run("analyze", "-", stdin=content)
            expect_line(code, err, 3, said, "<stdin>")

        for name, text, said in (("a.ipynb", '{"cells": [], "nbformat": 4}', "notebook"), ("t.csv", "a,b\n1,2\n", "is a table"),
                                 # NVIDIA, "JSON and Text Format Description": a message a line; the strings first or last
                                 ("e.json", '{"Type":48,"TraceProcessEvent":{"startNs":"1","endNs":"2"}}\n{"Type":79,"CudaEvent":{"startNs":"1"}}\n', "--type sqlite"),
                                 ("m.onnx.gz", "\x08\x07:\x04main", "a compressed model"),
                                 *((name, between.join(['{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2}'] * 3), "without its brackets")
                                   for name, between in (("lines.json", "\n"), ("lines.jsonl", "\r\n"), ("commas.json", ",\n"))),
                                 ("s.json", '{"data":["[Unknown]","[Unknown kernel module]"]}\n{"Type":48}\n', "--type sqlite"),
                                 ("l.json", '{"type":"String","id":"3720","value":"x"}\n{"type":"String","id":"3721","value":"y"}\n', "--type sqlite")):
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
            for verb in ("analyze", "models"):
                code, _, err = run(verb, os.path.join(folder, name))
                expect_line(code, err, 3, said)

        # a table of questions as a list of records says what the table of the same cells says
        answers = set()
        for name, text in (("rows.csv", "model,n_gpu\ngpt2,8\n"), ("rows.json", '[{"model": "gpt2", "n_gpu": 8}]'), ("rows.jsonl", '{"model": "gpt2", "n_gpu": 8}\n'),
                           ("rows.yaml", "- model: gpt2\n  n_gpu: 8\n")):
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
            code, out, err = run("predict", "--kind", "step", "--on", "dgx-h100", "--rows", os.path.join(folder, name))
            expect(code == 0, name, err)
            answers.add(out)
        expect(len(answers) == 1, answers)

        # PyTorch of 2021 writes "Operator", the profiler of MXNet "operator"
        for category, good in (("Operator", True), ("operator", False)):
            path = os.path.join(folder, "profile.json")
            with open(path, "w") as file:
                file.write(json.dumps({"traceEvents": [{"ph": "X", "cat": category, "name": "FullyConnected", "pid": 1, "tid": 1, "ts": 10 * i, "dur": 5} for i in range(9)]}))
            code, _, err = run("analyze", path)
            expect(code == (0 if good else 3) and (good or "another tool (category 'operator')" in err), category, code, err)

        # a list of objects that are no events; a device's work without a category beside the host's; ranks joined into one file
        op = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 9}
        for name, events, said in (("layers.json", [{"count": 10}, {"name": "conv1", "timeMs": 3.2}], "found a list of others"),
                                   ("npu.json", [op, {"ph": "X", "name": "MatMulV2", "pid": 9, "tid": 2, "ts": "4", "dur": 5}], "whose work is not read")):
            with open(os.path.join(folder, name), "w") as file:
                file.write(json.dumps(events))
            code, _, err = run("analyze", os.path.join(folder, name))
            expect_line(code, err, 3, said)
        for pid in (1, 9):  # a user's own marks, of the same process or of a row of their own, are no device
            with open(os.path.join(folder, "marked.json"), "w") as file:
                file.write(json.dumps([{**op, "ts": 10 * i} for i in range(30)] + [{"ph": "X", "name": "epoch", "pid": pid, "tid": 2, "ts": 4, "dur": 200}]))
            expect(run("analyze", os.path.join(folder, "marked.json"))[0] == 0, "own marks", pid)
        for pids, said in ((("0", "0"), False), (("rank0", "rank1"), True)):
            kernels = [{"ph": "X", "cat": "kernel", "name": "gemm", "pid": pids[i % 2], "tid": 7, "ts": 10 * i, "dur": 6 if pids[0] == "0" else 12, "args": {"device": 0, "stream": 7}}
                       for i in range(9)]
            with open(os.path.join(folder, "joined.json"), "w") as file:
                file.write(json.dumps({"traceEvents": kernels}))
            code, _, err = run("analyze", os.path.join(folder, "joined.json"), "--check")
            expect(code == 0 and said == ("several processes wrote work of one device and stream" in err), pids, code, err)

        # a description by another name, or through a pipe, is told how to be read; .yml is .yaml
        model = "family: mine\nabout: m\nsource: s\ninputs: {x: {features: 8}}\nlayers: [linear: 4]\nloss: cross_entropy\n"
        for name, good in (("m.yml", True), ("m.yml:mine", True), ("m.yaml", True), ("m.txt", False)):
            with open(os.path.join(folder, name.split(":")[0]), "w") as file:
                file.write(model)
            code, _, err = run("models", os.path.join(folder, name))
            expect(code == (0 if good else 3) and (good or "ends with .yaml, or -" in err), name, code, err)
        expect(run("models", "-", stdin=model.encode())[0] == 0, "standard input")
        code, _, err = run("predict", "lenet", "--on", os.path.join(folder, "m.txt"))
        expect_line(code, err, 3, "is of another kind (model's description)")
        pipe = os.path.join(folder, "pipe")
        os.mkfifo(pipe)
        code, _, err = run("slice", pipe, "-o", os.path.join(folder, "s.json"))  # it hung
        expect_line(code, err, 2, "comes once")
    return finish()


sys.exit(main())
