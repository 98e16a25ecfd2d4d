"""Tables of steps as others write them: models by many names, measures that follow from one another, what rows leave out."""
import csv
import json
import math
import os
import subprocess
import tempfile

from checks import says_no

PACELINE = os.environ["PACELINE"]


def ask(text):
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        file.write(text)
        file.flush()
        done = subprocess.run([PACELINE, "predict", "--kind", "step", "--rows", file.name, "--format", "csv"],
                              capture_output=True, text=True)
        assert done.returncode == says_no(done.stderr), done.stderr
        return list(csv.DictReader(done.stdout.splitlines()))


def one(head, row):
    answer = ask(head + "\n" + row + "\n")[0]
    assert answer["predicted"], (row, answer["status"])
    assert float(answer["low"]) < float(answer["predicted"]) < float(answer["high"])
    return answer


def value(head, row):
    return float(one(head, row)["predicted"])


def near(a, b, share=1e-9):
    assert abs(a / b - 1) < share, (a, b)


def wide(answer):
    return float(answer["high"]) / float(answer["low"])


BASE = "device,model,n_gpu,tp,pp,micro_batch,global_batch,seq,precision,recompute"
ROW = "H100,llama3-70b,64,4,4,1,128,8192,bf16,none"
PARAMETERS = 70553706496  # of Llama 3 70B as released
WORDS, HIDDEN, LAYERS = 128256, 8192, 80


def test_recomputed_in_part():
    """A step that ran and only fits if some is recomputed lies between nothing and all; the interval reaches both."""
    head = "model,device,n_gpu,framework,precision,seq,zero_stage,micro_batch,recompute,step_time_s\n"
    row = "llama2-70b,h100-80-sxm,64,maxtext,bf16,4096,3,2,{},7\n"
    some, none, full = ask(head + "".join(row.format(word) for word in ("", "none", "full")))
    assert "some is recomputed" in some["status"]
    value = {key: float(some[key]) for key in ("predicted", "low", "high")}
    ends = [float(end["predicted"]) for end in (none, full)]
    assert math.isclose(value["predicted"], math.sqrt(ends[0] * ends[1]), rel_tol=1e-6)
    assert value["low"] < ends[0] and ends[1] < value["high"]
    asked = ask(head.replace(",step_time_s", "") + row.format("").replace(",7", ""))[0]
    assert math.isclose(float(asked["predicted"]), ends[1], rel_tol=1e-6) and "full recomputation" in asked["status"]


def test_bits_that_nobody_says():
    """A measured step of a framework with Transformer Engine that names no precision lies between 16 and 8 bits; a question has 16."""
    head = "model,device,n_gpu,framework,precision,seq,tp,micro_batch,global_batch,recompute,step_time_s\n"
    row = "llama3-8b,h100-80-sxm,8,{},{},8192,2,1,128,none,5\n"
    open_row, half, eighth, plain = ask(head + "".join(row.format(*words) for words in (("nemo", ""), ("nemo", "bf16"), ("nemo", "fp8"), ("torchtitan", ""))))
    ends = [float(end["predicted"]) for end in (half, eighth)]
    assert math.isclose(float(open_row["predicted"]), math.sqrt(ends[0] * ends[1]), rel_tol=1e-6), (open_row, ends)
    assert float(open_row["low"]) < ends[1] and ends[0] < float(open_row["high"]) and "half way" in open_row["status"]
    assert "half way" not in plain["status"], plain
    question = ask(head.replace(",step_time_s", "") + row.format("nemo", "").replace(",5", ""))[0]
    assert math.isclose(float(question["predicted"]), ends[0], rel_tol=1e-6), question


def test_flash_attention_on_hopper():
    """Of twice the words at half the batch attention alone grows. PyTorch runs FlashAttention-2, which reaches 300 to 370 TFLOP/s on H100,
    of 989 (Shah et al. 2024, figures 5 and 6)."""
    head = "model,device,framework,precision,seq,micro_batch,recompute\n"
    long, short = (float(ask(head + f"llama2-7b,h100-80-sxm,pytorch,bf16,{seq},{32768 // seq},none\n")[0]["predicted"]) for seq in (32768, 16384))
    flop = 3.5 * (4 * 16384 * 4096 / 2) * 32768 * 32  # causal: half; two products forward, five backward
    assert 0.25 < flop / (long - short) / 989e12 < 0.38, (long, short)
    head = "model,device,n_gpu,framework,precision,seq,tp,micro_batch,notes\n"
    rows = ask(head + "".join(f"llama2-7b,{device},8,Megatron-LM,bf16,16384,2,1,{note}\n" for device in ("h100-80-sxm", "a100-80-sxm")
                              for note in ("", "flash attention 2", "flash attention")))
    own, second, flash, *ampere = (float(row["predicted"]) for row in rows)
    assert own == flash and 1.05 * own < second < 1.48 * own and len(set(ampere)) == 1, rows


def test_part_of_a_node():
    """Four of the eight V100 of a DGX-1's mesh are a node, too (AWS p3.8xlarge); more than eight have no mesh known."""
    head = "model,device,n_gpu,gpus_per_node,precision,micro_batch\n"
    for devices in (2, 4, 8, 16):
        assert ask(head + f"resnet50,V100-SXM2-16GB,{devices},{devices},amp,64\n")[0]["predicted"], devices


