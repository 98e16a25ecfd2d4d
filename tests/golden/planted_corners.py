"""More runs with one planted cause each, whose cause hides in a corner: in one group of ranks, one layer, one stream, every k-th step, or
behind a compiler, a server or a library. Written as planted_habits.py and planted_meshes.py are.
"""
from planted_habits import (ATTENTION, COPIES, FOREACH, GEMM, POINTWISE, backward_pass, from_pageable, fused_update, gradient, linear,
                            passes, reads_loss, replay, to_host, train)
from planted_meshes import ends, exchange, wait_for

GEMV = "void gemvNSP_kernel<__nv_bfloat16, __nv_bfloat16, __nv_bfloat16, float, 1, 32, 4, 1024>"


def pairs_of(run):
    return [run.ranks[first:first + 2] for first in range(0, run.world, 2)]


# --- of one rank or group ---------------------------------------------------------------------------------------------

def slow_in_its_group(run):
    """Tensor-parallel pairs within a data-parallel run: the products of rank 5 take 1.8 times as long, its partner waits first, then all."""
    def body(_):
        for _ in range(6):
            for rank in run.ranks:
                linear(rank, 540 if rank.rank == 5 else 300)
            for pair in pairs_of(run):
                exchange(run, 50, ranks=pair)
        ends(run)
    run.steps(5, body)


def slow_link_of_a_pair(run):
    """The same pairs; the all-reduces of ranks 2 and 3 take 900 us, those of the other pairs 80."""
    def body(_):
        for _ in range(8):
            for rank in run.ranks:
                linear(rank, 250)
            for number, pair in enumerate(pairs_of(run)):
                exchange(run, 900 if number == 1 else 80, ranks=pair)
        ends(run)
    run.steps(5, body)


def one_slow_layer(run):
    """One of twelve layers, on every rank alike, has an attention of 5 ms."""
    def body(_):
        for layer in range(12):
            for rank in run.ranks:
                with rank.function(f"nn.Module: Block_{layer}"):
                    linear(rank, 150)
                    rank.kernel("aten::_scaled_dot_product_flash_attention", 5000 if layer == 7 else 120, name=ATTENTION)
        ends(run)
    run.steps(5, body)


def collector_of_one(run):
    """Python's collector stops rank 3 for 20 ms in every fourth step."""
    def body(number):
        for rank in run.ranks:
            passes(rank, 5, 200)
            if rank.rank == 3 and number % 4 == 0:
                with rank.function("Python GC"):
                    rank.work(20000)
        ends(run)
    run.steps(13, body)


def hot_in_backward(run):
    """The device of rank 1 takes 1.4 times as long in the backward pass alone, for it throttles under load."""
    def body(_):
        for rank in run.ranks:
            for _ in range(6):
                linear(rank, 250)
            with backward_pass(rank):
                for _ in range(6):
                    gradient(rank, 700 if rank.rank == 1 else 500)
        ends(run)
    run.steps(6, body)


def two_of_sixteen(run):
    """Two of sixteen ranks have the longer sequences, always the same two."""
    def body(_):
        for rank in run.ranks:
            passes(rank, 3, 420 if rank.rank in (6, 11) else 300)
        ends(run)
    run.steps(4, body)


def allocates_on_one(run):
    """Rank 2 maps memory anew in each step, as expandable segments do: 7 ms in cuMemCreate and cuMemMap."""
    def body(_):
        for rank in run.ranks:
            if rank.rank == 2:
                with rank.operator("aten::empty"):
                    for call, us in (("cuMemCreate", 4000), ("cuMemMap", 1500), ("cuMemSetAccess", 1500)):
                        rank.correlation += 1
                        rank.host("cuda_driver", call, rank.now, us, correlation=rank.correlation)
                        rank.now += us
            passes(rank, 5, 200)
        ends(run)
    run.steps(5, body)


# --- compilers, servers, libraries ------------------------------------------------------------------------------------

def compiled_pointwise(run):
    """A compiled model whose fused element-wise kernels take 6 of 9 ms."""
    def body(_):
        for rank in run.ranks:
            with rank.operator("Torch-Compiled Region: 0/0"):
                for layer in range(10):
                    rank.kernel("triton_poi_fused_add_gelu_mul_3", 600, name="triton_poi_fused_add_gelu_mul_3", host_us=8)
                    rank.kernel("extern_kernels.mm", 250, name=GEMM, host_us=8)
            fused_update(rank)
            reads_loss(rank)
    run.steps(5, body)


def single_tokens(run):
    """Decoding of one request by graphs: matrix-vector products that read all weights fill the device."""
    def body(_):
        for rank in run.ranks:
            with rank.annotate("execute_context_0(0)_generation_1(1)"):
                replay(rank, 32 * [(GEMV, 180), (ATTENTION, 12)])
                to_host(rank)
    run.steps(8, body)


