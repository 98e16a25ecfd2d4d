/*
 * Figures of a cluster's usage: where GPU-hours go, what is idle, who waits, what it costs.
 *
 * Idle: GPU-hours that jobs held while their GPUs' counters say that nothing ran. Judged GPU-hours are those with
 * counters. The idle part of the others is estimated from the judged jobs of the same type of work, where there are
 * enough, and has a range: that of a mean of jobs that differ as much as those do (90 %). Lost: GPU-hours of runs that
 * failed, ran out of time, were preempted or lost their node, at most: what they saved before is not known.
 */
#pragma once

#include "fleet/usage.h"

/* What a GPU of a model can do, for each name of one; NAN = not known. The records do not say in which precision matrix
 * units worked: the rate is between that of the slowest and that of the fastest which they have. */
typedef struct {
    double flop_per_s_low, flop_per_s_high, memory_bytes_per_s;
} pace_usage_rates;

/* What took the largest share of GPUs' time, by counters. */
typedef enum {
    PACE_USAGE_LIMIT_NONE, /* counters do not say */
    PACE_USAGE_LIMIT_IDLE,
    PACE_USAGE_LIMIT_MATRIX,
    PACE_USAGE_LIMIT_MEMORY,
    PACE_USAGE_LIMITS
} pace_usage_limit;

extern const char *const pace_usage_limit_names[PACE_USAGE_LIMITS];

/* Figures of runs that are alike. */
typedef struct {
    pace_name name;   /* 0 = not said; of states and sizes their number */
    const char *text; /* the same in words, "(not said)"; borrowed from the pace_usage */
    uint64_t jobs, runs;
    uint64_t held_jobs; /* those of them that held GPUs: not pending, not cancelled before their start */
    double gpu_hours;
    double cost, priced_gpu_hours; /* of the GPU-hours that have a price */
    double judged_gpu_hours;       /* by counters */
    double idle_gpu_hours, idle_cost, priced_idle_gpu_hours;
    double lost_gpu_hours, lost_cost, priced_lost_gpu_hours;
    uint64_t waits;
    double wait_mean_s, wait_median_s, wait_p90_s, wait_gpu_hours; /* GPU-hours: those asked for, while waiting */
    double counter_hours[PACE_USAGE_COUNTERS], counters[PACE_USAGE_COUNTERS]; /* means over GPU-hours; NAN = none */
    double flop_hours, flop_per_s_low,
        flop_per_s_high;                     /* of a GPU's matrix units, estimated: their share of time times rates */
    double memory_hours, memory_bytes_per_s; /* of a GPU's memory, the same */
    pace_usage_limit limit;
    pace_name last_job, last_held_job; /* while it adds up */
    uint32_t last_row, last_held_row;
} pace_usage_group;

typedef PACE_VEC(pace_usage_group) pace_usage_groups;

/* What is estimated of GPU-hours that no counter saw. */
typedef struct {
    double gpu_hours; /* estimated about */
    double idle, low, high;
    double cost_share; /* cost of an idle GPU-hour of these, per idle GPU-hour; NAN = no price */
    size_t judged_jobs;
} pace_usage_estimate;

typedef struct {
    pace_usage_group all;
    pace_usage_groups by[PACE_USAGE_BYS]; /* most GPU-hours first */
    pace_usage_estimate unjudged;
    uint64_t judged_jobs, open_runs, pending_runs, without_time;
    double open_gpu_hours, pending_gpus, pending_longest_s, without_time_gpus;
    double span_s;           /* NAN = no times */
    double stated_gpu_hours; /* of runs whose end is known: completed, failed, … */
} pace_usage_figures;

/** `prices` has the price of a GPU-hour for each name of a GPU, NAN = none; `rates` what it can do, NULL = not known;
 * `fewest` judged jobs of a type are needed to estimate others of it. Free in either case. */
pace_status pace_usage_figures_of(pace_usage_figures *out, const pace_usage *usage, const double *prices,
                                  const pace_usage_rates *rates, size_t fewest) PACE_MUST_CHECK;
void pace_usage_figures_free(pace_usage_figures *figures);

/** Whether a run ended so that its work may be lost. */
bool pace_usage_is_lost(const pace_usage_run *run);
