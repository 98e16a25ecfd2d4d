"""Runs that mix two ways to work, or two engines, with one planted cause each. Each takes a Run of planted_runs.py; its expected answer
was written before the report was seen.
"""
from planted_habits import COPIES, FOREACH, GEMM, POINTWISE, backward_pass, fused_update, gradient, linear, on_thread, passes

GATHER = "ncclDevKernel_AllGather_RING_LL"
SCATTER = "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL"
LOADER = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"


def ends(rank):
    fused_update(rank)
    rank.item()


def every_step(run, body, count=5):
    run.steps(count, lambda number: run.each(lambda rank: body(rank, number)))


def accumulates_without_sync(run):
    """Three micro-batches without an exchange, then one whose gradients are summed for 11 ms behind it."""
    def body(_):
        for _ in range(4):
            run.each(lambda rank: passes(rank, 3, 150))
        run.reduce(11000)
        run.each(ends)
    run.steps(5, body)


def teacher_of_student(run):
    """The teacher's forward pass takes 14 ms of products, the student's two passes 4."""
    def body(rank, _):
        with rank.function("distill.py(40): teacher"):
            for _ in range(20):
                linear(rank, 700)
        passes(rank, 4, 330)
        rank.kernel("aten::kl_div", 40, name=POINTWISE)
        ends(rank)
    every_step(run, body)


def slow_worker_of_eight(run):
    """Each eighth batch comes 45 ms late, since one worker reads from a slow disk; steps take 6."""
    def body(rank, number):
        with rank.annotate(LOADER):
            rank.work(45000 if number % 8 == 0 else 60)
        rank.copy(60)
        passes(rank, 6, 320)
        ends(rank)
    every_step(run, body, 24)


def loops_over_parameters(run):
    """The optimizer updates 150 parameters one by one, five small kernels each."""
    def body(rank, _):
        passes(rank, 4, 200)
        with rank.annotate("Optimizer.step#AdamW.step"):
            for _ in range(150):
                for op in ("aten::mul_", "aten::lerp_", "aten::addcmul_", "aten::sqrt", "aten::addcdiv_"):
                    rank.kernel(op, 2, host_us=9, name=POINTWISE)
        rank.item()
    every_step(run, body)


def embeddings_on_host(run):
    """Tables lie in host memory: looking them up takes 9 ms of the main thread, before everything else."""
    def body(rank, _):
        for _ in range(3):
            rank.run("aten::embedding_bag", 3000)
        rank.copy(90, size=8 << 20)
        passes(rank, 4, 200)
        ends(rank)
    every_step(run, body)


def saves_beside(run):
    """Weights go to pinned memory on a stream of their own while products take 20 ms."""
    def body(rank, _):
        for _ in range(8):
            rank.copy(900, stream=30, name="Memcpy DtoH (Device -> Pinned)", size=20 << 20)
        passes(rank, 16, 400)
        ends(rank)
    every_step(run, body)


def polls_events(run):
    """The host is far ahead and asks an event until it has come; products take all of the step."""
    def body(rank, _):
        passes(rank, 10, 400)
        with rank.function("pipeline.py(71): wait_for_slot"):
            while rank.now < rank.free[7] + 3:
                rank.correlation += 1
                rank.host("cuda_runtime", "cudaEventQuery", rank.now, 1.5, correlation=rank.correlation)
                rank.now += 4
        fused_update(rank)
    every_step(run, body)


def hot_table(run):
    """Rank 3 holds the table that most ask: its lookups take 6 ms longer than others', which wait in the all-to-all."""
    def body(_):
        for rank in run.ranks:
            with rank.operator("fbgemm::split_embedding_codegen_lookup_function"):
                rank.kernel("fbgemm::lookup", 7000 if rank.rank == 3 else 1000, host_us=20,
                            name="split_embedding_codegen_forward_weighted_kernel")
        run.reduce(300, name="ncclDevKernel_SendRecv", **{"Collective name": "all_to_allv"})
        run.each(lambda rank: passes(rank, 4, 150))
        run.reduce(200)
        run.each(ends)
    run.steps(5, body)


def graph_with_tail(run):
    """A device graph of 14 ms of products, then 25 small operators that the host launches."""
    def body(rank, _):
        rank.correlation += 1
        rank.host("cuda_runtime", "cudaGraphLaunch", rank.now, 60, correlation=rank.correlation)
        at = max(rank.now + 20, rank.free.get(7, 0.0))
        for _ in range(40):
            us = rank.jitter(350)
            rank.event("kernel", GEMM, at, us, 0, 7, device=0, stream=7, correlation=rank.correlation)
            at += us + 0.8
        rank.free[7] = at
        rank.now += 60
        for _ in range(25):
            rank.kernel("aten::mul", 3, host_us=30, name=POINTWISE)
        rank.item()
    every_step(run, body)


