#include "step/host_operators.h"
#include "base/text.h"
#include "step/op_call.h"

void pace_host_operators_free(pace_host_operators *operators) {
    pace_op_cache_free(&operators->cache);
    PACE_FREE(operators->family, operators->below, operators->self_ns);
    *operators = (pace_host_operators){0};
}

static const char *name_of(const pace_host_operators *h, uint32_t task) { return pace_step_name(h->step, task); }

/* As the table has it; PACE_OP_UNKNOWN also of those that only view. */
static pace_op_family family_of(pace_host_operators *h, uint32_t task) {
    uint8_t *known = &h->family[h->step->name[task]];
    if (*known == 0) {
        pace_op ops[PACE_CALL_OPS];
        pace_op_family family = PACE_OP_UNKNOWN;
        if (!pace_op_is_idle(name_of(h, task))) (void)pace_ops_of_call(ops, &family, name_of(h, task), NULL);
        *known = (uint8_t)(family + 1);
    }
    return (pace_op_family)(*known - 1);
}

static bool is_long(const pace_host_operators *h, uint32_t task) {
    return pace_longer_than_calls((double)h->self_ns[task], (double)h->call_ns) &&
           pace_starts(name_of(h, task), "aten::") && !pace_op_is_idle(name_of(h, task));
}

/* What operators are composed around. */
#define HEAVY (UINT32_C(1) << PACE_OP_GEMM | UINT32_C(1) << PACE_OP_CONVOLUTION | UINT32_C(1) << PACE_OP_ATTENTION)

pace_op_family pace_host_operator_works(pace_host_operators *operators, uint32_t task) {
    if (operators->step->kind[task] != PACE_TASK_OP) return PACE_OP_UNKNOWN;
    pace_op_family family = family_of(operators, task);
    if (family != PACE_OP_UNKNOWN && pace_op_works_itself(family, operators->below[task])) return family;
    bool of_a_kind = family != PACE_OP_UNKNOWN && family != PACE_OP_OTHER;
    uint32_t alike = of_a_kind ? UINT32_C(1) << family : HEAVY;
    if (operators->below[task] & alike || !is_long(operators, task)) return PACE_OP_UNKNOWN;
    return family == PACE_OP_UNKNOWN ? PACE_OP_OTHER : family;
}

bool pace_host_operator_is_tiny(pace_host_operators *operators, uint32_t task) {
    pace_op_amount amount;
    return pace_op_cache_amount(&amount, &operators->cache, operators->step, task) && amount.flop <= PACE_TINY_FLOP &&
           amount.bytes <= PACE_TINY_BYTES;
}

/* Parents stand before their children on a lane, so that backwards all below a task is known when it comes up. */
static void look_below(pace_host_operators *h) {
    for (uint32_t task = (uint32_t)h->step->count; task-- > 0;) {
        uint32_t above = pace_task_parent(h->step, task);
        if (above == PACE_NO_TASK) continue;
        h->below[above] |= h->below[task];
        pace_op_family family = pace_host_operator_works(h, task);
        if (family != PACE_OP_UNKNOWN) h->below[above] |= UINT32_C(1) << family;
    }
}

static pace_status add_self(void *context, uint32_t task, int64_t start_ns, int64_t end_ns) {
    pace_host_operators *h = context;
    h->self_ns[task] += end_ns - start_ns;
    return PACE_OK;
}

pace_status pace_host_operators_find(pace_host_operators *out, const pace_step *step, int64_t call_ns) {
    pace_host_operators h = {.step = step, .call_ns = call_ns};
    pace_op_cache_init(&h.cache, step);
    pace_status status = PACE_MAKE(h.family, pace_names_count(&step->names) + 1) &&
                                 PACE_MAKE(h.below, step->count + 1) && PACE_MAKE(h.self_ns, step->count + 1)
                             ? PACE_OK
                             : PACE_E_MEMORY;
    if (status == PACE_OK) status = pace_self_times(step, NULL, add_self, &h);
    if (status == PACE_OK) look_below(&h);
    return PACE_GIVE(out, h, status, pace_host_operators_free(&h));
}
