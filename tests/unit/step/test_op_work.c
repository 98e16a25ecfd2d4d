/* Work of operators against published figures. */
#include <string.h>

#include "cmocka_of_tests.h"

#include "step/op_work.h"

static const double MIB = 1048576.0;

static void tensor(pace_op_shapes *shapes, unsigned char element_bytes, unsigned rank, const int64_t *sizes) {
    unsigned at = shapes->count++;
    shapes->rank[at] = (unsigned char)rank;
    shapes->element_bytes[at] = element_bytes;
    memcpy(shapes->dims[at], sizes, rank * sizeof *sizes);
}

#define TENSOR(shapes, bytes, ...) \
    tensor(shapes, bytes, sizeof(int64_t[]){__VA_ARGS__} / sizeof(int64_t), (const int64_t[]){__VA_ARGS__})

static void pair(pace_op_shapes *shapes, int64_t a, int64_t b) {
    shapes->scalars[shapes->count][0] = a;
    shapes->scalars[shapes->count++][1] = b;
}

static void check(const char *name, const pace_op_shapes *shapes, pace_op_family family, double flop, double bytes) {
    double got_flop = -1, got_bytes = -1;
    pace_op_family got_family;
    assert_true(pace_op_work(name, shapes, &got_flop, &got_bytes, &got_family));
    assert_int_equal(got_family, family);
    if (got_flop != flop || got_bytes != bytes)
        fail_msg("%s: %.17g flop for %.17g, %.17g bytes for %.17g", name, got_flop, flop, got_bytes, bytes);
}

/* ../shared/data/kineto/reference_tracelens/<trace>/GEMM.csv, columns GFLOPS_first and "Data Moved (MB)_first" (which
 * is in MiB). TraceLens adds one operation per output for the bias, which we leave out. */
TEST(test_addmm_as_tracelens) {
    static const struct {
        int64_t m, n, k;
        double gflop, mib;
    } rows[] = {
        {141, 512, 512, 0.0739968, 0.7763671875}, /* bert_small_h100 */
        {141, 30522, 512, 4.41119205, 38.211021423339844},
        {8944, 1024, 1024, 18.766086144, 36.939453125}, /* qwen05b_h100 */
        {788, 3072, 768, 3.720671232, 10.27734375},     /* vit_h100 */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pace_op_shapes shapes = {0};
        TENSOR(&shapes, 2, rows[i].n);
        TENSOR(&shapes, 2, rows[i].m, rows[i].k);
        TENSOR(&shapes, 2, rows[i].k, rows[i].n);
        shapes.count += 2;
        double flop, bytes;
        pace_op_family family;
        assert_true(pace_op_work("aten::addmm", &shapes, &flop, &bytes, &family));
        double biased = flop + (double)(rows[i].m * rows[i].n);
        assert_true(biased / 1e9 > rows[i].gflop - 1e-9 && biased / 1e9 < rows[i].gflop + 1e-9);
        assert_true(flop == 2.0 * (double)(rows[i].m * rows[i].n * rows[i].k));
        assert_true(bytes == rows[i].mib * MIB);
    }
}

TEST(test_products) {
    pace_op_shapes mm = {0}, bmm = {0}, linear = {0}, wrong = {0};
    TENSOR(&mm, 2, 8944, 1024);
    TENSOR(&mm, 2, 1024, 2816);
    check("aten::mm", &mm, PACE_OP_GEMM, 51.581550592e9, 71.0078125 * MIB); /* qwen05b_h100/GEMM.csv */
    TENSOR(&bmm, 4, 5, 2, 3);
    TENSOR(&bmm, 4, 5, 3, 7);
    check("aten::bmm", &bmm, PACE_OP_GEMM, 2 * 5 * 2 * 3 * 7, 4 * (30 + 105 + 70));
    TENSOR(&linear, 4, 5, 2, 3);
    TENSOR(&linear, 4, 7, 3);
    check("aten::linear", &linear, PACE_OP_GEMM, 2 * 10 * 3 * 7, 4 * (30 + 21 + 70));
    mm.element_bytes[1] = 0;
    check("aten::mm", &mm, PACE_OP_GEMM, 51.581550592e9, 0);
    TENSOR(&wrong, 4, 5, 2);
    TENSOR(&wrong, 4, 5, 2);
    double flop, bytes;
    pace_op_family family;
    assert_false(pace_op_work("aten::mm", &wrong, &flop, &bytes, &family));
    assert_int_equal(family, PACE_OP_GEMM);
    assert_true(flop == 0 && bytes == 0);
}

