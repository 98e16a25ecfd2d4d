/* Messages that share links: against the simulation without sharing where nothing is shared, times worked out by hand
 * where something is, the answers other simulators get wrong, and bounds no exchange can beat. */
#include "exchange/algorithms.h"
#include "exchange/program_by_name.h"
#include "nodes_fabric_of_tests.h"
#include "schedule/flows.h"

#include <math.h>
#include <string.h>

#include "cmocka_of_tests.h"

#define OK(expression) assert_int_equal((expression), PACE_OK)

static const double GiB = 1073741824;

static void assert_near(double found, double expected) {
    if (fabs(found - expected) > 1e-9 * expected) fail_msg("expected %.15g, found %.15g", expected, found);
}

typedef struct {
    const char *collective, *algorithm;
    pace_program_question sizes;
    double latency_ns, bytes_per_s;
    const pace_fabric *fabric;
    bool unfolded;
} job;

static pace_flows_result simulate(const job *j) {
    pace_program program;
    pace_flows_result result;
    OK(pace_program_build(&program, j->collective, j->algorithm, &j->sizes));
    pace_wire wire = {.latency_ns = j->latency_ns, .ns_per_byte = j->bytes_per_s > 0 ? 1e9 / j->bytes_per_s : 0};
    pace_wire wires[2] = {wire, wire};
    pace_status status = pace_flows_run(&result,
                                        &(pace_flows_question){.program = &program,
                                                               .wires = wires,
                                                               .wire_count = 2,
                                                               .fabric = j->fabric,
                                                               .unfolded = j->unfolded},
                                        NULL);
    if (status != PACE_OK) fail_msg("%s", pace_message());
    pace_program_free(&program);
    return result;
}

static pace_flows_result both_ways(job j) {
    pace_flows_result folded = simulate(&j);
    j.unfolded = true;
    pace_flows_result whole = simulate(&j);
    assert_near(folded.end_ns, whole.end_ns);
    assert_near(folded.bytes, whole.bytes);
    assert_true(folded.messages == whole.messages);
    return folded;
}

/* On a switch every port has one message at a time: as without a fabric. */
TEST(on_a_switch_nothing_changes) {
    const char *algorithms[] = {"ring", "recursive_doubling", "rabenseifner", "binomial"};
    for (uint32_t n = 2; n <= 64; n *= 2)
        for (size_t i = 0; i < 4; i++) {
            pace_fabric fabric;
            OK(pace_fabric_switch(&fabric, n, 25e9, NULL));
            job j = {"allreduce", algorithms[i], {.ranks = n, .bytes = 1e6}, 1500, 25e9, &fabric, false};
            double shared = both_ways(j).end_ns;
            j.fabric = NULL;
            assert_near(shared, both_ways(j).end_ns);
            pace_fabric_free(&fabric);
        }
}

/* Other simulators let a NIC send to all at once at full rate: 0.89 ms and 0.75 ms for these two. */
TEST(a_port_sends_only_so_fast) {
    pace_fabric fabric;
    OK(pace_fabric_switch(&fabric, 8, 400e9, NULL));
    job j = {"allreduce", "direct", {.ranks = 8, .bytes = GiB}, 936.25, 400e9, &fabric, false};
    double bound_ns = 2 * 7 / 8.0 * GiB / 400e9 * 1e9;
    assert_true(bound_ns > 4.4e6);
    double direct = both_ways(j).end_ns;
    assert_true(direct >= bound_ns && direct < 1.01 * bound_ns);
    j.fabric = NULL;
    assert_near(both_ways(j).end_ns, direct);
    pace_fabric_free(&fabric);
}

