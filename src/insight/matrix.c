#include "insight/matrix.h"

#include "insight/input_time.h"
#include "base/order.h"

const char *const pace_resource_names[PACE_RESOURCES] = {"compute_bound", "memory_bound",
                                                         "copy",          "exposed_communication",
                                                         "idle_host",     "idle_rank",
                                                         "idle_input",    "idle_other"};

/* --- the steps' device intervals ---------------------------------------------------------------------------- */

/* When each stream's first task with a known launch starts. Work in front of it without one was launched before the
 * trace began: a stream works in order. INT64_MIN: the stream has no launches, so nothing is known. */
static int64_t *find_first_launched(const pace_work *work) {
    int64_t *first = pace_alloc(work->step->lanes.count, sizeof *first);
    for (size_t i = 0; first && i < work->step->lanes.count; i++) first[i] = INT64_MIN;
    for (size_t i = 0; first && i < work->items.count; i++) {
        uint32_t task = work->items.items[i].task, lane = pace_task_lane(work->step, task);
        if (pace_task_cause(work->step, task) != PACE_NO_TASK && first[lane] == INT64_MIN)
            first[lane] = work->step->start_ns[task];
    }
    return first;
}

/* The step that issued an item of work, -1 = before the first. False: no step did. */
static bool issued_by(ptrdiff_t *at, const pace_marks *marks, const pace_work *work, const pace_work_item *item,
                      const int64_t *first_launched) {
    bool known = work->host_is_device || pace_task_cause(work->step, item->task) != PACE_NO_TASK;
    int64_t issued_ns = pace_task_issued_ns(work->step, item->task);
    *at = pace_marks_at(marks, issued_ns);
    if (!known && item->start_ns < first_launched[pace_task_lane(work->step, item->task)]) *at = -1;
    /* what the host issued after the last annotation is no step's: the trace ran on without one */
    bool last = *at >= 0 && *at + 1 == (ptrdiff_t)marks->items.count;
    return !(last && known && issued_ns > marks->until_ns);
}

/* When the last compute work of each step ends; `*before` is of what was launched before the first step. */
static void find_ends(int64_t *last, int64_t *before, const pace_marks *marks, const pace_work *work,
                      const int64_t *first_launched) {
    *before = INT64_MIN;
    for (size_t i = 0; i < marks->items.count; i++) last[i] = INT64_MIN;
    PACE_ITEMS (const pace_work_item, item, &work->items) {
        ptrdiff_t at;
        bool works = item->class <= PACE_WORK_MEMORY_BOUND || item->class == PACE_WORK_CALL;
        if (!works || !issued_by(&at, marks, work, item, first_launched)) continue;
        int64_t *end = at < 0 ? before : &last[at];
        if (item->end_ns > *end) *end = item->end_ns;
    }
}

pace_status pace_marks_set_intervals(pace_marks *marks, const pace_work *work) {
    size_t count = marks->items.count;
    if (count == 0) return PACE_OK;
    int64_t *last = pace_alloc(count, sizeof *last), *first_launched = find_first_launched(work), before;
    pace_status status = last && first_launched ? PACE_OK : PACE_E_MEMORY;
    if (status == PACE_OK) {
        find_ends(last, &before, marks, work, first_launched);
        int64_t bound = marks->since_ns;
        if (before > bound) bound = before;
        for (size_t i = 0; i < count; i++) {
            marks->items.items[i].from_ns = bound;
            if (last[i] > bound) bound = last[i];
            marks->items.items[i].to_ns = bound;
        }
    }
    PACE_FREE(last, first_launched);
    return status;
}

/* --- tiles --------------------------------------------------------------------------------------------------- */

/* What takes an instant first: compute, then communication, then copies, then calls of the host. */
enum { RANKS = 4 };

typedef struct {
    pace_tiles *tiles;
    const pace_work *work;
    pace_input_times input;
    size_t first[RANKS]; /* of each rank, the first item that has not ended yet; others before it may have started */
} tiler;

