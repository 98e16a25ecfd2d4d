/* The simulation of messages against closed forms (Hockney, LogGP; Thakur, Rabenseifner, Gropp 2005), lower bounds, and
 * itself with every rank simulated. */
#include "exchange/algorithms.h"
#include "exchange/program_by_name.h"
#include "schedule/flows.h"
#include "schedule/flows_lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_of_tests.h"

#define OK(expression) assert_int_equal((expression), PACE_OK)

/* Hockney: alpha ns, beta ns/byte; gamma ns/byte reduced. */
static const double alpha = 700, beta = 0.02, gam = 0.003;

static double ceil_lg(uint32_t n) {
    double lg = 0;
    for (uint32_t p = 1; p < n; p *= 2) lg++;
    return lg;
}

static pace_flows_result simulate(const char *collective, const char *algorithm, uint32_t n, double bytes,
                                  uint32_t group, uint32_t segments, bool unfolded) {
    pace_program program;
    OK(pace_program_build(&program, collective, algorithm,
                          &(pace_program_question){.ranks = n, .bytes = bytes, .group = group, .segments = segments}));
    pace_wire wires[2] = {{.latency_ns = alpha, .ns_per_byte = beta},
                          {.latency_ns = 3 * alpha, .ns_per_byte = 5 * beta}};
    pace_flows_result result;
    OK(pace_flows_run(&result,
                      &(pace_flows_question){.program = &program,
                                             .wires = wires,
                                             .wire_count = 2,
                                             .reduce_ns_per_byte = gam,
                                             .unfolded = unfolded},
                      NULL));
    pace_program_free(&program);
    return result;
}

static void assert_near(double found, double expected) {
    if (fabs(found - expected) > 1e-9 * expected) fail_msg("expected %.15g, found %.15g", expected, found);
}

/* Both ways, folded and not. */
static void assert_time(const char *collective, const char *algorithm, uint32_t n, double bytes, double expected) {
    assert_near(simulate(collective, algorithm, n, bytes, 0, 0, false).end_ns, expected);
    assert_near(simulate(collective, algorithm, n, bytes, 0, 0, true).end_ns, expected);
}

TEST(rings_take_what_the_closed_form_says) {
    const uint32_t ranks[] = {2, 3, 8, 13, 64};
    const double sizes[] = {8, 1e6, 1073741824};
    for (size_t i = 0; i < 5; i++)
        for (size_t k = 0; k < 3; k++) {
            double n = ranks[i], S = sizes[k], share = (n - 1) / n * S;
            assert_time("allreduce", "ring", ranks[i], S, 2 * (n - 1) * alpha + 2 * share * beta + share * gam);
            assert_time("reducescatter", "ring", ranks[i], S, (n - 1) * alpha + share * (beta + gam));
            assert_time("allgather", "ring", ranks[i], S, (n - 1) * alpha + share * beta);
            assert_time("alltoall", "pairwise", ranks[i], S, (n - 1) * alpha + share * beta);
            assert_time("alltoall", "direct", ranks[i], S, alpha + share * beta);
        }
}

TEST(hypercubes_take_what_the_closed_form_says) {
    for (uint32_t ranks = 2; ranks <= 256; ranks *= 2) {
        double n = ranks, lg = ceil_lg(ranks), S = 1e6, share = (n - 1) / n * S;
        assert_time("allreduce", "recursive_doubling", ranks, S, lg * (alpha + S * (beta + gam)));
        assert_time("allreduce", "rabenseifner", ranks, S, 2 * lg * alpha + 2 * share * beta + share * gam);
        assert_time("reducescatter", "halving", ranks, S, lg * alpha + share * (beta + gam));
        assert_time("allgather", "recursive_doubling", ranks, S, lg * alpha + share * beta);
    }
}

TEST(a_number_between_powers_of_two_folds_in_and_out) {
    const uint32_t ranks[] = {3, 5, 6, 7, 12, 100};
    for (size_t i = 0; i < 6; i++) {
        double lg = ceil_lg(ranks[i]) - 1, S = 4e5;
        /* The closed form has all ranks in step; those without a partner above are ahead. A rank with one takes in
         * lg + 1 vectors before it gives one out. */
        double most = lg * (alpha + S * (beta + gam)) + 2 * alpha + 2 * S * beta + S * gam;
        double least = (lg + 2) * S * beta + 2 * alpha;
        double found = simulate("allreduce", "recursive_doubling", ranks[i], S, 0, 0, true).end_ns;
        assert_true(found <= most * (1 + 1e-12) && found >= least);
        assert_near(simulate("allreduce", "recursive_doubling", ranks[i], S, 0, 0, false).end_ns, found);
    }
}

