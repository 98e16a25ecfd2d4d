#include "exchange/exchange.h"
#include "base/words.h"
#include "base/numbers.h"
#include "base/text.h"
#include "exchange/least.h"
#include "exchange/network_share.h"
#include "exchange/steady_memory.h"

#include <math.h>
#include <string.h>

static const char newest_line[] = "2.30", rccl_line[] = "rccl";

/* Adding two vectors reads two and writes one, at memory rates far above links': only hosts make it count. */
static const double reduce_s_per_byte = 0;

static pace_doubt textbook_doubt(int nodes) { return nodes > 1 ? PACE_DOUBT_NETWORK : PACE_DOUBT_TEXTBOOK; }

/* Of fabrics on which enough was published, their own. */
static pace_doubt network_doubt(pace_link_kind between) {
    switch (between) {
    case PACE_LINK_INFINIBAND: return PACE_DOUBT_NETWORK_INFINIBAND;
    case PACE_LINK_ROCE: return PACE_DOUBT_NETWORK_ROCE;
    case PACE_LINK_EFA: return PACE_DOUBT_NETWORK_EFA;
    default: return PACE_DOUBT_NETWORK;
    }
}

pace_doubt pace_exchange_doubt(const pace_exchange *exchange, int nodes) {
    if (exchange->library != PACE_LIBRARY_NCCL) return textbook_doubt(nodes);
    if (exchange->stack == PACE_STACK_BELIEF) return PACE_DOUBT_NCCL_BELIEF;
    return nodes > 1 ? network_doubt(exchange->machine.between.kind) : PACE_DOUBT_NCCL;
}

double pace_exchange_textbook_spread(const pace_doubts *doubts, int nodes) {
    return doubts->figure[textbook_doubt(nodes)];
}

/* Bytes per second that one device sends to the others of its group inside a node, at peak: where devices are joined
 * pairwise, over the links that stay within the group; over the host where one device has links to one other alone. */
static double inside_rate(const pace_machine *m, int ranks_per_node) {
    double fewest = INFINITY;
    if (m->mesh_devices == 0 || ranks_per_node >= m->devices || ranks_per_node < 2)
        return m->inside.bytes_per_s * pace_machine_socket_share(m, ranks_per_node);
    for (int i = 0; i < ranks_per_node; i++) {
        double sum = 0;
        int neighbours = 0;
        for (int j = 0; j < ranks_per_node; j++) sum += m->bricks[i][j], neighbours += m->bricks[i][j] > 0;
        fewest = pace_least(fewest, neighbours < 2 && ranks_per_node > 2 ? 0 : sum); /* no ring passes it */
    }
    return fewest > 0 ? fewest * m->brick_bytes_per_s : m->pcie_bytes_per_s;
}

/* NICs serve the devices next to them: fewer ranks on a node use fewer of them. */
static double node_rate(const pace_machine *m, int ranks_per_node) {
    double used = ranks_per_node < m->devices ? ceil((double)m->nics * ranks_per_node / m->devices) : m->nics;
    return m->between.bytes_per_s * used / m->oversubscription;
}

/* A ring of NCCL has one TCP connection over each NIC. */
static double nccl_node_rate(const pace_machine *m, int ranks_per_node) {
    double stream = m->stream_bytes_per_s > 0 ? m->stream_bytes_per_s / m->between.bytes_per_s : 1;
    return node_rate(m, ranks_per_node) * fmin(1, stream);
}

/* What a device without a brick to its peer has: its slot, and its part of the link between sockets when all devices of
 * a socket cross it, or one alone. */
static double host_pair_rate(const pace_machine *m, bool alone) {
    double rate = m->pcie_bytes_per_s;
    int sockets = 0;
    for (int d = 0; d < m->devices; d++) rate = pace_least(rate, pace_machine_slot_rate(m, d, alone ? 0 : 1));
    for (int v = 0; v < m->host.count; v++) sockets += m->host.above[v] == PACE_NOWHERE;
    for (int v = 0; v < m->host.count && sockets > 1; v++)
        if (m->host.above[v] == PACE_NOWHERE)
            rate = pace_least(rate, m->host.bytes_per_s[v] * (alone ? 1 : (double)sockets / m->devices));
    return rate;
}

