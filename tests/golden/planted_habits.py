"""More runs with one planted cause each, in the names and threads of real profilers: operators within operators, a thread for the
backward pass, kernels with their template arguments. Each takes a Run of planted_runs.py; its expected answer was written before the
report was seen.
"""
from contextlib import contextmanager

GEMM = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn"
FUNCTOR = "at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>)"
POINTWISE = "void at::native::vectorized_elementwise_kernel<4, " + FUNCTOR
COPIES = "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)>"
REDUCE = "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::NormTwoOps<float, float, float>, unsigned int, float, 4, 4> >"
FOREACH = "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::TensorListMetadata<2>, AdamFunctor>"
SOFTMAX = "void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, float, float, float, at::native::LogSoftMaxForwardEpilogue>"
ATTENTION = "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, cutlass::bfloat16_t> >"
AUTOGRAD = "autograd::engine::evaluate_function: "


@contextmanager
def on_thread(rank, thread):
    """Another thread of the process works, while this one waits."""
    own, rank.thread = rank.thread, thread
    yield
    rank.thread = own


def linear(rank, us, host_us=14.0, name=GEMM):
    """aten::linear as it is recorded: views, then the product."""
    with rank.operator("aten::linear"):
        rank.run("aten::t", host_us / 3)
        rank.kernel("aten::addmm", us, host_us=host_us / 2, name=name)


def gradient(rank, us, node="AddmmBackward0", op="aten::mm", host_us=14.0, name=GEMM):
    with rank.operator(AUTOGRAD + node):
        with rank.operator(node):
            rank.kernel(op, us, host_us=host_us, name=name)


@contextmanager
def backward_pass(rank):
    """The main thread waits in run_backward; autograd's thread works."""
    with rank.function("torch/autograd/__init__.py(242): backward"):
        with on_thread(rank, 101):
            yield


def passes(rank, count=8, us=220.0):
    """Forward and backward of blocks whose kernels keep the device busy."""
    for number in range(count):
        with rank.function(f"nn.Module: Block_{number}"):
            linear(rank, us)
    with backward_pass(rank):
        for _ in range(count):
            gradient(rank, 2 * us)


def fused_update(rank, us=120.0):
    with rank.annotate("Optimizer.step#AdamW.step"):
        rank.kernel("aten::_fused_adamw_", us, host_us=20, name=FOREACH)


def reads_loss(rank):
    with rank.function("train.py(210): train_step"):
        rank.item()


def train(run, count=6, extra=None, before=None, between=None):
    """A plain step; `before` it, `between` backward pass and update, and `extra` behind it whatever a program adds."""
    def body(number):
        for rank in run.ranks:
            if before:
                before(rank, number)
            passes(rank)
            if between:
                between(rank, number)
        run.reduce(150)
        for rank in run.ranks:
            fused_update(rank)
            reads_loss(rank)
            if extra:
                extra(rank, number)
    run.steps(count, body)


def from_pageable(rank, us=3, size=4096, op="aten::_to_copy"):
    """A small copy from pageable memory: the host waits until all work before it is done."""
    with rank.operator("aten::to"):
        with rank.operator(op):
            with rank.operator("aten::copy_"):
                rank.work(4)
                rank.issue("cudaMemcpyAsync", "gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", us, 7, bytes=size)
                rank.wait()


