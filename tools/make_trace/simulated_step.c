/* A training step of all ranks, in whole nanoseconds: a model of linear layers, its autograd thread, its exchanges. */
#include "simulated_ranks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the simulator's verbs; the records of one outermost operator are printed together, outermost first ---- */

static void flush_records(rank_state *r) {
    for (size_t i = 0; i < r->count; i++) print_record(&r->pending[i]);
    r->count = 0;
}

static record scratch; /* where ranks that are not printed write */

static record *add(rank_state *r, category cat, const char *name) {
    record *e = &scratch;
    if (r->emit) {
        if (r->count == MAX_PENDING) abort();
        e = &r->pending[r->count++];
    }
    *e = (record){.cat = cat, .name = name, .sequence = -1, .device = r->device};
    return e;
}

/* Opens an operator on a thread; returns its record's place for close_op(). */
static size_t open_op(rank_state *r, int thread, const char *name, dims shape, int64_t sequence, const int64_t mnk[3]) {
    record *e = add(r, CAT_OP, name);
    e->shape = shape;
    e->sequence = sequence;
    e->backward = thread == 1;
    e->start = r->clock[thread];
    e->tid = thread ? GRAD_TID : MAIN_TID;
    e->id = ++r->id;
    if (mnk) e->m = mnk[0], e->n = mnk[1], e->k = mnk[2];
    r->clock[thread] += around(r, 1600);
    r->depth++;
    return r->count - 1;
}

static void close_op(rank_state *r, int thread, size_t place) {
    r->clock[thread] += around(r, 900);
    if (r->emit) r->pending[place].end = r->clock[thread];
    if (--r->depth == 0) {
        flush_records(r);
        r->clock[thread] += around(r, 700);
    }
}

static void annotate(rank_state *r, int thread, category cat, const char *name, int64_t start, int64_t end) {
    record *e = add(r, cat, name);
    e->start = start;
    e->end = end;
    e->tid = cat == CAT_GPU_ANNOTATION ? stream_number((unsigned)thread) : thread ? GRAD_TID : MAIN_TID;
    e->id = ++r->id;
    if (r->depth == 0) flush_records(r);
}

static void flow(rank_state *r, char phase, int64_t id, int tid, int64_t when, bool fwdbwd) {
    record *e = add(r, CAT_FLOW, "");
    e->phase = phase;
    e->id = id;
    e->tid = tid;
    e->start = when;
    e->fwdbwd = fwdbwd;
}

static int64_t runtime_call(rank_state *r, int thread, const char *name, int cbid, int64_t ns) {
    record *e = add(r, CAT_RUNTIME, name);
    e->cbid = cbid;
    e->start = r->clock[thread];
    e->end = r->clock[thread] += around(r, ns);
    e->tid = thread ? GRAD_TID : MAIN_TID;
    e->id = r->id;
    e->correlation = ++r->correlation;
    return e->start;
}

/* Launches device work of `ns` and returns its record. `not_before` holds it back further than its stream does. */
static record *launch(rank_state *r, int thread, unsigned stream, category cat, const char *name, int64_t ns,
                      int64_t not_before) {
    bool copy = cat == CAT_COPY;
    int64_t called = runtime_call(r, thread, copy ? "cudaMemcpyAsync" : "cudaLaunchKernel", copy ? 41 : 211, 4800);
    flow(r, 's', r->correlation, thread ? GRAD_TID : MAIN_TID, called, false);
    int64_t start = r->clock[thread] + around(r, 2400);
    if (start < r->stream[stream] + 960) start = r->stream[stream] + 960;
    if (start < not_before) start = not_before;
    int64_t end = start + around(r, ns * (1000 + r->slow_permille) / 1000);
    r->stream[stream] = end;
    flow(r, 'f', r->correlation, stream_number(stream), start, false);
    record *e = add(r, cat, name);
    e->start = start;
    e->end = end;
    e->tid = stream_number(stream);
    e->id = r->id;
    e->correlation = r->correlation;
    return e;
}

static void kernel(rank_state *r, int thread, unsigned stream, const char *name, int64_t ns, const int64_t mnk[3],
                   int64_t not_before) {
    record *e = launch(r, thread, stream, CAT_KERNEL, name, ns, not_before);
    e->m = mnk[0], e->n = mnk[1], e->k = mnk[2];
}