def dequantizes(run):
    """Weights of four bits are unpacked before each product: 600 us for products of 250."""
    def body(_):
        for rank in run.ranks:
            for _ in range(12):
                with rank.operator("MatMul4Bit"):
                    rank.kernel("bitsandbytes::dequantize_4bit", 600, name="void kDequantizeBlockwise<__nv_bfloat16, 512, 64, 8, 2>(float*, unsigned char*)")
                    linear(rank, 250)
            reads_loss(rank)
    run.steps(5, body)


def large_graph_launches(run):
    """A graph of 2,000 nodes takes the host 4 ms to launch, the device 2.5 ms to run; the host waits for its result."""
    def body(_):
        for rank in run.ranks:
            rank.correlation += 1
            begin = rank.now
            rank.host("cuda_runtime", "cudaGraphLaunch", begin, 4000, correlation=rank.correlation)
            rank.now += 4000
            for number in range(50):
                rank.event("kernel", GEMM, rank.now + 10 + 50 * number, 49, 0, 7, device=0, stream=7, correlation=rank.correlation)
            rank.free[7] = rank.now + 2510
            rank.wait()
    run.steps(6, body)


def times_each_layer(run):
    """A profiler of the user's own waits for an event after each of 30 layers, and writes its time: 100 us."""
    def body(_):
        for rank in run.ranks:
            for _ in range(30):
                linear(rank, 60)
                with rank.function("profile_layers.py(18): elapsed"):
                    rank.wait(call="cudaEventSynchronize")
                    rank.work(100)
            fused_update(rank)
    run.steps(5, body)


def streams_samples(run):
    """A dataset that is read from the network on the main thread: 11 ms in ssl.read, in the loader's annotation."""
    def load(rank, _):
        with rank.annotate("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"):
            with rank.function("webdataset/tariterators.py(130): tar_file_iterator"):
                with rank.function("ssl.py(1230): recv_into"):
                    rank.work(11000)
    train(run, before=load)


def decodes_images(run):
    """Images are decoded by torchvision on the main thread, without a loader: 9 ms in one operator of the host."""
    def load(rank, _):
        with rank.function("train.py(71): next_batch"):
            for _ in range(8):
                rank.run("image::decode_jpeg", 1100)
            from_pageable(rank, 150, 4 << 20)
    train(run, before=load)


def sums_over_host_of_many(run):
    """Metrics are gathered as Python objects: pickled on the host for 6 ms, then gathered."""
    def body(_):
        for rank in run.ranks:
            passes(rank, 4, 200)
            with rank.function("torch/distributed/distributed_c10d.py(2700): all_gather_object"):
                rank.work(6000)
        exchange(run, 60, "_allgather_base")
        ends(run)
    run.steps(5, body)


