#include "plan/turn_walk.h"

#include "base/status.h"
#include "model/pipeline_order.h"
#include "plan/two_clocks.h"

#include <math.h>

/* A turn that was issued: how many launches came before it, its own, and when the device begins and has ended them. */
typedef struct {
    double before, launches, start_s, end_s;
    double behind; /* of its own launches, behind the one graph of the pass */
} issued_turn;

typedef struct {
    pace_turns turns;
    size_t next;
    pace_stage_lanes lanes;
    double before_s;      /* the device at the end of the step before */
    uint32_t left_chunks; /* whose gradients are not yet complete */
    PACE_VEC(issued_turn) issued;
    double launches; /* of all */
    double leaves_s; /* of the turn before, as of pace_turn_times */
} stage_clock;

typedef struct {
    const pace_pipeline *pipeline;
    const pace_turn_times *times;
    stage_clock *stages;
    double *ends; /* of this step, by way, part and micro-batch; below 0 = not yet */
    double message_s, queue;
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

/* Whether what a turn has computed goes to another stage. */
static bool passes_on(const turn_walk *w, uint32_t stage, const pace_turn *t) {
    bool back = t->pass != PACE_TURN_FORWARD;
    uint32_t part = pace_pipeline_part(w->pipeline, stage, t->chunk);
    uint32_t end = back ? 0 : w->pipeline->stages * w->pipeline->chunks - 1;
    if (t->pass == PACE_TURN_WEIGHTS || part == end) return false;
    return pace_pipeline_stage(w->pipeline, back ? part - 1 : part + 1) != stage;
}

/* The host waits for the copy, which comes behind what its device has to do. */
static void take_input(const turn_walk *w, uint32_t stage, const pace_turn *t) {
    pace_stage_lanes *lanes = &w->stages[stage].lanes;
    const pace_turn_times *times = of_stage(w, stage);
    uint32_t part = pace_pipeline_part(w->pipeline, stage, t->chunk);
    bool last = part + 1 == w->pipeline->stages * w->pipeline->chunks, end = part == 0 || last;
    if (t->pass != PACE_TURN_FORWARD || !end || !(times->input_device_s[last] > 0)) return;
    lanes->host_s += times->input_host_s[last];
    lanes->compute_s = lanes->host_s = fmax(lanes->compute_s, lanes->host_s) + times->input_device_s[last];
}

double pace_turn_forms(const pace_turn *turn, double put_off) {
    if (turn->pass == PACE_TURN_FORWARD) return 0;
    return turn->pass == PACE_TURN_BACKWARD ? 1 : turn->pass == PACE_TURN_WEIGHTS ? put_off : 1 - put_off;
}

static bool forms_weights(const pace_turn *t) { return t->pass == PACE_TURN_BACKWARD || t->pass == PACE_TURN_WEIGHTS; }

/* Of a chunk's gradients what is exchanged when the last micro-batch has formed it. */
static double exchanged_s(const pace_turn_times *times, const pace_turn *t) {
    if (t->pass == PACE_TURN_INPUTS) return times->early_s;
    return t->pass == PACE_TURN_WEIGHTS ? times->exchange_s - times->early_s : times->exchange_s;
}

/* Host and device of a turn whose device waits so long for copies. The first micro-batch has no gradients to add to;
 * kernels that add, or fill buckets, stand between the others, so that as much is lost where host and device take
 * turns; but behind graphs, while which run the host issues them. */
static pace_clocks clocks_of(const turn_walk *w, const pace_turn_times *times, const pace_turn *t, double waits_s) {
    pace_clocks c = {times->host_s[t->pass], times->device_s[t->pass], 0};
    c.idle_s = fmax(times->idle_s[t->pass], c.device_s);
    bool adds = t->micro_batch > 0, fills = t->micro_batch + 1 == w->pipeline->micro_batches;
    double host_s = pace_turn_forms(t, times->put_off_host) * (adds * times->add_host_s + fills * times->fill_host_s);
    double device_s =
        pace_turn_forms(t, times->put_off_device) * (adds * times->add_device_s + fills * times->fill_device_s);
    device_s = pace_turn_longer_s(device_s, times, waits_s);
    if (times->graphs) return pace_clocks_then(c, (pace_clocks){host_s, device_s, fmax(host_s, device_s)});
    return pace_clocks_with(c, host_s, device_s);
}

/* Kernels of a turn, with those that add gradients or fill buckets. */
static double launches_of(const turn_walk *w, const pace_turn_times *times, const pace_turn *t) {
    double adds = t->micro_batch > 0 && times->add_host_s > 0;
    double fills = t->micro_batch + 1 == w->pipeline->micro_batches && times->fill_host_s > 0;
    return times->launches[t->pass] + pace_turn_forms(t, times->put_off_host) * (adds + fills) * times->tensors;
}

/* Until when a host issues that begins at `begun_s` and takes `host_s` for all launches of the newest turn: each has to
 * wait until the one that came a queue's length before it has left, and those behind it are issued then. */
static double held_until(const stage_clock *s, double queue, double begun_s, double host_s) {
    const issued_turn *own = &s->issued.items[s->issued.count - 1];
    double end_s = begun_s + host_s, last = own->before + own->launches - queue;
    if (!(queue > 0) || !(own->launches > 0)) return end_s;
    for (size_t i = s->issued.count; i-- > 0 && s->issued.items[i].before + queue >= own->before;) {
        const issued_turn *turn = &s->issued.items[i];
        if (turn->before > last) continue;
        double behind = own->launches - (turn->before + queue - own->before);
        end_s = fmax(end_s, turn->start_s + host_s * behind / own->launches);
        double part = turn->launches > 0 ? fmin(1, (last - turn->before) / turn->launches) : 1;
        if (turn != own) end_s = fmax(end_s, turn->start_s + part * (turn->end_s - turn->start_s));
    }
    return end_s;
}

/* The same of a pass that is one graph and takes the device so long: what comes behind it is issued when there is room
 * for the first of it. */
static double held_behind_graph(const stage_clock *s, double queue, double device_s, double host_s) {
    const issued_turn *own = &s->issued.items[s->issued.count - 1];
    double room = own->before + own->launches - own->behind - queue;
    for (const issued_turn *turn = own;; turn--) {
        if (turn->before > room && turn > s->issued.items) continue;
        double lasts_s = turn == own ? device_s : turn->end_s - turn->start_s;
        double part = turn->launches > 0 ? fmin(1, fmax(0, room - turn->before) / turn->launches) : 1;
        return room > 0 ? turn->start_s + part * lasts_s + host_s : 0;
    }
}

/* A turn before which the stage waits, for what the turn needs or for the copies of the pass before: meanwhile comes
 * what a backward pass waits for. */
static pace_clocks clocks_behind(const turn_walk *w, const pace_turn_times *times, const pace_turn *t, double idle_s) {
    bool back = t->pass == PACE_TURN_BACKWARD || t->pass == PACE_TURN_INPUTS;
    double less_s[PACE_HOSTS];
    for (int i = 0; i < PACE_HOSTS; i++) less_s[i] = back ? fmin(times->ahead_s[i], fmax(0, idle_s)) : 0;
    pace_clocks turn = clocks_of(w, times, t, times->waits_s - less_s[PACE_HOST_AHEAD]);
    turn.device_s -= less_s[PACE_HOST_AHEAD];
    turn.idle_s -= less_s[PACE_HOST_BESIDE];
    return turn;
}

/* What comes next waits for the copy of the layer before the last. Returns for how long. */
static double wait_for_copy(pace_stage_lanes *l) {
    double waits_s = fmax(0, l->await_s - l->compute_s);
    l->compute_s += waits_s;
    l->await_s = 0;
    return waits_s;
}

/* A pass that may begin at `start_s`, and has what it needs at `needed_s`. */
static pace_status take_pass(turn_walk *w, stage_clock *s, const pace_turn_times *times, const pace_turn *t,
                             double start_s, double needed_s) {
    pace_stage_lanes *l = &s->lanes;
    pace_clocks turn = clocks_behind(w, times, t, start_s - fmax(l->compute_s - s->leaves_s, l->host_s));
    double launches = launches_of(w, times, t), behind = times->one_graph ? launches - times->launches[t->pass] : 0;
    const issued_turn issued = {s->launches, launches, start_s, start_s, behind};
    PACE_TRY(PACE_PUSH(&s->issued, issued));
    double until_s = held_until(s, w->queue, l->host_s, turn.host_s);
    double behind_s = behind > 0 && w->queue > 0 ? held_behind_graph(s, w->queue, turn.device_s, turn.host_s) : 0;
    bool first = t->pass == PACE_TURN_FORWARD && t->micro_batch == 0;
    s->leaves_s = 0;
    if (times->blocks && times->gathers_each) {
        l->idle_s = start_s - l->compute_s;
        l->copying_s = start_s - needed_s;
        l->compute_s = start_s;
        pace_lanes_pass(l, times->blocks, t->pass);
        s->leaves_s = wait_for_copy(l);
    } else if (times->blocks && first) {
        pace_lanes_first_forward(l, times->blocks, start_s);
        s->leaves_s = wait_for_copy(l);
    } else {
        double idle_s = until_s + fmax(0, turn.idle_s - turn.host_s);
        l->compute_s = fmax(fmax(start_s + turn.device_s, idle_s), behind_s);
        if (t->pass == PACE_TURN_FORWARD)
            s->leaves_s = l->compute_s - fmax(start_s + turn.device_s - times->leaves_s[PACE_HOST_AHEAD],
                                              idle_s - times->leaves_s[PACE_HOST_BESIDE]);
    }
    l->host_s = fmax(l->host_s, fmax(until_s, behind_s));
    s->issued.items[s->issued.count - 1].end_s = l->compute_s;
    s->launches += issued.launches;
    return PACE_OK;
}

/* How far a pass is, block by block: gradients that are formed, and when host and device have done so, in whatever
 * units. The device begins at 0. */
typedef struct {
    double formed, host_s, done_s;
} pass_progress;

static void form_block(pass_progress *p, const pace_turn_times *times, const pace_turn *t, size_t i) {
    const pace_gathered_block *block = times->forms ? times->forms->blocks[i] : NULL;
    double share = block ? block->share * pace_turn_forms(t, block->put_off) : 1;
    p->formed += share;
    if (block && !times->one_graph) {
        p->host_s += block->pass[t->pass].host_s;
        p->done_s = fmax(p->done_s + block->pass[t->pass].device_s, p->host_s);
    } else p->done_s += share;
}

/* How long before the end of a pass of `pass_s` its buckets would have to begin for the last to have gone when the pass
 * ends: each goes when it is full, and those behind it follow in line. Within a block gradients come evenly, so that
 * its first and its last full bucket decide. The host began `lead_s` before the device. */
static double buckets_left_s(const pace_turn_times *times, const pace_turn *t, double exchange_s, double pass_s,
                             double lead_s) {
    const size_t count = times->forms ? times->forms->count : 1;
    const double rounding = 1e-9;
    const double filled = times->bucket_s > 0 ? fmin(1, times->bucket_s / exchange_s) : 1;
    double left_s = 0;
    pass_progress all = {.host_s = -lead_s}, at = all;
    for (size_t i = count; i-- > 0;) form_block(&all, times, t, i);
    for (size_t i = count; i-- > 0 && all.formed > 0 && all.done_s > 0;) {
        pass_progress before = at;
        form_block(&at, times, t, i);
        double formed = before.formed / all.formed, share = at.formed / all.formed - formed;
        double done = before.done_s / all.done_s, work = at.done_s / all.done_s - done;
        const double first = fmax(1, ceil(formed / filled)), last = fmax(first, floor((formed + share) / filled));
        const double full[] = {first * filled, last * filled};
        for (size_t k = 0; k < PACE_COUNT(full); k++) {
            double part = share > 0 ? (full[k] - formed) / share : -1;
            if (part < -rounding || part > 1 + rounding) continue;
            left_s = fmax(left_s, (1 - full[k] + filled) * exchange_s - (1 - done - part * work) * pass_s);
        }
    }
    return left_s;
}

/* Buckets go as they fill in a pass that device and host begin then, which may wait for the host, and the stage's last
 * behind it. */
static void exchange_gradients(turn_walk *w, stage_clock *s, const pace_turn_times *times, const pace_turn *t,
                               double begun_s, double issued_s) {
    pace_stage_lanes *l = &s->lanes;
    bool completes = forms_weights(t), newest = t->micro_batch + 1 == w->pipeline->micro_batches;
    if (t->pass == PACE_TURN_FORWARD || !newest) return;
    bool last = completes && --s->left_chunks == 0;
    double exchange_s = exchanged_s(times, t);
    if (!(exchange_s > 0)) return;
    double pass_s = times->one_graph ? times->fill_device_s : l->compute_s - begun_s;
    double left_s = buckets_left_s(times, t, exchange_s, pass_s, begun_s - issued_s);
    bool went = exchange_s < times->exchange_s; /* before, so that the last bucket may be less */
    if (last) left_s = fmax(left_s, went ? fmin(times->last_bucket_s, exchange_s) : times->last_bucket_s);
    l->exchange_s = fmax(l->exchange_s + exchange_s, l->compute_s + left_s);
}

/* *done = the next turn of a stage, unless what it needs is yet to come. */
static pace_status take(bool *done, turn_walk *w, uint32_t stage) {
    stage_clock *s = &w->stages[stage];
    const pace_turn *t = &s->turns.items[s->next];
    const pace_turn_times *times = of_stage(w, stage) + t->chunk;
    bool far, back = t->pass != PACE_TURN_FORWARD;
    double from = sent(&far, w, stage, t);
    *done = !isnan(from);
    if (!*done) return PACE_OK;
    take_input(w, stage, t);
    double message_host_s = of_stage(w, stage)->message_host_s;
    if (far) s->lanes.host_s += message_host_s;
    double asked_s = s->lanes.compute_s - s->leaves_s; /* for what the turn needs */
    if (far && message_host_s > 0) asked_s = fmax(asked_s, s->lanes.host_s);
    double needed_s = fmax(asked_s, from) + (far ? w->message_s : 0), start_s = fmax(s->lanes.compute_s, needed_s);
    double issued_s = s->lanes.host_s, begun_s = fmax(start_s, issued_s);
    PACE_TRY(take_pass(w, s, times, t, start_s, needed_s));
    exchange_gradients(w, s, times, t, begun_s, issued_s);
    double sent_s = s->lanes.compute_s - s->leaves_s;
    if (message_host_s > 0 && passes_on(w, stage, t)) sent_s = fmax(sent_s, s->lanes.host_s += message_host_s);
    if (t->pass != PACE_TURN_WEIGHTS)
        *end_of(w, back, pace_pipeline_part(w->pipeline, stage, t->chunk), t->micro_batch) = sent_s;
    s->next++;
    return PACE_OK;
}

/* Work behind the last turn; kernels of an update may be more than the queue holds. */
static pace_status take_end(const turn_walk *w, stage_clock *s, double device_s, double host_s, double launches) {
    pace_stage_lanes *l = &s->lanes;
    const issued_turn issued = {s->launches, launches, l->compute_s, l->compute_s, 0};
    PACE_TRY(PACE_PUSH(&s->issued, issued));
    l->host_s = held_until(s, w->queue, l->host_s, host_s);
    l->compute_s = fmax(l->compute_s + device_s, l->host_s);
    s->issued.items[s->issued.count - 1].end_s = l->compute_s;
    s->launches += launches;
    return PACE_OK;
}

/* What comes once a step, behind the exchange of gradients. Stages that end together begin with it when the last of
 * them has ended its turns. */
static pace_status end_step(const turn_walk *w) {
    double together_s = 0;
    for (uint32_t s = 0; s < w->pipeline->stages; s++)
        if (of_stage(w, s)->ends_together) together_s = fmax(together_s, w->stages[s].lanes.compute_s);
    for (uint32_t s = 0; s < w->pipeline->stages; s++) {
        pace_stage_lanes *l = &w->stages[s].lanes;
        if (of_stage(w, s)->ends_together) l->compute_s = together_s;
        l->compute_s = fmax(l->compute_s, l->exchange_s);
        const pace_turn_times *of = of_stage(w, s);
        PACE_TRY(take_end(w, &w->stages[s], of->end_device_s, of->end_host_s, 0));
        PACE_TRY(take_end(w, &w->stages[s], of->update_device_s, of->update_host_s, of->update_launches));
    }
    return PACE_OK;
}

static pace_status take_ready(size_t *left, turn_walk *w, uint32_t stage) {
    const stage_clock *s = &w->stages[stage];
    for (bool done = true; done && s->next < s->turns.count;) {
        PACE_TRY(take(&done, w, stage));
        *left -= done;
    }
    return PACE_OK;
}

static pace_status walk_step(turn_walk *w) {
    size_t parts = (size_t)w->pipeline->stages * w->pipeline->chunks, left = 0;
    for (size_t i = 0; i < 2 * parts * w->pipeline->micro_batches; i++) w->ends[i] = -1;
    for (uint32_t s = 0; s < w->pipeline->stages; s++) {
        w->stages[s].next = 0;
        w->stages[s].left_chunks = w->pipeline->chunks;
        left += w->stages[s].turns.count;
    }
    while (left) {
        size_t before = left;
        for (uint32_t s = 0; s < w->pipeline->stages; s++) PACE_TRY(take_ready(&left, w, s));
        if (left == before) return pace_fail(PACE_E_INTERNAL, "stages of a pipeline wait for each other for ever");
    }
    return end_step(w);
}

static pace_status walk_steps(double *out_s, turn_walk *w) {
    enum { STEPS = 2 };
    for (int step = 0; step < STEPS; step++) {
        for (uint32_t s = 0; s < w->pipeline->stages; s++) w->stages[s].before_s = w->stages[s].lanes.compute_s;
        PACE_TRY(walk_step(w));
    }
    *out_s = 0;
    for (uint32_t s = 0; s < w->pipeline->stages; s++)
        *out_s = fmax(*out_s, w->stages[s].lanes.compute_s - w->stages[s].before_s);
    return PACE_OK;
}

pace_status pace_turns_period(double *out_s, const pace_pipeline *pipeline, const pace_turn_times *times,
                              double message_s, double queue) {
    size_t parts = (size_t)pipeline->stages * pipeline->chunks;
    turn_walk w = {.pipeline = pipeline, .times = times, .message_s = message_s, .queue = queue};
    pace_status status = PACE_MAKE(w.stages, pipeline->stages) && PACE_MAKE(w.ends, 2 * parts * pipeline->micro_batches)
                             ? PACE_OK
                             : PACE_E_MEMORY;
    for (uint32_t s = 0; status == PACE_OK && s < pipeline->stages; s++)
        status = pace_pipeline_order(&w.stages[s].turns, pipeline, s);
    if (status == PACE_OK) status = walk_steps(out_s, &w);
    for (uint32_t s = 0; w.stages && s < pipeline->stages; s++) PACE_VEC_FREE(&w.stages[s].turns, &w.stages[s].issued);
    PACE_FREE(w.stages, w.ends);
    return status;
}
