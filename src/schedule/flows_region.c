#include "schedule/flows_region.h"

#include "schedule/flows_log.h"

/* Instants closer than this share of the time are one: flows that are alike end together whatever the rounding. */
static const double same_instant = 1e-13;

/* What is due of a number; a lane by its own. */
static uint32_t port_free(const pace_flow_meeting *m, uint32_t lane) { return m->state->lane_count + lane; }

/* --- ports and flows ---------------------------------------------------------------------------------------------- */

static double limit_where_slow(const pace_flow_meeting *m, uint32_t lane, uint32_t slot, uint8_t wire) {
    const pace_flow_state *s = m->state;
    return pace_flow_way_limit(s, &m->routes, &s->question->wires[wire], slot, lane);
}

static inline double limit_of(const pace_flow_region *r, uint32_t lane, uint32_t slot, uint8_t wire) {
    return r->wire_limit ? r->wire_limit[wire] : limit_where_slow(r->of, lane, slot, wire);
}

static void begin_at_station(pace_flow_region *r, uint32_t lane, const pace_crossing *slot, double bytes,
                             double limit) {
    pace_station *s = &r->stations[slot->station];
    pace_station_begin(s, lane, bytes, slot->bytes_per_s, limit, r->now_ns);
    pace_station_leaves(&r->ends, r->stations, slot->station, pace_station_next(s));
}

static pace_status begin(pace_flow_region *r, uint32_t lane, double bytes, uint32_t slot, uint8_t wire) {
    const pace_flow_meeting *m = r->of;
    const pace_crossing *way = &r->slots[slot];
    pace_port *p = &r->ports[lane];
    p->busy = true;
    p->bytes = bytes;
    p->slot = slot;
    p->wire = wire;
    double limit = limit_of(r, lane, slot, wire);
    if (way->station != PACE_NO_STATION) {
        begin_at_station(r, lane, way, bytes, limit);
        return PACE_OK;
    }
    uint32_t first = m->routes.first[slot];
    const pace_flow flow = {m->routes.hops.items + first, m->routes.first[slot + 1] - first, limit};
    return pace_active_flows_add(&r->active, flow, bytes, lane);
}

static pace_status begin_next(pace_flow_region *r, uint32_t lane) {
    pace_port *p = &r->ports[lane];
    p->busy = false;
    if (!p->head) return PACE_OK;
    uint32_t number = p->head;
    pace_outgoing *o = &r->outgoing.items[number - 1];
    p->head = o->next;
    o->next = r->free_outgoing;
    r->free_outgoing = number;
    return begin(r, lane, o->bytes, o->slot, o->wire);
}

static pace_status stand_in_line(pace_flow_region *r, pace_port *p, pace_outgoing message) {
    uint32_t number = r->free_outgoing;
    if (number) {
        r->free_outgoing = r->outgoing.items[number - 1].next;
        r->outgoing.items[number - 1] = message;
    } else {
        PACE_TRY(PACE_PUSH(&r->outgoing, message));
        number = (uint32_t)r->outgoing.count;
    }
    if (p->head) r->outgoing.items[p->tail - 1].next = number;
    else p->head = number;
    p->tail = number;
    return PACE_OK;
}

static pace_status deliver(pace_flow_region *r, pace_flow_queue *queue, double comes_ns, double bytes) {
    PACE_TRY(pace_flow_post(&r->come, queue, (pace_flow_message){comes_ns, 0, bytes}));
    if (!queue->waiting) return PACE_OK;
    uint32_t lane = queue->waiting - 1;
    queue->waiting = 0;
    return pace_lines_add(&r->due, lane, comes_ns);
}

pace_status pace_region_deliver(pace_flow_region *r, uint32_t number, double comes_ns, double bytes) {
    return deliver(r, &r->queues[number], comes_ns, bytes);
}

/* It comes when it has gone its way, too. */
static pace_status leave(pace_flow_region *r, pace_crossing *slot, double bytes, double comes_ns) {
    pace_flow_queue *queue = &r->queues[slot->queue];
    comes_ns += slot->latency_ns;
    slot->sent_bytes += bytes;
    if (queue->region == r->number) return deliver(r, queue, comes_ns, bytes);
    return PACE_PUSH(&r->leaving, ((pace_delivery){comes_ns, bytes, slot->queue}));
}

/* The message under way of a lane has left. */
static pace_status left(pace_flow_region *r, uint32_t lane) {
    const pace_port *p = &r->ports[lane];
    const pace_wire *wire = &r->wires[p->wire];
    PACE_TRY(leave(r, &r->slots[p->slot], p->bytes, r->now_ns + wire->latency_ns));
    if (wire->gap_ns > 0) return pace_lines_add(&r->due, port_free(r->of, lane), r->now_ns + wire->gap_ns);
    return begin_next(r, lane);
}

