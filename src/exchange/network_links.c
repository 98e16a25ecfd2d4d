#include "exchange/network_links.h"

#include <stdio.h>

enum { UP, DOWN, OUTER_UP, OUTER_DOWN, LOCAL, GLOBAL };

static uint32_t groups_of(uint32_t count, uint32_t size) { return (count + size - 1) / size; }

static pace_status cross(pace_route *out, uint64_t link) { return PACE_PUSH(out, ((pace_hop){(uint32_t)link, 1})); }

static uint32_t dimensions(const pace_network_links *n) { return n->shape[2] > 1 ? 3 : n->shape[1] > 1 ? 2 : 1; }

/* Links of each kind, in the order of their numbers:
 *   fat tree   up from every leaf, down to every leaf, up from every pod, down to every pod
 *   rails      up from and down to the switch of every rail of every group
 *   dragonfly  between any two routers of a group, group by group; between any two groups
 *   torus      of every node: one dimension after the other, ahead and back */
void pace_network_links_init(pace_network_links *out, uint64_t *count, const pace_machine *m, uint32_t first) {
    const pace_network *network = &m->network;
    pace_network_links n = {.kind = m->nodes > 1 ? network->kind : PACE_NETWORK_SWITCH,
                            .nodes = (uint32_t)m->nodes,
                            .nics = (uint32_t)m->nics,
                            .first = first,
                            .nic_bytes_per_s = m->between.bytes_per_s * m->between.efficiency / m->oversubscription,
                            .oversubscription = network->oversubscription};
    for (int i = 0; i < 3; i++) n.shape[i] = (uint32_t)network->shape[i];
    *count = 0;
    switch (n.kind) {
    case PACE_NETWORK_FAT_TREE:
        n.groups = groups_of(n.nodes, n.shape[0]);
        n.outer = n.shape[1] ? groups_of(n.groups, n.shape[1]) : 0;
        *count = 2 * ((uint64_t)n.groups + n.outer);
        break;
    case PACE_NETWORK_RAILS:
        n.groups = groups_of(n.nodes, n.shape[0]);
        *count = 2 * (uint64_t)n.groups * n.nics;
        break;
    case PACE_NETWORK_DRAGONFLY:
        n.groups = groups_of(n.nodes, n.shape[0]);
        n.outer = groups_of(n.groups, n.shape[1]);
        *count = (uint64_t)n.outer * n.shape[1] * n.shape[1] + (uint64_t)n.outer * n.outer;
        break;
    case PACE_NETWORK_TORUS:
        for (int i = 0; i < 3; i++) n.shape[i] = n.shape[i] ? n.shape[i] : 1;
        *count = 2 * (uint64_t)n.nodes * dimensions(&n);
        break;
    default: break;
    }
    *out = n;
}

/* --- how wide ----------------------------------------------------------------------------------------------------- */

static void set(pace_fabric *f, uint32_t *next, uint64_t count, uint32_t class, double bytes_per_s) {
    for (uint64_t i = 0; i < count; i++, (*next)++) {
        f->bytes_per_s[*next] = bytes_per_s;
        f->link_class[*next] = class;
    }
}

/* A dragonfly's router has as many links to other groups as nodes, which is balanced; of a group's together every other
 * group gets as many. Links inside a group are as wide as all NICs of a node. A torus' node divides its NICs among its
 * directions. */
