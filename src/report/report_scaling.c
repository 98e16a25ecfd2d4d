/* The report of `paceline predict MODEL... --workers`: steps on more and more workers, by approach and batch. */
#include "base/decimal.h"
#include "base/texts.h"
#include "report/engines.h"
#include "forecast/scaling.h"
#include "ask/context.h"
#include "machine/device_resolve.h"
#include "report/machine_note.h"
#include "report/table.h"
#include "ask/scaling_input.h"
#include "ask/scaling_solve.h"
#include "report/show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_WORKERS = 1 << 20 };

typedef struct {
    const pace_scaling_options *options;
    pace_machine machine;
    pace_device_catalog devices;
    const pace_device *device;
    pace_approaches table;
    PACE_VEC(pace_approach) approaches;
    pace_texts labels; /* of the approaches, as given */
    PACE_VEC(int) workers;
    PACE_VEC(double) batches; /* none = each input's own */
    PACE_VEC(pace_scaling_input) inputs;
} asked;

static void close_asked(asked *a) {
    for (size_t i = 0; i < a->inputs.count; i++) pace_scaling_input_free(&a->inputs.items[i]);
    PACE_VEC_FREE(&a->inputs);
    pace_texts_free(&a->labels);
    PACE_VEC_FREE(&a->approaches);
    PACE_VEC_FREE(&a->workers);
    PACE_VEC_FREE(&a->batches);
    pace_approaches_free(&a->table);
    pace_device_catalog_free(&a->devices);
}

/* --- what is asked ------------------------------------------------------------------------------------------------ */

static bool whole(double *out, const char *text, double most) {
    return pace_number_parse(out, text) && *out >= 1 && *out <= most && *out == floor(*out);
}

/* "1..128": each twice the last; "1,2,4,8": those. */
static pace_status read_workers(asked *a, const char *text) {
    char words[256], *rest = NULL;
    double from, to;
    char *range = NULL;
    if (strlen(text) < sizeof words) {
        memcpy(words, text, strlen(text) + 1);
        range = strstr(words, "..");
    }
    if (range) {
        *range = '\0';
        if (whole(&from, words, MOST_WORKERS) && whole(&to, range + 2, MOST_WORKERS) && from <= to) {
            for (double n = from; n <= to; n *= 2) PACE_TRY(PACE_PUSH(&a->workers, (int)n));
            return PACE_OK;
        }
    } else if (strlen(text) < sizeof words) {
        for (char *word = strtok_r(words, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
            if (!whole(&from, word, MOST_WORKERS)) break;
            PACE_TRY(PACE_PUSH(&a->workers, (int)from));
            if (!*rest) return PACE_OK;
        }
    }
    return pace_fail(PACE_E_USAGE, "workers: expected numbers such as 1..128 or 1,2,4,8, found \"%.60s\"", text);
}

static pace_status all_workers(asked *a) {
    int most = a->machine.devices * a->machine.nodes;
    for (int n = 1; n < most; n *= 2)
        if (n <= a->machine.devices || n % a->machine.devices == 0) PACE_TRY(PACE_PUSH(&a->workers, n));
    return PACE_PUSH(&a->workers, most);
}

static pace_status add_approach(asked *a, const char *text) {
    pace_approach approach;
    PACE_TRY(pace_approach_parse(&approach, &a->table, text));
    PACE_TRY(pace_approach_set_jitter(&approach, a->options->jitter));
    PACE_TRY(PACE_PUSH(&a->approaches, approach));
    return pace_texts_add(&a->labels, text);
}

static pace_status read_approaches(asked *a, const pace_words *given) {
    if (given->count == 0) return add_approach(a, "ddp");
    for (size_t i = 0; i < given->count; i++) {
        char *rest = NULL, *words = pace_copy_text(given->items[i], strlen(given->items[i]));
        if (!words) return PACE_E_MEMORY;
        pace_status status = *words ? PACE_OK : pace_approach_parse(&(pace_approach){0}, &a->table, "");
        for (char *word = strtok_r(words, ",", &rest); status == PACE_OK && word; word = strtok_r(NULL, ",", &rest))
            status = add_approach(a, word);
        pace_free(words);
        if (status != PACE_OK) return status;
    }
    return PACE_OK;
}

static pace_status add_batches(asked *a, const char *text) {
    char words[256], *rest = NULL;
    double batch = 0;
    bool good = strlen(text) < sizeof words && *text;
    if (good) memcpy(words, text, strlen(text) + 1);
    for (char *word = good ? strtok_r(words, ",", &rest) : NULL; good && word; word = strtok_r(NULL, ",", &rest)) {
        good = whole(&batch, word, 1e9);
        if (good) PACE_TRY(PACE_PUSH(&a->batches, batch));
    }
    if (good && batch > 0) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "batch: expected numbers of samples from 1 to 1e9, such as 16,32, found '%.80s'",
                     text);
}

