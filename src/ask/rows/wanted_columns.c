#include "ask/rows/wanted_columns.h"
#include "ask/rows/column_finder.h"

#include <math.h>

static int find_time(double *unit_s, const pace_csv *csv, const pace_yaml *yaml, const pace_yaml_node *stems) {
    const pace_yaml_node *units = pace_yaml_get(pace_yaml_get(pace_yaml_root(yaml), "units"), "times");
    pace_unit_column found = pace_find_unit_column(csv, stems, yaml, units, SIZE_MAX);
    *unit_s = found.unit;
    return found.column;
}

static pace_status fail_missing(const pace_csv *csv, const pace_wanted_column *wanted, const pace_yaml_node *names) {
    char instead[320];
    const char *name = pace_yaml_text(pace_yaml_item(names, 0));
    pace_csv_instead(instead, sizeof instead, csv, wanted->key);
    return pace_fail(PACE_E_INPUT, "%s: expected a column \"%s%s\"%s%s, found none%s", csv->name,
                     name ? name : wanted->key, wanted->unit_s ? "_us" : "", wanted->or_field ? ", or " PACE_FIELD : "",
                     wanted->or_field ? wanted->or_field : "", instead);
}

pace_status pace_wanted_columns_find(pace_catalog *catalog, const char *section, const pace_csv *csv,
                                     const pace_wanted_column *wanted, size_t count) {
    const pace_yaml *yaml;
    PACE_TRY(pace_catalog_document(&yaml, catalog, "columns.yaml"));
    const pace_yaml_node *all = pace_yaml_get(pace_yaml_root(yaml), section);
    for (size_t i = 0; i < count; i++) {
        const pace_wanted_column *one = &wanted[i];
        const pace_yaml_node *names = pace_yaml_get(all, one->key);
        *one->column = one->unit_s ? find_time(one->unit_s, csv, yaml, names) : pace_find_column(csv, names);
        if (*one->column < 0 && one->needed) return fail_missing(csv, one, names);
    }
    return PACE_OK;
}

pace_status pace_csv_figure(double *out, const pace_csv *csv, size_t row, int column, double fallback) {
    const char *cell = pace_csv_at(csv, row, column);
    *out = fallback;
    if (!*cell && !isnan(fallback)) return PACE_OK;
    if (pace_csv_number(out, cell) && *out >= 0 && *out < 1e15) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "%s: line %u, %s: expected a number of at least 0, found \"%.40s\"", csv->name,
                     csv->lines.items[row], column < 0 ? "?" : pace_csv_name(csv, (size_t)column), cell);
}
