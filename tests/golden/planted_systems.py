"""More runs with one planted cause each, of kinds that the other files lack: batches that other libraries feed, hosts that run steps ahead,
steps of two kinds by turns, ranks that wait in object collectives and stores, calls of the driver, nodes of many ranks. Written as
planted_habits.py is; its expected answer was written before the report was seen.
"""
from planted_habits import (AUTOGRAD, COPIES, FOREACH, GEMM, POINTWISE, backward_pass, fused_update, gradient, linear, on_thread, passes,
                            reads_loss, replay, to_host, train)
from planted_meshes import ends, exchange, wait_for
from planted_shapes import SECOND, meet, second_device

GATHER_OBJECT = "torch/distributed/distributed_c10d.py(2700): all_gather_object"


def nested(rank, frames, us):
    """Python frames within each other, the innermost of which works."""
    if not frames:
        return rank.work(us)
    with rank.function(frames[0]):
        nested(rank, frames[1:], us)


# --- batches that come from elsewhere ---------------------------------------------------------------------------------

def fed_by(*frames):
    def program(run):
        def load(rank, _):
            nested(rank, ["train.py(61): train_epoch", *frames], 9000)
            rank.copy(80)
        train(run, before=load)
    return program


dali_feeds = fed_by("nvidia/dali/plugin/pytorch/__init__.py(150): __next__", "nvidia/dali/pipeline.py(1200): share_outputs")
ray_feeds = fed_by("ray/data/iterator.py(310): iter_batches", "ray/_private/worker.py(2600): get")
hugging_streams = fed_by("datasets/iterable_dataset.py(2090): __iter__", "fsspec/spec.py(1840): read")
mosaic_streams = fed_by("streaming/base/dataset.py(1500): __iter__", "streaming/base/dataset.py(1400): _each_sample_id")
nano_batches = fed_by("train.py(116): get_batch", "<built-in method stack of type object at 0x7f2b8c001c40>")
megatron_batches = fed_by("pretrain_gpt.py(110): get_batch", "megatron/training/utils.py(400): get_batch_on_this_tp_rank")
tensorflow_feeds = fed_by("tensorflow/python/data/ops/iterator_ops.py(810): __next__")


def lightning_fetches(run):
    """Lightning annotates what it does; the loader has no workers: 9 ms a step."""
    def load(rank, _):
        with rank.annotate("[pl][profile][_TrainingEpochLoop].train_dataloader_next"):
            nested(rank, ["lightning/pytorch/loops/fetchers.py(130): __next__"], 9000)
        rank.copy(80)
    train(run, before=load)


def copies_on_loader_thread(run):
    """Another thread copies the batch from pageable memory on a stream of its own for 8 ms; the device's products wait for it."""
    def load(rank, _):
        begin = rank.now
        with on_thread(rank, 300):
            rank.blocking_copy(8000, stream=13, size=64 << 20)
        rank.now = begin + 30
        rank.run("aten::record_stream", 5)
        rank.free[7] = max(rank.free.get(7, 0.0), rank.free[13])
    train(run, before=load)


def loader_per_micro_batch(run):
    """Four micro-batches a step; rank 2's loader takes 3 ms for each."""
    def body(_):
        for _ in range(4):
            for rank in run.ranks:
                with rank.annotate("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"):
                    rank.work(3000 if rank.rank == 2 else 60)
                linear(rank, 400)
                with backward_pass(rank):
                    gradient(rank, 800)
        ends(run)
    run.steps(5, body)


def epochs_begin_dry(run):
    """Every epoch of eight steps begins with three that wait 16 ms for batches, whose workers start from nothing."""
    def load(rank, number):
        with rank.annotate("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"):
            rank.work(16000 if number % 8 in (1, 2, 3) else 80)
        rank.copy(80)
    train(run, count=16, before=load)


# --- hosts far ahead --------------------------------------------------------------------------------------------------

def never_waits(run, us=lambda rank: 220.0, end=lambda run: None, count=8):
    """Nobody asks for the loss: the host issues all steps long before the device begins the second."""
    def body(_):
        for rank in run.ranks:
            passes(rank, 8, us(rank))
        end(run)
        for rank in run.ranks:
            fused_update(rank)
    run.steps(count, body)


