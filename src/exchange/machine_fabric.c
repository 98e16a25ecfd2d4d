#include "exchange/machine_fabric.h"
#include "exchange/network_links.h"
#include "exchange/node_graph.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    pace_node_graph node;
    pace_network_links network;
    uint32_t devices, nodes;
    uint32_t *out_link, *in_link; /* NIC -> its links to and from the network, in a node */
    double inside_ns, between_ns, hop_ns;
    double *slowness;                /* per place; NULL = all 1 */
    uint32_t *slow_way, *slow_place; /* place -> its way to its NIC out, in behind it; 0 = not slow; and back again */
    uint32_t slow_first;             /* the first of such ways */
} plan;

static void free_plan(void *of) {
    plan *p = of;
    if (!p) return;
    pace_node_graph_free(&p->node);
    PACE_FREE(p->out_link, p->in_link, p->slowness, p->slow_way, p->slow_place, p);
}

/* --- ways --------------------------------------------------------------------------------------------------------- */

static pace_status cross(pace_route *out, uint32_t link) { return PACE_PUSH(out, ((pace_hop){link, 1})); }

/* The links between two ends of one node. */
static pace_status inside(pace_route *out, const plan *p, uint32_t node, uint32_t from, uint32_t to) {
    const pace_node_graph *g = &p->node;
    uint32_t cell = from * g->ends + to, base = node * (uint32_t)g->links.count;
    for (uint32_t i = g->first[cell]; i < g->first[cell + 1]; i++) PACE_TRY(cross(out, base + g->hops.items[i]));
    return PACE_OK;
}

/* To and from the switch of its node: a device's port alone, one way. */
static pace_status port(pace_route *out, const plan *p, uint32_t rank, bool away) {
    uint32_t device = rank % p->devices, base = rank / p->devices * (uint32_t)p->node.links.count;
    for (uint32_t l = 0; l < p->node.links.count; l++) {
        const pace_node_link *link = &p->node.links.items[l];
        if (link->kind == PACE_NODE_LINK_DEVICE && link->a == device && link->out == away) return cross(out, base + l);
    }
    return PACE_OK;
}

static pace_status slow_way(pace_route *out, const plan *p, uint32_t place, bool away) {
    uint32_t way = p->slow_way ? p->slow_way[place] : 0;
    return way ? cross(out, away ? way : way + 1) : PACE_OK;
}

static pace_status route(pace_route *out, const pace_fabric *f, uint32_t from, uint32_t to) {
    const plan *p = f->plan;
    uint32_t devices = p->devices, a = from / devices, b = to / devices, source = from, target = to;
    if (from >= devices * p->nodes) return port(out, p, to, false);
    if (to >= devices * p->nodes) return port(out, p, from, true);
    from %= devices;
    to %= devices;
    if (a == b) return inside(out, p, a, from, to);
    uint32_t links = (uint32_t)p->node.links.count, nic = p->node.nic_of[from], other = p->node.nic_of[to];
    PACE_TRY(slow_way(out, p, source, true));
    PACE_TRY(inside(out, p, a, from, devices + nic));
    PACE_TRY(cross(out, a * links + p->out_link[nic]));
    PACE_TRY(pace_network_route(out, &p->network, a, nic, b, other));
    PACE_TRY(cross(out, b * links + p->in_link[other]));
    PACE_TRY(slow_way(out, p, target, false));
    return inside(out, p, b, devices + other, to);
}

static double latency_ns(const pace_fabric *f, uint32_t from, uint32_t to) {
    const plan *p = f->plan;
    if (from >= p->devices * p->nodes || to >= p->devices * p->nodes) return p->inside_ns / 2;
    uint32_t a = from / p->devices, b = to / p->devices;
    if (a == b) return p->inside_ns;
    uint32_t nic = p->node.nic_of[from % p->devices], other = p->node.nic_of[to % p->devices];
    return p->between_ns + p->hop_ns * pace_network_hops(&p->network, a, nic, b, other);
}

static bool is_slow(const plan *p, uint32_t place) { return p->slowness && p->slowness[place] != 1; }

