#include "ask/predict/prediction.h"
#include "ask/predict/predict_calibration.h"
#include "base/numbers.h"
#include "forecast/forecast_estimate.h"
#include "forecast/saving_bound.h"
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

/* A walked step moves by the ratio of closed forms, and so does each of its what-ifs. What is answered in closed form
 * stays so, and its what-ifs move by its ratio to the walk. */
static void move_to_answer(pace_prediction *p) {
    pace_step_solution walked = p->step.settled;
    if (!p->fits.step_path && !p->is_framed) return;
    if (!p->is_framed) walked.time_s = p->results[0].step_s;
    pace_estimate fitted = pace_predict_fits_step(&p->fits, &walked, &p->step.asked);
    p->fit_factor = fitted.median / p->results[0].step_s.median;
    for (size_t i = 0; i < p->result_count; i++) {
        p->results[i].step_s.median = i == 0 ? fitted.median : p->fit_factor * p->results[i].step_s.median;
        p->results[i].step_s.spread = i == 0 ? fitted.spread : fmax(fitted.spread, p->results[i].step_s.spread);
        p->results[i].step_s.rung = fitted.rung;
    }
}

/* As asked; under a what-if products may be others. */
static void hold_to_peak(pace_prediction *p) {
    if (p->is_model) p->results[0].step_s.least = p->step.settled.closed_s.least;
}

static pace_status warn_of_first_uses(pace_prediction *p) {
    PACE_ITEMS (const pace_forecast_rank, rank, &p->inputs.forecast.ranks) {
        if (rank->first_uses.count == 0) continue;
        bool one = rank->first_uses.count == 1;
        PACE_TRY(
            pace_warn(&p->inputs.warnings, PACE_WARN_FIRST_USES, rank->name,
                      "%zu first use%s, %s%.80s, took %.4g s: a step that is repeated does not make %s, and %s left "
                      "out",
                      rank->first_uses.count, one ? "" : "s", one ? "" : "such as ",
                      pace_names_text(&rank->graph.names, rank->first_uses.longest), rank->first_uses.total_ns * 1e-9,
                      one ? "it" : "them", one ? "it was" : "they were"));
        p->first_uses += rank->first_uses.count;
    }
    return PACE_OK;
}

static pace_status doubt_replay(pace_prediction *p) {
    enum { LARGE_PERCENT = 10, MOST_TIMES = 3 };
    if (!p->inputs.is_measured) return PACE_OK;
    PACE_TRY(warn_of_first_uses(p));
    double measured_s = pace_forecast_measured_ns(&p->inputs.forecast) / 1e9, replayed_s = p->results[0].step_s.median;
    double gap = pace_forecast_gap(&p->inputs.forecast, replayed_s);
    p->replay_error = pace_part_of(replayed_s, measured_s) - 1;
    if (gap > log(MOST_TIMES))
        return pace_fail(PACE_E_INPUT,
                         "%s: replayed from one figure for each operator its step takes %.4g ms, where %.4g ms were "
                         "measured: what it would be otherwise cannot be said. Record several steps behind a warm-up, "
                         "and all threads",
                         p->inputs.forecast.ranks.items[0].name, replayed_s * 1e3, measured_s * 1e3);
    for (size_t i = 0; i < p->result_count; i++) pace_forecast_doubt_replay(&p->results[i], gap);
    if (100 * gap < LARGE_PERCENT) return PACE_OK;
    return pace_warn(
        &p->inputs.warnings, PACE_WARN_REPLAY_OFF, NULL,
        "the replay of the recording is %+.0f %% off it: operators or launches are missing, or differ much "
        "from call to call. Every interval is as much wider",
        100 * p->replay_error);
}

bool pace_prediction_within_replay(const pace_prediction *p, double longer) {
    return p->inputs.is_measured && p->first_uses == 0 && fabs(log(longer)) < fabs(log1p(p->replay_error));
}

/* What its scenarios act on, where that is known; whether it is of any. */
static bool find_sets(unsigned *sets, const pace_prediction *p) {
    unsigned any = 0;
    for (size_t i = 1; i < p->result_count; i++) any |= sets[i] = pace_scenario_acts_on(&p->scenarios.items.items[i]);
    return any != 0;
}

