/* Strings as they are meant: escapes decoded to UTF-8. */
#include "base/json_reader.h"
#include "base/json_state.h"

#include <string.h>

static unsigned hex_value(char byte) {
    return pace_is_digit(byte) ? (unsigned)(byte - '0') : (unsigned)((byte | 0x20) - 'a' + 10);
}

/* The code unit of the escape "\u" and four hexadecimal digits at `at`, or -1 when there is none before `end`. */
static int32_t code_unit(const char *at, const char *end) {
    if (end - at < 6 || at[0] != '\\' || at[1] != 'u') return -1;
    int32_t unit = 0;
    for (int i = 2; i < 6; i++) {
        if (!pace_json_is_hex(at[i])) return -1;
        unit = unit * 16 + (int32_t)hex_value(at[i]);
    }
    return unit;
}

static char *put_utf8(char *out, uint32_t code) {
    if (code < 0x80) {
        *out++ = (char)code;
    } else if (code < 0x800) {
        *out++ = (char)(0xc0 | code >> 6);
        *out++ = (char)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        *out++ = (char)(0xe0 | code >> 12);
        *out++ = (char)(0x80 | (code >> 6 & 0x3f));
        *out++ = (char)(0x80 | (code & 0x3f));
    } else {
        *out++ = (char)(0xf0 | code >> 18);
        *out++ = (char)(0x80 | (code >> 12 & 0x3f));
        *out++ = (char)(0x80 | (code >> 6 & 0x3f));
        *out++ = (char)(0x80 | (code & 0x3f));
    }
    return out;
}

static bool is_high(int32_t unit) { return unit >= 0xd800 && unit <= 0xdbff; }
static bool is_low(int32_t unit) { return unit >= 0xdc00 && unit <= 0xdfff; }

/* Decodes the escape of a code unit at *at, which is one, and moves *at behind it. */
static char *decode_unicode(char *out, const char **at, const char *end) {
    int32_t unit = code_unit(*at, end), second = code_unit(*at + 6, end);
    if (unit == 0) { /* a NUL would end the text for every reader of C strings */
        memcpy(out, *at, 6);
        *at += 6;
        return out + 6;
    }
    if (is_high(unit) && is_low(second)) {
        *at += 12;
        return put_utf8(out, 0x10000u + ((uint32_t)(unit - 0xd800) << 10) + (uint32_t)(second - 0xdc00));
    }
    *at += 6;
    return put_utf8(out, is_high(unit) || is_low(unit) ? 0xfffdu : (uint32_t)unit);
}

/* The byte that the letter of a short escape stands for, 0 when there is no such escape. */
static char short_escape(char letter) {
    switch (letter) {
    case '"':
    case '\\':
    case '/': return letter;
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return 0;
    }
}

/* Decodes the escape at *at, which is followed by at least one byte. */
static char *decode_escape(char *out, const char **at, const char *end) {
    if (code_unit(*at, end) >= 0) return decode_unicode(out, at, end);
    char byte = short_escape((*at)[1]);
    if (byte) {
        *out++ = byte;
    } else {
        *out++ = (*at)[0];
        *out++ = (*at)[1];
    }
    *at += 2;
    return out;
}

const char *pace_json_decoded(pace_json *json, size_t *length) {
    *length = 0;
    /* no escape decodes to more bytes than it is written with */
    if (pace_grow(&json->decoded.items, &json->decoded.capacity, json->length + 1, 1) != PACE_OK) return NULL;
    const char *at = json->text, *end = at + json->length;
    char *out = json->decoded.items;
    while (at < end) {
        const char *stop = json->escaped ? memchr(at, '\\', (size_t)(end - at)) : NULL;
        if (!stop) stop = end;
        memcpy(out, at, (size_t)(stop - at));
        out += stop - at;
        at = stop;
        if (at < end) out = decode_escape(out, &at, end);
    }
    *out = '\0';
    *length = (size_t)(out - json->decoded.items);
    return json->decoded.items;
}
