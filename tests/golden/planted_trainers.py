"""More runs with one planted cause each, of shapes that the other files lack: losses, samplers and optimizers that go over the host, models
that a compiler leaves again and again, batches from files and futures, experts that are hot by turns, exchanges of single parameters,
kernels of recommenders and images. Written as planted_habits.py is; its expected answer was written before the report was seen.
"""
from planted_habits import GEMM, POINTWISE, fused_update, linear, passes, reads_loss, replay, to_host, train
from planted_meshes import ends, exchange
from planted_systems import message, nested

CONVOLUTION = "sm80_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128x32_stage4_warpsize2x2x1_g1_tensor16x8x16"
BAGS = "void fbgemm_gpu::split_embedding_codegen_forward_unweighted_kernel<float, float, float, int, false, 32>"
RESIZE = "void at::native::(anonymous namespace)::upsample_bilinear2d_out_frame<float, float>"


# --- hosts -------------------------------------------------------------------------------------------------------------

def graph_breaks_each_layer(run):
    """A compiled model breaks 20 times a step: 60 us of device, then 400 us in the function that it could not compile."""
    def body(_):
        for rank in run.ranks:
            for number in range(20):
                with rank.operator(f"Torch-Compiled Region: {number}/0"):
                    rank.kernel("triton_poi_fused_add_gelu_0", 60, host_us=10, name="triton_poi_fused_add_gelu_0")
                with rank.function("model.py(88): route"):
                    rank.work(400)
            reads_loss(rank)
    run.steps(6, body)


def roots_on_host(run):
    """The optimizer takes the roots of its statistics on the host: a copy there, 12 ms of eigenvalues."""
    def roots(rank, _):
        with rank.annotate("Optimizer.step#Shampoo.step"):
            to_host(rank, size=16 << 20)
            rank.run("aten::linalg_eigh", 12000)
            rank.copy(300, size=16 << 20)
    train(run, extra=roots)


def samples_behind_graphs(run):
    """A server replays a graph of 1.5 ms, waits, then chooses tokens in Python for 3 ms."""
    def body(_):
        for rank in run.ranks:
            replay(rank, 12 * [(GEMM, 120)])
            to_host(rank)
            with rank.function("engine.py(71): choose_tokens"):
                rank.work(3000)
    run.steps(8, body)


def detokenizes_in_step(run):
    """After each token the tokenizer's own function turns numbers to text for 5 ms, behind a pass of 2."""
    def body(_):
        for rank in run.ranks:
            passes(rank, 3)
            to_host(rank)
            nested(rank, ["server.py(40): stream", "transformers/tokenization_utils_fast.py(650): _decode"], 5000)
    run.steps(8, body)


def losses_on_host(run):
    """The loss is computed on the host: a copy there, 15 ms of aten::_ctc_loss, a copy back."""
    def loss(rank, _):
        to_host(rank, size=8 << 20)
        rank.run("aten::_ctc_loss", 15000)
        rank.copy(60)
    train(run, between=loss)


def boolean_masks(run):
    """Forty masks a step are indexed: the host waits for how many are set, then spends 80 us, for 15 us of device."""
    def body(_):
        for rank in run.ranks:
            for _ in range(40):
                with rank.operator("aten::index"):
                    with rank.operator("aten::nonzero"):
                        rank.kernel("aten::sum", 15, host_us=20, name="void cub::DeviceReduceSingleTileKernel<cub::Policy600, bool*, int*>")
                        rank.issue("cudaMemcpyAsync", "gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", 2, 7, bytes=8)
                        rank.wait()
                    rank.work(80)
            fused_update(rank)
    run.steps(6, body)


# --- batches -----------------------------------------------------------------------------------------------------------

def samples_indices(run):
    """A weighted sampler draws indices of the whole set on the main thread: 10 ms of aten::multinomial in the loader's annotation."""
    def load(rank, _):
        with rank.annotate("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"):
            nested(rank, ["torch/utils/data/sampler.py(210): __iter__"], 40)
            rank.run("aten::multinomial", 10000)
        rank.copy(80)
    train(run, before=load)


def futures_feed(run):
    """The step's thread waits 9 ms for the batch that a pool of threads decodes."""
    def load(rank, _):
        nested(rank, ["train.py(30): main", "data.py(20): next_batch", "concurrent/futures/_base.py(428): result",
                      "threading.py(288): wait"], 9000)
        rank.copy(80)
    train(run, before=load)


def reads_hdf5(run):
    """The main thread reads samples from a file for 9 ms; nothing is annotated."""
    def load(rank, _):
        nested(rank, ["torch/utils/data/dataloader.py(630): __next__", "torch/utils/data/_utils/fetch.py(52): fetch",
                      "h5py/_hl/dataset.py(840): __getitem__"], 9000)
        rank.copy(80)
    train(run, before=load)


# --- devices -----------------------------------------------------------------------------------------------------------

