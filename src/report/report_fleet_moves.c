/* What a fleet would be: PS/Worker jobs as other architectures, faster hardware, other software, other assumptions. */
#include "report/fleet_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static double part_of(double part, double whole) { return whole > 0 ? part / whole : NAN; }

/* --- architectures ------------------------------------------------------------------------------------------------ */

static const pace_column projection_columns[] = {
    {"architecture", "As", PACE_SHOW_TEXT},
    {"jobs", "Jobs", PACE_SHOW_INT},
    {"gains_share", "gain", PACE_SHOW_SHARE},
    {"fewer_replicas_share", "fewer replicas", PACE_SHOW_SHARE},
    {"shared_pcie_share", "shared PCIe", PACE_SHOW_SHARE},
    {"slower_share", "both", PACE_SHOW_SHARE},
    {"too_large_share", "too large", PACE_SHOW_SHARE},
    {"gains_share_low", NULL, PACE_SHOW_SHARE},
    {"gains_share_high", NULL, PACE_SHOW_SHARE},
    {"gains_cnodes_share", NULL, PACE_SHOW_SHARE},
    {"single_speedup_mean", NULL, PACE_SHOW_REAL},
    {"single_speedup_mean_low", NULL, PACE_SHOW_REAL},
    {"single_speedup_mean_high", NULL, PACE_SHOW_REAL},
    {"single_speedup_median", "One cNode, times", PACE_SHOW_REAL},
    {"throughput_speedup_mean", NULL, PACE_SHOW_REAL},
    {"throughput_speedup_mean_low", NULL, PACE_SHOW_REAL},
    {"throughput_speedup_mean_high", NULL, PACE_SHOW_REAL},
    {"throughput_speedup_p10", NULL, PACE_SHOW_REAL},
    {"throughput_speedup_median", "Throughput, times", PACE_SHOW_REAL},
    {"throughput_speedup_p90", NULL, PACE_SHOW_REAL},
    {"saved_gpu_hours", NULL, PACE_SHOW_REAL},
    {"saved_share", "GPU-hours saved", PACE_SHOW_SHARE},
    {"saved_share_low", NULL, PACE_SHOW_SHARE},
    {"saved_share_high", NULL, PACE_SHOW_SHARE},
    {"input_before_share", NULL, PACE_SHOW_SHARE},
    {"compute_bound_before_share", NULL, PACE_SHOW_SHARE},
    {"memory_bound_before_share", NULL, PACE_SHOW_SHARE},
    {"weights_before_share", NULL, PACE_SHOW_SHARE},
    {"input_after_share", NULL, PACE_SHOW_SHARE},
    {"compute_bound_after_share", NULL, PACE_SHOW_SHARE},
    {"memory_bound_after_share", NULL, PACE_SHOW_SHARE},
    {"weights_after_share", NULL, PACE_SHOW_SHARE},
};

static double fitting(const pace_fleet_projection *p, const pace_fleet_group *ps) {
    return (double)(ps->jobs - p->verdicts[PACE_LEVEL_JOB][PACE_PROJECTED_TOO_LARGE]);
}

pace_fleet_range pace_fleet_moved_saves(const pace_fleet_projection *p) {
    return pace_fleet_saved(pace_sum_value(&p->hours_before), pace_fleet_factor(&p->hours_after, &p->after_error, 1));
}

pace_fleet_range pace_fleet_gains(const pace_fleet_projection *p, const pace_fleet_group *ps) {
    double jobs = (double)ps->jobs;
    return (pace_fleet_range){part_of((double)p->verdicts[PACE_LEVEL_JOB][PACE_PROJECTED_GAINS], jobs),
                              part_of((double)p->least_gains, jobs), part_of((double)p->most_gains, jobs)};
}

