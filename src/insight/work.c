#include "insight/work.h"

#include "base/order.h"
#include "base/sort.h"
#include "cost/roofline.h"
#include "insight/host_work.h"

#include <string.h>

void pace_work_free(pace_work *work) {
    PACE_VEC_FREE(&work->items, &work->compute, &work->communication, &work->memory, &work->calls);
}

/* --- classes ------------------------------------------------------------------------------------------------ */

typedef struct {
    const pace_step *step;
    const pace_kernel_classes *classes;
    const pace_device *device;
    pace_op_cache cache;
    uint8_t *known; /* name -> pace_work_class + 1, 0 = not looked up */
} classifier;

static pace_work_class class_of_name(classifier *c, pace_name name) {
    if (c->known[name] == 0) {
        pace_kernel_class class = pace_kernel_classify(c->classes, pace_names_text(&c->step->names, name));
        pace_work_class work = class.communication                 ? PACE_WORK_COMMUNICATION
                               : class.bound == PACE_BOUND_COMPUTE ? PACE_WORK_COMPUTE_BOUND
                                                                   : PACE_WORK_MEMORY_BOUND;
        c->known[name] = (uint8_t)(work + 1);
    }
    return (pace_work_class)(c->known[name] - 1);
}

/* The operator around a call that knows its shapes. */
static uint32_t op_around(const pace_step *step, uint32_t task) {
    while (task != PACE_NO_TASK && !(step->kind[task] == PACE_TASK_OP && step->detail[task]))
        task = pace_task_parent(step, task);
    return task;
}

/* A matrix kernel whose operator moves more bytes than its flop can hide is bound by memory: the roofline. */
static pace_work_class class_of_kernel(classifier *c, uint32_t task) {
    pace_work_class class = class_of_name(c, c->step->name[task]);
    if (class != PACE_WORK_COMPUTE_BOUND || !c->device || pace_task_cause(c->step, task) == PACE_NO_TASK) return class;
    uint32_t op = op_around(c->step, pace_task_made_for(c->step, task));
    pace_op_amount amount;
    if (op == PACE_NO_TASK || !pace_op_cache_amount(&amount, &c->cache, c->step, op) || amount.flop <= 0) return class;
    double peak = pace_device_peak(c->device, amount.element_bytes);
    if (peak <= 0 || c->device->memory_bytes_per_s <= 0) return class;
    return amount.flop / peak < amount.bytes / c->device->memory_bytes_per_s ? PACE_WORK_MEMORY_BOUND : class;
}

static bool is_peer_copy(const char *name) {
    return strstr(name, "PtoP") || strstr(name, "Peer") || strstr(name, "P2P");
}

/* --- items --------------------------------------------------------------------------------------------------- */

static pace_status add_item(pace_work *work, classifier *c, uint32_t task, int64_t start, int64_t end) {
    const pace_step *step = work->step;
    pace_work_item item = {.start_ns = start,
                           .end_ns = end,
                           .task = task,
                           .class = PACE_WORK_COPY,
                           .stage = step->stage[task],
                           .wait_until_ns = INT64_MIN};
    if (step->kind[task] == PACE_TASK_KERNEL) item.class = (uint8_t)class_of_kernel(c, task);
    else if (step->kind[task] == PACE_TASK_COPY) item.peer_copy = is_peer_copy(pace_step_name(step, task));
    if (item.stage == PACE_STAGE_NONE) item.stage = PACE_STAGE_OTHER;
    return PACE_PUSH(&work->items, item);
}

/* `only` = of this device, or NULL = of all. */
static pace_status add_device_items(pace_work *work, classifier *c, const uint32_t *only) {
    const pace_step *step = work->step;
    PACE_ITEMS (const pace_lane, lane, &step->lanes) {
        if (!lane->device || (only && lane->device_id != *only)) continue;
        for (uint32_t task = lane->first; task < lane->first + lane->count; task++)
            if (pace_task_on_device(step->kind[task]))
                PACE_TRY(add_item(work, c, task, step->start_ns[task], pace_step_end_ns(step, task)));
    }
    return PACE_OK;
}

PACE_ORDER(by_start, pace_work_item, PACE_UP(start_ns) PACE_UP(task))

