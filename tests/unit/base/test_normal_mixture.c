/* Mixtures of normals: against closed forms of one part, of parts far apart, and a sum by hand. */
#include "base/normal_mixture.h"

#include <math.h>

#include "cmocka_of_tests.h"

TEST(test_one_part) {
    const pace_normal_part part = {1, 3, 0.2};
    assert_true(fabs(pace_mixture_median(&part, 1) - 3) < 1e-9);
    assert_true(fabs(pace_mixture_spread(&part, 1, 3) - 0.2) < 1e-9);
}

/* Two alike, apart: the middle lies between; of narrow ones 90 % reach 4/5 into both. */
TEST(test_two_parts) {
    const pace_normal_part parts[] = {{0.5, -1, 1e-3}, {0.5, 1, 1e-3}};
    const pace_normal_part wide[] = {{0.5, -1, 1}, {0.5, 1, 1}};
    assert_true(fabs(pace_mixture_median(wide, 2)) < 1e-9);
    assert_true(fabs(pace_mixture_spread(parts, 2, 0) * 1.6448536269514722 - (1 + 1e-3 * 1.2815515655446004)) < 1e-6);
}

/* A heavy tail moves the median less than the mean, and 90 % are nearer than the standard deviation says. */
TEST(test_tail) {
    const pace_normal_part parts[] = {{0.97, 0, 0.1}, {0.03, 3, 0.1}};
    double middle = pace_mixture_median(parts, 2), spread = pace_mixture_spread(parts, 2, middle);
    /* 0.97 of the first part's share below it is a half: at the quantile 0.5 / 0.97. */
    assert_true(fabs(0.97 * erfc(-middle / 0.1 * M_SQRT1_2) / 2 - 0.5) < 1e-9);
    assert_true(spread < 0.15);
    double reach = spread * 1.6448536269514722;
    double within = 0.97 * (erfc(-(middle + reach) / 0.1 * M_SQRT1_2) - erfc(-(middle - reach) / 0.1 * M_SQRT1_2)) / 2;
    assert_true(fabs(within - 0.9) < 1e-9);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
