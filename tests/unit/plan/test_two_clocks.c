/* A host and a device as maps of two clocks: against both walked launch by launch. */
#include "plan/two_clocks.h"

#include <math.h>

#include "cmocka_of_tests.h"

enum { LAUNCHES = 12, TRIES = 200 };

typedef struct {
    double host_s[LAUNCHES], device_s[LAUNCHES];
} launches;

static uint32_t below(uint32_t *state, uint32_t limit) {
    *state = *state * 1664525 + 1013904223; /* Numerical Recipes' generator */
    return (*state >> 16) % limit;
}

/* Whole numbers, so that sums are exact. */
static launches draw(uint32_t *state) {
    launches all;
    for (int i = 0; i < LAUNCHES; i++) {
        all.host_s[i] = (double)below(state, 20);
        all.device_s[i] = (double)below(state, 20);
    }
    return all;
}

/* A kernel starts when it has been issued and the one before it has ended. */
static void walk(double *host_s, double *device_s, const launches *all, int first, int last) {
    for (int i = first; i < last; i++) {
        *host_s += all->host_s[i];
        *device_s = fmax(*device_s, *host_s) + all->device_s[i];
    }
}

static pace_clocks of(const launches *all, int first, int last) {
    pace_clocks sum = {0};
    for (int i = first; i < last; i++)
        sum = pace_clocks_then(sum, (pace_clocks){all->host_s[i], all->device_s[i], all->host_s[i] + all->device_s[i]});
    return sum;
}

/* Wherever both clocks stand, and wherever the work is cut in two. */
TEST(test_composes) {
    uint32_t seed = 7;
    for (int i = 0; i < TRIES; i++) {
        launches all = draw(&seed);
        int cut = (int)below(&seed, LAUNCHES + 1);
        double host_s = (double)below(&seed, 50), device_s = (double)below(&seed, 50);
        pace_clocks c = pace_clocks_then(of(&all, 0, cut), of(&all, cut, LAUNCHES));
        double expected_s = fmax(device_s + c.device_s, host_s + c.idle_s), end_s = host_s + c.host_s;
        walk(&host_s, &device_s, &all, 0, LAUNCHES);
        assert_true(host_s == end_s && device_s == expected_s);
    }
}

TEST(test_repeats) {
    uint32_t seed = 8;
    for (int i = 0; i < TRIES; i++) {
        launches all = draw(&seed);
        pace_clocks one = of(&all, 0, LAUNCHES), many = one, times;
        int count = 1 + (int)below(&seed, 9);
        for (int k = 1; k < count; k++) many = pace_clocks_then(many, one);
        times = pace_clocks_times(one, count);
        assert_true(many.host_s == times.host_s && many.device_s == times.device_s && many.idle_s == times.idle_s);
    }
}

int main(void) { return run_tests_of_file(NULL, NULL); }
