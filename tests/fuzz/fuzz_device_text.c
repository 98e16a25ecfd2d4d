/*
 * Fuzz target of what may be written where a device is meant: any text finds a device or is refused with a message, and
 * changed figures keep the order of peaks and measured rates. Texts that name files are left out.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "machine/device_resolve.h"
#include "catalog_of_tests.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const pace_device *device) {
    for (int i = 0; i < PACE_PRECISIONS; i++)
        if (!(device->flop_per_s[i] >= 0) || device->achievable_flop_per_s[i] > 1.000001 * device->flop_per_s[i])
            abort();
    if (device->achievable_bytes_per_s > 1.000001 * device->memory_bytes_per_s || strlen(device->name) > 47) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static pace_device_catalog catalog;
    if (catalog.count == 0 && pace_device_catalog_load(&catalog, test_catalog()) != PACE_OK) abort();
    char text[512];
    if (size >= sizeof text) return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (strstr(text, ".y") || strstr(text, ".Y") || strstr(text, ".j") || strstr(text, ".J")) return 0;
    pace_device_catalog copy = catalog; /* its devices are shared, what is made for this text is its own */
    const pace_device *device = NULL;
    if (pace_device_resolve(&device, &copy, text, 0) == PACE_OK) check(device);
    else if (!*pace_message()) abort();
    for (size_t i = 0; i < copy.extras.count; i++) pace_free(copy.extras.items[i]);
    PACE_VEC_FREE(&copy.extras);
    return 0;
}