def test_names():
    """Every name is a model of the catalogue, or has a reason."""
    same = {
        "llama3-8b": ["meta-llama/Meta-Llama-3-8B", "Llama-3 8B", "LLAMA3_8B", "meta-llama/Meta-Llama-3-8B-Instruct", "Llama 3 (8B)"],
        "llama3-405b": ["Llama 3.1 405B", "llama3.1-405b", "Llama-405B", "llama31_405b"],
        "llama3.1-8b": ["llama31_8b", "Llama31 8B"],
        "mixtral-8x7b": ["mistralai/Mixtral-8x7B-v0.1", "Mixtral 8x7B", "mixtral"],
        "qwen2.5-72b": ["Qwen/Qwen2.5-72B", "Qwen2.5-72B-Instruct"],
        "qwen3-30b-a3b": ["Qwen/Qwen3-30B-A3B", "Qwen3_30B_a3B (dropless)"],
        "deepseek-v3": ["deepseek-ai/DeepSeek-V3", "DeepSeek-R1", "DeepSeekV3 (w/o MTP)"],
        "nemotron4-340b": ["Nemotron-4 340B", "nvidia/Nemotron-4-340B-Base"],
        "gpt-5b": ["gpt3_5b", "GPT 5B"],
        "gpt_18.4b": ["GPT 18.4B"],
        "gpt3_175b": ["GPT-3 175B", "gpt3-175b", "GPT-3"],
        "t5-11b": ["T5-11B", "google-t5/t5-11b"],
        "t5-v1.1-xl": ["google/flan-t5-xl"],
        "vit_large_16": ["ViT-L/16", "google/vit-large-patch16-224", "vit_large_patch16_224"],
        "vit_base_32": ["vit_base_patch32_224"],
        "vit_large_14": ["openai/clip-vit-large-patch14"],
        "bert_large": ["bert-large-uncased", "BERT"],
        "resnet50": ["ResNet-50 v1.5", "torchvision/resnet50"],
        "sd-1.5": ["stable diffusion", "runwayml/stable-diffusion-v1-5"],
        "sdxl": ["stabilityai/stable-diffusion-xl-base-1.0"],
        "whisper-large-v3": ["openai/whisper-large-v3"],
        "retinanet": ["ssd"], "ssd300_resnet50": ["SSD300", "ssd300_r50"],
        "mask_rcnn": ["maskrcnn", "Mask R-CNN"],
        "dlrm_dcnv2": ["dlrm-dcnv2", "DLRM_DCNv2"],
    }
    head = "gpu,model,n_gpu,micro_batch,global_batch,seq,precision\n"
    for known, names in same.items():
        rows = ask(head + "".join(f'H100,"{name}",8,1,8,512,bf16\n' for name in [known, *names]))
        assert rows[0]["predicted"], (known, rows[0]["status"])
        for row in rows[1:]:
            assert row["predicted"] == rows[0]["predicted"], (known, row["model"], row["status"])
    reasons = {"sd3-medium": "diffusion", "mamba-2.8b": "state-space", "fasterrcnn": "detector", "ssd512_vgg": "detector",
               "snowflake-arctic": "experts", "mobilenet_v3": 'closest name is "mobilenet', "whatever": "no hidden"}
    for row in ask(head + "".join(f"H100,{name},8,1,8,512,bf16\n" for name in reasons)):
        assert not row["predicted"] and reasons[row["model"]] in row["status"], row
    # a family's name, and the size in a column of its own
    rows = ask("gpu,model,params,n_gpu,micro_batch,global_batch,seq,precision\nH100,Llama 2,70B,64,1,64,4096,bf16\n"
               "H100,llama2-70b,,64,1,64,4096,bf16\nH100,gpt3,22,64,1,64,2048,bf16\nH100,gpt_22b,,64,1,64,2048,bf16\n")
    assert rows[0]["predicted"] == rows[1]["predicted"]
    near(float(rows[2]["predicted"]), float(rows[3]["predicted"]), 0.2)


def test_sizes():
    """The same decoder by its dimensions, in several spellings."""
    plain = value(BASE, ROW)
    dims = "8192,80,64,8,28672,128256"
    for names in ("hidden,layers,heads,kv_heads,ffn,vocab",
                  "hidden_size,num_hidden_layers,num_attention_heads,num_key_value_heads,intermediate_size,vocab_size",
                  "d_model,n_layers,n_heads,n_kv_heads,d_ff,n_vocab",
                  "Hidden Size,Num Layers,Attention Heads,Query Groups,FFN Hidden Size,Padded Vocab Size",
                  "dim,nlayers,nheads,num_query_groups,ffn_dim,vocabulary"):
        near(value(BASE.replace("model", "family_name") + "," + names, ROW + "," + dims), plain, 1e-6)
    # a mixture by its dimensions: Mixtral's
    mixtral = value("device,model,n_gpu,ep,micro_batch,global_batch,seq,precision", "H100,mixtral-8x7b,8,8,1,64,4096,bf16")
    shape = value("device,n_gpu,ep,micro_batch,global_batch,seq,precision,hidden,layers,heads,kv_heads,ffn,vocab,num_experts,top_k",
                  "H100,8,8,1,64,4096,bf16,4096,32,32,8,14336,32000,8,2")
    near(shape, mixtral, 1e-6)
    # sizes alone are known less well than models, and of mixtures less well than of others
    text = "device,model,n_gpu,micro_batch,global_batch,seq,precision\n"
    rows = ask(text + "".join(f"H100,{name},64,1,64,4096,bf16\n" for name in ("qwen3-30b-a3b", "our-30B", "our-30B-A3B", "llama-30b")))
    assert wide(rows[3]) < wide(rows[1]) < wide(rows[2]) and wide(rows[0]) < wide(rows[2])
    near(float(rows[2]["predicted"]), float(rows[0]["predicted"]), 0.5)
    assert float(rows[2]["predicted"]) < float(rows[1]["predicted"])


