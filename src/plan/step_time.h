/*
 * How long a distributed training step takes and what a rank holds, in closed form, from the slots of its pipeline
 * (step_slots.h). docs/step_rows.md has the equations.
 *
 * A slot is one pass of one micro-batch over one layer: it takes what its kernels and exposed exchanges take, or what
 * the host takes to issue them, whichever is more. Stages are sums of slots, the pipeline is filled, runs at the pace
 * of its slowest stage and drains (Narayanan et al. 2021); then gradients are exchanged and parameters updated.
 */
#pragma once

#include "plan/framework.h"
#include "plan/step_slots.h"

/* What a fit may correct: factors on times. All double, so that a fit may see them as an array. */
typedef struct {
    double matrix, attention, stream; /* on kernels */
    double inside, between;           /* on exchanges within a node and across nodes */
    double launch;                    /* on the framework's host time per launch */
    double update;                    /* on the update */
    double hidden;                    /* on the share of an exchange that stays exposed: 1 - overlap */
    double step;                      /* on what every step has besides */
} pace_step_factors;

/** All factors 1. */
pace_step_factors pace_step_factors_none(void);

/* What a rank holds at most. */
typedef struct {
    double all_bytes, weight_bytes, gradient_bytes, optimizer_bytes, activation_bytes, library_bytes;
} pace_step_memory;

/* Of a block whose parameters ranks divide: they are gathered; as many as are trained would be; hybrid sharding: its gradients
 * are summed over the copies. `elements`: how many all are, with the last stage's copy of a tied table. */
typedef struct {
    double elements, gather_s, scatter_s, replicate_s;
    double unpack_s, pack_s; /* lowered frameworks: parameters copied out of the buffer, gradients into it */
} pace_step_shards;

/* Everything that does not depend on factors. */
typedef struct {
    const pace_step_slots *slots; /* borrowed */
    const pace_framework *framework;
    pace_config config;
    double attention; /* pace_frameworks_attention() */
    double micro_batches;
    double fullest, layers_most;      /* the stage in the middle that has most layers, and these */
    double layers_first, layers_last; /* of the stages with head and tail */
    double pass_s;                    /* one message to the next stage */
    double add_s; /* each micro-batch, for each parameter: its gradient is added to those before; 0 = lowered */
    bool pass_across;
    double gradient_s, expert_gradient_s; /* exchanges of the gradients of one step, alone */
    double gradient_starts_s;             /* of both: what buckets take whatever their size */
    bool gradient_across, expert_across;
    double gradient_cover_s; /* kernels of gradients beside their exchange */
    double gradient_host_s;  /* of rest_host_s what the host takes to issue these */
    double accumulate_s,
        accumulate_host_s;      /* of rest_s, rest_host_s: gradients added to those of a micro-batch before */
    pace_step_shards shards[3]; /* ZeRO 3: of one layer, of head and tail, by pace_part_place */
    double gathered_s;          /* ZeRO 1 and 2 of lowered frameworks: what replicas updated, once a step */
    double gather_first_s;      /* of it the first block, which nothing hides */
    double tied_s;              /* the shared table's gradient, between first and last stage */
    double last_bucket_s;       /* of gradient_s: what nothing can hide, since it is ready when backward ends */
    double update_s;
    double update_host_s;         /* of rest_host_s */
    double input_s, input_host_s; /* lowered frameworks: a micro-batch is copied in, and the host waits for it */
    double rest_s, rest_host_s;   /* lowered frameworks: kernels of gradients, of one step; and what the host takes to
                                   issue these and the update */
    double turns_s;               /* lowered frameworks: what formulas miss of steps that are gone through */
    double library_bytes;         /* of each stage's memory: workspaces of libraries, buffers of the framework */
    pace_step_memory memory;      /* of the fullest rank */
    double last_rank_bytes;       /* what a rank of the last stage holds, which is the one that Megatron logs */
    double device_bytes;          /* memory of the device that a framework can give; 0 = unknown */
} pace_step_plan;

