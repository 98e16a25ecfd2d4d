/*
 * What is trained: layers in the order they run, each over the outputs of earlier ones. Sizes are per sample; a
 * sequence keeps its length open until a configuration gives it, and what tensor parallelism splits is marked.
 *
 * Models come from YAML (model_read.c has the language): catalog/models/ or a user's file.
 */
#pragma once

#include "model/layer_rule.h"

typedef struct pace_model {
    pace_names names;
    pace_name name, family, about, source;
    pace_name left_out;          /* what of its step is not described; 0 = nothing */
    double sequence;             /* its own length, 0 = it has none */
    bool pinned, short_indices;  /* its recipe: batches come from pinned memory, indices are of 4 bytes */
    int read_loss, pair_indices; /* of its recipe, as a configuration has them */
    bool forms_scores;           /* of its recipe: attention is products and a softmax */
    bool text_alone;             /* the decoder of a network of images and words */
    uint32_t segments;
    double lora; /* rank of its adapters (model/adapters.h); 0 = it has none */
    PACE_VEC(pace_layer) layers;
    PACE_VEC(uint32_t) inputs;      /* numbers of layers */
    PACE_VEC(double) rows;          /* of embedding bags whose tables differ; a layer's begin at option ROWS */
    struct pace_recorded *recorded; /* of one that was found in a recording (model/recorded.h); NULL = it was not */
} pace_model;

void pace_model_free(pace_model *model);

/** Whether a layer is part of an adapter: of a model that has any, all else is frozen. */
static inline bool pace_model_adapts(const pace_model *model, const pace_layer *layer) {
    return model->lora > 0 && !layer->frozen;
}

/* What a model is and needs; per sample, at the configuration's sequence. */
typedef struct {
    double parameters, tensors;
    double trained;          /* of these parameters: those that are not frozen */
    double multiply_adds;    /* forward; causal attention counted in full, as is usual */
    double activation_bytes; /* kept for backward, per sample: each tensor once, masks and indices too; what a
                                recomputed part needs while its own backward runs is not in it */
    double weight_bytes, gradient_bytes, optimizer_bytes;
} pace_model_totals;

/** Whether a layer of the model is of a kind. */
bool pace_model_has_layer(const pace_model *model, pace_layer_kind kind);

/** Adds up a model under a configuration (its precision, attention kernel, optimizer, sequence). */
pace_model_totals pace_model_total(const pace_model *model, const pace_config *config);
/** Numbers that the optimizer keeps of each trained parameter. */
double pace_optimizer_states(const pace_config *config);

/** Whether the ways the ranks share the work fit the model: a sequence to split, experts to spread, layers to cut.
 * PACE_E_USAGE else. */
pace_status pace_model_check_parallel(const pace_model *model, const pace_config *config) PACE_MUST_CHECK;

/** Of these, whether the parts that are captured as device graphs do the same each time. PACE_E_USAGE else. */
pace_status pace_model_check_graphs(const pace_model *model, const pace_config *config) PACE_MUST_CHECK;

/** Bytes of one element of each layer's output: `out` has room for all layers. */
void pace_model_element_bytes(int *out, const pace_model *model, const pace_config *config);
/** Of each layer, whether its output needs a gradient: its own parameters or those of a layer before it are trained.
 * Beside frozen layers their adapters are. */
void pace_model_needs_gradients(bool *out, const pace_model *model, const pace_config *config);
/* Of each layer the activation bytes of one sample on one rank that are kept for backward: its output, and what its own
 * kernels keep beside it. */
typedef struct {
    double *output_bytes, *beside_bytes;
    uint32_t count; /* of layers */
} pace_model_kept;

/** Free with pace_model_kept_free(). Errors: PACE_E_MEMORY. */
pace_status pace_model_kept_find(pace_model_kept *out, const pace_model *model,
                                 const pace_config *config) PACE_MUST_CHECK;
void pace_model_kept_free(pace_model_kept *kept);
/** Of layers first to last. */
double pace_model_kept_of(const pace_model_kept *kept, uint32_t first, uint32_t last);
/** The same of a question that is asked once; 0 without memory for it. */
double pace_model_kept_bytes(const pace_model *model, const pace_config *config, uint32_t first, uint32_t last);

/** Of these layers, scores of one sample on one rank that a loss turns into a softmax. */
double pace_model_scores(const pace_model *model, const pace_config *config, uint32_t first, uint32_t last);

/** When the host reads the loss, never USUAL. Captured or compiled steps are not interrupted: there it is read last. */
pace_loss_read pace_model_reads_loss(const pace_model *model, const pace_config *config);

/** Whether attention is products and a softmax whose scores go through memory. Compilers replace these by one
 * kernel. */
bool pace_model_forms_scores(const pace_model *model, const pace_config *config);

/** The sequence length a configuration means for the model. */
double pace_model_sequence(const pace_model *model, const pace_config *config);
/** Elements of a tensor of one sample, of all ranks together that share it. */
double pace_shape_elements(const pace_shape *shape, double sequence);
/** Keys that each token of a sequence sees in a layer of attention that is not causal: all, or those of its window. Of
 * parts that attend to themselves the mean, since the last is what is left. */
double pace_layer_span(const pace_layer *layer, double sequence);
/** Forward, of one sample; causal attention counted in full. */
double pace_layer_multiply_adds(const pace_layer *layer, double sequence);
/** Bytes of an element of a layer's output, given that of its first input (0 = the parameters'). */
int pace_layer_element_bytes(const pace_layer *layer, const pace_config *config, int input_bytes);

/** Whether a schedule that puts off gradients of weights has turns apart for this layer's; others form both at once. */
static inline bool pace_layer_puts_off(const pace_layer *layer) {
    return layer->kind == PACE_LAYER_LINEAR || layer->kind == PACE_LAYER_EXPERTS;
}

static inline const pace_layer *pace_layer_input(const pace_model *model, const pace_layer *layer, uint32_t index) {
    return &model->layers.items[model->inputs.items[layer->first_input + index]];
}
