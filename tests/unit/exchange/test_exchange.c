/* Identities that closed forms keep whatever the constants, and figures that are published. */
#include <math.h>
#include <string.h>

#include "cmocka_of_tests.h"

#include "exchange/exchange.h"
#include "catalog_of_tests.h"

static pace_exchange open_machine(const char *name, pace_exchange_library library) {
    pace_machine machine;
    pace_exchange exchange;
    if (pace_machine_parse(&machine, test_catalog(), name) != PACE_OK) fail_msg("%s", pace_message());
    if (pace_exchange_open(&exchange, test_catalog(), &machine, library, NULL) != PACE_OK)
        fail_msg("%s", pace_message());
    return exchange;
}

static double textbook(const pace_exchange *e, const char *algorithm, pace_collective collective, double bytes) {
    pace_exchange_terms terms;
    int row = pace_exchange_algorithm_find(algorithm);
    assert_true(row >= 0);
    pace_exchange_terms_of(&terms, &e->machine, collective, bytes, e->machine.devices, e->machine.nodes);
    if (!pace_exchange_algorithm_applies(row, &terms)) return NAN;
    return pace_exchange_algorithms[row].time_s(&terms);
}

static void near(double a, double b) {
    if (fabs(a - b) > 1e-12 * fabs(b)) fail_msg("%.17g is not %.17g", a, b);
}

/* Ring, halving, direct, rails: an all-reduce is a reduce-scatter and an all-gather. */
TEST(test_allreduce_is_two_halves) {
    static const char *const machines[] = {"dgx-h100", "dgx-h100*4", "p3dn*2"};
    static const char *const rows[] = {"ring", "direct", "rails", "torus"};
    for (size_t m = 0; m < 3; m++)
        for (size_t r = 0; r < 4; r++) {
            pace_exchange e = open_machine(machines[m], PACE_LIBRARY_TEXTBOOK);
            double all = textbook(&e, rows[r], PACE_ALLREDUCE, 1e7);
            if (isnan(all)) continue;
            double halves = textbook(&e, rows[r], PACE_REDUCESCATTER, 1e7) + textbook(&e, rows[r], PACE_ALLGATHER, 1e7);
            /* chunks of rings over NICs go on before the last of them has come */
            if (r == 0 && m > 0) assert_true(all <= halves && all > 0.95 * halves);
            else near(all, halves);
        }
    pace_exchange e = open_machine("dgx-a100", PACE_LIBRARY_TEXTBOOK);
    near(textbook(&e, "rabenseifner", PACE_ALLREDUCE, 1e6),
         textbook(&e, "halving", PACE_REDUCESCATTER, 1e6) + textbook(&e, "recursive_doubling", PACE_ALLGATHER, 1e6));
}

/* Thakur et al. 2005, equations of section 4, with alpha = 2 us and 10 GB/s for 8 ranks and 1 MB. */
TEST(test_equations) {
    double a = 2e-6, b = 1e-10, s = 1e6, n = 8;
    pace_exchange_terms t = {.collective = PACE_ALLREDUCE, .bytes = s, .ranks = 8, .ranks_per_node = 8, .nodes = 1};
    t.inside = t.ring.near = pace_message_hockney(a, b);
    static const struct {
        const char *name;
        pace_collective collective;
        double latencies, vectors;
    } table[] = {
        {"ring", PACE_ALLREDUCE, 14, 1.75},        {"recursive_doubling", PACE_ALLREDUCE, 3, 3},
        {"rabenseifner", PACE_ALLREDUCE, 6, 1.75}, {"binomial", PACE_ALLREDUCE, 6, 6},
        {"ring", PACE_ALLGATHER, 7, 0.875},        {"recursive_doubling", PACE_ALLGATHER, 3, 0.875},
        {"bruck", PACE_ALLGATHER, 3, 0.875},       {"halving", PACE_REDUCESCATTER, 3, 0.875},
        {"bruck", PACE_REDUCESCATTER, 3, 0.875},   {"bruck", PACE_ALLREDUCE, 6, 1.75},
        {"binomial", PACE_BROADCAST, 3, 3},        {"scatter_allgather", PACE_BROADCAST, 10, 1.75},
        {"pairwise", PACE_ALLTOALL, 7, 0.875},     {"bruck", PACE_ALLTOALL, 3, 1.5},
        {"message", PACE_SENDRECV, 1, 1},          {"direct", PACE_ALLTOALL, 1, 0.875},
        {"knomial", PACE_ALLREDUCE, 2, 4},         {"torus", PACE_ALLREDUCE, 8, 1.75},
    };
    (void)n;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        int row = pace_exchange_algorithm_find(table[i].name);
        t.collective = table[i].collective;
        assert_true(pace_exchange_algorithm_applies(row, &t));
        near(pace_exchange_algorithms[row].time_s(&t), table[i].latencies * a + table[i].vectors * s * b);
    }
    /* Six ranks: two fold in and out, one of the two latencies behind the others' first exchange
     * (tests/golden/test_closed_forms.py holds it to the simulated program). */
    t.collective = PACE_ALLREDUCE;
    t.ranks = t.ranks_per_node = 6;
    near(pace_exchange_algorithms[pace_exchange_algorithm_find("recursive_doubling")].time_s(&t), 3 * a + 4 * s * b);
}

