/*
 * How a pipeline cuts a model: each stage holds one part of its layers, or several (chunks) where the order is
 * interleaved. Which part is which chunk of a stage says pace_pipeline_part(); a model is cut between the blocks that
 * it repeats.
 */
#pragma once

#include "model/model.h"
#include "model/pipeline_order.h"

/* Layers of a model, both ends counted. */
typedef struct {
    uint32_t first, last;
} pace_layer_range;

typedef struct {
    pace_layer_range *parts; /* in the order of the model */
    uint32_t stages, chunks;
} pace_stages;

/** Repeated layers in a part, in the model's order: of a stage, or one of its chunks. Chunks are cut by the rule of
 * stages: Llama 3's 126 layers on 16 stages of 4 chunks are two each but in the first and the last (arXiv 2407.21783,
 * section 3.3.2). */
double pace_part_layers(const pace_pipeline *pipeline, double layers, uint32_t part);

/** Repeated layers in all parts before one. */
double pace_layers_before(const pace_pipeline *pipeline, double layers, uint32_t part);

/** Repeated layers of all chunks of a stage (from 0). */
double pace_held_layers(const pace_pipeline *pipeline, double layers, uint32_t stage);

/** Whether head and tail count as a layer each: the first and last part have one less; of one layer a part, they have
 * none (Llama 3's 126 on 16 stages of 8 chunks, Megatron-Core's account_for_embedding_in_pipeline_split). */
bool pace_ends_count(double layers, double stages, double chunks);

/** Whether that many layers can be cut so. PACE_E_USAGE for more stages than layers, or more chunks than layers, head
 * and tail, which Megatron Core counts, too, when told so (--account-for-embedding-in-pipeline-split). */
pace_status pace_stages_check(double layers, double stages, double chunks) PACE_MUST_CHECK;

/** Cuts a model. Errors: those of pace_stages_check(). */
pace_status pace_stages_cut(pace_stages *out, const pace_model *model, const pace_config *config) PACE_MUST_CHECK;
void pace_stages_free(pace_stages *stages);

/** What a configuration makes of a pipeline; one stage where it has none. */
pace_pipeline pace_config_pipeline(const pace_config *config);
