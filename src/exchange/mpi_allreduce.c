#include "exchange/mpi_allreduce.h"
#include "exchange/algorithms.h"

#include <math.h>
#include <string.h>

const char *const pace_adds_place_names[PACE_ADDS_PLACES] = {
    [PACE_ADDS_FASTER] = "auto", [PACE_ADDS_DEVICE] = "device", [PACE_ADDS_HOST] = "host"};

typedef struct {
    const pace_mpi *mpi;
    const pace_exchange *exchange;
    int ranks_per_node, nodes;
    double bytes, copy_rate;
} question;

static double levels(int ranks) { return ceil(log2(ranks)); }

/* How often an algorithm adds, one addition after another, and how many times the vector all of them together. */
typedef struct {
    const char *name;
    double (*times)(int ranks_per_node, int nodes);
    double (*vectors)(int ranks_per_node, int nodes);
} additions;

static double at_each_level(int near, int nodes) { return levels(near * nodes); }
static double around_the_ring(int near, int nodes) { return near * nodes - 1; }
static double in_both_rings(int near, int nodes) { return near - 1 + nodes - 1; }
static double to_leaders(int near, int nodes) { return levels(near) + nodes - 1; }
static double all_but_its_own(int near, int nodes) { return 1 - 1.0 / ((double)near * nodes); }
static double leaders_vectors(int near, int nodes) { return levels(near) + 1 - 1.0 / nodes; }

/* What MPI's libraries choose from (coll/tuned, MPICH, MVAPICH2). */
static const additions known[] = {
    {"recursive_doubling", at_each_level, at_each_level},
    {"rabenseifner", at_each_level, all_but_its_own},
    {"ring", around_the_ring, all_but_its_own},
    {"rails", in_both_rings, all_but_its_own},
    {"leaders", to_leaders, leaders_vectors},
};

static const additions *additions_of(int row) {
    static const additions usual = {"", at_each_level, all_but_its_own};
    for (size_t i = 0; i < PACE_COUNT(known); i++)
        if (strcmp(known[i].name, pace_exchange_algorithms[row].name) == 0) return &known[i];
    return &usual;
}

static double queries_s(const question *q) {
    const pace_mpi *mpi = q->mpi;
    double messages = 2 * levels(q->ranks_per_node * q->nodes);
    return mpi->query_s * (mpi->entry_queries + mpi->message_queries * messages);
}

/* The library's call and launch of the closed form is no kernel's: a host calls. */
static pace_status solve(pace_mpi_allreduce *out, const question *q, int row, bool on_host) {
    const pace_mpi *mpi = q->mpi;
    const additions *adds = additions_of(row);
    pace_exchange_question asked = {.collective = PACE_ALLREDUCE,
                                    .bytes = q->bytes,
                                    .ranks_per_node = q->ranks_per_node,
                                    .nodes = q->nodes,
                                    .algorithm = row,
                                    .protocol = PACE_ANY};
    pace_estimate s;
    PACE_TRY(pace_exchange_time(&s, q->exchange, &asked));
    double times = adds->times(q->ranks_per_node, q->nodes), vectors = adds->vectors(q->ranks_per_node, q->nodes);
    *out = (pace_mpi_allreduce){.messages_s = s.median - q->exchange->machine.launch_s,
                                .adding_s =
                                    on_host ? vectors * q->bytes * mpi->host_add_s_per_byte : times * mpi->device_add_s,
                                .staging_s = on_host ? 2 * (mpi->stage_s + q->bytes / q->copy_rate) : 0,
                                .queries_s = queries_s(q),
                                .algorithm = row,
                                .on_host = on_host};
    return PACE_OK;
}

static bool is_possible(const question *q, int row) {
    pace_exchange_terms terms;
    pace_exchange_terms_of(&terms, &q->exchange->machine, PACE_ALLREDUCE, q->bytes, q->ranks_per_node, q->nodes);
    return pace_exchange_algorithm_applies(row, &terms);
}

static pace_status take_faster(pace_mpi_allreduce *best, bool *found, const question *q, int row, bool on_host) {
    pace_mpi_allreduce one;
    PACE_TRY(solve(&one, q, row, on_host));
    if (!*found || pace_mpi_allreduce_s(&one) < pace_mpi_allreduce_s(best)) *best = one;
    *found = true;
    return PACE_OK;
}

static pace_status try_row(pace_mpi_allreduce *best, bool *found, const question *q, int row) {
    if (q->mpi->adds != PACE_ADDS_HOST) PACE_TRY(take_faster(best, found, q, row, false));
    if (q->mpi->adds != PACE_ADDS_DEVICE) PACE_TRY(take_faster(best, found, q, row, true));
    return PACE_OK;
}

pace_status pace_mpi_allreduce_find(pace_mpi_allreduce *out, const pace_mpi *mpi, const pace_exchange *exchange,
                                    int ranks_per_node, int nodes, double bytes, double copy_rate) {
    question q = {mpi, exchange, ranks_per_node, nodes, bytes, copy_rate};
    pace_mpi_allreduce best = {0};
    bool found = false;
    if (mpi->algorithm >= 0) PACE_TRY(try_row(&best, &found, &q, mpi->algorithm));
    for (size_t i = 0; mpi->algorithm < 0 && i < PACE_COUNT(known); i++) {
        int row = pace_exchange_algorithm_find(known[i].name);
        if (row >= 0 && is_possible(&q, row)) PACE_TRY(try_row(&best, &found, &q, row));
    }
    if (!found) return pace_fail(PACE_E_USAGE, "%s: no algorithm of MPI's can do this", exchange->machine.name);
    *out = best;
    return PACE_OK;
}
