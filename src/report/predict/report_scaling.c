/* The report of `paceline predict MODEL... --workers`: steps on more and more workers, by approach and batch. */
#include "ask/predict/workers_asked.h"
#include "report/engines.h"
#include "source/model_inputs.h"
#include "report/predict/predict_parts.h"
#include "report/show.h"
#include "base/print.h"
#include "report/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    const char *model, *approach;
    pace_workers_point of;
    int64_t memory_bytes, first_bytes;
} point_row;

/* What the rows differ in; people see no column that says the same in all, and where several models or approaches stand
 * side by side, what is compared has the room. */
enum { MODELS = 1, APPROACHES = 2, BATCHES = 4, ONE_CURVE = 8, LIMITS = 16, MEMORY = 32 };

PACE_TABLE(points, "points", "By model, approach, batch and workers", PACE_FOR_ALL, 0,
           {"model", "model", PACE_SHOW_TEXT, PACE_OF(point_row, model), .shown_if = MODELS},
           {"approach", "approach", PACE_SHOW_TEXT, PACE_OF(point_row, approach), .shown_if = APPROACHES},
           {"batch", "batch", PACE_SHOW_INT, PACE_WHOLE_OF(point_row, of.batch), .shown_if = BATCHES},
           {"workers", "workers", PACE_SHOW_INT, PACE_OF(point_row, of.workers)},
           {"step_ns", "step", PACE_SHOW_NS, PACE_NS_OF(point_row, of.point.step_s)},
           {"low_ns", "low", PACE_SHOW_NS, PACE_LOW_NS_OF(point_row, of.point.step_s), .shown_if = ONE_CURVE},
           {"high_ns", "high", PACE_SHOW_NS, PACE_HIGH_NS_OF(point_row, of.point.step_s), .shown_if = ONE_CURVE},
           {"samples_per_s", "samples /s", PACE_SHOW_REAL, PACE_OF(point_row, of.samples_per_s)},
           {"efficiency_share", "eff.", PACE_SHOW_SHARE, PACE_OF(point_row, of.efficiency)},
           {"fp_bp_ns", "FP+BP", PACE_SHOW_NS, PACE_NS_OF(point_row, of.fp_bp_s)},
           {"wu_ns", "WU", PACE_SHOW_NS, PACE_NS_OF(point_row, of.wu_s)},
           {"exposed_ns", "exchange adds", PACE_SHOW_NS, PACE_NS_OF(point_row, of.point.times.exposed_s),
            .shown_if = ONE_CURVE},
           {"skew_ns", NULL, PACE_SHOW_NS, PACE_NS_OF(point_row, of.point.times.skew_s)},
           {"exchange_ns", NULL, PACE_SHOW_NS, PACE_NS_OF(point_row, of.point.times.exchange_s)},
           {"memory_bytes", "memory", PACE_SHOW_BYTES, PACE_OF(point_row, memory_bytes), .shown_if = MEMORY},
           {"first_bytes", NULL, PACE_SHOW_BYTES, PACE_OF(point_row, first_bytes)},
           {"bottleneck", "limit", PACE_SHOW_TEXT, PACE_OF(point_row, of.point.times.bottleneck), .shown_if = LIMITS});

static unsigned differences(const pace_workers_asked *a) {
    unsigned flags = 0;
    bool models = a->inputs.count > 1, approaches = a->approaches.items.count > 1;
    if (models) flags |= MODELS;
    if (approaches) flags |= APPROACHES;
    if (a->batches.count > 1 || (a->batches.count == 0 && models)) flags |= BATCHES;
    flags |= approaches || models ? MEMORY : ONE_CURVE;
    if (!approaches || !models) flags |= LIMITS;
    return flags;
}

static void put_row(pace_node *table, const pace_workers_asked *a, const pace_workers_point *p) {
    pace_table_put(table, &(point_row){.model = a->inputs.items[p->input].name,
                                       .approach = a->approaches.labels.items[p->approach],
                                       .of = *p,
                                       .memory_bytes = p->memory_bytes > 0 ? llround(p->memory_bytes) : PACE_NO_INT,
                                       .first_bytes = p->first_bytes > 0 ? llround(p->first_bytes) : PACE_NO_INT});
}

