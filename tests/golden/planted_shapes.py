"""More runs with one planted cause each, of kinds that the other files lack: several devices or worker threads in one process, servers,
samplers, rollouts, libraries of exchanges besides NCCL, and ranges of other frameworks. Written as planted_habits.py is.
"""
from planted_habits import (ATTENTION, GEMM, POINTWISE, backward_pass, from_pageable, fused_update, gradient, linear,
                            on_thread, passes, reads_loss, replay, to_host, train)
from planted_meshes import SEND, ends, exchange

SECOND = 107  # streams from 100 on belong to the second device of the process


def second_device(rank):
    """Moves the work of streams from 100 on to device 1."""
    for event in rank.events:
        if event["pid"] == 0 and event["tid"] >= 100:
            event["pid"] = event["args"]["device"] = 1
            event["tid"] = event["args"]["stream"] = event["tid"] - 100


def meet(rank, *streams):
    """What is launched next on any of the streams waits for all of them."""
    latest = max(rank.free.get(stream, 0.0) for stream in streams)
    for stream in streams:
        rank.free[stream] = latest


def unmarked(run, count, body):
    """A loop that no annotation marks."""
    for number in range(count):
        body(number)
    for rank in run.ranks:
        rank.wait(call="cudaDeviceSynchronize")


# --- several devices or threads in one process ------------------------------------------------------------------------

def halves_by_turns(run):
    """One process, the layers' first half on device 0, the second on device 1: always one of them waits, for the other's products."""
    def body(_):
        for rank in run.ranks:
            for stream in (7, SECOND, SECOND, 7):
                for _ in range(4):
                    rank.kernel("aten::addmm", 500, stream=stream, name=GEMM)
                meet(rank, 7, SECOND)
            fused_update(rank)
            reads_loss(rank)
    run.steps(5, body)
    second_device(run.ranks[0])


def activations_between_devices(run):
    """The same process over a slow bus: activations of 4 ms a copy between devices, behind products of 1 ms."""
    def body(_):
        for rank in run.ranks:
            for stream in (7, SECOND, SECOND, 7):
                rank.kernel("aten::addmm", 1000, stream=stream, name=GEMM)
                rank.copy(4000, stream=stream, op="aten::to", name="Memcpy PtoP (Device -> Device)", size=40 << 20)
                meet(rank, 7, SECOND)
            fused_update(rank)
            reads_loss(rank)
    run.steps(5, body)
    second_device(run.ranks[0])


def watchdog_polls(run):
    """NCCL's watchdog asks events all the time on a thread of its own, which costs nothing: products fill the step."""
    def poll(rank, _):
        begin = rank.now - 4000
        with on_thread(rank, 700):
            for number in range(40):
                rank.host("cuda_runtime", "cudaEventQuery", begin + 100 * number, 2)
    train(run, extra=poll)


def threads_decode(run):
    """Eight threads of the process decode images in Python; the main thread waits 11 ms in their queue for a batch."""
    def load(rank, _):
        begin = rank.now
        for thread in range(8):
            rank.now = begin
            with on_thread(rank, 800 + thread), rank.function("PIL/ImageFile.py(170): load"):
                rank.work(10900)
        rank.now = begin
        with rank.function("queue.py(154): get"):
            with rank.function("threading.py(295): wait"):
                rank.work(11000)
    train(run, before=load)


def engines_of_two_threads(run):
    """Two threads serve two models in one process; each launches kernels of 3 us behind 30 us of host, by turns."""
    def body(_):
        for rank in run.ranks:
            for _ in range(150):
                for thread, stream in ((100, 7), (110, 9)):
                    with on_thread(rank, thread):
                        rank.kernel("aten::mul", 3, stream=stream, host_us=26, name=POINTWISE)
            rank.wait(9)
            rank.wait()
    run.steps(5, body)


# --- servers, samplers, rollouts --------------------------------------------------------------------------------------

def fills_grammar_masks(run):
    """A server fills the grammar's masks on the host for 7 ms between the forward pass and the sampler; no annotation marks steps."""
    def body(_):
        for rank in run.ranks:
            with rank.annotate("execute_model"):
                replay(rank, 24 * [(GEMM, 90), (ATTENTION, 20)])
                with rank.function("vllm/v1/structured_output/__init__.py(180): grammar_bitmask"):
                    rank.work(7000)
                rank.copy(30, op="aten::to", size=1 << 20)
                rank.kernel("aten::argmax", 20, name="reduce_kernel")
                to_host(rank)
    unmarked(run, 8, body)