static pace_status push_tile(tiler *t, int64_t start, int64_t end, uint8_t stage, pace_resource resource,
                             uint32_t item) {
    if (end <= start) return PACE_OK;
    pace_tiles *tiles = t->tiles;
    if (tiles->count) {
        pace_tile *last = &tiles->items[tiles->count - 1];
        if (last->item == item && last->resource == resource && last->stage == stage) {
            last[1].start_ns = end;
            return PACE_OK;
        }
    }
    PACE_TRY(pace_grow(&tiles->items, &tiles->capacity, tiles->count + 2, sizeof *tiles->items));
    tiles->items[tiles->count++] = (pace_tile){start, item, stage, (uint8_t)resource};
    tiles->items[tiles->count] = (pace_tile){.start_ns = end};
    return PACE_OK;
}

static int rank_of(const pace_work_item *item) {
    if (item->class <= PACE_WORK_MEMORY_BOUND) return 0;
    if (item->class == PACE_WORK_CALL) return 3;
    return item->class == PACE_WORK_COMMUNICATION || item->peer_copy ? 1 : 2;
}

bool pace_work_is_of(const pace_work_item *item, pace_resource resource) {
    switch (resource) {
    case PACE_COMPUTE_BOUND: return item->class == PACE_WORK_COMPUTE_BOUND;
    case PACE_MEMORY_BOUND: return item->class == PACE_WORK_MEMORY_BOUND;
    case PACE_COPY: return rank_of(item) == 2;
    case PACE_EXPOSED_COMMUNICATION:
    case PACE_IDLE_RANK: return rank_of(item) == 1;
    default: return item->class == PACE_WORK_CALL;
    }
}

/* The item that takes the instant `now`, of those before `next`: of the first rank that runs, the one that started
 * first. PACE_NO_TASK: none runs. Instants ascend from call to call. */
static uint32_t choose(tiler *t, int64_t now, size_t next) {
    const pace_work_item *items = t->work->items.items;
    for (int rank = 0; rank < RANKS; rank++) {
        size_t *first = &t->first[rank];
        while (*first < next && (rank_of(&items[*first]) != rank || items[*first].end_ns <= now)) ++*first;
        if (*first < next) return (uint32_t)*first;
    }
    return PACE_NO_TASK;
}

static pace_status tile_busy(tiler *t, int64_t start, int64_t end, uint32_t index) {
    const pace_work_item *item = &t->work->items.items[index];
    switch (rank_of(item)) {
    case 0:
        return push_tile(t, start, end, item->stage,
                         item->class == PACE_WORK_COMPUTE_BOUND ? PACE_COMPUTE_BOUND : PACE_MEMORY_BOUND, index);
    case 1: {
        int64_t split = item->wait_until_ns < start ? start : item->wait_until_ns > end ? end : item->wait_until_ns;
        PACE_TRY(push_tile(t, start, split, item->stage, PACE_IDLE_RANK, index));
        return push_tile(t, split, end, item->stage, PACE_EXPOSED_COMMUNICATION, index);
    }
    case 2: return push_tile(t, start, end, item->stage, PACE_COPY, index);
    default: {
        bool input = item->stage == PACE_STAGE_INPUT;
        return push_tile(t, start, end, item->stage, input ? PACE_IDLE_INPUT : PACE_IDLE_HOST, index);
    }
    }
}

/* The host's own time inside [start, end), on the thread that was to launch `next`: what of it went to fetching input,
 * piece by piece. */
static pace_status tile_host(tiler *t, int64_t start, int64_t end, uint8_t stage, uint32_t next) {
    const pace_step *step = t->work->step;
    uint32_t task = t->work->items.items[next].task;
    const pace_intervals *input =
        &t->input.by_lane[pace_task_lane(step, t->work->host_is_device ? task : pace_task_cause(step, task))];
    size_t low = 0;
    PACE_SEARCH(low, input->count, middle, input->items[middle].end_ns <= start);
    for (; low < input->count && input->items[low].start_ns < end; low++) {
        int64_t from = input->items[low].start_ns > start ? input->items[low].start_ns : start;
        int64_t to = input->items[low].end_ns < end ? input->items[low].end_ns : end;
        PACE_TRY(push_tile(t, start, from, stage, PACE_IDLE_HOST, next));
        PACE_TRY(push_tile(t, from, to, PACE_STAGE_INPUT, PACE_IDLE_INPUT, next));
        start = to;
    }
    return push_tile(t, start, end, stage, PACE_IDLE_HOST, next);
}

