#include "insight/ranks/joint.h"

#include "base/order.h"
#include "base/parallel.h"
#include "insight/advice.h"
#include "insight/ranks/host_exchanges.h"
#include "insight/segments.h"

#include <stdlib.h>
#include <string.h>

void pace_joint_free(pace_joint *joint) {
    pace_replay_free(&joint->replay);
    PACE_VEC_FREE(&joint->lane_rank);
}

typedef struct {
    int64_t at_ns;
    uint32_t segment; /* an arrival */
} point;

/* A kernel and a peer it exchanges messages with. */
typedef struct {
    uint32_t rank, item, peer_rank, peer_item;
} encounter;

typedef struct {
    pace_joint *joint;
    const pace_analysis *analysis;
    int64_t from_ns, to_ns;
    size_t most_segments;
    pace_arrivals *arrivals; /* per rank, by item; segments counted in the joint replay */
    PACE_VEC(point) points;  /* of the meeting at hand */
} joiner;

/* --- the ranks' own segments -------------------------------------------------------------------------------------- */

static int64_t offset_of(const joiner *j, uint32_t rank) { /* to be added to its times */
    return j->analysis->ranks.items[rank]->shift_ns - j->analysis->ranks.items[j->joint->home]->shift_ns;
}

/* The ranks that are devices of one trace stand together; they share its host. A rank of one device is alone. */
typedef struct {
    uint32_t first, count, host; /* host = the rank to which the host's lanes count */
} trace_ranks;

static trace_ranks trace_of(const joiner *j, uint32_t rank) {
    pace_rank *const *ranks = j->analysis->ranks.items;
    const pace_rank *trace = pace_rank_trace(ranks[rank]);
    trace_ranks all = {rank, 1, rank};
    while (all.first > 0 && pace_rank_trace(ranks[all.first - 1]) == trace) all.first--;
    all.count = rank - all.first + 1;
    while (all.first + all.count < j->analysis->ranks.count && pace_rank_trace(ranks[all.first + all.count]) == trace)
        all.count++;
    return all;
}

/* Whose lane it is, from its first segment. */
static uint32_t rank_of_lane(const joiner *j, const pace_replay *replay, size_t lane, const trace_ranks *all) {
    uint32_t segment = replay->lane_first.items[lane];
    if (all->count == 1 || segment == replay->lane_first.items[lane + 1]) return all->host;
    const pace_step *step = &j->analysis->ranks.items[all->host]->step;
    const pace_lane *own = &step->lanes.items[pace_task_lane(step, replay->segments.items[segment].task)];
    for (uint32_t r = all->first; own->device && r < all->first + all->count; r++)
        if (j->analysis->ranks.items[r]->device_id == own->device_id) return r;
    return all->host;
}

/* Room for all ranks, if each has as much as this one: grown by doubling, the two columns would take twice as much. */
static pace_status reserve(joiner *j, const pace_replay *replay, const trace_ranks *all) {
    pace_replay *joint = &j->joint->replay;
    size_t more = j->analysis->ranks.count / all->count;
    if (joint->segments.count) return PACE_OK;
    PACE_TRY(pace_grow(&joint->segments.items, &joint->segments.capacity, more * replay->segments.count,
                       sizeof *joint->segments.items));
    return pace_grow(&joint->waits.items, &joint->waits.capacity, more * replay->waits.count,
                     sizeof *joint->waits.items);
}

