/* Words of a device's name: letters and digits, whatever joins them. */
#pragma once

#include "base/text.h"

/** Moves `*at` behind the next word and returns its start; NULL when there is none. */
static inline const char *pace_name_word(const char **at, size_t *length) {
    const char *start = *at;
    while (*start && !pace_is_alnum(*start)) start++;
    const char *end = start;
    while (pace_is_alnum(*end)) end++;
    *length = (size_t)(end - start);
    *at = end;
    return end > start ? start : NULL;
}

/** Whether one of a text's words is `word`, whatever its case. */
static inline bool pace_name_has_word(const char *text, const char *word, size_t length) {
    size_t other_length;
    for (const char *at = text, *other; (other = pace_name_word(&at, &other_length));)
        if (other_length == length && pace_strncasecmp(other, word, length) == 0) return true;
    return false;
}
