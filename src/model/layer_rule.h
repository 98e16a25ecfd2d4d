/*
 * What a layer is, and what is known of its kind: one row a kind (model/layer_rules.c). To add a kind, write its row
 * and the functions it names, which may stand in a file of their own.
 */
#pragma once

#include "base/intern.h"
#include "model/config.h"

#include <math.h>

typedef enum {
    PACE_LAYER_INPUT,
    PACE_LAYER_CONVOLUTION,
    PACE_LAYER_TRANSPOSED_CONVOLUTION,
    PACE_LAYER_LINEAR,
    PACE_LAYER_BATCH_NORM,
    PACE_LAYER_LAYER_NORM,
    PACE_LAYER_RMS_NORM,
    PACE_LAYER_GROUP_NORM,
    PACE_LAYER_CHANNEL_SCALE, /* by a learned number for each channel */
    PACE_LAYER_LOCAL_NORM,    /* over neighbouring channels (AlexNet's) */
    PACE_LAYER_ACTIVATION,
    PACE_LAYER_DROPOUT,
    PACE_LAYER_SCALE, /* by a number */
    PACE_LAYER_MAX_POOL,
    PACE_LAYER_AVERAGE_POOL,
    PACE_LAYER_ADAPTIVE_POOL,
    PACE_LAYER_UPSAMPLE, /* each place repeated */
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
    PACE_LAYER_TOKENS_OF_IMAGE,
    PACE_LAYER_IMAGE_OF_TOKENS,
    PACE_LAYER_SLICE,  /* some of the channels or tokens */
    PACE_LAYER_APPEND, /* tokens behind tokens */
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
    PACE_OPTION_AFFINE, /* 0 = a norm without weight and bias */
    PACE_OPTION_TIED,   /* 1 = its weight is another layer's */
    PACE_OPTION_CEIL,   /* 1 = windows that hang over the edge count */
    PACE_OPTION_VIEW,   /* 1 = an image that stays as its tokens lie, channels last */
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
    PACE_OPTION_ROTARY, /* share of a head that is rotated by the place of its token */
    PACE_OPTION_DROPOUT,
    PACE_OPTION_WINDOW,  /* tokens that see each other, part by part of the sequence; 0 = all */
    PACE_OPTION_SLIDING, /* the last tokens, which a token sees alone; 0 = all */
    PACE_OPTION_SINKS,   /* 1 = a learned score of each head beside those of the keys (gpt-oss) */
    PACE_OPTION_HIDDEN,
    PACE_OPTION_LAYERS,
    PACE_OPTION_BIDIRECTIONAL,
    PACE_OPTION_EXPERTS,
    PACE_OPTION_TOPK,
    PACE_OPTION_NODES, /* that a router keeps a token to; 0 = any */
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
    bool tokens; /* its places stand in a row: a number of tokens that no setting changes */
    bool last;   /* an image whose channels lie last in whatever layout images are kept */
} pace_shape;

typedef struct pace_layer {
    pace_name name;                     /* "layer1.0.conv2" */
    const char *word;                   /* the kind as written: "conv", "gelu", "cross_entropy"; static */
    uint8_t kind;                       /* pace_layer_kind */
    const struct pace_layer_rule *rule; /* of its kind */
    uint8_t shard;                      /* pace_shard */
    bool training_only;
    bool frozen;      /* its parameters get no gradient */
    double packed;    /* bytes of each, where they are kept in fewer bits than they are used in; else 0 */
    uint32_t segment; /* 1, 2, …: the turn of a repeated block that full recomputation runs again; 0 = none */
    uint32_t first_input, input_count; /* in the model's inputs */
    pace_shape shape;                  /* of its output */
    double option[PACE_OPTIONS];       /* those its kind has */
    double parameters;                 /* elements, all ranks together */
    unsigned tensors;                  /* parameter tensors */
    double multiply_adds[3];           /* per sample: times 1, sequence, sequence squared */
} pace_layer;

struct pace_model;
struct pace_lowering;   /* model/emit.h */
struct pace_layer_view; /* model/lower_ops.h */

/* What a layer is derived from; borrowed. */
typedef struct {
    const pace_shape *shape; /* of each input */
    size_t count;
    const double *rows; /* of the layer's tables */
} pace_layer_inputs;

/* A layer's output, parameters and arithmetic from its inputs. PACE_E_INPUT says what does not fit, without the place.
 */
typedef pace_status pace_layer_infer(pace_layer *layer, const pace_layer_inputs *in);
/* Its operators in one pass. */
typedef void pace_layer_lower(struct pace_lowering *to, const struct pace_layer_view *view);
/* Bytes of one sample on one rank that it keeps for backward beside its input and output. */
typedef double pace_layer_kept(const struct pace_model *model, const pace_layer *layer, const pace_config *config,
                               int element_bytes);

/* A table of embeddings: a step touches the rows that it looks up. */
typedef struct {
    double rows, width, lookups; /* lookups of one sample */
} pace_layer_table;
typedef pace_layer_table pace_layer_table_of(const struct pace_model *model, const pace_layer *layer,
                                             const pace_config *config, size_t table);

/* The precision of its output under torch.autocast: PyTorch's "Autocast op reference". */
typedef enum {
    PACE_AUTOCAST_INPUT, /* its input's */
    PACE_AUTOCAST_HELD,  /* its parameters' */
    PACE_AUTOCAST_HALF,
    PACE_AUTOCAST_SINGLE
} pace_autocast;

/* What backward needs again: PyTorch's derivatives.yaml. */
enum {
    PACE_KEEPS_INPUT = 1,
    PACE_KEEPS_OUTPUT = 2,
    PACE_KEEPS_FUSED = 4 /* its output, where attention is one kernel */
};

typedef struct {
    pace_layer_option option;
    double value;
} pace_layer_default;

enum { PACE_LAYER_DEFAULTS = 10 };

/* Defaults that follow from something else: */
#define PACE_NEEDED NAN
#define PACE_SAME_AS_BEFORE (-HUGE_VAL) /* stride of a pool: its kernel; kv_heads: heads; head_dim: from the input */

/* A kind of layer under one of its words: all that the rest of the program knows of it. */
typedef struct pace_layer_rule {
    const char *word; /* in a model's YAML */
    pace_layer_kind kind;
    unsigned least, most;                            /* inputs */
    pace_layer_default options[PACE_LAYER_DEFAULTS]; /* the first is the main one */
    unsigned option_count;
    pace_layer_infer *infer;
    pace_layer_lower *forward, *backward; /* NULL: issues nothing */
    uint8_t autocast, keeps;              /* pace_autocast; bits PACE_KEEPS_... */
    pace_layer_kept *kept_extra;          /* NULL: nothing */
    pace_layer_table_of *table; /* NULL: its parameters are no tables; else its option "tables" has how many */
    double (*expert_elements)(const pace_layer *layer); /* parameters that ranks divide by experts; NULL: none */
    bool sparse;       /* its tables take updates row by row: it has no dense gradient, and no rank but the owner's */
    bool rows_divided; /* tensor parallelism gives each rank some of its rows */
    bool lists_rows;   /* option "rows" may be a list, a number for each table */
    bool recomputed;   /* selective recomputation forms its inside again */
    bool is_view;      /* its output is its input's memory */
} pace_layer_rule;
