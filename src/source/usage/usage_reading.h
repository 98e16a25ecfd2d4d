/* What came of reading a file of cluster records, and who takes its rows. */
#pragma once

#include "source/usage/usage_mapping.h"

enum { PACE_USAGE_REASON = 512 };

typedef struct {
    const pace_usage_mapping *mapping;
    char separator; /* of the file's lines */
    uint64_t rows, taken, skipped, refused;
    pace_date_order dates_told;      /* unless given, by a date of the file that can be of one order only */
    uint64_t bytes;                  /* as stored */
    uint64_t unitless;               /* rows with a duration of unknown unit */
    char doubt[PACE_USAGE_REASON];   /* whether counters are in the unit that their name says; "" = there is none */
    uint64_t unknown_metrics;        /* values of counters that the mapping does not know */
    char unknown_metric[64];         /* the first; "" = it has no name */
    uint64_t in_parts;               /* rows of which `parts` says more than one */
    char parts[64];                  /* such a column, which is not read; "" = none is there */
    char columns[PACE_USAGE_REASON]; /* of a loosely spelled header: which is which field, and which is none */
    char reason[PACE_USAGE_REASON];  /* of the first that was refused: "file:line: …" */
    char caution[PACE_USAGE_REASON]; /* what the source says against its answer; "" = nothing */
    char cut_off[PACE_USAGE_REASON]; /* where the file breaks off; "" = it does not */
} pace_usage_reading;

/** Takes a row, valid during the call. */
typedef pace_status (*pace_usage_take_fn)(void *context, const pace_usage_mapping *mapping, const pace_usage_row *row);
