/* The functions that the rows of layer_rules.c name, kind by kind. */
#pragma once

#include "model/layer.h"

/* layer_shapes.c */
pace_layer_infer pace_infer_same, pace_infer_convolution, pace_infer_pool, pace_infer_adaptive_pool, pace_infer_flatten,
    pace_infer_select, pace_infer_linear, pace_infer_norm, pace_infer_layer_norm, pace_infer_embedding,
    pace_infer_positions, pace_infer_embedding_bag, pace_infer_interaction, pace_infer_attention,
    pace_infer_additive_attention, pace_infer_lstm, pace_infer_experts, pace_infer_join, pace_infer_concat,
    pace_infer_transposed_convolution, pace_infer_group_norm, pace_infer_channel_scale, pace_infer_upsample,
    pace_infer_tokens_of_image, pace_infer_image_of_tokens, pace_infer_slice, pace_infer_append;
pace_layer_table_of pace_table_embedding, pace_table_embedding_bag;
double pace_expert_elements(const pace_layer *layer);

/* lower_forward.c */
pace_layer_lower pace_forward_convolution, pace_forward_linear, pace_forward_batch_norm, pace_forward_layer_norm,
    pace_forward_rms_norm, pace_forward_local_norm, pace_forward_activation, pace_forward_dropout, pace_forward_scale,
    pace_forward_pool, pace_forward_adaptive_pool, pace_forward_view, pace_forward_embedding, pace_forward_positions,
    pace_forward_embedding_bag, pace_forward_interaction, pace_forward_additive_attention, pace_forward_lstm,
    pace_forward_experts, pace_forward_join, pace_forward_concat, pace_forward_loss;

/* lower_backward.c */
pace_layer_lower pace_backward_convolution, pace_backward_linear, pace_backward_batch_norm, pace_backward_layer_norm,
    pace_backward_rms_norm, pace_backward_local_norm, pace_backward_activation, pace_backward_dropout,
    pace_backward_scale, pace_backward_pool, pace_backward_adaptive_pool, pace_backward_view, pace_backward_embedding,
    pace_backward_positions, pace_backward_embedding_bag, pace_backward_interaction, pace_backward_additive_attention,
    pace_backward_lstm, pace_backward_experts, pace_backward_add, pace_backward_multiply, pace_backward_concat,
    pace_backward_loss;

/* lower_attention.c */
pace_layer_lower pace_forward_attention, pace_backward_attention;

/* lower_images.c */
pace_layer_lower pace_forward_transposed_convolution, pace_backward_transposed_convolution, pace_forward_group_norm,
    pace_backward_group_norm, pace_backward_channel_scale, pace_forward_upsample, pace_backward_upsample,
    pace_forward_layout, pace_backward_layout, pace_forward_slice, pace_backward_slice;

/* model_totals.c */
pace_layer_kept pace_kept_mask, pace_kept_squares, pace_kept_rms_norm, pace_kept_places, pace_kept_softmax,
    pace_kept_attention, pace_kept_additive_attention, pace_kept_lstm, pace_kept_experts, pace_kept_interaction;
