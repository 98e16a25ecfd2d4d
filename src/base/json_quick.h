/* Members that lie in the window whole. Private to the JSON reader's files. */
#pragma once

#include "base/json_state.h"

/* The value at `at`, in the window and without escapes; false, and nothing consumed, for any other. Of an object or
 * array the opening bracket is left. */
static inline bool pace_json_quick_value(pace_json *json, char *at) {
    if (*at == '"') {
        char *stop = pace_json_find_special(at + 1);
        if (PACE_UNLIKELY(*stop != '"')) return false;
        json->token = at;
        pace_json_scalar(json, PACE_JSON_STRING, stop + 1);
        json->text++;
        json->length -= 2;
        return true;
    }
    if (*at == '{' || *at == '[') {
        json->at = at;
        json->due = DUE_VALUE;
        return true;
    }
    pace_json_number number = pace_json_scan_number(at);
    if (PACE_UNLIKELY(!number.good || number.stop >= json->end)) return false;
    json->token = at;
    pace_json_take_number(json, number);
    return true;
}

/* Where the next member's key may begin; NULL where none is due. */
static inline char *pace_json_quick_begin(const pace_json *json) {
    char *at = pace_json_skip_space(json->at);
    if (json->due == DUE_FIRST_KEY) return at;
    if (json->due != DUE_COMMA || *at != ',' || json->depth == 0 || json->stack[json->depth - 1] != '}') return NULL;
    return pace_json_skip_space(at + 1);
}

/* The key at `at` and where its value begins; NULL, and nothing set, where that is not simple. */
static inline char *pace_json_quick_key(char *at, const char **key, size_t *key_length) {
    if (*at != '"') return NULL;
    char *stop = pace_json_find_special(at + 1);
    if (PACE_UNLIKELY(*stop != '"' || stop[1] != ':')) return NULL;
    *key = at + 1;
    *key_length = (size_t)(stop - at - 1);
    return pace_json_skip_space(stop + 2);
}
