#include "insight/without.h"

#include "base/parallel.h"

#include <string.h>

_Static_assert((int)PACE_ADVICES < (int)PACE_REPLAY_RESOURCES, "one resource is no advice's");

typedef struct {
    const pace_joint *joint;
    const pace_rank *home;
    const pace_joint_window *window;
    const double *factor;
    int64_t *start; /* of the run */
    uint8_t *bound; /* what decided each; NULL = not known */
    bool parted;    /* nobody waits for another rank */
} bounded_run;

static bool is_folded(const bounded_run *r) { return r->home->fold.times && r->window->mark != SIZE_MAX; }

/* Whether the home rank's work runs on a lane: a stream of its device, or a thread where the host is the device. */
static bool lane_works(const bounded_run *r, size_t lane) {
    uint32_t first = r->joint->replay.lane_first.items[lane];
    if (r->joint->lane_rank.items[lane] != r->joint->home || first == r->joint->replay.lane_first.items[lane + 1])
        return false;
    return r->home->work.host_is_device ||
           pace_task_on_device(r->home->step.kind[r->joint->replay.segments.items[first].task]);
}

static int64_t end_in_run(const bounded_run *r, uint32_t segment) {
    const pace_segment *s = &r->joint->replay.segments.items[segment];
    return r->start[segment] + pace_replay_scaled(s->duration_ns, r->factor[s->resource]);
}

/* When the run has done all the work that had ended by a measured instant; that instant if no work had. *last (may be
 * NULL): the segment that is done then. */
static int64_t work_done(const bounded_run *r, int64_t measured_ns, uint32_t *last) {
    int64_t done = INT64_MIN;
    for (size_t lane = 0; lane + 1 < r->joint->replay.lane_first.count; lane++) {
        if (!lane_works(r, lane)) continue;
        for (uint32_t i = r->joint->replay.lane_first.items[lane]; i < r->joint->replay.lane_first.items[lane + 1];
             i++) {
            const pace_segment *s = &r->joint->replay.segments.items[i];
            if (s->start_ns + s->duration_ns > measured_ns || end_in_run(r, i) <= done) continue;
            done = end_in_run(r, i);
            if (last) *last = i;
        }
    }
    return done == INT64_MIN ? measured_ns : done;
}

/* How long a lane is busy from one instant to another with what the run does not leave out. */
static int64_t lane_busy(const bounded_run *r, size_t lane, int64_t from_ns, int64_t to_ns) {
    int64_t busy = 0, at = from_ns;
    for (uint32_t i = r->joint->replay.lane_first.items[lane]; i < r->joint->replay.lane_first.items[lane + 1]; i++) {
        const pace_segment *s = &r->joint->replay.segments.items[i];
        int64_t from = s->start_ns > at ? s->start_ns : at, to = s->start_ns + s->duration_ns;
        if (to > to_ns) to = to_ns;
        if (r->factor[s->resource] == 0 || to <= from) continue;
        busy += to - from;
        at = to;
    }
    return busy;
}

/* Steps follow one another, so none takes less than its busiest stream. */
static int64_t busiest_lane(const bounded_run *r) {
    int64_t most = 0;
    const pace_joint_window *step = r->window;
    const pace_step_fold *fold = &r->home->fold;
    for (size_t lane = 0; lane + 1 < r->joint->replay.lane_first.count; lane++) {
        if (!lane_works(r, lane)) continue;
        int64_t busy = lane_busy(r, lane, step->from_ns, step->to_ns);
        if (is_folded(r)) {
            int64_t from_ns = fold->from_ns[step->mark];
            busy += fold->times * lane_busy(r, lane, from_ns, from_ns + fold->period_ns);
        }
        if (busy > most) most = busy;
    }
    return most;
}

/* The first segment of a lane that was measured to start at an instant or after it. */
static uint32_t first_from(const bounded_run *r, size_t lane, int64_t at_ns) {
    const pace_replay *replay = &r->joint->replay;
    uint32_t low = replay->lane_first.items[lane];
    PACE_SEARCH(low, replay->lane_first.items[lane + 1], middle, replay->segments.items[middle].start_ns < at_ns);
    return low;
}

static bool is_of_run(const bounded_run *r, size_t lane) {
    uint32_t rank = r->joint->lane_rank.items[lane];
    return rank != PACE_NO_INDEX && (!r->parted || rank == r->joint->home);
}

/* How much later, at the least and at the most, a lane does the segments of the second of two rounds than those of the
 * first. false: it does others. */
