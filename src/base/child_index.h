/* Finds the children of a tree's nodes by their names: an index over (parent, name), both numbers. */
#pragma once

#include "base/memory.h"

/* Zero-initialise. */
typedef struct {
    struct pace_child_slot {
        uint64_t key;
        uint32_t node; /* + 1; 0 = free */
    } * slots;
    size_t mask, count;
} pace_child_index;

/** The child of that name; where there is none, `next` becomes it: then *out is `next`. */
pace_status pace_child_index_find(uint32_t *out, pace_child_index *index, uint32_t parent, uint32_t name,
                                  uint32_t next) PACE_MUST_CHECK;
void pace_child_index_free(pace_child_index *index);
