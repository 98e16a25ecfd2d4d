/* Edits of operations, against what their definitions say. */
#include "step/op_edit.h"

#include <math.h>
#include <string.h>

#include "cmocka_of_tests.h"

static bool near(double a, double b) { return fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b)); }

static pace_op make(pace_op_family family, pace_pass pass, const double *sizes, unsigned count) {
    pace_op op = {.family = family, .pass = pass, .precision = PACE_FP32, .element_bytes = 4};
    memcpy(op.size, sizes, count * sizeof *sizes);
    assert_true(pace_op_complete(&op));
    return op;
}

#define OP(family, pass, ...)                         \
    make(family, pass, (const double[]){__VA_ARGS__}, \
         (unsigned)(sizeof((const double[]){__VA_ARGS__}) / sizeof(double)))

/* One of each family whose samples one size counts. */
static unsigned all_families(pace_op *out) {
    unsigned n = 0;
    out[n++] = OP(PACE_OP_GEMM, PACE_PASS_FORWARD, 1, 64, 32, 16);
    out[n++] = OP(PACE_OP_GEMM, PACE_PASS_FORWARD, 12, 64, 32, 16);
    out[n++] = OP(PACE_OP_GEMM, PACE_PASS_BACKWARD, 1, 64, 32, 16);
    out[n++] = OP(PACE_OP_CONVOLUTION, PACE_PASS_FORWARD, 8, 3, 14, 14, 16, 3, 3, 1, 1, 1, 1, 1, 1);
    out[n++] = OP(PACE_OP_CONVOLUTION, PACE_PASS_BACKWARD_WEIGHT, 8, 4, 14, 14, 16, 3, 3, 2, 2, 1, 1, 1, 2);
    out[n++] = OP(PACE_OP_ATTENTION, PACE_PASS_FORWARD, 8, 12, 12, 128, 128, 64, 0);
    out[n++] = OP(PACE_OP_EMBEDDING, PACE_PASS_FORWARD, 128, 4, 1000, 10, 64);
    out[n++] = OP(PACE_OP_NORMALIZATION, PACE_PASS_FORWARD, 512, 768);
    out[n++] = OP(PACE_OP_SOFTMAX, PACE_PASS_BACKWARD, 512, 768);
    out[n++] = OP(PACE_OP_REDUCTION, PACE_PASS_FORWARD, 512, 768);
    out[n++] = OP(PACE_OP_ELEMENTWISE, PACE_PASS_FORWARD, 4096, 2, 1);
    out[n++] = OP(PACE_OP_COPY, PACE_PASS_FORWARD, 4096);
    out[n++] = OP(PACE_OP_TRIL, PACE_PASS_FORWARD, 128, 27, 27, 0);
    out[n++] = OP(PACE_OP_LOSS, PACE_PASS_FORWARD, 128, 1000);
    out[n++] = OP(PACE_OP_POOLING, PACE_PASS_FORWARD, 8, 64, 14, 14, 2, 2, 2, 2, 0, 0);
    return n;
}

TEST(by_one_nothing_changes) {
    pace_op ops[16];
    for (unsigned i = 0, n = all_families(ops); i < n; i++) {
        pace_op same = ops[i];
        pace_op_scale_size(&same, pace_op_sample_size(&same), 1);
        assert_true(pace_op_equal(&same, &ops[i]));
    }
}

/* Samples are independent: the arithmetic of twice as many is twice as much, and the same as asked for outright. */
TEST(twice_the_samples_is_twice_the_work) {
    pace_op ops[16];
    for (unsigned i = 0, n = all_families(ops); i < n; i++) {
        pace_op twice = ops[i], outright = ops[i];
        unsigned which =
            ops[i].pass == PACE_PASS_BACKWARD && ops[i].family == PACE_OP_GEMM ? 1 : pace_op_sample_size(&ops[i]);
        pace_op_scale_size(&twice, which, 2);
        outright.size[which] *= 2;
        assert_true(pace_op_complete(&outright));
        assert_true(near(twice.flop, 2 * ops[i].flop));
        assert_true(near(twice.read_bytes, outright.read_bytes));
        assert_true(near(twice.write_bytes, outright.write_bytes));
    }
}

/* Whichever of its sizes counts samples, a product's arithmetic is linear in it; its bytes keep what is the weight. */
TEST(a_product_keeps_its_weight) {
    pace_op op = OP(PACE_OP_GEMM, PACE_PASS_FORWARD, 1, 64, 32, 16), forward = op, gradient = op;
    pace_op_scale_size(&forward, 1, 2);
    pace_op_scale_size(&gradient, 3, 2);
    assert_true(forward.flop == 2 * op.flop && gradient.flop == 2 * op.flop);
    assert_true(forward.read_bytes == 4 * (2 * 64 * 16 + 16 * 32) && forward.write_bytes == 2 * op.write_bytes);
    assert_true(gradient.read_bytes == 2 * op.read_bytes && gradient.write_bytes == op.write_bytes);
}

