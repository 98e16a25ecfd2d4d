#include "base/json_walk.h"

#include <string.h>

void pace_json_copy_key(char key[PACE_JSON_KEY_TEXT], const pace_json *json) {
    size_t length;
    const char *text = pace_json_text(json, &length);
    if (length >= PACE_JSON_KEY_TEXT) length = 0;
    memcpy(key, text, length);
    key[length] = '\0';
}

pace_json_token pace_json_next_member(pace_json *json, char key[PACE_JSON_KEY_TEXT]) {
    pace_json_token token = pace_json_next(json);
    if (token != PACE_JSON_KEY) return token;
    pace_json_copy_key(key, json);
    return pace_json_next(json);
}

pace_json_token pace_json_each_member(pace_json *json, pace_json_member_fn read, void *context) {
    pace_json_token token;
    while ((token = pace_json_next(json)) == PACE_JSON_KEY) {
        char key[PACE_JSON_KEY_TEXT];
        pace_json_copy_key(key, json);
        token = read(context, key);
        if (pace_json_failed(token)) return token;
    }
    return token;
}

pace_json_token pace_json_document(pace_json *json, pace_json_member_fn read, void *context) {
    pace_json_token token = pace_json_next(json);
    if (token != PACE_JSON_OBJECT) return token;
    token = pace_json_each_member(json, read, context);
    return pace_json_failed(token) ? token : pace_json_next(json);
}

pace_json_token pace_json_each_object(pace_json *json, pace_json_object_fn read, void *context) {
    for (;;) {
        pace_json_token token = pace_json_next(json);
        if (token == PACE_JSON_OBJECT) token = read(context);
        else if (token == PACE_JSON_ARRAY) token = pace_json_leave(json);
        else if (token == PACE_JSON_ARRAY_END) return token;
        if (pace_json_failed(token)) return token;
    }
}

pace_json_token pace_json_pass(pace_json *json, pace_json_token first) {
    return first == PACE_JSON_OBJECT || first == PACE_JSON_ARRAY ? pace_json_leave(json) : first;
}
