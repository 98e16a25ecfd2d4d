#include "ask/rows/measured_cell.h"

#include "ask/rows/column_words.h"
#include "base/csv.h"
#include "base/decimal.h"
#include "base/print.h"
#include "base/text.h"
#include "base/yaml_member.h"

#include <math.h>
#include <string.h>

bool pace_measured_cell_is_silent(const char *text) {
    static const char *const words[] = {"", "nan", "n/a", "na", "-", "--", "null", "none", "?", "unknown", "oom"};
    for (size_t i = 0; i < PACE_COUNT(words); i++)
        if (pace_strcasecmp(text, words[i]) == 0) return true;
    return false;
}

double pace_time_unit(const pace_yaml *columns, const char *word) {
    char plain[PACE_PLAIN_NAME];
    double value;
    pace_plain_name(plain, word);
    const pace_yaml_node *units = pace_yaml_get(pace_yaml_get(pace_yaml_root(columns), "kernel"), "units");
    const pace_yaml_node *unit = pace_yaml_get(units, plain);
    return unit && pace_yaml_number(&value, columns, unit) == PACE_OK ? value : 0;
}

/* The number of a cell and what stands behind it; NULL: there is no number above 0. */
static const char *number_of(double *out, const char *text) {
    const char *behind = pace_csv_number(out, text) ? "" : pace_cell_number(out, text);
    if (!behind || pace_lower(*behind) == 'e') behind = pace_number_read(out, text); /* "1.2e-3s" */
    if (!behind || !(*out > 0) || !isfinite(*out)) return NULL;
    behind += strspn(behind, " ");
    return *behind == '(' ? "" : behind;
}

pace_measured_cell pace_measured_time(double *out_s, const pace_yaml *columns, const char *text, double unit_s) {
    double value;
    if (pace_measured_cell_is_silent(text)) return PACE_CELL_SILENT;
    const char *word = number_of(&value, text);
    double unit = !word ? 0 : *word ? pace_time_unit(columns, word) : unit_s;
    if (!(unit > 0)) return PACE_CELL_REFUSED;
    *out_s = value * unit;
    return PACE_CELL_MEASURED;
}

pace_measured_cell pace_measured_rate(double *out, const char *text) {
    double value;
    if (pace_measured_cell_is_silent(text)) return PACE_CELL_SILENT;
    const char *word = number_of(&value, text);
    if (!word || *word) return PACE_CELL_REFUSED;
    *out = value;
    return PACE_CELL_MEASURED;
}

void pace_measured_refuse(char out[PACE_CELL_FAULT], const char *column, bool rate, const char *text) {
    pace_snprintf(out, PACE_CELL_FAULT, "%.24s: expected a %s above 0, found \"%.30s\"", column, rate ? "rate" : "time",
                  text);
}
