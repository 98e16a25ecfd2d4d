/*
 * Module: convolution, pooling, batch normalization and matrix products by oneDNN 2 (Debian package libdnnl-dev).
 * Convolutions are direct and choose their own layouts of tensors, as PyTorch and TensorFlow have them; products are of
 * plain row-major matrices, but for linear layers whose weights lie as the forward pass wants them.
 */
#include "base/memory.h"
#include "backend.h"
#include "host_clock.h"

#include <oneapi/dnnl/dnnl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TENSORS = 12 };

typedef struct {
    dnnl_primitive_t primitive;
    dnnl_exec_arg_t arguments[MOST_TENSORS];
    int count;
} work;

static int thread_count = 1;
static dnnl_engine_t engine;
static dnnl_stream_t stream;

/* oneDNN takes the number that OpenMP was told by the program (host_backend.c): it shares its runtime. */
static void set_threads(int threads) { thread_count = threads; }

static bool open_engine(void) {
    if (stream) return true;
    if (!engine && dnnl_engine_create(&engine, dnnl_cpu, 0) != dnnl_success) return false;
    return dnnl_stream_create(&stream, engine, dnnl_stream_default_flags) == dnnl_success;
}

static void release(void *state) {
    work *w = state;
    for (int i = 0; i < w->count; i++) dnnl_memory_destroy(w->arguments[i].memory);
    if (w->primitive) dnnl_primitive_destroy(w->primitive);
    free(w);
}

/* --- descriptions ------------------------------------------------------------------------------------------------ */

static dnnl_data_type_t type_of(const pace_point *point) {
    return point->dtype == PACE_POINT_BF16   ? dnnl_bf16
           : point->dtype == PACE_POINT_FP32 ? dnnl_f32
                                             : dnnl_data_type_undef;
}

static dnnl_dim_t dim(const pace_point *point, pace_point_size size) { return (dnnl_dim_t)point->size[size]; }

static dnnl_dim_t windows(dnnl_dim_t size, dnnl_dim_t filter, dnnl_dim_t stride, dnnl_dim_t pad, dnnl_dim_t dilation) {
    dnnl_dim_t room = size + 2 * pad - dilation * (filter - 1) - 1;
    return room < 0 ? 0 : room / stride + 1;
}

static bool tensor(dnnl_memory_desc_t *out, int rank, const dnnl_dim_t *dims, dnnl_data_type_t type,
                   dnnl_format_tag_t tag) {
    dnnl_dims_t all = {0};
    for (int i = 0; i < rank; i++) {
        if (dims[i] <= 0) return false;
        all[i] = dims[i];
    }
    return dnnl_memory_desc_init_by_tag(out, rank, all, type, tag) == dnnl_success;
}

static dnnl_primitive_desc_t describe_product(const pace_point *point) {
    dnnl_dim_t b = dim(point, PACE_SIZE_B), m = dim(point, PACE_SIZE_M), n = dim(point, PACE_SIZE_N);
    dnnl_dim_t k = dim(point, PACE_SIZE_K), dims[3][3] = {{b, m, k}, {b, k, n}, {b, m, n}};
    int skip = b == 1; /* a single product has no batch */
    dnnl_memory_desc_t t[3];
    dnnl_matmul_desc_t matmul;
    dnnl_primitive_desc_t out;
    for (int i = 0; i < 3; i++)
        if (!tensor(&t[i], 3 - skip, dims[i] + skip, type_of(point), skip ? dnnl_ab : dnnl_abc)) return NULL;
    if (dnnl_matmul_desc_init(&matmul, &t[0], &t[1], NULL, &t[2]) != dnnl_success) return NULL;
    return dnnl_primitive_desc_create(&out, &matmul, NULL, engine, NULL) == dnnl_success ? out : NULL;
}

