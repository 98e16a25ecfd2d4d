/* One case recomputed: rows held out, others fitted, the held-out ones predicted and scored, whatever their kind. */
#pragma once

#include "ask/validate/cases.h"
#include "ask/rows/row_kind.h"
#include "ask/rows/score.h"

/* One row that was held out: times, rates, or what else was held against each other. */
typedef struct {
    double predicted, measured;
    uint64_t group; /* of rows that are compared with each other */
    bool within;    /* the interval, or what may lie between the two */
    bool unfit;     /* told that it does not fit into memory */
} pace_case_row;

/* What a case came to. */
typedef struct {
    pace_score score;
    PACE_VEC(pace_case_row) rows;
    pace_findings findings; /* of a case about what a fit finds */
} pace_case_score;

/** The score of a case over all its folds, data files under `folder`. Errors: PACE_E_IO when a file is not there,
 * PACE_E_INPUT when no row is held out. */
pace_status pace_validate_case(pace_case_score *out, pace_context *context, const pace_case *one,
                               const pace_row_kinds *kinds, const char *folder) PACE_MUST_CHECK;

/** Adds one figure and what it is held against. */
pace_status pace_case_score_add(pace_case_score *score, pace_case_row row) PACE_MUST_CHECK;
void pace_case_score_free(pace_case_score *score);

/** The figure of a metric, and of how many rows, curves or pairs it is. PACE_E_INPUT for a metric the case does not
 * have (case_metric.c). */
pace_status pace_case_metric(double *out, size_t *count, const pace_case_score *score, const pace_case *one,
                             const char *metric) PACE_MUST_CHECK;
