#include "machine/counted_name.h"
#include "base/print.h"
#include "base/text.h"
#include "machine/device_names.h"
#include "machine/machine.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_NAME = 64, MOST_COUNT = 1 << 20 };

static bool take_count(int *out, const char *digits) {
    long count = strtol(digits, NULL, 10);
    *out = (int)count;
    return count > 1 && count <= MOST_COUNT;
}

static bool is_times(char c) { return c == 'x' || c == 'X' || c == '*' || c == ':'; }

static bool split(int *count, char name[MOST_NAME], const char *text) {
    const char *at = text, *end = text + strlen(text);
    while (pace_is_digit(*at)) at++;
    if (at > text) {
        if (!is_times(*at) && *at != ' ') return false;
        while (is_times(*at) || *at == ' ') at++;
        pace_snprintf(name, MOST_NAME, "%s", at);
        return *at && take_count(count, text);
    }
    while (end > text && pace_is_digit(end[-1])) end--;
    if (!*end || end - text < 2 || !is_times(end[-1]) || end - text > MOST_NAME) return false;
    pace_snprintf(name, MOST_NAME, "%.*s", (int)(end - text - 1), text);
    return take_count(count, end);
}

/* Machines whose nodes so many of the device fill, 0 = any number, by the catalogue's order; so many of a machine. */
static pace_status list_machines(char *out, size_t size, pace_catalog *catalog, const char *device, const char *name,
                                 int count) {
    pace_machine_catalog list;
    PACE_TRY(pace_machine_catalog_load(&list, catalog));
    PACE_ITEMS (const pace_machine, m, &list.machines) {
        bool asked = name && pace_strcasecmp(m->name, name) == 0;
        int devices = asked ? 1 : m->devices;
        if (!asked && (devices < 2 || count % devices != 0 || !device || strcmp(m->device, device) != 0)) continue;
        if (count == 0 || count == devices) pace_list(out, size, ", ", "%s", m->name);
        else pace_list(out, size, ", ", "%s*%d", m->name, count / devices);
    }
    pace_machine_catalog_free(&list);
    return PACE_OK;
}

pace_status pace_machines_that_hold(char out[PACE_HOLDERS_TEXT], pace_catalog *catalog, const char *device) {
    *out = '\0';
    return list_machines(out, PACE_HOLDERS_TEXT, catalog, device, NULL, 0);
}

pace_status pace_counted_name_refuse(const pace_device_catalog *devices, pace_catalog *catalog, const char *text) {
    const pace_device *device = NULL;
    char name[MOST_NAME], machines[PACE_HOLDERS_TEXT] = "";
    int count;
    if (!split(&count, name, text)) return PACE_OK;
    PACE_TRY(pace_device_named(&device, devices, name, 0));
    PACE_TRY(list_machines(machines, sizeof machines, catalog, device ? device->name : NULL, name, count));
    if (*machines)
        return pace_fail(PACE_E_MISSING, "%.60s: expected a machine, NAME or NAME*COUNT: %s", text, machines);
    if (!device) return PACE_OK;
    return pace_fail(PACE_E_MISSING, "%.60s: expected NAME*COUNT with what joins them, as \"%s*%d nvlink=300GB/s\"",
                     text, device->name, count);
}