static pace_status open_inputs(asked *a, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++) {
        pace_scaling_input input;
        PACE_TRY(pace_scaling_input_open(&input, names[i], a->device, a->options));
        pace_status status = PACE_PUSH(&a->inputs, input);
        if (status != PACE_OK) {
            pace_scaling_input_free(&input);
            return status;
        }
    }
    return PACE_OK;
}

static pace_status open_asked(asked *a, const char *const *names, size_t count, const pace_scaling_options *options) {
    a->options = options;
    if (!options->on)
        return pace_fail(PACE_E_USAGE, "expected a machine: --on dgx-1-v100 (paceline machines lists them)");
    if (options->one_worker != 0 && !pace_scaling_rate_can_be(options->one_worker))
        return pace_fail(PACE_E_USAGE, "one_worker: expected samples per second, from 1e-6 to 1e12, found %g",
                         options->one_worker);
    if (options->one_worker > 0 && count > 1)
        return pace_fail(PACE_E_USAGE, PACE_FIELD "one_worker is of one model, found %zu", count);
    PACE_TRY(pace_machine_asked(&a->machine, options->context->catalog, options->on));
    PACE_TRY(pace_device_catalog_load(&a->devices, options->context->catalog));
    PACE_TRY(pace_device_resolve(&a->device, &a->devices, a->machine.device, 0));
    PACE_TRY(pace_approaches_load(&a->table, options->context->catalog));
    PACE_TRY(read_approaches(a, &options->approach));
    PACE_TRY(options->workers ? read_workers(a, options->workers) : all_workers(a));
    for (size_t i = 0; i < options->batch.count; i++) PACE_TRY(add_batches(a, options->batch.items[i]));
    return open_inputs(a, names, count);
}

/* --- answers ------------------------------------------------------------------------------------------------------ */

static pace_status batch_of_one(double *out, const asked *a, double batch, int workers) {
    *out = a->options->strong ? batch / workers : batch;
    if (*out == floor(*out) && *out >= 1) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "strong: a batch of %g does not divide over %d workers", batch, workers);
}

typedef struct {
    double samples_per_s, efficiency;
    pace_scaling_point point;
    double fp_bp_s, wu_s;
    pace_step_fitting fitting; /* of a model's rank, which needs and has: */
    double memory_bytes, device_bytes;
} scaled;

/* A model's step is the question that a row or --set dp asks. */
static pace_status scale_model(scaled *out, double *alone, asked *a, pace_scaling_input *input,
                               const pace_approach *approach, double batch, double each, int workers) {
    pace_step_solution one, all;
    double rate = a->options->one_worker;
    pace_scaling_words words = {.name = input->name,
                                .set = &a->options->set,
                                .approach = approach,
                                .device = a->device,
                                .machine = &a->machine,
                                .workers = 1,
                                .batch = batch,
                                .own_s = rate > 0 ? batch / rate : 0};
    PACE_TRY(pace_scaling_solve(&one, a->options->context->catalog, &words));
    words.workers = workers;
    words.batch = each;
    words.own_s = rate > 0 ? each / rate : 0;
    PACE_TRY(pace_scaling_solve(&all, a->options->context->catalog, &words));
    *alone = batch / one.time_s.median;
    out->point = (pace_scaling_point){.step_s = all.time_s};
    out->point.times = (pace_gradient_times){.exposed_s = all.exchange.exposed_s,
                                             .skew_s = all.exchange.skew_s,
                                             .exchange_s = all.exchange.exchange_s,
                                             .bottleneck = pace_scaling_bottleneck(&all)};
    out->fp_bp_s = all.forward_backward_s;
    out->fitting = all.fitting;
    out->memory_bytes = all.plan.memory.all_bytes;
    out->device_bytes = all.plan.device_bytes;
    return PACE_OK;
}

