#include "base/json_habit.h"
#include "base/json_quick.h"

#include <string.h>

enum { UNKNOWN = 1, RESERVED = 2 };

/* Whether the bytes at `at` are the lead. The window holds as many behind every token. */
static inline bool stands(const pace_json_lead *lead, const char *at) {
    return pace_json_begins_with(at, lead->bytes, lead->length);
}

/* The number of a lead, learned if there is room; UNKNOWN = it is too long, or there is none. */
static uint8_t learn(pace_json_habit *habit, const char *at, size_t length, const char *key, size_t key_length,
                     pace_json_meaning_fn meaning_of) {
    unsigned count = RESERVED + habit->learned;
    for (unsigned i = RESERVED; i < count; i++)
        if (habit->leads[i].length == length && stands(&habit->leads[i], at)) return (uint8_t)i;
    if (length > PACE_JSON_LEAD_BYTES || count == PACE_JSON_LEADS) return UNKNOWN;
    habit->leads[count] = (pace_json_lead){.length = (uint32_t)length, .meaning = meaning_of(key, key_length)};
    memcpy(habit->leads[count].bytes, at, length);
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

/* Whether the object ends here: then it is closed. */
static inline bool read_end(pace_json *json) {
    char *at = pace_json_skip_space(json->at);
    if (*at != '}') return false;
    json->at = at;
    pace_json_close(json);
    return true;
}

/* Whether an object is open whose next member is due; then *habit stands where it is. */
static inline bool is_inside(const pace_json *json, pace_json_habit *habit) {
    if (PACE_UNLIKELY(pace_json_is_terminal(json->last))) return false;
    bool first = json->due == DUE_FIRST_KEY;
    if (first) habit->at = 0;
    else if (habit->at == 0) habit->at = UNKNOWN;
    return first || (json->due == DUE_COMMA && json->depth > 0 && json->stack[json->depth - 1] == '}');
}

/* The lead at `at`, of those that followed lead `before`; 0 = another, or none. */
static inline uint8_t expected_at(const pace_json_habit *habit, uint8_t before, const char *at) {
    const uint8_t *next = habit->leads[before].next;
    if (next[0] && stands(&habit->leads[next[0]], at)) return next[0];
    return next[1] && stands(&habit->leads[next[1]], at) ? next[1] : 0;
}

/* The string without escapes whose quote is at `at`, in the window; returns where it stops, NULL for any other. */
static inline char *read_plain_string(pace_json_value *out, char *at) {
    char *quote = pace_json_find_special(at + 1);
    if (PACE_UNLIKELY(*quote != '"')) return NULL;
    *out = (pace_json_value){at + 1, (uint32_t)(quote - at - 1), 0, 0, PACE_JSON_VALUE_STRING, 0};
    return quote + 1;
}

static inline char *read_plain_number(pace_json_value *out, char *at, const char *end) {
    pace_json_number number = pace_json_scan_number(at);
    if (!number.good || PACE_UNLIKELY(number.stop >= end)) return NULL;
    *out =
        (pace_json_value){at, (uint32_t)(number.stop - at), number.whole, number.fraction, PACE_JSON_VALUE_NUMBER, 0};
    return number.stop;
}

size_t pace_json_habit_run(pace_json *json, pace_json_habit *habit, pace_json_value run[PACE_JSON_RUN]) {
    size_t count = 0;
    if (!is_inside(json, habit)) return 0;
    char *at = json->at;
    uint8_t lead = habit->at, next;
    while (count < PACE_JSON_RUN && (next = expected_at(habit, lead, at)) != 0) {
        const pace_json_lead *found = &habit->leads[next];
        char *value = at + found->length;
        char *stop =
            *value == '"' ? read_plain_string(&run[count], value) : read_plain_number(&run[count], value, json->end);
        if (!stop) break;
        at = stop;
        lead = next;
        run[count].meaning = found->meaning;
        count += found->meaning != 0;
    }
    if (at == json->at) return 0;
    habit->at = lead;
    json->token = json->at;
    pace_json_scalar(json, PACE_JSON_NULL, at);
    return count;
}

pace_json_token pace_json_habit_member(pace_json *json, pace_json_habit *habit, pace_json_meaning_fn meaning_of,
                                       uint8_t *meaning) {
    *meaning = 0;
    if (PACE_UNLIKELY(!is_inside(json, habit))) return read_and_learn(json, habit, meaning_of, meaning);
    if (read_end(json)) return PACE_JSON_OBJECT_END;
    uint8_t lead = expected_at(habit, habit->at, json->at);
    if (!lead || !pace_json_quick_value(json, json->at + habit->leads[lead].length))
        return read_and_learn(json, habit, meaning_of, meaning);
    habit->at = lead;
    *meaning = habit->leads[lead].meaning;
    return json->due == DUE_VALUE ? pace_json_next(json) : json->last;
}
