"""What the words of kernel tables mean: windows, latent attention, layers that quantise, four bits."""
import csv
import io
import os
import subprocess
import tempfile

PACELINE = os.environ["PACELINE"]


def ask(text):
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        file.write(text)
        file.flush()
        run = subprocess.run([PACELINE, "predict", "--kind", "kernel", "--rows", file.name, "--format", "csv"],
                             capture_output=True, text=True)
    assert run.returncode in (0, 1), run.stderr
    return list(csv.DictReader(io.StringIO(run.stdout)))


def seconds(rows):
    scale = {"s": 1, "ms": 1e-3, "us": 1e-6}
    return [float(row["predicted"]) * scale[row["unit"]] if row["predicted"] else None for row in rows]


def windows():
    head = "device,op_name,attn_dtype,batch_size,isl,num_heads,num_key_value_heads,head_dim,step,window_size\n"
    full, none, wide, narrow = seconds(ask(head + "".join(
        f"H100,context_attention,bfloat16,1,16384,32,8,128,0,{window}\n" for window in (0, -1, 16384, 128))))
    assert full == none == wide
    # 128 of 8192 keys on average, and of a tile of 128 queries half a tile at either edge of the window, traffic and the start
    assert full / 64 < narrow < full / 15
    almost = seconds(ask(head + "H100,context_attention,bfloat16,1,16384,32,8,128,0,16383\n"))[0]
    assert abs(almost / full - 1) < 1e-4  # no step where a window begins to hide something
    # H100, 4 heads of 128, 32,768 tokens: a window of 4,096 takes 0.9168 ms, one of 1,024 0.286272 (forward), 3.66272 and 1.149792 with
    # backward (apple/axlearn, gpu_attention_benchmark.py, its own kernel, which is no faster than FlashAttention-2)
    for direction, ratio in (("fwd", 0.9168 / 0.286272), ("both", 3.66272 / 1.149792)):
        narrow, wide = seconds(ask("device,op,dtype,b,heads,kv_heads,queries,keys,head_dim,causal,window,pass\n" + "".join(
            f"H100,fa2,fp16,1,4,4,32768,32768,128,1,{window},{direction}\n" for window in (1024, 4096))))
        assert abs(wide / narrow / ratio - 1) < 0.03, (direction, wide / narrow, ratio)
    # of half the length, causal: W - W^2 / 2L = 3/8 L keys on average, of 1/2 L
    long, half = seconds(ask(head + "".join(
        f"H100,context_attention,bfloat16,1,131072,32,8,128,0,{window}\n" for window in (0, 65536))))
    assert abs(half / long / 0.75 - 1) < 0.05, half / long
    all_keys, some = seconds(ask(head + "".join(
        f"H100,generation_attention,bfloat16,64,1,32,8,128,4095,{window}\n" for window in (0, 128))))
    assert 64 * 8 * 128 * 128 * 2 * 2 / 3.35e12 < some < all_keys / 5


def latent():
    head = "device,op_name,mla_dtype,num_heads,batch_size,isl,step\n"
    one, two, prefill = seconds(ask(head + "H100,mla_generation,bfloat16,16,64,1,4095\n"
                                    "H100,mla_generation,bfloat16,16,128,1,4095\n"
                                    "H100,mla_context,bfloat16,16,1,4096,0\n"))
    traffic_s = 64 * 4096 * 576 * 2 / 3.35e12  # the packed cache, once
    assert traffic_s < one < 3 * traffic_s
    assert 1.5 * one < two < 2.05 * one
    flop = 2 * 16 * 4096 * 4096 / 2 * (192 + 128)
    assert flop / 989e12 < prefill < 5 * flop / 989e12


def quantised():
    head = "device,dtype,source,m,n,k\n"
    rows = ask(head + "".join(f"{row}\n" for row in (
        "H100,fp8,,4096,4096,4096", "H100,fp8,vllm_0.24.0,4096,4096,4096", "H100,fp8_block,vllm_0.24.0,4096,4096,4096",
        "H100,bf16,vllm_0.24.0,4096,4096,4096", "H100,bf16,,4096,4096,4096", "H100,fp8,trtllm,4096,4096,4096",
        "H100,nvfp4,,4096,4096,4096", "B200,nvfp4,,16384,16384,16384", "B200,fp8,,16384,16384,16384",
        "H100,int8_wo,,16,8192,8192", "H100,bf16,,16,8192,8192", "B200,mxfp8,,16384,16384,16384")))
    plain, twice, once, wide, same, static, refused, four, eight, weights, both, scaled = seconds(rows)
    least_s = 4096 * 4096 * 2 / 3.35e12  # the 16-bit input is read once more
    assert plain + least_s < once < twice and twice - plain > 2 * least_s
    assert static == once and wide == same and scaled == eight
    assert refused is None and "4 bits" in rows[6]["status"]
    assert eight / 2.2 < four < eight
    assert weights < 0.8 * both
    # thin products are traffic: 4 bits and a scale of 8 for each 16 values, of 8; an input that is quantised is read
    # twice in 16 bits and written in 8
    four, eight, plain, twice = seconds(ask(head + "B200,nvfp4,,1,65536,65536\nB200,fp8,,1,65536,65536\n"
                                            "H100,fp8,,65536,64,16384\nH100,fp8,vllm,65536,64,16384\n"))
    assert abs(four / eight / 0.5625 - 1) < 0.05, four / eight
    assert twice - plain > 65536 * 16384 * 5 / 3.35e12


def synonyms():
    names = ("table_batched_embedding", "fbgemm_tbe")
    times = seconds(ask("device,op,dtype,batch_size,num_tables,num_embeddings,embedding_dim,pooling_factor\n" + "".join(
        f"A100,{name},fp16,4096,64,1000000,128,20\n" for name in names)))
    assert times[0] == times[1] > 0
    times = seconds(ask("device,op,dtype,num_groups,m,n,k\n" + "".join(
        f"H100,{name},bf16,8,1024,4096,4096\n" for name in ("grouped_gemm", "m_grouped_gemm_masked", "grouped_mm"))))
    assert len(set(times)) == 1 and times[0] > 8 * 2 * 1024 * 4096 * 4096 / 989e12


for check in (windows, latent, quantised, synonyms):
    check()
print("kernel words: all as they should be")