def runs_ahead(run):
    never_waits(run)


def exchanges_far_ahead(run):
    """The same on ranks whose all-reduce takes 8 of 14 ms."""
    never_waits(run, end=lambda run: exchange(run, 8000))


def slow_device_far_ahead(run):
    """The same; the products of rank 2 take 1.6 times as long."""
    never_waits(run, lambda rank: 350.0 if rank.rank == 2 else 220.0, lambda run: exchange(run, 100))


def asks_a_step_later(run):
    """The loss of the step before is asked, which is there: nothing waits, products fill the step."""
    def body(_):
        for rank in run.ranks:
            rank.run("aten::item", 12)
            passes(rank)
            fused_update(rank)
    run.steps(7, body)


# --- steps of two kinds -----------------------------------------------------------------------------------------------

def gan_turns(run):
    """Odd steps train one network, whose element-wise kernels take 9 ms, even ones another in 3 ms of products."""
    def body(number):
        for rank in run.ranks:
            for _ in range(30 if number % 2 else 10):
                rank.kernel("aten::mul" if number % 2 else "aten::addmm", 300, name=POINTWISE if number % 2 else GEMM)
            fused_update(rank)
            reads_loss(rank)
    run.steps(12, body)


def marks_each_micro_batch(run):
    """A mark for each micro-batch of 4 ms; behind every fourth gradients are summed for 16 ms."""
    def body(number):
        for rank in run.ranks:
            passes(rank, 6)
        if number % 4 == 0:
            exchange(run, 16000)
            for rank in run.ranks:
                fused_update(rank)
        for rank in run.ranks:
            reads_loss(rank)
    run.steps(16, body)


def flapping_link(run):
    """In every fifth step the all-reduce takes 40 ms on all ranks instead of 0.15."""
    def body(number):
        for rank in run.ranks:
            passes(rank, 6)
        ends(run, 40000 if number % 5 == 0 else 150)
    run.steps(16, body)


def power_oscillates(run):
    """A power limit slows the same kernels down by half in every second step."""
    def body(number):
        for rank in run.ranks:
            passes(rank, 8, 330 if number % 2 else 220)
            fused_update(rank)
            reads_loss(rank)
    run.steps(12, body)


def warms_up(run):
    """The compiler works for 2 s, 0.4 s and 0.15 s in the first three of nine steps; the others are products."""
    def compile_first(rank, number):
        us = {1: 2e6, 2: 4e5, 3: 1.5e5}.get(number)
        if us:
            nested(rank, ["torch/_dynamo/convert_frame.py(1200): __call__"], us)
    train(run, count=9, before=compile_first)


# --- who is late where hosts wait -------------------------------------------------------------------------------------

def objects_over_nccl(run):
    """Rank 2 computes a metric for 8 ms; the others wait for it in all_gather_object, whose sizes and bytes go over the devices."""
    def gather(number):
        for rank in run.ranks:
            passes(rank, 4)
            reads_loss(rank)
            if rank.rank == 2:
                nested(rank, ["metrics.py(20): compute_bleu"], 8000)
        spans = [rank.function(GATHER_OBJECT) for rank in run.ranks]
        for span in spans:
            span.__enter__()
        for _ in range(2):
            exchange(run, 30, "_allgather_base")
            for rank in run.ranks:
                to_host(rank, "aten::cpu")
        for span in spans:
            span.__exit__()
        ends(run)
    run.steps(6, gather)


def meet_on_host(run, wait, us=150):
    """All ranks' hosts go on when the last has come; `wait(rank, end)` records what each does until then."""
    end = max(rank.now for rank in run.ranks) + us
    for rank in run.ranks:
        wait(rank, end)


def hosts_meet(run, late, wait, late_rank=2):
    """Rank 2 works in `late` for 8 ms, then all meet."""
    def body(_):
        for rank in run.ranks:
            passes(rank, 4)
            reads_loss(rank)
            if rank.rank == late_rank:
                nested(rank, [late], 8000)
        meet_on_host(run, wait)
        ends(run)
    run.steps(6, body)


