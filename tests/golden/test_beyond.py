"""Answers beyond the rows, curves and overheads that they are learned from carry the code `extrapolated`; answers within do not."""
import csv
import json
import os
import subprocess
import tempfile

from checks import PACELINE, expect, finish  # noqa: E402


def table(path, head, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([head.split(","), *rows])
    return path


def warned(*words):
    done = subprocess.run([PACELINE, "predict", *words, "-f", "json"], capture_output=True, text=True)
    expect(done.returncode in (0, 1), words, done.returncode, done.stderr)
    return [one["text"] for one in json.loads(done.stdout)["warnings"] if one["code"] == "extrapolated"]


def fit(source, kind):
    path = source + ".fit"
    done = subprocess.run([PACELINE, "fit", source, "--kind", kind, "-o", path], capture_output=True, text=True)
    expect(done.returncode == 0, done.stderr)
    return path


def rows_named(texts):
    """The rows in "2 of 4 rows (3, 4) ask for ..."."""
    return texts[0].split("(")[1].split(")")[0] if len(texts) == 1 else texts


def test_kernels(folder):
    sizes = [(m, n, k) for m in (256, 512, 1024, 2048, 4096) for n in (256, 512, 1024, 2048) for k in (256, 1024, 4096)]
    learned = fit(table(os.path.join(folder, "kernels.csv"), "op,dtype,m,n,k,device,time_us",
                        [["gemm", "fp16", m, n, k, "v100-sxm2-16", 5 + 2 * m * n * k / 80e6] for m, n, k in sizes]), "kernel")
    asked = [["gemm", "fp16", 512, 512, 1024, "v100-sxm2-16"], ["gemm", "fp16", 16384, 512, 1024, "v100-sxm2-16"],
             ["gemm", "fp16", 512, 512, 1024, "a100-80-sxm"], ["gemm", "fp32", 512, 512, 1024, "v100-sxm2-16"]]
    head = "op,dtype,m,n,k,device"
    expect(rows_named(warned("--rows", table(os.path.join(folder, "q.csv"), head, asked), "--fit", learned)) == "2, 3, 4", "rows of kernels")
    expect(not warned("--rows", table(os.path.join(folder, "q1.csv"), head, asked[:1]), "--fit", learned), "a row that was learned from")
    lenet = ("lenet", "--set", "precision=fp16", "--set", "micro_batch=64", "--fit", learned)
    expect(len(warned(*lenet, "--on", "v100-sxm2-16")) == 1, "a model whose products are smaller than the fit's")
    megatron = ("gpt3_1.3b", "--on", "dgx-a100", "--set", "tp=8", "--set", "framework=megatron-core", "--set", "micro_batch=1", "--fit", learned)
    expect(len(warned(*megatron)) == 1, "a step in closed form on a device without rows")
    return learned


def test_exchanges(folder):
    rows = [["dgx-h100", "allreduce", 8, b, 20 + b / 3e5] for b in (1024, 65536, 1 << 20, 1 << 24, 1 << 27)]
    learned = fit(table(os.path.join(folder, "curve.csv"), "system,collective,gpus,bytes,time_us", rows), "exchange")
    asked = [["dgx-h100", "allreduce", 8, 1 << 19], ["dgx-h100", "allreduce", 8, 8], ["dgx-h100", "allreduce", 8, 1 << 30],
             ["dgx-h100", "allreduce", 4, 1 << 19]]
    found = warned("--rows", table(os.path.join(folder, "sizes.csv"), "system,collective,gpus,bytes", asked), "--kind", "exchange",
                   "--fit", learned)
    expect(rows_named(found) == "2, 3, 4", found)
    exchange = ("--kind", "exchange", "--on", "dgx-h100", "--fit", learned)
    expect(not warned(*exchange, "--bytes", "1MB") and len(warned(*exchange, "--bytes", "4GB")) == 1, "one size")


def test_steps(folder):
    rows = [[m, "dgx-a100", "bf16", 1, 1, dp, mb, mb * dp * 2, 0.3 * mb * (2 if "2.7" in m else 1)]
            for m in ("gpt3_1.3b", "gpt3_2.7b") for dp in (1, 2, 4, 8) for mb in (1, 2, 4)]
    head = "model,device,precision,tp,pp,dp,micro_batch,global_batch"
    learned = fit(table(os.path.join(folder, "steps.csv"), head + ",step_time_s", rows), "step")
    with open(learned) as file:
        seen = json.load(file)["seen"]
    expect(seen["devices"] == [1, 8] and seen["micro-batch"] == [1, 4] and seen["sequence"] == [2048, 2048], seen)
    asked = [["gpt3_1.3b", "dgx-a100", "bf16", 1, 1, 4, 2, 16], ["gpt3_1.3b", "dgx-a100*8", "bf16", 1, 1, 64, 2, 256],
             ["gpt3_1.3b", "dgx-a100", "bf16", 1, 1, 4, 8, 64], ["gpt3_13b", "dgx-a100", "bf16", 8, 1, 1, 1, 2]]
    found = warned("--rows", table(os.path.join(folder, "asked.csv"), head, asked), "--fit", learned)
    expect(rows_named(found) == "2, 3, 4", found)
    step = ("gpt3_1.3b", "--on", "dgx-a100", "--set", "precision=bf16", "--set", "tp=2", "--set", "dp=4", "--fit", learned)
    expect(not warned(*step, "--set", "micro_batch=2"), "a step within, walked")
    expect(len(warned(*step, "--set", "micro_batch=8")) == 1, "a step beyond, walked")
    megatron = (*step, "--set", "framework=megatron-core")
    expect(len(warned(*megatron, "--set", "micro_batch=8")) == 1, "a step beyond, in closed form")


def test_scaling(folder):
    rows = [[m, "dgx-1-v100", "nccl", n, b, 270 * n * (1 if m == "resnet50" else 0.6)]
            for m in ("resnet50", "vgg16") for n in (1, 2, 4, 8) for b in (16, 32, 64)]
    head = "model,machine,approach,workers,batch"
    learned = fit(table(os.path.join(folder, "scaling.csv"), head + ",samples_per_s", rows), "scaling")
    asked = [["resnet50", "dgx-1-v100", "nccl", 8, 32], ["resnet50", "dgx-a100*4", "nccl", 32, 32], ["resnet50", "dgx-1-v100", "nccl", 8, 128]]
    asked = table(os.path.join(folder, "workers.csv"), head, asked)
    found = warned("--rows", asked, "--kind", "scaling", "--fit", learned)
    expect(rows_named(found) == "2, 3", found)
    return asked, learned


def test_fits_of_other_kinds(kernels, asked, scaling):
    """A fit of another kind than the rows is named with both kinds."""
    for words in (("--rows", asked, "--kind", "scaling", "--fit", kernels), ("--rows", asked, "--kind", "kernel", "--fit", scaling)):
        done = subprocess.run([PACELINE, "predict", *words], capture_output=True, text=True)
        expect(done.returncode == 2 and "of kind kernel" in done.stderr and "of kind scaling" in done.stderr, words, done.stderr)


def test_overheads(folder):
    """A file with one operator knows no other by name."""
    path = os.path.join(folder, "few.csv")
    table(path, "workload,type,name,mean_us,count", [[w, t, "aten::addmm", 5, 100] for w in ("v", "w") for t in ("t2", "t3", "t5")])
    code = subprocess.run([PACELINE, "fit", path, "--kind", "overhead", "-o", path + ".json"], capture_output=True, text=True)
    expect(code.returncode == 0, code.stderr)
    step = ("resnet50", "--on", "v100", "--set", "micro_batch=8")
    expect(not warned(*step) and len(warned(*step, "--overheads", path + ".json")) == 1, "operators by class")


with tempfile.TemporaryDirectory() as scratch:
    of_kernels = test_kernels(scratch)
    test_exchanges(scratch)
    test_steps(scratch)
    test_overheads(scratch)
    test_fits_of_other_kinds(of_kernels, *test_scaling(scratch))
finish()
