/* Quantiles and sums against all values sorted and against long division; merging in any order gives the same bytes. */

#include "cmocka_of_tests.h"

#include "fleet/sketch.h"
#include "fleet/sum.h"

#include <math.h>
#include <stdlib.h>

enum { VALUES = 5000, PARTS = 7 };

static uint64_t state_word;

static uint64_t next_word(void) { /* splitmix64 */
    uint64_t z = state_word += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static double uniform(void) { return (double)(next_word() >> 11) * 0x1p-53; }

static double any_value(void) {
    uint64_t kind = next_word() % 20;
    if (kind == 0) return 0;
    if (kind == 1) return 1;
    if (kind == 2) return ldexp(1 + uniform(), -80); /* below the bins */
    if (kind == 3) return ldexp(1 + uniform(), 120); /* above them */
    return exp(uniform() * 80 - 40);
}

static int by_value(const void *a, const void *b) {
    double x = ((const pace_weighted *)a)->value, y = ((const pace_weighted *)b)->value;
    return (x > y) - (x < y);
}

/* The definition: the least value at which the weight so far reaches q of the total. */
static double true_quantile(const pace_weighted *sorted, size_t count, double q) {
    uint64_t total = 0, seen = 0;
    for (size_t i = 0; i < count; i++) total += sorted[i].weight;
    for (size_t i = 0; i < count; i++)
        if ((seen += sorted[i].weight) >= 1 && (double)seen >= q * (double)total) return sorted[i].value;
    return sorted[count - 1].value;
}

static pace_status add_one(pace_sketch *sketch, double value, uint64_t weight) {
    return pace_sketch_add_all(sketch, &value, &weight, 1);
}

TEST(test_quantiles) {
    static const double shares[] = {0, 0.001, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.9999, 1};
    for (uint64_t seed = 1; seed <= 20; seed++) {
        state_word = seed;
        pace_sketch binned = {0}, exact = {.exact = true};
        static pace_weighted values[VALUES];
        size_t count = 1 + next_word() % VALUES;
        for (size_t i = 0; i < count; i++) {
            values[i] = (pace_weighted){any_value(), 1 + next_word() % 100};
            assert_int_equal(add_one(&binned, values[i].value, values[i].weight), PACE_OK);
            assert_int_equal(add_one(&exact, values[i].value, values[i].weight), PACE_OK);
        }
        qsort(values, count, sizeof *values, by_value);
        for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
            double truth = true_quantile(values, count, shares[i]);
            assert_true(pace_sketch_quantile(&exact, shares[i]) == truth);
            double got = pace_sketch_quantile(&binned, shares[i]);
            if (truth < 0x1p-64) assert_true(got < 0x1p-64);
            else if (truth >= 0x1p96) assert_true(got == values[count - 1].value);
            else assert_true(fabs(got - truth) <= truth * PACE_SKETCH_ERROR);
        }
        for (double edge = 0x1p-10; edge < 0x1p10; edge *= 2) /* powers of two are edges: exact in both */
            assert_true(pace_sketch_below(&binned, edge) == pace_sketch_below(&exact, edge));
        assert_true(pace_sketch_quantile(&binned, 0) == values[0].value);
        assert_true(pace_sketch_quantile(&binned, 1) == values[count - 1].value);
        pace_sketch_free(&binned);
        pace_sketch_free(&exact);
    }
}

static void pack_equal(pace_sketch *a, pace_sketch *b) {
    pace_bytes x = {0}, y = {0};
    assert_int_equal(pace_sketch_pack(&x, a), PACE_OK);
    assert_int_equal(pace_sketch_pack(&y, b), PACE_OK);
    assert_int_equal(x.count, y.count);
    assert_memory_equal(x.items, y.items, x.count);
    PACE_VEC_FREE(&x);
    PACE_VEC_FREE(&y);
}

