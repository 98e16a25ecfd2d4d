/* What exchanges that run beside kernels cost these: the same kernel's durations with an exchange beside it and
 * without. */
#pragma once

#include "insight/rank.h"

typedef struct {
    size_t kernels;            /* that run beside exchanges, and whose like also runs alone */
    int64_t time_ns, alone_ns; /* what these take, and would take by the median of their like alone */
    int64_t
        unmatched_ns; /* of kernels beside exchanges that cannot be compared: none alone, these differ, or too short */
    int64_t steps_ns; /* of what was looked at: the steps, or the whole trace */
    double slowdown;  /* how many times as long as alone they take; NAN = none can be compared */
    bool matters; /* a tenth longer and, if those that cannot be compared take longer too, a hundredth of the steps */
    const char *worst; /* the name that loses most time; borrowed; NULL = none does */
    int64_t worst_ns;  /* what it loses */
} pace_beside_exchanges;

/** Kernels are alike if name, launch and the shapes of their operator are equal, and if those alone differ little; a
 * kernel runs beside exchanges if these cover half of it, and alone if they cover none of it. All zero without
 * overlap. */
pace_status pace_beside_exchanges_find(pace_beside_exchanges *out, const pace_rank *rank) PACE_MUST_CHECK;
