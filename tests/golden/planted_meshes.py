"""More runs of several ranks with one planted cause each: sharded, tensor-parallel, pipelined and expert steps, and ranks that are late
for one reason. Written as planted_habits.py is, with the annotations that PyTorch puts around exchanges.
"""
from contextlib import ExitStack

from planted_habits import (ATTENTION, COPIES, FOREACH, GEMM, POINTWISE, SOFTMAX, backward_pass, from_pageable, fused_update, gradient,
                            linear, passes, reads_loss, replay, to_host)

BROADCAST = "ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
GATHER, SCATTER = "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
SEND, REDUCE = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
KERNELS = {"_allgather_base": GATHER, "allgather_into_tensor_coalesced": GATHER, "_reduce_scatter_base": SCATTER, "allreduce": REDUCE, "all_to_allv": SEND, "send": SEND,
           "broadcast": BROADCAST}
SAID = {"_allgather_base": "_all_gather_base", "allreduce": "all_reduce", "all_to_allv": "all_to_all"}


def exchange(run, us, kind="allreduce", ranks=None, elements=1 << 20, **options):
    """A collective as PyTorch records it: c10d's operator, the parameters, and NCCL's annotation around the launch."""
    ranks = ranks or run.ranks
    said = SAID.get(kind, kind)
    with ExitStack() as open_spans:
        for rank in ranks:
            open_spans.enter_context(rank.operator(f"c10d::{said}_"))
            rank.work(8)
            open_spans.enter_context(rank.operator("record_param_comms"))
            open_spans.enter_context(rank.annotate(f"nccl:{said}"))
        run.reduce(us, ranks, name=KERNELS[kind], **{"Collective name": kind, "In msg nelems": elements,
                                                     "Out msg nelems": elements, "dtype": "BFloat16"}, **options)


def wait_for(run, stream):
    for rank in run.ranks:
        rank.free[7] = max(rank.free.get(7, 0.0), rank.free.get(stream, 0.0))


def ends(run, us=150):
    exchange(run, us)
    for rank in run.ranks:
        fused_update(rank)
        reads_loss(rank)


# --- the programs: each takes a Run ----------------------------------------------------------------------------------

def shards_gathered(run):
    """FSDP2: every layer's weights are gathered in 1.4 ms one layer ahead, beside 0.4 ms of kernels."""
    def body(_):
        for layer in range(8):
            for rank in run.ranks:
                with rank.annotate(f"FSDP::all_gather_copy_in (layers.{layer})"):
                    rank.kernel("fsdp::all_gather_copy_in", 20, name=COPIES)
            exchange(run, 1400, "_allgather_base", after=False)
            ready = [rank.free[20] for rank in run.ranks]
            for rank in run.ranks:
                with rank.annotate(f"FSDP::pre_forward (layers.{layer})"):
                    rank.work(20)
                linear(rank, 400)
            for rank, at in zip(run.ranks, ready):
                rank.free[7] = max(rank.free[7], at)
        ends(run)
    run.steps(5, body)


def shards_copied_out(run):
    """FSDP2 over fast links: gathers of 0.1 ms, whose results are split by copies of 0.9 ms before products of 0.3."""
    def body(_):
        for layer in range(8):
            exchange(run, 100, "_allgather_base")
            for rank in run.ranks:
                with rank.annotate(f"FSDP::all_gather_copy_out (layers.{layer})"):
                    rank.kernel("fsdp::split_with_sizes_copy", 900, name="void at::native::(anonymous namespace)::split_with_sizes_copy_out_contiguous_no_cast_kernel")
                linear(rank, 300)
        ends(run)
    run.steps(5, body)


def chunked_products(run):
    """Async tensor parallelism: products in four chunks, beside each of which the next chunk's copy between devices takes half as long."""
    def body(_):
        for _ in range(8):
            for _ in range(4):
                for rank in run.ranks:
                    rank.copy(120, stream=30, op="symm_mem::fused_all_gather_matmul", name="Memcpy PtoP (Device -> Device)", size=20 << 20)
                    linear(rank, 240)
                wait_for(run, 30)
        ends(run)
    run.steps(5, body)


def chunks_over_slow_links(run):
    """The same, whose copies take four times as long as the products."""
    def body(_):
        for _ in range(6):
            for _ in range(4):
                for rank in run.ranks:
                    rank.copy(500, stream=30, op="symm_mem::fused_all_gather_matmul", name="Memcpy PtoP (Device -> Device)", size=20 << 20)
                    linear(rank, 120)
                wait_for(run, 30)
        ends(run)
    run.steps(5, body)


