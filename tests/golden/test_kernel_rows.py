"""Tables of kernels as other tools write them: the same question in another spelling gets the same answer."""
import csv
import io
import json
import os
import subprocess
import tempfile

from checks import PACELINE, expect, finish, json_of, run, says_no

FOLDER = tempfile.mkdtemp(prefix="paceline-kernel-rows-")


def ask(text, *more):
    path = os.path.join(FOLDER, "table.csv")
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    code, out, err = run("predict", "--rows", path, "--kind", "kernel", *more)
    expect(code == says_no(err), "refused", text[:200], err)
    return list(csv.DictReader(io.StringIO(out)))


def seconds(row):
    units = {"s": 1, "sec": 1, "ms": 1e-3, "msec": 1e-3, "us": 1e-6, "usec": 1e-6, "ns": 1e-9, "microseconds": 1e-6}
    return float(row["predicted"]) * units[row["unit"]] if row["predicted"] else None


def same(what, first, *others, on="a100"):
    """Every row of every table answers like the first table's first row."""
    want = seconds(ask(first, "--on", on)[0])
    expect(want and want > 0, what, "no answer", first)
    for table in others:
        for row in ask(table, "--on", on):
            got = seconds(row)
            expect(got and abs(got / want - 1) < 1e-9, what, table, row["status"], got, want)


def test_products():
    same("a product",
         "m,n,k,dtype,latency_us\n4096,1024,2048,fp16,1\n",
         "M,N,K,Precision,Time (ms)\n4096,1024,2048,half,1\n",
         "Op;M;N;K;Data Type;latency[us]\nGEMM;4096;1024;2048;float16;1\nmatmul;4096;1024;2048;torch.float16;1\n",
         "op\tshape\tdtype\tavg_us\nmm\t4096x1024x2048\tfp16\t1\naten::mm\t[[4096, 2048], [2048, 1024]]\thalf\t1\n",
         'op,Input Shapes,dtype,us\nlinear,"[[4096, 2048], [1024, 2048], [1024]]",fp16,1\n',
         'op,input_shapes,dtype,ns\naten::linear,"((4096, 2048), (1024, 2048))",f16_r,1\n',
         "op,mnk,dtype,elapsed_ns\ngemm,m4096_n1024_k2048,FP16,1\ngemm,4096 1024 2048,FP16,1\n",
         "best_MxNxK,dtype,time_s\n4096x1024x2048,fp16,1\n",
         "op,shape,dtype,duration_ns\ngemm,\"4096x2048,2048x1024\",fp16,1\n",
         'op,a_shape,b_shape,dtype,time_us\nmatmul,"[4096,2048]","[2048,1024]",fp16,1\n',
         "batch,in_features,out_features,dtype,run_time_ms\n4096,2048,1024,fp16,1\n",
         "\ufeff# from a log\r\nM,N,K,dtype,time_us\r\n4096,1024,2048,fp16,1\r\n",
         "batch_count,m,n,k,a_type,compute_type,hipblaslt-Gflops,hipblaslt-GB/s,us\n1,4096,1024,2048,f16_r,f32_r,1,1,1\n",
         "framework,version,gemm_dtype,m,n,k,latency_us\n,1.0,float16,4096,1024,2048,1\n")
    same("a batched one",
         "b,m,n,k,dtype,latency_us\n16,512,512,64,bf16,1\n",
         "batch_size,M,N,K,type,median_time_s\n16,512,512,64,bfloat16,1\n",
         'op,shapes,dtype,ms\nbmm,"[[16, 512, 64], [16, 64, 512]]",torch.bfloat16,1\n'.replace("bmm", "matmul"),
         'op,dims,dtype,ms\ngemm,"(16,512,512,64)",bf16_r,1\n')
    same("transposes",
         "m,n,k,trans_a,trans_b,dtype,us\n512,256,1024,N,T,fp32,1\n",
         "m,n,k,transA,transB,dtype,us\n512,256,1024,False,True,fp32,1\n",
         "m,n,k,ta,tb,precision,us\n512,256,1024,0,1,float,1\n",
         "m,n,k,layout,dtype,us\n512,256,1024,NT,float32,1\n", on="v100")


