#include "insight/mean_step.h"

static void add(pace_matrix *sum, const pace_matrix *one) {
    for (int s = 0; s < PACE_STAGES; s++)
        for (int r = 0; r < PACE_RESOURCES; r++) sum->cell_ns[s][r] += one->cell_ns[s][r];
}

pace_mean_step pace_mean_step_of(const pace_rank *rank) {
    pace_mean_step mean = {0};
    for (size_t i = 0; i < rank->marks.items.count; i++) {
        const pace_mark *mark = &rank->marks.items.items[i];
        if (mark->to_ns <= mark->from_ns) continue;
        pace_matrix own = pace_matrix_of(&rank->tiles, mark->from_ns, mark->to_ns);
        add(&mean.matrix, &own);
        mean.steps++;
    }
    if (mean.steps == 0)
        mean.matrix = pace_matrix_of(&rank->tiles, rank->work.window.first_ns, rank->work.window.last_ns);
    for (int s = 0; mean.steps && s < PACE_STAGES; s++)
        for (int r = 0; r < PACE_RESOURCES; r++) mean.matrix.cell_ns[s][r] /= (int64_t)mean.steps;
    return mean;
}
