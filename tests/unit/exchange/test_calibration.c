/* Measured curves: laws that are known come back, at other sizes, other ranks and as other collectives. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_of_tests.h"

#include "exchange/calibration.h"
#include "exchange/exchange.h"
#include "catalog_of_tests.h"

static const double call = 8e-6, hop = 1e-6, rate = 2e11;

/* A ring as simple as one can be. */
static double law(pace_collective collective, int ranks, double bytes) {
    double rounds = collective == PACE_ALLREDUCE ? 2 : 1;
    return call + rounds * (ranks - 1) * hop + bytes * pace_bus_factor(collective, ranks) / rate;
}

static pace_doubts doubts;

static int load_doubts(void **state) {
    (void)state;
    return pace_doubts_load(&doubts, test_catalog()) != PACE_OK;
}

static void add_curve(pace_exchange_fit *fit, pace_collective collective, int ranks, double factor) {
    pace_exchange_curve key = {.system = "here", .collective = collective, .ranks_per_node = ranks, .nodes = 1};
    pace_curve_point points[40];
    size_t count = 0;
    for (double bytes = 1073741824.0; bytes >= 8; bytes /= factor)
        points[count++] = (pace_curve_point){bytes, law(collective, ranks, bytes)};
    assert_int_equal(pace_exchange_fit_add(fit, &key, points, count), PACE_OK);
}

static double asked(const pace_exchange_fit *fit, pace_collective collective, int ranks, double bytes) {
    pace_estimate s;
    pace_fit_question q = {.system = "here",
                           .collective = collective,
                           .bytes = bytes,
                           .ranks_per_node = ranks,
                           .nodes = 1,
                           .doubts = &doubts};
    if (pace_exchange_fit_time(&s, fit, &q) != PACE_OK) fail_msg("%s", pace_message());
    assert_true(s.spread > 0 && s.rung == PACE_RUNG_CALIBRATED);
    return s.median;
}

TEST(test_between_and_beyond_sizes) {
    pace_exchange_fit fit = {.unit_s = 1, .unit = "s"};
    add_curve(&fit, PACE_ALLREDUCE, 8, 32);
    for (double bytes = 64; bytes < 1e11; bytes *= 3)
        assert_true(fabs(asked(&fit, PACE_ALLREDUCE, 8, bytes) / law(PACE_ALLREDUCE, 8, bytes) - 1) < 1e-9);
    assert_true(asked(&fit, PACE_ALLREDUCE, 8, 1) > call);
    pace_exchange_fit_free(&fit);
}

/* Fitted on one side of the sizes and asked on the other, a machine's model carries the shape: what takes
 * 15 % longer than it says is found on the other side, in an interval that grows with the distance. */
TEST(test_far_beyond_sizes) {
    pace_machine machine;
    pace_exchange model;
    pace_estimate s;
    assert_int_equal(pace_machine_parse(&machine, test_catalog(), "dgx-a100"), PACE_OK);
    assert_int_equal(pace_exchange_open(&model, test_catalog(), &machine, PACE_LIBRARY_AUTO, NULL), PACE_OK);
    for (int large = 0; large < 2; large++) {
        pace_exchange_fit fit = {.unit_s = 1, .unit = "s"};
        pace_exchange_curve key = {.system = "here", .collective = PACE_ALLREDUCE, .ranks_per_node = 8, .nodes = 1};
        pace_curve_point points[8];
        for (int i = 0; i < 8; i++) {
            pace_exchange_question q = {PACE_ALLREDUCE, ldexp(large ? 16777216 : 512, i), 8, 1, PACE_ANY, PACE_ANY, 0};
            assert_int_equal(pace_exchange_time(&s, &model, &q), PACE_OK);
            points[i] = (pace_curve_point){q.bytes, s.median * 1.15};
        }
        assert_int_equal(pace_exchange_fit_add(&fit, &key, points, 8), PACE_OK);
        double spread = 0;
        for (int i = 2; i < 12; i += 3) {
            double bytes = large ? ldexp(16777216, -i) : ldexp(65536, i);
            pace_exchange_question q = {PACE_ALLREDUCE, bytes, 8, 1, PACE_ANY, PACE_ANY, 0};
            pace_doubts_used used = {{0}, false};
            pace_fit_question f = {.collective = PACE_ALLREDUCE,
                                   .bytes = bytes,
                                   .ranks_per_node = 8,
                                   .nodes = 1,
                                   .model = &model,
                                   .doubts = &doubts,
                                   .used = &used};
            pace_estimate truth;
            assert_int_equal(pace_exchange_time(&truth, &model, &q), PACE_OK);
            assert_int_equal(pace_exchange_fit_time(&s, &fit, &f), PACE_OK);
            assert_true(fabs(log(s.median / truth.median / 1.15)) < 0.2);
            assert_true(pace_estimate_low(s) < truth.median * 1.15 && pace_estimate_high(s) > truth.median * 1.15);
            assert_true(used.beyond_sizes && s.spread > spread);
            spread = s.spread;
        }
        pace_exchange_fit_free(&fit);
    }
}