def evaluates_every_fourth(run):
    """Behind every fourth of twelve steps of 6 ms the model is evaluated for 45 ms, within the step."""
    def evaluate(rank, number):
        for _ in range(100 if number % 4 == 0 else 0):
            with rank.function("train.py(90): evaluate"):
                linear(rank, 450)
    train(run, count=12, extra=evaluate)


def decodes_latents(run):
    """Images are denoised for 4 ms and decoded by convolutions for 9."""
    def body(_):
        for rank in run.ranks:
            passes(rank, 6)
            with rank.function("nn.Module: AutoencoderKL_0"):
                for _ in range(12):
                    rank.kernel("aten::cudnn_convolution", 750, host_us=20, name=CONVOLUTION)
            to_host(rank)
    run.steps(5, body)


def bags_of_embeddings(run):
    """Sums of embeddings of 26 tables take 6 ms, products 2."""
    def body(_):
        for rank in run.ranks:
            for _ in range(26):
                rank.kernel("fbgemm::split_embedding_codegen_lookup_sgd_function", 230, host_us=14, name=BAGS)
            passes(rank, 3)
            fused_update(rank)
            reads_loss(rank)
    run.steps(5, body)


def snapshots_weights(run):
    """Every step copies all weights to pinned memory in 8 ms, on the stream of the products."""
    train(run, extra=lambda rank, _: rank.copy(8000, name="Memcpy DtoH (Device -> Pinned)", size=160 << 20, op="aten::copy_"))


def sums_in_fp32(run):
    """Gradients of 60 parameters are added to sums in fp32: 120 us each, products 3 ms."""
    def body(_):
        for rank in run.ranks:
            passes(rank, 5, 200)
            with rank.function("accumulate.py(12): add_gradients"):
                for _ in range(60):
                    rank.kernel("aten::add_", 120, host_us=10, name=POINTWISE)
            reads_loss(rank)
    run.steps(5, body)


def resizes_on_device(run):
    """Images are resized on the device for 7 ms before products of 5."""
    def resize(rank, _):
        for _ in range(10):
            rank.kernel("aten::upsample_bilinear2d", 700, host_us=16, name=RESIZE)
    train(run, before=resize)


# --- ranks -------------------------------------------------------------------------------------------------------------

def hot_expert_by_layer(run):
    """Of eight expert layers each makes another rank work three times as long as the others; all ranks do as much in sum."""
    def body(_):
        for layer in range(8):
            for rank in run.ranks:
                linear(rank, 60)
            exchange(run, 40, "all_to_allv", stream=21)
            for rank in run.ranks:
                hot = rank.rank == layer % run.world
                rank.kernel("grouped_gemm::gmm", 900 if hot else 300, name="void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_grouped>")
            exchange(run, 40, "all_to_allv", stream=21)
        ends(run)
    run.steps(5, body)


def slow_interpreter_of_one(run):
    """A thread of rank 3 holds the interpreter: each of its 120 operators takes 90 us instead of 12, for kernels of 25."""
    def body(_):
        for rank in run.ranks:
            for _ in range(120):
                rank.kernel("aten::addmm", 25, host_us=86 if rank.rank == 3 else 8, name=GEMM)
        ends(run)
    run.steps(5, body)


def gathers_each_bias(run):
    """Weights are gathered parameter by parameter, 70 us before each product of 30: nothing is fetched ahead."""
    def body(_):
        for _ in range(60):
            exchange(run, 70, "_allgather_base", elements=1 << 12)
            for rank in run.ranks:
                linear(rank, 30, host_us=4)
        ends(run)
    run.steps(5, body)


def first_stage_heavy(run):
    """Eight micro-batches pass four stages; the first holds the embedding and takes 1.2 ms, the others 0.4."""
    def body(_):
        for _ in range(8):
            for stage, rank in enumerate(run.ranks):
                linear(rank, 1200 if stage == 0 else 400)
                if stage + 1 < run.world:
                    message(run, stage, stage + 1, 25)
        ends(run)
    run.steps(5, body)


def broadcasts_settings(run):
    """Rank 0 broadcasts all weights each step: 7 ms, products 5."""
    def body(_):
        exchange(run, 7000, "broadcast")
        for rank in run.ranks:
            passes(rank, 7)
        ends(run)
    run.steps(5, body)


def reads_then(run, work):
    """A step whose loss is read; behind it each rank does `work`."""
    for rank in run.ranks:
        passes(rank, 6)
    exchange(run, 150)
    for rank in run.ranks:
        fused_update(rank)
        reads_loss(rank)
        work(rank)


def confuses_before_barrier(run):
    """Rank 5 counts a confusion matrix for 9 ms behind its step; a barrier holds the others."""
    def body(_):
        reads_then(run, lambda rank: rank.rank == 5 and nested(rank, ["metrics.py(30): confusion_matrix"], 9000))
        exchange(run, 15, elements=1)
        for rank in run.ranks:
            rank.wait()
    run.steps(5, body)


def contended_link(run):
    """Another job shares the link: the all-reduce takes 3, 9, 5, 12, 7, 4 ms, products 5."""
    def body(number):
        for rank in run.ranks:
            passes(rank, 8)
        exchange(run, [3000, 9000, 5000, 12000, 7000, 4000][number % 6])
        for rank in run.ranks:
            fused_update(rank)
            reads_loss(rank)
    run.steps(6, body)