TEST(test_convolution) {
    /* ResNet-50 conv1 at 224: 118.0 million multiply-adds */
    pace_op_shapes conv1 = {0};
    TENSOR(&conv1, 4, 1, 3, 224, 224);
    TENSOR(&conv1, 4, 64, 3, 7, 7);
    conv1.count++;
    pair(&conv1, 2, 2);
    pair(&conv1, 3, 3);
    pair(&conv1, 1, 1);
    check("aten::convolution", &conv1, PACE_OP_CONVOLUTION, 2 * 118013952.0, 4.0 * (150528 + 9408 + 802816));
    /* vit_h100/CONV_fwd.csv: the patch embedding */
    pace_op_shapes patch = {0};
    TENSOR(&patch, 2, 4, 3, 224, 224);
    TENSOR(&patch, 2, 768, 3, 16, 16);
    pair(&patch, 0, 0); /* cudnn_convolution: padding before stride */
    pair(&patch, 16, 16);
    pair(&patch, 1, 1);
    check("aten::cudnn_convolution", &patch, PACE_OP_CONVOLUTION, 0.924844032e9, 3.421875 * MIB);
    double flop, bytes;
    pace_op_family family;
    conv1.scalars[3][0] = 0; /* no stride recorded: nothing is assumed */
    assert_false(pace_op_work("aten::convolution", &conv1, &flop, &bytes, &family));
    assert_int_equal(family, PACE_OP_CONVOLUTION);
    pace_op_shapes backward = {0};
    TENSOR(&backward, 4, 1, 64, 112, 112);
    TENSOR(&backward, 4, 1, 3, 224, 224);
    TENSOR(&backward, 4, 64, 3, 7, 7);
    check("aten::convolution_backward", &backward, PACE_OP_CONVOLUTION, 4 * 118013952.0,
          4.0 * (802816 + 2 * (150528 + 9408)));
}

TEST(test_transposed_convolution) {
    pace_op_shapes shapes = {0};
    TENSOR(&shapes, 4, 1, 8, 4, 4);
    TENSOR(&shapes, 4, 8, 2, 2, 2);
    shapes.count++;
    pair(&shapes, 2, 2);
    pair(&shapes, 0, 0);
    pair(&shapes, 1, 1);
    pair(&shapes, 1, 0);
    check("aten::convolution", &shapes, PACE_OP_CONVOLUTION, 2.0 * 128 * 8, 4.0 * (128 + 64 + 2 * 8 * 8));
}

/* reference_tracelens/{bert_small_h100,qwen05b_h100}/SDPA_fwd.csv */
TEST(test_attention) {
    pace_op_shapes bert = {0}, qwen = {0}, backward = {0};
    for (int i = 0; i < 3; i++) {
        TENSOR(&bert, 2, 1, 8, 141, 64);
        TENSOR(&qwen, 2, 16, 16, 559, 64);
    }
    bert.count = qwen.count = 7;
    qwen.scalars[4][0] = 1; /* causal */
    check("aten::_scaled_dot_product_flash_attention", &bert, PACE_OP_ATTENTION, 0.040716288e9, 0.55078125 * MIB);
    check("aten::_scaled_dot_product_flash_attention", &qwen, PACE_OP_ATTENTION, 10.239377408e9, 69.875 * MIB);
    for (int i = 0; i < 5; i++) TENSOR(&backward, 2, 1, 8, 141, 64);
    check("aten::_scaled_dot_product_flash_attention_backward", &backward, PACE_OP_ATTENTION, 2.5 * 0.040716288e9,
          8 * 0.55078125 * MIB / 4);
    backward.count = 12;
    backward.scalars[11][0] = 1; /* causal: half the scores */
    check("aten::_scaled_dot_product_flash_attention_backward", &backward, PACE_OP_ATTENTION, 1.25 * 0.040716288e9,
          8 * 0.55078125 * MIB / 4);
    pace_op_shapes rows_first = {0}; /* qwen05b_h100 again, one call further in */
    for (int i = 0; i < 3; i++) TENSOR(&rows_first, 2, 16, 559, 16, 64);
    rows_first.count = 10;
    rows_first.scalars[8][0] = 1;
    check("aten::_flash_attention_forward", &rows_first, PACE_OP_ATTENTION, 10.239377408e9, 69.875 * MIB);
}

