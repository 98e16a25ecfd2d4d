/*
 * Who computes the layers of a network: an optional module around a library. It knows this header and the layers' own
 * (model/layer_rule.h), and links nothing of Paceline, so that a machine without that library has everything else.
 */
#pragma once

#include "model/layer_rule.h"

enum { PACE_ENGINE_VERSION = 3, PACE_ENGINE_MESSAGE = 512 };

typedef enum {
    PACE_ENGINE_OK,
    PACE_ENGINE_REFUSED, /* it cannot do such a layer; message names it */
    PACE_ENGINE_MEMORY,
    PACE_ENGINE_FAILED
} pace_engine_result;

/* The layers of a model, in the order they run; borrowed while the network is open. */
typedef struct {
    const pace_layer *layers;
    const char *const *names; /* of each */
    size_t layer_count;
    const uint32_t *inputs; /* of all layers: numbers of layers */
    const double *rows;     /* of embedding bags whose tables differ */
    size_t batch, sequence;
    uint64_t seed;        /* of what dropout takes out */
    size_t shards, shard; /* two or more: of tables of bags only rows shard, shard + shards, … are here */
} pace_engine_network;

typedef enum {
    PACE_ROLE_WEIGHT,
    PACE_ROLE_BIAS, /* and the shift of a normalization */
    PACE_ROLE_SCALE,
    PACE_ROLE_TABLE /* rows of embeddings */
} pace_tensor_role;

typedef struct {
    uint32_t layer;
    pace_tensor_role role;
    size_t elements; /* as they lie, which may be more than the product of dims */
    size_t dims[5];  /* plain: out, in, height, width; with groups in front */
    int rank;        /* of dims */
    size_t fan_in;   /* weights that meet in one output */
    bool sparse;     /* only rows that were looked up have a gradient: `gradient` is NULL, update_rows() updates */
    float *weights, *gradient;
} pace_engine_tensor;

/* Lookups of a layer of tables in one step; borrowed. */
typedef struct {
    const int32_t *index;
    const float *gradient;
    size_t indices, gradients;
    size_t tables, lookups, width; /* a sample looks up `lookups` rows of each table */
    float *fetched; /* where the rows of all indices go before forward, where tables are split; else NULL */
} pace_engine_rows;

typedef enum { PACE_PASS_FORWARD, PACE_PASS_DATA, PACE_PASS_WEIGHTS, PACE_ENGINE_PASSES } pace_engine_pass;

typedef struct {
    int version; /* PACE_ENGINE_VERSION */
    const char *name;
    const char *(*software)(void); /* "oneDNN 2.6.3" */

    /** Plans all passes; nothing is allocated for activations, gradients and parameters yet. */
    pace_engine_result (*open)(void **net, const pace_engine_network *network, char *message);
    double (*memory_bytes)(const void *net); /* that allocate() takes */
    pace_engine_result (*allocate)(void *net, char *message);

    size_t (*tensor_count)(const void *net);
    /** The i-th tensor of parameters in the order of layers. */
    void (*tensor)(const void *net, size_t i, pace_engine_tensor *out);
    /** Between the plain order of dims and the order as they lie. `of_gradient`: its gradient, else its weights. */
    pace_engine_result (*set_tensor)(void *net, size_t i, bool of_gradient, const float *plain, char *message);
    pace_engine_result (*get_tensor)(void *net, size_t i, bool of_gradient, float *plain, char *message);

    /** Where an input layer's data goes: images channel by channel, features, or (as int32_t) indices. */
    void *(*input)(void *net, uint32_t layer, size_t *elements, bool *is_index);
    /** Labels of the loss, one for each row of its scores: classes (int32_t), or values (float). */
    void *(*labels)(void *net, size_t *elements, bool *is_class, size_t *classes);

    /** Whether a layer has anything to do in a pass. */
    bool (*works)(const void *net, uint32_t layer, pace_engine_pass pass);
    pace_engine_result (*run)(void *net, uint32_t layer, pace_engine_pass pass, char *message);
    /** Of the last forward pass: the mean loss, and the share of rows whose largest score is their label's (NAN without
     * classes). */
    void (*loss)(const void *net, double *loss, double *right);
    /** Sparse tables: what all tables of the tensor's layer looked up in the last step, and the gradient of the
     * sums. */
    void (*rows)(const void *net, size_t tensor, pace_engine_rows *out);
    /** Rows that were looked up go against their gradient: those of the last step (NULL), or another rank's of the same
     * layer. */
    void (*update_rows)(void *net, size_t tensor, float rate, const pace_engine_rows *rows);
    void (*close)(void *net);
} pace_layer_engine;

typedef const pace_layer_engine *(*pace_layer_engine_fn)(void);

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const pace_layer_engine *
pace_train_layer_engine(void);
