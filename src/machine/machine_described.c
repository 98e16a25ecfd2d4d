#include "machine/machine_described.h"
#include "base/decimal.h"
#include "base/print.h"
#include "machine/device_names.h"
#include "machine/name_words.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    int count;        /* devices of a node; 0 = none named */
    char device[48];  /* the table's word */
    double rate;      /* of the network, bytes/s; 0 = not said */
    const char *kind; /* of the network; NULL = not said */
    bool other_links; /* a word speaks of links that are no PCIe */
} description;

static bool is_separator(char c) { return pace_is_space(c) || strchr(",;()/", c); }

/* "4xM40": how many of what. */
static void take_devices(description *out, const char *word) {
    char *end;
    long count = strtol(word, &end, 10);
    if (end == word || count < 1 || count > PACE_MESH_MOST || (*end != 'x' && *end != 'X') || !pace_is_alpha(end[1]))
        return;
    if (out->count || strlen(end + 1) >= sizeof out->device) return;
    out->count = (int)count;
    pace_snprintf(out->device, sizeof out->device, "%s", end + 1);
}

/* "10GbE", "25Gbps"; "20 Gb/s" are two words, of which the second has lost its end to the slash. */
static void take_rate(description *out, const char *word, const char *next) {
    static const char *const units[] = {"gbe", "gbps", "gbit", "gb", "g"};
    char text[40];
    double number;
    const char *end = pace_is_digit(*word) ? pace_number_read(&number, word) : NULL;
    if (out->rate > 0 || !end || !(number > 0)) return;
    const char *unit = *end ? end : next;
    for (size_t i = 0; i < PACE_COUNT(units); i++) {
        if (pace_strcasecmp(unit, units[i]) != 0) continue;
        pace_snprintf(text, sizeof text, "%.9gGb/s", number);
        if (!pace_parse_rate(&out->rate, text)) out->rate = 0;
        return;
    }
}

static pace_status take_network(description *out, const pace_yaml *yaml, const char *word) {
    const pace_yaml_node *list = pace_yaml_get(pace_yaml_root(yaml), "networks");
    PACE_YAML_EACH (entry, list) {
        const pace_yaml_node *words = pace_yaml_get(entry, "words");
        const char *rate = pace_yaml_text_of(entry, "rate");
        PACE_YAML_EACH (one, words) {
            const char *known = pace_yaml_text(one);
            size_t before = known ? strlen(word) - (strlen(known) < strlen(word) ? strlen(known) : strlen(word)) : 0;
            if (!known || pace_strcasecmp(word + before, known) != 0) continue;
            if (before > 0 && !pace_is_digit(word[before - 1])) continue; /* "10GbE" ends in "gbe" */
            out->kind = pace_yaml_text_of(entry, "kind");
            if (rate && out->rate <= 0 && !pace_parse_rate(&out->rate, rate))
                return pace_yaml_fail(yaml, entry, "expected a rate");
        }
    }
    return PACE_OK;
}

static pace_status read_words(description *out, const pace_yaml *yaml, char *words) {
    const char *list[64];
    size_t count = 0;
    for (char *at = words; *at && count < 63;) {
        while (*at && is_separator(*at)) *at++ = '\0';
        if (!*at) break;
        list[count++] = at;
        while (*at && !is_separator(*at)) at++;
    }
    list[count] = "";
    for (size_t i = 0; i < count; i++) {
        take_devices(out, list[i]);
        take_rate(out, list[i], list[i + 1]);
        PACE_TRY(take_network(out, yaml, list[i]));
        out->other_links |=
            strcasestr(list[i], "nvlink") || strcasestr(list[i], "nvswitch") || strcasestr(list[i], "sxm");
    }
    return PACE_OK;
}

/* As --on would be told. */
static pace_status word(char *out, size_t size, pace_catalog *catalog, const description *d) {
    pace_device_catalog devices;
    const pace_device *device = NULL;
    PACE_TRY(pace_device_catalog_load(&devices, catalog));
    pace_status status = pace_device_named(&device, &devices, d->device, 0);
    bool known = status == PACE_OK && device;
    bool linked =
        known && d->count > 1 && (d->other_links || strstr(device->name, "sxm") || device->pcie_bytes_per_s <= 0);
    if (!known || linked) status = PACE_E_MISSING;
    else {
        pace_snprintf(out, size, "%s*%d", device->name, d->count);
        if (d->count > 1) pace_append(out, size, " pcie=%.9gGB/s", device->pcie_bytes_per_s / 1e9);
        if (d->rate > 0) pace_append(out, size, " net=%.9gGB/s net-kind=%s", d->rate / 1e9, d->kind ? d->kind : "tcp");
    }
    pace_device_catalog_free(&devices);
    return status;
}

pace_status pace_machine_network_word(const char **out, pace_catalog *catalog, const char *text) {
    const pace_yaml *yaml;
    *out = "";
    PACE_TRY(pace_catalog_document(&yaml, catalog, "system_names.yaml"));
    const pace_yaml_node *list = pace_yaml_get(pace_yaml_root(yaml), "networks");
    PACE_YAML_EACH (one, list) {
        const pace_yaml_node *words = pace_yaml_get(one, "words");
        PACE_YAML_EACH (entry, words) {
            const char *known = pace_yaml_text(entry);
            if (!known || !pace_name_has_word(text, known, strlen(known))) continue;
            *out = known;
            return PACE_OK;
        }
    }
    return PACE_OK;
}

pace_status pace_machine_described(pace_machine *out, pace_catalog *catalog, const char *text, int nodes) {
    const pace_yaml *yaml;
    description found = {0};
    char words[256], worded[160];
    pace_machine machine;
    if (strlen(text) >= sizeof words) return PACE_E_MISSING;
    memcpy(words, text, strlen(text) + 1);
    PACE_TRY(pace_catalog_document(&yaml, catalog, "system_names.yaml"));
    PACE_TRY(read_words(&found, yaml, words));
    if (found.count == 0 || (nodes > 1 && found.rate <= 0)) return PACE_E_MISSING;
    PACE_TRY(word(worded, sizeof worded, catalog, &found));
    PACE_TRY(pace_machine_parse(&machine, catalog, worded));
    pace_snprintf(machine.called, sizeof machine.called, "%.63s", text);
    *out = machine;
    return PACE_OK;
}
