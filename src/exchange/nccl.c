#include "exchange/nccl.h"
#include "base/numbers.h"
#include "exchange/network_share.h"

#include <math.h>

typedef struct {
    const pace_nccl *nccl;
    const pace_machine *machine;
    pace_nccl_curves *out;
    int per_node;
    double bus, channel, net; /* bytes/s of all rings together, of one channel inside a node, of a node's NICs */
    double link;              /* of one device's links to the others of its node */
    double levels;            /* of a tree of nodes */
    int channels;
    double switch_bus; /* of the channels that the search finds within a node, for trees of nodes above switches */
    int switch_channels;
    double per_bus; /* of bus bandwidth, what a byte of the size asked gets from a ring */
} preparation;

const char *pace_nccl_library_of(const pace_machine *machine) {
    return machine->generation > 0 ? "NCCL" : machine->inside.kind == PACE_LINK_XGMI ? "RCCL" : NULL;
}

/* Bricks carry lines of 128 bytes whole, and hops over them are short. */
static bool has_bricks(const pace_machine *m) {
    return m->inside.kind == PACE_LINK_NVLINK || m->inside.kind == PACE_LINK_XGMI;
}

static int tier(int nodes) { return nodes <= 1 ? 0 : nodes == 2 ? 1 : 2; }

/* What rings have: of the links inside a node and of its NICs the slower. What devices of a node send to others in an
 * all-to-all does not go round the node: NICs alone carry it. */
static double bus_rate(const preparation *p) {
    if (p->out->nodes < 2) return p->link;
    return p->per_node > 1 && p->out->collective != PACE_ALLTOALL ? pace_least(p->link, p->net) : p->net;
}

enum { MOST_CHANNELS = 16 }; /* that NCCL's search tries */

static void split_channels(preparation *p) {
    bool split = p->channel >= 25e9 && (p->machine->generation < 90 || p->channel >= 50e9 || p->channels <= 4);
    if (split) p->channels *= 2, p->channel /= 2;
}

/* The search takes the fastest channels that together use most of the links; fast channels are then split in two. */
static void fill_links(preparation *p, double rate) {
    const pace_nccl *c = p->nccl;
    int channels = 1;
    p->channel = rate;
    p->bus = 0;
    for (int i = 0; i < c->speed_count && MOST_CHANNELS * c->speeds[i] > p->bus; i++) { /* fastest first */
        double fit = rate / c->speeds[i] + 1e-9;
        int count = (int)pace_least(fit, MOST_CHANNELS);
        if (count < 1 || count * c->speeds[i] <= p->bus) continue;
        p->bus = count * c->speeds[i];
        p->channel = c->speeds[i];
        channels = count;
    }
    if (p->bus < c->least_filled * rate || p->bus == 0) p->bus = rate, p->channel = rate / channels;
    p->channels = channels;
    split_channels(p);
}

/* The switches of a node have a search of their own, which knows nothing of NICs. */
static void search_channels(preparation *p, double inside_rate, double node_rate) {
    p->link = p->machine->inside.kind == PACE_LINK_NVLINK ? inside_rate * p->nccl->link_share : inside_rate;
    p->net = node_rate * p->nccl->net_share;
    fill_links(p, p->link);
    p->switch_bus = p->channels * p->channel;
    p->switch_channels = p->channels;
    fill_links(p, bus_rate(p));
}

static double ring_rate(const preparation *p, int protocol) {
    const pace_nccl *c = p->nccl;
    double bus = p->machine->generation == 80 ? pace_least(p->bus, c->ring_cap_sm80) : p->bus;
    int t = tier(p->out->nodes);
    if (protocol == PACE_NCCL_LL) bus = pace_least(c->ll_max[t], bus * c->ring_ll_share);
    if (protocol == PACE_NCCL_LL128) bus = pace_least(bus * c->ring_ll128_share, p->channels * c->ring_ll128[t]);
    return bus * p->per_bus;
}

/* Of a tree over two nodes a NIC carries every byte once each way, of a ring nearly twice: the search counts on what
 * the links inside do (tuning.cc: bwIntra up to two nodes). */
static double nic_share_of_tree(const preparation *p) { return p->out->nodes == 2 && p->per_node > 1 ? 2 : 1; }

static double tree_bus(const preparation *p) {
    double times = nic_share_of_tree(p);
    return times > 1 ? pace_least(p->link, times * p->bus) : p->bus;
}

