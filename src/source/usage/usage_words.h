/* Times, durations and lists of resources as schedulers write them. None of these reads behind a text's end. */
#pragma once

#include "base/yaml.h"
#include "source/usage/usage_fields.h"

/** The text without blanks around it. */
pace_usage_text pace_usage_trim(pace_usage_text text);

/** Any number and nothing else. */
bool pace_usage_number(double *out, pace_usage_text text);

/* Which number of a date such as 03/04/2026 comes first. */
typedef enum { PACE_DATES_UNSAID, PACE_DATES_MONTH_FIRST, PACE_DATES_DAY_FIRST } pace_date_order;
extern const char *const pace_date_order_names[]; /* "month-first", "day-first"; of the first none */

/* How a source writes times. */
typedef struct {
    const pace_yaml_node *zones; /* hours of zones by name; may be NULL */
    pace_date_order dates;
} pace_usage_times;

/** "2023-03-01 00:18:22+08:00", "2017/10/07T01:12:09.5Z", "2017-10-07 01:12:09 PDT", "29.03.2026 14:00",
 * "03/29/2026 2:00 PM" in seconds since 1970, or plain seconds; numbers too large for seconds are milli-, micro- or
 * nanoseconds. False for none, and for a date that may be of either order where none is said. `*zoned`: it has a zone,
 * or is a plain number; without one it counts as UTC. */
bool pace_usage_time(double *out, bool *zoned, pace_usage_text text, const pace_usage_times *times);
/** The order that a date with its year behind can only be of; unsaid for one of either order, or none. `*either`: it is
 * of either order. */
pace_date_order pace_usage_date_tells(bool *either, pace_usage_text text);
/** Whether a time that was read has its year behind day and month, between other signs than dots. */
bool pace_usage_year_is_last(pace_usage_text text);
/** What pace_usage_time() expected of a text that it refused. */
const char *pace_usage_time_wanted(pace_usage_text text);

/** "+08:00", "-0730", "Z": in seconds east of UTC. */
bool pace_usage_zone(double *out, pace_usage_text text);

/** Seconds of "1-02:03:04", "1 day, 2:03:04", "26:03:04", "03:04.250", "2h 30m", "PT2H30M", or of a plain number of
 * `unit_s` seconds each.
 * Clocks say their units themselves; one of two parts is hours and minutes where the unit is an hour. */
bool pace_usage_duration(double *out, pace_usage_text text, double unit_s);

/** "billing=64,gres/gpu:a100=8,gres/gpu=8" (or "gpu:a100:8") asked for "gres/gpu": how many in all, and by model. What
 * the total has beyond its models is of no model. `*count` = 0 when the list does not have it. False for a count that
 * is none. */
bool pace_usage_list(double *total, pace_usage_gpus *out, size_t *count, pace_usage_text text, const char *key);

/** Of "a100_3g.20gb", a slice of a GPU, how many of the GPU's slices it is: 3; 0 where the name is of no slice. */
int pace_usage_slices(pace_usage_text model);

/** "a100_" of "a100_3g.20gb"; the whole name where it is of no slice, or of nothing but one. */
pace_usage_text pace_usage_sliced_model(pace_usage_text model);

/** How many numbers "123_[3-10,12%2]" has in its brackets; 1 without any. False if brackets hold something else. */
bool pace_usage_brackets(double *out, pace_usage_text text);

/** The same of what stands in the brackets, "3-10,12%2". */
bool pace_usage_ranges(double *out, pace_usage_text text);
