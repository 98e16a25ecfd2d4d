/* Copies and fills of device memory by kind, as the profiler names them: "Memcpy HtoD (Pinned -> Device)". */
#pragma once

#include "insight/tables/distribution.h"
#include "insight/tables/operators.h"

typedef struct {
    pace_name name;
    pace_distribution calls;
    size_t sized;            /* copies whose bytes are known */
    double bytes;            /* of those */
    double bytes_per_s;      /* of those, all together; NAN = unknown */
    double best_bytes_per_s; /* of the largest copy (the first of equals) */
    double largest_bytes;
} pace_copy_row;

typedef PACE_VEC(pace_copy_row) pace_copy_rows;

/** Most time first. */
pace_status pace_copies_measure(pace_copy_rows *out, const pace_rank *rank,
                                const pace_work_choice *choice) PACE_MUST_CHECK;
