"""Tables of kernels in the forms that logs and issues have them: pandas, tabulate, Markdown without bars at the edges, names of
several sizes, rates of implementations, copies in MB/s. The same question gets the same answer as from plain columns."""
import csv
import io
import json
import os
import tempfile

from checks import expect, finish, run, says_no

FOLDER = tempfile.mkdtemp(prefix="paceline-table-forms-")


def ask(text, *more, fails=False):
    path = os.path.join(FOLDER, "table.txt")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    code, out, err = run("predict", "--rows", path, "--kind", "kernel", *more)
    if fails:
        expect(code not in (0, 1), "expected a refusal", text, out)
        return err
    expect(code == says_no(err), "refused", text[:200], err)
    return list(csv.DictReader(io.StringIO(out)))


def answers(text, *more):
    return [(row["predicted"], row["unit"]) for row in ask(text, *more)]


PLAIN = "m,n,k,dtype,us\n8,576,7168,fp16,61\n4096,576,7168,fp16,86\n"


def test_lists_in_records():
    """A list in a record is a cell: a shape is read, what is read as nothing is named, and two values of one column are refused."""
    def told(*records):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(records, file)
            file.flush()
            return run("predict", "--rows", file.name, "--kind", "kernel")

    base = {"device": "A100", "op": "gemm", "dtype": "fp16"}
    code, out, err = told({**base, "shape": [96, 512, 512], "tags": ["a", {"b": 1}]}, {**base, "shape": "96x512x512"}, {**base, "shape": [[96, 512], [512, 512]], "note": []})
    rows = list(csv.DictReader(io.StringIO(out)))
    expect(code == 0 and len({row["predicted"] for row in rows}) == 1 and rows[0]["predicted"] and rows[0]["tags"] == "[a, {...}]", rows)
    expect("columns tags, note are not read" in err, err)
    code, out, err = told({**base, "m": 8, "n": 8, "k": 8, "time_us": [12, 13]})
    expect(code == 0 and 'expected a time above 0, found ""[12, 13]""' in out, out)
    code, out, err = told({**base, "a": {"b": 1}, "a_b": 2})
    expect(code == 3 and 'the column "a_b" has two values here' in err, code, err)


def test_blanks():
    want = answers(PLAIN, "--on", "h100")
    expect(len(want) == 2 and all(value for value, _ in want), want)
    for form in ("matmul-performance:\n         m      n       k  dtype    us\n0      8.0  576.0  7168.0   fp16  61.0\n1   4096.0  576.0  7168.0   fp16  86.0\n",
                 "   m    n     k  dtype      us\n----  ---  ----  -------  ----\n   8  576  7168  fp16       61\n4096  576  7168  fp16       86\n",
                 "m n k dtype us\n8 576 7168 fp16 61\n4096 576 7168 fp16 86",
                 "\n  m    n    k     dtype  us  \n\n  8    576  7168  fp16   61  \r\n  4096  576  7168  fp16  86  \n   \n"):
        expect(answers(form, "--on", "h100") == want, form)
    # a row that breaks off is refused with its line, as one of separated values is
    err = ask("m  n  k  dtype  us\n8  576  7168  fp16  61\n8  576  7168\n", "--on", "h100", fails=True)
    expect(":3: expected 5 cells as in the header, found 3" in err, err)
    # one column whose name is two words is one column
    err = ask("Time (ms)\n12.3\n", "--on", "h100", fails=True)
    expect("no column names the sizes" in err, err)


def test_markdown_without_edges():
    want = answers(PLAIN, "--on", "h100")
    for form in ("m | n | k | dtype | us\n-- | -- | -- | -- | --\n8 | 576 | 7168 | fp16 | 61\n4096 | 576 | 7168 | fp16 | 86\n",
                 "  | m | n | k | dtype | us\n-- | -- | -- | -- | -- | --\n0 | 8 | 576 | 7168 | **fp16** | 61\n1 | 4096 | 576 | 7168 | `fp16` | 86\n",
                 "m | n | k | dtype | us |\n:-- | --: | -- | -- | -- |\n8 | 576 | 7168 | fp16 | 61 |\n4096 | 576 | 7168 | fp16 | 86 |"):
        expect(answers(form, "--on", "h100") == want, form, answers(form, "--on", "h100"))


