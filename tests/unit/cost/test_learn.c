/* The parts of the learned rung against brute force, known minima and identities; a fit written and read back. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_of_tests.h"

#include "cost/fit.h"
#include "cost/krige.h"
#include "cost/simplex.h"
#include "catalog_of_tests.h"

static pace_doubts doubts;

static int load_doubts(void **context) {
    (void)context;
    return pace_doubts_load(&doubts, test_catalog()) != PACE_OK;
}

static uint64_t drawn = 1;

static double uniform(void) {
    drawn = drawn * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(drawn >> 11) * 0x1p-53;
}

enum { POINTS = 700, AXES = 4 };
static float points[POINTS * PACE_NEAREST_AXES];
static uint32_t groups[POINTS];

static void scatter(void) {
    for (size_t i = 0; i < POINTS; i++) {
        groups[i] = (uint32_t)(i % 50);
        for (int k = 0; k < AXES; k++) /* coarse, so that distances tie */
            points[i * PACE_NEAREST_AXES + k] = (float)floor(8 * uniform());
    }
}

typedef struct {
    double distance;
    uint32_t index;
} candidate;

static int nearer(const void *a, const void *b) {
    const candidate *x = a, *y = b;
    if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

TEST(test_nearest_against_all) {
    pace_nearest tree;
    scatter();
    assert_int_equal(pace_nearest_build(&tree, points, groups, POINTS, AXES), PACE_OK);
    for (int trial = 0; trial < 300; trial++) {
        float at[PACE_NEAREST_AXES] = {0};
        double scale[PACE_NEAREST_AXES] = {0}, distances[PACE_NEAREST_MOST];
        uint32_t found[PACE_NEAREST_MOST], but = trial % 3 ? (uint32_t)(trial % 50) : UINT32_MAX;
        static candidate all[POINTS];
        size_t count = 0;
        for (int k = 0; k < AXES; k++) at[k] = (float)(10 * uniform() - 1), scale[k] = trial % 7 ? 5 * uniform() : 1;
        for (uint32_t i = 0; i < POINTS; i++) {
            double sum = 0;
            if (groups[i] == but) continue;
            for (int k = 0; k < AXES; k++) {
                double d = scale[k] * ((double)at[k] - (double)points[i * PACE_NEAREST_AXES + k]);
                sum += d * d;
            }
            all[count++] = (candidate){sum, i};
        }
        qsort(all, count, sizeof *all, nearer);
        assert_int_equal(pace_nearest_find(found, distances, &tree, at, scale, but, 20), 20);
        for (int i = 0; i < 20; i++) {
            assert_int_equal(found[i], all[i].index);
            assert_true(distances[i] == all[i].distance);
        }
    }
    pace_nearest_free(&tree);
}

/* Many measurements of one place, as a log that repeats: its nearest are the first, and asking for every point ends. */
TEST(test_nearest_of_one_place) {
    enum { MANY = 120000, MOST = 20 };
    float *same = calloc(MANY, PACE_NEAREST_AXES * sizeof *same);
    uint32_t *of = malloc(MANY * sizeof *of), found[PACE_NEAREST_MOST];
    double distances[PACE_NEAREST_MOST], scale[PACE_NEAREST_AXES] = {1, 1, 1, 1};
    pace_nearest tree;
    assert_non_null(same);
    assert_non_null(of);
    for (uint32_t i = 0; i < MANY; i++) of[i] = i / 1000;
    assert_int_equal(pace_nearest_build(&tree, same, of, MANY, AXES), PACE_OK);
    for (uint32_t i = 0; i < MANY; i++) {
        uint32_t first = of[i] == 0 ? 1000 : 0; /* group 0 has the least indices, and is left out for its own points */
        assert_int_equal(pace_nearest_find(found, distances, &tree, same, scale, of[i], MOST), MOST);
        for (uint32_t k = 0; k < MOST; k++) assert_true(found[k] == first + k && distances[k] == 0);
    }
    pace_nearest_free(&tree);
    free(same);
    free(of);
}

/* A constant field is that constant anywhere; a measured place is its measurement; halfway between two is their mean.
 */
TEST(test_kriging_identities) {
    pace_nearest tree;
    pace_krige here;
    static float values[POINTS];
    static const double scale[PACE_NEAREST_AXES] = {1, 1, 1, 1};
    scatter();
    for (size_t i = 0; i < POINTS; i++) values[i] = 3.5f;
    assert_int_equal(pace_nearest_build(&tree, points, groups, POINTS, AXES), PACE_OK);
    for (int trial = 0; trial < 50; trial++) {
        float at[PACE_NEAREST_AXES] = {(float)(20 * uniform()), 1, 2, 3};
        assert_true(pace_krige_at(&here, &tree, values, at, scale, UINT32_MAX, 20, 8, 1e-3));
        assert_true(fabs(here.value - 3.5) < 1e-6 && here.variance > -1e-6);
    }
    pace_nearest_free(&tree);
    static const float two[2 * PACE_NEAREST_AXES] = {1, 0, 0, 0, 0, 0, 3};
    static const float heights[2] = {10, 20};
    float at[PACE_NEAREST_AXES] = {2};
    assert_int_equal(pace_nearest_build(&tree, two, NULL, 2, 1), PACE_OK);
    assert_true(pace_krige_at(&here, &tree, heights, at, scale, UINT32_MAX, 20, 8, 0));
    assert_true(fabs(here.value - 15) < 1e-9);
    double middle = here.variance;
    at[0] = 3;
    assert_true(pace_krige_at(&here, &tree, heights, at, scale, UINT32_MAX, 20, 8, 0));
    assert_true(fabs(here.value - 20) < 1e-9 && fabs(here.variance) < 1e-9);
    at[0] = 30;
    assert_true(pace_krige_at(&here, &tree, heights, at, scale, UINT32_MAX, 20, 8, 0));
    assert_true(here.variance > middle);
    pace_nearest_free(&tree);
}

static double rosenbrock(const double *x, void *context) {
    (void)context;
    double a = 1 - x[0], b = x[1] - x[0] * x[0];
    return a * a + 100 * b * b;
}

TEST(test_simplex_finds_the_valley) {
    double x[2] = {-1.2, 1};
    assert_true(pace_simplex(x, 2, 0.5, 600, rosenbrock, NULL) < 1e-8);
    assert_true(fabs(x[0] - 1) < 1e-3 && fabs(x[1] - 1) < 1e-3);
}

/* A step in one of three features, with a tenth of the targets wild: Huber's loss finds the levels all the same. */
TEST(test_trees_find_a_step) {
    enum { ROWS = 4000 };
    float *features = malloc(ROWS * 3 * sizeof *features), *targets = malloc(ROWS * sizeof *targets);
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < 3; k++) features[3 * i + k] = (float)uniform();
        targets[i] = features[3 * i + 1] <= 0.5f ? -1 : 2;
        if (i % 10 == 0) targets[i] += 100;
    }
    pace_trees_options options = {.rounds = 200,
                                  .depth = 3,
                                  .least_rows = 20,
                                  .rate = 0.1,
                                  .row_share = 0.8,
                                  .feature_share = 1,
                                  .clip = 0.5,
                                  .seed = 3};
    pace_trees trees, again;
    assert_int_equal(pace_trees_fit(&trees, features, 3, targets, ROWS, ROWS, &options), PACE_OK);
    assert_int_equal(pace_trees_fit(&again, features, 3, targets, ROWS, ROWS, &options), PACE_OK);
    assert_true(pace_trees_valid(&trees));
    assert_int_equal(trees.nodes.count, again.nodes.count);
    assert_memory_equal(trees.nodes.items, again.nodes.items, trees.nodes.count * sizeof *trees.nodes.items);
    const float low[3] = {0.5f, 0.2f, 0.5f}, high[3] = {0.5f, 0.8f, 0.5f};
    assert_true(fabs(pace_trees_predict(&trees, low) + 1) < 0.2);
    assert_true(fabs(pace_trees_predict(&trees, high) - 2) < 0.2);
    pace_trees_free(&trees);
    pace_trees_free(&again);
    free(features);
    free(targets);
}

