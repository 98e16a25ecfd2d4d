"""More runs with one planted cause each: hosts that slow down, copies that share a bus, devices of another generation, kernels of libraries
of 2025, exchanges that are no NCCL kernels of old, batches of further libraries, recordings that begin or end within a step. Written as
planted_trainers.py is; its expected answer was written before the report was seen.
"""
from planted_habits import GEMM, POINTWISE, fused_update, linear, on_thread, passes, reads_loss, to_host, train
from planted_meshes import ends, exchange
from planted_systems import calls_take, fed_by, nested

CUTLASS = "cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<flash::CollectiveMainloopFwdSm90<2, cute::tuple<cute::C<1> > > > > >"
SOFTMAX = "_ZN2at6native43_GLOBAL__N__9b7f2c1e_10_SoftMax_cu_9f97819020cunn_SoftMaxForwardILi8EN3c108BFloat16EffNS1_22SoftMaxForwardEpilogueEEEvPT2_PKT0_i"
SCAN = "void selective_scan_fwd_kernel<Selective_Scan_fwd_kernel_traits<128, 16, 1, false, true, true, true, c10::BFloat16, float> >(SSMParamsBase)"
DEEP = "void deep_gemm::sm90_fp8_gemm_1d2d_impl<(cute::UMMA::Major)0, 0u, 7168u, 2048u, 1u, 128u, 128u, 128u>(float*, int*, CUtensorMap_st)"
EXPERTS = "aiter::fmoe_bf16_blockscaleFp8_g1u1_vs_silu_1tg_32x256"
IMPLICIT = "igemm_fwd_gtcx3_nhwc_fp16_bx0_ex1_bt256x128x32_wt32x32x8_ws1x1_wr2x1_ta1x8x4x1_1x4x1x64_tb1x8x2x1_1x4x1x64"
SAMPLING = "void flashinfer::sampling::TopKTopPSamplingFromProbKernel<1024u, (cub::BlockScanAlgorithm)2, (cub::BlockReduceAlgorithm)2, 4u, true, float, int>"
NORMS = "void vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, c10::BFloat16*, c10::BFloat16 const*, float, int, int)"


# --- hosts -------------------------------------------------------------------------------------------------------------

def small_work(rank, host_us, count=60):
    for _ in range(count):
        linear(rank, 8, host_us)


def cpu_slows_down(run):
    """From the fifth of ten steps on the host's clock is throttled: each operator takes 70 us of host instead of 20."""
    def body(number):
        for rank in run.ranks:
            small_work(rank, 70 if number >= 5 else 20)
            reads_loss(rank)
    run.steps(10, body)


