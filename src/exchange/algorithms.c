#include "exchange/algorithms.h"
#include "base/text.h"
#include "exchange/program_build.h"

#include <math.h>

/* --- steps ------------------------------------------------------------------------------------------------------- */

static int floor_log2(int n) {
    int log = 0;
    while (n >> (log + 1)) log++;
    return log;
}
static int ceil_log2(int n) { return floor_log2(n) + ((n & (n - 1)) != 0); }

static double inside(const pace_exchange_terms *t, double bytes) { return pace_message_s(&t->inside, bytes); }
static double any_pair(const pace_exchange_terms *t, double bytes) {
    return t->pairs_differ ? pace_message_s(&t->any_pair, bytes) : inside(t, bytes);
}
/* In trees and chains few pairs send at once. */
static double lone_pair(const pace_exchange_terms *t, double bytes) {
    return t->pairs_differ ? pace_message_s(&t->lone_pair, bytes) : inside(t, bytes);
}

/* What is above latency takes longer where the network is shared. */
static double shared(const pace_message_model *model, double bytes, double slowness) {
    double s = pace_message_s(model, bytes);
    return slowness > 1 ? s + (slowness - 1) * (s - pace_message_s(model, 0)) : s;
}

static int far_index(const pace_exchange_terms *t, int distance) {
    int nodes = distance / t->ranks_per_node;
    return nodes > 1 ? ilogb(nodes) : 0;
}

/* A message over NICs to the node of the rank so much further, all ranks of a node sending. */
static double far_shift(const pace_exchange_terms *t, int distance, double bytes) {
    int i = far_index(t, distance);
    if (!t->network.shared) return pace_message_s(&t->across, bytes);
    return shared(&t->across, bytes, t->network.of_distance[i]) + t->network.hops_s_of_distance[i];
}
static double far_pair(const pace_exchange_terms *t, int distance, double bytes) {
    int i = far_index(t, distance);
    if (!t->network.shared) return pace_message_s(&t->across, bytes);
    return shared(&t->across, bytes, t->network.of_pair[i]) + t->network.hops_s_of_pair[i];
}

/* To all others in turn. */
static double far_all(const pace_exchange_terms *t, double bytes) {
    if (!t->network.shared) return pace_message_s(&t->across, bytes);
    return shared(&t->across, bytes, t->network.of_all) + t->network.hops_s_of_all;
}

/* To all others of whatever rail; where ranks are a power of two, r with r ^ d. */
static double far_pairwise(const pace_exchange_terms *t, double bytes) {
    bool pairs = (t->ranks & (t->ranks - 1)) == 0;
    if (!t->network.shared) return pace_message_s(&t->across, bytes);
    return shared(&t->across, bytes, t->network.of_pairwise[pairs]) + t->network.hops_s_of_all;
}

/* One rank of a node alone, to the next node. */
static double far_alone(const pace_exchange_terms *t, double bytes) {
    return pace_message_s(&t->across_one, bytes) + (t->network.shared ? t->network.hops_s_of_distance[0] : 0);
}

/* Whether some of the ranks that exchange in blocks of `block` sit on two nodes. */
static bool crosses(const pace_exchange_terms *t, int block) { return t->nodes > 1 && t->ranks_per_node % block != 0; }

/* A step in which every rank r exchanges with r ^ distance, a power of two: across nodes when they are no neighbours.
 */
static double step_at(const pace_exchange_terms *t, int distance, double bytes) {
    if (crosses(t, 2 * distance)) return far_pair(t, distance, bytes);
    return t->pairs_differ ? pace_message_s(&t->pair[floor_log2(distance)], bytes) : inside(t, bytes);
}

/* The same with ranks up to `distance` further in blocks of `block`, or in any: of some on the next node as soon as
 * there is one. */