/* `stream` waits for all that `after` holds so far: an event recorded and waited for. */
static int64_t wait_for(rank_state *r, int thread, unsigned after) {
    runtime_call(r, thread, "cudaEventRecord", 135, 1300);
    runtime_call(r, thread, "cudaStreamWaitEvent", 147, 900);
    return r->stream[after];
}

/* ---- the model: linear, relu, layer norm, repeated ---- */

#define GEMM_TN "ampere_sgemm_128x64_tn"
#define GEMM_NN "ampere_sgemm_128x64_nn"
#define GEMM_NT "ampere_sgemm_128x64_nt"
#define CLAMP                                                                                                       \
    "void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous namespace)::launch_clamp_scalar("     \
    "at::TensorIteratorBase&, c10::Scalar, c10::Scalar, at::native::detail::ClampLimits)::{lambda()#1}::operator()" \
    "() const::{lambda()#7}::operator()() const::{lambda(float)#1}, at::detail::Array<char*, 2> >(int, float)"
#define THRESHOLD                                                                                                 \
    "void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous namespace)::threshold_kernel_impl<" \
    "float>(at::TensorIteratorBase&, float, float)::{lambda(float, float)#1}, at::detail::Array<char*, 3> >(int)"
#define NORM "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int, float, float*)"
#define NORM_GRAD "void at::native::(anonymous namespace)::layer_norm_grad_input_kernel<float, float>(float const*)"
#define REDUCE \
    "void at::native::reduce_kernel<128, 4, at::native::ReduceOp<float, at::native::func_wrapper_t<float> > >"
#define ADAM                                                                                                \
    "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::" \
    "FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::FusedAdamMathFunctor<float, 4> >(int)"
#define ALLREDUCE "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"

enum { BATCH = 2048, BUCKET_LAYERS = 4 };

static void layer_shape(uint64_t layer, int64_t mnk[3]) {
    static const int64_t widths[] = {1024, 1024, 2048, 512, 4096, 1024};
    size_t count = sizeof widths / sizeof *widths;
    mnk[0] = BATCH;
    mnk[1] = widths[(layer + 1) % count];
    mnk[2] = widths[layer % count];
}

/* An A100 at 15 TFLOP/s in fp32, or at 1.2 TB/s. */
static int64_t gemm_ns(const int64_t mnk[3]) { return 3000 + mnk[0] * mnk[1] * mnk[2] * 2 / 15000; }
static int64_t stream_ns(int64_t elements) { return 2000 + elements * 8 / 1200; }

static void mark_forward(rank_state *r, int64_t sequence) { flow(r, 's', sequence, MAIN_TID, r->clock[0], true); }

static void forward_layer(rank_state *r, uint64_t layer) {
    int64_t mnk[3], out_shape[3], weight[3];
    layer_shape(layer, mnk);
    memcpy(out_shape, (int64_t[]){mnk[0], mnk[1], 0}, sizeof out_shape);
    memcpy(weight, (int64_t[]){mnk[1], mnk[2], 0}, sizeof weight);
    int64_t sequence = r->sequence;
    r->sequence += 4; /* t, addmm, relu, layer norm */

    size_t linear = open_op(r, 0, "aten::linear", DIMS_LINEAR, sequence, mnk);
    size_t t = open_op(r, 0, "aten::t", DIMS_T, sequence, weight);
    mark_forward(r, sequence);
    size_t transpose = open_op(r, 0, "aten::transpose", DIMS_T, -1, weight);
    close_op(r, 0, open_op(r, 0, "aten::as_strided", DIMS_T, -1, weight));
    close_op(r, 0, transpose);
    close_op(r, 0, t);
    size_t addmm = open_op(r, 0, "aten::addmm", DIMS_ADDMM, sequence + 1, mnk);
    mark_forward(r, sequence + 1);
    kernel(r, 0, 0, GEMM_TN, gemm_ns(mnk), mnk, 0);
    close_op(r, 0, addmm);
    close_op(r, 0, linear);

    size_t relu = open_op(r, 0, "aten::relu", DIMS_ONE, sequence + 2, out_shape);
    mark_forward(r, sequence + 2);
    size_t clamp = open_op(r, 0, "aten::clamp_min", DIMS_ONE, -1, out_shape);
    kernel(r, 0, 0, CLAMP, stream_ns(mnk[0] * mnk[1]), out_shape, 0);
    close_op(r, 0, clamp);
    close_op(r, 0, relu);

    size_t norm = open_op(r, 0, "aten::layer_norm", DIMS_NORM, sequence + 3, out_shape);
    size_t native = open_op(r, 0, "aten::native_layer_norm", DIMS_NORM, sequence + 3, out_shape);
    mark_forward(r, sequence + 3);
    kernel(r, 0, 0, NORM, stream_ns(mnk[0] * mnk[1]), out_shape, 0);
    close_op(r, 0, native);
    close_op(r, 0, norm);
}