def test_measures():
    """Each measure follows from the step's time: the arithmetic is done here again."""
    seconds, head = value(BASE, ROW), BASE + ","
    tokens, gpus = 128 * 8192, 64
    ask_for = lambda name, more="", cells="": value(head + name + more, ROW + "," + cells)
    for name, factor in (("step_time_ms", 1e3), ("iteration time (ms)", 1e3), ("sec/step", 1), ("ms/step", 1e3), ("min/step", 1 / 60)):
        near(ask_for(name), seconds * factor)
    for name, amount in (("tokens/s", tokens), ("tokens_per_sec_per_gpu", tokens / gpus), ("Throughput (tokens/s/GPU)", tokens / gpus),
                         ("samples/s", 128), ("samples/s/gpu", 2), ("it/s", 1), ("tokens/day", 86400 * tokens)):
        near(ask_for(name), amount / seconds)
    # 6 operations a parameter that multiplies (not the table of words), 12 l s h for attention (Chowdhery et al. 2022, appendix B)
    flop = tokens * (6 * (PARAMETERS - WORDS * HIDDEN) + 12 * LAYERS * 8192 * HIDDEN)
    near(ask_for("TFLOP/s/GPU"), flop / gpus / seconds / 1e12, 1e-4)
    near(ask_for("aggregate PFLOP/s"), flop / seconds / 1e15, 1e-4)
    near(ask_for("MFU (%)"), 100 * flop / gpus / seconds / 989.4e12, 1e-3)
    # Megatron-Bridge counts the half of causal attention that is not masked
    counted = flop - tokens * 6 * LAYERS * 8192 * HIDDEN
    bridge = lambda name: value(BASE + ",framework," + name, ROW + ",Megatron-Bridge,")
    near(bridge("TFLOP/s/GPU"), counted / gpus / bridge("step_time_s") / 1e12, 1e-4)
    # recomputing a forward pass: a third more for the hardware, nothing for the model
    full = ROW.replace("none", "full")
    near(value(head + "hfu", full + ",") / value(head + "mfu", full + ","), 4 / 3)
    # whole runs
    near(ask_for("days", ",total_tokens", ",15e12"), seconds * 15e12 / tokens / 86400)
    near(ask_for("gpu_hours", ",tokens_b", ",15000"), seconds * 15e12 / tokens / 3600 * gpus)
    near(ask_for("train_hours", ",train_iters", ",1000"), seconds * 1000 / 3600)
    answer = one(head + "days", ROW + ",")
    assert answer["unit"] == "s" and "train_tokens" in answer["status"]
    # an interval of a rate is in order, and a batch in tokens is one in samples
    near(value(BASE.replace("global_batch", "batch_tokens"), ROW.replace(",128,", f",{tokens},")), seconds)


def test_recorded_steps():
    """Submissions to MLPerf record their steps as graphs. NVIDIA's DGX H100 (MLPerf Training 3.0, open logs): ResNet-50 56,500
    images/s by batch 3,200, DLRM-DCNv2 13.4 million samples/s by 55,296. Other tables that name no framework are PyTorch's, as `predict MODEL` is."""
    head = "accelerator,benchmark,n_accel,global_batch"
    for model, batch, rate in (("resnet", 3200, 56.5e3), ("dlrm_dcnv2", 55296, 13.4e6)):
        row = f"NVIDIA H100-SXM5-80GB,{model},8,{batch}"
        answer = one(head + ",submitter", row + ",NVIDIA")
        assert 0.7 < float(answer["predicted"]) * rate / batch < 1.3, answer
        assert "assumed steps of recorded" in answer["status"], answer
        assert answer["predicted"] == one(head + ",framework", row + ",CUDA graphs")["predicted"]
        assert value(head + ",framework", row + ",megatron") > float(answer["predicted"])
        for how in ("eager", "compiled"):  # as PyTorch's hosts launch kernels
            said = one(head + ",submitter,execution", f"{row},NVIDIA,{how}")
            assert "recorded" not in said["status"] and said["predicted"] == one(head + ",execution,framework", f"{row},{how},pytorch")["predicted"], said
    for model, batch in (("resnet50", 256), ("mlp", 1024), ("vit_base_16", 64), ("bert_large", 16)):
        silent = one("device,model,n_gpu,micro_batch", f"A100-80GB-SXM,{model},8,{batch}")
        asked = subprocess.run([PACELINE, "predict", model, "--on", "hgx-a100-80", "--set", f"micro_batch={batch}", "--format", "json"],
                               capture_output=True, text=True, check=True)
        near(float(silent["predicted"]), json.loads(asked.stdout)["scenarios"][0]["step_ns"] * 1e-9, 1e-6)


def test_gradients_of_deepspeed():
    """DeepSpeed 0.16 sums gradients whole (use_multi_rank_bucket_allreduce): once a step in ZeRO 1, behind every micro-batch in ZeRO 2; ZeRO 2 of
    others reduces and scatters them, half the bytes."""
    def exposed(micro_batches, stage, framework="deepspeed"):
        answer = json.loads(subprocess.run([PACELINE, "predict", "llama2-7b", "--on", "hgx-a100-80", "--set", f"framework={framework}", "--set", "micro_batch=1", "--set",
                                f"global_batch={8 * micro_batches}", "--set", f"zero_stage={stage}", "--set", "precision=bf16", "--format", "json"],
                                           capture_output=True, text=True, check=True).stdout)
        return next(part["time_ns"] for part in answer["parts"] if part["part"] == "data exchange")
    once = exposed(1, 2)
    each = exposed(2, 2) - once
    assert once == exposed(1, 1) == exposed(4, 1) and each > 0.5 * once > 0, (once, each)
    assert abs(exposed(5, 2) - once - 4 * each) <= 4, (once, each)