def causal_ring(run):
    """Ring attention under a causal mask without zigzag: the last rank computes four times what the first does; all meet after each turn."""
    def body(_):
        for _ in range(3):
            for _ in range(4):
                for rank in run.ranks:
                    rank.kernel("aten::_scaled_dot_product_flash_attention", 200 + 600 * rank.rank / (run.world - 1), name=ATTENTION)
                exchange(run, 90, "send", stream=21)
        ends(run)
    run.steps(5, body)


def zero_bubble(run):
    """A pipeline whose weight gradients fill the bubbles: every stage computes all the time, and messages pass beside it."""
    def body(_):
        for part in ("F", "F", "F", "F", "B", "W", "B", "W", "B", "W", "B", "W"):
            for rank in run.ranks:
                with rank.annotate(f"({part})"):
                    linear(rank, 450)
            exchange(run, 60, "send", after=False, stream=21)
        ends(run, 80)
    run.steps(5, body)


def shards_fetched(run):
    """ZeRO-3 with parameters on the host: each layer's shard is copied for 1.8 ms, gathered in 0.2, and used for 0.4."""
    def body(_):
        for _ in range(8):
            for rank in run.ranks:
                with rank.function("deepspeed/runtime/zero/partitioned_param_coordinator.py(260): fetch_sub_module"):
                    rank.copy(1800, stream=9, size=44 << 20)
                    rank.free[7] = max(rank.free.get(7, 0.0), rank.free[9])
            exchange(run, 200, "_allgather_base")
            for rank in run.ranks:
                linear(rank, 400)
        ends(run)
    run.steps(5, body)


def updates_of_one(run):
    """The optimizer's states are on the host; the processor of rank 2 takes 30 ms for what the others do in 8; all gather then."""
    def body(_):
        for rank in run.ranks:
            passes(rank, 6, 200)
            rank.wait()
            with rank.annotate("Optimizer.step#DeepSpeedCPUAdam.step"):
                rank.run("deepspeed::cpu_adam", 30000 if rank.rank == 2 else 8000)
        exchange(run, 300, "_allgather_base")
        for rank in run.ranks:
            reads_loss(rank)
    run.steps(5, body)


def exchange_in_graph(run):
    """The whole step is a graph; within it an all-reduce of 3 ms behind 2 ms of kernels."""
    def body(_):
        for rank in run.ranks:
            replay(rank, 8 * [("triton_red_fused_native_layer_norm_0", 50), (GEMM, 200)])
        behind = max(rank.free[7] for rank in run.ranks)
        for rank in run.ranks:
            rank.event("kernel", REDUCE, rank.free[7], behind + 3000 - rank.free[7], 0, 7, device=0, stream=7, correlation=rank.correlation)
            rank.free[7] = behind + 3000
            rank.wait()
            rank.work(40)
    run.steps(6, body)


def counts_for_experts(run):
    """Each expert layer asks how many tokens go where, with tolist(), before its all-to-all: six waits, each followed by 500 us of host."""
    def body(_):
        for _ in range(6):
            for rank in run.ranks:
                linear(rank, 150)
                with rank.function("moe/dispatch.py(61): split_sizes"):
                    to_host(rank)
                    rank.work(500)
            exchange(run, 60, "all_to_allv", stream=21)
            for rank in run.ranks:
                rank.kernel("grouped_gemm::gmm", 200, name="void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_grouped>")
            exchange(run, 60, "all_to_allv", stream=21)
        ends(run, 100)
    run.steps(5, body)


def metrics_reduced(run):
    """Forty metrics are summed over the ranks one by one and asked with .item(): 25 us of exchange, 160 of host."""
    def body(_):
        for rank in run.ranks:
            passes(rank, 3, 150)
        exchange(run, 120)
        for _ in range(40):
            exchange(run, 25, elements=1)
            for rank in run.ranks:
                with rank.function("metrics.py(12): log_mean"):
                    rank.item()
                    rank.work(110)
        for rank in run.ranks:
            fused_update(rank)
    run.steps(5, body)


def synchronized_norms(run):
    """SyncBatchNorm: each of 40 layers gathers its statistics, 180 us over slow links behind 40 us of kernels."""
    def body(_):
        for _ in range(40):
            for rank in run.ranks:
                rank.kernel("aten::cudnn_convolution", 30, name="sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc")
                rank.kernel("aten::batch_norm_stats", 10, name="void at::native::batch_norm_collect_statistics_channels_last_kernel")
            exchange(run, 180, "_allgather_base", elements=129)
        ends(run, 100)
    run.steps(5, body)


