/* Fits of scaling rows: factors that made the rows are found again, and what chance made is left alone. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmocka_of_tests.h"

#include "ask/rows/scaling_fit.h"
#include "base/random.h"

/* How far models are apart as long as few are known: the catalogue's. */
#define APART 0.29

static const char *const models[] = {"a", "b", "c", "d"}, *const devices[] = {"x", "y"};

/* One lane: `exchange` behind a backward pass that hides `hidden` of it; what is behind can't be negative. */
static void set_curve(pace_scaling_sample *s, double exchange, double hidden) {
    for (int i = 0; i < PACE_SCALING_RATIOS; i++)
        s->exposed_s[i] = s->workers > 1 ? fmax(0, exchange * pace_scaling_ratio(i) - hidden) : 0;
}

/* What the lane says when all its times are changed: no curve is used. */
static double step_of(double own, double exchange, double hidden, double c, double s, double jitter, double most) {
    return c * own * (1 + jitter * most) + fmax(0, s * exchange - c * hidden);
}

/* Four models on two devices, 1 to 16 workers of 8 a node: device y is `slow` times as slow as x. */
static pace_scaling_samples made(double c, double inside, double between, double jitter, double slow) {
    pace_scaling_samples all = {0};
    for (int m = 0; m < 4; m++)
        for (int d = 0; d < 2; d++)
            for (int n = 0; n < 5; n++) {
                double own = 0.1 * (m + 1), exchange = 0.04 * (1 + (3 * m + n) % 4), hidden = 0.3 * own;
                pace_scaling_sample s = {.own_s = own, .skew = 0.05, .batch = 32, .workers = 1 << n};
                s.most = pace_expected_most(1 << n);
                s.between = n == 4;
                s.device = devices[d];
                s.model = models[m];
                set_curve(&s, exchange, hidden);
                double factor = c * (d ? slow : 1);
                s.measured_s =
                    step_of(own, n ? exchange : 0, hidden, factor, s.between ? between : inside, jitter, s.most);
                assert_int_equal(PACE_PUSH(&all, s), PACE_OK);
            }
    return all;
}

TEST(test_nothing_to_fit) {
    pace_scaling_samples all = made(1, 1, 1, 0.05, 1);
    pace_scaling_fit fit;
    pace_scaling_score score;
    for (size_t i = 0; i < all.count; i++) {
        pace_scaling_fit none = pace_scaling_fit_none();
        assert_true(fabs(pace_scaling_fit_step_s(&none, &all.items[i]) / all.items[i].measured_s - 1) < 1e-12);
    }
    assert_int_equal(pace_scaling_fit_learn(&fit, &score, &all, NULL, APART), PACE_OK);
    assert_string_equal(score.chosen, "nothing");
    assert_string_equal(score.held_out, "row");
    assert_int_equal(score.of_models.rows, all.count);
    assert_true(fit.compute == 1 && fit.inside == 1 && fit.between == 1 && fit.jitter < 0 && fit.group_count == 0);
    PACE_VEC_FREE(&all);
}

/* Scaled lanes are what a curve of one variable says: c times that of exchanges s / c times as long. */
TEST(test_one_curve_is_enough) {
    for (int k = 0; k < 40; k++) {
        double c = exp(sin(k)), s = exp(1.5 * cos(3 * k)), own = 0.2, exchange = 0.1, hidden = 0.05;
        pace_scaling_sample sample = {.own_s = own, .skew = 0.05, .workers = 8, .most = 1.4, .device = "", .model = ""};
        pace_scaling_fit fit = pace_scaling_fit_none();
        set_curve(&sample, exchange, 0);
        fit.compute = c;
        fit.inside = s;
        assert_true(fabs(pace_scaling_fit_step_s(&fit, &sample) / step_of(own, exchange, 0, c, s, 0.05, 1.4) - 1) <
                    1e-9);
        set_curve(&sample, exchange, hidden); /* its knee is between two points */
        assert_true(fabs(pace_scaling_fit_step_s(&fit, &sample) / step_of(own, exchange, hidden, c, s, 0.05, 1.4) - 1) <
                    0.025);
    }
}

