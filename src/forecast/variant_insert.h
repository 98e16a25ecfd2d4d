/* Launches that a what-if adds to a rank's graph. */
#pragma once

#include "forecast/variant.h"

typedef struct {
    uint32_t before;    /* the launch that follows it; the count of launches = none does */
    pace_launch launch; /* its waits are numbered as before any insertion */
    uint32_t part;      /* of the original graph, whose measured time it has */
    double more;        /* times that */
} pace_insertion;

typedef PACE_VEC(pace_insertion) pace_insertions;

/** Inserts launches, in order of what they stand before; all others are numbered anew. */
pace_status pace_variant_insert(pace_variant *variant, const pace_insertion *items, size_t count) PACE_MUST_CHECK;
