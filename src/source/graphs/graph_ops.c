/* What each launch of a measured step computes, moves or exchanges. */
#include "source/traces/collective_names.h"
#include "source/graphs/graph_builder.h"
#include "step/op_call.h"

#include <string.h>

/* --- copies --------------------------------------------------------------------------------------------------- */

static const struct {
    const char *text; /* in the name that CUPTI and roctracer give a copy */
    const char *kind;
} copies[] = {
    {"HtoD (Pinned", "h2d_pinned"},
    {"HtoD (Pageable", "h2d_pageable"},
    {"HtoD", "h2d"},
    {"DtoH (Device -> Pinned", "d2h_pinned"},
    {"DtoH (Device -> Pageable", "d2h_pageable"},
    {"DtoH", "d2h"},
    {"PtoP", "p2p"},
    {"HostToDevice", "h2d"},
    {"DeviceToHost", "d2h"},
};

static double bytes_of(const pace_step *step, uint32_t task) {
    return step->detail[task] ? (double)step->bytes.items[step->detail[task] - 1] : 0;
}

static pace_op copy_op(const pace_step *step, uint32_t task) {
    const char *name = pace_step_name(step, task);
    pace_op op = {.family = PACE_OP_COPY, .precision = PACE_FP32, .element_bytes = 1, .size = {bytes_of(step, task)}};
    for (size_t i = 0; i < PACE_COUNT(copies) && op.family == PACE_OP_COPY; i++) {
        if (!strstr(name, copies[i].text)) continue;
        op.family = PACE_OP_TRANSFER;
        strcpy(op.kind, copies[i].kind);
    }
    if (step->kind[task] == PACE_TASK_MEMSET) strcpy(op.kind, "fill");
    (void)pace_op_complete(&op);
    return op;
}

/* --- exchanges ------------------------------------------------------------------------------------------------ */

/* The kernel says it, or the operators around its call do: old traces have no more than their names. */
static const char *collective_of(const pace_step *step, uint32_t task) {
    const char *found = pace_collective_in(pace_step_name(step, task));
    for (uint32_t host = pace_task_cause(step, task); !*found && host != PACE_NO_TASK;
         host = pace_task_parent(step, host))
        if (step->kind[host] <= PACE_TASK_ANNOTATION) found = pace_collective_in(pace_step_name(step, host));
    return *found ? found : "sendrecv";
}

/* The bytes of the first tensor among the arguments of the operators around the call. */
static double bytes_from_shapes(const pace_graph_builder *b, uint32_t task) {
    const pace_step *step = b->step;
    for (uint32_t host = pace_task_cause(step, task); host != PACE_NO_TASK; host = pace_task_parent(step, host)) {
        pace_op_shapes shapes;
        if (step->kind[host] != PACE_TASK_OP || !step->detail[host]) continue;
        if (!pace_op_shapes_parse(&shapes, pace_names_text(&step->names, step->detail[host]))) continue;
        for (unsigned i = 0; i < shapes.count; i++) {
            double bytes = shapes.element_bytes[i];
            for (unsigned k = 0; k < shapes.rank[i]; k++) bytes *= (double)shapes.dims[i][k];
            if (shapes.rank[i] && bytes > 0) return bytes;
        }
    }
    return 0;
}

static pace_status set_exchange(pace_graph_builder *b, uint32_t number) {
    const pace_step *step = b->step;
    uint32_t task = b->launch_task.items[number];
    pace_graph_exchange exchange = {.peer = -1};
    const char *collective = collective_of(step, task);
    const pace_exchange_info *info = step->kind[task] == PACE_TASK_KERNEL ? pace_step_exchange(step, task) : NULL;
    if (info) {
        const char *said = pace_collective_in(pace_names_text(&step->names, info->collective));
        if (*said) collective = said;
        exchange.group_size = info->group_size;
        exchange.bytes = (double)info->in_elements * pace_torch_dtype_bytes(pace_names_text(&step->names, info->dtype));
        PACE_TRY(pace_graph_rename(&exchange.group, b, info->group));
    }
    if (!(exchange.bytes > 0)) exchange.bytes = bytes_from_shapes(b, task);
    PACE_TRY(pace_names_add(&exchange.collective, &b->graph->names, collective, strlen(collective)));
    return pace_graph_add_exchange(b->graph, number, &exchange);
}

/* --- kernels -------------------------------------------------------------------------------------------------- */

typedef struct {
    pace_graph_builder *b;
    pace_kernel_class *class_of; /* per name of the graph; family NULL = not yet looked up */
    uint32_t *next;              /* launch -> the operator's next kernel */
    uint32_t *first;             /* node -> the operator's first kernel */
    PACE_VEC(pace_op) lookups;   /* in many tables, whose gradients are still to come */
} op_setter;

