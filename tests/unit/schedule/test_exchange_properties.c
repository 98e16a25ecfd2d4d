/* Properties of exchanges on random machines, networks, algorithms, numbers of ranks and sizes (fixed seed):
 *
 *   every rank ends with what the collective promises: each rank's contribution to each part exactly once
 *   what is sent is received, no link carries more than it can, nothing is faster than its busiest port
 *   no fewer bytes are sent than must come to all ranks
 *   ranks that are alike simulated once take the time that all take; the same question has the same answer
 *   no rank ends an all-reduce, in pieces or not, before a slow one can have given its vector
 *
 * The first is checked by an interpreter of programs of its own, which knows only what a message carries: a partial sum
 * with the ranks in it, and finished parts. A case that fails is made smaller and printed. PACE_CASES=N tries more. */
#include "exchange/algorithms.h"
#include "exchange/program_by_name.h"
#include "schedule/simulation.h"
#include "catalog_of_tests.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_of_tests.h"

enum { MOST_RANKS = 72, SAID = 400 };

/* --- what a message carries --------------------------------------------------------------------------------------- */

/* A sum: how often each rank is in it. Finished parts: where each was finished, and its bytes. */
typedef struct {
    unsigned char in[MOST_RANKS];
    int parts;
    unsigned char part[MOST_RANKS];
    double bytes[MOST_RANKS];
} cargo;

typedef struct {
    uint32_t from, to, channel, taken;
    PACE_VEC(cargo) items;
} pipe;

typedef struct {
    uint32_t rank, next, count, first;
    unsigned char before[MOST_RANKS]; /* the sum when it began to add from `from` */
    cargo holds, came;                /* came: since it last added */
    int waiting;                      /* messages in `came` */
    int64_t from, to;                 /* of the last sum added; of the last finished part sent; -1 = none */
    double amount;                    /* of the last sum */
    bool copied, given;               /* its parts are another lane's; its sum went on in another */
    PACE_VEC(cargo) after;            /* what it held after each operation */
} lane;

typedef struct {
    const pace_program *program;
    pace_collective collective;
    double bytes;
    PACE_VEC(lane) lanes;
    PACE_VEC(pipe) pipes;
    uint32_t first_lane[MOST_RANKS + 1];
    double sent, received;
    char *said;
} reader;

static bool finished(const reader *r, const unsigned char *in) {
    uint32_t n = r->program->rank_count;
    if (r->collective == PACE_BROADCAST) return in[0] == 1;
    for (uint32_t i = 0; i < n; i++)
        if (in[i] != 1 && r->collective != PACE_ALLGATHER) return false;
    return true;
}

static bool say(const reader *r, const char *what, uint32_t rank, uint32_t op, double a, double b) {
    if (!*r->said) snprintf(r->said, SAID, "%s: rank %u, operation %u: %g, %g", what, rank, op, a, b);
    return false;
}

static pipe *pipe_of(reader *r, uint32_t from, uint32_t to, uint32_t channel) {
    for (size_t i = 0; i < r->pipes.count; i++) {
        pipe *p = &r->pipes.items[i];
        if (p->from == from && p->to == to && p->channel == channel) return p;
    }
    assert_int_equal(PACE_PUSH(&r->pipes, ((pipe){.from = from, .to = to, .channel = channel})), PACE_OK);
    return &r->pipes.items[r->pipes.count - 1];
}

static void finish_own(const reader *r, lane *l, double bytes) {
    if (l->holds.parts || !finished(r, l->holds.in)) return;
    l->holds.parts = 1;
    l->holds.part[0] = (unsigned char)l->rank;
    l->holds.bytes[0] = bytes;
}

/* To one it has sent to before, what came last (a ring); else all parts, or as many of the first as there are bytes. */
static bool send(reader *r, lane *l, const pace_operation *o, uint32_t to, uint32_t channel) {
    finish_own(r, l, l->amount > 0 ? l->amount : o->amount);
    cargo out = l->holds;
    if (l->holds.parts && l->to == to) out = l->came;
    l->to = l->holds.parts ? (int64_t)to : -1;
    double bytes = 0;
    int parts = 0;
    while (parts < out.parts && bytes < o->amount * (1 - 1e-9)) bytes += out.bytes[parts++];
    if (out.parts && fabs(bytes - o->amount) > 1e-9 * r->bytes)
        return say(r, "it sends other bytes than it has", l->rank, l->next, o->amount, bytes);
    out.parts = parts;
    memcpy(out.in, l->holds.in, sizeof out.in);
    r->sent += o->amount;
    assert_int_equal(PACE_PUSH(&pipe_of(r, l->rank, to, channel)->items, out), PACE_OK);
    return true;
}