def test_precisions():
    for words in (("fp8", "fp8_e4m3", "float8_e4m3fn", "torch.float8_e4m3fn", "fp8_block", "f8_r"),
                  ("int8", "w8a8", "i8_r", "torch.int8"), ("tf32", "TF32", "tensorfloat32", "xf32_r"),
                  ("fp16", "half", "float16", "HALF", "torch.float16", "torch.half", "f16_r", "CUDA_R_16F"),
                  ("bf16", "bfloat16", "torch.bfloat16", "BF16", "CUDA_R_16BF"), ("fp64", "double", "float64")):
        same("a precision", f"m,n,k,dtype,us\n4096,4096,4096,{words[0]},1\n",
             "m,n,k,dtype,us\n" + "".join(f"4096,4096,4096,{word},1\n" for word in words), on="h100")
    for device, word in (("v100", "fp8"), ("v100", "tf32"), ("t4", "fp8"), ("a100", "fp8")):  # NVIDIA's datasheets have none
        row, sums = ask(f"op,m,n,k,elements,dtype,us\ngemm,4096,4096,4096,,{word},1\nadd,,,,1000000,{word},1\n", "--on", device)
        expect(f"no rate for {word}" in row["status"] and not row["predicted"] and (sums["predicted"] or word == "tf32"), device, word, row, sums)
    row = ask("m,n,k,dtype,us\n64,64,64,posit8,1\n", "--on", "h100")[0]
    expect(row["status"] == 'unknown precision "posit8"' and not row["predicted"], row)


def test_convolutions():
    for suffix, words in (("", ("convolution", "conv", "conv2d", "aten::conv2d", "torch.nn.functional.conv2d")),
                          (" backward", ("conv2d_backward", "convolution bwd", "aten::convolution_backward")),
                          (" dgrad", ("conv2d_bwd_data", "conv_dgrad", "convolution backward data")),
                          (" wgrad", ("conv2d_bwd_weight", "conv_wgrad", "convolution backward filter"))):
        first = "op,n,c,h,w,k,r,s,pad,stride,dtype,us\nconv" + suffix + ",32,64,56,56,128,3,3,1,2,fp16,1\n"
        rows = "".join(f'{word},32,64,128,56,3,2,1,fp16,1\n' for word in words)
        shapes = "".join(f'{word},"[[32, 64, 56, 56], [128, 64, 3, 3]]",2,1,fp16,1\n' for word in words)
        tuples = f'{words[0]},32,64,128,"(56, 56)","(3, 3)","(2, 2)","(1, 1)",fp16,1\n'
        same("a convolution" + suffix, first,
             "op,batch,in_channels,out_channels,image_size,kernel_size,stride,padding,dtype,run_time_ms\n" + rows,
             "op,batch,in_channels,out_channels,image_size,kernel_size,stride,padding,dtype,run_time_ms\n" + tuples,
             "op,shapes,stride,padding,dtype,ms\n" + shapes, on="v100")


