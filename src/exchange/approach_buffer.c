#include "exchange/approach_buffer.h"
#include "base/numbers.h"
#include "exchange/algorithms.h"
#include "exchange/device_store.h"
#include "exchange/server_lanes.h"

#include <math.h>

typedef struct {
    const pace_approach *approach;
    const pace_exchange *exchange;
    int ranks_per_node, nodes;
    double copy_rate;
} question;

static pace_status question_of(question *out, const pace_approach *approach, const pace_exchange *exchange,
                               const pace_approach_setup *setup) {
    const pace_machine *m = &exchange->machine;
    *out = (question){approach, exchange, setup->ranks_per_node ? setup->ranks_per_node : m->devices,
                      setup->nodes ? setup->nodes : m->nodes, setup->copy_rate};
    if (!(setup->copy_rate > 0)) return pace_fail(PACE_E_USAGE, "expected a rate of copies above 0");
    bool nccl = exchange->library == PACE_LIBRARY_NCCL, any = approach->nccl && !*approach->line;
    if (approach->family != PACE_APPROACH_SERVER && !any && approach->nccl != nccl)
        return pace_fail(PACE_E_USAGE, "%s exchanges with %s: expected that library", approach->name,
                         approach->nccl ? "NCCL" : "MPI, the textbook's algorithms");
    return PACE_OK;
}

static pace_status collective_s(double *out_s, const question *q, pace_collective collective, double bytes) {
    pace_exchange_question asked = {collective, bytes, q->ranks_per_node, q->nodes, PACE_ANY, PACE_ANY, 0};
    pace_estimate s;
    PACE_TRY(pace_exchange_time(&s, q->exchange, &asked));
    *out_s = s.median;
    return PACE_OK;
}

int pace_approach_algorithm(const pace_approach *approach) {
    return approach->nccl ? PACE_ANY : approach->mpi.algorithm;
}

/* Measured all-reduces hold what the library does around its messages. */
static bool was_measured(double *out_s, const question *q, double bytes) {
    pace_exchange_measured *measured = q->exchange->measured;
    const pace_exchange_question asked = {
        PACE_ALLREDUCE, bytes, q->ranks_per_node, q->nodes, q->approach->mpi.algorithm, PACE_ANY, 0};
    pace_estimate s;
    if (!measured || measured->time(&s, measured, q->exchange, &asked) != PACE_OK) return false;
    *out_s = s.median;
    return true;
}

/* NCCL adds on the devices, while it sends. */
static pace_status reduced(pace_approach_parts *out, const question *q, double bytes) {
    const pace_approach *a = q->approach;
    pace_mpi_allreduce mpi;
    if (a->nccl) PACE_TRY(collective_s(&out->messages_s, q, PACE_ALLREDUCE, bytes));
    else if (!was_measured(&out->messages_s, q, bytes)) {
        PACE_TRY(pace_mpi_allreduce_find(&mpi, &a->mpi, q->exchange, q->ranks_per_node, q->nodes, bytes, q->copy_rate));
        *out = (pace_approach_parts){.messages_s = mpi.messages_s,
                                     .adding_s = mpi.adding_s,
                                     .staging_s = mpi.staging_s,
                                     .queries_s = mpi.queries_s,
                                     .algorithm = pace_exchange_algorithms[mpi.algorithm].name};
    }
    out->staging_s += a->copies * bytes / q->copy_rate;
    return PACE_OK;
}

double pace_byteps_s(double bytes, int hosts, int spare, double rate) {
    double n = hosts, k = spare > hosts ? hosts : spare; /* more spare hosts than hosts add nothing */
    if (hosts < 2) return 0;
    return 2 * n * (n - 1) * bytes / ((n * n + k * n - 2 * k) * rate);
}

/* Inside a node NCCL scatters and gathers; each device then exchanges its part over the node's NICs. */
static pace_status byteps(pace_approach_parts *out, const question *q, double bytes) {
    const pace_machine *m = &q->exchange->machine;
    double inside = 0, scatter, gather;
    if (q->ranks_per_node > 1) {
        question node = *q;
        node.nodes = 1;
        PACE_TRY(collective_s(&scatter, &node, PACE_REDUCESCATTER, bytes));
        PACE_TRY(collective_s(&gather, &node, PACE_ALLGATHER, bytes));
        inside = scatter + gather;
    }
    double across = q->nodes > 1 ? pace_byteps_s(bytes, q->nodes, (int)q->approach->spare, pace_machine_node_rate(m)) +
                                       4 * m->between.latency_s
                                 : 0;
    out->messages_s = inside + across;
    out->staging_s = q->approach->copies * bytes / q->copy_rate;
    return PACE_OK;
}

/* One tensor alone would use few links and threads: it takes them as long as parts of it would, one for each device. */
static pace_status device_s(double *out_s, const question *q, double bytes) {
    double part[PACE_MESH_MOST];
    pace_gradients even = {part, (size_t)q->ranks_per_node};
    pace_approach each = *q->approach;
    pace_approach_setup setup = {q->ranks_per_node, q->nodes, q->copy_rate, 0, 0};
    for (int i = 0; i < q->ranks_per_node && i < PACE_MESH_MOST; i++) part[i] = bytes / q->ranks_per_node;
    each.copy_s /= q->ranks_per_node;
    return pace_approach_device_s(out_s, NULL, &each, &q->exchange->machine, &setup, &even, NULL);
}

