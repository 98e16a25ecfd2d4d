/* Words given to an option: borrowed. */
#pragma once

#include <stddef.h>

typedef struct {
    const char *const *items;
    size_t count;
} pace_words;