/* Hierarchical over links that are alike moves as much as flat: 2 (n - 1)/n of the vector. */
TEST(test_hierarchical_is_flat_when_links_are_equal) {
    pace_exchange_terms t = {.collective = PACE_ALLREDUCE, .bytes = 1e9, .ranks = 32, .ranks_per_node = 8, .nodes = 4};
    t.inside = t.ring.near = t.across = pace_message_hockney(0, 1e-10);
    near(pace_exchange_algorithms[pace_exchange_algorithm_find("rails")].time_s(&t),
         pace_exchange_algorithms[pace_exchange_algorithm_find("ring")].time_s(&t));
}

TEST(test_protocol_pieces) {
    pace_message_model m = {2, {{0, 1e-6, 1e-9}, {8192, 5e-6, 1e-10}}};
    near(pace_message_s(&m, 8191), 1e-6 + 8191e-9);
    near(pace_message_s(&m, 8192), 5e-6 + 8192e-10);
}

/* Nothing is faster than its busiest port; with the switch adding (n + 1)/n counts. Peaks, not what is reached. */
TEST(test_busiest_port) {
    static const char *const machines[] = {"dgx-1-v100", "dgx-a100", "dgx-h100", "dgx-h100*8", "hgx-b200", "p3dn*2"};
    for (size_t m = 0; m < sizeof machines / sizeof *machines; m++)
        for (int library = PACE_LIBRARY_TEXTBOOK; library <= PACE_LIBRARY_NCCL; library++) {
            pace_exchange e = open_machine(machines[m], (pace_exchange_library)library);
            double n = e.machine.devices * e.machine.nodes, bytes = 1 << 30;
            for (int c = 0; c <= PACE_ALLTOALL; c++) {
                pace_exchange_question q = {(pace_collective)c, bytes, 0, 0, PACE_ANY, PACE_ANY, 0};
                pace_exchange_answer answer;
                assert_int_equal(pace_exchange_answer_question(&answer, &e, &q), PACE_OK);
                bool adds = strstr(answer.algorithm, "nvls") || strcmp(answer.algorithm, "multicast") == 0;
                double moved = pace_bus_factor((pace_collective)c, (int)n);
                if (adds && c == PACE_ALLREDUCE) moved = (n + 1) / n;
                if (adds && c != PACE_ALLREDUCE) moved = (n - 1) / n;
                assert_true(answer.time_s.median >= bytes * moved / e.machine.inside.bytes_per_s);
            }
        }
}

TEST(test_grows_with_bytes_and_one_rank_is_free) {
    static const char *const machines[] = {"dgx-1-p100", "dgx-a100*2",    "hgx-h100", "mi300x-node",  "piz-daint*16",
                                           "hgx-h800*2", "pcie-8xp100*4", "p5*4",     "gb200-nvl72*4"};
    for (size_t m = 0; m < sizeof machines / sizeof *machines; m++) {
        pace_exchange e = open_machine(machines[m], PACE_LIBRARY_TEXTBOOK);
        for (int c = 0; c < PACE_COLLECTIVES; c++) {
            double before = 0;
            for (double bytes = 8; bytes < 1e10; bytes *= 1.1) {
                pace_exchange_question q = {(pace_collective)c, bytes, 0, 0, PACE_ANY, PACE_ANY, 0};
                pace_estimate s;
                assert_int_equal(pace_exchange_time(&s, &e, &q), PACE_OK);
                assert_true(s.median > before && s.spread > 0);
                before = s.median;
            }
        }
        pace_exchange_question one = {PACE_ALLREDUCE, 1e6, 1, 1, PACE_ANY, PACE_ANY, 0};
        pace_estimate s;
        assert_int_equal(pace_exchange_time(&s, &e, &one), PACE_OK);
        assert_true(s.median == 0);
    }
}

