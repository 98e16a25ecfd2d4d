/* The ladder: formulas against kernels measured on a V100 (DLRM traces), bounds that hold for every device. */
#include <math.h>
#include <string.h>

#include "cmocka_of_tests.h"

#include "cost/cost.h"
#include "cost/formula.h"
#include "cost/tiles.h"
#include "catalog_of_tests.h"

static pace_device_catalog catalog;
static pace_cost *cost;

static int load(void **state) {
    (void)state;
    return pace_device_catalog_load(&catalog, test_catalog()) != PACE_OK ||
           pace_cost_create(&cost, test_catalog()) != PACE_OK;
}

static int unload(void **state) {
    (void)state;
    pace_cost_free(cost);
    pace_device_catalog_free(&catalog);
    test_catalog_close();
    return pace_memory_live() != 0;
}

static pace_op op_of(pace_op_family family, const char *kind, double a, double b, double c, double d) {
    pace_op op = {.family = family, .precision = PACE_FP32, .element_bytes = 4, .size = {a, b, c, d}};
    strncpy(op.kind, kind, sizeof op.kind - 1);
    assert_true(pace_op_complete(&op));
    return op;
}

/* What was recorded is what is answered: the mean there, and on another device the ladder's answer as much longer. */
TEST(test_recorded_kernels) {
    const pace_device *v100 = pace_device_find(&catalog, "v100-sxm2-16", 0),
                      *a100 = pace_device_find(&catalog, "a100-40-sxm", 0);
    pace_op product = op_of(PACE_OP_GEMM, "", 1, 4096, 4096, 4096),
            other = op_of(PACE_OP_GEMM, "", 1, 8192, 4096, 4096);
    pace_op sum = op_of(PACE_OP_ELEMENTWISE, "gelu", 1 << 24, 1, 1, 0);
    pace_cost *timed;
    pace_estimate ladder, now;
    assert_int_equal(pace_cost_create(&timed, test_catalog()), PACE_OK);
    assert_int_equal(pace_cost_op_under(&ladder, timed, v100, &product, PACE_SUSTAINED), PACE_OK);
    const pace_timed_op calls[] = {{product, 1.5 * ladder.median}, {product, 2.5 * ladder.median}};
    assert_int_equal(pace_cost_add_timed(timed, v100, calls, 2), PACE_OK);
    assert_int_equal(pace_cost_op_under(&now, timed, v100, &product, PACE_SUSTAINED), PACE_OK);
    assert_true(fabs(now.median / (2 * ladder.median) - 1) < 1e-12);
    assert_int_equal(now.rung, PACE_RUNG_MEASURED);
    const pace_op *const asked[] = {&product, &other, &sum};
    for (int i = 0; i < 3; i++) {
        double times = i < 2 ? 2 : 1; /* of another family nothing was recorded */
        assert_int_equal(pace_cost_op_under(&ladder, cost, a100, asked[i], PACE_SUSTAINED), PACE_OK);
        assert_int_equal(pace_cost_op_under(&now, timed, a100, asked[i], PACE_SUSTAINED), PACE_OK);
        assert_true(fabs(now.median / (times * ladder.median) - 1) < 0.02);
    }
    pace_cost_free(timed);
}

/* Measured on a V100 at 804.5 GB/s of its 900: concat 92.5, 19.4, 15.1, 6.7 us; host to device 528 and 340 us. */
TEST(test_measured_on_v100) {
    static const struct {
        pace_op_family family;
        const char *kind;
        double size, us, within;
    } cases[] = {
        {PACE_OP_COPY, "concat", 7.08e6, 92.5, 0.15},        {PACE_OP_COPY, "concat", 1.18e6, 19.4, 0.20},
        {PACE_OP_COPY, "concat", 0.98e6, 15.1, 0.20},        {PACE_OP_COPY, "concat", 0.20e6, 6.7, 0.20},
        {PACE_OP_TRANSFER, "h2d_pinned", 6.55e6, 528, 0.05}, {PACE_OP_TRANSFER, "h2d_pinned", 4.19e6, 340, 0.05},
    };
    const pace_device *device = pace_device_find(&catalog, "v100-sxm2-16", 0);
    assert_non_null(device);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pace_op op = op_of(cases[i].family, cases[i].kind, cases[i].size, 1, 1, 1);
        pace_estimate time;
        assert_int_equal(pace_cost_op(&time, cost, device, &op), PACE_OK);
        assert_int_equal(time.rung, PACE_RUNG_FORMULA);
        assert_true(time.median * 1e6 > cases[i].us * (1 - cases[i].within));
        assert_true(time.median * 1e6 < cases[i].us * (1 + cases[i].within));
    }
}

