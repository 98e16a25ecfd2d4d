/* Items that stand in runs, against the C library's sort of the same. */
#include "base/order.h"
#include "base/sort.h"

#include <stdlib.h>

#include "cmocka_of_tests.h"

enum { MOST = 500 };

typedef struct {
    int64_t key;
    uint32_t place;
} item;

PACE_ORDER(by_key, item, PACE_UP(key))
PACE_ORDER(by_key_and_place, item, PACE_UP(key) PACE_UP(place))

/* So many runs of random lengths; keys are few, so that many are equal, which stay in their order. */
TEST(test_runs) {
    uint32_t seed = 5;
    for (size_t count = 0; count < MOST; count += 7)
        for (uint32_t longest = 1; longest <= MOST; longest *= 3) {
            item items[MOST], expected[MOST], scratch[MOST];
            int64_t key = 0;
            for (uint32_t i = 0, left = 0; i < count; i++, left--) {
                seed = seed * 1664525 + 1013904223; /* Numerical Recipes' generator */
                if (left == 0) left = 1 + (seed >> 16) % longest, key = 0;
                key += (seed >> 8) % 3;
                items[i] = expected[i] = (item){key, i};
            }
            if (count) qsort(expected, count, sizeof *expected, by_key_and_place);
            pace_sort_runs(items, scratch, count, sizeof *items, by_key);
            for (size_t i = 0; i < count; i++) assert_int_equal(items[i].place, expected[i].place);
        }
}

int main(void) { return run_tests_of_file(NULL, NULL); }
