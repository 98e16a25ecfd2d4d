/*
 * Layers of neurons over workers, as in Yan et al. (KDD 2015): what the trainer tells the module that carries it out. Rank r of the first
 * replicas x workers is worker r mod workers of replica r / workers; the ranks behind them are parameter servers. Each
 * layer's neurons are cut into as many segments as there are workers. A thread trains a sample of its own, without locks.
 */
#pragma once

#include "../gradient_exchange.h"

enum { PACE_SEGMENTS_VERSION = 1 };

typedef enum { PACE_NEURON_NONE, PACE_NEURON_RELU, PACE_NEURON_SIGMOID, PACE_NEURON_TANH } pace_neuron_activation;

typedef struct {
    size_t neurons;
    pace_neuron_activation activation; /* none: of the last layer, whose values are scores */
} pace_segment_layer;

typedef enum {
    PACE_SEGMENT_FORWARD,
    PACE_SEGMENT_BACKWARD,
    PACE_SEGMENT_EXCHANGE, /* of activations and errors, and with servers */
    PACE_SEGMENT_UPDATE,
    PACE_SEGMENT_PARTS
} pace_segment_part;

typedef struct {
    size_t size; /* sizeof(pace_segments_run) */
    int rank, replicas, workers, servers, threads;
    size_t inputs, layer_count;
    const pace_segment_layer *layers;
    size_t batch, steps; /* samples of a replica between two exchanges with servers; all steps */
    float rate;
    uint64_t seed;
    double timeout_s;
    const float *samples; /* [batch][inputs], the same in every step */
    const int32_t *labels;
    bool (*stopped)(void *context); /* the replica ends after the present step */
    void *context;
    /* of a worker: [steps]; the parts are those of its first thread */
    double *step_s, *part_s[PACE_SEGMENT_PARTS], *losses, *rights;
    size_t done;
    uint64_t sent_bytes;
    char message[PACE_EXCHANGER_MESSAGE];
} pace_segments_run;

/** First neuron of a worker's segment. */
static inline size_t pace_segment_from(size_t neurons, int worker, int workers) {
    return neurons * (size_t)worker / (size_t)workers;
}

/** Collective over all ranks of MPI_COMM_WORLD. */
typedef pace_exchanger_result (*pace_segments_fn)(pace_segments_run *run);

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
pace_exchanger_result
pace_train_segments_run(pace_segments_run *run);
