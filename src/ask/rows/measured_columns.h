/* Which columns of a table were measured: times, or rates where no time is (catalog/columns.yaml, kernel.measured). */
#pragma once

#include "ask/rows/columns.h"

/** Fills measured[] in: the best column of each pass, in the table's order. */
pace_status pace_measured_find(pace_columns *columns, const pace_csv *csv) PACE_MUST_CHECK;

/** Whether nothing but bytes a second was measured. */
bool pace_measured_tells_bytes(const pace_columns *columns);

/** Whether a measured column's own name says the operation, a copy over a link. */
bool pace_measured_links(const pace_columns *columns);