TEST(trees_take_what_the_closed_form_says) {
    for (uint32_t ranks = 2; ranks <= 512; ranks *= 2) {
        double lg = ceil_lg(ranks), S = 1e5;
        assert_time("broadcast", "binomial", ranks, S, lg * (alpha + S * beta));
        assert_time("reduce", "binomial", ranks, S, lg * (alpha + S * (beta + gam)));
        assert_time("allreduce", "binomial", ranks, S, 2 * lg * (alpha + S * beta) + lg * S * gam);
    }
    /* a chain: every hop a latency and a segment, then the other segments behind */
    double n = 9, S = 1e6, k = 16;
    assert_near(simulate("broadcast", "chain", 9, S, 0, 16, false).end_ns,
                (n - 1) * (alpha + S / k * beta) + (k - 1) * S / k * beta);
}

TEST(two_levels_add_up) {
    const uint32_t shapes[][2] = {{2, 4}, {8, 16}, {16, 3}};
    for (size_t i = 0; i < 3; i++) {
        double G = shapes[i][0], N = shapes[i][1], S = 1e7;
        double inside = 2 * (G - 1) * alpha + (G - 1) / G * S * (2 * beta + gam);
        double across = 2 * (N - 1) * 3 * alpha + (N - 1) / N * S / G * (2 * 5 * beta + gam);
        uint32_t n = shapes[i][0] * shapes[i][1];
        assert_near(simulate("allreduce", "rails", n, S, shapes[i][0], 0, false).end_ns, inside + across);
        assert_near(simulate("allreduce", "rails", n, S, shapes[i][0], 0, true).end_ns, inside + across);
    }
}

/* Each row that has both a closed form and a program: the same time where all ranks are in step. */
TEST(rows_of_the_table_agree_with_their_programs) {
    const char *exact[] = {"ring",    "recursive_doubling", "halving", "rabenseifner", "binomial", "direct", "torus",
                           "pairwise"};
    int compared = 0;
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
        for (int c = 0; c < PACE_COLLECTIVES; c++)
            for (int n = 2; n <= 64; n *= 2) {
                int row = pace_exchange_algorithm_find(exact[i]);
                pace_message_model message = pace_message_hockney(alpha * 1e-9, beta * 1e-9);
                pace_exchange_terms terms = {.collective = (pace_collective)c,
                                             .bytes = 3e6,
                                             .ranks = n,
                                             .ranks_per_node = n,
                                             .nodes = 1,
                                             .inside = message,
                                             .ring = {.near = message},
                                             .reduce_s_per_byte = gam * 1e-9};
                assert_true(row >= 0);
                if (!pace_exchange_algorithm_applies(row, &terms)) continue;
                double found = simulate(pace_collective_rows[c].name, exact[i], (uint32_t)n, 3e6, 0, 0, false).end_ns;
                double expected = pace_exchange_algorithms[row].time_s(&terms) * 1e9;
                if (!strcmp(exact[i], "direct") && c != PACE_ALLGATHER && c != PACE_ALLTOALL)
                    assert_true(found <= expected * (1 + 1e-12)); /* sums overlap with what still comes in */
                else assert_near(found, expected);
                compared++;
            }
    assert_true(compared > 60);
}

TEST(loggp_has_overheads_on_both_sides) {
    double L = 500, o = 10, g = 5, G = 1, n = 64, S = 64 * 1000;
    pace_program program;
    OK(pace_program_build(&program, "allreduce", "ring", &(pace_program_question){.ranks = 64, .bytes = S}));
    pace_wire wire = {L, o, g, G};
    pace_flows_result result;
    OK(pace_flows_run(&result, &(pace_flows_question){.program = &program, .wires = &wire, .wire_count = 1}, NULL));
    /* peers' own schedule of this ring: each of 2 (n - 1) steps L + 2 o + m G */
    assert_near(result.end_ns, 2 * (n - 1) * (L + 2 * o + S / n * G));
    pace_program_free(&program);
}

TEST(nothing_is_faster_than_its_port) {
    const char *algorithms[] = {"ring", "recursive_doubling", "rabenseifner", "binomial", "direct"};
    for (uint32_t n = 2; n <= 40; n++)
        for (size_t i = 0; i < 5; i++) {
            double S = 1e6, bound = 2 * (n - 1.0) / n * S * beta;
            pace_flows_result folded = simulate("allreduce", algorithms[i], n, S, 0, 0, false);
            pace_flows_result whole = simulate("allreduce", algorithms[i], n, S, 0, 0, true);
            assert_true(folded.end_ns >= bound * (1 - 1e-12));
            assert_near(folded.end_ns, whole.end_ns);
            assert_near(folded.bytes, whole.bytes);
            assert_true(folded.messages == whole.messages);
        }
}