static pace_status append(joiner *j, const pace_replay *replay, const trace_ranks *all, int64_t offset_ns) {
    pace_joint *joint = j->joint;
    uint32_t first = (uint32_t)joint->replay.segments.count;
    uint32_t waits = (uint32_t)joint->replay.waits.count;
    PACE_TRY(reserve(j, replay, all));
    for (size_t i = 0; i + 1 < replay->lane_first.count; i++) {
        PACE_TRY(PACE_PUSH(&joint->replay.lane_first, first + replay->lane_first.items[i]));
        PACE_TRY(PACE_PUSH(&joint->lane_rank, rank_of_lane(j, replay, i, all)));
    }
    for (size_t i = 0; i < replay->segments.count; i++) {
        pace_segment s = replay->segments.items[i];
        s.start_ns += offset_ns;
        if (s.wait) s.wait += waits;
        PACE_TRY(PACE_PUSH(&joint->replay.segments, s));
    }
    for (size_t i = 0; i < replay->waits.count; i++) {
        pace_segment_wait w = replay->waits.items[i];
        if (w.on != PACE_NO_SEGMENT) w.on += first;
        if (w.next) w.next = (w.next + waits) & PACE_WAITS_MOST;
        PACE_TRY(PACE_PUSH(&joint->replay.waits, w));
    }
    return PACE_OK;
}

PACE_ORDER(by_item, pace_arrival, PACE_UP(item))

/* The segments of a rank and of the other devices of its trace, counted from their own first. */
typedef struct {
    trace_ranks ranks;
    pace_replay replay;
} trace_part;

typedef struct {
    const joiner *joiner;
    trace_part *parts;
} parts_to_build;

static pace_status build_part(void *context, size_t worker, size_t i) {
    const parts_to_build *to = context;
    const joiner *j = to->joiner;
    trace_ranks all = to->parts[i].ranks;
    int64_t offset = offset_of(j, all.host);
    (void)worker;
    PACE_TRY(pace_segments_build_cut(&to->parts[i].replay, j->arrivals + all.first,
                                     j->analysis->ranks.items + all.first, all.count, j->from_ns - offset,
                                     j->to_ns - offset));
    for (uint32_t r = all.first; r < all.first + all.count; r++) PACE_SORT(&j->arrivals[r], by_item);
    return PACE_OK;
}

static pace_status add_part(joiner *j, const trace_part *part) {
    const pace_replay *own = &part->replay;
    uint32_t first = (uint32_t)j->joint->replay.segments.count;
    if (first + own->segments.count > j->most_segments ||
        j->joint->replay.waits.count + own->waits.count > PACE_WAITS_MOST)
        return pace_fail(PACE_E_LIMIT, "more than %zu segments in one step of all ranks", j->most_segments);
    PACE_TRY(append(j, own, &part->ranks, offset_of(j, part->ranks.host)));
    for (uint32_t r = part->ranks.first; r < part->ranks.first + part->ranks.count; r++)
        PACE_ITEMS (pace_arrival, arrival, &j->arrivals[r]) arrival->segment += first;
    return PACE_OK;
}

/* Of as many traces at once as there are threads: what they are built from would take as much memory again. */
static pace_status add_parts(joiner *j, trace_part *parts, size_t count) {
    size_t most = pace_workers();
    pace_status status = PACE_OK;
    for (size_t first = 0; status == PACE_OK && first < count; first += most) {
        size_t now = count - first < most ? count - first : most;
        status = pace_for_each(now, build_part, &(parts_to_build){j, parts + first});
        for (size_t i = first; i < first + now; i++) {
            if (status == PACE_OK) status = add_part(j, &parts[i]);
            if (i == 0) j->joint->home_segments = (uint32_t)j->joint->replay.segments.count;
            pace_replay_free(&parts[i].replay);
        }
    }
    return status;
}

/* The home rank's trace comes first. */
static pace_status add_traces(joiner *j) {
    trace_part *parts = pace_alloc(j->analysis->ranks.count, sizeof *parts);
    size_t count = 1;
    if (!parts) return PACE_E_MEMORY;
    parts[0].ranks = trace_of(j, j->joint->home);
    for (uint32_t r = 0; r < j->analysis->ranks.count;) {
        trace_ranks all = trace_of(j, r);
        if (all.first != parts[0].ranks.first) parts[count++].ranks = all;
        r += all.count;
    }
    pace_status status = add_parts(j, parts, count);
    pace_free(parts);
    return status;
}

