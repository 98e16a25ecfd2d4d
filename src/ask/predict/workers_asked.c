#include "ask/predict/workers_asked.h"
#include "ask/predict/scaling_solve.h"
#include "base/decimal.h"
#include "exchange/approach_buffer.h"
#include "exchange/measured_ways.h"
#include "machine/device_resolve.h"

#include <math.h>
#include <string.h>

enum { MOST_WORKERS = 1 << 20 };

void pace_workers_asked_free(pace_workers_asked *a) {
    PACE_VEC_FREE_EACH(&a->inputs, pace_scaling_input_free);
    PACE_VEC_FREE(&a->points);
    pace_approach_list_free(&a->approaches);
    PACE_VEC_FREE(&a->workers, &a->batches);
    pace_approaches_free(&a->table);
    pace_predict_fits_free(&a->fits);
    pace_warnings_free(&a->warnings);
    pace_device_catalog_free(&a->devices);
}

/* --- what is asked ------------------------------------------------------------------------------------------------ */

static bool whole(double *out, const char *text, double most) {
    return pace_number_parse(out, text) && *out >= 1 && *out <= most && *out == floor(*out);
}

/* "1..100": each twice the last, and the end; "1,2,4,8": those. */
static pace_status read_workers(pace_workers_asked *a, const char *text) {
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
            for (double n = from; n < to; n *= 2) PACE_TRY(PACE_PUSH(&a->workers, (int)n));
            return PACE_PUSH(&a->workers, (int)to);
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

static pace_status all_workers(pace_workers_asked *a) {
    int most = a->machine.devices * a->machine.nodes;
    for (int n = 1; n < most; n *= 2)
        if (n <= a->machine.devices || n % a->machine.devices == 0) PACE_TRY(PACE_PUSH(&a->workers, n));
    return PACE_PUSH(&a->workers, most);
}

static pace_status read_approaches(pace_workers_asked *a, const pace_words *given) {
    pace_approach_list *list = &a->approaches;
    PACE_TRY(given->count ? pace_approach_list_read(list, &a->table, given)
                          : pace_approach_list_add(list, &a->table, "ddp"));
    for (size_t i = 0; i < list->items.count; i++)
        PACE_TRY(pace_approach_set_jitter(&list->items.items[i], a->options->jitter));
    return PACE_OK;
}

static pace_status add_batches(pace_workers_asked *a, const char *text) {
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

/* Measured curves are of all-reduces, as the library chose them or by the algorithm that they name. */
static pace_status check_curves(const pace_workers_asked *a, const pace_approach *approach) {
    int algorithm = pace_approach_algorithm(approach);
    const char *name = algorithm == PACE_ANY ? NULL : pace_exchange_algorithms[algorithm].name;
    if (!a->fits.exchanges_path) return PACE_OK;
    if (approach->family != PACE_APPROACH_ALLREDUCE)
        return pace_fail(PACE_E_USAGE, "fit: %s has no effect on approach %s: its curves are of all-reduces",
                         a->fits.exchanges_path, approach->name);
    if (name && !pace_fit_names_algorithm(&a->fits.exchanges, name))
        return pace_fail(PACE_E_USAGE, "fit: %s has no effect on approach %s: no curve names its algorithm, %s",
                         a->fits.exchanges_path, approach->name, name);
    return PACE_OK;
}

/* Whole steps are fitted one by one, and a recording has its own kernels. */
static pace_status open_fits(pace_workers_asked *a) {
    PACE_TRY(pace_predict_fits_open(&a->fits, &a->options->fits));
    if (a->fits.step_path)
        return pace_fail(PACE_E_USAGE,
                         "fit: %s is a fit of whole steps: expected one of kernels or of exchanges with " PACE_FIELD
                         "workers",
                         a->fits.step_path);
    for (size_t i = 0; i < a->inputs.count && a->options->fits.count; i++)
        if (!a->inputs.items[i].is_model)
            return pace_fail(PACE_E_USAGE, "fit: has no effect on several workers of a recording (%s): expected models",
                             a->inputs.items[i].name);
    PACE_ITEMS (const pace_approach, approach, &a->approaches.items) PACE_TRY(check_curves(a, approach));
    return PACE_OK;
}

static pace_status open_inputs(pace_workers_asked *a, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++) {
        pace_scaling_input input;
        PACE_TRY(pace_scaling_input_open(&input, names[i], a->device, &a->devices, a->options));
        pace_status status = PACE_PUSH(&a->inputs, input);
        if (status != PACE_OK) {
            pace_scaling_input_free(&input);
            return status;
        }
    }
    return PACE_OK;
}

static pace_status open_asked(pace_workers_asked *a, const char *const *names, size_t count,
                              const pace_scaling_options *options) {
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
    if (options->batch.count && pace_settings_name_batch(&options->set))
        return pace_fail(PACE_E_USAGE, "batch: expected the batch once, found it in " PACE_FIELD "set, too");
    for (size_t i = 0; i < options->batch.count; i++) PACE_TRY(add_batches(a, options->batch.items[i]));
    PACE_TRY(open_inputs(a, names, count));
    return open_fits(a);
}

/* --- answers ------------------------------------------------------------------------------------------------------ */

static pace_status batch_of_one(double *out, const pace_workers_asked *a, double batch, int workers) {
    *out = a->options->strong ? batch / workers : batch;
    if (*out == floor(*out) && *out >= 1) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "strong: a batch of %g does not divide over %d workers", batch, workers);
}

