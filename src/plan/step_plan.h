/*
 * What a configuration fixes about a step: stages, exchanges of gradients and parameters, memory (docs/step_rows.md).
 * Times are composed of it (step_time.h).
 */
#pragma once

#include "model/pipeline_order.h"
#include "plan/framework.h"
#include "plan/step_slots.h"

/* What a rank holds at most. */
typedef struct {
    double all_bytes, weight_bytes, gradient_bytes, optimizer_bytes, activation_bytes, library_bytes; /* when fullest */
    double fixed_bytes; /* whatever the batch: parameters, all gradients, states, libraries */
    double host_bytes;  /* in the memory of its host, beside all_bytes */
} pace_step_memory;

/* Of a block whose parameters ranks divide, with the last stage's copy of a tied table: they are gathered; as many as
 * are trained would be; hybrid sharding: its gradients are summed over the copies. */
typedef struct {
    double gather_s, scatter_s, replicate_s;
    double unpack_s, pack_s; /* lowered frameworks: parameters copied out of the buffer, gradients into it */
} pace_step_shards;

/* How many of a model's parameters a rank of a stage holds. */
typedef struct {
    double dense, expert;            /* parameters */
    double trained, trained_expert;  /* of these, those that are not frozen */
    double tensors;                  /* that these are parts of */
    double put_off, put_off_tensors; /* of dense and expert, and of tensors: as of pace_model_part */
} pace_share;

/* What a stage holds, whatever replicas divide among them. */
typedef struct {
    pace_share held;
    double activation_bytes, moved_bytes; /* on the device, on the host */
    /* A stage alone: what backward holds besides gradients when it begins, behind the model's end, and in its last
     * layer; parameters whose gradients are there behind the model's end, and in the last layer. 0 = not told apart. */
    double begin_bytes, behind_bytes, last_bytes;
    double behind_trained, last_trained;
} pace_stage_holds;

enum { PACE_UNLIKE_STAGES = 3 };

/* Everything that does not depend on factors. */
typedef struct {
    const pace_step_slots *slots; /* borrowed */
    const pace_framework *framework;
    pace_config config;
    double attention; /* pace_frameworks_attention() */
    double micro_batches;
    pace_pipeline cut;                          /* of the configuration */
    double fullest, layers_most;                /* the stage in the middle that has most layers, and these */
    double layers_first, layers_last;           /* of the first and the last stage */
    pace_stage_holds holds[PACE_UNLIKE_STAGES]; /* of pace_unlike_stages() */
    pace_share most;                            /* pace_fullest_share(); with prices */
    double pass_s;                              /* one message to the next stage */
    double add_s; /* each micro-batch, for each parameter: its gradient is added to those before; 0 = lowered */
    bool pass_across;
    double gradient_s, expert_gradient_s; /* exchanges of the gradients of one step, alone */
    double gradient_starts_s;             /* of both: what buckets take whatever their size */
    bool gradient_across, expert_across;
    double gradient_cover_s; /* kernels of gradients beside their exchange */
    double gradient_host_s;  /* of rest_host_s what the host takes to issue these */
    double accumulate_s,
        accumulate_host_s; /* of rest_s, rest_host_s: gradients added to those of a micro-batch before */
    pace_step_shards shards[PACE_SLOT_PARTS]; /* ZeRO: of each part; of parameters that are not divided nothing */
    double reduced_s;      /* of both what sums gradients, which ZeRO 2 does behind each micro-batch */
    double unpacked_s;     /* ZeRO 2: what was updated, copied out of its buffers, once a step */
    double gathered_s;     /* ZeRO 1 and 2 of lowered frameworks: what replicas updated, once a step */
    double gather_first_s; /* of it the first block, which nothing hides */
    double tied_s;         /* the shared table's gradient, between first and last stage */
    double last_bucket_s;  /* of gradient_s: what nothing can hide, since it is ready when backward ends */
    double full_bucket_s;  /* of gradient_s: one of the others, in the mean */
    double copies_s[2][PACE_SLOT_PARTS]; /* activations of a micro-batch, to the host and back; by part */
    double update_launches;              /* kernels of it */
    double update_s, update_least_s;     /* the second of it: whatever the number of parameters */
    double update_host_s;                /* of rest_host_s */
    double replay_s;                     /* of a step that is one graph: from its launch to its first kernel */
    double queue;                        /* launches that the device holds before its host waits; 0 = not known */
    double input_s, input_host_s;        /* lowered frameworks: a micro-batch is copied in, and the host waits for it */
    double rest_s, rest_host_s; /* lowered frameworks: kernels of gradients, of one step; and what the host takes to
                                   issue these and the update */
    double turns_s;             /* lowered frameworks: what formulas miss of steps that are gone through */
    double library_bytes;       /* of each stage's memory: workspaces of libraries, buffers of the framework */
    pace_step_memory memory;    /* of the fullest rank */
    double last_rank_bytes;     /* what a rank of the last stage holds, which is the one that Megatron logs */
    double rank_host_bytes;     /* the most that a rank of pace_unlike_stages() holds there */
    double host_bytes;          /* what the ranks of the fullest node hold in its host's memory */
    double host_has_bytes;      /* of that host; 0 = unknown */
    double device_bytes;        /* memory of the device that a framework can give; 0 = unknown */
    double outside_bytes;       /* what a process holds of the rest; 0 = unknown */
    double process_bytes;       /* what the device shows of the fullest rank's process; 0 = unknown */
} pace_step_plan;

