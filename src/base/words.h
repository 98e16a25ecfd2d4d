/* Words given to an option: borrowed. */
#ifndef PACE_BASE_WORDS_H
#define PACE_BASE_WORDS_H

#include <stddef.h>

typedef struct {
    const char *const *items;
    size_t count;
} pace_words;

#endif
