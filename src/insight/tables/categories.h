/*
 * Device time by what is computed: matrix products, attention, data movement, … An operator whose shapes are known says
 * it (the family of its pace_op), with all kernels that it launched; else the kernel's name does
 * (catalog/kernels.yaml).
 */
#pragma once

#include "insight/tables/operators.h"

typedef struct {
    const char *name; /* "gemm", "attention", "communication", …, "unknown"; lives as long as the kernel classes */
    size_t kernels;   /* pieces of work */
    int64_t time_ns, compute_bound_ns, memory_bound_ns;
    double flop, bytes, modelled_ns; /* of calls whose shapes are known, and the device time of those */
    double roofline_s;               /* their time at the device's roofline; 0 = unknown */
} pace_category_row;

typedef PACE_VEC(pace_category_row) pace_category_rows;

/** Most time first (ties by name). */
pace_status pace_categories_sum(pace_category_rows *out, const pace_rank *rank, const pace_kernel_classes *classes,
                                const pace_work_choice *choice) PACE_MUST_CHECK;
