/* Stretches of time in any order: what each adds is what no earlier one covers, counted here instant by instant. */

#include "cmocka_of_tests.h"

#include "fleet/covered.h"

#include <stdlib.h>

enum { INSTANTS = 400, STRETCHES = 300 };

TEST(test_each_instant_counts_once) {
    pace_covered covered = {0};
    bool seen[INSTANTS] = {false};
    int total = 0;
    srand(7);
    for (int i = 0; i < STRETCHES; i++) {
        int from = rand() % (INSTANTS - 9), to = from + 1 + rand() % 8, fresh = 0;
        double fresh_s;
        for (int at = from; at < to; at++) fresh += !seen[at], seen[at] = true;
        assert_int_equal(pace_covered_add(&fresh_s, &covered, (pace_stretch){from, to}), PACE_OK);
        assert_true(fresh_s == fresh);
        assert_true(pace_covered_length(&covered) == (total += fresh));
        for (size_t k = 1; k < covered.count; k++) assert_true(covered.items[k - 1].to_s < covered.items[k].from_s);
    }
    PACE_VEC_FREE(&covered);
}

TEST(test_times_in_order_are_one_stretch) {
    pace_covered covered = {0};
    double fresh_s;
    for (int i = 0; i < 100000; i++)
        assert_int_equal(pace_covered_add(&fresh_s, &covered, (pace_stretch){i * 0.1, (i + 1) * 0.1}), PACE_OK);
    assert_int_equal(covered.count, 1);
    PACE_VEC_FREE(&covered);
}

TEST(test_too_many_in_no_order_are_refused) {
    pace_covered covered = {0};
    double fresh_s;
    pace_status status = PACE_OK;
    int count = 0;
    for (; status == PACE_OK && count < 100000; count++)
        status = pace_covered_add(&fresh_s, &covered, (pace_stretch){-2.0 * count, -2.0 * count + 1});
    assert_int_equal(status, PACE_E_LIMIT);
    assert_true(count > 1000);
    PACE_VEC_FREE(&covered);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
