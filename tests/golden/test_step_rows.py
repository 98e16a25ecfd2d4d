"""`predict --rows --kind step` and `fit --kind step`: every row comes back answered or with a reason. Long because
each rule of what rows leave unsaid is held here."""
import csv
import json
import math
import os
import pathlib
import re
import subprocess
import tempfile

import strict_schema
from checks import says_no

PACELINE = os.environ["PACELINE"]
DATA = pathlib.Path(os.environ.get("PACELINE_SHARED", "")) / "llm"


def run(*words, status=0):
    done = subprocess.run([PACELINE, *map(str, words)], capture_output=True, text=True)
    assert done.returncode == (1 if says_no(done.stderr) else status), (words, done.returncode, done.stderr)
    return done


def ask(text, *words, warn=False):
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        file.write(text)
        file.flush()
        done = run("predict", "--kind", "step", "--rows", file.name, "--format", "csv", *words)
        said = [line for line in done.stderr.splitlines() if "Does not fit: " not in line and "do not say their micro-batch" not in line and "not read" not in line]
        assert warn == bool(said), done.stderr
        return list(csv.DictReader(done.stdout.splitlines()))


HEAD = "device,n_gpu,hidden,layers,heads,seq,vocab,tp,pp,dp,micro_batch,global_batch,precision,recompute\n"


def test_cells():
    """A cell that holds no such number was read as if it were empty; a width of 1e15 was divided for ever."""
    good = "a100-80-sxm,8,4096,12,32,1024,50000,2,1,4,2,16,bf16,none".split(",")
    names = HEAD.strip().split(",")
    for name, values in (("hidden", ("-1", "2.5", "abc", "1e15")), ("heads", ("-1", "2.5", "abc")), ("tp", ("-1", "two")), ("pp", ("1.5", "inf")),
                         ("n_gpu", ("-8", "abc")), ("micro_batch", ("-1", "1e30")), ("seq", ("-1", "abc"))):
        for value in values:
            cells = [value if one == name else cell for one, cell in zip(names, good)]
            row = ask(HEAD + ",".join(cells) + "\n", warn=True)[0]
            assert row["predicted"] == "" and f'{name} is "{value}"' in row["status"], (name, value, row)
    row = ask(HEAD + ",".join(["0:8 100B:16" if one == "global_batch" else cell for one, cell in zip(names, good)]) + "\n")[0]
    assert row["predicted"] and "left out" in row["status"], row
    row = ask(HEAD.replace("recompute", "framework,zero_stage,seq_par") + ",".join(good[:-1] + ["abc", "many", "perhaps"]) + "\n")[0]
    assert all(f'unknown {key} "{value}"' in row["status"] for key, value in (("framework", "abc"), ("zero_stage", "many"), ("sequence_parallel", "perhaps"))), row


def test_fp8_beside_a_precision():
    """Tables say what parameters are in and whether products run in 8 bits; it was answered as bf16."""
    cells = "16,2048,16,16,2048,50000,2,2,4,2,64,bf16,none"
    rows = ask(HEAD.strip() + ",fp8\n" + "".join(f"{device},{cells},{fp8}\n" for device, fp8 in (("h100-80-sxm", "0"), ("h100-80-sxm", "true"))))
    assert rows[0]["memory_bytes"] != rows[1]["memory_bytes"], rows
    refused = ask(HEAD.strip() + f",fp8\na100-80-sxm,{cells},e4m3\n", warn=True)[0]
    assert refused["predicted"] == "" and "no rate for fp8" in refused["status"], refused
    alone = ask(HEAD + f"h100-80-sxm,{cells}\n".replace("bf16", "fp8"))[0]
    assert all(alone[key] == rows[1][key] for key in ("predicted", "low", "high", "memory_bytes")), (alone, rows[1])


def test_one_row():
    row, less = ask(HEAD + "".join(f"A100-SXM4-80GB,64,3072,{layers},32,2048,51200,1,1,64,8,512,fp16,full\n" for layers in (30, 14)))
    assert row["unit"] == "s" and row["rung"] == "formula"
    # 80 GiB less a context of half a GB hold what is counted, but not a quarter more; rows said "ok".
    assert [(one["status"], float(one["memory_bytes"]) < 0.8 * 85.4e9) for one in (row, less)] == [
        (f"{fits}assumed framework megatron-eager; assumed 1600 Gb/s between nodes, as hgx-a100-80 has", not fits)
        for fits in ("fits closely into memory; ", "")]
    assert float(row["low"]) < float(row["predicted"]) < float(row["high"])
    # 3.6e9 parameters, 8 operations a parameter and token with recomputation, at half of the peak: 3.1 s
    assert 2 < float(row["predicted"]) < 5


def test_unsaid():
    """What a row leaves open of its pipeline and its precision widens its interval, and MLPerf's submissions interleave."""
    head = "device,framework,model,n_gpu,tp,pp,vpp,micro_batch,global_batch,precision"
    ends = lambda row: (float(row["low"]), float(row["predicted"]), float(row["high"]))  # noqa: E731
    one, open_, six = ask(f"{head}\n" + "".join(f"h100,megatron,gpt3-175b,256,4,8,{vpp},1,64,fp8\n" for vpp in ("1", "", "6")))
    shared, alone = (float(ask(f"{head},recompute\nh100,megatron,gpt3-175b,{n},4,8,1,1,{2 * n // 8},fp8,none\n")[0]["predicted"]) for n in (256, 32))
    gradients = shared - alone  # one replica exchanges none
    # 8 micro-batches, 8 stages: (8 + 7) / (8 + 7/6) times the time of passes, 1.64 at most, and gradients of five chunks of six hide
    assert open_["predicted"] == one["predicted"] and "assumed vpp 1" in open_["status"], open_
    assert 1.35 < ends(one)[1] / ends(six)[1] < 1.64 + gradients / ends(six)[1], (one, six)
    assert ends(open_)[0] < ends(six)[1] and ends(open_)[2] / ends(open_)[0] > 1.2 * ends(one)[2] / ends(one)[0], (open_, six)
    benchmark = ask(f"submitter,{head}\nA,h100,megatron,gpt3-175b,256,4,8,,1,64,fp8\n")[0]
    assert benchmark["predicted"] == six["predicted"] and "assumed vpp 6" in benchmark["status"], benchmark
    odd = ask(f"submitter,{head}\nA,h100,megatron,gpt3-175b,256,4,8,,1,72,fp8\n")[0]  # nine micro-batches come in no rounds of eight
    assert "vpp" not in odd["status"], odd
    for device, times in (("h100", 1.5), ("a100-80-sxm", 1)):  # products in 8 bits
        said, silent = ask(f"{head},inter_node_gbit_per_s\n" + "".join(f"{device},megatron,gpt3-175b,256,4,8,6,1,64,{precision},1600\n" for precision in ("bf16", "")))
        widths = [math.log(ends(row)[2] / ends(row)[0]) for row in (said, silent)]
        assert silent["predicted"] == said["predicted"] and abs(widths[1] / widths[0] - times) < 0.01, (said, silent)


