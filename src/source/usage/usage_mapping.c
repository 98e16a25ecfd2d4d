#include "source/usage/usage_mapping.h"
#include "base/print.h"
#include "base/text.h"
#include "base/yaml_member.h"
#include "source/usage/usage_entries.h"

#include <math.h>
#include <string.h>

static const char *const take_names[PACE_TAKES] = {"first", "last", "sum", "count", "latest", "all"};
static const char *const of_names[] = {"jobs", "facts", "counters", "nothing"};
static const char *const form_names[] = {"delimited", "json", "samples"};
static const char *const spelling_names[] = {"exact", "loose"};
static const char *const running_names[] = {"as told", "open"};

/* The number of a member's word in a list; `missing` where the member may be left out, -1 = it must be there. */
static pace_status word_of(int *out, const pace_yaml *yaml, const pace_yaml_node *map, const char *key,
                           const char *const *words, int count, int missing) {
    const pace_yaml_node *node = pace_yaml_get(map, key);
    const char *text = pace_yaml_text(node);
    if (!node && missing >= 0) {
        *out = missing;
        return PACE_OK;
    }
    for (int i = 0; text && i < count; i++)
        if (strcmp(text, words[i]) == 0) {
            *out = i;
            return PACE_OK;
        }
    return pace_yaml_fail(yaml, node ? node : map,
                          "%s: expected \"%s\", or another of the words that docs/fleet.md lists, found \"%.40s\"", key,
                          words[0], text ? text : "");
}

static pace_status add_name(pace_usage_column *out, const pace_yaml *yaml, const pace_yaml_node *node) {
    const char *text = pace_yaml_text(node);
    if (!text || !*text || out->name_count == PACE_USAGE_NAMES)
        return pace_yaml_fail(yaml, node, "expected a column's name, at most %d of them", PACE_USAGE_NAMES);
    out->names[out->name_count++] = text;
    return PACE_OK;
}

/* A name, or a list of names. */
static pace_status read_names(pace_usage_column *out, const pace_yaml *yaml, const pace_yaml_node *node) {
    if (!pace_yaml_is_list(node)) return add_name(out, yaml, node);
    PACE_YAML_EACH (one, node) PACE_TRY(add_name(out, yaml, one));
    return out->name_count ? PACE_OK : add_name(out, yaml, node);
}

static pace_status check_members(const pace_yaml *yaml, const pace_yaml_node *map, const char *const *known) {
    PACE_YAML_EACH (entry, map) {
        const char *const *one = known;
        while (*one && strcmp(*one, pace_yaml_key_of(entry)) != 0) one++;
        if (!*one)
            return pace_yaml_fail(yaml, entry, "\"%.40s\" is unknown here; expected %s, …", pace_yaml_key_of(entry),
                                  known[0]);
    }
    return PACE_OK;
}

static pace_status read_unit(double *out, const pace_yaml *yaml, const pace_yaml_node *map, const char *key,
                             double otherwise) {
    *out = otherwise;
    return pace_yaml_get(map, key) ? pace_yaml_positive(out, yaml, map, key, 1e18) : PACE_OK;
}

static pace_status read_figures(const pace_yaml_node **out, const pace_yaml *yaml, const pace_yaml_node *map,
                                double most) {
    double figure;
    if (map && !pace_yaml_is_map(map)) return pace_yaml_fail(yaml, map, "expected a figure for each of several words");
    PACE_YAML_EACH (one, map) PACE_TRY(pace_yaml_positive(&figure, yaml, map, pace_yaml_key_of(one), most));
    *out = map;
    return PACE_OK;
}