def test_names_of_sizes():
    cube = answers("m,n,k,dtype,TFLOPS\n4096,4096,4096,bf16,1\n", "--on", "h100")
    for form in ("N,TF/s\n4096,1\n", "matrix size,TFLOPS\n4096x4096,1\n", "shape,TFLOPS\n4096,1\n", "size (MNK),TFLOPS\n4096 4096 4096,1\n"):
        expect(answers(form, "--on", "h100", "--set", "op=matmul", "--set", "dtype=bf16") == cube, form)
    row = ask("N,M,TFLOPS\n4096,512,1\n", "--on", "h100", "--set", "op=matmul")[0]  # two of three sizes are no square
    expect(not row["predicted"] and 'needs a column "k"' in row["status"], row)
    row = ask("shape,TFLOPS\n4096x512,1\n", "--on", "h100", "--set", "op=matmul")[0]
    expect(not row["predicted"], row)
    batched = answers("b,m,n,k,dtype,ms\n8,1024,512,256,fp16,1\n", "--on", "h100", "--set", "op=bmm")
    expect(answers('"Shape (B,M,N,K)",dtype,ms\n"(8, 1024, 512, 256)",fp16,1\n', "--on", "h100", "--set", "op=bmm") == batched)
    narrow = answers("m,n,k,dtype,us\n512,8448,7168,bf16,1\n", "--on", "h100", "--set", "op=gemm")
    expect(answers("| N x K | M | dtype | us |\n|---|---|---|---|\n| 8448 x 7168 | 512 | bf16 | 1 |\n", "--on", "h100", "--set", "op=gemm") == narrow)
    expect(answers("batch_size,N,K,dtype,us\n512,8448,7168,bf16,1\n", "--on", "h100", "--set", "op=gemm") == narrow)
    heads = answers("b,heads,kv_heads,queries,keys,head_dim,dtype,us\n4,32,8,2048,2048,128,bf16,1\n", "--on", "h100", "--set", "op=attention")
    for form in ("B,H,heads_kv,N,D,dtype,us\n4,32,8,2048,128,bf16,1\n", "batch,nheads_q,nheads_kv,ctx length,head dim,dtype,us\n4,32,8,2048,128,bf16,1\n"):
        expect(answers(form, "--on", "h100", "--set", "op=attention") == heads, form)


def test_rates_of_implementations():
    for head, unit in (("cuBLAS us", "us"), ("ATen ref ms", "ms"), ("Torch SDPA TFLOPS", "TFLOP/s"), ("tflops_pytorch", "TFLOP/s"),
                       ("torch-bf16 (TFLOP/s (larger is better))", "TFLOP/s"), ("PFLOPS", "PFLOP/s"), ("Bandwidth(MB/s)", "MB/s"), ("GiB/s", "GiB/s")):
        row = ask(f'm,n,k,dtype,"{head}"\n4096,4096,4096,bf16,1\n', "--on", "h100")[0]
        expect(row["unit"] == unit and float(row["predicted"]) > 0, head, row)
    row = ask("m,n,k,dtype,peak TFLOPS,TFLOPS\n4096,4096,4096,bf16,989,700\n", "--on", "h100")[0]
    expect(row["unit"] == "TFLOP/s" and float(row["predicted"]) < 989, row)
    for head in ("pad_s", "theoretical ms", "peak TFLOPS"):  # a size, and what nobody measured
        row = ask(f"m,n,k,dtype,{head}\n4096,4096,4096,bf16,1\n", "--on", "h100")[0]
        expect(row["unit"] == "s", head, row)