static double shift_at(const pace_exchange_terms *t, int distance, int block, double bytes) {
    double near_s = any_pair(t, bytes);
    if (!crosses(t, block)) return near_s;
    double far_s = far_shift(t, distance, bytes);
    return distance < t->ranks_per_node && near_s > far_s ? near_s : far_s;
}

/* step_at() where one rank of a node sends alone. */
static double lone_step_at(const pace_exchange_terms *t, int distance, double bytes) {
    if (!crosses(t, 2 * distance)) return step_at(t, distance, bytes);
    double hops_s = t->network.shared ? t->network.hops_s_of_pair[far_index(t, distance)] : 0;
    return pace_message_s(&t->across_one, bytes) + hops_s;
}

static double share(const pace_exchange_terms *t) { return (double)(t->ranks - 1) / t->ranks; }
static double add_s(const pace_exchange_terms *t, double bytes) { return bytes * t->reduce_s_per_byte; }

/* Ranks beyond so many give their vector to one of those first and get the result last. */
static double fold_beyond(const pace_exchange_terms *t, int whole) {
    return whole == t->ranks ? 0 : 2 * shift_at(t, whole, t->ranks, t->bytes) + add_s(t, t->bytes);
}

/* Beyond a power of two. */
static double fold(const pace_exchange_terms *t) { return fold_beyond(t, 1 << floor_log2(t->ranks)); }

/* Where near partners exchange first, others do so while the first vectors are on their way. If all that take one sit
 * in one of the last blocks, or on one node, they wait for nobody else who does: one latency is hidden. */
static double hidden_in_fold(const pace_exchange_terms *t, int whole, int block) {
    int more = t->ranks - whole;
    bool hidden = more <= block || (t->nodes > 1 && more <= t->ranks_per_node);
    return more > 0 && hidden ? shift_at(t, whole, t->ranks, 0) : 0;
}

/* --- any number of ranks ----------------------------------------------------------------------------------------- */

static bool always(const pace_exchange_terms *t) { return t->ranks > 0; }
static bool power_of_two(const pace_exchange_terms *t) { return (t->ranks & (t->ranks - 1)) == 0; }
static bool doubles(const pace_exchange_terms *t) { return t->collective == PACE_ALLREDUCE || power_of_two(t); }
static bool several_nodes(const pace_exchange_terms *t) { return t->nodes > 1 && t->ranks_per_node > 1; }
static bool one_node(const pace_exchange_terms *t) { return t->nodes == 1; }
static bool can_multicast(const pace_exchange_terms *t) { return t->nodes == 1 && t->multicast_s_per_byte > 0; }

/* A near hop, on which a chunk may meet those of other rings at a port. All begin at once. They keep in step where a
 * far hop takes no longer (the less, the longer it takes, up to a quarter more), and, as simulations of 72 devices
 * show, where rings are many. Else each finds the others there for the share of a round that their hops take: a closed
 * network of shared processors (Reiser and Lavenberg 1980). */
enum { RINGS_IN_STEP = 32 };
static double near_hop_s(const pace_ring_hops *hops, double g, double part) {
    double latency_s = pace_message_s(&hops->near, 0), alone_s = pace_message_s(&hops->near, part) - latency_s;
    double port_s = part * hops->port_s_per_byte, far_s = pace_message_s(&hops->far, part);
    double waited_s = far_s + (g - 1) * latency_s, others_s = g * (port_s - alone_s);
    double sum_s = waited_s + others_s + (g - 1) * alone_s;
    double round_s = (sum_s + sqrt(fmax(sum_s * sum_s - 4 * waited_s * others_s, 0))) / 2;
    double apart_s = latency_s + (round_s - waited_s) / (g - 1), together_s = latency_s + port_s;
    if (port_s >= RINGS_IN_STEP * alone_s) return together_s;
    return apart_s + (together_s - apart_s) * fmin(fmax(5 - 4 * far_s / together_s, 0), 1);
}