def objects_over_gloo(run):
    """The same over Gloo, whose thread exchanges while the main thread waits in Python."""
    def wait(rank, end):
        begin = rank.now
        with on_thread(rank, 900):
            with rank.annotate("gloo:all_gather"):
                rank.now = end
        rank.now = begin
        with rank.function(GATHER_OBJECT):
            with rank.function("<built-in method wait of PyCapsule object at 0x7f2b8c0d2a30>"):
                rank.now = end
    hosts_meet(run, "metrics.py(20): compute_bleu", wait)


def waits_at_store(run):
    """Ranks wait at the store until rank 2 has set a key."""
    def wait(rank, end):
        with rank.function("vocab.py(31): sync_vocab"):
            with rank.function("<built-in method wait of PyCapsule object at 0x7f2b8c0d2a30>"):
                rank.now = end
    hosts_meet(run, "vocab.py(11): build_vocab", wait)


def waits_for_work(run):
    """An asynchronous exchange of hosts, for which Work.wait() waits; no other thread was recorded."""
    def wait(rank, end):
        with rank.operator("c10d::allreduce_"):
            rank.work(10)
        with rank.function("<built-in method wait of PyCapsule object at 0x7f2b8c0d2a30>"):
            rank.now = end
    hosts_meet(run, "eval.py(44): decode_predictions", wait)


def gathers_at_rank_zero(run):
    """gather_object: all send to rank 0, which is late by 8 ms of writing; the others wait in the next exchange of the devices."""
    def wait(rank, end):
        with rank.function("torch/distributed/distributed_c10d.py(2800): gather_object"):
            rank.work(200)
    hosts_meet(run, "writer.py(9): write_predictions", wait, 0)


def pauses_by_turns(run):
    """Each step the host of another rank is off its core for 7 ms; nothing is recorded there."""
    def body(number):
        for rank in run.ranks:
            linear(rank, 200)
            if rank.rank == (3 * number) % run.world:
                rank.work(7000)
            passes(rank, 4)
        ends(run)
    run.steps(10, body)


def debugs_on_one(run):
    """Rank 1 waits for its device and then writes tensors for 4 ms; the others wait for it."""
    def body(_):
        for rank in run.ranks:
            passes(rank, 4)
            if rank.rank == 1:
                rank.wait(call="cudaDeviceSynchronize")
                nested(rank, ["debug.py(3): dump_tensors"], 4000)
        ends(run)
    run.steps(6, body)


def slow_node(run):
    """Ranks 8 to 11 of 16, one node, take 1.4 times as long for the same kernels."""
    def body(_):
        for rank in run.ranks:
            passes(rank, 4, 310 if 8 <= rank.rank < 12 else 220)
        ends(run)
    run.steps(4, body)


def late_expert(run):
    """The experts of rank 3 take four times as long; all-to-alls move 2 MB."""
    def body(_):
        for _ in range(4):
            for rank in run.ranks:
                linear(rank, 150)
            exchange(run, 60, "all_to_allv")
            for rank in run.ranks:
                rank.kernel("grouped_gemm::gmm", 1600 if rank.rank == 3 else 400, name="cutlass_grouped_gemm_kernel")
            exchange(run, 60, "all_to_allv")
        ends(run)
    run.steps(5, body)


def message(run, source, target, us):
    """From one rank to another, as PyTorch records either side."""
    sides = {"send": (source, target, "->", "Dst Rank"), "recv": (target, source, "<-", "Src Rank")}
    exchange(run, us, "send", [run.ranks[source], run.ranks[target]])
    for name, (own, peer, arrow, key) in sides.items():
        events = run.ranks[own].events[::-1]
        kernel = next(e for e in events if e["pid"] == 0)
        kernel["args"].update({"Collective name": name, key: peer})
        next(e for e in events if e["name"] == "nccl:send")["name"] = f"nccl:{name} {int(own > peer)}{arrow}{int(own < peer)}"
        next(e for e in events if e["name"] == "c10d::send_")["name"] = f"c10d::{name}_"


