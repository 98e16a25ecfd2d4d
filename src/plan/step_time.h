/*
 * How long a distributed training step takes and what a rank holds, in closed form, from the slots of its pipeline
 * (step_slots.h). docs/step_rows.md has the equations.
 *
 * A slot is one pass of one micro-batch over one layer: it takes what its kernels and exposed exchanges take, or what
 * the host takes to issue them, whichever is more. Stages are sums of slots, the pipeline is filled, runs at the pace
 * of its slowest stage and drains (Narayanan et al. 2021); then gradients are exchanged and parameters updated.
 */
#pragma once

#include "plan/stage_passes.h"

/** All factors 1. */
pace_step_factors pace_step_factors_none(void);

/* Seconds of one step on the slowest rank; the parts add up to the total. */
typedef struct {
    double total_s;
    double skew_s;    /* beside it: waiting for the slowest replica, where who asks knows */
    double compute_s; /* kernels of all micro-batches on the slowest stage */
    double host_s;    /* kernels wait for the host */
    double tensor_s, context_s, expert_s, pipeline_s, data_s; /* exchanges that nothing hides */
    double bubble_s;                                          /* the pipeline fills and drains */
    double update_s;
    double other_s; /* of every step */
} pace_step_time;

/** Composes; no allocation, nothing is looked up. */
pace_step_time pace_step_compose(const pace_step_plan *plan, const pace_step_factors *factors);

/* What a turn of a stage takes: one pass of one micro-batch over one chunk of its layers. */
typedef struct {
    double products_s, others_s;       /* kernels: products and attention, and the others */
    double weights_s;                  /* of the products those that form gradients of weights */
    double host_s;                     /* the host's time to issue them */
    double weights_host_s;             /* of it gradients of weights, where they come in a turn of their own */
    double launches, weights_launches; /* of kernels */
    double idle_s;                     /* where host and device begin together, until the device has done all */
    double hides, waits_s, leaves_s[PACE_HOSTS], ahead_s[PACE_HOSTS]; /* as of pace_passes */
    double group_s[PACE_SLOT_GROUPS], data_s;                         /* exchanges that nothing hides */
} pace_turn_work;

typedef struct {
    pace_turn_work forward, backward;
} pace_chunk_turns;

/** Of a chunk of a stage, both from 0. */
pace_chunk_turns pace_step_turns(const pace_step_plan *plan, double stage, double chunk);

/* What stages have beside their turns. */
typedef struct {
    double message_s;   /* between stages, as far as nothing hides it */
    double gradients_s; /* exchanges of a step that nothing hides */
    double update_s, other_s;
} pace_beside_turns;

pace_beside_turns pace_step_beside_turns(const pace_step_plan *plan);