/* Whether all devices of a node exchange over a mesh in which every pair has as many bricks. Four and six devices are
 * too few to lay rings over all of them (Tillson 1980). */
static bool pairs_alike(const pace_machine *m, int ranks_per_node) {
    if (ranks_per_node != m->devices || m->devices == 4 || m->devices == 6) return false;
    for (int i = 0; i < m->devices; i++)
        for (int j = 0; j < m->devices; j++)
            if (i != j && (m->bricks[i][j] == 0 || m->bricks[i][j] != m->bricks[0][1])) return false;
    return true;
}

/* Devices of a mesh have between two of them what bricks there are. */
static void find_pairs(pace_exchange_terms *out, const pace_machine *m, int ranks_per_node) {
    double brick = m->brick_bytes_per_s * m->inside.efficiency, host = host_pair_rate(m, false), slowest = INFINITY;
    double host_alone = host_pair_rate(m, true), slowest_alone = INFINITY;
    double alpha = m->inside.latency_s;
    out->pairs_differ = true;
    out->pairs_alike = pairs_alike(m, ranks_per_node);
    for (int level = 0; level < PACE_PAIR_DISTANCES; level++) {
        double least_rate = INFINITY;
        for (int i = 0; i < ranks_per_node; i++) {
            int j = i ^ (1 << level);
            if (j < ranks_per_node)
                least_rate = pace_least(least_rate, m->bricks[i][j] ? m->bricks[i][j] * brick : host);
        }
        out->pair[level] = pace_message_hockney(alpha, 1 / least_rate);
    }
    for (int i = 0; i < ranks_per_node; i++)
        for (int j = 0; j < ranks_per_node; j++) {
            if (i == j) continue;
            slowest = pace_least(slowest, m->bricks[i][j] ? m->bricks[i][j] * brick : host);
            slowest_alone = pace_least(slowest_alone, m->bricks[i][j] ? m->bricks[i][j] * brick : host_alone);
        }
    out->any_pair = pace_message_hockney(alpha, 1 / slowest);
    out->lone_pair = pace_message_hockney(alpha, 1 / slowest_alone);
}

/* How many rings a device's port carries (exchange/program_rings.c): one for every NIC, or for every device where NICs
 * do not divide them; of as many as devices each leaves one for its NIC. */
static double rings_over_nodes(double *at_a_port, const pace_machine *m, int ranks_per_node) {
    bool shared = m->nics < ranks_per_node && ranks_per_node % m->nics == 0;
    *at_a_port = shared ? m->nics : ranks_per_node - 1;
    return shared ? m->nics : ranks_per_node;
}

static void terms_across(pace_exchange_terms *out, const pace_machine *m, double near_s) {
    double far = node_rate(m, out->ranks_per_node) * m->between.efficiency;
    double nic = m->between.bytes_per_s * m->between.efficiency / m->oversubscription / pace_network_slowness_alone(m);
    double alpha = m->inside.latency_s, far_alpha = m->between.latency_s, g = out->ranks_per_node;
    pace_network_slowness_of(&out->network, m, out->nodes);
    double next_alpha = far_alpha + (out->network.shared ? out->network.hops_s_of_distance[0] : 0);
    double far_s = (out->network.shared ? out->network.of_distance[0] : 1) / far;
    double one_near = out->pairs_differ ? out->lone_pair.pieces[0].s_per_byte : near_s, at_a_port;
    double rings = rings_over_nodes(&at_a_port, m, out->ranks_per_node), full = near_s * at_a_port / rings;
    out->channels = (int)rings;
    /* on a mesh each ring has bricks of its own */
    double hop = out->pairs_differ ? full : near_s / rings;
    out->across = pace_message_hockney(far_alpha, g / far);
    out->across_one = pace_message_hockney(far_alpha, 1 / nic);
    out->ring = (pace_ring_hops){pace_message_hockney(alpha, hop), pace_message_hockney(next_alpha, far_s), full};
    out->one_ring =
        (pace_ring_hops){pace_message_hockney(alpha, one_near), pace_message_hockney(next_alpha, 1 / nic), one_near};
}

