/*
 * The device catalogue: reading catalog/devices.yaml and finding a trace's device in it. Names are compared word
 * by word (letters and digits, case-insensitive), so that "L4" is not found in "L40S".
 */
#include "machine/device.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *const precision_keys[PACE_PRECISIONS] = {
    [PACE_FP64] = "fp64", [PACE_FP32] = "fp32", [PACE_TF32] = "tf32", [PACE_FP16] = "fp16",
    [PACE_BF16] = "bf16", [PACE_FP8] = "fp8",   [PACE_INT8] = "int8",
};

static const char *const text_keys[] = {"name", "vendor", "match", "source", "confidence", "flop_per_s"};

static const struct {
    const char *key;
    size_t offset;
} number_keys[] = {
    {"boost_hz", offsetof(pace_device, boost_hz)},
    {"memory_bytes", offsetof(pace_device, memory_bytes)},
    {"memory_bytes_per_s", offsetof(pace_device, memory_bytes_per_s)},
    {"l2_bytes", offsetof(pace_device, l2_bytes)},
    {"l2_bytes_per_s", offsetof(pace_device, l2_bytes_per_s)},
    {"launch_s", offsetof(pace_device, launch_s)},
    {"pcie_bytes_per_s", offsetof(pace_device, pcie_bytes_per_s)},
};

enum { TEXT_KEYS = sizeof text_keys / sizeof *text_keys, NUMBER_KEYS = sizeof number_keys / sizeof *number_keys };

static pace_status read_number(double *out, const pace_yaml *yaml, const pace_yaml_node *node) {
    double value = 0;
    PACE_TRY(pace_yaml_number(&value, yaml, node));
    if (value < 0)
        return pace_fail(PACE_E_INPUT, "%s: a figure of a device is not negative", pace_yaml_place(yaml, node));
    *out = value;
    return PACE_OK;
}

static pace_status read_text(char *out, size_t size, const pace_yaml *yaml, const pace_yaml_node *entry,
                             const char *key) {
    const pace_yaml_node *node = pace_yaml_get(entry, key);
    const char *text = pace_yaml_text(node);
    if (!text || !*text)
        return pace_fail(PACE_E_INPUT, "%s: a device needs the text \"%s\"", pace_yaml_place(yaml, node ? node : entry),
                         key);
    if (strlen(text) >= size)
        return pace_fail(PACE_E_INPUT, "%s: longer than %zu characters", pace_yaml_place(yaml, node), size - 1);
    memcpy(out, text, strlen(text) + 1);
    return PACE_OK;
}

static pace_status read_rates(pace_device *device, const pace_yaml *yaml, const pace_yaml_node *rates) {
    if (rates && !pace_yaml_is_map(rates))
        return pace_fail(PACE_E_INPUT, "%s: expected a map of precisions", pace_yaml_place(yaml, rates));
    for (size_t i = 0; i < pace_yaml_count(rates); i++) {
        int precision = 0;
        while (precision < PACE_PRECISIONS && strcmp(precision_keys[precision], pace_yaml_key(rates, i)) != 0)
            precision++;
        const pace_yaml_node *value = pace_yaml_item(rates, i);
        if (precision == PACE_PRECISIONS)
            return pace_fail(PACE_E_INPUT, "%s: unknown precision \"%.80s\"", pace_yaml_place(yaml, value),
                             pace_yaml_key(rates, i));
        PACE_TRY(read_number(&device->flop_per_s[precision], yaml, value));
    }
    return PACE_OK;
}

static pace_status read_match(const pace_yaml *yaml, const pace_yaml_node *entry) {
    const pace_yaml_node *match = pace_yaml_get(entry, "match");
    if (!match) return PACE_OK;
    if (!pace_yaml_is_list(match))
        return pace_fail(PACE_E_INPUT, "%s: expected a list of phrases", pace_yaml_place(yaml, match));
    for (size_t i = 0; i < pace_yaml_count(match); i++) {
        const pace_yaml_node *phrase = pace_yaml_item(match, i);
        const char *text = pace_yaml_text(phrase);
        if (!text || !*text) return pace_fail(PACE_E_INPUT, "%s: expected a phrase", pace_yaml_place(yaml, phrase));
    }
    return PACE_OK;
}

static pace_status read_sm_count(pace_device *device, const pace_yaml *yaml, const pace_yaml_node *node) {
    double value = 0;
    PACE_TRY(read_number(&value, yaml, node));
    if (value > INT_MAX || value != floor(value))
        return pace_fail(PACE_E_INPUT, "%s: expected a count", pace_yaml_place(yaml, node));
    device->sm_count = (int)value;
    return PACE_OK;
}

