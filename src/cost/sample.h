/*
 * An operation on a device as numbers to learn from: where it lies among its like (logarithms of its sizes), what the
 * roofline says of it, and how it falls into tiles and waves. Nothing here names the device, so that what was
 * learned on one can be held against another.
 */
#pragma once

#include "cost/nearest.h"
#include "step/op.h"

enum { PACE_SAMPLE_TRAITS = 26, PACE_SAMPLE_PLACE = 3 };

typedef struct {
    float at[PACE_NEAREST_AXES];     /* log2 of the principal sizes */
    float trait[PACE_SAMPLE_TRAITS]; /* log2 and fractions, all finite */
    double formula_s;                /* what the ladder says without measurements, else the roofline */
    float place[PACE_SAMPLE_PLACE];  /* of the device: log2 of rate, bandwidth, multiprocessors */
} pace_sample;

/** False when the operation has no amounts or the device no rates. `formula_s`: NAN = no formula tells it. */
bool pace_sample_of(pace_sample *out, const pace_op *op, const pace_device *device, double formula_s);

/** How many axes of `at` a family uses. */
unsigned pace_sample_axes(pace_op_family family);
