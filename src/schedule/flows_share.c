/*
 * Messages that share links. Each region (flows_region.h) takes its own events in order of time. Regions go on side by
 * side, window by window: what leaves one of them within a window of the least latency between two comes into another
 * after its end, so within it no region waits for another (conservative simulation with lookahead: Chandy, Misra 1979;
 * Nicol 1993). A window with enough to do is shared among threads; what comes out does not depend on their number.
 */
#include "schedule/flows_region.h"

#include "base/parallel.h"
#include "schedule/flows_log.h"

/* Below so many messages in the last window, threads cost more than they save. */
enum { WORTH_THREADS = 8192 };

/* The link that was used most, of what it could carry. */
static void find_busiest(pace_flow_meeting *m) {
    pace_flow_state *s = m->state;
    const pace_rates *rates = &m->links.rates;
    double most = 0;
    for (uint32_t slot = 0; slot < s->send_queue_count; slot++)
        for (uint32_t h = m->routes.first[slot]; h < m->routes.first[slot + 1]; h++)
            m->used_bytes[m->routes.hops.items[h].link] += m->slot_bytes[slot] * m->routes.hops.items[h].times;
    for (uint32_t l = 0; l < rates->link_count; l++) {
        double share = m->used_bytes[l] / rates->bytes_per_s[l];
        if (share <= most) continue;
        most = share;
        s->busiest_link = m->routes.colour_link ? m->routes.colour_link[l] : l;
        s->busiest_bytes = m->used_bytes[l];
        s->busiest_rate = rates->bytes_per_s[l];
    }
}

/* --- windows ------------------------------------------------------------------------------------------------------ */

typedef struct {
    pace_flow_meeting *of;
    double *next_ns; /* per region */
    uint32_t *due;   /* regions in which something happens in this window */
    uint32_t due_count;
    double before_ns;
    uint64_t sent; /* messages until the last window */
} windows;

static pace_status run_region(void *context, size_t worker, size_t i) {
    const windows *w = context;
    (void)worker;
    return pace_region_run(&w->of->regions[w->due[i]], w->before_ns);
}

static double first_ns(const windows *w) {
    double first = INFINITY;
    for (uint32_t i = 0; i < w->of->region_count; i++) first = w->next_ns[i] < first ? w->next_ns[i] : first;
    return first;
}

/* Messages come into their queues in the order in which they left, whoever ran first. */
static pace_status hand_over(windows *w) {
    pace_flow_meeting *m = w->of;
    for (uint32_t i = 0; i < w->due_count; i++) w->next_ns[w->due[i]] = pace_region_next(&m->regions[w->due[i]]);
    for (uint32_t i = 0; i < w->due_count; i++) {
        pace_flow_region *from = &m->regions[w->due[i]];
        PACE_ITEMS (const pace_delivery, message, &from->leaving) {
            uint32_t to = m->state->queues[message->queue].region;
            PACE_TRY(pace_region_deliver(&m->regions[to], message->queue, message->comes_ns, message->bytes));
            w->next_ns[to] = pace_region_next(&m->regions[to]);
        }
        from->leaving.count = 0;
    }
    return PACE_OK;
}

static uint64_t sent_in(const windows *w) {
    uint64_t sent = 0;
    for (uint32_t i = 0; i < w->of->region_count; i++) sent += w->of->regions[i].simulated;
    return sent;
}

static pace_status run_window(windows *w, bool threads) {
    w->due_count = 0;
    for (uint32_t i = 0; i < w->of->region_count; i++)
        if (w->next_ns[i] < w->before_ns) w->due[w->due_count++] = i;
    if (threads) PACE_TRY(pace_for_each(w->due_count, run_region, w));
    for (uint32_t i = 0; i < w->due_count && !threads; i++) PACE_TRY(run_region(w, 0, i));
    return hand_over(w);
}

