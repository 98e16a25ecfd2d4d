"""More runs with one planted cause each: sharded and fetched parameters, experts, checkpoints, allocators, pinning, workers that
fall behind. Each takes a Run of planted_runs.py; its expected answer was written before the report was seen.
"""
from planted_runs import Run, finish, train, write_pipeline
from planted_traces import layers

GATHER, SEND = "ncclDevKernel_AllGather_RING_LL", "ncclDevKernel_SendRecv"
GEMM, POINTWISE = "ampere_sgemm_128x128_tn", "vectorized_elementwise_kernel"


def gathers_ahead(run):
    """FSDP with prefetch: gathers run beside the layer before, and still take four times as long as it."""
    def body(_):
        for number in range(8):
            run.reduce(2000, name=GATHER, after=False, **{"Collective name": "_allgather_base"})
            ready = [rank.free[20] for rank in run.ranks]
            run.each(lambda rank: rank.kernel("aten::addmm", 500, name=GEMM))
            for rank, at in zip(run.ranks, ready):
                rank.free[7] = max(rank.free[7], at)
        run.each(finish)
    run.steps(5, body)


def last_stage_with_head(path, world):
    """The last stage of a pipeline holds the vocabulary and takes twice as long."""
    return write_pipeline(path, world, 4 * world, world - 1)


def wide_all_to_all(run):
    """Experts take 0.3 ms a layer, the all-to-alls around them 2 ms each, on all ranks alike."""
    def body(_):
        for _ in range(3):
            run.each(lambda rank: rank.kernel("aten::addmm", 200, name=GEMM))
            run.reduce(2000, stream=21, name=SEND, **{"Collective name": "all_to_allv"})
            run.each(lambda rank: rank.kernel("grouped_gemm::gmm", 300, name="cutlass_grouped_gemm_kernel"))
            run.reduce(2000, stream=21, name=SEND, **{"Collective name": "all_to_allv"})
        run.each(finish)
    run.steps(5, body)


def accumulation(run):
    """Four micro-batches a step, gradients summed with the last alone: products fill the step."""
    def body(_):
        for _ in range(4):
            run.each(lambda rank: layers(rank, 3, 250))
        run.reduce(300)
        run.each(finish)
    run.steps(5, body)


def pins_for_all(run):
    """On every rank the main thread waits while the thread that pins memory copies a batch for 12 ms."""
    def load(rank, _):
        with rank.annotate("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"):
            begin, rank.thread = rank.now, 300
            with rank.operator("aten::pin_memory"):
                rank.work(12000)
            rank.thread = 100
            rank.now = max(rank.now, begin) + 15
        rank.copy(80)
    train(run, before=load)


def checkpoint_every_third(run):
    """Every third step ends with a checkpoint of 40 ms, behind everything it launches."""
    def body(number):
        run.each(lambda rank: layers(rank, 6, 300))
        run.reduce()
        run.each(finish)
        for rank in run.ranks if number % 3 == 0 else []:
            with rank.function("torch/serialization.py(933): save"):
                rank.work(40000)
    run.steps(10, body)


def rank_zero_saves(run):
    """Every third step rank 0 alone writes a checkpoint for 40 ms; the others wait for it in the next all-reduce."""
    def body(number):
        run.each(lambda rank: layers(rank, 6, 300))
        run.reduce()
        run.each(finish)
        if number % 3 == 0:
            with run.ranks[0].function("torch/serialization.py(933): save"):
                run.ranks[0].work(40000)
    run.steps(10, body)


def retries_of_one(run):
    """The allocator of rank 1 finds no room and asks the device six times a step, 1.5 ms each; the others wait for the rank."""
    def retry(rank, _):
        if rank.rank != 1:
            return
        for _ in range(6):
            with rank.operator("aten::empty"):
                for call, us in (("cudaFree", 900), ("cudaMalloc", 600)):
                    rank.correlation += 1
                    rank.host("cuda_runtime", call, rank.now, us, correlation=rank.correlation)
                    rank.now += us
    train(run, before=retry)


def far_socket(run):
    """The host of the last rank sits on the wrong socket: each of its operators takes four times as long."""
    def body(_):
        for rank in run.ranks:
            for _ in range(120):
                rank.kernel("aten::linear", 20, host_us=60 if rank.rank == run.world - 1 else 15, name=GEMM)
        run.reduce(100)
        run.each(finish)
    run.steps(5, body)


def slow_memory_of_one(run):
    """Element-wise kernels of rank 1 take twice as long as everywhere else, its products do not."""
    def body(_):
        for rank in run.ranks:
            for _ in range(10):
                rank.kernel("aten::addmm", 150, name=GEMM)
                rank.kernel("aten::mul", 800 if rank.rank == 1 else 400, name=POINTWISE)
        run.reduce(100)
        run.each(finish)
    run.steps(5, body)


