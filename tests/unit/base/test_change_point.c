/* Where a series changes its level: against all shuffles of a short one, and against none in a series without a
 * change. */

#include "cmocka_of_tests.h"

#include "base/change_point.h"
#include "base/random.h"

TEST(test_a_level_shift) {
    const double values[] = {100, 103, 99, 101, 102, 150, 148, 153, 151, 149};
    pace_change_point found;
    (void)state;
    assert_int_equal(pace_change_point_find(&found, values, 10), PACE_OK);
    assert_int_equal(found.at, 5);
    assert_float_equal(found.before, 101, 1e-12);
    assert_float_equal(found.after, 150, 1e-12);
    /* Of 252 ways to choose five of ten, two part the ranks wholly, and no other split of the ten stands out as
     * much. */
    assert_true(found.p > 0.004 && found.p < 0.014);
}

TEST(test_no_shift) {
    double values[40];
    size_t found_any = 0;
    pace_change_point found;
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        uint64_t stream = pace_random_stream(seed, 7);
        for (int i = 0; i < 40; i++) values[i] = pace_random_uniform(&stream);
        assert_int_equal(pace_change_point_find(&found, values, 40), PACE_OK);
        found_any += found.p <= 0.05;
    }
    assert_true(found_any >= 2 && found_any <= 20); /* one in twenty by chance */
}

TEST(test_too_few_and_alike) {
    const double values[] = {1, 1, 1, 9, 9, 9}, alike[] = {4, 4, 4, 4, 4, 4, 4};
    pace_change_point found;
    (void)state;
    assert_int_equal(pace_change_point_find(&found, values, 5), PACE_OK);
    assert_int_equal(found.at, 0);
    assert_int_equal(pace_change_point_find(&found, alike, 7), PACE_OK);
    assert_int_equal(found.at, 0);
    assert_float_equal(found.p, 1, 0);
    assert_int_equal(pace_change_point_find(&found, values, 6), PACE_OK);
    assert_int_equal(found.at, 3);
    assert_true(found.p > 0.05); /* two of twenty */
    assert_int_equal(pace_memory_live(), 0);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
