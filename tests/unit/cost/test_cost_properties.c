/* Random operations on every device: never faster than the roofline, never faster for being larger, and never more
 * than twice as slow for an eighth more. */
#include <math.h>
#include <string.h>

#include "cmocka_of_tests.h"

#include "cost/cost.h"
#include "catalog_of_tests.h"

static pace_device_catalog catalog;
static pace_cost *cost;
static uint64_t seed = 88172645463325252u;

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

static uint64_t draw(uint64_t below) {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return seed % below;
}

static double size_up_to(double most) { return floor(exp2((double)draw(1000) / 1000 * log2(most))); }

/* Sizes that may grow, by family. */
static const struct {
    pace_op_family family;
    const char *kind;
    unsigned sizes;
    double most[7];
} shapes[] = {
    {PACE_OP_GEMM, "", 4, {1, 65536, 65536, 65536}},
    {PACE_OP_GEMM, "bmm", 4, {512, 2048, 2048, 2048}},
    {PACE_OP_GEMM, "quantised", 4, {1, 65536, 65536, 65536}},
    {PACE_OP_ATTENTION, "", 6, {64, 64, 1, 8192, 8192, 256}},
    {PACE_OP_ELEMENTWISE, "add", 1, {1e9}},
    {PACE_OP_NORMALIZATION, "layer_norm", 2, {65536, 16384}},
    {PACE_OP_SOFTMAX, "", 2, {65536, 16384}},
    {PACE_OP_REDUCTION, "", 2, {65536, 16384}},
    {PACE_OP_CONVOLUTION, "", 5, {256, 2048, 256, 256, 2048}},
};

static pace_op random_op(size_t at, const pace_device *device) {
    static const struct {
        pace_precision precision;
        int bytes;
    } types[] = {{PACE_FP32, 4}, {PACE_FP16, 2}, {PACE_BF16, 2}, {PACE_FP8, 1}, {PACE_INT8, 1}};
    size_t type = draw(sizeof types / sizeof *types);
    while (!(device->flop_per_s[types[type].precision] > 0)) type = draw(sizeof types / sizeof *types);
    pace_op op = {.family = shapes[at].family, .precision = types[type].precision, .element_bytes = types[type].bytes};
    strcpy(op.kind, shapes[at].kind);
    for (unsigned i = 0; i < shapes[at].sizes; i++) op.size[i] = size_up_to(shapes[at].most[i]);
    if (op.family == PACE_OP_ATTENTION) op.size[2] = op.size[1];
    if (op.family == PACE_OP_ELEMENTWISE) op.size[1] = 2, op.size[2] = 1;
    if (op.family == PACE_OP_CONVOLUTION) {
        double window = 1 + 2 * (double)draw(3),
               fixed[] = {window, window, 1, 1, (window - 1) / 2, (window - 1) / 2, 1, 1};
        memcpy(op.size + 5, fixed, sizeof fixed);
        op.pass = (pace_pass)draw(3) == 0 ? PACE_PASS_FORWARD
                  : draw(2)               ? PACE_PASS_BACKWARD_DATA
                                          : PACE_PASS_BACKWARD_WEIGHT;
    }
    assert_true(pace_op_complete(&op));
    return op;
}

static double time_of(const pace_op *op, const pace_device *device) {
    pace_estimate time;
    assert_int_equal(pace_cost_op(&time, cost, device, op), PACE_OK);
    assert_true(isfinite(time.median) && time.spread > 0);
    return time.median;
}

/* flop / peak or bytes / bandwidth (Williams, Waterman, Patterson, CACM 2009). Convolutions by transformed tiles of 9 x
 * 9 multiply 81 times for 25 outputs of 25 values, those of 6 x 6 36 times for 16 of 9 (Lavin and Gray, CVPR 2016). */
static double bound_of(const pace_op *op, const pace_device *device) {
    double rate = device->flop_per_s[op->precision];
    if (op->precision == PACE_FP32) rate = fmax(rate, device->flop_per_s[PACE_FP32_MATRIX]);
    double window = op->family == PACE_OP_CONVOLUTION ? op->size[5] : 1;
    double fewer = window == 3 ? 9 * 16 / 36.0 : window == 5 ? 25 * 25 / 81.0 : 1;
    return fmax(op->flop / fewer / rate, (op->read_bytes + op->write_bytes) / device->memory_bytes_per_s);
}

static void say(const pace_op *op, const pace_device *device, double a, double b) {
    print_error("%s %s on %s, %g x %g x %g x %g x %g x %g, precision %d: %g s, %g s\n", pace_op_family_name(op->family),
                op->kind, device->name, op->size[0], op->size[1], op->size[2], op->size[3], op->size[4], op->size[5],
                (int)op->precision, a, b);
}

TEST(test_roofline_and_growth) {
    for (size_t d = 0; d < catalog.count; d++) {
        const pace_device *device = &catalog.devices[d];
        if (!(device->memory_bytes_per_s > 0)) continue;
        for (int i = 0; i < 400; i++) {
            size_t at = draw(sizeof shapes / sizeof *shapes);
            pace_op op = random_op(at, device), more = op;
            double time = time_of(&op, device), bound = bound_of(&op, device);
            if (time < bound && !device->is_cpu) say(&op, device, time, bound);
            if (!device->is_cpu)
                assert_true(time >= bound); /* a CPU's cache holds what fits into it, and nothing more */
            unsigned grows = (unsigned)draw(shapes[at].sizes);
            more.size[grows] = ceil(more.size[grows] * 1.125);
            if (op.family == PACE_OP_ATTENTION) more.size[2] = more.size[1];
            assert_true(pace_op_complete(&more));
            double longer = time_of(&more, device), share = more.size[grows] / op.size[grows];
            bool smooth = longer >= time * (1 - 1e-9) && (device->is_cpu || longer <= 2 * share * time);
            if (!smooth) say(&op, device, time, longer);
            assert_true(smooth);
        }
    }
}

int main(void) { return run_tests_of_file(load, unload); }
