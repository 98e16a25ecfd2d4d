/*
 * What the trace says waits for what: streams for events, host calls for streams.
 *
 * Correlations are given to calls in the order in which they are made. A stream therefore "has in line", when a call of
 * correlation c is made, exactly its work of smaller correlations; no clock is asked.
 */
#include "base/order.h"
#include "step/step_links.h"
#include "step/call_names.h"

#include <stdlib.h>
#include <string.h>

/* Traces in whole microseconds round both ends: by so much may what was waited for seem to end too late. */
enum { ROUNDING_NS = 2000 };

typedef struct {
    pace_step *step;
    uint32_t *work;  /* launched device work, stream by stream, in order */
    uint32_t *first; /* lane -> its first in `work`; one more at the end */
} linker;

static pace_status list_work(linker *l) {
    const pace_step *step = l->step;
    size_t count =
        step->kind_count[PACE_TASK_KERNEL] + step->kind_count[PACE_TASK_COPY] + step->kind_count[PACE_TASK_MEMSET];
    if (!PACE_MAKE(l->work, count) || !PACE_MAKE(l->first, step->lanes.count + 1)) return PACE_E_MEMORY;
    uint32_t kept = 0;
    for (size_t i = 0; i < step->lanes.count; i++) {
        const pace_lane *lane = &step->lanes.items[i];
        for (uint32_t task = lane->first; lane->device && task < lane->first + lane->count; task++)
            if (pace_task_on_device(step->kind[task]) && step->correlation[task]) l->work[kept++] = task;
        l->first[i + 1] = kept;
    }
    return PACE_OK;
}

/* How many of a stream's tasks have a correlation below `bound`, as an index into `work`. A stream works in order of
 * launch, so correlations ascend on it. */
static uint32_t in_line(const linker *l, uint32_t lane, uint32_t bound) {
    uint32_t low = l->first[lane];
    PACE_SEARCH(low, l->first[lane + 1], middle, l->step->correlation[l->work[middle]] < bound);
    return low;
}

static uint32_t last_in_line(const linker *l, uint32_t lane, uint32_t bound) {
    if (lane == PACE_NO_LANE) return PACE_NO_TASK;
    uint32_t end = in_line(l, lane, bound);
    return end > l->first[lane] ? l->work[end - 1] : PACE_NO_TASK;
}

static uint32_t next_launched(const linker *l, uint32_t lane, uint32_t correlation) {
    if (correlation == UINT32_MAX) return PACE_NO_TASK;
    uint32_t at = in_line(l, lane, correlation + 1);
    return at < l->first[lane + 1] ? l->work[at] : PACE_NO_TASK;
}

/* A wait that the times contradict is none: the event was recorded elsewhere, or the record is of something else. */
static pace_status add_wait(linker *l, uint32_t task, uint32_t on) {
    pace_step *step = l->step;
    if (task == PACE_NO_TASK || on == PACE_NO_TASK) return PACE_OK;
    bool device = pace_task_on_device(step->kind[task]);
    int64_t goes_on = device ? step->start_ns[task] : pace_step_end_ns(step, task);
    if (pace_step_end_ns(step, on) > goes_on + ROUNDING_NS || step->start_ns[on] >= goes_on) return PACE_OK;
    return PACE_PUSH(&step->waits, ((pace_wait){task, on}));
}

static pace_status wait_for_device(linker *l, uint32_t call, uint32_t device_id, uint32_t bound) {
    for (uint32_t lane = 0; lane < l->step->lanes.count; lane++) {
        const pace_lane *own = &l->step->lanes.items[lane];
        if (own->device && own->device_id == device_id) PACE_TRY(add_wait(l, call, last_in_line(l, lane, bound)));
    }
    return PACE_OK;
}

/* An event without its record is taken as recorded just before the wait, as PyTorch and cuDNN do. A query does not
 * wait, though it is recorded as if. */
