/*
 * Module: layers of networks by oneDNN 2 (Debian package libdnnl-dev). Each layer lies as oneDNN's primitives want it;
 * where two want it otherwise, a copy goes between, in the pass of the one that comes later.
 */
#include "net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const layer_plan plans[PACE_LAYER_KINDS] = {
    [PACE_LAYER_INPUT] = {forward_input, NULL},
    [PACE_LAYER_CONVOLUTION] = {forward_convolution, backward_convolution},
    [PACE_LAYER_LINEAR] = {forward_linear, backward_linear},
    [PACE_LAYER_BATCH_NORM] = {forward_batch_norm, backward_batch_norm},
    [PACE_LAYER_LAYER_NORM] = {forward_layer_norm, backward_layer_norm},
    [PACE_LAYER_LOCAL_NORM] = {forward_local_norm, backward_local_norm},
    [PACE_LAYER_ACTIVATION] = {forward_activation, backward_activation},
    [PACE_LAYER_DROPOUT] = {forward_dropout, backward_dropout},
    [PACE_LAYER_MAX_POOL] = {forward_max_pool, backward_pool},
    [PACE_LAYER_AVERAGE_POOL] = {forward_average_pool, backward_pool},
    [PACE_LAYER_ADAPTIVE_POOL] = {forward_adaptive_pool, backward_pool},
    [PACE_LAYER_FLATTEN] = {forward_flatten, backward_flatten},
    [PACE_LAYER_EMBEDDING] = {forward_embedding, backward_embedding},
    [PACE_LAYER_POSITIONS] = {forward_positions, backward_positions},
    [PACE_LAYER_EMBEDDING_BAG] = {forward_embedding_bag, backward_embedding_bag},
    [PACE_LAYER_INTERACTION] = {forward_interaction, backward_interaction},
    [PACE_LAYER_ATTENTION] = {forward_attention, backward_attention},
    [PACE_LAYER_SELECT] = {forward_select, backward_select},
    [PACE_LAYER_ADD] = {forward_add, backward_add},
    [PACE_LAYER_MULTIPLY] = {forward_multiply, backward_multiply},
    [PACE_LAYER_CONCAT] = {forward_concat, backward_concat},
    [PACE_LAYER_LOSS] = {forward_loss, backward_loss},
};

/* --- planning ----------------------------------------------------------------------------------------------------- */

static void describe_node(net *n, uint32_t index) {
    node *of = &n->nodes[index];
    const pace_layer *layer = &n->of->layers[index];
    const pace_shape *shape = &layer->shape;
    of->layer = layer;
    of->index = index;
    of->input_count = layer->input_count;
    of->rows = n->batch * (shape->sequence ? n->sequence : 1) * (size_t)(shape->height * shape->width);
    of->columns = (size_t)shape->channels;
    of->needs_gradient = layer->parameters > 0;
    if (of->input_count > MOST_INPUTS) net_refuse(n, of, "it has more than 64 inputs");
    for (size_t i = 0; i < of->input_count && !n->failed; i++) {
        node *in = &n->nodes[n->of->inputs[layer->first_input + i]];
        of->inputs[i] = in;
        if (!in->uses++) in->first_use = index;
        of->needs_gradient = of->needs_gradient || in->needs_gradient;
    }
}

static void plan_forward(net *n) {
    for (uint32_t i = 0; i < n->node_count && !n->failed; i++) {
        node *of = &n->nodes[i];
        const layer_plan *plan = &plans[of->layer->kind];
        if (!plan->forward) net_refuse(n, of, "the trainer has no such layer");
        else plan->forward(n, of);
    }
    if (!n->failed && !n->loss_node) net_fail(n, PACE_ENGINE_REFUSED, "the model has no loss to train by");
}

static void plan_backward(net *n) {
    for (size_t i = n->node_count; i-- && !n->failed;) {
        node *of = &n->nodes[i];
        const layer_plan *plan = &plans[of->layer->kind];
        if (!plan->backward || !of->needs_gradient || (!of->gradient && of != n->loss_node)) continue;
        plan->backward(n, of);
        if (of->gradient) tensor_done(n, of->gradient);
    }
}

static void plan_net(net *n) {
    for (uint32_t i = 0; i < n->node_count && !n->failed; i++) describe_node(n, i);
    plan_forward(n);
    plan_backward(n);
}

/* --- the engine --------------------------------------------------------------------------------------------------- */