static double tree_rate(const preparation *p, int protocol) {
    const pace_nccl *c = p->nccl;
    int t = tier(p->out->nodes), channels = p->channels;
    double bus = pace_least(tree_bus(p) * c->tree_share, channels * c->tree[t]);
    bus = pace_least(bus, c->tree_cap[p->out->nodes > 2]);
    if (protocol == PACE_NCCL_LL) bus = pace_least(bus * c->tree_ll_share, c->ll_max[t]);
    if (protocol == PACE_NCCL_LL128)
        bus = pace_least(bus * c->tree_ll128_share[p->out->nodes > 1], channels * c->tree_ll128[t]);
    return bus * 0.5;
}

/* In the switch: one pass up and one down, each channel as fast as a device's links; the last channel is overhead.
 * Trees of nodes also pass the NICs, which over two nodes carry every byte once each way. */
static double nvls_rate(const preparation *p, bool trees) {
    const pace_nccl *c = p->nccl;
    int channels = trees ? p->switch_channels : p->channels;
    double all = trees ? p->switch_bus : p->channels * p->channel;
    all *= c->nvls_efficiency * (channels - 1) / channels;
    if (p->out->collective == PACE_ALLREDUCE) all *= 2;
    if (trees) {
        all = pace_least(all, channels * c->nvls_tree[tier(p->out->nodes)]);
        all = pace_least(all, p->net * (p->out->nodes == 2 ? 2 : 1));
    }
    return all * p->per_bus;
}

/* Lines of 128 bytes must arrive whole: over bricks they do, over PCIe and TCP they need not. */
static bool carries_ll128(const preparation *p) {
    const pace_machine *m = p->machine;
    if (m->generation > 0 && m->generation < 70) return false;
    return (p->per_node < 2 || has_bricks(m)) && (p->out->nodes < 2 || m->between.kind != PACE_LINK_TCP);
}

static bool possible(const preparation *p, int a, int protocol) {
    const pace_nccl *c = p->nccl;
    pace_collective collective = p->out->collective;
    bool gather = collective == PACE_ALLGATHER || collective == PACE_REDUCESCATTER;
    if (!c->algorithms[a] || !c->protocols[protocol]) return false;
    if (protocol == PACE_NCCL_LL128 && !carries_ll128(p)) return false;
    if (protocol != PACE_NCCL_SIMPLE && p->out->nodes > 1 && p->machine->plain_between) return false;
    switch (a) {
    case PACE_NCCL_TREE: return collective == PACE_ALLREDUCE;
    case PACE_NCCL_NVLS:
        return (collective == PACE_ALLREDUCE || gather) && p->out->nodes == 1 && p->per_node > 4 &&
               p->machine->multicast && c->nvls_efficiency > 0;
    case PACE_NCCL_NVLSTREE:
        return collective == PACE_ALLREDUCE && p->out->nodes > 1 && p->per_node > 2 &&
               p->per_node <= c->nvls_tree_devices && p->machine->multicast && c->nvls_efficiency > 0;
    case PACE_NCCL_PAT: return gather && p->per_node == 1 && p->out->nodes > 1;
    case PACE_NCCL_DIRECT: return (collective == PACE_ALLREDUCE || gather) && p->out->nodes == 1;
    default: return collective != PACE_ALLTOALL;
    }
}

void pace_nccl_hops(double *near_s, double *far_s, const pace_nccl *c, const pace_machine *machine, int ranks_per_node,
                    int nodes, int a, int protocol) {
    int across = ranks_per_node == 1 && a <= PACE_NCCL_RING ? PACE_NCCL_TREE : a;
    *near_s = has_bricks(machine) ? c->nvlink_s[a][protocol] : c->pci_s[a][protocol];
    *far_s = c->net_s[across][protocol];
    if (nodes < 2) return;
    *far_s += c->nic_latency * machine->between.latency_s * (protocol == PACE_NCCL_SIMPLE ? 2 : 1);
    if (protocol == PACE_NCCL_LL) *near_s *= c->intra_ll_factor;
}

/* Hops to the next device of a node, one after the other, of rings and trees. */
static double near_hops(const preparation *p, int a) {
    const pace_nccl_curves *out = p->out;
    bool one_way = out->collective == PACE_BROADCAST || out->collective == PACE_REDUCE;
    if (a == PACE_NCCL_TREE) return 2 * (out->ranks / out->nodes - 1);
    if (a != PACE_NCCL_RING) return 0;
    if (one_way) return 1;
    double crossing = out->nodes > 1 ? pace_collective_steps(out->collective, out->nodes) : 0;
    return pace_collective_steps(out->collective, out->ranks) - crossing;
}

