#include "insight/steps/mean_step.h"

#include "insight/spread.h"

static void add(pace_mean_step *sum, const pace_rank *rank, const pace_mark *mark) {
    pace_matrix own = pace_rank_matrix(rank, mark->from_ns, mark->to_ns);
    for (int s = 0; s < PACE_STAGES; s++)
        for (int r = 0; r < PACE_RESOURCES; r++) sum->matrix.cell_ns[s][r] += own.cell_ns[s][r];
    sum->steps++;
}

static void divide(pace_mean_step *sum, const pace_rank *rank) {
    if (sum->steps == 0)
        sum->matrix = pace_matrix_of(&rank->tiles, rank->work.window.first_ns, rank->work.window.last_ns);
    for (int s = 0; sum->steps && s < PACE_STAGES; s++)
        for (int r = 0; r < PACE_RESOURCES; r++) sum->matrix.cell_ns[s][r] /= (int64_t)sum->steps;
}

pace_mean_step pace_mean_step_of(const pace_rank *rank, size_t first) {
    pace_mean_step mean = {0};
    for (size_t i = first; i < rank->marks.items.count; i++) {
        const pace_mark *mark = &rank->marks.items.items[i];
        if (mark->to_ns > mark->from_ns) add(&mean, rank, mark);
    }
    divide(&mean, rank);
    return mean;
}

pace_status pace_usual_step_of(pace_mean_step *out, const pace_rank *rank) {
    pace_spread spread;
    pace_mean_step mean = {0};
    PACE_TRY(pace_spread_measure(&spread, rank));
    for (size_t i = 0; i < spread.notes.count; i++)
        if (spread.notes.items[i].verdict == PACE_STEP_USUAL) add(&mean, rank, &rank->marks.items.items[i]);
    pace_spread_free(&spread);
    divide(&mean, rank);
    *out = mean;
    return PACE_OK;
}