static pace_measurement *measurements(size_t count, const pace_device *device) {
    pace_measurement *rows = calloc(count, sizeof *rows);
    for (size_t i = 0; i < count; i++) {
        pace_op *op = &rows[i].op;
        *op = (pace_op){.family = PACE_OP_SOFTMAX, .precision = PACE_FP32, .element_bytes = 4};
        op->size[0] = floor(exp2(4 + 8 * uniform())), op->size[1] = floor(exp2(4 + 8 * uniform()));
        assert_true(pace_op_complete(op));
        rows[i].device = device;
        rows[i].group = (uint32_t)i;
        rows[i].time_s = 4e-6 + (op->read_bytes + op->write_bytes) / 0.8e12 * (1 + 0.05 * uniform());
    }
    return rows;
}

TEST(test_fit_round_trip) {
    enum { ROWS = 500 };
    pace_device device = {.name = "v100",
                          .flop_per_s = {[PACE_FP32] = 15e12},
                          .memory_bytes_per_s = 0.9e12,
                          .sm_count = 80};
    pace_measurement *rows = measurements(ROWS, &device);
    pace_fit_model fit = {.unit = "us", .unit_s = 1e-6}, back;
    pace_learned learned;
    pace_learned_score score;
    unsigned char *bytes;
    size_t length;
    assert_int_equal(pace_learned_fit(&learned, &score, rows, ROWS, 1), PACE_OK);
    assert_true(score.held_out > 20 && score.gmae < 0.05);
    assert_int_equal(PACE_PUSH(&fit.families, learned), PACE_OK);
    assert_int_equal(pace_fit_write(&bytes, &length, &fit), PACE_OK);
    assert_int_equal(pace_fit_parse(&back, "memory", bytes, length), PACE_OK);
    for (size_t i = 0; i < ROWS; i++) {
        pace_estimate a, b;
        assert_true(pace_fit_time(&a, &fit, &rows[i].op, &device, "", NAN, &doubts));
        assert_true(pace_fit_time(&b, &back, &rows[i].op, &device, "", NAN, &doubts));
        assert_true(a.median == b.median && a.spread == b.spread && a.rung == PACE_RUNG_LEARNED);
    }
    pace_fit_free(&back);
    for (size_t cut = 0; cut < length; cut += 1 + cut / 7)
        assert_int_equal(pace_fit_parse(&back, "memory", bytes, cut), PACE_E_INPUT);
    pace_free(bytes);
    pace_fit_free(&fit);
    assert_int_equal(pace_learned_fit(&learned, NULL, rows, 0, 1), PACE_E_INPUT);
    free(rows);
    test_catalog_close();
    assert_int_equal(pace_memory_live(), 0);
}

