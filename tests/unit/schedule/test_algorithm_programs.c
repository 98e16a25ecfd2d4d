/* Every row of the table of algorithms that has a closed form and a program: the simulation takes the same time where
 * the row says it is exact, stays above what ports allow elsewhere, and moves the bytes it must. */
#include "exchange/algorithms.h"
#include "exchange/program_by_name.h"
#include "schedule/flows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_of_tests.h"

#define OK(expression)                                               \
    do {                                                             \
        if ((expression) != PACE_OK) fail_msg("%s", pace_message()); \
    } while (0)

/* ns, ns per byte; per byte reduced. */
static const double alpha = 700, beta = 0.02, far_alpha = 4000, far_beta = 0.11;

typedef struct {
    pace_exchange_terms terms;
    const pace_exchange_algorithm *row;
    double gamma;
} asked;

static pace_exchange_terms terms_of(pace_collective collective, double bytes, int of_node, int nodes, double gamma) {
    pace_message_model near = pace_message_hockney(alpha * 1e-9, beta * 1e-9);
    pace_message_model far = pace_message_hockney(far_alpha * 1e-9, far_beta * 1e-9);
    return (pace_exchange_terms){.collective = collective,
                                 .bytes = bytes,
                                 .ranks = of_node * nodes,
                                 .ranks_per_node = of_node,
                                 .nodes = nodes,
                                 .inside = near,
                                 .ring = {.near = near},
                                 .across = far,
                                 .across_one = far,
                                 .reduce_s_per_byte = gamma * 1e-9,
                                 .multicast_s_per_byte = beta * 1e-9,
                                 .multicast_alpha_s = 3 * alpha * 1e-9};
}

/* A switch that adds is a rank whose port is as wide as all others together, half a way off. */
static pace_flows_result simulate(const asked *a, bool unfolded) {
    const pace_exchange_terms *t = &a->terms;
    pace_program program;
    pace_flows_result result;
    pace_fabric fabric;
    double *slowness = calloc((size_t)t->ranks + 1, sizeof *slowness);
    uint32_t ranks = (uint32_t)t->ranks;
    pace_program_question sizes = {.ranks = ranks, .bytes = t->bytes, .group = (uint32_t)t->ranks_per_node};
    if (a->row->segments) sizes.segments = (uint32_t)a->row->segments(t);
    for (uint32_t r = 0; r < ranks; r++) slowness[r] = 1;
    slowness[ranks] = 1.0 / (4 * ranks);
    OK(pace_program_build(&program, pace_collective_rows[t->collective].name, a->row->name, &sizes));
    pace_wire wires[2] = {{.latency_ns = alpha, .ns_per_byte = beta},
                          {.latency_ns = far_alpha, .ns_per_byte = far_beta}};
    pace_flows_question q = {
        .program = &program, .wires = wires, .wire_count = 2, .reduce_ns_per_byte = a->gamma, .unfolded = unfolded};
    if (a->row->in_switch) {
        wires[0] = (pace_wire){.latency_ns = alpha / 2};
        OK(pace_fabric_switch(&fabric, ranks + 1, 1e9 / beta, slowness));
        q.fabric = &fabric;
    }
    OK(pace_flows_run(&result, &q, NULL));
    if (a->row->in_switch) {
        /* (n + 1)/n of the vector through every port, either way: no link carries more than it can */
        assert_true(result.busiest_share > 0 && result.busiest_share <= 1 + 1e-9);
        pace_fabric_free(&fabric);
    }
    pace_program_free(&program);
    free(slowness);
    return result;
}

/* What every algorithm must take: bytes through one port, and a latency. */
static double bound_ns(const asked *a) {
    double n = a->terms.ranks, S = a->terms.bytes, share = (n - 1) / n * S;
    switch (a->terms.collective) {
    case PACE_ALLREDUCE: return alpha + (a->row->in_switch ? (n + 1) / n * S : 2 * share) * beta;
    case PACE_BROADCAST:
    case PACE_REDUCE:
    case PACE_SENDRECV: return alpha + S * beta;
    default: return alpha + share * beta;
    }
}

static void check(asked *a, int *exact, int *bounded) {
    double found = simulate(a, false).end_ns, whole = simulate(a, true).end_ns;
    const pace_exchange_terms *t = &a->terms;
    if (fabs(found - whole) > 1e-9 * whole)
        fail_msg("%s %s, %d ranks: folded %.15g, whole %.15g", pace_collective_rows[t->collective].name, a->row->name,
                 t->ranks, found, whole);
    if (found < bound_ns(a) * (1 - 1e-12))
        fail_msg("%s %s, %d ranks: %.15g ns is faster than a port", pace_collective_rows[t->collective].name,
                 a->row->name, t->ranks, found);
    ++*bounded;
    if (!a->row->exact || !a->row->exact(t)) return;
    double expected = a->row->time_s(t) * 1e9;
    if (fabs(found - expected) > 1e-9 * expected)
        fail_msg("%s %s, %d ranks in %d nodes, %g bytes, gamma %g: simulated %.15g, closed form %.15g",
                 pace_collective_rows[t->collective].name, a->row->name, t->ranks, t->nodes, t->bytes, a->gamma, found,
                 expected);
    ++*exact;
}