def test_silence():
    """What a row leaves out is assumed, said, and known less well."""
    plain = one("device,model,n_gpu,micro_batch,global_batch,seq,precision", "H100,llama2-7b,8,1,8,4096,bf16")
    bare = one("device,model,n_gpu", "H100,llama2-7b,8")
    assert "assumed micro_batch " in bare["status"] and wide(bare) > wide(plain)
    # replicas of a framework with ZeRO 1 share the optimizer's states, said or not; Alps has nodes of four
    head, row = "device,model,n_gpu,framework,precision,micro_batch,recompute,seq", "GH200,llama3.1-8b,64,Megatron Core,bf16,1,none,8192"
    silent, said = one(head, row), one(head + ",dp,gpus_per_node", row + ",64,4")
    assert silent["memory_bytes"] == said["memory_bytes"] and silent["predicted"] == said["predicted"], (silent, said)
    rate = one("device,model,n_gpu,tokens/s/gpu", "H100,llama2-7b,8,")
    assert rate["unit"] == "tokens_per_s_per_gpu" and "assumed" in rate["status"]
    near(value("GPU,Parameters,# GPUs", "A100,13B,16"), value("GPU,size,# GPUs", "A100,13,16"))
    for model, words in (("gpt2-medium", 1024), ("our-3B", 2048)):
        assert f"assumed seq {words}" in one("device,model,micro_batch", f"H100,{model},1")["status"]
    for head, row in (("device,model,micro_batch,seq", "H100,gpt2-medium,1,512"), ("device,model,micro_batch", "H100,vit_large_16,8"),
                      ("device,model,micro_batch", "H100,resnet50,8")):
        assert "seq" not in one(head, row)["status"], row
    answer = ask("device,model\nH100,\n")[0]
    assert not answer["predicted"] and "missing" in answer["status"]


def test_words():
    """Words that say how a step runs."""
    head = "gpu,model,n_gpu,micro_batch,global_batch,seq,precision,framework,"
    row = "H100,llama3-8b,8,1,16,8192,bf16,pytorch,"
    ask_for = lambda name, cell: value(head + name, row + cell)
    for cell in ("FSDP", "FULL_SHARD", "Fully Sharded Data Parallel", "fsdp2", "ZeRO-3", "DeepSpeed ZeRO stage 3", "HSDP"):
        near(ask_for("strategy", cell), ask_for("zero_stage", "3"), 0.3)
    for word in ("DDP", "NO_SHARD"):
        near(ask_for("strategy", word), ask_for("zero_stage", "0"))
    near(ask_for("strategy", "TP8"), ask_for("tp", "8"))
    near(ask_for("parallelism", "tp=2 pp=2 dp=2"), value(head + "tp,pp,dp", row + "2,2,2"))
    full, none = ask_for("activation_checkpointing", "full"), ask_for("activation_checkpointing", "none")
    assert full > 1.15 * none
    for word in ("True", "block", "uniform"):
        near(ask_for("ac", word), full)
    near(ask_for("notes", "full AC"), full)
    assert ask_for("attn_impl", "math") > ask_for("attn_impl", "flash_attention_2")
    assert ask_for("notes", "eager") >= ask_for("notes", "torch.compile")
    half = lambda word: value(head, row.replace("bf16", word))
    near(half("bfloat16"), half("bf16-mixed"))
    for word in ("FP8-CS", "FP8-CS (FP8-MX)", "float8", "fp8_e4m3"):
        near(half(word), half("fp8"))
    near(half("fp8_block"), half("Blockwise_FP8"))
    assert half("fp8") < half("fp8_block") < half("bf16")  # scaled in blocks
    assert half("fp8") < half("bf16") < half("tf32")
    for word in ("MXFP8", "nvfp4", "mxfp4"):  # Hopper's matrix units have no scales of blocks
        answer = ask(head + "\n" + row.replace("bf16", word) + "\n")[0]
        assert not answer["predicted"] and "has no matrix units for " + word.lower() in answer["status"], answer
    b200 = lambda word: value(head, row.replace("bf16", word).replace("H100", "B200"))
    near(b200("MXFP8"), b200("fp8-mx"))
    near(b200("MXFP8"), b200("fp8_block"))
    near(b200("nvfp4"), b200("fp8"))
    assert b200("fp8") < b200("mxfp8") < b200("bf16")
    # the option knows the same words, and answers the same
    alone = "B200,gpt2_xl,1,4,4,1024,bf16,pytorch,"
    for word in ("fp8", "MXFP8", "fp8-mx", "fp8_block", "nvfp4", "mxfp4", "float8", "bfloat16", "FP8-CS"):
        settings = ("micro_batch=4", "sequence=1024", f"precision={word}")
        asked = subprocess.run([PACELINE, "predict", "gpt2_xl", "--on", "b200", *(part for setting in settings for part in ("--set", setting)), "-q", "-f", "json"],
                               capture_output=True, text=True)
        assert asked.returncode < 2, asked.stderr
        near(json.loads(asked.stdout)["values"]["step.median_s"], value(head, alone.replace("bf16", word)), 1e-6)
    # windows of attention: as the option says; none where the model has one of its own
    windows = head + "sliding_window"
    for name, own, cells in (("mistral-7b", "", ("none", "-1", "0", "full", "null")), ("gemma2-9b", "4096", ("", "4096", "nan"))):
        row = f"H100,{name},8,1,16,16384,bf16,pytorch,"
        for cell in cells:
            near(value(windows, row + cell), value(windows, row + own))
    row = "H100,gemma2-9b,8,1,16,16384,bf16,pytorch,"
    assert value(windows, row + "512") < value(windows, row + "4096") < value(windows, row + "none")
    assert "no effect on gpt2_xl: sliding 128" in one(windows, "H100,gpt2_xl,8,1,16,1024,bf16,pytorch,128")["status"]
    assert 'sliding is "4k"' in one(windows, row + "4k")["status"]
    # less power, slower products; stated or the part's own
    assert 1.03 < ask_for("power_limit_w", "500") / ask_for("power_limit_w", "700") < (700 / 500) ** (1 / 3)
    near(ask_for("notes", "capped at 500W"), ask_for("power_limit_w", "500"))
    answer = one(head + "pp,schedule", row + "2,DualPipe")
    assert "taken for 1F1B" in answer["status"]
    assert "dualpipe-v on pp 2" in one(head + "pp,schedule", row + "4,DualPipe")["status"]
    assert "taken for" not in one(head + "pp,schedule", row + "2,ZB-H1")["status"]