def test_rows_and_elements():
    same("layer norm", "op,rows,columns,dtype,us\nlayer_norm,8192,1024,fp16,1\n",
         "op,B,H,dtype,us\nLN,8192,1024,half,1\n", 'op,shape,dtype,us\naten::native_layer_norm,"[8, 1024, 1024]",fp16,1\n',
         'label,sub_label,dtype,median_time_s\nlayer_norm,"[8192, 1024]",fp16,1\n',
         "op,batch,seq_len,hidden,dtype,us\nnn.LayerNorm,8,1024,1024,fp16,1\n", "op,M,N,dtype,us\nlayernorm,8192,1024,fp16,1\n")
    same("softmax", "op,rows,columns,dtype,us\nsoftmax,6144,512,fp16,1\n",
         'op,shape,dtype,us\n_softmax,"[1, 12, 512, 512]",fp16,1\n', "op,n_rows,n_cols,dtype,us\naten::_softmax,6144,512,fp16,1\n")
    same("backward", "op,pass,rows,columns,dtype,us\nsoftmax,backward,6144,512,fp16,1\n",
         "op,rows,columns,dtype,bwd_us\nsoftmax,6144,512,fp16,1\n", "op,rows,columns,dtype,us\nsoftmax_backward,6144,512,fp16,1\n",
         "op,direction,rows,columns,dtype,us\nsoftmax,bwd,6144,512,fp16,1\n")
    same("add", "op,elements,dtype,us\nadd,8388608,fp16,1\n", "op,numel,dtype,us\naten::add,8388608,fp16,1\n",
         'op,input_shapes,dtype,us\nadd,"[[8192, 1024], [8192, 1024]]",fp16,1\n', "op,size,dtype,us\nvector_add,8388608,fp16,1\n")
    same("batch norm", "op,rows,columns,dtype,us\nbatch_norm,100352,64,fp16,1\n",
         'op,shape,dtype,us\nBatchNorm2d,"[32, 64, 56, 56]",fp16,1\n', "op,n,c,h,w,dtype,us\nbn,32,64,56,56,fp16,1\n")
    same("cross entropy", "op,rows,columns,dtype,us\ncross_entropy,4096,32000,fp32,1\n",
         "op,BT,V,dtype,us\nfused_cross_entropy,4096,32000,fp32,1\n", 'op,shape,dtype,us\nnll_loss,"[4096, 32000]",fp32,1\n')
    same("a copy to the device", "op,bytes,us\nh2d,4194304,1\n", "op,size_mib,us\nmemcpy_htod,4,1\n",
         "op,direction,bytes,us\nmemcpy,h2d,4194304,1\n", 'op,shape,dtype,us\nmemcpy_h2d,"[1024, 1024]",fp32,1\n')
    same("an update", "op,parameters,us\nadam,16777216,1\n", "op,params,dtype,us\nAdamW,16777216,fp32,1\n",
         'op,shape,dtype,us\nadam,"[4096, 4096]",fp32,1\n')
    same("attention", "op,b,heads,kv_heads,queries,keys,head_dim,dtype,us\nattention,8,32,8,2048,2048,128,bf16,1\n",
         'op,shape,dtype,us\nscaled_dot_product_attention,"[[8, 32, 2048, 128], [8, 8, 2048, 128]]",bf16,1\n')
    same("lookups", "op,b,tables,rows,lookups,d,dtype,us\nembedding,16384,1,32000,1,4096,fp16,1\n",
         'op,shape,dtype,us\naten::embedding,"[[32000, 4096], [8, 2048]]",fp16,1\n')
    same("pooling", "op,b,c,h,w,kernel_size,stride,dtype,us\nmax_pool2d,32,64,112,112,3,2,fp16,1\n",
         'op,shape,kernel_size,stride,dtype,us\nmax_pool2d,"[32, 64, 112, 112]",3,2,fp16,1\n')
    same("a transpose", "op,m,n,dtype,us\ntranspose,4096,2048,fp16,1\n", 'op,shape,dtype,us\npermute,"4096x2048",fp16,1\n')


def test_attention():
    same("attention", "op,b,heads,seq,head_dim,causal,dtype,us\nattention,4,16,2048,128,1,bf16,1\n",
         "op,batch,nheads,seqlen,headdim,causal,dtype,fwd_ms\nflash_attention,4,16,2048,128,True,bf16,1\n",
         "op,BATCH,H,N_CTX,D_HEAD,is_causal,dtype,us\nsdpa,4,16,2048,128,true,bf16,1\n",
         "backend,batch_size,s_qo,s_kv,num_qo_heads,num_kv_heads,head_dim_qk,causal,q_dtype,median_time\n"
         "fa2,4,2048,2048,16,16,128,True,torch.bfloat16,1\n",
         "op_name,batch_size,isl,num_heads,num_key_value_heads,head_dim,attn_dtype,step,latency\n"
         "context_attention,4,2048,16,16,128,bfloat16,0,1\n", on="h100")
    same("attention of one query", "op,b,heads,kv_heads,queries,keys,head_dim,dtype,us\nattention,8,32,8,1,4097,128,bf16,1\n",
         "op_name,batch_size,isl,num_heads,num_key_value_heads,head_dim,beam_width,attn_dtype,step,latency\n"
         "generation_attention,8,1,32,8,128,1,bfloat16,4096,1\n",
         "op,batch,kv_len,num_qo_heads,num_kv_heads,head_dim,dtype,us\ndecode_attention,8,4097,32,8,128,bf16,1\n", on="h100")