# --- the plain step of planted_habits.train(), and what may change of it ------------------------------------------------

def plain(run):
    train(run)


def changed(us=lambda rank: 220.0, reduce_us=150):
    def program(run):
        def body(_):
            for rank in run.ranks:
                passes(rank, 8, us(rank))
            run.reduce(reduce_us)
            for rank in run.ranks:
                fused_update(rank)
                reads_loss(rank)
        run.steps(6, body)
    return program


plain_slow_link = changed(reduce_us=4000)
plain_slow_clocks = changed(us=lambda rank: 300.0)
plain_slow_device = changed(us=lambda rank: 400.0 if rank.rank == 1 else 220.0)


# --- written after the reports on the above were seen and their causes mended ---------------------------------------------

def gathers_vocabulary_late(run):
    """Tensor parallelism gathers logits for 5 ms behind products of 4, at the end of each step alone."""
    def body(_):
        for rank in run.ranks:
            passes(rank, 6)
        exchange(run, 5000, "_allgather_base", elements=1 << 24)
        ends(run, 80)
    run.steps(5, body)


def copies_between_experts(run):
    """Tokens are permuted and padded for experts: index kernels take 5 ms, products 3."""
    def body(_):
        for rank in run.ranks:
            passes(rank, 4)
            for _ in range(20):
                rank.kernel("aten::index_select", 250, host_us=12, name="void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, long, unsigned int, 2, 2, -2, true>")
            reads_loss(rank)
    run.steps(5, body)


def validates_inputs(run):
    """Assertions on the device are asked for after every layer: 30 waits, 110 us of Python each, for kernels of 40."""
    def body(_):
        for rank in run.ranks:
            for _ in range(30):
                rank.kernel("aten::mul", 40, host_us=8, name=POINTWISE)
                with rank.function("checks.py(19): assert_finite"):
                    rank.item()
                    rank.work(110)
            fused_update(rank)
    run.steps(6, body)


def fetches_from_object_store(run):
    """The main thread waits 12 ms for samples from an object store, in the user's own dataset, without annotation."""
    def load(rank, _):
        nested(rank, ["torch/utils/data/dataloader.py(630): __next__", "dataset.py(44): __getitem__", "botocore/httpsession.py(460): send",
                      "urllib3/connectionpool.py(600): urlopen", "ssl.py(1100): read"], 12000)
        rank.copy(80)
    train(run, before=load)


def writes_checkpoint_in_pieces(run):
    """Every fifth of ten steps writes a checkpoint for 70 ms, tensor by tensor, with a copy of 2 ms between."""
    def save(rank, number):
        with rank.function("checkpoint.py(33): write_shards"):
            for _ in range(10 if number % 5 == 0 else 0):
                rank.copy(2000, name="Memcpy DtoH (Device -> Pageable)", size=32 << 20)
                rank.wait()
                rank.work(5000)
    train(run, count=10, extra=save)


def pads_one_rank(run):
    """Rank 2 pads its batch: its products take 1.5 times as long in the forward pass alone."""
    def body(_):
        for rank in run.ranks:
            for _ in range(8):
                linear(rank, 600 if rank.rank == 2 else 400)
            passes(rank, 2)
        ends(run)
    run.steps(6, body)


def throttles_at_second_half(run):
    """From the sixth of ten steps on the products of rank 1 take 1.7 times as long: power is capped."""
    def body(number):
        for rank in run.ranks:
            passes(rank, 8, 374 if rank.rank == 1 and number > 5 else 220)
        ends(run)
    run.steps(10, body)


def logs_on_all_but_one(run):
    """Seven of eight ranks write logs for 8 ms a step; only rank 0 does not."""
    def body(_):
        reads_then(run, lambda rank: rank.rank and nested(rank, ["logs.py(14): flush"], 8000))
    run.steps(5, body)


def reduces_in_two_rings(run):
    """Gradients are summed within pairs for 0.3 ms and across them for 6, products take 5."""
    def body(_):
        for rank in run.ranks:
            passes(rank, 7)
        half = run.world // 2
        for first in range(half):
            exchange(run, 300, ranks=[run.ranks[2 * first], run.ranks[2 * first + 1]])
        for odd in range(2):
            exchange(run, 6000, ranks=run.ranks[odd::2])
        for rank in run.ranks:
            fused_update(rank)
            reads_loss(rank)
    run.steps(5, body)


def middle_stage_on_host(run):
    """Micro-batches pass four stages; the host of the second masks each for 900 us in its own function, stages compute 500."""
    def body(_):
        for _ in range(6):
            for stage, rank in enumerate(run.ranks):
                if stage == 1:
                    nested(rank, ["mask.py(8): build_mask"], 900)
                linear(rank, 500)
                if stage + 1 < run.world:
                    message(run, stage, stage + 1, 25)
        ends(run)
    run.steps(5, body)
