#include "model/emit.h"

#include <stdio.h>
#include <string.h>

/* A step of a million launches takes seconds to issue: what is larger is a slip in the configuration. */
enum { MAX_LAUNCHES = 1 << 20 };

const pace_layer_range *pace_lower_part_of(const pace_lowering *to, uint32_t chunk) {
    pace_pipeline pipeline = pace_config_pipeline(to->config);
    return &to->cut.parts[pace_pipeline_part(&pipeline, to->own_stage, chunk)];
}

static size_t place_of(const char *text) { return ((uintptr_t)text >> 3) % PACE_EMIT_NAMES; }

pace_name pace_emit_name(pace_lowering *to, const char *text) {
    pace_names *names = &to->graph->names;
    size_t at = place_of(text);
    pace_name name = to->names.name[at];
    if (to->status != PACE_OK) return 0;
    if (to->names.text[at] == text && strcmp(pace_names_text(names, name), text) == 0) return name;
    to->status = pace_names_add(&name, names, text, strlen(text));
    if (to->status == PACE_OK) to->names.text[at] = text, to->names.name[at] = name;
    return to->status == PACE_OK ? name : 0;
}

static const char autograd[] = "autograd::engine::evaluate_function: ";

/* What autograd calls around a backward function. */
static pace_name name_around(pace_lowering *to, const char *function) {
    const pace_names *names = &to->graph->names;
    char text[96];
    size_t at = place_of(function), length = sizeof autograd - 1;
    pace_name name = to->around.name[at];
    if (to->around.text[at] == function && strcmp(pace_names_text(names, name) + length, function) == 0) return name;
    snprintf(text, sizeof text, "%s%s", autograd, function);
    name = pace_emit_name(to, text);
    if (to->status == PACE_OK) to->around.text[at] = function, to->around.name[at] = name;
    return name;
}

/* The first so many characters of a text. */
static pace_name name_before(pace_lowering *to, const char *text, size_t length) {
    pace_names *names = &to->graph->names;
    size_t at = place_of(text);
    pace_name name = to->outer.name[at];
    const char *known = to->outer.text[at] == text ? pace_names_text(names, name) : NULL;
    if (to->status != PACE_OK) return 0;
    if (known && strncmp(known, text, length) == 0 && known[length] == '\0') return name;
    to->status = pace_names_add(&name, names, text, length);
    if (to->status != PACE_OK) return 0;
    to->outer.text[at] = text, to->outer.name[at] = name;
    return name;
}

static void add_node(pace_lowering *to, pace_task_kind kind, pace_name name) {
    uint32_t parent = to->depth ? to->open[to->depth - 1] : PACE_NO_NODE, number = 0;
    if (to->status != PACE_OK) return;
    if (to->depth >= PACE_EMIT_DEPTH) {
        to->status = pace_fail(PACE_E_INTERNAL, "lowering opens more than %d operators", PACE_EMIT_DEPTH);
        return;
    }
    to->status = pace_graph_add_named_node(&number, to->graph, kind, name, parent, to->thread);
    if (to->status != PACE_OK) return;
    pace_graph_node *node = &to->graph->nodes.items[number];
    node->stage = (uint8_t)to->stage;
    node->module = to->module;
    node->after = to->after;
    to->after = PACE_NO_NODE;
    to->left_out[to->thread] = false;
    to->open[to->depth] = to->last_node[to->thread] = number;
}

/* An operator within one that is open, and for whose name nobody asks. */
static bool is_left_out(const pace_lowering *to) {
    if (!to->outermost || to->depth == 0 || to->depth >= PACE_EMIT_DEPTH || to->status != PACE_OK) return false;
    return to->graph->nodes.items[to->open[to->depth - 1]].kind == PACE_TASK_OP;
}

/* Whether an operator that opens is a node of the graph. */
static bool is_node(pace_lowering *to) {
    if (to->region != PACE_NO_NODE) return false;
    if (!is_left_out(to)) return true;
    to->graph->nodes.items[to->open[to->depth - 1]].outermost = true;
    to->open[to->depth] = to->open[to->depth - 1];
    to->left_out[to->thread] = true;
    return false;
}

void pace_emit_open(pace_lowering *to, const char *name) {
    if (is_node(to)) add_node(to, PACE_TASK_OP, pace_emit_name(to, name));
    to->depth++;
}

