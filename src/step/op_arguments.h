/* What formulas ask of a call's arguments, and how they count. Private to step/. */
#pragma once

#include "step/call_arguments.h"

#include <stddef.h>

/** An operation while a formula makes it: amounts are counted tensor by tensor, since their elements differ in size. */
typedef struct {
    pace_op op;
    bool bytes_known;
} pace_op_draft;

static inline bool pace_arg_is_tensor(const pace_op_shapes *shapes, int at) {
    return at >= 0 && (unsigned)at < shapes->count && (shapes->rank[at] > 0 || shapes->element_bytes[at] > 0);
}

static inline double pace_arg_elements(const pace_op_shapes *shapes, int at) {
    double product = 1;
    for (int i = 0; i < shapes->rank[at]; i++) product *= (double)shapes->dims[at][i];
    return product;
}

static inline int64_t pace_arg_dim(const pace_op_shapes *shapes, int at, int from_end) {
    return shapes->dims[at][shapes->rank[at] - from_end];
}

static inline bool pace_arg_has_rank(const pace_op_shapes *shapes, int at, int rank) {
    return pace_arg_is_tensor(shapes, at) && shapes->rank[at] >= rank;
}

static inline void pace_draft_reads(pace_op_draft *draft, double count, unsigned element_bytes) {
    if (count > 0 && element_bytes == 0) draft->bytes_known = false;
    draft->op.read_bytes += count * (double)element_bytes;
}

static inline void pace_draft_writes(pace_op_draft *draft, double count, unsigned element_bytes) {
    if (count > 0 && element_bytes == 0) draft->bytes_known = false;
    draft->op.write_bytes += count * (double)element_bytes;
}

static inline void pace_draft_reads_tensor(pace_op_draft *draft, const pace_op_shapes *shapes, int at) {
    if (pace_arg_is_tensor(shapes, at))
        pace_draft_reads(draft, pace_arg_elements(shapes, at), shapes->element_bytes[at]);
}

static inline void pace_draft_writes_tensor(pace_op_draft *draft, const pace_op_shapes *shapes, int at) {
    if (pace_arg_is_tensor(shapes, at))
        pace_draft_writes(draft, pace_arg_elements(shapes, at), shapes->element_bytes[at]);
}

static inline void pace_draft_reads_all(pace_op_draft *draft, const pace_op_shapes *shapes) {
    for (unsigned i = 0; i < shapes->count; i++) pace_draft_reads_tensor(draft, shapes, (int)i);
}

/* The sizes of the family, in the order of op.h; the rest are 0. */
#define PACE_SIZES(draft, ...)                                                                \
    do {                                                                                      \
        const double sizes_[] = {__VA_ARGS__};                                                \
        for (size_t k_ = 0; k_ < PACE_COUNT(sizes_); k_++) (draft)->op.size[k_] = sizes_[k_]; \
    } while (0)

static inline void pace_draft_of(pace_op_draft *draft, const pace_op_shapes *shapes, int at) {
    draft->op.element_bytes = shapes->element_bytes[at];
}

/* A list's number for an axis: one number is for all axes. */
static inline double pace_arg_number(const pace_op_shapes *shapes, int at, unsigned which, double otherwise) {
    if (at < 0 || (unsigned)at >= shapes->count || which > 3) return otherwise;
    unsigned count = shapes->scalar_count[at];
    int64_t value = shapes->scalars[at][which < count || count == 0 ? which : count - 1];
    return count > 0 || value != 0 ? (double)value : otherwise;
}

/* The tensor argument with the most elements, or -1. */
static inline int pace_arg_biggest(const pace_op_shapes *shapes) {
    int best = -1;
    for (int i = 0; i < (int)shapes->count; i++)
        if (pace_arg_is_tensor(shapes, i) &&
            (best < 0 || pace_arg_elements(shapes, i) > pace_arg_elements(shapes, best)))
            best = i;
    return best;
}

/* A tensor without dimensions does not widen the result's type: float tensor / integer scalar is float. */
static inline unsigned pace_arg_widest(const pace_op_shapes *shapes) {
    unsigned bytes = 0, scalar = 0;
    for (unsigned i = 0; i < shapes->count; i++) {
        unsigned *most = shapes->rank[i] ? &bytes : &scalar;
        if (shapes->element_bytes[i] > *most) *most = shapes->element_bytes[i];
    }
    return bytes ? bytes : scalar;
}

/* Elements of the broadcast of all tensors; what does not broadcast (a channel's scale) counts as an operand. */
static inline double pace_arg_broadcast(const pace_op_shapes *shapes) {
    double product = 1;
    for (int from_end = 1; from_end <= 6; from_end++) {
        int64_t size = 1;
        for (int i = 0; i < (int)shapes->count; i++) {
            if (!pace_arg_has_rank(shapes, i, from_end)) continue;
            int64_t here = pace_arg_dim(shapes, i, from_end);
            if (size != 1 && here != 1 && here != size) return pace_arg_elements(shapes, pace_arg_biggest(shapes));
            if (here != 1) size = here;
        }
        product *= (double)size;
    }
    return product;
}
