#include "insight/segments.h"

#include "base/order.h"
#include "insight/advice.h"
#include "insight/device_ends.h"
#include "step/full_queues.h"
#include "insight/host_runs.h"
#include "insight/ranks/exchange_calls.h"
#include "insight/input_time.h"
#include "insight/segment_waits.h"
#include "insight/thread_edges.h"
#include "step/launch_time.h"
#include "step/call_names.h"
#include "step/exchange_ranges.h"

#include <string.h>

/* How long a host thread may be silent before it counts as polling a busy device. */
enum { SPIN_NS = 200000 };

/* Beyond these a start is not "because of": a stream that waited for another starts soon after it, and did not start
 * when its launch arrived. What they miss is shown as gap. */
enum { LAUNCH_NS = 10000, HANDOVER_NS = 20000 };

/* Times of the clock in microseconds that passed through a double are off by an eighth of a microsecond, durations are
 * not: work may seem to end so much after what waited for it began. */
enum { ROUNDING_NS = 500 };

typedef struct {
    pace_replay *replay;
    const pace_rank *rank;   /* the device at hand; all share tasks and host */
    pace_arrivals *arrivals; /* its own; may be NULL */
    int64_t from_ns, to_ns;
    int64_t trace_ns;        /* when the trace's first task starts */
    uint32_t *first_segment; /* task -> its first segment, PACE_NO_SEGMENT = outside */
    bool *lane_on_device;    /* replay lane -> kind */
    uint64_t *launches;      /* a bit a task: device work names it as its cause */
    uint64_t *waited;        /* a bit a task: a call that waited for room in a stream's queue */
    pace_room_waits rooms;   /* those calls */
    uint8_t *blocking;       /* name -> whether a call so named blocks, + 1; 0 = not looked up */
    pace_instants wakes;     /* of all threads of the host */
    size_t wake;             /* the first of them that lies not before the segment added last */
    bool open;               /* the segment added last is the host's, and more of its time may be added to it */
    pace_device_ends ends;   /* once all segments are there */
} builder;

static bool has_bit(const uint64_t *bits, uint32_t task) { return bits[task / 64] >> task % 64 & 1; }

/* Whether most of the time before a lane's first segment lies before the trace itself: nobody recorded it. */
static bool waits_for_trace(const builder *b, uint32_t lane, int64_t start) {
    bool first = b->replay->segments.count == b->replay->lane_first.items[lane];
    return first && b->trace_ns - b->from_ns > start - b->trace_ns;
}

static pace_status add_segment(builder *b, uint32_t task, uint32_t lane, int64_t start, int64_t end, uint8_t resource) {
    if (start < b->from_ns) start = b->from_ns;
    if (end < start) return PACE_OK;
    pace_segment s = {.start_ns = start, .duration_ns = end - start, .task = task, .resource = resource};
    s.delay_resource = b->lane_on_device[lane] || waits_for_trace(b, lane, start) ? PACE_ADVICE_GAP : PACE_ADVICE_HOST;
    s.lag_resource = PACE_ADVICE_HOST;
    if (b->first_segment[task] == PACE_NO_SEGMENT) b->first_segment[task] = (uint32_t)b->replay->segments.count;
    return PACE_PUSH(&b->replay->segments, s);
}

static uint8_t host_resource(const pace_step *step, uint32_t task) {
    if (pace_task_exchanges(step, task)) return PACE_ADVICE_NETWORK;
    return step->stage[task] == PACE_STAGE_INPUT ? PACE_ADVICE_INPUT : PACE_ADVICE_HOST;
}

static bool is_blocking(const builder *b, uint32_t task) {
    uint8_t *known = &b->blocking[b->rank->step.name[task]];
    const char *name = *known ? NULL : pace_step_name(&b->rank->step, task);
    if (name) *known = (uint8_t)(1 + (pace_call_synchronises(name) || strstr(name, "Memcpy")));
    return *known == 2;
}