void pace_emit_annotation(pace_lowering *to, const char *name) {
    add_node(to, PACE_TASK_ANNOTATION, pace_emit_name(to, name));
    to->depth++;
}

void pace_emit_close(pace_lowering *to) { to->depth--; }

void pace_emit_await(pace_lowering *to) {
    uint32_t node = to->last_node[to->thread];
    if (to->status == PACE_OK) to->graph->nodes.items[node].waits_launch = to->last_launch;
}

void pace_emit_host(pace_lowering *to, const char *name) {
    pace_emit_open(to, name);
    pace_emit_close(to);
}

void pace_emit_op(pace_lowering *to, const char *names, pace_op op) {
    static const char within[] = " > ";
    const char *end = strstr(names, within);
    if (is_node(to))
        add_node(to, PACE_TASK_OP, end ? name_before(to, names, (size_t)(end - names)) : pace_emit_name(to, names));
    to->depth++;
    if (end) pace_emit_op(to, end + sizeof within - 1, op);
    else pace_emit_launch(to, op);
    pace_emit_close(to);
}

void pace_emit_sized_op(pace_lowering *to, pace_samples samples, const char *names, pace_op op) {
    to->samples = (uint8_t)samples;
    pace_emit_op(to, names, op);
    to->samples = PACE_SAMPLES_UNKNOWN;
}

void pace_emit_sized_launch(pace_lowering *to, pace_samples samples, pace_op op) {
    to->samples = (uint8_t)samples;
    pace_emit_launch(to, op);
    to->samples = PACE_SAMPLES_UNKNOWN;
}

void pace_emit_sized_backward_op(pace_lowering *to, pace_samples samples, const char *function, const char *names,
                                 pace_op op) {
    pace_emit_open_backward(to, function);
    pace_emit_sized_op(to, samples, names, op);
    pace_emit_close_backward(to);
}

void pace_emit_backward_op(pace_lowering *to, const char *function, const char *names, pace_op op) {
    pace_emit_open_backward(to, function);
    pace_emit_op(to, names, op);
    pace_emit_close_backward(to);
}

void pace_emit_open_backward(pace_lowering *to, const char *name) {
    if (is_node(to)) add_node(to, PACE_TASK_OP, name_around(to, name));
    to->depth++;
    pace_emit_open(to, name);
}

void pace_emit_close_backward(pace_lowering *to) {
    pace_emit_close(to);
    pace_emit_close(to);
}

void pace_emit_backward_view(pace_lowering *to, const char *name) {
    pace_emit_open_backward(to, name);
    pace_emit_close_backward(to);
}

static uint32_t add_launch(pace_lowering *to, const pace_op *op, uint32_t stream) {
    uint32_t number = PACE_NO_LAUNCH;
    uint32_t node = to->region != PACE_NO_NODE ? to->region : to->depth ? to->open[to->depth - 1] : PACE_NO_NODE;
    bool copy = op && op->family == PACE_OP_TRANSFER;
    if (to->status == PACE_OK && to->graph->launches.count >= MAX_LAUNCHES)
        to->status =
            pace_fail(PACE_E_LIMIT,
                      "%s: expected a step of at most %d launches, found more: fewer micro-batches, layers or tokens",
                      pace_names_text(&to->model->names, to->model->name), MAX_LAUNCHES);
    if (to->status == PACE_OK)
        to->status =
            pace_graph_add_launch(&number, to->graph, node, copy ? PACE_TASK_COPY : PACE_TASK_KERNEL, op, stream);
    if (to->status != PACE_OK) return PACE_NO_LAUNCH;
    pace_launch *launch = &to->graph->launches.items[number];
    launch->call = to->call;
    launch->adapts = to->adapts;
    launch->samples = to->samples ? to->samples : PACE_SAMPLES_FIRST;
    launch->same_call = to->call && to->captured++ > 0;
    if (copy && !to->call) launch->call = pace_emit_name(to, "cudaMemcpyAsync");
    if (to->dispatches && !to->call) launch->call = pace_emit_name(to, "dispatch");
    to->dispatches = false;
    return number;
}

static void issue(pace_lowering *to, const pace_op *op) {
    uint32_t number = add_launch(to, op, 0);
    if (number == PACE_NO_LAUNCH) return;
    to->graph->launches.items[number].waits[0] = to->await_exchange;
    uint32_t *other = to->await_pull != PACE_NO_LAUNCH ? &to->await_pull : &to->await_copy;
    to->graph->launches.items[number].waits[1] = *other;
    to->await_exchange = *other = PACE_NO_LAUNCH;
    to->last_launch = number;
    to->computes++;
}

