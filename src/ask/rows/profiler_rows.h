/*
 * What a profiler costs per event it records, from steps timed with and without it: tables with columns events,
 * profiled_us and unprofiled_us (or _ns, _ms, _s), one row per step or mean of steps.
 *
 * The cost is the median over rows of (profiled - unprofiled) / events: a row timed while the machine was busy with
 * something else says nothing, and must not move it.
 */
#pragma once

#include "base/input.h"
#include "base/memory.h"
#include "machine/catalog.h"

typedef struct {
    double events, profiled_ns, unprofiled_ns;
} pace_profiler_row;

typedef struct {
    PACE_VEC(pace_profiler_row) items;
} pace_profiler_rows;

typedef struct {
    double event_ns, low_ns, high_ns; /* 90 % of the median, by order statistics */
    double error, uncorrected;        /* mean |error| of a row's unprofiled time, taken from its profiled one with the
                                         other rows' cost; and as profiled */
} pace_profiler_cost;

/** Adds a table's rows. PACE_E_INPUT with file, line and what was expected. */
pace_status pace_profiler_rows_read(pace_profiler_rows *rows, pace_catalog *catalog, pace_input *input) PACE_MUST_CHECK;
void pace_profiler_rows_free(pace_profiler_rows *rows);

/** PACE_E_INPUT for fewer than three rows. */
pace_status pace_profiler_fit(pace_profiler_cost *out, const pace_profiler_rows *rows) PACE_MUST_CHECK;