static pace_status end_of_station(pace_flow_region *r) {
    uint32_t number = r->ends.heap[0].station;
    pace_station *s = &r->stations[number];
    pace_station_serve(s, r->now_ns);
    do PACE_TRY(left(r, pace_station_take(s)));
    while (pace_station_ends_until(s, r->until_ns));
    if (s->count) pace_station_leaves(&r->ends, r->stations, number, pace_station_next(s));
    else pace_station_is_empty(&r->ends, r->stations, number);
    return PACE_OK;
}

static pace_status end_flows(pace_flow_region *r) {
    pace_active_flow ended;
    pace_status status = PACE_OK;
    while (status == PACE_OK && pace_active_flows_take(&ended, &status, &r->active, r->until_ns))
        if (status == PACE_OK) status = left(r, ended.lane);
    return status;
}

/* --- lanes -------------------------------------------------------------------------------------------------------- */

/* Its way is its own, so when it comes is known as soon as it is sent. */
static pace_status send_alone(pace_flow_region *r, uint32_t lane, pace_port *p, const pace_operation *o,
                              uint32_t number) {
    pace_crossing *slot = &r->slots[number];
    const pace_wire *wire = &r->wires[o->wire];
    double limit = limit_of(r, lane, number, o->wire);
    double leaves_ns = r->now_ns > p->free_ns ? r->now_ns : p->free_ns;
    double left_ns = leaves_ns + o->amount * 1e9 / (slot->bytes_per_s < limit ? slot->bytes_per_s : limit);
    p->free_ns = left_ns + wire->gap_ns;
    return leave(r, slot, o->amount, left_ns + wire->latency_ns);
}

static pace_status post(pace_flow_region *r, uint32_t number, pace_port *p, const pace_operation *o, uint32_t slot) {
    r->simulated++;
    r->sent += p->ranks;
    r->sent_bytes += o->amount * p->ranks;
    if (p->alone) return send_alone(r, number, p, o, slot);
    if (p->busy) return stand_in_line(r, p, (pace_outgoing){o->amount, slot, 0, o->wire});
    return begin(r, number, o->amount, slot, o->wire);
}

/* False when it has not come yet; then the lane goes on when it has. */
static bool has_come(pace_flow_region *r, uint32_t number, pace_flow_queue *queue, pace_status *status) {
    if (!queue->count) {
        queue->waiting = number + 1;
        return false;
    }
    if (queue->first.at_ns <= r->until_ns) return true;
    *status = pace_lines_add(&r->due, number, queue->first.at_ns);
    return false;
}

static pace_status take(pace_flow_region *r, const pace_flow_lane *lane, double amount, pace_flow_queue *queue) {
    const pace_flow_state *s = r->of->state;
    if (queue->first.bytes != amount)
        return pace_flow_mismatch(s, lane, &s->program->operations.items[lane->cursor], queue->first.bytes);
    pace_flow_take(&r->come, queue);
    return PACE_OK;
}

static bool has_ended(pace_flow_region *r, uint32_t number) {
    pace_flow_state *s = r->of->state;
    const pace_flow_lane *lane = &r->lanes[number];
    uint32_t on = s->unit_published[lane->unit] + s->published[s->slot[lane->cursor]] - 1;
    if (s->ended_ns[on] >= 0) return true;
    s->next_waiting[number] = s->ended_waiting[on];
    s->ended_waiting[on] = number + 1;
    return false;
}

static pace_status tell(pace_flow_region *r, const pace_flow_lane *lane) {
    pace_flow_state *s = r->of->state;
    if (!s->published[lane->cursor]) return PACE_OK;
    uint32_t on = s->unit_published[lane->unit] + s->published[lane->cursor] - 1;
    s->ended_ns[on] = r->now_ns;
    for (uint32_t other = s->ended_waiting[on]; other; other = s->next_waiting[other - 1])
        PACE_TRY(pace_lines_add(&r->due, other - 1, r->now_ns));
    s->ended_waiting[on] = 0;
    return PACE_OK;
}

static bool is_message(const pace_operation *o) {
    return o->kind == PACE_OPERATION_SEND || o->kind == PACE_OPERATION_RECEIVE;
}

/* Whether the operation at a lane's cursor is over now. `queue`: that of a receive. */
static bool passed(pace_flow_region *r, uint32_t number, pace_port *p, const pace_operation *o, pace_flow_queue *queue,
                   pace_status *status) {
    if (p->paid) {
        p->paid = false;
        return true;
    }
    if (queue && !has_come(r, number, queue, status)) return false;
    if (o->kind == PACE_OPERATION_WAIT && !has_ended(r, number)) return false;
    double takes_ns = is_message(o) ? r->wires[o->wire].overhead_ns : o->amount * r->ns_per_amount[o->kind];
    if (!(takes_ns > 0)) return true;
    p->paid = true;
    *status = pace_lines_add(&r->due, number, r->now_ns + takes_ns);
    return false;
}