static bool is_fusible(const pace_lowering *to, const pace_op *op) {
    switch (op->family) {
    case PACE_OP_NORMALIZATION: return !to->config->fuses_norms;
    case PACE_OP_ELEMENTWISE:
    case PACE_OP_SOFTMAX:
    case PACE_OP_REDUCTION:
    case PACE_OP_COPY:
    case PACE_OP_LOSS: return true;
    default: return false;
    }
}

static double elements_of(const pace_op *op) {
    bool rows = op->family != PACE_OP_ELEMENTWISE && op->family != PACE_OP_COPY;
    return rows ? op->size[0] * op->size[1] : op->size[0];
}

void pace_emit_flush(pace_lowering *to) {
    pace_op *op = &to->fused;
    if (to->fused_count > 1) { /* read and written tensors as multiples of the largest: the amounts follow again */
        double tensor_bytes = op->size[0] * op->element_bytes;
        op->size[1] = op->read_bytes / tensor_bytes;
        op->size[2] = op->write_bytes / tensor_bytes;
    }
    uint8_t next = to->samples;
    to->samples = PACE_SAMPLES_FIRST;
    if (to->fused_count > 0) issue(to, op);
    to->samples = next;
    to->fused_count = 0;
}

/* What the operation before wrote is not read again; it is written only when something else needs it. */
static void fuse(pace_lowering *to, const pace_op *op) {
    pace_op *fused = &to->fused;
    double handed = op->read_bytes < to->fused_last_bytes ? op->read_bytes : to->fused_last_bytes;
    if (to->fused_count == 0) {
        *fused = *op;
    } else {
        double elements = elements_of(op), before = elements_of(fused);
        double flop = fused->flop + op->flop, reads = fused->read_bytes + op->read_bytes - handed;
        double writes = fused->write_bytes + op->write_bytes - (to->keeps ? 0 : to->fused_last_bytes);
        int bytes = fused->element_bytes > op->element_bytes ? fused->element_bytes : op->element_bytes;
        *fused = (pace_op){.family = PACE_OP_ELEMENTWISE,
                           .precision = fused->precision,
                           .element_bytes = bytes,
                           .kind = "fused",
                           .size = {elements > before ? elements : before},
                           .flop = flop,
                           .read_bytes = reads,
                           .write_bytes = writes};
    }
    to->fused_last_bytes = op->write_bytes;
    to->fused_count++;
}

void pace_emit_launch(pace_lowering *to, pace_op op) {
    bool compiled = to->region != PACE_NO_NODE && to->config->execution == PACE_COMPILED;
    if (to->status != PACE_OK) return;
    bool of_parameters = to->samples == PACE_SAMPLES_NONE; /* kept or copied by others than who compiles */
    if (compiled && is_fusible(to, &op) && !of_parameters) {
        fuse(to, &op);
        return;
    }
    if (!of_parameters) pace_emit_flush(to);
    issue(to, &op);
}

/* Communicators have streams of their own; messages between stages, and copies of activations, one for each
 * direction. */
enum { BESIDE = 1, BETWEEN = 2, MESSAGES = 3, WAYS = 4, COPIES = MESSAGES + 2 * WAYS };

/* Groups of the stages of a pipeline are different ones. */
static pace_name group_name(pace_lowering *to, pace_group_kind group) {
    char name[48];
    if (to->groups[group]) return to->groups[group];
    if (to->config->pp < 2) return to->groups[group] = pace_emit_name(to, pace_group_names[group]);
    snprintf(name, sizeof name, "%.16s of stage %u", pace_group_names[group], to->own_stage);
    return to->groups[group] = pace_emit_name(to, name);
}

/* Behind what stream 0 was given so far, and what it waits for. */
static uint32_t launch_on(pace_lowering *to, const pace_graph_exchange *exchange, uint32_t stream) {
    uint32_t number = add_launch(to, NULL, stream);
    if (number == PACE_NO_LAUNCH) return number;
    to->status = pace_graph_add_exchange(to->graph, number, exchange);
    pace_launch *launch = &to->graph->launches.items[number];
    launch->waits[0] = to->last_launch;
    bool other = to->await_exchange != PACE_NO_LAUNCH && to->graph->launches.items[to->await_exchange].stream != stream;
    if (other && to->config->pp > 1) launch->waits[1] = to->await_exchange;
    return number;
}

