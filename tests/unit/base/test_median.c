/* Medians and their intervals: published tables of order statistics, and how often the interval covers. */
#include "base/median.h"
#include "base/random.h"

#include <math.h>

#include "cmocka_of_tests.h"

/* Conover, Practical Nonparametric Statistics, table A3 (binomial, p = 0.5): of 20 values the 6th and the 15th cover
 * the median in 95.9 %, the 7th and 14th in 88.5 %. */
TEST(test_order) {
    double values[20];
    (void)state;
    for (int i = 0; i < 20; i++) values[i] = 20 - i;
    pace_median_interval m = pace_median_interval_of(values, 20, 0.9);
    assert_true(m.median == 10.5 && m.low == 6 && m.high == 15);
    for (int i = 0; i < 20; i++) values[i] = 20 - i;
    m = pace_median_interval_of(values, 20, 0.88);
    assert_true(m.low == 7 && m.high == 14);
}

TEST(test_few) {
    double values[3] = {5, 1, 3};
    (void)state;
    pace_median_interval m = pace_median_interval_of(values, 3, 0.9);
    assert_true(m.median == 3 && m.low == 1 && m.high == 5);
    assert_true(isnan(pace_median_interval_of(values, 0, 0.9).median));
}

TEST(test_coverage) {
    uint64_t stream = 11;
    int covered = 0;
    (void)state;
    for (int round = 0; round < 2000; round++) {
        double values[25];
        for (int i = 0; i < 25; i++) values[i] = -log(1 - pace_random_uniform(&stream));
        pace_median_interval m = pace_median_interval_of(values, 25, 0.9);
        covered += m.low <= log(2) && log(2) <= m.high;
    }
    assert_true(covered >= 1800);
}

static double normal(uint64_t *stream) {
    double u = 1 - pace_random_uniform(stream), v = pace_random_uniform(stream);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

static int covered(size_t count, double like, bool series) {
    uint64_t stream = count;
    int held = 0;
    for (int round = 0; round < 1000; round++) {
        double values[200], now = normal(&stream);
        for (size_t i = 0; i < count; i++, now = like * now + sqrt(1 - like * like) * normal(&stream))
            values[i] = exp(0.1 * now);
        pace_median_interval m = pace_median_interval_of(values, 0, 0.9);
        if (series) assert_int_equal(pace_series_median_of(&m, values, count, 0.9), PACE_OK);
        else m = pace_median_interval_of(values, count, 0.9);
        held += m.low <= 1 && 1 <= m.high;
    }
    return held;
}

/* Values that resemble those before them: the interval of independent ones holds the median in half of all cases. */
TEST(test_series) {
    (void)state;
    assert_true(covered(200, 0.8, false) < 600);
    assert_true(covered(200, 0.8, true) >= 900 && covered(20, 0.8, true) >= 880);
    assert_true(covered(50, 0.5, true) >= 900 && covered(50, 0, true) >= 900);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
