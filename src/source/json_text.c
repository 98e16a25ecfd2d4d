#include "source/json_text.h"

static pace_status append_token(pace_text *out, const pace_json *json, pace_json_token token) {
    size_t length;
    const char *text = pace_json_text(json, &length);
    switch (token) {
    case PACE_JSON_OBJECT: return pace_text_append(out, "{", 1);
    case PACE_JSON_OBJECT_END: return pace_text_append(out, "}", 1);
    case PACE_JSON_ARRAY: return pace_text_append(out, "[", 1);
    case PACE_JSON_ARRAY_END: return pace_text_append(out, "]", 1);
    case PACE_JSON_TRUE: return pace_text_append(out, "true", 4);
    case PACE_JSON_FALSE: return pace_text_append(out, "false", 5);
    case PACE_JSON_NUMBER: return pace_text_append(out, text, length);
    case PACE_JSON_KEY:
    case PACE_JSON_STRING:
        PACE_TRY(pace_text_append(out, "\"", 1));
        PACE_TRY(pace_text_append(out, text, length));
        return pace_text_append(out, token == PACE_JSON_KEY ? "\":" : "\"", token == PACE_JSON_KEY ? 2 : 1);
    default: return pace_text_append(out, "null", 4);
    }
}

static bool closes(pace_json_token token) { return token == PACE_JSON_OBJECT_END || token == PACE_JSON_ARRAY_END; }

static bool opens(pace_json_token token) { return token == PACE_JSON_OBJECT || token == PACE_JSON_ARRAY; }

pace_json_token pace_json_capture_from(pace_text *out, pace_json *json, pace_json_token token, pace_status *status) {
    unsigned depth = 0;
    bool comma = false;
    const pace_json_token first = token;
    out->count = 0;
    for (;; token = pace_json_next(json)) {
        if (token <= PACE_JSON_TRUNCATED || (depth == 0 && closes(token))) return token;
        *status = comma && !closes(token) ? pace_text_append(out, ",", 1) : PACE_OK;
        if (*status == PACE_OK) *status = append_token(out, json, token);
        if (*status != PACE_OK) return PACE_JSON_ERROR;
        if (opens(token)) depth++;
        if (closes(token)) depth--;
        comma = !opens(token) && token != PACE_JSON_KEY;
        if (depth == 0) return first;
    }
}

static const char *skip_string(const char *at) {
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && at[1]) at++;
    return *at ? at + 1 : at;
}

bool pace_json_element(const char **at, const char **element, size_t *length) {
    const char *from = *at + (**at == ',');
    unsigned depth = 0;
    if (*from == ']' || *from == '\0') {
        *at = from + (*from == ']');
        return false;
    }
    const char *end = from;
    while (*end && (depth || (*end != ',' && *end != ']'))) {
        if (*end == '"') {
            end = skip_string(end);
            continue;
        }
        if (*end == '[' || *end == '{') depth++;
        if (*end == ']' || *end == '}') depth--;
        end++;
    }
    *element = from;
    *length = (size_t)(end - from);
    *at = end;
    return true;
}
