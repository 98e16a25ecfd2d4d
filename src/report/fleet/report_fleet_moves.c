/* What a fleet would be: PS/Worker jobs as other architectures, faster hardware, other software, other assumptions. */
#include "base/print.h"
#include "report/fleet/fleet_parts.h"
#include "report/table.h"

#include <stdio.h>

/* --- architectures ------------------------------------------------------------------------------------------------ */

#define VERDICT(name) PACE_OF(pace_fleet_moved, verdict_share[PACE_PROJECTED_##name])
#define BEFORE(name) PACE_OF(pace_fleet_moved, before_share[PACE_COMPONENT_##name])
#define AFTER(name) PACE_OF(pace_fleet_moved, after_share[PACE_COMPONENT_##name])
#define MOVED(member) PACE_OF(pace_fleet_moved, member)

PACE_TABLE(projections, "projections", "PS/Worker jobs as another architecture", PACE_FOR_ALL, 0,
           {"architecture", "Target", PACE_SHOW_TEXT, MOVED(architecture)},
           {"jobs", "Jobs", PACE_SHOW_INT, MOVED(jobs)}, {"gains_share", "gain", PACE_SHOW_SHARE, VERDICT(GAINS)},
           {"fewer_replicas_share", "fewer replicas", PACE_SHOW_SHARE, VERDICT(FEWER_REPLICAS)},
           {"shared_pcie_share", "shared PCIe", PACE_SHOW_SHARE, VERDICT(SHARED_PCIE)},
           {"slower_share", "both", PACE_SHOW_SHARE, VERDICT(SLOWER)},
           {"too_large_share", "too large", PACE_SHOW_SHARE, VERDICT(TOO_LARGE)},
           {"gains_share_low", NULL, PACE_SHOW_SHARE, MOVED(gains.low)},
           {"gains_share_high", NULL, PACE_SHOW_SHARE, MOVED(gains.high)},
           {"gains_cnodes_share", NULL, PACE_SHOW_SHARE, MOVED(gains_cnodes_share)},
           {"single_speedup_mean", NULL, PACE_SHOW_REAL, MOVED(single_speedup.middle)},
           {"single_speedup_mean_low", NULL, PACE_SHOW_REAL, MOVED(single_speedup.low)},
           {"single_speedup_mean_high", NULL, PACE_SHOW_REAL, MOVED(single_speedup.high)},
           {"single_speedup_median", "One cNode, times", PACE_SHOW_REAL, MOVED(single_median)},
           {"throughput_speedup_mean", NULL, PACE_SHOW_REAL, MOVED(throughput_speedup.middle)},
           {"throughput_speedup_mean_low", NULL, PACE_SHOW_REAL, MOVED(throughput_speedup.low)},
           {"throughput_speedup_mean_high", NULL, PACE_SHOW_REAL, MOVED(throughput_speedup.high)},
           {"throughput_speedup_p10", NULL, PACE_SHOW_REAL, MOVED(throughput_p10)},
           {"throughput_speedup_median", "Throughput, times", PACE_SHOW_REAL, MOVED(throughput_median)},
           {"throughput_speedup_p90", NULL, PACE_SHOW_REAL, MOVED(throughput_p90)},
           {"saved_gpu_hours", NULL, PACE_SHOW_REAL, MOVED(saved_hours)},
           {"saved_share", "GPU-hours saved", PACE_SHOW_SHARE, MOVED(saved_share.middle)},
           {"saved_share_low", NULL, PACE_SHOW_SHARE, MOVED(saved_share.low)},
           {"saved_share_high", NULL, PACE_SHOW_SHARE, MOVED(saved_share.high)},
           {"input_before_share", NULL, PACE_SHOW_SHARE, BEFORE(INPUT)},
           {"compute_bound_before_share", NULL, PACE_SHOW_SHARE, BEFORE(COMPUTE)},
           {"memory_bound_before_share", NULL, PACE_SHOW_SHARE, BEFORE(MEMORY)},
           {"weights_before_share", NULL, PACE_SHOW_SHARE, BEFORE(WEIGHTS)},
           {"input_after_share", NULL, PACE_SHOW_SHARE, AFTER(INPUT)},
           {"compute_bound_after_share", NULL, PACE_SHOW_SHARE, AFTER(COMPUTE)},
           {"memory_bound_after_share", NULL, PACE_SHOW_SHARE, AFTER(MEMORY)},
           {"weights_after_share", NULL, PACE_SHOW_SHARE, AFTER(WEIGHTS)});

