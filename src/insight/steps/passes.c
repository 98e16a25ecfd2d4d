#include "insight/steps/passes.h"

#include "step/op_shapes.h"
#include "base/order.h"

#include <string.h>

typedef struct {
    int64_t from_ns; /* to the next one */
    uint8_t stage;   /* PACE_STAGE_NONE = no attention in it */
} pass;

typedef PACE_VEC(pass) pass_list;

bool pace_step_trains(const pace_step *step) {
    for (uint32_t task = 0; task < step->count; task++)
        if (step->stage[task] == PACE_STAGE_BACKWARD || step->stage[task] == PACE_STAGE_UPDATE) return true;
    return false;
}

/* Attention over keys of [batch, heads, length, width] by as many queries: one is a new token, more are a prompt. */
static uint8_t stage_of_attention(const pace_step *step, uint32_t task) {
    pace_op_shapes shapes;
    if (strcmp(pace_step_name(step, task), "aten::scaled_dot_product_attention") != 0 || !step->detail[task] ||
        !pace_op_shapes_parse(&shapes, pace_names_text(&step->names, step->detail[task])))
        return PACE_STAGE_NONE;
    if (shapes.count < 2 || shapes.rank[0] != 4 || shapes.rank[1] != 4) return PACE_STAGE_NONE;
    return shapes.dims[0][2] == 1 && shapes.dims[1][2] > 1 ? PACE_STAGE_DECODE : PACE_STAGE_PREFILL;
}

/* A look-up of embeddings opens a pass, unless the one at hand has computed no attention yet. */
static pace_status find_passes(pass_list *out, const pace_step *step, const pace_lane *lane) {
    for (uint32_t task = lane->first; task < lane->first + lane->count; task++) {
        if (step->kind[task] != PACE_TASK_OP) continue;
        uint8_t stage = stage_of_attention(step, task);
        pass *last = out->count ? &out->items[out->count - 1] : NULL;
        bool opens = strcmp(pace_step_name(step, task), "aten::embedding") == 0;
        if (opens && (!last || last->stage != PACE_STAGE_NONE))
            PACE_TRY(PACE_PUSH(out, ((pass){step->start_ns[task], PACE_STAGE_NONE})));
        else if (last && last->stage == PACE_STAGE_NONE) last->stage = stage;
    }
    return PACE_OK;
}

static uint8_t stage_at(const pass_list *passes, int64_t host_ns) {
    size_t low = 0;
    PACE_SEARCH(low, passes->count, middle, passes->items[middle].from_ns <= host_ns);
    uint8_t stage = low ? passes->items[low - 1].stage : (uint8_t)PACE_STAGE_NONE;
    return stage == PACE_STAGE_NONE ? (uint8_t)PACE_STAGE_FORWARD : stage;
}

static void apply(pace_step *step, const pace_lane *lane, const pass_list *passes) {
    for (uint32_t task = lane->first; task < lane->first + lane->count; task++)
        if (step->stage[task] == PACE_STAGE_FORWARD) step->stage[task] = stage_at(passes, step->start_ns[task]);
    for (uint32_t task = 0; task < step->count; task++) {
        uint32_t cause = pace_task_cause(step, task);
        bool launched = cause != PACE_NO_TASK && cause >= lane->first && cause < lane->first + lane->count;
        if (launched && step->stage[task] == PACE_STAGE_FORWARD) step->stage[task] = step->stage[cause];
    }
}

static bool any_decodes(const pass_list *passes) {
    for (size_t i = 0; i < passes->count; i++)
        if (passes->items[i].stage == PACE_STAGE_DECODE) return true;
    return false;
}

pace_status pace_passes_attribute(pace_step *step) {
    pace_status status = PACE_OK;
    if (pace_step_trains(step)) return PACE_OK;
    for (size_t i = 0; status == PACE_OK && i < step->lanes.count; i++) {
        const pace_lane *lane = &step->lanes.items[i];
        pass_list passes = {0};
        if (!lane->device) status = find_passes(&passes, step, lane);
        if (status == PACE_OK && any_decodes(&passes)) apply(step, lane, &passes);
        PACE_VEC_FREE(&passes);
    }
    return status;
}
