/* Exchanges that share links: jobs side by side, traffic of others, collectives that overlap, stragglers; each against
 * max-min rates worked out by hand. And answers that other simulators got wrong. */
#include "exchange/machine_fabric.h"
#include "exchange/program_build.h"
#include "schedule/flows.h"
#include "schedule/flows_active.h"
#include "schedule/simulation.h"
#include "catalog_of_tests.h"

#include <math.h>
#include <string.h>

#include "cmocka_of_tests.h"

#define OK(expression)                                               \
    do {                                                             \
        if ((expression) != PACE_OK) fail_msg("%s", pace_message()); \
    } while (0)

static const double GiB = 1073741824;

static void assert_near(double found, double expected) {
    if (fabs(found - expected) > 1e-9 * expected) fail_msg("expected %.15g, found %.15g", expected, found);
}

/* Ranks 0 … of a switch with ports of 1 byte/ns, no latency. Rank i sends sizes[i] bytes to to[i]; -1 = nothing. */
static pace_flows_result send_once(int ranks, const int *to, const double *sizes, const pace_background *others,
                                   size_t count, double *ends) {
    static const pace_wire wire = {0};
    pace_program program;
    pace_fabric fabric;
    pace_flows_result result;
    OK(pace_program_init(&program, (uint32_t)ranks));
    for (int rank = 0; rank < ranks; rank++) {
        program.class_of[rank] = (uint32_t)rank;
        OK(pace_program_open_class(&program));
        if (to[rank] >= 0) OK(pace_program_send(&program, pace_peer_of_rank((uint32_t)to[rank]), 0, sizes[rank]));
        for (int from = 0; from < ranks; from++)
            if (to[from] == rank) OK(pace_program_receive(&program, pace_peer_of_rank((uint32_t)from), 0, sizes[from]));
    }
    OK(pace_program_finish(&program));
    OK(pace_fabric_switch(&fabric, (uint32_t)ranks, 1e9, NULL));
    const pace_flows_question q = {.program = &program,
                                   .wires = &wire,
                                   .wire_count = 1,
                                   .fabric = &fabric,
                                   .background = others,
                                   .background_count = count};
    OK(pace_flows_run(&result, &q, ends));
    pace_fabric_free(&fabric);
    pace_program_free(&program);
    return result;
}

/* Three into one port: a third each; when the small one is through, a half each, then all. */
TEST(a_port_is_shared_by_those_that_are_left) {
    const int to[] = {3, 3, 3, -1};
    const double sizes[] = {1e6, 2e6, 4e6, 0};
    pace_flows_result result = send_once(4, to, sizes, NULL, 0, NULL);
    /* 3e6 until the first is through, 2e6 more for the second, 2e6 for the rest of the third */
    assert_near(result.end_ns, 7e6);
    assert_near(result.busiest_share, 1);
    assert_near(result.bytes, 7e6);
}

/* 0 and 1 send to 2; 1's way is shared at the receiver. 3 sends to 4, untouched by it all. */
TEST(those_that_do_not_meet_keep_their_rate) {
    const int to[] = {2, 2, -1, 4, -1};
    const double sizes[] = {1e6, 3e6, 0, 1e6, 0};
    double ends[5];
    send_once(5, to, sizes, NULL, 0, ends);
    assert_near(ends[4], 1e6);
    assert_near(ends[2], 4e6);
}

/* A flow of others at 0.25 takes a quarter; one that could take all takes half, max-min fair. */
TEST(traffic_of_others_takes_its_share) {
    const int to[] = {1, -1, -1};
    const double sizes[] = {3e6, 0, 0};
    assert_near(send_once(3, to, sizes, &(pace_background){2, 1, 0.25e9}, 1, NULL).end_ns, 3e6 / 0.75);
    pace_flows_result result = send_once(3, to, sizes, &(pace_background){2, 1, 9e9}, 1, NULL);
    assert_near(result.end_ns, 6e6);
    assert_near(result.busiest_share, 1); /* its traffic counts */
    const pace_background two[] = {{2, 1, 9e9}, {2, 0, 0.2e9}};
    /* the port out of 2: 0.2 to rank 0, so 0.8 at most to rank 1; into rank 1 half is still fair */
    assert_near(send_once(3, to, sizes, two, 2, NULL).end_ns, 6e6);
}

