/* Who is late by chance: no more than one case of twenty is found where lateness is anybody's, and all where it is
 * one rank's. */

#include "cmocka_of_tests.h"

#include "base/memory.h"
#include "base/random.h"
#include "insight/ranks/chance_lateness.h"

enum { STEPS = 12, RANKS = 8, ROUNDS = 200 };

/* Up to 1000 ns each; rank 5 comes later by more. */
static void draw(int64_t *late_ns, size_t steps, int64_t more_ns, uint64_t *stream) {
    for (size_t i = 0; i < steps * RANKS; i++)
        late_ns[i] = (int64_t)(1000 * pace_random_uniform(stream)) + (i % RANKS == 5 ? more_ns : 0);
}

TEST(test_by_chance) {
    uint64_t stream = pace_random_stream(3, 1);
    size_t anybody = 0, little = 0, one = 0;
    int64_t late_ns[STEPS * RANKS];
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        draw(late_ns, STEPS, 0, &stream);
        anybody += pace_chance_lateness_of(late_ns, STEPS, RANKS).by_chance;
        draw(late_ns, STEPS, 500, &stream);
        one += !pace_chance_lateness_of(late_ns, STEPS, RANKS).by_chance;
        draw(late_ns, STEPS, 10, &stream);
        little += pace_chance_lateness_of(late_ns, STEPS, RANKS).by_chance;
    }
    assert_true(anybody >= ROUNDS * 90 / 100 && little >= ROUNDS * 85 / 100);
    assert_true(one >= ROUNDS * 95 / 100);
}

/* Of two steps of eight ranks one is late in both once in eight cases: that tells nothing. */
TEST(test_too_few) {
    int64_t late_ns[2 * RANKS] = {[3] = 70, [RANKS + 4] = 30};
    pace_chance_lateness found = pace_chance_lateness_of(late_ns, 2, RANKS);
    (void)state;
    assert_false(found.by_chance);
    assert_int_equal(found.late_ns, 100);
    assert_false(pace_chance_lateness_of(late_ns, 0, RANKS).by_chance);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
