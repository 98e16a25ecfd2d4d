/* One case recomputed: rows held out, the others fitted, the held-out ones predicted and scored. */
#ifndef PACE_ASK_VALIDATE_H
#define PACE_ASK_VALIDATE_H

#include "ask/cases.h"
#include "ask/fit_rows.h"
#include "ask/score.h"

/** The score of a case over all its folds, data files under `folder`. Errors: PACE_E_IO when a file is not there. */
pace_status pace_validate_case(pace_score *out, const pace_case *one, const pace_device_catalog *catalog,
                               const char *folder) PACE_MUST_CHECK;

/** The same for a case of kind "step" (validate_steps.c). */
pace_status pace_validate_steps(pace_score *out, const pace_case *one, const char *folder) PACE_MUST_CHECK;

/** Whether the row's cells start with one of the words of each column; NULL or empty `where`: yes. PACE_E_INPUT for a
 * column that is not there. */
pace_status pace_case_matches(bool *out, const pace_csv *csv, size_t row, const pace_yaml_node *where) PACE_MUST_CHECK;
/** Spreads the bits of a hash, so that a remainder or a share of groups is even; 53 bits. */
uint64_t pace_case_spread_bits(uint64_t x);

/** The figure of a metric. */
double pace_score_metric(const pace_score *score, const char *metric);

#endif