/* Where hops or bytes dominate the law is exact; between them it is near. */
TEST(test_other_ranks) {
    pace_exchange_fit fit = {.unit_s = 1, .unit = "s"};
    add_curve(&fit, PACE_ALLREDUCE, 2, 2);
    add_curve(&fit, PACE_ALLREDUCE, 8, 2);
    assert_true(fabs(asked(&fit, PACE_ALLREDUCE, 4, 8) / law(PACE_ALLREDUCE, 4, 8) - 1) < 1e-3);
    assert_true(fabs(asked(&fit, PACE_ALLREDUCE, 4, 1e9) / law(PACE_ALLREDUCE, 4, 1e9) - 1) < 1e-2);
    for (double bytes = 8; bytes < 1e9; bytes *= 2)
        assert_true(fabs(asked(&fit, PACE_ALLREDUCE, 4, bytes) / law(PACE_ALLREDUCE, 4, bytes) - 1) < 0.05);
    pace_exchange_fit_free(&fit);
}

TEST(test_other_collectives) {
    pace_exchange_fit fit = {.unit_s = 1, .unit = "s"};
    pace_estimate s;
    add_curve(&fit, PACE_ALLREDUCE, 8, 2);
    for (double bytes = 8; bytes < 1e9; bytes *= 2)
        assert_true(fabs(asked(&fit, PACE_ALLGATHER, 8, bytes) / law(PACE_ALLGATHER, 8, bytes) - 1) < 0.05);
    /* What was measured on one node does not tell of two, nor one system of another. */
    pace_fit_question two = {
        .system = "here", .collective = PACE_ALLREDUCE, .bytes = 8, .ranks_per_node = 8, .nodes = 2, .doubts = &doubts};
    pace_fit_question elsewhere = {.system = "elsewhere",
                                   .collective = PACE_ALLREDUCE,
                                   .bytes = 8,
                                   .ranks_per_node = 8,
                                   .nodes = 1,
                                   .doubts = &doubts};
    assert_int_equal(pace_exchange_fit_time(&s, &fit, &two), PACE_E_MISSING);
    assert_int_equal(pace_exchange_fit_time(&s, &fit, &elsewhere), PACE_E_MISSING);
    pace_exchange_fit_free(&fit);
}

/* Beyond the ranks that were measured a ring's law comes back nearly; one node tells of two only with a model. */
TEST(test_beyond) {
    pace_exchange_fit fit = {.unit_s = 1, .unit = "s"};
    pace_machine machine;
    pace_exchange model;
    pace_estimate s;
    add_curve(&fit, PACE_ALLREDUCE, 4, 2);
    add_curve(&fit, PACE_ALLREDUCE, 8, 2);
    for (double bytes = 8; bytes < 1e9; bytes *= 2) {
        assert_true(fabs(asked(&fit, PACE_ALLREDUCE, 16, bytes) / law(PACE_ALLREDUCE, 16, bytes) - 1) < 0.2);
        assert_true(fabs(asked(&fit, PACE_ALLREDUCE, 2, bytes) / law(PACE_ALLREDUCE, 2, bytes) - 1) < 0.2);
    }
    assert_int_equal(pace_machine_parse(&machine, test_catalog(), "dgx-a100*2"), PACE_OK);
    assert_int_equal(pace_exchange_open(&model, test_catalog(), &machine, PACE_LIBRARY_AUTO, NULL), PACE_OK);
    pace_fit_question two = {
        .collective = PACE_ALLREDUCE, .ranks_per_node = 8, .nodes = 2, .model = &model, .doubts = &doubts};
    for (two.bytes = 8; two.bytes < 1e10; two.bytes *= 4) {
        assert_int_equal(pace_exchange_fit_time(&s, &fit, &two), PACE_OK);
        assert_true(s.median > asked(&fit, PACE_ALLREDUCE, 8, two.bytes) && s.spread > 0.3);
    }
    pace_exchange_fit_free(&fit);
}

