/* Tasks are appended to the columns of a step, which grow together. */
#include "step/step_parts.h"

#include <stddef.h>

pace_status pace_step_reserve(pace_step *step, size_t need) {
    if (need <= step->capacity) return PACE_OK;
    for (size_t i = 0; i < pace_step_column_count; i++) {
        const pace_step_part *part = &pace_step_parts[i];
        bool none = part->items == offsetof(pace_step, stage_given) && !step->stage_given;
        size_t capacity = step->capacity;
        if (!none) PACE_TRY(pace_grow((char *)step + part->items, &capacity, need, part->size));
    }
    step->capacity = need;
    return PACE_OK;
}

pace_status pace_step_add_task(pace_step *step, uint32_t lane, pace_task_kind kind, pace_name name, int64_t start_ns,
                               int64_t duration_ns) {
    if (step->count == step->capacity) {
        if (step->count >= PACE_NO_TASK / 2) return pace_fail(PACE_E_LIMIT, "more than 2147483647 tasks in one trace");
        PACE_TRY(pace_step_reserve(step, step->capacity < 1024 ? 1024 : step->capacity * 2));
    }
    size_t task = step->count++;
    step->start_ns[task] = start_ns;
    step->name[task] = name;
    step->lane[task] = (uint16_t)lane;
    step->detail[task] = step->correlation[task] = step->external[task] = 0;
    step->kind[task] = (uint8_t)kind;
    step->stage[task] = PACE_STAGE_NONE;
    if (step->stage_given) step->stage_given[task] = 0;
    step->kind_count[kind]++;
    return pace_task_set_ns(step, (uint32_t)task, duration_ns);
}
