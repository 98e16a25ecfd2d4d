#include "ask/rows/left_out.h"

#include "base/print.h"

void pace_left_out_add(pace_left_out *left_out, const pace_csv *csv, const char *name, size_t row, const char *why) {
    if (left_out->rows++ > 0) return;
    if (row < csv->lines.count)
        pace_snprintf(left_out->first, sizeof left_out->first, "%.140s:%u: %s", name, csv->lines.items[row], why);
    else pace_snprintf(left_out->first, sizeof left_out->first, "%.140s: %s", name, why);
}

void pace_found_left_out(pace_findings *findings, const pace_left_out *left_out) {
    if (left_out->rows == 1)
        pace_found_warn(findings, PACE_WARN_ROWS_LEFT_OUT, "1 row was left out: %s", left_out->first);
    if (left_out->rows > 1)
        pace_found_warn(findings, PACE_WARN_ROWS_LEFT_OUT, "%zu rows were left out; the first: %s", left_out->rows,
                        left_out->first);
}
