/* A fit as JSON: {"schema", "unit", "unit_s", "curves": [{"system", …, "points": [[bytes, seconds], …]}]}. */
#include "base/whole_file.h"
#include "base/yaml.h"
#include "exchange/calibration.h"
#include "machine/catalog.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char schema[] = "paceline.exchange-fit/1";

static void write_curve(pace_jsonw *json, const pace_exchange_fit *fit, const pace_exchange_curve *curve) {
    pace_jsonw_object(json);
    pace_jsonw_key(json, "system");
    pace_jsonw_text(json, curve->system);
    pace_jsonw_key(json, "collective");
    pace_jsonw_text(json, pace_collective_names[curve->collective]);
    pace_jsonw_key(json, "ranks_per_node");
    pace_jsonw_int(json, curve->ranks_per_node);
    pace_jsonw_key(json, "nodes");
    pace_jsonw_int(json, curve->nodes);
    if (curve->element_bytes > 0) {
        pace_jsonw_key(json, "element_bytes");
        pace_jsonw_int(json, curve->element_bytes);
    }
    if (*curve->variant) {
        pace_jsonw_key(json, "variant");
        pace_jsonw_text(json, curve->variant);
    }
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
    pace_jsonw_init(&json, sink, 2);
    pace_jsonw_object(&json);
    pace_jsonw_key(&json, "schema");
    pace_jsonw_text(&json, schema);
    pace_jsonw_key(&json, "unit");
    pace_jsonw_text(&json, fit->unit);
    pace_jsonw_key(&json, "unit_s");
    pace_jsonw_real(&json, fit->unit_s);
    pace_jsonw_key(&json, "curves");
    pace_jsonw_array(&json);
    for (size_t i = 0; i < fit->curves.count; i++) write_curve(&json, fit, &fit->curves.items[i]);
    pace_jsonw_array_end(&json);
    pace_jsonw_object_end(&json);
    pace_sink_text(sink, "\n");
    return PACE_OK;
}

