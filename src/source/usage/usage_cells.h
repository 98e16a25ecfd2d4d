/* A line of separated values as cells. */
#pragma once

#include "source/usage/usage_fields.h"

enum { PACE_USAGE_MOST_CELLS = 512 };

typedef struct {
    size_t count; /* of the line; those beyond PACE_USAGE_MOST_CELLS are counted only */
    pace_usage_text cells[PACE_USAGE_MOST_CELLS];
} pace_usage_cells;

/** Splits a line without its break. Cells in quotes (RFC 4180) lose them, in place; where '|' separates, quotes are
 * characters like others. An empty cell behind a last separator counts. */
void pace_usage_split(pace_usage_cells *out, char *line, size_t length, char separator);

/** The first line's end, and the place behind its break; with `end` for one that has none. */
char *pace_usage_line_end(char **next, char *line, char *end);
