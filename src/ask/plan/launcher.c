#include "ask/plan/launcher.h"
#include "base/print.h"
#include "base/text.h"
#include "base/yaml_member.h"
#include "model/pipeline_stages.h"

#include <math.h>
#include <string.h>

enum { LINE_MOST = 256 };

static bool figure_of(double *out, const pace_launching *l, const char *name, size_t length) {
    const pace_config *c = l->config;
    const double ends = pace_ends_count(l->layers, c->pp, c->vpp);
    const bool uneven = !(ends > 0) && fmod(l->layers, c->pp * c->vpp) != 0;
    const struct {
        const char *name;
        double value;
    } figures[] = {{"tp", c->tp},
                   {"pp", c->pp},
                   {"vpp", c->vpp},
                   {"cp", c->cp},
                   {"ep", c->ep},
                   {"whole_experts", c->tp > 1 && pace_config_expert_split(c) == 1},
                   {"experts", l->tables ? 1 : c->ep},
                   {"tables", l->tables ? c->ep : 1},
                   {"dp", c->dp},
                   {"zero_stage", c->zero_stage},
                   {"zero_group", c->zero_group},
                   {"copies", pace_config_copies(c)},
                   {"shard_dp", c->dp / pace_config_copies(c)},
                   {"sequence_parallel", c->sequence_parallel},
                   {"micro_batch", c->micro_batch},
                   {"accumulation", pace_config_micro_batches(c)},
                   {"global_batch", c->global_batch},
                   {"local_batch", c->global_batch / c->dp},
                   {"sequence", l->sequence},
                   {"nodes", l->nodes},
                   {"devices_of_node", l->devices_of_node},
                   {"devices", l->nodes * l->devices_of_node},
                   {"ends_count", ends},
                   {"modules", c->recompute_modules},
                   {"recompute_layers", c->recompute_layers},
                   {"layers_uneven", uneven},
                   {"layers_even", !uneven},
                   {"layers_of_chunk", (l->layers + 2 * ends) / (c->pp * c->vpp)}};
    for (size_t i = 0; i < PACE_COUNT(figures); i++)
        if (pace_span_is(name, length, figures[i].name)) {
            *out = figures[i].value;
            return true;
        }
    return false;
}

static pace_status fail_name(const pace_yaml *yaml, const pace_yaml_node *node, const char *name, size_t length) {
    return pace_yaml_fail(yaml, node, "expected a figure of a configuration, found \"%.*s\"", (int)length, name);
}

static pace_status check_above(bool *holds, const pace_yaml *yaml, const pace_yaml_node *above,
                               const pace_launching *l) {
    PACE_YAML_EACH (one, above) {
        const char *name = pace_yaml_key_of(one);
        double figure, limit;
        if (!figure_of(&figure, l, name, strlen(name))) return fail_name(yaml, above, name, strlen(name));
        PACE_TRY(pace_yaml_number(&limit, yaml, one));
        *holds &= figure > limit;
    }
    return PACE_OK;
}

static pace_status check_is(bool *holds, const pace_yaml *yaml, const pace_yaml_node *is, const pace_launching *l) {
    PACE_YAML_EACH (one, is) {
        const char *name = pace_yaml_key_of(one), *value = pace_yaml_text(one);
        const char *word = pace_config_has(name) ? pace_config_word(l->config, name) : NULL;
        double figure, wanted;
        if (word) *holds &= value && strcmp(word, value) == 0;
        else if (!figure_of(&figure, l, name, strlen(name))) return fail_name(yaml, is, name, strlen(name));
        else {
            PACE_TRY(pace_yaml_number(&wanted, yaml, one));
            *holds &= figure == wanted;
        }
    }
    return PACE_OK;
}

/* With blanks between them, as on a command line. */
static void append_modules(char out[LINE_MOST], const pace_config *config) {
    char names[LINE_MOST];
    pace_config_modules_text(names, sizeof names, (unsigned)config->recompute_modules);
    for (char *c = names; *c; c++)
        if (*c == '+') *c = ' ';
    pace_append(out, LINE_MOST, "%s", names);
}

