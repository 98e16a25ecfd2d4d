/* The rank-sum test against the enumeration of every arrangement, and against its own symmetries. */

#include "cmocka_of_tests.h"
#include <math.h>

#include "base/autocorrelation.h"
#include "base/change_point.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/rank_test.h"

/* How often a random choice of n of n + m ranks has a U as far from its middle as `u`, of all choices. */
static double enumerate(unsigned n, unsigned m, double u) {
    double far = 0, all = 0, middle = n * m / 2.0;
    for (uint32_t set = 0; set < UINT32_C(1) << (n + m); set++) {
        unsigned below = 0, ours = 0, wins = 0;
        for (unsigned i = 0; i < n + m; i++) {
            if (set >> i & 1) wins += below, ours++;
            else below++;
        }
        if (ours != n) continue;
        all++;
        far += fabs(wins - middle) >= fabs(u - middle) - 1e-9;
    }
    return far / all;
}

static double u_of(const int64_t *a, size_t n, const int64_t *b, size_t m) {
    double wins = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++) wins += a[i] > b[j];
    return wins;
}

TEST(test_exact) {
    uint64_t seed = 1;
    (void)state;
    for (unsigned n = 1; n <= 7; n++)
        for (unsigned m = 1; m <= 7; m++)
            for (int round = 0; round < 5; round++) {
                int64_t a[7], b[7];
                pace_rank_test test;
                for (unsigned i = 0; i < n; i++)
                    a[i] = (int64_t)((seed = seed * 6364136223846793005u + 1) >> 33) * 2 + 1;
                for (unsigned j = 0; j < m; j++)
                    b[j] = (int64_t)((seed = seed * 6364136223846793005u + 1) >> 33) * 2 + 2;
                assert_int_equal(pace_rank_test_of(&test, a, n, b, m, 0), PACE_OK);
                assert_float_equal(test.p, enumerate(n, m, u_of(a, n, b, m)), 1e-9);
                assert_float_equal(test.least_p, enumerate(n, m, 0), 1e-9);
            }
    assert_int_equal(pace_memory_live(), 0);
}

/* Published critical values: three against three never reach 0.05, four against four do when they are apart. */
TEST(test_apart) {
    static const int64_t low[] = {100, 101, 102, 103}, high[] = {110, 111, 112, 113};
    pace_rank_test test;
    (void)state;
    assert_int_equal(pace_rank_test_of(&test, low, 3, high, 3, 0), PACE_OK);
    assert_float_equal(test.p, 0.1, 1e-12);
    assert_float_equal(test.low, 110.0 / 102, 1e-12); /* 90 %: from the smallest to the largest ratio */
    assert_float_equal(test.high, 112.0 / 100, 1e-12);
    assert_int_equal(pace_rank_test_of(&test, low, 4, high, 4, 0), PACE_OK);
    assert_float_equal(test.p, 2.0 / 70, 1e-12);
    assert_true(test.low > 110.0 / 103 && test.high < 113.0 / 100 && test.low < 1.1 && test.high > 1.1);
    assert_int_equal(pace_rank_test_of(&test, low, 2, high, 2, 0), PACE_OK);
    assert_true(isnan(test.low) && isnan(test.high));
    assert_float_equal(test.least_p, 1.0 / 3, 1e-12);
}

TEST(test_ties_and_large) {
    int64_t a[300], b[300];
    pace_rank_test test;
    (void)state;
    for (int i = 0; i < 300; i++) a[i] = b[i] = 7;
    assert_int_equal(pace_rank_test_of(&test, a, 300, b, 300, 0), PACE_OK);
    assert_float_equal(test.p, 1, 0);
    assert_float_equal(test.low, 1, 0);
    for (int i = 0; i < 300; i++) a[i] = 1000 + i, b[i] = 1030 + i;
    assert_int_equal(pace_rank_test_of(&test, a, 300, b, 300, 0), PACE_OK);
    assert_true(test.p < 1e-4 && test.low > 1 && test.low < test.high && test.high < 1.06);
    assert_int_equal(pace_rank_test_of(&test, a, 0, b, 300, 0), PACE_OK);
    assert_float_equal(test.p, 1, 0);
    assert_int_equal(pace_memory_live(), 0);
}

enum { MOST_VALUES = 200 };

/* Box and Muller 1958. */
static double normal(uint64_t *stream) {
    double radius = sqrt(-2 * log(1 - pace_random_uniform(stream)));
    return radius * cos(2 * M_PI * pace_random_uniform(stream));
}

/* A stationary autoregressive process of first order around 100, deviation 2. */
static void follow(double *values, size_t count, double r, uint64_t *stream) {
    double now = normal(stream);
    for (size_t i = 0; i < count; i++) {
        now = r * now + sqrt(1 - r * r) * normal(stream);
        values[i] = 100 + 2 * now;
    }
}

static double correlation_of(const double *a, const double *b, size_t count) {
    double r;
    assert_int_equal(pace_autocorrelation_of(&r, a, count, b, count), PACE_OK);
    return r;
}

/* A mean of n values varies by the double sum of their correlations. */
TEST(test_values_as_one) {
    (void)state;
    for (size_t n = 1; n <= 30; n += 7)
        for (double r = 0; r < 0.95; r += 0.3) {
            double sum = 0;
            for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < n; j++) sum += pow(r, fabs((double)i - (double)j));
            assert_true(fabs(pace_values_as_one(n, r) - sum / (double)n) < 1e-9);
        }
    assert_float_equal(pace_difference_inflation(1, 1, 0.9), 1, 0);
}

