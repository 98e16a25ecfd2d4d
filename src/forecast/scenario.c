#include "forecast/scenario.h"
#include "base/pattern.h"

#include <stdio.h>
#include <string.h>

void pace_scenario_init(pace_scenario *scenario, const char *label) {
    *scenario = (pace_scenario){.label = label, .slowness = 1};
    for (int type = 0; type < PACE_OVERHEAD_TYPES; type++) scenario->overhead_scale[type] = 1;
}

void pace_scenario_free(pace_scenario *scenario) {
    for (size_t i = 0; i < scenario->values.count; i++)
        if (scenario->values.items[i].has_name) regfree(&scenario->values.items[i].name);
    PACE_VEC_FREE(&scenario->values);
}

pace_status pace_scenario_put(pace_scenario *scenario, const char *what_if, double number) {
    pace_scenario_value value = {.what_if = what_if, .number = number};
    return PACE_PUSH(&scenario->values, value);
}

pace_status pace_scenario_put_name(pace_scenario *scenario, const char *what_if, const char *regex, double number) {
    char what[80];
    snprintf(what, sizeof what, "%.60s: expression", what_if);
    PACE_TRY(pace_scenario_put(scenario, what_if, number));
    pace_scenario_value *value = &scenario->values.items[scenario->values.count - 1];
    pace_status status = pace_pattern_compile(&value->name, what, regex);
    value->has_name = status == PACE_OK;
    return status;
}

const pace_scenario_value *pace_scenario_value_at(const pace_scenario *scenario, const char *what_if, size_t n) {
    for (size_t i = 0; i < scenario->values.count; i++)
        if (strcmp(scenario->values.items[i].what_if, what_if) == 0 && n-- == 0) return &scenario->values.items[i];
    return NULL;
}

bool pace_scenario_has_lanes(const pace_scenario *scenario) {
    const pace_approach *approach = &scenario->approach;
    return scenario->has_approach && !pace_approach_has_buckets(approach);
}
