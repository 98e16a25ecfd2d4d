#include "insight/stages.h"

#include "base/text.h"
#include "insight/stage_links.h"

#include <string.h>

/* Names that say a stage, whichever task they enclose. The longest enclosing name wins from the inside out. */
static const struct {
    const char *text;
    bool anywhere; /* else at the start */
    pace_stage stage;
} words[] = {
    {"enumerate(DataLoader)", false, PACE_STAGE_INPUT},
    {"## copy_batch", false, PACE_STAGE_INPUT},
    {"## wait_for_batch", false, PACE_STAGE_INPUT},
    {"## load_batch", false, PACE_STAGE_INPUT},
    {"dataloader", false, PACE_STAGE_INPUT},
    {"Optimizer.", false, PACE_STAGE_UPDATE},
    {"## optimizer", false, PACE_STAGE_UPDATE},
    {"## zero_grad", false, PACE_STAGE_UPDATE},
    {"aten::_fused_adam", false, PACE_STAGE_UPDATE},
    {"aten::_fused_sgd", false, PACE_STAGE_UPDATE},
    {"aten::_foreach_", false, PACE_STAGE_UPDATE},
    {"## backward", false, PACE_STAGE_BACKWARD},
    {"autograd::engine::", false, PACE_STAGE_BACKWARD},
    {"struct torch::autograd::", false, PACE_STAGE_BACKWARD},
    {"torch::autograd::AccumulateGrad", false, PACE_STAGE_BACKWARD},
    {"AccumulateGrad", false, PACE_STAGE_BACKWARD},
    {"CompiledFunctionBackward", false, PACE_STAGE_BACKWARD},
    {"Backward", true, PACE_STAGE_BACKWARD},
    {"_backward", true, PACE_STAGE_BACKWARD},
    {"## forward", false, PACE_STAGE_FORWARD},
    {"DistributedDataParallel.forward", false, PACE_STAGE_FORWARD},
    {"FullyShardedDataParallel.forward", false, PACE_STAGE_FORWARD},
};

static uint8_t stage_of_name(const char *name) {
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        bool found = words[i].anywhere ? strstr(name, words[i].text) != NULL : pace_starts(name, words[i].text);
        if (found) return (uint8_t)words[i].stage;
    }
    return PACE_STAGE_NONE;
}

/* Linked operators keep what their link says; what they enclose follows them where no name says otherwise. */
static void attribute_host_by_name(pace_step *step, uint8_t *of_name) {
    for (uint32_t task = 0; task < step->count; task++) {
        uint8_t kind = step->kind[task];
        if (kind > PACE_TASK_CALL) continue;
        uint8_t *known = &of_name[step->name[task]];
        if (*known == 0)
            *known = (uint8_t)(kind == PACE_TASK_CALL ? PACE_STAGE_NONE : stage_of_name(pace_step_name(step, task)));
        uint32_t parent = step->parent[task];
        if (step->stage[task] != PACE_STAGE_NONE) continue;
        step->stage[task] = *known != PACE_STAGE_NONE ? (uint8_t)(*known)
                            : parent != PACE_NO_TASK  ? step->stage[parent]
                                                      : (uint8_t)PACE_STAGE_NONE;
    }
}

/* Whether linked forward operators run on a lane: then it is no thread of the backward pass, whatever else it runs. */
static bool runs_forward(const pace_step *step, const pace_lane *lane) {
    for (size_t i = 0; i < step->gradients.count; i++) {
        uint32_t forward = step->gradients.items[i].forward;
        if (forward >= lane->first && forward < lane->first + lane->count && step->stage[forward] == PACE_STAGE_FORWARD)
            return true;
    }
    return false;
}

/* A thread most of whose outermost attributed operators are autograd's runs nothing but the backward pass. */
static void attribute_backward_threads(pace_step *step) {
    for (size_t i = 0; i < step->lanes.count; i++) {
        const pace_lane *lane = &step->lanes.items[i];
        if (lane->device) continue;
        size_t backward = 0, all = 0;
        for (uint32_t task = lane->first; task < lane->first + lane->count; task++) {
            if (step->parent[task] != PACE_NO_TASK || step->kind[task] != PACE_TASK_OP) continue;
            all++;
            backward += step->stage[task] == PACE_STAGE_BACKWARD;
        }
        if (backward * 2 <= all || runs_forward(step, lane)) continue;
        for (uint32_t task = lane->first; task < lane->first + lane->count; task++)
            if (step->kind[task] <= PACE_TASK_CALL && step->stage[task] == PACE_STAGE_NONE)
                step->stage[task] = PACE_STAGE_BACKWARD;
    }
}

typedef struct {
    int64_t first_ns, last_ns;
} reach;

/* When a step's backward pass begins and ends on the host; the last row is for work outside all steps. */
static void find_backward(const pace_step *step, const pace_marks *marks, reach *backward) {
    for (size_t i = 0; i <= marks->items.count; i++) backward[i] = (reach){INT64_MAX, INT64_MIN};
    for (uint32_t task = 0; task < step->count; task++) {
        if (step->kind[task] != PACE_TASK_OP || step->stage[task] != PACE_STAGE_BACKWARD) continue;
        ptrdiff_t at = pace_marks_at(marks, step->start_ns[task]);
        reach *row = &backward[at < 0 ? (ptrdiff_t)marks->items.count : at];
        if (step->start_ns[task] < row->first_ns) row->first_ns = step->start_ns[task];
        if (pace_step_end_ns(step, task) > row->last_ns) row->last_ns = pace_step_end_ns(step, task);
    }
}

