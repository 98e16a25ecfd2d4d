/* The cells of a row as fields, by a mapping. */
#pragma once

#include "source/usage/usage_mapping.h"

/* What a file's values of a counter were like. */
typedef struct {
    double largest;  /* as it stands there, of those that can be */
    bool parted;     /* one is no whole number */
    uint64_t beyond; /* those that cannot be, but could in another unit */
} pace_usage_metric_seen;

/* Which of a file's cells each field and metric is. */
typedef struct {
    const pace_usage_mapping *mapping;
    pace_date_order dates;          /* of the file, once they are said or told by one */
    int field[PACE_USAGE_FIELDS];   /* -1 = not there */
    double unit[PACE_USAGE_FIELDS]; /* what one of a field's cells is in the field's unit */
    int metric[PACE_USAGE_METRICS];
    pace_usage_metric_seen seen[PACE_USAGE_METRICS];
    uint64_t unknown_metrics; /* values of counters that the mapping does not know */
    char unknown_metric[64];  /* the first */
    bool unitless;            /* the header says no unit of durations, which may be of any */
    int skip;
} pace_usage_binding;

/** The share of a GPU that one of a model is: less than 1 of a slice (MIG), by how many slices a GPU has. */
double pace_usage_share(pace_usage_text model, const pace_yaml_node *slices);

enum { PACE_USAGE_WHY = 192 };

typedef enum { PACE_ROW_TAKEN, PACE_ROW_SKIPPED, PACE_ROW_REFUSED } pace_usage_verdict;

/** Reads a row; of one that is refused `why` says why. Texts are borrowed from the cells. Linear in the cells. */
pace_usage_verdict pace_usage_row_read(pace_usage_row *out, char why[PACE_USAGE_WHY], pace_usage_binding *binding,
                                       const pace_usage_text *cells);

/** The order that dates of a row tell; `*either`: they tell none, and one is of either order. */
pace_date_order pace_usage_row_dates(bool *either, const pace_usage_binding *binding, const pace_usage_text *cells);

/** Makes a row that was read one of the GPU whose counter is a column of its own; false = the metric is none of these,
 * or has no value here. */
bool pace_usage_row_of_device(pace_usage_row *row, pace_usage_binding *binding, size_t metric,
                              const pace_usage_text *cells);
