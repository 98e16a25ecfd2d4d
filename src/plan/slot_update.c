#include "plan/slot_update.h"

pace_status pace_slot_fill_s(double *seconds, double elements, const pace_lowering *to, const pace_step_place *place) {
    pace_op op = pace_emit_elementwise(to, "mul", elements, 1, 1, pace_config_parameter_bytes(to->config));
    pace_estimate price_s;
    PACE_TRY(pace_price_cached(&price_s, place->prices, place->cost, place->device, &op, PACE_SUSTAINED));
    *seconds = price_s.median;
    return PACE_OK;
}

pace_status pace_slot_update_least(pace_slot_update *update, double kernels, const pace_config *config,
                                   const pace_step_place *place) {
    const pace_lowering to = {.config = config};
    double each_s;
    PACE_TRY(pace_slot_fill_s(&each_s, 1, &to, place));
    update->launches = kernels;
    update->least_s = kernels * (each_s + pace_between_kernels_s(place));
    return PACE_OK;
}

/* An optimizer that visits twice as many tensors tells what one takes. */
pace_status pace_slot_update_visits(pace_slot_update *update, double issued_s, const pace_graph *graph, double tensors,
                                    const pace_step_host *host) {
    double all_s, twice_s, ignored_s;
    PACE_TRY(pace_step_host_s(&all_s, &ignored_s, host, graph, tensors));
    PACE_TRY(pace_step_host_s(&twice_s, &ignored_s, host, graph, 2 * tensors));
    update->tensors = tensors;
    update->visits_s = all_s - issued_s;
    update->visit_each_s = tensors > 0 ? (twice_s - all_s) / tensors : 0;
    return PACE_OK;
}