static uint8_t stage_by_order(const reach *backward, int64_t issued_ns) {
    if (backward->first_ns == INT64_MAX || issued_ns < backward->first_ns) return PACE_STAGE_FORWARD;
    return issued_ns < backward->last_ns ? PACE_STAGE_BACKWARD : PACE_STAGE_UPDATE;
}

/* A predicted captured graph is one launch whose kernels are of all stages: each brings its own. */
static bool takes_stage_of_cause(const pace_step *step, uint32_t task) {
    return step->cause[task] != PACE_NO_TASK && !step->stage_given[task];
}

static void attribute_by_order(pace_step *step, const pace_marks *marks, const reach *backward,
                               const pace_stage_runs *runs) {
    for (uint32_t task = 0; task < step->count; task++) {
        uint8_t kind = step->kind[task];
        if (kind > PACE_TASK_MEMSET) continue;
        if (pace_task_on_device(kind)) {
            uint32_t cause = step->cause[task];
            if (takes_stage_of_cause(step, task)) step->stage[task] = step->stage[cause];
            if (cause == PACE_NO_TASK && step->linked_kernels + (step->kind_count[PACE_TASK_OP] > 0) > 0) continue;
        }
        if (step->stage[task] != PACE_STAGE_NONE) continue;
        if (kind == PACE_TASK_ANNOTATION || kind == PACE_TASK_PYTHON) continue;
        int64_t issued = pace_task_issued_ns(step, task);
        step->stage[task] = pace_stage_between(runs, marks, issued);
        if (step->stage[task] != PACE_STAGE_NONE) continue;
        ptrdiff_t at = pace_marks_at(marks, issued);
        step->stage[task] = stage_by_order(&backward[at < 0 ? (ptrdiff_t)marks->items.count : at], issued);
    }
}

/* Device tasks stand on lanes that may sort before their host's: their stage needs a second look. */
static void settle_device_tasks(pace_step *step) {
    for (uint32_t task = 0; task < step->count; task++) {
        if (!takes_stage_of_cause(step, task)) continue;
        uint8_t stage = step->stage[step->cause[task]];
        if (stage != PACE_STAGE_NONE) step->stage[task] = stage;
    }
}

/* Device work that nothing is known to have launched runs among work that is: it belongs to the stage of the task
 * before it on its stream, or else of the one after. */
static void attribute_by_neighbours(pace_step *step) {
    for (size_t i = 0; i < step->lanes.count; i++) {
        const pace_lane *lane = &step->lanes.items[i];
        if (!lane->device) continue;
        uint8_t stage = PACE_STAGE_NONE;
        for (uint32_t task = lane->first; task < lane->first + lane->count; task++) {
            if (step->stage[task] == PACE_STAGE_NONE) step->stage[task] = stage;
            else stage = step->stage[task];
        }
        for (uint32_t task = lane->first + lane->count; task-- > lane->first;) {
            if (step->stage[task] == PACE_STAGE_NONE) step->stage[task] = stage;
            else stage = step->stage[task];
        }
    }
}

/* Without operators the kernels' own names are all there is. */
static void attribute_device_by_name(pace_step *step) {
    bool no_ops = step->kind_count[PACE_TASK_OP] == 0;
    for (uint32_t task = 0; task < step->count; task++) {
        if (!pace_task_on_device(step->kind[task]) || (step->cause[task] != PACE_NO_TASK && !no_ops)) continue;
        if (step->stage_given[task]) continue;
        const char *name = pace_step_name(step, task);
        bool backward = strstr(name, "backward") || strstr(name, "Backward") || strstr(name, "dgrad") ||
                        strstr(name, "wgrad") || strstr(name, "bwd");
        bool update = strstr(name, "multi_tensor_apply") || strstr(name, "FusedOptimizer") || strstr(name, "adam");
        if (backward) step->stage[task] = PACE_STAGE_BACKWARD;
        else if (update) step->stage[task] = PACE_STAGE_UPDATE;
    }
}

pace_status pace_stages_attribute(pace_step *step, const pace_marks *marks) {
    uint8_t *of_name = pace_alloc(pace_names_count(&step->names), 1);
    reach *backward = pace_alloc(marks->items.count + 1, sizeof *backward);
    pace_stage_runs runs = {0};
    pace_stages_mark_linked(step);
    pace_status status = of_name && backward ? pace_stage_runs_find(&runs, step, marks) : PACE_E_MEMORY;
    if (status == PACE_OK) {
        attribute_host_by_name(step, of_name);
        attribute_backward_threads(step);
        find_backward(step, marks, backward);
        attribute_by_order(step, marks, backward, &runs);
        settle_device_tasks(step);
        attribute_device_by_name(step);
        attribute_by_neighbours(step);
    }
    pace_free(of_name);
    pace_free(backward);
    PACE_VEC_FREE(&runs);
    return status;
}
