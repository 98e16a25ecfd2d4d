#include "model/model_catalog.h"

#include "base/input.h"
#include "base/print.h"
#include "base/text.h"
#include "machine/catalog.h"
#include "model/hub_config.h"
#include "model/model_build.h"
#include "model/model_names.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    pace_model_visit visit;
    void *context;
} each_call;

static pace_status build_and_visit(void *context, const pace_yaml *yaml, const char *name, bool *stop) {
    const each_call *call = context;
    pace_model model;
    (void)stop;
    PACE_TRY(pace_model_build(&model, yaml, name, NULL, 0));
    pace_status status = call->visit(call->context, &model);
    pace_model_free(&model);
    return status;
}

pace_status pace_model_each(pace_catalog *catalog, pace_model_visit visit, void *context) {
    each_call call = {visit, context};
    return pace_model_each_description(catalog, build_and_visit, &call);
}

typedef struct {
    pace_model *out;
    const char *name;
    const pace_model_setting *settings;
    size_t setting_count;
    bool to_the_letter, found;
    pace_catalog *catalog;
} search;

static pace_status build_when_named(void *context, const pace_yaml *yaml, const char *name, bool *stop) {
    search *wanted = context;
    if (wanted->to_the_letter ? strcmp(name, wanted->name) != 0 : !pace_model_same_name(name, wanted->name))
        return PACE_OK;
    wanted->found = *stop = true;
    return pace_model_build_as_set(wanted->out, yaml, name, wanted->settings, wanted->setting_count);
}

/* The model that a name of others means, with images of the size that stands in that name unless settings have one. */
static pace_status build_called(search *wanted, const char *name, bool takes_image) {
    PACE_VEC(pace_model_setting) settings = {0};
    double image = takes_image ? pace_model_name_image(wanted->name) : 0;
    pace_status status = PACE_OK;
    for (size_t i = 0; status == PACE_OK && i < wanted->setting_count; i++) {
        if (strcmp(wanted->settings[i].key, "image") == 0) image = 0;
        status = PACE_PUSH(&settings, wanted->settings[i]);
    }
    const pace_model_setting said = {.key = "image", .value = image, .text = ""};
    if (status == PACE_OK && image > 0) status = PACE_PUSH(&settings, said);
    search other = {wanted->out, name, settings.items, settings.count, true, false, wanted->catalog};
    if (status == PACE_OK) status = pace_model_each_description(wanted->catalog, build_when_named, &other);
    PACE_VEC_FREE(&settings);
    return status;
}

/* By a name that others use for it; else the closest is named. */
static pace_status build_when_called(search *wanted) {
    pace_model_names names;
    PACE_TRY(pace_model_names_load(&names, wanted->catalog));
    const pace_model_called *called = pace_model_names_find(&names, wanted->name);
    char name[64];
    snprintf(name, sizeof name, "%s", called ? called->model : pace_model_names_closest(&names, wanted->name));
    bool takes_image = called && pace_model_called_takes(called, "image");
    pace_model_names_free(&names);
    if (!called && pace_is_file(wanted->name))
        return pace_fail(PACE_E_INPUT, "%s: expected a description of a model, whose name ends with .yaml",
                         wanted->name);
    if (!called)
        return pace_fail(PACE_E_MISSING,
                         "%sthe catalogue has no model \"%.80s\"%s%s%s (a file of yours ends with .yaml)",
                         strchr(wanted->name, '/') ? "there is no such file, and " : "", wanted->name,
                         *name ? "; the closest name is \"" : "", name, *name ? "\"" : "");
    return build_called(wanted, name, takes_image);
}

size_t pace_model_path_length(const char *name) {
    static const char *const suffixes[] = {".yaml", ".yml"};
    for (size_t i = 0; i < PACE_COUNT(suffixes); i++) {
        const char *suffix = strstr(name, suffixes[i]);
        const char *end = suffix ? suffix + strlen(suffixes[i]) : NULL;
        if (end && (*end == '\0' || *end == ':')) return (size_t)(end - name);
    }
    return 0;
}

