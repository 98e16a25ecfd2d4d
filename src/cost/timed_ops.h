/*
 * Kernels of a recording as a rung of the ladder: what they took over what the ladder says of them, carried over to the
 * operations most like them. On the device of the recording the very same operation takes what it took.
 */
#pragma once

#include "machine/device.h"
#include "step/timed_op.h"
#include "base/memory.h"

typedef struct {
    pace_op op;
    double ratio;       /* mean time over the ladder's */
    double spread;      /* of ln time among its calls; NAN of one call */
    double start_share; /* of the ladder's time that the kernel's start takes */
} pace_timed_ratio;

typedef struct {
    char device[48]; /* of the recording; "" = nothing is recorded */
    PACE_VEC(pace_timed_ratio) items;
} pace_timed_ops;

/** Sorts calls by operation; items[i].ratio is the mean time then, to be
 * divided by the ladder's. */
pace_status pace_timed_ops_make(pace_timed_ops *out, const pace_device *device, const pace_timed_op *calls,
                                size_t count) PACE_MUST_CHECK;
/** The recorded operation most like it: of its family, pass and kind the nearest in arithmetic and bytes. NULL =
 * none. */
const pace_timed_ratio *pace_timed_ops_nearest(const pace_timed_ops *of, const pace_op *op);
void pace_timed_ops_free(pace_timed_ops *ops);
