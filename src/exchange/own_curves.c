#include "exchange/own_curves.h"

/* An algorithm that is named may not be the one whose curves these are. */
static pace_status measured_time(pace_estimate *out_s, pace_own_curves *own, const pace_exchange *exchange,
                                 const pace_exchange_question *question) {
    pace_exchange model = *exchange;
    model.measured = NULL;
    model.stack = own->stack;
    const pace_fit_question asked = {.system = own->system,
                                     .collective = question->collective,
                                     .bytes = question->bytes,
                                     .ranks_per_node = question->ranks_per_node,
                                     .nodes = question->nodes,
                                     .element_bytes = question->element_bytes,
                                     .stack = own->stack,
                                     .model = &model,
                                     .doubts = &model.doubts};
    if (question->algorithm != PACE_ANY || question->protocol != PACE_ANY)
        return pace_fail(PACE_E_MISSING, "%s by an algorithm that is named: curves are of what the library chose",
                         pace_collective_rows[question->collective].name);
    return pace_exchange_fit_time(out_s, own->fit, &asked);
}

static pace_status tell(pace_estimate *out_s, pace_exchange_measured *measured, const pace_exchange *exchange,
                        const pace_exchange_question *question) {
    pace_own_curves *own = (pace_own_curves *)measured;
    if (question->ranks_per_node * question->nodes < 2) return PACE_E_MISSING;
    pace_status status = measured_time(out_s, own, exchange, question);
    if (status == PACE_OK) atomic_fetch_add(&own->told, 1);
    else if (atomic_fetch_add(&own->untold, 1) == 0) pace_snprintf(own->why, sizeof own->why, "%.199s", pace_message());
    return status;
}

void pace_own_curves_open(pace_own_curves *out, const pace_exchange_fit *fit, const char *system,
                          pace_nccl_stack stack) {
    *out = (pace_own_curves){.is = {tell}, .fit = fit, .system = system, .stack = stack};
}