static void put_projection(pace_node *table, pace_fleet_projection *p, const pace_fleet_group *ps, const char *name) {
    static const pace_projected_verdict order[] = {PACE_PROJECTED_GAINS, PACE_PROJECTED_FEWER_REPLICAS,
                                                   PACE_PROJECTED_SHARED_PCIE, PACE_PROJECTED_SLOWER,
                                                   PACE_PROJECTED_TOO_LARGE};
    double jobs = (double)ps->jobs, fits = fitting(p, ps);
    double before = pace_sum_value(&p->hours_before), after = pace_sum_value(&p->hours_after);
    pace_table_row(table);
    pace_table_text(table, name);
    pace_table_int(table, (int64_t)ps->jobs);
    for (size_t v = 0; v < COUNT(order); v++)
        pace_table_real(table, part_of((double)p->verdicts[PACE_LEVEL_JOB][order[v]], jobs));
    pace_table_bounds(table, pace_fleet_gains(p, ps));
    pace_table_real(table, part_of((double)p->verdicts[PACE_LEVEL_CNODE][PACE_PROJECTED_GAINS], (double)ps->cnodes));
    pace_table_range(table, pace_fleet_factor(&p->single_speedup, &p->single_error, fits));
    pace_table_real(table, pace_sketch_quantile(&p->single, 0.5));
    pace_table_range(table, pace_fleet_factor(&p->throughput_speedup, &p->throughput_error, fits));
    for (int q = 1; q <= 9; q += 4) pace_table_real(table, pace_sketch_quantile(&p->throughput, q / 10.0));
    pace_table_real(table, before - after);
    pace_table_range(table, pace_fleet_moved_saves(p));
    for (int k = 0; k < PACE_JOB_COMPONENTS; k++)
        pace_table_real(table, part_of(pace_sum_value(&p->share_before[k]), fits));
    for (int k = 0; k < PACE_JOB_COMPONENTS; k++)
        pace_table_real(table, part_of(pace_sum_value(&p->share_after[k]), fits));
}

static const pace_column projection_bounds[] = {
    {"architecture", "As", PACE_SHOW_TEXT},
    {"gains_low", "gain from", PACE_SHOW_SHARE},
    {"gains_high", "to", PACE_SHOW_SHARE},
    {"single_speedup_mean", "One cNode", PACE_SHOW_REAL},
    {"single_low", "from", PACE_SHOW_REAL},
    {"single_high", "to", PACE_SHOW_REAL},
    {"throughput_speedup_mean", "Throughput", PACE_SHOW_REAL},
    {"throughput_low", "from", PACE_SHOW_REAL},
    {"throughput_high", "to", PACE_SHOW_REAL},
    {"saved_low", "GPU-hours saved, from", PACE_SHOW_SHARE},
    {"saved_high", "to", PACE_SHOW_SHARE},
};

static void put_projection_bounds(pace_node *root, const pace_fleet_view *view) {
    pace_node *table = pace_node_table(root, "projection_bounds", "Their 90 % intervals, with mean speed-ups",
                                       PACE_FOR_PEOPLE, PACE_COLUMNS(projection_bounds), 0);
    const pace_fleet_group *ps = &view->fleet.groups[PACE_JOB_PS_WORKER];
    for (int t = 0; t < PACE_FLEET_TARGETS; t++) {
        const pace_fleet_projection *p = &view->fleet.projections[t];
        pace_table_row(table);
        pace_table_text(table, pace_job_architecture_names[pace_fleet_targets[t]]);
        pace_table_bounds(table, pace_fleet_gains(p, ps));
        pace_table_range(table, pace_fleet_factor(&p->single_speedup, &p->single_error, fitting(p, ps)));
        pace_table_range(table, pace_fleet_factor(&p->throughput_speedup, &p->throughput_error, fitting(p, ps)));
        pace_table_bounds(table, pace_fleet_moved_saves(p));
    }
}

static const pace_column before_columns[] = {
    {"jobs", "Jobs that fit", PACE_SHOW_TEXT},
    {"input_share", "Input", PACE_SHOW_SHARE},
    {"compute_bound_share", "Compute-bound", PACE_SHOW_SHARE},
    {"memory_bound_share", "Memory-bound", PACE_SHOW_SHARE},
    {"weights_share", "Weights", PACE_SHOW_SHARE},
};

