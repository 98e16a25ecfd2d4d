#include "step/step.h"
#include "base/order.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

const char *const pace_stage_names[PACE_STAGES] = {"input",  "forward", "recompute", "backward",
                                                   "update", "prefill", "decode",    "other"};

bool pace_name_is_label(const char *name) {
    static const char *const labels[] = {"##", "module::", "DLRM ", "DistributedDataParallel"};
    for (size_t i = 0; i < PACE_COUNT(labels); i++)
        if (name[0] == labels[i][0] && pace_starts(name, labels[i])) return true;
    return pace_name_marks_step(name);
}

pace_status pace_step_init(pace_step *step) {
    *step = (pace_step){.rank = -1, .world_size = -1, .cut_ns = INT64_MAX};
    return pace_names_init(&step->names);
}

pace_status pace_step_give_stage(pace_step *step, uint8_t stage) {
    step->stage[step->count - 1] = stage;
    if (stage == PACE_STAGE_NONE) return PACE_OK;
    if (!step->stage_given) step->stage_given = pace_alloc(step->capacity, sizeof *step->stage_given);
    if (!step->stage_given) return PACE_E_MEMORY;
    step->stage_given[step->count - 1] = 1;
    return PACE_OK;
}

PACE_ORDER(long_by_task, pace_long_task, PACE_UP(task))

int64_t pace_long_task_ns(const pace_step *step, uint32_t task) {
    pace_long_task key = {.task = task};
    const pace_long_task *found =
        bsearch(&key, step->long_tasks.items, step->long_tasks.count, sizeof key, long_by_task);
    return found ? found->duration_ns : PACE_LONG_TASK;
}

pace_status pace_task_set_ns(pace_step *step, uint32_t task, int64_t duration_ns) {
    bool fits = duration_ns >= 0 && duration_ns < PACE_LONG_TASK;
    step->duration[task] = fits ? (uint32_t)duration_ns : PACE_LONG_TASK;
    return fits ? PACE_OK : PACE_PUSH(&step->long_tasks, ((pace_long_task){task, duration_ns}));
}

void pace_step_order_long_tasks(pace_step *step) {
    if (step->long_tasks.count)
        qsort(step->long_tasks.items, step->long_tasks.count, sizeof *step->long_tasks.items, long_by_task);
}

/* The slot of a key, or the free one where it belongs. */
static size_t lane_slot(const pace_step *step, pace_name key) {
    size_t mask = step->lane_slot_count - 1, slot = (key * UINT32_C(0x9e3779b9) >> 8) & mask;
    while (step->lane_slots[slot] && step->lanes.items[step->lane_slots[slot] - 1].key != key) slot = (slot + 1) & mask;
    return slot;
}

static pace_status grow_lane_slots(pace_step *step) {
    size_t count = step->lane_slot_count ? step->lane_slot_count * 2 : 64;
    uint32_t *slots = pace_alloc(count, sizeof *slots);
    if (!slots) return PACE_E_MEMORY;
    pace_free(step->lane_slots);
    step->lane_slots = slots;
    step->lane_slot_count = count;
    for (size_t i = 0; i < step->lanes.count; i++) slots[lane_slot(step, step->lanes.items[i].key)] = (uint32_t)i + 1;
    return PACE_OK;
}

pace_status pace_step_lane(uint32_t *out, pace_step *step, const char *key, size_t length, bool device,
                           uint32_t device_id) {
    pace_name name;
    PACE_TRY(pace_names_add(&name, &step->names, key, length));
    if (step->lanes.count * 2 >= step->lane_slot_count) PACE_TRY(grow_lane_slots(step));
    uint32_t *slot = &step->lane_slots[lane_slot(step, name)];
    if (*slot == 0) {
        if (step->lanes.count >= 65536)
            return pace_fail(PACE_E_LIMIT, "more than 65536 threads and streams in one trace");
        PACE_TRY(PACE_PUSH(&step->lanes, ((pace_lane){.key = name, .device = device, .device_id = device_id})));
        *slot = (uint32_t)step->lanes.count;
    }
    *out = *slot - 1;
    return PACE_OK;
}

pace_status pace_step_note_mark(pace_step *step, pace_name name) {
    while (step->marking.count <= name) PACE_TRY(PACE_PUSH(&step->marking, 0));
    step->marking.items[name] = 1;
    return PACE_OK;
}

