/* The parts of a fleet's report. Private to report/. */
#ifndef PACE_REPORT_FLEET_PARTS_H
#define PACE_REPORT_FLEET_PARTS_H

#include "fleet/fleet.h"
#include "report/job_parts.h"

/* A fleet and its sums over all architectures. */
typedef struct {
    pace_fleet fleet;
    pace_fleet_group all; /* without sketches */
} pace_fleet_view;

void pace_fleet_view_sum(pace_fleet_view *view);

/** The mean share of a component at a level; NAN without jobs. */
double pace_fleet_share(const pace_fleet_group *group, int level, int component);
/* 90 %: a figure with what bounds it. */
typedef struct {
    double middle, low, high;
} pace_fleet_range;

/** A sum over `weight` whose error is a sum too (fleet/fleet.h): of factors, off by a factor; of shares, by a
 * difference, and within 0 and 1. */
pace_fleet_range pace_fleet_factor(const pace_sum *sum, const pace_sum *error, double weight);
pace_fleet_range pace_fleet_share_range(const pace_sum *sum, const pace_sum *error, double weight);
void pace_table_range(pace_node *table, pace_fleet_range range);  /* three cells */
void pace_table_bounds(pace_node *table, pace_fleet_range range); /* two */
/** GPU-hours that are saved when those afterwards are within a range, as a share of those before. */
pace_fleet_range pace_fleet_saved(double before, pace_fleet_range after);

/** GPU-hours of as many samples that a question saves, as a share of all jobs' as they are. */
pace_fleet_range pace_fleet_saved_share(const pace_fleet_view *view, size_t question);
/** PS/Worker jobs moved: the share that gains, and the share of all their GPU-hours that is saved. */
pace_fleet_range pace_fleet_gains(const pace_fleet_projection *p, const pace_fleet_group *ps);
pace_fleet_range pace_fleet_moved_saves(const pace_fleet_projection *p);
/** The mean speed-up of a question. */
double pace_fleet_speedup(const pace_fleet_view *view, size_t question, int level, int class);
/** The question of a kind that saves most GPU-hours, of those that are not of low confidence; -1 = none. */
int pace_fleet_best(const pace_fleet_view *view, pace_asked_kind kind);

void pace_put_fleet_levels(pace_node *root, pace_fleet_view *view);
void pace_put_fleet_matrix(pace_node *root, const pace_fleet_view *view);
void pace_put_fleet_sizes(pace_node *root, pace_fleet_view *view);
void pace_put_fleet_bottlenecks(pace_node *root, const pace_fleet_view *view);
void pace_put_fleet_worst(pace_node *root, const pace_fleet_view *view);
void pace_put_fleet_projections(pace_node *root, pace_fleet_view *view);
void pace_put_fleet_questions(pace_node *root, const pace_fleet_view *view);
void pace_put_fleet_assumptions(pace_node *root, const pace_fleet_view *view);
void pace_put_fleet_curves(pace_node *root, pace_fleet_view *view);
void pace_put_fleet_charts(pace_node *root, pace_fleet_view *view);

#endif
