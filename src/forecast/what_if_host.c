/* What the host does: overheads that are dropped, and the step as one captured graph. The walk reads both. */
#include "forecast/recorded_order.h"
#include "forecast/what_ifs.h"

#include <stddef.h>
#include <string.h>

static pace_status parse_drop(pace_scenario *scenario, const char *text) {
    bool all = strcmp(text, "all") == 0;
    int digit = (text[0] == 't' || text[0] == 'T') && text[1] && !text[2] ? text[1] - '1' : -1;
    if (!all && (digit < 0 || digit >= PACE_OVERHEAD_TYPES))
        return pace_fail(PACE_E_USAGE, "drop_overhead: expected T1 to T5 or all, found '%s'", text);
    for (int type = 0; type < PACE_OVERHEAD_TYPES; type++)
        if (all || type == digit) scenario->overhead_scale[type] = 0;
    return PACE_OK;
}

static bool drops(const pace_scenario *scenario) {
    for (int type = 0; type < PACE_OVERHEAD_TYPES; type++)
        if (scenario->overhead_scale[type] == 0) return true;
    return false;
}

/* Types of overhead to do without that cost something so far. */
static pace_status count_dropped(pace_editing *e) {
    for (int type = 0; type < PACE_OVERHEAD_TYPES; type++) {
        bool spent = false;
        for (size_t i = 0; i < e->count; i++) spent |= e->ranks[i].costs.types[type].log_sum > 0;
        e->edits->dropped_types += spent && e->scenario->overhead_scale[type] == 0;
    }
    return PACE_OK;
}

static pace_status parse_graph(pace_scenario *scenario, const char *text) {
    (void)text;
    scenario->one_launch = true;
    return PACE_OK;
}

static bool graph_asked(const pace_scenario *scenario) { return scenario->one_launch; }

/* What a graph launches already is captured. */
static size_t count_single(const pace_graph *graph) {
    size_t single = 0;
    PACE_ITEMS (const pace_launch, launch, &graph->launches)
        single += !launch->call || !strstr(pace_names_text(&graph->names, launch->call), "GraphLaunch");
    return single;
}

static pace_status capture(pace_editing *e) {
    const pace_analysis *measured = e->forecast->measured;
    for (size_t i = 0; i < e->count; i++) {
        e->edits->captured += count_single(&e->variants[i].graph);
        const pace_rank *trace = measured ? measured->traces.items[i] : NULL;
        if (trace && !trace->work.host_is_device) PACE_TRY(pace_keep_recorded_order(&e->variants[i], &trace->step));
    }
    return PACE_OK;
}

const pace_what_if pace_if_drop_overhead = {
    .option = PACE_WHAT_IF_VALUES("drop_overhead", "TYPE", "remove host overhead of a type: T1 to T5, or all", NULL,
                                  " step "),
    .acts_on = 1U << PACE_ADVICE_HOST,
    .label = "without overhead %s",
    .parse = parse_drop,
    .asked = drops,
    .turn = PACE_TURN_COUNT,
    .apply = count_dropped,
    .changed = offsetof(pace_forecast_edits, dropped_types),
    .idle = "the step has no overhead of that type to drop",
};

const pace_what_if pace_if_graph = {
    .option = PACE_WHAT_IF_FLAG("graph", "launch the step as one device graph"),
    .acts_on = 1U << PACE_ADVICE_HOST,
    .label = "as one device graph",
    .parse = parse_graph,
    .asked = graph_asked,
    .turn = PACE_TURN_COUNT,
    .apply = capture,
    .changed = offsetof(pace_forecast_edits, captured),
    .idle = "device graphs launch all of the step's work already",
    .assumption =
        "Device graph: it ends where the host waits for the device, and the next begins behind; of a recorded step, work that did not overlap on the device still does not, and where the device "
        "stood still for no recorded cause it does so still.",
};