/* Nothing runs in [start, end) until `next` begins. Until the host issued it, the host is what is waited for; work
 * that was queued before the gap began waits for something else (an event, another stream, the launch itself). */
static pace_status tile_idle(tiler *t, int64_t start, int64_t end, uint32_t next) {
    const pace_step *step = t->work->step;
    const pace_work_item *item = &t->work->items.items[next];
    if (t->work->host_is_device) return tile_host(t, start, end, item->stage, next);
    uint32_t cause = pace_task_cause(step, item->task);
    if (cause == PACE_NO_TASK) return push_tile(t, start, end, item->stage, PACE_IDLE_OTHER, next);
    int64_t issued_end = pace_step_end_ns(step, cause);
    if (issued_end <= start) return push_tile(t, start, end, item->stage, PACE_IDLE_OTHER, next);
    return tile_host(t, start, end, item->stage, next);
}

static pace_status sweep(tiler *t, int64_t now) {
    const pace_work_item *items = t->work->items.items;
    size_t count = t->work->items.count, next = 0;
    for (;;) {
        while (next < count && items[next].start_ns <= now) next++;
        uint32_t running = choose(t, now, next);
        if (running == PACE_NO_TASK && next == count) return PACE_OK;
        int64_t until = next < count ? items[next].start_ns : INT64_MAX;
        if (running == PACE_NO_TASK) {
            PACE_TRY(tile_idle(t, now, until, (uint32_t)next));
        } else {
            if (items[running].end_ns < until) until = items[running].end_ns;
            PACE_TRY(tile_busy(t, now, until, running));
        }
        now = until;
    }
}

pace_status pace_tiles_build(pace_tiles *out, const pace_work *work, const pace_marks *marks) {
    pace_tiles tiles = {0};
    tiler t = {.tiles = &tiles, .work = work};
    pace_status status = PACE_OK;
    if (work->items.count) {
        int64_t begin = work->items.items[0].start_ns;
        if (marks->items.count && marks->items.items[0].start_ns < begin) begin = marks->items.items[0].start_ns;
        status = pace_input_times_find(&t.input, work->step);
        if (status == PACE_OK) status = sweep(&t, begin);
    }
    pace_input_times_free(&t.input);
    return PACE_GIVE(out, tiles, status, PACE_VEC_FREE(&tiles));
}

pace_matrix pace_matrix_of(const pace_tiles *tiles, int64_t start_ns, int64_t end_ns) {
    pace_matrix matrix = {0};
    size_t low = 0;
    PACE_SEARCH(low, tiles->count, middle, pace_tile_end(&tiles->items[middle]) <= start_ns);
    for (; low < tiles->count && tiles->items[low].start_ns < end_ns; low++) {
        const pace_tile *tile = &tiles->items[low];
        int64_t start = tile->start_ns > start_ns ? tile->start_ns : start_ns;
        int64_t end = pace_tile_end(tile) < end_ns ? pace_tile_end(tile) : end_ns;
        matrix.cell_ns[tile->stage][tile->resource] += end - start;
    }
    return matrix;
}

int64_t pace_matrix_columns(const pace_matrix *matrix, pace_resource from, pace_resource to) {
    int64_t sum = 0;
    for (int stage = 0; stage < PACE_STAGES; stage++)
        for (int resource = (int)from; resource <= (int)to; resource++) sum += matrix->cell_ns[stage][resource];
    return sum;
}

int64_t pace_matrix_total(const pace_matrix *matrix) {
    return pace_matrix_columns(matrix, PACE_COMPUTE_BOUND, PACE_RESOURCES - 1);
}
