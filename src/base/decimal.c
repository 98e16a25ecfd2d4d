#include "base/decimal.h"

#include <string.h>

#include "base/memory.h"
#include "base/print.h"
#include "base/text.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_DIGITS = 19, LONGEST = 800 };

/* Mantissa and power of ten are both exact doubles, so that one division or product rounds correctly (Clinger, PLDI
 * 1990). */
static inline bool by_double(double *out, uint64_t mantissa, int64_t exponent) {
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (mantissa > UINT64_C(1) << DBL_MANT_DIG || exponent < -22 || exponent > 22) return false;
    *out = exponent < 0 ? (double)mantissa / tens[-exponent] : (double)mantissa * tens[exponent];
    return true;
}

/* The same with 64 bits of mantissa: the result is off by half a unit of the 64-bit format at most, so it rounds to the
 * right double unless the eleven bits that are dropped lie next to the half. */
static bool by_long_double(double *out, uint64_t mantissa, int64_t exponent) {
#if LDBL_MANT_DIG == 64
    static const long double tens[] = {1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,  1e7L,
                                       1e8L,  1e9L,  1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L,
                                       1e16L, 1e17L, 1e18L, 1e19L, 1e20L, 1e21L, 1e22L};
    if (exponent < -22 || exponent > 22) return false;
    long double value = exponent < 0 ? (long double)mantissa / tens[-exponent] : (long double)mantissa * tens[exponent];
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t dropped = bits & 0x7ff;
    if (dropped >= 0x3ff && dropped <= 0x401) return false;
    *out = (double)value;
    return true;
#else
    (void)out, (void)mantissa, (void)exponent;
    return false;
#endif
}

bool pace_decimal_quick(double *out, uint64_t mantissa, int64_t exponent) {
    return by_double(out, mantissa, exponent) || by_long_double(out, mantissa, exponent);
}

/* What is left: more digits, larger exponents, near ties. */
static bool by_library(double *out, const char *at, size_t length) {
    char text[LONGEST + 1], *copy = length > LONGEST ? pace_alloc(length + 1, 1) : text;
    if (!copy) return false;
    memcpy(copy, at, length);
    copy[length] = '\0';
    double value = strtod_l(copy, NULL, pace_c_locale());
    if (copy != text) pace_free(copy);
    if (!isfinite(value)) return false;
    *out = value;
    return true;
}

/* Digits onto the mantissa; whoever calls counts them, and ignores the mantissa when there were too many. */
static inline const char *take_digits(uint64_t *mantissa, const char *at, const char *end) {
    while (end - at >= 8 && pace_decimal_eight(at, mantissa)) at += 8;
    for (; at < end && pace_is_digit(*at); at++) *mantissa = *mantissa * 10 + (unsigned)(*at - '0');
    return at;
}

static inline const char *take_digits_padded(uint64_t *mantissa, const char *at, const char *end) {
    static const uint64_t tens[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    unsigned count;
    (void)end;
    do {
        uint64_t digits = 0;
        count = pace_decimal_sixteen(at, &digits);
        *mantissa = *mantissa * tens[count / 2] * tens[count - count / 2] + digits;
        at += count;
    } while (count == 16);
    return at;
}

static const char *take_exponent(int64_t *exponent, const char *at, const char *end) {
    const char *digits = at + 1;
    bool negative = digits < end && *digits == '-';
    if (digits < end && (*digits == '-' || *digits == '+')) digits++;
    if (digits == end || !pace_is_digit(*digits)) return NULL;
    int64_t value = 0;
    for (; digits < end && pace_is_digit(*digits); digits++)
        if (value < 100000) value = value * 10 + (*digits - '0');
    *exponent += negative ? -value : value;
    return digits;
}

typedef const char *(*digits_fn)(uint64_t *mantissa, const char *at, const char *end);

static inline const char *read_number(double *out, const char *at, const char *end, digits_fn take) {
    const char *start = at;
    bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) at++;
    uint64_t mantissa = 0;
    int64_t exponent = 0;
    const char *digits = at;
    at = take(&mantissa, at, end);
    int64_t count = at - digits;
    if (at < end && *at == '.') {
        const char *fraction = ++at;
        at = take(&mantissa, at, end);
        exponent = fraction - at;
        count += at - fraction;
    }
    if (count == 0) return NULL;
    if (at < end && (*at == 'e' || *at == 'E') && !(at = take_exponent(&exponent, at, end))) return NULL;
    double value;
    if (count <= MOST_DIGITS && (by_double(&value, mantissa, exponent) || by_long_double(&value, mantissa, exponent))) {
        *out = negative ? -value : value;
        return at;
    }
    return by_library(out, start, (size_t)(at - start)) ? at : NULL;
}

const char *pace_decimal_read(double *out, const char *at, const char *end) {
    return read_number(out, at, end, take_digits);
}

const char *pace_decimal_read_padded(double *out, const char *at, const char *end) {
    return read_number(out, at, end, take_digits_padded);
}

/* Bytes of the number at `text`; 0 = none. */
static size_t extent(const char *text) {
    const char *at = text + (*text == '-' || *text == '+'), *first = at;
    while (pace_is_digit(*at)) at++;
    bool digits = at > first;
    if (*at == '.' && at[1] != '.' && (digits || pace_is_digit(at[1])))
        for (digits = true, at++; pace_is_digit(*at);) at++;
    if (!digits) return 0;
    const char *power = at + 1;
    if ((*at != 'e' && *at != 'E') || !pace_is_digit(power[*power == '-' || *power == '+'])) return (size_t)(at - text);
    for (at = power + 1; pace_is_digit(*at);) at++;
    return (size_t)(at - text);
}

const char *pace_number_read(double *out, const char *text) {
    while (pace_is_space(*text)) text++;
    const char *end = text + extent(text);
    return end > text ? pace_decimal_read(out, text, end) : NULL;
}

bool pace_number_parse(double *out, const char *text) {
    double value;
    const char *rest = pace_number_read(&value, text);
    while (rest && pace_is_space(*rest)) rest++;
    if (!rest || *rest) return false;
    *out = value;
    return true;
}

/* 15 digits always survive in a normal number, so fewer cannot be needed; subnormals hold fewer. */
void pace_number_write(char out[32], double value) {
    for (int digits = isnormal(value) ? 15 : 1; digits <= 17; digits++) {
        double again;
        pace_snprintf(out, 32, "%.*g", digits, value);
        if (pace_number_parse(&again, out) && again == value) return;
    }
}

bool pace_thousands_parse(double *out, const char *text, size_t length) {
    const char *at = text, *end = text + length, *from = at;
    double all = 0, part;
    do {
        part = 0;
        if (at > text) from = ++at;
        for (; at < end && *at >= '0' && *at <= '9'; at++) part = 10 * part + (*at - '0');
        bool first = from == text;
        if (at == from || at - from > 3 || (!first && at - from != 3) || all > 1e12) return false;
        all = 1000 * all + part;
    } while (at < end && *at == ',');
    *out = all;
    return at == end && from > text;
}

bool pace_is_formula(const char *text, size_t length) {
    char number[64];
    double value;
    if (length == 0 || !strchr("=+-@\t\r", *text)) return false;
    if (!strchr("+-", *text)) return true;
    if (length == 1) return false;
    if (length >= sizeof number) return true;
    memcpy(number, text, length);
    number[length] = '\0';
    return !pace_number_parse(&value, *number == '+' ? number + 1 : number);
}
