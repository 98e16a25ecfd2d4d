/*
 * An operation as its price depends on it: a family from a closed list, sizes, precision. Traces, graphs, models and
 * rows of measurements all become pace_op; `cost` sees only a pace_op and a device.
 *
 * What `size[]` holds is the family's own, in the order of pace_op_size_names():
 *
 *   gemm           b m n k                       b products of m x k by k x n
 *   convolution    n c h w k r s stride_h stride_w pad_h pad_w dilation groups        (input n c h w, k filters r x s)
 *   attention      b heads kv_heads queries keys head_dim causal [window]   keys that a query sees at most; 0 = all
 *   embedding      b tables rows lookups d       lookups per sample and table, of rows of d elements
 *   normalization  rows columns                  the mean and variance are over columns (batch norm: over rows)
 *   softmax        rows columns
 *   reduction      rows columns                  columns are summed
 *   elementwise    elements inputs outputs       tensors read and written, each of so many elements
 *   copy           elements                      within a device: concat, split, contiguous, fill, gather
 *   transpose      b m n
 *   tril           b m n diagonal                lower triangle of m x n, gathered
 *   transfer       bytes                         between host and device or between devices
 *   optimizer      parameters tensors
 *   loss           rows columns
 *   pooling        n c h w r s stride_h stride_w pad_h pad_w
 *   other          elements
 */
#pragma once

#include "machine/device.h"

typedef enum {
    PACE_OP_UNKNOWN,
    PACE_OP_GEMM,
    PACE_OP_CONVOLUTION,
    PACE_OP_ATTENTION,
    PACE_OP_EMBEDDING,
    PACE_OP_NORMALIZATION,
    PACE_OP_SOFTMAX,
    PACE_OP_REDUCTION,
    PACE_OP_ELEMENTWISE,
    PACE_OP_COPY,
    PACE_OP_TRANSPOSE,
    PACE_OP_TRIL,
    PACE_OP_TRANSFER,
    PACE_OP_OPTIMIZER,
    PACE_OP_LOSS,
    PACE_OP_POOLING,
    PACE_OP_OTHER,
    PACE_OP_FAMILIES
} pace_op_family;

/* Which part of training an operation is; the same sizes cost differently. */
typedef enum {
    PACE_PASS_FORWARD,
    PACE_PASS_BACKWARD,        /* all gradients of the operation */
    PACE_PASS_BACKWARD_DATA,   /* the gradient of the input alone */
    PACE_PASS_BACKWARD_WEIGHT, /* the gradient of the parameters alone */
    PACE_PASSES
} pace_pass;

extern const char *const pace_pass_names[PACE_PASSES]; /* "forward", "backward", "backward_data", "backward_weight" */

enum { PACE_OP_SIZES = 13 };

typedef struct {
    pace_op_family family;
    pace_pass pass;
    pace_precision precision; /* of the arithmetic: which peak rate applies */
    int element_bytes;        /* of the main tensor; 0 = unknown */
    char kind[24];            /* within the family: "gelu", "layer_norm", "concat", "adam", "h2d_pinned"; "" = plain */
    double size[PACE_OP_SIZES];
    double flop, read_bytes, write_bytes; /* to and from memory at least; 0 = unknown */
} pace_op;

/** "gemm", "convolution", …; the words of catalog/kernels.yaml. */
const char *pace_op_family_name(pace_op_family family);
/** The family of a name, PACE_OP_FAMILIES when there is none. */
pace_op_family pace_op_family_find(const char *name);

/** The names of a family's sizes, in order; *count of them. */
const char *const *pace_op_size_names(pace_op_family family, unsigned *count);

/** Fills flop, read_bytes and write_bytes in from the sizes, the pass and element_bytes. A multiply-add is two
 * operations. False, with all three 0, when the sizes do not suffice (a needed one is not above 0). */
bool pace_op_complete(pace_op *op);

/* The kind of products of a step whose operands are scaled block by block. */
extern const char pace_block_scaled[];

/* The kind of products of rows with weights that lie packed, as a library wants them for its forward pass. */
extern const char pace_packed_weights[];

/** The product that an operation is by its own sizes, whatever it is of and however its weights lie: a gradient of a
 * product, whose sizes are those of the forward product, is a product too. Other families stay as they are, as do both
 * gradients at once. */
pace_op pace_op_plain_product(const pace_op *op);

/** Whether a convolution is a plain product on images as they lie (nchw): a filter of one pixel at stride 1, and an
 * image whole vectors of 16 bytes. */
bool pace_convolution_as_laid(const pace_op *op);

/** Sets attention's last size, which no table's column says (pace_op_size_names): none where a window hides nothing. */
void pace_attention_slide(double size[PACE_OP_SIZES], double window);

/** Keys that a query sees, on average over its sequence: all; half of them where it sees none behind itself; of a
 * window w as many, less w^2 / 2 over the keys for the first queries of a causal sequence. */
double pace_attention_keys_seen(const double size[PACE_OP_SIZES]);

/** Whether two operations must cost the same: every field but the text of `kind` beyond its end. */
bool pace_op_equal(const pace_op *a, const pace_op *b);
uint64_t pace_op_hash(const pace_op *op);
