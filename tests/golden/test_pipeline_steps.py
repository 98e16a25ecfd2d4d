"""Predicted pipelines: bubbles as published formulas have them, rows and options alike, what cannot be in one clear line."""
import csv
import json
import subprocess
import sys

import strict_schema
from checks import PACELINE, expect, finish, json_of

# All stages alike: next to no words at both ends, messages of a thousandth of the step, no host.
ALIKE = ("gpt", "--on", "dgx-h100", "--set", "hidden=8192", "--set", "layers=16", "--set", "heads=64", "--set", "vocab=64", "--set", "precision=bf16",
         "--set", "optimizer=sgd", "--set", "execution=graph", "--set", "pp=8")


def predict(*words, status=0):
    done = subprocess.run([PACELINE, "predict", *words, "--format", "json"], capture_output=True, text=True)
    expect(done.returncode in (status, 1), words, done.stderr)
    answer = json.loads(done.stdout)
    strict_schema.hold(answer, "predict")
    return answer


def waits(answer):
    """The share of each stage's step that it waits for others; the parts of each stage are the whole step."""
    shares = []
    for stage in answer["stages"]:
        parts = [stage[key] for key in ("compute_ns", "memory_ns", "exposed_ns", "waits_ns", "idle_ns")]
        expect(abs(sum(parts) / answer["scenarios"][0]["step_ns"] - 1) < 0.01, stage)
        shares.append(stage["waits_ns"] / sum(parts))
    return shares


def bubbles():
    """(p - 1)/(m + p - 1), interleaved (p - 1)/(v m + p - 1): Narayanan et al. 2021, sections 2.2.1 and 2.2.2. Zero-bubble: a third of the
    time where all passes take equally long (Qi et al. 2023, table 2)."""
    p, m = 8, 16
    fill = p - 1
    for more, expected, margin in ((("schedule=1f1b",), fill / (m + fill), 0.005), (("schedule=gpipe",), fill / (m + fill), 0.005),
                                   (("vpp=2",), fill / (2 * m + fill), 0.012), (("schedule=zero-bubble",), fill / 3 / (m + fill / 3), 0.015),
                                   (("schedule=zb-v",), 0, 0.05), (("schedule=dualpipe-v",), fill / 6 / (m + fill / 6), 0.04)):
        answer = predict(*ALIKE, "--set", f"global_batch={m}", *(word for one in more for word in ("--set", one)))
        expect([stage["rank"] for stage in answer["stages"]] == list(range(p)), answer["stages"])
        for share in waits(answer):
            expect(abs(share - expected) < margin, more, share, expected)
    return answer


def memory():
    """Stage i holds p - i micro-batches (Narayanan et al. 2021, section 2.2), all of them with all-forward-first."""
    held = {schedule: [stage["held_bytes"] for stage in predict(*ALIKE, "--set", "global_batch=16", "--set", "schedule=" + schedule)["stages"]]
            for schedule in ("1f1b", "gpipe")}
    steps = [a - b for a, b in zip(held["1f1b"][1:-1], held["1f1b"][2:-1])]
    expect(max(steps) / min(steps) < 1.001, steps)  # one micro-batch of a stage each
    for stage in range(1, 7):  # 16 instead of 8 - i
        expect(abs((held["gpipe"][stage] - held["1f1b"][stage]) / ((8 + stage) * steps[0]) - 1) < 0.001, stage, held)


def memory_over_time():
    """Counted turn by turn in the order they are walked, each stage's fullest instant is what the published counts of micro-batches in
    flight make it; it begins and ends with its states alone."""
    for words in (("schedule=1f1b",), ("schedule=gpipe",), ("schedule=zero-bubble",), ("schedule=zb-v",), ("schedule=dualpipe-v",),
                  ("vpp=2",), ("recompute=full",), ("framework=megatron",)):
        settings = [word for one in ("tp=2", "pp=4", "dp=2", "global_batch=16", "precision=bf16", *words) for word in ("--set", one)]
        done = subprocess.run([PACELINE, "predict", "llama3-8b", "--on", "dgx-h100*2", *settings, "--format", "json"], capture_output=True, text=True)
        answer = json.loads(done.stdout)
        strict_schema.hold(answer, "step" if "framework=megatron" in words else "predict")
        for stage in answer["stages"]:
            points = [point for point in answer["stage_memory"] if point["stage"] == stage["stage"]]
            held = [point["held_bytes"] for point in points]
            expect(abs(max(held) / stage["held_bytes"] - 1) < 0.01, words, stage, max(held))
            expect(abs(held[-1] / held[0] - 1) < 1e-9 and min(held) > 0.999999 * held[0], words, held[0], held[-1])
            expect([point["at_ns"] for point in points] == sorted(point["at_ns"] for point in points), words, stage["stage"])