def test_assumed_framework():
    """A table of how models are shared is Megatron's of the device's time; where no cell says so, the status names it. Named, it is the same step."""
    head = "device,model,tp,n_gpu,micro_batch,global_batch,framework,zero_stage\n"
    for device, zero, framework in (("h100-80-sxm", "", "megatron-core"), ("a100-80-sxm", "", "megatron-eager"), ("a100-80-sxm", "1", "megatron-deepspeed")):
        assumed, named = ask(head + "".join(f"{device},llama2-7b,2,8,1,16,{word},{zero}\n" for word in ("", framework)))
        assert f"assumed framework {framework}" in assumed["status"] and "framework" not in named["status"], (assumed["status"], named["status"])
        assert assumed["predicted"] == named["predicted"]


def test_sizes_in_names():
    """A name is the same however written, but a point is not nothing: 1.3 billion parameters are not 13 billion."""
    names = ["gpt3_1.3b", "GPT3-1.3B", "gpt3_13b", "GPT-3 13B (ours)", "llama3-8b", "LLAMA3_8B"]
    rows = ask("model,device,n_gpu,micro_batch,global_batch\n" + "".join(f"{name},h100-80-sxm,8,1,64\n" for name in names))
    small, also_small, large, also_large, llama, also_llama = (float(row["predicted"]) for row in rows)
    assert small == also_small and large == also_large and llama == also_llama
    assert 4 < large / small < 15  # ten times the parameters; the small one waits for its host
    walked = [json.loads(run("predict", name, "--on", "h100-80-sxm", "--set", "micro_batch=1", "--format", "json").stdout)["step"]["walked_ns"]
              for name in ("gpt3_1.3b", "gpt3_13b", "GPT3-13B")]
    assert 5 < walked[1] / walked[0] < 15 and walked[1] == walked[2]


def seconds(**changes):
    keys = HEAD.strip().split(",")
    base = dict(zip(keys, "A100-SXM4-80GB,64,3072,32,32,2048,51200,2,4,8,2,256,fp16,full".split(",")))
    base.update({key: str(value) for key, value in changes.items()})
    row = ask(",".join(base) + "\n" + ",".join(base.values()) + "\n")[0]
    assert row["predicted"], row["status"]
    return float(row["predicted"]), float(row["memory_bytes"])


def test_layers_of_sizes():
    """Stages hold equally many layers, which rounded sizes hide: the layers of BLOOM's search, which its published TFLOP/s give
    (96 x 2048 x 2048 samples' tokens x layers x 14400^2 / (seconds x devices))."""
    published = ((4, "200B", 80), (6, "194B", 78), (7, "191B", 77), (9, "205B", 81), (11, "195B", 77), (12, "183B", 72))
    rows = ask("device,framework,hidden,size,n_gpu,tp,pp,micro_batch,global_batch\n" +
               "".join(f"a100-80-sxm,megatron,14400,{size},{8 * pp},8,{pp},1,64\n" for pp, size, _ in published))
    for row, (pp, size, layers) in zip(rows, published):
        assert f"assumed {layers} layers, from the size" in row["status"] and "vocab" not in row["status"], (pp, size, row)


def test_directions():
    base, memory = seconds()
    assert seconds(recompute="none")[0] < base and seconds(recompute="none")[1] > memory
    assert seconds(layers=64)[0] > 1.7 * base
    assert seconds(zero_stage=1)[1] < memory
    bubble = seconds(global_batch=64)[0] / 64 - base / 256  # fewer micro-batches: more of the step is the bubble
    assert bubble > 0
    assert seconds(global_batch=64, vpp=2)[0] < seconds(global_batch=64)[0]


def test_units():
    text = HEAD.strip() + ",iter_ms\nA100-SXM4-80GB,64,3072,30,32,2048,51200,1,1,64,8,512,fp16,full,3566.5\n"
    row = ask(text)[0]
    assert row["unit"] == "ms" and abs(float(row["predicted"]) / 3566.5 - 1) < 0.5
    text = HEAD.strip() + ",tokens_per_s_per_gpu\nA100-SXM4-80GB,64,3072,30,32,2048,51200,1,1,64,8,512,fp16,full,4594\n"
    rate = ask(text)[0]
    assert rate["unit"] == "tokens_per_s_per_gpu"
    assert abs(float(rate["predicted"]) * float(row["predicted"]) / 1e3 * 64 / (512 * 2048) - 1) < 1e-9
    assert float(rate["low"]) < float(rate["predicted"]) < float(rate["high"])


def test_reasons():
    bad = {
        "nope,64,3072,30,32,2048,51200,1,1,64,8,512,fp16,full": "unknown device",
        "A100-SXM4-80GB,64,,30,32,2048,51200,1,1,64,8,512,fp16,full": "hidden is missing",
        "A100-SXM4-80GB,64,3072,30,32,2048,51200,1,1,63,8,512,fp16,full": "n_gpu 64 is not",
        "A100-SXM4-80GB,64,3072,30,32,2048,51200,1,1,64,8,512,int3,full": "unknown precision",
        "A100-SXM4-80GB,64,3072,30,24,2048,51200,16,1,4,8,512,fp16,full": "tp 16 does not divide",
        "A100-SXM4-80GB,64,3072,30,32,2048,51200,1,32,2,8,512,fp16,full": "expected no more stages",
    }
    for row, reason in bad.items():
        answer = ask(HEAD + row + "\n", warn=True)[0]
        assert answer["predicted"] == "" and reason in answer["status"], (row, answer["status"])
    done = run("predict", "--kind", "step", "--rows", "/dev/null", status=3)
    assert done.stderr.count("\n") == 1
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        file.write("a,b\n1,2\n")
        file.flush()
        assert "expected a column" in run("predict", "--kind", "step", "--rows", file.name, status=3).stderr


