/* Host overheads kept apart by the workload they were measured in, so that one can be predicted from the others. */
#pragma once

#include "cost/host_costs.h"

/* One configuration of one model, measured as a whole. */
typedef struct {
    pace_name model;
    double batch;      /* 0 = unknown */
    double parameters; /* tensors that the optimizer's step visits: gradients accumulated per step; 0 = unknown */
} pace_host_workload;

/* The overhead of one operator (or call, or of none in particular: 0) in one workload. */
typedef struct {
    pace_name op;
    uint32_t workload;
    pace_overhead_type type;
    pace_host_cost figure;
} pace_host_sample;

typedef struct {
    pace_names names; /* models and operators */
    PACE_VEC(pace_host_workload) workloads;
    PACE_VEC(pace_host_sample) items; /* once finished: by type and operator, each in order of addition */
} pace_host_samples;

pace_status pace_host_samples_init(pace_host_samples *samples) PACE_MUST_CHECK;
void pace_host_samples_free(pace_host_samples *samples);

/** Adds a figure to the workload (model, batch), pooled with what it has of the same operator and type. */
pace_status pace_host_samples_add(pace_host_samples *samples, const char *model, double batch, pace_overhead_type type,
                                  const char *op, pace_host_cost figure) PACE_MUST_CHECK;

/** Sorts, and counts each workload's parameters. Call once all is added. */
void pace_host_samples_finish(pace_host_samples *samples);
