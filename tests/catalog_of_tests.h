/* The catalogue that a test asks of: opened at first use, closed when the program ends. */
#ifndef PACE_TESTS_CATALOG_OF_TESTS_H
#define PACE_TESTS_CATALOG_OF_TESTS_H

#include "ask/context.h"

#include <stdlib.h>

static pace_context *test_context_opened;

/* Also between two catalogues: the next one asked for is opened anew. */
static inline void test_catalog_close(void) {
    pace_context_free(test_context_opened);
    test_context_opened = NULL;
}

static inline pace_status test_catalog_open(void) {
    static int registered;
    if (!registered++) atexit(test_catalog_close);
    return test_context_opened ? PACE_OK : pace_context_open(&test_context_opened);
}

static inline pace_context *test_context(void) {
    if (test_catalog_open() != PACE_OK) abort();
    return test_context_opened;
}

static inline pace_catalog *test_catalog(void) { return test_context()->catalog; }

#endif