def hosts_on_far_socket(run):
    """The hosts of the second half of the ranks take 2.5 times as long for each operator; the others wait."""
    def body(_):
        for rank in run.ranks:
            small_work(rank, 50 if rank.rank >= run.world // 2 else 20)
        ends(run)
    run.steps(5, body)


def histograms_logged(run):
    """Behind every step sixty gradients are copied to the host, where a histogram of each takes 150 us."""
    def log(rank, _):
        for _ in range(60):
            to_host(rank, size=1 << 16)
            nested(rank, ["train.py(90): log_gradients", "torch/utils/tensorboard/summary.py(477): make_histogram"], 150)
    train(run, extra=log)


def parses_settings(run):
    """Before it launches anything, every step resolves its settings for 12 ms."""
    train(run, before=lambda rank, _: nested(rank, ["train.py(12): step_settings", "omegaconf/basecontainer.py(250): to_container"], 12000))


def waits_for_lock(run):
    """Every step takes a lock on a file for 10 ms."""
    train(run, extra=lambda rank, _: nested(rank, ["metrics.py(31): append", "filelock/_api.py(300): acquire"], 10000))


trims_pool = calls_take("cudaMemPoolTrimTo", 9000)


def new_group_in_run(run):
    """In the sixth of ten steps all ranks set a new communicator up for 600 ms."""
    def body(number):
        for rank in run.ranks:
            passes(rank)
            if number == 6:
                rank.work(10)
                nested(rank, ["torch/distributed/distributed_c10d.py(5300): new_group"], 600000)
        ends(run)
    run.steps(10, body)


def recompiles_on_one(run):
    """Shapes change on rank 5 alone: it compiles for 30 ms in each step; the others wait."""
    def body(_):
        for rank in run.ranks:
            if rank.rank == 5:
                with rank.annotate("_compile.compile_inner (dynamo_timed)"):
                    rank.work(30000)
            passes(rank)
        ends(run)
    run.steps(5, body)


def blocks_on_one(run):
    """Rank 2 runs with CUDA_LAUNCH_BLOCKING=1: each of its launches returns when its kernel has ended."""
    def body(_):
        for rank in run.ranks:
            for _ in range(100):
                with rank.operator("aten::addmm"):
                    rank.work(25)
                    end = rank.issue("cudaLaunchKernel", "kernel", GEMM, 40, 7)
                    if rank.rank == 2:
                        rank.events[-2]["dur"] = round(end + 3 - rank.events[-2]["ts"], 3)
                        rank.now = end + 3
        ends(run)
    run.steps(5, body)


def adapters_unmerged(run):
    """Each of 40 layers runs a product of 60 us, and the two small ones of its adapter for 120 us of Python."""
    def body(_):
        for rank in run.ranks:
            for _ in range(40):
                linear(rank, 60)
                with rank.function("peft/tuners/lora/layer.py(720): forward"):
                    for _ in range(4):
                        rank.work(20)
                        rank.kernel("aten::mm", 3, host_us=10, name=GEMM)
            reads_loss(rank)
    run.steps(5, body)


def asks_on_rank_zero(run):
    """Rank 0 alone asks for thirty values a step, each followed by 150 us of Python; the others wait for it."""
    def body(_):
        for rank in run.ranks:
            passes(rank, 4)
            for _ in range(30 if rank.rank == 0 else 0):
                rank.item()
                rank.work(150)
        ends(run)
    run.steps(5, body)


# --- copies ------------------------------------------------------------------------------------------------------------

def far_pinned_memory(run):
    """Batches of the second half of the ranks lie pinned at the other socket and are copied for 6 ms; the others' take 1.5."""
    def body(_):
        for rank in run.ranks:
            rank.copy(6000 if rank.rank >= run.world // 2 else 1500, size=38 << 20)
            passes(rank, 4)
        ends(run)
    run.steps(5, body)


def swaps_blocks(run):
    """A server swaps 24 blocks of its cache out and 24 in for 150 us each, before a pass of 2 ms."""
    def body(_):
        for rank in run.ranks:
            with rank.function("vllm/worker/cache_engine.py(100): swap_out"):
                for name in 24 * ["Memcpy DtoH (Device -> Pinned)"] + 24 * ["Memcpy HtoD (Pinned -> Device)"]:
                    rank.copy(150, op="_C_cache_ops::swap_blocks", name=name, size=3 << 20)
            passes(rank, 3)
            to_host(rank)
    run.steps(6, body)


def copies_serialised(run):
    """Batches are copied on a stream of their own for 7 ms, but the copy waits for the step before, and the step for the copy."""
    def body(_):
        for rank in run.ranks:
            rank.free[22] = max(rank.free.get(22, 0.0), rank.free.get(7, 0.0))
            rank.copy(7000, stream=22, size=150 << 20)
            rank.free[7] = max(rank.free.get(7, 0.0), rank.free[22])
            passes(rank, 6)
            fused_update(rank)
    run.steps(6, body)


# --- devices -----------------------------------------------------------------------------------------------------------

def replays_on_one(run):
    """Errors of its memory stop rank 2 within a product for 15 ms, in every second step."""
    def body(number):
        for rank in run.ranks:
            passes(rank, 6)
            if rank.rank == 2 and number % 2:
                linear(rank, 15000)
        ends(run)
    run.steps(8, body)


def older_device_of_one(run):
    """The device of the last rank is of the generation before: its products take 2.2 times as long."""
    def body(_):
        for rank in run.ranks:
            passes(rank, 6, 480 if rank.rank == run.world - 1 else 220)
        ends(run)
    run.steps(5, body)


def filled_with(name, us=400, op="aten::addmm", count=12):
    """Kernels of one name fill the device; a product and an element-wise kernel beside each take an eighth of its time together."""
    def program(run):
        def body(_):
            for rank in run.ranks:
                for _ in range(count):
                    rank.kernel(op, us, host_us=10, name=name)
                    rank.kernel("aten::mm", us / 16, host_us=8, name=GEMM)
                    rank.kernel("aten::add", us / 16, host_us=8, name=POINTWISE)
                reads_loss(rank)
        run.steps(6, body)
    return program


products_nvjet = filled_with("nvjet_tst_128x256_64x4_2x1_v_bz_coopA_TNT")
products_in_eight_bits = filled_with(DEEP, op="deep_gemm::fp8_gemm_nt")
attention_of_hopper = filled_with(CUTLASS, op="flash_attn_3::fwd")
templates_of_triton = filled_with("triton_tem_fused_addmm_relu_t_4", op="triton_tem_fused_addmm_relu_t_4")
experts_of_aiter = filled_with(EXPERTS, op="aiter::fmoe_fp8_blockscale_g1u1")
convolutions_of_miopen = filled_with(IMPLICIT, op="aten::miopen_convolution")
scans_states = filled_with(SCAN, op="SelectiveScanFn")
mangled_softmax = filled_with(SOFTMAX, op="aten::_softmax")
norms_served = filled_with(NORMS, op="_C::fused_add_rms_norm")
samples_on_device = filled_with(SAMPLING, op="flashinfer::top_k_top_p_sampling_from_probs")


# --- exchanges ---------------------------------------------------------------------------------------------------------

def exchanged_by(name, us, **args):
    """Behind each of eight products of 250 us stands an exchange, by a kernel of this name."""
    def program(run):
        def body(_):
            for _ in range(8):
                run.each(lambda rank: linear(rank, 250))
                run.reduce(us, name=name, **args)
            run.each(reads_loss)
        run.steps(5, body)
    return program


symmetric_kernels = exchanged_by("ncclSymkDevKernel_AllReduce_RSxLDMC_AGxSTMC(ncclSymkDevWorkArgs4K)", 900)
tokens_by_nvshmem = exchanged_by("c10d::nvshmem_extension::allToAllV(void*, void*, long*, long*, unsigned long, long, int)", 900,
                                 **{"Collective name": "all_to_all_vdev"})
sums_by_mscclpp = exchanged_by("void mscclpp::collective::allreduceRsAgZeroCopy<(ReduceOp)0, __half, false>", 900)


def sequence_split(run):
    """Sequence parallelism: each product of 300 us has a gather of 250 us before it and a reduce-scatter of 600 us behind it."""
    def body(_):
        for _ in range(8):
            exchange(run, 250, "_allgather_base")
            run.each(lambda rank: linear(rank, 300))
            exchange(run, 600, "_reduce_scatter_base")
        run.each(fused_update)
        run.each(reads_loss)
    run.steps(5, body)


# --- input -------------------------------------------------------------------------------------------------------------

def worker_restarts_on_one(run):
    """In every second step the loader's workers of the last rank start again for 25 ms; the others wait for the rank."""
    def body(number):
        for rank in run.ranks:
            with rank.annotate("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"):
                rank.work(25000 if rank.rank == run.world - 1 and number % 2 else 60)
            passes(rank, 4)
        ends(run)
    run.steps(8, body)


def decodes_video(run):
    """Frames are decoded for 10 ms on the main thread, outside any loader."""
    train(run, before=lambda rank, _: rank.run("torchcodec_ns::get_frames_at_indices", 10000))


trainer_fetches = fed_by("transformers/trainer.py(5300): get_batch_samples", "accelerate/data_loader.py(560): __iter__")
grain_feeds = fed_by("grain/_src/python/data_loader.py(520): __next__")
ffcv_feeds = fed_by("ffcv/loader/epoch_iterator.py(160): __next__")


def lightning_marks(run):
    """Lightning's profiler marks what fetches a batch for 15 ms, within PyTorch's step."""
    def load(rank, _):
        with rank.annotate("[pl][profile][_TrainingEpochLoop].train_dataloader_next"):
            rank.work(15000)
        rank.copy(80)
    train(run, before=load)


def host_only_feeds(run):
    """Nothing runs on a device: the loader takes 20 ms of 30, products on the host the rest."""
    def body(_):
        for rank in run.ranks:
            with rank.annotate("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"):
                rank.work(20000)
            for _ in range(5):
                rank.run("aten::mm", 2000)
    run.steps(6, body)


# --- recordings that begin or end within a step --------------------------------------------------------------------------

def begins_within_step(run):
    """The first step's launches came before the recording: its kernels of products have none."""
    run.steps(6, lambda _: [(passes(rank), fused_update(rank), reads_loss(rank)) for rank in run.ranks])
    for rank in run.ranks:
        marks = sorted(e["ts"] for e in rank.events if e["name"].startswith("ProfilerStep#"))
        rank.events = [e for e in rank.events if e["pid"] == 0 or e["ts"] >= marks[1]]


def ends_within_step(run):
    """The recording ends before the device has done what the last step launched."""
    run.steps(6, lambda _: [(passes(rank), fused_update(rank), reads_loss(rank)) for rank in run.ranks])
    for rank in run.ranks:
        last = max(e["ts"] for e in rank.events if e["name"].startswith("ProfilerStep#"))
        rank.events = [e for e in rank.events if e["pid"] or e["ts"] < last]


def pins_beside(run):
    """Another thread pins the next batch for 3 ms while products take 10: nothing waits."""
    def pin(rank, _):
        begin = rank.now
        with on_thread(rank, 300):
            rank.run("aten::pin_memory", 3000)
        rank.now = begin
    train(run, before=pin)
