/* Ways of reading JSON that must agree: vectors and byte by byte; member by member and token by token. Shared by the
 * unit test and the fuzz target. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "base/json_compact.h"
#include "base/json_habit.h"
#include "base/json_reader.h"
#include "base/json_scan.h"
#include "base/text.h"

/* Whether text without white space is the same both ways, in a buffer that is no longer than promised. */
static inline bool compacts_agree(const uint8_t *data, size_t size) {
    char *text = malloc(size + 8), *fast = malloc(size + 8), *plain = malloc(size + 1);
    bool agree = text && fast && plain;
    if (agree && size) memcpy(text, data, size);
    if (agree) memset(text + size, '"', 8);
    for (size_t from = 0; agree && from <= size && from < 80; from++) {
        char *fast_end = pace_json_compact(fast, text + from, size - from);
        char *plain_end = pace_json_compact_plain(plain, text + from, size - from);
        agree = fast_end - fast == plain_end - plain && memcmp(fast, plain, (size_t)(plain_end - plain)) == 0;
    }
    free(text);
    free(fast);
    free(plain);
    return agree;
}

/* Whether digits read at once are those read one by one, and texts compared at once those compared byte by byte. */
static inline bool runs_agree(const char *at, const char *other) {
    uint64_t wanted = 0;
    for (unsigned count = 1; count <= 8 && pace_is_digit(at[count - 1]); count++) {
        wanted = wanted * 10 + (unsigned)(at[count - 1] - '0');
        if (pace_decimal_of(at, count) != wanted) return false;
    }
    unsigned same = 0;
    while (same < 48 && at[same] == other[same]) same++;
    for (unsigned length = 1; length <= 48; length++)
        if (pace_json_begins_with(at, other, length) != (length <= same)) return false;
    return true;
}

/** Whether all that this processor runs finds the same in these bytes, at every place. */
static inline bool scans_agree(const uint8_t *data, size_t size) {
    char *text = malloc(size + 2 * PACE_JSON_BLOCK), *end = text + size;
    bool agree = text != NULL;
    if (!text) return false;
    if (size) memcpy(text, data, size);
    memset(end, 0, 2 * PACE_JSON_BLOCK);
    for (char *at = text; at <= end && agree; at++) {
        char *digits = at;
        while (pace_is_digit(*digits)) digits++;
        agree = runs_agree(at, text + (at - text) / 2) && pace_json_skip_digits(at) == digits &&
                pace_json_skip_space(at) == pace_json_skip_space_plain(at) &&
                pace_json_skip_long_space(at) == pace_json_skip_space_plain(at) &&
                pace_json_find_special(at) == pace_json_find_special_plain(at);
        pace_json_bits wanted = pace_json_classifiers[pace_json_classifier_count - 1].classify(at);
        for (size_t i = 0; i + 1 < pace_json_classifier_count; i++) {
            if (!pace_json_classifiers[i].runs_here()) continue;
            pace_json_bits found = pace_json_classifiers[i].classify(at);
            agree = agree && found.quotes == wanted.quotes && found.backslashes == wanted.backslashes &&
                    found.brackets == wanted.brackets;
        }
    }
    free(text);
    return agree && compacts_agree(data, size);
}

/* A member as read token by token: what pace_json_member() promises. */
static inline pace_json_token member_by_tokens(pace_json *json, char key[PACE_JSON_KEY_MAX], size_t *key_length) {
    pace_json_token token = pace_json_next(json);
    *key_length = 0;
    if (token != PACE_JSON_KEY) return token;
    const char *text = pace_json_text(json, key_length);
    if (*key_length >= PACE_JSON_KEY_MAX) *key_length = 0;
    memcpy(key, text, *key_length);
    return pace_json_next(json);
}

static inline bool same_token(pace_json *a, pace_json *b) {
    size_t a_length, b_length;
    const char *a_text = pace_json_text(a, &a_length), *b_text = pace_json_text(b, &b_length);
    return a_length == b_length && (a_length == 0 || memcmp(a_text, b_text, a_length) == 0) &&
           pace_json_escaped(a) == pace_json_escaped(b) && pace_json_offset(a) == pace_json_offset(b) &&
           pace_json_depth(a) == pace_json_depth(b) && pace_json_oddities(a) == pace_json_oddities(b) &&
           pace_json_status(a) == pace_json_status(b);
}

static inline bool same_member(pace_json_token *token, pace_json *members, pace_json *tokens) {
    const char *key;
    char wanted[PACE_JSON_KEY_MAX];
    size_t length, wanted_length;
    *token = pace_json_member(members, &key, &length);
    if (*token != member_by_tokens(tokens, wanted, &wanted_length)) return false;
    if (wanted_length && (length != wanted_length || memcmp(key, wanted, length) != 0)) return false;
    return (length < PACE_JSON_KEY_MAX) <= (length == wanted_length) && same_token(members, tokens);
}

/* Of a walk: which of the open brackets are objects'. */
typedef struct {
    bool object[PACE_JSON_DEPTH + 1];
    unsigned depth;
} open_brackets;

