#include "exchange/network_share.h"
#include "base/numbers.h"

#include <math.h>

/* Nodes stand in a ring: the way round the other side is as far. */
static int nearer(int nodes, int distance) { return distance < nodes - distance ? distance : nodes - distance; }

/* Of a block of nodes the last `distance` send beyond it, all when that is more than the block; nothing when there is
 * but one block. What they send by what the links above carry, in units of a node's NICs. */
static double above(double block, double width, int nodes, int distance) {
    return nodes > block ? pace_least(distance, block) / width : 0;
}

/* To the node d further: over routers of the group, where a router's nodes share one link to each other router; and
 * over the links to one group, or to two when d is no whole number of groups. */
static double dragonfly(const pace_network *n, int nodes, int d) {
    double router = n->shape[0], group = router * n->shape[1], groups = ceil(nodes / group);
    double links = group / n->oversubscription / pace_most(groups - 1, 1);
    double over = fmod(d, group), local = nodes > router ? pace_least(d, router) : 0;
    double global = d < group ? d : pace_most(over, group - over);
    return pace_most(local, groups > 1 ? global / links : 0);
}

static int torus_dimensions(const pace_network *n) { return n->shape[2] > 1 ? 3 : n->shape[1] > 1 ? 2 : 1; }

/* Digit by digit, the shorter way round: a link carries one flow of every node it is nearer to than half the ring. */
static double torus(const pace_network *n, int distance) {
    double busiest = 0;
    int dimensions = torus_dimensions(n);
    for (int i = 0; i < dimensions; i++) {
        int hops = distance % n->shape[i];
        busiest = pace_most(busiest, pace_least(hops, n->shape[i] - hops));
        distance /= n->shape[i];
    }
    return 2 * dimensions * busiest;
}

double pace_network_slowness_at(const pace_machine *m, int nodes, int distance) {
    const pace_network *n = &m->network;
    double leaf = n->shape[0], up = leaf / n->oversubscription, load = 0;
    distance = nearer(nodes, distance);
    switch (n->kind) {
    case PACE_NETWORK_FAT_TREE:
        load = above(leaf, up, nodes, distance);
        if (n->shape[1]) load = pace_most(load, above(leaf * n->shape[1], up * n->shape[1], nodes, distance));
        break;
    case PACE_NETWORK_RAILS: load = above(leaf, up, nodes, distance); break;
    case PACE_NETWORK_DRAGONFLY: load = dragonfly(n, nodes, distance); break;
    case PACE_NETWORK_TORUS: load = torus(n, distance); break;
    default: break;
    }
    return pace_most(load, 1);
}

/* Pairs inside a block send nothing beyond it. */
static bool within(int block, int distance) { return block > 0 && block % (2 * distance) == 0; }

/* The same where node k sends to k ^ distance, a power of two. */
static double slowness_of_pairs(const pace_machine *m, int nodes, int distance) {
    const pace_network *n = &m->network;
    bool leaves = n->kind == PACE_NETWORK_FAT_TREE || n->kind == PACE_NETWORK_RAILS;
    if (n->kind != PACE_NETWORK_TORUS && within(n->shape[0], distance)) return 1;
    if (leaves && within(n->shape[0] * n->shape[1], distance)) return pace_most(n->oversubscription, 1);
    return pace_network_slowness_at(m, nodes, distance);
}

double pace_network_slowness_alone(const pace_machine *m) {
    const pace_network *n = &m->network;
    if (n->kind != PACE_NETWORK_TORUS || m->nodes < 2) return 1;
    return pace_most(2.0 * torus_dimensions(n) / m->nics, 1);
}

/* The share of nodes whose partner is in another block. */
static double crossing(double block, int nodes, int distance, bool pairs) {
    if (block <= 0 || nodes <= block) return 0;
    if (pairs) return fmod(block, 2.0 * distance) == 0 ? 0 : 1;
    return pace_least(distance, block) / block;
}

