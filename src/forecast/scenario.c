#include "forecast/scenario.h"

#include "base/pattern.h"

void pace_scenario_init(pace_scenario *scenario, const char *label) {
    *scenario = (pace_scenario){.label = label, .slowness = 1};
    for (int type = 0; type < PACE_OVERHEAD_TYPES; type++) scenario->overhead_scale[type] = 1;
}

void pace_scenario_free(pace_scenario *scenario) {
    for (size_t i = 0; i < scenario->scales.count; i++) regfree(&scenario->scales.items[i].name);
    for (size_t i = 0; i < scenario->fuse.count; i++) regfree(&scenario->fuse.items[i]);
    for (size_t i = 0; i < scenario->drop_sync.count; i++) regfree(&scenario->drop_sync.items[i]);
    PACE_VEC_FREE(&scenario->drop_sync);
    PACE_VEC_FREE(&scenario->scales);
    PACE_VEC_FREE(&scenario->fuse);
}

pace_status pace_scenario_scale(pace_scenario *scenario, const char *regex, double factor) {
    size_t count = scenario->scales.count;
    PACE_TRY(pace_grow(&scenario->scales.items, &scenario->scales.capacity, count + 1, sizeof *scenario->scales.items));
    PACE_TRY(pace_pattern_compile(&scenario->scales.items[count].name, "scale: expression", regex));
    scenario->scales.items[count].factor = factor;
    scenario->scales.count++;
    return PACE_OK;
}

static pace_status add_name(pace_names_matched *names, const char *what, const char *regex) {
    PACE_TRY(pace_grow(&names->items, &names->capacity, names->count + 1, sizeof *names->items));
    PACE_TRY(pace_pattern_compile(&names->items[names->count], what, regex));
    names->count++;
    return PACE_OK;
}

pace_status pace_scenario_fuse(pace_scenario *scenario, const char *regex) {
    return add_name(&scenario->fuse, "fuse: expression", regex);
}

pace_status pace_scenario_drop_sync(pace_scenario *scenario, const char *regex) {
    return add_name(&scenario->drop_sync, "drop_sync: expression", regex);
}

bool pace_scenario_has_lanes(const pace_scenario *scenario) {
    const pace_approach *approach = &scenario->approach;
    return scenario->has_approach && !pace_approach_has_buckets(approach);
}