static pace_status hold_to(pace_prediction *p, size_t number, double at_most) {
    const pace_scenario *scenario = &p->scenarios.items.items[number];
    pace_forecast_result *result = &p->results[number];
    double walked_s = result->step_s.median, now_s = p->results[0].step_s.median;
    double samples = pace_saving_samples(scenario->batch, &result->edits);
    if (!pace_saving_hold(&result->step_s, now_s, samples, at_most)) return PACE_OK;
    return pace_warn(&p->inputs.warnings, PACE_WARN_SAVING_BOUNDED, scenario->label,
                     "walked with one figure for each operator the step would take %.4g ms; the recorded step without "
                     "all that this acts on would be %.1f %% shorter, and no more than that is said to be saved",
                     walked_s * 1e3, 100 * at_most);
}

static pace_status hold_all(pace_prediction *p, const pace_critical *critical, const unsigned *sets) {
    const pace_analysis *measured = &p->inputs.measured;
    double *at_most = pace_alloc(p->result_count, sizeof *at_most);
    if (!at_most) return PACE_E_MEMORY;
    pace_status status = pace_saving_bounds(at_most, critical, measured, pace_analysis_slowest(measured),
                                            p->inputs.steps, sets, p->result_count);
    for (size_t i = 1; status == PACE_OK && i < p->result_count; i++)
        if (sets[i]) status = hold_to(p, i, at_most[i]);
    pace_free(at_most);
    return status;
}

/* As analyze does with its remedies. A recording that has no path, or whose path cannot be walked, has no bounds. */
static pace_status hold_savings(pace_prediction *p) {
    const pace_analysis *measured = &p->inputs.measured;
    pace_critical critical;
    if (!p->inputs.is_measured || p->result_count < 2) return PACE_OK;
    unsigned *sets = pace_alloc(p->result_count, sizeof *sets);
    if (!sets) return PACE_E_MEMORY;
    pace_status status = PACE_OK;
    if (find_sets(sets, p)) {
        status = pace_critical_find_across(&critical, measured, pace_analysis_slowest(measured));
        if (status == PACE_OK) {
            if (critical.pieces.count) status = hold_all(p, &critical, sets);
            pace_critical_free(&critical);
        }
    }
    pace_free(sets);
    return status == PACE_E_INPUT ? PACE_OK : status;
}

/* Hosts of files are the walk's alone. */
static pace_status check_walk(const pace_prediction *p, const pace_predict_options *options) {
    if (!p->is_model || p->is_framed || p->step.asked.device->is_cpu || options->overheads.count) return PACE_OK;
    return pace_step_check_walk(&p->step.settled, &p->step.pricer, &p->step.asked, p->results[0].step_s);
}

static pace_status check_curves(pace_prediction *p) {
    pace_curves_told told = {0};
    PACE_ITEMS (const pace_scenario, scenario, &p->scenarios.items)
        if (scenario->has_exchange) pace_curves_told_add(&told, pace_own_curves_of(&scenario->exchange));
    return pace_predict_fits_told(&p->inputs.warnings, &p->fits, &told);
}

/* What the first rank lacks that lacks something. Without any kernel there is no step to predict, unless operators move
 * to a device by their shapes. */
static pace_status find_gap(pace_prediction *p, const pace_predict_options *options) {
    const pace_analysis *measured = &p->inputs.measured;
    for (size_t i = 0; p->inputs.is_measured && !*p->gap && i < measured->ranks.count; i++) {
        const pace_rank *rank = measured->ranks.items[i];
        const pace_marks *marks = &rank->marks;
        int64_t from_ns = 0, to_ns = 0;
        if (marks->items.count) {
            from_ns = marks->items.items[0].from_ns;
            to_ns = marks->items.items[marks->items.count - 1].to_ns;
        }
        PACE_TRY(pace_evidence_find(&p->evidence, measured->classes, rank, from_ns, to_ns));
        if (p->evidence.lacks == PACE_EVIDENCE_WHOLE) continue;
        pace_evidence_say(p->gap, sizeof p->gap, &p->evidence, to_ns - from_ns, "recording");
        if (p->evidence.lacks == PACE_EVIDENCE_NO_KERNELS && !options->on.count)
            return pace_fail(PACE_E_INPUT, "%s: %s: there is no step to predict. Record it with the device's activity",
                             rank->path, p->gap);
    }
    return PACE_OK;
}

