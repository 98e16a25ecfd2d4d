/* When a fit beats its formula on rows that it did not see: by more than one standard error, or surely. */

#include "cmocka_of_tests.h"
#include <math.h>

#include "ask/rows/held_out.h"

/* Units of one row each, whose errors fall by 0.10, 0.02, 0.06 and so on. Student's t of 0.95: tables, two to nine
 * degrees of freedom. */
TEST(test_surely) {
    static const double table[] = {2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833};
    static const double gains[] = {0.10, 0.02, 0.06, 0.08, 0.04, 0.07, 0.05, 0.03, 0.09, 0.06};
    double before[10], after[10];
    unsigned unit[10];
    (void)state;
    for (unsigned i = 0; i < 10; i++) before[i] = 0.2, after[i] = 0.2 - gains[i], unit[i] = i;
    for (size_t n = 3; n <= 10; n++) {
        double mean = 0, squares = 0;
        for (size_t i = 0; i < n; i++) mean += gains[i] / (double)n;
        for (size_t i = 0; i < n; i++) squares += pow(gains[i] - mean, 2);
        double error = sqrt(squares / (double)(n - 1) / (double)n); /* of the mean */
        assert_true(fabs(pace_held_out_gain(before, after, unit, n, false) - (mean - error)) < 1e-12);
        double surely = (mean - pace_held_out_gain(before, after, unit, n, true)) / error;
        assert_true(fabs(surely / table[n - 3] - 1) < 0.06);
    }
    assert_true(pace_held_out_gain(before, after, unit, 1, true) == -1);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
