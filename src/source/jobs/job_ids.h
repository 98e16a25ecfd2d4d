/*
 * Which job ids were seen: a set of 64-bit keys, 13 to 26 bytes an id. Two ids of a table of n jobs share a key with a
 * chance of n^2 / 2^65: one in 37 000 for thirty million. The set stops growing at a limit; ids behind it are not known
 * to be new, and `unchecked` counts them.
 *
 * Schedulers count: the id of the next row is mostly that of this one and a little more. So the digits that an id ends
 * in are added to the hash of what is before them, and keys stand where their last bits say: numbers that follow each
 * other are in one cache line. Where another key stands there already, all bits say where to look.
 *
 * The set has parts, by a few bits of a key, so that threads fill it together: each takes a part.
 */
#pragma once

#include "base/memory.h"

enum { PACE_JOB_ID_PARTS = 4 };

typedef struct {
    uint64_t *slots;                /* open addressing; 0 = free */
    size_t slot_count, count, most; /* slots: a power of two; most: ids that are kept */
    uint64_t unchecked;
} pace_job_id_part;

typedef struct {
    pace_job_id_part parts[PACE_JOB_ID_PARTS];
} pace_job_ids;

/** The key of an id: ids that differ in the number they end in never share one. */
uint64_t pace_job_id_key(const char *id, size_t length);

/** The keys of ids that stand in `text` back to back up to `end`, each with its NUL; eight bytes more may be read. */
void pace_job_id_keys(uint64_t *keys, const char *text, const size_t *ids, size_t count, size_t end);

/** About `most` ids at most, as many in each part; 0 = 2^27 (1.7 to 3.4 GiB). */
pace_status pace_job_ids_init(pace_job_ids *ids, size_t most) PACE_MUST_CHECK;
void pace_job_ids_free(pace_job_ids *ids);

/** Makes room for about `count` ids, so that the set need not grow to them step by step. */
pace_status pace_job_ids_expect(pace_job_ids *ids, size_t count) PACE_MUST_CHECK;

/** Adds those of `count` keys that belong to a part, in order; seen[i] tells whether the i-th was there already, from
 * before or from these. Adds to *repeats how many were. */
pace_status pace_job_ids_add_part(bool *seen, size_t *repeats, pace_job_ids *ids, size_t part, const uint64_t *keys,
                                  size_t count) PACE_MUST_CHECK;

/** Adds all. */
pace_status pace_job_ids_add(bool *seen, size_t *repeats, pace_job_ids *ids, const uint64_t *keys,
                             size_t count) PACE_MUST_CHECK;

/** The ids that could not be checked. */
uint64_t pace_job_ids_unchecked(const pace_job_ids *ids);
