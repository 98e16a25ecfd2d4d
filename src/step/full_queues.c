#include "step/full_queues.h"

#include "base/order.h"
#include "base/sort.h"

/* So many launches in line on a stream, and its queue may be full: half of what CUDA's holds. A call that takes longer
 * than any launch does waits for room, even where more was in line before. */
enum { CROWDED = 512, LONG_LAUNCH_NS = 20000 };

/* The work of a stream, launch by launch. */
typedef struct {
    const pace_step *step;
    uint32_t first, end;     /* tasks of the lane */
    uint32_t next, ended;    /* the one to be looked at; up to here all had ended when the call before began */
    uint32_t launched, over; /* calls that launched what is before `next`, and what is before `ended` */
} queue_reader;

/* A call that launched work of the stream, and how many launches were in line when it began. */
typedef struct {
    uint32_t call, in_line;
} launch_seen;

/* A device graph is one launch, however much work is in it. */
static bool begins_launch(const queue_reader *r, uint32_t work) {
    return work == r->first || pace_task_cause(r->step, work) != pace_task_cause(r->step, work - 1);
}

/* Work of a stream ends in order; calls of several threads need not begin so. */
static void find_ended(queue_reader *r, uint32_t before, int64_t at_ns) {
    while (r->ended > r->first && pace_step_end_ns(r->step, r->ended - 1) > at_ns)
        r->over -= begins_launch(r, --r->ended);
    while (r->ended < before && pace_step_end_ns(r->step, r->ended) <= at_ns) r->over += begins_launch(r, r->ended++);
}

static bool next_launch(launch_seen *out, queue_reader *r) {
    while (r->next < r->end) {
        uint32_t work = r->next++, call = pace_task_cause(r->step, work), before = r->launched;
        if (!begins_launch(r, work)) continue;
        r->launched++;
        if (call == PACE_NO_TASK || r->step->kind[call] != PACE_TASK_CALL) continue;
        find_ended(r, work, r->step->start_ns[call]);
        *out = (launch_seen){call, before - r->over};
        return true;
    }
    return false;
}

static uint32_t most_in_line(queue_reader r) {
    uint32_t most = 0;
    for (launch_seen seen; next_launch(&seen, &r);)
        if (seen.in_line > most) most = seen.in_line;
    return most;
}

/* The last end of work within the call; before its start where none ended. */
static int64_t last_end(const queue_reader *r, uint32_t call) {
    int64_t last_ns = INT64_MIN;
    for (uint32_t i = r->ended; i + 1 < r->next; i++) {
        int64_t end_ns = pace_step_end_ns(r->step, i);
        if (end_ns > pace_step_end_ns(r->step, call)) break;
        last_ns = end_ns;
    }
    return last_ns;
}

static pace_status find_of_stream(pace_room_waits *out, queue_reader r) {
    uint32_t most = most_in_line(r);
    if (most < CROWDED) return PACE_OK;
    for (launch_seen seen; next_launch(&seen, &r);) {
        bool takes_long = seen.in_line >= CROWDED && pace_task_ns(r.step, seen.call) >= LONG_LAUNCH_NS;
        if (seen.in_line < most && !takes_long) continue;
        int64_t room_ns = last_end(&r, seen.call);
        if (room_ns > r.step->start_ns[seen.call]) PACE_TRY(PACE_PUSH(out, ((pace_room_wait){seen.call, room_ns})));
    }
    return PACE_OK;
}

PACE_ORDER(by_call, pace_room_wait, PACE_UP(call) PACE_UP(room_ns))

pace_status pace_room_waits_find(pace_room_waits *out, const pace_step *step) {
    PACE_ITEMS (const pace_lane, lane, &step->lanes)
        if (lane->device && lane->count > CROWDED)
            PACE_TRY(find_of_stream(out, (queue_reader){.step = step,
                                                        .first = lane->first,
                                                        .end = lane->first + lane->count,
                                                        .next = lane->first,
                                                        .ended = lane->first}));
    pace_sort_if_unsorted(out->items, out->count, sizeof *out->items, by_call);
    return PACE_OK;
}

int64_t pace_room_ns(const pace_room_waits *waits, const pace_step *step, uint32_t call) {
    size_t at = 0;
    PACE_SEARCH(at, waits->count, middle, waits->items[middle].call < call);
    return at < waits->count && waits->items[at].call == call ? waits->items[at].room_ns : step->start_ns[call];
}