static size_t false_alarms(double *mean_r, size_t *holding, double r, size_t count, size_t rounds) {
    uint64_t stream = pace_random_stream(7, count);
    size_t alarms = 0;
    *mean_r = 0, *holding = 0;
    for (size_t round = 0; round < rounds; round++) {
        double a[MOST_VALUES], b[MOST_VALUES];
        int64_t a_ns[MOST_VALUES], b_ns[MOST_VALUES];
        follow(a, count, r, &stream), follow(b, count, r, &stream);
        for (size_t i = 0; i < count; i++) a_ns[i] = llround(a[i] * 1e6), b_ns[i] = llround(b[i] * 1e6);
        double found = correlation_of(a, b, count);
        pace_rank_test test;
        assert_int_equal(pace_rank_test_of(&test, a_ns, count, b_ns, count, found), PACE_OK);
        *mean_r += found / (double)rounds;
        alarms += test.p <= PACE_CHANGE_LEVEL;
        *holding += test.low <= 1 && test.high >= 1;
    }
    return alarms;
}

/* Two samples of one process differ in one case of twenty, and nine of ten intervals hold 1, whether values resemble
 * those before them or not. As independent values half of those with r = 0.8 would differ. */
TEST(test_values_that_follow_each_other) {
    enum { ROUNDS = 300 };
    double r;
    size_t holding;
    (void)state;
    assert_true(false_alarms(&r, &holding, 0, 40, ROUNDS) <= ROUNDS / 12 && r < 0.1);
    assert_true(holding >= ROUNDS * 86 / 100);
    assert_true(false_alarms(&r, &holding, 0.8, 100, ROUNDS) <= ROUNDS / 10);
    assert_true(r > 0.74 && r < 0.82 && holding >= ROUNDS * 82 / 100);
    assert_true(false_alarms(&r, &holding, 0.5, 20, ROUNDS) <= ROUNDS / 10);
    assert_int_equal(pace_memory_live(), 0);
}

/* Nor has a process another level because it wanders. */
TEST(test_no_level_of_a_process) {
    enum { ROUNDS = 100, COUNT = 60 };
    uint64_t stream = pace_random_stream(11, 1);
    size_t found = 0, apart = 0;
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        double values[COUNT];
        pace_change_point point;
        follow(values, COUNT, 0.7, &stream);
        assert_int_equal(pace_change_point_find(&point, values, COUNT), PACE_OK);
        found += point.p <= 0.05;
        for (int i = COUNT / 2; i < COUNT; i++) values[i] += 10;
        assert_int_equal(pace_change_point_find(&point, values, COUNT), PACE_OK);
        apart += point.p <= 0.05 && point.at == COUNT / 2;
    }
    assert_true(found <= ROUNDS * 15 / 100 && apart >= ROUNDS * 9 / 10);
}

/* Samples of one process, whose values resemble those before them: how often they are told to differ. */
static double share_told_apart(size_t count, double r) {
    enum { MOST_COUNT = 30, PAIRS = 1500 };
    double values[2 * MOST_COUNT], correlation, about = 0;
    int64_t lengths[2 * MOST_COUNT];
    uint64_t stream = pace_random_stream(count, 5);
    size_t told = 0;
    pace_rank_test test;
    for (int n = 0; n < PAIRS; n++) {
        for (size_t i = 0; i < 2 * count; i++) {
            bool first = i % count == 0;
            about = first ? normal(&stream) : r * about + sqrt(1 - r * r) * normal(&stream);
            values[i] = exp(0.03 * about);
            lengths[i] = llround(1e9 * values[i]);
        }
        assert_int_equal(pace_autocorrelation_of(&correlation, values, count, values + count, count), PACE_OK);
        assert_int_equal(pace_rank_test_of(&test, lengths, count, lengths + count, count, correlation), PACE_OK);
        told += test.p <= PACE_CHANGE_LEVEL;
    }
    return (double)told / PAIRS;
}

/* By a normal distribution 16 and 28 % of samples of ten were told apart, 10 and 18 % of thirty. Of independent ones it
 * stays one in twenty. */
TEST(test_lasting_noise) {
    (void)state;
    assert_true(share_told_apart(10, 0.8) < 0.15);
    assert_true(share_told_apart(10, 0.95) < 0.20);
    assert_true(share_told_apart(30, 0.8) < 0.10);
    assert_true(share_told_apart(30, 0.95) < 0.16);
    assert_true(share_told_apart(30, 0) > 0.02 && share_told_apart(30, 0) < 0.055);
}

/* The least p that the test itself gives: at the fewest values it tells a difference, with one less it cannot. */
TEST(test_enough_before) {
    int64_t values[64];
    pace_rank_test enough, fewer;
    (void)state;
    for (int i = 0; i < 64; i++) values[i] = i + 1;
    for (size_t last = 1; last <= 12; last++) {
        size_t before = pace_rank_test_enough(last);
        assert_int_equal(pace_rank_test_of(&enough, values, before, values + before, last, 0), PACE_OK);
        assert_int_equal(pace_rank_test_of(&fewer, values, before - 1, values + before - 1, last, 0), PACE_OK);
        assert_true(enough.least_p <= PACE_CHANGE_LEVEL && fewer.least_p > PACE_CHANGE_LEVEL);
    }
    assert_int_equal(pace_rank_test_enough(1), 39);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
