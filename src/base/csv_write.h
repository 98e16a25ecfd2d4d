/* Tables as text: comma-separated values. */
#pragma once

#include "base/texts.h"

/** Writes a table: cells, each in quotes and with a comma behind it, and the end of a line of them. */
pace_status pace_csv_put_cell(pace_text *out, const char *cell) PACE_MUST_CHECK;
void pace_csv_end_line(pace_text *out);
