/*
 * The links messages share: capacities, and which links lie between two ranks.
 */
#pragma once

#include "base/memory.h"

/* A route crosses a link so many times; more or less than once only where a link stands for several (folding). */
typedef struct {
    uint32_t link;
    double times;
} pace_hop;

typedef PACE_VEC(pace_hop) pace_route;

enum { PACE_FABRIC_NAME = 64 };

typedef struct pace_fabric pace_fabric;
struct pace_fabric {
    uint32_t rank_count, place_count, link_count;
    double *bytes_per_s;  /* per link and direction */
    uint32_t *link_class; /* links that are alike but for where they are; folding joins them */
    uint32_t class_count;
    /* Appends the links from one place to another. */
    pace_status (*route)(pace_route *out, const pace_fabric *fabric, uint32_t from, uint32_t to);
    /* Of a message beside its wire's; NULL = none. */
    double (*latency_ns)(const pace_fabric *fabric, uint32_t from, uint32_t to);
    /* Names a link: "NIC 3 of node 5, out"; NULL = by number. */
    void (*describe)(char out[PACE_FABRIC_NAME], const pace_fabric *fabric, uint32_t link);
    uint32_t *place; /* rank -> place; NULL = the same. Owned */
    void *plan;      /* for `route`; owned */
    void (*free_plan)(void *plan);
};

/** Puts rank r at place[r] (borrowed, copied). PACE_E_INPUT for a place that is not there. */
pace_status pace_fabric_put(pace_fabric *fabric, const uint32_t *place, uint32_t ranks) PACE_MUST_CHECK;

/** The links from one rank to another, appended. */
static inline pace_status pace_fabric_route(pace_route *out, const pace_fabric *f, uint32_t from, uint32_t to) {
    return f->place ? f->route(out, f, f->place[from], f->place[to]) : f->route(out, f, from, to);
}

static inline double pace_fabric_latency_ns(const pace_fabric *f, uint32_t from, uint32_t to) {
    if (!f->latency_ns) return 0;
    return f->place ? f->latency_ns(f, f->place[from], f->place[to]) : f->latency_ns(f, from, to);
}

/** What a link is called. */
void pace_fabric_describe(char out[PACE_FABRIC_NAME], const pace_fabric *fabric, uint32_t link);

/** An empty fabric with room for so many links. PACE_E_INPUT without ranks. */
pace_status pace_fabric_make(pace_fabric *out, uint32_t ranks, uint64_t links, uint32_t classes) PACE_MUST_CHECK;

/** One switch that never blocks: every rank has a port in and a port out. `slowness` (may be NULL) divides a rank's
 * rate. */
pace_status pace_fabric_switch(pace_fabric *out, uint32_t ranks, double bytes_per_s,
                               const double *slowness) PACE_MUST_CHECK;

void pace_fabric_free(pace_fabric *fabric);