def test_compounds():
    same("experts", "op,tokens,hidden,inner,experts,topk,dtype,us\nmoe,1024,4096,14336,8,2,bf16,1\n",
         "op_name,kernel_source,moe_dtype,num_tokens,hidden_size,inter_size,topk,num_experts,moe_tp_size,moe_ep_size,distribution,latency\n"
         "moe,x,bfloat16,1024,4096,14336,2,8,1,1,uniform,1\n",
         "num_tokens,hidden_size,intermediate_size,num_experts,top_k,dtype,median_time\n1024,4096,14336,8,2,bf16,1\n", on="h100")
    same("a recurrent layer", "op,b,hidden,timesteps,dtype,fwd_us\nlstm,32,512,50,fp32,1\n",
         "cell,hidden,batch,seq_len,precision,fwd_us\nLSTM,512,32,50,float,1\n",
         "hidden_size,seq_len,batch,run_time_ms,type\n512,50,32,1,lstm\n", "rnn_type,hidden_size,input_size,batch_size,time_steps,dtype,fwd_us\nlstm,512,0,32,50,fp32,1\n", on="v100")
    one, two, both = (seconds(ask(f"op,pass,m,n,k,dtype,us\nmm,{p},2048,2048,2048,fp16,1\n", "--on", "a100")[0])
                      for p in ("fwd", "bwd", "both"))
    expect(abs(both / (one + two) - 1) < 1e-9, "both passes are forward and backward", one, two, both)


def test_devices():
    for name, like in (("NVIDIA A100-SXM4-80GB", "a100-80-sxm"), ("a100_sxm", "a100-80-sxm"), ("H100 PCIe", "h100-80-pcie"),
                       ("Tesla V100-SXM2-16GB", "v100-sxm2-16"), ("NVIDIA_Tesla_T4", "t4"), ("mi300x", "mi300x"),
                       ("AMD Instinct MI250X", "mi250x-gcd"), ("GeForce RTX 4090", "rtx-4090"), ("Quadro RTX 6000", "quadro-rtx-6000"),
                       ("NVIDIA GeForce RTX 2070", "rtx-2070"), ("Quadro P4000", "quadro-p4000"), ("RTX2080Ti", "rtx-2080-ti"), ("NV_V100", "v100"),
                       ("NVIDIA GeForce RTX 2080 Ti", "rtx-2080-ti"), ("cuda:0", "a100"), ("0", "a100"), ("", "a100")):
        rows = ask(f"device,m,n,k,dtype,us\n{name},1024,2048,4096,fp32,1\n{like},1024,2048,4096,fp32,1\n", "--on", "a100")
        expect(rows[0]["predicted"] == rows[1]["predicted"] != "", name, like, rows)
    row = ask("device,m,n,k,us\nRTX 4091,64,64,64,1\n", "--on", "a100")[0]
    expect("unknown device" in row["status"] and "rtx-4090" in row["status"], row)


def test_measured():
    """Which column was measured, and in what: a unit may stand in the name, in brackets, in a column or in no place."""
    for head, unit in (("latency_us", "us"), ("Time (ms)", "ms"), ("latency[ns]", "ns"), ("Duration (usec)", "usec"),
                       ("avg_us", "us"), ("us", "us"), ("kernel_time_ms", "ms"), ("median_time_s", "s"), ("p50_ms", "ms"),
                       ("kernelTimeUs", "us"), ("latency (\u00b5s)", "us"), ("achieved_tflops", "TFLOP/s"), ("TFLOP/s", "TFLOP/s"),
                       ("rocblas-Gflops", "GFLOP/s"), ("GB/s", "GB/s"), ("tb_per_sec", "TB/s")):
        row = ask(f"m,n,k,dtype,{head}\n4096,4096,4096,fp16,1\n", "--on", "a100")[0]
        expect(row["unit"] == unit, head, row)
        expect(float(row["low"]) < float(row["predicted"]) < float(row["high"]), head, row)
    rows = ask("x_val;aten_matmul-latency;aten_matmul-tflops;triton_matmul-latency\n(4096, 4096, 4096);1;130;1\n", "--on", "a100")
    expect(len(rows) == 1 and rows[0]["unit"] == "ms", "of an implementation", rows)
    rows = ask("batch,nheads,seqlen,headdim,causal,flash2_fwd_tflops,flash2_bwd_tflops\n8,16,2048,128,True,400,300\n", "--on", "h100")
    expect([row["unit"] for row in rows] == ["TFLOP/s"] * 2, "rates of two passes", rows)
    rows = ask('Name,Self CPU %,CPU total,CUDA total,CUDA time avg,Input Shapes\naten::mm,1%,10us,1.2ms,1200.0us,"[[4096, 4096], [4096, 4096]]"\n',
               "--on", "a100")
    expect(rows[0]["status"] == "ok" and rows[0]["unit"] == "s", "a unit in the cell", rows)
    row = ask("m,n,k,dtype,tflops\n4096,4096,4096,fp16,1\n", "--on", "a100")[0]
    other = ask("m,n,k,dtype,time_s\n4096,4096,4096,fp16,1\n", "--on", "a100")[0]
    expect(abs(float(row["predicted"]) * 1e12 * float(other["predicted"]) / (2 * 4096**3) - 1) < 1e-9, row, other)
    for value, unit in ((0.5, "ms"), (0.0005, "s"), (500, "us"), (500000, "ns")):
        row = ask(f"m,n,k,dtype,latency\n4096,4096,4096,fp16,{value}\n", "--on", "a100")[0]
        expect(row["unit"] == unit, "a unit that fits", value, row)
    row = ask("m,n,k,dtype,latency,unit\n4096,4096,4096,fp16,500,ns\n", "--on", "a100")[0]
    expect(row["unit"] == "ns", "a unit that is said", row)
    rows = ask("m,n,k,Time (%),Total Time (ns),Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns)\n64,64,64,1,2,3,4,5,6,7\n", "--on", "a100")
    expect(len(rows) == 1 and rows[0]["unit"] == "ns", "one question, however often it was summed up", rows)
    one, two = (ask(f"m,n,k,dtype,{head}\n2048,2048,2048,fp16,{value}\n", "--on", "a100")[0]["predicted"]
                for head, value in (("tflops", 1), ("tflops", 200)))
    expect(one == two, "what was measured is never asked", one, two)


