/*
 * Finding the bytes of JSON that matter, many at a time: with SSE2 and AVX2, with NEON, and byte by byte. All ways give
 * the same (tests/unit/base/test_json_scan.c, tests/fuzz/fuzz_json_scan.c). They read up to 63 bytes behind the place
 * where they stop. Private to base/.
 */
#pragma once

#include "base/memory.h"
#include "base/text.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__) && defined(__ARM_NEON)
#include <arm_neon.h>
#endif

/* One bit for each of 64 bytes. */
enum { PACE_JSON_BLOCK = 64 };
typedef struct {
    uint64_t quotes, backslashes, brackets;
} pace_json_bits;

/* One way to sort the bytes of a block. */
typedef struct {
    const char *name;
    bool (*runs_here)(void); /* whether this processor can */
    pace_json_bits (*classify)(const char *block);
} pace_json_classifier;

/* Every way this program was built with: the fastest first, byte by byte last. */
extern const pace_json_classifier pace_json_classifiers[];
extern const size_t pace_json_classifier_count;

/** The fastest that runs here. */
const pace_json_classifier *pace_json_classifier_here(void);

static inline bool pace_json_is_space(char byte) { return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t'; }

/** The next quote, backslash or control character. */
static inline char *pace_json_find_special_plain(char *at) {
    while ((unsigned char)*at >= 0x20 && *at != '"' && *at != '\\') at++;
    return at;
}

/** The next byte that is no white space. */
static inline char *pace_json_skip_space_plain(char *at) {
    while (pace_json_is_space(*at)) at++;
    return at;
}

#if defined(__SSE2__)
static inline __m128i pace_load16(const char *at) { return _mm_loadu_si128((const __m128i *)(const void *)at); }

static inline __m128i pace_equals16(__m128i bytes, char value) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(value)); }

static inline char *pace_json_find_special(char *at) {
    const __m128i last_control = _mm_set1_epi8(0x1f);
    for (;; at += 16) {
        __m128i bytes = pace_load16(at);
        __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, last_control), bytes);
        __m128i hit = _mm_or_si128(control, _mm_or_si128(pace_equals16(bytes, '"'), pace_equals16(bytes, '\\')));
        unsigned mask = (unsigned)_mm_movemask_epi8(hit);
        if (mask) return at + __builtin_ctz(mask);
    }
}

static inline char *pace_json_skip_long_space(char *at) {
    for (;; at += 16) {
        __m128i bytes = pace_load16(at);
        __m128i blank = _mm_or_si128(_mm_or_si128(pace_equals16(bytes, ' '), pace_equals16(bytes, '\n')),
                                     _mm_or_si128(pace_equals16(bytes, '\r'), pace_equals16(bytes, '\t')));
        unsigned other = (unsigned)_mm_movemask_epi8(blank) ^ 0xffffu;
        if (other) return at + __builtin_ctz(other);
    }
}
#elif defined(__aarch64__) && defined(__ARM_NEON)
/* Four bits for each byte that is not zero. */
static inline uint64_t pace_nibbles16(uint8x16_t hit) {
    return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(hit), 4)), 0);
}

static inline char *pace_json_find_special(char *at) {
    for (;; at += 16) {
        uint8x16_t bytes = vld1q_u8((const uint8_t *)at);
        uint8x16_t hit = vorrq_u8(vcltq_u8(bytes, vdupq_n_u8(0x20)),
                                  vorrq_u8(vceqq_u8(bytes, vdupq_n_u8('"')), vceqq_u8(bytes, vdupq_n_u8('\\'))));
        uint64_t mask = pace_nibbles16(hit);
        if (mask) return at + (__builtin_ctzll(mask) >> 2);
    }
}

static inline char *pace_json_skip_long_space(char *at) {
    for (;; at += 16) {
        uint8x16_t bytes = vld1q_u8((const uint8_t *)at);
        uint8x16_t blank = vorrq_u8(vorrq_u8(vceqq_u8(bytes, vdupq_n_u8(' ')), vceqq_u8(bytes, vdupq_n_u8('\n'))),
                                    vorrq_u8(vceqq_u8(bytes, vdupq_n_u8('\r')), vceqq_u8(bytes, vdupq_n_u8('\t'))));
        uint64_t other = ~pace_nibbles16(blank);
        if (other) return at + (__builtin_ctzll(other) >> 2);
    }
}
#else
static inline char *pace_json_find_special(char *at) { return pace_json_find_special_plain(at); }

static inline char *pace_json_skip_long_space(char *at) { return pace_json_skip_space_plain(at); }
#endif

/** The next byte that is no white space: usually this one or the next. */
static inline char *pace_json_skip_space(char *at) {
    if (PACE_LIKELY((unsigned char)*at > ' ')) return at;
    if ((unsigned char)at[1] > ' ' && pace_json_is_space(*at)) return at + 1;
    return pace_json_skip_long_space(at);
}

/** Whether the first `length` (1 to 48) bytes at `at` are those of `pattern`; 48 bytes of both may be read. */
static inline bool pace_json_begins_with(const char *at, const char *pattern, unsigned length) {
#if defined(__SSE2__)
    for (;; at += 16, pattern += 16, length -= 16) {
        unsigned same = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(pace_load16(at), pace_load16(pattern)));
        if (PACE_LIKELY(length <= 16)) return (~same & ~(~0u << length)) == 0;
        if (same != 0xffffu) return false;
    }
#else
    return memcmp(at, pattern, length) == 0;
#endif
}

/** The next byte that is no digit. Eight at once: a byte is a digit if it is below 10 once '0' is taken off. */
static inline char *pace_json_skip_digits(char *at) {
#if defined(__SSE2__)
    const __m128i nine = _mm_set1_epi8(9);
    for (;; at += 16) {
        __m128i digits = _mm_xor_si128(pace_load16(at), _mm_set1_epi8('0'));
        unsigned other = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(digits, nine), digits)) ^ 0xffffu;
        if (other) return at + __builtin_ctz(other);
    }
#elif defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    for (;; at += 8) {
        uint64_t bytes;
        memcpy(&bytes, at, sizeof bytes);
        bytes ^= UINT64_C(0x3030303030303030);
        uint64_t low = bytes & UINT64_C(0x7f7f7f7f7f7f7f7f), high = UINT64_C(0x8080808080808080);
        uint64_t other = ((low + UINT64_C(0x7676767676767676)) | bytes) & high;
        if (other) return at + (__builtin_ctzll(other) >> 3);
    }
#else
    while (pace_is_digit(*at)) at++;
    return at;
#endif
}
