/* Rows of tables that a fit leaves out, and the one way in which all fits say it. */
#pragma once

#include "ask/findings.h"
#include "base/csv.h"

typedef struct {
    size_t rows;
    char first[320]; /* "FILE:LINE: REASON"; "" = no row was left out */
} pace_left_out;

/** Counts a row of `csv`; `name` is the file's, for logs whose rows have no line. */
void pace_left_out_add(pace_left_out *left_out, const pace_csv *csv, const char *name, size_t row, const char *why);

/** Warns of the rows that were left out, if any. */
void pace_found_left_out(pace_findings *findings, const pace_left_out *left_out);

/** What a plural noun ends with: "" for one, else "s". */
static inline const char *pace_plural(size_t count) { return count == 1 ? "" : "s"; }