/* Over several nodes. From one far hop of a chunk to its next: its own way, or all g chunks of the node on a NIC, or
 * those of every ring on a port, whichever takes longest. Of a node's chunks, which leave one after the other, the last
 * to end is the last that crosses a NIC in the last round, or where near hops are slower, the last of all. */
static double ring_across(const pace_exchange_terms *t, const pace_ring_hops *hops, int times, double part) {
    int g = t->ranks_per_node, rounds = times * t->nodes - 1, behind = g - 1 - times;
    double far_s = pace_message_s(&hops->far, part), sent_s = far_s - pace_message_s(&hops->far, 0);
    if (g == 1) return times * (t->nodes - 1) * far_s;
    if (behind < 0) rounds--, behind += g;
    double near_s = near_hop_s(hops, g, part), port_s = part * hops->port_s_per_byte, spaced_s = fmax(near_s, sent_s);
    double round_s = fmax(far_s + (g - 1) * near_s, g * fmax(sent_s, port_s));
    double last_s = fmax(round_s, spaced_s + (g - 1) * near_s);
    double ports_s = times * (t->ranks - 1) * port_s + pace_message_s(&hops->near, 0);
    return fmax((rounds - 1) * round_s + last_s + far_s + behind * spaced_s, ports_s);
}

/* Each rank sends a share of the vector to its neighbour, n - 1 times: reduce-scatter, all-gather, or both. */
static double around(const pace_exchange_terms *t, const pace_ring_hops *hops, int times) {
    double part = t->bytes / t->ranks;
    if (hops->far.count) return ring_across(t, hops, times, part);
    return times * (t->ranks - 1) * pace_message_s(&hops->near, part);
}

static double ring(const pace_exchange_terms *t) {
    double added = t->collective == PACE_ALLGATHER ? 0 : add_s(t, t->bytes * share(t));
    return around(t, &t->ring, t->collective == PACE_ALLREDUCE ? 2 : 1) + added;
}

static double recursive_doubling(const pace_exchange_terms *t) {
    int levels = floor_log2(t->ranks);
    int whole = 1 << levels;
    double s = 0, sent = t->bytes / t->ranks;
    if (t->collective == PACE_ALLREDUCE) s = fold(t) - hidden_in_fold(t, whole, whole / 2);
    for (int i = 0; i < levels; i++) {
        if (t->collective == PACE_ALLREDUCE) s += step_at(t, 1 << i, t->bytes) + add_s(t, t->bytes);
        else s += step_at(t, 1 << (levels - 1 - i), sent), sent *= 2; /* far partners first, while there is little */
    }
    return s;
}

/* Vector halving with distance doubling: the large pieces stay among neighbours. */
static double halving(const pace_exchange_terms *t) {
    int levels = floor_log2(t->ranks);
    double s = 0, sent = t->bytes / 2;
    for (int i = 0; i < levels; i++, sent /= 2) s += step_at(t, 1 << i, sent) + add_s(t, sent);
    return s;
}

/* Rabenseifner: halving, then the same way back without adding. */
static double rabenseifner(const pace_exchange_terms *t) {
    int levels = floor_log2(t->ranks);
    double s = fold(t), sent = t->bytes / 2;
    for (int i = 0; i < levels; i++, sent /= 2) s += 2 * step_at(t, 1 << i, sent) + add_s(t, sent);
    return s;
}

static double binomial(const pace_exchange_terms *t) {
    double s = 0;
    for (int i = 0; i < ceil_log2(t->ranks); i++) {
        double step = lone_step_at(t, 1 << i, t->bytes), add = add_s(t, t->bytes);
        s += t->collective == PACE_ALLREDUCE ? 2 * step + add : t->collective == PACE_REDUCE ? step + add : step;
    }
    return s;
}

/* --- trees in segments ------------------------------------------------------------------------------------------- */

/* Segments that follow each other over hops: (hops + k) (alpha + bytes/k rate). */
typedef struct {
    double hops, alpha_s, s_per_byte, bytes;
} pipe;