/* Everybody sends to rank 0 at once: its port is shared. Two lanes of one rank share its port as well. */
TEST(what_meets_at_a_port_shares_it) {
    enum { N = 9 };
    pace_program program;
    pace_fabric fabric;
    pace_flows_result result;
    OK(pace_program_init(&program, N));
    OK(pace_program_open_class(&program));
    for (uint32_t r = 1; r < N; r++) OK(pace_program_receive(&program, pace_peer_of_rank(r), 0, 1e6));
    OK(pace_program_open_class(&program));
    OK(pace_program_send(&program, pace_peer_of_rank(0), 0, 1e6));
    for (uint32_t r = 1; r < N; r++) program.class_of[r] = 1;
    OK(pace_program_finish(&program));
    OK(pace_fabric_switch(&fabric, N, 1e9, NULL));
    pace_wire wire = {.latency_ns = 100, .ns_per_byte = 1};
    OK(pace_flows_run(&result,
                      &(pace_flows_question){.program = &program, .wires = &wire, .wire_count = 1, .fabric = &fabric},
                      NULL));
    assert_near(result.end_ns, (N - 1) * 1e6 + 100);
    pace_fabric_free(&fabric);
    pace_program_free(&program);

    OK(pace_program_init(&program, 2));
    program.class_of[1] = 1;
    for (int side = 0; side < 2; side++) {
        OK(pace_program_open_class(&program));
        for (uint8_t lane = 0; lane < 2; lane++) {
            pace_peer peer = pace_peer_of_rank(1 - (uint32_t)side);
            peer.channel = lane;
            if (lane) OK(pace_program_open_lane(&program));
            double bytes = lane ? 3e6 : 1e6;
            OK(side ? pace_program_receive(&program, peer, 0, bytes) : pace_program_send(&program, peer, 0, bytes));
        }
    }
    OK(pace_program_finish(&program));
    double ends[2];
    OK(pace_flows_run(&result, &(pace_flows_question){.program = &program, .wires = &wire, .wire_count = 1}, ends));
    assert_near(result.end_ns, 4e6 + 100); /* half the port each until 2e6, then one has it all */
    pace_program_free(&program);
}

/* Rings on rails, one NIC a node: G rings share it. Leaves with half the bandwidth up: twice as long across. */
TEST(rails_share_nics_and_leaves_oversubscribe) {
    enum { G = 4, NODES = 8 };
    nodes_shape shape = {NODES, G, 0, true, 300e9, 25e9, 0};
    double S = 64e6, n = NODES;
    double inside = 2 * (G - 1) * 1000.0 + 2 * (G - 1) / (double)G * S / 300e9 * 1e9;
    double latency = 2 * (n - 1) * 1000, across = 2 * (n - 1) / n * S / G / 25e9 * 1e9;
    const double factor[3] = {1, G, 2};
    for (int i = 0; i < 3; i++) {
        pace_fabric fabric;
        shape.rails = i != 1;
        shape.nodes_per_leaf = i == 2 ? 2 : 0;
        shape.leaf_bytes_per_s = G * 25e9 / 2; /* what crosses a leaf is one node's traffic of two */
        OK(make_nodes_fabric(&fabric, &shape));
        pace_flows_result result = both_ways(
            (job){"allreduce", "rails", {.ranks = NODES * G, .bytes = S, .group = G}, 1000, 0, &fabric, false});
        /* behind the slow links every second node waits, and the latencies but the last pass meanwhile */
        assert_near(result.end_ns, inside + (i == 2 ? 1000 : latency) + across * factor[i]);
        assert_true(result.simulated_ranks <= (i == 2 ? NODES * G : 1));
        pace_fabric_free(&fabric);
    }
}

/* Both trees carry half: between the bound of the ports and twice that, plus what fills the pipeline. */
TEST(two_trees_come_near_the_bound) {
    for (uint32_t n = 2; n <= 50; n += n < 17 ? 1 : 11) {
        double S = GiB, bound_ns = 2 * (n - 1.0) / n * S / 25e9 * 1e9;
        job j = {"allreduce", "double_tree", {.ranks = n, .bytes = S, .segments = 64}, 1000, 25e9, NULL, false};
        pace_flows_result result = both_ways(j);
        assert_true(result.end_ns >= bound_ns);
        assert_true(result.end_ns <= 1.4 * 2 * S / 25e9 * 1e9);
        assert_near(result.bytes, 2.0 * (n - 1) * S); /* every rank but a tree's root sends up and is sent down */
    }
}

