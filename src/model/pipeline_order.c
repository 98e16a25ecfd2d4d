#include "model/pipeline_order.h"

#include "base/status.h"
#include "model/pipeline_v.h"

enum { TURNS_MOST = 1 << 20 };

pace_status pace_pipeline_check(const pace_pipeline *p) {
    if ((double)p->micro_batches * p->chunks > TURNS_MOST)
        return pace_fail(PACE_E_LIMIT, "expected at most %d micro-batches on a rank, found %u",
                         TURNS_MOST / (int)p->chunks, p->micro_batches);
    if (pace_schedule_is_v(p->schedule)) return pace_pipeline_v_check(p);
    if (p->chunks < 2) return PACE_OK;
    if (p->schedule == PACE_SCHEDULE_GPIPE)
        return pace_fail(PACE_E_USAGE, "schedule gpipe: expected one chunk of layers a stage (vpp=1), found vpp %u",
                         p->chunks);
    if (p->micro_batches % p->stages == 0) return PACE_OK;
    return pace_fail(PACE_E_USAGE,
                     "vpp %u: an interleaved pipeline takes micro-batches in rounds of its %u stages: expected a "
                     "multiple of %u micro-batches, found %u",
                     p->chunks, p->stages, p->stages, p->micro_batches);
}

/* What is the k-th forward pass, and the k-th backward one, of every stage: in rounds, each chunk takes as many
 * micro-batches as there are stages. */
static pace_turn turn_at(const pace_pipeline *p, pace_turn_pass pass, uint32_t k) {
    uint32_t round = p->stages * p->chunks, chunk = k % round / p->stages;
    if (p->chunks < 2) return (pace_turn){pass, k, 0};
    return (pace_turn){pass, k / round * p->stages + k % p->stages,
                       pass == PACE_TURN_FORWARD ? chunk : p->chunks - 1 - chunk};
}

/* Forward passes before the first backward one, beside the one that goes with it. */
static uint32_t warm_up(const pace_pipeline *p, uint32_t stage, uint32_t all) {
    uint32_t behind = p->stages - stage - 1, turns = behind;
    if (p->schedule == PACE_SCHEDULE_GPIPE || p->forward_only) return all;
    if (p->chunks > 1)
        turns = (p->chunks - 1) * p->stages + (p->schedule == PACE_SCHEDULE_ZERO_BUBBLE ? behind : 2 * behind);
    return turns < all ? turns : all;
}

/* Gradients of weights follow so many backward passes later that every stage keeps as many micro-batches as the
 * first. */
static pace_status take_back(pace_turns *out, const pace_pipeline *p, uint32_t stage, uint32_t k) {
    bool splits = p->schedule == PACE_SCHEDULE_ZERO_BUBBLE && p->stages > 1;
    PACE_TRY(PACE_PUSH(out, turn_at(p, splits ? PACE_TURN_INPUTS : PACE_TURN_BACKWARD, k)));
    if (!splits || k < stage) return PACE_OK;
    return PACE_PUSH(out, turn_at(p, PACE_TURN_WEIGHTS, k - stage));
}

static pace_status fill(pace_turns *out, const pace_pipeline *p, uint32_t stage) {
    uint32_t all = p->micro_batches * p->chunks, warm = warm_up(p, stage, all), back = 0;
    for (uint32_t k = 0; k < all; k++) {
        PACE_TRY(PACE_PUSH(out, turn_at(p, PACE_TURN_FORWARD, k)));
        if (k >= warm) PACE_TRY(take_back(out, p, stage, back++));
    }
    while (!p->forward_only && back < all) PACE_TRY(take_back(out, p, stage, back++));
    if (p->schedule != PACE_SCHEDULE_ZERO_BUBBLE || p->stages < 2 || p->forward_only) return PACE_OK;
    for (uint32_t k = all > stage ? all - stage : 0; k < all; k++)
        PACE_TRY(PACE_PUSH(out, turn_at(p, PACE_TURN_WEIGHTS, k)));
    return PACE_OK;
}

pace_status pace_pipeline_order(pace_turns *out, const pace_pipeline *pipeline, uint32_t stage) {
    pace_turns turns = {0};
    bool v = pace_schedule_is_v(pipeline->schedule) && !pipeline->forward_only;
    pace_status status = v ? pace_pipeline_v_fill(&turns, pipeline, stage) : fill(&turns, pipeline, stage);
    return PACE_GIVE(out, turns, status, PACE_VEC_FREE(&turns));
}
