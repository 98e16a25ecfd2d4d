/* Kernels or operators that take FACTOR times as long: pricing multiplies (pace_price_scale()). */
#include "base/decimal.h"
#include "base/text.h"
#include "forecast/forecast_price.h"
#include "forecast/what_ifs.h"

#include <stddef.h>
#include <string.h>

static pace_status parse(pace_scenario *scenario, const char *text) {
    const char *colon = strrchr(text, ':');
    double factor;
    size_t start = pace_starts(text, "kernel=") ? 7 : 0;
    bool plain = colon && colon > text + start && pace_number_parse(&factor, colon + 1);
    if (!plain || !(factor >= 0 && factor <= 1e6))
        return pace_fail(PACE_E_USAGE, "scale: expected REGEX:FACTOR with a factor of at least 0, found '%s'", text);
    char *regex = pace_copy_text(text + start, (size_t)(colon - text) - start);
    if (!regex) return PACE_E_MEMORY;
    pace_status status = pace_scenario_put_name(scenario, "scale", regex, factor);
    pace_free(regex);
    return status;
}

static pace_status apply(pace_editing *e, size_t *scaled) {
    for (size_t i = 0; i < e->count; i++)
        for (uint32_t k = 0; k < e->variants[i].graph.launches.count; k++)
            *scaled += pace_price_scale(NULL, e->scenario, &e->variants[i].graph, k);
    return PACE_OK;
}

const pace_what_if pace_if_scale = {
    .option = PACE_WHAT_IF_VALUES("scale", "REGEX:FACTOR", "scale the time of kernels or operators whose name matches",
                                  NULL, " step "),
    .label = "scale %s",
    .parse = parse,
    .turn = PACE_TURN_COUNT,
    .apply = apply,
    .edits_kernels = true,
    .changed = offsetof(pace_forecast_edits, scaled_kernels),
    .idle = "no kernel or launching operator has a matching name",
    .by_name = true,
};