def to_host(rank, op="aten::to", size=64):
    with rank.operator(op):
        with rank.operator("aten::copy_"):
            rank.work(4)
            rank.issue("cudaMemcpyAsync", "gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 2, 7, bytes=size)
            rank.wait()


# --- the programs: each takes a Run ----------------------------------------------------------------------------------

def scaler_asks(run):
    """GradScaler unscales, asks once whether a gradient overflowed, and updates its scale: 0.2 of 6 ms."""
    def unscale(rank, _):
        rank.kernel("aten::_amp_foreach_non_finite_check_and_unscale_", 60, host_us=30, name=FOREACH)
        rank.item()
        rank.kernel("aten::_amp_update_scale_", 3, host_us=12, name="at::native::amp_update_scale_cuda_kernel")
    train(run, between=unscale)


def averages_weights(run):
    """An exponential average of 400 weights, one by one: 22 us of host for 4 us of kernel."""
    def average(rank, _):
        with rank.function("ema.py(31): update"):
            for _ in range(400):
                rank.kernel("aten::lerp_", 4, host_us=18, name=POINTWISE)
    train(run, extra=average)


def logs_scalars(run):
    """Thirty metrics a step are asked with .item() and written by TensorBoard, 0.3 ms each."""
    def log(rank, _):
        for _ in range(30):
            with rank.function("trainer.py(188): log_metrics"):
                rank.item()
                with rank.function("torch/utils/tensorboard/writer.py(366): add_scalar"):
                    rank.work(300)
    train(run, extra=log)


def collects_each_step(run):
    """PyTorch records the collector's pauses: 7 ms in the backward pass of each step."""
    def collect(rank, _):
        with rank.function("Python GC"):
            rank.work(7000)
    train(run, between=collect)


def masks_from_host(run):
    """Each of 24 layers makes its mask on the host and sends it from pageable memory, behind the layer's kernels."""
    def body(_):
        for rank in run.ranks:
            for layer in range(24):
                with rank.function(f"nn.Module: DecoderLayer_{layer}"):
                    linear(rank, 40)
                    with rank.function("modeling.py(88): make_mask"):
                        rank.work(110)
                        from_pageable(rank)
            fused_update(rank)
    run.steps(5, body)


def unique_in_each_table(run):
    """Twenty tables ask for the number of distinct rows, which the host must know; then it prepares the next for 90 us."""
    def body(_):
        for rank in run.ranks:
            for _ in range(20):
                with rank.operator("aten::_unique2"):
                    rank.issue("cudaLaunchKernel", "kernel", "void cub::DeviceRadixSortOnesweepKernel<...>", 25, 7)
                    rank.issue("cudaMemcpyAsync", "gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 2, 7, bytes=8)
                    rank.wait()
                rank.run("aten::empty", 90)
                rank.kernel("aten::index_select", 20, host_us=10, name="void at::native::indexSelectLargeIndex<float, long>")
            fused_update(rank)
    run.steps(5, body)


def anomaly_checks(run):
    """set_detect_anomaly: each of 40 gradients is checked for nan with a wait, 130 us of host for 35 us of kernels."""
    def body(_):
        for rank in run.ranks:
            for _ in range(6):
                linear(rank, 120)
            with backward_pass(rank):
                for _ in range(40):
                    gradient(rank, 25)
                    rank.kernel("aten::isnan", 5, host_us=20, name=POINTWISE)
                    rank.kernel("aten::any", 5, host_us=20, name=REDUCE)
                    with rank.operator("aten::is_nonzero"):
                        rank.item()
                    rank.work(60)
            fused_update(rank)
    run.steps(5, body)


def launches_block(run):
    """CUDA_LAUNCH_BLOCKING=1: every launch returns when its kernel of 25 us has ended; the host takes 45 us to the next."""
    def body(_):
        for rank in run.ranks:
            for _ in range(120):
                with rank.operator("aten::addmm"):
                    rank.work(45)
                    end = rank.issue("cudaLaunchKernel", "kernel", GEMM, 25, 7)
                    call = rank.events[-2]
                    call["dur"] = round(end + 3 - call["ts"], 3)
                    rank.now = end + 3
            fused_update(rank)
    run.steps(5, body)


def hooks_in_python(run):
    """A Python hook on every gradient takes 150 us; its kernels take 40."""
    def body(_):
        for rank in run.ranks:
            for _ in range(8):
                linear(rank, 60)
            with backward_pass(rank):
                for _ in range(60):
                    gradient(rank, 40)
                    with rank.function("hooks.py(15): grad_hook"):
                        rank.work(150)
            fused_update(rank)
    run.steps(5, body)


def preempted(run):
    """In each step one operator, another every time, takes 6 ms instead of 10 us: the thread was off its core."""
    def body(number):
        for rank in run.ranks:
            for place in range(60):
                op = ("aten::mul", "aten::add", "aten::gelu")[place % 3]
                rank.kernel(op, 40, host_us=6000 if place == (17 * number) % 60 else 10, name=POINTWISE)
            fused_update(rank)
            rank.item()
    run.steps(7, body)


def slow_worker_of_four(run):
    """Every fourth batch comes from the slow one of four workers and is 20 ms late."""
    def load(rank, number):
        with rank.annotate("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"):
            rank.work(20000 if number % 4 == 0 else 120)
        rank.copy(80)
    train(run, count=13, before=load)


def own_prefetcher(run):
    """A loader of the user's own: the main thread waits 9 ms in its queue."""
    def load(rank, _):
        with rank.function("data/prefetch.py(22): next"):
            with rank.function("queue.py(154): get"):
                with rank.function("threading.py(288): wait"):
                    with rank.function("<method 'acquire' of '_thread.lock' objects>"):
                        rank.work(9000)
        rank.copy(80)
    train(run, before=load)


def tokenizes_in_step(run):
    """The collate function tokenizes on the main thread for 8 ms, in the loader's annotation."""
    def load(rank, _):
        with rank.annotate("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"):
            with rank.function("torch/utils/data/_utils/fetch.py(46): fetch"):
                with rank.function("collate.py(9): collate"):
                    with rank.function("transformers/tokenization_utils_base.py(2820): __call__"):
                        rank.work(8000)
        from_pageable(rank, 20, 1 << 16)
    train(run, before=load)


def regions_as_graphs(run):
    """Eight compiled regions, each replayed as a graph of 90 us; between them Python takes 700 us."""
    def body(_):
        for rank in run.ranks:
            for piece in range(8):
                rank.work(700)
                with rank.operator("TorchDynamo Cache Lookup"):
                    rank.work(20)
                with rank.operator(f"Torch-Compiled Region: {piece}/0"):
                    rank.work(20)
                    replay(rank, [("triton_poi_fused_add_mul_0", 45), (GEMM, 45)])
            fused_update(rank)
    run.steps(5, body)


def replay(rank, kernels, call="cudaGraphLaunch"):
    """A graph whose kernels run one after another."""
    rank.correlation += 1
    rank.host("cuda_runtime", call, rank.now, 25, correlation=rank.correlation)
    start = max(rank.now + 10, rank.free.get(7, 0.0))
    rank.now += 25
    for name, us in kernels:
        us = rank.jitter(us)
        rank.event("kernel", name, start, us, 0, 7, device=0, stream=7, correlation=rank.correlation)
        start += us + 1
    rank.free[7] = start


def tunes_in_a_step(run):
    """In the third of eight steps the compiler tries 30 kernels, 8 ms of host and 4 ms of device each."""
    def tune(rank, number):
        for choice in range(30 if number == 3 else 0):
            with rank.function("torch/_inductor/select_algorithm.py(2100): benchmark_choices"):
                with rank.function("triton/testing.py(90): do_bench"):
                    rank.work(8000)
                    rank.issue("cuLaunchKernelEx", "kernel", f"triton_tem_fused_mm_{choice}", 4000, 7)
                    rank.wait()
    train(run, count=8, before=tune)


def unused_parameters(run):
    """DDP looks for unused parameters for 5 ms before each backward pass."""
    def body(_):
        for rank in run.ranks:
            for _ in range(8):
                linear(rank, 90)
            with rank.operator("DistributedDataParallel.forward"):
                with rank.operator("search_unused_parameters"):
                    rank.work(5000)
            with backward_pass(rank):
                for _ in range(8):
                    gradient(rank, 180)
        run.reduce(150)
        for rank in run.ranks:
            fused_update(rank)
            rank.item()
    run.steps(6, body)


def cross_entropy(run):
    """A vocabulary of 256,000: soft-max and its copies to fp32 take 7 of 10 ms."""
    def loss(rank, _):
        rank.kernel("aten::_to_copy", 2200, name=COPIES)
        rank.kernel("aten::_log_softmax", 3000, name=SOFTMAX)
        with backward_pass(rank):
            gradient(rank, 2600, "LogSoftmaxBackward0", "aten::_log_softmax_backward_data", name=SOFTMAX.replace("Forward<", "Backward<"))
    train(run, before=loss)


def contiguous_copies(run):
    """Transposed activations are copied in every layer: 9 of 12 ms in the kernels of contiguous()."""
    def body(_):
        for rank in run.ranks:
            for _ in range(12):
                linear(rank, 220)
                with rank.operator("aten::contiguous"):
                    with rank.operator("aten::clone"):
                        rank.kernel("aten::copy_", 750, name=COPIES)
            fused_update(rank)
            reads_loss(rank)
    run.steps(5, body)


def cache_copied(run):
    """A cache of keys and values is copied whole within the device for every layer: 8 of 11 ms."""
    def body(_):
        for rank in run.ranks:
            for _ in range(12):
                linear(rank, 150)
                rank.copy(700, name="Memcpy DtoD (Device -> Device)", size=400 << 20)
                rank.kernel("aten::_scaled_dot_product_flash_attention", 60, name=ATTENTION)
            rank.item()
    run.steps(5, body)


def scatters_rows(run):
    """index_put_ with accumulate: sorts and adds rows for 6 of 9 ms."""
    def add(rank, _):
        with backward_pass(rank):
            for name, us in (("void cub::DeviceRadixSortOnesweepKernel<long>", 1200),
                             ("void at::native::indexing_backward_kernel<float, 4>(long const*, long const*)", 4800)):
                gradient(rank, us, "IndexBackward0", "aten::_index_put_impl_", name=name)
    train(run, between=add)


def layouts_turned(run):
    """Convolutions run in another layout than the tensors: the kernels that turn them take 6 of 10 ms."""
    def body(_):
        for rank in run.ranks:
            for _ in range(10):
                with rank.operator("aten::cudnn_convolution"):
                    for name, us in (("void cudnn::ops::nchwToNhwcKernel<__half, __half, float, false, true>", 350),
                                     ("sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128", 350),
                                     ("void cudnn::ops::nhwcToNchwKernel<__half, __half, float, true, false>", 250)):
                        rank.work(6)
                        rank.issue("cudaLaunchKernel", "kernel", name, us, 7)
            fused_update(rank)
            rank.item()
    run.steps(5, body)


def activations_offloaded(run):
    """Activations go to the host in the forward pass and come back in the backward pass, on streams of their own, four times as long
    as the kernels take; each gradient waits for its activation."""
    def body(_):
        for rank in run.ranks:
            for _ in range(8):
                linear(rank, 250)
                rank.copy(1200, stream=14, name="Memcpy DtoH (Device -> Pinned)", size=28 << 20)
            rank.free[15] = max(rank.free.get(15, 0.0), rank.free[14])
            with backward_pass(rank):
                for _ in range(8):
                    rank.copy(1200, stream=15, size=28 << 20)
                    rank.free[7] = max(rank.free[7], rank.free[15])
                    gradient(rank, 400)
            fused_update(rank)
            reads_loss(rank)
    run.steps(5, body)


def schedules_requests(run):
    """A server of a language model: a graph of 2 ms makes a token for all requests, then Python chooses and schedules for 5 ms."""
    def body(_):
        for rank in run.ranks:
            with rank.function("vllm/v1/core/sched/scheduler.py(180): schedule"):
                rank.work(5000)
            with rank.annotate("execute_context_0(0)_generation_32(32)"):
                replay(rank, 20 * [(GEMM, 60), (ATTENTION, 40)])
                rank.kernel("aten::sort", 40, host_us=20, name="void cub::DeviceSegmentedRadixSortKernel<float>")
                to_host(rank)
    run.steps(8, body)


def prefill_between(run):
    """The same server: every sixth pass holds a prompt of 8,000 tokens and takes 40 ms, the others 2.5."""
    def body(number):
        for rank in run.ranks:
            prompt = number % 6 == 0
            with rank.annotate(f"execute_context_{int(prompt)}({8000 * prompt})_generation_32(32)"):
                if prompt:
                    for _ in range(32):
                        linear(rank, 900)
                        rank.kernel("flash_attn::_flash_attn_varlen_forward", 350, name=ATTENTION)
                else:
                    replay(rank, 20 * [(GEMM, 80), (ATTENTION, 40)])
                to_host(rank)
    run.steps(14, body)


def data_parallel_threads(run):
    """nn.DataParallel: weights are copied to the second device in every step, 9 ms, before 4 ms of kernels on both."""
    def body(_):
        for rank in run.ranks:
            with rank.function("torch/nn/parallel/replicate.py(78): replicate"):
                for _ in range(30):
                    rank.copy(300, name="Memcpy PtoP (Device -> Device)", op="Broadcast", size=24 << 20)
            for _ in range(8):
                linear(rank, 160)
                linear(rank, 160, host_us=6)
            fused_update(rank)
            reads_loss(rank)
    run.steps(5, body)


def waits_in_barrier_alone(run):
    """One of many processes, alone in the recording, calls synchronize() after every layer; then Python takes 80 us."""
    def body(_):
        for rank in run.ranks:
            for _ in range(40):
                linear(rank, 45)
                with rank.function("torch/cuda/__init__.py(979): synchronize"):
                    rank.wait(call="cudaDeviceSynchronize")
                rank.work(80)
            fused_update(rank)
    run.steps(5, body)


def evaluates_and_saves(run):
    """Every fifth step the model is evaluated for 60 ms and saved for 30 ms, outside all marks."""
    for epoch in range(3):
        def body(_):
            for rank in run.ranks:
                passes(rank)
                fused_update(rank)
                reads_loss(rank)
        run.steps(5, body, first=5 * epoch + 1)
        for rank in run.ranks:
            with rank.function("train.py(260): evaluate"):
                for _ in range(60):
                    linear(rank, 1000)
                rank.wait()
            with rank.function("train.py(271): save"):
                rank.work(30000)