def test_names():
    """Models of the catalogue as tables write them."""
    text = "gpu,n_gpu,model,seq,tp,pp,micro_batch,global_batch,precision\n"
    for name in ("LLAMA3_70B", "llama3.1-70b", "Qwen3_30B_a3B (tokendrop)", "gpt3-175b", "DeepSeekV3", "mpt-7b"):
        row = ask(text + f"H100,64,{name},2048,8,1,1,64,bf16\n")[0]
        assert row["predicted"], (name, row["status"])


    # as others write them; the one beside it is what the catalogue calls it
    for name, known in (("Llama-3.1-405B", "llama3.1-405b"), ("meta-llama/Llama-3.1-8B-Instruct", "llama3.1-8b"),
                        ("GPT-3 175B", "gpt3_175b"), ("Mixtral 8x7B", "mixtral-8x7b"), ("Qwen2.5 72B", "qwen2.5-72b"),
                        ("deepseek-ai/DeepSeek-V3-Base", "deepseek-v3"), ("Nemotron-4 340B", "nemotron4-340b"),
                        ("bert-large-uncased", "bert_large"), ("Mistral-7B-v0.1", "mistral-7b"), ("Qwen3 MoE 30B", "qwen3-30b-a3b"),
                        ("allenai/OLMo-2-1124-13B", "olmo2-13b"), ("HuggingFaceTB/SmolLM3-3B", "smollm3-3b"), ("Llama 2 34B", "codellama-34b")):
        rows = ask(text + "".join(f"H100,64,{n},2048,1,1,1,64,bf16\n" for n in (name, known)))
        assert rows[0]["predicted"] == rows[1]["predicted"] != "", (name, rows)
    rows = ask("gpu,model,batch,precision\nA100,ResNet-50,32,fp16\nA100,resnet50,32,fp16\nA100,vgg,32,fp32\n")
    assert rows[0]["predicted"] == rows[1]["predicted"] and all(row["predicted"] for row in rows)
    # a size alone is a decoder of that size, known less well; a mixture's still less
    rows = ask(text + "H100,64,llama2-7b,4096,1,1,1,64,bf16\nH100,64,our-7B,4096,1,1,1,64,bf16\n"
               "H100,64,our-8x9B,4096,1,1,1,64,bf16\nH100,64,whatever,4096,1,1,1,64,bf16\n", warn=True)
    assert abs(float(rows[1]["predicted"]) / float(rows[0]["predicted"]) - 1) < 0.3
    assert float(rows[1]["high"]) / float(rows[1]["low"]) > 1.5 * float(rows[0]["high"]) / float(rows[0]["low"])
    assert "assumed a decoder of 7 billion" in rows[1]["status"]
    assert "8 experts of" in rows[2]["status"] and float(rows[2]["high"]) / float(rows[2]["low"]) > 4
    assert "unknown model" in rows[3]["status"]


def test_spellings():
    """The same question in other words."""
    plain = ask("device,n_gpu,model,seq,tp,pp,dp,micro_batch,global_batch,precision,recompute,zero_stage\n"
                "H100,64,llama3-70b,8192,4,2,8,1,128,bf16,full,1\n")[0]
    others = {
        "GPU,World Size,Model Name,seqlen_ignored,Sequence Length,TP,PP,DP,MBS,GBS,dtype,activation_checkpointing,ZeRO":
            "NVIDIA H100 80GB HBM3,64,Meta-Llama-3-70B,x,8k,4,2,8,1,128,bfloat16,True,ZeRO-1",
        "gpu_type,num_nodes,gpus_per_node,model,max_seq_len,tensor_model_parallel_size,pipeline_model_parallel_size,"
        "micro_batch_size,global_batch_size,precision,recompute_granularity,use_distributed_optimizer":
            "h100,8,8,LLAMA3_70B,8192,4,2,1,128,bf16-mixed,full,True",
        "platform,nodes,model,seq_length,tp_size,pp_size,mbs,gbs,precision,ac,sharding":
            "dgx_h100,8,llama3_70b,8192,4,2,1,128,BF16,full,zero1"}
    for head, row in others.items():
        answer = ask(head + "\n" + row + "\n")[0]
        assert answer["predicted"] == plain["predicted"], (head, answer["status"], answer["predicted"])


def test_half_precision_is_autocast():
    """PyTorch's GradScaler refuses gradients in half precision, so that training in fp16 is autocast; it was answered with parameters, gradients and
    Adam's states of two bytes each. Inference in fp16 and adapters beside frozen weights are what they say."""
    head = "device,model,framework,precision,micro_batch,mode,lora\n"
    same = ask(head + "".join(f"v100-sxm2-16,bert_large,pytorch,{name},8,{rest}\n" for rest in ("train,", "inference,", "train,8") for name in ("fp16", "amp")))
    assert same[0]["predicted"] == same[1]["predicted"] and "took amp for fp16" in same[0]["status"], same[:2]
    assert same[2]["predicted"] != same[3]["predicted"] and same[4]["predicted"] != same[5]["predicted"], same[2:]
    words = ("predict", "bert_large", "--on", "v100-sxm2-16", "--set", "micro_batch=8", "--format", "json", "--set")
    asked = [json.loads(run(*words, f"precision={name}").stdout) for name in ("fp16", "amp")]
    assert asked[0]["scenarios"] == asked[1]["scenarios"] and any("autocast" in note for note in asked[0]["notes"]), asked[0]["notes"]


def test_sharded_pytorch():
    """"PyTorch FSDP" was read as PyTorch without sharding, since the longer word counted."""
    row, plain = ask("device,model,framework,n_gpu,micro_batch,precision,recompute\n" +
                     "".join(f"a100-80-sxm,llama2-13b,{name},64,1,bf16,full\n" for name in ("PyTorch FSDP", "fsdp")))
    assert row["predicted"] == plain["predicted"] and row["fits"] == "yes", (row, plain)


def test_rows_known_less():
    """Adapters that no column describes and products in 4 bits are answered, and the interval is wider."""
    head = "device,model,framework,n_gpu,tp,micro_batch,global_batch,precision,task,lora\n"
    rows = ask(head + "".join(f"{device},llama3-70b,nemo,8,8,1,32,{precision},{task}\n" for device, precision, task in
                              (("H100", "bf16", "lora,16"), ("H100", "bf16", "lora,"), ("GB200", "mxfp8", "pretrain,"), ("GB200", "nvfp4", "pretrain,"))))
    wide = [math.log(float(row["high"]) / float(row["low"])) for row in rows]
    assert wide[1] > 1.3 * wide[0] and wide[3] > 1.2 * wide[2], (wide, rows)
    assert "adapters not counted" in rows[1]["status"] and "4-bit" in rows[3]["status"], rows


