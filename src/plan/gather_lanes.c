#include "plan/gather_lanes.h"

#include <math.h>

typedef pace_stage_lanes lanes;

/* Behind what was computed and issued. Returns when it has ended; what is nothing is not waited for. */
static double exchange(lanes *l, double seconds, double call_s) {
    if (!(seconds > 0)) return 0;
    l->host_s += call_s;
    l->exchange_s = fmax(fmax(l->exchange_s, l->compute_s - l->copying_s), l->host_s) + seconds;
    return l->exchange_s;
}

static void compute(lanes *l, pace_clocks work, double ready_s) {
    double begun_s = l->host_s;
    l->host_s += work.host_s;
    l->compute_s = fmax(fmax(fmax(l->compute_s, ready_s), l->await_s) + work.device_s, begun_s + work.idle_s);
    l->await_s = l->idle_s = l->copying_s = 0;
}

/* Which of a pass's blocks comes as the i-th. */
static size_t turn_of(const pace_gathered_chunk *chunk, bool back, size_t i) { return back ? chunk->count - 1 - i : i; }

/* --- activations that are copied (src/model/lower_activations.c) -------------------------------------------------- */

static bool moves(const pace_gathered_chunk *chunk, size_t i) { return chunk->blocks[i]->moved_s[0] > 0; }

/* The next of a chunk's layers whose activations move, one way or the other; count = there is none. The last layer's
 * stay on the device. */
static size_t next_that_moves(const pace_gathered_chunk *chunk, size_t i, bool back) {
    do i = back ? (i ? i - 1 : chunk->count) : i + 1;
    while (i < chunk->count && !moves(chunk, i));
    return i;
}

static void copy(lanes *l, const pace_gathered_chunk *chunk, size_t i, bool back, double from_s) {
    l->copy_s[back] = fmax(l->copy_s[back], from_s) + chunk->blocks[i]->moved_s[back];
    l->copied_s = l->copy_s[back];
}

/* Behind a layer: what follows waits for the copy of the one before. */
static void copy_out(lanes *l, const pace_gathered_chunk *chunk, size_t i) {
    if (!moves(chunk, i)) return;
    l->await_s = l->copied_s;
    l->copied_s = 0;
    if (next_that_moves(chunk, i, false) < chunk->count) copy(l, chunk, i, false, l->compute_s - l->idle_s);
}

/* From when on a layer's copy goes on the device: while the stage waits for what its pass needs, or behind what unpacks
 * the layer's parameters, which waits for that and for them. */
static double copied_from_s(const lanes *l, const pace_gathered_block *block, double ready_s) {
    bool unpacks = block->unpacks_s > 0;
    return fmax(l->host_s,
                unpacks ? fmax(l->compute_s - l->copying_s, ready_s) + block->unpacks_s : l->compute_s - l->idle_s);
}

/* Before a layer those of the next one come. */
static void copy_in(lanes *l, const pace_gathered_chunk *chunk, size_t i, double ready_s) {
    if (!moves(chunk, i)) return;
    size_t before = next_that_moves(chunk, i, true);
    double from_s = copied_from_s(l, chunk->blocks[i], ready_s);
    l->await_s = l->copied_s;
    l->copied_s = 0;
    if (before < chunk->count) copy(l, chunk, before, true, from_s);
}

/* A block of a pass, of a chunk. */
static void compute_block(lanes *l, const pace_gathered_chunk *chunk, size_t i, bool back, pace_clocks work,
                          double ready_s) {
    if (back) copy_in(l, chunk, i, ready_s);
    compute(l, work, ready_s);
    if (!back) copy_out(l, chunk, i);
}

/* When a pass over a chunk has ended, with its host or on the device alone; `ahead`: its first copy takes no time. */
static lanes copying_pass(const pace_gathered_chunk *chunk, bool back, bool hosts, bool ahead) {
    lanes l = {0};
    for (size_t i = 0; i < chunk->count; i++) {
        size_t turn = turn_of(chunk, back, i);
        pace_clocks work = chunk->blocks[turn]->pass[back];
        if (!hosts) work = (pace_clocks){0, work.device_s, work.device_s};
        compute_block(&l, chunk, turn, back, work, 0);
        if (ahead && l.copied_s > 0) l.copied_s = l.copy_s[back] = 0, ahead = false;
    }
    return l;
}

/* With what comes next behind a forward pass. */
static double ends_s(const lanes *l) { return fmax(l->compute_s, l->await_s); }

