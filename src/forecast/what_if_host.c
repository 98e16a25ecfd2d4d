/* What the host does: overheads that are dropped, and the step as one captured graph. The walk reads both. */
#include "forecast/what_ifs.h"
#include "forecast/variant.h"
#include "base/order.h"
#include "step/launch_time.h"

#include <stddef.h>
#include <string.h>
#include <stdlib.h>

/* --- the order of a recording ------------------------------------------------------------------------------------- */

/* A recorded step's order of work across streams, for what-ifs that take the host's time away: without it nothing but
 * the host kept apart what the recording shows one after the other. */

typedef struct {
    int64_t start_ns;
    uint32_t launch;
} begin;

PACE_ORDER(by_start, begin, PACE_UP(start_ns) PACE_UP(launch))

typedef struct {
    pace_graph *graph;
    const pace_step *recorded;
    uint32_t *ended;   /* stream -> its last launch that had ended by now; PACE_NO_LAUNCH = none */
    uint32_t *running; /* stream -> its last launch that had begun */
} order;

static int64_t end_of(const order *o, uint32_t launch) {
    return pace_step_end_ns(o->recorded, o->graph->launches.items[launch].task);
}

/* What other streams had ended by the launch's start, of all streams the last but those it waits for. */
static uint32_t last_ended(const order *o, uint32_t launch, int64_t now_ns) {
    const pace_launch *l = &o->graph->launches.items[launch];
    uint32_t best = PACE_NO_LAUNCH;
    for (uint32_t s = 0; s < o->graph->stream_count; s++) {
        if (o->running[s] != PACE_NO_LAUNCH && end_of(o, o->running[s]) <= now_ns) o->ended[s] = o->running[s];
        uint32_t on = o->ended[s];
        if (s == l->stream || on == PACE_NO_LAUNCH || on >= launch || on == l->waits[0] || on == l->waits[1]) continue;
        if (best == PACE_NO_LAUNCH || end_of(o, on) > end_of(o, best)) best = on;
    }
    return best;
}

/* How long the device, which had stood still since `since_ns`, stood still for no recorded cause: as in the replay of
 * the measured step (insight/segments.c) all of it where the work was in line by then, else what is more than a launch
 * takes. */
static int64_t held(const order *o, uint32_t number, int64_t since_ns, int64_t start_ns) {
    uint32_t cause = pace_task_cause(o->recorded, o->graph->launches.items[number].task);
    int64_t issued_ns = cause == PACE_NO_TASK ? since_ns : pace_step_end_ns(o->recorded, cause);
    if (issued_ns > since_ns) since_ns = issued_ns + PACE_LAUNCH_REACHES_NS;
    else if (start_ns - since_ns <= PACE_LAUNCH_REACHES_NS) return 0; /* work follows work within so much */
    return start_ns > since_ns ? start_ns - since_ns : 0;
}

static void wait_in_order(order *o, const begin *begins, size_t count) {
    int64_t since_ns = count ? begins[0].start_ns : 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t number = begins[i].launch;
        pace_launch *launch = &o->graph->launches.items[number];
        launch->holds_ns = held(o, number, since_ns, begins[i].start_ns);
        if (end_of(o, number) > since_ns) since_ns = end_of(o, number);
        for (int k = 0; k < 2; k++)
            if (launch->waits[k] == PACE_NO_LAUNCH) launch->waits[k] = last_ended(o, number, begins[i].start_ns);
        uint32_t *running = &o->running[launch->stream];
        if (*running != PACE_NO_LAUNCH && end_of(o, *running) <= begins[i].start_ns)
            o->ended[launch->stream] = *running;
        *running = number;
    }
}

/* Lets each launch of a recorded step wait for what other streams had last ended before it began: what did not overlap
 * in the recording does not overlap now. Where the device stood still before work that was in line already, or whose
 * launch is not recorded, the host was not what it waited for as far as anybody knows: it stands still again. Launches
 * must be those of the recording, none merged. */
static pace_status keep_recorded_order(pace_variant *variant, const pace_step *recorded) {
    pace_graph *graph = &variant->graph;
    size_t count = 0;
    order o = {.graph = graph, .recorded = recorded};
    o.ended = pace_alloc(2 * (size_t)graph->stream_count + 1, sizeof *o.ended);
    begin *begins = pace_alloc(graph->launches.count + 1, sizeof *begins);
    if (o.ended && begins) {
        memset(o.ended, 0xff, 2 * (size_t)graph->stream_count * sizeof *o.ended);
        o.running = o.ended + graph->stream_count;
        for (uint32_t i = 0; i < graph->launches.count; i++)
            if (graph->launches.items[i].task != PACE_NO_TASK)
                begins[count++] = (begin){recorded->start_ns[graph->launches.items[i].task], i};
        if (count) qsort(begins, count, sizeof *begins, by_start);
        wait_in_order(&o, begins, count);
    }
    pace_status status = o.ended && begins ? PACE_OK : PACE_E_MEMORY;
    PACE_FREE(o.ended, begins);
    return status;
}

/* --- the what-ifs ------------------------------------------------------------------------------------------------- */

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
static pace_status count_dropped(pace_editing *e, size_t *dropped) {
    for (int type = 0; type < PACE_OVERHEAD_TYPES; type++) {
        bool spent = false;
        for (size_t i = 0; i < e->count; i++) spent |= e->ranks[i].costs.types[type].log_sum > 0;
        *dropped += spent && e->scenario->overhead_scale[type] == 0;
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

static pace_status capture(pace_editing *e, size_t *captured) {
    const pace_analysis *measured = e->forecast->measured;
    for (size_t i = 0; i < e->count; i++) {
        *captured += count_single(&e->variants[i].graph);
        const pace_rank *trace = measured ? measured->traces.items[i] : NULL;
        if (trace && !trace->work.host_is_device) PACE_TRY(keep_recorded_order(&e->variants[i], &trace->step));
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