def weights_to_host(run):
    """Each tenth step copies all weights to pageable memory for a checkpoint: 50 ms of copies that the host waits for."""
    def save(rank, number):
        if number % 10 == 5:
            with rank.function("torch/distributed/checkpoint/state_dict_saver.py(60): save"):
                for _ in range(10):
                    with rank.operator("aten::to"):
                        rank.issue("cudaMemcpyAsync", "gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 5000, 7, bytes=30 << 20)
                        rank.wait()
    train(run, count=13, extra=save)


def moments_one_by_one(run):
    """An optimizer of multi-tensor kernels bound by memory: 6 of 10 ms."""
    def update(rank, _):
        with rank.annotate("Optimizer.step#AdamW.step"):
            for _ in range(12):
                rank.kernel("aten::_foreach_addcdiv_", 500, host_us=40, name=FOREACH)
    train(run, extra=update)


def dense_embedding_gradients(run):
    """The gradient of a large table is written whole: 5 ms in one kernel."""
    def table(rank, _):
        with backward_pass(rank):
            gradient(rank, 5500, "EmbeddingBackward0", "aten::embedding_dense_backward",
                     name="void at::native::(anonymous namespace)::embedding_backward_feature_kernel<float, float, long>")
    train(run, between=table)


def stage_with_slow_link(run):
    """Stages pass activations over a link that takes 3 ms a message; each of four stages computes 1.5 ms."""
    def body(_):
        for _ in range(4):
            for rank in run.ranks:
                linear(rank, 1500)
            exchange(run, 3000, "send", stream=21)
        ends(run)
    run.steps(5, body)


def copies_beside(run):
    """Copies of the next batch run on a stream of their own, hidden behind 8 ms of products."""
    def body(_):
        for rank in run.ranks:
            rank.copy(4000, stream=9, op="aten::to", size=100 << 20)
            passes(rank, 8, 330)
            fused_update(rank)
            reads_loss(rank)
        wait_for(run, 9)
    run.steps(5, body)


def cold_caches(run):
    """The first two of eight steps take 80 and 30 ms on the host, as caches fill; the rest is bound by products."""
    def warm(rank, number):
        if number < 3:
            with rank.function("torch/_inductor/codecache.py(1100): load"):
                rank.work(80000 if number == 1 else 30000)
    train(run, count=8, before=warm)


def contiguous_of_one(run):
    """Rank 1 has another layout and copies its activations in every layer: 4 ms that the others do not have."""
    def body(_):
        for rank in run.ranks:
            for _ in range(8):
                linear(rank, 350)
                if rank.rank == 1:
                    with rank.operator("aten::contiguous"):
                        rank.kernel("aten::copy_", 500, name=COPIES)
                rank.kernel("aten::gelu", 60, name=POINTWISE)
        ends(run)
    run.steps(5, body)


def sorts_scores(run):
    """A sampler sorts scores over a large vocabulary: 5 of 8 ms in radix sorts."""
    def body(_):
        for rank in run.ranks:
            for _ in range(10):
                linear(rank, 280)
            rank.kernel("aten::sort", 5000, name="void cub::DeviceSegmentedRadixSortKernel<cub::Policy800, true, int, float, long>")
            to_host(rank)
    run.steps(6, body)


def writer_thread(run):
    """Another thread writes a checkpoint in Python and holds the interpreter: the main thread's operators take 80 us each, not 14."""
    def body(_):
        for rank in run.ranks:
            begin = rank.now
            for _ in range(90):
                linear(rank, 30, host_us=80)
            end, rank.now, rank.thread = rank.now, begin, 400
            with rank.function("pickle.py(476): dump"):
                rank.work(end - begin)
            rank.thread, rank.now = 100, end
            fused_update(rank)
            reads_loss(rank)
    run.steps(5, body)


def joins_in_first_step(run):
    """The first step sets the communicator up for 900 ms; the others wait for nothing but products."""
    def body(number):
        for rank in run.ranks:
            passes(rank, 5, 300)
            if number == 1:
                with rank.operator("c10d::allreduce_"):
                    rank.run("ncclCommInitRank", 900000)
        ends(run)
    run.steps(6, body)


def scheduler_of_rates(run):
    """A hook of the scheduler computes norms of all weights in NumPy on the host: 7 ms a step behind a copy of 0.4."""
    def rate(rank, _):
        with rank.function("schedule.py(40): adapt"):
            to_host(rank, size=1 << 20)
            rank.work(7000)
    train(run, extra=rate)


def reads_back_masks(run):
    """Each of 16 layers reads its router's choice back and branches on it in Python: waits, each followed by 200 us of host."""
    def body(_):
        for rank in run.ranks:
            for layer in range(16):
                with rank.function(f"nn.Module: Router_{layer}"):
                    linear(rank, 80)
                    with rank.operator("aten::any"):
                        rank.kernel("aten::any", 5, host_us=8, name="reduce_kernel")
                    with rank.operator("aten::is_nonzero"):
                        rank.item()
                    rank.work(200)
            fused_update(rank)
    run.steps(5, body)


def cast_everywhere(run):
    """Weights are cast to bf16 before every product, as autocast does without its cache: 500 us for products of 300."""
    def body(_):
        for rank in run.ranks:
            for _ in range(12):
                with rank.operator("aten::to"):
                    with rank.operator("aten::_to_copy"):
                        rank.kernel("aten::copy_", 500, name=COPIES.replace("elementwise_kernel<128, 4", "unrolled_elementwise_kernel<4"))
                linear(rank, 300)
            fused_update(rank)
            reads_loss(rank)
    run.steps(5, body)


def gathers_weights_twice(run):
    """FSDP that frees weights after the forward pass gathers them again: gathers of 1 ms before every block of both passes, not prefetched."""
    def body(_):
        for direction in ("forward", "backward"):
            for layer in range(6):
                for rank in run.ranks:
                    with rank.annotate(f"FullyShardedDataParallel._pre_{direction}_unshard"):
                        rank.work(15)
                exchange(run, 1000, "_allgather_base")
                for rank in run.ranks:
                    linear(rank, 300)
        ends(run)
    run.steps(5, body)


def late_by_copies(run):
    """Rank 3's inputs come from the other socket: its pinned copies take 5 ms, the others' 0.5, on the stream that computes."""
    def body(_):
        for rank in run.ranks:
            rank.copy(5000 if rank.rank == 3 else 500, op="aten::to", size=40 << 20)
            passes(rank, 4, 250)
        ends(run)
    run.steps(5, body)


def drains_for_logs(run):
    """Every fifth step synchronises and writes images of the samples for 35 ms."""
    def log(rank, number):
        if number % 5 == 0:
            with rank.function("visualize.py(77): save_grid"):
                to_host(rank, size=8 << 20)
                rank.work(35000)
    train(run, count=14, extra=log)