static void put_shares(pace_node *table, const char *name, const pace_sum share[PACE_JOB_COMPONENTS], double jobs) {
    pace_table_row(table);
    pace_table_text(table, name);
    for (int k = 0; k < PACE_JOB_COMPONENTS; k++) pace_table_real(table, part_of(pace_sum_value(&share[k]), jobs));
}

static void put_before_and_after(pace_node *root, const pace_fleet_view *view) {
    pace_node *table = pace_node_table(root, "before_and_after", "Mean share of a step, before and after",
                                       PACE_FOR_PEOPLE, PACE_COLUMNS(before_columns), 0);
    for (int t = 0; t < PACE_FLEET_TARGETS; t++) {
        const pace_fleet_projection *p = &view->fleet.projections[t];
        const char *target = pace_job_architecture_names[pace_fleet_targets[t]];
        double jobs = fitting(p, &view->fleet.groups[PACE_JOB_PS_WORKER]);
        char name[64];
        snprintf(name, sizeof name, "%s: before", target);
        put_shares(table, name, p->share_before, jobs);
        snprintf(name, sizeof name, "%s: after", target);
        put_shares(table, name, p->share_after, jobs);
    }
}

void pace_put_fleet_projections(pace_node *root, pace_fleet_view *view) {
    pace_node *table = pace_node_table(root, "projections", "PS/Worker jobs as another architecture", PACE_FOR_ALL,
                                       PACE_COLUMNS(projection_columns), 0);
    const pace_fleet_group *ps = &view->fleet.groups[PACE_JOB_PS_WORKER];
    for (int t = 0; t < PACE_FLEET_TARGETS && ps->jobs > 0; t++)
        put_projection(table, &view->fleet.projections[t], ps, pace_job_architecture_names[pace_fleet_targets[t]]);
    if (ps->jobs == 0) return;
    put_projection_bounds(root, view);
    put_before_and_after(root, view);
    pace_node_note(
        root, "A job gains when it trains more samples per second; the others lose by fewer replicas, by replicas that "
              "share the host link, or by both. Speed-ups are medians. Saved: GPU-hours of as many samples when "
              "the jobs that gain move and the others stay, of all of PS/Worker.");
}

/* --- questions ---------------------------------------------------------------------------------------------------- */

double pace_fleet_speedup(const pace_fleet_view *view, size_t question, int level, int class) {
    return part_of(pace_sum_value(&view->fleet.answers[question].speedup[level][class]),
                   (double)pace_fleet_weight(&view->fleet.groups[class], level));
}

static pace_fleet_range speedup(const pace_fleet_view *view, size_t question, int level, int class) {
    const pace_fleet_answer *a = &view->fleet.answers[question];
    return pace_fleet_factor(&a->speedup[level][class], &a->speedup_error[level][class],
                             (double)pace_fleet_weight(&view->fleet.groups[class], level));
}

/* Over all architectures. */
static pace_fleet_range cnode_speedup(const pace_fleet_view *view, size_t question) {
    const pace_fleet_answer *answer = &view->fleet.answers[question];
    pace_sum sum = {0}, error = {0};
    for (int a = 0; a < PACE_JOB_ARCHITECTURES; a++) {
        pace_sum_merge(&sum, &answer->speedup[PACE_LEVEL_CNODE][a]);
        pace_sum_merge(&error, &answer->speedup_error[PACE_LEVEL_CNODE][a]);
    }
    return pace_fleet_factor(&sum, &error, (double)view->all.cnodes);
}

pace_fleet_range pace_fleet_saved_share(const pace_fleet_view *view, size_t question) {
    const pace_fleet_answer *answer = &view->fleet.answers[question];
    pace_sum after = {0}, error = {0};
    for (int a = 0; a < PACE_JOB_ARCHITECTURES; a++) {
        pace_sum_merge(&after, &answer->hours[a]);
        pace_sum_merge(&error, &answer->hours_error[a]);
    }
    return pace_fleet_saved(pace_sum_value(&view->all.hours), pace_fleet_factor(&after, &error, 1));
}