def test_attention_that_nobody_says():
    """BERT's usual modules multiply and take a softmax; a column says otherwise, and so does a compiled step, for which nothing is open."""
    head = "device,model,framework,precision,micro_batch,sequence,execution,attention\n"
    rows = ask(head + "".join(f"a100-80-sxm,bert_large,pytorch,amp,8,384,{rest}\n" for rest in
                              ("eager,", "eager,math", "eager,fused", "compiled,", "compiled,fused")))
    times, wide = [float(row["predicted"]) for row in rows], [float(row["high"]) / float(row["low"]) for row in rows]
    assert times[0] == times[1] > 1.1 * times[2] and times[3] == times[4], times
    assert wide[0] > wide[1] and wide[3] == wide[4], wide


def test_measured():
    """A time, or a rate: the fit that is made of either says the same."""
    head = "device,n_gpu,model,seq,tp,dp,micro_batch,global_batch,precision"
    rows = [f"H100,{8 * n},{model},4096,2,{4 * n},1,{batch},bf16" for n in (1, 2) for batch in (32, 64)
            for model in ("llama2-7b", "llama2-13b", "mpt-7b")]
    times = [float(answer["predicted"]) * 1.25 for answer in ask(head + "\n" + "\n".join(rows) + "\n")]
    batches, gpus = [int(row.split(",")[7]) for row in rows], [int(row.split(",")[1]) for row in rows]
    columns = {"step_time": times, "Iteration time (ms)": [1e3 * t for t in times],
               "tokens/s": [b * 4096 / t for b, t in zip(batches, times)],
               "tokens/s/GPU": [b * 4096 / t / n for b, t, n in zip(batches, times, gpus)],
               "samples/s": [b / t for b, t in zip(batches, times)], "steps_per_s": [1 / t for t in times]}
    with tempfile.TemporaryDirectory() as folder:
        table, fit = pathlib.Path(folder) / "t.csv", pathlib.Path(folder) / "fit.json"
        for name, values in columns.items():
            # the derived columns are somebody else's figures, and not looked at beside the others
            table.write_text(f"{head},MFU,TFLOPs/GPU,{name}\n" + "".join(
                f"{row},{i},{99 - i},{value!r}\n" for i, (row, value) in enumerate(zip(rows, values))))
            score = json.loads(run("fit", "--kind", "step", table, "-o", fit, "--format", "json").stdout)["score"][0]
            assert abs(score["formula_mape"] - 0.2) < 1e-3, (name, score)
            answers = ask(table.read_text(), "--fit", fit)
            for answer, value in zip(answers, values):
                assert abs(float(answer["predicted"]) / value - 1) < 0.06, (name, answer["unit"])
                assert float(answer["low"]) < float(answer["predicted"]) < float(answer["high"])
    # the number of a step is no time
    row = ask(head + ",step,MFU\n" + rows[0] + ",1000,0.4\n")[0]
    assert row["unit"] == "mfu_pct" and row["status"].startswith("assumed framework megatron-core"), row


def test_memory():
    """A step that cannot fit says so."""
    row = ask(HEAD + "A100-SXM4-80GB,8,12288,96,96,2048,51200,1,1,8,1,8,fp16,full\n")[0]
    assert row["status"].startswith("does not fit") and row["fits"] == "no" and float(row["memory_bytes"]) > 16 * 174e9
    # the answer's first line names the rows, and the advice holds: the row with it fits
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        file.write("device,model,n_gpu,micro_batch,precision\nA100-SXM4-80GB,gpt2,1,4,bf16\nA100-SXM4-80GB,gpt2,1,4096,bf16\n"
                   "A100-SXM4-80GB,llama3-70b,1,1,bf16\n")
        file.flush()
        done = run("predict", "--kind", "step", "--rows", file.name, "--format", "table")
    assert done.returncode == 1, done
    first = " ".join(done.stdout.split("\n\n")[0].split())
    assert first.startswith("Does not fit: 2 of 3 rows (2, 3). Row 2 needs "), first
    advice = re.search(r"It would fit with micro_batch=(\d+)\.", first)
    tried = ask("device,model,n_gpu,micro_batch,precision\n" + "".join(
        f"A100-SXM4-80GB,gpt2,1,{batch},bf16\n" for batch in (int(advice[1]), 2 * int(advice[1]))))
    assert [row["fits"] for row in tried][0] == "yes" and tried[1]["fits"] != "yes", tried
    # rows that were measured ran: the formula is what is wrong, and the answer is not "no"
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        file.write("device,model,n_gpu,micro_batch,precision,step_time_s\nA100-SXM4-80GB,llama3-70b,1,1,bf16,1.5\n")
        file.flush()
        done = run("predict", "--kind", "step", "--rows", file.name, "--format", "json")
    assert done.returncode == 0 and [one["code"] for one in json.loads(done.stdout)["warnings"]] == ["may_not_fit"], done


def test_one_batch():
    """A batch that is not given is the same in rows and options, and said."""
    for model, device in (("resnet50", "v100-sxm2-16"), ("gpt2", "h100-80-sxm"), ("bert_large", "a100-40-sxm")):
        row = ask(f"device,model,framework,precision,recompute\n{device},{model},pytorch,fp16,none\n")[0]
        words = ("predict", model, "--on", device, "--set", "precision=fp16", "--set", "recompute=none", "--format", "json")
        batch = re.search(r"No batch was given: micro-batch (\d+) is assumed, the largest", " ".join(json.loads(run(*words).stdout)["summary"]))
        assert f"assumed micro_batch {batch[1]} (the largest power of two that fits)" in row["status"], (row, batch)


def test_fit():
    rows = []
    for layers in (12, 16, 24, 32):
        for micro in (1, 2, 4):
            rows.append(f"A100-SXM4-80GB,8,2048,{layers},16,2048,51200,1,1,8,{micro},64,bf16,full")
    answers = ask(HEAD + "\n".join(rows) + "\n")
    with tempfile.TemporaryDirectory() as folder:
        table, fit = pathlib.Path(folder) / "t.csv", pathlib.Path(folder) / "fit.json"
        # a machine whose every step takes 1.4 times as long as the formula says
        table.write_text(HEAD.strip() + ",step_time_s\n" + "".join(
            f"{row},{1.4 * float(a['predicted'])}\n" for row, a in zip(rows, answers)))
        done = json.loads(run("fit", "--kind", "step", table, "-o", fit, "--format", "json").stdout)
        assert done["score"][0]["mape"] < 0.025 < 0.25 < done["score"][0]["formula_mape"]
        fitted = ask(HEAD + "\n".join(rows) + "\n", "--fit", fit)
        for before, after in zip(answers, fitted):
            assert abs(float(after["predicted"]) / float(before["predicted"]) / 1.4 - 1) < 0.05
            assert after["rung"] == "calibrated"
        fit.write_text(fit.read_text()[:200])
        assert run("predict", "--kind", "step", "--rows", table, "--fit", fit, status=3).stderr.count("\n") == 1