static bool may_block(const builder *b, uint32_t task) {
    const pace_step *step = &b->rank->step;
    size_t recorded;
    if (pace_task_may_meet(step, task)) return true;
    if (step->kind[task] != PACE_TASK_CALL) return false;
    pace_step_waits(&recorded, step, task);
    return recorded || is_blocking(b, task);
}

/* Whether a thread begins to work at an instant. */
static bool wakes_at(builder *b, int64_t at_ns) {
    while (b->wake < b->wakes.count && b->wakes.items[b->wake].at_ns < at_ns) b->wake++;
    return b->wake < b->wakes.count && b->wakes.items[b->wake].at_ns == at_ns;
}

/* An operator that launches nothing itself, behind host time without a pause. Nothing waits for the instant between
 * them, and none of both is cut. */
static bool continues_run(builder *b, uint32_t task, int64_t start, int64_t end) {
    if (!b->open) return false; /* there is a segment, then */
    const pace_segment *before = &b->replay->segments.items[b->replay->segments.count - 1];
    return b->rank->step.kind[task] == PACE_TASK_OP && !has_bit(b->launches, task) && start >= b->from_ns &&
           end <= b->to_ns && pace_segment_end(before) == start && !wakes_at(b, start);
}

/* The time of a task between its children. A call that may block, or an exchange, begins with a segment of no
 * length: what the call launches depends on it, wherever the rest of the call is cut. */
static pace_status add_host_segment(builder *b, uint32_t task, uint32_t lane, int64_t start, int64_t end) {
    const pace_step *step = &b->rank->step;
    uint8_t resource = host_resource(step, task);
    bool blocks = may_block(b, task);
    bool plain = resource == PACE_ADVICE_HOST && !blocks && end - start < SPIN_NS;
    if (plain && continues_run(b, task, start, end)) {
        pace_segment *run = b->replay->segments.items + b->replay->segments.count - 1;
        run->duration_ns = end - run->start_ns;
        run->run = true;
        if (b->first_segment[task] == PACE_NO_SEGMENT) b->first_segment[task] = (uint32_t)b->replay->segments.count - 1;
        return PACE_OK;
    }
    if (b->first_segment[task] == PACE_NO_SEGMENT && blocks)
        PACE_TRY(add_segment(b, task, lane, start, start, resource));
    b->open =
        plain && (step->kind[task] == PACE_TASK_OP || step->kind[task] == PACE_TASK_CALL) && !has_bit(b->waited, task);
    return add_segment(b, task, lane, start, end, resource);
}

/* --- host lanes: operators, calls, exchanges and what fetches input, by self time --------------------------------- */

/* Then its first segment has no length, but it stands where the task starts: that is what its launches depend on. */
static bool starts_with_its_child(const builder *b, uint32_t task, int64_t child_start_ns) {
    return b->first_segment[task] == PACE_NO_SEGMENT && b->rank->step.start_ns[task] == child_start_ns;
}

static pace_status add_host_lane(builder *b, const pace_lane *lane, uint32_t number, uint32_t *stack) {
    const pace_step *step = &b->rank->step;
    size_t depth = 0;
    int64_t at = INT64_MIN;
    for (uint32_t task = lane->first;; task++) {
        bool last = task == lane->first + lane->count || step->start_ns[task] >= b->to_ns;
        if (!last && !pace_takes_host_time(step, task)) continue;
        int64_t now = last ? INT64_MAX : step->start_ns[task];
        while (depth && pace_step_end_ns(step, stack[depth - 1]) <= now) {
            uint32_t top = stack[--depth];
            int64_t end = pace_step_end_ns(step, top);
            bool fresh = b->first_segment[top] == PACE_NO_SEGMENT;
            if (end > b->from_ns && (end > at || (fresh && end == at)))
                PACE_TRY(add_host_segment(b, top, number, at, end));
            if (end > at) at = end;
        }
        if (last) return PACE_OK;
        bool opens = depth && (now > at || starts_with_its_child(b, stack[depth - 1], now));
        if (opens && now > b->from_ns) PACE_TRY(add_host_segment(b, stack[depth - 1], number, at, now));
        if (now > at) at = now;
        stack[depth++] = task;
    }
}

