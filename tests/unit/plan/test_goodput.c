/* Goodput: against failures drawn at random, and the best interval against others. */
#include "base/random.h"
#include "plan/goodput.h"

#include <math.h>

#include "cmocka_of_tests.h"

static const pace_failures usual = {.between_failures_s = 1e7, .save_s = 60, .restart_s = 300};

/* Trains interval by interval; a failure throws back to the last checkpoint, also during a restart. */
static double simulate(const pace_failures *f, double devices, double interval_s) {
    enum { INTERVALS = 200000 };
    uint64_t stream = 1;
    double time_s = 0, mean_s = f->between_failures_s / devices;
    for (int i = 0; i < INTERVALS; i++) {
        double need_s = interval_s + f->save_s;
        for (;;) {
            double failure_s = -mean_s * log(1 - pace_random_uniform(&stream));
            if (failure_s >= need_s) break;
            time_s += failure_s;
            need_s = interval_s + f->save_s + f->restart_s;
        }
        time_s += need_s;
    }
    return INTERVALS * interval_s / time_s;
}

TEST(test_simulated) {
    const double devices[] = {1, 100, 1000, 4000};
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        pace_goodput g = pace_goodput_of(&usual, devices[i]);
        /* Daly's equation 20 restarts at every interval as likely as in a failure: an upper bound of what is lost. */
        double drawn = simulate(&usual, devices[i], g.interval_s);
        assert_true(fabs(g.share / drawn - 1) < 0.02 + usual.restart_s / g.between_failures_s);
        assert_true(g.share <= drawn * 1.005);
    }
}

TEST(test_interval_is_best) {
    for (double devices = 1; devices <= 16384; devices *= 4) {
        pace_goodput g = pace_goodput_of(&usual, devices);
        double young_s = sqrt(2 * usual.save_s * g.between_failures_s);
        for (double factor = 0.1; factor < 10; factor *= 1.1)
            assert_true(pace_goodput_share(&usual, devices, g.interval_s * factor) <= g.share * 1.0005);
        assert_true(g.interval_s < young_s &&
                    g.interval_s > young_s - 1.1 * usual.save_s); /* Young's, less a checkpoint */
    }
}

int main(void) { return run_tests_of_file(NULL, NULL); }
