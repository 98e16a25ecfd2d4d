/*
 * The columns of a table by the names that a section of catalog/columns.yaml lists for them. A kind of table says which
 * columns it needs and which may be there; which names they go by stands in the catalogue alone.
 */
#pragma once

#include "base/csv.h"
#include "machine/catalog.h"

/* A column that is asked for. Zero what does not apply. */
typedef struct {
    const char *key; /* of the section */
    int *column;     /* -1 = not there */
    double
        *unit_s; /* a time whose name ends in its unit ("mean_us"): what one of the unit is in seconds; NULL = none */
    bool needed;
    const char *or_field; /* of the question, which would do as well; NULL = none */
} pace_wanted_column;

/** Finds columns. Errors: PACE_E_INPUT for a needed one that is not there, with the closest name that is. */
pace_status pace_wanted_columns_find(pace_catalog *catalog, const char *section, const pace_csv *csv,
                                     const pace_wanted_column *wanted, size_t count) PACE_MUST_CHECK;

/** A cell as a number of at least 0; an empty one, or one of column -1, is `fallback` unless that is NAN. PACE_E_INPUT
 * with file, line, column and what was found. */
pace_status pace_csv_figure(double *out, const pace_csv *csv, size_t row, int column, double fallback) PACE_MUST_CHECK;
