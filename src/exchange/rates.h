/*
 * Max-min fair rates of flows that share links (Bertsekas, Gallager, "Data Networks", 2nd ed., §6.5.2: progressive
 * filling): no flow can have more without taking from one that has no more than it. Every flow has a bottleneck: its
 * own limit, or a full link on which no other has more.
 */
#pragma once

#include "exchange/fabric.h"

typedef struct {
    const pace_hop *hops;
    uint32_t hop_count;
    double limit_bytes_per_s; /* its own; INFINITY = none */
} pace_flow;

typedef struct {
    double left;    /* of the link's capacity */
    double load;    /* times open flows cross it */
    uint32_t first; /* its crossings */
    uint32_t count;
} pace_rates_link;

typedef struct {
    double share;
    uint32_t number; /* of a link, or links + a flow */
} pace_rates_entry;

/* Scratch, kept from one call to the next. */
typedef struct {
    uint32_t link_count;
    const double *bytes_per_s;
    pace_rates_link *links;
    PACE_VEC(uint32_t) touched;
    PACE_VEC(uint32_t) crossings; /* flows, link by link */
    PACE_VEC(pace_rates_entry) heap;
    PACE_VEC(uint32_t) fixed_by; /* flow -> the full link that holds it back; PACE_OWN_LIMIT */
} pace_rates;

#define PACE_OWN_LIMIT UINT32_MAX

/** For links of these capacities, above 0 and borrowed. */
pace_status pace_rates_init(pace_rates *rates, const double *bytes_per_s, uint32_t link_count) PACE_MUST_CHECK;
void pace_rates_free(pace_rates *rates);

/** `out` receives bytes/s per flow. A flow without hops and limit gets INFINITY. */
pace_status pace_rates_solve(double *out, pace_rates *rates, const pace_flow *flows, uint32_t count) PACE_MUST_CHECK;
