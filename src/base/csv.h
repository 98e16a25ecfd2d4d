/*
 * A table of text with a header line: comma-separated values (RFC 4180: quotes, doubled quotes, line breaks within
 * quotes), plain, gzip or zstd, read in one pass. Lines that start with '#' before the header are comments.
 * Where the header has semicolons or tabs before any comma, these separate. A header that starts with a bar is that of
 * a Markdown table: bars separate, and cells are given without blanks, asterisks and backticks around them; so is one
 * with bars above a line of dashes and bars. Where nothing separates a header of several words, and the first row has
 * as many, or its number before as many, blanks do (csv_form.h). Lists of records in JSON and YAML are tables, too
 * (csv_records.h).
 */
#pragma once

#include "base/csv_write.h"
#include "base/input.h"
#include "base/memory.h"
#include "base/texts.h"

typedef struct {
    char *name;               /* for messages */
    PACE_VEC(char) text;      /* all cells, NUL-terminated */
    PACE_VEC(size_t) cells;   /* offsets into text: the header's, then row by row */
    PACE_VEC(uint32_t) lines; /* of the file, by row */
    size_t columns, rows;
    bool *looked;   /* by column: at a cell of it; NULL = nobody counts */
    uint64_t bytes; /* as stored */
} pace_csv;

/** Errors: PACE_E_INPUT for an empty file, a row with more or fewer cells than the header (line number), a quote left
 * open, a NUL byte, a name that two columns have. */
pace_status pace_csv_read(pace_csv *out, pace_input *input) PACE_MUST_CHECK;
pace_status pace_csv_open(pace_csv *out, const char *path) PACE_MUST_CHECK;
void pace_csv_free(pace_csv *csv);

static inline const char *pace_csv_name(const pace_csv *csv, size_t column) {
    return csv->text.items + csv->cells.items[column];
}

static inline const char *pace_csv_cell(const pace_csv *csv, size_t row, size_t column) {
    if (csv->looked) csv->looked[column] = true;
    return csv->text.items + csv->cells.items[(row + 1) * csv->columns + column];
}

/** The same of a column that may not be there, -1: "". */
static inline const char *pace_csv_at(const pace_csv *csv, size_t row, int column) {
    return column < 0 ? "" : pace_csv_cell(csv, row, (size_t)column);
}

/** The column of this name; of this name whatever its case, which need not end at `length`. -1 = none. */
int pace_csv_find(const pace_csv *csv, const char *name);
int pace_csv_find_any_case(const pace_csv *csv, const char *name, size_t length);

/** What a message says of a column that a table lacks: "; the closest name is ...", or all that it has. */
void pace_csv_instead(char *out, size_t size, const pace_csv *csv, const char *name);

/** A cell as a number; false when it is not one, whole and finite. */
bool pace_csv_number(double *out, const char *cell);

/** Gives a table that was written to a reader, under a name for messages. Errors: those of `read`. */
pace_status pace_csv_read_written(const pace_text *text, const char *name,
                                  pace_status (*read)(void *context, pace_input *input), void *context) PACE_MUST_CHECK;