/* Two collectives on lanes of their own share a rank's port: each has half until the smaller is done. */
TEST(collectives_that_overlap_share_ports) {
    enum { N = 4 };
    static const pace_wire wire = {0};
    pace_program program;
    pace_fabric fabric;
    pace_flows_result result;
    const double small = 1e6, large = 5e6; /* a step of the ring */
    OK(pace_program_init(&program, N));
    OK(pace_program_open_class(&program));
    for (uint8_t lane = 0; lane < 2; lane++) {
        if (lane) OK(pace_program_open_lane(&program));
        for (int step = 0; step < 2 * (N - 1); step++) {
            pace_peer next = pace_peer_shift(1, N, 1), last = pace_peer_shift(1, N, -1);
            next.channel = last.channel = lane;
            OK(pace_program_send(&program, next, 0, lane ? large : small));
            OK(pace_program_receive(&program, last, 0, lane ? large : small));
        }
    }
    OK(pace_program_finish(&program));
    OK(pace_fabric_switch(&fabric, N, 1e9, NULL));
    pace_flows_question q = {.program = &program, .wires = &wire, .wire_count = 1, .fabric = &fabric};
    OK(pace_flows_run(&result, &q, NULL));
    /* the port is never idle: what both move */
    assert_near(result.end_ns, 2 * (N - 1) * (small + large));
    assert_int_equal(result.simulated_ranks, 1);
    q.unfolded = true;
    OK(pace_flows_run(&result, &q, NULL));
    assert_near(result.end_ns, 2 * (N - 1) * (small + large));
    pace_fabric_free(&fabric);
    pace_program_free(&program);
}

/* --- machines ----------------------------------------------------------------------------------------------------- */

static pace_simulation_answer ask(const char *on, pace_simulation_question q, const char *algorithm, double bytes) {
    pace_machine machine;
    pace_simulation simulation;
    pace_simulation_answer answer;
    q.algorithm = algorithm ? pace_exchange_algorithm_find(algorithm) : PACE_ANY;
    OK(pace_machine_parse(&machine, test_catalog(), on));
    OK(pace_simulation_open(&simulation, &machine, &q));
    OK(pace_simulation_run(&answer, &simulation, bytes, NULL));
    pace_simulation_close(&simulation);
    assert_true(answer.flows.busiest_share <= 1 + 1e-9);
    return answer;
}

/* One device a node, NICs of 1 GB/s times 0.8, 1 us; launch 8 us. */
static const char *const nodes_of_one = "a100*1 nodes=16 net=1GB/s net-latency=1us";

/* Of a switch more on the way (catalog/networks.yaml). */
static const double hop_s = 150e-9;

/* Two jobs on nodes dealt out in turn: each leaf of two nodes has a node of both. Rings then cross leaves at every
 * step, two flows up each leaf: at 2:1 each has half its NIC's rate. */
TEST(jobs_share_what_leads_up) {
    char on[128] = "";
    strcat(strcat(on, nodes_of_one), " net=fat-tree:2:2:1");
    double S = 64e6, n = 8, rate = 0.8e9;
    double one = ask(nodes_of_one, (pace_simulation_question){.ranks = 8}, "ring", S).time_s;
    assert_near(one, 5e-6 + 2 * (n - 1) * (1e-6 + S / n / rate));
    pace_simulation_answer two = ask(on, (pace_simulation_question){.jobs = 2}, "ring", S);
    assert_near(two.time_s, 5e-6 + 2 * (n - 1) * (1e-6 + 2 * hop_s + S / n / (rate / 2))); /* two switches more */
    assert_non_null(strstr(two.bottleneck, "leaf"));
    /* one job alone on all nodes: one flow leaves each leaf, at full rate */
    double all = ask(on, (pace_simulation_question){0}, "ring", S).time_s;
    assert_true(all > 5e-6 + 2 * 15 * (1e-6 + S / 16 / rate));
    assert_true(all < 5e-6 + 2 * 15 * (1e-6 + S / 16 / rate + 2 * hop_s));
}

