/* Messages that share links: events in order of time. Between two of them every flow has its max-min fair rate. */
#include "schedule/flows_active.h"
#include "schedule/flows_log.h"
#include "schedule/flows_routes.h"

#include <math.h>

/* Instants closer than this share of the time are one: flows that are alike end together whatever the rounding. */
static const double same_instant = 1e-13;

typedef enum { RESUME_LANE, FREE_PORT, ARRIVE } event_kind;

typedef struct {
    double at_ns;
    uint32_t number; /* of a lane, or a message */
    uint8_t kind;
} event;

/* What waits to leave by a lane's port. */
typedef struct {
    uint32_t head, tail;
    bool busy, paid; /* paid: the time of the lane's operation is over */
} port;

typedef struct {
    pace_flow_state *state;
    pace_flow_routes routes;
    pace_active_flows active;
    PACE_VEC(event) events; /* a heap */
    port *ports;
    uint32_t *runnable;
    uint32_t runnable_count;
    pace_route others; /* ways of background traffic, and where each begins */
    PACE_VEC(uint32_t) others_first;
    double now_ns;
} loop;

/* --- events ------------------------------------------------------------------------------------------------------- */

static pace_status at(loop *e, double at_ns, event_kind kind, uint32_t number) {
    PACE_TRY(PACE_PUSH(&e->events, ((event){at_ns, number, (uint8_t)kind})));
    event *heap = e->events.items, added = heap[e->events.count - 1];
    size_t i = e->events.count - 1;
    for (; i && heap[(i - 1) / 2].at_ns > at_ns; i = (i - 1) / 2) heap[i] = heap[(i - 1) / 2];
    heap[i] = added;
    return PACE_OK;
}

static event take_first(loop *e) {
    event *heap = e->events.items, first = heap[0], moved = heap[--e->events.count];
    size_t i = 0, count = e->events.count;
    for (size_t child; (child = 2 * i + 1) < count; i = child) {
        if (child + 1 < count && heap[child + 1].at_ns < heap[child].at_ns) child++;
        if (heap[child].at_ns >= moved.at_ns) break;
        heap[i] = heap[child];
    }
    if (count) heap[i] = moved;
    return first;
}

/* --- ports and flows ---------------------------------------------------------------------------------------------- */

/* Ranks that are slow have a share of their wire, or where that says nothing, of what a message would have alone. */
static double limit_of(const loop *e, const pace_flow_message *m, uint32_t lane) {
    const pace_flow_state *s = e->state;
    const double *slow = s->question->slowness;
    double slower = 1;
    if (slow) {
        double a = slow[s->fold.first[s->lanes[lane].unit]];
        double b = slow[s->fold.first[s->lanes[s->queues[m->queue].lane].unit]];
        slower = a > b ? a : b;
    }
    return pace_flow_limit(&s->question->wires[m->wire], slower, e->routes.alone_bytes_per_s[m->slot]);
}

static pace_status start_next(loop *e, uint32_t lane) {
    port *p = &e->ports[lane];
    if (p->busy || p->head == PACE_NO_MESSAGE) return PACE_OK;
    uint32_t number = p->head;
    const pace_flow_message *m = &e->state->messages.items[number];
    p->head = m->next_out;
    p->busy = true;
    uint32_t first = e->routes.first[m->slot];
    const pace_flow way = {e->routes.hops.items + first, e->routes.first[m->slot + 1] - first, limit_of(e, m, lane)};
    return pace_active_flows_add(&e->active, way, m->bytes, number, lane);
}

static void arrive(loop *e, uint32_t number) {
    pace_flow_message *m = &e->state->messages.items[number];
    pace_flow_queue *queue = &e->state->queues[m->queue];
    m->arrived = true;
    if (!queue->waiting || queue->head != number) return;
    e->runnable[e->runnable_count++] = queue->waiting - 1;
    queue->waiting = 0;
}

