/* What pairs of recordings teach of start and of work, against the least squares they are meant to be. */

#include "cmocka_of_tests.h"
#include <math.h>

#include "forecast/pair_calibration.h"

static const pace_device here = {.name = "here"}, there = {.name = "there"};

/* A family's times: moved 1000 ns with a share of start, recorded q longer (a logarithm). */
static void add(pace_pair_calibration *calibration, double share, double q) {
    pace_pair_times moved[PACE_OP_FAMILIES] = {0}, recorded[PACE_OP_FAMILIES] = {0};
    moved[PACE_OP_GEMM] = (pace_pair_times){1000, 1000 * share};
    recorded[PACE_OP_GEMM] = (pace_pair_times){1000 * exp(q), 0};
    assert_int_equal(pace_pair_calibration_add(calibration, &here, &there, moved, recorded), PACE_OK);
}

static void close_to(double a, double b) { assert_true(fabs(a - b) < 1e-9); }

/* Pairs of one kind of kernel: the mean logarithm over n + 1, the spread over its root; the other kind stays. */
TEST(test_one_kind) {
    for (int starts = 0; starts < 2; starts++) {
        pace_pair_calibration calibration = {0};
        const pace_pair_sums *sums = &calibration.of[PACE_OP_GEMM];
        for (int n = 1; n <= 3; n++) {
            add(&calibration, starts, 0.4);
            close_to(log(pace_pair_factor(sums, starts)), 0.4 * n / (n + 1));
            close_to(pace_pair_spread(sums, starts, 0.3), 0.3 / sqrt(n + 1));
            close_to(pace_pair_factor(sums, 1 - starts), 1);
            close_to(pace_pair_spread(sums, 1 - starts, 0.3), 0.3);
        }
        assert_int_equal(sums->pairs, 3);
        assert_int_equal(calibration.of[PACE_OP_SOFTMAX].pairs, 0);
    }
}

/* Sum of squares that the corrections should make least, the ladder's own answer among them. */
static double squares(const double share[], const double q[], int count, double a, double b) {
    double sum = a * a + b * b;
    for (int i = 0; i < count; i++) sum += pow(share[i] * a + (1 - share[i]) * b - q[i], 2);
    return sum;
}

TEST(test_least_squares) {
    const double share[] = {0.9, 0.35, 0.02}, q[] = {-0.4, 0.1, 0.3};
    pace_pair_calibration calibration = {0};
    for (int n = 1; n <= 3; n++) {
        add(&calibration, share[n - 1], q[n - 1]);
        const pace_pair_sums *sums = &calibration.of[PACE_OP_GEMM];
        double a = log(pace_pair_factor(sums, 1)), b = log(pace_pair_factor(sums, 0));
        double least = squares(share, q, n, a, b);
        for (int step = 0; step < 8; step++) { /* a convex bowl: no neighbour is lower */
            double angle = step * atan(1);
            assert_true(squares(share, q, n, a + 1e-3 * cos(angle), b + 1e-3 * sin(angle)) > least);
        }
        close_to(log(pace_pair_factor(sums, 0.5)), (a + b) / 2);
        for (int tenth = 0; tenth <= 10; tenth++) assert_true(pace_pair_spread(sums, tenth / 10.0, 1) <= 1);
    }
}

TEST(test_refuses) {
    pace_pair_calibration calibration = {0};
    const pace_pair_times none[PACE_OP_FAMILIES] = {{0}}, some[PACE_OP_FAMILIES] = {[PACE_OP_GEMM] = {1, 0}};
    assert_int_equal(pace_pair_calibration_add(&calibration, &here, &here, some, some), PACE_E_INPUT);
    assert_int_equal(pace_pair_calibration_add(&calibration, &here, &there, some, none), PACE_E_INPUT);
    assert_int_equal(pace_pair_calibration_add(&calibration, &here, &there, some, some), PACE_OK);
    assert_int_equal(pace_pair_calibration_add(&calibration, &there, &here, some, some), PACE_E_INPUT);
    assert_true(pace_pair_calibration_applies(&calibration, &here, &there));
    assert_false(pace_pair_calibration_applies(&calibration, &there, &here));
    assert_false(pace_pair_calibration_applies(NULL, &here, &there));
    assert_int_equal(calibration.of[PACE_OP_GEMM].pairs, 1);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
