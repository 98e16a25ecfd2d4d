/* A row about a step, answered. */
#include "ask/step_fit.h"

#include <math.h>
#include <string.h>

pace_status pace_step_pricer_open(pace_step_pricer *out, pace_catalog *catalog) {
    pace_step_pricer pricer = {.catalog = catalog};
    pace_status status = pace_cost_create(&pricer.cost, catalog);
    if (status == PACE_OK) status = pace_slot_cache_create(&pricer.slots);
    if (status != PACE_OK) {
        pace_step_pricer_close(&pricer);
        return status;
    }
    pace_price_cache_init(&pricer.prices);
    *out = pricer;
    return PACE_OK;
}

void pace_step_pricer_close(pace_step_pricer *pricer) {
    pace_cost_free(pricer->cost);
    pace_slot_cache_free(pricer->slots);
    pace_step_hosts_free(&pricer->hosts);
    pace_price_cache_free(&pricer->prices);
    *pricer = (pace_step_pricer){0};
}

static pace_status plan_with(pace_step_plan *out, pace_step_pricer *pricer, const pace_step_row *row,
                             const pace_config *config) {
    pace_step_place place = {pricer->cost, row->device, row->exchange, &pricer->prices, NULL};
    const pace_step_slots *slots;
    if (pace_framework_is_lowered(row->framework))
        PACE_TRY(
            pace_step_hosts_get(&place.host, pricer->catalog, &pricer->hosts, config->execution, row->device->vendor));
    PACE_TRY(pace_step_slots_get(&slots, pricer->slots, row->model, config, &place));
    return pace_step_plan_make(out, slots, row->framework, config, &place, row->attention);
}

/* What memory needs is known to a quarter or so. */
static bool fits(const pace_step_plan *plan) {
    return !(plan->device_bytes > 0) || plan->memory.all_bytes < 1.25 * plan->device_bytes;
}

pace_status pace_step_row_plan(pace_step_plan *out, bool *recomputed, pace_step_pricer *pricer,
                               const pace_step_row *row) {
    pace_config config = row->config;
    *recomputed = false;
    PACE_TRY(plan_with(out, pricer, row, &config));
    bool whole = config.recompute == PACE_RECOMPUTE_FULL;
    if (!row->may_recompute || whole || config.mode != PACE_TRAINING || fits(out)) return PACE_OK;
    config.recompute = PACE_RECOMPUTE_FULL;
    *recomputed = true;
    return plan_with(out, pricer, row, &config);
}

pace_step_factors pace_step_row_factors(const pace_step_row *row, const pace_step_factors *factors) {
    pace_step_factors own = *factors;
    if (row->matrix_factor > 0) own.matrix *= row->matrix_factor;
    if (row->attention_factor > 0) own.attention *= row->attention_factor;
    return own;
}

pace_status pace_step_row_answer(pace_step_answer *out, pace_step_pricer *pricer, const pace_step_row *row,
                                 const pace_step_fit *fit, double formula_spread) {
    pace_step_factors factors = fit ? fit->factors : pace_step_factors_none();
    pace_step_plan plan;
    bool recomputed;
    factors = pace_step_row_factors(row, &factors);
    PACE_TRY(pace_step_row_plan(&plan, &recomputed, pricer, row));
    *out = (pace_step_answer){.parts = pace_step_compose(&plan, &factors),
                              .memory_bytes = plan.memory.all_bytes,
                              .last_rank_bytes = plan.last_rank_bytes,
                              .device_bytes = plan.device_bytes,
                              .recomputed = recomputed};
    double offset = fit ? exp(pace_fit_group_offset(fit->groups, fit->group_count, row->group)) : 1;
    pace_rung formula = plan.slots->rung > PACE_RUNG_FORMULA ? plan.slots->rung : PACE_RUNG_FORMULA;
    out->time_s = (pace_estimate){out->parts.total_s * offset, row->doubt * (fit ? fit->spread : formula_spread),
                                  fit ? PACE_RUNG_CALIBRATED : formula};
    return PACE_OK;
}
