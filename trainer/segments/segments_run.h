/*
 * Layers of neurons over workers, as in Yan et al. (KDD 2015): what the trainer tells the module that carries it out.
 * Rank r of the first replicas x workers is worker r mod workers of replica r / workers; the ranks behind them are
 * parameter servers. Each layer is cut into as many segments as there are workers: neurons of a fully connected layer,
 * strips of rows of a convolution. A thread trains a sample of its own, without locks.
 */
#pragma once

#include "../gradient_exchange.h"

typedef enum { PACE_NEURON_NONE, PACE_NEURON_RELU, PACE_NEURON_SIGMOID, PACE_NEURON_TANH } pace_neuron_activation;

/* Values lie row by row, in a row place by place, in a place channel by channel: a strip of rows is one range. */
typedef struct {
    size_t height, width, channels;
} pace_segment_image;

typedef struct {
    size_t kernel, stride, pad; /* along one side; the far side is padded as far as a window hangs over it */
} pace_segment_window;

typedef struct {
    pace_neuron_activation activation; /* none: of the last layer, whose values are scores */
    pace_segment_image out;            /* what the next layer reads; neurons of a linear layer are rows of one value */
    bool convolution;                  /* the rest is of one: a filter's window, activation, a pool's window */
    pace_segment_image in, map;        /* what it reads; what its filters make */
    pace_segment_window filter[2], pool[2]; /* along height and width; a pool of 1: none */
    bool mean;                              /* the pool's */
} pace_segment_layer;

static inline size_t pace_segment_values(const pace_segment_image *image) {
    return image->height * image->width * image->channels;
}

/** Values that a filter of a convolution reads at one place. */
static inline size_t pace_segment_filter_values(const pace_segment_layer *layer) {
    return layer->filter[0].kernel * layer->filter[1].kernel * layer->in.channels;
}

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

typedef struct {
    size_t from, to;
} pace_segment_range;

/** Rows of a layer that a worker has. */
static inline pace_segment_range pace_segment_of(size_t rows, int worker, int workers) {
    return (pace_segment_range){rows * (size_t)worker / (size_t)workers, rows * (size_t)(worker + 1) / (size_t)workers};
}

/** Places that windows read to make a range of outputs. */
static inline pace_segment_range pace_segment_reads(pace_segment_window w, pace_segment_range made, size_t there) {
    size_t from = made.from * w.stride, to = made.to * w.stride - w.stride + w.kernel;
    from = from > w.pad ? from - w.pad : 0, to = to > w.pad ? to - w.pad : 0;
    return (pace_segment_range){from < there ? from : there, to < there ? to : there};
}

/** Collective over all ranks of MPI_COMM_WORLD. */
typedef pace_exchanger_result (*pace_segments_fn)(pace_segments_run *run);

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
pace_exchanger_result
pace_train_segments_run(pace_segments_run *run);
