/* The ledger of figures of merit: lines of text, by case and metric. docs/accuracy.md describes its columns. */
#pragma once

#include "ask/validate/cases.h"

typedef enum {
    PACE_LEDGER_CASE,
    PACE_LEDGER_SOURCE,
    PACE_LEDGER_SPLIT,
    PACE_LEDGER_METRIC,
    PACE_LEDGER_UNIT,
    PACE_LEDGER_ROWS,
    PACE_LEDGER_VALUE,
    PACE_LEDGER_BAR,
    PACE_LEDGER_HOLDS,
    PACE_LEDGER_NOTE,
    PACE_LEDGER_COLUMNS
} pace_ledger_column;

typedef struct {
    char *cell[PACE_LEDGER_COLUMNS];
} pace_ledger_line;

typedef struct {
    PACE_VEC(pace_ledger_line) lines;
} pace_ledger;

void pace_ledger_free(pace_ledger *ledger);

/** Copies the cells; NULL = "". */
pace_status pace_ledger_add(pace_ledger *ledger, const char *const cells[PACE_LEDGER_COLUMNS]) PACE_MUST_CHECK;

/** The place of a case's first line, or of its line of a metric; the count of lines = none. */
size_t pace_ledger_find(const pace_ledger *ledger, const char *name, const char *metric);

/** Errors: PACE_E_IO, PACE_E_INPUT for what is no ledger. */
pace_status pace_ledger_read(pace_ledger *out, const char *path) PACE_MUST_CHECK;

/** Whether `path` (NULL = none) is a ledger, or not there yet: before hours are spent on its lines. Errors: those of
 * pace_ledger_read(). */
pace_status pace_ledger_check(const char *path) PACE_MUST_CHECK;

/** Puts fresh lines into the ledger `path`, which may not be there yet: every line keeps its place, those of a fresh
 * case that has not their metric any more go, new ones follow. */
pace_status pace_ledger_update(const char *path, const pace_ledger *fresh) PACE_MUST_CHECK;

/* What became of a figure. */
typedef enum {
    PACE_FIGURE_NEW,    /* the ledger does not have it */
    PACE_FIGURE_KEPT,   /* as in the ledger, but for rounding */
    PACE_FIGURE_BETTER, /* nearer to what the bar asks for */
    PACE_FIGURE_MOVED,  /* neither better nor worse: within a bar of two ends */
    PACE_FIGURE_WORSE,  /* further from it, or the bar held before */
} pace_figure_change;

/** How a figure has changed against the line that the ledger has of it. */
pace_figure_change pace_ledger_change(const pace_ledger *ledger, const char *name, const pace_bar *bar, double value);
