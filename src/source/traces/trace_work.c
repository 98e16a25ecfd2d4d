/* Which nodes of an execution trace work on the device, and what they do there. */
#include "source/traces/trace_work.h"
#include "base/index.h"
#include "base/text.h"
#include "source/traces/collective_names.h"
#include "base/order.h"

#include <string.h>

uint32_t pace_trace_find(const pace_trace_nodes *trace, int64_t id) {
    size_t low = 0;
    PACE_SEARCH(low, trace->nodes.count, middle, trace->nodes.items[middle].id < id);
    return low < trace->nodes.count && trace->nodes.items[low].id == id ? (uint32_t)low : PACE_NO_NODE;
}

/* --- where memory lies ----------------------------------------------------------------------------------- */

/* Schema 1.0.0 does not say where a tensor lies. An operator with a device among its arguments makes one there; all
 * others where their first known input is; what nothing is known of is taken to be on the device. */
static uint8_t place_of(const pace_index *places, const pace_trace_tensor *tensor) {
    uint32_t known = tensor->place ? tensor->place : pace_index_get(places, (uint64_t)tensor->storage);
    return known == PACE_NO_NUMBER ? 0 : (uint8_t)known;
}

static pace_status settle_node(pace_index *places, pace_trace_node *node, pace_trace_tensor *tensors) {
    uint8_t place = node->place;
    for (uint32_t k = 0; k < node->inputs; k++) {
        pace_trace_tensor *tensor = &tensors[node->first_tensor + k];
        tensor->place = place_of(places, tensor);
        if (!place) place = tensor->place;
    }
    for (uint32_t k = node->inputs; k < node->inputs + node->outputs; k++) {
        pace_trace_tensor *tensor = &tensors[node->first_tensor + k];
        if (!tensor->place) tensor->place = place;
        if (tensor->place) PACE_TRY(pace_index_set(places, (uint64_t)tensor->storage, tensor->place));
    }
    return PACE_OK;
}

static pace_status settle_places(const pace_trace_nodes *trace) {
    pace_index places = {0}; /* by storage */
    pace_status status = PACE_OK;
    for (size_t i = 0; status == PACE_OK && i < trace->nodes.count; i++)
        status = settle_node(&places, &trace->nodes.items[i], trace->tensors.items);
    pace_index_free(&places);
    return status;
}

/* --- one node ------------------------------------------------------------------------------------------------- */

static const char *name_of(const pace_trace_nodes *trace, uint32_t i) {
    return pace_names_text(&trace->names, trace->nodes.items[i].name);
}

static bool touches(const pace_trace_nodes *trace, const pace_trace_node *node, bool device) {
    for (uint32_t k = 0; k < node->inputs + node->outputs; k++)
        if ((trace->tensors.items[node->first_tensor + k].place != PACE_PLACE_HOST) == device) return true;
    return false;
}

static double bytes_between(const pace_trace_nodes *trace, const pace_trace_node *node, uint32_t from, uint32_t count) {
    double bytes = 0;
    for (uint32_t k = from; k < from + count; k++) {
        const pace_trace_tensor *tensor = &trace->tensors.items[node->first_tensor + k];
        bytes += tensor->elements * tensor->element_bytes;
    }
    return bytes;
}

static pace_op transfer(const char *kind, double bytes) {
    pace_op op = {.family = PACE_OP_TRANSFER, .element_bytes = 1, .precision = PACE_FP32, .size = {bytes}};
    strncpy(op.kind, kind, sizeof op.kind - 1);
    (void)pace_op_complete(&op);
    return op;
}

/* copy_(to, from) between the memories; a read of a number. */
static bool find_transfer(pace_trace_work *work, const pace_trace_nodes *trace, const pace_trace_node *node,
                          const char *name) {
    const pace_trace_tensor *tensors = &trace->tensors.items[node->first_tensor];
    if (strcmp(name, "aten::_local_scalar_dense") == 0 && node->inputs && tensors[0].place != PACE_PLACE_HOST) {
        *work = (pace_trace_work){.count = 1, .waits = true, .ops = {transfer("d2h", tensors[0].element_bytes)}};
        return true;
    }
    if (strcmp(name, "aten::copy_") != 0 || node->inputs < 2 || tensors[0].place == tensors[1].place) return false;
    bool to_host = tensors[0].place == PACE_PLACE_HOST;
    double bytes = tensors[1].elements * tensors[1].element_bytes;
    *work = (pace_trace_work){.count = 1, .waits = to_host, .ops = {transfer(to_host ? "d2h" : "h2d", bytes)}};
    return true;
}

/* An operator of which only the tensors are known: it moves them at least once. */
static void guess(pace_trace_work *work, const pace_trace_nodes *trace, const pace_trace_node *node,
                  pace_op_family family) {
    pace_op *op = &work->ops[0];
    work->count = 1;
    work->unknown = true;
    *op = (pace_op){.family = family, .precision = PACE_FP32};
    op->element_bytes = node->inputs ? trace->tensors.items[node->first_tensor].element_bytes : 4;
    op->read_bytes = bytes_between(trace, node, 0, node->inputs);
    op->write_bytes = bytes_between(trace, node, node->inputs, node->outputs);
    op->size[0] = (op->read_bytes + op->write_bytes) / op->element_bytes;
    if (!(op->size[0] > 0)) *op = (pace_op){.family = family};
}