static double saved_hours(const pace_fleet_view *view, size_t question) {
    double hours = pace_sum_value(&view->all.hours);
    for (int a = 0; a < PACE_JOB_ARCHITECTURES; a++) hours -= pace_sum_value(&view->fleet.answers[question].hours[a]);
    return hours;
}

int pace_fleet_best(const pace_fleet_view *view, pace_asked_kind kind) {
    int best = -1;
    for (size_t q = 0; q < view->fleet.questions->items.count; q++) {
        const pace_fleet_question *question = &view->fleet.questions->items.items[q];
        if (question->kind != kind || strcmp(question->confidence, "low") == 0) continue;
        if (best < 0 || saved_hours(view, q) > saved_hours(view, (size_t)best)) best = (int)q;
    }
    return best;
}

static const pace_column answer_columns[] = {
    {"change", "If", PACE_SHOW_TEXT},
    {"resource", NULL, PACE_SHOW_TEXT},
    {"rate", NULL, PACE_SHOW_REAL},
    {"1w1g_speedup", "1w1g", PACE_SHOW_REAL},
    {"1w1g_speedup_low", NULL, PACE_SHOW_REAL},
    {"1w1g_speedup_high", NULL, PACE_SHOW_REAL},
    {"1wng_speedup", "1wng", PACE_SHOW_REAL},
    {"1wng_speedup_low", NULL, PACE_SHOW_REAL},
    {"1wng_speedup_high", NULL, PACE_SHOW_REAL},
    {"ps_worker_speedup", "PS/Worker", PACE_SHOW_REAL},
    {"ps_worker_speedup_low", NULL, PACE_SHOW_REAL},
    {"ps_worker_speedup_high", NULL, PACE_SHOW_REAL},
    {"allreduce_local_speedup", "AllReduce local", PACE_SHOW_REAL},
    {"allreduce_local_speedup_low", NULL, PACE_SHOW_REAL},
    {"allreduce_local_speedup_high", NULL, PACE_SHOW_REAL},
    {"allreduce_cluster_speedup", "cluster", PACE_SHOW_REAL},
    {"allreduce_cluster_speedup_low", NULL, PACE_SHOW_REAL},
    {"allreduce_cluster_speedup_high", NULL, PACE_SHOW_REAL},
    {"pearl_speedup", "PEARL", PACE_SHOW_REAL},
    {"pearl_speedup_low", NULL, PACE_SHOW_REAL},
    {"pearl_speedup_high", NULL, PACE_SHOW_REAL},
    {"ps_worker_as_allreduce_local_speedup", "PS as local", PACE_SHOW_REAL},
    {"ps_worker_as_allreduce_local_speedup_low", NULL, PACE_SHOW_REAL},
    {"ps_worker_as_allreduce_local_speedup_high", NULL, PACE_SHOW_REAL},
    {"cnode_speedup", NULL, PACE_SHOW_REAL},
    {"cnode_speedup_low", NULL, PACE_SHOW_REAL},
    {"cnode_speedup_high", NULL, PACE_SHOW_REAL},
    {"saved_gpu_hours", NULL, PACE_SHOW_REAL},
    {"saved_share", "GPU-hours saved", PACE_SHOW_SHARE},
    {"saved_share_low", NULL, PACE_SHOW_SHARE},
    {"saved_share_high", NULL, PACE_SHOW_SHARE},
    {"price_per_cnode", "Price a cNode", PACE_SHOW_REAL},
    {"price_per_saved_gpu_hour", "a saved GPU-hour", PACE_SHOW_REAL},
    {"price_per_saved_gpu_hour_low", NULL, PACE_SHOW_REAL},
    {"price_per_saved_gpu_hour_high", NULL, PACE_SHOW_REAL},
    {"confidence", NULL, PACE_SHOW_TEXT},
};