# Seven tables in seven styles, after those of papers, hubs, logs and vendors; no figure is anybody's measurement.
STYLES = {
    "paper": ("Number of parameters (billion),Attention heads,Hidden size,Number of layers,Tensor model-parallel size,"
              "Pipeline model-parallel size,Number of GPUs,Batch size,Sequence length,GPU,Achieved teraFLOP/s per GPU\n"
              "39.1,64,8192,48,8,2,512,1536,2048,A100-SXM4-80GB,\n", "tflops_per_gpu"),
    "hub": ("model_id,accelerator,num_gpus,per_device_train_batch_size,gradient_accumulation_steps,max_seq_length,bf16,strategy,"
            "train_samples_per_second\nmeta-llama/Llama-2-7b-hf,NVIDIA A100-SXM4-80GB,8,2,4,2048,True,fsdp,\n", "samples_per_s"),
    "vendor": ("System,GPUs,Model,Precision,GBS,MBS,Sequence Length,TP,PP,CP,VP,EP,Tokens / sec / GPU,Model TFLOP / sec / GPU\n"
               "DGX-H100,64,LLAMA3_70B,FP8-CS,128,1,8192,4,8,1,5,1,,\n", "tokens_per_s_per_gpu"),
    "foundry": ("Model,SeqLen (T),# GPUs,GPU,MFU,HFU,MicroBatchSize,GradAccum,GlobalBatchSize,Precision,MP Mode,Sharding Strategy,"
                "Activation Checkpointing\n70B,2048,64,h100_80gb,,,8,4,2048,bf16,PURE,FULL_SHARD,True\n", "mfu_pct"),
    "titan": ("model,gpu,n_gpu,techniques,local batch size,seq_len,tps/gpu\n"
              "Llama 3.1 8B,H100,128,FSDP + torch.compile + float8,2,8192,\n", "tokens_per_s_per_gpu"),
    "log": ("gpu_type,world_size,model_name,global_train_batch_size,n_ctx,dtype,remat,ms/step\n"
            "A100-SXM4-40GB,32,gpt3_6.7b,256,2k,float16,full,\n", "ms"),
    "report": ("Model,GPU type,GPUs,Global batch tokens,Context length,Training tokens (B),Training days\n"
               "Llama 2 70B,A100-SXM4-80GB,2048,4M,4096,2000,\n", "train_days"),
}


def test_inference():
    """Passes without training have no optimizer and no gradients: a row that names one is answered without, and says so."""
    head, row = "device,model,mode,micro_batch", "a100-40-sxm,resnet50,inference,8"
    plain, told = one(head, row), one(head + ",optimizer,keep_gradients", row + ",adam,1")
    assert plain["predicted"] == told["predicted"] and "no effect" not in plain["status"]
    for field in ("optimizer", "keep_gradients"):
        assert f"{field} has no effect on inference" in told["status"], told


def test_optimizers_in_others_words():
    """transformers' names (OptimizerNames). States in 8 bits (Dettmers et al. 2022) take a byte and a 64th of one, where Adam beside bf16 keeps 2, each twice;
    Adafactor (Shazeer and Stern 2018) keeps next to nothing, Lion (Chen et al. 2023) one state; by lists Adam's peak is a parameter's bytes higher (torch.optim)."""
    head, row = "device,model,framework,precision,micro_batch,seq,keep_gradients,update,optimizer", "h200-141-sxm,llama3.1-8b,PyTorch,bf16,1,128,1,fused,"
    held = {name: float(one(head, row + name)["memory_bytes"]) for name in ("adamw", "paged_adamw_8bit", "adafactor", "lion_32bit", "adamw_torch_fused", "AdamW 8-bit")}
    for name, states in (("paged_adamw_8bit", 2 * (1 + 4 / 256)), ("AdamW 8-bit", 2 * (1 + 4 / 256)), ("adafactor", 0), ("lion_32bit", 2), ("adamw_torch_fused", 4)):
        near(held["adamw"] - held[name] + 1, (4 - states) * 8_030_261_248 + 1, 1e-6)
    near(float(one(head, row.replace("fused", "foreach") + "adamw")["memory_bytes"]) / held["adamw"], 5 / 4, 0.05)
    assert "unknown" not in one(head, row + "paged_adamw_8bit")["status"]
    assert 'unknown optimizer "shampoo"' in one(head, row + "shampoo")["status"]


def test_attention_in_others_words():
    """A column called as the setting says the kernel in transformers' words (attn_implementation), as a column of that name does."""
    row = "a100-80-sxm,bert_base,PyTorch,amp,8,512,"
    for word, plain in (("flash_attention_2", "fused"), ("eager", "math"), ("SDPA", "fused")):
        for column in ("attention", "attn_implementation"):
            head = "device,model,framework,precision,micro_batch,seq," + column
            answer = one(head, row + word)
            assert "unknown" not in answer["status"], answer
            assert answer["memory_bytes"] == one(head.replace(column, "attention"), row + plain)["memory_bytes"], (column, word)


def test_asynchronous_tensor_parallelism():
    """torchtitan's benchmarks/asyncTP_llama3_h100_2025-06_torchtitan.md: with it Llama 3 70B on 256 H100 is 1.09 times as fast, 8B on 64 1.10 times. Notes and the framework's column say it;
    "without" says nothing of the kind."""
    head = "model,seq,device,n_gpu,gpus_per_node,framework,precision,tp,dp,micro_batch,global_batch,recompute,execution,notes"
    rows = {"70B": ("llama3-70b,8192,h100-96-hbm2e,256,8,%s,bf16,8,32,16,512,full,compiled,%s", 1.092), "8B": ("llama3-8b,8192,h100-96-hbm2e,64,8,%s,bf16,8,8,12,96,selective,compiled,%s", 1.099)}
    for row, measured in rows.values():
        plain, without, noted, named = (one(head, row % words) for words in (("torchtitan", ""), ("torchtitan", "without async TP"), ("torchtitan", "2D+asyncTP"), ("torchtitan async TP", "")))
        assert plain["predicted"] == without["predicted"] and noted["predicted"] == named["predicted"], (plain, without, noted, named)
        near(float(plain["predicted"]) / float(noted["predicted"]), measured, 0.04)