void pace_exchange_terms_of(pace_exchange_terms *out, const pace_machine *m, pace_collective collective, double bytes,
                            int ranks_per_node, int nodes) {
    *out = (pace_exchange_terms){.collective = collective,
                                 .bytes = bytes,
                                 .ranks = ranks_per_node * nodes,
                                 .ranks_per_node = ranks_per_node,
                                 .nodes = nodes,
                                 .reduce_s_per_byte = reduce_s_per_byte};
    double near_s = 0, near_alpha = m->inside.latency_s;
    if (ranks_per_node > 1) near_s = 1 / (inside_rate(m, ranks_per_node) * m->inside.efficiency);
    out->inside = pace_message_hockney(near_alpha, near_s);
    out->ring.near = out->inside;
    if (m->mesh_devices > 0 && ranks_per_node > 1) {
        find_pairs(out, m, ranks_per_node);
        out->one_ring.near = out->lone_pair;
    }
    if (nodes > 1) terms_across(out, m, near_s);
    if (m->multicast) {
        out->multicast_s_per_byte = near_s;
        out->multicast_alpha_s = 3 * near_alpha;
    }
}

/* --- opening ----------------------------------------------------------------------------------------------------- */

pace_status pace_exchange_open(pace_exchange *out, pace_catalog *catalog, const pace_machine *machine,
                               pace_exchange_library library, const char *line) {
    PACE_TRY(pace_machine_check(machine));
    pace_exchange exchange = {.machine = *machine, .library = library};
    PACE_TRY(pace_doubts_load(&exchange.doubts, catalog));
    PACE_TRY(pace_algorithm_gaps_load(&exchange.gaps, catalog));
    const char *own = pace_nccl_library_of(machine);
    if (library == PACE_LIBRARY_AUTO) exchange.library = own ? PACE_LIBRARY_NCCL : PACE_LIBRARY_TEXTBOOK;
    if (exchange.library == PACE_LIBRARY_NCCL) {
        bool rccl = machine->generation <= 0;
        if (!own || (library != PACE_LIBRARY_AUTO && rccl != (line && strcmp(line, rccl_line) == 0)))
            return pace_fail(
                PACE_E_USAGE,
                "%s: NCCL's model is of NVIDIA's devices, RCCL's of AMD's that xGMI joins: expected another "
                "library, such as textbook",
                machine->name);
        PACE_TRY(pace_nccl_load(&exchange.prices, catalog, rccl ? rccl_line : newest_line, machine->generation));
        exchange.nccl = exchange.prices;
        if (line && !rccl) PACE_TRY(pace_nccl_load(&exchange.nccl, catalog, line, machine->generation));
    }
    *out = exchange;
    return PACE_OK;
}

pace_status pace_exchange_name_algorithm(int *algorithm, const pace_exchange *exchange, const char *name) {
    if (exchange->library == PACE_LIBRARY_NCCL) {
        *algorithm = pace_nccl_algorithm_find(name, strlen(name));
        if (*algorithm >= 0) return PACE_OK;
        return pace_word_fail("algorithm", PACE_WORDS(pace_nccl_algorithm_names), "", name);
    }
    int row = pace_exchange_algorithm_find(name);
    if (row < 0)
        return pace_word_fail("algorithm",
                              &(const pace_word_list){&pace_exchange_algorithms->name, pace_exchange_algorithm_count,
                                                      sizeof *pace_exchange_algorithms},
                              "", name);
    *algorithm = row;
    return PACE_OK;
}

