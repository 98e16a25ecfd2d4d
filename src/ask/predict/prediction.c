#include "ask/predict/prediction.h"
#include "ask/predict/predict_calibration.h"
#include "ask/predict/prediction_model.h"
#include "ask/predict/prediction_settle.h"
#include "base/numbers.h"
#include "source/model_inputs.h"

#include <math.h>

void pace_prediction_close(pace_prediction *p) {
    for (size_t i = 0; i < p->result_count; i++) pace_forecast_result_free(&p->results[i]);
    pace_free(p->results);
    pace_catalog_free(p->catalog);
    if (p->whole) pace_forecast_result_free(p->whole);
    pace_free(p->whole);
    pace_memory_series_free(&p->memory);
    pace_scenarios_free(&p->scenarios);
    pace_predict_inputs_free(&p->inputs);
    pace_step_asked_close(&p->step);
    pace_predict_fits_free(&p->fits);
    pace_device_catalog_free(&p->devices);
}

/* How a step is issued depends on who does its work: the operators themselves, or a device that is handed it. */
static pace_status check_one_kind(const pace_prediction *p) {
    const pace_device *first = NULL;
    for (size_t i = 0; i < p->scenarios.items.count; i++) {
        const pace_device *device = p->scenarios.items.items[i].device;
        if (!first) first = device;
        if (device && device->is_cpu != first->is_cpu)
            return pace_fail(PACE_E_USAGE, "on: ask for CPUs and for accelerators in two calls, found %s and %s",
                             first->name, device->name);
    }
    return PACE_OK;
}

bool pace_prediction_of_host(const pace_prediction *p) {
    return p->inputs.is_measured && pace_analysis_slowest(&p->inputs.measured)->work.host_is_device;
}

static const char left_alone[] =
    "the trace has no device work: the other what-ifs are answered together with --on, not each alone";

/* Of what-ifs about kernels those stay that a device is part of. */
static pace_status keep_moved(pace_prediction *p) {
    size_t kept = 1; /* the step as it is */
    for (size_t i = 1; i < p->scenarios.items.count; i++) {
        if (p->scenarios.items.items[i].device) p->scenarios.items.items[kept++] = p->scenarios.items.items[i];
        else pace_scenario_free(&p->scenarios.items.items[i]);
    }
    p->scenarios.items.count = kept;
    return pace_warn(&p->inputs.warnings, PACE_WARN_WHAT_IF_JOINED, NULL, "%s", left_alone);
}

/* Steps of the host alone have no kernels to change until they are on a device. */
static pace_status take_host_to_device(pace_prediction *p, const pace_predict_options *options) {
    bool at_odds;
    bool asked = pace_what_ifs_asked(&at_odds, options) > 0; /* sets at_odds */
    bool about_device =
        (asked && pace_what_ifs_need_device(options)) || (options->overheads.count && !options->on.count);
    if (!pace_prediction_of_host(p)) return PACE_OK;
    if (about_device && (!options->on.count || at_odds))
        return pace_fail(PACE_E_INPUT,
                         "%s: this what-if needs a trace with device work, found host operators alone (" PACE_FIELD
                         "on moves them, with one " PACE_FIELD "batch and one " PACE_FIELD "precision at most)",
                         p->inputs.measured.traces.items[0]->path);
    if (!options->on.count) return PACE_OK;
    if (about_device) PACE_TRY(keep_moved(p));
    PACE_TRY(check_one_kind(p));
    return pace_forecast_offload(&p->inputs.forecast, p->scenarios.items.items[p->scenarios.items.count - 1].device,
                                 NULL);
}

/* On a CPU the operators of a step with device work do that work themselves. */
static pace_status take_device_to_host(pace_prediction *p) {
    bool on_cpu = false;
    for (size_t i = 0; i < p->scenarios.items.count; i++) {
        const pace_device *device = p->scenarios.items.items[i].device;
        on_cpu |= device && device->is_cpu;
    }
    if (!on_cpu || !p->inputs.is_measured || pace_prediction_of_host(p)) return PACE_OK;
    PACE_TRY(check_one_kind(p));
    return pace_forecast_onload(&p->inputs.forecast);
}

