#include "source/traces/kineto_texts.h"
#include "base/json_compact.h"

#include <string.h>

enum { WAYS = 4, FIRST_SETS = 8, MOST_SETS = 512 };

void pace_kineto_texts_free(pace_kineto_texts *texts) {
    pace_names_free(&texts->texts);
    pace_names_free(&texts->lists);
    PACE_VEC_FREE(&texts->joined, &texts->scratch);
    pace_free(texts->known);
    *texts = (pace_kineto_texts){0};
}

static pace_status set_up_known(pace_kineto_texts *texts, uint32_t sets) {
    pace_free(texts->known);
    texts->known = pace_alloc((size_t)WAYS * sets, sizeof *texts->known);
    texts->sets = sets;
    return texts->known ? PACE_OK : PACE_E_MEMORY;
}

/* A small trace needs few sets; once they are full there are more, which fill anew. */
static pace_status grow_known(pace_kineto_texts *texts) {
    if (texts->turn < WAYS * texts->sets || texts->sets == MOST_SETS) return PACE_OK;
    return set_up_known(texts, texts->sets * 8);
}

static pace_status begin(pace_kineto_texts *texts) {
    if (texts->known) return PACE_OK;
    PACE_TRY(pace_names_init(&texts->texts));
    PACE_TRY(pace_names_init(&texts->lists));
    PACE_TRY(PACE_PUSH(&texts->joined, 0)); /* of the empty list */
    return set_up_known(texts, FIRST_SETS);
}

size_t pace_kineto_text_length(const pace_kineto_texts *texts, pace_name text) {
    return text ? pace_names_length(&texts->texts, text) : 0;
}

/* One token of a value; an object becomes null whole. */
static pace_json_token capture_one(pace_text *to, pace_json *json, pace_json_token token, pace_status *status) {
    size_t length;
    const char *text = pace_json_text(json, &length);
    if (token == PACE_JSON_ARRAY) {
        *status = pace_text_append(to, "[", 1);
    } else if (token == PACE_JSON_STRING) {
        *status = pace_text_append(to, "\"", 1);
        if (*status == PACE_OK) *status = pace_text_append(to, text, length);
        if (*status == PACE_OK) *status = pace_text_append(to, "\"", 1);
    } else if (token == PACE_JSON_NUMBER) {
        *status = pace_text_append(to, text, length);
    } else {
        if (token == PACE_JSON_OBJECT) token = pace_json_leave(json);
        if (!pace_json_failed(token)) *status = pace_text_append(to, "null", 4);
    }
    return token;
}

/* Copies the array or scalar that `token` begins; arrays only as deep as shapes go, objects are dropped. */
static pace_json_token capture(pace_text *to, pace_json *json, pace_json_token token, pace_status *status) {
    unsigned depth = 0;
    bool comma = false;
    for (;; token = pace_json_next(json)) {
        if (pace_json_failed(token)) return token;
        if (token == PACE_JSON_ARRAY_END) {
            depth--;
            *status = pace_text_append(to, "]", 1);
            comma = true;
        } else {
            if (comma) *status = pace_text_append(to, ",", 1);
            comma = token != PACE_JSON_ARRAY;
            depth += token == PACE_JSON_ARRAY;
            if (*status == PACE_OK) token = capture_one(to, json, token, status);
            if (pace_json_failed(token)) return token;
        }
        if (*status != PACE_OK) return PACE_JSON_ERROR;
        if (depth == 0) return PACE_JSON_STRING;
    }
}

/* The arrays that may be the one at hand: those of this kind of event that begin alike. */
static pace_known_array *set_of(uint32_t *key, const pace_kineto_texts *texts, const pace_json *json, uint32_t about) {
    uint64_t first;
    memcpy(&first, pace_json_place(json), sizeof first);
    uint64_t mixed = (first ^ about * UINT64_C(0xff51afd7ed558ccd)) * UINT64_C(0x9e3779b97f4a7c15);
    *key = (uint32_t)(mixed >> 32);
    return &texts->known[(mixed >> 23) % texts->sets * WAYS];
}

