/* One cell of a measured column, read alike in tables of all kinds. */
#pragma once

#include "base/yaml.h"

#include <stddef.h>

enum { PACE_CELL_FAULT = 96 };

typedef enum {
    PACE_CELL_MEASURED,
    PACE_CELL_SILENT, /* "", "nan", "n/a", "OOM": nothing was measured */
    PACE_CELL_REFUSED
} pace_measured_cell;

/** Whether a cell says that nothing was measured. */
bool pace_measured_cell_is_silent(const char *text);

/** A time in seconds: a number above 0 in the column's unit, `unit_s` seconds, or in a unit behind it ("12.3us").
 * "1,234.5" and "4.2 (8)" are numbers. `columns` is catalog/columns.yaml. */
pace_measured_cell pace_measured_time(double *out_s, const pace_yaml *columns, const char *text, double unit_s);

/** A number above 0 of a column of rates, in the column's unit. */
pace_measured_cell pace_measured_rate(double *out, const char *text);

/** Says why a cell was refused: column, what was expected, what was found. */
void pace_measured_refuse(char out[PACE_CELL_FAULT], const char *column, bool rate, const char *text);

/** Seconds in a unit of time; 0 when the word is none. */
double pace_time_unit(const pace_yaml *columns, const char *word);
