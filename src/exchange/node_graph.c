#include "exchange/node_graph.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* All ways of a node are found before: their number grows with the square of this. */
enum { most_devices = 256 };

/* Vertices: devices, NICs, the switch inside, the host tree, the network. */
typedef struct {
    pace_node_graph *graph;
    const pace_machine *machine;
    uint32_t hub, host, network;
} builder;

static pace_status one_way(builder *b, pace_node_link_kind kind, uint32_t from, uint32_t to, bool out,
                           double bytes_per_s, uint32_t one, uint32_t other) {
    return PACE_PUSH(&b->graph->links, ((pace_node_link){bytes_per_s, (uint16_t)from, (uint16_t)to, (uint8_t)kind, out,
                                                         (uint16_t)one, (uint16_t)other}));
}

static pace_status both_ways(builder *b, pace_node_link_kind kind, uint32_t below, uint32_t above, double bytes_per_s,
                             uint32_t one, uint32_t other) {
    PACE_TRY(one_way(b, kind, below, above, true, bytes_per_s, one, other));
    return one_way(b, kind, above, below, false, bytes_per_s, one, other);
}

/* --- what there is ------------------------------------------------------------------------------------------------ */

static pace_status add_bricks(builder *b) {
    const pace_machine *m = b->machine;
    double brick = m->brick_bytes_per_s * m->inside.efficiency;
    for (int i = 0; i < m->devices; i++)
        for (int j = 0; j < m->devices; j++)
            if (m->bricks[i][j])
                PACE_TRY(one_way(b, PACE_NODE_LINK_BRICKS, (uint32_t)i, (uint32_t)j, true, m->bricks[i][j] * brick,
                                 (uint32_t)i, (uint32_t)j));
    return PACE_OK;
}

/* Where pairs have no links of their own, a device's port leads to all others. */
static pace_status add_ports(builder *b) {
    const pace_machine *m = b->machine;
    if (m->devices == 1) return PACE_OK;
    for (uint32_t d = 0; d < b->graph->devices; d++)
        PACE_TRY(both_ways(b, PACE_NODE_LINK_DEVICE, d, b->hub, pace_machine_inside_rate(m), d, d));
    return PACE_OK;
}

static bool in_tree(const pace_machine *m) { return m->host.count > 0; }

/* Sockets are joined pairwise. */
static pace_status add_host(builder *b) {
    const pace_machine *m = b->machine;
    const pace_host_tree *tree = &m->host;
    for (int v = 0; v < tree->count; v++) {
        uint32_t at = b->host + (uint32_t)v;
        if (tree->above[v] != PACE_NOWHERE) {
            PACE_TRY(both_ways(b, PACE_NODE_LINK_HOST, at, b->host + (uint32_t)tree->above[v], tree->bytes_per_s[v],
                               (uint32_t)v, (uint32_t)tree->above[v]));
            continue;
        }
        for (int w = 0; w < tree->count; w++)
            if (w != v && tree->above[w] == PACE_NOWHERE)
                PACE_TRY(one_way(b, PACE_NODE_LINK_HOST, at, b->host + (uint32_t)w, true, tree->bytes_per_s[v],
                                 (uint32_t)v, (uint32_t)w));
    }
    for (uint32_t d = 0; d < b->graph->devices; d++)
        PACE_TRY(both_ways(b, PACE_NODE_LINK_SLOT, d, b->host + (uint32_t)tree->device_at[d], m->pcie_bytes_per_s, d,
                           (uint32_t)tree->device_at[d]));
    return PACE_OK;
}

/* Without a host tree the slots of a mesh's devices lead to one host. */
static pace_status add_slots(builder *b) {
    for (uint32_t d = 0; d < b->graph->devices && b->machine->pcie_bytes_per_s > 0; d++)
        PACE_TRY(both_ways(b, PACE_NODE_LINK_SLOT, d, b->host, b->machine->pcie_bytes_per_s, d, 0));
    return PACE_OK;
}

