/* What is around what in a step whose maker knows it: tasks of no length, all at one instant, and work of device graphs
 * do not tell it by their times and calls. */
#include "step/step_links.h"

#include <string.h>

static bool has_number(const pace_step *step, uint32_t task) {
    return step->kind[task] == PACE_TASK_OP || step->kind[task] == PACE_TASK_ANNOTATION;
}

/* task_of[number] = task; the caller's. */
static pace_status number_tasks(uint32_t **out, size_t *count, const pace_step *step) {
    uint32_t most = 0;
    for (uint32_t task = 0; task < step->count; task++)
        if (step->external[task] > most) most = step->external[task];
    uint32_t *task_of = pace_alloc((size_t)most + 1, sizeof *task_of);
    if (!task_of) return PACE_E_MEMORY;
    memset(task_of, 0xff, ((size_t)most + 1) * sizeof *task_of);
    for (uint32_t task = 0; task < step->count; task++)
        if (step->external[task] && has_number(step, task)) task_of[step->external[task]] = task;
    *out = task_of;
    *count = (size_t)most + 1;
    return PACE_OK;
}

static uint32_t task_numbered(const uint32_t *task_of, size_t count, uint32_t number) {
    return number && number < count ? task_of[number] : PACE_NO_TASK;
}

static bool is_around(const pace_step *step, uint32_t outer, uint32_t task) {
    while (task != PACE_NO_TASK && task != outer) task = pace_task_parent(step, task);
    return task == outer;
}

/* The nearest task around one that no number names: of a step. */
static uint32_t around_all(const pace_step *step, uint32_t task) {
    do task = pace_task_parent(step, task);
    while (task != PACE_NO_TASK && step->external[task]);
    return task;
}

static void nest_what_has_no_length(pace_step *step, const uint32_t *task_of, size_t count) {
    for (uint32_t task = 0; task < step->count; task++) {
        if (pace_task_on_device(step->kind[task])) continue;
        bool numbered = has_number(step, task);
        uint32_t around = task_numbered(task_of, count, numbered ? step->correlation[task] : step->external[task]);
        bool outermost = numbered && step->external[task] && !step->correlation[task];
        if (numbered) step->correlation[task] = 0; /* of a recorded operator it is another thing */
        if (pace_task_ns(step, task) != 0) continue;
        if (outermost) step->above[task] = around_all(step, task);
        else if (around != PACE_NO_TASK && around < task) step->above[task] = around;
    }
}

static pace_status link_work(pace_step *step, const uint32_t *task_of, size_t count) {
    for (uint32_t task = 0; task < step->count; task++) {
        if (!pace_task_on_device(step->kind[task])) continue;
        uint32_t of = task_numbered(task_of, count, step->external[task]);
        if (of == PACE_NO_TASK || is_around(step, of, step->above[task])) continue;
        PACE_TRY(PACE_PUSH(&step->made_for, ((pace_made_for){task, of})));
    }
    return PACE_OK;
}

pace_status pace_step_link_numbers(pace_step *step) {
    uint32_t *task_of = NULL;
    size_t count = 0;
    PACE_TRY(number_tasks(&task_of, &count, step));
    nest_what_has_no_length(step, task_of, count);
    pace_status status = link_work(step, task_of, count);
    pace_free(task_of);
    return status;
}

uint32_t pace_task_made_for(const pace_step *step, uint32_t task) {
    uint32_t cause = pace_task_cause(step, task);
    if (step->made_for.count == 0) return cause;
    size_t low = 0;
    PACE_SEARCH(low, step->made_for.count, middle, step->made_for.items[middle].task < task);
    bool found = low < step->made_for.count && step->made_for.items[low].task == task;
    return found ? step->made_for.items[low].of : cause;
}
