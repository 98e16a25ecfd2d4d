#include "model/pipeline_order.h"

#include "base/status.h"

/* --- two chunks as the sides of a V ------------------------------------------------------------------------------- */

/* Errors: PACE_E_USAGE for inference, for other than two chunks, and for fewer micro-batches than dualpipe-v is
 * defined for. */
static pace_status pipeline_v_check(const pace_pipeline *p) {
    bool dual = p->schedule == PACE_SCHEDULE_DUALPIPE_V;
    const char *name = dual ? "dualpipe-v" : "zb-v";
    if (p->forward_only) return pace_fail(PACE_E_USAGE, "schedule %s: expected training", name);
    if (p->chunks != PACE_V_CHUNKS)
        return pace_fail(PACE_E_USAGE, "schedule %s: expected vpp=2, the two sides of its V, found vpp %u", name,
                         p->chunks);
    if (!dual || p->micro_batches >= 2 * p->stages) return PACE_OK;
    return pace_fail(PACE_E_USAGE, "schedule %s: expected %u or more micro-batches, two a stage, found %u", name,
                     2 * p->stages, p->micro_batches);
}

/* A stage while its turns are written: what comes next of each chunk, and of gradients of weights. */
typedef struct {
    pace_turns *out;
    const pace_pipeline *pipeline;
    uint32_t forward[PACE_V_CHUNKS], backward[PACE_V_CHUNKS], weights[PACE_V_CHUNKS];
    PACE_VEC(uint32_t) late; /* chunks whose gradients of weights were put off, in order */
    size_t taken;            /* of these */
} writer;

/* zb-v counts at least as many micro-batches as fill it; those that are not there are left out. */
static pace_status put(writer *w, pace_turn_pass pass, uint32_t micro_batch, uint32_t chunk) {
    if (micro_batch >= w->pipeline->micro_batches) return PACE_OK;
    return PACE_PUSH(w->out, ((pace_turn){pass, micro_batch, chunk}));
}

static pace_status ahead(writer *w, uint32_t chunk) { return put(w, PACE_TURN_FORWARD, w->forward[chunk]++, chunk); }

static pace_status back(writer *w, pace_turn_pass pass, uint32_t chunk) {
    uint32_t k = w->backward[chunk]++;
    if (pass == PACE_TURN_BACKWARD) w->weights[chunk]++;
    return put(w, pass, k, chunk);
}

static pace_status weights(writer *w, uint32_t chunk) { return put(w, PACE_TURN_WEIGHTS, w->weights[chunk]++, chunk); }

static pace_status inputs_and_weights(writer *w, uint32_t chunk) {
    PACE_TRY(back(w, PACE_TURN_INPUTS, chunk));
    return weights(w, chunk);
}

/* --- zb-v --------------------------------------------------------------------------------------------------------- */

static pace_status steady_zb(writer *w, uint32_t all) {
    while (w->forward[1] < w->forward[0] || w->forward[0] < all) {
        if (w->forward[0] < all) PACE_TRY(ahead(w, 0));
        PACE_TRY(inputs_and_weights(w, 0));
        PACE_TRY(ahead(w, 1));
        PACE_TRY(inputs_and_weights(w, 1));
    }
    return PACE_OK;
}

static pace_status drain_zb(writer *w, uint32_t stage) {
    for (uint32_t i = 0; i < stage; i++) {
        PACE_TRY(back(w, PACE_TURN_INPUTS, 0));
        PACE_TRY(back(w, PACE_TURN_INPUTS, 1));
    }
    for (uint32_t i = stage; i < w->pipeline->stages; i++) PACE_TRY(inputs_and_weights(w, 0));
    for (uint32_t chunk = PACE_V_CHUNKS; chunk-- > 0;)
        while (w->weights[chunk] < w->backward[chunk]) PACE_TRY(weights(w, chunk));
    return PACE_OK;
}

static pace_status fill_zb(writer *w, uint32_t stage) {
    uint32_t stages = w->pipeline->stages, least = 2 * stages - 1, all = w->pipeline->micro_batches;
    for (uint32_t i = 0; i < 2 * (stages - stage) - 1; i++) PACE_TRY(ahead(w, 0));
    for (uint32_t i = 0; i < stage; i++) {
        PACE_TRY(ahead(w, 1));
        PACE_TRY(ahead(w, 0));
    }
    for (uint32_t i = stage; i < stages; i++) {
        PACE_TRY(ahead(w, 1));
        PACE_TRY(inputs_and_weights(w, 1));
    }
    PACE_TRY(steady_zb(w, all > least ? all : least));
    return drain_zb(w, stage);
}

