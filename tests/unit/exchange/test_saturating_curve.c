/* The curve of eight parameters: points made from one are given back, and what it cannot fit is refused. */
#include <math.h>

#include "cmocka_of_tests.h"

#include "exchange/saturating_curve.h"

/* The constants that ml_perf_model fitted to all_to_all on four V100: floor 85.6 us, full 56.7134 GB/s; log10 of GB/s =
 * 5.97878216 / (1 + exp(-0.22551425 (x - 13.33976161))) - 3.99731681, which in bytes/s is 9 more. */
static const pace_saturating_curve published = {.floor_s = 85.6e-6,
                                                .from = 13,
                                                .to = 27,
                                                .height = 5.97878216,
                                                .middle = 13.33976161,
                                                .slope = 0.22551425,
                                                .base = 9 - 3.99731681,
                                                .full_bytes_per_s = 56.7134e9};

enum { SIZES = 28 };

TEST(test_published) {
    /* all_to_all of 1 GiB a rank took 14.62 ms there, digitised to 3 %. */
    double s = pace_saturating_s(&published, 1073741824.0, 0.75);
    assert_true(fabs(s / 14.62e-3 - 1) < 0.05);
    assert_true(pace_saturating_s(&published, 1024, 0.75) == 85.6e-6);
}

TEST(test_recovers) {
    pace_curve_point points[SIZES];
    pace_saturating_curve fitted;
    for (int i = 0; i < SIZES; i++) {
        double bytes = exp2(4 + i);
        points[i] = (pace_curve_point){bytes, pace_saturating_s(&published, bytes, 0.75)};
    }
    assert_true(pace_saturating_fit(&fitted, points, SIZES, 0.75));
    double worst = 0, sum = 0;
    for (int i = 0; i < SIZES; i++) {
        double error = fabs(pace_saturating_s(&fitted, points[i].bytes, 0.75) / points[i].time_s - 1);
        worst = fmax(worst, error);
        sum += error;
    }
    if (sum / SIZES > 0.02 || worst > 0.15) fail_msg("mean %g, worst %g", sum / SIZES, worst);
    assert_true(fabs(fitted.full_bytes_per_s / published.full_bytes_per_s - 1) < 0.06);
    assert_true(fabs(fitted.floor_s / published.floor_s - 1) < 0.15);
}

TEST(test_refused) {
    pace_curve_point points[SIZES];
    pace_saturating_curve fitted;
    for (int i = 0; i < SIZES; i++) points[i] = (pace_curve_point){exp2(i), 1e-5};
    assert_false(pace_saturating_fit(&fitted, points, PACE_SATURATING_LEAST - 1, 1));
    points[3].time_s = 0;
    assert_false(pace_saturating_fit(&fitted, points, SIZES, 1));
    points[3].time_s = 1e-5; /* a time that never rises is a floor */
    assert_true(pace_saturating_fit(&fitted, points, SIZES, 1));
    assert_true(isfinite(pace_saturating_s(&fitted, 1e6, 1)));
}

int main(void) { return run_tests_of_file(NULL, NULL); }
