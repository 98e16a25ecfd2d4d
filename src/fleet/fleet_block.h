/* A block of jobs of one architecture that a fleet processes together. Private to fleet/. */
#pragma once

#include "fleet/fleet.h"
#include "fleet/job_doubt.h"

/* Jobs in columns, with the model's results. */
typedef struct {
    size_t count;
    bool alone; /* each job is of one cNode */
    uint64_t cnodes[PACE_JOB_BLOCK];
    double hours[PACE_JOB_BLOCK], weight_bytes[PACE_JOB_BLOCK], step_s[PACE_JOB_BLOCK];
    pace_job_parts parts;
    pace_job_elasticities elasticities;
    pace_job_shares shares;
} pace_fleet_cohort;

/* At most PACE_JOB_BLOCK usable jobs of a batch, all of one architecture, so that loops over them have no branches. */
typedef struct {
    const pace_jobs *batch;
    bool known[PACE_JOB_COLUMNS]; /* columns of the batch that hold numbers */
    pace_job_architecture architecture;
    uint32_t place[PACE_JOB_BLOCK]; /* in the batch */
    pace_jobs jobs;                 /* their numbers, in the columns below; NULL where a column holds none */
    double column[PACE_JOB_COLUMNS][PACE_JOB_BLOCK];
    pace_fleet_cohort as_is;
    pace_projection projections[PACE_FLEET_TARGETS]; /* of PS/Worker jobs */
    pace_fleet_cohort moved;                         /* PS/Worker jobs as AllReduce-Local, where they fit */
} pace_fleet_block;

/** Turns to a batch of jobs. */
void pace_fleet_block_begin(pace_fleet_block *block, const pace_jobs *batch);

/** Takes `count` jobs of one architecture, given by their places in the batch. Unusable jobs are counted in the fleet
 * and skipped. */
void pace_fleet_block_fill(pace_fleet_block *block, pace_fleet *fleet, pace_job_architecture architecture,
                           const uint32_t *place, size_t count);

/** Elasticities and shares, from the parts. */
void pace_fleet_cohort_weigh(pace_fleet_cohort *cohort, const pace_job_setting *setting);

/** PS/Worker jobs as other architectures; fills projections and `moved`. */
pace_status pace_fleet_add_moved(pace_fleet *fleet, pace_fleet_block *block) PACE_MUST_CHECK;
/** The questions: of the jobs as they are, and of PS/Worker jobs that were moved. */
void pace_fleet_add_answers(pace_fleet *fleet, const pace_fleet_block *block);
/** The main conclusions under other assumptions. */
void pace_fleet_add_conclusions(pace_fleet *fleet, const pace_fleet_block *block);
void pace_fleet_add_worst(pace_fleet *fleet, const pace_fleet_block *block);

/** Adds a cohort, as it is, to a class. */
pace_status pace_fleet_group_add(pace_fleet_group *group, const pace_fleet_cohort *cohort) PACE_MUST_CHECK;