PACE_TABLE(projection_bounds, "projection_bounds", "PS/Worker jobs as another architecture: 90 % intervals and means",
           PACE_FOR_PEOPLE, 0, {"architecture", "Target", PACE_SHOW_TEXT, MOVED(architecture)},
           {"gains_low", "gain from", PACE_SHOW_SHARE, MOVED(gains.low)},
           {"gains_high", "to", PACE_SHOW_SHARE, MOVED(gains.high)},
           {"single_speedup_mean", "One cNode", PACE_SHOW_REAL, MOVED(single_speedup.middle)},
           {"single_low", "from", PACE_SHOW_REAL, MOVED(single_speedup.low)},
           {"single_high", "to", PACE_SHOW_REAL, MOVED(single_speedup.high)},
           {"throughput_speedup_mean", "Throughput", PACE_SHOW_REAL, MOVED(throughput_speedup.middle)},
           {"throughput_low", "from", PACE_SHOW_REAL, MOVED(throughput_speedup.low)},
           {"throughput_high", "to", PACE_SHOW_REAL, MOVED(throughput_speedup.high)},
           {"saved_low", "GPU-hours saved", PACE_SHOW_SHARE, MOVED(saved_share.low)},
           {"saved_high", "to", PACE_SHOW_SHARE, MOVED(saved_share.high)});

typedef struct {
    char name[64];
    double share[PACE_JOB_COMPONENTS];
} mean_step;

PACE_TABLE(before_and_after, "before_and_after", "Mean share of a step, before and after", PACE_FOR_PEOPLE, 0,
           {"jobs", "Jobs that fit", PACE_SHOW_TEXT, PACE_OF(mean_step, name)},
           {"input_share", "Input", PACE_SHOW_SHARE, PACE_OF(mean_step, share[PACE_COMPONENT_INPUT])},
           {"compute_bound_share", "Compute-bound", PACE_SHOW_SHARE, PACE_OF(mean_step, share[PACE_COMPONENT_COMPUTE])},
           {"memory_bound_share", "Memory-bound", PACE_SHOW_SHARE, PACE_OF(mean_step, share[PACE_COMPONENT_MEMORY])},
           {"weights_share", "Weights", PACE_SHOW_SHARE, PACE_OF(mean_step, share[PACE_COMPONENT_WEIGHTS])});

static void put_mean_step(pace_node *table, const char *name, const char *when,
                          const double share[PACE_JOB_COMPONENTS]) {
    mean_step step;
    snprintf(step.name, sizeof step.name, "%s: %s", name, when);
    for (int k = 0; k < PACE_JOB_COMPONENTS; k++) step.share[k] = share[k];
    pace_table_put(table, &step);
}

void pace_put_fleet_projections(pace_node *root, pace_fleet_view *view) {
    pace_node *table = pace_open_table(root, &projections, 0);
    if (view->fleet.groups[PACE_JOB_PS_WORKER].jobs == 0) return;
    pace_node *bounds = pace_open_table(root, &projection_bounds, 0);
    pace_node *steps = pace_open_table(root, &before_and_after, 0);
    for (int t = 0; t < PACE_FLEET_TARGETS; t++) {
        pace_fleet_moved moved = pace_fleet_moved_to(view, t);
        pace_table_put(table, &moved);
        pace_table_put(bounds, &moved);
        put_mean_step(steps, moved.architecture, "before", moved.before_share);
        put_mean_step(steps, moved.architecture, "after", moved.after_share);
    }
    pace_node_note(
        root, "A job gains if it trains more samples per second. The others lose because fewer replicas fit, because "
              "replicas share the host link, or both. Speed-ups are medians. Saved: PS/Worker GPU-hours for the same "
              "samples when only the jobs that gain move.");
}

/* --- questions ---------------------------------------------------------------------------------------------------- */

/* Flags of a table of questions: bit CLASS where the fleet has such jobs, and these. */
enum { PRICED = 1 << PACE_FLEET_CLASSES, SAVED = 2 << PACE_FLEET_CLASSES };

