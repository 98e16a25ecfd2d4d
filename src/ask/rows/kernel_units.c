#include "ask/rows/kernel_units.h"
#include "base/sort.h"

#include <stdio.h>
#include <stdlib.h>

/* The median of log10(measured / predicted in seconds) over the first rows; NAN when none can be asked. */
static pace_status median_ratio(double *out, pace_catalog *catalog, const pace_kernel_rows *rows, unsigned measured) {
    enum { MOST = 2000 };
    pace_cost *cost;
    double *ratios = pace_alloc(MOST, sizeof *ratios);
    size_t count = 0;
    if (!ratios) return PACE_E_MEMORY;
    pace_status status = pace_cost_create(&cost, catalog);
    for (size_t i = 0; status == PACE_OK && i < rows->rows.count && count < MOST; i++) {
        const pace_kernel_row *row = &rows->rows.items[i];
        pace_estimate time;
        if (row->measured != measured || !row->open_unit || !pace_kernel_row_can_ask(row)) continue;
        if (pace_kernel_row_price(&time, cost, rows, row) == PACE_OK)
            ratios[count++] = log10(row->time_s / time.median);
    }
    if (status == PACE_OK) pace_cost_free(cost);
    qsort(ratios, count, sizeof *ratios, pace_ascending);
    *out = count > 0 ? ratios[count / 2] : NAN;
    pace_free(ratios);
    return status;
}

/* Units are a thousand apart, formulas are not, so the nearest is meant. */
static pace_status guess_unit(pace_measured_column *out, pace_kernel_rows *rows, pace_catalog *catalog, unsigned m) {
    static const struct {
        const char *word;
        double s;
    } units[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
    double ratio;
    PACE_TRY(median_ratio(&ratio, catalog, rows, m));
    int nearest = isnan(ratio) ? 2 : (int)fmin(fmax(round(ratio / 3), 0), 3);
    out->unit_s = units[nearest].s;
    snprintf(out->unit, sizeof out->unit, "%s", units[nearest].word);
    out->guessed_unit = true;
    return PACE_OK;
}

static pace_status settle_unit(pace_kernel_rows *rows, pace_catalog *catalog, unsigned m) {
    pace_measured_column *measured = &rows->columns.measured[m];
    const pace_kernel_row *said = NULL;
    bool open = false;
    PACE_ITEMS (const pace_kernel_row, row, &rows->rows) {
        if (row->measured != m) continue;
        if (!said && row->unit_s > 0) said = row;
        open |= row->open_unit;
    }
    measured->unit_s = said ? said->unit_s : 1;
    snprintf(measured->unit, sizeof measured->unit, "%.15s", said ? said->unit : "s");
    if (open && !said) PACE_TRY(guess_unit(measured, rows, catalog, m));
    PACE_ITEMS (pace_kernel_row, row, &rows->rows) {
        if (row->measured != m || !row->open_unit) continue;
        row->time_s = said ? NAN : row->time_s * measured->unit_s;
        if (said) pace_kernel_unit_refuse(row, rows, "");
    }
    return PACE_OK;
}

pace_status pace_kernel_units_settle(pace_kernel_rows *rows, pace_catalog *catalog) {
    for (unsigned m = 0; m < rows->columns.measured_count; m++)
        if (!(rows->columns.measured[m].unit_s > 0)) PACE_TRY(settle_unit(rows, catalog, m));
    return PACE_OK;
}
