/*
 * What a question found, as data: figures by name, tables by column, sentences. Reports show it, `validate` reads it.
 *
 * All text but column keys and titles is copied. Adding never fails visibly: the first failure (out of memory) is kept
 * for pace_findings_status(). A figure's name may be a path, "by_type.t2.pairs": paths are for programs, not for
 * people.
 */
#pragma once

#include "base/column.h"
#include "base/warning.h"

#include <stdbool.h>

typedef enum {
    PACE_FOUND_INT,
    PACE_FOUND_REAL,
    PACE_FOUND_TEXT,
    PACE_FOUND_ANSWER,  /* the sentence that leads */
    PACE_FOUND_NOTE,    /* a definition or caveat */
    PACE_FOUND_WARNING, /* something the reader must know */
    PACE_FOUND_TABLE
} pace_found_kind;

typedef struct {
    const char *text; /* NULL: a number */
    double number;    /* NAN: none */
} pace_found_cell;

/* Either a figure, a text or a table. */
typedef struct {
    pace_found_kind kind;
    char *key;              /* "" for sentences, notes and warnings */
    char *text;             /* of texts; the title of a table; may be NULL */
    pace_warning_code code; /* of a warning */
    double number;
    const pace_column *columns; /* of a table */
    size_t column_count;
    bool for_programs;               /* a table that people need not see */
    PACE_VEC(pace_found_cell) cells; /* row by row; texts are owned */
} pace_found;

typedef struct {
    PACE_VEC(pace_found) items;
    pace_status status;
} pace_findings;

void pace_findings_free(pace_findings *findings);
pace_status pace_findings_status(const pace_findings *findings);

void pace_found_int(pace_findings *findings, const char *key, size_t value);
void pace_found_real(pace_findings *findings, const char *key, double value);
void pace_found_text(pace_findings *findings, const char *key, const char *value); /* NULL: not said */
void pace_found_say(pace_findings *findings, pace_found_kind kind, const char *format, ...) PACE_PRINTF(3, 4);
void pace_found_warn(pace_findings *findings, pace_warning_code code, const char *format, ...) PACE_PRINTF(3, 4);

/** Begins a table; its cells follow, one per column, row by row. */
void pace_found_table(pace_findings *findings, const char *key, const char *title, const pace_column *columns,
                      size_t column_count);
void pace_found_table_for_programs(pace_findings *findings, const char *key, const char *title,
                                   const pace_column *columns, size_t column_count);
/** Cells of the last table. NAN: there is no number. */
void pace_found_cell_text(pace_findings *findings, const char *text);
void pace_found_cell_number(pace_findings *findings, double number);
void pace_found_cell_numbers(pace_findings *findings, const double *numbers, size_t count);
#define PACE_FOUND_NUMBERS(findings, ...)                              \
    pace_found_cell_numbers((findings), (const double[]){__VA_ARGS__}, \
                            sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

/** The figure of this name, or NULL. */
const pace_found *pace_findings_find(const pace_findings *findings, const char *key);
size_t pace_found_rows(const pace_found *table);
/** The column of this key, -1 = none. */
int pace_found_column_of(const pace_found *table, const char *key);
static inline const pace_found_cell *pace_found_at(const pace_found *table, size_t row, int column) {
    return &table->cells.items[row * table->column_count + (size_t)column];
}