static pace_kernel_class class_of(op_setter *s, uint32_t number) {
    pace_kernel_class *known = &s->class_of[s->b->graph->launches.items[number].name];
    if (!known->family)
        *known = pace_kernel_classify(s->b->classes,
                                      pace_names_text(&s->b->graph->names, s->b->graph->launches.items[number].name));
    return *known;
}

static pace_op_family family_of(op_setter *s, uint32_t number) {
    pace_op_family family = pace_op_family_find(class_of(s, number).family);
    return family < PACE_OP_FAMILIES ? family : PACE_OP_UNKNOWN;
}

static bool is_tf32(const char *kernel) { return strstr(kernel, "tf32") || strstr(kernel, "_s1688gemm"); }

/* Families whose operations can be cut into parts that cost in proportion. */
static bool divisible(pace_op_family family) {
    return family != PACE_OP_GEMM && family != PACE_OP_CONVOLUTION && family != PACE_OP_ATTENTION &&
           family != PACE_OP_UNKNOWN && family != PACE_OP_SOFTMAX && family != PACE_OP_TRANSPOSE;
}

static void scale(pace_op *op, double share) {
    op->flop *= share;
    op->read_bytes *= share;
    op->write_bytes *= share;
    op->size[0] *= share;
}

static pace_status put(op_setter *s, uint32_t number, pace_op op) {
    pace_launch *launch = &s->b->graph->launches.items[number];
    if (op.element_bytes == 4 && is_tf32(pace_names_text(&s->b->graph->names, launch->name))) op.precision = PACE_TF32;
    return pace_graph_intern_op(&launch->op, s->b->graph, &op);
}

static pace_status put_family_alone(op_setter *s, uint32_t number, const pace_op *like) {
    pace_op op = {.family = family_of(s, number), .precision = like->precision, .element_bytes = like->element_bytes};
    return put(s, number, op);
}

/* An operator's kernels: those of the longest one's family are the operation, cut by duration where that makes sense;
 * the others prepare it or finish it. */
static pace_status share_op(op_setter *s, uint32_t first, const pace_op *op) {
    const pace_launch *launches = s->b->graph->launches.items;
    uint32_t longest = first;
    double total = 0;
    for (uint32_t i = first; i != PACE_NO_LAUNCH; i = s->next[i])
        if (launches[i].duration_ns > launches[longest].duration_ns) longest = i;
    pace_op_family main = family_of(s, longest);
    for (uint32_t i = first; i != PACE_NO_LAUNCH; i = s->next[i])
        if (family_of(s, i) == main) total += (double)launches[i].duration_ns;
    for (uint32_t i = first; i != PACE_NO_LAUNCH; i = s->next[i]) {
        pace_op part = *op;
        bool shares = divisible(op->family) && family_of(s, i) == main && total > 0;
        if (shares) scale(&part, (double)launches[i].duration_ns / total);
        if (shares || i == longest) PACE_TRY(put(s, i, part));
        else PACE_TRY(put_family_alone(s, i, op));
    }
    return PACE_OK;
}

/* --- the two gradients of a convolution --------------------------------------------------------------------------- */

static bool says(const op_setter *s, uint32_t number, bool weight) {
    static const char *const data_words[] = {"dgrad", "bwd_data", "BwdData", "backward_data"};
    static const char *const weight_words[] = {"wgrad", "bwd_weight", "WrW", "wrw", "backward_weight"};
    const char *const *words = weight ? weight_words : data_words;
    size_t count = weight ? sizeof weight_words / sizeof *words : sizeof data_words / sizeof *words;
    const char *name = pace_names_text(&s->b->graph->names, s->b->graph->launches.items[number].name);
    for (size_t i = 0; i < count; i++)
        if (strstr(name, words[i])) return true;
    return false;
}

static bool is_product(op_setter *s, uint32_t number) {
    pace_op_family family = family_of(s, number);
    return family == PACE_OP_CONVOLUTION || family == PACE_OP_GEMM;
}

/* The operator's longest product: one that says it is of this gradient, or (`any`) one that says nothing. */
static uint32_t longest_of(op_setter *s, uint32_t first, bool weight, bool any, uint32_t not_this) {
    const pace_launch *launches = s->b->graph->launches.items;
    uint32_t best = PACE_NO_LAUNCH;
    for (uint32_t i = first; i != PACE_NO_LAUNCH; i = s->next[i]) {
        bool fits = any ? is_product(s, i) && !says(s, i, true) && !says(s, i, false) : says(s, i, weight);
        if (!fits || i == not_this) continue;
        if (best == PACE_NO_LAUNCH || launches[i].duration_ns > launches[best].duration_ns) best = i;
    }
    return best;
}

/* Each gradient is its longest product. Where names do not say which is which, the input's comes first, as PyTorch
 * issues them; a single one is the weight's: the first layer needs no other. */
