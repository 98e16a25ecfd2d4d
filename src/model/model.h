/*
 * What is trained: layers in the order they run, each over the outputs of earlier ones. Sizes are per sample; a
 * sequence keeps its length open until a configuration gives it, and what tensor parallelism splits is marked.
 *
 * Models come from YAML (model_read.c has the language): catalog/models/ or a user's file.
 */
#ifndef PACE_MODEL_MODEL_H
#define PACE_MODEL_MODEL_H

#include "base/intern.h"
#include "model/config.h"

typedef enum {
    PACE_LAYER_INPUT,
    PACE_LAYER_CONVOLUTION,
    PACE_LAYER_LINEAR,
    PACE_LAYER_BATCH_NORM,
    PACE_LAYER_LAYER_NORM,
    PACE_LAYER_RMS_NORM,
    PACE_LAYER_LOCAL_NORM, /* over neighbouring channels (AlexNet's) */
    PACE_LAYER_ACTIVATION,
    PACE_LAYER_DROPOUT,
    PACE_LAYER_MAX_POOL,
    PACE_LAYER_AVERAGE_POOL,
    PACE_LAYER_ADAPTIVE_POOL,
    PACE_LAYER_FLATTEN,
    PACE_LAYER_EMBEDDING,
    PACE_LAYER_POSITIONS,
    PACE_LAYER_EMBEDDING_BAG,
    PACE_LAYER_INTERACTION,
    PACE_LAYER_ATTENTION,
    PACE_LAYER_ADDITIVE_ATTENTION,
    PACE_LAYER_LSTM,
    PACE_LAYER_EXPERTS,
    PACE_LAYER_SELECT,
    PACE_LAYER_ADD,
    PACE_LAYER_MULTIPLY,
    PACE_LAYER_CONCAT,
    PACE_LAYER_LOSS,
    PACE_LAYER_KINDS
} pace_layer_kind;

typedef enum {
    PACE_OPTION_OUT,
    PACE_OPTION_KERNEL,
    PACE_OPTION_KERNEL_WIDTH, /* of a pair: behind its first */
    PACE_OPTION_STRIDE,
    PACE_OPTION_STRIDE_WIDTH,
    PACE_OPTION_PAD,
    PACE_OPTION_PAD_WIDTH,
    PACE_OPTION_GROUPS,
    PACE_OPTION_DILATION,
    PACE_OPTION_BIAS,
    PACE_OPTION_TIED, /* 1 = its weight is another layer's */
    PACE_OPTION_CEIL, /* 1 = windows that hang over the edge count */
    PACE_OPTION_P,
    PACE_OPTION_ROWS,
    PACE_OPTION_WIDTH,
    PACE_OPTION_TABLES,
    PACE_OPTION_LOOKUPS,
    PACE_OPTION_HEADS,
    PACE_OPTION_KV_HEADS,
    PACE_OPTION_HEAD_DIM,
    PACE_OPTION_VALUE_DIM,
    PACE_OPTION_CAUSAL,
    PACE_OPTION_ROTARY,
    PACE_OPTION_DROPOUT,
    PACE_OPTION_HIDDEN,
    PACE_OPTION_LAYERS,
    PACE_OPTION_BIDIRECTIONAL,
    PACE_OPTION_EXPERTS,
    PACE_OPTION_TOPK,
    PACE_OPTION_FFN,
    PACE_OPTION_GATED,
    PACE_OPTIONS
} pace_layer_option;

/* How tensor parallelism splits a linear layer (Shoeybi et al. 2019, section 3). */
typedef enum { PACE_SHARD_NONE, PACE_SHARD_COLUMN, PACE_SHARD_ROW } pace_shard;

/* A tensor of one sample: [sequence,] channels, height, width. */
typedef struct {
    bool sequence;
    bool sharded; /* channels are split over the tensor-parallel ranks */
    double channels, height, width;
} pace_shape;

typedef struct {
    pace_name name;   /* "layer1.0.conv2" */
    const char *word; /* the kind as written: "conv", "gelu", "cross_entropy"; static */
    uint8_t kind;     /* pace_layer_kind */
    uint8_t shard;    /* pace_shard */
    bool training_only;
    uint32_t segment; /* 1, 2, …: the turn of a repeated block that full recomputation runs again; 0 = none */
    uint32_t first_input, input_count; /* in the model's inputs */
    pace_shape shape;                  /* of its output */
    double option[PACE_OPTIONS];       /* those its kind has */
    double parameters;                 /* elements, all ranks together */
    unsigned tensors;                  /* parameter tensors */
    double multiply_adds[3];           /* per sample: times 1, sequence, sequence squared */
} pace_layer;

typedef struct {
    pace_names names;
    pace_name name, family, about, source;
    double sequence; /* its own length, 0 = it has none */
    uint32_t segments;
    PACE_VEC(pace_layer) layers;
    PACE_VEC(uint32_t) inputs; /* numbers of layers */
    PACE_VEC(double) rows;     /* of embedding bags whose tables differ; a layer's begin at option ROWS */
} pace_model;

void pace_model_free(pace_model *model);

/* What a model is and needs; per sample, at the configuration's sequence. */
typedef struct {
    double parameters, tensors;
    double multiply_adds;    /* forward; causal attention counted in full, as is usual */
    double activation_bytes; /* kept for backward, per sample: each tensor once, masks and indices too; what a
                                recomputed part needs while its own backward runs is not in it */
    double weight_bytes, gradient_bytes, optimizer_bytes;
} pace_model_totals;

/** Adds up a model under a configuration (its precision, attention kernel, optimizer, sequence). */
pace_model_totals pace_model_total(const pace_model *model, const pace_config *config);

/** Whether the ways the ranks share the work fit the model: a sequence to split, experts to spread, layers to cut.
 * PACE_E_USAGE else. */
pace_status pace_model_check_parallel(const pace_model *model, const pace_config *config) PACE_MUST_CHECK;

/** Activation bytes of one sample on one rank: of what layers first to last make or need, what is kept for backward. */
double pace_model_kept_bytes(const pace_model *model, const pace_config *config, uint32_t first, uint32_t last);

/** The sequence length a configuration means for the model. */
double pace_model_sequence(const pace_model *model, const pace_config *config);
/** Elements of a tensor of one sample on one rank of `tp`. */
double pace_shape_elements(const pace_shape *shape, double sequence, double tp);
/** Bytes of an element of a layer's output, given that of its first input (0 = the parameters'). */
int pace_layer_element_bytes(const pace_layer *layer, const pace_config *config, int input_bytes);

static inline const pace_layer *pace_layer_input(const pace_model *model, const pace_layer *layer, uint32_t index) {
    return &model->layers.items[model->inputs.items[layer->first_input + index]];
}

#endif
