#include "model/lower_shards.h"

#include "model/lower_ops.h"

double pace_lower_experts(const pace_lowering *to, const pace_layer *layer) {
    if (!layer->rule->expert_elements) return 0;
    return pace_lower_parameters(to, layer) - (layer->parameters - layer->rule->expert_elements(layer));
}

double pace_lower_share(const pace_lowering *to, double elements, bool expert, int zero_stage) {
    pace_group_kind group = pace_config_shard_group(to->config, expert);
    return to->config->zero_stage >= zero_stage ? elements / pace_config_group_size(to->config, group) : elements;
}

/* --- blocks ------------------------------------------------------------------------------------------------------- */

static bool goes_back(const pace_lowering *to) { return to->turn.pass != PACE_TURN_FORWARD; }

static bool same_block(const pace_lowering *to, uint32_t a, uint32_t b) {
    return to->model->layers.items[a].segment == to->model->layers.items[b].segment;
}

/* Whether a layer is the first of its block, in the order of the pass, among those at hand. */
static bool begins_block(const pace_lowering *to, uint32_t layer) {
    uint32_t first = goes_back(to) ? to->part.last : to->part.first;
    return layer == first || !same_block(to, layer, goes_back(to) ? layer + 1 : layer - 1);
}

/* The last layer of its block, in the order of the pass. */
static uint32_t end_of_block(const pace_lowering *to, uint32_t layer) {
    uint32_t last = goes_back(to) ? to->part.first : to->part.last;
    while (layer != last && same_block(to, layer, goes_back(to) ? layer - 1 : layer + 1))
        layer = goes_back(to) ? layer - 1 : layer + 1;
    return layer;
}

/* --- gathers ------------------------------------------------------------------------------------------------------ */

/* Stage 3 frees them behind each pass; else replicas give each other what each has updated, once a step. */
static bool gathers(const pace_lowering *to) {
    bool trains = pace_config_trains(to->config);
    if (to->config->zero_stage == 0 || !pace_config_shares_gradients(to->config)) return false;
    if (to->config->zero_stage >= 3) return to->turn.pass != PACE_TURN_WEIGHTS;
    return trains && to->turn.pass == PACE_TURN_FORWARD && to->turn.micro_batch == 0;
}

static int gathered_bytes(const pace_lowering *to) {
    return pace_config_is_amp(to->config) ? 2 : pace_config_parameter_bytes(to->config);
}

static uint32_t gather_from(pace_lowering *to, pace_group_kind group, double elements) {
    double ranks = pace_config_group_size(to->config, group);
    if (!(elements > 0) || ranks < 2) return PACE_NO_LAUNCH;
    return pace_emit_gather(to, group, elements / ranks * gathered_bytes(to));
}

typedef struct {
    double elements[2]; /* parameters of all ranks, and of experts */
    double tensors;
} block_sums;

static block_sums sums_of_block(const pace_lowering *to, uint32_t from) {
    uint32_t end = end_of_block(to, from), first = from < end ? from : end, last = from < end ? end : from;
    block_sums sums = {0};
    for (uint32_t i = first; i <= last; i++) {
        const pace_layer *layer = &to->model->layers.items[i];
        double experts = pace_lower_experts(to, layer);
        if (layer->rule->sparse || (layer->frozen && to->config->zero_stage < 3)) continue;
        double tied = pace_lower_tied_copy(to, layer);
        sums.elements[to->config->ep > 1] += experts;
        sums.elements[0] += pace_lower_parameters(to, layer) - experts + tied;
        sums.tensors += layer->tensors + (tied > 0);
    }
    return sums;
}

static void gather_block(pace_lowering *to, uint32_t from) {
    block_sums sums = sums_of_block(to, from);
    uint32_t launch = gather_from(to, pace_config_shard_group(to->config, false), sums.elements[0]);
    uint32_t of_experts =
        gather_from(to, pace_config_shard_group(to->config, true), sums.elements[1]); /* in line on the same stream */
    to->pulls[from] = of_experts != PACE_NO_LAUNCH ? of_experts : launch;
}

/* What was updated is given to the others before the step's first pass, whether or not its input has come. */
static void gather_all(pace_lowering *to) {
    uint32_t input = to->await_exchange;
    to->await_exchange = PACE_NO_LAUNCH;
    for (uint32_t from = to->part.first; from <= to->part.last; from = end_of_block(to, from) + 1)
        gather_block(to, from);
    to->await_exchange = input;
}

void pace_lower_unpack(pace_lowering *to, double tensors, double elements) {
    pace_lower_flat_copy(to, "fsdp::split_with_sizes_copy", tensors, elements, gathered_bytes(to));
}

void pace_lower_gather(pace_lowering *to, uint32_t layer) {
    uint32_t last = goes_back(to) ? to->part.first : to->part.last, end = end_of_block(to, layer);
    if (!gathers(to) || !begins_block(to, layer)) return;
    bool first = layer == (goes_back(to) ? to->part.last : to->part.first), each = to->config->zero_stage >= 3;
    if (first && !each) gather_all(to);
    if (first && each) gather_block(to, layer);
    if (end != last && each) gather_block(to, goes_back(to) ? end - 1 : end + 1);
    if (to->pulls[layer] != PACE_NO_LAUNCH) {
        block_sums sums = sums_of_block(to, layer);
        to->await_pull = to->pulls[layer];
        if (to->config->zero_stage >= 2) pace_lower_unpack(to, sums.tensors, sums.elements[0] + sums.elements[1]);
    }
    to->pulls[layer] = PACE_NO_LAUNCH;
}

void pace_lower_scatter(pace_lowering *to, uint32_t layer) {
    bool ends = layer == to->part.first || !same_block(to, layer, layer - 1);
    if (to->config->zero_stage >= 3 && to->exchanges_gradients && ends) pace_lower_send_buckets(to);
}