/* One launch of many collectives, which run one after another, each once around the ring at the least. */
static pace_status rooted_s(double *out_s, const question *q, double bytes, double tensors) {
    const pace_machine *m = &q->exchange->machine;
    double reduce, broadcast, launch = m->launch_s;
    double least = (q->ranks_per_node - 1) * m->inside.latency_s + (q->nodes - 1) * m->between.latency_s;
    PACE_TRY(collective_s(&reduce, q, PACE_REDUCE, bytes / tensors));
    PACE_TRY(collective_s(&broadcast, q, PACE_BROADCAST, bytes / tensors));
    *out_s = 2 * launch + tensors * (fmax(reduce - launch, least) + fmax(broadcast - launch, least));
    return PACE_OK;
}

static pace_status find_parts(pace_approach_parts *out, const question *q, double bytes, double tensors) {
    const pace_approach *a = q->approach;
    double ranks = (double)q->ranks_per_node * q->nodes;
    *out = (pace_approach_parts){.algorithm = ""};
    if (ranks < 2) return PACE_OK;
    if (a->family == PACE_APPROACH_BYTEPS) PACE_TRY(byteps(out, q, bytes));
    else if (a->family == PACE_APPROACH_DEVICE) PACE_TRY(device_s(&out->messages_s, q, bytes));
    else if (a->rooted > 0) PACE_TRY(rooted_s(&out->messages_s, q, bytes, tensors));
    else PACE_TRY(reduced(out, q, bytes));
    out->coordinator_s = a->control_s + a->negotiate_s * tensors * ranks;
    return PACE_OK;
}

pace_status pace_approach_buffer_s(double *out_s, const pace_approach *approach, const pace_exchange *exchange,
                                   const pace_approach_setup *setup, double bytes, double tensors) {
    question q;
    pace_approach_parts parts;
    PACE_TRY(question_of(&q, approach, exchange, setup));
    if (approach->family == PACE_APPROACH_SERVER)
        return pace_fail(PACE_E_USAGE, "%s has servers, no buffers", approach->name);
    PACE_TRY(find_parts(&parts, &q, bytes, tensors));
    *out_s = (pace_approach_exchange_s(&parts) + parts.coordinator_s) * (setup->slowness > 0 ? setup->slowness : 1);
    return PACE_OK;
}

/* A tensor alone is staged, sent and handled by its server in turn, there and back: nothing is behind it. */
static pace_status one_tensor(pace_approach_parts *out, const question *q, const pace_approach_setup *setup,
                              double bytes) {
    pace_gradients one = {&bytes, 1};
    pace_server_lanes lanes;
    double link_s = 0;
    if (q->ranks_per_node * q->nodes < 2) return PACE_OK;
    PACE_TRY(pace_server_lanes_make(&lanes, q->approach, &q->exchange->machine, &one, setup));
    size_t worker = lanes.servers, staging = worker + 1;
    for (size_t lane = 0; lane <= worker; lane++) link_s = pace_most(link_s, lanes.work_s[lane]);
    out->messages_s = 2 * link_s;
    out->staging_s = 2 * lanes.work_s[staging];
    out->control_s = 2 * q->approach->control_s;
    pace_server_lanes_free(&lanes);
    return PACE_OK;
}

static const char *nccls_algorithm(const question *q, double bytes) {
    pace_exchange_question asked = {PACE_ALLREDUCE, bytes, q->ranks_per_node, q->nodes, PACE_ANY, PACE_ANY, 0};
    int algorithm, protocol;
    bool chosen = pace_exchange_choice(&algorithm, &protocol, q->exchange, &asked);
    return chosen ? pace_nccl_algorithm_names[algorithm] : "";
}

pace_status pace_approach_parts_find(pace_approach_parts *out, const pace_approach *approach,
                                     const pace_exchange *exchange, const pace_approach_setup *setup, double bytes,
                                     double tensors) {
    question q;
    pace_approach_parts parts = {.algorithm = ""};
    PACE_TRY(question_of(&q, approach, exchange, setup));
    if (approach->family == PACE_APPROACH_SERVER) PACE_TRY(one_tensor(&parts, &q, setup, bytes));
    else PACE_TRY(find_parts(&parts, &q, bytes, tensors));
    bool by_nccl = approach->nccl && approach->family == PACE_APPROACH_ALLREDUCE && approach->rooted <= 0;
    if (by_nccl) parts.algorithm = nccls_algorithm(&q, bytes);
    *out = parts;
    return PACE_OK;
}

pace_status pace_approach_rows_s(double *out_s, pace_collective collective, const pace_exchange *exchange,
                                 const pace_approach_setup *setup, double touched_bytes) {
    const pace_machine *m = &exchange->machine;
    int near = setup->ranks_per_node ? setup->ranks_per_node : m->devices,
        nodes = setup->nodes ? setup->nodes : m->nodes;
    pace_exchange_question asked = {collective, touched_bytes * near * nodes, near, nodes, PACE_ANY, PACE_ANY, 0};
    pace_estimate s;
    PACE_TRY(pace_exchange_time(&s, exchange, &asked));
    *out_s = s.median * (setup->slowness > 0 ? setup->slowness : 1);
    return PACE_OK;
}