pace_status pace_exchange_name_protocol(int *protocol, const pace_exchange *exchange, const char *name) {
    if (exchange->library != PACE_LIBRARY_NCCL)
        return pace_fail(PACE_E_USAGE, "protocols are of NCCL: the textbook's algorithms have none");
    for (int p = 0; p < PACE_NCCL_PROTOCOLS; p++)
        if (pace_same_word(pace_nccl_protocol_names[p], name)) {
            *protocol = p;
            return PACE_OK;
        }
    return pace_word_fail("protocol", PACE_WORDS(pace_nccl_protocol_names), "", name);
}

/* Groups that run side by side share the NICs of a node. */
static double crowding(const pace_machine *machine, int per_node, int ranks_per_node) {
    double used = ceil((double)machine->nics * ranks_per_node / machine->devices);
    double groups = floor((double)per_node / ranks_per_node);
    return machine->nics > 0 && used * groups > machine->nics ? used * groups / machine->nics : 1;
}

/* A group lies along some axes of a torus and has their links alone, of N devices' axes log n / log N: so all groups
 * that devices are divided into, one within the other, have all links together. */
static double torus_crowding(const pace_machine *m, double devices, double ranks) {
    return m->axes > 1 && ranks > 1 && ranks < devices ? fmin(log(devices) / log(ranks), m->axes) : 1;
}

pace_status pace_group_place_find(pace_group_place *out, const pace_machine *m, int per_node, int64_t size,
                                  int64_t stride) {
    int64_t devices = per_node > 0 ? per_node : m->devices;
    if (size < 1 || stride < 1 || size > devices * m->nodes)
        return pace_fail(PACE_E_USAGE, "%s: expected a group of 1 to %lld ranks, found %lld with stride %lld", m->name,
                         (long long)(devices * m->nodes), (long long)size, (long long)stride);
    int64_t near = stride >= devices ? 1 : (devices + stride - 1) / stride;
    if (near > size) near = size;
    int64_t nodes = (size + near - 1) / near;
    if (nodes > m->nodes)
        return pace_fail(PACE_E_USAGE, "%s: a group of %lld ranks %lld apart spans more than its %d nodes", m->name,
                         (long long)size, (long long)stride, m->nodes);
    near = (size + nodes - 1) / nodes;
    *out = (pace_group_place){(int)near, (int)nodes,
                              nodes > 1 ? crowding(m, (int)devices, (int)near)
                                        : torus_crowding(m, (double)devices, (double)near)};
    return PACE_OK;
}

/* --- answering --------------------------------------------------------------------------------------------------- */

static pace_status resolve(pace_exchange_question *q, const pace_machine *m) {
    if (q->ranks_per_node == 0) q->ranks_per_node = m->devices;
    if (q->nodes == 0) q->nodes = m->nodes;
    if (!(q->bytes >= 0) || !isfinite(q->bytes))
        return pace_fail(PACE_E_USAGE, "expected a size of 0 bytes or more, found %g", q->bytes);
    if (q->ranks_per_node < 1 || q->ranks_per_node > m->devices || q->nodes < 1 || q->nodes > m->nodes)
        return pace_fail(PACE_E_USAGE, "%s has %d devices on %d node%s: found %d ranks a node on %d", m->name,
                         m->devices, m->nodes, m->nodes == 1 ? "" : "s", q->ranks_per_node, q->nodes);
    if ((unsigned)q->collective >= PACE_COLLECTIVES) return pace_fail(PACE_E_USAGE, "unknown collective");
    return PACE_OK;
}

/* A single message has the NICs of its device. */
static int senders_of(const pace_exchange_question *q) {
    return q->collective == PACE_SENDRECV ? 1 : q->ranks_per_node;
}

/* Elements of one byte are added by no switch (NCCL's ncclNvlsSupported).
 */
static void prepare(pace_nccl_curves *curves, const pace_exchange *e, const pace_nccl *nccl,
                    const pace_exchange_question *q, int nodes) {
    const pace_machine *m = &e->machine;
    double inside = inside_rate(m, q->ranks_per_node), across = nccl_node_rate(m, senders_of(q));
    pace_nccl_prepare(curves, nccl, m, q->collective, q->ranks_per_node, nodes, inside, across);
    if (q->element_bytes == 1 && pace_collective_rows[q->collective].adds)
        for (int p = 0; p < PACE_NCCL_PROTOCOLS; p++)
            curves->bytes_per_s[PACE_NCCL_NVLS][p] = curves->bytes_per_s[PACE_NCCL_NVLSTREE][p] = 0;
}

