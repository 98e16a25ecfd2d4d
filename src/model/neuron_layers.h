/*
 * A model as a chain of layers of neurons: convolutions and fully connected layers, each with the activations, pooling
 * and dropout behind it. This is what Yan et al. (KDD 2015) partition over hosts (docs/partition.md).
 */
#pragma once

#include "model/model.h"

typedef struct {
    pace_name name;
    bool convolution;
    double neurons;
    double connections; /* into all of them: multiply-adds of one sample's forward pass */
    double weights;
    double outputs;     /* activations that the next layer reads, behind pooling */
    double evaluations; /* activation functions, and values that pooling and the like read */
    double rows;        /* that it can be cut into: of a convolution its height, else its neurons */
    double reach; /* how far, as a share of all rows of the layer before, it reads beyond its own part; 1 = all of it */
} pace_neuron_layer;

typedef struct {
    PACE_VEC(pace_neuron_layer) layers;
} pace_neuron_layers;

/** The chain. PACE_E_USAGE for a model that is none: branches, sequences, tables, normalization over a batch. */
pace_status pace_neuron_layers_find(pace_neuron_layers *out, const pace_model *model) PACE_MUST_CHECK;
void pace_neuron_layers_free(pace_neuron_layers *chain);