/* Without a device the host's operators are the work: their class decides the resource. */
static uint8_t work_resource(const pace_work_item *item) {
    switch (item->class) {
    case PACE_WORK_COMPUTE_BOUND: return PACE_ADVICE_COMPUTE;
    case PACE_WORK_MEMORY_BOUND: return PACE_ADVICE_MEMORY;
    case PACE_WORK_COMMUNICATION: return PACE_ADVICE_NETWORK;
    case PACE_WORK_CALL: return item->stage == PACE_STAGE_INPUT ? PACE_ADVICE_INPUT : PACE_ADVICE_HOST;
    default: return item->peer_copy ? PACE_ADVICE_NETWORK : PACE_ADVICE_COPY;
    }
}

/* --- lanes --------------------------------------------------------------------------------------------------- */

static pace_status open_lane(builder *b) {
    b->open = false;
    b->wake = 0;
    return PACE_PUSH(&b->replay->lane_first, (uint32_t)b->replay->segments.count);
}

static pace_status add_host_lanes(builder *b) {
    const pace_step *step = &b->rank->step;
    PACE_ITEMS (const pace_lane, lane, &step->lanes) {
        if (lane->device || lane->count == 0) continue;
        uint32_t *stack = pace_alloc(lane->count, sizeof *stack);
        if (!stack) return PACE_E_MEMORY;
        pace_status status = open_lane(b);
        if (status == PACE_OK) status = add_host_lane(b, lane, (uint32_t)(b->replay->lane_first.count - 1), stack);
        pace_free(stack);
        PACE_TRY(status);
    }
    return PACE_OK;
}

/* Communication is cut where the last rank arrived: waiting is imbalance, the rest the network's. The next work on the
 * lane begins at `next_ns`. */
static pace_status add_work(builder *b, uint32_t index, int64_t next_ns) {
    const pace_work_item *item = &b->rank->work.items.items[index];
    uint32_t lane = (uint32_t)(b->replay->lane_first.count - 1);
    int64_t start = item->start_ns > b->from_ns ? item->start_ns : b->from_ns, until = item->wait_until_ns;
    bool cut = b->arrivals && item->class == PACE_WORK_COMMUNICATION;
    if (cut) PACE_TRY(PACE_PUSH(b->arrivals, ((pace_arrival){index, (uint32_t)b->replay->segments.count})));
    if (until > next_ns) until = next_ns; /* a lane's segments start in order, also where work overlaps */
    if (until < start) until = start;
    if (cut || until > start) {
        PACE_TRY(add_segment(b, item->task, lane, start, until, PACE_ADVICE_BALANCE));
        start = until;
    }
    return add_segment(b, item->task, lane, start, item->end_ns, work_resource(item));
}

/* Where the host is the device: what of a pause before its work, [from, to), goes to fetching input. `next` is a task
 * of the lane behind which none that ends later begins earlier. */
static pace_status add_input(builder *b, uint32_t *next, const pace_lane *of, int64_t from, int64_t to) {
    const pace_step *step = &b->rank->step;
    uint32_t lane = (uint32_t)(b->replay->lane_first.count - 1), end = of->first + of->count;
    while (*next < end && step->start_ns[*next] < to) {
        uint32_t task = *next, above = pace_task_parent(step, task);
        bool heads =
            pace_task_fetches_input(step, task) && (above == PACE_NO_TASK || !pace_task_fetches_input(step, above));
        int64_t until = pace_step_end_ns(step, task);
        if (heads && until > from) {
            int64_t start = step->start_ns[task] > from ? step->start_ns[task] : from;
            PACE_TRY(add_segment(b, task, lane, start, until < to ? until : to, PACE_ADVICE_INPUT));
            if (until > to) return PACE_OK; /* it goes on behind the work */
        }
        ++*next;
    }
    return PACE_OK;
}

