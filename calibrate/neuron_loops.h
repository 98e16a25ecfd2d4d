/* What threads do that train a network of neurons without locks: passes over weights that all of them share. */
#pragma once

#include "backend.h"

enum { PACE_NEURON_WIDTH = 1024 }; /* of a row of weights */

typedef enum {
    PACE_NEURON_MULTIPLY_ADD,
    PACE_NEURON_UPDATE,
    PACE_NEURON_ACTIVATION,
    PACE_NEURON_KINDS
} pace_neuron_kind;

extern const char *const pace_neuron_kind_names[PACE_NEURON_KINDS];

typedef struct pace_neuron_probe pace_neuron_probe;

/** Weights of so many bytes (whole rows, at least one) and vectors for each thread. NULL without memory. */
pace_neuron_probe *pace_neuron_probe_make(pace_neuron_kind kind, size_t bytes, int threads);
void pace_neuron_probe_free(pace_neuron_probe *probe);

/** Multiply-adds, updates or activations of one thread in one run. */
double pace_neuron_probe_count(const pace_neuron_probe *probe);

/** Every thread does it `runs` times; seconds of processor time of a thread, on average, so that others' time slices do
 * not count. A pace_time_runs_fn. */
pace_probe_status pace_neuron_probe_time(double *seconds, void *probe, unsigned runs, char *message);
