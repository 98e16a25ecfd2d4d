#include "model/lower_region.h"

static void capture(pace_lowering *to) {
    to->call = pace_emit_name(to, "cudaGraphLaunch");
    to->captured = 0;
    to->captures = true;
}

static void give_gradients(pace_lowering *to) {
    bool frozen = to->frozen;
    to->frozen = false; /* those of frozen layers are not held */
    for (size_t i = 0; i < to->held.count && to->status == PACE_OK; i++) pace_lower_gradient(to, to->held.items[i]);
    to->held.count = 0;
    to->frozen = frozen;
}

static void end_capture(pace_lowering *to) {
    to->call = 0;
    to->captures = false;
    give_gradients(to);
}

static void open_operator(pace_lowering *to, const char *name) {
    pace_emit_open(to, name);
    if (to->status == PACE_OK) to->region = to->open[to->depth - 1];
}

static void close_operator(pace_lowering *to) {
    pace_emit_flush(to);
    to->region = PACE_NO_NODE;
    pace_emit_close(to);
}

/* What replays a graph: torch.cuda.make_graphed_callables has a function of autograd, torch.compile calls it itself. */
static const char *replaying(const pace_lowering *to) {
    if (to->config->execution == PACE_COMPILED) return "CUDAGraph.replay";
    return to->stage == PACE_STAGE_BACKWARD ? "GraphedBackward" : "Graphed";
}

void pace_region_open(pace_lowering *to, const char *compiled) {
    bool graph = to->config->graphs == PACE_GRAPHS_PASSES;
    open_operator(to, graph ? replaying(to) : compiled);
    if (graph) capture(to);
}

void pace_region_close(pace_lowering *to) {
    close_operator(to);
    if (to->captures) end_capture(to);
}

void pace_region_enter_pass(pace_lowering *to, const char *compiled) {
    if (pace_config_issues_passes(to->config)) pace_region_open(to, compiled);
}

void pace_region_leave_pass(pace_lowering *to) {
    if (pace_config_issues_passes(to->config)) pace_region_close(to);
}

/* Between two parts of a region, if one is open: no operator that issues others waits for them. */
void pace_region_dispatch(pace_lowering *to) {
    bool open = to->region != PACE_NO_NODE;
    if (to->status != PACE_OK) return;
    const char *name = open ? pace_names_text(&to->graph->names, to->graph->nodes.items[to->region].name) : NULL;
    if (open) close_operator(to);
    pace_emit_host(to, "aten::item");
    pace_emit_await(to);
    if (open) open_operator(to, name);
    to->dispatches = true;
}

/* --- of blocks ---------------------------------------------------------------------------------------------------- */

static uint32_t segment_of(const pace_lowering *to, uint32_t layer) { return to->model->layers.items[layer].segment; }

/* Up to the first addition behind the block's last attention. */
static bool is_of_attention(const pace_lowering *to, uint32_t layer) {
    const pace_layer *layers = to->model->layers.items;
    uint32_t first = layer, attention = layer, end = layer, segment = segment_of(to, layer);
    bool any = false;
    while (first > 0 && segment_of(to, first - 1) == segment) first--;
    for (uint32_t i = first; i < to->model->layers.count && segment_of(to, i) == segment; i++, end = i)
        if (layers[i].kind == PACE_LAYER_ATTENTION) attention = i, any = true;
    if (!any) return false;
    while (attention + 1 < end && layers[attention].kind != PACE_LAYER_ADD) attention++;
    return layer <= attention;
}

static bool is_captured(const pace_lowering *to, uint32_t layer) {
    int parts = to->config->graphs;
    if (segment_of(to, layer) == 0) return false;
    return parts == PACE_GRAPHS_BLOCKS || (parts == PACE_GRAPHS_ATTENTION && is_of_attention(to, layer));
}

static bool is_of_blocks(const pace_lowering *to) {
    return to->config->graphs == PACE_GRAPHS_BLOCKS || to->config->graphs == PACE_GRAPHS_ATTENTION;
}

void pace_region_end_blocks(pace_lowering *to) {
    if (!is_of_blocks(to) || !to->captures) return;
    if (!pace_config_issues_passes(to->config)) close_operator(to);
    pace_emit_flush(to);
    end_capture(to);
}

void pace_region_leave_block(pace_lowering *to, uint32_t layer) {
    if (!is_captured(to, layer) || segment_of(to, layer) != to->segment) pace_region_end_blocks(to);
}

void pace_region_enter_block(pace_lowering *to, uint32_t layer) {
    if (!is_of_blocks(to) || to->captures || !is_captured(to, layer)) return;
    pace_emit_flush(to);
    if (!pace_config_issues_passes(to->config)) open_operator(to, replaying(to));
    capture(to);
    to->segment = segment_of(to, layer);
}
