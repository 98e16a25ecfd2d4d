/* Fuzz target of NCCL's topology files: any bytes give a checked machine or a message. */
#include "exchange/machine_fabric.h"
#include "machine/topology_xml.h"
#include "catalog_of_tests.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    pace_machine machine;
    pace_fabric fabric;
    char *text = malloc(size + 1);
    if (!text) return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (pace_topology_xml_parse(&machine, test_catalog(), "fuzz", text, size) == PACE_OK) {
        if (pace_machine_check(&machine) != PACE_OK) abort();
        if (pace_fabric_of_machine(&fabric, &machine, false) == PACE_OK) pace_fabric_free(&fabric);
    }
    free(text);
    return 0;
}