/* A guess answers whatever is known, never below the roofline, and says that it may be far off. */
TEST(test_guesses) {
    for (size_t i = 0; i < catalog.count; i++) {
        const pace_device *device = &catalog.devices[i];
        pace_estimate nothing = pace_cost_guess_op(cost, device, NULL), last = {0};
        assert_true(nothing.median > 0 && nothing.spread > 1 && nothing.rung == PACE_RUNG_ROOFLINE);
        for (double bytes = 1; bytes < 1e11; bytes *= 10) {
            pace_op op = {.read_bytes = bytes};
            pace_estimate guess = pace_cost_guess_op(cost, device, &op);
            double rate = device->memory_bytes_per_s;
            assert_true(guess.median >= last.median && (!(rate > 0) || guess.median >= bytes / rate));
            assert_true(guess.spread >= 1 && guess.rung == PACE_RUNG_ROOFLINE);
            last = guess;
        }
    }
}

/* No kernel is faster than its peaks, and more work never takes less time along a doubling of the batch. */
TEST(test_bounds) {
    for (size_t i = 0; i < catalog.count; i++) {
        const pace_device *device = &catalog.devices[i];
        double before = 0;
        if (!(device->flop_per_s[PACE_FP32] > 0) || !(device->memory_bytes_per_s > 0)) continue;
        for (double m = 1; m <= 65536; m *= 2) {
            pace_op op = op_of(PACE_OP_GEMM, "", 1, m, 1024, 1024);
            pace_estimate time;
            assert_int_equal(pace_cost_op(&time, cost, device, &op), PACE_OK);
            assert_true(time.median >=
                        op.flop / fmax(device->flop_per_s[PACE_FP32], device->flop_per_s[PACE_FP32_MATRIX]));
            assert_true(time.median >= (op.read_bytes + op.write_bytes) / device->memory_bytes_per_s);
            assert_true(time.median >= before * 0.999);
            before = time.median;
        }
    }
}

/* Whatever was measured of products of a device is no faster than what its units allow: the best published rates lie
 * close below (Gaudi 2 reaches 0.97 of its peak). */
TEST(test_least_of_best_rates) {
    double closest = 0;
    for (size_t i = 0; i < catalog.count; i++)
        for (int p = 0; p < PACE_PRECISIONS; p++) {
            const pace_device *device = &catalog.devices[i];
            pace_op op = {.family = PACE_OP_GEMM, .precision = (pace_precision)p, .flop = 1e15};
            double best_s = op.flop / device->achievable_flop_per_s[p],
                   least_s = pace_cost_least_flop_s(cost, device, &op);
            if (!(device->achievable_flop_per_s[p] > 0)) continue;
            if (best_s < least_s)
                fail_msg("%s, %s: measured %g s, at least %g s", device->name, pace_precision_key(op.precision), best_s,
                         least_s);
            closest = fmax(closest, least_s / best_s);
        }
    assert_true(closest > 0.85);
}

/* Data sheets: MI100 multiplies 46.1 TFLOP/s of FP32 on its matrix units (its vectors 23.1), H100 989.4 of BF16 at
 * 1,830 MHz, of up to 1,980. A filter of 3 x 3 saves no more than eight of nine multiplications. */
TEST(test_least_counted_by_hand) {
    const pace_device *mi100 = pace_device_find(&catalog, "mi100", 0),
                      *h100 = pace_device_find(&catalog, "h100-80-sxm", 0),
                      *v100 = pace_device_find(&catalog, "v100-sxm2-16", 0);
    pace_op product = op_of(PACE_OP_GEMM, "", 1, 8192, 8192, 8192), convolution = product;
    double flop = 2 * pow(8192, 3);
    assert_true(pace_cost_least_flop_s(cost, mi100, &product) <= flop / 46.1e12);
    assert_true(pace_cost_least_flop_s(cost, mi100, &product) > 0.9 * flop / 46.1e12);
    convolution.family = PACE_OP_CONVOLUTION, convolution.size[5] = convolution.size[6] = 3;
    assert_true(fabs(pace_cost_least_flop_s(cost, v100, &product) / pace_cost_least_flop_s(cost, v100, &convolution) -
                     9) < 1e-9);
    product.precision = PACE_BF16;
    assert_true(pace_cost_least_flop_s(cost, h100, &product) <= flop / (989.4e12 * 1980 / 1830));
    pace_op sum = op_of(PACE_OP_ELEMENTWISE, "gelu", 1 << 28, 1, 1, 0),
            small = op_of(PACE_OP_ELEMENTWISE, "gelu", 1 << 16, 1, 1, 0);
    pace_estimate s, cached_s;
    assert_int_equal(pace_cost_op(&s, cost, v100, &sum), PACE_OK);
    assert_int_equal(pace_cost_op(&cached_s, cost, v100, &small), PACE_OK);
    assert_true(s.least > 0.98 * 8 * pow(2, 28) / 9e11 && s.least <= 8 * pow(2, 28) / 9e11); /* 900 GB/s, 6 MB of L2 */
    assert_true(cached_s.least == 0);
}