/* Work that no kernel stands for: launches without one may have had as much as the others. */
static void doubt_gap(pace_prediction *p) {
    const pace_evidence *e = &p->evidence;
    double share = e->launches ? (double)e->without_work / (double)e->launches : 0;
    if (e->lacks != PACE_EVIDENCE_FEW_KERNELS || !(share < 1)) return;
    for (size_t i = 0; i < p->result_count; i++) {
        pace_forecast_result *result = &p->results[i];
        result->step_s.spread = hypot(result->step_s.spread, -log(1 - share));
        result->used.added[PACE_DOUBT_WALK] = hypot(result->used.added[PACE_DOUBT_WALK], -log(1 - share));
    }
}

/* A fit's own error holds how attention ran in its rows, as for a row. */
static void doubt_assumed(pace_prediction *p) {
    for (size_t i = 0; p->is_model && i < p->result_count; i++) {
        pace_forecast_result *result = &p->results[i];
        pace_step_case asked = p->step.asked;
        if (p->scenarios.items.items[i].device) asked.device = p->scenarios.items.items[i].device;
        if (!p->fits.step_path) pace_step_doubt_kernels(&result->step_s, &result->used, &p->step.pricer, &asked);
        pace_step_doubt_assumed(&result->step_s, &result->used, &p->step.pricer, &asked);
    }
}

static pace_status hold_stages(pace_prediction *p) {
    const pace_forecast_ranks_vec *ranks = &p->inputs.forecast.ranks;
    if (!p->is_model || p->step.asked.device->is_cpu || ranks->count < 2) return PACE_OK;
    const pace_graph **graphs = pace_alloc(ranks->count, sizeof *graphs);
    if (!graphs) return PACE_E_MEMORY;
    for (size_t i = 0; i < ranks->count; i++) graphs[i] = &ranks->items[i].graph;
    pace_status status =
        pace_memory_series_of(&p->memory, &p->results[0].analysis, graphs, ranks->count, &p->step.settled.plan);
    pace_free(graphs);
    return status;
}

/* Of a step of which rounds were left out all is shown as the whole step has it, but for what its host spends its time
 * on, and for collectives among the rounds. */
static pace_status is_shown_whole(bool *out, pace_forecast_result *folded) {
    const int64_t *without_ns = folded->path.without_ns;
    bool host = true, input = true;
    for (int r = 0; r < PACE_ADVICE_GAP; r++) {
        host &= without_ns[PACE_ADVICE_HOST] <= without_ns[r];
        input &= without_ns[PACE_ADVICE_INPUT] <= without_ns[r];
    }
    PACE_TRY(pace_fold_unfold_meetings(out, &folded->analysis));
    *out &= !host && !input;
    return PACE_OK;
}

/* Edits and prices of other kinds are of every micro-batch. */
static bool may_fold(const pace_prediction *p, const pace_predict_options *options) {
    return !p->is_framed && !p->step.asked.device->is_cpu && p->scenarios.items.count == 1 &&
           !options->overheads.count && !options->calibrate.count;
}

static pace_status walk_with(pace_forecast *forecast, pace_forecast_result *out, bool *folded, pace_prediction *p,
                             pace_operators operators) {
    return pace_step_walk_folded(forecast, out, folded, p->catalog, &p->step.asked, &p->step.settled.plan,
                                 &p->scenarios.items.items[0], p->inputs.paths.items[0], operators);
}

static bool holds_left_out(const pace_graph *graph, const char *name) {
    PACE_ITEMS (const pace_graph_node, node, &graph->nodes)
        if (node->outermost && strcmp(pace_names_text(&graph->names, node->name), name) == 0) return true;
    return false;
}

static bool holds_operator(const pace_step *step, uint32_t task) {
    int64_t end_ns = pace_step_end_ns(step, task);
    for (uint32_t in = task + 1; in < step->count && step->start_ns[in] < end_ns; in++)
        if (pace_task_parent(step, in) == task && step->kind[in] == PACE_TASK_OP) return true;
    return false;
}

/* A piece of the path is named after the innermost operator: whether that of some piece was left out. */
static bool path_lacks_names(const pace_forecast_result *result, const pace_forecast *forecast) {
    const char *known = "";
    PACE_ITEMS (const pace_path_piece, piece, &result->path.pieces) {
        const pace_step *step = &result->analysis.ranks.items[piece->rank]->step;
        if (piece->task == PACE_NO_TASK || step->kind[piece->task] != PACE_TASK_OP) continue;
        const char *name = pace_step_name(step, piece->task);
        if (name == known || holds_operator(step, piece->task)) continue;
        if (holds_left_out(&forecast->ranks.items[piece->rank].graph, name)) return true;
        known = name;
    }
    return false;
}

