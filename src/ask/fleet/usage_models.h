/*
 * What the models need that a cluster's types of work name: records have no weights and no FLOP. A type that is a
 * family ("resnet") stands for any of its variants: figures are from the smallest to the largest, one variant
 * ("resnet50") for itself. A type that names no model of the catalogue has no row: nothing is made up.
 */
#pragma once

#include "fleet/usage_figures.h"
#include "machine/catalog.h"

typedef struct {
    double low, high;
} pace_usage_span;

typedef struct {
    pace_name type;
    double gpu_hours;
    size_t variants;
    pace_usage_span weight_bytes;         /* in FP32 */
    pace_usage_span weight_traffic_bytes; /* of a step and worker: weights one way, gradients the other */
    pace_usage_span flop_per_sample;      /* forward and backward: three times the forward pass */
} pace_usage_model;

typedef struct {
    PACE_VEC(pace_usage_model) items; /* most GPU-hours first */
    double gpu_hours;                 /* of all of them */
} pace_usage_models;

/** Free in either case. */
pace_status pace_usage_models_find(pace_usage_models *out, pace_catalog *catalog, const pace_usage *usage,
                                   const pace_usage_figures *figures) PACE_MUST_CHECK;
void pace_usage_models_free(pace_usage_models *models);