/* --- dualpipe-v --------------------------------------------------------------------------------------------------- */

static pace_status pair(writer *w, uint32_t forward, uint32_t backward) {
    PACE_TRY(ahead(w, forward));
    return back(w, PACE_TURN_BACKWARD, backward);
}

static pace_status fill_dual(writer *w, uint32_t stage) {
    uint32_t behind = w->pipeline->stages - stage - 1;
    for (uint32_t i = 0; i < 2 * behind; i++) PACE_TRY(ahead(w, 0));
    for (uint32_t i = 0; i <= stage; i++) {
        PACE_TRY(ahead(w, 0));
        PACE_TRY(ahead(w, 1));
    }
    for (uint32_t i = 0; i < behind; i++) {
        PACE_TRY(inputs_and_weights(w, 1));
        PACE_TRY(ahead(w, 1));
    }
    return PACE_OK;
}

static pace_status steady_dual(writer *w, uint32_t stage) {
    uint32_t stages = w->pipeline->stages, rounds = w->pipeline->micro_batches - 2 * stages + stage + 1;
    for (uint32_t i = 0; i < rounds; i++) {
        PACE_TRY(pair(w, 0, 1));
        PACE_TRY(pair(w, 1, 0));
    }
    for (uint32_t i = stage + 1; i < stages; i++) {
        PACE_TRY(back(w, PACE_TURN_BACKWARD, 1));
        PACE_TRY(pair(w, 1, 0));
    }
    return PACE_OK;
}

static pace_status put_off(writer *w, uint32_t chunk) {
    PACE_TRY(PACE_PUSH(&w->late, chunk));
    return back(w, PACE_TURN_INPUTS, chunk);
}

/* Gradients of weights come in the order in which they were put off. */
static pace_status take_late(writer *w) { return weights(w, w->late.items[w->taken++]); }

/* The second half of the last pairs puts them off, from the backward pass on at which the halves part. */
static pace_status drain_dual(writer *w, uint32_t stage) {
    uint32_t half = (stage + 1) / 2, behind = w->pipeline->stages - stage - 1;
    for (uint32_t i = 0; i <= stage; i++) {
        bool late = i > half || (i == half && stage % 2 == 1);
        PACE_TRY(late ? put_off(w, 1) : back(w, PACE_TURN_BACKWARD, 1));
        PACE_TRY(i >= half ? put_off(w, 0) : back(w, PACE_TURN_BACKWARD, 0));
    }
    for (uint32_t i = 0; i < behind; i++) {
        PACE_TRY(take_late(w));
        PACE_TRY(put_off(w, 0));
    }
    while (w->taken < w->late.count) PACE_TRY(take_late(w));
    return PACE_OK;
}

static pace_status fill_all_dual(writer *w, uint32_t stage) {
    PACE_TRY(fill_dual(w, stage));
    PACE_TRY(steady_dual(w, stage));
    return drain_dual(w, stage);
}

/* Appends the turns of a stage (from 0) of a pipeline that passes the check. */
static pace_status pipeline_v_fill(pace_turns *out, const pace_pipeline *pipeline, uint32_t stage) {
    writer w = {.out = out, .pipeline = pipeline};
    bool dual = pipeline->schedule == PACE_SCHEDULE_DUALPIPE_V;
    pace_status status = dual ? fill_all_dual(&w, stage) : fill_zb(&w, stage);
    PACE_VEC_FREE(&w.late);
    return status;
}

/* --- every order -------------------------------------------------------------------------------------------------- */

enum { TURNS_MOST = 1 << 20 };

pace_status pace_pipeline_check(const pace_pipeline *p) {
    if ((double)p->micro_batches * p->chunks > TURNS_MOST)
        return pace_fail(PACE_E_LIMIT, "expected at most %d micro-batches on a rank, found %u",
                         TURNS_MOST / (int)p->chunks, p->micro_batches);
    if (pace_schedule_is_v(p->schedule)) return pipeline_v_check(p);
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
    pace_status status = v ? pipeline_v_fill(&turns, pipeline, stage) : fill(&turns, pipeline, stage);
    return PACE_GIVE(out, turns, status, PACE_VEC_FREE(&turns));
}