#define GAIN(member) PACE_OF(pace_fleet_gain, member)
#define SPEEDUP(class, key, title)                                                       \
    {key, title, PACE_SHOW_REAL, GAIN(speedup[class].middle), .shown_if = 1 << (class)}, \
        {key "_low", NULL, PACE_SHOW_REAL, GAIN(speedup[class].low)}, {                  \
        key "_high", NULL, PACE_SHOW_REAL, GAIN(speedup[class].high)                     \
    }

static const pace_table_column gain_columns[] = {
    {"change", "Change", PACE_SHOW_TEXT, GAIN(change)},
    {"resource", NULL, PACE_SHOW_TEXT, GAIN(resource)},
    {"rate", NULL, PACE_SHOW_REAL, GAIN(rate)},
    SPEEDUP(PACE_JOB_1W1G, "1w1g_speedup", "1w1g"),
    SPEEDUP(PACE_JOB_1WNG, "1wng_speedup", "1wng"),
    SPEEDUP(PACE_JOB_PS_WORKER, "ps_worker_speedup", "PS/Worker"),
    SPEEDUP(PACE_JOB_ALLREDUCE_LOCAL, "allreduce_local_speedup", "AllReduce local"),
    SPEEDUP(PACE_JOB_ALLREDUCE_CLUSTER, "allreduce_cluster_speedup", "cluster"),
    SPEEDUP(PACE_JOB_PEARL, "pearl_speedup", "PEARL"),
    SPEEDUP(PACE_CLASS_PROJECTED, "ps_worker_as_allreduce_local_speedup", "PS as local"),
    {"cnode_speedup", NULL, PACE_SHOW_REAL, GAIN(cnode_speedup.middle)},
    {"cnode_speedup_low", NULL, PACE_SHOW_REAL, GAIN(cnode_speedup.low)},
    {"cnode_speedup_high", NULL, PACE_SHOW_REAL, GAIN(cnode_speedup.high)},
    {"saved_gpu_hours", NULL, PACE_SHOW_REAL, GAIN(saved_hours)},
    {"saved_share", "GPU-hours saved", PACE_SHOW_SHARE, GAIN(saved_share.middle)},
    {"saved_share_low", NULL, PACE_SHOW_SHARE, GAIN(saved_share.low)},
    {"saved_share_high", NULL, PACE_SHOW_SHARE, GAIN(saved_share.high)},
    {"price_per_cnode", "Price per cNode", PACE_SHOW_REAL, GAIN(price), .shown_if = PRICED},
    {"price_per_saved_gpu_hour", "per saved GPU-hour", PACE_SHOW_REAL, GAIN(price_per_hour.middle), .shown_if = PRICED},
    {"price_per_saved_gpu_hour_low", NULL, PACE_SHOW_REAL, GAIN(price_per_hour.low)},
    {"price_per_saved_gpu_hour_high", NULL, PACE_SHOW_REAL, GAIN(price_per_hour.high)},
    {"confidence", NULL, PACE_SHOW_TEXT, GAIN(confidence)},
    {0}};

/* Tables by pace_asked_kind. */
static const pace_table gains[PACE_ASKED_KINDS] = {
    [PACE_ASKED_HARDWARE] = {"sweeps", "One resource made faster or slower: mean speed-up of jobs", PACE_FOR_ALL, 0,
                             .columns = gain_columns},
    [PACE_ASKED_PAIR] = {"pairs", "Two resources at their highest rate: mean speed-up of jobs", PACE_FOR_ALL, 0,
                         .columns = gain_columns},
    [PACE_ASKED_SOFTWARE] = {"software", "Other software: mean speed-up of jobs", PACE_FOR_ALL, 0,
                             .columns = gain_columns}};

#define BOUNDS(class, title)                                                             \
    {"low", title, PACE_SHOW_REAL, GAIN(speedup[class].low), .only_if = 1 << (class)}, { \
        "high", "to", PACE_SHOW_REAL, GAIN(speedup[class].high), .only_if = 1 << (class) \
    }

