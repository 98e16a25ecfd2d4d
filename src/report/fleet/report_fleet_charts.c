/* A fleet's distributions: as figures for programs, as pictures for people. */
#include "report/fleet/fleet_parts.h"
#include "report/table.h"

#include <stdio.h>

static const double quantiles[] = {0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1};
enum { QUANTILES = PACE_COUNT(quantiles) };

typedef struct {
    const char *quantity, *class, *level;
    double at[QUANTILES];
} curve_row;

PACE_TABLE(
    distributions, "distributions", NULL, PACE_FOR_JSON, 0,
    {"quantity", NULL, PACE_SHOW_TEXT, PACE_OF(curve_row, quantity)},
    {"class", NULL, PACE_SHOW_TEXT, PACE_OF(curve_row, class)},
    {"level", NULL, PACE_SHOW_TEXT, PACE_OF(curve_row, level)},
    {"least", NULL, PACE_SHOW_REAL, PACE_OF(curve_row, at[0])}, {"p1", NULL, PACE_SHOW_REAL, PACE_OF(curve_row, at[1])},
    {"p5", NULL, PACE_SHOW_REAL, PACE_OF(curve_row, at[2])}, {"p10", NULL, PACE_SHOW_REAL, PACE_OF(curve_row, at[3])},
    {"p25", NULL, PACE_SHOW_REAL, PACE_OF(curve_row, at[4])},
    {"median", NULL, PACE_SHOW_REAL, PACE_OF(curve_row, at[5])},
    {"p75", NULL, PACE_SHOW_REAL, PACE_OF(curve_row, at[6])}, {"p90", NULL, PACE_SHOW_REAL, PACE_OF(curve_row, at[7])},
    {"p95", NULL, PACE_SHOW_REAL, PACE_OF(curve_row, at[8])}, {"p99", NULL, PACE_SHOW_REAL, PACE_OF(curve_row, at[9])},
    {"greatest", NULL, PACE_SHOW_REAL, PACE_OF(curve_row, at[10])});

static void put_curve(pace_node *table, pace_sketch *sketch, const char *quantity, const char *class,
                      const char *level) {
    if (sketch->total == 0) return;
    curve_row row = {quantity, class, level, {0}};
    for (int q = 0; q < QUANTILES; q++) row.at[q] = pace_sketch_quantile(sketch, quantiles[q]);
    pace_table_put(table, &row);
}

