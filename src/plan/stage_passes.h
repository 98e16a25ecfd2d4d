/*
 * What passes of one micro-batch take, in closed form: over a part of a model, over the chunks of a stage, and over all
 * of it. Sums of slots (step_slots.h), with exchanges as far as nothing hides them.
 */
#pragma once

#include "plan/gather_lanes.h"
#include "plan/step_plan.h"

/* What a fit may correct: factors on times. All double, so that a fit may see them as an array. */
typedef struct {
    double matrix, attention, stream; /* on kernels */
    double inside, between;           /* on exchanges within a node and across nodes */
    double launch;                    /* on the framework's host time per launch */
    double update;                    /* on the update */
    double hidden;                    /* on the share of an exchange that stays exposed: 1 - overlap */
    double step;                      /* on what every step has besides */
} pace_step_factors;

/* Passes of one micro-batch, or sums of them. */
typedef struct {
    double compute_s, host_s, group_s[PACE_SLOT_GROUPS];
    double data_s;                                /* ZeRO 3 */
    double issue_s, backward_s, backward_issue_s; /* of these operators: the host's time; backward on the device */
    double weights_s;                             /* products that form gradients of weights */
    double weights_host_s;                        /* of hosts_s, where they come in a turn of their own */
    double launches,
        weights_launches;        /* of kernels; of them those of a turn of their own, as near as host times tell */
    double products_s, hosts_s;  /* of compute_s products and attention; the host's whole time */
    double hides;                /* of chunks: as of pace_copy_waits */
    double waits_s;              /* of chunks: what the device waits for their copies in all */
    double leaves_s[PACE_HOSTS]; /* of it behind a forward pass */
    double ahead_s[PACE_HOSTS];  /* and for the first copy of a backward pass, which may come before what it needs */
    pace_clocks clocks;          /* lowered frameworks: of passes one way, in their order */
} pace_passes;

double pace_passes_s(const pace_passes *passes);

/* What of an exchange is left when a share of it may hide behind work. */
static inline double pace_exchange_left_s(double exchange_s, double overlap, double hidden, double cover_s) {
    double share = 1 - overlap < 1 ? (1 - overlap) * hidden : 1;
    double may_hide = exchange_s * (share < 1 ? 1 - share : 0);
    return exchange_s - (may_hide < cover_s ? may_hide : cover_s);
}

static inline double pace_factor_of(const pace_step_factors *f, bool across) { return across ? f->between : f->inside; }

/* Of the parts of a model, and of a layer as all kinds together make it. */
typedef struct {
    pace_passes part[PACE_SLOT_PARTS], layer, head, tail;
    bool back;   /* passes from the model's end to its beginning */
    bool has[2]; /* forward, backward */
} pace_model_passes;

pace_model_passes pace_model_passes_of(const pace_step_plan *plan, const pace_step_factors *factors,
                                       pace_part_pass from, pace_part_pass to);

/** Of a stage (from 0): its layers as they come, where frameworks cut as src/model does; else as many of all kinds. */
pace_passes pace_stage_passes_of(const pace_step_plan *plan, const pace_step_factors *factors,
                                 const pace_model_passes *model, double stage);

/** Of one of its chunks; where frameworks do not cut so the mean of all. */
pace_passes pace_chunk_passes_of(const pace_step_plan *plan, const pace_step_factors *factors,
                                 const pace_model_passes *model, double stage, double chunk);

/** Of a slot alone, without what ZeRO gathers and scatters. */
pace_passes pace_slot_passes_of(const pace_step_plan *plan, const pace_step_factors *factors, const pace_slot *slot);

enum { PACE_STAGE_CHUNKS = 64 };

/* Chunks of a stage, each with its parts in order. */
typedef struct {
    pace_gathered_block blocks[PACE_SLOT_PARTS];
    const pace_gathered_block *order[PACE_GATHERED_BLOCKS];
    pace_gathered_chunk chunks[PACE_STAGE_CHUNKS];
    size_t count;
} pace_stage_blocks;

/** Of a stage, as ZeRO gathers them; `hosts`: with the time of the host that issues them. */
void pace_stage_blocks_of(pace_stage_blocks *out, const pace_step_plan *plan, const pace_step_factors *factors,
                          double stage, bool hosts);
