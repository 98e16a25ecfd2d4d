/* Columns of times whose name ends in their unit: "mean_us", "profiled_ms". */
#pragma once

#include "ask/csv.h"

/** The column `stem`_ns, _us, _ms or _s, the first there is, and what one of its unit is in ns; -1 = none. */
int pace_csv_find_time(double *unit_ns, const pace_csv *csv, const char *stem);

/** A cell as a number of at least 0; an empty one, or one of column -1, is `fallback` unless that is NAN. PACE_E_INPUT
 * with file, line, column and what was found. */
pace_status pace_csv_figure(double *out, const pace_csv *csv, size_t row, int column, double fallback) PACE_MUST_CHECK;
