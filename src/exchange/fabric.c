#include "exchange/fabric.h"

#include <stdio.h>
#include <string.h>

pace_status pace_fabric_make(pace_fabric *out, uint32_t ranks, uint64_t links, uint32_t classes) {
    pace_fabric fabric = {.rank_count = ranks,
                          .place_count = ranks,
                          .link_count = (uint32_t)links,
                          .class_count = classes};
    if (!ranks) return pace_fail(PACE_E_INPUT, "a fabric needs at least one rank");
    if (links >= UINT32_MAX / 2) return pace_fail(PACE_E_INPUT, "too many links");
    fabric.bytes_per_s = pace_alloc(links, sizeof *fabric.bytes_per_s);
    fabric.link_class = pace_alloc(links, sizeof *fabric.link_class);
    if (!fabric.bytes_per_s || !fabric.link_class) {
        pace_fabric_free(&fabric);
        return PACE_E_MEMORY;
    }
    *out = fabric;
    return PACE_OK;
}

void pace_fabric_free(pace_fabric *fabric) {
    PACE_FREE(fabric->bytes_per_s, fabric->link_class, fabric->place);
    if (fabric->free_plan) fabric->free_plan(fabric->plan);
    *fabric = (pace_fabric){0};
}

pace_status pace_fabric_put(pace_fabric *fabric, const uint32_t *place, uint32_t ranks) {
    for (uint32_t r = 0; r < ranks; r++)
        if (place[r] >= fabric->place_count)
            return pace_fail(PACE_E_INPUT, "rank %u is at place %u, but there are %u", r, place[r],
                             fabric->place_count);
    uint32_t *copy = pace_alloc(ranks, sizeof *copy);
    if (!copy) return PACE_E_MEMORY;
    memcpy(copy, place, ranks * sizeof *copy);
    pace_free(fabric->place);
    fabric->place = copy;
    fabric->rank_count = ranks;
    return PACE_OK;
}

void pace_fabric_describe(char out[PACE_FABRIC_NAME], const pace_fabric *fabric, uint32_t link) {
    if (fabric->describe) fabric->describe(out, fabric, link);
    else snprintf(out, PACE_FABRIC_NAME, "link %u", link);
}

static pace_status check_rate(const char *what, double bytes_per_s) {
    if (bytes_per_s > 0) return PACE_OK;
    return pace_fail(PACE_E_INPUT, "%s: expected a bandwidth above 0, found %g bytes/s", what, bytes_per_s);
}

static void set_link(pace_fabric *fabric, uint32_t link, uint32_t class, double bytes_per_s) {
    fabric->bytes_per_s[link] = bytes_per_s;
    fabric->link_class[link] = class;
}

static pace_status cross(pace_route *out, uint32_t link) { return PACE_PUSH(out, ((pace_hop){link, 1})); }

/* --- a switch ----------------------------------------------------------------------------------------------------- */

static pace_status switch_route(pace_route *out, const pace_fabric *fabric, uint32_t from, uint32_t to) {
    PACE_TRY(cross(out, from));
    return cross(out, fabric->place_count + to);
}

enum { SPEEDS = 32 };

/* Ports of one speed are of one class, as far as the speeds are few. */
static uint32_t class_of_speed(double speeds[SPEEDS], uint32_t *count, double speed) {
    uint32_t i = 0;
    while (i < *count && speeds[i] != speed) i++;
    if (i == *count && *count < SPEEDS) speeds[(*count)++] = speed;
    return i < SPEEDS ? i : SPEEDS - 1;
}

pace_status pace_fabric_switch(pace_fabric *out, uint32_t ranks, double bytes_per_s, const double *slowness) {
    double speeds[SPEEDS];
    uint32_t count = 0;
    PACE_TRY(check_rate("port of the switch", bytes_per_s));
    PACE_TRY(pace_fabric_make(out, ranks, 2 * (uint64_t)ranks, 2 * SPEEDS));
    out->route = switch_route;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        double rate = slowness ? bytes_per_s / slowness[rank] : bytes_per_s;
        uint32_t class = class_of_speed(speeds, &count, rate);
        set_link(out, rank, 2 * class, rate);
        set_link(out, ranks + rank, 2 * class + 1, rate);
    }
    return PACE_OK;
}

/* --- a ring ------------------------------------------------------------------------------------------------------- */

/* --- nodes on leaves ---------------------------------------------------------------------------------------------- */

enum { DEVICE_OUT, DEVICE_IN, NIC_OUT, NIC_IN, LEAF_UP, LEAF_DOWN, NODE_CLASSES };

/* size: ranks of a node, ranks of a NIC, ranks of a leaf (0 = one switch for all). Links stand class by class. */
static pace_status nodes_route(pace_route *out, const pace_fabric *fabric, uint32_t from, uint32_t to) {
    uint32_t ranks = fabric->place_count, nics = ranks / fabric->size[1], leaf = fabric->size[2];
    if (from / fabric->size[0] == to / fabric->size[0]) {
        PACE_TRY(cross(out, from));
        return cross(out, ranks + to);
    }
    uint32_t base = 2 * ranks;
    PACE_TRY(cross(out, base + from / fabric->size[1]));
    PACE_TRY(cross(out, base + nics + to / fabric->size[1]));
    if (!leaf || from / leaf == to / leaf) return PACE_OK;
    base += 2 * nics;
    PACE_TRY(cross(out, base + from / leaf));
    return cross(out, base + ranks / leaf + to / leaf);
}

static void set_links(pace_fabric *fabric, uint32_t *next, uint32_t class, uint32_t count, double bytes_per_s) {
    for (uint32_t i = 0; i < 2 * count; i++) set_link(fabric, (*next)++, class + (i >= count), bytes_per_s);
}

pace_status pace_fabric_nodes(pace_fabric *out, const pace_fabric_nodes_shape *shape) {
    uint64_t ranks = (uint64_t)shape->nodes * shape->ranks_per_node;
    if (!ranks || ranks >= UINT32_MAX / 8)
        return pace_fail(PACE_E_INPUT, "%u nodes of %u ranks: expected at least 1 and at most 500 million ranks",
                         shape->nodes, shape->ranks_per_node);
    if (shape->nodes_per_leaf && shape->nodes % shape->nodes_per_leaf)
        return pace_fail(PACE_E_INPUT, "%u nodes do not divide into leaves of %u", shape->nodes, shape->nodes_per_leaf);
    PACE_TRY(check_rate("port of a device", shape->device_bytes_per_s));
    PACE_TRY(check_rate("NIC", shape->nic_bytes_per_s));
    if (shape->nodes_per_leaf) PACE_TRY(check_rate("links above a leaf", shape->leaf_bytes_per_s));
    uint32_t nics = shape->rails ? (uint32_t)ranks : shape->nodes;
    uint32_t leaves = shape->nodes_per_leaf ? shape->nodes / shape->nodes_per_leaf : 0, next = 0;
    PACE_TRY(pace_fabric_make(out, (uint32_t)ranks, 2 * (ranks + nics + leaves), NODE_CLASSES));
    out->route = nodes_route;
    out->size[0] = shape->ranks_per_node;
    out->size[1] = shape->rails ? 1 : shape->ranks_per_node;
    out->size[2] = shape->nodes_per_leaf * shape->ranks_per_node;
    set_links(out, &next, DEVICE_OUT, (uint32_t)ranks, shape->device_bytes_per_s);
    set_links(out, &next, NIC_OUT, nics, shape->nic_bytes_per_s);
    set_links(out, &next, LEAF_UP, leaves, shape->leaf_bytes_per_s);
    return PACE_OK;
}
