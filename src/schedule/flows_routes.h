/* Which links the messages of every lane cross; where ranks are folded, which kinds of links, and how often. Inside of
 * flows*.c. */
#pragma once

#include "schedule/flows_state.h"

typedef struct {
    pace_route hops;
    uint32_t *first;            /* index in the state's send_queue -> its first hop; one more at the end */
    double *latency_ns;         /* index in send_queue: of the way */
    double *alone_bytes_per_s;  /* the same: of the narrowest link of the way */
    uint32_t *colour_link;      /* folded: one link of every kind */
    double *colour_bytes_per_s; /* folded: of every kind of link; NULL = the fabric's own links */
    uint32_t link_colours;
    bool alike; /* false: the ranks are alike, but their routes are not; simulate all */
} pace_flow_routes;

/** Routes of all lanes of a state. */
pace_status pace_flow_routes_init(pace_flow_routes *routes, const pace_flow_state *state,
                                  const pace_fabric *fabric) PACE_MUST_CHECK;
void pace_flow_routes_free(pace_flow_routes *routes);

/** Whether no link is ever crossed by the messages of two lanes: each has its way for itself. */
pace_status pace_flow_routes_apart(bool *out, const pace_flow_routes *routes, const pace_flow_state *state,
                                   uint32_t links) PACE_MUST_CHECK;

/** Mixes into `kinds` (per rank) what links its messages cross, so that only ranks with like routes fold. Of a rank's
 * peers about `most` are looked at, spread over all; whether the routes to all are alike, pace_flow_routes_init()
 * says. */
pace_status pace_flow_route_kinds(uint64_t *kinds, const pace_program *program, const pace_fabric *fabric,
                                  size_t most) PACE_MUST_CHECK;

/** What a message of a slot gets at most over this wire: ranks that are slow have a share of it, or where it says
 * nothing, of what the message would have alone. */
static inline double pace_flow_way_limit(const pace_flow_state *s, const pace_flow_routes *routes,
                                         const pace_wire *wire, uint32_t slot, uint32_t lane) {
    if (!s->question->slowness) return pace_flow_limit(wire, 1, 0);
    uint32_t to = s->lanes[s->queues[s->send_queue[slot]].lane].unit;
    return pace_flow_limit(wire, pace_flow_slower(s, s->lanes[lane].unit, to), routes->alone_bytes_per_s[slot]);
}
