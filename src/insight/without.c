#include "insight/without.h"

#include <math.h>

typedef struct {
    const pace_joint *joint;
    const pace_rank *home;
    const pace_joint_window *window;
    const double *factor;
    const int64_t *start; /* of the run */
    const uint8_t *bound; /* what decided each; NULL = not known */
    bool *ahead;          /* per lane: it runs ahead of the others, round by round */
    bool parted;          /* nobody waits for another rank */
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
    return r->start[segment] + llround((double)s->duration_ns * r->factor[s->resource]);
}

/* When the run has done all the work that had ended by a measured instant; that instant if no work had. */
static int64_t work_done(const bounded_run *r, int64_t measured_ns) {
    int64_t done = INT64_MIN;
    for (size_t lane = 0; lane + 1 < r->joint->replay.lane_first.count; lane++) {
        if (!lane_works(r, lane)) continue;
        for (uint32_t i = r->joint->replay.lane_first.items[lane]; i < r->joint->replay.lane_first.items[lane + 1];
             i++) {
            const pace_segment *s = &r->joint->replay.segments.items[i];
            if (s->start_ns + s->duration_ns <= measured_ns && end_in_run(r, i) > done) done = end_in_run(r, i);
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

/* Whether a lane does no segment of the second of two rounds later behind that of the first than the whole round takes.
 * *ahead: it does some sooner. */
static bool lane_keeps_up(bool *ahead, const bounded_run *r, size_t lane, int64_t from_ns, int64_t round_ns) {
    int64_t period_ns = r->home->fold.period_ns;
    uint32_t first = first_from(r, lane, from_ns), second = first_from(r, lane, from_ns + period_ns);
    uint32_t end = first_from(r, lane, from_ns + 2 * period_ns), count = second - first;
    bool keeps_up = end - second == count;
    for (uint32_t i = first; keeps_up && i < second; i++) {
        keeps_up = r->start[i + count] - r->start[i] <= round_ns;
        *ahead |= r->start[i + count] - r->start[i] < round_ns;
    }
    return keeps_up;
}

/* Whether a lane that is not ahead waits behind an instant for one that is: with more rounds it would wait less. */
static bool waits_for_ahead(const bounded_run *r, size_t lane, int64_t from_ns) {
    const pace_replay *replay = &r->joint->replay;
    if (r->ahead[lane]) return false;
    for (uint32_t i = first_from(r, lane, from_ns); i < replay->lane_first.items[lane + 1]; i++) {
        if (r->bound[i] < PACE_BOUND_BY_DEPENDENCY) continue;
        unsigned slot = r->bound[i] - PACE_BOUND_BY_DEPENDENCY;
        uint32_t on = pace_segment_wait_in(replay, &replay->segments.items[i], slot)->on;
        if (r->ahead[pace_segment_lane(replay, on)]) return true;
    }
    return false;
}

/* Whether the step with more rounds is longer by just what these take: no lane falls behind in two of them, as a host
 * does that was ahead of its device, and what comes behind them waits for none that gets further and further ahead. */
static bool rounds_are_even(const bounded_run *r, int64_t from_ns, int64_t round_ns) {
    const pace_joint *joint = r->joint;
    size_t lanes = joint->replay.lane_first.count - 1;
    bool any = false, waits = false;
    for (size_t lane = 0; lane < lanes; lane++) {
        uint32_t rank = joint->lane_rank.items[lane];
        if (rank == PACE_NO_INDEX || (r->parted && rank != joint->home)) continue;
        if (!lane_keeps_up(&r->ahead[lane], r, lane, from_ns, round_ns)) return false;
        any |= r->ahead[lane];
    }
    for (size_t lane = 0; any && r->bound && !waits && lane < lanes; lane++)
        waits = waits_for_ahead(r, lane, from_ns + 2 * r->home->fold.period_ns);
    return !waits;
}

/* What the rounds that were left out take, each as long as the second of the two that stand for them. *uneven: not all
 * of them are. */
static int64_t left_out_in_run(bool *uneven, const bounded_run *r) {
    const pace_step_fold *fold = &r->home->fold;
    if (!is_folded(r)) return 0;
    int64_t from_ns = fold->from_ns[r->window->mark], done[3];
    for (int i = 0; i < 3; i++) done[i] = work_done(r, from_ns + i * fold->period_ns);
    int64_t round_ns = done[2] - done[1];
    *uneven |= done[1] - done[0] != round_ns || !rounds_are_even(r, from_ns, round_ns);
    return fold->times * round_ns;
}

/* Work before the first step of the trace is not a whole step's, so that it ends when it did. */
static int64_t step_in_run(bool *uneven, const bounded_run *r) {
    const pace_joint_window *window = r->window;
    bool first = window->mark == 0 || window->mark == SIZE_MAX;
    int64_t step = window->to_ns - window->from_ns + (is_folded(r) ? pace_rank_left_out_ns(r->home) : 0);
    int64_t begin = first ? window->from_ns : work_done(r, window->from_ns);
    int64_t took = work_done(r, window->to_ns) - begin + left_out_in_run(uneven, r);
    int64_t least = busiest_lane(r);
    if (took < least) took = least;
    return took > step ? step : took;
}

pace_status pace_without_all(int64_t *without_ns, bool *uneven, pace_joint *joint, const pace_rank *home,
                             const pace_joint_window *window, unsigned resources, int64_t *start) {
    double factor[PACE_REPLAY_RESOURCES];
    for (unsigned i = 0; i < PACE_REPLAY_RESOURCES; i++) factor[i] = resources >> i & 1 ? 0 : 1;
    bounded_run run = {joint, home, window, factor, start, NULL, NULL, resources >> PACE_ADVICE_BALANCE & 1};
    if (run.parted) pace_joint_part(joint);
    uint8_t *bound = is_folded(&run) ? pace_alloc(joint->replay.segments.count + 1, 1) : NULL;
    run.ahead = is_folded(&run) ? pace_alloc(joint->replay.lane_first.count, sizeof *run.ahead) : NULL;
    pace_status status = !is_folded(&run) || (bound && run.ahead) ? PACE_OK : PACE_E_MEMORY;
    if (status == PACE_OK) status = pace_replay_run(&joint->replay, factor, start, bound);
    run.bound = bound;
    if (status == PACE_OK) *without_ns = step_in_run(uneven, &run);
    PACE_FREE(bound, run.ahead);
    return status;
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

pace_status pace_without_each(int64_t without_ns[PACE_ADVICES], bool *uneven, pace_joint *joint, const pace_rank *home,
                              const pace_joint_window *window, int64_t *start) {
    double unit[PACE_REPLAY_RESOURCES];
    for (unsigned i = 0; i < PACE_REPLAY_RESOURCES; i++) unit[i] = 1;
    bool *ahead = pace_alloc(joint->replay.lane_first.count, sizeof *ahead);
    if (!ahead) return PACE_E_MEMORY;
    bounded_run as_it_is = {
        .joint = joint, .home = home, .window = window, .factor = unit, .start = start, .ahead = ahead};
    const int64_t now_ns = step_in_run(uneven, &as_it_is);
    pace_free(ahead);
    const unsigned used = resources_of(&joint->replay) | 1U << PACE_ADVICE_BALANCE;
    for (int k = 0; k < PACE_ADVICES; k++) { /* balance last: it takes the joint apart */
        int r = (PACE_ADVICE_BALANCE + 1 + k) % PACE_ADVICES;
        without_ns[r] = now_ns;
        if (used >> r & 1) PACE_TRY(pace_without_all(&without_ns[r], uneven, joint, home, window, 1U << r, start));
    }
    return PACE_OK;
}