static void check_shapes(int of_node, int nodes, int *exact, int *bounded, int seen[32]) {
    static const double sizes[] = {48, 3e6, 1073741824};
    for (size_t row = 0; row < pace_exchange_algorithm_count; row++)
        for (int c = 0; c < PACE_COLLECTIVES; c++)
            for (int k = 0; k < 6; k++) {
                double gamma = k % 2 ? 0.003 : 0;
                asked a = {terms_of((pace_collective)c, sizes[k / 2], of_node, nodes, gamma),
                           &pace_exchange_algorithms[row], gamma};
                if (a.terms.ranks < 2 || !pace_exchange_algorithm_applies((int)row, &a.terms)) continue;
                assert_non_null(a.row->program);
                if (a.row->segments && a.row->segments(&a.terms) > 200) continue; /* takes seconds */
                int before = *exact;
                check(&a, exact, bounded);
                seen[row] += *exact - before;
            }
}

TEST(the_table_agrees_with_its_programs) {
    int exact = 0, bounded = 0, seen[32] = {0};
    for (int n = 2; n <= 20; n++) check_shapes(n, 1, &exact, &bounded, seen);
    check_shapes(32, 1, &exact, &bounded, seen);
    check_shapes(64, 1, &exact, &bounded, seen);
    for (size_t row = 0; row < pace_exchange_algorithm_count; row++) {
        const pace_exchange_algorithm *a = &pace_exchange_algorithms[row];
        bool two_levels = !strcmp(a->name, "rails") || !strcmp(a->name, "leaders");
        if (a->exact && !two_levels && !seen[row]) fail_msg("%s was never compared", a->name);
    }
    assert_true(exact > 1000 && bounded > exact);
}

/* Inside a node and across, each with its own wire; here every rank has a NIC. */
TEST(two_levels_agree_with_their_programs) {
    static const int shapes[][2] = {{2, 2}, {4, 3}, {8, 5}, {3, 7}, {8, 16}, {16, 2}};
    int exact = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int row = 0; row < (int)pace_exchange_algorithm_count; row++)
            for (int c = 0; c < PACE_COLLECTIVES; c++) {
                const pace_exchange_algorithm *a = &pace_exchange_algorithms[row];
                asked q = {terms_of((pace_collective)c, 7e6, shapes[i][0], shapes[i][1], 0.003), a, 0.003};
                if (!pace_exchange_algorithm_applies(row, &q.terms) || !a->exact || !a->exact(&q.terms)) continue;
                double found = simulate(&q, false).end_ns, expected = a->time_s(&q.terms) * 1e9;
                if (fabs(found - expected) > 1e-9 * expected)
                    fail_msg("%s, %d ranks in %d nodes: simulated %.15g, closed form %.15g", a->name, q.terms.ranks,
                             q.terms.nodes, found, expected);
                exact++;
            }
    assert_true(exact >= 20);
}

/* Double trees over nodes: a chain of g devices up and down, and a tree of N nodes up and down. Nothing is sent twice:
 * of n ranks' vectors each leaves its rank once on the way up, each result once on the way down. */
TEST(double_trees_take_a_chain_and_a_tree) {
    static const int shapes[][2] = {{2, 2}, {4, 3}, {8, 5}, {3, 7}, {8, 16}, {16, 2}, {1, 9}, {72, 2}};
    static const int depth[] = {1, 2, 3, 3, 4, 1, 4, 1};
    int row = pace_exchange_algorithm_find("double_tree");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        int g = shapes[i][0], nodes = shapes[i][1];
        asked q = {terms_of(PACE_ALLREDUCE, 0, g, nodes, 0), &pace_exchange_algorithms[row], 0};
        double expected = 2 * (g - 1) * alpha + 2 * depth[i] * far_alpha;
        assert_true(fabs(simulate(&q, false).end_ns - expected) < 1e-6);
        assert_true(fabs(q.row->time_s(&q.terms) * 1e9 - expected) < 1e-6);
        q.terms.bytes = 5e5;
        pace_flows_result folded = simulate(&q, false), whole = simulate(&q, true);
        assert_true(fabs(folded.end_ns - whole.end_ns) < 1e-9 * whole.end_ns);
        assert_true(fabs(whole.bytes - 2 * (g * nodes - 1) * q.terms.bytes) < 1);
    }
}

/* Jobs side by side, each alone on its ranks: none slows another. */
TEST(jobs_on_ranks_of_their_own_do_not_meet) {
    static const struct {
        const char *name;
        uint32_t ranks;
    } of[] = {{"ring", 16},         {"rabenseifner", 16},       {"torus", 16},  {"knomial", 16},    {"double_tree", 16},
              {"rabenseifner", 12}, {"recursive_doubling", 13}, {"knomial", 7}, {"double_tree", 11}};
    const pace_wire wire = {.latency_ns = alpha, .ns_per_byte = beta};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        uint32_t n = of[i].ranks;
        pace_program program;
        pace_fabric fabric;
        pace_flows_result one, three;
        pace_flows_question q = {.program = &program, .wires = &wire, .wire_count = 1, .fabric = &fabric};
        OK(pace_program_build(&program, "allreduce", of[i].name, &(pace_program_question){.ranks = n, .bytes = 1e6}));
        OK(pace_fabric_switch(&fabric, n, 1e9 / beta, NULL));
        OK(pace_flows_run(&one, &q, NULL));
        pace_fabric_free(&fabric);
        OK(pace_program_repeat(&program, 3));
        OK(pace_fabric_switch(&fabric, 3 * n, 1e9 / beta, NULL));
        OK(pace_flows_run(&three, &q, NULL));
        pace_fabric_free(&fabric);
        assert_true(fabs(three.end_ns - one.end_ns) <= 1e-9 * one.end_ns);
        assert_true(three.messages == 3 * one.messages && three.simulated_ranks == one.simulated_ranks);
        pace_program_free(&program);
    }
}

int main(void) { return run_tests_of_file(NULL, NULL); }