def lasts_as_long():
    """A schedule that is drawn for a step that is not walked takes as long as the answer says: PyTorch's, whose replicas wait for the slowest
    of 8 and which adds gradients of 768 micro-batches, and Megatron's interleaved one."""
    for words in (("gpt3-175b", "--on", "hgx-a100-80*64", "tp=8", "pp=8", "dp=8", "micro_batch=1", "global_batch=6144", "precision=bf16"),
                  ("gpt3-175b", "--on", "dgx-h100*16", "framework=megatron", "tp=8", "pp=8", "vpp=2", "dp=2", "micro_batch=1", "global_batch=128")):
        asked = [*words[:3], *(word for one in words[3:] for word in ("--set", one))]
        answer = json_of("predict", *asked)
        drawn = subprocess.run([PACELINE, "predict", *asked, "--format", "perfetto"], capture_output=True, text=True)
        took = subprocess.run([PACELINE, "analyze", "-", "--format", "json"], input=drawn.stdout, capture_output=True, text=True)
        steps = [step["device_ns"] for step in json.loads(took.stdout)["step_table"]]
        expect(abs(steps[-1] / answer["step"]["step_ns"] - 1) < 0.002, words, steps, answer["step"])


def changes():
    """What-ifs apply to all stages: twice the rates make the step half as long, and bubbles stay their share of it."""
    answer = predict(*ALIKE, "--set", "global_batch=16", "--scale", ".*:0.5")
    plain, half = (row["step_ns"] for row in answer["scenarios"][:2])
    expect(abs(half / plain - 0.5) < 0.02, plain, half)


def rows_and_options():
    rows = "model,machine,framework,n_gpu,tp,pp,dp,vpp,zero_stage,micro_batch,global_batch,precision,schedule\n"
    rows += "gpt2,dgx-h100,pytorch,8,2,2,2,1,0,2,16,bf16,1f1b\ngpt2,dgx-h100,pytorch,8,1,4,2,3,1,1,16,bf16,1f1b\n"
    rows += "gpt2,dgx-h100,pytorch,8,1,1,8,1,3,2,16,bf16,1f1b\ngpt2,dgx-h100,pytorch,4,1,4,1,1,0,2,16,bf16,zero-bubble\n"
    rows += "gpt2,dgx-h100,pytorch,4,1,4,1,1,0,2,16,bf16,gpipe\n"
    rows += "gpt2,dgx-h100,pytorch,2,1,2,1,2,0,2,16,bf16,zb-v\ngpt2,dgx-h100,pytorch,4,1,2,2,2,1,2,16,bf16,dualpipe-v\n"
    done = subprocess.run([PACELINE, "predict", "--kind", "step", "--rows", "-", "--format", "csv"], input=rows, capture_output=True, text=True)
    expect(done.returncode == 0, done.stderr)
    for row in csv.DictReader(done.stdout.splitlines()):
        words = [f"{key}={row[key]}" for key in ("tp", "pp", "dp", "vpp", "zero_stage", "micro_batch", "global_batch", "precision", "schedule")]
        answer = predict("gpt2", "--on", "dgx-h100", *(word for one in words for word in ("--set", one)))
        expect(abs(float(row["predicted"]) / answer["values"]["step.median_s"] - 1) < 1e-6, row["predicted"], answer["values"])