/* Host costs of files, pooled, in place of the inputs' own. */
static pace_status share_overheads(pace_prediction *p, const pace_predict_options *options) {
    pace_host_costs shared;
    p->shared = options->overheads.count > 0;
    if (!p->shared) return PACE_OK;
    PACE_TRY(pace_host_costs_init(&shared));
    pace_status status = PACE_OK;
    for (size_t i = 0; status == PACE_OK && i < options->overheads.count; i++)
        status = pace_host_costs_read(&shared, options->overheads.items[i]);
    if (status == PACE_OK && !(shared.types[PACE_T2].log_count > 0))
        status = pace_fail(PACE_E_INPUT, "%s: expected host overheads of operators that launch (t2), found none",
                           options->overheads.items[0]);
    if (status == PACE_OK) status = pace_forecast_share_costs(&p->inputs.forecast, &shared);
    pace_host_costs_free(&shared);
    return status;
}

static pace_status calibrate(pace_prediction *p, const pace_predict_options *options) {
    if (options->calibrate.count && !p->inputs.is_measured)
        return pace_fail(PACE_E_USAGE, PACE_FIELD "calibrate is of moves from a trace, found a step without times");
    for (size_t i = 0; i < options->calibrate.count; i++)
        PACE_TRY(
            pace_predict_calibrate(&p->calibration, options->calibrate.items[i], p->inputs.forecast.cost, options));
    p->inputs.forecast.calibration = &p->calibration;
    return PACE_OK;
}

/* What is no model needs no device, but another name. */
static pace_status refuse_without_device(const char *name, bool named, const pace_predict_options *options) {
    if (named && strcmp(name, "-") != 0) {
        pace_model model;
        PACE_TRY(pace_model_open(&model, options->context->catalog, name, NULL, 0));
        pace_model_free(&model);
    }
    return pace_fail(PACE_E_USAGE, "%s: %s: name the device it would run on with " PACE_FIELD "on", name,
                     named ? "a model, which has no times" : "settings are of the model found in it");
}

/* A model is asked about on the first device or machine that is named. */
static pace_status open_model(pace_prediction *p, const char *name, const pace_predict_options *options) {
    const pace_scenario *base = &p->scenarios.items.items[0];
    bool named;
    PACE_TRY(pace_predict_is_model(&named, name));
    if (!base->device) return refuse_without_device(name, named, options);
    if (p->fits.step_path && base->device->is_cpu)
        return pace_fail(PACE_E_USAGE, "fit: %s is a fit of steps on accelerators, found the CPU %s", p->fits.step_path,
                         base->device->name);
    pace_step_words words = {.name = name,
                             .set = &options->set,
                             .approach = options->approach,
                             .jitter = options->jitter,
                             .device = base->device,
                             .machine = base->has_exchange ? &base->machine : NULL,
                             .host_bytes = base->machine.host_memory_bytes,
                             .fits = &p->fits,
                             .compared = options->on.count > 1};
    return pace_step_asked_open(&p->step, options->context->catalog, &words);
}

/* What only a recording has. */
static pace_status check_model_options(const pace_predict_options *options) {
    const char *said = options->from            ? "from"
                       : options->samples != 0  ? "samples"
                       : options->step_regex    ? "step_regex"
                       : options->steps.numbers ? "steps"
                       : options->steps.skip    ? "skip"
                                                : NULL;
    if (!said) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "%s: has no effect on a model, whose step is not recorded", said);
}

static pace_status open_fits(pace_prediction *p, const char *path, const pace_predict_options *options) {
    p->fit_factor = 1;
    PACE_TRY(pace_predict_fits_open(&p->fits, &options->fits));
    if (p->is_model || !p->fits.step_path) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "fit: %s is a fit of models' steps, which a recording (%s) has no use for",
                     p->fits.step_path, path);
}

