#include "net.h"

static action *action_new(net *n, node *of, pace_engine_pass pass) {
    actions *list = &of->pass[pass];
    action *items = n->failed ? NULL : net_push(n, list->items, &list->count, &list->room, sizeof *items);
    if (!items) return NULL;
    list->items = items;
    return &items[list->count - 1];
}

void act(net *n, node *of, pace_engine_pass pass, dnnl_primitive_desc_t desc, bool keep, const bound *tensors) {
    action *a = desc ? action_new(n, of, pass) : NULL;
    if (a) {
        for (const bound *b = tensors; b->t || b->argument; b++) {
            if (!b->t) continue;
            a->arguments[a->count++] = (dnnl_exec_arg_t){b->argument, b->t->memory};
        }
        net_is_fine(n, of, dnnl_primitive_create(&a->primitive, desc), "primitive");
    }
    if (desc && !keep) dnnl_primitive_desc_destroy(desc);
}

void act_function(net *n, node *of, pace_engine_pass pass, step_function *function) {
    action *a = action_new(n, of, pass);
    if (a) a->function = function;
}

const dnnl_memory_desc_t *wanted(dnnl_primitive_desc_t desc, int argument) {
    return dnnl_primitive_desc_query_md(desc, dnnl_query_exec_arg_md, argument);
}

dnnl_primitive_desc_t describe(net *n, const node *of, const void *operation, dnnl_primitive_desc_t hint) {
    dnnl_primitive_desc_t out = NULL;
    if (n->failed) return NULL;
    return net_is_fine(n, of, dnnl_primitive_desc_create(&out, operation, NULL, n->engine, hint), "primitive") ? out
                                                                                                               : NULL;
}

void act_with_workspace(net *n, node *of, tensor *source, const void *operation) {
    of->forward = describe(n, of, operation, NULL);
    if (!of->forward) return;
    const dnnl_memory_desc_t *workspace = wanted(of->forward, DNNL_ARG_WORKSPACE);
    of->kept[0] = workspace && workspace->ndims ? tensor_new(n, workspace) : NULL;
    of->value = tensor_new(n, wanted(of->forward, DNNL_ARG_DST));
    act(n, of, PACE_PASS_FORWARD, of->forward, true,
        BOUND({DNNL_ARG_SRC, source}, {DNNL_ARG_DST, of->value}, {DNNL_ARG_WORKSPACE, of->kept[0]}));
}

void act_copy(net *n, node *of, pace_engine_pass pass, tensor *from, tensor *to) {
    dnnl_primitive_desc_t desc;
    if (n->failed || !from || !to) return;
    if (net_is_fine(n, of,
                    dnnl_reorder_primitive_desc_create(&desc, &from->desc, n->engine, &to->desc, n->engine, NULL),
                    "copy"))
        act(n, of, pass, desc, false, BOUND({DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}));
}

tensor *in_layout(net *n, node *of, pace_engine_pass pass, tensor *have, const dnnl_memory_desc_t *want) {
    if (n->failed || !have || desc_same(&have->desc, want)) return have;
    tensor *copy = tensor_new(n, want);
    act_copy(n, of, pass, have, copy);
    return copy;
}

static void act_sum(net *n, node *of, pace_engine_pass pass, tensor *into, tensor *more) {
    static const float scales[2] = {1, 1};
    dnnl_primitive_desc_t desc;
    if (n->failed || !into || !more) return;
    dnnl_memory_desc_t both[2] = {into->desc, more->desc};
    if (net_is_fine(n, of, dnnl_sum_primitive_desc_create(&desc, &into->desc, 2, scales, both, NULL, n->engine), "sum"))
        act(n, of, pass, desc, false,
            BOUND({DNNL_ARG_MULTIPLE_SRC, into}, {DNNL_ARG_MULTIPLE_SRC + 1, more}, {DNNL_ARG_DST, into}));
}

/* --- gradients of activations ------------------------------------------------------------------------------------- */

tensor *gradient_begin(net *n, node *input, const dnnl_memory_desc_t *made) {
    if (n->failed || !input->needs_gradient) return NULL;
    tensor *t = tensor_passing(n, made);
    if (!input->gradient) input->gradient = t;
    return t;
}

void gradient_end(net *n, node *of, node *input, tensor *written) {
    if (n->failed || !written || written == input->gradient) return;
    act_sum(n, of, PACE_PASS_DATA, input->gradient, written);
    tensor_done(n, written);
}

tensor *own_gradient(net *n, node *of, pace_engine_pass pass, const dnnl_memory_desc_t *want) {
    if (n->failed) return NULL;
    if (of->turned && desc_same(&of->turned->desc, want)) return of->turned;
    tensor *t = in_layout(n, of, pass, of->gradient, want);
    if (!of->turned && t != of->gradient) of->turned = t;
    return t;
}

/* --- parameters --------------------------------------------------------------------------------------------------- */

parameter *parameter_new(net *n, node *of, pace_tensor_role role, const dnnl_memory_desc_t *plain,
                         const dnnl_memory_desc_t *desc, size_t fan_in) {
    parameter *all =
        n->failed ? NULL : net_push(n, n->parameters, &n->parameter_count, &n->parameter_room, sizeof *all);
    if (!all) return NULL;
    n->parameters = all;
    parameter *p = &all[n->parameter_count - 1];
    if (!of->parameter_count++) of->first_parameter = n->parameter_count - 1;
    *p = (parameter){.layer = of->index, .role = role, .plain = *plain, .fan_in = fan_in};
    p->weights = tensor_new(n, desc);
    if (!of->layer->rule || !of->layer->rule->sparse) p->gradient = tensor_new(n, desc);
    return p;
}

tensor *parameter_begin(net *n, parameter *p, const dnnl_memory_desc_t *made) {
    if (n->failed) return NULL;
    return !p->is_shared && desc_same(&p->gradient->desc, made) ? p->gradient : tensor_passing(n, made);
}

void parameter_end(net *n, node *of, parameter *p, tensor *written) {
    if (n->failed || !written) return;
    bool shared = p->is_shared;
    p->is_shared = true;
    if (written == p->gradient) return;
    if (shared) act_sum(n, of, PACE_PASS_WEIGHTS, p->gradient, written);
    else act_copy(n, of, PACE_PASS_WEIGHTS, written, p->gradient);
    tensor_done(n, written);
}
