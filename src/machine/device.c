/*
 * The device catalogue: loading catalog/devices.yaml and finding a trace's device in it. Names are compared word
 * by word (letters and digits, case-insensitive), so that "L4" is not found in "L40S".
 */
#include "machine/device_entry.h"

#include "base/text.h"

#include <math.h>
#include <string.h>
#include <strings.h>

static pace_status refuse_twin(const pace_device_catalog *catalog, size_t index) {
    for (size_t i = 0; i < index; i++)
        if (strcasecmp(catalog->devices[i].name, catalog->devices[index].name) == 0)
            return pace_fail(PACE_E_INPUT, "%s: a second device named \"%s\"",
                             pace_yaml_place(catalog->yaml, catalog->nodes[index]), catalog->devices[index].name);
    return PACE_OK;
}

static pace_status read_devices(pace_device_catalog *catalog) {
    const pace_yaml_node *root = pace_yaml_root(catalog->yaml), *list = pace_yaml_get(root, "devices");
    if (!pace_yaml_is_list(list))
        return pace_fail(PACE_E_INPUT, "%s: expected a list \"devices\"", pace_yaml_place(catalog->yaml, root));
    size_t count = pace_yaml_count(list);
    catalog->devices = pace_alloc(count, sizeof *catalog->devices);
    catalog->nodes = pace_alloc(count, sizeof *catalog->nodes);
    if (!catalog->devices || !catalog->nodes) return PACE_E_MEMORY;
    for (size_t i = 0; i < count; i++) {
        catalog->nodes[i] = pace_yaml_item(list, i);
        PACE_TRY(pace_device_entry_read(&catalog->devices[i], catalog->yaml, catalog->nodes[i],
                                        pace_yaml_get(root, "sources")));
        PACE_TRY(refuse_twin(catalog, i));
        catalog->count++;
    }
    return PACE_OK;
}

/* Takes `yaml`. */
static pace_status take_yaml(pace_device_catalog *out, pace_yaml *yaml) {
    pace_device_catalog catalog = {.yaml = yaml};
    pace_status status = read_devices(&catalog);
    if (status != PACE_OK) pace_device_catalog_free(&catalog);
    else *out = catalog;
    return status;
}

pace_status pace_device_catalog_load(pace_device_catalog *out) {
    pace_yaml *yaml;
    PACE_TRY(pace_catalog_load(&yaml, "devices.yaml"));
    return take_yaml(out, yaml);
}

pace_status pace_device_catalog_load_file(pace_device_catalog *out, const char *path) {
    pace_yaml *yaml;
    PACE_TRY(pace_catalog_load_file(&yaml, path));
    return take_yaml(out, yaml);
}

void pace_device_catalog_free(pace_device_catalog *catalog) {
    for (size_t i = 0; i < catalog->extras.count; i++) {
        pace_device_catalog_free(&catalog->extras.items[i]->file); /* a file has no extras: one level */
        pace_free(catalog->extras.items[i]);
    }
    PACE_VEC_FREE(&catalog->extras);
    pace_yaml_free(catalog->yaml);
    pace_free(catalog->devices);
    pace_free(catalog->nodes);
    *catalog = (pace_device_catalog){0};
}

double pace_device_host_rate(const pace_device *device, const pace_doubts *doubts) {
    return device->pcie_bytes_per_s > 0 ? device->pcie_bytes_per_s : doubts->figure[PACE_DOUBT_HOST_LINK];
}

/* Moves `*at` behind the next word and returns its start; NULL when there is none. */
static const char *next_word(const char **at, size_t *length) {
    const char *start = *at;
    while (*start && !pace_is_alnum(*start)) start++;
    const char *end = start;
    while (pace_is_alnum(*end)) end++;
    *length = (size_t)(end - start);
    *at = end;
    return end > start ? start : NULL;
}