/* NCCL 2.30 on 8 H100: rings count 18 links at 20.6 GB/s, so a large ring all-reduce is at about 360 GB/s of bus
 * bandwidth (nccl-tests issue 212 measures 370), and NVLS beats it; small ones are LL. */
TEST(test_nccl_choice) {
    pace_exchange e = open_machine("dgx-h100", PACE_LIBRARY_NCCL);
    pace_exchange_question q = {PACE_ALLREDUCE, 4294967296.0, 0, 0, PACE_NCCL_RING, PACE_NCCL_SIMPLE, 0};
    pace_exchange_answer answer;
    assert_int_equal(pace_exchange_answer_question(&answer, &e, &q), PACE_OK);
    double bus = q.bytes / answer.time_s.median * pace_bus_factor(PACE_ALLREDUCE, 8) / 1e9;
    assert_true(bus > 340 && bus < 375);
    q.algorithm = q.protocol = PACE_ANY;
    assert_int_equal(pace_exchange_answer_question(&answer, &e, &q), PACE_OK);
    assert_string_equal(answer.algorithm, "nvls");
    q.bytes = 1024;
    assert_int_equal(pace_exchange_answer_question(&answer, &e, &q), PACE_OK);
    assert_string_equal(answer.protocol, "ll");
}

/* NCCL 2.3 has rings only: latency grows with the number of ranks. */
TEST(test_nccl_lines) {
    pace_machine machine;
    pace_exchange old;
    pace_exchange_answer answer;
    assert_int_equal(pace_machine_parse(&machine, test_catalog(), "p3dn*8"), PACE_OK);
    assert_int_equal(pace_exchange_open(&old, test_catalog(), &machine, PACE_LIBRARY_NCCL, "2.3"), PACE_OK);
    pace_exchange_question q = {PACE_ALLREDUCE, 1024, 0, 0, PACE_ANY, PACE_ANY, 0};
    assert_int_equal(pace_exchange_answer_question(&answer, &old, &q), PACE_OK);
    assert_string_equal(answer.algorithm, "ring");
    double ring = answer.time_s.median;
    assert_int_equal(pace_exchange_open(&old, test_catalog(), &machine, PACE_LIBRARY_NCCL, "2.7"), PACE_OK);
    assert_int_equal(pace_exchange_answer_question(&answer, &old, &q), PACE_OK);
    assert_string_equal(answer.algorithm, "tree");
    assert_true(answer.time_s.median < ring);
    assert_int_equal(pace_exchange_open(&old, test_catalog(), &machine, PACE_LIBRARY_NCCL, "1.9"), PACE_E_MISSING);
}

TEST(test_places_groups) {
    pace_machine m;
    static const struct {
        int64_t size, stride;
        int near, nodes;
    } cases[] = {{8, 1, 8, 1}, {8, 8, 1, 8}, {16, 4, 2, 8}, {12, 1, 6, 2}};
    assert_int_equal(pace_machine_parse(&m, test_catalog(), "dgx-h100*8"), PACE_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pace_group_place place;
        assert_int_equal(pace_group_place_find(&place, &m, 0, cases[i].size, cases[i].stride), PACE_OK);
        assert_int_equal(place.ranks_per_node, cases[i].near);
        assert_int_equal(place.nodes, cases[i].nodes);
        assert_true(place.crowding == 1);
    }
    pace_group_place place;
    assert_int_equal(pace_group_place_find(&place, &m, 0, 128, 1), PACE_E_USAGE);
    assert_int_equal(pace_group_place_find(&place, &m, 4, 64, 1), PACE_E_USAGE);
    m.nics = 4; /* eight groups side by side, each of one rank a node */
    assert_int_equal(pace_group_place_find(&place, &m, 0, 8, 8), PACE_OK);
    assert_true(place.crowding == 2);
}

/* Austin et al. 2025, How to Scale Your Model, TPU networking: a chip of v5p has 90 GB/s each way of each of three
 * axes, one of v5e 45 GB/s of each of two; an all-gather over some axes is as many times as fast. */