static pace_status link_record(linker *l, uint32_t task) {
    const pace_step *step = l->step;
    pace_sync *sync = &step->syncs.items[step->detail[task] - 1];
    uint32_t correlation = step->correlation[task], lane = pace_task_lane(step, task);
    uint32_t recorded = sync->record ? sync->record : correlation;
    switch (sync->kind) {
    case PACE_SYNC_STREAM_WAITS:
        sync->on = last_in_line(l, sync->on_lane, recorded);
        return add_wait(l, next_launched(l, lane, correlation), sync->on);
    case PACE_SYNC_EVENT:
        if (sync->call == PACE_NO_TASK || strstr(pace_step_name(step, sync->call), "Query")) return PACE_OK;
        sync->on = last_in_line(l, sync->on_lane, recorded);
        return add_wait(l, sync->call, sync->on);
    case PACE_SYNC_STREAM: sync->on = last_in_line(l, lane, correlation); return add_wait(l, sync->call, sync->on);
    case PACE_SYNC_DEVICE: return wait_for_device(l, sync->call, step->lanes.items[lane].device_id, correlation);
    default: return PACE_OK;
    }
}

static pace_status link_records(linker *l) {
    for (uint32_t task = 0; task < l->step->count; task++)
        if (l->step->kind[task] == PACE_TASK_SYNC && l->step->detail[task] && l->step->correlation[task])
            PACE_TRY(link_record(l, task));
    return PACE_OK;
}

/* The one device of the trace, or false: with several, a call does not say which it synchronises. */
static bool only_device(uint32_t *id, const pace_step *step) {
    bool found = false;
    PACE_ITEMS (const pace_lane, lane, &step->lanes) {
        if (!lane->device) continue;
        if (found && lane->device_id != *id) return false;
        *id = lane->device_id;
        found = true;
    }
    return found;
}

/* Calls that say it by their name: a device is waited for whole, a blocking copy for itself. */
static pace_status link_calls(linker *l) {
    enum { UNKNOWN, DEVICE, COPY, NEITHER };
    const pace_step *step = l->step;
    uint32_t id = 0;
    bool one = only_device(&id, step);
    uint8_t *says = pace_alloc(pace_names_count(&step->names), 1);
    if (!says) return PACE_E_MEMORY;
    pace_status status = PACE_OK;
    for (uint32_t task = 0; status == PACE_OK && task < step->count; task++) {
        bool copy = step->kind[task] == PACE_TASK_COPY;
        uint32_t call = copy ? pace_task_cause(step, task) : task;
        if (call == PACE_NO_TASK || step->kind[call] != PACE_TASK_CALL) continue;
        uint8_t *known = &says[step->name[call]];
        if (*known == UNKNOWN) {
            const char *name = pace_step_name(step, call);
            *known = strstr(name, "DeviceSynchronize") || strstr(name, "CtxSynchronize") ? DEVICE
                     : strstr(name, "Memcpy") && !pace_copy_is_enqueued(name)            ? COPY
                                                                                         : NEITHER;
        }
        if (copy && *known == COPY && step->start_ns[task] > step->start_ns[call]) status = add_wait(l, call, task);
        if (!copy && *known == DEVICE && one && step->correlation[task])
            status = wait_for_device(l, task, id, step->correlation[task]);
    }
    pace_free(says);
    return status;
}

PACE_ORDER(by_task, pace_wait, PACE_UP(task) PACE_UP(on))

static void order_waits(pace_step *step) {
    if (step->waits.count == 0) return;
    qsort(step->waits.items, step->waits.count, sizeof *step->waits.items, by_task);
    size_t kept = 1;
    for (size_t i = 1; i < step->waits.count; i++)
        if (by_task(&step->waits.items[i], &step->waits.items[kept - 1]) != 0)
            step->waits.items[kept++] = step->waits.items[i];
    step->waits.count = kept;
}

pace_status pace_step_link_waits(pace_step *step) {
    linker l = {.step = step};
    for (size_t i = 0; i < step->syncs.count; i++) step->syncs.items[i].on = PACE_NO_TASK;
    pace_status status = list_work(&l);
    if (status == PACE_OK) status = link_records(&l);
    if (status == PACE_OK) status = link_calls(&l);
    if (status == PACE_OK) order_waits(step);
    PACE_FREE(l.work, l.first);
    return status;
}

const pace_wait *pace_step_waits(size_t *count, const pace_step *step, uint32_t task) {
    size_t low = 0;
    PACE_SEARCH(low, step->waits.count, middle, step->waits.items[middle].task < task);
    *count = 0;
    while (low + *count < step->waits.count && step->waits.items[low + *count].task == task) ++*count;
    return *count ? step->waits.items + low : NULL;
}
