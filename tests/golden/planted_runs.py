"""Runs of 1, 2 or 8 ranks with one planted cause each and noise in every duration (planted_traces.py has the parts).

A program is a function of a Run that works on its ranks step by step; what makes it slow is written in it. All durations
differ by some percent from rank to rank and from step to step.
"""
import json
import os
import random

import planted_corners
import planted_cubes
import planted_engines
import planted_faults
import planted_habits
import planted_loops
import planted_meshes
import planted_mixtures
import planted_shapes
import planted_systems
import planted_tasks
import planted_trainers
from planted_traces import Rank, collective, finish, layers, update

FAST = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"


class Run:
    def __init__(self, world, seed=1):
        self.world = world
        self.ranks = [Rank(rank if world > 1 else None, world, noise=random.Random(seed * 1000 + rank))
                      for rank in range(world)]

    def steps(self, count, body, first=1):
        for number in range(first, first + count):
            spans = [rank.annotate(f"ProfilerStep#{number}") for rank in self.ranks]
            for span in spans:
                span.__enter__()
            body(number)
            for span in spans:
                span.__exit__()
        for rank in self.ranks:
            for stream in list(rank.free):
                rank.wait(stream)

    def each(self, work):
        for rank in self.ranks:
            work(rank)

    def reduce(self, us=200, ranks=None, after=True, stream=20, name=FAST, **args):
        """A collective of the ranks that the compute stream waits for; nothing where there is one rank."""
        ranks = ranks or self.ranks
        if len(ranks) < 2:
            return
        members = [rank.rank for rank in ranks]
        args.setdefault("Process Group Ranks", str(members))
        args.setdefault("Process Group Name", "_".join(map(str, members)))
        collective(ranks, us, stream, name, **args)
        for rank in ranks if after else []:
            rank.free[7] = max(rank.free.get(7, 0.0), rank.free[stream])

    def write(self, path):
        if self.world == 1:
            return [self.ranks[0].write(path)]
        folder = path.removesuffix(".json")
        os.makedirs(folder, exist_ok=True)
        return [rank.write(os.path.join(folder, f"rank{rank.rank}.json")) for rank in self.ranks]


def train(run, count=5, before=None, pass_us=None, reduce_us=200, host_us=6.0, layer_count=6):
    """A plain step: forward, backward, all-reduce, update, `.item()` of the loss. `pass_us(rank, step)`: of a kernel."""
    def body(number):
        if before:
            run.each(lambda rank: before(rank, number))
        run.each(lambda rank: layers(rank, layer_count, pass_us(rank, number) if pass_us else 300, host_us))
        run.reduce(reduce_us)
        run.each(finish)
    run.steps(count, body)


# --- the programs: each takes a Run ----------------------------------------------------------------------------------

def slow_loader(run):
    """Every rank decodes for 10 ms on its main thread inside the loader's annotation."""
    def load(rank, _):
        with rank.annotate("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"):
            rank.run("aten::empty", 5)
            rank.work(10000)
            rank.run("aten::stack", 50)
        rank.copy(80)
    train(run, before=load)


def slow_loader_of_one(run):
    """One rank's loader takes 12 ms, the others' 0.1 ms."""
    def load(rank, _):
        with rank.annotate("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"):
            rank.work(12000 if rank.rank == run.world - 1 else 100)
    train(run, before=load)


def item_in_loop(run):
    """Every layer ends with .item()."""
    def body(_):
        for rank in run.ranks:
            for _ in range(20):
                rank.kernel("aten::mul", 60, host_us=15, name="vectorized_elementwise_kernel")
                rank.item()
                rank.work(60)
        run.reduce(100)
        run.each(lambda rank: update(rank, 20))
    run.steps(5, body)


def small_kernels(run):
    """Kernels of 2 us behind operators of 12 us."""
    def body(_):
        for rank in run.ranks:
            for _ in range(150):
                rank.kernel("aten::add", 2, host_us=8, name="vectorized_elementwise_kernel")
        run.reduce(40)
        run.each(lambda rank: update(rank, 3))
    run.steps(5, body)


