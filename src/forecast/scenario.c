#include "forecast/scenario.h"

#include "base/pattern.h"

void pace_scenario_init(pace_scenario *scenario, const char *label) {
    *scenario = (pace_scenario){.label = label, .slowness = 1};
    for (int type = 0; type < PACE_OVERHEAD_TYPES; type++) scenario->overhead_scale[type] = 1;
}

void pace_scenario_free(pace_scenario *scenario) {
    for (size_t i = 0; i < scenario->scales.count; i++) regfree(&scenario->scales.items[i].name);
    for (size_t i = 0; i < scenario->fuse.count; i++) regfree(&scenario->fuse.items[i]);
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

pace_status pace_scenario_fuse(pace_scenario *scenario, const char *regex) {
    size_t count = scenario->fuse.count;
    PACE_TRY(pace_grow(&scenario->fuse.items, &scenario->fuse.capacity, count + 1, sizeof *scenario->fuse.items));
    PACE_TRY(pace_pattern_compile(&scenario->fuse.items[count], "fuse: expression", regex));
    scenario->fuse.count++;
    return PACE_OK;
}

bool pace_scenario_has_lanes(const pace_scenario *scenario) {
    const pace_approach *approach = &scenario->approach;
    return scenario->has_approach && !pace_approach_has_buckets(approach);
}