typedef struct {
    size_t evaluate, node;
} node_places;

static node_places open_node(rank_state *r, const char *evaluate, const char *name, int64_t sequence,
                             const int64_t mnk[3]) {
    node_places places;
    places.evaluate = open_op(r, 1, evaluate, DIMS_NONE, sequence, NULL);
    places.node = open_op(r, 1, name, sequence >= 0 ? DIMS_ONE : DIMS_NONE, sequence, mnk);
    if (sequence >= 0) flow(r, 'f', sequence, GRAD_TID, r->clock[1], true);
    return places;
}

static void close_node(rank_state *r, node_places places) {
    close_op(r, 1, places.node);
    close_op(r, 1, places.evaluate);
}

#define OPEN_NODE(r, name, sequence, mnk) \
    open_node(r, "autograd::engine::evaluate_function: " name, name, sequence, mnk)
#define ACCUMULATE "torch::autograd::AccumulateGrad"

/* `first` is the sequence number of the layer's first forward operator. */
static void backward_layer(rank_state *r, uint64_t layer, int64_t first) {
    int64_t mnk[3];
    layer_shape(layer, mnk);
    const int64_t grad[3] = {mnk[0], mnk[1], 0}, bias[3] = {mnk[1], 0, 0};
    const int64_t weight[3] = {mnk[1], mnk[2], 0};
    const int64_t to_input[3] = {mnk[0], mnk[2], mnk[1]}, to_weight[3] = {mnk[1], mnk[2], mnk[0]};
    unsigned side = options.streams > 2 ? 2 + (unsigned)(layer % (options.streams - 2)) : 0;

    node_places node = OPEN_NODE(r, "NativeLayerNormBackward0", first + 3, grad);
    size_t op = open_op(r, 1, "aten::native_layer_norm_backward", DIMS_NORM, -1, grad);
    kernel(r, 1, 0, NORM_GRAD, stream_ns(mnk[0] * mnk[1] * 2), grad, 0);
    close_op(r, 1, op);
    close_node(r, node);

    node = OPEN_NODE(r, "ReluBackward0", first + 2, grad);
    op = open_op(r, 1, "aten::threshold_backward", DIMS_ONE, -1, grad);
    kernel(r, 1, 0, THRESHOLD, stream_ns(mnk[0] * mnk[1]), grad, 0);
    close_op(r, 1, op);
    close_node(r, node);

    node = OPEN_NODE(r, "AddmmBackward0", first + 1, grad);
    op = open_op(r, 1, "aten::mm", DIMS_MM, -1, to_input);
    kernel(r, 1, 0, GEMM_NN, gemm_ns(mnk), to_input, 0);
    close_op(r, 1, op);
    op = open_op(r, 1, "aten::mm", DIMS_MM, -1, to_weight);
    int64_t ready = side ? wait_for(r, 1, 0) : 0;
    kernel(r, 1, side, GEMM_NT, gemm_ns(mnk), to_weight, ready);
    close_op(r, 1, op);
    op = open_op(r, 1, "aten::sum", DIMS_ONE, -1, grad);
    kernel(r, 1, 0, REDUCE, stream_ns(mnk[0] * mnk[1] / 2), grad, 0);
    close_op(r, 1, op);
    close_node(r, node);

    close_node(r, open_node(r, "autograd::engine::evaluate_function: " ACCUMULATE, ACCUMULATE, -1, bias));
    node = OPEN_NODE(r, "TBackward0", first, weight);
    op = open_op(r, 1, "aten::t", DIMS_T, -1, weight);
    close_op(r, 1, open_op(r, 1, "aten::transpose", DIMS_T, -1, weight));
    close_op(r, 1, op);
    close_node(r, node);
    close_node(r, open_node(r, "autograd::engine::evaluate_function: " ACCUMULATE, ACCUMULATE, -1, weight));
}

