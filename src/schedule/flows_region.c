#include "schedule/flows_region.h"

#include "schedule/flows_log.h"

/* Instants closer than this share of the time are one: flows that are alike end together whatever the rounding. */
static const double same_instant = 1e-13;

/* What is due of a number; a lane by its own. */
static uint32_t port_free(const pace_flow_meeting *m, uint32_t lane) { return m->state->lane_count + lane; }

/* --- ports and flows ---------------------------------------------------------------------------------------------- */

static pace_status renew_station(pace_flow_region *r, uint32_t station) {
    double next_ns = pace_station_next(&r->of->stations, station);
    if (!isinf(next_ns)) return pace_due_set(&r->ends, station, next_ns);
    pace_due_drop(&r->ends, station);
    return PACE_OK;
}

static pace_status begin(pace_flow_region *r, uint32_t lane, double bytes, uint32_t slot, uint8_t wire) {
    pace_flow_meeting *m = r->of;
    pace_port *p = &m->ports[lane];
    p->busy = true;
    p->bytes = bytes;
    p->slot = slot;
    p->wire = wire;
    double limit = pace_flow_way_limit(m->state, &m->routes, &m->state->question->wires[wire], slot, lane);
    uint32_t station = m->stations.station_of[slot], first = m->routes.first[slot];
    if (station != PACE_NO_STATION) {
        pace_station_begin(&m->stations, slot, lane, bytes, limit, r->now_ns);
        return renew_station(r, station);
    }
    const pace_flow way = {m->routes.hops.items + first, m->routes.first[slot + 1] - first, limit};
    return pace_active_flows_add(&r->active, way, bytes, lane);
}