/* A copy is four times as fast in the cache as beyond it; larger ones than any row go on at the largest rows' rate. */
TEST(test_sizes_beyond_the_rows) {
    enum { ROWS = 40 };
    const double cached = 1 << 18, rate = 40e9;
    pace_device device = {.name = "host", .flop_per_s = {[PACE_FP32] = 1e12}, .memory_bytes_per_s = 50e9};
    pace_measurement rows[ROWS] = {0};
    pace_learned learned;
    for (size_t i = 0; i < ROWS; i++) {
        pace_op *op = &rows[i].op;
        *op = (pace_op){.family = PACE_OP_COPY, .precision = PACE_FP32, .element_bytes = 4};
        op->size[0] = floor(exp2(6 + (double)i * 0.4));
        assert_true(pace_op_complete(op));
        rows[i].device = &device;
        rows[i].group = (uint32_t)i;
        rows[i].time_s = (op->read_bytes + op->write_bytes) / (op->size[0] < cached ? 4 * rate : rate);
    }
    assert_int_equal(pace_learned_fit(&learned, NULL, rows, ROWS, 1), PACE_OK);
    pace_op largest = rows[ROWS - 1].op, beyond = largest;
    beyond.size[0] *= 32;
    assert_true(pace_op_complete(&beyond));
    pace_estimate at, further;
    assert_true(pace_learned_time(&at, &learned, &largest, &device, "", NAN, &doubts));
    assert_true(pace_learned_time(&further, &learned, &beyond, &device, "", NAN, &doubts));
    assert_true(fabs(further.median * rate / (beyond.read_bytes + beyond.write_bytes) - 1) < 0.1);
    assert_true(further.spread > at.spread);
    pace_learned_free(&learned);
    test_catalog_close();
    assert_int_equal(pace_memory_live(), 0);
}

/* Convolutions with a filter for each channel take a tenth of the formula's rate, dense ones all of it: a fit that has
 * rows of both, of the same channels, tells both. */
