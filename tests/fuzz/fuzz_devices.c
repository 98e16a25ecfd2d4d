/*
 * Fuzz target of the entries of the device catalogue: any YAML, taken as one, is read or refused with a message, and
 * what is read keeps its promises: no figure is negative, no measured rate above its peak.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "machine/device_entry.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const pace_device *device) {
    if (!*device->name || !*device->vendor || !device->source) abort();
    for (int i = 0; i < PACE_PRECISIONS; i++)
        if (!(device->flop_per_s[i] >= 0) || device->achievable_flop_per_s[i] > device->flop_per_s[i]) abort();
    if (!(device->memory_bytes_per_s >= 0) || device->achievable_bytes_per_s > 1e14) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    pace_yaml *yaml;
    if (pace_yaml_parse(&yaml, "fuzz", data, size) != PACE_OK) return 0;
    const pace_yaml_node *root = pace_yaml_root(yaml), *list = pace_yaml_get(root, "devices");
    for (size_t i = 0; i < pace_yaml_count(list); i++) {
        pace_device device = {0};
        pace_status status =
            pace_device_entry_read(&device, yaml, pace_yaml_item(list, i), pace_yaml_get(root, "sources"));
        if (status == PACE_OK) check(&device);
        else if (!*pace_message()) abort();
    }
    pace_yaml_free(yaml);
    return 0;
}