def test_copies():
    """A link carries each byte once: no copy between host and device is faster than its bus (PCI-SIG: 15.75, 31.5 and 63 GB/s of 16
    lanes). A copy within a device reads and writes, as bandwidthTest counts."""
    for device, bus in (("p100-pcie-16", 15.75), ("v100-sxm2-16", 15.75), ("rtx-4090", 31.5), ("a100-80-sxm", 31.5), ("h100-80-sxm", 63), ("b200", 63)):
        for op in ("h2d", "d2h", "h2d_pageable"):
            row = ask(f"op,bytes,GB/s\n{op},536870912,1\n", "--on", device)[0]
            expect(0.25 * bus < float(row["predicted"]) <= bus, device, op, row)
    # Tesla P100-PCIE: 12150.7, 12890.6 and 443837.7 MB/s of 33,554,432 bytes (gearshifft, pull request 82, near socket)
    rows = ask("op,Transfer Size (Bytes),Bandwidth(MB/s)\nh2d,33554432,12150.7\nd2h,33554432,12890.6\nd2d,33554432,443837.7\n", "--on", "p100-pcie-16")
    for row in rows:
        expect(float(row["low"]) < float(row["Bandwidth(MB/s)"]) < float(row["high"]), row)
    # RTX 4090 over PCIe 4.0: 23.85 and 26.55 GB/s of 16 MiB, pinned (NVlabs/cuda-oxide, pull request 976)
    for row in ask("op,size (MiB),GB/s\nh2d_pinned,16,23.85\nd2h_pinned,16,26.55\n", "--on", "rtx-4090"):
        expect(float(row["low"]) < float(row["GB/s"]) < float(row["high"]), row)
    # a tensor's bytes and its elements are one size
    expect(answers("op,dtype,size (GiB),GB/s\ncopy,fp16,1,1\n", "--on", "a100") == answers("op,dtype,elements,GB/s\ncopy,fp16,536870912,1\n", "--on", "a100"))


def test_tables_of_tools():
    """CUTLASS' profiler has the kind of operation beside its kernel's name; FBGEMM's look-ups have letters that steps have, too."""
    plain = answers("op,m,n,k,dtype,us\ngemm,4096,4096,4096,fp32,1\n", "--on", "a100")
    row = ask("Problem,Provider,OperationKind,Operation,m,n,k,Runtime\n1,CUTLASS,gemm,cutlass_simt_sgemm_256x128_8x4_nt_align1,4096,4096,4096,8\n", "--on", "a100")[0]
    expect(row["unit"] == "ms" and abs(seconds(row) * 1e6 / float(plain[0][0]) - 1) < 1e-6, row, plain)
    path = os.path.join(FOLDER, "look-ups.csv")
    with open(path, "w", encoding="utf-8") as file:
        file.write("B,E,T,D,L,Time (us)\n65536,10000000,2,192,32,5234\n")
    code, out, err = run("predict", "--rows", path, "--on", "a100")
    expect(code == 0 and "embedding" not in err and float(list(csv.DictReader(io.StringIO(out)))[0]["predicted"]) > 0, out, err)
    one, other = (ask(f"{head}\n{cells}\n", "--on", "a100")[0] for head, cells in (
        ("op,parameters,tensors,dtype,ms", "adam,1000000000,300,fp32,1"), ("optimizer,params (M),num_tensors,dtype,step time (ms)", "fused_adamw,1000,300,fp32,1")))
    expect(abs(seconds(one) / seconds(other) - 1) < 1e-9, one, other)


def seconds(row):
    return float(row["predicted"]) * {"s": 1, "ms": 1e-3, "us": 1e-6}[row["unit"]]


def test_amounts():
    """"4k" is 4096, an amount of bytes is no side of a matrix, and bytes a second of one size are not known to be a product's."""
    plain = answers("op,shape,dtype,us\nmatmul,4096x4096x8192,fp16,1\n", "--on", "a100")
    for cell in ("4kx4kx8k", "4K x 4K x 8K", "m4096n4096k8192"):
        expect(answers(f"op,shape,dtype,us\nmatmul,{cell},fp16,1\n", "--on", "a100") == plain, cell)
    expect(answers("op,seqlen,batch,heads,headdim,dtype,us\nattention,4k,2,16,128,fp16,1\n", "--on", "a100") ==
           answers("op,seqlen,batch,heads,headdim,dtype,us\nattention,4096,2,16,128,fp16,1\n", "--on", "a100"))
    for cell in ("4 MiB", "512KB", "512B"):
        row = ask(f"op,size,dtype,us\nmatmul,{cell},fp16,1\n", "--on", "a100")[0]
        expect(row["predicted"] == "" and row["status"] != "ok", cell, row)
    elements = answers("op,elements,dtype,us\ncopy,33554432,fp16,1\n", "--on", "a100")
    for table in ("op,size,dtype,us\ncopy,64 MiB,fp16,1\n", "op,bytes,dtype,us\ncopy,64 MiB,fp16,1\n", "op,size,dtype,us\ncopy,32M,fp16,1\n"):
        expect(answers(table, "--on", "a100") == elements, table)
    row = ask("size,GB/s\n1024,55\n", "--on", "h100-sxm")[0]
    expect(row["predicted"] == "" and "--set op=" in row["status"], row)


