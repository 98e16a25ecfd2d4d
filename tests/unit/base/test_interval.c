/* Unions of intervals against a painted line. */

#include "cmocka_of_tests.h"

#include "base/interval.h"

enum { LINE = 60 };

static uint32_t seed;

static int64_t pick(uint32_t bound) {
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % bound;
}

static void make(pace_intervals *set, char *painted) {
    int64_t start = pick(10);
    for (int64_t n = pick(12); n > 0 && start < LINE; n--, start += pick(9)) {
        int64_t end = start + pick(14) - 1; /* also empty and inverted ones */
        if (end > LINE) end = LINE;
        assert_int_equal(pace_intervals_add(set, start, end), PACE_OK);
        for (int64_t at = start; at < end; at++) painted[at] = 1;
    }
}

TEST(test_random) {
    seed = 1;
    for (int round = 0; round < 2000; round++) {
        pace_intervals a = {0}, b = {0};
        char in_a[LINE] = {0}, in_b[LINE] = {0};
        make(&a, in_a);
        make(&b, in_b);
        for (size_t i = 0; i < a.count; i++) assert_true(a.items[i].start_ns < a.items[i].end_ns);
        for (size_t i = 1; i < a.count; i++) assert_true(a.items[i - 1].end_ns < a.items[i].start_ns);
        int64_t from = pick(LINE), to = from + pick(LINE), within = 0, common = 0, joined = 0;
        for (int64_t at = 0; at < LINE; at++) {
            if (at < from || at >= to) continue;
            within += in_a[at];
            common += in_a[at] && in_b[at];
            joined += in_a[at] || in_b[at];
        }
        assert_int_equal(pace_intervals_within(&a, from, to), within);
        assert_int_equal(pace_intervals_common(&a, &b, from, to), common);
        assert_int_equal(pace_intervals_common(&b, &a, from, to), common);
        const pace_intervals *const sets[] = {&a, &b, &a};
        assert_int_equal(pace_intervals_joined(sets, 3, from, to), joined);
        PACE_VEC_FREE(&a);
        PACE_VEC_FREE(&b);
    }
}

TEST(test_touching_and_empty) {
    pace_intervals set = {0};
    assert_int_equal(pace_intervals_within(&set, 0, 9), 0);
    assert_int_equal(pace_intervals_add(&set, 5, 5), PACE_OK);
    assert_int_equal(set.count, 0);
    assert_int_equal(pace_intervals_add(&set, -5, 5), PACE_OK);
    assert_int_equal(pace_intervals_add(&set, 5, 7), PACE_OK); /* touches: one interval */
    assert_int_equal(pace_intervals_add(&set, 6, 6), PACE_OK);
    assert_int_equal(set.count, 1);
    assert_int_equal(pace_intervals_within(&set, -9, 9), 12);
    PACE_VEC_FREE(&set);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
