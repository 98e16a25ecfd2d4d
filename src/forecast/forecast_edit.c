#include "forecast/forecast_edit.h"

#include "forecast/forecast_price.h"
#include "forecast/what_ifs.h"

const pace_forecast_rank *pace_forecast_ranks(const pace_forecast *forecast, const pace_scenario *scenario) {
    return scenario->device && forecast->offloaded.count ? forecast->offloaded.items : forecast->ranks.items;
}

typedef struct {
    const pace_forecast *forecast;
    const pace_scenario *scenario;
    const pace_forecast_rank *ranks;
    pace_variant *variants;
    size_t count;
    pace_forecast_edits *edits;
} editor;

static pace_status change_batch(editor *e) {
    for (size_t i = 0; i < e->count; i++) {
        pace_batch_size present = {.from = "--samples"};
        if (e->scenario->samples > 0) present.samples = (int64_t)e->scenario->samples;
        else PACE_TRY(pace_batch_size_infer(&present, e->variants[i].original));
        if (present.samples <= 0)
            return pace_fail(PACE_E_INPUT,
                             "%s: cannot tell how many samples its step has: no operator with shapes shows it; say it "
                             "with --samples",
                             e->ranks[i].name);
        if (i == 0) e->edits->present = present;
        PACE_TRY(pace_what_if_batch(&e->variants[i], (double)present.samples, e->scenario->batch));
    }
    return PACE_OK;
}

static pace_status change_precision(editor *e) {
    const pace_device *device = e->scenario->device ? e->scenario->device : e->forecast->device;
    if (device && !(device->flop_per_s[e->scenario->precision] > 0))
        return pace_fail(PACE_E_INPUT, "--precision: %s has no rate for %s in the catalogue", device->name,
                         pace_precision_key(e->scenario->precision));
    for (size_t i = 0; i < e->count; i++) PACE_TRY(pace_what_if_precision(&e->variants[i], e->scenario->precision));
    return PACE_OK;
}

static pace_status price_all(editor *e, double **cost_ns) {
    for (size_t i = 0; i < e->count; i++) {
        pace_pricing pricing = {e->forecast, &e->ranks[i], &e->variants[i], e->scenario};
        cost_ns[i] = pace_alloc(e->variants[i].graph.launches.count + 1, sizeof **cost_ns);
        if (!cost_ns[i]) return PACE_E_MEMORY;
        PACE_TRY(pace_price_launches(cost_ns[i], NULL, &pricing));
    }
    return PACE_OK;
}

static pace_status balance_tables(editor *e) {
    double **cost_ns = pace_alloc(e->count + 1, sizeof *cost_ns);
    pace_status status = cost_ns ? price_all(e, cost_ns) : PACE_E_MEMORY;
    if (status == PACE_OK) status = pace_what_if_balance_tables(e->variants, (const double *const *)cost_ns, e->count);
    for (size_t i = 0; cost_ns && i < e->count; i++) pace_free(cost_ns[i]);
    pace_free(cost_ns);
    return status;
}

static pace_status fuse(editor *e) {
    for (size_t i = 0; i < e->count; i++) {
        size_t fused;
        if (e->scenario->fuse_tables) {
            PACE_TRY(pace_what_if_fuse_tables(&fused, &e->variants[i]));
            e->edits->fused_tables += fused;
        }
        for (size_t k = 0; k < e->scenario->fuse.count; k++) {
            PACE_TRY(pace_what_if_fuse(&fused, &e->variants[i], &e->scenario->fuse.items[k]));
            e->edits->fused_kernels += fused;
        }
    }
    return PACE_OK;
}

static void count_scaled(editor *e) {
    for (size_t i = 0; i < e->count; i++)
        for (uint32_t k = 0; k < e->variants[i].graph.launches.count; k++)
            e->edits->scaled_kernels += pace_price_scale(NULL, e->scenario, &e->variants[i].graph, k);
}

/* Types of overhead to do without that cost something so far. */
static void count_dropped(editor *e) {
    for (int type = 0; type < PACE_OVERHEAD_TYPES; type++) {
        bool spent = false;
        for (size_t i = 0; i < e->count; i++) spent |= e->ranks[i].costs.types[type].log_sum > 0;
        e->edits->dropped_types += spent && e->scenario->overhead_scale[type] == 0;
    }
}

static pace_status edit_all(editor *e) {
    const pace_scenario *s = e->scenario;
    count_scaled(e);
    count_dropped(e);
    if (s->batch > 0) PACE_TRY(change_batch(e));
    if (s->has_precision) PACE_TRY(change_precision(e));
    if (s->balance_tables) PACE_TRY(balance_tables(e));
    return fuse(e);
}

pace_status pace_forecast_edit(pace_variant *variants, pace_forecast_edits *edits, const pace_forecast *forecast,
                               const pace_scenario *scenario) {
    editor e = {forecast, scenario, pace_forecast_ranks(forecast, scenario), variants, 0, edits};
    *edits = (pace_forecast_edits){0};
    pace_status status = PACE_OK;
    while (status == PACE_OK && e.count < forecast->ranks.count) {
        status = pace_variant_init(&variants[e.count], &e.ranks[e.count].graph, pace_cost_doubts(forecast->cost));
        e.count += status == PACE_OK;
    }
    if (status == PACE_OK) status = edit_all(&e);
    for (size_t i = 0; status != PACE_OK && i < e.count; i++) pace_variant_free(&variants[i]);
    return status;
}

pace_status pace_forecast_pair_times(pace_pair_times times[PACE_OP_FAMILIES], const pace_forecast *forecast,
                                     const pace_cost *cost, const pace_device *device) {
    pace_forecast by_ladder = *forecast; /* borrows */
    pace_scenario scenario;
    pace_scenario_init(&scenario, "moved");
    scenario.device = device;
    by_ladder.cost = (pace_cost *)cost;
    by_ladder.prices = NULL; /* they are of the other ladder */
    by_ladder.calibration = NULL;
    for (size_t i = 0; i < forecast->ranks.count; i++) {
        pace_variant variant;
        PACE_TRY(pace_variant_init(&variant, &forecast->ranks.items[i].graph, pace_cost_doubts(cost)));
        pace_pricing pricing = {&by_ladder, &forecast->ranks.items[i], &variant, &scenario};
        pace_status status = pace_price_pair_times(times, &pricing);
        pace_variant_free(&variant);
        if (status != PACE_OK) return status;
    }
    return PACE_OK;
}
