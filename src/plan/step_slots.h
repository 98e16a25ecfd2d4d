/*
 * What the slots of a pipeline take: each distinct part of a model (model/parts.h), forward, recomputed and backward,
 * priced once for one micro-batch on one rank. A step is composed of these (step_time.h).
 *
 * Prices depend on few fields of a configuration, so they are kept: a search over data and pipeline parallelism asks
 * for the same ones again and again.
 */
#pragma once

#include "exchange/algorithms.h"
#include "model/lower.h"
#include "model/lower_part.h"
#include "model/parts.h"
#include "plan/gradient_hull.h"
#include "plan/slot_buckets.h"
#include "plan/slot_update.h"

enum { PACE_SLOT_PARTS = 32, PACE_SLOT_TURNS = 512 };

/* Exchanges of a slot, by group. */
typedef enum { PACE_SLOT_TENSOR, PACE_SLOT_CONTEXT, PACE_SLOT_EXPERT, PACE_SLOT_GROUPS } pace_slot_group;

typedef struct {
    double matrix_s, attention_s;        /* products; attention in one kernel */
    double stream_s;                     /* the other kernels */
    double least_s;                      /* products, as fast as the device can be */
    double exchange_s[PACE_SLOT_GROUPS]; /* one after the other, each alone */
    double host_s;                       /* what its operators take to be issued; 0 where no host is known */
    double weights_host_s; /* of it, where gradients of weights come in a turn of their own: that turn's */
    double weights_s;      /* and on the device; 0 = not known */
    double gap_s;          /* between kernels that follow at once, as far as the host is known */
    double
        turns_s; /* host and device take turns at being late: what both together take longer than the later of them */
    double launches;       /* kernels and exchanges the host issues */
    double calls;          /* that it makes for them: one for each graph that is captured */
    double adapter_calls;  /* besides: for adapters */
    double dispatches;     /* layers of experts, whose tokens the host sorts and waits for */
    double experts;        /* of these layers on one rank */
    double expert_modules; /* that hold their weights, and adapters beside them */
    double modules;        /* of all other products */
} pace_slot;

typedef struct {
    pace_model_part part;
    pace_slot pass[PACE_PART_PASSES];
    double kept_bytes;  /* activations of one micro-batch that wait for backward */
    double scores;      /* of one micro-batch that a loss turns into a softmax */
    double whole_bytes; /* the same without recomputation: what its own backward needs at once */
} pace_slot_part;

typedef struct {
    pace_slot_part parts[PACE_SLOT_PARTS]; /* head, layers, tail */
    unsigned count;
    unsigned char turn[PACE_SLOT_TURNS];                            /* of the layers in order: which part each is */
    unsigned turns;                                                 /* that are known; 0 = there are more than fit */
    double layers;                                                  /* of the model */
    double trained_parameters;                                      /* of one rank, if it held all layers */
    double rest_s[PACE_MODEL_RESTS], rest_host_s[PACE_MODEL_RESTS]; /* of these: kernels, and what the host takes to
                                                                       issue them besides; where a host is known */
    pace_slot_buckets buckets, expert_buckets;                      /* of gradients; where a host is known */
    double targets;      /* of what copying a micro-batch takes, the share of its targets, which come last */
    double input_copies; /* of a micro-batch: samples and targets, each waited for; the same */
    pace_slot_update update;
    double rest_least[PACE_MODEL_RESTS]; /* share of rest_s if each kernel were as short as the shortest of them */
    double before_host_s;    /* of rest_host_s what the host takes before the last bucket goes: part of backward */
    pace_gradient_hull hull; /* when they come; the same */
    double states;           /* what the optimizer keeps of a parameter over what Adam keeps */
    pace_loss_read reads_loss;
    double boundary_bytes;         /* what one micro-batch passes on between stages */
    double tied_parameters;        /* of the output layer's weight that is the first stage's too */
    bool across[PACE_SLOT_GROUPS]; /* the group spans nodes */
    pace_rung rung;                /* the worst among the prices */
    double kernels_s, beyond_s;    /* of all prices; of those that a fit has no rows like */
    bool priced;                   /* else it has sizes alone: parts, parameters, bytes, layers */
    bool has_parts;                /* or prices of the passes of parts */
    bool has_rests;                /* or all prices but those of exchanged gradients */
} pace_step_slots;

/** What the parts of a model hold, without prices. Errors: those of pace_model_parts_find(), PACE_E_LIMIT for more than
 * PACE_SLOT_PARTS kinds of layers. */
pace_status pace_step_slots_size(pace_step_slots *out, const pace_model *model,
                                 const pace_config *config) PACE_MUST_CHECK;
/** Lowers and prices sized slots: the passes of parts, which ZeRO and the number of replicas change nothing of; with
 * them the rests that these change nothing of; and all of it. `like` (may be NULL): so priced for a configuration that
 * differs in batch, sequence and recomputation alone. Errors: those of pace_model_lower_part(), PACE_E_USAGE for groups
 * without a machine. */
pace_status pace_step_slots_price_parts(pace_step_slots *slots, const pace_model *model, const pace_config *config,
                                        const pace_step_place *place) PACE_MUST_CHECK;
pace_status pace_step_slots_price_rests(pace_step_slots *slots, const pace_model *model, const pace_config *config,
                                        const pace_step_place *place, const pace_step_slots *like) PACE_MUST_CHECK;
pace_status pace_step_slots_price(pace_step_slots *slots, const pace_model *model, const pace_config *config,
                                  const pace_step_place *place, const pace_step_slots *like) PACE_MUST_CHECK;

typedef struct pace_slot_cache pace_slot_cache;

pace_status pace_slot_cache_create(pace_slot_cache **out) PACE_MUST_CHECK;
void pace_slot_cache_free(pace_slot_cache *cache);

/** Sized and priced slots through a cache, which knows a model, an exchange and a device by their addresses. What it
 * returns is borrowed until the next call. For one thread. */
pace_status pace_step_slots_get(const pace_step_slots **out, pace_slot_cache *cache, const pace_model *model,
                                const pace_config *config, const pace_step_place *place) PACE_MUST_CHECK;
/** The same with prices of the passes of parts, and with sizes alone; what else is known of them is there too. */
pace_status pace_step_slots_passes(const pace_step_slots **out, pace_slot_cache *cache, const pace_model *model,
                                   const pace_config *config, const pace_step_place *place) PACE_MUST_CHECK;
pace_status pace_step_slots_sized(const pace_step_slots **out, pace_slot_cache *cache, const pace_model *model,
                                  const pace_config *config, const pace_step_place *place) PACE_MUST_CHECK;

/** Seconds of one exchange among `size` ranks that are `stride` apart, when all like groups of the machine exchange at
 * once; *across = it leaves the node. */
pace_status pace_group_exchange_s(double *out_s, bool *across, const pace_exchange *exchange,
                                  pace_collective collective, double bytes, double size, double stride) PACE_MUST_CHECK;
