"""More runs with one planted cause each, written after the reports on planted_systems.py were seen and their causes mended: servers whose
kernels have names of their own, nodes that load slowly, stages recorded alone, recurrent cells, updates of weights. Written as
planted_habits.py is; its expected answer was written before the report was seen.
"""
from planted_habits import COPIES, FOREACH, GEMM, POINTWISE, backward_pass, from_pageable, fused_update, gradient, linear, passes, reads_loss, to_host, train
from planted_meshes import ends
from planted_shapes import as_kernel
from planted_systems import message, nested

MOE, PAGED = "fused_moe_kernel", "void vllm::paged_attention_v2_kernel<unsigned short, unsigned short, 128, 16, 128>"
FUSED_REDUCE = "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<8, __nv_bfloat16>"


def served(run, kernels, count=8):
    """A server's passes: each of the kernels a layer, then one wait for the tokens."""
    def body(_):
        for rank in run.ranks:
            with rank.annotate("execute_context_0(0)_generation_64(64)"):
                for _ in range(16):
                    for op, us, name in kernels:
                        rank.kernel(op, us, host_us=4, name=name)
                to_host(rank)
    run.steps(count, body)


def experts_served(run):
    """Fused experts take 400 us a layer beside 120 us of products."""
    served(run, [("aten::mm", 120, GEMM), ("vllm::moe_forward", 400, MOE)])


def cache_read(run):
    """Attention of one token a request reads the cache for 350 us a layer, beside 120 us of products."""
    served(run, [("aten::mm", 120, GEMM), ("vllm::unified_attention_with_output", 350, PAGED)])


def sums_in_fused_kernel(run):
    """A server's all-reduce, fused with the norm behind it, takes 320 us behind 150 us of products."""
    def body(_):
        for _ in range(12):
            for rank in run.ranks:
                linear(rank, 150)
            as_kernel(run, 320, "flashinfer::allreduce_fusion", FUSED_REDUCE)
        for rank in run.ranks:
            to_host(rank)
    run.steps(6, body)


def asks_for_steps(run):
    """The optimizer asks each of 250 parameters for its step, a wait and 25 us of host each."""
    def ask(rank, _):
        with rank.annotate("Optimizer.step#Adam.step"):
            for _ in range(250):
                rank.item()
                rank.kernel("aten::addcdiv_", 4, host_us=22, name=POINTWISE)
    train(run, extra=ask)


def sends_tensor_by_tensor(run):
    """A batch of 60 tensors is sent one by one from pageable memory, 110 us of Python each."""
    def send(rank, _):
        with rank.function("train.py(44): to_device"):
            for _ in range(60):
                rank.work(110)
                from_pageable(rank)
    train(run, before=send)


def synchronizes_once(run):
    """One synchronize() a step and 0.4 ms of logging behind it, of 6 ms: products fill the step."""
    def log(rank, _):
        rank.wait(call="cudaDeviceSynchronize")
        nested(rank, ["log.py(8): write"], 400)
    train(run, extra=log)


def stage_alone(run):
    """Four micro-batches pass four stages forward and back, one after the other; the first stage waits most of the time."""
    def body(_):
        for _ in range(4):
            for stage, rank in enumerate(run.ranks):
                linear(rank, 500)
                if stage + 1 < run.world:
                    message(run, stage, stage + 1, 40)
            for stage in range(run.world - 1, -1, -1):
                with backward_pass(run.ranks[stage]):
                    gradient(run.ranks[stage], 900)
                if stage:
                    message(run, stage, stage - 1, 40)
        ends(run)
    run.steps(5, body)


def node_loads_slowly(run):
    """The loaders of ranks 4 to 7, one of two nodes, take 9 ms, the others' 0.1."""
    def load(rank, _):
        with rank.annotate("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"):
            rank.work(9000 if rank.rank >= 4 else 100)
        rank.copy(80)
    train(run, before=load)


def frees_every_fourth(run):
    """In every fourth step the allocator gives its memory back and asks for it again, for 40 ms."""
    def retry(rank, number):
        for call, us in (("cudaDeviceSynchronize", 50), ("cudaFree", 15000), ("cudaFree", 12000), ("cudaMalloc", 13000)) if number % 4 == 0 else ():
            with rank.operator("aten::empty"):
                rank.correlation += 1
                rank.host("cuda_runtime", call, rank.now, us, correlation=rank.correlation)
                rank.now += us
    train(run, count=14, before=retry)


def updates_weights(run):
    """A trainer hands 300 weights to its servers one by one: 30 us of exchange behind 40 us of Python."""
    def hand_over(number):
        for rank in run.ranks:
            passes(rank, 4)
        spans = [rank.function("rl/weights.py(70): update_weights_from_distributed") for rank in run.ranks]
        for span in spans:
            span.__enter__()
        for _ in range(300):
            for rank in run.ranks:
                rank.work(40)
            run.reduce(10, name="ncclDevKernel_Broadcast_RING_LL", **{"Collective name": "broadcast"})
        for span in spans:
            span.__exit__()
        for rank in run.ranks:
            fused_update(rank)
            reads_loss(rank)
    run.steps(5, hand_over)


def recurrent_cells(run):
    """cuDNN launches 500 cells of 4 us from within one operator, 9 us of host each."""
    def body(_):
        for rank in run.ranks:
            with rank.operator("aten::lstm"):
                with rank.operator("aten::_cudnn_rnn"):
                    for _ in range(500):
                        rank.work(5)
                        rank.issue("cudaLaunchKernel", "kernel", "void elemWiseRNNcell<float, float, float, (cudnnRNNMode_t)2>", 4, 7)
            fused_update(rank)
            reads_loss(rank)
    run.steps(5, body)


def tables_in_host_memory(run):
    """Look-ups in tables that lie in the host's memory take 6 of 9 ms."""
    def look_up(rank, _):
        for _ in range(4):
            rank.kernel("fbgemm::split_embedding_codegen_lookup_rowwise_adagrad_function", 1500,
                        name="split_embedding_codegen_forward_unweighted_kernel<float, float, float, 128>")
    def body(_):
        for rank in run.ranks:
            look_up(rank, _)
            passes(rank, 4)
            rank.kernel("aten::copy_", 30, name=COPIES)
            rank.kernel("aten::_foreach_add_", 60, name=FOREACH)
            reads_loss(rank)
    run.steps(5, body)


def tokenizes_requests(run):
    """A server of embeddings tokenizes for 8 ms on the thread that launches; no annotation marks steps."""
    def body(_):
        for rank in run.ranks:
            nested(rank, ["server.py(90): embed", "transformers/tokenization_utils_fast.py(520): _batch_encode_plus"], 8000)
            from_pageable(rank, 10, 1 << 14)
            for _ in range(12):
                linear(rank, 250)
            to_host(rank)
    run.steps(6, body)


def launches_slowly(run):
    """Each launch takes the driver 45 us for a kernel of 20."""
    def body(_):
        for rank in run.ranks:
            for _ in range(120):
                with rank.operator("aten::mul"):
                    rank.work(3)
                    rank.issue("cudaLaunchKernel", "kernel", POINTWISE, 20, 7)
                    call = rank.events[-2]
                    call["dur"] = 45
                    rank.now = call["ts"] + 45
            reads_loss(rank)
    run.steps(5, body)


def two_by_turns(run):
    """Ranks 1 and 2 have the long sequences by turns: their products take twice as long."""
    def body(number):
        for rank in run.ranks:
            passes(rank, 5, 440 if rank.rank == 1 + number % 2 else 220)
        ends(run)
    run.steps(8, body)
