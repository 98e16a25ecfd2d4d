/* The jobs of a fleet that lose most to something: a list of fixed length, the same whatever the order of adding. */
#ifndef PACE_FLEET_WORST_JOBS_H
#define PACE_FLEET_WORST_JOBS_H

#include "fleet/pack.h"
#include "source/job_table.h"

enum { PACE_WORST_MOST = 20, PACE_WORST_TEXT = 256 };

typedef struct {
    double lost_hours, hours, share, cnodes;
    double share_error; /* standard deviation */
    double saved_hours; /* by the best of the architectures it could move to; 0 = none would help */
    double move_spread; /* of the logarithm of that move's speed-up */
    uint64_t architecture, target;
    char id[PACE_WORST_TEXT], user[PACE_WORST_TEXT]; /* pace_worst_text() */
} pace_worst_job;

typedef struct {
    pace_worst_job items[PACE_WORST_MOST];
    size_t count;
} pace_worst_jobs; /* the worst first */

/** A name that may be too long: cut after a whole character, and then it ends in "...". The rest of `out` is 0. */
void pace_worst_text(char out[PACE_WORST_TEXT], const char *text);

/** Whether a job that loses so much would be among the worst. */
static inline bool pace_worst_jobs_wants(const pace_worst_jobs *list, double lost_hours) {
    return list->count < PACE_WORST_MOST || lost_hours >= list->items[PACE_WORST_MOST - 1].lost_hours;
}

/** Puts it in its place, or leaves it out. Of equal losses the lower id comes first. */
void pace_worst_jobs_add(pace_worst_jobs *list, const pace_worst_job *job);

pace_status pace_worst_jobs_pack(pace_bytes *bytes, const pace_worst_jobs *list) PACE_MUST_CHECK;
/** Adds a packed list. PACE_E_INPUT for bytes that are none. */
pace_status pace_worst_jobs_merge_packed(pace_worst_jobs *into, pace_unpack *from) PACE_MUST_CHECK;

#endif