/* A recording of one worker has no step of several to walk: lanes say what of its exchange nothing hides. */
static pace_status scale_recording(scaled *out, double *alone, asked *a, pace_scaling_input *input,
                                   const pace_approach *approach, double batch, double each, int workers) {
    const pace_worker_step *step;
    PACE_TRY(pace_scaling_input_step(&step, input, batch));
    *alone = batch / pace_gradient_profile_step_s(&step->profile);
    PACE_TRY(pace_scaling_input_step(&step, input, each));
    PACE_TRY(pace_scaling_at(&out->point, a->options->context->catalog, &step->profile, step->spread, approach,
                             &a->machine, a->device, workers));
    out->fp_bp_s = step->profile.forward_s + step->profile.backward_s;
    return PACE_OK;
}

/* Efficiency: against one worker with its batch (weak), or with all of the batch (strong). */
static pace_status scale(scaled *out, asked *a, pace_scaling_input *input, const pace_approach *approach, double batch,
                         int workers) {
    double each, alone;
    PACE_TRY(batch_of_one(&each, a, batch, workers));
    PACE_TRY((input->is_model ? scale_model : scale_recording)(out, &alone, a, input, approach, batch, each, workers));
    out->samples_per_s = each * workers / out->point.step_s.median;
    out->efficiency = out->samples_per_s / workers / alone;
    out->wu_s = out->point.step_s.median - out->fp_bp_s;
    return PACE_OK;
}

typedef struct {
    const char *model, *approach, *bottleneck;
    int64_t batch, workers, step_ns, low_ns, high_ns, fp_bp_ns, wu_ns, exposed_ns, skew_ns, exchange_ns;
    double samples_per_s, efficiency;
} point_row;

/* What the rows differ in; people see no column that says the same in all, and where several models or approaches stand
 * side by side, what is compared has the room. */
enum { MODELS = 1, APPROACHES = 2, BATCHES = 4, ONE_CURVE = 8, ONE_MODEL = 16 };

static const pace_table points = {
    "points", "By model, approach, batch and workers", PACE_FOR_ALL, 0,
    PACE_CELLS({"model", "model", PACE_SHOW_TEXT, PACE_OF(point_row, model), .shown_if = MODELS},
               {"approach", "approach", PACE_SHOW_TEXT, PACE_OF(point_row, approach), .shown_if = APPROACHES},
               {"batch", "batch", PACE_SHOW_INT, PACE_OF(point_row, batch), .shown_if = BATCHES},
               {"workers", "workers", PACE_SHOW_INT, PACE_OF(point_row, workers)},
               {"step_ns", "step", PACE_SHOW_NS, PACE_OF(point_row, step_ns)},
               {"low_ns", "low", PACE_SHOW_NS, PACE_OF(point_row, low_ns)},
               {"high_ns", "high", PACE_SHOW_NS, PACE_OF(point_row, high_ns)},
               {"samples_per_s", "samples /s", PACE_SHOW_REAL, PACE_OF(point_row, samples_per_s)},
               {"efficiency_share", "eff.", PACE_SHOW_SHARE, PACE_OF(point_row, efficiency)},
               {"fp_bp_ns", "FP+BP", PACE_SHOW_NS, PACE_OF(point_row, fp_bp_ns), .shown_if = ONE_CURVE},
               {"wu_ns", "WU", PACE_SHOW_NS, PACE_OF(point_row, wu_ns), .shown_if = ONE_MODEL},
               {"exposed_ns", "exposed", PACE_SHOW_NS, PACE_OF(point_row, exposed_ns), .shown_if = ONE_CURVE},
               {"skew_ns", NULL, PACE_SHOW_NS, PACE_OF(point_row, skew_ns)},
               {"exchange_ns", NULL, PACE_SHOW_NS, PACE_OF(point_row, exchange_ns)},
               {"bottleneck", "limit", PACE_SHOW_TEXT, PACE_OF(point_row, bottleneck)})};