enum { FIRST_CLASS = 3, CLASS_CELLS = 3 }; /* of answer_columns */

/* Bounds of what is saved, not of the price; nothing where it may save nothing. */
static void put_price(pace_node *table, const pace_fleet_view *view, double price, pace_fleet_range saved) {
    double whole = price * (double)view->all.cnodes, hours = pace_sum_value(&view->all.hours);
    pace_table_real(table, price);
    pace_table_real(table, saved.middle > 0 ? whole / (saved.middle * hours) : NAN);
    pace_table_real(table, saved.high > 0 ? whole / (saved.high * hours) : NAN);
    pace_table_real(table, saved.low > 0 ? whole / (saved.low * hours) : NAN);
}

static void put_question(pace_node *table, const pace_fleet_view *view, size_t q) {
    const pace_fleet_question *question = &view->fleet.questions->items.items[q];
    pace_table_row(table);
    pace_table_text(table, question->text);
    pace_table_text(table, question->resource[0] < 0 ? question->name : pace_job_resource_names[question->resource[0]]);
    pace_table_real(table, question->resource[0] < 0 ? NAN : question->rate[0]);
    for (int c = 0; c < PACE_FLEET_CLASSES; c++) pace_table_range(table, speedup(view, q, PACE_LEVEL_JOB, c));
    pace_table_range(table, cnode_speedup(view, q));
    pace_table_real(table, saved_hours(view, q));
    pace_table_range(table, pace_fleet_saved_share(view, q));
    put_price(table, view, question->price, pace_fleet_saved_share(view, q));
    pace_table_text(table, question->confidence);
}

/* People see the classes that there are, and prices where some were given. */
static void hide_columns(pace_column *columns, const pace_fleet_view *view, pace_asked_kind kind) {
    bool priced = false;
    for (size_t q = 0; q < view->fleet.questions->items.count; q++) {
        const pace_fleet_question *question = &view->fleet.questions->items.items[q];
        priced = priced || (question->kind == kind && question->price > 0);
    }
    for (int c = 0; c < PACE_FLEET_CLASSES; c++)
        if (view->fleet.groups[c].jobs == 0) columns[FIRST_CLASS + CLASS_CELLS * c].title = NULL;
    if (priced) return;
    for (size_t i = 0; i < COUNT(answer_columns); i++)
        if (strncmp(columns[i].key, "price", 5) == 0) columns[i].title = NULL;
}

enum { CLASSES_SHOWN = 3 }; /* beside each other */

static void put_bounds_of(pace_node *root, const pace_fleet_view *view, pace_asked_kind kind, const int *classes,
                          int count, bool saved) {
    static const char *const from[PACE_FLEET_CLASSES] = {"1w1g from",    "1wng from",  "PS/Worker from",  "local from",
                                                         "cluster from", "PEARL from", "PS as local from"};
    pace_column columns[3 + 2 * CLASSES_SHOWN] = {{"change", "If", PACE_SHOW_TEXT}};
    size_t used = 1;
    for (int c = 0; c < count; c++) {
        columns[used++] = (pace_column){"low", from[classes[c]], PACE_SHOW_REAL};
        columns[used++] = (pace_column){"high", "to", PACE_SHOW_REAL};
    }
    if (saved) columns[used++] = (pace_column){"saved_low", "saved from", PACE_SHOW_SHARE};
    if (saved) columns[used++] = (pace_column){"saved_high", "to", PACE_SHOW_SHARE};
    pace_node *table = pace_node_table(root, "bounds", "Their 90 % intervals", PACE_FOR_PEOPLE, columns, used, 0);
    for (size_t q = 0; q < view->fleet.questions->items.count; q++) {
        if (view->fleet.questions->items.items[q].kind != kind) continue;
        pace_table_row(table);
        pace_table_text(table, view->fleet.questions->items.items[q].text);
        for (int c = 0; c < count; c++) pace_table_bounds(table, speedup(view, q, PACE_LEVEL_JOB, classes[c]));
        if (saved) pace_table_bounds(table, pace_fleet_saved_share(view, q));
    }
}