def cold_device(run):
    """All kernels of rank 5 take 1.3 times as long, products and others: its clock is lower."""
    def body(_):
        for rank in run.ranks:
            slow = 1.3 if rank.rank == 5 else 1.0
            for _ in range(8):
                linear(rank, 350 * slow)
                rank.kernel("aten::gelu", 150 * slow, name=POINTWISE)
            with backward_pass(rank):
                for _ in range(8):
                    gradient(rank, 700 * slow)
        ends(run)
    run.steps(6, body)


def rank_zero_evaluates(run):
    """Every third step rank 0 evaluates alone for 40 ms of kernels; the others wait for it in the next all-reduce."""
    def body(number):
        for rank in run.ranks:
            passes(rank, 6, 200)
        ends(run)
        rank = run.ranks[0]
        if number % 3 == 0:
            with rank.function("train.py(301): validate"):
                for _ in range(40):
                    linear(rank, 1000)
                rank.wait()
    run.steps(10, body)


def shapes_from_host_of_one(run):
    """Rank 1 copies its inputs from pageable memory, 6 ms; the others have theirs on the device."""
    def body(_):
        for rank in run.ranks:
            if rank.rank == 1:
                for _ in range(3):
                    with rank.operator("aten::to"):
                        rank.blocking_copy(2000, size=20 << 20)
            passes(rank, 5, 200)
        ends(run)
    run.steps(5, body)


def packed_unevenly(run):
    """Sequences are packed so that rank 3 always has the long one: its attention takes three times as long, its products do not."""
    def body(_):
        for rank in run.ranks:
            for _ in range(6):
                linear(rank, 250)
                rank.kernel("flash_attn::_flash_attn_varlen_forward", 900 if rank.rank == 3 else 300, name=ATTENTION)
        ends(run)
    run.steps(5, body)


def tables_in_turn(run):
    """Each table's all-to-all is launched and awaited by itself: 24 of 250 us each, behind look-ups of 60."""
    def body(_):
        for _ in range(24):
            for rank in run.ranks:
                rank.kernel("fbgemm::split_embedding_codegen_lookup", 60, name="void split_embedding_codegen_forward_unweighted_kernel<float, float>")
            exchange(run, 250, "all_to_allv", stream=21)
        for rank in run.ranks:
            passes(rank, 3, 120)
        ends(run)
    run.steps(5, body)


def vocabulary_split(run):
    """Tensor parallelism with a large vocabulary: soft-max over the shard takes 5 of 9 ms, three small all-reduces 0.2."""
    def body(_):
        for rank in run.ranks:
            passes(rank, 4, 180)
            rank.kernel("aten::_log_softmax", 2600, name=SOFTMAX)
        for _ in range(3):
            exchange(run, 60)
        for rank in run.ranks:
            with backward_pass(rank):
                gradient(rank, 2600, "LogSoftmaxBackward0", "aten::_log_softmax_backward_data", name=SOFTMAX.replace("Forward<", "Backward<"))
        ends(run)
    run.steps(5, body)


def small_buckets(run):
    """DDP with buckets of one parameter: 120 all-reduces of 60 us behind gradients of 25."""
    def body(_):
        for rank in run.ranks:
            for _ in range(8):
                linear(rank, 120)
        for _ in range(120):
            for rank in run.ranks:
                gradient(rank, 25, host_us=8)
            exchange(run, 60, after=False)
        wait_for(run, 20)
        ends(run)
    run.steps(5, body)


def norm_of_shards(run):
    """Gradient norms over sharded tensors: the host asks for each of 100 with a wait and an all-reduce, 140 us of host each."""
    def body(_):
        for rank in run.ranks:
            passes(rank, 4, 200)
        for _ in range(100):
            for rank in run.ranks:
                rank.kernel("aten::_foreach_norm", 6, host_us=110, name=FOREACH)
            exchange(run, 15, elements=1)
        ends(run)
    run.steps(5, body)


def sends_masks(run):
    """Rank 2 makes its mask on the host for every layer; the others wait for it in tensor-parallel all-reduces."""
    def body(_):
        for _ in range(12):
            for rank in run.ranks:
                linear(rank, 120)
                if rank.rank == 2:
                    with rank.function("modeling.py(88): make_mask"):
                        rank.work(500)
                        from_pageable(rank)
                linear(rank, 120)
            exchange(run, 70)
        ends(run)
    run.steps(5, body)