static unsigned differences(const asked *a) {
    unsigned flags = 0;
    bool models = a->inputs.count > 1, approaches = a->approaches.count > 1;
    if (models) flags |= MODELS;
    else flags |= ONE_MODEL;
    if (approaches) flags |= APPROACHES;
    if (a->batches.count > 1 || (a->batches.count == 0 && models)) flags |= BATCHES;
    if (!approaches && !models) flags |= ONE_CURVE;
    return flags;
}

static void put_row(pace_node *table, const char *name, const char *label, double batch, int workers, const scaled *r) {
    pace_table_put(table, &(point_row){.model = name,
                                       .approach = label,
                                       .bottleneck = r->point.times.bottleneck,
                                       .batch = llround(batch),
                                       .workers = workers,
                                       .step_ns = pace_ns(r->point.step_s.median),
                                       .low_ns = pace_estimate_low_ns(r->point.step_s),
                                       .high_ns = pace_estimate_high_ns(r->point.step_s),
                                       .fp_bp_ns = pace_ns(r->fp_bp_s),
                                       .wu_ns = pace_ns(r->wu_s),
                                       .exposed_ns = pace_ns(r->point.times.exposed_s),
                                       .skew_ns = pace_ns(r->point.times.skew_s),
                                       .exchange_ns = pace_ns(r->point.times.exchange_s),
                                       .samples_per_s = r->samples_per_s,
                                       .efficiency = r->efficiency});
}

/* The charts that stand beside the table: of each model, a curve for every approach and batch. */
typedef struct {
    pace_node *throughput, *efficiency;
} charts;

static charts add_charts(pace_node *root, const asked *a, const char *name) {
    char title[2][128];
    const char *of = a->inputs.count > 1 ? name : "all workers";
    snprintf(title[0], sizeof title[0], "Throughput, samples/s: %.80s", of);
    snprintf(title[1], sizeof title[1], "Efficiency: %.80s", of);
    return (charts){pace_node_chart(root, title[0], "workers", false),
                    pace_node_chart(root, title[1], "workers", a->workers.count > 4)};
}

static void begin_curves(const charts *c, const asked *a, const char *label, double batch) {
    char name[160];
    if (a->batches.count > 1) snprintf(name, sizeof name, "%.120s, batch %.0f", label, batch);
    else snprintf(name, sizeof name, "%.120s", label);
    pace_chart_curve(c->throughput, name);
    pace_chart_curve(c->efficiency, name);
}

typedef struct {
    pace_node *root, *table;
    charts charts;
    asked *asked;
    pace_scaling_input *input;
    size_t too_large; /* points that do not fit into memory */
    char first[320];  /* of them */
} place;

/* The first point that cannot run is named; the others are counted. */
static void check_memory(place *p, const scaled *r, double batch, int workers) {
    if (r->fitting != PACE_TOO_LARGE) return;
    if (p->too_large++ > 0) return;
    pace_snprintf(p->first, sizeof p->first, "%.80s with a batch of %.0f on %d %s needs %s for each, %.80s has %s",
                  p->input->name, batch, workers, workers == 1 ? "worker" : "workers",
                  pace_show_bytes(r->memory_bytes).text, p->asked->device->name, pace_show_bytes(r->device_bytes).text);
}