def beside_products(run):
    """Element-wise kernels on a second stream hide behind products."""
    def body(_):
        for rank in run.ranks:
            for _ in range(10):
                rank.kernel("aten::addmm", 500, name=GEMM)
                rank.kernel("aten::mul", 250, stream=8, name=POINTWISE)
        run.each(finish)
    run.steps(5, body)


def giant_step(run):
    """One step alone, of 3,000 products of 1 ms."""
    def body(_):
        for rank in run.ranks:
            for _ in range(3000):
                rank.kernel("aten::addmm", 1000, name=GEMM)
        run.each(finish)
    run.steps(1, body)


def unmarked_loader(run):
    """No annotation marks a step; the loader takes 10 ms on the main thread."""
    for _ in range(6):
        for rank in run.ranks:
            with rank.annotate("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"):
                rank.work(10000)
            rank.copy(80)
            layers(rank, 6, 300)
            finish(rank)


def unmarked_launches(run):
    """No annotation marks a step; 2,000 kernels of 2 us behind 12 us of host each."""
    for rank in run.ranks:
        for _ in range(2000):
            rank.kernel("aten::add", 2, host_us=8, name=POINTWISE)


def silent_pause(run):
    """In every step 9 ms pass on the host between forward and backward, and nothing is recorded."""
    def body(_):
        for rank in run.ranks:
            for _ in range(6):
                rank.kernel("aten::addmm", 300, name=GEMM)
            rank.work(9000)
            with rank.annotate("## backward ##"):
                for _ in range(6):
                    rank.kernel("AddmmBackward0", 300, name=GEMM)
        run.each(finish)
    run.steps(5, body)


def parameters_fetched(run):
    """Parameters wait on the host: each layer's are copied for 2 ms on a stream of their own, its product takes 0.5 ms."""
    def body(_):
        for rank in run.ranks:
            for _ in range(8):
                rank.copy(2000, stream=9, size=50 << 20)
                rank.free[7] = max(rank.free.get(7, 0.0), rank.free[9])
                rank.kernel("aten::addmm", 500, name=GEMM)
        run.each(finish)
    run.steps(5, body)


def workers_fall_behind(run):
    """Two workers fill a queue of two: every second step waits 14 ms for its batch."""
    def load(rank, number):
        with rank.annotate("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"):
            rank.work(14000 if number % 2 else 100)
        rank.copy(80)
    train(run, count=10, before=load)


def loaders_by_turns(run):
    """Every step the loader of another rank takes 12 ms: all wait for one every time."""
    def load(rank, number):
        with rank.annotate("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"):
            rank.work(12000 if rank.rank == (3 * number) % run.world else 100)
        rank.copy(80)
    train(run, count=9, before=load)


def tries_algorithms(run):
    """In the third step the library tries forty algorithms for a convolution of a new size, 2 ms each."""
    def body(number):
        for rank in run.ranks:
            with rank.operator("aten::cudnn_convolution"):
                for choice in range(40 if number == 3 else 0):
                    rank.issue("cudaLaunchKernel", "kernel", f"cutlass_fprop_candidate_{choice}", 2000, 7)
            layers(rank, 6, 300)
        run.each(finish)
    run.steps(8, body)


def table_on_host(run):
    """Rows are gathered on the host for 10 ms and copied."""
    def body(_):
        for rank in run.ranks:
            rank.run("aten::embedding_bag", 10000)
            rank.copy(300, op="aten::to", size=4 << 20)
            layers(rank, 6, 300)
        run.reduce(100)
        run.each(finish)
    run.steps(5, body)


def empties_cache(run):
    """torch.cuda.empty_cache() gives memory back in each step, and the next layers take it again: 10 ms in cudaFree and cudaMalloc."""
    def asks(rank, call, us):
        rank.correlation += 1
        rank.host("cuda_runtime", call, rank.now, us, correlation=rank.correlation)
        rank.now += us

    def body(_):
        for rank in run.ranks:
            with rank.function("torch/cuda/memory.py(162): empty_cache"):
                for _ in range(8):
                    asks(rank, "cudaFree", 800)
            for _ in range(8):
                with rank.operator("aten::addmm"):
                    with rank.operator("aten::empty"):
                        asks(rank, "cudaMalloc", 500)
                    rank.issue("cudaLaunchKernel", "kernel", GEMM, 300, 7)
        run.each(finish)
    run.steps(5, body)


def pins_in_loop(run):
    """The main thread pins every batch itself: cudaHostAlloc takes 9 ms."""
    def body(_):
        for rank in run.ranks:
            with rank.operator("aten::pin_memory"):
                rank.correlation += 1
                rank.host("cuda_runtime", "cudaHostAlloc", rank.now, 9000, correlation=rank.correlation)
                rank.now += 9000
            rank.copy(200, op="aten::to", size=4 << 20)
            layers(rank, 6, 300)
        run.each(finish)
    run.steps(5, body)


