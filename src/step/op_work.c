/* The table of operators: which formula makes an operation of their arguments. */
#include "step/op_formulas.h"
#include "base/print.h"
#include "base/text.h"

#include <string.h>

#define OF(space, names, family, ...) \
    { space, names, PACE_OP_##family, __VA_ARGS__, "" }
#define ATEN(names, family, ...) OF("aten::", names, family, __VA_ARGS__)

/* First match wins. A trailing "_" (in place) of a call is ignored when the name as it stands is not here. */
static const pace_op_rule rules[] = {
    ATEN("mm bmm", GEMM, pace_call_matrix_product, 0, 1, -1),
    ATEN("addmm _addmm_activation baddbmm", GEMM, pace_call_matrix_product, 1, 2, 0),
    ATEN("linear", GEMM, pace_call_linear, 0, 0, 0),
    ATEN("mv", GEMM, pace_call_matrix_vector, 0, 1, 0),
    ATEN("addmv", GEMM, pace_call_matrix_vector, 1, 2, 0),
    ATEN("dot", GEMM, pace_call_reduction, 0, 0, 2),
    ATEN("matmul addbmm _scaled_mm _grouped_mm", GEMM, NULL, 0, 0, 0),

    ATEN("mkldnn_rnn_layer* _cudnn_rnn* miopen_rnn*", GEMM, NULL, 0, 0, 0),

    ATEN("convolution _convolution convolution_overrideable conv1d conv2d conv3d", CONVOLUTION, pace_call_convolution,
         3, 4, 5),
    ATEN("cudnn_convolution", CONVOLUTION, pace_call_convolution, 3, 2, 4),
    ATEN("miopen_convolution mkldnn_convolution", CONVOLUTION, pace_call_convolution, 4, 3, 5),
    ATEN("convolution_backward", CONVOLUTION, pace_call_convolution_backward, 0, 1, 2),
    ATEN("cudnn_convolution_backward miopen_convolution_backward", CONVOLUTION, pace_call_convolution_backward, 1, 0,
         2),
    ATEN("cudnn_convolution* miopen_convolution* miopen_depthwise* mkldnn_convolution* thnn_conv* _slow_conv* "
         "_conv_depthwise* conv_depthwise* conv_transpose*",
         CONVOLUTION, NULL, 0, 0, 0),

    ATEN("scaled_dot_product_attention", ATTENTION, pace_call_attention, 5, 0, 0),
    ATEN("_scaled_dot_product_flash_attention _scaled_dot_product_flash_attention_for_cpu", ATTENTION,
         pace_call_attention, 4, 0, 0),
    ATEN("_scaled_dot_product_efficient_attention _scaled_dot_product_cudnn_attention", ATTENTION, pace_call_attention,
         6, 0, 0),
    ATEN("_flash_attention_forward", ATTENTION, pace_call_attention, 8, 1, 0),
    ATEN("_efficient_attention_forward", ATTENTION, pace_call_attention, 9, 1, 0),
    ATEN("_scaled_dot_product_flash_attention_backward _scaled_dot_product_efficient_attention_backward", ATTENTION,
         pace_call_attention_backward, 11, 0, 0),
    ATEN("_scaled_dot_product_flash_attention_for_cpu_backward", ATTENTION, pace_call_attention_backward, 7, 0, 0),
    ATEN("_scaled_dot_product_cudnn_attention_backward", ATTENTION, pace_call_attention_backward, 14, 0, 0),
    ATEN("_flash_attention_backward", ATTENTION, pace_call_attention_backward, 11, 1, 0),
    ATEN("_efficient_attention_backward", ATTENTION, pace_call_attention_backward, 14, 1, 0),
    ATEN("_scaled_dot_product*", ATTENTION, NULL, 0, 0, 0),
    OF("flash_attn::", "*", ATTENTION, NULL, 0, 0, 0),

    ATEN("embedding", EMBEDDING, pace_call_embedding, 0, 0, 0),
    ATEN("embedding_dense_backward", EMBEDDING, pace_call_embedding_backward, 0, 0, 0),
    OF("fbgemm::", "split_embedding_codegen_lookup_*", EMBEDDING, pace_call_embedding_tables, 1, 11, 12),
    OF("fbgemm::", "dense_embedding_codegen_lookup_*", EMBEDDING, pace_call_embedding_tables, 0, 7, 8),
    ATEN("embedding* _embedding_bag*", EMBEDDING, NULL, 0, 0, 0),
    OF("fbgemm::", "*", EMBEDDING, NULL, 0, 0, 0),

    ATEN("native_layer_norm layer_norm", NORMALIZATION, pace_call_normalization, 0, 1, 7),
    ATEN("native_group_norm", NORMALIZATION, pace_call_normalization, 0, 6, 7),
    ATEN("native_batch_norm cudnn_batch_norm miopen_batch_norm", NORMALIZATION, pace_call_normalization, 0, -1, 7),
    ATEN("native_layer_norm_backward", NORMALIZATION, pace_call_normalization, 1, 2, 11),
    ATEN("native_group_norm_backward", NORMALIZATION, pace_call_normalization, 1, 8, 11),
    ATEN("native_batch_norm_backward", NORMALIZATION, pace_call_normalization, 1, -1, 11),
    ATEN("cudnn_batch_norm_backward miopen_batch_norm_backward", NORMALIZATION, pace_call_normalization, 0, -1, 11),
    ATEN("group_norm rms_norm batch_norm* _batch_norm* _fused_rms_norm*", NORMALIZATION, NULL, 0, 0, 0),

    ATEN("_softmax _log_softmax softmax log_softmax", SOFTMAX, pace_call_softmax, 1, 0, 5),
    ATEN("_softmax_backward_data _log_softmax_backward_data", SOFTMAX, pace_call_softmax, 2, 0, 4),

    ATEN("sum mean amax amin argmax argmin", REDUCTION, pace_call_reduction, 1, 0, 1),
    ATEN("max min prod", REDUCTION, pace_call_reduction, 0, 0, 1),
    ATEN("all any", REDUCTION, pace_call_reduction, 0, 0, 0),
    ATEN("norm", REDUCTION, pace_call_reduction, 0, 0, 2),
    ATEN("linalg_vector_norm", REDUCTION, pace_call_reduction, 2, 0, 2),
    ATEN("var* std*", REDUCTION, pace_call_reduction, 1, 0, 3),
    ATEN("cumsum", REDUCTION, pace_call_map, 0, 0, 1),

    ATEN("add sub rsub mul div pow tanh_backward sigmoid_backward threshold_backward gelu_backward silu_backward "
         "masked_fill maximum minimum remainder fmod floor_divide bitwise_and bitwise_or bitwise_xor __and__ "
         "__or__ softplus_backward mish_backward hardswish_backward hardsigmoid_backward glu_backward "
         "_prelu_kernel prelu atan2 polar __rshift__ __lshift__",
         ELEMENTWISE, pace_call_elementwise, 2, 0, 1),
    ATEN("neg exp log sqrt rsqrt reciprocal abs cos sin tanh sigmoid relu relu6 gelu silu native_dropout "
         "bitwise_not sign floor ceil round trunc erf log1p log2 expm1 exp2 square elu elu_backward softplus mish "
         "hardswish hardsigmoid glu view_as_complex nan_to_num threshold sinh cosh log_sigmoid_forward "
         "_conj_physical clamp*",
         ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("addcmul addcdiv lerp where masked_scatter log_sigmoid_backward", ELEMENTWISE, pace_call_elementwise, 3, 0, 1),
    ATEN("native_dropout_backward hardtanh* leaky_relu*", ELEMENTWISE, pace_call_elementwise, 0, 0, 1),
    ATEN("eq ne lt le gt ge logical_and logical_or logical_xor", ELEMENTWISE, pace_call_elementwise, 2, 1, 1),
    ATEN("exponential random randperm cauchy log_normal geometric bernoulli normal uniform", ELEMENTWISE,
         pace_call_generate, 0, 0, 8),
    ATEN("logical_not isfinite isnan isinf", ELEMENTWISE, pace_call_elementwise, 1, 1, 1),

    ATEN("copy_", COPY, pace_call_copy, 0, 0, 0),
    ATEN("clone contiguous cat stack masked_select slice_backward slice_scatter select_backward select_scatter "
         "repeat repeat_interleave tril triu constant_pad_nd split_with_sizes_copy _chunk_cat roll flip "
         "reflection_pad*",
         COPY, pace_call_gather_all, 0, 0, 0),
    ATEN("fill_ zero_", COPY, pace_call_fill, 0, 0, 0),
    ATEN("index_select", COPY, pace_call_index, 0, 2, 1),
    ATEN("index _unsafe_index", COPY, pace_call_index_list, 0, 0, 0),
    ATEN("index_put _index_put_impl _unsafe_index_put index_fill gather scatter scatter_add scatter_reduce", COPY,
         pace_call_index, 2, -1, -1),
    ATEN("index_add index_copy", COPY, pace_call_index, 3, -1, -1),
    ATEN("take take_along_dim", COPY, pace_call_index, 1, -1, -1),
    ATEN("gather_backward", COPY, pace_call_index, 0, -1, -1),
    ATEN("_foreach_copy", COPY, pace_call_foreach, 1, 0, 0),
    ATEN("_to_copy to index* gather* scatter*", COPY, NULL, 0, 0, 0),

    ATEN("_fused_adam*", OPTIMIZER, pace_call_optimizer, 0, 0, 0),
    ATEN("_fused_sgd*", OPTIMIZER, pace_call_optimizer, 1, 0, 0),
    ATEN("_foreach_norm", OPTIMIZER, pace_call_foreach, 0, 0, 2),
    ATEN("_foreach_addcdiv* _foreach_addcmul* _foreach_lerp*", OPTIMIZER, pace_call_foreach, 1, 0, 3),
    ATEN("_foreach_*", OPTIMIZER, pace_call_foreach, 1, 0, 1),
    ATEN("_amp_foreach*", OPTIMIZER, pace_call_foreach, 1, 0, 2),
    OF("triton_", "poi_*", ELEMENTWISE, pace_call_touch, 0, 0, 1), /* TorchInductor */
    OF("triton_", "red_* per_*", REDUCTION, pace_call_touch, 0, 0, 1),
    ATEN("_amp_*", OPTIMIZER, NULL, 0, 0, 0),
    OF("Optimizer.", "*", OPTIMIZER, NULL, 0, 0, 0),

    ATEN("nll_loss_forward", LOSS, pace_call_loss, 0, 1, 1),
    ATEN("nll_loss_backward", LOSS, pace_call_loss, 1, 1, 1),
    ATEN("nll_loss2d_forward", LOSS, pace_call_loss, 0, 0, 1),
    ATEN("nll_loss2d_backward", LOSS, pace_call_loss, 1, 0, 1),
    ATEN("mse_loss kl_div", LOSS, pace_call_loss, 0, 0, 3),
    ATEN("mse_loss_backward kl_div_backward", LOSS, pace_call_loss, 1, 0, 3),
    ATEN("l1_loss", LOSS, pace_call_loss, 0, 0, 2),
    ATEN("l1_loss_backward", LOSS, pace_call_loss, 1, 0, 2),
    ATEN("smooth_l1_loss huber_loss", LOSS, pace_call_loss, 0, 0, 5),
    ATEN("smooth_l1_loss_backward huber_loss_backward", LOSS, pace_call_loss, 1, 0, 5),
    ATEN("binary_cross_entropy binary_cross_entropy_with_logits", LOSS, pace_call_loss, 0, 0, 7),
    ATEN("binary_cross_entropy_backward", LOSS, pace_call_loss, 1, 0, 7),
    ATEN("cross_entropy_loss nll_loss* mse_loss* l1_loss* smooth_l1_loss* huber_loss* binary_cross_entropy* "
         "kl_div*",
         LOSS, NULL, 0, 0, 0),

    ATEN("max_pool2d_with_indices max_pool2d avg_pool2d", POOLING, pace_call_pooling, 0, 1, 2),
    ATEN("max_pool3d_with_indices avg_pool3d", POOLING, pace_call_pooling, 0, 1, 3),
    ATEN("max_pool2d_with_indices_backward avg_pool2d_backward", POOLING, pace_call_pooling, 1, 2, 2),
    ATEN("max_pool3d_with_indices_backward", POOLING, pace_call_pooling, 1, 2, 3),
    ATEN("adaptive_avg_pool2d _adaptive_avg_pool2d adaptive_max_pool2d", POOLING, pace_call_adaptive_pooling, 0, 1, 0),
    ATEN("_adaptive_avg_pool2d_backward adaptive_max_pool2d_backward", POOLING, pace_call_adaptive_pooling, 1, 0, 0),
    ATEN("max_pool* avg_pool* adaptive_avg_pool* _adaptive_avg_pool* adaptive_max_pool*", POOLING, NULL, 0, 0, 0),

    ATEN("sort topk nonzero bincount searchsorted bucketize histc multinomial unique* _unique* _fft*", OTHER,
         pace_call_map, 0, 0, 1),
    ATEN("arange tril_indices triu_indices linspace", OTHER, pace_call_range, 0, 0, 1),
    ATEN("eye", OTHER, pace_call_fill, 0, 0, 0),
    ATEN("im2col col2im", COPY, pace_call_map, 0, 0, 0),
    ATEN("upsample*", OTHER, pace_call_map, 0, 0, 4),
};

/* Copies the row that has the name, and says which of its names that was. */
static bool find_exact(pace_op_rule *out, const char *name, size_t length) {
    for (size_t i = 0; i < PACE_COUNT(rules); i++) {
        size_t prefix = strlen(rules[i].prefix);
        if (length <= prefix || memcmp(name, rules[i].prefix, prefix) != 0) continue;
        const char *listed = pace_span_listed(name + prefix, length - prefix, rules[i].names);
        if (!listed) continue;
        *out = rules[i];
        pace_snprintf(out->name, sizeof out->name, "%.*s", (int)strcspn(listed, " "), listed);
        return true;
    }
    return false;
}

static bool find_rule(pace_op_rule *out, const char *name) {
    size_t length = strlen(name);
    if (find_exact(out, name, length)) return true;
    return length > 1 && name[length - 1] == '_' && find_exact(out, name, length - 1);
}

static bool is_sound(const pace_op_shapes *shapes) {
    if (!shapes || shapes->count > PACE_OP_ARGUMENTS) return false;
    for (unsigned i = 0; i < shapes->count; i++) {
        if (shapes->rank[i] > 6) return false;
        for (unsigned j = 0; j < shapes->rank[i]; j++)
            if (shapes->dims[i][j] < 0 || shapes->dims[i][j] > (int64_t)1 << 48) return false;
        for (unsigned j = 0; j < 4; j++) /* so that sums and products of sizes stay in range */
            if (shapes->scalars[i][j] > (int64_t)1 << 48 || shapes->scalars[i][j] < -((int64_t)1 << 48)) return false;
    }
    return true;
}

/* Where only the name tells operations of a family apart it is their kind: "gelu", "threshold_backward". */
static void keep_kind(pace_op *op, const char *name) {
    bool named = op->family == PACE_OP_ELEMENTWISE || op->family == PACE_OP_REDUCTION || op->family == PACE_OP_OTHER ||
                 op->family == PACE_OP_LOSS || op->family == PACE_OP_OPTIMIZER;
    const char *space = strrchr(name, ':');
    if (!named || op->kind[0]) return;
    if (space) name = space + 1;
    size_t length = strlen(name);
    if (length > 1 && name[length - 1] == '_') length--;
    if (length >= sizeof op->kind) length = sizeof op->kind - 1;
    memcpy(op->kind, name, length);
}

static pace_precision precision_of(int element_bytes) {
    return element_bytes == 8 ? PACE_FP64 : element_bytes == 2 ? PACE_FP16 : element_bytes == 1 ? PACE_FP8 : PACE_FP32;
}

bool pace_op_make(pace_op *out, const char *name, const pace_op_shapes *shapes) {
    pace_op_rule rule = {.family = PACE_OP_UNKNOWN};
    bool found = find_rule(&rule, name);
    pace_op_draft draft = {.op = {.family = rule.family}, .bytes_known = true};
    bool known = found && rule.formula && is_sound(shapes) && rule.formula(&rule, shapes, &draft);
    *out = (pace_op){.family = draft.op.family};
    if (!known) return false;
    if (!draft.bytes_known) draft.op.read_bytes = draft.op.write_bytes = 0;
    draft.op.precision = precision_of(draft.op.element_bytes);
    keep_kind(&draft.op, name);
    *out = draft.op;
    return true;
}

bool pace_op_work(const char *name, const pace_op_shapes *shapes, double *flop, double *bytes, pace_op_family *family) {
    pace_op op;
    bool known = pace_op_make(&op, name, shapes);
    *flop = op.flop;
    *bytes = op.read_bytes + op.write_bytes;
    *family = op.family;
    return known;
}
