/* Decimal numbers in text as doubles and back: correctly rounded and independent of the locale. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/** mantissa * 10^exponent, when it can be rounded correctly without long arithmetic; else false. Nearly every number
 * that people write can: at most 19 digits and an exponent within +-22. */
bool pace_decimal_quick(double *out, uint64_t mantissa, int64_t exponent);

/** Reads [+-]digits[.digits][e[+-]digits] that begins at `at` and ends before `end`; returns the place behind it, or
 * NULL when there is no number, or one too large for a double. "nan" and "inf" are no numbers. A point may stand first
 * or last. */
const char *pace_decimal_read(double *out, const char *at, const char *end);

/** The same, faster, where sixteen bytes may be read from any place up to `end`, and the byte at `end` is no digit, '.'
 * or 'e'. */
const char *pace_decimal_read_padded(double *out, const char *at, const char *end);

/** Reads the decimal number that `text` begins with, after blanks; returns the place behind it, or NULL when there is none
 * or it is too large for a double. "nan", "inf" and hexadecimal digits are no numbers; an 'e' that no digit follows and
 * a point that another follows ("1..8") end the number. */
const char *pace_number_read(double *out, const char *text);

/** Reads a text that is one number and nothing else but blanks. */
bool pace_number_parse(double *out, const char *text);

/** Whether a spreadsheet would run a cell of a table as a formula: it begins with "=", "@", a tab or a return, or with a
 * sign that is neither alone nor a number's. Writers put "'" before it (OWASP, CSV injection). */
bool pace_is_formula(const char *text, size_t length);

/** Writes the shortest decimal of at most 17 significant digits that reads back as `value`, which is finite. */
void pace_number_write(char out[32], double value);

/** Appends the digits at `at`, at most `most` (1 to 8), to *value; returns how many there were. Reads eight bytes at `at`. */
static inline unsigned pace_decimal_run(const char *at, unsigned most, uint64_t *value) {
    unsigned count = 0;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    static const uint64_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    uint64_t chunk;
    memcpy(&chunk, at, sizeof chunk);
    uint64_t digits = chunk ^ UINT64_C(0x3030303030303030), high = UINT64_C(0x8080808080808080);
    uint64_t other = (((digits & ~high) + UINT64_C(0x7676767676767676)) | digits) & high;
    count = other ? (unsigned)__builtin_ctzll(other) >> 3 : 8;
    if (count > most) count = most;
    if (count == 0) return 0;
    digits <<= 64 - 8 * count; /* zeros stand before the digits, which come lowest first */
    digits = (digits & UINT64_C(0x00ff00ff00ff00ff)) * 10 + (digits >> 8 & UINT64_C(0x00ff00ff00ff00ff));
    digits = (digits & UINT64_C(0x0000ffff0000ffff)) * 100 + (digits >> 16 & UINT64_C(0x0000ffff0000ffff));
    digits = (digits & UINT64_C(0xffffffff)) * 10000 + (digits >> 32);
    *value = *value * powers[count] + digits;
#else
    for (; count < most && at[count] >= '0' && at[count] <= '9'; count++)
        *value = *value * 10 + (unsigned)(at[count] - '0');
#endif
    return count;
}

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/* The number of digits that eight bytes begin with, and the number that they are: the digits are shifted to the end of the
 * eight, zeros before them, and joined to pairs, fours and eight. */
static inline uint64_t pace_decimal_front(unsigned *count, const char *at) {
    uint64_t chunk;
    memcpy(&chunk, at, sizeof chunk);
    chunk ^= UINT64_C(0x3030303030303030);
    uint64_t others = (chunk | (chunk + UINT64_C(0x0606060606060606))) & UINT64_C(0xf0f0f0f0f0f0f0f0);
    *count = others ? (unsigned)__builtin_ctzll(others) / 8 : 8;
    uint64_t digits = *count ? chunk << (64 - 8 * *count) % 64 : 0;
    digits = (digits & UINT64_C(0x00ff00ff00ff00ff)) * 10 + (digits >> 8 & UINT64_C(0x00ff00ff00ff00ff));
    digits = (digits & UINT64_C(0x0000ffff0000ffff)) * 100 + (digits >> 16 & UINT64_C(0x0000ffff0000ffff));
    return (digits & UINT64_C(0xffffffff)) * 10000 + (digits >> 32);
}
#endif

/** Reads the digits at `at`, at most 16; returns how many there are. Reads sixteen bytes at `at`. Numbers in tables are of
 * any length, so asking digit by digit would often be a wrong guess: both halves are read, and the second counts for
 * nothing where the first has another byte. */
static inline unsigned pace_decimal_sixteen(const char *at, uint64_t *value) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    static const uint64_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    unsigned first, second;
    uint64_t front = pace_decimal_front(&first, at), back = pace_decimal_front(&second, at + 8);
    second = first == 8 ? second : 0;
    *value = front * powers[second] + (second ? back : 0);
    return first + second;
#else
    unsigned count = 0;
    for (*value = 0; count < 16 && at[count] >= '0' && at[count] <= '9'; count++)
        *value = *value * 10 + (unsigned)(at[count] - '0');
    return count;
#endif
}

/** Reads a number as nearly all of a table are: up to fifteen digits, perhaps with a point between them. Returns the place
 * behind it; NULL for any other, which pace_decimal_read_padded() reads. Sixteen bytes may be read from any place on. */
static inline const char *pace_decimal_read_short(double *out, const char *at) {
    static const double tens[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    uint64_t whole, fraction;
    unsigned count = pace_decimal_sixteen(at, &whole), behind;
    if (count == 0 || count > 15) return (const char *)0;
    at += count;
    double value = (double)(int64_t)whole; /* exact, as is the power of ten below: one rounding */
    if (*at == '.') {
        behind = pace_decimal_sixteen(at + 1, &fraction);
        if (behind == 0 || count + behind > 15) return (const char *)0;
        at += 1 + behind;
        value = (value * tens[behind] + (double)(int64_t)fraction) / tens[behind];
    }
    *out = value;
    return at;
}

/** Eight digits at once where all eight bytes are digits: neighbours are joined to pairs, pairs to fours, fours to
 * eight. Reads eight bytes at `at`. Little-endian only; false elsewhere. */
static inline bool pace_decimal_eight(const char *at, uint64_t *value) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t chunk;
    memcpy(&chunk, at, sizeof chunk);
    uint64_t digits = chunk - UINT64_C(0x3030303030303030);
    if (((digits | (digits + UINT64_C(0x7676767676767676))) & UINT64_C(0x8080808080808080)) != 0) return false;
    digits = (digits & UINT64_C(0x00ff00ff00ff00ff)) * 10 + (digits >> 8 & UINT64_C(0x00ff00ff00ff00ff));
    digits = (digits & UINT64_C(0x0000ffff0000ffff)) * 100 + (digits >> 16 & UINT64_C(0x0000ffff0000ffff));
    digits = (digits & UINT64_C(0xffffffff)) * 10000 + (digits >> 32);
    *value = *value * 100000000 + digits;
    return true;
#else
    (void)at;
    (void)value;
    return false;
#endif
}
