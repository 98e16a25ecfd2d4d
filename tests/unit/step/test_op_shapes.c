/* The shape text of an operator. */

#include "cmocka_of_tests.h"
#include <string.h>

#include "step/op_shapes.h"

static pace_op_shapes shapes;

static void dims(unsigned argument, unsigned rank, const int64_t *sizes) {
    assert_int_equal(shapes.rank[argument], rank);
    for (unsigned i = 0; i < rank; i++) assert_int_equal(shapes.dims[argument][i], sizes[i]);
}

#define DIMS(argument, ...) \
    dims(argument, sizeof(int64_t[]){__VA_ARGS__} / sizeof(int64_t), (const int64_t[]){__VA_ARGS__})

TEST(test_dims_and_types) {
    assert_true(pace_op_shapes_parse(&shapes, "[[2, 3],[],[4,5,6,7]]\n[\"float\",\"Scalar\",\"c10::BFloat16\"]"));
    assert_int_equal(shapes.count, 3);
    DIMS(0, 2, 3);
    assert_int_equal(shapes.rank[1], 0);
    DIMS(2, 4, 5, 6, 7);
    assert_int_equal(shapes.element_bytes[0], 4);
    assert_int_equal(shapes.element_bytes[1], 0);
    assert_int_equal(shapes.element_bytes[2], 2);
    assert_true(pace_op_shapes_parse(&shapes, "[[8]]")); /* no types */
    DIMS(0, 8);
    assert_int_equal(shapes.element_bytes[0], 0);
}

TEST(test_scalars) {
    assert_true(pace_op_shapes_parse(&shapes,
                                     "[[1,3,9,9],[8,3,3,3],[],[],[],[],[],[]]\n"
                                     "[\"float\",\"float\",\"\",\"ScalarList\",\"ScalarList\",\"Scalar\",\"\",\"\"]\n"
                                     "[\"\",\"\",\"\",\"[2, -1]\",\"[1, 2, 3, 4, 5]\",\"True\",\"False\",\"0.5\"]"));
    assert_int_equal(shapes.count, 8);
    DIMS(1, 8, 3, 3, 3);
    assert_int_equal(shapes.scalars[0][0], 0);
    assert_int_equal(shapes.scalars[3][0], 2);
    assert_int_equal(shapes.scalars[3][1], -1);
    assert_int_equal(shapes.scalars[4][3], 4);
    assert_int_equal(shapes.scalars[5][0], 1);
    assert_int_equal(shapes.scalars[6][0], 0);
    assert_int_equal(shapes.scalars[7][0], 0);
}

/* Numbers as Python and TorchScript write them: a fraction is no size, whatever digits it is written with. */
TEST(test_numbers) {
    assert_true(pace_op_shapes_parse(&shapes, "[[2],[],[],[],[],[],[],[]]\n[\"float\"]\n"
                                              "[\"1e-05\",\"[1.0000000000000001e-05, 7, 2.5, 3.]\",\"70.0\",\"2e3\","
                                              "\"-1e+01\",\"9223372036854775807\",\"float16 0x\",\"\\\"9\"]"));
    assert_int_equal(shapes.scalars[0][0], 0);
    assert_int_equal(shapes.scalars[0][1], 0);
    const int64_t list[4] = {0, 7, 0, 3};
    assert_memory_equal(shapes.scalars[1], list, sizeof list);
    assert_int_equal(shapes.scalars[2][0], 70);
    assert_int_equal(shapes.scalars[3][0], 2000);
    assert_int_equal(shapes.scalars[4][0], -10);
    assert_true(shapes.scalars[5][0] > (int64_t)1 << 48);
    assert_int_equal(shapes.scalars[6][0], 0);
    assert_int_equal(shapes.scalars[7][0], 9);
}

/* A list of tensors is one argument without sizes; what follows keeps its place. */
TEST(test_tensor_list) {
    assert_true(pace_op_shapes_parse(&shapes, "[[[2,3],[4]],[7]]\n[\"TensorList\",\"long int\"]\n[\"\",\"-12\"]"));
    assert_int_equal(shapes.count, 2);
    assert_int_equal(shapes.rank[0], 0);
    DIMS(1, 7);
    assert_int_equal(shapes.element_bytes[0], 0);
    assert_int_equal(shapes.element_bytes[1], 8);
    assert_int_equal(shapes.scalars[1][0], -12);
}

TEST(test_limits_and_nonsense) {
    assert_true(
        pace_op_shapes_parse(&shapes, "[[1],[2],[3],[4],[5],[6],[7],[8],[9],[10],[11],[12],[13],[14],[15],[16],[17]]"));
    assert_int_equal(shapes.count, PACE_OP_ARGUMENTS);
    DIMS(7, 8);
    assert_true(pace_op_shapes_parse(&shapes, "[[1,2,3,4,5,6,7,8]]"));
    assert_int_equal(shapes.rank[0], 6);
    const char *const none[] = {"", "x", "[]", "[", "[]\n[\"float\"]", "{\"a\":[1]}"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) assert_false(pace_op_shapes_parse(&shapes, none[i]));
    const char *const cut[] = {"[[2",
                               "[[2,3],[",
                               "[[2]\n[\"flo",
                               "[[2]]\n[\"float\"]\n[\"-",
                               "[[2]]\n[]\n[\"-\"]",
                               "[[99999999999999999999999999]]"};
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++) assert_true(pace_op_shapes_parse(&shapes, cut[i]));
    assert_true(shapes.dims[0][0] > 0);
}

TEST(test_amount) {
    const char *texts[] = {"aten::mm", "[[2,3],[3,5]]\n[\"float\",\"float\"]", "host"};
    pace_step step;
    pace_name names[2];
    uint32_t lane;
    assert_int_equal(pace_step_init(&step), PACE_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pace_names_add(&names[i], &step.names, texts[i], strlen(texts[i])), PACE_OK);
    assert_int_equal(pace_step_lane(&lane, &step, texts[2], 4, false, 0), PACE_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pace_step_add_task(&step, lane, PACE_TASK_OP, names[0], i, 1), PACE_OK);
    step.detail[0] = names[1];
    pace_op_amount amount;
    assert_true(pace_op_amount_of(&amount, &step, 0));
    assert_float_equal(amount.flop, 2 * 2 * 3 * 5, 0);
    assert_float_equal(amount.bytes, 4 * (6 + 15 + 10), 0);
    assert_int_equal(amount.element_bytes, 4);
    assert_int_equal(amount.family, PACE_OP_GEMM);
    assert_false(pace_op_amount_of(&amount, &step, 1)); /* no shapes */
    pace_step_free(&step);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
