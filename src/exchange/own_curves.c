#include "exchange/own_curves.h"

#include "exchange/algorithms.h"
#include "exchange/measured_ways.h"

#include <string.h>

static const char *name_of(const pace_exchange *exchange, int algorithm) {
    return exchange->library == PACE_LIBRARY_NCCL ? pace_nccl_algorithm_names[algorithm]
                                                  : pace_exchange_algorithms[algorithm].name;
}

/* An algorithm that is named asks the curves that name it, others those of what the library chose. */
static pace_status measured_time(pace_estimate *out_s, pace_own_curves *own, const pace_exchange *exchange,
                                 const pace_exchange_question *question) {
    pace_exchange model = *exchange;
    model.measured = NULL;
    model.stack = own->stack;
    const bool named = question->algorithm != PACE_ANY;
    const pace_fit_question asked = {.system = own->system,
                                     .variant = named ? NULL : "", /* as options and rows of exchanges are asked */
                                     .collective = question->collective,
                                     .bytes = question->bytes,
                                     .ranks_per_node = question->ranks_per_node,
                                     .nodes = question->nodes,
                                     .element_bytes = question->element_bytes,
                                     .stack = own->stack,
                                     .model = &model,
                                     .doubts = &model.doubts};
    if (question->protocol != PACE_ANY)
        return pace_fail(PACE_E_MISSING, "%s by a protocol that is named: curves are of what the library chose",
                         pace_collective_rows[question->collective].name);
    if (named) return pace_named_algorithm_time(out_s, own->fit, &asked, name_of(exchange, question->algorithm));
    return pace_exchange_fit_time(out_s, own->chosen, &asked);
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

static bool has_system(const pace_exchange_fit *fit, const char *system) {
    PACE_ITEMS (const pace_exchange_curve, curve, &fit->curves)
        if (strcmp(curve->system, system) == 0) return true;
    return false;
}

void pace_own_curves_open(pace_own_curves *out, const pace_exchange_fit *fit, const pace_exchange_fit *chosen,
                          const char *system, pace_nccl_stack stack) {
    *out = (pace_own_curves){.is = {tell},
                             .fit = fit,
                             .chosen = has_system(chosen, system) ? chosen : fit,
                             .system = system,
                             .stack = stack};
}