/* Lane by lane they are in order. */
static pace_status sort_items(pace_work_items *items) {
    pace_work_item *scratch = pace_resize(NULL, items->count, sizeof *scratch);
    if (!scratch) return PACE_E_MEMORY;
    pace_sort_runs(items->items, scratch, items->count, sizeof *scratch, by_start);
    pace_free(scratch);
    return PACE_OK;
}

static pace_status make_unions(pace_work *work) {
    PACE_ITEMS (const pace_work_item, item, &work->items) {
        pace_intervals *own = item->class == PACE_WORK_CALL            ? &work->calls
                              : item->class == PACE_WORK_COPY          ? &work->memory
                              : item->class == PACE_WORK_COMMUNICATION ? &work->communication
                                                                       : &work->compute;
        PACE_TRY(pace_intervals_add(own, item->start_ns, item->end_ns));
    }
    return PACE_OK;
}

static size_t first_item_from(const pace_work *work, int64_t start_ns) {
    size_t low = 0;
    PACE_SEARCH(low, work->items.count, middle, work->items.items[middle].start_ns < start_ns);
    return low;
}

int64_t pace_work_busy_within(const pace_work *work, int64_t start_ns, int64_t end_ns) {
    const pace_intervals *const all[] = {&work->compute, &work->communication, &work->memory};
    return pace_intervals_joined(all, 3, start_ns, end_ns);
}

pace_window pace_work_window(const pace_work *work, int64_t start_ns, int64_t end_ns) {
    pace_window window = {.first_ns = start_ns, .last_ns = end_ns, .span_ns = end_ns - start_ns};
    window.busy_ns = pace_work_busy_within(work, start_ns, end_ns);
    window.compute_ns = pace_intervals_within(&work->compute, start_ns, end_ns);
    window.communication_ns = pace_intervals_within(&work->communication, start_ns, end_ns);
    window.memory_ns = pace_intervals_within(&work->memory, start_ns, end_ns);
    window.overlapped_ns = pace_intervals_common(&work->compute, &work->communication, start_ns, end_ns);
    window.exposed_ns = window.communication_ns - window.overlapped_ns;
    window.idle_ns = window.span_ns - window.busy_ns;
    for (size_t i = first_item_from(work, start_ns); i < work->items.count && work->items.items[i].start_ns < end_ns;
         i++)
        window.kernels += work->items.items[i].class < PACE_WORK_COPY;
    return window;
}

static void measure_whole(pace_work *work) {
    if (work->items.count == 0) return;
    int64_t first = work->items.items[0].start_ns, last = first;
    size_t kernels = 0;
    for (size_t i = 0; i < work->items.count; i++) {
        if (work->items.items[i].end_ns > last) last = work->items.items[i].end_ns;
        kernels += work->items.items[i].class < PACE_WORK_COPY;
    }
    work->window = pace_work_window(work, first, last);
    work->window.kernels = kernels;
}

static pace_status build(pace_work *out, const pace_step *step, const pace_kernel_classes *classes,
                         const pace_device *device, const uint32_t *only) {
    pace_work work = {.step = step};
    const size_t *kinds = step->kind_count;
    work.host_is_device = kinds[PACE_TASK_KERNEL] + kinds[PACE_TASK_COPY] + kinds[PACE_TASK_MEMSET] == 0;
    classifier c = {.step = step,
                    .classes = classes,
                    .device = device,
                    .known = pace_alloc(pace_names_count(&step->names), 1)};
    pace_op_cache_init(&c.cache, step);
    pace_status status = c.known ? PACE_OK : PACE_E_MEMORY;
    if (status == PACE_OK)
        status = work.host_is_device ? pace_host_work_add(&work.items, &work.call_ns, step, classes)
                                     : add_device_items(&work, &c, only);
    if (status == PACE_OK) status = sort_items(&work.items);
    if (status == PACE_OK) status = make_unions(&work);
    pace_free(c.known);
    pace_op_cache_free(&c.cache);
    if (status == PACE_OK) measure_whole(&work);
    return PACE_GIVE(out, work, status, pace_work_free(&work));
}

pace_status pace_work_build(pace_work *out, const pace_step *step, const pace_kernel_classes *classes,
                            const pace_device *device) {
    return build(out, step, classes, device, NULL);
}

pace_status pace_work_build_device(pace_work *out, const pace_step *step, const pace_kernel_classes *classes,
                                   const pace_device *device, uint32_t device_id) {
    return build(out, step, classes, device, &device_id);
}