TEST(test_unknown) {
    pace_op nothing = {.family = PACE_OP_UNKNOWN}, only_flop = {.family = PACE_OP_UNKNOWN, .element_bytes = 4};
    const pace_device *device = pace_device_find(&catalog, "v100-sxm2-16", 0);
    pace_estimate time = {-1, -1, PACE_RUNG_MEASURED, 0};
    assert_int_equal(pace_cost_op(&time, cost, device, &nothing), PACE_E_INPUT);
    assert_true(time.median == -1);
    only_flop.flop = 15.7e12;
    assert_int_equal(pace_cost_op(&time, cost, device, &only_flop), PACE_OK);
    assert_int_equal(time.rung, PACE_RUNG_ROOFLINE);
    assert_true(time.median > 0.9 && time.spread > 0.5);
}

/* DeepBench on V100, us: 3 x 3 in single precision goes by Winograd, in half precision on the matrix units, where
 * gradients reach less; 5 x 5 by Winograd through memory. All
 * within the interval. */
TEST(test_convolutions_on_v100) {
    static const struct {
        double size, c, n, k, r, us;
        pace_precision precision;
        pace_pass pass;
    } cases[] = {
        {56, 128, 16, 256, 3, 900, PACE_FP32, PACE_PASS_FORWARD},
        {56, 128, 16, 256, 3, 901, PACE_FP32, PACE_PASS_BACKWARD_DATA},
        {28, 192, 16, 32, 5, 192, PACE_FP32, PACE_PASS_FORWARD},
        {7, 832, 16, 128, 5, 639, PACE_FP32, PACE_PASS_FORWARD},
        {56, 128, 16, 256, 3, 318, PACE_FP16, PACE_PASS_FORWARD},
        {56, 128, 16, 256, 3, 352, PACE_FP16, PACE_PASS_BACKWARD_DATA},
        {56, 128, 16, 256, 3, 353, PACE_FP16, PACE_PASS_BACKWARD_WEIGHT},
    };
    const pace_device *device = pace_device_find(&catalog, "v100-sxm2-16", 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double pad = (cases[i].r - 1) / 2, at = cases[i].size;
        pace_op op = {.family = PACE_OP_CONVOLUTION,
                      .precision = cases[i].precision,
                      .pass = cases[i].pass,
                      .element_bytes = cases[i].precision == PACE_FP16 ? 2 : 4,
                      .size = {cases[i].n, cases[i].c, at, at, cases[i].k, cases[i].r, cases[i].r, 1, 1, pad, pad, 1,
                               1}};
        pace_estimate time;
        assert_true(pace_op_complete(&op));
        assert_int_equal(pace_cost_op(&time, cost, device, &op), PACE_OK);
        if (fabs(log(time.median / (1e-6 * cases[i].us))) > PACE_NORMAL_90 * time.spread)
            fail_msg("case %zu: %.1f us, measured %.1f", i, 1e6 * time.median, cases[i].us);
    }
}

/* DeepBench on V100, us: one block of threads sums a window, so that layers of few outputs leave multiprocessors
 * idle. */
TEST(test_small_convolutions_on_v100) {
    static const struct {
        double size, c, n, k, us;
    } cases[] = {{14, 128, 8, 256, 24},
                 {7, 256, 8, 512, 28},
                 {14, 256, 8, 256, 42},
                 {7, 512, 8, 512, 47},
                 {7, 512, 16, 512, 71}};
    const pace_device *device = pace_device_find(&catalog, "v100-sxm2-16", 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pace_op op = {.family = PACE_OP_CONVOLUTION,
                      .precision = PACE_FP16,
                      .element_bytes = 2,
                      .size = {cases[i].n, cases[i].c, cases[i].size, cases[i].size, cases[i].k, 3, 3, 1, 1, 1, 1, 1,
                               1}};
        pace_estimate time;
        assert_true(pace_op_complete(&op));
        assert_int_equal(pace_cost_op(&time, cost, device, &op), PACE_OK);
        if (fabs(1e6 * time.median / cases[i].us - 1) > 0.15)
            fail_msg("case %zu: %.1f us, measured %.1f", i, 1e6 * time.median, cases[i].us);
    }
}

