/* Fuzz target of machines: any bytes as a short form and as a YAML file give a checked machine or a message. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/calibration.h"
#include "machine/machine_read.h"
#include "catalog_of_tests.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    pace_machine machine;
    pace_machine_catalog list;
    pace_exchange_fit fit;
    pace_yaml *yaml;
    char *text = malloc(size + 1);
    if (!text) return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (!strstr(text, ".y") && !strstr(text, ".x") && pace_machine_parse(&machine, test_catalog(), text) == PACE_OK &&
        pace_machine_check(&machine) != PACE_OK)
        abort();
    if (pace_yaml_parse(&yaml, "fuzz", data, size) == PACE_OK) {
        if (pace_machines_read(&list, test_catalog(), yaml) == PACE_OK) {
            for (size_t i = 0; i < list.machines.count; i++)
                if (pace_machine_check(&list.machines.items[i]) != PACE_OK) abort();
            pace_machine_catalog_free(&list);
        }
        if (pace_exchange_fit_read(&fit, yaml) == PACE_OK) pace_exchange_fit_free(&fit);
        pace_yaml_free(yaml);
    }
    free(text);
    return 0;
}