/* Whether what is received is added: the next operation that is no receive adds. */
static bool adds(const reader *r, const lane *l) {
    for (uint32_t i = l->next + 1; i < l->count; i++) {
        const pace_operation *o = &r->program->operations.items[l->first + i];
        if (o->kind != PACE_OPERATION_RECEIVE) return o->kind == PACE_OPERATION_REDUCE;
    }
    return false;
}

static bool take_part(reader *r, lane *l, const cargo *item, double amount) {
    double bytes = 0;
    finish_own(r, l, l->amount > 0 ? l->amount : amount);
    for (int i = 0; i < item->parts; i++) {
        for (int k = 0; k < l->holds.parts; k++)
            if (l->holds.part[k] == item->part[i])
                return say(r, "a part comes twice", l->rank, l->next, item->part[i], amount);
        l->holds.part[l->holds.parts] = item->part[i];
        l->holds.bytes[l->holds.parts++] = item->bytes[i];
        bytes += item->bytes[i];
    }
    l->came = *item;
    return fabs(bytes - amount) <= 1e-9 * r->bytes || say(r, "parts are missing", l->rank, l->next, bytes, amount);
}

static bool take(reader *r, lane *l, const pace_operation *o, uint32_t from, const cargo *item) {
    r->received += o->amount;
    if (!adds(r, l)) return take_part(r, l, item, o->amount);
    if (l->from != from) memcpy(l->before, l->holds.in, sizeof l->before);
    l->from = from;
    if (!l->waiting++) memset(&l->came, 0, sizeof l->came);
    for (int i = 0; i < MOST_RANKS; i++) l->came.in[i] = (unsigned char)(l->came.in[i] + item->in[i]);
    return true;
}

static bool add(const reader *r, lane *l, double amount) {
    for (int i = 0; i < MOST_RANKS; i++) {
        l->holds.in[i] = (unsigned char)(l->before[i] + l->came.in[i]);
        if (l->holds.in[i] > 1) return say(r, "a contribution counts twice", l->rank, l->next, i, l->holds.in[i]);
    }
    l->amount = amount / (l->waiting ? l->waiting : 1);
    l->waiting = 0;
    return true;
}

/* 1: done, 0: not yet, -1: wrong. */
static int step(reader *r, lane *l) {
    const pace_operation *o = &r->program->operations.items[l->first + l->next];
    bool good = true;
    if (o->kind == PACE_OPERATION_SEND || o->kind == PACE_OPERATION_RECEIVE) {
        const pace_peer *peer = &r->program->peers.items[o->peer];
        uint32_t other = pace_peer_rank(peer, l->rank);
        if (o->kind == PACE_OPERATION_SEND) good = send(r, l, o, other, peer->channel);
        else {
            pipe *p = pipe_of(r, other, l->rank, peer->channel);
            if (p->taken == p->items.count) return 0;
            good = take(r, l, o, other, &p->items.items[p->taken++]);
        }
    } else if (o->kind == PACE_OPERATION_REDUCE) good = add(r, l, o->amount);
    else if (o->kind == PACE_OPERATION_WAIT) {
        lane *of = &r->lanes.items[r->first_lane[l->rank] + o->peer];
        if (of->after.count <= (size_t)o->amount) return 0;
        l->copied = of->after.items[(size_t)o->amount].parts > 0;
        l->holds = of->after.items[(size_t)o->amount];
        l->amount = of->amount;
        of->given |= !l->copied;
        if (!l->copied) finish_own(r, l, l->amount);
    }
    assert_int_equal(PACE_PUSH(&l->after, l->holds), PACE_OK);
    l->next++;
    return good ? 1 : -1;
}

static void open_lanes(reader *r) {
    const pace_program *p = r->program;
    for (uint32_t rank = 0; rank < p->rank_count; rank++) {
        const pace_rank_class *class = &p->classes.items[p->class_of[rank]];
        r->first_lane[rank] = (uint32_t)r->lanes.count;
        for (uint32_t i = 0; i < class->lane_count; i++) {
            const pace_program_lane *of = &p->lanes.items[class->first_lane + i];
            lane l = {.rank = rank, .first = of->first, .count = of->count, .from = -1, .to = -1};
            l.holds.in[rank] = 1;
            memcpy(l.before, l.holds.in, sizeof l.before);
            assert_int_equal(PACE_PUSH(&r->lanes, l), PACE_OK);
        }
    }
    r->first_lane[p->rank_count] = (uint32_t)r->lanes.count;
}

