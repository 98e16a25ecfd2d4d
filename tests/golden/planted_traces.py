"""Synthetic training recordings with one planted cause each, in the profiler's own JSON.

A Rank issues operators on a host thread and work on FIFO streams, as a framework does; a Run is the same program on several
ranks whose collectives end together. What makes each program slow is written in it, so the cause is known without reading
the trace.
"""
import os

import trace_files

LAUNCH_US, LATENCY_US = 4.0, 3.0


class Rank:
    """One process: a main thread, streams by number, and the events both left behind. Times in microseconds."""

    def __init__(self, rank=None, world=None, start=1000.0, noise=None):
        self.noise = noise  # a random.Random: durations differ by some percent; None = they do not
        self.now, self.events, self.free, self.correlation = start, [], {}, 0
        self.rank, self.world, self.thread, self.open = rank, world, 100, []

    def event(self, category, name, start, duration, pid, tid, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": round(start, 3),
                            "dur": round(duration, 3), "args": args})

    def host(self, category, name, start, duration, **args):
        self.event(category, name, start, duration, 1, self.thread, **args)

    def annotate(self, name, category="user_annotation"):
        return Span(self, category, name)

    def operator(self, name, **args):
        return Span(self, "cpu_op", name, **args)

    def function(self, name):
        return Span(self, "python_function", name)

    def jitter(self, us):
        return round(us * self.noise.lognormvariate(0, 0.03), 3) if self.noise else us

    def work(self, us):
        self.now += self.jitter(us)

    def run(self, name, us, **args):
        with self.operator(name, **args):
            self.work(us)

    def issue(self, call, category, name, us, stream, **args):
        """The launch of one piece of device work; returns when it ends."""
        us = self.jitter(us)
        self.correlation += 1
        self.host("cuda_runtime", call, self.now, LAUNCH_US, correlation=self.correlation)
        start = max(self.now + LATENCY_US, self.free.get(stream, 0.0))
        self.now += LAUNCH_US
        self.event(category, name, start, us, 0, stream, device=0, stream=stream, correlation=self.correlation, **args)
        self.free[stream] = start + us
        return start + us

    def kernel(self, op, us, stream=7, host_us=6.0, name=None, **args):
        """An operator that launches one kernel."""
        with self.operator(op, **args):
            self.work(host_us)
            return self.issue("cudaLaunchKernel", "kernel", name or op.replace("aten::", "") + "_kernel", us, stream)

    def copy(self, us, stream=7, op="aten::copy_", name="Memcpy HtoD (Pinned -> Device)", size=4096, host_us=4.0):
        with self.operator(op):
            self.work(host_us)
            self.issue("cudaMemcpyAsync", "gpu_memcpy", name, us, stream, bytes=size)

    def blocking_copy(self, us, staging_us=40.0, stream=7, op="aten::copy_", size=1 << 20):
        """A pageable copy: it ends inside the call that issued it."""
        with self.operator(op):
            self.correlation += 1
            begin = max(self.now + staging_us, self.free.get(stream, 0.0))
            self.event("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", begin, us, 0, stream, device=0, stream=stream,
                       correlation=self.correlation, bytes=size)
            self.host("cuda_runtime", "cudaMemcpyAsync", self.now, begin + us + 2 - self.now, correlation=self.correlation)
            self.free[stream], self.now = begin + us, begin + us + 2

    def wait(self, stream=7, call="cudaStreamSynchronize"):
        self.correlation += 1
        until = max(self.now + 2.0, self.free.get(stream, 0.0) + 2.0)
        self.host("cuda_runtime", call, self.now, until - self.now, correlation=self.correlation)
        self.now = until

    def item(self):
        with self.operator("aten::item"):
            with self.operator("aten::_local_scalar_dense"):
                self.work(3)
                self.issue("cudaMemcpyAsync", "gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 2, 7, bytes=4)
                self.wait()

    def document(self):
        out = {"schemaVersion": 1, "traceEvents": sorted(reversed(self.events), key=lambda e: (e["ts"], -e.get("dur", 0))),
               "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85899345920}]}
        if self.rank is not None:
            out["distributedInfo"] = {"rank": self.rank, "world_size": self.world, "backend": "nccl"}
        return out

    def write(self, path):
        return trace_files.write(path, self.document())


class Span:
    def __init__(self, rank, category, name, **args):
        self.rank, self.category, self.name, self.args = rank, category, name, args

    def __enter__(self):
        self.start = self.rank.now

    def __exit__(self, *_):
        self.rank.host(self.category, self.name, self.start, self.rank.now - self.start, **self.args)


def collective(ranks, us, stream=20, name="ncclDevKernel_AllReduce_Sum_f32_RING_LL", lag=None, **args):
    """Every rank launches it; it begins where its stream is free and ends on all ranks together."""
    begun = []
    for rank in ranks:
        rank.correlation += 1
        rank.host("cuda_runtime", "cudaLaunchKernelExC", rank.now, LAUNCH_US, correlation=rank.correlation)
        begun.append(max(rank.now + LATENCY_US, rank.free.get(stream, 0.0), rank.free.get(7, 0.0)))
        rank.now += LAUNCH_US
    end = max(begun) + us
    for rank, start in zip(ranks, begun):
        rank.event("kernel", name, start, end - start, 0, stream, device=0, stream=stream, correlation=rank.correlation,
                   **{"Collective name": "allreduce", "In msg nelems": 1 << 20, "Out msg nelems": 1 << 20,
                      "dtype": "Float", "Group size": len(ranks), "Process Group Name": "0",
                      "Process Group Ranks": str(list(range(len(ranks)))), **args})
        rank.free[stream] = end


def steps(rank, count, body, first=1):
    for number in range(first, first + count):
        with rank.annotate(f"ProfilerStep#{number}"):
            body(rank, number)
    rank.wait(call="cudaDeviceSynchronize")


def record(path, count, body):
    """The recording of one process."""
    rank = Rank()
    steps(rank, count, body)
    return [rank.write(path)]


def layers(rank, count=12, us=400.0, host_us=6.0):
    """A forward and a backward pass of large kernels: the device is busy, the host far ahead."""
    for layer in range(count):
        with rank.annotate(f"nn.Module: Linear_{layer}", "python_function"):
            rank.kernel("aten::addmm", us, host_us=host_us, name="ampere_sgemm_128x128_tn")
    with rank.annotate("## backward ##"):
        for layer in range(count):
            rank.kernel("AddmmBackward0", 2 * us, host_us=host_us, name="ampere_sgemm_128x128_nt")


def update(rank, us=150.0):
    with rank.annotate("Optimizer.step#SGD.step"):
        rank.kernel("aten::_foreach_add_", us, name="multi_tensor_apply_kernel")


def finish(rank):
    update(rank, 100)
    rank.item()


# --- the programs: each a function of a path that writes one or more recordings -------------------------------------

def slow_loader(path):
    """The loader decodes for 30 ms on the main thread, inside its annotation but outside any operator."""
    def body(rank, _):
        with rank.annotate("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"):
            rank.run("aten::empty", 5)
            rank.work(30000)
            rank.run("aten::stack", 50)
        rank.copy(80)
        layers(rank)
        update(rank)
        rank.item()
    return record(path, 6, body)


def loader_on_another_thread(path):
    """A loader thread decodes for 30 ms, the main thread waits for it without recording anything."""
    def body(rank, _):
        rank.thread = 200
        rank.work(20)
        with rank.annotate("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"):
            rank.run("aten::empty", 5)
            rank.work(30000)
        rank.thread = 100
        rank.work(20)
        rank.copy(80)
        layers(rank)
        update(rank)
        rank.item()
    return record(path, 6, body)


def item_in_loop(path):
    """Every layer ends with .item(): the host waits for the device, then the device for the host."""
    def body(rank, _):
        for _ in range(40):
            rank.kernel("aten::mul", 60, host_us=15, name="vectorized_elementwise_kernel")
            rank.item()
            rank.work(60)
        update(rank, 20)
    return record(path, 5, body)


def small_kernels(path):
    """Kernels of 2 us behind operators of 12 us."""
    def body(rank, _):
        for _ in range(300):
            rank.kernel("aten::add", 2, host_us=8, name="vectorized_elementwise_kernel")
        update(rank, 3)
    return record(path, 5, body)


def fragmented_copies(path):
    """2000 pinned copies of 64 bytes, one after another, each on the device longer than its issue takes."""
    def body(rank, _):
        for _ in range(400):
            rank.copy(12, size=64, host_us=1.0)
        rank.kernel("aten::mul", 900, name="vectorized_elementwise_kernel")
        update(rank, 50)
        rank.item()
    return record(path, 4, body)


def slow_function(path):
    """A function of the user's takes 15 ms before the first operator of every step."""
    def body(rank, _):
        with rank.function("train.py(31): augment"):
            rank.work(15000)
        layers(rank, 8, 300)
        update(rank)
        rank.item()
    rank = Rank()
    with rank.function("train.py(80): main"):
        steps(rank, 5, body)
    return [rank.write(path)]


def inside_blocking_copy(path):
    """A host operator of 40 ms, then a pageable copy that ends inside its call, then short kernels."""
    def body(rank, _):
        rank.run("my::preprocess", 40000)
        rank.blocking_copy(600)
        layers(rank, 4, 300)
        update(rank)
        rank.item()
    return record(path, 5, body)


def large_kernels(path):
    """Nothing but matrix kernels of milliseconds."""
    def body(rank, _):
        rank.copy(20)
        layers(rank, 8, 3000)
        update(rank)
    return record(path, 5, body)


def full_queue(path):
    """Launches wait for room among 1,024 that have not begun; what is launched behind them, on another stream, ends the step."""
    def body(rank, _):
        ends = []
        for i in range(3200):
            with rank.operator("aten::addmm"):
                rank.work(6)
                room = ends[i - 1024] if i >= 1024 else 0.0
                begun, rank.now = rank.now, max(rank.now, room)
                ends.append(rank.issue("cudaLaunchKernel", "kernel", "ampere_sgemm_128x128_tn", 50, 7))
                call = rank.events[-2]
                call["ts"], call["dur"] = round(begun, 3), round(rank.now - begun, 3)
        rank.kernel("aten::mul", 60000, stream=8, name="vectorized_elementwise_kernel")
        rank.wait(stream=8)
    return record(path, 3, body)


def memory_kernels(path):
    """Element-wise kernels of milliseconds."""
    def body(rank, _):
        for _ in range(10):
            rank.kernel("aten::mul", 2500, name="vectorized_elementwise_kernel")
        update(rank)
    return record(path, 5, body)


def evenly_spread(path):
    """Matrix kernels, element-wise kernels and copies overlap on three streams: none alone is worth a tenth."""
    def body(rank, _):
        for _ in range(20):
            rank.kernel("aten::addmm", 1000, stream=7, name="ampere_sgemm_128x128_tn")
            rank.kernel("aten::mul", 980, stream=8, name="vectorized_elementwise_kernel")
            rank.copy(990, stream=9, size=1 << 24)
    return record(path, 5, body)


def reduce_and_update(ranks, us, **args):
    """All ranks reduce their gradients, wait for the sum and end the step."""
    collective(ranks, us, **args)
    for rank in ranks:
        rank.free[7] = max(rank.free[7], rank.free[20])
        update(rank)
        rank.item()


def run_ranks(path, world, count, body):
    """One program on `world` ranks, step by step; `body` works on all of them."""
    ranks = [Rank(rank, world) for rank in range(world)]
    for number in range(1, count + 1):
        spans = [rank.annotate(f"ProfilerStep#{number}") for rank in ranks]
        for span in spans:
            span.__enter__()
        body(ranks, number)
        for span in spans:
            span.__exit__()
    for rank in ranks:
        rank.wait(20)
        rank.wait(7)
    folder = path[:-len(".json.gz")]
    os.makedirs(folder, exist_ok=True)
    return [rank.write(os.path.join(folder, f"rank{rank.rank}.json.gz")) for rank in ranks]


def slow_rank(path, world=4, slow=2, us=640):
    """One rank's kernels take 1.6 times as long; all meet in an all-reduce after the backward pass."""
    def body(ranks, _):
        for rank in ranks:
            layers(rank, 8, us if rank.rank == slow else 400)
        reduce_and_update(ranks, 300)
    return run_ranks(path, world, 5, body)


def slow_host_rank(path, world=4, slow=1):
    """One rank's host pauses for 8 ms before its backward pass."""
    def body(ranks, _):
        for rank in ranks:
            if rank.rank == slow:
                with rank.function("train.py(44): log_metrics"):
                    rank.work(8000)
            layers(rank, 8, 200)
        reduce_and_update(ranks, 300)
    return run_ranks(path, world, 5, body)


def late_all_reduce(path, world=4):
    """The all-reduce of all gradients begins only after the last of them and takes 12 ms: nothing hides it."""
    def body(ranks, _):
        for rank in ranks:
            layers(rank, 8, 250)
        reduce_and_update(ranks, 12000)
    return run_ranks(path, world, 5, body)


def generation(path):
    """Inference: a pass over a prompt of 512 tokens, then four of one token each; two layers a pass."""
    def body(rank, _):
        for queries, keys, us in ((512, 512, 900), (1, 513, 90), (1, 514, 90), (1, 515, 90), (1, 516, 90)):
            rank.kernel("aten::embedding", us / 9, name="embedding_kernel")
            for _ in range(2):
                dims = [[1, 8, n, 64] for n in (queries, keys, keys)]
                rank.kernel("aten::scaled_dot_product_attention", us, name="flash_fwd_kernel",
                            **{"Input Dims": dims, "Input type": ["c10::Half"] * 3})
                rank.kernel("aten::mm", us / 3, name="ampere_sgemm_128x128_tn")
            rank.item()
    return record(path, 3, body)


def slow_rank_alone(path):
    """What a fast rank records of a job with one four times as slow: its all-reduce takes long, of 4 MB over NVLink."""
    return slow_rank(path, us=1600)[:1]


def network_alone(path):
    """One rank of four whose all-reduce of 3 GB takes what NVLink needs for it: nobody is late."""
    def body(ranks, _):
        for rank in ranks:
            layers(rank, 4, 250)
        reduce_and_update(ranks, 22000, **{"In msg nelems": 800000000, "Out msg nelems": 800000000})
    return run_ranks(path, 4, 5, body)[:1]


def pageable_copies(path):
    """Batches come from pageable memory: four copies of 5 ms that hold the host, before 8 ms of kernels."""
    def body(rank, _):
        for _ in range(4):
            rank.blocking_copy(5000, op="aten::to", size=16 << 20)
        layers(rank, 4, 600)
        update(rank)
        rank.item()
    return record(path, 5, body)


def pinned_copies(path):
    """The same batches from pinned memory on a stream of their own, hidden behind kernels: matrix kernels fill the step."""
    def body(rank, _):
        for _ in range(4):
            rank.copy(1500, stream=9, op="aten::to", size=16 << 20)
        layers(rank, 8, 600)
        update(rank)
        rank.item()
    return record(path, 5, body)


def decode_loop(path):
    """Text generation with a batch of one: after the prompt 24 tokens, each of 80 kernels of 3 us behind operators of 11 us, and the
    host asks for the token every time."""
    def body(rank, _):
        for _ in range(12):
            rank.kernel("aten::linear", 150, name="ampere_bf16_s16816gemm_128x128")
        for _ in range(24):
            for _ in range(80):
                rank.kernel("aten::linear", 3, host_us=7, name="gemv_kernel_bf16")
            rank.item()
    return record(path, 4, body)


def late_all_to_all(path, world=4, slow=2):
    """The host of one rank routes tokens for 6 ms before each of two all-to-alls; the others wait in them."""
    def body(ranks, _):
        for _ in range(2):
            for rank in ranks:
                rank.kernel("aten::mm", 800, name="ampere_sgemm_128x128_nn")
                if rank.rank == slow:
                    with rank.function("router.py(57): assign_tokens"):
                        rank.work(6000)
            collective(ranks, 150, name="ncclDevKernel_SendRecv", **{"Collective name": "all_to_allv"})
            for rank in ranks:
                rank.free[7] = max(rank.free.get(7, 0.0), rank.free[20])
        for rank in ranks:
            update(rank)
            rank.item()
    return run_ranks(path, world, 5, body)


def pageable_in_backward(path):
    """Backward hooks fetch activations that were moved to pageable memory: six copies of 2 ms hold the host and the device."""
    def body(rank, _):
        for layer in range(6):
            rank.kernel("aten::addmm", 300, name="ampere_sgemm_128x128_tn")
        with rank.annotate("## backward ##"):
            for layer in range(6):
                rank.blocking_copy(2000, op="aten::copy_", size=8 << 20, staging_us=600)
                rank.kernel("AddmmBackward0", 600, name="ampere_sgemm_128x128_nt")
        update(rank)
        rank.item()
    return record(path, 5, body)


def busy_pin_thread(path):
    """The main thread waits for its next batch while the thread that pins memory copies it for 25 ms."""
    def body(rank, _):
        begin = rank.now
        rank.thread = 300
        with rank.operator("aten::pin_memory"):
            with rank.operator("aten::_pin_memory"):
                rank.work(25000)
        rank.thread, end = 100, rank.now + 15
        rank.now = begin
        with rank.annotate("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"):
            rank.work(end - begin)
        rank.copy(80)
        layers(rank, 6)
        update(rank)
        rank.item()
    return record(path, 6, body)


def update_one_by_one(path):
    """Adam without foreach: 120 parameters, four kernels of 2 us each behind operators of 10 us."""
    def body(rank, _):
        layers(rank, 3, 300)
        with rank.annotate("Optimizer.step#Adam.step"):
            for _ in range(120):
                for op in ("aten::mul_", "aten::addcmul_", "aten::sqrt", "aten::addcdiv_"):
                    rank.kernel(op, 2, host_us=10, name="vectorized_elementwise_kernel")
        rank.item()
    return record(path, 5, body)


def graph_with_copies(path):
    """A CUDA graph of 40 kernels of 20 us, between which nodes copy 4 MB each for 60 us."""
    def body(rank, _):
        rank.correlation += 1
        rank.host("cuda_runtime", "cudaGraphLaunch", rank.now, 30, correlation=rank.correlation)
        at = max(rank.now + 10, rank.free.get(7, 0))
        for _ in range(40):
            same = {"device": 0, "stream": 7, "correlation": rank.correlation}
            rank.event("kernel", "ampere_sgemm_128x128_tn", at, 20, 0, 7, **same)
            at += 20.5
            rank.event("gpu_memcpy", "Memcpy DtoD (Device -> Device)", at, 60, 0, 7, bytes=4 << 20, **same)
            at += 60.5
        rank.free[7] = at
        rank.now += 30
        rank.wait()
    return record(path, 6, body)


def graph_breaks(path):
    """A compiled model in 12 pieces: between them the interpreter takes 500 us, each piece launches two kernels of 60 us."""
    def body(rank, _):
        for piece in range(12):
            rank.work(500)
            with rank.operator("TorchDynamo Cache Lookup"):
                rank.work(20)
            with rank.operator(f"Torch-Compiled Region: {piece}/0"):
                rank.work(40)
                for name in ("triton_poi_fused_add_0", "triton_red_fused_mean_1"):
                    rank.kernel(name, 60, host_us=5, name=name)
        update(rank)
        rank.item()
    return record(path, 5, body)


def first_launch(path):
    """One recorded step, the first: the launch of its update loads code for 7 ms."""
    def body(rank, _):
        layers(rank, 6, 100)
        with rank.annotate("Optimizer.step#SGD.step"):
            with rank.operator("aten::_foreach_add_"):
                rank.work(5)
                rank.correlation += 1
                rank.host("cuda_runtime", "cudaLaunchKernel", rank.now, 7000, correlation=rank.correlation)
                rank.now += 7000
                rank.event("kernel", "multi_tensor_apply_kernel", rank.now, 40, 0, 7, device=0, stream=7,
                           correlation=rank.correlation)
                rank.free[7] = rank.now + 40
        rank.item()
    return record(path, 1, body)


def sync_each_gradient(path):
    """Clipping asks every gradient's norm with .item(): 60 waits in the step."""
    def body(rank, _):
        layers(rank, 6, 200)
        with rank.function("clip.py(12): clip_by_norm"):
            for _ in range(60):
                rank.kernel("aten::linalg_vector_norm", 8, host_us=15, name="reduce_kernel")
                rank.item()
        update(rank)
        rank.item()
    return record(path, 5, body)


def allocator_retries(path):
    """Each of six layers finds no room: the allocator gives memory back and takes other, 4 ms beside the device."""
    def body(rank, _):
        for _ in range(6):
            rank.kernel("aten::addmm", 300, name="ampere_sgemm_128x128_tn")
            with rank.operator("aten::empty"):
                for call, us in (("cudaFree", 2500), ("cudaMalloc", 1500)):
                    rank.wait(call=call)
                    rank.correlation += 1
                    rank.host("cuda_runtime", call, rank.now, us, correlation=rank.correlation)
                    rank.now += us
        update(rank)
        rank.item()
    return record(path, 5, body)


def odd_sizes(path):
    """Products in bf16 of sizes that are no multiples of 8: the kernels load one element at a time."""
    def body(rank, _):
        for _ in range(12):
            rank.kernel("aten::addmm", 1400, name="ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_align1_stages_64x3_nn",
                        **{"Input Dims": [[4099], [2048, 4097], [4097, 4099]], "Input type": ["c10::BFloat16"] * 3})
        update(rank)
        rank.item()
    return record(path, 5, body)


def large_products(path):
    """Products of 69 GFLOP in fp32, at four fifths of what the device does without TF32."""
    def body(rank, _):
        for _ in range(12):
            rank.kernel("aten::addmm", 4200, name="ampere_sgemm_128x128_tn",
                        **{"Input Dims": [[4096], [2048, 4096], [4096, 4096]], "Input type": ["float"] * 3})
        update(rank)
        rank.item()
    return record(path, 5, body)


def copy_before_step(path):
    """The batch is copied for 12 ms from pinned memory on the stream that computes, in front of 5 ms of kernels."""
    def body(rank, _):
        rank.copy(12000, op="aten::to", size=300 << 20)
        layers(rank, 6, 300)
        update(rank)
        rank.item()
    return record(path, 5, body)