static pace_status sent(loop *e, uint32_t number, uint32_t lane) {
    const pace_flow_message *m = &e->state->messages.items[number];
    const pace_wire *wire = &e->state->question->wires[m->wire];
    double latency_ns = wire->latency_ns + e->routes.latency_ns[m->slot];
    if (latency_ns > 0) PACE_TRY(at(e, e->now_ns + latency_ns, ARRIVE, number));
    else arrive(e, number);
    if (wire->gap_ns > 0) return at(e, e->now_ns + wire->gap_ns, FREE_PORT, lane);
    e->ports[lane].busy = false;
    return start_next(e, lane);
}

static pace_status end_flows(loop *e, double until_ns) {
    pace_active_flow ended;
    pace_status status = PACE_OK;
    while (status == PACE_OK && pace_active_flows_take(&ended, &status, &e->active, until_ns))
        if (status == PACE_OK) status = sent(e, ended.message, ended.lane);
    return status;
}

/* --- lanes -------------------------------------------------------------------------------------------------------- */

static pace_status post(loop *e, uint32_t number, const pace_operation *o) {
    pace_flow_state *s = e->state;
    const pace_flow_lane *lane = &s->lanes[number];
    uint32_t slot = lane->send_queues + s->slot[lane->cursor], message;
    PACE_TRY(pace_flow_post(&message, s, s->send_queue[slot]));
    pace_flow_message *m = &s->messages.items[message];
    m->bytes = o->amount;
    m->queue = s->send_queue[slot];
    m->slot = slot;
    m->wire = o->wire;
    m->arrived = false;
    m->next_out = PACE_NO_MESSAGE;
    s->simulated++;
    s->sent += s->fold.members[lane->unit];
    s->sent_bytes += o->amount * s->fold.members[lane->unit];
    port *p = &e->ports[number];
    if (p->head == PACE_NO_MESSAGE) p->head = message;
    else s->messages.items[p->tail].next_out = message;
    p->tail = message;
    return start_next(e, number);
}

/* Whether the message is there; else the lane is told when it is. */
static bool has_come(loop *e, uint32_t number) {
    pace_flow_state *s = e->state;
    pace_flow_queue *queue = &s->queues[s->lanes[number].queues + s->slot[s->lanes[number].cursor]];
    if (queue->head != PACE_NO_MESSAGE && s->messages.items[queue->head].arrived) return true;
    queue->waiting = number + 1;
    return false;
}

static pace_status take(loop *e, uint32_t number, const pace_operation *o) {
    pace_flow_state *s = e->state;
    const pace_flow_lane *lane = &s->lanes[number];
    pace_flow_queue *queue = &s->queues[lane->queues + s->slot[lane->cursor]];
    double bytes = s->messages.items[queue->head].bytes;
    if (bytes != o->amount) return pace_flow_mismatch(s, lane, o, bytes);
    pace_flow_take(s, queue);
    return PACE_OK;
}

static bool has_ended(loop *e, uint32_t number) {
    pace_flow_state *s = e->state;
    const pace_flow_lane *lane = &s->lanes[number];
    uint32_t on = s->unit_published[lane->unit] + s->published[s->slot[lane->cursor]] - 1;
    if (s->ended_ns[on] >= 0) return true;
    s->next_waiting[number] = s->ended_waiting[on];
    s->ended_waiting[on] = number + 1;
    return false;
}

static void tell(loop *e, const pace_flow_lane *lane) {
    pace_flow_state *s = e->state;
    if (!s->published || !s->published[lane->cursor]) return;
    uint32_t on = s->unit_published[lane->unit] + s->published[lane->cursor] - 1;
    s->ended_ns[on] = e->now_ns;
    for (uint32_t other = s->ended_waiting[on]; other; other = s->next_waiting[other - 1])
        e->runnable[e->runnable_count++] = other - 1;
    s->ended_waiting[on] = 0;
}

static double time_on_lane(const loop *e, const pace_operation *o) {
    const pace_flows_question *q = e->state->question;
    switch (o->kind) {
    case PACE_OPERATION_SEND:
    case PACE_OPERATION_RECEIVE: return q->wires[o->wire].overhead_ns;
    case PACE_OPERATION_REDUCE: return o->amount * q->reduce_ns_per_byte;
    case PACE_OPERATION_COPY: return o->amount * q->copy_ns_per_byte;
    case PACE_OPERATION_WORK: return o->amount;
    default: return 0;
    }
}