def drawn():
    """Steps of other frameworks have the closed form's number, and its schedule as a timeline: a rank a stage, the same bubbles."""
    words = ("llama3-70b", "--on", "dgx-h100*16", "--set", "tp=8", "--set", "pp=4", "--set", "dp=4", "--set", "framework=megatron")
    done = subprocess.run([PACELINE, "predict", *words, "--format", "json"], capture_output=True, text=True)
    answer = json.loads(done.stdout)
    strict_schema.hold(answer, "step")
    expect([stage["rank"] for stage in answer["stages"]] == [0, 32, 64, 96], answer["stages"])
    bubble = next(part["time_ns"] for part in answer["parts"] if part["part"] == "bubble")
    last = answer["stages"][-1]  # the loss is here: it waits for nothing but filling and draining
    expect(abs(last["waits_ns"] / bubble - 1) < 0.02, last, bubble)
    trace = json.loads(subprocess.run([PACELINE, "predict", *words, "--format", "perfetto"], capture_output=True, text=True).stdout)
    kernels = [event for event in trace["traceEvents"] if event.get("cat") == "kernel"]
    ends = [event["ts"] + event["dur"] for event in kernels]
    step_ns = answer["step"]["step_ns"]  # two steps are drawn, of the last stage, which begins when the pipeline is filled
    expect(2 * step_ns - bubble < 1e3 * max(ends) < 2 * step_ns, max(ends))
    border = sum(event["name"] == "nccl_send" for event in kernels)  # each of 32 micro-batches crosses it, twice
    own = trace["distributedInfo"]["rank"]
    expect(border == 2 * 32 * (2 if own in (32, 64) else 1), own, border)
    others = {event["args"]["name"] for event in trace["traceEvents"] if event["name"] == "process_name"}
    expect(others == {"Paceline"} | {f"rank {rank}" for rank in (0, 32, 64, 96) if rank != own}, others)


def framed():
    """What-ifs of other frameworks' steps: the number stays the one without them, the walk of the operators is near it, and what-ifs
    move it as the same change of the configuration does."""
    for words in (("llama3-8b", "--on", "dgx-h100*4", "--set", "tp=4", "--set", "pp=2", "--set", "dp=4", "--set", "framework=megatron"),
                  ("mixtral-8x7b", "--on", "dgx-h100", "--set", "tp=1", "--set", "dp=8", "--set", "ep=8", "--set", "framework=nemo"),
                  ("llama2-7b", "--on", "dgx-a100*2", "--set", "dp=16", "--set", "framework=torchtitan", "--set", "recompute=full")):
        done = subprocess.run([PACELINE, "predict", *words, "--format", "json"], capture_output=True, text=True)
        plain = json.loads(done.stdout)
        moved = predict(*words, "--scale", ".*:0.5")
        expect(moved["values"]["step.median_s"] == plain["values"]["step.median_s"], words, moved["values"], plain["values"])
        expect(abs(moved["step"]["walked_ns"] / plain["step"]["step_ns"] - 1) < 0.08, words, moved["step"], plain["step"])
        half = moved["scenarios"][1]["step_ns"] / moved["scenarios"][0]["step_ns"]
        expect(0.45 < half < 0.75, words, half)  # hosts are not scaled
    # Large kernels hide no host that waits for how many tokens each expert gets: 1.5 ms in each of three passes over 48 layers, in both engines.
    words = ("qwen3-30b-a3b", "--on", "hgx-h200", "--set", "dp=8", "--set", "ep=8", "--set", "micro_batch=8", "--set", "framework=nemo", "--set", "recompute=full")
    plain = json.loads(subprocess.run([PACELINE, "predict", *words, "--format", "json"], capture_output=True, text=True).stdout)
    waits = next(part["time_ns"] for part in plain["parts"] if part["part"] == "host")
    expect(abs(waits / (3 * 48 * 1.5e6) - 1) < 0.01, waits)
    walked = predict(*words, "--scale", ".*:1")["step"]["walked_ns"]
    expect(abs(walked / plain["step"]["step_ns"] - 1) < 0.04, walked, plain["step"])


def whole_experts():
    """Megatron Core's tensor-parallel ranks have whole experts: Mixtral's 45.1 of 46.7 billion parameters are divided by ep alone, the others by tp,
    and eight neighbours exchange within their node, whatever joins nodes."""
    experts, others = 32 * 8 * 3 * 4096 * 14336, 46.7e9 - 32 * 8 * 3 * 4096 * 14336
    def asked(machine, settings):
        done = subprocess.run([PACELINE, "predict", "mixtral-8x7b", "--on", machine, "--set", settings, "--set", "framework=nemo", "--format", "json"], capture_output=True, text=True)
        expect(done.returncode == 0, done.stderr)
        answer = json.loads(done.stdout)
        return {part["part"]: part["time_ns"] for part in answer["parts"]}, {part["kind"]: part["held_bytes"] for part in answer["memory"]}
    parts, memory = asked("dgx-h100*4", "tp=4,dp=8,ep=8")
    expect(abs(memory["parameters"] / (2 * (experts / 8 + others / 4)) - 1) < 0.01, memory)
    slow, _ = asked("dgx-h100*4 net=100Gb/s", "tp=4,dp=8,ep=8")
    expect(parts["expert exchange"] == slow["expert exchange"] > 0, parts, slow)
    expect(parts["data exchange"] < slow["data exchange"], parts, slow)