/* The items of one lane, in order of start. */
static pace_status add_work_lane(builder *b, const uint32_t *order, size_t count, const pace_lane *lane,
                                 bool on_device) {
    const pace_work_item *items = b->rank->work.items.items;
    int64_t at = b->from_ns;     /* the lane's work has ended */
    uint32_t next = lane->first; /* the lane's next task that may fetch input */
    PACE_TRY(open_lane(b));
    b->lane_on_device[b->replay->lane_first.count - 1] = on_device;
    for (size_t i = 0; i < count; i++) {
        const pace_work_item *item = &items[order[i]];
        if (!on_device) PACE_TRY(add_input(b, &next, lane, at, item->start_ns));
        if (item->end_ns > at) at = item->end_ns;
        PACE_TRY(add_work(b, order[i], i + 1 < count ? items[order[i + 1]].start_ns : INT64_MAX));
    }
    return PACE_OK;
}

static bool in_window(const builder *b, const pace_work_item *item) {
    return item->end_ns > b->from_ns && item->start_ns < b->to_ns;
}

/* Items come by start; they are dealt to their lanes. */
static pace_status add_work_lanes(builder *b, bool on_device) {
    const pace_work_items *items = &b->rank->work.items;
    const pace_step *step = &b->rank->step;
    uint32_t *order = pace_alloc(items->count, sizeof *order), *end = pace_alloc(step->lanes.count + 1, sizeof *end);
    pace_status status = order && end ? PACE_OK : PACE_E_MEMORY;
    for (uint32_t i = 0; status == PACE_OK && i < items->count; i++)
        if (in_window(b, &items->items[i])) end[pace_task_lane(step, items->items[i].task) + 1]++;
    for (size_t lane = 1; status == PACE_OK && lane < step->lanes.count; lane++) end[lane] += end[lane - 1];
    for (uint32_t i = 0; status == PACE_OK && i < items->count; i++)
        if (in_window(b, &items->items[i])) order[end[pace_task_lane(step, items->items[i].task)]++] = i;
    for (uint32_t lane = 0, first = 0; status == PACE_OK && lane < step->lanes.count; first = end[lane++])
        if (end[lane] > first)
            status = add_work_lane(b, order + first, end[lane] - first, &step->lanes.items[lane], on_device);
    PACE_FREE(order, end);
    return status;
}

/* --- edges ----------------------------------------------------------------------------------------------------- */

/* The first of a lane's segments up to `last` that ends after an instant; one past `last` = none. Work of a stream ends
 * in order. */
static uint32_t first_ending_after(const pace_segment *segments, uint32_t first, uint32_t last, int64_t at_ns) {
    uint32_t low = first;
    PACE_SEARCH(low, last + 1, middle, pace_segment_end(&segments[middle]) <= at_ns);
    return low;
}

/* A launch onto a full queue went on when the stream's work ended inside it. It is cut there, and the wait becomes an
 * edge. */
static void cut_launch(builder *b, pace_segment *call, uint32_t launched) {
    if (!has_bit(b->waited, call->task)) return;
    int64_t room_ns = pace_room_ns(&b->rooms, &b->rank->step, call->task);
    uint32_t first = b->replay->lane_first.items[pace_segment_lane(b->replay, launched)];
    uint32_t left = first_ending_after(b->replay->segments.items, first, launched, room_ns);
    if (left == first || pace_segment_end(&b->replay->segments.items[left - 1]) != room_ns) return;
    call->duration_ns -= room_ns - call->start_ns;
    call->start_ns = room_ns;
    pace_segment_depend(b->replay, call, left - 1, 0, false);
}

static bool was_cut(const builder *b, const pace_segment *call) {
    const pace_segment_wait *wait = pace_segment_wait_in(b->replay, call, 0);
    return wait && pace_segment_end(&b->replay->segments.items[wait->on]) == call->start_ns;
}

