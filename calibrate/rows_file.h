/*
 * The table of measured rows: one line a point, appended whole by one write, so that a run that is killed loses the
 * point it was at and nothing else. A run that goes on keeps what is there and measures the rest.
 */
#pragma once

#include "base/intern.h"
#include "measure.h"

typedef struct {
    const char *device, *host, *software, *date; /* no commas, quotes or line breaks: pace_rows_clean() */
    const char *source, *clock;                  /* who measured, by what clock: "wall", "thread", "device" */
    int threads;
} pace_row_origin;

/* A row as it stands in the table. */
typedef struct {
    pace_point point;
    pace_name source;
    double median_s, best_s, spread;
    int threads;
} pace_measured_row;

typedef struct {
    int file; /* -1 = none */
    char *path;
    pace_names names;                 /* texts of rows */
    PACE_VEC(pace_measured_row) rows; /* of this device, old and new */
    PACE_VEC(uint32_t) row_of_name;   /* name of a key -> row + 1 */
    size_t kept, torn_bytes;          /* rows found in the file; bytes of a last line that was cut off and dropped */
} pace_rows_file;

/** Opens or makes the table at `path` (NULL: rows are kept in memory alone) and reads the rows of `device`. A last line
 * without its line break is dropped. Errors: PACE_E_IO; PACE_E_INPUT for a file that is no table of calibrate, or one
 * with a malformed row (with its line). A file that is no table is left as it is. */
pace_status pace_rows_file_open(pace_rows_file *out, const char *path, const char *device) PACE_MUST_CHECK;
void pace_rows_file_close(pace_rows_file *rows);

/** The row of a point by that source and number of threads, NULL when there is none; borrowed until the next is added.
 */
const pace_measured_row *pace_rows_file_find(const pace_rows_file *rows, const pace_point *point, const char *source,
                                             int threads);

pace_status pace_rows_file_add(pace_rows_file *rows, const pace_point *point, const pace_row_origin *origin,
                               const pace_point_time *measurement) PACE_MUST_CHECK;

/** Makes a text fit for a cell: commas, quotes, backslashes, controls become spaces or semicolons. */
void pace_rows_clean(char *text);