/** Prepares a configuration on a place. `slots` from pace_step_slots_get() for the same. Errors: PACE_E_USAGE for more
 * stages than layers, or micro-batches that an interleaved pipeline cannot take; those of exchanges. */
pace_status pace_step_plan_make(pace_step_plan *out, const pace_step_slots *slots, const pace_framework *framework,
                                const pace_config *config, const pace_step_place *place,
                                double attention) PACE_MUST_CHECK;
/** The same in two parts, for a search: stages and memory of a configuration whose fields are sound by themselves,
 * which needs slots of known sizes alone; then what needs prices. `alike`: an outline of the same model and framework
 * whose configuration differs in what replicas divide (zero_stage, zero_group, optimizers on hosts) alone, NULL = none
 * is at hand. *out is not defined on error. */
pace_status pace_step_plan_outline(pace_step_plan *out, const pace_step_slots *slots, const pace_framework *framework,
                                   const pace_config *config, const pace_step_place *place, double attention,
                                   const pace_step_plan *alike) PACE_MUST_CHECK;
pace_status pace_step_plan_finish(pace_step_plan *plan, const pace_step_place *place) PACE_MUST_CHECK;

/** Counts the layers of the stages: layers_first, layers_most, fullest. Errors: those of pipelines and stages. */
pace_status pace_step_stages_cut(pace_step_plan *plan) PACE_MUST_CHECK;

/** ZeRO 1 and 2: what the host takes to issue the gather of one block, and of 2 the copy out of its flat buffer. */
static inline double pace_gather_host_s(const pace_step_plan *plan) {
    return plan->slots->rest_host_s[plan->config.zero_stage == 2 ? PACE_REST_SHARD : PACE_REST_GATHER];
}

/** Of a repeated layer's work and memory the share that full recomputation has: 1 unless it is of some layers of each
 * chunk (recompute_layers). */
static inline double pace_step_again_share(const pace_step_plan *plan) {
    const pace_config *config = &plan->config;
    double of_chunk = plan->slots->layers / (config->pp * config->vpp);
    bool some = config->recompute == PACE_RECOMPUTE_FULL && config->recompute_layers > 0 &&
                !pace_framework_is_lowered(plan->framework);
    return some && config->recompute_layers < of_chunk ? config->recompute_layers / of_chunk : 1;
}

static inline bool pace_step_copies_activations(const pace_step_plan *plan) {
    return plan->config.offload == PACE_OFFLOAD_ACTIVATIONS;
}

/** Gradients in bf16 that are added to wider ones. */
static inline bool pace_step_adds_wider(const pace_step_plan *plan) {
    return plan->config.precision == PACE_RUN_BF16 && plan->framework->bf16_gradient_bytes > 0;
}