/* Walked with fewer micro-batches. Most operators within others are left out: the host of a pipeline is seldom what the
 * others wait for. */
static pace_status walk_few(bool *folded, pace_prediction *p) {
    pace_operators few = p->step.asked.config.pp > 1 ? PACE_OPERATORS_OF_ENDS : PACE_OPERATORS_ALL;
    PACE_TRY(walk_with(&p->inputs.forecast, &p->results[0], folded, p, few));
    if (*folded && path_lacks_names(&p->results[0], &p->inputs.forecast)) {
        pace_forecast_result_free(&p->results[0]);
        pace_forecast_free(&p->inputs.forecast);
        PACE_TRY(walk_with(&p->inputs.forecast, &p->results[0], folded, p, PACE_OPERATORS_ALL));
    }
    p->result_count = *folded;
    p->is_folded = *folded;
    return PACE_OK;
}

/* A model's forecast; of a step that folds with its result. Where not all of that is the whole step's, and the whole
 * step is not too large, that is walked. */
static pace_status forecast_model(pace_prediction *p, const pace_predict_options *options) {
    pace_forecast whole;
    bool folded = false, shown = false;
    p->catalog = pace_catalog_share(options->context->catalog);
    if (may_fold(p, options)) PACE_TRY(walk_few(&folded, p));
    if (folded) PACE_TRY(is_shown_whole(&shown, &p->results[0]));
    if (shown) return PACE_OK;
    pace_status status = pace_step_forecast(&whole, p->catalog, &p->step.asked, p->inputs.paths.items[0]);
    p->is_cut = folded && status == PACE_E_LIMIT;
    if (p->is_cut) return PACE_OK;
    PACE_TRY(status);
    if (folded) pace_forecast_result_free(&p->results[0]);
    pace_forecast_free(&p->inputs.forecast);
    p->inputs.forecast = whole;
    p->is_folded = false;
    p->result_count = 0;
    return PACE_OK;
}

/* With all operators: of a step that is too large to be walked whole, those of the micro-batches that are walked. */
static pace_status walk_to_draw(pace_forecast_result *out, pace_prediction *p) {
    pace_forecast forecast;
    pace_status status = pace_step_forecast(&forecast, p->catalog, &p->step.asked, p->inputs.paths.items[0]);
    if (status == PACE_E_LIMIT) {
        bool folded;
        PACE_TRY(walk_with(&forecast, out, &folded, p, PACE_OPERATORS_ALL));
        if (!folded) return PACE_E_LIMIT;
        status = PACE_OK;
    } else {
        PACE_TRY(status);
        status = pace_forecast_run(out, &forecast, &p->scenarios.items.items[0]);
    }
    pace_forecast_free(&forecast);
    return status;
}

pace_status pace_prediction_drawn(const pace_forecast_result **out, pace_prediction *p) {
    *out = &p->results[p->result_count - 1];
    if (!p->is_folded) return PACE_OK;
    if (!p->whole) {
        pace_forecast_result whole;
        pace_status status = walk_to_draw(&whole, p);
        if (status == PACE_E_LIMIT) return PACE_OK;
        PACE_TRY(status);
        if (!PACE_MAKE(p->whole, 1)) {
            pace_forecast_result_free(&whole);
            return PACE_E_MEMORY;
        }
        *p->whole = whole;
    }
    *out = p->whole;
    return PACE_OK;
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
    if (p->is_model) PACE_TRY(forecast_model(p, options));
    else PACE_TRY(pace_predict_fits_kernels(&p->fits, p->inputs.forecast.cost));
    PACE_TRY(find_gap(p, options));
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
    doubt_gap(p);
    PACE_TRY(doubt_replay(p));
    PACE_TRY(hold_savings(p));
    PACE_TRY(check_walk(p, options));
    move_to_answer(p);
    doubt_assumed(p);
    hold_to_peak(p);
    PACE_TRY(hold_stages(p));
    PACE_TRY(pace_forecast_host_levels(p->host_levels, &p->inputs.forecast));
    return p->is_model ? pace_predict_fits_warn(&p->inputs.warnings, &p->fits, &p->step.asked) : PACE_OK;
}
