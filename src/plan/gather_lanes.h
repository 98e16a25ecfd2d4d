/*
 * A stage's step block by block on three clocks: of the host, which issues work, of the device, which computes, and of
 * its exchanges. ZeRO 3 gathers a block while the one before it computes, the first of a pass behind what was computed
 * before, and scatters its gradients when its backward pass has ended; ZeRO 1 and 2 gather all blocks in line when a
 * step begins, each in time for its own forward pass. Orders are those of src/model/lower_shards.c.
 */
#pragma once

#include "model/pipeline_turns.h"
#include "plan/gradient_hull.h"
#include "plan/two_clocks.h"

#include <stdbool.h>
#include <stddef.h>

enum { PACE_GATHERED_PASSES = PACE_TURN_WEIGHTS + 1, PACE_GATHERED_BLOCKS = 544 };

typedef struct {
    pace_clocks pass[PACE_GATHERED_PASSES]; /* by pace_turn_pass; those that come backward with what runs again */
    pace_clocks unpack; /* ZeRO 2: copied out of the buffer that it was gathered into, once a step */
    double unpacks_s;   /* ZeRO 3: of a pass, which begins with it */
    double gather_s, reduce_s;
    double call_s;     /* what the host takes to issue one of both */
    double moved_s[2]; /* of a layer whose activations do not stay: copied to the host behind a forward pass, and back
                          before a backward one */
    double share;      /* of all gradients, those of this block; */
    double put_off;    /* and of its own those that come in a turn apart where the schedule has one */
} pace_gathered_block;

/* Layers of a stage between whose passes others come: blocks in the order of the forward pass. */
typedef struct {
    const pace_gathered_block *const *blocks;
    size_t count; /* PACE_GATHERED_BLOCKS at most */
} pace_gathered_chunk;

/** What the passes of one micro-batch over each chunk take longer than their work, where another micro-batch comes
 * before: `passes` in the order in which they come, each once. */
void pace_gathers_exposed(double (*out_s)[PACE_GATHERED_PASSES], const pace_gathered_chunk *chunks, size_t count,
                          const pace_turn_pass *passes, int pass_count);

/* Until when each is busy. */
typedef struct {
    double host_s, compute_s, exchange_s;
    double copy_s[2];         /* as of moved_s */
    double copied_s, await_s; /* when the newest copy of a pass has been made; what is computed next waits until then */
    double idle_s;            /* of compute_s: what the stage waited for what its pass needs, which copies do not */
    double copying_s;         /* of compute_s: what it waited for copies of the pass before, which copies do not */
} pace_stage_lanes;

/* What the device waits for copies of activations in passes over a chunk, forward and backward; of it what it does once
 * the forward pass has ended, and what it would not if the first copy of the backward pass came before the pass.
 * `idle_s`: as of pace_clocks; by pace_host_state what depends on it. */
typedef struct {
    double waits_s[2], idle_s[2], leaves_s[PACE_HOSTS], ahead_s[PACE_HOSTS];
    double hides; /* share of the chunk's gradients that are there before the backward pass waits for its last copy */
} pace_copy_waits;

pace_copy_waits pace_chunk_copy_waits(const pace_gathered_chunk *chunk);

/** ZeRO 3: a pass over a chunk. */
void pace_lanes_pass(pace_stage_lanes *lanes, const pace_gathered_chunk *chunk, pace_turn_pass pass);

/** ZeRO 1 and 2: a step's first forward pass over a chunk, whose blocks are all gathered in line behind what was
 * computed before; `input_s`: what it needs comes then, which gathers do not wait for. */
void pace_lanes_first_forward(pace_stage_lanes *lanes, const pace_gathered_chunk *chunk, double input_s);

/* A training step of one stage. */
typedef struct {
    pace_gathered_chunk chunk;
    double micro_batches;
    int zero_stage;
    bool reads_first, reads_last; /* the host waits for the loss, before backward or behind the step */
    double copies, copy_s,
        copy_host_s;   /* of each micro-batch: the host issues one and waits for it, unless copy_host_s is 0 */
    pace_clocks graph; /* all of a pass is one: its replay; 0 = none */
    bool blocks;       /* each block is one, behind which its gradients are added or fill buckets */
    bool captured;     /* all of the step is: it is launched behind the copies of all micro-batches, */
    double replay_s;   /* so long before it runs */
    pace_clocks add;   /* gradients are added to those of the micro-batches before, and */
    pace_clocks fill;  /* of the last put into buckets: spread over a backward pass */
    pace_clocks end;   /* what follows gradients */
    const pace_gradient_hull *hull; /* ZeRO below 3: when buckets go */
    double gradients_s, starts_s,
        last_s; /* what buckets take in all, of it whatever their size, and the last of them */
} pace_stage_alone;

/** How often the device begins such a step where one follows the other. */
double pace_stage_alone_s(const pace_stage_alone *step);
