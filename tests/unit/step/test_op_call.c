/* Operations made of calls: sizes and pass as the operators' signatures define them; amounts agree with those that
 * follow from the sizes alone. */
#include "step/op_call.h"

#include "cmocka_of_tests.h"

static pace_op ops[PACE_CALL_OPS];

static unsigned call(const char *name, const char *text) {
    pace_op_shapes shapes;
    pace_op_family family;
    assert_true(pace_op_shapes_parse(&shapes, text));
    return pace_ops_of_call(ops, &family, name, &shapes);
}

static void sizes(const pace_op *op, pace_op_family family, pace_pass pass, const double *expected, size_t count) {
    assert_int_equal(op->family, family);
    assert_int_equal(op->pass, pass);
    for (size_t i = 0; i < PACE_OP_SIZES; i++) {
        double size = i < count ? expected[i] : 0;
        if (op->size[i] != size) fail_msg("size %zu: %g for %g", i, op->size[i], size);
    }
}

#define SIZES(op, family, pass, ...)                                             \
    sizes(op, PACE_OP_##family, PACE_PASS_##pass, (const double[]){__VA_ARGS__}, \
          sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

/* Two ways to the same amounts: tensor by tensor from the call, and from the sizes. */
static void agrees_with_sizes(const pace_op *op, bool bytes_too) {
    pace_op again = *op;
    assert_true(pace_op_complete(&again));
    if (again.flop != op->flop) fail_msg("%g flop from the call, %g from the sizes", op->flop, again.flop);
    if (!bytes_too) return;
    assert_true(again.read_bytes == op->read_bytes);
    assert_true(again.write_bytes == op->write_bytes);
}

TEST(products) {
    assert_int_equal(call("aten::bmm", "[[5,2,3],[5,3,7]]\n[\"float\",\"float\"]"), 1);
    SIZES(&ops[0], GEMM, FORWARD, 5, 2, 7, 3);
    agrees_with_sizes(&ops[0], true);
    assert_int_equal(call("aten::mm", "[[64,32],[32,16]]\n[\"c10::Half\",\"c10::Half\"]"), 1);
    SIZES(&ops[0], GEMM, FORWARD, 1, 64, 16, 32);
    agrees_with_sizes(&ops[0], true);
    assert_int_equal(ops[0].precision, PACE_FP16);
    assert_int_equal(call("aten::linear", "[[4,8,32],[16,32],[16]]\n[\"float\",\"float\",\"float\"]"), 1);
    SIZES(&ops[0], GEMM, FORWARD, 1, 32, 16, 32);
    agrees_with_sizes(&ops[0], false); /* the bias is read too */
}

/* ResNet-50's first layer, and a strided one with groups. */
TEST(convolutions) {
    assert_int_equal(call("aten::convolution",
                          "[[32,3,224,224],[64,3,7,7],[],[],[],[],[],[],[]]\n"
                          "[\"float\",\"float\",\"\",\"ScalarList\",\"ScalarList\",\"ScalarList\"]\n"
                          "[\"\",\"\",\"\",\"[2, 2]\",\"[3, 3]\",\"[1, 1]\",\"False\",\"[0, 0]\",\"1\"]"),
                     1);
    SIZES(&ops[0], CONVOLUTION, FORWARD, 32, 3, 224, 224, 64, 7, 7, 2, 2, 3, 3, 1, 1);
    agrees_with_sizes(&ops[0], true);
    assert_int_equal(call("aten::cudnn_convolution", "[[8,64,56,28],[128,16,3,1],[],[],[],[]]\n[\"float\",\"float\"]\n"
                                                     "[\"\",\"\",\"[1, 0]\",\"[2, 1]\",\"[1, 1]\",\"4\"]"),
                     1);
    SIZES(&ops[0], CONVOLUTION, FORWARD, 8, 64, 56, 28, 128, 3, 1, 2, 1, 1, 0, 1, 4);
    agrees_with_sizes(&ops[0], true);
    assert_int_equal(call("aten::conv1d", "[[8,64,100],[32,64,5],[],[],[],[],[]]\n[\"float\",\"float\"]\n"
                                          "[\"\",\"\",\"\",\"[2]\",\"[2]\",\"[1]\",\"1\"]"),
                     1);
    SIZES(&ops[0], CONVOLUTION, FORWARD, 8, 64, 1, 100, 32, 1, 5, 1, 2, 0, 2, 1, 1);
    agrees_with_sizes(&ops[0], true);
}

#define BACKWARD(mask)                                                                                       \
    "[[32,64,112,112],[32,3,224,224],[64,3,7,7],[],[],[],[],[],[],[],[]]\n[\"float\",\"float\",\"float\"]\n" \
    "[\"\",\"\",\"\",\"[0]\",\"[2, 2]\",\"[3, 3]\",\"[1, 1]\",\"False\",\"[0, 0]\",\"1\",\"" mask "\"]"

TEST(gradients_of_convolutions) {
    const double once = 2.0 * 32 * 118013952; /* 118.0 million multiply-adds an image: He et al. 2016 */
    assert_int_equal(call("aten::convolution_backward", BACKWARD("[True, True, False]")), 2);
    SIZES(&ops[0], CONVOLUTION, BACKWARD_DATA, 32, 3, 224, 224, 64, 7, 7, 2, 2, 3, 3, 1, 1);
    SIZES(&ops[1], CONVOLUTION, BACKWARD_WEIGHT, 32, 3, 224, 224, 64, 7, 7, 2, 2, 3, 3, 1, 1);
    assert_true(ops[0].flop == once && ops[1].flop == once);
    assert_true(ops[0].write_bytes == 4.0 * 32 * 3 * 224 * 224 && ops[1].write_bytes == 4.0 * 64 * 3 * 7 * 7);
    assert_int_equal(call("aten::convolution_backward", BACKWARD("[false,true,false]")), 1); /* the first layer */
    assert_int_equal(ops[0].pass, PACE_PASS_BACKWARD_WEIGHT);
    assert_true(ops[0].flop == once);
    assert_int_equal(call("aten::convolution_backward", BACKWARD("")), 2);
    /* Without recorded numbers both ends tell them: the first layer, and a 3 x 3 one that keeps the image's size. */
    assert_int_equal(call("aten::convolution_backward", "[[32,64,112,112],[32,3,224,224],[64,3,7,7],[],[],[],[],[]]\n"
                                                        "[\"float\",\"float\",\"float\"]"),
                     2);
    SIZES(&ops[1], CONVOLUTION, BACKWARD_WEIGHT, 32, 3, 224, 224, 64, 7, 7, 2, 2, 3, 3, 1, 1);
    assert_int_equal(call("aten::convolution_backward", "[[8,32,56,56],[8,64,56,56],[32,64,3,3],[],[],[],[],[]]\n"
                                                        "[\"float\",\"float\",\"float\"]"),
                     2);
    SIZES(&ops[0], CONVOLUTION, BACKWARD_DATA, 8, 64, 56, 56, 32, 3, 3, 1, 1, 1, 1, 1, 1);
}

/* Grouped heads, causal. */
TEST(attentions) {
    assert_int_equal(
        call("aten::_scaled_dot_product_flash_attention",
             "[[2,16,128,64],[2,4,256,64],[2,4,256,64],[],[],[],[]]\n"
             "[\"c10::Half\",\"c10::Half\",\"c10::Half\"]\n[\"\",\"\",\"\",\"0.\",\"True\",\"False\",\"\"]"),
        1);
    SIZES(&ops[0], ATTENTION, FORWARD, 2, 16, 4, 128, 256, 64, 1);
    agrees_with_sizes(&ops[0], true);
    assert_int_equal(call("aten::_scaled_dot_product_efficient_attention_backward",
                          "[[2,8,128,64],[2,8,128,64],[2,8,128,64],[2,8,128,64],[],[2,8,128,64]]\n"
                          "[\"float\",\"float\",\"float\",\"float\",\"\",\"float\"]"),
                     1);
    SIZES(&ops[0], ATTENTION, BACKWARD, 2, 8, 8, 128, 128, 64, 0);
    agrees_with_sizes(&ops[0], true);
    assert_string_equal(ops[0].kind, "efficient");
}

TEST(rows_and_columns) {
    call("aten::native_layer_norm", "[[4,10,20],[],[20],[20],[]]\n[\"float\",\"\",\"float\",\"float\"]\n"
                                    "[\"\",\"[20]\",\"\",\"\",\"1e-5\"]");
    SIZES(&ops[0], NORMALIZATION, FORWARD, 40, 20);
    assert_string_equal(ops[0].kind, "layer_norm");
    call("aten::cudnn_batch_norm_backward", "[[8,64,7,7],[8,64,7,7],[64]]\n[\"float\",\"float\",\"float\"]");
    SIZES(&ops[0], NORMALIZATION, BACKWARD, 8 * 49, 64);
    call("aten::_softmax", "[[8,12,128,100],[],[]]\n[\"float\"]\n[\"\",\"-1\",\"False\"]");
    SIZES(&ops[0], SOFTMAX, FORWARD, 8 * 12 * 128, 100);
    call("aten::_log_softmax_backward_data", "[[8,12],[8,12],[],[]]\n[\"float\",\"float\"]\n[\"\",\"\",\"0\",\"6\"]");
    SIZES(&ops[0], SOFTMAX, BACKWARD, 12, 8);
    call("aten::sum", "[[512,1000],[],[],[]]\n[\"float\"]\n[\"\",\"[0]\",\"True\",\"\"]");
    SIZES(&ops[0], REDUCTION, FORWARD, 1000, 512);
    call("aten::sum", "[[512,1000],[]]\n[\"float\"]\n[\"\",\"\"]");
    SIZES(&ops[0], REDUCTION, FORWARD, 1, 512000);
    call("aten::nll_loss_backward", "[[],[32,1000],[32]]\n[\"float\",\"float\",\"long int\"]");
    SIZES(&ops[0], LOSS, BACKWARD, 32, 1000);
}

TEST(embeddings) {
    call("aten::embedding", "[[1000,16],[4,5]]\n[\"float\",\"long int\"]");
    SIZES(&ops[0], EMBEDDING, FORWARD, 20, 1, 1000, 1, 16);
    call("aten::embedding_dense_backward", "[[4,5,16],[4,5],[],[],[]]\n[\"float\",\"long int\"]\n[\"\",\"\",\"1000\"]");
    SIZES(&ops[0], EMBEDDING, BACKWARD, 20, 1, 1000, 1, 16);
    /* DLRM's default at 1024: 8 tables of a million rows of 64, 100 look-ups */
    call("fbgemm::split_embedding_codegen_lookup_sgd_function",
         "[[0],[512000000],[0],[0],[8],[8],[9],[],[],[9],[],[819200],[8193]]\n"
         "[\"float\",\"float\",\"float\",\"float\",\"int\",\"long int\",\"int\",\"Scalar\",\"Scalar\",\"long int\","
         "\"Scalar\",\"long int\",\"long int\"]\n[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"512\",\"64\"]");
    SIZES(&ops[0], EMBEDDING, FORWARD, 1024, 8, 1000000, 100, 64);
}

TEST(moves_and_updates) {
    call("aten::cat", "[[[1024,64],[1024,36]],[]]\n[\"TensorList(float)\",\"Scalar\"]\n[\"\",\"1\"]");
    SIZES(&ops[0], COPY, FORWARD, 102400);
    assert_string_equal(ops[0].kind, "concat");
    assert_true(ops[0].read_bytes == 409600 && ops[0].write_bytes == 409600);
    call("aten::index_select", "[[100,8],[],[7]]\n[\"float\",\"\",\"long int\"]\n[\"\",\"0\",\"\"]");
    SIZES(&ops[0], COPY, FORWARD, 56);
    call("aten::index", "[[1024,9,9],[[],[36],[36]]]\n[\"float\",\"TensorList(long int)\"]");
    SIZES(&ops[0], COPY, FORWARD, 1024 * 36);
    call("aten::_foreach_add_", "[[[10,10],[50]],[[10,10],[50]],[]]\n[\"TensorList(float)\",\"TensorList(float)\"]");
    SIZES(&ops[0], OPTIMIZER, FORWARD, 150, 2);
    assert_true(ops[0].read_bytes == 1200 && ops[0].write_bytes == 600);
    call("aten::_fused_adam_", "[[[10,10],[50]],[[10,10],[50]],[[10,10],[50]],[[10,10],[50]],[],[]]\n"
                               "[\"TensorList(float)\"]");
    SIZES(&ops[0], OPTIMIZER, FORWARD, 150, 2);
    assert_string_equal(ops[0].kind, "adam");
    call("aten::gelu", "[[8,8]]\n[\"float\"]");
    SIZES(&ops[0], ELEMENTWISE, FORWARD, 64, 1, 1);
    assert_string_equal(ops[0].kind, "gelu");
    agrees_with_sizes(&ops[0], true);
    call("aten::threshold_backward", "[[8,8],[8,8],[]]\n[\"float\",\"float\"]");
    SIZES(&ops[0], ELEMENTWISE, BACKWARD, 64, 2, 1);
}

TEST(poolings) {
    call("aten::max_pool2d_with_indices", "[[32,64,112,112],[],[],[],[],[]]\n[\"float\"]\n"
                                          "[\"\",\"[3, 3]\",\"[2, 2]\",\"[1, 1]\",\"[1, 1]\",\"False\"]");
    SIZES(&ops[0], POOLING, FORWARD, 32, 64, 112, 112, 3, 3, 2, 2, 1, 1);
    agrees_with_sizes(&ops[0], true);
    assert_true(ops[0].write_bytes == 4.0 * 32 * 64 * 56 * 56);
    call("aten::_adaptive_avg_pool2d", "[[32,512,7,7],[]]\n[\"float\"]\n[\"\",\"[1, 1]\"]");
    SIZES(&ops[0], POOLING, FORWARD, 32, 512, 7, 7, 7, 7, 7, 7);
    agrees_with_sizes(&ops[0], true);
}

TEST(what_does_no_work) {
    assert_true(pace_op_is_idle("aten::view") && pace_op_is_idle("aten::empty_strided"));
    assert_true(pace_op_is_idle("aten::detach_") && pace_op_is_idle("detach"));
    assert_false(pace_op_is_idle("aten::copy_") || pace_op_is_idle("aten::mm") || pace_op_is_idle("view"));
}

int main(void) { return run_tests_of_file(NULL, NULL); }
