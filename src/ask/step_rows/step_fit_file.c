/* A fit of steps as JSON: {"schema", "unit", "unit_s", "on", "spread", "factors": {…}, "seen": {…}, "groups": [{…}],
 * "model_spread", "models": [{…}]}; one of before models had rows of their own has no more than "groups". */
#include "base/whole_file.h"
#include "base/yaml_member.h"
#include "ask/step_rows/step_fit.h"

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
    pace_jsonw_key_object(&json, "factors");
    for (int i = 0; i < PACE_STEP_FACTORS; i++) pace_jsonw_key_real(&json, pace_step_factor_names[i], factors[i]);
    pace_jsonw_object_end(&json);
    pace_fit_ranges_write(&json, fit->seen, pace_step_seen_names, PACE_STEP_SEEN);
    pace_fit_groups_write(&json, "groups", fit->groups, fit->group_count, "log_offset");
    pace_jsonw_key_real(&json, "model_spread", fit->model_spread);
    pace_fit_groups_write(&json, "models", fit->models, fit->model_count, "log_offset");
    pace_jsonw_document_end(&json);
    return PACE_OK;
}

pace_status pace_step_fit_save(const pace_step_fit *fit, const char *path) {
    return pace_whole_file_write(path, write_fit, (void *)fit); /* only read */
}

pace_status pace_step_fit_read(void *out, const pace_yaml *yaml) {
    pace_step_fit fit = {0};
    const pace_yaml_node *root = pace_yaml_root(yaml), *factors;
    double *values = (double *)&fit.factors;
    PACE_TRY(pace_yaml_check_schema(yaml, schema, "a fit of steps"));
    PACE_TRY(pace_yaml_copy(fit.unit, sizeof fit.unit, yaml, root, "unit"));
    PACE_TRY(pace_yaml_real(&fit.unit_s, yaml, root, "unit_s", 0, 1e6));
    if (fit.unit_s == 0 && !pace_step_is_rate(fit.unit))
        return pace_yaml_fail(yaml, root, "expected \"unit\" to be a rate where unit_s is 0, found \"%.40s\"",
                              fit.unit);
    PACE_TRY(pace_yaml_copy(fit.on, sizeof fit.on, yaml, root, "on"));
    PACE_TRY(pace_yaml_real(&fit.spread, yaml, root, "spread", 0, 10));
    PACE_TRY(pace_yaml_member(&factors, yaml, root, "factors"));
    for (int i = 0; i < PACE_STEP_FACTORS; i++)
        PACE_TRY(pace_yaml_real(&values[i], yaml, factors, pace_step_factor_names[i], 0, 1e6));
    PACE_TRY(pace_fit_ranges_read(fit.seen, yaml, pace_step_seen_names, PACE_STEP_SEEN));
    PACE_TRY(pace_fit_groups_read(fit.groups, &fit.group_count, yaml, "groups", "log_offset"));
    if (pace_yaml_get(root, "models")) {
        PACE_TRY(pace_yaml_real(&fit.model_spread, yaml, root, "model_spread", 0, 10));
        PACE_TRY(pace_fit_groups_read(fit.models, &fit.model_count, yaml, "models", "log_offset"));
    }
    *(pace_step_fit *)out = fit;
    return PACE_OK;
}

pace_status pace_step_fit_load(pace_step_fit *out, const char *path) {
    return pace_yaml_read_file(out, path, pace_step_fit_read);
}