static bool lane_round(int64_t *least_ns, int64_t *most_ns, const bounded_run *r, size_t lane, int64_t from_ns) {
    int64_t period_ns = r->home->fold.period_ns;
    uint32_t first = first_from(r, lane, from_ns), second = first_from(r, lane, from_ns + period_ns);
    uint32_t end = first_from(r, lane, from_ns + 2 * period_ns), count = second - first;
    *least_ns = INT64_MAX, *most_ns = 0;
    for (uint32_t i = first; i < second && end - second == count; i++) {
        int64_t later_ns = r->start[i + count] - r->start[i];
        if (later_ns < *least_ns) *least_ns = later_ns;
        if (later_ns > *most_ns) *most_ns = later_ns;
    }
    return end - second == count;
}

typedef struct {
    bool known, alike; /* false: a lane's two rounds do other things; some take less than the slowest lane */
    int64_t slowest_ns;
} found_rounds;

/* What lanes take for a round: less than the slowest where they are ahead of it or catch up. */
static found_rounds find_rounds(const bounded_run *r, int64_t from_ns) {
    found_rounds found = {.known = true};
    int64_t shortest_ns = INT64_MAX;
    for (size_t lane = 0; lane + 1 < r->joint->replay.lane_first.count; lane++) {
        int64_t least_ns, most_ns;
        if (!is_of_run(r, lane)) continue;
        if (!lane_round(&least_ns, &most_ns, r, lane, from_ns)) return (found_rounds){0};
        if (most_ns > found.slowest_ns) found.slowest_ns = most_ns;
        if (least_ns < shortest_ns) shortest_ns = least_ns;
    }
    found.alike = shortest_ns == found.slowest_ns;
    return found;
}

/* --- a run with the rounds that were left out --------------------------------------------------------------------- */

/* How much later a segment is done than the same of the round before; 0 = of a lane that has no rounds. */
static int64_t round_of(const bounded_run *r, uint32_t segment, size_t lane, int64_t behind_ns) {
    uint32_t count = first_from(r, lane, behind_ns) - first_from(r, lane, behind_ns - r->home->fold.period_ns);
    bool before = segment >= r->joint->replay.lane_first.items[lane] + count;
    return count && before ? r->start[segment] - r->start[segment - count] : 0;
}

enum { KEPT = PACE_REPLAY_RESOURCES - 1 }; /* a resource that no run leaves out */

/* What a segment behind the rounds waits for among them or before comes so much later, too. false: ranks meet there. */
static bool delay_waits(pace_replay *replay, const bounded_run *r, uint32_t segment, int64_t behind_ns) {
    pace_segment *s = &replay->segments.items[segment];
    PACE_WAITS(pace_segment_wait, wait, replay, s) {
        if (wait->slot == PACE_WAIT_OVERLAP || wait->on == PACE_NO_SEGMENT) continue;
        if (wait->lag_ns > 0) wait->lag_ns = pace_replay_scaled(wait->lag_ns, r->factor[s->lag_resource]);
        if (replay->segments.items[wait->on].start_ns >= behind_ns) continue;
        size_t lane = pace_segment_lane(replay, wait->on);
        if (!is_of_run(r, lane)) return false;
        wait->lag_ns += r->home->fold.times * round_of(r, wait->on, lane, behind_ns);
    }
    s->lag_resource = KEPT;
    return true;
}

static pace_status delay_lane(bool *known, pace_replay *replay, const bounded_run *r, size_t lane, int64_t behind_ns) {
    uint32_t cut = first_from(r, lane, behind_ns), end = replay->lane_first.items[lane + 1];
    for (uint32_t i = cut; *known && i < end; i++) *known = delay_waits(replay, r, i, behind_ns);
    if (cut == end || cut == replay->lane_first.items[lane]) return PACE_OK;
    pace_segment_wait *wait = pace_segment_own_wait(replay, &replay->segments.items[cut], PACE_WAIT_OVERLAP);
    if (!wait) return PACE_E_MEMORY;
    wait->lag_ns += r->home->fold.times * round_of(r, cut - 1, lane, behind_ns);
    return PACE_OK;
}