TEST(test_factors_found) {
    pace_scaling_samples all = made(1.4, 0.8, 3, 0.01, 1);
    pace_scaling_fit fit;
    pace_scaling_score score;
    assert_int_equal(pace_scaling_fit_learn(&fit, &score, &all, "model", APART), PACE_OK);
    assert_true(score.error.formula_mape > 0.2 && score.error.mape < 0.05);
    assert_true(fabs(log(fit.compute / 1.4)) < 0.1 && fabs(log(fit.between / 3)) < 0.15 &&
                fabs(log(fit.inside / 0.8)) < 0.3);
    assert_true(score.error.coverage >= 0.85);
    PACE_VEC_FREE(&all);
}

TEST(test_devices_found) {
    pace_scaling_samples all = made(1.3, 1, 1, 0.05, 1.8);
    pace_scaling_fit fit;
    pace_scaling_score score;
    assert_int_equal(pace_scaling_fit_learn(&fit, &score, &all, NULL, APART), PACE_OK);
    assert_true(fit.group_count >= 2 && score.error.mape < 0.08);
    double apart = pace_scaling_fit_compute(&fit, "y", "a") / pace_scaling_fit_compute(&fit, "x", "a");
    assert_true(fabs(log(apart / 1.8)) < 0.2);
    PACE_VEC_FREE(&all);
}

/* One worker's measured time stays what it is. */
TEST(test_known_worker) {
    pace_scaling_fit fit = {.compute = 9, .inside = 1, .between = 1, .jitter = 0, .fixed_s = 7};
    pace_scaling_sample s = {.own_s = 2, .own_known = true, .workers = 1, .device = "", .model = ""};
    assert_true(pace_scaling_fit_step_s(&fit, &s) == 2);
}

TEST(test_file) {
    char path[] = "/tmp/paceline-scaling-fit-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    pace_scaling_fit fit = {.compute = 1.25,
                            .inside = 0.5,
                            .between = 3,
                            .jitter = 0.02,
                            .fixed_s = 0.004,
                            .groups = {{"device x", 0.1, 12}, {"model b", -0.3, 7}},
                            .group_count = 2,
                            .known = {{"device x", 0.2, 12}, {"model b", 0.2, 12}},
                            .known_count = 2,
                            .unseen_share = 0.5,
                            .unseen_spread = 0.6,
                            .spread = 0.2,
                            .seen = {{1, 8}, {0, 0}}},
                     back;
    assert_int_equal(pace_scaling_fit_save(&fit, path), PACE_OK);
    assert_int_equal(pace_scaling_fit_load(&back, path), PACE_OK);
    unlink(path);
    assert_true(back.seen[0].low == 1 && back.seen[0].high == 8 && back.seen[1].high == 0);
    assert_true(back.compute == 1.25 && back.inside == 0.5 && back.between == 3 && back.jitter == 0.02);
    assert_true(back.fixed_s == 0.004 && back.spread == 0.2 && back.group_count == 2);
    assert_true(pace_scaling_fit_compute(&back, "x", "b") == 1.25 * exp(0.1 - 0.3));
    assert_true(pace_scaling_fit_spread(&back, "x", "b") == 0.2 && pace_scaling_fit_spread(&back, "x", "c") == 0.6 &&
                pace_scaling_fit_spread(&back, "y", "b") == 0.6);
    assert_true(pace_scaling_fit_fixed_s(&back, "b") == 0.004 && pace_scaling_fit_fixed_s(&back, "c") == 0.002);
    assert_true(fabs(pace_scaling_fit_compute(&back, "x", "c") - sqrt(1.25 * exp(0.1))) < 1e-12);
    pace_yaml *other;
    const char steps[] = "{\"schema\": \"paceline.step-fit/1\"}";
    assert_int_equal(pace_yaml_parse(&other, "f", steps, sizeof steps - 1), PACE_OK);
    assert_int_equal(pace_scaling_fit_read(&back, other), PACE_E_INPUT);
    pace_yaml_free(other);
}