/* The charts that stand beside the table: of each model, a curve for every approach and batch. */
typedef struct {
    pace_node *throughput, *efficiency, *stages;
} charts;

static charts add_charts(pace_node *root, const pace_workers_asked *a, const char *name) {
    static const char *const parts[] = {"FP+BP", "WU: update", "WU: what the exchange adds",
                                        "WU: waiting for the slowest"};
    char title[3][128];
    const char *of = a->inputs.count > 1 ? name : "all workers";
    snprintf(title[0], sizeof title[0], "Throughput, samples/s: %.80s", of);
    snprintf(title[1], sizeof title[1], "Efficiency: %.80s", of);
    snprintf(title[2], sizeof title[2], "Parts of a step: %.80s", of);
    return (charts){pace_node_chart(root, title[0], "workers", 0),
                    pace_node_chart(root, title[1], "workers", a->workers.count > 4 ? PACE_CHART_LOG_X : 0),
                    pace_node_stacks(root, title[2], parts, 4)};
}

static void begin_curves(const charts *c, const pace_workers_asked *a, const char *label, double batch) {
    char name[160];
    if (a->batches.count > 1) snprintf(name, sizeof name, "%.120s, batch %.0f", label, batch);
    else snprintf(name, sizeof name, "%.120s", label);
    pace_chart_curve(c->throughput, PACE_CURVE_LINE, "%s", name);
    pace_chart_curve(c->efficiency, PACE_CURVE_LINE, "%s", name);
}

static void put_stages(pace_node *stages, const pace_workers_asked *a, const pace_workers_point *p) {
    double step_s = p->point.step_s.median, exposed_s = fmin(p->point.times.exposed_s, p->wu_s),
           skew_s = fmin(p->point.times.skew_s, p->wu_s - exposed_s);
    pace_chart_curve(stages, PACE_CURVE_LINE, "%.40s, %.0f, %d", a->approaches.labels.items[p->approach], p->batch,
                     p->workers);
    pace_chart_point(stages, 0, p->fp_bp_s / step_s);
    pace_chart_point(stages, 1, (p->wu_s - exposed_s - skew_s) / step_s);
    pace_chart_point(stages, 2, exposed_s / step_s);
    pace_chart_point(stages, 3, skew_s / step_s);
}

/* One approach and batch on all numbers of workers. */
static void put_curve(pace_node *table, const charts *c, const pace_workers_asked *a, const pace_workers_point *first) {
    begin_curves(c, a, a->approaches.labels.items[first->approach], first->batch);
    for (size_t w = 0; w < a->workers.count; w++) {
        put_row(table, a, &first[w]);
        pace_chart_point(c->throughput, first[w].workers, first[w].samples_per_s);
        pace_chart_point(c->efficiency, first[w].workers, first[w].efficiency);
        put_stages(c->stages, a, &first[w]);
    }
}

static void say_most(pace_node *root, const pace_workers_asked *a, const pace_workers_point *p) {
    const char *name = a->inputs.count > 1 ? a->inputs.items[p->input].name : "";
    bool named = strncmp(a->machine.name, a->device->name, strlen(a->device->name)) == 0;
    pace_node_sentence(root, p->approach == 0,
                       "%s%s%s: %d worker%s on %s%s%s%s %s %s samples/s, %.1f %% efficient, limited by %s.", name,
                       *name ? ", " : "", a->approaches.labels.items[p->approach], p->workers,
                       p->workers == 1 ? "" : "s", a->machine.name, named ? "" : " (", named ? "" : a->device->name,
                       named ? "" : ")", p->workers == 1 ? "reaches" : "reach", pace_show_real(p->samples_per_s).text,
                       100 * p->efficiency, p->point.times.bottleneck);
}