/* Filters of one pixel are plain products in single precision: DeepBench on V100, us, within a sixth. */
TEST(test_convolutions_of_one_pixel) {
    static const struct {
        double size, c, n, k, us;
    } cases[] = {{56, 256, 16, 64, 136},
                 {28, 128, 16, 512, 136},
                 {28, 512, 16, 128, 144},
                 {14, 256, 16, 1024, 135},
                 {14, 1024, 16, 256, 186}};
    const pace_device *device = pace_device_find(&catalog, "v100-sxm2-16", 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pace_op op = {.family = PACE_OP_CONVOLUTION,
                      .precision = PACE_FP32,
                      .element_bytes = 4,
                      .size = {cases[i].n, cases[i].c, cases[i].size, cases[i].size, cases[i].k, 1, 1, 1, 1, 0, 0, 1,
                               1}};
        pace_estimate time;
        assert_true(pace_op_complete(&op));
        assert_int_equal(pace_cost_op(&time, cost, device, &op), PACE_OK);
        if (fabs(1e6 * time.median / cases[i].us - 1) > 0.17)
            fail_msg("case %zu: %.1f us, measured %.1f", i, 1e6 * time.median, cases[i].us);
    }
}

/* Depthwise convolutions of EfficientNet-B4 trained in single precision reach 3.4 and 3.2 % of the vector peak, on V100
 * and on A100 (DeepLearningExamples, steps less the other kernels), whose memory is 1.7 times as fast. */
TEST(test_depthwise_convolutions_wait_for_values) {
    static const char *const names[] = {"v100-sxm2-16", "a100-80-sxm"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const pace_device *device = pace_device_find(&catalog, names[i], 0);
        pace_op op = {.family = PACE_OP_CONVOLUTION,
                      .precision = PACE_FP32,
                      .element_bytes = 4,
                      .size = {32, 672, 24, 24, 672, 5, 5, 1, 1, 2, 2, 1, 672}};
        pace_estimate time;
        assert_true(pace_op_complete(&op));
        assert_int_equal(pace_cost_op(&time, cost, device, &op), PACE_OK);
        double share = op.flop / time.median / pace_device_rate(device, PACE_FP32);
        if (share < 0.025 || share > 0.045) fail_msg("%s: %g of the peak", names[i], share);
    }
}

/* Kepler's implicit products: cuDNN's five layers in convnet-benchmarks of 2014, on a Titan Black, take 513 ms for 914
 * GFLOP forward and 1,348 ms for both gradients: 35 and 27 % of the peak at its clock. The fifth, 3 x 3, is left
 * out. */
TEST(test_convolutions_on_kepler) {
    static const struct {
        double size, c, k, r;
    } layers[] = {{128, 3, 96, 11}, {64, 64, 128, 9}, {32, 128, 128, 9}, {16, 128, 128, 7}};
    static const double of_peak[] = {0.35, 0.27};
    const pace_device *device = pace_device_find(&catalog, "k80", 0);
    for (int pass = 0; pass < 2; pass++) {
        double seconds = 0, flop = 0;
        for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
            double at = layers[i].size, r = layers[i].r;
            pace_op op = {.family = PACE_OP_CONVOLUTION,
                          .precision = PACE_FP32,
                          .pass = pass ? PACE_PASS_BACKWARD : PACE_PASS_FORWARD,
                          .element_bytes = 4,
                          .size = {128, layers[i].c, at, at, layers[i].k, r, r, 1, 1, 0, 0, 1, 1}};
            pace_estimate time;
            assert_true(pace_op_complete(&op));
            assert_int_equal(pace_cost_op(&time, cost, device, &op), PACE_OK);
            seconds += time.median;
            flop += op.flop;
        }
        double share = flop / seconds / device->flop_per_s[PACE_FP32];
        if (fabs(share / of_peak[pass] - 1) > 0.2) fail_msg("pass %d: %.3f of the peak", pass, share);
    }
}

/* TrioSim's trace of VGG-13 and ResNet-50, batch 128, on H100 in TF32, us: the library's kernels take another layout
 * than tensors have, so that wide tensors of few channels take four times as long as their bytes; filters of one pixel
 * take them as they are. */
