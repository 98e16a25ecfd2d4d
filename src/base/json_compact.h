/*
 * JSON text without the white space between its tokens. The fast way and the plain one give the same
 * (tests/unit/base/test_json_scan.c).
 */
#pragma once

#include "base/json_scan.h"

/** Copies a text whose strings hold no escapes; returns behind the last byte written. */
static inline char *pace_json_compact_plain(char *out, const char *text, size_t length) {
    bool inside = false;
    for (size_t i = 0; i < length; i++) {
        *out = text[i];
        inside ^= text[i] == '"';
        out += inside || (unsigned char)text[i] > ' ';
    }
    return out;
}

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/* The high bit of the first of eight bytes that is a quote, white space or a control; bits above it may be wrong. */
static inline uint64_t pace_json_first_stop(uint64_t word) {
    const uint64_t ones = UINT64_C(0x0101010101010101), high = UINT64_C(0x8080808080808080);
    uint64_t quotes = word ^ ones * '"';
    return ((word - ones * ('!')) & ~word & high) | ((quotes - ones) & ~quotes & high);
}

/** The same; reads and writes up to eight bytes behind the ends. */
static inline char *pace_json_compact(char *out, const char *text, size_t length) {
    const char *end = text + length;
    while (text < end) {
        uint64_t word;
        memcpy(&word, text, 8);
        memcpy(out, &word, 8);
        uint64_t stop = pace_json_first_stop(word);
        size_t plain = stop ? (size_t)__builtin_ctzll(stop) >> 3 : 8, left = (size_t)(end - text);
        if (plain >= left) return out + left;
        text += plain;
        out += plain;
        if (!stop) continue;
        if (*text == '"') {
            const char *quote = memchr(text + 1, '"', (size_t)(end - text - 1));
            size_t string = quote ? (size_t)(quote + 1 - text) : (size_t)(end - text);
            memcpy(out, text, string);
            text += string;
            out += string;
        } else {
            text++;
        }
    }
    return out;
}
#else
static inline char *pace_json_compact(char *out, const char *text, size_t length) {
    return pace_json_compact_plain(out, text, length);
}
#endif