TEST(test_refused) {
    pace_scaling_samples all = made(1, 1, 1, 0.05, 1);
    pace_scaling_fit fit;
    pace_scaling_score score;
    assert_int_equal(pace_scaling_fit_learn(&fit, &score, &all, "colour", APART), PACE_E_USAGE);
    all.count = 7;
    assert_int_equal(pace_scaling_fit_learn(&fit, &score, &all, NULL, APART), PACE_E_INPUT);
    all.count = 10; /* of one model, on two devices */
    assert_int_equal(pace_scaling_fit_learn(&fit, &score, &all, NULL, APART), PACE_OK);
    assert_string_equal(score.held_out, "row");
    assert_int_equal(score.of_models.rows, 0);
    assert_int_equal(pace_scaling_fit_learn(&fit, &score, &all, "model", APART), PACE_E_INPUT);
    PACE_VEC_FREE(&all);
}

static double normal(uint64_t *stream) {
    double radius = sqrt(-2 * log(1 - pace_random_uniform(stream)));
    return radius * cos(2 * M_PI * pace_random_uniform(stream));
}

/* A cluster that is off the formula, models that are off the cluster, and rows that err by 3 %. */
static pace_scaling_samples drawn(uint64_t *stream) {
    pace_scaling_samples all = made(1, 1, 1, 0.05, 1);
    double cluster = APART * normal(stream), own[4];
    for (int m = 0; m < 4; m++) own[m] = APART * normal(stream);
    for (size_t i = 0; i < all.count; i++) {
        pace_scaling_fit truth = pace_scaling_fit_none();
        truth.compute = exp(cluster + own[i / (all.count / 4)]);
        all.items[i].measured_s = pace_scaling_fit_step_s(&truth, &all.items[i]) * exp(0.03 * normal(stream));
    }
    return all;
}

/* Models that were fitted are known to within their noise; the interval of one that was not holds it. */
TEST(test_intervals_hold) {
    enum { WORLDS = 12 };
    uint64_t stream = 11;
    double held[2] = {0}, rows[2] = {0}, off[2] = {0};
    for (int world = 0; world < WORLDS; world++) {
        pace_scaling_samples all = drawn(&stream), three = {0};
        pace_scaling_fit fit;
        pace_scaling_score score;
        for (size_t i = 0; i < all.count * 3 / 4; i++)
            if (i % 5 != 2) assert_int_equal(PACE_PUSH(&three, all.items[i]), PACE_OK); /* 4 workers are asked */
        assert_int_equal(pace_scaling_fit_learn(&fit, &score, &three, NULL, APART), PACE_OK);
        for (size_t i = 2; i < all.count; i += 5) {
            const pace_scaling_sample *s = &all.items[i];
            bool unseen = i >= all.count * 3 / 4;
            double error = fabs(log(pace_scaling_fit_step_s(&fit, s) / s->measured_s));
            held[unseen] += error <= PACE_NORMAL_90 * pace_scaling_fit_spread(&fit, s->device, s->model);
            off[unseen] += error;
            rows[unseen]++;
        }
        PACE_VEC_FREE(&all, &three);
    }
    print_message("known: off by %.3f, %.2f held; unseen: %.3f, %.2f\n", off[0] / rows[0], held[0] / rows[0],
                  off[1] / rows[1], held[1] / rows[1]);
    assert_true(off[0] / rows[0] < 0.08 && held[0] / rows[0] >= 0.85);
    assert_true(off[1] / rows[1] < 0.31 && held[1] / rows[1] >= 0.85);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
