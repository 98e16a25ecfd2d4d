/* Activations, and dropout. */
#include "net.h"

#include <string.h>

/* oneDNN's algorithm of an activation; of backward by the output where the forward pass overwrote its input. */
typedef struct {
    const char *word;
    dnnl_alg_kind_t forward, backward;
    float alpha, beta;
    bool by_output;
} activation;

static const activation activations[] = {
    {"relu", dnnl_eltwise_relu, dnnl_eltwise_relu_use_dst_for_bwd, 0, 0, true},
    {"relu6", dnnl_eltwise_clip_v2, dnnl_eltwise_clip_v2_use_dst_for_bwd, 0, 6, true},
    {"tanh", dnnl_eltwise_tanh, dnnl_eltwise_tanh_use_dst_for_bwd, 0, 0, true},
    {"sigmoid", dnnl_eltwise_logistic, dnnl_eltwise_logistic_use_dst_for_bwd, 0, 0, true},
    {"gelu", dnnl_eltwise_gelu_erf, dnnl_eltwise_gelu_erf, 0, 0, false},
    {"silu", dnnl_eltwise_swish, dnnl_eltwise_swish, 1, 0, false},
};

static const activation *activation_of(net *n, const node *of) {
    for (size_t i = 0; i < PACE_COUNT(activations); i++)
        if (strcmp(activations[i].word, of->layer->word) == 0) return &activations[i];
    net_refuse(n, of, "oneDNN has no such activation");
    return NULL;
}

/* Whether nobody needs the input again, so that the output may take its place. */
static bool takes_place(const node *of) {
    const node *in = of->inputs[0];
    int kind = in->layer->kind;
    return in->uses == 1 && (kind == PACE_LAYER_CONVOLUTION || kind == PACE_LAYER_LINEAR ||
                             kind == PACE_LAYER_BATCH_NORM || kind == PACE_LAYER_ADD);
}

void forward_activation(net *n, node *of) {
    const activation *a = activation_of(n, of);
    dnnl_eltwise_desc_t desc;
    tensor *source = of->inputs[0]->value;
    if (!a || !net_is_fine(n, of,
                           dnnl_eltwise_forward_desc_init(&desc, dnnl_forward_training, a->forward, &source->desc,
                                                          a->alpha, a->beta),
                           "activation"))
        return;
    of->forward = describe(n, of, &desc, NULL);
    of->value = a->by_output && takes_place(of) ? tensor_in(n, &source->desc, source) : tensor_new(n, &source->desc);
    act(n, of, PACE_PASS_FORWARD, of->forward, true, BOUND({DNNL_ARG_SRC, source}, {DNNL_ARG_DST, of->value}));
}

void backward_activation(net *n, node *of) {
    const activation *a = activation_of(n, of);
    dnnl_eltwise_desc_t operation;
    if (!a || !of->inputs[0]->needs_gradient) return;
    tensor *by = a->by_output ? of->value : of->inputs[0]->value;
    tensor *from = in_layout(n, of, PACE_PASS_DATA, of->gradient, &by->desc);
    if (n->failed ||
        !net_is_fine(n, of,
                     dnnl_eltwise_backward_desc_init(&operation, a->backward, &by->desc, &by->desc, a->alpha, a->beta),
                     "gradient of an activation"))
        return;
    tensor *to = gradient_begin(n, of->inputs[0], &by->desc);
    act(n, of, PACE_PASS_DATA, describe(n, of, &operation, of->forward), false,
        BOUND({a->by_output ? DNNL_ARG_DST : DNNL_ARG_SRC, by}, {DNNL_ARG_DIFF_DST, from}, {DNNL_ARG_DIFF_SRC, to}));
    gradient_end(n, of, of->inputs[0], to);
}

/* --- dropout: oneDNN has none; a mask of our own, multiplied by oneDNN -------------------------------------------- */

/* SplitMix64 (Steele et al. 2014) of a position: the same mask whatever the number of threads. */
static uint64_t mixed(uint64_t x) {
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

void draw_mask(net *n, node *of, tensor *to, double p) {
    float *mask = tensor_floats(n, to);
    float scale = p < 1 ? (float)(1 / (1 - p)) : 0;
    uint64_t limit = (uint64_t)(p * 18446744073709549568.0);
    uint64_t seed = mixed(n->of->seed + 0x100000000U * (of->index + 1) + of->draws++);
    long count = (long)tensor_elements(to);
#pragma omp parallel for schedule(static)
    for (long i = 0; i < count; i++) mask[i] = mixed(seed + (uint64_t)i) < limit ? 0 : scale;
}

static void draw_own_mask(net *n, node *of) { draw_mask(n, of, of->kept[0], option_of(of, PACE_OPTION_P)); }

static void act_mask(net *n, node *of, pace_engine_pass pass, tensor *from, tensor *to) {
    dnnl_binary_desc_t operation;
    if (n->failed || !to) return;
    if (net_is_fine(n, of,
                    dnnl_binary_desc_init(&operation, dnnl_binary_mul, &from->desc, &of->kept[0]->desc, &to->desc),
                    "product"))
        act(n, of, pass, describe(n, of, &operation, NULL), false,
            BOUND({DNNL_ARG_SRC_0, from}, {DNNL_ARG_SRC_1, of->kept[0]}, {DNNL_ARG_DST, to}));
}

void forward_dropout(net *n, node *of) {
    tensor *source = of->inputs[0]->value;
    of->kept[0] = tensor_new(n, &source->desc);
    of->value = tensor_new(n, &source->desc);
    act_function(n, of, PACE_PASS_FORWARD, draw_own_mask);
    act_mask(n, of, PACE_PASS_FORWARD, source, of->value);
}

void backward_dropout(net *n, node *of) {
    if (!of->inputs[0]->needs_gradient) return;
    tensor *from = in_layout(n, of, PACE_PASS_DATA, of->gradient, &of->kept[0]->desc);
    tensor *to = gradient_begin(n, of->inputs[0], &of->kept[0]->desc);
    act_mask(n, of, PACE_PASS_DATA, from, to);
    gradient_end(n, of, of->inputs[0], to);
}
