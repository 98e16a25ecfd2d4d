/*
 * Jobs moved to another architecture: whether they fit, how many replicas are left, and who gains.
 *
 * A job keeps its weight traffic, work and input per cNode. An architecture within one server keeps at most as many
 * replicas as the server has devices. Two gains count (Wang et al., IISWC 2019): of one cNode, T / T', and of the whole
 * job, (n' / T') / (n / T).
 */
#pragma once

#include "fleet/job_model.h"

typedef enum {
    PACE_PROJECTED_GAINS,          /* more samples per second */
    PACE_PROJECTED_FEWER_REPLICAS, /* each cNode is faster, but too few of them are left */
    PACE_PROJECTED_SHARED_PCIE,    /* it would gain if replicas did not share the host link */
    PACE_PROJECTED_SLOWER,         /* neither alone would help, or the links themselves are no faster */
    PACE_PROJECTED_TOO_LARGE,      /* the weights do not fit */
    PACE_PROJECTED_VERDICTS
} pace_projected_verdict;

/* "gains", "fewer_replicas", "shared_pcie", "slower", "too_large". */
extern const char *const pace_projected_verdict_names[PACE_PROJECTED_VERDICTS];

typedef struct {
    pace_job_parts parts; /* of jobs that do not fit too, as if they did */
    double step_s[PACE_JOB_BLOCK], cnodes[PACE_JOB_BLOCK];
    double single_speedup[PACE_JOB_BLOCK], throughput_speedup[PACE_JOB_BLOCK];
    uint8_t verdict[PACE_JOB_BLOCK]; /* pace_projected_verdict */
    double spread[PACE_JOB_BLOCK];   /* of the logarithm of either speed-up (fleet/job_doubt.h), when asked for */
} pace_projection;

/** The steps that a move from `from` starts at: `step_s`, those of jobs as they are, but where input shares the host
 * link of projected jobs alone, `shared_s`, in which these jobs' replicas share theirs too. `parts` is room to work
 * in. */
const double *pace_project_from(pace_job_parts *parts, double shared_s[PACE_JOB_BLOCK], const pace_jobs *jobs,
                                size_t first, size_t count, const double *step_s, const pace_job_setting *setting,
                                pace_job_architecture from);

/** Moves jobs [first, first + count) to another architecture; `step_s` are their step times as they are, above 0. */
void pace_project(pace_projection *out, const pace_jobs *jobs, size_t first, size_t count, const double *step_s,
                  const pace_job_setting *setting, pace_job_architecture from, pace_job_architecture architecture);