static double pipe_s(const pipe *p, double k) { return (p->hops + k) * (p->alpha_s + p->bytes / k * p->s_per_byte); }

/* The best number of them; the best whole one. */
static double ideal_segments(const pipe *p) {
    return p->hops > 0 && p->alpha_s > 0 ? fmax(sqrt(p->hops * p->bytes * p->s_per_byte / p->alpha_s), 1) : 1;
}
static double best_segments(const pipe *p) {
    double k = floor(ideal_segments(p));
    return pipe_s(p, k) < pipe_s(p, k + 1) ? k : k + 1;
}

/* Hops that lead to another node are as slow as one NIC. */
static double hop_s(const pace_exchange_terms *t, double far_share) {
    double near_s = lone_pair(t, 0);
    return t->nodes > 1 ? near_s + far_share * (far_alone(t, 0) - near_s) : near_s;
}
static double hop_rate(const pace_exchange_terms *t) {
    double near = t->ranks_per_node > 1 ? lone_pair(t, 1) - lone_pair(t, 0) : 0, far = 0;
    if (t->nodes > 1) far = pace_message_s(&t->across_one, 1) - pace_message_s(&t->across_one, 0);
    return near > far ? near : far;
}
static double chain_hop_s(const pace_exchange_terms *t) {
    return hop_s(t, t->ranks > 1 ? (t->nodes - 1.0) / (t->ranks - 1) : 0);
}
static double tree_hop_s(const pace_exchange_terms *t) {
    int levels = ceil_log2(t->ranks);
    return hop_s(t, levels > 0 ? (double)ceil_log2(t->nodes) / levels : 0);
}

/* A chain of ranks passes segments on. */
static pipe chain_pipe(const pace_exchange_terms *t) {
    double rate = hop_rate(t) + (t->collective == PACE_REDUCE ? t->reduce_s_per_byte : 0);
    return (pipe){t->ranks - 2, chain_hop_s(t), rate, t->bytes};
}

/* An inner rank of a binary tree takes from two children and gives to two. */
static pipe tree_pipe(const pace_exchange_terms *t) {
    return (pipe){2.0 * ceil_log2(t->ranks) - 1, tree_hop_s(t), 2 * hop_rate(t) + t->reduce_s_per_byte, t->bytes};
}

/* Double trees (Sanders, Speck, Träff 2009), half of the bytes in each: what is inner in one is a leaf in the other.
 * Over several nodes two for every channel (exchange/program_double_trees.c). Of every piece of a channel a NIC takes
 * up to four: of an inner node from two children and a parent, of a leaf from a parent; a device two from either
 * neighbour on the chain, but at its ends. */
typedef struct {
    double alpha_s, fill_s, period_s; /* of the first piece's way: latencies, and a byte; a byte of all pieces after */
    double hops, bytes;               /* that a tree carries */
} double_trees;

/* Inside one node ranks are the nodes. */
static double_trees flat_trees(const pace_exchange_terms *t) {
    double levels = ceil_log2(t->ranks), hop = t->nodes > 1 ? far_alone(t, 0) : lone_pair(t, 0);
    double byte = (t->nodes > 1 ? far_alone(t, 1) : lone_pair(t, 1)) - hop;
    double load = t->ranks < 4 ? t->ranks : 4;
    if (t->nodes == 1 && t->pairs_differ && load > 2) load = 2; /* of a pair's links, not of a port */
    return (double_trees){2 * levels * hop, 2 * levels * byte, load * byte, 2 * levels, t->bytes / 2};
}