/* Where a digit's sum carries over, the next is one greater. */
static double torus_hops(const pace_network *n, int distance) {
    double carry = 0, hops = 0;
    for (int i = 0; i < torus_dimensions(n); i++) {
        int extent = n->shape[i], digit = distance % extent, next = (digit + 1) % extent;
        hops += (1 - carry) * pace_least(digit, extent - digit) + carry * pace_least(next, extent - next);
        carry = (double)digit / extent;
        distance /= extent;
    }
    return hops > 1 ? hops - 1 : 0;
}

double pace_network_extra_hops(const pace_machine *m, int nodes, int distance, bool pairs) {
    const pace_network *n = &m->network;
    double block = n->shape[0], outer = block * n->shape[1];
    if (!pairs) distance = nearer(nodes, distance);
    double leaves = crossing(block, nodes, distance, pairs), pods = crossing(outer, nodes, distance, pairs);
    switch (n->kind) {
    case PACE_NETWORK_FAT_TREE: return 2 * leaves + 2 * pods;
    case PACE_NETWORK_RAILS: return 2 * leaves;
    case PACE_NETWORK_DRAGONFLY: return pace_most(leaves - pods, 0) + pods * (1 + 2 * (1 - 1.0 / n->shape[1]));
    case PACE_NETWORK_TORUS: return torus_hops(n, distance);
    default: return 0;
    }
}

static void find_hops(pace_network_slowness *out, const pace_machine *m, int nodes, int step) {
    double sum = 0, weight = 0;
    for (int i = 0; i < PACE_NODE_DISTANCES; i++) {
        int distance = 1 << i < nodes ? 1 << i : nodes - 1;
        out->hops_s_of_distance[i] = m->network.hop_s * pace_network_extra_hops(m, nodes, distance, false);
        out->hops_s_of_pair[i] = m->network.hop_s * pace_network_extra_hops(m, nodes, distance, true);
    }
    for (int d = 1; d < nodes; d += step) sum += pace_network_extra_hops(m, nodes, d, false), weight++;
    out->hops_s_of_all = m->network.hop_s * sum / weight;
}

/* Distances are many, and what they cost changes little from one to the next: at most so many are looked at. */
enum { LOOKED_AT = 64 };

/* Every k with k ^ d: the highest bit of d says which blocks are left. A torus is as far both ways. */
static double of_pairs(const pace_network_slowness *of, const pace_machine *m, int nodes, int step) {
    double sum = 0, weight = 0;
    if (m->network.kind == PACE_NETWORK_TORUS) return of->of_all;
    for (int d = 1; d < nodes; d += step) sum += of->of_pair[ilogb(d)], weight++;
    return sum / weight;
}

/* Messages to other rails go over the spine, however near. */
static double over_spine(const pace_machine *m, double along_rail) {
    double rails = m->network.kind == PACE_NETWORK_RAILS ? m->nics : 1;
    return along_rail / rails + (1 - 1 / rails) * pace_most(m->network.oversubscription, 1);
}

void pace_network_slowness_of(pace_network_slowness *out, const pace_machine *m, int nodes) {
    double sum = 0, weight = 0;
    int step = nodes > LOOKED_AT ? nodes / LOOKED_AT : 1;
    out->shared = nodes > 1 && m->network.kind != PACE_NETWORK_SWITCH;
    out->of_all = 1;
    if (!out->shared) return;
    for (int i = 0; i < PACE_NODE_DISTANCES; i++) {
        out->of_distance[i] = 1 << i < nodes ? pace_network_slowness_at(m, nodes, 1 << i) : 1;
        out->of_pair[i] = 1 << i < nodes ? slowness_of_pairs(m, nodes, 1 << i) : 1;
    }
    for (int d = 1; d < nodes; d += step) sum += pace_network_slowness_at(m, nodes, d), weight++;
    out->of_all = sum / weight;
    out->of_pairwise[0] = over_spine(m, out->of_all);
    out->of_pairwise[1] = over_spine(m, of_pairs(out, m, nodes, step));
    find_hops(out, m, nodes, step);
}