def test_fit_keeps_the_formula():
    """Rows that are the formula's, but for three that took three times as long, change nothing much."""
    rows = [f"A100-SXM4-80GB,{8 * dp},{hidden},{layers},16,2048,51200,{tp},1,{8 * dp // tp},{micro},64,bf16,full"
            for hidden, layers in ((2048, 12), (2048, 24), (4096, 16), (4096, 32), (6144, 24))
            for tp, dp in ((1, 1), (2, 1), (4, 2)) for micro in (1, 2)]
    answers = ask(HEAD + "\n".join(rows) + "\n")
    with tempfile.TemporaryDirectory() as folder:
        table, fit = pathlib.Path(folder) / "t.csv", pathlib.Path(folder) / "fit.json"
        noise = [0.97, 1.04, 1.01, 0.95, 1.06, 0.99, 1.02]
        times = [float(a["predicted"]) * noise[i % 7] * (3 if i % 11 == 5 else 1) for i, a in enumerate(answers)]
        table.write_text(HEAD.strip() + ",step_time_s\n" + "".join(f"{r},{t}\n" for r, t in zip(rows, times)))
        run("fit", "--kind", "step", table, "-o", fit)
        for before, after in zip(answers, ask(HEAD + "\n".join(rows) + "\n", "--fit", fit)):
            assert abs(float(after["predicted"]) / float(before["predicted"]) - 1) < 0.03


def memory_of(*words):
    answer = json.loads(run("predict", *words, "--format", "json").stdout)
    strict_schema.hold(answer, "step")
    return {kind["kind"]: kind["held_bytes"] for kind in answer["memory"]}


def test_frameworks():
    """One question has one answer, asked as a row or alone; the framework is said, and the closest where there is none."""
    ask_alone = ("predict", "llama3-8b", "--on", "dgx-h100*2", "--set", "dp=4", "--set", "tp=4", "--set", "micro_batch=2",
                 "--set", "global_batch=32", "--format", "json")
    for name, means in (("megatron", "megatron-core"), ("Megatron-LM", "megatron-lm"), ("NeMo 24.07", "megatron-core"), ("NeMo AutoModel", "automodel"), ("torchtitan", "fsdp"), ("DeepSpeed", "deepspeed"), ("GPT-NeoX", "megatron-deepspeed")):
        answer = json.loads(run(*ask_alone, "--set", f"framework={name}").stdout)
        row = ask("model,machine,n_gpu,tp,dp,micro_batch,global_batch,framework\n" + f"llama3-8b,dgx-h100,16,4,4,2,32,{name}\n")[0]
        assert answer["framework"] == means
        assert abs(answer["step"]["step_ns"] / 1e9 / float(row["predicted"]) - 1) < 1e-6, (name, row)
    rows = ask("model,device,n_gpu,framework\n" + "".join(f"llama3-8b,h100-80-sxm,8,{name}\n" for name in ("gpt-neox", "Megatron-DeepSpeed")))
    assert "taken for Megatron-DeepSpeed of 2022" in rows[0]["status"] and "taken for" not in rows[1]["status"], rows
    plain, named = (json.loads(run(*ask_alone, *more).stdout) for more in ((), ("--set", "framework=pytorch")))
    assert plain["step"] == named["step"] and any("framework pytorch" in note for note in plain["notes"])
    assert "the closest is 'deepspeed'" in run(*ask_alone, "--set", "framework=deepsped", status=2).stderr
    assert "framework=nemo" in run("models", "llama3-8b", "--set", "framework=nemo", status=2).stderr


def test_padding_of_mlperf():
    """MLPerf's BERT skips the half of its words that is padding: Krell et al. 2021 gain twice the speed, packed. Others do not."""
    head = "model,device,n_gpu,micro_batch,global_batch,precision,framework,seq,task\n"
    rows = ask(head + "".join(f"bert,h100-80-sxm,8,64,512,bf16,megatron,{seq},{task}\n" for seq, task in
                              ((512, ""), (512, "MLPerf training"), (256, ""), (128, ""), (128, "MLPerf training"))))
    plain, suite, half, short, short_suite = (float(row["predicted"]) for row in rows)
    assert 1.7 < plain / suite < 2.2 and half <= suite and short == short_suite
    assert "256 words without padding" in rows[1]["status"] and "padding" not in rows[0]["status"] + rows[4]["status"]
    result = ask("submitter,benchmark,accelerator,n_accel,global_batch\nsomebody,bert,NVIDIA H100-SXM5-80GB,8,512\n")[0]
    assert "without padding" in result["status"]


def test_stages_hold_what_they_keep():
    """The first stage holds as many micro-batches as there are stages (Narayanan et al. 2021), the last one and the loss."""
    head = "model,device,n_gpu,tp,pp,dp,micro_batch,global_batch,precision,recompute,framework\n"
    few, many = ask(head + "gpt3_6.7b,a100-80-sxm,8,1,8,1,1,8,bf16,none,megatron\ngpt3_6.7b,a100-80-sxm,8,1,8,1,1,64,bf16,none,megatron\n")
    assert few["memory_bytes"] == many["memory_bytes"] and few["last_rank_bytes"] == many["last_rank_bytes"]
    layer = 34 * 2048 * 4096 + 4 * 32 * 2048  # Korthikanti et al. 2022, equation 1 without attention's scores, and a scale a row
    logits = 6 * 2048 * 50257  # as they are, and their softmax in single precision
    assert 0.9 < (float(many["memory_bytes"]) - float(many["last_rank_bytes"]) + logits) / (7 * 4 * layer) < 1.1


