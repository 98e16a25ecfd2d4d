#include "insight/compare/step_series.h"
#include "base/rank_test.h"

#include <math.h>
#include <stdlib.h>

static int64_t length_of(const pace_mark *mark) { return mark->to_ns - mark->from_ns; }

static bool takes_part(const pace_rank *rank, const pace_spread *spread, size_t mark) {
    return spread->notes.items[mark].verdict != PACE_STEP_WARM_UP && length_of(&rank->marks.items.items[mark]) > 0;
}

pace_long_steps pace_long_steps_of(const pace_rank *rank, const pace_spread *spread) {
    pace_long_steps found = {.worst = SIZE_MAX};
    for (size_t i = 0; i < spread->notes.count; i++) {
        if (!takes_part(rank, spread, i)) continue;
        int64_t length = length_of(&rank->marks.items.items[i]);
        found.steps++;
        found.run_ns += length;
        if (spread->notes.items[i].verdict != PACE_STEP_OUTLIER || length <= spread->median_ns) continue;
        found.longer++;
        found.excess_ns += length - spread->median_ns;
        if (found.worst == SIZE_MAX || length > length_of(&rank->marks.items.items[found.worst])) found.worst = i;
    }
    if (found.worst != SIZE_MAX) found.resource = spread->notes.items[found.worst].resource;
    return found;
}

/* --- levels ------------------------------------------------------------------------------------------------------- */

typedef struct {
    double resource_ns[PACE_RESOURCES], kernels;
    size_t steps;
} level;

static void add_step(level *sum, const pace_rank *rank, const pace_mark *mark) {
    pace_matrix own = pace_matrix_of(&rank->tiles, mark->from_ns, mark->to_ns);
    for (int r = 0; r < PACE_RESOURCES; r++)
        for (int s = 0; s < PACE_STAGES; s++) sum->resource_ns[r] += (double)own.cell_ns[s][r];
    sum->kernels += (double)pace_work_window(&rank->work, mark->from_ns, mark->to_ns).kernels;
    sum->steps++;
}

static double mean(double sum, const level *of) { return of->steps ? sum / (double)of->steps : 0; }

static void find_difference(pace_step_shift *out, const pace_rank *rank, const size_t *marks, size_t count, size_t at) {
    level levels[2] = {0};
    for (size_t i = 0; i < count; i++) add_step(&levels[i >= at], rank, &rank->marks.items.items[marks[i]]);
    for (int r = 0; r < PACE_RESOURCES; r++) {
        double less = mean(levels[0].resource_ns[r], &levels[0]), more = mean(levels[1].resource_ns[r], &levels[1]);
        if (llabs(llround(more - less)) <= llabs(out->resource_ns)) continue;
        out->resource = (pace_resource)r;
        out->resource_ns = llround(more - less);
    }
    out->kernels_before = mean(levels[0].kernels, &levels[0]);
    out->kernels_after = mean(levels[1].kernels, &levels[1]);
}

static void judge(pace_step_shift *out, const pace_rank *rank, const pace_change_point *point, const size_t *marks,
                  size_t count) {
    if (point->at == 0 || point->p > PACE_CHANGE_LEVEL) return;
    if (fmax(point->before, point->after) < 1.1 * fmin(point->before, point->after)) return;
    out->found = true;
    out->mark = marks[point->at];
    out->before_ns = llround(point->before);
    out->after_ns = llround(point->after);
    find_difference(out, rank, marks, count, point->at);
}

pace_status pace_step_shift_find(pace_step_shift *out, const pace_rank *rank, const pace_spread *spread) {
    pace_step_shift shift = {.found = false};
    pace_change_point point;
    size_t count = 0;
    double *lengths = pace_alloc(spread->notes.count, sizeof *lengths);
    size_t *marks = pace_alloc(spread->notes.count, sizeof *marks);
    pace_status status = lengths && marks ? PACE_OK : PACE_E_MEMORY;
    for (size_t i = 0; status == PACE_OK && i < spread->notes.count; i++) {
        if (!takes_part(rank, spread, i)) continue;
        lengths[count] = (double)length_of(&rank->marks.items.items[i]);
        marks[count++] = i;
    }
    if (status == PACE_OK) status = pace_change_point_find(&point, lengths, count);
    if (status == PACE_OK) judge(&shift, rank, &point, marks, count);
    PACE_FREE(lengths, marks);
    if (status == PACE_OK) *out = shift;
    return status;
}