/* What a rank must end with, over its lanes: a reduction its sum; all-reduce and all-gather all parts. */
static bool ended(const reader *r, uint32_t rank) {
    double bytes = 0, n = r->program->rank_count, S = r->bytes;
    for (uint32_t i = r->first_lane[rank]; i < r->first_lane[rank + 1]; i++) {
        const lane *l = &r->lanes.items[i];
        if (l->holds.parts && !l->copied)
            for (int k = 0; k < l->holds.parts; k++) bytes += l->holds.bytes[k];
        else if (!l->given && !l->holds.parts && finished(r, l->holds.in) &&
                 (l->to < 0 || r->collective == PACE_REDUCESCATTER))
            bytes += l->amount;
    }
    if (r->collective == PACE_REDUCE && rank > 0) return true;
    double expected = r->collective == PACE_REDUCESCATTER ? S / n : S;
    return fabs(bytes - expected) <= 1e-9 * S || say(r, "it ends with other bytes", rank, 0, bytes, expected);
}

static bool reads_right(const pace_program *program, pace_collective collective, double bytes, char said[SAID]) {
    reader r = {.program = program, .collective = collective, .bytes = bytes, .said = said};
    bool moved = true, good = true;
    open_lanes(&r);
    while (moved && good) {
        moved = false;
        for (size_t i = 0; i < r.lanes.count && good; i++) {
            lane *l = &r.lanes.items[i];
            int done = 1;
            while (l->next < l->count && (done = step(&r, l)) == 1) moved = true;
            good = done >= 0;
        }
    }
    for (size_t i = 0; i < r.lanes.count && good; i++)
        if (r.lanes.items[i].next < r.lanes.items[i].count)
            good = say(&r, "it waits for ever", r.lanes.items[i].rank, r.lanes.items[i].next, 0, 0);
    for (uint32_t rank = 0; rank < program->rank_count && good; rank++) good = ended(&r, rank);
    if (good && fabs(r.sent - r.received) > 1e-9 * r.sent)
        good = say(&r, "sent and received", 0, 0, r.sent, r.received);
    for (size_t i = 0; i < r.lanes.count; i++) PACE_VEC_FREE(&r.lanes.items[i].after);
    for (size_t i = 0; i < r.pipes.count; i++) PACE_VEC_FREE(&r.pipes.items[i].items);
    PACE_VEC_FREE(&r.lanes);
    PACE_VEC_FREE(&r.pipes);
    return good;
}

/* Where nothing is passed on, it is enough who sends how much to whom: of an all-to-all every rank a share to every
 * other, of single messages every rank all to the next. Sums over all lanes, of sends and of receives. */
static bool pairs_right(const pace_program *p, pace_collective collective, double bytes, char said[SAID]) {
    static double sent[MOST_RANKS][MOST_RANKS], received[MOST_RANKS][MOST_RANKS];
    uint32_t n = p->rank_count;
    memset(sent, 0, sizeof sent);
    memset(received, 0, sizeof received);
    for (uint32_t rank = 0; rank < n; rank++) {
        const pace_rank_class *class = &p->classes.items[p->class_of[rank]];
        for (uint32_t l = class->first_lane; l < class->first_lane + class->lane_count; l++)
            for (uint32_t i = p->lanes.items[l].first; i < p->lanes.items[l].first + p->lanes.items[l].count; i++) {
                const pace_operation *o = &p->operations.items[i];
                if (o->kind == PACE_OPERATION_SEND)
                    sent[rank][pace_peer_rank(&p->peers.items[o->peer], rank)] += o->amount;
                if (o->kind == PACE_OPERATION_RECEIVE)
                    received[pace_peer_rank(&p->peers.items[o->peer], rank)][rank] += o->amount;
            }
    }
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < n; b++) {
            double due = collective == PACE_ALLTOALL ? (a != b) * bytes / n : (b == (a + 1) % n) * bytes;
            if (fabs(sent[a][b] - due) <= 1e-9 * bytes && fabs(received[a][b] - due) <= 1e-9 * bytes) continue;
            snprintf(said, SAID, "rank %u to %u: sends %g, takes %g, should %g", a, b, sent[a][b], received[a][b], due);
            return false;
        }
    return true;
}