def copied_back():
    """ZeRO 1 is DistributedDataParallel with a divided optimizer: the gradients of ResNet-50's 161 tensors come back from their buckets. 2 copies
    its parameters out of the flat buffer of each gather instead."""
    launches = []
    for stage in (1, 2):
        done = subprocess.run([PACELINE, "predict", "resnet50", "--on", "dgx-h100", "--set", f"dp=8,micro_batch=32,global_batch=256,zero_stage={stage}", "-f", "json", "-q"],
                              capture_output=True, text=True)
        launches.append(json.loads(done.stdout)["edits"][0]["launches"])
    expect(launches[0] - launches[1] == 161 - 1, launches)  # a model without repeated blocks is one flat buffer
    # FSDP's traces have a copy out of the flat buffer for each gather, twice a block, and one into it for each scatter; GPT-2 is 12 blocks, head and tail.
    done = subprocess.run([PACELINE, "predict", "gpt2", "--on", "dgx-a100", "--set", "dp=8,micro_batch=4,global_batch=32,zero_stage=3,precision=amp_bf16", "--format", "perfetto", "-q"],
                          capture_output=True, text=True)
    names = [event["name"] for event in json.loads(done.stdout)["traceEvents"] if event.get("cat") in ("cpu_op", "user_annotation")]
    steps = sum(name.startswith("ProfilerStep") for name in names)
    expect((names.count("fsdp::split_with_sizes_copy"), names.count("fsdp::chunk_cat")) == (28 * steps, 14 * steps) and steps, steps, done.stderr)


def waits_that_no_timeline_shows():
    """The step is what its timeline shows and the wait for the slowest replica, and the answer says which part the timeline lacks."""
    answer = predict("gpt2", "--on", "dgx-a100", "--set", "dp=8", "--set", "micro_batch=4", "--set", "precision=amp_bf16")
    shown, waited = answer["step"]["walked_ns"], answer["exchange"]["skew_ns"]
    expect(waited > 0 and abs(shown + waited - answer["scenarios"][0]["step_ns"]) <= 2, answer["step"], waited)
    expect(any("timelines of ranks do not show" in sentence for sentence in answer["summary"]), answer["summary"])


def uneven():
    """Chunks need not be alike. DeepSeek-V3's 61 layers on 16 stages of 2 chunks: Megatron Core's documentation lays them out as 29 chunks
    of 2 layers and 3 beside embedding, prediction and loss; here too 29 have 2, and those at the ends 1. Walk and closed form agree."""
    settings = "framework=megatron-core,pp=16,dp=8,ep=8,micro_batch=1,global_batch=512"
    for order, held in (("schedule=dualpipe-v", [2, 3, *[4] * 14]), ("vpp=2", [3, *[4] * 13, 3, 3])):
        done = subprocess.run([PACELINE, "predict", "deepseek-v3", "--on", "dgx-h100*16", "--set", f"{settings},{order}", "-f", "json", "-q"], capture_output=True, text=True)
        layers = [stage["layers"] for stage in json.loads(done.stdout)["stages"]]
        expect(layers == held and sum(layers) == 61, order, layers, done.stderr)
    for more in ("vpp=2,pp=4,global_batch=96", "schedule=zb-v,pp=5,global_batch=80"):
        done = subprocess.run([PACELINE, "predict", "gpt2", "--on", "dgx-h100", "--set", f"dp=1,micro_batch=8,{more}", "-f", "json", "-q"], capture_output=True, text=True)
        answer = json.loads(done.stdout)
        expect(abs(answer["closed_form"]["ratio"] - 1) < 0.08 and sum(stage["layers"] for stage in answer["stages"]) == 12, more, answer["closed_form"], done.stderr)


