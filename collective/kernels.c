#include "kernels.h"

#include "base/each_cpu.h"
#include "base/third_cache.h"

#include <stdint.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* --- half precision, by integer operations that vectorise --------------------------------------------------------- */

static inline float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float read_bf16(uint16_t half) { return float_of((uint32_t)half << 16); }

/* To the nearest, ties to even; a NaN stays one. */
static inline uint16_t write_bf16(float value) {
    uint32_t bits = bits_of(value), rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : rounded);
}

/* The exponent is moved by a product, which also makes normal numbers of subnormal ones. */
static inline float read_f16(uint16_t half) {
    uint32_t magnitude = (uint32_t)(half & 0x7fff) << 13, sign = (uint32_t)(half & 0x8000) << 16;
    float value = float_of(magnitude) * float_of((254u - 15u) << 23);
    uint32_t bits = (half & 0x7c00) == 0x7c00 ? magnitude | 0x7f800000 : bits_of(value);
    return float_of(bits | sign);
}

/* Numbers below the smallest normal one are rounded by adding one half, whose last place is theirs. */
static inline uint16_t write_f16(float value) {
    uint32_t bits = bits_of(value), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    uint32_t tiny = bits_of(float_of(magnitude) + 0.5F) - 0x3f000000;
    uint32_t normal = (magnitude - ((127u - 15u) << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
    uint32_t half = magnitude < 0x38800000 ? tiny : normal;
    half = magnitude >= 0x47800000 ? 0x7c00 : half;
    half = magnitude > 0x7f800000 ? 0x7e00 : half;
    return (uint16_t)(half | sign);
}

/* --- a function for each element and reduction -------------------------------------------------------------------- */

#define SUM(x, y) ((x) + (y))
#define MIN(x, y) ((x) < (y) ? (x) : (y))
#define MAX(x, y) ((x) > (y) ? (x) : (y))
#define PROD(x, y) ((x) * (y))
#define SAME(x) (x)

#define REDUCER(name, type, wide, read, write, OP)                                                 \
    PACE_FOR_EACH_CPU static void name(void *out, const void *left, const void *right, size_t n) { \
        type *o = out;                                                                             \
        const type *a = left, *b = right;                                                          \
        for (size_t i = 0; i < n; i++) {                                                           \
            wide x = read(a[i]), y = read(b[i]);                                                   \
            o[i] = (type)write(OP(x, y));                                                          \
        }                                                                                          \
    }

#define REDUCERS(element, type, wide, read, write)                                                              \
    REDUCER(element##_sum, type, wide, read, write, SUM)                                                        \
    REDUCER(element##_min, type, wide, read, write, MIN)                                                        \
    REDUCER(element##_max, type, wide, read, write, MAX)                                                        \
    REDUCER(element##_prod, type, wide, read, write, PROD)                                                      \
    static const pace_reduce_fn element##_all[] = {element##_sum, element##_min, element##_max, element##_prod, \
                                                   element##_sum};

#define SIGNED_32(x) ((int32_t)(x))
#define SIGNED_64(x) ((int64_t)(x))

REDUCERS(f16, uint16_t, float, read_f16, write_f16)
REDUCERS(bf16, uint16_t, float, read_bf16, write_bf16)
REDUCERS(f32, float, float, SAME, SAME)
REDUCERS(f64, double, double, SAME, SAME)

/* Sums and products of signed integers wrap, which C says of unsigned ones only. */
REDUCER(i32_sum, uint32_t, uint32_t, SAME, SAME, SUM)
REDUCER(i32_min, int32_t, int32_t, SAME, SAME, MIN)
REDUCER(i32_max, int32_t, int32_t, SAME, SAME, MAX)
REDUCER(i32_prod, uint32_t, uint32_t, SAME, SAME, PROD)
static const pace_reduce_fn i32_all[] = {i32_sum, i32_min, i32_max, i32_prod, i32_sum};
REDUCER(i64_sum, uint64_t, uint64_t, SAME, SAME, SUM)
REDUCER(i64_min, int64_t, int64_t, SAME, SAME, MIN)
REDUCER(i64_max, int64_t, int64_t, SAME, SAME, MAX)
REDUCER(i64_prod, uint64_t, uint64_t, SAME, SAME, PROD)
static const pace_reduce_fn i64_all[] = {i64_sum, i64_min, i64_max, i64_prod, i64_sum};

pace_reduce_fn pace_reduce_of(pace_element element, pace_reduction reduction) {
    static const pace_reduce_fn *const table[PACE_ELEMENTS] = {f16_all, bf16_all, f32_all, f64_all, i32_all, i64_all};
    return table[element][reduction];
}

size_t pace_element_bytes(pace_element element) {
    static const size_t bytes[PACE_ELEMENTS] = {2, 2, 4, 8, 4, 8};
    return (unsigned)element < PACE_ELEMENTS ? bytes[element] : 0;
}

/* --- averages ----------------------------------------------------------------------------------------------------- */

#define DIVIDER(name, type, wide, read, write)                                 \
    PACE_FOR_EACH_CPU static void name(void *data, size_t n, int ranks) {      \
        type *x = data;                                                        \
        for (size_t i = 0; i < n; i++) x[i] = write(read(x[i]) / (wide)ranks); \
    }

DIVIDER(f16_divide, uint16_t, float, read_f16, write_f16)
DIVIDER(bf16_divide, uint16_t, float, read_bf16, write_bf16)
DIVIDER(f32_divide, float, float, SAME, SAME)
DIVIDER(f64_divide, double, double, SAME, SAME)
DIVIDER(i32_divide, int32_t, int32_t, SAME, SAME)
DIVIDER(i64_divide, int64_t, int64_t, SAME, SAME)

void pace_reduce_divide(void *data, size_t count, pace_element element, int ranks) {
    static void (*const table[PACE_ELEMENTS])(void *, size_t, int) = {f16_divide, bf16_divide, f32_divide,
                                                                      f64_divide, i32_divide,  i64_divide};
    table[element](data, count, ranks);
}

/* --- copies ------------------------------------------------------------------------------------------------------- */

bool pace_is_past_caches(size_t bytes) {
    static _Atomic size_t most;
    if (!most) {
        size_t third = pace_third_cache_bytes();
        most = third ? third / 2 : (size_t)16 << 20;
    }
    return bytes > most;
}

void pace_copy_past_caches(void *out, const void *in, size_t bytes) {
#if defined(__x86_64__)
    char *to = out;
    const char *from = in;
    size_t head = (size_t)(-(uintptr_t)to & 15);
    if (head > bytes) head = bytes;
    memcpy(to, from, head);
    to += head, from += head, bytes -= head;
    for (; bytes >= 64; to += 64, from += 64, bytes -= 64)
        for (int i = 0; i < 4; i++)
            _mm_stream_si128((__m128i *)(void *)to + i, _mm_loadu_si128((const __m128i *)(const void *)from + i));
    memcpy(to, from, bytes);
    _mm_sfence();
#else
    memcpy(out, in, bytes);
#endif
}