/* A linear layer's product, or its gradient, whose weights lie as forward wants them. */
static dnnl_primitive_desc_t describe_linear(const pace_point *point) {
    dnnl_dim_t rows = dim(point, PACE_SIZE_M), out = dim(point, PACE_SIZE_N), in = dim(point, PACE_SIZE_K);
    const dnnl_dim_t from[2] = {rows, in}, by[2] = {out, in}, to[2] = {rows, out};
    dnnl_memory_desc_t source, weights, target;
    dnnl_inner_product_desc_t desc;
    dnnl_primitive_desc_t forward, done = NULL;
    dnnl_status_t status = dnnl_unimplemented;
    if (dim(point, PACE_SIZE_B) != 1 || !tensor(&source, 2, from, type_of(point), dnnl_format_tag_any) ||
        !tensor(&weights, 2, by, type_of(point), dnnl_format_tag_any) ||
        !tensor(&target, 2, to, type_of(point), dnnl_ab) ||
        dnnl_inner_product_forward_desc_init(&desc, dnnl_forward_training, &source, &weights, NULL, &target) !=
            dnnl_success ||
        dnnl_primitive_desc_create(&forward, &desc, NULL, engine, NULL) != dnnl_success)
        return NULL;
    if (point->pass == PACE_POINT_FORWARD) return forward;
    weights = *dnnl_primitive_desc_query_md(forward, dnnl_query_weights_md, 0);
    if (point->pass == PACE_POINT_DGRAD)
        status = dnnl_inner_product_backward_data_desc_init(&desc, &source, &weights, &target);
    else if (point->pass == PACE_POINT_WGRAD)
        status = dnnl_inner_product_backward_weights_desc_init(&desc, &source, &weights, NULL, &target);
    if (status == dnnl_success) status = dnnl_primitive_desc_create(&done, &desc, NULL, engine, forward);
    dnnl_primitive_desc_destroy(forward);
    return status == dnnl_success ? done : NULL;
}

/* The layout in which a convolution leaves so many channels, which is what pools read. */
static bool layout_between(dnnl_memory_desc_t *out, const dnnl_dim_t in[4], dnnl_data_type_t type) {
    const dnnl_dim_t filters[4] = {in[1], in[1], 1, 1};
    const dnnl_dims_t stride = {1, 1}, none = {0, 0};
    dnnl_memory_desc_t any, pixel;
    dnnl_convolution_desc_t desc;
    dnnl_primitive_desc_t made;
    if (!tensor(&any, 4, in, type, dnnl_format_tag_any) || !tensor(&pixel, 4, filters, type, dnnl_format_tag_any) ||
        dnnl_convolution_forward_desc_init(&desc, dnnl_forward_training, dnnl_convolution_direct, &any, &pixel, NULL,
                                           &any, stride, none, none) != dnnl_success ||
        dnnl_primitive_desc_create(&made, &desc, NULL, engine, NULL) != dnnl_success)
        return false;
    *out = *dnnl_primitive_desc_query_md(made, dnnl_query_dst_md, 0);
    dnnl_primitive_desc_destroy(made);
    return true;
}

/* Forward keeps where the largest stood, as training does; backward reads that. */
static dnnl_primitive_desc_t describe_pooling(const pace_point *point) {
    dnnl_dim_t n = dim(point, PACE_SIZE_N), c = dim(point, PACE_SIZE_C), h = dim(point, PACE_SIZE_H);
    dnnl_dim_t w = dim(point, PACE_SIZE_W);
    dnnl_dims_t kernel = {dim(point, PACE_SIZE_R), dim(point, PACE_SIZE_S)};
    dnnl_dims_t strides = {dim(point, PACE_SIZE_STRIDE_H), dim(point, PACE_SIZE_STRIDE_W)};
    dnnl_dims_t pad = {dim(point, PACE_SIZE_PAD_H), dim(point, PACE_SIZE_PAD_W)};
    dnnl_dim_t in[4] = {n, c, h, w};
    dnnl_dim_t to[4] = {n, c, windows(h, kernel[0], strides[0], pad[0], 1),
                        windows(w, kernel[1], strides[1], pad[1], 1)};
    dnnl_memory_desc_t source, target;
    dnnl_pooling_desc_t pooling;
    dnnl_primitive_desc_t forward, out = NULL;
    if (!layout_between(&source, in, type_of(point)) || !tensor(&target, 4, to, type_of(point), dnnl_format_tag_any))
        return NULL;
    if (dnnl_pooling_forward_desc_init(&pooling, dnnl_forward_training, dnnl_pooling_max, &source, &target, strides,
                                       kernel, pad, pad) != dnnl_success ||
        dnnl_primitive_desc_create(&forward, &pooling, NULL, engine, NULL) != dnnl_success)
        return NULL;
    if (point->pass == PACE_POINT_FORWARD) return forward;
    target = *dnnl_primitive_desc_query_md(forward, dnnl_query_dst_md, 0);
    if (point->pass != PACE_POINT_BACKWARD ||
        dnnl_pooling_backward_desc_init(&pooling, dnnl_pooling_max, &source, &target, strides, kernel, pad, pad) !=
            dnnl_success ||
        dnnl_primitive_desc_create(&out, &pooling, NULL, engine, forward) != dnnl_success)
        out = NULL;
    dnnl_primitive_desc_destroy(forward);
    return out;
}

