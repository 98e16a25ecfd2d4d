/* A sample of Prometheus's text form as cells: `metric{label="text",…} value time`, or with the metric among the labels
 * as `promtool tsdb dump` writes it. */
#pragma once

#include "source/usage/usage_cells.h"
#include "source/usage/usage_mapping.h"

typedef struct {
    pace_usage_cells cells; /* one for each field: the first of its labels that is there, else an empty one */
    char time[32];          /* in seconds; the cell of "at" is this */
} pace_usage_sample;

/** Reads a line without its break; texts lose their escapes in place. NULL, or what was expected. A time that is not
 * there is an empty cell. */
const char *pace_usage_sample_read(pace_usage_sample *out, const pace_usage_mapping *mapping, char *line,
                                   size_t length);

/** Whether a line begins as a sample does: with labels in braces. */
bool pace_usage_begins_sample(const char *line, size_t length);
