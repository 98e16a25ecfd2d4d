/* Stragglers that were put there are found and none else; the expected slowest against drawing again and again, and
 * against counting all subsets. The public traces of Alibaba's PAI, where they are at hand, name the worker their
 * authors name. */

#include "cmocka_of_tests.h"

#include "base/random.h"
#include "fleet/variability.h"

#include <math.h>

enum { WORKERS = 8, ITERATIONS = 400 };

static double times[ITERATIONS * WORKERS];
static uint64_t stream;

static double normal(void) {
    double u = 1 - pace_random_uniform(&stream), v = pace_random_uniform(&stream);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* Workers of different paces, noise of 4 %, and slow phases of the whole job, which are nobody's fault. */
static pace_iterations make(uint64_t seed) {
    stream = seed;
    for (int i = 0; i < ITERATIONS; i++)
        for (int w = 0; w < WORKERS; w++)
            times[i * WORKERS + w] = 0.2 * (1 + 0.02 * w) * (i / 50 % 2 ? 1.5 : 1) * exp(0.04 * normal());
    return (pace_iterations){WORKERS, ITERATIONS, times};
}

TEST(test_spells) {
    for (uint64_t seed = 1; seed <= 100; seed++) {
        pace_iterations data = make(seed);
        pace_variability v;
        assert_int_equal(pace_variability_of(&v, &data), PACE_OK);
        assert_int_equal(v.spells.count, 0);
        assert_in_range(1000 * v.sigma, 30, 50);
        double slower = v.workers[7].usual / v.workers[0].usual;
        assert_true(fabs(slower / 1.14 - 1) < 0.02);
        pace_variability_free(&v);
        int first = 20 + (int)(seed * 3), length = 6 + (int)(seed % 10);
        for (int i = first; i < first + length; i++) times[i * WORKERS + 3] *= 1.6;
        for (int i = 0; i < ITERATIONS; i += 7) times[i * WORKERS + 5] = NAN; /* lost records are no reason */
        assert_int_equal(pace_variability_of(&v, &data), PACE_OK);
        assert_int_equal(v.spells.count, 1);
        assert_int_equal(v.spells.items[0].worker, 3);
        assert_in_range(v.spells.items[0].first, first - 1, first);
        assert_in_range(v.spells.items[0].last, first + length - 1, first + length);
        assert_true(fabs(v.spells.items[0].slowdown / 1.6 - 1) < 0.1);
        assert_true(v.spells.items[0].lost > 0 && v.spells.items[0].lost <= v.workers[3].lost);
        pace_variability_free(&v);
    }
}

/* What is lost is what the job would save without: the sum of the slowest less the sum of the second slowest. */
TEST(test_lost) {
    pace_iterations data = make(5);
    pace_variability v;
    assert_int_equal(pace_variability_of(&v, &data), PACE_OK);
    double slowest = 0, second = 0, lost = 0;
    for (int i = 0; i < ITERATIONS; i++) {
        double a = 0, b = 0;
        for (int w = 0; w < WORKERS; w++) {
            double t = times[i * WORKERS + w];
            if (t > a) b = a, a = t;
            else if (t > b) b = t;
        }
        slowest += a, second += b;
    }
    for (int w = 0; w < WORKERS; w++) lost += v.workers[w].lost;
    assert_true(fabs(lost - (slowest - second)) < 1e-9 * slowest);
    assert_true(fabs(v.step * ITERATIONS - slowest) < 1e-9 * slowest);
    pace_variability_free(&v);
}

TEST(test_slowdown_by_drawing) {
    static const size_t sizes[] = {1, 2, 5, 16, 64};
    enum { SIZES = 5, DRAWS = 40000 };
    pace_slowdown got[SIZES];
    pace_iterations data = make(9);
    static double ratio[ITERATIONS * WORKERS];
    assert_int_equal(pace_slowdown_of(got, sizes, SIZES, &data), PACE_OK);
    double all = 0;
    for (int i = 0; i < ITERATIONS; i++) {
        double sum = 0;
        for (int w = 0; w < WORKERS; w++) sum += times[i * WORKERS + w];
        for (int w = 0; w < WORKERS; w++) {
            double time = times[i * WORKERS + w], others = (sum - time) / (WORKERS - 1);
            all += ratio[i * WORKERS + w] = 1 + (time / others - 1) * sqrt((WORKERS - 1.0) / WORKERS);
        }
    }
    for (int k = 0; k < ITERATIONS * WORKERS; k++) ratio[k] /= all / (ITERATIONS * WORKERS);
    for (int s = 0; s < SIZES; s++) {
        double sum = 0, squares = 0;
        for (int d = 0; d < DRAWS; d++) {
            double most = 0;
            for (size_t k = 0; k < sizes[s]; k++)
                most = fmax(most, ratio[(size_t)(pace_random_uniform(&stream) * ITERATIONS * WORKERS)]);
            sum += most, squares += most * most;
        }
        double mean = sum / DRAWS, error = sqrt((squares / DRAWS - mean * mean) / DRAWS);
        assert_true(fabs(got[s].expected - mean) <= 4.5 * error);
        assert_true(got[s].low <= got[s].expected && got[s].expected <= got[s].high);
    }
    assert_true(fabs(got[0].expected - 1) < 1e-12);
}

static double drawn_time(double spread, bool pauses) {
    return exp(spread * normal()) * (pauses && pace_random_uniform(&stream) < 0.03 ? 1.3 : 1);
}

/* What the slowest of many equal workers takes, against what jobs of eight of them tell: in the mean, and whether the
 * interval of 90 % holds it. */
static void check_truth(double spread, bool pauses) {
    static const size_t sizes[] = {4, 8, 16};
    enum { JOBS = 100, SHORT = 60, SIZES = 3, TRIES = 100000 };
    double truth[SIZES] = {0}, one = 0, told[SIZES] = {0};
    int held[SIZES] = {0};
    stream = 3;
    for (int k = 0; k < TRIES; k++) one += drawn_time(spread, pauses) / TRIES;
    for (int s = 0; s < SIZES; s++)
        for (int k = 0; k < TRIES; k++) {
            double most = 0;
            for (size_t w = 0; w < sizes[s]; w++) most = fmax(most, drawn_time(spread, pauses));
            truth[s] += most / one / TRIES;
        }
    for (int job = 0; job < JOBS; job++) {
        pace_slowdown got[SIZES];
        for (int k = 0; k < SHORT * WORKERS; k++) times[k] = drawn_time(spread, pauses);
        assert_int_equal(pace_slowdown_of(got, sizes, SIZES, &(pace_iterations){WORKERS, SHORT, times}), PACE_OK);
        for (int s = 0; s < SIZES; s++) {
            told[s] += got[s].expected / JOBS;
            held[s] += got[s].low <= truth[s] && truth[s] <= got[s].high;
        }
    }
    for (int s = 0; s < SIZES; s++) {
        print_message("%zu workers: slowed by %.4f, told %.4f; %d of %d intervals\n", sizes[s], truth[s] - 1,
                      told[s] - 1, held[s], JOBS);
        assert_true(fabs((told[s] - 1) / (truth[s] - 1) - 1) < (pauses ? 0.15 : 0.02));
        assert_in_range(held[s], 80, 100);
    }
}

TEST(test_slowdown_of_equal_workers) {
    check_truth(0.02, false);
    check_truth(0.10, false);
    check_truth(0.01, true);
}

/* All subsets counted out. */
TEST(test_slowdown_by_subsets) {
    pace_iterations data = make(11);
    for (size_t size = 1; size <= WORKERS + 1; size++) {
        pace_slowdown got;
        double largest = 0, mean = 0;
        size_t subsets = 0;
        assert_int_equal(pace_slowdown_of(&got, &size, 1, &data), PACE_OK);
        if (size > WORKERS) {
            assert_true(isnan(got.measured));
            continue;
        }
        for (unsigned set = 0; set < 1u << WORKERS; set++) {
            if ((size_t)__builtin_popcount(set) != size) continue;
            subsets++;
            for (int i = 0; i < ITERATIONS; i++) {
                double most = 0;
                for (int w = 0; w < WORKERS; w++)
                    if (set >> w & 1) most = fmax(most, times[i * WORKERS + w]);
                largest += most;
            }
        }
        for (int i = 0; i < ITERATIONS * WORKERS; i++) mean += times[i];
        double truth = largest / (double)subsets / ITERATIONS / (mean / (ITERATIONS * WORKERS));
        assert_true(fabs(got.measured / truth - 1) < 1e-9);
    }
}

TEST(test_too_little) {
    static const double lonely[] = {1, NAN, NAN, 2, 3, NAN};
    pace_iterations data = {2, 3, lonely};
    pace_variability v;
    pace_slowdown slowdown;
    size_t size = 4;
    assert_int_equal(pace_variability_of(&v, &data), PACE_E_INPUT);
    assert_int_equal(pace_slowdown_of(&slowdown, &size, 1, &data), PACE_E_INPUT);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