static double latency(const preparation *p, int a, int protocol) {
    const pace_nccl *c = p->nccl;
    const pace_nccl_curves *out = p->out;
    double intra, inter, base = c->base_s[a][protocol], levels = p->levels;
    pace_nccl_hops(&intra, &inter, c, p->machine, p->per_node, out->nodes, a, protocol);
    double overhead = out->nodes > 1 ? c->net_overhead_s * (protocol == PACE_NCCL_SIMPLE ? 3 : 1) : 0;
    double crossing = out->nodes > 1 ? pace_collective_steps(out->collective, out->nodes) : 0;
    switch (a) {
    case PACE_NCCL_RING:
        if (out->collective == PACE_BROADCAST || out->collective == PACE_REDUCE) return base + intra + inter * levels;
        return base + near_hops(p, a) * pace_most(intra, overhead) + crossing * inter;
    case PACE_NCCL_TREE: return base + near_hops(p, a) * intra + 2 * levels * inter;
    case PACE_NCCL_NVLS: return base + intra + (out->nodes > 1 ? inter : 0);
    case PACE_NCCL_NVLSTREE: return base + intra + 2 * levels * inter;
    case PACE_NCCL_DIRECT: return base + pace_collective_rows[out->collective].passes * intra;
    default: return base + log2(out->ranks) * inter / c->pat_hops + c->pat_rank_s * out->ranks;
    }
}

/* What hops inside a node take beyond what the library counts on. */
static double late(const preparation *p, int a, int protocol) {
    double intra, inter, times = p->machine->hop_inside;
    pace_nccl_hops(&intra, &inter, p->nccl, p->machine, p->per_node, p->out->nodes, a, protocol);
    return times > 1 ? (times - 1) * near_hops(p, a) * intra : 0;
}

static double rate(const preparation *p, int a, int protocol) {
    switch (a) {
    case PACE_NCCL_TREE: return tree_rate(p, protocol);
    case PACE_NCCL_RING: return ring_rate(p, protocol);
    case PACE_NCCL_NVLS: return nvls_rate(p, false);
    case PACE_NCCL_NVLSTREE: return nvls_rate(p, true);
    case PACE_NCCL_DIRECT: return p->bus * p->per_bus;
    default: return ring_rate(p, protocol) * p->nccl->pat_share;
    }
}

/* Bytes that the links of the bus carry for a byte of the size. Of all-to-alls over nodes that is what a node's devices
 * send to other nodes, or as much time as a device's own links take: they carry what stays in the node, slots all. */
static double moved_of(const preparation *p) {
    const pace_nccl_curves *out = p->out;
    double all = (double)(out->ranks - 1) / out->ranks, far = (double)(out->ranks - p->per_node) / out->ranks;
    if (out->collective != PACE_ALLTOALL) return 1;
    if (out->nodes < 2) return all;
    double own = p->per_node < 2 ? 0 : (has_bricks(p->machine) ? all - far : all) * p->bus / p->link;
    return pace_most(p->per_node * far, own);
}

/* All-to-all and single messages are grouped sends: Simple, one hop, at the rate of the links. */
static void prepare_messages(preparation *p) {
    pace_nccl_curves *out = p->out;
    const pace_nccl *c = p->nccl;
    double hop = has_bricks(p->machine) ? c->nvlink_s[PACE_NCCL_RING][PACE_NCCL_SIMPLE]
                                        : c->pci_s[PACE_NCCL_RING][PACE_NCCL_SIMPLE];
    out->late_s[PACE_NCCL_RING][PACE_NCCL_SIMPLE] = pace_most(p->machine->hop_inside - 1, 0) * hop;
    if (out->nodes > 1) hop += c->net_s[PACE_NCCL_RING][PACE_NCCL_SIMPLE] + p->machine->between.latency_s;
    out->latency_s[PACE_NCCL_RING][PACE_NCCL_SIMPLE] = c->base_s[PACE_NCCL_RING][PACE_NCCL_SIMPLE] + hop;
    out->bytes_per_s[PACE_NCCL_RING][PACE_NCCL_SIMPLE] = p->bus / moved_of(p);
}

/* How many times as long bytes take for what nodes share of their network, which NCCL knows nothing of: rings and trees
 * go from node to node as textbook ones do (algorithms.c). */
