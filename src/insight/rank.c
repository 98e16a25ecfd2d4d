#include "insight/rank.h"

#include "insight/steps/passes.h"
#include "insight/steps/stages.h"

pace_status pace_rank_understand(pace_rank *rank, const pace_kernel_classes *classes, const pace_stage_words *words,
                                 const char *step_regex) {
    PACE_TRY(pace_marks_find(&rank->marks, &rank->step, words, step_regex));
    PACE_TRY(pace_stages_attribute(&rank->step, &rank->marks, words));
    PACE_TRY(pace_passes_attribute(&rank->step));
    PACE_TRY(pace_work_build(&rank->work, &rank->step, classes, rank->device));
    return pace_marks_set_intervals(&rank->marks, &rank->work);
}

pace_status pace_rank_tile(pace_rank *rank) { return pace_tiles_build(&rank->tiles, &rank->work, &rank->marks); }

pace_matrix pace_rank_matrix(const pace_rank *rank, int64_t start_ns, int64_t end_ns) {
    const pace_step_fold *fold = &rank->fold;
    pace_matrix sum = pace_matrix_of(&rank->tiles, start_ns, end_ns);
    for (unsigned i = 0; fold->times && i < fold->steps; i++) {
        int64_t from_ns = fold->from_ns[i], to_ns = from_ns + fold->period_ns;
        if (from_ns < start_ns || to_ns > end_ns) continue;
        pace_matrix round = pace_matrix_of(&rank->tiles, from_ns, to_ns);
        for (int s = 0; s < PACE_STAGES; s++)
            for (int r = 0; r < PACE_RESOURCES; r++) sum.cell_ns[s][r] += fold->times * round.cell_ns[s][r];
    }
    return sum;
}

int64_t pace_rank_shown_ns(const pace_rank *rank, int64_t at_ns) {
    const pace_step_fold *fold = &rank->fold;
    int64_t before = 0;
    for (unsigned i = 0; fold->times && i < fold->steps; i++) before += at_ns >= fold->from_ns[i] + fold->period_ns;
    return at_ns + before * pace_rank_left_out_ns(rank);
}

void pace_rank_free(pace_rank *rank) {
    PACE_VEC_FREE(&rank->tiles);
    pace_work_free(&rank->work);
    pace_marks_free(&rank->marks);
    if (rank->trace) return; /* the rest is borrowed */
    pace_step_free(&rank->step);
    pace_free(rank->path);
}
