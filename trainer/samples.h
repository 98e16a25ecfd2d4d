/* What is trained on: numbers drawn once, as tf_cnn_benchmarks does it, or digits drawn anew for every step. */
#pragma once

#include "trained_network.h"

typedef enum { PACE_SAMPLES_SYNTHETIC, PACE_SAMPLES_DIGITS } pace_samples_kind;

typedef struct {
    pace_samples_kind kind;
    uint64_t stream;
    size_t rank; /* those before have the samples before: together they have those of one large batch */
} pace_samples;

/** PACE_E_USAGE for a word that is none of "synthetic" (NULL) and "digits", and for digits where the network takes no
 * images of 28 x 28 in ten classes. Fills the first batch. */
pace_status pace_samples_open(pace_samples *out, pace_network *network, const char *word, uint64_t seed,
                              int rank) PACE_MUST_CHECK;

/** The next batch. */
void pace_samples_next(pace_samples *samples, pace_network *network);
