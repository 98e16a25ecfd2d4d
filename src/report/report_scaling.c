/* The report of `paceline predict MODEL --workers`: a step on more and more workers, by approach and batch. */
#include "insight/scaling.h"
#include "machine/device_resolve.h"
#include "report/model_settings.h"
#include "report/report.h"
#include "source/model_inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WORKERS = 1 << 20 };

static const pace_column all_columns[] = {
    {"approach", "approach", PACE_SHOW_TEXT},
    {"batch", "batch", PACE_SHOW_INT},
    {"workers", "workers", PACE_SHOW_INT},
    {"step_ns", "step", PACE_SHOW_NS},
    {"low_ns", "low", PACE_SHOW_NS},
    {"high_ns", "high", PACE_SHOW_NS},
    {"samples_per_s", "samples/s", PACE_SHOW_REAL},
    {"efficiency_share", "eff.", PACE_SHOW_SHARE},
    {"fp_bp_ns", "FP+BP", PACE_SHOW_NS},
    {"wu_ns", "WU", PACE_SHOW_NS},
    {"exposed_ns", "exposed", PACE_SHOW_NS},
    {"skew_ns", NULL, PACE_SHOW_NS},
    {"exchange_ns", NULL, PACE_SHOW_NS},
    {"bottleneck", "limited by", PACE_SHOW_TEXT},
};

/* Of one worker with a batch. */
typedef struct {
    double batch, spread;
    pace_gradient_profile profile;
} worker_step;

typedef struct {
    const pace_scaling_options *options;
    pace_machine machine;
    pace_device_catalog devices;
    const pace_device *device;
    pace_approaches table;
    PACE_VEC(pace_approach) approaches;
    PACE_VEC(char *) labels; /* of the approaches, as given */
    PACE_VEC(int) workers;
    PACE_VEC(double) batches;
    pace_model_settings settings;
    pace_config config;
    pace_model model;
    PACE_VEC(worker_step) steps;
} asked;

static void close_asked(asked *a) {
    for (size_t i = 0; i < a->steps.count; i++) pace_gradient_profile_free(&a->steps.items[i].profile);
    for (size_t i = 0; i < a->labels.count; i++) pace_free(a->labels.items[i]);
    PACE_VEC_FREE(&a->steps);
    PACE_VEC_FREE(&a->labels);
    PACE_VEC_FREE(&a->approaches);
    PACE_VEC_FREE(&a->workers);
    PACE_VEC_FREE(&a->batches);
    pace_model_free(&a->model);
    pace_model_settings_free(&a->settings);
    pace_approaches_free(&a->table);
    pace_device_catalog_free(&a->devices);
}

/* --- what is asked ------------------------------------------------------------------------------------------------ */

static bool whole(double *out, const char *text, double most) {
    char *end;
    *out = strtod(text, &end);
    return end != text && !*end && *out >= 1 && *out <= most && *out == floor(*out);
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
    return pace_fail(PACE_E_USAGE, "--workers: expected numbers such as 1..128 or 1,2,4,8, found \"%.60s\"", text);
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
    PACE_TRY(PACE_PUSH(&a->approaches, approach));
    char *label = pace_copy_text(text, strlen(text));
    if (!label) return PACE_E_MEMORY;
    pace_status status = PACE_PUSH(&a->labels, label);
    if (status != PACE_OK) pace_free(label);
    return status;
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

static pace_status read_batches(asked *a, const pace_words *given) {
    for (size_t i = 0; i < given->count; i++) {
        double batch;
        if (!whole(&batch, given->items[i], 1e9))
            return pace_fail(PACE_E_USAGE, "--batch: expected a number of samples from 1 to 1e9, found '%.80s'",
                             given->items[i]);
        PACE_TRY(PACE_PUSH(&a->batches, batch));
    }
    return given->count ? PACE_OK : PACE_PUSH(&a->batches, a->config.micro_batch);
}

static pace_status open_asked(asked *a, const char *model, const pace_scaling_options *options) {
    a->options = options;
    a->config = pace_config_default();
    if (!options->on)
        return pace_fail(PACE_E_USAGE, "expected a machine: --on dgx-1-v100 (paceline machines lists them)");
    if (!(options->one_worker >= 0) || !isfinite(options->one_worker))
        return pace_fail(PACE_E_USAGE, "--one-worker: expected samples per second above 0, found %g",
                         options->one_worker);
    PACE_TRY(pace_machine_parse(&a->machine, options->on));
    PACE_TRY(pace_device_catalog_load(&a->devices));
    PACE_TRY(pace_device_resolve(&a->device, &a->devices, a->machine.device, 0));
    PACE_TRY(pace_approaches_load(&a->table));
    PACE_TRY(read_approaches(a, &options->approach));
    PACE_TRY(options->workers ? read_workers(a, options->workers) : all_workers(a));
    PACE_TRY(pace_model_settings_read(&a->settings, &a->config, &options->set));
    PACE_TRY(read_batches(a, &options->batch));
    return pace_model_open(&a->model, model, a->settings.items.items, a->settings.items.count);
}

/* --- answers ------------------------------------------------------------------------------------------------------ */

/* Made once for each batch; as measured of one worker, when that is given. Valid until the next call. */
static pace_status step_of(const worker_step **out, asked *a, double batch) {
    worker_step step = {.batch = batch};
    pace_estimate step_s;
    pace_config config = a->config;
    for (size_t i = 0; i < a->steps.count; i++)
        if (a->steps.items[i].batch == batch) {
            *out = &a->steps.items[i];
            return PACE_OK;
        }
    config.micro_batch = batch;
    PACE_TRY(pace_gradient_profile_make(&step.profile, &step_s, &a->model, &config, a->device));
    step.spread = step_s.spread;
    if (a->options->one_worker > 0) {
        pace_gradient_profile_scale(&step.profile, batch / a->options->one_worker);
        step.spread = 0;
    }
    pace_status status = PACE_PUSH(&a->steps, step);
    if (status != PACE_OK) pace_gradient_profile_free(&step.profile);
    else *out = &a->steps.items[a->steps.count - 1];
    return status;
}

static pace_status batch_of_one(double *out, const asked *a, double batch, int workers) {
    *out = a->options->strong ? batch / workers : batch;
    if (*out == floor(*out) && *out >= 1) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "--strong: a batch of %g does not divide over %d workers", batch, workers);
}

