/*
 * Finding a device in the catalogue, and its rates. Names are compared word by word (letters and digits,
 * case-insensitive), so that "L4" is not found in "L40S".
 */
#include "machine/device.h"
#include "machine/name_words.h"
#include "base/decimal.h"
#include "base/print.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

/* Characters of the phrase's words when all of them occur in `name`, else 0. */
static size_t match_length(const char *name, const char *phrase) {
    size_t sum = 0, length;
    for (const char *at = phrase, *word; (word = pace_name_word(&at, &length)); sum += length)
        if (!pace_name_has_word(name, word, length)) return 0;
    return sum;
}

static size_t best_match(const char *name, const pace_yaml_node *entry) {
    const pace_yaml_node *match = pace_yaml_get(entry, "match");
    size_t best = 0;
    PACE_YAML_EACH (one, match) {
        size_t length = match_length(name, pace_yaml_text(one));
        if (length > best) best = length;
    }
    return best;
}

static bool closer(double memory_bytes, const pace_device *candidate, const pace_device *best) {
    return memory_bytes > 0 && fabs(candidate->memory_bytes - memory_bytes) < fabs(best->memory_bytes - memory_bytes);
}

static const pace_device *named(const pace_device_catalog *catalog, const char *name) {
    for (size_t i = 0; i < catalog->count; i++)
        if (pace_strcasecmp(catalog->devices[i].name, name) == 0) return &catalog->devices[i];
    for (size_t i = 0; i < catalog->extras.count; i++) {
        const pace_device *found = named(&catalog->extras.items[i]->file, name);
        if (found) return found;
    }
    return NULL;
}

/* Words that make another board of a name: an RTX 3060 Ti is no RTX 3060. */
static bool is_another(const char *name, const pace_device *device) {
    static const char *const words[] = {"ti", "super", "laptop", "mobile"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (match_length(name, words[i]) && !match_length(device->name, words[i])) return true;
    return false;
}

/* What a name says of its memory, "32GB", "40G" or "80 GB"; 0 = nothing. */
static double memory_said(const char *name) {
    static const char *const units[] = {"g", "gb", "gib"};
    size_t length;
    double size;
    for (const char *at = name, *word; (word = pace_name_word(&at, &length));) {
        size_t digits = 0, left;
        while (digits < length && pace_is_digit(word[digits])) digits++;
        const char *after = at, *unit = digits < length ? word + digits : pace_name_word(&after, &left);
        if (digits < length) left = length - digits;
        for (size_t i = 0; digits > 0 && digits < 5 && unit && i < PACE_COUNT(units); i++)
            if (strlen(units[i]) == left && pace_strncasecmp(unit, units[i], left) == 0)
                return pace_decimal_read(&size, word, word + digits) ? size * 1073741824.0 : 0;
    }
    return 0;
}

/* Names whose words are written as one, "RTX2080Ti". */
static const pace_device *written_together(const pace_device_catalog *catalog, const char *name) {
    for (size_t i = 0; i < catalog->count; i++)
        if (pace_same_word(catalog->devices[i].name, name)) return &catalog->devices[i];
    return NULL;
}

const pace_device *pace_device_find(const pace_device_catalog *catalog, const char *name, double memory_bytes) {
    const pace_device *best = NULL;
    size_t best_length = 0;
    if (!name) return NULL;
    if (named(catalog, name)) return named(catalog, name);
    if (!(memory_bytes > 0)) memory_bytes = memory_said(name);
    for (size_t i = 0; i < catalog->count; i++) {
        const pace_device *candidate = &catalog->devices[i];
        size_t length = best_match(name, catalog->nodes[i]);
        if (length == 0 || length < best_length || is_another(name, candidate)) continue;
        if (best && length == best_length && !closer(memory_bytes, candidate, best)) continue;
        best = candidate;
        best_length = length;
    }
    return best ? best : written_together(catalog, name);
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
    const char *source = pace_yaml_text_of(figure, "source");
    const pace_yaml_node *sources = pace_yaml_get(pace_yaml_root(catalog->yaml), "sources");
    return (pace_figure_source){
        .source = source ? text_or_none(pace_yaml_get(sources, source)) : device->source,
        .confidence = text_or_none(confidence ? confidence : pace_yaml_get(entry, "confidence")),
    };
}

/* Itself, when the device has it; else the next wider one. */
pace_precision pace_device_rated_as(const pace_device *device, pace_precision precision) {
    static const pace_precision wider[PACE_PRECISIONS] = {
        [PACE_FP64] = PACE_FP64, [PACE_FP32] = PACE_FP32, [PACE_FP32_MATRIX] = PACE_FP32,
        [PACE_TF32] = PACE_FP32, [PACE_FP16] = PACE_FP32, [PACE_BF16] = PACE_FP16,
        [PACE_FP8] = PACE_FP16,  [PACE_INT8] = PACE_FP32, [PACE_FP4] = PACE_FP8,
    };
    while (!(device->flop_per_s[precision] > 0) && wider[precision] != precision) precision = wider[precision];
    return precision;
}

bool pace_device_widens_half(const pace_device *device, pace_precision precision) {
    const double *rates = device->flop_per_s;
    return precision == PACE_FP16 && device->generation > 0 && !(rates[PACE_FP16] > 0) && rates[PACE_FP32] > 0;
}

pace_status pace_device_check_precision(const pace_device *device, pace_precision precision) {
    char has[160] = "";
    if (device->flop_per_s[precision] > 0) return PACE_OK;
    for (int i = 0; i < PACE_PRECISIONS; i++)
        if (device->flop_per_s[i] > 0) pace_list(has, sizeof has, ", ", "%s", pace_precision_key((pace_precision)i));
    return pace_fail(PACE_E_USAGE, "%s has no rate for %s in the catalogue, which has %s", device->name,
                     pace_precision_key(precision), *has ? has : "none of it");
}

double pace_device_rate(const pace_device *device, pace_precision precision) {
    return (unsigned)precision < PACE_PRECISIONS ? device->flop_per_s[pace_device_rated_as(device, precision)] : 0;
}

double pace_device_unit_rate(const pace_device *device, pace_precision precision) {
    double wider = precision == PACE_TF32 ? 4 : precision == PACE_FP16 || precision == PACE_BF16 ? 2 : 0;
    double units = wider > 0 ? device->flop_per_s[PACE_INT8] / wider : 0, rate = pace_device_rate(device, precision);
    return units > rate ? units : rate;
}

double pace_device_cycles(const pace_device *device) {
    return device->sm_count * (device->boost_hz > 0 ? device->boost_hz : device->base_hz);
}

double pace_device_host_rate(const pace_device *device, const pace_doubts *doubts) {
    return device->pcie_bytes_per_s > 0 ? device->pcie_bytes_per_s : doubts->figure[PACE_DOUBT_HOST_LINK];
}
