#include "ask/rows/device_cell.h"
#include "base/memory.h"
#include "base/print.h"
#include "base/status.h"
#include "base/text.h"
#include "machine/place.h"

#include <string.h>

bool pace_device_cell_is_place(const char *name) {
    static const char *const places[] = {"cuda", "gpu", "hip", "rocm", "xpu", "hpu", "default", "none", "nan", "n/a"};
    size_t length = strcspn(name, ":");
    if (strspn(name, "0123456789") == strlen(name)) return true;
    for (size_t i = 0; i < PACE_COUNT(places); i++)
        if (strlen(places[i]) == length && pace_strncasecmp(name, places[i], length) == 0) return true;
    return false;
}

const char *pace_device_cell_closest(const pace_device_catalog *catalog, const char *name) {
    const char *best = "";
    for (size_t i = 0; i < catalog->count; i++) best = pace_word_nearer(name, best, catalog->devices[i].name);
    return best;
}

const pace_device *pace_device_cell_read(char refused[PACE_DEVICE_CELL_REFUSED], pace_device_catalog *catalog,
                                         const char *name) {
    const pace_device *device;
    pace_machine machine;
    bool joined;
    *refused = '\0';
    if (!pace_place_has_figures(name)) return pace_device_find(catalog, name, 0);
    if (pace_place_asked(&device, &machine, &joined, catalog, name) == PACE_OK) return device;
    pace_snprintf(refused, PACE_DEVICE_CELL_REFUSED, "%.115s", pace_message_in_answer());
    return NULL;
}
