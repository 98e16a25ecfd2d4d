/*
 * How the host puts work on the device. Holistic Trace Analysis names the same figures:
 *
 *   call     the runtime call that launches something
 *   delay    from the end of that call to the start of the work; 0 where the work starts before the call returns
 *   queue    work of a stream that was launched (its call began) and has not begun
 */
#pragma once

#include "insight/tables/distribution.h"
#include "insight/tables/operators.h"
#include "machine/catalog.h"

/* catalog/launches.yaml */
typedef struct {
    int64_t short_work_ns, long_call_ns, long_delay_ns;
    int full_queue;
} pace_launch_limits;

pace_status pace_launch_limits_load(pace_launch_limits *out, pace_catalog *catalog) PACE_MUST_CHECK;

typedef struct {
    pace_name call;           /* "cudaLaunchKernel"; 0 = all calls */
    pace_distribution calls;  /* of the calls themselves, each once */
    size_t long_calls;        /* above long_call */
    pace_distribution delays; /* one a piece of work */
    size_t long_delays;       /* above long_delay */
    size_t short_work;        /* pieces shorter than short_work */
    int64_t short_work_ns;    /* their time */
    size_t below_call;        /* pieces shorter than the call that launched them */
} pace_launch_row;

typedef PACE_VEC(pace_launch_row) pace_launch_rows;

/** By runtime call, that with the longest calls in sum first, before them a row of all; no row without a device. */
pace_status pace_launches_measure(pace_launch_rows *out, const pace_rank *rank, const pace_work_choice *choice,
                                  const pace_launch_limits *limits) PACE_MUST_CHECK;
