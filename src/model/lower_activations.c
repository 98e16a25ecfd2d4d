#include "model/lower_activations.h"

static uint32_t segment_of(const pace_lowering *to, uint32_t layer) { return to->model->layers.items[layer].segment; }

static bool copies(const pace_lowering *to) { return to->config->offload == PACE_OFFLOAD_ACTIVATIONS; }

/* Of the block that ends with a layer. */
static uint32_t first_of_block(const pace_lowering *to, uint32_t last) {
    uint32_t first = last;
    while (first > to->part.first && segment_of(to, first - 1) == segment_of(to, last)) first--;
    return first;
}

/* Whether a repeated block ends with a layer. */
static bool ends_block(const pace_lowering *to, uint32_t layer) {
    return segment_of(to, layer) > 0 && (layer == to->part.last || segment_of(to, layer + 1) != segment_of(to, layer));
}

/* The last layer of the repeated block before the one that a layer ends; none = the layer itself. */
static uint32_t block_before(const pace_lowering *to, uint32_t last) {
    uint32_t first = first_of_block(to, last);
    while (first > to->part.first && segment_of(to, first - 1) == 0) first--;
    return first > to->part.first ? first - 1 : last;
}

static bool another_follows(const pace_lowering *to, uint32_t last) {
    for (uint32_t i = last + 1; i <= to->part.last; i++)
        if (segment_of(to, i) > 0) return true;
    return false;
}

/* Of a block that keeps nothing there is nothing to copy. */
static uint32_t copy(pace_lowering *to, const char *way, uint32_t last) {
    double bytes = to->batch * pace_model_kept_bytes(to->model, to->config, first_of_block(to, last), last);
    return bytes > 0 ? pace_emit_copy_beside(to, "offload::activations", way, bytes) : PACE_NO_LAUNCH;
}

void pace_lower_copy_out(pace_lowering *to, uint32_t layer) {
    if (!copies(to) || !ends_block(to, layer)) return;
    uint32_t before = block_before(to, layer);
    pace_emit_flush(to); /* what the block ends with waits for no copy */
    if (before != layer) to->await_copy = to->copies[before];
    to->copies[layer] = another_follows(to, layer) ? copy(to, "d2h_pinned", layer) : PACE_NO_LAUNCH;
}

void pace_lower_copy_in(pace_lowering *to, uint32_t layer) {
    if (!copies(to) || !ends_block(to, layer)) return;
    uint32_t before = block_before(to, layer);
    if (before != layer) to->copies[before] = copy(to, "h2d_pinned", before);
    if (another_follows(to, layer)) to->await_copy = to->copies[layer];
}