/* All ranks reduce one bucket: each kernel starts when its rank is ready and all end together. */
static void all_reduce(rank_state *ranks, unsigned count, int64_t elements) {
    record *kernels[MAX_SIMULATED] = {NULL};
    size_t places[MAX_SIMULATED][2];
    int64_t last_start = 0, begun[MAX_SIMULATED], begun_kernel[MAX_SIMULATED];
    const int64_t shape[3] = {elements, 0, 0};
    unsigned stream = options.streams > 1;
    for (unsigned i = 0; i < count; i++) {
        rank_state *r = &ranks[i];
        begun[i] = r->clock[1];
        places[i][0] = open_op(r, 1, "c10d::allreduce_", DIMS_BUCKET, -1, shape);
        places[i][1] = open_op(r, 1, "record_param_comms", DIMS_BUCKET, -1, shape);
        if (r->emit) r->pending[places[i][1]].collective = true, r->pending[places[i][1]].n = elements;
        int64_t ready = wait_for(r, 1, 0);
        for (unsigned s = 2; s < options.streams; s++)
            if (ready < r->stream[s]) ready = r->stream[s];
        kernels[i] = launch(r, 1, stream, CAT_KERNEL, ALLREDUCE, 1000, ready);
        kernels[i]->n = elements;
        kernels[i]->collective = true;
        int64_t start = kernels[i]->start;
        begun_kernel[i] = start;
        if (last_start < start) last_start = start;
    }
    /* 8 bytes an element and rank over a ring at 120 GB/s */
    int64_t end = last_start + 9000 + elements * 8 * (options.ranks - 1) / options.ranks / 120;
    for (unsigned i = 0; i < count; i++) {
        rank_state *r = &ranks[i];
        r->stream[stream] = end;
        if (r->emit) kernels[i]->end = end;
        close_op(r, 1, places[i][1]);
        close_op(r, 1, places[i][0]);
        annotate(r, 1, CAT_ANNOTATION, "nccl:all_reduce", begun[i], r->clock[1]);
        if (r->emit) annotate(r, (int)stream, CAT_GPU_ANNOTATION, "nccl:all_reduce", begun_kernel[i], end);
        r->clock[1] += around(r, 500);
    }
}

