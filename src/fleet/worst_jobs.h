/* The jobs of a fleet that lose most to a bottleneck: a list of fixed length that does not depend on the order of
 * adding. */
#pragma once

#include "fleet/pack.h"
#include "source/jobs/job_table.h"

enum { PACE_WORST_MOST = 20, PACE_WORST_TEXT = 256 };

typedef struct {
    double lost_hours, hours, share, cnodes;
    double share_error; /* standard deviation */
    double saved_hours; /* by moving to the best architecture; 0 = no move helps */
    double move_spread; /* of the logarithm of that move's speed-up */
    uint64_t architecture, target;
    char id[PACE_WORST_TEXT], user[PACE_WORST_TEXT]; /* pace_worst_text() */
} pace_worst_job;

typedef struct {
    pace_worst_job items[PACE_WORST_MOST];
    size_t count;
} pace_worst_jobs; /* the worst first */

/** Copies a name; one that is too long is cut after a whole character and ends in "...". The rest of `out` is 0. */
void pace_worst_text(char out[PACE_WORST_TEXT], const char *text);

/** Whether a job with this loss would enter the list. */
static inline bool pace_worst_jobs_wants(const pace_worst_jobs *list, double lost_hours) {
    return list->count < PACE_WORST_MOST || lost_hours >= list->items[PACE_WORST_MOST - 1].lost_hours;
}

/** Inserts a job in order, or drops it. Equal losses are ordered by id. */
void pace_worst_jobs_add(pace_worst_jobs *list, const pace_worst_job *job);

pace_status pace_worst_jobs_pack(pace_bytes *bytes, const pace_worst_jobs *list) PACE_MUST_CHECK;
/** Adds a packed list. PACE_E_INPUT for other bytes. */
pace_status pace_worst_jobs_merge_packed(pace_worst_jobs *into, pace_unpack *from) PACE_MUST_CHECK;
