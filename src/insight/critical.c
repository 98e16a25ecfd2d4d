#include "insight/critical.h"

#include "base/order.h"
#include "base/parallel.h"
#include "insight/host_runs.h"
#include "insight/ranks/joint.h"
#include "insight/steps/typical_step.h"
#include "insight/without.h"

#include <stdlib.h>
#include <string.h>

void pace_critical_free(pace_critical *critical) { PACE_VEC_FREE(&critical->pieces, &critical->by_rank_ns); }

/* --- which step ------------------------------------------------------------------------------------------------ */

static pace_status choose_step(pace_critical *out, const pace_rank *rank, const size_t *asked) {
    pace_typical_step typical;
    if (asked) {
        const pace_mark *mark = &rank->marks.items.items[*asked];
        out->mark = *asked;
        out->from_ns = mark->from_ns;
        out->to_ns = mark->to_ns;
        return PACE_OK;
    }
    PACE_TRY(pace_typical_step_of(&typical, rank));
    out->mark = typical.mark;
    out->from_ns = typical.from_ns;
    out->to_ns = typical.to_ns;
    return PACE_OK;
}

/* --- the path --------------------------------------------------------------------------------------------------- */

/* Of the home rank's. */
static uint32_t segment_ending_at(const pace_joint *joint, int64_t to_ns) {
    const uint32_t *first = joint->replay.lane_first.items;
    uint32_t best = PACE_NO_SEGMENT;
    int64_t latest = INT64_MIN;
    for (uint32_t lane = 0; first[lane] < joint->home_segments; lane++) {
        if (joint->lane_rank.items[lane] != joint->home) continue;
        for (uint32_t i = first[lane]; i < first[lane + 1]; i++) {
            int64_t end = pace_segment_end(&joint->replay.segments.items[i]);
            if (end > to_ns || end <= latest) continue;
            latest = end;
            best = i;
        }
    }
    return best;
}

typedef struct {
    pace_critical *out;
    pace_rank *const *ranks; /* by index */
    uint32_t rank;           /* whose segment the walk is at */
} path_walk;

static pace_status add_piece(path_walk *w, int64_t start, int64_t end, uint8_t resource, uint32_t task, bool waiting) {
    pace_critical *out = w->out;
    if (start < out->from_ns) start = out->from_ns;
    if (end <= start) return PACE_OK;
    out->by_resource_ns[resource] += end - start;
    out->by_rank_ns.items[w->rank] += end - start;
    if (resource == PACE_ADVICE_GAP) out->unexplained_ns += end - start;
    return PACE_PUSH(&out->pieces, ((pace_path_piece){start, task, w->rank & 0x7ffffff, resource & 15U, waiting}));
}

/* A segment until `to` on the home rank's clock, task by task. */
static pace_status add_segment(path_walk *w, const pace_segment *s, int64_t to, int64_t home_shift_ns) {
    if (!s->run) return add_piece(w, s->start_ns, to, s->resource, s->task, false);
    const pace_rank *rank = w->ranks[w->rank];
    const pace_step *step = &rank->step;
    const pace_lane *lane = &step->lanes.items[pace_task_lane(step, s->task)];
    int64_t offset_ns = rank->shift_ns - home_shift_ns, start;
    while (to > s->start_ns) {
        uint32_t task = pace_host_run_end(&start, step, lane, s->start_ns - offset_ns, to - offset_ns);
        PACE_TRY(add_piece(w, start + offset_ns, to, s->resource, task, false));
        to = start + offset_ns;
    }
    return PACE_OK;
}

static void reverse(pace_critical *out) {
    for (size_t i = 0, j = out->pieces.count; i + 1 < j; i++) {
        pace_path_piece piece = out->pieces.items[i];
        out->pieces.items[i] = out->pieces.items[--j];
        out->pieces.items[j] = piece;
    }
}