TEST(test_filters_for_each_channel) {
    enum { ROWS = 64 };
    pace_device device = {.name = "host", .flop_per_s = {[PACE_FP32] = 1e12}, .memory_bytes_per_s = 50e9};
    pace_measurement rows[ROWS] = {0};
    pace_learned learned;
    for (size_t i = 0; i < ROWS; i++) {
        double channels = 16 * exp2((double)(i / 2 % 4)), image = 7 * exp2((double)(i / 8 % 4)),
               images = 1 + 3 * (double)(i / 32);
        pace_op *op = &rows[i].op;
        *op = (pace_op){.family = PACE_OP_CONVOLUTION,
                        .precision = PACE_FP32,
                        .element_bytes = 4,
                        .size = {images, channels, image, image, channels, 3, 3, 1, 1, 1, 1, 1, i % 2 ? channels : 1}};
        assert_true(pace_op_complete(op));
        rows[i].device = &device;
        rows[i].group = (uint32_t)i;
        rows[i].formula_s = op->flop / 1e12;
        rows[i].time_s = rows[i].formula_s * (i % 2 ? 10 : 1);
    }
    assert_int_equal(pace_learned_fit(&learned, NULL, rows, ROWS, 1), PACE_OK);
    for (size_t i = 0; i < ROWS; i++) {
        pace_estimate told;
        assert_true(pace_learned_time(&told, &learned, &rows[i].op, &device, "", rows[i].formula_s, &doubts));
        assert_true(fabs(log(told.median / rows[i].time_s)) < 0.3);
    }
    pace_learned_free(&learned);
    test_catalog_close();
    assert_int_equal(pace_memory_live(), 0);
}

/* Five rows answer for their own sizes, and for no others. */
TEST(test_few_rows_tell_their_own_sizes) {
    pace_device device = {.name = "v100", .flop_per_s = {[PACE_FP32] = 15e12}, .memory_bytes_per_s = 0.9e12},
                other = device;
    memcpy(other.name, "p100", 5);
    pace_measurement *rows = measurements(5, &device);
    pace_learned learned;
    pace_estimate told;
    const char *beyond;
    assert_int_equal(pace_learned_fit(&learned, NULL, rows, 5, 1), PACE_OK);
    for (size_t i = 0; i < 5; i++) {
        pace_op larger = rows[i].op;
        larger.size[0] = 3 * larger.size[0] + 1;
        assert_true(pace_op_complete(&larger));
        assert_true(pace_learned_time(&told, &learned, &rows[i].op, &device, "", NAN, &doubts));
        assert_true(fabs(told.median / rows[i].time_s - 1) < 0.02);
        assert_true(pace_learned_beyond(&beyond, &learned, &rows[i].op, &device, "") && !beyond);
        assert_false(pace_learned_time(&told, &learned, &larger, &device, "", NAN, &doubts));
        assert_false(pace_learned_beyond(&beyond, &learned, &larger, &device, ""));
        assert_false(pace_learned_time(&told, &learned, &rows[i].op, &other, "", NAN, &doubts));
    }
    pace_learned_free(&learned);
    free(rows);
    test_catalog_close();
    assert_int_equal(pace_memory_live(), 0);
}

static pace_device made_up(const char *name, double scale) {
    pace_device device = {
        .flop_per_s = {[PACE_FP16] = scale * 1e14, [PACE_BF16] = scale * 1e14, [PACE_FP32] = scale * 1e13},
        .memory_bytes_per_s = scale * 0.5e12,
        .sm_count = (int)(40 * scale)};
    memcpy(device.name, name, strlen(name) + 1);
    return device;
}

/* Two devices have a law of their own, the largest and the smallest; one like the largest follows that one's more
 * closely. BF16 rows answer for FP16 as for BF16, for FP32 only with a wide interval. */
