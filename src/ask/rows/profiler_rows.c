#include "ask/rows/profiler_rows.h"
#include "ask/rows/wanted_columns.h"
#include "base/estimate.h"
#include "base/sort.h"

#include <math.h>

enum { LEAST_ROWS = 3 };

void pace_profiler_rows_free(pace_profiler_rows *rows) { PACE_VEC_FREE(&rows->items); }

static pace_status read_rows(pace_profiler_rows *rows, pace_catalog *catalog, const pace_csv *csv) {
    double profiled_s, unprofiled_s;
    int events, profiled, unprofiled;
    const pace_wanted_column wanted[] = {
        {.key = "events", .column = &events, .needed = true},
        {.key = "profiled", .column = &profiled, .unit_s = &profiled_s, .needed = true},
        {.key = "unprofiled", .column = &unprofiled, .unit_s = &unprofiled_s, .needed = true}};
    PACE_TRY(pace_wanted_columns_find(catalog, "profiler", csv, wanted, PACE_COUNT(wanted)));
    for (size_t i = 0; i < csv->rows; i++) {
        pace_profiler_row row;
        PACE_TRY(pace_csv_figure(&row.events, csv, i, events, NAN));
        PACE_TRY(pace_csv_figure(&row.profiled_ns, csv, i, profiled, NAN));
        PACE_TRY(pace_csv_figure(&row.unprofiled_ns, csv, i, unprofiled, NAN));
        if (!(row.events > 0) || !(row.unprofiled_ns > 0))
            return pace_fail(PACE_E_INPUT, "%s: line %u: expected events and an unprofiled time above 0", csv->name,
                             csv->lines.items[i]);
        row.profiled_ns *= profiled_s * 1e9;
        row.unprofiled_ns *= unprofiled_s * 1e9;
        PACE_TRY(PACE_PUSH(&rows->items, row));
    }
    return PACE_OK;
}

pace_status pace_profiler_rows_read(pace_profiler_rows *rows, pace_catalog *catalog, pace_input *input) {
    pace_csv csv;
    PACE_TRY(pace_csv_read(&csv, input));
    pace_status status = read_rows(rows, catalog, &csv);
    pace_csv_free(&csv);
    return status;
}

/* The costs of all rows but one (count = none). */
static size_t find_costs(double *out, const pace_profiler_rows *rows, size_t without) {
    size_t count = 0;
    for (size_t i = 0; i < rows->items.count; i++) {
        const pace_profiler_row *row = &rows->items.items[i];
        if (i != without) out[count++] = (row->profiled_ns - row->unprofiled_ns) / row->events;
    }
    return count;
}

/* Ranks within which the median lies with 90 %: count / 2 -+ PACE_NORMAL_90 sqrt(count) / 2. */
static double rank_of(const double *sorted, size_t count, double sign) {
    double rank = ((double)count - 1) / 2 + sign * PACE_NORMAL_90 / 2 * sqrt((double)count);
    return sorted[(size_t)fmin(fmax(round(rank), 0), (double)count - 1)];
}

pace_status pace_profiler_fit(pace_profiler_cost *out, const pace_profiler_rows *rows) {
    size_t count = rows->items.count;
    if (count < LEAST_ROWS)
        return pace_fail(PACE_E_INPUT, "expected at least %d steps timed with and without the profiler, found %zu",
                         LEAST_ROWS, count);
    double *sorted = pace_alloc(count, sizeof *sorted);
    if (!sorted) return PACE_E_MEMORY;
    pace_profiler_cost cost = {0};
    for (size_t i = 0; i < count; i++) {
        const pace_profiler_row *row = &rows->items.items[i];
        double event_ns = fmax(0, pace_median(sorted, find_costs(sorted, rows, i)));
        double corrected = row->profiled_ns - event_ns * row->events;
        cost.error += fabs(corrected / row->unprofiled_ns - 1) / (double)count;
        cost.uncorrected += fabs(row->profiled_ns / row->unprofiled_ns - 1) / (double)count;
    }
    find_costs(sorted, rows, count);
    cost.event_ns = fmax(0, pace_median(sorted, count));
    cost.low_ns = fmax(0, rank_of(sorted, count, -1));
    cost.high_ns = fmax(0, rank_of(sorted, count, 1));
    pace_free(sorted);
    *out = cost;
    return PACE_OK;
}