def test_reasons():
    """What cannot be answered says why, and keeps nothing else from being answered."""
    rows = ask('op,m,n,k,dtype,us\nmm,64,64,64,fp16,1\nall_reduce,64,64,64,fp16,1\nfrobnicate,64,64,64,fp16,1\nmm,64,,64,fp16,1\n'
               'mm,64,many,64,fp16,1\nattention,64,64,64,fp16,1\nmm,64,0,64,fp16,1\n', "--on", "a100")
    expect(rows[0]["status"] == "ok" and rows[0]["predicted"], rows[0])
    for row, words in zip(rows[1:], ("--kind exchange", "unknown operation", 'needs a column "n"', "expected a size",
                                     'needs a column "b"', "not all above 0")):
        expect(words in row["status"] and not row["predicted"], words, row)
    rows = ask("Time (%),Total Time (ns),Instances,Avg (ns),Name\n50,1,1,1,ampere_fp16_s16816gemm_128x128\n", "--on", "a100")
    expect(rows[0]["status"] and not rows[0]["predicted"], rows)


def test_mixed():
    """Operations of several families in one table, each with its own columns."""
    rows = ask("op,B,M,N,K,H,dtype,us\nbmm,4,64,64,64,,fp32,1\nlinear,,64,64,64,,fp32,1\nln,128,,,,1024,fp32,1\n"
               "gelu,128,,,,1024,fp32,1\n", "--on", "t4")
    expect(all(row["status"] == "ok" for row in rows), rows)


def test_lower_triangles():
    """Gradients of gathered pairs, index_put_ with accumulate: V100, kernels of IndexBackward in the traces of the DLRM
    study, 2,048 samples of 8 and 26 tables."""
    rows = ask("device,op,pass,b,m,n\nV100,tril,backward,2048,9,9\nV100,tril,backward,2048,27,27\n")
    for row, measured in zip(rows, (76e-6, 379e-6)):
        expect(0.7 * measured < float(row["predicted"]) < 1.4 * measured, "lower triangle", row)


def test_depthwise():
    """One channel a group: never more than the dense convolution's 32 times the work, and more than its bytes, for which each operation waits.
    One of a TITAN Xp takes 1.02 ms (pytorch issue 18631), three times what its bytes do."""
    head = "device,op,pass,n,c,h,w,k,r,s,stride,pad,groups,dtype\n"
    size = "64,32,112,112,32,3,3,1,1"
    passes = ("forward", "backward_data", "backward_weight")
    rows = ask(head + "".join(f"P100,conv,{one},{size},{groups},fp32\n" for one in passes for groups in (32, 1)))
    for apart, dense in zip(rows[::2], rows[1::2]):
        expect(float(apart["predicted"]) < float(dense["predicted"]), "depthwise", apart, dense)
    row, = ask(head + "TITAN Xp,conv,forward,2,32,512,512,32,3,3,1,1,32,fp32\n")
    expect(1.02e-3 / 1.6 < float(row["predicted"]) < 1.02e-3 * 1.6, "depthwise", row)