/* "--micro-batch-size {micro_batch}" with its figures. */
static pace_status fill_in(char out[LINE_MOST], const pace_yaml *yaml, const pace_yaml_node *node,
                           const pace_launching *l) {
    const char *text = pace_yaml_text(node);
    if (!text) return pace_yaml_fail(yaml, node, "expected a text");
    *out = '\0';
    while (*text && strlen(out) + 1 < LINE_MOST) {
        size_t plain = strcspn(text, "{"), name;
        double figure;
        pace_append(out, LINE_MOST, "%.*s", (int)plain, text);
        text += plain;
        if (!*text || strlen(out) + 1 >= LINE_MOST) break;
        if (text[1] == '{') { /* "{{" is a brace */
            pace_append(out, LINE_MOST, "{");
            text += 2;
            continue;
        }
        name = strcspn(text + 1, "}");
        if (pace_span_is(text + 1, name, "recompute_modules")) append_modules(out, l->config);
        else if (!figure_of(&figure, l, text + 1, name)) return fail_name(yaml, node, text + 1, name);
        else pace_append(out, LINE_MOST, "%.0f", figure);
        text += 1 + name + (text[1 + name] == '}');
    }
    return PACE_OK;
}

static pace_status add_lines(pace_texts *out, const pace_yaml *yaml, const pace_yaml_node *lines,
                             const pace_launching *l) {
    PACE_YAML_EACH (line, lines) {
        char text[LINE_MOST];
        bool holds = true;
        PACE_TRY(check_above(&holds, yaml, pace_yaml_get(line, "above"), l));
        PACE_TRY(check_is(&holds, yaml, pace_yaml_get(line, "is"), l));
        PACE_TRY(fill_in(text, yaml, pace_yaml_get(line, "text"), l));
        if (holds) PACE_TRY(pace_texts_add(out, text));
    }
    return PACE_OK;
}

static bool is_of(const pace_yaml_node *launcher, const char *framework) {
    const pace_yaml_node *names = pace_yaml_get(launcher, "frameworks");
    PACE_YAML_EACH (one, names) {
        const char *name = pace_yaml_text(one);
        if (name && strcmp(name, framework) == 0) return true;
    }
    return false;
}

pace_status pace_launch_frameworks(const char *names[PACE_LAUNCHERS_MOST], size_t *count, pace_catalog *catalog) {
    const pace_yaml *yaml;
    const pace_yaml_node *all;
    PACE_TRY(pace_catalog_document(&yaml, catalog, "launchers.yaml"));
    PACE_TRY(pace_yaml_member(&all, yaml, pace_yaml_root(yaml), "launchers"));
    *count = 0;
    for (size_t i = 0; i < pace_yaml_count(all) && *count < PACE_LAUNCHERS_MOST; i++) {
        const char *name = pace_yaml_text(pace_yaml_item(pace_yaml_get(pace_yaml_item(all, i), "frameworks"), 0));
        const char *offered = pace_yaml_text_of(pace_yaml_item(all, i), "offered");
        if (name && !(offered && strcmp(offered, "no") == 0)) names[(*count)++] = name;
    }
    return PACE_OK;
}

pace_status pace_launch_lines(const char **name, pace_texts *lines, pace_catalog *catalog,
                              const pace_launching *launch) {
    const pace_yaml *yaml;
    const pace_yaml_node *all, *chosen = NULL;
    PACE_TRY(pace_catalog_document(&yaml, catalog, "launchers.yaml"));
    PACE_TRY(pace_yaml_member(&all, yaml, pace_yaml_root(yaml), "launchers"));
    PACE_YAML_EACH (one, all)
        if (is_of(one, launch->framework)) chosen = one;
    *name = chosen ? pace_yaml_text_of(chosen, "name") : NULL;
    return add_lines(lines, yaml, pace_yaml_get(chosen, "lines"), launch);
}
