#include "base/union_find.h"
#include "schedule/flows_log.h"
#include "schedule/flows_region.h"

/* Regions of fewer lanes cost more for being gone through than they save; more regions than this, the same. */
enum { LEAST_LANES = 64, MOST_REGIONS = 256 };

/* Lanes that belong together: those of a rank, those whose messages meet, and those of which a log is kept, since that
 * has one order. */
static void join_lanes(pace_union_find *sets, const pace_flow_meeting *m) {
    const pace_flow_state *s = m->state;
    for (uint32_t unit = 1; unit < pace_flow_logged_units(s); unit++)
        pace_union_find_join(sets, s->unit_lane[0], s->unit_lane[unit]);
    for (uint32_t l = 0; l < s->lane_count; l++) {
        pace_union_find_join(sets, l, s->unit_lane[s->lanes[l].unit]);
        for (uint32_t slot = s->lanes[l].send_queues; slot < pace_flow_slots_end(s, l); slot++)
            pace_union_find_join(sets, l, m->stations.group_lane[m->stations.group_of[slot]]);
    }
}

/* Sets of lanes in the order of their first, as many to a region as make it large enough. */
static void number_regions(pace_flow_meeting *m, pace_union_find *sets, const uint32_t *size, uint32_t least) {
    uint32_t lanes = 0;
    m->region_count = 1;
    for (uint32_t l = 0; l < m->state->lane_count; l++) {
        uint32_t root = pace_union_find_root(sets, l);
        if (root == l) {
            if (lanes >= least) m->region_count++, lanes = 0;
            m->region_of[l] = m->region_count - 1;
            lanes += size[l];
        } else {
            m->region_of[l] = m->region_of[root];
        }
    }
}

static pace_status find_regions(pace_flow_meeting *m) {
    uint32_t lanes = m->state->lane_count, *size = pace_alloc((size_t)lanes + 1, sizeof *size);
    pace_union_find sets = {0};
    pace_status status = size ? pace_union_find_init(&sets, lanes) : PACE_E_MEMORY;
    if (status == PACE_OK) {
        join_lanes(&sets, m);
        for (uint32_t l = 0; l < lanes; l++) size[pace_union_find_root(&sets, l)]++;
        uint32_t least = lanes / MOST_REGIONS;
        number_regions(m, &sets, size, least < LEAST_LANES ? LEAST_LANES : least);
    }
    pace_free(size);
    pace_union_find_free(&sets);
    return status;
}

static double least_latency_ns(const pace_flow_state *s) {
    double least = INFINITY;
    for (size_t i = 0; i < s->question->wire_count; i++) least = fmin(least, s->question->wires[i].latency_ns);
    return least;
}

static double lookahead_ns(const pace_flow_meeting *m) {
    const pace_flow_state *s = m->state;
    double least = INFINITY, wire_ns = least_latency_ns(s);
    for (uint32_t l = 0; l < s->lane_count; l++)
        for (uint32_t slot = s->lanes[l].send_queues; slot < pace_flow_slots_end(s, l); slot++)
            if (m->region_of[s->queues[s->send_queue[slot]].lane] != m->region_of[l])
                least = fmin(least, wire_ns + m->routes.latency_ns[slot]);
    return least;
}

static void one_region(pace_flow_meeting *m) {
    for (uint32_t l = 0; l < m->state->lane_count; l++) m->region_of[l] = 0;
    m->region_count = 1;
    m->lookahead_ns = INFINITY;
}

/* Of no more stations than it has lanes flows are under way, and of one that is being left. */
static pace_status open_region(pace_flow_region *r, pace_flow_meeting *m, uint32_t number, uint32_t lanes) {
    const pace_flows_question *q = m->state->question;
    *r = (pace_flow_region){.of = m,
                            .lanes = m->state->lanes,
                            .ports = m->ports,
                            .slots = m->slots,
                            .queues = m->state->queues,
                            .operations = m->state->program->operations.items,
                            .slot_of = m->state->slot,
                            .length = m->length,
                            .ns_per_amount = {[PACE_OPERATION_REDUCE] = q->reduce_ns_per_byte,
                                              [PACE_OPERATION_COPY] = q->copy_ns_per_byte,
                                              [PACE_OPERATION_WORK] = 1},
                            .wires = q->wires,
                            .wire_limit = m->wire_limit,
                            .stations = m->stations.all.items,
                            .number = number};
    pace_lines_init(&r->due);
    pace_active_flows_init(&r->active, &m->links, m->most_hops);
    if (!PACE_MAKE(r->ends.heap, (size_t)lanes + 2)) return PACE_E_MEMORY;
    r->ends.heap[0].at_ns = INFINITY;
    return PACE_OK;
}

/* Where messages take no time to come nothing can be done ahead of others. */
pace_status pace_regions_divide(pace_flow_meeting *m) {
    const pace_flows_question *q = m->state->question;
    PACE_TRY(find_regions(m));
    m->lookahead_ns = lookahead_ns(m);
    if (q->background_count || !(m->lookahead_ns > 0)) one_region(m);
    uint32_t *lanes = pace_alloc((size_t)m->region_count + 1, sizeof *lanes);
    bool made = PACE_MAKE(m->regions, (size_t)m->region_count + 1) && lanes;
    for (uint32_t l = 0; made && l < m->state->lane_count; l++) lanes[m->region_of[l]]++;
    for (uint32_t i = 0; made && i < m->region_count; i++)
        made = open_region(&m->regions[i], m, i, lanes[i]) == PACE_OK;
    pace_free(lanes);
    if (!made) return PACE_E_MEMORY;
    for (uint32_t i = 0; i < m->state->queue_count; i++)
        m->state->queues[i].region = m->region_of[m->state->queues[i].lane];
    return PACE_OK;
}