static inline void follow_token(open_brackets *open, pace_json_token token) {
    if (token == PACE_JSON_OBJECT || token == PACE_JSON_ARRAY) open->object[++open->depth] = token == PACE_JSON_OBJECT;
    if (token == PACE_JSON_OBJECT_END || token == PACE_JSON_ARRAY_END) open->depth--;
}

/* `plain_arrays`: arrays that are plain are passed as text, which must lead to where leaving them does. */
static inline bool walks_agree(pace_json *members, pace_json *tokens, bool plain_arrays) {
    open_brackets open = {.depth = 0};
    for (pace_json_token token = PACE_JSON_NULL; token > PACE_JSON_TRUNCATED;) {
        size_t length;
        if (open.object[open.depth]) {
            if (!same_member(&token, members, tokens)) return false;
        } else {
            token = pace_json_next(members);
            if (token != pace_json_next(tokens) || !same_token(members, tokens)) return false;
        }
        follow_token(&open, token);
        if (plain_arrays && token == PACE_JSON_ARRAY && pace_json_plain_array(members, &length)) {
            token = pace_json_leave(tokens);
            if (token != PACE_JSON_ARRAY_END) return false;
            follow_token(&open, token);
        }
    }
    return true;
}

/* Keys as a number that tells most of them apart, and is never 0. */
static inline uint8_t meaning_of_tests(const char *key, size_t length) {
    uint8_t sum = (uint8_t)(length * 31);
    for (size_t i = 0; i < length; i++) sum = (uint8_t)(sum * 7 + (unsigned char)key[i]);
    return sum | 1;
}

/* Whether a value is the last token of another reader, and its number what reading it digit by digit gives. */
static inline bool same_value(const pace_json_value *value, const pace_json *json) {
    size_t length;
    const char *text = pace_json_text(json, &length);
    pace_json_value slow = pace_json_value_of(json);
    slow.whole = 0;
    int64_t a = 0, b = 0;
    bool is_int = pace_json_value_int(value, &a);
    if (is_int != pace_json_value_any_int(&slow, &b) || a != b) return false;
    bool is_time = pace_json_value_us_to_ns(value, &a);
    if (is_time != pace_json_value_any_us_to_ns(&slow, &b) || (is_time && a != b)) return false;
    return value->kind == slow.kind && value->length == length && memcmp(value->text, text, length) == 0;
}

/* Members that come in a run. */
static inline bool run_agrees(pace_json *habitual, pace_json_habit *habit, pace_json *members) {
    pace_json_value run[PACE_JSON_RUN];
    size_t count = pace_json_habit_run(habitual, habit, run);
    for (size_t i = 0; i < count; i++) {
        const char *key;
        size_t length;
        pace_json_token token = pace_json_member(members, &key, &length);
        if (token != PACE_JSON_NUMBER && token != PACE_JSON_STRING) return false;
        if (run[i].meaning != meaning_of_tests(key, length) || !same_value(&run[i], members)) return false;
    }
    return true;
}

/* The same walk, of a reader with a habit for each depth and of one without. */
static inline bool habits_agree(pace_json *habitual, pace_json *members) {
    enum { HABITS = 8 };
    static pace_json_habit habits[HABITS];
    open_brackets open = {.depth = 0};
    memset(habits, 0, sizeof habits);
    for (pace_json_token token = PACE_JSON_NULL; token > PACE_JSON_TRUNCATED;) {
        if (open.object[open.depth]) {
            const char *key;
            size_t length;
            uint8_t meaning;
            pace_json_habit *habit = &habits[open.depth % HABITS];
            if (!run_agrees(habitual, habit, members)) return false;
            token = pace_json_habit_member(habitual, habit, meaning_of_tests, &meaning);
            if (token != pace_json_member(members, &key, &length) || !same_token(habitual, members)) return false;
            bool named =
                token >= PACE_JSON_OBJECT && token != PACE_JSON_OBJECT_END && length > 0 && length < PACE_JSON_KEY_MAX;
            if (named && meaning != meaning_of_tests(key, length)) return false;
        } else {
            token = pace_json_next(habitual);
            if (token != pace_json_next(members) || !same_token(habitual, members)) return false;
        }
        follow_token(&open, token);
    }
    return true;
}

/** Whether members and tokens read the same of a document, and members with a habit. */
static inline bool readers_agree(const void *data, size_t size, bool plain_arrays, bool with_habits) {
    pace_input *inputs[2] = {0};
    pace_json *readers[2] = {0};
    bool agree = true, ready = true;
    for (int i = 0; i < 2 && ready; i++)
        ready = pace_input_open_memory(&inputs[i], "twin", data, size) == PACE_OK &&
                pace_json_open(&readers[i], inputs[i]) == PACE_OK;
    if (ready)
        agree = with_habits ? habits_agree(readers[0], readers[1]) : walks_agree(readers[0], readers[1], plain_arrays);
    for (int i = 0; i < 2; i++) {
        pace_json_free(readers[i]);
        pace_input_free(inputs[i]);
    }
    return agree;
}