/* Two names or more: a key and its count. */
static pace_status read_entries(const pace_yaml_node **out, const pace_yaml *yaml, const pace_yaml_node *list) {
    size_t count = pace_yaml_count(list);
    if (list && (!pace_yaml_is_list(list) || count < 2 || count > PACE_ENTRY_MEMBERS))
        return pace_yaml_fail(yaml, list, "expected a list of 2 to %d names", PACE_ENTRY_MEMBERS);
    for (size_t i = 0; i < count; i++)
        if (!pace_yaml_text(pace_yaml_item(list, i)))
            return pace_yaml_fail(yaml, pace_yaml_item(list, i), "expected the name of a member");
    *out = list;
    return PACE_OK;
}

static pace_status read_column(pace_usage_column *out, const pace_yaml *yaml, const pace_yaml_node *node) {
    static const char *const known[] = {"column", "unit", "units", "before", "list", "entries", "take", "slices", NULL};
    int take;
    out->unit = 1;
    if (!pace_yaml_is_map(node)) return read_names(out, yaml, node);
    const pace_yaml_node *column;
    PACE_TRY(check_members(yaml, node, known));
    PACE_TRY(pace_yaml_member(&column, yaml, node, "column"));
    PACE_TRY(read_names(out, yaml, column));
    PACE_TRY(read_unit(&out->unit, yaml, node, "unit", 1));
    PACE_TRY(word_of(&take, yaml, node, "take", take_names, PACE_TAKES, PACE_TAKE_FIRST));
    out->take = (pace_usage_take)take;
    out->before = pace_yaml_text_of(node, "before");
    out->list = pace_yaml_text_of(node, "list");
    PACE_TRY(read_entries(&out->entries, yaml, pace_yaml_get(node, "entries")));
    PACE_TRY(read_figures(&out->units, yaml, pace_yaml_get(node, "units"), 1e6));
    return read_figures(&out->slices, yaml, pace_yaml_get(node, "slices"), 64);
}

static pace_status read_fields(pace_usage_mapping *out, const pace_yaml *yaml, const pace_yaml_node *map) {
    PACE_YAML_EACH (one, map) {
        pace_usage_field field = pace_usage_field_named(pace_yaml_key_of(one));
        if (field == PACE_USAGE_FIELDS)
            return pace_yaml_fail(yaml, one, "\"%.40s\" is no field; docs/fleet.md lists them", pace_yaml_key_of(one));
        PACE_TRY(read_column(&out->fields[field], yaml, one));
    }
    return PACE_OK;
}

static pace_status read_metric(pace_usage_metric *out, const pace_yaml *yaml, const char *name,
                               const pace_yaml_node *map) {
    static const char *const known[] = {"field", "unit", "most", "device", NULL};
    const pace_yaml_node *field;
    PACE_TRY(pace_yaml_member(&field, yaml, map, "field"));
    PACE_TRY(check_members(yaml, map, known));
    out->name = name;
    out->field = pace_usage_field_named(pace_yaml_text(field) ? pace_yaml_text(field) : "");
    if (out->field < PACE_USAGE_COUNTERS_FROM || out->field == PACE_USAGE_FIELDS)
        return pace_yaml_fail(yaml, field, "expected a counter, such as active, found \"%.40s\"",
                              pace_yaml_text(field) ? pace_yaml_text(field) : "");
    out->device = pace_yaml_text_of(map, "device");
    PACE_TRY(read_unit(&out->unit, yaml, map, "unit", 1));
    return read_unit(&out->most, yaml, map, "most", HUGE_VAL);
}

static pace_status read_metrics(pace_usage_mapping *out, const pace_yaml *yaml, const pace_yaml_node *map) {
    PACE_YAML_EACH (one, map) {
        if (out->metric_count == PACE_USAGE_METRICS)
            return pace_yaml_fail(yaml, map, "expected at most %d metrics", PACE_USAGE_METRICS);
        PACE_TRY(read_metric(&out->metrics[out->metric_count++], yaml, pace_yaml_key_of(one), one));
    }
    return PACE_OK;
}

static pace_status check_states(const pace_yaml *yaml, const pace_yaml_node *map) {
    int state;
    PACE_YAML_EACH (one, map)
        PACE_TRY(word_of(&state, yaml, map, pace_yaml_key_of(one), pace_usage_state_names, PACE_STATES, -1));
    return PACE_OK;
}