bool pace_name_wraps_compiled(const char *name) {
    static const char *const wrappers[] = {"Torch-Compiled Region", "## Call CompiledFxGraph",
                                           "CompiledFunction",      "OptimizedModule",
                                           "TorchDynamo",           "Pregraph bytecode",
                                           "AOTDispatcher Runtime"};
    for (size_t i = 0; i < PACE_COUNT(wrappers); i++)
        if (name[0] == wrappers[i][0] && pace_starts(name, wrappers[i])) return true;
    return false;
}

size_t pace_name_library(const char *name) {
    static const char *const libraries[] = {"nccl:", "rccl:", "gloo:", "mpi:", "xccl:", "ucc:"};
    for (size_t i = 0; i < PACE_COUNT(libraries); i++)
        if (name[0] == libraries[i][0] && pace_starts(name, libraries[i])) return strlen(libraries[i]);
    return 0;
}

uint32_t pace_lane_first_from(const pace_step *step, const pace_lane *lane, int64_t at_ns) {
    uint32_t low = lane->first;
    PACE_SEARCH(low, lane->first + lane->count, middle, step->start_ns[middle] < at_ns);
    return low;
}

uint32_t pace_lane_begun_by(const pace_step *step, const pace_lane *lane, int64_t at_ns) {
    uint32_t behind = pace_lane_first_from(step, lane, at_ns + 1);
    return behind > lane->first ? behind - 1 : PACE_NO_TASK;
}

bool pace_lane_works(const pace_step *step, const pace_lane *lane) {
    for (uint32_t task = lane->first; lane->device && task < lane->first + lane->count; task++)
        if (pace_task_on_device(step->kind[task])) return true;
    return false;
}

uint32_t pace_step_first_device(const pace_step *step) {
    uint32_t first = UINT32_MAX;
    PACE_ITEMS (const pace_lane, lane, &step->lanes)
        if (lane->device_id < first && pace_lane_works(step, lane)) first = lane->device_id;
    return first == UINT32_MAX ? 0 : first;
}

const pace_traced_device *pace_step_device(const pace_step *step, uint32_t id) {
    for (size_t i = 0; i < step->devices.count; i++)
        if (step->devices.items[i].id == (int64_t)id) return &step->devices.items[i];
    return step->devices.count ? &step->devices.items[0] : NULL;
}

PACE_ORDER(by_task, pace_exchange_record, PACE_UP(task))

const pace_exchange_info *pace_step_exchange(const pace_step *step, uint32_t task) {
    if (pace_task_on_device(step->kind[task]))
        return step->kind[task] == PACE_TASK_KERNEL && (step->detail[task] & PACE_DETAIL_EXCHANGE)
                   ? &step->exchanges.items[step->detail[task] & ~PACE_DETAIL_EXCHANGE]
                   : NULL;
    if (step->records.count == 0) return NULL;
    pace_exchange_record key = {.task = task};
    const pace_exchange_record *found = bsearch(&key, step->records.items, step->records.count, sizeof key, by_task);
    return found ? &step->exchanges.items[found->exchange] : NULL;
}

pace_status pace_step_give_exchange(pace_step *step, const pace_exchange_info *info) {
    PACE_TRY(PACE_PUSH(&step->exchanges, *info));
    step->detail[step->count - 1] = (uint32_t)(step->exchanges.count - 1) | PACE_DETAIL_EXCHANGE;
    return PACE_OK;
}

pace_name pace_step_launch(const pace_step *step, uint32_t task) {
    if (step->kind[task] != PACE_TASK_KERNEL) return 0;
    const pace_exchange_info *exchange = pace_step_exchange(step, task);
    return exchange ? exchange->launch : step->detail[task];
}

int pace_torch_dtype_bytes(const char *dtype) {
    static const struct {
        const char *name;
        int bytes;
    } types[] = {{"Float8", 1}, {"BFloat16", 2}, {"Half", 2}, {"Float", 4}, {"Double", 8}, {"Long", 8},
                 {"Short", 2},  {"Int", 4},      {"Byte", 1}, {"Char", 1},  {"Bool", 1},   {"ComplexFloat", 8}};
    for (size_t i = 0; i < PACE_COUNT(types); i++)
        if (pace_starts(dtype, types[i].name)) return types[i].bytes;
    return 0;
}

int64_t pace_exchange_bytes(const pace_step *step, const pace_exchange_info *info) {
    int64_t elements = info->in_elements > 0 ? info->in_elements : info->out_elements;
    if (elements <= 0 || elements >= INT64_MAX / 8) return -1;
    const char *dtype = pace_names_text(&step->names, info->dtype);
    int bytes = *dtype ? pace_torch_dtype_bytes(dtype) : 1; /* predicted steps count bytes */
    return bytes ? elements * bytes : -1;
}