typedef struct {
    const pace_exchange *exchange;
    const pace_exchange_question *question;
} group_asked;

static void make_group(pace_nccl_group *out, const void *of, int nodes) {
    const group_asked *asked = of;
    const pace_exchange *e = asked->exchange;
    out->chooser = &e->nccl;
    out->prices = &e->prices;
    prepare(&out->priced_by, e, &e->prices, asked->question, nodes);
    if (e->nccl.fingerprint == e->prices.fingerprint) out->chosen_by = out->priced_by;
    else prepare(&out->chosen_by, e, &e->nccl, asked->question, nodes);
    if (nodes != asked->question->nodes) return;
    const pace_machine *m = &e->machine;
    int per_node = asked->question->ranks_per_node;
    out->freest = out->priced_by;
    pace_nccl_free_channels(&out->freest, &e->prices, m, per_node, inside_rate(m, per_node),
                            nccl_node_rate(m, senders_of(asked->question)));
}

static pace_steady_question steady_question(const group_asked *asked) {
    const pace_exchange *e = asked->exchange;
    const pace_exchange_question *q = asked->question;
    return (pace_steady_question){.chooser = &e->nccl,
                                  .prices = &e->prices,
                                  .machine = &e->machine,
                                  .collective = q->collective,
                                  .ranks_per_node = q->ranks_per_node,
                                  .nodes = q->nodes,
                                  .single_bytes = q->element_bytes == 1,
                                  .asked = {q->algorithm, q->protocol, e->stack},
                                  .make = make_group,
                                  .of = asked};
}

static void steady_time(pace_steady_answer *out, const pace_exchange *e, const pace_exchange_question *q) {
    const group_asked asked = {e, q};
    const pace_steady_question question = steady_question(&asked);
    pace_steady_time(out, &question, q->bytes);
}

/* Whether another way than the library's takes less, beyond what figures are rounded by. */
static void find_faster(pace_exchange_answer *out, const pace_exchange *e, const pace_exchange_question *q) {
    const group_asked asked = {e, q};
    const pace_steady_question question = steady_question(&asked);
    int algorithm, protocol;
    if (e->library != PACE_LIBRARY_NCCL || e->stack == PACE_STACK_BELIEF) return;
    double fastest_s = pace_steady_fastest(&algorithm, &protocol, &question, q->bytes);
    if (!(fastest_s < 0.99 * out->time_s.median)) return;
    out->faster_s = fastest_s;
    out->faster_algorithm = pace_nccl_algorithm_names[algorithm];
    out->faster_protocol = pace_nccl_protocol_names[protocol];
}

/* What the spread lacks to hold a time that is shorter. */
static double missing_spread(double time_s, double spread, double shorter_s) {
    double needed = shorter_s > 0 && shorter_s < time_s ? log(time_s / shorter_s) / PACE_NORMAL_90 : 0;
    return needed > spread ? sqrt(needed * needed - spread * spread) : 0;
}

/* Shares of links that the host carries differ: where nobody measured them, bytes take longer or shorter. */
static double doubt_links(pace_doubts_used *used, const pace_exchange *e, int nodes, double moving_share) {
    const pace_link *link = nodes > 1 ? &e->machine.between : &e->machine.inside;
    bool host = link->share_assumed && (link->kind == PACE_LINK_PCIE || link->kind == PACE_LINK_TCP);
    double share = host ? e->doubts.figure[PACE_DOUBT_SLOW_SHARE] * moving_share : 0;
    double path = link->staged ? e->doubts.figure[PACE_DOUBT_HOST_PATH] * moving_share : 0;
    used->added[PACE_DOUBT_SLOW_SHARE] = share;
    used->added[PACE_DOUBT_HOST_PATH] = path;
    return hypot(share, path);
}

