#include "plan/turn_walk.h"

#include "base/status.h"
#include "model/pipeline_order.h"
#include "plan/two_clocks.h"

#include <math.h>

typedef struct {
    pace_turns turns;
    size_t next;
    double host_s, device_s, before_s; /* until when each is busy; the device at the end of the step before */
} stage_clock;

typedef struct {
    const pace_pipeline *pipeline;
    const pace_turn_times *times;
    stage_clock *stages;
    double *ends; /* of this step, by way, part and micro-batch; below 0 = not yet */
    double message_s;
} turn_walk;

static double *end_of(const turn_walk *w, bool back, uint32_t part, uint32_t micro_batch) {
    uint32_t parts = w->pipeline->stages * w->pipeline->chunks;
    return &w->ends[((back ? parts : 0) + part) * (size_t)w->pipeline->micro_batches + micro_batch];
}

static const pace_turn_times *of_stage(const turn_walk *w, uint32_t stage) {
    return &w->times[stage * w->pipeline->chunks];
}

/* When what a turn needs has been sent: -INFINITY = it needs nothing, NAN = not yet. *far = from another stage. */
static double sent(bool *far, const turn_walk *w, uint32_t stage, const pace_turn *t) {
    bool back = t->pass == PACE_TURN_BACKWARD || t->pass == PACE_TURN_INPUTS;
    uint32_t part = pace_pipeline_part(w->pipeline, stage, t->chunk), from = part;
    uint32_t last = w->pipeline->stages * w->pipeline->chunks - 1;
    *far = false;
    if (t->pass == PACE_TURN_WEIGHTS || (!back && part == 0)) return -INFINITY;
    bool turns_round = back && part == last;
    if (!turns_round) from = back ? part + 1 : part - 1;
    *far = pace_pipeline_stage(w->pipeline, from) != stage;
    double end = *end_of(w, back && !turns_round, from, t->micro_batch);
    return end < 0 ? NAN : end;
}

/* The host waits for the copy, which comes behind what its device has to do. */
static void take_input(const turn_walk *w, uint32_t stage, const pace_turn *t) {
    stage_clock *s = &w->stages[stage];
    const pace_turn_times *times = of_stage(w, stage);
    uint32_t part = pace_pipeline_part(w->pipeline, stage, t->chunk);
    bool last = part + 1 == w->pipeline->stages * w->pipeline->chunks, end = part == 0 || last;
    if (t->pass != PACE_TURN_FORWARD || !end || !(times->input_device_s[last] > 0)) return;
    s->host_s += times->input_host_s[last];
    s->device_s = s->host_s = fmax(s->device_s, s->host_s) + times->input_device_s[last];
}

/* Host and device of a turn. The first micro-batch has no gradients to add to; kernels that add stand between the
 * others, so that as much is lost where host and device take turns. */
static pace_clocks clocks_of(const pace_turn_times *times, const pace_turn *t) {
    pace_clocks c = {times->host_s[t->pass], times->device_s[t->pass], 0};
    bool forms_weights = t->pass == PACE_TURN_BACKWARD || t->pass == PACE_TURN_WEIGHTS;
    c.idle_s = fmax(times->idle_s[t->pass], c.device_s);
    if (t->micro_batch == 0 || !forms_weights) return c;
    return pace_clocks_with(c, times->add_host_s, times->add_device_s);
}

static bool take(turn_walk *w, uint32_t stage) {
    stage_clock *s = &w->stages[stage];
    const pace_turn *t = &s->turns.items[s->next];
    const pace_clocks turn = clocks_of(of_stage(w, stage) + t->chunk, t);
    bool far, back = t->pass != PACE_TURN_FORWARD;
    double from = sent(&far, w, stage, t);
    if (isnan(from)) return false;
    take_input(w, stage, t);
    double begun_s = s->host_s;
    s->host_s += turn.host_s;
    double start_s = fmax(s->device_s, from) + (far ? w->message_s : 0);
    s->device_s = fmax(fmax(start_s + turn.device_s, begun_s + turn.idle_s), s->host_s);
    if (t->pass != PACE_TURN_WEIGHTS)
        *end_of(w, back, pace_pipeline_part(w->pipeline, stage, t->chunk), t->micro_batch) = s->device_s;
    s->next++;
    return true;
}

/* What comes once a step. Stages that end together begin with it when the last of them has ended its turns. */
static void end_step(const turn_walk *w) {
    double together_s = 0;
    for (uint32_t s = 0; s < w->pipeline->stages; s++)
        if (of_stage(w, s)->ends_together) together_s = fmax(together_s, w->stages[s].device_s);
    for (uint32_t s = 0; s < w->pipeline->stages; s++) {
        stage_clock *clock = &w->stages[s];
        if (of_stage(w, s)->ends_together) clock->device_s = together_s;
        clock->host_s += of_stage(w, s)->end_host_s;
        clock->device_s = fmax(clock->device_s + of_stage(w, s)->end_device_s, clock->host_s);
    }
}

static pace_status walk_step(turn_walk *w) {
    size_t parts = (size_t)w->pipeline->stages * w->pipeline->chunks, left = 0;
    for (size_t i = 0; i < 2 * parts * w->pipeline->micro_batches; i++) w->ends[i] = -1;
    for (uint32_t s = 0; s < w->pipeline->stages; s++) {
        w->stages[s].next = 0;
        left += w->stages[s].turns.count;
    }
    while (left) {
        size_t before = left;
        for (uint32_t s = 0; s < w->pipeline->stages; s++)
            while (w->stages[s].next < w->stages[s].turns.count && take(w, s)) left--;
        if (left == before) return pace_fail(PACE_E_INTERNAL, "stages of a pipeline wait for each other for ever");
    }
    end_step(w);
    return PACE_OK;
}

static pace_status walk_steps(double *out_s, turn_walk *w) {
    enum { STEPS = 2 };
    for (int step = 0; step < STEPS; step++) {
        for (uint32_t s = 0; s < w->pipeline->stages; s++) w->stages[s].before_s = w->stages[s].device_s;
        PACE_TRY(walk_step(w));
    }
    *out_s = 0;
    for (uint32_t s = 0; s < w->pipeline->stages; s++)
        *out_s = fmax(*out_s, w->stages[s].device_s - w->stages[s].before_s);
    return PACE_OK;
}

pace_status pace_turns_period(double *out_s, const pace_pipeline *pipeline, const pace_turn_times *times,
                              double message_s) {
    size_t parts = (size_t)pipeline->stages * pipeline->chunks;
    turn_walk w = {.pipeline = pipeline, .times = times, .message_s = message_s};
    w.stages = pace_alloc(pipeline->stages, sizeof *w.stages);
    w.ends = pace_alloc(2 * parts * pipeline->micro_batches, sizeof *w.ends);
    pace_status status = w.stages && w.ends ? PACE_OK : PACE_E_MEMORY;
    for (uint32_t s = 0; status == PACE_OK && s < pipeline->stages; s++)
        status = pace_pipeline_order(&w.stages[s].turns, pipeline, s);
    if (status == PACE_OK) status = walk_steps(out_s, &w);
    for (uint32_t s = 0; w.stages && s < pipeline->stages; s++) PACE_VEC_FREE(&w.stages[s].turns);
    PACE_FREE(w.stages, w.ends);
    return status;
}
