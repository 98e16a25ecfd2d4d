/* The reports of rows of one kind. Private to report/. */
#pragma once

#include "ask/rows/row_kind.h"
#include "report/report.h"

/** As pace_predict_rows() and pace_fit() of a table of this kind, whatever `options` says of the kind. */
pace_status pace_predict_rows_of_kind(pace_report **out, const pace_row_kind *kind, const char *path,
                                      const pace_rows_options *options) PACE_MUST_CHECK;
pace_status pace_fit_rows_of_kind(pace_report **out, const pace_row_kind *kind, const char *const *paths, size_t count,
                                  const pace_rows_options *options) PACE_MUST_CHECK;

/** Says which kind of rows a table's columns told: a warning, or words before the message of a failure. */
void pace_say_kind_assumed(pace_report *report, pace_status status, const pace_row_kind *kind);
