#include "ask/time_column.h"

#include <math.h>
#include <stdio.h>

int pace_csv_find_time(double *unit_ns, const pace_csv *csv, const char *stem) {
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s_%s", stem, units[i].name);
        int column = pace_csv_find(csv, name);
        *unit_ns = units[i].ns;
        if (column >= 0) return column;
    }
    return -1;
}

pace_status pace_csv_figure(double *out, const pace_csv *csv, size_t row, int column, double fallback) {
    const char *cell = pace_csv_at(csv, row, column);
    *out = fallback;
    if (!*cell && !isnan(fallback)) return PACE_OK;
    if (pace_csv_number(out, cell) && *out >= 0 && *out < 1e15) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "%s: line %u, %s: expected a number of at least 0, found \"%.40s\"", csv->name,
                     csv->lines.items[row], column < 0 ? "?" : pace_csv_name(csv, (size_t)column), cell);
}
