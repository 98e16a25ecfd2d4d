/* Flows under way on shared links: which cross every link, what rate each has, and which ends next. Rates are max-min
 * fair exactly if every flow is held back by its own limit or by a full link on which none has more. So when flows come
 * or go, those that this may touch are rated anew beside all others as they are; then others are added that are held
 * back by nothing any more, or that have more on a full link than one that it holds back, until there are none. A flow
 * that begins on the way on which one has just ended changes no rates: it has the other's. Inside of flows*.c. */
#pragma once

#include "exchange/rates.h"

#include <math.h>

typedef struct {
    double ends_ns, bytes_per_s; /* 0 bytes/s: not yet given */
    double bytes;                /* of the whole; INFINITY never ends */
    uint32_t lane;               /* the caller's */
    uint32_t place;              /* in the heap */
    uint32_t seen;               /* in which round it was met */
} pace_active_flow;

/* A flow on a link, in a list of the link's flows; number = flow * most_hops + hop. */
typedef struct {
    uint32_t next, before; /* number + 1; 0 = none */
} pace_active_crossing;

typedef struct {
    uint32_t first;   /* its first crossing + 1 */
    uint32_t new;     /* of its flows so many have no rate yet */
    bool full;        /* its flows have all of it */
    bool dirty;       /* a flow has gone, and others were not yet given what it had */
    double level;     /* if full: the most that a flow has on it, which is what those have that it holds back */
    uint32_t room_of; /* in which solution the following was found, and its room */
    double top, held; /* the most that a flow has by that solution, and what those that it holds back; -1 = none */
} pace_active_link;

/* What is known of links; several sets of flows may share it as long as no two cross the same links. */
typedef struct {
    pace_rates rates;
    pace_active_link *of; /* all of a link side by side: it is met at random */
    double *room;         /* link -> what it has for the flows that are rated */
} pace_active_links;

typedef struct {
    pace_active_links links;
    pace_rates rates;
    uint32_t most_hops;
    PACE_VEC(pace_active_flow) flows;
    PACE_VEC(pace_flow) ways; /* the same places */
    PACE_VEC(pace_active_crossing) crossings;
    PACE_VEC(uint32_t) free; /* places */
    PACE_VEC(uint32_t) heap; /* flows, that which ends next on top */
    uint32_t round, solution;
    PACE_VEC(uint32_t) dirty;      /* links whose flows have changed */
    PACE_VEC(uint32_t) started;    /* flows without a rate */
    PACE_VEC(uint32_t) gone;       /* flows that have ended since rates were given: their links still count them */
    PACE_VEC(uint32_t) taken_over; /* places of ended flows that others on the same way have now, and their rates */
    PACE_VEC(uint32_t) touched;    /* flows to be given a rate */
    PACE_VEC(pace_flow) part;
    PACE_VEC(double) rate;
} pace_active_flows;

/** Links of these capacities (borrowed). PACE_E_INPUT for one that has none. */
pace_status pace_active_links_init(pace_active_links *links, const double *bytes_per_s, uint32_t count) PACE_MUST_CHECK;
void pace_active_links_free(pace_active_links *links);

/** No flows, on links that are borrowed; no way will have more than `most_hops` of them. */
void pace_active_flows_init(pace_active_flows *active, const pace_active_links *links, uint32_t most_hops);
void pace_active_flows_free(pace_active_flows *active);

/** A flow begins; its way is borrowed. */
pace_status pace_active_flows_add(pace_active_flows *active, pace_flow way, double bytes,
                                  uint32_t lane) PACE_MUST_CHECK;

/** Whether a flow ends until then: that which ends first, taken out. */
bool pace_active_flows_take(pace_active_flow *out, pace_status *status, pace_active_flows *active, double until_ns);

/** When the next one ends, as rates are; INFINITY = none does. */
static inline double pace_active_flows_next(const pace_active_flows *active) {
    return active->heap.count ? active->flows.items[active->heap.items[0]].ends_ns : (double)INFINITY;
}

/** Whether flows have come or gone since rates were given. */
static inline bool pace_active_flows_changed(const pace_active_flows *active) {
    return active->started.count || active->gone.count || active->taken_over.count || active->dirty.count;
}

/** Gives rates to all that flows that came or went have touched. */
pace_status pace_active_flows_rate(pace_active_flows *active, double now_ns) PACE_MUST_CHECK;
