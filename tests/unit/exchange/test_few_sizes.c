/* Few sizes with a model: what must hold of any Gaussian process, whatever its constants. */
#include "exchange/few_sizes.h"
#include "catalog_of_tests.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static pace_doubts doubts;

static int load_doubts(void **state) {
    (void)state;
    return pace_doubts_load(&doubts, test_catalog()) != PACE_OK;
}

static pace_few_size at(double log2_bytes, double log_ratio) {
    return (pace_few_size){log2_bytes, 0.4, 1 / (1 + exp(log2_bytes - 20)), log_ratio};
}

static double ratio_of(const pace_few_size *sizes, size_t count, double log2_bytes, double *spread) {
    pace_few_size asked = at(log2_bytes, NAN);
    double ratio;
    pace_few_sizes(&ratio, spread, sizes, count, &asked, &doubts);
    return ratio;
}

static void test_none_is_the_model(void **state) {
    (void)state;
    double spread;
    assert_true(ratio_of(NULL, 0, 20, &spread) == 0);
    assert_true(spread > 0.05 && spread < 0.6);
}

/* A size draws the answer towards itself, never beyond, the less the further away. */
static void test_one_size(void **state) {
    (void)state;
    pace_few_size size = at(20, 0.5);
    double spread, at_it, before = ratio_of(&size, 1, 20, &at_it);
    assert_true(before > 0.3 && before < 0.5);
    for (double log2_bytes = 20.5; log2_bytes < 60; log2_bytes += 0.5) {
        double ratio = ratio_of(&size, 1, log2_bytes, &spread);
        assert_true(ratio >= 0 && ratio < before + 1e-9);
        before = ratio;
    }
    assert_true(before < 0.01);
    assert_true(spread > at_it);
    pace_few_size agrees = at(20, 0);
    assert_true(ratio_of(&agrees, 1, 24, &spread) == 0);
}

/* The order of sizes counts for nothing; what is off both ways is off the other way when all signs turn; and sizes that
 * agree with the model make its spread smaller, one after the other. */
static void test_several(void **state) {
    (void)state;
    const double where[] = {12, 18, 21, 26}, off[] = {0.1, 0.4, -0.2, 0.3};
    pace_few_size sizes[4], back[4], turned[4], good[4];
    double before = INFINITY, spread, spread_back;
    for (int i = 0; i < 4; i++) {
        sizes[i] = at(where[i], off[i]);
        back[3 - i] = sizes[i];
        turned[i] = at(where[i], -off[i]);
        good[i] = at(where[i], 0);
    }
    for (double log2_bytes = 3; log2_bytes < 40; log2_bytes += 1.7) {
        double ratio = ratio_of(sizes, 4, log2_bytes, &spread);
        assert_true(fabs(ratio - ratio_of(back, 4, log2_bytes, &spread_back)) < 1e-12);
        assert_true(fabs(spread - spread_back) < 1e-12);
        assert_true(fabs(ratio + ratio_of(turned, 4, log2_bytes, &spread)) < 1e-12);
    }
    for (size_t count = 0; count <= 4; count++) {
        (void)ratio_of(good, count, 22, &spread);
        assert_true(spread < before);
        before = spread;
    }
}

/* Of one size the mixture is a line of closed form; here by the textbook's equation, over the amplitudes it states. */
static void test_against_equation(void **state) {
    (void)state;
    const double amplitude[] = {0.25, 0.5, 1};
    double sum = 0, weights = 0, spread, w = 1 / (1 + exp(-2.0)), v = 1 / (1 + exp(1.0));
    pace_few_size size = at(18, 0.7);
    for (int i = 0; i < 3; i++) {
        double a = pow(amplitude[i] * 0.4, 2), near_own = 0.09 * w * (1 - w);
        double own = a + near_own + 0.0016;
        double cross = a * exp(-3 / 6.0) + 0.09 * sqrt(w * (1 - w) * v * (1 - v)) * exp(-3 / 2.0);
        double weight = exp(-0.49 / own / 2) / sqrt(own) / amplitude[i];
        sum += weight * cross / own * 0.7;
        weights += weight;
    }
    assert_true(fabs(ratio_of(&size, 1, 21, &spread) - sum / weights) < 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_none_is_the_model), cmocka_unit_test(test_one_size),
                                       cmocka_unit_test(test_several), cmocka_unit_test(test_against_equation)};
    return cmocka_run_group_tests(tests, load_doubts, NULL);
}