static double network_slowness(const preparation *p) {
    pace_network_slowness of;
    pace_network_slowness_of(&of, p->machine, p->out->nodes);
    if (!of.shared) return 1;
    if (p->out->collective == PACE_SENDRECV) return pace_network_slowness_alone(p->machine);
    return p->out->collective == PACE_ALLTOALL ? of.of_all : of.of_distance[0];
}

/* Trees of nodes above switches count on the NICs, or on less: the switches' share (nvls_efficiency), never on what
 * rings have inside. */
static double switch_slowness(const preparation *p, double across) {
    preparation reached = *p;
    reached.net = pace_least(p->net, across);
    return nvls_rate(p, true) / nvls_rate(&reached, true);
}

/* Two devices, each with NICs: a tree carries every byte once each way over them, twice what NCCL counts on. Two H100
 * reach 41 GB/s over 400 Gb/s by trees (accuracy/published_exchanges.csv, validation). */
static bool is_a_pair(const preparation *p) { return p->out->nodes == 2 && p->per_node == 1; }

/* The catalogue's share of the peak that large exchanges reach, against what NCCL counts on. RCCL's rings over nodes
 * reach the rate of the NICs, which is more than bricks carry of an exchange within a node: 341 to 362 GB/s of bus
 * bandwidth against 315 on MI300X and MI325X (accuracy/published_exchanges.csv, validation). */
static double slowness(const preparation *p, int a, double inside_rate, double node_rate) {
    const pace_machine *m = p->machine;
    bool goes_round = p->out->nodes < 2 || (p->out->collective != PACE_ALLTOALL && m->inside.kind != PACE_LINK_XGMI);
    double inside = p->per_node > 1 && goes_round ? inside_rate * m->inside.efficiency : INFINITY;
    double across = p->out->nodes > 1 ? node_rate * m->between.efficiency / network_slowness(p) : INFINITY;
    if (a == PACE_NCCL_NVLSTREE) return switch_slowness(p, across);
    if (a == PACE_NCCL_TREE && is_a_pair(p)) return pace_most(0.5, 0.5 * p->bus / across);
    double times = a == PACE_NCCL_TREE ? nic_share_of_tree(p) : 1, reached = pace_least(inside, times * across);
    double bus = a == PACE_NCCL_TREE ? tree_bus(p) : p->bus;
    return reached > 0 && isfinite(reached) ? pace_most(1, bus / reached) : 1;
}

/* Multiprocessors copy a rank's own part, while a step waits for links: over slow ones the copy takes little of it. */
static double own_part(const preparation *p) {
    const pace_nccl_reached *reached = &p->nccl->reached;
    double copied = reached->own_copy * p->machine->cycles_per_s;
    return copied > 0 ? pace_least(reached->own_part, p->link / copied) : reached->own_part;
}

static preparation begin(pace_nccl_curves *out, const pace_nccl *nccl, const pace_machine *machine, int ranks_per_node,
                         double inside_rate, double node_rate) {
    preparation p = {.nccl = nccl, .machine = machine, .out = out, .per_node = ranks_per_node};
    p.levels = out->nodes > 1 ? log2(out->nodes) : 0;
    p.per_bus = out->ranks / pace_collective_steps(out->collective, out->ranks);
    search_channels(&p, inside_rate, node_rate);
    return p;
}

void pace_nccl_prepare(pace_nccl_curves *out, const pace_nccl *nccl, const pace_machine *machine,
                       pace_collective collective, int ranks_per_node, int nodes, double inside_rate,
                       double node_rate) {
    *out = (pace_nccl_curves){.collective = collective, .ranks = ranks_per_node * nodes, .nodes = nodes};
    preparation p = begin(out, nccl, machine, ranks_per_node, inside_rate, node_rate);
    out->channels = p.channels;
    for (int a = 0; a < PACE_NCCL_ALGORITHMS; a++) out->slowness[a] = slowness(&p, a, inside_rate, node_rate);
    out->launch_s = machine->launch_s;
    out->own_part = own_part(&p);
    out->over_pcie = machine->inside.kind == PACE_LINK_PCIE;
    out->over_xgmi = machine->inside.kind == PACE_LINK_XGMI;
    out->plateau =
        nodes > 1 ? (machine->generation < 80 && nccl->plateau_old > 0 ? nccl->plateau_old : nccl->plateau) : 1;
    if (collective == PACE_SENDRECV && machine->generation > 0)
        pace_nccl_message_channels_of(&out->message, &nccl->sends, machine, out->ranks, nodes, p.net);
    if (collective == PACE_ALLTOALL || collective == PACE_SENDRECV) {
        prepare_messages(&p);
        return;
    }
    for (int a = 0; a < PACE_NCCL_ALGORITHMS; a++) /* all but trees and rings move plain buffers only */
        for (int q = a > PACE_NCCL_RING ? PACE_NCCL_SIMPLE : 0; q < PACE_NCCL_PROTOCOLS; q++) {
            if (!possible(&p, a, q)) continue;
            out->latency_s[a][q] = latency(&p, a, q);
            out->late_s[a][q] = late(&p, a, q);
            out->bytes_per_s[a][q] = rate(&p, a, q);
        }
}