def drafts_tokens(run):
    """Speculative decoding: five drafts a step by graphs of 60 us, behind each of which Python takes 900 us."""
    def body(_):
        for rank in run.ranks:
            with rank.function("vllm/v1/spec_decode/eagle.py(210): propose"):
                for _ in range(5):
                    replay(rank, [(GEMM, 60)])
                    rank.work(900)
            replay(rank, 16 * [(GEMM, 60)])
            to_host(rank)
    run.steps(8, body)


def denoises(run):
    """Diffusion: behind each of the net's passes the scheduler computes in NumPy for 4 ms, the net takes 2."""
    def body(_):
        for rank in run.ranks:
            for _ in range(8):
                linear(rank, 250)
            with rank.function("diffusers/schedulers/scheduling_lms_discrete.py(410): step"):
                to_host(rank, size=1 << 20)
                rank.work(4000)
                from_pageable(rank, 60, 1 << 20)
    unmarked(run, 10, body)


def convolutions_denoise(run):
    """Diffusion whose scheduler stays on the device: convolutions take 7 of 8 ms; no annotation marks steps."""
    def body(_):
        for rank in run.ranks:
            for _ in range(20):
                rank.kernel("aten::cudnn_convolution", 350, name="sm80_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128x64")
                rank.kernel("aten::silu", 20, name=POINTWISE)
    unmarked(run, 10, body)


def samples_neighbours(run):
    """A graph net samples neighbours on the main thread, within its loader's annotation, for 14 ms."""
    def load(rank, _):
        with rank.annotate("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"):
            with rank.function("torch_geometric/loader/neighbor_loader.py(230): sample_from_nodes"):
                rank.run("torch_sparse::neighbor_sample", 14000)
    train(run, before=load)


def gathers_features(run):
    """A graph net gathers features by kernels that read the host's memory: 6 of 10 ms."""
    def gather(rank, _):
        rank.kernel("aten::index_select", 6000, name="void at::native::indexSelectLargeIndex<float, long, unsigned int, 2, 2, -2, true>")
    train(run, before=gather)


def steps_environments(run):
    """A rollout steps 64 environments on the host for 18 ms behind each action; the policy takes 0.5."""
    def body(_):
        for rank in run.ranks:
            for _ in range(2):
                linear(rank, 250)
                to_host(rank)
                with rank.function("gymnasium/vector/sync_vector_env.py(200): step"):
                    rank.work(18000)
                from_pageable(rank, 20, 1 << 16)
    run.steps(6, body)


def experts_by_turns(run):
    """Routers send three times the tokens to another rank's experts in each step."""
    def body(number):
        for _ in range(4):
            for rank in run.ranks:
                linear(rank, 150)
            exchange(run, 80, "all_to_allv", stream=21)
            for rank in run.ranks:
                rank.kernel("grouped_gemm::gmm", 1200 if rank.rank == number % run.world else 400,
                            name="void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_grouped>")
            exchange(run, 80, "all_to_allv", stream=21)
        ends(run)
    run.steps(8, body)


# --- the host ---------------------------------------------------------------------------------------------------------

def checks_guards(run):
    """Guards of a compiled model are checked for 4 ms in each step, for products of 1."""
    def body(_):
        for rank in run.ranks:
            with rank.annotate("TorchDynamo Cache Lookup"):
                rank.work(4000)
            with rank.operator("Torch-Compiled Region: 0/0"):
                for _ in range(4):
                    rank.kernel("extern_kernels.mm", 250, name=GEMM, host_us=8)
            to_host(rank)
    run.steps(6, body)


def frees_pinned(run):
    """A pinned buffer is given back in each step: cudaFreeHost takes 8 ms."""
    def free(rank, _):
        rank.host("cuda_runtime", "cudaFreeHost", rank.now, 8000)
        rank.now += 8000
    train(run, extra=free)


def waits_for_upload(run):
    """An asynchronous checkpoint every fifth step first waits 70 ms for the one before."""
    def save(rank, number):
        if number % 5 == 0:
            with rank.function("torch/distributed/checkpoint/state_dict_saver.py(220): async_save"):
                with rank.function("concurrent/futures/_base.py(428): result"):
                    rank.work(70000)
    train(run, count=14, extra=save)


def prints_tensors(run):
    """The loop prints a tensor in each step: 6 ms of formatting, behind a copy to the host."""
    def show(rank, _):
        with rank.function("torch/_tensor_str.py(340): _tensor_str_intern"):
            to_host(rank)
            rank.work(6000)
    train(run, extra=show)


