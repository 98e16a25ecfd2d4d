/*
 * Which job ids were seen: a set of their 64-bit hashes, 8 to 18 bytes an id. Two ids of a table of n jobs share a hash
 * with a chance of n^2 / 2^65: one in 37 000 for thirty million. The set stops growing at a limit; ids behind it are
 * not known to be new, and `unchecked` counts them.
 */
#pragma once

#include "base/memory.h"

typedef struct {
    uint64_t *slots;                /* open addressing; 0 = free */
    size_t slot_count, count, most; /* slots: a power of two; most: ids that are kept */
    uint64_t unchecked;
} pace_job_ids;

/** `most` ids at most, 0 = 2^27 (1 GiB or 2). */
pace_status pace_job_ids_init(pace_job_ids *ids, size_t most) PACE_MUST_CHECK;
void pace_job_ids_free(pace_job_ids *ids);

/** Adds `count` hashes in order; seen[i] tells whether the i-th was there already, from before or from these. Returns
 * how many were in *repeats. */
pace_status pace_job_ids_add(bool *seen, size_t *repeats, pace_job_ids *ids, const uint64_t *hashes,
                             size_t count) PACE_MUST_CHECK;