/* For people the bounds are tables beside the figures: beside each figure they would not fit on a screen. */
static void put_bounds(pace_node *root, const pace_fleet_view *view, pace_asked_kind kind) {
    int classes[PACE_FLEET_CLASSES], count = 0;
    for (int c = 0; c < PACE_FLEET_CLASSES; c++)
        if (view->fleet.groups[c].jobs > 0) classes[count++] = c;
    for (int first = 0; first < count; first += CLASSES_SHOWN)
        put_bounds_of(root, view, kind, classes + first, count - first < CLASSES_SHOWN ? count - first : CLASSES_SHOWN,
                      first == 0);
}

static void put_kind(pace_node *root, const pace_fleet_view *view, pace_asked_kind kind, const char *key,
                     const char *title) {
    pace_column columns[COUNT(answer_columns)];
    memcpy(columns, answer_columns, sizeof columns);
    hide_columns(columns, view, kind);
    pace_node *table = pace_node_table(root, key, title, PACE_FOR_ALL, PACE_COLUMNS(columns), 0);
    for (size_t q = 0; q < view->fleet.questions->items.count; q++)
        if (view->fleet.questions->items.items[q].kind == kind) put_question(table, view, q);
    put_bounds(root, view, kind);
}

static const pace_column sensitive_columns[] = {
    {"class", "Jobs", PACE_SHOW_TEXT},
    {"resource", "Most sensitive to", PACE_SHOW_TEXT},
    {"rate", NULL, PACE_SHOW_REAL},
    {"change", "at", PACE_SHOW_TEXT},
    {"speedup", "Mean speed-up", PACE_SHOW_REAL},
    {"speedup_low", "from", PACE_SHOW_REAL},
    {"speedup_high", "to", PACE_SHOW_REAL},
};

/* The resource whose upgrades, of those asked about, speed a class up most. */
static void put_sensitivity(pace_node *root, const pace_fleet_view *view) {
    pace_node *table = pace_node_table(root, "sensitivity", "Which resource matters most", PACE_FOR_ALL,
                                       PACE_COLUMNS(sensitive_columns), 0);
    for (int c = 0; c < PACE_FLEET_CLASSES; c++) {
        int best = -1;
        for (size_t q = 0; q < view->fleet.questions->items.count; q++) {
            if (view->fleet.questions->items.items[q].kind != PACE_ASKED_HARDWARE) continue;
            double gain = pace_fleet_speedup(view, q, PACE_LEVEL_JOB, c);
            if (best < 0 || gain > pace_fleet_speedup(view, (size_t)best, PACE_LEVEL_JOB, c)) best = (int)q;
        }
        if (best < 0 || view->fleet.groups[c].jobs == 0) continue;
        const pace_fleet_question *question = &view->fleet.questions->items.items[best];
        pace_table_row(table);
        pace_table_text(table, pace_fleet_class_names[c]);
        pace_table_text(table, pace_job_resource_names[question->resource[0]]);
        pace_table_real(table, question->rate[0]);
        pace_table_text(table, question->text);
        pace_table_range(table, speedup(view, (size_t)best, PACE_LEVEL_JOB, c));
    }
}

static const pace_column tenth_columns[] = {
    {"change", "If", PACE_SHOW_TEXT},
    {"resource", NULL, PACE_SHOW_TEXT},
    {"rate", NULL, PACE_SHOW_REAL},
    {"from_share", "Share from", PACE_SHOW_SHARE},
    {"to_share", "to", PACE_SHOW_SHARE},
    {"jobs", "Jobs", PACE_SHOW_INT},
    {"speedup", "Mean speed-up", PACE_SHOW_REAL},
    {"speedup_low", NULL, PACE_SHOW_REAL},
    {"speedup_high", NULL, PACE_SHOW_REAL},
};