static pace_scaling_words words_of(pace_workers_asked *a, const pace_scaling_input *input,
                                   const pace_approach *approach, int workers, double batch) {
    return (pace_scaling_words){.name = input->name,
                                .set = &a->options->set,
                                .approach = approach,
                                .device = a->device,
                                .machine = &a->machine,
                                .workers = workers,
                                .batch = batch,
                                .fits = &a->fits};
}

/* A model's step is the question that a row or --set dp asks. FP+BP is what a worker takes for its samples alone, and
 * exposed what the exchange adds to that: where a host leaves its device idle, exchanges run in gaps that are there
 * without them too. One who must recompute what the workers keep, since ZeRO shares out the model, is no measure:
 * *alone is 0. */
static pace_status scale_model(pace_workers_point *out, double *alone, pace_workers_asked *a, pace_scaling_input *input,
                               const pace_approach *approach, double batch, double each, int workers) {
    pace_step_solution one, all;
    bool recomputed;
    double rate = a->options->one_worker;
    pace_scaling_words words = words_of(a, input, approach, 1, batch);
    words.own_s = rate > 0 ? batch / rate : 0;
    PACE_TRY(pace_scaling_solve(&one, a->options->context->catalog, &words));
    *alone = batch / one.time_s.median;
    recomputed = one.recomputed;
    words.batch = each;
    words.own_s = rate > 0 ? each / rate : 0;
    if (each != batch) PACE_TRY(pace_scaling_solve(&one, a->options->context->catalog, &words));
    words.workers = workers;
    PACE_TRY(pace_scaling_solve(&all, a->options->context->catalog, &words));
    out->point = (pace_scaling_point){.step_s = all.time_s};
    if (recomputed != all.recomputed) *alone = 0;
    bool alike = one.recomputed == all.recomputed;
    double added_s = alike ? all.time_s.median - all.exchange.skew_s - one.time_s.median : all.exchange.exposed_s;
    out->point.times = (pace_gradient_times){.exposed_s = workers > 1 ? fmax(0, added_s) : 0,
                                             .skew_s = all.exchange.skew_s,
                                             .exchange_s = all.exchange.exchange_s,
                                             .bottleneck = pace_scaling_bottleneck(&all)};
    out->fp_bp_s = alike ? one.forward_backward_s : all.forward_backward_s - all.exchange.exposed_s;
    out->fitting = all.fitting;
    out->recomputed = all.recomputed;
    out->memory_bytes = all.plan.memory.all_bytes + all.exchange.merging.most_bytes;
    out->first_bytes = all.plan.memory.all_bytes + all.exchange.merging.first_bytes;
    out->room = pace_step_tightest(&all.plan, all.exchange.merging.most_bytes);
    return PACE_OK;
}

/* A recording of one worker has no step of several to walk: lanes say what of its exchange nothing hides. */
static pace_status scale_recording(pace_workers_point *out, double *alone, pace_workers_asked *a,
                                   pace_scaling_input *input, const pace_approach *approach, double batch, double each,
                                   int workers) {
    const pace_worker_step *step;
    PACE_TRY(pace_scaling_input_step(&step, input, batch));
    *alone = batch / pace_gradient_profile_step_s(&step->profile);
    PACE_TRY(pace_scaling_input_step(&step, input, each));
    PACE_TRY(pace_scaling_at(&out->point, a->options->context->catalog, &step->profile, step->spread, approach,
                             &a->machine, a->device, workers));
    out->fp_bp_s = step->profile.forward_s + step->profile.backward_s;
    return PACE_OK;
}

