#include "ask/predict/prediction_settle.h"
#include "base/numbers.h"
#include "forecast/forecast_estimate.h"
#include "forecast/saving_bound.h"

#include <math.h>

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

pace_status pace_prediction_find_gap(pace_prediction *p, const pace_predict_options *options) {
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

pace_status pace_prediction_settle(pace_prediction *p, const pace_predict_options *options) {
    doubt_gap(p);
    PACE_TRY(doubt_replay(p));
    PACE_TRY(hold_savings(p));
    PACE_TRY(check_walk(p, options));
    move_to_answer(p);
    doubt_assumed(p);
    hold_to_peak(p);
    return hold_stages(p);
}
