#include "forecast/recorded_order.h"
#include "base/order.h"
#include "step/launch_time.h"

#include <stdlib.h>
#include <string.h>

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

pace_status pace_keep_recorded_order(pace_variant *variant, const pace_step *recorded) {
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
