#include "insight/steps/typical_step.h"

#include "base/order.h"

#include <stdlib.h>

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
