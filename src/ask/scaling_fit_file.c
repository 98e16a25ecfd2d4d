/* A fit of scaling rows as JSON: {"schema", "spread", "compute", "inside", …, "groups": [{…}]}. */
#include "base/json_writer.h"
#include "base/whole_file.h"
#include "base/yaml.h"
#include "machine/catalog.h"
#include "ask/scaling_fit.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const char schema[] = "paceline.scaling-fit/1";

static const struct {
    const char *key;
    size_t offset;
    double least, most;
} figures[] = {{"spread", offsetof(pace_scaling_fit, spread), 0, 10},
               {"compute", offsetof(pace_scaling_fit, compute), 1e-6, 1e6},
               {"inside", offsetof(pace_scaling_fit, inside), 1e-6, 1e6},
               {"between", offsetof(pace_scaling_fit, between), 1e-6, 1e6},
               {"jitter", offsetof(pace_scaling_fit, jitter), -1, 1},
               {"fixed_s", offsetof(pace_scaling_fit, fixed_s), 0, 1e6}};

enum { FIGURES = sizeof figures / sizeof *figures };

static void real(pace_jsonw *json, const char *key, double value) {
    pace_jsonw_key(json, key);
    pace_jsonw_real(json, value);
}

static pace_status write_fit(pace_sink *sink, void *context) {
    const pace_scaling_fit *fit = context;
    pace_jsonw json;
    pace_jsonw_init(&json, sink, 2);
    pace_jsonw_object(&json);
    pace_jsonw_key(&json, "schema");
    pace_jsonw_text(&json, schema);
    for (size_t i = 0; i < FIGURES; i++)
        real(&json, figures[i].key, *(const double *)((const char *)fit + figures[i].offset));
    pace_jsonw_key(&json, "groups");
    pace_jsonw_array(&json);
    for (unsigned i = 0; i < fit->group_count; i++) {
        pace_jsonw_object(&json);
        pace_jsonw_key(&json, "name");
        pace_jsonw_text(&json, fit->groups[i].name);
        real(&json, "log_factor", fit->groups[i].log_offset);
        real(&json, "rows", fit->groups[i].rows);
        pace_jsonw_object_end(&json);
    }
    pace_jsonw_array_end(&json);
    pace_jsonw_object_end(&json);
    pace_sink_text(sink, "\n");
    return PACE_OK;
}

pace_status pace_scaling_fit_save(const pace_scaling_fit *fit, const char *path) {
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

static pace_status read_groups(pace_scaling_fit *fit, const pace_yaml *yaml, const pace_yaml_node *list) {
    for (size_t i = 0; i < pace_yaml_count(list); i++) {
        const pace_yaml_node *node = pace_yaml_item(list, i);
        pace_fit_group *group = &fit->groups[fit->group_count];
        const char *name = pace_yaml_text(pace_yaml_get(node, "name"));
        if (fit->group_count == PACE_FIT_GROUPS_MOST)
            return pace_fail(PACE_E_INPUT, "%s: expected at most %d groups", pace_yaml_place(yaml, node),
                             PACE_FIT_GROUPS_MOST);
        if (!name || strlen(name) >= sizeof group->name)
            return pace_fail(PACE_E_INPUT, "%s: expected \"name\", a text of less than %zu letters",
                             pace_yaml_place(yaml, node), sizeof group->name);
        snprintf(group->name, sizeof group->name, "%s", name);
        PACE_TRY(number(&group->log_offset, yaml, node, "log_factor", -10, 10));
        PACE_TRY(number(&group->rows, yaml, node, "rows", 0, 1e15));
        fit->group_count++;
    }
    return PACE_OK;
}

static pace_status read_fit(pace_scaling_fit *fit, const pace_yaml *yaml) {
    const pace_yaml_node *root = pace_yaml_root(yaml);
    const char *found = pace_yaml_text(pace_yaml_get(root, "schema"));
    if (!found || strcmp(found, schema) != 0)
        return pace_fail(PACE_E_INPUT, "%s: expected a fit of scaling rows (\"schema\": \"%s\"), found \"%.40s\"",
                         pace_yaml_place(yaml, root), schema, found ? found : "none");
    for (size_t i = 0; i < FIGURES; i++)
        PACE_TRY(number((double *)((char *)fit + figures[i].offset), yaml, root, figures[i].key, figures[i].least,
                        figures[i].most));
    return read_groups(fit, yaml, pace_yaml_get(root, "groups"));
}

static pace_status take(pace_scaling_fit *out, pace_yaml *yaml) {
    pace_scaling_fit fit = {0};
    pace_status status = read_fit(&fit, yaml);
    pace_yaml_free(yaml);
    if (status == PACE_OK) *out = fit;
    return status;
}

pace_status pace_scaling_fit_read(pace_scaling_fit *out, const char *name, const void *bytes, size_t length) {
    pace_yaml *yaml;
    PACE_TRY(pace_yaml_parse(&yaml, name, bytes, length));
    return take(out, yaml);
}

pace_status pace_scaling_fit_load(pace_scaling_fit *out, const char *path) {
    pace_yaml *yaml;
    PACE_TRY(pace_catalog_load_file(&yaml, path));
    return take(out, yaml);
}