static pace_status run_lane(loop *e, uint32_t number) {
    pace_flow_lane *lane = &e->state->lanes[number];
    port *p = &e->ports[number];
    for (; lane->cursor < lane->last; lane->cursor++) {
        const pace_operation *o = &e->state->program->operations.items[lane->cursor];
        if (!p->paid) {
            if (o->kind == PACE_OPERATION_RECEIVE && !has_come(e, number)) return PACE_OK;
            if (o->kind == PACE_OPERATION_WAIT && !has_ended(e, number)) return PACE_OK;
            double takes = time_on_lane(e, o);
            if (takes > 0) {
                p->paid = true;
                return at(e, e->now_ns + takes, RESUME_LANE, number);
            }
        }
        p->paid = false;
        if (o->kind == PACE_OPERATION_SEND) PACE_TRY(post(e, number, o));
        if (o->kind == PACE_OPERATION_RECEIVE) PACE_TRY(take(e, number, o));
        if (e->state->question->log) PACE_TRY(pace_flow_log_add(e->state, lane, lane->now_ns, e->now_ns));
        lane->now_ns = e->now_ns;
        tell(e, lane);
    }
    return PACE_OK;
}

/* --- background traffic ------------------------------------------------------------------------------------------- */

static pace_status find_background(loop *e, const pace_fabric *fabric) {
    const pace_flows_question *q = e->state->question;
    for (size_t i = 0; i < q->background_count; i++) {
        PACE_TRY(PACE_PUSH(&e->others_first, (uint32_t)e->others.count));
        PACE_TRY(pace_fabric_route(&e->others, fabric, q->background[i].from, q->background[i].to));
    }
    return PACE_PUSH(&e->others_first, (uint32_t)e->others.count);
}

static pace_status start_background(loop *e) {
    const pace_flows_question *q = e->state->question;
    for (size_t i = 0; i < q->background_count; i++) {
        uint32_t first = e->others_first.items[i];
        const pace_flow way = {e->others.items + first, e->others_first.items[i + 1] - first,
                               q->background[i].bytes_per_s};
        PACE_TRY(pace_active_flows_add(&e->active, way, INFINITY, PACE_NO_MESSAGE, 0));
    }
    return PACE_OK;
}

/* What it sends until the next instant: they were the first to be added. */
static void pass_background(loop *e, double until_ns) {
    for (size_t i = 0; i < e->state->question->background_count; i++) {
        const pace_flow *way = &e->active.ways.items[i];
        double bytes = e->active.flows.items[i].bytes_per_s * (until_ns - e->now_ns) * 1e-9;
        for (uint32_t h = 0; h < way->hop_count; h++) e->active.used_bytes[way->hops[h].link] += bytes;
    }
}

/* The link that was used most, of what it could carry. */
static void find_busiest(pace_flow_state *s, const pace_flow_routes *routes, const pace_rates *rates,
                         const double *used_bytes) {
    double most = 0;
    for (uint32_t l = 0; l < rates->link_count; l++) {
        double share = used_bytes[l] / rates->bytes_per_s[l];
        if (share <= most) continue;
        most = share;
        s->busiest_link = routes->colour_link ? routes->colour_link[l] : l;
        s->busiest_bytes = used_bytes[l];
        s->busiest_rate = rates->bytes_per_s[l];
    }
}

/* --- the loop ----------------------------------------------------------------------------------------------------- */

static pace_status handle(loop *e, event happened) {
    if (happened.kind == RESUME_LANE) return run_lane(e, happened.number);
    if (happened.kind == ARRIVE) {
        arrive(e, happened.number);
        return PACE_OK;
    }
    e->ports[happened.number].busy = false;
    return start_next(e, happened.number);
}

/* Everything that happens at this instant. */
static pace_status run_instant(loop *e) {
    double until_ns = e->now_ns * (1 + same_instant);
    PACE_TRY(end_flows(e, until_ns));
    while (e->runnable_count || (e->events.count && e->events.items[0].at_ns <= until_ns)) {
        if (e->runnable_count) PACE_TRY(run_lane(e, e->runnable[--e->runnable_count]));
        else PACE_TRY(handle(e, take_first(e)));
    }
    return PACE_OK;
}

