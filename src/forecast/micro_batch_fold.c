#include "forecast/micro_batch_fold.h"
#include "insight/steps/typical_step.h"

#include <string.h>

/* Where a turn begins: launches behind the last one on stream 0 of the turn before. */
static uint32_t launch_behind(const pace_graph *graph, uint32_t computes) {
    uint32_t i = 0, seen = 0;
    for (; i < graph->launches.count && seen < computes; i++) seen += graph->launches.items[i].stream == 0;
    return i;
}

static uint32_t computes_before(const pace_graph *graph, uint32_t turn) {
    return turn ? graph->turn_ends.items[turn - 1] : 0;
}

pace_fold_round pace_fold_round_of(const pace_graph *graph, uint32_t queue, uint32_t first, uint32_t count,
                                   uint32_t steady_first, uint32_t steady_count) {
    uint32_t begin = computes_before(graph, first), end = computes_before(graph, first + count);
    return (pace_fold_round){.first = launch_behind(graph, begin),
                             .last = launch_behind(graph, end),
                             .count = end - begin,
                             .queue = queue,
                             .steady_begin = computes_before(graph, steady_first),
                             .steady_end = computes_before(graph, steady_first + steady_count)};
}

/* --- two rounds that are alike ------------------------------------------------------------------------------------ */

static bool is_again(const pace_step *step, uint32_t a, uint32_t b, int64_t period_ns) {
    return step->start_ns[a] + period_ns == step->start_ns[b] && pace_task_ns(step, a) == pace_task_ns(step, b) &&
           step->name[a] == step->name[b] && step->kind[a] == step->kind[b];
}

static bool lane_repeats(const pace_step *step, const pace_lane *lane, int64_t from_ns, int64_t period_ns) {
    uint32_t first = pace_lane_first_from(step, lane, from_ns),
             second = pace_lane_first_from(step, lane, from_ns + period_ns);
    uint32_t end = pace_lane_first_from(step, lane, from_ns + 2 * period_ns), count = second - first;
    if (end - second != count) return false;
    for (uint32_t i = 0; i < count; i++)
        if (!is_again(step, first + i, second + i, period_ns)) return false;
    return true;
}

static const pace_lane *first_stream(const pace_step *step) {
    PACE_ITEMS (const pace_lane, lane, &step->lanes)
        if (lane->device && strcmp(pace_names_text(&step->names, lane->key), "device 0 stream 0") == 0) return lane;
    return NULL;
}

/* A host that waits for its device's queue depends on what ended so many launches ago. */
static bool queue_repeats(const pace_step *step, const pace_lane *stream, const pace_fold_round *round, int64_t from_ns,
                          int64_t period_ns) {
    for (uint32_t before = 0; before < round->queue; before += round->count) {
        from_ns -= period_ns;
        if (!lane_repeats(step, stream, from_ns, period_ns)) return false;
    }
    return true;
}

static int64_t end_ns(const pace_step *step, uint32_t task) { return step->start_ns[task] + pace_task_ns(step, task); }

/* When a launch of stream 0 has run: here, and if all rounds before the first were as the first; the later of both. */
static int64_t run_end_ns(const pace_step *step, uint32_t task, uint32_t first, uint32_t count, int64_t period_ns) {
    uint32_t before = task < first ? (first - task + count - 1) / count : 0;
    int64_t steady_ns = end_ns(step, task + before * count) - before * period_ns, here_ns = end_ns(step, task);
    return steady_ns > here_ns ? steady_ns : here_ns;
}

/* When its call has ended: here, and if all rounds behind the second were as the second; the earlier of both. */
static int64_t call_end_ns(const pace_step *step, const pace_lane *stream, uint32_t task, uint32_t second,
                           uint32_t count, int64_t period_ns) {
    uint32_t later = task < second ? 0 : (task - second) / count;
    uint32_t steady = pace_task_cause(step, task - later * count);
    if (steady == PACE_NO_TASK) return INT64_MIN;
    int64_t steady_ns = end_ns(step, steady) + later * period_ns;
    if (task >= stream->first + stream->count) return steady_ns;
    uint32_t cause = pace_task_cause(step, task);
    int64_t here_ns = cause == PACE_NO_TASK ? INT64_MIN : end_ns(step, cause);
    return steady_ns < here_ns ? steady_ns : here_ns;
}

/* No host waits for the queue, with more rounds or without: each call begins behind the call before, and that ends when
 * the queue has room. */
static bool queue_has_room(const pace_step *step, const pace_lane *stream, const pace_fold_round *round,
                           int64_t from_ns, int64_t period_ns) {
    uint32_t first = pace_lane_first_from(step, stream, from_ns), second = first + round->count;
    uint32_t oldest = first - stream->first > round->queue ? first - round->queue : stream->first;
    for (uint32_t i = oldest; round->queue && i < second; i++)
        if (run_end_ns(step, i, first, round->count, period_ns) >=
            call_end_ns(step, stream, i + round->queue - 1, second, round->count, period_ns))
            return false;
    return true;
}

