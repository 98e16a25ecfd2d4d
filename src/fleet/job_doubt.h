/*
 * How far off the shares of a step and the speed-ups of a change may be.
 *
 * What the model does not know is which share of a resource's peak a job reaches. So the time on resource r is off by a
 * factor e^x_r: the x_r are independent of each other, each has the standard deviation sigma of a step time that is all
 * of one resource (setting->spread). To first order
 *
 *     ln T       is off by  sum_r E_r x_r            E_r = d ln T / d x_r, the elasticity: r's share of the path
 *     ln (T/T')  is off by  sum_r (E_r - E'_r) x_r   what the two steps have in common cancels
 *
 * and the factor of a change of software is off by e^y, y of a standard deviation of its own, on the parts that it
 * changes. An answer about many jobs is taken to be off as if all jobs were off together (the standard deviations add
 * up): jobs share the software, machines and assumptions that the x_r stand for, so errors do not average out.
 */
#pragma once

#include "fleet/job_model.h"

#include <math.h>

typedef struct {
    double of[PACE_JOB_RESOURCES][PACE_JOB_BLOCK]; /* 0 to 1; without overlap those of a job add up to 1 */
    double squares[PACE_JOB_BLOCK];                /* the sum of their squares */
} pace_job_elasticities;

void pace_job_elasticities_of(pace_job_elasticities *out, const pace_job_parts *parts, size_t count, double overlap);

/** The standard deviation of ln (T/T') of each job. */
void pace_job_speedup_spreads(double *spread, const pace_job_elasticities *before, const pace_job_elasticities *after,
                              size_t count, double sigma);

/** Steps after a change, as pace_job_steps(), and the standard deviation of ln (T/T'); `change_sigma` of the logarithm
 * of the change's own factor, 0 = it is exact. */
void pace_job_changed_steps(double *step_s, double *spread, const pace_job_parts *parts,
                            const pace_job_elasticities *before, size_t count, const pace_job_change *change,
                            double sigma, double change_sigma);

/* Two resources of a question and the factors on their times; 1 = that one stays as it is. */
typedef struct {
    pace_job_resource resource[2];
    double factor[2];
} pace_job_faster;

/* What a change gives a job: the speed-up T/T', T'/T, and the standard deviation of the logarithm of either. */
typedef struct {
    double speedup, longer, spread;
} pace_job_gain;

/** The same where resources change and the parts of a step follow each other. The resources' shares E of the step say
 * all: T'/T = 1 - sum E (1 - factor), and what is left of each share is divided by that. */
static inline pace_job_gain pace_job_faster_step(const pace_job_elasticities *before, size_t job,
                                                 const pace_job_faster *faster, double sigma) {
    double first = before->of[faster->resource[0]][job], second = before->of[faster->resource[1]][job];
    double of_first = faster->factor[0], of_second = faster->factor[1];
    double longer = 1 - first * (1 - of_first) - second * (1 - of_second), speedup = 1 / longer;
    double others = before->squares[job] - first * first - second * second, same = 1 - speedup;
    double left_first = first * (1 - of_first * speedup), left_second = second * (1 - of_second * speedup);
    double moved = (others > 0 ? others : 0) * (same * same) + left_first * left_first + left_second * left_second;
    return (pace_job_gain){speedup, longer, sigma * sqrt(moved)};
}

/* The components of jobs: seconds, shares of their sum, and the standard deviations of the shares. */
typedef struct {
    double seconds[PACE_JOB_COMPONENTS][PACE_JOB_BLOCK];
    double share[PACE_JOB_COMPONENTS][PACE_JOB_BLOCK];
    double error[PACE_JOB_COMPONENTS][PACE_JOB_BLOCK];
    uint8_t bottleneck[PACE_JOB_BLOCK]; /* pace_job_component */
} pace_job_shares;

void pace_job_shares_of(pace_job_shares *out, const pace_job_parts *parts, size_t count, double sigma);
