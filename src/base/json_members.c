/* Members of objects and plain arrays in one go, where they lie in the window whole. */
#include "base/json_reader.h"
#include "base/json_quick.h"

#include <string.h>

/* Behind the string or number at `at`, NULL if it is neither, or not in the window to its end: the zeros there stop
 * it. */
static inline char *pass_plain(char *at) {
    if (*at == '"') {
        at = pace_json_find_special(at + 1);
        return *at == '"' ? at + 1 : NULL;
    }
    pace_json_number number = pace_json_scan_number(at);
    return number.good ? number.stop : NULL;
}

/* Behind the array at `at`, or NULL. */
static char *pass_array(char *at) {
    enum { MOST_DEPTH = 16 };
    unsigned depth = 0;
    for (;;) {
        if (*at == '[') {
            if (++depth > MOST_DEPTH) return NULL;
            at = pace_json_skip_space(at + 1);
            if (*at != ']') continue;
        } else {
            at = pass_plain(at);
            if (!at) return NULL;
            at = pace_json_skip_space(at);
        }
        while (*at == ']') {
            at++;
            if (--depth == 0) return at;
            at = pace_json_skip_space(at);
        }
        if (*at != ',') return NULL;
        at = pace_json_skip_space(at + 1);
    }
}

const char *pace_json_plain_array(pace_json *json, size_t *length) {
    char *start = json->token, *stop = json->last == PACE_JSON_ARRAY ? pass_array(start) : NULL;
    if (!stop) return NULL;
    *length = (size_t)(stop - start);
    json->at = stop - 1;
    pace_json_close(json);
    return start;
}

bool pace_json_array_again(pace_json *json, const char *array, size_t length) {
    char *start = json->token;
    if (length == 0 || json->last != PACE_JSON_ARRAY || (size_t)(json->end - start) < length) return false;
    if (memcmp(start, array, length) != 0) return false;
    json->at = start + length - 1;
    pace_json_close(json);
    return true;
}

const char *pace_json_place(const pace_json *json) { return json->token; }

static inline bool try_quick_member(pace_json *json, const char **key, size_t *key_length) {
    char *at = pace_json_quick_begin(json), *value = at ? pace_json_quick_key(at, key, key_length) : NULL;
    return value && pace_json_quick_value(json, value);
}

/* Whatever the member looks like. The key is copied, since its value may need a new window. */
static pace_json_token read_slow_member(pace_json *json, const char **key, size_t *key_length) {
    pace_json_token token = pace_json_next(json);
    if (token != PACE_JSON_KEY) return token;
    *key_length = json->length < sizeof json->key ? json->length : 0;
    memcpy(json->key, json->text, *key_length);
    *key = json->key;
    return pace_json_next(json);
}

pace_json_token pace_json_member(pace_json *json, const char **key, size_t *key_length) {
    *key = json->key;
    *key_length = 0;
    if (PACE_UNLIKELY(pace_json_is_terminal(json->last)) || !try_quick_member(json, key, key_length))
        return read_slow_member(json, key, key_length);
    return json->due == DUE_VALUE ? pace_json_next(json) : json->last;
}
