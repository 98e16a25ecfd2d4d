/*
 * The figures of a fleet, as rows: what its sums and sketches say of the jobs as they are, moved to other
 * architectures, and under every question. A figure with an error is a range that holds 90 %.
 */
#pragma once

#include "fleet/fleet.h"

/* A fleet and its sums over all architectures. */
typedef struct {
    pace_fleet fleet;
    pace_fleet_group all; /* without sketches */
} pace_fleet_view;

/** Fills in `all`. */
void pace_fleet_view_sum(pace_fleet_view *view);

/* A figure with its 90 % interval. */
typedef struct {
    double middle, low, high;
} pace_fleet_range;

/** A mean of factors: `sum` / `weight`, off by a factor. `error` is the sum of the standard deviations. */
pace_fleet_range pace_fleet_factor(const pace_sum *sum, const pace_sum *error, double weight);

/* --- jobs as they are --------------------------------------------------------------------------------------------- */

typedef struct {
    const char *architecture;
    uint64_t count;
    double share;
} pace_fleet_part;

/* Mean shares of a step. Medians and tails need sketches, which the sum over all architectures lacks: NAN there. */
typedef struct {
    const char *architecture;
    pace_fleet_range share[PACE_JOB_COMPONENTS];
    double weights_median, weights_over_80, input_over_50;
} pace_fleet_shares;

typedef struct {
    const char *architecture;
    int64_t cnodes_median, cnodes_p90, cnodes_most;
    double over_8_share, weight_median_bytes, weight_p90_bytes, weight_most_bytes;
} pace_fleet_size;

typedef struct {
    const char *bottleneck;
    uint64_t jobs, cnodes;
    double jobs_share, cnodes_share;
    double hours, lost_hours; /* GPU-hours of these jobs; GPU-hours that all jobs spend in it */
    pace_fleet_range lost_share;
} pace_fleet_bottleneck;

/* One of the jobs that lose most; no target: no move saves GPU-hours. */
typedef struct {
    const char *bottleneck, *id, *user, *architecture, *target;
    int64_t cnodes;
    double hours, share;
    pace_fleet_range lost_hours, saved_hours;
} pace_fleet_loser;

/** The mean share of a component at a level, and with its range. */
double pace_fleet_share(const pace_fleet_group *group, int level, int component);
pace_fleet_range pace_fleet_share_range(const pace_fleet_group *group, int level, int component);

pace_fleet_part pace_fleet_part_of(const pace_fleet_view *view, int architecture, int level);
/** Of one architecture, or of all when `architecture` is PACE_JOB_ARCHITECTURES. */
pace_fleet_shares pace_fleet_shares_of(pace_fleet_view *view, int architecture, int level);
pace_fleet_size pace_fleet_size_of(pace_fleet_view *view, int architecture);
pace_fleet_bottleneck pace_fleet_bottleneck_of(const pace_fleet_view *view, int component);
pace_fleet_loser pace_fleet_loser_of(const pace_worst_job *job, int component);
/** The components, the one that takes most GPU-hours first. */
void pace_fleet_components_by_loss(int order[PACE_JOB_COMPONENTS], const pace_fleet_view *view);

/* --- PS/Worker jobs as another architecture ----------------------------------------------------------------------- */

typedef struct {
    const char *architecture;
    uint64_t jobs;
    double verdict_share[PACE_PROJECTED_VERDICTS];
    pace_fleet_range gains, single_speedup, throughput_speedup, saved_share;
    double gains_cnodes_share, single_median, throughput_p10, throughput_median, throughput_p90, saved_hours;
    double before_share[PACE_JOB_COMPONENTS], after_share[PACE_JOB_COMPONENTS];
} pace_fleet_moved;

pace_fleet_moved pace_fleet_moved_to(pace_fleet_view *view, int target);

/* --- questions ---------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *change, *resource, *confidence;
    double rate; /* of the resource; NAN = software */
    pace_fleet_range speedup[PACE_FLEET_CLASSES], cnode_speedup, saved_share;
    double saved_hours, price;
    pace_fleet_range price_per_hour; /* of what is saved; NAN where it may save nothing */
} pace_fleet_gain;

typedef struct {
    const char *class, *resource, *change;
    double rate;
    pace_fleet_range speedup;
} pace_fleet_sensitivity;

/* Jobs whose share of the changed resource lies within [from, to). */
typedef struct {
    const char *change, *resource;
    double rate, from_share, to_share;
    uint64_t jobs;
    pace_fleet_range speedup;
} pace_fleet_tenth;

/* What is concluded under one assumption. */
typedef struct {
    const char *assumption, *confidence;
    double weights_job_share, weights_cnode_share, weights_longest_cnode_share, ps_gains_share, ps_network_speedup;
} pace_fleet_assumed;

/** The mean speed-up of a class. */
double pace_fleet_speedup(const pace_fleet_view *view, size_t question, int class);
pace_fleet_gain pace_fleet_gain_of(const pace_fleet_view *view, size_t question);
/** The question of a kind that saves most GPU-hours, of those that are not of low confidence; -1 = none. */
int pace_fleet_best(const pace_fleet_view *view, pace_asked_kind kind);
/** The upgrade that speeds a class up most. False when there is none. */
bool pace_fleet_sensitivity_of(pace_fleet_sensitivity *out, const pace_fleet_view *view, int class);
pace_fleet_tenth pace_fleet_tenth_of(const pace_fleet_view *view, size_t question, int tenth);
pace_fleet_assumed pace_fleet_assumed_of(const pace_fleet_view *view, size_t assumption);