static pace_status run_windows(windows *w) {
    bool threads = false;
    for (uint32_t i = 0; i < w->of->region_count; i++) w->next_ns[i] = pace_region_next(&w->of->regions[i]);
    for (double first; !isinf(first = first_ns(w));) {
        w->before_ns = first + w->of->lookahead_ns;
        PACE_TRY(run_window(w, threads));
        uint64_t sent = sent_in(w);
        threads = sent - w->sent >= WORTH_THREADS && pace_workers() > 1;
        w->sent = sent;
    }
    return PACE_OK;
}

static pace_status run_regions(pace_flow_meeting *m) {
    windows w = {.of = m};
    pace_status status =
        PACE_MAKE(w.next_ns, (size_t)m->region_count + 1) && PACE_MAKE(w.due, (size_t)m->region_count + 1)
            ? run_windows(&w)
            : PACE_E_MEMORY;
    PACE_FREE(w.next_ns, w.due);
    return status;
}

/* --- begin and end ------------------------------------------------------------------------------------------------ */

static pace_status find_background(pace_flow_meeting *m, const pace_fabric *fabric) {
    const pace_flows_question *q = m->state->question;
    for (size_t i = 0; i < q->background_count; i++) {
        PACE_TRY(PACE_PUSH(&m->others_first, (uint32_t)m->others.count));
        PACE_TRY(pace_fabric_route(&m->others, fabric, q->background[i].from, q->background[i].to));
    }
    return PACE_PUSH(&m->others_first, (uint32_t)m->others.count);
}

static uint32_t most_hops(const pace_flow_meeting *m) {
    uint32_t most = (uint32_t)m->others.count;
    for (uint32_t i = 0; i < m->state->send_queue_count; i++)
        if (m->routes.first[i + 1] - m->routes.first[i] > most) most = m->routes.first[i + 1] - m->routes.first[i];
    return most;
}

/* Where no link is shared, lanes are walked, and nothing is kept in order of time. */
static pace_status walk_apart(pace_flow_meeting *m) {
    pace_flow_state *s = m->state;
    s->way_latency_ns = m->routes.latency_ns;
    s->way_bytes_per_s = m->routes.alone_bytes_per_s;
    s->way_bytes = m->slot_bytes;
    pace_status status = pace_flow_walk(s);
    s->way_latency_ns = s->way_bytes_per_s = NULL;
    s->way_bytes = NULL;
    return status;
}

static void count_sent(pace_flow_state *s, const pace_flow_meeting *m) {
    for (uint32_t i = 0; i < m->region_count; i++) {
        s->sent += m->regions[i].sent;
        s->simulated += m->regions[i].simulated;
        s->sent_bytes += m->regions[i].sent_bytes;
    }
}

/* It ends at once, and nobody sees when. */
static bool is_nothing(const pace_flow_state *s, uint32_t operation) {
    uint8_t kind = s->program->operations.items[operation].kind;
    bool reduces = kind == PACE_OPERATION_REDUCE, copies = kind == PACE_OPERATION_COPY;
    double ns_per_byte = reduces ? s->question->reduce_ns_per_byte : s->question->copy_ns_per_byte;
    if (!(reduces || copies) || ns_per_byte > 0 || pace_flow_logged_units(s)) return false;
    return !(s->published && s->published[operation]);
}

static pace_status skip_nothing(pace_flow_meeting *m) {
    const pace_program *p = m->state->program;
    if (!PACE_MAKE(m->length, p->operations.count + 1)) return PACE_E_MEMORY;
    PACE_ITEMS (const pace_program_lane, lane, &p->lanes)
        for (uint32_t i = lane->first + lane->count, next = i; i-- > lane->first;) {
            m->length[i] = (uint8_t)(next - i);
            if (!is_nothing(m->state, i) || next - i == UINT8_MAX) next = i;
        }
    return PACE_OK;
}