/* Rows are places of an image, which lie as a convolution leaves them. */
static dnnl_primitive_desc_t describe_batch_norm(const pace_point *point) {
    const dnnl_dim_t dims[4] = {1, dim(point, PACE_SIZE_COLUMNS), dim(point, PACE_SIZE_ROWS), 1};
    const float epsilon = 1e-5f;
    dnnl_memory_desc_t data;
    dnnl_batch_normalization_desc_t norm;
    dnnl_primitive_desc_t forward, out = NULL;
    if (!layout_between(&data, dims, type_of(point)) ||
        dnnl_batch_normalization_forward_desc_init(&norm, dnnl_forward_training, &data, epsilon,
                                                   dnnl_normalization_flags_none) != dnnl_success ||
        dnnl_primitive_desc_create(&forward, &norm, NULL, engine, NULL) != dnnl_success)
        return NULL;
    if (point->pass == PACE_POINT_FORWARD) return forward;
    if (point->pass != PACE_POINT_BACKWARD ||
        dnnl_batch_normalization_backward_desc_init(&norm, dnnl_backward_data, &data, &data, epsilon,
                                                    dnnl_normalization_flags_none) != dnnl_success ||
        dnnl_primitive_desc_create(&out, &norm, NULL, engine, forward) != dnnl_success)
        out = NULL;
    dnnl_primitive_desc_destroy(forward);
    return out;
}

/* Source, filters, target; strides, dilation (from 0), padding. */
typedef struct {
    dnnl_memory_desc_t source, filters, target;
    dnnl_dims_t strides, dilation, pad;
} convolution;

static bool convolution_of(convolution *c, const pace_point *point) {
    dnnl_dim_t n = dim(point, PACE_SIZE_N), in = dim(point, PACE_SIZE_C), h = dim(point, PACE_SIZE_H);
    dnnl_dim_t w = dim(point, PACE_SIZE_W), k = dim(point, PACE_SIZE_K), r = dim(point, PACE_SIZE_R);
    dnnl_dim_t s = dim(point, PACE_SIZE_S), d = dim(point, PACE_SIZE_DILATION), g = dim(point, PACE_SIZE_GROUPS);
    dnnl_data_type_t type = type_of(point);
    c->strides[0] = dim(point, PACE_SIZE_STRIDE_H);
    c->strides[1] = dim(point, PACE_SIZE_STRIDE_W);
    c->pad[0] = dim(point, PACE_SIZE_PAD_H);
    c->pad[1] = dim(point, PACE_SIZE_PAD_W);
    c->dilation[0] = c->dilation[1] = d - 1;
    dnnl_dim_t from[4] = {n, in, h, w}, filters[5] = {g, k / g, in / g, r, s};
    dnnl_dim_t to[4] = {n, k, windows(h, r, c->strides[0], c->pad[0], d), windows(w, s, c->strides[1], c->pad[1], d)};
    bool grouped = g > 1;
    return tensor(&c->source, 4, from, type, dnnl_format_tag_any) &&
           tensor(&c->target, 4, to, type, dnnl_format_tag_any) &&
           tensor(&c->filters, grouped ? 5 : 4, grouped ? filters : filters + 1, type, dnnl_format_tag_any);
}

static dnnl_primitive_desc_t describe_forward(convolution *c) {
    dnnl_convolution_desc_t desc;
    dnnl_primitive_desc_t out;
    if (dnnl_dilated_convolution_forward_desc_init(&desc, dnnl_forward_training, dnnl_convolution_direct, &c->source,
                                                   &c->filters, NULL, &c->target, c->strides, c->dilation, c->pad,
                                                   c->pad) != dnnl_success)
        return NULL;
    return dnnl_primitive_desc_create(&out, &desc, NULL, engine, NULL) == dnnl_success ? out : NULL;
}

static dnnl_primitive_desc_t describe_convolution(const pace_point *point) {
    convolution c;
    if (!convolution_of(&c, point)) return NULL;
    dnnl_primitive_desc_t forward = describe_forward(&c), out = NULL;
    if (!forward || point->pass == PACE_POINT_FORWARD) return forward;
    dnnl_convolution_desc_t desc;
    dnnl_status_t status = dnnl_unimplemented;
    if (point->pass == PACE_POINT_DGRAD)
        status = dnnl_dilated_convolution_backward_data_desc_init(&desc, dnnl_convolution_direct, &c.source, &c.filters,
                                                                  &c.target, c.strides, c.dilation, c.pad, c.pad);
    else if (point->pass == PACE_POINT_WGRAD)
        status =
            dnnl_dilated_convolution_backward_weights_desc_init(&desc, dnnl_convolution_direct, &c.source, &c.filters,
                                                                NULL, &c.target, c.strides, c.dilation, c.pad, c.pad);
    if (status == dnnl_success) status = dnnl_primitive_desc_create(&out, &desc, NULL, engine, forward);
    dnnl_primitive_desc_destroy(forward);
    return status == dnnl_success ? out : NULL;
}