static pace_status add_nics(builder *b) {
    const pace_machine *m = b->machine;
    double rate = m->between.bytes_per_s * m->between.efficiency / m->oversubscription;
    for (uint32_t n = 0; n < b->graph->nics; n++) {
        uint32_t at = b->graph->devices + n;
        if (in_tree(m))
            PACE_TRY(both_ways(b, PACE_NODE_LINK_NIC_SLOT, at, b->host + (uint32_t)m->host.nic_at[n],
                               m->host.nic_bytes_per_s, n, 0));
        PACE_TRY(both_ways(b, PACE_NODE_LINK_NIC, at, b->network, rate, n, 0));
    }
    return PACE_OK;
}

static pace_status add_links(builder *b) {
    const pace_machine *m = b->machine;
    if (m->mesh_devices > 0) PACE_TRY(add_bricks(b));
    else if (m->inside.kind != PACE_LINK_PCIE || !in_tree(m)) PACE_TRY(add_ports(b));
    if (in_tree(m)) PACE_TRY(add_host(b));
    else if (m->mesh_devices > 0) PACE_TRY(add_slots(b));
    return add_nics(b);
}

/* --- ways --------------------------------------------------------------------------------------------------------- */

/* A way's narrowest link, then its number of links. */
typedef struct {
    double width;
    uint32_t links, last; /* last: link + 1 */
    bool settled;
} way;

static bool better(const way *a, const way *b) {
    return a->width > b->width || (a->width == b->width && a->links < b->links);
}

static bool passes_on(const pace_node_graph *g, uint32_t vertex) { return vertex >= g->devices + g->nics; }

/* The best ways from one vertex (Dijkstra over widths); the network is left out, since nothing comes back from it. */
static void find_ways(way *ways, const builder *b, uint32_t from) {
    const pace_node_graph *g = b->graph;
    memset(ways, 0, g->vertices * sizeof *ways);
    ways[from].width = INFINITY;
    for (;;) {
        uint32_t best = g->vertices;
        for (uint32_t v = 0; v < g->vertices; v++)
            if (!ways[v].settled && ways[v].width > 0 && (best == g->vertices || better(&ways[v], &ways[best])))
                best = v;
        if (best == g->vertices) return;
        ways[best].settled = true;
        if (best != from && !passes_on(g, best)) continue;
        for (uint32_t l = 0; l < g->links.count; l++) {
            const pace_node_link *link = &g->links.items[l];
            if (link->from != best || link->to == b->network || ways[link->to].settled) continue;
            const way next = {fmin(ways[best].width, link->bytes_per_s), ways[best].links + 1, l + 1, false};
            if (better(&next, &ways[link->to])) ways[link->to] = next;
        }
    }
}

/* The links of the way to a vertex, first to last. */
static pace_status keep_way(pace_node_graph *g, const way *ways, uint32_t from, uint32_t to) {
    uint32_t count = ways[to].links, at = to;
    PACE_TRY(pace_grow(&g->hops.items, &g->hops.capacity, g->hops.count + count, sizeof *g->hops.items));
    for (uint32_t i = count; i-- > 0 && at != from;) {
        g->hops.items[g->hops.count + i] = ways[at].last - 1;
        at = g->links.items[ways[at].last - 1].from;
    }
    g->hops.count += count;
    return PACE_OK;
}

static pace_status unreached(const builder *b, uint32_t from, uint32_t to) {
    uint32_t devices = b->graph->devices;
    return pace_fail(PACE_E_INPUT, "%s: %s %u and %s %u of a node are not connected", b->machine->name,
                     from < devices ? "device" : "NIC", from < devices ? from : from - devices,
                     to < devices ? "device" : "NIC", to < devices ? to : to - devices);
}

/* Without a host tree, how a device reaches a NIC is not told: over no link of its own. */
static pace_status find_all_ways(builder *b) {
    pace_node_graph *g = b->graph;
    way *ways = pace_alloc(g->vertices, sizeof *ways);
    g->first = pace_alloc((size_t)g->ends * g->ends + 1, sizeof *g->first);
    pace_status status = ways && g->first ? PACE_OK : PACE_E_MEMORY;
    for (uint32_t from = 0; from < g->ends && status == PACE_OK; from++) {
        find_ways(ways, b, from);
        for (uint32_t to = 0; to < g->ends && status == PACE_OK; to++) {
            bool devices = from < g->devices && to < g->devices;
            g->first[from * g->ends + to] = (uint32_t)g->hops.count;
            if (from == to || (from >= g->devices && to >= g->devices)) continue;
            if (ways[to].width > 0) status = keep_way(g, ways, from, to);
            else if (devices || in_tree(b->machine)) status = unreached(b, from, to);
        }
    }
    if (g->first) g->first[(size_t)g->ends * g->ends] = (uint32_t)g->hops.count;
    pace_free(ways);
    return status;
}