/* What-ifs of a step that is answered in closed form are those of its operators, whose ranks exchange as NCCL does and
 * are alike: the framework's constants hold that they are not. */
static void find_framed(pace_prediction *p, const pace_predict_options *options) {
    bool at_odds, changed = options->on.count == 1 && pace_what_ifs_asked(&at_odds, options) > 0;
    p->is_framed = changed && !options->overheads.count && !options->calibrate.count &&
                   !pace_step_is_walked(&p->step.asked) && pace_step_has_operators(&p->step.asked);
    for (size_t i = 0; p->is_framed && i < p->scenarios.items.count; i++)
        p->scenarios.items.items[i].has_approach = false;
}

/* Measured curves answer for every machine that is asked about. */
static pace_status join_scenarios(pace_prediction *p, const pace_predict_options *options) {
    PACE_ITEMS (pace_scenario, scenario, &p->scenarios.items)
        if (scenario->has_exchange)
            PACE_TRY(pace_predict_fits_join(&p->fits, options->context->catalog, &scenario->exchange));
    return PACE_OK;
}

/* What is asked; models are opened, everything else is read later. */
pace_status pace_prediction_open(pace_prediction *p, const char *const *paths, size_t path_count,
                                 const pace_predict_options *options) {
    bool timed;
    pace_approach ddp;
    pace_predict_options usual = *options;
    PACE_TRY(pace_device_catalog_load(&p->devices, options->context->catalog));
    PACE_TRY(pace_predict_is_model(&p->is_model, paths[0]));
    p->is_model |= path_count == 1 && options->set.count > 0; /* of a recording: the model found in it */
    PACE_TRY(open_fits(p, paths[0], options));
    if (p->is_model) PACE_TRY(check_model_options(options));
    if (!p->is_model && options->approach)
        return pace_fail(PACE_E_USAGE, "approach is for models, found '%s'", paths[0]);
    if (!p->is_model && options->samples > 0 && pace_what_if_words(&usual, "batch")->count == 0)
        return pace_fail(PACE_E_USAGE, "samples: has no effect without " PACE_FIELD
                                       "batch: the step is predicted with as many as it has");
    for (size_t i = 1; i < path_count; i++) {
        bool model;
        PACE_TRY(pace_predict_is_model(&model, paths[i]));
        if (model != p->is_model)
            return pace_fail(PACE_E_USAGE, "expected traces or one model: '%s' is read as a model, '%s' as a trace",
                             paths[model ? i : 0], paths[model ? 0 : i]);
        if (model) return pace_fail(PACE_E_USAGE, "expected one model, found '%s' after '%s'", paths[i], paths[0]);
    }
    if (p->is_model && !usual.approach) {
        PACE_TRY(pace_step_usual_approach(&ddp, options->context->catalog));
        usual.approach = ddp.name;
    }
    PACE_TRY(pace_predict_inputs_have_times(&timed, paths, path_count));
    timed &= !p->is_model;
    PACE_TRY(pace_scenarios_make(&p->scenarios, &usual, timed, &p->devices)); /* before anything long */
    PACE_TRY(join_scenarios(p, options));
    if (!timed && (options->steps.numbers || options->steps.skip))
        return pace_fail(PACE_E_USAGE, "%s: has no effect on '%s', which holds one step without times",
                         options->steps.numbers ? "steps" : "skip", paths[0]);
    if (!timed) PACE_TRY(check_one_kind(p));
    if (!p->is_model) return PACE_OK;
    PACE_TRY(open_model(p, paths[0], options));
    find_framed(p, options);
    return PACE_OK;
}

static pace_status check_curves(pace_prediction *p) {
    pace_curves_told told = {0};
    PACE_ITEMS (const pace_scenario, scenario, &p->scenarios.items)
        if (scenario->has_exchange) pace_curves_told_add(&told, pace_own_curves_of(&scenario->exchange));
    return pace_predict_fits_told(&p->inputs.warnings, &p->fits, &told);
}