static double_trees double_trees_of(const pace_exchange_terms *t) {
    if (t->nodes == 1 || t->ranks_per_node == 1) return flat_trees(t);
    double g = t->ranks_per_node, channels = t->channels > 0 ? t->channels : g, levels = ceil_log2(t->nodes);
    double near_s = inside(t, 1) - inside(t, 0), latency_s = far_shift(t, 1, 0);
    double far_s = (far_shift(t, 1, 1) - latency_s) * channels / g;
    double ends = 2 * channels >= g ? 2 * channels / g : 0; /* of chains, at a device: its own head and another's end */
    double near_load = 4 * channels - 2 * ends, far_load = t->nodes < 4 ? t->nodes : 4;
    return (double_trees){.alpha_s = 2 * (g - 1) * inside(t, 0) + 2 * levels * latency_s,
                          .fill_s = 2 * (g - 1) * near_s + 2 * levels * far_s,
                          .period_s = fmax(near_load * near_s, far_load * far_s),
                          .hops = 2 * (g - 1) + 2 * levels,
                          .bytes = t->bytes / (2 * channels)};
}

/* As if every piece took a hop's latency: that is what pieces cost a library. */
static double double_tree_segments(const pace_exchange_terms *t) {
    const double_trees d = double_trees_of(t);
    return d.hops > 0 ? best_segments(&(pipe){d.hops, d.alpha_s / d.hops, d.period_s, d.bytes}) : 1;
}

static double double_tree(const pace_exchange_terms *t) {
    const double_trees d = double_trees_of(t);
    double k = double_tree_segments(t), piece = d.bytes / k;
    return d.alpha_s + piece * (d.fill_s + (k - 1) * d.period_s) + add_s(t, t->bytes * share(t));
}

static double segments_of(pipe p) { return best_segments(&p); }
static double chain_segments(const pace_exchange_terms *t) { return segments_of(chain_pipe(t)); }
static double tree_segments(const pace_exchange_terms *t) { return segments_of(tree_pipe(t)); }

static double piped(pipe p) { return pipe_s(&p, best_segments(&p)); }

/* The first piece takes every hop; the others follow it, one after the other over the slowest. Pieces need not be
 * whole, so that time grows with bytes. */
static double chain(const pace_exchange_terms *t) {
    const pipe p = chain_pipe(t);
    double k = ideal_segments(&p), piece = t->bytes / k, far = t->nodes - 1, near = t->ranks - 1 - far;
    double first_s = far > 0 ? far * far_alone(t, piece) : 0, byte_s = p.s_per_byte;
    if (near > 0) first_s += near * lone_pair(t, piece);
    if (t->collective == PACE_REDUCE) first_s += (t->ranks - 1) * add_s(t, piece);
    return first_s + (k - 1) * piece * byte_s;
}
static double pipelined_tree(const pace_exchange_terms *t) { return piped(tree_pipe(t)); }

static double scatter_allgather(const pace_exchange_terms *t) {
    double s = 0, sent = t->bytes / 2;
    for (int i = ceil_log2(t->ranks) - 1; i >= 0; i--, sent /= 2) s += lone_step_at(t, 1 << i, sent);
    return s + around(t, t->one_ring.near.count ? &t->one_ring : &t->ring, 1);
}

/* --- many ports -------------------------------------------------------------------------------------------------- */

/* Every rank of the most that fill whole levels sends to and adds from radix - 1 others at each level, or from all
 * there are at the last. */
static double knomial(const pace_exchange_terms *t) {
    int whole = 1, last;
    while (whole <= t->ranks / PACE_KNOMIAL) whole *= PACE_KNOMIAL;
    last = t->ranks / whole;
    double s = fold_beyond(t, whole * last);
    s -= hidden_in_fold(t, whole * last, last > 1 ? whole : whole / PACE_KNOMIAL);
    whole *= last;
    for (int distance = 1; distance < whole; distance *= PACE_KNOMIAL) {
        int others = whole / distance;
        others = others < PACE_KNOMIAL ? others - 1 : PACE_KNOMIAL - 1;
        int block = distance * (others + 1);
        double one = shift_at(t, distance, block, t->bytes), next = one - shift_at(t, distance, block, 0);
        s += one + (others - 1) * next + others * add_s(t, t->bytes);
    }
    return s;
}

