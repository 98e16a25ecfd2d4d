#include "insight/idle_causes.h"
#include "step/call_names.h"

const char *const pace_idle_cause_names[PACE_IDLE_CAUSES] = {"input",  "synchronisation", "host",
                                                             "stream", "launch",          "unknown"};

/* Whether a call is known to have waited for the device: by a recorded wait, else by its name. */
static bool call_synchronises(const pace_step *step, uint32_t call) {
    size_t recorded;
    if (step->kind[call] != PACE_TASK_CALL) return false;
    pace_step_waits(&recorded, step, call);
    return recorded || pace_call_synchronises(pace_step_name(step, call));
}

/* The synchronising call that runs on a thread at an instant, or ends there, or PACE_NO_TASK. */
static uint32_t synchronising_at(const pace_step *step, uint32_t lane_number, int64_t at_ns) {
    uint32_t task = pace_lane_begun_by(step, &step->lanes.items[lane_number], at_ns);
    while (task != PACE_NO_TASK && (pace_step_end_ns(step, task) < at_ns || !call_synchronises(step, task)))
        task = pace_task_parent(step, task);
    return task;
}

/* Queued work that the trace says waited for another stream, longer than for its launch. */
static bool waited_for_stream(const pace_step *step, uint32_t task) {
    size_t count;
    const pace_wait *waits = pace_step_waits(&count, step, task);
    for (size_t i = 0; i < count; i++)
        if (pace_task_lane(step, waits[i].on) != pace_task_lane(step, task) &&
            pace_step_end_ns(step, waits[i].on) > pace_step_end_ns(step, pace_task_cause(step, task)))
            return true;
    return false;
}

/* `*call_out` is the synchronising call of such a gap. */
static pace_idle_cause cause_of(uint32_t *call_out, const pace_rank *rank, const pace_tile *tile,
                                int64_t gap_start_ns) {
    *call_out = PACE_NO_TASK;
    const pace_step *step = rank->work.step;
    if (tile->resource == PACE_IDLE_INPUT) return PACE_IDLE_BY_INPUT;
    if (rank->work.host_is_device) return PACE_IDLE_BY_HOST;
    uint32_t task = rank->work.items.items[tile->item].task, call = pace_task_cause(step, task);
    if (call == PACE_NO_TASK) return PACE_IDLE_UNTOLD;
    if (tile->resource == PACE_IDLE_OTHER)
        return waited_for_stream(step, task) ? PACE_IDLE_BY_STREAM : PACE_IDLE_BY_LAUNCH;
    *call_out = synchronising_at(step, pace_task_lane(step, call), gap_start_ns);
    return *call_out != PACE_NO_TASK ? PACE_IDLE_BY_SYNCHRONISATION : PACE_IDLE_BY_HOST;
}

static bool is_gap(const pace_tile *tile) {
    return tile->resource == PACE_IDLE_HOST || tile->resource == PACE_IDLE_INPUT || tile->resource == PACE_IDLE_OTHER;
}

pace_idle_sums pace_idle_causes(const pace_rank *rank, int64_t start_ns, int64_t end_ns) {
    pace_idle_sums sums = {.synchroniser = PACE_NO_TASK};
    int64_t gap_start_ns = INT64_MIN, longest_ns = 0;
    for (size_t i = 0; i < rank->tiles.count && rank->tiles.items[i].start_ns < end_ns; i++) {
        const pace_tile *tile = &rank->tiles.items[i];
        if (!is_gap(tile)) continue;
        bool goes_on = i > 0 && is_gap(tile - 1) && tile[-1].item == tile->item;
        if (!goes_on) gap_start_ns = tile->start_ns;
        int64_t from = tile->start_ns > start_ns ? tile->start_ns : start_ns;
        int64_t to = pace_tile_end(tile) < end_ns ? pace_tile_end(tile) : end_ns;
        if (to <= from) continue;
        uint32_t call;
        pace_idle_cause cause = cause_of(&call, rank, tile, gap_start_ns);
        if (call != PACE_NO_TASK && to - from > longest_ns) {
            longest_ns = to - from;
            sums.synchroniser = call;
        }
        sums.gaps[cause]++;
        sums.time_ns[cause] += to - from;
    }
    return sums;
}