/* A straggler's links at half their rate: a ring is as fast as its slowest link. */
TEST(a_straggler_slows_the_ring_to_its_link) {
    double slowness[16], S = 160e6, rate = 0.8e9;
    for (int i = 0; i < 16; i++) slowness[i] = i == 5 ? 2 : 1;
    double slow = ask(nodes_of_one, (pace_simulation_question){.slowness = slowness}, "ring", S).time_s;
    double step = S / 16 / (rate / 2);
    assert_true(slow >= 5e-6 + 2 * 15 * step && slow <= 8e-6 + 2 * 15 * (step + 1e-6) + 1e-9);
}

/* A torus of 4 x 4 nodes: every node's NICs are divided among four directions. All-gather by a ring through ranks 0, 1,
 * 2, …: three steps of four along a row; the fourth wraps around and goes one up, over links nobody else uses. */
TEST(a_torus_carries_a_ring_at_a_quarter) {
    char on[128] = "";
    strcat(strcat(on, nodes_of_one), " net=torus:4x4");
    double S = 16e6, rate = 0.8e9 / 4;
    double found = ask(on, (pace_simulation_question){.collective = PACE_ALLGATHER}, "ring", S).time_s;
    /* the longest way of 15 steps goes on a row four times, over one node more */
    assert_near(found, 5e-6 + 15 * (1e-6 + S / 16 / rate) + 4 * 40e-9);
}

/* A dragonfly of 2 nodes a router, 2 routers a group: 4 groups. Every node of group g to that of group g + 1: four
 * flows over the one link between the groups, which is a third of the 4 NICs: each has a third of its NIC. */
TEST(a_dragonfly_has_one_way_between_groups) {
    pace_machine machine;
    pace_fabric fabric;
    pace_program program;
    pace_flows_result result;
    char on[128] = "";
    static const pace_wire wire = {0};
    strcat(strcat(on, nodes_of_one), " net=dragonfly:2x2");
    OK(pace_machine_parse(&machine, test_catalog(), on));
    OK(pace_fabric_of_machine(&fabric, &machine, false));
    OK(pace_program_init(&program, 16));
    OK(pace_program_open_class(&program));
    OK(pace_program_send(&program, pace_peer_shift(1, 16, 4), 0, 3e6));
    OK(pace_program_receive(&program, pace_peer_shift(1, 16, -4), 0, 3e6));
    OK(pace_program_finish(&program));
    pace_flows_question q = {.program = &program, .wires = &wire, .wire_count = 1, .fabric = &fabric};
    OK(pace_flows_run(&result, &q, NULL));
    /* two routers more: with two to a group, one of the two local ways is none */
    assert_near(result.end_ns, 1000 + 2 * 100 + 3e6 / (0.8 / 3));
    assert_near(result.bytes, 16 * 3e6);
    pace_fabric_free(&fabric);
    pace_program_free(&program);
}

/* --- what others got wrong ---------------------------------------------------------------------------------------- */

/* An all-reduce of 1 GiB on 8 H100: 2.66 ms elsewhere, above what 450 GB/s allow. NCCL's rings reach about 370 GB/s of
 * bus bandwidth, 480 with the sum in the switch (its maintainers); the ports allow 450 and, by the switch, 506. */
TEST(nothing_beats_the_line_rate) {
    double ring = ask("dgx-h100", (pace_simulation_question){0}, "ring", GiB).time_s;
    double tree = ask("dgx-h100", (pace_simulation_question){0}, "multicast", GiB).time_s;
    double bus = 2 * 7 / 8.0 * GiB;
    assert_true(ring >= bus / 450e9 && tree >= 9 / 8.0 * GiB / 450e9);
    assert_true(fabs(bus / ring / 370e9 - 1) < 0.03);
    assert_true(fabs(bus / tree / 480e9 - 1) < 0.25);
}

/* NVLink inside and a network outside together, with contention: refused elsewhere. Two levels at least, at most the
 * sum of both. */
TEST(two_levels_with_contention) {
    pace_simulation_answer a = ask("dgx-a100*64 net=rails:16:4:1", (pace_simulation_question){0}, "rails", GiB);
    double inside = 2 * 7 / 8.0 * GiB / (300e9 * 0.77), out = 2 * 63 / 64.0 * GiB / 8 / (25e9 * 0.92);
    assert_true(a.time_s >= inside + out && a.time_s <= 2 * (inside + out));
    assert_int_equal(a.flows.simulated_ranks < 512, 1);
}