/* What a tensor operator reads and writes is read off its definition; the shapes are those of real traces. */
TEST(test_operands) {
    pace_op_shapes clamp = {0}, divide = {0}, compare = {0};
    TENSOR(&clamp, 4, 32, 64, 56, 56);
    clamp.count++;
    TENSOR(&clamp, 4, 32, 64, 56, 56); /* clamp_min(self, min, out): `out` is written, not read */
    check("aten::clamp_min", &clamp, PACE_OP_ELEMENTWISE, 6422528, 2 * 4 * 6422528.0);
    TENSOR(&divide, 4, 45310188);
    divide.element_bytes[divide.count++] = 8; /* an integer tensor without dimensions does not widen the result */
    check("aten::div_", &divide, PACE_OP_ELEMENTWISE, 45310188, 2 * 4 * 45310188.0 + 8);
    TENSOR(&compare, 8, 1, 141);
    check("aten::eq", &compare, PACE_OP_ELEMENTWISE, 141, 141 * (8 + 1)); /* writes booleans */
}

TEST(test_moves) {
    pace_op_shapes add = {0}, bias = {0}, relu = {0}, copy = {0}, norm = {0}, look_up = {0}, pool = {0};
    TENSOR(&add, 4, 10, 20);
    TENSOR(&add, 4, 10, 20);
    check("aten::add_", &add, PACE_OP_ELEMENTWISE, 200, 3 * 800);
    TENSOR(&bias, 4, 10, 1);
    TENSOR(&bias, 4, 20);
    check("aten::mul", &bias, PACE_OP_ELEMENTWISE, 200, 40 + 80 + 800);
    TENSOR(&relu, 2, 10, 20);
    check("aten::relu", &relu, PACE_OP_ELEMENTWISE, 200, 2 * 400);
    TENSOR(&copy, 2, 10, 20);
    TENSOR(&copy, 4, 10, 20);
    check("aten::copy_", &copy, PACE_OP_COPY, 0, 1200);
    TENSOR(&norm, 4, 2, 3, 5, 5);
    TENSOR(&norm, 4, 3);
    TENSOR(&norm, 4, 3);
    check("aten::native_batch_norm", &norm, PACE_OP_NORMALIZATION, 7 * 150, 2 * 600 + 24);
    TENSOR(&look_up, 4, 1000, 16);
    TENSOR(&look_up, 8, 5);
    check("aten::embedding", &look_up, PACE_OP_EMBEDDING, 0, 40 + 2 * 5 * 16 * 4);
    TENSOR(&pool, 4, 1, 2, 8, 8);
    pair(&pool, 2, 2);
    pair(&pool, 2, 2);
    check("aten::max_pool2d_with_indices", &pool, PACE_OP_POOLING, 128, 4 * (128 + 32));
}

TEST(test_unknown) {
    double flop, bytes;
    pace_op_family family;
    pace_op_shapes negative = {0};
    assert_false(pace_op_work("aten::no_such_operator", NULL, &flop, &bytes, &family));
    assert_int_equal(family, PACE_OP_UNKNOWN);
    assert_false(pace_op_work("", NULL, &flop, &bytes, &family));
    assert_false(pace_op_work("_", NULL, &flop, &bytes, &family));
    assert_false(pace_op_work("aten::_foreach_add_", NULL, &flop, &bytes, &family));
    assert_int_equal(family, PACE_OP_OPTIMIZER);
    TENSOR(&negative, 4, -1, 3);
    assert_false(pace_op_work("aten::relu", &negative, &flop, &bytes, &family));
    assert_int_equal(family, PACE_OP_ELEMENTWISE);
    assert_string_equal(pace_op_family_name(PACE_OP_GEMM), "gemm");
    assert_string_equal(pace_op_family_name(PACE_OP_FAMILIES), "unknown");
}

/* A matrix of m x k times a vector: a multiply and an addition for each of its elements; each operand is read and the
 * m results are written once. addmv also reads what it adds to. */
TEST(test_matrix_times_vector) {
    const double m = 128, k = 64;
    pace_op_shapes product = {0}, sum = {0};
    TENSOR(&product, 4, 128, 64);
    TENSOR(&product, 4, 64);
    check("aten::mv", &product, PACE_OP_GEMM, 2 * m * k, 4 * (m * k + k + m));
    TENSOR(&sum, 4, 128);
    TENSOR(&sum, 4, 128, 64);
    TENSOR(&sum, 4, 64);
    check("aten::addmv", &sum, PACE_OP_GEMM, 2 * m * k, 4 * (m + m * k + k + m));
}

int main(void) { return run_tests_of_file(NULL, NULL); }
