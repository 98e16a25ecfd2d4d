/*
 * The document of `paceline predict --rows`, whatever is asked: the rows of a table given back, each with its own cells
 * and then those of the answer. A column of the table that is named like one of the answer's is replaced. Private to
 * report/.
 */
#ifndef PACE_REPORT_ANSWERED_ROWS_H
#define PACE_REPORT_ANSWERED_ROWS_H

#include "base/estimate.h"
#include "report/report.h"
#include "ask/csv.h"
#include "ask/held_out.h"

/* How every answer begins; what comes behind differs by kind. */
#define PACE_ANSWERED_TIME                                                                                        \
    {"predicted", "predicted", PACE_SHOW_REAL}, {"low", "low", PACE_SHOW_REAL}, {"high", "high", PACE_SHOW_REAL}, \
        {"unit", "unit", PACE_SHOW_TEXT}, {                                                                       \
        "rung", "rung", PACE_SHOW_TEXT                                                                            \
    }
#define PACE_ANSWERED_STATUS \
    { "status", "status", PACE_SHOW_TEXT }

typedef struct {
    pace_node *table;
    const pace_csv *csv;        /* borrowed */
    const pace_column *columns; /* of the answer; borrowed */
    size_t count;
    size_t asked, answered;
} pace_answered_rows;

/** An empty report of rows; `name` and `bytes` are the table's. */
pace_status pace_answered_report(pace_report **out, const pace_rows_options *options, const char *name,
                                 uint64_t bytes) PACE_MUST_CHECK;

pace_status pace_answered_begin(pace_answered_rows *out, pace_report *report, const pace_csv *csv,
                                const pace_column *columns, size_t count) PACE_MUST_CHECK;

/** Begins the answer to row `row` of the table: its own cells. */
void pace_answered_row(pace_answered_rows *rows, size_t row);

/** The cells of PACE_ANSWERED_TIME. `values` is {predicted, low, high} in `unit`, or NULL when there is no answer. */
void pace_answered_time(pace_answered_rows *rows, const double values[3], const char *unit, pace_rung rung);

/** {median, low, high} of a time in units of `unit_s`. */
void pace_answered_values(double values[3], pace_estimate time_s, double unit_s);

/** How many were answered, with a warning when some were not. */
pace_status pace_answered_end(const pace_answered_rows *rows, pace_report *report) PACE_MUST_CHECK;

/** The table "score": the error of a fit on rows that it did not see. */
void pace_answered_held_out(pace_node *root, const pace_held_out *score);

#endif