static void add_launch_edges(builder *b) {
    for (uint32_t i = 0; i < b->replay->segments.count; i++) {
        pace_segment *s = &b->replay->segments.items[i];
        if (b->first_segment[s->task] != i) continue; /* a later part of the same task */
        uint32_t cause = pace_task_cause(&b->rank->step, s->task);
        if (cause == PACE_NO_TASK || b->first_segment[cause] == PACE_NO_SEGMENT) continue;
        pace_segment *call = &b->replay->segments.items[b->first_segment[cause]];
        int64_t issued = b->rank->step.start_ns[cause];
        if (call->start_ns != issued && !was_cut(b, call)) continue; /* began before the window */
        if (b->rank->step.kind[cause] == PACE_TASK_CALL) cut_launch(b, call, i);
        int64_t lag = s->start_ns - call->start_ns;
        if (lag < 0) continue;
        /* a call that loads code takes its time first */
        int64_t most = issued + pace_task_ns(&b->rank->step, cause) - call->start_ns + PACE_LAUNCH_REACHES_NS;
        pace_segment_depend(b->replay, s, b->first_segment[cause], lag < most ? lag : most, true);
    }
}

/* A blocking call that returns after device work ended inside it waited for that work: its last segment keeps what was
 * left to do once the device was done, and the wait becomes an edge. */
static void add_blocking_edges(builder *b) {
    const pace_step *step = &b->rank->step;
    for (uint32_t i = 0; i < b->replay->segments.count; i++) {
        pace_segment *s = &b->replay->segments.items[i];
        if (step->kind[s->task] != PACE_TASK_CALL || !is_blocking(b, s->task)) continue;
        if (pace_segment_goes_on(b->replay, i)) continue;
        size_t recorded;
        pace_step_waits(&recorded, step, s->task);
        if (recorded) continue; /* the trace says what it waits for (segment_waits.c) */
        uint32_t on = pace_device_ends_last(&b->ends, s->start_ns, pace_segment_end(s), s->start_ns, UINT32_MAX);
        if (on == PACE_NO_SEGMENT) continue;
        int64_t released = pace_segment_end(&b->replay->segments.items[on]);
        s->duration_ns = pace_segment_end(s) - released;
        s->start_ns = released;
        pace_segment_depend(b->replay, s, on, 0, false);
    }
}

/* When its launch had arrived; work whose launch is not recorded may have been in line for as long as its lane
 * exists. */
static int64_t arrival_of(const builder *b, uint32_t task) {
    uint32_t cause = pace_task_cause(&b->rank->step, task);
    return cause == PACE_NO_TASK ? b->from_ns : pace_step_end_ns(&b->rank->step, cause) + LAUNCH_NS;
}

/* A kernel that was issued long ago, on a stream that stood still, started because another stream reached a point. */
static void add_stream_edges(builder *b) {
    for (uint32_t lane = 0; lane + 1 < b->replay->lane_first.count; lane++) {
        if (!b->lane_on_device[lane]) continue;
        for (uint32_t i = b->replay->lane_first.items[lane]; i < b->replay->lane_first.items[lane + 1]; i++) {
            pace_segment *s = &b->replay->segments.items[i];
            int64_t before = arrival_of(b, s->task);
            if (i > b->replay->lane_first.items[lane] && pace_segment_end(s - 1) > before)
                before = pace_segment_end(s - 1);
            PACE_WAITS(const pace_segment_wait, wait, b->replay, s) { /* what the trace names explains so much */
                int64_t ended = wait->recorded ? pace_segment_end(&b->replay->segments.items[wait->on]) : INT64_MIN;
                if (ended > before) before = ended;
            }
            if (s->start_ns - before < 2000) continue;
            int64_t after = s->start_ns - HANDOVER_NS > before ? s->start_ns - HANDOVER_NS : before;
            uint32_t on = pace_device_ends_last(&b->ends, after, s->start_ns, s->start_ns, lane);
            if (on == PACE_NO_SEGMENT)
                on = pace_device_ends_last(&b->ends, after, s->start_ns + ROUNDING_NS, s->start_ns, lane);
            if (on != PACE_NO_SEGMENT) pace_segment_depend(b->replay, s, on, 0, false);
        }
    }
}

