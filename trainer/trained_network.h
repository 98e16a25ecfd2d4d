/* A model of the catalogue, made ready to be trained: its layers as the engine wants them, and its parameters. */
#pragma once

#include "base/words.h"
#include "layer_engine.h"
#include "model/model_catalog.h"

typedef struct {
    pace_model model;
    pace_config config;
    const char **names; /* of layers */
    pace_engine_network described;
    const pace_layer_engine *engine;
    void *net;
    size_t tensor_count;
    pace_engine_tensor *tensors;
    char (*tensor_names)[96];
    double memory_bytes, parameters;
} pace_network;

typedef struct {
    const char *model;
    pace_words set;
    size_t batch; /* samples of a step on this rank */
    uint64_t seed;
    size_t shards, shard; /* of tables of bags; shards below two: all is here */
    double most_bytes;    /* of memory */
    const char *folder;   /* of modules; NULL = where they usually lie */
} pace_network_asked;

/** Builds the model, plans its layers, sees that they fit the memory and fills the parameters. Errors: PACE_E_USAGE for
 * a setting that has no effect here and for a layer that cannot be trained (named), PACE_E_MISSING without oneDNN (the
 * package is named), PACE_E_LIMIT where memory does not suffice. Free with pace_network_close(). */
pace_status pace_network_open(pace_network *out, const pace_network_asked *asked) PACE_MUST_CHECK;
/** Its model and layers alone, for whoever computes them elsewhere. */
pace_status pace_network_plan(pace_network *out, const pace_network_asked *asked) PACE_MUST_CHECK;
void pace_network_close(pace_network *network);

/** What an engine says as a status with its message. */
pace_status pace_network_status(pace_engine_result result, const char *message);
