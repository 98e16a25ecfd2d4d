#include "source/usage/usage_entries.h"

#include <string.h>

enum { LONGEST_WORD = 64 };

typedef struct {
    char words[PACE_ENTRY_MEMBERS][LONGEST_WORD];
    bool fits;
} entry;

static void keep_word(entry *e, size_t place, const pace_json *json) {
    size_t length;
    const char *text = pace_json_text(json, &length);
    bool plain = length < LONGEST_WORD && !memchr(text, ',', length) && !memchr(text, '=', length);
    e->fits = e->fits && plain;
    if (!plain) return;
    memcpy(e->words[place], text, length);
    e->words[place][length] = '\0';
}

static pace_json_token read_entry(entry *e, pace_json *json, const pace_yaml_node *members) {
    const char *key;
    size_t length;
    pace_json_token token;
    *e = (entry){.fits = true};
    while (!pace_json_failed(token = pace_json_member(json, &key, &length)) && token != PACE_JSON_OBJECT_END) {
        if (token == PACE_JSON_STRING || token == PACE_JSON_NUMBER)
            for (size_t i = 0; i < pace_yaml_count(members); i++) {
                const char *name = pace_yaml_text(pace_yaml_item(members, i));
                if (strlen(name) == length && memcmp(key, name, length) == 0) keep_word(e, i, json);
            }
        else if (token == PACE_JSON_OBJECT || token == PACE_JSON_ARRAY) token = pace_json_leave(json);
        if (pace_json_failed(token)) return token;
    }
    return token;
}

static pace_status add(pace_text *out, const char *text) { return pace_text_append(out, text, strlen(text)); }

static pace_status add_entry(pace_text *out, const entry *e, size_t members) {
    const char *count = e->words[members - 1];
    bool first = true;
    if (!e->fits || !*count) return PACE_OK;
    if (out->count) PACE_TRY(add(out, ","));
    for (size_t i = 0; i + 1 < members; i++) {
        if (!*e->words[i]) continue;
        if (!first) PACE_TRY(add(out, "/"));
        PACE_TRY(add(out, e->words[i]));
        first = false;
    }
    PACE_TRY(add(out, "="));
    return add(out, count);
}

pace_json_token pace_usage_entries_read(pace_text *out, pace_status *status, pace_json *json,
                                        const pace_yaml_node *members) {
    entry one;
    pace_json_token token;
    out->count = 0;
    while (!pace_json_failed(token = pace_json_next(json)) && token != PACE_JSON_ARRAY_END) {
        if (token == PACE_JSON_ARRAY) token = pace_json_leave(json);
        else if (token == PACE_JSON_OBJECT) {
            token = read_entry(&one, json, members);
            if (!pace_json_failed(token)) *status = add_entry(out, &one, pace_yaml_count(members));
        }
        if (pace_json_failed(token) || *status != PACE_OK) return token;
    }
    return token;
}