def test_peaks_of_compiled_steps():
    """GPT-2 (124M, 1,024 words) under torch.compile with autocast, its loss within: what nvidia-smi shows of one process on RunPod's devices (a script for PyTorch
    2.8 of 2025 with its results), less a context."""
    head = "device,model,vocab,seq,framework,precision,execution,micro_batch,global_batch"
    for device, batch, mib in (("RTX A5000", 8, 7702), ("L4", 16, 12739), ("H100 SXM", 32, 24814), ("H100 SXM", 64, 47954), ("B200", 128, 94436)):
        answer = one(head, f"{device},gpt2,50304,1024,PyTorch 2.8,amp_bf16,compiled,{batch},512")
        near(float(answer["memory_bytes"]), mib * 2**20 - 0.5e9, 0.15)


def test_styles():
    for style, (text, unit) in STYLES.items():
        answer = ask(text)[0]
        assert answer["predicted"] and answer["unit"] == unit, (style, answer["unit"], answer["status"])
        mfu = {"tflops_per_gpu": 312, "mfu_pct": 100}.get(unit)
        if mfu:
            assert 0.2 < float(answer["predicted"]) / mfu < 0.75, (style, answer)
    # Llama 2 70B took 1,720,320 hours of A100-80GB (Touvron et al. 2023, table 2): 35 days of 2048
    answer = ask(STYLES["report"][0])[0]
    assert float(answer["low"]) < 35 < float(answer["high"]), answer


def test_measures_that_say_nothing():
    """Images have no tokens: a step's seconds stand instead, beside rows that have some."""
    head = "model,gpu,gpus,global_batch,tokens/s"
    image, words = ask(head + "\nresnet50,V100,8,512,3000\nllama2-7b,A100,8,64,\n")
    assert image["unit"] == "s" and "tokens_per_s says nothing" in image["status"], image
    assert words["unit"] == "tokens_per_s", words
    near(float(image["predicted"]), 512 / value("model,gpu,gpus,global_batch,images_per_s", "resnet50,V100,8,512,"), 1e-9)
    assert ask("model,gpu,gpus,batch,train_tokens,train_days\nresnet50,V100,8,512,1e9,\n")[0]["unit"] == "s"


def test_recomputation_is_said_once():
    """What does not fit and is recomputed already is not recomputed again; nor are models without attention."""
    row = one("model,device,n_gpu,tp,pp,dp,micro_batch,global_batch,precision", "llama2-7b,a100-80-sxm,8,1,1,8,2,64,bf16")
    assert row["status"].count("recomputation") == 1, row["status"]
    assert "recomputation" not in one("model,gpu,gpus,global_batch,images_per_s", "vgg16,V100,8,512,")["status"]


def test_attention_in_notes():
    """One kernel forms no scores, so that its time and memory are below those of products; a step of 131,072 words on eight ranks that hold its
    scores (16,384 by 131,072 for each of 32 heads, 2 bytes) would need 137 GB for a layer's alone."""
    head = "device,model,framework,n_gpu,micro_batch,seq,precision,recompute,zero_stage,cp,notes"
    silent, said = (one(head, f"a100-80-sxm,llama2-7b,megatron-deepspeed,8,1,8192,bf16,full,3,,{note}") for note in ("", "flash attention 2"))
    assert float(said["predicted"]) < 0.8 * float(silent["predicted"]), (said, silent)
    assert float(said["memory_bytes"]) < float(silent["memory_bytes"])
    split = one(head, "a100-80-sxm,llama2-7b,megatron-deepspeed,8,1,131072,bf16,full,3,8,")
    assert "one kernel" in split["status"] and float(split["memory_bytes"]) < 80e9, split
    head += ",attention"
    told = one(head, "a100-80-sxm,llama2-7b,megatron-deepspeed,8,1,8192,bf16,full,3,,flash attention 2,math")
    assert told["predicted"] == silent["predicted"], (told, silent)


def test_nanotron_is_not_sharded():
    """nanotron was taken for FSDP. Its pipelines run PyTorch's modules, but for norms in one kernel, which keep less; its benchmark's log has a peak of
    16,550 MiB on two nodes, with eight ranks a layer and two stages."""
    head = "device,model,layers,hidden,heads,kv_heads,ffn,vocab,seq,framework,n_gpu,tp,pp,dp,micro_batch,global_batch,precision,attention"
    rows = [one(head, f"H100,llama-1B,24,2048,32,32,4096,50257,4096,{name},16,8,2,1,8,1024,{rest}") for name, rest in
            (("nanotron", ","), ("pytorch", "bf16,fused"), ("fsdp", "bf16,fused"))]
    assert float(rows[0]["predicted"]) < float(rows[1]["predicted"]) and float(rows[0]["memory_bytes"]) < float(rows[1]["memory_bytes"]), rows
    near(float(rows[0]["memory_bytes"]), 16550 * 2**20, 0.15)


