/* The kinds of layers, one row for every word of a model's YAML. */
#include "model/layer_kinds.h"

#define OPTIONS(...)          \
    .options = {__VA_ARGS__}, \
    .option_count = sizeof((const pace_layer_default[]){__VA_ARGS__}) / sizeof(pace_layer_default)
#define NEEDS(name) \
    { PACE_OPTION_##name, PACE_NEEDED }
#define TAKES(name, value) \
    { PACE_OPTION_##name, value }
#define FOLLOWS(name) \
    { PACE_OPTION_##name, PACE_SAME_AS_BEFORE }
#define OF(name) .infer = pace_infer_##name
#define BY(forward_name, backward_name) \
    .forward = pace_forward_##forward_name, .backward = pace_backward_##backward_name
#define ONE_INPUT .least = 1, .most = 1
#define ACTIVATION(name, kept) \
    { name, PACE_LAYER_ACTIVATION, ONE_INPUT, OF(same), BY(activation, activation), .keeps = kept }
#define LOSS(name, ...) \
    { name, PACE_LAYER_LOSS, ONE_INPUT, OF(same), BY(loss, loss), .autocast = PACE_AUTOCAST_SINGLE, __VA_ARGS__ }

/* clang-format off */
static const pace_layer_rule rules[] = {
    {"conv", PACE_LAYER_CONVOLUTION, ONE_INPUT, OF(convolution), BY(convolution, convolution),
     OPTIONS(NEEDS(OUT), TAKES(KERNEL, 1), TAKES(STRIDE, 1), TAKES(PAD, 0), TAKES(GROUPS, 1), TAKES(DILATION, 1),
             TAKES(BIAS, 1), TAKES(TIED, 0)),
     .autocast = PACE_AUTOCAST_HALF, .keeps = PACE_KEEPS_INPUT},
    {"conv_transpose", PACE_LAYER_TRANSPOSED_CONVOLUTION, ONE_INPUT, OF(transposed_convolution),
     BY(transposed_convolution, transposed_convolution),
     OPTIONS(NEEDS(OUT), TAKES(KERNEL, 1), TAKES(STRIDE, 1), TAKES(PAD, 0), TAKES(BIAS, 1)),
     .autocast = PACE_AUTOCAST_HALF, .keeps = PACE_KEEPS_INPUT},
    {"linear", PACE_LAYER_LINEAR, ONE_INPUT, OF(linear), BY(linear, linear),
     OPTIONS(NEEDS(OUT), TAKES(BIAS, 1), TAKES(TIED, 0)),
     .autocast = PACE_AUTOCAST_HALF, .keeps = PACE_KEEPS_INPUT},
    {"batch_norm", PACE_LAYER_BATCH_NORM, ONE_INPUT, OF(norm), BY(batch_norm, batch_norm), OPTIONS(TAKES(BIAS, 1)),
     .keeps = PACE_KEEPS_INPUT},
    {"layer_norm", PACE_LAYER_LAYER_NORM, ONE_INPUT, OF(layer_norm), BY(layer_norm, layer_norm),
     OPTIONS(FOLLOWS(WIDTH), TAKES(BIAS, 1), TAKES(AFFINE, 1)), .autocast = PACE_AUTOCAST_SINGLE, .keeps = PACE_KEEPS_INPUT},
    {"rms_norm", PACE_LAYER_RMS_NORM, ONE_INPUT, OF(norm), BY(rms_norm, rms_norm),
     OPTIONS(FOLLOWS(WIDTH), TAKES(BIAS, 0)), .autocast = PACE_AUTOCAST_SINGLE, .keeps = PACE_KEEPS_INPUT,
     .kept_extra = pace_kept_rms_norm},
    {"group_norm", PACE_LAYER_GROUP_NORM, ONE_INPUT, OF(group_norm), BY(group_norm, group_norm),
     OPTIONS(TAKES(GROUPS, 32), TAKES(BIAS, 1)), .autocast = PACE_AUTOCAST_SINGLE, .keeps = PACE_KEEPS_INPUT},
    {"channel_scale", PACE_LAYER_CHANNEL_SCALE, ONE_INPUT, OF(channel_scale), BY(scale, channel_scale),
     .keeps = PACE_KEEPS_INPUT},
    ACTIVATION("relu", PACE_KEEPS_OUTPUT),
    ACTIVATION("relu6", PACE_KEEPS_OUTPUT),
    ACTIVATION("gelu", PACE_KEEPS_INPUT),
    ACTIVATION("silu", PACE_KEEPS_INPUT),
    ACTIVATION("tanh", PACE_KEEPS_OUTPUT),
    ACTIVATION("sigmoid", PACE_KEEPS_INPUT | PACE_KEEPS_OUTPUT),
    ACTIVATION("squared_relu", PACE_KEEPS_INPUT),
    {"lrn", PACE_LAYER_LOCAL_NORM, ONE_INPUT, OF(same), BY(local_norm, local_norm), OPTIONS(TAKES(KERNEL, 5)),
     .keeps = PACE_KEEPS_INPUT, .kept_extra = pace_kept_squares},
    {"dropout", PACE_LAYER_DROPOUT, ONE_INPUT, OF(same), BY(dropout, dropout), OPTIONS(TAKES(P, 0.5)),
     .kept_extra = pace_kept_mask},
    {"scale", PACE_LAYER_SCALE, ONE_INPUT, OF(same), BY(scale, scale)},
    {"max_pool", PACE_LAYER_MAX_POOL, ONE_INPUT, OF(pool), BY(pool, pool),
     OPTIONS(NEEDS(KERNEL), FOLLOWS(STRIDE), TAKES(PAD, 0), TAKES(CEIL, 0)),
     .keeps = PACE_KEEPS_INPUT, .kept_extra = pace_kept_places},
    {"avg_pool", PACE_LAYER_AVERAGE_POOL, ONE_INPUT, OF(pool), BY(pool, pool),
     OPTIONS(NEEDS(KERNEL), FOLLOWS(STRIDE), TAKES(PAD, 0), TAKES(CEIL, 0)), .keeps = PACE_KEEPS_INPUT},
    {"adaptive_pool", PACE_LAYER_ADAPTIVE_POOL, ONE_INPUT, OF(adaptive_pool), BY(adaptive_pool, adaptive_pool),
     OPTIONS(TAKES(OUT, 1))},
    {"upsample", PACE_LAYER_UPSAMPLE, ONE_INPUT, OF(upsample), BY(upsample, upsample), OPTIONS(TAKES(STRIDE, 2))},
    {"flatten", PACE_LAYER_FLATTEN, ONE_INPUT, OF(flatten), BY(view, view), .is_view = true},
    {"select", PACE_LAYER_SELECT, ONE_INPUT, OF(select), BY(view, view)},
    {"to_tokens", PACE_LAYER_TOKENS_OF_IMAGE, ONE_INPUT, OF(tokens_of_image), BY(layout, layout)},
    {"to_image", PACE_LAYER_IMAGE_OF_TOKENS, ONE_INPUT, OF(image_of_tokens), BY(layout, layout),
     OPTIONS(FOLLOWS(KERNEL), TAKES(VIEW, 0))},
    {"slice", PACE_LAYER_SLICE, ONE_INPUT, OF(slice), BY(slice, slice), OPTIONS(FOLLOWS(OUT), FOLLOWS(ROWS)),
     .is_view = true},
    {"append", PACE_LAYER_APPEND, .least = 1, .most = PACE_LAYER_INPUTS, OF(append), BY(concat, concat)},
    {"embedding", PACE_LAYER_EMBEDDING, ONE_INPUT, OF(embedding), BY(embedding, embedding),
     OPTIONS(NEEDS(ROWS), NEEDS(WIDTH), TAKES(TIED, 0)), .autocast = PACE_AUTOCAST_HELD, .keeps = PACE_KEEPS_INPUT,
     .table = pace_table_embedding, .rows_divided = true},
    {"positions", PACE_LAYER_POSITIONS, ONE_INPUT, OF(positions), BY(positions, positions), OPTIONS(NEEDS(ROWS)),
     .autocast = PACE_AUTOCAST_HELD},
    {"embedding_bag", PACE_LAYER_EMBEDDING_BAG, ONE_INPUT, OF(embedding_bag), BY(embedding_bag, embedding_bag),
     OPTIONS(NEEDS(ROWS), NEEDS(WIDTH), FOLLOWS(TABLES), TAKES(LOOKUPS, 1)), .autocast = PACE_AUTOCAST_HELD,
     .keeps = PACE_KEEPS_INPUT, .table = pace_table_embedding_bag, .sparse = true, .lists_rows = true},
    {"interaction", PACE_LAYER_INTERACTION, .least = 2, .most = 2, OF(interaction), BY(interaction, interaction),
     .kept_extra = pace_kept_interaction},
    {"attention", PACE_LAYER_ATTENTION, .least = 1, .most = 3, OF(attention), BY(attention, attention),
     OPTIONS(NEEDS(HEADS), FOLLOWS(KV_HEADS), FOLLOWS(HEAD_DIM), FOLLOWS(VALUE_DIM), TAKES(CAUSAL, 0),
             TAKES(ROTARY, 0), TAKES(DROPOUT, 0), TAKES(WINDOW, 0), TAKES(SLIDING, 0), TAKES(SINKS, 0)),
     .autocast = PACE_AUTOCAST_HALF, .keeps = PACE_KEEPS_INPUT | PACE_KEEPS_FUSED, .kept_extra = pace_kept_attention,
     .recomputed = true},
    {"additive_attention", PACE_LAYER_ADDITIVE_ATTENTION, .least = 3, .most = 3, OF(additive_attention),
     BY(additive_attention, additive_attention), .autocast = PACE_AUTOCAST_SINGLE, .keeps = PACE_KEEPS_INPUT,
     .kept_extra = pace_kept_additive_attention},
    {"lstm", PACE_LAYER_LSTM, ONE_INPUT, OF(lstm), BY(lstm, lstm),
     OPTIONS(NEEDS(HIDDEN), TAKES(LAYERS, 1), TAKES(BIDIRECTIONAL, 0)), .autocast = PACE_AUTOCAST_HALF,
     .keeps = PACE_KEEPS_INPUT, .kept_extra = pace_kept_lstm},
    {"experts", PACE_LAYER_EXPERTS, ONE_INPUT, OF(experts), BY(experts, experts),
     OPTIONS(NEEDS(EXPERTS), NEEDS(TOPK), NEEDS(FFN), TAKES(GATED, 1), TAKES(BIAS, 0), TAKES(NODES, 0)),
     .autocast = PACE_AUTOCAST_HALF, .keeps = PACE_KEEPS_INPUT, .kept_extra = pace_kept_experts,
     .expert_elements = pace_expert_elements},
    {"add", PACE_LAYER_ADD, .least = 1, .most = PACE_LAYER_INPUTS, OF(join), BY(join, add)},
    {"multiply", PACE_LAYER_MULTIPLY, .least = 1, .most = PACE_LAYER_INPUTS, OF(join), BY(join, multiply),
     .keeps = PACE_KEEPS_INPUT},
    {"concat", PACE_LAYER_CONCAT, .least = 1, .most = PACE_LAYER_INPUTS, OF(concat), BY(concat, concat)},
    /* Who called for the cross entropy holds the scores beside their softmax. */
    LOSS("cross_entropy", .keeps = PACE_KEEPS_INPUT, .kept_extra = pace_kept_softmax),
    LOSS("mse", .keeps = 0),
    LOSS("binary_cross_entropy", .keeps = 0),
};
/* clang-format on */

const pace_layer_rule *pace_layer_rule_find(const char *word) {
    return PACE_FIND(rules, PACE_COUNT(rules), word, word);
}
