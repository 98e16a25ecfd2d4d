/* What to change in a cluster, by the GPU-hours it would give back, at most. */
#pragma once

#include "fleet/usage_figures.h"

/* Which runs a change is about (catalog/usage.yaml). */
typedef struct {
    double held_busy;                           /* a run whose GPUs worked less holds them for nothing */
    double held_hours;                          /* when it lasted at least so long */
    double shared_busy;                         /* GPUs that worked less could be shared */
    double fewest_jobs;                         /* judged jobs of a type of work, to estimate others of it */
    double doubted_below_s, doubted_above_days; /* the unit of times is, by how long the longest run is */
} pace_usage_rules;

typedef enum {
    PACE_CHANGE_HELD,   /* end runs that hold GPUs and do nothing */
    PACE_CHANGE_SHARED, /* put runs that use little of a GPU on shared ones */
    PACE_CHANGE_FED,    /* find what the GPUs of the others wait for */
    PACE_CHANGE_FAILED, /* fail early, save progress */
    PACE_CHANGE_TIMEOUT,
    PACE_CHANGE_NODE,
    PACE_CHANGE_PREEMPTED,
    PACE_USAGE_CHANGES
} pace_usage_change_kind;

extern const char *const pace_usage_change_names[PACE_USAGE_CHANGES];
extern const char *const pace_usage_change_texts[PACE_USAGE_CHANGES];

typedef struct {
    pace_usage_change_kind kind;
    uint64_t runs;
    double gpu_hours; /* given back, at most */
    double cost, priced_gpu_hours;
    pace_name user; /* who has most of them; 0 = not said */
    double user_gpu_hours;
} pace_usage_change;

typedef struct {
    pace_usage_change items[PACE_USAGE_CHANGES]; /* most GPU-hours first; those of none are left out */
    size_t count;
} pace_usage_changes;

/** A run is in one change at most. PACE_E_MEMORY. */
pace_status pace_usage_changes_of(pace_usage_changes *out, const pace_usage *usage, const double *prices,
                                  const pace_usage_rules *rules) PACE_MUST_CHECK;
