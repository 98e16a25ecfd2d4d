#include "insight/work.h"

#include "base/order.h"
#include "base/sort.h"
#include "cost/roofline.h"
#include "base/text.h"
#include "step/host_operators.h"

#include <string.h>

/* --- where the host is the device --------------------------------------------------------------------------------- */

/*
 * The work of a host that is the device: its operators, by self time, and what of it is the host's own
 * (step/host_operators.h). An operator that works pays for its call first; all else that operators take is calls.
 */

typedef struct {
    pace_work_items *items;
    const pace_step *step;
    const pace_kernel_classes *classes;
    pace_host_operators operators;
    uint8_t *known;   /* name -> pace_work_class + 1 of what the table of operators does not know, 0 = not looked up */
    int64_t *left_ns; /* task -> what of its call is still to be paid; INT64_MAX = all of it is a call */
} host;

/* Exchanges run on threads of their own, in ranges that their library names. */
static bool exchanges(const void *context, uint32_t task) {
    const host *h = context;
    const pace_step *step = h->step;
    return step->kind[task] == PACE_TASK_ANNOTATION &&
           pace_kernel_classify(h->classes, pace_step_name(step, task)).communication;
}

/* Nodes of autograd's graph and the engine that runs them, and requests for exchanges: what they ask for stands below
 * them or on another thread. */
static bool only_asks(const char *name) {
    size_t length = strlen(name);
    bool node = length && name[length - 1] >= '0' && name[length - 1] <= '9';
    return node || pace_starts(name, "autograd::") || pace_starts(name, "torch::autograd::") ||
           pace_starts(name, "c10d::");
}

/* What compilers make works; all else that is no operator of PyTorch's is a call. */
static pace_work_class class_of_operator(const host *h, const char *name) {
    pace_kernel_class class = pace_kernel_classify(h->classes, name);
    if (class.communication) return PACE_WORK_COMMUNICATION;
    if (class.bound == PACE_BOUND_UNKNOWN || pace_starts(name, "aten::") || only_asks(name)) return PACE_WORK_CALL;
    return class.bound == PACE_BOUND_COMPUTE ? PACE_WORK_COMPUTE_BOUND : PACE_WORK_MEMORY_BOUND;
}

static pace_work_class class_of(host *h, uint32_t task) {
    const pace_step *step = h->step;
    pace_name name = step->name[task];
    pace_op_family family = pace_host_operator_works(&h->operators, task);
    if (family == PACE_OP_GEMM || family == PACE_OP_CONVOLUTION || family == PACE_OP_ATTENTION)
        return PACE_WORK_COMPUTE_BOUND;
    if (family != PACE_OP_UNKNOWN) return PACE_WORK_MEMORY_BOUND;
    if (h->known[name] == 0) h->known[name] = (uint8_t)(class_of_operator(h, pace_names_text(&step->names, name)) + 1);
    return (pace_work_class)(h->known[name] - 1);
}

static bool is_call_alone(host *h, uint32_t task) {
    pace_work_class class = class_of(h, task);
    return class == PACE_WORK_CALL ||
           (class != PACE_WORK_COMMUNICATION && pace_host_operator_is_tiny(&h->operators, task));
}

static void set_calls(host *h) {
    for (uint32_t task = 0; task < h->step->count; task++)
        if (h->operators.self_ns[task] > 0)
            h->left_ns[task] = is_call_alone(h, task) ? INT64_MAX : h->operators.call_ns;
}

static pace_status add_piece(host *h, uint32_t task, int64_t start_ns, int64_t end_ns, pace_work_class class) {
    uint8_t stage = h->step->stage[task];
    if (end_ns <= start_ns) return PACE_OK;
    pace_work_item item = {.start_ns = start_ns,
                           .end_ns = end_ns,
                           .task = task,
                           .class = (uint8_t) class,
                           .stage = stage,
                           .wait_until_ns = INT64_MIN};
    if (stage == PACE_STAGE_NONE) item.stage = PACE_STAGE_OTHER;
    return PACE_PUSH(h->items, item);
}

/* The call first, then the work. */
static pace_status add_pieces(void *context, uint32_t task, int64_t start_ns, int64_t end_ns) {
    host *h = context;
    int64_t *left = &h->left_ns[task], called = end_ns - start_ns;
    pace_work_class class = class_of(h, task);
    if (class == PACE_WORK_COMMUNICATION) return add_piece(h, task, start_ns, end_ns, class);
    if (*left < called) called = *left;
    if (*left < INT64_MAX) *left -= called;
    PACE_TRY(add_piece(h, task, start_ns, start_ns + called, PACE_WORK_CALL));
    return add_piece(h, task, start_ns + called, end_ns, class);
}

static pace_status add(host *h) {
    const pace_step *step = h->step;
    PACE_TRY(pace_host_operators_find(&h->operators, step, pace_host_call_ns(h->classes)));
    if (!PACE_MAKE(h->known, pace_names_count(&step->names) + 1) || !PACE_MAKE(h->left_ns, step->count + 1))
        return PACE_E_MEMORY;
    set_calls(h);
    return pace_self_times(step, exchanges, add_pieces, h);
}

/* Adds the items of all host threads, without order; *call_ns is what calling an operator takes. `classes` tells
 * exchanges and compiled code by their names. */
static pace_status host_work_add(pace_work_items *items, int64_t *call_ns, const pace_step *step,
                                 const pace_kernel_classes *classes) {
    host h = {.items = items, .step = step, .classes = classes};
    pace_status status = add(&h);
    *call_ns = h.operators.call_ns;
    pace_host_operators_free(&h.operators);
    PACE_FREE(h.known, h.left_ns);
    return status;
}

/* --- work of a device --------------------------------------------------------------------------------------------- */

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
        status = work.host_is_device ? host_work_add(&work.items, &work.call_ns, step, classes)
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
