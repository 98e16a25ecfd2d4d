/* The parts of reports about jobs, fleets and clusters. Private to report/. */
#pragma once

#include "ask/fleet/stragglers.h"
#include "ask/fleet/usage_asked.h"
#include "fleet/capacity.h"
#include "fleet/fleet_figures.h"
#include "report/fleet/job_parts.h"

void pace_put_fleet_levels(pace_node *root, pace_fleet_view *view);
void pace_put_fleet_matrix(pace_node *root, const pace_fleet_view *view);
void pace_put_fleet_sizes(pace_node *root, pace_fleet_view *view);
void pace_put_fleet_bottlenecks(pace_node *root, const pace_fleet_view *view);
void pace_put_fleet_worst(pace_node *root, const pace_fleet_view *view);
void pace_put_fleet_projections(pace_node *root, pace_fleet_view *view);
void pace_put_fleet_questions(pace_node *root, const pace_fleet_view *view);
void pace_put_fleet_assumptions(pace_node *root, const pace_fleet_view *view);
void pace_put_fleet_curves(pace_node *root, pace_fleet_view *view);
/** What leads the page. */
void pace_put_fleet_pictures(pace_node *root, pace_fleet_view *view);
/** Distributions, behind the tables. */
void pace_put_fleet_charts(pace_node *root, pace_fleet_view *view);

void pace_put_capacity_charts(pace_node *root, const pace_cluster *cluster, const pace_capacity *capacity);

void pace_put_straggler_charts(pace_node *root, const pace_straggler_job *jobs, size_t count);

void pace_put_usage_sentences(pace_node *root, const pace_usage_asked *asked);
void pace_warn_of_usage_doubts(pace_report *report, const pace_usage_asked *asked, const char *const *paths);
void pace_put_usage_charts(pace_node *root, const pace_usage_asked *asked);