TEST(folding_keeps_the_end_of_every_rank) {
    enum { N = 96 };
    pace_program program;
    OK(pace_program_build(&program, "allreduce", "ring", &(pace_program_question){.ranks = N, .bytes = 1e6}));
    pace_wire wire = {.latency_ns = alpha, .ns_per_byte = beta};
    double slowness[N], start[N], folded[N], whole[N];
    for (int i = 0; i < N; i++) {
        slowness[i] = i % 12 == 5 ? 2 : 1;
        start[i] = i % 6 == 1 ? 12345 : 0;
    }
    pace_flows_question q = {
        .program = &program, .wires = &wire, .wire_count = 1, .slowness = slowness, .start_ns = start};
    pace_flows_result few, all;
    OK(pace_flows_run(&few, &q, folded));
    q.unfolded = true;
    OK(pace_flows_run(&all, &q, whole));
    assert_int_equal(few.simulated_ranks, 12);
    assert_int_equal(all.simulated_ranks, N);
    for (int i = 0; i < N; i++) assert_near(folded[i], whole[i]);
    /* a ring is as fast as its slowest link */
    assert_true(all.end_ns >= 2 * (N - 1.0) * (1e6 / N) * 2 * beta);
    pace_program_free(&program);
}

/* 131,072 ranks: one is simulated. */
TEST(cost_does_not_grow_with_ranks_that_are_alike) {
    double n = 131072, S = 1073741824;
    pace_flows_result ring = simulate("allreduce", "ring", 131072, S, 0, 0, false);
    assert_int_equal(ring.simulated_ranks, 1);
    assert_near(ring.end_ns, 2 * (n - 1) * alpha + (n - 1) / n * S * (2 * beta + gam));
    assert_true(ring.messages == (uint64_t)(2 * (n - 1) * n));
    assert_int_equal(simulate("allreduce", "rabenseifner", 131072, S, 0, 0, false).simulated_ranks, 1);
}

/* --- explicit schedules, and those that cannot finish ------------------------------------------------------------- */

static pace_status run(pace_program *program, pace_flows_result *result) {
    pace_wire wire = {.latency_ns = alpha, .ns_per_byte = beta};
    pace_status status = pace_program_finish(program);
    if (status == PACE_OK)
        status =
            pace_flows_run(result, &(pace_flows_question){.program = program, .wires = &wire, .wire_count = 1}, NULL);
    pace_program_free(program);
    return status;
}

static void assert_message(const char *part) {
    if (!strstr(pace_message(), part)) fail_msg("'%s' is not in '%s'", part, pace_message());
}

TEST(two_that_wait_for_each_other_are_named) {
    pace_program program;
    pace_flows_result result;
    OK(pace_program_init(&program, 2));
    OK(pace_program_open_class(&program));
    OK(pace_program_receive(&program, pace_peer_shift(1, 2, 1), 0, 8));
    OK(pace_program_send(&program, pace_peer_shift(1, 2, 1), 0, 8));
    assert_int_equal(run(&program, &result), PACE_E_INPUT);
    assert_message("rank 0 lane 0 at operation 0, receive 8 bytes from rank 1");
    assert_message("rank 1 lane 0 at operation 0, receive 8 bytes from rank 0");
}

static pace_status one_way(double sent, double received, int sends, int receives) {
    pace_program program;
    pace_flows_result result;
    OK(pace_program_init(&program, 2));
    program.class_of[1] = 1;
    OK(pace_program_open_class(&program));
    for (int i = 0; i < sends; i++) OK(pace_program_send(&program, pace_peer_of_rank(1), 0, sent));
    OK(pace_program_open_class(&program));
    for (int i = 0; i < receives; i++) OK(pace_program_receive(&program, pace_peer_of_rank(0), 0, received));
    return run(&program, &result);
}

TEST(what_is_not_received_is_a_fault) {
    OK(one_way(8, 8, 3, 3));
    assert_int_equal(one_way(8, 8, 3, 1), PACE_E_INPUT);
    assert_message("rank 0 sent 2 more messages to rank 1 than it receives");
    assert_int_equal(one_way(8, 8, 1, 0), PACE_E_INPUT);
    assert_message("rank 0 sends to rank 1 on channel 0, which never receives there");
    assert_int_equal(one_way(8, 8, 1, 2), PACE_E_INPUT);
    assert_message("rank 1 lane 0 at operation 1, receive 8 bytes from rank 0");
    assert_int_equal(one_way(8, 16, 1, 1), PACE_E_INPUT);
    assert_message("rank 1 receives 16 bytes from rank 0 at its operation 0, but 8 were sent");
}

