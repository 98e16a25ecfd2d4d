#include "insight/spread.h"

#include "base/estimate.h"
#include "base/sort.h"

#include <stdlib.h>

const char *const pace_step_verdict_names[] = {"", "warm-up", "outlier", "no work"};

void pace_spread_free(pace_spread *spread) { PACE_VEC_FREE(&spread->notes); }

static int64_t median(int64_t *values, size_t count) {
    pace_order_ns(values, count);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static int64_t length_of(const pace_mark *mark) { return mark->to_ns - mark->from_ns; }

/* The step whose length is nearest the median stands for the usual. */
static const pace_mark *usual_step(const pace_marks *marks, int64_t median_ns) {
    const pace_mark *best = NULL;
    PACE_ITEMS (const pace_mark, mark, &marks->items)
        if (length_of(mark) > 0 && (!best || llabs(length_of(mark) - median_ns) < llabs(length_of(best) - median_ns)))
            best = mark;
    return best;
}

static void find_difference(pace_step_note *note, const pace_rank *rank, const pace_mark *mark,
                            const pace_mark *usual) {
    pace_matrix own = pace_matrix_of(&rank->tiles, mark->from_ns, mark->to_ns);
    pace_matrix other = pace_matrix_of(&rank->tiles, usual->from_ns, usual->to_ns);
    for (int r = 0; r < PACE_RESOURCES; r++) {
        int64_t difference = 0;
        for (int s = 0; s < PACE_STAGES; s++) difference += own.cell_ns[s][r] - other.cell_ns[s][r];
        if (llabs(difference) > llabs(note->resource_ns)) {
            note->resource = (pace_resource)r;
            note->resource_ns = difference;
        }
    }
}

/* The first step warms up, and those behind it for as long as they are too long and become shorter. */
static bool warms_up(const pace_spread *spread, const pace_rank *rank, size_t at) {
    const pace_mark *mark = &rank->marks.items.items[at];
    if (length_of(mark) <= spread->median_ns) return false;
    return at == 0 ||
           (spread->notes.items[at - 1].verdict == PACE_STEP_WARM_UP && length_of(mark) < length_of(mark - 1));
}

static void judge(pace_spread *spread, const pace_rank *rank, int64_t deviation_ns) {
    const pace_mark *usual = usual_step(&rank->marks, spread->median_ns);
    for (size_t i = 0; i < spread->notes.count; i++) {
        const pace_mark *mark = &rank->marks.items.items[i];
        pace_step_note *note = &spread->notes.items[i];
        int64_t off = length_of(mark) - spread->median_ns;
        if (length_of(mark) <= 0) continue;
        if (llabs(off) * 20 > spread->median_ns && (double)llabs(off) > 3 * PACE_NORMAL_MAD * (double)deviation_ns)
            note->verdict = warms_up(spread, rank, i) ? PACE_STEP_WARM_UP : PACE_STEP_OUTLIER;
        if (note->verdict == PACE_STEP_WARM_UP || note->verdict == PACE_STEP_OUTLIER)
            find_difference(note, rank, mark, usual);
    }
}

/* Of two steps neither is usual; a first one more than twice as long as the other warms up. */
static void judge_two(pace_spread *spread, const pace_rank *rank) {
    const pace_mark *first = &rank->marks.items.items[0], *second = NULL;
    for (size_t i = 1; i < spread->notes.count; i++)
        if (length_of(&rank->marks.items.items[i]) > 0) second = &rank->marks.items.items[i];
    if (length_of(first) <= 0 || !second || length_of(first) <= 2 * length_of(second)) return;
    spread->notes.items[0].verdict = PACE_STEP_WARM_UP;
    find_difference(&spread->notes.items[0], rank, first, second);
}

/* Median, range and spread of the steps that a verdict says nothing against. */
static int64_t measure_usual(pace_spread *spread, const pace_rank *rank, int64_t *lengths) {
    size_t count = 0;
    for (size_t i = 0; i < spread->notes.count; i++)
        if (spread->notes.items[i].verdict == PACE_STEP_USUAL)
            lengths[count++] = length_of(&rank->marks.items.items[i]);
    if (count == 0) return 0;
    spread->median_ns = median(lengths, count);
    spread->least_ns = lengths[0];
    spread->most_ns = lengths[count - 1];
    for (size_t i = 0; i < count; i++) lengths[i] = llabs(lengths[i] - spread->median_ns);
    int64_t deviation = median(lengths, count);
    spread->spread = PACE_NORMAL_MAD * (double)deviation / (double)spread->median_ns;
    return deviation;
}

pace_status pace_spread_measure(pace_spread *out, const pace_rank *rank) {
    pace_spread spread = {0};
    size_t marks = rank->marks.items.count, count = 0;
    int64_t *lengths = pace_alloc(marks, sizeof *lengths);
    pace_status status = lengths ? PACE_OK : PACE_E_MEMORY;
    for (size_t i = 0; status == PACE_OK && i < marks; i++) {
        bool works = length_of(&rank->marks.items.items[i]) > 0;
        count += works;
        pace_step_note note = {works ? PACE_STEP_USUAL : PACE_STEP_EMPTY, PACE_IDLE_OTHER, 0};
        status = PACE_PUSH(&spread.notes, note);
    }
    if (status == PACE_OK) {
        int64_t deviation = measure_usual(&spread, rank, lengths);
        if (count >= 3) judge(&spread, rank, deviation);
        if (count == 2) judge_two(&spread, rank);
        measure_usual(&spread, rank, lengths);
    }
    pace_free(lengths);
    return PACE_GIVE(out, spread, status, pace_spread_free(&spread));
}