def test_memory_beside_tensors():
    """Workspaces of cuBLAS are 32 MiB from Hopper on, 8,519,680 bytes before (PyTorch's CublasHandlePool.cpp); Transformer Engine has a third, of 4 MiB before Hopper (its cpp_extensions/gemm.py).
    Functional tests of Megatron-LM hold 75 to 80 MB more on H100 than on A100."""
    libraries = {device: memory_of("gpt3_1.3b", "--on", device, "--set", "framework=megatron")["libraries"] for device in ("dgx-h100", "hgx-a100-80")}
    assert libraries == {"dgx-h100": 3 * 2**25, "hgx-a100-80": 2 * 8519680 + 2**22}, libraries
    # grouped products of experts run on four streams, each with a workspace of its own (TransformerEngine, multi_streams.h)
    assert memory_of("qwen3-30b-a3b", "--on", "dgx-h100", "--set", "framework=megatron,ep=8,dp=8")["libraries"] == 7 * 2**25
    # nvidia-smi shows the context of the process besides (1,573 MiB on an A100 in BLOOM's chronicles), NCCL's buffers among several, and what the
    # allocator caches where it leaves holes: a tenth of the tensors, but no more than the device has; what others' processes hold is not known
    head, others = "model,device,n_gpu,dp,framework,precision\n", []
    for row in ask(head + "gpt2,a100-80-sxm,1,1,megatron-deepspeed,fp16\ngpt2,a100-80-sxm,8,8,megatron-deepspeed,fp16\ngpt2,mi300x,1,1,pytorch,bf16\n"):
        others.append(float(row["process_bytes"] or "nan") - 1.1 * float(row["memory_bytes"]))
    assert 0.95 < others[0] / (1573 * 2**20) < 1.05 and others[1] > others[0] and math.isnan(others[2]), others
    rows = "".join(f"gpt3_6.7b,a100-80-sxm,16,16,pytorch,amp,2,{size},{again}\n" for size, again in ((20, "full"), (1, "none")))
    full, plain = ask(head.strip() + ",zero_stage,micro_batch,recompute\n" + rows)
    assert float(full["memory_bytes"]) < float(full["process_bytes"]) <= 80 * 2**30, full
    assert float(plain["process_bytes"]) - float(plain["memory_bytes"]) < 2e9, plain
    asked = ("llama3-8b", "--on", "dgx-h100", "--set", "dp=8", "--set", "precision=bf16", "--set", "recompute=none", "--set", "framework=megatron-deepspeed")
    half = memory_of(*asked[:5], "--set", "precision=fp16", *asked[7:])["gradients"]
    assert memory_of(*asked)["gradients"] == 3 * half == 3 * 2 * 8030261248  # BLOOM's chronicles: 4 bytes a parameter more in bf16


def test_products_in_fp8_keep_less():
    """Transformer Engine keeps inputs of products in FP8: of a layer's width those of QKV, of the first and (four widths) of the second product
    behind it lose a byte each; attention keeps its output in half precision, and the product behind it another in FP8."""
    asked = ("gpt3_1.3b", "--on", "dgx-h100", "--set", "framework=megatron", "--set", "recompute=none", "--set", "micro_batch=1", "--set", "precision=")
    half, small = (memory_of(*asked[:-1], asked[-1] + name)["activations"] for name in ("bf16", "fp8"))
    assert half - small == (1 + 1 + 4 - 1) * 24 * 2048 * 2048, (half, small)


def test_samples_at_once():
    """Eight samples in four micro-batches are two at once: four of eight devices share one; LoRA's weights alone then fit into half of each."""
    rows = ask("model,device,n_gpu,global_batch,grad_accum\nllama2_70b_lora,h100-80-sxm,8,8,4\ngpt3_175b,h100-80-sxm,256,1024,256\n")
    assert "assumed tp 4, pp 1" in rows[0]["status"] and "assumed data parallelism" in rows[0]["status"], rows[0]
    assert "assumed tp 8, pp 8" in rows[1]["status"], rows[1]
    # 96 samples at once on 1,536 devices are 16 a sample, of which each would hold 66 GB of GPT-3's weights and gradients: 32 share two, as
    # submissions to MLPerf training v4.1 have it (tp 4, pp 8, micro-batch 2)
    row = ask("model,device,n_gpu,global_batch,grad_accum,framework\ngpt3_175b,h100-80-sxm,1536,3072,32,megatron\n")[0]
    said = ask("model,device,n_gpu,global_batch,tp,pp,dp,micro_batch,framework\ngpt3_175b,h100-80-sxm,1536,3072,8,4,48,2,megatron\n")[0]
    assert "assumed tp 8, pp 4" in row["status"] and row["memory_bytes"] == said["memory_bytes"], (row, said)


def test_unsaid_shares():
    """Megatron has no ZeRO 3: by default devices share GPT-3's layers. Llama 3 405B's 126 layers are interleaved
    over 16 stages (arXiv 2407.21783, section 3.3.2): what only "interleaved" said was answered with a pipeline that is not."""
    rows = ask("model,device,n_gpu,global_batch,framework\n" + "".join(f"gpt3_175b,h100-80-sxm,4608,1152,{f}\n" for f in ("Megatron-LM", "torchtitan")))
    assert "assumed tp 8, pp 4" in rows[0]["status"], rows[0]
    assert "pp" not in rows[1]["status"], rows[1]
    head = "model,device,n_gpu,tp,pp,dp,global_batch,framework,schedule\n"
    rows = ask(head + "".join(f"llama3.1-405b,h100-80-sxm,8192,8,16,64,2048,FSDP,{schedule}\n" for schedule in ("1f1b", "interleaved")))
    assert "assumed vpp 4" in rows[1]["status"] and float(rows[1]["predicted"]) < 0.9 * float(rows[0]["predicted"]), rows
    # 128 chunks, embedding and head two of them (Megatron-Bridge's recipe of 256 GB200); nobody cuts 126 layers into 144
    head = "model,system,n_gpu,tp,pp,vpp,micro_batch,global_batch,precision,framework\n"
    rows = ask(head + "".join(f"LLAMA3.1_405B,DGX-GB200,256,4,16,{vpp},1,1536,MXFP8,Megatron-Bridge\n" for vpp in (4, 8, 9)), warn=True)
    four, eight = (float(row["predicted"]) for row in rows[:2])
    assert 0.9 * four < eight < four and "unknown machine" not in rows[0]["status"], rows
    assert not rows[2]["predicted"] and "no more chunks" in rows[2]["status"], rows[2]
    # a machine of other devices lends its links, and the answer says so
    rows = ask("model,device,machine,n_gpu,micro_batch,precision\n" + "".join(f"gpt2,{device},dgx-h100,8,1,fp16\n" for device in ("v100-sxm2-32", "h100-80-sxm")))
    said = ["dgx-h100 has h100-80-sxm: taken for its links alone" in row["status"] for row in rows]
    assert said == [True, False], rows


