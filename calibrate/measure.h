/*
 * Repeats until stable: warm-up, then batches of runs, each long enough for the clock, until their median has settled
 * or the time is up. Medians of batches stand against a machine that others use too.
 */
#pragma once

#include "backend.h"

typedef struct {
    double timer_s;   /* resolution of the clock; a batch lasts at least a thousand of them */
    double batch_s;   /* and at least this long */
    double point_s;   /* all batches together at most, but at least 3 batches */
    unsigned batches; /* at most, at least 3 */
    double tolerance; /* settled: the median's standard error is below this share of it */
} pace_measure_limits;

typedef struct {
    double median_s, best_s; /* of one run */
    double spread;           /* standard deviation of ln(time) over batches, from the median absolute deviation */
    unsigned batches, runs;  /* runs in each batch */
} pace_point_time;

typedef pace_probe_status (*pace_time_runs_fn)(double *seconds, void *state, unsigned runs, char *message);

pace_probe_status pace_measure(pace_point_time *out, const pace_measure_limits *limits, pace_time_runs_fn time_runs,
                               void *state, char *message);

/** The smallest step the monotonic clock was seen to make, in seconds. */
double pace_timer_resolution(void);
