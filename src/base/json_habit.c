#include "base/json_habit.h"

#include "base/json_quick.h"

#include <string.h>

enum { UNKNOWN = 1, RESERVED = 2, LEAD_BYTES = 8 * PACE_JSON_LEAD_WORDS };

/* Whether the bytes at `at` are the lead. The window holds as many behind every token. */
static inline bool stands(const pace_json_lead *lead, const char *at) {
    uint64_t word;
    unsigned last = lead->count - 1u;
    for (unsigned i = 0; i < last; i++) {
        memcpy(&word, at + 8 * (size_t)i, 8);
        if (word != lead->words[i]) return false;
    }
    memcpy(&word, at + 8 * (size_t)last, 8);
    return (word & lead->last_mask) == lead->words[last];
}

static void make_lead(pace_json_lead *out, const char *at, size_t length) {
    unsigned char bytes[LEAD_BYTES] = {0}, mask[8] = {0};
    memcpy(bytes, at, length);
    *out = (pace_json_lead){.count = (uint8_t)((length + 7) / 8), .length = (uint8_t)length};
    memcpy(out->words, bytes, sizeof out->words);
    memset(mask, 0xff, length - 8 * (size_t)(out->count - 1));
    memcpy(&out->last_mask, mask, sizeof mask);
}

/* The number of a lead, learned if there is room; UNKNOWN = it is too long, or there is none. */
static uint8_t learn(pace_json_habit *habit, const char *at, size_t length, const char *key, size_t key_length,
                     pace_json_meaning_fn meaning_of) {
    unsigned count = RESERVED + habit->learned;
    for (unsigned i = RESERVED; i < count; i++)
        if (habit->leads[i].length == length && stands(&habit->leads[i], at)) return (uint8_t)i;
    if (length > LEAD_BYTES || count == PACE_JSON_LEADS) return UNKNOWN;
    make_lead(&habit->leads[count], at, length);
    habit->leads[count].meaning = meaning_of(key, key_length);
    habit->learned++;
    return (uint8_t)count;
}

/* A member as it comes, after which a lead is known, or not. */
static pace_json_token read_and_learn(pace_json *json, pace_json_habit *habit, pace_json_meaning_fn meaning_of,
                                      uint8_t *meaning) {
    const char *before = json->at, *key;
    size_t length;
    char *at = pace_json_is_terminal(json->last) ? NULL : pace_json_quick_begin(json);
    char *value = at ? pace_json_quick_key(at, &key, &length) : NULL;
    if (!value) {
        habit->at = UNKNOWN;
        pace_json_token token = pace_json_member(json, &key, &length);
        *meaning = pace_json_failed(token) || token == PACE_JSON_OBJECT_END ? 0 : meaning_of(key, length);
        return token;
    }
    uint8_t lead = learn(habit, before, (size_t)(value - before), key, length, meaning_of);
    uint8_t *next = habit->leads[habit->at].next;
    *meaning = lead == UNKNOWN ? meaning_of(key, length) : habit->leads[lead].meaning;
    if (lead != UNKNOWN && next[0] != lead) {
        next[1] = next[0];
        next[0] = lead;
    }
    habit->at = lead;
    return pace_json_member(json, &key, &length);
}

/* The member behind an expected lead; false, and nothing consumed, where there is another. */
static inline bool read_expected(pace_json *json, pace_json_habit *habit, uint8_t lead) {
    const pace_json_lead *expected = &habit->leads[lead];
    if (lead == 0 || !stands(expected, json->at)) return false;
    if (PACE_UNLIKELY(!pace_json_quick_value(json, json->at + expected->length))) return false;
    habit->at = lead;
    return true;
}

/* Whether the object ends here: then it is closed. */
static inline bool read_end(pace_json *json) {
    char *at = pace_json_skip_space(json->at);
    if (*at != '}') return false;
    json->at = at;
    pace_json_close(json);
    return true;
}

pace_json_token pace_json_habit_member(pace_json *json, pace_json_habit *habit, pace_json_meaning_fn meaning_of,
                                       uint8_t *meaning) {
    bool first = json->due == DUE_FIRST_KEY;
    bool inside = first || (json->due == DUE_COMMA && json->depth > 0 && json->stack[json->depth - 1] == '}');
    if (first) habit->at = 0;
    else if (habit->at == 0) habit->at = UNKNOWN;
    const uint8_t *next = habit->leads[habit->at].next;
    *meaning = 0;
    if (PACE_UNLIKELY(!inside || pace_json_is_terminal(json->last)))
        return read_and_learn(json, habit, meaning_of, meaning);
    if (!read_expected(json, habit, next[0]) && !read_expected(json, habit, next[1]))
        return read_end(json) ? PACE_JSON_OBJECT_END : read_and_learn(json, habit, meaning_of, meaning);
    *meaning = habit->leads[habit->at].meaning;
    return json->due == DUE_VALUE ? pace_json_next(json) : json->last;
}