TEST(a_dense_table_gradient_stays_as_large) {
    pace_op op = OP(PACE_OP_EMBEDDING, PACE_PASS_BACKWARD, 128, 1, 1000, 1, 64);
    strcpy(op.kind, "dense");
    op.write_bytes = 1000 * 64 * 4;
    pace_op_scale_size(&op, 0, 4);
    assert_true(op.write_bytes == 1000 * 64 * 4);
}

/* Without sizes there are only amounts, which grow alike. */
TEST(amounts_grow_where_sizes_are_unknown) {
    pace_op op = {.family = PACE_OP_NORMALIZATION, .element_bytes = 4, .flop = 10, .read_bytes = 20, .write_bytes = 30};
    pace_op_scale_size(&op, 0, 3);
    assert_true(op.flop == 30 && op.read_bytes == 60 && op.write_bytes == 90);
}

TEST(precision_to_itself_changes_nothing) {
    pace_op ops[16];
    for (unsigned i = 0, n = all_families(ops); i < n; i++) {
        pace_op same = ops[i];
        pace_op_set_precision(&same, PACE_FP32, 4);
        assert_true(pace_op_equal(&same, &ops[i]));
    }
}

TEST(half_precision_moves_half_the_bytes) {
    pace_op gemm = OP(PACE_OP_GEMM, PACE_PASS_FORWARD, 1, 64, 32, 16), half = gemm;
    pace_op_set_precision(&half, PACE_BF16, 4);
    assert_true(half.precision == PACE_BF16 && half.element_bytes == 2 && half.flop == gemm.flop);
    assert_true(half.read_bytes * 2 == gemm.read_bytes && half.write_bytes * 2 == gemm.write_bytes);
    pace_op map = OP(PACE_OP_ELEMENTWISE, PACE_PASS_FORWARD, 4096, 2, 1), eighth = map, index = map, update = map;
    pace_op_set_precision(&eighth, PACE_FP8, 4);
    assert_true(eighth.element_bytes == 2 && eighth.precision == map.precision); /* matrices alone are so narrow */
    index.element_bytes = 8;
    pace_op_set_precision(&index, PACE_BF16, 4);
    assert_true(index.element_bytes == 8 && index.read_bytes == map.read_bytes);
    update.family = PACE_OP_OPTIMIZER;
    pace_op_set_precision(&update, PACE_BF16, 4);
    assert_true(update.element_bytes == 4);
}

TEST(batch_and_precision_commute) {
    pace_op ops[16];
    for (unsigned i = 0, n = all_families(ops); i < n; i++) {
        pace_op a = ops[i], b = ops[i];
        pace_op_scale_size(&a, pace_op_sample_size(&a), 4);
        pace_op_set_precision(&a, PACE_FP16, 4);
        pace_op_set_precision(&b, PACE_FP16, 4);
        pace_op_scale_size(&b, pace_op_sample_size(&b), 4);
        assert_true(a.flop == b.flop && a.element_bytes == b.element_bytes);
        assert_true(near(a.read_bytes, b.read_bytes));
    }
}

/* y = f(x), z = g(y): fused, y is neither written nor read. */
TEST(fusing_saves_one_write_and_one_read) {
    pace_op pair[] = {OP(PACE_OP_ELEMENTWISE, PACE_PASS_FORWARD, 4096, 1, 1),
                      OP(PACE_OP_ELEMENTWISE, PACE_PASS_FORWARD, 4096, 2, 1)};
    pace_op fused = pace_op_fuse(pair, 2);
    assert_true(fused.read_bytes == 2 * 4096 * 4 && fused.write_bytes == 4096 * 4);
    assert_true(fused.flop == pair[0].flop + pair[1].flop);
    assert_true(fused.size[0] == 4096 && fused.size[1] == 2 && fused.size[2] == 1);
    pace_op one = pace_op_fuse(pair, 1);
    assert_true(pace_op_equal(&one, &pair[0]));
    pace_op chain[] = {pair[0], pair[1], pair[0]}, all = pace_op_fuse(chain, 3), step[] = {fused, pair[0]};
    pace_op by_steps = pace_op_fuse(step, 2);
    assert_true(pace_op_equal(&all, &by_steps));
}

int main(void) { return run_tests_of_file(NULL, NULL); }