static pace_status solve_nccl(pace_exchange_answer *out, const pace_exchange *e, const pace_exchange_question *q) {
    const pace_machine *m = &e->machine;
    pace_steady_answer way;
    steady_time(&way, e, q);
    double s = way.time_s;
    if (!isfinite(s))
        return pace_fail(PACE_E_USAGE, "%s%s cannot do %s with %s and %s on %s", m->generation > 0 ? "NCCL " : "",
                         e->nccl.line, pace_collective_rows[q->collective].name,
                         q->algorithm < 0 ? "any algorithm" : pace_nccl_algorithm_names[q->algorithm],
                         q->protocol < 0 ? "any protocol" : pace_nccl_protocol_names[q->protocol], m->name);
    pace_doubt doubt = pace_exchange_doubt(e, q->nodes);
    double own = e->doubts.figure[doubt], host = 0, foreign = e->nccl.reached.foreign, spread = hypot(own, foreign);
    if (doubt != PACE_DOUBT_NCCL_BELIEF) {
        host = e->nccl.reached.host[e->stack].spread * way.waiting_share;
        spread = hypot(spread, host);
    }
    pace_doubts_used used = {0};
    spread = hypot(spread, doubt_links(&used, e, q->nodes, 1 - way.waiting_share));
    double choice = missing_spread(s, spread, way.fastest_s);
    *out = (pace_exchange_answer){.time_s = {s, hypot(spread, choice), PACE_RUNG_FORMULA, 0},
                                  .algorithm = pace_nccl_algorithm_names[way.algorithm],
                                  .protocol = pace_nccl_protocol_names[way.protocol],
                                  .bottleneck = "",
                                  .used = used};
    out->used.added[doubt] = own;
    out->used.added[PACE_DOUBT_NCCL_HOST] = host;
    out->used.added[PACE_DOUBT_NCCL_DEVICE] = foreign;
    out->used.added[PACE_DOUBT_NCCL_CHOICE] = choice;
    return PACE_OK;
}

/* Then the mean latency of a round's hops and the busiest link add up. */
static void keep_in_step(pace_exchange_terms *t) {
    pace_ring_hops *r = &t->ring;
    if (!r->far.count) return;
    double steps = t->ranks - 1, far = pace_least(t->nodes, steps);
    double alpha = ((steps - far) * pace_message_s(&r->near, 0) + far * pace_message_s(&r->far, 0)) / steps;
    *r = (pace_ring_hops){.near =
                              pace_message_hockney(alpha, pace_most(r->port_s_per_byte, r->far.pieces[0].s_per_byte))};
}

typedef struct {
    double time_s;
    int row;
    bool exact;
} textbook_choice;

/* Infinite where nothing is possible. */
static textbook_choice choose_textbook(const pace_exchange *e, const pace_exchange_question *q, int nodes) {
    pace_exchange_terms terms;
    textbook_choice best = {.time_s = INFINITY};
    pace_exchange_terms_of(&terms, &e->machine, q->collective, q->bytes, q->ranks_per_node, nodes);
    if (e->in_step) keep_in_step(&terms);
    for (int row = 0; row < (int)pace_exchange_algorithm_count; row++) {
        if ((q->algorithm >= 0 && row != q->algorithm) || !pace_exchange_algorithm_applies(row, &terms)) continue;
        double s = pace_exchange_algorithms[row].time_s(&terms);
        if (s < best.time_s) best.time_s = s, best.row = row;
    }
    best.exact = pace_exchange_algorithm_is_exact(best.row, &terms);
    return best;
}

/* More nodes never take less time than fewer. */
static double least_over_nodes(const pace_exchange *e, const pace_exchange_question *q, double time_s) {
    for (int nodes = q->ranks_per_node > 1 ? 1 : 2; nodes < q->nodes && q->algorithm < 0;
         nodes = pace_next_fewer_nodes(nodes))
        time_s = pace_most(time_s, choose_textbook(e, q, nodes).time_s);
    return time_s;
}

