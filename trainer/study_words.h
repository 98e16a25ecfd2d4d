/* The words of a training that is a process of its own. */
#pragma once

#include "hosts.h"

enum { PACE_STUDY_WORDS = 192, PACE_STUDY_NUMBERS = 12 };

typedef struct {
    const char *words[PACE_STUDY_WORDS];
    size_t count;
    char numbers[PACE_STUDY_NUMBERS][24];
    size_t number_count;
    char program[1024];
    pace_hosts hosts;
} pace_study_words;

/** "paceline train", behind what makes the hosts where a link is named. PACE_E_MISSING. */
pace_status pace_study_words_begin(pace_study_words *words, const char *link, int ranks) PACE_MUST_CHECK;
/** An option and its value; without an option the value alone; nothing without a value. */
void pace_study_words_put(pace_study_words *words, const char *option, const char *value);
void pace_study_words_number(pace_study_words *words, const char *option, double value);
/** All of them; NULL stands behind the last. */
const char *const *pace_study_words_end(pace_study_words *words);