def test_published_steps():
    """Megatron-LM hides exchanges only where it is told to: 40.0 s of GPT-3 on 256 A100 (arXiv 2402.15627, table 2). DeepSeek-V3 sends a
    token to at most 4 nodes, once to each: 180 thousand device-hours for 10^12 tokens by DualPipe (arXiv 2412.19437, sections 1 and 3.2.1), 19.9 s a step."""
    head = "model,layers,hidden,heads,vocab,seq,device,n_gpu,tp,pp,vpp,ep,micro_batch,global_batch,precision,framework,schedule\n"
    rows = ask(head + "gpt3-175b,96,12288,128,64000,2048,A100-80GB-SXM,256,8,8,6,,1,768,bf16,Megatron-LM,\n"
               "DeepSeek-V3,,,,,4096,H800,2048,1,16,,64,1,15360,fp8,HAI-LLM,dualpipe\n")
    for row, seconds, off in zip(rows, (40.0, 19.9), (0.12, 0.35)):
        assert abs(float(row["predicted"]) / seconds - 1) < off and float(row["low"]) < seconds < float(row["high"]), row


def test_memory_of_torchtitan():
    """The published peaks of eight H100, eager loss: what it forms, what selective recomputation keeps, and gathered layers are counted."""
    if not DATA.is_dir():
        return
    with open(DATA / "torchtitan_fsdp.csv") as file:
        measured = [float(row["mem_gib"]) for row in csv.DictReader(file)][:10]
    answers = list(csv.DictReader(run("predict", "--kind", "step", "--rows", DATA / "torchtitan_fsdp.csv", "--format", "csv").stdout.splitlines()))
    for peak, answer in zip(measured, answers):
        assert 0.85 < float(answer["memory_bytes"]) / 2**30 / peak < 1.05 and answer["fits"] == "yes", (peak, answer)


def test_messages_are_scattered():
    """Megatron's tensor-parallel ranks send a part of a message each, and gather it over NVLink (Narayanan et al. 2021, section 4.1)."""
    def pass_s(passes, *words):
        done = run("predict", "gpt_7.5b", "--on", "hgx-a100-80*2", "--set", "framework=megatron-eager", "--set", "pp=2",
                   "--set", "micro_batch=2", "--set", "global_batch=64", *words, "--format", "json")
        return {one["part"]: one["time_ns"] for one in json.loads(done.stdout)["parts"]}["pipeline exchange"] / passes / 1e9
    message = 2 * 2048 * 4096 * 2  # micro-batch, words, width, half precision
    alone = pass_s(2 * (4 + 1), "--set", "tp=1", "--set", "dp=8")
    part = pass_s(2 * (32 + 1), "--set", "tp=8", "--set", "sequence_parallel=1")  # words are split already
    scattered = pass_s(2 * (32 + 1), "--set", "tp=8")
    assert 1 / 8 < part / alone < 1 / 6, (part, alone)
    gathered = 7 / 8 * message / 300e9  # NVLink of the A100, one way
    assert gathered < scattered - part < 3 * gathered, (scattered, part, gathered)


def test_beside_a_walk():
    """A walk is checked by the closed form, says what it rests on, and that a step does not fit."""
    def ask_walk(*words):
        done = run("predict", *words, "--format", "json")
        answer = json.loads(done.stdout)
        strict_schema.hold(answer, "predict")
        assert answer["warnings"] == [] or answer["warnings"][0]["text"] in done.stderr, done.stderr
        return answer, answer["closed_form"], "not fit: each rank" in done.stderr

    shared = ("llama3-8b", "--on", "dgx-h100", "--set", "dp=8", "--set", "precision=bf16", "--set", "optimizer=adam", "--set", "recompute=none")
    fused = ("--set", "update=fused")  # by lists of tensors the update would form a share of the states more
    answer, closed, warned = ask_walk(*shared, *fused)
    assert closed["low_ns"] < closed["step_ns"] < closed["high_ns"]
    assert abs(closed["ratio"] - 1) < 0.02  # two engines, one step
    assert warned and closed["memory_bytes"] > 8 * 8.03e9  # torch.optim keeps states as wide as parameters
    assert any("Check: the closed form" in note for note in answer["notes"])
    assert answer["warnings"][0]["code"] == "does_not_fit"
    saved = closed["memory_bytes"] - ask_walk(*shared, *fused, "--set", "zero_stage=1")[1]["memory_bytes"]
    assert abs(saved / (4 * 8.03e9 * 7 / 8) - 1) < 0.01  # of Adam's states a rank keeps an eighth
    whole, shared_states = (memory_of(*shared, "--set", "framework=megatron-deepspeed", "--set", f"zero_stage={stage}")["all"] for stage in (0, 1))
    assert whole > 16 * 8.03e9  # Rajbhandari et al. 2020: with a copy in single precision 16 bytes a parameter
    assert abs((whole - shared_states) / (16 * 8.03e9 * 7 / 8) - 1) < 0.01  # 20 bytes, or 4 + 16/d: Megatron Core user guide, Distributed Optimizer
    large = ("gpt3_13b", "--on", "h100-80-sxm", "--set")
    plain, adam = ask_walk(*large, "optimizer=sgd"), ask_walk(*large, "optimizer=adam", *fused)
    assert plain[2] and adam[2]
    assert abs((adam[1]["memory_bytes"] - plain[1]["memory_bytes"]) / (8 * 12.85e9) - 1) < 0.01  # two moments in fp32
    _, closed, warned = ask_walk(*large, "mode=inference")
    assert not warned and abs(closed["memory_bytes"] / (4 * 12.85e9) - 1) < 0.01
    assert ask_walk("gpt3_13b", "--on", "v100-sxm2-16", "--set", "mode=inference")[2]
    answer, _, warned = ask_walk("resnet50", "--on", "v100-sxm2-16", "--set", "micro_batch=1")
    assert not warned and not any("closed form" in note for note in answer["notes"])
    assert any("optimizer sgd" in note for note in answer["notes"])  # Adam is for sequences, unless told else
    unsaid, said = (json.loads(run("predict", "llama3-8b", "--on", "dgx-h100", "--set", "dp=8", "--set", "recompute=full", "--set", "precision=bf16", *more, "--format", "json").stdout)
                    for more in ((), ("--set", "optimizer=adam")))
    assert unsaid["step"] == said["step"] and any("optimizer adam" in note for note in unsaid["notes"])


def changed(words, *more):
    """The words with other settings: one that is set again takes the place of the first."""
    pairs = list(zip(more[::2], more[1::2]))
    keys = [value.split("=")[0] + "=" for option, value in pairs if option == "--set"]
    kept = [i for i, word in enumerate(words) if word != "--set" and not (words[i - 1] == "--set" and word.startswith(tuple(keys)))]
    return tuple(item for i in kept for item in (("--set", words[i]) if words[i - 1] == "--set" else (words[i],))) + tuple(more)


