/*
 * One measurement to make: an operation with its sizes, as a row of the table that `paceline fit` reads. Column names
 * are those of catalog/columns.yaml, sizes those of src/step/op.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Columns of sizes, in the order of the table. */
typedef enum {
    PACE_SIZE_B,
    PACE_SIZE_M,
    PACE_SIZE_N,
    PACE_SIZE_K,
    PACE_SIZE_C,
    PACE_SIZE_H,
    PACE_SIZE_W,
    PACE_SIZE_R,
    PACE_SIZE_S,
    PACE_SIZE_STRIDE_H,
    PACE_SIZE_STRIDE_W,
    PACE_SIZE_PAD_H,
    PACE_SIZE_PAD_W,
    PACE_SIZE_DILATION,
    PACE_SIZE_GROUPS,
    PACE_SIZE_TABLES,
    PACE_SIZE_ROWS,
    PACE_SIZE_LOOKUPS,
    PACE_SIZE_D,
    PACE_SIZE_COLUMNS,
    PACE_SIZE_ELEMENTS,
    PACE_SIZE_INPUTS,
    PACE_SIZE_OUTPUTS,
    PACE_SIZE_DIAGONAL,
    PACE_SIZE_BYTES,
    PACE_POINT_SIZES
} pace_point_size;

/* Every operation that somebody here can measure; the words of the column "op". */
typedef enum {
    PACE_MEASURE_GEMM,
    PACE_MEASURE_CONVOLUTION,
    PACE_MEASURE_EMBEDDING,
    PACE_MEASURE_COPY,
    PACE_MEASURE_CONCAT,
    PACE_MEASURE_SCALE,
    PACE_MEASURE_ADD,
    PACE_MEASURE_TRIAD,
    PACE_MEASURE_MOMENTUM,
    PACE_MEASURE_RELU,
    PACE_MEASURE_GELU,
    PACE_MEASURE_TANH,
    PACE_MEASURE_SUM,
    PACE_MEASURE_SOFTMAX,
    PACE_MEASURE_LAYER_NORM,
    PACE_MEASURE_BATCH_NORM,
    PACE_MEASURE_TRANSPOSE,
    PACE_MEASURE_TRIL,
    PACE_MEASURE_MAX_POOLING,
    PACE_MEASURE_H2D_PINNED,
    PACE_MEASURE_H2D_PAGEABLE,
    PACE_MEASURE_D2H_PINNED,
    PACE_MEASURE_D2H_PAGEABLE,
    PACE_MEASURE_D2D,
    PACE_MEASURE_PEER,
    PACE_MEASURE_PACKED_LINEAR, /* a product whose weights lie as the library wants them for the forward pass */
    PACE_MEASURES
} pace_measured_op;

typedef enum {
    PACE_POINT_FORWARD,
    PACE_POINT_BACKWARD,
    PACE_POINT_DGRAD,
    PACE_POINT_WGRAD,
    PACE_POINT_PASSES
} pace_point_pass;

typedef enum {
    PACE_POINT_FP64,
    PACE_POINT_FP32,
    PACE_POINT_TF32,
    PACE_POINT_FP16,
    PACE_POINT_BF16,
    PACE_POINT_DTYPES
} pace_point_dtype;

typedef struct {
    pace_measured_op op;
    pace_point_dtype dtype;
    pace_point_pass pass;
    double size[PACE_POINT_SIZES]; /* -1 = not of this operation */
} pace_point;

extern const char *const pace_point_size_names[PACE_POINT_SIZES];
extern const char *const pace_point_op_names[PACE_MEASURES];
extern const char *const pace_point_pass_names[PACE_POINT_PASSES];
extern const char *const pace_point_dtype_names[PACE_POINT_DTYPES];

/** The number of a word in one of these lists, `count` when it is not there. */
int pace_word_find(const char *const *words, int count, const char *word);

int pace_dtype_bytes(pace_point_dtype dtype);

/** Makes the operation's sizes complete (derived and default ones). False when one is missing or not a whole number
 * above 0 (paddings and diagonals may be 0); *missing names it. */
bool pace_point_complete(pace_point *point, const char **missing);

/** Bytes of all tensors at once. */
double pace_point_footprint(const pace_point *point);

/** Floating-point operations of products and convolutions (a multiply-add is two), else 0. */
double pace_point_flop(const pace_point *point);

/** Bytes read and written by operations that stream whole tensors, else 0. */
double pace_point_moved_bytes(const pace_point *point);

#ifdef __cplusplus
}
#endif