/* How much slower a link of a node is than it would be: by a device whose own it is. */
static double slowness_of(const plan *p, uint32_t node, const pace_node_link *link) {
    if (!p->slowness || link->kind > PACE_NODE_LINK_SLOT) return 1;
    double own = p->slowness[node * p->devices + link->a];
    double other = link->kind == PACE_NODE_LINK_BRICKS ? p->slowness[node * p->devices + link->b] : 1;
    return own > other ? own : other;
}

static void describe(char out[PACE_FABRIC_NAME], const pace_fabric *f, uint32_t link) {
    const plan *p = f->plan;
    uint32_t links = (uint32_t)p->node.links.count;
    char name[PACE_FABRIC_NAME / 2];
    if (p->slow_way && link >= p->slow_first) {
        uint32_t place = p->slow_place[(link - p->slow_first) / 2];
        bool in = (link - p->slow_first) % 2;
        snprintf(out, PACE_FABRIC_NAME, "slow device %u to its NIC, %s, of node %u", place % p->devices,
                 in ? "in" : "out", place / p->devices);
        return;
    }
    if (link >= p->nodes * links) {
        pace_network_describe(out, PACE_FABRIC_NAME, &p->network, link);
        return;
    }
    pace_node_link_describe(name, sizeof name, &p->node.links.items[link % links]);
    const char *slow = slowness_of(p, link / links, &p->node.links.items[link % links]) != 1 ? "slow " : "";
    snprintf(out, PACE_FABRIC_NAME, p->nodes > 1 ? "%s%s, of node %u" : "%s%s", slow, name, link / links);
}

/* --- making ------------------------------------------------------------------------------------------------------- */

static pace_status find_ports(plan *p) {
    if (!PACE_MAKE(p->out_link, (size_t)p->node.nics + 1) || !PACE_MAKE(p->in_link, (size_t)p->node.nics + 1))
        return PACE_E_MEMORY;
    for (uint32_t l = 0; l < p->node.links.count; l++) {
        const pace_node_link *link = &p->node.links.items[l];
        if (link->kind == PACE_NODE_LINK_NIC) (link->out ? p->out_link : p->in_link)[link->a] = l;
    }
    return PACE_OK;
}

static void fill(pace_fabric *f, const plan *p) {
    uint32_t links = (uint32_t)p->node.links.count;
    for (uint32_t link = 0; link < p->nodes * links; link++) {
        const pace_node_link *of = &p->node.links.items[link % links];
        f->bytes_per_s[link] = of->bytes_per_s;
        f->link_class[link] = 2u * of->kind + of->out;
    }
    pace_network_links_fill(f, &p->network, 2 * PACE_NODE_LINK_KINDS);
}

static pace_status make(pace_fabric *out, plan *p, const pace_machine *m, bool with_switch) {
    uint64_t network, ranks = (uint64_t)p->devices * p->nodes;
    PACE_TRY(pace_node_graph_init(&p->node, m));
    PACE_TRY(find_ports(p));
    uint64_t inner = p->nodes * p->node.links.count;
    if (inner >= UINT32_MAX / 2) return pace_fail(PACE_E_INPUT, "%s: too many links", m->name);
    pace_network_links_init(&p->network, &network, m, (uint32_t)inner);
    PACE_TRY(pace_fabric_make(out, (uint32_t)ranks + (with_switch ? p->nodes : 0), inner + network,
                              2 * PACE_NODE_LINK_KINDS + PACE_NETWORK_CLASSES));
    fill(out, p);
    out->route = route;
    out->latency_ns = latency_ns;
    out->describe = describe;
    out->plan = p;
    out->free_plan = free_plan;
    return PACE_OK;
}