/* The values dealt to parts at random, the parts merged in a random order, each through bytes and back. */
static void split_and_merge(bool exact) {
    pace_sketch whole = {.exact = exact}, part[PARTS] = {{0}}, merged = {.exact = exact};
    pace_sum whole_sum = {0}, part_sum[PARTS] = {{0}}, merged_sum = {0};
    for (int i = 0; i < PARTS; i++) part[i].exact = exact;
    for (int i = 0; i < 2000; i++) {
        double value = any_value();
        uint64_t weight = next_word() % 5, to = next_word() % PARTS;
        assert_int_equal(add_one(&whole, value, weight), PACE_OK);
        assert_int_equal(add_one(&part[to], value, weight), PACE_OK);
        double term = uniform() < 0.5 ? -value : value;
        pace_sum_add_times(&whole_sum, term, weight);
        for (uint64_t k = 0; k < weight; k++) pace_sum_add(&part_sum[to], term);
    }
    int order[PARTS];
    for (int i = 0; i < PARTS; i++) order[i] = i;
    for (int i = PARTS - 1; i > 0; i--) {
        int other = (int)(next_word() % (uint64_t)(i + 1)), held = order[i];
        order[i] = order[other], order[other] = held;
    }
    for (int i = 0; i < PARTS; i++) {
        pace_bytes bytes = {0};
        pace_sketch copy;
        pace_sum sum;
        assert_int_equal(pace_sketch_pack(&bytes, &part[order[i]]), PACE_OK);
        assert_int_equal(pace_sum_pack(&bytes, &part_sum[order[i]]), PACE_OK);
        pace_unpack from = {bytes.items, bytes.count};
        assert_int_equal(pace_sketch_unpack(&copy, &from), PACE_OK);
        assert_int_equal(pace_sum_unpack(&sum, &from), PACE_OK);
        assert_int_equal(from.left, 0);
        assert_int_equal(pace_sketch_merge(&merged, &copy), PACE_OK);
        pace_sum_merge(&merged_sum, &sum);
        pace_sketch_free(&copy);
        pace_sketch_free(&part[order[i]]);
        PACE_VEC_FREE(&bytes);
    }
    pack_equal(&whole, &merged);
    assert_true(whole_sum.units == merged_sum.units);
    pace_sketch_free(&whole);
    pace_sketch_free(&merged);
}

/* Two sketches at once, of plain, tiny and vast values and zeros, as one after the other. */
TEST(test_both) {
    for (int round = 0; round < 200; round++) {
        bool exact = round % 7 == 0;
        pace_sketch one = {.exact = exact}, heavy = one, one_apart = one, heavy_apart = one;
        for (int block = 0; block < 4; block++) {
            double values[100];
            uint64_t weights[100];
            size_t count = next_word() % 100;
            for (size_t i = 0; i < count; i++) {
                values[i] = round % 5 == 0 ? 0.25 : i % 9 == 0 ? 0 : any_value();
                if (round % 11 == 0) values[i] *= i % 2 ? 0x1p-900 : 0x1p900;
                weights[i] = next_word() % (round % 3 == 0 ? 2 : 1000) + (round % 2);
            }
            assert_int_equal(pace_sketch_add_both(&one, &heavy, values, weights, count), PACE_OK);
            assert_int_equal(pace_sketch_add_all(&one_apart, values, NULL, count), PACE_OK);
            assert_int_equal(pace_sketch_add_all(&heavy_apart, values, weights, count), PACE_OK);
        }
        pack_equal(&one, &one_apart);
        pack_equal(&heavy, &heavy_apart);
        pace_sketch_free(&one);
        pace_sketch_free(&heavy);
        pace_sketch_free(&one_apart);
        pace_sketch_free(&heavy_apart);
    }
}

TEST(test_any_order) {
    for (uint64_t seed = 1; seed <= 50; seed++) {
        state_word = seed;
        split_and_merge(false);
        split_and_merge(true);
    }
}