typedef struct {
    double samples_per_s, efficiency;
    pace_scaling_point point;
    double fp_bp_s, wu_s;
} scaled;

/* Efficiency: against one worker with its batch (weak), or with all of the batch (strong). */
static pace_status scale(scaled *out, asked *a, const pace_approach *approach, double batch, int workers) {
    const worker_step *step;
    double each, copy_rate = a->device->pcie_bytes_per_s > 0 ? a->device->pcie_bytes_per_s : 1e10;
    PACE_TRY(batch_of_one(&each, a, batch, workers));
    PACE_TRY(step_of(&step, a, batch));
    double alone = batch / pace_gradient_profile_step_s(&step->profile);
    PACE_TRY(step_of(&step, a, each));
    PACE_TRY(pace_scaling_at(&out->point, &step->profile, step->spread, approach, &a->machine, copy_rate, workers));
    out->samples_per_s = each * workers / out->point.step_s.median;
    out->efficiency = out->samples_per_s / workers / alone;
    out->fp_bp_s = step->profile.forward_s + step->profile.backward_s;
    out->wu_s = out->point.step_s.median - out->fp_bp_s;
    return PACE_OK;
}

static int64_t ns(double s) { return llround(s * 1e9); }

static void put_row(pace_node *table, const char *label, double batch, int workers, const scaled *r) {
    pace_table_row(table);
    pace_table_text(table, label);
    pace_table_int(table, llround(batch));
    pace_table_int(table, workers);
    pace_table_int(table, ns(r->point.step_s.median));
    pace_table_int(table, (int64_t)floor(pace_estimate_low(r->point.step_s) * 1e9));
    pace_table_int(table, (int64_t)ceil(pace_estimate_high(r->point.step_s) * 1e9));
    pace_table_real(table, r->samples_per_s);
    pace_table_real(table, r->efficiency);
    pace_table_int(table, ns(r->fp_bp_s));
    pace_table_int(table, ns(r->wu_s));
    pace_table_int(table, ns(r->point.times.exposed_s));
    pace_table_int(table, ns(r->point.times.skew_s));
    pace_table_int(table, ns(r->point.times.exchange_s));
    pace_table_text(table, r->point.times.bottleneck);
}

static pace_status put_points(pace_node *root, asked *a) {
    pace_column columns[sizeof all_columns / sizeof *all_columns];
    memcpy(columns, all_columns, sizeof columns);
    if (a->approaches.count == 1) columns[0].title = NULL; /* people need not be told the same in every row */
    if (a->batches.count == 1) columns[1].title = NULL;
    pace_node *table = pace_node_table(root, "points", "By approach, batch and workers", PACE_FOR_ALL, columns,
                                       sizeof columns / sizeof *columns, 0);
    int most = a->workers.items[a->workers.count - 1];
    for (size_t p = 0; p < a->approaches.count; p++)
        for (size_t b = 0; b < a->batches.count; b++)
            for (size_t w = 0; w < a->workers.count; w++) {
                scaled row;
                int workers = a->workers.items[w];
                PACE_TRY(scale(&row, a, &a->approaches.items[p], a->batches.items[b], workers));
                put_row(table, a->labels.items[p], a->batches.items[b], workers, &row);
                if (workers != most || b + 1 < a->batches.count) continue;
                pace_node_sentence(root, p == 0,
                                   "%s: %d workers reach %.4g samples/s, %.1f %% efficient, limited by %s.",
                                   a->labels.items[p], workers, row.samples_per_s, 100 * row.efficiency,
                                   row.point.times.bottleneck);
            }
    return PACE_OK;
}

static pace_status build(pace_report *report, asked *a, const char *model) {
    pace_node *root = pace_report_root(report);
    pace_node_text(root, "model", model);
    pace_node_text(root, "machine", a->machine.name);
    pace_node_text(root, "device", a->device->name);
    pace_node_text(root, "scaling", a->options->strong ? "strong" : "weak");
    PACE_TRY(put_points(root, a));
    pace_node_note(
        root,
        "%s scaling: batch is of %s. Efficiency is against one worker%s. FP+BP is forward and backward, WU "
        "the rest: the update, what of the exchange nothing hides, and waiting for the slowest worker. low to high holds 9 of 10 measurements.",
        a->options->strong ? "Strong" : "Weak", a->options->strong ? "all workers" : "each worker",
        a->options->one_worker > 0 ? ", whose time is the one given" : "");
    pace_node_note(root, "The machine: %s (%s).", a->machine.source, a->machine.confidence);
    return pace_report_status(report);
}

pace_status pace_predict_scaling(pace_report **out, const char *model, const pace_scaling_options *options) {
    asked a = {0};
    pace_report *report = NULL;
    pace_status status = open_asked(&a, model, options);
    if (status == PACE_OK) status = pace_report_new(&report, "scaling", "How a step scales");
    if (status == PACE_OK) {
        pace_report_set_command(report, options->command, options->command_count);
        status = build(report, &a, model);
    }
    close_asked(&a);
    if (status == PACE_OK) *out = report;
    else pace_report_free(report);
    return status;
}