/* The rank is at its steady turns from the beginning of the first round to the end of the second. */
static bool is_among_rounds(const pace_step *step, const pace_lane *stream, const pace_fold_round *round,
                            unsigned in_step, unsigned repeats, int64_t from_ns, int64_t period_ns) {
    if (!stream || stream->count % repeats) return false;
    uint32_t before = stream->first + in_step * (stream->count / repeats);
    uint32_t first = pace_lane_first_from(step, stream, from_ns),
             end = pace_lane_first_from(step, stream, from_ns + 2 * period_ns);
    return first >= before + round->steady_begin && end <= before + round->steady_end;
}

static bool rank_is_steady(const pace_rank *rank, const pace_fold_round *round, unsigned in_step, unsigned repeats,
                           int64_t from_ns, int64_t period_ns) {
    const pace_step *step = &rank->step;
    const pace_lane *stream = first_stream(step);
    if (rank->shift_ns != 0 || !is_among_rounds(step, stream, round, in_step, repeats, from_ns, period_ns))
        return false;
    for (size_t i = 0; i < step->lanes.count; i++)
        if (!lane_repeats(step, &step->lanes.items[i], from_ns, period_ns)) return false;
    return queue_has_room(step, stream, round, from_ns, period_ns) ||
           queue_repeats(step, stream, round, from_ns, period_ns);
}

/* Two rounds from an instant on are alike on all ranks. */
static bool all_are_steady(const pace_analysis *analysis, const pace_fold_round *rounds, unsigned in_step,
                           unsigned repeats, int64_t from_ns, int64_t period_ns) {
    for (size_t r = 0; r < analysis->ranks.count; r++)
        if (!rank_is_steady(analysis->ranks.items[r], &rounds[r], in_step, repeats, from_ns, period_ns)) return false;
    return true;
}

/* The last two rounds of a step that are alike: what settles has settled there, if other ranks are not yet draining. */
static bool step_is_steady(pace_step_fold *fold, const pace_analysis *analysis, const pace_fold_round *rounds,
                           unsigned in_step, unsigned repeats) {
    const pace_step *step = &analysis->ranks.items[0]->step;
    const pace_lane *stream = first_stream(step);
    uint32_t count = rounds[0].count;
    if (!stream || stream->count % repeats || count == 0) return false;
    uint32_t before = stream->first + in_step * (stream->count / repeats);
    for (uint32_t end = rounds[0].steady_end; end >= rounds[0].steady_begin + 2 * count; end -= count) {
        int64_t from_ns = step->start_ns[before + end - 2 * count];
        int64_t period_ns = step->start_ns[before + end - count] - from_ns;
        if (period_ns <= 0 || (in_step > 0 && period_ns != fold->period_ns)) continue;
        if (!all_are_steady(analysis, rounds, in_step, repeats, from_ns, period_ns)) continue;
        fold->period_ns = period_ns;
        fold->from_ns[in_step] = from_ns;
        return true;
    }
    return false;
}

/* Whether none of these steps is unusual, and which one is typical. */
static pace_status all_are_usual(bool *out, size_t *typical, const pace_rank *rank, unsigned repeats) {
    pace_typical_step step;
    PACE_TRY(pace_typical_step_of(&step, rank));
    *out = step.steps == repeats;
    *typical = step.mark;
    return PACE_OK;
}

/* The same of the whole steps, each longer by what is left out: their typical step must be the folded ones'. */
static pace_status are_usual_whole(bool *out, const pace_rank *rank, unsigned repeats) {
    pace_rank whole = *rank;
    size_t count = rank->marks.items.count, typical[2];
    bool folded;
    if (!PACE_MAKE(whole.marks.items.items, count + 1)) return PACE_E_MEMORY;
    for (size_t i = 0; i < count; i++) {
        whole.marks.items.items[i] = rank->marks.items.items[i];
        whole.marks.items.items[i].to_ns += pace_rank_left_out_ns(rank);
    }
    pace_status status = all_are_usual(&folded, &typical[0], rank, repeats);
    if (status == PACE_OK) status = all_are_usual(out, &typical[1], &whole, repeats);
    pace_free(whole.marks.items.items);
    if (status == PACE_OK) *out &= typical[0] == typical[1];
    return status;
}

/* A matrix of the first round, or of the second. */
static pace_matrix round_matrix(const pace_rank *rank, unsigned in_step, int number) {
    int64_t from_ns = rank->fold.from_ns[in_step] + number * rank->fold.period_ns;
    return pace_matrix_of(&rank->tiles, from_ns, from_ns + rank->fold.period_ns);
}