/* Seconds of one step on the slowest rank; the parts add up to the total. */
typedef struct {
    double total_s;
    double compute_s;                                         /* kernels of all micro-batches on the slowest stage */
    double host_s;                                            /* kernels wait for the host */
    double tensor_s, context_s, expert_s, pipeline_s, data_s; /* exchanges that nothing hides */
    double bubble_s;                                          /* the pipeline fills and drains */
    double update_s;
    double other_s; /* of every step */
} pace_step_time;

/** Prepares a configuration on a place. `slots` from pace_step_slots_get() for the same. Errors: PACE_E_USAGE for more
 * stages than layers, or micro-batches that an interleaved pipeline cannot take; those of exchanges. */
pace_status pace_step_plan_make(pace_step_plan *out, const pace_step_slots *slots, const pace_framework *framework,
                                const pace_config *config, const pace_step_place *place,
                                double attention) PACE_MUST_CHECK;
/** The same in two parts, for a search: stages and memory of a configuration whose fields are sound by themselves, which needs
 * slots of known sizes alone; then what needs prices. */
pace_status pace_step_plan_outline(pace_step_plan *out, const pace_step_slots *slots, const pace_framework *framework,
                                   const pace_config *config, const pace_step_place *place,
                                   double attention) PACE_MUST_CHECK;
pace_status pace_step_plan_finish(pace_step_plan *plan, const pace_step_place *place) PACE_MUST_CHECK;

/** What the step of an outline with priced slots takes at least: no more than pace_step_compose()'s total, with turns_s, whatever
 * its exchanges of gradients and messages take. */
double pace_step_least_s(const pace_step_plan *plan);

/** Counts the layers of the stages: layers_first, layers_last, layers_most, fullest. Errors: those of pipelines and stages. */
pace_status pace_step_stages_cut(pace_step_plan *plan) PACE_MUST_CHECK;

/** Repeated layers of a stage, from 0. */
double pace_step_layers_of(const pace_step_plan *plan, double stage);

/** What of the trained parameters of the fullest stage a stage holds, 0 to 1. */
double pace_step_stage_part(const pace_step_plan *plan, double stage);

/** The stage that a tail is on: that of the turn before it, as src/model cuts; of other frameworks the model's last. */
double pace_step_tail_stage(const pace_step_plan *plan, const pace_model_part *tail);

/** What a rank of a stage (from 0) holds. */
pace_step_memory pace_step_stage_memory(const pace_step_plan *plan, double stage);

/** Of it, what one micro-batch leaves behind its forward pass over a chunk, and what backward forms anew of its widest layer. */
double pace_step_kept_bytes(const pace_step_plan *plan, double stage, double chunk);
double pace_step_again_bytes(const pace_step_plan *plan, double stage);

/** Composes; no allocation, nothing is looked up. */
pace_step_time pace_step_compose(const pace_step_plan *plan, const pace_step_factors *factors);

/* What a turn of a stage takes: one pass of one micro-batch over one chunk of its layers. */
typedef struct {
    double products_s, others_s;              /* kernels: products and attention, and the others */
    double weights_s;                         /* of the products those that form gradients of weights */
    double host_s;                            /* the host's time to issue them */
    double weights_host_s;                    /* of it gradients of weights, where they come in a turn of their own */
    double idle_s;                            /* where host and device begin together, until the device has done all */
    double group_s[PACE_SLOT_GROUPS], data_s; /* exchanges that nothing hides */
} pace_turn_work;

/* And what its step has besides. */
typedef struct {
    pace_turn_work forward, backward;
    double message_s;   /* between stages, as far as nothing hides it */
    double gradients_s; /* exchanges of a step that nothing hides */
    double update_s, other_s;
} pace_stage_turns;

/** The step of a plan of one stage, gone through block by block (gather_lanes.h): lowered frameworks, training. */
double pace_step_alone_s(const pace_step_plan *plan);

/** Of a stage, from 0. */
pace_stage_turns pace_step_turns(const pace_step_plan *plan, double stage);

/** 1F1B of stages that take `stage_s` for one micro-batch, forward and backward; with `chunks` above 1 interleaved,
 * whose micro-batches are a multiple of the stages. Messages take no time. Equal to the schedule where stages are alike
 * or the last is the slowest; else at most a fill of the pipeline more (tests/unit/plan). */
double pace_pipeline_s(const double *stage_s, unsigned stages, double micro_batches, double chunks);