/* The first layer's activations come last. */
static double hidden_share(const pace_gathered_chunk *chunk) {
    double all = 0, behind = 0;
    bool comes = false;
    for (size_t i = 0; i < chunk->count; i++) {
        all += chunk->blocks[i]->share;
        if (comes) behind += chunk->blocks[i]->share;
        comes |= moves(chunk, i);
    }
    return all > 0 ? behind / all : 0;
}

pace_copy_waits pace_chunk_copy_waits(const pace_gathered_chunk *chunk) {
    lanes forward = copying_pass(chunk, false, false, false), backward = copying_pass(chunk, true, false, false);
    lanes issued = copying_pass(chunk, false, true, false), issued_back = copying_pass(chunk, true, true, false);
    bool begins = moves(chunk, chunk->count - 1); /* behind a tail the copy waits for what that needs */
    lanes ahead = copying_pass(chunk, true, false, begins), issued_ahead = copying_pass(chunk, true, true, begins);
    double work_s[2] = {0, 0};
    for (size_t i = 0; i < chunk->count; i++)
        for (int back = 0; back < 2; back++) work_s[back] += chunk->blocks[i]->pass[back].device_s;
    return (pace_copy_waits){.waits_s = {ends_s(&forward) - work_s[0], backward.compute_s - work_s[1]},
                             .idle_s = {ends_s(&issued), issued_back.compute_s},
                             .leaves_s = {ends_s(&forward) - forward.compute_s, ends_s(&issued) - issued.compute_s},
                             .ahead_s = {backward.compute_s - ahead.compute_s,
                                         issued_back.compute_s - issued_ahead.compute_s},
                             .hides = hidden_share(chunk)};
}

/* --- passes ------------------------------------------------------------------------------------------------------- */

/* Work of which a share comes with a block's: as much is lost where host and device take turns, but behind a graph. */
static pace_clocks work_with(pace_clocks work, pace_clocks more, double share, bool graph) {
    double host_s = share * more.host_s, device_s = share * more.device_s;
    if (graph) return pace_clocks_then(work, (pace_clocks){host_s, device_s, fmax(host_s, device_s)});
    return pace_clocks_with(work, host_s, device_s);
}

void pace_lanes_pass(lanes *l, const pace_gathered_chunk *chunk, pace_turn_pass pass) {
    bool back = pass != PACE_TURN_FORWARD, gathers = pass != PACE_TURN_WEIGHTS;
    bool scatters = pass == PACE_TURN_BACKWARD || pass == PACE_TURN_WEIGHTS;
    double ready_s = 0, next_s = 0;
    for (size_t i = 0; i < chunk->count; i++) {
        size_t turn = turn_of(chunk, back, i);
        const pace_gathered_block *block = chunk->blocks[turn];
        const pace_gathered_block *next = i + 1 == chunk->count ? NULL : chunk->blocks[turn_of(chunk, back, i + 1)];
        if (i == 0 && gathers) ready_s = exchange(l, block->gather_s, block->call_s);
        next_s = next && gathers ? exchange(l, next->gather_s, next->call_s) : 0;
        compute_block(l, chunk, turn, back, block->pass[pass], ready_s);
        if (scatters) exchange(l, block->reduce_s, block->call_s);
        ready_s = next_s;
    }
}

static double work_of(const pace_gathered_chunk *chunk, int pass) {
    double sum = 0;
    for (size_t i = 0; i < chunk->count; i++) sum += chunk->blocks[i]->pass[pass].device_s;
    return sum;
}

void pace_gathers_exposed(double (*out_s)[PACE_GATHERED_PASSES], const pace_gathered_chunk *chunks, size_t count,
                          const pace_turn_pass *passes, int pass_count) {
    enum { ROUNDS = 2 };
    lanes l = {0};
    for (size_t c = 0; c < count; c++)
        for (int pass = 0; pass < PACE_GATHERED_PASSES; pass++) out_s[c][pass] = 0;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < pass_count; i++)
            for (size_t c = 0; c < count; c++) {
                pace_turn_pass pass = passes[i];
                size_t number = pass == PACE_TURN_FORWARD ? c : count - 1 - c;
                double begun_s = l.compute_s;
                pace_lanes_pass(&l, &chunks[number], pass);
                out_s[number][pass] = fmax(0, l.compute_s - begun_s - work_of(&chunks[number], pass));
            }
}

/* --- one stage alone ---------------------------------------------------------------------------------------------- */