static pace_graph_exchange exchange_of(pace_lowering *to, const char *collective, pace_group_kind group,
                                       pace_exchange_role role, double bytes) {
    return (pace_graph_exchange){.collective = pace_emit_name(to, collective),
                                 .group = group_name(to, group),
                                 .group_size = (int64_t)pace_config_group_size(to->config, group),
                                 .group_stride = pace_config_stride(to->config, group),
                                 .peer = -1,
                                 .bytes = bytes,
                                 .group_kind = (uint8_t)group,
                                 .role = (uint8_t)role};
}

static uint32_t call_exchange(pace_lowering *to, const char *collective, const pace_graph_exchange *exchange,
                              uint32_t stream) {
    char name[48];
    pace_emit_flush(to);
    snprintf(name, sizeof name, "c10d::%.32s_", collective);
    pace_emit_open(to, name);
    uint32_t number = launch_on(to, exchange, stream);
    pace_emit_close(to);
    return number;
}

void pace_emit_exchange(pace_lowering *to, const char *collective, pace_group_kind group, double bytes) {
    pace_graph_exchange exchange = exchange_of(to, collective, group, PACE_ROLE_ACTIVATION, bytes);
    uint32_t number = call_exchange(to, collective, &exchange, BETWEEN);
    if (number != PACE_NO_LAUNCH) to->await_exchange = number;
}

void pace_emit_tokens(pace_lowering *to, double bytes, double copies, double nodes) {
    pace_graph_exchange exchange = exchange_of(to, "alltoall", PACE_GROUP_EXPERT, PACE_ROLE_ACTIVATION, bytes);
    exchange.routed_nodes = nodes;
    exchange.routed_copies = copies;
    uint32_t number = call_exchange(to, "alltoall", &exchange, BETWEEN);
    if (number != PACE_NO_LAUNCH) to->await_exchange = number;
}

void pace_emit_gradients(pace_lowering *to, const char *collective, pace_group_kind group, double bytes) {
    pace_graph_exchange exchange = exchange_of(to, collective, group, PACE_ROLE_GRADIENT, bytes);
    uint32_t number = call_exchange(to, collective, &exchange, BESIDE);
    if (number != PACE_NO_LAUNCH) to->last_exchange = number;
}

uint32_t pace_emit_gather(pace_lowering *to, pace_group_kind group, double bytes) {
    pace_graph_exchange exchange = exchange_of(to, "allgather", group, PACE_ROLE_GATHER, bytes);
    return call_exchange(to, "allgather", &exchange, BESIDE);
}

void pace_emit_message(pace_lowering *to, const pace_stage_message *message) {
    const char *collective = message->sends ? "send" : "recv";
    pace_graph_exchange exchange =
        exchange_of(to, collective, PACE_GROUP_PIPELINE, PACE_ROLE_ACTIVATION, message->bytes);
    exchange.group = pace_emit_name(to, message->gradients ? "pp, gradients" : "pp, activations");
    exchange.group_size = 2;
    exchange.peer = message->peer;
    uint32_t side = pace_schedule_is_v(to->config->schedule) ? to->turn.chunk : 0; /* its messages go the other way */
    uint32_t stream = MESSAGES + WAYS * side + 2u * message->gradients + (message->sends ? 1u : 0u);
    uint32_t number = call_exchange(to, collective, &exchange, stream);
    if (number != PACE_NO_LAUNCH && !message->sends) to->await_exchange = number;
}

void pace_emit_tied_gradients(pace_lowering *to, double bytes) {
    pace_graph_exchange exchange = exchange_of(to, "allreduce", PACE_GROUP_PIPELINE, PACE_ROLE_ACTIVATION, bytes);
    exchange.group = pace_emit_name(to, "pp, tied");
    exchange.group_size = 2;
    exchange.group_stride *= (int64_t)to->config->pp - 1;
    uint32_t number = call_exchange(to, "allreduce", &exchange, BETWEEN);
    if (number != PACE_NO_LAUNCH) to->await_exchange = number;
}

