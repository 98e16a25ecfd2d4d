/* A block of jobs that a fleet processes together. Private to fleet/. */
#pragma once

#include "fleet/fleet.h"
#include "fleet/job_doubt.h"

/* Jobs in columns, with the model's results. */
typedef struct {
    size_t count;
    uint64_t cnodes[PACE_JOB_BLOCK];
    double hours[PACE_JOB_BLOCK], weight_bytes[PACE_JOB_BLOCK], step_s[PACE_JOB_BLOCK];
    pace_job_parts parts;
    pace_job_elasticities elasticities;
    pace_job_shares shares;
} pace_fleet_cohort;

/* At most PACE_JOB_BLOCK usable jobs of a batch, sorted by architecture, so that loops over one architecture have no
 * branches. */
typedef struct {
    const pace_jobs *batch;
    size_t place[PACE_JOB_BLOCK]; /* in the batch */
    pace_jobs jobs;               /* numbers and architectures, in the columns below */
    double column[PACE_JOB_COLUMNS][PACE_JOB_BLOCK];
    uint8_t architecture[PACE_JOB_BLOCK];
    size_t begin[PACE_JOB_ARCHITECTURES + 1]; /* the jobs of architecture a are [begin[a], begin[a + 1]) */
    pace_fleet_cohort as_is;
    pace_projection projections[PACE_FLEET_TARGETS]; /* of the PS/Worker jobs, from 0 */
    pace_fleet_cohort moved;                         /* PS/Worker jobs as AllReduce-Local, where they fit */
} pace_fleet_block;

/** Takes jobs [first, first + count) of a batch. Unusable jobs are counted in the fleet and skipped. */
void pace_fleet_block_fill(pace_fleet_block *block, pace_fleet *fleet, const pace_jobs *batch, size_t first,
                           size_t count);

/** Elasticities and shares, from the parts. */
void pace_fleet_cohort_weigh(pace_fleet_cohort *cohort, const pace_job_setting *setting);

pace_status pace_fleet_add_as_is(pace_fleet *fleet, const pace_fleet_block *block) PACE_MUST_CHECK;
/** PS/Worker jobs as other architectures; fills projections and `moved`. */
pace_status pace_fleet_add_moved(pace_fleet *fleet, pace_fleet_block *block) PACE_MUST_CHECK;
void pace_fleet_add_answers(pace_fleet *fleet, const pace_fleet_block *block);
void pace_fleet_add_conclusions(pace_fleet *fleet, const pace_fleet_block *block);
void pace_fleet_add_worst(pace_fleet *fleet, const pace_fleet_block *block);

/** Adds jobs [first, first + count) of a cohort, as they are, to a class. */
pace_status pace_fleet_group_add(pace_fleet_group *group, const pace_fleet_cohort *cohort, size_t first,
                                 size_t count) PACE_MUST_CHECK;