def sends_to_service(run):
    """Metrics go to a service over HTTP on the main thread: 9 ms in urlopen."""
    def log(rank, _):
        with rank.function("mlflow/tracking/client.py(900): log_metric"):
            with rank.function("urllib3/connectionpool.py(600): urlopen"):
                rank.work(9000)
    train(run, extra=log)


def loads_code(run):
    """Kernels that Triton compiled before are loaded anew in each step: 12 ms in cuModuleLoadData."""
    def load(rank, _):
        with rank.function("triton/compiler/compiler.py(390): _init_handles"):
            rank.host("cuda_driver", "cuModuleLoadData", rank.now, 12000)
            rank.now += 12000
    train(run, before=load)


def tunes_each_step(run):
    """A Triton kernel's key changes in each step, so that it is tuned again: 25 ms."""
    def tune(rank, _):
        with rank.function("triton/runtime/autotuner.py(150): run"):
            for _ in range(20):
                rank.kernel("matmul_kernel", 40, name="matmul_kernel")
                rank.wait(call="cudaDeviceSynchronize")
                rank.work(1200)
    train(run, before=tune)


def saves_generator_states(run):
    """Recomputation keeps the state of the device's random generator at each of 24 blocks: a wait and 300 us of host each."""
    def body(_):
        for rank in run.ranks:
            for _ in range(24):
                with rank.function("torch/utils/checkpoint.py(110): get_device_states"):
                    to_host(rank)
                    rank.work(300)
                linear(rank, 80)
            fused_update(rank)
    run.steps(5, body)


def sorts_in_python(run):
    """A packer sorts lengths in Python for 9 ms between steps, outside any annotation but its own."""
    def pack(rank, _):
        with rank.annotate("pack_sequences"):
            rank.work(9000)
    train(run, before=pack)


# --- kernels ----------------------------------------------------------------------------------------------------------

def doubles(run):
    """Products in double precision, by mistake: 8 of 9 ms."""
    def body(_):
        for rank in run.ranks:
            for _ in range(8):
                linear(rank, 1000, name="void cutlass::Kernel2<cutlass_80_tensorop_d884gemm_64x64_16x4_nn_align1>")
            reads_loss(rank)
    run.steps(5, body)


def quantizes_gradients(run):
    """Gradients are quantized before they are sent: 500 us of kernel for messages of 60."""
    def body(_):
        for _ in range(10):
            for rank in run.ranks:
                linear(rank, 250)
                rank.kernel("deepspeed::swizzle_quant", 500, name="void swizzled_quant_kernel<8, (quantize::Type)0, 1, 4>(signed char*, float*, __half const*)")
            exchange(run, 60, "all_to_allv")
        ends(run)
    run.steps(5, body)


def drops_out(run):
    """Dropout after every product, by a kernel of its own that is bound by memory: 600 us for products of 250."""
    def body(_):
        for rank in run.ranks:
            for _ in range(10):
                linear(rank, 250)
                rank.kernel("aten::native_dropout", 600, name="void at::native::(anonymous namespace)::fused_dropout_kernel_vec<c10::BFloat16, float, unsigned int, 1, 4, bool>")
            fused_update(rank)
            reads_loss(rank)
    run.steps(5, body)


def eight_bit_moments(run):
    """An optimizer with moments of eight bits takes 6 of 12 ms."""
    def update(rank, _):
        with rank.annotate("Optimizer.step#AdamW8bit.step"):
            for _ in range(12):
                rank.kernel("bitsandbytes::optimizer_update_8bit_blockwise", 500, host_us=40,
                            name="void kOptimizerStatic8bit2StateBlockwise<__nv_bfloat16, 0, 256, 1>(__nv_bfloat16*, __nv_bfloat16*, unsigned char*)")
    train(run, extra=update)


def copies_into_graphs(run):
    """Graph trees copy their inputs to fixed addresses: 3.5 ms of copies within the device before graphs of 2."""
    def body(_):
        for rank in run.ranks:
            for _ in range(2):
                with rank.function("torch/_inductor/cudagraph_trees.py(900): run"):
                    rank.copy(1700, op="aten::copy_", name="Memcpy DtoD (Device -> Device)", size=1 << 30)
                    replay(rank, 8 * [(GEMM, 120)])
            reads_loss(rank)
    run.steps(6, body)


