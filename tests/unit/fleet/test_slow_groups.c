/* Groups of slow workers that were put there are found, whole and with their cost; noise has none, nor have paces that
 * are spread without a gap. */

#include "cmocka_of_tests.h"

#include "base/random.h"
#include "fleet/slow_groups.h"

#include <math.h>

enum { MOST_WORKERS = 64, MOST_ITERATIONS = 400 };

static double times[MOST_ITERATIONS * MOST_WORKERS], paces[MOST_WORKERS];
static uint64_t stream;

static double normal(void) {
    double u = 1 - pace_random_uniform(&stream), v = pace_random_uniform(&stream);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* Noise of each time; `like` of it is the last iteration's. The whole job is slow now and then, which is nobody's
 * fault. */
static pace_iterations draw(size_t workers, size_t iterations, double noise, double like) {
    double last[MOST_WORKERS] = {0};
    for (size_t i = 0; i < iterations; i++)
        for (size_t w = 0; w < workers; w++) {
            last[w] = like * last[w] + sqrt(1 - like * like) * normal();
            times[i * workers + w] = paces[w] * (i / 50 % 2 ? 1.5 : 1) * exp(noise * last[w]);
        }
    return (pace_iterations){workers, iterations, times};
}

static void all_alike(double spread) {
    for (size_t w = 0; w < MOST_WORKERS; w++) paces[w] = exp(spread * normal());
}

static pace_slow_groups find(const pace_iterations *data) {
    pace_variability found;
    pace_slow_groups groups;
    assert_int_equal(pace_variability_of(&found, data), PACE_OK);
    assert_int_equal(pace_slow_groups_of(&groups, data, &found), PACE_OK);
    pace_variability_free(&found);
    return groups;
}

/* The mean of the slowest worker, each of its paces undone. */
static double step_without(const pace_iterations *data, const double *slower) {
    double sum = 0;
    for (size_t i = 0; i < data->iterations; i++) {
        double most = 0;
        for (size_t w = 0; w < data->workers; w++) most = fmax(most, data->times[i * data->workers + w] / slower[w]);
        sum += most;
    }
    return sum / (double)data->iterations;
}

/* `slow` workers, every `every`-th from `from` on, take `factor` times as long. */
static void expect_group(size_t workers, size_t from, size_t every, size_t slow, double factor) {
    double slower[MOST_WORKERS], none[MOST_WORKERS];
    all_alike(0.005);
    for (size_t w = 0; w < workers; w++) slower[w] = none[w] = 1;
    for (size_t k = 0; k < slow; k++) slower[(from + k * every) % workers] = factor;
    for (size_t w = 0; w < workers; w++) paces[w] *= slower[w];
    pace_iterations data = draw(workers, MOST_ITERATIONS, 0.04, 0);
    pace_slow_groups groups = find(&data);
    assert_int_equal(groups.groups.count, 2);
    assert_int_equal(groups.groups.items[1].count, slow);
    for (size_t w = 0; w < workers; w++) assert_int_equal(pace_slow_group_of(&groups, w), slower[w] > 1);
    assert_true(fabs(groups.groups.items[1].pace / factor - 1) < 0.02);
    assert_true(fabs(groups.groups.items[0].step / step_without(&data, none) - 1) > 0 || factor > 1);
    assert_true(fabs(groups.groups.items[1].step / step_without(&data, slower) - 1) < 0.02);
    assert_true(groups.groups.items[1].step < step_without(&data, none));
    pace_slow_groups_free(&groups);
}

TEST(test_planted) {
    for (stream = 1; stream < 20;) {
        expect_group(2, 1, 1, 1, 1.2);
        expect_group(8, 3, 1, 1, 1.1);   /* one worker */
        expect_group(8, 1, 4, 2, 1.2);   /* two, apart */
        expect_group(8, 0, 2, 4, 1.3);   /* every second */
        expect_group(8, 2, 1, 6, 1.5);   /* most of them */
        expect_group(64, 16, 1, 8, 1.1); /* a rack */
        stream = stream % 1000 + 19;
    }
}

/* Two of eight are twice as slow, and two more by a fifth. */
TEST(test_two_groups) {
    stream = 7;
    all_alike(0);
    paces[1] = paces[5] = 2;
    paces[2] = paces[3] = 1.2;
    pace_iterations data = draw(8, MOST_ITERATIONS, 0.04, 0);
    pace_slow_groups groups = find(&data);
    assert_int_equal(groups.groups.count, 3);
    assert_int_equal(pace_slow_group_of(&groups, 0), 0);
    assert_int_equal(pace_slow_group_of(&groups, 3), 1);
    assert_int_equal(pace_slow_group_of(&groups, 5), 2);
    double all = groups.groups.items[1].step, slowest = groups.groups.items[2].step;
    double by_slowest[] = {1, 2, 1, 1, 1, 2, 1, 1}, by_all[] = {1, 2, 1.2, 1.2, 1, 2, 1, 1};
    assert_true(fabs(slowest / step_without(&data, by_slowest) - 1) < 0.02);
    assert_true(fabs(all / step_without(&data, by_all) - 1) < 0.02);
    pace_slow_groups_free(&groups);
}

static size_t false_alarms(size_t draws, double spread, double like) {
    static const size_t workers[] = {2, 3, 4, 8, 16, 64};
    size_t alarms = 0;
    for (size_t k = 0; k < draws; k++) {
        all_alike(spread);
        pace_iterations data = draw(workers[k % 6], 20 + k % 3 * 90, 0.02 + 0.02 * (double)(k % 5), like);
        pace_slow_groups groups = find(&data);
        alarms += groups.groups.count > 1;
        pace_slow_groups_free(&groups);
    }
    return alarms;
}

TEST(test_noise) {
    stream = 11;
    size_t plain = false_alarms(600, 0, 0), drifting = false_alarms(300, 0, 0.8), uneven = false_alarms(300, 0.01, 0);
    print_message("of 600 draws of noise %zu are groups; of 300 whose noise lasts %zu; of 300 of uneven workers %zu\n",
                  plain, drifting, uneven);
    assert_int_equal(plain, 0);
    assert_in_range(drifting, 0, 3);
    assert_in_range(uneven, 0, 3);
}

/* Paces that grow evenly are no groups. */
TEST(test_gradient) {
    for (stream = 1; stream < 30; stream += 3) {
        for (size_t w = 0; w < 8; w++) paces[w] = 1 + 0.03 * (double)w;
        pace_iterations data = draw(8, MOST_ITERATIONS, 0.04, 0);
        pace_slow_groups groups = find(&data);
        assert_int_equal(groups.groups.count, 1);
        assert_true(groups.groups.items[0].step > 0 && groups.groups.items[0].pace == 1);
        pace_slow_groups_free(&groups);
    }
}

int main(void) { return run_tests_of_file(NULL, NULL); }