/* More workers than the machine has devices are on further nodes of its kind; one alone exchanges nothing. */
static void tell_places(pace_report *report, const pace_workers_asked *a) {
    const pace_machine *m = &a->machine;
    int most = 1;
    for (size_t i = 0; i < a->workers.count; i++)
        if (a->workers.items[i] > most) most = a->workers.items[i];
    if (most > m->devices * m->nodes)
        pace_node_sentence(pace_report_root(report), true, "%d workers are on %d nodes: --on names %d.", most,
                           (most + m->devices - 1) / m->devices, m->nodes);
    if (most == 1 && a->options->approach.count)
        pace_report_warn(report, PACE_WARN_EXCHANGE_IDLE, m->name,
                         "one worker exchanges nothing: no approach has an effect on it");
}

/* Workers stand in the order in which they were asked about. */
static const pace_workers_point *largest_of(const pace_workers_point *curve, size_t count) {
    const pace_workers_point *largest = curve;
    for (size_t i = 1; i < count; i++)
        if (curve[i].workers > largest->workers) largest = &curve[i];
    return largest;
}

static void put_points(pace_node *root, const pace_workers_asked *a) {
    size_t curves = a->approaches.items.count * (a->batches.count ? a->batches.count : 1);
    const pace_workers_point *next = a->points.items;
    pace_node *table = pace_open_table(root, &points, differences(a));
    for (size_t i = 0; i < a->inputs.count; i++) {
        charts beside = add_charts(root, a, a->inputs.items[i].name);
        for (size_t k = 0; k < curves; k++, next += a->workers.count) {
            bool last = k + 1 == curves || next[a->workers.count].approach != next->approach;
            put_curve(table, &beside, a, next);
            if (last) say_most(root, a, largest_of(next, a->workers.count));
        }
    }
}

static size_t count_points(const pace_workers_asked *a, pace_step_fitting fitting) {
    size_t count = 0;
    for (size_t i = 0; i < a->points.count; i++) count += a->points.items[i].fitting == fitting;
    return count;
}

/* What a point needs, has, and what would make it fit. */
static void say_point(char *out, size_t size, const pace_workers_asked *a, const pace_workers_point *point,
                      const char *about, bool advised) {
    const pace_step_room room = point->room;
    pace_snprintf(out, size,
                  "%.80s with a batch of %.0f on %d %s needs %s%s for %s, %.80s has %s (%.1f times as much).%s%s",
                  a->inputs.items[point->input].name, point->batch, point->workers,
                  point->workers == 1 ? "worker" : "workers", about, pace_show_bytes(room.need_bytes).text,
                  room.of_host ? "those of a node" : "each", room.of_host ? "their host" : a->device->name,
                  pace_show_bytes(room.has_bytes).text, room.need_bytes / room.has_bytes, advised ? " " : "",
                  advised ? a->advice : "");
}

/* The first point that cannot run is named; the others are counted. */
static void say_memory(pace_report *report, const pace_workers_asked *a) {
    const pace_workers_point *first = pace_workers_first(a, PACE_TOO_LARGE),
                             *unsure = pace_workers_first(a, PACE_MAY_FIT);
    char said[320 + PACE_WORKERS_ADVICE];
    if (first) {
        size_t too_large = count_points(a, PACE_TOO_LARGE);
        say_point(said, sizeof said, a, first, "", true);
        pace_report_deny(report);
        pace_report_lead(report, PACE_WARN_DOES_NOT_FIT, "Does not fit: %s %zu of the points below %s not fit.", said,
                         too_large, too_large == 1 ? "does" : "do");
    }
    if (unsure) {
        size_t doubtful = count_points(a, PACE_MAY_FIT);
        say_point(said, sizeof said, a, unsure, "about ", !first);
        pace_report_warn(report, PACE_WARN_MAY_NOT_FIT, a->inputs.items[unsure->input].name,
                         "may not fit: %s %zu of the points below may not fit", said, doubtful);
    }
}