def test_one_tile():
    """A product of one tile takes its steps one after the other: 14.5 us for 512 of them on a V100 (Lin et al. 2022), a tenth by its work."""
    row, = ask("device,op,m,n,k,dtype\n\"v100-sxm2-16 clock=1297MHz\",gemm,64,1,512,fp32\n")
    expect(14.5e-6 / 1.7 < float(row["predicted"]) < 14.5e-6 * 1.7, "a product of one tile", row)


def check_copies():
    """DLRM's step waits for as many copies, beside its batch's, as one that the study recorded on its V100."""
    table = os.path.join(os.environ.get("PACELINE_SHARED", ""), "dlrm", "v100_dlrm_default_b2048_kernels_20210504.csv")
    if not os.path.isfile(table):
        return
    with open(table, newline="") as file:
        recorded = [row["kernel"] for row in csv.DictReader(file) if row["iter"] == "0" and row["kernel"].startswith("Memcpy")]
    code, out, err = run("predict", "dlrm_default", "--on", "v100", "--set", "micro_batch=2048", "--format", "perfetto")
    expect(code == 0, err)
    events = json.loads(out)["traceEvents"]
    steps = sum(event["name"].startswith("ProfilerStep") for event in events)
    for ours, theirs in (("h2d_pageable", "HtoD (Pageable"), ("d2h_pageable", "DtoH")):
        count = sum(event["name"] == "transfer_" + ours and event["pid"] == 0 for event in events)
        expect(count == steps * sum(theirs in name for name in recorded) > 0, ours, count, steps, recorded)


def test_recipes():
    """A model's recipe says how its batches come; --set says otherwise. The host waits for copies, pinned or not."""
    def step(*settings):
        words = [word for setting in settings for word in ("--set", setting)]
        return json_of("predict", "dlrm_default", "--on", "v100", "--set", "micro_batch=2048", *words)["values"]["step.median_s"]
    usual = step()
    expect(usual == step("input=pinned", "indices=int32", "read_loss=before_backward", "pair_indices=host"), "recipe of DLRM")
    known, unread = step("pair_indices=device"), step("pair_indices=device", "read_loss=0")
    expect(usual > known > unread, "a host that waits in a step is later", usual, known, unread)
    check_copies()
    expect(usual < step("indices=int64") < step("input=pageable", "indices=int64"), "wider indices, pageable memory")
    code, out, err = run("predict", "resnet50", "--on", "v100", "--set", "micro_batch=64", "--pinned", "--format", "json")
    steps = [one["step_ns"] for one in json.loads(out)["scenarios"]]
    expect(code == 0 and steps[1] < steps[0], "pinned", err)


def test_kinds():
    """Without --kind the columns say what is asked."""
    tables = {
        "kernel": "op,m,n,k,us\nmm,64,64,64,1\n",
        "exchange": "op,gpus,bytes,time_us\nall_reduce,8,1048576,100\n",
        "step": "model,n_gpu,hidden,layers,heads,seq,vocab,tp,pp,dp,micro_batch,global_batch,step_time_s\n"
                "gpt,8,4096,32,32,2048,51200,8,1,1,1,64,1\n",
        "job": "id,architecture,cnodes,batch_size,flop,memory_access_bytes,input_bytes,weight_traffic_bytes,"
               "dense_weight_bytes,embedding_weight_bytes\na,ps_worker,8,64,1e12,1e10,1e7,1e8,1e8,0\n",
    }
    for kind, table in tables.items():
        path = os.path.join(FOLDER, kind + ".csv")
        with open(path, "w") as file:
            file.write(table)
        machine = ["--on", "a100" if kind == "kernel" else "dgx-a100"] if kind != "job" else []
        code, out, err = run("predict", "--rows", path, *machine)
        told, told_out, _ = run("predict", "--rows", path, "--kind", kind, *machine)
        expect(code == told == 0 and out == told_out, kind, code, told, err)
        expect((f"--kind {kind}" in err) == (kind != "kernel"), kind, err)
        with open(path, "rb") as file:
            piped = subprocess.run([PACELINE, "predict", "--rows", "-", *machine], stdin=file, capture_output=True, timeout=300)
        expect(piped.returncode == 0 and piped.stdout.decode() == out, "standard input", kind, piped.stderr)


