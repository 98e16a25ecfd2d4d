/* The words of stages that a test asks with: loaded at first use, freed when the program ends. */
#ifndef PACE_TESTS_STAGE_WORDS_OF_TESTS_H
#define PACE_TESTS_STAGE_WORDS_OF_TESTS_H

#include "catalog_of_tests.h"
#include "insight/steps/stage_words.h"

static pace_stage_words *test_stage_words_loaded;

static inline void test_stage_words_free(void) { pace_stage_words_free(test_stage_words_loaded); }

static inline const pace_stage_words *test_stage_words(void) {
    if (!test_stage_words_loaded) {
        if (pace_stage_words_load(&test_stage_words_loaded, test_catalog()) != PACE_OK) abort();
        atexit(test_stage_words_free);
    }
    return test_stage_words_loaded;
}

#endif
