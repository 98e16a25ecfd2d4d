/* Operations: work from sizes, against published counts and identities. */
#include "step/op.h"

#include <math.h>
#include <string.h>

#include "cmocka_of_tests.h"

static pace_op op_of(pace_op_family family, pace_pass pass, unsigned count, const double *size) {
    pace_op op = {.family = family, .pass = pass, .precision = PACE_FP32, .element_bytes = 4};
    memcpy(op.size, size, count * sizeof *size);
    return op;
}

/* He et al. 2016, ResNet: the first layer, 7 x 7 x 3 filters at stride 2 over 224 x 224, is 118,013,952 multiply-adds.
 */
TEST(convolution_of_resnet) {
    const double size[] = {1, 3, 224, 224, 64, 7, 7, 2, 2, 3, 3, 1, 1};
    pace_op op = op_of(PACE_OP_CONVOLUTION, PACE_PASS_FORWARD, 13, size);
    assert_true(pace_op_complete(&op));
    assert_true(op.flop == 2.0 * 118013952);
    assert_true(op.write_bytes == 4.0 * 64 * 112 * 112);
}

/* What both gradients take together is what each takes alone, for products and convolutions. */
TEST(gradients_add_up) {
    const double product[] = {3, 64, 128, 256}, filters[] = {8, 16, 28, 28, 32, 3, 3, 1, 1, 1, 1, 1, 1};
    for (int family = 0; family < 2; family++) {
        pace_op part[3];
        const pace_pass pass[] = {PACE_PASS_BACKWARD, PACE_PASS_BACKWARD_DATA, PACE_PASS_BACKWARD_WEIGHT};
        for (int i = 0; i < 3; i++) {
            part[i] =
                family ? op_of(PACE_OP_CONVOLUTION, pass[i], 13, filters) : op_of(PACE_OP_GEMM, pass[i], 4, product);
            assert_true(pace_op_complete(&part[i]));
        }
        assert_true(part[0].flop == part[1].flop + part[2].flop);
        assert_true(part[0].read_bytes == part[1].read_bytes + part[2].read_bytes);
        assert_true(part[0].write_bytes == part[1].write_bytes + part[2].write_bytes);
    }
}

/* A gradient of a product is a product: dX = dY W is m x k over n, dW = dY' X is n x k over m. */
TEST(gradient_is_a_product) {
    const double product[] = {3, 64, 128, 256}, own[][4] = {{3, 64, 128, 256}, {3, 64, 256, 128}, {3, 128, 256, 64}};
    const pace_pass pass[] = {PACE_PASS_FORWARD, PACE_PASS_BACKWARD_DATA, PACE_PASS_BACKWARD_WEIGHT};
    for (int i = 0; i < 3; i++) {
        pace_op op = op_of(PACE_OP_GEMM, pass[i], 4, product);
        memcpy(op.kind, pace_packed_weights, strlen(pace_packed_weights));
        assert_true(pace_op_complete(&op));
        pace_op plain = pace_op_plain_product(&op), again = plain;
        assert_true(plain.pass == PACE_PASS_FORWARD && !*plain.kind && pace_op_complete(&again));
        assert_memory_equal(plain.size, own[i], sizeof own[i]);
        assert_true(plain.flop == again.flop && plain.read_bytes == again.read_bytes &&
                    plain.write_bytes == again.write_bytes);
    }
}

/* A lower triangle without its diagonal has n (n - 1) / 2 entries, with it n (n + 1) / 2. */
TEST(triangle) {
    for (int diagonal = 0; diagonal < 2; diagonal++) {
        const double size[] = {2, 9, 9, diagonal};
        pace_op op = op_of(PACE_OP_TRIL, PACE_PASS_FORWARD, 4, size);
        assert_true(pace_op_complete(&op));
        assert_true(op.read_bytes == 4.0 * 2 * (diagonal ? 45 : 36));
    }
}

/* Causal, the i-th token sees the last min(i, w) of the tokens up to itself; of the first w its own score counts half,
 * as where there is no window: s^2 / 2. Two products of head_dim multiply-adds a score. */
TEST(attention_in_a_window) {
    const double tokens = 300, windows[] = {1, 7, 128, 299, 300, 301, 0};
    for (size_t i = 0; i < PACE_COUNT(windows); i++) {
        const double size[] = {2, 8, 4, tokens, tokens, 64, 1};
        double window = windows[i] > 0 && windows[i] < tokens ? windows[i] : tokens, scores = -window / 2;
        for (double token = 1; token <= tokens; token++) scores += token < window ? token : window;
        pace_op op = op_of(PACE_OP_ATTENTION, PACE_PASS_FORWARD, 7, size), all = op;
        pace_attention_slide(op.size, windows[i]);
        assert_true(pace_op_complete(&op) && pace_op_complete(&all));
        assert_true(fabs(op.flop / (2 * 2 * 64 * 2 * 8 * scores) - 1) < 1e-14);
        assert_true(op.read_bytes == all.read_bytes && op.write_bytes == all.write_bytes); /* each key is seen */
        assert_int_equal(pace_op_equal(&op, &all), window == tokens);
    }
}

TEST(sizes_must_suffice) {
    for (int family = 1; family < PACE_OP_FAMILIES; family++) {
        pace_op op = {.family = (pace_op_family)family, .element_bytes = 4};
        assert_false(pace_op_complete(&op));
        assert_true(op.flop == 0 && op.read_bytes == 0 && op.write_bytes == 0);
        unsigned count;
        pace_op_size_names(op.family, &count);
        for (unsigned i = 0; i < count; i++) op.size[i] = 1;
        assert_true(pace_op_complete(&op));
        assert_true(op.read_bytes > 0);
        assert_int_equal(pace_op_family_find(pace_op_family_name(op.family)), op.family);
    }
}

int main(void) { return run_tests_of_file(NULL, NULL); }
