/*
 * Tables declared once: each column stands in one line with the place its cell comes from, so that the two cannot
 * drift.
 *
 *     PACE_TABLE(idle_causes, "idle_causes", "Why the device was idle", PACE_FOR_ALL, 0,
 *                {"cause", "cause", PACE_SHOW_TEXT, PACE_OF(row, cause)},
 *                {"time_ns", "time", PACE_SHOW_NS, PACE_OF(row, time_ns)});
 *     pace_put_table(root, &idle_causes, rows, count, sizeof *rows);
 */
#pragma once

#include "base/estimate.h"
#include "report/report.h"

#include <math.h>
#include <stddef.h>

/* The C type of a row's member. */
typedef enum {
    PACE_MEMBER_NONE, /* no member: the column's function puts the cell */
    PACE_MEMBER_REAL, /* NaN = no value */
    PACE_MEMBER_INT,
    PACE_MEMBER_UINT,
    PACE_MEMBER_INT64, /* PACE_NO_INT = no value */
    PACE_MEMBER_UINT64,
    PACE_MEMBER_BYTE,
    PACE_MEMBER_TEXT,     /* const char *; NULL = no value */
    PACE_MEMBER_CHARS,    /* an array of characters */
    PACE_MEMBER_ESTIMATE, /* in seconds; one of its ends is shown */
} pace_member;

/* What a cell makes of its member. */
typedef enum {
    PACE_AS_IT_IS,
    PACE_AS_KNOWN, /* 0 or less, or an empty text = no value */
    PACE_AS_WHOLE, /* a number, rounded; below 0 or NaN = no value */
    PACE_AS_NS,    /* the same of seconds, in nanoseconds */
    PACE_AS_US,    /* seconds in microseconds, not rounded */
    PACE_AS_LOW_NS,
    PACE_AS_HIGH_NS,
    PACE_AS_LOW_US,
    PACE_AS_HIGH_US,
} pace_conversion;

/* Where a column's cell comes from. */
typedef struct {
    pace_member member;
    pace_conversion as;
    size_t offset;
    const char *const *words;                       /* NULL, or the texts that an integer member numbers */
    void (*put)(pace_node *table, const void *row); /* appends the cell where there is no member */
} pace_cell_source;

enum { PACE_TABLE_COLUMNS = 64 }; /* of one table at most */

/* One column of a declared table; an array of them ends with {0}. */
typedef struct {
    const char *key;   /* JSON and CSV name, unit included: "duration_ns" */
    const char *title; /* column heading for people; NULL = JSON and CSV only */
    pace_show show;
    pace_cell_source cell;
    unsigned only_if;  /* a flag without which the table lacks the column; 0 = it always has it */
    unsigned shown_if; /* a flag without which people do not see the column; 0 = they always do */
} pace_table_column;

typedef struct {
    const char *key, *title;
    pace_audience audience;
    size_t rows_shown;      /* to people; 0 = all */
    bool hidden_when_empty; /* people see the table only if it has rows */
    const pace_table_column *columns;
} pace_table;

/* The columns of a table. */
#define PACE_CELLS(...)                      \
    .columns = (const pace_table_column[]) { \
        __VA_ARGS__, { 0 }                   \
    }
/* Declares a table: its name here, its key and title, who sees it, how many rows people see (0 = all), its columns. */
#define PACE_TABLE(name, key, title, audience, rows_shown, ...) \
    static const pace_table name = {key, title, audience, rows_shown, false, PACE_CELLS(__VA_ARGS__)}
/* The same of a table that people see only if it has rows. */
#define PACE_TABLE_IF_ROWS(name, key, title, audience, rows_shown, ...) \
    static const pace_table name = {key, title, audience, rows_shown, true, PACE_CELLS(__VA_ARGS__)}
/* The cell is a member of the row. A member of a type that no cell can show does not compile. */
#define PACE_OF(type, field) .cell = {.member = PACE_MEMBER_OF(type, field), .offset = offsetof(type, field)}
/* The cell is made of a member, so that a row need not repeat what an answer holds. */
#define PACE_MADE_OF(type, field, conversion) \
    .cell = {.member = PACE_MEMBER_OF(type, field), .as = (conversion), .offset = offsetof(type, field)}
#define PACE_KNOWN_OF(type, field) PACE_MADE_OF(type, field, PACE_AS_KNOWN)
#define PACE_WHOLE_OF(type, field) PACE_MADE_OF(type, field, PACE_AS_WHOLE)
#define PACE_NS_OF(type, field) PACE_MADE_OF(type, field, PACE_AS_NS)
#define PACE_US_OF(type, field) PACE_MADE_OF(type, field, PACE_AS_US)
#define PACE_LOW_NS_OF(type, field) PACE_MADE_OF(type, field, PACE_AS_LOW_NS)
#define PACE_HIGH_NS_OF(type, field) PACE_MADE_OF(type, field, PACE_AS_HIGH_NS)
#define PACE_LOW_US_OF(type, field) PACE_MADE_OF(type, field, PACE_AS_LOW_US)
#define PACE_HIGH_US_OF(type, field) PACE_MADE_OF(type, field, PACE_AS_HIGH_US)
/* The cell is a text of a list, numbered by a member of the row. */
#define PACE_WORD_OF(type, field, list) \
    .cell = {.member = PACE_MEMBER_OF(type, field), .offset = offsetof(type, field), .words = (list)}
/* The cell is put by a function. */
#define PACE_BY(function) .cell = {.put = (function)}

#define PACE_MEMBER_OF(type, field) \
    _Generic(&((type *)0)->field,       \
        double *: PACE_MEMBER_REAL,     \
        int *: PACE_MEMBER_INT,         \
        unsigned *: PACE_MEMBER_UINT,   \
        long *: PACE_MEMBER_INT64,      \
        long long *: PACE_MEMBER_INT64, \
        unsigned long *: PACE_MEMBER_UINT64, \
        unsigned long long *: PACE_MEMBER_UINT64, \
        bool *: PACE_MEMBER_BYTE, \
        unsigned char *: PACE_MEMBER_BYTE, \
        char **: PACE_MEMBER_TEXT,      \
        const char **: PACE_MEMBER_TEXT, \
        const char *const *: PACE_MEMBER_TEXT, \
        pace_estimate *: PACE_MEMBER_ESTIMATE, \
        default: _Generic((((type *)0)->field), char *: PACE_MEMBER_CHARS, default: (void)0))

/** A figure of which 0 or less says that it is not known: NAN then, which a table shows as no value. */
static inline double pace_known(double figure) { return figure > 0 ? figure : NAN; }

/** Opens a declared table to which pace_table_put() appends rows. `flags` are those of its columns that hold. */
pace_node *pace_open_table(pace_node *parent, const pace_table *declared, unsigned flags);
/** The same under another title. */
pace_node *pace_open_table_as(pace_node *parent, const pace_table *declared, unsigned flags, const char *title);
/** Appends a row to an opened table. */
void pace_table_put(pace_node *table, const void *row);
/** A declared table of `count` rows, `size` bytes apart. */
void pace_put_table(pace_node *parent, const pace_table *declared, const void *rows, size_t count, size_t size);
/** A declared table of the rows of a vector. */
#define PACE_PUT_ROWS(parent, declared, vector) \
    pace_put_table((parent), (declared), (vector)->items, (vector)->count, sizeof *(vector)->items)
