/* Which workers hold up their jobs, when, and what more workers would cost: answers to tables of iterations. */
#pragma once

#include "ask/iteration_rows.h"

enum { PACE_STRAGGLER_SIZES = 12 };

/* One job: what was read, found and expected. */
typedef struct {
    const char *path, *name; /* name: without folders; borrowed */
    pace_iteration_rows rows;
    pace_variability found;
    pace_slowdown slowdown[PACE_STRAGGLER_SIZES];
    size_t sizes;
} pace_straggler_job;

typedef struct {
    pace_straggler_job *jobs;
    size_t count;
} pace_stragglers_asked;

/** One job a table. Free `out` after a failure too. */
pace_status pace_stragglers_ask(pace_stragglers_asked *out, pace_catalog *catalog, const char *const *paths,
                                size_t count) PACE_MUST_CHECK;
void pace_stragglers_asked_free(pace_stragglers_asked *asked);

const char *pace_straggler_name(const pace_straggler_job *job, size_t worker);
/** How long all iterations of the job took, in the unit of its table. */
double pace_straggler_time(const pace_straggler_job *job);
/** The worker that cost most outside its spells, which is the steadily slow one; and what it cost. */
size_t pace_steadily_slow(const pace_straggler_job *job, double *lost);
