/* Folded pipelines: with the blocks put in again every stage's order is the whole one's. */
#include "model/pipeline_fold.h"

#include "cmocka_of_tests.h"

/* Every turn of the whole pipeline once, each backward pass behind its forward pass: of what is put in, too. */
static uint32_t unfolded_turns(const pace_pipeline *p, const pace_pipeline_fold *fold, uint32_t stage) {
    pace_turn_block block;
    pace_turns less;
    bool found;
    assert_int_equal(pace_pipeline_fold_block(&block, &found, p, fold, stage), PACE_OK);
    assert_true(found);
    assert_true(block.first >= block.steady_first);
    assert_true(block.first + 2 * block.count <= block.steady_first + block.steady_count);
    assert_int_equal(pace_pipeline_order(&less, &fold->less, stage), PACE_OK);
    uint32_t count = (uint32_t)less.count + fold->times * block.count;
    PACE_VEC_FREE(&less);
    return count;
}

static void check_folds(const pace_pipeline *p, unsigned attempt, uint32_t queued) {
    pace_pipeline_fold fold = pace_pipeline_fold_of(p, attempt, queued);
    assert_int_equal(fold.less.micro_batches + fold.times * fold.round, p->micro_batches);
    uint32_t passes = pace_schedule_splits(p->schedule) && p->stages > 1 ? 3 : 2;
    for (uint32_t s = 0; s < p->stages && fold.times && !pace_schedule_is_v(p->schedule); s++)
        assert_int_equal(unfolded_turns(p, &fold, s), p->micro_batches * p->chunks * passes);
}

TEST(test_orders) {
    for (int schedule = 0; schedule < PACE_SCHEDULES; schedule++)
        for (uint32_t stages = 1; stages <= 8; stages *= 2)
            for (uint32_t chunks = 1; chunks <= 2; chunks++)
                for (uint32_t m = 8; m <= 512; m = 2 * m + 8 * stages) {
                    pace_pipeline p = {(pace_pipeline_schedule)schedule, stages, chunks, m - m % stages, false};
                    if (pace_schedule_is_v(schedule) && stages < 2) continue;
                    if (pace_pipeline_check(&p) != PACE_OK) continue;
                    for (unsigned i = 0; i < 3 * PACE_FOLD_TRIES; i++)
                        check_folds(&p, i % PACE_FOLD_TRIES, i / PACE_FOLD_TRIES);
                }
}

TEST(test_whole) {
    pace_pipeline few = {PACE_SCHEDULE_1F1B, 4, 1, 16, false}, all = {PACE_SCHEDULE_GPIPE, 4, 1, 512, false};
    assert_int_equal(pace_pipeline_fold_of(&few, 0, 4).times, 0);
    assert_int_equal(pace_pipeline_fold_of(&all, 0, 4).times, 0); /* nothing is repeated forward and back */
}

int main(void) { return run_tests_of_file(NULL, NULL); }