static pace_status solve_textbook(pace_exchange_answer *out, const pace_exchange *e, const pace_exchange_question *q) {
    const textbook_choice best = choose_textbook(e, q, q->nodes);
    if (!isfinite(best.time_s))
        return pace_fail(PACE_E_USAGE, "%s cannot do %s on %d ranks of %s",
                         q->algorithm < 0 ? "no algorithm" : pace_exchange_algorithms[q->algorithm].name,
                         pace_collective_rows[q->collective].name, q->ranks_per_node * q->nodes, e->machine.name);
    double time_s = least_over_nodes(e, q, best.time_s), raised = time_s > 0 ? log(time_s / best.time_s) : 0;
    double gap = hypot(best.exact ? 0 : e->gaps.of[best.row], raised);
    double spread = hypot(pace_exchange_textbook_spread(&e->doubts, q->nodes), gap);
    *out = (pace_exchange_answer){.time_s = {time_s + e->machine.launch_s, spread, PACE_RUNG_FORMULA, 0},
                                  .algorithm = pace_exchange_algorithms[best.row].name,
                                  .protocol = "",
                                  .bottleneck = ""};
    out->used.added[textbook_doubt(q->nodes)] = pace_exchange_textbook_spread(&e->doubts, q->nodes);
    out->used.added[PACE_DOUBT_ALGORITHM_GAP] = gap;
    return PACE_OK;
}

static pace_status solve(pace_exchange_answer *out, const pace_exchange *e, const pace_exchange_question *q) {
    if (q->ranks_per_node * q->nodes == 1) {
        *out = (pace_exchange_answer){.time_s = {0, 0, PACE_RUNG_FORMULA, 0},
                                      .algorithm = "none",
                                      .protocol = "",
                                      .bottleneck = "none"};
        return PACE_OK;
    }
    PACE_TRY(e->library == PACE_LIBRARY_NCCL ? solve_nccl(out, e, q) : solve_textbook(out, e, q));
    out->time_s.least =
        pace_exchange_least_s(&e->machine, &e->doubts, q->collective, q->bytes, q->ranks_per_node, q->nodes);
    return PACE_OK;
}

/* Latency, when half the bytes take more than three quarters of the time, or of a message, whose channels grow with it,
 * a hundredth of them more than half; else the link whose being twice as fast saves most; the library's own rate, when
 * neither saves a twentieth. */
static pace_status find_bottleneck(pace_exchange_answer *out, const pace_exchange *e, const pace_exchange_question *q) {
    pace_exchange inside = *e, between = *e;
    pace_exchange_question fewer = *q;
    pace_exchange_answer near, far, less;
    inside.machine.inside.bytes_per_s *= 2;
    inside.machine.brick_bytes_per_s *= 2;
    between.machine.between.bytes_per_s *= 2;
    bool message = q->collective == PACE_SENDRECV;
    fewer.bytes /= message ? 100 : 2;
    PACE_TRY(solve(&less, e, &fewer));
    PACE_TRY(solve(&near, &inside, q));
    PACE_TRY(solve(&far, &between, q));
    double time_s = out->time_s.median, least_s = pace_least(near.time_s.median, far.time_s.median);
    const pace_link *link = near.time_s.median < far.time_s.median ? &e->machine.inside : &e->machine.between;
    out->bottleneck = less.time_s.median > (message ? 0.5 : 0.75) * time_s ? "latency"
                      : least_s > 0.95 * time_s                            ? "library"
                                                                           : pace_link_kind_names[link->kind];
    return PACE_OK;
}

pace_status pace_exchange_answer_question(pace_exchange_answer *out, const pace_exchange *exchange,
                                          const pace_exchange_question *question) {
    pace_exchange_question q = *question;
    pace_exchange_answer answer;
    PACE_TRY(resolve(&q, &exchange->machine));
    PACE_TRY(solve(&answer, exchange, &q));
    if (answer.time_s.median > 0) {
        find_faster(&answer, exchange, &q);
        PACE_TRY(find_bottleneck(&answer, exchange, &q));
    }
    *out = answer;
    return PACE_OK;
}