static pace_status read_form(pace_usage_mapping *out, const pace_yaml *yaml, const pace_yaml_node *root) {
    int of, form, spelling, running;
    PACE_TRY(word_of(&of, yaml, root, "of", of_names, 4, -1));
    PACE_TRY(word_of(&form, yaml, root, "form", form_names, 3, -1));
    PACE_TRY(word_of(&spelling, yaml, root, "spelling", spelling_names, 2, 0));
    out->of = (pace_usage_of)of;
    out->loose = spelling == 1;
    PACE_TRY(word_of(&running, yaml, root, "running", running_names, 2, 0));
    out->open = running == 1;
    out->json = form == 1;
    out->samples = form == 2;
    const char *separator = pace_yaml_text_of(root, "separator");
    if (separator && strlen(separator) != 1)
        return pace_yaml_fail(yaml, pace_yaml_get(root, "separator"),
                              "expected a separator of one character, found \"%.40s\"", separator);
    out->separator = separator ? *separator : ',';
    out->rows = pace_yaml_text_of(root, "rows");
    out->each = pace_yaml_text_of(root, "each");
    const pace_yaml_node *skip = pace_yaml_get(root, "leave_out");
    out->skip_column = pace_yaml_text_of(skip, "column");
    out->skip_having = pace_yaml_text_of(skip, "having");
    return read_unit(&out->gap_s, yaml, root, "gap_s", 600);
}

/* What rows of a kind are of no use without. */
static pace_status check_needed(const pace_usage_mapping *m, const pace_yaml *yaml, const pace_yaml_node *fields) {
    static const pace_usage_field needed[][3] = {{PACE_USAGE_GPUS, PACE_USAGE_FIELDS, PACE_USAGE_FIELDS},
                                                 {PACE_USAGE_FIELDS, PACE_USAGE_FIELDS, PACE_USAGE_FIELDS},
                                                 {PACE_USAGE_AT, PACE_USAGE_DEVICE, PACE_USAGE_FIELDS},
                                                 {PACE_USAGE_FIELDS, PACE_USAGE_FIELDS, PACE_USAGE_FIELDS}};
    for (const pace_usage_field *f = needed[m->of]; *f != PACE_USAGE_FIELDS; f++)
        if (m->fields[*f].name_count == 0 && !(*f == PACE_USAGE_DEVICE && m->metric_count && m->metrics[0].device))
            return pace_yaml_fail(yaml, fields, "expected the field \"%s\", found none", pace_usage_fields[*f].name);
    return PACE_OK;
}

pace_status pace_usage_mapping_read(pace_usage_mapping *out, const pace_yaml *yaml) {
    static const char *const known[] = {"schema",    "name",    "title",     "source",  "of",    "form",
                                        "separator", "columns", "known_by",  "rows",    "each",  "gap_s",
                                        "fields",    "states",  "leave_out", "missing", "zones", "metrics",
                                        "spelling",  "running", "parts",     NULL};
    const pace_yaml_node *root = pace_yaml_root(yaml), *fields;
    *out = (pace_usage_mapping){.yaml = yaml, .zone_s = NAN};
    PACE_TRY(pace_yaml_check_schema(yaml, "paceline.cluster/1", "a mapping of a cluster's records"));
    PACE_TRY(check_members(yaml, root, known));
    PACE_TRY(read_form(out, yaml, root));
    fields = pace_yaml_get(root, "fields");
    if (out->of != PACE_USAGE_OF_NOTHING) PACE_TRY(pace_yaml_member(&fields, yaml, root, "fields"));
    PACE_TRY(read_fields(out, yaml, fields));
    PACE_TRY(read_metrics(out, yaml, pace_yaml_get(root, "metrics")));
    PACE_TRY(check_needed(out, yaml, fields));
    out->states = pace_yaml_get(root, "states");
    out->parts = pace_yaml_get(root, "parts");
    PACE_TRY(check_states(yaml, out->states));
    out->columns = pace_yaml_get(root, "columns");
    out->known_by = pace_yaml_get(root, "known_by");
    out->missing = pace_yaml_get(root, "missing");
    out->times.zones = pace_yaml_get(root, "zones");
    out->name = pace_yaml_text_of(root, "name");
    out->title = pace_yaml_text_of(root, "title");
    if (!out->name) out->name = "own";
    if (!out->title) out->title = out->name;
    return PACE_OK;
}

