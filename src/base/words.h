/* Words given to an option, and the closed lists of words that options take. */
#pragma once

#include "base/memory.h"
#include "base/status.h"

#include <stddef.h>

/* Borrowed. */
typedef struct {
    const char *const *items;
    size_t count;
} pace_words;

/* A text of each of `count` rows, which lie `stride` bytes apart. */
typedef struct {
    const void *first;
    size_t count, stride;
} pace_word_list;

/** Pointers to the list of the text `member` of an array of rows, and to that of an array of texts. */
#define PACE_WORDS_OF(rows, member) (&(const pace_word_list){&(rows)->member, PACE_COUNT(rows), sizeof *(rows)})
#define PACE_WORDS(texts) (&(const pace_word_list){(texts), PACE_COUNT(texts), sizeof *(texts)})

/** NULL past the last. */
const char *pace_word_at(const pace_word_list *list, size_t index);

/** PACE_E_USAGE with the message 'WHAT: expected A, B or C, found "TEXT"'; `others`, which may be empty, stands behind
 * the list. */
pace_status pace_word_fail(const char *what, const pace_word_list *list, const char *others, const char *text);

/** The index of a text in the list, else what pace_word_fail() says. */
pace_status pace_word_read(int *out, const char *what, const pace_word_list *list, const char *text) PACE_MUST_CHECK;
