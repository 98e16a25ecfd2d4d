#include "forecast/remedy_catalog.h"
#include "base/yaml_member.h"

#include <string.h>

void pace_remedy_catalog_free(pace_remedy_catalog *catalog) { PACE_VEC_FREE(&catalog->rows, &catalog->hints); }

static pace_status read_what_if(const pace_what_if **out, const pace_yaml *yaml, const pace_yaml_node *row) {
    const char *name;
    PACE_TRY(pace_yaml_word(&name, yaml, row, "what_if"));
    for (size_t i = 0; i < pace_what_if_count; i++)
        if (strcmp(pace_what_ifs[i]->option.name, name) == 0) {
            *out = pace_what_ifs[i];
            return PACE_OK;
        }
    return pace_yaml_fail(yaml, row, "there is no what-if \"%.60s\"", name);
}

static pace_status read_resource(pace_advice *out, const pace_yaml *yaml, const pace_yaml_node *node) {
    const char *name = pace_yaml_text(node);
    int found = 0;
    while (found < PACE_ADVICES && !(name && strcmp(pace_advice_names[found], name) == 0)) found++;
    if (found == PACE_ADVICES)
        return pace_yaml_fail(yaml, node, "expected a resource (compute, memory, ...), found \"%.40s\"",
                              name ? name : "");
    *out = (pace_advice)found;
    return PACE_OK;
}

static pace_status read_resources(unsigned *out, const pace_yaml *yaml, const pace_yaml_node *row) {
    const pace_yaml_node *list;
    PACE_TRY(pace_yaml_list(&list, yaml, row, "resources"));
    for (size_t i = 0; i < pace_yaml_count(list); i++) {
        pace_advice resource = PACE_ADVICES;
        PACE_TRY(read_resource(&resource, yaml, pace_yaml_item(list, i)));
        *out |= 1U << resource;
    }
    return PACE_OK;
}

static pace_status read_values(pace_remedy_row *out, const pace_yaml *yaml, const pace_yaml_node *row) {
    static const char *const kinds[] = {[PACE_REMEDY_WORKERS] = "workers", [PACE_REMEDY_DOUBLE] = "double_batch"};
    const pace_yaml_node *values = pace_yaml_get(row, "values");
    const char *word = values ? pace_yaml_text(values) : NULL;
    if ((values != NULL) != (out->what_if->option.argument != NULL))
        return pace_yaml_fail(yaml, row, "expected values for a what-if that takes one, and none for a flag");
    if (!values) return PACE_OK;
    if (pace_yaml_is_list(values) && pace_yaml_count(values) > 0) {
        out->value = PACE_REMEDY_LISTED;
        out->values = values;
        return PACE_OK;
    }
    for (int i = PACE_REMEDY_WORKERS; word && i <= PACE_REMEDY_DOUBLE; i++)
        if (strcmp(word, kinds[i]) == 0) {
            out->value = (pace_remedy_value)i;
            return PACE_OK;
        }
    return pace_yaml_fail(yaml, values, "values: expected a list, \"workers\" or \"double_batch\"");
}

static pace_status read_row(pace_remedy_catalog *out, const pace_yaml *yaml, const pace_yaml_node *node) {
    const char *unused;
    pace_remedy_row row = {0};
    PACE_TRY(pace_yaml_word(&row.id, yaml, node, "id"));
    PACE_TRY(read_what_if(&row.what_if, yaml, node));
    PACE_TRY(read_resources(&row.resources, yaml, node));
    PACE_TRY(read_values(&row, yaml, node));
    PACE_TRY(pace_yaml_flag(&row.spread_host, yaml, node, "spread_host"));
    PACE_TRY(pace_yaml_flag(&row.all_values, yaml, node, "all_values"));
    if (pace_yaml_get(node, "unless")) PACE_TRY(pace_yaml_word(&row.unless, yaml, node, "unless"));
    if (pace_yaml_get(node, "only_if")) PACE_TRY(pace_yaml_word(&row.only_if, yaml, node, "only_if"));
    if (pace_yaml_get(node, "or_repeated")) PACE_TRY(pace_yaml_word(&row.or_repeated, yaml, node, "or_repeated"));
    if (pace_yaml_get(node, "done_if")) PACE_TRY(pace_yaml_word(&row.done_if, yaml, node, "done_if"));
    PACE_TRY(pace_yaml_word(&row.says, yaml, node, "says"));
    PACE_TRY(pace_yaml_word(&row.how, yaml, node, "how"));
    PACE_TRY(pace_yaml_word(&row.rests_on, yaml, node, "rests_on"));
    if (pace_yaml_get(node, "how_to_infer")) PACE_TRY(pace_yaml_word(&row.how_to_infer, yaml, node, "how_to_infer"));
    if (pace_yaml_get(node, "infers_on")) PACE_TRY(pace_yaml_word(&row.infers_on, yaml, node, "infers_on"));
    PACE_TRY(pace_yaml_real(&row.spread, yaml, node, "spread", 0, 3));
    PACE_TRY(pace_yaml_word(&unused, yaml, node, "source"));
    PACE_TRY(pace_yaml_word(&unused, yaml, node, "confidence"));
    return PACE_PUSH(&out->rows, row);
}

