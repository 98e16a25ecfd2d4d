/*
 * Gradient-boosted regression trees on binned features, with Huber's loss: structure from clipped residuals, leaves by
 * a robust mean (Friedman 2001, algorithm 4, M-TreeBoost). The same rows and seed give the same trees.
 */
#pragma once

#include "base/memory.h"

enum { PACE_TREES_FEATURES = 64 };

typedef struct {
    int16_t feature; /* -1: a leaf */
    uint16_t left;   /* of the tree; the right child follows it */
    float value;     /* threshold: left when the feature is <= it; of a leaf: what it adds */
} pace_tree_node;

typedef struct {
    PACE_VEC(pace_tree_node) nodes;
    PACE_VEC(uint32_t) roots; /* first node of each tree */
    unsigned features;
    float start; /* before any tree */
} pace_trees;

typedef struct {
    unsigned rounds, depth, least_rows; /* trees, levels of splits, rows of a leaf at least */
    double rate;                        /* share of each tree that is kept */
    double row_share, feature_share;    /* drawn for each tree */
    double clip;                        /* quantile of |residual| above which it is clipped */
    uint64_t seed;
} pace_trees_options;

/** Fits to `targets` (count of them) on `features` (count x feature_count, row-major, finite). Rows from `train` on are
 * not fitted: when there are any, rounds stop at the least mean absolute residual of theirs. */
pace_status pace_trees_fit(pace_trees *out, const float *features, unsigned feature_count, const float *targets,
                           size_t train, size_t count, const pace_trees_options *options) PACE_MUST_CHECK;
void pace_trees_free(pace_trees *trees);

double pace_trees_predict(const pace_trees *trees, const float *features);

/** Whether every index and value is in order, so that predicting is safe: for trees read from a file. */
bool pace_trees_valid(const pace_trees *trees);