void pace_network_links_fill(pace_fabric *f, const pace_network_links *n, uint32_t class) {
    uint32_t next = n->first;
    double node = n->nic_bytes_per_s * n->nics, up;
    switch (n->kind) {
    case PACE_NETWORK_FAT_TREE:
        up = n->shape[0] * node / n->oversubscription;
        set(f, &next, n->groups, class + UP, up);
        set(f, &next, n->groups, class + DOWN, up);
        set(f, &next, n->outer, class + OUTER_UP, up * n->shape[1]);
        set(f, &next, n->outer, class + OUTER_DOWN, up * n->shape[1]);
        break;
    case PACE_NETWORK_RAILS:
        up = n->shape[0] * n->nic_bytes_per_s / n->oversubscription;
        set(f, &next, (uint64_t)n->groups * n->nics, class + UP, up);
        set(f, &next, (uint64_t)n->groups * n->nics, class + DOWN, up);
        break;
    case PACE_NETWORK_DRAGONFLY:
        set(f, &next, (uint64_t)n->outer * n->shape[1] * n->shape[1], class + LOCAL, node);
        up = (double)n->shape[0] * n->shape[1] * node / n->oversubscription;
        set(f, &next, (uint64_t)n->outer * n->outer, class + GLOBAL, n->outer > 1 ? up / (n->outer - 1) : up);
        break;
    case PACE_NETWORK_TORUS:
        set(f, &next, 2 * (uint64_t)n->nodes * dimensions(n), class + UP, node / (2 * dimensions(n)));
        break;
    default: break;
    }
}

/* --- ways --------------------------------------------------------------------------------------------------------- */

static pace_status fat_tree_route(pace_route *out, const pace_network_links *n, uint32_t from, uint32_t to) {
    uint32_t a = from / n->shape[0], b = to / n->shape[0];
    if (a == b) return PACE_OK;
    PACE_TRY(cross(out, n->first + a));
    if (n->outer && a / n->shape[1] != b / n->shape[1]) {
        PACE_TRY(cross(out, n->first + 2 * (uint64_t)n->groups + a / n->shape[1]));
        PACE_TRY(cross(out, n->first + 2 * (uint64_t)n->groups + n->outer + b / n->shape[1]));
    }
    return cross(out, n->first + (uint64_t)n->groups + b);
}

static pace_status rails_route(pace_route *out, const pace_network_links *n, uint32_t from, uint32_t from_nic,
                               uint32_t to, uint32_t to_nic) {
    uint32_t a = from / n->shape[0], b = to / n->shape[0];
    if (a == b && from_nic == to_nic) return PACE_OK;
    PACE_TRY(cross(out, n->first + (uint64_t)a * n->nics + from_nic));
    return cross(out, n->first + (uint64_t)n->groups * n->nics + (uint64_t)b * n->nics + to_nic);
}

static pace_status local(pace_route *out, const pace_network_links *n, uint32_t group, uint32_t a, uint32_t b) {
    uint64_t routers = n->shape[1];
    return a == b ? PACE_OK : cross(out, n->first + (group * routers + a) * routers + b);
}

/* To the router that has the link to the other group, over it, and to the node's own; links to groups are dealt out to
 * the routers in turn. */
static pace_status dragonfly_route(pace_route *out, const pace_network_links *n, uint32_t from, uint32_t to) {
    uint32_t routers = n->shape[1], a = from / n->shape[0], b = to / n->shape[0];
    uint32_t group = a / routers, other = b / routers;
    if (group == other) return local(out, n, group, a % routers, b % routers);
    PACE_TRY(local(out, n, group, a % routers, other % routers));
    uint64_t globals = n->first + (uint64_t)n->outer * routers * routers;
    PACE_TRY(cross(out, globals + (uint64_t)group * n->outer + other));
    return local(out, n, other, group % routers, b % routers);
}

/* One dimension after the other, the shorter way round; half way round: ahead. */
static pace_status torus_route(pace_route *out, const pace_network_links *n, uint32_t from, uint32_t to) {
    uint32_t links = 2 * dimensions(n), at = from, stride = 1;
    for (uint32_t d = 0; d < dimensions(n); stride *= n->shape[d++]) {
        uint32_t extent = n->shape[d], goal = to / stride % extent;
        for (uint32_t digit = at / stride % extent; digit != goal;) {
            uint32_t ahead = (goal + extent - digit) % extent;
            bool forward = 2 * ahead <= extent;
            PACE_TRY(cross(out, n->first + (uint64_t)at * links + 2 * d + !forward));
            uint32_t next = forward ? (digit + 1) % extent : (digit + extent - 1) % extent;
            at = at - digit * stride + next * stride;
            digit = next;
        }
    }
    return PACE_OK;
}