static bool has_word(const char *name, const char *word, size_t length) {
    size_t candidate_length;
    for (const char *at = name, *candidate; (candidate = next_word(&at, &candidate_length));)
        if (candidate_length == length && strncasecmp(candidate, word, length) == 0) return true;
    return false;
}

/* Characters of the phrase's words when all of them occur in `name`, else 0. */
static size_t match_length(const char *name, const char *phrase) {
    size_t sum = 0, length;
    for (const char *at = phrase, *word; (word = next_word(&at, &length)); sum += length)
        if (!has_word(name, word, length)) return 0;
    return sum;
}

static size_t best_match(const char *name, const pace_yaml_node *entry) {
    const pace_yaml_node *match = pace_yaml_get(entry, "match");
    size_t best = 0;
    for (size_t i = 0; i < pace_yaml_count(match); i++) {
        size_t length = match_length(name, pace_yaml_text(pace_yaml_item(match, i)));
        if (length > best) best = length;
    }
    return best;
}

static bool closer(double memory_bytes, const pace_device *candidate, const pace_device *best) {
    return memory_bytes > 0 && fabs(candidate->memory_bytes - memory_bytes) < fabs(best->memory_bytes - memory_bytes);
}

static const pace_device *named(const pace_device_catalog *catalog, const char *name) {
    for (size_t i = 0; i < catalog->count; i++)
        if (strcasecmp(catalog->devices[i].name, name) == 0) return &catalog->devices[i];
    for (size_t i = 0; i < catalog->extras.count; i++) {
        const pace_device *found = named(&catalog->extras.items[i]->file, name);
        if (found) return found;
    }
    return NULL;
}

const pace_device *pace_device_find(const pace_device_catalog *catalog, const char *name, double memory_bytes) {
    const pace_device *best = NULL;
    size_t best_length = 0;
    if (!name) return NULL;
    if (named(catalog, name)) return named(catalog, name);
    for (size_t i = 0; i < catalog->count; i++) {
        const pace_device *candidate = &catalog->devices[i];
        size_t length = best_match(name, catalog->nodes[i]);
        if (length == 0 || length < best_length) continue;
        if (best && length == best_length && !closer(memory_bytes, candidate, best)) continue;
        best = candidate;
        best_length = length;
    }
    return best;
}

static const char *text_or_none(const pace_yaml_node *node) {
    const char *text = pace_yaml_text(node);
    return text ? text : "";
}

static bool owns(const pace_device_catalog *catalog, const pace_device *device) {
    for (size_t i = 0; i < catalog->count; i++)
        if (&catalog->devices[i] == device) return true;
    return false;
}

/* The catalogue or file a device is of; NULL for one with changed figures. */
static const pace_device_catalog *owner(const pace_device_catalog *catalog, const pace_device *device) {
    if (owns(catalog, device)) return catalog;
    for (size_t i = 0; i < catalog->extras.count; i++)
        if (owns(&catalog->extras.items[i]->file, device)) return &catalog->extras.items[i]->file;
    return NULL;
}

pace_figure_source pace_device_figure_source(const pace_device_catalog *catalog, const pace_device *device,
                                             const char *key, const char *precision) {
    catalog = owner(catalog, device);
    if (!catalog) return (pace_figure_source){device->source, ""};
    const pace_yaml_node *entry = catalog->nodes[device - catalog->devices], *figure = pace_yaml_get(entry, key);
    if (precision) figure = pace_yaml_get(figure, precision);
    const pace_yaml_node *confidence = pace_yaml_get(figure, "confidence");
    const char *source = pace_yaml_text(pace_yaml_get(figure, "source"));
    const pace_yaml_node *sources = pace_yaml_get(pace_yaml_root(catalog->yaml), "sources");
    return (pace_figure_source){
        .source = source ? text_or_none(pace_yaml_get(sources, source)) : device->source,
        .confidence = text_or_none(confidence ? confidence : pace_yaml_get(entry, "confidence")),
    };
}
