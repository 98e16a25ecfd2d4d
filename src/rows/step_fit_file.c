/* A fit of steps as JSON: {"schema", "unit", "unit_s", "on", "spread", "factors": {…}, "groups": [{…}]}. */
#include "base/json_writer.h"
#include "base/whole_file.h"
#include "base/yaml.h"
#include "machine/catalog.h"
#include "rows/step_fit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char schema[] = "paceline.step-fit/1";

static void real(pace_jsonw *json, const char *key, double value) {
    pace_jsonw_key(json, key);
    pace_jsonw_real(json, value);
}

static void text(pace_jsonw *json, const char *key, const char *value) {
    pace_jsonw_key(json, key);
    pace_jsonw_text(json, value);
}

static pace_status write_fit(pace_sink *sink, void *context) {
    const pace_step_fit *fit = context;
    const double *factors = (const double *)&fit->factors;
    pace_jsonw json;
    pace_jsonw_init(&json, sink, 2);
    pace_jsonw_object(&json);
    text(&json, "schema", schema);
    text(&json, "unit", fit->unit);
    real(&json, "unit_s", fit->unit_s);
    text(&json, "on", fit->on);
    real(&json, "spread", fit->spread);
    pace_jsonw_key(&json, "factors");
    pace_jsonw_object(&json);
    for (int i = 0; i < PACE_STEP_FACTORS; i++) real(&json, pace_step_factor_names[i], factors[i]);
    pace_jsonw_object_end(&json);
    pace_jsonw_key(&json, "groups");
    pace_jsonw_array(&json);
    for (unsigned i = 0; i < fit->group_count; i++) {
        pace_jsonw_object(&json);
        text(&json, "name", fit->groups[i].name);
        real(&json, "log_offset", fit->groups[i].log_offset);
        real(&json, "rows", fit->groups[i].rows);
        pace_jsonw_object_end(&json);
    }
    pace_jsonw_array_end(&json);
    pace_jsonw_object_end(&json);
    pace_sink_text(sink, "\n");
    return PACE_OK;
}

pace_status pace_step_fit_save(const pace_step_fit *fit, const char *path) {
    return pace_whole_file_write(path, write_fit, (void *)fit); /* only read */
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

static pace_status number(double *out, const pace_yaml *yaml, const pace_yaml_node *map, const char *key, double least,
                          double most) {
    const pace_yaml_node *node = pace_yaml_get(map, key);
    double value;
    if (!node) return pace_fail(PACE_E_INPUT, "%s: expected \"%s\"", pace_yaml_place(yaml, map), key);
    PACE_TRY(pace_yaml_number(&value, yaml, node));
    if (!(value >= least && value <= most))
        return pace_fail(PACE_E_INPUT, "%s: expected %s from %g to %g, found %g", pace_yaml_place(yaml, node), key,
                         least, most, value);
    *out = value;
    return PACE_OK;
}

static pace_status word(char *out, size_t size, const pace_yaml *yaml, const pace_yaml_node *map, const char *key) {
    const char *value = pace_yaml_text(pace_yaml_get(map, key));
    if (!value || strlen(value) >= size)
        return pace_fail(PACE_E_INPUT, "%s: expected \"%s\", a text of less than %zu letters",
                         pace_yaml_place(yaml, map), key, size);
    snprintf(out, size, "%s", value);
    return PACE_OK;
}

static pace_status read_groups(pace_step_fit *fit, const pace_yaml *yaml, const pace_yaml_node *list) {
    for (size_t i = 0; i < pace_yaml_count(list); i++) {
        const pace_yaml_node *node = pace_yaml_item(list, i);
        pace_step_group *group = &fit->groups[fit->group_count];
        if (fit->group_count == PACE_STEP_GROUPS_MOST)
            return pace_fail(PACE_E_INPUT, "%s: expected at most %d groups", pace_yaml_place(yaml, node),
                             PACE_STEP_GROUPS_MOST);
        PACE_TRY(word(group->name, sizeof group->name, yaml, node, "name"));
        PACE_TRY(number(&group->log_offset, yaml, node, "log_offset", -10, 10));
        PACE_TRY(number(&group->rows, yaml, node, "rows", 0, 1e15));
        fit->group_count++;
    }
    return PACE_OK;
}

static pace_status read_fit(pace_step_fit *fit, const pace_yaml *yaml) {
    const pace_yaml_node *root = pace_yaml_root(yaml), *factors = pace_yaml_get(root, "factors");
    const char *found = pace_yaml_text(pace_yaml_get(root, "schema"));
    double *values = (double *)&fit->factors;
    if (!found || strcmp(found, schema) != 0)
        return pace_fail(PACE_E_INPUT, "%s: expected a fit of steps (\"schema\": \"%s\"), found \"%.40s\"",
                         pace_yaml_place(yaml, root), schema, found ? found : "none");
    PACE_TRY(word(fit->unit, sizeof fit->unit, yaml, root, "unit"));
    PACE_TRY(number(&fit->unit_s, yaml, root, "unit_s", 0, 1e6));
    if (fit->unit_s == 0 && !pace_step_is_rate(fit->unit))
        return pace_fail(PACE_E_INPUT, "%s: expected \"unit\" to be a rate where unit_s is 0, found \"%.40s\"",
                         pace_yaml_place(yaml, root), fit->unit);
    PACE_TRY(word(fit->on, sizeof fit->on, yaml, root, "on"));
    PACE_TRY(number(&fit->spread, yaml, root, "spread", 0, 10));
    if (!factors) return pace_fail(PACE_E_INPUT, "%s: expected \"factors\"", pace_yaml_place(yaml, root));
    for (int i = 0; i < PACE_STEP_FACTORS; i++)
        PACE_TRY(number(&values[i], yaml, factors, pace_step_factor_names[i], 0, 1e6));
    return read_groups(fit, yaml, pace_yaml_get(root, "groups"));
}

static pace_status take(pace_step_fit *out, pace_yaml *yaml) {
    pace_step_fit fit = {0};
    pace_status status = read_fit(&fit, yaml);
    pace_yaml_free(yaml);
    if (status == PACE_OK) *out = fit;
    return status;
}

pace_status pace_step_fit_read(pace_step_fit *out, const char *name, const void *bytes, size_t length) {
    pace_yaml *yaml;
    PACE_TRY(pace_yaml_parse(&yaml, name, bytes, length));
    return take(out, yaml);
}

pace_status pace_step_fit_load(pace_step_fit *out, const char *path) {
    pace_yaml *yaml;
    PACE_TRY(pace_catalog_load_file(&yaml, path));
    return take(out, yaml);
}