/* Ports, slots and wires as messages meet them. */
static pace_status lay_ways(pace_flow_meeting *m) {
    const pace_flow_state *s = m->state;
    const pace_flows_question *q = s->question;
    if (!PACE_MAKE(m->ports, (size_t)s->lane_count + 1) || !PACE_MAKE(m->slots, (size_t)s->send_queue_count + 1))
        return PACE_E_MEMORY;
    for (uint32_t l = 0; l < s->lane_count; l++)
        m->ports[l] = (pace_port){.ranks = s->fold.members[s->lanes[l].unit], .alone = m->stations.alone[l]};
    for (uint32_t slot = 0; slot < s->send_queue_count; slot++)
        m->slots[slot] = (pace_crossing){.latency_ns = m->routes.latency_ns[slot],
                                         .bytes_per_s = m->stations.bytes_per_s[slot],
                                         .queue = s->send_queue[slot],
                                         .station = m->stations.station_of[slot]};
    if (q->slowness) return PACE_OK;
    if (!PACE_MAKE(m->wire_limit, q->wire_count + 1)) return PACE_E_MEMORY;
    for (size_t i = 0; i < q->wire_count; i++) m->wire_limit[i] = pace_flow_limit(&q->wires[i], 1, 0);
    return PACE_OK;
}

static pace_status run_meeting(pace_flow_meeting *m, const double *bytes_per_s, uint32_t links) {
    pace_flow_state *s = m->state;
    PACE_TRY(pace_stations_init(&m->stations, s, &m->routes, bytes_per_s, links));
    if (s->lane_count >= UINT32_MAX / 2)
        return pace_fail(PACE_E_INPUT, "%u lanes are too many to simulate", s->lane_count);
    if (!PACE_MAKE(m->region_of, (size_t)s->lane_count + 1)) return PACE_E_MEMORY;
    PACE_TRY(lay_ways(m));
    PACE_TRY(skip_nothing(m));
    m->most_hops = most_hops(m);
    PACE_TRY(pace_regions_divide(m));
    PACE_TRY(pace_region_start_others(&m->regions[0]));
    for (uint32_t l = 0; l < s->lane_count; l++)
        PACE_TRY(pace_lines_add(&m->regions[m->region_of[l]].due, l, s->lanes[l].now_ns));
    PACE_TRY(run_regions(m));
    count_sent(s, m);
    for (uint32_t slot = 0; slot < s->send_queue_count; slot++) m->slot_bytes[slot] = m->slots[slot].sent_bytes;
    return pace_flow_finished(s);
}

static pace_status run_shared(pace_flow_meeting *m, const pace_fabric *fabric) {
    bool folded = m->routes.colour_bytes_per_s != NULL, apart = false;
    const double *bytes_per_s = folded ? m->routes.colour_bytes_per_s : fabric->bytes_per_s;
    uint32_t links = folded ? m->routes.link_colours : fabric->link_count;
    PACE_TRY(find_background(m, fabric));
    PACE_TRY(pace_active_links_init(&m->links, bytes_per_s, links));
    if (!PACE_MAKE(m->slot_bytes, (size_t)m->state->send_queue_count + 1) ||
        !PACE_MAKE(m->used_bytes, (size_t)links + 1))
        return PACE_E_MEMORY;
    if (!m->state->question->background_count) PACE_TRY(pace_flow_routes_apart(&apart, &m->routes, m->state, links));
    PACE_TRY(apart ? walk_apart(m) : run_meeting(m, bytes_per_s, links));
    find_busiest(m);
    return PACE_OK;
}

static void free_meeting(pace_flow_meeting *m) {
    for (uint32_t i = 0; m->regions && i < m->region_count; i++) pace_region_free(&m->regions[i]);
    pace_free(m->regions);
    pace_stations_free(&m->stations);
    pace_active_links_free(&m->links);
    pace_flow_routes_free(&m->routes);
    PACE_FREE(m->ports, m->slots, m->length, m->wire_limit, m->slot_bytes, m->used_bytes, m->region_of);
    PACE_VEC_FREE(&m->others, &m->others_first);
}

pace_status pace_flow_share(bool *alike, pace_flow_state *state, const pace_fabric *fabric) {
    pace_flow_meeting m = {.state = state};
    pace_status status = pace_flow_routes_init(&m.routes, state, fabric);
    *alike = m.routes.alike;
    if (status == PACE_OK && *alike) status = run_shared(&m, fabric);
    free_meeting(&m);
    return status;
}
