/*
 * What measured sizes of a curve say of other sizes. Nobody knows the shape of the curve: it is one of several, each
 * off by a Gaussian process over the logarithm of the size (Rasmussen, Williams 2006, equations 2.23 to 2.24, 5.8 and
 * 5.12), and each counts as far as it explains what was measured. With a model of the machine the shapes are the model
 * with more or less time in which no byte moves, for hosts differ; without, any latency and any rate.
 */
#pragma once

#include "machine/doubts.h"

enum { PACE_SHAPE_SIZES = 10 };

/* A size: what the model says of it, and how long it was measured to take. */
typedef struct {
    double log2_bytes;
    double model_s;   /* 0 = there is no model */
    double waiting_s; /* of the model's time, that of an exchange which moves nothing */
    double spread;    /* log-spread of the model there */
    double time_s;    /* as measured; of the size asked not read */
    double noise;     /* how much it errs beyond what measurements usually do; of the size asked not read */
} pace_curve_size;

/** The time of `asked`, and its spread. `count` is at most PACE_SHAPE_SIZES, and above 0 where there is no model; in
 * any order. `squares` receives how far off all measured sizes but the first and the last are when each is told from
 * the others: the squares of the logarithms, added up. */
void pace_curve_shapes_time(pace_estimate *out_s, double *squares, const pace_curve_size *measured, size_t count,
                            const pace_curve_size *asked, const pace_doubts *doubts);
