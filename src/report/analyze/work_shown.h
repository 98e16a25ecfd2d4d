/* The work that tables of operators, kernels and modules are about: chosen steps, a stage, or all; and its name. */
#pragma once

#include "insight/analyze_options.h"
#include "insight/tables/operators.h"
#include "report/table.h"

typedef struct {
    pace_work_choice work;
    int64_t host_from_ns, host_to_ns; /* the same of the host: annotations of the chosen steps, or all */
    int64_t total_ns;                 /* of all of it, whether rows of its names are shown or not */
    bool steps;                       /* the work of chosen steps alone */
    char name[96];
} pace_work_shown;

/** PACE_E_USAGE for a stage that there is not. */
pace_status pace_work_shown_of(pace_work_shown *out, const pace_rank *rank,
                               const pace_analyze_options *options) PACE_MUST_CHECK;

/** Opens a declared table whose title names the work, too. */
pace_node *pace_work_table(pace_node *root, const pace_table *declared, unsigned flags, const pace_work_shown *shown);
