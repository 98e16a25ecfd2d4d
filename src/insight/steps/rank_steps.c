#include "insight/steps/rank_steps.h"

void pace_step_by_resource(int64_t *out, const pace_rank *rank, size_t mark) {
    const pace_mark *m = &rank->marks.items.items[mark];
    pace_matrix matrix = pace_matrix_of(&rank->tiles, m->from_ns, m->to_ns);
    for (int r = 0; r < PACE_RESOURCES; r++) {
        out[r] = 0;
        for (int s = 0; s < PACE_STAGES; s++) out[r] += matrix.cell_ns[s][r];
    }
}

static int64_t own_ns(const pace_rank *rank, size_t mark) {
    int64_t by_resource[PACE_RESOURCES], sum = 0;
    pace_step_by_resource(by_resource, rank, mark);
    for (int r = 0; r < PACE_RESOURCES; r++) sum += by_resource[r];
    return sum - by_resource[PACE_IDLE_RANK];
}

/* A rank's row: both lists of numbers ascend. */
static pace_status fill_row(int64_t *row, const pace_rank *rank, const int64_t *wanted, size_t count) {
    size_t marks = rank->marks.items.count, mark = 0;
    int64_t *numbers = pace_alloc(marks + 1, sizeof *numbers);
    if (!numbers) return PACE_E_MEMORY;
    pace_mark_numbers(numbers, &rank->marks, &rank->step.names);
    for (size_t k = 0; k < count; k++) {
        while (mark < marks && numbers[mark] < wanted[k]) mark++;
        bool has = mark < marks && numbers[mark] == wanted[k] &&
                   rank->marks.items.items[mark].to_ns > rank->marks.items.items[mark].from_ns;
        row[k] = has ? own_ns(rank, mark) : -1;
    }
    pace_free(numbers);
    return PACE_OK;
}

static pace_status fill(pace_rank_steps *out, const pace_analysis *analysis, const pace_rank *reported,
                        int64_t *numbers) {
    pace_mark_numbers(numbers, &reported->marks, &reported->step.names);
    for (size_t k = 0; k < out->step_count; k++)
        out->labels[k] = pace_names_text(&reported->step.names, reported->marks.items.items[k].label);
    for (size_t r = 0; r < out->rank_count; r++)
        PACE_TRY(fill_row(out->own_ns + r * out->step_count, analysis->ranks.items[r], numbers, out->step_count));
    return PACE_OK;
}

pace_status pace_rank_steps_of(pace_rank_steps *out, const pace_analysis *analysis, const pace_rank *reported) {
    *out = (pace_rank_steps){.rank_count = analysis->ranks.count, .step_count = reported->marks.items.count};
    int64_t *numbers = pace_alloc(out->step_count + 1, sizeof *numbers);
    pace_status status = numbers && PACE_MAKE(out->labels, out->step_count + 1) &&
                                 PACE_MAKE(out->own_ns, out->rank_count * out->step_count + 1)
                             ? fill(out, analysis, reported, numbers)
                             : PACE_E_MEMORY;
    pace_free(numbers);
    if (status != PACE_OK) pace_rank_steps_free(out);
    return status;
}

void pace_rank_steps_free(pace_rank_steps *steps) { PACE_FREE((void *)steps->labels, steps->own_ns); }