TEST(test_places_groups_on_axes) {
    pace_machine m;
    pace_group_place place;
    static const struct {
        const char *name;
        int slice, size, stride, axes, of;
    } cases[] = {{"tpu-v5p-slice", 64, 4, 1, 1, 3},    {"tpu-v5p-slice", 64, 16, 4, 2, 3},
                 {"tpu-v5p-slice", 64, 64, 1, 3, 3},   {"tpu-v5p-slice", 512, 8, 1, 1, 3},
                 {"tpu-v5e-slice", 256, 16, 16, 1, 2}, {"tpu-v5p-slice", 512, 2, 1, 1, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(pace_machine_parse(&m, test_catalog(), cases[i].name), PACE_OK);
        pace_machine_cut_slice(&m, cases[i].slice);
        assert_int_equal(m.devices, cases[i].slice);
        assert_int_equal(pace_group_place_find(&place, &m, 0, cases[i].size, cases[i].stride), PACE_OK);
        assert_true(fabs(place.crowding - (double)cases[i].of / cases[i].axes) < 1e-9);
    }
    assert_int_equal(pace_machine_parse(&m, test_catalog(), "dgx-h100"), PACE_OK);
    pace_machine_cut_slice(&m, 4);
    assert_int_equal(m.devices, 8);
}

static void refuses(const char *machine, pace_status status, const char *word) {
    pace_machine m;
    assert_int_equal(pace_machine_parse(&m, test_catalog(), machine), status);
    if (!strstr(pace_message(), word)) fail_msg("\"%s\" does not say \"%s\"", pace_message(), word);
}

TEST(test_bad_machines) {
    refuses("a100*4", PACE_E_USAGE, "not connected");
    refuses("a100*4 nvlink=0GB/s", PACE_E_USAGE, "above 0");
    refuses("a100*4 nvlink=-3GB/s", PACE_E_USAGE, "above 0");
    refuses("a100*4 nvlink=300", PACE_E_USAGE, "no unit");
    refuses("a100*4 nvlink=300GB/s nodes=2", PACE_E_USAGE, "not connected");
    refuses("a100*0 nvlink=300GB/s", PACE_E_USAGE, "whole number");
    refuses("a100*4 nvlink=300GB/s colour=red", PACE_E_USAGE, "unknown key");
    refuses("warp-drive*4", PACE_E_MISSING, "neither");
    refuses("", PACE_E_USAGE, "expected");
}

TEST(test_bad_questions) {
    pace_exchange e = open_machine("dgx-a100", PACE_LIBRARY_AUTO);
    pace_estimate s;
    pace_exchange_question negative = {PACE_ALLREDUCE, -1, 0, 0, PACE_ANY, PACE_ANY, 0};
    pace_exchange_question many = {PACE_ALLREDUCE, 8, 16, 1, PACE_ANY, PACE_ANY, 0};
    pace_exchange_question tree = {PACE_ALLGATHER, 8, 0, 0, PACE_NCCL_TREE, PACE_ANY, 0};
    int number;
    assert_int_equal(pace_exchange_time(&s, &e, &negative), PACE_E_USAGE);
    assert_int_equal(pace_exchange_time(&s, &e, &many), PACE_E_USAGE);
    assert_int_equal(pace_exchange_time(&s, &e, &tree), PACE_E_USAGE);
    assert_int_equal(pace_exchange_name_algorithm(&number, &e, "carrier_pigeon"), PACE_E_USAGE);
    assert_non_null(strstr(pace_message(), "ring"));
}

TEST(test_names_and_units) {
    static const struct {
        const char *name;
        pace_collective collective;
    } names[] = {{"all_reduce", PACE_ALLREDUCE},      {"ncclAllReduce", PACE_ALLREDUCE},
                 {"osu_allreduce", PACE_ALLREDUCE},   {"reduce_scatter_tensor", PACE_REDUCESCATTER},
                 {"_allgather_base", PACE_ALLGATHER}, {"all_to_allv", PACE_ALLTOALL},
                 {"Broadcast", PACE_BROADCAST},       {"reduce", PACE_REDUCE},
                 {"ncclSend", PACE_SENDRECV}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        pace_collective found;
        assert_true(pace_collective_find(&found, names[i].name));
        assert_int_equal(found, names[i].collective);
    }
    double value;
    assert_true(pace_parse_rate(&value, "200Gb/s") && value == 25e9);
    assert_true(pace_parse_rate(&value, "300GB/s") && value == 300e9);
    assert_true(pace_parse_bytes(&value, "1G") && value == 1073741824.0);
    assert_true(pace_parse_bytes(&value, "25MB") && value == 25e6);
    assert_true(pace_parse_bytes(&value, "64 MiB") && value == 67108864.0);
    assert_false(pace_parse_bytes(&value, "64 ") || pace_parse_bytes(&value, "64 Mi B"));
    assert_true(pace_parse_time(&value, "2.5us") && fabs(value - 2.5e-6) < 1e-18);
    assert_false(pace_parse_rate(&value, "fast") || pace_parse_bytes(&value, "-8") || pace_parse_time(&value, "5"));
}

int main(void) { return run_tests_of_file(NULL, NULL); }