static pace_status add_own(pace_usage_mappings *out, const char *path) {
    pace_yaml *yaml;
    pace_usage_mapping mapping;
    PACE_TRY(pace_yaml_load(&yaml, path));
    pace_status status = pace_usage_mapping_read(&mapping, yaml);
    mapping.own = yaml;
    if (status == PACE_OK) status = PACE_PUSH(out, mapping);
    if (status != PACE_OK) pace_yaml_free(yaml);
    return status;
}

static pace_status add_known(pace_usage_mappings *out, pace_catalog *catalog, const char *name) {
    const pace_yaml *yaml;
    pace_usage_mapping mapping;
    PACE_TRY(pace_catalog_document(&yaml, catalog, name));
    PACE_TRY(pace_usage_mapping_read(&mapping, yaml));
    return PACE_PUSH(out, mapping);
}

static void free_kept(void *value) { pace_usage_mappings_free(value); }

static pace_status make_kept(void *value, pace_catalog *catalog) {
    pace_catalog_names list;
    PACE_TRY(pace_catalog_list(&list, catalog, "clusters/"));
    pace_status status = PACE_OK;
    for (size_t i = 0; status == PACE_OK && i < list.names.count; i++)
        status = add_known(value, catalog, list.names.items[i]);
    pace_catalog_names_free(&list);
    return status;
}

pace_status pace_usage_mappings_load(pace_usage_mappings *out, pace_catalog *catalog, const pace_words *own) {
    static const char *const files[] = {"clusters/", NULL};
    static const pace_catalog_kind kind = {sizeof(pace_usage_mappings), make_kept, free_kept, files};
    const void *kept;
    *out = (pace_usage_mappings){0};
    for (size_t i = 0; i < own->count; i++) PACE_TRY(add_own(out, own->items[i]));
    PACE_TRY(pace_catalog_kept(&kept, catalog, &kind));
    const pace_usage_mappings *known = kept;
    for (size_t i = 0; i < known->count; i++) PACE_TRY(PACE_PUSH(out, known->items[i]));
    return PACE_OK;
}

void pace_usage_mappings_free(pace_usage_mappings *mappings) {
    for (size_t i = 0; i < mappings->count; i++) pace_yaml_free(mappings->items[i].own);
    PACE_VEC_FREE(mappings);
}

/* "*part*" is any text with this part. */
static bool is_like(pace_usage_text text, const char *word) {
    char part[64];
    if (*word != '*' || !pace_ends(word, "*")) return pace_span_is(text.data, text.length, word);
    pace_snprintf(part, sizeof part, "%.*s", (int)strcspn(word + 1, "*"), word + 1);
    return *part && pace_span_holds(text.data, text.length, part);
}

bool pace_usage_is_missing(const pace_usage_mapping *mapping, pace_usage_text text) {
    PACE_YAML_EACH (one, mapping->missing) {
        const char *word = pace_yaml_text(one);
        if (word && is_like(text, word)) return true;
    }
    return false;
}

const pace_usage_metric *pace_usage_metric_named(const pace_usage_mapping *mapping, pace_usage_text name) {
    for (size_t i = 0; i < mapping->metric_count; i++)
        if (pace_span_is(name.data, name.length, mapping->metrics[i].name)) return &mapping->metrics[i];
    return NULL;
}