/* One approach and batch on all numbers of workers. */
static pace_status put_curve(place *p, size_t approach, double batch, bool told) {
    asked *a = p->asked;
    const char *label = a->labels.items[approach];
    scaled row = {0};
    begin_curves(&p->charts, a, label, batch);
    for (size_t w = 0; w < a->workers.count; w++) {
        int workers = a->workers.items[w];
        PACE_TRY(scale(&row, a, p->input, &a->approaches.items[approach], batch, workers));
        put_row(p->table, p->input->name, label, batch, workers, &row);
        check_memory(p, &row, batch, workers);
        pace_chart_point(p->charts.throughput, workers, row.samples_per_s);
        pace_chart_point(p->charts.efficiency, workers, row.efficiency);
    }
    if (!told) return PACE_OK;
    int most = a->workers.items[a->workers.count - 1];
    pace_node_sentence(p->root, approach == 0, "%s%s%s: %d %s %s samples/s, %.1f %% efficient, limited by %s.",
                       a->inputs.count > 1 ? p->input->name : "", a->inputs.count > 1 ? ", " : "", label, most,
                       most == 1 ? "worker reaches" : "workers reach", pace_show_real(row.samples_per_s).text,
                       100 * row.efficiency, row.point.times.bottleneck);
    return PACE_OK;
}

static pace_status put_points(pace_report *report, pace_node *root, asked *a) {
    place p = {.root = root, .asked = a};
    p.table = pace_open_table(root, &points, differences(a));
    for (size_t i = 0; i < a->inputs.count; i++) {
        p.input = &a->inputs.items[i];
        double own = pace_scaling_input_batch(p.input);
        size_t batches = a->batches.count ? a->batches.count : 1;
        p.charts = add_charts(root, a, p.input->name);
        for (size_t k = 0; k < a->approaches.count; k++)
            for (size_t b = 0; b < batches; b++)
                PACE_TRY(put_curve(&p, k, a->batches.count ? a->batches.items[b] : own, b + 1 == batches));
    }
    if (p.too_large == 0) return PACE_OK;
    pace_report_deny(report);
    pace_report_lead(report, "Does not fit: %s. %zu of the points below %s not fit.", p.first, p.too_large,
                     p.too_large == 1 ? "does" : "do");
    pace_report_warn_as(report, "does_not_fit", "does not fit: %s", p.first);
    return PACE_OK;
}

/* A model has no usual batch in the catalogue: that one was taken is said, as little else decides so much. */
static void tell_batches(pace_report *report, const asked *a) {
    bool said = a->batches.count > 0;
    for (size_t i = 0; i < a->options->set.count; i++)
        said = said || strncmp(a->options->set.items[i], "micro_batch=", 12) == 0;
    for (size_t i = 0; i < a->inputs.count; i++) {
        if (said || !a->inputs.items[i].is_model) continue;
        pace_node_note(pace_report_root(report), "%s: no --batch was given: a batch of %.0f was assumed.",
                       a->inputs.items[i].name, pace_scaling_input_batch(&a->inputs.items[i]));
        pace_report_warn(report, "%s: no --batch was given: a batch of %.0f was assumed", a->inputs.items[i].name,
                         pace_scaling_input_batch(&a->inputs.items[i]));
    }
}

static pace_status build(pace_report *report, void *context) {
    asked *a = context;
    pace_node *root = pace_report_root(report);
    pace_node_text(root, "machine", a->machine.name);
    pace_node_text(root, "device", a->device->name);
    pace_node_text(root, "scaling", a->options->strong ? "strong" : "weak");
    PACE_TRY(put_points(report, root, a));
    pace_node_note(
        root,
        "%s scaling: batch is of %s. Efficiency is against one worker%s. FP+BP is forward and backward, WU "
        "the rest: the update, the exposed part of the exchange, and waiting for the slowest worker. low–high is a 90 %% prediction interval.",
        a->options->strong ? "Strong" : "Weak", a->options->strong ? "all workers" : "each worker",
        a->options->one_worker > 0 ? ", whose time is the one given" : "");
    pace_put_machine_note(root, &a->machine);
    tell_batches(report, a);
    return PACE_OK;
}

pace_status pace_predict_scaling(pace_report **out, const char *const *inputs, size_t count,
                                 const pace_scaling_options *options) {
    asked a = {0};
    pace_status status = open_asked(&a, inputs, count, options);
    if (status == PACE_OK) status = pace_report_build(out, "scaling", "How a step scales", build, &a);
    close_asked(&a);
    return status;
}
