/*
 * How well host overheads of one model are known from those of others.
 *
 * The overhead of an operator in a workload is predicted from the same operator in other models' workloads: a location
 * (mean of logarithms, or median) in which workloads weigh the less the more their batch size differs, 1 / (1 +
 * (octaves / width)²): runs of one batch size tend to be of one session and one state of the machine. An optimizer
 * visits every parameter before its first call, so that its T2 may be a line over their number instead, fitted to
 * relative errors. Width, location and line are chosen anew for each model that is held out, by leaving out one more of
 * those that are left; nothing of the held-out model's times is used but, where asked for, a scale of its other
 * operators.
 */
#pragma once

#include "cost/host_samples.h"

typedef enum {
    PACE_TRANSFER_POOLED, /* mean of all samples of the other models: Lin et al. 2022's sharing */
    PACE_TRANSFER_OTHERS, /* as above, from other models alone */
    PACE_TRANSFER_SCALED, /* the same times what the workload's other operators take against their predictions */
    PACE_TRANSFERS
} pace_transfer_kind;

/* Of one type of overhead: errors (predicted - measured) / measured over all pairs of operator and workload that some
 * other model has too. */
typedef struct {
    size_t pairs, alone; /* alone: of operators that only one model has */
    struct {
        double mean, median, signed_mean, largest; /* of |error|, but for the signed one */
        double within;                             /* share inside the 90 % interval; NAN = it has none */
    } error[PACE_TRANSFERS];
    double class_error; /* mean |error| of those alone, predicted from their class */
    double spread;      /* log-spread of PACE_TRANSFER_OTHERS */
} pace_transfer_score;

/** Leaves every model out in turn. PACE_E_INPUT when fewer than two models have an operator in common. */
pace_status pace_transfer_measure(pace_transfer_score out[PACE_OVERHEAD_TYPES],
                                  const pace_host_samples *samples) PACE_MUST_CHECK;