static pace_status walk_back(pace_critical *out, const pace_joint *joint, pace_rank *const *ranks,
                             const uint8_t *bound) {
    const pace_replay *replay = &joint->replay;
    path_walk w = {.out = out, .ranks = ranks, .rank = joint->home};
    PACE_TRY(PACE_PUSH(&out->pieces, (pace_path_piece){.start_ns = out->to_ns})); /* where the last piece ends */
    int64_t home_shift_ns = ranks[joint->home]->shift_ns;
    int64_t at = out->to_ns;
    uint32_t segment = segment_ending_at(joint, out->to_ns);
    bool whole = true; /* false: only the part before the segment's start counts (a launch left it there) */
    while (at > out->from_ns && segment != PACE_NO_SEGMENT) {
        const pace_segment *s = &replay->segments.items[segment];
        if (segment < joint->first_meeting) w.rank = joint->lane_rank.items[pace_segment_lane(replay, segment)];
        if (whole) {
            int64_t end = s->start_ns + s->duration_ns;
            if (at > end) PACE_TRY(add_piece(&w, end, at, PACE_ADVICE_GAP, s->task, true));
            PACE_TRY(add_segment(&w, s, at < end ? at : end, home_shift_ns));
        }
        at = s->start_ns < at ? s->start_ns : at;
        int64_t ready = s->start_ns - s->delay_ns;
        PACE_TRY(add_piece(&w, ready, at, s->delay_resource, s->task, true));
        if (ready < at) at = ready;
        uint8_t why = bound[segment];
        if (why == PACE_BOUND_BY_ORIGIN) break;
        if (why == PACE_BOUND_BY_LANE) {
            segment--;
            whole = true;
            continue;
        }
        const pace_segment_wait *wait = pace_segment_wait_in(replay, s, why - PACE_BOUND_BY_DEPENDENCY);
        const pace_segment *on = &replay->segments.items[wait->on];
        int64_t from = wait->from_start ? on->start_ns : pace_segment_end(on);
        PACE_TRY(add_piece(&w, from, at, s->lag_resource, s->task, true));
        if (from < at) at = from;
        whole = !wait->from_start;
        segment = wait->on;
    }
    PACE_TRY(add_piece(&w, out->from_ns, at, PACE_ADVICE_GAP, PACE_NO_TASK, true));
    reverse(out);
    out->pieces.count--;
    return PACE_OK;
}

/* --- rounds of micro-batches that were left out ------------------------------------------------------------------- */

/* Adds the stretch of a path from one instant to another, so many times. */
static void add_stretch(pace_critical *sum, const pace_critical *path, int64_t from_ns, int64_t to_ns, int64_t times) {
    PACE_ITEMS (const pace_path_piece, piece, &path->pieces) {
        int64_t start = piece->start_ns > from_ns ? piece->start_ns : from_ns;
        int64_t end = pace_piece_end(piece) < to_ns ? pace_piece_end(piece) : to_ns;
        if (end <= start) continue;
        sum->by_resource_ns[piece->resource] += times * (end - start);
        sum->by_rank_ns.items[piece->rank] += times * (end - start);
        if (piece->resource == PACE_ADVICE_GAP) sum->unexplained_ns += times * (end - start);
    }
}

/* Whether the path has as much of each resource in both rounds. */
static bool rounds_are_even(const pace_critical *path, int64_t from_ns, int64_t period_ns) {
    int64_t sum_ns[2][PACE_ADVICES] = {{0}};
    PACE_ITEMS (const pace_path_piece, piece, &path->pieces)
        for (int round = 0; round < 2; round++) {
            int64_t begin = from_ns + round * period_ns, end = begin + period_ns;
            int64_t from = piece->start_ns > begin ? piece->start_ns : begin;
            int64_t to = pace_piece_end(piece) < end ? pace_piece_end(piece) : end;
            if (to > from) sum_ns[round][piece->resource] += to - from;
        }
    return memcmp(sum_ns[0], sum_ns[1], sizeof sum_ns[0]) == 0;
}