uint32_t pace_emit_copy_beside(pace_lowering *to, const char *name, const char *kind, double bytes) {
    const pace_op op = pace_emit_transfer(kind, bytes);
    pace_emit_flush(to);
    pace_emit_open(to, name);
    uint32_t number = add_launch(to, &op, COPIES + (*kind == 'h'));
    if (number != PACE_NO_LAUNCH) to->graph->launches.items[number].waits[0] = to->last_launch;
    pace_emit_close(to);
    return number;
}

uint32_t pace_emit_pull(pace_lowering *to, double bytes) {
    pace_graph_exchange exchange = exchange_of(to, "pull", PACE_GROUP_DATA, PACE_ROLE_PULL, bytes);
    return launch_on(to, &exchange, BESIDE);
}

/* ---- operations ---- */

static pace_precision precision_of(const pace_lowering *to, int bytes) {
    if (bytes != 2) return PACE_FP32;
    pace_precision matrix = pace_config_matrix_precision(to->config);
    return matrix == PACE_FP16 ? PACE_FP16 : PACE_BF16;
}

static pace_op finish(pace_op op) {
    pace_op_complete(&op);
    return op;
}

static void set_kind(pace_op *op, const char *kind) {
    size_t length = strlen(kind);
    memcpy(op->kind, kind, length < sizeof op->kind ? length : sizeof op->kind - 1);
}

pace_op pace_emit_gemm(const pace_lowering *to, double b, double m, double n, double k, int bytes) {
    pace_op op = {.family = PACE_OP_GEMM,
                  .precision = bytes == 2 ? precision_of(to, 2) : pace_config_matrix_precision(to->config),
                  .element_bytes = bytes,
                  .size = {b, m, n, k}};
    if (pace_config_scales_blocks(to->config)) set_kind(&op, pace_block_scaled);
    return finish(op);
}

pace_op pace_emit_linear(const pace_lowering *to, pace_pass pass, double m, double n, double k, int bytes) {
    pace_op op = pace_emit_gemm(to, 1, m, n, k, bytes);
    op.pass = pass;
    if (to->config->weights == PACE_WEIGHTS_PACKED && !*op.kind) set_kind(&op, pace_packed_weights);
    else op = pace_op_plain_product(&op);
    return finish(op);
}

pace_op pace_emit_in_segment(const pace_lowering *to, const pace_layer *layer, pace_op op) {
    if (!pace_config_is_fp8(to->config) || layer->segment == 0) return op;
    op.precision = PACE_FP8;
    return op;
}

pace_op pace_emit_elementwise(const pace_lowering *to, const char *kind, double elements, double inputs, double outputs,
                              int bytes) {
    pace_op op = {.family = PACE_OP_ELEMENTWISE,
                  .precision = precision_of(to, bytes),
                  .element_bytes = bytes,
                  .size = {elements, inputs, outputs}};
    set_kind(&op, kind);
    return finish(op);
}

pace_op pace_emit_rows(const pace_lowering *to, pace_op_family family, const char *kind, pace_pass pass, double rows,
                       double columns, int bytes) {
    pace_op op = {.family = family,
                  .pass = pass,
                  .precision = precision_of(to, bytes),
                  .element_bytes = bytes,
                  .size = {rows, columns}};
    set_kind(&op, kind);
    return finish(op);
}

pace_op pace_emit_sums(const pace_lowering *to, double rows, double columns, int bytes) {
    return pace_emit_rows(to, PACE_OP_REDUCTION, "sum", PACE_PASS_FORWARD, rows, columns, bytes);
}

pace_op pace_emit_copy(const pace_lowering *to, const char *kind, double elements, int bytes) {
    pace_op op = {.family = PACE_OP_COPY,
                  .precision = precision_of(to, bytes),
                  .element_bytes = bytes,
                  .size = {elements}};
    set_kind(&op, kind);
    return finish(op);
}

pace_op pace_emit_cast(const pace_lowering *to, double elements, int from_bytes, int to_bytes) {
    pace_op op = pace_emit_copy(to, "cast", elements, from_bytes);
    op.write_bytes = elements * to_bytes;
    return op;
}

pace_op pace_emit_written_as(pace_op op, int bytes) {
    op.write_bytes *= (double)bytes / op.element_bytes;
    return op;
}

pace_op pace_emit_transfer(const char *kind, double bytes) {
    pace_op op = {.family = PACE_OP_TRANSFER, .precision = PACE_FP32, .element_bytes = 1, .size = {bytes}};
    set_kind(&op, kind);
    return finish(op);
}
