/*
 * Workers that are not alike: who holds up a synchronous job, when, and what that costs as jobs grow.
 *
 * A worker's time is compared with the others' of the same iteration, so that what slows all alike is nobody's fault:
 *
 *     r = ln(time / median of the workers in that iteration)
 *
 * Its usual pace is its median r. A spell is a run of iterations in which it was slower than usual by more than chance:
 * the sum of (r - usual) / sigma - 3 from the spell's start reaches 10 (Page's cumulative sum, Biometrika 1954), or
 * what such sums reach in one job of twenty where the same times come in a random order; sigma is 1.4826 times the
 * median distance of all r from their usual. For normal noise a run reaches 10 by chance with e^-60; where times are
 * like those before, with correlation c, it must reach 10 (1 + c) / (1 - c).
 *
 * What a worker cost: in each iteration, by how much it was behind the next slowest one. Summed over workers that is
 * what the job would have saved if only the slowest had kept up with the second.
 */
#pragma once

#include "base/memory.h"

/* times[i * workers + w]: worker w in iteration i, in any unit; NAN = not recorded. Borrowed. */
typedef struct {
    size_t workers, iterations;
    const double *times;
} pace_iterations;

/** The times that were recorded of an iteration; returns how many. */
size_t pace_iteration_times(double *out, const pace_iterations *data, size_t iteration);

typedef struct {
    size_t worker, first, last;      /* iterations, both included */
    double slowdown;                 /* geometric mean over the spell, against the worker's usual pace */
    double worst;                    /* of one iteration */
    double lost;                     /* delay of the job, in the unit of the times */
    double lost_share, begins_share; /* of the job's time; of its iterations before the spell */
} pace_slow_spell;

typedef struct {
    size_t iterations;       /* recorded */
    double mean;             /* time */
    double usual;            /* pace against the median of the workers: 1.05 = 5 % slower */
    double lost, lost_share; /* delay of the job; of its time */
} pace_worker_pace;

typedef struct {
    pace_worker_pace *workers;
    PACE_VEC(pace_slow_spell) spells; /* most lost first */
    double sigma;                     /* of the logarithm of a time around the worker's usual pace */
    double usual_error;               /* standard error of the logarithm of a usual pace */
    double like;                      /* how much a time is like the one before, 0 to nearly 1: their correlation */
    double mean;                      /* of all times */
    double step;                      /* mean over iterations of the slowest worker: what the job took */
    double time;                      /* of all iterations */
} pace_variability;

/** Errors: PACE_E_INPUT for fewer than 2 workers or 2 iterations that at least two workers recorded. */
pace_status pace_variability_of(pace_variability *out, const pace_iterations *data) PACE_MUST_CHECK;
void pace_variability_free(pace_variability *variability);

/** How far the slowest worker of an iteration is behind the second slowest, and which it is; it stays as it was where
 * none was recorded. */
double pace_iteration_delay(size_t *slowest, const pace_iterations *data, size_t iteration);

/* How much longer than a mean worker a synchronous step of `workers` workers takes. */
typedef struct {
    size_t workers;
    double expected, low,
        high;        /* independent draws from what was measured; 90 % over resampled stretches of iterations */
    double measured; /* mean over all subsets of that many of the measured workers; NAN when there are fewer */
} pace_slowdown;

/** Fills `out[i]` for sizes[i] workers. A ratio is 1 + (t / m - 1) sqrt((W - 1) / W) of a time t and the mean m of the
 * W - 1 others of its iteration, over the mean of all of these; with F the distribution of ratios, x their values in
 * order, the expected largest of N is sum_i x_i (F_i^N - F_(i-1)^N). The measured column is that of draws without
 * replacement within an iteration: the k-th smallest of W is the largest of N with C(k-1, N-1) / C(W, N). */
pace_status pace_slowdown_of(pace_slowdown *out, const size_t *sizes, size_t count,
                             const pace_iterations *data) PACE_MUST_CHECK;