def two_way():
    """Eight ranks filled from both ends wait at most (PP/2 - 1)(F + B + B - 3W), W = F and B = 2F, beside m(F + B) (DeepSeek-AI's DualPipe, README),
    where 1F1B waits (PP - 1)(F + B); each holds two parts of the model, as a V on half of the ranks does."""
    m = 32
    answer = predict(*ALIKE, "--set", "schedule=dualpipe", "--set", "dp=1", "--set", f"global_batch={m}", "--jitter", "0%")
    for share in waits(answer):
        expect(0.01 < share < 3 * 2 / (3 * m + 3 * 2), "waits", share)
    on = ("gpt2", "--on", "dgx-h100", "--set", "micro_batch=1", "--set", "global_batch=32")
    both = [predict(*on, *(w for one in words for w in ("--set", one))) for words in (("pp=4", "dp=2", "schedule=dualpipe"), ("pp=2", "dp=4", "schedule=dualpipe-v"))]
    expect(both[0]["values"]["step.median_s"] == both[1]["values"]["step.median_s"] and len(both[0]["stages"]) == 2, "one schedule, two words")


def refused():
    on = ("gpt2", "--on", "dgx-h100", "--set")
    for words, said in (((*on, "pp=16"), "at most its 8 devices"), ((*on, "pp=4", "--set", "vpp=4"), "the model's 12 layers"),
                        ((*on, "pp=4", "--set", "vpp=4", "--set", "framework=megatron-core"), "the model's 12 layers"), ((*on, "schedule=gpipe"), "pp of 2 or more"),
                        ((*on, "pp=2", "--set", "vpp=2", "--set", "schedule=gpipe"), "one chunk"),
                        ((*on, "pp=2", "--set", "vpp=2", "--set", "dp=1", "--set", "global_batch=5"), "multiple of 2 micro-batches"),
                        ((*on, "pp=2", "--set", "dp=2", "--approach", "ps"), "fills buckets"), (("resnet50", *on[1:], "pp=2"), "repeats no block of layers"),
                        ((*on, "imbalance=10"), "ep of 2 or more"),
                        (("dlrm_mlperf", *on[1:], "dp=8", "--set", "imbalance=10"), "has no experts"),
                        ((*on, "pp=2", "--set", "schedule=zb-v", "--set", "vpp=4"), "vpp=2"),
                        ((*on, "pp=2", "--set", "schedule=dualpipe"), "even pp of 4 or more"),
                        ((*on, "pp=2", "--set", "schedule=dualpipe-v", "--set", "dp=1", "--set", "global_batch=3"), "4 or more micro-batches")):
        done = subprocess.run([PACELINE, "predict", *words], capture_output=True, text=True)
        expect(done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1, words, done.stderr)


def step_s(*settings, model="vit_large_32", machine="dgx-1-v100"):
    return predict(model, "--on", machine, *(word for one in settings for word in ("--set", one)))["values"]["step.median_s"]


def gathers():
    """Stages gather what ZeRO 1 has updated at the same time, before their input has come: two gathers one behind the other (20 ms each,
    of 600 MB between two of NVLink's neighbours) would make the step longer than one without."""
    shared = ("micro_batch=2", "dp=2", "pp=2", "global_batch=4")
    expect(step_s(*shared, "zero_stage=1") < step_s(*shared), "reduced and gathered is what is summed, and each updates half")


def hosts_that_wait():
    """Hosts wait for the stages' copies and for room in the devices' queues; where kernels twice as long make the step twice as long, next
    to nothing of its path is the hosts'."""
    answer = predict("llama3-8b", "--on", "dgx-h100", *(word for one in ("pp=2", "tp=1", "dp=1", "precision=bf16", "micro_batch=1",
                     "global_batch=16") for word in ("--set", one)), "--scale", ".*:2")
    plain, twice = (row["step_ns"] for row in answer["scenarios"][:2])
    expect(abs(twice / plain - 2) < 0.02, plain, twice)
    path = answer["critical_path"]["by_resource"]
    expect(path["host_ns"] + path["input_ns"] < 0.02 * sum(path.values()), path)
    without = {row["resource"]: row["step_if_free_ns"] for row in answer["advice"]}
    expect(without["compute"] < 0.6 * twice, without, twice)