static dnnl_primitive_desc_t describe_point(const pace_point *point) {
    if (type_of(point) == dnnl_data_type_undef) return NULL;
    if (point->op == PACE_MEASURE_PACKED_LINEAR) return describe_linear(point);
    if (point->op == PACE_MEASURE_CONVOLUTION) return describe_convolution(point);
    if (point->op == PACE_MEASURE_MAX_POOLING) return describe_pooling(point);
    if (point->op == PACE_MEASURE_BATCH_NORM) return describe_batch_norm(point);
    return point->op == PACE_MEASURE_GEMM && point->pass == PACE_POINT_FORWARD ? describe_product(point) : NULL;
}

/* --- tensors ----------------------------------------------------------------------------------------------------- */

/* A pattern that is about 0.01 both in FP32 and in BF16: no denormal and no zero anywhere. */
static void fill(dnnl_memory_t memory, size_t bytes) {
    static const uint32_t pattern = 0x3c233c23;
    void *data;
    if (dnnl_memory_get_data_handle(memory, &data) != dnnl_success || !data) return;
    for (size_t i = 0; i + sizeof pattern <= bytes; i += sizeof pattern)
        memcpy((char *)data + i, &pattern, sizeof pattern);
}

static bool make_tensors(work *w, dnnl_primitive_desc_t desc) {
    static const int arguments[] = {DNNL_ARG_SRC,      DNNL_ARG_WEIGHTS,  DNNL_ARG_DST,
                                    DNNL_ARG_DIFF_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_WEIGHTS,
                                    DNNL_ARG_MEAN,     DNNL_ARG_VARIANCE, DNNL_ARG_WORKSPACE};
    for (size_t i = 0; i < PACE_COUNT(arguments); i++) {
        const dnnl_memory_desc_t *md = dnnl_primitive_desc_query_md(desc, dnnl_query_exec_arg_md, arguments[i]);
        dnnl_memory_t memory;
        if (!md || md->ndims == 0) continue;
        if (dnnl_memory_create(&memory, md, engine, DNNL_MEMORY_ALLOCATE) != dnnl_success) return false;
        w->arguments[w->count++] = (dnnl_exec_arg_t){arguments[i], memory};
        fill(memory, dnnl_memory_desc_get_size(md));
    }
    return true;
}

static pace_probe_status prepare(void **state, const pace_point *point, int device, char *message) {
    (void)device;
    if (!open_engine()) return PACE_PROBE_OTHER;
    dnnl_primitive_desc_t desc = describe_point(point);
    if (!desc) return PACE_PROBE_OTHER;
    work *w = calloc(1, sizeof *w);
    bool made = w && make_tensors(w, desc) && dnnl_primitive_create(&w->primitive, desc) == dnnl_success;
    dnnl_primitive_desc_destroy(desc);
    if (made) {
        *state = w;
        return PACE_PROBE_OK;
    }
    if (w) release(w);
    snprintf(message, PACE_BACKEND_MESSAGE, "oneDNN: no memory for %.0f bytes", pace_point_footprint(point));
    return PACE_PROBE_FAILED;
}

static pace_probe_status time_runs(double *seconds, void *state, unsigned runs, char *message) {
    work *w = state;
    dnnl_status_t status = dnnl_success;
    double start = pace_host_clock_s(thread_count);
    for (unsigned i = 0; i < runs && status == dnnl_success; i++)
        status = dnnl_primitive_execute(w->primitive, stream, w->count, w->arguments);
    if (status == dnnl_success) status = dnnl_stream_wait(stream);
    *seconds = pace_host_clock_s(thread_count) - start;
    if (status == dnnl_success) return PACE_PROBE_OK;
    snprintf(message, PACE_BACKEND_MESSAGE, "oneDNN: status %d", (int)status);
    return PACE_PROBE_FAILED;
}

static pace_probe_status describe(pace_device_facts *facts, int device, char *message) {
    (void)device;
    (void)message;
    const dnnl_version_t *version = dnnl_version();
    snprintf(facts->software, sizeof facts->software, "oneDNN %d.%d.%d", version->major, version->minor,
             version->patch);
    return PACE_PROBE_OK;
}

static const pace_backend onednn = {
    .version = PACE_BACKEND_VERSION,
    .source = "onednn",
    .target = "cpu",
    .set_threads = set_threads,
    .describe = describe,
    .prepare = prepare,
    .time_runs = time_runs,
    .release = release,
};

const pace_backend *pace_calibrate_backend(void) { return &onednn; }
