#include "point.h"
#include "base/text.h"

#include <math.h>

const char *const pace_point_size_names[PACE_POINT_SIZES] = {
    "b",        "m",        "n",        "k",      "c",        "h",        "w",      "r",    "s",
    "stride_h", "stride_w", "pad_h",    "pad_w",  "dilation", "groups",   "tables", "rows", "lookups",
    "d",        "columns",  "elements", "inputs", "outputs",  "diagonal", "bytes",
};

const char *const pace_point_op_names[PACE_MEASURES] = {
    "gemm",       "convolution",  "embedding", "copy", "concat",        "mulu", "add",
    "triad",      "momentum",     "relu",      "gelu", "tanh",          "sum",  "softmax",
    "layer_norm", "batch_norm",   "transpose", "tril", "max_pool2d",    "h2d",  "h2d_pageable",
    "d2h",        "d2h_pageable", "d2d",       "peer", "packed_linear",
};

const char *const pace_point_pass_names[PACE_POINT_PASSES] = {"forward", "backward", "backward_data",
                                                              "backward_weight"};

const char *const pace_point_dtype_names[PACE_POINT_DTYPES] = {"fp64", "fp32", "tf32", "fp16", "bf16"};

int pace_word_find(const char *const *words, int count, const char *word) {
    int i = 0;
    while (i < count && pace_strcasecmp(words[i], word) != 0) i++;
    return i;
}

int pace_dtype_bytes(pace_point_dtype dtype) {
    static const int bytes[PACE_POINT_DTYPES] = {8, 4, 4, 2, 2};
    return bytes[dtype];
}

/* What each operation needs; `defaults` may be left out and are 1, paddings and diagonals 0. */
#define SIZE(name) (1u << PACE_SIZE_##name)
#define CONV_SIZES (SIZE(N) | SIZE(C) | SIZE(H) | SIZE(W) | SIZE(K) | SIZE(R) | SIZE(S))
#define CONV_DEFAULTS (SIZE(STRIDE_H) | SIZE(STRIDE_W) | SIZE(PAD_H) | SIZE(PAD_W) | SIZE(DILATION) | SIZE(GROUPS))
#define MAY_BE_ZERO (SIZE(PAD_H) | SIZE(PAD_W) | SIZE(DIAGONAL))

static const struct {
    unsigned needed, defaults;
    int inputs; /* of element-wise operations */
} needs[PACE_MEASURES] = {
    [PACE_MEASURE_GEMM] = {SIZE(M) | SIZE(N) | SIZE(K), SIZE(B), 0},
    [PACE_MEASURE_CONVOLUTION] = {CONV_SIZES, CONV_DEFAULTS, 0},
    [PACE_MEASURE_EMBEDDING] = {SIZE(B) | SIZE(TABLES) | SIZE(ROWS) | SIZE(LOOKUPS) | SIZE(D), 0, 0},
    [PACE_MEASURE_COPY] = {SIZE(ELEMENTS), 0, 0},
    [PACE_MEASURE_CONCAT] = {SIZE(B) | SIZE(M) | SIZE(N) | SIZE(K), 0, 0},
    [PACE_MEASURE_SCALE] = {SIZE(ELEMENTS), 0, 1},
    [PACE_MEASURE_ADD] = {SIZE(ELEMENTS), 0, 2},
    [PACE_MEASURE_TRIAD] = {SIZE(ELEMENTS), 0, 2},
    [PACE_MEASURE_MOMENTUM] = {SIZE(ELEMENTS), 0, 0},
    [PACE_MEASURE_RELU] = {SIZE(ELEMENTS), 0, 1},
    [PACE_MEASURE_GELU] = {SIZE(ELEMENTS), 0, 1},
    [PACE_MEASURE_TANH] = {SIZE(ELEMENTS), 0, 1},
    [PACE_MEASURE_SUM] = {SIZE(ROWS) | SIZE(COLUMNS), 0, 0},
    [PACE_MEASURE_SOFTMAX] = {SIZE(ROWS) | SIZE(COLUMNS), 0, 0},
    [PACE_MEASURE_LAYER_NORM] = {SIZE(ROWS) | SIZE(COLUMNS), 0, 0},
    [PACE_MEASURE_BATCH_NORM] = {SIZE(ROWS) | SIZE(COLUMNS), 0, 0},
    [PACE_MEASURE_TRANSPOSE] = {SIZE(M) | SIZE(N), SIZE(B), 0},
    [PACE_MEASURE_TRIL] = {SIZE(B) | SIZE(M) | SIZE(N), SIZE(DIAGONAL), 0},
    [PACE_MEASURE_MAX_POOLING] = {SIZE(N) | SIZE(C) | SIZE(H) | SIZE(W) | SIZE(R) | SIZE(S),
                                  SIZE(STRIDE_H) | SIZE(STRIDE_W) | SIZE(PAD_H) | SIZE(PAD_W), 0},
    [PACE_MEASURE_H2D_PINNED] = {SIZE(BYTES), 0, 0},
    [PACE_MEASURE_H2D_PAGEABLE] = {SIZE(BYTES), 0, 0},
    [PACE_MEASURE_D2H_PINNED] = {SIZE(BYTES), 0, 0},
    [PACE_MEASURE_D2H_PAGEABLE] = {SIZE(BYTES), 0, 0},
    [PACE_MEASURE_D2D] = {SIZE(BYTES), 0, 0},
    [PACE_MEASURE_PEER] = {SIZE(BYTES), 0, 0},
    [PACE_MEASURE_PACKED_LINEAR] = {SIZE(M) | SIZE(N) | SIZE(K), SIZE(B), 0},
};

