/* A fit of steps as JSON: {"schema", "unit", "unit_s", "on", "spread", "factors": {…}, "groups": [{…}]}. */
#include "base/json_writer.h"
#include "base/whole_file.h"
#include "base/yaml_member.h"
#include "machine/catalog.h"
#include "ask/step_fit.h"

static const char schema[] = "paceline.step-fit/1";

static pace_status write_fit(pace_sink *sink, void *context) {
    const pace_step_fit *fit = context;
    const double *factors = (const double *)&fit->factors;
    pace_jsonw json;
    pace_jsonw_document(&json, sink, 2, schema);
    pace_jsonw_key_text(&json, "unit", fit->unit);
    pace_jsonw_key_real(&json, "unit_s", fit->unit_s);
    pace_jsonw_key_text(&json, "on", fit->on);
    pace_jsonw_key_real(&json, "spread", fit->spread);
    pace_jsonw_key(&json, "factors");
    pace_jsonw_object(&json);
    for (int i = 0; i < PACE_STEP_FACTORS; i++) pace_jsonw_key_real(&json, pace_step_factor_names[i], factors[i]);
    pace_jsonw_object_end(&json);
    pace_jsonw_key(&json, "groups");
    pace_jsonw_array(&json);
    for (unsigned i = 0; i < fit->group_count; i++) {
        pace_jsonw_object(&json);
        pace_jsonw_key_text(&json, "name", fit->groups[i].name);
        pace_jsonw_key_real(&json, "log_offset", fit->groups[i].log_offset);
        pace_jsonw_key_real(&json, "rows", fit->groups[i].rows);
        pace_jsonw_object_end(&json);
    }
    pace_jsonw_array_end(&json);
    pace_jsonw_document_end(&json);
    return PACE_OK;
}

pace_status pace_step_fit_save(const pace_step_fit *fit, const char *path) {
    return pace_whole_file_write(path, write_fit, (void *)fit); /* only read */
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

static pace_status read_groups(pace_step_fit *fit, const pace_yaml *yaml, const pace_yaml_node *list) {
    for (size_t i = 0; i < pace_yaml_count(list); i++) {
        const pace_yaml_node *node = pace_yaml_item(list, i);
        pace_fit_group *group = &fit->groups[fit->group_count];
        if (fit->group_count == PACE_FIT_GROUPS_MOST)
            return pace_fail(PACE_E_INPUT, "%s: expected at most %d groups", pace_yaml_place(yaml, node),
                             PACE_FIT_GROUPS_MOST);
        PACE_TRY(pace_yaml_copy(group->name, sizeof group->name, yaml, node, "name"));
        PACE_TRY(pace_yaml_real(&group->log_offset, yaml, node, "log_offset", -10, 10));
        PACE_TRY(pace_yaml_real(&group->rows, yaml, node, "rows", 0, 1e15));
        fit->group_count++;
    }
    return PACE_OK;
}

static pace_status read_fit(pace_step_fit *fit, const pace_yaml *yaml) {
    const pace_yaml_node *root = pace_yaml_root(yaml), *factors;
    double *values = (double *)&fit->factors;
    PACE_TRY(pace_yaml_check_schema(yaml, schema, "a fit of steps"));
    PACE_TRY(pace_yaml_copy(fit->unit, sizeof fit->unit, yaml, root, "unit"));
    PACE_TRY(pace_yaml_real(&fit->unit_s, yaml, root, "unit_s", 0, 1e6));
    if (fit->unit_s == 0 && !pace_step_is_rate(fit->unit))
        return pace_fail(PACE_E_INPUT, "%s: expected \"unit\" to be a rate where unit_s is 0, found \"%.40s\"",
                         pace_yaml_place(yaml, root), fit->unit);
    PACE_TRY(pace_yaml_copy(fit->on, sizeof fit->on, yaml, root, "on"));
    PACE_TRY(pace_yaml_real(&fit->spread, yaml, root, "spread", 0, 10));
    PACE_TRY(pace_yaml_member(&factors, yaml, root, "factors"));
    for (int i = 0; i < PACE_STEP_FACTORS; i++)
        PACE_TRY(pace_yaml_real(&values[i], yaml, factors, pace_step_factor_names[i], 0, 1e6));
    return read_groups(fit, yaml, pace_yaml_get(root, "groups"));
}

pace_status pace_step_fit_read(pace_step_fit *out, const pace_yaml *yaml) {
    pace_step_fit fit = {0};
    PACE_TRY(read_fit(&fit, yaml));
    *out = fit;
    return PACE_OK;
}

pace_status pace_step_fit_load(pace_step_fit *out, const char *path) {
    pace_yaml *yaml;
    PACE_TRY(pace_catalog_load_file(&yaml, path));
    pace_status status = pace_step_fit_read(out, yaml);
    pace_yaml_free(yaml);
    return status;
}
