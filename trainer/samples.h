/* What is trained on: numbers drawn once, as tf_cnn_benchmarks does it, or digits drawn anew for every step. */
#pragma once

#include "idx_images.h"
#include "trained_network.h"

typedef enum { PACE_SAMPLES_SYNTHETIC, PACE_SAMPLES_DIGITS, PACE_SAMPLES_FILES } pace_samples_kind;

typedef struct {
    pace_samples_kind kind;
    uint64_t stream;
    size_t rank; /* those before have the samples before: together they have those of one large batch */
    size_t ranks, step;
    pace_idx_images images;
    double load_s; /* that a loader takes for a batch, on the training thread */
} pace_samples;

typedef struct {
    const char *word; /* "synthetic" (NULL), "digits", or a folder of IDX files */
    uint64_t seed;
    int rank, ranks;
    double load_s;
} pace_samples_asked;

/** Fills the first batch. PACE_E_USAGE for a word that is none of these, for digits where the network takes no images
 * of 28 x 28 in ten classes, and for files whose images the network does not take; else errors of
 * pace_idx_images_open(). */
pace_status pace_samples_open(pace_samples *out, pace_network *network,
                              const pace_samples_asked *asked) PACE_MUST_CHECK;
void pace_samples_close(pace_samples *samples);

/** The next batch. */
void pace_samples_next(pace_samples *samples, pace_network *network);