/* A large message, then a small one that would be there first: they are received as sent. */
TEST(a_message_never_overtakes) {
    pace_program program;
    pace_flows_result result;
    OK(pace_program_init(&program, 2));
    program.class_of[1] = 1;
    OK(pace_program_open_class(&program));
    OK(pace_program_send(&program, pace_peer_of_rank(1), 0, 1e6));
    OK(pace_program_send(&program, pace_peer_of_rank(1), 0, 1));
    OK(pace_program_open_class(&program));
    OK(pace_program_receive(&program, pace_peer_of_rank(0), 0, 1e6));
    OK(pace_program_receive(&program, pace_peer_of_rank(0), 0, 1));
    OK(run(&program, &result));
    assert_near(result.end_ns, alpha + (1e6 + 1) * beta);
}

TEST(lanes_wait_for_each_other) {
    pace_program program;
    pace_flows_result result;
    OK(pace_program_init(&program, 1));
    OK(pace_program_open_class(&program));
    OK(pace_program_wait(&program, 1, 1));
    OK(pace_program_local(&program, PACE_OPERATION_WORK, 5));
    OK(pace_program_open_lane(&program));
    OK(pace_program_local(&program, PACE_OPERATION_WORK, 100));
    OK(pace_program_local(&program, PACE_OPERATION_WORK, 20));
    OK(pace_program_local(&program, PACE_OPERATION_WORK, 1));
    OK(run(&program, &result));
    assert_near(result.end_ns, 125);
}

TEST(what_cannot_be_is_said) {
    pace_program program;
    const pace_program_question q = {.ranks = 6, .bytes = 8, .group = 4};
    assert_int_equal(pace_program_build(&program, "allreduce", "rnig", &q), PACE_E_INPUT);
    assert_message("no program does allreduce by 'rnig'; there are: ring, recursive_doubling");
    assert_int_equal(pace_program_build(&program, "allredcue", "ring", &q), PACE_E_INPUT);
    assert_message("there is no collective 'allredcue'");
    assert_int_equal(pace_program_build(&program, "allreduce", "rails", &q), PACE_E_INPUT);
    assert_message("6 ranks do not divide into nodes of 4");
    assert_int_equal(pace_program_build(&program, "allgather", "recursive_doubling", &q), PACE_E_INPUT);
    assert_message("6 ranks are no power of two");
    assert_int_equal(pace_program_build(&program, "allreduce", "ring",
                                        &(pace_program_question){.ranks = 4, .bytes = -1}),
                     PACE_E_INPUT);
    assert_message("expected a size of at least 0 bytes");
    OK(pace_program_init(&program, 3));
    OK(pace_program_open_class(&program));
    OK(pace_program_send(&program, pace_peer_of_rank(7), 0, 1));
    pace_flows_result result;
    assert_int_equal(run(&program, &result), PACE_E_INPUT);
    assert_message("rank 0 exchanges with rank 7: expected another of the 3 ranks");
}

/* Times of few latencies after an instant that never goes back, and some of any time: each comes out once, in order. */
TEST(what_is_due_comes_in_order) {
    enum { MANY = 3000 };
    const double latency[] = {1, 2.5, 40, 41, 7};
    double *at_ns = calloc(MANY, sizeof *at_ns), now_ns = 0;
    uint32_t added = 0, taken = 0;
    pace_lines lines;
    pace_lines_init(&lines);
    srand(7);
    while (taken < MANY) {
        if (added < MANY && (added == taken || rand() % 2)) {
            at_ns[added] = now_ns + (rand() % 8 ? latency[rand() % 5] : rand() % 1000);
            OK(pace_lines_add(&lines, added, at_ns[added]));
            added++;
            continue;
        }
        double next_ns = lines.next_ns;
        for (uint32_t i = 0; i < added; i++) assert_true(at_ns[i] < 0 || at_ns[i] >= next_ns);
        uint32_t number = pace_lines_take(&lines);
        assert_true(at_ns[number] == next_ns && next_ns >= now_ns);
        now_ns = next_ns;
        at_ns[number] = -1;
        taken++;
    }
    assert_true(isinf(lines.next_ns));
    pace_lines_free(&lines);
    free(at_ns);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