/* Speed-up against the share of the resource that is made faster. */
static void put_tenths(pace_node *root, const pace_fleet_view *view) {
    pace_node *table = pace_node_table(root, "speedup_by_share", NULL, PACE_FOR_JSON, PACE_COLUMNS(tenth_columns), 0);
    for (size_t q = 0; q < view->fleet.questions->items.count; q++) {
        const pace_fleet_question *question = &view->fleet.questions->items.items[q];
        const pace_fleet_answer *answer = &view->fleet.answers[q];
        for (int t = 0; t < PACE_SHARE_TENTHS && question->kind == PACE_ASKED_HARDWARE; t++) {
            if (answer->tenth_jobs[t] == 0) continue;
            pace_table_row(table);
            pace_table_text(table, question->text);
            pace_table_text(table, pace_job_resource_names[question->resource[0]]);
            pace_table_real(table, question->rate[0]);
            pace_table_real(table, t / 10.0);
            pace_table_real(table, (t + 1) / 10.0);
            pace_table_int(table, (int64_t)answer->tenth_jobs[t]);
            pace_table_range(table, pace_fleet_factor(&answer->tenth_speedup[t], &answer->tenth_error[t],
                                                      (double)answer->tenth_jobs[t]));
        }
    }
}

void pace_put_fleet_questions(pace_node *root, const pace_fleet_view *view) {
    put_kind(root, view, PACE_ASKED_HARDWARE, "sweeps", "One resource made faster or slower: mean speed-up of jobs");
    put_sensitivity(root, view);
    put_kind(root, view, PACE_ASKED_PAIR, "pairs", "Two resources at their fastest: mean speed-up of jobs");
    put_kind(root, view, PACE_ASKED_SOFTWARE, "software", "Other software: mean speed-up of jobs");
    put_tenths(root, view);
}

/* --- assumptions -------------------------------------------------------------------------------------------------- */

static const pace_column assumption_columns[] = {
    {"assumption", "Assumed", PACE_SHOW_TEXT},
    {"weights_job_share", "Weights, jobs", PACE_SHOW_SHARE},
    {"weights_cnode_share", "Weights, cNodes", PACE_SHOW_SHARE},
    {"weights_longest_cnode_share", "longest, cNodes", PACE_SHOW_SHARE},
    {"ps_gains_share", "PS gain as local", PACE_SHOW_SHARE},
    {"ps_network_speedup", "PS on fast network", PACE_SHOW_REAL},
    {"confidence", "Confidence", PACE_SHOW_TEXT},
};

void pace_put_fleet_assumptions(pace_node *root, const pace_fleet_view *view) {
    pace_node *table = pace_node_table(root, "assumptions", "Whether the conclusions stand under other assumptions",
                                       PACE_FOR_ALL, PACE_COLUMNS(assumption_columns), 0);
    double ps = (double)view->fleet.groups[PACE_JOB_PS_WORKER].jobs;
    for (size_t a = 0; a < view->fleet.questions->assumptions.count; a++) {
        const pace_job_lever *lever = view->fleet.questions->levers.items[a];
        const pace_fleet_conclusion *c = &view->fleet.conclusions[a];
        pace_table_row(table);
        pace_table_text(table, lever ? lever->title : "as given");
        pace_table_real(table, part_of(pace_sum_value(&c->weight_share[PACE_LEVEL_JOB]), (double)view->all.jobs));
        pace_table_real(table, part_of(pace_sum_value(&c->weight_share[PACE_LEVEL_CNODE]), (double)view->all.cnodes));
        pace_table_real(table, part_of((double)c->weights_longest[PACE_LEVEL_CNODE], (double)view->all.cnodes));
        pace_table_real(table, part_of((double)c->ps_gains, ps));
        pace_table_real(table, part_of(pace_sum_value(&c->ps_network_speedup), ps));
        pace_table_text(table, lever ? lever->source.confidence : "");
    }
}
