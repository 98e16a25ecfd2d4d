/* Convolutions and linear layers: layouts are oneDNN's choice, the parameters lie as the forward pass wants them. */
#include "net.h"

typedef struct {
    dnnl_memory_desc_t source, weights, bias, target;
    dnnl_dims_t strides, dilation, before, after;
    dnnl_memory_desc_t plain; /* of the weights */
    size_t fan_in;
} convolution;

static void convolution_of(convolution *c, const node *of) {
    const node *in = of->inputs[0];
    size_t groups = (size_t)OPT(of, GROUPS), out = (size_t)OPT(of, OUT), channels = in->columns;
    size_t r = (size_t)OPT(of, KERNEL), s = (size_t)OPT(of, KERNEL_WIDTH);
    size_t all[5] = {groups, out / groups, channels / groups, r, s};
    int skip = groups == 1, rank = 5 - skip;
    const pace_shape *from = &in->layer->shape, *to = &of->layer->shape;
    size_t rows = in->rows / (size_t)(from->height * from->width);
    size_t source[4] = {rows, channels, (size_t)from->height, (size_t)from->width};
    size_t target[4] = {rows, out, (size_t)to->height, (size_t)to->width};
    c->strides[0] = OPT(of, STRIDE), c->strides[1] = OPT(of, STRIDE_WIDTH);
    c->before[0] = c->after[0] = OPT(of, PAD), c->before[1] = c->after[1] = OPT(of, PAD_WIDTH);
    c->dilation[0] = c->dilation[1] = OPT(of, DILATION) - 1;
    c->source = desc_of(4, source, dnnl_format_tag_any);
    c->target = desc_of(4, target, dnnl_format_tag_any);
    c->weights = desc_of(rank, all + skip, dnnl_format_tag_any);
    c->plain = desc_of(rank, all + skip, skip ? dnnl_oihw : dnnl_goihw);
    c->bias = desc_of(1, &out, dnnl_x);
    c->fan_in = channels / groups * r * s;
}

/* The parameters of a convolution or linear layer, as its forward pass wants them. */
static parameter *weights_of(net *n, node *of, const dnnl_memory_desc_t *plain, size_t fan_in, tensor **bias) {
    const dnnl_memory_desc_t *as = wanted(of->forward, DNNL_ARG_WEIGHTS), *shift = wanted(of->forward, DNNL_ARG_BIAS);
    parameter *p = parameter_new(n, of, PACE_ROLE_WEIGHT, plain, as, fan_in);
    size_t weights = n->parameter_count - 1;
    *bias = NULL;
    if (p && OPT(of, BIAS) > 0) {
        parameter *b = parameter_new(n, of, PACE_ROLE_BIAS, shift, shift, fan_in);
        *bias = b ? b->weights : NULL;
    }
    return n->failed ? NULL : &n->parameters[weights];
}

static void act_forward(net *n, node *of, tensor *source, tensor *weights, tensor *bias) {
    tensor *in = in_layout(n, of, PACE_PASS_FORWARD, source, wanted(of->forward, DNNL_ARG_SRC));
    tensor *by = in_layout(n, of, PACE_PASS_FORWARD, weights, wanted(of->forward, DNNL_ARG_WEIGHTS));
    of->value = tensor_new(n, wanted(of->forward, DNNL_ARG_DST));
    of->kept[0] = in;
    act(n, of, PACE_PASS_FORWARD, of->forward, true,
        BOUND({DNNL_ARG_SRC, in}, {DNNL_ARG_WEIGHTS, by}, {DNNL_ARG_BIAS, bias}, {DNNL_ARG_DST, of->value}));
}

static void act_data(net *n, node *of, dnnl_primitive_desc_t desc, tensor *weights) {
    if (!desc) return;
    tensor *by = in_layout(n, of, PACE_PASS_DATA, weights, wanted(desc, DNNL_ARG_WEIGHTS));
    tensor *from = own_gradient(n, of, PACE_PASS_DATA, wanted(desc, DNNL_ARG_DIFF_DST));
    tensor *to = gradient_begin(n, of->inputs[0], wanted(desc, DNNL_ARG_DIFF_SRC));
    act(n, of, PACE_PASS_DATA, desc, false,
        BOUND({DNNL_ARG_DIFF_DST, from}, {DNNL_ARG_WEIGHTS, by}, {DNNL_ARG_DIFF_SRC, to}));
    gradient_end(n, of, of->inputs[0], to);
}

static void act_weights(net *n, node *of, dnnl_primitive_desc_t desc, parameter *weights, parameter *bias) {
    if (!desc) return;
    tensor *in = in_layout(n, of, PACE_PASS_WEIGHTS, of->kept[0], wanted(desc, DNNL_ARG_SRC));
    tensor *from = own_gradient(n, of, PACE_PASS_WEIGHTS, wanted(desc, DNNL_ARG_DIFF_DST));
    tensor *to = parameter_begin(n, weights, wanted(desc, DNNL_ARG_DIFF_WEIGHTS));
    act(n, of, PACE_PASS_WEIGHTS, desc, false,
        BOUND({DNNL_ARG_SRC, in}, {DNNL_ARG_DIFF_DST, from}, {DNNL_ARG_DIFF_WEIGHTS, to},
              {DNNL_ARG_DIFF_BIAS, bias ? bias->gradient : NULL}));
    parameter_end(n, of, weights, to);
}

