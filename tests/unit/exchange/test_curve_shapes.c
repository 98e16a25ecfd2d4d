/* Shapes of curves: what must hold of Gaussian processes and of their mixture, whatever the constants. */
#include "exchange/curve_shapes.h"
#include "catalog_of_tests.h"

#include <math.h>

#include "cmocka_of_tests.h"

static pace_doubts doubts;

static int load_doubts(void **state) {
    (void)state;
    return pace_doubts_load(&doubts, test_catalog()) != PACE_OK;
}

static const double call_s = 2e-5, s_per_byte = 1e-11;

static double model_s(double log2_bytes) { return call_s + s_per_byte * exp2(log2_bytes); }

/* A size of a machine that calls for 20 us and moves 100 GB/s, measured so much off in the logarithm. */
static pace_curve_size at(double log2_bytes, double off) {
    double s = model_s(log2_bytes);
    return (pace_curve_size){log2_bytes, s, call_s, 0.4, s * exp(off), 0};
}

static pace_estimate told(const pace_curve_size *sizes, size_t count, double log2_bytes) {
    pace_curve_size asked = at(log2_bytes, NAN);
    pace_estimate s;
    double squares;
    pace_curve_shapes_time(&s, &squares, sizes, count, &asked, &doubts);
    return s;
}

static double ratio_of(const pace_curve_size *sizes, size_t count, double log2_bytes) {
    return told(sizes, count, log2_bytes).median / model_s(log2_bytes);
}

TEST(test_none_is_nearly_the_model) {
    for (double log2_bytes = 4; log2_bytes < 34; log2_bytes++) {
        assert_true(fabs(ratio_of(NULL, 0, log2_bytes) - 1) < 0.1);
        double spread = told(NULL, 0, log2_bytes).spread;
        assert_true(spread > 0.05 && spread < 1.5);
    }
}

/* A size draws the answer towards itself, and far away the model is left alone; the interval grows on the way. */
TEST(test_one_size) {
    pace_curve_size size = at(27, 0.5);
    pace_estimate near = told(&size, 1, 27), far = told(&size, 1, 60);
    assert_true(near.median / model_s(27) > exp(0.3) && near.median / model_s(27) < exp(0.5));
    assert_true(fabs(log(far.median / model_s(60))) < 0.05);
    assert_true(far.spread > near.spread);
}

/* All times in another unit: the same answer in that unit. Sizes that agree with the model make its spread smaller. */
TEST(test_several) {
    const double where[] = {12, 18, 21, 26}, off[] = {0.1, 0.4, -0.2, 0.3};
    pace_curve_size sizes[4], slower[4], good[4];
    double before = INFINITY;
    for (int i = 0; i < 4; i++) {
        sizes[i] = slower[i] = at(where[i], off[i]);
        slower[i].model_s *= 1000, slower[i].waiting_s *= 1000, slower[i].time_s *= 1000;
        good[i] = at(where[i], 0);
    }
    for (double log2_bytes = 3; log2_bytes < 40; log2_bytes += 1.7) {
        pace_curve_size asked = at(log2_bytes, NAN);
        pace_estimate s;
        double squares;
        asked.model_s *= 1000, asked.waiting_s *= 1000;
        pace_curve_shapes_time(&s, &squares, slower, 4, &asked, &doubts);
        pace_estimate one = told(sizes, 4, log2_bytes);
        assert_true(fabs(s.median / one.median / 1000 - 1) < 1e-9 && fabs(s.spread - one.spread) < 1e-9);
    }
    for (size_t count = 0; count <= 4; count++) {
        pace_estimate s = told(good, count, 22);
        assert_true(s.spread < before);
        before = s.spread;
    }
}

/* A host that the model knows nothing of adds the same time to every size. From small ones its time is not taken for a
 * slow link: large sizes stay as modelled. */
TEST(test_unknown_host) {
    const double host_s = 8e-5;
    pace_curve_size sizes[5];
    for (int i = 0; i < 5; i++) {
        sizes[i] = at(6 + 2 * i, 0);
        sizes[i].time_s += host_s;
    }
    for (double log2_bytes = 26; log2_bytes < 34; log2_bytes++) {
        double truth = model_s(log2_bytes) + host_s;
        assert_true(fabs(log(told(sizes, 5, log2_bytes).median / truth)) < 0.1);
    }
    assert_true(fabs(log(told(sizes, 5, 9).median / (model_s(9) + host_s))) < 0.02);
}

/* Without a model the law of one latency and one rate comes back between the sizes, and where nothing of the latency
 * was seen the interval says so. */
TEST(test_alone) {
    pace_curve_size sizes[6], asked = {.log2_bytes = 19};
    pace_estimate s;
    double squares;
    for (int i = 0; i < 6; i++) sizes[i] = (pace_curve_size){.log2_bytes = 6 + 4 * i, .time_s = model_s(6 + 4 * i)};
    pace_curve_shapes_time(&s, &squares, sizes, 6, &asked, &doubts);
    assert_true(fabs(log(s.median / model_s(19))) < 0.1 && squares > 0);
    for (int i = 0; i < 3; i++) sizes[i] = (pace_curve_size){.log2_bytes = 28 + i, .time_s = model_s(28 + i)};
    asked.log2_bytes = 29.5;
    pace_curve_shapes_time(&s, &squares, sizes, 3, &asked, &doubts);
    assert_true(s.spread < 0.1);
    asked.log2_bytes = 8;
    pace_curve_shapes_time(&s, &squares, sizes, 3, &asked, &doubts);
    assert_true(s.spread > 1 && s.median > 0 && s.median < model_s(28));
}

int main(void) { return run_tests_of_file(load_doubts, NULL); }
