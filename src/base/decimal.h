/* Decimal numbers in text as doubles and back: correctly rounded and independent of the locale. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/** mantissa * 10^exponent, when it can be rounded correctly without long arithmetic; else false. Nearly every number
 * that people write can: at most 19 digits and an exponent within +-22. */
bool pace_decimal_quick(double *out, uint64_t mantissa, int64_t exponent);

/** Reads [+-]digits[.digits][e[+-]digits] that begins at `at` and ends before `end`; returns the place behind it, or
 * NULL when there is no number, or one too large for a double. "nan" and "inf" are no numbers. A point may stand first
 * or last. */
const char *pace_decimal_read(double *out, const char *at, const char *end);

/** The same, faster. Sixteen bytes before and behind any place from `at` to `end` must be readable, and the byte at
 * `end` must be no digit, '.' or 'e'. */
const char *pace_decimal_read_padded(double *out, const char *at, const char *end);

/** Reads the decimal number that `text` begins with, after blanks; returns the place behind it, or NULL when there is
 * none or it is too large for a double. "nan", "inf" and hexadecimal digits are no numbers; an 'e' that no digit
 * follows and a point that another follows ("1..8") end the number. */
const char *pace_number_read(double *out, const char *text);

/** Reads a text that is one number and nothing else but blanks. */
bool pace_number_parse(double *out, const char *text);

/** Reads a whole number whose thousands are apart, and nothing else: "1,024", "12,345,678". */
bool pace_thousands_parse(double *out, const char *text, size_t length);

/** Whether a spreadsheet would run a cell of a table as a formula: it begins with "=", "@", a tab or a return, or with
 * a sign that is neither alone nor a number's. Writers put "'" before it (OWASP, CSV injection). */
bool pace_is_formula(const char *text, size_t length);

/** Writes the shortest decimal of at most 17 significant digits that reads back as `value`, which is finite. */
void pace_number_write(char out[32], double value);

/** The number that the `count` (1 to 8) digits at `at` are. Reads eight bytes there. */
static inline uint64_t pace_decimal_of(const char *at, unsigned count) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t digits;
    memcpy(&digits, at, sizeof digits);
    digits = (digits ^ UINT64_C(0x3030303030303030))
             << (64 - 8 * count); /* zeros stand before the digits, lowest first */
    digits = (digits & UINT64_C(0x00ff00ff00ff00ff)) * 10 + (digits >> 8 & UINT64_C(0x00ff00ff00ff00ff));
    digits = (digits & UINT64_C(0x0000ffff0000ffff)) * 100 + (digits >> 16 & UINT64_C(0x0000ffff0000ffff));
    return (digits & UINT64_C(0xffffffff)) * 10000 + (digits >> 32);
#else
    uint64_t value = 0;
    for (unsigned i = 0; i < count; i++) value = value * 10 + (unsigned)(at[i] - '0');
    return value;
#endif
}

#ifdef __SSE2__
/* The sixteen bytes from the n-th on keep the last n of sixteen. */
static const uint8_t pace_decimal_kept[32] = {[16] = 255, 255, 255, 255, 255, 255, 255, 255,
                                              255,        255, 255, 255, 255, 255, 255, 255};

/* Sixteen digits as a number: joined to pairs, fours, eights. */
static inline uint64_t pace_decimal_join(__m128i digits) {
    __m128i pairs = _mm_add_epi16(_mm_mullo_epi16(_mm_and_si128(digits, _mm_set1_epi16(255)), _mm_set1_epi16(10)),
                                  _mm_srli_epi16(digits, 8));
    __m128i fours = _mm_madd_epi16(pairs, _mm_set1_epi32(1 << 16 | 100));
    __m128i eights = _mm_madd_epi16(_mm_packs_epi32(fours, fours), _mm_set1_epi32(1 << 16 | 10000));
    uint64_t both = (uint64_t)_mm_cvtsi128_si64(eights);
    return (both & UINT32_MAX) * 100000000 + (both >> 32);
}
#endif

/** Reads the digits at `at`, at most 16; returns how many there are. Sixteen bytes before and behind `at` may be read.
 * Numbers in tables are of any length, so asking digit by digit would often be a wrong guess: there is no branch. */
static inline unsigned pace_decimal_sixteen(const char *at, uint64_t *value) {
#ifdef __SSE2__
    const __m128i zeros = _mm_set1_epi8('0');
    __m128i bytes = _mm_xor_si128(_mm_loadu_si128((const __m128i *)(const void *)at), zeros);
    __m128i others = _mm_cmpgt_epi8(_mm_xor_si128(bytes, _mm_set1_epi8(-128)), _mm_set1_epi8(9 - 128));
    unsigned count = (unsigned)__builtin_ctz((unsigned)_mm_movemask_epi8(others) | 0x10000);
    /* the sixteen bytes that end where the digits do, what is before them made zeros */
    bytes = _mm_xor_si128(_mm_loadu_si128((const __m128i *)(const void *)(at + count - 16)), zeros);
    bytes = _mm_and_si128(bytes, _mm_loadu_si128((const __m128i *)(const void *)(pace_decimal_kept + count)));
    *value = pace_decimal_join(bytes);
    return count;
#else
    unsigned count = 0;
    for (*value = 0; count < 16 && at[count] >= '0' && at[count] <= '9'; count++)
        *value = *value * 10 + (unsigned)(at[count] - '0');
    return count;
#endif
}

/** Reads the `length` bytes before `end` when they are 1 to 15 digits and nothing else, or up to 14 with a point
 * between them; false for any other text. Seventeen bytes before `end` may be read. */
static inline bool pace_decimal_cell(double *out, const char *end, size_t length) {
#ifdef __SSE2__
    static const double tens[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    if (length - 1 > 14) return false;
    const __m128i zeros = _mm_set1_epi8('0'), nine = _mm_set1_epi8(9);
    __m128i kept = _mm_loadu_si128((const __m128i *)(const void *)(pace_decimal_kept + length));
    __m128i bytes =
        _mm_and_si128(_mm_xor_si128(_mm_loadu_si128((const __m128i *)(const void *)(end - 16)), zeros), kept);
    unsigned others = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_max_epu8(bytes, nine), nine)) ^ 0xffff;
    if (others == 0) {
        *out = (double)(int64_t)pace_decimal_join(bytes);
        return true;
    }
    unsigned point = (unsigned)__builtin_ctz(others), behind = 15 - point;
    if ((others & (others - 1)) != 0 || end[-1 - (int)behind] != '.' || behind == 0 || behind + 1 == length)
        return false;
    /* what is before the point moves up by one, onto it */
    const __m128i fraction = _mm_loadu_si128((const __m128i *)(const void *)(pace_decimal_kept + behind));
    __m128i moved = _mm_xor_si128(_mm_loadu_si128((const __m128i *)(const void *)(end - 17)), zeros);
    kept = _mm_loadu_si128((const __m128i *)(const void *)(pace_decimal_kept + length - 1));
    bytes = _mm_or_si128(_mm_and_si128(fraction, bytes), _mm_andnot_si128(fraction, _mm_and_si128(moved, kept)));
    *out = (double)(int64_t)pace_decimal_join(bytes) / tens[behind];
    return true;
#else
    (void)out, (void)end, (void)length;
    return false; /* the readers below read it */
#endif
}

/** Reads a number as nearly all of a table are: up to fifteen digits, perhaps with a point between them. Returns the
 * place behind it; NULL for any other, which pace_decimal_read_padded() reads. Sixteen bytes may be read
 * before and behind any place. */
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