static void take_input(lanes *l, const pace_stage_alone *step, double micro_batches) {
    for (double i = 0; i < micro_batches * step->copies; i++) {
        l->host_s += step->copy_host_s;
        l->compute_s = fmax(l->compute_s, l->host_s) + step->copy_s;
        if (step->copy_host_s > 0) l->host_s = l->compute_s;
    }
}

void pace_lanes_first_forward(lanes *l, const pace_gathered_chunk *chunk, double input_s) {
    double ready_s[PACE_GATHERED_BLOCKS];
    for (size_t i = 0; i < chunk->count; i++)
        ready_s[i] = exchange(l, chunk->blocks[i]->gather_s, chunk->blocks[i]->call_s);
    l->compute_s = fmax(l->compute_s, input_s);
    for (size_t i = 0; i < chunk->count; i++)
        compute_block(l, chunk, i, false, pace_clocks_then(chunk->blocks[i]->unpack, chunk->blocks[i]->pass[0]),
                      ready_s[i]);
}

static void take_plain(lanes *l, const pace_stage_alone *step, bool back, pace_clocks more) {
    const pace_gathered_chunk *chunk = &step->chunk;
    for (size_t i = 0; i < chunk->count; i++) {
        size_t turn = turn_of(chunk, back, i);
        const pace_gathered_block *block = chunk->blocks[turn];
        compute_block(l, chunk, turn, back, work_with(block->pass[back], more, block->share, step->blocks), 0);
    }
}

static void take_forward(lanes *l, const pace_stage_alone *step, bool first) {
    if (step->zero_stage >= 3) pace_lanes_pass(l, &step->chunk, PACE_TURN_FORWARD);
    else if (first) pace_lanes_first_forward(l, &step->chunk, 0);
    else take_plain(l, step, false, (pace_clocks){0});
}

/* A backward pass that is one graph, with its gradients behind it. Returns when the graph has ended. */
static double take_graph(lanes *l, const pace_stage_alone *step, pace_clocks gradients) {
    take_plain(l, step, true, (pace_clocks){0});
    compute(l, step->graph, 0);
    double ended_s = l->compute_s;
    compute(l, gradients, 0);
    return ended_s;
}

static void take_backward(lanes *l, const pace_stage_alone *step, bool first, bool last) {
    double begun_s = l->compute_s;
    pace_clocks more = {0};
    if (!first) more = step->add;
    if (step->zero_stage >= 3) {
        pace_lanes_pass(l, &step->chunk, PACE_TURN_BACKWARD);
        if (last) l->compute_s = fmax(l->compute_s, l->exchange_s);
        return;
    }
    if (last) more = pace_clocks_then(more, step->fill);
    if (step->graph.host_s > 0) begun_s = take_graph(l, step, more);
    else take_plain(l, step, true, more);
    if (!last || !(step->gradients_s > 0)) return;
    double left_s = pace_gradient_hull_behind_s(step->hull, step->gradients_s, step->starts_s, l->compute_s - begun_s);
    l->compute_s += fmax(left_s, step->last_s);
}

/* From some micro-batch on each takes as long as the one before. */
static void take_micro_batches(lanes *l, const pace_stage_alone *step) {
    enum { WALKED = 6, REGULAR = 3 };
    double walked = fmin(step->micro_batches, WALKED), more = step->micro_batches - walked;
    for (double i = 0; i < walked; i++) {
        lanes before = *l;
        if (!step->captured) take_input(l, step, 1);
        else if (i == 0) take_input(l, step, step->micro_batches), l->host_s += step->replay_s;
        take_forward(l, step, i == 0);
        compute(l, step->graph, 0);
        if (step->reads_first) l->host_s = fmax(l->host_s, l->compute_s);
        take_backward(l, step, i == 0, i + 1 == walked);
        if (i != REGULAR || !(more > 0)) continue;
        l->host_s += more * (l->host_s - before.host_s);
        l->compute_s += more * (l->compute_s - before.compute_s);
        l->exchange_s += more * (l->exchange_s - before.exchange_s);
        for (int way = 0; way < 2; way++) l->copy_s[way] += more * (l->copy_s[way] - before.copy_s[way]);
    }
}

double pace_stage_alone_s(const pace_stage_alone *step) {
    enum { STEPS = 3 };
    lanes l = {0};
    double begun_s = 0;
    for (int i = 0; i < STEPS; i++) {
        begun_s = l.compute_s;
        take_micro_batches(&l, step);
        compute(&l, step->end, 0);
        if (step->reads_last) l.host_s = fmax(l.host_s, l.compute_s);
    }
    return l.compute_s - begun_s;
}