/* A recording in a precision that its own device lacks is asked about on the others alone. */
static pace_status leave_unrated(pace_prediction *p) {
    const pace_device *recorded = p->inputs.forecast.device;
    if (p->is_model) return PACE_OK;
    const char *single = p->inputs.is_measured ? pace_scenarios_leave_single(&p->scenarios) : NULL;
    if (single)
        PACE_TRY(pace_warn(&p->inputs.warnings, PACE_WARN_WHAT_IF_JOINED, single,
                           "\"%s\" is answered together with the precision alone: the device has no rate for fp32",
                           single));
    const char *left_out = pace_scenarios_leave_unrated(&p->scenarios, recorded);
    if (!left_out) return PACE_OK;
    return pace_warn(
        &p->inputs.warnings, PACE_WARN_WHAT_IF_JOINED, left_out,
        "\"%s\" is answered together with the other device alone: %s, which the step was recorded on, has no "
        "rate for it",
        left_out, recorded->name);
}

/* Files without times are a rank each. */
static pace_status check_ranks(const pace_prediction *p) {
    const pace_scenario *first = &p->scenarios.items.items[0];
    size_t ranks = p->inputs.forecast.ranks.count;
    double devices = (double)first->machine.devices * first->machine.nodes;
    if (p->is_model || p->inputs.is_measured || !first->has_exchange || (double)ranks <= devices) return PACE_OK;
    return pace_fail(PACE_E_USAGE,
                     "%s: %zu files are so many ranks, %s has %.0f devices: expected the files of one run, a larger "
                     "machine, or " PACE_FIELD "simulate, which tells runs apart",
                     p->inputs.paths.items[0], ranks, first->machine.name, devices);
}

pace_status pace_prediction_run(pace_prediction *p, const char *const *paths, size_t path_count,
                                const pace_predict_options *options) {
    const pace_device *first = p->scenarios.items.items[0].device; /* NULL where traces are as they are */
    PACE_TRY(
        pace_predict_inputs_read(&p->inputs, paths, path_count, first, p->is_model ? &p->step.asked : NULL, options));
    if (!p->is_model) PACE_TRY(pace_predict_inputs_place(&p->inputs, &p->devices, options->from));
    PACE_TRY(check_ranks(p));
    PACE_TRY(leave_unrated(p));
    for (size_t i = 0; i < p->scenarios.items.count && options->samples == 0; i++)
        p->scenarios.items.items[i].samples = p->inputs.samples;
    p->scenarios.items.items[p->scenarios.items.count - 1].explains = true;
    if (!PACE_MAKE(p->results, p->scenarios.items.count)) return PACE_E_MEMORY;
    if (p->is_model) PACE_TRY(pace_prediction_walk_model(p, options));
    else PACE_TRY(pace_predict_fits_kernels(&p->fits, p->inputs.forecast.cost));
    PACE_TRY(pace_prediction_find_gap(p, options));
    PACE_TRY(take_host_to_device(p, options));
    PACE_TRY(share_overheads(p, options));
    PACE_TRY(take_device_to_host(p));
    PACE_TRY(calibrate(p, options));
    for (; p->result_count < p->scenarios.items.count; p->result_count++)
        PACE_TRY(pace_forecast_run(&p->results[p->result_count], &p->inputs.forecast,
                                   &p->scenarios.items.items[p->result_count]));
    if (!(p->results[0].step_s.median > 0))
        return pace_fail(PACE_E_INPUT, "%s: expected a step that takes time, found work of 0 ns", paths[0]);
    pace_predict_fits_note(&p->fits, p->inputs.forecast.cost);
    PACE_TRY(pace_predict_fits_check(&p->fits));
    PACE_TRY(check_curves(p));
    PACE_TRY(pace_prediction_settle(p, options));
    PACE_TRY(pace_forecast_host_levels(p->host_levels, &p->inputs.forecast));
    return p->is_model ? pace_predict_fits_warn(&p->inputs.warnings, &p->fits, &p->step.asked) : PACE_OK;
}