def test_power():
    """A T4 reaches 24 of its 65 TFLOP/s in 4096 x 4096 x 4096, held by its 70 W (NVIDIA's forum, About GPU peak performance)."""
    table = "m,n,k,dtype,us\n4096,4096,4096,fp16,1\n"
    row, slow = (ask(table, "--on", on)[0] for on in ("t4", "t4 clock=500MHz"))
    unit = seconds(row) / float(row["predicted"])
    measured = 2 * 4096**3 / 24e12
    expect(float(row["low"]) * unit < measured < float(row["high"]) * unit, "T4 under load", row)
    expect(seconds(slow) > 2 * 4096**3 / (65e12 * 500 / 1590), "a clock below the one that power allows", slow)


def test_strided_gradients():
    """On vector units a gradient of inputs whose filters move by two pixels computes what no window asks for (DeepBench: 1,059 us of P100
    for this one, 1.6 times what as much arithmetic takes at stride 1); a forward pass does not."""
    table = "op,pass,dtype,n,c,h,w,k,r,s,stride_h,stride_w,latency_us\n" + "".join(
        f"conv,{way},fp32,16,512,{side},{side},1024,1,1,{stride},{stride},1\n" for way in ("dgrad", "fwd") for side, stride in ((28, 2), (14, 1)))
    for on in ("p100", "v100"):
        strided, plain, forward, forward_plain = (float(row["predicted"]) for row in ask(table, "--on", on))
        expect(1.4 < strided / plain < 1.8 and 0.9 < forward / forward_plain < 1.1, on, strided, plain, forward, forward_plain)
        if on == "p100":
            expect(abs(strided / 1059 - 1) < 0.25, strided)


def test_order_of_operands():
    """Formulas do not tell transposed operands apart, nor products anything of images, and a window is a number of keys: the status
    says so."""
    words = "op,b,heads,seq,head_dim,dtype,{}\nattention,2,16,1024,64,fp16,{}\n"
    product, images = "m,n,k,dtype,{}\n1024,1024,1024,fp16,{}\n", "op,n,c,h,w,k,r,s,dtype,{}\nconv,32,64,56,56,64,3,3,fp16,{}\n"
    for table, column, cell, said in ((product, "layout", "TN", "ok; no effect: layout"), (product, "layout", "NN", "ok"), (product, "layout", "rows", "ok; no effect: layout"),
                                      (product, "trans_a", "true", "ok; no effect: trans_a"), (product, "trans_b", "0", "ok"), (images, "layout", "NHWC", "ok; no effect: layout"),
                                      (words, "window", "4k", "ok; no effect: window"), (words, "window", "all", "ok; no effect: window"), (words, "window", "None", "ok"),
                                      (words, "window", "128", "ok")):
        status = ask(table.format(column, cell), "--on", "a100")[0]["status"]
        expect(status == said, column, cell, status)


def test_unsaid_library():
    """Who does not say by which library gets the fastest that was measured, whatever the order of its rows."""
    shapes = [(m, n, k) for m in (64, 256, 1024) for n in (256, 1024) for k in (128, 512, 1024, 2048)]
    parts = [[f"a100,{library},fp16,{m},{n},{k},{slower * (3 + 2 * m * n * k / 1e8):.3f}\n" for m, n, k in shapes]
             for library, slower in (("slow", 2.5), ("fast", 1))]
    for order in (parts, parts[::-1]):
        table, fit = os.path.join(FOLDER, "two.csv"), os.path.join(FOLDER, "two.fit")
        with open(table, "w") as file:
            file.write("device,source,dtype,m,n,k,latency_us\n" + "".join(order[0] + order[1]))
        code, _, err = run("fit", table, "-o", fit, "-q")
        expect(code == 0, "fit", err)
        asked = "device,source,dtype,m,n,k,latency_us\n" + "".join(f"a100,{library},fp16,192,384,768,1\n" for library in ("slow", "fast", ""))
        slow, fast, unsaid = (seconds(row) for row in ask(asked, "--fit", fit))
        expect(slow > 1.5 * fast and unsaid == fast, slow, fast, unsaid)


for name, test in sorted(globals().items()):
    if name.startswith("test_"):
        test()
finish()