/* The busiest stage is the whole step's: in a folded one filling and draining count for too much. */
pace_status pace_fold_find(bool *steady, pace_analysis *analysis, const pace_fold_round *rounds, unsigned repeats,
                           uint32_t times) {
    pace_step_fold fold = {.times = times, .steps = repeats};
    *steady = repeats <= PACE_FOLD_STEPS;
    for (unsigned i = 0; *steady && i < repeats; i++) *steady = step_is_steady(&fold, analysis, rounds, i, repeats);
    if (!*steady) return PACE_OK;
    for (size_t i = 0; i < analysis->ranks.count; i++) analysis->ranks.items[i]->fold = fold;
    pace_analysis_report_busiest(analysis);
    const pace_rank *slowest = pace_analysis_slowest(analysis);
    PACE_TRY(are_usual_whole(steady, slowest, repeats));
    if (!*steady) return PACE_OK;
    pace_matrix first = round_matrix(slowest, repeats - 1, 0), again = round_matrix(slowest, repeats - 1, 1);
    *steady = memcmp(&again, &first, sizeof again) == 0;
    return PACE_OK;
}

/* --- what is shown of it ------------------------------------------------------------------------------------------ */

static bool is_in_round(const pace_step_fold *fold, unsigned step, int64_t at_ns) {
    return at_ns >= fold->from_ns[step] && at_ns < fold->from_ns[step] + fold->period_ns;
}

typedef PACE_VEC(pace_p2p_message) messages_vec;

/* So many rounds later than it was walked. */
static pace_status put_message(messages_vec *out, const pace_analysis *analysis, const pace_p2p_message *message,
                               uint32_t rounds) {
    const pace_rank *rank = analysis->ranks.items[0];
    pace_p2p_message one = *message;
    int64_t at_ns = one.last_start_ns;
    int64_t later = pace_rank_shown_ns(rank, at_ns) - at_ns + rounds * rank->fold.period_ns;
    one.last_start_ns += later;
    one.end_ns += later;
    return PACE_PUSH(out, one);
}

/* Those of a step's round, of the pair of ranks whose messages are [first, end), so often as it was left out. */
static pace_status repeat_round(messages_vec *out, const pace_analysis *analysis, size_t first, size_t end,
                                unsigned step) {
    const pace_step_fold *fold = &analysis->ranks.items[0]->fold;
    for (uint32_t k = 1; k <= fold->times; k++)
        for (size_t i = first; i < end; i++) {
            const pace_p2p_message *one = &analysis->messages.items.items[i];
            if (is_in_round(fold, step, one->last_start_ns)) PACE_TRY(put_message(out, analysis, one, k));
        }
    return PACE_OK;
}

static pace_status unfold_messages(messages_vec *out, const pace_analysis *analysis) {
    const pace_step_fold *fold = &analysis->ranks.items[0]->fold;
    const unsigned steps = fold->steps;
    const pace_p2p_message *all = analysis->messages.items.items;
    for (size_t first = 0, end; first < analysis->messages.items.count; first = end) {
        unsigned step = 0;
        for (end = first; end < analysis->messages.items.count && pace_p2p_same_pair(&all[first], &all[end]); end++) {}
        for (size_t i = first; i < end; i++) {
            int64_t at_ns = all[i].last_start_ns;
            for (; step < steps && at_ns >= fold->from_ns[step] + fold->period_ns; step++)
                PACE_TRY(repeat_round(out, analysis, first, end, step));
            PACE_TRY(put_message(out, analysis, &all[i], 0));
        }
        for (; step < steps; step++) PACE_TRY(repeat_round(out, analysis, first, end, step));
    }
    return PACE_OK;
}

pace_status pace_fold_unfold_meetings(bool *unfolded, pace_analysis *analysis) {
    const pace_step_fold *fold = &analysis->ranks.items[0]->fold;
    messages_vec all = {0};
    *unfolded = true;
    PACE_ITEMS (const pace_measured_collective, one, &analysis->collectives.items)
        for (unsigned i = 0; i < fold->steps; i++) *unfolded &= !is_in_round(fold, i, one->last_start_ns);
    if (!*unfolded) return PACE_OK;
    PACE_TRY(pace_collectives_explain(&analysis->collectives, analysis->ranks.items, analysis->ranks.count));
    pace_status status = unfold_messages(&all, analysis);
    if (status != PACE_OK) {
        PACE_VEC_FREE(&all);
        return status;
    }
    PACE_VEC_FREE(&analysis->messages.items);
    analysis->messages.items.items = all.items;
    analysis->messages.items.count = all.count;
    analysis->messages.items.capacity = all.capacity;
    return PACE_OK;
}
