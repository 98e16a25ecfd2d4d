"""More runs with one planted cause each (planted_runs.py): ways to share a step among ranks, and habits of training loops."""
from planted_traces import collective, finish, layers, update

GATHER = "ncclDevKernel_AllGather_RING_LL"
SCATTER = "ncclDevKernel_ReduceScatter_Sum_f32_RING_LL"
MESSAGE = "ncclDevKernel_SendRecv"
ELEMENTWISE = "vectorized_elementwise_kernel"
PRODUCT = "ampere_sgemm_128x128_tn"


def behind(rank, stream):
    """What is launched next on the compute stream waits for another stream."""
    rank.free[7] = max(rank.free.get(7, 0.0), rank.free.get(stream, 0.0))


def prefetched_gathers(run):
    """FSDP with prefetch: the next layer's all-gather runs beside this layer's kernels, which take twice as long."""
    def body(_):
        for _ in range(12):
            run.reduce(400, after=False, name=GATHER, **{"Collective name": "_allgather_base"})
            run.each(lambda rank: rank.kernel("aten::addmm", 900, name=PRODUCT))
            run.each(lambda rank: behind(rank, 20))
        run.each(finish)
    run.steps(5, body)


def ring_attention(run):
    """Context parallelism: each turn of the ring passes keys and values in 1.5 ms beside 0.3 ms of attention."""
    def body(_):
        for _ in range(4):
            run.each(lambda rank: rank.kernel("aten::addmm", 150, name=PRODUCT))
            for _ in range(4):
                run.reduce(1500, after=False, stream=21, name=MESSAGE, **{"Collective name": "send"})
                run.each(lambda rank: rank.kernel("aten::_flash_attention_forward", 300, name="flash_fwd_kernel"))
                run.each(lambda rank: behind(rank, 21))
        run.reduce(150)
        run.each(finish)
    run.steps(5, body)


def tensor_parallel_small(run):
    """Tensor parallelism of small layers: an all-reduce of 600 us stands behind every 150 us of products."""
    def body(_):
        for _ in range(16):
            run.each(lambda rank: rank.kernel("aten::mm", 150, name=PRODUCT))
            run.reduce(600)
        run.each(finish)
    run.steps(5, body)


def broadcast_buffers(run):
    """DDP sends all buffers from rank 0 at each step's begin for 5 ms, one message a buffer."""
    def body(_):
        for _ in range(25):
            run.reduce(200, name="ncclDevKernel_Broadcast_RING_LL", **{"Collective name": "broadcast"})
        run.each(lambda rank: layers(rank, 4, 200))
        run.reduce(100)
        run.each(finish)
    run.steps(5, body)


def clocks_apart(run):
    """One rank's products are slower; each rank's clock counts from another second."""
    def body(_):
        for rank in run.ranks:
            layers(rank, 6, 480 if rank.rank == run.world - 1 else 300)
        run.reduce()
        run.each(finish)
    run.steps(5, body)
    for rank in run.ranks:
        for event in rank.events:
            event["ts"] += 5e6 * (rank.rank or 0)


def late_rank_at_barrier(run):
    """One rank writes a summary for 7 ms before the all-reduce that all wait for."""
    def body(_):
        run.each(lambda rank: layers(rank, 6, 200))
        for rank in run.ranks:
            if rank.rank in (None, 1):
                rank.wait()
                with rank.function("logger.py(12): write_summary"):
                    rank.work(7000)
        run.reduce(100)
        run.each(finish)
    run.steps(6, body)


def rccl_all_reduce(run):
    """AMD's library names its kernels alike whatever they do; an all-reduce of 9 ms stands behind the backward pass."""
    def body(_):
        for rank in run.ranks:
            layers(rank, 6, 300)
        run.reduce(9000, name="ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)")
        run.each(finish)
    run.steps(5, body)


def recomputed_blocks(run):
    """Each block's forward runs again before its backward: products, and nothing waits."""
    def body(_):
        for rank in run.ranks:
            for _ in range(4):
                rank.kernel("aten::addmm", 400, name=PRODUCT)
            with rank.annotate("## backward ##"):
                for _ in range(4):
                    with rank.operator("autograd::engine::evaluate_function: CheckpointFunctionBackward"):
                        rank.kernel("aten::addmm", 400, name=PRODUCT)
                        rank.kernel("AddmmBackward0", 800, name=PRODUCT)
        run.reduce(200)
        run.each(finish)
    run.steps(5, body)