/* --- cases ------------------------------------------------------------------------------------------------------- */

/* Machines of the catalogue that are no plain switch, by number - 1; 0 = a short form. */
static const char *const named[] = {"dgx-1-v100", "dgx-1-p100", "mi300x-node", "pcie-8xp100",
                                    "dgx-h100",   "p3dn",       "p100x4-25g"};
static const char *const networks[] = {"switch", "fat-tree", "fat-tree in pods", "rails", "dragonfly", "torus"};
enum { NAMED = sizeof named / sizeof *named, NETWORKS = sizeof networks / sizeof *networks, WIDE = 2 };

typedef struct {
    int machine, devices, nodes, nics, network, over, collective, row, size, jobs, fewer;
} example;
enum { FIELDS = sizeof(example) / sizeof(int) };

static const double sizes[] = {1e6, 0, 1, 8, 4097, 262144, 3.3e7};

static uint64_t seed = 20261121;
static int below(int count) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (int)(seed * 0x2545f4914f6cdd1du >> 33) % count;
}

static example drawn(void) {
    example e = {.machine = below(3) ? below(NAMED + 1) : 0,
                 .devices = 1 + below(9),
                 .nodes = below(3) ? 1 + below(7) : 1,
                 .nics = 1 + below(8),
                 .network = below(NETWORKS),
                 .over = 1 + below(4),
                 .collective = below(PACE_COLLECTIVES),
                 .row = below((int)pace_exchange_algorithm_count),
                 .size = below((int)(sizeof sizes / sizeof *sizes)),
                 .jobs = below(4) ? 1 : 1 + below(3),
                 .fewer = below(4) ? 0 : below(8)};
    while (!(pace_exchange_algorithms[e.row].collectives >> e.collective & 1))
        e.row = below((int)pace_exchange_algorithm_count);
    return e;
}

static void machine_text(char out[200], const example *e) {
    char net[60] = "";
    int used;
    if (e->machine) used = snprintf(out, 200, "%s*%d", named[e->machine - 1], e->nodes);
    else
        used = snprintf(out, 200,
                        e->nodes > 1 ? "a100*%d nvlink=300GB/s nodes=%d net=200Gb/s nics=%d" : "a100*%d nvlink=300GB/s",
                        e->devices, e->nodes, e->nics);
    switch (e->network) {
    case 1: snprintf(net, sizeof net, " net=fat-tree:%d:%d:1", WIDE, e->over); break;
    case 2: snprintf(net, sizeof net, " net=fat-tree:%dx2:%d:1", WIDE, e->over); break;
    case 3: snprintf(net, sizeof net, " net=rails:%d:%d:1", WIDE, e->over); break;
    case 4: snprintf(net, sizeof net, " net=dragonfly:1x%d:%d:1", WIDE, e->over); break;
    case 5: snprintf(net, sizeof net, " net=torus:%d", e->nodes); break;
    default: break;
    }
    if (e->nodes > 1) snprintf(out + used, 200 - (size_t)used, "%s", net);
}

/* Bytes that must leave a rank, or a node, and over how much. */
static double bound_s(const pace_machine *m, const pace_simulation *s, double S, bool in_switch) {
    double n = s->ranks_of_job, port = pace_machine_inside_rate(m), least = 0;
    pace_collective c = s->question.collective;
    if (n < 2) return 0;
    if (m->mesh_devices > 0) port += m->pcie_bytes_per_s;
    if (m->nodes > 1) port += m->between.bytes_per_s * m->between.efficiency * m->nics;
    double moved = c == PACE_ALLREDUCE  ? in_switch ? (n + 1) / n : 2 * (n - 1) / n
                   : c <= PACE_ALLTOALL ? (n - 1) / n
                                        : 1;
    least = moved * S / port;
    double N = s->nodes_of_job, node = m->between.bytes_per_s * m->between.efficiency * m->nics;
    if (N > 1 && c <= PACE_ALLTOALL) {
        double out = c == PACE_ALLREDUCE  ? 2 * (N - 1) / N
                     : c == PACE_ALLTOALL ? s->ranks_of_node * (N - 1) / N
                                          : (N - 1) / N;
        least = fmax(least, out * S / node);
    }
    return least;
}

/* Bytes that must come to all ranks together: of an all-reduce to add, and the sums. */
static double due_bytes(const pace_simulation *s, double S) {
    double n = s->ranks_of_job, jobs = s->question.jobs;
    pace_collective c = s->question.collective;
    if (n < 2) return 0;
    return jobs * (c == PACE_SENDRECV ? n : c == PACE_ALLREDUCE ? 2 * (n - 1) : n - 1) * S;
}