static void find_kernels(pace_trace_work *work, const pace_trace_nodes *trace, const pace_trace_node *node,
                         const char *name) {
    pace_op_shapes shapes;
    bool shaped = node->shapes && pace_op_shapes_parse(&shapes, pace_names_text(&trace->names, node->shapes));
    pace_op_family family;
    work->count = pace_ops_of_call(work->ops, &family, name, shaped ? &shapes : NULL);
    /* PyTorch lets cuDNN compute in TF32 unless told otherwise (torch.backends.cudnn.allow_tf32), cuBLAS not. */
    for (unsigned i = 0; i < work->count; i++)
        if (work->ops[i].family == PACE_OP_CONVOLUTION && work->ops[i].element_bytes == 4)
            work->ops[i].precision = PACE_TF32;
    if (work->count == 0 && (node->has_schema || node->triton || family != PACE_OP_UNKNOWN))
        guess(work, trace, node, node->triton ? PACE_OP_ELEMENTWISE : family);
}

/* Profilers record a collective as record_param_comms, around NCCL's own range in old traces. */
static bool is_record(const char *name) { return strcmp(name, "record_param_comms") == 0; }

static bool is_wait(const pace_trace_nodes *trace, const pace_trace_node *node) {
    return strcmp(pace_names_text(&trace->names, node->collective), "wait") == 0;
}

static bool find_exchange(pace_trace_work *work, const pace_trace_nodes *trace, uint32_t i) {
    const pace_trace_node *node = &trace->nodes.items[i];
    const char *name = name_of(trace, i);
    uint32_t above = pace_trace_find(trace, node->parent);
    bool record = is_record(name), range = pace_starts(name, "nccl:");
    if (!record && !range) return false;
    bool named = above != PACE_NO_NODE && is_record(name_of(trace, above)) && trace->nodes.items[above].collective;
    if (range && named) return true;
    const char *said = record ? pace_names_text(&trace->names, node->collective) : name + 5;
    const char *collective = pace_collective_in(said);
    if (!*collective || is_wait(trace, node)) return true;
    work->exchange = true;
    work->count = 1;
    work->collective = collective;
    work->exchange_bytes = bytes_between(trace, node, 0, node->inputs);
    return true;
}

/* --- all nodes ---------------------------------------------------------------------------------------------------- */

static void find_work(pace_trace_work *work, const pace_trace_nodes *trace, uint32_t i, uint32_t below) {
    const pace_trace_node *node = &trace->nodes.items[i];
    const char *name = name_of(trace, i);
    pace_trace_work found = {0};
    if (find_exchange(&found, trace, i)) {
        *work = found;
        return;
    }
    bool of_device = touches(trace, node, true) || node->triton;
    if (!of_device) return;
    if (!find_transfer(&found, trace, node, name) && !pace_op_is_idle(name)) find_kernels(&found, trace, node, name);
    if (found.count && pace_op_works_itself(found.ops[0].family, below)) *work = found;
}

/* A look-up's gradient has the sizes of the look-up: autograd takes them from the last to the first. */
static pace_status find_lookup_gradients(pace_trace_work *works, const pace_trace_nodes *trace) {
    PACE_VEC(pace_op) lookups = {0};
    pace_status status = PACE_OK;
    for (uint32_t i = 0; status == PACE_OK && i < trace->nodes.count; i++) {
        pace_trace_work *work = &works[i];
        const pace_op *op = &work->ops[0];
        bool lookup = work->count == 1 && op->family == PACE_OP_EMBEDDING && strcmp(op->kind, "tables") == 0;
        if (lookup) status = PACE_PUSH(&lookups, *op);
        else if (lookups.count && pace_op_is_lookup_gradient(name_of(trace, i)))
            *work = (pace_trace_work){.count = 1, .ops = {pace_op_gradient(&lookups.items[--lookups.count])}};
    }
    PACE_VEC_FREE(&lookups);
    return status;
}

pace_status pace_trace_works_find(pace_trace_works *out, const pace_trace_nodes *trace) {
    PACE_TRY(settle_places(trace));
    size_t count = trace->nodes.count;
    pace_trace_work *works = pace_alloc(count, sizeof *works);
    uint32_t *below = pace_alloc(count, sizeof *below); /* families of what the nodes below do, a bit each */
    if (!works || !below) {
        PACE_FREE(works, below);
        return PACE_E_MEMORY;
    }
    for (uint32_t i = (uint32_t)count; i-- > 0;) {
        find_work(&works[i], trace, i, below[i]);
        uint32_t above = pace_trace_find(trace, trace->nodes.items[i].parent);
        if (above == PACE_NO_NODE || above == i) continue;
        below[above] |= below[i];
        if (works[i].count)
            below[above] |= UINT32_C(1) << (works[i].exchange ? PACE_OP_FAMILIES : works[i].ops[0].family);
    }
    pace_free(below);
    pace_status status = find_lookup_gradients(works, trace);
    if (status != PACE_OK) {
        pace_free(works);
        return status;
    }
    out->items = works;
    out->count = out->capacity = count;
    return PACE_OK;
}

void pace_trace_works_free(pace_trace_works *works) { PACE_VEC_FREE(works); }
