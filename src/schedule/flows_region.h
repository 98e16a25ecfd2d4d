/* Messages that share links, by regions: sets of lanes whose messages meet on no link with those of another region, and
 * that hold all lanes of a rank or none. What one region does to another is that a message comes, a latency after it
 * left. Inside of flows*.c. */
#pragma once

#include "schedule/flows_active.h"
#include "schedule/flows_lines.h"
#include "schedule/flows_stations.h"

/* What waits to leave by a lane's port. */
typedef struct {
    double bytes;
    uint32_t slot, next; /* next: + 1; 0 = none */
    uint8_t wire;
} pace_outgoing;

typedef struct {
    double bytes;   /* the message under way: its bytes, slot and wire */
    double free_ns; /* of a lane that meets no other */
    uint32_t slot;
    uint32_t head, tail; /* + 1; those that wait for it */
    uint32_t ranks;      /* for which its lane stands */
    uint8_t wire;
    bool busy, paid; /* paid: the time of the lane's operation is over */
    bool alone;      /* its lane meets no other */
} pace_port;

/* What a message of a slot meets. */
typedef struct {
    double latency_ns, bytes_per_s; /* of its way */
    double sent_bytes;              /* so far */
    uint32_t queue, station;        /* PACE_NO_STATION: its flows need rates */
} pace_crossing;

/* A message that has left. */
typedef struct {
    double comes_ns, bytes;
    uint32_t queue;
} pace_delivery;

typedef struct pace_flow_region pace_flow_region;

/* What all regions share; each touches its own of every array. */
typedef struct {
    pace_flow_state *state;
    pace_flow_routes routes;
    pace_stations stations;
    pace_active_links links;
    pace_port *ports;
    pace_crossing *slots;
    uint8_t *length;    /* operation -> it and those behind it that take no time and do nothing, as far as is known */
    double *wire_limit; /* of a message, by wires; NULL where ranks are slow */
    double *slot_bytes; /* slot -> sent so far */
    double *used_bytes; /* link -> what has crossed it, of others; at the end of all */
    uint32_t *region_of;
    pace_flow_region *regions;
    uint32_t region_count, most_hops;
    double lookahead_ns; /* from leaving to coming into another region at least */
    pace_route others;   /* ways of background traffic, and where each begins */
    PACE_VEC(uint32_t) others_first;
} pace_flow_meeting;

struct pace_flow_region {
    pace_flow_meeting *of;
    pace_flow_lane *lanes; /* of all regions, as the following: at hand */
    pace_port *ports;
    pace_crossing *slots;
    pace_flow_queue *queues;
    const pace_operation *operations;
    const uint32_t *slot_of; /* operation -> as in pace_flow_state */
    const uint8_t *length;
    double ns_per_amount[PACE_OPERATION_KINDS];
    const pace_wire *wires;
    const double *wire_limit;
    pace_station *stations;
    pace_lines due;         /* lanes that go on, and behind them ports that are free */
    pace_station_ends ends; /* of which stations flows end */
    pace_active_flows active;
    pace_flow_pool come;
    PACE_VEC(pace_outgoing) outgoing;
    uint32_t free_outgoing;          /* + 1; 0 = none */
    PACE_VEC(pace_delivery) leaving; /* to other regions */
    uint32_t number;
    double now_ns, until_ns; /* until: what happens until then happens now */
    uint64_t sent, simulated;
    double sent_bytes;
};

/** Background traffic begins. */
pace_status pace_region_start_others(pace_flow_region *region) PACE_MUST_CHECK;

/** All that happens before this instant. Messages for other regions are left in `leaving`. */
pace_status pace_region_run(pace_flow_region *region, double before_ns) PACE_MUST_CHECK;

/** When something happens next; INFINITY = never, but for messages from other regions. */
double pace_region_next(const pace_flow_region *region);

/** Takes a message into one of its queues; it comes no earlier than what has happened here. */
pace_status pace_region_deliver(pace_flow_region *region, uint32_t queue, double comes_ns,
                                double bytes) PACE_MUST_CHECK;

void pace_region_free(pace_flow_region *region);

/** Divides the lanes: regions, region_of and lookahead_ns. */
pace_status pace_regions_divide(pace_flow_meeting *meeting) PACE_MUST_CHECK;
