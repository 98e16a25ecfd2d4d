/* The kernels of a model's step as points to measure. */
#pragma once

#include "base/words.h"
#include "sweep.h"

typedef struct {
    size_t kernels, unlike; /* different kernels of the step, and those that nobody here can measure */
    char example[64];       /* one of these: "softmax log" */
    double micro_batch;     /* samples that were taken; 0 = as was asked */
} pace_model_points;

/** Adds what a model's step on one rank computes (each stage of a pipeline) to the sweep's points, each once. Products
 * of a CPU are measured both with weights row by row and as its library packs them. Errors: those of models and
 * settings. */
pace_status pace_model_points_add(pace_model_points *out, pace_sweep *sweep, pace_catalog *catalog, const char *model,
                                  const pace_words *set, const pace_sweep_choice *choice) PACE_MUST_CHECK;