static pace_status read_hint(pace_remedy_catalog *out, const pace_yaml *yaml, const pace_yaml_node *node) {
    pace_remedy_hint hint = {.most_stretch = 1};
    const char *resource;
    PACE_TRY(pace_yaml_word(&hint.id, yaml, node, "id"));
    PACE_TRY(pace_yaml_word(&resource, yaml, node, "resource"));
    hint.resource = PACE_ADVICES;
    if (strcmp(resource, "any") != 0) PACE_TRY(read_resource(&hint.resource, yaml, pace_yaml_get(node, "resource")));
    PACE_TRY(pace_yaml_flag(&hint.last, yaml, node, "last"));
    if (!hint.last) PACE_TRY(pace_yaml_word(&hint.names, yaml, node, "names"));
    PACE_TRY(pace_yaml_word(&hint.says, yaml, node, "says"));
    PACE_TRY(pace_yaml_flag(&hint.of_long_steps, yaml, node, "of_long_steps"));
    PACE_TRY(pace_yaml_flag(&hint.without_shapes, yaml, node, "without_shapes"));
    if (pace_yaml_get(node, "unless")) PACE_TRY(pace_yaml_word(&hint.unless, yaml, node, "unless"));
    if (pace_yaml_get(node, "rules_out")) PACE_TRY(pace_yaml_word(&hint.rules_out, yaml, node, "rules_out"));
    if (pace_yaml_get(node, "least_stretch"))
        PACE_TRY(pace_yaml_real(&hint.least_stretch, yaml, node, "least_stretch", 0, 1));
    if (pace_yaml_get(node, "most_stretch"))
        PACE_TRY(pace_yaml_real(&hint.most_stretch, yaml, node, "most_stretch", 0, 1));
    return PACE_PUSH(&out->hints, hint);
}

static pace_status read_all(pace_remedy_catalog *out, const pace_yaml *yaml) {
    const pace_yaml_node *root = pace_yaml_root(yaml), *list;
    PACE_TRY(pace_yaml_real(&out->threshold, yaml, root, "threshold", 0, 1));
    PACE_TRY(pace_yaml_real(&out->most_error, yaml, root, "most_error", 0, 1));
    PACE_TRY(pace_yaml_real(&out->headroom, yaml, root, "headroom", 1, 100));
    PACE_TRY(pace_yaml_whole(&out->most_tasks, yaml, root, "most_tasks", 1, INT32_MAX));
    PACE_TRY(pace_yaml_whole(&out->most_alone, yaml, root, "most_alone", 1, INT32_MAX));
    PACE_TRY(pace_yaml_whole(&out->most_workers, yaml, root, "most_workers", 1, 100000));
    PACE_TRY(pace_yaml_list(&list, yaml, root, "remedies"));
    for (size_t i = 0; i < pace_yaml_count(list); i++) PACE_TRY(read_row(out, yaml, pace_yaml_item(list, i)));
    PACE_TRY(pace_yaml_list(&list, yaml, root, "hints"));
    for (size_t i = 0; i < pace_yaml_count(list); i++) PACE_TRY(read_hint(out, yaml, pace_yaml_item(list, i)));
    return PACE_OK;
}

pace_status pace_remedy_catalog_load(pace_remedy_catalog *out, pace_catalog *catalog) {
    const pace_yaml *yaml;
    pace_remedy_catalog read = {0};
    PACE_TRY(pace_catalog_document(&yaml, catalog, "remedies.yaml"));
    pace_status status = read_all(&read, yaml);
    return PACE_GIVE(out, read, status, pace_remedy_catalog_free(&read));
}