def small_work_of_a_stage(run):
    """Micro-batches pass four stages; the third launches 70 kernels of 3 us behind 38 us of host each, the others products of 0.6 ms."""
    def body(_):
        for _ in range(4):
            for stage, rank in enumerate(run.ranks):
                for _ in range(70 if stage == 2 else 1):
                    rank.kernel("aten::mul" if stage == 2 else "aten::addmm", 3 if stage == 2 else 600, host_us=34, name=POINTWISE if stage == 2 else GEMM)
                if stage + 1 < run.world:
                    message(run, stage, stage + 1, 40)
        ends(run)
    run.steps(5, body)


# --- exchanges --------------------------------------------------------------------------------------------------------

def tiny_reduces(run):
    """80 all-reduces of 8 us behind norms of 6 us; the host takes 45 us for both."""
    def body(_):
        for rank in run.ranks:
            linear(rank, 500)
        for _ in range(80):
            for rank in run.ranks:
                rank.kernel("aten::rms_norm", 6, host_us=18, name="rms_norm_kernel")
            exchange(run, 8)
        for rank in run.ranks:
            fused_update(rank)
            reads_loss(rank)
    run.steps(5, body)


def zero_one(run):
    """ZeRO: gradients are scattered beside the backward pass, parameters gathered behind the update for 8 of 14 ms."""
    def body(_):
        for rank in run.ranks:
            passes(rank)
        exchange(run, 200, "_reduce_scatter_base")
        for rank in run.ranks:
            fused_update(rank)
        exchange(run, 8000, "_allgather_base")
        for rank in run.ranks:
            reads_loss(rank)
    run.steps(5, body)


def hybrid_shards(run):
    """HSDP: groups of four gather in 0.1 ms a layer; all-reduces between the groups take 6 ms behind the backward pass."""
    def body(_):
        half = run.world // 2
        for _ in range(4):
            for group in (run.ranks[:half], run.ranks[half:]):
                exchange(run, 100, "_allgather_base", group)
            for rank in run.ranks:
                linear(rank, 400)
        for number in range(half):
            exchange(run, 6000, ranks=[run.ranks[number], run.ranks[number + half]])
        for rank in run.ranks:
            fused_update(rank)
            reads_loss(rank)
    run.steps(5, body)


def gathers_limited(run):
    """FSDP's limiter: before each gather of 1.3 ms the host waits until the layer before has been computed in 0.6 ms."""
    def body(_):
        for _ in range(8):
            for rank in run.ranks:
                rank.wait(call="cudaEventSynchronize")
            exchange(run, 1300, "_allgather_base")
            for rank in run.ranks:
                linear(rank, 600)
        ends(run)
    run.steps(5, body)


# --- the host and the driver ------------------------------------------------------------------------------------------

def calls_take(call, us):
    def program(run):
        def call_it(rank, _):
            with rank.operator("aten::empty"):
                rank.correlation += 1
                took = rank.jitter(us)
                rank.host("cuda_runtime", call, rank.now, took, correlation=rank.correlation)
                rank.now += took
            rank.work(20)
        train(run, before=call_it)
    return program


opens_handles = calls_take("cudaIpcOpenMemHandle", 9000)
instantiates_graphs = calls_take("cudaGraphInstantiateWithFlags", 9000)
registers_memory = calls_take("cudaHostRegister", 9000)


def numpy_detour(run):
    """A tensor goes to NumPy for 8 of 13 ms and back to the device."""
    def detour(rank, _):
        with rank.function("augment.py(50): elastic_transform"):
            to_host(rank, "aten::cpu", 1 << 20)
            rank.work(8000)
        rank.copy(90, op="aten::to", size=1 << 20)
    train(run, between=detour)


def waits_for_requests(run):
    """A server with little to do waits 8 of 10 ms in its socket for requests."""
    def body(_):
        for rank in run.ranks:
            nested(rank, ["vllm/v1/engine/core.py(690): _process_input_queue", "zmq/sugar/socket.py(980): recv_multipart"], 8000)
            with rank.annotate("execute_context_0(0)_generation_1(1)"):
                replay(rank, 10 * [(GEMM, 150), (POINTWISE, 20)])
                to_host(rank)
    run.steps(8, body)


