/* A set of 64-bit numbers. Zero-initialise. */
#pragma once

#include "base/memory.h"

typedef struct {
    uint64_t *slots; /* open addressing; 0 = free */
    size_t slot_count, count;
    bool has_zero;
} pace_id_set;

pace_status pace_id_set_add(pace_id_set *set, uint64_t id) PACE_MUST_CHECK;
bool pace_id_set_has(const pace_id_set *set, uint64_t id);
void pace_id_set_free(pace_id_set *set);
