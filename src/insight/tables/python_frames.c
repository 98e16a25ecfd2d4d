#include "insight/tables/python_frames.h"

#include "base/order.h"
#include "base/text.h"
#include "insight/tables/module_tree.h"

#include <string.h>

typedef struct {
    const pace_step *step;
    pace_python_frames frames;
    uint32_t *row_of;    /* name of the step -> row + 1 */
    uint32_t *row_at;    /* name of the frames -> row + 1 */
    size_t row_room;     /* names that row_at has room for */
    uint32_t *frame_of;  /* host task -> itself or the innermost frame around it, or PACE_NO_TASK */
    int64_t *open_until; /* row -> where its outermost open frame ends */
    int64_t from_ns, to_ns;
} summer;

/* "<built-in method size of Tensor object at 0x7f12>" without the address: each object would be a row of its own. */
static void name_without_address(char out[PACE_FRAME_NAME], const char *name) {
    const char *at = strstr(name, " at 0x"), *tail = "";
    if (at) {
        tail = at + strlen(" at 0x");
        while (pace_is_alnum(*tail)) tail++;
    }
    pace_snprintf(out, PACE_FRAME_NAME, "%.*s%s", at ? (int)(at - name) : PACE_FRAME_NAME, name, tail);
}

void pace_python_frame_name(char out[PACE_FRAME_NAME], const char *name) {
    size_t length = pace_starts(name, "nn.Module: ") ? pace_module_class_length(name) : 0;
    if (length) pace_snprintf(out, PACE_FRAME_NAME, "%.*s", (int)length, name);
    else name_without_address(out, name);
}

static pace_status add_row(uint32_t *out, summer *s, const char *text) {
    char cut[PACE_FRAME_NAME];
    pace_name name;
    pace_python_frame_name(cut, text);
    PACE_TRY(pace_names_add(&name, &s->frames.names, cut, strlen(cut)));
    if (name >= s->row_room) return pace_fail(PACE_E_INTERNAL, "more names of frames than names");
    if (!s->row_at[name]) {
        PACE_TRY(PACE_PUSH(&s->frames.rows, ((pace_python_row){.name = name})));
        s->row_at[name] = (uint32_t)s->frames.rows.count;
    }
    *out = s->row_at[name] - 1;
    return PACE_OK;
}

static pace_status row_of(uint32_t *out, summer *s, uint32_t task) {
    uint32_t *known = &s->row_of[s->step->name[task]];
    if (*known == 0) {
        uint32_t row = 0;
        PACE_TRY(add_row(&row, s, pace_step_name(s->step, task)));
        *known = row + 1;
    }
    *out = *known - 1;
    return PACE_OK;
}

static bool counts(const summer *s, uint32_t task) {
    return s->step->start_ns[task] >= s->from_ns && s->step->start_ns[task] < s->to_ns;
}

static pace_status enter(summer *s, uint32_t task) {
    uint32_t row;
    PACE_TRY(row_of(&row, s, task));
    s->frame_of[task] = task;
    if (!counts(s, task)) return PACE_OK;
    pace_python_row *at = &s->frames.rows.items[row];
    at->calls++;
    at->self_ns += pace_task_ns(s->step, task);
    if (s->step->start_ns[task] < s->open_until[row]) return PACE_OK;
    at->all_ns += pace_task_ns(s->step, task);
    s->open_until[row] = pace_step_end_ns(s->step, task);
    return PACE_OK;
}

/* The row of a frame; NULL without one that counts. */
static pace_python_row *counted(summer *s, uint32_t frame) {
    if (frame == PACE_NO_TASK || !counts(s, frame)) return NULL;
    return &s->frames.rows.items[s->row_of[s->step->name[frame]] - 1];
}

/* The time of what a frame calls itself is not its own. */
static void take_from_caller(summer *s, uint32_t task, uint32_t parent) {
    pace_python_row *caller = s->step->kind[parent] == PACE_TASK_PYTHON ? counted(s, parent) : NULL;
    if (!caller) return;
    caller->self_ns -= pace_task_ns(s->step, task);
    if (s->step->kind[task] != PACE_TASK_PYTHON) caller->operators_ns += pace_task_ns(s->step, task);
}

static pace_status walk_lane(summer *s, const pace_lane *lane) {
    for (size_t i = 0; i < s->row_room; i++) s->open_until[i] = INT64_MIN;
    for (uint32_t task = lane->first; task < lane->first + lane->count; task++) {
        uint32_t parent = pace_task_parent(s->step, task);
        s->frame_of[task] = parent == PACE_NO_TASK ? PACE_NO_TASK : s->frame_of[parent];
        if (s->step->kind[task] == PACE_TASK_PYTHON) PACE_TRY(enter(s, task));
        if (parent != PACE_NO_TASK) take_from_caller(s, task, parent);
    }
    return PACE_OK;
}

static void add_work(summer *s, const pace_rank *rank, const pace_work_choice *choice) {
    PACE_ITEMS (const pace_work_item, item, &rank->work.items) {
        uint32_t cause = rank->work.host_is_device ? PACE_NO_TASK : pace_task_made_for(s->step, item->task);
        pace_python_row *row =
            cause == PACE_NO_TASK || !pace_work_is_chosen(item, choice) ? NULL : counted(s, s->frame_of[cause]);
        if (row) row->device_ns += item->end_ns - item->start_ns;
    }
}

PACE_ORDER(by_self_time, pace_python_row, PACE_DOWN(self_ns) PACE_UP(name))

static pace_status sum(summer *s, const pace_rank *rank, const pace_work_choice *choice) {
    s->row_room = pace_names_count(&s->step->names) + 1;
    if (!PACE_MAKE(s->row_of, s->row_room) || !PACE_MAKE(s->row_at, s->row_room) ||
        !PACE_MAKE(s->open_until, s->row_room) || !PACE_MAKE(s->frame_of, s->step->count))
        return PACE_E_MEMORY;
    for (size_t i = 0; i < s->step->lanes.count; i++)
        if (!s->step->lanes.items[i].device) PACE_TRY(walk_lane(s, &s->step->lanes.items[i]));
    add_work(s, rank, choice);
    PACE_SORT(&s->frames.rows, by_self_time);
    return PACE_OK;
}

pace_status pace_python_frames_sum(pace_python_frames *out, const pace_rank *rank, const pace_work_choice *choice,
                                   int64_t from_ns, int64_t to_ns) {
    summer s = {.step = &rank->step, .from_ns = from_ns, .to_ns = to_ns};
    PACE_TRY(pace_names_init(&s.frames.names));
    pace_status status = rank->step.kind_count[PACE_TASK_PYTHON] ? sum(&s, rank, choice) : PACE_OK;
    PACE_FREE(s.row_of, s.row_at, s.open_until, s.frame_of);
    return PACE_GIVE(out, s.frames, status, pace_python_frames_free(&s.frames));
}

void pace_python_frames_free(pace_python_frames *frames) {
    pace_names_free(&frames->names);
    PACE_VEC_FREE(&frames->rows);
}