/* All ranks of a node send their shares to all others at once: one message's latency, the device's rate. Where some
 * pairs have no links of their own they wait for the slowest. */
static double direct_half(const pace_exchange_terms *t) {
    double each = t->bytes / t->ranks;
    if (t->pairs_differ && any_pair(t, each) > inside(t, (t->ranks - 1) * each) * (1 + 1e-9))
        return (t->ranks - 1) * (any_pair(t, each) - any_pair(t, 0)) + any_pair(t, 0);
    return inside(t, each) + (t->ranks - 2) * (inside(t, each) - inside(t, 0));
}

static double direct(const pace_exchange_terms *t) {
    double added = add_s(t, t->bytes * share(t));
    switch (t->collective) {
    case PACE_ALLREDUCE: return 2 * direct_half(t) + added;
    case PACE_REDUCESCATTER: return direct_half(t) + added;
    default: return direct_half(t);
    }
}

/* The switch adds what comes up and hands it down to all: each device moves (n + 1)/n of the vector once each way. */
static double multicast(const pace_exchange_terms *t) {
    double moved = t->collective == PACE_ALLREDUCE ? (t->ranks + 1.0) / t->ranks : 1;
    return t->multicast_alpha_s + t->bytes * moved * t->multicast_s_per_byte;
}

/* --- two levels -------------------------------------------------------------------------------------------------- */

/* Of an all-to-all, first to the device on the rail of the target, then along the rails. */
static double rails_to_all(const pace_exchange_terms *t) {
    double g = t->ranks_per_node, n = t->nodes;
    return (g - 1) * any_pair(t, t->bytes / g) + (n - 1) * far_all(t, t->bytes / n);
}

static double rails(const pace_exchange_terms *t) {
    double g = t->ranks_per_node, n = t->nodes, part = t->bytes / g;
    if (t->collective == PACE_ALLTOALL) return rails_to_all(t);
    double in = (g - 1) * inside(t, part), out = (n - 1) * shift_at(t, t->ranks_per_node, t->ranks, part / n);
    double added = add_s(t, t->bytes * (g - 1) / g + part * (n - 1) / n);
    switch (t->collective) {
    case PACE_ALLREDUCE: return 2 * in + 2 * out + added;
    case PACE_REDUCESCATTER: return in + out + added;
    default: return in + out;
    }
}

/* One leader a node: reduce to it, all-reduce among leaders (ring), broadcast from it. */
static double leaders(const pace_exchange_terms *t) {
    int levels = ceil_log2(t->ranks_per_node);
    double s = levels * add_s(t, t->bytes);
    for (int i = 0; i < levels; i++) s += 2 * step_at(t, 1 << i, t->bytes);
    s += 2 * (t->nodes - 1) * far_alone(t, t->bytes / t->nodes);
    return s + add_s(t, t->bytes * (t->nodes - 1) / t->nodes);
}

/* Its rows and columns are of one kind of link: nodes have "rails". */
static bool has_torus(const pace_exchange_terms *t) {
    return t->nodes == 1 && t->ranks > 3 && pace_torus_side(t->ranks) > 1;
}

static double torus(const pace_exchange_terms *t) {
    double x = pace_torus_side(t->ranks), y = t->ranks / x;
    double s = (x - 1) * any_pair(t, t->bytes / x) + (y - 1) * any_pair(t, t->bytes / x / y);
    double added = add_s(t, t->bytes * share(t));
    switch (t->collective) {
    case PACE_ALLREDUCE: return 2 * s + added;
    case PACE_REDUCESCATTER: return s + added;
    default: return s;
    }
}

/* --- all to all, gather ------------------------------------------------------------------------------------------- */

