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

int main(void) { return run_tests_of_file(NULL, NULL); }