TEST(test_convolutions_in_tf32) {
    static const struct {
        double size, c, k, r, us;
    } cases[] = {{224, 64, 64, 3, 5892},  {112, 128, 128, 3, 3048}, {56, 256, 256, 3, 1990},
                 {28, 512, 512, 3, 1503}, {56, 64, 64, 3, 299},     {56, 64, 256, 1, 222},
                 {56, 256, 64, 1, 178},   {7, 512, 2048, 1, 93},    {7, 2048, 512, 1, 103}};
    const pace_device *device = pace_device_find(&catalog, "h100-80-sxm", 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double pad = (cases[i].r - 1) / 2, at = cases[i].size;
        pace_op op = {.family = PACE_OP_CONVOLUTION,
                      .precision = PACE_TF32,
                      .element_bytes = 4,
                      .size = {128, cases[i].c, at, at, cases[i].k, cases[i].r, cases[i].r, 1, 1, pad, pad, 1, 1}};
        pace_estimate time;
        assert_true(pace_op_complete(&op));
        assert_int_equal(pace_cost_op(&time, cost, device, &op), PACE_OK);
        if (fabs(log(time.median / (1e-6 * cases[i].us))) > log(1.45))
            fail_msg("case %zu: %.1f us, measured %.1f", i, 1e6 * time.median, cases[i].us);
    }
}

/* Matrix units take 16 bytes of channels at a time: three channels in half precision take as long as eight. */
TEST(test_few_channels_are_filled_up) {
    const pace_device *device = pace_device_find(&catalog, "v100-sxm2-16", 0);
    double seconds[2];
    for (int i = 0; i < 2; i++) {
        pace_op op = {.family = PACE_OP_CONVOLUTION,
                      .precision = PACE_FP16,
                      .element_bytes = 2,
                      .size = {16, i ? 8 : 3, 224, 224, 64, 7, 7, 2, 2, 3, 3, 1, 1}};
        pace_estimate time;
        assert_true(pace_op_complete(&op));
        assert_int_equal(pace_cost_op(&time, cost, device, &op), PACE_OK);
        seconds[i] = time.median;
    }
    assert_true(fabs(seconds[0] / seconds[1] - 1) < 0.01);
}

/* oneDNN's blocks of 16 channels (nChw16c): LeNet's second layer, 20 channels to 50, takes as long as 32 to 64. An
 * image of three channels is read as it is, but its gradient is written in blocks; groups of one channel each are no
 * blocks. */
TEST(test_processors_fill_blocks_of_channels) {
    const pace_device device = {.is_cpu = true,
                                .flop_per_s[PACE_FP32] = 2e11,
                                .achievable_flop_per_s[PACE_FP32] = 2e11,
                                .memory_bytes_per_s = 3e10,
                                .achievable_bytes_per_s = 3e10};
    static const struct {
        double c, k, groups;
        pace_pass pass;
        double as_c, as_k, times;
    } cases[] = {
        {20, 50, 1, PACE_PASS_FORWARD, 32, 64, 1},         {20, 50, 1, PACE_PASS_BACKWARD_DATA, 32, 64, 1},
        {20, 50, 1, PACE_PASS_BACKWARD_WEIGHT, 32, 64, 1}, {16, 64, 1, PACE_PASS_FORWARD, 32, 64, 0.5},
        {3, 64, 1, PACE_PASS_FORWARD, 32, 64, 3.0 / 32},   {3, 64, 1, PACE_PASS_BACKWARD_DATA, 32, 64, 0.5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double compute_s[2];
        for (int as = 0; as < 2; as++) {
            pace_op op = {.family = PACE_OP_CONVOLUTION,
                          .precision = PACE_FP32,
                          .pass = cases[i].pass,
                          .element_bytes = 4,
                          .size = {64, as ? cases[i].as_c : cases[i].c, 48, 48, as ? cases[i].as_k : cases[i].k, 5, 5,
                                   1, 1, 0, 0, 1, cases[i].groups}};
            assert_true(pace_op_complete(&op));
            compute_s[as] = op.flop * pace_convolution_filled(&op, &device);
            pace_estimate time;
            assert_int_equal(pace_cost_op(&time, cost, &device, &op), PACE_OK);
            assert_true(time.median > 0);
        }
        assert_true(fabs(compute_s[0] / compute_s[1] / cases[i].times - 1) < 1e-12);
    }
    pace_op each = {.family = PACE_OP_CONVOLUTION,
                    .precision = PACE_FP32,
                    .element_bytes = 4,
                    .size = {64, 32, 48, 48, 32, 3, 3, 1, 1, 1, 1, 1, 32}};
    assert_true(pace_op_complete(&each) && pace_convolution_filled(&each, &device) == 1);
}

/* PyTorch's own trace of ResNet-50 on V100, batch 32: batch norms take 5.7 ms forward and 10.3 ms backward a step; 53
 * layers. */
TEST(test_batch_norm_reads_twice) {
    static const struct {
        double places, channels, count;
    } layers[] = {{112 * 112, 64, 1}, {56 * 56, 64, 6},  {56 * 56, 256, 4}, {56 * 56, 128, 1},
                  {28 * 28, 128, 7},  {28 * 28, 512, 5}, {28 * 28, 256, 1}, {14 * 14, 256, 11},
                  {14 * 14, 1024, 7}, {14 * 14, 512, 1}, {7 * 7, 512, 5},   {7 * 7, 2048, 4}};
    const pace_device *device = pace_device_find(&catalog, "v100-sxm2-16", 0);
    static const double measured_s[] = {5.72e-3, 10.32e-3};
    for (int back = 0; back < 2; back++) {
        double sum_s = 0, layers_of_it = 0;
        for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
            pace_op op = {.family = PACE_OP_NORMALIZATION,
                          .kind = "batch_norm",
                          .pass = back ? PACE_PASS_BACKWARD : PACE_PASS_FORWARD,
                          .element_bytes = 4,
                          .size = {32 * layers[i].places, layers[i].channels}};
            pace_estimate time;
            assert_true(pace_op_complete(&op));
            assert_int_equal(pace_cost_op(&time, cost, device, &op), PACE_OK);
            sum_s += layers[i].count * time.median;
            layers_of_it += layers[i].count;
        }
        assert_true(layers_of_it == 53);
        if (fabs(log(sum_s / measured_s[back])) > log(1.2))
            fail_msg("%s: %.2f ms, measured %.2f", back ? "backward" : "forward", 1e3 * sum_s, 1e3 * measured_s[back]);
    }
}