static pace_status copy_of(pace_replay *out, const pace_replay *replay) {
    *out = (pace_replay){.lane_first = replay->lane_first, .origin_ns = replay->origin_ns};
    PACE_TRY(pace_grow(&out->segments.items, &out->segments.capacity, replay->segments.count, sizeof(pace_segment)));
    PACE_TRY(pace_grow(&out->waits.items, &out->waits.capacity, replay->waits.count + 1, sizeof(pace_segment_wait)));
    memcpy(out->segments.items, replay->segments.items, replay->segments.count * sizeof(pace_segment));
    if (replay->waits.count)
        memcpy(out->waits.items, replay->waits.items, replay->waits.count * sizeof(pace_segment_wait));
    out->segments.count = replay->segments.count;
    out->waits.count = replay->waits.count;
    return PACE_OK;
}

/* The run once more, with as much time put behind the rounds as each lane would take for those left out: a lane that is
 * ahead waits there for the slowest as it would behind all of them. *known = false: ranks meet across that instant. */
static pace_status run_with_rounds(bool *known, const bounded_run *r, int64_t behind_ns, int64_t *start,
                                   uint8_t *bound) {
    pace_replay replay;
    pace_status status = copy_of(&replay, &r->joint->replay);
    *known = true;
    for (size_t lane = 0; status == PACE_OK && *known && lane + 1 < replay.lane_first.count; lane++)
        if (!r->parted || is_of_run(r, lane)) status = delay_lane(known, &replay, r, lane, behind_ns);
    if (status == PACE_OK && *known) status = pace_replay_run(&replay, r->factor, start, bound);
    PACE_VEC_FREE(&replay.segments, &replay.waits);
    return status;
}

/* What decided when a segment starts, where that is a segment. */
static uint32_t decided_by(const bounded_run *r, uint32_t segment) {
    const pace_replay *replay = &r->joint->replay;
    if (r->bound[segment] == PACE_BOUND_BY_ORIGIN) return PACE_NO_SEGMENT;
    if (r->bound[segment] == PACE_BOUND_BY_LANE) return segment - 1;
    unsigned slot = r->bound[segment] - PACE_BOUND_BY_DEPENDENCY;
    return pace_segment_wait_in(replay, &replay->segments.items[segment], slot)->on;
}

/* Whether what decides when the home rank's work ends is, among the rounds, what takes the longest for each. */
static bool ends_with_slowest(const bounded_run *r, int64_t slowest_ns, int64_t behind_ns) {
    uint32_t segment = PACE_NO_SEGMENT;
    (void)work_done(r, r->window->to_ns, &segment);
    while (segment != PACE_NO_SEGMENT && r->joint->replay.segments.items[segment].start_ns >= behind_ns)
        segment = decided_by(r, segment);
    if (segment == PACE_NO_SEGMENT) return false;
    return round_of(r, segment, pace_segment_lane(&r->joint->replay, segment), behind_ns) == slowest_ns;
}

/* What the run takes longer with the rounds that were left out. Where all lanes take as long for one, so much each;
 * else the run is made once more, and *uneven if a lane that is ahead still decides its end. */
static pace_status left_out_in_run(int64_t *more_ns, bool *uneven, const bounded_run *r) {
    const pace_step_fold *fold = &r->home->fold;
    *more_ns = 0;
    if (!is_folded(r)) return PACE_OK;
    int64_t from_ns = fold->from_ns[r->window->mark], behind_ns = from_ns + 2 * fold->period_ns, done[3];
    for (int i = 0; i < 3; i++) done[i] = work_done(r, from_ns + i * fold->period_ns, NULL);
    found_rounds rounds = find_rounds(r, from_ns);
    int64_t round_ns = rounds.slowest_ns, end_ns = work_done(r, r->window->to_ns, NULL);
    *more_ns = fold->times * round_ns;
    if (rounds.alike && done[1] - done[0] == round_ns && done[2] - done[1] == round_ns) return PACE_OK;
    bool known = rounds.known && r->bound;
    if (known) PACE_TRY(run_with_rounds(&known, r, behind_ns, r->start, r->bound));
    *uneven |= !known || !ends_with_slowest(r, round_ns, behind_ns);
    *more_ns = work_done(r, r->window->to_ns, NULL) - end_ns;
    return PACE_OK;
}

/* Work before the first step of the trace is not a whole step's, so that it ends when it did. */
static pace_status step_in_run(int64_t *out, bool *uneven, const bounded_run *r) {
    const pace_joint_window *window = r->window;
    bool first = window->mark == 0 || window->mark == SIZE_MAX;
    int64_t step = window->to_ns - window->from_ns + (is_folded(r) ? pace_rank_left_out_ns(r->home) : 0), more_ns;
    int64_t begin = first ? window->from_ns : work_done(r, window->from_ns, NULL);
    int64_t took = work_done(r, window->to_ns, NULL) - begin, least = busiest_lane(r);
    PACE_TRY(left_out_in_run(&more_ns, uneven, r));
    took += more_ns;
    if (took < least) took = least;
    *out = took > step ? step : took;
    return PACE_OK;
}

