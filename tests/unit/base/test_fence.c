/* Tukey's fence, against numpy.percentile and by hand. */

#include "cmocka_of_tests.h"

#include "base/fence.h"

/* numpy.percentile([1, 2, 4, 8, 100], 25), 50, 75; and of [3, 9], 25. */
TEST(quantiles_are_numpys) {
    const int64_t five[] = {1, 2, 4, 8, 100}, two[] = {3, 9}, one[] = {7};
    (void)state;
    assert_true(pace_quantile_ns(five, 5, 0.25) == 2);
    assert_true(pace_quantile_ns(five, 5, 0.5) == 4);
    assert_true(pace_quantile_ns(five, 5, 0.75) == 8);
    assert_true(pace_quantile_ns(two, 2, 0.25) == 4.5);
    assert_true(pace_quantile_ns(one, 1, 0.9) == 7);
}

/* Q1 = 2, Q3 = 8: from -7 to 17 is inside. */
TEST(outliers_lie_outside) {
    const int64_t five[] = {1, 2, 4, 8, 100}, below[] = {-100, 4, 5, 6, 7}, one[] = {7};
    size_t low, high;
    (void)state;
    pace_fence(&low, &high, five, 5);
    assert_int_equal(low, 0);
    assert_int_equal(high, 4);
    pace_fence(&low, &high, below, 5);
    assert_int_equal(low, 1);
    assert_int_equal(high, 5);
    pace_fence(&low, &high, one, 1);
    assert_int_equal(high - low, 1);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