/* A group wider than a node is no error: it spans nodes. */
TEST(a_group_may_be_wider_than_a_node) {
    pace_simulation_answer a = ask("dgx-a100*2", (pace_simulation_question){.ranks = 16}, NULL, GiB);
    assert_true(a.time_s > GiB / (8 * 25e9) && isfinite(a.closed_s)); /* of two nodes a tree sends all once each way */
}

/* No number that is none: of an exchange of nothing, too. */
TEST(nothing_is_not_a_number) {
    const double sizes[] = {0, 1, 8};
    for (int c = 0; c < PACE_COLLECTIVES; c++)
        for (int i = 0; i < 3; i++) {
            pace_simulation_answer a =
                ask("dgx-h100*2", (pace_simulation_question){.collective = (pace_collective)c}, NULL, sizes[i]);
            assert_true(isfinite(a.time_s) && isfinite(a.closed_s) && isfinite(a.flows.busiest_share));
        }
}

/* Each fault comes back the same way: a status and one line, nothing written. */
TEST(faults_come_back_alike) {
    pace_machine machine;
    pace_simulation simulation = {.ranks_of_job = 77};
    OK(pace_machine_parse(&machine, test_catalog(), "dgx-a100*2"));
    const pace_simulation_question wrong[] = {
        {.algorithm = PACE_ANY, .ranks = 17},
        {.algorithm = PACE_ANY, .ranks = 16, .jobs = 3},
        {.algorithm = PACE_ANY, .network_share = 1},
        {.algorithm = pace_exchange_algorithm_find("multicast")},
    };
    int64_t before = pace_memory_live();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        pace_status status = pace_simulation_open(&simulation, &machine, &wrong[i]);
        assert_true(status == PACE_E_USAGE || status == PACE_E_INPUT);
        assert_null(strchr(pace_message(), '\n'));
        assert_int_equal(simulation.ranks_of_job, 77);
        assert_int_equal(pace_memory_live(), before);
    }
}

/* Every allocation fails once. */
TEST(memory_runs_out) {
    pace_machine machine;
    OK(pace_machine_parse(&machine, test_catalog(), "dgx-1-v100*4 net=fat-tree:2:2:1"));
    const pace_simulation_question q = {.algorithm = pace_exchange_algorithm_find("ring")};
    int64_t before = pace_memory_live();
    for (uint64_t fail_at = 1;; fail_at++) {
        pace_simulation simulation;
        pace_simulation_answer answer;
        pace_memory_fail_at(fail_at);
        pace_status status = pace_simulation_open(&simulation, &machine, &q);
        if (status == PACE_OK) {
            status = pace_simulation_run(&answer, &simulation, 1e6, NULL);
            pace_simulation_close(&simulation);
        }
        pace_memory_fail_at(0);
        assert_int_equal(pace_memory_live(), before);
        if (status == PACE_OK) {
            assert_true(fail_at > 40);
            break;
        }
        assert_int_equal(status, PACE_E_MEMORY);
    }
}

/* --- flows that come and go --------------------------------------------------------------------------------------- */

enum { LINKS = 12, FLOWS = 40, MOST_HOPS = 3, EVENTS = 4000 };

static uint32_t draw(uint64_t *seed, uint32_t of) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % of;
}

/* Every flow under way has the rate that all of them together are given at once. */
static void assert_rates_are_fair(const pace_active_flows *active, pace_rates *whole) {
    pace_flow ways[FLOWS];
    double rates[FLOWS];
    uint32_t count = (uint32_t)active->heap.count;
    for (uint32_t i = 0; i < count; i++) ways[i] = active->ways.items[active->heap.items[i]];
    OK(pace_rates_solve(rates, whole, ways, count));
    for (uint32_t i = 0; i < count; i++) {
        double found = active->flows.items[active->heap.items[i]].bytes_per_s;
        if (fabs(found - rates[i]) > 1e-7 * rates[i])
            fail_msg("flow %u: expected %.12g, found %.12g", i, rates[i], found);
    }
}