/* The table of tokens whose weights a tied layer takes: the first one's. */
static parameter *tied_table(net *n, const node *of) {
    for (size_t i = 0; i < n->parameter_count; i++)
        if (n->parameters[i].role == PACE_ROLE_TABLE) return &n->parameters[i];
    net_refuse(n, of, "its weights are tied to a table that is not there");
    return NULL;
}

static bool is_tied(const node *of) {
    return of->layer->kind == PACE_LAYER_LINEAR && option_of(of, PACE_OPTION_TIED) > 0;
}

static parameter *own_weights(net *n, const node *of) {
    return is_tied(of) ? tied_table(n, of) : &n->parameters[of->first_parameter];
}

static parameter *own_bias(net *n, const node *of) {
    return OPT(of, BIAS) > 0 ? &n->parameters[of->first_parameter + (is_tied(of) ? 0 : 1)] : NULL;
}

/* --- convolutions ------------------------------------------------------------------------------------------------- */

void forward_convolution(net *n, node *of) {
    convolution c;
    dnnl_convolution_desc_t desc;
    tensor *bias;
    convolution_of(&c, of);
    if (!net_is_fine(n, of,
                     dnnl_dilated_convolution_forward_desc_init(&desc, dnnl_forward_training, dnnl_convolution_direct,
                                                                &c.source, &c.weights,
                                                                OPT(of, BIAS) > 0 ? &c.bias : NULL, &c.target,
                                                                c.strides, c.dilation, c.before, c.after),
                     "convolution"))
        return;
    of->forward = describe(n, of, &desc, NULL);
    if (!of->forward) return;
    parameter *p = weights_of(n, of, &c.plain, c.fan_in, &bias);
    if (p) act_forward(n, of, of->inputs[0]->value, p->weights, bias);
}

void backward_convolution(net *n, node *of) {
    convolution c;
    dnnl_convolution_desc_t desc;
    convolution_of(&c, of);
    const dnnl_memory_desc_t *bias = OPT(of, BIAS) > 0 ? &c.bias : NULL;
    if (of->inputs[0]->needs_gradient &&
        net_is_fine(n, of,
                    dnnl_dilated_convolution_backward_data_desc_init(&desc, dnnl_convolution_direct, &c.source,
                                                                     &c.weights, &c.target, c.strides, c.dilation,
                                                                     c.before, c.after),
                    "gradient of a convolution"))
        act_data(n, of, describe(n, of, &desc, of->forward), own_weights(n, of)->weights);
    if (net_is_fine(n, of,
                    dnnl_dilated_convolution_backward_weights_desc_init(&desc, dnnl_convolution_direct, &c.source,
                                                                        &c.weights, bias, &c.target, c.strides,
                                                                        c.dilation, c.before, c.after),
                    "gradient of a convolution's weights"))
        act_weights(n, of, describe(n, of, &desc, of->forward), own_weights(n, of), own_bias(n, of));
}

/* --- linear layers ------------------------------------------------------------------------------------------------ */

typedef struct {
    dnnl_memory_desc_t source, weights, bias, target, plain;
} product;

static void product_of(product *p, const node *of) {
    size_t in = of->inputs[0]->columns, out = of->columns, rows = of->rows;
    size_t source[2] = {rows, in}, weights[2] = {out, in}, target[2] = {rows, out};
    p->source = desc_of(2, source, dnnl_format_tag_any);
    p->plain = desc_of(2, weights, dnnl_oi);
    p->weights = is_tied(of) ? p->plain : desc_of(2, weights, dnnl_format_tag_any);
    p->bias = desc_of(1, &out, dnnl_x);
    p->target = desc_of(2, target, dnnl_ab);
}

void forward_linear(net *n, node *of) {
    product p;
    dnnl_inner_product_desc_t desc;
    product_of(&p, of);
    tensor *bias = NULL, *weights = NULL;
    if (!net_is_fine(n, of,
                     dnnl_inner_product_forward_desc_init(&desc, dnnl_forward_training, &p.source, &p.weights,
                                                          OPT(of, BIAS) > 0 ? &p.bias : NULL, &p.target),
                     "inner product"))
        return;
    of->forward = describe(n, of, &desc, NULL);
    if (!of->forward) return;
    if (is_tied(of)) {
        parameter *table = tied_table(n, of), *shift = NULL;
        weights = table ? table->weights : NULL;
        if (OPT(of, BIAS) > 0) shift = parameter_new(n, of, PACE_ROLE_BIAS, &p.bias, &p.bias, of->inputs[0]->columns);
        bias = shift ? shift->weights : NULL;
    } else {
        parameter *own = weights_of(n, of, &p.plain, of->inputs[0]->columns, &bias);
        weights = own ? own->weights : NULL;
    }
    if (!n->failed) act_forward(n, of, of->inputs[0]->value, weights, bias);
}

void backward_linear(net *n, node *of) {
    product p;
    dnnl_inner_product_desc_t desc;
    product_of(&p, of);
    if (of->inputs[0]->needs_gradient &&
        net_is_fine(n, of, dnnl_inner_product_backward_data_desc_init(&desc, &p.source, &p.weights, &p.target),
                    "gradient of an inner product"))
        act_data(n, of, describe(n, of, &desc, of->forward), own_weights(n, of)->weights);
    if (net_is_fine(n, of,
                    dnnl_inner_product_backward_weights_desc_init(&desc, &p.source, &p.weights,
                                                                  OPT(of, BIAS) > 0 ? &p.bias : NULL, &p.target),
                    "gradient of an inner product's weights"))
        act_weights(n, of, describe(n, of, &desc, of->forward), own_weights(n, of), own_bias(n, of));
}