def slow_rank(run):
    """The matrix kernels of one rank take 1.6 times as long."""
    train(run, pass_us=lambda rank, _: 480 if rank.rank == run.world // 2 else 300)


def slow_host_rank(run):
    """The host of one rank spends 6 ms a step in a function of its own."""
    def log(rank, _):
        if rank.rank == run.world // 2:
            with rank.function("train.py(44): log_metrics"):
                rank.work(6000)
    train(run, before=log)


def late_all_reduce(run):
    """An all-reduce of 9 ms begins after the last gradient."""
    train(run, reduce_us=9000)


def fragmented_copies(run):
    """Pinned copies of 64 bytes, each longer on the device than its issue takes."""
    def body(_):
        for rank in run.ranks:
            for _ in range(150):
                rank.copy(12, size=64, host_us=1.0)
            rank.kernel("aten::mul", 300, name="vectorized_elementwise_kernel")
        run.reduce(60)
        run.each(finish)
    run.steps(4, body)


def straggling_link(run):
    """Pairs of ranks gather parameters; one pair's link takes 7 ms where the others take 0.5; all wait for that pair."""
    def body(_):
        run.each(lambda rank: layers(rank, 3, 300))
        for first in range(0, run.world, 2):
            slow = first == run.world - 2
            run.reduce(7000 if slow else 500, run.ranks[first:first + 2], stream=21,
                       name="ncclDevKernel_AllGather_RING_LL", **{"Collective name": "_allgather_base"})
        run.each(lambda rank: layers(rank, 3, 300))
        run.reduce(200)
        run.each(finish)
    run.steps(5, body)


def collector_pauses(run):
    """Python collects garbage for 8 ms at each step's begin, on another rank each step: all wait for one every time."""
    def pause(rank, number):
        if rank.rank is None or rank.rank == (3 * number) % run.world:
            with rank.function("gc.py(12): collect_generation"):
                rank.work(8000)
    train(run, count=9, before=pause)


def rare_pauses(run):
    """Every third step the collector stops the host for 30 ms: most steps do not have it, the run is as slow all the same."""
    def pause(rank, number):
        if number % 3 == 0:
            with rank.function("gc.py(12): collect_generation"):
                rank.work(30000)
    train(run, count=9, before=pause)


def throttled(run):
    """From the sixth of ten steps on every kernel takes 1.5 times as long."""
    train(run, count=10, pass_us=lambda _, number: 450 if number > 5 else 300)


def throttled_rank(run):
    """One rank's kernels take 1.7 times as long from the third step on."""
    train(run, count=8, pass_us=lambda rank, number: 510 if rank.rank == 1 and number > 2 else 300)


def garbage_first_step(run):
    """The first of two steps compiles for 200 ms; the second is bound by its kernels."""
    def compile_once(rank, number):
        if number == 1:
            with rank.function("torch/_dynamo/convert_frame.py(900): compile"):
                rank.work(200000)
    train(run, count=2, before=compile_once)


def garbage_first_of_many(run):
    def compile_once(rank, number):
        if number == 1:
            with rank.function("torch/_dynamo/convert_frame.py(900): compile"):
                rank.work(200000)
    train(run, count=6, before=compile_once)


def imbalanced_experts(run):
    """All ranks meet in two all-to-alls around their experts; one rank's experts get three times the tokens."""
    def body(_):
        for layer in range(3):
            run.each(lambda rank: rank.kernel("aten::addmm", 200, name="ampere_sgemm_128x128_tn"))
            run.reduce(60, stream=21, name="ncclDevKernel_SendRecv", **{"Collective name": "all_to_allv"})
            for rank in run.ranks:
                with rank.annotate("nn.Module: Experts_0", "python_function"):
                    rank.kernel("grouped_gemm::gmm", 1500 if rank.rank == 0 else 500, name="cutlass_grouped_gemm_kernel")
            run.reduce(60, stream=21, name="ncclDevKernel_SendRecv", **{"Collective name": "all_to_allv"})
        run.reduce(150)
        run.each(finish)
    run.steps(5, body)


def slow_optimizer(run):
    """The optimizer loops over 120 parameters on the host: 40 us of host for 3 us of kernel each."""
    def body(_):
        run.each(lambda rank: layers(rank, 6, 200))
        run.reduce(150)
        for rank in run.ranks:
            with rank.annotate("Optimizer.step#Adam.step"):
                for _ in range(120):
                    rank.kernel("aten::addcdiv_", 3, host_us=40, name="vectorized_elementwise_kernel")
            rank.item()
    run.steps(5, body)


def norm_chain(run):
    """Layer norms, each of five memory-bound kernels, take most of the step."""
    def body(_):
        for rank in run.ranks:
            for layer in range(6):
                rank.kernel("aten::addmm", 150, name="ampere_sgemm_128x128_tn")
                with rank.annotate(f"nn.Module: LayerNorm_{layer}", "python_function"):
                    for op in ("pow", "mean", "rsqrt", "mul", "add"):
                        rank.kernel("aten::" + op, 180, name="vectorized_elementwise_kernel")
        run.reduce(100)
        run.each(finish)
    run.steps(5, body)


def spinning_host(run):
    """The host polls an event until the kernels are done: it is busy and yet only waits."""
    def body(_):
        for rank in run.ranks:
            for _ in range(4):
                rank.kernel("aten::addmm", 1500, name="ampere_sgemm_128x128_tn")
            end = max(rank.free.values())
            while rank.now < end:
                rank.correlation += 1
                rank.host("cuda_runtime", "cudaEventQuery", rank.now, 3, correlation=rank.correlation)
                rank.now += 8
        run.reduce(80)
        run.each(lambda rank: update(rank, 50))
    run.steps(4, body)


def without_kernels(run):
    """The profiler recorded launches and none of the device's work."""
    train(run)
    for rank in run.ranks:
        rank.events = [e for e in rank.events if e["cat"] not in ("kernel", "gpu_memcpy")]


def missing_graph_kernels(run):
    """Steps are launched as CUDA graphs of twelve kernels; the profiler recorded every other one."""
    def body(_):
        for rank in run.ranks:
            rank.correlation += 1
            rank.host("cuda_runtime", "cudaGraphLaunch", rank.now, 20, correlation=rank.correlation)
            start = max(rank.now + 10, rank.free.get(7, 0.0))
            for kernel in range(12):
                us = rank.jitter(200)
                if kernel % 2 == 0:
                    rank.event("kernel", "ampere_sgemm_128x128_tn", start, us, 0, 7, device=0, stream=7,
                               correlation=rank.correlation)
                start += us
            rank.free[7] = start
            rank.now += 20
        run.reduce(100)
        run.each(lambda rank: rank.wait(7))
    run.steps(5, body)


def saved_again(run):
    """A slow rank's run whose files a script read and wrote: times since 1970 in microseconds, off by an eighth of one."""
    slow_rank(run)
    for rank in run.ranks:
        for event in rank.events:
            event["ts"] = float(1.7e15 + event["ts"])


def reduce_each_micro_batch(run):
    """Four micro-batches a step, whose gradients are all reduced each time, though only the last needs it (no no_sync())."""
    def body(_):
        for _ in range(4):
            run.each(lambda rank: layers(rank, 3, 250))
            run.reduce(4000)
        run.each(finish)
    run.steps(5, body)


def gathers_in_turn(run):
    """FSDP without prefetch: each layer's all-gather begins when the layer before is done, and its kernels wait for it."""
    def layer(number, us, gather):
        run.reduce(1200, name=gather, **{"Collective name": "_allgather_base"})
        for rank in run.ranks:
            with rank.annotate(f"nn.Module: Block_{number}", "python_function"):
                rank.kernel("aten::addmm", us, name="ampere_sgemm_128x128_tn")

    def body(_):
        for number in range(6):
            layer(number, 300, "ncclDevKernel_AllGather_RING_LL")
        for number in range(6):
            layer(number, 600, "ncclDevKernel_AllGather_RING_LL")
            run.reduce(900, name="ncclDevKernel_ReduceScatter_Sum_f32_RING_LL",
                       **{"Collective name": "_reduce_scatter_base"})
        run.each(finish)
    run.steps(5, body)


def copy_queue(run):
    """Each step's batch is copied from pinned memory on a stream of its own a step ahead, in 7 ms; its kernels take 3 ms."""
    arrived = {}

    def body(_):
        for rank in run.ranks:
            batch = arrived.get(rank, 0.0)
            rank.copy(7000, stream=9, op="aten::to", size=160 << 20)
            arrived[rank] = rank.free[9]
            rank.free[7] = max(rank.free.get(7, 0.0), batch)
            layers(rank, 4, 250)
        run.reduce(100)
        run.each(finish)
    run.steps(6, body)


def only_one_step(run):
    """The profiler recorded one step alone, whose batch the main thread decodes for 10 ms."""
    def load(rank, _):
        with rank.annotate("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"):
            rank.work(10000)
    train(run, count=1, before=load)


def shared_device(run):
    """Another process computes on the device by turns: behind each kernel of 300 us it takes 500 us, with work queued here."""
    def body(_):
        for rank in run.ranks:
            for _ in range(16):
                rank.free[7] = rank.free.get(7, 0.0) + 500
                rank.kernel("aten::addmm", 300, name="ampere_sgemm_128x128_tn")
        run.each(finish)
    run.steps(5, body)


def checkpoint_each_step(run):
    """Every step ends with a checkpoint that the main thread writes for 12 ms, behind a copy of the weights."""
    def body(_):
        run.each(lambda rank: layers(rank, 6, 300))
        run.reduce()
        for rank in run.ranks:
            update(rank, 100)
            with rank.function("train.py(97): save_checkpoint"):
                with rank.operator("aten::to"):
                    rank.issue("cudaMemcpyAsync", "gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 800, 7, bytes=16 << 20)
                    rank.wait()
                with rank.function("torch/serialization.py(933): save"):
                    rank.work(12000)
    run.steps(5, body)


def one_checkpoint(run):
    """The fourth of ten steps ends with a checkpoint of 90 ms, behind everything it launches."""
    def body(number):
        run.each(lambda rank: layers(rank, 6, 300))
        run.reduce()
        run.each(finish)
        for rank in run.ranks if number == 4 else []:
            with rank.function("train.py(97): save_checkpoint"):
                rank.work(90000)
    run.steps(10, body)


def workers_restart(run):
    """Every fifth step is the first of an epoch and waits 60 ms for new workers (persistent_workers=False)."""
    def load(rank, number):
        with rank.annotate("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"):
            rank.work(60000 if number % 5 == 0 else 80)
        rank.copy(80)
    train(run, count=12, before=load)


def compiles_each_step(run):
    """Every step has another shape, for which the compiler works 100 ms."""
    def compile_again(rank, _):
        with rank.annotate("_compile.compile_inner (dynamo_timed)"):
            rank.work(100000)
    train(run, count=6, before=compile_again)


def clocks_sink(run):
    """The device heats up: the same kernels take 6 % longer each step."""
    train(run, count=12, pass_us=lambda _, number: 300 * 1.06 ** number)


def pipeline(run, batches, slow_stage=None):
    """1F1B over the ranks: forwards and backwards of micro-batches pass from stage to stage by messages alone."""
    import pipeline_trace as p
    random_of = [random.Random(100 + stage) for stage in range(run.world)]

    def took(us):
        return lambda stage, _: int(1000 * us * (2 if stage == slow_stage else 1) * random_of[stage].lognormvariate(0, 0.03))
    return p.simulate(run.world, batches, took(400), took(800), 20000, 100000)


def write_pipeline(path, world, batches, slow_stage=None):
    import pipeline_trace as p
    kernels = pipeline(Run(world), batches, slow_stage)
    folder = path.removesuffix(".json")
    return [p.write(folder, rank, world, p.events_of(kernels[rank], rank, world, "record", 500 * rank))
            for rank in range(world)]


def cut_off(path, world):
    """The last rank's file ends before its device work: profilers write that behind the host's."""
    run = Run(world)
    slow_rank(run)
    paths = run.write(path)
    rank = run.ranks[-1]
    on_device = [e for e in rank.events if e["pid"] == 0]
    rank.events = [e for e in rank.events if e["pid"] != 0]
    size = len(json.dumps(rank.document()["traceEvents"]))
    document = {"schemaVersion": 1, "traceEvents": rank.document()["traceEvents"] + on_device}
    if world > 1:
        document = {"distributedInfo": rank.document()["distributedInfo"], **document}
    with open(paths[-1], "w") as file:
        file.write(json.dumps(document)[:size - 100])
    return paths


def write(program, world, path):
    """The recordings of a program on so many ranks."""
    if program == "cut_off":
        return cut_off(path, world)
    if program == "pipeline_bubble":
        return write_pipeline(path, world, world)
    if program == "slow_stage":
        return write_pipeline(path, world, 4 * world, world // 2)
    run = Run(world)
    modules = (globals(), vars(planted_loops), vars(planted_habits), vars(planted_meshes), vars(planted_corners), vars(planted_shapes),
               vars(planted_systems), vars(planted_engines), vars(planted_cubes), vars(planted_trainers), vars(planted_faults),
               vars(planted_tasks), vars(planted_mixtures))
    next(module[program] for module in modules if program in module)(run)
    return run.write(path)
