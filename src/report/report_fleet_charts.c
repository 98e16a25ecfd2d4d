/* A fleet's distributions: as figures for programs. */
#include "report/fleet_parts.h"

#include <math.h>

static const double quantiles[] = {0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1};
enum { QUANTILES = sizeof quantiles / sizeof *quantiles };

static const pace_column curve_columns[] = {
    {"quantity", NULL, PACE_SHOW_TEXT}, {"class", NULL, PACE_SHOW_TEXT},    {"level", NULL, PACE_SHOW_TEXT},
    {"least", NULL, PACE_SHOW_REAL},    {"p1", NULL, PACE_SHOW_REAL},       {"p5", NULL, PACE_SHOW_REAL},
    {"p10", NULL, PACE_SHOW_REAL},      {"p25", NULL, PACE_SHOW_REAL},      {"median", NULL, PACE_SHOW_REAL},
    {"p75", NULL, PACE_SHOW_REAL},      {"p90", NULL, PACE_SHOW_REAL},      {"p95", NULL, PACE_SHOW_REAL},
    {"p99", NULL, PACE_SHOW_REAL},      {"greatest", NULL, PACE_SHOW_REAL},
};

static void put_curve(pace_node *table, pace_sketch *sketch, const char *quantity, const char *class,
                      const char *level) {
    if (sketch->total == 0) return;
    pace_table_row(table);
    pace_table_text(table, quantity);
    pace_table_text(table, class);
    pace_table_text(table, level);
    for (int q = 0; q < QUANTILES; q++) pace_table_real(table, pace_sketch_quantile(sketch, quantiles[q]));
}

void pace_put_fleet_curves(pace_node *root, pace_fleet_view *view) {
    pace_node *table = pace_node_table(root, "distributions", NULL, PACE_FOR_JSON, curve_columns,
                                       sizeof curve_columns / sizeof *curve_columns, 0);
    for (int c = 0; c < PACE_FLEET_CLASSES; c++) {
        pace_fleet_group *g = &view->fleet.groups[c];
        put_curve(table, &g->cnode_counts, "cnodes", pace_fleet_class_names[c], pace_level_names[0]);
        put_curve(table, &g->weight_bytes, "weight_bytes", pace_fleet_class_names[c], pace_level_names[0]);
        for (int l = 0; l < PACE_LEVELS; l++)
            for (int k = 0; k < PACE_JOB_COMPONENTS; k++) {
                static const char *const names[] = {"input_share", "compute_bound_share", "memory_bound_share",
                                                    "weights_share"};
                put_curve(table, &g->shares[l][k], names[k], pace_fleet_class_names[c], pace_level_names[l]);
            }
    }
    for (int t = 0; t < PACE_FLEET_TARGETS; t++) {
        const char *name = pace_job_architecture_names[pace_fleet_targets[t]];
        put_curve(table, &view->fleet.projections[t].single, "single_speedup", name, pace_level_names[0]);
        put_curve(table, &view->fleet.projections[t].throughput, "throughput_speedup", name, pace_level_names[0]);
    }
}

void pace_put_fleet_charts(pace_node *root, pace_fleet_view *view) {
    (void)root;
    (void)view;
}
