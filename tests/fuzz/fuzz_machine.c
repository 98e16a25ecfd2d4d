/* Fuzz target of machines: one line is a short form, several are a YAML file; both give a checked machine or a
 * message. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/calibration.h"
#include "machine/machine_read.h"
#include "catalog_of_tests.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_short(const uint8_t *data, size_t size) {
    pace_machine machine;
    char *text = malloc(size + 1);
    if (!text) abort();
    memcpy(text, data, size);
    text[size] = '\0';
    if (!strstr(text, ".y") && !strstr(text, ".x") && pace_machine_parse(&machine, test_catalog(), text) == PACE_OK &&
        pace_machine_check(&machine) != PACE_OK)
        abort();
    free(text);
}

static void read_file(const uint8_t *data, size_t size) {
    pace_machine_catalog list;
    pace_exchange_fit fit;
    pace_yaml *yaml;
    if (pace_yaml_parse(&yaml, "fuzz", data, size) != PACE_OK) return;
    if (pace_machines_read(&list, test_catalog(), yaml) == PACE_OK) {
        for (size_t i = 0; i < list.machines.count; i++)
            if (pace_machine_check(&list.machines.items[i]) != PACE_OK) abort();
        pace_machine_catalog_free(&list);
    }
    if (pace_exchange_fit_read(&fit, yaml) == PACE_OK) pace_exchange_fit_free(&fit);
    pace_yaml_free(yaml);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > 0 && memchr(data, '\n', size)) read_file(data, size);
    else read_short(data, size);
    return 0;
}
