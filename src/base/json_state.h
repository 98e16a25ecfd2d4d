/*
 * The state of the JSON reader and what its files share: json_reader.c (window, tokens, grammar), json_members.c
 * (members and plain arrays in one go), json_escapes.c, json_numbers.c. Private to these files.
 *
 * A token that runs into the window's end is moved to the front, the window refilled, and the token scanned again, so
 * that no scanner has to stop and resume. Behind the window's end stand zero bytes, which end every scan and let
 * vectors load past the last byte.
 */
#pragma once

#include "base/input.h"
#include "base/json_scan.h"
#include "base/json_token.h"

/* What may come next. */
typedef enum {
    DUE_VALUE,      /* a value and nothing else: at the start, behind a colon */
    DUE_FIRST_ITEM, /* behind '[' */
    DUE_FIRST_KEY,  /* behind '{' */
    DUE_COLON,      /* behind a key that no colon follows at once */
    DUE_COMMA,      /* behind a value: a comma, a closing bracket, or at depth 0 the end */
} pace_json_due;

typedef struct pace_json {
    char *at;    /* first byte not consumed */
    char *end;   /* end of the window's bytes */
    char *token; /* first byte that a refill must keep; the last token's start */
    char *pin;   /* first byte that a refill must keep while it is pinned; NULL = `token` is */
    const char *text;
    size_t length;
    uint8_t whole, fraction; /* as of a pace_json_value */
    pace_json_due due;
    unsigned depth;
    unsigned token_depth;
    pace_json_token last;
    bool escaped;
    bool over; /* the input has nothing more */
    uint64_t oddities;

    pace_json_bits (*classify)(const char *block);
    pace_input *input;
    char *window;
    size_t capacity;
    uint64_t base; /* place of window[0] in the document */
    pace_status input_status;
    pace_status status;
    PACE_VEC(char) decoded;
    char key[PACE_JSON_KEY_MAX]; /* of the member whose value was read last */
    char stack[PACE_JSON_DEPTH]; /* the closing bracket each open container waits for */
} pace_json;

static inline bool pace_json_is_terminal(pace_json_token token) { return token <= PACE_JSON_TRUNCATED; }

static inline bool pace_json_is_hex(char byte) {
    return pace_is_digit(byte) || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'f');
}

/* A number as scanned: where it stops, which byte breaks the grammar, if any; the lengths that a pace_json keeps. */
typedef struct {
    char *stop;
    bool good;
    uint8_t whole, fraction;
} pace_json_number;

static inline pace_json_number pace_json_bad_number(char *stop) { return (pace_json_number){.stop = stop}; }

static inline pace_json_number pace_json_scan_number(char *at) {
    bool signless = *at != '-';
    at += !signless;
    char *whole = at;
    if (!pace_is_digit(*at)) return pace_json_bad_number(at);
    at = pace_json_skip_digits(at);
    ptrdiff_t before = at - whole, behind = 0;
    if (*whole == '0' && before > 1) return pace_json_bad_number(whole + 1);
    if (*at == '.') {
        if (!pace_is_digit(at[1])) return pace_json_bad_number(at + 1);
        char *fraction = at + 1;
        at = pace_json_skip_digits(fraction);
        behind = at - fraction;
    }
    bool plain = signless && before <= 16 && behind <= 16;
    if ((*at | 0x20) == 'e') {
        plain = false;
        at++;
        if (*at == '+' || *at == '-') at++;
        if (!pace_is_digit(*at)) return pace_json_bad_number(at);
        at = pace_json_skip_digits(at);
    }
    return (pace_json_number){at, true, plain ? (uint8_t)before : 0, (uint8_t)behind};
}

/* The scalar from `token` to `stop` is the last token. */
static inline pace_json_token pace_json_scalar(pace_json *json, pace_json_token kind, char *stop) {
    json->text = json->token;
    json->length = (size_t)(stop - json->token);
    json->whole = 0;
    json->escaped = false;
    json->at = stop;
    json->due = DUE_COMMA;
    json->token_depth = json->depth;
    return json->last = kind;
}

static inline pace_json_token pace_json_take_number(pace_json *json, pace_json_number number) {
    pace_json_scalar(json, PACE_JSON_NUMBER, number.stop);
    json->whole = number.whole;
    json->fraction = number.fraction;
    return PACE_JSON_NUMBER;
}

/* Consumes the closing bracket at `at`, which is the innermost container's. */
static inline pace_json_token pace_json_close(pace_json *json) {
    json->token = json->at++;
    json->depth--;
    json->token_depth = json->depth;
    json->due = DUE_COMMA;
    json->length = 0;
    json->escaped = false;
    return json->last = json->stack[json->depth] == '}' ? PACE_JSON_OBJECT_END : PACE_JSON_ARRAY_END;
}