def lengths_differ(run):
    """Sequences differ in length from step to step: products take 100 to 500 us, and always fill the step."""
    train(run, count=10, pass_us=lambda _, number: 100 + 100 * (7 * number % 5))


def weights_copied_out(run):
    """Each step copies all weights to the host for 9 ms, on the stream that computes."""
    def body(_):
        run.each(lambda rank: layers(rank, 6, 300))
        run.reduce(100)
        for rank in run.ranks:
            finish(rank)
            rank.copy(9000, name="Memcpy DtoH (Device -> Pinned)", size=220 << 20)
    run.steps(6, body)


def barriers(run):
    """One rank parses samples for 5 ms a step in its own function; a barrier, an all-reduce of one element, holds the others."""
    def body(_):
        for rank in run.ranks:
            if rank.rank == 2:
                with rank.function("data.py(20): parse"):
                    rank.work(5000)
        run.reduce(15, name="ncclDevKernel_AllReduce_Sum_i8_RING_LL", **{"In msg nelems": 1, "Out msg nelems": 1})
        run.each(lambda rank: layers(rank, 6, 200))
        run.each(finish)
    run.steps(6, body)


def zeroes_gradients(run):
    """Every step fills 200 gradients with zeros, 30 us of the device each."""
    def body(_):
        for rank in run.ranks:
            with rank.annotate("Optimizer.zero_grad#SGD.zero_grad"):
                for _ in range(200):
                    with rank.operator("aten::zero_"):
                        rank.work(3)
                        rank.issue("cudaMemsetAsync", "gpu_memset", "Memset (Device)", 30, 7, bytes=16 << 20)
            layers(rank, 3, 150)
        run.each(finish)
    run.steps(5, body)


def sums_beside_backward(run):
    """Buckets are summed beside the backward pass; all but the last is hidden, and products fill the step."""
    def body(_):
        for _ in range(6):
            run.each(lambda rank: rank.kernel("aten::addmm", 500, name=GEMM))
        for bucket in range(6):
            run.each(lambda rank: rank.kernel("AddmmBackward0", 1000, name=GEMM))
            run.reduce(700, after=bucket == 5)
        run.each(finish)
    run.steps(5, body)


def uneven_batches(run):
    """Samples differ in size: every step another rank computes twice as long, and all wait for it."""
    def body(number):
        for rank in run.ranks:
            layers(rank, 6, 600 if rank.rank == (3 * number) % run.world else 300)
        run.reduce(150)
        run.each(finish)
    run.steps(9, body)


def stages_on_one_host(run):
    """Two models take turns: one of 40 kernels of 5 us behind 30 us of host each, one of 4 products of 250 us."""
    def body(_):
        for rank in run.ranks:
            for _ in range(3):
                with rank.annotate("critic"):
                    for _ in range(40):
                        rank.kernel("aten::linear", 5, host_us=26, name="gemv_kernel_bf16")
                with rank.annotate("actor"):
                    for _ in range(4):
                        rank.kernel("aten::addmm", 250, name=GEMM)
                rank.item()
        run.each(finish)
    run.steps(5, body)


def event_waits(run):
    """A stream prepares inputs with element-wise kernels for 6 ms, the products of the other wait for its event."""
    def body(_):
        for rank in run.ranks:
            for _ in range(6):
                rank.kernel("aten::normalize", 1000, stream=8, name=POINTWISE)
            rank.correlation += 1
            rank.host("cuda_runtime", "cudaStreamWaitEvent", rank.now, 2, correlation=rank.correlation)
            rank.now += 2
            rank.free[7] = max(rank.free.get(7, 0.0), rank.free[8])
            layers(rank, 4, 150)
        run.each(finish)
    run.steps(5, body)


def gradients_through_host(run):
    """Gradients go to the host, are summed there for 6 ms over a socket (gloo), and come back."""
    def body(_):
        run.each(lambda rank: layers(rank, 6, 200))
        for rank in run.ranks:
            rank.copy(800, name="Memcpy DtoH (Device -> Pinned)", size=20 << 20)
            rank.wait()
        start = max(rank.now for rank in run.ranks)
        for rank in run.ranks:
            with rank.annotate("gloo:all_reduce"):
                rank.now = start + 6000
            rank.copy(800, size=20 << 20)
        run.each(finish)
    run.steps(5, body)


def annotated_evaluation(run):
    """Behind the fifth of ten steps an annotated evaluation takes 100 ms."""
    def body(number):
        for rank in run.ranks:
            layers(rank, 6, 300)
            finish(rank)
            if number == 5:
                with rank.annotate("evaluate"):
                    for _ in range(50):
                        rank.kernel("aten::addmm", 2000, name=GEMM)
                    rank.item()
    run.steps(10, body)


def write(program, world, path):
    """The recordings of a program on so many ranks."""
    if program == "last_stage_with_head":
        return last_stage_with_head(path, world)
    run = Run(world)
    globals()[program](run)
    for rank in run.ranks:
        rank.wait(7)
    return run.write(path)
