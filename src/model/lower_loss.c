/*
 * The cross entropy that Megatron's frameworks write out for words that ranks share (VocabParallelCrossEntropy of
 * megatron/core/tensor_parallel/cross_entropy.py): each operation is a kernel of its own on scores in single precision.
 */
#include "model/lower_ops.h"

/* The targets are found among a rank's words, and the target's score is taken, token by token. */
enum { TOKEN_KERNELS_FORWARD = 14, TOKEN_KERNELS_BACKWARD = 7, SINGLE = 4 };

static void apart(pace_lowering *to, const char *name, pace_op op) {
    pace_emit_flush(to);
    pace_emit_op(to, name, op);
    pace_emit_flush(to);
}

static void each_token(pace_lowering *to, double tokens, int kernels) {
    for (int i = 0; i < kernels; i++) apart(to, "aten::index", pace_emit_elementwise(to, "map", tokens, 1, 1, SINGLE));
}

/* The maximum, the target's score, the sum. */
static void join_ranks(pace_lowering *to, const pace_layer_view *view, double tokens) {
    if (view->input->shape.sharded && to->config->tp > 1)
        pace_emit_exchange(to, "allreduce", PACE_GROUP_TENSOR, SINGLE * tokens);
}

void pace_forward_parts_loss(pace_lowering *to, const pace_layer_view *view, double tokens, double words) {
    double scores = tokens * words;
    pace_op largest = pace_emit_rows(to, PACE_OP_REDUCTION, "max", PACE_PASS_FORWARD, tokens, words, SINGLE);
    pace_op in_place = pace_emit_elementwise(to, "map", scores, 1, 1, SINGLE);
    if (view->bytes != SINGLE)
        apart(to, "aten::to > aten::_to_copy > aten::copy_", pace_emit_cast(to, scores, view->bytes, SINGLE));
    apart(to, "aten::max", largest);
    join_ranks(to, view, tokens);
    apart(to, "aten::sub_", in_place);
    each_token(to, tokens, TOKEN_KERNELS_FORWARD);
    join_ranks(to, view, tokens);
    apart(to, "aten::exp", in_place);
    apart(to, "aten::sum", pace_emit_sums(to, tokens, words, SINGLE));
    join_ranks(to, view, tokens);
    apart(to, "aten::div_", in_place);
}

void pace_backward_parts_loss(pace_lowering *to, const pace_layer_view *view, double tokens, double words) {
    double scores = tokens * words;
    pace_emit_open_backward(to, "_VocabParallelCrossEntropyBackward");
    each_token(to, tokens, TOKEN_KERNELS_BACKWARD);
    apart(to, "aten::mul_", pace_emit_elementwise(to, "map", scores, 1, 1, SINGLE));
    pace_emit_close_backward(to);
    pace_emit_open_backward(to, "ToCopyBackward0");
    if (view->bytes != SINGLE)
        apart(to, "aten::to > aten::_to_copy > aten::copy_", pace_emit_cast(to, scores, SINGLE, view->bytes));
    pace_emit_close_backward(to);
}
