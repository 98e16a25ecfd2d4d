/* What the JSON reader finds, and its limits. */
#pragma once

#include <stdbool.h>

/* Behind the text of a token so many bytes may be read, whatever they are. */
enum { PACE_JSON_DEPTH = 512, PACE_JSON_BEHIND = 64, PACE_JSON_KEY_MAX = 64 };

typedef enum {
    PACE_JSON_END,       /* the document is complete; only white space was left */
    PACE_JSON_ERROR,     /* malformed, or the input failed; message set, see `status` */
    PACE_JSON_TRUNCATED, /* the input ended inside the document; message set */
    PACE_JSON_OBJECT,    /* { */
    PACE_JSON_OBJECT_END,
    PACE_JSON_ARRAY, /* [ */
    PACE_JSON_ARRAY_END,
    PACE_JSON_KEY, /* text = the member's name; its value is the next token */
    PACE_JSON_STRING,
    PACE_JSON_NUMBER, /* text = the literal */
    PACE_JSON_TRUE,
    PACE_JSON_FALSE,
    PACE_JSON_NULL,
} pace_json_token;

static inline bool pace_json_failed(pace_json_token token) {
    return token == PACE_JSON_ERROR || token == PACE_JSON_TRUNCATED;
}