static pace_status share_gradients(op_setter *s, uint32_t first, const pace_op gradients[2]) {
    uint32_t data = longest_of(s, first, false, false, PACE_NO_LAUNCH);
    uint32_t weight = longest_of(s, first, true, false, PACE_NO_LAUNCH);
    if (weight == PACE_NO_LAUNCH) weight = longest_of(s, first, true, true, data);
    if (data == PACE_NO_LAUNCH) data = longest_of(s, first, false, true, weight);
    bool told = data != PACE_NO_LAUNCH && weight != PACE_NO_LAUNCH && (says(s, data, false) || says(s, weight, true));
    if (!told && data != PACE_NO_LAUNCH && weight != PACE_NO_LAUNCH && weight < data) {
        uint32_t earlier = weight;
        weight = data;
        data = earlier;
    }
    for (uint32_t i = first; i != PACE_NO_LAUNCH; i = s->next[i]) {
        if (i == data || i == weight) PACE_TRY(put(s, i, gradients[i == weight]));
        else PACE_TRY(put_family_alone(s, i, &gradients[0]));
    }
    return PACE_OK;
}

static pace_status set_kernels_of(op_setter *s, uint32_t task) {
    pace_graph_builder *b = s->b;
    const pace_step *step = b->step;
    uint32_t node = pace_graph_number(b, task);
    pace_op_shapes shapes;
    pace_op ops[PACE_CALL_OPS], op = {0};
    const char *text = step->detail[task] ? pace_names_text(&step->names, step->detail[task]) : "";
    bool shaped = pace_op_shapes_parse(&shapes, text);
    unsigned count = pace_ops_of_call(ops, &op.family, pace_step_name(step, task), shaped ? &shapes : NULL);
    if (count == 1 && ops[0].family == PACE_OP_EMBEDDING && strcmp(ops[0].kind, "tables") == 0)
        PACE_TRY(PACE_PUSH(&s->lookups, ops[0]));
    if (count == 0 && s->lookups.count && pace_op_is_lookup_gradient(pace_step_name(step, task))) {
        ops[0] = pace_op_gradient(&s->lookups.items[--s->lookups.count]);
        count = 1;
    }
    if (count == 2) return share_gradients(s, s->first[node], ops);
    if (count == 1) return share_op(s, s->first[node], &ops[0]);
    PACE_TRY(pace_graph_count_unknown(b->graph, b->graph->nodes.items[node].name));
    for (uint32_t i = s->first[node]; i != PACE_NO_LAUNCH; i = s->next[i]) PACE_TRY(put_family_alone(s, i, &op));
    return PACE_OK;
}

/* Launches fall into operators', without an operator, and those that are copies or exchanges. */
static pace_status sort_launches(op_setter *s) {
    pace_graph_builder *b = s->b;
    const pace_step *step = b->step;
    for (uint32_t i = (uint32_t)b->graph->launches.count; i-- > 0;) {
        pace_launch *launch = &b->graph->launches.items[i];
        uint32_t task = b->launch_task.items[i], cause = pace_task_cause(step, task);
        uint32_t op = cause == PACE_NO_TASK ? PACE_NO_TASK : pace_graph_operator(b, cause);
        if (launch->kind != PACE_TASK_KERNEL) {
            pace_op copy = copy_op(step, task);
            PACE_TRY(pace_graph_intern_op(&launch->op, b->graph, &copy));
        } else if (class_of(s, i).communication) {
            continue;
        } else if (op == PACE_NO_TASK) {
            PACE_TRY(put_family_alone(s, i, &(pace_op){.precision = PACE_FP32}));
        } else {
            uint32_t *first = &s->first[pace_graph_number(b, op)];
            s->next[i] = *first;
            *first = i;
        }
    }
    return PACE_OK;
}

static pace_status set_all(op_setter *s) {
    pace_graph_builder *b = s->b;
    PACE_TRY(sort_launches(s));
    for (uint32_t i = 0; i < b->graph->launches.count; i++)
        if (b->graph->launches.items[i].kind == PACE_TASK_KERNEL && class_of(s, i).communication)
            PACE_TRY(set_exchange(b, i));
    for (uint32_t i = 0; i < b->graph->nodes.count; i++) {
        uint32_t task = b->node_task.items[i];
        if (task != PACE_NO_TASK && s->first[i] != PACE_NO_LAUNCH) PACE_TRY(set_kernels_of(s, task));
    }
    return PACE_OK;
}

pace_status pace_graph_set_ops(pace_graph_builder *b) {
    op_setter s = {.b = b};
    pace_status status = PACE_MAKE(s.class_of, pace_names_count(&b->graph->names) + 1) &&
                                 PACE_MAKE(s.next, b->graph->launches.count + 1) &&
                                 PACE_MAKE(s.first, b->graph->nodes.count + 1)
                             ? PACE_OK
                             : PACE_E_MEMORY;
    if (status == PACE_OK) {
        memset(s.first, 0xff, (b->graph->nodes.count + 1) * sizeof *s.first);
        status = set_all(&s);
    }
    PACE_FREE(s.class_of, s.next, s.first);
    PACE_VEC_FREE(&s.lookups);
    return status;
}
