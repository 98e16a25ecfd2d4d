/*
 * What a few measured sizes of a curve say of its other sizes, where a model of the machine is at hand: how far the
 * model is off, as a Gaussian process over the logarithm of the size (Rasmussen, Williams 2006, equations 2.23 to
 * 2.24 and 5.8). Without sizes its answer is the model's; with more it leaves the model as far as they tell.
 */
#pragma once

#include "machine/doubts.h"

enum { PACE_FEW_SIZES = 4 };

/* A size: what the model says of it, and of a measured one how far it is off. */
typedef struct {
    double log2_bytes;
    double spread;    /* log-spread of the model there */
    double waiting;   /* the share of the modelled time in which no byte moves, 0 to 1 */
    double log_ratio; /* measured over modelled; of the size asked not read */
} pace_few_size;

/** The logarithm of measured over modelled at `asked`, and its log-spread. `count` is at most PACE_FEW_SIZES; sizes
 * differ. */
void pace_few_sizes(double *log_ratio, double *spread, const pace_few_size *measured, size_t count,
                    const pace_few_size *asked, const pace_doubts *doubts);