static double width_of(const pace_node_graph *g, uint32_t from, uint32_t to) {
    double width = INFINITY;
    for (uint32_t i = g->first[from * g->ends + to]; i < g->first[from * g->ends + to + 1]; i++)
        width = fmin(width, g->links.items[g->hops.items[i]].bytes_per_s);
    return width;
}

/* The NIC with the widest, then the shortest way; of equal ones that which fewest devices take; where all are equal,
 * devices share NICs in order. */
static pace_status choose_nics(builder *b) {
    pace_node_graph *g = b->graph;
    uint32_t *taken = pace_alloc((size_t)g->nics + 1, sizeof *taken);
    g->nic_of = pace_alloc((size_t)g->devices + 1, sizeof *g->nic_of);
    if (!taken || !g->nic_of) {
        pace_free(taken);
        return PACE_E_MEMORY;
    }
    for (uint32_t d = 0; d < g->devices && g->nics > 0; d++) {
        uint32_t best = in_tree(b->machine) ? 0 : d * g->nics / g->devices;
        for (uint32_t n = 0; n < g->nics && in_tree(b->machine); n++) {
            uint32_t cell = d * g->ends + g->devices + n, known = d * g->ends + g->devices + best;
            double width = width_of(g, d, g->devices + n), other = width_of(g, d, g->devices + best);
            uint32_t length = g->first[cell + 1] - g->first[cell], least = g->first[known + 1] - g->first[known];
            if (width > other || (width == other && (length < least || (length == least && taken[n] < taken[best]))))
                best = n;
        }
        taken[best]++;
        g->nic_of[d] = best;
    }
    pace_free(taken);
    return PACE_OK;
}

pace_status pace_node_graph_init(pace_node_graph *out, const pace_machine *m) {
    pace_node_graph graph = {.devices = (uint32_t)m->devices, .nics = m->nodes > 1 ? (uint32_t)m->nics : 0};
    graph.ends = graph.devices + graph.nics;
    builder b = {.graph = &graph, .machine = m, .hub = graph.ends, .host = graph.ends + 1};
    b.network = b.host + (uint32_t)(m->host.count > 0 ? m->host.count : 1);
    graph.vertices = b.network + 1;
    if (m->devices > most_devices || m->nics > most_devices)
        return pace_fail(PACE_E_INPUT, "%s: nodes of at most %d devices and NICs are simulated, found %d and %d",
                         m->name, most_devices, m->devices, m->nics);
    pace_status status = add_links(&b);
    if (status == PACE_OK) status = find_all_ways(&b);
    if (status == PACE_OK) status = choose_nics(&b);
    return PACE_GIVE(out, graph, status, pace_node_graph_free(&graph));
}

void pace_node_graph_free(pace_node_graph *graph) {
    PACE_VEC_FREE(&graph->links, &graph->hops);
    PACE_FREE(graph->first, graph->nic_of);
}

void pace_node_link_describe(char *out, size_t size, const pace_node_link *link) {
    const char *side = link->out ? "out" : "in";
    switch (link->kind) {
    case PACE_NODE_LINK_DEVICE: snprintf(out, size, "port of device %u, %s", link->a, side); break;
    case PACE_NODE_LINK_BRICKS: snprintf(out, size, "NVLinks from device %u to %u", link->a, link->b); break;
    case PACE_NODE_LINK_SLOT: snprintf(out, size, "host link of device %u, %s", link->a, side); break;
    case PACE_NODE_LINK_HOST: snprintf(out, size, "host link from %u to %u, %s", link->a, link->b, side); break;
    case PACE_NODE_LINK_NIC_SLOT:
        snprintf(out, size, "host link of NIC %u, %s", link->a, link->out ? "in" : "out");
        break;
    default: snprintf(out, size, "NIC %u, %s", link->a, side); break;
    }
}
