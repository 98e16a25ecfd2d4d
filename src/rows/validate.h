/* One case recomputed: rows held out, the others fitted, the held-out ones predicted and scored. */
#ifndef PACE_ROWS_VALIDATE_H
#define PACE_ROWS_VALIDATE_H

#include "rows/cases.h"
#include "rows/fit_rows.h"
#include "rows/score.h"

/** The score of a case over all its folds, data files under `folder`. Errors: PACE_E_IO when a file is not there. */
pace_status pace_validate_case(pace_score *out, const pace_case *one, const pace_device_catalog *catalog,
                               const char *folder) PACE_MUST_CHECK;

/** The figure of a metric. */
double pace_score_metric(const pace_score *score, const char *metric);

#endif
