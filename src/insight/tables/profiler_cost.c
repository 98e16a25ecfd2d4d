#include "insight/tables/profiler_cost.h"

#include "base/sort.h"
#include "cost/host_costs_catalog.h"

enum { LEAST_CYCLES = 100 };

typedef PACE_VEC(int64_t) ns_list;

/* From each event without children to the next one on its lane. */
static pace_status gather(ns_list *cycles, const pace_step *step, const pace_lane *lane) {
    for (uint32_t task = lane->first; task + 1 < lane->first + lane->count; task++) {
        int64_t cycle = step->start_ns[task + 1] - step->start_ns[task];
        if (step->start_ns[task + 1] >= pace_step_end_ns(step, task) && cycle > 0) PACE_TRY(PACE_PUSH(cycles, cycle));
    }
    return PACE_OK;
}

static pace_status shortest(double *out, const ns_list *cycles, double quantile) {
    int64_t *scratch = pace_alloc(cycles->count, sizeof *scratch);
    if (!scratch) return PACE_E_MEMORY;
    pace_sort_ns(cycles->items, scratch, cycles->count);
    pace_free(scratch);
    *out = (double)cycles->items[(size_t)(quantile * (double)(cycles->count - 1))];
    return PACE_OK;
}

pace_status pace_profiler_cost_guess(pace_estimate *out, pace_catalog *catalog, const pace_rank *rank) {
    const pace_step *step = &rank->step;
    pace_profiler_figures figures;
    ns_list cycles = {0};
    double cycle_ns = 0;
    pace_status status = pace_profiler_figures_load(&figures, catalog);
    for (size_t i = 0; status == PACE_OK && i < step->lanes.count; i++)
        if (!step->lanes.items[i].device) status = gather(&cycles, step, &step->lanes.items[i]);
    if (status == PACE_OK && cycles.count >= LEAST_CYCLES) status = shortest(&cycle_ns, &cycles, figures.quantile);
    PACE_VEC_FREE(&cycles);
    if (status == PACE_OK) *out = (pace_estimate){cycle_ns * figures.ratio, figures.spread, PACE_RUNG_FORMULA, 0};
    return status;
}