def test_links_side_by_side():
    """One column a way, as tables of machines have them: each is a question of its own (H100 SXM: 55 GB/s over PCIe 5.0)."""
    long = ask("op,size (MB),GB/s\nh2d_pinned,64,25\nd2h_pinned,64,26\nh2d_pageable,64,9\n", "--on", "rtx-4090")
    wide = ask("size (MB),H2D pinned (GB/s),D2H pinned (GB/s),pageable H2D (GB/s)\n64,25,26,9\n", "--on", "rtx-4090")
    expect([row["predicted"] for row in wide] == [row["predicted"] for row in long] and len(set(row["predicted"] for row in wide)) > 1, wide, long)
    for head in ("size,H2D (GB/s),D2H (GB/s)", "bytes,H2D GB/s,D2H GB/s"):
        rows = ask(f"device,{head}\nH100 SXM,512 MiB,55.3,55.1\n")
        expect(len(rows) == 2 and all(row["status"] == "ok" and float(row["low"]) < 55.2 < float(row["high"]) for row in rows), head, rows)
    for cell in ("67108864", "64M", "64 MiB"):
        row = ask(f"op,size,GB/s\nh2d,{cell},25\n", "--on", "rtx-4090")[0]
        expect(row["status"] == "ok" and float(row["low"]) < 25 < float(row["high"]), cell, row)
    # where sizes say an operation, such a column is a part of what it takes
    row = ask("m,n,k,dtype,kernel time (ms),H2D (ms)\n4096,4096,4096,fp16,0.6,3\n", "--on", "a100")
    expect(len(row) == 1 and 0.3 < float(row[0]["predicted"]) < 1, row)


def test_operations_of_several_words():
    """Tools write names of several words, with others around them; a pageable copy is no pinned one."""
    def of(name, sizes="size (MB)", cells="64"):
        row = ask(f"op,{sizes},dtype,us\n{name},{cells},fp16,1\n", "--on", "rtx-4090")[0]
        expect(row["status"] == "ok", name, row)
        return row["predicted"]
    for names, like in ((("Host to Device pinned", "CPU->GPU", "CPU to GPU", "pinned H2D", "[CUDA memcpy HtoD]"), "h2d_pinned"),
                        (("Host to Device Pageable", "pageable H2D", "Memcpy HtoD (Pageable -> Device)"), "h2d_pageable"),
                        (("GPU to CPU", "Device to Host bandwidth"), "d2h_pinned")):
        for name in names:
            expect(of(name) == of(like), name, like, of(name), of(like))
    expect(of("h2d_pageable") != of("h2d_pinned"))
    for name, like in (("Fused Layer Norm fwd kernel", "layer_norm_fwd"), ("apex layer norm backward", "layer_norm_bwd"), ("vocab cross entropy kernel", "cross_entropy")):
        expect(of(name, "rows,columns", "8192,4096") == of(like, "rows,columns", "8192,4096"), name, like)


def test_names_of_devices():
    for name, like in (("Nvidia 4090", "rtx-4090"), ("NVIDIA 3090 Ti", "rtx-3090-ti"), ("Nvidia 4070 Super", "rtx-4070-super"),
                       ("AMD 7900 XTX", "rx-7900-xtx"), ("Nvidia 4090 D", "rtx-4090-d")):
        one, other = ask(f"device,m,n,k,dtype,us\n{name},4096,4096,4096,fp16,1\n{like},4096,4096,4096,fp16,1\n")
        expect(one["predicted"] == other["predicted"] != "", name, one)


test_blanks()
test_markdown_without_edges()
test_names_of_sizes()
test_rates_of_implementations()
test_copies()
test_tables_of_tools()
test_amounts()
test_links_side_by_side()
test_operations_of_several_words()
test_names_of_devices()
test_lists_in_records()
finish()