/* Curves of other libraries and of wider elements stand apart; what names neither gets their median. */
TEST(test_variants) {
    static const struct {
        const char *variant;
        int element_bytes;
        double time_s;
    } curves[] = {{"old", 2, 1}, {"old", 1, 2}, {"new", 2, 4}, {"new", 1, 8}, {"newest", 4, 3}};
    pace_exchange_fit fit = {.unit_s = 1, .unit = "s"};
    for (size_t i = 0; i < sizeof curves / sizeof *curves; i++) {
        pace_exchange_curve key = {.system = "here", .collective = PACE_ALLREDUCE, .ranks_per_node = 8, .nodes = 1};
        pace_curve_point points[] = {{8, curves[i].time_s}, {16, curves[i].time_s}};
        strcpy(key.variant, curves[i].variant);
        key.element_bytes = curves[i].element_bytes;
        assert_int_equal(pace_exchange_fit_add(&fit, &key, points, 2), PACE_OK);
    }
    pace_fit_question q = {
        .collective = PACE_ALLREDUCE, .bytes = 10, .ranks_per_node = 8, .nodes = 1, .doubts = &doubts};
    pace_estimate s;
    for (size_t i = 0; i < sizeof curves / sizeof *curves; i++) {
        q.variant = curves[i].variant;
        q.element_bytes = curves[i].element_bytes;
        assert_int_equal(pace_exchange_fit_time(&s, &fit, &q), PACE_OK);
        assert_true(fabs(s.median - curves[i].time_s) < 1e-12);
    }
    q.variant = "other";
    q.element_bytes = 8;
    assert_int_equal(pace_exchange_fit_time(&s, &fit, &q), PACE_OK);
    assert_true(fabs(s.median - 3) < 1e-12);
    q.element_bytes = 2;
    assert_int_equal(pace_exchange_fit_time(&s, &fit, &q), PACE_OK);
    assert_true(fabs(s.median - 2.5) < 1e-12);
    pace_exchange_fit_free(&fit);
}

TEST(test_tidy_and_probes) {
    pace_curve_point points[] = {{64, 3}, {8, 1}, {64, 9}, {64, 4}, {8, 2}};
    assert_int_equal(pace_curve_tidy(points, 5), 2);
    assert_true(points[0].bytes == 8 && points[0].time_s == 1.5 && points[1].time_s == 4);
    pace_curve_point range[28];
    size_t chosen[28];
    for (int i = 0; i < 28; i++) range[i] = (pace_curve_point){8.0 * (1 << i), 1};
    size_t count = pace_curve_probes(chosen, range, 28, 6);
    assert_int_equal(count, 6);
    assert_true(chosen[0] == 0 && chosen[5] == 27);
    assert_true(range[chosen[1]].bytes == 32768 && range[chosen[4]].bytes == 33554432);
    for (size_t i = 1; i < count; i++) assert_true(chosen[i] > chosen[i - 1]);
    assert_int_equal(pace_curve_probes(chosen, range, 3, 6), 3);
    assert_int_equal(pace_curve_probes(chosen, range, 28, 1), 1);
    assert_true(range[chosen[0]].bytes == 1048576);
}

TEST(test_file_round_trip) {
    char path[] = "/tmp/paceline-fit-XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    pace_exchange_fit fit = {.unit_s = 1e-6, .unit = "us"}, back;
    add_curve(&fit, PACE_ALLREDUCE, 2, 4);
    add_curve(&fit, PACE_ALLTOALL, 8, 4);
    assert_int_equal(pace_exchange_fit_save(&fit, path), PACE_OK);
    assert_int_equal(pace_exchange_fit_load(&back, path), PACE_OK);
    assert_int_equal(back.curves.count, 2);
    assert_true(back.unit_s == 1e-6 && strcmp(back.unit, "us") == 0);
    assert_int_equal(back.points.count, fit.points.count);
    for (size_t i = 0; i < fit.points.count; i++)
        assert_memory_equal(&back.points.items[i], &fit.points.items[i], sizeof(pace_curve_point));
    pace_exchange_fit_free(&fit);
    pace_exchange_fit_free(&back);
    remove(path);
}

TEST(test_bad_fits) {
    pace_exchange_fit fit = {0};
    pace_exchange_curve key = {.system = "here", .collective = PACE_ALLREDUCE, .ranks_per_node = 8, .nodes = 1};
    pace_curve_point negative[] = {{8, 1}, {16, -2}};
    assert_int_equal(pace_exchange_fit_add(&fit, &key, negative, 0), PACE_E_INPUT);
    assert_int_equal(pace_exchange_fit_add(&fit, &key, negative, 2), PACE_E_INPUT);
    static const char *const texts[] = {
        "{}", "[1]", "{\"schema\": \"paceline.exchange-fit/1\"}",
        "{\"schema\": \"paceline.exchange-fit/1\", \"unit\": \"us\", \"unit_s\": 1e-6, \"curves\": []}",
        "{\"schema\": \"paceline.exchange-fit/1\", \"unit\": \"us\", \"unit_s\": 1e-6, \"curves\": [{\"system\": \"a\", "
        "\"collective\": \"allreduce\", \"ranks_per_node\": 0, \"nodes\": 1, \"points\": [[8, 1], [16, 2]]}]}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        pace_yaml *yaml;
        assert_int_equal(pace_yaml_parse(&yaml, "text", texts[i], strlen(texts[i])), PACE_OK);
        assert_int_equal(pace_exchange_fit_read(&fit, yaml), PACE_E_INPUT);
        pace_yaml_free(yaml);
    }
    pace_exchange_fit_free(&fit);
}

int main(void) { return run_tests_of_file(load_doubts, NULL); }