static bool good_size(double value, unsigned bit) {
    return value == floor(value) && value < 9e15 && (value > 0 || (value == 0 && (bit & MAY_BE_ZERO)));
}

bool pace_point_complete(pace_point *point, const char **missing) {
    double *s = point->size;
    for (unsigned i = 0; i < PACE_POINT_SIZES; i++) {
        unsigned bit = 1u << i;
        if ((needs[point->op].defaults & bit) && s[i] < 0) s[i] = bit & MAY_BE_ZERO ? 0 : 1;
        if (((needs[point->op].needed | needs[point->op].defaults) & bit) && !good_size(s[i], bit)) {
            *missing = pace_point_size_names[i];
            return false;
        }
    }
    if (needs[point->op].inputs) {
        s[PACE_SIZE_INPUTS] = needs[point->op].inputs;
        s[PACE_SIZE_OUTPUTS] = 1;
    }
    if (point->op == PACE_MEASURE_CONCAT)
        s[PACE_SIZE_ELEMENTS] = s[PACE_SIZE_B] * (s[PACE_SIZE_M] + s[PACE_SIZE_N]) * s[PACE_SIZE_K];
    return true;
}

static double windows(double size, double filter, double stride, double pad, double dilation) {
    double room = size + 2 * pad - dilation * (filter - 1) - 1;
    return room < 0 ? 0 : floor(room / stride) + 1;
}

static double output_pixels(const double *s) {
    double dilation = s[PACE_SIZE_DILATION] > 0 ? s[PACE_SIZE_DILATION] : 1;
    return windows(s[PACE_SIZE_H], s[PACE_SIZE_R], s[PACE_SIZE_STRIDE_H], s[PACE_SIZE_PAD_H], dilation) *
           windows(s[PACE_SIZE_W], s[PACE_SIZE_S], s[PACE_SIZE_STRIDE_W], s[PACE_SIZE_PAD_W], dilation);
}

/* Elements of all tensors. */
static double elements(const pace_point *point) {
    const double *s = point->size;
    double b = s[PACE_SIZE_B], m = s[PACE_SIZE_M], n = s[PACE_SIZE_N], k = s[PACE_SIZE_K];
    double plane = s[PACE_SIZE_ROWS] * s[PACE_SIZE_COLUMNS];
    switch (point->op) {
    case PACE_MEASURE_GEMM:
    case PACE_MEASURE_PACKED_LINEAR: return b * (m * k + k * n + m * n);
    case PACE_MEASURE_CONVOLUTION:
        return n * s[PACE_SIZE_C] * s[PACE_SIZE_H] * s[PACE_SIZE_W] + n * k * output_pixels(s) +
               k * s[PACE_SIZE_C] / s[PACE_SIZE_GROUPS] * s[PACE_SIZE_R] * s[PACE_SIZE_S];
    case PACE_MEASURE_MAX_POOLING: return n * s[PACE_SIZE_C] * (s[PACE_SIZE_H] * s[PACE_SIZE_W] + output_pixels(s));
    case PACE_MEASURE_EMBEDDING:
        return s[PACE_SIZE_TABLES] * s[PACE_SIZE_D] * (s[PACE_SIZE_ROWS] + b) +
               s[PACE_SIZE_TABLES] * b * s[PACE_SIZE_LOOKUPS];
    case PACE_MEASURE_COPY:
    case PACE_MEASURE_CONCAT: return 2 * s[PACE_SIZE_ELEMENTS];
    case PACE_MEASURE_MOMENTUM: return 3 * s[PACE_SIZE_ELEMENTS];
    case PACE_MEASURE_SUM: return plane + s[PACE_SIZE_ROWS];
    case PACE_MEASURE_SOFTMAX:
    case PACE_MEASURE_LAYER_NORM:
    case PACE_MEASURE_BATCH_NORM: return (point->pass == PACE_POINT_FORWARD ? 2 : 3) * plane;
    case PACE_MEASURE_TRANSPOSE: return 2 * b * m * n;
    case PACE_MEASURE_TRIL: return 2 * b * m * n;
    default: return s[PACE_SIZE_ELEMENTS] * (s[PACE_SIZE_INPUTS] + s[PACE_SIZE_OUTPUTS]);
    }
}

static bool is_transfer(pace_measured_op op) { return op >= PACE_MEASURE_H2D_PINNED && op <= PACE_MEASURE_PEER; }

double pace_point_footprint(const pace_point *point) {
    if (is_transfer(point->op)) return 2 * point->size[PACE_SIZE_BYTES];
    return elements(point) * pace_dtype_bytes(point->dtype);
}

double pace_point_flop(const pace_point *point) {
    const double *s = point->size;
    if (point->op == PACE_MEASURE_GEMM || point->op == PACE_MEASURE_PACKED_LINEAR)
        return 2 * s[PACE_SIZE_B] * s[PACE_SIZE_M] * s[PACE_SIZE_N] * s[PACE_SIZE_K];
    if (point->op != PACE_MEASURE_CONVOLUTION) return 0;
    return 2 * s[PACE_SIZE_N] * s[PACE_SIZE_K] * output_pixels(s) * s[PACE_SIZE_C] / s[PACE_SIZE_GROUPS] *
           s[PACE_SIZE_R] * s[PACE_SIZE_S];
}

double pace_point_moved_bytes(const pace_point *point) {
    switch (point->op) {
    case PACE_MEASURE_COPY:
    case PACE_MEASURE_SCALE:
    case PACE_MEASURE_ADD:
    case PACE_MEASURE_TRIAD:
    case PACE_MEASURE_RELU:
    case PACE_MEASURE_SUM: return pace_point_footprint(point);
    default: return 0;
    }
}
