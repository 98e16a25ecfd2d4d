/* The table of operators: which formula makes an operation of their arguments. */
#include "step/op_formulas.h"

#include <string.h>

#define ATEN(name, family, ...) \
    { "aten::", name, PACE_OP_##family, __VA_ARGS__ }

/* First match wins. A trailing "_" (in place) of a call is ignored when the name as it stands is not here. */
static const pace_op_rule rules[] = {
    ATEN("mm", GEMM, pace_call_matrix_product, 0, 1, -1),
    ATEN("bmm", GEMM, pace_call_matrix_product, 0, 1, -1),
    ATEN("addmm", GEMM, pace_call_matrix_product, 1, 2, 0),
    ATEN("_addmm_activation", GEMM, pace_call_matrix_product, 1, 2, 0),
    ATEN("baddbmm", GEMM, pace_call_matrix_product, 1, 2, 0),
    ATEN("linear", GEMM, pace_call_linear, 0, 0, 0),
    ATEN("mv", GEMM, pace_call_matrix_vector, 0, 1, 0),
    ATEN("addmv", GEMM, pace_call_matrix_vector, 1, 2, 0),
    ATEN("dot", GEMM, pace_call_reduction, 0, 0, 2),
    ATEN("matmul", GEMM, NULL, 0, 0, 0),
    ATEN("addbmm", GEMM, NULL, 0, 0, 0),
    ATEN("_scaled_mm", GEMM, NULL, 0, 0, 0),
    ATEN("_grouped_mm", GEMM, NULL, 0, 0, 0),

    ATEN("mkldnn_rnn_layer*", GEMM, NULL, 0, 0, 0),
    ATEN("_cudnn_rnn*", GEMM, NULL, 0, 0, 0),
    ATEN("miopen_rnn*", GEMM, NULL, 0, 0, 0),

    ATEN("convolution", CONVOLUTION, pace_call_convolution, 3, 4, 5),
    ATEN("_convolution", CONVOLUTION, pace_call_convolution, 3, 4, 5),
    ATEN("convolution_overrideable", CONVOLUTION, pace_call_convolution, 3, 4, 5),
    ATEN("conv1d", CONVOLUTION, pace_call_convolution, 3, 4, 5),
    ATEN("conv2d", CONVOLUTION, pace_call_convolution, 3, 4, 5),
    ATEN("conv3d", CONVOLUTION, pace_call_convolution, 3, 4, 5),
    ATEN("cudnn_convolution", CONVOLUTION, pace_call_convolution, 3, 2, 4),
    ATEN("miopen_convolution", CONVOLUTION, pace_call_convolution, 4, 3, 5),
    ATEN("mkldnn_convolution", CONVOLUTION, pace_call_convolution, 4, 3, 5),
    ATEN("convolution_backward", CONVOLUTION, pace_call_convolution_backward, 0, 1, 2),
    ATEN("cudnn_convolution_backward", CONVOLUTION, pace_call_convolution_backward, 1, 0, 2),
    ATEN("miopen_convolution_backward", CONVOLUTION, pace_call_convolution_backward, 1, 0, 2),
    ATEN("cudnn_convolution*", CONVOLUTION, NULL, 0, 0, 0),
    ATEN("miopen_convolution*", CONVOLUTION, NULL, 0, 0, 0),
    ATEN("miopen_depthwise*", CONVOLUTION, NULL, 0, 0, 0),
    ATEN("mkldnn_convolution*", CONVOLUTION, NULL, 0, 0, 0),
    ATEN("thnn_conv*", CONVOLUTION, NULL, 0, 0, 0),
    ATEN("_slow_conv*", CONVOLUTION, NULL, 0, 0, 0),
    ATEN("_conv_depthwise*", CONVOLUTION, NULL, 0, 0, 0),
    ATEN("conv_depthwise*", CONVOLUTION, NULL, 0, 0, 0),
    ATEN("conv_transpose*", CONVOLUTION, NULL, 0, 0, 0),

    ATEN("scaled_dot_product_attention", ATTENTION, pace_call_attention, 5, 0, 0),
    ATEN("_scaled_dot_product_flash_attention", ATTENTION, pace_call_attention, 4, 0, 0),
    ATEN("_scaled_dot_product_flash_attention_for_cpu", ATTENTION, pace_call_attention, 4, 0, 0),
    ATEN("_scaled_dot_product_efficient_attention", ATTENTION, pace_call_attention, 6, 0, 0),
    ATEN("_scaled_dot_product_cudnn_attention", ATTENTION, pace_call_attention, 6, 0, 0),
    ATEN("_flash_attention_forward", ATTENTION, pace_call_attention, 8, 1, 0),
    ATEN("_efficient_attention_forward", ATTENTION, pace_call_attention, 9, 1, 0),
    ATEN("_scaled_dot_product_flash_attention_backward", ATTENTION, pace_call_attention_backward, 11, 0, 0),
    ATEN("_scaled_dot_product_flash_attention_for_cpu_backward", ATTENTION, pace_call_attention_backward, 7, 0, 0),
    ATEN("_scaled_dot_product_efficient_attention_backward", ATTENTION, pace_call_attention_backward, 11, 0, 0),
    ATEN("_scaled_dot_product_cudnn_attention_backward", ATTENTION, pace_call_attention_backward, 14, 0, 0),
    ATEN("_flash_attention_backward", ATTENTION, pace_call_attention_backward, 11, 1, 0),
    ATEN("_efficient_attention_backward", ATTENTION, pace_call_attention_backward, 14, 1, 0),
    ATEN("_scaled_dot_product*", ATTENTION, NULL, 0, 0, 0),
    {"flash_attn::", "*", PACE_OP_ATTENTION, NULL, 0, 0, 0},

    ATEN("embedding", EMBEDDING, pace_call_embedding, 0, 0, 0),
    ATEN("embedding_dense_backward", EMBEDDING, pace_call_embedding_backward, 0, 0, 0),
    ATEN("embedding*", EMBEDDING, NULL, 0, 0, 0),
    ATEN("_embedding_bag*", EMBEDDING, NULL, 0, 0, 0),
    {"fbgemm::", "split_embedding_codegen_lookup_*", PACE_OP_EMBEDDING, pace_call_embedding_tables, 1, 11, 12},
    {"fbgemm::", "dense_embedding_codegen_lookup_*", PACE_OP_EMBEDDING, pace_call_embedding_tables, 0, 7, 8},
    {"fbgemm::", "*", PACE_OP_EMBEDDING, NULL, 0, 0, 0},

    ATEN("native_layer_norm", NORMALIZATION, pace_call_normalization, 0, 1, 7),
    ATEN("native_group_norm", NORMALIZATION, pace_call_normalization, 0, 6, 7),
    ATEN("native_batch_norm", NORMALIZATION, pace_call_normalization, 0, -1, 7),
    ATEN("cudnn_batch_norm", NORMALIZATION, pace_call_normalization, 0, -1, 7),
    ATEN("miopen_batch_norm", NORMALIZATION, pace_call_normalization, 0, -1, 7),
    ATEN("layer_norm", NORMALIZATION, pace_call_normalization, 0, 1, 7),
    ATEN("native_layer_norm_backward", NORMALIZATION, pace_call_normalization, 1, 2, 11),
    ATEN("native_group_norm_backward", NORMALIZATION, pace_call_normalization, 1, 8, 11),
    ATEN("native_batch_norm_backward", NORMALIZATION, pace_call_normalization, 1, -1, 11),
    ATEN("cudnn_batch_norm_backward", NORMALIZATION, pace_call_normalization, 0, -1, 11),
    ATEN("miopen_batch_norm_backward", NORMALIZATION, pace_call_normalization, 0, -1, 11),
    ATEN("batch_norm*", NORMALIZATION, NULL, 0, 0, 0),
    ATEN("_batch_norm*", NORMALIZATION, NULL, 0, 0, 0),
    ATEN("group_norm", NORMALIZATION, NULL, 0, 0, 0),
    ATEN("rms_norm", NORMALIZATION, NULL, 0, 0, 0),
    ATEN("_fused_rms_norm*", NORMALIZATION, NULL, 0, 0, 0),

    ATEN("_softmax", SOFTMAX, pace_call_softmax, 1, 0, 5),
    ATEN("_log_softmax", SOFTMAX, pace_call_softmax, 1, 0, 5),
    ATEN("softmax", SOFTMAX, pace_call_softmax, 1, 0, 5),
    ATEN("log_softmax", SOFTMAX, pace_call_softmax, 1, 0, 5),
    ATEN("_softmax_backward_data", SOFTMAX, pace_call_softmax, 2, 0, 4),
    ATEN("_log_softmax_backward_data", SOFTMAX, pace_call_softmax, 2, 0, 4),

    ATEN("sum", REDUCTION, pace_call_reduction, 1, 0, 1),
    ATEN("mean", REDUCTION, pace_call_reduction, 1, 0, 1),
    ATEN("max", REDUCTION, pace_call_reduction, 0, 0, 1),
    ATEN("min", REDUCTION, pace_call_reduction, 0, 0, 1),
    ATEN("amax", REDUCTION, pace_call_reduction, 1, 0, 1),
    ATEN("amin", REDUCTION, pace_call_reduction, 1, 0, 1),
    ATEN("argmax", REDUCTION, pace_call_reduction, 1, 0, 1),
    ATEN("argmin", REDUCTION, pace_call_reduction, 1, 0, 1),
    ATEN("all", REDUCTION, pace_call_reduction, 0, 0, 0),
    ATEN("any", REDUCTION, pace_call_reduction, 0, 0, 0),
    ATEN("prod", REDUCTION, pace_call_reduction, 0, 0, 1),
    ATEN("norm", REDUCTION, pace_call_reduction, 0, 0, 2),
    ATEN("linalg_vector_norm", REDUCTION, pace_call_reduction, 2, 0, 2),
    ATEN("var*", REDUCTION, pace_call_reduction, 1, 0, 3),
    ATEN("std*", REDUCTION, pace_call_reduction, 1, 0, 3),
    ATEN("cumsum", REDUCTION, pace_call_map, 0, 0, 1),

    ATEN("add", ELEMENTWISE, pace_call_elementwise, 2, 0, 1),
    ATEN("sub", ELEMENTWISE, pace_call_elementwise, 2, 0, 1),
    ATEN("rsub", ELEMENTWISE, pace_call_elementwise, 2, 0, 1),
    ATEN("mul", ELEMENTWISE, pace_call_elementwise, 2, 0, 1),
    ATEN("div", ELEMENTWISE, pace_call_elementwise, 2, 0, 1),
    ATEN("neg", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("pow", ELEMENTWISE, pace_call_elementwise, 2, 0, 1),
    ATEN("addcmul", ELEMENTWISE, pace_call_elementwise, 3, 0, 1),
    ATEN("addcdiv", ELEMENTWISE, pace_call_elementwise, 3, 0, 1),
    ATEN("lerp", ELEMENTWISE, pace_call_elementwise, 3, 0, 1),
    ATEN("exp", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("log", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("sqrt", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("rsqrt", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("reciprocal", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("abs", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("cos", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("sin", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("tanh", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("tanh_backward", ELEMENTWISE, pace_call_elementwise, 2, 0, 1),
    ATEN("sigmoid", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("sigmoid_backward", ELEMENTWISE, pace_call_elementwise, 2, 0, 1),
    ATEN("relu", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("relu6", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("hardtanh*", ELEMENTWISE, pace_call_elementwise, 0, 0, 1),
    ATEN("leaky_relu*", ELEMENTWISE, pace_call_elementwise, 0, 0, 1),
    ATEN("threshold_backward", ELEMENTWISE, pace_call_elementwise, 2, 0, 1),
    ATEN("clamp*", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("gelu", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("gelu_backward", ELEMENTWISE, pace_call_elementwise, 2, 0, 1),
    ATEN("silu", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("silu_backward", ELEMENTWISE, pace_call_elementwise, 2, 0, 1),
    ATEN("where", ELEMENTWISE, pace_call_elementwise, 3, 0, 1),
    ATEN("masked_fill", ELEMENTWISE, pace_call_elementwise, 2, 0, 1),
    ATEN("maximum", ELEMENTWISE, pace_call_elementwise, 2, 0, 1),
    ATEN("minimum", ELEMENTWISE, pace_call_elementwise, 2, 0, 1),
    ATEN("eq", ELEMENTWISE, pace_call_elementwise, 2, 1, 1),
    ATEN("ne", ELEMENTWISE, pace_call_elementwise, 2, 1, 1),
    ATEN("lt", ELEMENTWISE, pace_call_elementwise, 2, 1, 1),
    ATEN("le", ELEMENTWISE, pace_call_elementwise, 2, 1, 1),
    ATEN("gt", ELEMENTWISE, pace_call_elementwise, 2, 1, 1),
    ATEN("ge", ELEMENTWISE, pace_call_elementwise, 2, 1, 1),
    ATEN("native_dropout", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("native_dropout_backward", ELEMENTWISE, pace_call_elementwise, 0, 0, 1),
    ATEN("exponential", ELEMENTWISE, pace_call_generate, 0, 0, 8),
    ATEN("random", ELEMENTWISE, pace_call_generate, 0, 0, 8),
    ATEN("randperm", ELEMENTWISE, pace_call_generate, 0, 0, 8),
    ATEN("cauchy", ELEMENTWISE, pace_call_generate, 0, 0, 8),
    ATEN("log_normal", ELEMENTWISE, pace_call_generate, 0, 0, 8),
    ATEN("geometric", ELEMENTWISE, pace_call_generate, 0, 0, 8),
    ATEN("remainder", ELEMENTWISE, pace_call_elementwise, 2, 0, 1),
    ATEN("fmod", ELEMENTWISE, pace_call_elementwise, 2, 0, 1),
    ATEN("floor_divide", ELEMENTWISE, pace_call_elementwise, 2, 0, 1),
    ATEN("bitwise_and", ELEMENTWISE, pace_call_elementwise, 2, 0, 1),
    ATEN("bitwise_or", ELEMENTWISE, pace_call_elementwise, 2, 0, 1),
    ATEN("bitwise_xor", ELEMENTWISE, pace_call_elementwise, 2, 0, 1),
    ATEN("bitwise_not", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("logical_and", ELEMENTWISE, pace_call_elementwise, 2, 1, 1),
    ATEN("logical_or", ELEMENTWISE, pace_call_elementwise, 2, 1, 1),
    ATEN("logical_not", ELEMENTWISE, pace_call_elementwise, 1, 1, 1),
    ATEN("__and__", ELEMENTWISE, pace_call_elementwise, 2, 0, 1),
    ATEN("__or__", ELEMENTWISE, pace_call_elementwise, 2, 0, 1),
    ATEN("isfinite", ELEMENTWISE, pace_call_elementwise, 1, 1, 1),
    ATEN("isnan", ELEMENTWISE, pace_call_elementwise, 1, 1, 1),
    ATEN("isinf", ELEMENTWISE, pace_call_elementwise, 1, 1, 1),
    ATEN("sign", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("floor", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("ceil", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("round", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("trunc", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("erf", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("log1p", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("log2", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("expm1", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("exp2", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("square", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("elu", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("elu_backward", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("softplus", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("softplus_backward", ELEMENTWISE, pace_call_elementwise, 2, 0, 1),
    ATEN("mish", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("mish_backward", ELEMENTWISE, pace_call_elementwise, 2, 0, 1),
    ATEN("hardswish", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("hardswish_backward", ELEMENTWISE, pace_call_elementwise, 2, 0, 1),
    ATEN("hardsigmoid", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("hardsigmoid_backward", ELEMENTWISE, pace_call_elementwise, 2, 0, 1),
    ATEN("hardtanh_backward", ELEMENTWISE, pace_call_elementwise, 2, 0, 1),
    ATEN("glu", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("glu_backward", ELEMENTWISE, pace_call_elementwise, 2, 0, 1),
    ATEN("_prelu_kernel", ELEMENTWISE, pace_call_elementwise, 2, 0, 1),
    ATEN("prelu", ELEMENTWISE, pace_call_elementwise, 2, 0, 1),
    ATEN("atan2", ELEMENTWISE, pace_call_elementwise, 2, 0, 1),
    ATEN("polar", ELEMENTWISE, pace_call_elementwise, 2, 0, 1),
    ATEN("view_as_complex", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("masked_scatter", ELEMENTWISE, pace_call_elementwise, 3, 0, 1),
    ATEN("logical_xor", ELEMENTWISE, pace_call_elementwise, 2, 1, 1),
    ATEN("nan_to_num", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("threshold", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("sinh", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("cosh", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("log_sigmoid_forward", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("log_sigmoid_backward", ELEMENTWISE, pace_call_elementwise, 3, 0, 1),
    ATEN("_conj_physical", ELEMENTWISE, pace_call_elementwise, 1, 0, 1),
    ATEN("__rshift__", ELEMENTWISE, pace_call_elementwise, 2, 0, 1),
    ATEN("__lshift__", ELEMENTWISE, pace_call_elementwise, 2, 0, 1),
    ATEN("bernoulli", ELEMENTWISE, pace_call_generate, 0, 0, 8),
    ATEN("normal", ELEMENTWISE, pace_call_generate, 0, 0, 8),
    ATEN("uniform", ELEMENTWISE, pace_call_generate, 0, 0, 8),

    ATEN("copy_", COPY, pace_call_copy, 0, 0, 0),
    ATEN("clone", COPY, pace_call_gather_all, 0, 0, 0),
    ATEN("contiguous", COPY, pace_call_gather_all, 0, 0, 0),
    ATEN("_to_copy", COPY, NULL, 0, 0, 0),
    ATEN("to", COPY, NULL, 0, 0, 0),
    ATEN("cat", COPY, pace_call_gather_all, 0, 0, 0),
    ATEN("stack", COPY, pace_call_gather_all, 0, 0, 0),
    ATEN("fill_", COPY, pace_call_fill, 0, 0, 0),
    ATEN("zero_", COPY, pace_call_fill, 0, 0, 0),
    ATEN("index_select", COPY, pace_call_index, 0, 2, 1),
    ATEN("index", COPY, pace_call_index_list, 0, 0, 0),
    ATEN("_unsafe_index", COPY, pace_call_index_list, 0, 0, 0),
    ATEN("index_put", COPY, pace_call_index, 2, -1, -1),
    ATEN("_index_put_impl", COPY, pace_call_index, 2, -1, -1),
    ATEN("_unsafe_index_put", COPY, pace_call_index, 2, -1, -1),
    ATEN("index_add", COPY, pace_call_index, 3, -1, -1),
    ATEN("index_copy", COPY, pace_call_index, 3, -1, -1),
    ATEN("index_fill", COPY, pace_call_index, 2, -1, -1),
    ATEN("index*", COPY, NULL, 0, 0, 0),
    ATEN("masked_select", COPY, pace_call_gather_all, 0, 0, 0),
    ATEN("take", COPY, pace_call_index, 1, -1, -1),
    ATEN("take_along_dim", COPY, pace_call_index, 1, -1, -1),
    ATEN("embedding_renorm", COPY, NULL, 0, 0, 0),
    ATEN("gather", COPY, pace_call_index, 2, -1, -1),
    ATEN("gather_backward", COPY, pace_call_index, 0, -1, -1),
    ATEN("gather*", COPY, NULL, 0, 0, 0),
    ATEN("scatter", COPY, pace_call_index, 2, -1, -1),
    ATEN("scatter_add", COPY, pace_call_index, 2, -1, -1),
    ATEN("scatter_reduce", COPY, pace_call_index, 2, -1, -1),
    ATEN("scatter*", COPY, NULL, 0, 0, 0),
    ATEN("slice_backward", COPY, pace_call_gather_all, 0, 0, 0),
    ATEN("slice_scatter", COPY, pace_call_gather_all, 0, 0, 0),
    ATEN("select_backward", COPY, pace_call_gather_all, 0, 0, 0),
    ATEN("select_scatter", COPY, pace_call_gather_all, 0, 0, 0),
    ATEN("repeat", COPY, pace_call_gather_all, 0, 0, 0),
    ATEN("repeat_interleave", COPY, pace_call_gather_all, 0, 0, 0),
    ATEN("tril", COPY, pace_call_gather_all, 0, 0, 0),
    ATEN("triu", COPY, pace_call_gather_all, 0, 0, 0),
    ATEN("constant_pad_nd", COPY, pace_call_gather_all, 0, 0, 0),
    ATEN("reflection_pad*", COPY, pace_call_gather_all, 0, 0, 0),
    ATEN("_foreach_copy", COPY, pace_call_foreach, 1, 0, 0),
    ATEN("split_with_sizes_copy", COPY, pace_call_gather_all, 0, 0, 0),
    ATEN("_chunk_cat", COPY, pace_call_gather_all, 0, 0, 0),
    ATEN("roll", COPY, pace_call_gather_all, 0, 0, 0),
    ATEN("flip", COPY, pace_call_gather_all, 0, 0, 0),

    ATEN("_fused_adam*", OPTIMIZER, pace_call_optimizer, 0, 0, 0),
    ATEN("_fused_sgd*", OPTIMIZER, pace_call_optimizer, 1, 0, 0),
    ATEN("_foreach_norm", OPTIMIZER, pace_call_foreach, 0, 0, 2),
    ATEN("_foreach_addcdiv*", OPTIMIZER, pace_call_foreach, 1, 0, 3),
    ATEN("_foreach_addcmul*", OPTIMIZER, pace_call_foreach, 1, 0, 3),
    ATEN("_foreach_lerp*", OPTIMIZER, pace_call_foreach, 1, 0, 3),
    ATEN("_foreach_*", OPTIMIZER, pace_call_foreach, 1, 0, 1),
    ATEN("_amp_foreach*", OPTIMIZER, pace_call_foreach, 1, 0, 2),
    ATEN("_amp_*", OPTIMIZER, NULL, 0, 0, 0),
    {"triton_", "poi_*", PACE_OP_ELEMENTWISE, pace_call_touch, 0, 0, 1}, /* TorchInductor */
    {"triton_", "red_*", PACE_OP_REDUCTION, pace_call_touch, 0, 0, 1},
    {"triton_", "per_*", PACE_OP_REDUCTION, pace_call_touch, 0, 0, 1},
    {"Optimizer.", "*", PACE_OP_OPTIMIZER, NULL, 0, 0, 0},

    ATEN("nll_loss_forward", LOSS, pace_call_loss, 0, 1, 1),
    ATEN("nll_loss_backward", LOSS, pace_call_loss, 1, 1, 1),
    ATEN("nll_loss2d_forward", LOSS, pace_call_loss, 0, 0, 1),
    ATEN("nll_loss2d_backward", LOSS, pace_call_loss, 1, 0, 1),
    ATEN("nll_loss*", LOSS, NULL, 0, 0, 0),
    ATEN("cross_entropy_loss", LOSS, NULL, 0, 0, 0),
    ATEN("mse_loss", LOSS, pace_call_loss, 0, 0, 3),
    ATEN("mse_loss_backward", LOSS, pace_call_loss, 1, 0, 3),
    ATEN("mse_loss*", LOSS, NULL, 0, 0, 0),
    ATEN("l1_loss", LOSS, pace_call_loss, 0, 0, 2),
    ATEN("l1_loss_backward", LOSS, pace_call_loss, 1, 0, 2),
    ATEN("l1_loss*", LOSS, NULL, 0, 0, 0),
    ATEN("smooth_l1_loss", LOSS, pace_call_loss, 0, 0, 5),
    ATEN("smooth_l1_loss_backward", LOSS, pace_call_loss, 1, 0, 5),
    ATEN("smooth_l1_loss*", LOSS, NULL, 0, 0, 0),
    ATEN("huber_loss", LOSS, pace_call_loss, 0, 0, 5),
    ATEN("huber_loss_backward", LOSS, pace_call_loss, 1, 0, 5),
    ATEN("huber_loss*", LOSS, NULL, 0, 0, 0),
    ATEN("binary_cross_entropy", LOSS, pace_call_loss, 0, 0, 7),
    ATEN("binary_cross_entropy_backward", LOSS, pace_call_loss, 1, 0, 7),
    ATEN("binary_cross_entropy_with_logits", LOSS, pace_call_loss, 0, 0, 7),
    ATEN("binary_cross_entropy*", LOSS, NULL, 0, 0, 0),
    ATEN("kl_div", LOSS, pace_call_loss, 0, 0, 3),
    ATEN("kl_div_backward", LOSS, pace_call_loss, 1, 0, 3),
    ATEN("kl_div*", LOSS, NULL, 0, 0, 0),

    ATEN("max_pool2d_with_indices", POOLING, pace_call_pooling, 0, 1, 2),
    ATEN("max_pool2d", POOLING, pace_call_pooling, 0, 1, 2),
    ATEN("avg_pool2d", POOLING, pace_call_pooling, 0, 1, 2),
    ATEN("max_pool3d_with_indices", POOLING, pace_call_pooling, 0, 1, 3),
    ATEN("max_pool2d_with_indices_backward", POOLING, pace_call_pooling, 1, 2, 2),
    ATEN("avg_pool2d_backward", POOLING, pace_call_pooling, 1, 2, 2),
    ATEN("avg_pool3d", POOLING, pace_call_pooling, 0, 1, 3),
    ATEN("max_pool3d_with_indices_backward", POOLING, pace_call_pooling, 1, 2, 3),
    ATEN("max_pool*", POOLING, NULL, 0, 0, 0),
    ATEN("avg_pool*", POOLING, NULL, 0, 0, 0),
    ATEN("adaptive_avg_pool2d", POOLING, pace_call_adaptive_pooling, 0, 1, 0),
    ATEN("adaptive_avg_pool*", POOLING, NULL, 0, 0, 0),
    ATEN("_adaptive_avg_pool2d", POOLING, pace_call_adaptive_pooling, 0, 1, 0),
    ATEN("_adaptive_avg_pool2d_backward", POOLING, pace_call_adaptive_pooling, 1, 0, 0),
    ATEN("_adaptive_avg_pool*", POOLING, NULL, 0, 0, 0),
    ATEN("adaptive_max_pool2d", POOLING, pace_call_adaptive_pooling, 0, 1, 0),
    ATEN("adaptive_max_pool2d_backward", POOLING, pace_call_adaptive_pooling, 1, 0, 0),
    ATEN("adaptive_max_pool*", POOLING, NULL, 0, 0, 0),

    ATEN("sort", OTHER, pace_call_map, 0, 0, 1),
    ATEN("topk", OTHER, pace_call_map, 0, 0, 1),
    ATEN("nonzero", OTHER, pace_call_map, 0, 0, 1),
    ATEN("arange", OTHER, pace_call_range, 0, 0, 1),
    ATEN("tril_indices", OTHER, pace_call_range, 0, 0, 1),
    ATEN("triu_indices", OTHER, pace_call_range, 0, 0, 1),
    ATEN("linspace", OTHER, pace_call_range, 0, 0, 1),
    ATEN("eye", OTHER, pace_call_fill, 0, 0, 0),
    ATEN("unique*", OTHER, pace_call_map, 0, 0, 1),
    ATEN("_unique*", OTHER, pace_call_map, 0, 0, 1),
    ATEN("bincount", OTHER, pace_call_map, 0, 0, 1),
    ATEN("searchsorted", OTHER, pace_call_map, 0, 0, 1),
    ATEN("bucketize", OTHER, pace_call_map, 0, 0, 1),
    ATEN("histc", OTHER, pace_call_map, 0, 0, 1),
    ATEN("_fft*", OTHER, pace_call_map, 0, 0, 1),
    ATEN("multinomial", OTHER, pace_call_map, 0, 0, 1),
    ATEN("im2col", COPY, pace_call_map, 0, 0, 0),
    ATEN("col2im", COPY, pace_call_map, 0, 0, 0),
    ATEN("upsample*", OTHER, pace_call_map, 0, 0, 4),
};

static bool name_matches(const char *pattern, const char *name, size_t length) {
    size_t size = strlen(pattern);
    if (pattern[size - 1] == '*') return length >= size - 1 && memcmp(pattern, name, size - 1) == 0;
    return size == length && memcmp(pattern, name, length) == 0;
}

static const pace_op_rule *find_exact(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        size_t prefix = strlen(rules[i].prefix);
        if (length > prefix && memcmp(name, rules[i].prefix, prefix) == 0 &&
            name_matches(rules[i].name, name + prefix, length - prefix))
            return &rules[i];
    }
    return NULL;
}

static const pace_op_rule *find_rule(const char *name) {
    size_t length = strlen(name);
    const pace_op_rule *rule = find_exact(name, length);
    return !rule && length > 1 && name[length - 1] == '_' ? find_exact(name, length - 1) : rule;
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
    const pace_op_rule *rule = find_rule(name);
    pace_op_draft draft = {.op = {.family = rule ? rule->family : PACE_OP_UNKNOWN}, .bytes_known = true};
    bool known = rule && rule->formula && is_sound(shapes) && rule->formula(rule, shapes, &draft);
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
