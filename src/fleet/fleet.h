/*
 * The job model asked of a whole fleet, in memory that does not grow with the jobs (Wang et al., IISWC 2019).
 *
 * A fleet is counts, sums and sketches: whole numbers all of them, so that adding jobs in any order, on any number of
 * threads or processes, and merging what each has, gives the same bytes. Every job counts once at the level of jobs and
 * cNodes times at the level of cNodes. GPU-hours are the table's, or one hour of every cNode where it has none.
 */
#pragma once

#include "fleet/fleet_questions.h"
#include "fleet/projection.h"
#include "fleet/sketch.h"
#include "fleet/sum.h"
#include "fleet/worst_jobs.h"

enum { PACE_LEVEL_JOB, PACE_LEVEL_CNODE, PACE_LEVELS };
extern const char *const pace_level_names[PACE_LEVELS]; /* "job", "cnode" */

extern const char *const pace_fleet_class_names[PACE_FLEET_CLASSES];

/* What PS/Worker jobs are moved to. */
enum { PACE_FLEET_TARGETS = 3 };
extern const pace_job_architecture pace_fleet_targets[PACE_FLEET_TARGETS];

enum { PACE_SHARE_TENTHS = 10 };

/* An answer's error is the sum of its jobs' standard deviations, of the same weights: as if all were off together
 * (fleet/job_doubt.h). A sum S of speed-ups whose errors add up to D has a standard deviation of its logarithm of D /
 * S. */

/* Jobs of one class as they are. */
typedef struct {
    uint64_t jobs, cnodes;
    pace_sum hours;
    pace_sum share[PACE_LEVELS][PACE_JOB_COMPONENTS]; /* of each component; divided by jobs or cNodes, the mean */
    pace_sum share_error[PACE_LEVELS][PACE_JOB_COMPONENTS];
    pace_sum lost_hours[PACE_JOB_COMPONENTS], lost_error[PACE_JOB_COMPONENTS]; /* GPU-hours that went into it */
    uint64_t bottleneck[PACE_LEVELS][PACE_JOB_COMPONENTS]; /* jobs, cNodes whose largest component it is */
    pace_sum bottleneck_hours[PACE_JOB_COMPONENTS];        /* all GPU-hours of those jobs */
    pace_sum mean_step_s[PACE_JOB_COMPONENTS];             /* by jobs */
    pace_sketch shares[PACE_LEVELS][PACE_JOB_COMPONENTS];
    pace_sketch cnode_counts, weight_bytes; /* by jobs */
} pace_fleet_group;

/* PS/Worker jobs as another architecture. Speed-ups, shares and hours are of the jobs that fit. */
typedef struct {
    uint64_t verdicts[PACE_LEVELS][PACE_PROJECTED_VERDICTS];
    uint64_t least_gains, most_gains; /* jobs that gain still / already, were all off to one side (90 %) */
    pace_sum single_speedup, throughput_speedup;
    pace_sum single_error, throughput_error, after_error;                         /* after_error: of hours_after */
    pace_sum share_before[PACE_JOB_COMPONENTS], share_after[PACE_JOB_COMPONENTS]; /* by jobs */
    pace_sum hours_before, hours_after; /* GPU-hours of as many samples; only jobs that gain are moved */
    pace_sketch single, throughput;
} pace_fleet_projection;

/* The answer to one question. */
typedef struct {
    pace_sum speedup[PACE_FLEET_CLASSES], speedup_error[PACE_FLEET_CLASSES]; /* divided by jobs, the mean */
    pace_sum cnode_speedup, cnode_error; /* of all architectures; divided by cNodes, the mean */
    pace_sum hours[PACE_JOB_ARCHITECTURES], hours_error[PACE_JOB_ARCHITECTURES]; /* GPU-hours of as many samples */
    uint64_t tenth_jobs[PACE_SHARE_TENTHS]; /* jobs by the share of the resource that is changed */
    pace_sum tenth_speedup[PACE_SHARE_TENTHS], tenth_error[PACE_SHARE_TENTHS];
} pace_fleet_answer;

/* What is concluded under other assumptions. */
typedef struct {
    pace_sum weight_share[PACE_LEVELS];    /* all jobs */
    uint64_t weights_longest[PACE_LEVELS]; /* input, computation and weights: weights take longest */
    uint64_t ps_gains;                     /* PS/Worker jobs with more throughput as AllReduce-Local */
    pace_sum ps_network_speedup;           /* PS/Worker jobs on the fastest network that is asked about */
} pace_fleet_conclusion;

typedef struct {
    const pace_job_setting *setting;       /* borrowed */
    const pace_fleet_questions *questions; /* borrowed */
    pace_fleet_group groups[PACE_FLEET_CLASSES];
    pace_fleet_projection projections[PACE_FLEET_TARGETS];
    pace_fleet_answer *answers;         /* one per question */
    pace_fleet_conclusion *conclusions; /* as it is, and one per assumption */
    pace_worst_jobs worst[PACE_JOB_COMPONENTS];
    uint64_t unusable;      /* jobs that cannot be asked */
    uint64_t hours_assumed; /* jobs without GPU-hours */
    char first_fault[160];  /* of the unusable job of the lowest line */
    uint64_t first_line;
} pace_fleet;

pace_status pace_fleet_init(pace_fleet *out, const pace_job_setting *setting, const pace_fleet_questions *questions,
                            bool exact) PACE_MUST_CHECK;
void pace_fleet_free(pace_fleet *fleet);

pace_status pace_fleet_add(pace_fleet *fleet, const pace_jobs *jobs) PACE_MUST_CHECK;

/** Adds all of `other`, which was asked the same questions. */
pace_status pace_fleet_merge(pace_fleet *into, pace_fleet *other) PACE_MUST_CHECK;

/** The fleet as bytes, for another process; the same for the same jobs. */
pace_status pace_fleet_pack(pace_bytes *bytes, pace_fleet *fleet) PACE_MUST_CHECK;
/** Adds a packed fleet. PACE_E_INPUT for bytes that are none, or of other questions. */
pace_status pace_fleet_merge_packed(pace_fleet *into, pace_unpack *from) PACE_MUST_CHECK;

/** The weight of jobs at a level: their number, or their cNodes. */
uint64_t pace_fleet_weight(const pace_fleet_group *group, int level);