def test_model():
    """One question: its parts add up, its memory too, and the document is what the schema says."""
    words = ("predict", "llama3-70b", "--on", "dgx-h100*8", "--set", "tp=8", "--set", "pp=4", "--set", "dp=2", "--set",
             "global_batch=64", "--set", "precision=bf16", "--set", "recompute=full", "--set", "framework=megatron")
    answer = json.loads(run(*words, "--format", "json").stdout)
    strict_schema.hold(answer, "step")
    step = answer["step"]
    assert step["low_ns"] < step["step_ns"] < step["high_ns"]
    assert abs(sum(part["time_ns"] for part in answer["parts"]) - step["step_ns"]) <= len(answer["parts"])
    held = {kind["kind"]: kind["held_bytes"] for kind in answer["memory"]}
    assert abs(sum(held.values()) / held["all"] - 2) < 1e-9
    # 70.6e9 parameters, most of them on 32 ranks, in 2 bytes
    assert 70e9 / 32 * 2 < held["parameters"] < 1.2 * 70e9 / 32 * 2
    # at least as long as its operations at the peak: 8 a parameter and token
    assert step["step_ns"] / 1e9 > 8 * 70e9 * 64 * 8192 / (64 * 989e12)
    text = run(*words).stdout
    assert "bubble" in text and "What would help most" in text
    assert "Does not fit" in run(*changed(words, "--set", "recompute=none", "--set", "micro_batch=4")).stderr
    for extra, reason in ((("--set", "pp=64"), "at most its 64 devices"), (("--overheads", "none.json"), "closed form"),
                          (("--set", "vpp=4", "--set", "pp=1"), "vpp 4"), (("--on", "a100"), "expected one machine"),
                          (("--set", "ep=2"), "experts"), (("--set", "zero_stage=4"), "zero_stage")):
        done = run(*changed(words, *extra), status=2)
        assert reason in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_unread_columns():
    """A column with a slip in its name is named; an empty one says nothing. Samples that are no words have no tokens to count batches in."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "unread.csv"
        path.write_text("device,model,micro_bach,url,seq\na100-80-sxm,gpt2,4,,512\n")
        assert "warning: column micro_bach is not read" in run("predict", "--kind", "step", "--rows", path).stderr
        path.write_text("device,model,micro_batch,seq\na100-80-sxm,gpt2,4,512\n")
        assert "not read" not in run("predict", "--kind", "step", "--rows", path).stderr
        path.write_text("device,n_gpu,hidden,layers,heads,seq,vocab,tp,pp,dp,micro_batch,global_batch,precision,url,step_time_s\n"
                        + "".join(f"a100-80-sxm,8,{1024 * n},12,16,1024,50000,{t},1,{8 // t},2,{16 * n},bf16,there,{0.5 * n}\n" for n in (1, 2, 3) for t in (1, 2, 4)))
        assert "warning: column url is not read" in run("fit", "--kind", "step", path).stderr
        path.write_text("device,model,global_batch_tokens\nv100-sxm2-16,resnet50,65536\n")
        answers = list(csv.DictReader(run("predict", "--kind", "step", "--rows", path, "--format", "csv").stdout.splitlines()))
        assert float(answers[0]["predicted"]) > 0


def test_cells_without_effect():
    """A cell that changes nothing is named in its row's status; one that is followed is not."""
    shape = "device,n_gpu,hidden,layers,heads,seq,vocab,tp,pp,micro_batch,global_batch"
    sizes = "h100-80-sxm,8,1024,12,16,1024,50000,1,1,1,16"
    for names, cells, said in (("precision,task", "bf16,inference", "no effect: task inference"), ("precision,task", "bf16,pretrain", None),
                               ("precision,task", "bf16,sft", None), ("precision,zero_stage,fsdp", "bf16,3,0", "no effect: fsdp 0"),
                               ("precision,zero_stage,fsdp", "bf16,1,1", "zero_stage 1 counts"), ("precision,fsdp", "bf16,1", None),
                               ("precision,zero_stage,dist_opt", "bf16,0,1", "no effect: dist_opt 1"), ("precision,dist_opt", "bf16,1", None),
                               ("precision,zero_stage,zero_group", "bf16,3,some", "no effect: zero_group some"), ("precision,zero_stage,zero_group", "bf16,3,4", None),
                               ("precision,power_limit", "bf16,900", "no effect: power_limit 900"), ("precision,power_limit", "fp32,600", "no effect: power_limit 600"), ("precision,power_limit", "fp32,300", None),
                               ("precision,power_limit", "bf16,300", None), ("precision,topk", "bf16,2", "no effect without experts: topk 2"),
                               ("precision,experts,topk", "bf16,8,2", None)):
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
            file.write(f"{shape},{names}\n{sizes},{cells}\n")
            file.flush()
            done = run("predict", "--kind", "step", "--rows", file.name)
        status = next(csv.DictReader(done.stdout.splitlines()))["status"]
        assert (said in status) if said else ("no effect" not in status and "counts" not in status), (names, cells, status)


def test_family_is_no_operation():
    """A table of steps with a column "family", whose "moe" also names an operation, is one of steps without --kind."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "experts.csv"
        path.write_text("family,hidden,layers,heads,experts,topk,device,n_gpu,tp,ep,micro_batch,global_batch,seq\n"
                        "moe,4096,32,32,8,2,h100-80-sxm,64,1,8,1,128,4096\n")
        assert "read as --kind step" in run("predict", "--rows", path).stderr


def test_tables():
    """Every row of the published tables comes back; few are refused, and these say why."""
    if not DATA.is_dir():
        print("no shared data: skipped")
        return
    for name, least in (("vtrain_a100_single_node", 720), ("vtrain_a100_multi_node", 73), ("megatron_bridge", 71),
                        ("nvidia_dgxc_h100_scaling", 149), ("mosaicml_llm_foundry", 127), ("torchtitan_fsdp", 14),
                        ("literature_megatron", 18), ("neusight_model_latency", 42), ("mlperf_gpt3_175b_scaling", 20)):
        done = run("predict", "--kind", "step", "--rows", DATA / f"{name}.csv", "--format", "csv")
        answers = list(csv.DictReader(done.stdout.splitlines()))
        with open(DATA / f"{name}.csv") as file:
            asked = list(csv.DictReader(line for line in file if not line.startswith("#")))
        assert len(answers) == len(asked)
        assert sum(bool(a["predicted"]) for a in answers) >= least, name
        assert all(a["status"] for a in answers)


for test in [value for name, value in list(globals().items()) if name.startswith("test_")]:
    test()
print("1 passed, 0 failed")