static uint32_t arrival_of(const joiner *j, uint32_t rank, uint32_t item) {
    const pace_arrivals *arrivals = &j->arrivals[rank];
    pace_arrival key = {.item = item};
    const pace_arrival *found =
        arrivals->count ? bsearch(&key, arrivals->items, arrivals->count, sizeof key, by_item) : NULL;
    return found ? found->segment : PACE_NO_SEGMENT;
}

/* --- where ranks meet --------------------------------------------------------------------------------------------- */

static const pace_work_item *item_at(const joiner *j, uint32_t rank, uint32_t item) {
    return &j->analysis->ranks.items[rank]->work.items.items[item];
}

/* Adds the arrival of a kernel to the meeting at hand. False: it lies behind the window, and the meeting with it. */
static bool arrives(pace_status *status, joiner *j, uint32_t rank, uint32_t item) {
    uint32_t segment = arrival_of(j, rank, item);
    if (segment == PACE_NO_SEGMENT) return item_at(j, rank, item)->start_ns + offset_of(j, rank) < j->to_ns;
    *status = PACE_PUSH(&j->points, ((point){j->joint->replay.segments.items[segment].start_ns, segment}));
    return true;
}

PACE_ORDER(by_time, point, PACE_UP(at_ns) PACE_UP(segment))

/* The lane of a meeting; *out is its last segment. */
static pace_status add_meeting(uint32_t *out, joiner *j) {
    pace_replay *replay = &j->joint->replay;
    PACE_SORT(&j->points, by_time);
    PACE_TRY(PACE_PUSH(&replay->lane_first, (uint32_t)replay->segments.count));
    PACE_TRY(PACE_PUSH(&j->joint->lane_rank, PACE_NO_INDEX));
    for (size_t i = 0; i < j->points.count; i++) {
        pace_segment s = {.start_ns = j->points.items[i].at_ns,
                          .task = PACE_NO_TASK,
                          .resource = PACE_ADVICE_BALANCE,
                          .delay_resource = PACE_ADVICE_BALANCE,
                          .lag_resource = PACE_ADVICE_BALANCE};
        pace_segment_depend(replay, &s, j->points.items[i].segment, 0, true);
        PACE_TRY(PACE_PUSH(&replay->segments, s));
    }
    *out = (uint32_t)replay->segments.count - 1;
    return PACE_OK;
}

/* A transfer that began once all had arrived waited for it. One that was over before (a buffered send, clocks a little
 * off) did not. */
static void let_wait(joiner *j, uint32_t arrival, uint32_t meeting) {
    if (arrival == PACE_NO_SEGMENT) return;
    pace_segment *own = &j->joint->replay.segments.items[arrival], *transfer = own + 1;
    if (transfer->start_ns < j->joint->replay.segments.items[meeting].start_ns) return;
    if (pace_segment_depend(&j->joint->replay, transfer, meeting, 0, false)) own->duration_ns = 0;
}

static pace_status join_collective(joiner *j, const uint32_t *parts) {
    size_t ranks = j->analysis->ranks.count;
    pace_status status = PACE_OK;
    j->points.count = 0;
    for (uint32_t r = 0; r < ranks; r++) {
        if (parts[r] == PACE_NO_TASK) continue;
        if (!arrives(&status, j, r, parts[r])) return PACE_OK;
        PACE_TRY(status);
    }
    if (j->points.count < 2) return PACE_OK;
    uint32_t meeting;
    PACE_TRY(add_meeting(&meeting, j));
    for (uint32_t r = 0; r < ranks; r++)
        if (parts[r] != PACE_NO_TASK) let_wait(j, arrival_of(j, r, parts[r]), meeting);
    return PACE_OK;
}

PACE_ORDER(by_kernel, encounter, PACE_UP(rank) PACE_UP(item) PACE_UP(peer_rank) PACE_UP(peer_item))