def unfused_rotary(run):
    """Rotary embeddings by slices, products and concatenations: ten kernels of 70 us a layer for products of 300."""
    def body(_):
        for rank in run.ranks:
            for layer in range(8):
                with rank.function(f"nn.Module: Attention_{layer}"):
                    linear(rank, 300)
                    for _ in range(8):
                        rank.kernel("aten::mul", 70, name=POINTWISE)
                    for _ in range(2):
                        rank.kernel("aten::cat", 70, name="void at::native::(anonymous namespace)::CatArrayBatchedCopy<c10::BFloat16, unsigned int, 4, 64, 64>")
            fused_update(rank)
            reads_loss(rank)
    run.steps(5, body)


# --- exchanges of other libraries -------------------------------------------------------------------------------------

def as_kernel(run, us, op, name):
    """An exchange that one operator launches on each rank, without PyTorch's parameters; all end together."""
    begun = []
    for rank in run.ranks:
        with rank.operator(op):
            rank.work(10)
            rank.correlation += 1
            rank.host("cuda_runtime", "cudaLaunchKernelExC", rank.now, 4, correlation=rank.correlation)
            begun.append(max(rank.now + 3, rank.free.get(7, 0.0)))
            rank.now += 4
    end = max(begun) + us
    for rank, start in zip(run.ranks, begun):
        rank.event("kernel", name, start, end - start, 0, 7, device=0, stream=7, correlation=rank.correlation)
        rank.free[7] = end


def dispatches_tokens(run):
    """DeepEP's kernels send tokens to experts for 1.6 ms and back for 1.6, experts take 0.5."""
    def body(_):
        for _ in range(4):
            as_kernel(run, 1600, "deep_ep::dispatch", "void deep_ep::internode::dispatch<false, 4, false, 131072, 8>(int4*, float*, long*)")
            for rank in run.ranks:
                linear(rank, 500)
            as_kernel(run, 1600, "deep_ep::combine", "void deep_ep::internode::combine<false, 4, __nv_bfloat16, 8, 24>(int4*, float*)")
        ends(run)
    run.steps(5, body)


def reduces_by_own_kernel(run):
    """A server's own all-reduce over a slow bus: 700 us behind products of 180."""
    def body(_):
        for _ in range(16):
            for rank in run.ranks:
                linear(rank, 180)
            as_kernel(run, 700, "_C_custom_ar::all_reduce", "void vllm::cross_device_reduce_2stage<__nv_bfloat16, 4>(vllm::RankData*, vllm::RankSignals)")
        for rank in run.ranks:
            to_host(rank)
    run.steps(5, body)


def reduces_by_oneccl(run):
    """oneCCL's all-reduce of 5 ms behind the backward pass of 3."""
    def body(_):
        for rank in run.ranks:
            passes(rank, 4, 220)
        as_kernel(run, 5000, "c10d::allreduce_", "oneccl_allreduce_large_kernel")
        for rank in run.ranks:
            fused_update(rank)
            reads_loss(rank)
    run.steps(5, body)


def on_host(run, us, said):
    """An exchange by the hosts: gradients come down, the hosts meet and exchange, and sums go up."""
    for rank in run.ranks:
        rank.copy(300, name="Memcpy DtoH (Device -> Pinned)", size=8 << 20)
        rank.wait()
    start = max(rank.now for rank in run.ranks)
    for rank in run.ranks:
        with rank.annotate(said):
            rank.now = start + us
        rank.copy(300, size=8 << 20)


def host_exchange(run, said):
    def body(_):
        for rank in run.ranks:
            passes(rank, 4, 220)
        on_host(run, 7000, said)
        for rank in run.ranks:
            fused_update(rank)
            reads_loss(rank)
    run.steps(5, body)


def sums_by_mpi(run):
    """Gradients are summed on the host by MPI: 7 ms, of which no rank is late."""
    host_exchange(run, "mpi:all_reduce")


def sums_by_ucc(run):
    """The same by UCC."""
    host_exchange(run, "ucc:all_reduce")


def meets_at_gloo(run):
    """Rank 2 parses for 8 ms before a barrier by Gloo, in which the other hosts wait for it."""
    def body(_):
        for rank in run.ranks:
            passes(rank, 3, 220)
            if rank.rank == 2:
                with rank.function("corpus.py(55): parse_shard"):
                    rank.work(8000)
        start = max(rank.now for rank in run.ranks)
        for rank in run.ranks:
            with rank.annotate("gloo:barrier"):
                rank.now = start + 80
        ends(run)
    run.steps(5, body)


