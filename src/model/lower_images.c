/*
 * The operators of layers of images and of the tokens that their places make, forward and backward.
 */
#include "model/lower_ops.h"

typedef pace_layer_view layer_view;

/* --- transposed convolution: the gradient of a convolution from its output to its input --------------------------- */

static pace_op mirrored(const pace_lowering *to, const layer_view *view, pace_pass pass) {
    const double *option = view->layer->option;
    const pace_shape *out = &view->layer->shape;
    pace_op op = {.family = PACE_OP_CONVOLUTION,
                  .pass = pass,
                  .size = {to->batch, out->channels, out->height, out->width, view->input->shape.channels,
                           option[PACE_OPTION_KERNEL], option[PACE_OPTION_KERNEL_WIDTH], option[PACE_OPTION_STRIDE],
                           option[PACE_OPTION_STRIDE_WIDTH], option[PACE_OPTION_PAD], option[PACE_OPTION_PAD_WIDTH], 1,
                           1}};
    return pace_lower_convolution_op(to, op, &view->input->shape, view->bytes);
}

void pace_forward_transposed_convolution(pace_lowering *to, const layer_view *view) {
    pace_emit_op(to, "aten::conv_transpose2d > aten::convolution > aten::cudnn_convolution_transpose",
                 mirrored(to, view, PACE_PASS_BACKWARD_DATA));
    if (view->layer->option[PACE_OPTION_BIAS] > 0)
        pace_emit_op(to, "aten::add_", pace_emit_elementwise(to, "add", view->elements, 1, 1, view->bytes));
}

void pace_backward_transposed_convolution(pace_lowering *to, const layer_view *view) {
    pace_emit_open_backward(to, "ConvolutionBackward0");
    pace_emit_open(to, "aten::convolution_backward");
    if (view->wants) pace_emit_launch(to, mirrored(to, view, PACE_PASS_FORWARD));
    if (!to->frozen) {
        pace_emit_launch(to, mirrored(to, view, PACE_PASS_BACKWARD_WEIGHT));
        if (view->layer->option[PACE_OPTION_BIAS] > 0)
            pace_emit_launch(to, pace_emit_sums(to, view->layer->shape.channels,
                                                pace_emit_places(to, &view->layer->shape), view->bytes));
    }
    pace_emit_close(to);
    pace_backward_give(to, view);
    pace_emit_close_backward(to);
    pace_backward_keep(to, view);
}

/* --- normalization and scale -------------------------------------------------------------------------------------- */

static pace_op group_norm(const pace_lowering *to, const layer_view *view, pace_pass pass) {
    double groups = to->batch * view->layer->option[PACE_OPTION_GROUPS];
    return pace_emit_rows(to, PACE_OP_NORMALIZATION, "group_norm", pass, groups, view->elements / groups, view->bytes);
}

void pace_forward_group_norm(pace_lowering *to, const layer_view *view) {
    pace_emit_op(to, "aten::group_norm > aten::native_group_norm", group_norm(to, view, PACE_PASS_FORWARD));
}

void pace_backward_group_norm(pace_lowering *to, const layer_view *view) {
    pace_backward_map(to, view, "NativeGroupNormBackward0", "aten::native_group_norm_backward",
                      group_norm(to, view, PACE_PASS_BACKWARD));
    pace_backward_keep(to, view);
}

void pace_backward_channel_scale(pace_lowering *to, const layer_view *view) {
    double channels = view->layer->shape.channels;
    pace_emit_open_backward(to, "MulBackward0");
    pace_emit_op(to, "aten::mul", pace_emit_elementwise(to, "mul", view->elements, 1, 1, view->bytes));
    if (!to->frozen) {
        pace_emit_op(to, "aten::mul", pace_emit_elementwise(to, "mul", view->elements, 2, 1, view->bytes));
        pace_emit_op(to, "aten::sum", pace_emit_sums(to, channels, view->elements / channels, view->bytes));
    }
    pace_backward_give(to, view);
    pace_emit_close_backward(to);
    pace_backward_keep(to, view);
}

/* --- places ------------------------------------------------------------------------------------------------------- */

void pace_forward_upsample(pace_lowering *to, const layer_view *view) {
    pace_emit_op(to, "aten::upsample_nearest2d",
                 pace_emit_elementwise(to, "upsample", view->elements, view->in_elements / view->elements, 1,
                                       view->bytes));
}

void pace_backward_upsample(pace_lowering *to, const layer_view *view) {
    pace_backward_map(to, view, "UpsampleNearest2DBackward0", "aten::upsample_nearest2d_backward",
                      pace_emit_elementwise(to, "upsample", view->in_elements, view->elements / view->in_elements, 1,
                                            view->bytes));
}

/* Between an image, channels first, and tokens, channels last, lies a copy. */
static void lay_out(pace_lowering *to, const layer_view *view) {
    const pace_shape *image = view->layer->shape.tokens ? &view->input->shape : &view->layer->shape;
    if (!pace_lower_channels_last(to, image))
        pace_emit_op(to, "aten::contiguous > aten::clone > aten::copy_",
                     pace_emit_copy(to, "contiguous", view->elements, view->bytes));
}

void pace_forward_layout(pace_lowering *to, const layer_view *view) {
    pace_emit_host(to, "aten::transpose");
    lay_out(to, view);
}

void pace_backward_layout(pace_lowering *to, const layer_view *view) {
    pace_emit_open_backward(to, "TransposeBackward0");
    lay_out(to, view);
    pace_backward_give(to, view);
    pace_emit_close_backward(to);
}

void pace_forward_slice(pace_lowering *to, const layer_view *view) {
    (void)view;
    pace_emit_host(to, "aten::narrow");
}

/* The gradients of all slices of a tensor become one in one copy, with the first of them that comes. */
void pace_backward_slice(pace_lowering *to, const layer_view *view) {
    if (!view->wants) return;
    pace_emit_open_backward(to, "SplitBackward0");
    if (to->gradients[view->from]++ == 0)
        pace_emit_op(to, "aten::cat", pace_emit_copy(to, "concat", view->in_elements, view->bytes));
    pace_emit_close_backward(to);
}