/* A host thread that did nothing recorded while the device was busy, and went on as soon as the device had done all
 * that was in line then, polled for that work, as libraries do that wait without a call. */
static bool polled(const builder *b, int64_t from, int64_t to) {
    if (to - from < SPIN_NS || !pace_device_ends_drained(&b->ends, from, to)) return false;
    return pace_work_busy_within(&b->rank->work, from, to) * 10 >= (to - from) * 9;
}

/* Behind an instant, when the last of the other host threads ended what it did before another one: a thread waits for
 * those first, and then for the device, which has got more from them. */
static int64_t quiet_since(const builder *b, uint32_t own, int64_t from, int64_t to) {
    const uint32_t *first = b->replay->lane_first.items;
    int64_t since = from;
    for (uint32_t lane = 0; lane + 1 < b->replay->lane_first.count; lane++) {
        if (lane == own || b->lane_on_device[lane]) continue;
        uint32_t next = first[lane];
        PACE_SEARCH(next, first[lane + 1], middle, b->replay->segments.items[middle].start_ns < to);
        int64_t end = next > first[lane] ? pace_segment_end(&b->replay->segments.items[next - 1]) : from;
        if (end > since && end <= to) since = end;
    }
    return since;
}

static void add_polling_edges(builder *b) {
    const uint32_t *first = b->replay->lane_first.items;
    for (uint32_t lane = 0; lane + 1 < b->replay->lane_first.count; lane++) {
        if (b->lane_on_device[lane]) continue;
        for (uint32_t i = first[lane]; i < first[lane + 1]; i++) {
            pace_segment *s = &b->replay->segments.items[i];
            int64_t from = i > first[lane] ? pace_segment_end(s - 1) : b->from_ns;
            if (s->start_ns - from >= SPIN_NS) from = quiet_since(b, lane, from, s->start_ns);
            if (!polled(b, from, s->start_ns)) continue;
            uint32_t on = pace_device_ends_last(&b->ends, s->start_ns - HANDOVER_NS, s->start_ns, from, UINT32_MAX);
            if (on != PACE_NO_SEGMENT) pace_segment_depend(b->replay, s, on, 0, false);
        }
    }
}

/* The same inside an operator, after it has launched something: the time is cut as that of a call that blocks. */
static void cut_polling_operators(builder *b) {
    const pace_step *step = &b->rank->step;
    for (uint32_t i = 0; i < b->replay->segments.count; i++) {
        pace_segment *s = &b->replay->segments.items[i];
        if (step->kind[s->task] != PACE_TASK_OP || s->run || b->first_segment[s->task] == i ||
            s->duration_ns < SPIN_NS || b->lane_on_device[pace_segment_lane(b->replay, i)])
            continue;
        int64_t end = pace_segment_end(s);
        if (!polled(b, s->start_ns, end)) continue;
        uint32_t on = pace_device_ends_last(&b->ends, end - HANDOVER_NS, end, s->start_ns, UINT32_MAX);
        if (on == PACE_NO_SEGMENT) continue;
        s->start_ns = pace_segment_end(&b->replay->segments.items[on]);
        s->duration_ns = end - s->start_ns;
        pace_segment_depend(b->replay, s, on, 0, false);
    }
}

/* Nothing waits for what starts after it. What starts at the same instant is waited for only by what stands behind it,
 * so that no circle can close where times are too coarse to tell. */
static void drop_backward_edges(pace_replay *replay) {
    for (uint32_t i = 0; i < replay->segments.count; i++) {
        const pace_segment *s = &replay->segments.items[i];
        PACE_WAITS(pace_segment_wait, wait, replay, s) {
            int64_t start = replay->segments.items[wait->on].start_ns;
            if (start > s->start_ns || (start == s->start_ns && wait->on > i)) wait->on = PACE_NO_SEGMENT;
        }
    }
}