TEST(test_sums) {
    pace_sum sum = {0};
    for (int i = 0; i < 10; i++) pace_sum_add(&sum, 0.1);
    assert_true(fabs(pace_sum_value(&sum) - 1) < 10 * 0x1p-41);
    sum = (pace_sum){0};
    pace_sum_add(&sum, 1e18); /* doubles lose the rest, this does not */
    pace_sum_add(&sum, 0.25);
    pace_sum_add(&sum, -1e18);
    assert_true(pace_sum_value(&sum) == 0.25);
    sum = (pace_sum){0};
    pace_sum_add_times(&sum, 1.5, UINT64_C(1) << 40);
    assert_true(pace_sum_value(&sum) == 1.5 * 0x1p40);
    state_word = 7;
    for (int i = 0; i < 10000; i++) { /* rounded to the nearest unit, either sign */
        double value = (uniform() - 0.5) * exp(uniform() * 40 - 20);
        long double units = rintl((long double)value * 0x1p40L);
        assert_true((long double)pace_sum_units(value) == units);
        assert_true(pace_sum_units(-value) == -pace_sum_units(value));
    }
    sum = (pace_sum){0};
    pace_sum_add(&sum, (double)NAN);
    assert_true(sum.units == 0);
    pace_sum_add(&sum, (double)INFINITY);
    assert_true(pace_sum_value(&sum) == PACE_SUM_MOST);
}

/* Many at once: the same bits as one by one, for ties, for values of any size and for those that count as another. */
TEST(test_sums_of_many) {
    enum { MANY = 2500, PLACES = 5 };
    static double values[MANY];
    static uint64_t times[MANY];
    static uint8_t place[MANY];
    for (int round = 0; round < 40; round++) {
        pace_sum one = {0}, all = {0}, one_times = {0}, all_times = {0}, one_each[PLACES] = {{0}}, each[PLACES] = {{0}};
        for (int i = 0; i < MANY; i++) {
            values[i] = exp(uniform() * (round % 4 == 3 ? 80 : 14) - 12);
            if (i % 5 == 0) values[i] = floor(values[i]) + 0.5 * 0x1p-40 * (double)(next_word() % 4096);
            if (round % 4 == 2 && i % 7 == 0) values[i] = -values[i];
            if (round > 30 && i % 601 == 0) values[i] = round % 2 ? (double)NAN : (double)INFINITY;
            times[i] = round % 8 == 5 ? next_word() >> 20 : 1 + next_word() % 300;
            place[i] = (uint8_t)(next_word() % PLACES);
            pace_sum_add(&one, values[i]);
            pace_sum_add_times(&one_times, values[i], times[i]);
            pace_sum_add(&one_each[place[i]], values[i]);
        }
        pace_sum_add_all(&all, values, MANY);
        pace_sum_add_all_times(&all_times, values, times, MANY);
        pace_sum_add_each(each, PLACES, place, values, MANY);
        assert_true(all.units == one.units);
        assert_true(all_times.units == one_times.units);
        for (int p = 0; p < PLACES; p++) assert_true(each[p].units == one_each[p].units);
    }
}

TEST(test_refusals) {
    pace_sketch sketch = {0}, exact = {.exact = true};
    assert_int_equal(add_one(&sketch, (double)NAN, 1), PACE_E_INTERNAL);
    assert_int_equal(add_one(&sketch, -1e-300, 1), PACE_E_INTERNAL);
    assert_int_equal(sketch.total, 0);
    assert_true(isnan(pace_sketch_quantile(&sketch, 0.5)) && isnan(pace_sketch_below(&sketch, 1)));
    assert_int_equal(add_one(&sketch, -0.0, 1), PACE_OK);
    assert_true(pace_sketch_quantile(&sketch, 0.5) == 0 && !signbit(pace_sketch_quantile(&sketch, 0.5)));
    assert_int_equal(pace_sketch_merge(&exact, &sketch), PACE_E_INTERNAL);
    for (int i = 0; i < 300; i++) assert_int_equal(add_one(&sketch, 1 + i, 3), PACE_OK);
    pace_bytes bytes = {0};
    assert_int_equal(pace_sketch_pack(&bytes, &sketch), PACE_OK);
    for (size_t cut = 0; cut < bytes.count; cut += 5) { /* bytes that break off, and bytes that are wrong */
        pace_sketch copy;
        pace_unpack from = {bytes.items, cut};
        assert_int_equal(pace_sketch_unpack(&copy, &from), PACE_E_INPUT);
        unsigned char held = bytes.items[cut];
        bytes.items[cut] ^= 0x55;
        from = (pace_unpack){bytes.items, bytes.count};
        if (pace_sketch_unpack(&copy, &from) == PACE_OK) pace_sketch_free(&copy);
        bytes.items[cut] = held;
    }
    PACE_VEC_FREE(&bytes);
    pace_sketch_free(&sketch);
    pace_sketch_free(&exact);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
