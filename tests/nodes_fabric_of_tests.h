/* Nodes of devices on leaf switches below a spine, whose exchanges tests work out by hand. */
#pragma once

#include "exchange/fabric.h"

typedef struct {
    uint32_t nodes, ranks_per_node, nodes_per_leaf; /* nodes_per_leaf 0: one switch for all */
    bool rails;                                     /* a NIC for every rank of a node; else one for the node */
    double device_bytes_per_s;                      /* of a rank's port inside its node */
    double nic_bytes_per_s;
    double leaf_bytes_per_s; /* of all links from one leaf to the spine, one way; nodes_per_leaf 0: not used */
} nodes_shape;

static inline pace_status cross_two(pace_route *out, uint32_t up, uint32_t down) {
    PACE_TRY(PACE_PUSH(out, ((pace_hop){up, 1})));
    return PACE_PUSH(out, ((pace_hop){down, 1}));
}

/* Links stand class by class: ports of devices out and in, NICs out and in, leaves up and down. */
static inline pace_status nodes_route(pace_route *out, const pace_fabric *fabric, uint32_t from, uint32_t to) {
    const nodes_shape *s = fabric->plan;
    uint32_t ranks = fabric->place_count, of_nic = s->rails ? 1 : s->ranks_per_node, nics = ranks / of_nic;
    uint32_t of_leaf = s->nodes_per_leaf * s->ranks_per_node, leaves = 2 * (ranks + nics);
    if (from / s->ranks_per_node == to / s->ranks_per_node) return cross_two(out, from, ranks + to);
    PACE_TRY(cross_two(out, 2 * ranks + from / of_nic, 2 * ranks + nics + to / of_nic));
    if (!of_leaf || from / of_leaf == to / of_leaf) return PACE_OK;
    return cross_two(out, leaves + from / of_leaf, leaves + ranks / of_leaf + to / of_leaf);
}

static inline void set_class(pace_fabric *fabric, uint32_t *link, uint32_t class, uint32_t count, double bytes_per_s) {
    for (uint32_t i = 0; i < 2 * count; i++, ++*link) {
        fabric->bytes_per_s[*link] = bytes_per_s;
        fabric->link_class[*link] = class + (i >= count);
    }
}

static inline pace_status make_nodes_fabric(pace_fabric *out, const nodes_shape *shape) {
    uint32_t ranks = shape->nodes * shape->ranks_per_node, nics = shape->rails ? ranks : shape->nodes;
    uint32_t leaves = shape->nodes_per_leaf ? shape->nodes / shape->nodes_per_leaf : 0, link = 0;
    nodes_shape *plan = pace_alloc(1, sizeof *plan);
    if (!plan) return PACE_E_MEMORY;
    *plan = *shape;
    pace_status status = pace_fabric_make(out, ranks, 2 * ((uint64_t)ranks + nics + leaves), 6);
    if (status != PACE_OK) {
        pace_free(plan);
        return status;
    }
    out->route = nodes_route;
    out->plan = plan;
    out->free_plan = pace_free;
    set_class(out, &link, 0, ranks, shape->device_bytes_per_s);
    set_class(out, &link, 2, nics, shape->nic_bytes_per_s);
    set_class(out, &link, 4, leaves, shape->leaf_bytes_per_s);
    return PACE_OK;
}