static pace_status begin_next(pace_flow_region *r, uint32_t lane) {
    pace_port *p = &r->of->ports[lane];
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

pace_status pace_region_deliver(pace_flow_region *r, uint32_t number, double comes_ns, double bytes) {
    pace_flow_queue *queue = &r->of->state->queues[number];
    PACE_TRY(pace_flow_post(&r->come, queue, (pace_flow_message){comes_ns, 0, bytes}));
    if (!queue->waiting) return PACE_OK;
    uint32_t lane = queue->waiting - 1;
    queue->waiting = 0;
    return pace_lines_add(&r->due, lane, comes_ns);
}

/* It comes when it has gone its way, too. */
static pace_status leave(pace_flow_region *r, uint32_t slot, double bytes, double comes_ns) {
    pace_flow_meeting *m = r->of;
    uint32_t queue = m->state->send_queue[slot];
    comes_ns += m->routes.latency_ns[slot];
    m->slot_bytes[slot] += bytes;
    if (m->region_of[m->state->queues[queue].lane] == r->number) return pace_region_deliver(r, queue, comes_ns, bytes);
    return PACE_PUSH(&r->leaving, ((pace_delivery){comes_ns, bytes, queue}));
}

/* The message under way of a lane has left. */
static pace_status left(pace_flow_region *r, uint32_t lane) {
    pace_flow_meeting *m = r->of;
    const pace_port *p = &m->ports[lane];
    const pace_wire *wire = &m->state->question->wires[p->wire];
    PACE_TRY(leave(r, p->slot, p->bytes, r->now_ns + wire->latency_ns));
    if (wire->gap_ns > 0) return pace_lines_add(&r->due, port_free(m, lane), r->now_ns + wire->gap_ns);
    return begin_next(r, lane);
}

static pace_status end_of_station(pace_flow_region *r, uint32_t station) {
    uint32_t lane;
    while (pace_station_end(&lane, &r->of->stations, station, r->now_ns, r->until_ns)) PACE_TRY(left(r, lane));
    return renew_station(r, station);
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
static pace_status send_alone(pace_flow_region *r, uint32_t lane, const pace_operation *o, uint32_t slot) {
    pace_flow_meeting *m = r->of;
    pace_port *p = &m->ports[lane];
    const pace_wire *wire = &m->state->question->wires[o->wire];
    double rate = m->stations.bytes_per_s[slot];
    double limit = pace_flow_way_limit(m->state, &m->routes, wire, slot, lane);
    double leaves_ns = r->now_ns > p->free_ns ? r->now_ns : p->free_ns;
    double left_ns = leaves_ns + o->amount * 1e9 / (rate < limit ? rate : limit);
    p->free_ns = left_ns + wire->gap_ns;
    return leave(r, slot, o->amount, left_ns + wire->latency_ns);
}

static pace_status post(pace_flow_region *r, uint32_t number, const pace_operation *o) {
    const pace_flow_state *s = r->of->state;
    const pace_flow_lane *lane = &s->lanes[number];
    pace_port *p = &r->of->ports[number];
    uint32_t slot = lane->send_queues + s->slot[lane->cursor], ranks = s->fold.members[lane->unit];
    r->simulated++;
    r->sent += ranks;
    r->sent_bytes += o->amount * ranks;
    if (r->of->stations.alone[number]) return send_alone(r, number, o, slot);
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

static pace_status take(pace_flow_region *r, const pace_flow_lane *lane, const pace_operation *o,
                        pace_flow_queue *queue) {
    if (queue->first.bytes != o->amount) return pace_flow_mismatch(r->of->state, lane, o, queue->first.bytes);
    pace_flow_take(&r->come, queue);
    return PACE_OK;
}

static bool has_ended(pace_flow_region *r, uint32_t number) {
    pace_flow_state *s = r->of->state;
    const pace_flow_lane *lane = &s->lanes[number];
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

static double time_on_lane(const pace_flows_question *q, const pace_operation *o) {
    switch (o->kind) {
    case PACE_OPERATION_SEND:
    case PACE_OPERATION_RECEIVE: return q->wires[o->wire].overhead_ns;
    case PACE_OPERATION_REDUCE: return o->amount * q->reduce_ns_per_byte;
    case PACE_OPERATION_COPY: return o->amount * q->copy_ns_per_byte;
    case PACE_OPERATION_WORK: return o->amount;
    default: return 0;
    }
}

/* Whether the operation at a lane's cursor is over now. `queue`: that of a receive. */
static bool passed(pace_flow_region *r, uint32_t number, const pace_operation *o, pace_flow_queue *queue,
                   pace_status *status) {
    bool *paid = &r->of->ports[number].paid;
    if (!*paid) {
        if (o->kind == PACE_OPERATION_RECEIVE && !has_come(r, number, queue, status)) return false;
        if (o->kind == PACE_OPERATION_WAIT && !has_ended(r, number)) return false;
        double takes = time_on_lane(r->of->state->question, o);
        if (takes > 0) {
            *paid = true;
            *status = pace_lines_add(&r->due, number, r->now_ns + takes);
            return false;
        }
    }
    *paid = false;
    return true;
}

static pace_status run_lane(pace_flow_region *r, uint32_t number) {
    pace_flow_state *s = r->of->state;
    pace_flow_lane *lane = &s->lanes[number];
    const pace_operation *operations = s->program->operations.items;
    const uint32_t *slot = s->slot;
    pace_flow_queue *queues = &s->queues[lane->queues];
    const bool logged = lane->unit < pace_flow_logged_units(s), published = s->published;
    pace_status status = PACE_OK;
    for (; lane->cursor < lane->last; lane->cursor++) {
        const pace_operation *o = &operations[lane->cursor];
        pace_flow_queue *queue = o->kind == PACE_OPERATION_RECEIVE ? &queues[slot[lane->cursor]] : NULL;
        if (!passed(r, number, o, queue, &status)) return status;
        if (o->kind == PACE_OPERATION_SEND) PACE_TRY(post(r, number, o));
        if (queue) PACE_TRY(take(r, lane, o, queue));
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
        __builtin_prefetch(&r->of->ports[far]);
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
        if (pace_due_next(&r->ends) <= r->until_ns) PACE_TRY(end_of_station(r, r->ends.heap.items[0].number));
        else if (r->due.next_ns <= r->until_ns) PACE_TRY(go_on(r));
        else return PACE_OK;
    }
}

/* Everything that happens at this instant. */
static pace_status run_instant(pace_flow_region *r) {
    r->until_ns = r->now_ns * (1 + same_instant);
    PACE_TRY(end_flows(r));
    PACE_TRY(handle_due(r));
    return pace_active_flows_rate(&r->active, r->now_ns);
}

double pace_region_next(const pace_flow_region *r) {
    double flow_ns = pace_active_flows_next(&r->active), station_ns = pace_due_next(&r->ends);
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
    PACE_VEC_FREE(&r->ends.heap);
    pace_active_flows_free(&r->active);
    PACE_VEC_FREE(&r->come.items, &r->outgoing, &r->leaving);
}
