/*
 * make_trace: writes a synthetic trace of data-parallel training, laid out like the files of the PyTorch profiler,
 * to standard output. For benchmarks and tests of size; independent of the library.
 *
 * It simulates every rank's host threads, streams and all-reduces in whole nanoseconds and prints one rank's
 * events. Host operators nest properly, flows pair up, a stream runs one kernel at a time, and an all-reduce ends
 * at the same instant on all ranks. With --devices one process drives them all, each by threads of its own, and
 * all their events are printed. The same options and seed give the same bytes.
 *
 * Long because it is one program that builds from this file alone.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SIMULATED = 16, MAX_STREAMS = 32, MAX_PENDING = 256, PID = 2910249, MAIN_TID = PID, GRAD_TID = 2919752 };
static const int64_t ORIGIN_NS = 4458676522690655;

/* ---- output: one buffer, counted; with no file it only counts ---- */

static struct {
    char *buffer;
    size_t used, capacity;
    uint64_t bytes, events;
    FILE *file;
    size_t compact; /* 1 = no white space */
    bool first;
} out;

static void flush_out(void) {
    if (out.file && fwrite(out.buffer, 1, out.used, out.file) != out.used) {
        perror("make_trace: standard output");
        exit(3);
    }
    out.bytes += out.used;
    out.used = 0;
}

static inline void put(const char *text, size_t length) {
    memcpy(out.buffer + out.used, text, length);
    out.used += length;
}

#define LIT(s) put("" s, sizeof(s) - 1)
/* A literal that ends in a space which the compact form leaves out. */
#define SPACED(s) put("" s, sizeof(s) - 1 - out.compact)
#define KEY(k) SPACED("\"" k "\": ")
#define NEXT(k) (SPACED(", "), KEY(k))
#define LINE(s) (out.compact ? (void)0 : put("\n" s, sizeof("\n" s) - 1))

static void put_text(const char *text) { put(text, strlen(text)); }

static inline void put_int(int64_t value) {
    char digits[24], *at = digits + sizeof digits;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do *--at = (char)('0' + rest % 10);
    while ((rest /= 10) != 0);
    if (value < 0) *--at = '-';
    put(at, (size_t)(digits + sizeof digits - at));
}

/* Nanoseconds as microseconds with three decimals. */
static inline void put_us(int64_t ns) {
    put_int(ns / 1000);
    char tail[4] = {'.', (char)('0' + ns / 100 % 10), (char)('0' + ns / 10 % 10), (char)('0' + ns % 10)};
    put(tail, sizeof tail);
}

static inline void begin_event(void) {
    if (out.used + 65536 > out.capacity) flush_out();
    if (!out.first) LIT(",");
    out.first = false;
    out.events++;
    LINE("  ");
    LIT("{");
    LINE("    ");
}

static inline void end_event(void) {
    LINE("  ");
    LIT("}");
}

/* ---- what is simulated ---- */

typedef enum { CAT_OP, CAT_ANNOTATION, CAT_RUNTIME, CAT_KERNEL, CAT_COPY, CAT_GPU_ANNOTATION, CAT_FLOW } category;
typedef enum { DIMS_NONE, DIMS_LINEAR, DIMS_ADDMM, DIMS_T, DIMS_MM, DIMS_ONE, DIMS_NORM, DIMS_BUCKET, DIMS_INPUT } dims;

typedef struct {
    category cat;
    dims shape;
    const char *name;
    int64_t start, end;
    int64_t m, n, k;     /* shape; of a collective n = elements; of a copy n = bytes */
    int64_t id;          /* External id, or a flow's id */
    int64_t correlation; /* runtime and device events */
    int64_t sequence;    /* -1 = none */
    int tid;             /* thread or stream */
    unsigned device;     /* of the process */
    int cbid;
    char phase; /* flows: 's' or 'f' */
    bool backward, collective, fwdbwd;
} record;

typedef struct {
    int64_t clock[2]; /* main thread, autograd thread */
    int64_t stream[MAX_STREAMS];
    uint64_t random;
    int64_t id, correlation, sequence, fwdbwd;
    unsigned slow_permille, device;
    bool emit;
    unsigned depth;
    size_t count;
    record pending[MAX_PENDING];
} rank_state;