static double next_instant(const loop *e) {
    double next = e->events.count ? e->events.items[0].at_ns : INFINITY;
    return fmin(next, pace_active_flows_next(&e->active));
}

static pace_status run(loop *e) {
    for (uint32_t l = 0; l < e->state->lane_count; l++) {
        e->ports[l].head = PACE_NO_MESSAGE;
        PACE_TRY(at(e, e->state->lanes[l].now_ns, RESUME_LANE, l));
    }
    for (double next; !isinf(next = next_instant(e));) {
        if (next > e->now_ns) {
            pass_background(e, next);
            e->now_ns = next;
        }
        PACE_TRY(run_instant(e));
        PACE_TRY(pace_active_flows_rate(&e->active, e->now_ns));
    }
    find_busiest(e->state, &e->routes, &e->active.rates, e->active.used_bytes);
    return pace_flow_finished(e->state);
}

static uint32_t most_hops(const loop *e) {
    uint32_t most = (uint32_t)e->others.count;
    for (uint32_t i = 0; i < e->state->send_queue_count; i++)
        if (e->routes.first[i + 1] - e->routes.first[i] > most) most = e->routes.first[i + 1] - e->routes.first[i];
    return most;
}

static pace_status prepare(loop *e) {
    uint32_t lanes = e->state->lane_count;
    e->ports = pace_alloc((size_t)lanes + 1, sizeof *e->ports);
    e->runnable = pace_alloc((size_t)lanes + 1, sizeof *e->runnable);
    return e->ports && e->runnable ? start_background(e) : PACE_E_MEMORY;
}

/* Where no link is shared, lanes are walked, and nothing is kept in order of time. */
static pace_status walk_apart(loop *e) {
    pace_flow_state *s = e->state;
    double *bytes = pace_alloc((size_t)s->send_queue_count + 1, sizeof *bytes);
    if (!bytes) return PACE_E_MEMORY;
    s->way_latency_ns = e->routes.latency_ns;
    s->way_bytes_per_s = e->routes.alone_bytes_per_s;
    s->way_bytes = bytes;
    pace_status status = pace_flow_walk(s);
    for (uint32_t slot = 0; slot < s->send_queue_count; slot++)
        for (uint32_t h = e->routes.first[slot]; h < e->routes.first[slot + 1]; h++)
            e->active.used_bytes[e->routes.hops.items[h].link] += bytes[slot] * e->routes.hops.items[h].times;
    find_busiest(s, &e->routes, &e->active.rates, e->active.used_bytes);
    s->way_latency_ns = s->way_bytes_per_s = NULL;
    s->way_bytes = NULL;
    pace_free(bytes);
    return status;
}

static pace_status run_shared(loop *e, const pace_fabric *fabric) {
    bool folded = e->routes.colour_bytes_per_s != NULL, apart = false;
    uint32_t links = folded ? e->routes.link_colours : fabric->link_count;
    PACE_TRY(find_background(e, fabric));
    PACE_TRY(pace_active_flows_init(&e->active, folded ? e->routes.colour_bytes_per_s : fabric->bytes_per_s, links,
                                    most_hops(e)));
    if (!e->state->question->background_count) PACE_TRY(pace_flow_routes_apart(&apart, &e->routes, e->state, links));
    if (apart) return walk_apart(e);
    PACE_TRY(prepare(e));
    return run(e);
}

pace_status pace_flow_share(bool *alike, pace_flow_state *state, const pace_fabric *fabric) {
    loop e = {.state = state};
    pace_status status = pace_flow_routes_init(&e.routes, state, fabric);
    *alike = e.routes.alike;
    if (status == PACE_OK && *alike) status = run_shared(&e, fabric);
    pace_flow_routes_free(&e.routes);
    pace_active_flows_free(&e.active);
    PACE_VEC_FREE(&e.events);
    pace_free(e.ports);
    pace_free(e.runnable);
    PACE_VEC_FREE(&e.others);
    PACE_VEC_FREE(&e.others_first);
    return status;
}