/* The program, in one piece, as the interpreter understands it. What it does not: parts of parts (a scatter),
 * all-to-all, a switch that adds, lanes that hand each other parts (meshes), and sums whose parts take different ways
 * (Bruck's). */
static bool understood(const example *e, const pace_machine *m) {
    const char *name = pace_exchange_algorithms[e->row].name;
    bool parts = e->collective == PACE_ALLTOALL || e->collective == PACE_SENDRECV;
    parts |= !strcmp(name, "bruck") && e->collective != PACE_ALLGATHER;
    if (parts || !strcmp(name, "multicast") || !strcmp(name, "scatter_allgather")) return false;
    return m->mesh_devices == 0 || (strcmp(name, "rails") && strcmp(name, "direct"));
}

/* Ranks send to whom they mean, and nothing passes on what it got. */
static bool goes_straight(const example *e) {
    const char *name = pace_exchange_algorithms[e->row].name;
    bool all = e->collective == PACE_ALLTOALL && (!strcmp(name, "pairwise") || !strcmp(name, "direct"));
    return all || e->collective == PACE_SENDRECV;
}

static bool same(double a, double b) { return a == b || fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b)); }

static bool answers_hold(const example *e, const pace_machine *m, const pace_simulation *s, pace_simulation *whole,
                         char said[SAID]) {
    pace_simulation_answer a, again, all;
    const pace_exchange_algorithm *row = &pace_exchange_algorithms[e->row];
    double S = sizes[e->size];
    pace_status status = pace_simulation_run(&a, s, S, NULL);
    if (status == PACE_E_USAGE) return true; /* it cannot, and says so */
    if (status != PACE_OK || pace_simulation_run(&again, s, S, NULL) != PACE_OK ||
        pace_simulation_run(&all, whole, S, NULL) != PACE_OK) {
        snprintf(said, SAID, "refused: %s", pace_message());
        return false;
    }
    double least = bound_s(m, s, S, row->in_switch) * (1 - 1e-9), took = a.time_s - m->launch_s;
    if (memcmp(&a.time_s, &again.time_s, sizeof a.time_s))
        snprintf(said, SAID, "two answers: %.17g and %.17g", a.time_s, again.time_s);
    else if (!same(a.time_s, all.time_s)) snprintf(said, SAID, "folded %.15g, whole %.15g", a.time_s, all.time_s);
    else if (!same(a.flows.bytes, all.flows.bytes))
        snprintf(said, SAID, "bytes: folded %.15g, whole %.15g", a.flows.bytes, all.flows.bytes);
    else if (a.flows.bytes < due_bytes(s, S) * (1 - 1e-9))
        snprintf(said, SAID, "%.15g bytes are sent, %.15g are due", a.flows.bytes, due_bytes(s, S));
    else if (a.flows.busiest_share > 1 + 1e-9)
        snprintf(said, SAID, "%s carries %.15g", a.bottleneck, a.flows.busiest_share);
    else if (took < least) snprintf(said, SAID, "simulated %.15g s, a port takes %.15g", took, least);
    else if (a.closed_s - m->launch_s < least)
        snprintf(said, SAID, "closed form %.15g s, a port takes %.15g", a.closed_s - m->launch_s, least);
    if (*said) return false;
    pace_program program;
    pace_program_question q = {.ranks = s->ranks_of_job, .bytes = S, .group = s->ranks_of_node, .segments = 1};
    if (s->nodes_of_job) q.machine = m;
    bool straight = goes_straight(e);
    if ((!straight && !understood(e, m)) || S == 0 || s->ranks_of_job < 2) return true;
    assert_int_equal(pace_program_build(&program, pace_collective_rows[e->collective].name, row->name, &q), PACE_OK);
    bool good = straight ? pairs_right(&program, (pace_collective)e->collective, S, said)
                         : reads_right(&program, (pace_collective)e->collective, S, said);
    pace_program_free(&program);
    return good;
}