static void keep_array(pace_kineto_texts *texts, pace_known_array *set, uint32_t key, const char *bytes, size_t length,
                       pace_name text) {
    if (length > sizeof set->bytes) return;
    pace_known_array *known = &set[texts->turn++ % WAYS];
    *known = (pace_known_array){.key = key, .text = text, .length = (uint32_t)length};
    memcpy(known->bytes, bytes, length);
}

/* The compact text of a plain array, whose strings hold no escapes. */
static pace_status add_compact(pace_name *out, pace_kineto_texts *texts, const char *array, size_t length) {
    PACE_TRY(pace_grow(&texts->scratch.items, &texts->scratch.capacity, length + 8, 1));
    char *end = pace_json_compact(texts->scratch.items, array, length);
    return pace_names_add(out, &texts->texts, texts->scratch.items, (size_t)(end - texts->scratch.items));
}

/* An array that is plain; false, and nothing is consumed, for any other. */
static bool read_plain(pace_name *out, pace_kineto_texts *texts, pace_json *json, uint32_t about, pace_status *status) {
    uint32_t key;
    if ((*status = grow_known(texts)) != PACE_OK) return true;
    pace_known_array *set = set_of(&key, texts, json, about);
    for (unsigned i = 0; i < WAYS; i++) {
        if (set[i].key != key || !pace_json_array_again(json, set[i].bytes, set[i].length)) continue;
        *out = set[i].text;
        return true;
    }
    size_t length;
    const char *array = pace_json_plain_array(json, &length);
    if (!array) return false;
    *status = add_compact(out, texts, array, length);
    if (*status == PACE_OK) keep_array(texts, set, key, array, length, *out);
    return true;
}

pace_json_token pace_kineto_text_read(pace_name *out, pace_kineto_texts *texts, pace_json *json, pace_json_token token,
                                      uint32_t about, pace_status *status) {
    *status = begin(texts);
    if (*status != PACE_OK) return PACE_JSON_ERROR;
    if (token == PACE_JSON_ARRAY && read_plain(out, texts, json, about, status))
        return *status == PACE_OK ? PACE_JSON_STRING : PACE_JSON_ERROR;
    texts->scratch.count = 0;
    token = capture(&texts->scratch, json, token, status);
    if (pace_json_failed(token)) return token;
    *status = pace_names_add(out, &texts->texts, texts->scratch.items, texts->scratch.count);
    return *status == PACE_OK ? token : PACE_JSON_ERROR;
}

pace_status pace_kineto_text_add(pace_name *out, pace_kineto_texts *texts, const pace_json_value *value) {
    PACE_TRY(begin(texts));
    if (value->kind == PACE_JSON_VALUE_NUMBER) return pace_names_add(out, &texts->texts, value->text, value->length);
    return pace_names_add(out, &texts->texts, value->text - 1, value->length + 2); /* with its quotes */
}

static pace_status join(pace_name *out, pace_kineto_texts *texts, const pace_name *parts, size_t count,
                        pace_names *names) {
    texts->scratch.count = 0;
    for (size_t i = 0; i < count; i++) {
        if (i) PACE_TRY(pace_text_append(&texts->scratch, "\n", 1));
        PACE_TRY(pace_text_append(&texts->scratch, pace_names_text(&texts->texts, parts[i]),
                                  pace_kineto_text_length(texts, parts[i])));
    }
    return pace_names_add(out, names, texts->scratch.items, texts->scratch.count);
}

pace_status pace_kineto_texts_join(pace_name *out, pace_kineto_texts *texts, const pace_name *parts, size_t count,
                                   pace_names *names) {
    pace_name list;
    PACE_TRY(begin(texts));
    PACE_TRY(pace_names_add(&list, &texts->lists, (const char *)parts, count * sizeof *parts));
    if (list == texts->joined.count) {
        pace_name text;
        PACE_TRY(join(&text, texts, parts, count, names));
        PACE_TRY(PACE_PUSH(&texts->joined, text));
    }
    *out = texts->joined.items[list];
    return PACE_OK;
}