pace_status pace_network_route(pace_route *out, const pace_network_links *n, uint32_t from, uint32_t from_nic,
                               uint32_t to, uint32_t to_nic) {
    switch (n->kind) {
    case PACE_NETWORK_FAT_TREE: return fat_tree_route(out, n, from, to);
    case PACE_NETWORK_RAILS: return rails_route(out, n, from, from_nic, to, to_nic);
    case PACE_NETWORK_DRAGONFLY: return dragonfly_route(out, n, from, to);
    case PACE_NETWORK_TORUS: return torus_route(out, n, from, to);
    default: return PACE_OK;
    }
}

/* --- switches on the way ------------------------------------------------------------------------------------------ */

static uint32_t torus_hops(const pace_network_links *n, uint32_t from, uint32_t to) {
    uint32_t hops = 0;
    for (uint32_t d = 0; d < dimensions(n); d++) {
        uint32_t extent = n->shape[d], ahead = (to % extent + extent - from % extent) % extent;
        hops += ahead < extent - ahead ? ahead : extent - ahead;
        from /= extent;
        to /= extent;
    }
    return hops;
}

static uint32_t dragonfly_hops(const pace_network_links *n, uint32_t from, uint32_t to) {
    uint32_t routers = n->shape[1], a = from / n->shape[0], b = to / n->shape[0];
    uint32_t group = a / routers, other = b / routers;
    if (group == other) return a != b;
    return 1u + (a % routers != other % routers) + (group % routers != b % routers);
}

uint32_t pace_network_hops(const pace_network_links *n, uint32_t from, uint32_t from_nic, uint32_t to,
                           uint32_t to_nic) {
    uint32_t a = n->shape[0] ? from / n->shape[0] : 0, b = n->shape[0] ? to / n->shape[0] : 0;
    switch (n->kind) {
    case PACE_NETWORK_FAT_TREE: return a == b ? 0 : n->outer && a / n->shape[1] != b / n->shape[1] ? 4 : 2;
    case PACE_NETWORK_RAILS: return a == b && from_nic == to_nic ? 0 : 2;
    case PACE_NETWORK_DRAGONFLY: return dragonfly_hops(n, from, to);
    case PACE_NETWORK_TORUS: return torus_hops(n, from, to) - 1;
    default: return 0;
    }
}

void pace_network_describe(char *out, size_t size, const pace_network_links *n, uint32_t link) {
    uint32_t at = link - n->first, groups = n->groups, routers = n->shape[1];
    switch (n->kind) {
    case PACE_NETWORK_FAT_TREE:
        if (at < 2 * groups) snprintf(out, size, "leaf %u, %s", at % groups, at < groups ? "up" : "down");
        else at -= 2 * groups, snprintf(out, size, "pod %u, %s", at % n->outer, at < n->outer ? "up" : "down");
        break;
    case PACE_NETWORK_RAILS:
        snprintf(out, size, "rail %u of group %u, %s", at % n->nics, at / n->nics % groups,
                 at < groups * n->nics ? "up" : "down");
        break;
    case PACE_NETWORK_DRAGONFLY:
        if (at < n->outer * routers * routers)
            snprintf(out, size, "router %u to %u of group %u", at / routers % routers, at % routers,
                     at / routers / routers);
        else at -= n->outer * routers * routers, snprintf(out, size, "group %u to %u", at / n->outer, at % n->outer);
        break;
    default:
        snprintf(out, size, "torus link of node %u, dimension %u %s", at / (2 * dimensions(n)),
                 at % (2 * dimensions(n)) / 2, at % 2 ? "back" : "ahead");
    }
}
