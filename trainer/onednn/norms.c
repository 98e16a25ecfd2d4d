/* Normalizations: over a batch, over channels, over neighbouring channels. Running means are not kept: nothing is
 * inferred. */
#include "net.h"

static const float epsilon = 1e-5F; /* PyTorch's */

/* Scale and shift; of a layer without them none. */
static void scale_and_shift(net *n, node *of, tensor **scale, tensor **shift) {
    size_t channels = of->columns;
    dnnl_memory_desc_t one = desc_of(1, &channels, dnnl_x);
    parameter *p = parameter_new(n, of, PACE_ROLE_SCALE, &one, &one, 1);
    *scale = p ? p->weights : NULL;
    p = OPT(of, BIAS) > 0 ? parameter_new(n, of, PACE_ROLE_BIAS, &one, &one, 1) : NULL;
    *shift = p ? p->weights : NULL;
}

static unsigned flags_of(const node *of) {
    unsigned flags = dnnl_use_scale;
    return OPT(of, BIAS) > 0 ? flags | dnnl_use_shift : flags;
}

static tensor *parameter_of(const net *n, const node *of, size_t which) {
    return which < of->parameter_count ? n->parameters[of->first_parameter + which].weights : NULL;
}
static tensor *gradient_of(const net *n, const node *of, size_t which) {
    return which < of->parameter_count ? n->parameters[of->first_parameter + which].gradient : NULL;
}

/* Both passes of parameters are one primitive: it makes the input's gradient too. */
static void act_back(net *n, node *of, dnnl_primitive_desc_t desc, tensor *source) {
    if (!desc) return;
    tensor *from = in_layout(n, of, PACE_PASS_DATA, of->gradient, wanted(desc, DNNL_ARG_DIFF_DST));
    const dnnl_memory_desc_t *made = wanted(desc, DNNL_ARG_DIFF_SRC);
    tensor *to = gradient_begin(n, of->inputs[0], made);
    if (!to) to = tensor_passing(n, made); /* nobody wants it */
    tensor *unwanted = of->inputs[0]->needs_gradient ? NULL : to;
    act(n, of, PACE_PASS_DATA, desc, false,
        BOUND({DNNL_ARG_SRC, source}, {DNNL_ARG_MEAN, of->kept[0]}, {DNNL_ARG_VARIANCE, of->kept[1]},
              {DNNL_ARG_DIFF_DST, from}, {DNNL_ARG_SCALE, parameter_of(n, of, 0)},
              {DNNL_ARG_SHIFT, parameter_of(n, of, 1)}, {DNNL_ARG_DIFF_SRC, to},
              {DNNL_ARG_DIFF_SCALE, gradient_of(n, of, 0)}, {DNNL_ARG_DIFF_SHIFT, gradient_of(n, of, 1)}));
    if (unwanted) tensor_done(n, unwanted);
    else gradient_end(n, of, of->inputs[0], to);
}

static void act_norm(net *n, node *of, tensor *source) {
    tensor *scale, *shift;
    if (!of->forward) return;
    scale_and_shift(n, of, &scale, &shift);
    of->kept[0] = tensor_new(n, wanted(of->forward, DNNL_ARG_MEAN));
    of->kept[1] = tensor_new(n, wanted(of->forward, DNNL_ARG_VARIANCE));
    of->value = tensor_new(n, wanted(of->forward, DNNL_ARG_DST));
    act(n, of, PACE_PASS_FORWARD, of->forward, true,
        BOUND({DNNL_ARG_SRC, source}, {DNNL_ARG_DST, of->value}, {DNNL_ARG_MEAN, of->kept[0]},
              {DNNL_ARG_VARIANCE, of->kept[1]}, {DNNL_ARG_SCALE, scale}, {DNNL_ARG_SHIFT, shift}));
}

