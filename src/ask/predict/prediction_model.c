#include "ask/predict/prediction_model.h"

#include <string.h>

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

pace_status pace_prediction_walk_model(pace_prediction *p, const pace_predict_options *options) {
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