pace_status pace_fabric_of_machine(pace_fabric *out, const pace_machine *m, bool with_switch) {
    PACE_TRY(pace_machine_check(m));
    if (with_switch && (!m->multicast || m->devices < 2))
        return pace_fail(PACE_E_INPUT, "%s: expected nodes whose switch adds and multiplies (multicast)", m->name);
    plan *p = pace_alloc(1, sizeof *p);
    if (!p) return PACE_E_MEMORY;
    p->devices = (uint32_t)m->devices;
    p->nodes = (uint32_t)m->nodes;
    p->inside_ns = m->inside.latency_s * 1e9;
    p->between_ns = m->between.latency_s * 1e9;
    p->hop_ns = m->network.hop_s * 1e9;
    pace_status status = make(out, p, m, with_switch);
    if (status != PACE_OK) free_plan(p);
    return status;
}

pace_status pace_fabric_load_network(pace_fabric *f, double share) {
    const plan *p = f->plan;
    if (!(share >= 0 && share < 1))
        return pace_fail(PACE_E_USAGE, "background traffic: expected a share from 0 %% to below 100 %%, found %g %%",
                         share * 100);
    uint32_t links = (uint32_t)p->node.links.count;
    for (uint32_t link = 0; link < f->link_count; link++)
        if (link >= p->nodes * links || p->node.links.items[link % links].kind == PACE_NODE_LINK_NIC)
            f->bytes_per_s[link] *= 1 - share;
    return PACE_OK;
}

/* --- slow ranks --------------------------------------------------------------------------------------------------- */

static pace_status grow(pace_fabric *f, uint32_t links) {
    double *rates = pace_alloc(links, sizeof *rates);
    uint32_t *classes = pace_alloc(links, sizeof *classes);
    if (!rates || !classes) {
        PACE_FREE(rates, classes);
        return PACE_E_MEMORY;
    }
    memcpy(rates, f->bytes_per_s, f->link_count * sizeof *rates);
    memcpy(classes, f->link_class, f->link_count * sizeof *classes);
    PACE_FREE(f->bytes_per_s, f->link_class);
    f->bytes_per_s = rates;
    f->link_class = classes;
    f->link_count = links;
    return PACE_OK;
}

/* A way out and a way in for every slow device, as fast as its share of a NIC. */
static pace_status add_slow_ways(pace_fabric *f, plan *p, uint32_t slow) {
    uint32_t next = p->slow_first = f->link_count;
    if (p->nodes < 2) return PACE_OK;
    if (!PACE_MAKE(p->slow_way, (size_t)p->devices * p->nodes) || !PACE_MAKE(p->slow_place, (size_t)slow + 1))
        return PACE_E_MEMORY;
    PACE_TRY(grow(f, f->link_count + 2 * slow));
    for (uint32_t place = 0; place < p->devices * p->nodes; place++) {
        if (!is_slow(p, place)) continue;
        const pace_node_link *nic = &p->node.links.items[p->out_link[p->node.nic_of[place % p->devices]]];
        p->slow_place[(next - p->slow_first) / 2] = place;
        p->slow_way[place] = next;
        for (uint32_t way = 0; way < 2; way++, next++) {
            f->bytes_per_s[next] = nic->bytes_per_s / p->slowness[place];
            f->link_class[next] = f->class_count + way;
        }
    }
    f->class_count += 2;
    return PACE_OK;
}

pace_status pace_fabric_slow_ranks(pace_fabric *f, const double *slowness) {
    plan *p = f->plan;
    uint32_t places = p->devices * p->nodes, slow = 0, links = (uint32_t)p->node.links.count;
    if (!PACE_MAKE(p->slowness, places)) return PACE_E_MEMORY;
    for (uint32_t place = 0; place < places; place++) p->slowness[place] = 1;
    for (uint32_t rank = 0; rank < f->rank_count; rank++) {
        uint32_t place = f->place ? f->place[rank] : rank;
        if (!(slowness[rank] > 0) || isinf(slowness[rank]))
            return pace_fail(PACE_E_INPUT, "rank %u: expected a slowness above 0, found %g", rank, slowness[rank]);
        if (place < places) p->slowness[place] = slowness[rank];
        slow += place < places && slowness[rank] != 1;
    }
    for (uint32_t link = 0; link < p->nodes * links; link++)
        f->bytes_per_s[link] /= slowness_of(p, link / links, &p->node.links.items[link % links]);
    return add_slow_ways(f, p, slow);
}