/* Ranks of the own node, then all others, one partner at a time; unless they are a power of two, or go by nodes, in
 * every step some have a partner on another node. */
static double pairwise(const pace_exchange_terms *t) {
    double each = t->bytes / t->ranks;
    int near = t->nodes == 1 || power_of_two(t) || t->by_nodes ? t->ranks_per_node - 1 : 0;
    return near * any_pair(t, each) + (t->ranks - 1 - near) * far_pairwise(t, each);
}

/* The steps below a node's size go, one after the other, less than twice as far as it is long: only so many of them, at
 * most, lead to another node. The longest are counted. */
static int first_far_step(const pace_exchange_terms *t) {
    int whole = 1 << ceil_log2(t->ranks_per_node);
    return t->nodes > 1 ? whole >> ((whole - 1 + t->ranks_per_node - 1) / t->ranks_per_node) : 1;
}

/* One level of ranks, `stride` apart, whose parts double, or halve. */
static double bruck_level(const pace_exchange_terms *t, int ranks, int stride, double part) {
    double s = 0, held = part, left = part * (ranks - 1);
    for (int i = 0; i < ceil_log2(ranks); i++) {
        double sent = held < left ? held : left;
        s += stride >= t->ranks_per_node && t->nodes > 1 ? shift_at(t, stride << i, t->ranks, sent) : any_pair(t, sent);
        left -= sent;
        held *= 2;
    }
    return s;
}

/* Bruck et al. 1997: an all-gather doubles what it holds, inside nodes last; a reduce-scatter goes the same way back.
 * An all-to-all sends half of everything at each of lg n steps: at each the last rank of a node sends across, over the
 * same NIC, so that all bytes count as far; of latencies those of the longest steps do. */
static double bruck_to_all(const pace_exchange_terms *t) {
    double s = 0, sent = t->bytes / 2;
    int far = first_far_step(t);
    for (int i = 0; i < ceil_log2(t->ranks); i++) {
        double shift_s = shift_at(t, 1 << i, t->ranks, 0);
        s += 1 << i >= far ? shift_s : any_pair(t, 0);
        s += shift_at(t, 1 << i, t->ranks, sent) - shift_s;
    }
    return s;
}

static double bruck(const pace_exchange_terms *t) {
    if (t->collective == PACE_ALLTOALL) return bruck_to_all(t);
    double half = bruck_level(t, t->ranks_per_node, 1, t->bytes / t->ranks_per_node);
    if (t->nodes > 1) half += bruck_level(t, t->nodes, t->ranks_per_node, t->bytes / t->ranks);
    double added = t->collective == PACE_ALLGATHER ? 0 : add_s(t, t->bytes * share(t));
    return (t->collective == PACE_ALLREDUCE ? 2 : 1) * half + added;
}

/* Every rank sends to the next: some to their own node, where it has several. */
static double message(const pace_exchange_terms *t) {
    double near_s = t->ranks_per_node > 1 ? any_pair(t, t->bytes) : 0;
    return t->nodes > 1 ? fmax(far_alone(t, t->bytes), near_s) : near_s;
}

/* --- the table --------------------------------------------------------------------------------------------------- */

enum {
    AR = 1 << PACE_ALLREDUCE,
    AG = 1 << PACE_ALLGATHER,
    RS = 1 << PACE_REDUCESCATTER,
    A2A = 1 << PACE_ALLTOALL,
    BC = 1 << PACE_BROADCAST,
    RD = 1 << PACE_REDUCE,
    P2P = 1 << PACE_SENDRECV,
};

/* Where all ranks are in step, the closed form is what the program takes. */
static bool alike_powers(const pace_exchange_terms *t) { return one_node(t) && power_of_two(t); }
static bool alike_halves(const pace_exchange_terms *t) {
    if (t->collective != PACE_ALLTOALL) return one_node(t) || !t->network.shared;
    return one_node(t) && power_of_two(t);
}
static bool whole_levels(const pace_exchange_terms *t) {
    int ranks = t->ranks;
    while (ranks % PACE_KNOMIAL == 0) ranks /= PACE_KNOMIAL;
    return one_node(t) && ranks < PACE_KNOMIAL;
}
static bool even_nodes(const pace_exchange_terms *t) { return (t->ranks_per_node & (t->ranks_per_node - 1)) == 0; }

