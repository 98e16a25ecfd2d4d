#include "insight/tables/queues.h"

#include "base/sort.h"

/* Instants of one stream: `launched` ascending, `begun` as well. */
typedef struct {
    int64_t *launched, *begun, *lengths, *scratch;
    size_t count;
} stream;

static pace_queue_row measure(stream *s, uint32_t lane, int full) {
    pace_queue_row row = {.lane = lane, .pieces = s->count};
    int64_t length = 0, before_ns = 0;
    size_t changes = 0, empty = 0;
    pace_sort_ns(s->launched, s->scratch, s->count);
    pace_sort_ns(s->begun, s->scratch, s->count);
    for (size_t up = 0, down = 0; down < s->count; changes++) {
        bool launch = up < s->count && s->launched[up] <= s->begun[down];
        int64_t at_ns = launch ? s->launched[up++] : s->begun[down++];
        if (changes && length >= full) row.full_ns += at_ns - before_ns;
        length += launch ? 1 : -1;
        if (length > row.most) row.most = length;
        empty += !launch && length == 0;
        s->lengths[changes] = length;
        before_ns = at_ns;
    }
    pace_sort_ns(s->lengths, s->scratch, changes);
    row.median = (double)(s->lengths[(changes - 1) / 2] + s->lengths[changes / 2]) / 2;
    row.empty_share = (double)empty / (double)s->count;
    return row;
}

static bool is_chosen(const pace_step *step, uint32_t task, const pace_work_choice *choice) {
    uint8_t stage = step->stage[task] == PACE_STAGE_NONE ? (uint8_t)PACE_STAGE_OTHER : step->stage[task];
    const pace_work_item item = {.start_ns = step->start_ns[task], .stage = stage};
    return pace_task_on_device(step->kind[task]) && pace_work_is_chosen(&item, choice);
}

static pace_status add_lane(pace_queue_rows *out, stream *s, const pace_step *step, uint32_t number,
                            const pace_work_choice *choice, int full) {
    const pace_lane *lane = &step->lanes.items[number];
    s->count = 0;
    for (uint32_t task = lane->first; task < lane->first + lane->count; task++) {
        uint32_t call = pace_task_cause(step, task);
        if (call == PACE_NO_TASK || step->kind[call] != PACE_TASK_CALL || !is_chosen(step, task, choice)) continue;
        s->launched[s->count] = step->start_ns[call];
        s->begun[s->count++] = step->start_ns[task];
    }
    return s->count ? PACE_PUSH(out, measure(s, number, full)) : PACE_OK;
}

/* Whether a stream is the rank's: one device of several has its own alone. */
static bool is_own(const pace_rank *rank, const pace_lane *lane) {
    return lane->device && (!rank->trace || lane->device_id == rank->device_id);
}

pace_status pace_queues_measure(pace_queue_rows *out, const pace_rank *rank, const pace_work_choice *choice, int full) {
    pace_queue_rows rows = {0};
    size_t room = rank->work.host_is_device ? 0 : rank->work.items.count;
    stream s = {pace_alloc(room, sizeof *s.launched), pace_alloc(room, sizeof *s.begun),
                pace_alloc(room * 2, sizeof *s.lengths), pace_alloc(room * 2, sizeof *s.scratch), 0};
    pace_status status = s.launched && s.begun && s.lengths && s.scratch ? PACE_OK : PACE_E_MEMORY;
    for (uint32_t lane = 0; room && lane < rank->step.lanes.count && status == PACE_OK; lane++)
        if (is_own(rank, &rank->step.lanes.items[lane])) status = add_lane(&rows, &s, &rank->step, lane, choice, full);
    PACE_FREE(s.launched, s.begun, s.lengths, s.scratch);
    return PACE_GIVE(out, rows, status, PACE_VEC_FREE(&rows));
}