/* A T4 sustains in single precision what its 70 W allow, 3.3 of 8.1 TFLOP/s: the middle of NeuSight's large
 * products. */
TEST(test_sustained_rate) {
    const pace_device *device = pace_device_find(&catalog, "t4", 0);
    pace_op op = op_of(PACE_OP_GEMM, "linear", 1, 8192, 8192, 8192);
    pace_estimate time;
    assert_int_equal(pace_cost_op(&time, cost, device, &op), PACE_OK);
    assert_true(op.flop / time.median < 3.8e12 && op.flop / time.median > 2.9e12);
}

/* Seconds under load over those alone. */
static double stretched(const char *name, pace_op op) {
    const pace_device *device = pace_device_find(&catalog, name, 0);
    pace_estimate alone, sustained;
    assert_non_null(device);
    assert_int_equal(pace_cost_op_under(&alone, cost, device, &op, PACE_ALONE), PACE_OK);
    assert_int_equal(pace_cost_op_under(&sustained, cost, device, &op, PACE_SUSTAINED), PACE_OK);
    return sustained.median / alone.median;
}

static pace_op half_precision(double m, double n, double k) {
    pace_op op = {.family = PACE_OP_GEMM, .kind = "linear", .precision = PACE_BF16, .element_bytes = 2};
    op.size[0] = 1, op.size[1] = m, op.size[2] = n, op.size[3] = k;
    assert_true(pace_op_complete(&op));
    return op;
}

static pace_op wide_convolution(pace_precision precision) {
    pace_op op = {.family = PACE_OP_CONVOLUTION,
                  .precision = precision,
                  .element_bytes = precision == PACE_FP16 ? 2 : 4,
                  .size = {128, 256, 56, 56, 256, 3, 3, 1, 1, 1, 1, 1, 1}};
    assert_true(pace_op_complete(&op));
    return op;
}

static double convolution_s(const char *name, pace_pass pass, double size, double channels) {
    pace_op op = {.family = PACE_OP_CONVOLUTION,
                  .kind = "nhwc",
                  .precision = PACE_FP16,
                  .pass = pass,
                  .element_bytes = 2,
                  .size = {8, channels, size * size, size, channels, 9, 3, 1, 1, 4, 1, 1, 1}};
    pace_estimate time;
    assert_true(pace_op_complete(&op));
    assert_int_equal(pace_cost_op(&time, cost, pace_device_find(&catalog, name, 0), &op), PACE_OK);
    return time.median;
}

/* Volumes of few channels, as images of all planes: matrix units wait for the L2, which reads an image 27 times. So
 * H100 is faster than A100 as their L2 caches are, 9.77 and 5.4 TB/s, and its board for PCIe lies between. With many
 * channels it is faster as their matrix units are. */