void forward_batch_norm(net *n, node *of) {
    dnnl_batch_normalization_desc_t desc;
    tensor *source = of->inputs[0]->value;
    if (!net_is_fine(n, of,
                     dnnl_batch_normalization_forward_desc_init(&desc, dnnl_forward_training, &source->desc, epsilon,
                                                                flags_of(of)),
                     "batch normalization"))
        return;
    of->forward = describe(n, of, &desc, NULL);
    act_norm(n, of, source);
}

void backward_batch_norm(net *n, node *of) {
    dnnl_batch_normalization_desc_t desc;
    tensor *source = of->inputs[0]->value;
    if (net_is_fine(n, of,
                    dnnl_batch_normalization_backward_desc_init(&desc, dnnl_backward, &source->desc, &source->desc,
                                                                epsilon, flags_of(of)),
                    "gradient of a batch normalization"))
        act_back(n, of, describe(n, of, &desc, of->forward), source);
}

void forward_layer_norm(net *n, node *of) {
    dnnl_layer_normalization_desc_t desc;
    tensor *source = of->inputs[0]->value;
    dnnl_memory_desc_t rows = desc_of(1, &of->rows, dnnl_x);
    if ((size_t)OPT(of, WIDTH) != of->columns) {
        net_refuse(n, of, "it normalizes parts of its input");
        return;
    }
    if (!net_is_fine(n, of,
                     dnnl_layer_normalization_forward_desc_init(&desc, dnnl_forward_training, &source->desc, &rows,
                                                                epsilon, flags_of(of)),
                     "layer normalization"))
        return;
    of->forward = describe(n, of, &desc, NULL);
    act_norm(n, of, source);
}

void backward_layer_norm(net *n, node *of) {
    dnnl_layer_normalization_desc_t desc;
    tensor *source = of->inputs[0]->value;
    dnnl_memory_desc_t rows = desc_of(1, &of->rows, dnnl_x);
    if (net_is_fine(n, of,
                    dnnl_layer_normalization_backward_desc_init(&desc, dnnl_backward, &source->desc, &source->desc,
                                                                &rows, epsilon, flags_of(of)),
                    "gradient of a layer normalization"))
        act_back(n, of, describe(n, of, &desc, of->forward), source);
}

/* --- over neighbouring channels ----------------------------------------------------------------------------------- */

static const float lrn_alpha = 1e-4F, lrn_beta = 0.75F, lrn_k = 1; /* PyTorch's */

void forward_local_norm(net *n, node *of) {
    dnnl_lrn_desc_t desc;
    tensor *source = of->inputs[0]->value;
    if (!net_is_fine(n, of,
                     dnnl_lrn_forward_desc_init(&desc, dnnl_forward_training, dnnl_lrn_across_channels, &source->desc,
                                                OPT(of, KERNEL), lrn_alpha, lrn_beta, lrn_k),
                     "local normalization"))
        return;
    act_with_workspace(n, of, source, &desc);
}

void backward_local_norm(net *n, node *of) {
    dnnl_lrn_desc_t operation;
    tensor *source = of->inputs[0]->value;
    if (!of->inputs[0]->needs_gradient ||
        !net_is_fine(n, of,
                     dnnl_lrn_backward_desc_init(&operation, dnnl_lrn_across_channels, &source->desc, &source->desc,
                                                 OPT(of, KERNEL), lrn_alpha, lrn_beta, lrn_k),
                     "gradient of a local normalization"))
        return;
    dnnl_primitive_desc_t desc = describe(n, of, &operation, of->forward);
    if (!desc) return;
    tensor *from = in_layout(n, of, PACE_PASS_DATA, of->gradient, wanted(desc, DNNL_ARG_DIFF_DST));
    tensor *to = gradient_begin(n, of->inputs[0], wanted(desc, DNNL_ARG_DIFF_SRC));
    act(n, of, PACE_PASS_DATA, desc, false,
        BOUND({DNNL_ARG_SRC, source}, {DNNL_ARG_DIFF_DST, from}, {DNNL_ARG_WORKSPACE, of->kept[0]},
              {DNNL_ARG_DIFF_SRC, to}));
    gradient_end(n, of, of->inputs[0], to);
}
