#include "model/lower_part.h"

#include "model/lower_region.h"

static bool is_skipped(const pace_lowering *to, uint32_t layer) {
    return to->model->layers.items[layer].training_only && to->config->mode != PACE_TRAINING;
}

static void begin_layer(pace_lowering *to, uint32_t layer) {
    pace_region_leave_block(to, layer);
    pace_region_enter_block(to, layer);
}

static void lower_layers(pace_lowering *to, uint32_t first, uint32_t last, pace_part_pass pass) {
    if (pass >= PACE_PART_BACKWARD) {
        for (uint32_t i = last + 1; i-- > first && to->status == PACE_OK;) {
            begin_layer(to, i);
            if (!is_skipped(to, i)) pace_lower_backward(to, i);
        }
        return;
    }
    unsigned products = 0; /* a part is of one segment */
    for (uint32_t i = first; i <= last && to->status == PACE_OK; i++) {
        if (pass == PACE_PART_FORWARD) begin_layer(to, i); /* what runs again is of backward's graph, or none */
        if (is_skipped(to, i)) continue;
        if (pass == PACE_PART_FORWARD) pace_lower_forward(to, i);
        else pace_lower_again(to, i, &products);
    }
}

/* From the loss; in a graph there is nothing between its passes. */
static bool begins_backward(const pace_lowering *to, uint32_t last, pace_part_pass pass) {
    return last + 1 == to->model->layers.count && (pass == PACE_PART_BACKWARD || pass == PACE_PART_INPUTS) &&
           to->config->execution != PACE_CUDA_GRAPH;
}

/* To autograd's thread. */
static void give_loss_gradient(pace_lowering *to) {
    pace_lower_loss_gradient(to);
    to->after = to->last_node[0];
    to->thread = 1;
}

static void lower_pass(pace_lowering *to, uint32_t first, uint32_t last, pace_part_pass pass) {
    to->stage = pass == PACE_PART_FORWARD ? PACE_STAGE_FORWARD : PACE_STAGE_BACKWARD;
    bool region = to->config->execution == PACE_CUDA_GRAPH || pace_config_issues_passes(to->config);
    if (begins_backward(to, last, pass)) give_loss_gradient(to);
    if (region) pace_region_open(to, "part");
    to->turn.pass = pass == PACE_PART_INPUTS    ? PACE_TURN_INPUTS
                    : pass == PACE_PART_WEIGHTS ? PACE_TURN_WEIGHTS
                    : pass == PACE_PART_FORWARD ? PACE_TURN_FORWARD
                                                : PACE_TURN_BACKWARD;
    lower_layers(to, first, last, pass);
    pace_region_end_blocks(to);
    if (region) pace_region_close(to);
}

pace_status pace_model_lower_part(pace_graph *out, const pace_model *model, const pace_config *config, uint32_t first,
                                  uint32_t last, pace_part_pass pass) {
    pace_graph graph;
    pace_lowering to;
    pace_config alone = pace_config_unshared(config);
    alone.dp = 1;
    if (last >= model->layers.count) last = (uint32_t)model->layers.count - 1;
    if (model->layers.count == 0) return pace_fail(PACE_E_INPUT, "the model has no layers");
    PACE_TRY(pace_graph_init(&graph));
    pace_status status = pace_lowering_begin(&to, &graph, model, &alone);
    if (status == PACE_OK) {
        lower_pass(&to, first, last, pass);
        status = to.status;
    }
    pace_lowering_end(&to);
    return PACE_GIVE(out, graph, status, pace_graph_free(&graph));
}