TEST(test_narrow_convolutions_wait_for_the_l2) {
    for (int pass = PACE_PASS_FORWARD; pass <= PACE_PASS_BACKWARD_WEIGHT; pass++) {
        double values = (pass == PACE_PASS_BACKWARD ? 2 : 1) * 8 * pow(128, 3) * 32 * 27 * (1 + 32.0 / 256);
        double bound_s = 2 * values / (0.75 * 9.77e12);
        double narrow_s = convolution_s("h100-80-sxm", pass, 128, 32);
        double ratio = convolution_s("a100-80-sxm", pass, 128, 32) / narrow_s;
        if (fabs(narrow_s / bound_s - 1) > 0.05) fail_msg("pass %d: %g s of %g", pass, narrow_s, bound_s);
        if (ratio < 1.7 || ratio > 1.85) fail_msg("pass %d: %g times as fast", pass, ratio);
        assert_true(convolution_s("h100-80-pcie", pass, 128, 32) / narrow_s > 1.35);
        double wide = convolution_s("a100-80-sxm", pass, 16, 512) / convolution_s("h100-80-sxm", pass, 16, 512);
        if (wide < 2.3) fail_msg("pass %d: wide ones %g times as fast", pass, wide);
    }
}

/* At its limit of power a device computes more slowly on its matrix units, and nothing else: 1.22 times on Hopper in
 * BF16; on an A100 at 400 W no more than the highest clock is of the base clock (NVIDIA's 1,410 and 1,275 MHz), but in
 * TF32; convolutions on these units, too. An H20, Hopper with a seventh of the matrix units' rate, stays below its
 * limit. Of devices of other makes and generations nothing is known. */
TEST(test_load) {
    static const char *const unknown[] = {"gv100", "gaudi2", "v100-sxm2-16", "mi300x", "rtx-2070"};
    pace_op large = half_precision(8192, 8192, 8192), thin = half_precision(1, 8192, 8192);
    double hopper = stretched("h100-80-sxm", large), ampere = stretched("a100-80-sxm", large);
    const double clocks = 1410.0 / 1275;
    assert_true(hopper > 1.16 && hopper < 1.24 && ampere > 1.08 && ampere <= clocks);
    assert_true(stretched("a100-80-pcie", large) > clocks); /* 300 W */
    assert_true(stretched("gb200", large) > 1.25 && stretched("gh200-96", large) > 1.16);
    assert_true(stretched("h100-80-sxm", thin) < 1.02);
    assert_true(stretched("h20-96-sxm", large) == 1 && stretched("h200-141-sxm", large) > 1.16);
    assert_true(stretched("h100-80-sxm", op_of(PACE_OP_GEMM, "linear", 1, 8192, 8192, 8192)) == 1);
    assert_true(stretched("h100-80-sxm", op_of(PACE_OP_COPY, "concat", 1e8, 1, 1, 1)) == 1);
    double half = stretched("a100-80-sxm", wide_convolution(PACE_FP16));
    assert_true(half > 1.04 && half <= clocks && stretched("a100-80-sxm", wide_convolution(PACE_TF32)) > half);
    assert_true(stretched("a100-80-sxm", wide_convolution(PACE_FP32)) == 1);
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        if (stretched(unknown[i], large) != 1) fail_msg("%s: %g", unknown[i], stretched(unknown[i], large));
}

static double attention_rate(const char *device, const char *kind, pace_pass pass, double keys, double width) {
    const pace_device *on = pace_device_find(&catalog, device, 0);
    pace_op op = {.family = PACE_OP_ATTENTION,
                  .pass = pass,
                  .precision = PACE_FP16,
                  .element_bytes = 2,
                  .size = {16384 / keys, 2048 / width, 2048 / width, keys, keys, width, 0}};
    pace_estimate time_s;
    strncpy(op.kind, kind, sizeof op.kind - 1);
    assert_true(on && pace_op_complete(&op));
    assert_int_equal(pace_cost_op(&time_s, cost, on, &op), PACE_OK);
    return op.flop / time_s.median / 1e12;
}

/* Rates that nobody chose a constant on: FlashAttention-2 on an RTX A5000 and on a B200, where it multiplies by
 * Ampere's instructions (github.com/gpu-mode/ring-attention issue 10, Dao-AILab/flash-attention issue 1589), and
 * FlashAttention-3 on H100 (meta-pytorch/benchmark pull request 2391). */