/* The encounters of one kernel: it waits for the last of its peers. */
static pace_status join_kernel(joiner *j, const encounter *all, size_t count) {
    uint32_t own = arrival_of(j, all[0].rank, all[0].item);
    int64_t end_ns = item_at(j, all[0].rank, all[0].item)->end_ns + offset_of(j, all[0].rank);
    pace_status status = PACE_OK;
    j->points.count = 0;
    if (own == PACE_NO_SEGMENT) return PACE_OK;
    for (size_t i = 0; i < count; i++) {
        const encounter *e = &all[i];
        if (i && by_kernel(e - 1, e) == 0) continue; /* several messages, one kernel on either side */
        if (item_at(j, e->peer_rank, e->peer_item)->start_ns + offset_of(j, e->peer_rank) >= end_ns) continue;
        if (!arrives(&status, j, e->peer_rank, e->peer_item)) return PACE_OK;
        PACE_TRY(status);
    }
    if (j->points.count == 0) return PACE_OK;
    uint32_t meeting;
    PACE_TRY(add_meeting(&meeting, j));
    let_wait(j, own, meeting);
    return PACE_OK;
}

static pace_status join_messages(joiner *j) {
    const pace_messages *messages = &j->analysis->messages;
    encounter *all = pace_alloc(messages->items.count * 2, sizeof *all);
    if (!all) return PACE_E_MEMORY;
    size_t count = 0;
    PACE_ITEMS (const pace_p2p_message, m, &messages->items) {
        for (int s = 0; m->matched && s < 2; s++)
            all[count++] = (encounter){m->rank[s], m->item[s], m->rank[!s], m->item[!s]};
    }
    if (count) qsort(all, count, sizeof *all, by_kernel);
    pace_status status = PACE_OK;
    for (size_t first = 0, end; status == PACE_OK && first < count; first = end) {
        for (end = first + 1; end < count && all[end].rank == all[first].rank && all[end].item == all[first].item;)
            end++;
        status = join_kernel(j, all + first, end - first);
    }
    pace_free(all);
    return status;
}

/* --- where hosts meet --------------------------------------------------------------------------------------------- */

static size_t traces(const joiner *j) {
    size_t count = 0;
    for (uint32_t r = 0; r < j->analysis->ranks.count; r += trace_of(j, r).count) count++;
    return count;
}

/* What is left of an exchange once the last host is there waits for it. */
static void cut_at_meeting(joiner *j, uint32_t arrival, uint32_t meeting) {
    pace_segment *rest = &j->joint->replay.segments.items[arrival + 1];
    int64_t met_ns = j->joint->replay.segments.items[meeting].start_ns;
    if (rest->start_ns < met_ns) {
        rest->duration_ns -= met_ns - rest->start_ns;
        rest->start_ns = met_ns;
    }
    pace_segment_depend(&j->joint->replay, rest, meeting, 0, false);
}

/* Hosts that come together wait for nobody. */
enum { TOGETHER_NS = 20000 };

/* One exchange of all hosts, unless one of them lies outside of the window or, as the clocks tell, was over before the
 * last began. */
static pace_status join_host_exchange(joiner *j, const pace_host_exchange *parts, size_t count) {
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    uint32_t meeting;
    j->points.count = 0;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].segment == PACE_NO_SEGMENT) return PACE_OK;
        int64_t at_ns = j->joint->replay.segments.items[parts[i].segment].start_ns;
        if (at_ns > last_ns) last_ns = at_ns;
        if (at_ns < first_ns) first_ns = at_ns;
        PACE_TRY(PACE_PUSH(&j->points, ((point){at_ns, parts[i].segment})));
    }
    if (last_ns - first_ns < TOGETHER_NS) return PACE_OK;
    for (size_t i = 0; i < count; i++)
        if (pace_segment_end(&j->joint->replay.segments.items[parts[i].segment + 1]) < last_ns) return PACE_OK;
    PACE_TRY(add_meeting(&meeting, j));
    for (size_t i = 0; i < count; i++) cut_at_meeting(j, parts[i].segment, meeting);
    return PACE_OK;
}