static size_t first_from(const pace_critical *path, int64_t at_ns) {
    size_t first = 0;
    PACE_SEARCH(first, path->pieces.count, middle, path->pieces.items[middle].start_ns < at_ns);
    return first;
}

static bool is_again(const pace_path_piece *a, const pace_path_piece *b, int64_t period_ns) {
    return a->start_ns + period_ns == b->start_ns && a->resource == b->resource && a->rank == b->rank &&
           a->waiting == b->waiting;
}

/* The pieces [first, first + count) are those of one round, and so are as many behind them. */
static bool find_round(size_t *first, size_t *count, const pace_critical *path, int64_t from_ns, int64_t period_ns) {
    *first = first_from(path, from_ns);
    size_t second = first_from(path, from_ns + period_ns), end = first_from(path, from_ns + 2 * period_ns);
    *count = second - *first;
    if (*count == 0 || end - second != *count) return false;
    for (size_t i = 0; i < *count; i++)
        if (!is_again(&path->pieces.items[*first + i], &path->pieces.items[second + i], period_ns)) return false;
    return true;
}

static pace_status put_rounds_in(pace_critical *path, size_t first, size_t count, const pace_step_fold *fold) {
    const pace_path_piece *old = path->pieces.items;
    size_t old_count = path->pieces.count, more = fold->times * count;
    pace_path_piece *pieces = pace_alloc(old_count + more + 1, sizeof *pieces);
    if (!pieces) return PACE_E_MEMORY;
    for (size_t i = 0; i <= old_count + more; i++) {
        size_t end = first + count, round = i < end ? 0 : i < end + more ? 1 + (i - end) / count : fold->times;
        pieces[i] = old[i < end ? i : i < end + more ? first + (i - end) % count : i - more];
        pieces[i].start_ns += (int64_t)round * fold->period_ns;
    }
    PACE_VEC_FREE(&path->pieces);
    path->pieces.items = pieces;
    path->pieces.count = old_count + more;
    path->pieces.capacity = old_count + more + 1;
    return PACE_OK;
}

/* Puts into the path of a rank's step what was left out of it: its length and sums are the whole step's, and with
 * `pieces` those, too. Sets path->uneven where its two rounds are not alike. */
static pace_status unfold_path(pace_critical *path, const pace_rank *rank, bool pieces) {
    const pace_step_fold *fold = &rank->fold;
    size_t first = 0, count = 0;
    if (fold->times == 0) return PACE_OK;
    path->uneven = path->mark == SIZE_MAX;
    if (path->uneven) return PACE_OK;
    int64_t from_ns = fold->from_ns[path->mark];
    path->uneven = !rounds_are_even(path, from_ns, fold->period_ns) ||
                   (pieces && !find_round(&first, &count, path, from_ns, fold->period_ns));
    if (path->uneven) return PACE_OK;
    add_stretch(path, path, from_ns, from_ns + fold->period_ns, fold->times);
    path->to_ns += pace_rank_left_out_ns(rank);
    return pieces ? put_rounds_in(path, first, count, fold) : PACE_OK;
}

/* --- all of it -------------------------------------------------------------------------------------------------- */

/* On the home rank; where it met others is counted by nobody. */
static void count_handovers(pace_critical *out, const pace_joint *joint, const uint8_t *bound,
                            const pace_step_fold *fold) {
    bool folded = fold->times && out->mark != SIZE_MAX;
    for (uint32_t i = 0; i < joint->home_segments; i++) {
        if (bound[i] < PACE_BOUND_BY_DEPENDENCY) continue;
        const pace_segment *segment = &joint->replay.segments.items[i];
        const pace_segment_wait *wait =
            pace_segment_wait_in(&joint->replay, segment, bound[i] - PACE_BOUND_BY_DEPENDENCY);
        if (wait->from_start || wait->on >= joint->first_meeting) continue;
        int64_t into_ns = folded ? segment->start_ns - fold->from_ns[out->mark] : -1;
        size_t times = into_ns >= 0 && into_ns < fold->period_ns ? 1 + fold->times : 1;
        out->handovers += times;
        out->recorded_handovers += times * wait->recorded;
    }
}