static struct {
    unsigned ranks, rank, streams, devices;
    uint64_t seed, steps, layers;
} options = {.ranks = 1, .streams = 2, .seed = 1};

static inline uint64_t next_random(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* `ns` give or take an eighth, never below 1. */
static inline int64_t around(rank_state *r, int64_t ns) {
    int64_t spread = ns / 4 + 1;
    return ns - ns / 8 + (int64_t)(next_random(&r->random) % (uint64_t)spread);
}

static int stream_number(unsigned stream) { return stream == 0 ? 7 : stream == 1 ? 20 : 20 + 4 * (int)(stream - 1); }

/* ---- printing one record ---- */

static void put_dims(const record *e) {
    const int64_t m = e->m, n = e->n, k = e->k;
#define D(x) put_int(x)
#define SEP SPACED(", ")
    SPACED(", ");
    KEY("Input Dims");
    switch (e->shape) {
    case DIMS_LINEAR:
        LIT("[["), D(m), SEP, D(k), LIT("]"), SEP, LIT("["), D(n), SEP, D(k), LIT("]"), SEP, LIT("["), D(n), LIT("]]");
        NEXT("Input type"), LIT("[\"float\""), SEP, LIT("\"float\""), SEP, LIT("\"float\"]");
        NEXT("Concrete Inputs"), LIT("[\"\""), SEP, LIT("\"\""), SEP, LIT("\"\"]");
        break;
    case DIMS_ADDMM:
        LIT("[["), D(n), LIT("]"), SEP, LIT("["), D(m), SEP, D(k), LIT("]"), SEP, LIT("["), D(k), SEP, D(n), LIT("]");
        SEP, LIT("[]"), SEP, LIT("[]]");
        NEXT("Input type"), LIT("[\"float\""), SEP, LIT("\"float\""), SEP, LIT("\"float\""), SEP, LIT("\"Scalar\"");
        SEP, LIT("\"Scalar\"]");
        NEXT("Concrete Inputs"), LIT("[\"\""), SEP, LIT("\"\""), SEP, LIT("\"\""), SEP, LIT("\"1\""), SEP,
            LIT("\"1\"]");
        break;
    case DIMS_MM:
        LIT("[["), D(m), SEP, D(k), LIT("]"), SEP, LIT("["), D(k), SEP, D(n), LIT("]]");
        NEXT("Input type"), LIT("[\"float\""), SEP, LIT("\"float\"]");
        NEXT("Concrete Inputs"), LIT("[\"\""), SEP, LIT("\"\"]");
        break;
    case DIMS_NORM:
        LIT("[["), D(m), SEP, D(n), LIT("]"), SEP, LIT("[]"), SEP, LIT("["), D(n), LIT("]"), SEP, LIT("["), D(n);
        LIT("]"), SEP, LIT("[]]");
        NEXT("Input type"), LIT("[\"float\""), SEP, LIT("\"ScalarList\""), SEP, LIT("\"float\""), SEP, LIT("\"float\"");
        SEP, LIT("\"Scalar\"]");
        NEXT("Concrete Inputs"), LIT("[\"\""), SEP, LIT("\"["), D(n), LIT("]\""), SEP, LIT("\"\""), SEP, LIT("\"\"");
        SEP, LIT("\"1.0000000000000001e-05\"]");
        break;
    default: /* one tensor of one or two dimensions */
        LIT("[["), D(m);
        if (n) SEP, D(n);
        LIT("]]");
        NEXT("Input type"), LIT("[\"float\"]");
        NEXT("Concrete Inputs"), LIT("[\"\"]");
    }
#undef D
#undef SEP
}

static void put_collective(const record *e) {
    NEXT("Collective name"), LIT("\"allreduce\"");
    NEXT("In msg nelems"), put_int(e->n);
    NEXT("Out msg nelems"), put_int(e->n);
    NEXT("Group size"), put_int(options.ranks);
    NEXT("dtype"), LIT("\"Float\"");
    NEXT("In split size"), LIT("\"[]\"");
    NEXT("Out split size"), LIT("\"[]\"");
    NEXT("Process Group Name"), LIT("\"0\"");
    NEXT("Process Group Description"), LIT("\"default_pg\"");
    NEXT("Process Group Ranks"), LIT("\"[");
    for (unsigned i = 0; i < options.ranks; i++) {
        if (i == 30) { /* the profiler cuts long lists too */
            LIT(", ...");
            break;
        }
        if (i) LIT(", ");
        put_int(i);
    }
    LIT("]\"");
}

static int64_t device_of(const record *e) { return options.devices > 1 ? e->device : options.rank % 8; }

static const char *const cat_name[] = {"cpu_op",     "user_annotation",     "cuda_runtime", "kernel",
                                       "gpu_memcpy", "gpu_user_annotation", "ac2g"};

static void print_record(const record *e) {
    begin_event();
    bool device = e->cat == CAT_KERNEL || e->cat == CAT_COPY || e->cat == CAT_GPU_ANNOTATION;
    if (e->cat == CAT_FLOW) {
        KEY("ph"), LIT("\""), put(&e->phase, 1), LIT("\"");
        NEXT("id"), put_int(e->id);
        bool on_device = e->phase == 'f' && !e->fwdbwd;
        NEXT("pid"), put_int(on_device ? device_of(e) : PID);
        NEXT("tid"), put_int(on_device ? e->tid : e->tid + (int)e->device);
        NEXT("ts"), put_us(e->start), LIT(",");
        LINE("    ");
        const char *name = e->fwdbwd ? "fwdbwd" : "ac2g";
        KEY("cat"), LIT("\""), put_text(name), LIT("\"");
        NEXT("name"), LIT("\""), put_text(name), LIT("\"");
        if (e->phase == 'f') NEXT("bp"), LIT("\"e\"");
        end_event();
        return;
    }
    KEY("ph"), LIT("\"X\"");
    NEXT("cat"), LIT("\""), put_text(cat_name[e->cat]), LIT("\"");
    NEXT("name"), LIT("\""), put_text(e->name), LIT("\"");
    NEXT("pid"), put_int(device ? device_of(e) : PID);
    NEXT("tid"), put_int(device ? e->tid : e->tid + (int)e->device), LIT(",");
    LINE("    ");
    KEY("ts"), put_us(e->start);
    NEXT("dur"), put_us(e->end - e->start), LIT(",");
    LINE("    ");
    KEY("args"), LIT("{");
    LINE("      ");
    KEY("External id"), put_int(e->id);
    switch (e->cat) {
    case CAT_RUNTIME:
        LIT(","), LINE("      "), KEY("cbid"), put_int(e->cbid);
        NEXT("correlation"), put_int(e->correlation);
        break;
    case CAT_KERNEL:
        LIT(","), LINE("      "), KEY("queued"), LIT("0");
        NEXT("device"), put_int(device_of(e));
        NEXT("context"), LIT("1");
        NEXT("stream"), put_int(e->tid);
        NEXT("correlation"), put_int(e->correlation), LIT(",");
        LINE("      "), KEY("registers per thread"), put_int(e->collective ? 96 : 128), LIT(",");
        LINE("      "), KEY("shared memory"), put_int(e->k ? 73728 : 16), LIT(",");
        LINE("      "), KEY("blocks per SM"), LIT("4.740741"), LIT(",");
        LINE("      "), KEY("warps per SM"), LIT("37.925926"), LIT(",");
        LINE("      "), KEY("grid"), LIT("["), put_int(e->collective ? 24 : e->m / 128 + 1), SPACED(", ");
        put_int(e->collective ? 1 : e->n / 128 + 1), SPACED(", "), LIT("1],");
        LINE("      "), KEY("block"), LIT("["), put_int(e->collective ? 640 : 256), SPACED(", "), LIT("1"),
            SPACED(", ");
        LIT("1],");
        LINE("      "), KEY("est. achieved occupancy %"), put_int(e->k ? 25 : 100);
        if (e->collective) put_collective(e);
        break;
    case CAT_COPY:
        LIT(","), LINE("      "), KEY("device"), put_int(device_of(e));
        NEXT("context"), LIT("1");
        NEXT("stream"), put_int(e->tid);
        NEXT("correlation"), put_int(e->correlation), LIT(",");
        LINE("      "), KEY("bytes"), put_int(e->n);
        NEXT("memory bandwidth (GB/s)"), put_us(e->n * 1000 / (e->end - e->start));
        break;
    case CAT_OP:
        NEXT("Record function id"), put_int(e->backward ? e->id : 0);
        if (e->sequence >= 0) {
            NEXT("Sequence number"), put_int(e->sequence);
            NEXT("Fwd thread id"), put_int(e->backward);
        }
        if (e->shape != DIMS_NONE) put_dims(e);
        if (e->collective) put_collective(e);
        NEXT("Ev Idx"), put_int(e->id);
        break;
    default: break;
    }
    LINE("    ");
    LIT("}");
    end_event();
}

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

static void run_step(rank_state *ranks, unsigned count, uint64_t step, uint64_t layers) {
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

/* ---- the document ---- */

static void put_head(void) {
    SPACED("\n{ "), LINE("  "), KEY("schemaVersion"), LIT("1,");
    LINE("  "), KEY("deviceProperties"), LIT("[");
    unsigned devices = options.ranks < 8 ? options.ranks : 8;
    for (unsigned i = 0; i < devices; i++) {
        if (i) LIT(",");
        LINE("    "), LIT("{"), LINE("      "), KEY("id"), put_int(i);
        NEXT("name"), LIT("\"NVIDIA A100-SXM4-40GB\""), NEXT("totalGlobalMem"), LIT("42298834944,");
        LINE("      "), KEY("computeMajor"), LIT("8"), NEXT("computeMinor"), LIT("0,");
        LINE("      "), KEY("maxThreadsPerBlock"), LIT("1024"), NEXT("maxThreadsPerMultiprocessor"), LIT("2048,");
        LINE("      "), KEY("regsPerBlock"), LIT("65536"), NEXT("warpSize"), LIT("32,");
        LINE("      "), KEY("sharedMemPerBlock"), LIT("49152"), NEXT("numSms"), LIT("108"), LINE("    "), LIT("}");
    }
    LINE("  "), LIT("],"), LINE("  "), KEY("cupti_version"), LIT("22,");
    LINE("  "), KEY("distributedInfo"), LIT("{"), KEY("backend"), LIT("\"nccl\"");
    NEXT("rank"), put_int(options.rank);
    NEXT("world_size"), put_int(options.devices > 1 ? 1 : options.ranks);
    LIT("},"), LINE("  "), KEY("record_shapes"), LIT("1,");
    LINE("  "), KEY("traceEvents"), LIT("[");
}

static void put_metadata(const char *what, int64_t pid, int64_t tid, const char *key, const char *value,
                         int64_t number) {
    begin_event();
    KEY("name"), LIT("\""), put_text(what), LIT("\"");
    NEXT("ph"), LIT("\"M\"");
    NEXT("ts"), put_us(ORIGIN_NS);
    NEXT("pid"), put_int(pid);
    NEXT("tid"), put_int(tid), LIT(",");
    LINE("    "), KEY("args"), LIT("{"), LINE("      ");
    LIT("\""), put_text(key), SPACED("\": ");
    if (value) LIT("\""), put_text(value), LIT("\"");
    else put_int(number);
    LINE("    "), LIT("}");
    end_event();
}

static void put_tail(int64_t end) {
    char label[32];
    put_metadata("process_name", PID, 0, "name", "python", 0);
    put_metadata("process_labels", PID, 0, "labels", "CPU", 0);
    put_metadata("process_sort_index", PID, 0, "sort_index", NULL, PID);
    put_metadata("thread_name", PID, MAIN_TID, "name", "thread 2910249 (python)", 0);
    put_metadata("thread_name", PID, GRAD_TID, "name", "thread 2919752 (pt_autograd_0)", 0);
    int first = (int)(options.rank % 8), last = options.devices > 1 ? (int)options.devices - 1 : first;
    for (int device = first; device <= last; device++) {
        snprintf(label, sizeof label, "GPU %d", device);
        put_metadata("process_name", device, 0, "name", "python", 0);
        put_metadata("process_labels", device, 0, "labels", label, 0);
        put_metadata("process_sort_index", device, 0, "sort_index", NULL, 5000000 + device);
        for (unsigned s = 0; s < options.streams; s++) {
            snprintf(label, sizeof label, "stream %d", stream_number(s));
            put_metadata("thread_name", device, stream_number(s), "name", label, 0);
        }
    }
    begin_event();
    KEY("ph"), LIT("\"X\""), NEXT("cat"), LIT("\"Trace\""), NEXT("ts"), put_us(ORIGIN_NS), NEXT("dur");
    put_us(end - ORIGIN_NS), LIT(","), LINE("    "), KEY("pid"), LIT("\"Spans\""), NEXT("tid");
    LIT("\"PyTorch Profiler\""), LIT(","), LINE("    "), KEY("name"), LIT("\"PyTorch Profiler (0)\",");
    LINE("    "), KEY("args"), LIT("{"), LINE("      "), KEY("Op count"), LIT("0"), LINE("    "), LIT("}");
    end_event();
    begin_event();
    KEY("name"), LIT("\"Record Window End\""), NEXT("ph"), LIT("\"i\""), NEXT("s"), LIT("\"g\"");
    NEXT("pid"), LIT("\"\""), NEXT("tid"), LIT("\"\""), NEXT("ts"), put_us(end);
    end_event();
    LINE("  "), LIT("],"), LINE("  "), KEY("traceName"), LIT("\"synthetic.json\",");
    LINE("  "), KEY("displayTimeUnit"), LIT("\"ms\",");
    LINE("  "), KEY("baseTimeNanoseconds"), LIT("1711964646000000000"), LINE(""), LIT("}");
}

static void generate(FILE *file, uint64_t steps, uint64_t layers, uint64_t *bytes, uint64_t *events) {
    unsigned count = options.ranks < MAX_SIMULATED ? options.ranks : MAX_SIMULATED;
    rank_state *ranks = calloc(count, sizeof *ranks);
    if (!ranks) abort();
    for (unsigned i = 0; i < count; i++) {
        uint64_t mix = options.seed * 0x2545f4914f6cdd1du + i;
        next_random(&mix);
        ranks[i].random = mix;
        ranks[i].emit = options.devices > 1 || i == options.rank % count;
        ranks[i].device = options.devices > 1 ? i : 0;
        ranks[i].slow_permille = i % 4 == 1 ? 40 : 0; /* every fourth rank is 4 % slower */
        ranks[i].id = ranks[i].correlation = 1000 + (int64_t)ranks[i].device * 100000000; /* one process, one count */
        ranks[i].sequence = (int64_t)ranks[i].device * 100000000;
        ranks[i].clock[0] = ORIGIN_NS + around(&ranks[i], 20000);
    }
    out.file = file;
    out.bytes = out.events = out.used = 0;
    out.first = true;
    put_head();
    for (uint64_t s = 0; s < steps; s++) run_step(ranks, count, s + 3, layers);
    put_tail(ranks[options.rank % count].clock[0] + 5000);
    flush_out();
    *bytes = out.bytes;
    *events = out.events;
    free(ranks);
}

/* The number of layers that brings `steps` steps to `goal` bytes or events. */
static uint64_t layers_for(uint64_t goal, bool count_events, uint64_t steps) {
    uint64_t bytes[2], events[2], size[2];
    for (int i = 0; i < 2; i++) {
        generate(NULL, 2, i ? 64 : 16, &bytes[i], &events[i]);
        size[i] = (count_events ? events[i] : bytes[i]) / 2;
    }
    uint64_t slope = (size[1] - size[0]) / 48, fixed = size[0] - slope * 16, each = goal / steps;
    return each > fixed + slope ? (each - fixed) / slope : 1;
}

static void usage(FILE *to) {
    fputs("usage: make_trace [options] > FILE\n"
          "Writes a synthetic PyTorch profiler trace of data-parallel training.\n\n"
          "  --events N      about N events\n"
          "  --bytes SIZE    about SIZE bytes; suffixes K M G (powers of 1000)\n"
          "  --steps N       training steps (default 4, or as many as the size makes sensible)\n"
          "  --layers N      layers of the model (default 24, or what the size asks for)\n"
          "  --ranks N       ranks (default 1); --rank R: whose trace (default 0)\n"
          "  --devices N     devices of one process (default 1); not with --ranks\n"
          "  --streams N     device streams: 1 = all on one, 2 = exchanges apart (default), more = side streams\n"
          "  --seed S        random seed (default 1)\n"
          "  --pretty        one event over a few lines, as the profiler writes it (default)\n"
          "  --compact       no white space\n",
          to);
}

static uint64_t number(const char *option, const char *text, bool suffix) {
    char *end;
    if (!text || *text < '0' || *text > '9') goto bad;
    uint64_t value = strtoull(text, &end, 10);
    if (suffix && *end) {
        uint64_t scale = *end == 'K' ? 1000 : *end == 'M' ? 1000000 : *end == 'G' ? 1000000000 : 0;
        if (!scale) goto bad;
        value *= scale;
        end++;
    }
    if (*end == '\0') return value;
bad:
    fprintf(stderr, "make_trace: %s expects a whole number%s\n", option, suffix ? ", with K, M or G if need be" : "");
    exit(2);
}

int main(int argc, char **argv) {
    uint64_t events = 0, bytes = 0;
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (!strcmp(name, "--help")) return usage(stdout), 0;
        if (!strcmp(name, "--pretty")) out.compact = 0;
        else if (!strcmp(name, "--compact")) out.compact = 1;
        else if (!strcmp(name, "--events")) events = number(name, value, true), i++;
        else if (!strcmp(name, "--bytes")) bytes = number(name, value, true), i++;
        else if (!strcmp(name, "--steps")) options.steps = number(name, value, false), i++;
        else if (!strcmp(name, "--layers")) options.layers = number(name, value, false), i++;
        else if (!strcmp(name, "--ranks")) options.ranks = (unsigned)number(name, value, false), i++;
        else if (!strcmp(name, "--rank")) options.rank = (unsigned)number(name, value, false), i++;
        else if (!strcmp(name, "--devices")) options.devices = (unsigned)number(name, value, false), i++;
        else if (!strcmp(name, "--streams")) options.streams = (unsigned)number(name, value, false), i++;
        else if (!strcmp(name, "--seed")) options.seed = number(name, value, false), i++;
        else {
            fprintf(stderr, "make_trace: unknown option '%s'\n", name);
            return usage(stderr), 2;
        }
    }
    if (options.ranks < 1 || options.rank >= options.ranks || options.streams < 1 || options.streams > MAX_STREAMS) {
        fprintf(stderr, "make_trace: needs 0 <= rank < ranks and 1 <= streams <= %d\n", MAX_STREAMS);
        return 2;
    }
    if (options.devices > MAX_SIMULATED || (options.devices > 1 && options.ranks > 1)) {
        fprintf(stderr, "make_trace: needs devices <= %d, and one rank with several\n", MAX_SIMULATED);
        return 2;
    }
    if (options.devices > 1) options.ranks = options.devices; /* they exchange as ranks do */
    if (bytes && events) {
        fputs("make_trace: --bytes or --events, not both\n", stderr);
        return 2;
    }
    out.capacity = 1 << 20;
    out.buffer = malloc(out.capacity);
    if (!out.buffer) return 3;
    uint64_t goal = bytes ? bytes : events;
    if (goal) {
        uint64_t per_step = bytes ? 16000000 : 48000;
        if (!options.steps) {
            options.steps = goal / per_step;
            if (options.steps < 4) options.steps = 4;
            if (options.steps > 64) options.steps = 64;
        }
        if (!options.layers) options.layers = layers_for(goal, events != 0, options.steps);
    }
    if (!options.steps) options.steps = 4;
    if (!options.layers) options.layers = 24;
    generate(stdout, options.steps, options.layers, &bytes, &events);
    if (fflush(stdout) != 0) {
        perror("make_trace: standard output");
        return 3;
    }
    fprintf(stderr, "%" PRIu64 " bytes, %" PRIu64 " events\n", bytes, events);
    free(out.buffer);
    return 0;
}