static void close_actions(actions *list) {
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].primitive) dnnl_primitive_destroy(list->items[i].primitive);
    free(list->items);
}

static void close_net(void *opened) {
    net *n = opened;
    for (size_t i = 0; n->nodes && i < n->node_count; i++) {
        for (int pass = 0; pass < PACE_ENGINE_PASSES; pass++) close_actions(&n->nodes[i].pass[pass]);
        if (n->nodes[i].forward) dnnl_primitive_desc_destroy(n->nodes[i].forward);
        if (n->nodes[i].forward_more) dnnl_primitive_desc_destroy(n->nodes[i].forward_more);
    }
    for (size_t i = 0; i < n->tensor_count; i++) {
        if (n->tensors[i] && n->tensors[i]->memory) dnnl_memory_destroy(n->tensors[i]->memory);
        free(n->tensors[i]);
    }
    for (size_t i = 0; i < n->slot_count; i++) free(n->slots[i].data);
    if (n->stream) dnnl_stream_destroy(n->stream);
    if (n->engine) dnnl_engine_destroy(n->engine);
    free(n->nodes);
    free(n->tensors);
    free(n->slots);
    free(n->parameters);
    free(n->labels);
    free(n);
}

static pace_engine_result say(const net *n, char *message) {
    if (n->failed) memcpy(message, n->message, PACE_ENGINE_MESSAGE);
    return n->failed;
}

static bool begin(net *n, const pace_engine_network *network) {
    n->of = network;
    n->batch = network->batch;
    n->sequence = network->sequence;
    n->node_count = network->layer_count;
    n->nodes = calloc(n->node_count ? n->node_count : 1, sizeof *n->nodes);
    if (!n->nodes) net_fail(n, PACE_ENGINE_MEMORY, "no memory to plan the network");
    if (dnnl_engine_create(&n->engine, dnnl_cpu, 0) != dnnl_success ||
        dnnl_stream_create(&n->stream, n->engine, dnnl_stream_default_flags) != dnnl_success)
        net_fail(n, PACE_ENGINE_FAILED, "oneDNN has no engine for this processor");
    return !n->failed;
}

static pace_engine_result open_net(void **out, const pace_engine_network *network, char *message) {
    net *n = calloc(1, sizeof *n);
    if (!n) return PACE_ENGINE_MEMORY;
    if (begin(n, network)) plan_net(n);
    pace_engine_result result = say(n, message);
    if (result) close_net(n);
    else *out = n;
    return result;
}

static double memory_bytes(const void *opened) { return net_bytes(opened); }

static pace_engine_result allocate(void *opened, char *message) {
    net *n = opened;
    n->labels = calloc(n->label_count ? n->label_count : 1, 4);
    if (!n->labels) net_fail(n, PACE_ENGINE_MEMORY, "no memory for labels");
    else net_allocate(n);
    return say(n, message);
}

/* --- parameters --------------------------------------------------------------------------------------------------- */

static size_t tensor_count(const void *opened) { return ((const net *)opened)->parameter_count; }

static void get_description(const void *opened, size_t i, pace_engine_tensor *out) {
    const net *n = opened;
    const parameter *p = &n->parameters[i];
    *out = (pace_engine_tensor){.layer = p->layer,
                                .role = p->role,
                                .elements = tensor_elements(p->weights),
                                .rank = p->plain.ndims,
                                .fan_in = p->fan_in,
                                .sparse = !p->gradient,
                                .weights = tensor_floats(n, p->weights),
                                .gradient = p->gradient ? tensor_floats(n, p->gradient) : NULL};
    for (int d = 0; d < p->plain.ndims; d++) out->dims[d] = (size_t)p->plain.dims[d];
}

