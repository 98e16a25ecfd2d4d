/* Kernels by name: how long their calls take, and how they were launched. Without a device operators stand for kernels,
 * by self time. */
#pragma once

#include "insight/tables/distribution.h"
#include "insight/tables/operators.h"

typedef struct {
    pace_name name; /* of the rank's step */
    pace_distribution calls;
    pace_name launch;       /* the launch with most time (launch_shape.h); 0 = none recorded */
    size_t launches;        /* how many different ones */
    double occupancy;       /* mean over the time of calls whose estimate is known; NAN = of none */
    double occupancy_known; /* share of the time that it is known for */
} pace_kernel_row;

typedef PACE_VEC(pace_kernel_row) pace_kernel_rows;

/** One row a name, most time first (ties by name). PACE_E_USAGE for a bad expression in `choice`. */
pace_status pace_kernel_stats(pace_kernel_rows *out, const pace_rank *rank,
                              const pace_work_choice *choice) PACE_MUST_CHECK;