def two_streams(run):
    """Two compute streams take turns and overlap: the device is always busy with products."""
    def body(_):
        for rank in run.ranks:
            for _ in range(6):
                rank.kernel("aten::addmm", 700, stream=7, name=PRODUCT)
                rank.kernel("aten::addmm", 700, stream=8, name=PRODUCT)
            behind(rank, 8)
        run.reduce(100)
        run.each(finish)
    run.steps(5, body)


def evaluation_between(run):
    """After the fifth of ten steps the model is evaluated for 150 ms, outside any step; steps are bound by products."""
    def body(number):
        run.each(lambda rank: layers(rank, 6, 300))
        run.reduce()
        run.each(finish)
        for rank in run.ranks if number == 5 else []:
            with rank.function("train.py(120): evaluate"):
                for _ in range(50):
                    rank.kernel("aten::addmm", 3000, name=PRODUCT)
                rank.wait()
    run.steps(10, body)


def recompiles_once(run):
    """One of eight steps has a new shape, for which the compiler works 400 ms; the others are bound by products."""
    def body(number):
        for rank in run.ranks if number == 4 else []:
            with rank.annotate("_compile.compile_inner (dynamo_timed)"):
                rank.work(400000)
        run.each(lambda rank: layers(rank, 6, 300))
        run.reduce()
        run.each(finish)
    run.steps(8, body)


def graph_replays(run):
    """Each step is one CUDA graph of twelve products, all recorded: the device is busy, the host idle."""
    def body(_):
        for rank in run.ranks:
            rank.correlation += 1
            rank.host("cuda_runtime", "cudaGraphLaunch", rank.now, 20, correlation=rank.correlation)
            start = max(rank.now + 10, rank.free.get(7, 0.0))
            for _ in range(12):
                us = rank.jitter(300)
                rank.event("kernel", PRODUCT, start, us, 0, 7, device=0, stream=7, correlation=rank.correlation)
                start += us
            rank.free[7] = start
            rank.now += 20
        run.reduce(60)
        run.each(lambda rank: rank.wait(7))
    run.steps(6, body)


def launcher_in_python(run):
    """Triton kernels of 6 us behind a launcher that spends 45 us of Python each."""
    def body(_):
        for rank in run.ranks:
            for _ in range(120):
                with rank.function("triton/runtime/jit.py(345): run"):
                    rank.work(45)
                    rank.issue("cuLaunchKernel", "kernel", "triton_poi_fused_add_mul_3", 6, 7)
        run.reduce(60)
        run.each(finish)
    run.steps(5, body)


def rollout(run):
    """Tokens are generated one by one with small kernels before the update, as in reinforcement learning."""
    def body(_):
        for rank in run.ranks:
            with rank.function("trainer.py(88): generate"):
                for _ in range(60):
                    for _ in range(4):
                        rank.kernel("aten::mm", 8, host_us=20, name=PRODUCT)
                    rank.item()
        run.each(lambda rank: layers(rank, 3, 300))
        run.reduce(100)
        run.each(finish)
    run.steps(4, body)


def clipped_one_by_one(run):
    """The gradient's norm is taken parameter by parameter: 150 times 25 us of host for 3 us of kernel."""
    def body(_):
        run.each(lambda rank: layers(rank, 4, 200))
        run.reduce(100)
        for rank in run.ranks:
            rank.wait()
            with rank.function("torch/nn/utils/clip_grad.py(40): clip_grad_norm_"):
                for _ in range(150):
                    rank.kernel("aten::linalg_vector_norm", 3, host_us=25, name="reduce_kernel")
        run.each(finish)
    run.steps(5, body)


def logs_each_step(run):
    """Every step ends with 9 ms of logging, behind the loss's .item()."""
    def body(_):
        run.each(lambda rank: layers(rank, 6, 300))
        run.reduce(100)
        for rank in run.ranks:
            finish(rank)
            with rank.function("wandb/sdk/wandb_run.py(1600): log"):
                rank.work(9000)
    run.steps(6, body)