def suppresses_boxes(run):
    """torchvision::nms brings its masks to the host and works on them for 9 ms."""
    def suppress(rank, _):
        with rank.operator("torchvision::nms"):
            rank.issue("cudaLaunchKernel", "kernel", "void nms_kernel_impl<float>(int, double, float const*, unsigned long long*)", 60, 7)
            to_host(rank, "aten::cpu", 1 << 20)
            rank.work(9000)
        rank.kernel("aten::index_select", 20, host_us=10, name="void at::native::indexSelectLargeIndex<float, long>")
    train(run, between=suppress)


def clips_one_by_one(run):
    """The norm of the gradients is asked, then 150 gradients are scaled one by one, 22 us of host for 3 us of kernel."""
    def body(_):
        for rank in run.ranks:
            passes(rank, 4, 100)
            with rank.function("torch/nn/utils/clip_grad.py(80): clip_grad_norm_"):
                rank.kernel("aten::_foreach_norm", 30, host_us=20, name=FOREACH)
                rank.item()
                for _ in range(150):
                    rank.kernel("aten::mul_", 3, host_us=18, name=POINTWISE)
            fused_update(rank)
    run.steps(6, body)


def saves_on_a_thread(run):
    """Another thread writes a checkpoint in every step for 5 ms beside products, which nothing waits for."""
    def save(rank, _):
        begin = rank.now - 5000
        with on_thread(rank, 800):
            rank.host("python_function", "torch/serialization.py(900): save", begin, 4800)
    train(run, extra=save)


# --- kernels and devices ----------------------------------------------------------------------------------------------

def second_device_late(run):
    """One process on two devices: the second computes 8 ms a step, the first 3 ms, then waits for it."""
    def body(_):
        for rank in run.ranks:
            for _ in range(10):
                rank.kernel("aten::addmm", 300, name=GEMM)
                rank.kernel("aten::addmm", 800, stream=SECOND, name=GEMM)
            meet(rank, 7, SECOND)
            fused_update(rank)
            reads_loss(rank)
    run.steps(5, body)
    second_device(run.ranks[0])


def beam_reorders(run):
    """Beam search moves the cache of each layer to new rows: 24 copies of 160 us beside products of 40."""
    def body(_):
        for rank in run.ranks:
            for _ in range(24):
                linear(rank, 40)
            for _ in range(24):
                rank.kernel("aten::index_select", 160, name="void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, long, unsigned int, 2, 2, -2, true>")
            to_host(rank)
    run.steps(8, body)


def unpacks_checkpoints(run):
    """Checkpoints without reentry compute each block again when autograd unpacks its first tensor: products, and nothing waits."""
    def body(_):
        for rank in run.ranks:
            for _ in range(8):
                linear(rank, 300)
            with backward_pass(rank):
                for _ in range(8):
                    with rank.operator(AUTOGRAD + "AddmmBackward0"):
                        with rank.function("torch/utils/checkpoint.py(1110): unpack_hook"):
                            with rank.function("torch/utils/checkpoint.py(1450): recompute_fn"):
                                linear(rank, 300)
                        with rank.operator("AddmmBackward0"):
                            rank.kernel("aten::mm", 600, name=GEMM)
            fused_update(rank)
            reads_loss(rank)
    run.steps(5, body)


def state_in_pieces(run):
    """An exchange's result is copied into 400 parameters, 20 us of device and 9 us of host each: 8 of 13 ms."""
    def body(_):
        for rank in run.ranks:
            passes(rank, 6)
        exchange(run, 300, "_allgather_base")
        for rank in run.ranks:
            for _ in range(400):
                rank.kernel("aten::copy_", 20, host_us=5, name=COPIES)
            fused_update(rank)
            reads_loss(rank)
    run.steps(5, body)


def collects_beside_wait(run):
    """The products of a step wait for an event of a second stream, whose element-wise kernels take 6 of 9 ms."""
    def body(_):
        for rank in run.ranks:
            for _ in range(12):
                rank.kernel("aten::gelu", 500, stream=9, name=POINTWISE)
        wait_for(run, 9)
        for rank in run.ranks:
            passes(rank, 4)
            fused_update(rank)
            reads_loss(rank)
    run.steps(5, body)
