#include "insight/without.h"

#include <math.h>

typedef struct {
    const pace_joint *joint;
    const pace_rank *home;
    const pace_joint_window *window;
    const double *factor;
    const int64_t *start; /* of the run */
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

/* What the rounds that were left out take, each as long as the second of the two that stand for them. */
static int64_t left_out_in_run(bool *uneven, const bounded_run *r) {
    const pace_step_fold *fold = &r->home->fold;
    if (!is_folded(r)) return 0;
    int64_t from_ns = fold->from_ns[r->window->mark], done[3];
    for (int i = 0; i < 3; i++) done[i] = work_done(r, from_ns + i * fold->period_ns);
    *uneven |= done[1] - done[0] != done[2] - done[1];
    return fold->times * (done[2] - done[1]);
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
    if (resources & 1U << PACE_ADVICE_BALANCE) pace_joint_part(joint);
    PACE_TRY(pace_replay_run(&joint->replay, factor, start, NULL));
    bounded_run run = {joint, home, window, factor, start};
    *without_ns = step_in_run(uneven, &run);
    return PACE_OK;
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
    bounded_run as_it_is = {joint, home, window, unit, start};
    const int64_t now_ns = step_in_run(uneven, &as_it_is);
    const unsigned used = resources_of(&joint->replay) | 1U << PACE_ADVICE_BALANCE;
    for (int k = 0; k < PACE_ADVICES; k++) { /* balance last: it takes the joint apart */
        int r = (PACE_ADVICE_BALANCE + 1 + k) % PACE_ADVICES;
        without_ns[r] = now_ns;
        if (used >> r & 1) PACE_TRY(pace_without_all(&without_ns[r], uneven, joint, home, window, 1U << r, start));
    }
    return PACE_OK;
}