def leads():
    """The first sentence names what the table of resources has first, where gathers share links with reductions too."""
    for machine, zero in (("a100*4 nvlink=300GB/s nodes=4 net=25GB/s", 3), ("p4d*2", 3), ("dgx-h100*2", 0)):
        answer = predict("llama2-7b", "--on", machine, "--set", f"global_batch=32,dp=16,micro_batch=2,precision=amp_bf16,recompute=none,zero_stage={zero}")
        most = min(answer["advice"], key=lambda row: row["step_if_free_ns"])
        expect(answer["lead"]["resource"] == most["resource"], machine, answer["lead"], most)


def busiest():
    """What is said of a pipeline's step is said of the stage that waits least: DeepSeek's first has no experts, and waits for those that have."""
    answer = predict("deepseek-v3", "--on", "dgx-h100*8", "--set", "pp=4", "--set", "ep=16", "--set", "dp=16", "--set", "global_batch=256,micro_batch=1,precision=fp8")
    least = min(answer["stages"], key=lambda stage: stage["waits_ns"])
    expect(least["stage"] > 0 and answer["stages"][0]["waits_ns"] > 1.5 * least["waits_ns"], answer["stages"])
    expect(abs(answer["exchange"]["exposed_ns"] / least["exposed_ns"] - 1) < 0.1, answer["exchange"], least)
    expect(answer["lead"]["rank"] == least["rank"], answer["lead"], least)
    words = ("gpt3-175b", "--on", "dgx-a100*128", "--set", "tp=8,pp=16,dp=8,global_batch=512")
    answer = predict(*words)  # in the first step, from time 0, the last stage waits longest: it is the first to be done in the next
    least = min(answer["stages"], key=lambda stage: stage["waits_ns"])
    expect(least["stage"] == 15 and f"rank {least['rank']}." in " ".join(answer["notes"]), least, answer["notes"])


def too_many():
    """A step whose micro-batches have more launches than are walked one by one is answered all the same, as its row is; what-ifs are refused."""
    settings = {"dp": "1", "precision": "bf16", "micro_batch": "1", "global_batch": "2048"}
    words = ("gpt2", "--on", "a100-80-sxm", "--set", ",".join(f"{key}={value}" for key, value in settings.items()))
    answer = predict(*words)
    expect("2048 micro-batches have too many launches" in " ".join(answer["summary"]), answer["summary"])
    rows = subprocess.run([PACELINE, "predict", "--kind", "step", "--rows", "-", "--on", "a100-80-sxm", "--format", "csv"], capture_output=True, text=True,
                          input="model,framework," + ",".join(settings) + "\ngpt2,pytorch," + ",".join(settings.values()) + "\n")
    row = next(csv.DictReader(rows.stdout.splitlines()))
    for column, value in (("predicted", "step.median_s"), ("low", "step.low_s"), ("high", "step.high_s")):
        expect(abs(float(row[column]) / answer["values"][value] - 1) < 1e-9, column, row, answer["values"])
    fewer = predict(*words[:-1], words[-1].replace("2048", "64"))["values"]["step.median_s"]
    expect(abs(answer["values"]["step.median_s"] / fewer / 32 - 1) < 0.02, answer["values"], fewer)
    done = subprocess.run([PACELINE, "predict", *words, "--scale", ".*:2"], capture_output=True, text=True)
    expect(done.returncode == 3 and "at most 1048576 launches" in done.stderr, done.returncode, done.stderr)


def frozen():
    """Parameters without gradients exchange none: eight ranks are as fast as one."""
    alone = step_s("micro_batch=8", "frozen=1", "input=synthetic", "execution=compiled", model="lenet", machine="a100-80-sxm")
    eight = step_s("micro_batch=8", "frozen=1", "input=synthetic", "execution=compiled", "dp=8", model="lenet", machine="hgx-a100-80")
    expect(alone == eight, "nothing is exchanged", alone, eight)


bubbles()
gathers()
hosts_that_wait()
leads()
busiest()
too_many()
frozen()
memory()
memory_over_time()
changes()
rows_and_options()
drawn()
lasts_as_long()
framed()
whole_experts()
copied_back()
waits_that_no_timeline_shows()
uneven()
two_way()
refused()
sys.exit(finish())
