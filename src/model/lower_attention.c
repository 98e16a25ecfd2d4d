/*
 * The operators of attention in both passes: rotations, and one kernel or products and a softmax.
 */
#include "model/lower_ops.h"

typedef pace_layer_view layer_view;

/* --- forward ------------------------------------------------------------------------------------------------------ */

/* Rotates by halves: x * cos + rotated(x) * sin. Of a part, the rest is put behind it again. */
static void forward_rotary(pace_lowering *to, double whole, double share, int bytes) {
    double elements = whole * share;
    pace_emit_op(to, "aten::mul", pace_emit_elementwise(to, "mul", elements, 1, 1, bytes));
    pace_emit_op(to, "aten::neg", pace_emit_elementwise(to, "neg", elements / 2, 1, 1, bytes));
    pace_emit_op(to, "aten::cat", pace_emit_copy(to, "concat", elements, bytes));
    pace_emit_op(to, "aten::mul", pace_emit_elementwise(to, "mul", elements, 1, 1, bytes));
    pace_emit_op(to, "aten::add", pace_emit_elementwise(to, "add", elements, 2, 1, bytes));
    if (share < 1) pace_emit_op(to, "aten::cat", pace_emit_copy(to, "concat", whole, bytes));
}

/* Scale, mask and softmax as one kernel written by hand, which reads no further than a causal mask's diagonal
 * (Megatron-LM, fused_kernels/scaled_upper_triang_masked_softmax.h); no compiler fuses dropout with it. */
static pace_op softmax_by_hand(pace_lowering *to, const pace_attention *size, pace_pass pass, int bytes) {
    double rows = size->b * size->heads * size->queries;
    pace_op op = pace_emit_rows(to, PACE_OP_SOFTMAX, "", pass, rows, size->keys, bytes);
    if (size->causal) op.read_bytes /= 2;
    return op;
}

/* From scores to weights. A mask of padding is as wide as parameters, so that autocast's scores are from there on;
 * dropout follows where weights are still in single precision, or behind a causal mask where they are half again, as
 * Hugging Face's BERT and GPT-2 have it. Backward needs no scores, only weights. */
static void forward_weights(pace_lowering *to, const pace_attention *size, int bytes) {
    double scores = size->b * size->heads * size->queries * size->keys;
    pace_score_bytes wide = pace_lower_score_bytes(to, size, bytes);
    const bool keeps = to->keeps;
    to->keeps = false;
    pace_emit_op(to, "aten::div", pace_emit_elementwise(to, "div", scores, 1, 1, bytes));
    pace_op mask = pace_emit_elementwise(to, size->causal ? "where" : "add", scores, 1, 1, bytes);
    pace_emit_op(to, size->causal ? "aten::where" : "aten::add", pace_emit_written_as(mask, wide.masked));
    pace_emit_op(to, "aten::softmax > aten::_softmax",
                 pace_emit_written_as(pace_emit_rows(to, PACE_OP_SOFTMAX, "", PACE_PASS_FORWARD, scores / size->keys,
                                                     size->keys, wide.masked),
                                      wide.softmax));
    to->keeps = keeps;
    if (wide.dropped == bytes) pace_forward_cast(to, scores, wide.softmax, bytes);
    if (size->drops) {
        pace_emit_op(to, "aten::dropout > aten::native_dropout", pace_lower_dropout(to, scores, wide.dropped));
    }
    if (wide.dropped != bytes) pace_forward_cast(to, scores, wide.dropped, bytes);
}

static void forward_weights_by_hand(pace_lowering *to, const pace_attention *size, int bytes) {
    double scores = size->b * size->heads * size->queries * size->keys;
    pace_emit_op(to, "aten::softmax > aten::_softmax", softmax_by_hand(to, size, PACE_PASS_FORWARD, bytes));
    pace_emit_flush(to);
    if (size->drops) pace_emit_op(to, "aten::dropout > aten::native_dropout", pace_lower_dropout(to, scores, bytes));
}

static void forward_attention_math(pace_lowering *to, const pace_attention *size, int bytes) {
    double products = size->b * size->heads;
    pace_emit_op(to, "aten::matmul > aten::bmm",
                 pace_emit_gemm(to, products, size->queries, size->keys, size->head_dim, bytes));
    if (to->config->fuses_norms) forward_weights_by_hand(to, size, bytes);
    else forward_weights(to, size, bytes);
    pace_emit_op(to, "aten::matmul > aten::bmm",
                 pace_emit_gemm(to, products, size->queries, size->value_dim, size->keys, bytes));
    pace_emit_op(to, "aten::contiguous",
                 pace_emit_copy(to, "contiguous", products * size->queries * size->value_dim, bytes));
}

void pace_forward_attention(pace_lowering *to, const layer_view *view) {
    pace_attention size = pace_lower_attention_size(to, view->layer);
    double rotary = view->layer->option[PACE_OPTION_ROTARY];
    if (rotary > 0) {
        forward_rotary(to, size.b * size.heads * size.queries * size.head_dim, rotary, view->bytes);
        forward_rotary(to, size.samples * size.kv_heads * size.held * size.head_dim, rotary, view->bytes);
    }
    if (to->config->cp > 1) /* keys and values of all tokens (Liu et al. 2023, ring attention) */
        pace_emit_exchange(to, "allgather", PACE_GROUP_CONTEXT, pace_lower_context_bytes(to, &size, view->bytes));
    if (pace_model_forms_scores(to->model, to->config)) {
        forward_attention_math(to, &size, view->bytes);
        return;
    }
    pace_emit_open(to, "aten::scaled_dot_product_attention");
    pace_emit_op(to, pace_lower_attention_name(view->bytes, false),
                 pace_lower_attention(to, &size, PACE_PASS_FORWARD, view->bytes));
    pace_emit_close(to);
}

