#include "insight/timeline/thread_name.h"

void pace_thread_name(char out[PACE_THREAD_NAME], const pace_step *step, const pace_lane *lane) {
    const char *key = pace_names_text(&step->names, lane->key), *number = strrchr(key, '/');
    bool steps = false, backward = false;
    for (uint32_t task = lane->first; !steps && task < lane->first + lane->count; task++) {
        steps = pace_task_marks_step(step, task);
        backward = backward || (step->kind[task] == PACE_TASK_OP && step->stage[task] == PACE_STAGE_BACKWARD);
    }
    pace_snprintf(out, PACE_THREAD_NAME, "%s %s",
                  steps      ? "Main thread"
                  : backward ? "Backward thread"
                             : "Thread",
                  number ? number + 1 : key);
}
