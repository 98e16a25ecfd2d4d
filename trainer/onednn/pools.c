/* Pooling: windows that hang over the edge are padded on the far side. */
#include "net.h"

typedef struct {
    dnnl_dims_t kernel, strides, before, after;
    dnnl_memory_desc_t target;
    dnnl_alg_kind_t algorithm;
} pooling;

static dnnl_dim_t behind(double in, double out, dnnl_dim_t kernel, dnnl_dim_t stride, dnnl_dim_t before) {
    dnnl_dim_t need = ((dnnl_dim_t)out - 1) * stride + kernel - (dnnl_dim_t)in - before;
    return need > 0 ? need : 0;
}

static void finish_pooling(pooling *p, const node *of) {
    const pace_shape *from = &of->inputs[0]->layer->shape, *to = &of->layer->shape;
    size_t target[4] = {of->rows / (size_t)(to->height * to->width), of->columns, (size_t)to->height,
                        (size_t)to->width};
    p->after[0] = behind(from->height, to->height, p->kernel[0], p->strides[0], p->before[0]);
    p->after[1] = behind(from->width, to->width, p->kernel[1], p->strides[1], p->before[1]);
    p->target = desc_of(4, target, dnnl_format_tag_any);
}

static void windows_of(pooling *p, const node *of) {
    p->kernel[0] = OPT(of, KERNEL), p->kernel[1] = OPT(of, KERNEL_WIDTH);
    p->strides[0] = OPT(of, STRIDE), p->strides[1] = OPT(of, STRIDE_WIDTH);
    p->before[0] = OPT(of, PAD), p->before[1] = OPT(of, PAD_WIDTH);
    bool mean = of->layer->kind == PACE_LAYER_AVERAGE_POOL;
    p->algorithm = !mean                          ? dnnl_pooling_max
                   : p->before[0] || p->before[1] ? dnnl_pooling_avg_include_padding
                                                  : dnnl_pooling_avg_exclude_padding;
    finish_pooling(p, of);
}

/* So many windows as the output has places, side by side. */
static bool parts_of(net *n, pooling *p, const node *of) {
    const pace_shape *from = &of->inputs[0]->layer->shape, *to = &of->layer->shape;
    dnnl_dim_t sizes[2] = {(dnnl_dim_t)from->height, (dnnl_dim_t)from->width};
    dnnl_dim_t parts[2] = {(dnnl_dim_t)to->height, (dnnl_dim_t)to->width};
    for (int i = 0; i < 2; i++) {
        if (sizes[i] % parts[i]) {
            net_refuse(n, of, "its windows are of different sizes");
            return false;
        }
        p->kernel[i] = p->strides[i] = sizes[i] / parts[i];
        p->before[i] = 0;
    }
    p->algorithm = dnnl_pooling_avg_exclude_padding;
    finish_pooling(p, of);
    return true;
}

static bool pooling_of(net *n, pooling *p, const node *of) {
    if (of->layer->kind == PACE_LAYER_ADAPTIVE_POOL) return parts_of(n, p, of);
    windows_of(p, of);
    return true;
}

static void forward_pool(net *n, node *of) {
    pooling p;
    dnnl_pooling_desc_t desc;
    tensor *source = of->inputs[0]->value;
    if (!pooling_of(n, &p, of) ||
        !net_is_fine(n, of,
                     dnnl_pooling_forward_desc_init(&desc, dnnl_forward_training, p.algorithm, &source->desc, &p.target,
                                                    p.strides, p.kernel, p.before, p.after),
                     "pooling"))
        return;
    act_with_workspace(n, of, source, &desc); /* where the largest stood */
}

void forward_max_pool(net *n, node *of) { forward_pool(n, of); }
void forward_average_pool(net *n, node *of) { forward_pool(n, of); }
void forward_adaptive_pool(net *n, node *of) { forward_pool(n, of); }

void backward_pool(net *n, node *of) {
    pooling p;
    dnnl_pooling_desc_t operation;
    const dnnl_memory_desc_t *source = &of->inputs[0]->value->desc;
    if (!of->inputs[0]->needs_gradient || !pooling_of(n, &p, of) ||
        !net_is_fine(n, of,
                     dnnl_pooling_backward_desc_init(&operation, p.algorithm, source, &of->value->desc, p.strides,
                                                     p.kernel, p.before, p.after),
                     "gradient of a pooling"))
        return;
    dnnl_primitive_desc_t desc = describe(n, of, &operation, of->forward);
    if (!desc) return;
    tensor *from = in_layout(n, of, PACE_PASS_DATA, of->gradient, wanted(desc, DNNL_ARG_DIFF_DST));
    tensor *to = gradient_begin(n, of->inputs[0], wanted(desc, DNNL_ARG_DIFF_SRC));
    act(n, of, PACE_PASS_DATA, desc, false,
        BOUND({DNNL_ARG_DIFF_DST, from}, {DNNL_ARG_DIFF_SRC, to}, {DNNL_ARG_WORKSPACE, of->kept[0]}));
    gradient_end(n, of, of->inputs[0], to);
}