/* A run without some resources; where the step is folded it says what decided each start. */
static pace_status run_without(int64_t *without_ns, bool *uneven, bounded_run *run) {
    const pace_replay *replay = &run->joint->replay;
    size_t count = replay->segments.count;
    if (is_folded(run) && !PACE_MAKE(run->bound, count + 1)) return PACE_E_MEMORY;
    PACE_TRY(pace_replay_run(replay, run->factor, run->start, run->bound));
    return step_in_run(without_ns, uneven, run);
}

static pace_status run_whole(int64_t *without_ns, bool *uneven, bounded_run run) {
    run.start = pace_alloc(run.joint->replay.segments.count + 1, sizeof *run.start);
    pace_status status = run.start ? run_without(without_ns, uneven, &run) : PACE_E_MEMORY;
    PACE_FREE(run.start, run.bound);
    return status;
}

static pace_status run_parted(int64_t *without_ns, bool *uneven, bounded_run run) {
    pace_joint parted;
    PACE_TRY(pace_joint_part(&parted, run.joint));
    run.joint = &parted;
    run.parted = true;
    pace_status status = run_whole(without_ns, uneven, run);
    pace_joint_parted_free(&parted);
    return status;
}

pace_status pace_without_all(int64_t *without_ns, bool *uneven, const pace_joint *joint, const pace_rank *home,
                             const pace_joint_window *window, unsigned resources) {
    double factor[PACE_REPLAY_RESOURCES];
    for (unsigned i = 0; i < PACE_REPLAY_RESOURCES; i++) factor[i] = resources >> i & 1 ? 0 : 1;
    const bounded_run run = {.joint = joint, .home = home, .window = window, .factor = factor};
    bool parted = resources >> PACE_ADVICE_BALANCE & 1;
    return parted ? run_parted(without_ns, uneven, run) : run_whole(without_ns, uneven, run);
}

/* Resources that take any time of the replay, one bit each. */
static unsigned resources_of(const pace_replay *replay) {
    unsigned used = 0;
    PACE_ITEMS (const pace_segment, s, &replay->segments) {
        if (s->duration_ns != 0) used |= 1U << s->resource;
        if (s->delay_ns != 0) used |= 1U << s->delay_resource;
        PACE_WAITS(const pace_segment_wait, wait, replay, s)
        if (wait->lag_ns > 0) used |= 1U << s->lag_resource;
    }
    return used;
}

typedef struct {
    int64_t *without_ns;
    bool uneven[PACE_ADVICES];
    int resource[PACE_ADVICES]; /* run by run */
    const pace_joint *joint;
    const pace_rank *home;
    const pace_joint_window *window;
} single_runs;

static pace_status run_single(void *context, size_t worker, size_t i) {
    single_runs *runs = context;
    int r = runs->resource[i];
    (void)worker;
    return pace_without_all(&runs->without_ns[r], &runs->uneven[r], runs->joint, runs->home, runs->window, 1U << r);
}

pace_status pace_without_each(int64_t without_ns[PACE_ADVICES], bool *uneven, const pace_joint *joint,
                              const pace_rank *home, const pace_joint_window *window, int64_t *start) {
    single_runs runs = {.without_ns = without_ns, .joint = joint, .home = home, .window = window};
    double unit[PACE_REPLAY_RESOURCES];
    int64_t now_ns;
    size_t count = 0;
    for (unsigned i = 0; i < PACE_REPLAY_RESOURCES; i++) unit[i] = 1;
    bounded_run as_it_is = {.joint = joint, .home = home, .window = window, .factor = unit, .start = start};
    PACE_TRY(step_in_run(&now_ns, uneven, &as_it_is));
    const unsigned used = resources_of(&joint->replay) | 1U << PACE_ADVICE_BALANCE;
    for (int r = 0; r < PACE_ADVICES; r++) {
        without_ns[r] = now_ns;
        if (used >> r & 1) runs.resource[count++] = r;
    }
    PACE_TRY(pace_for_each(count, run_single, &runs));
    for (int r = 0; r < PACE_ADVICES; r++) *uneven |= runs.uneven[r];
    return PACE_OK;
}