static void add_any(pace_active_flows *active, pace_hop *hops, uint64_t *seed) {
    uint32_t count = 1 + draw(seed, MOST_HOPS), first = draw(seed, LINKS), step = 1 + draw(seed, 3);
    for (uint32_t h = 0; h < count; h++) hops[h] = (pace_hop){(first + h * step) % LINKS, 1 + draw(seed, 2) * 0.5};
    double limit = draw(seed, 3) ? INFINITY : 1e8 * (1 + draw(seed, 20));
    OK(pace_active_flows_add(active, (pace_flow){hops, count, limit}, 1 + draw(seed, 5), draw(seed, 3)));
}

TEST(rates_of_flows_that_come_and_go_are_those_of_all_at_once) {
    for (uint64_t seed = 1, run = 0; run < 8; run++) {
        double capacities[LINKS], now_ns = 0;
        pace_hop hops[EVENTS][MOST_HOPS];
        pace_active_links links;
        pace_active_flows active;
        pace_rates whole;
        pace_active_flow ended;
        pace_status status;
        for (int i = 0; i < LINKS; i++) capacities[i] = run % 2 ? 1e9 : 1e9 * (1 + draw(&seed, 4));
        OK(pace_active_links_init(&links, capacities, LINKS));
        OK(pace_rates_init(&whole, capacities, LINKS));
        pace_active_flows_init(&active, &links, MOST_HOPS);
        for (int event = 0; event < EVENTS;) {
            for (uint32_t more = draw(&seed, 4); more && active.heap.count < FLOWS && event < EVENTS; more--)
                add_any(&active, hops[event++], &seed);
            OK(pace_active_flows_rate(&active, now_ns));
            assert_rates_are_fair(&active, &whole);
            if (active.heap.count == 0) continue;
            now_ns = pace_active_flows_next(&active);
            while (pace_active_flows_take(&ended, &status, &active, now_ns)) OK(status);
        }
        pace_rates_free(&whole);
        pace_active_flows_free(&active);
        pace_active_links_free(&links);
    }
}

/* --- more nodes than are simulated -------------------------------------------------------------------------------- */

/* Whole simulations are the truth. The sums of trees at full ports are as sure as their rounding, 1 %. */
TEST(large_exchanges_continue_the_line_of_smaller_ones) {
    static const struct {
        const char *on, *algorithm;
        pace_collective collective;
        double bytes, within;
    } cases[] = {{"dgx-h100*600", "chain", PACE_BROADCAST, 3e5, 1e-6},
                 {"a100*1 nodes=4099 net=1GB/s", "chain", PACE_REDUCE, 1e5, 1e-6},
                 {"a100*1 nodes=4099 net=1GB/s", "pipelined_tree", PACE_ALLREDUCE, 1e6, 0.01},
                 {"dgx-h100*600", "double_tree", PACE_ALLREDUCE, 1e6, 0.01}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pace_simulation_question q = {.collective = cases[i].collective};
        pace_simulation_answer grown = ask(cases[i].on, q, cases[i].algorithm, cases[i].bytes);
        q.unfolded = true;
        pace_simulation_answer whole = ask(cases[i].on, q, cases[i].algorithm, cases[i].bytes);
        assert_true(grown.grown_from > 0);
        assert_int_equal(whole.grown_from, 0);
        assert_int_equal(grown.flows.messages, whole.flows.messages);
        if (fabs(grown.time_s / whole.time_s - 1) > cases[i].within)
            fail_msg("%s on %s: %.9g s, whole %.9g s", cases[i].algorithm, cases[i].on, grown.time_s, whole.time_s);
        assert_true(fabs(grown.flows.busiest_share - whole.flows.busiest_share) < 0.02);
    }
    /* too many messages for a test: closed forms that are exact, or nearly so */
    pace_simulation_answer pairs =
        ask("a100*1 nodes=8192 net=1GB/s", (pace_simulation_question){.collective = PACE_ALLTOALL}, "pairwise", 1e7);
    assert_near(pairs.time_s, pairs.closed_s);
    assert_int_equal(pairs.flows.messages, 8192 * 8191);
    pace_simulation_answer ring =
        ask("dgx-h100*513", (pace_simulation_question){.collective = PACE_ALLGATHER}, "ring", 1e7);
    assert_true(ring.grown_from > 0 && fabs(ring.time_s / ring.closed_s - 1) < 0.05);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