static pace_status join_hosts(joiner *j) {
    pace_host_exchanges all;
    size_t hosts = traces(j);
    PACE_TRY(pace_host_exchanges_find(&all, &j->joint->replay, j->joint->lane_rank.items, j->analysis));
    pace_status status = PACE_OK;
    for (size_t first = 0, end; status == PACE_OK && first < all.count; first = end) {
        for (end = first + 1; end < all.count && pace_host_exchanges_meet(&all.items[first], &all.items[end]);) end++;
        if (end - first == hosts && hosts > 1) status = join_host_exchange(j, all.items + first, hosts);
    }
    PACE_VEC_FREE(&all);
    return status;
}

/* --- all of it ---------------------------------------------------------------------------------------------------- */

static pace_status join(joiner *j) {
    pace_joint *joint = j->joint;
    PACE_TRY(add_traces(j));
    joint->first_meeting = (uint32_t)joint->replay.segments.count;
    PACE_TRY(join_hosts(j));
    const pace_collectives *collectives = &j->analysis->collectives;
    for (size_t i = 0; i < collectives->items.count; i++)
        PACE_TRY(join_collective(j, collectives->parts.items + collectives->items.items[i].first_part));
    PACE_TRY(join_messages(j));
    PACE_TRY(PACE_PUSH(&joint->replay.lane_first, (uint32_t)joint->replay.segments.count));
    return pace_replay_explain(&joint->replay);
}

pace_status pace_joint_build(pace_joint *out, const pace_analysis *analysis, uint32_t home, int64_t from_ns,
                             int64_t to_ns, size_t most_segments) {
    pace_joint joint = {.replay = {.origin_ns = from_ns}, .home = home};
    joiner j = {.joint = &joint,
                .analysis = analysis,
                .from_ns = from_ns,
                .to_ns = to_ns,
                .most_segments = most_segments,
                .arrivals = pace_alloc(analysis->ranks.count, sizeof *j.arrivals)};
    if (!j.arrivals) return PACE_E_MEMORY;
    pace_status status = join(&j);
    for (size_t r = 0; r < analysis->ranks.count; r++) PACE_VEC_FREE(&j.arrivals[r]);
    pace_free(j.arrivals);
    PACE_VEC_FREE(&j.points);
    return PACE_GIVE(out, joint, status, pace_joint_free(&joint));
}

pace_status pace_joint_alone(pace_joint *out, const pace_rank *rank, uint32_t index, int64_t from_ns, int64_t to_ns) {
    pace_joint joint = {.home = index};
    PACE_TRY(pace_segments_build(&joint.replay, rank, from_ns, to_ns));
    joint.home_segments = joint.first_meeting = (uint32_t)joint.replay.segments.count;
    for (size_t lane = 0; lane + 1 < joint.replay.lane_first.count; lane++) {
        if (PACE_PUSH(&joint.lane_rank, index) == PACE_OK) continue;
        pace_joint_free(&joint);
        return PACE_E_MEMORY;
    }
    *out = joint;
    return PACE_OK;
}

pace_status pace_joint_part(pace_joint *out, const pace_joint *joint) {
    pace_joint parted = *joint;
    pace_replay *replay = &parted.replay;
    size_t count = replay->waits.count;
    replay->waits.items = pace_alloc(count + 1, sizeof *replay->waits.items);
    if (!replay->waits.items) return PACE_E_MEMORY;
    if (count) memcpy(replay->waits.items, joint->replay.waits.items, count * sizeof *replay->waits.items);
    for (uint32_t i = 0; i < joint->first_meeting; i++)
        PACE_WAITS(pace_segment_wait, wait, replay, &replay->segments.items[i])
    if (wait->on >= joint->first_meeting) wait->on = PACE_NO_SEGMENT;
    *out = parted;
    return PACE_OK;
}

void pace_joint_parted_free(pace_joint *parted) { PACE_VEC_FREE(&parted->replay.waits); }