pace_status pace_exchange_fit_save(const pace_exchange_fit *fit, const char *path) {
    return pace_whole_file_write(path, write_fit, (void *)fit); /* only read */
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

static pace_status whole(int *out, const pace_yaml *yaml, const pace_yaml_node *node) {
    double value;
    PACE_TRY(pace_yaml_number(&value, yaml, node));
    if (!(value >= 1 && value <= 1 << 20) || value != floor(value))
        return pace_fail(PACE_E_INPUT, "%s: expected a whole number from 1", pace_yaml_place(yaml, node));
    *out = (int)value;
    return PACE_OK;
}

static pace_status member(const pace_yaml_node **out, const pace_yaml *yaml, const pace_yaml_node *map,
                          const char *key) {
    *out = pace_yaml_get(map, key);
    return *out ? PACE_OK : pace_fail(PACE_E_INPUT, "%s: expected \"%s\"", pace_yaml_place(yaml, map), key);
}

static pace_status read_points(pace_exchange_fit *fit, const pace_exchange_curve *curve, const pace_yaml *yaml,
                               const pace_yaml_node *list) {
    pace_curve_point points[PACE_CURVE_KNOTS];
    size_t count = pace_yaml_count(list);
    if (!pace_yaml_is_list(list) || count < 1 || count > PACE_CURVE_KNOTS)
        return pace_fail(PACE_E_INPUT, "%s: expected 1 to %d points", pace_yaml_place(yaml, list), PACE_CURVE_KNOTS);
    for (size_t i = 0; i < count; i++) {
        const pace_yaml_node *pair = pace_yaml_item(list, i);
        if (!pace_yaml_is_list(pair) || pace_yaml_count(pair) != 2)
            return pace_fail(PACE_E_INPUT, "%s: expected [bytes, seconds]", pace_yaml_place(yaml, pair));
        PACE_TRY(pace_yaml_number(&points[i].bytes, yaml, pace_yaml_item(pair, 0)));
        PACE_TRY(pace_yaml_number(&points[i].time_s, yaml, pace_yaml_item(pair, 1)));
    }
    return pace_exchange_fit_add(fit, curve, points, count);
}

static pace_status read_variant(pace_exchange_curve *curve, const pace_yaml *yaml, const pace_yaml_node *node) {
    const char *text = node ? pace_yaml_text(node) : "";
    if (!text || strlen(text) >= sizeof curve->variant)
        return pace_fail(PACE_E_INPUT, "%s: expected a name", pace_yaml_place(yaml, node));
    memcpy(curve->variant, text, strlen(text) + 1);
    return PACE_OK;
}

static pace_status read_curve(pace_exchange_fit *fit, const pace_yaml *yaml, const pace_yaml_node *entry) {
    pace_exchange_curve curve = {0};
    const pace_yaml_node *node;
    PACE_TRY(member(&node, yaml, entry, "system"));
    const char *system = pace_yaml_text(node);
    if (!system || strlen(system) >= sizeof curve.system)
        return pace_fail(PACE_E_INPUT, "%s: expected a name", pace_yaml_place(yaml, node));
    memcpy(curve.system, system, strlen(system) + 1);
    PACE_TRY(member(&node, yaml, entry, "collective"));
    const char *name = pace_yaml_text(node);
    if (!name || !pace_collective_find(&curve.collective, name))
        return pace_fail(PACE_E_INPUT, "%s: expected a collective", pace_yaml_place(yaml, node));
    PACE_TRY(member(&node, yaml, entry, "ranks_per_node"));
    PACE_TRY(whole(&curve.ranks_per_node, yaml, node));
    PACE_TRY(member(&node, yaml, entry, "nodes"));
    PACE_TRY(whole(&curve.nodes, yaml, node));
    if (pace_yaml_get(entry, "element_bytes"))
        PACE_TRY(whole(&curve.element_bytes, yaml, pace_yaml_get(entry, "element_bytes")));
    PACE_TRY(read_variant(&curve, yaml, pace_yaml_get(entry, "variant")));
    PACE_TRY(member(&node, yaml, entry, "points"));
    return read_points(fit, &curve, yaml, node);
}

static pace_status read_fit(pace_exchange_fit *fit, const pace_yaml *yaml) {
    const pace_yaml_node *root = pace_yaml_root(yaml), *node;
    const char *found = pace_yaml_text(pace_yaml_get(root, "schema"));
    if (!found || strcmp(found, schema) != 0)
        return pace_fail(PACE_E_INPUT, "%s: expected a fit of exchanges (schema \"%s\")", pace_yaml_place(yaml, root),
                         schema);
    PACE_TRY(member(&node, yaml, root, "unit"));
    const char *unit = pace_yaml_text(node);
    if (!unit || strlen(unit) >= sizeof fit->unit)
        return pace_fail(PACE_E_INPUT, "%s: expected a unit", pace_yaml_place(yaml, node));
    memcpy(fit->unit, unit, strlen(unit) + 1);
    PACE_TRY(member(&node, yaml, root, "unit_s"));
    PACE_TRY(pace_yaml_number(&fit->unit_s, yaml, node));
    if (!(fit->unit_s > 0)) return pace_fail(PACE_E_INPUT, "%s: expected a unit above 0", pace_yaml_place(yaml, node));
    PACE_TRY(member(&node, yaml, root, "curves"));
    if (!pace_yaml_is_list(node) || pace_yaml_count(node) == 0)
        return pace_fail(PACE_E_INPUT, "%s: expected curves", pace_yaml_place(yaml, node));
    for (size_t i = 0; i < pace_yaml_count(node); i++) PACE_TRY(read_curve(fit, yaml, pace_yaml_item(node, i)));
    return PACE_OK;
}

static pace_status read_document(pace_exchange_fit *out, pace_yaml *yaml) {
    pace_exchange_fit fit = {0};
    pace_status status = read_fit(&fit, yaml);
    pace_yaml_free(yaml);
    if (status == PACE_OK) *out = fit;
    else pace_exchange_fit_free(&fit);
    return status;
}

pace_status pace_exchange_fit_parse(pace_exchange_fit *out, const char *name, const void *bytes, size_t length) {
    pace_yaml *yaml;
    PACE_TRY(pace_yaml_parse(&yaml, name, bytes, length));
    return read_document(out, yaml);
}

pace_status pace_exchange_fit_load(pace_exchange_fit *out, const char *path) {
    pace_yaml *yaml;
    PACE_TRY(pace_catalog_load_file(&yaml, path));
    return read_document(out, yaml);
}