static pace_status run_lane(pace_flow_region *r, uint32_t number) {
    pace_flow_state *s = r->of->state;
    pace_flow_lane *lane = &r->lanes[number];
    pace_port *p = &r->ports[number];
    pace_flow_queue *queues = &r->queues[lane->queues];
    const bool logged = lane->unit < pace_flow_logged_units(s), published = s->published;
    pace_status status = PACE_OK;
    for (uint32_t at; (at = lane->cursor) < lane->last; lane->cursor = at + r->length[at]) {
        const pace_operation *o = &r->operations[at];
        pace_flow_queue *queue = o->kind == PACE_OPERATION_RECEIVE ? &queues[r->slot_of[at]] : NULL;
        if (!passed(r, number, p, o, queue, &status)) return status;
        if (o->kind == PACE_OPERATION_SEND) PACE_TRY(post(r, number, p, o, lane->send_queues + r->slot_of[at]));
        if (queue) PACE_TRY(take(r, lane, o->amount, queue));
        if (logged) PACE_TRY(pace_flow_log_add(s, lane, lane->now_ns, r->now_ns));
        lane->now_ns = r->now_ns;
        if (published) PACE_TRY(tell(r, lane));
    }
    return PACE_OK;
}

/* --- background traffic ------------------------------------------------------------------------------------------- */

pace_status pace_region_start_others(pace_flow_region *r) {
    const pace_flow_meeting *m = r->of;
    const pace_flows_question *q = m->state->question;
    for (size_t i = 0; i < q->background_count; i++) {
        uint32_t first = m->others_first.items[i];
        const pace_flow way = {m->others.items + first, m->others_first.items[i + 1] - first,
                               q->background[i].bytes_per_s};
        PACE_TRY(pace_active_flows_add(&r->active, way, INFINITY, 0));
    }
    return PACE_OK;
}

/* What it sends until the next instant: they were the first to be added. */
static void pass_background(pace_flow_region *r, double until_ns) {
    for (size_t i = 0; i < r->of->state->question->background_count; i++) {
        const pace_flow *way = &r->active.ways.items[i];
        double bytes = r->active.flows.items[i].bytes_per_s * (until_ns - r->now_ns) * 1e-9;
        for (uint32_t h = 0; h < way->hop_count; h++) r->of->used_bytes[way->hops[h].link] += bytes;
    }
}

/* --- the loop ----------------------------------------------------------------------------------------------------- */

/* Most lanes that go on have long left the caches: the next ones are fetched meanwhile, then their queues. */
static void fetch_ahead(const pace_flow_region *r) {
    const pace_flow_state *s = r->of->state;
    uint32_t far = pace_lines_ahead(&r->due, 3), near = pace_lines_ahead(&r->due, 1);
    if (far < s->lane_count) {
        __builtin_prefetch(&s->lanes[far]);
        __builtin_prefetch(&r->ports[far]);
    }
    if (near >= s->lane_count) return;
    const pace_flow_lane *lane = &s->lanes[near];
    if (lane->cursor < lane->last) __builtin_prefetch(&s->queues[lane->queues + s->slot[lane->cursor]]);
}

static pace_status go_on(pace_flow_region *r) {
    uint32_t lanes = r->of->state->lane_count, number = pace_lines_take(&r->due);
    fetch_ahead(r);
    return number < lanes ? run_lane(r, number) : begin_next(r, number - lanes);
}

/* Stations that end, then lanes, until nothing is left: lanes may begin what ends at once. */
static pace_status handle_due(pace_flow_region *r) {
    for (;;) {
        if (r->ends.heap[0].at_ns <= r->until_ns) PACE_TRY(end_of_station(r));
        else if (r->due.next_ns <= r->until_ns) PACE_TRY(go_on(r));
        else return PACE_OK;
    }
}

/* Everything that happens at this instant. */
static pace_status run_instant(pace_flow_region *r) {
    r->until_ns = r->now_ns * (1 + same_instant);
    if (pace_active_flows_next(&r->active) <= r->until_ns) PACE_TRY(end_flows(r));
    PACE_TRY(handle_due(r));
    return pace_active_flows_changed(&r->active) ? pace_active_flows_rate(&r->active, r->now_ns) : PACE_OK;
}

double pace_region_next(const pace_flow_region *r) {
    double flow_ns = pace_active_flows_next(&r->active), station_ns = r->ends.heap[0].at_ns;
    double ends_ns = flow_ns < station_ns ? flow_ns : station_ns;
    return r->due.next_ns < ends_ns ? r->due.next_ns : ends_ns;
}

pace_status pace_region_run(pace_flow_region *r, double before_ns) {
    for (double next; (next = pace_region_next(r)) < before_ns;) {
        if (next > r->now_ns) {
            pass_background(r, next);
            r->now_ns = next;
        }
        PACE_TRY(run_instant(r));
    }
    return PACE_OK;
}

void pace_region_free(pace_flow_region *r) {
    pace_lines_free(&r->due);
    pace_free(r->ends.heap);
    pace_active_flows_free(&r->active);
    PACE_VEC_FREE(&r->come.items, &r->outgoing, &r->leaving);
}
