/* Lets allocations fail one after the other: each failure must be PACE_E_MEMORY with a message, and leave nothing
 * behind. To be included after cmocka.h. */
#ifndef PACE_TEST_EXHAUST_H
#define PACE_TEST_EXHAUST_H

#include "base/memory.h"
#include "catalog_of_tests.h"

#include <string.h>

/* What is tried: allocations may fail anywhere in it, and in opening the catalogue it asks of. */
typedef pace_status (*question)(const void *context, int choice);

/* Lets the N-th allocation fail, N growing, until the answer comes; the first `budget` of them one by one, later ones
 * ever more sparsely. Returns how many failed. */
static inline uint64_t exhaust(question ask, const void *context, int choice, uint64_t budget) {
    uint64_t failures = 0;
    for (uint64_t n = 1;; n += n / budget + 1) {
        test_catalog_close();
        int64_t before = pace_memory_live();
        pace_memory_fail_at(n);
        pace_status status = test_catalog_open();
        if (status == PACE_OK) status = ask(context, choice);
        pace_memory_fail_at(0);
        test_catalog_close();
        if (pace_memory_live() != before)
            fail_msg("allocation %llu of choice %d: %lld blocks leaked (status %d)", (unsigned long long)n, choice,
                     (long long)(pace_memory_live() - before), (int)status);
        if (status == PACE_OK) return failures;
        if (status != PACE_E_MEMORY)
            fail_msg("allocation %llu of choice %d: status %d, '%s'", (unsigned long long)n, choice, (int)status,
                     pace_message());
        assert_non_null(strstr(pace_message(), "out of memory"));
        failures++;
    }
}

#endif
