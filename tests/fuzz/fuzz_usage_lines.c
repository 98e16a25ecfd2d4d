/* Fuzz target of cluster records as lines of separated values. */
#include "usage_of_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    read_usage_of_form(false, data, size);
    return 0;
}