def asks_for_sizes(run):
    """Every layer picks elements by a mask, whose number the host must know (aten::nonzero waits)."""
    def body(_):
        for rank in run.ranks:
            for _ in range(20):
                rank.kernel("aten::mul", 50, host_us=10, name=ELEMENTWISE)
                with rank.operator("aten::nonzero"):
                    rank.issue("cudaLaunchKernel", "kernel", "DeviceSelectSweepKernel", 8, 7)
                    rank.issue("cudaMemcpyAsync", "gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 2, 7, bytes=8)
                    rank.wait()
                rank.work(60)
        run.reduce(60)
        run.each(lambda rank: update(rank, 20))
    run.steps(5, body)


def offloaded_update(run):
    """The optimizer runs on the host: gradients come down in 3 ms, the update takes 40 ms there, weights go up in 3 ms."""
    def body(_):
        run.each(lambda rank: layers(rank, 4, 300))
        run.reduce(100)
        for rank in run.ranks:
            with rank.annotate("Optimizer.step#DeepSpeedCPUAdam.step"):
                with rank.operator("aten::copy_"):
                    rank.issue("cudaMemcpyAsync", "gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", 3000, 7, bytes=70 << 20)
                    rank.wait()
                rank.run("deepspeed::cpu_adam", 40000)
                rank.copy(3000, op="aten::copy_", size=70 << 20)
            rank.wait()
    run.steps(4, body)


def unfused_attention(run):
    """Scores are scaled, masked, normalised and dropped by kernels of their own, each bound by memory."""
    def body(_):
        for rank in run.ranks:
            for layer in range(4):
                with rank.annotate(f"nn.Module: Attention_{layer}", "python_function"):
                    rank.kernel("aten::bmm", 120, name=PRODUCT)
                    for op in ("div", "masked_fill", "_softmax", "dropout"):
                        rank.kernel("aten::" + op, 320, name=ELEMENTWISE)
                    rank.kernel("aten::bmm", 120, name=PRODUCT)
        run.reduce(60)
        run.each(finish)
    run.steps(5, body)


def contended_interpreter(run):
    """Another thread holds the interpreter: every operator of the main thread takes 70 us before its kernel of 10."""
    def body(_):
        for rank in run.ranks:
            for _ in range(100):
                rank.kernel("aten::addmm", 10, host_us=70, name=PRODUCT)
        run.reduce(60)
        run.each(finish)
    run.steps(5, body)


def loader_of_one_at_times(run):
    """Every second step one rank's loader takes 15 ms; the others wait for that rank in the all-reduce."""
    def body(number):
        for rank in run.ranks:
            with rank.annotate("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"):
                rank.work(15000 if rank.rank in (None, 0) and number % 2 else 100)
            rank.copy(60)
        run.each(lambda rank: layers(rank, 6, 200))
        run.reduce()
        run.each(finish)
    run.steps(8, body)


def micro_batches_copied(run):
    """Every one of four micro-batches is copied from pinned memory for 2 ms on the stream of the kernels that need it."""
    def body(_):
        for rank in run.ranks:
            for _ in range(4):
                rank.copy(2000, op="aten::to", size=50 << 20)
                layers(rank, 2, 150)
        run.reduce(100)
        run.each(finish)
    run.steps(5, body)


def no_marks(run):
    """No step is marked: five passes of a loop whose every layer ends with .item()."""
    for _ in range(5):
        for rank in run.ranks:
            for _ in range(20):
                rank.kernel("aten::mul", 60, host_us=15, name=ELEMENTWISE)
                rank.item()
                rank.work(60)
            update(rank, 20)
    run.each(lambda rank: rank.wait(7))


def two_groups(run):
    """Ranks reduce in groups of two; one group's link takes 6 ms, the other groups' 0.3 ms; nobody else waits for it."""
    def body(_):
        run.each(lambda rank: layers(rank, 4, 250))
        for first in range(0, run.world, 2):
            collective(run.ranks[first:first + 2], 6000 if first == 0 else 300, 20,
                       **{"Process Group Ranks": str([first, first + 1]), "Process Group Name": str(first)})
            for rank in run.ranks[first:first + 2]:
                behind(rank, 20)
        run.each(finish)
    run.steps(5, body)
