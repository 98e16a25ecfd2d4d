/* Columns of tables that people and programs see. */
#pragma once

/* How a value is shown to people; in JSON, CSV the plain number with the unit in its key. */
typedef enum {
    PACE_SHOW_TEXT,
    PACE_SHOW_WORD, /* one of a closed list, shown as words: "idle_host" as "idle: host" */
    PACE_SHOW_INT,
    PACE_SHOW_NS, /* int64 nanoseconds, shown as ns / µs / ms / s */
    PACE_SHOW_S,  /* double seconds, shown the same way */
    PACE_SHOW_REAL,
    PACE_SHOW_COUNT, /* double; a whole number is shown without decimals */
    PACE_SHOW_SHARE, /* double 0…1, shown as a percentage */
    PACE_SHOW_BYTES, /* double, decimal units */
    PACE_SHOW_RATE,  /* double per second, shown with G/T prefixes */
} pace_show;

typedef struct {
    const char *key;   /* JSON and CSV name, unit included: "duration_ns" */
    const char *title; /* column heading for people; NULL = JSON and CSV only */
    pace_show show;
} pace_column;

/** Columns and how many they are, of an array. */
#define PACE_COLUMNS(columns) (columns), sizeof(columns) / sizeof *(columns)
