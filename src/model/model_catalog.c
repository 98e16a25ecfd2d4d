#include "model/model_catalog.h"

#include "machine/catalog.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* --- names -------------------------------------------------------------------------------------------------------- */

/* The next letter or digit, or a point between digits; the end of the name when there is none. */
static const char *next_letter(const char *name, const char *at) {
    for (; *at && *at != '('; at++) {
        if (isalnum((unsigned char)*at)) return at;
        if (*at == '.' && at > name && isdigit((unsigned char)at[-1]) && isdigit((unsigned char)at[1])) return at;
    }
    return "";
}

/* How many letters both begin with; whether that is all of both. */
static size_t common_start(bool *same, const char *a, const char *b) {
    size_t length = 0;
    for (const char *x = a, *y = b;; x++, y++, length++) {
        x = next_letter(a, x);
        y = next_letter(b, y);
        *same = !*x && !*y;
        if (!*x || tolower((unsigned char)*x) != tolower((unsigned char)*y)) return length;
    }
}

void pace_model_plain_name(char *out, size_t size, const char *name) {
    size_t used = 0;
    for (const char *c = next_letter(name, name); *c && used + 1 < size; c = next_letter(name, c + 1))
        out[used++] = (char)tolower((unsigned char)*c);
    out[used] = '\0';
}

bool pace_model_same_name(const char *a, const char *b) {
    bool same;
    common_start(&same, a, b);
    return same;
}

/* --- the catalogue ------------------------------------------------------------------------------------------------ */

/* Calls for each model of each file until it says stop. */
typedef pace_status (*visit_fn)(void *context, const pace_yaml *yaml, const char *name, bool *stop);

static pace_status visit_file(const char *file, visit_fn visit, void *context, bool *stop) {
    pace_yaml *yaml = NULL;
    PACE_TRY(pace_catalog_load(&yaml, file));
    pace_status status = PACE_OK;
    const char *name;
    for (size_t i = 0; status == PACE_OK && !*stop && (name = pace_model_variant(yaml, i)); i++)
        status = visit(context, yaml, name, stop);
    pace_yaml_free(yaml);
    return status;
}

static pace_status visit_models(visit_fn visit, void *context) {
    pace_catalog_names files = {0};
    PACE_TRY(pace_catalog_list(&files, "models/"));
    pace_status status = PACE_OK;
    bool stop = false;
    for (size_t i = 0; status == PACE_OK && !stop && i < files.names.count; i++)
        status = visit_file(files.names.items[i], visit, context, &stop);
    pace_catalog_names_free(&files);
    return status;
}

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

pace_status pace_model_each(pace_model_visit visit, void *context) {
    each_call call = {visit, context};
    return visit_models(build_and_visit, &call);
}

typedef struct {
    pace_model *out;
    const char *name;
    const pace_model_setting *settings;
    size_t setting_count;
    bool to_the_letter, found;
} search;

static pace_status build_when_named(void *context, const pace_yaml *yaml, const char *name, bool *stop) {
    search *wanted = context;
    if (wanted->to_the_letter ? strcmp(name, wanted->name) != 0 : !pace_model_same_name(name, wanted->name))
        return PACE_OK;
    wanted->found = *stop = true;
    return pace_model_build(wanted->out, yaml, name, wanted->settings, wanted->setting_count);
}

typedef struct {
    const char *name;
    char best[80];
} nearest;

static pace_status compare_name(void *context, const pace_yaml *yaml, const char *name, bool *stop) {
    nearest *found = context;
    bool same;
    (void)yaml, (void)stop;
    if (!*found->best || common_start(&same, found->name, name) > common_start(&same, found->name, found->best))
        snprintf(found->best, sizeof found->best, "%.79s", name);
    return PACE_OK;
}

static pace_status fail_unknown(const char *name) {
    nearest found = {.name = name};
    PACE_TRY(visit_models(compare_name, &found));
    return pace_fail(PACE_E_MISSING,
                     "the catalogue has no model \"%.80s\"; the closest name is \"%s\" (a file of yours ends with "
                     ".yaml)",
                     name, found.best);
}

/* "FILE.yaml" or "FILE.yaml:NAME" */
static pace_status load_file(pace_model *out, const char *name, const char *suffix, const pace_model_setting *settings,
                             size_t setting_count) {
    size_t length = (size_t)(suffix - name) + strlen(".yaml");
    char *path = pace_copy_text(name, length);
    pace_yaml *yaml = NULL;
    if (!path) return PACE_E_MEMORY;
    pace_status status = pace_catalog_load_file(&yaml, path);
    if (status == PACE_OK)
        status = pace_model_build(out, yaml, name[length] == ':' ? name + length + 1 : NULL, settings, setting_count);
    pace_yaml_free(yaml);
    pace_free(path);
    return status;
}

static pace_status load_standard_input(pace_model *out, const pace_model_setting *settings, size_t setting_count) {
    pace_yaml *yaml;
    PACE_TRY(pace_yaml_load(&yaml, "-"));
    pace_status status = pace_model_build(out, yaml, NULL, settings, setting_count);
    pace_yaml_free(yaml);
    return status;
}

pace_status pace_model_load(pace_model *out, const char *name, const pace_model_setting *settings,
                            size_t setting_count) {
    if (strcmp(name, "-") == 0) return load_standard_input(out, settings, setting_count);
    const char *suffix = strstr(name, ".yaml");
    if (suffix && (suffix[5] == '\0' || suffix[5] == ':')) return load_file(out, name, suffix, settings, setting_count);
    search wanted = {out, name, settings, setting_count, true, false};
    PACE_TRY(visit_models(build_when_named, &wanted));
    wanted.to_the_letter = false;
    if (!wanted.found && *name) PACE_TRY(visit_models(build_when_named, &wanted));
    return wanted.found ? PACE_OK : fail_unknown(name);
}
