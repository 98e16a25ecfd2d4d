/*
 * The walk of Lin et al., "Building a Performance Model for Deep Learning Recommendation Model Training on GPUs"
 * (HiPC 2022), §E2E: one clock for the host, one for the device, moved operator by operator in the order of issue.
 *
 * It is kept as the paper has it, to hold our own walk (walk.h) against: one host thread, one stream, operators known
 * by name only. Times are nanoseconds in double.
 */
#ifndef PACE_SCHEDULE_OPERATOR_WALK_H
#define PACE_SCHEDULE_OPERATOR_WALK_H

#include "cost/host_costs.h"

typedef struct {
    const char *name;
    const double *kernel_ns; /* its kernels in order of launch; NULL = the operator's kernels are not modelled */
    uint32_t kernel_count;
    bool waits;  /* the host waits for the device at its end (a blocking copy) */
    bool whole;  /* of 2021: an optimizer, T2 + T3 + T5 (n - 1) once more in place of its calls */
    bool silent; /* launches nothing, whatever the list of calls says */
} pace_walk_operator;

typedef struct {
    double kernel_extra_ns;  /* added to every kernel: 4 us in the paper, 5 us in its successor */
    double between_ns;       /* between kernels that follow at once: 1 us */
    double launch_share;     /* of T4 after which a kernel may start: 1 in the paper, 0.5 in 2021 */
    double t3_of_waiting_ns; /* T3 of an operator that waits; < 0 = its own */
} pace_operator_walk_options;

typedef struct {
    double host_ns, device_ns; /* the two clocks at the end */
    double active_ns;          /* kernels and their extra */
    double end_ns;             /* the later clock */
} pace_operator_walk_result;

/** Walks `count` operators. `host_ns_after` (may be NULL) receives the host clock after each. */
pace_operator_walk_result pace_operator_walk(const pace_walk_operator *operators, size_t count,
                                             const pace_host_costs *costs, const pace_operator_walk_options *options,
                                             double *host_ns_after);

#endif
