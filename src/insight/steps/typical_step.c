#include "insight/steps/typical_step.h"

#include "base/order.h"
#include "base/print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int64_t length_ns;
    size_t mark;
} candidate;

PACE_ORDER(by_length, candidate, PACE_UP(length_ns) PACE_UP(mark))

static void choose(pace_typical_step *out, const pace_rank *rank, const pace_spread *spread, candidate *usual) {
    for (size_t i = 0; i < spread->notes.count; i++) {
        const pace_mark *mark = &rank->marks.items.items[i];
        pace_step_verdict verdict = spread->notes.items[i].verdict;
        if (verdict == PACE_STEP_USUAL) usual[out->steps++] = (candidate){mark->to_ns - mark->from_ns, i};
        else out->left_out += verdict != PACE_STEP_EMPTY;
    }
    if (out->steps == 0) return;
    qsort(usual, out->steps, sizeof *usual, by_length);
    out->mark = usual[out->steps / 2].mark;
    out->from_ns = rank->marks.items.items[out->mark].from_ns;
    out->to_ns = rank->marks.items.items[out->mark].to_ns;
}

pace_status pace_typical_step_find(pace_typical_step *out, const pace_rank *rank, const pace_spread *spread) {
    pace_typical_step typical = {.mark = SIZE_MAX,
                                 .from_ns = rank->work.window.first_ns,
                                 .to_ns = rank->work.window.last_ns};
    candidate *usual = pace_alloc(spread->notes.count, sizeof *usual);
    if (!usual) return PACE_E_MEMORY;
    choose(&typical, rank, spread, usual);
    pace_free(usual);
    typical.matrix = pace_matrix_of(&rank->tiles, typical.from_ns, typical.to_ns);
    *out = typical;
    return PACE_OK;
}

pace_status pace_typical_step_of(pace_typical_step *out, const pace_rank *rank) {
    pace_spread spread;
    PACE_TRY(pace_spread_measure(&spread, rank));
    pace_status status = pace_typical_step_find(out, rank, &spread);
    pace_spread_free(&spread);
    return status;
}

/* Whether a step stands for those that repeat. Warm-up does not, nor does one that waited, alone among all: a pause.
 * What comes twice, or is work (an update every few steps, an evaluation), is part of the run. */
static bool repeats(const pace_spread *spread, size_t at, size_t outliers) {
    const pace_step_note *note = &spread->notes.items[at];
    bool paused = note->verdict == PACE_STEP_OUTLIER && outliers == 1 && note->resource >= PACE_IDLE_HOST;
    return note->verdict != PACE_STEP_WARM_UP && note->verdict != PACE_STEP_EMPTY && !paused;
}

static size_t count_outliers(const pace_spread *spread) {
    size_t count = 0;
    PACE_ITEMS (const pace_step_note, note, &spread->notes) count += note->verdict == PACE_STEP_OUTLIER;
    return count;
}

/* From the typical step on both sides those that repeat, as many as fit. */
static void take_around(size_t *first, size_t *count, const pace_spread *spread, size_t typical, size_t fit) {
    size_t from = typical, until = typical + 1, outliers = count_outliers(spread); /* behind the last */
    while (until - from < fit) {
        bool before = from > 0 && repeats(spread, from - 1, outliers);
        bool after = until < spread->notes.count && repeats(spread, until, outliers);
        if (!before && !after) break;
        if (after) until++;
        if (before && until - from < fit) from--;
    }
    *first = from;
    *count = until - from;
}

/* Whether the mean of all steps is that of those that repeat, within the twentieth by which an unusual step is off. */
static bool mean_repeats(const pace_rank *rank, const pace_spread *spread) {
    double all_ns = 0, own_ns = 0, all = 0, own = 0;
    size_t outliers = count_outliers(spread);
    for (size_t i = 0; i < spread->notes.count; i++) {
        double ns = (double)(rank->marks.items.items[i].to_ns - rank->marks.items.items[i].from_ns);
        if (ns > 0) all_ns += ns, all++;
        if (repeats(spread, i, outliers)) own_ns += ns, own++;
    }
    return own > 0 && fabs(all_ns / all / (own_ns / own) - 1) * 20 <= 1;
}

static pace_status name_steps(char **out, const pace_rank *rank, size_t first, size_t last) {
    char text[64];
    pace_snprintf(text, sizeof text, "%" PRId64 ":%" PRId64, pace_mark_number(&rank->marks, &rank->step.names, first),
                  pace_mark_number(&rank->marks, &rank->step.names, last));
    *out = pace_copy_text(text, strlen(text));
    return *out ? PACE_OK : PACE_E_MEMORY;
}

pace_status pace_repeating_steps(char **out, const pace_rank *rank, size_t typical, size_t most) {
    size_t first, count, steps = rank->marks.items.count;
    *out = NULL;
    if (steps == 0 || rank->marks.origin != PACE_MARKS_ANNOTATED || typical == SIZE_MAX) return PACE_OK;
    pace_spread spread;
    PACE_TRY(pace_spread_measure(&spread, rank));
    bool whole = steps <= most && mean_repeats(rank, &spread);
    take_around(&first, &count, &spread, typical, most);
    pace_spread_free(&spread);
    return !whole && count < steps ? name_steps(out, rank, first, first + count - 1) : PACE_OK;
}