static void load_input(rank_state *r) {
    const int64_t shape[3] = {BATCH, 1024, 0};
    int64_t start = r->clock[0];
    r->clock[0] += around(r, 120000);
    annotate(r, 0, CAT_ANNOTATION, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", start, r->clock[0]);
    r->clock[0] += around(r, 1000);
    size_t to = open_op(r, 0, "aten::to", DIMS_INPUT, -1, shape);
    size_t to_copy = open_op(r, 0, "aten::_to_copy", DIMS_INPUT, -1, shape);
    size_t copy = open_op(r, 0, "aten::copy_", DIMS_INPUT, -1, shape);
    int64_t bytes = shape[0] * shape[1] * 4;
    launch(r, 0, 0, CAT_COPY, "Memcpy HtoD (Pinned -> Device)", bytes / 24, 0)->n = bytes;
    close_op(r, 0, copy);
    close_op(r, 0, to_copy);
    close_op(r, 0, to);
}

static void update(rank_state *r, uint64_t layers) {
    int64_t start = r->clock[0], ready = 0;
    if (options.streams > 1) ready = wait_for(r, 0, 1);
    for (unsigned s = 2; s < options.streams; s++)
        if (ready < r->stream[s]) ready = r->stream[s];
    if (r->depth == 0) flush_records(r);
    r->clock[0] += around(r, 3000);
    for (uint64_t i = 0; i < layers; i += 8) {
        const int64_t shape[3] = {1 << 20, 0, 0};
        size_t op = open_op(r, 0, "aten::_fused_adamw_", DIMS_ONE, -1, shape);
        kernel(r, 0, 0, ADAM, stream_ns(8 << 20), shape, ready);
        close_op(r, 0, op);
    }
    annotate(r, 0, CAT_ANNOTATION, "Optimizer.step#AdamW.step", start, r->clock[0]);
    r->clock[0] += around(r, 800);
    start = r->clock[0];
    r->clock[0] += around(r, 9000);
    annotate(r, 0, CAT_ANNOTATION, "Optimizer.zero_grad#AdamW.zero_grad", start, r->clock[0]);
    r->clock[0] += around(r, 800);
}

static void synchronize(rank_state *r) {
    int64_t device_end = 0;
    for (unsigned s = 0; s < options.streams; s++)
        if (device_end < r->stream[s]) device_end = r->stream[s];
    record *e = add(r, CAT_RUNTIME, "cudaDeviceSynchronize");
    e->cbid = 165;
    e->tid = MAIN_TID;
    e->id = ++r->id;
    e->correlation = ++r->correlation;
    e->start = r->clock[0];
    r->clock[0] += around(r, 3000);
    if (r->clock[0] < device_end) r->clock[0] = device_end + around(r, 2500);
    e->end = r->clock[0];
    flush_records(r);
    r->clock[0] += around(r, 4000);
}

/* The threads of one process begin a step together. */
static void meet(rank_state *ranks, unsigned count) {
    int64_t latest = 0;
    for (unsigned i = 0; i < count; i++)
        if (ranks[i].clock[0] > latest) latest = ranks[i].clock[0];
    for (unsigned i = 0; i < count; i++) ranks[i].clock[0] = latest;
}

void run_step(rank_state *ranks, unsigned count, uint64_t step, uint64_t layers) {
    int64_t begun[MAX_SIMULATED], forward[MAX_SIMULATED], device_begun[MAX_SIMULATED], first[MAX_SIMULATED], end = 0;
    if (options.devices > 1) meet(ranks, count);
    char name[48];
    snprintf(name, sizeof name, "ProfilerStep#%" PRIu64, step);
    for (unsigned i = 0; i < count; i++) {
        rank_state *r = &ranks[i];
        first[i] = r->sequence;
        begun[i] = r->clock[0];
        r->clock[0] += around(r, 5000);
        load_input(r);
        device_begun[i] = r->stream[0];
        forward[i] = r->clock[0];
        r->clock[0] += around(r, 1500);
        for (uint64_t l = 0; l < layers; l++) forward_layer(r, l);
        annotate(r, 0, CAT_ANNOTATION, "DistributedDataParallel.forward", forward[i], r->clock[0]);
        r->clock[1] = r->clock[0] + around(r, 18000); /* the autograd thread wakes up */
    }
    int64_t elements = 0;
    for (uint64_t l = layers; l-- > 0;) {
        int64_t mnk[3];
        layer_shape(l, mnk);
        elements += mnk[1] * mnk[2] + mnk[1];
        for (unsigned i = 0; i < count; i++) backward_layer(&ranks[i], l, first[i] + (int64_t)(4 * l));
        if (options.ranks > 1 && l % BUCKET_LAYERS == 0) {
            all_reduce(ranks, count, elements);
            elements = 0;
        }
    }
    for (unsigned i = 0; i < count; i++) {
        rank_state *r = &ranks[i];
        r->clock[0] = r->clock[1] + around(r, 12000);
        update(r, layers);
        synchronize(r);
        if (options.devices < 2) annotate(r, 0, CAT_ANNOTATION, name, begun[i], r->clock[0]);
        if (r->clock[0] > end) end = r->clock[0];
        annotate(r, 0, CAT_GPU_ANNOTATION, name, device_begun[i], r->stream[0]);
        r->clock[0] += around(r, 2000);
    }
    if (options.devices > 1) annotate(&ranks[0], 0, CAT_ANNOTATION, name, begun[0], end); /* one step for all */
}