/* A model has no usual batch in the catalogue: that one was taken is said, as little else decides so much. */
static void tell_batches(pace_report *report, const pace_workers_asked *a) {
    bool said = a->batches.count > 0;
    for (size_t i = 0; i < a->options->set.count; i++)
        said = said || strncmp(a->options->set.items[i], "micro_batch=", 12) == 0;
    for (size_t i = 0; i < a->inputs.count; i++) {
        if (said || !a->inputs.items[i].is_model) continue;
        pace_report_warn(report, PACE_WARN_BATCH_ASSUMED, a->inputs.items[i].name,
                         "%s: no --batch was given: a batch of %.0f was assumed", a->inputs.items[i].name,
                         pace_scaling_input_batch(&a->inputs.items[i]));
    }
}

static void tell_measure(pace_node *root, const pace_workers_asked *a) {
    for (size_t i = 0; i < a->points.count; i++)
        if (a->points.items[i].against > 1) {
            pace_node_sentence(
                root, true,
                "Efficiency is against %d workers: one alone, with all of the %s, must recompute what they keep.",
                a->points.items[i].against, a->options->strong ? "batch" : "model");
            return;
        }
}

static pace_status put_model(pace_node *root, const pace_scaling_input *input, const pace_words *set) {
    pace_config config = input->config;
    pace_model_settings settings;
    pace_model model;
    PACE_TRY(pace_model_settings_read(&settings, &config, input->catalog, set));
    pace_status status =
        pace_model_open(&model, input->catalog, input->name, settings.items.items, settings.items.count);
    pace_model_settings_free(&settings);
    PACE_TRY(status);
    pace_put_model_note(root, &model, &config);
    pace_model_free(&model);
    return PACE_OK;
}

static pace_status put_models(pace_node *root, const pace_workers_asked *a) {
    for (size_t i = 0; i < a->inputs.count; i++)
        if (a->inputs.items[i].is_model) PACE_TRY(put_model(root, &a->inputs.items[i], &a->options->set));
    return PACE_OK;
}

static pace_status build(pace_report *report, void *context) {
    const pace_workers_asked *a = context;
    pace_node *root = pace_report_root(report);
    pace_node_text(root, "machine", a->machine.name);
    pace_node_text(root, "device", a->device->name);
    pace_node_text(root, "scaling", a->options->strong ? "strong" : "weak");
    put_points(root, a);
    PACE_ITEMS (const pace_scaling_input, input, &a->inputs) {
        if (input->is_model) continue;
        if (input->inputs.is_measured) pace_report_warn_all(report, &input->inputs.measured.warnings);
        pace_report_warn_all(report, &input->inputs.warnings);
    }
    tell_measure(root, a);
    tell_places(report, a);
    say_memory(report, a);
    pace_node_note(
        root,
        "%s scaling: batch is of %s. Efficiency is against one worker%s unless said. FP+BP is forward and backward, WU "
        "the rest: the update, what the exchange adds, and waiting for the slowest worker. low–high is a 90 %% prediction interval. memory: of the device that needs most; those of a "
        "device store (p2p) hold what they merge besides.",
        a->options->strong ? "Strong" : "Weak", a->options->strong ? "all workers" : "each worker",
        a->options->one_worker > 0 ? ", whose time is the one given" : "");
    PACE_TRY(put_models(root, a));
    pace_put_machine_note(root, &a->machine);
    pace_put_curves_note(root, &a->fits);
    pace_report_warn_all(report, &a->warnings);
    tell_batches(report, a);
    return PACE_OK;
}

pace_status pace_predict_scaling(pace_report **out, const char *const *inputs, size_t count,
                                 const pace_scaling_options *options) {
    pace_workers_asked asked = {0};
    pace_status status = pace_workers_ask(&asked, inputs, count, options);
    if (status == PACE_OK) status = pace_report_build(out, "scaling", "How a step scales", build, &asked);
    pace_workers_asked_free(&asked);
    return status;
}
