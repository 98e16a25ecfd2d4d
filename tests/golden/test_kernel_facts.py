"""Measurements by others of single kernels, one of each class that was once far off: within the interval, and near."""
import csv
import io
import math
import os
import tempfile

from checks import expect, finish, run, says_no

FOLDER = tempfile.mkdtemp(prefix="paceline-kernel-facts-")


def ask(text, *more):
    path = os.path.join(FOLDER, "table.csv")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    code, out, err = run("predict", "--rows", path, "--kind", "kernel", *more)
    expect(code == says_no(err), "refused", text[:200], err)
    return list(csv.DictReader(io.StringIO(out)))


def holds(what, text, measured, *more, within=0.5):
    """Each row's measured value lies in its interval, and the middle of the rows is so near."""
    rows, off = ask(text, *more), []
    for row in rows:
        value = float(row[measured])
        expect(row["predicted"] and float(row["low"]) <= value <= float(row["high"]), what, row)
        off.append(math.log(float(row["predicted"]) / value) if row["predicted"] else math.inf)
    expect(abs(sorted(off)[len(off) // 2]) < within, what, off)
    return rows


def test_emulated():
    """PyTorch's squares on devices without matrix units for the precision (zzc0721/torch-performance-test-data, issues 174, 9 and
    140; chsasank/device-benchmarks): the rate of FP32, or less, though a P100's data sheet has twice that in FP16."""
    rows = holds("half precision on Pascal", "device,m,n,k,dtype,TFLOPS\n" + "".join(
        f"{device},{n},{n},{n},fp16,{rate}\n" for device, n, rate in (
            ("Tesla P100-PCIE-16GB", 2048, 7.67), ("Tesla P100-PCIE-16GB", 4096, 8.39), ("Tesla P100-PCIE-16GB", 8192, 7.72), ("Tesla P100-PCIE-16GB", 10240, 7.72),
            ("Tesla P4", 2048, 4.16), ("Tesla P4", 4096, 4.25), ("Tesla P4", 8192, 3.47))), "TFLOPS", within=0.15)
    expect(all("in fp16 products run as in single precision here" in row["status"] for row in rows), rows[0])
    rows = holds("bf16 before Ampere", "device,m,n,k,dtype,TFLOPS\nTesla V100-SXM2-16GB,4096,4096,4096,bf16,10.53\nTesla V100-SXM2-16GB,8192,8192,8192,bf16,10.65\n"
                 "Tesla T4,4096,4096,4096,bf16,2.25\nRTX 2070 Super,4096,4096,4096,bf16,5\n", "TFLOPS", within=0.3)
    expect(all("in bf16 products run as in single precision here" in row["status"] for row in rows), rows[0])
    single, half = ask("device,m,n,k,dtype,TFLOPS\nV100,4096,4096,4096,fp32,1\nV100,4096,4096,4096,fp16,1\n")  # its own units
    expect(float(half["predicted"]) > 5 * float(single["predicted"]) and half["status"] == "ok", single, half)


def test_attention_of_a_cut_board():
    """FlashAttention-3 on H20, whose matrix units compute 148 TFLOP/s at the clock of other boards (Dao-AILab/flash-attention, issue
    1310): exponentials go at that clock."""
    holds("H20", "op,batch,heads,head_dim,seqlen,causal,dtype,ms\nfa3,2,32,64,2048,False,fp16,0.572\nfa3,2,32,64,2048,True,fp16,0.342\n"
          "fa3,2,16,128,2048,False,fp16,0.545\nfa3,2,16,128,2048,True,fp16,0.319\n", "ms", "--on", "h20", within=0.2)


def test_streams():
    """A large tensor copied (chsasank/device-benchmarks), and a layer norm's gradients (KernelAgent, pull request 133: ATen)."""
    holds("copies", "device,op,dtype,elements,GB/s\n" + "".join(f"{device},copy,fp32,67000000,{rate}\n" for device, rate in (
        ("RTX 3090", 831), ("RTX 4070 Super", 411), ("RTX 4090", 912), ("RX 7900 XTX", 792))), "GB/s", within=0.1)
    holds("gradients of a layer norm", "M,N,dtype,ms\n4096,6144,bf16,0.0777\n16384,6144,bf16,0.2794\n65536,6144,bf16,1.0652\n65536,8192,bf16,1.3138\n",
          "ms", "--on", "gb300", "--set", "op=layer_norm", "--set", "pass=bwd")


def test_few_tokens_of_experts():
    """Fused experts on H200, 128 of 704 x 2816, 8 a token (vllm, pull request 44818). 16 tokens choose 128 (1 - (1 - 8/128)^16) = 82."""
    rows = holds("experts", "tokens,experts,inner,hidden,topk,dtype,us\n16,128,704,2816,8,bf16,257.8\n64,128,704,2816,8,bf16,391.8\n256,128,704,2816,8,bf16,419.8\n",
                 "us", "--on", "h200", "--set", "op=fused_moe", within=0.2)
    few, all_of_them = float(rows[0]["predicted"]), float(rows[1]["predicted"])
    expect(0.55 < few / all_of_them < 0.75, "82 of 126 experts", few, all_of_them)


def test_boards_by_form():
    """The PCIe board of the H800 has fewer multiprocessors and a lower clock (issue 112 of the same: 37.8 TFLOP/s in FP32, SXM's 51)."""
    holds("H800 PCIe", "device,m,n,k,dtype,TFLOPS\nNVIDIA H800 PCIe,4096,4096,4096,fp32,37.22\nNVIDIA H800 PCIe,8192,8192,8192,fp32,37.77\n", "TFLOPS", within=0.1)


def test_cross_entropy():
    """A compiled cross entropy's gradient on B200 (Dao-AILab/quack, issue 68): rows of words are read more than once."""
    holds("cross entropy", "op,pass,rows,columns,dtype,ms\ncross_entropy,bwd,8192,16384,bf16,0.2265\n", "ms", "--on", "b200")


def test_matrix_units_of_cut_boards():
    """Every board since Ampere has matrix units, also those whose rate in half precision is cut to twice or three times that in single (A10G,
    L40, L20, H20): attention in bf16 runs on them, and is not slower where single precision is faster."""
    table = "op,b,heads,queries,keys,head_dim,causal,dtype\nattention,1,32,2048,2048,128,1,bf16\nattention,1,32,8192,8192,128,1,fp16\n"
    for device in ("a10g", "l40", "l20", "h20"):
        plain, faster = ([float(row["predicted"]) for row in ask(table, "--on", f"{device} fp32={factor}x")] for factor in (1.0001, 1.3))
        expect(all(abs(b / a - 1) < 1e-3 for a, b in zip(plain, faster)), "matrix units", device, plain, faster)


test_emulated()
test_attention_of_a_cut_board()
test_streams()
test_few_tokens_of_experts()
test_boards_by_form()
test_cross_entropy()
test_matrix_units_of_cut_boards()
finish()