/* People see the bounds in tables of their own: beside each figure they would not fit on a screen. */
PACE_TABLE(gain_bounds, "bounds", NULL, PACE_FOR_PEOPLE, 0, {"change", "Change", PACE_SHOW_TEXT, GAIN(change)},
           BOUNDS(PACE_JOB_1W1G, "1w1g from"), BOUNDS(PACE_JOB_1WNG, "1wng from"),
           BOUNDS(PACE_JOB_PS_WORKER, "PS/Worker from"), BOUNDS(PACE_JOB_ALLREDUCE_LOCAL, "local from"),
           BOUNDS(PACE_JOB_ALLREDUCE_CLUSTER, "cluster from"), BOUNDS(PACE_JOB_PEARL, "PEARL from"),
           BOUNDS(PACE_CLASS_PROJECTED, "PS as local from"),
           {"saved_low", "saved from", PACE_SHOW_SHARE, GAIN(saved_share.low), .only_if = SAVED},
           {"saved_high", "to", PACE_SHOW_SHARE, GAIN(saved_share.high), .only_if = SAVED});

/* The next three classes of those that a fleet has, taken from `*left`. */
static unsigned next_classes(unsigned *left) {
    unsigned taken = 0;
    for (int c = 0, count = 0; c < PACE_FLEET_CLASSES && count < 3; c++) {
        count += (*left >> c) & 1;
        taken |= *left & (1u << c);
    }
    *left &= ~taken;
    return taken;
}

/* "One resource, 90 % intervals: 1w1g, 1wng" */
static void bounds_title(char *out, size_t size, pace_asked_kind kind, unsigned classes) {
    static const char *const names[PACE_FLEET_CLASSES] = {"1w1g",    "1wng",  "PS/Worker",  "AllReduce local",
                                                          "cluster", "PEARL", "PS as local"};
    static const char *const asked[PACE_ASKED_KINDS] = {"One resource", "Two resources", "Other software"};
    pace_snprintf(out, size, "%s, 90 %% intervals", asked[kind]);
    for (int c = 0, count = 0; c < PACE_FLEET_CLASSES; c++)
        if (classes >> c & 1) pace_append(out, size, "%s%s", count++ ? ", " : ": ", names[c]);
}

static void put_gains(pace_node *table, const pace_fleet_view *view, pace_asked_kind kind) {
    for (size_t q = 0; q < view->fleet.questions->items.count; q++)
        if (view->fleet.questions->items.items[q].kind == kind)
            pace_table_put(table, &(pace_fleet_gain[]){pace_fleet_gain_of(view, q)});
}

static void put_kind(pace_node *root, const pace_fleet_view *view, pace_asked_kind kind) {
    unsigned classes = 0, priced = 0, saved = SAVED;
    PACE_ITEMS (const pace_fleet_question, question, &view->fleet.questions->items)
        if (question->kind == kind && question->price > 0) priced = PRICED;
    for (int c = 0; c < PACE_FLEET_CLASSES; c++)
        if (view->fleet.groups[c].jobs > 0) classes |= 1u << c;
    put_gains(pace_open_table(root, &gains[kind], classes | priced), view, kind);
    for (; classes; saved = 0) {
        unsigned shown = next_classes(&classes);
        char title[160];
        bounds_title(title, sizeof title, kind, shown);
        put_gains(pace_open_table_as(root, &gain_bounds, shown | saved, title), view, kind);
    }
}

PACE_TABLE(sensitivity, "sensitivity", "The resource that matters most", PACE_FOR_ALL, 0,
           {"class", "Jobs", PACE_SHOW_TEXT, PACE_OF(pace_fleet_sensitivity, class)},
           {"resource", "Most sensitive to", PACE_SHOW_TEXT, PACE_OF(pace_fleet_sensitivity, resource)},
           {"rate", NULL, PACE_SHOW_REAL, PACE_OF(pace_fleet_sensitivity, rate)},
           {"change", "at", PACE_SHOW_TEXT, PACE_OF(pace_fleet_sensitivity, change)},
           {"speedup", "Mean speed-up", PACE_SHOW_REAL, PACE_OF(pace_fleet_sensitivity, speedup.middle)},
           {"speedup_low", "from", PACE_SHOW_REAL, PACE_OF(pace_fleet_sensitivity, speedup.low)},
           {"speedup_high", "to", PACE_SHOW_REAL, PACE_OF(pace_fleet_sensitivity, speedup.high)});