bool pace_exchange_choice(int *algorithm, int *protocol, const pace_exchange *exchange,
                          const pace_exchange_question *question) {
    pace_exchange_question q = *question;
    const pace_machine *m = &exchange->machine;
    if (exchange->library != PACE_LIBRARY_NCCL || q.ranks_per_node > m->devices || q.nodes > m->nodes) return false;
    pace_nccl_curves curves;
    prepare(&curves, exchange, &exchange->nccl, &q, q.nodes);
    return isfinite(pace_nccl_choose(algorithm, protocol, &exchange->nccl, &curves, q.bytes, q.algorithm, q.protocol));
}

pace_status pace_exchange_time(pace_estimate *out_s, const pace_exchange *exchange,
                               const pace_exchange_question *question) {
    pace_exchange_question q = *question;
    pace_exchange_answer answer;
    PACE_TRY(resolve(&q, &exchange->machine));
    if (exchange->measured && exchange->measured->time(out_s, exchange->measured, exchange, &q) == PACE_OK)
        return PACE_OK;
    PACE_TRY(solve(&answer, exchange, &q));
    *out_s = answer.time_s;
    return PACE_OK;
}

/* The time as answered may be more than the way's own device takes: of a host, or held to that of fewer nodes; all of
 * it before anything moves. Or less, where it would fall: hops and bytes then take as much less. */
pace_status pace_exchange_way_find(pace_exchange_way *out, const pace_exchange *e,
                                   const pace_exchange_question *question) {
    pace_exchange_question q = *question;
    const pace_nccl *nccl = &e->prices;
    pace_nccl_curves curves;
    pace_exchange_way way = {0};
    pace_steady_answer steady;
    double share, near_s, far_s;
    if (e->library != PACE_LIBRARY_NCCL) return pace_fail(PACE_E_USAGE, "%s: not NCCL's", e->machine.name);
    PACE_TRY(resolve(&q, &e->machine));
    prepare(&curves, e, nccl, &q, q.nodes);
    steady_time(&steady, e, &q);
    way.time_s = steady.time_s;
    way.algorithm = steady.algorithm;
    way.protocol = steady.protocol;
    if (!isfinite(way.time_s))
        return pace_fail(PACE_E_USAGE, "%s%s cannot do %s on %s", e->machine.generation > 0 ? "NCCL " : "",
                         e->nccl.line, pace_collective_rows[q.collective].name, e->machine.name);
    double own_s = pace_nccl_reached_time(&share, nccl, &curves, way.algorithm, way.protocol, q.bytes,
                                          e->stack == PACE_STACK_BELIEF ? e->stack : PACE_STACK_CURRENT);
    double latency_s = pace_nccl_latency(&curves, way.algorithm, way.protocol, q.bytes);
    int base = way.protocol == PACE_NCCL_SIMPLE ? PACE_NCCL_SIMPLE : PACE_NCCL_LL;
    double hops_s = pace_most(latency_s - nccl->base_s[PACE_NCCL_RING][base], 1e-9);
    pace_nccl_hops(&near_s, &far_s, nccl, &e->machine, q.ranks_per_node, q.nodes, way.algorithm, way.protocol);
    way.channels = curves.channels;
    double launch_s = pace_least(nccl->reached.launch * e->machine.launch_s, way.time_s);
    double less = own_s > way.time_s && own_s > launch_s ? (way.time_s - launch_s) / (own_s - launch_s) : 1;
    way.launch_s = launch_s + pace_most(way.time_s - own_s, 0);
    way.moving_s = own_s * (1 - share) * less;
    way.waiting_s = pace_most(way.time_s - way.launch_s - way.moving_s, 0);
    way.near_s = near_s * way.waiting_s / hops_s;
    way.far_s = far_s * way.waiting_s / hops_s;
    *out = way;
    return PACE_OK;
}
