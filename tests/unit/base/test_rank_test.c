/* The rank-sum test against the enumeration of every arrangement, and against its own symmetries. */

#include "cmocka_of_tests.h"
#include <math.h>

#include "base/memory.h"
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
                assert_int_equal(pace_rank_test_of(&test, a, n, b, m), PACE_OK);
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
    assert_int_equal(pace_rank_test_of(&test, low, 3, high, 3), PACE_OK);
    assert_float_equal(test.p, 0.1, 1e-12);
    assert_float_equal(test.low, 110.0 / 102, 1e-12); /* 90 %: from the smallest to the largest ratio */
    assert_float_equal(test.high, 112.0 / 100, 1e-12);
    assert_int_equal(pace_rank_test_of(&test, low, 4, high, 4), PACE_OK);
    assert_float_equal(test.p, 2.0 / 70, 1e-12);
    assert_true(test.low > 110.0 / 103 && test.high < 113.0 / 100 && test.low < 1.1 && test.high > 1.1);
    assert_int_equal(pace_rank_test_of(&test, low, 2, high, 2), PACE_OK);
    assert_true(isnan(test.low) && isnan(test.high));
    assert_float_equal(test.least_p, 1.0 / 3, 1e-12);
}

TEST(test_ties_and_large) {
    int64_t a[300], b[300];
    pace_rank_test test;
    (void)state;
    for (int i = 0; i < 300; i++) a[i] = b[i] = 7;
    assert_int_equal(pace_rank_test_of(&test, a, 300, b, 300), PACE_OK);
    assert_float_equal(test.p, 1, 0);
    assert_float_equal(test.low, 1, 0);
    for (int i = 0; i < 300; i++) a[i] = 1000 + i, b[i] = 1030 + i;
    assert_int_equal(pace_rank_test_of(&test, a, 300, b, 300), PACE_OK);
    assert_true(test.p < 1e-4 && test.low > 1 && test.low < test.high && test.high < 1.06);
    assert_int_equal(pace_rank_test_of(&test, a, 0, b, 300), PACE_OK);
    assert_float_equal(test.p, 1, 0);
    assert_int_equal(pace_memory_live(), 0);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
