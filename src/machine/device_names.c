#include "machine/device_names.h"
#include "machine/name_words.h"
#include "base/print.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool has_all(const char *text, const char *words) {
    size_t length;
    for (const char *at = words, *word; (word = pace_name_word(&at, &length));)
        if (!pace_name_has_word(text, word, length)) return false;
    return true;
}

/* Of a phrase all words stand in the text, which has none besides but the vendor's. */
static bool is_phrase_of(const char *text, const char *phrase, const char *vendor) {
    size_t length;
    for (const char *at = text, *word; (word = pace_name_word(&at, &length));)
        if (!pace_name_has_word(phrase, word, length) && !pace_name_has_word(vendor, word, length)) return false;
    return has_all(text, phrase);
}

static bool is_phrase(const char *text, const pace_device *device, const pace_yaml_node *entry) {
    const pace_yaml_node *match = pace_yaml_get(entry, "match");
    PACE_YAML_EACH (one, match) {
        const char *phrase = pace_yaml_text(one);
        if (is_phrase_of(text, phrase, device->vendor)) return true;
    }
    return false;
}

/* "80", "80gb", "80gib" of a device with 80 GiB. */
static bool is_memory(const char *word, size_t length, const pace_device *device) {
    static const char *const units[] = {"", "g", "gb", "gib", NULL};
    char size[24];
    int digits = snprintf(size, sizeof size, "%.0f", round(device->memory_bytes / 1073741824.0));
    if (!(device->memory_bytes > 0) || length < (size_t)digits || strncmp(word, size, (size_t)digits) != 0)
        return false;
    for (int i = 0; units[i]; i++)
        if (strlen(units[i]) == length - (size_t)digits &&
            pace_strncasecmp(word + digits, units[i], length - (size_t)digits) == 0)
            return true;
    return false;
}

static bool describes(const pace_device *device, const pace_yaml_node *entry, const char *word, size_t length) {
    const pace_yaml_node *match = pace_yaml_get(entry, "match");
    if (pace_name_has_word(device->name, word, length) || pace_name_has_word(device->vendor, word, length) ||
        is_memory(word, length, device))
        return true;
    PACE_YAML_EACH (one, match)
        if (pace_name_has_word(pace_yaml_text(one), word, length)) return true;
    return false;
}

/* All words, one of which is in the name: "80 gb" alone is no device. */
static bool is_described(const pace_device *device, const pace_yaml_node *entry, const char *text) {
    bool named = false;
    size_t length;
    for (const char *at = text, *word; (word = pace_name_word(&at, &length));) {
        if (!describes(device, entry, word, length)) return false;
        named |= pace_name_has_word(device->name, word, length) && !is_memory(word, length, device);
    }
    return named;
}

/* Names are compared without what is neither letter nor digit: "rtx4090" is rtx-4090. */
static const pace_device *called(const pace_device_catalog *catalog, const char *text) {
    char wanted[128], name[128];
    pace_squeeze(wanted, sizeof wanted, text, "");
    for (size_t i = 0; i < catalog->count; i++) {
        pace_squeeze(name, sizeof name, catalog->devices[i].name, "");
        if (strcmp(wanted, name) == 0) return &catalog->devices[i];
    }
    for (size_t i = 0; i < catalog->extras.count; i++) {
        const pace_device *found = called(&catalog->extras.items[i]->file, text);
        if (found) return found;
    }
    return NULL;
}

/* The first of the phrase, or with a memory size the closest. */
static const pace_device *of_phrase(const pace_device_catalog *catalog, const char *text, double memory_bytes) {
    const pace_device *best = NULL;
    for (size_t i = 0; i < catalog->count; i++) {
        const pace_device *device = &catalog->devices[i];
        bool closer = best && memory_bytes > 0 &&
                      fabs(device->memory_bytes - memory_bytes) < fabs(best->memory_bytes - memory_bytes);
        if (is_phrase(text, device, catalog->nodes[i]) && (!best || closer)) best = device;
    }
    return best;
}

/* Of the devices that words describe the plain board, rtx-4090 beside rtx-4090-d: where the others' names only add to
 * its own. */
static const pace_device *plain_of(const pace_device_catalog *catalog, const char *text) {
    for (size_t i = 0; i < catalog->count; i++) {
        bool plain = is_described(&catalog->devices[i], catalog->nodes[i], text);
        for (size_t k = 0; k < catalog->count && plain; k++)
            plain = !is_described(&catalog->devices[k], catalog->nodes[k], text) ||
                    has_all(catalog->devices[k].name, catalog->devices[i].name);
        if (plain) return &catalog->devices[i];
    }
    return NULL;
}

pace_status pace_device_named(const pace_device **out, const pace_device_catalog *catalog, const char *text,
                              double memory_bytes) {
    const pace_device *found = called(catalog, text);
    char all[240] = "";
    size_t count = 0;
    if (!found) found = of_phrase(catalog, text, memory_bytes);
    for (size_t i = 0; !found && i < catalog->count; i++)
        if (is_described(&catalog->devices[i], catalog->nodes[i], text)) {
            count++;
            *out = &catalog->devices[i];
            pace_list(all, sizeof all, ", ", "%s", catalog->devices[i].name);
        }
    if (count > 1 && (found = plain_of(catalog, text))) count = 0;
    if (count > 1) return pace_fail(PACE_E_USAGE, "\"%.60s\" fits several devices, say which: %s", text, all);
    if (count == 0) *out = found;
    return PACE_OK;
}
