/* A fit as JSON: {"schema", "unit", "unit_s", "curves": [{"system", …, "points": [[bytes, seconds], …]}]}. */
#include "base/whole_file.h"
#include "base/yaml_member.h"
#include "exchange/calibration.h"

static const char schema[] = "paceline.exchange-fit/1";
enum { MOST_WHOLE = 1 << 20, MOST_SPREAD = 100 };

static void write_curve(pace_jsonw *json, const pace_exchange_fit *fit, const pace_exchange_curve *curve) {
    pace_jsonw_object(json);
    pace_jsonw_key_text(json, "system", curve->system);
    pace_jsonw_key_text(json, "collective", pace_collective_rows[curve->collective].name);
    pace_jsonw_key_int(json, "ranks_per_node", curve->ranks_per_node);
    pace_jsonw_key_int(json, "nodes", curve->nodes);
    if (curve->element_bytes > 0) pace_jsonw_key_int(json, "element_bytes", curve->element_bytes);
    if (*curve->variant) pace_jsonw_key_text(json, "variant", curve->variant);
    if (curve->scatter.repeats > 0) pace_jsonw_key_real(json, "repeats_spread", curve->scatter.repeats);
    pace_jsonw_key(json, "points");
    pace_jsonw_compact(json);
    pace_jsonw_array(json);
    for (uint32_t i = 0; i < curve->count; i++) {
        const pace_curve_point *point = &fit->points.items[curve->first + i];
        pace_jsonw_array(json);
        pace_jsonw_real(json, point->bytes);
        pace_jsonw_real(json, point->time_s);
        pace_jsonw_array_end(json);
    }
    pace_jsonw_array_end(json);
    pace_jsonw_object_end(json);
}

static pace_status write_fit(pace_sink *sink, void *context) {
    const pace_exchange_fit *fit = context;
    pace_jsonw json;
    pace_jsonw_document(&json, sink, 2, schema);
    pace_jsonw_key_text(&json, "unit", fit->unit);
    pace_jsonw_key_real(&json, "unit_s", fit->unit_s);
    pace_jsonw_key_array(&json, "curves");
    for (size_t i = 0; i < fit->curves.count; i++) write_curve(&json, fit, &fit->curves.items[i]);
    pace_jsonw_array_end(&json);
    pace_jsonw_document_end(&json);
    return PACE_OK;
}

pace_status pace_exchange_fit_save(const pace_exchange_fit *fit, const char *path) {
    return pace_whole_file_write(path, write_fit, (void *)fit); /* only read */
}

static pace_status read_points(pace_exchange_fit *fit, const pace_exchange_curve *curve, const pace_yaml *yaml,
                               const pace_yaml_node *list) {
    pace_curve_point points[PACE_CURVE_KNOTS];
    size_t count = pace_yaml_count(list);
    if (!pace_yaml_is_list(list) || count < 1 || count > PACE_CURVE_KNOTS)
        return pace_yaml_fail(yaml, list, "expected 1 to %d points", PACE_CURVE_KNOTS);
    for (size_t i = 0; i < count; i++) {
        const pace_yaml_node *pair = pace_yaml_item(list, i);
        if (!pace_yaml_is_list(pair) || pace_yaml_count(pair) != 2)
            return pace_yaml_fail(yaml, pair, "expected [bytes, seconds]");
        PACE_TRY(pace_yaml_number(&points[i].bytes, yaml, pace_yaml_item(pair, 0)));
        PACE_TRY(pace_yaml_number(&points[i].time_s, yaml, pace_yaml_item(pair, 1)));
    }
    return pace_exchange_fit_add(fit, curve, points, count);
}

static pace_status read_curve(pace_exchange_fit *fit, const pace_yaml *yaml, const pace_yaml_node *entry) {
    pace_exchange_curve curve = {0};
    const pace_yaml_node *node;
    PACE_TRY(pace_yaml_copy(curve.system, sizeof curve.system, yaml, entry, "system"));
    PACE_TRY(pace_yaml_member(&node, yaml, entry, "collective"));
    const char *name = pace_yaml_text(node);
    if (!name || !pace_collective_find(&curve.collective, name))
        return pace_yaml_fail(yaml, node, "expected a collective");
    PACE_TRY(pace_yaml_whole(&curve.ranks_per_node, yaml, entry, "ranks_per_node", 1, MOST_WHOLE));
    PACE_TRY(pace_yaml_whole(&curve.nodes, yaml, entry, "nodes", 1, MOST_WHOLE));
    if (pace_yaml_get(entry, "element_bytes"))
        PACE_TRY(pace_yaml_whole(&curve.element_bytes, yaml, entry, "element_bytes", 1, MOST_WHOLE));
    if (pace_yaml_get(entry, "variant"))
        PACE_TRY(pace_yaml_copy(curve.variant, sizeof curve.variant, yaml, entry, "variant"));
    if (pace_yaml_get(entry, "repeats_spread"))
        PACE_TRY(pace_yaml_positive(&curve.scatter.repeats, yaml, entry, "repeats_spread", MOST_SPREAD));
    PACE_TRY(pace_yaml_member(&node, yaml, entry, "points"));
    return read_points(fit, &curve, yaml, node);
}

static pace_status read_fit(pace_exchange_fit *fit, const pace_yaml *yaml) {
    const pace_yaml_node *root = pace_yaml_root(yaml), *curves;
    PACE_TRY(pace_yaml_check_schema(yaml, schema, "a fit of exchanges"));
    PACE_TRY(pace_yaml_copy(fit->unit, sizeof fit->unit, yaml, root, "unit"));
    PACE_TRY(pace_yaml_positive(&fit->unit_s, yaml, root, "unit_s", 1e6));
    PACE_TRY(pace_yaml_list(&curves, yaml, root, "curves"));
    PACE_YAML_EACH (one, curves) PACE_TRY(read_curve(fit, yaml, one));
    return PACE_OK;
}

pace_status pace_exchange_fit_read(void *out, const pace_yaml *yaml) {
    pace_exchange_fit fit = {0};
    pace_status status = read_fit(&fit, yaml);
    return PACE_GIVE((pace_exchange_fit *)out, fit, status, pace_exchange_fit_free(&fit));
}

pace_status pace_exchange_fit_load(pace_exchange_fit *out, const char *path) {
    return pace_yaml_read_file(out, path, pace_exchange_fit_read);
}