TEST(test_far_follows_what_is_like_it) {
    enum { EACH = 300 };
    pace_device devices[] = {made_up("large", 4), made_up("middle", 3.6), made_up("small", 0.5), made_up("new", 4.2)};
    const double slower[] = {1, 1.02, 2.5};
    pace_measurement *rows = calloc(3 * (size_t)EACH, sizeof *rows);
    pace_learned learned;
    for (size_t i = 0; i < 3 * (size_t)EACH; i++) {
        pace_op *op = &rows[i].op;
        *op = (pace_op){.family = PACE_OP_GEMM, .precision = PACE_BF16, .element_bytes = 2, .size = {1}};
        for (int k = 1; k < 4; k++) op->size[k] = floor(exp2(6 + 6 * uniform()));
        assert_true(pace_op_complete(op));
        const pace_device *device = rows[i].device = &devices[i / EACH];
        rows[i].group = (uint32_t)i;
        rows[i].time_s = slower[i / EACH] * (5e-6 + op->flop / device->flop_per_s[PACE_BF16] +
                                             (op->read_bytes + op->write_bytes) / device->memory_bytes_per_s);
    }
    assert_int_equal(pace_learned_fit(&learned, NULL, rows, 3 * (size_t)EACH, 1), PACE_OK);
    for (size_t i = 0; i < EACH; i++) {
        pace_op half = rows[i].op, single = rows[i].op;
        pace_estimate bf16, fp16, fp32, elsewhere;
        half.precision = PACE_FP16, single.precision = PACE_FP32;
        assert_true(pace_learned_time(&bf16, &learned, &rows[i].op, &devices[0], "", NAN, &doubts));
        assert_true(pace_learned_time(&fp16, &learned, &half, &devices[0], "", NAN, &doubts));
        assert_true(pace_learned_time(&fp32, &learned, &single, &devices[0], "", NAN, &doubts));
        assert_true(pace_learned_time(&elsewhere, &learned, &rows[i].op, &devices[3], "", NAN, &doubts));
        assert_true(bf16.median == fp16.median && bf16.spread == fp16.spread);
        assert_true(fp32.spread * PACE_NORMAL_90 >= log(1.99));
        assert_true(elsewhere.median < sqrt(slower[2]) * rows[i].time_s);
    }
    pace_learned_free(&learned);
    free(rows);
    test_catalog_close();
    assert_int_equal(pace_memory_live(), 0);
}

/* Calls take 20 us of the host and 1.3 times what the formula says: that is 1.3 times the formula and 20 / 1.3 us. */
TEST(test_fixed_time_of_calls) {
    enum { ROWS = 300 };
    pace_sample samples[ROWS] = {0};
    double times[ROWS];
    uint32_t picked[ROWS];
    for (uint32_t i = 0; i < ROWS; i++) {
        samples[i].formula_s = 1e-6 * exp2(12 * uniform());
        times[i] = 20e-6 + 1.3 * samples[i].formula_s;
        picked[i] = i;
    }
    pace_base_time base = pace_base_time_fit(samples, times, picked, ROWS);
    assert_true(fabs(base.fixed_s / (20e-6 / 1.3) - 1) < 0.05);
    assert_true(fabs(exp(base.off) / 1.3 - 1) < 0.05);
    for (uint32_t i = 0; i < ROWS; i++) times[i] -= 20e-6;
    base = pace_base_time_fit(samples, times, picked, ROWS);
    assert_true(base.fixed_s == 0);
}

/* Products of a long k take three times as long on another device. The formula knows, rows of this device do not. */
static double known_s(const pace_op *op, bool there) { return op->flop / 1e13 * (there && op->size[3] > 512 ? 3 : 1); }

TEST(test_far_by_formula) {
    enum { ROWS = 400 };
    pace_device here = made_up("here", 1), there = made_up("there", 1);
    pace_measurement *rows = calloc(ROWS, sizeof *rows);
    pace_learned learned;
    for (size_t i = 0; i < ROWS; i++) {
        pace_op *op = &rows[i].op;
        *op = (pace_op){.family = PACE_OP_GEMM, .precision = PACE_FP32, .element_bytes = 4, .size = {1}};
        for (int k = 1; k < 4; k++) op->size[k] = floor(exp2(6 + 6 * uniform()));
        assert_true(pace_op_complete(op));
        rows[i].device = &here;
        rows[i].group = (uint32_t)i;
        rows[i].formula_s = known_s(op, false);
        rows[i].time_s = 5e-6 + 1.3 * known_s(op, false);
    }
    assert_int_equal(pace_learned_fit(&learned, NULL, rows, ROWS, 1), PACE_OK);
    for (size_t i = 0; i < ROWS; i++) {
        pace_estimate far;
        double formula_s = known_s(&rows[i].op, true), measured_s = 5e-6 + 1.3 * formula_s;
        assert_true(pace_learned_time(&far, &learned, &rows[i].op, &there, "", formula_s, &doubts));
        assert_true(fabs(log(far.median / measured_s)) < log(1.3));
    }
    pace_learned_free(&learned);
    free(rows);
    test_catalog_close();
    assert_int_equal(pace_memory_live(), 0);
}

int main(void) { return run_tests_of_file(load_doubts, NULL); }
