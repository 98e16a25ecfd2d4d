/* Activation functions of neurons, and their slopes by the value that they gave. */
#pragma once

#include "segments_run.h"

#include <math.h>

static inline float pace_neuron_active(pace_neuron_activation kind, float x) {
    return kind == PACE_NEURON_RELU      ? (x > 0 ? x : 0)
           : kind == PACE_NEURON_SIGMOID ? 1 / (1 + expf(-x))
           : kind == PACE_NEURON_TANH    ? tanhf(x)
                                         : x;
}

static inline float pace_neuron_slope(pace_neuron_activation kind, float y) {
    return kind == PACE_NEURON_RELU      ? (y > 0 ? 1.0F : 0.0F)
           : kind == PACE_NEURON_SIGMOID ? y * (1 - y)
           : kind == PACE_NEURON_TANH    ? 1 - y * y
                                         : 1.0F;
}