/* False: `said` says what does not hold. */
static bool holds(const example *e, char said[SAID]) {
    char text[200];
    pace_machine m;
    pace_simulation s, whole;
    machine_text(text, e);
    *said = 0;
    if (pace_machine_parse(&m, test_catalog(), text) != PACE_OK || pace_machine_check(&m) != PACE_OK) return true;
    uint32_t devices = (uint32_t)(m.devices * m.nodes),
             ranks = devices > (uint32_t)e->fewer ? devices - (uint32_t)e->fewer : 1;
    pace_simulation_question q = {.collective = (pace_collective)e->collective,
                                  .algorithm = e->row,
                                  .ranks = ranks,
                                  .jobs = (uint32_t)e->jobs};
    if (ranks > MOST_RANKS || pace_simulation_open(&s, &m, &q) != PACE_OK) return true;
    q.unfolded = true;
    assert_int_equal(pace_simulation_open(&whole, &m, &q), PACE_OK);
    bool good = answers_hold(e, &m, &s, &whole, said);
    pace_simulation_close(&s);
    pace_simulation_close(&whole);
    return good;
}

/* Takes any number down, to its least or by one, as long as the case still fails. */
static void shrink(example *e, char said[SAID]) {
    static const int least[FIELDS] = {0, 1, 1, 1, 0, 1, 0, 0, 0, 1, 0};
    bool smaller = true;
    while (smaller) {
        smaller = false;
        for (int i = 0; i < FIELDS; i++)
            for (int way = 0; way < 2; way++) {
                example tried = *e;
                int *field = &((int *)&tried)[i];
                char now[SAID];
                if (*field <= least[i] || i == 6 || i == 7) continue;
                *field = way ? *field - 1 : least[i];
                if (holds(&tried, now)) continue;
                *e = tried;
                strcpy(said, now);
                smaller = true;
            }
    }
}

TEST(exchanges_keep_what_they_promise) {
    const char *asked = getenv("PACE_CASES");
    int cases = asked ? atoi(asked) : 1000;
    for (int i = 0; i < cases; i++) {
        example e = drawn();
        char said[SAID], text[200];
        if (holds(&e, said)) continue;
        shrink(&e, said);
        machine_text(text, &e);
        fail_msg("%s by %s on \"%s\", %d fewer ranks, %d jobs, %g bytes: %s", pace_collective_rows[e.collective].name,
                 pace_exchange_algorithms[e.row].name, text, e.fewer, e.jobs, sizes[e.size], said);
    }
}

/* All-reduces on wires alone, in a number of pieces, one rank slower than the others: each byte of its vector leaves
 * it, in a sum or as a result, before another rank can end. */
static void slow_rank_holds_up_all(const char *name, uint32_t ranks, uint32_t group, uint32_t segments, uint32_t slow) {
    static const pace_wire wires[2] = {{.latency_ns = 1, .ns_per_byte = 1}, {.latency_ns = 2, .ns_per_byte = 1}};
    const double S = 1 << 16, times = 50;
    double slowness[MOST_RANKS], end_ns[MOST_RANKS];
    pace_program program;
    pace_flows_result result;
    pace_program_question q = {.ranks = ranks, .bytes = S, .group = group, .segments = segments};
    if (pace_program_build(&program, "allreduce", name, &q) != PACE_OK) return; /* not on so many ranks */
    for (uint32_t i = 0; i < ranks; i++) slowness[i] = i == slow ? times : 1;
    pace_flows_question asked = {.program = &program, .wires = wires, .wire_count = 2, .slowness = slowness};
    assert_int_equal(pace_flows_run(&result, &asked, end_ns), PACE_OK);
    for (uint32_t i = 0; i < ranks; i++)
        if (i != slow && end_ns[i] < S * times * (1 - 1e-9))
            fail_msg("%s on %u ranks in groups of %u, %u pieces: rank %u ends at %g ns, rank %u gives until %g ns",
                     name, ranks, group, segments, i, end_ns[i], slow, S * times);
    pace_program_free(&program);
}

TEST(nobody_ends_before_the_slowest_gave) {
    static const uint32_t groups[] = {1, 4}, pieces[] = {1, 2, 5}, all[] = {2, 4, 8, 12, 16, 24};
    for (size_t row = 0; row < pace_exchange_algorithm_count; row++) {
        const pace_exchange_algorithm *a = &pace_exchange_algorithms[row];
        if (!(a->collectives >> PACE_ALLREDUCE & 1) || a->in_switch) continue;
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            for (size_t g = 0; g < 2 && all[i] % groups[g] == 0; g++)
                for (size_t k = 0; k < 3; k++)
                    for (uint32_t slow = 0; slow < all[i]; slow++)
                        slow_rank_holds_up_all(a->name, all[i], groups[g], pieces[k], slow);
    }
}

int main(void) { return run_tests_of_file(NULL, NULL); }