static pace_status note_waited(builder *b, const pace_step *step) {
    PACE_TRY(pace_room_waits_find(&b->rooms, step));
    PACE_ITEMS (const pace_room_wait, wait, &b->rooms) b->waited[wait->call / 64] |= UINT64_C(1) << wait->call % 64;
    return PACE_OK;
}

static void note_launches(uint64_t *launches, const pace_step *step) {
    for (uint32_t task = 0; task < step->count; task++) {
        uint32_t cause = pace_task_cause(step, task);
        if (cause != PACE_NO_TASK) launches[cause / 64] |= UINT64_C(1) << cause % 64;
    }
}

static pace_status build(builder *b, pace_arrivals *arrivals, pace_rank *const *devices, size_t count) {
    bool host_only = b->rank->work.host_is_device;
    if (!host_only) PACE_TRY(pace_host_wakes(&b->wakes, &b->rank->step, b->to_ns));
    if (!host_only) PACE_TRY(add_host_lanes(b));
    for (size_t i = 0; i < count; i++) {
        b->rank = devices[i];
        b->arrivals = arrivals ? &arrivals[i] : NULL;
        PACE_TRY(add_work_lanes(b, !host_only));
    }
    PACE_TRY(open_lane(b)); /* the end of the last lane */
    if (!host_only) {
        PACE_TRY(pace_device_ends_find(&b->ends, b->replay, &b->rank->step, b->lane_on_device));
        pace_segments_add_waits(b->replay, &b->rank->step, b->first_segment);
        add_blocking_edges(b);
        add_launch_edges(b);
        add_stream_edges(b);
        add_polling_edges(b);
        cut_polling_operators(b);
    }
    if (host_only) PACE_TRY(pace_segments_add_exchange_calls(b->replay, &b->rank->step, b->first_segment));
    PACE_TRY(pace_segments_add_thread_edges(b->replay, b->lane_on_device, b->from_ns));
    drop_backward_edges(b->replay);
    return pace_replay_explain(b->replay);
}

pace_status pace_segments_build_cut(pace_replay *out, pace_arrivals *arrivals, pace_rank *const *devices, size_t count,
                                    int64_t from_ns, int64_t to_ns) {
    pace_replay replay = {.origin_ns = from_ns};
    const pace_rank *rank = devices[0];
    builder b = {.replay = &replay, .rank = rank, .from_ns = from_ns, .to_ns = to_ns};
    size_t lanes = rank->step.lanes.count + 1;
    b.trace_ns = rank->step.begins_ns;
    pace_status status = PACE_MAKE(b.first_segment, rank->step.count) && PACE_MAKE(b.lane_on_device, lanes) &&
                                 PACE_MAKE(b.launches, rank->step.count / 64 + 1) &&
                                 PACE_MAKE(b.waited, rank->step.count / 64 + 1) &&
                                 PACE_MAKE(b.blocking, pace_names_count(&rank->step.names) + 1)
                             ? PACE_OK
                             : PACE_E_MEMORY;
    if (status == PACE_OK) {
        note_launches(b.launches, &rank->step);
        memset(b.first_segment, 0xff, rank->step.count * sizeof *b.first_segment);
        status = note_waited(&b, &rank->step);
    }
    if (status == PACE_OK) status = build(&b, arrivals, devices, count);
    PACE_FREE(b.first_segment, b.lane_on_device, b.launches, b.waited, b.blocking);
    PACE_VEC_FREE(&b.wakes, &b.rooms);
    pace_device_ends_free(&b.ends);
    return PACE_GIVE(out, replay, status, pace_replay_free(&replay));
}

pace_status pace_segments_build(pace_replay *out, const pace_rank *rank, int64_t from_ns, int64_t to_ns) {
    pace_rank *const one[] = {(pace_rank *)rank}; /* read only: what may be written are arrivals */
    return pace_segments_build_cut(out, NULL, one, 1, from_ns, to_ns);
}