/* Copies between a parameter and plain memory now. */
static pace_engine_result copy_plain(net *n, const parameter *p, tensor *own, float *plain, bool out, char *message) {
    dnnl_primitive_desc_t desc = NULL;
    dnnl_primitive_t primitive = NULL;
    dnnl_memory_t memory = NULL;
    const dnnl_memory_desc_t *from = out ? &own->desc : &p->plain, *to = out ? &p->plain : &own->desc;
    bool fine = dnnl_memory_create(&memory, &p->plain, n->engine, plain) == dnnl_success &&
                dnnl_reorder_primitive_desc_create(&desc, from, n->engine, to, n->engine, NULL) == dnnl_success &&
                dnnl_primitive_create(&primitive, desc) == dnnl_success;
    dnnl_exec_arg_t arguments[2] = {{DNNL_ARG_FROM, out ? own->memory : memory},
                                    {DNNL_ARG_TO, out ? memory : own->memory}};
    fine = fine && dnnl_primitive_execute(primitive, n->stream, 2, arguments) == dnnl_success &&
           dnnl_stream_wait(n->stream) == dnnl_success;
    if (primitive) dnnl_primitive_destroy(primitive);
    if (desc) dnnl_primitive_desc_destroy(desc);
    if (memory) dnnl_memory_destroy(memory);
    if (fine) return PACE_ENGINE_OK;
    snprintf(message, PACE_ENGINE_MESSAGE, "oneDNN did not copy parameters");
    return PACE_ENGINE_FAILED;
}

static pace_engine_result set_tensor(void *opened, size_t i, bool of_gradient, const float *plain, char *message) {
    net *n = opened;
    const parameter *p = &n->parameters[i];
    return copy_plain(n, p, of_gradient ? p->gradient : p->weights, (float *)plain, false, message);
}

static pace_engine_result get_tensor(void *opened, size_t i, bool of_gradient, float *plain, char *message) {
    net *n = opened;
    const parameter *p = &n->parameters[i];
    return copy_plain(n, p, of_gradient ? p->gradient : p->weights, plain, true, message);
}

/* --- a step ------------------------------------------------------------------------------------------------------- */

static void *input_of(void *opened, uint32_t layer, size_t *elements, bool *is_index) {
    net *n = opened;
    const node *of = &n->nodes[layer];
    *is_index = of->is_index;
    *elements = of->rows * of->columns;
    return of->value ? tensor_floats(n, of->value) : NULL;
}

static void *labels_of(void *opened, size_t *elements, bool *is_class, size_t *classes) {
    net *n = opened;
    *elements = n->label_count;
    *is_class = n->classes > 0;
    *classes = n->classes;
    return n->labels;
}

static bool works(const void *opened, uint32_t layer, pace_engine_pass pass) {
    return ((const net *)opened)->nodes[layer].pass[pass].count > 0;
}

static pace_engine_result run_layer(void *opened, uint32_t layer, pace_engine_pass pass, char *message) {
    net *n = opened;
    node *of = &n->nodes[layer];
    const actions *list = &of->pass[pass];
    for (size_t i = 0; i < list->count; i++) {
        const action *a = &list->items[i];
        if (a->function) a->function(n, of);
        else {
            dnnl_status_t status = dnnl_primitive_execute(a->primitive, n->stream, a->count, a->arguments);
            if (status == dnnl_success) continue;
            snprintf(message, PACE_ENGINE_MESSAGE, "layer %u, \"%.120s\": oneDNN: status %d", layer,
                     n->of->names[layer], (int)status);
            return PACE_ENGINE_FAILED;
        }
    }
    dnnl_stream_wait(n->stream);
    return PACE_ENGINE_OK;
}

static void loss_of(const void *opened, double *loss, double *right) {
    const net *n = opened;
    *loss = n->loss;
    *right = n->right;
}

static void rows_of(const void *opened, size_t i, pace_engine_rows *out) {
    rows_of_tables(opened, &((const net *)opened)->parameters[i], out);
}

static void update_rows(void *opened, size_t i, float rate, const pace_engine_rows *rows) {
    update_table_rows(opened, &((net *)opened)->parameters[i], rate, rows);
}

static const char *software(void) {
    static char text[64];
    const dnnl_version_t *version = dnnl_version();
    snprintf(text, sizeof text, "oneDNN %d.%d.%d", version->major, version->minor, version->patch);
    return text;
}

static const pace_layer_engine engine = {
    .version = PACE_ENGINE_VERSION,
    .name = "onednn",
    .software = software,
    .open = open_net,
    .memory_bytes = memory_bytes,
    .allocate = allocate,
    .tensor_count = tensor_count,
    .tensor = get_description,
    .set_tensor = set_tensor,
    .get_tensor = get_tensor,
    .input = input_of,
    .labels = labels_of,
    .works = works,
    .run = run_layer,
    .loss = loss_of,
    .rows = rows_of,
    .update_rows = update_rows,
    .close = close_net,
};

const pace_layer_engine *pace_train_layer_engine(void) { return &engine; }