/* What is asked of a step. */
typedef struct {
    const size_t *mark; /* NULL = the typical step */
    bool path_alone;
} question;

static pace_status analyse(pace_critical *out, const pace_joint *joint, pace_rank *const *ranks, bool all) {
    const pace_replay *replay = &joint->replay;
    size_t count = replay->segments.count;
    int64_t *start = pace_alloc(count, sizeof *start);
    uint8_t *bound = pace_alloc(count, 1);
    pace_status status = start && bound ? PACE_OK : PACE_E_MEMORY;
    bool uneven = false;
    double unit[PACE_REPLAY_RESOURCES];
    for (int i = 0; i < PACE_REPLAY_RESOURCES; i++) unit[i] = 1;
    if (status == PACE_OK) status = pace_replay_run(replay, unit, start, bound);
    for (size_t i = 0; all && status == PACE_OK && i < count; i++) {
        int64_t error = llabs(start[i] - replay->segments.items[i].start_ns);
        if (error > out->worst_error_ns) out->worst_error_ns = error;
    }
    if (status == PACE_OK) count_handovers(out, joint, bound, &ranks[joint->home]->fold);
    if (status == PACE_OK && all)
        status = pace_without_each(out->without_ns, &uneven, joint, ranks[joint->home],
                                   &(pace_joint_window){out->from_ns, out->to_ns, out->mark}, start);
    pace_free(start); /* a long path takes as much memory */
    if (status == PACE_OK) status = walk_back(out, joint, ranks, bound);
    pace_free(bound);
    if (status == PACE_OK) status = unfold_path(out, ranks[joint->home], all);
    out->uneven |= uneven;
    return status;
}

/* Work of a rank that begins in a window. */
static size_t work_in(const pace_work *work, int64_t from_ns, int64_t to_ns) {
    size_t first = 0, end = 0;
    PACE_SEARCH(first, work->items.count, middle, work->items.items[middle].start_ns < from_ns);
    PACE_SEARCH(end, work->items.count, middle, work->items.items[middle].start_ns < to_ns);
    return end > first ? end - first : 0;
}

/* Whether all ranks of a predicted step, with what was left out of it, can be joined: that hangs on their work alone,
 * however many of the host's operators were walked. */
static pace_status check_size(const pace_critical *critical, const pace_analysis *analysis, int64_t origin_ns) {
    size_t work = 0;
    if (critical->scope != PACE_PATH_OF_ALL_RANKS || !analysis->made) return PACE_OK;
    const pace_step_fold *fold = &analysis->ranks.items[critical->home]->fold;
    bool folded = fold->times && critical->mark != SIZE_MAX;
    for (size_t r = 0; r < analysis->ranks.count; r++) {
        const pace_work *of = &analysis->ranks.items[r]->work;
        work += work_in(of, origin_ns, critical->to_ns);
        if (!folded) continue;
        int64_t from_ns = fold->from_ns[critical->mark];
        work += fold->times * work_in(of, from_ns, from_ns + fold->period_ns);
    }
    if (work <= PACE_JOINT_MOST_WORK) return PACE_OK;
    return pace_fail(PACE_E_LIMIT, "more than %d kernels in one step of all ranks", PACE_JOINT_MOST_WORK);
}

/* Where the host begins with the step, or with the one `before` it. */
static int64_t origin_of(const pace_critical *critical, const pace_rank *rank, size_t before) {
    if (critical->mark == SIZE_MAX) return critical->from_ns;
    int64_t start_ns = rank->marks.items.items[critical->mark - before].start_ns;
    return start_ns < critical->from_ns ? start_ns : critical->from_ns;
}

static pace_status make_joint(pace_joint *out, const pace_critical *critical, const pace_analysis *analysis,
                              const pace_rank *rank, uint32_t index, size_t before) {
    int64_t origin = origin_of(critical, rank, before);
    if (critical->scope != PACE_PATH_OF_ALL_RANKS) return pace_joint_alone(out, rank, index, origin, critical->to_ns);
    size_t most = analysis->made ? SIZE_MAX : PACE_JOINT_MOST_SEGMENTS; /* check_size() */
    return pace_joint_build(out, analysis, index, origin, critical->to_ns, most);
}