def two_channels(run):
    """A small gather on one stream, and a scatter of 9 ms on another that the update waits for."""
    def body(_):
        run.reduce(150, stream=21, name=GATHER, **{"Collective name": "_allgather_base"})
        run.each(lambda rank: passes(rank, 6, 200))
        run.reduce(9000, stream=22, name=SCATTER, **{"Collective name": "_reduce_scatter_base"})
        run.each(ends)
    run.steps(5, body)


def cooperative_launches(run):
    """Products start by cooperative launches, which take as long as others; they fill the step."""
    def body(rank, _):
        for _ in range(30):
            with rank.operator("custom::fused_mlp"):
                rank.work(10)
                rank.issue("cudaLaunchCooperativeKernel", "kernel", GEMM, 500, 7)
        ends(rank)
    every_step(run, body)


def spectral_norms(run):
    """Before its product each of 60 layers normalizes its weights: four kernels of 3 us, each behind 25 us of the host."""
    def body(rank, _):
        for _ in range(60):
            with rank.function("torch/nn/utils/parametrizations.py(480): _power_method"):
                for op in ("aten::mv", "aten::linalg_vector_norm", "aten::mv", "aten::dot"):
                    rank.kernel(op, 3, host_us=21, name="gemv2T_kernel_val")
            linear(rank, 20)
        ends(rank)
    every_step(run, body)


def averages_on_device(run):
    """A moving average of the weights reads and writes them for 12 ms; both passes take 4."""
    def body(rank, _):
        passes(rank, 4, 330)
        fused_update(rank)
        with rank.function("swa_utils.py(60): update_parameters"):
            for _ in range(12):
                rank.kernel("aten::_foreach_lerp_", 1000, host_us=20, name=FOREACH)
        rank.item()
    every_step(run, body)


def writes_histograms(run):
    """Each of 60 gradients is copied to the host and counted there, in 180 us."""
    def body(rank, _):
        passes(rank, 4, 200)
        for _ in range(60):
            with rank.function("torch/utils/tensorboard/writer.py(486): add_histogram"):
                rank.blocking_copy(15, staging_us=5, size=1 << 18)
                rank.work(180)
        ends(rank)
    every_step(run, body)


def frees_blocks_each_step(run):
    """The allocator's cache is emptied each step: 12 blocks are freed, 0.6 ms each, and taken again, 0.3 ms each."""
    def body(rank, _):
        passes(rank, 4, 200)
        with rank.function("torch/cuda/memory.py(162): empty_cache"):
            rank.wait(call="cudaDeviceSynchronize")
            for call, us in [("cudaFree", 600), ("cudaMalloc", 300)] * 12:
                rank.correlation += 1
                rank.host("cuda_runtime", call, rank.now, us, correlation=rank.correlation)
                rank.now += us
        ends(rank)
    every_step(run, body)


def update_in_graph(run):
    """Only the update was captured; 200 small operators of the passes are launched one by one."""
    def body(rank, _):
        for _ in range(200):
            rank.kernel("aten::silu", 4, host_us=22, name=POINTWISE)
        rank.correlation += 1
        rank.host("cuda_runtime", "cudaGraphLaunch", rank.now, 30, correlation=rank.correlation)
        at = max(rank.now + 10, rank.free.get(7, 0.0))
        for _ in range(20):
            rank.event("kernel", FOREACH, at, 20, 0, 7, device=0, stream=7, correlation=rank.correlation)
            at += 20.5
        rank.free[7] = at
        rank.now += 30
        rank.item()
    every_step(run, body)


def first_gather_exposed(run):
    """The first layer's weights are gathered for 7 ms before anything can run; later gathers hide."""
    def body(_):
        run.reduce(7000, name=GATHER, **{"Collective name": "_allgather_base"})
        for _ in range(4):
            run.reduce(200, after=False, name=GATHER, **{"Collective name": "_allgather_base"})
            run.each(lambda rank: passes(rank, 2, 150))
        run.each(ends)
    run.steps(5, body)


def contends_for_lock(run):
    """A thread of the metrics' server holds the interpreter's lock while the main thread wants to launch: each operator takes 70 us more
    than it works, and a thread records what it does."""
    def body(rank, _):
        begin = rank.now
        for _ in range(120):
            rank.kernel("aten::relu", 8, host_us=16, name=POINTWISE)
            rank.work(70)
        with on_thread(rank, 109):
            now, rank.now = rank.now, begin
            while rank.now < now - 90:
                rank.work(24)
                with rank.function("prometheus_client/exposition.py(90): generate_latest"):
                    rank.work(66)
            rank.now = now
        ends(rank)
    every_step(run, body)


def casts_weights_anew(run):
    """Weights are cast from single precision before each product: copies take 9 ms, products 4."""
    def body(rank, _):
        for _ in range(18):
            rank.kernel("aten::_to_copy", 500, host_us=12, name=COPIES)
            linear(rank, 110)
        with backward_pass(rank):
            for _ in range(9):
                gradient(rank, 220)
        ends(rank)
    every_step(run, body)
