#include "insight/ranks/item_exchange.h"

#include <string.h>

const pace_exchange_info *pace_item_exchange(const pace_rank *rank, uint32_t item) {
    const pace_step *step = &rank->step;
    uint32_t task = rank->work.items.items[item].task;
    const pace_exchange_info *info = pace_step_exchange(step, task);
    if (step->records.count == 0) return info;
    for (task = pace_task_made_for(step, task); !info && task != PACE_NO_TASK; task = pace_task_parent(step, task))
        if (step->kind[task] == PACE_TASK_OP) info = pace_step_exchange(step, task);
    return info;
}

const char *pace_item_members(const pace_rank *rank, uint32_t item) {
    const pace_exchange_info *info = pace_item_exchange(rank, item);
    const char *members = info ? pace_names_text(&rank->step.names, info->group_ranks) : "";
    return strstr(members, "...") ? "" : members;
}
