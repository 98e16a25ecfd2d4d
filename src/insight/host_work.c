#include "insight/host_work.h"

#include "base/text.h"
#include "step/host_operators.h"

#include <string.h>

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
static pace_work_class class_of_name(const host *h, const char *name) {
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
    if (h->known[name] == 0) h->known[name] = (uint8_t)(class_of_name(h, pace_names_text(&step->names, name)) + 1);
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

static pace_status add_item(host *h, uint32_t task, int64_t start_ns, int64_t end_ns, pace_work_class class) {
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
static pace_status add_items(void *context, uint32_t task, int64_t start_ns, int64_t end_ns) {
    host *h = context;
    int64_t *left = &h->left_ns[task], called = end_ns - start_ns;
    pace_work_class class = class_of(h, task);
    if (class == PACE_WORK_COMMUNICATION) return add_item(h, task, start_ns, end_ns, class);
    if (*left < called) called = *left;
    if (*left < INT64_MAX) *left -= called;
    PACE_TRY(add_item(h, task, start_ns, start_ns + called, PACE_WORK_CALL));
    return add_item(h, task, start_ns + called, end_ns, class);
}

static pace_status add(host *h) {
    const pace_step *step = h->step;
    PACE_TRY(pace_host_operators_find(&h->operators, step, pace_host_call_ns(h->classes)));
    if (!PACE_MAKE(h->known, pace_names_count(&step->names) + 1) || !PACE_MAKE(h->left_ns, step->count + 1))
        return PACE_E_MEMORY;
    set_calls(h);
    return pace_self_times(step, exchanges, add_items, h);
}

pace_status pace_host_work_add(pace_work_items *items, int64_t *call_ns, const pace_step *step,
                               const pace_kernel_classes *classes) {
    host h = {.items = items, .step = step, .classes = classes};
    pace_status status = add(&h);
    *call_ns = h.operators.call_ns;
    pace_host_operators_free(&h.operators);
    PACE_FREE(h.known, h.left_ns);
    return status;
}
