/*
 * Numbers and strings of a document, apart from the reader that found them. The digits of plain numbers are counted
 * while they are scanned, so that their value costs no second scan.
 */
#pragma once

#include "base/decimal.h"

typedef enum {
    PACE_JSON_VALUE_OTHER,
    PACE_JSON_VALUE_NUMBER,
    PACE_JSON_VALUE_STRING,
    PACE_JSON_VALUE_ESCAPED, /* a string that holds a backslash */
} pace_json_value_kind;

typedef struct {
    const char
        *text; /* as written; of a string what is between the quotes. Bytes behind it may be read (json_token.h) */
    uint32_t length;
    /* of a number without sign and exponent: how many digits stand before its point and behind it; 0 before = any
     * other */
    uint8_t whole, fraction;
    uint8_t kind;    /* pace_json_value_kind */
    uint8_t meaning; /* of its key, where a habit read it */
} pace_json_value;

/* The digits before the point of a plain number: at most 16. */
static inline uint64_t pace_json_value_whole(const pace_json_value *value) {
    static const uint64_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    if (value->whole <= 8) return pace_decimal_of(value->text, value->whole);
    unsigned rest = value->whole - 8u;
    return pace_decimal_of(value->text, 8) * powers[rest] + pace_decimal_of(value->text + 8, rest);
}

/* What the inline functions below leave. */
bool pace_json_value_any_int(const pace_json_value *value, int64_t *out);
bool pace_json_value_any_us_to_ns(const pace_json_value *value, int64_t *out_ns);

/** pace_json_int() of a value. */
static inline bool pace_json_value_int(const pace_json_value *value, int64_t *out) {
    if (value->whole == 0 || value->fraction) return pace_json_value_any_int(value, out);
    *out = (int64_t)pace_json_value_whole(value);
    return true;
}

/** pace_json_us_to_ns() of a value. */
static inline bool pace_json_value_us_to_ns(const pace_json_value *value, int64_t *out_ns) {
    if (value->whole == 0 || value->whole > 15 || value->fraction != 3)
        return pace_json_value_any_us_to_ns(value, out_ns);
    *out_ns = (int64_t)(pace_json_value_whole(value) * 1000 + pace_decimal_of(value->text + value->whole + 1, 3));
    return true;
}