static pace_status find(pace_critical *out, const pace_analysis *analysis, const pace_rank *rank, uint32_t index,
                        const question *asked, pace_path_scope scope) {
    pace_critical critical = {.mark = SIZE_MAX, .scope = scope, .home = index};
    if (rank->work.items.count == 0) {
        *out = critical;
        return PACE_OK;
    }
    pace_joint joint = {0};
    pace_status status = choose_step(&critical, rank, asked->mark);
    for (size_t r = 0; status == PACE_OK && r < analysis->ranks.count; r++) status = PACE_PUSH(&critical.by_rank_ns, 0);
    if (status == PACE_OK) status = check_size(&critical, analysis, origin_of(&critical, rank, 0));
    if (status == PACE_OK) status = make_joint(&joint, &critical, analysis, rank, index, 0);
    if (status == PACE_OK) status = analyse(&critical, &joint, analysis->ranks.items, !asked->path_alone);
    pace_joint_free(&joint);
    return PACE_GIVE(out, critical, status, pace_critical_free(&critical));
}

static pace_status find_across(pace_critical *out, const pace_analysis *analysis, const pace_rank *rank,
                               const question *asked) {
    uint32_t index = 0;
    while (analysis->ranks.items[index] != rank) index++;
    if (analysis->ranks.count == 1) return find(out, analysis, rank, index, asked, PACE_PATH_OF_ONE_RANK);
    pace_status status = find(out, analysis, rank, index, asked, PACE_PATH_OF_ALL_RANKS);
    if (status == PACE_E_LIMIT) return find(out, analysis, rank, index, asked, PACE_PATH_TOO_LARGE);
    if (status == PACE_E_INPUT) return find(out, analysis, rank, index, asked, PACE_PATH_KNOTTED);
    return status;
}

pace_status pace_critical_find_across(pace_critical *out, const pace_analysis *analysis, const pace_rank *rank) {
    return find_across(out, analysis, rank, &(question){0});
}

pace_status pace_critical_find_path(pace_critical *out, const pace_analysis *analysis, const pace_rank *rank) {
    return find_across(out, analysis, rank, &(question){.path_alone = true});
}

pace_status pace_critical_find_step(pace_critical *out, const pace_analysis *analysis, const pace_rank *rank,
                                    size_t mark) {
    return find_across(out, analysis, rank, &(question){.mark = &mark});
}

typedef struct {
    int64_t *without_ns;
    const pace_joint *joint;
    const pace_rank *rank;
    pace_joint_window window;
    const unsigned *resources;
} runs_without;

static pace_status run_without(void *context, size_t worker, size_t i) {
    const runs_without *runs = context;
    bool uneven = false; /* nothing is left out of steps that were read */
    (void)worker;
    return pace_without_all(&runs->without_ns[i], &uneven, runs->joint, runs->rank, &runs->window, runs->resources[i]);
}

pace_status pace_critical_without(int64_t *without_ns, const pace_critical *critical, const pace_analysis *analysis,
                                  const pace_rank *rank, const unsigned *resources, size_t count) {
    pace_joint joint;
    bool follows = critical->mark != SIZE_MAX && critical->mark > 0;
    pace_status status = make_joint(&joint, critical, analysis, rank, critical->home, follows);
    bool alone = follows && (status == PACE_E_LIMIT || status == PACE_E_INPUT); /* that step as it was */
    if (alone) status = make_joint(&joint, critical, analysis, rank, critical->home, 0);
    PACE_TRY(status);
    runs_without runs = {without_ns, &joint, rank, {critical->from_ns, critical->to_ns, critical->mark}, resources};
    status = pace_for_each(count, run_without, &runs);
    pace_joint_free(&joint);
    return status;
}
