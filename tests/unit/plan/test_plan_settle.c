/* Chances and expected times against times drawn at random. */
#include "base/random.h"
#include "plan/plan_settle.h"

#include <math.h>

#include "cmocka_of_tests.h"

enum { MOST = 6, DRAWS = 400000 };

static double normal(uint64_t *stream) {
    double u = 1 - pace_random_uniform(stream), v = pace_random_uniform(stream);
    return sqrt(-2 * log(u)) * cos(8 * atan(1) * v);
}

typedef struct {
    double fastest[MOST], time_s[MOST + 1]; /* by how many were timed */
} drawn;

static drawn draw(const double *median_s, size_t count, double spread) {
    drawn d = {{0}, {0}};
    uint64_t stream = 7;
    for (int n = 0; n < DRAWS; n++) {
        double time_s[MOST];
        size_t first = 0;
        for (size_t i = 0; i < count; i++) {
            time_s[i] = median_s[i] * exp(spread * normal(&stream));
            if (time_s[i] < time_s[first]) first = i;
        }
        d.fastest[first] += 1.0 / DRAWS;
        for (size_t timed = 0; timed <= count; timed++) {
            double least = INFINITY;
            for (size_t i = 0; i < timed; i++) least = fmin(least, time_s[i]);
            for (size_t i = timed; i < count; i++) least = fmin(least, median_s[i] * exp(spread * spread / 2));
            d.time_s[timed] += least / DRAWS;
        }
    }
    return d;
}

static void compare(const double *median_s, size_t count, double spread) {
    double chance[MOST], sum = 0;
    drawn d = draw(median_s, count, spread);
    pace_plan_fastest_chances(chance, median_s, count, spread);
    for (size_t i = 0; i < count; i++) {
        sum += chance[i];
        assert_true(fabs(chance[i] - d.fastest[i]) < 0.005);
    }
    assert_true(fabs(sum - 1) < 1e-12);
    for (size_t timed = 0; timed <= count; timed++) /* what is not timed is known by its mean alone */
        assert_true(fabs(pace_plan_expected_s(median_s, count, timed, spread) / d.time_s[timed] - 1) < 0.002);
}

TEST(test_drawn) {
    compare((const double[]){1, 1.01, 1.03, 1.2, 1.5}, 5, 0.1);
    compare((const double[]){6.5, 6.6, 6.7}, 3, 0.25);
    compare((const double[]){2, 2}, 2, 0.05);
    compare((const double[]){1, 30}, 2, 0.1);
}

/* Two that are equally good: each is the faster with one half; timing both saves spread / sqrt(pi) of a step. */
TEST(test_two) {
    const double median_s[] = {1, 1}, spread = 0.01;
    double chance[2];
    pace_plan_fastest_chances(chance, median_s, 2, spread);
    assert_true(fabs(chance[0] - 0.5) < 1e-9);
    double gain = 1 - pace_plan_expected_s(median_s, 2, 2, spread) / pace_plan_expected_s(median_s, 2, 0, spread);
    assert_true(fabs(gain / (spread / sqrt(4 * atan(1))) - 1) < 0.01);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
