/*
 * Fuzz target of the fast ways of reading JSON: vectors must find what reading byte by byte finds, and members what
 * tokens tell.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "json_twins_of_tests.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { SCANNED = 512 }; /* looked at from every byte: 8 blocks hold every place in a block and every border */
    if (!scans_agree(data, size < SCANNED ? size : SCANNED)) abort();
    if (!readers_agree(data, size, false, false) || !readers_agree(data, size, true, false)) abort();
    if (!readers_agree(data, size, false, true)) abort();
    return 0;
}