def loads_for_all(run):
    """Rank 0 loads every batch for 9 ms and broadcasts it; the others wait for it in the broadcast."""
    def body(_):
        rank = run.ranks[0]
        with rank.annotate("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"):
            rank.work(9000)
        run.reduce(200, name="ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage<4096ul>)", **{"Collective name": "broadcast"})
        for rank in run.ranks:
            passes(rank, 4, 220)
        ends(run)
    run.steps(5, body)


def sums_at_the_end(run):
    """Megatron's ranges without overlap: all-grads-sync takes 6 ms behind forward-backward of 4; no profiler marks steps."""
    def body(number):
        for rank in run.ranks:
            with rank.annotate("forward-backward"):
                passes(rank, 6, 220)
        for rank in run.ranks:
            rank.begin = rank.now
        exchange(run, 6000, "_reduce_scatter_base")
        for rank in run.ranks:
            rank.host("user_annotation", "all-grads-sync", rank.begin, rank.now - rank.begin)
            with rank.annotate("optimizer"):
                fused_update(rank)
                rank.wait()
    unmarked(run, 6, body)


def timers_wait(run):
    """Megatron's timers wait for the device and meet at a barrier, twelve times a step, each followed by 200 us of host."""
    def body(_):
        for _ in range(12):
            for rank in run.ranks:
                linear(rank, 90)
                with rank.function("megatron/core/timers.py(130): stop"):
                    rank.wait(call="cudaDeviceSynchronize")
                    rank.work(200)
        ends(run)
    run.steps(5, body)


def coalesced_gathers(run):
    """Gathers of many tensors as one call, named by NCCL's annotation alone: 2 ms before every block of 0.5."""
    def body(_):
        for _ in range(5):
            exchange(run, 2000, "allgather_into_tensor_coalesced")
            for rank in run.ranks:
                linear(rank, 500)
        ends(run)
    run.steps(5, body)


def message(one, other, us):
    """A send and its receive, which the receiver launched long before."""
    for rank, kind, sides in ((one, "send", {"Dst Rank": other.rank}), (other, "recv", {"Src Rank": one.rank})):
        with rank.operator(f"c10d::{kind}"), rank.operator("record_param_comms"), rank.annotate(f"nccl:{kind}"):
            rank.correlation += 1
            rank.host("cuda_runtime", "cudaLaunchKernelExC", rank.now, 4, correlation=rank.correlation)
            rank.began = max(rank.now + 3, rank.free.get(21, 0.0), rank.free.get(7, 0.0))
            rank.sides = {"Collective name": kind, **sides}
            rank.now += 4
    end = max(one.began, other.began) + us
    for rank in (one, other):
        rank.event("kernel", SEND, rank.began, end - rank.began, 0, 21, device=0, stream=21, correlation=rank.correlation,
                   **{"In msg nelems": 1 << 20, "Out msg nelems": 1 << 20, "dtype": "BFloat16", "Group size": 4, **rank.sides})
        rank.free[21] = rank.free[7] = end


def one_micro_batch(run):
    """Four stages and one micro-batch: one stage computes at a time, all wait for the messages of the others."""
    def body(_):
        for order, us in ((run.ranks, 900), (run.ranks[::-1], 1800)):
            for one, other in zip(order, order[1:] + [None]):
                linear(one, us)
                if other:
                    message(one, other, 50)
        for rank in run.ranks:
            fused_update(rank)
            rank.wait()
    run.steps(5, body)


def lacks_device_of_apple(run):
    """A recording from Apple's devices, of which the profiler sees the host alone: it waits in .item() for what it cannot see."""
    def body(_):
        for rank in run.ranks:
            for _ in range(10):
                with rank.operator("aten::linear"):
                    rank.work(20)
                rank.run("aten::_mps_convolution", 25)
            with rank.operator("aten::item"):
                rank.run("aten::_local_scalar_dense", 15000)
    run.steps(5, body)


def pads_to_longest(run):
    """Rank 1 has kernels of attention twice as long in forward and backward, on a recording without modules or functions."""
    def body(_):
        for rank in run.ranks:
            for _ in range(6):
                linear(rank, 200)
                rank.kernel("aten::_flash_attention_forward", 800 if rank.rank == 1 else 400, name=ATTENTION)
            with backward_pass(rank):
                for _ in range(6):
                    gradient(rank, 1600 if rank.rank == 1 else 800, "FlashAttnBackward", "aten::_flash_attention_backward",
                             name=ATTENTION.replace("fwd", "bwd"))
        ends(run)
    run.steps(5, body)
