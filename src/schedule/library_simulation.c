#include "schedule/library_simulation.h"

#include <math.h>

/* Whose program stands for what NCCL does. Of an all-to-all whole nodes exchange with whole nodes, place by place.
 * Trees of switches have none: devices of a node are a chain instead. */
static const char *program_of(const pace_exchange_way *way, pace_collective collective, uint32_t nodes) {
    if (collective == PACE_SENDRECV) return "message";
    if (collective == PACE_ALLTOALL) return nodes > 1 ? "pairwise" : "direct";
    if (collective == PACE_BROADCAST || collective == PACE_REDUCE) return "chain";
    switch (way->algorithm) {
    case PACE_NCCL_TREE:
    case PACE_NCCL_NVLSTREE: return "double_tree";
    case PACE_NCCL_NVLS: return "multicast";
    case PACE_NCCL_PAT: return collective == PACE_ALLGATHER ? "bruck" : "halving";
    default: return "ring";
    }
}

static void scale_links(pace_machine *m, double share) {
    m->inside.bytes_per_s *= share;
    m->between.bytes_per_s *= share;
    m->brick_bytes_per_s *= share;
    m->pcie_bytes_per_s *= share;
    m->host.nic_bytes_per_s *= share;
    for (int v = 0; v < m->host.count; v++) m->host.bytes_per_s[v] *= share;
}

static double closed_form(const pace_machine *m, const pace_simulation *s, int row, double bytes) {
    pace_exchange_terms terms;
    pace_exchange_terms_of(&terms, m, s->question.collective, bytes, (int)s->ranks_of_node, (int)s->nodes_of_job);
    terms.by_nodes = true;
    return pace_exchange_algorithms[row].time_s(&terms);
}

static void scale_latencies(pace_machine *m, double times) {
    m->inside.latency_s *= times;
    m->between.latency_s *= times;
}

/* Hops wait, and links carry, so that the closed form of the row is the library's: its hops one to another as the
 * library has them. How many pieces there are depends on both. Returns what links carry of what they do. */
static double set_links(pace_machine *m, const pace_simulation *s, int row, const pace_exchange_way *way,
                        double bytes) {
    double share = 1;
    m->launch_s = way->launch_s;
    m->inside.latency_s = way->near_s;
    m->between.latency_s = way->far_s;
    m->network.hop_s = 0; /* the library counts none */
    double waits = closed_form(m, s, row, 0);
    scale_latencies(m, waits > 0 ? way->waiting_s / waits : 1);
    for (int turn = 0; turn < 16 && way->moving_s > 0; turn++) {
        double change = (closed_form(m, s, row, bytes) - way->waiting_s) / way->moving_s;
        if (!(change > 0) || !isfinite(change) || fabs(change - 1) < 1e-12) break;
        scale_links(m, change);
        share *= change;
    }
    return share;
}

static int find_row(const pace_exchange_way *way, const pace_simulation *s, double bytes) {
    pace_exchange_terms terms;
    int row = pace_exchange_algorithm_find(program_of(way, s->question.collective, s->nodes_of_job));
    pace_exchange_terms_of(&terms, s->machine, s->question.collective, bytes, (int)s->ranks_of_node,
                           (int)s->nodes_of_job);
    return pace_exchange_algorithm_applies(row, &terms) ? row : pace_exchange_algorithm_find("ring");
}

/* Traffic of others has its share of links that carry less. */
static pace_status scaled_background(pace_background **out, const pace_simulation *s, double share) {
    size_t count = s->question.background_count;
    pace_background *flows = pace_alloc(count + 1, sizeof *flows);
    if (!flows) return PACE_E_MEMORY;
    for (size_t i = 0; i < count; i++) {
        flows[i] = s->question.background[i];
        flows[i].bytes_per_s *= share;
    }
    *out = flows;
    return PACE_OK;
}

pace_status pace_library_simulation_run(pace_simulation_answer *out, pace_library_run *run, const pace_simulation *s,
                                        const pace_exchange *library, double bytes, pace_flow_log *log) {
    const pace_exchange_question asked = {
        s->question.collective, bytes, (int)s->ranks_of_node, (int)s->nodes_of_job, PACE_ANY, PACE_ANY, 0};
    pace_machine machine = *s->machine;
    pace_simulation_question question = s->question;
    pace_background *background;
    pace_simulation own;
    pace_library_run chosen = {.algorithm = ""};
    if (!s->nodes_of_job)
        return pace_fail(PACE_E_USAGE,
                         "%u ranks do not divide into nodes of %d: expected " PACE_FIELD "algorithm ring, or another",
                         s->ranks_of_job, machine.devices);
    PACE_TRY(pace_exchange_way_find(&chosen.way, library, &asked));
    chosen.algorithm = pace_nccl_algorithm_names[chosen.way.algorithm];
    chosen.protocol = pace_nccl_protocol_names[chosen.way.protocol];
    question.algorithm = find_row(&chosen.way, s, bytes);
    double share = set_links(&machine, s, question.algorithm, &chosen.way, bytes);
    PACE_TRY(scaled_background(&background, s, share));
    question.background = background;
    pace_status status = pace_simulation_open(&own, &machine, &question);
    if (status == PACE_OK) {
        own.by_nodes = true;
        status = pace_simulation_run(out, &own, bytes, log);
        pace_simulation_close(&own);
    }
    pace_free(background);
    if (status != PACE_OK) return status;
    out->closed_s = chosen.way.time_s;
    *run = chosen;
    return PACE_OK;
}
