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

void pace_rank_free(pace_rank *rank) {
    PACE_VEC_FREE(&rank->tiles);
    pace_work_free(&rank->work);
    pace_marks_free(&rank->marks);
    if (rank->trace) return; /* the rest is borrowed */
    pace_step_free(&rank->step);
    pace_free(rank->path);
}