def test_markdown():
    """A table as READMEs have it has the answers of the same table in commas."""
    rows = ["| **Model** | `GPU` | # GPUs | Precision | GBS | MBS | Seq |", "|:---|---|:---:|-----|---|---|--:|",
            "| Llama 3 8B | DGX-H100 | 8 | BF16 | 128 | 1 | **8192** |", "|Llama 2 7B|A100 80GB|16|BF16|32|1|4096|"]
    plain = "Model,GPU,# GPUs,Precision,GBS,MBS,Seq\nLlama 3 8B,DGX-H100,8,BF16,128,1,8192\nLlama 2 7B,A100 80GB,16,BF16,32,1,4096\n"
    wanted = ask(plain)
    assert all(row["predicted"] for row in wanted), wanted
    for end in ("\n", "\r\n", " \n"):
        assert ask(end.join(rows) + end) == wanted, end
    assert ask("\n".join(rows)) == wanted
    with tempfile.NamedTemporaryFile("w", suffix=".md") as file:
        file.write("\n".join([*rows, "| Llama 2 7B | A100 |"]))
        file.flush()
        done = subprocess.run([PACELINE, "predict", "--kind", "step", "--rows", file.name], capture_output=True, text=True)
    assert done.returncode != 0 and ":5: expected 7 cells as in the header, found 2" in done.stderr, done


def test_devices_counted_in_the_name():
    """"8x H100" was one."""
    wanted = one("device,n_gpu,model,framework,micro_batch,precision", "A100-40GB,4,gpt2-medium,pytorch,8,bf16")
    for name in ("4x A100-40GB", "4 x A100-40GB", "4xA100_40GB", "A100-40GB x4", "4×A100-40GB", "4*A100-40GB", "A100-40GB ×4", "A100-40GBx4", "A100-40GB×4"):
        found = one("device,model,framework,micro_batch,precision", f"{name},gpt2-medium,pytorch,8,bf16")
        assert found["predicted"] == wanted["predicted"], (name, found, wanted)
    names = "device,model,micro_batch,precision"
    assert len({value(names, f"{name},gpt2-medium,8,bf16") for name in ("RTX 4090", "rtx-4090", "RTX4090", "NVIDIA rtx4090")}) == 1
    near(value("device,nodes,model,framework,micro_batch,precision", "8x A100-40GB,2,gpt2-medium,pytorch,8,bf16"),
         value("device,nodes,gpus_per_node,model,framework,micro_batch,precision", "A100-40GB,2,8,gpt2-medium,pytorch,8,bf16"))


def test_switches_of_precision():
    """transformers' "bf16: true" is autocast, and all switches off single precision; the columns were not read."""
    for switches, precision in ((("true", "false"), "amp_bf16"), (("False", "True"), "amp"), (("false", "false"), "fp32")):
        told = one("device,model,framework,micro_batch,bf16,fp16", "A100-40GB,gpt2-medium,pytorch,8," + ",".join(switches))
        said = one("device,model,framework,micro_batch,precision", f"A100-40GB,gpt2-medium,pytorch,8,{precision}")
        assert told["predicted"] == said["predicted"], (switches, told, said)


def test_method_of_tuning():
    """A column "Method" that says LoRA was not read, so that all was trained."""
    head, row = "device,model,framework,micro_batch,precision,recompute,seq", "A100-80GB,llama3-8b,pytorch,1,bf16,none,2048"
    wanted = one(head + ",lora", row + ",16")
    for name in ("Method", "Fine-tuning method", "task"):
        found = one(head + "," + name, row + ",LoRA r=16")
        assert found["predicted"] == wanted["predicted"], (name, found, wanted)
    assert "4 bits" in one(head + ",Method", row + ",QLoRA")["status"]
    packed = one(head + ",Method", row + ",QLoRA r=16")
    assert packed["predicted"] == one(head + ",lora,quantized", row + ",16,nf4-dq")["predicted"] != wanted["predicted"], packed


def test_hours_of_a_run():
    """Pythia 1.4B: 7,120 GPU hours for 299.9 billion tokens on 64 A100 (Biderman et al. 2023). In a table that times other rows' steps, too,
    the hours are read; they hold more than steps."""
    head = "device,model,n_gpu,framework,precision,micro_batch,global_batch,recompute,step_time_s,train_tokens,gpu_hours"
    row = "A100-40GB,pythia-1.4b,64,gpt-neox,fp16,16,1024,full,"
    step, run = one(head, row + "2.8,,"), one(head, row + ",299.9e9,7120")
    assert run["unit"] == "gpu_hours" and step["unit"] == "s", (step, run)
    near(float(run["predicted"]), float(step["predicted"]) * 299.9e9 / (1024 * 2048) * 64 / 3600)
    wider = math.log(float(run["high"]) / float(run["predicted"])) / math.log(float(step["high"]) / float(step["predicted"]))
    assert 1.2 < wider < 1.5, wider
    assert float(run["low"]) < 7120 < float(run["high"]), run


def test_batch_beside_columns_of_shares():
    """Narayanan et al. 2021, table 1: the first model, whose layers no ranks share, has its batch of 512 on 32 devices in all, as the
    others have; 512 on each would need 806 GB."""
    head = "device,layers,hidden,heads,vocab,seq,n_gpu,Tensor model-parallel size,Pipeline model-parallel size,Batch size,Achieved teraFLOP/s per GPU"
    answer = one(head, "a100-80-sxm,24,2304,24,51200,2048,32,1,1,512,137")
    assert "global batch" in answer["status"] and float(answer["memory_bytes"]) < 80e9, answer
    assert float(answer["low"]) < 137 < float(answer["high"]), answer


def test_times_without_a_unit():
    """timm's results have milliseconds in "train_step_time"; samples a second say so."""
    head = "model,train_samples_per_sec,train_step_time,train_batch_size,train_img_size,gpu"
    ms = one(head, "resnet50,1017.84,251.2,256,224,RTX 3090")
    s = one(head, "resnet50,1017.84,0.2512,256,224,RTX 3090")
    assert (ms["unit"], s["unit"]) == ("ms", "s") and "milliseconds" in ms["status"], (ms, s)
    near(float(ms["predicted"]), 1e3 * float(s["predicted"]))