/** Of one gradient: as wide as its parameter, unless the framework keeps those of half precision wider. */
static inline double pace_step_gradient_bytes(const pace_step_plan *plan) {
    double own = pace_config_parameter_bytes(&plan->config), kept = plan->framework->gradient_bytes;
    if (pace_step_adds_wider(plan)) kept = plan->framework->bf16_gradient_bytes;
    return kept > own ? kept : own;
}

/** Repeated layers of a stage, from 0. */
double pace_step_layers_of(const pace_step_plan *plan, double stage);

void pace_share_add(pace_share *into, pace_share one, double times);

/** What has gradients, as dense and expert. */
pace_share pace_share_trained(pace_share held);

/** Of one part of the model. */
pace_share pace_part_share(const pace_slot_part *part);

/** The mean of all layers; kinds are spread over the stages. And all of the head or the tail. */
pace_share pace_layer_share(const pace_step_slots *slots);
pace_share pace_place_share(const pace_step_slots *slots, pace_part_place place);

/** Of a table that the last stage has a copy of. */
pace_share pace_tied_share(const pace_step_plan *plan);

/** A stage by its number, from 0. One alone is the first and the last. */
bool pace_stage_has_head(double stage);
bool pace_stage_has_tail(const pace_step_plan *plan, double stage);

/** Stages that may differ: the first, the middle one with most layers, and the last. Returns how many there are. */
unsigned pace_unlike_stages(double out[PACE_UNLIKE_STAGES], const pace_step_plan *plan);

enum { PACE_WHOLE_STAGE = -1 };
/** Parameters of a stage, or of a part of the model on it. With several stages both ends hold a tied output layer. */
pace_share pace_stage_share(const pace_step_plan *plan, double stage, double part);

/** Of each kind of parameters those of the stage that has most. */
pace_share pace_fullest_share(const pace_step_plan *plan);

/** What of the trained parameters of the fullest stage a stage holds, 0 to 1; and one of its chunks. */
double pace_step_stage_part(const pace_step_plan *plan, double stage);
double pace_step_chunk_part(const pace_step_plan *plan, double stage, double chunk);
/** The same for what a host takes, which goes by tensors: one of many small ones may take longer than the fullest. */
double pace_step_stage_host_part(const pace_step_plan *plan, double stage);
double pace_step_chunk_host_part(const pace_step_plan *plan, double stage, double chunk);
/** Of all tensors a stage's share, and what the host takes to issue the update of such a share; lowered frameworks. */
double pace_step_stage_tensors_part(const pace_step_plan *plan, double stage);
double pace_step_update_host_s(const pace_step_plan *plan, double part);
/** How many tensors a chunk has. */
double pace_step_chunk_tensors(const pace_step_plan *plan, double stage, double chunk);

/** Of a chunk's gradients the share that is formed in turns apart where the schedule has them: `by_tensors` of what is
 * shared goes by tensors, the rest by parameters. */
double pace_step_chunk_put_off(const pace_step_plan *plan, double stage, double chunk, double by_tensors);

/** The part of the model, in its order, that a tail is of: that of the turn before it, as src/model cuts; of other
 * frameworks the last. And the stage that has it. */
uint32_t pace_step_tail_part(const pace_step_plan *plan, const pace_model_part *tail);
double pace_step_tail_stage(const pace_step_plan *plan, const pace_model_part *tail);

/* Memory is counted in held_bytes.c, from the outline of a plan. */

/** What a stage holds; and of a plan whose `holds` are known, what the fullest rank does, on its host too, and what its
 * device has room for. */
pace_stage_holds pace_step_holds_of(const pace_step_plan *plan, double stage);
void pace_step_memory_count(pace_step_plan *plan, const pace_step_place *place);

/** What a rank of a stage (from 0) holds; and of it host_bytes alone, for which fewer things are counted. */
pace_step_memory pace_step_stage_memory(const pace_step_plan *plan, double stage);
double pace_step_stage_host_bytes(const pace_step_plan *plan, double stage);

/** Of it, what one micro-batch leaves behind its forward pass over a chunk, and what backward forms anew of its widest
 * layer. */
double pace_step_kept_bytes(const pace_step_plan *plan, double stage, double chunk);
double pace_step_again_bytes(const pace_step_plan *plan, double stage);