/* Of all channels that the links carry, those that a way has the highest rate over. */
static double freest_rate(const preparation *p, int a, int protocol) {
    double best = p->out->bytes_per_s[a][protocol], all = bus_rate(p);
    preparation other = *p;
    for (int i = 0; i < p->nccl->speed_count; i++) {
        other.channels = (int)pace_least(MOST_CHANNELS, all / p->nccl->speeds[i] + 1e-9);
        if (other.channels < 1) continue;
        other.channel = p->nccl->speeds[i];
        other.bus = other.channels * other.channel;
        split_channels(&other);
        best = pace_most(best, rate(&other, a, protocol));
    }
    return best;
}

void pace_nccl_free_channels(pace_nccl_curves *out, const pace_nccl *nccl, const pace_machine *machine,
                             int ranks_per_node, double inside_rate, double node_rate) {
    const preparation p = begin(out, nccl, machine, ranks_per_node, inside_rate, node_rate);
    if (pace_collective_rows[out->collective].sends) return;
    for (int a = 0; a < PACE_NCCL_ALGORITHMS; a++)
        for (int q = 0; q < PACE_NCCL_PROTOCOLS; q++)
            if (out->bytes_per_s[a][q] > 0) out->bytes_per_s[a][q] = freest_rate(&p, a, q);
}

/* Trees reach less than their bandwidth at middle sizes: the place of a size in that table. */
static int bucket_of(const pace_nccl *nccl, double bytes) {
    int bucket = bytes >= 64 ? ilogb(bytes / 64) : 0;
    return bucket < nccl->corrections ? bucket : -1;
}

static double latency_of(const pace_nccl_curves *curves, int a, int protocol, double bytes) {
    bool plateau = a == PACE_NCCL_RING && protocol == PACE_NCCL_SIMPLE && curves->collective == PACE_ALLREDUCE &&
                   bytes >= 64.0 * curves->channels * curves->ranks;
    return curves->latency_s[a][protocol] * (plateau ? curves->plateau : 1);
}

double pace_nccl_latency(const pace_nccl_curves *curves, int a, int protocol, double bytes) {
    return latency_of(curves, a, protocol, bytes);
}

static double time_of(const pace_nccl *nccl, const pace_nccl_curves *curves, int a, int protocol, double bytes,
                      int bucket) {
    double bandwidth = curves->bytes_per_s[a][protocol];
    if (!(bandwidth > 0)) return INFINITY;
    if (a == PACE_NCCL_TREE && bucket >= 0) bandwidth *= nccl->correction[protocol][bucket];
    return latency_of(curves, a, protocol, bytes) + bytes / bandwidth;
}

double pace_nccl_time(const pace_nccl *nccl, const pace_nccl_curves *curves, int a, int protocol, double bytes) {
    return time_of(nccl, curves, a, protocol, bytes, bucket_of(nccl, bytes));
}

double pace_nccl_choose(int *algorithm, int *protocol, const pace_nccl *nccl, const pace_nccl_curves *curves,
                        double bytes, int only_algorithm, int only_protocol) {
    double best = INFINITY;
    int bucket = bucket_of(nccl, bytes);
    for (int a = 0; a < PACE_NCCL_ALGORITHMS; a++)
        for (int p = 0; p < PACE_NCCL_PROTOCOLS; p++) {
            if ((only_algorithm >= 0 && a != only_algorithm) || (only_protocol >= 0 && p != only_protocol)) continue;
            double s = time_of(nccl, curves, a, p, bytes, bucket);
            if (s < best) best = s, *algorithm = a, *protocol = p;
        }
    return best;
}