static void put_sensitivity(pace_node *root, const pace_fleet_view *view) {
    pace_node *table = pace_open_table(root, &sensitivity, 0);
    pace_fleet_sensitivity row;
    for (int c = 0; c < PACE_FLEET_CLASSES; c++)
        if (pace_fleet_sensitivity_of(&row, view, c)) pace_table_put(table, &row);
}

PACE_TABLE(speedup_by_share, "speedup_by_share", NULL, PACE_FOR_JSON, 0,
           {"change", "Change", PACE_SHOW_TEXT, PACE_OF(pace_fleet_tenth, change)},
           {"resource", NULL, PACE_SHOW_TEXT, PACE_OF(pace_fleet_tenth, resource)},
           {"rate", NULL, PACE_SHOW_REAL, PACE_OF(pace_fleet_tenth, rate)},
           {"from_share", "Share from", PACE_SHOW_SHARE, PACE_OF(pace_fleet_tenth, from_share)},
           {"to_share", "to", PACE_SHOW_SHARE, PACE_OF(pace_fleet_tenth, to_share)},
           {"jobs", "Jobs", PACE_SHOW_INT, PACE_OF(pace_fleet_tenth, jobs)},
           {"speedup", "Mean speed-up", PACE_SHOW_REAL, PACE_OF(pace_fleet_tenth, speedup.middle)},
           {"speedup_low", NULL, PACE_SHOW_REAL, PACE_OF(pace_fleet_tenth, speedup.low)},
           {"speedup_high", NULL, PACE_SHOW_REAL, PACE_OF(pace_fleet_tenth, speedup.high)});

/* Speed-up against the share of the resource that is made faster. */
static void put_tenths(pace_node *root, const pace_fleet_view *view) {
    pace_node *table = pace_open_table(root, &speedup_by_share, 0);
    for (size_t q = 0; q < view->fleet.questions->items.count; q++) {
        if (view->fleet.questions->items.items[q].kind != PACE_ASKED_HARDWARE) continue;
        for (int t = 0; t < PACE_SHARE_TENTHS; t++)
            if (view->fleet.answers[q].tenth_jobs[t] > 0)
                pace_table_put(table, &(pace_fleet_tenth[]){pace_fleet_tenth_of(view, q, t)});
    }
}

void pace_put_fleet_questions(pace_node *root, const pace_fleet_view *view) {
    put_kind(root, view, PACE_ASKED_HARDWARE);
    put_sensitivity(root, view);
    put_kind(root, view, PACE_ASKED_PAIR);
    put_kind(root, view, PACE_ASKED_SOFTWARE);
    put_tenths(root, view);
}

/* --- assumptions -------------------------------------------------------------------------------------------------- */

PACE_TABLE(assumptions, "assumptions", "Conclusions under other assumptions", PACE_FOR_ALL, 0,
           {"assumption", "Assumed", PACE_SHOW_TEXT, PACE_OF(pace_fleet_assumed, assumption)},
           {"weights_job_share", "Weights, jobs", PACE_SHOW_SHARE, PACE_OF(pace_fleet_assumed, weights_job_share)},
           {"weights_cnode_share", "Weights, cNodes", PACE_SHOW_SHARE,
            PACE_OF(pace_fleet_assumed, weights_cnode_share)},
           {"weights_longest_cnode_share", "longest, cNodes", PACE_SHOW_SHARE,
            PACE_OF(pace_fleet_assumed, weights_longest_cnode_share)},
           {"ps_gains_share", "PS gain as local", PACE_SHOW_SHARE, PACE_OF(pace_fleet_assumed, ps_gains_share)},
           {"ps_network_speedup", "PS on fast network", PACE_SHOW_REAL,
            PACE_OF(pace_fleet_assumed, ps_network_speedup)},
           {"confidence", "Confidence", PACE_SHOW_TEXT, PACE_OF(pace_fleet_assumed, confidence)});

void pace_put_fleet_assumptions(pace_node *root, const pace_fleet_view *view) {
    pace_node *table = pace_open_table(root, &assumptions, 0);
    for (size_t a = 0; a < view->fleet.questions->assumptions.count; a++)
        pace_table_put(table, &(pace_fleet_assumed[]){pace_fleet_assumed_of(view, a)});
}