/* With half-rate ranks a ring takes twice as long, shared links or not. */
TEST(a_slow_rank_slows_the_ring) {
    enum { N = 40 };
    double slowness[N];
    for (int i = 0; i < N; i++) slowness[i] = i % 10 == 3 ? 2 : 1;
    pace_program program;
    pace_fabric fabric;
    pace_flows_result apart, shared;
    OK(pace_program_build(&program, "allreduce", "ring", &(pace_program_question){.ranks = N, .bytes = 1e8}));
    OK(pace_fabric_switch(&fabric, N, 1e9, slowness));
    pace_wire wire = {.latency_ns = 100, .ns_per_byte = 1};
    pace_flows_question q = {.program = &program, .wires = &wire, .wire_count = 1, .slowness = slowness};
    OK(pace_flows_run(&apart, &q, NULL));
    q.fabric = &fabric;
    OK(pace_flows_run(&shared, &q, NULL));
    assert_near(shared.end_ns, apart.end_ns);
    assert_int_equal(shared.simulated_ranks, 10);
    double full = 2 * (N - 1) / (double)N * 1e8;
    assert_true(apart.end_ns >= 2 * full * 0.95 && apart.end_ns <= 2 * full + 2 * N * 100);
    pace_fabric_free(&fabric);
    pace_program_free(&program);
}

/* Rings whose receives are all posted at the start, nine ranks and more: other simulators stall, and say nothing. */
TEST(a_stalled_exchange_is_an_error_and_a_right_one_is_not) {
    pace_fabric fabric;
    pace_program program;
    pace_flows_result result;
    OK(pace_fabric_switch(&fabric, 9, 1e9, NULL));
    job j = {"allreduce", "ring", {.ranks = 9, .bytes = 9e6}, 500, 1e9, &fabric, true};
    assert_near(simulate(&j).end_ns, 16 * (500 + 1e6));
    OK(pace_program_init(&program, 9));
    OK(pace_program_open_class(&program));
    OK(pace_program_receive(&program, pace_peer_shift(1, 9, -1), 0, 1));
    OK(pace_program_send(&program, pace_peer_shift(1, 9, 1), 0, 1));
    OK(pace_program_finish(&program));
    pace_wire wire = {.ns_per_byte = 1};
    assert_int_equal(
        pace_flows_run(&result,
                       &(pace_flows_question){.program = &program, .wires = &wire, .wire_count = 1, .fabric = &fabric},
                       NULL),
        PACE_E_INPUT);
    assert_non_null(strstr(pace_message(), "rank 2 lane 0 at operation 0, receive 1 bytes from rank 1"));
    assert_non_null(strstr(pace_message(), "6 more wait for ever"));
    pace_program_free(&program);
    pace_fabric_free(&fabric);
}

/* Every allocation fails once: each time an error, and nothing is lost. */
TEST(memory_runs_out) {
    const char *algorithms[] = {"double_tree", "ring"};
    int64_t before = pace_memory_live();
    for (int i = 0; i < 2; i++)
        for (uint64_t fail_at = 1;; fail_at++) {
            pace_program program;
            pace_fabric fabric;
            pace_flows_result result;
            const pace_wire wire = {.latency_ns = 10, .ns_per_byte = 1};
            pace_memory_fail_at(fail_at);
            pace_status status = pace_fabric_switch(&fabric, 6, 1e9, NULL);
            if (status == PACE_OK) {
                status = pace_program_build(&program, "allreduce", algorithms[i],
                                            &(pace_program_question){.ranks = 6, .bytes = 600, .segments = 2});
                if (status == PACE_OK) {
                    status = pace_flows_run(&result,
                                            &(pace_flows_question){.program = &program,
                                                                   .wires = &wire,
                                                                   .wire_count = 1,
                                                                   .fabric = i ? &fabric : NULL},
                                            NULL);
                    pace_program_free(&program);
                }
                pace_fabric_free(&fabric);
            }
            pace_memory_fail_at(0);
            assert_int_equal(pace_memory_live(), before);
            if (status == PACE_OK) {
                assert_true(fail_at > 20);
                break;
            }
            assert_int_equal(status, PACE_E_MEMORY);
        }
}

TEST(no_fabric_without_bandwidth) {
    pace_fabric fabric;
    assert_int_equal(pace_fabric_switch(&fabric, 4, 0, NULL), PACE_E_INPUT);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
