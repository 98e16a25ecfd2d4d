#include "base/json_scan.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

static bool always(void) { return true; }

static pace_json_bits classify_plain(const char *at) {
    pace_json_bits bits = {0, 0, 0};
    for (int i = 0; i < PACE_JSON_BLOCK; i++) {
        char byte = at[i];
        bits.quotes |= (uint64_t)(byte == '"') << i;
        bits.backslashes |= (uint64_t)(byte == '\\') << i;
        bits.brackets |= (uint64_t)(byte == '{' || byte == '}' || byte == '[' || byte == ']') << i;
    }
    return bits;
}

#if defined(__SSE2__)
/* '[' and ']' differ from '{' and '}' in one bit only. */
static pace_json_bits classify_sse2(const char *at) {
    pace_json_bits bits = {0, 0, 0};
    for (int i = 0; i < 4; i++) {
        __m128i bytes = pace_load16(at + 16 * i);
        __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
        __m128i brackets = _mm_or_si128(pace_equals16(folded, '{'), pace_equals16(folded, '}'));
        bits.quotes |= (uint64_t)(unsigned)_mm_movemask_epi8(pace_equals16(bytes, '"')) << (16 * i);
        bits.backslashes |= (uint64_t)(unsigned)_mm_movemask_epi8(pace_equals16(bytes, '\\')) << (16 * i);
        bits.brackets |= (uint64_t)(unsigned)_mm_movemask_epi8(brackets) << (16 * i);
    }
    return bits;
}
#endif

#if defined(__x86_64__) && defined(__GNUC__)
static bool has_avx2(void) { return __builtin_cpu_supports("avx2"); }

__attribute__((target("avx2"))) static pace_json_bits classify_avx2(const char *at) {
    pace_json_bits bits = {0, 0, 0};
    for (int i = 0; i < 2; i++) {
        __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)(at + 32 * i));
        __m256i folded = _mm256_or_si256(bytes, _mm256_set1_epi8(0x20));
        __m256i brackets = _mm256_or_si256(_mm256_cmpeq_epi8(folded, _mm256_set1_epi8('{')),
                                           _mm256_cmpeq_epi8(folded, _mm256_set1_epi8('}')));
        __m256i quotes = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('"'));
        __m256i backslashes = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\\'));
        bits.quotes |= (uint64_t)(unsigned)_mm256_movemask_epi8(quotes) << (32 * i);
        bits.backslashes |= (uint64_t)(unsigned)_mm256_movemask_epi8(backslashes) << (32 * i);
        bits.brackets |= (uint64_t)(unsigned)_mm256_movemask_epi8(brackets) << (32 * i);
    }
    return bits;
}
#endif

#if defined(__aarch64__) && defined(__ARM_NEON)
/* One bit for each byte of four vectors: each keeps its own bit of eight, and neighbours are added three times. */
static uint64_t bits_of(const uint8x16_t hit[4]) {
    static const uint8_t own[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t mask = vld1q_u8(own);
    uint8x16_t low = vpaddq_u8(vandq_u8(hit[0], mask), vandq_u8(hit[1], mask));
    uint8x16_t high = vpaddq_u8(vandq_u8(hit[2], mask), vandq_u8(hit[3], mask));
    uint8x16_t all = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(all, all)), 0);
}

static pace_json_bits classify_neon(const char *at) {
    uint8x16_t quotes[4], backslashes[4], brackets[4];
    for (int i = 0; i < 4; i++) {
        uint8x16_t bytes = vld1q_u8((const uint8_t *)at + 16 * i);
        uint8x16_t folded = vorrq_u8(bytes, vdupq_n_u8(0x20));
        quotes[i] = vceqq_u8(bytes, vdupq_n_u8('"'));
        backslashes[i] = vceqq_u8(bytes, vdupq_n_u8('\\'));
        brackets[i] = vorrq_u8(vceqq_u8(folded, vdupq_n_u8('{')), vceqq_u8(folded, vdupq_n_u8('}')));
    }
    return (pace_json_bits){bits_of(quotes), bits_of(backslashes), bits_of(brackets)};
}
#endif

const pace_json_classifier pace_json_classifiers[] = {
#if defined(__x86_64__) && defined(__GNUC__)
    {"AVX2", has_avx2, classify_avx2},
#endif
#if defined(__SSE2__)
    {"SSE2", always, classify_sse2},
#endif
#if defined(__aarch64__) && defined(__ARM_NEON)
    {"NEON", always, classify_neon},
#endif
    {"byte by byte", always, classify_plain},
};
const size_t pace_json_classifier_count = PACE_COUNT(pace_json_classifiers);

const pace_json_classifier *pace_json_classifier_here(void) {
    for (size_t i = 0;; i++)
        if (pace_json_classifiers[i].runs_here()) return &pace_json_classifiers[i];
}
