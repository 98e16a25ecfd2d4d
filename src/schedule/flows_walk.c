/* Messages that do not share links: every lane is walked until it must wait for a message or for another lane. No
 * global order is needed, since what a lane does depends on nothing but what it waits for. */
#include "schedule/flows_log.h"
#include "schedule/flows_state.h"

typedef struct {
    pace_flow_state *state;
    uint32_t *runnable;
    uint32_t runnable_count;
} walker;

/* On its way by itself: as its wire says, or as the links there give it. */
static double duration_ns(const pace_flow_state *s, const pace_wire *wire, uint32_t slot, double bytes, double slower) {
    if (!s->way_bytes_per_s) return bytes * wire->ns_per_byte * slower;
    double rate = s->way_bytes_per_s[slot], limit = pace_flow_limit(wire, slower, rate);
    s->way_bytes[slot] += bytes;
    return bytes * 1e9 / (limit < rate ? limit : rate);
}

static pace_status send(walker *w, pace_flow_lane *lane, const pace_operation *o) {
    pace_flow_state *s = w->state;
    const pace_wire *wire = &s->question->wires[o->wire];
    uint32_t slot = lane->send_queues + s->slot[lane->cursor];
    pace_flow_queue *queue = &s->queues[s->send_queue[slot]];
    double slower = pace_flow_slower(s, lane->unit, s->lanes[queue->lane].unit);
    double duration = duration_ns(s, wire, slot, o->amount, slower);
    lane->now_ns += wire->overhead_ns;
    double leaves = lane->now_ns > lane->out_ns ? lane->now_ns : lane->out_ns;
    lane->out_ns = leaves + duration + wire->gap_ns;
    double at_ns = leaves + wire->latency_ns + (s->way_latency_ns ? s->way_latency_ns[slot] : 0);
    PACE_TRY(pace_flow_post(&s->messages, queue, (pace_flow_message){at_ns, duration, o->amount}));
    s->simulated++;
    s->sent += s->fold.members[lane->unit];
    s->sent_bytes += o->amount * s->fold.members[lane->unit];
    if (queue->waiting) {
        w->runnable[w->runnable_count++] = queue->waiting - 1;
        queue->waiting = 0;
    }
    return PACE_OK;
}

/* False when the message has not been sent yet. */
static bool receive(walker *w, pace_flow_lane *lane, const pace_operation *o, pace_status *status) {
    pace_flow_state *s = w->state;
    pace_flow_queue *queue = &s->queues[lane->queues + s->slot[lane->cursor]];
    if (!queue->count) {
        queue->waiting = (uint32_t)(lane - s->lanes) + 1;
        return false;
    }
    const pace_flow_message *m = &queue->first;
    if (m->bytes != o->amount) {
        *status = pace_flow_mismatch(s, lane, o, m->bytes);
        return false;
    }
    /* a port takes one message after the other; links take several lanes' at once */
    bool at_once = s->way_bytes_per_s || m->at_ns > lane->in_ns;
    lane->in_ns = (at_once ? m->at_ns : lane->in_ns) + m->duration_ns;
    if (lane->in_ns > lane->now_ns) lane->now_ns = lane->in_ns;
    lane->now_ns += s->question->wires[o->wire].overhead_ns;
    pace_flow_take(&s->messages, queue);
    return true;
}

/* False when it has not ended yet. */
static bool wait_for(walker *w, pace_flow_lane *lane) {
    pace_flow_state *s = w->state;
    uint32_t on = s->unit_published[lane->unit] + s->published[s->slot[lane->cursor]] - 1;
    if (s->ended_ns[on] < 0) {
        uint32_t number = (uint32_t)(lane - s->lanes);
        s->next_waiting[number] = s->ended_waiting[on];
        s->ended_waiting[on] = number + 1;
        return false;
    }
    if (s->ended_ns[on] > lane->now_ns) lane->now_ns = s->ended_ns[on];
    return true;
}

static void tell(walker *w, const pace_flow_lane *lane) {
    pace_flow_state *s = w->state;
    if (!s->published[lane->cursor]) return;
    uint32_t on = s->unit_published[lane->unit] + s->published[lane->cursor] - 1;
    s->ended_ns[on] = lane->now_ns;
    for (uint32_t other = s->ended_waiting[on]; other; other = s->next_waiting[other - 1])
        w->runnable[w->runnable_count++] = other - 1;
    s->ended_waiting[on] = 0;
}

static pace_status walk_lane(walker *w, pace_flow_lane *lane) {
    const pace_flows_question *q = w->state->question;
    pace_status status = PACE_OK;
    for (; lane->cursor < lane->last; lane->cursor++) {
        const pace_operation *o = &w->state->program->operations.items[lane->cursor];
        double began_ns = lane->now_ns;
        switch (o->kind) {
        case PACE_OPERATION_SEND: PACE_TRY(send(w, lane, o)); break;
        case PACE_OPERATION_RECEIVE:
            if (!receive(w, lane, o, &status)) return status;
            break;
        case PACE_OPERATION_REDUCE: lane->now_ns += o->amount * q->reduce_ns_per_byte; break;
        case PACE_OPERATION_COPY: lane->now_ns += o->amount * q->copy_ns_per_byte; break;
        case PACE_OPERATION_WORK: lane->now_ns += o->amount; break;
        default:
            if (!wait_for(w, lane)) return PACE_OK;
        }
        if (q->log) PACE_TRY(pace_flow_log_add(w->state, lane, began_ns, lane->now_ns));
        if (w->state->published) tell(w, lane);
    }
    return PACE_OK;
}

pace_status pace_flow_walk(pace_flow_state *state) {
    walker w = {.state = state};
    if (!PACE_MAKE(w.runnable, (size_t)state->lane_count + 1)) return PACE_E_MEMORY;
    pace_status status = PACE_OK;
    for (uint32_t l = state->lane_count; l-- > 0;) w.runnable[w.runnable_count++] = l;
    while (w.runnable_count && status == PACE_OK) status = walk_lane(&w, &state->lanes[w.runnable[--w.runnable_count]]);
    pace_free(w.runnable);
    return status == PACE_OK ? pace_flow_finished(state) : status;
}
