/*
 * Words: small questions about names of operators, files, columns and options. Letters are ASCII's, whatever the
 * locale. A span is `length` bytes at `text` that no zero ends, as readers meet them inside a longer text.
 */
#pragma once

#include "paceline/paceline.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

bool pace_starts(const char *text, const char *with);
bool pace_ends(const char *text, const char *with);

bool pace_span_is(const char *text, size_t length, const char *word);
bool pace_span_starts(const char *text, size_t length, const char *with);
bool pace_span_ends(const char *text, size_t length, const char *with);
bool pace_span_holds(const char *text, size_t length, const char *word);

/** The word of a list, one space between two, that the span is, or NULL; "view*" stands for every word that begins with
 * "view". */
const char *pace_span_listed(const char *text, size_t length, const char *list);

/** The character that a table's names of columns stand between: the first that no name has, if it is there twice; 0 =
 * none. */
char pace_between_names(const char *header, size_t length);

static inline bool pace_is_digit(char c) { return (unsigned char)(c - '0') <= 9; }

static inline bool pace_is_alpha(char c) { return (unsigned char)((c | 0x20) - 'a') <= 'z' - 'a'; }

static inline bool pace_is_alnum(char c) { return pace_is_digit(c) || pace_is_alpha(c); }

static inline bool pace_is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static inline bool pace_is_lower(char c) { return (unsigned char)(c - 'a') <= 'z' - 'a'; }

static inline bool pace_is_upper(char c) { return (unsigned char)(c - 'A') <= 'Z' - 'A'; }

static inline char pace_lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c; }

/** As their namesakes of the C library do in the C locale: where Turkish is spoken those tell "TITAN" from "titan". */
static inline int pace_strncasecmp(const char *a, const char *b, size_t most) {
    for (size_t i = 0; i < most; i++) {
        int order = (unsigned char)pace_lower(a[i]) - (unsigned char)pace_lower(b[i]);
        if (order || !a[i]) return order;
    }
    return 0;
}
static inline int pace_strcasecmp(const char *a, const char *b) { return pace_strncasecmp(a, b, SIZE_MAX); }

/** Whether a file's name ends so, whatever the case. */
static inline bool pace_has_suffix(const char *name, const char *suffix) {
    size_t length = strlen(name), size = strlen(suffix);
    return length >= size && pace_strcasecmp(name + length - size, suffix) == 0;
}

/** What of a spelling counts: its letters and digits in small letters, and the characters of `also`. What does not fit
 * is cut. */
void pace_squeeze(char *out, size_t size, const char *text, const char *also);

/** Whether two spellings have the same letters and digits, whatever their case and what joins them; `a` need not end at
 * `length`. */
bool pace_same_letters(const char *a, size_t length, const char *b);
/** The same where neither need end at its length. */
bool pace_same_letters_of(const char *a, size_t a_length, const char *b, size_t b_length);
bool pace_same_word(const char *a, const char *b);

/** The rest of [text, end) behind the letters and digits of `with`, compared as above; NULL if it begins otherwise. */
const char *pace_behind_letters(const char *text, const char *end, const char *with);
/** The first letter or digit of [text, end), else `end`. */
const char *pace_first_letter(const char *text, const char *end);

enum { PACE_EDITED_LETTERS = 63 }; /* of a word that count */

/** pace_word_edits() from each beginning of `text`, by its length, to `other`. Returns the length of the longest. */
size_t pace_beginnings_edits(size_t out[PACE_EDITED_LETTERS + 1], const char *text, const char *other);

/** `name` if it is spelled more like `wanted` than `best` is, or if there is no best (NULL or ""); else `best`. */
const char *pace_word_nearer(const char *wanted, const char *best, const char *name);
/** Whether `name` may be `wanted` with a slip of the keys, or with more around it. */
bool pace_word_is_near(const char *wanted, const char *name);

/** Compares texts, numbers within them by their value: "rank2" comes before "rank10". Below, at or above 0, as
 * strcmp(). */
int pace_natural_order(const char *a, const char *b);

enum { PACE_PLAIN_NAME = 64 };

/** "Avg Time [ms]", "avgTimeMs" and "avg-time/ms" are all "avg_time_ms": words in small letters with one "_" between
 * them. What does not fit is cut. */
void pace_plain_name(char out[PACE_PLAIN_NAME], const char *name);

/** What names consist of in most languages: letters, digits and '_'. */
static inline bool pace_is_name(char c) { return pace_is_alnum(c) || c == '_'; }