const pace_exchange_algorithm pace_exchange_algorithms[] = {
    {"ring", AR | RS | AG, always, ring, pace_program_ring, one_node, NULL, false, PACE_GROWS_WITH_ODD_NODES},
    {"recursive_doubling", AR | AG, doubles, recursive_doubling, pace_program_doubling, alike_powers, NULL, false,
     PACE_FOLDS},
    {"halving", RS, power_of_two, halving, pace_program_halving, one_node, NULL, false, PACE_FOLDS},
    {"rabenseifner", AR, always, rabenseifner, pace_program_rabenseifner, alike_powers, NULL, false, PACE_FOLDS},
    {"binomial", AR | BC | RD, always, binomial, pace_program_binomial, alike_powers, NULL, false, PACE_FOLDS},
    {"pipelined_tree", AR, always, pipelined_tree, pace_program_pipelined_tree, NULL, tree_segments, false,
     PACE_GROWS_WITH_LEVELS},
    {"double_tree", AR, always, double_tree, pace_program_double_tree, NULL, double_tree_segments, false,
     PACE_GROWS_WITH_LEVELS},
    {"chain", BC | RD, always, chain, pace_program_chain, NULL, chain_segments, false, PACE_GROWS_WITH_NODES},
    {"scatter_allgather", BC, always, scatter_allgather, pace_program_scatter_allgather, alike_powers, NULL, false,
     PACE_FOLDS},
    {"knomial", AR, always, knomial, pace_program_knomial, whole_levels, NULL, false, PACE_FOLDS},
    {"direct", AR | RS | AG | A2A, one_node, direct, pace_program_direct, one_node, NULL, false, PACE_FOLDS},
    {"multicast", AR | RS | AG, can_multicast, multicast, pace_program_multicast, one_node, NULL, true, PACE_FOLDS},
    {"rails", AR | RS | AG | A2A, several_nodes, rails, pace_program_rails, always, NULL, false, PACE_FOLDS},
    {"leaders", AR, several_nodes, leaders, pace_program_leaders, even_nodes, NULL, false, PACE_FOLDS},
    {"torus", AR | RS | AG, has_torus, torus, pace_program_torus, one_node, NULL, false, PACE_FOLDS},
    {"pairwise", A2A, always, pairwise, pace_program_pairwise, one_node, NULL, false, PACE_GROWS_WITH_NODES},
    {"bruck", AR | RS | AG | A2A, always, bruck, pace_program_bruck, alike_halves, NULL, false, PACE_FOLDS},
    {"message", P2P, always, message, pace_program_message, one_node, NULL, false, PACE_FOLDS},
};
const size_t pace_exchange_algorithm_count = PACE_COUNT(pace_exchange_algorithms);

int pace_exchange_algorithm_find(const char *name) {
    for (size_t i = 0; i < pace_exchange_algorithm_count; i++)
        if (pace_same_word(pace_exchange_algorithms[i].name, name)) return (int)i;
    return -1;
}

bool pace_exchange_algorithm_applies(int row, const pace_exchange_terms *terms) {
    const pace_exchange_algorithm *a = &pace_exchange_algorithms[row];
    return (a->collectives >> terms->collective & 1) && a->applies(terms);
}

bool pace_exchange_algorithm_is_exact(int row, const pace_exchange_terms *terms) {
    const pace_exchange_algorithm *a = &pace_exchange_algorithms[row];
    return a->exact && a->exact(terms) && (!terms->pairs_differ || terms->pairs_alike);
}