/* --- backward ----------------------------------------------------------------------------------------------------- */

/* The parts of one tensor: each gradient is padded with zeroes. */
static void backward_slices(pace_lowering *to, double elements, int bytes) {
    for (int i = 0; i < 2; i++) {
        pace_emit_backward_op(to, "SliceBackward0", "aten::slice_backward",
                              pace_emit_copy(to, "fill", elements, bytes));
    }
    pace_emit_op(to, "aten::add_", pace_emit_elementwise(to, "add", elements, 2, 1, bytes));
}

static void backward_rotary(pace_lowering *to, double whole, double share, int bytes) {
    double elements = whole * share;
    if (share < 1) pace_emit_backward_view(to, "CatBackward0");
    pace_emit_backward_view(to, "AddBackward0");
    for (int i = 0; i < 2; i++) pace_backward_one_map(to, "MulBackward0", "aten::mul", "mul", elements, 1, bytes);
    pace_emit_backward_view(to, "CatBackward0");
    pace_backward_one_map(to, "NegBackward0", "aten::neg", "neg", elements / 2, 1, bytes);
    backward_slices(to, elements, bytes);
    if (share < 1) backward_slices(to, whole, bytes);
}

/* From weights to scores: forward's casts, the other way round. */
static void backward_weights(pace_lowering *to, const pace_attention *size, int bytes) {
    double scores = size->b * size->heads * size->queries * size->keys;
    pace_score_bytes wide = pace_lower_score_bytes(to, size, bytes);
    if (wide.dropped != bytes) pace_backward_cast(to, PACE_SAMPLES_FIRST, scores, bytes, wide.dropped);
    if (size->drops)
        pace_backward_one_map(to, "NativeDropoutBackward0", "aten::native_dropout_backward", "dropout", scores,
                              1 + 1.0 / wide.dropped, wide.dropped);
    if (wide.dropped == bytes) pace_backward_cast(to, PACE_SAMPLES_FIRST, scores, bytes, wide.softmax);
    pace_emit_backward_op(to, "SoftmaxBackward0", "aten::_softmax_backward_data",
                          pace_emit_written_as(pace_emit_rows(to, PACE_OP_SOFTMAX, "", PACE_PASS_BACKWARD,
                                                              scores / size->keys, size->keys, wide.softmax),
                                               wide.masked));
    if (size->causal) pace_backward_one_map(to, "WhereBackward0", "aten::where", "where", scores, 1, bytes);
    else pace_emit_backward_view(to, "AddBackward0");
    if (wide.masked != bytes) pace_backward_cast(to, PACE_SAMPLES_FIRST, scores, wide.masked, bytes);
    pace_backward_one_map(to, "DivBackward0", "aten::div", "div", scores, 1, bytes);
}

static void backward_weights_by_hand(pace_lowering *to, const pace_attention *size, int bytes) {
    double scores = size->b * size->heads * size->queries * size->keys;
    if (size->drops)
        pace_backward_one_map(to, "NativeDropoutBackward0", "aten::native_dropout_backward", "dropout", scores,
                              1 + 1.0 / bytes, bytes);
    pace_emit_flush(to);
    pace_emit_backward_op(to, "SoftmaxBackward0", "aten::_softmax_backward_data",
                          softmax_by_hand(to, size, PACE_PASS_BACKWARD, bytes));
    pace_emit_flush(to);
}

static void backward_attention_math(pace_lowering *to, const pace_attention *size, int bytes) {
    double products = size->b * size->heads;
    pace_emit_open_backward(to, "CloneBackward0");
    pace_emit_close_backward(to);
    pace_backward_two_products(to, products, size->queries, size->value_dim, size->keys, bytes);
    if (to->config->fuses_norms) backward_weights_by_hand(to, size, bytes);
    else backward_weights(to, size, bytes);
    pace_backward_two_products(to, products, size->queries, size->keys, size->head_dim, bytes);
}

void pace_backward_attention(pace_lowering *to, const layer_view *view) {
    pace_attention size = pace_lower_attention_size(to, view->layer);
    double context_bytes = pace_lower_context_bytes(to, &size, view->bytes);
    if (to->config->cp > 1) pace_emit_exchange(to, "allgather", PACE_GROUP_CONTEXT, context_bytes);
    if (pace_model_forms_scores(to->model, to->config)) {
        backward_attention_math(to, &size, view->bytes);
    } else {
        bool half = view->bytes == 2;
        pace_emit_backward_op(to,
                              half ? "ScaledDotProductFlashAttentionBackward0"
                                   : "ScaledDotProductEfficientAttentionBackward0",
                              pace_lower_attention_name(view->bytes, true),
                              pace_lower_attention(to, &size, PACE_PASS_BACKWARD, view->bytes));
    }
    if (to->config->cp > 1) /* the gradients of all keys and values go back to their ranks */
        pace_emit_exchange(to, "reducescatter", PACE_GROUP_CONTEXT, context_bytes * to->config->cp);
    double rotary = view->layer->option[PACE_OPTION_ROTARY];
    if (rotary > 0) {
        backward_rotary(to, size.samples * size.kv_heads * size.held * size.head_dim, rotary, view->bytes);
        backward_rotary(to, size.b * size.heads * size.queries * size.head_dim, rotary, view->bytes);
    }
    if (view->layer->input_count == 1) { /* parts of one tensor */
        pace_emit_backward_op(to, "SplitBackward0", "aten::cat",
                              pace_emit_copy(to, "concat", view->in_elements, view->bytes));
    }
    pace_emit_open_backward(to, "TransposeBackward0");
    pace_backward_give(to, view);
    pace_emit_close_backward(to);
    pace_backward_keep(to, view);
}
