/* The parts of a fleet's report. Private to report/. */
#pragma once

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
