/* Which workers hold up their jobs, when, and what more workers would cost: answers to tables of iterations. */
#pragma once

#include "ask/rows/iteration_rows.h"
#include "fleet/slow_groups.h"
#include "fleet/steady_delay.h"

enum { PACE_STRAGGLER_SIZES = 12 };

/* One job: what was read, found and expected. */
typedef struct {
    const char *path, *name; /* name: without folders; borrowed */
    pace_iteration_rows rows;
    pace_variability found;
    pace_slow_groups groups;
    pace_steady_delay steady;
    pace_slowdown slowdown[PACE_STRAGGLER_SIZES];
    size_t sizes;
} pace_straggler_job;

/* A node of one job or more, by its name. */
typedef struct {
    const char *name;       /* borrowed of the first job that has it */
    size_t jobs, slow_jobs; /* slow: at least half of its workers are in a slow group */
    double pace;            /* of its workers against the fastest group: geometric mean over jobs */
} pace_straggler_node;

typedef struct {
    pace_straggler_job *jobs;
    size_t count;
    PACE_VEC(pace_straggler_node)
    nodes; /* of all jobs that tell nodes; those slow in most jobs first, then the slowest */
} pace_stragglers_asked;

/** One job a table. Free `out` after a failure too. */
pace_status pace_stragglers_ask(pace_stragglers_asked *out, pace_catalog *catalog, const char *const *paths,
                                size_t count) PACE_MUST_CHECK;
void pace_stragglers_asked_free(pace_stragglers_asked *asked);

const char *pace_straggler_name(const pace_straggler_job *job, size_t worker);
/** How long a worker usually takes: against the fastest group, or where all are alike, against the median worker. */
double pace_straggler_pace(const pace_straggler_job *job, size_t worker);
/** The node that all workers of a group are on and no others, NULL = none. */
const char *pace_straggler_group_node(const pace_straggler_job *job, size_t group);
/** How likely one of the nodes is slow in as many jobs as the first is, were all as likely to be. */
double pace_straggler_nodes_chance(const pace_stragglers_asked *asked);