TEST(test_attention_kernels) {
    static const struct {
        const char *device, *kind;
        pace_pass pass;
        double keys, width, rate;
    } rows[] = {{"rtx-a5000", "flash2", PACE_PASS_FORWARD, 8192, 64, 81.86},
                {"rtx-a5000", "flash2", PACE_PASS_BACKWARD, 8192, 64, 77.42},
                {"b200", "flash2", PACE_PASS_FORWARD, 16384, 64, 379.44},
                {"b200", "flash", PACE_PASS_BACKWARD, 16384, 64, 333.95},
                {"h100-80-sxm", "", PACE_PASS_FORWARD, 512, 128, 430.32},
                {"h100-80-sxm", "", PACE_PASS_FORWARD, 16384, 128, 620.73}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double rate = attention_rate(rows[i].device, rows[i].kind, rows[i].pass, rows[i].keys, rows[i].width);
        if (fabs(rate / rows[i].rate - 1) > 0.15) fail_msg("%s %g: %g", rows[i].device, rows[i].rate, rate);
    }
}

/* Best products of ml-engineering's table (BF16); AMD's sustain their own shares of the peak, in FP16 as in BF16. */
TEST(test_own_rates_of_amd) {
    static const struct {
        const char *device;
        double m, n, k, flop_per_s;
    } best[] = {{"mi325x", 13312, 10240, 8192, 784.9e12}, {"mi355x", 12288, 8192, 8192, 1565e12}};
    for (size_t i = 0; i < sizeof best / sizeof *best; i++) {
        const pace_device *device = pace_device_find(&catalog, best[i].device, 0);
        pace_op op = {.family = PACE_OP_GEMM, .precision = PACE_BF16, .element_bytes = 2};
        pace_estimate bf16, fp16;
        op.size[0] = 1, op.size[1] = best[i].m, op.size[2] = best[i].n, op.size[3] = best[i].k;
        assert_true(device && pace_op_complete(&op));
        assert_int_equal(pace_cost_op(&bf16, cost, device, &op), PACE_OK);
        assert_true(fabs(op.flop / bf16.median / best[i].flop_per_s - 1) < 0.08);
        op.precision = PACE_FP16;
        assert_int_equal(pace_cost_op(&fp16, cost, device, &op), PACE_OK);
        assert_true(fabs(fp16.median / bf16.median - 1) < 1e-9);
    }
}

/* 80 multiprocessors and 128 x 128 tiles: 80 of them are one full wave, 81 are two. */
TEST(test_tiles) {
    pace_tiling full = pace_tiling_best(80, 256, 128, 4096, 80);
    assert_true(full.waves == 1 && full.cost > 0.999 && full.cost < 1.001);
    assert_true(pace_tiling_best(81, 256, 128, 64, 80).cost > 1.1);
    assert_true(pace_tiling_best(1, 1, 1, 64, 80).cost > 1000);
    for (double m = 1; m < 3000; m += 97)
        for (double k = 1; k < 3000; k += 211) {
            assert_true(pace_tiling_best(1, m, 777, k, 108).cost >= 1);
            assert_true(pace_tiling_product(1, m, 777, k, 108).cost >= 1);
        }
    pace_tiling long_one = pace_tiling_product(80, 256, 128, 65536, 80); /* the start and end of a tile hardly count */
    assert_true(long_one.waves == 1 && long_one.cost > 1 && long_one.cost < 1.001);
    assert_true(pace_tiling_product(80, 256, 128, 32, 80).cost > 1.9);
}

/* All work of one product, for sizes one step apart: more of any size is never less work, whatever the tiles. */
TEST(test_tiles_are_monotone) {
    uint64_t x = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        double size[4], more[4];
        for (int j = 0; j < 4; j++) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            size[j] = more[j] = floor(pow(2, (double)(x % 1300) / 100)) + 1;
        }
        more[i % 4] += 1 + (double)(x % 3) * size[i % 4] / 2;
        double sms = 20 + (double)(x % 130), a = size[0] * size[1] * size[2] * size[3],
               b = more[0] * more[1] * more[2] * more[3];
        double less = a * pace_tiling_product(size[0], size[1], size[2], size[3], sms).cost;
        double most = b * pace_tiling_product(more[0], more[1], more[2], more[3], sms).cost;
        assert_true(most >= less * (1 - 1e-9));
        less = a * pace_tiling_best(size[0], size[1], size[2], size[3], sms).cost;
        most = b * pace_tiling_best(more[0], more[1], more[2], more[3], sms).cost;
        assert_true(most >= less * (1 - 1e-9));
    }
}

int main(void) { return run_tests_of_file(load, unload); }