/* Efficiency: against one worker with its batch (weak), or with all of the batch (strong); else against the first of
 * the `before` points of this curve that recomputes as this one does. */
static pace_status scale(pace_workers_point *out, pace_workers_asked *a, pace_scaling_input *input,
                         const pace_approach *approach, double batch, int workers, const pace_workers_point *curve,
                         size_t before) {
    double each, alone;
    const pace_workers_point *first = NULL;
    PACE_TRY(batch_of_one(&each, a, batch, workers));
    PACE_TRY((input->is_model ? scale_model : scale_recording)(out, &alone, a, input, approach, batch, each, workers));
    out->samples_per_s = each * workers / out->point.step_s.median;
    for (size_t i = before; i-- > 0;)
        if (curve[i].recomputed == out->recomputed) first = &curve[i];
    out->against = alone > 0 ? 1 : first ? first->workers : workers;
    if (!(alone > 0)) alone = first ? first->samples_per_s / first->workers : out->samples_per_s / workers;
    out->efficiency = out->samples_per_s / workers / alone;
    out->wu_s = out->point.step_s.median - out->fp_bp_s;
    return PACE_OK;
}

static pace_status add_curve(pace_workers_asked *a, size_t input, size_t approach, double batch) {
    size_t begin = a->points.count;
    for (size_t w = 0; w < a->workers.count; w++) {
        pace_workers_point point = {.input = input,
                                    .approach = approach,
                                    .batch = batch,
                                    .workers = a->workers.items[w]};
        PACE_TRY(scale(&point, a, &a->inputs.items[input], &a->approaches.items.items[approach], batch,
                       a->workers.items[w], a->points.items + begin, w));
        PACE_TRY(PACE_PUSH(&a->points, point));
    }
    return PACE_OK;
}

static pace_status add_points(pace_workers_asked *a) {
    for (size_t i = 0; i < a->inputs.count; i++) {
        double own = pace_scaling_input_batch(&a->inputs.items[i]);
        for (size_t k = 0; k < a->approaches.items.count; k++) {
            if (a->batches.count == 0) PACE_TRY(add_curve(a, i, k, own));
            for (size_t b = 0; b < a->batches.count; b++) PACE_TRY(add_curve(a, i, k, a->batches.items[b]));
        }
    }
    return PACE_OK;
}

const pace_workers_point *pace_workers_first(const pace_workers_asked *a, pace_step_fitting fitting) {
    for (size_t i = 0; i < a->points.count; i++)
        if (a->points.items[i].fitting == fitting) return &a->points.items[i];
    return NULL;
}

/* Of the first point that does not fit, else of the first that may not. */
static pace_status find_advice(pace_workers_asked *a) {
    const pace_workers_point *first = pace_workers_first(a, PACE_TOO_LARGE);
    if (!first) first = pace_workers_first(a, PACE_MAY_FIT);
    if (!first) return PACE_OK;
    double times = a->options->strong ? first->workers : 1;
    const pace_scaling_words words =
        words_of(a, &a->inputs.items[first->input], &a->approaches.items.items[first->approach], first->workers,
                 first->batch / times);
    return pace_scaling_advise(a->advice, sizeof a->advice, a->options->context->catalog, &words, "--set ", "--batch ",
                               times);
}

static pace_status check_fits(pace_workers_asked *a) {
    pace_curves_told told = {0};
    PACE_TRY(pace_predict_fits_check(&a->fits));
    PACE_ITEMS (pace_own_curves *, curves, &a->fits.curves) pace_curves_told_add(&told, *curves);
    return pace_predict_fits_told(&a->warnings, &a->fits, &told);
}

pace_status pace_workers_ask(pace_workers_asked *out, const char *const *names, size_t count,
                             const pace_scaling_options *options) {
    PACE_TRY(open_asked(out, names, count, options));
    PACE_TRY(add_points(out));
    PACE_TRY(check_fits(out));
    return find_advice(out);
}