def test_nodes_of_kin():
    """MI325X modules never sit on a bus: their node is that of the generation's (catalog/system_names.yaml)."""
    for device, node in (("MI325X", "mi300x-node"),):
        status = one("device,n_gpu,model,framework,micro_batch,precision", f"{device},8,llama3-8b,fsdp,1,bf16")["status"]
        assert node in status and "PCIe" not in status, status


def test_limits_of_power():
    """BERT-base in single precision on V100 under 175, 150, 125 and 100 of 250 W, and ResNet-50 under 100: how many times as long their steps
    take (You et al. 2023, Zeus, traces: squad by 32, imagenet by 64)."""
    measured = {("bert_base", 175): 1.12, ("bert_base", 150): 1.28, ("bert_base", 125): 1.58, ("bert_base", 100): 2.07, ("resnet50", 100): 1.78}
    head = "device,model,micro_batch,precision,power_limit_w\n"
    asked = [("bert_base", 250), ("resnet50", 250), *measured]
    rows = ask(head + "".join(f"v100-pcie-32,{model},32,fp32,{watts}\n" for model, watts in asked))
    step = {at: [float(row[name]) for name in ("predicted", "low", "high")] for at, row in zip(asked, rows)}
    for (model, watts), times in measured.items():
        full = step[model, 250][0]
        at, low, high = (seconds / full for seconds in step[model, watts])
        assert 1 < at < times * 1.02 and abs(math.log(at / times)) < 0.25 and low < times < high, (model, watts, at, low, high, times)
        assert f"{watts} W" in rows[asked.index((model, watts))]["status"], rows
    assert step["bert_base", 175] < step["bert_base", 150] < step["bert_base", 125] < step["bert_base", 100], step
    idle = ask(head + "v100-pcie-32,bert_base,32,fp32,20\nv100-pcie-32,bert_base,32,fp16,20\n")
    assert all(row["predicted"] == "" and "20 W: v100-pcie-32 draws more" in row["status"] for row in idle), idle


def test_commas_in_measured_times():
    """A comma parts thousands; where it can only be a decimal's, the row says that it has no measured time."""
    for cell, read in (("1,234.5", True), ("1,234", True), ("12,345,678", True), ("0,35", False), ("0,350", False), ("1234,567", False), ("1,2", False)):
        answer = one(BASE + ",step_time", f'{ROW},"{cell}"')
        assert ("expected a time above 0" in answer["status"]) != read, answer
        assert ("step_time taken for" in answer["status"]) == read, answer


def test_steps_of_each_device():
    """Steps a second that grow with devices of one batch each are each device's: the step takes as long as in a table that counts all together."""
    head, devices, times = BASE + ",steps_per_s", (8, 16, 32), (4.0, 4.2, 4.4)
    for each, word in ((True, "steps of each device"), (False, "")):
        rows = ask(head + "\n" + "".join(f"H100,llama2-7b,{n},1,1,1,{4 * n},4096,bf16,none,{(n if each else 1) / t}\n" for n, t in zip(devices, times)))
        steps = [float(row["predicted"]) / (n if each else 1) for n, row in zip(devices, rows)]
        assert all(word in row["status"] and row["unit"] == "steps_per_s" for row in rows), rows
        near(1 / steps[0], value(BASE, "H100,llama2-7b,8,1,1,1,32,4096,bf16,none"))
        assert steps[0] > steps[1] > steps[2] > 0.5 * steps[0], steps


def test_mlperf_names_models_beside_benchmarks():
    """The results' page has the task as Benchmark and the network as Model MLC."""
    answer = one("Accelerator,# of Accelerators,Benchmark,Model MLC", "NVIDIA B200-SXM-180GB,8,LLM-Finetuning,llama2_70b_lora")
    assert "adapters" in answer["status"], answer


def test_attention_kernels_that_are_named():
    """Qwen3 8B with a million tokens on eight H100 takes 606 s by FlashAttention-2 and 373 s by cuDNN's kernel (transformers, pull request
    48324): notes that name the kernel tell the two apart."""
    head = "model,device,n_gpu,framework,precision,seq,cp,zero_stage,micro_batch,global_batch,recompute,notes"
    row = "qwen3-8b,H100,8,FSDP,bf16,1048576,8,3,1,1,full,"
    plain, two = value(head, row), value(head, row + "FlashAttention-2")
    near(plain, two)
    for words in ("cuDNN attention", "FlashAttention-3", "FA3"):
        made = value(head, row + words)
        assert 1.4 < plain / made < 1.8, (words, plain, made)
        assert 373 / 1.25 < made < 373 * 1.25, (words, made)
    assert 606 / 1.25 < plain < 606 * 1.25, plain


def test_slices_of_tpus():
    """Links of their own join TPUs of a slice, whatever hosts they are on: Llama 2 7B with 32,768 tokens on 64 v5p takes 8.83 s (MaxText, 4687)."""
    head = "model,device,n_gpu,gpus_per_node,framework,precision,seq,cp,global_batch"
    row = one(head + ",step_time_s", "llama2-7b,TPU-v5p,64,,MaxText,bf16,32768,16,64,8.83")
    assert float(row["low"]) < 8.83 < float(row["high"]), row
    near(float(row["predicted"]), value(head + ",step_time_s", "llama2-7b,TPU-v5p,64,4,MaxText,bf16,32768,16,64,8.83"))
    assert "PCIe" not in one(head, "llama3.1-8b,TPU-v6e,256,,MaxText,bf16,8192,,512")["status"]
    submitted = one("submitter,model,accelerator,n_accel,seq,global_batch", "Google,gpt3-175b,TPU-v5p,512,2048,2048")
    assert "maxtext" in submitted["status"] and "pp" not in submitted["status"], submitted


def main():
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            print(name, test() or "ok")


if __name__ == "__main__":
    main()
