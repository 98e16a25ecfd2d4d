/* How layers are cut into the parts of a pipeline: each lies in one part, and parts differ by one layer at most. */
#include "model/pipeline_stages.h"

#include "cmocka_of_tests.h"

static void expect_cut(double layers, uint32_t stages, uint32_t chunks) {
    const pace_pipeline p = {.stages = stages, .chunks = chunks};
    double sum = 0, least = layers, most = 0;
    for (uint32_t part = 0; part < stages * chunks; part++) {
        double here = pace_part_layers(&p, layers, part);
        assert_true(pace_layers_before(&p, layers, part) == sum);
        sum += here;
        least = here < least ? here : least;
        most = here > most ? here : most;
    }
    assert_true(sum == layers);
    assert_true(pace_layers_before(&p, layers, stages * chunks) == layers);
    assert_true(most - least <= 1);
}

TEST(each_layer_in_one_part) {
    for (uint32_t layers = 1; layers < 130; layers++)
        for (uint32_t stages = 1; stages <= 32; stages++)
            for (uint32_t chunks = 1; chunks <= 8 && stages * chunks <= layers; chunks++)
                expect_cut(layers, stages, chunks);
}

/* Llama 3's 126 layers on 16 stages of 8 chunks (Megatron-Bridge's recipe for GB200): embedding and head are a layer
 * each. */
TEST(ends_stand_for_layers) {
    const pace_pipeline p = {.stages = 16, .chunks = 8};
    expect_cut(126, 16, 8);
    assert_true(pace_ends_count(126, 16, 8));
    assert_true(pace_part_layers(&p, 126, 0) == 0 && pace_part_layers(&p, 126, 127) == 0);
    assert_int_equal(pace_stages_check(126, 16, 8), PACE_OK);
    assert_int_equal(pace_stages_check(125, 16, 8), PACE_E_USAGE);
    assert_int_equal(pace_stages_check(124, 16, 8), PACE_E_USAGE);
}

/* Megatron Core's --account-for-embedding-in-pipeline-split and -loss-: Qwen3 235B's 94 layers on 32 stages of three
 * chunks, whose first is its embedding alone and whose last its loss. */
TEST(ends_may_be_chunks) {
    const pace_pipeline p = {.stages = 32, .chunks = 3};
    assert_int_equal(pace_stages_check(94, 32, 3), PACE_OK);
    expect_cut(94, 32, 3);
    assert_true(pace_part_layers(&p, 94, 0) == 0 && pace_part_layers(&p, 94, 95) == 0);
    for (uint32_t part = 1; part < 95; part++) assert_true(pace_part_layers(&p, 94, part) == 1);
    assert_int_equal(pace_stages_check(95, 32, 3), PACE_OK);
    expect_cut(95, 32, 3);
    assert_int_equal(pace_stages_check(93, 32, 3), PACE_E_USAGE);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
