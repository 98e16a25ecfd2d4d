/* Numbers by keys of 64 bits. PACE_KEY_OF(parent, name) is the key of a child in a tree. */
#pragma once

#include "base/memory.h"

/* Zero-initialise. */
typedef struct {
    struct pace_index_slot {
        uint64_t key;
        uint32_t number; /* + 1; 0 = free */
    } * slots;
    size_t mask, count; /* count: of keys */
} pace_index;

#define PACE_NO_NUMBER UINT32_MAX
#define PACE_KEY_OF(high, low) ((uint64_t)(high) << 32 | (low))

/** The number of a key; where it has none, `next` becomes it: then *out is `next`. */
pace_status pace_index_find(uint32_t *out, pace_index *index, uint64_t key, uint32_t next) PACE_MUST_CHECK;
/** Gives a key this number, whatever it had. */
pace_status pace_index_set(pace_index *index, uint64_t key, uint32_t number) PACE_MUST_CHECK;
/** The number of a key; PACE_NO_NUMBER where it has none. */
uint32_t pace_index_get(const pace_index *index, uint64_t key);
void pace_index_free(pace_index *index);
