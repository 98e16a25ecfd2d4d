/* Sets of numbers that are joined (union-find with path halving; the lesser root stays). */
#pragma once

#include "base/memory.h"

typedef struct {
    uint32_t *above;
} pace_union_find;

static inline pace_status pace_union_find_init(pace_union_find *sets, size_t count) {
    sets->above = pace_alloc(count + 1, sizeof *sets->above);
    if (!sets->above) return PACE_E_MEMORY;
    for (size_t i = 0; i < count; i++) sets->above[i] = (uint32_t)i;
    return PACE_OK;
}

static inline void pace_union_find_free(pace_union_find *sets) { pace_free(sets->above); }

static inline uint32_t pace_union_find_root(pace_union_find *sets, uint32_t i) {
    uint32_t *above = sets->above;
    for (; above[i] != i; i = above[i]) above[i] = above[above[i]];
    return i;
}

static inline void pace_union_find_join(pace_union_find *sets, uint32_t a, uint32_t b) {
    a = pace_union_find_root(sets, a);
    b = pace_union_find_root(sets, b);
    sets->above[a < b ? b : a] = a < b ? a : b;
}
