#include "step/op_call.h"
#include "base/text.h"

#include <string.h>

/* The gradients of the input and of the weight are two kernels, and the first layer needs only one: the last argument
 * of convolution_backward says which, where it is recorded. */
static unsigned split_convolution(pace_op out[PACE_CALL_OPS], const pace_op *both, const pace_op_shapes *shapes) {
    enum { MASK = 10 };
    static const pace_pass passes[] = {PACE_PASS_BACKWARD_DATA, PACE_PASS_BACKWARD_WEIGHT};
    bool said = shapes->count > MASK && shapes->scalar_count[MASK] >= 2;
    unsigned count = 0;
    for (unsigned i = 0; i < 2; i++) {
        pace_op half = *both;
        if (said && !shapes->scalars[MASK][i]) continue;
        half.pass = passes[i];
        if (!(half.size[0] > 0) || !pace_op_complete(&half)) {
            half.flop = both->flop / 2;
            half.read_bytes = both->read_bytes / 2;
            half.write_bytes = both->write_bytes / 2;
        }
        out[count++] = half;
    }
    return count;
}

unsigned pace_ops_of_call(pace_op out[PACE_CALL_OPS], pace_op_family *family, const char *name,
                          const pace_op_shapes *shapes) {
    pace_op op;
    bool known = pace_op_make(&op, name, shapes);
    *family = op.family;
    if (!known) return 0;
    if (op.family == PACE_OP_CONVOLUTION && op.pass == PACE_PASS_BACKWARD) return split_convolution(out, &op, shapes);
    out[0] = op;
    return 1;
}

/* Operators of the namespace aten that launch nothing of their own, without the "_" of calls in place. */
static const char idle[] =
    "view _unsafe_view as_strided _reshape_alias reshape reshape_as transpose t permute slice select narrow "
    "expand expand_as squeeze unsqueeze detach alias split chunk unbind split_with_sizes flatten unflatten "
    "view_as diagonal unfold empty empty_like empty_strided new_empty new_empty_strided resize resize_as set "
    "lift_fresh to _to_copy contiguous type_as broadcast_to broadcast_tensors result_type is_nonzero item size "
    "stride numel requires_grad retain_grad record_stream is_pinned pin_memory swapaxes movedim real zeros "
    "zeros_like ones ones_like full full_like new_zeros new_full new_ones scalar_tensor unsafe_split unsafe_chunk "
    "_version _has_compatible_shallow_copy_type is_same_size can_cast _local_scalar_dense dropout feature_dropout "
    "alpha_dropout numpy_T resolve_conj resolve_neg unflatten_dense_tensors mT mH adjoint conj swapdims "
    "flatten_dense_tensors";

bool pace_op_is_idle(const char *name) {
    if (!pace_starts(name, "aten::")) return strcmp(name, "detach") == 0 || strcmp(name, "detach_") == 0;
    name += 6;
    size_t length = strlen(name), plain = length > 1 && name[length - 1] == '_' ? length - 1 : length;
    return pace_span_listed(name, length, idle) || pace_span_listed(name, plain, idle);
}

bool pace_op_works_itself(pace_op_family family, uint32_t below) {
    bool heavy = family == PACE_OP_GEMM || family == PACE_OP_CONVOLUTION;
    return heavy ? !(below >> family & 1) : below == 0;
}

bool pace_op_is_lookup_gradient(const char *name) {
    static const char outer[] = "torch::autograd::", node[] = "CppNode<SplitLookupFunction_";
    if (pace_starts(name, outer)) name += sizeof outer - 1;
    return pace_starts(name, node);
}

pace_op pace_op_gradient(const pace_op *forward) {
    pace_op op = *forward;
    op.pass = PACE_PASS_BACKWARD;
    (void)pace_op_complete(&op);
    return op;
}
