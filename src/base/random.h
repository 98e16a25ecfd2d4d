/* Random numbers that are the same everywhere: splitmix64 (Steele, Lea, Flood, OOPSLA 2014). A stream is a word;
 * streams of different seeds, such as a job's number, are independent enough to be used side by side. */
#pragma once

#include <stddef.h>
#include <stdint.h>

static inline uint64_t pace_random_mix(uint64_t z) {
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static inline uint64_t pace_random_next(uint64_t *stream) {
    return pace_random_mix(*stream += UINT64_C(0x9e3779b97f4a7c15));
}

/** The stream of the i-th thing under a seed. */
static inline uint64_t pace_random_stream(uint64_t seed, uint64_t i) {
    return pace_random_mix(pace_random_mix(seed + UINT64_C(0x9e3779b97f4a7c15)) ^ i * UINT64_C(0xd1342543de82ef95));
}

/** In [0, 1), 53 bits. */
static inline double pace_random_uniform(uint64_t *stream) {
    return (double)(pace_random_next(stream) >> 11) * 0x1p-53;
}

/** In random order (Fisher and Yates). */
static inline void pace_random_shuffle(int64_t *values, size_t count, uint64_t *stream) {
    for (size_t i = count; i-- > 1;) {
        size_t other = (size_t)(pace_random_uniform(stream) * (double)(i + 1));
        int64_t kept = values[i];
        values[i] = values[other];
        values[other] = kept;
    }
}