void pace_put_fleet_curves(pace_node *root, pace_fleet_view *view) {
    pace_node *table = pace_open_table(root, &distributions, 0);
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

/* --- pictures ----------------------------------------------------------------------------------------------------- */

static const char *const component_words[PACE_JOB_COMPONENTS] = {"input", "compute-bound", "memory-bound", "weights"};
enum { POINTS = 100 };

/* One meaning per colour on the page: components as in the matrix, resources as the component that they carry, and
 * classes of jobs in the colours that are left. */
static const pace_class component_colors[PACE_JOB_COMPONENTS] = {PACE_CLASS_COPY, PACE_CLASS_COMPUTE, PACE_CLASS_MEMORY,
                                                                 PACE_CLASS_COMMUNICATION};
static const pace_class resource_colors[PACE_JOB_RESOURCES] = {[PACE_JOB_COMPUTE] = PACE_CLASS_COMPUTE,
                                                               [PACE_JOB_MEMORY] = PACE_CLASS_MEMORY,
                                                               [PACE_JOB_PCIE] = PACE_CLASS_COPY,
                                                               [PACE_JOB_NETWORK] = PACE_CLASS_COMMUNICATION,
                                                               [PACE_JOB_NVLINK] = PACE_CLASS_PATH};
static const pace_class class_colors[PACE_JOB_ARCHITECTURES] = {PACE_CLASS_UPDATE,   PACE_CLASS_HOST,
                                                                PACE_CLASS_INPUT,    PACE_CLASS_WAIT,
                                                                PACE_CLASS_BACKWARD, PACE_CLASS_FORWARD};

/* How much of the weight lies at or below x. */
static void draw_cdf(pace_node *chart, pace_sketch *sketch, int architecture) {
    if (sketch->total == 0) return;
    pace_chart_curve(chart, PACE_CURVE_LINE, "%s", pace_job_architecture_names[architecture]);
    pace_chart_color(chart, class_colors[architecture]);
    for (int i = 0; i <= POINTS; i++)
        pace_chart_point(chart, pace_sketch_quantile(sketch, i / (double)POINTS), i / (double)POINTS);
}

static void draw_sizes(pace_node *section, pace_fleet_view *view) {
    pace_node *cnodes = pace_node_chart(section, "cNodes of a job", "cNodes", PACE_CHART_LOG_X);
    pace_node *weights = pace_node_chart(section, "Weights of a job", "bytes", PACE_CHART_LOG_X);
    for (int a = 0; a < PACE_JOB_ARCHITECTURES; a++) {
        draw_cdf(cnodes, &view->fleet.groups[a].cnode_counts, a);
        draw_cdf(weights, &view->fleet.groups[a].weight_bytes, a);
    }
}

static void draw_shares(pace_node *section, pace_fleet_view *view) {
    static const char *const titles[PACE_JOB_COMPONENTS] = {"input", "compute-bound work", "memory-bound work",
                                                            "weights"};
    static const char *const levels[PACE_LEVELS] = {"by job", "by cNode"};
    for (int k = 0; k < PACE_JOB_COMPONENTS; k++)
        for (int l = 0; l < PACE_LEVELS; l++) {
            char title[64];
            snprintf(title, sizeof title, "Share of %s, %s", titles[k], levels[l]);
            pace_node *chart = pace_node_chart(section, title, "share of a step", 0);
            for (int a = 0; a < PACE_JOB_ARCHITECTURES; a++) draw_cdf(chart, &view->fleet.groups[a].shares[l][k], a);
        }
}

static void draw_breakdown(pace_node *chart, const pace_fleet_group *group, int level, const char *name) {
    if (group->jobs == 0) return;
    pace_chart_curve(chart, PACE_CURVE_LINE, "%s", name);
    for (int k = 0; k < PACE_JOB_COMPONENTS; k++) pace_chart_point(chart, k, pace_fleet_share(group, level, k));
}

static void draw_breakdowns(pace_node *section, const pace_fleet_view *view) {
    static const char *const titles[PACE_LEVELS] = {"What a step consists of, by job",
                                                    "What a step consists of, by cNode"};
    for (int l = 0; l < PACE_LEVELS; l++) {
        pace_node *chart = pace_node_stacks(section, titles[l], component_words, PACE_JOB_COMPONENTS);
        pace_chart_part_colors(chart, component_colors);
        for (int a = 0; a < PACE_JOB_ARCHITECTURES; a++)
            draw_breakdown(chart, &view->fleet.groups[a], l, pace_job_architecture_names[a]);
        draw_breakdown(chart, &view->all, l, "all");
    }
}

static void draw_parts(pace_node *chart, const char *word, const char *name, const pace_sum *shares, uint64_t jobs) {
    pace_chart_curve(chart, PACE_CURVE_LINE, "%s %s", word, name);
    for (int k = 0; k < PACE_JOB_COMPONENTS; k++) pace_chart_point(chart, k, pace_sum_value(&shares[k]) / (double)jobs);
}

static void draw_before_and_after(pace_node *section, const pace_fleet_view *view) {
    if (view->fleet.groups[PACE_JOB_PS_WORKER].jobs == 0) return;
    pace_node *parts = pace_node_stacks(section, "PS/Worker jobs that fit, before a move and as moved", component_words,
                                        PACE_JOB_COMPONENTS);
    pace_chart_part_colors(parts, component_colors);
    for (int t = 0; t < PACE_FLEET_TARGETS; t++) {
        const pace_fleet_projection *p = &view->fleet.projections[t];
        const char *name = pace_job_architecture_names[pace_fleet_targets[t]];
        if (p->single.total == 0) continue;
        draw_parts(parts, "fit", name, p->share_before, p->single.total);
        draw_parts(parts, "as", name, p->share_after, p->single.total);
    }
}

static void draw_moved(pace_node *section, pace_fleet_view *view) {
    if (view->fleet.groups[PACE_JOB_PS_WORKER].jobs == 0) return;
    pace_node *single =
        pace_node_chart(section, "PS/Worker moved: speed-up of one cNode", "speed-up", PACE_CHART_LOG_X);
    pace_node *throughput = pace_node_chart(section, "PS/Worker moved: throughput", "speed-up", PACE_CHART_LOG_X);
    for (int t = 0; t < PACE_FLEET_TARGETS; t++) {
        draw_cdf(single, &view->fleet.projections[t].single, (int)pace_fleet_targets[t]);
        draw_cdf(throughput, &view->fleet.projections[t].throughput, (int)pace_fleet_targets[t]);
    }
}

/* Mean speed-up against the rate relative to the machine's, by resource, of one class of jobs. */
static void draw_sweeps(pace_node *section, const pace_fleet_view *view) {
    const pace_fleet_questions *questions = view->fleet.questions;
    for (int c = 0; c < PACE_FLEET_CLASSES; c++) {
        char title[96];
        if (view->fleet.groups[c].jobs == 0) continue;
        snprintf(title, sizeof title, "Faster hardware: %s", pace_fleet_class_names[c]);
        pace_node *chart = pace_node_chart(section, title, "rate relative to today; mean speed-up of jobs", 0);
        for (int r = 0; r < PACE_JOB_RESOURCES; r++) {
            double base = view->fleet.setting->machine.figure[PACE_FIGURE_RATE + r], before = 0;
            bool begun = false;
            for (size_t q = 0; q < questions->items.count; q++) {
                const pace_fleet_question *question = &questions->items.items[q];
                if (question->kind != PACE_ASKED_HARDWARE || question->resource[0] != r) continue;
                if (!begun) pace_chart_curve(chart, PACE_CURVE_LINE, "%s", pace_job_resource_names[r]);
                if (!begun) pace_chart_color(chart, resource_colors[r]);
                begun = true;
                if (before < base && question->rate[0] > base) pace_chart_point(chart, 1, 1);
                before = question->rate[0];
                pace_chart_point(chart, question->rate[0] / base, pace_fleet_speedup(view, q, c));
            }
        }
    }
}

/* Mean speed-up of jobs by the share of the resource that is made fastest: 1 / (1 - s + s / k) where nothing overlaps.
 */
static void draw_shares_of_resources(pace_node *section, const pace_fleet_view *view) {
    const pace_fleet_questions *questions = view->fleet.questions;
    pace_node *chart = pace_node_chart(section, "Speed-up by the share of the fastest upgrade",
                                       "share of the resource in a step; mean speed-up of jobs", 0);
    for (size_t q = 0; q < questions->items.count; q++) {
        const pace_fleet_question *question = &questions->items.items[q];
        bool fastest = question->kind == PACE_ASKED_HARDWARE;
        for (size_t other = 0; other < questions->items.count; other++)
            fastest = fastest && (questions->items.items[other].kind != PACE_ASKED_HARDWARE ||
                                  questions->items.items[other].resource[0] != question->resource[0] ||
                                  questions->items.items[other].rate[0] <= question->rate[0]);
        if (!fastest) continue;
        const pace_fleet_answer *answer = &view->fleet.answers[q];
        pace_chart_curve(chart, PACE_CURVE_LINE, "%s", question->text);
        pace_chart_color(chart, resource_colors[question->resource[0]]);
        for (int t = 0; t < PACE_SHARE_TENTHS; t++)
            if (answer->tenth_jobs[t] > 0)
                pace_chart_point(chart, (t + 0.5) / PACE_SHARE_TENTHS,
                                 pace_sum_value(&answer->tenth_speedup[t]) / (double)answer->tenth_jobs[t]);
    }
}

void pace_put_fleet_pictures(pace_node *root, pace_fleet_view *view) {
    pace_node *section =
        pace_node_object(root, "pictures", "Where the time goes, and what would help", PACE_FOR_PEOPLE);
    draw_breakdowns(section, view);
    draw_before_and_after(section, view);
    draw_sweeps(section, view);
    draw_shares_of_resources(section, view);
}

void pace_put_fleet_charts(pace_node *root, pace_fleet_view *view) {
    pace_node *section = pace_node_object(root, "distributions_drawn", "Distributions", PACE_FOR_PEOPLE);
    draw_sizes(section, view);
    draw_shares(section, view);
    draw_moved(section, view);
}