static pace_status read_member(pace_device *device, const pace_yaml *yaml, const char *key,
                               const pace_yaml_node *value) {
    if (strcmp(key, "sm_count") == 0) return read_sm_count(device, yaml, value);
    for (size_t i = 0; i < NUMBER_KEYS; i++)
        if (strcmp(number_keys[i].key, key) == 0)
            return read_number((double *)(void *)((char *)device + number_keys[i].offset), yaml, value);
    for (size_t i = 0; i < TEXT_KEYS; i++)
        if (strcmp(text_keys[i], key) == 0) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "%s: unknown member \"%.80s\" of a device", pace_yaml_place(yaml, value), key);
}

static pace_status read_device(pace_device *device, const pace_yaml *yaml, const pace_yaml_node *entry) {
    if (!pace_yaml_is_map(entry)) return pace_fail(PACE_E_INPUT, "%s: a device is a map", pace_yaml_place(yaml, entry));
    PACE_TRY(read_text(device->name, sizeof device->name, yaml, entry, "name"));
    PACE_TRY(read_text(device->vendor, sizeof device->vendor, yaml, entry, "vendor"));
    PACE_TRY(read_rates(device, yaml, pace_yaml_get(entry, "flop_per_s")));
    PACE_TRY(read_match(yaml, entry));
    for (size_t i = 0; i < pace_yaml_count(entry); i++)
        PACE_TRY(read_member(device, yaml, pace_yaml_key(entry, i), pace_yaml_item(entry, i)));
    const char *source = pace_yaml_text(pace_yaml_get(entry, "source"));
    device->source = source ? source : "";
    return PACE_OK;
}

static pace_status refuse_twin(const pace_device_catalog *catalog, size_t index) {
    for (size_t i = 0; i < index; i++)
        if (strcasecmp(catalog->devices[i].name, catalog->devices[index].name) == 0)
            return pace_fail(PACE_E_INPUT, "%s: a second device named \"%s\"",
                             pace_yaml_place(catalog->yaml, catalog->nodes[index]), catalog->devices[index].name);
    return PACE_OK;
}

static pace_status read_devices(pace_device_catalog *catalog) {
    const pace_yaml_node *list = pace_yaml_get(pace_yaml_root(catalog->yaml), "devices");
    if (!pace_yaml_is_list(list))
        return pace_fail(PACE_E_INPUT, "%s: expected a list \"devices\"",
                         pace_yaml_place(catalog->yaml, pace_yaml_root(catalog->yaml)));
    size_t count = pace_yaml_count(list);
    catalog->devices = pace_alloc(count, sizeof *catalog->devices);
    catalog->nodes = pace_alloc(count, sizeof *catalog->nodes);
    if (!catalog->devices || !catalog->nodes) return PACE_E_MEMORY;
    for (size_t i = 0; i < count; i++) {
        catalog->nodes[i] = pace_yaml_item(list, i);
        PACE_TRY(read_device(&catalog->devices[i], catalog->yaml, catalog->nodes[i]));
        PACE_TRY(refuse_twin(catalog, i));
        catalog->count++;
    }
    return PACE_OK;
}

pace_status pace_device_catalog_load(pace_device_catalog *out) {
    pace_device_catalog catalog = {0};
    PACE_TRY(pace_catalog_load(&catalog.yaml, "devices.yaml"));
    pace_status status = read_devices(&catalog);
    if (status != PACE_OK) pace_device_catalog_free(&catalog);
    else *out = catalog;
    return status;
}

void pace_device_catalog_free(pace_device_catalog *catalog) {
    pace_yaml_free(catalog->yaml);
    pace_free(catalog->devices);
    pace_free(catalog->nodes);
    *catalog = (pace_device_catalog){0};
}

static bool is_word(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* Moves `*at` behind the next word and returns its start; NULL when there is none. */
static const char *next_word(const char **at, size_t *length) {
    const char *start = *at;
    while (*start && !is_word(*start)) start++;
    const char *end = start;
    while (is_word(*end)) end++;
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

const pace_device *pace_device_find(const pace_device_catalog *catalog, const char *name, double memory_bytes) {
    const pace_device *best = NULL;
    size_t best_length = 0;
    if (!name) return NULL;
    for (size_t i = 0; i < catalog->count; i++)
        if (strcasecmp(catalog->devices[i].name, name) == 0) return &catalog->devices[i];
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
