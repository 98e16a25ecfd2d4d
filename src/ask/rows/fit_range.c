#include "ask/rows/fit_range.h"

void pace_fit_ranges_add(pace_fit_range *ranges, const double *amounts, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!(amounts[i] > 0)) continue;
        if (!(ranges[i].low > 0) || amounts[i] < ranges[i].low) ranges[i].low = amounts[i];
        if (amounts[i] > ranges[i].high) ranges[i].high = amounts[i];
    }
}

const char *pace_fit_ranges_beyond(const pace_fit_range *ranges, const char *const *names, const double *amounts,
                                   size_t count) {
    static const double rounding = 1e-9;
    for (size_t i = 0; i < count; i++)
        if (ranges[i].low > 0 && amounts[i] > 0 &&
            (amounts[i] < ranges[i].low * (1 - rounding) || amounts[i] > ranges[i].high * (1 + rounding)))
            return names[i];
    return NULL;
}

void pace_fit_ranges_write(pace_jsonw *json, const pace_fit_range *ranges, const char *const *names, size_t count) {
    pace_jsonw_key_object(json, "seen");
    for (size_t i = 0; i < count; i++) {
        if (!(ranges[i].low > 0)) continue;
        pace_jsonw_key_array(json, names[i]);
        pace_jsonw_real(json, ranges[i].low);
        pace_jsonw_real(json, ranges[i].high);
        pace_jsonw_array_end(json);
    }
    pace_jsonw_object_end(json);
}

static pace_status read_range(pace_fit_range *out, const pace_yaml *yaml, const pace_yaml_node *node) {
    pace_fit_range range;
    if (!pace_yaml_is_list(node) || pace_yaml_count(node) != 2)
        return pace_yaml_fail(yaml, node, "expected the least and the most");
    PACE_TRY(pace_yaml_number(&range.low, yaml, pace_yaml_item(node, 0)));
    PACE_TRY(pace_yaml_number(&range.high, yaml, pace_yaml_item(node, 1)));
    if (!(range.low > 0) || !(range.high >= range.low) || !(range.high < 1e30))
        return pace_yaml_fail(yaml, node, "expected the least above 0, and the most not below it");
    *out = range;
    return PACE_OK;
}

pace_status pace_fit_ranges_read(pace_fit_range *ranges, const pace_yaml *yaml, const char *const *names,
                                 size_t count) {
    const pace_yaml_node *seen = pace_yaml_get(pace_yaml_root(yaml), "seen");
    for (size_t i = 0; seen && i < count; i++) {
        const pace_yaml_node *node = pace_yaml_get(seen, names[i]);
        if (node) PACE_TRY(read_range(&ranges[i], yaml, node));
    }
    return PACE_OK;
}