/* What the hub calls it, without its owner; else its type. */
static pace_status name_as_hub(pace_model *model, const pace_yaml *yaml) {
    const char *path = pace_yaml_text_of(pace_yaml_root(yaml), "_name_or_path");
    const char *slash = path ? strrchr(path, '/') : NULL, *name = slash ? slash + 1 : path;
    if (!name || !*name) name = pace_yaml_text_of(pace_yaml_root(yaml), "model_type");
    return pace_names_add(&model->name, &model->names, name, strlen(name));
}

/* A user's settings go before those of the configuration. */
static pace_status load_hub_config(pace_model *out, pace_catalog *catalog, const pace_yaml *yaml,
                                   const pace_model_setting *settings, size_t setting_count) {
    pace_hub_config config = {0};
    pace_status status = pace_hub_config_read(&config, catalog, yaml);
    for (size_t i = 0; status == PACE_OK && i < setting_count; i++) {
        size_t at = 0;
        while (at < config.settings.count && strcmp(config.settings.items[at].key, settings[i].key) != 0) at++;
        if (at < config.settings.count) config.settings.items[at] = settings[i];
        else status = PACE_PUSH(&config.settings, settings[i]);
    }
    if (status == PACE_OK)
        status = pace_model_load(out, catalog, config.model, config.settings.items, config.settings.count);
    bool text_alone = config.text_alone;
    pace_hub_config_free(&config);
    if (status == PACE_E_USAGE && setting_count == 0) { /* not the user's settings are at fault */
        char why[400];
        pace_snprintf(why, sizeof why, "%s", pace_message_marked());
        return pace_yaml_fail(yaml, pace_yaml_root(yaml), "%s", why);
    }
    if (status != PACE_OK) return status;
    out->text_alone = text_alone;
    status = name_as_hub(out, yaml);
    if (status != PACE_OK) pace_model_free(out);
    return status;
}

static pace_status load_document(pace_model *out, pace_catalog *catalog, const pace_yaml *yaml, const char *path,
                                 const char *name, const pace_model_setting *settings, size_t setting_count) {
    if (pace_hub_config_is(yaml)) return load_hub_config(out, catalog, yaml, settings, setting_count);
    if (pace_has_suffix(path, ".json"))
        return pace_fail(
            PACE_E_INPUT,
            "%s: expected a description of a model, a configuration of Hugging Face's hub where it is JSON", path);
    return pace_model_build_as_set(out, yaml, name, settings, setting_count);
}

/* `length` bytes of the name are the file's path, behind which ":NAME" may stand. */
static pace_status load_file(pace_model *out, pace_catalog *catalog, const char *name, size_t length,
                             const pace_model_setting *settings, size_t setting_count) {
    char *path = pace_copy_text(name, length);
    pace_yaml *yaml = NULL;
    if (!path) return PACE_E_MEMORY;
    pace_status status = pace_yaml_load(&yaml, path);
    if (status == PACE_OK)
        status = load_document(out, catalog, yaml, path, name[length] == ':' ? name + length + 1 : NULL, settings,
                               setting_count);
    pace_yaml_free(yaml);
    pace_free(path);
    return status;
}

pace_status pace_model_load(pace_model *out, pace_catalog *catalog, const char *name,
                            const pace_model_setting *settings, size_t setting_count) {
    size_t path =
        strcmp(name, "-") == 0 || pace_has_suffix(name, ".json") ? strlen(name) : pace_model_path_length(name);
    if (path > 0) return load_file(out, catalog, name, path, settings, setting_count);
    search wanted = {out, name, settings, setting_count, true, false, catalog};
    PACE_TRY(pace_model_each_description(catalog, build_when_named, &wanted));
    wanted.to_the_letter = false;
    if (!wanted.found && *name) PACE_TRY(pace_model_each_description(catalog, build_when_named, &wanted));
    return wanted.found ? PACE_OK : build_when_called(&wanted);
}
